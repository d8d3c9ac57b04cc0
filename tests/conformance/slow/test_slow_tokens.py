"""With a token: the releases that the gate leaves out, LeRobot, and gcloud storage where a machine has it."""
import shutil

import pytest

from carriers import BUCKET, OWN, Front, Private
from principals import bearer
from test_huggingface import VERSIONS, where
from test_tokens import MINARI


@pytest.fixture(scope="module")
def private(lab, tmp_path_factory):
    private = Private(lab, str(tmp_path_factory.mktemp("private")), str(tmp_path_factory.mktemp("state")), "0.5.3")
    with private.hub:
        yield private.begin()


@pytest.fixture
def front(private):
    front = Front(private.hub.port)
    yield front
    front.close()


SNAPSHOT = """
import huggingface_hub as h
print(json.dumps([h.whoami()["name"], h.snapshot_download("lab/arm-v21", repo_type="dataset")]))
"""


@pytest.mark.parametrize("venv", [v for v, _ in VERSIONS], ids=[i for _, i in VERSIONS])
def test_huggingface_hub(private, front, clients, tmp_path, venv):
    name, folder = clients.python(venv, ["huggingface_hub"], SNAPSHOT, env=where(front.base, tmp_path) | {"HF_TOKEN": private.token})
    assert name == "reader" and private.lab.files_equal(folder, "lab/arm-v21/")
    clients.sends(f"huggingface_hub of {venv}", front.seen, {"Bearer"})


@pytest.mark.parametrize("venv", ["minari-0.5.3"])
def test_minari_over_hf(private, front, clients, tmp_path, venv):
    env = where(front.base, tmp_path) | {"MINARI_REMOTE": "hf://farama-minari", "MINARI_DATASETS_PATH": str(tmp_path / "sets"), "HF_TOKEN": private.token}
    found, episodes = clients.python(venv, ["minari"], MINARI, env=env)
    assert "D4RL/door/human-v2" in found and episodes
    clients.sends(f"{venv} over hf", front.seen, {"Bearer"})


@pytest.mark.parametrize("release, name", [("0.3.3", "arm-v21"), ("0.4.4", "arm-v30")])
def test_lerobot(private, front, clients, tmp_path, release, name):
    env = where(front.base, tmp_path) | {"HF_LEROBOT_HOME": str(tmp_path / "lerobot"), "HF_TOKEN": private.token}
    got = clients.python(f"lerobot-{release}", ["lerobot"], f"""
from lerobot.datasets.lerobot_dataset import LeRobotDataset
print(json.dumps(len(LeRobotDataset("lab/{name}"))))
""", env=env, timeout=300)
    assert got == private.hub.get(f"/api/v1/datasets/lab/{name}", bearer(private.token)).json()["steps"]
    clients.sends(f"lerobot {release}", front.seen, {"Bearer"})


def test_gcloud(private, front, clients, tmp_path):
    if not shutil.which("gcloud"):
        pytest.skip("LOUD: gcloud is not installed here, so that no token goes through gcloud storage: https://cloud.google.com/sdk/docs/install")
    (tmp_path / "token").write_text(private.token)
    env = {"CLOUDSDK_CONFIG": str(tmp_path / "config"), "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(tmp_path / "token"), "CLOUDSDK_CORE_PROJECT": "none",
           "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": front.base + "/storage/v1/"}
    assert clients.program("gcloud", "storage", "cat", "-r", "1-3", f"gs://{BUCKET}/{OWN}/door-human-v0/data/main_data.hdf5", env=env) == "HDF"
    clients.sends("gcloud storage", front.seen, {"Bearer"})
