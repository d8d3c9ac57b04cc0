#!/usr/bin/env python3
"""Data of the other formats: what is inspected, and the same rows in each of them.  usage: gen_formats.py FOLDER (about 1.6 GB)

slices/   50 episodes of 1,000 rows of 39 float64, as Minari, robomimic, D4RL, ALOHA, RoboTwin, ManiSkill, MolmoSpaces, Minari's Parquet and Arrow, lists of
          `datasets`, imitation's .npz and Parquet, a .npy, a .arrow, frames of il-representations and its .npz and .pkl.gz
shard/    frames.tar: 1 GiB of members of 32 KiB that begin like JPEG files
robomimic/demos.hdf5: 1,000 demos of 20 datasets, gzip
aloha/    10,000 files: hard links to 20, each of 400 steps, 3 cameras of padded files of 500 to 700 bytes that begin like JPEG, qpos, qvel, action
"""
import gzip
import io
import json
import os
import pickle
import sys
import tarfile

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

EPISODES, ROWS, WIDTH = 50, 1000, 39
# The smallest of JPEG heads and noise: what is inspected are lengths, nobody looks at the pixels.
HEAD = bytes.fromhex("ffd8ffe000104a46494600010100000100010000")
rng = np.random.default_rng(11)


def path(*parts):
    full = os.path.join(to, *parts)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    return full


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def slices():
    rows = rng.normal(size=(EPISODES, ROWS, WIDTH))
    box = json.dumps({"type": "Box", "dtype": "float64", "shape": [WIDTH], "low": [-9.0] * WIDTH, "high": [9.0] * WIDTH})
    flags = np.zeros(ROWS, bool)
    flags[-1] = True
    with h5py.File(path("slices", "minari-v0", "data", "main_data.hdf5"), "w") as f:
        f.attrs.update({"total_episodes": EPISODES, "total_steps": EPISODES * (ROWS - 1), "dataset_id": "minari-v0", "minari_version": "~=0.4", "observation_space": box, "action_space": box})
        for e in range(EPISODES):
            g = f.create_group(f"episode_{e}")
            g.attrs.update({"id": e, "total_steps": ROWS - 1})
            g["observations"], g["actions"], g["rewards"] = rows[e], rows[e][1:], rows[e, 1:, 0]
            g["terminations"], g["truncations"] = flags[1:], flags[1:]
    with h5py.File(path("slices", "robomimic.hdf5"), "w") as f:
        data = f.create_group("data")
        data.attrs.update({"total": EPISODES * ROWS, "env_args": json.dumps({"env_name": "Bench", "type": 1, "env_kwargs": {}})})
        for e in range(EPISODES):
            g = data.create_group(f"demo_{e}")
            g.attrs["num_samples"] = ROWS
            g["obs/state"], g["actions"], g["dones"], g["rewards"] = rows[e], rows[e], flags.astype("i8"), rows[e, :, 0]
    with h5py.File(path("slices", "d4rl.hdf5"), "w") as f:
        f["observations"] = f["actions"] = rows.reshape(-1, WIDTH)
        f["rewards"], f["terminals"], f["timeouts"] = rows[..., 0].ravel(), np.zeros(EPISODES * ROWS, bool), np.tile(flags, EPISODES)
    for e in range(EPISODES):
        with h5py.File(path("slices", "aloha", f"episode_{e}.hdf5"), "w") as f:
            f.attrs["sim"] = True
            f["observations/qpos"], f["observations/qvel"], f["action"] = rows[e], rows[e], rows[e]
    with h5py.File(path("slices", "trajectory.h5"), "w") as f:
        for e in range(EPISODES):
            g = f.create_group(f"traj_{e}")
            g["obs"], g["actions"], g["success"] = rows[e], rows[e, 1:], flags[1:]
            g["terminated"], g["truncated"] = flags[1:], np.zeros(ROWS - 1, bool)
    for e in range(EPISODES):
        with h5py.File(path("slices", "twin", "data", f"episode{e}.hdf5"), "w") as f:
            f["joint_action/vector"], f["observation/head_camera/intrinsic_cv"] = rows[e], np.zeros((ROWS, 3, 3), "f4")
    with h5py.File(path("slices", "molmo", "train", "house_0", "trajectories_batch_1_of_1.h5"), "w") as f:
        text = np.zeros((ROWS, 64), "u1")
        text[:, :12] = np.frombuffer(b'{"arm":[0.0]', "u1")
        text[:, 12] = ord("}")
        for e in range(EPISODES):
            g = f.create_group(f"traj_{e}")
            g["actions/joint_pos"] = g["obs/agent/qpos"] = g["obs/agent/qvel"] = text
            g["obs/extra/state"], g["rewards"], g["success"] = rows[e], rows[e, :, 0], flags
    with open(path("slices", "trajectory.json"), "w") as f:
        json.dump({"env_info": {"env_id": "Bench-v1"}, "episodes": [{"episode_id": e, "elapsed_steps": ROWS - 1} for e in range(EPISODES)]}, f)
    for form in ("parquet", "arrow"):
        with open(path("slices", f"minari-{form}-v0", "data", "metadata.json"), "w") as f:
            json.dump({"total_episodes": EPISODES, "total_steps": EPISODES * (ROWS - 1), "data_format": form, "observation_space": box, "action_space": box,
                       "dataset_id": f"minari-{form}-v0", "minari_version": "~=0.5"}, f)
    fixed = lambda x: pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), WIDTH)
    for e in range(EPISODES):
        table = pa.table({"observations": fixed(rows[e]), "actions": fixed(rows[e]), "rewards": rows[e, :, 0], "terminations": flags, "truncations": flags})
        pq.write_table(table, path("slices", "minari-parquet-v0", "data", str(e), "part-0.parquet"))
        with pa.OSFile(path("slices", "minari-arrow-v0", "data", str(e), "part-0.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        for form in ("parquet", "arrow"):
            with open(path("slices", f"minari-{form}-v0", "data", str(e), "metadata.json"), "w") as f:
                json.dump({"id": e, "total_steps": ROWS - 1}, f)
    lists = pa.table({"obs": pa.array([list(x) for x in rows], pa.list_(pa.list_(pa.float64()))), "acts": pa.array([list(x[1:]) for x in rows], pa.list_(pa.list_(pa.float64()))),
                      "rews": pa.array(list(rows[:, 1:, 0])), "terminal": pa.array([True] * EPISODES)})
    with pa.OSFile(path("slices", "lists", "data-00000-of-00001.arrow"), "wb") as sink, pa.ipc.new_stream(sink, lists.schema) as writer:
        writer.write_table(lists)
    for name, value in (("state.json", {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}), ("dataset_info.json", {"features": {}})):
        with open(path("slices", "lists", name), "w") as f:
            json.dump(value, f)
    pq.write_table(lists, path("slices", "pushed", "data", "train-00000-of-00001.parquet"), row_group_size=10)
    np.savez(path("slices", "rollouts.npz"), obs=rows.reshape(-1, WIDTH), acts=rows[:, 1:].reshape(-1, WIDTH), rews=rows[:, 1:, 0].ravel(), infos=np.array([{}] * (EPISODES * (ROWS - 1))),
             terminal=np.ones(EPISODES, bool), indices=np.arange(1, EPISODES) * (ROWS - 1))
    demos = np.empty(EPISODES, object)
    demos[:] = [{"states": list(x), "actions": list(x[:, 0]), "dones": [False] * ROWS} for x in rows]
    np.savez(path("slices", "atari.npz"), demos)
    with gzip.open(path("slices", "procgen.pkl.gz"), "wb", compresslevel=1) as f:
        few = rows[:20]  # a pickle of a million values and more is refused
        pickle.dump({"obs": list(few.reshape(-1, WIDTH)), "acts": list(few.reshape(-1, WIDTH)), "rews": few[..., 0].ravel().tolist(), "dones": flags.tolist() * len(few)}, f, 4)
    np.save(path("slices", "plain.npy"), rows.reshape(-1, WIDTH))
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), WIDTH)
    with pa.OSFile(path("slices", "columns.arrow"), "wb") as sink, pa.ipc.new_file(sink, pa.schema([("state", column.type)])) as writer:
        writer.write_table(pa.table({"state": column}))
    with tarfile.open(path("slices", "demos", "demos.tar"), "w", format=tarfile.USTAR_FORMAT) as tar:
        add(tar, "_metadata.meta.pickle", pickle.dumps({"benchmark_name": "bench"}, 4))
        for i in range(EPISODES * ROWS):
            add(tar, f"frame_{i:03}.dones.pickle", pickle.dumps(bool(i % ROWS == ROWS - 1), 4))
            add(tar, f"frame_{i:03}.obs.pickle", pickle.dumps(rows[i // ROWS, i % ROWS], 4))


def shard():
    with tarfile.open(path("shard", "frames.tar"), "w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(32768):
            add(tar, f"{i:06}.jpg", HEAD + rng.bytes(32768 - len(HEAD)))


def robomimic():
    with h5py.File(path("robomimic", "demos.hdf5"), "w") as f:
        data = f.create_group("data")
        data.attrs.update({"total": 100 * 1000, "env_args": json.dumps({"env_name": "Bench", "type": 1, "env_kwargs": {}})})
        rows = rng.normal(size=(100, 7)).astype("f4")
        for e in range(1000):
            g = data.create_group(f"demo_{e}")
            g.attrs["num_samples"] = 100
            for name in ("actions", "dones", "rewards", "states", *(f"{o}/k{k}" for o in ("obs", "next_obs") for k in range(8))):
                g.create_dataset(name, data=rows[:, 0] if name in ("dones", "rewards") else rows, compression="gzip")


def aloha():
    for e in range(20):
        with h5py.File(path("aloha-first", f"episode_{e}.hdf5"), "w") as f:
            f.attrs["sim"], f.attrs["compress"] = False, True
            lengths = rng.integers(500, 700, (3, 400))
            for c, camera in enumerate(("cam_high", "cam_left_wrist", "cam_right_wrist")):
                files = np.zeros((400, 700), "u1")
                for row, n in zip(files, lengths[c]):
                    row[:n] = np.frombuffer(HEAD + b"\x55" * (n - len(HEAD)), "u1")
                f[f"observations/images/{camera}"] = files
            f["compress_len"] = lengths.astype("f8")
            for name in ("observations/qpos", "observations/qvel", "action"):
                f[name] = rng.normal(size=(400, 14)).astype("f4")
    for e in range(10000):
        os.link(path("aloha-first", f"episode_{e % 20}.hdf5"), path("aloha", f"episode_{e}.hdf5"))


to = os.path.abspath(sys.argv[1])
slices()
shard()
robomimic()
aloha()
open(path("ready-3"), "w").close()
