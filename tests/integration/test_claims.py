"""What is one dataset of which format, of files that look like something else at first; and minari-inspect says what the hub says."""
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, Hub

ARM = os.path.join(FIXTURES, "lerobot", "arm-v21")


def write(root, path, data=b"x"):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as f:
        f.write(data)


def tar(root, path, names, mode="w"):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with tarfile.open(full, mode) as out:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 3
            out.addfile(info, io.BytesIO(b"abc"))


def listed(root):
    """{id: (format, status, reason)} of a hub, and the same of minari-inspect, whose paths are no ids."""
    with Hub([root]) as hub:
        hub.wait_indexed()
        found = {d["id"]: (d["format"], d["status"], d.get("reason", "")) for d in hub.datasets()}
    ran = subprocess.run([os.path.join(BIN, "minari-inspect"), "--json", root], capture_output=True, check=False)
    inspected = sorted(d["format"] for d in json.loads(ran.stdout)["datasets"])
    assert inspected == sorted(format for format, _, _ in found.values())
    return found


def inspect(path):
    return subprocess.run([os.path.join(BIN, "minari-inspect"), "--json", path], capture_output=True, check=False)


def test_metadata_beside_other_data_is_no_lerobot_set(tmp_path):
    root = str(tmp_path)
    for folder in ("logs", "alone"):
        write(root, f"{folder}/meta/info.json", json.dumps({"dataset_name": "x", "total_episodes": 2}).encode())
        write(root, f"{folder}/meta/episodes.jsonl", b'{"episode_index": 0}\n')
        write(root, f"{folder}/meta/tasks.jsonl", b'{"task_index": 0, "task": "x"}\n')
    for n in range(2):
        write(root, f"logs/data/episode-00{n}/episode-00{n}.mcap", b"\x89MCAP0\r\n" + bytes(100))
    shutil.copytree(ARM, os.path.join(root, "number"), copy_function=shutil.copyfile)
    info = os.path.join(root, "number", "meta", "info.json")
    with open(info) as f:
        document = json.load(f)
    document["codebase_version"] = 2.1
    with open(info, "w") as f:
        json.dump(document, f)
    found = listed(root)
    assert {id: format for id, (format, _, _) in found.items()} == {
        "alone": "files", "logs/meta": "files", "number": "lerobot",
        "logs/data/episode-000/episode-000.mcap": "generic", "logs/data/episode-001/episode-001.mcap": "generic"}
    assert found["logs/data/episode-000/episode-000.mcap"][1:] == ("unsupported", "an MCAP log is not read: convert it to LeRobot or HDF5, or "
                                                                   "download it and open it with mcap or Foxglove")
    assert found["number"][1] == "broken" and "the number 2.1" in found["number"][2]


@pytest.mark.parametrize("name,mode", [("set.tar", "w"), ("set.tar.gz", "w:gz"), ("set.tgz", "w:gz")])
def test_a_packed_lerobot_set_says_what_to_do(tmp_path, name, mode):
    with tarfile.open(tmp_path / name, mode) as out:
        out.add(ARM, arcname="arm")
    format, status, reason = listed(str(tmp_path))[name]
    assert (format, status) == ("generic", "unsupported") and "unpack it" in reason


def test_tars_without_a_series_of_keys_are_files(tmp_path):
    root = str(tmp_path)
    tar(root, "many/archive.tar.gz", ["notzarr.file/notzarr.txt", "empty.txt", "empty.zip"], "w:gz")
    tar(root, "many/sparse.tar", ["sparse_begin.txt", "sparse_end.txt", "sparse.txt"])
    tar(root, "many/good-000.tar", ["000000.jpg", "000000.json", "000001.jpg", "000001.json"])
    for n in range(40):
        write(root, f"many/{n}.dat")
    tar(root, "unlike/train.tar", ["train/a.txt", "train/b.csv"])
    tar(root, "unlike/test.tar", ["dummy/x.json", "dummy/y.txt"])
    tar(root, "pets/pets.tar", ["cat.jpg", "cat.json", "dog.jpg", "dog.json"])
    tar(root, "one/one.tar", ["000.json"])
    found = listed(root)
    assert {id: format for id, (format, _, _) in found.items()} == {
        "many": "files", "many/good": "webdataset", "unlike": "files", "pets": "webdataset", "one": "webdataset"}
    good = json.loads(inspect(os.path.join(root, "many", "good-000.tar")).stdout)["datasets"]
    assert [d["format"] for d in good] == ["webdataset"]
    assert inspect(os.path.join(root, "many", "archive.tar.gz")).returncode == 3
