"""The hub as Google Cloud Storage: its JSON API against what lies on the disk, and Minari 0.4.3, which knows nothing else."""
import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, quote, serving


def names_below(folder, prefix=""):
    out = []
    for at, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if not f.startswith(".")]
        out += [prefix + os.path.relpath(os.path.join(at, f), folder) for f in files if not f.startswith(".")]
    return sorted(n for n in out if not n.endswith("namespace_metadata.json"))


SPACES = [f"{n}/namespace_metadata.json" for n in ("D4RL", "D4RL/door", "pictures")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    top = tmp_path_factory.mktemp("lab")
    root, other = str(top / "root"), str(top / "other")
    shutil.copytree(os.path.join(FIXTURES, "samples"), root)
    shutil.copytree(os.path.join(FIXTURES, "robomimic"), other)
    open(os.path.join(root, "D4RL", "door", "notes.txt"), "w").write("beside a dataset")  # before and behind it
    open(os.path.join(root, "door-human-v0-x"), "w").write("a name between")
    open(os.path.join(root, "D4RL", "a b+c%.bin"), "wb").write(b"x" * 70000)
    names = names_below(root) + names_below(other, "rm/") + SPACES
    with serving(root, f"rm={other}") as hub:
        yield hub, root, other, sorted(names, key=lambda n: n.encode())


def listing(hub, bucket="minari-datasets", **query):
    from urllib.parse import urlencode

    answer = hub.get(f"/storage/v1/b/{bucket}/o?{urlencode(query)}")
    assert answer.status == 200, answer.body
    return answer.json()


def pages(hub, **query):
    items, prefixes, token = [], [], None
    while True:
        page = listing(hub, **query, **({"pageToken": token} if token else {}))
        assert len(page.get("items", [])) + len(page.get("prefixes", [])) <= query.get("maxResults", 1000)
        items += [i["name"] for i in page.get("items", [])]
        prefixes += page.get("prefixes", [])
        token = page.get("nextPageToken")
        if not token:
            return items, prefixes


@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_all_names_in_order(lab, most):
    hub, _, _, names = lab
    assert pages(hub, maxResults=most) == (names, [])


@pytest.mark.parametrize("prefix", ["", "D4RL/", "D4RL", "D4RL/door/", "door-human-v0", "door-human-v0/", "rm/", "nothing"])
@pytest.mark.parametrize("most", [1, 1000])
def test_folders(lab, prefix, most):
    hub, _, _, names = lab
    rest = [n[len(prefix):] for n in names if n.startswith(prefix)]
    items = [prefix + n for n in rest if "/" not in n]
    folders = sorted({prefix + n.split("/")[0] + "/" for n in rest if "/" in n})
    assert pages(hub, prefix=prefix, delimiter="/", maxResults=most) == (items, folders)


def test_offsets_and_globs(lab):
    hub, _, _, names = lab
    start, end = names[2], names[7]
    assert pages(hub, startOffset=start, endOffset=end)[0] == names[2:7]
    assert pages(hub, startOffset=start + "!", prefix="rm/")[0] == [n for n in names if n.startswith("rm/")]
    assert pages(hub, matchGlob="**.hdf5")[0] == [n for n in names if n.endswith(".hdf5")]


def test_a_root_and_a_folder_are_buckets(lab):
    hub, _, other, names = lab
    assert [i["name"] for i in listing(hub, "rm")["items"]] == names_below(other)
    assert listing(hub, "D4RL", delimiter="/")["prefixes"] == ["door/"]
    kept = {b["name"] for b in hub.get("/storage/v1/b?project=x").json()["items"]}
    assert kept == {"minari-datasets", "rm"}
    assert hub.get("/b/rm").json()["name"] == "rm"


def test_bytes_ranges_and_conditions(lab):
    hub, root, _, names = lab
    for item in listing(hub)["items"]:
        if item["name"].startswith("rm/") or item["name"] in SPACES:
            continue
        data = open(os.path.join(root, item["name"]), "rb").read()
        assert int(item["size"]) == len(data) and item["generation"].isdigit() and item["metageneration"] == "1"
        link = item["mediaLink"]
        assert link.startswith(hub.base)
        got = hub.get(link[len(hub.base):])
        assert got.status == 200 and got.body == data
        assert got.headers["X-Goog-Generation"] == item["generation"] and int(got.headers["X-Goog-Stored-Content-Length"]) == len(data)
        at = f"/storage/v1/b/minari-datasets/o/{item['name'].replace('%', '%25').replace('/', '%2F').replace(' ', '%20').replace('+', '%2B')}"
        assert hub.get(at).json()["name"] == item["name"]
        part = hub.get(at + "?alt=media", {"Range": "bytes=1-4"})
        assert part.status == 206 and part.body == data[1:5]
        assert hub.get(at + "?alt=media", {"Range": f"bytes={len(data)}-"}).status == 416
        assert hub.get(at + "?generation=5").status == 404
        assert hub.get(at + f"?ifGenerationMatch=5").status == 412
        assert hub.get(at + f"?ifGenerationNotMatch={item['generation']}").status == 304
        hashed = hub.get(at).json()
        if "md5Hash" in hashed:
            assert base64.b64decode(hashed["md5Hash"]) == hashlib.md5(data).digest()


def test_namespaces_name_what_is_in_them(lab):
    """What lies in the folder, and the ids by which Python Minari finds all that is below."""
    hub, root, *_ = lab
    stored = json.load(open(os.path.join(root, "D4RL/door/namespace_metadata.json")))
    at = "/storage/v1/b/minari-datasets/o/D4RL%2Fdoor%2Fnamespace_metadata.json"
    item, got = hub.get(at).json(), hub.get(at + "?alt=media")
    assert json.loads(got.body) == {**stored, "datasets": ["D4RL/door/human-v2"], "namespaces": []}
    assert int(item["size"]) == len(got.body) and base64.b64decode(item["md5Hash"]) == hashlib.md5(got.body).digest()
    assert hub.get(at + "?alt=media", {"Range": "bytes=3-9"}).body == got.body[3:10]
    assert hub.get(at + "?alt=media", {"If-None-Match": got.headers["ETag"]}).status == 304
    top = json.loads(hub.get("/b/D4RL/o/namespace_metadata.json?alt=media").body)
    assert (top["datasets"], top["namespaces"]) == (["D4RL/door/human-v2"], ["D4RL/door"])


def test_what_is_wrong_is_said_as_google_says_it(lab):
    hub = lab[0]
    for method, path, status in [("GET", "/storage/v1/b/nope/o", 404), ("GET", "/storage/v1/b/minari-datasets/o/nope", 404),
                                 ("GET", "/storage/v1/b/nope", 404), ("GET", "/storage/v2", 404), ("GET", "/upload/x", 404),
                                 ("DELETE", "/storage/v1/b/minari-datasets/o/x", 405), ("GET", "/b/rm/o?pageToken=%21", 400),
                                 ("GET", "/b/rm/o?maxResults=x", 400)]:
        answer = hub.get(path, method=method)
        assert answer.status == status, path
        error = answer.json()["error"]
        assert error["code"] == status and error["errors"][0]["reason"] and error["message"]


SCRIPT = """
import json, sys, minari
remote = minari.list_remote_datasets()
done = {}
for name in remote:
    minari.download_dataset(name)
    done[name] = [minari.load_dataset(name).total_episodes, len(list(minari.load_dataset(name).iterate_episodes()))]
print(json.dumps([minari.__version__, done]))
"""


def test_minari_0_4(lab, tmp_path):
    hub, root, *_ = lab
    python = os.environ.get("HUB_TEST_PYTHON_043")
    if not python:
        pytest.skip("HUB_TEST_PYTHON_043 names no interpreter with Minari 0.4.3")
    env = {**os.environ, "STORAGE_EMULATOR_HOST": hub.base, "MINARI_DATASETS_PATH": str(tmp_path)}
    run = subprocess.run([python, "-c", SCRIPT], env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    version, done = json.loads(run.stdout.splitlines()[-1])
    assert version == "0.4.3" and done == {"door-human-v0": [12, 12], "mission-text-v0": [3, 3]}
    for name in done:
        at = f"{name}/data/main_data.hdf5"
        assert (tmp_path / at).read_bytes() == open(os.path.join(root, at), "rb").read()
