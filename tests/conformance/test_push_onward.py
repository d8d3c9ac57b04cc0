"""What was pushed to one hub, by way of another: as its --hf-upstream, and as the source of a mirror. A stock client knows only the second one."""

import pytest

from hub import Hub, until
from mirrors import mirror, wait_synced
from pushing import ARM, PushedHub, env_of, is_ready, rows, source

PUSH = """
import huggingface_hub as h
api, repo, kw = h.HfApi(), "lab/arm-v0", {"repo_type": "dataset"}
api.create_repo(repo, **kw)
first = api.upload_folder(repo_id=repo, folder_path=sys.argv[1], **kw).oid
api.create_tag(repo, tag="first", **kw)
api.create_branch(repo, branch="dev", **kw)
api.upload_file(path_or_fileobj=b"dev", path_in_repo="dev.txt", repo_id=repo, revision="dev", **kw)
api.upload_file(path_or_fileobj=b"# An arm", path_in_repo="README.md", repo_id=repo, **kw)
print(json.dumps(first))
"""
SEE = """
import hashlib, pathlib, huggingface_hub as h
api, repo, kw = h.HfApi(), "lab/arm-v0", {"repo_type": "dataset"}
def files(revision):
    at = pathlib.Path(h.snapshot_download(repo, revision=revision, **kw))
    return {str(p.relative_to(at)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(at.rglob("*")) if p.is_file()}
refs = api.list_repo_refs(repo, **kw)
print(json.dumps({"branches": {b.name: b.target_commit for b in refs.branches}, "tags": {t.name: t.target_commit for t in refs.tags},
                  "commits": [c.commit_id for c in api.list_repo_commits(repo, **kw)], "sha": api.repo_info(repo, **kw).sha,
                  "files": {r: files(r) for r in sys.argv[1:]}}))
"""


@pytest.fixture
def pushed(tmp_path, clients):
    with PushedHub(tmp_path / "hub") as hub:
        hub.first = clients.python("minari-0.5.4", ["huggingface_hub"], PUSH, ARM, env=env_of(hub, tmp_path))
        until(lambda: hub.get("/api/datasets/lab/arm-v0/commits/main").json()[0]["state"] == "ready")
        yield hub


def test_an_upstream(pushed, clients, tmp_path, pytestconfig):
    """Branches, tags and commits: all of it is what the first hub says itself."""
    row = ["2.4", "through an upstream", "", "FAILED"]
    pytestconfig.pushes.append(row)
    root = tmp_path / "empty"
    root.mkdir()
    wanted = ("main", "dev", "first", pushed.first)
    with Hub([str(root)], args=("--hf-upstream", pushed.base)) as second, pushed.counting(row):
        second.wait_ready()
        second.checker = None
        near, far = [clients.python("minari-0.5.4", ["huggingface_hub"], SEE, *wanted, env=env_of(pushed, tmp_path / where, base=base, HF_TOKEN=""))
                     for where, base in (("a", pushed.base), ("b", second.base))]
    assert near == far and set(near["branches"]) == {"main", "dev"} and near["tags"]["first"] == pushed.first
    assert near["commits"][0] == near["sha"] != pushed.first == near["commits"][1]
    assert "dev.txt" in near["files"]["dev"] and "README.md" in near["files"]["main"] and "README.md" not in near["files"]["first"]
    assert near["files"]["first"] == near["files"][pushed.first]
    row[3] = "as the first hub"


def test_a_mirror(pushed, clients, tmp_path, pytestconfig, monkeypatch, source):
    """A copy has what is published, at its commit; branches and earlier commits stay where they were pushed."""
    for name in ("here", "state"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("HF_ENDPOINT", pushed.base)
    monkeypatch.setenv("HF_TOKEN", "")
    row = ["2.4", "through a mirror", "", "FAILED"]
    pytestconfig.pushes.append(row)
    with Hub([str(tmp_path / "here")], state=str(tmp_path / "state")) as second, pushed.counting(row):
        second.wait_ready()
        second.checker = None
        mirror(str(tmp_path), "add", "hf://lab", "--name", "lab", "--as", "lab/")
        wait_synced(second, "lab")
        is_ready(second, "lab/arm-v0")
        until(lambda: rows(second, "lab/arm-v0") == source)
        near, far = [clients.python("minari-0.5.4", ["huggingface_hub"], SEE, "main", env=env_of(pushed, tmp_path / where, base=base, HF_TOKEN=""))
                     for where, base in (("a", pushed.base), ("b", second.base))]
    assert far["files"] == near["files"] and set(far["branches"]) == {"main"}
    row[3] = "as the source"
