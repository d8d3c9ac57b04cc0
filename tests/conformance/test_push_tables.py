"""Tables that `datasets` pushes, unchanged: in shards, appended, by two at once; what another one reads then is what was pushed."""
import json
import subprocess

import pytest

from pushing import PushedHub, clean_env, env_of, python_of

CLIENT = "0.36"  # the environment that has datasets
PUSH = """
import datasets, sys
first, last, split = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
table = datasets.Dataset.from_dict({"a": list(range(first, last)), "t": [f"text {i}" for i in range(first, last)]})
table.push_to_hub("lab/table", split=split, num_shards=3)
"""
APPEND = """
import datasets
old = datasets.load_dataset("lab/table", split="train")
more = datasets.Dataset.from_dict({"a": [1000, 1001], "t": ["text 1000", "text 1001"]})
datasets.concatenate_datasets([old, more]).push_to_hub("lab/table", num_shards=4)
"""
READ = """
import datasets, json
print(json.dumps({k: [v["a"][:], v["t"][-1]] for k, v in datasets.load_dataset("lab/table").items()}))
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with PushedHub(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture
def client(hub, tmp_path):
    def start(script, *args):
        place = tmp_path / str(len(started))
        place.mkdir()
        started.append(subprocess.Popen([python_of(CLIENT), "-c", script, *map(str, args)], env={**clean_env(place), **env_of(hub, place, CLIENT)}, cwd=place,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    started = []
    yield start
    for process in started:
        process.kill()
        process.communicate()


def out_of(process):
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors[-4000:]
    return out


def row_of(pytestconfig, action):
    pytestconfig.pushes.append(["datasets", action, "", "FAILED"])
    return pytestconfig.pushes[-1]


def read(client):
    return json.loads(out_of(client(READ)).splitlines()[-1])


def test_shards_and_more_rows(hub, client, pytestconfig):
    row = row_of(pytestconfig, "push_to_hub")
    with hub.counting(row):
        out_of(client(PUSH, 0, 1000, "train"))
        out_of(client(APPEND))
    assert read(client) == {"train": [list(range(1002)), "text 1001"]}
    names = {s["rfilename"] for s in hub.get("/api/datasets/lab/table").json()["siblings"]}
    assert names == {"README.md", *(f"data/train-0000{i}-of-00004.parquet" for i in range(4))}, "the shards of before are gone"
    row[3] = "as the source, 3 shards, then 4"


def test_two_at_once(hub, client, pytestconfig):
    """Whose commit is late reads what the other one made, and tries again on its own."""
    row = row_of(pytestconfig, "two at once")
    with hub.counting(row):
        both = [client(PUSH, 0, 500, "left"), client(PUSH, 500, 1000, "right")]
        for process in both:
            out_of(process)
    got = read(client)
    assert (got["left"], got["right"]) == ([list(range(500)), "text 499"], [list(range(500, 1000)), "text 999"])
    row[3] = "both whole"
