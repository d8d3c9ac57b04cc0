#!/usr/bin/env python3
"""The image files of gen_data.py as Minari datasets: gen_images.py DATADIR copies every chunk as it is stored, so that the hub, which
serves Minari here, and H5Dread read the same bytes in the same chunking."""
import json
import os
import sys

import h5py

for name in ("img", "img-frame"):
    path = f"{sys.argv[1]}/bench-{name}-v0/data/main_data.hdf5"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with h5py.File(f"{sys.argv[1]}/{name}.hdf5", "r") as source, h5py.File(path, "w") as f:
        total = 0
        for e in range(len(source["data"])):
            demo = source[f"data/demo_{e}"]
            g = f.create_group(f"episode_{e}")
            n = int(demo.attrs["num_samples"])
            total += n
            g.attrs.update({"id": e, "seed": e, "total_steps": n})
            source.copy(demo["obs/agentview_image"], g, "observations")
            source.copy(demo["actions"], g, "actions")
            g["rewards"] = [0.0] * n
            g["terminations"] = [False] * n
            g["truncations"] = [False] * (n - 1) + [True]
        image = {"type": "Box", "dtype": "uint8", "shape": [84, 84, 3], "low": 0, "high": 255}
        action = {"type": "Box", "dtype": "float64", "shape": [7], "low": [-1.0] * 7, "high": [1.0] * 7}
        f.attrs.update({"total_episodes": len(source["data"]), "total_steps": total, "dataset_id": f"bench-{name}-v0", "minari_version": "~=0.4"})
        f.attrs.create("observation_space", json.dumps(image))
        f.attrs.create("action_space", json.dumps(action))
