"""minari-hub backup and restore: what a hub knows and owns survives the machine, also where people write meanwhile."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from hub import BIN, FIXTURES, Hub, until
from test_access_twins import run
from test_drafts import ask, files_of, open_draft, push, put, tree
from test_revisions import replace

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
ARM = os.path.join(FIXTURES, "lerobot", "arm-v30")


def command(*words, expect=0, **environment):
    done = subprocess.run([os.path.join(BIN, "minari-hub"), *map(str, words)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "XDG_STATE_HOME": "/nonexistent", **environment})
    assert done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout if expect == 0 else done.stderr


def backup(folder, *args, state, **options):
    return command("backup", folder, "--state", state, *args, **options)


def restore(folder, *args, state, **options):
    return command("restore", folder, "--state", state, *args, **options)


def start(state, *roots, token=None, args=()):
    hub = Hub([str(root) for root in roots], state=str(state), args=args)
    hub.wait_ready()
    hub.token = token
    return hub


@pytest.fixture
def hub(tmp_path):
    """With a token, a rule, and a dataset that was pushed."""
    (tmp_path / "root").mkdir()
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    token = run(str(state), "token", "add", "ann", "--write", "lab/").strip()
    run(str(state), "access", "set", "*", "none", "lab/secret/")
    run(str(state), "access", "set", "token:ann", "admin", "")
    with start(state, tmp_path / "root", token=token) as hub:
        hub.root = tmp_path / "root"
        hub.commit = publish(hub, DOOR, "lab/door-v0")["commit"]
        publish(hub, ARM, "lab/secret/arm-v0")
        yield hub


def publish(hub, folder, id):
    done = ask(hub, "POST", push(hub, folder, id) + "/commit")
    assert done.status == 200, done.body
    return done.json()


def known(hub, id):
    document = ask(hub, "GET", f"/api/v1/datasets/{id}").json()
    return {key: document.get(key) for key in ("status", "revision", "content", "episodes")}


def test_a_drill(hub, tmp_path):
    """The backup is taken while datasets are pushed; the hub is made again elsewhere."""
    acknowledged, stopping, failures = [], threading.Event(), []

    def write():
        n = 0
        while not stopping.is_set():
            n += 1
            draft = open_draft(hub, f"lab/more-v{n}")
            for path, file in files_of(ARM):
                with open(file, "rb") as f:
                    if put(hub, draft, path, f.read()).status != 201:
                        failures.append(path)
            if ask(hub, "POST", draft + "/commit").status == 200:
                acknowledged.append(f"lab/more-v{n}")

    writer = threading.Thread(target=write)
    writer.start()
    until(lambda: acknowledged)
    before = list(acknowledged)
    said = json.loads(backup(tmp_path / "backup", "--data", "--json", state=hub.state))
    stopping.set()
    writer.join()
    assert not failures and said["problems"] == [] and said["datasets"] >= 2 + len(before)
    was = {id: known(hub, id) for id in ("lab/door-v0", "lab/secret/arm-v0", *before)}
    (tmp_path / "elsewhere").mkdir()
    back = json.loads(restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))
    assert back["missing"] == [] and back["placed"] == said["datasets"]
    with start(tmp_path / "new", tmp_path / "elsewhere", token=hub.token) as again:
        again.wait_indexed()
        until(lambda: all(known(again, id)["status"] == "ready" for id in was))
        assert {id: known(again, id) for id in was} == was, "the revisions too, and nothing is hashed again"
        assert ask(again, "GET", "/api/v1/datasets/lab/secret/arm-v0", token=None).status == 401, "the rule works"
        assert ask(again, "GET", "/api/v1/datasets/lab/door-v0", token=None).status == 200
        assert tree(tmp_path / "elsewhere/lab/door-v0") == tree(DOOR) and tree(tmp_path / "elsewhere/lab/secret/arm-v0") == tree(ARM)
        assert hub.commit in run(again.state, "audit", "--json")
        publish(again, DOOR, "lab/next-v0")


def test_incremental(hub, tmp_path):
    folder = tmp_path / "backup"
    first = json.loads(backup(folder, "--data", "--json", state=hub.state))
    assert first["new_bytes"] > 0 and os.stat(folder).st_mode & 0o077 == 0
    assert all(os.stat(os.path.join(base, name)).st_mode & 0o077 == 0 for base, _, names in os.walk(folder) for name in names)
    again = json.loads(backup(folder, "--data", "--json", state=hub.state))
    assert (again["new_files"], again["datasets"], again["bytes"]) == (0, 2, first["bytes"])
    publish(hub, ARM, "lab/twin-v0")
    third = json.loads(backup(folder, "--data", "--json", state=hub.state))
    assert (third["new_files"], third["datasets"]) == (1, 3), "all but its record are there"
    assert len([name for name in os.listdir(folder) if name.endswith(".db")]) == 1
    shutil.rmtree(hub.root / "lab/twin-v0")
    refused = backup(folder, "--data", "--prune", state=hub.state, expect=2)
    assert "lab/twin-v0" in refused and "--prune removed nothing" in refused, "a dataset that is lost stays in the backup's files"


def test_earlier_revisions(hub, tmp_path):
    """What is kept of a dataset goes into the backup, and is stored once where it comes back."""
    b = replace(hub, hub.commit, {"notes.txt": b"second"}, id="lab/door-v0")["commit"]
    gone = publish(hub, ARM, "lab/gone-v0")["commit"]
    assert ask(hub, "DELETE", "/api/v1/datasets/lab/gone-v0").status == 204
    said = json.loads(backup(tmp_path / "backup", "--data", "--json", state=hub.state))
    assert (said["datasets"], said["kept"], said["problems"]) == (2, 2, [])
    assert json.loads(backup(tmp_path / "backup", "--data", "--json", "--prune", state=hub.state))["new_files"] == 0
    assert "2 earlier revisions among them" in backup(tmp_path / "backup", "--data", state=hub.state)
    (tmp_path / "elsewhere").mkdir()
    back = json.loads(restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))
    assert (back["placed"], back["kept"], back["missing"]) == (2, 2, [])
    with start(tmp_path / "new", tmp_path / "elsewhere", token=hub.token) as again:
        again.wait_indexed()
        listed = ask(again, "GET", "/api/v1/datasets/lab/door-v0/~revisions").json()["items"]
        assert [(r["commit"], r["state"]) for r in listed] == [(b, "current"), (hub.commit, "kept")]
        data = f"/api/v1/datasets/lab/door-v0/files/data/main_data.hdf5?revision={hub.commit}"
        until(lambda: ask(again, "GET", data).status == 200)
        assert ask(again, "GET", data).body == tree(DOOR)["data/main_data.hdf5"]
        assert os.stat(tmp_path / "elsewhere/lab/door-v0/data/main_data.hdf5").st_nlink == 2, "stored once"
        draft = ask(again, "POST", "/api/v1/drafts", json.dumps({"id": "lab/gone-v0", "from": f"lab/gone-v0@{gone}"}))
        assert ask(again, "POST", draft.headers["Location"] + "/commit").status == 200, "what was deleted is had back"
        assert tree(tmp_path / "elsewhere/lab/gone-v0") == tree(ARM)
        again.root = tmp_path / "elsewhere"
        replace(again, b, {"notes.txt": b"third"}, id="lab/door-v0")


def test_without_data(hub, tmp_path):
    said = backup(tmp_path / "backup", state=hub.state)
    assert "2 datasets" in said and "--data copies them as well" in said and not (tmp_path / "backup/objects").exists()
    (tmp_path / "elsewhere").mkdir()
    listed = restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", state=tmp_path / "new")
    assert "2 are missing" in listed and "lab/door-v0: the backup was taken without --data" in listed and "push it again" in listed
    # the disk of the data survived, that of the state did not
    back = json.loads(restore(tmp_path / "backup", "--root", hub.root, "--json", state=tmp_path / "third"))
    assert back["there"] == 2 and back["missing"] == []


def test_interrupted(hub, tmp_path):
    """A backup that was killed is none, and the next one goes on; so with a restore."""
    folder = tmp_path / "backup"
    big = tmp_path / "big/data"
    big.mkdir(parents=True)
    for i in range(24):
        (big / f"{i}.bin").write_bytes(os.urandom(1 << 20))
    publish_files = open_draft(hub, "lab/big-v0")
    for path, file in files_of(ARM):
        with open(file, "rb") as f:
            assert put(hub, publish_files, path, f.read()).status == 201
    for path, file in files_of(tmp_path / "big"):
        with open(file, "rb") as f:
            assert put(hub, publish_files, "more/" + path, f.read()).status == 201
    assert ask(hub, "POST", publish_files + "/commit").status == 200
    (tmp_path / "elsewhere").mkdir()

    def kill_after(seconds, *words):
        process = subprocess.Popen([os.path.join(BIN, "minari-hub"), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return process.returncode == 0

    for seconds in (0.05, 0.1, 0.2, 0.4):
        if kill_after(seconds, "backup", folder, "--data", "--state", hub.state):
            break
        if not (folder / "manifest.json").exists() and folder.exists():
            assert "is not a backup" in restore(folder, "--root", tmp_path / "elsewhere", state=tmp_path / "new", expect=3)
    assert json.loads(backup(folder, "--data", "--json", state=hub.state))["datasets"] == 3
    for seconds in (0.05, 0.1, 0.2, 0.4):
        if kill_after(seconds, "restore", folder, "--state", tmp_path / "new", "--root", tmp_path / "elsewhere") or (tmp_path / "new/hub.db").exists():
            break  # hub.db is the last that is put in place
    else:
        back = json.loads(restore(folder, "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))
        assert back["missing"] == [] and back["placed"] + back["there"] == 3
    assert tree(tmp_path / "elsewhere/lab/big-v0") == tree(hub.root / "lab/big-v0")


def test_damage(hub, tmp_path):
    """What is damaged is named, on the way in and on the way out; the rest is restored."""
    folder = tmp_path / "backup"
    path = hub.root / "lab/door-v0/data/main_data.hdf5"
    good = path.read_bytes()
    path.write_bytes(bytes([good[0] ^ 1]) + good[1:])
    assert "lab/door-v0: 'data/main_data.hdf5': it is not what its record says" in backup(folder, "--data", state=hub.state, expect=5)
    path.write_bytes(good)
    backup(folder, "--data", state=hub.state)
    sizes = {os.path.getsize(file): file for _, file in files_of(folder / "objects")}
    damaged = sizes[len(good)]
    os.chmod(damaged, 0o600)
    with open(damaged, "r+b") as f:
        f.write(b"x")
    (tmp_path / "elsewhere").mkdir()
    done = subprocess.run([os.path.join(BIN, "minari-hub"), "restore", folder, "--state", tmp_path / "new", "--root", tmp_path / "elsewhere"],
                          capture_output=True, text=True)
    assert done.returncode == 5 and "1 dataset put in place" in done.stdout and "is damaged" in done.stdout, done
    assert not (tmp_path / "elsewhere/lab/door-v0").exists() and tree(tmp_path / "elsewhere/lab/secret/arm-v0") == tree(ARM)


def test_roots_by_name(tmp_path):
    """What is stored of a root follows it to its new place: rules of mirrors, digests, drafts."""
    for name in ("one", "two", "first", "second"):
        (tmp_path / name).mkdir()
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    token = run(str(state), "token", "add", "ann", "--write", "").strip()
    with start(state, f"main={tmp_path}/one", tmp_path / "two", token=token) as hub:
        publish(hub, DOOR, "main/door-v0")
        publish(hub, ARM, "arm-v0")
        backup(tmp_path / "backup", "--data", state=state)
        said = open(tmp_path / "backup/manifest.json").read()
    assert {(d["root"], d["path"]) for d in json.loads(said)["datasets"]} == {("main", "door-v0"), (f"{tmp_path}/two", "arm-v0")}
    for roots in ([], ["--root", tmp_path / "first"], ["--root", f"main={tmp_path}/first"], ["--root", f"mian={tmp_path}/first", "--root", tmp_path / "second"],
                  ["--root", f"main={tmp_path}/first", "--root", tmp_path / "second", "--root", tmp_path / "two"]):
        refused = restore(tmp_path / "backup", *roots, state=tmp_path / "new", expect=2)
        assert f"--root main=DIR (it was {tmp_path}/one), --root DIR (it was {tmp_path}/two)" in refused, (roots, refused)
    back = json.loads(restore(tmp_path / "backup", "--root", tmp_path / "second", "--root", f"main={tmp_path}/first", "--json", state=tmp_path / "new"))
    assert back["placed"] == 2
    assert tree(tmp_path / "first/door-v0") == tree(DOOR) and tree(tmp_path / "second/arm-v0") == tree(ARM)
    with start(tmp_path / "new", f"main={tmp_path}/first", tmp_path / "second", token=token) as again:
        again.wait_indexed()
        assert again.statuses() == {"main/door-v0": "ready", "arm-v0": "ready"}


def test_the_settings_in_force(hub, tmp_path):
    """They are those of the running hub, whatever the command is given."""
    backup(tmp_path / "backup", state=hub.state)
    manifest = json.loads((tmp_path / "backup/manifest.json").read_text())
    text = (tmp_path / "backup" / manifest["config"]["name"]).read_text()
    assert f"\nlisten = 127.0.0.1:{hub.port}\n" in text and f"\nroot = {hub.root}\n" in text
    (tmp_path / "as.conf").write_text(text)
    assert f"root = {hub.root}" in command("config", "--config", tmp_path / "as.conf")


def test_wrong_uses(hub, tmp_path):
    folder, state = tmp_path / "backup", hub.state
    (tmp_path / "full").mkdir()
    (tmp_path / "full/paper.pdf").write_text("x")
    (tmp_path / "empty").mkdir()
    for words, code, text in (
            (["backup", "--state", state], 2, "name the folder"),
            (["backup", folder, "more", "--state", state], 2, "extra argument"),
            (["backup", folder, "--prune", "--state", state], 2, "--prune is for backups with --data"),
            (["backup", tmp_path / "full", "--state", state], 2, "holds other files and no backup: name a new folder"),
            (["backup", hub.root / "backup", "--state", state], 2, "name a folder outside of the roots"),
            (["backup", os.path.join(state, "backup"), "--state", state], 2, "name a folder outside of it"),
            (["backup", folder, "--state", tmp_path / "empty"], 2, "name the state directory of the hub with --state DIR"),
            (["restore", "--state", state], 2, "name the folder that `minari-hub backup` wrote"),
            (["restore", tmp_path / "full", "--state", tmp_path / "new", "--root", tmp_path / "empty"], 3, "is not a backup: it has no manifest.json")):
        assert text in command(*words, expect=code), words
    assert not folder.exists() and not (hub.root / "backup").exists()
    backup(folder, "--data", state=state)
    assert "add --data, or name another folder" in backup(folder, state=state, expect=2)
    assert "is not empty" in restore(folder, "--root", tmp_path / "empty", state=state, expect=2), "a hub runs there"
    assert f"the root {tmp_path}/nowhere does not exist: mount its disk, or make the directory (mkdir)" in restore(folder, "--root", tmp_path / "nowhere", state=tmp_path / "new", expect=3)
    for name in os.listdir(folder):
        if name.endswith(".db"):
            with open(folder / name, "r+b") as f:
                f.seek(5000)
                f.write(b"damage")
    assert "is damaged: use another backup" in restore(folder, "--root", tmp_path / "empty", state=tmp_path / "new", expect=5)
    assert not (tmp_path / "new/hub.db").exists()


def test_without_a_hub(tmp_path):
    """Nobody serves: what the last hub left is copied, also where it was killed."""
    for name in ("root", "elsewhere"):
        (tmp_path / name).mkdir()
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    hub = start(state, tmp_path / "root", token=run(str(state), "token", "add", "ann", "--write", "").strip())
    publish(hub, DOOR, "lab/door-v0")
    hub.process.kill()
    hub.stop(expect=None)
    said = json.loads(backup(tmp_path / "backup", "--data", "--json", state=state))
    assert said["datasets"] == 1 and said["problems"] == []
    assert json.loads(restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))["placed"] == 1
