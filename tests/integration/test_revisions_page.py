"""The page of revisions: what each commit changed, links to what is kept, and pages of an earlier revision."""
import os
import re
import shutil
import subprocess

import pytest

from browser import browser
from hub import until
from test_access_twins import run
from test_drafts import ARM, DOOR, ask, files_of, serve, tree
from test_drafts_page import show
from test_page import HOSTILE, Page
from test_revisions import DATASET, ID, add_commits, begin, draft_of, publish, put, replace, revisions

VIEW = f"/d/{ID}/~revisions"


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def page(hub, path, token=None):
    answer = show(hub, path, token)
    assert answer.status == 200, answer.body
    return Page(answer.body)


def rows(seen):
    """The lines of the table, below its heads."""
    text = re.sub(r"[ \t]+", " ", seen.text)
    return [line.strip() for line in text.split("Message", 1)[1].split("Have one back")[0].splitlines() if line.strip()]


def three(hub):
    """A set of 12 episodes, one with two files more and one changed, one of a few episodes with other files."""
    a = publish(hub)
    b = replace(hub, a["commit"], {"notes.txt": b"new", "more/readme.md": b"x"}, message="notes")
    c = replace(hub, b["commit"], {"notes.txt": b"newer", **tree(ARM)}, remove=["data/main_data.hdf5", "more/readme.md"], message=HOSTILE)
    return a, b, c


def test_what_each_changed(hub):
    a, b, c = three(hub)
    listed = {r["commit"]: r for r in revisions(hub).json()["items"]}
    count, gone = len(tree(DOOR)), len(tree(ARM))
    assert listed[a["commit"]]["changes"] == {"added": count, "changed": 0, "removed": 0} and "episodes_before" not in listed[a["commit"]]
    assert listed[b["commit"]]["changes"] == {"added": 2, "changed": 0, "removed": 0}
    assert listed[c["commit"]]["changes"] == {"added": gone, "changed": 1, "removed": 2}
    before, now = hub.get(f"{DATASET}?revision={a['commit']}").json()["episodes"], hub.dataset(ID)["episodes"]
    assert [(r.get("episodes_before"), r["episodes"]) for r in listed.values()] == [(before, now), (before, before), (None, before)] and before != now
    deleted = ask(hub, "DELETE", DATASET)
    assert deleted.status == 204
    last = revisions(hub).json()["items"][0]
    assert (last["kind"], last["changes"], last["episodes"], last["episodes_before"]) == ("delete", {"added": 0, "changed": 0, "removed": gone + 2 + count - 2}, 0, now)


def test_the_page(hub):
    a, b, c = three(hub)
    seen = page(hub, VIEW)
    assert f"/d/{ID}?revision={b['commit']}" in seen.links() and f"/d/{ID}" in seen.links() and VIEW in page(hub, f"/d/{ID}").links()
    text = " ".join(rows(seen))
    for words in ("token:ann", "notes", "2 added", "1 changed, 2 removed", "current", "kept"):
        assert words in text, (words, text)
    assert f"minari-cli revert '{ID}' --revision {b['commit']} --remote {hub.base}" in seen.text
    assert text.index(c["commit"][:10]) < text.index(b["commit"][:10]) < text.index(a["commit"][:10]), "the newest first"
    assert not [x for t, x in seen.tags if t in ("img", "script") and (x.get("src") == "x" or "src" not in x)], "a message is no markup"
    assert not [x for t, x in seen.tags if t == "form" and "revisions" in x.get("action", "")], "nothing is changed by a cookie"


def test_an_earlier_revision(hub):
    """All that its pages show and link to is of it."""
    a, b, _ = three(hub)
    old, new = until(lambda: hub.get(f"{DATASET}?revision={b['commit']}").json()), hub.dataset(ID)
    seen = page(hub, f"/d/{ID}?revision={b['commit']}")
    assert "This is an earlier revision" in seen.text and VIEW in seen.links() and f"{old['episodes']} episodes" in " ".join(seen.text.split())
    below = [link for link in seen.links() if link.startswith(f"/d/{ID}/") and link != VIEW]
    assert below and not [link for link in below if f"revision={b['commit']}" not in link]
    for path in ("episodes", "episodes/11", "files", "~statistics", "~findings"):
        one = page(hub, f"/d/{ID}/{path}?revision={b['commit']}")
        onward = [link for link in one.links() if re.match(rf"(/api/v1/datasets|/d)/{ID}(/(episodes|files|archive)|$|\?)", link)]
        assert onward and not [link for link in onward if f"revision={b['commit']}" not in link], path
    listed = page(hub, f"/d/{ID}/files?revision={b['commit']}&prefix=more/")
    assert "more/readme.md" in listed.text
    (readme,) = [link for link in listed.links() if link.split("?")[0].endswith("readme.md")]
    assert ask(hub, "GET", readme).body == b"x"
    assert show(hub, f"/d/{ID}/episodes/11").status == 404, "the current one has fewer"
    assert "earlier revision" not in page(hub, f"/d/{ID}?revision={new['revision']}").text
    gone = page(hub, f"/d/{ID}?revision={'0' * 40}")
    assert "shows the current data" in gone.text


def test_what_is_no_longer_kept(tmp_path):
    with serve(tmp_path, "--keep-revisions", "0") as hub:
        three(hub)
    add_commits(tmp_path, 120)
    with serve(tmp_path) as hub:
        until(lambda: hub.dataset(ID).get("commit"))
        first = page(hub, VIEW)
        assert "no longer kept" in first.text and "123" in first.text
        (rest,) = {link for link in first.links() if "cursor=" in link}
        second = page(hub, rest if rest.startswith("/") else VIEW + rest)
        assert "number 60" in second.text and "notes" not in second.text and "number 10 " not in second.text
        assert show(hub, VIEW + "?cursor=x").status == 400 and show(hub, "/d/lab/none-v0/~revisions").status == 404


def test_a_deleted_dataset(hub):
    """Who may write it sees what it was, and nobody else."""
    _, b, _ = three(hub)
    assert ask(hub, "DELETE", DATASET).status == 204
    until(lambda: hub.get(DATASET).status == 404)
    assert show(hub, VIEW).status == 404
    seen = page(hub, VIEW, hub.token)
    assert "deleted" in seen.text and not [link for link in seen.links() if b["commit"] in link] and "minari-cli revert" in seen.text


def test_private_is_absent(hub, tmp_path):
    """The page of a private dataset's revisions, and of an earlier revision, are for a stranger those of one that is not there."""
    a = publish(hub, id="lab/secret/door-v0")
    publish(hub, id="lab/open-v0")
    state = str(tmp_path / "state")
    eve = run(state, "token", "add", "eve").strip()
    run(state, "access", "set", "*", "none", "lab/secret/")
    until(lambda: ask(hub, "GET", "/api/v1/datasets/lab/secret/door-v0", token=eve).status == 404)
    assert ask(hub, "GET", "/api/v1/datasets/lab/open-v0/~revisions", token=eve).status == 200
    for token in (eve, None):
        for path in ("/d/{}/~revisions", "/d/{}/~revisions?limit=1", "/d/{}?revision=" + a["commit"], "/api/v1/datasets/{}/~revisions", "/api/v1/datasets/{}/~revisions?cursor=x"):
            private, absent = (ask(hub, "GET", path.format(id), headers={"Accept": "text/html"}, token=token) for id in ("lab/secret/door-v0", "lab/secret/none-v0"))
            assert private.status == absent.status != 200, path
            assert private.body.replace(b"door-v0", b"none-v0") == absent.body, path


def test_revisions_in_a_browser(hub):
    """From the dataset to a kept revision, an episode of it and back; with and without scripts."""
    if not browser():
        return
    _, b, _ = three(hub)
    script = os.path.join(os.path.dirname(__file__), "../web/revisions.js")
    done = subprocess.run(["node", script, hub.base, ID, b["commit"], os.environ.get("SHOTS", "")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
