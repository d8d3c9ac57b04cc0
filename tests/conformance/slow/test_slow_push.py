"""The clients that test_push.py leaves out, and what takes long."""
import os
import shutil

import pytest

import test_push_minari
from conftest import CLIENTS, FIXTURES
from pushing import ACTIONS, GATE, NAMES, Driver, PushedHub, check_action, env_of, is_ready, rows, source
from test_push_faults import check_resumed, row_of

OTHERS = [name for name in NAMES if name not in GATE]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with PushedHub(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture(scope="module", params=OTHERS)
def driver(request, hub, tmp_path_factory):
    driver = Driver(request.param, hub, tmp_path_factory.mktemp("client"))
    yield driver
    driver.close()


@pytest.mark.parametrize("action", ACTIONS)
def test_push(driver, action, hub, source, tmp_path, pytestconfig):
    check_action(driver, action, hub, source, tmp_path, pytestconfig.pushes)


@pytest.mark.parametrize("name, command", [("1.33", "upload-large-folder"), ("2.4", "upload")])
def test_killed_over_xet(hub, tmp_path, name, command, pytestconfig):
    """A client of Xet sends 64 MiB at a time: the first of them are there."""
    check_resumed(name, hub, tmp_path, command, 6, 32 << 20, 110 << 20, row_of(pytestconfig, name, f"killed {command}"))


@pytest.mark.parametrize("author, prefix", [("farama-minari", ""), ("lab", "lab/")])
def test_minari(clients, tmp_path, author, prefix, pytestconfig):
    test_push_minari.check(clients, tmp_path, "minari-0.5.2", author, prefix, pytestconfig.pushes)


LEROBOT = """
from lerobot.datasets.lerobot_dataset import LeRobotDataset
data = LeRobotDataset(sys.argv[1], root=sys.argv[2], video_backend="pyav")
note = ""
try:
    data.push_to_hub()
except Exception as e:
    if "huggingface.co" not in str(e):
        raise
    note = ", but for its card, which this release has huggingface.co check"
print(json.dumps([len(data), note]))
"""


@pytest.mark.parametrize("release, name", [("0.3.3", "arm-v21"), ("0.4.4", "arm-v30")])
def test_lerobot_itself(hub, clients, tmp_path, release, name, pytestconfig):
    """Its releases of huggingface_hub have huggingface.co check the card: without the internet their push ends there, and the rest is here."""
    if not os.path.exists(os.path.join(CLIENTS, f"lerobot-{release}", "installed.txt")):
        pytest.skip(f"LOUD: LEROBOT {release} IS NOT INSTALLED HERE (it wants torch): its push_to_hub was not run; test_push.py makes the calls that its source has")
    row, repo = row_of(pytestconfig, f"LeRobot {release}", "push_to_hub"), f"lab/lerobot-{release}"
    folder = shutil.copytree(os.path.join(FIXTURES, "lerobot", name), tmp_path / "folder")
    with hub.counting(row):
        steps, note = clients.python(f"lerobot-{release}", ["lerobot", "huggingface_hub"], LEROBOT, repo, str(folder), env=env_of(hub, tmp_path), timeout=300)
    is_ready(hub, repo)
    assert hub.dataset(repo)["steps"] == steps and rows(hub, repo)
    row[3] = "as the source" + note
