"""Rows of whole datasets: what `rows` sends in one answer is what h5py, pyarrow and numpy read of the episodes, put one behind
another, whatever the format; as transitions, by axes, and never across the end of an episode."""
import csv
import http.client
import io
import json
import os
import random
import re
import sys

import h5py
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, quote, serving, until
from stored import stored_episodes

ROOTS = ["minari/root-0.4.3", "minari/root-0.5.3", "minari/root-0.5.3-columns", "robomimic", "lerobot", "d4rl", "il/demos", "molmospaces", "maniskill", "generic/numpy"]
NOT_COMPARED = {"ilr-evil", "broken-state"}
ENDINGS = {"terminated": ("termina",), "truncated": ("truncat", "timeout"), "dones": ("done",)}
compared = {"columns": 0, "obs": 0, "next_obs": 0, "own next_obs": 0, "flags": 0, "cut": 0, "twice": 0}


def npz(answer):
    assert answer.status == 200, (answer.status, answer.body[:300])
    assert int(answer.headers["Content-Length"]) == len(answer.body)
    with np.load(io.BytesIO(answer.body), allow_pickle=False) as z:
        return {name: z[name] for name in z.files}


def is_array(stored):
    return isinstance(stored, np.ndarray) and stored.ndim and stored.dtype.kind in "biufc" and not np.ma.is_masked(stored)


def equal(got, want):
    want = want.astype(want.dtype.newbyteorder("=")) if want.dtype.kind != "b" else want
    return got.shape == want.shape and np.array_equal(got.astype(want.dtype, copy=False), want, equal_nan=want.dtype.kind in "fc")


class Dataset:
    def __init__(self, hub, root, document):
        self.hub, self.document, self.url = hub, document, f"/api/v1/datasets/{quote(document['id'])}/rows"
        self.fields = {f["path"]: f for f in document["fields"]}
        self.axes = {path: f["axis"] for path, f in self.fields.items()}
        self.episodes = {e["number"]: e for e in hub.episodes(document["id"])}
        self.stored = {n: v for n, v in stored_episodes(os.path.join(root, document["id"]), document) if n in self.episodes}

    def rows(self, path, number, rows, ahead=0):
        first = ahead + (self.axes[path] == "shifted")
        return self.stored[number][path][first:first + rows]

    def numbers(self):
        """What the dataset itself calls not valid is left out."""
        return sorted(n for n, e in self.episodes.items() if e["attributes"].get("valid") is not False)

    def plain(self):
        a = self.hub.get(self.url)
        if a.status in (406, 404, 422):
            return None
        z = npz(a)
        numbers, steps = self.numbers(), [self.episodes[n]["steps"] for n in self.numbers()]
        assert z["ends"].tolist() == np.cumsum(steps).tolist() and int(a.headers["X-Total-Count"]) == sum(steps)
        assert z["episode"].tolist() == np.repeat(numbers, steps).tolist() and z["step"].tolist() == [i for s in steps for i in range(s)]
        for path in set(z) & set(self.fields):
            if numbers and all(n in self.stored and is_array(self.stored[n].get(path)) for n in numbers) and self.fields[path]["type"] in ("number", "bool"):
                assert equal(z[path], np.concatenate([self.rows(path, n, s) for n, s in zip(numbers, steps)])), (self.url, path)
                compared["columns"] += 1
        return z

    def tables(self, z):
        """The same numbers in the other forms."""
        flat = [path for path in z if path in self.fields and self.fields[path]["type"] == "number" and z[path].ndim == 1 and z[path].dtype.kind == "f"]
        if not flat:
            return
        path = random.Random(self.url).choice(flat)
        query = f"{self.url}?fields={quote(path)}&format="
        table = pa.ipc.open_stream(self.hub.get(query + "arrow").body).read_all()
        assert equal(table[path].to_numpy(), z[path]) and table["step"].to_pylist() == z["step"].tolist()
        lines = list(csv.DictReader(io.StringIO(self.hub.get(query + "csv").body.decode(), newline="")))
        assert equal(np.array([line[path] for line in lines], z[path].dtype), z[path]) and [int(line["episode"]) for line in lines] == z["episode"].tolist()
        objects = [json.loads(line) for line in self.hub.get(query + "jsonl&nonfinite=literal").body.decode().splitlines()]
        assert equal(np.array([o[path] for o in objects], z[path].dtype), z[path])

    def transitions(self):
        a = self.hub.get(self.url + "?layout=transitions")
        if a.status in (404, 406, 422):
            return
        z = npz(a)
        assert {len(v) for k, v in z.items() if k != "ends"} == {len(z["dones"])}, {k: v.shape for k, v in z.items()}
        of = lambda next: [p for p, f in self.fields.items() if f["role"] == "observation" and (p.startswith("next_")) == next and f["axis"] != "none"]
        obs, own = of(False), of(True)
        begin = 0
        for number, end in zip(self.numbers(), z["ends"].tolist()):
            steps, values = self.episodes[number]["steps"], self.stored.get(number)
            if values is None or not all(is_array(values.get(p)) for p in obs):
                begin = end
                continue
            self.episode(z, number, begin, end, steps, obs, own)
            begin = end

    def episode(self, z, number, begin, end, steps, obs, own):
        path = obs[0]
        rows = len(self.stored[number][path]) - (self.axes[path] == "shifted")
        terminated = self.episodes[number].get("terminated")
        want = steps if own or rows > steps or terminated else max(steps - 1, 0)
        assert end - begin == want, (self.url, number, begin, end, steps, rows, terminated)
        compared["cut"] += want < steps
        if len(obs) == 1 and "obs" in z and self.fields[path]["type"] in ("number", "bool"):
            assert equal(z["obs"][begin:end], self.rows(path, number, want)), (self.url, number)
            compared["obs"] += 1
            following = self.rows(path, number, want, 1) if not own else self.rows(own[0], number, want)
            if len(following) < want:
                following = np.concatenate([following, self.stored[number][path][-1:]])
                compared["twice"] += 1
            assert equal(z["next_obs"][begin:end], following), (self.url, number)
            compared["own next_obs" if own else "next_obs"] += 1
        if want:
            self.flags(z, number, begin, end, want)

    def flags(self, z, number, begin, end, want):
        values, found = self.stored[number], {}
        for name, words in ENDINGS.items():
            for path, f in self.fields.items():
                last = path.rsplit("/")[-1]
                last = last[5:] if last.startswith(("next_", "next.")) else last
                if f["role"] == "done" and last.startswith(words) and is_array(values.get(path)) and name not in found:
                    found[name] = self.rows(path, number, want).reshape(want, -1)[:, 0].astype(bool)
        for name, flags in found.items():
            assert z[name][begin:end].tolist() == flags.tolist(), (self.url, number, name)
            compared["flags"] += 1
        if "dones" not in found:
            assert z["dones"][begin:end].tolist() == (z["terminated"] | z["truncated"])[begin:end].tolist()


@pytest.mark.parametrize("name", ROOTS)
def test_values(name):
    root = os.path.join(FIXTURES, name)
    with serving(root) as hub:
        for item in hub.datasets():
            if item["format"] == "files" or item["status"] != "ready" or item["id"] in NOT_COMPARED:
                continue
            dataset = Dataset(hub, root, hub.dataset(item["id"]))
            z = dataset.plain()
            if z:
                dataset.tables(z)
            dataset.transitions()


def test_each_way_was_compared():
    print(compared)
    assert all(compared.values()), compared


def test_chosen_paged_and_refused():
    with serving(os.path.join(FIXTURES, "minari/root-0.4.3")) as hub:
        url = "/api/v1/datasets/door-human-v0/rows"
        whole = npz(hub.get(url + "?fields=@reward&fields=observations"))
        assert sorted(whole) == ["ends", "episode", "observations", "rewards", "step"]
        long = npz(hub.get(url + "?fields=rewards&where=steps%20%3E%2015&sort=-steps"))
        lengths = np.diff(long["ends"], prepend=0)
        assert (lengths > 15).all() and (np.diff(lengths) <= 0).all() and len(lengths) < len(whole["ends"])
        for number, end, length in zip(long["episode"][long["ends"] - 1], long["ends"], lengths):
            assert np.array_equal(long["rewards"][end - length:end], whole["rewards"][whole["episode"] == number])
        links = lambda answer: {rel: target for target, rel in re.findall(r'<([^>]*)>; rel="(\w+)"', answer.headers["Link"] or "")}
        pages, answer = [], hub.get(f"{url}?fields=rewards&limit=5")
        while pages.append(npz(answer)) or "next" in links(answer):
            assert ("prev" in links(answer)) == (len(pages) > 1)
            answer = hub.get(links(answer)["next"].replace(hub.base, ""))
        assert len(pages) > 1 and np.array_equal(np.concatenate([p["rewards"] for p in pages]), whole["rewards"])
        for page in pages[-2::-1]:  # and back
            answer = hub.get(links(answer)["prev"].replace(hub.base, ""))
            assert all(np.array_equal(npz(answer)[name], page[name]) for name in page)
        assert set(links(answer)) == {"next"}
        again = hub.get(f"{url}?fields=rewards")
        assert hub.get(f"{url}?fields=rewards", {"If-None-Match": again.headers["ETag"]}).status == 304
        head = hub.get(f"{url}?fields=rewards", method="HEAD")
        assert head.headers["Content-Length"] == again.headers["Content-Length"] and head.headers["X-Episodes"] == str(len(whole["ends"]))
        for query, status, name, word in (("fields=nothing", 404, "field-not-found", "observations"), ("fields=@actions", 400, "bad-parameter", "@action"),
                                          ("layout=tea", 400, "bad-parameter", "transitions"), ("format=json", 400, "bad-parameter", "npz"),
                                          ("limit=0", 400, "bad-parameter", "at least 1"), ("cursor=tea", 400, "bad-cursor", ""),
                                          ("where=tea%20%3D%201", 400, "bad-where", "return"), ("colour=red", 400, "bad-parameter", "fields")):
            a = hub.get(f"{url}?{query}")
            assert a.status == status and a.json()["type"].endswith(":" + name) and word in a.json()["detail"], (query, a.body)
        assert hub.get(url, {"Accept": "image/png"}).status == 406


def sliced(z, cut):
    """Of each episode the rows that a slice means."""
    begins = [0, *z["ends"].tolist()[:-1]]
    rows = [np.arange(begin, end)[cut] for begin, end in zip(begins, z["ends"].tolist())]
    every = np.concatenate(rows).astype(int) if rows else np.array([], int)
    return {name: np.cumsum([len(r) for r in rows]) if name == "ends" else values[every] for name, values in z.items()}


def chosen(z, holds):
    ends = [int(holds[:end].sum()) for end in z["ends"].tolist()]
    return {name: np.array(ends) if name == "ends" else values[holds] for name, values in z.items()}


def same(got, want):
    assert got.keys() == want.keys()
    for name in want:
        width = want[name].shape[1:] and min(got[name].shape[1:], want[name].shape[1:])  # padded to the longest that is there
        cut = tuple([slice(None)] + [slice(n) for n in width])
        assert np.array_equal(got[name][cut], want[name][cut], equal_nan=want[name].dtype.kind in "fc"), name


SLICES = [("start=-1", slice(-1, None)), ("step=10", slice(None, None, 10)), ("start=2&stop=-1&step=3", slice(2, -1, 3)), ("stop=4", slice(4)), ("start=3&stop=3", slice(3, 3)),
          ("start=-5&stop=-2", slice(-5, -2)), ("start=1000000", slice(10**6, None)), ("start=1&step=2", slice(1, None, 2))]


@pytest.mark.parametrize("root", ["minari/root-0.5.3", "minari/root-0.5.3-columns", "robomimic", "lerobot", "d4rl", "molmospaces", "webdataset"])
def test_some_steps_of_each_episode(root):
    """start, stop and step cut each episode as Python does; step, episode and the flags of an ending are those of the whole."""
    compared = 0
    with serving(os.path.join(FIXTURES, root)) as hub:
        for document in hub.datasets():
            for layout in "rows", "transitions":
                url = f"/api/v1/datasets/{quote(document['id'])}/rows?layout={layout}&format="
                whole = hub.get(url + "npz")
                if whole.status != 200:
                    continue
                z = npz(whole)
                for query, cut in random.Random(url).sample(SLICES, 3):
                    want = sliced(z, cut)
                    same(npz(hub.get(f"{url}npz&{query}")), want)
                    answer = hub.get(f"{url}jsonl&{query}")
                    lines = [json.loads(line) for line in answer.body.decode().splitlines()]
                    assert [(o["episode"], o["step"]) for o in lines] == list(zip(want["episode"].tolist(), want["step"].tolist())) and int(answer.headers["X-Total-Count"]) == len(lines)
                    compared += len(lines)
    assert compared > 100


TESTS = [("rewards < 0", lambda z: z["rewards"] < 0), ("not (rewards >= -1) or rewards = 3", lambda z: z["rewards"] < -1),  # NaN is unknown, and so is its not
         ('"actions"[1] > 0.25 and "obs/at" in (3, 5, 7, 11, 12, 13)', lambda z: (z["actions"][:, 1] > 0.25) & np.isin(z["obs/at"], (3, 5, 7, 11, 12, 13))),
         ("flag = true", lambda z: z["flag"]), ("rewards is not null", lambda z: np.ones(len(z["rewards"]), bool)), ("rewards > 1e9", lambda z: np.zeros(len(z["rewards"]), bool)),
         ('"obs/at" >= 18446744073709551615', lambda z: z["obs/at"] >= 2**64 - 1), ("one < 0.5", lambda z: z["one"][:, 0] < 0.5)]


def test_steps_chosen_by_their_own_numbers(tmp_path):
    with h5py.File(tmp_path / "made.hdf5", "w") as f:
        for i, steps in enumerate((40, 0, 1, 3000, 250)):
            demo, rng = f.create_group(f"data/demo_{i}"), np.random.default_rng(i)
            demo.attrs["num_samples"] = steps
            demo["actions"], demo["rewards"], demo["one"] = rng.normal(size=(steps, 3)), rng.normal(size=steps), rng.random((steps, 1))
            demo["rewards"][::7] = np.nan
            demo["obs/at"] = np.r_[np.arange(max(steps, 1) - 1, dtype=np.uint64), np.uint64(2**64 - 1)][:steps]
            demo.create_dataset("flag", data=rng.random(steps) < 0.3, chunks=(7,) if steps > 7 else None, compression="gzip" if steps > 7 else None)
            demo["text"] = np.array(["x"] * steps, "S1")
    with serving(str(tmp_path)) as hub:
        at = "/api/v1/datasets/made/rows?fields=rewards&fields=actions&fields=obs/at&fields=flag&fields=one&format="
        z = npz(hub.get(at + "npz"))
        for test, holds in TESTS:
            asked = "&step_where=" + quote(test)
            same(npz(hub.get(at + "npz" + asked)), chosen(z, holds(z)))
            cut = sliced(z, slice(1, -1, 2))
            same(npz(hub.get(at + "npz&start=1&stop=-1&step=2" + asked)), chosen(cut, holds(cut)))
            table = pa.ipc.open_stream(hub.get(at + "arrow&where=steps+%3E+100" + asked).body).read_all()
            assert table["step"].to_pylist() == z["step"][holds(z) & (z["episode"] > 2)].tolist()
        only = npz(hub.get("/api/v1/datasets/made/rows?fields=actions&step_where=flag+%3D+true&limit=3"))
        assert set(only) == {"actions", "episode", "step", "ends"} and len(only["ends"]) == 3
        transitions = npz(hub.get("/api/v1/datasets/made/rows?layout=transitions&step_where=flag+%3D+true"))
        whole = npz(hub.get("/api/v1/datasets/made/rows?layout=transitions"))
        flags = {(e, s): f for e, s, f in zip(z["episode"].tolist(), z["step"].tolist(), z["flag"].tolist())}
        same(transitions, chosen(whole, np.array([flags[k] for k in zip(whole["episode"].tolist(), whole["step"].tolist())])))
        for wrong, words in (("rewards <", "at 10 (the end)"), ("reward < 1", "did you mean 'rewards'"), ("actions > 0", 'name one, "actions"[0] to "actions"[2]'), ('"actions"[3] = 1', "has 3 numbers"),
                             ("text = 1", "is not a field"), ("rewards = 'x'", "needs a number"), ('"actions"[x] = 1', "index of a number of the row"), ("rewards < 1 rewards", "at 13"),
                             ("rewards < 1 and " * 70 + "rewards < 1", "at most 1024 are allowed")):
            answer = hub.get(at + "npz&step_where=" + quote(wrong))
            assert answer.status == 400 and answer.json()["type"].endswith("bad-where") and answer.json()["parameter"] == "step_where" and words in answer.json()["detail"], answer.body
        for wrong in "step=0", "step=-1", "start=x":
            answer = hub.get(at + "npz&" + wrong)
            assert answer.status == 400 and answer.json()["parameter"] == wrong.split("=")[0], answer.body


def test_an_episode_without_steps_decides_nothing(tmp_path):
    """It may lack the fields of the others, or have them as numpy.array([])."""
    def minari(name, episodes):
        os.makedirs(tmp_path / name / "data")
        with h5py.File(tmp_path / name / "data/main_data.hdf5", "w") as f:
            for i, fields in enumerate(episodes):
                group = f.create_group(f"episode_{i}")
                group.attrs.update(id=i, total_steps=len(fields.get("rewards", [])))
                for path, values in fields.items():
                    group[path] = values
            f.attrs.update(total_episodes=len(episodes), total_steps=sum(len(e.get("rewards", [])) for e in episodes), dataset_id=name,
                           minari_version="0.4.3", observation_space='{"type":"Box","dtype":"float32","shape":[2],"low":[0,0],"high":[1,1]}',
                           action_space='{"type":"Discrete","dtype":"int64","start":0,"n":3}')

    def episode(steps):
        return {"observations": np.ones((steps + 1, 2), "f4") * steps, "actions": np.arange(steps), "rewards": np.arange(steps) / 2,
                "terminations": np.arange(steps) == steps - 1, "truncations": np.zeros(steps, bool), "none": np.zeros((steps, 0))}

    empty = {path: np.array([], bool if path.endswith("ations") and path[0] == "t" else float) for path in episode(1)}
    minari("bare-v0", [{}, episode(2), {}, episode(3)])
    minari("odd-v0", [empty, episode(2), empty, episode(3)])
    with serving(str(tmp_path)) as hub:
        for id in "bare-v0", "odd-v0":
            answer = hub.get(f"/api/v1/datasets/{id}/rows")
            z = npz(answer)
            assert z["actions"].tolist() == [0, 1, 0, 1, 2] and z["actions"].dtype == np.int64 and answer.headers["X-Left-Out"] is None
            assert z["observations"].tolist() == [[2, 2]] * 2 + [[3, 3]] * 3 and z["ends"].tolist()[-1] == 5
            z = npz(hub.get(f"/api/v1/datasets/{id}/rows?layout=transitions"))
            assert z["next_obs"].shape == (5, 2) and z["dones"].tolist() == [False, True, False, False, True]
            lines = hub.get(f"/api/v1/datasets/{id}/rows?fields=none&fields=actions&format=csv").body.decode().split("\n")
            assert lines[:2] == ["actions,episode,step", "0,1,0"] and len(lines) == 7


def test_what_changes_meanwhile_ends_short(tmp_path):
    """And a million rows take the memory of a block: the budget is a few MiB."""
    rows = 1_500_000
    np.save(tmp_path / "big.npy", np.arange(rows * 4.0).reshape(rows, 4))
    with serving(str(tmp_path), args=("--memory", "16MiB")) as hub:
        id = next(d["id"] for d in hub.datasets() if d["format"] == "generic")
        field = hub.dataset(id)["fields"][0]["path"]
        for path in (f"rows?fields={quote(field)}", f"episodes/0/{quote(field)}?format=arrow"):
            url = f"/api/v1/datasets/{quote(id)}/{path}"
            answer, revision = hub.get(url), hub.dataset(id)["revision"]
            assert answer.status == 200 and int(answer.headers["X-Total-Count"]) == rows, answer.body[:300]
            got = npz(answer)[field] if "rows" in path else pa.ipc.open_stream(answer.body).read_all()
            assert len(got) == rows
            connection = http.client.HTTPConnection("127.0.0.1", hub.port)
            connection.request("GET", url)
            response = connection.getresponse()
            response.read(1 << 16)
            now = os.stat(tmp_path / "big.npy")
            os.utime(tmp_path / "big.npy", ns=(now.st_atime_ns, now.st_mtime_ns + 1))
            with pytest.raises(http.client.IncompleteRead):
                response.read()
            connection.close()
            until(lambda: hub.dataset(id)["revision"] != revision)


def write_damaged(path, chunk):
    """A million rows in chunks of 100,000, one of which is not what was written."""
    with h5py.File(path, "w") as f:
        x = f.create_dataset("x", data=np.random.default_rng(1).normal(size=(1_000_000, 2)), chunks=(100_000, 2), compression="gzip", compression_opts=1)
        at = x.id.get_chunk_info(chunk)
    with open(path, "r+b") as f:
        f.seek(at.byte_offset + at.size // 2)
        f.write(bytes(200))


@pytest.mark.parametrize("format", ["csv", "arrow", "jsonl", "npz"])
def test_damage_is_the_answer_or_a_line_in_the_log(tmp_path, format):
    """In the first rows that are sent nothing has been said yet; further on the answer breaks off, and the log says why."""
    write_damaged(tmp_path / "first.h5", 0)
    write_damaged(tmp_path / "later.h5", 9)
    with serving(str(tmp_path), args=("--measure", "off")) as hub:
        hub.wait_indexed()
        first = hub.get(f"/api/v1/datasets/first/rows?fields=x&format={format}")
        assert first.status == 422 and "deflate" in first.json()["detail"], first.body
        assert "X-Total-Count" not in first.headers and "ETag" not in first.headers
        assert hub.get(f"/api/v1/datasets/first/rows?fields=x&format={format}", method="HEAD").status == 422
        with pytest.raises(http.client.IncompleteRead):
            hub.get(f"/api/v1/datasets/later/rows?fields=x&format={format}")
        line = until(lambda: [l for l in hub.text_log().splitlines() if "/datasets/later/rows" in l])[-1]
        assert " 200 " in line and "aborted" in line and "deflate" in line.split('"')[-1], line


def test_what_does_not_fit_is_named(tmp_path):
    """A field among several whose rows have two dimensions, by its name; one text is raw bytes; damaged rows are of their field."""
    write_damaged(tmp_path / "damaged.h5", 0)
    with h5py.File(tmp_path / "odd.h5", "w") as f:
        f["pose"], f["turn"] = np.zeros((4, 3)), np.zeros((4, 3, 3))
        f["said"] = ["go", "\u4e2d", "", "stop"]
        f["fixed"] = np.array([b"go", b"left", b"", b"stop"], "S4")
    with serving(str(tmp_path), args=("--measure", "off")) as hub:
        hub.wait_indexed()
        for what in ("rows", "episodes/0"):
            answer = hub.get(f"/api/v1/datasets/odd/{what}?fields=pose&fields=turn&format=csv")
            assert answer.status == 406 and "'turn': number rows of 2 dimensions are not available as csv" in answer.json()["detail"], answer.body
        for name, row, text in [("said", 1, "\u4e2d"), ("said", 2, ""), ("fixed", 0, "go"), ("fixed", -1, "stop")]:
            answer = hub.get(f"/api/v1/datasets/odd/episodes/0/{name}?row={row}&format=raw")
            assert answer.status == 200 and answer.body.decode() == text
        assert hub.get("/api/v1/datasets/odd/episodes/0/said?format=raw").status == 406  # several of them
        answer = hub.get("/api/v1/datasets/damaged/episodes/0/x?stop=10&format=npy")
        assert answer.status == 422 and answer.json()["type"].endswith(":field-unreadable") and "rows of 'x' cannot be read: " in answer.json()["detail"]


def test_minari_cli(tmp_path):
    """Its files are the hub's answers; text goes to a pipe, and what is wrong has the hub's words."""
    from cli import Cli

    id = "D4RL/door/human-v2"
    with serving(os.path.join(FIXTURES, "minari", "root-0.5.3")) as hub:
        cli, at = Cli(tmp_path / "datasets", hub.base), f"/api/v1/datasets/{id}"
        for name, query in (("all.npz", "rows?format=npz"), ("some.arrow", "rows?format=arrow-file&fields=@action&fields=rewards&where=number+%3C+3"),
                            ("some.arrows", "rows?format=arrow&fields=@action&fields=rewards&where=number+%3C+3")):
            more = ["@action", "rewards", "--where", "number < 3"] if name.startswith("some") else []
            cli.run("rows", id, *more, "-o", str(tmp_path / name), expect=0)
            assert (tmp_path / name).read_bytes() == hub.get(f"{at}/{query}").body
        cli.run("rows", id, "--layout", "transitions", "-o", str(tmp_path / "t.npz"), expect=0)
        cli.run("rows", id, "--view", "transitions", "-o", str(tmp_path / "v.npz"), expect=0)
        assert (tmp_path / "v.npz").read_bytes() == (tmp_path / "t.npz").read_bytes() == hub.get(f"{at}/rows?view=transitions&format=npz").body
        link = hub.get(f"{at}/rows?view=transitions&limit=1").headers["Link"]
        assert "layout=transitions" in link and "view=" not in link
        with np.load(tmp_path / "t.npz") as z:
            assert {"obs", "next_obs", "acts", "rews", "dones"} <= set(z.files) and len(z["obs"]) == hub.dataset(id)["steps"]
        assert cli.bytes("rows", id, "rewards", "--sort=-return") == hub.get(f"{at}/rows?format=csv&fields=rewards&sort=-return").body
        columns = "number,steps,return,terminated,truncated,success,task,seed"
        assert cli.bytes("episodes", id, "--csv", "--where", "steps > 15", "--sort=-return") == \
            hub.get(f"{at}/episodes?format=csv&columns={columns}&where=steps+%3E+15&sort=-return").body
        cli.run("episodes", id, "--columns", "number,return", "-n", "3", "-o", str(tmp_path / "e.npz"), expect=0)
        with np.load(tmp_path / "e.npz") as z:
            assert list(z["number"]) == [0, 1, 2] and z["return"].dtype == "<f8"
        assert cli.run("episodes", id, "--csv", "--format", "npz").code == 2
        cli.run("sample", id, "--seed", "3", "-o", str(tmp_path / "s.arrow"), expect=0)
        assert (tmp_path / "s.arrow").read_bytes() == hub.get(f"{at}/sample?windows=1&length=1&seed=3&format=arrow-file").body
        for args in ("rows", id), ("rows", id, "rewards"), ("episodes", id), ("sample", id), ("get", id, "0", "rewards"), ("get", id, "0", "rewards", "actions"):
            for name in "x.txt", "x":
                err = cli.run(*args, "-o", str(tmp_path / name), expect=2).err
                assert ".arrow" in err and ".npz" in err and "--format" in err and not list(tmp_path.glob("x*")), (args, err)
        assert ".npy" not in cli.run("rows", id, "-o", str(tmp_path / "x.npy"), expect=2).err.split("end in")[1]
        cli.run("rows", id, "rewards", "--format", "csv", "-o", str(tmp_path / "y.txt"), expect=0)
        cli.run("episodes", id, "--csv", "-o", str(tmp_path / "y"), expect=0)
        assert cli.run("episodes", id, "--csv", "--columns", "no").code == 2
        assert "at 8 (the end)" in cli.run("rows", id, "--where", "steps >", expect=2).err
        assert cli.run("rows", id, "nothing").code == 3 and not (tmp_path / "x.npz").exists()
        assert cli.run("rows", id, "nothing", "-o", str(tmp_path / "x.npz")).code == 3 and not list(tmp_path.glob("x.npz*"))


def test_arrow_files_are_read_by_what_reads_feather(tmp_path):
    """The same rows as the stream has, of one block and of many, from the hub's address and from minari-cli's file."""
    from cli import Cli

    with h5py.File(tmp_path / "made.hdf5", "w") as f:
        for i, steps in enumerate((40, 0, 70_000)):
            demo = f.create_group(f"data/demo_{i}")
            demo.attrs["num_samples"] = steps
            demo["actions"] = np.random.default_rng(i).normal(size=(steps, 20))
            demo["obs/at"] = np.arange(steps)
    with serving(str(tmp_path)) as hub:
        base = "/api/v1/datasets/made/"
        for path, batches in (("rows?fields=@observation&fields=@action", range(5, 999)), ("rows?fields=actions&limit=1", [1]), ("episodes/1/actions?", [0]),
                              ("episodes/0/actions?step=3", [1]), ("episodes/2?fields=actions&fields=obs/at&start=1", range(5, 999)),
                              ("sample?windows=5&length=3&seed=1", [1]), ("episodes?columns=number,steps,name", [1])):
            answer, stream = (hub.get(f"{base}{path}&format={format}") for format in ("arrow-file", "arrow"))
            assert answer.headers["Content-Type"] == "application/vnd.apache.arrow.file", path
            file = pa.ipc.open_file(answer.body)
            assert file.read_all().equals(pa.ipc.open_stream(stream.body).read_all()) and file.num_record_batches in batches, (path, file.num_record_batches)
            assert hub.get(f"{base}{path}", {"Accept": "application/vnd.apache.arrow.file"}).body == answer.body
        url = f"{base}rows?fields=obs/at&format="
        frame = pandas.read_feather(f"{hub.base}{url}arrow-file")
        assert frame["obs/at"].sum() == sum(range(40)) + sum(range(70_000))
        assert hub.get(f"/api/v1/datasets?columns=id,steps&format=arrow-file").body.startswith(b"ARROW1\0\0")
        for name in "all.arrow", "all.feather":
            Cli(tmp_path / "datasets", hub.base).run("rows", "made", "obs/at", "-o", str(tmp_path / name), expect=0)
            assert pandas.read_feather(tmp_path / name).equals(frame) and polars.read_ipc(tmp_path / name)["obs/at"].sum() == frame["obs/at"].sum()


def test_minari_cli_on_a_terminal(tmp_path):
    """What a file says does not reach the terminal as a command to it."""
    import h5py
    from cli import Cli, on_terminal

    os.makedirs(tmp_path / "root")
    with h5py.File(tmp_path / "root" / "odd.hdf5", "w") as f:
        demo = f.create_group("data/demo_0")
        demo.attrs["num_samples"], demo.attrs["note"] = 2, "\x1b]0;owned\x07"
        demo["actions"], demo["obs/x"] = np.zeros((2, 1)), np.zeros(2)
    with serving(str(tmp_path / "root")) as hub:
        cli = Cli(tmp_path / "datasets", hub.base)
        id = hub.datasets()[0]["id"]
        code, seen = on_terminal(cli, "episodes", id, "--csv", "--columns", 'number,"note"')
        assert code == 0 and "owned" in seen and "\x1b" not in seen and "\x07" not in seen
        assert b"\x1b" in cli.bytes("episodes", id, "--csv", "--columns", 'number,"note"')


def test_tables_are_read_by_their_url(tmp_path):
    """polars asks for the length, then for ranges; pandas for all of it. What is too long for a length comes whole."""
    with h5py.File(tmp_path / "made.hdf5", "w") as f:
        for i, steps in enumerate((40, 3000, 30_000)):
            demo = f.create_group(f"data/demo_{i}")
            demo.attrs["num_samples"] = steps
            demo["actions"] = np.random.default_rng(i).normal(size=(steps, 20))
    with serving(str(tmp_path)) as hub:
        base = "/api/v1/datasets/made/"
        for path in "rows?limit=1&fields=actions", "rows?limit=2&fields=actions", "episodes/0/actions?", "episodes/1?fields=actions", "episodes/1/actions?stop=7":
            for format in "csv", "jsonl", "arrow", "arrow-file", "npz":
                if format == "jsonl" and path.startswith(("episodes/0", "episodes/1/")) or format == "npz" and path.startswith("episodes"):
                    continue
                url = f"{base}{path}&format={format}"
                whole, head = hub.get(url), hub.get(url, method="HEAD")
                assert whole.status == 200 and int(head.headers["Content-Length"]) == len(whole.body) and whole.headers["Accept-Ranges"] == "bytes", url
                for first, last in (0, 0), (17, 300), (len(whole.body) - 5, len(whole.body) - 1):
                    part = hub.get(url, {"Range": f"bytes={first}-{last}", "If-Range": whole.headers["ETag"]})
                    assert part.status == 206 and part.body == whole.body[first:last + 1], url
                    assert part.headers["Content-Range"] == f"bytes {first}-{last}/{len(whole.body)}"
                assert hub.get(url, {"Range": "bytes=99999999-"}).status == 416
                assert hub.get(url, {"Range": "bytes=0-1", "If-Range": '"another"'}).body == whole.body
            frame = pandas.read_csv(f"{hub.base}{base}{path}&format=csv")
            assert np.array_equal(polars.read_csv(f"{hub.base}{base}{path}&format=csv").to_numpy(), frame.to_numpy())
            assert frame.filter(like="actions").shape[1] == 20
        for path in "rows?fields=actions", "episodes/2/actions?":
            url = f"{base}{path}&format=csv"
            whole = hub.get(url)
            assert len(whole.body) > 8 << 20 and hub.get(url, {"Range": "bytes=5-9"}).body == whole.body
            assert "Content-Length" not in hub.get(url, method="HEAD").headers
        url = f"{base}rows?fields=actions"
        whole = hub.get(url)
        assert hub.get(url, method="HEAD").headers["Content-Length"] == str(len(whole.body)) and whole.body[:2] == b"PK"
