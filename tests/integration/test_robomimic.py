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
