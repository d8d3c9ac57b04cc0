"""Minari uploads over hf://, unchanged: what another Minari lists, downloads and loads then is what was uploaded."""
import json
import os
import shutil

import pytest

from conftest import FIXTURES
from pushing import PushedHub, is_ready

ID = "D4RL/door/human-v2"
UPLOAD = """
import minari, os
minari.upload_dataset(sys.argv[1], os.environ["HF_TOKEN"])
print(json.dumps(sorted(minari.list_remote_datasets())))
"""
DOWNLOAD = """
import minari
listed = sorted(minari.list_remote_datasets())
minari.download_dataset(sys.argv[1])
print(json.dumps([listed, minari.load_dataset(sys.argv[1]).total_episodes]))
"""


def env_of(hub, author, folder, token=None):
    folder.mkdir()
    return {"HF_ENDPOINT": hub.base, "HF_HOME": str(folder / "home"), "MINARI_REMOTE": f"hf://{author}", "MINARI_DATASETS_PATH": str(folder), "HF_TOKEN": hub.token}


def check(clients, tmp_path, venv, author, prefix, table):
    """Where the author's own repos lie at the top, and where not."""
    with PushedHub(tmp_path / "hub", prefix=(prefix,)) as hub:
        here, there = tmp_path / "here", tmp_path / "there"
        env, other = env_of(hub, author, here), env_of(hub, author, there)
        shutil.copytree(os.path.join(FIXTURES, "samples", "D4RL"), here / "D4RL")
        row = [venv, f"upload to {author}", "", "FAILED"]
        table.append(row)
        with hub.counting(row):
            assert clients.python(venv, ["minari"], UPLOAD, ID, env=env) == [ID]
        is_ready(hub, prefix + ID)
        listed, episodes = clients.python(venv, ["minari"], DOWNLOAD, ID, env=other)
        assert listed == [ID] and episodes == hub.dataset(prefix + ID)["episodes"]
        for name in ("data/main_data.hdf5", "data/metadata.json"):
            assert (there / ID / name).read_bytes() == (here / ID / name).read_bytes()
        row[3] = "as the source"


@pytest.mark.parametrize("author, prefix", [("farama-minari", ""), ("lab", "lab/")])
@pytest.mark.parametrize("venv", ["minari-0.5.3", "minari-0.5.4"])
def test_minari(clients, tmp_path, venv, author, prefix, pytestconfig):
    check(clients, tmp_path, venv, author, prefix, pytestconfig.pushes)
