"""Pushes as clients of Hugging Face send them, request by request: each commit is read at once, what is ready is the dataset."""
import base64
import hashlib
import json
import os
import shutil
import signal

import pytest

from hub import quote, serving, until
from test_access_twins import run
from test_drafts import ARM, DOOR, ask, files_of, serve
from test_drafts import push as native
from test_hf_refused import run_client
from test_revisions import begin, draft_of, replace

REPO = "lab/arm-v30"


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def send(hub, method, path, value=None, **more):
    body = json.dumps(value) if value is not None else "" if method in ("POST", "PUT") else None
    return ask(hub, method, path, body, **more)


def create(hub, repo=REPO, **more):
    org, name = repo.split("/")
    return send(hub, "POST", "/api/repos/create", {"name": name, "organization": org, "type": "dataset"}, **more)


def preupload(hub, files, repo=REPO, rev="main", **more):
    asked = [{"path": path, "size": len(data), "sample": base64.b64encode(data[:512]).decode()} for path, data in files.items()]
    answer = send(hub, "POST", f"/api/datasets/{repo}/preupload/{rev}", {"files": asked}, **more)
    assert answer.status == 200, answer.body
    return {f["path"]: f for f in answer.json()["files"]}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def git_sha1(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def batch(hub, objects, repo=REPO, **more):
    asked = {"operation": "upload", "transfers": ["basic", "multipart"], "hash_algo": "sha256", "objects": [{"oid": sha256(d), "size": len(d)} for d in objects]}
    return send(hub, "POST", f"/datasets/{repo}.git/info/lfs/objects/batch", asked, **more)


def put(hub, href, data, **more):
    return ask(hub, "PUT", href.removeprefix(hub.base), data, token=None, **more)


def upload(hub, objects, repo=REPO):
    """How many had to be sent."""
    answer = batch(hub, objects, repo)
    assert answer.status == 200 and answer.json()["transfer"] == "basic", answer.body
    sent = 0
    for item, data in zip(answer.json()["objects"], objects):
        if "actions" in item:
            assert put(hub, item["actions"]["upload"]["href"], data).status == 200
            verify = item["actions"]["verify"]["href"].removeprefix(hub.base)
            assert send(hub, "POST", verify, {"oid": item["oid"], "size": len(data)}).status == 200
            sent += 1
    return sent


def commit(hub, lines, repo=REPO, rev="main", parent=None, **more):
    header = {"summary": "push", "description": "", **({"parentCommit": parent} if parent else {})}
    body = "\n".join(json.dumps({"key": key, "value": value}) for key, value in [("header", header), *lines])
    return ask(hub, "POST", f"/api/datasets/{repo}/commit/{rev}", body, {"Content-Type": "application/x-ndjson"}, **more)


def line_of(path, data, mode):
    if mode == "lfs":
        return "lfsFile", {"path": path, "algo": "sha256", "oid": sha256(data), "size": len(data)}
    return "file", {"path": path, "content": base64.b64encode(data).decode(), "encoding": "base64"}


def push(hub, files, repo=REPO, rev="main", deleted=(), **more):
    """As upload_folder does; the answer to the commit."""
    modes = preupload(hub, files, repo, rev)
    upload(hub, [data for path, data in files.items() if modes[path]["uploadMode"] == "lfs"], repo)
    lines = [line_of(path, data, modes[path]["uploadMode"]) for path, data in files.items() if not modes[path]["shouldIgnore"]]
    return commit(hub, [*lines, *[("deletedFile", {"path": path}) for path in deleted]], repo, rev, **more)


def arm():
    return {name: open(path, "rb").read() for name, path in files_of(ARM)}


def head(hub, repo=REPO, rev="main", **more):
    answer = ask(hub, "GET", f"/api/datasets/{repo}/revision/{rev}", **more)
    assert answer.status == 200, answer.body
    return answer.json()


def names(hub, repo=REPO, rev="main"):
    return {s["rfilename"] for s in head(hub, repo, rev)["siblings"]}


def state(hub, repo=REPO):
    return ask(hub, "GET", f"/api/datasets/{repo}/commits/main").json()[0]["state"]


def test_a_folder_is_pushed_and_read_at_once(hub):
    files = arm()
    assert create(hub).status == 200 and create(hub).status == 409
    assert create(hub).json()["url"] == f"{hub.base}/datasets/{REPO}"
    empty = head(hub)
    assert empty["siblings"] == [] and len(empty["sha"]) == 40
    done = push(hub, files)
    assert done.status == 200, done.body
    sha = done.json()["commitOid"]
    assert "/commit/" in done.json()["commitUrl"] and head(hub)["sha"] == sha and names(hub) == set(files)
    for path, data in files.items():
        answer = ask(hub, "GET", f"/datasets/{REPO}/resolve/{sha}/{quote(path)}")
        assert answer.status == 200 and answer.body == data and answer.headers["X-Repo-Commit"] == sha, path
        assert answer.headers["X-Linked-Etag"].strip('"') in (sha256(data), git_sha1(data))
    until(lambda: hub.statuses().get(REPO) == "ready")
    document = ask(hub, "GET", f"/api/v1/datasets/{REPO}").json()
    assert document["commit"] == sha and state(hub) == "ready"
    rows = ask(hub, "GET", f"/api/v1/datasets/{REPO}/episodes/0?fields=action").json()
    with serving(os.path.dirname(ARM)) as other:
        assert rows == other.get("/api/v1/datasets/arm-v30/episodes/0?fields=action").json()
    part = ask(hub, "GET", f"/datasets/{REPO}/resolve/main/meta/info.json", headers={"Range": "bytes=1-3"})
    assert part.status == 206 and part.body == files["meta/info.json"][1:4]


def test_what_does_not_change_is_not_sent_and_is_no_commit(hub):
    files = arm()
    create(hub)
    sha = push(hub, files).json()["commitOid"]
    for path, said in preupload(hub, files).items():
        assert said["oid"] == (sha256(files[path]) if said["uploadMode"] == "lfs" else git_sha1(files[path])), path
    assert upload(hub, list(files.values())) == 0
    assert push(hub, files).json()["commitOid"] == sha  # as clients up to 1.15 send all of it again
    more = push(hub, {"README.md": b"# arm"}, parent=sha)
    assert more.status == 200 and more.json()["commitOid"] != sha
    again = push(hub, {"README.md": b"# arm"}, parent=sha)  # the answer to the first was lost
    assert again.status == 200 and again.json()["commitOid"] == more.json()["commitOid"]
    late = push(hub, {"README.md": b"# other"}, parent=sha)
    assert late.status == 412 and "A commit has happened since" in late.json()["error"]


def test_files_go_and_come_in_their_order(hub):
    create(hub)
    push(hub, {"a/x.txt": b"x", "a/y.txt": b"y", "b.txt": b"b"})
    done = commit(hub, [("deletedFolder", {"path": "a/"}), line_of("a/y.txt", b"new", "regular"), ("deletedFile", {"path": "b.txt"})])
    assert done.status == 200 and names(hub) == {"a/y.txt"}
    tree = ask(hub, "GET", f"/api/datasets/{REPO}/tree/main?recursive=true").json()
    assert [(e["type"], e["path"]) for e in tree] == [("directory", "a"), ("file", "a/y.txt")] and tree[1]["oid"] == git_sha1(b"new")
    assert [e["path"] for e in ask(hub, "GET", f"/api/datasets/{REPO}/tree/main").json()] == ["a"]
    known = send(hub, "POST", f"/api/datasets/{REPO}/paths-info/main", {"paths": ["a", "a/y.txt", "none"]}, headers={"Content-Type": "application/json"})
    assert [e["path"] for e in known.json()] == ["a", "a/y.txt"]
    for lines, words in ([[("file", {"path": "../x", "content": "", "encoding": "base64"})], "cannot be called"],
                         [[line_of("a/y.txt/z", b"", "regular")], "a file and a folder"], [[("lfsFile", {"path": "n", "algo": "sha256", "oid": "0" * 64})], "was not sent"],
                         [[("movedFile", {"path": "x"})], "is not one of"], [[("file", {"path": "x", "content": "*", "encoding": "base64"})], ""]):
        refused = commit(hub, lines)
        assert refused.status == 400 and words in refused.json()["error"], refused.body
    assert names(hub) == {"a/y.txt"}
    assert ask(hub, "GET", f"/datasets/{REPO}/resolve/main/none").headers["X-Error-Code"] == "EntryNotFound"


def test_what_is_broken_is_named_and_the_last_ready_state_stays(hub):
    files = arm()
    create(hub)
    good = push(hub, files).json()["commitOid"]
    until(lambda: hub.statuses().get(REPO) == "ready")
    before = ask(hub, "GET", f"/api/v1/datasets/{REPO}").json()["revision"]
    path = next(p for p in files if p.startswith("data/") and p.endswith(".parquet"))
    bad = push(hub, {path: files[path][:-20]})
    assert bad.status == 200
    until(lambda: state(hub) == "broken")
    tag = send(hub, "POST", f"/api/datasets/{REPO}/tag/main", {"tag": "v9"})
    assert tag.status == 200 and tag.headers["X-HF-Warning"].startswith(f"minari-hub; {REPO} is not published: "), dict(tag.headers)
    assert head(hub)["sha"] == bad.json()["commitOid"] and head(hub, rev=good)["sha"] == good
    assert ask(hub, "GET", f"/api/v1/datasets/{REPO}").json()["revision"] == before
    assert ask(hub, "GET", f"/datasets/{REPO}/resolve/main/{path}").body == files[path][:-20]
    push(hub, {path: files[path]})
    until(lambda: state(hub) == "ready")


def test_a_claim_that_does_not_hold_is_named_and_published(hub):
    files = arm()
    info = json.loads(files["meta/info.json"])
    files["meta/info.json"] = json.dumps({**info, "total_frames": info["total_frames"] + 7}).encode()
    create(hub)
    assert push(hub, files).status == 200
    until(lambda: state(hub) == "ready")
    tag = send(hub, "POST", f"/api/datasets/{REPO}/tag/main", {"tag": "v9"})
    assert tag.headers["X-HF-Warning"] == f"minari-hub; {REPO} is published, but: meta/info.json: metadata says 31 steps, the files hold 24"


def test_what_is_no_dataset_is_there_for_its_protocol_alone(hub):
    create(hub, "lab/card")
    done = push(hub, {"README.md": b"# a card", ".gitattributes": b"*.parquet filter=lfs"}, "lab/card")
    assert done.status == 200 and names(hub, "lab/card") == {"README.md"}
    until(lambda: state(hub, "lab/card") == "files")
    assert "lab/card" not in hub.statuses()
    assert ask(hub, "GET", "/datasets/lab/card/resolve/main/README.md").body == b"# a card"


def test_branches_and_tags(hub):
    files = arm()
    create(hub)
    sha = push(hub, files).json()["commitOid"]
    until(lambda: hub.statuses().get(REPO) == "ready")
    refs = ask(hub, "GET", f"/api/datasets/{REPO}/refs").json()
    assert [(t["name"], t["targetCommit"]) for t in refs["tags"]] == [("v3.0", sha)]  # as meta/info.json has it
    gone = ask(hub, "DELETE", f"/api/datasets/{REPO}/tag/v3.0")
    assert gone.status == 404 and gone.headers["X-Error-Code"] == "RevisionNotFound"
    assert head(hub, rev="v3.0")["sha"] == sha
    assert send(hub, "POST", f"/api/datasets/{REPO}/tag/main", {"tag": "v3.0"}).status == 200
    assert send(hub, "POST", f"/api/datasets/{REPO}/tag/main", {"tag": "v3.0"}).status == 409
    assert ask(hub, "DELETE", f"/api/datasets/{REPO}/tag/v3.0").status == 200
    assert send(hub, "POST", f"/api/datasets/{REPO}/branch/dev", {}).status == 200
    assert send(hub, "POST", f"/api/datasets/{REPO}/branch/dev", {}).status == 409
    assert push(hub, {"dev.txt": b"dev"}, rev="dev").status == 200
    assert "dev.txt" in names(hub, rev="dev") and "dev.txt" not in names(hub)
    assert ask(hub, "DELETE", f"/api/datasets/{REPO}/branch/dev").status == 200
    assert ask(hub, "DELETE", f"/api/datasets/{REPO}/branch/main").status == 403
    assert commit(hub, [], rev="refs%2Fpr%2F1").status == 403 and commit(hub, [], rev="none").headers["X-Error-Code"] == "RevisionNotFound"
    assert commit(hub, [], rev="main?create_pr=1").status == 403


def test_who_may_push(hub):
    files = {"data/x.bin": b"x" * 1000}
    create(hub)
    reader = run(hub.state, "token", "add", "rea", "--read", "lab/")
    until(lambda: ask(hub, "GET", "/api/whoami-v2", token=reader).status == 200)
    assert ask(hub, "GET", "/api/whoami-v2").json()["auth"]["accessToken"]["role"] == "write"
    for token, status, code in ((None, 401, "RepoNotFound"), (reader, 403, None)):
        for refused in (create(hub, "lab/other", token=token), batch(hub, files.values(), token=token), commit(hub, [], token=token)):
            assert refused.status == status and refused.headers["X-Error-Code"] == code and refused.headers["X-Error-Message"], refused.body
    assert create(hub, "elsewhere/arm").status == 403
    assert send(hub, "POST", "/api/repos/create", {"name": "m", "organization": "lab", "type": "model"}).status == 403
    assert "everybody may read" in send(hub, "POST", "/api/repos/create", {"name": "p", "organization": "lab", "type": "dataset", "private": True}).json()["error"]
    assert commit(hub, [], "lab/none").headers["X-Error-Code"] == "RepoNotFound"


def test_an_address_is_of_one_object_and_of_its_maker(hub):
    data = b"x" * 1000
    create(hub)
    href = batch(hub, [data]).json()["objects"][0]["actions"]["upload"]["href"]
    assert put(hub, href, b"y" * 1000).status == 422 and put(hub, href, data[1:]).status == 400
    assert put(hub, href[:-1] + ("0" if href[-1] != "0" else "1"), data).status == 403
    assert put(hub, href.replace(sha256(data), sha256(b"y")), data).status == 403
    assert put(hub, href.replace("/1000?", "/1001?"), data + b"x").status == 403
    assert put(hub, href.replace("arm-v30", "arm-v31"), data).status == 403
    assert put(hub, href, data).status == 200 and put(hub, href, data).status == 200
    other = run(hub.state, "token", "add", "bob", "--write", "lab/")
    until(lambda: ask(hub, "GET", "/api/whoami-v2", token=other).status == 200)
    assert "actions" in batch(hub, [data], token=other).json()["objects"][0]  # a digest says nothing of what others sent
    assert "actions" not in batch(hub, [data]).json()["objects"][0]
    run(hub.state, "token", "revoke", "ann")
    until(lambda: ask(hub, "GET", "/api/whoami-v2").status == 401)
    assert put(hub, href, data).status == 403


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path):
    hub = serve(tmp_path)
    create(hub)
    sha = push(hub, arm()).json()["commitOid"]
    hub.process.send_signal(signal.SIGKILL)
    hub.stop(expect=None)
    with serve(tmp_path) as hub:
        assert head(hub)["sha"] == sha and names(hub) == set(arm())
        until(lambda: hub.statuses().get(REPO) == "ready")


def test_a_dataset_that_was_published_by_other_means_is_pushed_to(hub):
    draft = native(hub, ARM, REPO)
    assert ask(hub, "POST", f"{draft}/commit", "").status == 200
    before = head(hub)
    done = push(hub, {"README.md": b"# arm"})
    assert done.status == 200, done.body
    assert names(hub) == set(arm()) | {"README.md"} and before["sha"] != head(hub)["sha"]
    until(lambda: ask(hub, "GET", f"/api/v1/datasets/{REPO}").json().get("commit") == done.json()["commitOid"])


def is_pushed_upon(hub, change):
    """What is shown is what a push may state as its parent, and can be read on afterwards."""
    shown, there = head(hub)["sha"], names(hub)
    assert [b["targetCommit"] for b in ask(hub, "GET", f"/api/datasets/{REPO}/refs").json()["branches"]] == [shown]
    assert push(hub, change, parent="0" * 40).status == 412 and head(hub)["sha"] == shown
    done = push(hub, change, parent=shown)
    assert done.status == 200, done.body
    assert names(hub, rev=shown) == there and names(hub) == there | set(change)
    until(lambda: hub.dataset(REPO).get("commit") == done.json()["commitOid"])
    return done.json()["commitOid"]


def test_what_is_shown_of_it_is_what_is_pushed_upon(hub):
    assert ask(hub, "POST", native(hub, ARM, REPO) + "/commit").status == 200
    first = is_pushed_upon(hub, {"notes/1.txt": b"1"})
    replace(hub, first, {"notes/2.txt": b"2"}, id=REPO)
    second = is_pushed_upon(hub, {"notes/3.txt": b"3"})
    back = draft_of(begin(hub, REPO, base=second, **{"from": f"{REPO}@{first}"}))  # as an earlier state, which has a name already
    assert ask(hub, "POST", back + "/commit").status == 200 and head(hub)["sha"] not in (first, second)
    is_pushed_upon(hub, {"notes/4.txt": b"4"})


def test_a_dataset_that_was_put_there_by_hand_is_not(hub):
    shutil.copytree(ARM, hub.root / "lab" / "arm-v30")
    until(lambda: hub.statuses().get(REPO) == "ready")
    assert create(hub).status == 409
    refused = send(hub, "POST", f"/api/datasets/{REPO}/preupload/main", {"files": []})
    assert refused.status == 403 and "was not published by this hub" in refused.json()["error"]


def test_a_repo_is_deleted(hub):
    create(hub)
    push(hub, arm())
    until(lambda: hub.statuses().get(REPO) == "ready")
    gone = send(hub, "DELETE", "/api/repos/delete", {"name": "arm-v30", "organization": "lab", "type": "dataset"})
    assert gone.status == 200, gone.body
    assert REPO not in hub.statuses() and ask(hub, "GET", f"/api/datasets/{REPO}").status == 404
    again = send(hub, "DELETE", "/api/repos/delete", {"name": "arm-v30", "organization": "lab", "type": "dataset"})
    assert again.status == 404 and again.headers["X-Error-Code"] == "RepoNotFound"
    assert create(hub).status == 200 and names(hub) == set()


def test_a_repo_of_minaris_namespaces(hub):
    door = {f"door/human-v0/{name}": open(path, "rb").read() for name, path in files_of(DOOR)}
    create(hub, "lab/D4RL")
    done = push(hub, {**door, "namespace_metadata.json": b"{}"}, "lab/D4RL")
    assert done.status == 200
    until(lambda: hub.statuses().get("lab/D4RL/door/human-v0") == "ready")
    said = ask(hub, "GET", "/datasets/lab/D4RL/resolve/main/namespace_metadata.json")
    assert said.status == 200, said.body


def test_cards_are_checked(hub):
    assert send(hub, "POST", "/api/validate-yaml", {"content": "---\nlicense: mit\n---\n# x", "repoType": "dataset"}).json() == {"errors": [], "warnings": []}
    assert send(hub, "POST", "/api/validate-yaml", {"content": "---\nlicense: mit\n", "repoType": "dataset"}).status == 400


def test_a_repo_is_renamed(hub):
    create(hub)
    push(hub, arm())
    until(lambda: hub.statuses().get(REPO) == "ready")
    moved = send(hub, "POST", "/api/repos/move", {"fromRepo": REPO, "toRepo": "lab/arm-v31", "type": "dataset"})
    assert moved.status == 200, moved.body
    until(lambda: hub.statuses().get("lab/arm-v31") == "ready")
    assert names(hub, "lab/arm-v31") == set(arm())
    done = push(hub, {"README.md": b"# arm"}, "lab/arm-v31")
    assert done.status == 200 and "README.md" in names(hub, "lab/arm-v31")
    assert send(hub, "POST", "/api/repos/move", {"fromRepo": "lab/arm-v31", "toRepo": "other/arm", "type": "dataset"}).status == 403


def test_what_can_be_read_elsewhere_is_not_sent_again(tmp_path):
    """Objects are shared by repos; whoever cannot read the one that has them learns nothing, and sends his own."""
    with serve(tmp_path) as hub:
        data, oid = b"x" * 5000, sha256(b"x" * 5000)
        create(hub)
        push(hub, {"data/x.bin": data})
        bob = run(hub.state, "token", "add", "bob", "--write", "team/").strip()
        run(hub.state, "access", "set", "token:bob", "none", "lab/")
        run(hub.state, "access", "set", "token:ann", "write", "team/")
        until(lambda: ask(hub, "GET", f"/api/datasets/{REPO}", token=bob).status != 200 and create(hub, "team/other").status in (200, 409))
        copied = [("lfsFile", {"path": "copy/of.bin", "algo": "sha256", "oid": oid})]
        assert "actions" in batch(hub, [data], "team/other", token=bob).json()["objects"][0]
        refused = commit(hub, copied, "team/other", token=bob)
        assert refused.status == 400 and "was not sent" in refused.json()["error"]
        assert "actions" not in batch(hub, [data], "team/other").json()["objects"][0]
        before = {p.name for p in (hub.root / ".minari-hub/objects").iterdir()}
        assert commit(hub, copied, "team/other").status == 200
        assert {p.name for p in (hub.root / ".minari-hub/objects").iterdir()} == before
        send(hub, "DELETE", "/api/repos/delete", {"name": "arm-v30", "organization": "lab", "type": "dataset"})
        assert ask(hub, "GET", "/datasets/team/other/resolve/main/copy/of.bin").body == data


COPIES = """
from huggingface_hub import CommitOperationAdd as Add, CommitOperationCopy as Copy
read = lambda name, repo=repo: open(h.hf_hub_download(repo, name, **kw), "rb").read()
one = api.create_commit(repo, [Add("a.bin", b"1" * 5000), Add("t.txt", b"old")], commit_message="one", parent_commit=api.repo_info(repo, **kw).sha, **kw)
api.create_commit(repo, [Add("a.bin", b"2" * 5000), Add("t.txt", b"new")], commit_message="two", parent_commit=one.oid, **kw)
api.create_commit(repo, [Copy("a.bin", "old/a.bin", src_revision=one.oid), Copy("t.txt", "old/t.txt", src_revision=one.oid), Copy("a.bin", "b.bin")], commit_message="copies", **kw)
assert (read("old/a.bin"), read("old/t.txt"), read("b.bin")) == (b"1" * 5000, b"old", b"2" * 5000)
api.create_repo("lab/other", **kw)
api.upload_file(path_or_fileobj=h.hf_hub_download(repo, "b.bin", **kw), path_in_repo="c.bin", repo_id="lab/other", **kw)
assert read("c.bin", "lab/other") == b"2" * 5000
"""


def test_a_client_copies(hub, tmp_path):
    """Files of this and of another revision, and of another repo: no byte of a large one is sent for it."""
    assert run_client(hub, tmp_path, COPIES) == ""
    assert sum(" hf-lfs-put " in line for line in hub.text_log().splitlines()) == 2


def test_what_does_not_fit_is_refused_before_it_is_sent(tmp_path):
    with serve(tmp_path, "--quota", "lab/=1M", "--upload-cache", "2M") as hub:
        create(hub)
        small, large = batch(hub, [b"s" * 1000, b"l" * (1 << 20)]).json()["objects"]
        assert "actions" in small and "actions" not in large and "quota of 'lab/'" in large["error"]["message"]
    with serve(tmp_path, "--upload-cache", "1M") as hub:
        large = batch(hub, [b"l" * (2 << 20)]).json()["objects"][0]
        assert "--upload-cache" in large["error"]["message"]
