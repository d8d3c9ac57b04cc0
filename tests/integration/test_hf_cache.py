"""The cache of huggingface_hub as a root: its login is served to nobody, its repos are datasets by their names."""
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, Hub, quote, until

SECRETS = {"token": "hf_AAAAsecret", "stored_tokens": "[lab]\nhf_token = hf_AAAAsecret\n", "lab/arm/token": "hf_AAAAsecret", "lab/arm/notes.txt": "kept"}
ARM = os.path.join(FIXTURES, "lerobot", "arm-v21")
DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")


def write(root, path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
    with open(os.path.join(root, path), "w") as f:
        f.write(text)


def test_a_login_is_served_by_no_protocol(tmp_path):
    root = str(tmp_path)
    shutil.copytree(DOOR, os.path.join(root, "lab", "arm"), copy_function=shutil.copyfile)
    for path, text in SECRETS.items():
        write(root, path, text)
    write(root, "hub/models--x/blobs/README.md", "x")
    with Hub([root]) as hub:
        hub.wait_indexed()
        listed = [(d["id"], f["path"]) for d in hub.datasets() for f in hub.get(f"/api/v1/datasets/{quote(d['id'])}/files").json()["items"]]
        assert ("lab/arm", "notes.txt") in listed and not [f for _, f in listed if "token" in f]
        for id, path in [("root-files", "token"), ("root-files", "stored_tokens"), ("lab/arm", "token")]:
            assert hub.get(f"/api/v1/datasets/{id}/files/{path}").status == 404
        for url in ("token", "stored_tokens", "lab/arm/token"):
            assert hub.get(f"/minari-datasets/{url}").status == 404
            assert hub.get(f"/storage/v1/b/minari-datasets/o/{url.replace('/', '%2F')}?alt=media").status == 404
        assert hub.get("/datasets/lab/arm/resolve/main/token").status == 404
        for url in ("/storage/v1/b/minari-datasets/o", "/minari-datasets/?list-type=2", "/api/datasets/lab/arm/tree/main?recursive=1"):
            answer = hub.get(url)
            assert answer.status == 200 and b"token" not in answer.body, url
        for id in ("lab/arm", "root-files"):
            archive = hub.get(f"/api/v1/datasets/{id}/archive.tar")
            assert b"secret" not in archive.body
            if archive.status == 200:
                assert not [m.name for m in tarfile.open(fileobj=io.BytesIO(archive.body)) if "token" in m.name]
        told = {(p["dataset"], p.get("path")) for p in hub.get("/api/v1/problems?limit=1000").json()["items"] if p["code"] == "credentials-withheld"}
        assert told == {("root-files", "token"), ("root-files", "stored_tokens"), ("lab/arm", "token")}


COMMITS = {"old": "a" * 40, "main": "b" * 40, "next": "c" * 40}


def put(cache, repo, commit, folder):
    """As huggingface_hub stores a snapshot: links to blobs, which are called by their digests."""
    for path, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(path, name), "rb") as f:
                data = f.read()
            blob = os.path.join(cache, "hub", repo, "blobs", hashlib.sha256(data).hexdigest())
            link = os.path.join(cache, "hub", repo, "snapshots", commit, os.path.relpath(os.path.join(path, name), folder))
            os.makedirs(os.path.dirname(blob), exist_ok=True)
            os.makedirs(os.path.dirname(link), exist_ok=True)
            with open(blob, "wb") as f:
                f.write(data)
            os.symlink(os.path.relpath(blob, os.path.dirname(link)), link)


def name_main(cache, repo, commit):
    write(cache, f"hub/{repo}/refs/main", commit)


@pytest.fixture
def cache(tmp_path):
    root = str(tmp_path / "huggingface")
    for commit in COMMITS.values():
        put(root, "datasets--lab--arm", commit, ARM)
    os.unlink(os.path.join(root, "hub", "datasets--lab--arm", "snapshots", COMMITS["old"], "meta", "tasks.jsonl"))
    name_main(root, "datasets--lab--arm", COMMITS["main"])
    put(root, "datasets--lab--door", COMMITS["old"], DOOR)  # without a ref: fetched by its commit
    write(root, "hub/datasets--lab--none/blobs/0a.incomplete", "x")
    write(str(tmp_path), "net/config.json", "{}")
    put(root, "models--lab--net", COMMITS["main"], str(tmp_path / "net"))
    name_main(root, "models--lab--net", COMMITS["main"])
    write(root, "hub/version.txt", "1")
    write(root, "token", "hf_AAAAsecret")
    return root


@pytest.mark.parametrize("at", ["", "hub"])
def test_a_repo_of_the_cache_is_one_dataset(cache, at):
    with Hub([os.path.join(cache, at)]) as hub:
        hub.wait_indexed()
        found = {d["id"]: d["format"] for d in hub.datasets()}
        loose = {"root-files": "files"} if at else {"hub": "files", "root-files": "files"}
        assert found == {"lab/arm": "lerobot", "lab/door": "minari-hdf5", "models--lab--net": "files", **loose}
        assert hub.dataset("lab/arm")["status"] == "ready"
        assert len(hub.episodes("lab/arm")) == hub.dataset("lab/arm")["episodes"] > 0
        assert "lab/arm" in {r["id"] for r in hub.get("/api/datasets?limit=100").json()}  # those of Minari are listed by namespace
        assert hub.get("/api/datasets/lab/door").json()["sha"] == COMMITS["old"]
        assert hub.get("/api/datasets/lab/arm").json()["sha"] == COMMITS["main"]
        assert hub.get(f"/api/datasets/lab/arm/revision/{COMMITS['main']}").status == 200
        assert hub.get(f"/api/datasets/lab/arm/revision/{COMMITS['old']}").status == 404
        with open(os.path.join(ARM, "meta", "tasks.jsonl"), "rb") as f:
            assert hub.get("/datasets/lab/arm/resolve/main/meta/tasks.jsonl").body == f.read()
        assert hub.get("/minari-datasets/lab/door/data/main_data.hdf5").status == 200


def test_what_main_names_is_followed(cache):
    with Hub([cache]) as hub:
        hub.wait_indexed()
        assert hub.get("/api/datasets/lab/arm").json()["sha"] == COMMITS["main"]
        name_main(cache, "datasets--lab--arm", COMMITS["next"])
        until(lambda: hub.get("/api/datasets/lab/arm").json()["sha"] == COMMITS["next"])


def test_huggingface_hub_reads_one_cache_into_another(cache, tmp_path):
    script = "import sys, huggingface_hub as h; print(h.snapshot_download('lab/arm', repo_type='dataset', cache_dir=sys.argv[1]))"
    with Hub([cache]) as hub:
        hub.wait_indexed()
        to = str(tmp_path / "again")
        ran = subprocess.run([sys.executable, "-c", script, to], capture_output=True, env={**os.environ, "HF_ENDPOINT": hub.base, "HF_HUB_DISABLE_TELEMETRY": "1"})
        if b"No module named" in ran.stderr:
            pytest.skip("huggingface_hub is not installed")
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.decode().strip() == os.path.join(to, "datasets--lab--arm", "snapshots", COMMITS["main"])
