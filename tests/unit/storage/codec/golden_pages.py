"""Pages as pyarrow writes them, with the values it was given, for test_page_encodings.c: python3 golden_pages.py > golden_pages_table.h"""
import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PHYSICAL = {"BOOLEAN": 0, "INT32": 1, "INT64": 2, "FLOAT": 4, "DOUBLE": 5, "BYTE_ARRAY": 6, "FIXED_LEN_BYTE_ARRAY": 7}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data, at):
    """A struct of Thrift's compact protocol, structs within it flattened: {number or (number, number): value}, where it ends."""
    out, number = {}, 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        number, at = number + step, at + 1
        if kind in (1, 2):
            out[number] = kind == 1
        elif kind == 12:
            inner, at = fields(data, at)
            out.update({(number, k): v for k, v in inner.items()})
        elif kind == 8:
            size, at = varint(data, at)
            at += size
        else:
            n, at = varint(data, at)
            out[number] = n >> 1 ^ -(n & 1)
    return out, at + 1


def page(array, encoding, version):
    """The one page of a column and its header."""
    out = io.BytesIO()
    table = pa.table({"x": array}, schema=pa.schema([pa.field("x", array.type, nullable=array.null_count > 0)]))
    pq.write_table(table, out, compression="none", use_dictionary=False, column_encoding={"x": encoding}, write_statistics=False,
                   data_page_version=version)
    data = out.getvalue()
    column = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    head, at = fields(data, column.data_page_offset)
    return data[at:at + head[3]], head, PHYSICAL[column.physical_type]


def expected(array):
    """PLAIN values, nulls left out."""
    values = array.drop_null()
    if pa.types.is_fixed_size_binary(array.type):
        return b"".join(values.to_pylist()), array.type.byte_width
    if pa.types.is_binary(array.type) or pa.types.is_string(array.type):
        items = [v.encode() if isinstance(v, str) else v for v in values.to_pylist()]
        return b"".join(struct.pack("<I", len(v)) + v for v in items), 0
    values = values.to_numpy(zero_copy_only=False)
    return values.astype(values.dtype.newbyteorder("<")).tobytes(), values.dtype.itemsize


def columns():
    rng = np.random.default_rng(7)
    big = rng.integers(-2**63, 2**63 - 1, 20, dtype=np.int64)
    names = [f"robot/arm-{i // 7}/joint-{i % 7}" for i in range(40)]
    holes = lambda values: [None if i % 4 == 1 else v for i, v in enumerate(values)]
    halves = rng.normal(size=20).astype(np.float16)
    blobs = [rng.bytes(5) for _ in range(20)]
    counted = list(range(0, 300, 2))
    yield "DELTA_BINARY_PACKED", pa.array(counted, pa.int64())
    yield "DELTA_BINARY_PACKED", pa.array([-1, 2**31 - 1, -2**31, 0, 7, 7, 7], pa.int32())
    yield "DELTA_BINARY_PACKED", pa.array(big)
    yield "DELTA_BINARY_PACKED", pa.array([int(v) for v in rng.integers(-900, 900, 140)], pa.int32())
    yield "DELTA_BINARY_PACKED", pa.array([5], pa.int64())
    yield "DELTA_BINARY_PACKED", pa.array(holes(list(range(50))), pa.int64())
    yield "DELTA_LENGTH_BYTE_ARRAY", pa.array(names)
    yield "DELTA_LENGTH_BYTE_ARRAY", pa.array(holes(["", "a", "bb", "", "c" * 70] * 4))
    yield "DELTA_BYTE_ARRAY", pa.array(names)
    yield "DELTA_BYTE_ARRAY", pa.array(["", "a", "ab", "ab", "b", "", "bab"], pa.binary())
    yield "DELTA_BYTE_ARRAY", pa.array(holes(names[:30]))
    yield "DELTA_BYTE_ARRAY", pa.array(blobs[:3] * 3, pa.binary(5))
    yield "BYTE_STREAM_SPLIT", pa.array(rng.normal(size=30).astype(np.float32))
    yield "BYTE_STREAM_SPLIT", pa.array(rng.normal(size=20))
    yield "BYTE_STREAM_SPLIT", pa.array(big)
    yield "BYTE_STREAM_SPLIT", pa.array([-1, 2**31 - 1, -2**31, 0, 7], pa.int32())
    yield "BYTE_STREAM_SPLIT", pa.array(halves)
    yield "BYTE_STREAM_SPLIT", pa.array(blobs, pa.binary(5))
    yield "BYTE_STREAM_SPLIT", pa.array(holes(list(map(float, range(20)))))
    yield "PLAIN", pa.array(blobs, pa.binary(5))


def literal(data):
    cells = "".join(f"{b}," for b in data)
    lines = [cells[i:i + 4000] for i in range(0, len(cells), 4000)]
    return "{" + "\n".join(lines) + "}"


def main():
    print("/* By golden_pages.py with pyarrow " + pa.__version__ + ". */\n/* clang-format off */")
    rows = []
    for number, (encoding, array) in enumerate(columns()):
        body, head, physical = page(array, encoding, "2.0" if number % 3 == 2 else "1.0")
        values, size = expected(array)
        second = (8, 1) in head
        top = 8 if second else 5
        said = head[(top, 4 if second else 2)]
        width = array.type.byte_width if pa.types.is_fixed_size_binary(array.type) else 2 if physical == 7 else 0
        print(f"static const uint8_t page_{number}[] = {literal(body)};\nstatic const uint8_t values_{number}[] = {literal(values)};")
        rows.append(f'    {{"{encoding} of {array.type}", page_{number}, values_{number}, sizeof page_{number}, {len(array)}, {array.null_count}, '
                    f"{head.get((8, 5), 0)}, {physical}, {said}, {2 if second else 1}, {width}, {size}}},")
    print("static const struct golden goldens[] = {\n" + "\n".join(rows) + "\n};")


if __name__ == "__main__":
    main()
