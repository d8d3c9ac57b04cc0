"""What tests of mirror rules share: an upstream, a hub that copies it, and what there has to be afterwards."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from hub import BIN, FIXTURES, PATIENCE, Hub, until

ERA = os.path.join(FIXTURES, "minari", "root-0.5.3")


@pytest.fixture
def place():
    folder = tempfile.mkdtemp(prefix="hub-mirror-")
    shutil.copytree(ERA, os.path.join(folder, "up"), symlinks=True)
    for name in ("here", "state"):
        os.mkdir(os.path.join(folder, name))
    yield folder
    shutil.rmtree(folder)


@contextlib.contextmanager
def upstream(place, *args):
    with Hub([os.path.join(place, "up")], args=["--hash", "idle", "--sweep", "1s", *args]) as hub:
        yield hub.wait_indexed()


def mirror(place, *args, code=0, state=None, root=None):
    run = subprocess.run([os.path.join(BIN, "minari-hub"), "mirror", *args, *(["--yes"] if args[0] == "add" else []), "--state", state or os.path.join(place, "state")], capture_output=True,
                         text=True, timeout=60, stdin=subprocess.DEVNULL,
                         env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_DATASETS_PATH": root or os.path.join(place, "here")})
    assert run.returncode == code, run.stderr
    return run


def rule(place, name):
    return json.loads(mirror(place, "show", name, "--json").stdout)


def here(place, *args):
    return Hub([os.path.join(place, "here")], state=os.path.join(place, "state"), args=args)


def wait_synced(hub, name, since="", timeout=2 * PATIENCE):
    """Until a pass that began after `since` is complete."""
    def is_synced():
        found = hub.get("/api/v1/mirrors/" + name).json()
        return found if found.get("synced", "") > since else None

    try:
        return until(is_synced, timeout, every=0.1)
    except AssertionError as e:
        raise AssertionError(e, hub.get("/api/v1/mirrors/" + name).json(), hub.get("/api/v1/jobs").json(), hub.log_tail()) from None


def again(place, hub, name):
    before = hub.get("/api/v1/mirrors/" + name).json()
    mirror(place, "run", name)
    after = wait_synced(hub, name, before["synced"])
    return after["bytes"] - before["bytes"], after["transfers"] - before["transfers"]


def tree(root):
    """What there is of datasets, by path."""
    found = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if "/." not in path[len(root):]:
                with open(path, "rb") as f:
                    found[path[len(root) + 1:]] = f.read()
    return found


def minari(root, *load, python=sys.executable):
    """What Python Minari lists below a root; it loads those of `load` as well."""
    code = ("import json, minari, sys\nn = [len(minari.load_dataset(i)) for i in sys.argv[1:]]\n"
            "print(json.dumps([sorted(minari.list_local_datasets()), n]))")
    ran = subprocess.run([python, "-W", "ignore", "-c", code, *load], env={**os.environ, "MINARI_DATASETS_PATH": root}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    listed, lengths = json.loads(ran.stdout)
    assert all(lengths), (load, lengths)
    return set(listed)


def revisions(hub):
    return {d["id"]: d.get("revision") for d in hub.datasets()}


def expect_copy(place, prefix=""):
    want = {prefix + path: data for path, data in tree(os.path.join(place, "up")).items() if "/data/" in path}
    got = {path: data for path, data in tree(os.path.join(place, "here")).items() if "/data/" in path}
    assert {p: len(d) for p, d in got.items()} == {p: len(d) for p, d in want.items()}
    assert got == want


def replace(path, data):
    with open(path + ".new", "wb") as f:
        f.write(data)
    os.replace(path + ".new", path)


def is_whole(root):
    """Each dataset that can be seen is complete, as its record says."""
    for record in glob.glob(os.path.join(root, "**", ".minari-hub.json"), recursive=True, include_hidden=True):
        if "/.minari-hub/" in record:
            continue
        with open(record) as f:
            for item in json.load(f)["files"]:
                assert os.path.getsize(os.path.join(os.path.dirname(record), item["path"])) == item["size"], (record, item)


