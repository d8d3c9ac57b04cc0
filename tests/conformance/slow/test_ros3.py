"""h5py's driver ros3, which is HDF5's own reader of buckets: the h5py of PyPI is built without it, Debian's with it."""
import json
import os

import pytest

PYTHON = "/usr/bin/python3"
NAME = "door-human-v0/data/main_data.hdf5"
SCRIPT = """
import hashlib, json, sys
try:
    import h5py
    has = h5py.get_config().ros3
except ImportError:
    has = None
if not has or len(sys.argv) < 2:
    print(json.dumps(has and h5py.__version__)); sys.exit()
found = {}
def look(name, node):
    if isinstance(node, h5py.Dataset) and node.dtype.kind in "iuf":
        found[name] = hashlib.sha256(node[()].tobytes()).hexdigest()
with (h5py.File(sys.argv[1], driver="ros3") if sys.argv[1].startswith("http") else h5py.File(sys.argv[1])) as f:
    f.visititems(look)
print(json.dumps(found))
"""


@pytest.mark.parametrize("at", ["/minari-datasets/" + NAME, "/api/v1/datasets/door-human-v0/files/data/main_data.hdf5"])
def test_ros3(clients, hub, lab, at):
    version = json.loads(clients.run(PYTHON, "-c", SCRIPT)) if os.path.exists(PYTHON) else None
    if not version:
        pytest.skip("no h5py with ros3 is here: Debian's python3-h5py has it, that of PyPI does not")
    clients.versions["h5py with ros3"] = {version}
    got = json.loads(clients.run(PYTHON, "-c", SCRIPT, hub.base + at))
    assert got == json.loads(clients.run(PYTHON, "-c", SCRIPT, lab.path(NAME))) and len(got) > 20
