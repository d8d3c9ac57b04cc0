"""Stock clients of the hub's other protocols, and what only its upstreams have: listed with names and sizes, fetched when it is read."""
import contextlib
import json
import os
import subprocess
import sys

import h5py
import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from hub import FIXTURES, Hub, quote, until
from upstream_gcs import Gcs
from upstream_hf import Hf, minari_org

ERA, OLD = (os.path.join(FIXTURES, "minari", f"root-{v}") for v in ("0.5.3", "0.4.3"))
DOOR, TEXT = "D4RL/door/human-v2", "dummy-text/test-v0"


@contextlib.contextmanager
def here(folder, *upstreams, args=()):
    for name in ("here", "state"):
        os.makedirs(folder / name, exist_ok=True)
    flags = [word for u in upstreams for word in ("--upstream", u)]
    with Hub([str(folder / "here")], state=str(folder / "state"), args=[*flags, *args]) as hub:
        hub.wait_ready()
        until(hub.datasets)
        yield hub


def pulled(hub):
    return {j["target"] for j in hub.get("/api/v1/jobs?kind=pull&limit=1000").json()["items"]}


def run(python, code, *args, **env):
    ran = subprocess.run([python, "-W", "ignore", "-c", code, *map(str, args)], env={**os.environ, **env}, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def files_of(root, id):
    out = {}
    for at, _, names in os.walk(os.path.join(root, id)):
        for name in names:
            with open(os.path.join(at, name), "rb") as f:
                out[os.path.relpath(os.path.join(at, name), root)] = f.read()
    return {p: d for p, d in out.items() if "/." not in p}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A hub whose only datasets are those of an organisation at Hugging Face."""
    with Hf() as up, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", up.url)
        patch.setenv("HF_TOKEN", "")
        for id, files in minari_org("farama-minari", ERA).items():
            up.put(id, files)
        with here(tmp_path_factory.mktemp("hf"), "hf://farama-minari") as hub:
            yield hub, up


MINARI = """
import json, minari, sys
found = sorted(minari.list_remote_datasets())
minari.download_dataset(sys.argv[1])
print(json.dumps([found, len(list(minari.load_dataset(sys.argv[1]).iterate_episodes()))]))
"""


def test_minari(lab, tmp_path):
    hub, up = lab
    before, ids = pulled(hub), {d["id"] for d in hub.datasets()}
    found, episodes = run(sys.executable, MINARI, DOOR, MINARI_REMOTE="hf://farama-minari", HF_ENDPOINT=hub.base, HF_HOME=str(tmp_path / "home"),
                          HF_HUB_DISABLE_XET="1", MINARI_DATASETS_PATH=str(tmp_path / "sets"))
    assert set(found) <= ids and DOOR in found and len(found) > 10
    assert episodes == hub.dataset(DOOR)["episodes"]
    assert files_of(tmp_path / "sets", DOOR) == files_of(ERA, DOOR)
    assert pulled(hub) - before == {DOOR}  # a list fetches nothing


def test_what_minari_asks_a_bucket(lab):
    """The requests of its storage for buckets: all names, the metadata of each, then all that begins with an id."""
    hub, up = lab
    before, objects = pulled(hub), "/storage/v1/b/minari-datasets/o"
    for item in hub.get(objects).json()["items"]:
        if item["name"].endswith("/data/metadata.json"):
            with open(os.path.join(ERA, item["name"]), "rb") as f:
                assert hub.get(item["mediaLink"].removeprefix(hub.base)).body == f.read()
    assert pulled(hub) == before
    items = hub.get(f"{objects}?prefix={quote(TEXT)}").json()["items"]
    assert hub.get(items[0]["mediaLink"].removeprefix(hub.base)).status == 200
    insists = f"{objects}/dummy-combo%2Ftest-v0%2Fdata%2Fmain_data.hdf5?alt=media"  # on a checksum, which that upstream has not
    assert hub.get(insists, {"User-Agent": "gcloud-node-storage/7"}).status == 503
    until(lambda: hub.get(insists, {"User-Agent": "gcloud-node-storage/7"}).status == 200)
    until(lambda: hub.statuses()[TEXT] == "ready")  # in the middle of a download
    assert {i["name"]: hub.get(i["mediaLink"].removeprefix(hub.base)).body for i in items} == files_of(ERA, TEXT)
    assert pulled(hub) == before | {TEXT, "dummy-combo/test-v0"}


SNAPSHOT = """
import json, os, sys
import huggingface_hub as h
api, repo, kw = h.HfApi(), sys.argv[1], dict(repo_type="dataset")
files, sha = sorted(api.list_repo_files(repo, **kw)), api.dataset_info(repo).sha
sizes = {f.path: f.size for f in api.list_repo_tree(repo, recursive=True, **kw) if isinstance(f, h.hf_api.RepoFile)}
at = h.snapshot_download(repo, revision=sha, **kw)
one = h.hf_hub_download(repo, next(f for f in files if f.endswith(".hdf5")), revision=sha, force_download=True, **kw)
print(json.dumps([files, sizes, at, one, sha]))
"""


@pytest.mark.parametrize("name,repo", [("HUB_TEST_PYTHON", "dummy-infos"), ("HUB_TEST_PYTHON_HF", "dummy-options")])
def test_huggingface_hub(lab, tmp_path, name, repo):
    hub, up = lab
    python = sys.executable if name == "HUB_TEST_PYTHON" else os.environ.get(name)
    if not python:
        pytest.skip(name + " names no Python with a newer huggingface_hub")
    files, sizes, at, one, sha = run(python, SNAPSHOT, "farama-minari/" + repo, HF_ENDPOINT=hub.base, HF_HOME=str(tmp_path / "home"), HF_HUB_DISABLE_XET="1")
    want = {p.removeprefix(repo + "/"): d for p, d in files_of(ERA, repo).items() if "/data/" in p}
    assert [f for f in files if f != "namespace_metadata.json"] == sorted(want)
    assert {f: n for f, n in sizes.items() if f in want} == {p: len(d) for p, d in want.items()}
    for path, data in want.items():
        with open(os.path.join(at, path), "rb") as f:
            assert f.read() == data
    ids = {d["id"] for d in hub.datasets() if d["id"].startswith(repo + "/")}
    until(lambda: all(hub.statuses()[i] == "ready" for i in ids))
    now = hub.get(f"/api/datasets/farama-minari/{repo}").json()["sha"]
    assert now == sha and hub.get(f"/datasets/farama-minari/{repo}/resolve/{sha}/{sorted(want)[0]}").status == 200


OLDER = """
import json, minari
found = sorted(minari.list_remote_datasets())
minari.download_dataset("door-human-v1")
print(json.dumps([found, len(list(minari.load_dataset("door-human-v1").iterate_episodes()))]))
"""


def test_a_bucket_of_minari_0_4(tmp_path, monkeypatch):
    """And what is told of objects while nothing of them is here: sizes, digests, the metadata that Minari wrote."""
    names = ("door-human-v0", "door-human-v1", "dummy-text-v0")
    with Gcs() as up:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", up.url)
        for id in names:
            with h5py.File(os.path.join(OLD, id, "data", "main_data.hdf5")) as f:
                metadata = {k: str(v) for k, v in f.attrs.items()}
            for path, data in files_of(OLD, id).items():
                up.put(path, data, **({"metadata": metadata} if path.endswith("main_data.hdf5") else {}))
        with here(tmp_path, "gcp://lab", "new/=gcp://lab") as hub:
            until(lambda: len(hub.datasets()) == 2 * len(names))
            items = {i["name"]: i for i in hub.get("/storage/v1/b/minari-datasets/o").json()["items"]}
            for path in files_of(OLD, "door-human-v0"):
                item, there = items[path], up.objects[path][0]
                assert (item["size"], item["crc32c"]) == (there["size"], there["crc32c"]) and item["updated"].startswith(there["updated"][:23])
                assert item.get("metadata") == there.get("metadata") and items["new/" + path]["size"] == there["size"]
            assert hub.get("/storage/v1/b/minari-datasets/o?delimiter=/").json()["prefixes"] == sorted({n + "/" for n in names} | {"new/"})
            assert pulled(hub) == set()
            python = os.environ.get("HUB_TEST_PYTHON_043")
            if python:
                found, episodes = run(python, OLDER, STORAGE_EMULATOR_HOST=hub.base, MINARI_DATASETS_PATH=str(tmp_path / "sets"))
                assert found == sorted(names) and episodes == hub.dataset("door-human-v1")["episodes"]
                assert files_of(tmp_path / "sets", "door-human-v1") == files_of(OLD, "door-human-v1") and pulled(hub) == {"door-human-v1"}
            at = "new/door-human-v0/data/main_data.hdf5"
            data = files_of(OLD, "door-human-v0")[at[4:]]
            got = hub.get(f"/storage/v1/b/minari-datasets/o/{at.replace('/', '%2F')}?alt=media&generation={items[at]['generation']}")
            assert got.status == 200 and got.body == data and "crc32c=" in got.headers["X-Goog-Hash"]
            until(lambda: hub.statuses()["new/door-human-v0"] == "ready")
            assert hub.get(f"/storage/v1/b/minari-datasets/o/{at.replace('/', '%2F')}").json()["generation"] == items[at]["generation"]
            up.server.shutdown()
            up.server.server_close()
        with here(tmp_path, "gcp://lab", "new/=gcp://lab") as hub:  # what is here is listed, and the rest says why
            listed = {i["name"] for i in hub.get("/storage/v1/b/minari-datasets/o").json()["items"]}
            assert at in listed and "dummy-text-v0/data/main_data.hdf5" not in listed
            gone = hub.get("/storage/v1/b/minari-datasets/o/dummy-text-v0%2Fdata%2Fmain_data.hdf5?alt=media")
            assert gone.status == 503 and gone.json()["error"]["code"] == 503
