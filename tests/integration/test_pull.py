"""Upstreams: what they have is listed, and fetched when somebody asks for it."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import sys
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import faults
import mirrors
from cli import Cli
from hub import FIXTURES, PATIENCE, Hub, quote, until
from mirrors import place, upstream  # noqa: F401
from upstream_gcs import Gcs

ERA = os.path.join(FIXTURES, "minari", "root-0.5.3")
DOOR = "D4RL/door/human-v2"


@contextlib.contextmanager
def here(place, *upstreams, args=()):
    flags = [word for u in upstreams for word in ("--upstream", u)]
    with Hub([os.path.join(place, "here")], state=os.path.join(place, "state"), args=[*flags, *args]) as hub:
        yield hub.wait_ready()


def listed(hub, count=1):
    return until(lambda: len(hub.datasets()) >= count and hub.datasets())


def wait_here(hub, id):
    """Until it is inspected; what is asked for is the slice, which has it fetched."""
    path = f"/api/v1/datasets/{quote(id)}/episodes/0/actions?stop=2"
    answers = []

    def ask():
        answers.append(hub.get(path))
        assert answers[-1].status in (200, 503), answers[-1].body
        return answers[-1].status == 200 and answers

    return until(ask)


def read_until_now(hub, others=0):
    """What was read up to here counts as read before what is read next: a dataset is read until the hub has ended the request, which
    is after its last byte was sent, and times are told apart by milliseconds. `others` requests go on."""
    until(lambda: hub.get("/api/v1/status").json()["http"]["in_flight"] == 1 + others)
    time.sleep(0.01)


def jobs(hub):
    return hub.get("/api/v1/jobs?kind=pull&limit=1000").json()["items"]


BIG = random.Random(7).randbytes(3_000_000)
HELD = 64 * 1024


@pytest.fixture
def gcs(monkeypatch):
    """A bucket with the door, beside its data a large file."""
    with Gcs() as up:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", up.url)
        for folder, _, files in os.walk(os.path.join(ERA, DOOR)):
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    up.put(os.path.relpath(path, ERA), f.read())
        up.put(DOOR + "/data/big.bin", BIG)
        yield up


def file_url(name):
    return f"/api/v1/datasets/{DOOR}/files/data/{name}"


def media(up, name="big.bin"):
    return [r for r in up.seen(name) if "alt=media" in r[1]]


def read(hub, path, upto=None, headers=()):
    """Status, headers and body, as far as it came; `upto` is called with the first bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.request("GET", path, headers=dict(headers))
    answer = connection.getresponse()
    body = b""
    try:
        while piece := answer.read1(65536):
            body += piece
            if upto:
                upto(body)
    except (http.client.IncompleteRead, ConnectionResetError) as e:
        body += getattr(e, "partial", b"")
    connection.close()
    return answer.status, answer.headers, body


def test_what_comes_is_sent_on_while_it_comes(place, gcs):
    go, early = threading.Event(), set()
    gcs.fault = faults.of("big.bin?", faults.gate(BIG, 2_000_000, go))
    with here(place, "gcp://lab") as hub:
        listed(hub)

        def reader(number):
            return read(hub, file_url("big.bin"), lambda body: len(body) >= 1_000_000 and early.add(number))

        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            clients = [pool.submit(reader, number) for number in range(20)]
            until(lambda: len(early) == len(clients))  # while the rest has not come, and no digest could agree
            listing = hub.get(f"/api/v1/datasets/{DOOR}/files").json()
            assert {i["path"]: i["size"] for i in listing["items"]}["data/big.bin"] == len(BIG)
            head = hub.get(file_url("big.bin"), method="HEAD")
            assert int(head.headers["Content-Length"]) == len(BIG) and head.body == b""
            part = hub.get(file_url("big.bin"), {"Range": "bytes=1000-1999"})
            assert part.status == 206 and part.body == BIG[1000:2000] and part.headers["ETag"] == head.headers["ETag"]
            waits = ("bytes=2500000-2500099", f"bytes={len(BIG) - 100}-")  # not there; held back
            for late in list(pool.map(lambda wait: hub.get(file_url("big.bin"), {"Range": wait}), waits)):
                assert late.status == 503 and late.headers["Retry-After"] and late.json()["type"].endswith(":pending")
                assert 2_000_000 <= late.json()["done"] < late.json()["of"] == listing["size"]
            assert hub.get(file_url("none.bin")).status == 404
            slice = hub.get(f"/api/v1/datasets/{DOOR}/episodes/0/actions")
            assert slice.status == 503 and slice.json()["of"] == listing["size"] and slice.headers["Retry-After"]
            assert jobs(hub)[0]["state"] == "running" and os.listdir(os.path.join(place, "here")) == [".minari-hub"]
            go.set()
            answers = [c.result() for c in clients]
        assert all(status == 200 and body == BIG for status, _, body in answers)
        assert len(media(gcs)) == 1 and len(jobs(hub)) == 1
        wait_here(hub, DOOR)
        assert hub.get(file_url("big.bin")).body == BIG and len(media(gcs)) == 1 and len(jobs(hub)) == 1
        now = hub.get(f"/api/v1/datasets/{DOOR}/files").json()
        assert now["revision"] == listing["revision"] and now["total"] == listing["total"]
        assert hub.get(file_url("big.bin"), {"If-None-Match": head.headers["ETag"]}).status == 304


def test_what_somebody_waits_for_comes_first(place, gcs):
    data, go, sent = random.Random(8).randbytes(24 << 20), threading.Event(), []
    gcs.put(DOOR + "/data/large.bin", data)
    gcs.fault = faults.of("large.bin?", faults.slow(data, 1 << 20, go, lambda begin, end: sent.append(end - begin)))
    with here(place, "gcp://lab") as hub, concurrent.futures.ThreadPoolExecutor(1) as pool:
        listed(hub)
        first = pool.submit(read, hub, file_url("large.bin"))
        until(lambda: jobs(hub) and jobs(hub)[0]["done"] > 1 << 20)
        for at in (15 << 20, 23 << 20, len(data) - 70_000):  # far behind what comes
            part = until(lambda: (a := hub.get(file_url("large.bin"), {"Range": f"bytes={at}-{at + 999}"})).status == 206 and a)
            assert part.body == data[at:at + 1000]
        assert sum(sent) < len(data) // 2 and not first.done()
        go.set()
        assert first.result()[2] == data
        until(lambda: jobs(hub)[0]["state"] == "done")
        assert sum(sent) < 1.2 * len(data)  # what was on its way when it had to give way


def test_who_reads_goes_on_when_the_fetching_starts_over(place, gcs):
    """Another file is gone for a moment: the list is made anew."""
    go, some, gone = threading.Event(), threading.Event(), []

    def fault(request, path):
        if "metadata.json?" in path and "alt=media" in path and not gone and some.wait(PATIENCE):
            gone.append(path)
            return request.json({"error": "no such object"}, 404)
        return faults.of("big.bin?", faults.gate(BIG, 2_000_000, go))(request, path)

    with here(place, "gcp://lab") as hub, concurrent.futures.ThreadPoolExecutor(2) as pool:
        listed(hub)
        gcs.fault = fault
        clients = [pool.submit(read, hub, file_url("big.bin"), lambda body: len(body) > 500_000 and some.set()) for _ in range(2)]
        until(lambda: gone and len(media(gcs)) > 1)
        assert not any(c.done() for c in clients)
        go.set()
        assert all(c.result()[2] == BIG for c in clients) and jobs(hub)[0]["state"] in ("running", "done")


def test_wrong_bytes_end_short_and_are_not_kept(place, gcs):
    gcs.fault = faults.of("big.bin?", faults.wrong_bytes(BIG))
    with here(place, "gcp://lab") as hub:
        listed(hub)
        status, headers, body = read(hub, file_url("big.bin"))
        assert status == 200 and int(headers["Content-Length"]) == len(BIG) and len(body) <= len(BIG) - HELD
        job = until(lambda: jobs(hub)[0]["state"] == "failed" and jobs(hub)[0])
        assert job["error"] == "digest-mismatch"
        again = hub.get(file_url("big.bin"))
        assert again.status == 502 and again.json()["type"].endswith(":upstream-failed") and again.headers["Retry-After"]
        until(lambda: "differs from the bucket's file" in hub.text_log())
        assert os.listdir(os.path.join(place, "here")) == [".minari-hub"] and hub.statuses() == {DOOR: "remote"}
        seen = len(gcs.requests)
        assert all(hub.get(file_url("big.bin")).status == 502 for _ in range(10)) and len(gcs.requests) == seen  # remembered


def test_a_kill_loses_only_what_was_not_there(place, gcs):
    go = threading.Event()
    gcs.fault = faults.of("big.bin?", faults.gate(BIG, 100_000, go))
    with here(place, "gcp://lab") as hub:
        listed(hub)
        assert hub.get(f"/api/v1/datasets/{DOOR}/files").status == 200
        until(lambda: jobs(hub)[0]["done"] > 700_000)
        tag = hub.get(file_url("big.bin"), method="HEAD").headers["ETag"]
        hub.process.send_signal(signal.SIGKILL)
        hub.process.wait()
        hub.process.returncode = 0
    go.set()
    fetched = {r[1] for r in gcs.seen("alt=media") if "big.bin" not in r[1]}
    before = len(gcs.seen("alt=media"))
    with here(place, "gcp://lab") as hub:  # it goes on by itself, and so does who was reading
        rest = until(lambda: (a := hub.get(file_url("big.bin"), {"Range": "bytes=90000-", "If-Range": tag})).status != 503 and a)
        assert rest.status == 206 and rest.body == BIG[90000:]
        until(lambda: hub.statuses().get(DOOR) == "ready")
        assert read(hub, file_url("big.bin"))[2] == BIG
        assert not fetched & {r[1] for r in gcs.seen("alt=media")[before:]}
        assert [j["state"] for j in jobs(hub)] == ["done"]


def test_an_upstream_that_is_down(place, gcs):
    with here(place, "gcp://lab") as hub:
        listed(hub)
    gcs.fault = lambda request, path: request.cut(503, {"Content-Length": "100"}, b"")
    gcs.server.shutdown()
    gcs.server.server_close()
    with here(place, "gcp://lab") as hub:
        assert hub.statuses() == {DOOR: "remote"} and hub.dataset(DOOR)["origin"]["remote"] == "gcp://lab"
        answer = until(lambda: (a := hub.get(file_url("big.bin"))).json()["type"].endswith(":upstream-unavailable") and a)
        assert answer.status == 503 and int(answer.headers["Retry-After"]) > 0 and "upstream" in answer.json()["detail"]
        begun = time.monotonic()
        for path in (file_url("big.bin"), f"/api/v1/datasets/{DOOR}/episodes", f"/api/v1/datasets/{DOOR}/files"):
            assert hub.get(path).json()["type"].endswith(":upstream-unavailable")
        assert time.monotonic() - begun < 10  # nobody asks it again for 15 s
        mirrors.mirror(place, "run", "lab")
        until(lambda: mirrors.rule(place, "lab").get("error", "").startswith("unreachable"))
    with here(place, "gcp://lab") as hub:  # to the first who asks it is known
        answer = hub.get(f"/api/v1/datasets/{DOOR}/episodes")
        assert answer.status == 503 and answer.json()["type"].endswith(":upstream-unavailable") and int(answer.headers["Retry-After"]) > 0, answer.body


def test_what_an_upstream_has_is_listed_and_fetched_when_asked_for(place):
    with upstream(place) as up:
        there = {d["id"]: d for d in up.datasets()}
        with here(place, up.base, "lab/=" + up.base) as hub:
            items = {d["id"]: d for d in listed(hub, 2 * len(there))}
            assert set(items) == set(there) | {"lab/" + id for id in there}
            for id, item in items.items():
                assert item == {**there[id.removeprefix("lab/")], **{k: item[k] for k in ("id", "namespace", "status") if k in item}}
                assert item["status"] == "remote"
            assert {d["id"] for d in hub.datasets("&status=remote&prefix=lab/")} == {"lab/" + id for id in there}
            assert hub.datasets("&status=ready") == []
            assert hub.get("/api/v1/datasets?limit=3").json()["total"] == len(items)
            document = hub.dataset("lab/" + DOOR)
            assert document["origin"]["id"] == DOOR and document["origin"]["remote"] == up.base and document["size"] == there[DOOR]["size"]
            assert hub.get("/api/v1/datasets/D4RL/door/human").json()["id"] == "D4RL/door/human-v10"  # the newest there
            assert jobs(hub) == []  # the document alone fetches nothing
            answers = wait_here(hub, DOOR)
            assert answers[-1].body == up.get(f"/api/v1/datasets/{DOOR}/episodes/0/actions?stop=2").body
            assert all(a.json()["type"].endswith(":pending") and a.headers["Retry-After"] for a in answers[:-1])
            until(lambda: [(j["target"], j["state"]) for j in jobs(hub)] == [(DOOR, "done")])  # what was copied is served first
            assert hub.statuses() == {**{id: "remote" for id in items}, DOOR: "ready"}  # what is here wins
            assert hub.dataset(DOOR)["revision"] == there[DOOR]["revision"] and hub.dataset(DOOR)["origin"]["id"] == DOOR
    with here(place, up.base, up.base, args=["--as", "lab/"]) as hub:  # the upstream is down
        assert hub.statuses() == {**{id: "remote" for id in items}, DOOR: "ready"}
        assert hub.get(f"/api/v1/datasets/{DOOR}/files/data/main_data.hdf5").status == 200
    with here(place) as hub:  # and no upstream any more
        assert hub.statuses() == {DOOR: "ready"}


def test_an_upstream_hub_is_asked_what_it_knows(place):
    """Its document, with spaces, fields and numbers, before anything of the dataset is here; without an answer what its list says."""
    with upstream(place) as up:
        told = until(lambda: (d := up.dataset(DOOR))["statistics"]["coverage"]["complete"] and d)
        with here(place, "lab/=" + up.base) as hub:
            listed(hub)
            document = hub.dataset("lab/" + DOOR)
            for key in "metadata", "observation_space", "action_space", "env_spec", "fields", "splits", "statistics", "files", "facts", "description", "revision":
                assert document.get(key) == told.get(key), key
            assert document["status"] == "remote" and document["fields"] and document["observation_space"]["shape"] and jobs(hub) == []
            assert "immutable" not in hub.get(f"/api/v1/datasets/lab/{DOOR}?revision={told['revision']}").headers["Cache-Control"]
    with here(place, "lab/=" + up.base) as hub:
        document = hub.dataset("lab/" + DOOR)
        assert document["status"] == "remote" and document["fields"] == [] and document["episodes"] == told["episodes"]


def test_a_bucket_is_asked_for_the_metadata_of_a_set(place, gcs):
    """What Minari's metadata.json says, before anything of the dataset is here; without an answer what the list says."""
    with Hub([ERA]) as own:
        own.wait_indexed()
        told = own.dataset(DOOR)
    with here(place, "gcp://lab") as hub:
        listed(hub)
        document = hub.dataset(DOOR)
        for key in "observation_space", "action_space", "env_spec":
            assert document[key] == told[key], key
        assert {k: document["metadata"].get(k) for k in ("author_email", "algorithm_name")} == {
            k: told["metadata"][k] for k in ("author_email", "algorithm_name")}
        assert document["status"] == "remote" and document["fields"] == [] and jobs(hub) == []
        seen = len(gcs.requests)
        assert hub.dataset(DOOR) == document and len(gcs.requests) == seen  # it is remembered
    gcs.fault = lambda request, path: request.cut(503, {"Content-Length": "100"}, b"")
    with here(place, "gcp://lab") as hub:
        document = hub.dataset(DOOR)
        assert document["status"] == "remote" and "observation_space" not in document and document["episodes"] == told["episodes"]


def test_what_was_read_least_recently_makes_room(place):
    image, infos, options, large = "dummy-image/test-v0", "dummy-infos/test-v0", "dummy-options/test-v0", DOOR
    config = os.path.join(place, "hub.conf")
    shutil.copytree(os.path.join(ERA, "cartpole"), os.path.join(place, "here", "mine", "cartpole"))
    with upstream(place) as up:
        with open(config, "w") as f:
            f.write(f"cache-max = 250K\n[mirror kept]\nremote = {up.base}\nprefix = parts/\n[upstream lab]\nremote = {up.base}\nevery = 1h\n")
        with here(place, args=["--config", config]) as hub:
            listed(hub, 20)
            mirrors.wait_synced(hub, "kept")
            for id in (image, infos):
                wait_here(hub, id)
            read_until_now(hub)
            assert hub.get(f"/api/v1/datasets/{image}/episodes").status == 200
            wait_here(hub, options)
            until(lambda: hub.statuses()[infos] == "remote")  # the image was read after it
            now = hub.statuses()
            assert {id for id, status in now.items() if status == "ready"} == {image, options, "mine/cartpole/test-v0", *(i for i in now if i.startswith("parts/"))}
            assert not os.path.exists(os.path.join(place, "here", infos))
            answer = until(lambda: (a := hub.get(f"/api/v1/datasets/{large}/files")).status != 503 and a)
            assert answer.status == 507 and answer.json()["type"].endswith(":no-space")  # for it alone there is no room
            assert hub.statuses()[large] == "remote" and hub.statuses()[image] == "ready"
            status = hub.get("/api/v1/status").json()
            assert status["cache"]["evicted"] == 1 and status["cache"]["max"] == 250 * 1024 and status["roots"][0]["free"] > 0
            metrics = hub.get("/metrics").body.decode()
            assert "minari_hub_cache_evictions_total 1" in metrics and 'minari_hub_root_free_bytes{root="0"}' in metrics
            read_until_now(hub)
            assert hub.get(f"/api/v1/datasets/{image}/episodes").status == 200
        with sqlite3.connect(os.path.join(place, "state", "hub.db")) as db:  # the order outlives the hub
            read = dict(db.execute("SELECT path, read FROM origins WHERE rule = 'lab'"))
        assert set(read) == {image, options} and read[image] > read[options]
        with here(place, args=["--config", config, "--min-free", "1000T"]) as hub:
            until(lambda: hub.statuses()[image] == "remote" and hub.statuses()[options] == "remote")
            assert hub.statuses()["mine/cartpole/test-v0"] == "ready" and os.path.isdir(os.path.join(place, "here", "parts"))
            assert until(lambda: (a := hub.get(f"/api/v1/datasets/{image}/files")).status != 503 and a).status == 507


def slow_reader(hub, path, posted=None):
    """A socket that takes what it is sent only when it is read, and the head of the answer with some of the body."""
    method, body = ("POST", json.dumps(posted)) if posted else ("GET", "")
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(60)
    s.connect(("127.0.0.1", hub.port))
    s.sendall(f"{method} {path} HTTP/1.1\r\nHost: hub\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    seen = b""
    while b"\r\n\r\n" not in seen:
        seen += s.recv(4096)
    head, _, body = seen.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    return s, body


def rest_of(reader):
    s, body = reader
    pieces = [body]
    with s:
        while piece := s.recv(1 << 20):
            pieces.append(piece)
    return b"".join(pieces)


def put_like_the_door(gcs, *ids):
    for id in ids:
        for name in ("metadata.json", "main_data.hdf5"):
            gcs.put(f"{id}/data/{name}", gcs.objects[f"{DOOR}/data/{name}"][2])
        gcs.put(id + "/data/big.bin", BIG)


def test_what_somebody_reads_is_not_evicted(place, gcs):
    data, other, third = random.Random(9).randbytes(24 << 20), "D4RL/pen/human-v2", "D4RL/relocate/human-v2"
    gcs.put(DOOR + "/data/large.bin", data)
    put_like_the_door(gcs, other, third)
    with here(place, "gcp://lab", args=["--cache-max", "32M"]) as hub:  # for the door and one more
        listed(hub, 3)
        wait_here(hub, DOOR)
        reader = slow_reader(hub, file_url("large.bin"))
        wait_here(hub, other)
        read_until_now(hub, others=1)
        wait_here(hub, third)  # one more than there is room for
        until(lambda: hub.statuses()[other] == "remote")  # it was read after the door was asked for
        assert hub.statuses()[DOOR] == "ready"
        wait_here(hub, other)
        until(lambda: hub.statuses()[third] == "remote")
        assert rest_of(reader) == data
        wait_here(hub, third)
        until(lambda: hub.statuses()[other] == "remote")  # the last byte of the door was sent after it was read
        assert hub.statuses()[DOOR] == "ready"


def test_all_datasets_of_a_batch_are_read(place, gcs):
    """Until its last byte was sent: there is room for two datasets, and a third is fetched meanwhile."""
    other, third = "D4RL/pen/human-v2", "D4RL/relocate/human-v2"
    put_like_the_door(gcs, other, third)
    with here(place, "gcp://lab", args=["--cache-max", "8M"]) as hub:
        listed(hub, 3)
        for id in (DOOR, other):
            wait_here(hub, id)
        items = [{"dataset": id, "episode": 0} for id in (DOOR, other) for _ in range(1600)]
        reader = slow_reader(hub, "/api/v1/batch?format=npz", {"items": items, "fields": ["observations"], "pad": "edge"})
        wait_here(hub, third)
        assert [hub.statuses()[id] for id in (DOOR, other)] == ["ready", "ready"]
        assert len(rest_of(reader)) > 8 << 20  # more than sockets hold
        until(lambda: hub.statuses()[third] == "remote")  # the batch was sent after it was read
        assert [hub.statuses()[id] for id in (DOOR, other)] == ["ready", "ready"]


def test_a_folder_of_an_upstream_comes_as_the_datasets_in_it(place, gcs, tmp_path):
    """Each of one file: they have names of their own, and what was listed is no more; what reads them keeps all of it here."""
    with open(os.path.join(FIXTURES, "d4rl", "hopper_medium-v0.hdf5"), "rb") as f:
        one = f.read()
    for name in ("can", "lift"):
        gcs.put(f"robo/{name}.hdf5", one)
    gcs.put("robo/big.bin", BIG)
    put_like_the_door(gcs, "D4RL/pen/human-v2", "D4RL/relocate/human-v2")
    config = tmp_path / "hub.conf"
    config.write_text("cache-max = 8M\n[upstream lab]\nremote = gcp://lab\neverything = yes\n")
    with here(place, args=["--config", str(config), "--sweep", "1s"]) as hub:
        listed(hub, 4)
        assert hub.statuses()["robo"] == "remote"
        until(lambda: hub.get("/api/v1/datasets/robo/episodes").status != 503)
        until(lambda: hub.statuses().get("robo/can") == hub.statuses().get("robo/lift") == "ready")
        assert hub.statuses()["robo"] == "ready" and hub.dataset("robo")["format"] == "files"  # the loose one
        assert hub.dataset("robo/can")["origin"]["remote"] == "gcp://lab"
        wait_here(hub, DOOR)
        read_until_now(hub)
        assert hub.get("/api/v1/datasets/robo/can/episodes").status == 200
        wait_here(hub, "D4RL/pen/human-v2")  # one more than there is room for
        until(lambda: hub.statuses()[DOOR] == "remote")
        assert hub.statuses()["robo/lift"] == "ready"
        del gcs.objects["robo/big.bin"]
        mirrors.again(place, hub, "lab")
        until(lambda: hub.get("/api/v1/datasets/robo/lift/episodes").status == 200 and "robo" not in hub.statuses())
        answer = hub.get("/api/v1/datasets/robo/episodes")
        assert answer.status == 404 and "folder of datasets" in answer.json()["detail"] and "'robo/" in answer.json()["detail"], answer.body


def test_what_changed_there_is_fetched_anew_once_it_is_read(place):
    path = os.path.join("D4RL", "door", "human-v2", "data", "metadata.json")
    with upstream(place) as up, here(place, "lab/=" + up.base) as hub:
        listed(hub, 20)
        wait_here(hub, "lab/" + DOOR)
        with open(os.path.join(place, "up", path), "rb") as f:
            old = f.read()
        new = json.dumps({**json.loads(old), "author": ["somebody else"]}).encode()
        before = up.dataset(DOOR)["revision"]
        mirrors.replace(os.path.join(place, "up", path), new)
        until(lambda: up.dataset(DOOR)["revision"] != before and up.dataset(DOOR)["status"] == "ready")
        fetched, _ = mirrors.again(place, hub, "lab")
        assert fetched == 0 and hub.dataset("lab/" + DOOR)["origin"]["stale"] is True
        url = f"/api/v1/datasets/lab/{DOOR}/files/data/metadata.json"
        assert hub.get(url).body == old  # which answers until the new one is here
        until(lambda: (a := hub.get_uncut(url)) and a.body == new)
        assert hub.get("/api/v1/mirrors/lab").json()["bytes"] == up.dataset(DOOR)["size"] - len(new) + len(old) + len(new)  # no more than that
        until(lambda: hub.dataset("lab/" + DOOR)["revision"] == up.dataset(DOOR)["revision"])
        assert "stale" not in hub.dataset("lab/" + DOOR)["origin"]


def test_clients_of_the_hub_notice_nothing(place, tmp_path):
    with upstream(place) as up, here(place, up.base) as hub:
        listed(hub, 20)
        cli = Cli(tmp_path / "sets", MINARI_HUB_URL=hub.base)
        cli.run("download", DOOR, expect=0)
        want = {path: data for path, data in mirrors.tree(os.path.join(place, "up")).items() if path.startswith(DOOR + "/")}
        assert {p: d for p, d in mirrors.tree(cli.root).items() if p.startswith(DOOR + "/")} == want
        assert mirrors.minari(str(cli.root), DOOR) == {DOOR}
        until(lambda: hub.statuses()[DOOR] == "ready")
        assert mirrors.minari(os.path.join(place, "here"), DOOR) == {DOOR}
        assert len(jobs(hub)) == 1
