"""The hub as the hub of Hugging Face: huggingface_hub, the pinned one and the newest, lists, downloads and reads what lies on the disk."""
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, serving, until

NEWEST = os.environ.get("HUB_TEST_PYTHON_HF")
PYTHONS = [sys.executable, pytest.param(NEWEST, marks=pytest.mark.skipif(not NEWEST, reason="HUB_TEST_PYTHON_HF names no Python with a newer huggingface_hub"))]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("lab"))
    shutil.copytree(os.path.join(FIXTURES, "samples"), root, dirs_exist_ok=True)
    for name in ("arm-v21", "camera-v30"):
        shutil.copytree(os.path.join(FIXTURES, "lerobot", name), os.path.join(root, "lab", name))
    open(os.path.join(root, "lab", "arm-v21", "README.md"), "w").write("# arm\n")
    open(os.path.join(root, "lab", "arm-v21", "meta", "nothing.bin"), "w").close()
    with serving(root) as hub:
        yield hub, root


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(at, f), folder) for at, _, files in os.walk(folder) for f in files)


SCRIPT = """
import json, os, sys
import huggingface_hub as h
api, repo, folder = h.HfApi(), sys.argv[1], sys.argv[2]
kw = dict(repo_type="dataset")
out = {"repos": sorted(d.id for d in api.list_datasets()), "files": sorted(api.list_repo_files(repo, **kw))}
out["refs"] = [t.name for t in api.list_repo_refs(repo, **kw).tags]
info = api.dataset_info(repo, files_metadata=True)
out["sizes"] = {s.rfilename: s.size for s in info.siblings}
out["tree"] = sorted(type(x).__name__ + " " + x.path for x in api.list_repo_tree(repo, recursive=True, **kw))
out["top"] = [x.path for x in api.list_repo_tree(repo, **kw)]
out["some"] = [x.path for x in api.get_paths_info(repo, ["meta", "meta/info.json", "no such"], **kw)]
out["dates"] = [x.last_commit.oid == info.sha and x.last_commit.date.timestamp() for x in api.get_paths_info(repo, ["meta", "meta/info.json"], expand=True, **kw)]
out["dates"] += [x.last_commit.date.timestamp() for x in api.list_repo_tree(repo, "meta", expand=True, **kw) if x.path == "meta/info.json"]
assert [(c.commit_id, c.created_at) for c in api.list_repo_commits(repo, **kw)] == [(info.sha, info.last_modified)]
out["snapshot"] = h.snapshot_download(repo, **kw)
out["tagged"] = h.snapshot_download(repo, revision=out["refs"][0], allow_patterns="meta/*", local_dir=folder, **kw)
assert h.hf_hub_download(repo, "meta/info.json", revision=info.sha, **kw).startswith(out["snapshot"])
fs = h.HfFileSystem()
out["ls"] = sorted(fs.ls(f"datasets/{repo}", detail=False))
with fs.open(f"datasets/{repo}/meta/info.json") as f:
    f.seek(5)
    out["read"] = f.read(10).decode()
out["wrong"] = []
for bad in [dict(filename="nope"), dict(filename="meta/info.json", revision="v9"), dict(filename="meta/info.json", revision="0" * 40)]:
    try:
        h.hf_hub_download(repo, **bad, **kw)
    except Exception as e:
        out["wrong"].append(type(e).__name__)
for ask in (lambda: api.dataset_info("no/repo"), lambda: api.list_repo_files("no/repo", **kw)):
    try:
        ask()
    except Exception as e:
        out["wrong"].append(type(e).__name__)
os.environ["HF_HUB_OFFLINE"] = "1"
print(json.dumps(out))
"""


@pytest.mark.parametrize("python", PYTHONS, ids=["0.36", "newest"])
@pytest.mark.parametrize("name,tag", [("arm-v21", "v2.1"), ("camera-v30", "v3.0")])
def test_huggingface_hub(lab, tmp_path, python, name, tag):
    hub, root = lab
    folder = os.path.join(root, "lab", name)
    env = {**os.environ, "HF_ENDPOINT": hub.base, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_TELEMETRY": "1"}
    run = subprocess.run([python, "-c", SCRIPT, f"lab/{name}", str(tmp_path / "local")], env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-3000:]
    out, files = json.loads(run.stdout.splitlines()[-1]), files_of(folder)
    assert out["repos"] == ["farama-minari/D4RL", "farama-minari/pictures", "lab/arm-v21", "lab/camera-v30"]
    assert out["files"] == files and out["refs"] == [tag]
    assert out["sizes"] == {f: os.path.getsize(os.path.join(folder, f)) for f in files}
    folders = {os.path.dirname(f)[:n] for f in files for n in range(1, len(os.path.dirname(f)) + 1) if (os.path.dirname(f) + "/")[n] == "/"}
    assert out["tree"] == sorted([f"RepoFile {f}" for f in files] + [f"RepoFolder {f}" for f in folders])
    assert sorted(out["top"]) == sorted(os.listdir(folder)) == [n.split("/")[-1] for n in out["ls"]]
    assert sorted(out["some"]) == ["meta", "meta/info.json"]
    changed = [max(os.path.getmtime(os.path.join(folder, f)) for f in files)] + [os.path.getmtime(os.path.join(folder, "meta/info.json"))] * 2
    assert [round(a - b, 2) for a, b in zip(out["dates"], changed)] == [0, 0, 0]
    assert files_of(out["snapshot"]) == files
    for f in files:
        assert open(os.path.join(out["snapshot"], f), "rb").read() == open(os.path.join(folder, f), "rb").read()
    meta = [f for f in files if f.startswith("meta/")]
    assert [f for f in files_of(out["tagged"]) if not f.startswith(".cache")] == meta
    assert out["read"] == open(os.path.join(folder, "meta/info.json")).read()[5:15]
    assert [w.removeprefix("Remote") for w in out["wrong"]] == ["EntryNotFoundError", "RevisionNotFoundError", "RevisionNotFoundError",
                                                                "RepositoryNotFoundError", "RepositoryNotFoundError"]


MINARI = """
import json, minari, minari.namespace
found = sorted(minari.list_remote_datasets())
for name in found:
    minari.download_dataset(name)
print(json.dumps([found, sorted(minari.namespace.list_remote_namespaces()), {n: len(list(minari.load_dataset(n).iterate_episodes())) for n in found}]))
"""


def test_minari(lab, tmp_path):
    hub, root = lab
    env = {**os.environ, "HF_ENDPOINT": hub.base, "HF_HOME": str(tmp_path / "home"), "MINARI_REMOTE": "hf://farama-minari",
           "MINARI_DATASETS_PATH": str(tmp_path / "sets")}
    run = subprocess.run([sys.executable, "-c", MINARI], env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-3000:]
    found, spaces, episodes = json.loads(run.stdout.splitlines()[-1])
    assert found == ["D4RL/door/human-v2", "pictures/corridor-v0"] and spaces == ["D4RL", "D4RL/door", "pictures"]
    for name in found:
        assert episodes[name] == hub.dataset(name)["episodes"]
        at = f"{name}/data/main_data.hdf5"
        assert (tmp_path / "sets" / at).read_bytes() == open(os.path.join(root, at), "rb").read()


def test_our_own_remotes(lab, tmp_path):
    """minari-cli and a mirror rule take the hub for what it says it is: all bytes arrive, verified or not."""
    hub, root = lab
    env = {**os.environ, "HF_ENDPOINT": hub.base, "STORAGE_EMULATOR_HOST": hub.base, "MINARI_DATASETS_PATH": str(tmp_path / "sets"),
           "HOME": str(tmp_path)}
    cli = lambda *args: subprocess.run([os.path.join(BIN, "minari-cli"), *args], env=env, capture_output=True, text=True, timeout=60)  # noqa: E731
    for remote, name, at in [("hf://farama-minari", "D4RL/door/human-v2", "D4RL/door/human-v2"),
                             ("gcp://minari-datasets", "pictures/corridor-v0", "pictures/corridor-v0"),
                             ("hf://lab/arm-v21", "arm-v21", "lab/arm-v21")]:
        out = ["-o", str(tmp_path / "others")] if name == "arm-v21" else []
        run = cli("download", name, "--remote", remote, *out)
        assert run.returncode == 0, run.stderr
        got, files = str(tmp_path / ("others" if out else "sets") / name), files_of(os.path.join(root, at))
        assert set(files) <= set(files_of(got))
        for f in files:
            assert open(os.path.join(got, f), "rb").read() == open(os.path.join(root, at, f), "rb").read()
    with serving(str(tmp_path / "sets"), args=["--sweep", "1s"]) as copy:
        assert copy.dataset("D4RL/door/human-v2")["revision"]


def test_headers_of_a_file(lab):
    hub, root = lab
    at = "/datasets/lab/arm-v21/resolve/main/meta/info.json"
    data = open(os.path.join(root, "lab/arm-v21/meta/info.json"), "rb").read()
    head, got = hub.get(at, method="HEAD"), hub.get(at)
    assert got.body == data and head.headers["Content-Length"] == head.headers["X-Linked-Size"] == str(len(data))
    commit = hub.get("/api/datasets/lab/arm-v21").json()["sha"]
    assert head.headers["X-Repo-Commit"] == commit and len(commit) == 40
    assert hub.get(f"/datasets/lab/arm-v21/raw/{commit}/meta/info.json", {"Range": "bytes=2-5"}).body == data[2:6]
    missing = hub.get("/datasets/lab/arm-v21/resolve/main/nope", method="HEAD")
    assert (missing.status, missing.headers["X-Error-Code"], missing.headers["X-Repo-Commit"]) == (404, "EntryNotFound", commit)
    assert isinstance(hub.get("/datasets/lab/arm-v21/resolve/main/nope").json()["error"], str)
    assert hub.get("/api/datasets/lab/arm-v21/tree/main/meta/info.json").headers["X-Error-Code"] == "EntryNotFound"
    assert hub.get("/api/agent-harnesses").json()["error"] and hub.get("/api/telemetry/x").status == 404


def test_an_empty_file_has_all_that_is_asked_of_it(lab):
    """@huggingface/hub asks for bytes=0-0 of every file before it takes it."""
    hub, root = lab
    at = "/datasets/lab/arm-v21/resolve/main/meta/nothing.bin"
    for headers in ({}, {"Range": "bytes=0-0"}, {"Range": "bytes=0-"}, {"Range": "bytes=-5"}):
        answer = hub.get(at, headers)
        assert (answer.status, answer.body, answer.headers["Content-Length"]) == (200, b"", "0")
        assert answer.headers["X-Linked-Size"] == "0" and answer.headers["X-Linked-Etag"] and answer.headers["X-Repo-Commit"]
    assert hub.get(at, {"Range": "bytes=0-0"}).headers["Content-Range"] == "bytes */0"
    assert hub.get("/datasets/lab/arm-v21/resolve/main/README.md", {"Range": "bytes=6-"}).status == 416
    assert hub.get("/api/datasets/lab/arm-v21/commits/main?limit=1").headers["X-Total-Count"] == "1"


def test_lists_go_on(lab):
    hub, _ = lab
    url, seen = "/api/datasets?limit=1", []
    while url:
        answer = hub.get(url)
        seen += [d["id"] for d in answer.json()]
        link = answer.headers["Link"]
        url = link and link.split(">")[0][1 + len(hub.base):]
    assert seen == ["farama-minari/D4RL", "farama-minari/pictures", "lab/arm-v21", "lab/camera-v30"]
    assert [d["id"] for d in hub.get("/api/datasets?author=lab&search=CAM").json()] == ["lab/camera-v30"]


def ids(hub, query):
    url, seen = f"/api/datasets?{query}", []
    while url:
        answer = hub.get(url)
        seen += [d["id"] for d in answer.json()]
        link = answer.headers["Link"]
        url = link and link.split(">")[0][1 + len(hub.base):]
    return seen


def test_lists_are_filtered_and_sorted(tmp_path):
    for i, name in enumerate(("far/b-v0", "far/a-v0", "near/c-v0")):
        shutil.copytree(os.path.join(FIXTURES, "webdataset", "ilr-across"), tmp_path / name)
        for file in (tmp_path / name).iterdir():
            os.utime(file, (1700000000 + i // 2, 1700000000 + i // 2))
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v21"), tmp_path / "lab/arm")
    with serving(str(tmp_path)) as hub:
        every = ["far/a-v0", "far/b-v0", "lab/arm", "near/c-v0"]
        times = ["lab/arm", "near/c-v0", "far/a-v0", "far/b-v0"]
        assert ids(hub, "") == ids(hub, "sort=downloads") == ids(hub, "gated=False") == every
        for limit in ("", "&limit=1", "&limit=3"):
            assert ids(hub, "sort=lastModified" + limit) == ids(hub, "sort=createdAt&direction=-1" + limit) == times
            assert ids(hub, "sort=lastModified&direction=1" + limit) == times[::-1]
            assert ids(hub, "search=FAR&search=a-v" + limit) == ["far/a-v0"]
            assert ids(hub, "filter=LeRobot" + limit) == ["lab/arm"]
        assert ids(hub, "filter=LeRobot&filter=other") == ids(hub, "gated=True") == ids(hub, "search=far&search=near") == []
        assert hub.get("/api/datasets/lab/arm").json()["tags"] == ["LeRobot"] and hub.get("/api/datasets/far/a-v0").json()["tags"] == []


def test_what_is_said_again_is_the_same(tmp_path):
    """Pages of a tree and what is said of a repo are kept ready, with their headers, until something changes."""
    os.makedirs(tmp_path / "lab/many-v0")
    shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0", "data"), tmp_path / "lab/many-v0/data")
    for i in range(1001):
        (tmp_path / f"lab/many-v0/{i:04d}.txt").write_text(str(i))
    with serving(str(tmp_path)) as hub:
        for url in ("/api/datasets/farama-minari/lab/tree/main?recursive=true", "/api/datasets/farama-minari/lab/revision/main"):
            until(lambda: hub.get(url).body == hub.get(url).body)  # digests become known meanwhile
            first, again = hub.get(url), hub.get(url)
            assert again.body == first.body and all(again.headers[h] == first.headers[h] for h in ("Link", "X-Repo-Commit", "Content-Type"))
            assert ("tree" not in url) or first.headers["Link"].startswith(f"<{hub.base}/api/")
            other = hub.get(url, {"Host": "another.name:81"})
            assert other.status == 400 or other.headers["Link"] is None or "another.name:81" in other.headers["Link"]
        commit = first.headers["X-Repo-Commit"]
        (tmp_path / "lab/many-v0/more.txt").write_text("more")
        until(lambda: hub.get(url).headers["X-Repo-Commit"] != commit)
        assert any(s["rfilename"].endswith("more.txt") for s in hub.get(url).json()["siblings"])


def test_a_tree_of_several_pages_says_each_folder_once(tmp_path):
    for i in range(1100):
        os.makedirs(tmp_path / f"lab/many/{i // 300}/in", exist_ok=True)
        (tmp_path / f"lab/many/{i // 300}/in/{i:04d}.txt").write_text(str(i))
    with serving(str(tmp_path)) as hub:
        url, seen, pages = "/api/datasets/farama-minari/lab/tree/main?recursive=true", [], 0
        while url:
            answer = hub.get(url)
            seen += [e["path"] for e in answer.json()]
            link, pages = answer.headers["Link"], pages + 1
            url = link and link.split(">")[0][1 + len(hub.base):]
    assert pages == 2 and len(set(seen)) == len(seen) == 1100 + 9


def test_revisions_by_their_other_names(lab):
    hub, _ = lab
    refs = hub.get("/api/datasets/lab/arm-v21/refs").json()
    commit = refs["branches"][0]["targetCommit"]
    for rev in [commit, commit[:7], commit[:39], *(r["ref"].replace("/", "%2F") for kind in ("branches", "tags") for r in refs[kind])]:
        assert hub.get(f"/api/datasets/lab/arm-v21/revision/{rev}").json()["sha"] == commit
        assert hub.get(f"/datasets/lab/arm-v21/resolve/{rev}/README.md").headers["X-Repo-Commit"] == commit
    for rev in (commit[:6], commit + "0", "refs%2Fheads%2Fv2.1", "refs%2Ftags%2Fv9", "refs%2Fconvert%2Fparquet", "refs%2Fpr%2F1", commit[:7].upper() + "g"):
        assert hub.get(f"/datasets/lab/arm-v21/resolve/{rev}/README.md").headers["X-Error-Code"] == "RevisionNotFound"


def test_a_folder_may_be_named_with_a_slash_at_its_end(lab):
    hub, _ = lab
    at = "/api/datasets/lab/arm-v21/tree/main"
    wanted = hub.get(at + "/data/chunk-000?recursive=true").json()
    assert wanted and hub.get(at + "/data%2Fchunk-000%2F?recursive=true").json() == wanted
    assert hub.get(at + "/README.md%2F").headers["X-Error-Code"] == hub.get(at + "/none%2F").headers["X-Error-Code"] == "EntryNotFound"
    asked = json.dumps({"paths": ["meta/", "meta", "README.md", "README.md/", "/"]}).encode()
    with urllib.request.urlopen(urllib.request.Request(hub.base + "/api/datasets/lab/arm-v21/paths-info/main", asked, {"Content-Type": "application/json"})) as answer:
        found = json.load(answer)
    assert [f["path"] for f in found] == ["meta", "meta", "README.md"]
    for path in ("/api/v1/datasets/", "/d/"):  # where none is called so
        assert hub.get(path + "lab/arm-v21%2F").status == hub.get(path + "lab/arm-v21/files/README.md%2F").status == hub.get(path + "lab/arm-v21/episodes/0%2F").status == 404
    assert hub.get("/datasets/lab/arm-v21/resolve/main/README.md%2F").headers["X-Error-Code"] == "EntryNotFound"


def test_a_changed_repo_is_another_commit(lab):
    hub, root = lab
    before = hub.get("/api/datasets/lab/arm-v21").json()["sha"]
    with open(os.path.join(root, "lab/arm-v21/README.md"), "a") as f:
        f.write("more\n")
    until(lambda: hub.get("/api/datasets/lab/arm-v21").json()["sha"] != before)
    after = hub.get("/api/datasets/lab/arm-v21").json()["sha"]
    gone = hub.get(f"/datasets/lab/arm-v21/resolve/{before}/README.md")
    assert after != before and (gone.status, gone.headers["X-Error-Code"]) == (404, "RevisionNotFound")
    assert hub.get(f"/datasets/lab/arm-v21/resolve/{after}/README.md").body == b"# arm\nmore\n"


@pytest.mark.parametrize("path, size, status", [
    ("/api/datasets/a/b/commit/main", 10_000_000, 401), ("/api/models/a/b/paths-info/main", 500_000, 404),
    ("/api/datasets/a/b/paths-info/main", 10_000_000, 413)])
def test_what_no_body_changes_is_said_before_it_comes(lab, path, size, status):
    with socket.create_connection(("127.0.0.1", lab[0].port), 60) as sock:
        sock.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: sock.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 %d " % status) and b"Connection: close" in answer, answer
