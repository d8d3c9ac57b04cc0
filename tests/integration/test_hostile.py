"""Hostile and damaged datasets end to end: each is listed by name with what is wrong, hides nothing else, and gives nothing away."""
import os
import shutil
import sys
import tempfile
import urllib.parse

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, Hub, quote

SECRET = b"hub-SECRET-5f0c91"
MiB = 1024 * 1024
GOOD = [[float(3 * i + k) for k in range(3)] for i in range(5)]  # infos/good of every hostile HDF5 set
SANITIZED = "asan" in BIN

# id: status, words of the reason, problem codes that must be there, unreadable fields, is infos/good there?
HDF5 = {
    "attrs-wrong-v0": ("ready", "", {"bad-metadata", "length-mismatch"}, (), True),
    "empty-file-v0": ("broken", "not an HDF5 file", (), (), False),
    "flipped-bytes0-v0": ("ready", "", {"id-mismatch"}, (), True),
    "flipped-bytes1-v0": (None, "", {"group-damaged"}, (), False),
    "flipped-bytes2-v0": (None, "", {"group-damaged"}, (), False),
    "garbage-all-v0": ("broken", "not an HDF5 file", (), (), False),
    "garbage-late-magic-v0": (None, "superblock", (), (), False),
    "garbage-magic-v0": (None, "superblock", (), (), False),
    "garbage-zeros-v0": ("broken", "superblock", (), (), False),
    "lfs-pointer-v0": ("broken", "Git LFS pointer", (), (), False),
    "loop-deep-v0": ("ready", "", {"too-deep"}, (), True),
    "loop-hard-v0": ("ready", "", {"link-cycle"}, (), True),
    "loop-soft-v0": ("ready", "", {"link-cycle", "link-target-missing"}, (), True),
    "names-odd-v0": ("ready", "", {"bad-name", "unreadable-episode"}, (), True),
    "outside-links-v0": ("ready", "", {"link-leaves-dataset"}, (), True),
    "outside-raw-v0": ("ready", "", {"field-unreadable"}, ("infos/passwd", "infos/relative", "infos/absent", "state"), True),
    "outside-symlink-v0": ("ready", "", {"link-leaves"}, (), True),
    "outside-virtual-v0": ("ready", "", {"field-unreadable"}, ("infos/absolute", "infos/sibling"), True),
    "size-bomb-v0": ("ready", "", {"field-unreadable"}, ("infos/deflate_1_gib",), True),
    "size-declared-v0": ("ready", "", {"field-unreadable"}, ("infos/elements", "infos/contiguous", "infos/big_chunk", "infos/texts"), True),
    "truncated-half-v0": ("broken", "cut short", (), (), False),
    "truncated-superblock-v0": ("broken", "cut short", (), (), False),
    "truncated-tail-v0": ("broken", "cut short", (), (), False),
    "types-user-v0": ("ready", "", {"field-unreadable", "link-user-defined"}, ("infos/reference", "infos/nested_compound"), True),
    "unclean-shutdown-v0": ("ready", "", {"file-not-closed"}, (), False),
}
WEBDATASET = {
    "ilr-evil": ("ready", "", {"bad-pickle"}, (), False),
    "plain-truncated": ("ready", "", {"unterminated-shard"}, (), False),
    "plain-traps": ("ready", "", {"repeated-key", "skipped-members"}, (), False),
    "plain": ("ready", "", (), (), False),
}
LEROBOT = {
    "parquet-damaged": ("ready", "", {"unreadable-episode", "not-fetched"}, (), False),
    "arm-claims": ("ready", "", {"fewer-than-claimed", "missing-file", "missing-column", "bad-json-line"}, (), False),
    "neighbour-v40": ("unsupported", "v4.0", (), (), False),
    "neighbour-v16": ("unsupported", "v1.6", (), (), False),
    "arm-v21": ("ready", "", (), (), False),
    "arm-v30": ("ready", "", (), (), False),
    "unfinished-v30": ("ready", "", {"not-finalized", "not-loadable"}, (), False),
    "moved-v30": ("ready", "", {"wrong-data-file", "wrong-rows", "video-span", "other-path"}, (), False),
    "scattered-v30": ("ready", "", {"rows-not-contiguous", "index-mismatch"}, (), False),
}
TRAPS = {
    "missing-link-v0": ("ready", "", {"link-target-missing", "id-mismatch"}, (), False),
    "other-id-v0": ("ready", "", {"id-mismatch"}, (), False),
    "wrong-counts-v0": ("ready", "", {"fewer-than-claimed"}, (), False),
    "D4RL/hammer/human-v2": ("ready", "", {"metadata-missing"}, (), False),
    "door-human-v1": ("ready", "", (), (), False),
    "door-human-v1-extra": ("ready", "", (), (), False),
}


@pytest.fixture
def place():
    """A folder with secrets around the root that links of the fixtures lead to."""
    folder = tempfile.mkdtemp(prefix="hub-hostile-")
    for name in ("make.sh", "secret.hdf5"):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(SECRET * 1000)
    yield folder
    shutil.rmtree(folder)


def root_of(place, *fixtures):
    root = os.path.join(place, "root")
    for fixture in fixtures:
        shutil.copytree(os.path.join(FIXTURES, fixture), root, symlinks=True, dirs_exist_ok=True)
    return root


def forbidden():
    with open("/etc/passwd", "rb") as f:
        return [SECRET] + f.read().splitlines()[:3]


class Watch:
    """Every answer is searched for what lies outside."""

    def __init__(self, hub):
        self.hub, self.words, self.answers = hub, forbidden(), 0

    def get(self, path):
        answer = self.hub.get(path)
        self.answers += 1
        assert answer.status != 500, (path, answer.body[:500])
        for word in self.words:
            assert word not in answer.body, (path, word)
        return answer


def segments(path):
    return "/".join(urllib.parse.quote(p, safe="") for p in path.split("/"))


def peak_memory(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def ask_for_everything(watch, id):
    """All that can be asked about a dataset; how many fields gave rows."""
    base, rows = f"/api/v1/datasets/{quote(id)}", 0
    dataset = watch.get(base).json()
    for file in watch.get(base + "/files").json()["items"]:
        watch.get(f"{base}/files/{segments(file['path'])}")
    if dataset["status"] != "ready":
        assert watch.get(f"{base}/episodes").status == watch.get(f"{base}/episodes/0").status == 422, id
        return 0
    for episode in watch.hub.episodes(id)[:4]:
        watch.get(f"{base}/episodes/{episode['number']}")
        for field in dataset["fields"]:
            for how in ("?format=json&stop=100", "?format=npy", "?stop=100&format=npz", "?row=0&format=raw"):
                answer = watch.get(f"{base}/episodes/{episode['number']}/{segments(field['path'])}{how}")
                rows += answer.status == 200
                if field.get("unreadable"):
                    assert answer.status in (404, 422), (id, field, answer.status)
    return rows


def check_dataset(watch, item, want):
    status, reason, codes, unreadable, has_good = want
    id = item["id"]
    dataset = watch.get(f"/api/v1/datasets/{quote(id)}").json()
    assert status is None or item["status"] == status, (id, item)
    assert reason in item.get("reason", ""), (id, item)
    assert set(codes) <= {p["code"] for p in dataset["problems"]}, (id, dataset["problems"])
    fields = {f["path"]: f for f in dataset["fields"]}
    for path in unreadable:
        assert fields[path].get("unreadable"), (id, path)
    if has_good:
        answer = watch.get(f"/api/v1/datasets/{quote(id)}/episodes/0/infos/good")
        assert answer.status == 200 and answer.json() == GOOD, (id, answer.body[:200])


@pytest.mark.parametrize("fixture, table", [("hdf5-hostile", HDF5), ("webdataset", WEBDATASET), ("lerobot", LEROBOT),
                                            ("minari/root-traps", TRAPS)], ids=lambda v: v if isinstance(v, str) else "")
def test_each_is_named(place, fixture, table):
    with Hub([root_of(place, fixture)]) as hub:
        hub.wait_indexed()
        watch = Watch(hub)
        items = {i["id"]: i for i in hub.datasets()}
        assert set(table) <= set(items), set(table) - set(items)
        for id, want in table.items():
            check_dataset(watch, items[id], want)
        rows = sum(ask_for_everything(watch, id) for id in items)
        assert rows > len(items) / 2
        assert SANITIZED or peak_memory(hub.process.pid) < 256 * MiB, peak_memory(hub.process.pid)


def test_good_neighbours_are_served_as_alone(place):
    good = os.path.join(place, "good")
    shutil.copytree(os.path.join(FIXTURES, "minari", "root-0.4.3", "door-human-v1"), os.path.join(good, "door-human-v1"))
    path = "/api/v1/datasets/door-human-v1/episodes/0/observations"
    with Hub([good]) as hub:
        want = hub.wait_indexed().get(path).body
    root = root_of(place, "hdf5-hostile", "webdataset", "lerobot")
    shutil.copytree(os.path.join(good, "door-human-v1"), os.path.join(root, "door-human-v1"))
    with Hub([root]) as hub:
        hub.wait_indexed()
        assert hub.get(path).body == want
        assert {"door-human-v1", "arm-v21", "plain", "loop-hard-v0"} <= {i["id"] for i in hub.datasets()}


def test_files_outside_are_not_files_of_a_dataset(place):
    with Hub([root_of(place, "hdf5-hostile")]) as hub:
        hub.wait_indexed()
        watch = Watch(hub)
        for dataset in ("outside-symlink-v0", "outside-raw-v0"):
            base = f"/api/v1/datasets/{dataset}/files"
            for path in ("data/additional_data_0.hdf5", "data/..%2F..%2F..%2Fmake.sh", "%2e%2e/%2e%2e/make.sh", "data/%2e%2e/x",
                         "..%2f..%2fsecret.hdf5", "%2Fetc%2Fpasswd", "data//main_data.hdf5", "data/main_data.hdf5%00", "%2e"):
                answer = watch.get(f"{base}/{path}")
                assert answer.status in (400, 403, 404), (path, answer.status)
        assert watch.get("/api/v1/datasets/outside-symlink-v0/files/data/main_data.hdf5").status == 200
