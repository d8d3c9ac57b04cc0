"""`minari-hub adopt`: what somebody put into a root by hand becomes the hub's own, where it lies; or it says why not."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import urllib.parse

import pytest

from hub import BIN, Control, until
from test_drafts import ARM, DOOR, ask, files_of, problem, put, serve, tree
from test_revisions import begin, draft_of, file_at, publish, replace, revisions, states

ID = "lab/arm-v0"
DATASET = "/api/v1/datasets/" + ID


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def adopt(hub, *words, code=0, state=None, roots=()):
    named = [word for root in roots for word in ("--root", str(root))]
    done = subprocess.run([os.path.join(BIN, "minari-hub"), "adopt", *words, "--state", str(state or hub.state), *named],
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if "--json" in words else done.stdout + done.stderr


def put_there(hub, id=ID, folder=DOOR):
    shutil.copytree(folder, hub.root / id)
    listed(hub, id)


def listed(hub, id=ID):
    until(lambda: ask(hub, "GET", f"/api/v1/datasets/{id}").json()["status"] in ("ready", "broken"))


def refused(hub, id=ID):
    (item,) = adopt(hub, id, "--json", code=1)["items"]
    assert item["dataset"] == id
    return item["refused"]


def post_as_admin(hub, path):
    connection = Control(hub.state)
    connection.request("POST", path)
    with connection.getresponse() as answer:
        answer.read()
        return answer.status


def modes(folder):
    return {oct(os.stat(f).st_mode & 0o7777) for _, f in files_of(folder)}


def test_adopted(hub):
    """It is served as before, and may be replaced, deleted and had back as what was pushed."""
    put_there(hub)
    inodes = {p: os.stat(f).st_ino for p, f in files_of(hub.root / ID)}
    before = ask(hub, "GET", DATASET).json()
    refusal = begin(hub)
    assert (refusal.status, problem(refusal)) == (409, "exists") and f"`minari-hub adopt {ID}`" in refusal.json()["detail"]
    assert f"`minari-hub adopt {ID}`" in ask(hub, "DELETE", DATASET).json()["detail"]
    done = adopt(hub, ID, "--json")
    (item,) = done["items"]
    assert (done["adopted"], done["refused"], done["owned"]) == (1, 0, 0) and item["files"] == len(tree(DOOR))
    assert states(hub) == [(item["commit"], "current")] and revisions(hub).json()["items"][0]["kind"] == "adopt"
    assert revisions(hub).json()["items"][0]["who"] == "local"
    assert {p: os.stat(f).st_ino for p, f in files_of(hub.root / ID)} == inodes, "nothing is copied"
    assert modes(hub.root / ID) <= {"0o1444", "0o1440", "0o1400"}
    assert json.loads((hub.root / ID / ".minari-hub.json").read_text())["commit"] == item["commit"]
    until(lambda: ask(hub, "GET", f"{DATASET}/episodes/0/rewards").status == 200)
    after = ask(hub, "GET", DATASET).json()
    assert after["commit"] == item["commit"] and after["content"], "its digests are known"
    assert {k: after[k] for k in ("revision", "episodes", "steps")} == {k: before[k] for k in ("revision", "episodes", "steps")}
    assert adopt(hub, ID, "--json")["owned"] == 1
    b = replace(hub, item["commit"], {"notes.txt": b"second"})
    assert tree(hub.root / ID) == {**tree(DOOR), "notes.txt": b"second"}
    assert states(hub) == [(b["commit"], "current"), (item["commit"], "kept")]
    until(lambda: file_at(hub, "data/main_data.hdf5", item["commit"]).status == 200)
    assert ask(hub, "DELETE", DATASET).status == 204
    back = ask(hub, "POST", draft_of(begin(hub, **{"from": f"{ID}@{item['commit']}"})) + "/commit")
    assert back.status == 200 and tree(hub.root / ID) == tree(DOOR)


def test_all_below_a_prefix(hub):
    for id in ("lab/a-v0", "lab/b-v0", "other/c-v0"):
        put_there(hub, id)
    owned = publish(hub, id="lab/own-v0")["commit"]
    os.link(hub.root / "lab/b-v0/data/main_data.hdf5", hub.root / "another-name")
    done = adopt(hub, "--all", "lab/", "--json", code=1)
    assert {i["dataset"]: "commit" in i for i in done["items"]} == {"lab/a-v0": True, "lab/b-v0": False} and done["owned"] == 1
    assert ask(hub, "GET", "/api/v1/datasets/lab/own-v0").json()["commit"] == owned
    os.remove(hub.root / "another-name")
    said = adopt(hub, "--all", "")
    assert "2 datasets adopted" in said and "2 the hub's own already, 0 refused" in said
    assert "name datasets by their ids" in adopt(hub, code=2) and "no dataset 'lab/none'" in adopt(hub, "lab/none", code=3)
    assert "no dataset below 'nobody'" in adopt(hub, "--all", "nobody/", code=3)


def test_what_it_refuses(hub, tmp_path):
    put_there(hub)
    data = hub.root / ID / "data/main_data.hdf5"
    before = modes(hub.root / ID)
    with open(data, "r+b"):
        assert "'data/main_data.hdf5' open for writing" in refused(hub)
    os.link(data, tmp_path / "root" / "other-name")
    assert "more than one link" in refused(hub)
    os.remove(tmp_path / "root" / "other-name")
    (hub.root / ID / ".DS_Store").write_bytes(b"x")
    assert "'.DS_Store'" in refused(hub)
    os.remove(hub.root / ID / ".DS_Store")
    os.symlink("main_data.hdf5", hub.root / ID / "data/link.txt")
    assert "is a link" in refused(hub)
    os.remove(hub.root / ID / "data/link.txt")
    os.mkfifo(hub.root / ID / "data/pipe")
    assert "neither a file nor a folder" in refused(hub)
    os.remove(hub.root / ID / "data/pipe")
    assert modes(hub.root / ID) == before and revisions(hub).status == 404, "nothing was changed"
    (hub.root / "loose").mkdir()
    (hub.root / "loose/readme.txt").write_text("hello")
    until(lambda: ask(hub, "GET", "/api/v1/datasets/loose").status == 200)
    assert "not a dataset of a format" in refused(hub, "loose")
    shutil.copytree(DOOR, tmp_path / "elsewhere")
    os.symlink("../../elsewhere", hub.root / "lab/linked-v0")
    adopt(hub, "lab/linked-v0", code=3)


def test_what_is_still_to_be_inspected_is_waited_for(tmp_path):
    """Its files settle for some seconds first; and again when one of them is replaced."""
    with serve(tmp_path, "--settle", "3s") as hub:
        shutil.copytree(DOOR, hub.root / ID, copy_function=shutil.copyfile)
        until(lambda: ask(hub, "GET", DATASET).status == 200)
        assert ask(hub, "GET", DATASET).json()["status"] == "pending"
        (item,) = adopt(hub, ID, "--json")["items"]
        assert states(hub) == [(item["commit"], "current")]
        file = hub.root / ID / "data/main_data.hdf5"
        os.chmod(file, 0o644)
        os.utime(file)
        (again,) = adopt(hub, ID, "--json")["items"]
        assert states(hub)[0] == (again["commit"], "current") and again["commit"] != item["commit"]


def test_read_only(tmp_path):
    with serve(tmp_path) as hub:
        put_there(hub)
    (tmp_path / "ro").mkdir()
    with serve(tmp_path, "--root", f"ro={tmp_path / 'ro'}:ro") as ro:
        shutil.copytree(DOOR, tmp_path / "ro/arm-v0")
        listed(ro, "ro/arm-v0")
        assert "read-only in the configuration (:ro)" in refused(ro, "ro/arm-v0")
    with serve(tmp_path, "--read-only") as hub:
        listed(hub)
        assert "read-only" in adopt(hub, ID, code=7)


def test_only_for_admins(hub):
    put_there(hub)
    for token in (hub.token, None):
        assert ask(hub, "POST", "/api/v1/adopt?spec=%7B%22all%22%3A%22%22%7D", token=token).status in (404, 405)
    for spec, status in (("{}", 400), ('{"ids":[]}', 400), ('{"ids":[1]}', 400), ('{"ids":["x"],"all":""}', 400), ('{"ids":["x"]}', 404), ("[]", 400)):
        assert post_as_admin(hub, "/api/v1/adopt?spec=" + urllib.parse.quote(spec)) == status, spec


def test_a_copy_of_a_mirror(tmp_path):
    with serve(tmp_path) as hub:
        put_there(hub)
    with sqlite3.connect(os.path.join(hub.state, "hub.db")) as db:
        root = str(tmp_path / "root")
        db.execute("INSERT INTO origins (root, path, remote, remote_id, rule, revision, synced, seen) VALUES (?, ?, 'http://far', 'x', 'theirs', '', 0, 0)", (root, ID))
    with serve(tmp_path) as hub:
        listed(hub)
        assert "a copy that the rule 'theirs' keeps" in refused(hub)


def test_without_a_running_hub(tmp_path):
    with serve(tmp_path) as hub:
        put_there(hub)
    done = adopt(hub, ID, "--json", roots=[tmp_path / "root"])
    with serve(tmp_path) as hub:
        assert states(hub) == [(done["items"][0]["commit"], "current")]
        listed(hub)
        until(lambda: ask(hub, "GET", DATASET).json().get("content"))
        replace(hub, done["items"][0]["commit"], {"notes.txt": b"second"})


def test_edited_afterwards(hub):
    """Who changes an owned dataset by hand has it adopted again: as another commit of it."""
    a = publish(hub)
    file = hub.root / ID / "data/main_data.hdf5"
    modified = lambda: ask(hub, "GET", f"/api/v1/datasets/{ID}").json()["modified"]
    before = modified()
    os.chmod(file, 0o644)
    os.utime(file, (2e9, 2e9))
    until(lambda: modified() != before)
    b = adopt(hub, ID, "--json")["items"][0]["commit"]
    assert states(hub) == [(b, "current"), (a["commit"], "removed")]
    replace(hub, b, {"notes.txt": b"third"})


def test_half_a_record(hub):
    """A hub that ended while it wrote the record leaves a hidden file, which the next run takes away."""
    put_there(hub)
    half = hub.root / ID / "..minari-hub.json.1-0.tmp"
    half.write_text("{")
    adopt(hub, ID)
    assert not half.exists() and tree(hub.root / ID) == tree(DOOR)


STEPS = ["some-files", "files", "record"]


@pytest.mark.parametrize("step", STEPS)
def test_a_crash(tmp_path, step):
    """The hub ends at a step: the dataset can be read, and a second run completes it."""
    hub = serve(tmp_path)
    put_there(hub)
    hub.process.send_signal(signal.SIGKILL)
    hub.stop(expect=None)
    files = [f for _, f in files_of(hub.root / ID)]
    for file in files[:1] if step == "some-files" else files:
        os.chmod(file, 0o1444)
    if step == "record":
        (hub.root / ID / ".minari-hub.json").write_text(json.dumps({"record": 1, "id": ID, "revision": "0" * 40, "commit": "c" * 40, "files": []}))
    with serve(tmp_path) as hub:
        until(lambda: ask(hub, "GET", f"{DATASET}/episodes/0/rewards").status == 200)
        assert revisions(hub).status == 404
        done = adopt(hub, ID, "--json")
        assert states(hub) == [(done["items"][0]["commit"], "current")]
        replace(hub, done["items"][0]["commit"], {"notes.txt": b"second"})


def test_killed_at_any_moment(tmp_path):
    """While many datasets are adopted; the job goes on by itself."""
    with serve(tmp_path) as hub:
        ids = [f"lab/set{n}-v0" for n in range(8)]
        for id in ids:
            shutil.copytree(ARM, hub.root / id)
        for id in ids:
            listed(hub, id)
    for n in range(3):
        hub = serve(tmp_path)
        with contextlib.suppress(AssertionError):
            adopter = subprocess.Popen([os.path.join(BIN, "minari-hub"), "adopt", "--all", "lab/", "--state", hub.state], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: sum(revisions(hub, id).status == 200 for id in ids) > 2 * n, 20, every=0.01)
        hub.process.send_signal(signal.SIGKILL)
        hub.stop(expect=None)
        adopter.wait(60)
    with serve(tmp_path) as hub:
        until(lambda: all(revisions(hub, id).status == 200 for id in ids))
        for id in ids:
            until(lambda: ask(hub, "GET", f"/api/v1/datasets/{id}/episodes").status == 200)
            assert len(revisions(hub, id).json()["items"]) == 1 and tree(hub.root / id) == tree(ARM)
        assert adopt(hub, "--all", "lab/", "--json")["owned"] == len(ids)
