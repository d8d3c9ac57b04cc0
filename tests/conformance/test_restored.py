"""A hub is backed up while a stock client of Hugging Face pushes, and made again elsewhere: clients bring what was there, and push on."""
import json
import os
import subprocess

import pytest

from conftest import HERE, Lab
from hub import until
from pushing import ARM, PushedHub, env_of, is_ready
from test_backup import backup, restore, start

FIRST = """
import huggingface_hub as h, pathlib
api, folder, repo, kw = h.HfApi(), sys.argv[1], "lab/arm-v30", {"repo_type": "dataset"}
api.create_repo(repo, private=False, **kw)
first = api.upload_folder(repo_id=repo, folder_path=folder, **kw).oid
api.create_tag(repo, tag="paper", **kw)
second = api.upload_file(path_or_fileobj=b"second" * 100000, path_in_repo="notes/second.bin", repo_id=repo, **kw).oid
api.create_branch(repo, branch="dev", **kw)
api.upload_file(path_or_fileobj=b"dev", path_in_repo="dev.txt", repo_id=repo, revision="dev", **kw)
print(json.dumps([first, second]))
"""

# Until its standard input ends; each commit is named as soon as it is acknowledged.
WRITE = """
import os, select, sys, huggingface_hub as h
from huggingface_hub import CommitOperationAdd as Add, CommitOperationDelete as Delete
api, n, before = h.HfApi(), 0, None
while not select.select([sys.stdin], [], [], 0)[0]:
    n += 1
    name = f"more/{n}.bin"
    less = [Delete(before)] if before else []
    done = api.create_commit("lab/arm-v30", [Add(name, os.urandom(200000)), Add("notes/turn.txt", b"%d" % n), *less], commit_message=name, repo_type="dataset")
    before = name
    print(done.oid, flush=True)
"""

BACK = """
import huggingface_hub as h
api, kw = h.HfApi(), {"repo_type": "dataset"}
out = {}
for rev in sys.argv[1:]:
    out[rev] = [h.snapshot_download("lab/arm-v30", revision=rev, **kw), sorted(api.list_repo_files("lab/arm-v30", revision=rev, **kw)), api.repo_info("lab/arm-v30", revision=rev, **kw).sha]
print(json.dumps(out))
"""

ON = """
import huggingface_hub as h
api, kw = h.HfApi(), {"repo_type": "dataset"}
done = api.upload_file(path_or_fileobj=b"after" * 100000, path_in_repo="notes/after.bin", repo_id="lab/arm-v30", parent_commit=sys.argv[1], **kw)
api.create_tag("lab/arm-v30", tag="later", **kw)
print(json.dumps(open(h.hf_hub_download("lab/arm-v30", "notes/after.bin", revision="later", **kw), "rb").read() == b"after" * 100000))
"""


@pytest.fixture
def hub(tmp_path):
    with PushedHub(tmp_path / "hub") as hub:
        yield hub


def where(hub, folder):
    return env_of(hub, folder, "2.4 without Xet")


@pytest.mark.parametrize("venv", ["minari-0.5.3", "minari-0.5.4"], ids=["0.36", "2"])
def test_a_drill(hub, clients, tmp_path, venv):
    first, second = clients.python(venv, ["huggingface_hub"], FIRST, ARM, env=where(hub, tmp_path))
    python = os.path.join(os.environ.get("HUB_CLIENTS", os.path.join(HERE, "..", "..", "build", "conformance")), venv, "bin", "python")
    writer = subprocess.Popen([python, "-c", WRITE], env={**clients.env, **where(hub, tmp_path / "writer")}, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    before = [writer.stdout.readline().strip() for _ in range(2)]
    said = json.loads(backup(tmp_path / "backup", "--data", "--json", state=hub.state))
    _, errors = writer.communicate("end\n", timeout=120)
    assert writer.returncode == 0 and said["problems"] == [] and said["repos"] == 1, errors
    is_ready(hub, "lab/arm-v30")
    revisions = [first, second, "paper", "dev", *before]
    was = clients.python(venv, ["huggingface_hub"], BACK, *revisions, env=where(hub, tmp_path / "was"))
    (tmp_path / "elsewhere").mkdir()
    back = json.loads(restore(tmp_path / "backup", "--root", tmp_path / "elsewhere", "--json", state=tmp_path / "new"))
    assert back["missing"] == back["repos_missing"] == []
    with start(tmp_path / "new", tmp_path / "elsewhere", token=hub.token) as new:
        is_ready(new, "lab/arm-v30")
        now = clients.python(venv, ["huggingface_hub"], BACK, *revisions, "main", env=where(new, tmp_path / "now"))
        for rev in revisions:
            assert now[rev][1:] == was[rev][1:]
            Lab(was[rev][0]).files_equal(now[rev][0])
        assert clients.python(venv, ["huggingface_hub"], ON, now["main"][2], env=where(new, tmp_path / "on"))
        until(lambda: new.get("/api/v1/datasets/lab/arm-v30").json().get("commit") == json.loads(new.get("/api/datasets/lab/arm-v30").body)["sha"])
    Lab(ARM).files_equal(now["paper"][0])
