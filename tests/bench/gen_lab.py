#!/usr/bin/env python3
"""A lab with very many small datasets: gen_lab.py DIR [DATASETS [EPISODES]], by default 10,000 of 100 episodes = 1,000,000 episodes.
Every dataset is a real Minari directory with a file of its own name; the files are hard links to one, so that the lab fits on a disk.
What the hub does with them is what it does with others: each is discovered, inspected and catalogued."""
import json
import os
import sys

import h5py
import numpy as np

STEPS = 5


def write(path, episodes):
    rng = np.random.default_rng(1)
    space = json.dumps({"type": "Box", "dtype": "float64", "shape": [2], "low": [-1.0, -1.0], "high": [1.0, 1.0]})
    with h5py.File(path, "w") as f:
        for e in range(episodes):
            g = f.create_group(f"episode_{e}")
            g.attrs.update({"id": e, "total_steps": STEPS, "seed": e})
            g["observations"] = rng.standard_normal((STEPS + 1, 2))
            g["actions"] = rng.standard_normal((STEPS, 2))
            g["rewards"] = rng.random(STEPS)
            g["terminations"] = np.arange(STEPS) == STEPS - 1
            g["truncations"] = np.zeros(STEPS, bool)
        f.attrs.update({"total_episodes": episodes, "total_steps": episodes * STEPS, "dataset_id": "lab/task-v0", "minari_version": "~=0.4",
                        "observation_space": space, "action_space": space})


def main():
    top = sys.argv[1]
    datasets = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    episodes = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    first = None
    for i in range(datasets):
        folder = f"{top}/robot-{i // 100:03d}/task-{i % 100:02d}-v0/data"
        os.makedirs(folder)
        if first:
            os.link(first, f"{folder}/main_data.hdf5")
        else:
            first = f"{folder}/main_data.hdf5"
            write(first, episodes)


main()
