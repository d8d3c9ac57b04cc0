"""Trouble of the machine: it is named with a remedy, and is never a verdict about the data."""
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from cli import Cli
from hub import BIN, FIXTURES, Hub, serving

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
    assert "cannot be made by user" in done.stderr and "Permission denied" in done.stderr, done.stderr


def test_a_folder_for_downloads_that_cannot_be_made(place):
    with serving(copy_root(place)) as hub:
        os.makedirs(os.path.join(place, "mine"), 0o555)
        name = next(i["id"] for i in hub.datasets() if i["status"] == "ready" and i["format"] == "minari-hdf5")
        cli = Cli(os.path.join(place, "mine", "datasets"), hub.base)
        done = subprocess.run([os.path.join(BIN, "minari-cli"), "download", name], env={**cli.env, "HOME": place}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, cwd="/", **NOBODY)
        assert done.returncode == 7, done
        assert "Permission denied" in done.stderr and "No such file" not in done.stderr, done.stderr
