"""`minari-hub check`: files whose bytes are not what they were are found, never served, and fetched again where they came from."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, until
from mirrors import here, place  # noqa: F401

DOOR = "D4RL/door/human-v2"
DATA = "/api/v1/datasets/" + DOOR


def check(place, *args, code=0, root="here"):
    run = subprocess.run(command(place, *args, root=root), capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, env=environment(place, root))
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return json.loads(run.stdout) if "--json" in args and run.stdout else run.stdout + run.stderr


def command(place, *args, root="here"):
    return [os.path.join(BIN, "minari-hub"), "check", *args, "--state", os.path.join(place, "state")]


def environment(place, root):
    return {**os.environ, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_DATASETS_PATH": os.path.join(place, root)}


def truth(place, sql, *values):
    with sqlite3.connect(os.path.join(place, "state", "hub.db")) as db:
        return db.execute(sql, values).fetchall()


def kinds(result):
    return {(f["path"], f["what"]) for f in result["findings"]}


@pytest.fixture
def local(place):
    """Datasets that came from nowhere."""
    shutil.rmtree(os.path.join(place, "here"))
    os.rename(os.path.join(place, "up"), os.path.join(place, "here"))
    return place


def test_what_came_from_nowhere_is_not_served_any_more(local):
    file, rows = f"{DATA}/files/data/main_data.hdf5", f"{DATA}/episodes/0/observations?stop=2&format=npy"
    with here(local, "--sweep", "1s") as hub:
        hub.wait_indexed()
        good = hub.get(rows).body
        first = check(local, "--json")
        assert first["first"] == first["files"] > 20 and first["datasets"] == len(hub.datasets()) and first["damaged"] == 0
        again = check(local, "--json", "--rate", "500M")
        assert again["first"] == 0 and again["files"] == first["files"] and again["bytes"] == first["bytes"]
        assert hub.dataset(DOOR)["content"]
    # silent rot leaves no trace but in the bytes: here it is the digest that is made another
    path = DOOR + "/data/main_data.hdf5"
    truth(local, "UPDATE digests SET sha256 = replace(sha256, substr(sha256, 1, 1), 'x') WHERE path = ?", path)
    truth(local, "UPDATE digests SET sha256 = replace(sha256, 'x', '0') WHERE path = ?", path)
    with here(local, "--sweep", "1s") as hub:
        hub.wait_indexed()
        found = check(local, "D4RL/*", "--json", code=5)
        assert kinds(found) == {("data/main_data.hdf5", "damaged")} and found["damaged"] == 1
        for url in (rows, file, f"{DATA}/archive.tar"):
            answer = hub.get(url)
            assert answer.status == 422 and answer.json()["type"] == "urn:minari-hub:file-damaged", answer.body
        assert "put a good copy in its place" in answer.json()["detail"] and local not in answer.json()["detail"]
        assert hub.get(f"{DATA}/files/data/metadata.json").status == 200
        assert [p["path"] for p in hub.dataset(DOOR)["problems"] if p["code"] == "file-damaged"] == ["data/main_data.hdf5"]
        assert [d["id"] for d in hub.datasets() if d.get("damaged")] == [DOOR]
        assert [f["path"] for f in hub.get(DATA + "/files").json()["items"] if f.get("damaged")] == ["data/main_data.hdf5"]
        assert {"files-damaged", "file-damaged"} <= {p["code"] for p in hub.get("/api/v1/problems?limit=1000").json()["items"]}
        assert "files-damaged" in {a["code"] for a in hub.get("/api/v1/status").json()["alerts"]}
    with here(local, "--sweep", "1s") as hub:  # it is remembered
        hub.wait_indexed()
        assert hub.get(rows).status == 422
        whole = os.path.join(local, "here", path)
        shutil.copy2(whole, whole + ".new")
        os.replace(whole + ".new", whole)
        until(lambda: hub.get(rows).body == good)
        until(lambda: not hub.dataset(DOOR).get("damaged"))
        changed = check(local, DOOR, "--json")
        assert kinds(changed) == {("data/main_data.hdf5", "changed")}
        check(local, "no/such/set", code=3)
        check(local, "--rate", "fast", code=2)


def test_when_no_hub_runs(local):
    check(local, "--repair", DOOR, code=3)  # nothing was looked through yet
    with here(local) as hub:
        hub.wait_indexed()
    found = check(local, "--json", DOOR)
    assert found["first"] == found["files"] > 1
    truth(local, "UPDATE digests SET md5 = '', sha256 = ? WHERE path LIKE '%metadata.json'", "0" * 64)
    said = check(local, code=5)
    assert "damaged   D4RL/door/human-v2: data/metadata.json" in said and "1 damaged, 0 repaired" in said
    with here(local) as hub:
        hub.wait_indexed()
        assert hub.get(DATA + "/files/data/metadata.json").status == 422
        jobs = hub.get("/api/v1/jobs?kind=check").json()["items"]
        assert [j["state"] for j in jobs] == ["done", "done"] and hub.get("/api/v1/jobs/" + jobs[0]["id"]).json()["result"]["findings"]
