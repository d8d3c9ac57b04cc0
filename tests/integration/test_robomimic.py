"""robomimic files that are not as its own scripts leave them: what is damaged or odd is told and hides nothing else."""
import json
import os
import sys

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import serving


def write(root, name, demos, attributes, mask=None):
    with h5py.File(os.path.join(root, name), "w") as f:
        data = f.create_group("data")
        for key, value in attributes.items():
            data.attrs[key] = value
        for demo, fields in demos.items():
            group = data.create_group(demo)
            for field in fields:
                group[field] = np.arange(6.0).reshape(3, 2)
        if mask is not None:
            f["mask"] = mask


@pytest.fixture
def hub(tmp_path):
    root = str(tmp_path)
    demos = {"demo_0": ["states", "actions"], "demo_1": ["states", "actions"]}
    write(root, "odd.hdf5", demos, {"env_args": '{"env_name": "Lift"}', "repository_version": "1.10", "tags": ["1", "2"]}, mask=np.arange(3))
    write(root, "raw.hdf5", {"demo_0": ["states"], "demo_1": ["actions"]}, {"repository_version": "1.4"})
    write(root, "else.hdf5", {"subject": ["values"]}, {"total": 3})
    write(root, "long.hdf5", demos, {"env_args": json.dumps({"env_name": "x" * 40000}), "note": "n" * 3000})
    with serving(root) as hub:
        yield hub


def test_odd_files(hub):
    found = {d["id"]: (d["format"], d["status"]) for d in hub.datasets()}
    assert found["odd"] == found["raw"] == found["long"] == ("robomimic", "ready"), found
    assert sorted(f for f, _ in found.values()) == ["generic", "robomimic", "robomimic", "robomimic"], found
    odd = hub.dataset("odd")
    assert odd["metadata"]["repository_version"] == "1.10" and odd["metadata"]["tags"] == ["1", "2"]
    assert "bad-split" in [p["code"] for p in odd["problems"]], odd["problems"]
    assert len(hub.episodes("odd")) == 2
    assert hub.dataset("long")["env_spec"]["env_name"].startswith("xxx")


def test_the_first_readable_demo_says_what_a_field_is(tmp_path):
    for name, unreadable in (("first", ["demo_0"]), ("all", ["demo_0", "demo_1", "demo_2"])):
        write(str(tmp_path), name + ".hdf5", {f"demo_{i}": ["states"] for i in range(3)}, {"env_args": '{"env_name": "Lift"}'})
        with h5py.File(tmp_path / (name + ".hdf5"), "a") as f:
            for i in range(3):
                if f"demo_{i}" in unreadable:
                    f[f"data/demo_{i}"].create_dataset("actions", data=[f.ref] * 3, dtype=h5py.ref_dtype)
                else:
                    f[f"data/demo_{i}/actions"] = np.arange(3.0) / 4
    with serving(str(tmp_path)) as hub:
        fields = {f["path"]: f for f in hub.dataset("first")["fields"]}
        assert fields["actions"]["type"] == "number" and not fields["actions"].get("unreadable"), fields
        codes = [p["code"] for p in hub.dataset("first")["problems"] if p["path"] == "actions"]
        assert codes == ["unreadable-in-episodes"], codes
        assert hub.get("/api/v1/datasets/first/episodes/2/actions?format=json").json() == [0, 0.25, 0.5]
        assert {f["path"]: f for f in hub.dataset("all")["fields"]}["actions"]["unreadable"]
