"""Minari of three releases over both of its remotes: what it lists, downloads and loads from the hub is what it makes of the disk itself."""
import contextlib
import json
import os
import shutil

import pytest

from conftest import CLIENTS
from hub import FIXTURES, serving

HASHES = '''
import hashlib, json, os, sys
import minari, numpy as np

def add(h, x):
    """All there is in rows, whatever they are nested in."""
    if isinstance(x, dict):
        for key in sorted(x, key=str):
            h.update(str(key).encode())
            add(h, x[key])
    elif isinstance(x, (list, tuple)):
        for item in x:
            add(h, item)
    elif isinstance(x, np.ndarray) and x.dtype != object:
        h.update(f"{x.dtype} {x.shape}".encode() + x.tobytes())
    elif x is not None:
        h.update(repr(x).encode())

def loaded(name):
    try:
        data, h, steps = minari.load_dataset(name), hashlib.sha256(), 0
        for e in data.iterate_episodes():
            for part in (e.observations, e.actions, e.rewards, e.terminations, e.truncations, getattr(e, "infos", None)):
                add(h, part)
            steps += 1
        return [steps, h.hexdigest(), str(data.observation_space), str(data.action_space)]
    except Exception as e:  # what this release cannot load it cannot load from the disk either
        return [type(e).__name__]
'''

OLD = HASHES + '''
remote = minari.list_remote_datasets(True, True)  # it downloads no version but the newest
for name in remote if sys.argv[1:] == ["download"] else ():
    minari.download_dataset(name)
local = minari.list_local_datasets(True, True)
keep = lambda found: {n: {k: found[n].get(k) for k in ("total_episodes", "total_steps", "dataset_id")} for n in found}
print(json.dumps({"remote": keep(remote), "local": keep(local), "loaded": {n: loaded(n) for n in local}}, default=str))
'''

NEW = HASHES + '''
import minari.namespace
remote = minari.list_remote_datasets(compatible_minari_version=True)
if sys.argv[1:] == ["download"]:
    for name in remote:
        minari.download_dataset(name)
    for name in minari.namespace.list_remote_namespaces():  # 0.5.1 does not bring what it says along
        minari.namespace.download_namespace_metadata(name, overwrite=True)
spaces = minari.namespace.list_remote_namespaces()
local = minari.list_local_datasets(compatible_minari_version=True)
keep = lambda found: {n: {k: found[n].get(k) for k in ("total_episodes", "total_steps", "dataset_id", "env_spec", "author")} for n in found}
print(json.dumps({"remote": keep(remote), "local": keep(local), "spaces": sorted(spaces), "own": sorted(minari.namespace.list_local_namespaces()),
                  "said": {n: minari.namespace.get_namespace_metadata(n) for n in minari.namespace.list_local_namespaces()},
                  "loaded": {n: loaded(n) for n in local}}, default=str))
'''


def say_they_are_of(root, release):
    for at, _, files in os.walk(root):
        if "metadata.json" in files:
            said = json.load(open(os.path.join(at, "metadata.json")))
            json.dump(said | {"minari_version": release}, open(os.path.join(at, "metadata.json"), "w"))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Folders that Minari of an era wrote, and hubs over them: over a remote an era lists no sets but its own."""
    with contextlib.ExitStack() as stack:
        out = {}
        for era, of in (("0.4.3", "0.4.3"), ("0.5.1", "0.5.3"), ("0.5.3", "0.5.3"), ("0.5.4", "0.5.3")):
            root = str(tmp_path_factory.mktemp("lab") / "root")
            shutil.copytree(os.path.join(FIXTURES, "minari", f"root-{of}"), root)
            if era != of:
                say_they_are_of(root, era)
            out[era] = root, stack.enter_context(serving(root))
            out[era][1].checker = None
        yield out


def files_equal(root, folder, names):
    for name in names:
        for at, _, files in os.walk(os.path.join(folder, name)):
            for f in files:
                mine = os.path.join(at, f)
                assert open(mine, "rb").read() == open(os.path.join(root, os.path.relpath(mine, folder)), "rb").read(), mine


@pytest.mark.parametrize("venv, packages, remote", [
    ("minari-0.4.3", ["minari", "google-cloud-storage"], None), ("minari-0.5.1", ["minari"], "gcp://minari-datasets"),
    ("minari-0.5.3", ["minari"], "gcp://minari-datasets"), ("minari-0.5.3", ["minari"], "hf://farama-minari"),
    ("minari-0.5.4", ["minari", "google-cloud-storage"], "gcp://minari-datasets"), ("minari-0.5.4", ["minari", "huggingface_hub"], "hf://farama-minari")])
def test_minari(places, clients, tmp_path, venv, packages, remote):
    root, hub = places[venv.removeprefix("minari-")]
    where = {"HF_ENDPOINT": hub.base} if remote and remote.startswith("hf") else {"STORAGE_EMULATOR_HOST": hub.base}
    where |= {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_TELEMETRY": "1", **({"MINARI_REMOTE": remote} if remote else {})}
    script = NEW if remote else OLD
    mine = clients.python(venv, packages, script, "download", env={**where, "MINARI_DATASETS_PATH": str(tmp_path / "sets")}, timeout=300)
    truth = clients.python(venv, packages, script, env={**where, "MINARI_DATASETS_PATH": root}, timeout=300)
    assert mine["remote"] and mine["remote"] == truth["remote"]
    assert set(mine["local"]) == set(mine["remote"]) <= set(truth["local"])
    for id, said in mine["remote"].items():
        assert said == truth["local"][id] == mine["local"][id], id
        assert mine["loaded"][id] == truth["loaded"][id], id
    assert sum(len(v) > 1 for v in mine["loaded"].values()) >= 3
    # a set without a namespace has no repository that it could lie in
    assert set(truth["local"]) - set(mine["remote"]) == ({"dummy-seedless-v0"} if remote and remote.startswith("hf") else set())
    if remote:
        made = ("datasets", "namespaces")  # what the hub adds, as the original does
        assert mine["spaces"] and set(mine["own"]) <= set(mine["spaces"])
        for space, said in mine["said"].items():
            assert {k: v for k, v in said.items() if k not in made} == {k: v for k, v in truth["said"][space].items() if k not in made}
    files_equal(root, str(tmp_path / "sets"), mine["local"])


@pytest.mark.parametrize("venv", ["minari-0.5.1", "minari-0.5.3", "minari-0.5.4"])
def test_a_bucket_that_has_arrow_sets(clients, tmp_path, venv):
    """It takes the metadata of their episodes for that of datasets: of a listing for it the hub leaves them out."""
    root = tmp_path / "root"
    for id, at in (("D4RL/door/human-v2", "root-0.5.3/D4RL/door/human-v2"), ("text/arrow-v1", "root-0.5.3-columns/arrow/infos-v0")):
        shutil.copytree(os.path.join(FIXTURES, "minari", at), root / id)
    said = json.load(open(root / "text/arrow-v1/data/metadata.json"))
    json.dump(said | {"dataset_id": "text/arrow-v1"}, open(root / "text/arrow-v1/data/metadata.json", "w"))
    say_they_are_of(root / "D4RL", venv.removeprefix("minari-"))
    say_they_are_of(root / "text/arrow-v1", venv.removeprefix("minari-"))
    script = """
import json, minari
found = minari.list_remote_datasets(compatible_minari_version=True)
for id in found:
    minari.download_dataset(id)
print(json.dumps(sorted(found)))
"""
    with serving(str(root)) as hub:
        where = {"STORAGE_EMULATOR_HOST": hub.base, "MINARI_REMOTE": "gcp://minari-datasets", "MINARI_DATASETS_PATH": str(tmp_path / "sets")}
        assert clients.python(venv, ["minari"], script, env=where) == ["D4RL/door/human-v2", "text/arrow-v1"]
    files_equal(str(root), str(tmp_path / "sets"), ["D4RL/door/human-v2", "text/arrow-v1"])
    assert (tmp_path / "sets/text/arrow-v1/data/0/metadata.json").exists()


def test_its_commands(places, clients, tmp_path):
    """`minari list remote`, `show` and `download`, over both remotes."""
    root, hub = places["0.5.3"]
    id = "D4RL/door/human-v2"
    for kind, where in (("hf", {"HF_ENDPOINT": hub.base, "MINARI_REMOTE": "hf://farama-minari", "HF_HOME": str(tmp_path / "home")}),
                        ("gcp", {"STORAGE_EMULATOR_HOST": hub.base, "MINARI_REMOTE": "gcp://minari-datasets"})):
        env = {**where, "MINARI_DATASETS_PATH": str(tmp_path / kind), "COLUMNS": "200"}
        minari = os.path.join(CLIENTS, "minari-0.5.3", "bin", "minari")
        assert "human" in clients.run(minari, "list", "remote", env=env)
        clients.run(minari, "download", id, env=env)
        assert str(hub.dataset(id)["episodes"]) in clients.run(minari, "show", id, env=env)
        assert "human" in clients.run(minari, "list", "local", env=env)
        files_equal(root, str(tmp_path / kind), [id])
