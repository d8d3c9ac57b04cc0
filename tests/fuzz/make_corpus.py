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
    4: ["a.npz", "b.npy", "c.h5", "d.parquet", "e.arrow"],
    5: ["a.hdf5"],
    6: ["a.npz", "b.pkl", "c.pkl.gz", "d.pickle"],
    7: ["data/0/metadata.json", "data/0/part-0.arrow", "data/1/metadata.json", "data/1/part-0.arrow", "data/metadata.json"],
    8: ["data/0/metadata.json", "data/0/part-0.parquet", "data/1/metadata.json", "data/1/part-0.parquet", "data/metadata.json"],
    9: ["data/x", "episode_0.hdf5", "episode_1.hdf5", "episode_2.hdf5", "instructions/episode0.json"],
    10: ["data-00000-of-00001.arrow", "dataset_dict.json", "dataset_info.json", "state.json", "train/data-00000-of-00001.arrow",
        "train/state.json"],
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
dataset("arrow", 7, "minari", "root-0.5.3-columns", "arrow", "infos-v0")
dataset("arrow-nulls", 7, "arrow", "nulls-v0")
dataset("datasets", 10, "datasets", "imitation-cartpole")
dataset("datasets-steps", 10, "datasets", "steps")
dataset("datasets-splits", 10, "datasets", "splits")
dataset("minari-parquet", 8, "minari", "root-0.5.3-columns", "parquet", "infos-v0")
shards("plain", "plain-traps/traps.tar")
shards("ilr", "ilr-protocol4/demos.tar")
for i, name in enumerate(("numpy/mixed.npz", "numpy/fortran.npy", "hdf5/trace.h5", "columns/log.parquet", "columns/file.arrow")):
    write("driver", "generic-" + name.rpartition(".")[2], pack(4, [(i, read("generic", *name.split("/")))]))
write("driver", "il", pack(6, [(0, read("il", "demos", "atari", "stored.npz")), (3, read("il", "demos", "procgen", "coinrun.pickle"))]))
write("driver", "robomimic", pack(3, [(0, read("robomimic", "hopper", "medium.h5"))]))
write("driver", "aloha", pack(9, [(1, read("aloha", "beside", "episode_0.hdf5")), (2, read("aloha", "twin", "data", "episode0.hdf5")),
                                  (4, read("aloha", "twin", "instructions", "episode0.json"))]))
write("driver", "molmospaces", pack(11, [(2, read("molmospaces", "odd", "train", "aggregated_stats.json")),
                                        (3, read("molmospaces", "pick", "val", "house_1", "trajectories_batch_1_of_1.h5")),
                                        (4, read("molmospaces", "odd", "train", "valid_trajectory_index.json"))]))
write("driver", "maniskill", pack(12, [(0, read("maniskill", "odd", "trajectory.h5")), (1, read("maniskill", "odd", "trajectory.json"))]))
write("driver", "imitation", pack(13, [(0, read("imitation", "rollouts", "final.npz"))]))
write("driver", "molmobot", pack(14, [(3, read("molmobot", "odd", "train_shards", "00000.tar"))]))
write("driver", "d4rl", pack(5, [(0, read("d4rl", "hopper_medium-v0.hdf5"))]))


def chunks():
    """Chunks as hdf5plugin stored them: of each compressor the first, with the length that it unpacks to. Wants h5py."""
    import h5py

    filters = {32001: 0, 32004: 1, 32015: 2, (32008, 0): 3, (32008, 2): 4, (32008, 3): 5}  # fuzz_codec.c
    with h5py.File(os.path.join(FIXTURES, "hdf5", "filters-plugins-v0", "data", "main_data.hdf5")) as f:
        for name, dataset in f["episode_0/infos"].items():
            if not name.endswith(("_bytes", "_bits", "_plain", "_i2", "_f8", "_few", "_level_0")) or name == "bits_own_blocks":
                continue
            number, _, values, _ = dataset.id.get_create_plist().get_filter(0)
            mask, data = dataset.id.read_direct_chunk((0,) * dataset.ndim)
            size = dataset.dtype.itemsize
            for n in dataset.chunks:
                size *= n
            which = filters[(number, values[4]) if number == 32008 else number]
            write("codec", "plugin-" + name, struct.pack("<BHBB", 7, size, which, dataset.dtype.itemsize - 1) + data)


chunks()
