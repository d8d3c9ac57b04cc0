"""The pages of drafts: each sees what is theirs, how far it is, and why it was refused."""
import json
import os
import re
import shutil
import subprocess

import pytest

from browser import browser
from hub import until
from principals import session
from test_access_twins import run
from test_drafts import ARM, DOOR, ask, files_of, open_draft, put, serve
from test_page import HOSTILE, Page


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path, "--failed-tries", "off") as hub:
        hub.token = hub.token.strip()
        hub.bob = run(str(tmp_path / "state"), "token", "add", "bob", "--write", "lab/bob/").strip()
        hub.eve = run(str(tmp_path / "state"), "token", "add", "eve", "--read", "lab/").strip()
        hub.boss = run(str(tmp_path / "state"), "token", "add", "boss", "--admin").strip()
        until(lambda: all(ask(hub, "GET", "/api/v1/drafts", token=t).status == 200 for t in (hub.bob, hub.eve, hub.boss)))
        yield hub


def show(hub, path, token=None):
    """As a browser that has signed in."""
    return ask(hub, "GET", path, headers={"Accept": "text/html", **(session(hub, token) if token else {})}, token=None)


def page(hub, path, token):
    answer = show(hub, path, token)
    assert answer.status == 200, answer.body
    assert "private" in answer.headers["Cache-Control"] or "no-store" in answer.headers["Cache-Control"]
    return Page(answer.body)


def of(draft):
    return "/~drafts/" + draft.rpartition("/")[2]


def cut(hub, id="lab/door-v0"):
    """A draft with a file that is cut short, one of which a part came, and none of what is missing."""
    draft = open_draft(hub, id)
    data = open(os.path.join(DOOR, "data/main_data.hdf5"), "rb").read()
    assert put(hub, draft, "data/main_data.hdf5", data[:20000]).status == 201
    return draft


def test_who_sees_what(hub):
    mine, bobs = cut(hub), open_draft(hub, "lab/bob/arm-v0", token=hub.bob)
    assert of(mine) in page(hub, "/~drafts", hub.token).links() and of(bobs) not in page(hub, "/~drafts", hub.token).links()
    assert {of(mine), of(bobs)} <= set(page(hub, "/~drafts", hub.boss).links())
    assert "token:bob" in page(hub, "/~drafts", hub.boss).text and "lab/bob/arm-v0" in page(hub, of(bobs), hub.boss).text
    assert show(hub, of(bobs), hub.token).status == show(hub, "/~drafts/abcdefghijklmnop", hub.token).status == 404
    for path in ("/~drafts", of(mine)):
        assert show(hub, path, hub.eve).status == 403
        nobody = show(hub, path)
        assert (nobody.status, nobody.headers["Location"].partition("?")[0]) == (303, "/~login")
    assert "/~drafts" in page(hub, "/~drafts", hub.token).links(), "the header leads here"
    assert "/~drafts" not in Page(show(hub, "/", hub.eve).body).links() and "/~drafts" not in Page(show(hub, "/").body).links()


def test_how_far_it_is(hub):
    draft = cut(hub)
    assert put(hub, draft, "data/more.bin", b"x" * 1000, **{"Content-Range": "bytes 0-999/4000"}).status == 200
    listed = page(hub, "/~drafts", hub.token)
    assert "lab/door-v0" in listed.text and "1 of 2" in listed.text and "24 KB" in listed.text, listed.text
    one = page(hub, of(draft), hub.token)
    assert re.search(r"data/more\.bin\s*1(,000 bytes| KB)\s*4(,000 bytes| KB)", one.text) and "open" in one.text, one.text
    assert any(t == "meta" and a.get("http-equiv") == "refresh" for t, a in one.tags), "it is followed without scripts, too"
    drop = next(line for line in one.text.splitlines() if "minari-cli drafts drop" in line).strip()
    assert drop.endswith(f"minari-cli drafts drop {draft.rpartition('/')[2]} --remote {hub.base}")
    assert not [a for t, a in one.tags if t == "form" and "drafts" in a.get("action", "")], "nothing is dropped by a cookie"


def test_why_it_was_refused(hub):
    """The verdict outlives the request; a publication ends it."""
    draft, files = open_draft(hub, "lab/arm-v0"), {path: open(file, "rb").read() for path, file in files_of(ARM)}
    table = next(path for path in sorted(files) if path.startswith("data/") and path.endswith(".parquet"))
    for path, data in files.items():
        assert put(hub, draft, path, data[: len(data) // 2] if path == table else data).status == 201
    assert ask(hub, "POST", draft + "/commit").status == 422
    refused = ask(hub, "GET", draft).json()["refused"]
    assert refused["verdict"] == "broken" and refused["problems"] and refused["reason"] and refused["at"]
    assert ask(hub, "GET", "/api/v1/drafts").json()["items"][0]["refused"] == refused
    listed, one = page(hub, "/~drafts", hub.token), page(hub, of(draft), hub.token)
    assert "refused" in listed.text and refused["reason"][:60] in listed.text
    assert "Why it was refused" in one.text and refused["problems"][0]["code"] in one.text and refused["problems"][0]["detail"][:60] in one.text
    assert put(hub, draft, table, files[table]).status == 201
    assert ask(hub, "POST", draft + "/commit").status == 200
    done = page(hub, of(draft), hub.token)
    assert "/d/lab/arm-v0" in done.links() and "Why it was refused" not in done.text and "refused" not in ask(hub, "GET", draft).json()
    assert not any(t == "meta" and a.get("http-equiv") == "refresh" for t, a in done.tags)


def test_many_files(hub):
    draft = open_draft(hub, "lab/many")
    names = [f"f{i:03}.txt" for i in range(205)]
    for name in names:
        assert put(hub, draft, name, b"x").status == 201
    few = ask(hub, "GET", draft + "/files?limit=2&after=f001.txt").json()["items"]
    assert [f["path"] for f in few] == ["f002.txt", "f003.txt"]
    first = page(hub, of(draft), hub.token)
    assert "f199.txt" in first.text and "f200.txt" not in first.text
    rest = page(hub, next(link for link in first.links() if "after=" in link), hub.token)
    assert "f200.txt" in rest.text and "f199.txt" not in rest.text and not [link for link in rest.links() if "after=" in link]


def test_text_of_a_draft_is_no_markup(hub):
    draft = open_draft(hub, "lab/" + HOSTILE.replace("/", "_").replace("\u202e", ""))
    assert put(hub, draft, HOSTILE.replace("/", "_").replace("\u202e", ""), b"x").status == 201
    for path in ("/~drafts", of(draft)):
        tags = page(hub, path, hub.token).tags
        assert not [a for t, a in tags if t in ("img", "script") and (a.get("src") == "x" or "src" not in a)]


def test_a_draft_in_a_browser(hub, tmp_path):
    """It is followed while its files come, and ends as the dataset."""
    if not browser():
        return
    draft = open_draft(hub, "lab/door-v0")
    shutil.copytree(DOOR, tmp_path / "door")
    script = os.path.join(os.path.dirname(__file__), "../web/drafts.js")
    done = subprocess.run(["node", script, hub.base, hub.token, draft, str(tmp_path / "door")], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ask(hub, "GET", draft).json()["state"] == "published" and json.loads(ask(hub, "GET", "/api/v1/datasets/lab/door-v0").body)["status"] == "ready"
