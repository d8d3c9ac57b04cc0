"""Pushes of what is damaged: its pusher is told which file and why, by minari-cli and by curl."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from hub import FIXTURES
from test_drafts import files_of, serve, tree
from test_upload import ARM, DOOR, cli, hub  # noqa: F401: fixtures

TABLE, LIST = "data/chunk-000/file-000.parquet", "meta/episodes/chunk-000/file-000.parquet"
VIDEO, STORE = "videos/observation.images.top/chunk-000/file-000.mp4", "data/main_data.hdf5"


def cut(path):
    os.truncate(path, os.path.getsize(path) // 2)


def state_more_steps(path):
    with open(path) as f:
        info = json.load(f)
    info["total_frames"] += 7
    with open(path, "w") as f:
        json.dump(info, f)


def remove_moov(path):
    """What a camera leaves that loses its power: ftyp and mdat, no index."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while data[at + 4:at + 8] != b"moov":
        at += int.from_bytes(data[at:at + 4], "big")
    with open(path, "wb") as f:
        f.write(data[:at] + data[at + int.from_bytes(data[at:at + 4], "big"):])


def leave_open(path):
    """Its writer is killed while it has the file open."""
    program = "import h5py, os, signal, sys\nwith h5py.File(sys.argv[1], 'r') as old, h5py.File(sys.argv[1] + '.new', 'w', libver='latest') as f:\n" \
              " for k in old: old.copy(k, f)\n for k, v in old.attrs.items(): f.attrs[k] = v\n f.flush()\n os.kill(os.getpid(), signal.SIGKILL)\n"
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == -signal.SIGKILL
    os.replace(str(path) + ".new", path)


REFUSED = {"a table that is cut": (ARM, TABLE, cut, "part-broken", "not finalized"),
           "a list of episodes that is cut": (ARM, LIST, cut, "not-finalized", "without PAR1"),
           "a video without its index": (ARM, VIDEO, remove_moov, "cut-video", "moov"),
           "a store that its writer left open": (DOOR, STORE, leave_open, "file-not-closed", "killed or is still writing")}


@pytest.fixture(params=REFUSED)
def damaged(request, tmp_path):
    fixture, file, damage, code, why = REFUSED[request.param]
    shutil.copytree(fixture, tmp_path / "set")
    damage(tmp_path / "set" / file)
    return tmp_path / "set", file, code, why


def curl(hub, path, *args):
    token = (hub.root.parent / "token").read_text().strip()
    done = subprocess.run(["curl", "-sS", "-w", "\n%{http_code}", "-H", f"Authorization: Bearer {token}", *args, hub.base + path],
                          capture_output=True, text=True, check=True)
    body, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body) if body else None


def push_by_curl(hub, folder, id):
    made = curl(hub, "/api/v1/drafts", "-d", json.dumps({"id": id}))[1]
    for path, file in files_of(folder):
        assert curl(hub, f"/api/v1/drafts/{made['draft']}/files/{path}", "-T", file)[0] == 201
    return curl(hub, f"/api/v1/drafts/{made['draft']}/commit", "-d", '{"message": "by curl"}')


@pytest.mark.parametrize("inspected", [[], ["--no-inspect"]])
def test_the_terminal_names_the_file(hub, cli, damaged, inspected):
    folder, file, code, why = damaged
    refused = cli.run("upload", str(folder), "lab/new-v0", *inspected, expect=8)
    assert any(re.match(rf"{code}: {re.escape(file)}: .*{re.escape(why)}", line) for line in refused.err.splitlines()), refused
    assert not (hub.root / "lab").exists()
    cli.run("upload", str(folder), "lab/new-v0", *inspected, "--allow", "broken", expect=0)
    assert tree(hub.root / "lab/new-v0") == tree(folder)


def test_curl_names_the_file(hub, damaged):
    folder, file, code, why = damaged
    status, said = push_by_curl(hub, folder, "lab/new-v0")
    assert (status, said.get("type"), said.get("verdict")) == (422, "urn:minari-hub:draft-refused", "broken"), said
    assert any((p["code"], p.get("path")) == (code, file) and why in p["detail"] for p in said["problems"]), said
    assert "the draft is still open" in said["detail"] and not (hub.root / "lab").exists()


def test_claims_that_do_not_hold(hub, cli, tmp_path):
    """More steps than there are: readable, so it is published, and the pusher is told."""
    shutil.copytree(ARM, tmp_path / "arm")
    state_more_steps(tmp_path / "arm/meta/info.json")
    says = "fewer-than-claimed: meta/info.json: metadata says 31 steps, the files hold 24"
    planned = cli.run("upload", str(tmp_path / "arm"), "lab/arm-v0", "--dry-run", expect=0)
    assert says in planned.err.splitlines() and not (hub.root / "lab").exists(), planned
    pushed = cli.run("upload", str(tmp_path / "arm"), "lab/arm-v0", expect=0)
    assert pushed.err.splitlines().count(says) == 1, pushed
    status, answer = push_by_curl(hub, tmp_path / "arm", "lab/arm-v1")
    (found,) = answer["problems"]
    assert (status, found["code"], found["path"]) == (200, "fewer-than-claimed", "meta/info.json")
    for id in ("lab/arm-v0", "lab/arm-v1"):
        (shown,) = hub.dataset(id)["problems"]
        assert found.items() <= shown.items(), "as the catalogue says it"
