"""LeRobotDataset by a repo's name: all rows, pictures of videos too, are those of the same release over the folder itself."""
import html
import re
import os
import shutil

import pytest

from conftest import Lab
from hub import FIXTURES, serving

READ = """
import hashlib
from lerobot.datasets.lerobot_dataset import LeRobotDataset
repo, root = sys.argv[1:3]
data, h = LeRobotDataset(repo, root=root or None, video_backend="pyav"), hashlib.sha256()
for i in range(len(data)):
    row = data[i]
    for key in sorted(row):
        h.update(key.encode() + (row[key].numpy().tobytes() if hasattr(row[key], "numpy") else repr(row[key]).encode()))
print(json.dumps({"episodes": data.num_episodes, "rows": len(data), "keys": sorted(data[0]), "hash": h.hexdigest()}))
"""


@pytest.fixture(scope="module")
def repos(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("repos"))
    for name in ("arm-v21", "camera-v21", "arm-v30", "camera-v30"):
        shutil.copytree(os.path.join(FIXTURES, "lerobot", name), os.path.join(root, "lab", name))
    with serving(root) as hub:
        hub.checker = None
        yield Lab(root), hub


@pytest.mark.parametrize("release, names", [("0.3.3", ["arm-v21", "camera-v21"]), ("0.4.4", ["arm-v30", "camera-v30"])])
def test_lerobot(repos, clients, tmp_path, release, names):
    lab, hub = repos
    for name in names:
        env = {"HF_ENDPOINT": hub.base, "HF_HOME": str(tmp_path / "home"), "HF_LEROBOT_HOME": str(tmp_path / "lerobot")}
        got = clients.python(f"lerobot-{release}", ["lerobot", "huggingface_hub", "datasets"], READ, f"lab/{name}", "", env=env, timeout=300)
        copy = shutil.copytree(lab.path(f"lab/{name}"), tmp_path / name)
        want = clients.python(f"lerobot-{release}", ["lerobot"], READ, f"lab/{name}", str(copy), env={**env, "HF_HUB_OFFLINE": "1"}, timeout=300)
        assert got == want and got["rows"] == hub.dataset(f"lab/{name}")["steps"] and got["episodes"] == hub.dataset(f"lab/{name}")["episodes"]
        page = hub.get(f"/d/lab/{name}", {"Accept": "text/html"}).body.decode()
        recipe = html.unescape(re.search(r"<h3>Python: LeRobot</h3><pre[^>]*><code>(.*?)</code>", page, re.S)[1])
        clients.python(f"lerobot-{release}", ["lerobot"], recipe + "\nprint('0')", env={**env, "HF_LEROBOT_HOME": str(tmp_path / "again")}, timeout=300)
