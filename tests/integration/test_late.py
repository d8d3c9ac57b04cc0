"""The hub over a store whose bytes come late (tests/support/late.c): what is told while they are waited for, and that nothing of a
wait is left behind. That all values are right over it, and change under readers, the `_late` runs of other tests show."""
import contextlib
import io
import os
import random
import re
import shutil
import signal
import socket
import sys
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "../support")]
import videos
from hub import FIXTURES, Hub, until

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
ROWS = "/api/v1/datasets/door-human-v0/episodes/0/observations"
BLOB = "/api/v1/datasets/door-human-v0/files/blob.bin"
CUT = "/api/v1/datasets/film/episodes/0/~media/wrist_camera.mp4?start=5"  # 20 frames, some 9 MB behind their boxes
FILM = "film/house_1/episode_00000000_wrist_camera_batch_1_of_1.mp4"


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    path = tmp_path_factory.mktemp("noise") / "noise.mp4"
    videos.write_noise(str(path), 25)
    return path


@contextlib.contextmanager
def late(tmp_path, args=(), size=9 << 20, film=None):
    """A hub, order(min_ms, max_ms, failures of 1000) and the bytes of a large file. `film` is a video of an episode."""
    root, told = tmp_path / "root", tmp_path / "order"
    shutil.copytree(DOOR, root / "door-human-v0")
    blob = random.Random(7).randbytes(size)
    (root / "door-human-v0" / "blob.bin").write_bytes(blob)
    if film:
        shutil.copytree(os.path.join(FIXTURES, "molmospaces/house"), root / "film" / "house_1")
        shutil.copy(film, root / FILM)

    def order(least, most, failing=0):
        told.with_suffix(".new").write_text(f"{least} {most} {failing}")
        os.rename(told.with_suffix(".new"), told)

    order(0, 30)
    os.environ["HUB_LATE_FILE"] = str(told)
    try:
        hub = Hub([str(root)], program="minari-hub-late", args=("--hash", "off", *args))
    finally:
        del os.environ["HUB_LATE_FILE"]
    with hub:
        yield hub.wait_indexed(), order, blob


def in_flight(hub):
    return int(re.search(rb"^minari_hub_http_requests_in_flight (\d+)", hub.get("/metrics").body, re.M)[1])


def in_background(what):
    got = []
    thread = threading.Thread(target=lambda: got.append(what()))
    thread.start()
    return thread, got


def test_rows_and_files_come(tmp_path):
    with late(tmp_path) as (hub, order, blob):
        rows = hub.get(ROWS + "?start=1&stop=3&format=json")
        assert rows.status == 200 and len(rows.json()) == 2
        assert hub.get(BLOB).body == blob
        part = hub.get(BLOB, {"Range": "bytes=1048570-5000000"})
        assert part.status == 206 and part.body == blob[1048570:5000001]
        small = hub.get(BLOB, {"Range": "bytes=77-1999"})
        assert small.status == 206 and small.body == blob[77:2000]


@pytest.mark.parametrize("least", [0, 5])
def test_failures_are_the_machines(tmp_path, least):
    """A store that fails is told as such and can be asked again; no dataset becomes broken by it."""
    with late(tmp_path) as (hub, order, blob):
        order(least, least, 1000)
        for url, headers in ((ROWS, {}), (BLOB, {"Range": "bytes=0-99"})):
            answer = hub.get(url, headers)
            assert answer.status == 503 and answer.json()["type"] == "urn:minari-hub:storage-unavailable", answer.body
            assert answer.headers["Retry-After"]
        with pytest.raises(Exception):  # a stream that broke off never ends cleanly
            hub.get(BLOB)
        order(0, 5, 300)
        for _ in range(40):
            assert hub.get(ROWS).status in (200, 503)
        order(0, 5)
        assert hub.get(ROWS).status == 200 and hub.get(BLOB).body == blob
        assert hub.statuses() == {"door-human-v0": "ready"}


def test_waiting_takes_no_thread(tmp_path):
    """Many more requests wait than there are threads; others are answered meanwhile."""
    with late(tmp_path, args=("--workers", "1", "--event-threads", "1")) as (hub, order, blob):
        order(3000, 3000)
        start = time.monotonic()
        waiting = [in_background(lambda: hub.get(ROWS + f"?start={i}")) for i in range(20)]
        until(lambda: in_flight(hub) > 10)
        assert hub.get("/healthz").status == 200 and in_flight(hub) > 10
        for thread, got in waiting:
            thread.join()
            assert got[0].status == 200
        assert time.monotonic() - start < 30  # not one after the other


def test_too_late(tmp_path):
    with late(tmp_path) as (hub, order, blob):
        order(25000, 25000)
        start = time.monotonic()
        answer = hub.get(ROWS)
        assert answer.status == 503 and answer.json()["type"] == "urn:minari-hub:storage-unavailable"
        assert 4 < time.monotonic() - start < 20
        order(0, 5)
        assert hub.get(ROWS).status == 200


def test_frames_come(tmp_path, noise):
    """All of a cut and ranges of it, over its boxes and the file's bytes; HEAD and what is refused wait for nothing."""
    with late(tmp_path, film=noise) as (hub, order, blob):
        whole = hub.get(CUT)
        assert whole.status == 200 and len(whole.body) > 5 << 20
        got = videos.frames(io.BytesIO(whole.body))
        assert [f[0] for f in got] == [f[0] for f in videos.frames(str(noise))[5:]]
        body = whole.body.index(b"mdat") + 4
        for first, last in ((0, 99), (body - 7, body + 7), (body, len(whole.body) - 1), (100, 3 << 20), (2 << 20, 4 << 20), (len(whole.body) - 1, len(whole.body) - 1)):
            part = hub.get(CUT, {"Range": f"bytes={first}-{last}"})
            assert part.status == 206 and part.body == whole.body[first:last + 1], (first, last)
        etag, size = whole.headers["ETag"], len(whole.body)
        order(60000, 60000)
        head = hub.get(CUT, method="HEAD")
        assert head.status == 200 and int(head.headers["Content-Length"]) == size and head.headers["ETag"] == etag
        assert hub.get(CUT, {"If-None-Match": etag}).status == 304 and hub.get(CUT, {"If-Match": '"x"'}).status == 412
        assert hub.get(CUT, {"Range": f"bytes={size}-"}).status == 416 and hub.get(CUT + "&stop=5").status == 416


def test_failures_in_a_cut_close_it_short(tmp_path, noise):
    with late(tmp_path, film=noise) as (hub, order, blob):
        whole = hub.get(CUT).body
        order(0, 0, 1000)
        part = hub.get(CUT, {"Range": f"bytes={len(whole) - 500}-"})
        assert part.status == 503 and part.json()["type"] == "urn:minari-hub:storage-unavailable", part.body
        with pytest.raises(Exception):
            hub.get(CUT)
        order(0, 5)
        assert hub.get(CUT).body == whole and hub.statuses()["film"] == "ready"


@pytest.mark.parametrize("url", [ROWS, BLOB, CUT])
def test_a_client_that_leaves(tmp_path, url, noise):
    """Its memory is free again long before the bytes would have come."""
    with late(tmp_path, film=noise) as (hub, order, blob):
        order(60000, 60000)
        clients = []
        for _ in range(5):
            clients.append(socket.create_connection(("127.0.0.1", hub.port)))
            clients[-1].sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        until(lambda: in_flight(hub) >= 5)
        for s in clients:
            s.close()
        until(lambda: in_flight(hub) <= 1)
        order(0, 5)
        assert hub.get(url).status == 200


@pytest.mark.parametrize("url", [ROWS, BLOB, CUT])
def test_the_hub_ends_meanwhile(tmp_path, url, noise):
    with late(tmp_path, args=("--grace", "300ms"), film=noise) as (hub, order, blob):
        order(60000, 60000)
        sockets = [socket.create_connection(("127.0.0.1", hub.port)) for _ in range(3)]
        for s in sockets:
            s.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        until(lambda: in_flight(hub) >= 3)
        start = time.monotonic()
        hub.process.send_signal(signal.SIGTERM)
        for s in sockets:
            s.settimeout(30)
            said = b""
            with contextlib.suppress(ConnectionError):
                while part := s.recv(65536):
                    said += part
            if url == ROWS:
                assert b"503" in said.split(b"\r\n")[0] and b"urn:minari-hub:draining" in said, said
            s.close()
        assert hub.process.wait(30) == 0 and time.monotonic() - start < 20


def test_what_comes_in_the_grace_is_sent(tmp_path):
    with late(tmp_path) as (hub, order, blob):
        order(500, 500)
        thread, got = in_background(lambda: hub.get(ROWS + "?format=json"))
        until(lambda: in_flight(hub) >= 2 or not thread.is_alive())
        hub.process.send_signal(signal.SIGTERM)
        thread.join()
        assert got[0].status == 200


@pytest.mark.parametrize("how", ["in-place", "renamed"])
def test_a_file_that_changes_meanwhile(tmp_path, how):
    with late(tmp_path) as (hub, order, blob):
        path = tmp_path / "root" / "door-human-v0" / "data" / "main_data.hdf5"
        order(600, 600)
        thread, got = in_background(lambda: hub.get(ROWS))
        until(lambda: in_flight(hub) >= 2 or not thread.is_alive())
        if how == "renamed":
            shutil.copy(path, tmp_path / "other")
            os.rename(tmp_path / "other", path)
        else:
            with open(path, "r+b") as f:
                first = f.read(1)
                f.seek(0)
                f.write(first)
        thread.join()
        assert got[0].status in (200, 503), got[0].body
        if got[0].status == 503:
            assert got[0].json()["type"] in ("urn:minari-hub:dataset-changing", "urn:minari-hub:pending"), got[0].body


def test_a_stream_whose_file_changes(tmp_path):
    """Bytes of two states are never one answer."""
    with late(tmp_path) as (hub, order, blob):
        order(300, 300)
        def ask():
            try:
                return hub.get(BLOB).body
            except Exception as e:  # cut short
                return e
        thread, got = in_background(ask)
        until(lambda: in_flight(hub) >= 2 or not thread.is_alive())
        with open(tmp_path / "root" / "door-human-v0" / "blob.bin", "r+b") as f:
            f.write(bytes(len(blob)))
        thread.join()
        assert isinstance(got[0], Exception) or got[0] in (blob, bytes(len(blob))) or b"urn:minari-hub:" in got[0], got[0][:200]


@pytest.mark.parametrize("how", ["in-place", "renamed"])
def test_a_cut_whose_file_changes(tmp_path, noise, how):
    """It ends short, or is of one state: frames of two are never one video."""
    with late(tmp_path, film=noise) as (hub, order, blob):
        path, before = tmp_path / "root" / FILM, hub.get(CUT).body
        order(300, 300)
        thread, got = in_background(lambda: cut_of(hub))
        until(lambda: in_flight(hub) >= 2 or not thread.is_alive())
        time.sleep(0.4)  # some of it has come, or not: both are fine
        if how == "renamed":
            videos.write(str(tmp_path / "other.mp4"), "h264", 30)
            os.rename(tmp_path / "other.mp4", path)
        else:
            with open(path, "r+b") as f:
                f.write(bytes(noise.stat().st_size))
        thread.join()
        assert isinstance(got[0], Exception) or got[0] == before or b"urn:minari-hub:" in got[0], got[0][:200]
        if how == "renamed":
            order(0, 5)
            until(lambda: isinstance(cut_of(hub), bytes) and (a := hub.get_uncut(CUT)) and a.status == 200 and len(a.body) < 100000)
            assert [f[2] for f in videos.frames(io.BytesIO(hub.get(CUT).body))] == list(range(5, 30))


def cut_of(hub):
    try:
        return hub.get(CUT).body
    except Exception as e:  # cut short
        return e
