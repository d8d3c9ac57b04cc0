"""rclone, curl, wget and aria2: whole trees and pieces of files, by buckets and by names as paths."""
import os

import pytest

BUCKET = "minari-datasets"
GCS = "hub:" + BUCKET


def rclone_env(hub):
    return {"RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_HUB_TYPE": "google cloud storage", "RCLONE_CONFIG_HUB_ANONYMOUS": "true",
            "RCLONE_CONFIG_HUB_ENDPOINT": hub.base + "/storage/v1/", "RCLONE_CONFIG_HUB_NO_CHECK_BUCKET": "true",
            "RCLONE_CONFIG_WEB_TYPE": "http", "RCLONE_CONFIG_WEB_URL": f"{hub.base}/{BUCKET}/"}


@pytest.mark.parametrize("remote", [GCS, "web:"])
def test_rclone(clients, hub, lab, tmp_path, remote):
    def rclone(*args, **more):
        return clients.program("rclone", *args, version=("version",), env=rclone_env(hub), **more)

    to = str(tmp_path / "copy")
    rclone("copy", remote, to, "--transfers", "8")
    assert lab.files_equal(to) > 20
    rclone("check", remote, to)
    rclone("check", remote, to, "--download")
    listed = dict(line.rsplit(";", 1) for line in rclone("lsf", "-R", "--files-only", "--format", "ps", remote).splitlines())
    assert listed == {n: str(os.path.getsize(lab.path(n))) for n in lab.names}
    at = remote + "/" * (remote == GCS) + "door-human-v0/data/main_data.hdf5"
    assert rclone("cat", "--offset", "1", "--count", "3", at) == "HDF"
    os.remove(os.path.join(to, lab.names[0]))
    rclone("check", remote, to, code=1)
    rclone("copy", remote, to)  # and only that one comes
    lab.files_equal(to)


def test_rclone_by_several_streams(clients, hub, lab, tmp_path):
    name = max(lab.names, key=lambda n: os.path.getsize(lab.path(n)))
    for remote in (GCS + "/", "web:"):
        to = str(tmp_path / remote.strip(":/").replace(":", "-"))
        clients.program("rclone", "copyto", remote + name, to, "--multi-thread-cutoff", "10k", "--multi-thread-streams", "3", version=("version",), env=rclone_env(hub))
        assert open(to, "rb").read() == lab.bytes(name)


def test_wget(clients, hub, lab, tmp_path):
    """-r over the pages of folders, and a file that breaks off goes on where it stood."""
    to = str(tmp_path / "copy")
    clients.program("wget", "-q", "-r", "-np", "-nH", "--cut-dirs=1", "-R", "index.html*", "-P", to, f"{hub.base}/{BUCKET}/")
    got = sorted(os.path.relpath(os.path.join(at, f), to) for at, _, files in os.walk(to) for f in files)
    kept = {n: n.replace("%20", " ") for n in lab.names}  # wget decodes a name twice when it writes the file
    assert got == sorted(kept.values())
    for name in lab.names:
        assert open(os.path.join(to, kept[name]), "rb").read() == lab.bytes(name)
    name = "door-human-v0/data/main_data.hdf5"
    open(tmp_path / "main_data.hdf5", "wb").write(lab.bytes(name)[:1000])
    clients.program("wget", "-q", "-c", f"{hub.base}/{BUCKET}/{name}")
    assert (tmp_path / "main_data.hdf5").read_bytes() == lab.bytes(name)


ADDRESSES = ["/minari-datasets/door-human-v0/data/main_data.hdf5", "/api/v1/datasets/door-human-v0/files/data/main_data.hdf5",
             "/datasets/farama-minari/door-human-v0/resolve/main/data/main_data.hdf5", "/b/minari-datasets/o/door-human-v0%2Fdata%2Fmain_data.hdf5?alt=media"]


@pytest.mark.parametrize("at", ADDRESSES)
def test_curl(clients, hub, lab, tmp_path, at):
    data, to = lab.bytes("door-human-v0/data/main_data.hdf5"), tmp_path / "x"
    clients.program("curl", "-sSf", "-o", str(to), hub.base + at)
    assert to.read_bytes() == data
    to.write_bytes(data[:4321])
    clients.program("curl", "-sSf", "-C", "-", "-o", str(to), hub.base + at)
    assert to.read_bytes() == data
    clients.program("curl", "-sSf", "-r", "-100", "-o", str(to), hub.base + at)
    assert to.read_bytes() == data[-100:]


@pytest.mark.parametrize("at", ADDRESSES)
def test_aria2(clients, hub, lab, tmp_path, at):
    clients.program("aria2c", "-q", "-x", "4", "-s", "4", "-k", "1M", "--min-split-size=1M", "--no-conf", "-o", "x", hub.base + at)
    assert (tmp_path / "x").read_bytes() == lab.bytes("door-human-v0/data/main_data.hdf5")
