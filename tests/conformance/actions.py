"""What people do to push with huggingface_hub, a function each. A stock client's own Python runs this file unchanged: it reads an order a line
(JSON) and prints an answer a line. A function changes the folder as it changes the repo: at its end both hold the same. What it returns is what the
table says of it."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import traceback

import huggingface_hub as h
from huggingface_hub import CommitOperationAdd as Add
from huggingface_hub import CommitOperationCopy as Copy
from huggingface_hub import CommitOperationDelete as Delete
from huggingface_hub.utils import HfHubHTTPError, RevisionNotFoundError

api, DATASET = h.HfApi(), {"repo_type": "dataset"}
ABSENT = "this release has none"


def head(repo, revision=None):
    return api.repo_info(repo, revision=revision, **DATASET).sha


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def write(folder, name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def begin(repo, folder):
    api.create_repo(repo, **DATASET)
    api.upload_folder(repo_id=repo, folder_path=folder, **DATASET)


def status(call):
    try:
        call()
    except HfHubHTTPError as e:
        return e.response.status_code


# ---- actions ----


def upload_folder(repo, folder):
    """The second time nothing has changed."""
    api.create_repo(repo, **DATASET)
    first = api.upload_folder(repo_id=repo, folder_path=folder, **DATASET)
    assert head(repo) == first.oid
    api.upload_folder(repo_id=repo, folder_path=folder, **DATASET)
    assert head(repo) == first.oid


def upload_file(repo, folder):
    api.create_repo(repo, **DATASET)
    write(folder, "README.md", b"---\nlicense: mit\n---\n# An arm\n")
    for name in files(folder):
        api.upload_file(path_or_fileobj=str(folder / name), path_in_repo=name, repo_id=repo, **DATASET)
    with open(write(folder, "notes/a.bin", os.urandom(3000)), "rb") as f:
        api.upload_file(path_or_fileobj=f, path_in_repo="notes/a.bin", repo_id=repo, **DATASET)
    api.upload_file(path_or_fileobj=write(folder, "notes/empty.bin", b"").read_bytes(), path_in_repo="notes/empty.bin", repo_id=repo, **DATASET)


def upload_large_folder(repo, folder):
    if not hasattr(api, "upload_large_folder"):
        return ABSENT
    api.upload_large_folder(repo_id=repo, folder_path=folder, repo_type="dataset", print_report=False)
    shutil.rmtree(folder / ".cache")


def create_commit(repo, folder):
    """Copies and deletions, a commit that is late, and one whose answer was lost."""
    begin(repo, folder)
    before, one = head(repo), next(n for n in files(folder) if n.endswith(".parquet"))
    more = [Copy(one, "copy/of.parquet"), Add("notes/a.txt", b"a"), Add("notes/b.bin", b"b" * 300000), Add("copy/gone.txt", b"x")]
    for name, data in (("copy/of.parquet", (folder / one).read_bytes()), ("notes/b.bin", b"b" * 300000)):
        write(folder, name, data)
    api.create_commit(repo, more, commit_message="more", parent_commit=before, **DATASET)
    now = api.create_commit(repo, [Delete("copy/gone.txt"), Delete("notes/a.txt")], commit_message="less", **DATASET).oid
    assert status(lambda: api.create_commit(repo, [Add("z.txt", b"z")], commit_message="late", parent_commit=before, **DATASET)) == 412
    assert api.create_commit(repo, [Add("notes/b.bin", b"b" * 300000)], commit_message="again", **DATASET).oid == now
    api.create_commit(repo, [Copy(one, "deleted/of.parquet")], commit_message="copy", **DATASET)
    api.delete_folder("deleted", repo, **DATASET)
    assert [c.title for c in api.list_repo_commits(repo, **DATASET)][1:4] == ["copy", "less", "more"]


def delete_patterns(repo, folder):
    begin(repo, folder)
    for name in ("notes/a.txt", "notes/b.txt", "notes/b.md"):
        api.upload_file(path_or_fileobj=b"old", path_in_repo=name, repo_id=repo, **DATASET)
    write(folder, "notes/c.txt", b"c")
    write(folder, "notes/b.md", b"old")
    api.upload_folder(repo_id=repo, folder_path=folder / "notes", path_in_repo="notes", delete_patterns="*.txt", **DATASET)


def command(repo, folder):
    """`hf upload`, which is huggingface-cli up to 0.33; it makes the repo."""
    at = os.path.dirname(sys.executable)
    program = os.path.join(at, next(n for n in ("hf", "huggingface-cli") if os.path.exists(os.path.join(at, n))))
    subprocess.run([program, "upload", "--repo-type", "dataset", repo, str(folder), "."], check=True, stdout=subprocess.PIPE)
    one = write(folder, "notes/one.txt", b"one")
    subprocess.run([program, "upload", "--repo-type", "dataset", repo, str(one), "notes/one.txt", "--commit-message", "one"], check=True, stdout=subprocess.PIPE)
    return f"by {os.path.basename(program)}"


def file_system(repo, folder):
    """Files written, copied, moved and removed as by fsspec."""
    api.create_repo(repo, **DATASET)
    fs, at = h.HfFileSystem(), f"datasets/{repo}/"
    fs.put(str(folder) + "/", at, recursive=True)
    with fs.open(at + "notes/a.bin", "wb") as f:
        f.write(b"a" * 70000)
        f.write(b"b" * 70000)
    fs.pipe(at + "notes/b.txt", b"b")
    fs.cp_file(at + "notes/a.bin", at + "notes/c.bin")
    fs.mv(at + "notes/b.txt", at + "notes/d.txt")
    fs.rm(at + "notes/a.bin")
    write(folder, "notes/c.bin", b"a" * 70000 + b"b" * 70000)
    write(folder, "notes/d.txt", b"b")
    assert sorted(n[len(at):] for n in fs.find(at)) == files(folder)


def branches_and_tags(repo, folder):
    begin(repo, folder)
    first = head(repo)
    api.create_tag(repo, tag="first", **DATASET)
    api.create_branch(repo, branch="dev", **DATASET)
    api.create_branch(repo, branch="dev", exist_ok=True, **DATASET)
    api.upload_file(path_or_fileobj=b"dev", path_in_repo="dev.txt", repo_id=repo, revision="dev", **DATASET)
    assert "dev.txt" in api.list_repo_files(repo, revision="dev", **DATASET) and head(repo) == first
    api.upload_file(path_or_fileobj=b"main", path_in_repo="main.txt", repo_id=repo, **DATASET)
    write(folder, "main.txt", b"main")
    assert head(repo, "first") == first and "main.txt" not in api.list_repo_files(repo, revision="first", **DATASET)
    refs = api.list_repo_refs(repo, **DATASET)
    assert sorted(b.name for b in refs.branches) == ["dev", "main"] and "first" in [t.name for t in refs.tags]
    api.delete_branch(repo, branch="dev", **DATASET)
    api.delete_tag(repo, tag="first", **DATASET)


def push_card(card, repo, branch):
    """Releases before 2 have huggingface.co itself check it, whatever HF_ENDPOINT says: without it they end here."""
    try:
        card.push_to_hub(repo_id=repo, revision=branch, **DATASET)
    except Exception:
        if not h.__version__.startswith(("0.", "1.")):
            raise
        api.upload_file(path_or_fileobj=str(card).encode(), path_in_repo="README.md", repo_id=repo, revision=branch, **DATASET)
        return "but for its card, which this release has huggingface.co check"


def lerobot(repo, folder):
    """The calls of LeRobotDataset.push_to_hub of 0.3.3 and 0.4.4, in their order, twice: a branch, a folder without its pictures, a card, the tag
    of the format's version."""
    version = json.loads((folder / "meta/info.json").read_text())["codebase_version"]
    card = h.DatasetCard("---\nlicense: apache-2.0\ntask_categories:\n- robotics\ntags:\n- LeRobot\nconfigs:\n- config_name: default\n"
                         "  data_files: data/*/*.parquet\n---\n\nMade with LeRobot.\n")
    picture = write(folder, "images/frame.png", b"p")
    for branch in (None, None, "more"):
        api.create_repo(repo_id=repo, private=False, exist_ok=True, **DATASET)
        if branch:
            api.create_branch(repo_id=repo, branch=branch, revision=version, exist_ok=True, **DATASET)
        api.upload_folder(repo_id=repo, folder_path=folder, revision=branch, allow_patterns=None, ignore_patterns=["images/"], **DATASET)
        note = push_card(card, repo, branch)
        with contextlib.suppress(RevisionNotFoundError):
            api.delete_tag(repo, tag=version, **DATASET)
        api.create_tag(repo, tag=version, revision=branch, **DATASET)
    picture.unlink()
    write(folder, "README.md", pathlib.Path(h.hf_hub_download(repo, "README.md", revision=version, **DATASET)).read_bytes())
    assert head(repo, version) == head(repo, "more") and [t.name for t in api.list_repo_refs(repo, **DATASET).tags] == [version]
    return note


def refusals(repo, folder):
    """What the hub has not, in its own words."""
    begin(repo, folder)
    assert api.whoami()["name"] == "ann"
    calls = {"datasets alone": lambda: api.create_repo(repo, repo_type="model"), "may not write": lambda: api.create_repo("other/arm", **DATASET),
             "pull requests": lambda: api.create_commit(repo, [Add("z.txt", b"z")], commit_message="z", create_pr=True, **DATASET)}
    for says, call in calls.items():
        try:
            call()
        except HfHubHTTPError as e:
            assert e.response.status_code == 403 and says in str(e), e
        else:
            raise AssertionError(says)


ACTIONS = [upload_folder, upload_file, upload_large_folder, create_commit, delete_patterns, command, file_system, branches_and_tags, lerobot, refusals]


def main():
    actions = {f.__name__: f for f in ACTIONS}
    for line in sys.stdin:
        order = json.loads(line)
        answer = {"version": h.__version__, "note": None, "error": None}
        try:
            answer["note"] = actions[order["action"]](order["repo"], pathlib.Path(order["folder"]))
            if answer["note"] != ABSENT:
                answer["brought"] = h.snapshot_download(order["repo"], cache_dir=order["cache"], **DATASET)
        except Exception:
            answer["error"] = traceback.format_exc()
        print("answer " + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
