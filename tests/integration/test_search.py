"""Finding datasets: words, facts of every format, filters, facets, pages that go both ways, namespaces, listings of files, lines."""
import collections
import io
import json
import os
import random
import shutil
import urllib.parse

import numpy as np
import pandas
import pyarrow.ipc
import pytest

from cli import Cli
from hub import FIXTURES, quote, serving, until


def url(path, **query):
    return f"{path}?{urllib.parse.urlencode(query)}"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    for name in ("samples", "robomimic", "maniskill", "molmospaces", "lerobot", "aloha", "d4rl", "webdataset", "il", "imitation", "datasets", "arrow"):
        os.symlink(os.path.abspath(os.path.join(FIXTURES, name)), root / name)
    shutil.copytree(os.path.join(FIXTURES, "minari", "root-0.5.3"), root / "new")
    with serving(str(root), args=["--allow-target", os.path.abspath(FIXTURES)]) as h:
        yield h


def found(hub, q, **query):
    page = hub.get(url("/api/v1/datasets", q=q, limit=1000, **query)).json()
    assert page["total"] == len(page["items"])
    return [d["id"] for d in page["items"]]


def pages(hub, path, link="next"):
    out = []
    while path:
        page = hub.get(path.replace(hub.base, "")).json()
        out.append(page)
        path = page[link]
    return out


# ---- facts ----

# one dataset of each format: what its files say, read by hand
FACTS = {
    "samples/D4RL/door/human-v2": {"env": "AdroitHandDoor-v1", "action_dim": 28, "algorithm": "human"},
    "samples/pictures/corridor-v0": {"env": "Fixture-v0"},
    "robomimic/lift-ph/low_dim_v15": {"env": "Lift", "robot": "Panda"},
    "robomimic/lift-raw/demo": {"env": "Lift", "robot": "Panda"},
    "robomimic/libero/put_the_bowl_on_the_plate_demo": {"env": "Libero_Kitchen_Tabletop_Manipulation", "robot": "Panda"},
    "maniskill/rgbd/trajectory.rgbd.pd_joint_pos.physx_cpu": {"env": "PickCube-v1", "cameras": ["base_camera"], "algorithm": "motionplanning", "action_dim": 8},
    "lerobot/arm-v30": {"robot": "so100", "tasks": ["open the door 扉", 'pick up the "red" cube'], "cameras": ["top", "wrist"], "action_dim": 4},
    "lerobot/pandas-v30": {"license": "apache-2.0", "robot": "so100"},
    "aloha/real": {"cameras": ["cam_high", "cam_left_wrist", "cam_right_wrist"], "action_dim": 14},
    "aloha/twin": {"cameras": ["head_camera", "left_camera"], "action_dim": 14},
    "aloha/twin-native": {"tasks": ["stack block 0", "stack block 1"], "cameras": ["cam_head"]},
    "robomimic/robocasa/demo_gentex_im128": {"tasks": ["open the left drawer", "open the right drawer"], "env": "OpenDrawer"},
    "molmospaces/pick": {"tasks": ["pick up the cup 0", "pick up the cup 1", "pick up the cup 2"], "cameras": ["exo_camera_1", "wrist_camera"]},
    "d4rl/hopper_medium-v0": {"action_dim": 6},
    "webdataset/ilr-shards": {"env": "dm_control/fixture", "tasks": ["fixture"], "action_dim": 2},
    "webdataset/place/demos/dm_control/finger-spin": {"env": "dm_control/finger-spin", "kind": "demos"},
    "il/demos/magical/move-to-corner": {"env": "MoveToCorner-Demo-v0", "kind": "demos", "cameras": ["allo", "ego"]},
    "imitation/rollouts/plain": {"action_dim": 1},
    "datasets/imitation-cartpole": {"action_dim": 2},
    "arrow/types-v0": {"action_dim": 1},
}
NAMES = {"env": "env", "tasks": "task", "robot": "robot", "cameras": "camera", "algorithm": "algorithm", "kind": "kind", "license": "license", "action_dim": "action_dim"}


def test_facts_of_every_format(hub):
    for id, facts in FACTS.items():
        item = hub.dataset(id)
        said = item["facts"]
        assert {k: said.get(k) for k in facts} == facts, (id, said)
        for name, value in said.items():
            for one in value if isinstance(value, list) else [value]:
                assert id in [d["id"] for d in hub.datasets(f"&{NAMES[name]}={urllib.parse.quote(str(one))}")], (id, name, one)


def values(item, name):
    if name == "author":
        return set(item["authors"])
    if name in ("format", "status"):
        return {item[name]}
    value = item["facts"].get({v: k for k, v in NAMES.items()}[name], [])
    return {str(v) for v in (value if isinstance(value, list) else [value])}


def test_filters_and_facets_count_the_same(hub):
    every = hub.datasets()
    names = [*NAMES.values(), "author", "format", "status"]
    choices = [{}, {"robot": "Panda"}, {"env": "lift", "robot": "PANDA"}, {"status": "ready", "action_dim": "7"}, {"author": "Minari Hub"},
               {"format": "lerobot", "camera": "top"}, {"kind": "demos"}, {"env": "nothing at all"}]
    for chosen in choices:
        page = hub.get(url("/api/v1/datasets", limit=1000, facets=",".join(names), **chosen)).json()

        def fits(item, but=None):
            return all(value.lower() in {v.lower() for v in values(item, name)} for name, value in chosen.items() if name != but)

        assert [d["id"] for d in page["items"]] == [d["id"] for d in every if fits(d)], chosen
        for name in names:
            counts = collections.Counter(v for d in every if fits(d, but=name) for v in {v.lower() for v in values(d, name)})
            told = {v["value"]: v["count"] for v in page["facets"][name]}
            assert len({v.lower() for v in told}) == len(told), (chosen, name)  # "Panda" and "panda" are one
            if name != "robot" and len(counts) <= 100:  # of several robots a document says the first
                assert {v.lower(): n for v, n in told.items()} == counts, (chosen, name)
            assert [v["count"] for v in page["facets"][name]] == sorted(told.values(), reverse=True)


def test_namespaces_are_counted_within_the_other_filters(hub):
    for chosen in {}, {"format": "lerobot"}, {"format": "minari-hdf5", "prefix": "D4RL/"}, {"q": "door", "prefix": "nothing/"}:
        page = hub.get(url("/api/v1/datasets", limit=1, facets="namespace", **chosen)).json()
        ids = [d["id"].split("/")[:-1] for d in hub.get(url("/api/v1/datasets", limit=1000, **{k: v for k, v in chosen.items() if k != "prefix"})).json()["items"]]
        want = collections.Counter("/".join(parts[: i + 1]) for parts in ids for i in range(len(parts)))
        assert page["facets"]["namespace"] == [{"value": v, "count": n} for v, n in sorted(want.items(), key=lambda c: (-c[1], c[0].encode()))], chosen
        assert want, chosen


def test_random_rollouts_are_told_from_demos(tmp_path):
    """By the folders that il-representations keeps them in: data/processed/random/BENCHMARK/TASK/random.tar."""
    for kind in "demos", "random":
        folder = tmp_path / "data/processed" / kind / "dm_control/finger-spin"
        folder.mkdir(parents=True)
        shutil.copy(f"{FIXTURES}/webdataset/place/demos/dm_control/finger-spin/demos.tar", folder / f"{kind}.tar")
    with serving(f"il={tmp_path}") as hub:
        for kind in "demos", "random":
            page = hub.get(f"/api/v1/datasets?facets=kind&kind={kind}").json()
            assert [d["id"] for d in page["items"]] == [f"il/data/processed/{kind}/dm_control/finger-spin"]
            assert page["items"][0]["facts"]["kind"] == kind and page["items"][0]["facts"]["env"] == "dm_control/finger-spin"
            assert page["facets"]["kind"] == [{"value": "demos", "count": 1}, {"value": "random", "count": 1}]
        listed = Cli(tmp_path, hub.base).run("list", "remote", "-a", "--kind", "random", "--json", expect=0).json()["items"]
        assert [d["id"] for d in listed] == ["il/data/processed/random/dm_control/finger-spin"]


def test_minari_cli_chooses_and_counts_the_same(hub, tmp_path):
    cli = Cli(tmp_path, hub.base)
    for option, value in ("kind", "demos"), ("robot", "Panda"), ("license", "apache-2.0"), ("task", "fixture"):
        items = cli.run("list", "remote", "-a", f"--{option}", value, "--json", expect=0).json()["items"]
        assert [d["id"] for d in items] == [d["id"] for d in hub.datasets(f"&{option}={value}")] != [], option
    facets = cli.run("search", "lift", "-a", "--facets", "--json", expect=0).json()["facets"]
    assert facets == hub.get(url("/api/v1/datasets", q="lift", facets=",".join(facets))).json()["facets"] and len(facets) == 11


# ---- words ----

def test_words(hub):
    assert found(hub, "samples/D4RL/door/human-v2")[0] == "samples/D4RL/door/human-v2"
    assert found(hub, "SAMPLES/d4rl/DOOR/human")[0] == "samples/D4RL/door/human-v2"  # but for its version
    lift = found(hub, "lift")
    assert lift[:3] == sorted(i for i in lift if "lift" in i)[:3] and len(lift) >= 3
    for q in ("AdroitHandDoor", "adroithanddoor-v1", "adroit", "hand door", "doo"):
        assert "samples/D4RL/door/human-v2" in found(hub, q), q
    for word in "so100", "wrist", "top", "apache":
        assert any(i.startswith("lerobot/") for i in found(hub, word)), word
    assert "aloha/real" in found(hub, "cam_high")  # a field's name too
    assert "aloha/real" in found(hub, "qpos")
    assert "lerobot/arm-v30" in found(hub, "扉") and "lerobot/arm-v30" in found(hub, "red cube")
    assert found(hub, "Lazcano") and found(hub, "lazc rodr")
    assert found(hub, "door zzz") == []
    some = found(hub, "door")
    assert found(hub, "door", format="minari-hdf5") == [i for i in some if hub.dataset(i)["format"] == "minari-hdf5"]
    assert sorted(found(hub, "door", sort="-size")) == sorted(some)


def test_every_prefix_of_an_id_finds_it(hub):
    for id in random.Random(7).sample([d["id"] for d in hub.datasets() if d["format"] != "files"], 8):
        for n in range(1, len(id) + 1):
            if "\\" not in id:
                assert id in found(hub, id[:n]), id[:n]


def test_no_text_is_a_mistake(hub):
    texts = ['"', '""', "'", "door OR 1=1", "NEAR(a b)", "id:door", "{id}:x", "a AND", "NOT", "*", "^", "a*b", "(", ")", "-", "+", "\\", "%", "_", "; DROP TABLE words",
             "\u202edoor", "–", "door\u0000"[:4], "é", "x" * 4000, " ".join("abcdefghijklmnopqrstuvwxyz"), "\t\n", "🤖", "col : x", '" OR rowid > 0 --']
    rng = random.Random(1)
    texts += ["".join(rng.choice('ab"*():^-+ {}\'\\ANDORNT\u00e9\u4e00') for _ in range(rng.randrange(1, 24))) for _ in range(60)]
    for q in texts:
        answer = hub.get(url("/api/v1/datasets", q=q, limit=3))
        assert answer.status == 200, (q, answer.body)


# ---- pages ----

@pytest.mark.parametrize("query", [{}, {"q": "v"}, {"q": "demo", "sort": "-size"}, {"sort": "name"}, {"sort": "-modified", "status": "ready"}, {"action_dim": "7"}])
def test_pages_there_and_back(hub, query):
    there = pages(hub, url("/api/v1/datasets", limit=7, **query))
    back = pages(hub, there[-1]["prev"], "prev") if len(there) > 1 else []
    assert [p["items"] for p in back[::-1]] == [p["items"] for p in there[:-1]]
    ids = [d["id"] for p in there for d in p["items"]]
    assert len(ids) == len(set(ids)) == there[0]["total"]
    assert ids == [d["id"] for d in hub.get(url("/api/v1/datasets", limit=1000, **query)).json()["items"]]
    answer = hub.get(there[1]["prev"].replace(hub.base, "")) if len(there) > 1 else None
    assert not answer or 'rel="next"' in answer.headers["Link"]


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_lists_for_operators_there_and_back(hub, limit):
    hub.get("/api/v1/problems").json()
    for path in "/api/v1/problems", "/api/v1/problems?prefix=lerobot/", "/api/v1/jobs?kind=measure", "/api/v1/namespaces":
        path += "&" if "?" in path else "?"
        def looks():
            """The list, the same by pages there and back, and the list again, where nothing went on meanwhile: what is measured goes on when nobody asks."""
            whole = hub.get(path + "limit=1000").json()
            there = pages(hub, f"{path}limit={limit}")
            back = pages(hub, there[-1]["prev"], "prev") if len(there) > 1 else []
            return hub.get(path + "limit=1000").json()["items"] == whole["items"] and (whole, there, back)

        whole, there, back = until(looks, every=0.2)
        assert [i for p in there for i in p["items"]] == whole["items"] and there[0]["total"] == whole["total"], path
        assert [p["items"] for p in back[::-1]] == [p["items"] for p in there[:-1]], path
        assert there[0]["prev"] is None and whole["prev"] is None and (len(there) > 1 or "jobs" in path), path


def test_a_cursor_of_words_survives_changes(tmp_path):
    def put(name):
        shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / name, dirs_exist_ok=True)

    for i in range(10, 30):
        put(f"door-{i}-v0")
    with serving(str(tmp_path), args=["--sweep", "1"]) as hub:
        page = hub.get("/api/v1/datasets?q=door&limit=5").json()
        seen = [d["id"] for d in page["items"]]
        put("door-05-v0")
        put("door-17a-v0")
        shutil.rmtree(tmp_path / "door-14-v0")  # where the cursor stands
        until(lambda: "door-17a-v0" in (now := found(hub, "door")) and "door-05-v0" in now and "door-14-v0" not in now)
        while page["next"]:
            page = hub.get(page["next"].replace(hub.base, "")).json()
            seen += [d["id"] for d in page["items"]]
        assert seen == [f"door-{i}-v0" for i in range(10, 18)] + ["door-17a-v0"] + [f"door-{i}-v0" for i in range(18, 30)]


def test_parameters_that_nobody_knows(hub):
    for path, nearest in (("/api/v1/datasets?envs=x", "env"), ("/api/v1/datasets?sotr=id", "sort"), ("/api/v1/jobs?sate=done", "state"), ("/api/v1/namespaces?prefx=x", "prefix"),
                          ("/api/v1/datasets/samples/door-human-v0/files?delimeter=/", None), ("/api/v1/datasets/samples/door-human-v0/episodes?wher=x", "where")):
        answer = hub.get(path)
        assert answer.status == 400 and (nearest is None or f"did you mean '{nearest}'?" in answer.json()["detail"]), answer.body


# ---- namespaces ----

def test_namespaces(hub):
    items = [n for p in pages(hub, "/api/v1/namespaces?limit=9") for n in p["items"]]
    back = [p["items"] for p in pages(hub, "/api/v1/namespaces?limit=9")]
    last = hub.get("/api/v1/namespaces?limit=1000").json()
    assert items == last["items"] and last["total"] == len(items) and sum(back, []) == items
    sets = [d for d in hub.datasets() if d["format"] != "files"]
    for n in items:
        name = n["namespace"]
        within = [d for d in sets if d.get("namespace", "") == name or d.get("namespace", "").startswith(name + "/")]
        assert n["datasets"] == len(within) and n["direct"] == sum(d["namespace"] == name for d in within)
        assert n["episodes"] == sum(d["episodes"] for d in within) and n["size"] == sum(d["size"] for d in within)
        assert n.get("parent", "") == name.rpartition("/")[0]
        alone = hub.get(f"/api/v1/namespaces/{quote(name)}")
        assert alone.json() == n["metadata"] if "metadata" in n else alone.status == 404
    assert {n["namespace"] for n in items} == {"/".join(d["namespace"].split("/")[:i]) for d in sets if d.get("namespace") for i in range(1, d["namespace"].count("/") + 2)}
    told = {n["namespace"]: n.get("metadata") for n in items}
    for name in ("D4RL", "D4RL/door", "nested", "nested/namespace", "nested/namespace/deep", "cartpole"):
        with open(os.path.join(FIXTURES, "minari", "root-0.5.3", name, "namespace_metadata.json"), encoding="utf-8") as f:
            assert told["new/" + name] == json.load(f), name
    assert told["robomimic"] is None
    few = hub.get("/api/v1/namespaces?prefix=new/nested").json()
    assert [n["namespace"] for n in few["items"]][:2] == ["new/nested", "new/nested/namespace"]


def test_namespaces_that_say_nonsense(tmp_path):
    for name, text in (("a", "{"), ("b", "[1]"), ("c", '{"x": NaN, "d": "é"}'), ("d", " " * 2**21), ("e", "\xff")):
        shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / name / "door-v0")
        (tmp_path / name / "namespace_metadata.json").write_text(text, encoding="latin-1" if name == "e" else "utf-8")
    with serving(f"lab={tmp_path}") as hub:
        told = {n["namespace"]: n for n in hub.get("/api/v1/namespaces").json()["items"]}
        assert list(told) == ["lab", "lab/a", "lab/b", "lab/c", "lab/d", "lab/e"]
        assert told["lab/c"]["metadata"] == {"x": "NaN", "d": "é"}
        assert all("metadata" not in told[f"lab/{n}"] and told[f"lab/{n}"]["problem"] for n in "abde")


# ---- files ----

def test_files_level_by_level(hub):
    base = "/api/v1/datasets/lerobot/arm-v21/files"
    whole = hub.get(base).json()
    paths = [f["path"] for f in whole["items"]]

    def walk(prefix=""):
        out = []
        for page in pages(hub, url(base, prefix=prefix, delimiter="/", limit=2)):
            assert page["id"] == "lerobot/arm-v21" and len(page["items"]) + len(page["prefixes"]) <= 2
            out += page["items"]
            for folder in page["prefixes"]:
                below = walk(folder["prefix"])
                assert folder == {"prefix": folder["prefix"], "files": len(below), "size": sum(f["size"] for f in below)}
                out += below
        return out

    assert sorted(walk(), key=lambda f: f["path"]) == whole["items"]
    for prefix in ("", "videos/", "data/chunk", "nothing", "meta/info.json"):
        for limit in (1, 3, 1000):
            there = pages(hub, url(base, prefix=prefix, limit=limit))
            items = [f["path"] for p in there for f in p["items"]]
            assert items == [p for p in paths if p.startswith(prefix)]
            assert there[0]["total"] == len(items) and there[0]["size"] == sum(f["size"] for f in whole["items"] if f["path"] in items)
            if len(there) > 1:
                assert [p["items"] for p in pages(hub, there[-1]["prev"], "prev")[::-1]] == [p["items"] for p in there[:-1]]
    there = pages(hub, url(base, delimiter="/", limit=1))
    assert [(p["items"], p["prefixes"]) for p in pages(hub, there[-1]["prev"], "prev")[::-1]] == [(p["items"], p["prefixes"]) for p in there[:-1]]
    for limit in "", "&limit=2":
        page = hub.get(f"{base}?delimiter=/{limit}").json()
        lines = [json.loads(line) for line in hub.get(f"{base}?delimiter=/{limit}&format=jsonl").body.splitlines()]
        assert sorted(lines, key=str) == sorted(page["items"] + page["prefixes"], key=str) and page["prefixes"]
    for wrong in ("delimiter=%2C", "limit=0", "prefix=%5Cq", "cursor=x", "limit=1&episodes=0"):
        assert hub.get(f"{base}?{wrong}").status == 400, wrong


def test_files_with_odd_names(tmp_path):
    folder = tmp_path / "odd"
    for name in (b"a\nb", b"back\\slash", b"\xff", "é/ü".encode(), b"a/b", b"a.b", b"a0", b"~x", b"files/x", b"long/" + b"\x01" * 250 + b"/y", b"long/" + b"\x01" * 250 + b"/z"):
        path = os.path.join(os.fsencode(folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(b"x")
    with serving(str(tmp_path)) as hub:
        id = hub.datasets()[0]["id"]
        base = f"/api/v1/datasets/{quote(id)}/files"
        whole = hub.get(base).json()["items"]
        assert len(whole) == 11
        assert [f for p in pages(hub, base + "?limit=1") for f in p["items"]] == whole
        levels = pages(hub, base + "?limit=1&delimiter=/")
        assert sum(p["items"] != [] for p in levels) + sum(f["files"] for p in levels for f in p["prefixes"]) == 11
        assert [p["items"] for p in pages(hub, levels[-1]["prev"], "prev")[::-1]] == [p["items"] for p in levels[:-1]]


def test_many_files(tmp_path):
    count = 6000
    folder = tmp_path / "many"
    for k in range(20):
        os.makedirs(folder / f"d{k:02d}")
        for i in range(count // 20):
            os.link(folder / "d00" / "f00000.bin", folder / f"d{k:02d}" / f"f{i:05d}.bin") if (k, i) != (0, 0) else (folder / "d00" / "f00000.bin").write_bytes(b"abc")
    with serving(str(tmp_path)) as hub:
        base = f"/api/v1/datasets/{quote(hub.datasets()[0]['id'])}/files"
        page = hub.get(base + "?limit=10").json()
        assert page["total"] == count and page["size"] == 3 * count and [f["path"] for f in page["items"]][-1] == "d00/f00009.bin"
        page = hub.get(base + "?delimiter=/").json()
        assert page["total"] == 20 and [p["files"] for p in page["prefixes"]] == [count // 20] * 20
        lines = hub.get(base + "?format=jsonl")
        assert lines.headers["X-Total-Count"] == str(count) and lines.headers["Content-Type"] == "application/x-ndjson"
        assert [json.loads(t)["path"] for t in lines.body.splitlines()] == [f["path"] for f in hub.get(base).json()["items"]]
        assert len(hub.get(base + "?format=jsonl&prefix=d19/").body.splitlines()) == count // 20


# ---- lines ----

def test_lines_of_all_lists(hub):
    for path in ("/api/v1/datasets", "/api/v1/namespaces", "/api/v1/jobs", "/api/v1/problems", "/api/v1/mirrors", "/api/v1/datasets/lerobot/arm-v21/files"):
        def looks():
            """The list as JSON, as lines and as negotiated lines, where the list is the same before and after: jobs go on meanwhile."""
            whole = hub.get(path + "?limit=1000").json()
            lines = hub.get(path + "?format=jsonl&limit=1000"), hub.get(path + "?limit=1000", headers={"Accept": "application/x-ndjson"})
            return hub.get(path + "?limit=1000").json() == whole and (whole, *lines)

        whole, lines, negotiated = until(looks, every=0.2)
        assert lines.headers["Content-Type"] == "application/x-ndjson" and lines.headers["X-Total-Count"] == str(whole["total"]), path
        assert [json.loads(t) for t in lines.body.splitlines()] == whole["items"] and negotiated.body == lines.body, path
        assert hub.get(path, headers={"Accept": "*/*"}).headers["Content-Type"] == "application/json"
    every = hub.get("/api/v1/datasets?format=jsonl")
    assert [json.loads(t)["id"] for t in every.body.splitlines()] == [d["id"] for d in hub.datasets()]
    some = hub.get("/api/v1/datasets?format=lerobot&format=jsonl&q=arm&limit=2")
    assert len(some.body.splitlines()) == 2 and 'rel="next"' in some.headers["Link"]
    assert all(json.loads(t)["format"] == "lerobot" for t in some.body.splitlines())
    assert hub.get("/api/v1/datasets?format=lerobot&format=aloha").status == 400
    assert hub.get("/api/v1/jobs?format=csv").status == 400
    assert hub.get("/api/v1/datasets?format=jsonl", method="HEAD").status == 200


# ---- episodes ----

COLUMNS = ["id", "namespace", "version", "format", "status", "loadable", "episodes", "steps", "size", "description", "modified", "env", "task", "camera", "action_dim"]


@pytest.mark.parametrize("chosen", [{}, {"q": "door", "sort": "-steps"}, {"prefix": "lerobot/", "limit": 3}, {"prefix": "nothing"}])
def test_datasets_as_a_table(hub, chosen):
    items = hub.get(url("/api/v1/datasets", **{"limit": 1000, **chosen})).json()["items"]
    facts = {"env": "env", "task": "tasks", "camera": "cameras", "action_dim": "action_dim"}
    want = {c: [(d["facts"] if c in facts else d).get(facts.get(c, c), [] if c in ("task", "camera") else None) for d in items] for c in COLUMNS}
    want["loadable"] = [s == "ready" and v is not False for s, v in zip(want["status"], want["loadable"])]
    path = url("/api/v1/datasets", columns=",".join(COLUMNS), **chosen)
    got = hub.get(path).json()
    assert got == {"total": len(items), "columns": want}
    lines = [json.loads(line) for line in hub.get(path + "&format=jsonl").body.splitlines()]
    assert lines == [dict(zip(COLUMNS, row)) for row in zip(*want.values())]
    want = {k: [";".join(v) if isinstance(v, list) else v for v in values] for k, values in want.items()}
    table = pyarrow.ipc.open_stream(hub.get(path + "&format=arrow").body).read_all()
    assert {n: c.to_pylist() for n, c in zip(table.column_names, table.columns)} == want
    frame = pandas.read_csv(hub.base + path + "&format=csv", keep_default_na=False)
    assert frame["id"].tolist() == want["id"] and frame["steps"].tolist() == want["steps"]
    with np.load(io.BytesIO(hub.get(path + "&format=npz").body)) as z:
        assert z["id"].tolist() == want["id"] and z["size"].tolist() == want["size"] and z["loadable"].dtype == bool
    assert hub.get(path + "&format=csv&format=lerobot").body.count(b"\n") == 1 + sum(f == "lerobot" for f in want["format"]) or chosen.get("limit")


def test_a_table_of_datasets_that_is_asked_for_wrongly(hub):
    for query, parameter, says in (("columns=", "columns", "episodes"), ("columns=id,,name", "columns", "namespace"), ("columns=digest", "columns", "digest"),
                                   ("columns=id&limit=0", "limit", "at least 1"), ("columns=id&cursor=x", "cursor", "columns"), ("format=csv", "format", "columns="),
                                   ("format=npz", "format", "columns=")):
        problem = hub.get("/api/v1/datasets?" + query).json()
        assert problem["parameter"] == parameter and says in problem["detail"], problem


def test_episodes_there_and_back(hub):
    base = "/api/v1/datasets/samples/door-human-v0/episodes"
    for query in ({}, {"sort": "-return"}, {"sort": "steps"}, {"sort": "-number"}, {"where": "number > 3 and number != 7"}, {"sort": "-task"}, {"random": 7, "seed": 3}, {"partition": "6,6", "part": 1, "seed": 3}):
        every = hub.get(url(base, limit=1000, **query)).json()
        assert "items" in every, (query, every)
        numbers = [e["number"] for e in every["items"]]
        assert every["total"] == len(numbers) and every["prev"] is None and every["next"] is None
        for limit in (1, 5, 12):
            there = pages(hub, url(base, limit=limit, **query))
            assert [e["number"] for p in there for e in p["items"]] == numbers, query
            assert sum((p["items"] for p in there), []) == every["items"]
            if len(there) > 1:
                back = pages(hub, there[-1]["prev"], "prev")[::-1]
                assert [p["items"] for p in back] == [p["items"] for p in there[:-1]], (query, limit)
                assert back[-1]["next"] and pages(hub, back[0]["next"])[-1]["items"] == there[-1]["items"]
                assert [p["total"] for p in back] == [len(numbers)] * len(back)
            for number in numbers:
                page = hub.get(url(base, limit=limit, at=number, **query)).json()
                place = numbers.index(number) // limit * limit
                assert [e["number"] for e in page["items"]] == numbers[place:place + limit], (query, limit, number)
                assert (page["prev"] is None) == (place == 0) and (page["next"] is None) == (place + limit >= len(numbers))
        lines = hub.get(url(base, format="jsonl", **query))
        assert [json.loads(t) for t in lines.body.splitlines()] == every["items"] and lines.headers["X-Total-Count"] == str(len(numbers))
        few = hub.get(url(base, format="jsonl", limit=2, **query))
        assert [json.loads(t) for t in few.body.splitlines()] == every["items"][:2] and 'rel="next"' in few.headers["Link"]
    assert hub.get(base + "?at=99").json()["type"].endswith("episode-missing")
    assert hub.get(base + "?at=7&where=number+!=+7").status == 404
    assert hub.get(base + "?at=x").status == 400
