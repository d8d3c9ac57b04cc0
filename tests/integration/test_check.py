"""`minari-hub check`: files whose bytes are not what they were are found, never served, and fetched again where they came from."""
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from hub import BIN, until
from mirrors import again, here, mirror, place, tree, wait_synced  # noqa: F401
from upstream_gcs import Gcs

DOOR = "D4RL/door/human-v2"
DATA = "/api/v1/datasets/" + DOOR


def check(place, *args, code=0, root="here"):
    run = subprocess.run(command(place, *args, root=root), capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env=environment(place, root))
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return json.loads(run.stdout) if "--json" in args and run.stdout else run.stdout + run.stderr


def command(place, *args, root="here"):
    return [os.path.join(BIN, "minari-hub"), "check", *args, "--state", os.path.join(place, "state")]


def environment(place, root):
    return {**os.environ, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_DATASETS_PATH": os.path.join(place, root)}


def truth(place, sql, *values):
    with sqlite3.connect(os.path.join(place, "state", "hub.db")) as db:
        return db.execute(sql, values).fetchall()


def kinds(result):
    return {(f["path"], f["what"]) for f in result["findings"]}


@pytest.fixture
def local(place):
    """Datasets that came from nowhere."""
    shutil.rmtree(os.path.join(place, "here"))
    os.rename(os.path.join(place, "up"), os.path.join(place, "here"))
    return place


def test_what_came_from_nowhere_is_not_served_any_more(local):
    file, rows = f"{DATA}/files/data/main_data.hdf5", f"{DATA}/episodes/0/observations?stop=2&format=npy"
    with here(local, "--sweep", "1s") as hub:
        hub.wait_indexed()
        good = hub.get(rows).body
        first = check(local, "--json")
        assert first["first"] == first["files"] > 20 and first["datasets"] == len(hub.datasets()) and first["damaged"] == 0
        again = check(local, "--json", "--rate", "500M")
        assert again["first"] == 0 and again["files"] == first["files"] and again["bytes"] == first["bytes"]
        assert hub.dataset(DOOR)["content"]
    # silent rot leaves no trace but in the bytes: here it is the digest that is made another
    path = DOOR + "/data/main_data.hdf5"
    truth(local, "UPDATE digests SET sha256 = replace(sha256, substr(sha256, 1, 1), 'x') WHERE path = ?", path)
    truth(local, "UPDATE digests SET sha256 = replace(sha256, 'x', '0') WHERE path = ?", path)
    with here(local, "--sweep", "1s") as hub:
        hub.wait_indexed()
        found = check(local, "D4RL/*", "--json", code=5)
        assert kinds(found) == {("data/main_data.hdf5", "damaged")} and found["damaged"] == 1
        for url in (rows, file, f"{DATA}/archive.tar"):
            answer = hub.get(url)
            assert answer.status == 422 and answer.json()["type"] == "urn:minari-hub:file-damaged", answer.body
        assert "put a good copy in its place" in answer.json()["detail"] and local not in answer.json()["detail"]
        assert hub.get(f"{DATA}/files/data/metadata.json").status == 200
        assert [p["path"] for p in hub.dataset(DOOR)["problems"] if p["code"] == "file-damaged"] == ["data/main_data.hdf5"]
        assert [d["id"] for d in hub.datasets() if d.get("damaged")] == [DOOR]
        assert [f["path"] for f in hub.get(DATA + "/files").json()["items"] if f.get("damaged")] == ["data/main_data.hdf5"]
        assert {"files-damaged", "file-damaged"} <= {p["code"] for p in hub.get("/api/v1/problems?limit=1000").json()["items"]}
        assert "files-damaged" in {a["code"] for a in hub.get("/api/v1/status").json()["alerts"]}
    with here(local, "--sweep", "1s") as hub:  # it is remembered
        hub.wait_indexed()
        assert hub.get(rows).status == 422
        whole = os.path.join(local, "here", path)
        shutil.copy2(whole, whole + ".new")
        os.replace(whole + ".new", whole)
        until(lambda: hub.get(rows).body == good)
        until(lambda: not hub.dataset(DOOR).get("damaged"))
        changed = check(local, DOOR, "--json")
        assert kinds(changed) == {("data/main_data.hdf5", "changed")}
        check(local, "no/such/set", code=3)
        check(local, "--rate", "fast", code=2)


def test_when_no_hub_runs(local):
    check(local, "--repair", DOOR, code=3)  # nothing was looked through yet
    with here(local) as hub:
        hub.wait_indexed()
    found = check(local, "--json", DOOR)
    assert found["first"] == found["files"] > 1
    truth(local, "UPDATE digests SET md5 = '', sha256 = ? WHERE path LIKE '%metadata.json'", "0" * 64)
    said = check(local, code=5)
    assert "damaged   D4RL/door/human-v2: data/metadata.json" in said and "1 damaged, 0 repaired" in said
    with here(local) as hub:
        hub.wait_indexed()
        assert hub.get(DATA + "/files/data/metadata.json").status == 422
        jobs = hub.get("/api/v1/jobs?kind=check").json()["items"]
        assert [j["state"] for j in jobs] == ["done", "done"] and hub.get("/api/v1/jobs/" + jobs[0]["id"]).json()["result"]["findings"]


# ---- what came from somewhere ----

BIG = random.Random(5).randbytes(12 * 1024 * 1024)


def flip(path, rng, times=1):
    """One bit at random places, as a disk does it: size and time stay."""
    before = os.stat(path)
    for _ in range(times):
        with open(path, "r+b") as f:
            f.seek(rng.randrange(before.st_size))
            byte = f.read(1)[0]
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([byte ^ 1 << rng.randrange(8)]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def bucket(place, monkeypatch):
    with Gcs() as up:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", up.url)
        for name, data in tree(os.path.join(place, "up")).items():
            if name.startswith("D4RL/door/"):
                up.put(name, data)
        up.put(DOOR + "/data/big.bin", BIG)
        yield up


def fetched(up, since):
    """Bytes of ranges that were asked for."""
    sizes = [re.fullmatch(r"bytes=(\d+)-(\d+)", r[2].get("Range", "")) for r in up.requests[since:] if "alt=media" in r[1]]
    return sum(int(m[2]) - int(m[1]) + 1 for m in sizes if m)


def mirrored(place, hub):
    hub.wait_ready()
    mirror(place, "add", "gcp://lab", "--name", "lab", "--every", "1h")
    wait_synced(hub, "lab")
    until(lambda: hub.statuses().get(DOOR) == "ready")


def test_what_was_copied_is_mended(place, bucket):
    rng = random.Random(29)
    root = os.path.join(place, "here")
    rows = f"{DATA}/episodes/0/observations?format=npy"
    with here(place, "--sweep", "1s") as hub:
        mirrored(place, hub)
        good, whole, revision = hub.get(rows).body, tree(root), hub.dataset(DOOR)["revision"]
        until(lambda: hub.dataset(DOOR).get("content"))
        assert check(place, "--json")["first"] == 0
        for name, times in ((DOOR + "/data/big.bin", 3), (DOOR + "/data/main_data.hdf5", 1), (DOOR + "/data/metadata.json", 1)):
            flip(os.path.join(root, name), rng, times)
        found = check(place, "--json", DOOR, code=5)
        assert found["damaged"] == 3 and found["changed"] == 0
        assert hub.get(DATA + "/files/data/big.bin").status in (422, 503)  # 503: the scanner saw another change time, or it was open still
        since, stop, seen = len(bucket.requests), threading.Event(), []

        def reads():
            while not stop.is_set():
                got = hub.get(rows)
                seen.append(got.status in (422, 503) or got.body == good)
                part = hub.get(DATA + "/files/data/big.bin", {"Range": "bytes=0-99999"})
                seen.append(part.status in (422, 503) or part.body == BIG[:100000])
        reader = threading.Thread(target=reads)
        reader.start()
        mended = check(place, "--repair", "--json", DOOR)
        stop.set()
        reader.join()
        assert seen and all(seen)
        assert mended["repaired"] == 3 and mended["damaged"] == 0
        small = len(whole[DOOR + "/data/metadata.json"])
        assert mended["fetched"] <= 4 * 1024 * 1024 + small + len(whole[DOOR + "/data/main_data.hdf5"])
        assert fetched(bucket, since) <= mended["fetched"] < len(BIG) / 2
        assert tree(root) == whole
        until(lambda: hub.get(rows).body == good)
        until(lambda: not hub.dataset(DOOR).get("damaged") and hub.dataset(DOOR)["revision"] == revision)
        assert os.listdir(os.path.join(root, ".minari-hub", "incoming")) == []
        # upstream has another one by now: it is not to be had again
        flip(os.path.join(root, DOOR + "/data/big.bin"), rng)
        bucket.put(DOOR + "/data/big.bin", BIG[::-1])
        found = check(place, "--repair", "--json", DOOR, code=5)
        assert found["damaged"] == 1 and "now another file on the remote" in found["findings"][0]["detail"]
        again(place, hub, "lab")  # the rule brings what is there now
        until(lambda: (a := hub.get_uncut(DATA + "/files/data/big.bin")) and a.body == BIG[::-1])
        assert check(place, "--json", DOOR)["damaged"] == 0


def test_what_is_not_hashed_yet_is_mended(place, bucket):
    """The bucket's CRC-32C says what it was, and what was hashed when it was damaged already does not count."""
    rng, root, big = random.Random(31), os.path.join(place, "here"), DOOR + "/data/big.bin"
    with here(place, "--sweep", "1s") as hub:
        mirrored(place, hub)
        whole = tree(root)
    truth(place, "UPDATE digests SET sha256 = '' WHERE path = ?", big)  # as it came; it may have been hashed
    assert truth(place, "SELECT length(sha256), length(pieces) FROM origin_files WHERE path = 'data/big.bin'") == [(0, 4 * 12)]
    flip(os.path.join(root, big), rng)
    found = check(place, "--json", DOOR, code=5)
    assert kinds(found) == {("data/big.bin", "damaged")} and "CRC-32C" in found["findings"][0]["detail"]
    with here(place, "--sweep", "1s") as hub:
        hub.wait_indexed()
        mended = check(place, "--repair", "--json", DOOR)
        assert mended["repaired"] == 1 and mended["fetched"] <= 2**20 and tree(root) == whole
        until(lambda: hub.dataset(DOOR).get("content"))
        assert hub.get(DATA + "/files/data/big.bin").body == BIG
        flip(os.path.join(root, big), rng)
        until(lambda: (a := hub.get_uncut(DATA + "/files/data/big.bin")) and a.status == 200)  # it is as if somebody had changed it ...
        until(lambda: hub.dataset(DOOR).get("content"))  # ... and is hashed as it is
        assert kinds(check(place, "--json", DOOR, code=5)) == {("data/big.bin", "damaged")}
        bucket.put(DOOR + "/data/more.bin", b"more")
        again(place, hub, "lab")
        assert tree(root) == {**whole, DOOR + "/data/more.bin": b"more"}
        assert check(place, "--json", DOOR)["damaged"] == 0


def test_what_is_damaged_when_it_is_hashed_later_is_not_served(place, bucket):
    """The CRC-32C that came with it says so at once, in one line of the log; a check finds out where it is whole after all."""
    big, file = DOOR + "/data/big.bin", DATA + "/files/data/big.bin"
    with here(place, "--sweep", "1s") as hub:
        mirrored(place, hub)
        until(lambda: hub.dataset(DOOR).get("content"))
    truth(place, "UPDATE digests SET sha256 = '', crc32c = '00000001' WHERE path = ?", big)
    for _ in range(2):  # another start says nothing new
        with here(place, "--sweep", "1s") as hub:
            hub.wait_indexed()
            until(lambda: hub.get(file).status == 422)
            assert hub.dataset(DOOR)["damaged"] == 1
            assert truth(place, "SELECT sha256 FROM digests WHERE path = ?", big) == [("",)]
            assert "was 00000001" in truth(place, "SELECT why FROM damaged WHERE path = ?", big)[0][0]
            lines = hub.text_log().count("file-damaged")  # of both: the log goes on in one file
    assert lines == 1
    with here(place, "--sweep", "1s") as hub:
        hub.wait_indexed()
        assert check(place, "--json", DOOR)["damaged"] == 0  # the rule knows what the bucket said
        until(lambda: hub.dataset(DOOR).get("content"))
        assert hub.get(file).body == BIG


def test_what_lies_in_a_tree_that_was_copied_is_mended(place, bucket):
    """A bucket of plain files is one copy; the hub finds datasets in it, which have its origin."""
    rng, root = random.Random(7), os.path.join(place, "here")
    for name in list(bucket.objects):
        if name.endswith("metadata.json"):
            del bucket.objects[name]
    for name in ("docs/README.md", "robots/one.bin", "robots-2/one.bin"):
        bucket.put(name, BIG[:3_000_000])
    with here(place, "--sweep", "1s") as hub:
        hub.wait_ready()
        mirror(place, "add", "gcp://lab", "--as", "t", "--only", "tree", "--every", "1h")
        wait_synced(hub, "t")
        hub.wait_indexed()
        until(lambda: len(hub.datasets()) > 1)
        id = next(d["id"] for d in hub.datasets() if "door" in d["id"])
        path, whole = os.path.join(root, "t", DOOR, "data"), tree(root)
        origin = hub.dataset(id)["origin"]
        assert (origin["id"], origin["rule"]) == ("lab", "t") and ("t/" + origin["path"]).startswith("t/D4RL")
        flip(os.path.join(path, "big.bin"), rng)
        found = check(place, "--json", code=5)
        assert found["damaged"] == 1 and found["changed"] == 0 and "check --repair" in found["findings"][0]["detail"], found
        again(place, hub, "t")
        mended = check(place, "--repair", "--json", id)
        assert mended["repaired"] == 1 and 0 < mended["fetched"] < len(BIG) / 2
        assert tree(root) == whole
        flip(os.path.join(path, "big.bin"), rng)
        check(place, code=5)
        bucket.put("docs/more.md", b"more")
        again(place, hub, "t")  # what is damaged is not taken over into the new state
        assert tree(root) == {**whole, "t/docs/more.md": b"more"}


def test_a_repair_is_killed(place, bucket):
    root, file = os.path.join(place, "here"), os.path.join(place, "here", DOOR, "data", "big.bin")
    with here(place) as hub:
        mirrored(place, hub)
    flip(file, random.Random(1), 6)
    since = len(bucket.requests)
    bucket.fault = lambda request, path: "big.bin" in path and "alt=media" in path and time.sleep(0.3)
    for wait in (0.1, 0.4, 0.7):
        process = subprocess.Popen(command(place, "--repair", DOOR), env=environment(place, "here"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)  # whatever it is at by then
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert os.path.getsize(file) == len(BIG)
    with here(place) as hub:  # the hub goes on with it
        hub.wait_ready()
        until(lambda: all(j["state"] == "done" for j in hub.get("/api/v1/jobs?kind=check").json()["items"]))
        with open(file, "rb") as f:
            assert f.read() == BIG
        until(lambda: (a := hub.get_uncut(DATA + "/files/data/big.bin")) and a.body == BIG)
    assert len(bucket.requests) > since and os.listdir(os.path.join(root, ".minari-hub", "incoming")) == []
