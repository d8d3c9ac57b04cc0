"""Trouble of the machine: it is named with a remedy, and is never a verdict about the data."""
import contextlib
import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from cli import Cli
from hub import BIN, FIXTURES, Hub, quote, serving, until

MINARI = os.path.join(FIXTURES, "minari")
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


@pytest.fixture
def place():
    folder = tempfile.mkdtemp(prefix="hub-machine-")
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder)


def copy_root(place, name="root-0.5.3"):
    return shutil.copytree(os.path.join(MINARI, name), os.path.join(place, "root"), symlinks=True)


def test_a_state_folder_that_cannot_be_made(place):
    os.chmod(place, 0o555)
    command = [os.path.join(BIN, "minari-hub"), "serve", "--root", MINARI, "--state", os.path.join(place, "a", "state"), "--listen", "127.0.0.1:0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/", **NOBODY)
    os.chmod(place, 0o755)
    assert done.returncode != 0
    assert "cannot be created by user" in done.stderr and "Permission denied" in done.stderr, done.stderr


def test_a_folder_for_downloads_that_cannot_be_made(place):
    with serving(copy_root(place)) as hub:
        os.makedirs(os.path.join(place, "mine"), 0o555)
        name = next(i["id"] for i in hub.datasets() if i["status"] == "ready" and i["format"] == "minari-hdf5")
        cli = Cli(os.path.join(place, "mine", "datasets"), hub.base)
        done = subprocess.run([os.path.join(BIN, "minari-cli"), "download", name], env={**cli.env, "HOME": place}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, cwd="/", **NOBODY)
        assert done.returncode == 7, done
        assert "Permission denied" in done.stderr and "No such file" not in done.stderr, done.stderr


def fields(hub):
    """The answer for every field of the first episode of every dataset that is ready."""
    said = {}
    for item in hub.datasets():
        if item["status"] != "ready" or not item["episodes"]:
            continue
        number = hub.episodes(item["id"])[0]["number"]
        for field in hub.dataset(item["id"])["fields"]:
            answer = hub.get(f"/api/v1/datasets/{quote(item['id'])}/episodes/{number}/{quote(field['path'])}")
            said[item["id"], field["path"]] = (answer.status, answer.body if answer.status == 200 else None)
    return said


def test_a_copied_state_answers(place):
    """cp -a gives every file another inode and ctime; a restore may leave out a file or cut it short."""
    root, state, copy = copy_root(place), os.path.join(place, "state"), os.path.join(place, "copy")
    for name in ("filters-standard-v0", "types-text-v0", "types-numbers-v0"):
        shutil.copytree(os.path.join(FIXTURES, "hdf5", name), os.path.join(root, name))
    os.makedirs(state)
    with serving(root, state=state) as hub:
        want = fields(hub)
    assert {status for status, _ in want.values()} <= {200, 404, 422}
    subprocess.run(["cp", "-a", state, copy], check=True)
    shutil.rmtree(state)
    sides = sorted(os.listdir(os.path.join(copy, "side")))
    assert len(sides) > 1, "the test needs materialised fields"
    with serving(root, state=copy) as hub:
        assert fields(hub) == want
    os.unlink(os.path.join(copy, "side", sides[0]))
    os.truncate(os.path.join(copy, "side", sides[1]), os.path.getsize(os.path.join(copy, "side", sides[1])) - 1)
    with serving(root, state=copy) as hub:
        lost = {key for key, said in fields(hub).items() if said != want[key]}
        assert lost, "no field needs these files"
        until(lambda: fields(hub) == want)


def scan(root, state, user=NOBODY):
    command = [os.path.join(BIN, "minari-hub"), "scan", "--root", root, "--state", state, "--settle", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/", **user)
    assert done.returncode == 0, done
    return {line.split()[1].rstrip(":"): line for line in done.stdout.splitlines() if line.startswith(("broken", "pending"))}


def test_a_missing_permission_is_named_and_tried_again(place):
    root, state = os.path.join(place, "root"), os.path.join(place, "state")
    shutil.copytree(os.path.join(FIXTURES, "hdf5", "types-numbers-v0"), os.path.join(root, "types-numbers-v0"))
    os.makedirs(state)
    file = os.path.join(root, "types-numbers-v0", "data", "main_data.hdf5")
    if NOBODY:
        os.chown(state, NOBODY["user"], NOBODY["group"])
    os.chmod(file, 0)
    said = scan(root, state)["types-numbers-v0"]
    assert said.startswith("broken") and "permission denied (the hub runs as " in said, said
    os.chmod(file, 0o644)
    assert scan(root, state) == {}


@pytest.mark.skipif(not NOBODY, reason="only root can be somebody else")
def test_a_right_that_comes_without_a_change_of_the_file(place):
    """What this user may not read is told, but it is no verdict that stays: mounts and users change without a change of the files."""
    root, state = copy_root(place), os.path.join(place, "state")
    os.makedirs(state)
    shutil.copytree(os.path.join(FIXTURES, "hdf5", "types-numbers-v0"), os.path.join(root, "types-numbers-v0"))
    file = os.path.join(root, "types-numbers-v0", "data", "main_data.hdf5")
    os.chown(state, NOBODY["user"], NOBODY["group"])
    os.chmod(file, 0)
    assert "permission denied" in scan(root, state)["types-numbers-v0"]
    assert "permission denied" in scan(root, state)["types-numbers-v0"]
    before = os.stat(file)
    assert scan(root, state, user={}) == {}
    assert os.stat(file).st_ctime_ns == before.st_ctime_ns


@pytest.mark.skipif(not NOBODY, reason="only root can be somebody else")
def test_a_claim_that_could_not_read_is_asked_again(place):
    """Whose a file is stands in it: while it could not be opened, nobody has said that it is nobody's."""
    root, state = os.path.join(place, "root"), os.path.join(place, "state")
    os.makedirs(root)
    os.makedirs(state)
    file = shutil.copy(os.path.join(FIXTURES, "robomimic", "lift-ph", "low_dim_v15.hdf5"), root)
    os.chown(state, NOBODY["user"], NOBODY["group"])
    os.chmod(file, 0)
    scan(root, state)
    with serving(root, state=state) as hub:
        assert [(d["format"], d["status"]) for d in hub.datasets()] == [("robomimic", "ready")]


def test_a_dataset_of_one_file_that_is_a_link(place):
    root, state = os.path.join(place, "root"), os.path.join(place, "state")
    os.makedirs(os.path.join(root, "blobs"))
    os.makedirs(state)
    shutil.copy(os.path.join(FIXTURES, "robomimic", "lift-ph", "low_dim_v15.hdf5"), os.path.join(root, "blobs", "0a1b"))
    os.symlink("blobs/0a1b", os.path.join(root, "lift.hdf5"))
    with serving(root, state=state) as hub:
        found = {d["id"]: (d["format"], d["status"]) for d in hub.datasets()}
        assert found["lift"] == ("robomimic", "ready"), found


def test_the_index_of_another_version_goes_when_the_new_one_is_complete(place):
    root, state = copy_root(place), os.path.join(place, "state")
    os.makedirs(state)
    with open(os.path.join(state, "index-1.db"), "w") as f:
        f.write("of another version")
    with Hub([root], state=state) as hub:
        hub.wait_indexed()
        until(lambda: not os.path.exists(f.name))
        assert "has another version" in hub.text_log()
        assert len(glob.glob(os.path.join(state, "index-*.db"))) == 1


def test_a_damaged_state_says_what_to_do(place):
    root, state = copy_root(place), os.path.join(place, "state")
    os.makedirs(state)
    with serving(root, state=state) as hub:
        want = fields(hub)
    with open(glob.glob(os.path.join(state, "index-*.db"))[0], "r+b") as f:
        f.seek(4096)
        f.write(b"\xa5" * 4096)
    with serving(root, state=state) as hub:
        assert fields(hub) == want
    with open(os.path.join(state, "hub.db"), "r+b") as f:
        f.write(b"\xa5" * 4096)
    command = [os.path.join(BIN, "minari-hub"), "serve", "--root", root, "--state", state, "--listen", "127.0.0.1:0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "backup" in done.stderr and "move it away" in done.stderr, done
    assert "PRAGMA" not in done.stderr, done
    os.rename(os.path.join(state, "hub.db"), os.path.join(state, "hub.db.damaged"))
    with serving(root, state=state) as hub:
        assert fields(hub) == want


def test_a_damaged_index_leaves_nothing_out_of_a_group(place):
    root, state = copy_root(place, "root-0.4.2"), os.path.join(place, "state")
    os.makedirs(state)
    group = "/api/v1/datasets/door-human-v1/episodes/0/state"
    with serving(root, state=state) as hub:
        want = hub.get(group)
        assert want.status == 200 and "qpos" in want.json(), want.body[:200]
    with contextlib.closing(sqlite3.connect(glob.glob(os.path.join(state, "index-*.db"))[0])) as db, db:
        assert db.execute("UPDATE blobs SET checksum = checksum + 1 WHERE kind = 3 AND name = 'state/qpos'").rowcount
    with serving(root, state=state) as hub:

        def is_mended():
            answer = hub.get(group)
            assert answer.status == 200 or (answer.status == 500 and "damaged" in answer.json()["detail"]), answer.body[:300]
            return answer if answer.status == 200 else None

        answer = until(is_mended)
        assert answer.body == want.body and "X-Left-Out" not in answer.headers
