"""Requests that would keep the hub busy for long, and clients that keep its memory: each is refused, ended or waits its turn, and
what is small goes on meanwhile."""
import contextlib
import os
import shutil
import socket
import sys
import threading
import time
import urllib.parse
import zlib

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, Hub, until
from load import MiB, asking, metric, resident, status_of

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")  # who looks on beside has to end well


def zeros(group, name, chunks, chunk_bytes, level=9):
    """A deflated field of `chunks` chunks of zeros, each stored: small on disk, dear to read."""
    packed = zlib.compress(bytes(chunk_bytes), level)
    data = group.create_dataset(name, (chunks * chunk_bytes,), "u1", chunks=(chunk_bytes,), compression="gzip")
    for i in range(chunks):
        data.id.write_direct_chunk((i * chunk_bytes,), packed)


def dataset(root, id, *makers):
    """A copy of a small dataset with more fields in its first episode: each maker gets the group."""
    folder = os.path.join(root, id)
    shutil.copytree(DOOR, folder)
    with h5py.File(os.path.join(folder, "data", "main_data.hdf5"), "r+") as f:
        for make in makers:
            make(f["episode_0"].require_group("infos"))
    return f"/api/v1/datasets/{id}/episodes/0/infos"


# ---- work ----


@pytest.fixture(scope="module")
def bomb(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("bomb"))
    path = dataset(root, "bomb-v0", lambda g: zeros(g, "bomb", 1024, 16 * MiB, 1), lambda g: zeros(g, "long", 128, 16 * MiB),
                   lambda g: zeros(g, "many", 200000, 1))
    with Hub([root]) as hub:
        yield hub.wait_indexed(), path


def stars(count, also=()):
    """A glob of patterns that match nothing and lead far into each name, and of others."""
    return "{" + ",".join([f"**?*?*?*?*?*Q{i}" for i in range(count)] + list(also)) + "}"


def listed(hub, glob, pages=1):
    """The names on some pages of a listing, and how many pages these were."""
    names, token = [], ""
    for page in range(1, pages + 1):
        query = urllib.parse.urlencode({"prefix": "many-files/", "matchGlob": glob, "pageToken": token})
        answer = hub.get("/storage/v1/b/minari-datasets/o?" + query)
        assert answer.status == 200, answer.body
        names += [o["name"] for o in answer.json().get("items", [])]
        token = answer.json().get("nextPageToken")
        if not token:
            break
    return names, page


def test_globs_take_no_worker_for_long(tmp_path):
    os.mkdir(tmp_path / "many-files")
    for i in range(8000):
        (tmp_path / "many-files" / f"episode_{i:06}_of_a_long_list.txt").touch()
    dataset(str(tmp_path), "door-v0")
    with Hub([str(tmp_path)]) as hub:
        hub.wait_indexed()
        before = hub.processor_s()
        assert listed(hub, stars(64)) == ([], 1)
        assert hub.processor_s() - before < 0.5, "it takes twice as long to compare all names"
        with contextlib.ExitStack() as clients:
            for i in range(3):
                query = urllib.parse.urlencode({"prefix": "many-files/", "matchGlob": stars(64), "maxResults": i + 1})
                clients.enter_context(asking(hub, "/storage/v1/b/minari-datasets/o?" + query, "127.0.0.3"))
            before = hub.processor_s()
            assert hub.get("/api/v1/datasets/door-v0/episodes?where=steps%3E3").status == 200
            assert hub.processor_s() - before < 1, "it waited for all three"
        names, pages = listed(hub, stars(16, ["**/*_00[37]999_*"]), 100)
        assert [n[19:25] for n in names] == ["003999", "007999"] and pages > 1, (names, pages)


def test_an_answer_that_would_take_too_long_is_refused(bomb):
    hub, path = bomb
    before = hub.processor_s()
    for query in ("format=npy&step=2097152", "step=-2097152", "format=raw&step=2097152"):
        answer = hub.get(f"{path}/bomb?{query}")
        body = answer.json()
        assert (answer.status, body["type"]) == (413, "urn:minari-hub:too-large"), body
        assert body["parameter"] == "step" and body["value"] == dict(urllib.parse.parse_qsl(query))["step"]
        assert "/api/v1/datasets/bomb-v0/files/data/main_data.hdf5" in body["detail"], body
    assert hub.get(f"{path}/bomb?step=2097152", method="HEAD").status == 413
    assert hub.get(f"{path}/bomb?start=0&stop=100000000&step=2097152&format=npy").status == 200
    assert hub.processor_s() - before < 5


def test_head_does_no_work(bomb):
    hub, path = bomb
    before = hub.processor_s()
    for _ in range(20):
        for query in ("format=npy&step=65536", "step=65536", "format=raw&step=65536"):
            head = hub.get(f"{path}/long?{query}", method="HEAD")
            assert head.status == 200 and head.headers["ETag"] and head.headers["X-Shape"] == "32768"
    assert head.headers["Content-Length"] == "32768"
    assert hub.processor_s() - before < 2
    get = hub.get(f"{path}/long?format=raw&step=65536")
    assert {k: v for k, v in get.headers.items() if k not in ("Date", "X-Request-Id")} == \
           {k: v for k, v in head.headers.items() if k not in ("Date", "X-Request-Id")}


def test_an_etag_is_compared_before_anything_is_priced(bomb):
    hub, path = bomb
    url = f"{path}/many?format=npy"
    etag = hub.get(url).headers["ETag"]
    before = hub.processor_s()
    for _ in range(300):
        assert hub.get(url, {"If-None-Match": etag}).status == 304
    assert hub.processor_s() - before < 1.2


def test_a_departed_client_costs_little(bomb):
    hub, path = bomb
    url = f"{path}/long?format=npy&step=65536"
    begin = hub.processor_s()
    assert hub.get(url).status == 200
    whole = hub.processor_s() - begin
    before = hub.processor_s()
    for _ in range(10):
        with asking(hub, url):
            pass
    until(lambda: metric(hub, "minari_hub_http_requests_in_flight") <= 1)
    assert hub.processor_s() - before < 5 * whole


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """Fields of the same numbers, `large` in a chunk of 16 MiB, `small` in chunks of 256 KiB."""
    root = tmp_path_factory.mktemp("blocks")
    rows = 2 * MiB
    values = np.zeros(rows, "i8")
    values[::8] = np.random.default_rng(0).integers(0, 256, rows // 8)
    for name, chunk in (("large", rows), ("small", 32768)):
        with h5py.File(root / f"{name}.hdf5", "w") as f:
            demo = f.create_group("data/demo_0")
            demo.attrs["num_samples"] = rows
            demo.create_dataset("actions", data=values, chunks=(chunk,), compression="gzip")
            demo.create_dataset("obs/still", data=np.zeros(rows, "i8"), chunks=(chunk,), compression="gzip")
    with Hub([str(root)], args=["--measure", "off"]) as hub:
        yield hub.wait_indexed()


@pytest.mark.parametrize("query", ["episodes/0/obs/still?runs=5", "episodes/0/actions?buckets=16", "episodes/0?fields=actions&format=csv",
                                   "episodes/0?fields=actions&format=npz&start=0", "rows?fields=actions&format=csv", "rows?fields=actions&format=arrow",
                                   "rows?fields=actions&format=npz", "rows?fields=actions&format=jsonl"])
def test_a_chunk_is_decoded_once_by_who_reads_in_blocks(blocks, query):
    spent = {}
    for name in ("small", "large"):
        before = blocks.processor_s()
        answer = blocks.get(f"/api/v1/datasets/{name}/{query}")
        assert answer.status == 200, answer.body[:300]
        spent[name] = blocks.processor_s() - before
    assert spent["large"] < 1.3 * spent["small"] + 0.2, spent


WIDE = 16384  # bytes a row


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """An episode of 2 GiB that are read chunk by chunk of 16 MiB."""
    root = tmp_path_factory.mktemp("wide")
    packed, rows, chunks = zlib.compress(bytes(16 * MiB), 1), 16 * MiB // WIDE, 128
    with h5py.File(root / "wide.hdf5", "w") as f:
        demo = f.create_group("data/demo_0")
        demo.attrs["num_samples"] = rows * chunks
        demo["actions"] = np.zeros((rows * chunks, 1))
        data = demo.create_dataset("obs/wide", (rows * chunks, WIDE), "u1", chunks=(rows, WIDE), compression="gzip")
        for i in range(chunks):
            data.id.write_direct_chunk((i * rows, 0), packed)
    with Hub([str(root)], args=["--measure", "off", "--memory", "1GiB"]) as hub:
        yield hub.wait_indexed()


@pytest.mark.parametrize("query", ["sample?windows=1024&length=1&seed=1", "rows?format=npz", "rows?format=csv", "rows?format=arrow"])
def test_a_client_that_leaves_ends_the_work(wide, query):
    """Whether it saw the beginning of the answer or nothing yet: soon nobody computes."""
    path = f"/api/v1/datasets/wide/{query}&fields=obs/wide"
    before = wide.processor_s()
    with asking(wide, path) as sock:
        if "sample" not in query:
            assert status_of(sock) == 200  # 2 GiB are to come
        else:
            until(lambda: wide.processor_s() > before + 0.05)
            sock.setblocking(False)
            with pytest.raises(BlockingIOError):  # it is in the middle of its work
                sock.recv(1)
    left = wide.processor_s()

    def idle():
        before = wide.processor_s()
        time.sleep(0.3)  # of which it works for 0.05 at most
        return wide.processor_s() - before < 0.05

    until(idle)
    assert wide.processor_s() - left < 2.5, "all of it would take ten times as much"


def test_the_end_does_not_wait_for_long_work(tmp_path):
    path = dataset(str(tmp_path), "long-v0", lambda g: zeros(g, "long", 100, 16 * MiB))
    with Hub([str(tmp_path)], args=["--grace", "100ms", "--workers", "1"]) as hub:
        hub.wait_indexed()
        with contextlib.ExitStack() as clients:
            for i in range(5):
                clients.enter_context(asking(hub, f"{path}/long?format=npy&step=65536&stop=-{i + 1}"))
            until(lambda: metric(hub, "minari_hub_http_requests_in_flight") >= 3)
            begin = time.monotonic()
            hub.process.terminate()
            hub.process.wait(20)
            assert time.monotonic() - begin < 12


def test_light_requests_go_on_beside_the_heavy_ones_of_another(bomb):
    hub, path = bomb
    with contextlib.ExitStack() as clients:
        for i in range(40):
            clients.enter_context(asking(hub, f"{path}/long?format=npy&step=65536&stop=-{i + 1}", "127.0.0.2"))
        until(lambda: metric(hub, "minari_hub_http_requests_in_flight") >= 20)
        for _ in range(3):
            assert hub.get("/api/v1/datasets/bomb-v0/episodes").status == 200
        assert metric(hub, "minari_hub_http_requests_in_flight") >= 4  # they still wait
        assert hub.get(f"{path}/long?format=npy&step=65536&stop=200000000").status == 200
        assert metric(hub, "minari_hub_http_requests_in_flight") >= 2  # it had its turn before them


def bytes_in_chunks_of_one(root, id, count, fields):
    """Fields that HDF5 keeps as `count` chunks of one byte each; they are not written, only placed."""
    path = dataset(root, id)
    with h5py.File(os.path.join(root, id, "data", "main_data.hdf5"), "r+", libver="latest") as f:
        for name in fields:
            how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            how.set_chunk((1,))
            how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            space = h5py.h5s.create_simple((count,))
            h5py.h5d.create(f["episode_0"].require_group("infos").id, name.encode(), h5py.h5t.NATIVE_UINT8, space, how)
    return path


def test_four_million_chunks_are_bounded_work(tmp_path):
    names = [f"many{i}" for i in range(4)]
    path = bytes_in_chunks_of_one(str(tmp_path), "many-v0", 4190000, names)
    with Hub([str(tmp_path)], args=["--measure", "off", "--memory", "128MiB"]) as hub:
        hub.wait_indexed(120)
        worst, over = 0, threading.Event()

        def beside():
            nonlocal worst
            while not over.wait(0.005):
                begin = time.monotonic()
                assert hub.get("/healthz").status == 200
                worst = max(worst, time.monotonic() - begin)

        other = threading.Thread(target=beside)
        other.start()
        for query in ("format=npy", "format=raw&step=-1", "format=json", "format=npy&step=2"):
            before = hub.processor_s()
            answer = hub.get(f"{path}/many0?{query}")
            assert answer.status in (200, 413) and hub.processor_s() - before < 5, query
        before = hub.processor_s()
        for _ in range(10):
            with asking(hub, f"{path}/many0?format=npy"):
                pass
        until(lambda: metric(hub, "minari_hub_http_requests_in_flight") <= 1)
        assert hub.processor_s() - before < 10
        # each field takes 64 MiB to look up its rows: all at once are more than there is
        answer = hub.get(f"{path}?stop=1")
        assert answer.status == 503 and answer.headers["Retry-After"] and "fewer fields" in answer.json()["detail"], answer.body
        assert [hub.get(f"{path}/{name}?stop=1").status for name in names] == [200] * 4
        over.set()
        other.join()
        assert worst < 5  # each of these queries, were it not bounded, takes minutes
        assert metric(hub, "minari_hub_memory_budget_used_bytes") == 0


# ---- memory ----


def frames(count):
    return lambda g: g.create_dataset("frames", data=np.random.default_rng(0).integers(0, 255, (count, MiB), "u1"))


def test_slow_readers_leave_memory_to_others(tmp_path):
    path = dataset(str(tmp_path), "frames-v0", frames(126))
    with Hub([str(tmp_path)], args=["--memory", "128MiB"]) as hub:
        hub.wait_indexed()
        with contextlib.ExitStack() as clients:
            slow = [clients.enter_context(asking(hub, f"{path}/frames?stop={n}&format=npy", "127.0.0.2", 4096)) for n in (120, 7, 7)]
            until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") > 100 * MiB)
            begin = time.monotonic()
            answers = [hub.get(f"{path}/frames?start={i}&stop={i + 10}&format=npy") for i in range(5)]
            assert [len(a.body) // MiB for a in answers if a.status == 200] == [10] * 5
            assert time.monotonic() - begin < 30
            del slow
        until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") == 0)


def test_waiting_for_memory_takes_no_worker(tmp_path):
    path = dataset(str(tmp_path), "frames-v0", frames(100))
    with Hub([str(tmp_path)], args=["--workers", "1", "--memory", "128MiB"]) as hub:
        hub.wait_indexed()
        with contextlib.ExitStack() as clients:
            clients.enter_context(asking(hub, f"{path}/frames?format=npy", "127.0.0.2", 4096))
            until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") > 90 * MiB)
            for i in range(20):
                clients.enter_context(asking(hub, f"{path}/frames?start={i}&stop={i + 60}&format=npy", "127.0.0.3", 4096))
            until(lambda: metric(hub, "minari_hub_http_requests_in_flight") >= 21)
            begin = time.monotonic()
            for _ in range(10):
                assert hub.get("/api/v1/datasets/frames-v0/episodes?limit=1").status == 200
            assert time.monotonic() - begin < 15, "those that wait do so for longer"


def test_bodies_that_do_not_come_hold_no_memory(tmp_path):
    path = dataset(str(tmp_path), "frames-v0", frames(20))
    with Hub([str(tmp_path)], args=["--memory", "32MiB"]) as hub:
        hub.wait_indexed()
        with contextlib.ExitStack() as clients:
            for i in range(40):
                sock = clients.enter_context(socket.create_connection(("127.0.0.1", hub.port), 60, ("127.0.0.2", 0)))
                sock.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n[" %
                             (b"/api/v1/batch", b"/api/datasets/a/b/paths-info/main")[i % 2])
            until(lambda: metric(hub, "minari_hub_http_requests_in_flight") >= 40)
            assert metric(hub, "minari_hub_memory_budget_used_bytes") == 0
            assert hub.get(f"{path}/frames?stop=14&format=npy").status == 200  # else it waits for memory, and is 503
            sock.sendall(b"x" * 500_000)
            until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") >= 500_000)
        until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") == 0)


def test_a_request_that_waits_in_vain_is_told(tmp_path):
    path = dataset(str(tmp_path), "frames-v0", frames(100))
    with Hub([str(tmp_path)], args=["--memory", "128MiB"]) as hub:
        hub.wait_indexed()
        stop = threading.Event()
        with asking(hub, f"{path}/frames?format=npy", "127.0.0.2", 65536) as reader:

            def read():  # fast enough to be left alone
                while not stop.wait(0.005) and reader.recv(32768):
                    pass

            thread = threading.Thread(target=read)
            thread.start()
            until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") > 90 * MiB)
            begin = time.monotonic()
            answer = hub.get(f"{path}/frames?stop=60&format=npy")
            took = time.monotonic() - begin
            stop.set()
            thread.join()
        assert answer.status == 503 and answer.json()["type"] == "urn:minari-hub:overloaded", answer.body[:300]
        assert answer.headers["Retry-After"] and 4 < took < 20


def test_one_listing_is_shared_by_all_its_readers(tmp_path):
    folder = dataset(str(tmp_path), "large-v0").split("/")[4]
    more = os.path.join(str(tmp_path), folder, "more" * 40)
    os.mkdir(more)
    for i in range(20000):
        open(os.path.join(more, f"{i:05}" * 10), "w").close()
    url = "/api/v1/datasets/large-v0/files"
    with Hub([str(tmp_path)]) as hub:
        hub.wait_indexed(240)
        first = hub.get(url)
        assert first.status == 200 and first.json()["total"] > 20000
        before, spent = resident(hub.process.pid), hub.processor_s()
        with contextlib.ExitStack() as clients:
            readers = [clients.enter_context(asking(hub, url, f"127.0.0.{2 + i}", 4096)) for i in range(60)]
            assert [status_of(r) for r in readers] == [200] * 60
            assert resident(hub.process.pid) - before < 32 * MiB
            assert hub.processor_s() - spent < 1
        assert hub.get(url, {"If-None-Match": first.headers["ETag"]}).status == 304


def talkative(root, id, episodes):
    """A dataset whose episodes say much about themselves: some 60 KB each."""
    space = '{"type":"Box","dtype":"float64","shape":[2],"low":[-1.0,-1.0],"high":[1.0,1.0]}'
    folder = os.path.join(root, id, "data")
    os.makedirs(folder)
    with h5py.File(os.path.join(folder, "main_data.hdf5"), "w") as f:
        for e in range(episodes):
            g = f.create_group(f"episode_{e}")
            g.attrs.update({"id": e, "total_steps": 1, **{f"note_{i}": "x" * 1000 for i in range(58)}})
            g["observations"] = np.zeros((2, 2))
            g["actions"] = np.zeros((1, 2))
            g["rewards"] = np.zeros(1)
            for name in ("terminations", "truncations"):
                g[name] = np.zeros(1, bool)
        f.attrs.update({"total_episodes": episodes, "total_steps": episodes, "dataset_id": id, "minari_version": "~=0.4",
                        "observation_space": space, "action_space": space})
    return f"/api/v1/datasets/{id}/episodes?limit=1000"


def test_pages_wait_for_memory_before_they_are_written(tmp_path):
    url = talkative(str(tmp_path), "talk-v0", 100)
    with Hub([str(tmp_path)], args=["--memory", "32MiB"]) as hub:
        hub.wait_indexed()
        page = len(hub.get(url).body)
        assert 5.5 * MiB < page < 7 * MiB
        most, over = 0, threading.Event()

        def watch():
            nonlocal most
            while not over.wait(0.01):
                most = max(most, metric(hub, "minari_hub_memory_budget_used_bytes"))

        watcher = threading.Thread(target=watch)
        watcher.start()
        with contextlib.ExitStack() as clients:
            readers = [clients.enter_context(asking(hub, url, f"127.0.0.{2 + i}", 4096)) for i in range(20)]
            until(lambda: most >= page)
            statuses = [status_of(r) for r in readers]  # the last of them is refused after five seconds
            assert hub.get("/api/v1/datasets/talk-v0").status == 200, "small answers go on beside those that hold memory"
        over.set()
        watcher.join()
        assert page <= most <= 32 * MiB, most
        assert statuses.count(200) >= 2 and set(statuses) <= {200, 503}, statuses
        assert hub.get(url).status == 200
