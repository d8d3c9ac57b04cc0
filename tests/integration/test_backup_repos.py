"""A backup has what clients of Hugging Face pushed: branches, tags and each commit are there after a restore, also where they push meanwhile."""
import hashlib
import json
import os
import shutil
import threading

import pytest

from hub import until
from test_backup import backup, command, restore, start
from test_drafts import ask, serve
from test_hf_push import REPO, arm, create, head, names, push, send, sha256, state


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def pushed(hub):
    """Two commits, a tag at the first, a branch of its own; their ids."""
    files = arm()
    assert create(hub).status == 200
    first = push(hub, files).json()["commitOid"]
    assert send(hub, "POST", f"/api/datasets/{REPO}/tag/main", {"tag": "v1"}).status == 200
    second = push(hub, {"notes/b.txt": b"second"}, deleted=["meta/stats.json"]).json()["commitOid"]
    assert send(hub, "POST", f"/api/datasets/{REPO}/branch/dev", {}).status == 200
    assert push(hub, {"dev.bin": b"dev" * 1000}, rev="dev").status == 200
    until(lambda: state(hub) == "ready" and hub.dataset(REPO)["status"] == "ready")
    return first, second


def read(hub, path, rev="main", **more):
    return ask(hub, "GET", f"/datasets/{REPO}/resolve/{rev}/{path}", **more)


def objects_of(root):
    return root / ".minari-hub/objects"


def again(tmp_path, token, roots=("elsewhere",)):
    hub = start(tmp_path / "new", *[tmp_path / root for root in roots], token=token)
    hub.root = tmp_path / roots[0]
    return hub


def whole(hub, rev="main"):
    """All files of a revision have the bytes that its tree says."""
    tree = ask(hub, "GET", f"/api/datasets/{REPO}/tree/{rev}?recursive=true").json()
    for entry in tree:
        if entry["type"] == "file":
            answer = read(hub, entry["path"], rev)
            assert answer.status == 200, (rev, entry, answer.body)
            git = hashlib.sha1(b"blob %d\0" % len(answer.body) + answer.body).hexdigest()
            assert entry["lfs"]["oid"] == sha256(answer.body) if "lfs" in entry else entry["oid"] == git
    return {entry["path"] for entry in tree if entry["type"] == "file"}


def test_a_drill_beside_pushes(hub, tmp_path):
    first, second = pushed(hub)
    acknowledged, stopping, failures = [], threading.Event(), []

    def write():
        n = 0
        while not stopping.is_set():
            n += 1
            done = push(hub, {f"more/{n}.bin": b"%d" % n * 5000, "notes/turn.txt": b"%d" % n}, deleted=[f"more/{n - 2}.bin"])
            if done.status == 200:
                acknowledged.append(done.json()["commitOid"])
            else:
                failures.append(done.body)

    writer = threading.Thread(target=write)
    writer.start()
    until(lambda: len(acknowledged) > 2)
    before = list(acknowledged)
    said = json.loads(backup(tmp_path / "backup", "--data", "--json", state=hub.state))
    stopping.set()
    writer.join()
    assert not failures and said["problems"] == [] and said["repos"] == 1 and said["objects"] > len(arm())
    (tmp_path / "elsewhere").mkdir()
    back = json.loads(restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))
    assert back["missing"] == [] and back["repos_missing"] == [] and back["objects"] == said["objects"]
    assert back["objects_linked"] >= len(arm()) - 1 and back["objects_there"] == 0
    was = {rev: names(hub, rev=rev) for rev in (first, second, "v1", "dev", *before)}
    with again(tmp_path, hub.token) as new:
        for rev, files in was.items():
            assert whole(new, rev) == files, rev
        assert whole(new) and head(new, rev="v1")["sha"] == first
        data = next(path for path in arm() if path.endswith(".parquet"))
        until(lambda: new.dataset(REPO)["status"] == "ready")
        assert os.stat(new.root / REPO / data).st_nlink >= 2, "stored once"
        done = push(new, {"notes/after.txt": b"after"}, parent=head(new)["sha"])
        assert done.status == 200 and read(new, "notes/after.txt").body == b"after"
        until(lambda: state(new) == "ready")
        assert push(new, {"notes/dev.txt": b"dev"}, rev="dev").status == 200 and read(new, "notes/dev.txt", "dev").body == b"dev"


def test_incremental(hub, tmp_path):
    folder = tmp_path / "backup"
    pushed(hub)
    assert "1 repo with branches, tags and commits" in backup(folder, "--data", state=hub.state)
    until(lambda: json.loads(backup(folder, "--data", "--json", state=hub.state))["new_files"] == 0)
    push(hub, {"notes/c.txt": b"third"})
    until(lambda: state(hub) == "ready")
    third = json.loads(backup(folder, "--data", "--prune", "--json", state=hub.state))
    assert 1 <= third["new_files"] <= 3 and third["problems"] == []
    (tmp_path / "elsewhere").mkdir()
    assert json.loads(restore(folder, "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))["repos_missing"] == []


def test_without_data(hub, tmp_path):
    first, _ = pushed(hub)
    backup(tmp_path / "backup", state=hub.state)
    listed = {o["sha256"]: o["size"] for r in json.loads((tmp_path / "backup/manifest.json").read_text())["repos"] for o in r["objects"]}
    assert listed[sha256(b"dev" * 1000)] == 3000
    (tmp_path / "elsewhere").mkdir()
    lost = restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", state=tmp_path / "first")
    assert f"repo {REPO}: {len(listed)} objects are missing: the backup was taken without --data" in lost and "the repo is left out" in lost
    assert f"the same file as in {REPO}" in lost and ".minari-hub/objects" in lost
    # the disk of the data survived, that of the state did not
    token = hub.token
    hub.stop()
    hub.stop = lambda *a, **k: None
    back = json.loads(restore(tmp_path / "backup", "--root", hub.root, "--json", state=tmp_path / "new"))
    assert (back["repos_missing"], back["objects_there"]) == ([], len(listed))
    with again(tmp_path, token, roots=("root",)) as new:
        assert whole(new, first) and whole(new, "dev") and whole(new, "v1")


def test_objects_of_datasets_that_are_there(hub, tmp_path):
    """The private folder is lost, the dataset is not: its files are objects again, and what else there was is left out."""
    first, second = pushed(hub)
    backup(tmp_path / "backup", state=hub.state)
    token = hub.token
    hub.stop()
    hub.stop = lambda *a, **k: None
    shutil.rmtree(objects_of(hub.root))
    back = json.loads(restore(tmp_path / "backup", "--root", hub.root, "--json", state=tmp_path / "new"))
    lost = back["repos_missing"][0]
    assert back["objects_linked"] >= len(arm()) - 1 and lost["repo"] == REPO and not lost["all"]
    assert lost["refs"] in ("branch dev", "branch dev, tag v1") and [o["sha256"] for o in lost["objects"]].count(sha256(b"dev" * 1000)) == 1
    with again(tmp_path, token, roots=("root",)) as new:
        assert whole(new) == names(new) and head(new)["sha"] == second
        assert read(new, "meta/info.json", "dev").status == 404
        assert push(new, {"notes/after.txt": b"after"}, parent=second).status == 200
        until(lambda: state(new) == "ready")


def test_an_object_that_is_lost(hub, tmp_path):
    """What lacks it is left out and named; a head without its objects leaves the dataset to be shown."""
    files, folder = arm(), tmp_path / "backup"
    first, second = pushed(hub)
    data = next(path for path in files if path.startswith("data/") and path.endswith(".parquet"))
    broken = push(hub, {data: files[data][:-20]}).json()["commitOid"]
    until(lambda: state(hub) == "broken")
    backup(folder, "--data", state=hub.state)
    (tmp_path / "elsewhere").mkdir()
    digest = sha256(b"dev" * 1000)
    os.remove(folder / "objects" / digest[:2] / digest[2:])
    said = command("restore", folder, "--state", tmp_path / "first", "--root", tmp_path / "elsewhere", "--json", expect=5)
    assert said == ""
    with start(tmp_path / "first", tmp_path / "elsewhere", token=hub.token) as new:
        assert head(new)["sha"] == broken and read(new, data).body == files[data][:-20] and whole(new, second)
        assert ask(new, "GET", f"/api/datasets/{REPO}/revision/dev").status == 404
    digest = sha256(files[data][:-20])
    os.remove(folder / "objects" / digest[:2] / digest[2:])
    os.remove(objects_of(tmp_path / "elsewhere") / digest)
    command("restore", folder, "--state", tmp_path / "new", "--root", tmp_path / "elsewhere", expect=5)
    with again(tmp_path, hub.token) as new:
        until(lambda: new.dataset(REPO)["status"] == "ready")
        assert read(new, data).body == files[data], "the dataset, as it was published"
        assert push(new, {"notes/after.txt": b"after"}).status == 200 and read(new, "notes/after.txt").body == b"after"
        until(lambda: state(new) == "ready")


def test_an_object_that_the_hub_lost(hub, tmp_path):
    pushed(hub)
    folder, digest = tmp_path / "backup", sha256(b"dev" * 1000)
    kept = (objects_of(hub.root) / digest).read_bytes()
    os.remove(objects_of(hub.root) / digest)
    assert f"all commits of the repo {REPO}: its object {digest} is missing" in backup(folder, "--data", state=hub.state, expect=5)
    (objects_of(hub.root) / digest).write_bytes(kept)
    backup(folder, "--data", state=hub.state)
    os.remove(objects_of(hub.root) / digest)
    backup(folder, "--data", state=hub.state)  # an earlier one has it
