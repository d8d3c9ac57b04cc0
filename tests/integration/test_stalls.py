"""Remotes that hold their answers, or fail for ever: others do not wait for them, and the hub reports it."""
import contextlib
import os
import random
import sys
import threading

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import faults
import mirrors
from hostile import HostileHub
from hub import Hub, until

DATA = random.Random(21).randbytes(300_000)
SETS = {f"set-v{i}": {"data/main_data.hdf5": DATA, "data/metadata.json": b"{}"} for i in range(6)}


@pytest.fixture
def place(tmp_path):
    for name in ("here", "state"):
        (tmp_path / name).mkdir()
    return tmp_path


@contextlib.contextmanager
def remotes():
    """One that sends a thousand bytes of a file and no more, until the end of the test, and an honest one."""
    held = threading.Event()
    with HostileHub(dict(SETS)) as bad, HostileHub({"good-v0": SETS["set-v0"]}) as good:
        bad.fault = faults.of("main_data.hdf5", faults.gate(DATA, 1000, held))
        try:
            yield bad, good
        finally:
            held.set()


def failing(hub, name):
    return until(lambda: (rule := hub.get("/api/v1/mirrors/" + name).json())["state"] == "failing" and rule)


def test_who_asks_to_wait_for_an_hour_is_left_alone(place):
    with remotes() as (bad, good), here(place) as hub:
        hub.wait_ready()
        tries = []
        bad.fault = faults.of("/set-v3/files/data/main_data.hdf5",
                              lambda request, path: tries.append(path) or request.problem(503, "overloaded", "too much to do", {"Retry-After": "3600"}))
        mirrors.mirror(str(place), "add", bad.url, "--name", "bad", root=str(place / "here"))
        failing(hub, "bad")
        until(lambda: (rule := hub.get("/api/v1/mirrors/bad").json())["waiting"] == 1 and rule["running"] == 0 and rule["transfers"] == len(SETS) - 1)
        assert "overloaded: too much to do; it asks to try again after 60 minutes" in mirrors.mirror(str(place), "list").stdout
        assert "mirrors-failing" in str(hub.get("/api/v1/status").json()["alerts"]) and "it asks to try again after 60 minutes" in hub.text_log()
        assert len(tries) == 1
        bad.fault = None
        mirrors.mirror(str(place), "run", "bad")
        mirrors.wait_synced(hub, "bad")
        assert hub.get("/api/v1/mirrors/bad").json()["state"] == "idle"


def test_a_full_disk_is_said_once(place):
    with HostileHub(dict(SETS)) as up, here(place, "--min-free", "1000T") as hub:
        hub.wait_ready()
        mirrors.mirror(str(place), "add", up.url, "--name", "lab", root=str(place / "here"))
        errors = lambda: [j.get("error", "") for j in hub.get("/api/v1/jobs?kind=transfer&limit=1000").json()["items"]]
        until(lambda: len(errors()) == len(SETS) and all(errors()))
        lines = until(lambda: [line for line in hub.text_log().splitlines() if "mirror-failed" in line])
        assert len(lines) == 1 and "needs 300.0 KB more" in lines[0] and "1099.51 TB must stay free" in lines[0], lines
        assert failing(hub, "lab")["failures"] <= 4  # that began at once


def here(place, *args):
    return Hub([str(place / "here")], state=str(place / "state"), args=args)


def running(hub, kind):
    return [j["target"] for j in hub.get(f"/api/v1/jobs?kind={kind}&limit=1000").json()["items"] if j["state"] == "running"]


def test_an_upstream_that_stalls_leaves_room_for_others(place):
    with remotes() as (bad, good), here(place, "--upstream", "bad/=" + bad.url, "--upstream", "good/=" + good.url) as hub:
        hub.wait_ready()
        until(lambda: len(hub.datasets()) == len(SETS) + 1)
        for id in SETS:
            assert hub.get(f"/api/v1/datasets/bad/{id}/episodes").status == 503
        until(lambda: len(running(hub, "pull")) >= 2)
        assert until(lambda: (a := hub.get("/api/v1/datasets/good/good-v0/files/data/main_data.hdf5")).status == 200 and a).body == DATA
        assert sum(target.startswith("bad/") for target in running(hub, "pull")) >= 2  # which hold their threads still


def test_a_rule_whose_remote_stalls_leaves_room_for_others(place):
    with remotes() as (bad, good), here(place) as hub:
        hub.wait_ready()
        mirrors.mirror(str(place), "add", bad.url, "--name", "bad", "--as", "bad/", root=str(place / "here"))
        until(lambda: len(running(hub, "transfer")) >= 2)
        mirrors.mirror(str(place), "add", good.url, "--name", "good", root=str(place / "here"))
        mirrors.wait_synced(hub, "good")
        assert (place / "here" / "good-v0" / "data" / "main_data.hdf5").read_bytes() == DATA
        assert sum(target.startswith("bad/") for target in running(hub, "transfer")) >= 2
