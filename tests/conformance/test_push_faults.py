"""What goes wrong with a push, as it stands in the terminal of a stock client; two at once; one that is killed and goes on."""
import os
import random
import shutil
import signal
import subprocess

import pytest

from hub import until
from pushing import ARM, BY_XET, Meter, PushedHub, clean_env, env_of, python_of
from test_access_twins import run
from test_verdicts import REFUSED, state_more_steps

NEWEST = ("2.4", "2.4 without Xet")  # and one before: what the gate has


@pytest.fixture
def hub(tmp_path):
    with PushedHub(tmp_path / "hub", "--quota", "tiny/=100K", prefix=("lab/", "tiny/")) as hub:
        yield hub


def start(name, hub, place, *command, **more):
    """`hf` of a client, in a place of its own."""
    place.mkdir(exist_ok=True)
    env = {**clean_env(place), **env_of(hub, place, name, **more)}
    return subprocess.Popen([python_of(name, "hf"), *map(str, command)], env=env, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def upload(name, hub, place, folder, repo="lab/arm-v0", code=0, **more):
    """What stands in the terminal then."""
    process = start(name, hub, place, "upload", "--repo-type", "dataset", repo, folder, ".", **more)
    out, errors = process.communicate(timeout=240)
    assert process.returncode == code, (out, errors[-4000:])
    return " ".join((out + errors).split())


def row_of(pytestconfig, client, action):
    pytestconfig.pushes.append([client, action, "", "FAILED"])
    return pytestconfig.pushes[-1]


# ---- what the hub refuses ----


def revoke(hub):
    run(hub.state, "token", "revoke", "ann")
    until(lambda: hub.get("/api/whoami-v2", {"Authorization": f"Bearer {hub.token}"}).status == 401)


def only_read(hub):
    hub.token = run(hub.state, "token", "add", "rea", "--read", "lab/")
    until(lambda: hub.get("/api/whoami-v2", {"Authorization": f"Bearer {hub.token}"}).status == 200)


FAULTS = {  # what is done before, the repo, what its pusher reads
    "quota": (None, "tiny/arm-v0", "quota of 'tiny/'"),
    "token revoked": (revoke, "lab/arm-v0", "this hub does not know the token, or it was revoked"),
    "no right": (only_read, "lab/arm-v0", "may not write"),
    "elsewhere": (None, "other/arm-v0", "may not write")}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["0.36", *NEWEST])
def test_refused(hub, tmp_path, name, fault, pytestconfig):
    before, repo, says = FAULTS[fault]
    row = row_of(pytestconfig, name, fault)
    if before:
        before(hub)
    with hub.counting(row):
        late = fault == "quota" and name in BY_XET  # what comes over Xet is held to it when it is published
        said = upload(name, hub, tmp_path / "client", ARM, repo, code=0 if late else 1)
    says = "'tiny/arm-v0' does not fit" if late else says
    assert says in said, said
    assert not hub.statuses()
    row[3] = f'{"warned" if late else "refused"}: "{says}"'


# ---- what is damaged ----

PUSH_AND_TAG = """
import sys, time, huggingface_hub as h
api, repo, kw = h.HfApi(), sys.argv[2], {"repo_type": "dataset"}
api.create_repo(repo, exist_ok=True, **kw)
api.upload_folder(repo_id=repo, folder_path=sys.argv[1], **kw)
api.create_tag(repo, tag="done", **kw)
"""


def push_and_tag(name, hub, place, folder, repo):
    place.mkdir()
    done = subprocess.run([python_of(name), "-c", PUSH_AND_TAG, str(folder), repo], env={**clean_env(place), **env_of(hub, place, name)}, cwd=place, capture_output=True,
                          text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr


@pytest.mark.parametrize("damage", REFUSED)
def test_broken(hub, tmp_path, damage, pytestconfig):
    fixture, file, change, _, why = REFUSED[damage]
    row = row_of(pytestconfig, "2.4", damage)
    folder = shutil.copytree(fixture, tmp_path / "folder")
    change(folder / file)
    with hub.counting(row):
        said = push_and_tag("2.4", hub, tmp_path / "client", folder, "lab/new-v0")
    assert "lab/new-v0 is not published: " in said and file in said and why in said, said
    assert "lab/new-v0" not in hub.statuses()
    row[3] = next(line for line in said.splitlines() if "not published" in line)


def test_claims_that_do_not_hold(hub, tmp_path, pytestconfig):
    row = row_of(pytestconfig, "2.4", "total_frames")
    folder = shutil.copytree(ARM, tmp_path / "folder")
    state_more_steps(folder / "meta/info.json")
    with hub.counting(row):
        said = push_and_tag("2.4", hub, tmp_path / "client", folder, "lab/new-v0")
    assert "lab/new-v0 is published, but: meta/info.json: metadata says 31 steps, the files hold 24" in said, said
    assert hub.statuses()["lab/new-v0"] == "ready"
    row[3] = next(line for line in said.splitlines() if "is published" in line)


# ---- two at once, and one that is killed ----


def test_two_at_once(hub, tmp_path, pytestconfig):
    """Each commit is whole, whichever comes last."""
    row, files = row_of(pytestconfig, "2.4, 0.36", "two at once"), {}
    for mine in ("one", "two"):
        folder = tmp_path / mine
        folder.mkdir()
        files[mine] = {f"{i}.bin": random.Random(mine + str(i)).randbytes(50000) for i in range(20)}
        for name, data in files[mine].items():
            (folder / name).write_bytes(data)
    with hub.counting(row):
        both = [start(name, hub, tmp_path / f"client-{mine}", "upload", "--repo-type", "dataset", "lab/both", tmp_path / mine, ".") for mine, name in (("one", "2.4"), ("two", "0.36"))]
        for process in both:
            _, errors = process.communicate(timeout=240)
            assert process.returncode == 0, errors[-4000:]
    there = {name: hub.get(f"/datasets/lab/both/resolve/main/{name}").body for name in files["one"]}
    assert there in (files["one"], files["two"])
    assert len(hub.get("/api/datasets/lab/both/commits/main").json()) == 3, "that of the repo, and one of each"
    row[3] = "both whole, one after the other"


def check_resumed(name, hub, tmp_path, command, count, size, limit, row):
    """Killed once `limit` bytes are on their way; the same command sends the rest alone."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(count):
        (folder / f"{i:02}.bin").write_bytes(random.Random(i).randbytes(size))
    meter, words = Meter(hub.port), ("--repo-type", "dataset", "lab/large")
    words = (command, "lab/large", folder, "--repo-type", "dataset") if command == "upload-large-folder" else (command, *words, folder, ".")
    meter.limit = limit
    with hub.counting(row):
        first = start(name, hub, tmp_path / "client", *words, base=meter.base)
        full = meter.full.wait(240)
        first.send_signal(signal.SIGKILL)
        assert full, first.communicate()
        first.communicate()
        before, meter.limit = meter.sent, None
        meter.free.set()
        until(meter.idle)
        meter.sent = 0
        second = start(name, hub, tmp_path / "client", *words, base=meter.base)
        out, errors = second.communicate(timeout=240)
    assert second.returncode == 0, (out, errors[-4000:])
    for i in range(count):
        assert hub.get(f"/datasets/lab/large/resolve/main/{i:02}.bin").body == (folder / f"{i:02}.bin").read_bytes()
    assert meter.sent < count * size * 0.9, (before, meter.sent)
    row[3] = f"as the source; {before >> 10} KiB until it was killed, then {meter.sent >> 10} KiB of {count * size >> 10}"
    meter.close()


@pytest.mark.parametrize("name, command", [("0.36", "upload"), ("0.36", "upload-large-folder"), ("2.4 without Xet", "upload")])
def test_killed(hub, tmp_path, name, command, pytestconfig):
    check_resumed(name, hub, tmp_path, command, 12, 1 << 20, 8 << 20, row_of(pytestconfig, name, f"killed {command}"))
