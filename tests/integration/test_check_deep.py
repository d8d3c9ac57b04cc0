"""`minari-hub check --deep`: what the hub owns, by its commits; what is missing or changed, and where it can come from."""
import json
import os
import shutil
import subprocess

import pytest

from hub import BIN, until
from test_adopt import adopt, listed, put_there
from test_drafts import ARM, DOOR, ask, serve, tree
from test_hf_push import REPO, arm, create, sha256, state
from test_hf_push import push as push_files
from test_revisions import ID, publish, replace

DATA = "data/main_data.hdf5"


def check(state, *words, code=0, roots=()):
    named = [word for root in roots for word in ("--root", str(root))]
    done = subprocess.run([os.path.join(BIN, "minari-hub"), "check", "--deep", *words, "--state", str(state), *named],
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if "--json" in words else done.stdout + done.stderr


def found(result):
    return {(f["dataset"], f["path"], f["what"]) for f in result["findings"]}


def changes(hub):
    return [p for p in hub.get("/api/v1/problems?limit=1000").json()["items"] if p["code"] == "object-changed"]


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def published(hub, folder=DOOR, other=ARM):
    """Two revisions of a dataset, and another one; the commits of the two."""
    a = publish(hub, folder)["commit"]
    b = replace(hub, a, {"notes.txt": b"second"})["commit"]
    publish(hub, other, "lab/other-v0")
    until(lambda: ask(hub, "GET", f"/api/v1/datasets/{ID}?revision={a}").status == 200)
    return a, b


def test_all_is_there(hub):
    published(hub)
    put_there(hub, "lab/by-hand-v0")
    whole = check(hub.state, "--json")
    files = 2 * len(tree(DOOR)) + 1 + len(tree(ARM))
    assert (whole["datasets"], whole["files"], whole["findings"]) == (3, files, []), "the other one is not the hub's own"
    assert check(hub.state, ID, "--json")["datasets"] == 2
    assert "no dataset 'lab/none'" in check(hub.state, "lab/none", code=3)
    hub.stop()
    hub.stop = lambda *a, **k: None
    assert check(hub.state, "--json", roots=[hub.root])["files"] == files, "without a hub"


def test_what_is_missing(hub, tmp_path):
    a, b = published(hub, ARM, DOOR)
    folder = str(tmp_path / "backup")
    subprocess.run([os.path.join(BIN, "minari-hub"), "backup", folder, "--data", "--state", hub.state], check=True, capture_output=True, timeout=300)
    os.remove(hub.root / ID / "notes.txt")
    os.remove(hub.root / ID / "meta/stats.json")
    shutil.rmtree(hub.root / "lab/other-v0")
    until(lambda: ask(hub, "GET", "/api/v1/datasets/lab/other-v0").status == 404)
    lost = check(hub.state, "--json", "--from", folder, code=5)
    assert found(lost) == {(ID, "notes.txt", "missing"), (ID, "meta/stats.json", "missing"), ("lab/other-v0", "", "missing")}
    sources = {(f["dataset"], f["path"]): f.get("sources") for f in lost["findings"]}
    assert sources[ID, "notes.txt"] == [f"the backup {folder}"] == sources["lab/other-v0", ""]
    assert sources[ID, "meta/stats.json"] == [f"{ID}@{a}: meta/stats.json", f"the backup {folder}"]
    said = check(hub.state, code=5)
    assert f"the same file is in {ID}@{a}: meta/stats.json" in said and "backup" not in said
    shutil.rmtree(hub.root / f".minari-hub/kept/{ID}@{a}")
    until(lambda: (f"{ID}@{a}", "", "missing") in found(check(hub.state, "--json", code=5)))
    assert "is not a backup" in check(hub.state, "--from", str(tmp_path), code=3)


def test_changed_in_place(hub):
    """An editor changes the mode first: the dataset says so, and its files are served; what only changed its bytes is damaged."""
    a, b = published(hub)
    notes = hub.root / ID / "notes.txt"
    os.chmod(notes, 0o644)
    notes.write_bytes(b"edited")
    listed(hub)
    changed = check(hub.state, "--json", code=5)
    assert found(changed) == {(ID, "notes.txt", "object-changed")}
    assert [p["path"] for p in changes(hub)] == ["notes.txt"] and f"commit {b[:7]} has 6 and" in changes(hub)[0]["detail"]
    until(lambda: [p["path"] for p in ask(hub, "GET", f"/api/v1/datasets/{ID}").json()["problems"] if p["code"] == "object-changed"] == ["notes.txt"])
    assert ask(hub, "GET", f"/api/v1/datasets/{ID}/files/{DATA}").status == 200
    until(lambda: ask(hub, "GET", f"/api/v1/datasets/{ID}/files/notes.txt").body == b"edited")
    other = hub.root / "lab/other-v0"
    path = next(p for p in tree(other) if p.endswith(".parquet"))
    before = os.stat(other / path)
    with open(other / path, "r+b") as f:
        f.write(b"x")
    os.utime(other / path, ns=(before.st_atime_ns, before.st_mtime_ns))
    rotten = check(hub.state, "--json", code=5)
    assert ("lab/other-v0", path, "damaged") in found(rotten)
    assert ask(hub, "GET", f"/api/v1/datasets/lab/other-v0/files/{path}").status == 422
    assert adopt(hub, ID, "--json")["adopted"] == 1
    assert found(check(hub.state, ID, "--json")) == set()
    until(lambda: "object-changed" not in [p["code"] for p in ask(hub, "GET", f"/api/v1/datasets/{ID}").json()["problems"]])
    assert changes(hub) == []


def test_who_reads_a_file_that_was_changed_in_place(tmp_path):
    """The first who reads it finds it: no check is needed, and a start does not forget it. What was published mends it."""
    with serve(tmp_path) as hub:
        published(hub)
        notes, total = hub.root / ID / "notes.txt", hub.get("/api/v1/problems").json()["total"]
        os.rename(notes, tmp_path / "published")
        notes.write_bytes(b"edited")
        until(lambda: ask(hub, "GET", f"/api/v1/datasets/{ID}/files/notes.txt").status == 200 and changes(hub))
        (found,) = changes(hub)
        assert (found["dataset"], found["path"]) == (ID, "notes.txt") and "check --deep --from DIR" in found["detail"]
        assert "files-changed" in [a["code"] for a in hub.get("/api/v1/status").json()["alerts"]]
        assert hub.get("/api/v1/problems").json()["total"] == total + 2, "the file, and the alert"
        until(lambda: ask(hub, "GET", f"/api/v1/datasets/{ID}/files/notes.txt").body == b"edited")
        assert "damaged" not in hub.dataset(ID)
    with serve(tmp_path) as hub:
        hub.wait_indexed()
        assert [p["path"] for p in changes(hub)] == ["notes.txt"]
        os.rename(tmp_path / "published", notes)
        until(lambda: changes(hub) == [])


def test_objects_of_repos(hub, tmp_path):
    """What commits of a repo need is read; what is missing or changed is named with the commit, and so is what nobody needs."""
    files, folder, notes = arm(), str(tmp_path / "backup"), {"notes/a.bin": b"a" * 9000, "notes/b.bin": b"b" * 9000}
    create(hub)
    first = push_files(hub, {**files, **notes}).json()["commitOid"]
    until(lambda: state(hub) == "ready" and hub.dataset(REPO)["status"] == "ready")
    push_files(hub, {}, deleted=list(notes))
    until(lambda: state(hub) == "ready")
    create(hub, "lab/card")
    push_files(hub, {"README.md": b"# a card"}, "lab/card")
    until(lambda: state(hub, "lab/card") == "files")
    whole = check(hub.state, "--json")
    assert whole["findings"] == [] and whole["objects"] == len({*files.values(), *notes.values(), b"# a card"})
    assert check(hub.state, "lab/card", "--json")["objects"] == 1
    assert "objects of repos are intact, 0 needed by nobody" in check(hub.state)
    subprocess.run([os.path.join(BIN, "minari-hub"), "backup", folder, "--data", "--state", hub.state], check=True, capture_output=True, timeout=300)
    shutil.rmtree(hub.root / f".minari-hub/kept/{REPO}@{first}", ignore_errors=True)
    objects = hub.root / ".minari-hub/objects"
    a, b, card = (sha256(data) for data in (*notes.values(), b"# a card"))
    os.remove(objects / a)
    os.chmod(objects / b, 0o644)
    with open(objects / b, "r+b") as f:
        f.write(b"x")
    os.remove(objects / card)
    (objects / sha256(b"nobody")).write_bytes(b"nobody")
    lost = check(hub.state, "--json", "--from", folder, code=5)
    path = ".minari-hub/objects/"
    found_objects = {f for f in found(lost) if f[1].startswith(path)}
    assert found_objects == {(REPO, path + a, "missing"), (REPO, path + b, "object-changed"), ("lab/card", path + card, "missing"),
                             (str(hub.root), path + sha256(b"nobody"), "orphaned")}
    said = {f["path"]: f for f in lost["findings"]}
    assert f"commit {first[:7]} has it as 'notes/a.bin'" in said[path + a]["detail"] and said[path + a]["sources"][-1] == f"the backup {folder}"
    assert "1 needed by nobody" in check(hub.state, code=5)
    dataset = next(name for name in files if name.endswith(".parquet"))
    os.remove(hub.root / REPO / dataset)
    again = check(hub.state, "--json", REPO, code=5)
    gone = next(f for f in again["findings"] if f["path"] == dataset)
    assert f"{hub.root}: {path}{sha256(files[dataset])}" in gone["sources"]
