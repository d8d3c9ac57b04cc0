"""Random Parquet files that pyarrow writes, held against what pyarrow reads of them: every value, or refused in words.

  random_parquet.py CONTRACT_DUMP INSPECT [--files 200] [--seconds S] [--seed N]

A file is named by its seed: `--seed N --files 1` makes that one alone. One that differs is kept.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from compare_parquet import compare

ALPHABET = ["", "a", "joint", "ü", "日本", "\"quoted\"\n", "x" * 70, "same", "same again", "\x01"]


def scalar(r):
    """(type, how one of its values is made, the encodings it may have)"""
    few = r.random() < 0.4
    def ints(bits, signed):
        low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
        return lambda: r.choice([low, high, 0, 7]) if few else r.randint(low, high)
    def steps():
        steps.at += r.randint(-3, 5)
        return steps.at
    steps.at = r.randint(-10**6, 10**6)
    reals = lambda: r.choice([0.0, -1.5, float("nan"), float("inf"), -0.0]) if few else r.gauss(0, 10**r.randint(-3, 3))
    text = lambda: r.choice(ALPHABET) if few else r.choice(ALPHABET) + str(r.randint(0, 10**r.randint(0, 9)))
    raw = lambda: r.randbytes(r.choice([0, 1, 3, 40]))
    width = r.choice([1, 2, 3, 8, 12, 16, 33])
    delta, split, strings = ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"], ["PLAIN", "BYTE_STREAM_SPLIT"], ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
    return r.choice([
        (pa.bool_(), lambda: r.random() < (0.02 if few else 0.5), ["PLAIN", "RLE"]),
        (pa.int8(), ints(8, True), delta), (pa.uint8(), ints(8, False), delta), (pa.int16(), ints(16, True), delta), (pa.uint16(), ints(16, False), delta),
        (pa.int32(), ints(32, True), delta), (pa.uint32(), ints(32, False), delta), (pa.int64(), ints(64, True), delta), (pa.uint64(), ints(64, False), delta),
        (pa.int64(), steps, delta), (pa.timestamp(r.choice(["ms", "us", "ns"])), steps, delta), (pa.date32(), lambda: steps() % 20000, delta),
        (pa.float16(), lambda: np.float16(reals()), split), (pa.float32(), reals, split), (pa.float64(), reals, split),
        (pa.string(), text, strings), (pa.string(), text, strings), (pa.large_string(), text, strings), (pa.binary(), raw, strings),
        (pa.binary(width), lambda: r.randbytes(width), ["PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"]),
    ])


def column(r, deep, lists):
    """(type, how one of its values is made, [(path below the column, encodings)], may it be null)"""
    nulls = r.choice([0, 0, 0.1, 0.9, 1])
    kind = r.choice(["list", "fixed", "struct", "map"] if r.random() < 0.5 and deep else ["scalar"])
    if kind == "scalar":
        of, make, encodings = scalar(r)
        paths = [("", encodings)]
    elif kind in ("list", "fixed"):
        below, one, inner, _ = column(r, deep - 1, lists + 1)
        length = r.randint(1, 4)
        count = (lambda: length) if kind == "fixed" or r.random() < 0.4 else (lambda: r.choice([0, 1, 2, 5]))
        of = pa.list_(below) if kind == "list" else pa.list_(below, length)
        make, paths = lambda: [one() for _ in range(count())], [(".list.element" + p, e) for p, e in inner]
        nulls = 0 if kind == "fixed" else nulls # pyarrow cannot read all of those back
    elif kind == "struct":
        members = [(f"m{i}", *column(r, deep - 1, lists)) for i in range(r.randint(1, 3))]
        of = pa.struct([pa.field(name, t, n) for name, t, _, _, n in members])
        make, paths = lambda: {name: one() for name, _, one, _, _ in members}, [(f".{name}{p}", e) for name, _, _, inner, _ in members for p, e in inner]
    else:
        key, name, encodings = r.choice([s for s in (scalar(r) for _ in range(60)) if pa.types.is_string(s[0]) or pa.types.is_integer(s[0])] or [(pa.int32(), lambda: 1, ["PLAIN"])])
        below, one, inner, _ = column(r, deep - 1, lists + 1)
        of = pa.map_(key, below)
        make = lambda: list({name(): one() for _ in range(r.randint(0, 3))}.items())
        paths = [(".key_value.key", encodings), *((".key_value.value" + p, e) for p, e in inner)]
    return of, (lambda: None if nulls and r.random() < nulls else make()), paths, True if kind != "scalar" else nulls > 0 or r.random() < 0.5


def write(path, seed):
    r = random.Random(seed)
    rows = r.choice([0, 1, 2, 9, 60, 300, 2000])
    fields, arrays, encodings, dictionary = [], [], {}, []
    for i in range(r.randint(1, 8)):
        of, make, paths, nullable = column(r, r.randint(0, 5), 0)
        deep = str(of).count("<")
        arrays.append(pa.array([make() for _ in range(min(rows, 300) if deep > 2 else rows)], of))
        fields.append(pa.field(f"c{i}", of, nullable))
        for p, choice in paths:
            if r.random() < 0.5:
                dictionary.append(f"c{i}{p}")
            else:
                encodings[f"c{i}{p}"] = r.choice(choice)
    shortest = min(map(len, arrays))
    table = pa.Table.from_arrays([a[:shortest] for a in arrays], schema=pa.schema(fields))
    pq.write_table(table, path, row_group_size=max(1, r.choice([shortest, shortest // 2, 7, 100])), data_page_size=r.choice([1, 200, 5000, 2**20]),
                   write_batch_size=r.choice([1, 7, 1024]), data_page_version=r.choice(["1.0", "2.0"]), use_dictionary=dictionary,
                   dictionary_pagesize_limit=r.choice([30, 2**20]), column_encoding=encodings, write_statistics=r.random() < 0.5, write_page_index=r.random() < 0.3,
                   write_page_checksum=r.random() < 0.5, store_schema=r.random() < 0.5, compression=r.choice(["none", "snappy", "gzip", "zstd", "lz4"]),
                   use_content_defined_chunking=r.random() < 0.2)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("dump")
    args.add_argument("inspect")
    args.add_argument("--files", type=int, default=200)
    args.add_argument("--seconds", type=float, help="as many files as that takes")
    args.add_argument("--seed", type=int, default=0)
    args = args.parse_args()
    end, files, columns, refused = time.monotonic() + (args.seconds or 3600), 0, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seed, args.seed + (2**31 if args.seconds else args.files)):
            path = os.path.join(folder, f"random-{seed}.parquet")
            write(path, seed)
            same, not_read, wrong, note = compare(args.dump, args.inspect, path)
            files, columns = files + 1, columns + same
            if not_read or note:
                refused.setdefault(note, []).append(seed)
            if wrong:
                kept = shutil.copy(path, os.path.join(tempfile.gettempdir(), os.path.basename(path)))
                print(f"seed {seed} differs, kept as {kept}", *wrong, sep="\n   WRONG ")
                return 1
            os.unlink(path)
            if time.monotonic() > end:
                break
    for note, those in sorted(refused.items()):
        print(f"refused or not told: {note} (seeds {those[:5]})")
    print(f"{files} files: {columns} columns equal to pyarrow")
    return 0


if __name__ == "__main__":
    sys.exit(main())
