#!/usr/bin/env python3
"""A LeRobot v2.1 dataset for the bench: gen_lerobot.py OUTDIR [episodes] [steps]. Parquet as lerobot 0.3 writes it (through
pyarrow: snappy, dictionary, one row group), observation.state (14,), action (14,), no videos."""
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

out, episodes, steps = sys.argv[1], int((sys.argv[2:] or ["50"])[0]), int((sys.argv[3:] or ["1000"])[0])
os.makedirs(f"{out}/meta", exist_ok=True)
os.makedirs(f"{out}/data/chunk-000", exist_ok=True)
features = {"observation.state": {"dtype": "float32", "shape": [14], "names": None}, "action": {"dtype": "float32", "shape": [14], "names": None}}
for name, dtype in (("timestamp", "float32"), ("frame_index", "int64"), ("episode_index", "int64"), ("index", "int64"), ("task_index", "int64")):
    features[name] = {"dtype": dtype, "shape": [1], "names": None}
lines = []
for e in range(episodes):
    rng = np.random.default_rng(e)
    walk = lambda: pa.array(list(np.cumsum(rng.standard_normal((steps, 14)) * 0.01, axis=0).astype(np.float32)), type=pa.list_(pa.float32()))
    table = pa.table({
        "observation.state": walk(), "action": walk(), "timestamp": pa.array((np.arange(steps) / 30).astype(np.float32)),
        "frame_index": pa.array(np.arange(steps)), "episode_index": pa.array(np.full(steps, e)),
        "index": pa.array(np.arange(steps) + e * steps), "task_index": pa.array(np.zeros(steps, np.int64)),
    })
    pq.write_table(table, f"{out}/data/chunk-000/episode_{e:06d}.parquet")
    lines.append({"episode_index": e, "tasks": ["pick"], "length": steps})
with open(f"{out}/meta/info.json", "w") as f:
    json.dump({"codebase_version": "v2.1", "robot_type": "arm", "total_episodes": episodes, "total_frames": episodes * steps, "total_tasks": 1,
               "total_videos": 0, "total_chunks": 1, "chunks_size": 1000, "fps": 30, "splits": {"train": f"0:{episodes}"},
               "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet", "video_path": None, "features": features}, f, indent=4)
with open(f"{out}/meta/episodes.jsonl", "w") as f:
    f.writelines(json.dumps(x) + "\n" for x in lines)
with open(f"{out}/meta/tasks.jsonl", "w") as f:
    f.write(json.dumps({"task_index": 0, "task": "pick"}) + "\n")
