"""Upstreams: what they have is listed, and fetched when somebody asks for it."""
import contextlib
import os
import shutil
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, Hub, quote, until

ERA = os.path.join(FIXTURES, "minari", "root-0.5.3")
DOOR = "D4RL/door/human-v2"


@pytest.fixture
def place():
    folder = tempfile.mkdtemp(prefix="hub-pull-")
    shutil.copytree(ERA, os.path.join(folder, "up"), symlinks=True)
    for name in ("here", "state"):
        os.mkdir(os.path.join(folder, name))
    yield folder
    shutil.rmtree(folder)


@contextlib.contextmanager
def upstream(place, *args):
    with Hub([os.path.join(place, "up")], args=["--hash", "idle", "--sweep", "1s", *args]) as hub:
        yield hub.wait_indexed()


@contextlib.contextmanager
def here(place, *upstreams, args=()):
    flags = [word for u in upstreams for word in ("--upstream", u)]
    with Hub([os.path.join(place, "here")], state=os.path.join(place, "state"), args=[*flags, *args]) as hub:
        yield hub.wait_ready()


def listed(hub, count=1):
    return until(lambda: len(hub.datasets()) >= count and hub.datasets())


def wait_here(hub, id):
    """Until it is inspected; what is asked for is the slice, which has it fetched."""
    path = f"/api/v1/datasets/{quote(id)}/episodes/0/actions?stop=2"
    answers = []

    def ask():
        answers.append(hub.get(path))
        assert answers[-1].status in (200, 503), answers[-1].body
        return answers[-1].status == 200 and answers

    return until(ask)


def jobs(hub):
    return hub.get("/api/v1/jobs?kind=pull&limit=1000").json()["items"]


def test_what_an_upstream_has_is_listed_and_fetched_when_asked_for(place):
    with upstream(place) as up:
        there = {d["id"]: d for d in up.datasets()}
        with here(place, up.base, "lab/=" + up.base) as hub:
            items = {d["id"]: d for d in listed(hub, 2 * len(there))}
            assert set(items) == set(there) | {"lab/" + id for id in there}
            for id, item in items.items():
                assert item == {**there[id.removeprefix("lab/")], **{k: item[k] for k in ("id", "namespace", "status") if k in item}}
                assert item["status"] == "remote"
            assert {d["id"] for d in hub.datasets("&status=remote&prefix=lab/")} == {"lab/" + id for id in there}
            assert hub.datasets("&status=ready") == []
            assert hub.get("/api/v1/datasets?limit=3").json()["total"] == len(items)
            document = hub.dataset("lab/" + DOOR)
            assert document["origin"]["id"] == DOOR and document["origin"]["remote"] == up.base and document["size"] == there[DOOR]["size"]
            assert hub.get("/api/v1/datasets/D4RL/door/human").json()["id"] == "D4RL/door/human-v10"  # the newest there
            assert jobs(hub) == []  # the document alone fetches nothing
            answers = wait_here(hub, DOOR)
            assert answers[-1].body == up.get(f"/api/v1/datasets/{DOOR}/episodes/0/actions?stop=2").body
            assert all(a.json()["type"].endswith(":pending") and a.headers["Retry-After"] for a in answers[:-1])
            assert {(j["target"], j["state"]) for j in jobs(hub)} == {(DOOR, "done")}
            assert hub.statuses() == {**{id: "remote" for id in items}, DOOR: "ready"}  # what is here wins
            assert hub.dataset(DOOR)["revision"] == there[DOOR]["revision"] and hub.dataset(DOOR)["origin"]["id"] == DOOR
    with here(place, up.base, "lab/=" + up.base) as hub:  # the upstream is down
        assert hub.statuses() == {**{id: "remote" for id in items}, DOOR: "ready"}
        assert hub.get(f"/api/v1/datasets/{DOOR}/files/data/main_data.hdf5").status == 200
    with here(place) as hub:  # and no upstream any more
        assert hub.statuses() == {DOOR: "ready"}
