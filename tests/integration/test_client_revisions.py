"""minari-cli upload --replace, revisions, revert, delete --remote: a dataset of a hub is replaced, and nothing is lost."""
import json
import os
import shutil
import signal

import pytest

from cli import Cli, on_terminal, tree
from hub import until
from test_access_twins import run
from test_revisions import add_commits
from test_upload import DOOR, drafts, files_of, hub, large  # noqa: F401 (fixtures)

ID = "lab/arm-v0"


@pytest.fixture
def cli(hub, tmp_path):  # noqa: F811
    return Cli(tmp_path / "datasets", hub.base, MINARI_HUB_TOKEN=(tmp_path / "token").read_text().strip())


@pytest.fixture
def recorded(tmp_path):
    """A dataset on this machine, with a file that changes."""
    shutil.copytree(DOOR, tmp_path / "recorded")
    return note(tmp_path / "recorded", "first")


def note(folder, text):
    (folder / "notes.txt").write_text(text)
    return folder


def push(cli, folder, *more, id=ID):
    return cli.run("upload", str(folder), id, "--json", *more, expect=0).json()


def revisions(cli, id=ID):
    return cli.run("revisions", id, "--json", expect=0).json()["items"]


def states(cli):
    return [(r["commit"], r["state"]) for r in revisions(cli)]


def open_drafts(cli):
    return [d for d in drafts(cli) if d["state"] == "open"]


def has_come(cli, path):
    """Bytes of a file that open drafts have."""
    return sum(f["offset"] for d in open_drafts(cli) for f in files_of(cli, d["draft"]) if f["path"] == path)


def is_there(cli, id=ID):
    return cli.run("show", id, "--remote", cli.env["MINARI_HUB_URL"]).code == 0


def size(folder):
    return sum(map(len, tree(folder).values()))


def test_only_what_changed_is_sent(hub, cli, recorded):  # noqa: F811
    a = push(cli, recorded)
    note(recorded, "the second")
    (recorded / "more.txt").write_text("more")
    planned = cli.run("upload", str(recorded), ID, "--replace", "--dry-run", expect=0)
    assert f" in 2 of {a['files'] + 1} files would be sent" in planned.out and a["commit"][:10] in planned.out, planned
    assert "'notes.txt' would be sent" in planned.err and "'more.txt' would be sent" in planned.err, planned
    assert open_drafts(cli) == [] and tree(hub.root / ID)["notes.txt"] == b"first"
    again = cli.run("upload", str(recorded), ID, "--replace", "--json", "--verbose", "-m", "better", expect=0)
    b = again.json()
    assert (b["base"], b["files_kept"], b["files_removed"], b["bytes_kept"]) == (a["commit"], a["files"] - 1, 0, size(recorded) - 14)
    assert sum(line.startswith("PUT ") for line in again.err.splitlines()) == 2, again
    assert tree(hub.root / ID) == tree(recorded)
    (recorded / "more.txt").unlink()
    without = cli.run("upload", str(recorded), ID, "--replace", expect=0)
    assert "'more.txt' is not in the folder" in without.err and b["commit"][:10] in without.out
    assert tree(hub.root / ID) == tree(recorded)
    (c, *older) = revisions(cli)
    assert [(r["commit"], r["state"]) for r in older] == [(b["commit"], "kept"), (a["commit"], "kept")]
    assert (c["state"], c["parent"], older[0]["message"], c["who"]) == ("current", b["commit"], "better", "token:ann")


def test_what_has_not_changed(cli, recorded):
    a = push(cli, recorded)
    for more in ([], ["--dry-run"]):
        same = push(cli, recorded, "--replace", *more)
        assert (same["unchanged"], same["commit"], same["bytes_kept"]) == (True, a["commit"], a["bytes"]), same
    assert "nothing has changed" in cli.run("upload", str(recorded), ID, "--replace", expect=0).out
    assert states(cli) == [(a["commit"], "current")] and open_drafts(cli) == []


def test_what_can_be_replaced(hub, cli, recorded, tmp_path):  # noqa: F811
    """Where nothing is there it is a new dataset; what somebody else put there stays."""
    new = cli.run("upload", str(recorded), ID, "--replace", expect=0)
    assert "becomes a new dataset" in new.err and tree(hub.root / ID) == tree(recorded)
    refused = cli.run("upload", str(recorded), ID, expect=1)
    assert "--replace" in refused.err and "--next-version" in refused.err
    shutil.copytree(DOOR, hub.root / "lab/hand-v0")
    until(lambda: is_there(cli, "lab/hand-v0"))
    for more in ([], ["--dry-run"]):
        by_hand = cli.run("upload", str(recorded), "lab/hand-v0", "--replace", *more, expect=1)
        assert "was not published by" in by_hand.err and "--next-version" in by_hand.err, by_hand
    assert tree(hub.root / "lab/hand-v0") == tree(DOOR) and open_drafts(cli) == []
    assert "give one of them" in cli.run("upload", str(recorded), ID, "--replace", "--next-version", expect=2).err
    elsewhere = cli.run("upload", str(recorded), "other/arm-v0", "--replace", expect=7)
    assert "may not write 'other/arm-v0'" in elsewhere.err
    broken = tmp_path / "broken"
    shutil.copytree(recorded, broken)
    os.truncate(broken / "data/main_data.hdf5", 20000)
    cli.run("upload", str(broken), ID, "--replace", "--no-inspect", expect=8)
    assert tree(hub.root / ID) == tree(recorded), "what is refused replaces nothing"


def test_a_kill_in_the_middle(hub, cli, tmp_path):  # noqa: F811
    """The rerun goes on in the draft of the same base."""
    folder = large(tmp_path / "big", 1 << 20)
    options = ["--allow", "files", "--no-inspect"]
    a = push(cli, folder, *options)
    (folder / "new.bin").write_bytes(os.urandom(24 << 20))
    command = ["upload", str(folder), ID, "--replace", *options]
    process = cli.start(*command, "--limit", "8M")
    until(lambda: has_come(cli, "new.bin") > 8 << 20)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    (draft,) = open_drafts(cli)
    done = cli.run(*command, "--json", expect=0)
    assert "going on with draft" in done.err
    assert (done.json()["draft"], done.json()["base"]) == (draft["draft"], a["commit"]) and done.json()["bytes_kept"] > 9 << 20
    assert tree(hub.root / ID) == tree(folder)


def test_somebody_else_was_first(hub, cli, recorded, tmp_path):  # noqa: F811
    """A push is refused where another one was published since it began; the next run goes by that."""
    a = push(cli, recorded)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        shutil.copytree(recorded, folder)
        note(folder, folder.name)
    (ours / "big.bin").write_bytes(os.urandom(12 << 20))
    process = cli.start("upload", str(ours), ID, "--replace", "--limit", "1M")
    until(lambda: has_come(cli, "big.bin") > 1 << 20)
    bob = Cli(tmp_path / "datasets", hub.base, MINARI_HUB_TOKEN=run(hub.state, "token", "add", "bob", "--write", "lab/"))
    b = push(bob, theirs, "--replace")
    assert b["base"] == a["commit"]
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1 and b["commit"] in said and f"minari-cli revisions {ID}" in said, said
    assert tree(hub.root / ID) == tree(theirs)
    again = cli.run("upload", str(ours), ID, "--replace", expect=0)
    assert "was begun when another commit was there" in again.err and tree(hub.root / ID) == tree(ours)
    assert [r["parent"] for r in revisions(cli)[:2]] == [b["commit"], a["commit"]]


def test_a_revision_is_had_back(hub, cli, recorded):  # noqa: F811
    was = tree(recorded)
    a = push(cli, recorded)
    b = push(cli, note(recorded, "second"), "--replace")
    listed = cli.run("revisions", f"{hub.base}/{ID}", expect=0).out
    assert a["commit"][:10] in listed and "kept" in listed and "token:ann" in listed
    for words, code, said in ((["--revision", b["commit"]], 1, "already"), (["--revision", "0" * 40], 3, f"minari-cli revisions {ID}"), (["--revision", "123456"], 2, "7 or more"),
                              ([], 2, "--revision COMMIT")):
        refused = cli.run("revert", ID, *words, expect=code)
        assert said in refused.err, refused
    c = cli.run("revert", ID, "--revision", a["commit"][:8], "--json", expect=0).json()
    assert (c["base"], c["content"]) == (b["commit"], a["content"]) and tree(hub.root / ID) == was
    assert revisions(cli)[0]["message"] == f"back to {a['commit'][:7]}"
    said = cli.run("revert", ID, "--revision", b["commit"], "--message", "no, the second", expect=0).out
    assert tree(hub.root / ID) == tree(recorded) and revisions(cli)[0]["message"] == "no, the second" and revisions(cli)[0]["commit"] in said
    assert open_drafts(cli) == [] and len(revisions(cli)) == 4
    assert cli.run("revisions", "lab/none-v0", expect=3)


def test_more_revisions_than_a_page_has(hub, cli, recorded, tmp_path):  # noqa: F811
    a = push(cli, recorded)
    add_commits(tmp_path, 1500)
    b = push(cli, note(recorded, "second"), "--replace")
    assert len({r["commit"] for r in revisions(cli)}) == 1502
    few = cli.run("revisions", ID, "--limit", "2", "--json", expect=0).json()["items"]
    assert [r["commit"] for r in few] == [b["commit"], a["commit"]]
    assert len(cli.run("revisions", ID, "--limit", "5", expect=0).out.splitlines()) == 6
    assert cli.run("revert", ID, "--revision", a["commit"], "--json", expect=0).json()["base"] == b["commit"]
    last = cli.run("revert", ID, "--revision", f"{1499:040x}", expect=3)
    assert "does not keep the files" in last.err, last


def test_files_of_no_format_come_back(hub, cli, tmp_path):  # noqa: F811
    """What was published with --allow needs none for a revert."""
    folder = tmp_path / "notes"
    folder.mkdir()
    a = push(cli, note(folder, "first"), "--allow", "files", id="lab/notes")
    push(cli, note(folder, "second"), "--allow", "files", "--replace", id="lab/notes")
    cli.run("revert", "lab/notes", "--revision", a["commit"], expect=0)
    assert tree(hub.root / "lab/notes") == {"notes.txt": b"first"}


def test_deletion(hub, cli, recorded, tmp_path):  # noqa: F811
    """It asks, and says how to have it back; a dataset of this machine stays."""
    a = push(cli, recorded)
    cli.run("download", ID, expect=0)
    here = tree(cli.path(ID))
    for words in ([ID, "--remote"], ["--remote", ID], [ID, "--remote", hub.base], [f"{hub.base}/{ID}"]):
        asked = cli.run("delete", *words, input="n\n", expect=1)
        assert f"Delete from {hub.base}" in asked.err and f"{ID}: " in asked.err, asked
    assert cli.run("delete", ID, "lab/none-v0", "--remote", "--yes", expect=3) and is_there(cli)
    reader = Cli(tmp_path / "datasets", hub.base, MINARI_HUB_TOKEN=run(hub.state, "token", "add", "bob", "--read", "lab/"))
    assert reader.run("delete", ID, "--remote", "--yes", expect=7) and tree(hub.root / ID) == tree(recorded)
    code, seen = on_terminal(cli, "delete", ID, "--remote", answer="y\n", columns=200)
    assert code == 0 and f"minari-cli revert {ID} --revision {a['commit'][:10]}" in seen, seen
    until(lambda: not is_there(cli))
    assert tree(cli.path(ID)) == here and not (hub.root / ID).exists()
    assert cli.run("delete", ID, "--remote", "--yes", expect=3)
    (deletion, before) = revisions(cli)
    assert (deletion["kind"], before["state"]) == ("delete", "kept") and "deleted" in cli.run("revisions", ID, expect=0).out
    assert before["commit"] in cli.run("revert", ID, "--revision", deletion["commit"], expect=2).err
    cli.run("revert", ID, "--revision", before["commit"][:10], expect=0)
    assert tree(hub.root / ID) == tree(recorded)
    gone = cli.run("delete", ID, "--remote", "--yes", "--json", expect=0).json()
    assert gone["deleted"] == 1 and gone["items"][0]["revision"] == revisions(cli)[1]["commit"]
    until(lambda: not is_there(cli))
    again = cli.run("upload", str(recorded), ID, expect=0)
    assert "of it were there" not in again.out and tree(hub.root / ID) == tree(recorded)
    cli.run("delete", ID, "--yes", expect=0)
    assert not os.path.exists(cli.path(ID)) and (hub.root / ID).exists(), "without --remote it is this machine's"


def test_files_that_were_changed_by_hand(hub, cli, recorded):  # noqa: F811
    """A revision that the hub has no more as it was does not come back in part."""
    a = push(cli, recorded)
    push(cli, note(recorded, "second"), "--replace")
    (kept,) = [os.path.join(at, "notes.txt") for at, _, names in os.walk(hub.root / ".minari-hub/kept") if "notes.txt" in names]
    os.chmod(kept, 0o644)
    with open(kept, "w") as f:
        f.write("FIRST")
    refused = cli.run("revert", ID, "--revision", a["commit"], "--json", expect=3)
    assert json.loads(refused.err.splitlines()[-1])["error"]["problem"] == "revision-gone"
    assert tree(hub.root / ID) == tree(recorded) and open_drafts(cli) == []
