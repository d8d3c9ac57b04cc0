"""first("FIELD") and last("FIELD")[N] in where, sort and columns, against h5py."""
import json
import os
from urllib.parse import urlencode

import h5py
import numpy as np
import pytest

from cli import Cli
from hub import serving

EPISODES = 40
BIG = 2**53 + 1  # no double


def write(path):
    """Observations have a row more than steps, one episode has another width, and one lacks the field."""
    rng = np.random.default_rng(7)
    with h5py.File(path, "w") as f:
        data = f.create_group("data")
        for i in range(EPISODES):
            steps = int(rng.integers(1, 9))
            demo = data.create_group(f"demo_{i}")
            demo.attrs["num_samples"] = steps
            demo.create_dataset("actions", data=rng.normal(size=(steps, 3)).astype("f4"), chunks=(min(4, steps), 3), compression="gzip")
            demo["rewards"] = rng.normal(size=steps)
            demo["dones"] = np.arange(steps) == steps - 1
            demo["obs/wide"] = BIG + rng.integers(-3, 3, size=(steps, 2))
            if i != 5:
                odd = rng.normal(size=(steps, 2))
                odd[-1, 1] = [np.nan, np.inf, 0.5][i % 3]
                demo["obs/odd"] = odd
    return path


def rows(path, field, row, number):
    """A value for each episode, None where there is none: what the file has in that row."""
    out = []
    with h5py.File(path) as f:
        for i in range(EPISODES):
            values = f["data"][f"demo_{i}"].get(field)
            value = None if values is None else np.atleast_1d(values[row])[number]
            out.append(None if value is None or value != value else value.item())
    return out


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return str(write(tmp_path_factory.mktemp("ends") / "made.hdf5"))


@pytest.fixture(scope="module")
def hub(path):
    with serving(os.path.dirname(path)) as hub:
        yield hub


def ask(hub, what="", **query):
    answer = hub.get("/api/v1/datasets/made/episodes?" + urlencode(dict(query, wait=30)))
    assert answer.status == 200, answer.body
    return answer


NAMES = [('first("rewards")', "rewards", 0, 0), ('last("rewards")', "rewards", -1, 0), ('last("actions")[2]', "actions", -1, 2),
         ('first("WIDE")[1]', "obs/wide", 0, 1), ('last("ODD")[1]', "obs/odd", -1, 1), ('last("dones")', "dones", -1, 0)]


@pytest.mark.parametrize("name, field, row, number", NAMES)
def test_where_sort_and_columns_are_as_the_file_has_them(hub, path, name, field, row, number):
    paths = [f["path"] for f in hub.get("/api/v1/datasets/made").json()["fields"]]
    for word in ("WIDE", "ODD"):
        name = name.replace(word, next(p for p in paths if p.endswith("/" + word.lower())))
    want = rows(path, field, row, number)
    numbers = [v for v in want if v is not None]
    limit = sorted(v for v in numbers if abs(v) != float("inf"))[len(numbers) // 3]
    literal = str(int(limit)) if isinstance(limit, bool) or limit == int(min(limit, 1e18)) and abs(limit) < 1e18 else repr(limit)
    chosen = [e["number"] for e in ask(hub, where=f"{name} <= {literal}", limit=1000).json()["items"]]
    assert chosen == [i for i, v in enumerate(want) if v is not None and v <= limit]
    assert [e["number"] for e in ask(hub, where=f"{name} is null", limit=1000).json()["items"]] == [i for i, v in enumerate(want) if v is None]
    order = sorted((i for i, v in enumerate(want) if v is not None), key=lambda i: (want[i], i)) + [i for i, v in enumerate(want) if v is None]
    assert [e["number"] for e in ask(hub, sort=name, limit=1000).json()["items"]] == order
    lines = [json.loads(line) for line in ask(hub, columns=f"number,{name}", format="jsonl").body.splitlines()]
    assert list(lines[0]) == ["number", name]
    got = [float("inf") if line[name] == "Infinity" else int(line[name]) if isinstance(line[name], str) else line[name] for line in lines]
    assert [None if v is None and w == float("inf") else v for v, w in zip(got, want)] == [None if g is None and w == float("inf") else w for g, w in zip(got, want)]


def test_a_name_that_makes_no_sense_is_refused(hub):
    for where, says in (('last("actions") > 0', "have 3 numbers"), ('last("actions")[3] > 0', "have 3 numbers"), ('last("action")[0] > 0', "actions"),
                        ('last("actions")[0] = \'a\'', "a number"), ('mean("actions")[0] > 0', "in or is")):
        answer = hub.get("/api/v1/datasets/made/episodes?" + urlencode(dict(where=where)))
        assert answer.status == 400 and answer.json()["type"].endswith("bad-where") and says in answer.json()["detail"], answer.body


def test_it_is_read_once_and_waited_for(path):
    """What nobody asked for is not kept; a request waits for it, and with --measure off says so."""
    where = urlencode(dict(where='last("actions")[1] > 0', wait=30))
    with serving(os.path.dirname(path), args=("--measure", "on-demand")) as hub:
        first = hub.get("/api/v1/datasets/made/episodes?" + where)
        assert first.status == 200
        again = hub.get("/api/v1/datasets/made/episodes?" + where.replace("wait=30", "wait=0"))
        assert again.status == 200 and again.json()["items"] == first.json()["items"]
        other = hub.get("/api/v1/datasets/made/episodes?" + urlencode(dict(where='mean("actions") > 0', partial=1)))
        assert other.headers["X-Measured"].startswith("0/"), "rows alone were read"
    with serving(os.path.dirname(path), args=("--measure", "off")) as hub:
        answer = hub.get("/api/v1/datasets/made/episodes?" + where)
        assert answer.status == 422 and answer.json()["type"].endswith("not-measured")


def test_the_command_line_takes_them(path):
    want = [i for i, v in enumerate(rows(path, "actions", -1, 2)) if v > 0.25]
    out = Cli(os.path.dirname(path)).run("episodes", path, "--where", 'last("actions")[2] > 0.25', "--csv", "--columns", "number", expect=0)
    assert out.out.split() == ["number", *map(str, want)]
