"""MolmoSpaces and ManiSkill by the hub: what is one dataset, names, and which action stands beside which state."""
import base64
import io
import os
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, quote, serving, until

ROOT = os.path.join(FIXTURES, "molmospaces")
FILE = "train/house_12/trajectories_batch_1_of_1.h5"


def test_molmospaces():
    with serving(ROOT) as hub:
        found = {d["id"]: (d["format"], d["episodes"]) for d in hub.datasets() if d["format"] != "files"}
        assert found == {i: ("molmospaces", n) for i, n in (("pick", 7), ("split", 3), ("house", 2), ("odd", 5))}, found
        by_name(hub)
        alignment(hub)
        splits(hub)
        measures(hub)
        bytes_of_one_value(hub)
        only_valid(hub)


def splits(hub):
    assert hub.dataset("pick")["splits"] == {"train": 6, "val": 1}
    assert hub.dataset("pick")["statistics"]["claimed"]["obs/agent/qpos/arm"]["count"] == 30
    page = hub.get("/api/v1/datasets/pick/episodes?split=val").json()
    assert [(e["name"], e["splits"], e["task"]) for e in page["items"]] == [("val/house_1/trajectories_batch_1_of_1.h5/traj_0", ["val"], "pick up the cup 0")]
    valid = [e["attributes"].get("valid") for e in hub.episodes("pick")]
    assert valid == [True, False, True, True, True, True, True]


def by_name(hub):
    page = hub.get(f"/api/v1/datasets/pick/episodes?name={quote(FILE + '/traj_1').replace('/', '%2F')}").json()
    assert page["total"] == 1 and page["next"] is None
    episode = page["items"][0]
    assert (episode["number"], episode["steps"], episode["success"], episode["task"]) == (5, 6, False, "pick up the cup 1")
    assert episode["attributes"] == {"house": 12, "batch": 1, "valid": True, "usable_steps": 6}
    unknown = hub.get("/api/v1/datasets/pick/episodes?name=traj_1")
    assert unknown.status == 400 and unknown.json()["parameter"] == "name"


def alignment(hub):
    """State i stands beside action i+1; the dummy first action is in no slice by steps."""
    url = "/api/v1/datasets/pick/episodes/5"
    with h5py.File(os.path.join(ROOT, "pick", FILE)) as f:
        t = {k: f["traj_1"][k][()] for k in ("actions/joint_pos", "obs/agent/qpos", "obs/extra/tcp_pose", "rewards", "success")}
    names = list(t)

    def rows(query):
        a = hub.get(f"{url}?{query}&format=npz&" + "&".join("fields=" + n for n in names))
        assert a.status == 200, a.body
        with np.load(io.BytesIO(a.body)) as z:
            return {n: z[n] for n in z.files}

    def same(query, first, last, states=None):
        got = rows(query)
        for n in names:
            shifted = not n.startswith("obs")
            want = t[n][first + shifted:last + shifted] if shifted else t[n][first:states or last]
            assert np.array_equal(got[n], want), (query, n, got[n].shape, want.shape)

    same("start=0", 0, 6)
    same("start=2&stop=4", 2, 4)
    same("start=-1", 5, 6)
    same("final=1", 0, 6, 7)
    same("sentinel=drop", 0, 5)
    same("sentinel=keep", 0, 6)
    same("sentinel=drop&start=-1", 4, 5)
    assert [len(v) for v in rows("").values()] == [7] * len(names)  # not cut: as stored
    for n in names:
        assert len(np.load(io.BytesIO(hub.get(f"{url}/{n}?format=npy").body))) == 7
        got = np.load(io.BytesIO(hub.get(f"{url}/{n}?format=npy&sentinel=drop").body))
        assert np.array_equal(got, t[n][:5] if n.startswith("obs") else t[n][1:6])
    assert hub.get(f"{url}/rewards?sentinel=maybe").json()["parameter"] == "sentinel"
    assert hub.get(f"{url}/actions/joint_pos?row=0").json() == {}
    assert hub.get(f"{url}?sentinel=drop").status == 400  # of no fields
    # the return leaves out the reward of the state it began with
    assert abs(hub.get(url).json()["return"] - float(t["rewards"][1:].astype(float).sum())) < 1e-9


def measures(hub):
    """The reward of the state it began with belongs to no step: it is not measured."""
    def are_complete():
        answer = hub.get("/api/v1/datasets/pick/~statistics?field=rewards&bins=8")
        field = answer.json()["fields"]["rewards"] if answer.status == 200 else {}
        return field if field.get("histogram_coverage", {}).get("complete") else None

    field, episodes = until(are_complete), [hub.get(f"/api/v1/datasets/pick/episodes/{n}").json() for n in range(7)]
    rewards = [np.load(io.BytesIO(hub.get(f"/api/v1/datasets/pick/episodes/{n}/rewards?format=npy").body))[1:].astype(float) for n in range(7)]
    flat = np.concatenate(rewards)
    assert [e["measured"]["return"] for e in episodes] == pytest.approx([e["return"] for e in episodes], abs=1e-9)
    assert field["count"] == len(flat) == sum(e["steps"] for e in episodes)
    assert (field["min"], field["max"]) == ([flat.min()], [flat.max()]) and field["mean"] == pytest.approx([flat.mean()])
    assert sum(field["histogram"][0]["counts"]) == len(flat)
    for episode, values in zip(episodes, rewards):
        spark = np.frombuffer(base64.b64decode(episode["measured"]["spark"]), "u1")
        want = [values[k * len(values) // 32] for k in range(32)]
        assert abs(spark - (np.array(want) - values.min()) / (values.max() - values.min()) * 255).max() <= 0.51


def bytes_of_one_value(hub):
    """An object of JSON, and names of videos, whose bytes are not numbers."""
    for id in ("house",):
        url, last = f"/api/v1/datasets/{id}/episodes/1", hub.dataset(id)["episodes"] - 1
        scene = hub.get(f"{url}/obs_scene").json()
        assert (scene["task_description"], scene["policy_dt_ms"]) == ("pick up the cup 1", 66.0)
        assert hub.get(f"{url}/obs/sensor_data/wrist_camera").json() == "episode_00000001_wrist_camera_batch_1_of_1.mp4"
        both = hub.get(f"{url}?fields=obs_scene&fields=obs/sensor_data/exo_camera_1").json()
        assert both["obs_scene"] == scene and both["obs/sensor_data/exo_camera_1"].startswith("episode_00000001_exo")
        assert np.load(io.BytesIO(hub.get(f"{url}/obs_scene?format=npy").body)).tobytes().rstrip(b"\0").startswith(b'{"task_type"')
        assert last >= 1


def rows_of(hub, url):
    answer = hub.get(url)
    assert answer.status == 200, (url, answer.body)
    with np.load(io.BytesIO(answer.body)) as z:
        return {n: z[n] for n in z.files}, answer.headers


def only_valid(hub):
    """Trajectory 1 of house 2 is not valid by the dataset's own word."""
    number = next(e["number"] for e in hub.episodes("pick") if e["attributes"]["valid"] is False)
    rows, headers = rows_of(hub, "/api/v1/datasets/pick/rows?format=npz&fields=rewards")
    assert number not in rows["episode"] and len(set(rows["episode"])) == 6 and headers["X-Left-Out"] == "valid=any" and headers["X-Episodes"] == "6"
    for query in ("valid=any", "where=" + quote('"valid" is not null'), "where=" + quote('"valid" = false'), "name=" + quote("train/house_2/trajectories_batch_1_of_2.h5/traj_1")):
        rows, headers = rows_of(hub, f"/api/v1/datasets/pick/rows?format=npz&fields=rewards&{query}")
        assert number in rows["episode"] and headers["X-Left-Out"] is None, query
    rows, headers = rows_of(hub, "/api/v1/datasets/pick/rows?format=npz&fields=rewards&where=" + quote("steps > 3"))
    assert number not in rows["episode"] and headers["X-Left-Out"] == "valid=any"
    _, headers = rows_of(hub, "/api/v1/datasets/pick/rows?format=npz")
    assert headers["X-Left-Out"].endswith(", valid=any") and "obs_scene" in headers["X-Left-Out"]
    drawn, headers = rows_of(hub, "/api/v1/datasets/pick/sample?windows=200&seed=1&fields=rewards")
    assert set(drawn["episode"]) == set(range(7)) - {number} and headers["X-Left-Out"] == "valid=any"
    drawn, headers = rows_of(hub, "/api/v1/datasets/pick/sample?windows=200&seed=1&fields=rewards&valid=any")
    assert set(drawn["episode"]) == set(range(7)) and headers["X-Left-Out"] is None
    none = hub.get("/api/v1/datasets/pick/sample?fields=rewards&where=" + quote(f"number = {number}"))
    assert none.status == 400 and none.json()["parameter"] == "valid" and "valid=any" in none.json()["detail"]
    assert hub.get("/api/v1/datasets/pick/rows?valid=no").json()["parameter"] == "valid"
    _, headers = rows_of(hub, "/api/v1/datasets/split/rows?format=npz&fields=rewards")
    assert headers["X-Episodes"] == "3" and headers["X-Left-Out"] is None, "nobody judged them"


def test_maniskill():
    with serving(os.path.join(FIXTURES, "maniskill")) as hub:
        found = {d["id"]: d["format"] for d in hub.datasets() if d["format"] != "files"}
        assert set(found.values()) == {"maniskill"} and len(found) == 6, found
        page = hub.get("/api/v1/datasets/motionplanning/trajectory/episodes?name=traj_10").json()
        assert [(e["number"], e["seed"], e["success"]) for e in page["items"]] == [(10, "1010", True)] or [
            (e["number"], e["seed"], e["success"]) for e in page["items"]] == [(10, 1010, True)], page
        assert page["items"][0]["attributes"]["control_mode"] == "pd_joint_pos"
        files = hub.get("/api/v1/datasets/motionplanning/trajectory/files").json()["items"]
        assert [f["path"] for f in files] == ["trajectory.h5", "trajectory.json"]
        assert hub.get("/api/v1/datasets/agents/trajectory/episodes/1?fields=obs&fields=actions&final=1&format=npz").status == 200
        # sentinel=drop drops nothing where there is none
        assert len(hub.get("/api/v1/datasets/rl/trajectory.state.pd_ee_delta_pose.physx_cpu/episodes/0/actions?sentinel=drop").json()) == 5
