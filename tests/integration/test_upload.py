"""minari-cli upload: a folder becomes a dataset of a hub, whole or not at all, and goes on after any end."""
import json
import os
import re
import shutil
import signal
import threading
import time

import pytest

from cli import Cli, tree
from hub import FIXTURES, Hub, quote, until
from test_access_twins import run

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
ARM = os.path.join(FIXTURES, "lerobot", "arm-v30")


def serve(tmp_path, *args):
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir(exist_ok=True)
    if not state.exists():
        state.mkdir(mode=0o700)
        (tmp_path / "token").write_text(run(str(state), "token", "add", "ann", "--write", "lab/"))
    hub = Hub([str(root)], state=str(state), args=args)
    hub.wait_ready()
    hub.root = root
    return hub


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


@pytest.fixture
def cli(hub, tmp_path):
    return Cli(tmp_path / "datasets", hub.base, MINARI_HUB_TOKEN=(tmp_path / "token").read_text().strip())


def drafts(cli):
    return cli.run("drafts", "--json", expect=0).json()["items"]


def large(folder, *sizes):
    folder.mkdir(parents=True)
    for i, size in enumerate(sizes):
        (folder / f"part-{i}.bin").write_bytes(os.urandom(1 << 16) * (size >> 16))
    return folder


@pytest.mark.parametrize("fixture,format", [(DOOR, "minari-hdf5"), (ARM, "lerobot")])
def test_a_push_and_its_download(hub, cli, tmp_path, fixture, format):
    pushed = cli.run("upload", fixture, "lab/new-v0", "--message", "the first", "--json", expect=0).json()
    assert (pushed["id"], pushed["format"], pushed["problems"]) == ("lab/new-v0", format, []) and pushed["commit"]
    assert (pushed["files"], pushed["bytes"]) == (len(tree(fixture)), sum(map(len, tree(fixture).values())))
    assert tree(hub.root / "lab/new-v0") == tree(fixture)
    assert hub.dataset("lab/new-v0")["content"] == pushed["content"]
    cli.run("download", "lab/new-v0", "-o", str(tmp_path / "back"), expect=0)
    assert tree(tmp_path / "back/lab/new-v0") == tree(fixture)
    assert drafts(cli) == [], "a published one is not listed"


def test_a_push_as_a_tar(hub, cli, tmp_path):
    """One request, whatever the names; what is there already is not sent again."""
    folder = shutil.copytree(ARM, tmp_path / "many")
    (folder / "extra").mkdir()
    for i in range(300):
        (folder / "extra" / f"{i}-{'n' * (i % 120)}é").write_bytes(os.urandom(i * 7))
    pushed = cli.run("upload", str(folder), "lab/new-v0", "--tar", "--no-inspect", "--json", expect=0).json()
    assert tree(hub.root / "lab/new-v0") == tree(folder) and pushed["commit"] and pushed["files_kept"] == 0
    requests = [line for line in hub.text_log().splitlines() if "PUT" in line]
    assert len(requests) == 1 and "draft-archive" in requests[0], requests[:3]
    cut = shutil.copytree(DOOR, tmp_path / "cut")
    os.truncate(cut / "data/main_data.hdf5", 20000)
    cli.run("upload", str(cut), "lab/door-v0", "--tar", "--no-inspect", expect=8)
    shutil.copy(os.path.join(DOOR, "data/main_data.hdf5"), cut / "data/main_data.hdf5")
    again = cli.run("upload", str(cut), "lab/door-v0", "--tar", "--no-inspect", "--json", expect=0).json()
    assert again["files_kept"] == again["files"] - 1 and tree(hub.root / "lab/door-v0") == tree(DOOR)


def test_which_id(hub, cli, tmp_path):
    """The one that the metadata states, else where Minari would keep it, else the last two names."""
    shutil.copytree(ARM, tmp_path / "some/lab/arm-v1")
    shutil.copytree(ARM, tmp_path / "datasets/lab/robots/arm-v2")
    shutil.copytree(DOOR, tmp_path / "any")
    path = tmp_path / "any/data/metadata.json"
    stated = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**stated, "dataset_id": "lab/stated-v3"}))
    ids = [cli.run("upload", str(folder), "--dry-run", "--no-inspect", "--json", expect=0).json()["id"]
           for folder in (tmp_path / "some/lab/arm-v1", tmp_path / "datasets/lab/robots/arm-v2", tmp_path / "any")]
    assert ids == ["lab/arm-v1", "lab/robots/arm-v2", "lab/stated-v3"]
    assert cli.run("upload", ARM, f"{hub.base}/lab/by-url-v0", expect=0) and hub.dataset("lab/by-url-v0")["status"] == "ready"


def test_a_dry_run(hub, cli):
    said = cli.run("upload", ARM, "lab/new-v0", "--dry-run", expect=0).out
    assert "would be pushed" in said and drafts(cli) == [] and not (hub.root / "lab").exists()


def test_next_version(hub, cli):
    ids = [cli.run("upload", ARM, "lab/arm", "--next-version", "--json", expect=0).json()["id"] for _ in range(3)]
    ids.append(cli.run("upload", ARM, "lab/arm-v0", "--next-version", "--json", expect=0).json()["id"])
    assert ids == [f"lab/arm-v{i}" for i in range(4)]


def test_what_exists(hub, cli):
    cli.run("upload", ARM, "lab/arm-v0", expect=0)
    for more in ([], ["--dry-run"]):
        again = cli.run("upload", ARM, "lab/arm-v0", *more, expect=1)
        assert "exists already" in again.err and "--next-version" in again.err, again


def test_who_may(hub, cli):
    nobody = cli.run("upload", ARM, "lab/arm-v0", expect=7, MINARI_HUB_TOKEN="")
    assert "token" in nobody.err and "MINARI_HUB_TOKEN" in nobody.err, nobody
    elsewhere = cli.run("upload", ARM, "other/arm-v0", expect=7)
    assert "may not write 'other/arm-v0'" in elsewhere.err, elsewhere
    no_hub = cli.run("upload", ARM, "lab/arm-v0", "--remote", "gcp://bucket", expect=1)
    assert "not a hub" in no_hub.err, no_hub
    assert drafts(cli) == []


def cut(tmp_path):
    shutil.copytree(DOOR, tmp_path / "cut")
    os.truncate(tmp_path / "cut/data/main_data.hdf5", 20000)
    return str(tmp_path / "cut")


def test_broken(hub, cli, tmp_path):
    """Refused here before a byte is sent, else by the hub; what is mended goes on."""
    path = cut(tmp_path)
    here = cli.run("upload", path, "lab/door-v0", expect=8)
    assert "main_data.hdf5" in here.err and "cut short" in here.err and drafts(cli) == []
    there = cli.run("upload", path, "lab/door-v0", "--no-inspect", expect=8)
    assert "draft is still open" in there.err and "main_data.hdf5" in there.err, there
    (draft,) = drafts(cli)
    assert (draft["id"], draft["state"]) == ("lab/door-v0", "open") and not (hub.root / "lab").exists()
    assert "only what changed is sent" in there.err
    as_json = cli.run("upload", path, "lab/door-v0", "--no-inspect", "--json", expect=8)
    assert json.loads(as_json.err.splitlines()[-1])["error"]["problem"] == "draft-refused"
    shutil.copy(os.path.join(DOOR, "data/main_data.hdf5"), tmp_path / "cut/data/main_data.hdf5")
    mended = cli.run("upload", path, "lab/door-v0", "--json", expect=0).json()
    assert mended["draft"] == draft["draft"] and tree(hub.root / "lab/door-v0") == tree(DOOR)


@pytest.mark.parametrize("inspected", [[], ["--no-inspect"]])
def test_problems_line_by_line(hub, cli, tmp_path, inspected):
    """A cut table is named with its problem, by minari-inspect or by the hub."""
    arm = tmp_path / "arm"
    shutil.copytree(ARM, arm)
    table = next(p for p in sorted(arm.rglob("*.parquet")) if "data" in p.relative_to(arm).parts)
    os.truncate(table, table.stat().st_size // 2)
    refused = cli.run("upload", str(arm), "lab/arm-v0", *inspected, expect=8)
    name = str(table.relative_to(arm))
    assert any(re.match(rf"[a-z-]+: .*{re.escape(name)}", line) for line in refused.err.splitlines()), refused
    as_json = cli.run("upload", str(arm), "lab/arm-v0", "--json", *inspected, expect=8).json()
    assert as_json["commit"] is None and any(name in json.dumps(p) and p["code"] and p["detail"] for p in as_json["problems"]), as_json


def test_allowed_all_the_same(hub, cli, tmp_path):
    path = cut(tmp_path)
    cli.run("upload", path, "lab/door-v0", "--allow", "broken", expect=0)
    assert tree(hub.root / "lab/door-v0") == tree(path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.txt").write_text("hello")
    (tmp_path / "notes/empty").touch()
    refused = cli.run("upload", str(tmp_path / "notes"), "lab/notes", expect=8)
    assert "--allow files" in refused.err and drafts(cli) == [d for d in drafts(cli) if d["state"] == "published"]
    cli.run("upload", str(tmp_path / "notes"), "lab/notes", "--allow", "files", expect=0)
    assert tree(hub.root / "lab/notes") == {"a.txt": b"hello", "empty": b""}


def test_names(hub, cli, tmp_path):
    """What cannot be pushed is said before a byte is; hidden names are left out with a word."""
    good = tmp_path / "good"
    large(good / "data", 1 << 16)
    (good / ".cache").mkdir()
    (good / ".minari-hub.json").write_text("{}")
    (good / "data/inner").symlink_to("part-0.bin")
    (good / "data/.zarray").write_text("{}")
    for make, word in ((lambda p: (p / "back\\slash").write_text("x"), "backslash"), (lambda p: (p / "line\nbreak").write_text("x"), "printable"),
                       (lambda p: (p / "out").symlink_to("/etc/hostname"), "leads out"), (lambda p: (p / "gone").symlink_to("nowhere"), "link"),
                       (lambda p: (p / "loop").symlink_to("data"), "link"), (lambda p: os.mkfifo(p / "pipe"), "neither"),
                       (lambda p: ((p / "A").write_text("x"), (p / "a").write_text("y")), "case")):
        bad = tmp_path / "bad"
        shutil.copytree(good, bad, symlinks=True)
        make(bad)
        refused = cli.run("upload", str(bad), "lab/bad-v0", "--no-inspect", "--allow", "files", expect=2)
        assert word in refused.err, refused
        shutil.rmtree(bad)
    assert drafts(cli) == []
    said = cli.run("upload", str(good), "lab/good-v0", "--allow", "files", expect=0)
    assert "'.cache'" in said.err and ".minari-hub" not in said.err
    assert sorted(tree(hub.root / "lab/good-v0")) == ["data/inner", "data/part-0.bin"] and (hub.root / "lab/good-v0/data/.zarray").exists()
    for path, word in ((tmp_path / "none", "cannot be opened"), (tmp_path / "token", "not a folder")):
        assert word in cli.run("upload", str(path), "lab/x-v0", "--no-inspect").err
    (tmp_path / "empty").mkdir()
    assert "no file" in cli.run("upload", str(tmp_path / "empty"), "lab/x-v0", "--no-inspect", expect=2).err


def test_many_small_files(hub, cli, tmp_path):
    folder = tmp_path / "many"
    for i in range(1000):
        (folder / f"{i % 10}").mkdir(parents=True, exist_ok=True)
        (folder / f"{i % 10}/file {i}.json").write_text(f'{{"number": {i}}}')
    began = time.monotonic()
    pushed = cli.run("upload", str(folder), "lab/many", "--allow", "files", "--json", expect=0).json()
    assert pushed["files"] == 1000 and tree(hub.root / "lab/many") == tree(folder)
    print(f"1,000 files in {time.monotonic() - began:.1f} s")


def come(cli):
    """Bytes that the hub has of all drafts, whole files or not."""
    return sum(f["offset"] for d in drafts(cli) for f in files_of(cli, d["draft"]))


def files_of(cli, draft):
    import urllib.request
    request = urllib.request.Request(f"{cli.env['MINARI_HUB_URL']}/api/v1/drafts/{quote(draft)}/files", headers={"Authorization": "Bearer " + cli.env["MINARI_HUB_TOKEN"]})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())["items"]


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_an_end_in_the_middle(hub, cli, tmp_path, signal_number):
    """The rerun goes on in the same draft; what is there is not sent again."""
    folder = large(tmp_path / "big", 8 << 20, 24 << 20, 1 << 20)
    command = ["upload", str(folder), "lab/big-v0", "--allow", "files", "--no-inspect", "--limit", "8M"]
    process = cli.start(*command)
    until(lambda: come(cli) > 12 << 20)
    process.send_signal(signal_number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if signal_number == signal.SIGKILL else 130)
    if signal_number == signal.SIGINT:
        assert "run the same command again" in said
    (draft,) = drafts(cli)
    before = until(lambda: settled(cli))
    done = cli.run(*command[:-2], "--json", expect=0).json()
    assert done["draft"] == draft["draft"] and done["bytes_kept"] == before >= 12 << 20
    assert tree(hub.root / "lab/big-v0") == tree(folder)


def settled(cli):
    """What came, once it does not grow."""
    came = come(cli)
    time.sleep(0.3)  # what was on its way
    return came if come(cli) == came else None


def test_what_changes_between(hub, cli, tmp_path):
    """Other bytes of a file are sent, also where its size is the same; what is gone leaves the draft."""
    folder = large(tmp_path / "big", 1 << 20, 2 << 20, 1 << 20)
    (folder / "bad\\name").touch()
    command = ["upload", str(folder), "lab/big-v0", "--no-inspect", "--json"]
    os.rename(folder / "bad\\name", folder / "z")
    refused = cli.run(*command, expect=8)
    assert "draft-refused" in refused.err
    (folder / "part-0.bin").write_bytes(os.urandom(1 << 20))
    (folder / "part-2.bin").unlink()
    done = cli.run(*command, "--allow", "files", expect=0)
    assert "'part-2.bin' is not in the folder" in done.err
    assert (done.json()["bytes_kept"], done.json()["files_kept"]) == (2 << 20, 2)
    assert tree(hub.root / "lab/big-v0") == tree(folder)


def test_a_hub_that_is_killed(tmp_path, monkeypatch):
    """minari-cli waits for it and goes on."""
    hub = serve(tmp_path)
    cli = Cli(tmp_path / "datasets", hub.base, MINARI_HUB_TOKEN=(tmp_path / "token").read_text().strip())
    folder = large(tmp_path / "big", 16 << 20, 8 << 20)
    process = cli.start("upload", str(folder), "lab/big-v0", "--allow", "files", "--no-inspect", "--limit", "8M", "--json", "--verbose")
    until(lambda: come(cli) > 4 << 20)
    hub.process.send_signal(signal.SIGKILL)
    hub.stop(expect=None)
    monkeypatch.setattr("hub.free_port", lambda: hub.port)
    with serve(tmp_path):
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        assert tree(hub.root / "lab/big-v0") == tree(folder)
    ended = [int(size) for size in re.findall(r"^PUT \S+: 201, (\d+) bytes", said, re.M)]
    assert len(ended) == 2 and sum(ended) < 20 << 20, "what the hub had is not sent again"


def test_drafts(hub, cli, tmp_path):
    cli.run("upload", cut(tmp_path), "lab/door-v0", "--no-inspect", expect=8)
    (draft,) = drafts(cli)
    listed = cli.run("drafts", expect=0).out
    assert "lab/door-v0" in listed and draft["draft"] in listed and "open" in listed
    cli.run("drafts", "drop", draft["draft"], expect=0)
    assert drafts(cli) == [] and "no draft" in cli.run("drafts", expect=0).err
    assert cli.run("drafts", "drop", draft["draft"], expect=3)
    assert cli.run("drafts", "drop", expect=2)


def test_two_folders_share_no_draft(hub, cli, tmp_path):
    """What an earlier push of another folder sent is neither taken nor thrown away."""
    cli.run("upload", cut(tmp_path), "lab/door-v0", "--no-inspect", expect=8)
    (left,) = drafts(cli)
    before = files_of(cli, left["draft"])
    done = cli.run("upload", DOOR, "lab/door-v0", "--no-inspect", "--json", expect=0).json()
    assert done["draft"] != left["draft"] and done["bytes_kept"] == 0
    assert tree(hub.root / "lab/door-v0") == tree(DOOR) and files_of(cli, left["draft"]) == before


def test_two_at_once(hub, cli, tmp_path):
    """Of two pushes of one id at most one is published, and nothing of the other."""
    folder = large(tmp_path / "big", 4 << 20, 4 << 20)
    codes = []
    one = lambda: codes.append(cli.run("upload", str(folder), "lab/big-v0", "--allow", "files", "--no-inspect").code)
    threads = [threading.Thread(target=one) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert 0 in codes and tree(hub.root / "lab/big-v0") == tree(folder)
