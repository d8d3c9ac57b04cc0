"""gcloud storage, which its own installer brings: not of a registry, so a machine without it leaves this out by name."""
import json
import shutil

import pytest

BUCKET = "gs://minari-datasets"


@pytest.fixture
def gcloud(clients, hub, tmp_path):
    if not shutil.which("gcloud"):
        pytest.skip("gcloud is not installed here: https://cloud.google.com/sdk/docs/install")
    clients.env |= {"CLOUDSDK_CONFIG": str(tmp_path / "config"), "BOTO_CONFIG": "/dev/null", "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "True",
                    "CLOUDSDK_CORE_PROJECT": "none", "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE": hub.base + "/storage/v1/"}

    def run(*args, **more):
        return clients.program("gcloud", "storage", *args, **more)
    return run


def test_gcloud_reads(gcloud, lab, tmp_path):
    assert sorted(gcloud("ls", BUCKET).split()) == sorted({f"{BUCKET}/{n.split('/')[0]}" + "/" * ("/" in n) for n in lab.names})
    (tmp_path / "copy").mkdir()  # a target that is not there is refused, as with any bucket
    gcloud("cp", "-r", BUCKET + "/notes", str(tmp_path / "copy"))
    assert lab.files_equal(tmp_path / "copy" / "notes", "notes/") == 3
    gcloud("rsync", "-r", BUCKET + "/shards", str(tmp_path / "sync"))
    assert lab.files_equal(tmp_path / "sync", "shards/") == 5
    name = "door-human-v0/data/main_data.hdf5"
    assert gcloud("cat", "-r", "1-3", f"{BUCKET}/{name}") == "HDF"
    assert json.loads(gcloud("objects", "describe", f"{BUCKET}/{name}", "--format=json"))["size"] == len(lab.bytes(name))


def test_gcloud_is_told_that_nothing_is_uploaded(gcloud, lab):
    gcloud("cp", lab.path("door-human-v0/data/main_data.hdf5"), BUCKET + "/new.hdf5", code=1)
    gcloud("rm", BUCKET + "/door-human-v0/data/main_data.hdf5", code=1)
