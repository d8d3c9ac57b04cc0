"""`where` and `sort` against the same questions asked of the episodes' documents in Python."""
import base64
import csv
import io
import json
import os
import random
import shutil
import struct
import urllib.request
import zipfile
from urllib.parse import quote, unquote, urlencode

import h5py
import numpy as np
import pandas
import polars
import pyarrow.ipc
import pytest

from hub import FIXTURES, serving, until

EPISODES = 300


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("where")
    rng = random.Random(5)
    with h5py.File(root / "lift.hdf5", "w") as f:
        data = f.create_group("data")
        for i in range(EPISODES):
            steps = rng.randint(1, 9)
            demo = data.create_group(f"demo_{i * 2}")
            demo.attrs["num_samples"] = steps
            demo["actions"] = np.zeros((steps, 2))
            demo["rewards"] = rng.choice([np.arange(steps) / 3, np.zeros(steps)])
            demo["dones"] = np.arange(steps) == steps - 1
            for name, values in {"level": ["hard", "it's easy", ""], "score": [0.5, 2, -1e300],
                                 "count": [2**53 + 1, 2**53, -2**63], "mixed": ["1", 1, 1.5], 'a"b': [1, 2],
                                 "noise": [np.nan, np.inf, 2.5], "word": ["NaN", "Infinity"], "apart": [np.uint64(2**63), -1]}.items():
                if rng.random() < 0.7:
                    demo.attrs[name] = rng.choice(values)
        for split in "train", "val":
            names = [f"demo_{i * 2}".encode() for i in range(EPISODES) if rng.random() < 0.5]
            f[f"mask/{split}"] = np.array(names, "S12")
    with serving(str(root), args=["--measure", "off"]) as hub:  # what the files state alone
        hub.wait_indexed()
        yield hub


@pytest.fixture(scope="module")
def episodes(hub):
    return ask(hub, "limit=1000")["items"]


def ask(hub, query):
    answer = hub.get("/api/v1/datasets/lift/episodes?" + query)
    assert answer.status == 200, answer.body
    return answer.json()


def of(episode, name):
    """The values that an episode has under a name."""
    if name == "split":
        return episode["splits"]
    value = episode["attributes"].get(name[1:-1].replace('""', '"')) if name[0] == '"' else episode.get(name)
    if name == '"count"' and isinstance(value, str):
        value = int(value)  # a text for want of doubles
    return [] if value is None or isinstance(value, (list, dict)) else [value]


def compare(has, op, value):
    """True, False or None, which is unknown."""
    if isinstance(has, str) != isinstance(value, str):
        return {"=": False, "!=": True}.get(op)
    return {"=": has == value, "!=": has != value, "<": has < value, "<=": has <= value, ">": has > value,
            ">=": has >= value}[op]


def spell(value):
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


VALUES = {"number": [0, 7, 300, 1e2], "name": ["demo_8", "demo_590"], "steps": [1, 5, 4.5], "return": [0, 1.0, 2.5],
          "split": ["train", "val"], "success": [True, False], '"level"': ["hard", "it's easy", "", 3],
          '"score"': [0.5, 2, 2.0, -1e300, "x"], '"count"': [2**53, 2**53 + 1, -2**63, float(2**53), 2**64 - 1],
          '"mixed"': ["1", 1, 1.5, True], '"a""b"': [1]}


def make_test(rng):
    name = rng.choice(list(VALUES))
    kind = rng.random()
    if kind < 0.1:
        wants = rng.random() < 0.5
        return f"{name} is {'' if wants else 'not '}null", lambda e: bool(of(e, name)) != wants
    values = [rng.choice(VALUES[name]) for _ in range(rng.randint(1, 3) if kind < 0.3 else 1)]
    op = "in" if kind < 0.3 else rng.choice(["=", "!=", "<", "<=", ">", ">="])
    if name == "split" and op == "!=":
        text = f"split != {spell(values[0])}"
        return text, lambda e: values[0] not in of(e, "split")

    def holds(e):
        has = of(e, name)
        if not has and name != "split":
            return None
        each = [compare(h, "=" if op == "in" else op, v) for h in has for v in values]
        return True if True in each else None if None in each else False
    text = ", ".join(map(spell, values))
    return f"{name} {op} " + (f"({text})" if op == "in" else text), holds


def invert(holds):
    return lambda e: None if holds(e) is None else not holds(e)


def join(word, left, right):
    def both(e):
        pair = left(e), right(e)
        decides = word == "or"
        return decides if decides in pair else None if None in pair else not decides
    return both


def make_where(rng, depth=0):
    text, holds = make_test(rng)
    if depth < 3 and rng.random() < 0.6:
        word = rng.choice(["and", "or"])
        more, other = make_where(rng, depth + 1)
        text, holds = f"({text} {word} ({more}))", join(word, holds, other)
    if rng.random() < 0.2:
        text, holds = f"not {text}", invert(holds)
    return text, holds


@pytest.mark.parametrize("seed", range(150))
def test_chosen_as_in_python(hub, episodes, seed):
    text, holds = make_where(random.Random(seed))
    answer = ask(hub, urlencode(dict(where=text, limit=1000)))
    wanted = [e["number"] for e in episodes if holds(e)]
    assert [e["number"] for e in answer["items"]] == wanted, text
    assert answer["total"] == len(wanted)


@pytest.mark.parametrize("sort", ["return", "-return", '"score"', '-"count"', '"mixed"', "name", "-split", '-"level"'])
def test_sorted_by_any_name_and_paged(hub, episodes, sort):
    name, down = sort.lstrip("-"), sort[0] == "-"
    rows = [e for e in episodes if e["steps"] > 3]
    key = {e["number"]: of(e, name)[:1] for e in rows}
    with_key = sorted((e["number"] for e in rows if key[e["number"]]), reverse=down,
                      key=lambda n: (isinstance(key[n][0], str), *key[n], n))
    without = sorted((e["number"] for e in rows if not key[e["number"]]), reverse=down)
    page = ask(hub, urlencode(dict(where="steps > 3", sort=sort, limit=17)))
    got = [e["number"] for e in page["items"]]
    while page["next"]:
        page = ask(hub, page["next"].split("?")[1])
        got += [e["number"] for e in page["items"]]
    assert got == with_key + without


def test_a_cursor_belongs_to_its_question(hub):
    page = ask(hub, urlencode(dict(where="steps > 3", limit=5)))
    cursor = page["next"].split("cursor=")[1].split("&")[0]
    answer = hub.get("/api/v1/datasets/lift/episodes?where=steps+%3E+4&cursor=" + cursor)
    assert answer.status == 400 and answer.json()["type"].endswith("bad-cursor")


@pytest.mark.parametrize("sort", ["return", "-steps", "name"])
def test_cursors_of_earlier_hubs_go_on_where_they_stood(hub, sort):
    """They had the value of the sort key, where now the episode alone is the place; both have its number."""
    page = ask(hub, urlencode(dict(where="steps > 3", sort=sort, limit=17)))
    last = page["items"][-1]
    key = {"return": lambda e: "r" + struct.pack(">d", e["return"]).hex() if "return" in e else "",
           "-steps": lambda e: f"i{e['steps']}", "name": lambda e: "t" + e["name"]}[sort](last)
    address, _, cursor = page["next"].split("?")[1].rpartition("cursor=")
    scope, _, number = base64.b64decode(unquote(cursor) + "==").decode().split("\n")
    assert int(number) == last["number"]
    old = base64.b64encode(f"{scope}\n{int(not key)}{key}\n{number}".encode()).decode()
    then, now = ask(hub, f"{address}cursor={quote(old, safe='')}"), ask(hub, page["next"].split("?")[1])
    assert then["items"] == now["items"] and then["next"] == now["next"] and then["items"][0]["number"] != number
    back = ask(hub, now["prev"].split("?")[1])
    assert back["items"] == page["items"] and back["prev"] is None


# ---- tables ----

COLUMNS = ["number", "steps", "return", "split", "success", "terminated", "name", '"level"', '"score"', '"count"', 'mean("rewards")']


def expected_row(episode):
    row = {}
    for column in COLUMNS:
        if column == "split":
            row[column] = episode["splits"]
        elif column[0] == '"':
            row[column[1:-1]] = episode["attributes"].get(column[1:-1])
        else:
            row[column] = episode.get(column)
    row["count"] = str(row["count"]) if isinstance(row["count"], int) and abs(row["count"]) > 2**53 - 1 else row["count"]
    return row


@pytest.mark.parametrize("chosen", [{}, {"where": "steps > 4", "sort": "-return"}, {"split": "val", "limit": 7}, {"where": "steps > 99"}])
def test_a_table_says_what_the_list_says(hub, episodes, chosen):
    columns, chosen = ",".join(COLUMNS), {"partial": 1, **chosen}
    numbers = [e["number"] for e in ask(hub, urlencode({"limit": 1000, **chosen}))["items"]]
    by_number = {e["number"]: expected_row(e) for e in episodes}
    rows = [by_number[n] for n in numbers]

    table = ask(hub, urlencode({"columns": columns, **chosen}))
    assert table["total"] == len(rows)
    assert table["columns"] == {k: [r[k] for r in rows] for k in by_number[0]}
    lines = hub.get("/api/v1/datasets/lift/episodes?" + urlencode({"columns": columns, "format": "jsonl", **chosen}))
    assert lines.headers["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line) for line in lines.body.splitlines()] == rows
    text = hub.get("/api/v1/datasets/lift/episodes?" + urlencode({"columns": columns, "format": "csv", **chosen}))
    cells = list(csv.reader(io.StringIO(text.body.decode(), newline="")))
    assert cells[0] == list(by_number[0])
    assert len(cells) == 1 + len(rows)
    for line, row in zip(cells[1:], rows):
        for cell, value in zip(line, row.values()):
            if value is None:
                assert cell == ""
            elif isinstance(value, bool):
                assert cell == str(value).lower()
            elif isinstance(value, list):
                assert cell == ";".join(value)
            else:
                assert cell == str(value) or float(cell) == value


def column_of(values):
    """What pandas makes of a column of Python values without guessing."""
    return [";".join(v) if isinstance(v, list) else v for v in values]


@pytest.mark.parametrize("chosen", [{}, {"where": "steps > 4", "sort": "-return"}, {"where": "steps > 99"}])
def test_a_table_is_read_by_others(hub, episodes, chosen):
    """json is the oracle, which the test above holds against the list."""
    chosen = {"partial": 1, **chosen}  # no value of this hub's is measured
    columns = [c for c in COLUMNS if c != '"count"'] + ["seed", "jerk", "nonfinite", "task"]
    want = {k: column_of(v) for k, v in ask(hub, urlencode({"columns": ",".join(columns), **chosen}))["columns"].items()}
    url = f"{hub.base}/api/v1/datasets/lift/episodes?" + urlencode({"columns": ",".join(columns), **chosen}) + "&format="
    with urllib.request.urlopen(url + "arrow") as answer:
        assert answer.headers["Content-Type"] == "application/vnd.apache.arrow.stream" and int(answer.headers["X-Total-Count"]) == len(want["number"])
        table = pyarrow.ipc.open_stream(answer).read_all()
    assert {n: c.to_pylist() for n, c in zip(table.column_names, table.columns)} == want
    types = dict(zip(table.column_names, map(str, table.schema.types)))
    assert (types["number"], types["return"], types["success"], types["name"], types["jerk"]) == ("int64", "double", "bool", "string", "double")
    assert polars.read_ipc_stream(io.BytesIO(hub.get(url[len(hub.base):] + "arrow").body)).to_dict(as_series=False) == want
    frame = pandas.read_csv(url + "csv")
    assert list(frame.columns) == list(want) and len(frame) == len(want["number"])
    assert polars.read_csv(url + "csv", infer_schema_length=None)["number"].to_list() == want["number"] or not want["number"]
    lines = pandas.read_json(url + "jsonl", lines=True)
    for name in "number", "steps", "return", 'mean("rewards")':
        exact = [float("nan") if v is None else v for v in want[name]]
        np.testing.assert_array_equal(frame[name].to_numpy(float), np.array(exact, float))
        np.testing.assert_allclose(lines[name].to_numpy(float) if len(lines) else [], np.array(exact, float), rtol=1e-9)
    check_npz(hub.get(url[len(hub.base):] + "npz"), want)


def check_npz(answer, want):
    assert zipfile.ZipFile(io.BytesIO(answer.body)).testzip() is None
    nulls = 0
    with np.load(io.BytesIO(answer.body), allow_pickle=False) as z:
        assert z.files == list(want)
        for name in z.files:
            lacks, got = [v is None for v in want[name]], z[name]
            nulls += sum(lacks)
            if got.dtype.kind == "U":
                assert got.tolist() == [v or "" for v in want[name]]
            else:
                assert got.dtype.kind == ("f" if any(lacks) or got.dtype.kind == "f" else got.dtype.kind)
                np.testing.assert_array_equal(got, np.array([np.nan if v is None else v for v in want[name]], got.dtype))
    assert int(answer.headers["X-Null-Count"] or 0) == nulls


def arrays(hub, columns):
    path = "/api/v1/datasets/lift/episodes?" + urlencode({"columns": columns}) + "&format="
    return pyarrow.ipc.open_stream(hub.get(path + "arrow").body).read_all(), hub.get(path + "npz")


def test_integers_that_json_has_as_texts(hub):
    """They are numbers where a type has room for them, and exact in any case."""
    table, npz = arrays(hub, '"count"')
    want = ask(hub, urlencode({"columns": '"count"'}))["columns"]["count"]
    assert str(table.schema.field("count").type) == "int64"
    assert table["count"].to_pylist() == [v if v is None else int(v) for v in want]
    assert npz.status == 406 and "format=arrow" in npz.json()["detail"]
    table, npz = arrays(hub, '"apart"')  # no type has both 2^63 and -1
    want = [v if v is None else str(v) for v in ask(hub, urlencode({"columns": '"apart"'}))["columns"]["apart"]]
    assert table["apart"].to_pylist() == want and str(2**63) in want and "-1" in want
    check_npz(npz, {"apart": want})


def test_numbers_that_are_none(hub):
    """An attribute that is NaN in some episodes is a column of numbers; one that only says so is text."""
    want = ask(hub, urlencode({"columns": '"noise","word"'}))["columns"]
    table, npz = arrays(hub, '"noise","word"')
    assert [str(f.type) for f in table.schema] == ["double", "string"] and table["word"].to_pylist() == want["word"]
    real = [None if v is None else float(v) for v in want["noise"]]
    assert {"NaN", "Infinity", 2.5} <= set(want["noise"])
    assert str(table["noise"].to_pylist()) == str(real)
    with np.load(io.BytesIO(npz.body), allow_pickle=False) as z:
        np.testing.assert_array_equal(z["noise"], np.array([np.nan if v is None else v for v in real]))


def test_nulls_leave_columns_of_csv_their_type(hub):
    """Readers that guess take a quoted cell for text."""
    url = f"{hub.base}/api/v1/datasets/lift/episodes?" + urlencode({"columns": 'number,"count",success,"a""b","level"', "format": "csv"})
    frame = polars.read_csv(url, infer_schema_length=None)
    assert list(map(str, frame.dtypes))[1:4] == ["Int64", "String", "Int64"] and 0 < frame["count"].null_count() < len(frame)
    body = hub.get(url[len(hub.base):]).body.decode()
    assert ',,,' in body and ',""\n' in body  # nothing, and an empty text
    alone = hub.get("/api/v1/datasets/lift/episodes?" + urlencode({"columns": '"count"', "format": "csv"})).body.decode()
    assert '\n""\n' in alone and len(alone.split("\n")) == len(frame) + 2  # no empty line, which readers pass over


def test_a_sum_that_is_no_finite_number_is_a_number_in_csv(tmp_path):
    folder = shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "door-human-v0")
    with h5py.File(folder / "data" / "main_data.hdf5", "r+") as f:
        for episode, reward in ("episode_0", 1.7e308), ("episode_1", -1.7e308):  # whose sums the files do not state
            del f[episode].attrs["rewards_sum"]
            f[episode]["rewards"][...] = reward
    with serving(str(tmp_path)) as hub:
        path = "/api/v1/datasets/door-human-v0/episodes?columns=number,return&format="
        until(lambda: None not in hub.get(path + "json").json()["columns"]["return"])
        want = pyarrow.ipc.open_stream(hub.get(path + "arrow").body).read_all()["return"].to_pylist()
        assert want[:2] == [np.inf, -np.inf]
        assert pandas.read_csv(hub.base + path + "csv")["return"].to_list() == pytest.approx(want)
        assert polars.read_csv(hub.base + path + "csv")["return"].to_list() == pytest.approx(want)


def test_parts_of_a_table(hub):
    """As readers of URLs ask for them."""
    path = "/api/v1/datasets/lift/episodes?columns=number,return&format=csv"
    whole = hub.get(path)
    part = hub.get(path, {"Range": "bytes=3-9", "If-Range": whole.headers["ETag"]})
    assert (part.status, part.body, part.headers["Content-Range"]) == (206, whole.body[3:10], f"bytes 3-9/{len(whole.body)}")
    assert int(hub.get(path, method="HEAD").headers["Content-Length"]) == len(whole.body)
    assert hub.get(path, {"Range": "bytes=999999-"}).status == 416
    assert hub.get(path.replace("csv", "json"), {"Range": "bytes=0-1"}).status == 200


def test_tables_have_validators(hub):
    path = "/api/v1/datasets/lift/episodes?columns=number,return&format="
    tags = {form: hub.get(path + form).headers["ETag"] for form in ("json", "csv", "arrow", "arrow-file", "npz")}
    assert len(set(tags.values())) == 5 and hub.get(path + "npz", {"If-None-Match": tags["npz"]}).status == 304
    accepted = hub.get("/api/v1/datasets/lift/episodes?columns=number", {"Accept": "text/csv"})
    assert accepted.body.startswith(b"number\n") and accepted.headers["Vary"] == "Accept"
    assert hub.get(path + "arrow", method="HEAD").headers["Content-Type"] == "application/vnd.apache.arrow.stream"


def test_a_table_that_is_asked_for_wrongly(hub):
    for query, parameter in (("columns=", "columns"), ("columns=number,,steps", "columns"), ("columns=reward", "columns"),
                             ("columns=number&format=npy", "format"), ("columns=number&limit=0", "limit"),
                             ("columns=number&cursor=x", "cursor"), ("format=csv", "format"), ("columns=" + ",".join(["steps"] * 65), "columns"),
                             ("columns=number,steps,number", "columns"), ("columns=steps,%22steps%22", "columns")):
        answer = hub.get("/api/v1/datasets/lift/episodes?" + query)
        assert answer.status == 400 and answer.json()["parameter"] == parameter, query
    answer = hub.get("/api/v1/datasets?columns=id,steps,id&format=npz")
    assert answer.status == 400 and "two columns would be named 'id'" in answer.json()["detail"]


@pytest.mark.parametrize("query,words,nearest", [
    ({"where": 'max("nofield") > 1'}, ["no field 'nofield'", "actions", "rewards"], None),
    ({"where": 'steps > 1 or max("reward") > 1'}, ["no field 'reward'; did you mean 'rewards'?"], ["rewards"]),
    ({"sort": '-max("acton")'}, ["no field 'acton'; did you mean 'actions'?"], ["actions"]),
    ({"columns": 'number,"nonsense"'}, ["no episode has an attribute 'nonsense'", "level", "score", "count"], None),
    ({"columns": 'number,"lvel"'}, ["did you mean 'level'?"], ["level"]),
    ({"where": '"absent" is null'}, ["no episode has an attribute 'absent'"], None),
    ({"where": '"rewards" < -10'}, ["no episode has an attribute 'rewards'; for a field write min(\"rewards\")"], None),
    ({"where": '"return" > 1'}, ["written without quotes: return"], None),
    ({"where": "split = 'nosuch'"}, ["has no split 'nosuch'; it has", "train", "val"], None),
    ({"where": "split in ('train', 'vall')"}, ["did you mean 'val'?"], ["val"]),
    ({"where": "name = 'demo_9'"}, ["has no episode named 'demo_9'"], ["demo_0", "demo_2", "demo_4"]),
    ({"name": "demo_9"}, ["has no episode named 'demo_9'"], ["demo_0", "demo_2", "demo_4"]),
    ({"where": "task != 'lift'"}, ["has no task 'lift'; it has none"], None),
    ({"where": "retur > 3"}, ['at 1 ("retur > 3"): did you mean return? a name is one of'], None),
    ({"sort": "-setps"}, ["did you mean steps?"], None)])
def test_names_that_nothing_has(hub, query, words, nearest):
    (parameter, value), = query.items()
    for what, more in ("episodes", {}), ("episodes", {"format": "jsonl"}), ("rows", {"fields": "rewards"}), ("sample", {"seed": 1}):
        if parameter == "columns" and (what, more) != ("episodes", {}) or parameter == "sort" and what == "sample":
            continue
        problem = hub.get(f"/api/v1/datasets/lift/{what}?" + urlencode({**query, **more, "partial": 1}))
        told = problem.json()
        assert problem.status == 400 and (told["parameter"], told["value"]) == (parameter, value), told
        assert told["type"].split(":")[-1] == ("bad-where" if parameter == "where" else "bad-parameter")
        assert all(word in told["detail"] for word in words), told["detail"]
        assert nearest is None or told["nearest"] == nearest


def test_names_that_something_has(hub):
    """However few have it; and a text that none is equal to may be compared with."""
    for where in "name < 'demo_9'", "split > 'nosuch'", '"noise" is null', "\"mixed\" = 'nosuch'", "name in ('demo_8', 'demo_598')":
        ask(hub, urlencode({"where": where}))


def test_a_split_that_is_not_there():
    """It is a mistake, and told what there is; one that is there and of which nothing is chosen is not."""
    with serving(f"{FIXTURES}/lerobot") as hub:
        document = hub.dataset("arm-v21")
        known = document["splits"]
        for what in "episodes", "episodes?columns=number", "episodes?format=jsonl", "rows", "sample?seed=1", "~statistics", "episodes/0":
            path = f"/api/v1/datasets/arm-v21/{what}{'&' if '?' in what else '?'}"
            for name, of in ("split", known), ("task", [t["task"] for t in document["tasks"]]):
                problem = hub.get(f"{path}{name}=nowhere")
                assert problem.status == 400 and (problem.json()["parameter"], problem.json()["value"]) == (name, "nowhere")
                assert of and all(word in problem.json()["detail"] for word in of)
            some = min(known)
            assert hub.get(f"{path}split={some}").status == 200
            assert what.startswith(("rows", "sample")) or hub.get(f"{path}split={some}&where=steps%20%3C%200").status == 200


def test_success_of_minari(tmp_path):
    """The attribute of an episode states it; without one the last row of infos/success does, in every storage."""
    shutil.copytree(f"{FIXTURES}/minari/root-0.5.3-columns", tmp_path, dirs_exist_ok=True)
    os.makedirs(tmp_path / "made-v0/data")
    with h5py.File(tmp_path / "made-v0/data/main_data.hdf5", "w") as f:
        for i, (stated, last) in enumerate([(True, False), (False, True), (None, True), (None, False), (None, None)]):
            e = f.create_group(f"episode_{i}")
            e["rewards"], e["actions"], e["observations"] = np.zeros(3), np.zeros(3), np.zeros(4)
            e["terminations"] = e["truncations"] = np.zeros(3, bool)
            if stated is not None:
                e.attrs["success"] = stated
            if last is not None:
                e["infos/success"] = np.array([not last, not last, not last, last])
    with serving(str(tmp_path), f"{FIXTURES}/minari/root-0.5.3") as hub:
        hub.wait_indexed()
        assert [e.get("success") for e in hub.episodes("made-v0")] == [True, False, True, False, None]
        for where, numbers in (("success = false", [1, 3]), ("success = true", [0, 2]), ("success is null", [4])):
            answer = hub.get("/api/v1/datasets/made-v0/episodes?" + urlencode({"where": where}))
            assert [e["number"] for e in answer.json()["items"]] == numbers, where
        for id in "arrow/infos-v0", "parquet/infos-v0", "dummy-infos/test-v0":
            for e in hub.episodes(id):
                assert e["success"] is hub.get(f"/api/v1/datasets/{id}/episodes/{e['number']}/infos/success").json()[-1]
