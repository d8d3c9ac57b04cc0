"""Mirror rules whose remote is a bucket or an organisation of Hugging Face, and hubs that copy hubs."""
import base64
import contextlib
import glob
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from hub import BIN, FIXTURES, Hub, until
from mirrors import again, expect_copy, here, minari, mirror, place, replace, rule, tree, upstream, wait_synced  # noqa: F401
from upstream import Upstream
from upstream_gcs import Gcs, attributes
from upstream_hf import Hf, minari_org

DOOR = "D4RL/door/human-v2"
OLD = os.path.join(FIXTURES, "minari", "root-0.4.3")


class Bucket:
    """The folder `up` as objects: each has a generation of its own, which only changes with it."""
    remote, media, listings = "gcp://lab", "alt=media", "/o[?]"

    def __init__(self, up, monkeypatch):
        self.up, self.server = up, Gcs()
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", self.server.url)

    def publish(self):
        files = tree(self.up)
        for name in set(self.server.objects) - set(files):
            del self.server.objects[name]
        for name, data in files.items():
            if name not in self.server.objects or self.server.objects[name][1] != data:
                self.server.put(name, data)

    def of_a_pass(self, repos):
        return 1


class Organisation:
    """The same as repos of Hugging Face, one for the first segment of the ids: a change is a commit of one of them."""
    remote, media, listings = "hf://farama-minari", "/resolve/(?!.*namespace_metadata)", "/api/|namespace_metadata"

    def __init__(self, up, monkeypatch):
        self.up, self.server = up, Hf()
        monkeypatch.setenv("HF_ENDPOINT", self.server.url)
        monkeypatch.setenv("HF_TOKEN", "")

    def publish(self):
        repos = minari_org("farama-minari", self.up)
        for id in set(self.server.repos) - set(repos):
            del self.server.repos[id]
        for id, files in repos.items():
            known = self.server.repos.get(id)
            if not known or known.commits[known.branches["main"]] != files:
                self.server.put(id, files)

    def of_a_pass(self, repos):
        return 1 + 6 * repos  # the repos; of each its commit, what is on top, its tree, its namespaces


@pytest.fixture(params=[Bucket, Organisation], ids=["gcp", "hf"])
def source(request, place, monkeypatch):
    with lay(request.param, place, monkeypatch) as source:
        yield source


@contextlib.contextmanager
def lay(kind, place, monkeypatch):
    source = kind(os.path.join(place, "up"), monkeypatch)
    with source.server:
        source.publish()
        yield source


def loads(place, *more, below="here"):
    """Python Minari lists every dataset that is there."""
    root = os.path.join(place, below)
    want = {os.path.dirname(os.path.dirname(p)) for p in tree(root) if p.endswith("/data/metadata.json")}
    assert minari(root, *more) == want


def asked(source, pattern, since):
    return [r[1] for r in source.server.seen(pattern) if r in source.server.requests[since:]]


def test_a_copy_and_its_changes(place, source):
    changed = os.path.join(place, "up", DOOR, "data", "metadata.json")
    copy = lambda name: os.stat(os.path.join(place, "here", DOOR, "data", name))
    repos = len(os.listdir(os.path.join(place, "up")))
    with here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", source.remote, "--name", "lab")
        done = wait_synced(hub, "lab")
        assert done["failures"] == 0 and done["transfers"] == done["datasets"] > 20
        expect_copy(place)
        loads(place, DOOR)
        big, small = copy("main_data.hdf5"), copy("metadata.json")

        before = len(source.server.requests)
        assert again(place, hub, "lab") == (0, 0)
        assert not asked(source, source.media, before)
        assert len(source.server.requests) - before <= source.of_a_pass(repos)

        with open(changed, "rb") as f:
            data = json.loads(f.read())
        replace(changed, json.dumps({**data, "author": ["somebody else"]}).encode())
        source.publish()
        before = len(source.server.requests)
        assert again(place, hub, "lab") == (os.path.getsize(changed), 1)
        assert len(asked(source, source.media, before)) == 1
        assert copy("main_data.hdf5").st_ino == big.st_ino and copy("metadata.json").st_ino != small.st_ino
        expect_copy(place)
        origin = hub.dataset(DOOR)["origin"]
        assert origin["remote"] == source.remote and origin["rule"] == "lab"
        assert [origin["change"][k] for k in ("added", "replaced", "removed")] == [0, 1, 0]
        loads(place, DOOR)
        assert again(place, hub, "lab") == (0, 0)


def test_objects_that_are_left_out_are_named(place, monkeypatch):
    with Gcs("odd") as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        for name in ("data/x.bin", "data/.hidden", "data/a//b", "line\nbreak", "right\u202eleft"):
            server.put("set-v0/" + name, name.encode())
        for name in ("set-v0/", "set-v0/data/"):
            server.put(name, b"")
        with here(place) as hub:
            hub.wait_ready()
            mirror(place, "add", "gcp://odd", "--name", "odd", "--as", "odd", "--only", "tree")
            wait_synced(hub, "odd")
            line = next(line for line in hub.text_log().splitlines() if "1 file" in line and "verified" in line)
        assert line.endswith("(4)") and all(word in line for word in ("'set-v0/data/.hidden'", "'set-v0/data/a//b'", "'set-v0/line?break'", "left'")), line
        assert list(tree(os.path.join(place, "here"))) == ["odd/set-v0/data/x.bin"]


def test_deletions(place, source):
    with here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", source.remote, "--as", "keep/")
        mirror(place, "add", source.remote, "--as", "follow/", "--delete")
        wait_synced(hub, "keep")
        wait_synced(hub, "follow")
        shutil.rmtree(os.path.join(place, "up", "D4RL", "door"))
        source.publish()
        again(place, hub, "follow")
        again(place, hub, "keep")
        assert os.path.isdir(os.path.join(place, "here", "keep", DOOR))
        assert not os.path.exists(os.path.join(place, "here", "follow", "D4RL", "door"))
        assert os.path.isdir(os.path.join(place, "here", "follow", "dummy-multi"))
        loads(place, below="here/follow")


def test_a_part_under_another_name(place, source):
    with here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", source.remote, "--prefix", "D4RL/", "--as", "copy/", "--include", "*.json")
        assert wait_synced(hub, "copy")["datasets"] == 3
        files = tree(os.path.join(place, "here"))
        assert files and all(p.startswith("copy/D4RL/") and p.endswith(".json") for p in files)
        assert again(place, hub, "copy") == (0, 0)


@pytest.mark.parametrize("kind", [Bucket, Organisation], ids=["gcp", "hf"])
def test_a_token_is_for_its_remote_alone(place, kind, monkeypatch):
    token, secret = os.path.join(place, "token"), "hub_" + random.SystemRandom().randbytes(24).hex()
    with lay(kind, place, monkeypatch) as source, Upstream("127.0.0.2") as elsewhere, here(place) as hub:
        source.server.token = secret
        elsewhere.route = lambda request, path, query: request.answer(404)
        hub.wait_ready()
        mirror(place, "add", source.remote, "--name", "none", "--prefix", "dummy-multi", "--as", "none/")
        failed = lambda name: until(lambda: (found := rule(place, name))["failures"] and found)
        assert "closed" in failed("none")["error"]
        mirror(place, "remove", "none")
        with open(token, "w") as f:
            f.write(secret + "\n")
        mirror(place, "add", source.remote, "--name", "lab", "--token-file", token, "--prefix", "dummy-multi")
        wait_synced(hub, "lab")
        source.server.fault = lambda request, path: "/data/" in path and request.answer(302, headers={"Location": elsewhere.url + "/x"})
        mirror(place, "add", source.remote, "--name", "away", "--token-file", token, "--prefix", "dummy-multi", "--as", "away/", "--internal")
        failed("away")
        assert elsewhere.requests and elsewhere.tokens() == {None}
        if kind is Organisation:
            assert source.server.cdn.requests and source.server.cdn.tokens() == {None}
        said = mirror(place, "list").stdout + mirror(place, "show", "lab").stdout + hub.text_log() + hub.get("/metrics").body.decode()
        said += json.dumps([hub.get("/api/v1/mirrors").json(), hub.get("/api/v1/jobs").json()])
        assert secret not in said
    for name in glob.glob(os.path.join(place, "state", "*")) + glob.glob(os.path.join(place, "here", "**"), recursive=True, include_hidden=True):
        if os.path.isfile(name):
            with open(name, "rb") as f:
                assert secret.encode() not in f.read(), name


def test_a_bucket_of_minari_04(place, monkeypatch):
    pytest.importorskip("h5py")
    ids = sorted(i for i in os.listdir(OLD) if os.path.isfile(os.path.join(OLD, i, "data", "main_data.hdf5")))
    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        for id in ids:
            path = os.path.join(OLD, id, "data", "main_data.hdf5")
            with open(path, "rb") as f:
                bucket.put(f"{id}/data/main_data.hdf5", f.read(), metadata=attributes(path))
        with here(place) as hub:
            hub.wait_ready()
            mirror(place, "add", "gcp://lab", "--name", "old")
            done = wait_synced(hub, "old")
            assert done["failures"] == 0 and done["datasets"] == len(ids)
            assert tree(os.path.join(place, "here")) == {p: d for p, d in tree(OLD).items() if p.split("/")[0] in ids and p.endswith(".hdf5")}
            if os.environ.get("HUB_TEST_PYTHON_043"):
                listed = minari(os.path.join(place, "here"), "door-human-v1", python=os.environ["HUB_TEST_PYTHON_043"])
                assert listed >= {"door-human-v1", "dummy-text-v0"}
            assert again(place, hub, "old") == (0, 0)
            path = os.path.join(OLD, "door-human-v1", "data", "main_data.hdf5")
            with open(path, "rb") as f:  # metadata of the object alone: another generation, the same bytes
                bucket.put("door-human-v1/data/main_data.hdf5", f.read(), metadata={**attributes(path), "author": "somebody else"})
            assert again(place, hub, "old") == (0, 1)


def fill_mixed(bucket, up):
    """Two datasets of Minari's, one of 0.4 without metadata, two of LeRobot, documents, files at the top."""
    for name in ("metadata.json", "main_data.hdf5"):
        with open(os.path.join(up, DOOR, "data", name), "rb") as f:
            data = f.read()
        bucket.put(f"{DOOR}/data/{name}", data)
        bucket.put(f"top-v0/data/{name}", data)
    for name in ("pen-v0/data/main_data.hdf5", "robots/arm/meta/info.json", "robots/arm/data/a.parquet", "robots/hand/meta/info.json", "docs/de/a.md", "docs/b.md"):
        bucket.put(name, name.encode() * 50)


def test_all_of_a_mixed_bucket(place, monkeypatch):
    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        fill_mixed(bucket, os.path.join(place, "up"))
        bucket.put("README.md", b"read me")
        with here(place, "--sweep", "1s") as hub:
            hub.wait_ready()
            mirror(place, "add", "gcp://lab", "--name", "all")
            done = wait_synced(hub, "all")
            assert done["datasets"] == 6 and done["left_out"] == {"places": 1, "files": 1, "bytes": 7}
            want = {name: data for name, (_, _, data) in bucket.objects.items() if name != "README.md"}
            assert tree(os.path.join(place, "here")) == want
            said = mirror(place, "list").stdout
            assert "1 file (0.0 MB) left out" in said and "README.md" in said and "mirror-left-out" in hub.text_log(), said
            assert "mirrors-partial" in hub.get("/api/v1/problems").body.decode() and rule(place, "all")["left_out"]["names"] == ["README.md"]

            mirror(place, "add", "gcp://lab", "--name", "part", "--only", "minari", "--as", "part/")
            done = wait_synced(hub, "part")
            assert done["datasets"] == 2 and done["left_out"]["files"] == 7
            alert, = (p["detail"] for p in hub.get("/api/v1/problems").json()["items"] if p["code"] == "mirrors-partial")
            assert alert.startswith("1 mirror rule leaves") and ": all;" in alert  # the other one was asked to
            mirror(place, "add", "gcp://lab", "--only", "tree", "--as", "whole")
            assert wait_synced(hub, "whole")["datasets"] == 1
            assert {p[6:]: d for p, d in tree(os.path.join(place, "here")).items() if p.startswith("whole/")} == {n: o[2] for n, o in bucket.objects.items()}
            mirror(place, "add", "gcp://lab", "--prefix", "docs/", "--as", "papers/")
            assert wait_synced(hub, "papers")["datasets"] == 1
            assert os.path.isfile(os.path.join(place, "here", "papers", "docs", "de", "a.md"))
            mirror(place, "add", "gcp://lab", "--prefix", "nothing/", "--as", "none/")
            until(lambda: "nothing that begins with 'nothing/'" in rule(place, "none").get("error", ""))

            before = os.stat(os.path.join(place, "here", "docs", "de", "a.md")).st_ino
            bucket.put("docs/new/videos/a.mp4", b"a")
            bucket.put("docs/new/meta/info.json", b"{}")  # the folder is cut in two; what is here is not fetched again
            again(place, hub, "all")
            assert os.stat(os.path.join(place, "here", "docs", "de", "a.md")).st_ino == before
            assert os.path.isfile(os.path.join(place, "here", "docs", "new", "meta", "info.json"))
            assert not rule(place, "all").get("error") and rule(place, "all")["datasets"] == 7 and rule(place, "all")["unlisted"] == 1
            bucket.put("notes/x/a.md", b"a")
            again(place, hub, "all")
            bucket.put("notes/y/videos/a.mp4", b"a")
            bucket.put("notes/y/meta/info.json", b"{}")
            again(place, hub, "all")
            again(place, hub, "all")
            assert rule(place, "all")["unlisted"] == 1, "what was cut without a rest is its parts'"
            assert os.path.isfile(os.path.join(place, "here", "notes", "x", "a.md"))


EVERYTHING = {"old/dummy-text-v0": "minari/root-0.4.3/dummy-text-v0", "arrow": "minari/root-0.5.3-columns", "robots/arm": "lerobot/arm-v21",
              "robots/many": "lerobot/many-v30", "demos/sim": "aloha/sim", "shards": "webdataset/plain", "lift": "robomimic/lift-ph",
              "houses": "molmospaces/pick", "steps": "datasets/steps", "splits": "datasets/splits", "lists/train": "il/demos"}
# as far as names say; the others are plain files until they are here
NAMED = {"robots/arm": "lerobot", "robots/many": "lerobot", "houses": "molmospaces", "steps": "datasets", "splits": "datasets", "rlds/bridge/1.0.0": "generic",
         "demos": "files", "shards": "files", "lift": "files", "lists": "files", "runs": "files", "docs": "files"}


def lay_everything(root):
    """A folder of each format below a root that has a dataset of Minari's already."""
    for to, of in EVERYTHING.items():
        shutil.copytree(os.path.join(FIXTURES, of), os.path.join(root, to), ignore=shutil.ignore_patterns("namespace_metadata.json"))
    for folder in ("runs", "rlds/bridge/1.0.0", "docs/de"):
        os.makedirs(os.path.join(root, folder))
    for n in range(2):
        np.savez(os.path.join(root, f"runs/episode_{n}.npz"), observations=np.zeros((4, 3)), actions=np.zeros((4, 2)))
        replace(os.path.join(root, f"rlds/bridge/1.0.0/bridge-train.tfrecord-{n:05}-of-00002"), b"x" * 100)
    replace(os.path.join(root, "rlds/bridge/1.0.0/features.json"), b"{}")
    replace(os.path.join(root, "docs/de/a.md"), b"a")


def of_minari(root):
    """Its datasets below a root, by their format."""
    found = {os.path.dirname(os.path.dirname(p)): d for p, d in tree(root).items() if p.endswith(("data/metadata.json", "data/main_data.hdf5"))}
    return {id: "minari-arrow" if b'"data_format": "arrow"' in d else "minari-hdf5" for id, d in found.items()}


def test_a_copy_lists_what_a_root_of_the_same_files_lists(place, monkeypatch):
    """A bucket is cut by what the drivers bid on its names, so that their bids on the copies are those on the files themselves."""
    up = os.path.join(place, "up")
    for name in os.listdir(up):
        if name != "D4RL":
            shutil.rmtree(os.path.join(up, name))
    lay_everything(up)
    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        for name, data in tree(up).items():
            old = name.startswith("old/") and name.endswith("main_data.hdf5")
            bucket.put(name, data, **({"metadata": attributes(os.path.join(up, name))} if old else {}))
        ran = subprocess.run([os.path.join(BIN, "minari-cli"), "list", "gcp://lab", "-a", "--json"], capture_output=True, text=True, check=True)
        listed = {d["id"]: d["format"] for d in json.loads(ran.stdout)["items"]}
        assert {id: format for id, format in listed.items() if id in NAMED} == NAMED
        minaris = {id: format for id, format in listed.items() if id not in NAMED}
        assert minaris.keys() == of_minari(up).keys() and all(format.startswith("minari-") for format in minaris.values())
        with upstream(place) as own:
            want = {d["id"]: (d["format"], d["status"]) for d in own.datasets()}
        with here(place) as hub:
            hub.wait_ready()
            mirror(place, "add", "gcp://lab", "--name", "all")
            done = wait_synced(hub, "all")
            assert done["datasets"] == len(listed) and done["failures"] == 0 and "left_out" not in done
            assert tree(os.path.join(place, "here")) == tree(up)
            until(lambda: {d["id"]: (d["format"], d["status"]) for d in hub.datasets()} == want)
    formats = {format for format, _ in want.values()}
    assert formats >= {"aloha", "webdataset", "robomimic", "il-native", "generic", "lerobot", "molmospaces", "datasets", "minari-hdf5", "files"}, formats


def test_the_question_names_what_it_takes(place, monkeypatch):
    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        fill_mixed(bucket, os.path.join(place, "up"))
        run = subprocess.run([os.path.join(BIN, "minari-hub"), "mirror", "add", "gcp://lab", "--state", os.path.join(place, "state")], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_DATASETS_PATH": os.path.join(place, "here")})
        said = re.search(r"has 6 datasets, [^:]+: (.+)$", run.stderr, re.M)
        assert run.returncode == 2 and set(said[1].split(", ")) == {"3 minari-hdf5", "1 lerobot", "2 of plain files"}, run.stderr


def test_one_name_for_a_dataset_and_files_beside_it(place, monkeypatch):
    """Both would be called so: refused when it is added, not by its first pass."""
    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        for name in ("top-v0/data/metadata.json", "top-v0/data/main_data.hdf5", "docs/a.md"):
            bucket.put(name, b"{}")
        run = mirror(place, "add", "gcp://lab", "--as", "mine", code=2)
        assert "gcp://lab has 2 datasets, which cannot all be called 'mine'" in run.stderr and "--as mine/" in run.stderr, run.stderr
        mirror(place, "add", "gcp://lab", "--as", "mine", "--only", "minari")


def test_everything_in_the_configuration_file(place, monkeypatch):
    """Nobody is asked at a start: a rule of the file takes Minari's datasets, or what it took before, unless it says everything."""
    file = os.path.join(place, "hub.conf")

    def lists(*lines):
        with open(file, "w") as f:
            f.write("\n".join(["[mirror lab]", "remote = gcp://lab", "as = lab/", "[upstream far]", "remote = gcp://lab", "as = far/", *lines]) + "\n")
        with here(place, "--config", file) as hub:
            hub.wait_ready()
            mirror(place, "run", "lab")
            mirror(place, "run", "far")
            return until(lambda: (n := [hub.get("/api/v1/mirrors/" + name).json() for name in ("lab", "far")]) and all(r["state"] == "idle" for r in n) and n)

    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        fill_mixed(bucket, os.path.join(place, "up"))
        lab, far = lists()
        assert (lab["datasets"], far["datasets"], lab["only"], far["only"]) == (2, 2, "minari", "minari")
        lab, far = lists("everything = yes")
        assert (lab["datasets"], far["datasets"]) == (2, 6) and "only" not in far and lab["left_out"]["files"] == 6


def test_all_of_an_organisation(place, monkeypatch):
    """Repos of Minari's, what lies beside their datasets, and repos of others; one that is closed hides no other."""
    with Hf() as up:
        monkeypatch.setenv("HF_ENDPOINT", up.url)
        monkeypatch.setenv("HF_TOKEN", "")
        repos = minari_org("lab", os.path.join(place, "up"))
        up.put("lab/D4RL", {**repos["lab/D4RL"], "robots/arm/meta/info.json": b"{}", "robots/arm/data/a.parquet": b"a", "README.md": b"read me"})
        up.put("lab/hand", {"meta/info.json": b"{}", "data/a.parquet": b"a" * 100})
        up.put("lab/notes", {"a.md": b"a"})
        up.put("lab/closed", {"x": b"x"})
        up.fault = lambda request, path: "/lab/closed/" in path and up.error(request, "RepoNotFound", 401)
        with here(place) as hub:
            hub.wait_ready()
            mirror(place, "add", "hf://lab", "--name", "all")
            done = wait_synced(hub, "all")
            files = tree(os.path.join(place, "here"))
            assert {"hand/meta/info.json", "hand/data/a.parquet", "notes/a.md", "D4RL/robots/arm/meta/info.json", DOOR + "/data/metadata.json"} <= set(files)
            assert {"D4RL/README.md", "closed"} <= set(rule(place, "all")["left_out"]["names"])
            assert again(place, hub, "all") == (0, 0) and done["failures"] == 0
            mirror(place, "add", "hf://lab", "--name", "some", "--only", "minari", "--as", "some/")
            wait_synced(hub, "some")
            assert {p.split("/")[1] for p in tree(os.path.join(place, "here")) if p.startswith("some/")} == {"D4RL"}
            assert {"hand", "notes"} <= set(rule(place, "some")["left_out"]["names"])


def test_a_folder_of_another_kind_than_before(place, monkeypatch):
    """It is one tree of plain files; then somebody puts a dataset of Minari's into it, and the rule's listing has its parts instead."""
    with Gcs() as bucket:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        for name in ("robots/arm/info.json", "robots/arm/data/part.parquet", "robots/docs/README.md"):
            bucket.put(name, name.encode() * 100)
        with here(place) as hub:
            hub.wait_ready()
            mirror(place, "add", "gcp://lab/robots", "--delete", "--name", "lab")
            wait_synced(hub, "lab")
            before = tree(os.path.join(place, "here"))
            assert len(before) == 3
            with open(os.path.join(place, "up", DOOR, "data", "metadata.json"), "rb") as f:
                bucket.put("robots/top-v0/data/metadata.json", f.read())
            again(place, hub, "lab")
            now = tree(os.path.join(place, "here"))
            assert {p: now.get(p) for p in before} == before and "arm/info.json" in now
            assert "mirror-kept" in hub.text_log() and rule(place, "lab")["unlisted"] == 1
            assert "no longer listed" in mirror(place, "list").stdout
            assert "mirrors-unlisted" in hub.get("/api/v1/problems").body.decode()


def converge(hubs, sync, revisions=True):
    """Until all say the same of the same datasets."""
    def same():
        sync()
        said = [{d["id"]: (revisions and d.get("revision"), hub.dataset(d["id"]).get("content")) for d in hub.datasets()} for hub in hubs]
        return said[0] and all(s == said[0] for s in said) and all(c for s in said for _, c in s.values())
    until(same, 90)


def alter(root, hub):
    """A change, a deletion and a replacement, until the hub has seen them."""
    path = os.path.join(root, DOOR, "data", "metadata.json")
    with open(path, "rb") as f:
        replace(path, json.dumps({**json.loads(f.read()), "author": ["somebody else"]}).encode())
    shutil.rmtree(os.path.join(root, "cartpole"))
    other = os.path.join(root, "dummy-multi")
    os.rename(other, other + "-gone")
    name = os.listdir(other + "-gone")[0]
    shutil.copytree(os.path.join(root, "dummy-text"), other)
    os.rename(os.path.join(other, os.listdir(other)[0]), os.path.join(other, name))
    shutil.rmtree(other + "-gone")
    until(lambda: "somebody else" in json.dumps(hub.dataset(DOOR)) and not any(d["id"].startswith("cartpole") for d in hub.datasets()))


@pytest.mark.parametrize("hash", ["off", "on-demand"])  # as it comes, or a moment later
def test_what_is_linked_is_not_read_again(place, hash, monkeypatch):
    """Of what another one shares with the copy before neither the index nor the digests are made anew, nor when the old copy goes."""
    up = Bucket(os.path.join(place, "up"), monkeypatch)
    up.publish()
    path = os.path.join(place, "up", DOOR, "data", "metadata.json")

    def parts():
        with sqlite3.connect(*glob.glob(os.path.join(place, "state", "index-*.db"))) as db:
            return db.execute("SELECT p.row, p.name FROM parts p JOIN datasets d ON d.row = p.dataset WHERE d.id = ? ORDER BY 1", (DOOR,)).fetchall()

    def is_here(hub, author):
        until(lambda: author in json.dumps((d := hub.dataset(DOOR)).get("authors", "")) and d["status"] == "ready")
        hashed = lambda: all("sha256" in f for f in hub.get(f"/api/v1/datasets/{DOOR}/files").json()["items"])
        assert hashed() if hash == "off" else until(hashed)

    with Hub([os.path.join(place, "here")], state=os.path.join(place, "state"), args=["--hash", hash, "--sweep", "1s", "--settle", "1s"]) as hub:
        hub.wait_ready()
        mirror(place, "add", up.remote, "--name", "lab")
        wait_synced(hub, "lab")
        is_here(hub, "Rodrigo")
        before = parts()
        assert before
        with open(path, "rb") as f:
            replace(path, json.dumps({**json.loads(f.read()), "author": ["somebody else"]}).encode())
        up.publish()
        again(place, hub, "lab")
        is_here(hub, "somebody else")
        assert os.stat(os.path.join(place, "here", DOOR, "data", "main_data.hdf5")).st_nlink == 1
        assert parts() == before
        for _ in range(2):  # the trash is emptied
            again(place, hub, "lab")
        revision = hub.dataset(DOOR)["revision"]
        time.sleep(1.5)  # a sweep that would see another dataset there
        is_here(hub, "somebody else")
        assert parts() == before and hub.dataset(DOOR)["revision"] == revision
        said, metrics = hub.get("/api/v1/mirrors/lab").json(), hub.get("/metrics").body.decode()
        of_rule = {name: float(value) for name, value in re.findall(r'^minari_hub_mirror_(\w+){rule="lab"} (\S+)$', metrics, re.M)}
        assert of_rule.pop("lag_seconds") == pytest.approx(said["lag"], abs=2)
        assert of_rule == {f"{name}_total": said[name] for name in ("bytes", "transfers", "failures")} and said["transfers"] > 1


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def test_a_crc_alone_proves_a_copy(place, monkeypatch):
    """A bucket states no SHA-256. Its CRC-32C is checked while the bytes come; who reads the copy sees no difference when it is hashed afterwards."""
    big, name = random.Random(41).randbytes(20 * 2**20 + 5), DOOR + "/data/big.bin"
    file, copy = f"/api/v1/datasets/{DOOR}/files/data/big.bin", os.path.join(place, "here", name)
    second = [os.path.join(place, n) for n in ("second", "second-state")]
    for folder in second:
        os.mkdir(folder)
    with Gcs() as up:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", up.url)
        for path, data in tree(os.path.join(place, "up")).items():
            if path.startswith("D4RL/door/"):
                up.put(path, data)
        up.put(name, big, composite=True)
        good = up.objects[name]
        with here(place, "--sweep", "1s") as hub, Hub([second[0]], state=second[1], args=["--sweep", "1s"]) as other:
            hub.wait_ready()
            up.objects[name] = (good[0], *[flipped(big, 9 * 2**20)] * 2)
            mirror(place, "add", "gcp://lab", "--name", "lab", "--every", "1h")
            until(lambda: [j for j in hub.get("/api/v1/jobs").json()["items"] if j.get("error") == "digest-mismatch"])
            assert not os.path.exists(copy)
            up.objects[name] = good
            mirror(place, "run", "lab")
            wait_synced(hub, "lab")
            until(lambda: hub.statuses().get(DOOR) == "ready")
            before = hub.get(file)
            other.wait_ready()
            mirror(place, "add", hub.base, "--name", "up", state=second[1], root=second[0])  # of a hub that has not hashed it yet, or just now
            assert before.body == big
            with open(os.path.join(place, "here", DOOR, ".minari-hub.json")) as f:
                record = {item["path"]: item for item in json.load(f)["files"]}["data/big.bin"]
            assert "sha256" not in record and base64.b64encode(bytes.fromhex(record["crc32c"])).decode() == good[0]["crc32c"]
            until(lambda: hub.dataset(DOOR).get("content"))
            after, listed = hub.get(file), {f["path"]: f for f in hub.get(f"/api/v1/datasets/{DOOR}/files").json()["items"]}
            assert after.headers["ETag"] == before.headers["ETag"] and after.headers["Last-Modified"] == before.headers["Last-Modified"]
            assert listed["data/big.bin"]["sha256"] == hashlib.sha256(big).hexdigest()
            assert hub.get(file, {"If-None-Match": before.headers["ETag"]}).status == 304
            wait_synced(other, "up")
            until(lambda: other.statuses().get(DOOR) == "ready")
            until(lambda: other.dataset(DOOR).get("content") == hub.dataset(DOOR)["content"])
            verified = subprocess.run([os.path.join(BIN, "minari-cli"), "verify", os.path.join(place, "here", DOOR), "--json"], capture_output=True, text=True)
            assert verified.returncode == 0 and json.loads(verified.stdout)["verified"] == len(record_files(place)), verified
            # what is linked into the next state is not hashed again
            up.put(DOOR + "/data/more.bin", b"more")
            again(place, hub, "lab")
            until(lambda: (a := hub.get_uncut(f"/api/v1/datasets/{DOOR}/files/data/more.bin")) and a.body == b"more")
            assert hub.dataset(DOOR)["content"]
    with open(copy, "r+b") as f:
        f.write(b"x")
    verified = subprocess.run([os.path.join(BIN, "minari-cli"), "verify", os.path.join(place, "here", DOOR)], capture_output=True, text=True)
    assert verified.returncode == 5 and "data/big.bin" in verified.stdout, verified


def record_files(place):
    with open(os.path.join(place, "here", DOOR, ".minari-hub.json")) as f:
        return json.load(f)["files"]


def test_a_chain_of_three(place):
    roots = [os.path.join(place, name) for name in ("up", "middle", "here")]
    states = [os.path.join(place, name) for name in ("state-0", "state-1", "state-2")]
    for folder in roots[1:] + states:
        os.makedirs(folder, exist_ok=True)
    shutil.rmtree(os.path.join(roots[0], "minigrid"))
    args = ["--hash", "idle", "--sweep", "1s"]
    with contextlib.ExitStack() as stack:
        hubs = [stack.enter_context(Hub([root], state=state, args=args)) for root, state in zip(roots, states)]
        for i in (0, 1, 2):
            hubs[i].wait_ready()
        for i in (0, 1):
            mirror(place, "add", hubs[i].base, "--name", "up", "--delete", state=states[i + 1], root=roots[i + 1])
        sync = lambda: [mirror(place, "run", "up", state=state) for state in states[1:]]
        converge(hubs, sync)
        alter(roots[0], hubs[0])
        converge(hubs, sync)
        assert "somebody else" in json.dumps(hubs[2].dataset(DOOR))
        data = [{p: d for p, d in tree(root).items() if "/data/" in p} for root in roots]
        assert data[0] == data[1] == data[2]
        spaces = [{p: said for p, said in tree(root).items() if p.endswith("namespace_metadata.json")} for root in roots]
        assert spaces[0] and all(all(s.get(p) == said for p, said in spaces[0].items()) for s in spaces[1:])  # they came along; one without a dataset stays
        assert minari(roots[2], DOOR) == minari(roots[0])


def test_a_chain_of_facades(place, monkeypatch):
    """A hub takes another for Google's storage, and is taken for Hugging Face by a third. Times are lost on the way, and with them revisions."""
    roots = [os.path.join(place, name) for name in ("up", "middle", "here")]
    states = [os.path.join(place, name) for name in ("state-0", "state-1", "state-2")]
    for folder in roots[1:] + states:
        os.makedirs(folder, exist_ok=True)
    for name in os.listdir(roots[0]):
        if name not in ("D4RL", "cartpole", "dummy-multi", "dummy-text"):
            shutil.rmtree(os.path.join(roots[0], name))
    monkeypatch.setenv("HF_TOKEN", "")
    with contextlib.ExitStack() as stack:
        hubs = []
        for i in range(3):
            hubs.append(stack.enter_context(Hub([roots[i]], state=states[i], args=["--hash", "idle", "--sweep", "1s"])).wait_ready())
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", hubs[i].base)
            monkeypatch.setenv("HF_ENDPOINT", hubs[i].base)
        for i in (0, 1):
            mirror(place, "add", ("gcp://minari-datasets", "hf://farama-minari")[i], "--name", "up", "--delete", state=states[i + 1], root=roots[i + 1])
        sync = lambda: [mirror(place, "run", "up", state=state) for state in states[1:]]
        converge(hubs, sync, revisions=False)
        alter(roots[0], hubs[0])
        converge(hubs, sync, revisions=False)
        assert "somebody else" in json.dumps(hubs[2].dataset(DOOR))
        data = [{p: d for p, d in tree(root).items() if "/data/" in p} for root in roots]
        assert data[0] == data[1] == data[2]
