"""Revisions of published datasets: replaced at their base, kept, had back, deleted."""
import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import threading
import time

import pytest

from hub import until
from test_drafts import ARM, DOOR, ask, files_of, problem, push, put, serve, tree
from test_access_twins import run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from shim import Shim  # noqa: E402

ID = "lab/arm-v0"
DATASET = "/api/v1/datasets/" + ID


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def publish(hub, folder=DOOR, id=ID):
    done = ask(hub, "POST", push(hub, folder, id) + "/commit")
    assert done.status == 200, done.body
    return done.json()


def begin(hub, id=ID, **wanted):
    return ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id, **wanted}))


def draft_of(answer):
    assert answer.status == 201, answer.body
    return answer.headers["Location"]


def replace(hub, base, files, remove=(), message="", id=ID):
    """Another revision: the files of the base, but for these."""
    draft = draft_of(begin(hub, id, base=base))
    for path, data in files.items():
        assert put(hub, draft, path, data).status == 201
    for path in remove:
        assert ask(hub, "DELETE", f"{draft}/files/{path}").status == 204
    done = ask(hub, "POST", draft + "/commit", json.dumps({"message": message}))
    assert done.status == 200, done.body
    return done.json()


def revisions(hub, id=ID, **options):
    return ask(hub, "GET", f"/api/v1/datasets/{id}/~revisions", **options)


def states(hub):
    return [(r["commit"], r["state"]) for r in revisions(hub).json()["items"]]


def file_at(hub, path, commit=None):
    return ask(hub, "GET", f"{DATASET}/files/{path}" + (f"?revision={commit}" if commit else ""))


def links(path):
    return os.stat(path).st_nlink


def add_commits(tmp_path, count):
    """Older ones than those that were published, of which nothing is kept."""
    with sqlite3.connect(tmp_path / "state/hub.db") as db:
        db.executemany("INSERT INTO commits (number, id, dataset, tree, parent, who, at, ended, message) VALUES (?, ?, ?, '', '', 'token:ann', ?, ?, ?)",
                       [(-i - 1, f"{i:040x}", ID, i, i + 1, f"number {i}") for i in range(count)])


def test_pages(tmp_path):
    """As of the other lists: limit, cursor, links to what follows and what comes before."""
    with serve(tmp_path) as hub:
        newest = publish(hub)["commit"]
    add_commits(tmp_path, 249)
    with serve(tmp_path) as hub:
        whole = revisions(hub).json()
        assert (len(whole["items"]), whole["total"], whole["prev"], whole["id"]) == (100, 250, None, ID) and whole["items"][0]["commit"] == newest
        pages, url = [], f"{DATASET}/~revisions?limit=60"
        while url:
            answer = ask(hub, "GET", url.removeprefix(hub.base))
            page = answer.json()
            assert ('rel="next"' in answer.headers.get("Link", "")) == bool(page["next"])
            pages, url = [*pages, page], page["next"]
        assert [len(p["items"]) for p in pages] == [60, 60, 60, 60, 10]
        listed = [r["commit"] for p in pages for r in p["items"]]
        assert len(set(listed)) == 250 and listed[1:] == [f"{i:040x}" for i in range(249)]
        back = ask(hub, "GET", pages[-1]["prev"].removeprefix(hub.base)).json()
        assert back["items"] == pages[-2]["items"]
        for wrong in ("cursor=nonsense", "limit=0", "limit=1001"):
            assert ask(hub, "GET", f"{DATASET}/~revisions?{wrong}").status == 400, wrong
        publish(hub, id="lab/other-v0")
        elsewhere = ask(hub, "GET", pages[0]["next"].removeprefix(hub.base).replace(ID, "lab/other-v0"))
        assert (elsewhere.status, problem(elsewhere)) == (400, "bad-cursor")


def test_a_new_revision(hub):
    a = publish(hub)
    notes = hub.root / ID / "data"
    assert {oct(os.stat(f).st_mode & 0o7777) for _, f in files_of(hub.root / ID)} <= {"0o1444", "0o1440", "0o1400"}
    b = replace(hub, a["commit"], {"notes.txt": b"second"}, message="notes")
    assert [r["message"] if "message" in r else "" for r in revisions(hub).json()["items"]] == ["notes", ""]
    assert states(hub) == [(b["commit"], "current"), (a["commit"], "kept")]
    assert revisions(hub).json()["items"][0]["parent"] == a["commit"]
    assert tree(hub.root / ID) == {**tree(DOOR), "notes.txt": b"second"}
    assert {links(f) for p, f in files_of(hub.root / ID) if p != "notes.txt"} == {2}, "what did not change is stored once"
    assert notes.exists()
    until(lambda: file_at(hub, "data/main_data.hdf5", a["commit"]).status == 200)
    assert file_at(hub, "notes.txt", a["commit"]).status == 404
    assert file_at(hub, "notes.txt", b["commit"]).body == b"second" == file_at(hub, "notes.txt").body
    assert ask(hub, "GET", DATASET).json()["commit"] == b["commit"]
    until(lambda: ask(hub, "GET", f"{DATASET}?revision={a['commit']}").status == 200)
    old = ask(hub, "GET", f"{DATASET}?revision={a['commit'][:9]}").json()
    assert (old["commit"], old["status"]) == (a["commit"], "ready")
    assert ask(hub, "GET", f"{DATASET}?revision={old['revision']}").json()["commit"] == a["commit"], "its revision names it, too"
    rows = [ask(hub, "GET", f"{DATASET}/episodes/0/rewards?revision={c['commit']}").body for c in (a, b)]
    assert rows[0] == rows[1] != b""
    assert [d["id"] for d in ask(hub, "GET", "/api/v1/datasets").json()["items"]] == [ID], "no list has what is kept"


def test_the_base_is_what_is_there(hub):
    a = publish(hub)
    none = begin(hub)
    assert (none.status, problem(none)) == (409, "exists") and a["commit"] in none.json()["detail"]
    first, second = (draft_of(begin(hub, base=a["commit"])) for _ in range(2))
    revision = ask(hub, "GET", DATASET).json()["revision"]
    assert begin(hub, base=revision).json()["base"] == a["commit"] == begin(hub, base=a["content"]).json()["base"]
    for draft, text in ((first, b"1"), (second, b"2")):
        assert put(hub, draft, "notes.txt", text).status == 201
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda draft: ask(hub, "POST", draft + "/commit"), (first, second)))
    assert sorted(d.status for d in done) == [200, 412], [d.body for d in done]
    late = next(d for d in done if d.status == 412)
    won = next(d for d in done if d.status == 200).json()
    assert problem(late) == "commit-conflict" and won["commit"] in late.json()["detail"]
    assert file_at(hub, "notes.txt").body == (b"1" if done[0].status == 200 else b"2")
    for base in (a["commit"], revision, "0" * 40):
        stale = begin(hub, base=base)
        assert (stale.status, problem(stale)) == (412, "commit-conflict")
    assert ask(hub, "GET", second if done[0].status == 200 else first).json()["state"] == "open", "nothing is lost"


def test_had_back(hub):
    """A revert is a commit of its own; what was deleted comes back as one."""
    a = publish(hub)
    b = replace(hub, a["commit"], {"notes.txt": b"second"})
    draft = draft_of(begin(hub, base=b["commit"], **{"from": f"{ID}@{a['commit']}"}))
    c = ask(hub, "POST", draft + "/commit").json()
    assert c["content"] == a["content"] and len({a["commit"], b["commit"], c["commit"]}) == 3
    assert tree(hub.root / ID) == tree(DOOR)
    assert ask(hub, "DELETE", DATASET).status == 204
    until(lambda: ask(hub, "GET", DATASET).status == 404)
    assert not (hub.root / "lab").exists() and ask(hub, "DELETE", DATASET).status == 404
    (deleted, *rest) = revisions(hub).json()["items"]
    assert (deleted["kind"], deleted["parent"], rest[0]["state"]) == ("delete", c["commit"], "kept")
    back = ask(hub, "POST", draft_of(begin(hub, **{"from": f"{ID}@{c['commit'][:8]}"})) + "/commit")
    assert back.status == 200 and tree(hub.root / ID) == tree(DOOR)
    assert ask(hub, "GET", DATASET).json()["commit"] == back.json()["commit"]


def test_a_next_version_shares_files(hub):
    a = publish(hub)
    draft = draft_of(begin(hub, "lab/arm-v1", **{"from": ID}))
    listed = ask(hub, "GET", draft + "/files").json()["items"]
    assert {f["path"]: f["sha256"] for f in listed} == {p: hashlib.sha256(d).hexdigest() for p, d in tree(DOOR).items()}
    assert ask(hub, "POST", draft + "/commit").status == 200
    assert tree(hub.root / "lab/arm-v1") == tree(DOOR) and states(hub) == [(a["commit"], "current")]
    for wrong in ("lab/none-v0", ID + "@" + "0" * 40, "other/x"):
        refused = begin(hub, "lab/arm-v2", **{"from": wrong})
        assert (refused.status, problem(refused)) == (404, "revision-not-found")
    assert [d for d in ask(hub, "GET", "/api/v1/drafts").json()["items"] if d["state"] == "open"] == [], "what is refused leaves no draft"


def inspections(hub):
    return sum(int(n) for n in re.findall(r"^minari_hub_inspections_total\S* (\d+)$", ask(hub, "GET", "/metrics").body.decode(), re.M))


def digest_of(hub, commit):
    """What is known of it, without reading it."""
    answer = ask(hub, "HEAD", f"{DATASET}/files/big.bin?revision={commit}")
    return answer.status, answer.headers["Repr-Digest"]


def download(hub, path, started, go):
    """Slowly until `go`, but not so slowly that it is ended; its status and digest."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=120)
    connection.request("GET", path, headers={"Authorization": f"Bearer {hub.token}"})
    answer = connection.getresponse()
    digest = hashlib.sha256(answer.read(1 << 16))
    started.wait()
    while not go.wait(0.5):
        digest.update(answer.read(1 << 14))
    digest.update(answer.read())
    return answer.status, digest.hexdigest()


def test_downloads_end_whole(tmp_path):
    """Whoever reads a revision reads it to its end, though ten others take its place and its files are removed. No digest is forgotten
    when a revision is kept, and no download has anything inspected."""
    count, big, shim = 100, os.urandom(8 << 20), Shim(str(tmp_path), "minari-hub")
    with serve(tmp_path, "--keep-revisions", "1", prefix=shim.prefix) as hub:
        commits = [replace(hub, publish(hub)["commit"], {"big.bin": big})["commit"]]
        until(lambda: file_at(hub, "big.bin", commits[0]).status == 200)
        known = {commits[0]: digest_of(hub, commits[0])}
        started, go = threading.Barrier(count + 1, timeout=120), threading.Event()
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            running = [pool.submit(download, hub, f"{DATASET}/files/big.bin" + (f"?revision={commits[0]}" if n % 2 else ""), started, go) for n in range(count)]
            try:
                started.wait()
                for n in range(10):
                    commits.append(replace(hub, commits[-1], {"big.bin": b"%d" % n})["commit"])
                    known[commits[-1]] = digest_of(hub, commits[-1])
                assert all(status == 200 and digest for status, digest in known.values()), known
                until(lambda: all(digest_of(hub, c)[0] == 200 for c in commits) and inspections(hub) == 12 + 11)
                assert {c: digest_of(hub, c) for c in commits} == known, "no digest is forgotten"
                shim.clock(2 * 86400)  # the reads are long ago then
                last = replace(hub, commits[-1], {"big.bin": b"last"})["commit"]
                until(lambda: file_at(hub, "big.bin", commits[0]).status == 410)
                assert [s for _, s in states(hub)][:3] == ["current", "kept", "removed"]
                until(lambda: inspections(hub) == 13 + 12)
            finally:
                go.set()
            assert {r.result() for r in running} == {(200, hashlib.sha256(big).hexdigest())}
        assert file_at(hub, "big.bin").body == b"last" == file_at(hub, "big.bin", last).body
        assert inspections(hub) == 13 + 12, "each was inspected once where it was published, and once where it is kept"


def test_no_read_fails_while_revisions_come(hub):
    """Each answer is of one revision, and none is an error."""
    last = publish(hub)["commit"]
    want = [tree(DOOR)["data/main_data.hdf5"]]
    ended, seen = threading.Event(), []

    def read():
        while not ended.is_set():
            answer = ask(hub, "GET", f"{DATASET}/episodes/0/rewards?format=npy")
            seen.append((answer.status, hashlib.sha256(answer.body).hexdigest()))
            data = file_at(hub, "data/main_data.hdf5")
            seen.append((data.status, data.body == want[0]))

    thread = threading.Thread(target=read)
    thread.start()
    for n in range(4):
        last = replace(hub, last, {"notes.txt": b"%d" % n})["commit"]
    ended.set()
    thread.join()
    assert len(set(seen)) == 2 and {s for s, _ in seen} == {200}, {s for s in seen if s[0] != 200}


def test_kept_for_a_while(tmp_path):
    with serve(tmp_path, "--keep-revisions", "1", "--trash", "0") as hub:
        commits = [publish(hub)["commit"]]
        for n in range(3):
            commits.append(replace(hub, commits[-1], {"notes.txt": b"%d" % n})["commit"])
        kept = hub.root / ".minari-hub/kept/lab"
        assert len(os.listdir(kept)) == 3, "within a day of its end a revision may still be read"
        assert ask(hub, "DELETE", DATASET).status == 204
        until(lambda: ask(hub, "GET", DATASET).status == 404)
    left = hub.root / ".minari-hub/removed"
    (left / "a/b").mkdir(parents=True)  # as a hub leaves it that ended meanwhile
    (left / "a/b/c").write_bytes(b"x")
    with serve(tmp_path, "--trash", "0") as hub:
        until(lambda: not kept.exists() and not os.listdir(left))
        assert {r["state"] for r in revisions(hub).json()["items"][1:]} == {"removed"}
        gone = begin(hub, **{"from": f"{ID}@{commits[0]}"})
        assert (gone.status, problem(gone)) == (404, "not-found") or gone.status == 404


def test_read_within_a_day(tmp_path):
    """Of the revisions that are too many, those go that ended, and were read last, more than a day ago."""
    shim, path = Shim(str(tmp_path), "minari-hub"), "data/main_data.hdf5"
    with serve(tmp_path, "--keep-revisions", "1", prefix=shim.at(0).prefix) as hub:
        kept = lambda: {name.rpartition("@")[2] for name in os.listdir(hub.root / ".minari-hub/kept/lab")}
        commits = [publish(hub)["commit"]]

        def publish_at(hours):
            shim.clock(hours * 3600)
            commits.append(replace(hub, commits[-1], {"notes.txt": b"%d" % hours})["commit"])

        publish_at(0)
        publish_at(1)
        publish_at(23)
        a, b, c, d = commits
        assert kept() == {a, b, c}, "each ended within a day"
        until(lambda: file_at(hub, path, a).status == 200)
        publish_at(46)
        assert kept() == {a, c, d}, "one was read 23 hours ago, one ended then, and one is the newest"
        until(lambda: file_at(hub, path, b).status in (404, 410))
        publish_at(75)
        e = commits[-2]
        assert kept() == {e}
        assert [state for _, state in states(hub)] == ["current", "kept", "removed", "removed", "removed", "removed"]


def test_by_hand(hub):
    """What somebody put there, or changed, is not taken for the hub's own."""
    shutil.copytree(DOOR, hub.root / ID)
    until(lambda: ask(hub, "GET", DATASET).status == 200)
    for answer in (begin(hub), ask(hub, "DELETE", DATASET)):
        assert (answer.status, problem(answer)) == (409, "exists")
    assert (begin(hub, base="0" * 40).status, revisions(hub).status) == (412, 404)
    a = publish(hub, id="lab/own-v0")
    file = hub.root / "lab/own-v0/data/main_data.hdf5"
    os.chmod(file, 0o644)
    with open(file, "r+b") as f:
        f.write(b"changed")
    draft = draft_of(begin(hub, "lab/own-v0", base=a["commit"]))
    assert "data/main_data.hdf5" not in [f["path"] for f in ask(hub, "GET", draft + "/files").json()["items"]]


def test_who_may(hub, tmp_path):
    publish(hub)
    state = hub.state
    reader = run(state, "token", "add", "bob", "--read", "lab/")
    run(state, "access", "set", "*", "none", "lab/")
    assert revisions(hub, token=reader).status == 200
    for token, status in ((reader, 403), (None, 401)):
        assert ask(hub, "DELETE", DATASET, token=token).status == status
    stranger, absent = (revisions(hub, id=i, token=None) for i in (ID, "lab/none-v0"))
    assert stranger.status == absent.status and stranger.body.replace(ID.encode(), b"") == absent.body.replace(b"lab/none-v0", b"")
    assert ask(hub, "GET", f"{DATASET}?revision={'0' * 40}", token=None).status == absent.status


def test_what_is_deleted_is_read_by_its_writers(hub):
    """The others find nothing of it, whatever they ask by; who may write there reads it, and has it back."""
    a = publish(hub)
    b = replace(hub, a["commit"], {"notes.txt": b"second"})
    publish(hub, id="lab/open/other-v0")
    reader = run(hub.state, "token", "add", "bob", "--read", "lab/")
    run(hub.state, "token", "add", "eve", "--write", "eve/")
    eve = run(hub.state, "token", "add", "eva", "--write", "eve/")
    at = lambda commit, more="": f"/api/v1/datasets/{ID}@{commit}{more}"
    for token in (reader, None, eve):
        until(lambda: ask(hub, "GET", at(a["commit"]), token=token).status == 200)
    assert ask(hub, "DELETE", DATASET).status == 204
    until(lambda: ask(hub, "GET", at(b["commit"])).status == 200)
    asked = [at(a["commit"]), at(b["commit"]), at(b["commit"], "/files/notes.txt"), f"{DATASET}?revision={b['commit']}", f"{DATASET}/~revisions",
             f"/d/{ID}@{b['commit']}"]
    for token in (reader, None, eve):
        assert [ask(hub, "GET", path, token=token).status for path in asked] == [404] * len(asked)
    assert ask(hub, "GET", at(b["commit"], "/files/notes.txt")).body == b"second" and revisions(hub).status == 200
    stolen = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "eve/mine-v0", "from": f"{ID}@{b['commit']}"}), token=eve)
    assert (stolen.status, problem(stolen)) == (404, "revision-not-found")
    assert ask(hub, "GET", "/api/v1/datasets/lab/open/other-v0", token=reader).status == 200
    back = ask(hub, "POST", draft_of(begin(hub, **{"from": f"{ID}@{b['commit']}"})) + "/commit")
    assert back.status == 200, back.body
    for token in (reader, None):
        assert ask(hub, "GET", DATASET, token=token).json()["commit"] == back.json()["commit"]
        until(lambda: ask(hub, "GET", at(a["commit"]), token=token).status == 200)


def test_the_same_again(hub):
    """A commit of the same files is one of its own, and every answer names it."""
    a = publish(hub)
    assert ask(hub, "GET", DATASET).json()["commit"] == a["commit"]
    began = time.monotonic()
    b = replace(hub, a["commit"], {})
    assert b["content"] == a["content"] and b["commit"] != a["commit"]
    assert ask(hub, "GET", DATASET).json()["commit"] == b["commit"]
    assert time.monotonic() - began < 8, "it is not waited for in vain"
    assert ask(hub, "GET", f"{DATASET}?revision={a['commit']}").status == 200


def rename(hub, to, id=ID, **options):
    return ask(hub, "PATCH", f"/api/v1/datasets/{id}", json.dumps({"id": to}), **options)


def test_renamed(hub):
    """Its revisions go with it, and its former id leads to it."""
    a = publish(hub)
    b = replace(hub, a["commit"], {"notes.txt": b"second"})
    publish(hub, id="lab/other-v0")
    for to, status in (("lab/other-v0", 409), ("lab/arm-v0/x", 409), ("other/arm-v0", 403), ("../x", 400)):
        assert rename(hub, to).status == status, to
    done = rename(hub, "lab/left/arm-v3")
    assert (done.status, done.headers["Content-Location"]) == (204, "/api/v1/datasets/lab/left/arm-v3")
    assert not (hub.root / ID).exists() and tree(hub.root / "lab/left/arm-v3") == {**tree(DOOR), "notes.txt": b"second"}
    assert json.loads((hub.root / "lab/left/arm-v3/.minari-hub.json").read_text())["id"] == "lab/left/arm-v3"
    until(lambda: ask(hub, "GET", "/api/v1/datasets/lab/left/arm-v3").status == 200)
    former = ask(hub, "GET", DATASET)
    assert (former.status, former.headers["Content-Location"], former.json()["commit"]) == (200, "/api/v1/datasets/lab/left/arm-v3", b["commit"])
    until(lambda: file_at(hub, "data/main_data.hdf5", a["commit"]).status == 200)
    assert file_at(hub, "notes.txt").body == b"second"
    assert [(r["commit"], r["state"]) for r in revisions(hub, "lab/left/arm-v3").json()["items"]] == [(b["commit"], "current"), (a["commit"], "kept")]
    assert rename(hub, ID, "lab/left/arm-v3").status == 204 and rename(hub, "lab/left/arm-v3").status == 204, "there and back"
    c = publish(hub)
    until(lambda: ask(hub, "GET", DATASET).json().get("commit") == c["commit"]), "a new dataset of the former id hides the alias"


def test_a_crash_while_it_is_renamed(tmp_path):
    hub = serve(tmp_path)
    a = publish(hub)
    b = replace(hub, a["commit"], {"notes.txt": b"second"})
    assert rename(hub, "lab/new-v0").status == 204
    hub.process.send_signal(signal.SIGKILL)
    hub.stop(expect=None)
    with sqlite3.connect(os.path.join(hub.state, "hub.db")) as db:
        root = db.execute("SELECT root FROM commits").fetchone()[0]
        db.execute("INSERT INTO moves (dataset, root, path_from, path_to) VALUES ('lab/new-v0', ?, ?, 'lab/new-v0')", (root, ID))
    os.rename(hub.root / "lab/new-v0", hub.root / ID)
    with serve(tmp_path) as hub:
        until(lambda: ask(hub, "GET", "/api/v1/datasets/lab/new-v0").json().get("commit") == b["commit"])
        assert ask(hub, "GET", DATASET).json()["id"] == "lab/new-v0" and not (hub.root / ID).exists()


@pytest.mark.parametrize("step", ["exchange", "kept"])
def test_a_crash_between_the_renames(tmp_path, step):
    """The hub ends when the new files are in their place, and nobody was answered."""
    hub = serve(tmp_path)
    a = publish(hub)
    draft = draft_of(begin(hub, base=a["commit"]))
    assert put(hub, draft, "notes.txt", b"second").status == 201
    hub.process.send_signal(signal.SIGKILL)
    hub.stop(expect=None)
    name, commit = draft.rpartition("/")[2], "c" * 40
    private = hub.root / ".minari-hub"
    record = json.loads((hub.root / ID / ".minari-hub.json").read_text())
    record["commit"] = commit
    record["files"].append({"path": "notes.txt", "size": 6, "sha256": hashlib.sha256(b"second").hexdigest(), "origin": "hub"})
    (private / "drafts" / name / "tree" / ".minari-hub.json").write_text(json.dumps(record))
    with sqlite3.connect(os.path.join(hub.state, "hub.db")) as db:
        db.execute("UPDATE drafts SET state = 'publishing', commit_id = ? WHERE id = ?", (commit, name))
    os.rename(private / "drafts" / name / "tree", private / "new")
    if step == "kept":
        (private / "kept/lab").mkdir(parents=True)
    os.rename(hub.root / ID, private / "kept" / f"{ID}@{a['commit']}" if step == "kept" else private / "drafts" / name / "tree")
    os.rename(private / "new", hub.root / ID)
    with serve(tmp_path) as hub:
        assert states(hub) == [(commit, "current"), (a["commit"], "kept")]
        assert ask(hub, "POST", draft + "/commit").json()["commit"] == commit
        until(lambda: file_at(hub, "data/main_data.hdf5", a["commit"]).status == 200)
        assert file_at(hub, "notes.txt").body == b"second"
