"""Datasets for the pages to show: roots.py FOLDER [--all]. What an earlier run made there is made again.

samples   the samples of the fixtures
lab       videos whose frames carry their number, videos no browser plays, hostile text, user files, many episodes, odd values
broken    one that cannot be read; empty: nothing
steps     --all: an episode of 10^6 steps with one spike;  episodes  --all: 10^6 episodes
"""
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import videos

FIXTURES = os.path.join(HERE, "../fixtures")
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e{{text}} javascript:alert(3) \\u0000"
FILE = HOSTILE.replace("/", "_")


def minari(folder, episodes, *, steps, seed=None, extra=None, **about):
    """`episodes` of rewards, actions and observations; the first four are odd by what is planted."""
    random = np.random.default_rng(5)
    os.makedirs(folder + "/data")
    with h5py.File(folder + "/data/main_data.hdf5", "w") as f:
        f.attrs.update(total_episodes=episodes, total_steps=episodes * steps, minari_version="0.5.3", **{k: v for k, v in about.items() if isinstance(v, str) and len(v) < 50000})
        for n in range(episodes):
            e = f.create_group(f"episode_{n}")
            e.attrs["id"], e.attrs["total_steps"] = n, steps
            if seed is not None:
                e.attrs["seed"] = seed(n)
            actions = random.normal(size=(steps, 3)).cumsum(0)
            rewards = random.normal(n % 7, 1, steps)
            if n == 1:
                actions[:] = actions[0]
            if n == 2:
                rewards[3] = np.nan
            e["rewards"], e["actions"], e["observations"] = rewards, actions, random.normal(size=(steps + 1, 12))
            e["terminations"], e["truncations"] = np.arange(steps) == steps - 1, np.zeros(steps, bool)
            for name, value in (extra or {}).items():
                e[name] = value
    with open(folder + "/data/metadata.json", "w") as f:
        json.dump(dict(about, total_episodes=episodes, total_steps=episodes * steps, minari_version="0.5.3"), f)


def lerobot(folder, lengths, cameras, *, task="look at the squares", fps=30, lost=None, other=None):
    """LeRobot v3.0: the episodes share their files. `cameras`: name and a function that writes the video of that many frames, or None.
    Three frames are lost before step `lost` of each; from step `other` on it is another task."""
    lengths = np.asarray(lengths)
    ends = lengths.cumsum()
    starts, total = ends - lengths, int(ends[-1])

    def feature(dtype, *shape, names=None):
        return {"dtype": dtype, "shape": list(shape), "names": names}

    features = {"observation.state": feature("float32", 2, names=["shoulder", "elbow"]), "action": feature("float32", 2, names=["shoulder", "elbow"]), "next.reward": feature("float32", 1)}
    features |= {"timestamp": feature("float32", 1)} | {k: feature("int64", 1) for k in ("frame_index", "episode_index", "index", "task_index")}
    for name in cameras:
        features[name] = feature("video", videos.SIZE[1], videos.SIZE[0], 3, names=["height", "width", "channels"]) | {"info": {"video.fps": fps, "video.codec": "h264", "has_audio": False}}
    os.makedirs(folder + "/meta/episodes/chunk-000")
    os.makedirs(folder + "/data/chunk-000")
    with open(folder + "/meta/info.json", "w") as f:
        json.dump({"codebase_version": "v3.0", "robot_type": "squares", "fps": fps, "features": features, "total_episodes": len(lengths), "total_frames": total, "total_tasks": 1, "chunks_size": 1000,
                   "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet", "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4", "splits": {"train": f"0:{len(lengths)}"}}, f)
    pq.write_table(pa.table({"task_index": [0, 1][: 1 + bool(other)], "task": [task, "look away"][: 1 + bool(other)]}), folder + "/meta/tasks.parquet")
    number, of = np.arange(len(lengths)), np.repeat(np.arange(len(lengths)), lengths)
    index = np.arange(total)
    frame = index - np.repeat(starts, lengths)
    zero = np.zeros(len(lengths), int)
    episodes = {"episode_index": number, "tasks": pa.array([[task]] * len(lengths)), "length": lengths, "data/chunk_index": zero, "data/file_index": zero, "dataset_from_index": starts, "dataset_to_index": ends}
    for name, write in cameras.items():
        episodes |= {f"videos/{name}/chunk_index": zero, f"videos/{name}/file_index": zero, f"videos/{name}/from_timestamp": starts / fps, f"videos/{name}/to_timestamp": ends / fps}
        if write:
            os.makedirs(f"{folder}/videos/{name}/chunk-000")
            write(f"{folder}/videos/{name}/chunk-000/file-000.mp4", total)
    pq.write_table(pa.table(episodes), folder + "/meta/episodes/chunk-000/file-000.parquet")
    wave = np.sin(index / 9).astype(np.float32)
    pair = pa.FixedSizeListArray.from_arrays(np.stack([wave, -wave], 1).ravel(), 2)
    late = pa.FixedSizeListArray.from_arrays(np.stack([wave * 0.8, 0.1 - wave], 1).ravel(), 2)
    rows = {"observation.state": late, "action": pair, "next.reward": wave, "timestamp": ((frame + 3 * (frame >= (lost or total))) / fps).astype(np.float32), "frame_index": frame, "episode_index": of, "index": index, "task_index": (frame >= (other or total)).astype(int)}
    pq.write_table(pa.table(rows), folder + "/data/chunk-000/file-000.parquet")


def shapes(folder, steps=100000):
    i, random = np.arange(steps), np.random.default_rng(7)
    spike, holes = np.zeros(steps), np.ones(steps)
    spike[70707] = 1
    for start, count in ((0, 500), (40000, 9000), (90000, 1)):
        holes[start:start + count] = np.nan
    minari(folder, 1, steps=steps, extra={"infos/noise": random.normal(size=steps), "infos/walk": random.normal(size=steps).cumsum(), "infos/stairs": i // 7777 % 5 * 1.0, "infos/sine": np.sin(i / 1234) * i, "infos/spike": spike, "infos/holes": holes})


def touch(path, steps=12):
    """Depth and a grid of floats, which are pictures; joints; how a camera stands."""
    os.makedirs(os.path.dirname(path))
    depth = np.linspace(0.5, 4, 12 * 16, dtype=np.float32).reshape(12, 16)
    np.savez(path, **{"obs/depth": np.stack([depth] * steps), "obs/touch": np.random.default_rng(3).normal(size=(steps, 16, 12)).astype(np.float32),
                      "obs/joints": np.sin(np.arange(steps * 3.0).reshape(steps, 3)), "obs/camera/intrinsic_cv": np.ones((steps, 3, 3), np.float32)})


def camera(codec, flags="", short=0):
    return lambda path, count: videos.write(path, codec, count - short, flags=flags)


def hostile(folder):
    minari(f"{folder}/{FILE}-v0", 1, steps=4, extra={"observations_2": np.zeros((5, 2)), "infos/" + FILE: np.zeros(4)}, description=HOSTILE + "x" * 10**6, author=HOSTILE, algorithm_name=HOSTILE, code_permalink="javascript:alert(1)", env_spec=HOSTILE)
    lerobot(f"{folder}/hostile-reel", [12, 12], {"observation.images." + FILE: camera("h264"), "observation.images.gone'<b>": None}, task=HOSTILE)
    with open(f"{folder}/{FILE}-v0/data/{FILE}.txt", "w") as f:
        f.write(HOSTILE)


def user_files(folder):
    minari(folder, 2, steps=5, description="Files that someone put beside the data.")
    for name, text in {
        "x.js": "window.ran = 'script'", "x.mjs": "export const ran = 1; globalThis.ran = 'module'", "x.css": "body { outline: 7px solid red !important }", "x.json": "{}", "worker.js": "postMessage('ran')",
        "x.html": "<script>window.ran = 'html'</script>", "x.svg": "<svg xmlns='http://www.w3.org/2000/svg'><script>window.ran = 'svg'</script></svg>", "x.xml": "<?xml-stylesheet href='x.css'?><a/>", "x.pdf": "%PDF-1.4",
        "x.txt": "<script>window.ran = 'text'</script>", "x": "<script>window.ran = 'nothing'</script>"}.items():
        with open(f"{folder}/data/{name}", "w") as f:
            f.write(text)


def main(folder, everything):
    for name in ("samples", "lab", "broken", "empty", "steps", "episodes"):
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    shutil.copytree(FIXTURES + "/samples", folder + "/samples")
    lab = folder + "/lab"
    for name in ("pick", "odd"):
        shutil.copytree(f"{FIXTURES}/molmospaces/{name}", f"{lab}/molmo/{name}")
    for name in ("camera-v30", "arm-v30"):
        shutil.copytree(f"{FIXTURES}/lerobot/{name}", f"{lab}/{name}")
    lerobot(lab + "/reel", [40, 30, 55, 40, 40, 40, 40, 60, 360], {"observation.images.front": camera("h264"), "observation.images.wrist": camera("av1")})
    lerobot(lab + "/unplayed", [20, 30], {"observation.images.mpeg4": camera("mpeg4"), "observation.images.gone": None, "observation.images.short": camera("h264", short=7)})
    lerobot(lab + "/heavy", [12], {"observation.images.noise": videos.write_noise})
    touch(lab + "/loose/touch.npz")
    lerobot(lab + "/leaps", [3000, 50], {}, lost=20, other=30)
    minari(lab + "/many-v0", 130, steps=15, description="More than a page of episodes.")
    shapes(lab + "/shapes-v0")
    minari(lab + "/seeds-v0", 3, steps=6, seed=lambda n: np.uint64(2**63 + 2**53 + n + 1))
    words = "a_name_of_many_words_in_one_" * 3
    minari(lab + "/lengthy-v0", 2, steps=8, extra={"infos/" + words: np.arange(8.0), "infos/text": np.array(["x" * 5000] * 8, object)}, description=words * 9)
    hostile(lab + "/odd")
    user_files(lab + "/odd/files-v0")
    os.makedirs(folder + "/empty")
    os.makedirs(folder + "/broken/cut-v0/data")
    with open(lab + "/many-v0/data/main_data.hdf5", "rb") as source, open(folder + "/broken/cut-v0/data/main_data.hdf5", "wb") as cut:
        cut.write(source.read(5000))
    shutil.copytree(lab + "/seeds-v0", folder + "/broken/whole-v0")
    if everything:
        with h5py.File(os.path.join(os.makedirs(folder + "/steps/long-v0/data") or folder, "steps/long-v0/data/main_data.hdf5"), "w") as f:
            count = 10**6
            f.attrs.update(total_episodes=1, total_steps=count, minari_version="0.5.3")
            e = f.create_group("episode_0")
            e.attrs["id"], e.attrs["total_steps"] = 0, count
            rewards = np.sin(np.arange(count) / 5e4)
            rewards[777777], rewards[5000:5100] = 10, np.nan
            e["rewards"], e["actions"], e["observations"] = rewards, np.random.default_rng(1).normal(size=(count, 8)).astype(np.float32), np.random.default_rng(2).normal(size=(count + 1, 39)).astype(np.float32)
            e["terminations"], e["truncations"] = np.arange(count) == count - 1, np.zeros(count, bool)
        lerobot(folder + "/episodes/million", np.random.default_rng(3).integers(1, 4, 10**6), {})


if __name__ == "__main__":
    main(sys.argv[1], "--all" in sys.argv)
