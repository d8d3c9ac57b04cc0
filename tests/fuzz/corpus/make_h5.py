"""Small HDF5 files and parts of them for the h5_* targets.  usage: make_h5.py CORPUS"""

import os
import sys

import h5py
import numpy as np

ROOT = sys.argv[1]


def fill(f):
    f.attrs["text"] = "a text"
    f.attrs["list"] = np.arange(6).reshape(2, 3)
    f.attrs["flag"] = True
    f.attrs["names"] = ["a", "b"]
    g = f.create_group("episode_0")
    g.attrs["seed"] = np.uint64(2**63)
    g.create_dataset("chunked", data=np.arange(70.0).reshape(10, 7), chunks=(4, 3), maxshape=(None, 7))
    g.create_dataset("gzip", data=np.arange(40, dtype="i2"), chunks=(16,), compression="gzip", shuffle=True, fletcher32=True)
    g.create_dataset("contiguous", data=np.arange(6, dtype=">f4"))
    g.create_dataset("text", data=["one", "two", ""], dtype=h5py.string_dtype())
    g.create_dataset("flags", data=np.array([True, False]))
    g.create_dataset("holes", (9,), "f4", chunks=(2,), fillvalue=3)
    g.create_dataset("pair", data=np.array([1 + 2j]))
    g.create_dataset("record", data=np.zeros(2, [("x", "f4"), ("y", "i2", (2,))]))
    f["soft"] = h5py.SoftLink("/episode_0/text")


def dense(f):
    fill(f)
    g = f.create_group("many", track_order=True)
    for n in range(12):
        g.attrs["note_%d" % n] = n
        g.create_dataset("d%d" % n, data=np.arange(3), chunks=(1,), maxshape=[(None,), (3,)][n % 2])
    g.create_dataset("tree", data=np.zeros((4, 4)), chunks=(1, 2), maxshape=(None, None))


def part(path, out, magic, head=b""):
    """From the first place of a signature to the end, so that addresses beyond are wrong but the structure is right."""
    data = open(path, "rb").read()
    at = data.find(magic)
    if at >= 0:
        open(os.path.join(ROOT, out), "wb").write(head + data[at:at + 20000])


for name, kwargs, make in (("early", {}, fill), ("latest", {"libver": ("v110", "v110")}, dense), ("block", {"userblock_size": 512}, fill)):
    path = os.path.join(ROOT, "h5_file", name + ".hdf5")
    with h5py.File(path, "w", **kwargs) as f:
        make(f)
early, latest = (os.path.join(ROOT, "h5_file", n + ".hdf5") for n in ("early", "latest"))
part(latest, "h5_header/ohdr", b"OHDR")
open(os.path.join(ROOT, "h5_header/version1"), "wb").write(open(early, "rb").read()[96:])
part(early, "h5_btree/tree", b"TREE\1", bytes([0, 1, 7, 5, 4, 0, 0, 0]))
part(latest, "h5_btree/fixed", b"FAHD", bytes([3, 0, 7, 2, 0, 0, 0, 0]))
part(latest, "h5_btree/extensible", b"EAHD", bytes([4, 0, 7, 2, 0, 0, 0x10, 0]))
part(latest, "h5_btree/tree2", b"BTHD\0\12", bytes([5, 1, 7, 2, 2, 0, 0x30, 0]))
part(early, "h5_heap/global", b"GCOL")
part(latest, "h5_heap/fractal", b"FRHP")
