"""get, episodes, rows, sample and stats of datasets of this machine without a hub: the same bytes as from one, nothing left behind."""
import json
import os
import shutil
import signal
import subprocess

import pytest
from cli import CLI, Cli, on_terminal
from hub import BIN, FIXTURES, serving, until

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")

# folder that a hub is over, path below it, id there, a field
SETS = [("samples", "door-human-v0", "door-human-v0", "rewards"),
        ("robomimic/lift-ph", "low_dim_v15.hdf5", "low_dim_v15", "actions"),
        ("lerobot", "arm-v21", "arm-v21", "action"),
        ("webdataset", "demos-dict", "demos-dict", "acts")]


@pytest.fixture
def here(tmp_path):
    """Without a hub, over the samples; with a folder for temporary files that must be empty at the end."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    yield Cli(os.path.join(FIXTURES, "samples"), TMPDIR=str(temporary))
    assert not os.listdir(temporary)
    assert not children(str(temporary))


def children(temporary):
    """Processes that were given a folder in it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as f:
                found += [pid] * (temporary in f.read() and int(pid) != os.getpid())
        except OSError:
            pass
    return found


@pytest.mark.parametrize("root,below,id,field", SETS)
def test_the_same_as_from_a_hub(here, root, below, id, field):
    root = os.path.join(FIXTURES, root)
    with serving(root, args=["--measure", "idle"]) as hub:
        until(lambda: hub.get(f"/api/v1/datasets/{id}/~statistics").json()["coverage"]["complete"])
        number = str(hub.episodes(id)[1]["number"])
        asked = [["get", id, number, field, "--format", "npy"], ["episodes", id, "--csv", "--sort=-steps", "--columns", "number,steps,jerk", "-n", "3"],
                 ["rows", id, "@action", "--format", "npz"], ["sample", id, "--windows", "3", "--length", "2", "--pad", "edge", "--seed", "7"],
                 ["stats", id, "--json"]]
        if root.endswith("samples"):
            asked += [["get", id, "-1", field, "--rows=1:3"], ["get", id, "archive.tar"], ["episodes", id, "--json"],
                      ["rows", id, field, "--where", "steps > 1 and still >= 0"], ["stats", id, "--field", field, "--json"],
                      ["stats", id, "--findings", "--json"]]
        for args in asked:
            local = [os.path.join(root, below) if a == id else a for a in args]
            mine, theirs = here.bytes(*local), here.bytes(*args, "--remote", hub.base)
            if args[-1] == "--json":
                mine, theirs = document(mine), document(theirs)
            assert mine == theirs, args


def document(text):
    """What an answer says; what a hub measures by itself is another setting of the one that was started."""
    found = json.loads(text)
    found.pop("measure", None)
    return found


def test_an_id_is_looked_for_on_this_machine(here):
    for id in ("D4RL/door/human-v2", "D4RL/door/human"):
        shown = here.run("episodes", id, expect=0)
        assert f"Episodes of {id} in {here.root} (this machine)" in shown.err and "29.83043997118473" in shown.out
    missing = here.run("get", "D4RL/door/none-v0", "0", "rewards", expect=3)
    assert f"there is no dataset 'D4RL/door/none-v0' in '{here.root}'" in missing.err and "minari-cli list local" in missing.err
    assert here.run("rows", "a//b", expect=2).err
    told = json.loads(here.run("rows", "no/where", "--json", expect=3).err)["error"]
    assert told["problem"] == "no-local-dataset" and "--remote" in told["remedy"]


def test_a_path_is_one_in_spite_of_a_hub(here, tmp_path):
    shutil.copytree(DOOR, tmp_path / "door")
    rewards = here.run("get", DOOR, "0", "rewards", expect=0).out
    for path, env in (("~/door", {"HOME": str(tmp_path)}), ("~/door/", {"HOME": str(tmp_path)}), (f"{tmp_path}/./door/data/..", {})):
        assert here.run("get", path, "0", "rewards", expect=0, MINARI_HUB_URL="http://127.0.0.1:1", **env).out == rewards
    ran = subprocess.run([CLI, "get", ".", "0", "rewards"], cwd=tmp_path / "door", env=here.env, capture_output=True, text=True)
    assert ran.stdout == rewards, ran.stderr
    ran = subprocess.run([CLI, "get", "door", "0", "rewards"], cwd=tmp_path, env=here.env, capture_output=True, text=True)
    assert ran.returncode == 3 and "./door" in ran.stderr
    assert "a path on this machine" in here.run("rows", DOOR, "--remote", "http://127.0.0.1:1", expect=2).err
    assert "127.0.0.1:1" in here.run("rows", "door-human-v0", "--attempts", "1", expect=4, MINARI_HUB_URL="http://127.0.0.1:1").err


def test_only_the_one_asked_for_is_looked_at(here, tmp_path):
    """Beside others, whatever they are: what a hub of the whole folder would inspect is not even linked."""
    root = tmp_path / "many"
    shutil.copytree(DOOR, root / "door-v0")
    for n in range(300):
        os.makedirs(root / f"other-{n}-v0" / "data")
        os.link(root / "door-v0" / "data" / "main_data.hdf5", root / f"other-{n}-v0" / "data" / "main_data.hdf5")
    env = {**here.env, "MINARI_DATASETS_PATH": str(root), "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"}  # which cannot be looked for under ptrace
    done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=openat,openat2,open,fsync,fdatasync", "-o", tmp_path / "trace", CLI, "get", "door-v0", "0", "rewards"],
                          env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "trace") as f:
        traced = f.read()
    assert "other-" not in traced and "sync(" not in traced  # a busy disk costs nothing


def test_what_is_no_dataset(here, tmp_path):
    (tmp_path / "notes").mkdir()
    assert "an empty folder" in here.run("rows", str(tmp_path / "notes"), expect=3).err
    (tmp_path / "notes" / "a.txt").write_text("a")
    assert "a folder of plain files (a.txt)" in here.run("rows", str(tmp_path / "notes"), expect=3).err
    assert "a plain file" in here.run("rows", str(tmp_path / "notes" / "a.txt"), expect=3).err
    assert here.bytes("get", str(tmp_path / "notes"), "archive.tar")
    assert "there is no" in here.run("rows", str(tmp_path / "nothing"), expect=3).err
    several = here.run("rows", here.root, expect=3)
    assert "holds" in several.err and f"{here.root}/" in several.err, several
    shutil.copytree(DOOR, tmp_path / "broken-v0")
    with open(tmp_path / "broken-v0" / "data" / "main_data.hdf5", "r+b") as f:
        f.truncate(3000)
    broken = here.run("rows", str(tmp_path / "broken-v0"), expect=8)
    assert "is broken (" in broken.err and "minari-inspect" in broken.err
    assert here.bytes("get", str(tmp_path / "broken-v0"), "archive.tar")


def test_what_is_missing_is_told(here, tmp_path):
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(CLI, alone)
    ran = subprocess.run([alone / "minari-cli", "rows", DOOR], env={**here.env, "PATH": "/nowhere"}, capture_output=True, text=True)
    assert ran.returncode == 1 and "minari-hub cannot be started" in ran.stderr and "MINARI_HUB_PROGRAM" in ran.stderr, ran.stderr
    ran = subprocess.run([alone / "minari-cli", "get", DOOR, "0", "rewards"], env={**here.env, "MINARI_HUB_PROGRAM": os.path.join(BIN, "minari-hub")},
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    closed = here.run("rows", DOOR, expect=1, TMPDIR="/proc")
    assert "a temporary directory cannot be made in '/proc'" in closed.err and "TMPDIR" in closed.err


def test_settings_of_the_hub_here_do_not_count(here):
    rewards = here.run("get", DOOR, "0", "rewards", expect=0).out
    assert here.run("get", DOOR, "0", "rewards", expect=0, MINARI_HUB_ROOT="/nowhere", MINARI_HUB_LISTEN="x", MINARI_HUB_CONFIG="/nowhere").out == rewards


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_after_a_signal(here, tmp_path, how):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # stopped while its answer waits to be read, so that the hub surely runs
    p = subprocess.Popen(["sh", "-c", f"exec '{CLI}' rows '{DOOR}' > '{fifo}'"], env=here.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with open(fifo, "rb"):
        until(lambda: len(children(here.env["TMPDIR"])) > 0)
        p.send_signal(how)
        p.wait(30)
    until(lambda: not children(here.env["TMPDIR"]))
    if how == signal.SIGKILL:
        shutil.rmtree(here.env["TMPDIR"])
        os.mkdir(here.env["TMPDIR"])
    else:
        assert p.returncode in (0, 130), p.stderr.read()


def test_how_far_it_is_stands_on_a_terminal(here):
    code, seen = on_terminal(here, "stats", os.path.join(FIXTURES, "robomimic", "lift-ph", "low_dim_v15.hdf5"))
    assert code == 0 and "measuring it" in seen and "so far" not in seen, seen
