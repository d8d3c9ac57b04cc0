"""What contract_dump says against what h5py reads.  usage: contract_dump ... | compare_h5py.py

Every dataset that h5py can read must be a row line with the same type, shape and bytes, or a field with a reason. Prints what
differs and exits 1.
"""

import glob
import os
import re
import sys

import h5py
import numpy as np

try:
    import hdf5plugin  # noqa: F401  its filters, for h5py
except ImportError:
    pass

from crc32c import crc32c


def expected(ds):
    """(numpy name, trailing shape, rows, crc) as contract_dump prints them, or None when h5py has no say."""
    if ds.shape is None:
        return None
    vlen = h5py.check_vlen_dtype(ds.dtype)
    text = h5py.check_string_dtype(ds.dtype)
    if vlen is not None or (text and text.length is None):
        crc = 0
        for item in np.atleast_1d(ds[()]).ravel():
            raw = item if isinstance(item, bytes) else np.asarray(item).tobytes()
            crc = crc32c(raw, crc32c(len(raw).to_bytes(4, "little"), crc))
        return "|O", "()", ds.shape[0] if ds.shape else 1, crc
    array = ds[()]
    array = np.asarray(array)
    dtype = array.dtype
    name = dtype.str.replace("=", "<")
    shape = array.shape[1:] if array.ndim else ()
    rows = array.shape[0] if ds.ndim else 1
    if not ds.ndim:
        shape = array.shape
    return name, "(%s)" % "".join("%d," % n for n in shape), rows, crc32c(np.ascontiguousarray(array).tobytes())


def datasets(group, path="", above=()):
    for key in group:
        if len(key) > 4096:  # longer than any path: told, and left out
            continue
        try:
            item = group[key]
        except Exception:
            continue
        name = f"{path}/{key}" if path else key
        if isinstance(item, h5py.Group):
            if item.id.__hash__() not in above and len(above) < 15:
                yield from datasets(item, name, above + (item.id.__hash__(),))
        elif isinstance(item, h5py.Dataset):
            yield from members(name, item, item.dtype)


class Member:
    """A member of a compound, which is a field of its own; reads like a dataset."""

    def __init__(self, ds, dtype, names):
        self.ds, self.dtype, self.names, self.shape, self.ndim = ds, dtype, names, ds.shape, ds.ndim

    def __getitem__(self, key):
        rows = self.ds[key]
        for name in self.names:
            rows = rows[name]
        return rows


class Cut:
    """The first rows of a dataset."""

    def __init__(self, ds, rows):
        self.ds, self.rows, self.dtype, self.ndim, self.shape = ds, rows, ds.dtype, ds.ndim, (rows, *ds.shape[1:])

    def __getitem__(self, key):
        return self.ds[key][: self.rows]


def cut_of(group):
    """robomimic's num_samples, where it is less than the rows of actions: (rows, num_samples)."""
    said, actions = group.attrs.get("num_samples"), group.get("actions")
    return (len(actions), said) if said is not None and actions is not None and said < len(actions) else None


def members(path, ds, dtype, names=()):
    if dtype.names is None:
        yield path, Member(ds, dtype.base, names) if names else ds
        return
    for name in dtype.names:
        yield from members(f"{path}/{name}", ds, dtype[name], (*names, name))


def main():
    bad = compared = 0
    path, format, rows, fields = None, None, {}, {}

    def check():
        nonlocal bad, compared
        try:
            mimic = format == "robomimic"
            file = h5py.File(glob.glob(os.path.join(path, "*.h*5"))[0] if mimic else os.path.join(path, "data", "main_data.hdf5"), "r")
        except Exception:
            return
        try:
            file = file["data"] if mimic else file
            episodes = list(file)
        except Exception:
            return
        for episode in episodes:
            number = re.fullmatch(r"(?:episode|demo)_(0|[1-9]\d*)", episode)
            if not number:
                continue
            try:
                group = file[episode]
            except Exception:
                continue
            if not isinstance(group, h5py.Group):
                continue
            cut = cut_of(group)
            for name, ds in datasets(group):
                got = rows.get((number[1], name))
                if fields.get(name):
                    continue
                try:
                    want = expected(Cut(ds, cut[1]) if cut and len(ds) == cut[0] else ds)
                except Exception as why:
                    if got:
                        print(path, episode, name, "h5py cannot:", why, "ours:", got)
                    continue
                compared += 1
                if want is None:
                    continue
                text = [want[0], want[1], str(want[2]), "%08x" % want[3]]
                if got != text:
                    bad += 1
                    print("DIFFERS", path, episode, name, ds.dtype, ds.shape, "h5py", text, "ours", got)

    for line in sys.stdin.buffer:
        part = line.decode("utf-8", "replace").rstrip("\n").split("\t")
        if part[0] == "dataset":
            if path:
                check()
            path, format, rows, fields = part[1], part[2], {}, {}
        elif part[0] == "field" and len(part) > 5:
            fields[part[1]] = part[5]
        elif part[0] == "rows" and len(part) > 6:
            rows[part[1], part[2]] = part[3:7]
    if path:
        check()
    print(compared, "datasets compared,", bad, "differ")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
