#!/usr/bin/env python3
"""LeRobot datasets for the bench: gen_lerobot.py OUTDIR [episodes] [steps] [v2.1|v3.0|v3.0-merged]. Parquet as lerobot writes it (through
pyarrow: snappy, dictionary), observation.state (14,), action (14,), no videos. v2.1: a file an episode. v3.0: 500 episodes a file, a row
group each, as its recorder leaves them; merged: one row group for all of them, as its converter does."""
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK, TOGETHER = 1000, 500
out, episodes, steps, how = sys.argv[1], int((sys.argv[2:] or ["50"])[0]), int((sys.argv[3:] or ["1000"])[0]), (sys.argv[4:] or ["v2.1"])[0]
version = how.split("-")[0]
features = {"observation.state": {"dtype": "float32", "shape": [14], "names": None}, "action": {"dtype": "float32", "shape": [14], "names": None}}
for name, dtype in (("timestamp", "float32"), ("frame_index", "int64"), ("episode_index", "int64"), ("index", "int64"), ("task_index", "int64")):
    features[name] = {"dtype": dtype, "shape": [1], "names": None}


def rows(e):
    rng = np.random.default_rng(e)
    offsets = pa.array(np.arange(0, 14 * steps + 1, 14, dtype=np.int32))
    walk = lambda: pa.ListArray.from_arrays(offsets, pa.array(np.cumsum(rng.standard_normal((steps, 14)) * 0.01, axis=0).astype(np.float32).ravel()))
    return pa.table({
        "observation.state": walk(), "action": walk(), "timestamp": pa.array((np.arange(steps) / 30).astype(np.float32)),
        "frame_index": pa.array(np.arange(steps)), "episode_index": pa.array(np.full(steps, e)),
        "index": pa.array(np.arange(steps) + e * steps), "task_index": pa.array(np.zeros(steps, np.int64)),
    })


def folder(path):
    os.makedirs(os.path.dirname(f"{out}/{path}"), exist_ok=True)
    return f"{out}/{path}"


info = {"codebase_version": version, "robot_type": "arm", "total_episodes": episodes, "total_frames": episodes * steps, "total_tasks": 1}
if version == "v2.1":
    for e in range(episodes):
        pq.write_table(rows(e), folder(f"data/chunk-{e // CHUNK:03d}/episode_{e:06d}.parquet"))
    with open(folder("meta/episodes.jsonl"), "w") as f:
        f.writelines(json.dumps({"episode_index": e, "tasks": ["pick"], "length": steps}) + "\n" for e in range(episodes))
    with open(folder("meta/tasks.jsonl"), "w") as f:
        f.write(json.dumps({"task_index": 0, "task": "pick"}) + "\n")
    info |= {"total_videos": 0, "total_chunks": -(-episodes // CHUNK), "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"}
else:
    for first in range(0, episodes, TOGETHER):
        tables = [rows(e) for e in range(first, min(first + TOGETHER, episodes))]
        with pq.ParquetWriter(folder(f"data/chunk-000/file-{first // TOGETHER:03d}.parquet"), tables[0].schema) as writer:
            for table in [pa.concat_tables(tables).combine_chunks()] if how.endswith("merged") else tables:
                writer.write_table(table)
    at = list(range(episodes))
    pq.write_table(pa.table({
        "episode_index": at, "tasks": [["pick"]] * episodes, "length": [steps] * episodes, "data/chunk_index": [0] * episodes,
        "data/file_index": [e // TOGETHER for e in at], "dataset_from_index": [e * steps for e in at], "dataset_to_index": [(e + 1) * steps for e in at],
        "meta/episodes/chunk_index": [0] * episodes, "meta/episodes/file_index": [0] * episodes}), folder("meta/episodes/chunk-000/file-000.parquet"))
    pq.write_table(pa.table({"task_index": [0], "task": ["pick"]}), folder("meta/tasks.parquet"))
    info |= {"data_files_size_in_mb": 100, "video_files_size_in_mb": 500, "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"}
with open(folder("meta/info.json"), "w") as f:
    json.dump(info | {"chunks_size": CHUNK, "fps": 30, "splits": {"train": f"0:{episodes}"}, "video_path": None, "features": features}, f, indent=4)
