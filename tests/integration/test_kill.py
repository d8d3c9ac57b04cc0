"""kill -9 at random moments: of the hub, of the inspector. Afterwards everything is served again, quickly and right."""
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, Hub, quote

ROUNDS = int(os.environ.get("HUB_KILL_ROUNDS", "5"))
MINARI = os.path.join(FIXTURES, "minari")


@pytest.fixture
def place():
    folder = tempfile.mkdtemp(prefix="hub-kill-")
    for era in ("root-0.4.3", "root-0.5.3"):
        shutil.copytree(os.path.join(MINARI, era), os.path.join(folder, "root", era), symlinks=True)
    yield folder
    shutil.rmtree(folder)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(x) for x in f.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has ended meanwhile


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child] + descendants(child)
    return found


def picture(hub):
    """What the hub says of every dataset, and one value of each."""
    said = {}
    for item in hub.datasets():
        first = None
        if item["status"] == "ready" and item["episodes"]:
            number = hub.episodes(item["id"])[0]["number"]
            first = hub.get(f"/api/v1/datasets/{quote(item['id'])}/episodes/{number}/rewards").body
        said[item["id"]] = (item["status"], item["episodes"], item["steps"], item["revision"], first)
    return said


def test_hub_is_killed(place):
    rng = random.Random(7)
    root, state = os.path.join(place, "root"), os.path.join(place, "state")
    os.makedirs(state)
    with Hub([root]) as hub:
        want = picture(hub.wait_indexed())
    assert len(want) > 20
    for round in range(ROUNDS):
        hub = Hub([root], state=state)
        time.sleep(rng.uniform(0.01, 0.6))  # whatever it is at by then
        hub.process.send_signal(signal.SIGKILL)
        hub.process.wait()
        hub.log.close()
        with Hub([root], state=state) as hub:
            hub.wait_ready()
            assert hub.processor_s() < (2 if "asan" not in os.environ.get("HUB_BIN", "") else 10), f"round {round}"
            assert picture(hub.wait_indexed()) == want, f"round {round}"
        for name in [os.path.join(state, "hub.db"), *glob.glob(os.path.join(state, "index-*.db"))]:
            with sqlite3.connect(name) as db:
                assert db.execute("PRAGMA quick_check").fetchone()[0] == "ok", (round, name)
        leftovers = [f for _, _, files in os.walk(os.path.join(state, "side")) for f in files if f.endswith(".tmp")]
        assert not leftovers, leftovers


def test_inspector_is_killed(place):
    rng = random.Random(8)
    root = os.path.join(place, "root")
    with Hub([root]) as hub:
        want = {k: v[:3] for k, v in picture(hub.wait_indexed()).items()}
    for round in range(ROUNDS):
        with Hub([root]) as hub:
            hub.wait_ready()
            killed, end = 0, time.monotonic() + rng.uniform(0.05, 0.5)
            while time.monotonic() < end:
                for pid in descendants(hub.process.pid)[:1]:
                    try:
                        os.kill(pid, signal.SIGKILL)
                        killed += 1
                    except ProcessLookupError:
                        pass
                time.sleep(rng.uniform(0.01, 0.1))  # until the next one falls
            hub.wait_indexed()
            got = {k: v[:3] for k, v in picture(hub).items()}
            assert set(got) == set(want), (round, killed)
            unhappy = {k: v for k, v in got.items() if v != want[k]}
            assert not unhappy, (round, killed, unhappy)
