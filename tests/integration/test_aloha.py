"""Series of files: what is one dataset, and pictures that are stored padded."""
import io
import os
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, serving

ROOT = os.path.join(FIXTURES, "aloha")


def test_series():
    with serving(ROOT) as hub:
        found = {d["id"]: d["format"] for d in hub.datasets() if d["format"] != "files"}
        # What lies beside a series, as a folder or a file, is not swallowed.
        assert found == {"sim": "aloha", "real": "aloha", "twin": "aloha", "twin-native": "aloha",
                         "beside/episode": "aloha", "beside/raw/demo": "robomimic",
                         "amid/episode": "aloha", "amid/demo": "robomimic", "amid/data/calibration": "generic",
                         "amid-data/episode": "aloha", "amid-data/data/calibration": "generic"}, found
        files = hub.get("/api/v1/datasets/sim/files").json()["items"]
        assert "dataset_stats.pkl" in {f["path"] for f in files}, files
        pictures(hub, "real", 11, "observations/images/cam_left_wrist", "real/episode_11.hdf5")
        pictures(hub, "twin", 2, "observation/head_camera/rgb", "twin/data/episode2.hdf5")
        assert [e["task"] for e in hub.episodes("twin-native")] == ["stack block 0", "stack block 1"]


def pictures(hub, id, episode, field, path):
    with h5py.File(os.path.join(ROOT, path)) as f:
        stored = [bytes(row).rstrip(b"\0") for row in f[field]]
    assert len({len(s) for s in stored}) > 1
    url = f"/api/v1/datasets/{id}/episodes/{episode}/{field}"
    for i, want in enumerate(stored):
        for how in ("image", "jpeg", "raw"):
            a = hub.get(f"{url}?row={i}&format={how}")
            assert (a.status, a.headers["Content-Type"], a.body) == (200, "image/jpeg", want), (field, i, how)
            assert int(a.headers["Content-Length"]) == len(want)
    with np.load(io.BytesIO(hub.get(url + "?format=npz").body)) as z:
        name = next(n for n in z.files if not n.endswith("__length"))
        lengths = z[name + "__length"]
        assert [bytes(r[:n]) for r, n in zip(z[name], lengths)] == stored
