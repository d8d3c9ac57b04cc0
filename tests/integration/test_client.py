"""minari-cli against a real hub: it says what the API says, and what it downloads is what Python Minari loads."""
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse

import numpy as np
import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from cli import CLI, Cli, on_terminal, tree
from hostile import HostileHub
from hub import FIXTURES, quote, serving, until
from upstream_gcs import Gcs
from upstream_hf import Hf
from stored import minari as stored_minari

E4, E5 = os.path.join(FIXTURES, "minari", "root-0.4.3"), os.path.join(FIXTURES, "minari", "root-0.5.3")
LEROBOT = os.path.join(FIXTURES, "lerobot")


@pytest.fixture(scope="module")
def hub():
    with serving(E4, E5, LEROBOT) as hub:
        yield hub


@pytest.fixture
def cli(hub, tmp_path):
    return Cli(tmp_path / "datasets", hub.base)


# ---- what the hub says ----


def test_list(hub, cli):
    said = cli.run("list", "remote", "--all", "--json", expect=0).json()
    assert said["items"] == hub.datasets() and said["total"] == len(said["items"]) > 30
    assert (said["remote"], said["remote_from"]) == (hub.base, "MINARI_HUB_URL")
    assert cli.run("list", "remote", "--json", expect=0).json()["items"] == hub.datasets("&latest=true")
    assert cli.run("list", "remote", "-a", "-p", "D4RL/", "--json", expect=0).json()["items"] == hub.datasets("&prefix=D4RL/")
    assert cli.run("list", "remote", "-a", "--for", "0.4.3", "--json", expect=0).json()["items"] == hub.datasets("&for=0.4.3")
    assert cli.run("list", "remote", "-a", "--sort=-steps", "--json", expect=0).json()["items"] == hub.datasets("&sort=-steps")


def test_search(hub, cli):
    def ids(*args):
        return [d["id"] for d in cli.run(*args, "--json", expect=0).json()["items"]]

    assert ids("search", "door", "human", "-a") == [d["id"] for d in hub.datasets("&q=door+human")] != []
    assert ids("search", "door human", "-n", "1") == [d["id"] for d in hub.datasets("&q=door+human&latest=true")][:1]
    assert ids("search", "door", "--sort=-size", "-a") == [d["id"] for d in hub.datasets("&q=door&sort=-size")]
    assert ids("search", "\" OR (x") == ids("search", "nothing-is-called-so") == []
    assert "matches all of these filters" in cli.run("search", "nothing-is-called-so", expect=0).err
    assert cli.run("search", "door", "human", expect=0).out.splitlines()[1].split()[0] == ids("search", "door human")[0]
    for option, parameter, value in (("--env", "env", "AdroitHandDoor-v1"), ("--robot", "robot", "SO100"), ("--author", "author", "Minari Hub"), ("--task", "task", "open the door 扉"),
                                     ("--camera", "camera", "wrist"), ("--algorithm", "algorithm", "random"), ("--kind", "kind", "x"), ("--license", "license", "mit"), ("--license", "license", "apache-2.0"), ("--action-dim", "action_dim", "28")):
        expected = [d["id"] for d in hub.datasets(f"&latest=true&{parameter}={urllib.parse.quote(value)}")]
        assert ids("list", "remote", option, value) == expected, option
        assert bool(expected) == (value not in ("x", "mit")), option
    for option, parameter, value in (("--format", "format", "lerobot"), ("--loadable", "loadable", "false"), ("--status", "status", "ready")):
        expected = [d["id"] for d in hub.datasets(f"&{parameter}={value}")]
        assert ids("list", "remote", "-a", option, value) == expected and 0 < len(expected) < len(hub.datasets()), option
    assert cli.run("list", "remote", "--format", "x", "--format", "y").code == 2


def test_nothing_found_says_what_to_try(hub, cli):
    err = cli.run("search", "nothing-is-called-so", expect=0).err
    assert "fewer words" in err and "--all" in err and "--facets" not in err
    err = cli.run("list", "remote", "-a", "--robot", "nobody", expect=0).err
    assert "matches all of these filters" in err and "minari-cli list remote --facets" in err and "--all" not in err and "fewer" not in err


def test_facets(hub, cli):
    def counts(*args):
        return cli.run(*args, "--json", expect=0).json()

    page = hub.get("/api/v1/datasets?limit=1&latest=true&facets=robot,camera,env,task,author,algorithm,kind,license,action_dim,format,status").json()
    said = counts("list", "remote", "--facets")
    assert said["facets"] == page["facets"] and said["total"] == page["total"] and said["remote"] == hub.base and page["facets"]["robot"]
    some = hub.get("/api/v1/datasets?limit=1&q=arm&format=lerobot&facets=robot,camera").json()
    assert counts("search", "arm", "--facets", "robot,camera", "--format", "lerobot", "-a")["facets"] == some["facets"]
    assert counts("search", "--facets", "arm", "-a")["total"] == len(hub.datasets("&q=arm"))
    lines = cli.run("list", "remote", "--facets=robot,camera", expect=0).out.splitlines()
    assert [line.split() for line in lines] == [["Facet", "Value", "Datasets"], *([name, v["value"], str(v["count"])] for name in ("robot", "camera") for v in page["facets"][name])]
    code, seen = on_terminal(cli, "list", "remote", "--facets")
    assert code == 0 and "more (--facets author)" in seen or len(page["facets"]["author"]) <= 10
    assert "none of these" in cli.run("list", "remote", "--facets", "robot", "-p", "zzz", expect=0).err
    assert "facets must be names" in cli.run("list", "remote", "--facets=colour", expect=2).err
    assert "does not take --facets" in cli.run("list", "local", "--facets", expect=2).err
    with Gcs("bucket") as gcs:
        assert "not a hub" in cli.run("list", "gcp://bucket", "--facets", STORAGE_EMULATOR_HOST=gcs.url).err
    with Gcs("bucket") as gcs:
        gcs.put("door-v0/data/main_data.hdf5", b"x")
        assert "only a hub can search datasets by env" in cli.run("list", "gcp://bucket", "--env", "x", STORAGE_EMULATOR_HOST=gcs.url, expect=2).err


def test_local_facts(cli):
    cli.run("download", "D4RL/door/human-v2", expect=0)
    for args, found in (((), 1), (("--env", "adroithanddoor-v1"), 1), (("--env", "x"), 0), (("--author", "rodrigo de lazcano", "--action-dim", "28"), 1), (("--task", "x"), 0),
                        (("--format", "minari-hdf5"), 1), (("--format", "lerobot"), 0), (("--loadable", "true"), 1), (("--loadable", "false"), 0)):
        assert cli.run("list", "local", "--json", *args, expect=0).json()["total"] == found, args
    data = cli.path("D4RL/door/human-v2/data/main_data.hdf5")
    os.truncate(data, os.path.getsize(data) // 2)
    for loadable, found in ("true", 0), ("false", 1):
        assert cli.run("list", "local", "--json", "--loadable", loadable, expect=0).json()["total"] == found, "a broken one is loaded by nothing"


def test_a_remote_by_option_needs_no_argument(hub, cli):
    said = cli.run("list", "-r", hub.base, "--json", expect=0, MINARI_HUB_URL="").json()
    assert said["remote"] == hub.base and said["total"] > 10
    assert "local, remote" in cli.run("list", expect=2).err


def test_a_dry_run_asks_nothing(hub, cli):
    ids = [d["id"] for d in hub.datasets("&latest=true&prefix=D4RL/")]
    r = cli.run("download", "D4RL/*", "--dry-run", expect=0)
    assert r.out.count("would be downloaded") == len(ids) > 1 and "Download" not in r.err
    said = cli.run("download", "D4RL/*", "--dry-run", "--json", expect=0).json()
    assert {d["id"] for d in said["downloads"]} == set(ids) and all(d["planned"] for d in said["downloads"])
    assert not os.path.exists(cli.path("D4RL"))
    r = cli.run("download", "D4RL/*", expect=1)
    assert "Aborted" in r.err and "--yes" in r.err


def test_the_table(hub, cli):
    r = cli.run("list", "remote", "-p", "door-human", "--all", expect=0)
    lines = r.out.splitlines()
    assert lines[0].split("  ")[0] == "Name" and "# Episodes" in lines[0] and "# Steps" in lines[0] and "Author" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["door-human-v0", "door-human-v1", "door-human-v10"]
    assert f"{hub.base} (MINARI_HUB_URL)" in r.err and "Number of datasets: 3, total size: 0." in r.err
    assert f"{hub.base} (argument)" in cli.run("list", hub.base, expect=0, MINARI_HUB_URL="").err
    assert f"{hub.base} (--remote)" in cli.run("list", "remote", "--remote", hub.base + "/", expect=0, MINARI_HUB_URL="http://x").err


def test_show(hub, cli):
    for item in hub.datasets():
        assert cli.run("show", item["id"], "--json", expect=0).json() == hub.dataset(item["id"])
    out = cli.run("show", "D4RL/door/human-v2", expect=0).out
    for text in ("Total Steps", "Box(-inf, inf, (39,), float64)", "AdroitHandDoor-v1", "observations", "0.5.3"):
        assert text in out
    assert "D4RL/door/human-v10" in cli.run("show", f"{hub.base}/D4RL/door/human", MINARI_HUB_URL="", expect=0).out


def value_of(out, name):
    """What a line of `show` says."""
    return [line.split(name, 1)[1].strip() for line in out.splitlines() if line.startswith("  " + name + " ")]


def headings(out):
    """{heading: the lines below it} of `show`."""
    parts = [part.splitlines() for part in out.split("\n\n")]
    return {part[0]: part[1:] for part in parts[1:]}


def test_show_says_what_episodes_come_to(hub, cli):
    until(lambda: hub.dataset("D4RL/door/human-v2")["statistics"]["coverage"]["complete"])
    numbers = hub.dataset("D4RL/door/human-v2")["statistics"]
    out = cli.run("show", "D4RL/door/human-v2", expect=0).out
    for name, of in (("Episode Return", "return"), ("Episode Steps", "steps")):
        assert value_of(out, name) == ["min {min:.6g}, mean {mean:.6g}, max {max:.6g}".format(**numbers[of])]
    ranks = [line.split()[:2] for line in cli.run("stats", "D4RL/door/human-v2", "--findings", expect=0).out.splitlines() if "lowest_return" in line]
    assert ranks == [["lowest_return", "ranked"]]
    lerobot = hub.dataset("groot-v21")
    assert value_of(cli.run("show", "groot-v21", expect=0).out, "Splits") == [", ".join(f"{k} {v}" for k, v in lerobot["splits"].items())]
    with_license = [d for d in hub.datasets() if "license" in d["facts"]]
    assert with_license and value_of(cli.run("show", with_license[0]["id"], expect=0).out, "License") == [with_license[0]["facts"]["license"]]


def test_show_has_no_empty_lines_and_headings(hub, cli, tmp_path):
    roots = [os.path.join(FIXTURES, f) for f in ("robomimic/lift-ph", "molmospaces", "imitation", "webdataset")]
    with serving(*roots) as other:
        for d in other.datasets():
            out = cli.run("show", d["id"], "-r", other.base, expect=0).out
            assert "Not provided" not in out and all(headings(out).values()), out
        lift = headings(cli.run("show", "low_dim_v15", "-r", other.base, expect=0).out)
        assert any(line.split() == ["Name", "Lift"] for line in lift["Environment Specs"]), lift
        assert any("20_percent" in line and "Splits" in line for line in lift["Dataset Specs"]), lift
    nameless = next(d["id"] for d in hub.datasets() if d["format"].startswith("minari") and d["status"] == "ready" and not d["authors"])
    assert value_of(cli.run("show", nameless, expect=0).out, "Author") == ["Not provided"]  # as Minari itself says it
    assert len([line for line in headings(cli.run("show", "D4RL/door/human-v2", expect=0).out)["Environment Specs"] if "Order Enforce" in line]) == 1


def test_show_takes_a_path(hub, cli, tmp_path):
    lift = os.path.join(FIXTURES, "robomimic", "lift-ph", "low_dim_v15.hdf5")
    shutil.copy(lift, tmp_path / "lift.hdf5")
    done = subprocess.run([CLI, "show", "./lift.hdf5"], env=cli.env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("./lift.hdf5\non this machine\n"), done
    with serving(os.path.dirname(lift)) as other:
        until(lambda: other.dataset("low_dim_v15")["statistics"]["coverage"]["complete"])
        theirs = cli.run("show", "low_dim_v15", "-r", other.base, expect=0).out
    for name in ("Total Steps", "Total Episodes", "Episode Steps", "Splits", "Format"):
        assert value_of(done.stdout, name) == value_of(theirs, name) != [], name
    assert cli.run("show", os.path.join(E5, "D4RL/door/human-v2"), "--json", expect=0).json()["episodes"] == 25
    assert "such as" in cli.run("show", E5, expect=3).err
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "notes").write_text("none")
    assert "holds no dataset" in cli.run("show", str(tmp_path / "text"), expect=3).err
    assert "No such file" in cli.run("show", "./none", expect=3).err and "--remote" in cli.run("show", lift, "-r", hub.base, expect=2).err


def test_parts_draws_and_sentinels(hub, cli):
    """The bytes of the same request to the API."""
    part = ["--partition", "20,5", "--partition-seed", "1", "--part", "1"]
    for args, query in [(["rows", "rewards", *part], "rows?fields=rewards&partition=20,5&partition_seed=1&part=1&format=npz"),
                        (["rows", "rewards", "--random", "3", "--seed", "7"], "rows?fields=rewards&random=3&seed=7&format=npz"),
                        (["rows", "rewards", *part, "--random", "2", "--seed", "7", "--sentinel", "drop"],
                         "rows?fields=rewards&partition=20,5&partition_seed=1&part=1&random=2&seed=7&sentinel=drop&format=npz"),
                        (["rows", "rewards", "--start", "-9", "--stop=-1", "--step", "3"], "rows?fields=rewards&start=-9&stop=-1&step=3&format=npz"),
                        (["rows", "rewards", "--step-where", "rewards < 0"], "rows?fields=rewards&step_where=rewards%20%3C%200&format=npz"),
                        (["sample", "--windows", "9", "--seed", "3", *part], "sample?windows=9&seed=3&partition=20,5&partition_seed=1&part=1&format=npz")]:
        wanted = hub.get("/api/v1/datasets/D4RL/door/human-v2/" + query)
        assert wanted.status == 200 and cli.bytes(args[0], "D4RL/door/human-v2", *args[1:], "--format", "npz") == wanted.body, args
    with serving(os.path.join(FIXTURES, "molmospaces")) as other:
        id = next(d["id"] for d in other.datasets() if d["format"] == "molmospaces")
        for command, more in (("rows", []), ("sample", ["--windows", "5", "--seed", "1"])):
            kept, dropped = (cli.bytes(command, id, "rewards", *more, "-r", other.base, "--format", "npz", "--sentinel", how) for how in ("keep", "drop"))
            assert kept != dropped
            valid, every = (cli.bytes(command, "pick", "rewards", *more, "-r", other.base, "--format", "npz", "--valid", which) for which in ("only", "any"))
            assert valid != every == other.get(f"/api/v1/datasets/pick/{command}?fields=rewards&valid=any&format=npz" + "&windows=5&seed=1" * bool(more)).body
    for args, words in [(["rows", "--random", "3"], "--seed"), (["rows", "--seed", "3"], "--random"), (["rows", "--partition", "1,2"], "--partition-seed"),
                        (["sample", "--part", "1"], "--partition"), (["rows", "--sentinel", "x"], "keep"), (["rows", "--valid", "x"], "only"), (["sample", "--valid", "x"], "only"),
                        (["rows", "--step", "0"], "--step"), (["rows", "--start", "1:2"], "--start"), (["rows", "--stop", "1.5"], "--stop")]:
        assert words in cli.run(args[0], "D4RL/door/human-v2", *args[1:], "--format", "npz", expect=2).err, args


def test_episodes(hub, cli):
    for id in ("door-human-v0", "D4RL/door/human-v2", "dummy-seeds-v0"):
        assert cli.run("episodes", id, "--json", expect=0).json()["items"] == hub.episodes(id)
    assert len(cli.run("episodes", "D4RL/door/human-v2", "-n", "3", expect=0).out.splitlines()) == 4
    by_steps = cli.run("episodes", "D4RL/door/human-v2", "--sort=-steps", "--json", expect=0).json()["items"]
    assert [e["steps"] for e in by_steps] == sorted((e["steps"] for e in by_steps), reverse=True)


@pytest.mark.parametrize("rows", [None, "2:5", "-3:", "::-2", "0:0", "1"])
@pytest.mark.parametrize("format", ["json", "npy", "npz", "raw"])
def test_get(hub, cli, rows, format):
    query = {None: "", "2:5": "&start=2&stop=5", "-3:": "&start=-3", "::-2": "&step=-2", "0:0": "&start=0&stop=0", "1": "&row=1"}[rows]
    want = hub.get(f"/api/v1/datasets/D4RL/door/human-v2/episodes/3/observations?format={format}{query}")
    assert want.status == 200
    got = cli.bytes("get", "D4RL/door/human-v2", "3", "observations", "--format", format, *(["--rows", rows] if rows else []))
    assert got == want.body and (format != "json" or got.endswith(b"\n"))


def test_get_into_a_file(hub, cli, tmp_path):
    stored = dict(stored_minari(os.path.join(E5, "D4RL/door/human-v2"), {}))
    path = tmp_path / "x.npy"
    cli.run("get", "D4RL/door/human-v2", "3", "observations", "-o", str(path), expect=0)
    assert np.array_equal(np.load(path), stored[3]["observations"])
    assert cli.run("get", "D4RL/door/human-v2", "3", "nothing", "-o", str(tmp_path / "y.npy"), expect=3).err
    assert sorted(os.listdir(tmp_path)) == ["x.npy"], "nothing half-made is left"


def test_get_a_file(hub, cli, tmp_path):
    with open(os.path.join(E5, "D4RL/door/human-v2/data/metadata.json"), "rb") as f:
        stored = f.read()
    assert cli.bytes("get", "D4RL/door/human-v2", "files/data/metadata.json") == stored
    code, seen = on_terminal(cli, "get", "D4RL/door/human-v2", "files/data/metadata.json")
    assert code == 0 and "total_steps" in seen
    code, seen = on_terminal(cli, "get", "D4RL/door/human-v2", "files/data/main_data.hdf5")
    assert code == 2 and "binary" in seen
    cli.run("get", "D4RL/door/human-v2", "files/data/main_data.hdf5", "-o", str(tmp_path / "x"), expect=0)
    assert (tmp_path / "x").read_bytes() == tree(os.path.join(E5, "D4RL/door/human-v2"))["data/main_data.hdf5"]
    assert cli.run("get", "D4RL/door/human-v2", "files/data/nothing").code == 3 and cli.run("get", "D4RL/door/human-v2", "files/../x").code == 2
    assert cli.run("get", "D4RL/door/human-v2", "files/").code == 2


def test_exit_codes_and_remedies(hub, cli):
    for args, code, words in [
        (("get", "D4RL/door/human-v2", "999", "rewards"), 3, "minari-cli episodes"),
        (("get", "D4RL/door/human-v2", "0", "nothing"), 3, "it has actions"),
        (("get", "D4RL/door/human-v2", "x", "rewards"), 2, "episode number"),
        (("get", "D4RL/door/human-v2", "0", "rewards", "--rows", "a"), 2, "as in Python"),
        (("show", "no-such-v0"), 3, "list remote"),
        (("show", "door-human-v2"), 3, "D4RL/door/human-v2"),  # the old name of something the hub has
        (("download", "door-human-v2"), 3, "D4RL/door/human-v2"),
        (("episodes", "no-such-v0"), 3, "no dataset"),
        (("list", "elsewhere"), 2, "neither local, nor remote"),
        (("list", "127.0.0.1:8080"), 2, "such as http://127.0.0.1:8080"),
        (("list", "remote", "-r", "127.0.0.1:8080"), 2, "did you mean http://127.0.0.1:8080"),
        (("show", "door-human-v99"), 3, "there are: door-human-v0, door-human-v1, door-human-v10"),
        (("get", "D4RL/door/human-v2", "-99", "rewards"), 3, "the dataset has 25"),
        (("list", "local", "--sort", "size"), 2, "does not take --sort"),
        (("list", "local", "-r", "http://x"), 2, "does not take --remote"),
        (("download",), 2, "name what to download"),
        (("download", "no/such/*", "-y"), 3, "matches"),
        (("download", "D4RL/door/human-v2", "--limit", "fast"), 2, "--limit"),
        (("list", "remote", "--sort", "nonsense"), 2, "sort"),
        (("list", "hf://farama-minari", "--endpoint", "http://127.0.0.1:1", "--attempts", "1"), 4, "cannot be reached"),
        (("list", "remote", "--remote", "gcp://bucket", "--endpoint", "http://127.0.0.1:1", "--attempts", "1"), 4, "cannot be reached"),
        (("nonsense",), 2, "unknown command"),
        (("rows", "D4RL/door/human-v2", "--fields", "rewards"), 2, "fields are arguments: minari-cli rows ID|PATH [FIELD...]"),
        (("get", "dummy-image/test-v0", "0", "observations", "--format", "jpeg"), 1, "--rows N"),
        (("list",), 2, "name what to list"),
        (("list", "remote", "extra"), 2, "too many"),
        (("list", "remote", "--force"), 2, "no such option"),
        (("list", "remote", "--nonsense"), 2, "unknown option"),
        (("list", "remote", "--token", "mh_x"), 2, "--token-file FILE"),
        (("list", "remote", "--remot", "x"), 2, "unknown option: --remot, probably meant: --remote"),
        (("list", "remote", "--timeout", "2x"), 2, '--timeout "2x": not a time'),
        (("list", "remote", "--timeout", "25h"), 2, "must be between 1s and 1d"),
        (("list", "remote", "--timeout", "2m", "--attempts", "0"), 2, "--attempts must be a number from 1 to 100, not '0'"),
        (("verify", "no-such-v0"), 3, "neither a folder"),
        (("delete", "-y", "no-such-v0"), 3, "not among"),
    ]:
        r = cli.run(*args)
        assert r.code == code and words in r.err, (args, r)
        assert not r.out or "items" in r.out, (args, r)
    assert "default" in cli.run("list", "remote", MINARI_HUB_URL="", HF_ENDPOINT="http://127.0.0.1:1", expect=4).err
    assert "gcp://b (MINARI_REMOTE)" in cli.run("list", "remote", MINARI_HUB_URL="", MINARI_REMOTE="gcp://b", STORAGE_EMULATOR_HOST="127.0.0.1:1", expect=4).err
    assert "MINARI_HUB_URL" in cli.run("list", "remote", MINARI_HUB_URL="", MINARI_REMOTE=hub.base, expect=2).err


def commands(cli):
    return re.findall(r"^  ([a-z]+)  ", cli.run("--help", expect=0).out.split("Options")[0], re.M)


def test_help_teaches(cli):
    assert commands(cli) == ["list", "search", "show", "download", "upload", "drafts", "revisions", "revert", "namespace", "delete", "verify", "episodes", "stats", "get", "rows", "sample",
                             "login", "logout", "whoami", "help", "version"]
    for command in commands(cli):
        out = cli.run(command, "--help", expect=0).out
        assert "Options:" in out and out == cli.run("help", command, expect=0).out
        assert max(map(len, out.splitlines())) <= 120
    assert cli.run("help", expect=0).out == cli.run("--help", expect=0).out
    for version in ("--version", "-V", "-v", "version"):
        assert cli.run(version, expect=0).out.startswith("minari-cli 0.")
    assert "GET" in cli.run("-v", "list", "remote", expect=0).err  # with a command it is --verbose
    assert "Minari's -a" in cli.run("list", "--help", expect=0).out
    assert "unknown command" in cli.run("help", "nonsense", expect=2).err


@pytest.fixture
def upstreams():
    """What the examples name beside the hub."""
    with Gcs("bucket") as gcs, Hf() as hf:
        gcs.put("prefix/grasps.bin", b"1")
        hf.put("lab/robot", {"README.md": b"# a robot", "videos/a.mp4": b"1"})
        hf.repos["lab/robot"].tags["v2.1"] = hf.repos["lab/robot"].branches["main"]
        yield {"STORAGE_EMULATOR_HOST": gcs.url, "HF_ENDPOINT": hf.url}


def test_every_example_of_help_works(hub, cli, upstreams, tmp_path):
    """Each command line that --help shows is run as it stands, in order: list, show, download, delete, verify, ..."""
    env = {**cli.env, **upstreams, "PATH": os.path.dirname(CLI) + ":" + os.environ["PATH"], "HOME": str(tmp_path)}
    ran = 0
    (tmp_path / "demos").mkdir()
    shutil.copy(os.path.join(FIXTURES, "robomimic", "lift-ph", "low_dim_v15.hdf5"), tmp_path / "demos" / "lift.hdf5")
    until(lambda: hub.get("/api/v1/datasets/D4RL/door/human-v2/episodes?columns=jerk").status == 200)  # it is measured
    for command in ("list", "search", "show", "download", "delete", "verify", "episodes", "get", "logout", "whoami"):
        for line in re.findall(r"^  (minari-cli .*)$", cli.run(command, "--help").out, re.M):
            line = re.split(r"  +|\| jq", line)[0]
            for shown, here in (("http://hub:8080", hub.base), ("/data/sets", cli.root), ("so100/pick-place", "arm-v21"), ("pictures/corridor", "dummy-image/test"), ("D4RL/pen/human-v2", "cartpole/test-v0")):
                line = line.replace(shown, here)
            done = subprocess.run(["sh", "-c", line], env=env, cwd=tmp_path, input="y\n", capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, (line, done)
            ran += 1
        if command == "delete":
            cli.run("download", "D4RL/door/human-v2", expect=0)
    assert ran > 18
    assert np.load(tmp_path / "obs.npy").ndim == 2


def test_the_manual_and_the_completions_are_of_the_same_tables(cli):
    for what, option in (("man", r"\-\-%s"), ("bash", "--%s"), ("zsh", "--%s"), ("fish", "-l %s")):
        text = cli.run("--generate", what, expect=0).out
        for command in commands(cli):
            assert command in text
            for name in re.findall(r"--([a-z-]+)[ \n]", cli.run(command, "--help").out.split("Options:")[1]):
                assert option % name.replace("-", r"\-" if what == "man" else "-") in text, (what, command, name)
    bash = cli.run("--generate", "bash").out + "COMP_WORDS=(minari-cli list --status p); COMP_CWORD=3; _minari_cli; echo ${COMPREPLY[@]}"
    assert subprocess.run(["bash", "-c", bash], capture_output=True, text=True).stdout == "pending\n"
    assert "not one of man" in cli.run("--generate", "csh", expect=2).err


# ---- downloads ----

LOAD = r"""
import json, os, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np, minari
def plain(x):
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [plain(v) for v in x]
    x = np.asarray(x)
    return [str(x.dtype), list(x.shape), x.tobytes().hex() if x.dtype.kind != "O" else [str(v) for v in x.ravel()]]
out = {}
for id in sys.argv[1:]:
    try:
        ds = minari.load_dataset(id)
        out[id] = [[int(e.id), plain(e.observations), plain(e.actions), plain(e.rewards), plain(e.terminations)] for e in ds.iterate_episodes()]
    except Exception as e:
        out[id] = repr(type(e))
json.dump(out, sys.stdout)
"""


def load(python, root, ids):
    env = {**os.environ, "MINARI_DATASETS_PATH": root}
    done = subprocess.run([python, "-c", LOAD, *ids], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def download_and_load(hub, cli, python, source):
    ids = [i["id"] for i in hub.datasets() if os.path.isdir(os.path.join(source, i["id"], "data"))]
    assert len(ids) > 10
    said = cli.run("download", *ids, "--json", expect=0).json()["downloads"]
    assert all(d["verified"] for d in said if not d["skipped"]) and sum(not d["skipped"] for d in said) == len(ids)
    for id in ids:
        assert tree(cli.path(id)) == tree(os.path.join(source, id)), id
        cli.run("verify", id, expect=0)
    want, got = load(python, source, ids), load(python, cli.root, ids)
    assert got == want
    assert sum(isinstance(v, list) for v in want.values()) > len(ids) * 0.6
    return ids


def test_python_minari_0_5_3_loads_what_was_downloaded(hub, cli):
    ids = download_and_load(hub, cli, sys.executable, E5)
    code = "import minari, json; print(json.dumps(sorted(minari.list_local_datasets())))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, "MINARI_DATASETS_PATH": cli.root}, capture_output=True, text=True)
    listed = json.loads(done.stdout.splitlines()[-1])
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, "MINARI_DATASETS_PATH": E5}, capture_output=True, text=True)
    assert listed == json.loads(done.stdout.splitlines()[-1]) and set(listed) <= set(ids)


@pytest.mark.skipif(not os.environ.get("HUB_TEST_PYTHON_043"), reason="HUB_TEST_PYTHON_043 names no Python with Minari 0.4.3")
def test_python_minari_0_4_3_loads_what_was_downloaded(hub, cli):
    download_and_load(hub, cli, os.environ["HUB_TEST_PYTHON_043"], E4)


def test_what_it_was_combined_from_comes_too(cli):
    r = cli.run("download", "parts/all-v0", expect=0)
    assert sorted(os.listdir(cli.path("parts"))) == ["all-v0", "namespace_metadata.json", "one-v0", "two-v0"], r
    shutil.rmtree(cli.path("parts"))
    cli.run("download", "parts/all-v0", "--no-combined", expect=0)
    assert sorted(os.listdir(cli.path("parts"))) == ["all-v0", "namespace_metadata.json"]


def test_versions_and_compatibility(cli):
    r = cli.run("download", "door-human", expect=0)
    assert "the newest version is 'door-human-v10'" in r.err and os.path.isdir(cli.path("door-human-v10"))
    assert "a newer version is there: 'door-human-v10'" in cli.run("download", "door-human-v1", expect=0).err
    r = cli.run("download", "D4RL/door/human-v2", "--for", "0.4.3", expect=1)
    assert "does not read" in r.err and "--force" in r.err
    assert "downloading it anyway" in cli.run("download", "D4RL/door/human-v2", "--for", "0.4.3", "--force", expect=0).err
    cli.run("download", "cartpole/test-v0", "--for", "0.5.3", expect=0)


def test_a_truncated_dataset_is_not_downloaded_unasked(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(os.path.join(E4, "door-human-v0"), source / "door-human-v0")
    data = source / "door-human-v0" / "data" / "main_data.hdf5"
    os.truncate(data, data.stat().st_size // 2)
    with serving(str(source)) as hub:
        hub.wait_indexed()
        cli = Cli(tmp_path / "datasets", hub.base)
        r = cli.run("download", "door-human-v0", expect=8)
        assert "is broken: " in r.err and "--force downloads its files as they are" in r.err and not os.path.exists(cli.path("door-human-v0"))
        assert "left out: door-human-v0 is broken" in cli.run("download", "door-*", "--yes", expect=3).err
        cli.run("download", "door-human-v0", "--force", expect=0)
        assert tree(cli.path("door-human-v0")) == tree(source / "door-human-v0")


def test_other_formats_need_a_place(hub, cli, tmp_path):
    id = next(i["id"] for i in hub.datasets() if i["format"] == "lerobot")
    r = cli.run("download", id, expect=2)
    assert "-o DIR" in r.err and not os.path.exists(cli.path(id))
    cli.run("download", id, "-o", str(tmp_path / "robots"), expect=0)
    assert tree(tmp_path / "robots" / id) == tree(os.path.join(LEROBOT, id))
    cli.run("verify", str(tmp_path / "robots" / id), expect=0)


def test_verify_finds_what_is_wrong(hub, cli):
    id = "D4RL/door/human-v2"
    cli.run("download", id, expect=0)
    path = cli.path(id, "data", "main_data.hdf5")
    with open(path, "r+b") as f:
        f.seek(5000)
        byte = f.read(1)
        f.seek(5000)
        f.write(bytes([byte[0] ^ 1]))
    assert "changed: data/main_data.hdf5" in cli.run("verify", id, expect=5).out
    assert "changed: data/main_data.hdf5" in cli.run("verify", id, "--remote", hub.base, expect=5).out
    os.unlink(path)
    open(cli.path(id, "data", "more"), "w").close()
    out = cli.run("verify", id, "--json", expect=5).json()
    assert {f["path"]: f["state"] for f in out["files"]} == {"data/main_data.hdf5": "missing", "data/metadata.json": "verified", "data/more": "extra"}
    assert not out["good"] and out["missing"] == 1
    cli.run("download", id, "--force", expect=0)
    cli.run("verify", id, "--remote", hub.base, expect=0)
    os.unlink(cli.path(id, ".minari-hub.json"))
    assert "--remote" in cli.run("verify", id, expect=3).err
    assert cli.run("verify", id, "--remote", hub.base, "--json", expect=0).json()["against"] == "hub"


# ---- what the remedies say works when it is followed ----


def test_following_the_remedies(hub, cli, tmp_path):
    def remedy(*args, code):
        return cli.run(*args, expect=code).err.splitlines()[-1].strip()

    def follow(text, expect=0):
        command = re.search(r"(minari-cli|curl) .*", text)[0]
        env = {**cli.env, "PATH": os.path.dirname(CLI) + ":" + os.environ["PATH"]}
        done = subprocess.run(["sh", "-c", command.split(";")[0].split(" shows")[0].split(" lists")[0].split(" gives")[0]], env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == expect, (text, done)
        return done.stdout

    assert "door-human-v0" in follow(remedy("show", "no-such-v0", code=3))
    assert "Episode" in follow(remedy("get", "door-human-v0", "999", "rewards", code=3))
    assert "observations" in follow(remedy("get", "door-human-v0", "0", "nothing", code=3))
    text = remedy("list", "remote", "--remote", "http://127.0.0.1:9", "--attempts", "1", code=4)
    assert "curl http://127.0.0.1:9/readyz" in text
    assert "ready" in follow(text.replace("http://127.0.0.1:9", hub.base))
    out = cli.run("show", "arm-v21", expect=0).out
    assert "minari-cli download arm-v21 -o DIR" in out
    follow(re.search(r"minari-cli download.*", out)[0].replace("DIR", str(tmp_path)))
    assert os.path.isdir(tmp_path / "arm-v21" / "data")
    follow(re.search(r"minari-cli download.*", cli.run("show", "door-human-v0", expect=0).out)[0])
    with open(cli.path("door-human-v0", "data", "main_data.hdf5"), "ab") as f:
        f.write(b"x")
    text = remedy("verify", "door-human-v0", code=5)
    assert text == "download it again: minari-cli download door-human-v0 --force"
    follow(text)
    cli.run("verify", "door-human-v0", expect=0)
    assert "--force downloads it again" in cli.run("download", "door-human-v0", expect=0).err
    path = tmp_path / "frame.png"
    text = remedy("get", "dummy-image/test-v0", "0", "observations", "--rows", "5", "-o", str(path), code=2)
    assert text == "give it a name that ends in .jpg" and not path.exists()
    cli.run("get", "dummy-image/test-v0", "0", "observations", "--rows", "5", "-o", str(tmp_path / "frame.jpg"), expect=0)
    assert (tmp_path / "frame.jpg").read_bytes()[:2] == b"\xff\xd8"
    assert sorted(p for p in os.listdir(tmp_path) if p.startswith("frame")) == ["frame.jpg"]


def test_a_folder_without_a_record_against_a_hub(hub, cli, tmp_path):
    for id, place in (("D4RL/door/human-v2", tmp_path / "elsewhere"), ("door-human-v0", tmp_path / "a" / "b")):
        shutil.copytree(os.path.join(E5 if "/" in id else E4, id), place / id)
        r = cli.run("verify", str(place / id), "-r", hub.base, expect=0)
        assert "compared with the hub" in r.out
    (place / "door-human-v0").rename(place / "what-v7")
    assert "its path does not end in" in cli.run("verify", str(place / "what-v7"), "-r", hub.base, expect=3).err


def test_failures_as_json(hub, cli):
    for args, code, status in [(("show", "no-such-v0"), 3, "not-found"), (("episodes", "no-such-v0"), 3, "not-found"),
                               (("verify", "no-such-v0"), 3, None), (("list", "remote", "--nonsense"), 2, None), (("nonsense",), 2, None),
                               (("list", "remote", "-r", "http://127.0.0.1:9", "--attempts", "1"), 4, "unreachable")]:
        r = cli.run(*args, "--json", expect=code)
        errors = [json.loads(line)["error"] for line in r.err.splitlines()]
        assert len(errors) == 1 and errors[0]["exit"] == code and errors[0].get("status") == status and errors[0]["detail"], r
        assert not r.out
    r = cli.run("download", "no-such-v0", "door-human-v0", "--json", expect=3)
    assert [d["id"] for d in r.json()["downloads"]] == ["door-human-v0"]
    assert r.json()["failed"] == [{"id": "no-such-v0", "exit": 3, "status": "not-found", "detail": r.json()["failed"][0]["detail"]}]
    assert json.loads(r.err.splitlines()[0])["error"]["remedy"] == "minari-cli list remote --all shows what is there"


def test_quiet_is_quiet_and_verbose_is_not(hub, cli):
    r = cli.run("download", "door-human-v0", "--quiet", expect=0)
    assert not r.out and not r.err
    cli.run("verify", "door-human-v0", "--quiet", expect=0)
    r = cli.run("show", "D4RL/door/human-v2", "-v", "-r", hub.base, expect=0)
    assert re.search(r"GET " + hub.base + r"/api/v1/datasets/D4RL/door/human-v2: 200, \d+ bytes, \d+ ms", r.err)


def test_patterns_and_prefixes(hub, cli, tmp_path):
    ids = [i["id"] for i in hub.datasets("&latest=true&prefix=dummy-") if i["status"] == "ready" and i["format"].startswith("minari")]
    r = cli.run("download", "dummy-*", input="n\n", expect=1)
    assert f"Download {len(ids)} datasets, " in r.err and " MB, to '" in r.err and "Aborted" in r.err
    assert not [n for n in os.listdir(tmp_path) if n.startswith("dummy")]
    assert set(re.findall(r"^  (\S+)$", r.err, re.M)) == set(ids)
    cli.run("download", "dummy-*", input="", expect=1)
    cli.run("download", "-p", "dummy-im", input="y\n", expect=0)
    assert sorted(os.listdir(cli.path("dummy-image"))) == sorted(["namespace_metadata.json"] + [i.split("/")[1] for i in ids if i.startswith("dummy-image/")])
    cli.run("download", "dummy-te*", "--yes", expect=0)
    assert os.path.isdir(cli.path("dummy-text"))
    assert "cannot be combined" in cli.run("download", "x-v0", "-p", "x", expect=2).err
    asked = cli.run("download", "dummy-c*", "D4RL/door/*", "door-human-v0", input="y\n", expect=0)  # one question for all patterns
    assert asked.err.count("[y/N]") == 1 and " named in full, to '" in asked.err
    assert os.path.isdir(cli.path("D4RL", "door")) and os.path.isdir(cli.path("door-human-v0"))
    refused = cli.run("download", "dummy-b*", "door-human-v1", expect=1)
    assert "--yes" in refused.err and not os.path.exists(cli.path("door-human-v1"))
    assert "matches" in cli.run("download", "none-*", "door-human-v1", expect=3).err and os.path.isdir(cli.path("door-human-v1"))


def test_the_last_episode_and_several_fields(hub, cli, tmp_path):
    numbers = [e["number"] for e in hub.episodes("D4RL/door/human-v2")]
    for k in (1, 3, len(numbers)):
        assert cli.run("get", "D4RL/door/human-v2", f"-{k}", "rewards", expect=0).out == cli.run("get", "D4RL/door/human-v2", str(numbers[-k]), "rewards", expect=0).out
    path = tmp_path / "both.npz"
    cli.run("get", "D4RL/door/human-v2", "3", "observations", "actions", "--rows", "0:5", "-o", str(path), expect=0)
    both, stored = np.load(path), dict(stored_minari(os.path.join(E5, "D4RL/door/human-v2"), {}))[3]
    assert sorted(both) == ["actions", "observations"]
    for name in both:
        assert np.array_equal(both[name], stored[name][:5])


def test_a_limited_rate(tmp_path):
    with HostileHub({"big-v0": {"data/main_data.hdf5": os.urandom(1 << 20)}}) as h:
        cli = Cli(tmp_path, h.url)
        began = time.monotonic()
        cli.run("download", "big-v0", "--limit", "500K", expect=0)
        assert time.monotonic() - began > 1


def test_what_came_from_a_hub_is_at_its_revision_there_and_here(tmp_path):
    id, root, mirror = "a/b-v0", tmp_path / "root", tmp_path / "mirror"
    shutil.copytree(os.path.join(E5, "D4RL/door/human-v2"), root / id)
    for at, (here, _, names) in enumerate(os.walk(root)):
        for name in names:
            os.utime(os.path.join(here, name), ns=(1, 1700000000_123456789 + at))
    with serving(str(root)) as first:
        Cli(mirror, first.base).run("download", id, expect=0)
        with serving(str(mirror)) as second:
            documents = []
            for hub in (first, second):
                for item in hub.get(f"/api/v1/datasets/{id}/files").json()["items"]:
                    hub.get(f"/api/v1/datasets/{id}/files/{item['path']}", method="HEAD")
                until(lambda: "content" in hub.dataset(id))
                documents.append(hub.dataset(id))
    assert [d["revision"] for d in documents] == 2 * [documents[0]["revision"]]
    assert [d["content"] for d in documents] == 2 * [documents[0]["content"]]


# ---- this machine ----


def test_local(cli):
    cli.run("download", "door-human-v0", "door-human-v1", "D4RL/door/human-v2", expect=0)
    r = cli.run("list", "local", expect=0)
    assert [line.split()[0] for line in r.out.splitlines()[1:]] == ["door-human-v1", "D4RL/door/human-v2"]
    assert f"Local Minari datasets('{cli.root}')" in r.err
    assert [i["id"] for i in cli.run("list", "local", "-a", "--json", expect=0).json()["items"]] == ["door-human-v0", "door-human-v1", "D4RL/door/human-v2"]
    assert [i["id"] for i in cli.run("list", "local", "-a", "-p", "D4RL", "--json", expect=0).json()["items"]] == ["D4RL/door/human-v2"]
    r = cli.run("show", "D4RL/door/human-v2", expect=0, MINARI_HUB_URL="http://127.0.0.1:9")
    assert "on this machine" in r.out and "Box(-inf, inf, (39,), float64)" in r.out
    assert cli.run("show", "D4RL/door/human-v2", "--json", expect=0).json()["steps"] == 459
    assert "minari-inspect" in cli.run("list", "local", MINARI_INSPECT="/nowhere", expect=1).err


def test_local_where_nothing_is(tmp_path):
    r = Cli(tmp_path / "none").run("list", "local", expect=0)
    assert "Number of datasets: 0" in r.err and "does not exist yet" in r.err


def test_delete_asks(cli):
    cli.run("download", "door-human-v0", "D4RL/door/human-v2", expect=0)
    for answers, code in (("n\n", 1), ("\n", 1), ("", 1), ("\N{PILE OF POO}\nn\n", 1)):
        r = cli.run("delete", "D4RL/door/human-v2", input=answers, expect=code)
        assert os.path.isdir(cli.path("D4RL/door/human-v2")) and "Aborted" in r.err
    assert "invalid input" in r.err
    assert "not a dataset" in cli.run("delete", "-y", "D4RL/door", expect=3).err  # a namespace is none
    cli.run("delete", "D4RL/door/human-v2", input="y\n", expect=0)
    assert sorted(n for n in os.listdir(cli.root) if n[0] != ".") == ["D4RL", "door-human-v0"]
    assert [f for _, _, files in os.walk(cli.path("D4RL")) for f in files] == ["namespace_metadata.json"] * 2  # what is said of namespaces stays
    assert os.listdir(cli.path(".minari-hub", "trash")) == []


def test_python_minari_lists_while_a_download_is_going_on(tmp_path):
    with HostileHub({"slow-v0": {"data/main_data.hdf5": os.urandom(20 << 20)}}) as slow:
        cli = Cli(tmp_path, slow.url)
        shutil.copytree(os.path.join(E5, "cartpole"), cli.path("cartpole"))
        slow.fault = lambda request, path: "/files/" in path and time.sleep(60)
        p = cli.start("download", "slow-v0")
        until(slow.file_requests)
        assert os.listdir(cli.path(".minari-hub", "incoming"))
        for python, wanted in ((sys.executable, ["cartpole/test-v0"]), (os.environ.get("HUB_TEST_PYTHON_043"), [])):
            if python:
                code = "import minari; print(sorted(minari.list_local_datasets()))"
                done = subprocess.run([python, "-W", "ignore", "-c", code], env={**os.environ, "MINARI_DATASETS_PATH": cli.root}, capture_output=True, text=True)
                assert done.returncode == 0 and done.stdout.splitlines()[-1] == str(wanted), done
        p.kill()
        p.communicate()


# ---- terminals ----


def test_tables_on_a_terminal(cli):
    code, seen = on_terminal(cli, "list", "remote", "-p", "door")
    assert code == 0 and "┏" in seen and "\x1b[36m" in seen and "Minari datasets in" in seen and "Number of datasets: 1" in seen
    code, seen = on_terminal(cli, "list", "remote", "-p", "door", NO_COLOR="1")
    assert code == 0 and "┏" in seen and "\x1b" not in seen
    code, seen = on_terminal(cli, "get", "D4RL/door/human-v2", "0", "rewards", "--format", "npy")
    assert code == 2 and "is binary" in seen
    for format in ["csv", "jsonl"]:
        code, seen = on_terminal(cli, "get", "D4RL/door/human-v2", "0", "rewards", "--format", format)
        assert code == 0 and "rewards" in seen


def test_the_bar_on_a_terminal_and_lines_elsewhere(tmp_path):
    with HostileHub({"slow-v0": {"data/main_data.hdf5": os.urandom(24 << 20)}}) as slow:
        slow.fault = lambda request, path: "/files/" in path and time.sleep(0.3)
        cli = Cli(tmp_path, slow.url)
        code, seen = on_terminal(cli, "download", "slow-v0", "--connections", "1")
        assert code == 0
        bars = seen.split("\r\x1b[K")
        assert len(bars) > 5 and any("33%" in b and "[#" in b and "MB/s" in b for b in bars), bars
        assert all(len(b.split("\n")[0]) < 100 for b in bars[:-1])
        assert bars[-1].startswith("slow-v0: 25.2 MB"), "the bar makes room for the result"
        r = cli.run("download", "slow-v0", "--force", expect=0)
        assert "\r" not in r.err and "\x1b" not in r.err
        assert cli.run("download", "slow-v0", "--force", "--quiet", expect=0).err == ""


def test_a_closed_pipe_is_no_crash(cli):
    p = cli.start("list", "remote", "--json")
    p.stdout.close()
    assert p.wait(20) in (0, 1)
    p.stderr.close()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-x", "-s"] + sys.argv[1:]))


STUBS = {
    "lerobot/datasets/lerobot_dataset.py": "import os\ndef LeRobotDataset(id, root, episodes=None):\n    assert os.path.isfile(root + '/meta/info.json') and id in root\n    print(episodes)\n",
    "datasets.py": "import os\ndef load_from_disk(path):\n    assert os.path.isfile(path + '/state.json') or os.path.isfile(path + '/dataset_dict.json')\n"
                   "def load_dataset(path):\n    assert os.path.isdir(path + '/data')\n",
    "imitation/data/serialize.py": "def load(path):\n    assert path.endswith('.npz') and open(path, 'rb').read(2) == b'PK'\n",
    "imitation/data/types.py": "class T:\n    def __new__(cls, *_, **__):\n        return object.__new__(cls)\ndef __getattr__(name):\n    return T\n",
    "webdataset.py": "import tarfile\ndef WebDataset(urls, shardshuffle):\n    assert urls and all(tarfile.open(u).next() for u in ([urls] if isinstance(urls, str) else urls))\n",
}


def test_the_line_that_loads_it(tmp_path):
    """What is printed runs: by the real library where the tests have it, else one that looks at what it is given."""
    for name, text in STUBS.items():
        (tmp_path / "stubs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "stubs" / name).write_text(text)
    want = {"lerobot/arm-v21": "LeRobotDataset", "lerobot/arm-v30": "LeRobotDataset", "datasets/steps": "load_from_disk", "datasets/splits": "load_from_disk",
            "robomimic/lift-ph": "h5py", "aloha/sim": "h5py", "maniskill/rl": "h5py", "molmospaces/pick": "h5py", "imitation/rollouts": "serialize",
            "imitation/pushed": "load_dataset", "webdataset/ilr-shards": "WebDataset", "webdataset/plain-gz": "WebDataset", "il/demos": "numpy.load|cloudpickle",
            "generic/columns": "pyarrow|feather", "generic/numpy": "numpy", "generic/hdf5": "h5py"}
    root, seen = tmp_path / "it's \\ here", []
    for name in want:
        shutil.copytree(os.path.join(FIXTURES, name), root / name)
    with serving(str(root)) as hub:
        cli = Cli(tmp_path / "datasets", hub.base)
        for d in hub.datasets():
            key = next(k for k in want if (d["id"] + "/").startswith(k + "/"))
            if d["status"] != "ready" or seen.count(key) == (4 if key.startswith("generic") else 2) or d["id"].startswith(("il/demos/magical", "generic/numpy/objects")):
                continue  # that pickle is of classes of its own; arrays of objects are not for anybody's loading
            into = tmp_path / "it's\there"
            printed = cli.run("download", d["id"], "-o", str(into), expect=0).out.splitlines()
            line = printed[-1].removeprefix("  in Python: ")
            assert line != printed[-1] and re.search(want[key], line), (d["id"], printed)
            assert cli.run("download", d["id"], "-o", str(into), "--json", expect=0).json()["downloads"][0]["load"] == line
            assert ("lerobot < 0.4" in line) == (key == "lerobot/arm-v21"), line
            done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(tmp_path / "stubs")})
            assert done.returncode == 0, (d["id"], line, done.stderr)
            seen.append(key)
    assert set(seen) == set(want)


def test_no_line_for_minari(hub, cli, tmp_path):
    assert "in Python" not in cli.run("download", "D4RL/door/human-v2", expect=0).out
    assert "in Python" not in cli.run("download", "door-human-v0", "-o", str(tmp_path / "there"), expect=0).out


# ---- the files of some episodes ----


def test_some_episodes(tmp_path):
    """Only what they need comes; it verifies, is told to be a part, and its line loads those episodes."""
    for name, text in STUBS.items():
        (tmp_path / "stubs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "stubs" / name).write_text(text)
    with serving(LEROBOT) as hub:
        cli = Cli(tmp_path / "datasets", hub.base)
        whole = {f["path"]: f["size"] for f in hub.get("/api/v1/datasets/arm-v21/files").json()["items"]}

        def needed(query):
            return {f["path"]: f["size"] for f in hub.get(f"/api/v1/datasets/arm-v21/files?{query}").json()["items"]}

        planned = cli.run("download", "arm-v21", "-o", str(tmp_path / "plan"), "--episodes", "0:2", "--dry-run", expect=0)
        assert f"{len(needed('episodes=0:2'))} of {len(whole)} files are selected, " in planned.err and "would be downloaded, a part of the dataset" in planned.out
        assert not (tmp_path / "plan" / "arm-v21").exists()
        told = cli.run("download", "arm-v21", "-o", str(tmp_path / "plan"), "--episodes", "0:2", "--dry-run", "--json", expect=0).json()["downloads"][0]
        assert told["planned"] and told["partial"] and told["bytes"] == sum(needed("episodes=0:2").values())
        for number, (options, query, listed) in enumerate([(["--episodes", "0:2"], "episodes=0:2", "[0, 1]"), (["--episodes", "0,2:4"], "episodes=0,2:4", "[0, 2, 3]"), (["--episodes", "3:"], "episodes=3:", "None"),
                                                          (["--task", "0"], "task=0", "None"), (["--where", "number = 1"], "where=number%20%3D%201", "None"), (["--split", "train", "--episodes", "1"], "episodes=1", "[1]")]):
            into, want = tmp_path / str(number), needed(query)
            done = cli.run("download", "arm-v21", "-o", str(into), *options, expect=0)
            folder = into / "arm-v21"
            assert {p: len(b) for p, b in tree(folder).items()} == want and len(want) < len(whole), options
            assert ", a part of the dataset" in done.out
            assert f"verified, {len(want)} files" in cli.run("verify", str(folder), expect=0).out
            assert f"verified, {len(want)} files" in cli.run("verify", str(folder), "--remote", hub.base, expect=0).out
            line = done.out.splitlines()[-1].removeprefix("  in Python: ")
            ran = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path / "stubs")})
            assert ran.returncode == 0 and ran.stdout.strip() == listed, (line, ran)
        os.remove(next((tmp_path / "0" / "arm-v21").rglob("*.mp4")))
        assert "1 files missing" in cli.run("verify", str(tmp_path / "0" / "arm-v21"), "--remote", hub.base, expect=5).err
        together = cli.run("download", "arm-v30", "-o", str(tmp_path / "all"), "--episodes", "0:2", expect=0)
        assert "downloading all files" in together.err and tree(tmp_path / "all" / "arm-v30") == tree(os.path.join(LEROBOT, "arm-v30")) and "a part" not in together.out
        assert "such as 0:10" in cli.run("download", "arm-v21", "-o", str(tmp_path / "bad"), "--episodes", "x", expect=2).err
        assert "no such episodes" in cli.run("download", "arm-v21", "-o", str(tmp_path / "bad"), "--episodes", "77", expect=3).err


def test_a_part_while_digests_are_awaited(tmp_path):
    """The hub hashes meanwhile: that its list is longer than what is wanted is no change."""
    shutil.copytree(os.path.join(LEROBOT, "arm-v21"), tmp_path / "root" / "arm-v21")
    with serving(str(tmp_path / "root"), args=("--hash", "on-demand")) as hub:
        cli = Cli(tmp_path / "datasets", hub.base)
        done = cli.run("download", "arm-v21", "-o", str(tmp_path / "out"), "--include", "*.parquet", expect=0)
        assert "starting over" not in done.err and "verified" in done.out and "a part of the dataset" in done.out


# ---- completion ----

COMPLETE = """
eval "$("$CLI" --generate bash)"
COMP_LINE=$LINE COMP_POINT=${#LINE}
read -ra COMP_WORDS <<<"${LINE//=/ = }"  # as COMP_WORDBREAKS has it
[[ $LINE == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_WORDS[0]=$CLI
_minari_cli
printf '%s\\n' "${COMPREPLY[@]}"
"""


def completed(cli, line):
    """What bash offers behind a line."""
    done = subprocess.run(["bash", "-c", COMPLETE], env={**cli.env, "CLI": CLI, "LINE": "minari-cli " + line}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split()


def test_shells_complete_what_the_hub_has(hub, cli):
    ids = [d["id"] for d in hub.datasets()]
    plain = [id for id in ids if re.fullmatch(r"[\w./~+=@,%:-]+", id, re.ASCII)]
    assert completed(cli, "show ") == plain and len(plain) > 30
    arm = next(id for id in plain if id.endswith("arm-v30"))
    camera = next(id for id in plain if id.endswith("camera-v30"))
    assert completed(cli, "show " + arm[:-2]) == [id for id in plain if id.startswith(arm[:-2])] != []
    assert completed(cli, "show x ") == completed(cli, "show no-such") == completed(cli, "list rem --for ") == []
    assert completed(cli, "download a " + arm[:-1]) == [arm]
    fields = [f["path"] for f in hub.dataset(arm)["fields"]]
    assert completed(cli, f"rows {arm} ") == fields and completed(cli, f"sample {arm} act") == ["action"]
    assert completed(cli, f"get {arm} 1 ~m") == ["~media/top", "~media/wrist"]
    assert completed(cli, f"get {arm} 1 ") == [*fields, "~media/top", "~media/wrist"]
    assert completed(cli, f"get {camera} 0 ~m") == []  # its pictures are fields
    assert set(completed(cli, "list remote --camera ")) >= {"top", "wrist"} and completed(cli, "list remote --robot=so") == ["so100"]
    assert completed(cli, f"episodes {arm} --split ") == ["train"]
    assert "--where" in completed(cli, f"episodes {arm} --w")


def test_shells_complete_what_is_here(tmp_path):
    cli = Cli(os.path.join(FIXTURES, "samples"))
    assert completed(cli, "show ") == ["door-human-v0", "mission-text-v0", "D4RL/door/human-v2", "pictures/corridor-v0"]
    assert completed(cli, "verify door") == ["door-human-v0"] and completed(cli, "rows door-human-v0 obs") == ["observations"]
    assert completed(cli, f"get {LEROBOT}/arm-v30 1 ~media/") == ["~media/observation.images.top", "~media/observation.images.wrist"]
    assert completed(Cli(tmp_path), "show ") == []
    assert completed(Cli(tmp_path, "http://127.0.0.1:9"), "show ") == []


def test_a_name_is_no_command_of_the_shell(tmp_path):
    for name in ("$(touch gone)-v0", "`touch gone`-v0", "a;touch gone", "plain-v0"):
        shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "root" / name, copy_function=shutil.copyfile)
    with serving(str(tmp_path / "root")) as hub:
        cli = Cli(tmp_path / "here", hub.base)
        assert completed(cli, "show ") == ["plain-v0"] and completed(cli, "delete ") == []
    assert not os.path.exists("gone")
