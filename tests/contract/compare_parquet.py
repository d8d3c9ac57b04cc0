"""Parquet files against pyarrow: every column equal, slices of it too, or refused in words.

  compare_parquet.py CONTRACT_DUMP INSPECT FILE_OR_FOLDER...

Also over a folder of files that others wrote, such as data/ and bad_data/ of apache/parquet-testing. Ends with 1 where a value differs, a
column is missing without a reason, or an inspection ends in another way than with a result.
"""

import base64
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crc32c import crc32c

RAW = {pa.date32(): "<i4", pa.time32("s"): "<i4", pa.time32("ms"): "<i4"}


def unwrap(array):
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def values(array):
    """A leaf as Python's and numpy's values, None where null, and its name for numpy, "|T" for text, "|O" for bytes, None for what is refused."""
    kind = array.type
    if pa.types.is_decimal(kind) or pa.types.is_interval(kind):
        return [None] * len(array), None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array.cast(pa.large_binary()).to_pylist(), "|T"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return array.to_pylist(), "|O"
    if pa.types.is_null(kind):
        return [None] * len(array), "null"
    if pa.types.is_temporal(kind):
        array = array.view(pa.int32() if kind in RAW else pa.int64())
    name = "|b1" if pa.types.is_boolean(kind) else np.dtype(array.type.to_pandas_dtype()).str
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    plain = array.fill_null(False if name == "|b1" else np.float16(0) if name == "<f2" else 0) if array.null_count else array
    numbers = plain.to_numpy(zero_copy_only=False).astype(name)
    return [n if ok else None for n, ok in zip(numbers, valid)], name


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def members(kind):
    """The types of all values in it."""
    if pa.types.is_dictionary(kind) or is_list(kind):
        return members(kind.value_type)
    if pa.types.is_map(kind):
        return members(kind.key_type) + members(kind.item_type)
    return [m for f in kind for m in members(f.type)] if pa.types.is_struct(kind) else [kind]


def is_text(kind):
    return any(is_a(kind) for is_a in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary,
                                       pa.types.is_fixed_size_binary))


def is_whole(kind):
    """A map, or lists of structs with a text or bytes among them: JSON text a row."""
    inside = members(kind)
    return pa.types.is_map(kind) or has_map(kind) and is_list(kind) or is_list(kind) and len(inside) > 1 and any(map(is_text, inside))


def has_map(kind):
    if pa.types.is_struct(kind):
        return any(has_map(f.type) for f in kind)
    return pa.types.is_map(kind) or is_list(kind) and has_map(kind.value_type)


def plain(array):
    """Rows as JSON would have them."""
    array = unwrap(array)
    kind, valid = array.type, array.is_valid().to_pylist()
    if pa.types.is_struct(kind):
        columns = [(f.name, plain(array.field(i))) for i, f in enumerate(kind)]
        rows = [{name: rows[i] for name, rows in columns} for i in range(len(array))]
    elif is_list(kind) or pa.types.is_map(kind):
        if pa.types.is_fixed_size_list(kind):
            array = array.cast(pa.list_(kind.value_type))
        offsets = array.offsets.to_pylist()
        if pa.types.is_map(kind):
            pairs = [list(p) for p in zip(plain(array.keys), plain(array.items))]
            rows = [pairs[a:b] for a, b in zip(offsets, offsets[1:])]
            if pa.types.is_string(kind.key_type) or pa.types.is_large_string(kind.key_type):
                rows = [dict(r) for r in rows]
        else:
            items = plain(array.values)
            rows = [items[a:b] for a, b in zip(offsets, offsets[1:])]
    else:
        rows, name = values(array)
        rows = [single(r, name) for r in rows]
    return [r if ok else None for r, ok in zip(rows, valid)]


class Bytes(str):
    """Bytes as base64; or as the text that they are, which ENUM says of what pyarrow has as bytes."""

    def __new__(cls, raw):
        self = super().__new__(cls, base64.b64encode(raw).decode())
        self.text = raw.decode("utf-8", "replace")
        return self

    def __eq__(self, other):
        return str(self) == str(other) or self.text == other

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def single(value, name):
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") if name == "|T" else Bytes(value)
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53 else value


def leaves(array, path):
    """(path, rows, name, how many lists are around a value); rows are lists of lists, None where null. The name is "json" where the rows
    are JSON text."""
    array = unwrap(array)
    kind = array.type
    if is_whole(kind):
        refused = any(pa.types.is_decimal(m) or pa.types.is_interval(m) for m in members(kind))
        yield path, None if refused else plain(array), None if refused else "json", 0
    elif pa.types.is_struct(kind):
        image = {f.name for f in kind} == {"bytes", "path"}
        for field, member in zip(kind, array.flatten()):
            if not image or field.name == "bytes":
                yield from leaves(member, path if image else f"{path}/{field.name}")
    elif is_list(kind):
        if pa.types.is_fixed_size_list(kind):
            array = array.cast(pa.list_(kind.value_type))
        offsets, valid = array.offsets.to_pylist(), array.is_valid().to_pylist()
        for name, rows, dtype, depth in leaves(array.values, path):
            yield name, rows if rows is None else [rows[a:b] if ok else None for a, b, ok in zip(offsets, offsets[1:], valid)], dtype, depth + 1
    else:
        yield (path, *values(array), 0)


def blobs(rows):
    crc = 0
    for item in rows:
        raw = item.tobytes() if isinstance(item, np.ndarray) else item or b""
        crc = crc32c(raw, crc32c(len(raw).to_bytes(4, "little"), crc))
    return crc


def nulls(valid):
    return [] if valid.all() else ["nulls %08x" % crc32c(valid.astype("u1").tobytes())]


def spell(value, name):
    return [spell(v, name) for v in value] if isinstance(value, list) else single(value, name)


def holes(value):
    """Is there a None in it that stands for a list or an element?"""
    return value is None or isinstance(value, list) and any(map(holes, value))


def expected(rows, name, depth):
    """The cells of contract_dump, or None where it refuses."""
    if name is None:
        return None
    if name == "json":
        return rows
    if name in ("|O", "|T") and depth:
        return spell(rows, name)
    if name in ("|O", "|T"):
        return ["|O", "()", str(len(rows)), "%08x" % blobs(rows), *nulls(np.array([r is not None for r in rows]))]
    none = np.nan if name[1] == "f" else 0
    try:
        flat = np.array(fill(rows, none, depth), name)
        valid = np.array(fill(rows, None, depth), object) != np.array(None)
    except (ValueError, TypeError):
        flat = None
    if flat is not None and flat.ndim == depth + 1 and 0 not in flat.shape[1:]:
        shape = "(%s)" % "".join("%d," % n for n in flat.shape[1:])
        return [name, shape, str(len(rows)), "%08x" % crc32c(flat.tobytes()), *nulls(np.asarray(valid, bool))]
    if depth != 1 or name == "|b1" or any(holes(r) for r in rows if r is not None):
        return spell(rows, name)
    ragged = [r if r is None else np.array(r, name) for r in rows]
    return ["|O", "()", str(len(rows)), "%08x" % blobs(ragged), *nulls(np.array([r is not None for r in rows]))]


def fill(value, none, depth):
    if depth < 0:
        return none if value is None else value
    if value is None:
        raise ValueError("a list that is none")
    return [fill(v, none, depth - 1) for v in value]


def wanted(path):
    table, rows = pq.read_table(path), pq.read_metadata(path).num_rows
    if len(table) != rows and table.num_columns: # lists of nulls only, in pages of one value
        raise ValueError(f"{len(table)} of {rows} rows")
    out = {}
    for name, column in zip(table.column_names, table.columns):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        for leaf, rows, dtype, depth in leaves(column, name):
            cells = expected(rows, dtype, depth)
            out.setdefault(leaf, (cells, "json" if dtype != "null" and cells is not None and cells[:1] not in (["|O"], [dtype]) else dtype, len(table)))
    return out


def said(dump, inspect, path):
    """What contract_dump says: {column: cells}, {column: texts}, {column: reason}, the reason of the whole file."""
    with tempfile.NamedTemporaryFile() as file:
        run = subprocess.run([dump, inspect, path], capture_output=True, text=True, timeout=120, check=True, env={**os.environ, "HUB_DUMP_TEXTS": file.name})
        texts = dict(texts_of(file))
    rows, reasons, whole = {}, {}, ""
    for line in run.stdout.splitlines():
        cells = line.split("\t")
        if cells[0] == "rows":
            rows[cells[2]] = cells[3:]
        elif cells[0] == "field" and cells[5]:
            reasons[cells[1]] = cells[5]
        elif cells[0] == "problem" and cells[1] == "unreadable":
            reasons.setdefault(cells[2], cells[3])
        elif cells[0] == "dataset" and cells[3] != "ok":
            whole = cells[4]
        elif cells[0] == "part" and cells[2] != "ok":
            whole = cells[3]
            if cells[2] not in ("corrupt", "unsupported", "too-big"):
                whole = f"CRASH? {cells[2]}: {whole}"
    return rows, texts, reasons, whole


def texts_of(file):
    while line := file.readline():
        name, count = line.decode().rstrip("\n").split("\t")
        yield name, [file.read(int.from_bytes(file.read(4), "little")).decode() for _ in range(int(count))]


def same_json(cells, texts, want):
    valid = np.array([w is not None for w in want])
    return cells[3 + 1:] == nulls(valid) and len(texts) == len(want) and \
        all(w is None or json.loads(t) == w for t, w in zip(texts, want))


def compare(dump, inspect, path):
    """Counts of equal and refused columns, and what is wrong."""
    rows, texts, reasons, whole = said(dump, inspect, path)
    if whole.startswith("CRASH?"):
        return 0, 0, [whole], ""
    wrong = [f"{name}: {cells[-1]}" for name, cells in rows.items() if cells[-1].startswith(("SLICES", "ERROR"))]
    try:
        want = wanted(path)
    except Exception as problem:  # pyarrow's classes are many
        return 0, 0, [], f"pyarrow refuses ({str(problem).splitlines()[0][:80]}), we: {whole or reasons or f'{len(rows)} columns'}"
    if whole:
        return 0, len(want), [], whole
    same = refused = 0
    for name, (cells, dtype, count) in want.items():
        if dtype == "null" and name in rows:
            same += 1
        elif dtype == "json" and name in texts:
            same += same_json(rows[name], texts[name], cells)
            if not same_json(rows[name], texts[name], cells):
                different = [(t, w) for t, w in zip(texts[name], cells) if w is not None and json.loads(t) != w]
                wrong.append(f"{name}: {rows[name]} of {len(cells)}: {different[:2]}")
        elif name in rows and rows[name][:len(cells or ())] == cells and len(rows[name]) == len(cells):
            same += 1
        elif name in rows:
            wrong.append(f"{name}: {rows[name]} where pyarrow has {cells}")
        elif name in reasons and (cells is None or count == 0 or reasons[name]):
            refused += 1
        else:
            wrong.append(f"{name} is missing without a reason")
    return same, refused, wrong, "; ".join(sorted({reasons[n] for n in want if n in reasons and n not in rows}))


def files(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, _, names in sorted(os.walk(path)):
            yield from sorted(os.path.join(folder, n) for n in names if n.endswith((".parquet", ".parquet.encrypted")))


def main(dump, inspect, *paths):
    totals, bad = [0, 0, 0], 0
    for path in files(paths):
        link = None
        if not path.endswith(".parquet"):  # a dataset by its name
            link = path.replace(".parquet.encrypted", ".encrypted.parquet")
            shutil.copyfile(path, link)
        same, refused, wrong, note = compare(dump, inspect, link or path)
        if link:
            os.unlink(link)
        totals = [totals[0] + 1, totals[1] + same, totals[2] + refused]
        bad += len(wrong)
        if wrong or note:
            print(f"{path}: {same} equal, {refused} refused" + (f" ({note})" if note else ""))
        for line in wrong:
            print("   WRONG", line)
    print(f"{totals[0]} files: {totals[1]} columns equal to pyarrow, {totals[2]} refused by name, {bad} wrong")
    return bool(bad) or not totals[0]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
