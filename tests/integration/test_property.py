"""Random HDF5 files of every kind of storage and type, in random slices, against what h5py reads: bit for bit.

A few seconds in ctest. Longer, or one seed again:  HUB_BIN=build/dev/bin python3 tests/integration/test_property.py SECONDS [SEED]
"""
import json
import os
import random
import re
import sys
import tempfile
import time

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from hub import serving
from test_oracle import check_dataset

NUMBERS = ["u1", "i1", "<u2", ">i2", "<i4", ">u4", "<i8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", "<c16", "?"]
LIBVERS = ["earliest", ("v108", "v108"), ("v110", "v110"), ("v114", "v114"), "latest"]
WORDS = ["", "door", "扉🚪", "e\u0301", 'a\\"\t\n', "x" * 300, " blank ", "\x7f\x01"]
SPACE = json.dumps({"type": "Box", "dtype": "float32", "shape": [2], "low": [-1, -1], "high": [1, 1]})
# What may be refused, by its words; anything else that h5py reads must be read.
REFUSED = "a member of a compound that only libhdf5|a fill value of an array type|HDF5 [0-9.]+, which must decode|" \
    "array of |chunks stored of|variable-length items in"


class Maker:
    def __init__(self, seed):
        self.random, self.numpy = random.Random(seed), np.random.default_rng(seed)

    def dtype(self, depth=0):
        kind = self.random.choice(["number"] * 5 + ["text", "array"] + ["compound"] * (depth < 2))
        if kind == "number":
            return np.dtype(self.random.choice(NUMBERS))
        if kind == "text":
            return np.dtype("S%d" % self.random.choice([1, 2, 7, 40]))
        if kind == "array":
            shape = tuple(self.random.randint(1, 4) for _ in range(self.random.randint(1, 2)))
            return np.dtype((self.random.choice(NUMBERS), shape))
        names = self.random.sample(["x", "y", "r", "i", "n", "pose", "ok", "扉"], self.random.randint(1, 4))
        return np.dtype([(n, self.dtype(depth + 1)) for n in names], align=self.random.random() < 0.3)

    def values(self, shape, dtype):
        """Random bits: NaNs with payloads, denormals, all of them; but truth values are 0 or 1 and text has no odd ends."""
        if dtype.names:
            out = np.zeros(shape, dtype)
            for name in dtype.names:
                out[name] = self.values(shape, dtype[name])
            return out
        if dtype.subdtype:
            return self.values((*shape, *dtype.shape), dtype.base)
        if dtype.kind == "b":
            return self.numpy.integers(0, 2, shape).astype(bool)
        if dtype.kind == "S":
            count = int(np.prod(shape))
            words = [self.random.choice(WORDS).encode()[:dtype.itemsize] for _ in range(count)]
            return np.array(words, dtype).reshape(shape)
        return np.frombuffer(self.numpy.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)

    def shape(self):
        rank = self.random.choice([1, 1, 2, 2, 3, 4])
        return tuple(self.random.choice([0, 1, 2, 3, 5, 17, 40] if axis == 0 else [1, 2, 3, 5, 8]) for axis in range(rank))

    def storage(self, shape, dtype):
        """Arguments of create_dataset."""
        how = {}
        if self.random.random() < 0.3 or not all(shape):
            return how
        how["chunks"] = tuple(self.random.randint(1, n + 2) for n in shape)
        how["maxshape"] = tuple(self.random.choice([None, n + 5, max(n, c)]) for n, c in zip(shape, how["chunks"]))
        how["compression"] = self.random.choice([None, "gzip", "lzf", "gzip", "szip"])
        how["shuffle"] = self.random.random() < 0.5
        simple = dtype.kind in "iu" and not dtype.subdtype
        if simple and self.random.random() < 0.2:
            how["scaleoffset"] = 0
        elif self.random.random() < 0.3:
            how["fletcher32"] = True
        if how["compression"] == "szip" and (dtype.names or dtype.subdtype or dtype.kind in "Sc" or dtype.itemsize == 16):
            how["compression"] = "gzip"
        return how

    def field(self, group, name):
        special = self.random.random()
        if special < 0.12:  # text of varying length
            shape = (self.random.choice([0, 1, 4, 30]),)
            data = np.array([self.random.choice(WORDS).replace("\0", "") for _ in range(shape[0])], object)
            group.create_dataset(name, shape, h5py.string_dtype(), data=data, **({"chunks": (3,)} if shape[0] > 3 else {}))
            return
        if special < 0.2:
            item = np.dtype(self.random.choice(NUMBERS))
            ds = group.create_dataset(name, (5,), h5py.vlen_dtype(item), chunks=self.random.choice([None, (2,)]))
            for k in range(5):
                ds[k] = self.values((self.random.choice([0, 1, 50]),), item)
            return
        if special < 0.27:  # what a C program writes: all paddings, bytes behind the text
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(6)
            kind.set_strpad(self.random.choice([h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD]))
            data = np.array([self.random.choice([b"ab\0cd", b"", b"abcdef", b"a b", b"ab    ", b"\0hid"]) for _ in range(7)], "S6")
            ds = h5py.h5d.create(group.id, name.encode(), kind, h5py.h5s.create_simple((7,)))
            ds.write(h5py.h5s.ALL, h5py.h5s.ALL, data, kind)
            return
        dtype, shape = self.dtype(), self.shape()
        how = self.storage(shape, dtype)
        try:
            ds = group.create_dataset(name, shape, dtype, **how)
        except (ValueError, TypeError):  # a filter that does not take this type
            if name in group:
                del group[name]
            ds = group.create_dataset(name, shape, dtype)
        if self.random.random() < 0.85:
            ds[...] = self.values(shape, dtype)
        elif len(shape) and shape[0] > 1:
            ds[: shape[0] // 2] = self.values((shape[0] // 2, *shape[1:]), dtype)
        if ds.maxshape[0] is None and self.random.random() < 0.4:
            ds.resize(self.random.randint(0, shape[0] + 6), axis=0)

    def dataset(self, root, number):
        folder = os.path.join(root, f"random-v{number}", "data")
        os.makedirs(folder)
        how = {"libver": self.random.choice(LIBVERS), "track_order": self.random.random() < 0.3}
        if self.random.random() < 0.2:
            how["userblock_size"] = 512
        elif self.random.random() < 0.2 and how["libver"] not in ("earliest", ("v108", "v108")):
            how["fs_strategy"] = "page"
        with h5py.File(os.path.join(folder, "main_data.hdf5"), "w", **how) as f:
            for episode in range(2):
                group = f.create_group(f"episode_{episode}")
                steps = self.random.randint(1, 9)
                group.create_dataset("observations", data=self.values((steps + 1, 2), np.dtype("<f4")))
                group.create_dataset("actions", data=self.values((steps,), np.dtype("<i8")))
                group.create_dataset("rewards", data=self.numpy.normal(size=steps))
                for name in ("terminations", "truncations"):
                    group.create_dataset(name, data=np.zeros(steps, bool))
                infos = group.create_group("infos")
                for k in range(self.random.randint(1, 4)):  # names differ, so that types need not agree between episodes
                    self.field(infos, f"e{episode}_{k}")
            f.attrs.update({"total_episodes": 2, "total_steps": 0, "minari_version": "~=0.4", "observation_space": SPACE,
                            "action_space": '{"type": "Discrete", "dtype": "int64", "start": 0, "n": 2}'})


def check_round(seed):
    maker = Maker(seed)
    with tempfile.TemporaryDirectory(prefix="hub-property-") as root:
        for number in range(5):
            maker.dataset(root, number)
        with serving(root) as hub:
            for item in hub.datasets():
                document = hub.dataset(item["id"])
                for field in document["fields"]:
                    assert re.match(REFUSED, field.get("unreadable", "a fill value of an array type")), (seed, item["id"], field)
                try:
                    check_dataset(hub, os.path.join(root, item["id"]), document, maker.random)
                except AssertionError as why:
                    raise AssertionError(f"seed {seed}, {item['id']}: {str(why)[:3000]}") from None


def check_for(seconds, seed=1):
    end, rounds = time.monotonic() + seconds, 0
    while rounds == 0 or time.monotonic() < end:
        check_round(seed + rounds)
        rounds += 1
    return rounds


def test_random_files():
    check_for(8)


if __name__ == "__main__":
    print(check_for(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**9)), "rounds")
