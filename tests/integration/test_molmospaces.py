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
        assert found == {i: ("molmospaces", n) for i, n in (("pick", 7), ("split", 3), ("house", 2), ("odd", 5), ("inside", 3))}, found
        by_name(hub)
        alignment(hub)
        splits(hub)
        measures(hub)
        bytes_of_one_value(hub)
        numbers_inside(hub)
        several_shapes(hub)
        measured_inside(hub)
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
    for id in ("house", "inside"):
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


def numbers_inside(hub):
    """Beside the objects, which stay as they are."""
    url = "/api/v1/datasets/pick/episodes/5"
    fields = {f["path"]: f for f in hub.dataset("pick")["fields"]}
    for path, role, axis in (("actions/joint_pos/arm", "action", "shifted"), ("obs/agent/qpos/arm", "observation", "state")):
        assert {k: fields[path][k] for k in ("type", "dtype", "shape", "role", "axis", "episodes")} == {
            "type": "number", "dtype": "float32", "shape": [7], "role": role, "axis": axis, "episodes": 7}
    assert fields["actions/joint_pos"]["type"] == "padded-json" and "actions/joint_pos/done" not in fields
    objects = hub.get(f"{url}/actions/joint_pos").json()
    arm = np.array([o.get("arm", [np.nan] * 7) for o in objects], np.float32)
    got = np.load(io.BytesIO(hub.get(f"{url}/actions/joint_pos/arm?format=npy").body))
    assert got.dtype == np.float32 and np.array_equal(got, arm, equal_nan=True) and np.isnan(arm[[0, -1]]).all() and np.isfinite(arm[1:-1]).all()
    assert hub.get(f"{url}/actions/joint_pos/arm").headers["X-Nonfinite"] == "14"
    assert np.array_equal(rows_of(hub, f"{url}?fields=actions/joint_pos/arm&sentinel=drop&format=npz")[0]["actions/joint_pos/arm"], arm[1:6])
    group = hub.get(f"{url}/actions/joint_pos?start=1&stop=3").json()
    assert group == objects[1:3], "the name of the objects is theirs alone"
    all_rows, headers = rows_of(hub, "/api/v1/datasets/pick/rows?valid=any&format=npz")
    assert all_rows["obs/agent/qpos/arm"].shape == (int(headers["X-Total-Count"]), 7)
    drawn, _ = rows_of(hub, "/api/v1/datasets/pick/sample?windows=9&length=2&seed=3&fields=@action&fields=@observation&sentinel=drop&valid=any")
    assert drawn["actions/joint_pos/arm"].shape == (9, 2, 7) and np.isfinite(drawn["actions/joint_pos/arm"]).all()
    for window, number, start in zip(drawn["actions/joint_pos/arm"], drawn["episode"], drawn["start"]):
        stored = np.load(io.BytesIO(hub.get(f"/api/v1/datasets/pick/episodes/{number}/actions/joint_pos/arm?format=npy").body))
        assert np.array_equal(window, stored[start + 1:start + 3])
    curve, leaf = (hub.get(f"{url}/{path}&buckets=16&format=raw").body for path in ("obs/agent/qpos/arm?dims=4", "obs/agent/qpos?leaf=/arm/4"))
    assert np.allclose(np.frombuffer(curve, "<f4"), np.frombuffer(leaf, "<f4")), "as the same numbers drawn out of the objects"
    page = hub.get("/d/pick/episodes/5", {"Accept": "text/html"}).body.decode()
    for path in ("actions/commanded_action/arm", "actions/ee_twist/arm", "obs/agent/qpos/arm", "obs/agent/qvel/arm"):
        assert f'aria-current="true"><bdi>{path}</bdi>' in page, "a curve, without being asked for: actions leave room for what is observed"


def several_shapes(hub):
    answer = hub.get("/api/v1/datasets/inside/episodes/1/obs/extra/info/varies")
    assert answer.status == 422 and "shape differs at row 3" in answer.json()["detail"], answer.body
    assert hub.get("/api/v1/datasets/inside/episodes/0/obs/extra/info/varies?start=2&stop=3").json() == [[0.5, 1.5]]
    problems = {p["path"]: p["detail"] for p in hub.dataset("inside")["problems"] if p["code"] == "unreadable-in-episodes"}
    assert problems == {"obs/extra/info/varies": "in 1 of 3 episodes: shape differs at row 3", "obs/extra/info/kind": "in 1 of 3 episodes: type differs at row 2"}


def measured_inside(hub):
    def are_complete():
        answer = hub.get("/api/v1/datasets/pick/~statistics?field=obs/agent/qpos/arm")
        field = answer.json()["fields"].get("obs/agent/qpos/arm") if answer.status == 200 else None
        return field if answer.status == 200 and answer.json()["coverage"]["complete"] else None

    field = until(are_complete)
    arms = {n: np.array([o["arm"] for o in hub.get(f"/api/v1/datasets/pick/episodes/{n}/obs/agent/qpos").json()], np.float32).astype(float) for n in range(7)}
    flat = np.concatenate(list(arms.values()))
    assert field["count"] == len(flat) and field["mean"] == pytest.approx(flat.mean(0)) and field["max"] == flat.max(0).tolist()
    means = {n: float(a.mean()) for n, a in arms.items()}
    bound = sum(sorted(means.values())[3:5]) / 2
    chosen = hub.get("/api/v1/datasets/pick/episodes?wait=30&where=" + quote(f'mean("obs/agent/qpos/arm") > {bound!r}')).json()
    assert {e["number"] for e in chosen["items"]} == {n for n, m in means.items() if m > bound}, chosen
    # a last row that only says that the policy is done is no wrong number
    points = hub.get("/api/v1/datasets/pick/episodes/0/obs/extra/object_image_points/cup/wrist_camera/points").headers["X-Nonfinite"]
    counted = hub.get("/api/v1/datasets/pick/episodes?wait=30&where=" + quote(f"nonfinite = {2 * int(points)} and number = 0")).json()
    assert counted["total"] == 1, counted
    acted = hub.get("/api/v1/datasets/pick/~statistics?field=actions/joint_pos/arm").json()["fields"]["actions/joint_pos/arm"]
    assert (acted["count"], acted["nonfinite"]) == (sum(e["steps"] - 1 for e in hub.episodes("pick")), {"nan": 0, "+inf": 0, "-inf": 0}), acted
    found = hub.get("/api/v1/datasets/house/episodes?wait=30&where=" + quote("nonfinite = 0")).json()
    assert found["total"] == 2, found


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
