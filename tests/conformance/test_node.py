"""Clients of JavaScript: hyparquet, @google-cloud/storage, @huggingface/hub."""
import hashlib

NAME = "door-human-v0/data/main_data.hdf5"


def test_node(clients, hub, lab):
    got = clients.node(["hyparquet", "@google-cloud/storage", "@huggingface/hub"], "readers.mjs", hub.base)
    sha256 = hashlib.sha256(lab.bytes(NAME)).hexdigest()
    assert (got["sum"], got["count"]) == (sum(lab.table["a"]), len(lab.table["a"]))
    below = [n for n in lab.names if n.startswith("door-human-v0/")]
    assert got["google"] == {how: [below, sha256, "HDF", False] for how in ("endpoint", "v1")}
    assert sorted(got["files"]) == [n.split("/", 1)[1] for n in below] and got["sha256"] == sha256
