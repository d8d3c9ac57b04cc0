"""What contract_dump says of a LeRobot set against what pyarrow reads.  usage: contract_dump INSPECT DIR | compare_pyarrow.py DIR

Every column of every episode file must be a row line with the same type, shape and bytes, or a field or episode with a reason.
"""

import glob
import os
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crc32c import crc32c


def expected(column):
    """(numpy name, trailing shape, rows, crc) as contract_dump prints them, or None where rows differ in shape."""
    kind, rows = column.type, len(column)
    if pa.types.is_struct(kind):
        column, kind = pa.chunked_array([c.field("bytes") for c in column.chunks]), pa.binary()
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        crc = 0
        for item in column.to_pylist():
            raw = item.encode() if isinstance(item, str) else item or b""
            crc = crc32c(raw, crc32c(len(raw).to_bytes(4, "little"), crc))
        return "|O", "()", rows, crc
    dims = []
    while pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        kind = kind.value_type
        dims.append(None)
    dtype = np.dtype(bool) if pa.types.is_boolean(kind) else np.dtype(kind.to_pandas_dtype())
    none = np.nan if dtype.kind == "f" else 0
    try:
        array = np.array([fill(v, none) for v in column.to_pylist()], dtype)
    except (ValueError, TypeError):
        return None
    if array.ndim != 1 + len(dims):
        return None
    return dtype.str, "(%s)" % "".join("%d," % n for n in array.shape[1:]), rows, crc32c(array.tobytes())


def fill(value, none):
    return [fill(v, none) for v in value] if isinstance(value, list) else none if value is None else value


def episodes(folder):
    """(number, its rows): of a file of its own, else where the column episode_index says so."""
    for path in sorted(glob.glob(os.path.join(folder, "data/**/*.parquet"), recursive=True)):
        named = re.search(r"episode_(\d+)\.parquet", path)
        try:
            table = pq.ParquetFile(path).read()
        except Exception:
            continue
        if named:
            yield int(named[1]), table
            continue
        numbers = table["episode_index"].to_pylist()
        for number in sorted(set(numbers)):
            yield number, table.slice(numbers.index(number), numbers.count(number))


def main():
    said, reasons = {}, 0
    for line in sys.stdin:
        cells = line.rstrip("\n").split("\t")
        if cells[0] == "rows":
            said[int(cells[1]), cells[2]] = cells[3:]
        reasons += cells[0] == "problem"
    same = absent = 0
    wrong = []
    for episode, table in episodes(sys.argv[1]):
        for name in table.column_names:
            got, want = said.get((episode, name)), expected(table[name]) if len(table) else None
            if got is None:
                absent += 1
            elif want is None or got[:4] != [want[0], want[1], str(want[2]), "%08x" % want[3]]:
                if len(table):
                    wrong.append((episode, name, got, want))
            else:
                same += 1
    print(f"{sys.argv[1]}: {same} columns equal, {absent} not given ({reasons} problems tell why), {len(wrong)} differ")
    for item in wrong:
        print("  ", *item)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
