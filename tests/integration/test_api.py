"""The REST API as a script sees it: listing, paging, aliases, documents, slices, files, conditionals, problems. Every answer is held
against openapi.json by hub.py."""
import gzip
import hashlib
import http.client
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import Answer, FIXTURES, PATIENCE, Hub, serving, until

SAMPLES = os.path.join(FIXTURES, "samples")
TRAPS = os.path.join(FIXTURES, "minari", "root-traps")
DOOR = "/api/v1/datasets/door-human-v0"


@pytest.fixture(scope="module")
def hub():
    with serving(SAMPLES) as h:
        yield h


@pytest.fixture(scope="module")
def traps():
    with serving(TRAPS) as h:
        yield h


def problem(answer, status, name):
    assert answer.status == status, (answer.status, answer.body[:300])
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    body = answer.json()
    assert body["type"] == "urn:minari-hub:" + name and body["status"] == status, body
    return body


# ---- the name of the server ----

GCS = "/storage/v1/b/minari-datasets/o"
NAMING = ["/api/v1/datasets?limit=1", f"{DOOR}/episodes?limit=1&revision=R", f"{DOOR}/~kerchunk.json?revision=R",
          f"{GCS}?prefix=door-human-v0", f"{GCS}/door-human-v0%2Fdata%2Fmain_data.hdf5", "/d/door-human-v0/~use"]


def named(hub, path, headers):
    """Does an answer hold the name that its client gave the server, and may a cache give it to others?"""
    answer = hub.get(path.replace("revision=R", "revision=" + hub.dataset("door-human-v0")["revision"]), headers)
    assert answer.status == 200, answer.body[:300]
    held = b"evil.example" in answer.body or "evil.example" in str(answer.headers)
    return held, not {"private", "no-store"} & set((answer.headers["Cache-Control"] or "").split(", "))


@pytest.mark.parametrize("header", ["Host", "X-Forwarded-Host"])
def test_no_cache_gives_others_the_name_that_one_client_uses(hub, header):
    assert {path: named(hub, path, {header: "evil.example"}) for path in NAMING} == {path: (True, False) for path in NAMING}
    for path in (f"{DOOR}/episodes?revision=R", f"{DOOR}/episodes/0/rewards?revision=R", f"{DOOR}?revision=R"):
        assert named(hub, path, {header: "evil.example"}) == (False, True), path


def test_a_name_that_the_admin_said_is_for_all(hub):
    with serving(SAMPLES, args=["--host", "evil.example", "--host", "127.0.0.1"]) as hosted:
        for path in NAMING:
            assert named(hosted, path, {"Host": "evil.example"}) == (True, True), path
    with serving(SAMPLES, args=["--public-url", "https://lab.example"]) as public:
        for path in NAMING:
            assert named(public, path, {"Host": "evil.example"}) == (False, True), path


# ---- datasets ----


def test_list(hub):
    page = hub.get("/api/v1/datasets").json()
    ids = [i["id"] for i in page["items"]]
    assert "door-human-v0" in ids and "D4RL/door/human-v2" in ids
    assert page["total"] == len(ids) and page["next"] is None
    door = next(i for i in page["items"] if i["id"] == "door-human-v0")
    assert door["format"] == "minari-hdf5" and door["status"] == "ready" and door["episodes"] == 12
    assert len(door["revision"]) == 40


def test_paging_reaches_everything_once(traps):
    every = [i["id"] for i in traps.datasets()]
    for sort in ("id", "-id", "episodes", "-episodes", "size", "-size", "modified", "name", "-name"):
        seen, url = [], f"/api/v1/datasets?limit=2&sort={sort}"
        while url:
            answer = traps.get(url)
            page = answer.json()
            assert page["total"] == len(every)
            seen += [i["id"] for i in page["items"]]
            assert bool(page["next"]) == ('rel="next"' in (answer.headers["Link"] or ""))
            url = page["next"] and page["next"].replace(traps.base, "")
        assert sorted(seen) == sorted(every), sort


def test_loose_files_come_last_in_every_order(tmp_path):
    for name in ("m-v0", "z-v0", "lab/p-v3"):
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), tmp_path / name)
    for name in ("a-notes", "m-v1", "lab/b-notes", "zz"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.txt").write_text("x" * len(name))
    with serving(str(tmp_path)) as hub:
        keys = {"id": None, "name": "name", "episodes": "episodes", "steps": "steps", "size": "size", "modified": "modified"}
        for sort, key in keys.items():
            for sign in "", "-":
                seen, url = [], f"/api/v1/datasets?limit=2&sort={sign}{sort}"
                while url:
                    page = hub.get(url).json()
                    seen += page["items"]
                    url = page["next"] and page["next"].replace(hub.base, "")
                loose = [i["format"] == "files" for i in seen]
                assert loose == sorted(loose) and sum(loose) >= 3, (sort, sign, [i["id"] for i in seen])
                assert len({i["id"] for i in seen}) == len(seen) == page["total"], (sort, sign)
                assert seen == hub.get(f"/api/v1/datasets?sort={sign}{sort}").json()["items"], (sort, sign)
                for kind in (True, False):
                    values = [i[key] for i in seen if key and (i["format"] == "files") == kind]
                    assert values == sorted(values, reverse=sign == "-"), (sort, sign, values)
        newest = [i["id"] for i in hub.datasets("&latest=true")]
        assert newest.index("z-v0") < newest.index("m-v1") and "m-v0" in newest, newest


def test_versions_sort_as_numbers(traps):
    ids = [i["id"] for i in traps.datasets()]
    assert ids.index("door-human-v1") < ids.index("door-human-v10")
    assert "door-human-v1-extra" in ids


def test_filters(hub):
    assert [i["id"] for i in hub.datasets("&prefix=D4RL/")] == ["D4RL/door/human-v2"]
    assert hub.datasets("&format=lerobot") == []
    assert all(i["status"] == "ready" for i in hub.datasets("&status=ready"))
    for release, present in (("0.4.3", True), ("0.5.3", False)):
        assert ("door-human-v0" in [i["id"] for i in hub.datasets(f"&for={release}")]) is present, release
    problem(hub.get("/api/v1/datasets?status=odd"), 400, "bad-parameter")
    problem(hub.get("/api/v1/datasets?for=yesterday"), 400, "bad-parameter")
    problem(hub.get("/api/v1/datasets/door-human?for=yesterday"), 400, "bad-parameter")
    problem(hub.get("/api/v1/datasets?limit=0"), 400, "bad-parameter")
    problem(hub.get("/api/v1/datasets?sort=color"), 400, "bad-parameter")
    body = problem(hub.get("/api/v1/datasets?color=red"), 400, "bad-parameter")
    assert body["parameter"] == "color"


def test_cursor_of_another_question(traps):
    page = traps.get("/api/v1/datasets?limit=1").json()
    cursor = page["next"].split("cursor=")[1]
    problem(traps.get(f"/api/v1/datasets?limit=1&sort=size&cursor={cursor}"), 400, "bad-cursor")
    problem(traps.get("/api/v1/datasets?cursor=nonsense"), 400, "bad-cursor")


def test_alias_and_content_location(traps):
    a = traps.get("/api/v1/datasets/door-human")
    assert a.json()["id"] == "door-human-v10" and a.headers["Content-Location"] == "/api/v1/datasets/door-human-v10"
    assert [v["id"] for v in a.json()["versions"]] == ["door-human-v1", "door-human-v10"]
    b = traps.get("/api/v1/datasets/door-human/episodes/0/rewards?stop=1")
    assert b.headers["Content-Location"].startswith("/api/v1/datasets/door-human-v10/episodes/0/rewards")
    assert traps.get("/api/v1/datasets/door-human-v1").headers["Content-Location"] is None


def test_content_location_of_an_id_in_one_segment(hub):
    a = hub.get("/api/v1/datasets/D4RL%2Fdoor%2Fhuman/episodes/0/rewards?stop=1")
    assert a.status == 200 and a.headers["Content-Location"] == "/api/v1/datasets/D4RL/door/human-v2/episodes/0/rewards"


def test_unknown_ids_say_what_there_is(traps):
    body = problem(traps.get("/api/v1/datasets/door-human-v7"), 404, "dataset-not-found")
    assert body["versions"] == ["door-human-v1", "door-human-v10"]
    body = problem(traps.get("/api/v1/datasets/dor-human-v1"), 404, "dataset-not-found")
    assert any(n.startswith("door-human-v") for n in body["nearest"])


def test_document(hub):
    d = hub.dataset("D4RL/door/human-v2")
    assert d["era"] == "E5" and d["namespace"] == "D4RL/door" and d["name"] == "human" and d["version"] == 2
    assert d["observation_space"]["type"] == "Box" and d["observation_space"]["low"] == "-Infinity"
    assert "observation_space" not in d["metadata"]
    fields = {f["path"]: f for f in d["fields"]}
    assert fields["observations"]["axis"] == "state" and fields["observations"]["shape"] == [39]
    assert fields["actions"] == {**fields["actions"], "axis": "step", "role": "action", "dtype": "float32", "shape": [28]}
    assert fields["terminations"]["type"] == "bool"
    assert d["claimed_episodes"] == d["episodes"]


def test_document_etag(hub):
    a = hub.get(DOOR)
    assert hub.get(DOOR, {"If-None-Match": a.headers["ETag"]}).status == 304
    revision = a.json()["revision"]
    assert "immutable" in hub.get(f"{DOOR}?revision={revision}").headers["Cache-Control"]
    assert a.headers["Cache-Control"] == "no-cache"
    problem(hub.get(f"{DOOR}?revision={'0' * 40}"), 410, "revision-gone")
    for bad in ("abc", "", revision.upper() if revision.upper() != revision else "A" * 40, revision + "0", "g" * 40):
        for more in ("", "/episodes", "/episodes/0", "/episodes/0/rewards", "/episodes/0?fields=rewards", "/files", "/files/data/main_data.hdf5"):
            assert problem(hub.get(f"{DOOR}{more}{'&' if '?' in more else '?'}revision={bad}"), 400, "bad-parameter")["parameter"] == "revision"
    gone = "revision=" + "0" * 40
    for of_another_type in (f"/episodes/0/rewards?step=false&{gone}", f"/episodes?limit=x&{gone}", f"/episodes/0?fields=rewards&final=2&{gone}",
                            f"/episodes/0/rewards?format=xml&{gone}"):
        problem(hub.get(DOOR + of_another_type), 400, "bad-parameter")


# ---- episodes ----


def test_episodes(hub):
    items = hub.episodes("door-human-v0")
    assert [e["number"] for e in items] == list(range(12))
    first = hub.get(f"{DOOR}/episodes/0").json()
    assert first["number"] == 0 and first["steps"] == items[0]["steps"]
    shapes = {f["path"]: f["shape"] for f in first["fields"]}
    assert shapes["observations"] == [first["steps"] + 1, 39] and shapes["rewards"] == [first["steps"]]
    problem(hub.get(f"{DOOR}/episodes/12"), 404, "episode-missing")
    problem(hub.get(f"{DOOR}/episodes/x"), 404, "episode-missing")


@pytest.mark.parametrize("sort", ["number", "-number", "steps", "-steps", "return", "-return", "seed", "-seed", "task", "success"])
def test_episode_paging(hub, sort):
    whole = hub.get(f"{DOOR}/episodes?limit=1000&sort={sort}").json()["items"]
    seen, url = [], f"{DOOR}/episodes?limit=5&sort={sort}"
    while url:
        page = hub.get(url).json()
        assert page["total"] == 12
        seen += page["items"]
        url = page["next"] and page["next"].replace(hub.base, "")
    assert seen == whole and len({e["number"] for e in seen}) == 12
    key = sort.lstrip("-")
    values = [e[key] for e in seen if key in e]
    assert values == sorted(values, reverse=sort.startswith("-"))


# ---- rows ----


def test_slices_follow_python(hub):
    whole = np.load(io.BytesIO(hub.get(f"{DOOR}/episodes/3/observations?format=npy").body))
    for query, cut in {
        "start=2&stop=5": slice(2, 5), "start=-3": slice(-3, None), "stop=-1": slice(None, -1), "step=2": slice(None, None, 2),
        "step=-1": slice(None, None, -1), "start=5&stop=2": slice(5, 2), "start=100000": slice(100000, None), "start=-100000&stop=3": slice(-100000, 3),
        "start=8&stop=1&step=-3": slice(8, 1, -3),
    }.items():
        a = hub.get(f"{DOOR}/episodes/3/observations?format=npy&{query}")
        got = np.load(io.BytesIO(a.body))
        assert np.array_equal(got, whole[cut]), query
        assert a.headers["X-Shape"] == ",".join(map(str, whole[cut].shape)) and a.headers["X-Dtype"] == "float64"
    problem(hub.get(f"{DOOR}/episodes/3/observations?step=0"), 400, "bad-slice")
    problem(hub.get(f"{DOOR}/episodes/3/observations?start=one"), 400, "bad-parameter")


def test_row(hub):
    whole = hub.get(f"{DOOR}/episodes/3/observations").json()
    assert hub.get(f"{DOOR}/episodes/3/observations?row=2").json() == whole[2]
    assert hub.get(f"{DOOR}/episodes/3/observations?row=-1").json() == whole[-1]
    assert np.load(io.BytesIO(hub.get(f"{DOOR}/episodes/3/observations?row=2&format=npy").body)).tolist() == whole[2]
    assert np.load(io.BytesIO(hub.get(f"{DOOR}/episodes/3/rewards?row=2&format=npy").body)).shape == ()
    text = hub.get("/api/v1/datasets/mission-text-v0/episodes/0/observations/mission").json()
    for format in ("npy", "npz"):
        got = np.load(io.BytesIO(hub.get(f"/api/v1/datasets/mission-text-v0/episodes/0/observations/mission?row=0&format={format}").body))
        got = got["observations/mission"] if format == "npz" else got
        assert got.shape == () and got.item() == text[0]
    problem(hub.get(f"{DOOR}/episodes/3/observations?row={len(whole)}"), 400, "bad-slice")
    assert problem(hub.get(f"{DOOR}/episodes/3/observations?row=1&stop=3"), 400, "bad-parameter")["parameter"] == "row"


def test_negotiation(hub):
    url = f"{DOOR}/episodes/0/rewards"
    assert hub.get(url).headers["Content-Type"] == "application/json"
    assert hub.get(url, {"Accept": "application/x-npy"}).body[:6] == b"\x93NUMPY"
    assert hub.get(url, {"Accept": "text/html;q=0.1, application/x-npz;q=0.9, */*;q=0.5"}).body[:2] == b"PK"
    assert hub.get(url + "?format=npy", {"Accept": "application/json"}).body[:6] == b"\x93NUMPY"
    problem(hub.get(url, {"Accept": "text/html"}), 406, "not-acceptable")
    problem(hub.get(url + "?format=xml"), 400, "bad-parameter")
    assert "Accept" in hub.get(url).headers["Vary"]


def test_several_fields_are_aligned(hub):
    one = {f: hub.get(f"{DOOR}/episodes/1/{f}").json() for f in ("observations", "actions", "rewards")}
    got = hub.get(f"{DOOR}/episodes/1?fields=observations&fields=actions&fields=rewards&start=2&stop=5").json()
    assert got == {f: rows[2:5] for f, rows in one.items()}
    got = hub.get(f"{DOOR}/episodes/1?fields=observations&fields=actions&start=-2&final=1").json()
    steps = len(one["actions"])
    assert got["actions"] == one["actions"][-2:] and got["observations"] == one["observations"][steps - 2:]
    whole = hub.get(f"{DOOR}/episodes/1?fields=observations&fields=rewards").json()
    assert len(whole["observations"]) == steps + 1 and len(whole["rewards"]) == steps
    with np.load(io.BytesIO(hub.get(f"{DOOR}/episodes/1?fields=observations&fields=actions&format=npz").body)) as z:
        assert sorted(z.files) == ["actions", "observations"] and np.array_equal(z["observations"], one["observations"])
    aligned = {"observations": one["observations"][:-1], "rewards": one["rewards"]}
    for query in ("start=0", "final=0", "step=1", f"stop={steps}"):
        assert hub.get(f"{DOOR}/episodes/1?fields=observations&fields=rewards&{query}").json() == aligned, query
    assert hub.get(f"{DOOR}/episodes/1?fields=observations&fields=rewards&final=1").json() == whole
    got = hub.get(f"{DOOR}/episodes/1?fields=observations&fields=rewards&step=-1").json()
    assert got == {f: rows[::-1] for f, rows in aligned.items()}
    problem(hub.get(f"{DOOR}/episodes/1?fields=observations&fields=nothing"), 404, "field-not-found")
    problem(hub.get(f"{DOOR}/episodes/1?fields=observations&fields=actions&format=npy"), 406, "not-acceptable")


@pytest.mark.parametrize("parameter", ["start=1", "stop=2", "step=2", "final=1", "format=npz", "nonfinite=string"])
def test_what_is_about_rows_needs_fields(hub, parameter):
    body = problem(hub.get(f"{DOOR}/episodes/1?{parameter}"), 400, "bad-parameter")
    assert body["parameter"] == parameter.split("=")[0] and "fields=" in body["detail"]


def test_a_field_shorter_than_its_episode():
    root = tempfile.mkdtemp(prefix="hub-short-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), os.path.join(root, "door-human-v0"))
        with h5py.File(os.path.join(root, "door-human-v0", "data", "main_data.hdf5"), "r+") as f:
            for name, group in f.items():
                steps = len(group["rewards"])
                group.create_dataset("infos/late", data=np.arange(steps if name != "episode_1" else steps - 4))
        with serving(root) as h:
            steps = h.get(f"{DOOR}/episodes/1").json()["steps"]
            for query, of in {"start=0": slice(None), "step=-1": slice(None, None, -1), "start=-6": slice(-6, None), "step=-3": slice(None, None, -3),
                              "start=-2&stop=-1": slice(-2, -1), "start=-3&step=-1": slice(-3, None, -1)}.items():
                want = [i for i in range(steps)[of] if i < steps - 4]
                got = h.get(f"{DOOR}/episodes/1?fields=infos/late&fields=rewards&{query}").json()
                assert got["infos/late"] == want and len(got["rewards"]) == len(range(steps)[of]), (query, got, want)
    finally:
        shutil.rmtree(root)


def test_single_values():
    root = tempfile.mkdtemp(prefix="hub-single-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), os.path.join(root, "door-human-v0"))
        with h5py.File(os.path.join(root, "door-human-v0", "data", "main_data.hdf5"), "r+") as f:
            for name, group in f.items():
                group["infos/mass"] = 1.5
                group["infos/name"] = "arm"
                group["infos/one"] = np.array([2])
        with serving(root) as h:
            shapes = {f["path"]: f["shape"] for f in h.get(f"{DOOR}/episodes/0").json()["fields"]}
            assert shapes["infos/mass"] == shapes["infos/name"] == [] and shapes["infos/one"] == [1]
            a = h.get(f"{DOOR}/episodes/0/infos/mass")
            assert a.json() == 1.5 and a.headers["X-Shape"] is None
            assert h.get(f"{DOOR}/episodes/0/infos/name").json() == "arm" and h.get(f"{DOOR}/episodes/0/infos/one").json() == [2]
            got = np.load(io.BytesIO(h.get(f"{DOOR}/episodes/0/infos/name?format=npy").body))
            assert got.shape == () and got.item() == "arm"
            got = h.get(f"{DOOR}/episodes/0?fields=infos/mass&fields=rewards&start=1&stop=3").json()
            assert got["infos/mass"] == 1.5 and len(got["rewards"]) == 2
            assert h.get(f"{DOOR}/episodes/0/infos?stop=0").json()["mass"] == 1.5
            for query in ("start=0", "stop=1", "step=2", "row=0"):
                problem(h.get(f"{DOOR}/episodes/0/infos/mass?{query}"), 400, "bad-slice")
    finally:
        shutil.rmtree(root)


# ---- what is not ready ----


def of_episodes(id):
    url = f"/api/v1/datasets/{id}/episodes"
    return [url, f"{url}?limit=3", f"{url}/0", f"{url}/0?fields=observations&start=1", f"{url}/0/observations", f"{url}/0/observations?row=1&format=npy"]


def test_episodes_of_what_is_not_ready():
    root = tempfile.mkdtemp(prefix="hub-unready-")
    try:
        os.makedirs(os.path.join(root, "bad-v0", "data"))
        with open(os.path.join(root, "bad-v0", "data", "main_data.hdf5"), "wb") as f:
            f.write(b"not an HDF5 file" * 100)
        with serving(root) as h:
            assert h.dataset("bad-v0")["status"] == "broken"
            for url in of_episodes("bad-v0"):
                problem(h.get(url), 422, "dataset-broken")
            assert h.get("/api/v1/datasets/bad-v0").status == h.get("/api/v1/datasets/bad-v0/files").status == 200
        with Hub([root], args=("--settle", "10m")) as h:
            h.wait_ready()
            assert h.dataset("bad-v0")["status"] == "pending"
            for url in of_episodes("bad-v0"):
                a = h.get(url)
                assert a.headers["Retry-After"] and problem(a, 503, "pending")
            assert h.get("/api/v1/datasets/bad-v0/files").status == 200
            for more in ("", "/files", "/files/data/main_data.hdf5", "/episodes"):  # it may yet turn out to be that revision
                assert problem(h.get(f"/api/v1/datasets/bad-v0{more}?revision={'0' * 40}"), 503, "pending")
    finally:
        shutil.rmtree(root)


def test_a_pending_dataset_says_how_far_it_is():
    root = tempfile.mkdtemp(prefix="hub-parts-")
    try:
        os.makedirs(os.path.join(root, "many"))
        shard = os.path.join(FIXTURES, "webdataset", "plain", "steps-000000.tar")
        for i in range(400):
            shutil.copyfile(shard, os.path.join(root, "many", f"steps-{i:06d}.tar"))
        told = []
        with Hub([root]) as h:
            h.wait_ready()
            while (a := h.get("/api/v1/datasets/many/episodes?limit=1")).status != 200:
                told.append(problem(a, 503, "pending"))
            assert a.json()["total"] == 400
        far = [b["done"] for b in told if "done" in b]
        assert far == sorted(far) and far and far[-1] < 400 and {b["parts"] for b in told if "done" in b} == {400}
    finally:
        shutil.rmtree(root)


def test_group(hub):
    id = "mission-text-v0"
    fields = [f["path"] for f in hub.dataset(id)["fields"] if f["path"].startswith("observations/")]
    got = hub.get(f"/api/v1/datasets/{id}/episodes/0/observations").json()
    assert sorted(got) == sorted(f.split("/", 1)[1] for f in fields)
    for f in fields:
        assert got[f.split("/", 1)[1]] == hub.get(f"/api/v1/datasets/{id}/episodes/0/{f}").json()
    body = problem(hub.get(f"/api/v1/datasets/{id}/episodes/0/observation"), 404, "field-not-found")
    assert "observations" in body["detail"]


def test_slice_etag(hub):
    url = f"{DOOR}/episodes/0/observations?start=1&stop=4"
    a = hub.get(url)
    assert hub.get(url, {"If-None-Match": a.headers["ETag"]}).status == 304
    assert hub.get(url + "&format=npy").headers["ETag"] != a.headers["ETag"]
    assert hub.get(url.replace("stop=4", "stop=5")).headers["ETag"] != a.headers["ETag"]
    head = hub.get(url, method="HEAD")
    assert head.status == 200 and head.headers["Content-Length"] == str(len(a.body)) and head.headers["ETag"] == a.headers["ETag"]


def test_an_etag_names_the_rows_of_every_field(hub):
    url = f"{DOOR}/episodes/1?fields=actions&fields=observations&start=0&stop=4"
    tags = {hub.get(url + more).headers["ETag"] for more in ("", "&final=1", "&format=npz", "&step=2")}
    assert len(tags) == 4


def test_not_modified_says_what_ok_would(hub):
    url = "/api/v1/datasets/door-human/episodes/0/observations?start=1&stop=4"
    a = hub.get(url)
    b = hub.get(url, {"If-None-Match": a.headers["ETag"]})
    assert b.status == 304 and not b.body
    for name in ("ETag", "Vary", "Cache-Control", "Content-Location"):
        assert b.headers[name] == a.headers[name] and a.headers[name], name


def test_fields_asked_for_twice_come_once(hub):
    got = hub.get(f"{DOOR}/episodes/1?fields=actions&fields=actions&stop=2").body
    assert got.count(b'"actions"') == 1
    problem(hub.get(f"{DOOR}/episodes/1?fields=actions&final=perhaps"), 400, "bad-parameter")


def test_an_unreadable_field_hides_no_episode():
    with serving(os.path.join(FIXTURES, "hdf5")) as h:
        url = "/api/v1/datasets/filters-unknown-v0/episodes/0"
        fields = {f["path"]: f for f in h.get(url).json()["fields"]}
        assert fields["infos/zfp"]["unreadable"] == "filter 32013 (zfp)" and fields["infos/good"]["shape"] == [5, 3]
        problem(h.get(url + "/infos/zfp"), 422, "field-unreadable")
        assert h.get(url + "/infos/good").status == 200


def test_an_episode_lists_what_it_has():
    root = tempfile.mkdtemp(prefix="hub-lists-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), os.path.join(root, "door-human-v0"))
        with h5py.File(os.path.join(root, "door-human-v0", "data", "main_data.hdf5"), "r+") as f:
            f["episode_1"]["infos/odd"] = f["episode_2"]["infos/mixed"] = np.zeros(3, "V4")
            f["episode_1"]["infos/mixed"] = np.arange(3)
        with serving(root) as h:
            fields = {f["path"]: f for f in h.dataset("door-human-v0")["fields"]}
            assert "opaque" in fields["infos/odd"]["unreadable"] and fields["infos/odd"]["episodes"] == 1
            assert "unreadable" not in fields["infos/mixed"] and fields["infos/mixed"]["episodes"] == 2
            listed = [{f["path"]: f for f in h.get(f"{DOOR}/episodes/{n}").json()["fields"]} for n in range(3)]
            assert not {"infos/odd", "infos/mixed"} & set(listed[0]) and "infos/odd" not in listed[2]
            assert "opaque" in listed[1]["infos/odd"]["unreadable"] and "opaque" in listed[2]["infos/mixed"]["unreadable"]
            assert listed[1]["infos/mixed"]["shape"] == [3] and h.get(f"{DOOR}/episodes/1/infos/mixed").json() == [0, 1, 2]
            for n, path in ((0, "infos/odd"), (0, "infos/mixed"), (2, "infos/odd")):
                assert path in problem(h.get(f"{DOOR}/episodes/{n}/{path}"), 404, "field-not-found")["detail"]
            for n, path in ((1, "infos/odd"), (2, "infos/mixed")):
                assert path in problem(h.get(f"{DOOR}/episodes/{n}/{path}"), 422, "field-unreadable")["detail"]
            assert h.get(f"{DOOR}/episodes/1/infos").headers["X-Left-Out"] == "odd"
            problem(h.get(f"{DOOR}/episodes/2/infos"), 422, "field-unreadable")
    finally:
        shutil.rmtree(root)


def test_text_too_wide_for_numpy_is_named():
    root = tempfile.mkdtemp(prefix="hub-wide-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), os.path.join(root, "door-human-v0"))
        with h5py.File(os.path.join(root, "door-human-v0", "data", "main_data.hdf5"), "r+") as f:
            f["episode_0"].create_dataset("infos/prompt", data=["x" * 1_000_000] + ["y"] * 19, dtype=h5py.string_dtype())
            f["episode_0"]["infos/other"] = np.arange(20)
        with serving(root) as h:
            for url in (f"{DOOR}/episodes/0/infos?format=npz", f"{DOOR}/episodes/0?fields=infos/prompt&format=npz"):
                detail = problem(h.get(url), 413, "too-large")["detail"]
                assert "prompt' with its rows padded to the longest is 76 MiB; at most 64" in detail, detail
            assert [len(t) for t in h.get(f"{DOOR}/episodes/0/infos").json()["prompt"]] == [1_000_000] + [1] * 19
            assert h.get(f"{DOOR}/episodes/0?fields=infos/other&format=npz").status == 200
    finally:
        shutil.rmtree(root)


def test_images(hub):
    d = next(i for i in hub.datasets() if i["id"].startswith("pictures/"))
    field = next(f for f in hub.dataset(d["id"])["fields"] if f["type"] == "image")
    a = hub.get(f"/api/v1/datasets/{d['id']}/episodes/0/{field['path']}?row=0", {"Accept": "image/*"})
    assert a.status == 200 and a.headers["Content-Type"] == "image/jpeg" and a.body[:2] == b"\xff\xd8"
    problem(hub.get(f"/api/v1/datasets/{d['id']}/episodes/0/{field['path']}?format=npy"), 406, "needs-decoding")
    assert hub.get(f"/api/v1/datasets/{d['id']}/episodes/0/{field['path']}?row=0&format=jpeg").body == a.body
    raw = hub.get(f"/api/v1/datasets/{d['id']}/episodes/0/{field['path']}?row=0&format=raw")
    assert raw.body == a.body and raw.headers["Content-Type"] == "image/jpeg"
    problem(hub.get(f"/api/v1/datasets/{d['id']}/episodes/0/{field['path']}?row=0&format=png"), 406, "needs-decoding")


def frames_of(answer, name):
    with np.load(io.BytesIO(answer.body), allow_pickle=False) as z:
        return [frame[:length].tobytes() for frame, length in zip(z[name], z[f"{name}__length"])], sorted(z.files)


def test_frames_in_one_answer(hub):
    id = next(i for i in hub.datasets() if i["id"].startswith("pictures/"))["id"]
    path = next(f for f in hub.dataset(id)["fields"] if f["type"] == "image")["path"]
    one = [hub.get(f"/api/v1/datasets/{id}/episodes/0/{path}?row={i}&format=jpeg").body for i in range(3)]
    frames, files = frames_of(hub.get(f"/api/v1/datasets/{id}/episodes/0/{path}?stop=3&format=npz"), path)
    assert frames == one and files == [path, f"{path}__length"]
    a = hub.get(f"/api/v1/datasets/{id}/episodes/0?fields={path}&fields=rewards&stop=3&format=npz")
    frames, files = frames_of(a, path)
    assert frames == one and files == [path, f"{path}__length", "rewards"] and "X-Left-Out" not in a.headers
    assert frames_of(hub.get(f"/api/v1/datasets/{id}/episodes/0/{path}?start=3&stop=3&format=npz"), path)[0] == []


def test_lengths_never_take_the_name_of_a_field():
    root = tempfile.mkdtemp(prefix="hub-lengths-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), os.path.join(root, "door-human-v0"))
        with h5py.File(os.path.join(root, "door-human-v0", "data", "main_data.hdf5"), "r+") as f:
            blobs = f["episode_0"].create_dataset("infos/blob", (2,), dtype=h5py.vlen_dtype(np.uint8))
            blobs[0], blobs[1] = np.arange(3, dtype=np.uint8), np.arange(5, dtype=np.uint8)
            f["episode_0"]["infos/blob__length"] = np.arange(2)
        with serving(root) as h:
            frames, files = frames_of(h.get(f"{DOOR}/episodes/0/infos/blob?format=npz"), "infos/blob")
            assert frames == [bytes(range(3)), bytes(range(5))]
            body = problem(h.get(f"{DOOR}/episodes/0?fields=infos/blob&fields=infos/blob__length&format=npz"), 406, "not-acceptable")
            assert "infos/blob__length" in body["detail"]
    finally:
        shutil.rmtree(root)


def test_a_group_leaves_out_what_cannot_be_read():
    with serving(os.path.join(FIXTURES, "hdf5")) as h:
        url = "/api/v1/datasets/filters-unknown-v0/episodes/0"
        for query in (f"{url}/infos", f"{url}?fields=infos", f"{url}/infos?format=npz"):
            a = h.get(query)
            assert a.status == 200 and "zfp" in a.headers["X-Left-Out"] and "good" not in a.headers["X-Left-Out"], query
        assert "good" in h.get(f"{url}/infos").json() and "zfp" not in h.get(f"{url}/infos").json()
        problem(h.get(f"{url}?fields=infos/zfp"), 422, "field-unreadable")


def test_text_that_is_no_utf8_is_the_same_everywhere():
    root = tempfile.mkdtemp(prefix="hub-text-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), os.path.join(root, "door-human-v0"))
        with h5py.File(os.path.join(root, "door-human-v0", "data", "main_data.hdf5"), "r+") as f:
            stored = [b"fine", b"caf\xe9", "\u6249".encode(), b""]
            f["episode_0"].create_dataset("infos/odd", data=stored, dtype=h5py.string_dtype("utf-8"))
        with serving(root) as h:
            want = ["fine", "caf\ufffd", "\u6249", ""]
            assert h.get(f"{DOOR}/episodes/0/infos/odd").json() == want
            assert np.load(io.BytesIO(h.get(f"{DOOR}/episodes/0/infos/odd?format=npy").body)).tolist() == want
            assert np.load(io.BytesIO(h.get(f"{DOOR}/episodes/0/infos/odd?format=npz").body))["infos/odd"].tolist() == want
            problem(h.get(f"{DOOR}/episodes/0/infos/odd?format=raw"), 406, "not-acceptable")
    finally:
        shutil.rmtree(root)


# ---- files ----


def test_files(hub):
    listing = hub.get(f"{DOOR}/files").json()
    assert listing["total"] == len(listing["items"]) == hub.dataset("door-human-v0")["files"]
    for item in listing["items"]:
        with open(os.path.join(SAMPLES, "door-human-v0", item["path"]), "rb") as f:
            data = f.read()
        a = hub.get(f"{DOOR}/files/{item['path']}")
        assert a.status == 200 and a.body == data and int(a.headers["Content-Length"]) == item["size"]
    problem(hub.get(f"{DOOR}/files/nothing"), 404, "file-not-found")
    for bad in ("../door-human-v0/data/main_data.hdf5", "data/%2e%2e/x", "data//main_data.hdf5"):
        assert hub.get(f"{DOOR}/files/{bad}").status in (400, 404), bad


def test_ranges(hub):
    url = f"{DOOR}/files/data/main_data.hdf5"
    data = hub.get(url).body
    n = len(data)
    for header, want in {"bytes=0-0": data[:1], "bytes=-5": data[-5:], "bytes=10-": data[10:], f"bytes=5-{n + 9}": data[5:], "bytes=0-": data}.items():
        a = hub.get(url, {"Range": header})
        assert a.status == 206 and a.body == want, header
        assert a.headers["Content-Range"].endswith(f"/{n}")
    for header in ("bytes=1-0", "chunks=0-1", "bytes=0-1,4-5", "bytes=x-y"):
        assert hub.get(url, {"Range": header}).status == 200, header
    a = hub.get(url, {"Range": f"bytes={n}-"})
    problem(a, 416, "range-not-satisfiable")
    assert a.headers["Content-Range"] == f"bytes */{n}"
    etag = hub.get(url, method="HEAD").headers["ETag"]
    assert hub.get(url, {"Range": "bytes=0-3", "If-Range": etag}).status == 206
    assert hub.get(url, {"Range": "bytes=0-3", "If-Range": '"other"'}).status == 200
    assert hub.get(url, {"If-None-Match": etag}).status == 304
    problem(hub.get(url, {"If-Match": '"other"'}), 412, "precondition-failed")


def test_digests_arrive(hub):
    url = f"{DOOR}/files/data/main_data.hdf5"
    etag = hub.get(url).headers["ETag"]
    until(lambda: "Repr-Digest" in hub.get(url, method="HEAD").headers)
    item = next(i for i in hub.get(f"{DOOR}/files").json()["items"] if i["path"] == "data/main_data.hdf5")
    assert item["sha256"] == hashlib.sha256(hub.get(url).body).hexdigest()
    assert hub.get(url).headers["ETag"] == etag, "an ETag does not change when a digest arrives"


@pytest.mark.parametrize("before, digest", [("/api/v1/datasets/lab/door-v0/files/", "Repr-Digest"), ("/datasets/lab/door-v0/resolve/main/", "Repr-Digest"),
                                            ("/minari-datasets/lab/door-v0/", "X-Goog-Hash")])
def test_a_file_keeps_its_etag_when_it_is_hashed(tmp_path, before, digest):
    """A download that began before goes on after. X-Linked-Etag alone names the bytes, and so becomes the digest."""
    shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), tmp_path / "lab" / "door-v0")
    url = before + "data/main_data.hdf5"
    with serving(str(tmp_path), args=["--hash", "off"]) as hub:
        answers = [hub.get(url), hub.get(url, method="HEAD"), hub.get(url, {"Range": "bytes=0-999"})]
    data, etag, linked = answers[0].body, answers[0].headers["ETag"], answers[0].headers["X-Linked-Etag"]
    assert etag and not any(a.headers[digest] for a in answers)
    with serving(str(tmp_path)) as hub:
        until(lambda: hub.get(url, method="HEAD").headers[digest])
        hashed = [hub.get(url), hub.get(url, method="HEAD"), hub.get(url, {"Range": "bytes=1000-", "If-Range": etag})]
    assert all(a.headers[digest] for a in hashed) and {a.headers["ETag"] for a in answers + hashed} == {etag}
    assert hashed[2].status == 206 and answers[2].body + hashed[2].body == data
    assert linked is None or hashed[0].headers["X-Linked-Etag"] == f'"{hashlib.sha256(data).hexdigest()}"' != linked


def test_content_arrives_with_the_last_digest(hub):
    url = "/api/v1/datasets/D4RL/door/human-v2"
    assert "content" not in hub.get(url).json()
    for item in hub.get(url + "/files").json()["items"]:
        assert hub.get(f"{url}/files/{item['path']}", method="HEAD").status == 200
    until(lambda: "content" in hub.get(url).json())
    assert len(hub.get(url).json()["content"]) == 64


# ---- validators and gzip of documents ----

DOCUMENTS = ["/api/v1/datasets", "/api/v1/datasets?sort=-size&limit=2", DOOR, "/api/v1/datasets/door-human", f"{DOOR}/episodes", f"{DOOR}/episodes?limit=3&sort=-return",
             f"{DOOR}/episodes/0", f"{DOOR}/files", "/openapi.json"]


@pytest.mark.parametrize("url", DOCUMENTS)
def test_validators_and_gzip(hub, url):
    whole = hub.get(url)
    while "content" not in url and hub.get(url).headers["ETag"] != whole.headers["ETag"]:  # digests of other tests arrive
        whole = hub.get(url)
    packed = hub.get(url, {"Accept-Encoding": "gzip, deflate"})
    assert whole.headers["Content-Encoding"] is None and "Accept-Encoding" in whole.headers.get_all("Vary")
    coded = packed.headers["Content-Encoding"] == "gzip"
    assert coded == (len(whole.body) >= 1024), len(whole.body)
    assert (gzip.decompress(packed.body) if coded else packed.body) == whole.body
    assert (packed.headers["ETag"] != whole.headers["ETag"]) == coded and (not coded or len(packed.body) < len(whole.body) * 0.7)
    for accept, answer in (("identity", whole), ("gzip", packed)):
        same = hub.get(url, {"If-None-Match": answer.headers["ETag"], "Accept-Encoding": accept})
        assert same.status == 304 and not same.body and same.headers["ETag"] == answer.headers["ETag"] and same.headers["Vary"]
        head = hub.get(url, {"Accept-Encoding": accept}, method="HEAD")
        for name in ("ETag", "Content-Encoding", "Content-Length", "Content-Type", "Cache-Control", "Vary"):
            assert head.headers[name] == answer.headers[name], name
    assert hub.get(url, {"If-None-Match": '"other"'}).status == 200
    problem(hub.get(url, {"If-Match": '"other"'}), 412, "precondition-failed")
    again = hub.get(url, {"Accept-Encoding": "gzip;q=0.5, *;q=0"})
    assert again.body == packed.body and again.headers["ETag"] == packed.headers["ETag"]
    for refused in ("gzip;q=0", "identity", "br", "gzip;q=0.2, identity;q=0.9", "deflate, br;q=1.0", "gzip;q=zero"):
        assert hub.get(url, {"Accept-Encoding": refused}).headers["Content-Encoding"] is None, refused


@pytest.mark.parametrize("path", [
    *DOCUMENTS, f"{DOOR}/rows?format=npz", f"{DOOR}/rows?format=csv", f"{DOOR}/rows?format=arrow", f"{DOOR}/archive.tar", f"{DOOR}/~kerchunk.json",
    f"{DOOR}/episodes?format=jsonl", f"{DOOR}/episodes?format=csv", f"{DOOR}/episodes?format=arrow", f"{DOOR}/files/data/main_data.hdf5",
    f"{DOOR}/episodes/0/observations?format=npy", f"{DOOR}/episodes/0/observations?format=arrow", f"{DOOR}/episodes/0?format=nothing",
    f"{DOOR}/~statistics", "/api/v1/datasets/none", "/nope", "/api/v1/datasets?limit=0", "/", "/d/door-human-v0", "/metrics", "/readyz"])
@pytest.mark.parametrize("more", ["Accept: */*", "Range: bytes=10-19", "Accept-Encoding: gzip"])
def test_nothing_follows_the_header_of_a_head(hub, path, more):
    """Another request waits behind it: what comes next is its answer, or the end where no length is known."""
    with socket.create_connection(("127.0.0.1", hub.port), timeout=PATIENCE) as sock:
        sock.sendall(f"HEAD {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        said = b""
        while part := sock.recv(65536):
            said += part
    head, _, rest = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 ") and (rest.startswith(b"HTTP/1.1 200 OK\r\n") and rest.count(b"HTTP/1.") == 1 or
                                             (rest == b"" and b"content-length:" not in head.lower())), said


def test_rows_and_files_are_not_compressed(hub):
    for url in (f"{DOOR}/episodes/0/observations", f"{DOOR}/files/data/metadata.json", f"{DOOR}/episodes/0?fields=observations"):
        assert hub.get(url, {"Accept-Encoding": "gzip"}).headers["Content-Encoding"] is None


def test_pages_under_gzip(traps):
    seen, url = [], "/api/v1/datasets?limit=2&sort=-size"
    while url:
        a = traps.get(url, {"Accept-Encoding": "gzip"})
        page = json.loads(gzip.decompress(a.body) if a.headers["Content-Encoding"] else a.body)
        seen += [i["id"] for i in page["items"]]
        url = page["next"] and page["next"].replace(traps.base, "")
    assert sorted(seen) == sorted(i["id"] for i in traps.datasets())


# ---- the edge ----


def test_methods_routes_and_cors(hub):
    problem(hub.get(DOOR, method="PUT"), 405, "method-not-allowed")
    problem(hub.get("/api/v1/nothing"), 404, "route-not-found")
    assert hub.get(DOOR).headers["Access-Control-Allow-Origin"] == "*"
    a = hub.get(DOOR, {"Origin": "http://x", "Access-Control-Request-Method": "GET"}, method="OPTIONS")
    assert a.status in (200, 204) and "GET" in a.headers["Access-Control-Allow-Methods"]
    assert hub.get("/healthz").body == b"ok\n"


def test_metrics_are_valid(hub):
    text = hub.get("/metrics").body
    assert b"minari_hub_datasets{status=\"ready\"}" in text
    promtool = shutil.which("promtool")
    assert promtool, "promtool is in Debian's package prometheus"
    checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_contract_is_a_valid_document(hub):
    from openapi_spec_validator import validate

    validate(hub.get("/openapi.json").json())
    assert hub.checker.checked > 30


def test_a_slash_at_the_end_leads_to_the_path_without_it(hub):
    for path in (DOOR, f"{DOOR}/episodes", f"{DOOR}/episodes/0", f"{DOOR}/episodes/0/actions", f"{DOOR}/files", "/api/v1/status", "/healthz"):
        for query in ("", "?limit=3"):
            connection = http.client.HTTPConnection("127.0.0.1", hub.port)
            connection.request("GET", f"{path}/{query}")
            answer = connection.getresponse()
            told = Answer(answer.status, answer.headers, answer.read())
            assert told.status == 308, path
            hub.checker("GET", f"{path}/{query}", told)


def test_references_to_arrays(tmp_path):
    """They name the bytes of this revision; what has none is named with the reason. tests/conformance reads them with zarr."""
    root = tmp_path / "root"
    for kind, name in (("samples", "door-human-v0"), ("webdataset", "plain"), ("parquet", "all")):
        shutil.copytree(os.path.join(FIXTURES, kind, name), root / name)
    with serving(str(root)) as hub:
        at = "/api/v1/datasets/door-human-v0/~kerchunk.json"
        answer = hub.get(at)
        document, revision = answer.json(), hub.dataset("door-human-v0")["revision"]
        assert document["templates"] == {"u": hub.base + "/api/v1/datasets/door-human-v0/files"} and document["left_out"] == []
        data = (root / "door-human-v0/data/main_data.hdf5").read_bytes()
        arrays = {k.removesuffix("/.zarray"): json.loads(v) for k, v in document["refs"].items() if k.endswith("/.zarray")}
        fields = {f["path"] for f in hub.dataset("door-human-v0")["fields"]}
        assert {a.split("/", 2)[2] for a in arrays} == fields
        compared = 0
        for name, meta in arrays.items():
            if meta["filters"] or meta["shape"] != meta["chunks"]:
                continue
            url, offset, size = document["refs"][name + "/" + ".".join("0" for _ in meta["shape"])]
            assert url == f"{{{{u}}}}/data/main_data.hdf5?revision={revision}"
            shown = hub.get(f"/api/v1/datasets/door-human-v0/{name}?format=raw")
            compared += 1
            assert shown.status == 200 and shown.body == data[offset:offset + size], name
            ranged = hub.get(url.replace("{{u}}", "/api/v1/datasets/door-human-v0/files"), {"Range": f"bytes={offset}-{offset + size - 1}"})
            assert ranged.body == shown.body
        assert compared
        assert hub.get(at, {"If-None-Match": answer.headers["ETag"]}).status == 304 and hub.get(at, method="HEAD").status == 200
        assert hub.get(at + "?revision=" + "0" * 40).status == 410 and hub.get(at + "?x=1").status == 400
        parquet = next(i for i, f in ((d["id"], d["format"]) for d in hub.datasets()) if f not in ("webdataset", "minari-hdf5", "files"))
        left = hub.get(f"/api/v1/datasets/{parquet}/~kerchunk.json").json()["left_out"]
        assert left and all(l["detail"] for l in left)
        plain = hub.get("/api/v1/datasets/plain/~kerchunk.json").json()
        assert json.dumps(plain["refs"]).count("{{u}}") or plain["left_out"]

def test_every_parameter_is_in_the_contract(hub):
    """Who asks with a wrong one is told those that there are: no more, and no fewer, than openapi.json lists."""
    contract, seen, wrong = hub.get("/openapi.json").json(), 0, {}
    for path, item in contract["paths"].items():
        if "get" not in item or path in ("/", "/openapi.json", "/healthz", "/readyz", "/metrics") or path.startswith("/api/v1/mirrors/") or "~media/" in path:
            continue
        named = {p["name"] for p in item["get"]["parameters"] if p["in"] == "query"}
        at = path.replace("{id}/episodes/{n}/{path}", "{id}/episodes/0/rewards").replace("files/{path}", "files/data/main_data.hdf5").replace("namespaces/{path}", "namespaces/D4RL")
        at, told = at.replace("{id}", "D4RL/door/human-v2").replace("{n}", "0"), set()
        admin = "security" in item["get"]
        for other in "", "columns=id&", "columns=number&", "fields=rewards&", "buckets=9&", "runs=9&", "of=observation&", "fields=rewards&buckets=9&", "limit=9&", "who=x&":  # some names lead to another answer
            if not other or other.split("=")[0] in named:
                problem = (hub.admin if admin else lambda path: hub.get(path).json())(f"{at}?{other}nonsense=1")
                assert problem["status"] == 400 or (problem["status"] == 404 and path == "/api/v1/jobs/{id}"), (path, problem)
                detail = problem["detail"]
                told |= named if problem["status"] == 404 else set(detail.split("resource takes ")[1].split(", ")) - {"none"} if "resource takes " in detail else set()
        wrong.update({path: told ^ named} if told != named else {})
        seen += 1
    assert not wrong and seen >= 15, wrong


def test_every_operation_is_described(hub):
    paths = hub.get("/openapi.json").json()["paths"]
    assert not [(path, method) for path, item in paths.items() for method, o in item.items() if "operationId" in o and len(o.get("description", "")) < 20]


def test_one_field_alone_is_as_long_in_every_form(hub):
    """By its path or by its name; where several stand beside each other a row is a step."""
    at = f"{DOOR}/episodes/0"
    rows = len(hub.get(f"{at}/observations").json())
    for ask in "/observations?format=", "?fields=observations&format=":
        assert len(hub.get(f"{at}{ask}csv").body.splitlines()) - 1 == len(hub.get(f"{at}{ask}jsonl").body.splitlines()) == rows
    assert len(hub.get(f"{at}?fields=observations").json()["observations"]) == rows
    assert len(hub.get(f"{at}?fields=observations&fields=rewards&format=csv").body.splitlines()) - 1 == rows - 1
