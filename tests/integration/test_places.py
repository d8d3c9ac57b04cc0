"""Every file below a root is in exactly one listed dataset and can be downloaded, whatever trees, names, links and permissions there
are; and what the hub may not see is listed with the reason."""
import collections
import contextlib
import glob
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, Hub, quote, until

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
FIXTURE_SETS = ["samples/door-human-v0", "lerobot/arm-v20", "lerobot/arm-v21", "webdataset/plain", "webdataset/ilr-shards"]
NAMES = [b"a", b"b-v0", b"data", b"meta", b"files", b"episodes", b"~x", b"archive.tar", b"tab\tname", b"line\nname", b"back\\slash", b"\xff\xfe",
         b"\xc2\x85", b"100%", b"sp ace", "grün".encode(), b"root-files", b"\\x41", b".hidden", b"x.tar", b"x-0.tar", b"train.tar.gz", b"README.md",
         b"namespace_metadata.json", b"-", b"%2F", b"?q#", b"l" * 200]


@contextlib.contextmanager
def folder():
    root = tempfile.mkdtemp(prefix="hub-places-")
    os.chmod(root, 0o755)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def write(root, path, text="x"):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w") as f:
        f.write(text)


def copy(to, of=DOOR):
    shutil.copytree(of, to, copy_function=shutil.copyfile)


def grow(rng, path, depth, serial):
    """A random tree: files whose contents are all different, folders, datasets among them."""
    for name in rng.sample(NAMES, rng.randrange(1, 8)):
        at = os.path.join(path, name)
        kind = rng.random()
        if os.path.exists(at):
            continue
        if kind < 0.5 or depth == 5:
            with open(at, "wb") as f:
                f.write(b"file %d" % next(serial))
        elif kind < 0.65:
            copy(at, os.fsencode(os.path.join(FIXTURES, rng.choice(FIXTURE_SETS))))
            if rng.random() < 0.5:
                grow(rng, at, depth + 1, serial)
        else:
            os.mkdir(at)
            grow(rng, at, depth + 1, serial)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def on_disk(root):
    """What find would say: regular files without a hidden name on the way."""
    found = collections.Counter()
    for path, folders, files in os.walk(os.fsencode(root)):
        folders[:] = [f for f in folders if not f.startswith(b".")]
        for name in files:
            if not name.startswith(b".") and name != b"namespace_metadata.json":
                with open(os.path.join(path, name), "rb") as f:
                    found[digest(f.read())] += 1
    return found


def in_hub(hub):
    found = collections.Counter()
    for d in hub.datasets():
        assert not d["id"].startswith("/")
        listing = hub.get(f"/api/v1/datasets/{quote(d['id'])}/files").json()
        for item in listing["items"]:
            answer = hub.get(f"/api/v1/datasets/{quote(d['id'])}/files/{quote(item['path'])}")
            assert answer.status == 200, (d["id"], item["path"], answer.body)
            assert len(answer.body) == item["size"]
            if os.path.basename(item["path"]) != "namespace_metadata.json":
                found[digest(answer.body)] += 1
    return found


@pytest.mark.parametrize("seed", range(6))
def test_every_file_is_in_one_dataset(seed):
    with folder() as root:
        rng = random.Random(seed)
        serial = iter(range(10**9))
        for _ in range(3):
            grow(rng, os.fsencode(root), 0, serial)
        with Hub([root]) as hub:
            hub.wait_indexed()
            assert in_hub(hub) == on_disk(root)


def test_deep_trees_are_in_one_dataset():
    with folder() as root:
        copy(os.path.join(root, "set-v0"))
        write(root, "/".join(["deep"] + ["d"] * 150 + ["x.txt"]), "deep down")
        with Hub([root]) as hub:
            hub.wait_indexed()
            assert in_hub(hub) == on_disk(root)
            items = hub.get("/api/v1/datasets/deep/files").json()["items"]
            assert [i["path"].count("/") for i in items] == [150]


def test_spelling_both_ways():
    with folder() as root:
        for name in (b"files", b"~x", b"tab\tx", b"a\\x41", b"\xff"):
            os.makedirs(os.path.join(os.fsencode(root), name, name))
            with open(os.path.join(os.fsencode(root), name, name, name), "wb") as f:
                f.write(name)
        with Hub([root]) as hub:
            hub.wait_indexed()
            assert sorted(hub.statuses()) == sorted(["files~", "\\x7ex", "tab\\x09x", "a\\x5cx41", "\\xff"])
            assert hub.get("/api/v1/datasets/%5CxFF").status == 200  # digits of either case
            assert hub.get("/api/v1/datasets/files~/files/files/files").body == b"files"
            assert hub.get("/api/v1/datasets/%5Cx66iles/files/files/files").body == b"files"  # as it was spelled before
            assert hub.get("/api/v1/datasets/files~/files/%5Cx66iles/files").body == b"files"
            answer = hub.get("/api/v1/datasets/a%5Cq")
            assert answer.status == 400 and answer.json()["type"] == "urn:minari-hub:bad-id"


def test_a_folder_called_as_a_word_of_the_api_is_found_by_its_name(tmp_path):
    with folder() as root:
        for name in ("episodes", "lab/episodes", "lab/rows", "episodes~"):
            copy(os.path.join(root, name))
        with Hub([root]) as hub:
            hub.wait_indexed()
            assert sorted(hub.statuses()) == sorted(["episodes~", "episodes\\x7e", "lab/episodes~", "lab/rows~"])
            assert {"episodes~", "lab/episodes~"} <= {d["id"] for d in hub.get("/api/v1/datasets?q=episodes").json()["items"]}
            for plain, id in [("episodes", "episodes~"), ("episodes/files/data/main_data.hdf5", "episodes~"), ("lab/episodes", "lab/episodes~"),
                              ("lab/rows", "lab/rows~"), ("lab/episodes/files", "lab/episodes~")]:
                answer = hub.get(f"/api/v1/datasets/{plain}")
                assert answer.status == 404 and answer.json()["type"] == "urn:minari-hub:dataset-not-found", plain
                assert answer.json()["nearest"] == [id] and id in answer.json()["detail"], plain
                assert id in hub.get(f"/d/{plain}").body.decode(), plain
            assert hub.get("/api/v1/datasets/batch").json()["type"] == "urn:minari-hub:route-not-found"
            names = subprocess.run(["tar", "-tf", "-"], input=hub.get("/api/v1/datasets/lab/episodes~/archive.tar").body, stdout=subprocess.PIPE)
            assert b"lab/episodes/data/main_data.hdf5" in names.stdout.split()
            for at, (name, path) in enumerate([("lab/episodes", "lab/episodes"), ("episodes~", "episodes"), ("\\x65pisodes", "episodes")]):
                to = str(tmp_path / str(at))
                ran = subprocess.run([os.path.join(BIN, "minari-cli"), "--remote", hub.base, "download", name, "-o", to], capture_output=True)
                assert ran.returncode == 0, ran
                assert os.path.isfile(os.path.join(to, path, "data", "main_data.hdf5"))


def test_links_do_not_multiply():
    with folder() as root:
        copy(os.path.join(root, "good-v0"))
        for place in ("", "good-v0/"):
            for i in range(30):
                write(root, f"{place}d{i}/x.txt")
                for name in "ab":
                    os.symlink(f"../d{i + 1}", os.path.join(root, f"{place}d{i}/{name}"))
            write(root, f"{place}d30/x.txt")
        with Hub([root]) as hub:
            hub.wait_indexed()
            assert hub.processor_s() < 20  # one that follows every way there ends never
            assert hub.statuses()["good-v0"] == "ready"
            assert hub.dataset("good-v0")["files"] == sum(on_disk(os.path.join(root, "good-v0")).values())


def test_shared_ids_are_told_apart():
    with folder() as one, folder() as two:
        copy(os.path.join(one, "door-human-v0"))
        copy(os.path.join(two, "door-human-v0"))
        other = os.path.basename(two) + "/door-human-v0"
        with Hub([one, two]) as hub:
            hub.wait_indexed()
            assert set(hub.statuses()) == {"door-human-v0", other}

            def both_say_so():
                return all("id-shared" in [p["code"] for p in hub.dataset(id)["problems"]] for id in ("door-human-v0", other))

            until(both_say_so)
            shutil.rmtree(os.path.join(one, "door-human-v0"))
            until(lambda: set(hub.statuses()) == {"door-human-v0"} and not hub.dataset("door-human-v0")["problems"])


def test_what_is_remembered_goes_with_its_directory():
    with folder() as root:
        copy(os.path.join(root, "stays-v0"))
        with Hub([root], args=("--settle", "0", "--sweep", "2s")) as hub:
            hub.wait_indexed()
            for n in range(3):
                copy(os.path.join(root, f"goes-{n}-v0"))
                until(lambda: hub.statuses().get(f"goes-{n}-v0") == "ready")
                shutil.rmtree(os.path.join(root, f"goes-{n}-v0"))
                until(lambda: f"goes-{n}-v0" not in hub.statuses())

            def notes():
                with contextlib.closing(sqlite3.connect(f"file:{glob.glob(hub.state + '/index-*.db')[0]}?mode=ro", uri=True)) as db:
                    return sorted(key for (key,) in db.execute("SELECT key FROM notes WHERE key LIKE 'claim:%'"))

            until(lambda: notes() == [f"claim:{root}/stays-v0"])


def test_a_dataset_that_is_being_removed_is_not_broken():
    with folder() as root:
        copy(os.path.join(root, "set-v0"), os.path.join(FIXTURES, "samples", "D4RL", "door", "human-v2"))
        with Hub([root], args=("--settle", "1s")) as hub:
            hub.wait_indexed()
            end = time.monotonic() + 1  # it settles for longer
            os.unlink(os.path.join(root, "set-v0", "data", "main_data.hdf5"))
            while True:
                status = hub.statuses().get("set-v0")
                if time.monotonic() >= end:
                    break
                assert status in ("ready", "pending")
                time.sleep(0.05)
            shutil.rmtree(os.path.join(root, "set-v0"))
            until(lambda: "set-v0" not in hub.statuses())


def test_plain_files_are_listed_on_request():
    with folder() as root:
        copy(os.path.join(root, "set-v0"))
        write(root, "logs/x.txt")
        with Hub([root]) as hub:
            hub.wait_indexed()

            def listed(*options):
                command = [os.path.join(BIN, "minari-cli"), "list", "remote", "--remote", hub.base, *options]
                return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout

            assert "set" in listed() and "logs" not in listed()
            assert "logs" in listed("-a")


# ---- as somebody who may not read everything ----

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 and shutil.which("setpriv") else ()


@contextlib.contextmanager
def unprivileged(root, *arguments):
    state = tempfile.mkdtemp(prefix="hub-state-")
    if NOBODY:
        os.chown(state, 65534, 65534)
    try:
        with Hub([root], state=state, prefix=NOBODY, args=arguments) as hub:
            yield hub.wait_indexed()
    finally:
        shutil.rmtree(state, ignore_errors=True)


def told_to_the_admin_only(hub, id):
    """As whom the hub runs: by `minari-hub problems` and in the log, but never over TCP."""
    said = subprocess.run([os.path.join(BIN, "minari-hub"), "problems", "--state", hub.state], capture_output=True, text=True, timeout=60)
    line, = (line for line in said.stdout.splitlines() if line.startswith(f"{id}: dataset-broken: "))
    assert "permission denied (the hub runs as " in line, said
    told, = until(lambda: [line for line in hub.text_log().splitlines() if "permission denied (the hub runs as " in line][:1])
    assert "can be downloaded" not in told
    page = hub.get("/api/v1/problems").json()["items"]
    assert any(p.get("dataset") == id and "permission denied" in p["detail"] for p in page)
    assert "the hub runs as" not in json.dumps([page, hub.datasets(), hub.dataset(id), hub.get("/api/v1/status").json()])


def test_an_id_may_lie_in_a_namespace_of_ours():
    """As a mirror or an import with --as puts it. What is called otherwise is told."""
    with folder() as root:
        for place in ("theirs/D4RL/door/human-v2", "theirs/D4RL/door/other-v2", "theirs/notD4RL/door/human-v2"):
            shutil.copytree(os.path.join(FIXTURES, "samples", "D4RL", "door", "human-v2"), os.path.join(root, place))
        with Hub([root]) as hub:
            hub.wait_indexed()
            said = {d["id"]: [p["code"] for p in hub.dataset(d["id"])["problems"]] for d in hub.datasets()}
        assert said == {"theirs/D4RL/door/human-v2": [], "theirs/D4RL/door/other-v2": ["id-mismatch"], "theirs/notD4RL/door/human-v2": ["id-mismatch"]}


def test_chmod_is_noticed_in_both_directions():
    with folder() as root:
        copy(os.path.join(root, "set-v0"))
        file = os.path.join(root, "set-v0", "data", "main_data.hdf5")
        with unprivileged(root, "--sweep", "1h") as hub:
            assert hub.statuses() == {"set-v0": "ready"}
            os.chmod(file, 0)
            until(lambda: hub.statuses() == {"set-v0": "broken"})
            reason = hub.dataset("set-v0")["reason"]
            assert "permission denied" in reason and "the hub runs as" not in reason
            told_to_the_admin_only(hub, "set-v0")
            os.chmod(file, 0o644)
            until(lambda: hub.statuses() == {"set-v0": "ready"})


def test_what_may_not_be_read_is_listed():
    with folder() as root:
        copy(os.path.join(root, "set-v0"))
        copy(os.path.join(root, "lab", "inner-v0"))
        write(root, "lab/notes.txt")
        with unprivileged(root, "--sweep", "1h") as hub:
            assert hub.statuses() == {"set-v0": "ready", "lab": "ready", "lab/inner-v0": "ready"}
            os.chmod(os.path.join(root, "lab"), 0)
            until(lambda: hub.statuses() == {"set-v0": "ready", "lab": "broken"})
            assert hub.dataset("lab")["reason"] == "permission denied"
            told_to_the_admin_only(hub, "lab")
            os.chmod(os.path.join(root, "lab"), 0o755)
            until(lambda: hub.statuses() == {"set-v0": "ready", "lab": "ready", "lab/inner-v0": "ready"})
