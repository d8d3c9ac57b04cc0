"""Curves and runs of an episode against numpy over the rows that the hub itself hands out."""
import io
import json
import math
from urllib.parse import quote, urlencode

import h5py
import numpy as np
import pytest

from hub import FIXTURES, serving

STEPS = 5000


def write(path):
    rng = np.random.default_rng(7)
    noise = np.cumsum(rng.normal(size=(STEPS, 3)), axis=0)
    odd = noise.astype("<f4")
    odd[100], odd[2000:2100, 1], odd[:, 2] = np.nan, np.inf, -np.inf
    odd[4000, 0] = 1e30
    wide = rng.integers(-(2**62), 2**62, STEPS)
    wide[10:13] = 2**62 + np.array([1, 2, 3])  # the same doubles
    with h5py.File(path, "w") as f:
        demo = f.create_group("data/demo_0")
        demo.attrs["num_samples"] = STEPS
        demo["actions"] = noise
        demo["rewards"] = rng.normal(size=STEPS)
        demo["dones"] = np.arange(STEPS) == STEPS - 1
        demo["obs/odd"] = odd
        demo["obs/wide"] = wide
        demo["obs/unsigned"] = rng.integers(0, 2**64, STEPS, dtype="u8")
        demo["obs/big"] = rng.normal(size=(STEPS, 40)).astype(">f8")
        demo.create_dataset("obs/packed", data=rng.normal(size=(STEPS, 17)).astype("f4"), chunks=(999, 5), compression="gzip")
        apart = demo.create_dataset("obs/apart", (STEPS, 7), "<f8", chunks=(700, 2), fillvalue=-2.5)  # rows 2800 to 3500 are not stored
        apart[:2800], apart[3500:] = rng.normal(size=(2800, 7)), rng.normal(size=(STEPS - 3500, 7))
        apart[123, 3] = np.nan
        demo["obs/mode"] = np.repeat(rng.integers(0, 5, 100), 50).astype("i4")
        demo["obs/matrix"] = rng.normal(size=(STEPS, 2, 3))
        demo["obs/wall"] = np.zeros((STEPS, 600))
        demo["obs/imaginary"] = rng.normal(size=STEPS) + 1j


def write_long(path):
    """More numbers than are gone through in no time."""
    rng = np.random.default_rng(3)
    actions = rng.normal(size=(140_000, 31)).astype("f4")
    actions[77_777, 4], actions[1000:1300, 5], actions[-1, 6] = 1e9, np.nan, -np.inf
    with h5py.File(path, "w") as f:
        demo = f.create_group("data/demo_0")
        demo.attrs["num_samples"] = len(actions)
        demo["actions"] = actions
        demo["obs/one"] = actions[:, 0]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    write(root / "long.hdf5")
    far = tmp_path_factory.mktemp("far")
    write_long(far / "long.hdf5")
    fixtures = {"minari": "minari/root-0.5.3", "molmo": "molmospaces"}
    with serving(f"own={root}", f"far={far}", *(f"{name}={FIXTURES}/{of}" for name, of in fixtures.items())) as hub:
        hub.wait_indexed()
        yield hub


def ask(hub, path, status=200, headers=None, **query):
    answer = hub.get(f"/api/v1/datasets/{path}?" + urlencode(query, doseq=True), headers=headers or {})
    assert answer.status == status, answer.body[:500]
    return answer


def rows(hub, path):
    return np.load(io.BytesIO(ask(hub, path, format="npy").body))


def grid(start, stop, buckets=None, width=None):
    w = width or 1
    while not width and -(-stop // w) - start // w > buckets:
        w *= 2
    return w, start // w, max(-(-stop // w) - start // w, 0) if stop > start else 0


def transformed(x, of):
    if of == "sum":
        return np.cumsum(x, axis=0)
    if of == "delta":
        return np.concatenate([np.full((1, x.shape[1]), np.nan), np.diff(x, axis=0)])
    return x


def oracle(x, start, stop, w, first, count, of="value"):
    """Pairs, extremes, counts and holes of two-dimensional rows."""
    begin = 1 if of == "delta" else 0
    x = transformed(x, of)
    fields = {k: [] for k in ("pairs", "min", "min_row", "max", "max_row", "mean", "nonfinite", "holes")}
    for d in range(x.shape[1]):
        pairs, holes = [], []
        for k in range(first, first + count):
            low, high = max(k * w, start, begin), min((k + 1) * w, stop, len(x))
            v = x[low:high, d]
            good = np.flatnonzero(np.isfinite(v.astype("f8")))
            if len(good) < len(v):
                holes.append(k)
            if not len(good):
                pairs += [None] if w == 1 else [None, None]
                continue
            i, j = good[np.argmin(v[good])], good[np.argmax(v[good])]
            two = [float(v[i]), float(v[j])] if i <= j else [float(v[j]), float(v[i])]
            pairs += two[:1] if w == 1 else two
        v = x[max(start, begin):stop, d]
        good = np.isfinite(v.astype("f8"))
        fields["pairs"].append(pairs)
        fields["holes"].append(holes)
        for name, pick in (("min", np.argmin), ("max", np.argmax)):
            at = np.flatnonzero(good)[pick(v[good])] if good.any() else None
            fields[name].append(None if at is None else float(v[at]))
            fields[name + "_row"].append(None if at is None else int(at) + max(start, begin))
        fields["mean"].append(float(np.mean(v[good].astype("f8"))) if good.any() else None)
        f = v.astype("f8")
        fields["nonfinite"].append({"nan": int(np.isnan(f).sum()), "+inf": int((f == np.inf).sum()), "-inf": int((f == -np.inf).sum())})
    return fields


def compare(got, x, document, of="value", single=False):
    start, stop, w = document["start"], document["stop"], document["width"]
    want = oracle(x, start, stop, w, document["first"], document["count"], of)
    curves = got["values" if w == 1 else "pairs"]
    assert ("values" in got) == (w == 1)
    for d in range(x.shape[1]):
        assert len(curves[d]) == document["count"] * (1 if w == 1 else 2)
        assert curves[d] == want["pairs"][d], d
    for name in ("min", "min_row", "max", "max_row", "nonfinite", "holes"):
        assert got[name] == want[name], name
    for d, (a, b) in enumerate(zip(got["mean"], want["mean"])):
        largest = max(abs(want["min"][d] or 0), abs(want["max"][d] or 0))
        assert a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12 * largest)


@pytest.mark.parametrize("field", ["actions", "rewards", "dones", "obs/odd", "obs/wide", "obs/unsigned", "obs/big", "obs/packed",
                                   "obs/apart", "obs/mode", "obs/matrix"])
@pytest.mark.parametrize("query", [
    {"buckets": 2000}, {"buckets": 16}, {"buckets": 100, "start": 17, "stop": 4900}, {"buckets": 30, "start": 90, "stop": 110},
    {"buckets": 50, "of": "sum"}, {"buckets": 50, "of": "sum", "start": 1000}, {"buckets": 40, "of": "delta"},
    {"buckets": 40, "of": "delta", "start": 999, "stop": 2222}, {"width": 64, "start": -1000}, {"width": 1, "start": -20},
    {"buckets": 64, "start": 5000}])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_curves_are_those_of_numpy(hub, field, query):
    document = ask(hub, f"own/long/episodes/0/{field}", **query).json()
    x = rows(hub, f"own/long/episodes/0/{field}").reshape(STEPS, -1).astype("f8")
    start, stop, _ = slice(query.get("start"), query.get("stop")).indices(STEPS)
    w, first, count = grid(start, stop, query.get("buckets"), query.get("width"))
    assert document["count"] == count
    if count:
        assert (document["start"], document["stop"], document["width"], document["first"]) == (start, stop, w, first)
    compare(document["fields"][field], x, document, query.get("of", "value"))


def test_dimensions_are_chosen(hub):
    x = rows(hub, "own/long/episodes/0/obs/big")
    for spelt, dims in (("0-3+7", [0, 1, 2, 3, 7]), ("39", [39]), ("5+5+1", [5, 5, 1])):
        document = ask(hub, "own/long/episodes/0/obs/big", buckets=100, dims=spelt).json()
        assert document["fields"]["obs/big"]["dims"] == dims
        compare(document["fields"]["obs/big"], x[:, dims], document)
    apart = rows(hub, "own/long/episodes/0/obs/apart")  # in chunks beside each other
    for spelt, dims in (("1-3+6", [1, 2, 3, 6]), ("5", [5]), ("6+0", [6, 0])):
        compare(ask(hub, "own/long/episodes/0/obs/apart", buckets=100, dims=spelt).json()["fields"]["obs/apart"], apart[:, dims], {**document, "dims": dims})
    assert ask(hub, "own/long/episodes/0/obs/wall", buckets=16, dims="599").json()["fields"]["obs/wall"]["max"] == [0]


def test_dimensions_have_the_names_of_the_dataset():
    with serving(f"{FIXTURES}/lerobot") as hub:
        names = {f["path"]: f.get("names") for f in hub.dataset("arm-v30")["fields"]}
        for query, chosen in (("", slice(None)), ("&dims=1-2", slice(1, 3))):
            fields = hub.get(f"/api/v1/datasets/arm-v30/episodes/0?fields=action&fields=timestamp&buckets=16{query}").json()["fields"]
            assert fields["action"]["names"] == names["action"][chosen] and "names" not in fields["timestamp"]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_raw_is_the_same(hub, dtype):
    for width, each in ((1, 1), (8, 2)):
        query = {"width": width, "start": 0, "stop": 1999}
        document = ask(hub, "own/long/episodes/0/obs/odd", **query).json()
        answer = ask(hub, "own/long/episodes/0/obs/odd", format="raw", dtype=dtype, **query)
        shape = [int(n) for n in answer.headers["X-Shape"].split(",")]
        assert shape == [3, document["count"] * each] and answer.headers["X-Bucket-Width"] == str(width)
        assert answer.headers["X-Dtype"] == {"f4": "float32", "f8": "float64"}[dtype] and answer.headers["X-First-Bucket"] == "0"
        got = np.frombuffer(answer.body, dtype="<" + dtype).reshape(shape)
        want = np.array(document["fields"]["obs/odd"]["values" if width == 1 else "pairs"], dtype="f8").astype(dtype)
        assert np.array_equal(got, want, equal_nan=True)


def test_several_fields_share_a_grid(hub):
    id, n = "minari/D4RL/door/human-v2", 3
    document = ask(hub, f"{id}/episodes/{n}", fields=["observations", "actions", "rewards"], buckets=32).json()
    for name, got in document["fields"].items():
        x = rows(hub, f"{id}/episodes/{n}/{name}")
        assert got["rows"] == len(x)
        compare(got, x.reshape(len(x), -1), document)
    assert document["fields"]["observations"]["rows"] == document["stop"] == document["fields"]["actions"]["rows"] + 1
    again = ask(hub, f"{id}/episodes/{n}", fields=["observations", "actions"], dims=["", "2"], buckets=32).json()["fields"]
    assert len(again["observations"]["dims"]) == 39 and again["actions"]["dims"] == [2]
    roles = ask(hub, f"{id}/episodes/{n}", fields=["@action", "@reward"], buckets=32).json()["fields"]
    assert set(roles) == {"actions", "rewards"} and roles["actions"]["min"] == document["fields"]["actions"]["min"]


def test_sums_and_differences_of_shifted_rewards_begin_at_row_1(hub):
    """Row 0 belongs to no step, whatever window is read."""
    path = "molmo/pick/episodes/0"
    x, episode = rows(hub, f"{path}/rewards").astype("f8"), ask(hub, path).json()
    want = {"sum": np.cumsum(x[1:]).tolist(), "delta": [None, *np.diff(x[1:]).tolist()]}
    for of, values in want.items():
        for start in (0, 1, 3):
            curve = ask(hub, f"{path}/rewards", width=1, start=start, of=of).json()["fields"]["rewards"]
            assert curve["values"] == [[None, *values][start:]], (of, start)
    assert want["sum"][-1] == episode["return"]


def test_looking_closer_at_a_long_episode(hub):
    """What the first look found is kept: the answers that come of it are those that come of the rows."""
    path = "far/long/episodes/0/actions"
    x = rows(hub, path)
    for query in ({"buckets": 500}, {"buckets": 100}, {"width": 256, "start": 256 * 100, "stop": 256 * 500}, {"width": 1024, "dims": "4-6"},
                  {"buckets": 100, "start": 512, "stop": 100_001}, {"width": 512, "start": 512 * 200, "dims": "6"}, {"width": 64, "stop": 6400}):
        document = ask(hub, path, **query).json()
        dims = document["fields"]["actions"]["dims"]
        compare(document["fields"]["actions"], x[:, dims].astype("f8"), document)
    document = ask(hub, path, buckets=16).json()["fields"]["actions"]
    assert document["max"][4] == 1e9 and document["max_row"][4] == 77_777 and document["nonfinite"][6]["-inf"] == 1


def test_validators(hub):
    path = "own/long/episodes/0/actions"
    first = ask(hub, path, buckets=100)
    assert ask(hub, path, buckets=100, status=304, headers={"If-None-Match": first.headers["ETag"]})
    assert ask(hub, path, buckets=200).headers["ETag"] != first.headers["ETag"]
    assert ask(hub, path, buckets=100, of="sum").headers["ETag"] != first.headers["ETag"]
    pinned = ask(hub, path, buckets=100, revision=first.json()["revision"])
    assert "immutable" in pinned.headers["Cache-Control"] and pinned.json() == first.json()


@pytest.mark.parametrize("field, query, status, word", [
    ("actions", {"buckets": 15}, 400, "buckets"), ("actions", {"buckets": 2001}, 400, "2000"), ("actions", {"width": 3}, 400, "power"),
    ("actions", {"width": 1}, 400, "at least 4"), ("actions", {"buckets": 16, "width": 4}, 400, "either"),
    ("actions", {"buckets": 16, "row": 1}, 400, "row"), ("actions", {"buckets": 16, "step": 2}, 400, "step"),
    ("actions", {"buckets": 16, "dims": "3"}, 400, "below 3"), ("actions", {"buckets": 16, "dims": "1-"}, 400, "dims"),
    ("actions", {"buckets": 16, "dims": "-1"}, 400, "dims"), ("actions", {"buckets": 16, "of": "mean"}, 400, "of"),
    ("actions", {"buckets": 16, "dtype": "f4"}, 400, "dtype"), ("actions", {"buckets": 16, "leaf": "/a"}, 406, "JSON"),
    ("actions", {"buckets": 16, "leaf": "a"}, 400, "pointer"), ("obs/wall", {"buckets": 16}, 400, "512"),
    ("obs/imaginary", {"buckets": 16}, 406, "complex"), ("nothing", {"buckets": 16}, 404, "nothing")])
def test_what_is_wrong_is_named(hub, field, query, status, word):
    problem = ask(hub, f"own/long/episodes/0/{field}", status=status, **query).json()
    assert word in json.dumps(problem)


def test_texts_have_no_curve(hub):
    problem = ask(hub, "minari/dummy-text/test-v0/episodes/0/observations", status=406, buckets=16).json()
    assert "buckets need" in problem["detail"]


def test_leaves_of_json(hub):
    id = next(d["id"] for d in hub.get("/api/v1/datasets?prefix=&limit=500").json()["items"] if "pick" in d["id"])
    fields = ask(hub, f"{quote(id)}/episodes/0").json()["fields"]
    path = next(f["path"] for f in fields if f.get("type", f.get("dtype")) in ("json", "padded-json") or "json" in str(f.get("dtype")))
    texts = ask(hub, f"{quote(id)}/episodes/0/{path}").json()

    def leaves(value, at=""):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from leaves(inner, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                yield from leaves(inner, f"{at}/{i}")
        elif isinstance(value, (int, float)):
            yield at, float(value)

    tables = [dict(leaves(t)) for t in texts]
    names = sorted({name for t in tables for name in t})
    assert names
    for name in names[:4]:
        x = np.array([t.get(name, np.nan) for t in tables])[:, None]
        document = ask(hub, f"{quote(id)}/episodes/0/{path}", buckets=2000, leaf=name).json()
        compare(document["fields"][path], x, document)
    assert ask(hub, f"{quote(id)}/episodes/0/{path}", status=404, buckets=16, leaf="/no/such").json()["type"].endswith("field-not-found")


def runs_of(x):
    """Of a list: first and end row, and value, of each run."""
    starts = [i for i in range(len(x)) if not i or x[i] != x[i - 1]] + [len(x)]
    return [[a, b, x[a]] for a, b in zip(starts, starts[1:])]


@pytest.mark.parametrize("path", ["own/long/episodes/0/dones", "own/long/episodes/0/obs/mode", "own/long/episodes/0/obs/wide",
                                  "minari/dummy-text/test-v0/episodes/0/observations", "minari/minigrid/fourrooms-v0/episodes/0/actions"])
def test_runs(hub, path):
    x = ask(hub, path).json()
    want = runs_of(x)
    document = ask(hub, path, runs=4000).json()
    assert document["start"] == 0 and document["complete"] == (len(want) <= 4000)
    assert document["runs"] == want[:4000] and document["stop"] == document["runs"][-1][1]
    few = ask(hub, path, runs=1).json()
    assert few["runs"] == want[:1] and few["stop"] == want[0][1] and few["complete"] == (len(want) == 1)
    start, stop = len(x) // 3, len(x) - 1
    part = ask(hub, path, runs=4000, start=start, stop=-1).json()
    if start < stop:
        assert part["runs"] == [[a + start, b + start, v] for a, b, v in runs_of(x[start:stop])][:4000]


@pytest.mark.parametrize("field, query, status, word", [
    ("actions", {"runs": 10}, 406, "buckets"), ("dones", {"runs": 0}, 400, "4000"), ("dones", {"runs": 4001}, 400, "4000"),
    ("dones", {"runs": 4, "step": 2}, 400, "step"), ("nothing", {"runs": 4}, 404, "nothing")])
def test_what_is_wrong_of_runs(hub, field, query, status, word):
    assert word in json.dumps(ask(hub, f"own/long/episodes/0/{field}", status=status, **query).json())
