"""The lines of the guide for the clients that take long to install, each as it stands there."""
import os
import re
import shutil

import pytest

import guide
from conftest import CLIENTS
from hub import FIXTURES, serving

LINES = guide.lines(os.path.join(guide.GUIDE, "clients.md"), "sh slow")
HAS = {"lerobot": lambda: os.path.exists(os.path.join(CLIENTS, "lerobot-0.4.4", "installed.txt")), "gcloud": lambda: shutil.which("gcloud"),
       "ros3": lambda: os.path.exists("/usr/bin/python3") and not os.system("/usr/bin/python3 -c 'import h5py; assert h5py.get_config().ros3' 2>/dev/null")}


@pytest.mark.parametrize("client, says", [("lerobot", r"\d+\n"), ("gcloud", "HDF"), ("ros3", "KeysView.*actions")])
def test_lines(clients, lab, tmp_path, client, says):
    line = next(line for line in LINES if client in line)
    if not HAS[client]():
        pytest.skip(f"{client} is not installed here")
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), tmp_path / "root" / "lab" / "arm-v30")
    with serving(lab.root, str(tmp_path / "root")) as hub:
        hub.checker = None
        env = {"PATH": os.path.abspath(os.path.join(CLIENTS, "lerobot-0.4.4", "bin")) + ":" + os.environ["PATH"], "HF_HOME": str(tmp_path / "hf"),
               "HF_LEROBOT_HOME": str(tmp_path / "lerobot"), "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"), "BOTO_CONFIG": "/dev/null"}
        assert re.search(says, clients.run("sh", "-ec", line.replace("http://hub:8080", hub.base), env=env, timeout=300))
