"""What contract_dump says of tar shards against what tarfile, pickle and numpy read.  usage: contract_dump INSPECT DIR | compare_tar.py DIR

Every field of every shard must be row lines with the same bytes (episodes joined), or a field with a reason.
"""

import collections
import glob
import io
import os
import pickle
import re
import sys
import tarfile

import numpy as np

from crc32c import crc32c


class Reader(pickle.Unpickler):
    """Only what arrays need; all else is opaque."""

    def find_class(self, module, name):
        if module.startswith(("numpy", "_codecs", "collections")) or (module, name) in (("builtins", "bytes"), ("__builtin__", "bytes")):
            core = "numpy._core" if hasattr(np, "_core") else "numpy.core"
            return super().find_class(re.sub(r"^numpy\._?core", core, module), name)
        return lambda *args: (name, args)


def leaves(path, value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(f"{path}/{key}", item)
    else:
        yield path, value


def samples(path):
    """field -> rows of bytes (and whether each is text), as webdataset groups members."""
    fields, count, last, frames = collections.defaultdict(list), 0, None, False
    try:
        for i, member in enumerate(tarfile.open(path)):
            if i == 0:
                frames = member.name == "_metadata.meta.pickle"
            match = re.match(r"^((?:.*/|)[^.]+)[.]([^/]+)$", member.name)
            if not member.isreg() or not match or re.match(r"__[^/]*__($|/)", member.name) or member.name == "_metadata.meta.pickle":
                continue
            if match[1] != last:
                last, count = match[1], count + 1
            data, ext = tarfile.open(path).extractfile(member).read(), match[2].lower()
            if frames and ext.endswith(".pickle"):
                if not data.startswith(b"\x80"):
                    continue  # of a protocol that is refused
                try:
                    items = list(leaves(ext[:-7], Reader(io.BytesIO(data)).load()))
                except Exception:
                    continue
            elif ext.split(".")[-1] == "npz":
                items = [(f"{ext}/{k}", v) for k, v in np.load(io.BytesIO(data)).items()]
            elif ext.split(".")[-1] == "npy":
                items = [(ext, np.load(io.BytesIO(data)))]
            else:
                items = [(ext, data)]
            for name, value in items:
                fields[name].append((count - 1, value))
    except tarfile.ReadError:
        pass
    return fields, count


def raw(value, dtype):
    """(bytes, is of varying length) or None. Loading swaps some arrays of foreign byte order; ours are as they are stored."""
    if isinstance(value, str):
        return value.encode(), True
    if isinstance(value, bytes):
        return value, True
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        try:
            array = np.asarray(value, np.int64 if type(value) is int else None)
        except OverflowError:
            return None
        return None if array.dtype.kind in "OU" else (array.astype(dtype).tobytes(), False)
    return None


def main():
    said, reasons = collections.defaultdict(list), {}
    part, parts, uneven = None, set(), set()
    for line in sys.stdin:
        cells = line.rstrip("\n").split("\t")
        if cells[0] == "part":
            part = cells[1]
            parts.add(part)
        elif cells[0] == "rows":
            said[part, cells[2]].append((int(cells[5]), cells[6], cells[3]))
        elif cells[:2] == ["problem", "uneven-field"]:
            uneven.add((part, cells[2]))
        elif cells[0] == "field" and cells[5]:
            reasons[part, cells[1]] = cells[5]
    same, wrong = 0, []
    shards = {}  # of a part: one, or those over which episodes go on
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "**/*.tar"), recursive=True), key=lambda p: [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", p)]):
        name = os.path.relpath(path, sys.argv[1])
        shards.setdefault(name if name in parts or not shards else list(shards)[-1], []).append(path)
    for name, paths in shards.items():
        fields, count = collections.defaultdict(list), 0
        for path in paths:
            more, steps = samples(path)
            count += steps
            for field, rows in more.items():
                fields[field] += rows
        for field, rows in fields.items():
            got = said.get((name, field))
            if got is None:
                if (name, field) not in reasons:
                    wrong.append((name, field, "neither rows nor a reason"))
                continue
            if (name, field) in uneven:
                continue  # some episodes have it, the others are told of
            values = [raw(v, got[0][2]) for _, v in rows]
            if len(rows) != count or None in values:
                wrong.append((name, field, "should have a reason"))
                continue
            at = 0
            for length, crc, _ in got:
                want = 0
                for data, varying in values[at:at + length]:
                    want = crc32c(data, crc32c(len(data).to_bytes(4, "little"), want) if varying else want)
                at += length
                if "%08x" % want != crc:
                    wrong.append((name, field, "bytes differ"))
            same += 1
            if at != count:
                wrong.append((name, field, f"{at} of {count} rows"))
    print(f"{sys.argv[1]}: {same} fields equal, {len(reasons)} with a reason, {len(wrong)} differ")
    for item in wrong:
        print("  ", *item)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
