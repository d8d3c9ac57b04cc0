"""What is one dataset of which format, of files that look like something else at first; and minari-inspect says what the hub says."""
import glob
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

import h5py
import numpy as np
import pyarrow.parquet
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, Hub, until

ARM = os.path.join(FIXTURES, "lerobot", "arm-v21")


def write(root, path, data=b"x"):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as f:
        f.write(data)


def tar(root, path, names, mode="w"):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with tarfile.open(full, mode) as out:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 3
            out.addfile(info, io.BytesIO(b"abc"))


def listed(root):
    """{id: (format, status, reason)} of a hub, and the same of minari-inspect, whose paths are no ids."""
    with Hub([root]) as hub:
        hub.wait_indexed()
        found = {d["id"]: (d["format"], d["status"], d.get("reason", "")) for d in hub.datasets()}
    ran = subprocess.run([os.path.join(BIN, "minari-inspect"), "--json", root], capture_output=True, check=False)
    inspected = sorted(d["format"] for d in json.loads(ran.stdout)["datasets"])
    assert inspected == sorted(format for format, _, _ in found.values())
    return found


def inspect(path):
    return subprocess.run([os.path.join(BIN, "minari-inspect"), "--json", path], capture_output=True, check=False)


def test_metadata_beside_other_data_is_no_lerobot_set(tmp_path):
    root = str(tmp_path)
    for folder in ("logs", "alone"):
        write(root, f"{folder}/meta/info.json", json.dumps({"dataset_name": "x", "total_episodes": 2}).encode())
        write(root, f"{folder}/meta/episodes.jsonl", b'{"episode_index": 0}\n')
        write(root, f"{folder}/meta/tasks.jsonl", b'{"task_index": 0, "task": "x"}\n')
    for n in range(2):
        write(root, f"logs/data/episode-00{n}/episode-00{n}.mcap", b"\x89MCAP0\r\n" + bytes(100))
    shutil.copytree(ARM, os.path.join(root, "number"), copy_function=shutil.copyfile)
    info = os.path.join(root, "number", "meta", "info.json")
    with open(info) as f:
        document = json.load(f)
    document["codebase_version"] = 2.1
    with open(info, "w") as f:
        json.dump(document, f)
    found = listed(root)
    assert {id: format for id, (format, _, _) in found.items()} == {
        "alone": "files", "logs/meta": "files", "number": "lerobot",
        "logs/data/episode-000/episode-000.mcap": "generic", "logs/data/episode-001/episode-001.mcap": "generic"}
    assert found["logs/data/episode-000/episode-000.mcap"][1:] == ("unsupported", "an MCAP log is not read: convert it to LeRobot or HDF5, or "
                                                                   "download it and open it with mcap or Foxglove")
    assert found["number"][1] == "broken" and "the number 2.1" in found["number"][2]


@pytest.mark.parametrize("name,mode", [("set.tar", "w"), ("set.tar.gz", "w:gz"), ("set.tgz", "w:gz")])
def test_a_packed_lerobot_set_says_what_to_do(tmp_path, name, mode):
    with tarfile.open(tmp_path / name, mode) as out:
        out.add(ARM, arcname="arm")
    format, status, reason = listed(str(tmp_path))[name]
    assert (format, status) == ("generic", "unsupported") and "unpack it" in reason


def test_tars_without_a_series_of_keys_are_files(tmp_path):
    root = str(tmp_path)
    tar(root, "many/archive.tar.gz", ["notzarr.file/notzarr.txt", "empty.txt", "empty.zip"], "w:gz")
    tar(root, "many/sparse.tar", ["sparse_begin.txt", "sparse_end.txt", "sparse.txt"])
    tar(root, "many/good-000.tar", ["000000.jpg", "000000.json", "000001.jpg", "000001.json"])
    for n in range(40):
        write(root, f"many/{n}.dat")
    tar(root, "unlike/train.tar", ["train/a.txt", "train/b.csv"])
    tar(root, "unlike/test.tar", ["dummy/x.json", "dummy/y.txt"])
    tar(root, "pets/pets.tar", ["cat.jpg", "cat.json", "dog.jpg", "dog.json"])
    tar(root, "one/one.tar", ["000.json"])
    found = listed(root)
    assert {id: format for id, (format, _, _) in found.items()} == {
        "many": "files", "many/good": "webdataset", "unlike": "files", "pets": "webdataset", "one": "webdataset"}
    good = json.loads(inspect(os.path.join(root, "many", "good-000.tar")).stdout)["datasets"]
    assert [d["format"] for d in good] == ["webdataset"]
    assert inspect(os.path.join(root, "many", "archive.tar.gz")).returncode == 3


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16 + b"\nsize 12345678\n"


def test_formats_that_are_not_read_are_named(tmp_path):
    root = str(tmp_path)
    for n in range(3):
        write(root, f"tf/toy-train.tfrecord-0000{n}-of-00003")
        write(root, f"tf/toy-test.tfrecord-0000{n}-of-00003")
    write(root, "tf/one.tfrecord")
    write(root, "rerun/session.rrd", b"RRF2" + bytes(50))
    found = listed(root)
    assert {id: (format, status) for id, (format, status, _) in found.items()} == {
        id: ("generic", "unsupported") for id in ("tf/toy-train.tfrecord", "tf/toy-test.tfrecord", "tf/one.tfrecord", "rerun/session.rrd")}
    assert "TFRecord" in found["tf/toy-train.tfrecord"][2] and "Rerun" in found["rerun/session.rrd"][2]


def test_pointers_of_git_lfs_are_named_whatever_they_are_called(tmp_path):
    root = str(tmp_path)
    alone = ["a.mcap", "b.bag", "c.tfrecord-00000-of-00001", "d.safetensors", "e.csv", "f"]
    for name in alone:
        write(root, f"set/{name}", POINTER)
    write(root, "set/notes.txt", b"version https://" + bytes(115))  # nearly
    for n in range(20):
        write(root, f"set/{n:03}.png", POINTER)
    write(root, "other/near.txt", b"x" * 130)
    found = listed(root)
    names = {f"set/{name}" for name in alone} | {"set/png-pointers"}
    assert {id for id, (format, _, _) in found.items() if format == "generic"} == names
    assert all("git lfs pull" in found[id][2] and found[id][1] != "ready" for id in names)
    assert found["other"][0] == "files"


def episode(rng, steps):
    return {"observations": rng.normal(size=(steps + 1, 3)).astype("f4"), "actions": rng.normal(size=(steps, 2)).astype("f4"), "rewards": np.ones(steps, "f4")}


def lies_at(hub, id, episode, field, format="npy"):
    return np.load(io.BytesIO(hub.get(f"/api/v1/datasets/{id}/episodes/{episode}/{field}?format={format}").body))


def test_a_series_of_episodes_is_one_dataset(tmp_path):
    root, rng = str(tmp_path), np.random.default_rng(0)
    stored = {n: episode(rng, 10 + n) for n in range(4)}
    for n, arrays in stored.items():
        for path in (f"npz/episode_{n:03}.npz", f"folders/episode_{n}/trajectory.npz", f"beside/episode{n}.npz"):
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            np.savez(os.path.join(root, path), **arrays)
        write(root, f"folders/episode_{n}/meta.json", json.dumps({"weather": f"day {n}"}).encode())
        write(root, f"parquet/episode_{n:06}.parquet")
        pyarrow.parquet.write_table(pyarrow.table({"action": arrays["actions"][:, 0], "reward": arrays["rewards"]}),
                                    os.path.join(root, f"parquet/episode_{n:06}.parquet"))
    np.save(os.path.join(root, "beside", "other.npy"), np.zeros(3))
    for n in range(2):  # of other shapes each: no series
        write(root, f"unlike/episode_{n}.npz")
        np.savez(os.path.join(root, f"unlike/episode_{n}.npz"), **{f"field{n}": np.zeros(3)})
        for name in f"a{n}":  # of other names each
            write(root, f"several/episode_{n}/{name}.npz")
            np.savez(os.path.join(root, f"several/episode_{n}/{name}.npz"), x=np.zeros(3))
    with Hub([root]) as hub:
        hub.wait_indexed()
        found = {d["id"]: d["episodes"] for d in hub.datasets()}
        assert found == {"npz": 4, "folders": 4, "parquet": 4, "beside/episode": 4, "beside/other": 1, "unlike/episode_0": 1, "unlike/episode_1": 1,
                         **{f"several/episode_{n}/{name}": 1 for n in range(2) for name in f"a{n}"}}
        for id in ("npz", "folders", "beside/episode"):
            fields = {f["path"]: f["axis"] for f in hub.dataset(id)["fields"]}
            assert fields == {"observations": "state", "actions": "step", "rewards": "step"}
            for n, arrays in stored.items():
                for field, values in arrays.items():
                    assert np.array_equal(lies_at(hub, id, n, field), values)
        assert [e["attributes"] for e in hub.episodes("folders")] == [{"weather": f"day {n}"} for n in range(4)]
        assert [e["steps"] for e in hub.episodes("parquet")] == [10, 11, 12, 13]
        assert np.array_equal(lies_at(hub, "parquet", 2, "action"), stored[2]["actions"][:, 0])
        np.savez(os.path.join(root, "npz", "episode_009.npz"), **episode(rng, 5))
        until(lambda: {e["number"] for e in hub.episodes("npz")} == {0, 1, 2, 3, 9})


def test_folders_of_several_files_are_one_dataset(tmp_path):
    """episode_N/ with the same files in each: a field has its file's name before its own, and .npy is its file's."""
    root, rng, stored = str(tmp_path), np.random.default_rng(0), {}
    numbers = [*range(6), *range(1000, 1004)]  # two parts
    for n in numbers:
        folder = tmp_path / "set" / f"episode_{n:04}"
        (folder / "cameras").mkdir(parents=True)
        a = stored[n] = episode(rng, 3 + n % 5)
        np.save(folder / "actions.npy", a["actions"])
        np.save(folder / "cameras" / "top.npy", np.full((3 + n % 5, 8, 8, 3), n % 251, np.uint8))
        np.savez(folder / "state.npz", observations=a["observations"], time=a["rewards"])
        pyarrow.parquet.write_table(pyarrow.table({"reward": a["rewards"]}), folder / "table.parquet")
        (folder / "meta.json").write_text(json.dumps({"weather": f"day {n}"}))
    (tmp_path / "set" / "episode_0003" / "state.npz").write_bytes(b"PK\x03\x04 cut")
    for n in range(3):  # files of other shapes each
        for name in ("x.npy", "y.npy"):
            write(root, f"unlike/episode_{n}/{name}")
            np.save(tmp_path / "unlike" / f"episode_{n}" / name, np.zeros((3, n + 1)))
    with Hub([root]) as hub:
        hub.wait_indexed()
        assert {d["id"]: d["episodes"] for d in hub.datasets()} == {
            "set": 10, **{f"unlike/episode_{n}/{name}": 1 for n in range(3) for name in "xy"}}
        document = hub.dataset("set")
        assert {f["path"]: (f["role"], f["axis"], f["episodes"]) for f in document["fields"]} == {
            "actions": ("action", "step", 10), "cameras/top": ("other", "step", 10), "table/reward": ("reward", "step", 10),
            "state/observations": ("observation", "state", 9), "state/time": ("other", "step", 9)}
        assert [(p["code"], p["path"]) for p in document["problems"]] == [("unreadable-file", "episode_0003/state.npz")]
        for n in numbers:
            found = hub.get(f"/api/v1/datasets/set/episodes/{n}").json()
            assert (found["steps"], found["attributes"]["weather"]) == (3 + n % 5, f"day {n}")
            assert np.array_equal(lies_at(hub, "set", n, "actions"), stored[n]["actions"])
            assert np.array_equal(lies_at(hub, "set", n, "table/reward"), stored[n]["rewards"])
            assert (lies_at(hub, "set", n, "cameras/top") == n % 251).all()
            if n != 3:
                assert np.array_equal(lies_at(hub, "set", n, "state/observations"), stored[n]["observations"])


def test_a_damaged_episode_hides_no_other(tmp_path):
    root, rng = str(tmp_path), np.random.default_rng(0)
    for n in range(4):
        write(root, f"npz/episode_{n}.npz")
        np.savez(os.path.join(root, f"npz/episode_{n}.npz"), **episode(rng, 10))
    write(root, "npz/episode_2.npz", b"PK\x03\x04 cut")
    with Hub([root]) as hub:
        hub.wait_indexed()
        assert [e["number"] for e in hub.episodes("npz")] == [0, 1, 3]
        assert [p.get("path") for p in hub.dataset("npz")["problems"]] == ["episode_2.npz"]


@pytest.mark.parametrize("flags,ends", [({"dones": 1}, [4, 9, 11]), ({"terminals": 1, "timeouts": 2}, [4, 7, 9, 11])])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_flat_npz_is_cut_as_d4rl_is(tmp_path, flags, ends, save):
    rows, rng = 12, np.random.default_rng(0)
    arrays = {"observations": rng.normal(size=(rows, 3)).astype("f4"), "actions": rng.normal(size=(rows, 2)).astype("f4"),
              "rewards": np.arange(rows, dtype="f8"), "note": np.array("of the whole")}
    marks = {1: [4, 9], 2: [7]}
    for name, mark in flags.items():
        arrays[name] = np.isin(np.arange(rows), marks[mark])
    save(tmp_path / "flat.npz", **arrays)
    with Hub([str(tmp_path)]) as hub:
        hub.wait_indexed()
        assert hub.dataset("flat")["format"] == "d4rl"
        episodes, first = hub.episodes("flat"), 0
        assert [e["steps"] for e in episodes] == np.diff([-1] + ends).tolist()
        for e, end in zip(episodes, ends):
            assert e["return"] == sum(range(first, end + 1))
            assert e.get("terminated") == ((end in marks[1]) if "terminals" in flags else None)
            assert e.get("truncated") == ((end in marks[2]) if "timeouts" in flags else None)
            for field in ("observations", "actions", "rewards"):
                assert np.array_equal(lies_at(hub, "flat", e["number"], field), arrays[field][first:end + 1])
            first = end + 1
        assert "open-tail" in {p["code"] for p in hub.dataset("flat")["problems"]}


def test_infos_in_an_archive_of_imitation_are_fields(tmp_path):
    """An array of objects: the dictionaries of the steps, as in a pickle of the same trajectories."""
    with Hub([os.path.join(FIXTURES, "imitation", "rollouts")]) as hub:
        hub.wait_indexed()
        assert hub.dataset("final")["problems"] == [] and not [f for f in hub.dataset("final")["fields"] if "unreadable" in f]
        for episode, steps in enumerate((5, 1, 9)):
            assert hub.get(f"/api/v1/datasets/final/episodes/{episode}/infos/step").json() == list(range(steps))
    np.savez(tmp_path / "late.npz", obs=np.zeros((8, 2)), acts=np.zeros((6, 1)), terminal=np.array([True, False]), indices=np.array([4]),
             infos=np.array([{}] * 5 + [{"rollout": 1}], object))
    with Hub([str(tmp_path)]) as hub:  # the first dictionary does not say what the others have
        hub.wait_indexed()
        assert [f.get("unreadable") for f in hub.dataset("late")["fields"] if f["path"] == "infos"] == ["a dictionary"]


def test_pictures_of_one_observation_are_no_steps(tmp_path):
    root, picture = str(tmp_path), np.zeros((224, 224, 3), "u1")
    np.savez(os.path.join(root, "one.npz"), image=picture, wrist_image=picture, state=np.zeros(8))
    np.savez(os.path.join(root, "many.npz"), image=np.zeros((40, 64, 64, 3), "u1"), state=np.zeros((40, 8)))
    np.savez(os.path.join(root, "grid.npz"), mask=np.zeros((100, 50, 1), "u1"))
    with h5py.File(os.path.join(root, "one-h5.h5"), "w") as f:
        f["image"], f["state"] = picture, np.zeros(8)
    with Hub([root]) as hub:
        hub.wait_indexed()
        assert {d["id"]: d["steps"] for d in hub.datasets()} == {"one": 1, "many": 40, "grid": 100, "one-h5": 1}


def test_a_video_inside_a_lerobot_set_is_of_the_set(tmp_path):
    for place in glob.glob(os.path.join(FIXTURES, "lerobot", "arm-v*", "**", "*.mp4"), recursive=True)[:40:13]:
        ran = inspect(place)
        assert ran.returncode == 0, ran.stderr
        assert [d["format"] for d in json.loads(ran.stdout)["datasets"]] == ["lerobot"], place
    write(str(tmp_path), "a/b/c/d/clip.mp4")
    assert b"nor its folder is a dataset" in inspect(str(tmp_path / "a/b/c/d/clip.mp4")).stderr


def test_a_lerobot_set_says_what_else_lies_in_its_folder(tmp_path):
    root = str(tmp_path)
    shutil.copytree(ARM, os.path.join(root, "set"), copy_function=shutil.copyfile)
    shutil.copytree(ARM, os.path.join(root, "plain"), copy_function=shutil.copyfile)
    for path in ("checkpoints/last/model.safetensors", "wandb/run.log", "backup.zip"):
        write(root, "set/" + path, bytes(700_000))
    with Hub([root]) as hub:
        hub.wait_indexed()
        document = hub.dataset("set")
        assert document["status"] == "ready" and hub.dataset("plain")["problems"] == []
        assert [(p["code"], p["path"], p["detail"]) for p in document["problems"]] == [
            ("other-files", "backup.zip", "3 files of 2.1 MB that LeRobot does not read: a download includes them, --exclude leaves them out")]


def test_a_name_that_states_the_codebase_is_no_older_version(tmp_path):
    """arm-v21 and arm-v30 are one recording for two releases of LeRobot: neither replaces the other in a list of newest versions."""
    for name, fixture in {"arm-v21": "arm-v21", "arm-v30": "arm-v30", "pick-v1": "arm-v21", "pick-v2": "arm-v21"}.items():
        shutil.copytree(os.path.join(FIXTURES, "lerobot", fixture), tmp_path / "robots" / name)
    with Hub([str(tmp_path)]) as hub:
        hub.wait_indexed()
        assert [d["id"] for d in hub.datasets("&latest=true")] == ["robots/arm-v21", "robots/arm-v30", "robots/pick-v2"]
        for id in ("robots/arm-v21", "robots/arm-v30", "robots/pick-v1"):  # an id is found as it is
            answer = hub.get(f"/api/v1/datasets/{id}")
            assert answer.json()["id"] == id and answer.headers["Content-Location"] is None
            assert hub.get(f"/datasets/{id}/resolve/main/meta/info.json").status == 200
        answer = hub.get("/api/v1/datasets/robots/arm")  # the newest, and it says so
        assert answer.headers["Content-Location"] == "/api/v1/datasets/robots/arm-v30"
        assert hub.get("/datasets/robots/arm/resolve/main/meta/info.json").status == 404


def test_an_episode_without_its_file_says_so(tmp_path):
    """Listed in meta/, but the file is gone: the answer says that there is one missing, and which."""
    shutil.copytree(ARM, tmp_path / "arm", copy_function=shutil.copyfile)
    os.unlink(tmp_path / "arm" / "data" / "chunk-000" / "episode_000001.parquet")
    with Hub([str(tmp_path)]) as hub:
        hub.wait_indexed()
        for path in ("episodes/1", "episodes/1/action", "episodes/1/~media"):
            answer = hub.get("/api/v1/datasets/arm/" + path)
            assert answer.status == 404 and answer.json()["type"].endswith(":episode-missing")
            assert answer.json()["detail"] == "'arm' has no episode 1: 1 of 4 listed episodes have no data file; the first is 1"
        assert hub.get("/api/v1/datasets/arm/episodes/2").status == 200
