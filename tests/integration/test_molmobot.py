"""MolmoSpaces' data as they are published, tars of archives: served as the houses that were packed."""
import os

import pytest

from hub import FIXTURES, quote, serving

PACKED, PLAIN = os.path.join(FIXTURES, "molmobot"), os.path.join(FIXTURES, "molmospaces", "pick")


@pytest.fixture(scope="module")
def hub():
    with serving("packed=" + PACKED, "plain=" + PLAIN) as hub:
        yield hub


def by_name(hub, id):
    """Episodes by the name in their split: those that were not packed have it in front."""
    split = lambda e: e["name"].removeprefix("train/").removeprefix("val/")
    return {split(e): e for e in hub.episodes(id)}


def test_each_set_of_shards_is_one_dataset(hub):
    found = {d["id"]: (d["format"], d["episodes"]) for d in hub.datasets() if d["id"].startswith("packed/") and d["format"] != "files"}
    assert found["packed/pick"] == ("molmospaces-shards", 7) and found["packed/odd"] == ("molmospaces-shards", 1), found
    assert not [id for id in found if "shards" in id], found


def test_every_row_is_that_of_the_file_that_was_packed(hub):
    plain_id = next(d["id"] for d in hub.datasets() if d["format"] == "molmospaces")
    packed, plain = by_name(hub, "packed/pick"), by_name(hub, plain_id)
    assert packed.keys() == plain.keys()
    assert {f["path"] for f in hub.dataset("packed/pick")["fields"]} == {f["path"] for f in hub.dataset(plain_id)["fields"]}
    compared = 0
    for name, e in packed.items():
        other = plain[name]
        for key in ("steps", "task", "success", "return", "splits"):
            assert e[key] == other[key], (name, key)
        paths = [f["path"] for f in hub.get(f"/api/v1/datasets/packed/pick/episodes/{e['number']}").json()["fields"]]
        for path in paths:
            a, b = (hub.get(f"/api/v1/datasets/{quote(id)}/episodes/{n['number']}/{quote(path)}?format=npz") for id, n in (("packed/pick", e), (plain_id, other)))
            assert (a.status, a.body) == (200, b.body), (name, path, a.status)
            compared += 1
    assert compared > 150


def test_a_split_may_be_asked_for(hub):
    items = hub.get("/api/v1/datasets/packed/pick/episodes?split=val").json()["items"]
    assert [e["name"] for e in items] == ["house_1/trajectories_batch_1_of_1.h5/traj_0"]


def test_what_cannot_be_served_says_why(hub):
    problems = {p["code"]: p for p in hub.dataset("packed/pick")["problems"]}
    assert "packed in archives" in problems["packed-videos"]["detail"] and "unpack" in problems["packed-videos"]["detail"]
    media = hub.get("/api/v1/datasets/packed/pick/episodes/0/~media").json()["items"]
    assert {m["camera"] for m in media} == {"exo_camera_1", "wrist_camera"}
    assert all("packed in an archive" in m["problem"] for m in media), media
    assert "bad-archive" in {p["code"] for p in hub.dataset("packed/odd")["problems"]}
    text = hub.get("/d/packed/pick/episodes/0").body.decode()
    assert "its video is packed in an archive" in text


def test_shards_are_served_as_files(hub):
    with open(os.path.join(PACKED, "pick", "train_shards", "00000.tar"), "rb") as f:
        assert hub.get("/api/v1/datasets/packed/pick/files/train_shards/00000.tar").body == f.read()
