"""Stock clients of Hugging Face push, unchanged: what the hub has then is what they sent, and what another client brings back."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import FIXTURES, HERE, Lab
from hub import Hub, serving, until
from test_access_twins import run

ARM, DOOR = os.path.join(FIXTURES, "lerobot", "arm-v30"), os.path.join(FIXTURES, "samples", "D4RL", "door", "human-v2")
VERSIONS = [("minari-0.5.1", "0.27"), ("minari-0.5.3", "0.36"), ("huggingface-1", "1"), ("minari-0.5.4", "2")]

# what LeRobot's push_to_hub calls, and what others do with one repo
PUSH = """
import os, pathlib, tempfile, huggingface_hub as h
from huggingface_hub import CommitOperationAdd as Add, CommitOperationCopy as Copy, CommitOperationDelete as Delete
api, folder, repo, kw = h.HfApi(), pathlib.Path(sys.argv[1]), "lab/arm-v30", {"repo_type": "dataset"}
out = {"who": api.whoami()["name"]}
want = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
names = lambda revision=None: set(api.list_repo_files(repo, revision=revision, **kw))
api.create_repo(repo, private=False, exist_ok=True, **kw)
api.create_repo(repo, private=False, exist_ok=True, **kw)
first = api.upload_folder(repo_id=repo, folder_path=folder, ignore_patterns=["images/"], **kw)
assert api.repo_info(repo, **kw).sha == first.oid and names() == set(want)
api.upload_file(path_or_fileobj=b"---\\nlicense: mit\\n---\\n# An arm\\n", path_in_repo="README.md", repo_id=repo, **kw)
try:
    api.delete_tag(repo, tag="v3.0", **kw)
    out["had"] = True
except h.utils.RevisionNotFoundError:
    out["had"] = False
api.create_tag(repo, tag="v3.0", **kw)
out["tags"] = [t.name for t in api.list_repo_refs(repo, **kw).tags]
head = api.repo_info(repo, **kw).sha
api.upload_folder(repo_id=repo, folder_path=folder, **kw)
assert api.repo_info(repo, **kw).sha == head, "nothing changed"
one = next(n for n in want if n.endswith(".parquet"))
more = api.create_commit(repo, [Copy(one, "copy/of.parquet"), Add("notes/a.txt", b"a"), Add("notes/b.bin", b"b" * 300000)], commit_message="more", parent_commit=head, **kw)
assert open(h.hf_hub_download(repo, "copy/of.parquet", revision=more.oid, **kw), "rb").read() == want[one].read_bytes()
api.create_commit(repo, [Delete("copy/"), Delete("notes/a.txt")], commit_message="less", **kw)
assert names() == set(want) | {"README.md", "notes/b.bin"}
try:
    api.create_commit(repo, [Add("z.txt", b"z")], commit_message="late", parent_commit=head, **kw)
except h.utils.HfHubHTTPError as e:
    out["late"] = e.response.status_code
notes = pathlib.Path(tempfile.mkdtemp())
(notes / "c.txt").write_text("c")
api.upload_folder(repo_id=repo, folder_path=notes, path_in_repo="notes", delete_patterns="*", **kw)
assert names() == set(want) | {"README.md", "notes/c.txt"}
api.create_branch(repo, branch="dev", **kw)
api.upload_file(path_or_fileobj=b"dev", path_in_repo="dev.txt", repo_id=repo, revision="dev", **kw)
assert "dev.txt" in names("dev") and "dev.txt" not in names()
api.delete_branch(repo, branch="dev", **kw)
api.delete_folder("notes", repo, **kw)
out["commits"] = [c.title for c in api.list_repo_commits(repo, **kw)][-2:]
refusals = {"elsewhere": lambda: api.create_repo("other/arm", **kw), "model": lambda: api.create_repo("lab/m", repo_type="model"),
            "pull": lambda: api.create_commit(repo, [Add("z.txt", b"z")], commit_message="z", create_pr=True, **kw)}
for name, call in refusals.items():
    try:
        call()
    except h.utils.HfHubHTTPError as e:
        out[name] = [e.response.status_code, str(e)]
print(json.dumps(out))
"""

BRING = """
import huggingface_hub as h
print(json.dumps(h.snapshot_download("lab/arm-v30", repo_type="dataset", revision=sys.argv[1] or None, ignore_patterns="README.md")))
"""


@pytest.fixture
def hub(tmp_path):
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir()
    state.mkdir(mode=0o700)
    token = run(str(state), "token", "add", "ann", "--write", "lab/")
    with Hub([str(root)], state=str(state)) as hub:
        hub.wait_ready()
        hub.checker, hub.token, hub.root = None, token, root
        yield hub


def where(hub, folder, **more):
    return {"HF_ENDPOINT": hub.base, "HF_TOKEN": hub.token, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1", **more}


def is_ready(hub, id):
    until(lambda: hub.statuses().get(id) == "ready")


def rows(hub, id, fields="action"):
    return hub.get(f"/api/v1/datasets/{id}/episodes/0?fields={fields}").json()


@pytest.mark.parametrize("venv", [v for v, _ in VERSIONS], ids=[i for _, i in VERSIONS])
def test_a_recording_is_pushed(hub, clients, tmp_path, venv):
    out = clients.python(venv, ["huggingface_hub"], PUSH, ARM, env=where(hub, tmp_path))
    assert out["who"] == "ann" and not out["had"] and out["tags"] == ["v3.0"] and out["late"] == 412
    assert out["commits"][0].startswith("Upload folder") and out["elsewhere"][0] == out["model"][0] == out["pull"][0] == 403
    assert "pull requests" in out["pull"][1] and "datasets alone" in out["model"][1]
    is_ready(hub, "lab/arm-v30")
    with serving(os.path.dirname(ARM)) as other:
        until(lambda: rows(hub, "lab/arm-v30") == rows(other, "arm-v30"))
    for revision in ("", "v3.0"):
        Lab(ARM).files_equal(clients.python(venv, ["huggingface_hub"], BRING, revision, env=where(hub, tmp_path / "other")))


@pytest.mark.parametrize("venv, command", [("minari-0.5.3", "hf"), ("huggingface-1", "hf"), ("minari-0.5.4", "hf")], ids=["0.36", "1", "2"])
def test_its_command(hub, clients, tmp_path, venv, command):
    folder = os.environ.get("HUB_CLIENTS", os.path.join(HERE, "..", "..", "build", "conformance"))
    clients.run(os.path.join(folder, venv, "bin", command), "upload", "--repo-type", "dataset", "lab/arm-v30", ARM, ".", env=where(hub, tmp_path))
    is_ready(hub, "lab/arm-v30")
    Lab(ARM).files_equal(clients.python(venv, ["huggingface_hub"], BRING, "", env=where(hub, tmp_path / "other")))


BROKEN = """
import pathlib, warnings, huggingface_hub as h
api, kw = h.HfApi(), {"repo_type": "dataset"}
for name in sys.argv[2:]:
    api.upload_file(path_or_fileobj=open(f"{sys.argv[1]}/{name}", "rb").read()[:-20], path_in_repo=name, repo_id="lab/arm-v30", **kw)
api.create_tag("lab/arm-v30", tag="done", **kw)
print(json.dumps(None))
"""


def test_what_is_broken_is_said_where_it_is_pushed(hub, clients, tmp_path):
    clients.python("minari-0.5.4", ["huggingface_hub"], PUSH, ARM, env=where(hub, tmp_path))
    name = next(n for n in Lab(ARM).names if n.startswith("data/") and n.endswith(".parquet"))
    path = os.path.join(os.environ.get("HUB_CLIENTS", os.path.join(HERE, "..", "..", "build", "conformance")), "minari-0.5.4", "bin", "python")
    done = subprocess.run([path, "-c", "import json, sys\n" + BROKEN, ARM, name], env={**clients.env, **where(hub, tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0 and "lab/arm-v30 is not published" in done.stderr, done.stderr[-2000:]


TABLE = """
import datasets
table = datasets.Dataset.from_dict({"a": list(range(1000)), "t": [f"text {i}" for i in range(1000)]})
table.push_to_hub("lab/table", num_shards=3)
table.push_to_hub("lab/table", split="more")
again = datasets.load_dataset("lab/table")
print(json.dumps({"a": again["train"]["a"][:], "splits": {k: v.num_rows for k, v in again.items()}}))
"""


def test_a_table_is_pushed(hub, clients, tmp_path):
    out = clients.python("minari-0.5.3", ["datasets"], TABLE, env=where(hub, tmp_path))
    assert out["a"] == list(range(1000)) and out["splits"] == {"train": 1000, "more": 1000}


MINARI = """
import minari
minari.upload_dataset(sys.argv[1], os.environ["HF_TOKEN"])
print(json.dumps(sorted(minari.list_remote_datasets())))
"""


@pytest.mark.parametrize("venv", ["minari-0.5.3", "minari-0.5.4"])
def test_minari_uploads(hub, clients, tmp_path, venv):
    local = tmp_path / "local"
    shutil.copytree(os.path.join(FIXTURES, "samples", "D4RL"), local / "D4RL")
    hub.token = run(hub.state, "token", "add", "min", "--write", "")
    env = where(hub, tmp_path, MINARI_REMOTE="hf://farama-minari", MINARI_DATASETS_PATH=str(local))
    clients.python(venv, ["minari"], "import os\n" + MINARI, "D4RL/door/human-v2", env=env)
    is_ready(hub, "D4RL/door/human-v2")
    listed = clients.python(venv, ["minari"], "import minari; print(json.dumps(sorted(minari.list_remote_datasets())))", env=env)
    assert listed == ["D4RL/door/human-v2"]
    other = tmp_path / "other"
    other.mkdir()
    clients.python(venv, ["minari"], "import minari; minari.download_dataset('D4RL/door/human-v2'); print(json.dumps(minari.load_dataset('D4RL/door/human-v2').total_episodes))",
                   env=where(hub, tmp_path / "second", MINARI_REMOTE="hf://farama-minari", MINARI_DATASETS_PATH=str(other)))
    for name in ("data/main_data.hdf5", "data/metadata.json"):
        assert (other / "D4RL/door/human-v2" / name).read_bytes() == (local / "D4RL/door/human-v2" / name).read_bytes()
