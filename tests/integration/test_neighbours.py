"""Folders where data of several kinds lie beside each other: each is found, none takes the others along."""
import gzip
import io
import os
import pickle
import sys
import tarfile
import zipfile

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from cli import Cli
from hub import serving


def tar(path, members, mode="w:gz"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tarfile.open(path, mode) as out:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))


def demos(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        pickle.dump({"obs": np.zeros((4, 2)), "acts": np.arange(3)}, f)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("neighbours"))
    at = lambda *p: os.path.join(root, *p)  # noqa: E731
    programs = {"code/main.c": b"int main;", "code/main.h": b"#pragma once", "README.md": b"# x", "tool.py": b"pass"}
    samples = {f"{i:03d}.{end}": b"1" for i in range(3) for end in ("cls", "txt")}
    tar(at("programs", "code.tar.gz"), programs)  # an archive of programs is no shard, and hides nothing
    np.save(at("programs", "x.npy"), np.arange(3))
    with h5py.File(at("programs", "demo.hdf5"), "w") as f:
        f["data/demo_0/actions"] = np.zeros((3, 2))
    tar(at("mixed", "train-000.tar"), samples, "w")  # shards beside other data
    np.savez(at("mixed", "stats.npz"), mean=np.zeros(3))
    tar(at("series", "part-000.tar.gz"), samples)  # the first shard is damaged
    tar(at("series", "part-001.tar.gz"), samples)
    with open(at("series", "part-000.tar.gz"), "r+b") as f:
        f.truncate(40)
    tar(at("padded", "one.tar.gz"), samples)  # the last block of the tape is filled with zeros
    with open(at("padded", "one.tar.gz"), "ab") as f:
        f.write(bytes(1000))
    for series, first in (("train", 0), ("train", 1), ("val", 0)):
        tar(at("splits", f"{series}-{first:06d}.tar"), samples, "w")
    for pointer in ("unfetched/demos.tar.zst", "unfetched-house/house_1/trajectories_batch_1_of_1.h5"):
        os.makedirs(os.path.dirname(at(pointer)))
        with open(at(pointer), "w") as f:
            f.write("version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 12345\n")
    for name, data in {"features.json": b"{}", "dataset_info.json": b"{}", "x-train.array_record-00000-of-00001": bytes(90)}.items():
        os.makedirs(at("records"), exist_ok=True)
        with open(at("records", name), "wb") as f:
            f.write(data)
    demos(at("pickles", "a.pkl"))  # demonstrations beside arrays
    np.savez(at("pickles", "b.npz"), x=np.arange(5))
    np.savez(at("archives.npz"), a=np.arange(3))
    with zipfile.ZipFile(at("archives.npz"), "a") as z:  # a member once more, and bytes behind the archive
        z.writestr("a.npy", (lambda b: (np.save(b, np.arange(4)), b.getvalue())[1])(io.BytesIO()))
    with open(at("archives.npz"), "ab") as f:
        f.write(b"tail")
    np.savez_compressed(at("zeros.npz"), dones=np.zeros(8 << 20, bool))
    os.makedirs(at("crowded"))
    with h5py.File(at("crowded", "a.h5"), "w") as f:  # more than the fields that are shown
        for i in range(8300):
            f[f"x{i:04d}"] = 1.0
    with serving(root) as hub:
        yield hub


def test_each_is_a_dataset(hub):
    found = {d["id"]: (d["format"], d["status"]) for d in hub.datasets() if d["format"] != "files"}
    assert found == {
        "programs/x": ("generic", "ready"),
        "programs/demo": ("robomimic", "ready"),
        "mixed/train": ("webdataset", "ready"),
        "mixed/stats": ("generic", "ready"),
        "series": ("webdataset", "ready"),
        "padded": ("webdataset", "ready"),
        "pickles/a": ("il-native", "ready"),
        "pickles/b": ("generic", "ready"),
        "archives": ("generic", "ready"),
        "zeros": ("generic", "ready"),
        "crowded/a": ("generic", "ready"),
        "splits": ("webdataset", "ready"),
        "unfetched": ("webdataset", "broken"),
        "unfetched-house": ("molmospaces", "broken"),
        "records": ("generic", "unsupported"),
    }, found


def test_splits_that_no_file_states_are_counted(hub):
    assert hub.dataset("splits")["splits"] == {"train": 2, "val": 1}
    assert "splits" not in hub.dataset("mixed/train")


def test_what_is_not_read_says_what_to_do(hub):
    assert "git lfs pull" in hub.dataset("unfetched")["reason"]
    assert "git lfs pull" in hub.dataset("unfetched-house")["reason"]
    assert "tfds.builder_from_directory" in hub.dataset("records")["reason"]


def test_the_command_that_show_names_downloads(hub, tmp_path):
    cli = Cli(tmp_path, hub.base)
    for id in ("records", "unfetched", "splits"):
        line = next(x for x in cli.run("show", id, expect=0).out.splitlines() if "Download" in x)
        assert ("--force" in line) == (id != "splits"), line
        command = line.split()[2:]
        command[command.index("DIR")] = str(tmp_path / "out")
        cli.run(*command, expect=0)
        assert os.listdir(tmp_path / "out" / id), id


def test_a_crowded_file_has_the_fields_that_fit(hub):
    found = hub.dataset("crowded/a")
    assert found["status"] == "ready" and len(found["fields"]) == 4096
    assert {p["code"] for p in found["problems"]} == {"too-many-fields"}
    assert hub.get("/api/v1/datasets/crowded/a/episodes/0/x4000").json() == 1.0


def test_archives(hub):
    assert "repeated-member" in [p["code"] for p in hub.dataset("archives")["problems"]]
    assert hub.get("/api/v1/datasets/archives/episodes/0/a").json() == [0, 1, 2, 3]
    assert hub.dataset("zeros")["steps"] == 8 << 20


def test_a_damaged_shard_hides_no_other(hub):
    problems = hub.dataset("series")["problems"]
    assert len(hub.episodes("series")) == 1 and [p["code"] for p in problems] == ["part-broken", "not-loadable"], problems
