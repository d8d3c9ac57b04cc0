"""Makes the seeds of fuzz_driver from the fixtures again: python3 make_corpus.py"""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURES = os.path.join(HERE, "..", "fixtures")

NAMES = {  # fuzz_driver.c: formats and the names of their files
    0: ["data/additional_data_0.hdf5", "data/main_data.hdf5", "data/metadata.json"],
    1: ["data/chunk-000/episode_000000.parquet", "data/chunk-000/episode_000001.parquet", "meta/episodes.jsonl",
        "meta/episodes_stats.jsonl", "meta/info.json", "meta/tasks.jsonl"],
    2: ["a-000.tar", "a-001.tar"],
    3: ["a.hdf5"],
}


def read(*path):
    with open(os.path.join(FIXTURES, *path), "rb") as f:
        return f.read()


def write(target, name, data):
    folder = os.path.join(HERE, "corpus", target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def pack(format, files):
    """A dataset as fuzz_driver reads it."""
    out = bytes([format])
    for i, data in files:
        out += struct.pack("<BI", i, len(data)) + data
    return out


def dataset(name, format, *folder):
    files = []
    for i, path in enumerate(NAMES[format]):
        if os.path.isfile(os.path.join(FIXTURES, *folder, path)):
            files.append((i, read(*folder, path)))
    write("driver", name, pack(format, files))


def shards(name, *paths):
    write("driver", name, pack(2, [(i, read("webdataset", p)) for i, p in enumerate(paths)]))


dataset("e5", 0, "minari", "root-0.5.3", "dummy-odd", "single-step-v0")
dataset("e4", 0, "hdf5", "groups-links-v0")
dataset("compound", 0, "hdf5", "types-compound-v0")
dataset("lerobot", 1, "lerobot", "arm-spec-spelling")
shards("plain", "plain-traps/traps.tar")
shards("ilr", "ilr-protocol4/demos.tar")
write("driver", "robomimic", pack(3, [(0, read("robomimic", "hopper", "medium.h5"))]))
