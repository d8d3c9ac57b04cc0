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
        assert {"lab/arm", "lab/door"} <= {r["id"] for r in hub.get("/api/datasets?limit=100").json()}
        assert hub.get("/api/datasets/lab/door").json()["sha"] == COMMITS["old"]
        assert hub.get("/api/datasets/lab/arm").json()["sha"] == COMMITS["main"]
        assert hub.get(f"/api/datasets/lab/arm/revision/{COMMITS['main']}").status == 200
        assert hub.get(f"/api/datasets/lab/arm/revision/{'d' * 40}").status == 404
        with open(os.path.join(ARM, "meta", "tasks.jsonl"), "rb") as f:
            assert hub.get("/datasets/lab/arm/resolve/main/meta/tasks.jsonl").body == f.read()
        assert hub.get("/minari-datasets/lab/door/data/main_data.hdf5").status == 200


def ready(hub, url):
    """An answer that may have to wait for the inspection of its dataset."""
    until(lambda: hub.get(url).status not in (202, 503))
    return hub.get(url)


@pytest.mark.parametrize("at", ["", "hub"])
def test_other_commits_are_read_by_their_revision(cache, at):
    """Lists have what main names alone; the other snapshots answer to their commit, the start of it, or a ref."""
    write(cache, "hub/datasets--lab--arm/refs/v1.0", COMMITS["old"])
    write(cache, "hub/datasets--lab--arm/refs/refs/pr/1", COMMITS["next"])
    old = os.path.join(cache, "hub", "datasets--lab--arm", "snapshots", COMMITS["old"])
    os.unlink(os.path.join(old, "meta", "info.json"))
    info = open(os.path.join(ARM, "meta", "info.json"), encoding="utf-8").read()
    write(old, "meta/info.json", info.replace('"robot_type": "', '"robot_type": "older-'))
    with Hub([os.path.join(cache, at)]) as hub:
        hub.wait_indexed()
        api, episodes = "/api/v1/datasets/lab/arm", hub.episodes("lab/arm")
        now = hub.dataset("lab/arm")
        files = {f["path"] for f in hub.get(f"{api}/files?limit=1000").json()["items"]}
        for revision in (COMMITS["old"], COMMITS["old"][:7], "v1.0"):
            then = ready(hub, f"{api}?revision={revision}")
            assert then.status == 200 and "immutable" not in then.headers["Cache-Control"], then.body
            assert then.json()["id"] == "lab/arm@" + COMMITS["old"] and then.json()["revision"] != now["revision"]
            assert {f["path"] for f in hub.get(f"{api}/files?limit=1000&revision={revision}").json()["items"]} == files - {"meta/tasks.jsonl"}
            assert b"older-" in hub.get(f"{api}/files/meta/info.json?revision={revision}").body
            assert hub.get(f"{api}/files/meta/tasks.jsonl?revision={revision}").status == 404
            assert len(hub.get(f"{api}/episodes?revision={revision}").json()["items"]) == len(episodes)
            for what in ("episodes/0/action?format=npy", "rows?fields=action&format=npz"):
                there = hub.get(f"{api}/{what}&revision={revision}")
                assert there.status == 200 and there.body == hub.get(f"{api}/{what}").body, there.body
        assert ready(hub, f"{api}?revision=refs/pr/1").json()["id"] == "lab/arm@" + COMMITS["next"]
        assert hub.get(f"{api}?revision={COMMITS['main']}").json()["id"] == "lab/arm" == hub.get(f"{api}?revision=main").json()["id"]
        assert hub.get(f"{api}?revision={now['revision']}").json()["id"] == "lab/arm"
        assert hub.get(f"{api}?revision={'d' * 40}").status == 410 and hub.get(f"{api}?revision=v9").status == 400
        assert hub.get(f"{api}?revision=../../../../token").status == 400
        # no list has them
        assert not [d["id"] for d in hub.datasets() if "@" in d["id"]] and b"@" not in hub.get("/api/datasets?limit=100").body
        for url in ("/storage/v1/b/minari-datasets/o", "/minari-datasets/?list-type=2", "/api/v1/datasets?q=arm", "/api/v1/health"):
            assert COMMITS["old"].encode() not in hub.get(url).body, url
        # Hugging Face's protocol
        for revision in (COMMITS["old"], "v1.0"):
            repo = hub.get(f"/api/datasets/lab/arm/revision/{revision}")
            assert repo.json()["sha"] == COMMITS["old"] == repo.headers["X-Repo-Commit"]
            assert {f["rfilename"] for f in repo.json()["siblings"]} == files - {"meta/tasks.jsonl"}
            assert {f["path"] for f in hub.get(f"/api/datasets/lab/arm/tree/{revision}?recursive=1").json() if f["type"] == "file"} == files - {"meta/tasks.jsonl"}
            answer = hub.get(f"/datasets/lab/arm/resolve/{revision}/meta/info.json")
            assert b"older-" in answer.body and answer.headers["X-Repo-Commit"] == COMMITS["old"]
            assert hub.get(f"/datasets/lab/arm/resolve/{revision}/meta/tasks.jsonl").status == 404
        assert hub.get("/datasets/lab/arm/resolve/refs%2Fpr%2F1/meta/info.json").body == info.encode()


def test_what_main_names_is_followed(cache):
    with Hub([cache]) as hub:
        hub.wait_indexed()
        assert hub.get("/api/datasets/lab/arm").json()["sha"] == COMMITS["main"]
        name_main(cache, "datasets--lab--arm", COMMITS["next"])
        until(lambda: hub.get("/api/datasets/lab/arm").json()["sha"] == COMMITS["next"])
        was = ready(hub, f"/api/v1/datasets/lab/arm?revision={COMMITS['main']}")
        assert was.status == 200 and was.json()["id"] == "lab/arm@" + COMMITS["main"]


@pytest.mark.parametrize("author", ["farama-minari", "lab"])
def test_namespaces_of_minari_are_repos_by_their_names(tmp_path, author):
    root = str(tmp_path / "huggingface")
    put(root, f"datasets--{author}--D4RL", COMMITS["main"], os.path.join(FIXTURES, "samples", "D4RL"))
    name_main(root, f"datasets--{author}--D4RL", COMMITS["main"])
    shutil.copytree(os.path.join(FIXTURES, "samples", "pictures"), os.path.join(root, "pictures"), copy_function=shutil.copyfile)
    with Hub([root]) as hub:
        hub.wait_indexed()
        assert {r["id"] for r in hub.get("/api/datasets").json()} == {f"{author}/D4RL", "farama-minari/pictures"}
        assert f"{author}/D4RL" in {r["id"] for r in hub.get(f"/api/datasets?author={author}").json()}
        assert hub.get(f"/api/datasets/{author}/D4RL").json()["sha"] == COMMITS["main"]
        names = [f["path"] for f in hub.get(f"/api/datasets/{author}/D4RL/tree/main?recursive=1").json()]
        assert "door/human-v2/data/metadata.json" in names
        assert hub.get(f"/datasets/{author}/D4RL/resolve/main/door/human-v2/data/metadata.json").status == 200
        space = hub.get(f"/datasets/{author}/D4RL/resolve/main/namespace_metadata.json").json()  # by it Python Minari finds what to download
        assert space == {"datasets": ["D4RL/door/human-v2"], "namespaces": ["D4RL/door"], "description": "Datasets in the layout of D4RL."}


def test_huggingface_hub_reads_one_cache_into_another(cache, tmp_path):
    script = "import sys, huggingface_hub as h; print(h.snapshot_download('lab/arm', repo_type='dataset', cache_dir=sys.argv[1]))"
    with Hub([cache]) as hub:
        hub.wait_indexed()
        to = str(tmp_path / "again")
        ran = subprocess.run([sys.executable, "-c", script, to], capture_output=True, env={**os.environ, "HF_ENDPOINT": hub.base, "HF_HUB_DISABLE_TELEMETRY": "1"})
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.decode().strip() == os.path.join(to, "datasets--lab--arm", "snapshots", COMMITS["main"])
