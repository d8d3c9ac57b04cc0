"""What is measured of datasets against numpy: over rows that h5py reads, or that the hub itself hands out."""
import base64
import io
import json
import re
import shutil
import signal
from collections import Counter
from urllib.parse import quote, urlencode

import h5py
import numpy as np
import pandas
import pytest

from cli import Cli
from hub import FIXTURES, Hub, serving, until

EPISODES = 30


def ask(hub, id, what, status=200, **query):
    answer = hub.get(f"/api/v1/datasets/{quote(id)}/{what}?" + urlencode(query, doseq=True))
    assert answer.status == status, answer.body
    return answer


def measured(hub, id, **query):
    """The statistics of a dataset when all of it is measured."""
    def are_complete():
        answer = hub.get(f"/api/v1/datasets/{quote(id)}/~statistics?" + urlencode(query, doseq=True))
        whole = answer.status == 200 and answer.json()["coverage"]["complete"]
        if whole and all(f.get("histogram_coverage", {"complete": True})["complete"] for f in answer.json()["fields"].values()):
            return answer.json()
        assert answer.status in (200, 503) and answer.headers["Retry-After"]
        assert answer.status == 503 or answer.headers["Cache-Control"] == "no-store"

    return until(are_complete)


def columns(hub, id, names, **query):
    return ask(hub, id, "episodes", columns=",".join(names), **query).json()["columns"]


def found(hub, id, **query):
    return until(lambda: answer if (answer := ask(hub, id, "~findings", **query).json())["coverage"]["complete"] else None)


def motion(i, steps, rng):
    """Actions that stand, shake, or touch their bounds."""
    a = np.cumsum(rng.normal(size=(steps, 3)), axis=0)
    if i % 3 == 0:
        a[steps // 4 : steps // 4 + steps // 2] = a[steps // 4 : steps // 4 + 1]
    if i % 5 == 1:
        a[steps // 2 :] *= 50
    return a


def write(path, seed=0, scale=1.0, episodes=EPISODES):
    rng = np.random.default_rng(seed)
    with h5py.File(path, "w") as f:
        data = f.create_group("data")
        for i in range(episodes):
            steps = [1, 9, 10, 40, 1500][i % 5] if i else 2500
            demo = data.create_group(f"demo_{i}")
            demo.attrs["num_samples"] = steps
            demo.create_dataset("actions", data=motion(i, steps, rng) * scale, chunks=(min(steps, 64), 2), compression="gzip")
            demo["dones"] = np.arange(steps) == steps - 1
            demo["rewards"] = np.full(steps, 0.1) if i % 4 == 3 else rng.normal(size=steps) + 1e6
            odd = rng.normal(size=(steps, 2)).astype("f4")
            odd[rng.random((steps, 2)) < 0.1] = np.nan
            odd[rng.random((steps, 2)) < 0.05] = -np.inf
            demo["obs/odd"] = odd
            demo["obs/wide"] = rng.integers(-(2**63), 2**63 - 1, steps, "i8")
            demo["obs/digits"] = rng.integers(3, 9, (steps, 2)).astype(">i4")
            demo["obs/constant"] = np.full((steps, 1), 0.3)
            demo["obs/flag"] = rng.random(steps) < 0.25
            demo["obs/half"] = rng.normal(size=(steps, 20)).astype("f2")
    return path


def rows_of(path, field):
    with h5py.File(path) as f:
        return [f["data"][name][field][...] for name in sorted(f["data"], key=lambda n: int(n[5:]))]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("measures") / "made.hdf5")


@pytest.fixture(scope="module")
def hub(path):
    fixtures = {"minari": "minari/root-0.5.3", "robomimic": "robomimic", "lerobot": "lerobot", "d4rl": "d4rl"}
    with serving(f"own={path.parent}", *(f"{name}={FIXTURES}/{of}" for name, of in fixtures.items())) as hub:
        hub.wait_indexed()
        yield hub


def made(hub):
    return next(d["id"] for d in hub.datasets() if d["id"].endswith("made"))


def test_returns_and_steps(hub):
    for dataset in hub.datasets("&status=ready"):
        table = measured(hub, dataset["id"])
        rows = hub.episodes(dataset["id"]) if dataset["episodes"] else []
        assert table["episodes"] == len(rows) and table["coverage"]["rows"] == sum(e["steps"] for e in rows)
        for name in "return", "steps":
            got = table["fields"][name]
            values = np.array(columns(hub, dataset["id"], [name])[name], float)
            values = values[~np.isnan(values)]
            assert got["count"] == len(values)
            if len(values):
                assert (got["min"], got["max"]) == (values.min(), values.max())
                np.testing.assert_allclose([got["mean"], got["std"]], [values.mean(), values.std()], rtol=1e-13, atol=1e-13)
                for q, value in got["quantiles"].items():
                    assert value == pytest.approx(np.quantile(values, float(q)), rel=1e-15)
                assert sum(got["histogram"]["counts"]) == len(values)


def check_field(got, values):
    """Statistics of a field against all its rows, (rows, dims)."""
    values = values.reshape(len(values), -1)
    assert got["count"] == len(values)
    exact = values.astype(object) if values.dtype.kind in "iu" else values.astype(float)
    real = values.astype(float)
    finite = np.isfinite(real)
    assert got["nonfinite"] == {"nan": np.isnan(real).sum(), "+inf": (real == np.inf).sum(), "-inf": (real == -np.inf).sum()}
    for d in range(real.shape[1]):
        of = exact[finite[:, d], d]
        if not len(of):
            assert got["min"][d] is None and got["mean"][d] is None
            continue
        numbers = of.astype(float)
        assert (int(got["min"][d]), int(got["max"][d])) == (of.min(), of.max()) if values.dtype.kind in "iu" else (
            (got["min"][d], got["max"][d]) == (of.min(), of.max()))
        largest = max(abs(numbers).max(), 1e-300)
        for name, value in ("mean", numbers.mean()), ("std", numbers.std()):
            assert abs(got[name][d] - value) <= 16 * np.finfo(float).eps * largest, (name, d)
        assert (d in got["constant"]) == (numbers.min() == numbers.max())
        if "histogram" not in got:
            continue
        h = got["histogram"][d]
        if "values" in h:
            assert {v["value"]: v["count"] for v in h["values"]} == dict(zip(*np.unique(numbers, return_counts=True)))
        else:
            bins, span = len(h["counts"]), numbers.max() - numbers.min()
            want = np.minimum((numbers / 2 - numbers.min() / 2) / (span / 2 or 1) * bins, bins - 1).astype(int)
            assert (np.bincount(want, minlength=bins) == h["counts"]).all() and len(h["edges"]) == bins + 1


@pytest.mark.parametrize("name", ["actions", "rewards", "dones", "obs/odd", "obs/wide", "obs/digits", "obs/constant", "obs/flag", "obs/half"])
def test_fields_are_what_numpy_says(hub, path, name):
    got = measured(hub, made(hub), field=name, bins=17)["fields"][name]
    rows = rows_of(path, name)
    check_field(got, np.concatenate(rows))
    each = columns(hub, made(hub), [f'{word}("{name}")' for word in ("sum", "mean", "std", "min", "max")])
    for i, values in enumerate(rows):
        real = values.astype(float)
        real = real[np.isfinite(real)]
        want = [real.sum(), real.mean(), real.std()] if len(real) else [None] * 3
        for word, value in zip(("sum", "mean", "std"), want):
            column = each[f'{word}("{name}")'][i]
            assert column == value or abs(column - value) <= 1e-15 * 16 * abs(real).sum()
        for word in "min", "max":
            column = each[f'{word}("{name}")'][i]
            assert (int(column) if values.dtype == "i8" else column) == getattr(values if values.dtype == "i8" else real, word)()


def reference(path):
    """The metrics of web definitions, one dict an episode."""
    rows = rows_of(path, "actions")
    every = np.concatenate(rows)
    span = every.max(0) - every.min(0)
    for a, odd, rewards in zip(rows, rows_of(path, "obs/odd"), rows_of(path, "rewards")):
        out = {"nonfinite": (~np.isfinite(odd)).sum(), "flat_reward": rewards.min() == rewards.max()}
        if len(a) >= 10:
            step = np.abs(np.diff(a, axis=0)) / span
            run = longest = 0
            for same in (np.diff(a, axis=0) == 0).all(1):
                run = run + 1 if same else 0
                longest = max(longest, run)
            out |= {"frozen": longest / len(a), "still": (step.max(1) < 0.001).mean(),
                    "jerk": np.percentile(np.linalg.norm(np.diff(a, 2, axis=0) / span, axis=1), 95)}
        yield out


def test_metrics_are_what_numpy_says(hub, path):
    found(hub, made(hub))
    names = ["nonfinite", "flat_reward", "frozen", "still", "jerk"]
    got = columns(hub, made(hub), names)
    for i, want in enumerate(reference(path)):
        for name in names:
            value = got[name][i]
            assert value is None if name not in want else value == pytest.approx(want[name], rel=1e-12, abs=1e-15), (name, i)
    answer = ask(hub, made(hub), "episodes", sort="jerk")
    assert answer.headers["X-Measured"] == "1/1" and "no-store" not in answer.headers["Cache-Control"]
    assert "X-Measured" not in ask(hub, made(hub), "episodes", sort="return").headers
    calm = ask(hub, made(hub), "episodes", where="still > 0.3 and jerk < 1", sort="-jerk", limit=1000).json()["items"]
    want = [i for i, w in enumerate(reference(path)) if w.get("still", 0) > 0.3 and w["jerk"] < 1]
    assert sorted(e["number"] for e in calm) == want and want
    of = [got["jerk"][e["number"]] for e in calm]
    assert of == sorted(of, reverse=True)


def test_documents(hub, path):
    """An episode says what was measured of it, the hub how far it is."""
    found(hub, made(hub))
    rewards, actions = rows_of(path, "rewards"), rows_of(path, "actions")
    for i in 0, 3, 5:
        got = hub.get(f"/api/v1/datasets/{quote(made(hub))}/episodes/{i}").json()["measured"]
        assert got["return"] == pytest.approx(rewards[i].sum(), rel=1e-14)
        assert got["statistics"]["actions"]["max"] == actions[i].max()
        assert got["statistics"]["rewards"]["mean"] == pytest.approx(rewards[i].mean(), rel=1e-14)
        spark, n = base64.b64decode(got["spark"]), len(rewards[i])
        means = np.array([rewards[i][k * n // 32 : max((k + 1) * n // 32, k * n // 32 + 1)].mean() for k in range(32)])
        span = means.max() - means.min()
        want = (means - means.min()) / span * 255 if span else np.full(32, 128)
        assert abs(np.frombuffer(spark, "u1") - want).max() <= 0.51 + 1e-6 * (span == 0)
    assert set(got["metrics"]) <= {"nonfinite", "frozen", "still", "jerk", "saturated", "gap", "video_frames", "offset", "unended", "flat_reward"}
    for dataset in hub.datasets("&status=ready"):
        found(hub, dataset["id"])
    status = hub.get("/api/v1/status").json()["measuring"]
    assert status["mode"] == "idle" and status["parts"] == status["of_parts"]


def test_command(hub, path, tmp_path):
    cli = Cli(tmp_path, hub.base)
    found(hub, made(hub))
    out = cli.run("stats", made(hub), expect=0).out
    cells = re.search(r"^steps +(.*)$", out, re.M)[1].split()
    assert all(re.fullmatch(r"-?\d+", c) for c in cells[:3]) and len(cells[3].replace(".", "").lstrip("0")) <= 6, out
    most = np.concatenate(rows_of(path, "actions"))[:, 0].max()
    assert "return" in out and "obs/odd" in out and f"{most:.6g}" in out
    assert cli.run("stats", made(hub), "--json", expect=0).json()["fields"]["actions"]["max"][0] == most
    one = cli.run("stats", made(hub), "--field", "jerk", "--json", expect=0).json()
    assert list(one["fields"]) == ["jerk"]
    assert "jerk" in cli.run("stats", made(hub), "--findings", expect=0).out
    cli.run("stats", made(hub), "--findings", "--where", "steps > 3", expect=2)
    cli.run("stats", "nothing-v0", expect=3)


def test_findings(hub, path):
    rules = {r["rule"]: r for r in found(hub, made(hub))["rules"]}
    want = list(reference(path))
    steps = {e["number"]: e["steps"] for e in hub.get(f"/api/v1/datasets/{made(hub)}/episodes?limit=1000").json()["items"]}
    frozen = {i for i, w in enumerate(want) if w.get("frozen", 0) >= 0.05 and w["frozen"] * steps[i] > 4.5}
    assert frozen and rules["frozen"]["count"] == len(frozen) and rules["frozen"]["high"] == 0.05
    assert {e["number"] for e in rules["frozen"]["episodes"]} <= frozen and all(e["steps"] == steps[e["number"]] for e in rules["frozen"]["episodes"])
    jerks = {i: w["jerk"] for i, w in enumerate(want) if "jerk" in w}
    q1, q3 = np.quantile(list(jerks.values()), [0.25, 0.75])
    outside = {i for i, v in jerks.items() if not q1 - 1.5 * (q3 - q1) <= v <= q3 + 1.5 * (q3 - q1)}
    assert rules["jerk"]["count"] == len(outside) and rules["jerk"]["high"] == pytest.approx(q3 + 1.5 * (q3 - q1))
    assert {e["number"] for e in rules["jerk"]["episodes"]} <= outside
    only = found(hub, made(hub), rule="nonfinite", limit=2)["rules"]
    assert [r["rule"] for r in only] == ["nonfinite"] and len(only[0]["episodes"]) == 2
    assert only[0]["episodes"][0]["value"] == max(w["nonfinite"] for w in want)
    assert all(e["at"] < e["steps"] for e in only[0]["episodes"]), "where the first of them is"
    for query in {"rule": "odd"}, {"k": "x"}, {"k": "-1"}, {"limit": "0"}:
        ask(hub, made(hub), "~findings", status=400, **query)


@pytest.mark.parametrize("id", ["D4RL/door/human-v2", "arm-v30", "halfcheetah_medium-v2", "parquet-variants"])
def test_other_formats(hub, id):
    """Against the rows that the hub hands out as npy."""
    id = next(d["id"] for d in hub.datasets() if d["id"].endswith(id))
    table = measured(hub, id)["fields"]
    numbers = [e["number"] for e in hub.episodes(id)]
    for field in hub.dataset(id)["fields"]:
        if field["path"] not in table or field["path"] in ("return", "steps") or "unreadable" in table[field["path"]]:
            continue
        rows = []
        for n in numbers:
            answer = hub.get(f"/api/v1/datasets/{quote(id)}/episodes/{n}/{quote(field['path'])}?format=npy")
            if answer.status == 200:
                values = np.load(io.BytesIO(answer.body))
                if int(answer.headers.get("X-Null-Count", 0)) and values.dtype.kind != "f":
                    break  # npy has no null but NaN
                rows.append(values.reshape(-1, max(1, int(np.prod(values.shape[1:])))))
        else:
            if len({r.shape[1] for r in rows}) != 1:
                continue
            check_field(table[field["path"]], np.concatenate(rows))


def test_summary_of_a_dataset(hub):
    """In its document: what the statistics say of its episodes, but for their distribution."""
    names = "origin", "count", "nonfinite", "min", "max", "mean", "std"
    for dataset in hub.datasets("&status=ready"):
        whole = measured(hub, dataset["id"])
        got = until(lambda: (s := hub.dataset(dataset["id"])["statistics"])["coverage"]["complete"] and s)
        assert got["coverage"]["episodes"] == got["coverage"]["of"] == dataset["episodes"]
        assert got.get("claimed") == whole.get("claimed")
        for name in "return", "steps":
            assert got.get(name, {"count": 0})["count"] == whole["fields"][name]["count"]
            assert name not in got or got[name] == {k: v for k, v in whole["fields"][name].items() if k in names}
    assert hub.dataset(made(hub))["statistics"]["return"]["origin"] == "computed"


def test_a_histogram_is_there_the_first_time(hub):
    """It is counted when it is asked for, and waited for; who takes what there is does not wait."""
    id = made(hub)
    measured(hub, id)
    at = f"/api/v1/datasets/{id}/~statistics?field=actions&bins="
    field = hub.get(at + "23&wait=30").json()["fields"]["actions"]
    assert field["histogram_coverage"]["complete"] and sum(field["histogram"][0]["counts"]) == field["count"]
    assert "histogram" not in hub.get(at + "29&partial=1").json()["fields"]["actions"]


def test_returns_in_a_list(hub):
    """Few bins of what all episodes have, beside each dataset; the same as a page, as lines and when it is asked again."""
    for dataset in hub.datasets("&status=ready"):
        measured(hub, dataset["id"])
    items = hub.get("/api/v1/datasets?limit=1000&include=returns").json()["items"]
    table = {line["id"]: line for line in map(json.loads, hub.get("/api/v1/datasets?columns=id,return_mean,return_min,return_max,return_count&format=jsonl").body.splitlines())}
    assert len(items) == len(hub.datasets("")) == len(table)
    for item in items:
        known = columns(hub, item["id"], ["return"])["return"] if item["status"] == "ready" else []
        known = np.array([v for v in known if isinstance(v, (int, float))])
        if not known.size:
            assert item["returns"] is None and table[item["id"]]["return_mean"] is table[item["id"]]["return_max"] is None
            continue
        figures = [table[item["id"]][f"return_{name}"] for name in ("mean", "min", "max", "count")]
        assert np.allclose(figures, [known.mean(), known.min(), known.max(), known.size]) and item["returns"]["mean"] == figures[0]
        bins = 12 if known.min() < known.max() else 1
        counts, edges = np.histogram(known, bins=bins, range=(known.min(), known.max() if bins > 1 else known.min() + 1))
        assert item["returns"]["count"] == known.size and item["returns"]["of"] == item["episodes"] and item["returns"]["counts"] == counts.tolist()
        assert bins == 1 or np.allclose(item["returns"]["edges"], edges)
    assert sum(item["returns"] is not None for item in items) > 5
    assert [json.loads(line) for line in hub.get("/api/v1/datasets?format=jsonl&include=returns").body.splitlines()] == items
    assert "returns" not in hub.datasets("")[0]
    best = pandas.read_csv(f"{hub.base}/api/v1/datasets?columns=id,return_mean&format=csv").sort_values("return_mean", ascending=False)
    assert best["return_mean"].notna().sum() > 5 and table[best["id"].iloc[0]]["return_mean"] == best["return_mean"].iloc[0]
    assert hub.get("/api/v1/datasets?include=spark").status == 400


def test_summary_of_what_is_not_measured(tmp_path):
    """No return until the rewards are measured: the document says so, and is not kept for ever."""
    write(tmp_path / "made.hdf5", episodes=2)
    with h5py.File(tmp_path / "made.hdf5", "r+") as f:
        for demo in f["data"].values():
            del demo["rewards"]
    with serving(str(tmp_path), args=["--measure", "on-demand"]) as hub:
        pinned = f"/api/v1/datasets/made?revision={hub.dataset('made')['revision']}"
        first = hub.get(pinned)
        assert first.json()["statistics"]["coverage"] == {"episodes": 0, "of": 2, "complete": False}
        assert "return" not in first.json()["statistics"] and "immutable" not in first.headers["Cache-Control"]
        measured(hub, "made")
        again = hub.get(pinned)
        assert again.json()["statistics"]["coverage"] == {"episodes": 2, "of": 2, "complete": True}
        assert "immutable" in again.headers["Cache-Control"] and again.headers["ETag"] != first.headers["ETag"]


def test_tallies(tmp_path):
    """How many episodes each outcome, task and split has, against the list of them."""
    with h5py.File(tmp_path / "made.hdf5", "w") as f:
        for i in range(130):
            demo = f.create_group(f"data/demo_{i}")
            demo.attrs["task"] = f"task {i % 120}"
            demo["actions"] = np.zeros((3, 1))
        for name, episodes in ("train", range(100)), ("valid", range(90, 120)):
            f[f"mask/{name}"] = np.array([f"demo_{i}".encode() for i in episodes])
    roots = [f"{name}={FIXTURES}/{of}" for name, of in {"minari": "minari/root-0.5.3", "lerobot": "lerobot"}.items()]
    with serving(f"own={tmp_path}", *roots) as hub:
        for dataset in hub.datasets("&status=ready"):
            for where in {}, {"where": "steps > 3 or number < 60"}:
                got = ask(hub, dataset["id"], "~statistics", **where).json()
                rows = ask(hub, dataset["id"], "episodes", limit=1000, **where).json()["items"]
                for name, of in got["outcome"].items():
                    truths = [e.get(name) for e in rows] if name != "neither" else [
                        False if True in (ends := (e.get("terminated"), e.get("truncated"))) else None if None in ends else True for e in rows]
                    assert of == {"true": truths.count(True), "false": truths.count(False), "unknown": truths.count(None)}
                tasks = [[e["task"], *e["attributes"].get("tasks", [])] if "task" in e else [] for e in rows]
                for name, sets in ("splits", [e["splits"] for e in rows]), ("tasks", tasks):
                    counts = Counter(value for values in sets for value in set(values))
                    order = sorted(counts.items(), key=lambda c: (-c[1], c[0]))
                    assert got[name] == {"values": [{"value": v, "count": n} for v, n in order[:100]], "none": sets.count([]), "left_out": {
                        "values": max(len(order) - 100, 0), "count": sum(n for _, n in order[100:])}}, (dataset["id"], name)
        assert got


def test_two_numbers_together(hub):
    for names, chosen in (("return", "steps"), {}), (("steps", "jerk"), {}), (("jerk", "return"), {"where": "steps > 9"}):
        found(hub, made(hub))
        table = columns(hub, made(hub), names, **chosen)
        x, y = (np.array(table[n], float) for n in names)
        both = np.isfinite(x) & np.isfinite(y)
        want, x_edges, y_edges = np.histogram2d(x[both], y[both], bins=48)
        answer = ask(hub, made(hub), "~statistics", by=",".join(names), **chosen).json()
        grid = answer["grid"]
        assert (grid["x"], grid["y"]) == names and answer["fields"] == {}
        np.testing.assert_allclose(grid["x_edges"], x_edges, rtol=1e-12)
        np.testing.assert_allclose(grid["y_edges"], y_edges, rtol=1e-12, atol=1e-12)
        assert np.array(grid["counts"]).sum() == both.sum() and np.abs(np.array(grid["counts"]) - want).sum() <= 2  # on an edge
    assert len(ask(hub, made(hub), "~statistics", by="return,steps", bins=5).json()["grid"]["counts"]) == 5
    assert "grid" not in ask(hub, made(hub), "~statistics", by="return,steps", where="steps > 99999").json()


def test_some_dimensions(hub):
    whole = measured(hub, made(hub), field=["obs/half", "actions"])["fields"]
    some = measured(hub, made(hub), field=["obs/half", "actions"], dims=["3-5+0", ""])["fields"]
    assert some["actions"].pop("dims") == [0, 1, 2] and some["actions"] == whole["actions"]
    assert some["obs/half"]["dims"] == [3, 4, 5, 0]
    for name in "min", "max", "mean", "std", "histogram":
        assert some["obs/half"][name] == [whole["obs/half"][name][d] for d in (3, 4, 5, 0)], name


def test_wrong_questions(hub):
    for parameter, query in (("by", {"by": "return"}), ("by", {"by": "return,actions"}), ("by", {"by": ",steps"}), ("dims", {"dims": "0"}),
                             ("dims", {"field": "actions", "dims": "3"}), ("dims", {"field": "actions", "dims": "1-0"}), ("dims", {"field": "steps", "dims": "0"})):
        assert ask(hub, made(hub), "~statistics", status=400, **query).json()["parameter"] == parameter, query
    for query in {"bins": 1}, {"bins": 513}, {"bins": "x"}, {"field": "actions", "where": "steps > 3"}, {"fields": "actions"}:
        ask(hub, made(hub), "~statistics", status=400, **query)
    ask(hub, made(hub), "~statistics", status=404, field="actinos")
    some = ask(hub, made(hub), "~statistics", where="steps > 1000", field="steps").json()
    assert some["episodes"] == some["fields"]["steps"]["count"] == 7


def test_response_cache_are_of_the_present(tmp_path):
    """The same question has the same answer until the dataset is another; other questions have their own."""
    (tmp_path / "root").mkdir()
    path = write(tmp_path / "root/made.hdf5", episodes=9)
    with serving(str(tmp_path / "root")) as hub:
        measured(hub, "made")
        found(hub, "made")
        asked = [("~statistics", {}), ("~statistics", {"bins": 7}), ("~statistics", {"where": "steps > 20"}), ("~findings", {}), ("~findings", {"k": 3})]
        before = [[ask(hub, "made", what, **query) for what, query in asked] for _ in range(2)]
        assert [a.body for a in before[0]] == [a.body for a in before[1]] and len({a.body for a in before[0]}) == len(asked)
        assert [a.headers["ETag"] for a in before[0]] == [a.headers["ETag"] for a in before[1]]
        write(tmp_path / "new.hdf5", seed=1, scale=3.0, episodes=8)
        shutil.move(tmp_path / "new.hdf5", path)
        until(lambda: hub.process.send_signal(signal.SIGHUP) or hub.dataset("made")["revision"] != before[0][0].json()["revision"])
        measured(hub, "made")
        found(hub, "made")
        after = [ask(hub, "made", what, **query) for what, query in asked]
        assert not {a.body for a in before[0]} & {a.body for a in after}
        assert after[0].json()["episodes"] == 8


def test_measured_again_when_a_range_changes(tmp_path):
    """A file that is replaced, a hub that is killed meanwhile, and one that measures on demand only."""
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir()
    state.mkdir()
    path = write(root / "made.hdf5", episodes=12)
    hub = Hub([str(root)], state=str(state), args=["--measure", "on-demand"]).wait_indexed()
    before = ask(hub, "made", "~findings").json()
    assert before["measure"] == "on-demand"
    found(hub, "made")
    write(tmp_path / "new.hdf5", seed=1, scale=3.0, episodes=12)
    shutil.move(tmp_path / "new.hdf5", path)
    until(lambda: hub.process.send_signal(signal.SIGHUP) or hub.dataset("made")["revision"] != before["revision"])
    ask(hub, "made", "~findings")
    hub.process.kill()
    hub.process.wait()
    hub.stop(expect=-signal.SIGKILL)
    with serving(str(root), state=str(state)) as hub:
        found(hub, "made")
        got = columns(hub, "made", ["jerk", "still"])
        for i, want in enumerate(reference(path)):
            assert got["jerk"][i] == (pytest.approx(want["jerk"], rel=1e-12) if "jerk" in want else None)


def write_damaged(path):
    """Four episodes of 500 rows; of the actions, whose chunks have 1,000 rows, the second chunk is not what was written."""
    actions = np.random.default_rng(1).normal(size=(2000, 3)).astype("f4")
    with h5py.File(path, "w") as f:
        f["observations"], f["rewards"], f["terminals"] = np.zeros((2000, 2), "f4"), np.ones(2000, "f4"), np.zeros(2000, bool)
        f["timeouts"] = np.arange(2000) % 500 == 499
        chunk = f.create_dataset("actions", data=actions, chunks=(1000, 3), compression="gzip").id.get_chunk_info(1)
    data = bytearray(path.read_bytes())
    data[chunk.byte_offset + chunk.size // 2 : chunk.byte_offset + chunk.size // 2 + 200] = bytes(200)
    path.write_bytes(data)
    return actions[:1000]


def test_rows_that_cannot_be_read_are_a_problem(tmp_path):
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir()
    state.mkdir()
    sound = write_damaged(root / "half.hdf5")
    write(root / "whole.hdf5", episodes=2)
    lost = {"episodes": 2, "rows": 1000}
    with serving(str(root), state=str(state), args=["--measure", "idle"]) as hub:
        whole = until(lambda: a if (a := ask(hub, "half", "~statistics").json())["coverage"]["parts"] and "actions" in a["fields"] else None)
        assert whole["coverage"] == {"parts": 1, "of_parts": 1, "episodes": 2, "of": 4, "rows": 1000, "of_rows": 2000, "unreadable": lost, "complete": False}
        assert whole["fields"]["actions"]["count"] == 1000 and "unreadable" in whole["fields"]["actions"] and whole["fields"]["rewards"]["count"] == 2000
        assert whole["fields"]["actions"]["mean"] == pytest.approx(sound.mean(0, dtype="f8").tolist())
        answer = ask(hub, "half", "~statistics", field="rewards")
        assert "Retry-After" not in answer.headers or not answer.json()["fields"]["rewards"]["histogram_coverage"]["complete"]
        document = hub.dataset("half")
        [problem] = document["problems"]
        assert problem["code"] == "rows-unreadable" and problem["path"] == "actions" and problem["costs"] == "episodes"
        assert problem["detail"].startswith("rows of 2 episodes (1000 steps) cannot be read: ")
        assert document["costly_problems"] == 1 and document["statistics"]["coverage"] == {"episodes": 4, "of": 4, "complete": True}  # of returns
        assert [(p["dataset"], p["code"]) for p in hub.get("/api/v1/problems").json()["items"] if p["dataset"] == "half"] == [("half", "rows-unreadable")]
        assert [d["id"] for d in hub.datasets("&problems=true")] == ["half"]
        assert b"rows of 2 episodes (1000 steps) cannot be read" in hub.get("/d/half", {"Accept": "text/html"}).body
        assert b"Measured: 2 of 4 episodes, rows of 2 cannot be read." in hub.get("/d/half/~statistics", {"Accept": "text/html"}).body
        until(lambda: ask(hub, "half", "~findings").json()["coverage"]["parts"] and ask(hub, "whole", "~findings").json()["coverage"]["complete"])
        until(lambda: "rows-unreadable" in hub.text_log())  # it is written once it is kept
        assert hub.text_log().count("rows-unreadable") == 1, hub.log_tail()
        assert "half" in hub.text_log().split("rows-unreadable")[1].splitlines()[0]
        told = Cli(tmp_path, hub.base).run("stats", "half", expect=0)
        assert "rows of 2 episodes cannot be read: these numbers leave them out" in told.err, told
    with serving(str(root), state=str(state)) as hub:  # it is known, and not told again
        hub.wait_indexed()
        assert hub.dataset("half")["costly_problems"] == 1 and len(hub.dataset("half")["problems"]) == 1
        with h5py.File(root / "half.hdf5", "w") as f:
            f["observations"], f["actions"], f["rewards"] = np.zeros((5, 2)), np.zeros((5, 3)), np.zeros(5)
            f["terminals"], f["timeouts"] = np.zeros(5, bool), np.arange(5) == 4
        until(lambda: hub.process.send_signal(signal.SIGHUP) or hub.dataset("half")["steps"] == 5)
        until(lambda: (a := ask(hub, "half", "~statistics").json())["coverage"]["complete"] and "actions" in a["fields"])
        assert hub.dataset("half")["problems"] == [] and hub.text_log().count("rows-unreadable") <= 1


def test_off(tmp_path):
    write(tmp_path / "made.hdf5", episodes=2)
    with serving(str(tmp_path), args=["--measure", "off"]) as hub:
        answer = ask(hub, "made", "~statistics", field="actions")
        assert answer.json()["measure"] == "off" and not answer.json()["coverage"]["complete"]
        assert "Retry-After" not in answer.headers and answer.json()["fields"] == {}
        answer = ask(hub, "made", "episodes", columns="number,jerk", partial=1)
        assert answer.headers["X-Measured"] == "0/1" and answer.headers["Cache-Control"] == "no-store"
        assert answer.json()["columns"]["jerk"] == [None, None]
        told = hub.dataset("made")["statistics"]
        assert told["coverage"] == {"episodes": 2, "of": 2, "complete": True} and told["return"]["count"] == 2
        answer = ask(hub, "made", "rows", where="return < 0")  # which inspection has summed up
        assert "X-Measured" not in answer.headers and answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("what,query", [("rows", {}), ("sample", {"seed": 1}), ("sample", {"seed": 1, "partition": "1", "partition_seed": 3})])
def test_what_partial_measures_choose_is_not_kept(tmp_path, what, query):
    write(tmp_path / "made.hdf5", episodes=3)
    with serving(str(tmp_path), args=["--measure", "on-demand"]) as hub:
        hub.wait_indexed()
        query = {"fields": "actions", "where": "jerk is null or jerk > -1", "partial": 1, **query}
        first = ask(hub, "made", what, **query)
        assert first.headers["X-Measured"] == "0/1" and first.headers["Cache-Control"] == "no-store" and first.headers["Retry-After"]
        until(lambda: (answer := ask(hub, "made", what, **query)).headers["X-Measured"] == "1/1" and answer)
        again = ask(hub, "made", what, **query)
        assert again.headers["Cache-Control"] == "no-cache" and again.headers["ETag"] != first.headers["ETag"]
        path = f"/api/v1/datasets/made/{what}?" + urlencode(query)
        assert hub.get(path, headers={"If-None-Match": first.headers["ETag"]}).status == 200
        assert hub.get(path, headers={"If-None-Match": again.headers["ETag"]}).status == 304
        assert "X-Measured" not in ask(hub, "made", what, fields="actions", seed=1).headers if what == "sample" else True


def flat(bound, shape):
    """Bounds of a space as its document has them: one number where they are all the same, texts where they are infinite."""
    return [b if np.isfinite(b) else None for b in np.broadcast_to(np.array(bound, float), shape).ravel().tolist()]


def test_fields_have_names_and_bounds(hub):
    arm = {f["path"]: f for f in hub.dataset("lerobot/arm-v30")["fields"]}
    names = hub.dataset("lerobot/arm-v30")["dimensions"]
    one_each = {path: d["names"] for path, d in names.items() if arm[path]["shape"] == [len(d["names"])]}  # not of rows and columns
    assert one_each and {path: f["names"] for path, f in arm.items() if "names" in f} == one_each
    seen = 0
    for dataset in hub.datasets("&status=ready"):
        document = hub.dataset(dataset["id"])
        for field in document["fields"]:
            root, _, rest = field["path"].partition("/")
            space = document.get({"observation": "observation_space", "action": "action_space"}.get(field["role"]))
            for key in rest.split("/") if rest else []:
                space = space and space.get("subspaces") and (space["subspaces"][int(key[7:])] if isinstance(space["subspaces"], list) else space["subspaces"].get(key))
            if field["type"] == "image" and "picture" in field:  # one number each, whatever its size
                assert "low" not in field or not isinstance(field["low"], list), field["path"]
                continue
            size = np.prod(field.get("shape", [0]), dtype=int) if None not in field.get("shape", [0]) else 0
            if not space or space.get("type") != "Box" or not 0 < size <= 512 or isinstance(space["low"], dict):
                assert "low" not in field or (space and isinstance(space["low"], dict))
                continue
            seen += 1
            assert (field["low"], field["high"]) == (flat(space["low"], field["shape"]), flat(space["high"], field["shape"])), field["path"]
    assert seen > 10


def test_dataset_has_its_cameras(hub):
    seen = 0
    for dataset in hub.datasets("&status=ready"):
        document = hub.dataset(dataset["id"])
        number = hub.episodes(dataset["id"])[0]["number"] if dataset["episodes"] else None
        of_first = ask(hub, dataset["id"], f"episodes/{number}/~media").json()["items"] if number is not None else []
        assert document.get("media", []) == [{k: m[k] for k in ("camera", "codecs", "width", "height") if k in m} for m in of_first if "file" in m]
        seen += len(of_first)
        assert not of_first or document["fps"] > 0
    assert seen


@pytest.mark.parametrize("query", [{}, {"sort": "-steps"}, {"where": "steps > 5", "sort": "return"}, {"where": "number != 3"}, {"where": "jerk > 0", "sort": "-jerk"}])
def test_neighbours(hub, query):
    found(hub, made(hub))
    order = [e["number"] for e in ask(hub, made(hub), "episodes", limit=1000, **query).json()["items"]]
    assert len(order) > 3
    for number in range(EPISODES):
        answer = ask(hub, made(hub), f"episodes/{number}", **query)
        at = order.index(number) if number in order else None
        assert answer.json()["neighbours"] == {"previous": order[at - 1] if at else None,
                                               "next": order[at + 1] if at is not None and at + 1 < len(order) else None}
        assert ("X-Measured" in answer.headers) == ("jerk" in str(query))


@pytest.mark.parametrize("query", [{"limit": 7}, {"sort": "-steps", "limit": 7}, {"format": "jsonl"}, {"at": 12, "limit": 5}, {"random": 5, "seed": 3}])
def test_items_with_their_measures(hub, query):
    found(hub, made(hub))
    plain, with_all = (ask(hub, made(hub), "episodes", **query, **more) for more in ({}, {"include": "metrics,spark"}))
    assert with_all.headers["X-Measured"] == "1/1" and "X-Measured" not in plain.headers
    if query.get("format"):
        plain, with_all = ([json.loads(line) for line in answer.body.splitlines()] for answer in (plain, with_all))
    else:
        plain, with_all = plain.json()["items"], with_all.json()["items"]
    assert plain
    pinned = ask(hub, made(hub), "episodes/0", revision=hub.dataset(made(hub))["revision"])
    assert "immutable" in pinned.headers["Cache-Control"]
    for bare, item in zip(plain, with_all, strict=True):
        one = ask(hub, made(hub), f"episodes/{bare['number']}").json()["measured"]
        assert item == {**bare, "metrics": one["metrics"], "spark": one["spark"]} and len(base64.b64decode(item["spark"])) == 32


def test_items_that_are_not_measured(tmp_path):
    write(tmp_path / "made.hdf5", episodes=2)
    with serving(str(tmp_path), args=["--measure", "off"]) as hub:
        answer = ask(hub, "made", "episodes", include="spark,metrics")
        assert [(e["metrics"], e["spark"]) for e in answer.json()["items"]] == [(None, None)] * 2
        assert answer.headers["X-Measured"] == "0/1" and answer.headers["Cache-Control"] == "no-store"
        assert "spark" not in ask(hub, "made", "episodes", include="metrics").json()["items"][0]
        pinned = ask(hub, "made", "episodes/0", revision=hub.dataset("made")["revision"])
        assert pinned.headers["Cache-Control"] == "no-cache"  # its measures may come yet
        assert ask(hub, "made", "episodes", 400, include="metrics,colour").json()["parameter"] == "include"


def test_a_return_that_is_no_number_is_said(tmp_path):
    """In lists, on pages and by the client, with the same word as elsewhere; NaN equals nothing and sorts with nothing."""
    path = write(tmp_path / "made.hdf5", episodes=5)
    with h5py.File(path, "r+") as f:
        for i, value in enumerate((np.nan, np.inf, -np.inf)):
            f[f"data/demo_{i}/rewards"][0] = value
        del f["data/demo_4/rewards"]
    with serving(str(tmp_path)) as hub:
        words = {0: "NaN", 1: "Infinity", 2: "-Infinity"}
        for items in (ask(hub, "made", "episodes").json()["items"], [json.loads(l) for l in ask(hub, "made", "episodes", format="jsonl").body.splitlines()],
                      [ask(hub, "made", f"episodes/{i}").json() for i in range(5)]):
            assert {e["number"]: e["return"] for e in items if isinstance(e.get("return"), str)} == words
            assert [e["number"] for e in items if "return" not in e] == [4] and items[0]["return_origin"] == "computed"
        chosen = lambda where, **more: [e["number"] for e in ask(hub, "made", "episodes", where=where, wait=30, **more).json()["items"]]
        assert (chosen("return > 0"), chosen("return < 0"), chosen("return is null")) == ([1, 3], [2], [0, 4])
        assert chosen("steps > 0", sort="-return") == [1, 3, 2, 4, 0]
        page = hub.get("/d/made/episodes").body.decode()
        assert all(f'data-unit="return">{word}</td>' in page for word in ("NaN", "\u221e", "-\u221e"))
        assert "NaN" in hub.get("/d/made/episodes/0").body.decode()
        listed = [line.split() for line in Cli(tmp_path, hub.base).run("episodes", "made", expect=0).out.splitlines()]
        assert [cells[2] for cells in listed if cells[:1] in (["0"], ["1"], ["2"])] == ["NaN", "inf", "-inf"]
