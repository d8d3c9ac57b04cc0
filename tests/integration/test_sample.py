"""`sample` and `batch` against the same windows drawn anew in numpy, of rows that h5py, pyarrow and numpy read."""
import contextlib
import ctypes
import io
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile

import h5py
import numpy as np
import pyarrow as pa
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from cli import Cli
from hub import BIN, FIXTURES, Answer, quote, serving
from stored import stored_episodes

ROOTS = ["minari/root-0.5.3", "robomimic", "lerobot", "d4rl", "webdataset", "molmospaces"]
NOT_COMPARED = {"ilr-evil"}  # pickles that nobody should load


@pytest.fixture(scope="module")
def hub():
    with serving(os.path.join(FIXTURES, "minari/root-0.5.3")) as hub:
        yield hub


def sample(hub, id, query, status=200):
    answer = hub.get(f"/api/v1/datasets/{quote(id)}/sample?{query}")
    assert answer.status == status, (id, query, answer.body)
    return answer


def arrays(answer):
    assert zipfile.ZipFile(io.BytesIO(answer.body)).testzip() is None
    with np.load(io.BytesIO(answer.body), allow_pickle=False) as z:
        return {name: z[name] for name in z.files}


def of_arrow(answer):
    """Fixed-size lists as arrays of their shape."""
    out, table = {}, pa.ipc.open_stream(answer.body).read_all()
    assert table.num_rows == 0 or len(table.to_batches()) == 1
    for name, column in zip(table.column_names, table.columns):
        array, shape = column.combine_chunks(), [table.num_rows]
        while pa.types.is_fixed_size_list(array.type):
            shape.append(array.type.list_size)
            array = array.flatten()
        out[name] = np.array(array.to_pylist()) if pa.types.is_string(array.type) else array.to_numpy(zero_copy_only=False)
        out[name] = out[name].reshape(shape)
    return out


def same_arrays(a, b):
    return a.keys() == b.keys() and all(
        a[n].shape == b[n].shape and a[n].dtype.kind == b[n].dtype.kind and np.array_equal(a[n], b[n], equal_nan=b[n].dtype.kind == "f") for n in a)


class Dataset:
    def __init__(self, hub, id, root):
        self.id, self.document = id, hub.dataset(id)
        every = list(hub.episodes(id))
        self.episodes = [e for e in every if e["attributes"].get("valid") is not False]  # as the dataset itself calls them
        stored = dict(stored_episodes(root, self.document))
        self.stored = {e["number"]: stored.get(e["number"], {}) for e in every}
        self.fields = [f for f in self.document["fields"] if self.comparable(f)]

    def comparable(self, field):
        """Numbers of one shape in all episodes, or text, that the oracle's readers can express."""
        values = [s.get(field["path"]) for s in self.stored.values()]
        if field.get("unreadable") or field["episodes"] != len(self.stored) or field["type"] not in ("number", "bool", "text"):
            return False
        if field["type"] == "text":
            return all(isinstance(v, list) for v in values) and field["axis"] != "none"
        return (all(isinstance(v, np.ndarray) and not isinstance(v, np.ma.MaskedArray) and v.ndim for v in values)
                and len({(v.dtype, v.shape[1:]) for v in values}) == 1 and field["axis"] != "none")


def draws(seed):
    generator = np.random.PCG64(seed)
    while True:
        u = int(generator.random_raw())
        yield lambda n, u=u: u * n >> 64


def redraw(episodes, count, length, seed, pad="none", weight="steps"):
    """[(episode, start, steps)]"""
    room = lambda e: e["steps"] if pad != "none" else max(0, e["steps"] - length + 1)
    candidates = [e for e in sorted(episodes, key=lambda e: e["number"]) if room(e)]
    draw, out = draws(seed), []
    for _ in range(count):
        if weight == "uniform":
            e = candidates[next(draw)(len(candidates))]
            start = next(draw)(room(e))
        else:
            start = next(draw)(sum(map(room, candidates)))
            for e in candidates:
                if start < room(e):
                    break
                start -= room(e)
        out.append((e, start, min(length, e["steps"] - start)))
    return out


def text_of(stored):
    """As numpy has it: without NULs at its end."""
    return (stored.decode("utf-8", "replace") if isinstance(stored, bytes) else stored or "").rstrip("\0")


def expected(dataset, field, windows, length, final, pad):
    rows, more = [], final and field["axis"] == "state"
    for episode, start, steps in windows:
        stored = dataset.stored[episode["number"]][field["path"]]
        first = start + (field["axis"] == "shifted")
        cut = list(stored[first:first + steps + more])
        if field["type"] == "text":
            cut = [text_of(t) for t in cut]
        filler = cut[-1] if pad == "edge" and cut else "" if field["type"] == "text" else np.zeros_like(stored[0])
        rows.append(cut + [filler] * (length + more - len(cut)))
    return np.array(rows) if field["type"] == "text" else np.stack([np.stack(r) for r in rows])


def compare(hub, dataset, rng):
    longest, compared = max(e["steps"] for e in dataset.episodes), 0
    fields = "".join(f"&fields={quote(f['path'])}" for f in dataset.fields)
    for weight, pad in [(w, p) for w in ("steps", "uniform") for p in ("none", "edge", "zero")]:
        length = int(rng.integers(1, (longest if pad == "none" else longest + 5) + 1))
        count, seed, final = int(rng.integers(1, 40)), int(rng.integers(0, 2**63)), bool(rng.integers(2))
        query = f"windows={count}&length={length}&seed={seed}&pad={pad}&weight={weight}&final={final:d}{fields}"
        answer = hub.get(f"/api/v1/datasets/{quote(dataset.id)}/sample?{query}")
        if answer.status == 400 and pad == "none":  # a field that is shorter than its episodes
            assert " rows in episode " in answer.json()["detail"], answer.body
            continue
        assert answer.status == 200, (dataset.id, query, answer.body)
        told = hub.get(f"/api/v1/datasets/{quote(dataset.id)}/sample?{query}&format=arrow")
        assert (told.status, told.headers["Content-Type"]) == (200, "application/vnd.apache.arrow.stream"), (query, told.body)
        assert told.headers["ETag"] != answer.headers["ETag"]
        windows, got = redraw(dataset.episodes, count, length, seed, pad, weight), arrays(answer)
        assert same_arrays(of_arrow(told), got), (dataset.id, query)
        assert got["episode"].tolist() == [e["number"] for e, _, _ in windows], (dataset.id, query)
        assert got["start"].tolist() == [s for _, s, _ in windows], (dataset.id, query)
        assert got["mask"].tolist() == [[i < n for i in range(length)] for _, _, n in windows], (dataset.id, query)
        for field in dataset.fields:
            want, have = expected(dataset, field, windows, length, final, pad), got[field["path"]]
            assert have.shape == want.shape, (dataset.id, query, field, have.shape, want.shape)
            same = have.tolist() == want.tolist() if want.dtype.kind == "U" else np.array_equal(have, want, equal_nan=want.dtype.kind == "f")
            assert same, (dataset.id, query, field["path"])
            compared += 1
    return compared


@pytest.mark.parametrize("root", ROOTS)
def test_windows_are_those_that_numpy_draws(root):
    rng, compared = np.random.default_rng(4), 0
    root = os.path.join(FIXTURES, root)
    with serving(root) as hub:
        for item in hub.datasets():
            if item["status"] == "ready" and item["format"] != "files" and item["episodes"] and item["id"] not in NOT_COMPARED:
                dataset = Dataset(hub, item["id"], os.path.join(root, item["id"]))
                if dataset.fields:
                    compared += compare(hub, dataset, rng)
    assert compared > 20


@pytest.fixture(scope="module")
def id(hub):
    return next(d["id"] for d in hub.datasets() if d["status"] == "ready" and d["episodes"] > 1)


def test_the_same_seed_is_the_same_bytes(hub, id):
    first, second = sample(hub, id, "windows=5&seed=7"), sample(hub, id, "windows=5&seed=7")
    assert first.body == second.body and first.headers["ETag"] == second.headers["ETag"] and first.headers["X-Seed"] == "7"
    path = f"/api/v1/datasets/{quote(id)}/sample?windows=5&seed=7"
    assert hub.get(path, {"If-None-Match": first.headers["ETag"]}).status == 304
    assert hub.get(path, method="HEAD").status == 200
    assert sample(hub, id, "windows=5&seed=8").body != first.body
    drawn = sample(hub, id, "windows=5")
    assert drawn.headers["Cache-Control"] == "no-store" and "ETag" not in drawn.headers
    assert sample(hub, id, "windows=5&seed=" + drawn.headers["X-Seed"]).body == drawn.body
    assert sample(hub, id, "seed=18446744073709551615").status == 200


def test_roles_and_filters(hub, id):
    got = arrays(sample(hub, id, "windows=50&fields=@reward&fields=@action&seed=1&where=number%3D1"))
    assert set(got["episode"]) == {1} and {"rewards", "actions"} <= set(got)
    everything = arrays(sample(hub, id, "windows=3&length=2&seed=1"))
    assert any(name.startswith("observations") for name in everything) and everything["mask"].shape == (3, 2)


@pytest.mark.parametrize("query, parameter, says", [
    ("seed=18446744073709551616", "seed", "18446744073709551615"),
    ("seed=-1", "seed", "whole number"),
    ("windows=0", "windows", "from 1 to 4096"),
    ("windows=4097", "windows", "from 1 to 4096"),
    ("length=x", "length", "from 1 to 1000000"),
    ("length=999999", "length", "the longest has"),
    ("pad=wrap", "pad", "none, edge"),
    ("weight=return", "weight", "steps"),
    ("format=csv", "format", "npz, arrow"),
    ("where=number%3D-5", "where", "no episode is chosen"),
    ("fields=@nothing", "fields", "@observation"),
    ("sort=steps", "sort", ""),
])
def test_bad_input_is_told_by_name(hub, id, query, parameter, says):
    problem = sample(hub, id, query, 400).json()
    assert problem["parameter"] == parameter and says in problem["detail"], problem


@pytest.mark.parametrize("path, parameter, value", [
    ("rows?fields=nothing", "fields", "nothing"), ("sample?fields=nothing", "fields", "nothing"), ("episodes/0?fields=nothing", "fields", "nothing"),
    ("rows?where=foo>1", "where", "foo>1"), ("episodes?where=steps>", "where", "steps>"), ("sample?where=foo=1", "where", "foo=1"),
    ("episodes/0/actions?row=99999", "row", "99999"), ("episodes/0/actions?step=0", "step", "0"), ("~statistics?field=nothing", "field", "nothing"),
])
def test_bad_input_is_told_with_its_value(hub, id, path, parameter, value):
    problem = hub.get(f"/api/v1/datasets/{quote(id)}/{path}").json()
    assert problem["status"] in (400, 404) and (problem["parameter"], problem["value"]) == (parameter, value), problem


def test_what_is_too_large_is_refused(hub, id):
    problem = sample(hub, id, "windows=4096&length=1000000&pad=zero", 413).json()
    assert "fewer" in problem["detail"] or "less" in problem["detail"], problem
    assert sample(hub, id, "fields=nothing", 404).json()["type"] == "urn:minari-hub:field-not-found"


def test_a_field_without_rows_has_a_place_in_each_window():
    with serving(os.path.join(FIXTURES, "generic/hdf5")) as hub:
        query = "windows=5&length=2&seed=1&fields=time&fields=empty"
        got = arrays(sample(hub, "trace", query))
        assert got["empty"].shape == (5, 0, 3) and got["time"].shape == (5, 2)
        table = pa.ipc.open_stream(sample(hub, "trace", query + "&format=arrow").body).read_all()
        table.validate(full=True)
        assert table["empty"].to_pylist() == [[]] * 5 and table["time"].to_pylist() == got["time"].tolist()


def test_draws_are_even(hub, id):
    """Windows of each episode come as often as its weight says: within five standard deviations."""
    episodes = hub.episodes(id)
    for weight in "steps", "uniform":
        got = arrays(sample(hub, id, f"windows=4000&weight={weight}&seed=3&fields=rewards"))["episode"]
        total = sum(e["steps"] for e in episodes)
        for e in episodes:
            p = e["steps"] / total if weight == "steps" else 1 / len(episodes)
            assert abs((got == e["number"]).mean() - p) < 5 * (p * (1 - p) / 4000) ** 0.5


# ---- whole episodes ----


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    """25 episodes, of which the numbers are what Minari gives of 25 and the seed 123."""
    root = tmp_path_factory.mktemp("demos")
    with h5py.File(root / "demos.hdf5", "w") as f:
        for i in range(25):
            f[f"data/demo_{i}/actions"] = np.full((3 + i % 4, 2), i, np.float32)
            f[f"data/demo_{i}/obs/state"] = np.arange(3 + i % 4)
            f[f"data/demo_{i}"].attrs["num_samples"] = 3 + i % 4
    with h5py.File(root / "more.hdf5", "w") as f:
        f["data/demo_0/actions"] = np.full((9, 2), 100, np.float32)
        f["data/demo_0/obs/state"] = np.arange(9) * 10
        f["data/demo_1/actions"] = np.full((9, 3), 100, np.float32)
        f["data/demo_1/obs/state"] = np.arange(9) * 10
    with serving(str(root)) as hub:
        yield hub


def numbers(hub, query, status=200):
    """Of all pages."""
    out, url = [], f"/api/v1/datasets/demos/episodes?{query}"
    while url:
        answer = hub.get(url)
        assert answer.status == status, answer.body
        page = answer.json()
        if status != 200:
            return page
        out += [e["number"] for e in page["items"]]
        url = page["next"] and page["next"].replace(hub.base, "")
    return out


def test_episodes_are_drawn_as_minari_draws_them(demos):
    assert numbers(demos, "random=5&seed=123") == [1, 13, 0, 22, 15]
    assert numbers(demos, "partition=20,5&part=1&seed=123") == [5, 14, 22, 3, 13]
    first = numbers(demos, "partition=20,5&seed=123&limit=7")
    assert sorted(first + [5, 14, 22, 3, 13]) == list(range(25)) and first[:6] == [20, 2, 4, 24, 10, 23]
    assert numbers(demos, "random=3&seed=9&where=number>9") == np.random.default_rng(9).choice(range(10, 25), 3, replace=False).tolist()
    table = demos.get("/api/v1/datasets/demos/episodes?columns=number&random=5&seed=123").json()
    assert table["columns"]["number"] == [1, 13, 0, 22, 15]
    got = arrays(sample(demos, "demos", "windows=200&seed=1&partition=20,5&part=1&partition_seed=123"))
    assert set(got["episode"]) == {5, 14, 22, 3, 13} and (got["actions"][:, 0, 0] == got["episode"]).all()


@pytest.mark.parametrize("query, parameter", [("random=26&seed=1", "random"), ("random=5", "random"), ("partition=20,6&seed=1", "partition"),
                                              ("partition=a&seed=1", "partition"), ("partition=5,5&part=2&seed=1", "part"),
                                              ("partition=5,5", "partition"), ("part=1&seed=1", "part"), ("random=5&seed=x", "seed")])
def test_bad_draws_are_told_by_name(demos, query, parameter):
    assert numbers(demos, query, 400)["parameter"] == parameter
    if parameter.startswith("part"):
        assert sample(demos, "demos", "partition=5,5&seed=1", 400).json()["parameter"] == "partition"


# ---- windows that are named ----


def batch(hub, body, status=200, query=""):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(hub.base + "/api/v1/batch" + query, data=data, method="POST", headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as r:
            answer = Answer(r.status, r.headers, r.read())
    except urllib.error.HTTPError as e:
        answer = Answer(e.code, e.headers, e.read())
    assert answer.status == status, answer.body
    return answer


def test_a_batch_of_several_datasets(demos):
    items = [{"dataset": "demos", "episode": 3, "start": 1, "stop": 4}, {"dataset": "more", "episode": 0, "start": -3}] * 100
    got = arrays(batch(demos, {"items": items, "fields": ["actions", "obs/state"]}))
    assert got["actions"].shape == (200, 3, 2) and got["mask"].all()
    assert got["actions"][::2].tolist() == [[[3, 3]] * 3] * 100 and got["obs/state"][1].tolist() == [60, 70, 80]
    assert got["episode"].tolist() == [3, 0] * 100 and got["start"].tolist() == [1, 6] * 100
    items[0] = {"dataset": "demos", "episode": 3, "start": 5}
    got = arrays(batch(demos, {"items": items, "fields": ["@action", "obs/state"], "pad": "edge"}))
    assert got["mask"][0].tolist() == [True, False, False] and got["obs/state"][0].tolist() == [5, 5, 5]
    assert arrays(batch(demos, {"items": [{"dataset": "more", "episode": 0, "fields": ["actions"]}]}))["actions"].shape == (1, 9, 2)
    assert same_arrays(of_arrow(batch(demos, {"items": items, "fields": ["@action", "obs/state"], "pad": "edge"}, query="?format=arrow")), got)


GOOD = {"dataset": "demos", "episode": 3, "start": 0, "stop": 3}


@pytest.mark.parametrize("items, status, parameter, says", [
    ([{**GOOD, "dataset": "nothing"}], 404, "items[0].dataset", "nothing"),
    ([GOOD, {**GOOD, "episode": 99}], 404, "items[1].episode", "99"),
    ([GOOD, {**GOOD, "episode": "3"}], 400, "items[1].episode", "number of an episode"),
    ([GOOD, {**GOOD, "stop": 2}], 400, "items[1].stop", "pad"),
    ([GOOD, {**GOOD, "stop": "x"}], 400, "items[1].stop", "whole number"),
    ([GOOD, {**GOOD, "fields": ["obs/state"]}], 400, "items[1].fields", "separately"),
    ([GOOD, {**GOOD, "fields": ["nothing"]}], 400, "items[1].fields", "separately"),
    ([{**GOOD, "fields": ["nothing"]}], 404, "items[0].fields", "nothing"),
    ([GOOD, {"dataset": "more", "episode": 1, "start": 0, "stop": 3}], 400, "fields", "another shape"),
    ([{**GOOD, "length": 3}], 400, "length", "no member"),
    ([GOOD] * 4097, 413, "items", "4096"),
    ([], 400, "items", 'an object: {"items": [{"id": "ID", "episode": 0, "start": 0, "stop": 16}]}'),
    ([{**GOOD, "id": "demos"}], 400, "items[0].dataset", "named once"),
    ([{"episode": 3}], 400, "items[0].id", "the id of a dataset"),
])
def test_what_is_wrong_with_a_batch_is_told_by_name(demos, items, status, parameter, says):
    problem = batch(demos, {"items": items, "fields": ["actions"]}, status).json()
    assert problem["parameter"] == parameter and says in problem["detail"], problem


def test_items_of_a_batch_name_their_dataset_as_all_else_does(demos):
    older = [{"dataset": "demos", "episode": 3, "start": 1, "stop": 4}, {"dataset": "more", "episode": 0, "start": -3}]
    newer = [{"id" if k == "dataset" else k: v for k, v in item.items()} for item in older]
    assert batch(demos, {"items": newer, "fields": ["actions"]}).body == batch(demos, {"items": older, "fields": ["actions"]}).body
    problem = batch(demos, {"windows": [], "fields": ["actions"]}, 400).json()
    assert problem["parameter"] == "windows" and "it has items, fields, pad, final" in problem["detail"]


def test_memory_for_a_body_is_what_it_takes_once_it_is_parsed():
    with serving(os.path.join(FIXTURES, "minari/root-0.5.3"), args=["--memory", "32MiB"]) as hub:
        id = hub.get("/api/v1/datasets?limit=1").json()["items"][0]["id"]
        good = {"dataset": id, "episode": 0, "start": 0, "stop": 1}
        assert len(arrays(batch(hub, {"items": [good] * 4096, "fields": ["actions"]}))["start"]) == 4096
        batch(hub, b'{"items":[' + b",".join([b"{}"] * 300_000) + b"]}", 413)  # 1 MiB, and 70 of objects


def test_bodies_that_are_no_batch(demos):
    assert "JSON" in batch(demos, b"{", 400).json()["detail"]
    assert batch(demos, b"[]", 400).json()["parameter"] == "items"
    assert batch(demos, {"items": [GOOD], "fields": ["actions"], "pad": "wrap"}, 400).json()["parameter"] == "pad"
    with contextlib.suppress(urllib.error.URLError):  # refused before it is read
        batch(demos, b" " * (10 << 20), 413)
    request = urllib.request.Request(demos.base + "/api/v1/batch")
    with pytest.raises(urllib.error.HTTPError) as e:
        urllib.request.urlopen(request)
    assert e.value.code == 405


# ---- minari-cli ----


def test_minari_cli_sample(demos, tmp_path):
    cli = Cli(tmp_path / "datasets", demos.base)
    cli.run("sample", "demos", "--windows", "9", "--length", "2", "--seed", "5", "-o", str(tmp_path / "b.npz"), expect=0)
    assert (tmp_path / "b.npz").read_bytes() == sample(demos, "demos", "windows=9&length=2&seed=5").body
    got = cli.bytes("sample", "demos", "@action", "obs/state", "--seed", "5", "--where", "number < 4", "--pad", "edge", "--length", "9", "--final")
    assert arrays(Answer(200, {}, got))["actions"].shape == (1, 9, 2)
    assert cli.run("sample", "demos", "--windows", "5000").code == 2
    assert cli.run("sample", "demos", "--length", "99", expect=2).err.count("longest has 6")
    assert cli.run("sample", "nothing").code == 3


# ---- libminari ----


class Array(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_char * 24), ("ndim", ctypes.c_int), ("shape", ctypes.c_int64 * 32), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Options(ctypes.Structure):  # as far as it is needed: `size` says so
    _fields_ = [("size", ctypes.c_size_t), ("base_url", ctypes.c_char_p)]


class SampleQuery(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("fields", ctypes.POINTER(ctypes.c_char_p)), ("field_count", ctypes.c_size_t), ("windows", ctypes.c_uint64),
                ("length", ctypes.c_uint64), ("where", ctypes.c_char_p), ("split", ctypes.c_char_p), ("task", ctypes.c_char_p), ("seed", ctypes.c_char_p)]


class Item(ctypes.Structure):
    _fields_ = [("dataset", ctypes.c_char_p), ("episode", ctypes.c_uint64), ("has", ctypes.c_bool * 4), ("start", ctypes.c_int64), ("stop", ctypes.c_int64),
                ("step", ctypes.c_int64), ("row", ctypes.c_int64)]


class BatchQuery(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("items", ctypes.POINTER(Item)), ("item_count", ctypes.c_size_t), ("fields", ctypes.POINTER(ctypes.c_char_p)),
                ("field_count", ctypes.c_size_t)]


class AllRowsQuery(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("fields", ctypes.POINTER(ctypes.c_char_p)), ("field_count", ctypes.c_size_t), ("where", ctypes.c_char_p)]


class TableQuery(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("columns", ctypes.c_char_p), ("where", ctypes.c_char_p)]


def test_libminari_reads_into_a_buffer(demos):
    path = os.path.join(BIN, "..", "client", "libminari.so")
    if b"libasan" in subprocess.run(["ldd", path], capture_output=True).stdout:
        pytest.skip("a library with a sanitizer in it is not loaded by a Python without: the other build reads")
    lib = ctypes.CDLL(path)
    client, buffer, size, array = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 20), ctypes.c_size_t(), Array()
    options = Options(ctypes.sizeof(Options), demos.base.encode())
    assert lib.minari_client_new(ctypes.byref(options), ctypes.byref(client), None) == 0
    fields = (ctypes.c_char_p * 2)(b"actions", b"obs/state")
    query = SampleQuery(ctypes.sizeof(SampleQuery), fields, 2, 6, 3, seed=b"11")
    assert lib.minari_sample_read(client, b"demos", ctypes.byref(query), buffer, ctypes.c_size_t(len(buffer)), ctypes.byref(size), None) == 0
    want = sample(demos, "demos", "windows=6&length=3&seed=11&fields=actions&fields=obs/state").body
    assert buffer.raw[:size.value] == want
    assert lib.minari_npz_find(buffer, size, b"actions", ctypes.byref(array), None) == 0
    assert array.dtype == b"<f4" and list(array.shape[:array.ndim]) == [6, 3, 2]
    assert ctypes.string_at(array.data, array.bytes) == arrays(Answer(200, {}, want))["actions"].tobytes()
    assert lib.minari_sample_read(client, b"demos", ctypes.byref(query), buffer, ctypes.c_size_t(100), ctypes.byref(size), None) == 14  # MINARI_TOO_BIG
    items = (Item * 2)(Item(b"demos", 3, (True, True), 0, 3), Item(b"more", 0, (True,), -3))
    named = BatchQuery(ctypes.sizeof(BatchQuery), items, 2, fields, 2)
    assert lib.minari_batch_read(client, ctypes.byref(named), buffer, ctypes.c_size_t(len(buffer)), ctypes.byref(size), None) == 0
    assert arrays(Answer(200, {}, buffer.raw[:size.value]))["obs/state"].tolist() == [[0, 1, 2], [60, 70, 80]]
    whole = AllRowsQuery(ctypes.sizeof(AllRowsQuery), fields, 2, b"number < 3")
    assert lib.minari_all_rows_read(client, b"demos", ctypes.byref(whole), buffer, ctypes.c_size_t(len(buffer)), ctypes.byref(size), None) == 0
    assert buffer.raw[:size.value] == demos.get("/api/v1/datasets/demos/rows?format=npz&fields=actions&fields=obs/state&where=number+%3C+3").body
    for name, want in arrays(Answer(200, {}, buffer.raw[:size.value])).items():
        assert lib.minari_npz_find(buffer, size, name.encode(), ctypes.byref(array), None) == 0 and ctypes.string_at(array.data, array.bytes) == want.tobytes(), name
    assert lib.minari_all_rows_read(client, b"demos", ctypes.byref(whole), buffer, ctypes.c_size_t(9), ctypes.byref(size), None) == 14
    table = TableQuery(ctypes.sizeof(TableQuery), b"number,steps,return,task,terminated,split", b"number < 3")
    assert lib.minari_episode_table_read(client, b"demos", ctypes.byref(table), buffer, ctypes.c_size_t(len(buffer)), ctypes.byref(size), None) == 0
    assert buffer.raw[:size.value] == demos.get("/api/v1/datasets/demos/episodes?columns=number,steps,return,task,terminated,split&format=npz&where=number+%3C+3").body
    for name, want in arrays(Answer(200, {}, buffer.raw[:size.value])).items():
        assert lib.minari_npz_find(buffer, size, name.encode(), ctypes.byref(array), None) == 0, name
        assert (array.dtype.decode(), array.shape[:array.ndim]) == (want.dtype.str, [3]) and ctypes.string_at(array.data, array.bytes) == want.tobytes(), name
        assert want.dtype.str in ("<i8", "<f8", "|b1") or want.dtype.kind == "U", (name, want.dtype)
    assert lib.minari_episode_table_read(client, b"demos", ctypes.byref(table), buffer, ctypes.c_size_t(9), None, None) == 14
    assert lib.minari_episode_table_read(client, b"demos", ctypes.byref(table), None, ctypes.c_size_t(9), None, None) == 1
    lib.minari_client_free(client)


# ---- rows whose size is stored in several ways ----

def write_sizes(root):
    """Texts of another width in each episode, one of no fixed width; pictures that are all of one length in some episodes, as minari
    stores them then."""
    texts, pictures = {}, {}
    with h5py.File(root / "words.hdf5", "w") as f:
        for i, width in enumerate((5, 9, 3, None)):
            demo = f.create_group(f"data/demo_{i}")
            demo.attrs["num_samples"] = 4
            demo["actions"] = np.zeros((4, 2))
            texts[i] = ["abcdefghijkl"[k:][: width or 7] for k in range(4)]
            demo.create_dataset("obs/word", data=texts[i], dtype=f"S{width}" if width else h5py.string_dtype())
    folder = shutil.copytree(f"{FIXTURES}/minari/root-0.5.3/minigrid/fourrooms-v0", root / "fourrooms-v0") / "data"
    with h5py.File(folder / "main_data.hdf5", "r+") as f:
        files = list(f["episode_0/observations/image"])
        for i in 1, 2, 3:
            f.copy("episode_0", f"episode_{i}")
            f[f"episode_{i}"].attrs["id"] = i
        for i, one in (1, files[0]), (2, files[3]):
            del f[f"episode_{i}/observations/image"]
            f[f"episode_{i}/observations/image"] = np.array([one] * len(files))
        pictures = {0: files, 1: [files[0]] * len(files), 2: [files[3]] * len(files), 3: files}
    metadata = json.loads((folder / "metadata.json").read_text())
    metadata.update(total_episodes=4, total_steps=metadata["total_steps"] * 4)
    (folder / "metadata.json").write_text(json.dumps(metadata))
    return texts, {i: [p.tobytes() for p in rows] for i, rows in pictures.items()}


@pytest.mark.parametrize("pad", ["edge", "zero"])
def test_texts_and_pictures_of_several_sizes(tmp_path, pad):
    texts, pictures = write_sizes(tmp_path)
    with serving(str(tmp_path)) as hub:
        for id, field, stored, query in ("words", "obs/word", texts, "fields=obs/word"), ("fourrooms-v0", "observations/image", pictures, ""):
            got = arrays(sample(hub, id, f"{query}&windows=64&length=3&seed=5&pad={pad}"))
            listed = pa.ipc.open_stream(sample(hub, id, f"{query}&windows=64&length=3&seed=5&pad={pad}&format=arrow").body).read_all()[field].to_pylist()
            assert set(got["episode"]) == {0, 1, 2, 3}
            for w, (episode, start) in enumerate(zip(got["episode"], got["start"])):
                rows = stored[episode][start : start + 3]
                steps = int(got["mask"][w].sum())
                rows = rows[:steps] + [rows[steps - 1] if pad == "edge" else type(rows[0])()] * (3 - steps)
                have = list(got[field][w]) if field == "obs/word" else [b.tobytes()[:n] for b, n in zip(got[field][w], got[field + "__length"][w])]
                assert have == rows and listed[w] == rows
        items = [{"dataset": "words", "episode": i, "start": 0, "stop": 2} for i in (3, 0, 1)]
        body = json.dumps({"items": items, "fields": ["obs/word"]}).encode()
        request = urllib.request.Request(hub.base + "/api/v1/batch", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            got = arrays(Answer(answer.status, answer.headers, answer.read()))
        assert got["obs/word"].tolist() == [texts[i][:2] for i in (3, 0, 1)]
        runs = [hub.get(f"/api/v1/datasets/words/episodes/{i}/obs/word?runs=10") for i in texts]
        assert {a.status for a in runs} == {200}
