"""The oracle: every field of every episode of every fixture, in every representation, whole and as random slices, equals the
stored value as h5py, pyarrow and numpy read it. The table of representations is walked; a cell nobody tested is a failure."""
import base64
import csv
import io
import json
import math
import os
import random
import sys
import zlib

import h5py
import numpy as np
import pyarrow as pa
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, quote, serving
from stored import stored_episodes

# type -> representation -> what must happen; "flat": rows of up to one more dimension, else 406
TABLE = {
    "number": {"json": "rows", "npy": "rows", "npz": "rows", "raw": "rows", "image": 406, "csv": "flat"},
    "bool": {"json": "rows", "npy": "rows", "npz": "rows", "raw": "rows", "image": 406, "csv": "flat"},
    "text": {"json": "rows", "npy": "rows", "npz": "rows", "raw": "one", "image": 406, "csv": "flat"},
    "sequence": {"json": "rows", "npy": 406, "npz": "bytes", "raw": "one", "image": 406, "csv": 406},
    "bytes": {"json": "rows", "npy": 406, "npz": "bytes", "raw": "one", "image": 406, "csv": 406},
    "image": {"json": "rows", "npy": 406, "npz": "bytes", "raw": "one", "image": "one", "csv": 406},
    "image-raw": {"json": "rows", "npy": "rows", "npz": "rows", "raw": "rows", "image": "png", "csv": 406},
    "padded-json": {"json": "rows", "npy": "rows", "npz": "rows", "raw": "rows", "image": 406, "csv": 406},
}
for cells in TABLE.values():
    cells.update({"arrow": "table", "arrow-file": "table", "jsonl": "table"})
NO_DRIVER_YET = {"opaque"}  # no format of this version reports them readable: tests/unit/storage/encode covers their cells
# What nobody can compare with: pickles that nobody should load, and a metadata cache image, which the library that wrote it
# cannot open (its values are checked by contract_hdf5); a dataset whose description is damaged.
NOT_COMPARED = {"ilr-evil", "cache-image-v0", "broken-state"}
ROOTS = {
    "minari-0.3.1": "minari/root-0.3.1",
    "minari-0.4.2": "minari/root-0.4.2",
    "minari-0.4.3": "minari/root-0.4.3",
    "minari-0.5.3": "minari/root-0.5.3",
    "minari-columns": "minari/root-0.5.3-columns",
    "hdf5": "hdf5",
    "arrow": "arrow",
    "datasets": "datasets",
    "lerobot": "lerobot",
    "webdataset": "webdataset",
    "robomimic": "robomimic",
    "d4rl": "d4rl",
    "aloha": "aloha",
    "molmospaces": "molmospaces",
    "maniskill": "maniskill",
    "il-native": "il/demos",
    "imitation": "imitation/rollouts",
    "imitation-pushed": "imitation/pushed",
    "generic-hdf5": "generic/hdf5",
    "generic-numpy": "generic/numpy",
    "generic-columns": "generic/columns",
}
seen = {}  # (type, representation) -> answers compared
counts = {"answers": 0, "single": 0, "fields": 0, "episodes": 0, "unreadable": 0}


def field_type(field, stored):
    if field["type"] == "image" and isinstance(stored, np.ndarray) and stored.ndim >= 3:
        return "image-raw"
    if isinstance(stored, list) and stored and isinstance(stored[0], np.ndarray):
        return "sequence"  # numbers, of a length of its own in each row
    return field["type"]


def as_rows(stored):
    """Row items of a 2-D uint8 block of stored images."""
    if isinstance(stored, np.ndarray) and stored.dtype == np.uint8 and stored.ndim == 2:
        return [r.tobytes() for r in stored]
    return stored


def padded_json(text):
    """A row that is cut off is null, and so are NaN and infinities."""
    try:
        return json.loads(text, parse_constant=lambda word: None)
    except ValueError:
        return None


def json_of(kind, rows):
    """What strict JSON says of these rows: non-finite numbers are null, bytes are base64."""
    if kind == "text":
        return list(rows)
    if kind in ("bytes", "image"):
        return [None if r is None else base64.b64encode(r).decode() for r in rows]
    if kind == "padded-json":
        return [padded_json(bytes(r).rstrip(b"\0") or b"null") for r in rows]

    def walk(x):
        if isinstance(x, list):
            return [walk(y) for y in x]
        if isinstance(x, complex):
            return [walk(x.real), walk(x.imag)]
        if isinstance(x, float) and not math.isfinite(x):
            return None
        return x

    return walk(np.asarray(rows).tolist())


def same_json(got, want):
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(same_json(g, w) for g, w in zip(got, want))
    if isinstance(want, bool) or want is None:
        return got is want
    if isinstance(want, float):
        return isinstance(got, (int, float)) and float(got) == want
    return type(got) is type(want) and got == want


def narrow(values, want):
    """float32 and float16 digits are the shortest of their own type: compare after rounding to it."""
    if want.dtype.kind == "f" and want.dtype.itemsize < 8:
        return np.array(values, dtype=want.dtype.newbyteorder("="))
    return None


def same_numbers(got, want):
    if want.dtype.kind == "c":  # pairs
        want = np.stack([want.real, want.imag], -1)
    if not want.size or np.ma.is_masked(want):
        return got == want.tolist()
    small = narrow(got_or_nan(got), want) if want.dtype.kind == "f" and want.dtype.itemsize < 8 else None
    if small is not None:
        finite = np.where(np.isfinite(want), want, np.nan).astype(want.dtype.newbyteorder("="))
        return small.shape == finite.shape and np.array_equal(small, finite, equal_nan=True)
    return same_json(got, json_of("number", want))


def got_or_nan(x):
    return [got_or_nan(y) for y in x] if isinstance(x, list) else (math.nan if x is None else x)


def slices_of(n, rng):
    yield "", slice(None)
    for _ in range(3):
        a, b = sorted((rng.randint(0, n), rng.randint(0, n)))
        yield f"start={a}&stop={b}", slice(a, b)
    step = rng.choice([-3, -1, 2, 5])
    yield f"step={step}", slice(None, None, step)
    a = rng.randint(-n - 2, n + 2)
    yield f"start={a}&step={rng.choice([1, 2])}".replace("step=1", "step=1"), None


def python_slice(query):
    q = dict(p.split("=") for p in query.split("&") if p)
    return slice(*(int(q[k]) if k in q else None for k in ("start", "stop", "step")))


def little(a):
    a = np.ascontiguousarray(a)
    return a.astype(a.dtype.newbyteorder("<")).tobytes()


def png_pixels(data):
    """8-bit PNG -> array, by hand: no image library needed for what we write."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, idat = 8, b""
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + size:at + 12 + size], "big")
        if kind == b"IHDR":
            w, h, depth, color = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big"), body[8], body[9]
            assert depth == 8
        idat += body if kind == b"IDAT" else b""
        at += 12 + size
    channels = {0: 1, 2: 3, 6: 4}[color]
    raw, stride, out = zlib.decompress(idat), w * channels, []
    previous = bytearray(stride)
    for y in range(h):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        how = raw[y * (stride + 1)]
        for i in range(stride):
            a = line[i - channels] if i >= channels else 0
            b, c = previous[i], previous[i - channels] if i >= channels else 0
            p = a + b - c
            near = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[i] = (line[i] + (0, a, b, (a + b) // 2, near)[how]) & 255
        out.append(bytes(line))
        previous = line
    return np.frombuffer(b"".join(out), np.uint8).reshape((h, w, channels))


def pixels_of(row, span):
    """A row as the hub draws it: frames side by side, (H, W, C); numbers that are no bytes between two values."""
    if span:
        low, high = map(float, span.split(","))
        assert (low, high) == (row.min(), row.max()) or row.shape[-1] == 3
        row = np.floor(np.clip((row.astype(float) - low) / ((high - low) or 1), 0, 1) * 255 + 0.5).astype(np.uint8)
    if row.ndim == 2:
        return row[..., None]
    if row.shape != (84, 84, 4) and row.shape[-1] in (1, 3, 4):
        return row
    planes = row if row.shape[0] <= 16 else np.moveaxis(row, -1, 0)
    each = 3 if len(planes) % 3 == 0 else 1
    return np.concatenate([np.moveaxis(planes[i:i + each], 0, -1) for i in range(0, len(planes), each)], axis=1)


class Checker:
    def __init__(self, hub, id, episode, path, kind, stored):
        self.hub, self.kind, self.stored = hub, kind, stored
        self.url = f"/api/v1/datasets/{quote(id)}/episodes/{episode}/{quote(path)}"
        self.name = path
        self.rows = stored if isinstance(stored, list) or kind not in ("image", "bytes") else as_rows(stored)

    def fetch(self, query, representation):
        q = "&".join(x for x in (query, f"format={representation}") if x)
        counts["answers"] += 1
        return self.hub.get(f"{self.url}?{q}")

    def cell(self, representation):
        seen[(self.kind, representation)] = seen.get((self.kind, representation), 0) + 1

    def refused(self, representation):
        a = self.fetch("", representation)
        assert a.status == 406, (self.url, representation, a.status, a.body[:200])
        assert a.json()["type"] in ("urn:minari-hub:not-acceptable", "urn:minari-hub:needs-decoding")
        self.cell(representation)

    def rows_equal(self, representation, query, cut):
        want = self.rows[cut]
        a = self.fetch(query, representation)
        where = (self.url, query, representation, a.status, a.body[:300])
        assert a.status == 200, where
        assert int(a.headers.get("X-Null-Count", 0)) == self.nulls(cut), where
        if representation == "json":
            assert a.headers["Content-Type"] == "application/json"
            got = json.loads(a.body, parse_constant=lambda word: pytest.fail(f"{word} in strict JSON: {where}"))
            if self.kind == "sequence":
                ok = len(got) == len(want) and all(same_numbers(g, w) for g, w in zip(got, want))
            else:
                ok = same_numbers(got, np.asanyarray(want)) if self.kind in ("number", "bool", "image-raw") else same_json(got, json_of(self.kind, want))
            assert ok, (where, got, want)
        elif representation == "npy":
            self.same_array(np.load(io.BytesIO(a.body), allow_pickle=False), want, where)
        elif representation == "npz":
            with np.load(io.BytesIO(a.body), allow_pickle=False) as z:
                assert len(z.files) == 1, where
                self.same_array(z[z.files[0]], want, where)
        else:
            assert a.body == little(want), where
        self.cell(representation)

    def table_equal(self, representation, query, cut):
        want = self.rows[cut]
        a = self.fetch(query, representation)
        where = (self.url, query, representation, a.status, a.body[:300])
        assert a.status == 200 and int(a.headers["X-Total-Count"]) == len(want), where
        getattr(self, f"same_{representation}".replace("-", "_"))(a.body, want, where)
        self.cell(representation)

    def same_jsonl(self, body, want, where):
        lines = [json.loads(line) for line in body.decode().splitlines()]
        assert all(list(line) == [self.name] for line in lines), where
        got = [line[self.name] for line in lines]
        if self.kind == "sequence":
            ok = len(got) == len(want) and all(same_numbers(g, w) for g, w in zip(got, want))
        else:
            ok = same_numbers(got, np.asanyarray(want)) if self.kind in ("number", "bool", "image-raw") else same_json(got, json_of(self.kind, want))
        assert ok, (where, got, want)

    def same_csv(self, body, want, where):
        """Python's reader knows no null: an empty cell is one, or an empty text."""
        lines = list(csv.reader(io.StringIO(body.decode(), newline="")))
        width = np.shape(want)[1] if np.ndim(want) > 1 else None
        assert lines[0] == ([self.name] if width is None else [f"{self.name}_{i}" for i in range(width)]) or width == 0, where
        flat = list(want) if width is None else [x for row in want for x in row]
        cells = [cell for line in lines[1:] for cell in line] if width != 0 else []
        assert len(cells) == len(flat) and len(lines) == 1 + len(want), (where, cells, want)
        for cell, w in zip(cells, flat):
            if w is None or w is np.ma.masked or isinstance(w, str):
                assert cell == ("" if not isinstance(w, str) else w.rstrip("\0")), (where, cell, w)
            elif self.kind == "bool":
                assert cell == ("true" if w else "false"), (where, cell, w)
            else:
                value = w.dtype.type(cell) if w.dtype.kind != "c" else w.dtype.type(complex(cell))
                assert np.array_equal(value, w.astype(w.dtype.newbyteorder("=")), equal_nan=w.dtype.kind in "fc"), (where, cell, w)

    def same_arrow(self, body, want, where):
        self.same_table(pa.ipc.open_stream(body).read_all(), want, where)

    def same_arrow_file(self, body, want, where):
        self.same_table(pa.ipc.open_file(body).read_all(), want, where)

    def same_table(self, table, want, where):
        table.validate(full=True)
        assert table.column_names == [self.name], where
        column, kind = table.column(0), table.schema.field(0).type
        got = column.to_pylist()
        if self.kind in ("bytes", "image"):
            assert pa.types.is_binary(kind) and got == [w if w is None else bytes(w) for w in want], where
        elif self.kind in ("text", "padded-json"):
            texts = [bytes(w).split(b"\0")[0].decode("utf-8", "replace") for w in want] if self.kind == "padded-json" else list(want)
            assert pa.types.is_string(kind) and got == texts, (where, got, texts)
        elif self.kind == "sequence":
            assert pa.types.is_list(kind) and len(got) == len(want), where
            want = [w.view(w.real.dtype).reshape(w.shape + (2,)) if w.dtype.kind == "c" else w for w in want]
            assert all(np.array_equal(np.array(g, w.dtype).reshape(w.shape), w, equal_nan=w.dtype.kind == "f") for g, w in zip(got, want)), where
        else:
            self.same_lists(got, kind, np.asanyarray(want), where)

    def same_lists(self, got, kind, want, where):
        """Fixed-size lists in each other, of the stored numbers."""
        if self.kind == "bool":
            want = want.astype(bool)
        want = want.astype(want.dtype.newbyteorder("="))
        if want.dtype.kind == "c":
            want = want.view(want.real.dtype).reshape(want.shape + (2,))
        for size in want.shape[1:]:
            assert pa.types.is_fixed_size_list(kind) and kind.list_size == size, where
            kind = kind.value_type
        assert kind == pa.from_numpy_dtype(want.dtype), (where, kind)
        if np.ma.is_masked(want):
            assert got == want.tolist(), where
        else:
            assert np.array_equal(np.array(got, want.dtype).reshape(want.shape), want, equal_nan=want.dtype.kind == "f"), (where, got, want)

    def nulls(self, cut):
        if isinstance(self.stored, np.ma.MaskedArray):
            return int(np.ma.count_masked(self.stored[cut]))
        return sum(x is None for x in self.stored[cut]) if isinstance(self.stored, list) else 0

    def bytes_equal(self, query, cut):
        """NAME uint8 (rows, longest) and NAME__length."""
        want = [b"" if w is None else w for w in self.rows[cut]]
        a = self.fetch(query, "npz")
        where = (self.url, query, a.status, a.body[:300])
        assert a.status == 200, where
        with np.load(io.BytesIO(a.body), allow_pickle=False) as z:
            assert len(z.files) == 2, where
            name = min(z.files, key=len)
            got, lengths = z[name], z[name + "__length"]
        assert lengths.dtype == np.int64 and lengths.tolist() == [len(w) for w in want], where
        assert got.dtype == (self.rows[0].dtype if self.kind == "sequence" else np.uint8), where
        assert got.shape == (len(want), max(map(len, want), default=0)), where
        for row, w in zip(got, want):
            assert row[:len(w)].tobytes() == bytes(w) and not row[len(w):].any(), where
        self.cell("npz")

    def one_row(self, rng):
        """row= is numpy's x[i]: no leading axis, in every representation."""
        if not len(self.rows):
            return
        i = rng.randrange(-len(self.rows), len(self.rows))
        if self.kind in ("bytes", "image", "sequence"):
            with np.load(io.BytesIO(self.fetch(f"row={i}", "npz").body), allow_pickle=False) as z:
                name = min(z.files, key=len)
                got, length = z[name], z[name + "__length"]
            assert got.tobytes() == bytes(b"" if self.rows[i] is None else self.rows[i]) and length.shape == (), (self.url, i, got, length, self.rows[i])
            return
        a = self.fetch(f"row={i}", "npy")
        assert a.status == 200, (self.url, i, a.status, a.body[:300])
        got = np.load(io.BytesIO(a.body), allow_pickle=False)
        if self.kind == "text":
            assert got.shape == () and got.item() == (self.rows[i] or ""), (self.url, i, got)
        else:
            self.same_array(got, np.asarray(self.rows)[i], (self.url, i))

    def same_array(self, got, want, where):
        if self.kind == "text":
            assert got.dtype.kind == "U" and got.tolist() == [(w or "").rstrip("\0") for w in want], where
            return
        want = np.asarray(want)
        if self.kind == "bool":
            want = want.astype(bool)
        if got.dtype != want.dtype and got.dtype == want.dtype.newbyteorder():  # numpy's unpickling turns bytes round; the hub keeps them
            want = want.astype(got.dtype)
        assert got.dtype == want.dtype and got.shape == want.shape, (where, got.dtype, want.dtype, got.shape, want.shape)
        assert got.tobytes() == np.ascontiguousarray(want).tobytes(), where

    def one(self, representation, rng):
        if not len(self.rows):
            return
        i = rng.randrange(len(self.rows))
        a = self.fetch(f"row={i}", representation)
        want = little(self.rows[i]) if self.kind == "sequence" else self.rows[i] or b""
        got = a.body
        if self.kind == "text":  # raw has the bytes that are stored, UTF-8 or not
            want, got = (self.rows[i] or "").rstrip("\0"), got.decode("utf-8", "replace")
        assert a.status == 200 and got == want, (self.url, i, representation, a.status, a.body[:100])
        if representation == "image":
            assert a.headers["Content-Type"] in ("image/jpeg", "image/png")
        if len(self.rows) > 1:
            assert self.fetch("", representation).status == 406
        self.cell(representation)

    def png(self, rng):
        if not len(self.rows):
            return
        i = rng.randrange(len(self.rows))
        a = self.fetch(f"row={i}", "image")
        assert a.status == 200 and a.headers["Content-Type"] == "image/png", (self.url, a.status, a.body[:200])
        assert np.array_equal(png_pixels(a.body), pixels_of(np.asarray(self.stored[i]), a.headers["X-Range"])), self.url
        self.cell("image")

    def check(self, rng):
        self.one_row(rng)
        for representation, what in TABLE[self.kind].items():
            if what == 406:
                self.refused(representation)
            elif what == "one":
                self.one(representation, rng)
            elif what == "png":
                self.png(rng)
            elif what == "flat" and np.ndim(self.rows) > 2:
                self.refused(representation)
            elif what in ("flat", "table"):
                for query in ("", rng.choice([q for q, _ in slices_of(len(self.rows), rng)])):
                    self.table_equal(representation, query, python_slice(query))
            elif what == "bytes":
                for query, _ in slices_of(len(self.rows), rng):
                    self.bytes_equal(query, python_slice(query))
            else:
                for query, _ in slices_of(len(self.rows), rng):
                    self.rows_equal(representation, query, python_slice(query))


def check_single(hub, id, episode, path, stored):
    """A dataset of shape (): a value of its own, as h5py gives it."""
    url = f"/api/v1/datasets/{quote(id)}/episodes/{episode}"
    field = next(f for f in hub.get(url).json()["fields"] if f["path"] == path)
    assert field["shape"] == [] and field["axis"] == "none", (url, field)
    a = hub.get(f"{url}/{quote(path)}")
    same = a.json() == stored if isinstance(stored, str) else same_numbers(a.json(), np.asarray(stored))
    assert a.status == 200 and same, (url, path, a.body)
    a = hub.get(f"{url}/{quote(path)}?format=npy")
    assert a.status == 200, (url, path, stored, a.body)
    got = np.load(io.BytesIO(a.body), allow_pickle=False)
    if isinstance(stored, str):
        assert got.shape == () and got.item() == stored, (url, path)
    else:
        assert got.shape == () and got.dtype == np.asarray(stored).dtype and got.tobytes() == np.asarray(stored).tobytes(), (url, path)
    assert hub.get(f"{url}/{quote(path)}?start=0").status == hub.get(f"{url}/{quote(path)}?row=0").status == 400
    counts["single"] += 1


def check_dataset(hub, folder, document, rng):
    fields = {f["path"]: f for f in document["fields"]}
    assert not [f for f in document["fields"] if f["type"] in NO_DRIVER_YET and "unreadable" not in f], "a type the oracle does not know"
    episodes = {e["number"]: e for e in hub.episodes(document["id"])}
    for number, values in stored_episodes(folder, document):
        assert number in episodes or document["problems"], (document["id"], number)
        if number not in episodes:
            continue
        counts["episodes"] += 1
        for path, stored in values.items():
            if path not in fields:
                assert any(p.get("path", "").endswith(path) for p in document["problems"]), (document["id"], path, "is neither a field nor a problem")
                continue
            if "unreadable" in fields[path]:
                counts["unreadable"] += 1
                a = hub.get(f"/api/v1/datasets/{quote(document['id'])}/episodes/{number}/{quote(path)}")
                assert a.status == 422, (document["id"], path, a.status)
                continue
            if stored is None:
                continue
            if isinstance(stored, h5py.Empty):
                assert hub.get(f"/api/v1/datasets/{quote(document['id'])}/episodes/{number}/{quote(path)}").json() == []
                continue
            if not isinstance(stored, list) and np.ndim(stored) == 0:
                check_single(hub, document["id"], number, path, stored)
                continue
            if any(p["code"] == "unreadable-in-episodes" and p["path"] == path for p in document["problems"]):
                a = hub.get(f"/api/v1/datasets/{quote(document['id'])}/episodes/{number}/{quote(path)}?stop=0")
                if a.status == 422:
                    counts["unreadable"] += 1
                    continue
            if fields[path]["type"] == "text" and isinstance(stored, list) and stored and isinstance(stored[0], bytes):
                stored = [s.decode("utf-8", "replace") for s in stored]
            counts["fields"] += 1
            Checker(hub, document["id"], number, path, field_type(fields[path], stored), stored).check(rng)


@pytest.mark.parametrize("name", ROOTS)
def test_values(name):
    rng = random.Random(name)
    root = os.path.join(FIXTURES, ROOTS[name])
    with serving(root, keep_alive=True) as hub:
        for item in hub.datasets():
            if item["format"] == "files" or item["status"] == "unsupported" or item["id"] in NOT_COMPARED:
                continue
            document = hub.dataset(item["id"])
            assert item["status"] == "ready", item
            check_dataset(hub, os.path.join(root, item["id"]), document, rng)


def test_lists_in_arrow_are_json(tmp_path):
    """Lists of texts and structs, and ragged ones of numbers, in a file of Arrow: the text of a row is what pyarrow reads."""
    count = 3000
    rows = {"texts": [["a", "扉", None] * (i % 3) if i % 7 else None for i in range(count)],
            "structs": [[{"x": i + k, "s": "q" * k, "in": {"y": [k, None]}} for k in range(i % 4)] for i in range(count)],
            "fixed": [[{"x": i}, None] if i % 5 else None for i in range(count)],
            "deep": [[["b"] * (i % 3), []] for i in range(count)], "ragged": [[[k / 4] * k for k in range(i % 4)] if i % 7 else None for i in range(count)],
            "holes": [[None, i][:i % 3] if i % 7 else None for i in range(count)], "flags": [[True, None] * (i % 3) for i in range(count)], "pairs": [[[i] * (i % 3), None] for i in range(count)],
            "mats": [[[i, k] for k in range(i % 5)] for i in range(count)], "plain": list(range(count)),
            "sequences": [[k / 4 for k in range(i % 4)] for i in range(count)]}
    kinds = {"fixed": pa.list_(pa.struct({"x": pa.int32()}), 2)}
    table = pa.table({name: pa.array(values, kinds.get(name)) for name, values in rows.items()})
    table = table.append_column("bytes", pa.array([[b"\xff\0", b""]] * count)).append_column("nothing", pa.array([[{"n": None}]] * count))
    rows |= {"bytes": [["/wA=", ""]] * count, "nothing": [[{"n": None}]] * count}
    for name, codec in (("plain", None), ("packed", "zstd")):
        with pa.ipc.new_file(str(tmp_path / f"{name}.arrow"), table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
            out.write_table(table.slice(5), 1000)
    with serving(str(tmp_path)) as hub:
        for name in ("plain", "packed"):
            document = hub.dataset(name)
            assert {f["path"]: f["type"] for f in document["fields"]} == {n: "number" if n in ("plain", "sequences") else "text" for n in rows}, document["fields"]
            assert not [p for p in document["problems"] if p["code"] != "nulls"] and document["steps"] == count - 5
            for field, values in rows.items():
                for query, part in (("", slice(None)), ("?start=-7&stop=-1&step=2", slice(-7, -1, 2)), ("?start=990&stop=1010", slice(990, 1010))):
                    told = hub.get(f"/api/v1/datasets/{name}/episodes/0/{field}{query}").json()
                    told = [json.loads(row) if isinstance(row, str) else row for row in told]
                    assert told == values[5:][part], (name, field, query)


def test_every_cell_was_compared():
    print(counts, {f"{a} {b}": n for (a, b), n in sorted(seen.items())})
    missing = [(kind, representation) for kind in TABLE for representation in TABLE[kind] if (kind, representation) not in seen and kind not in NO_DRIVER_YET]
    assert not missing, f"cells of the table that no fixture reached: {missing}"
