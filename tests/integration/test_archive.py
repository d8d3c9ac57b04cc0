"""A dataset as a tar: what GNU tar, bsdtar and Python make of archive.tar; ranges of it; export and import."""
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, Hub, quote, until

URL = "/api/v1/datasets/{}/archive.tar"
LONG = "/".join(["d" * 60] * 5)  # 304 bytes
NAMES = ["data/main_data.hdf5", "data/metadata.json", "data/back\\slash.txt", "data/new\nline.txt", "data/süß 数据.txt", "data/empty",
         f"data/{LONG}/file.bin", "data/" + "n" * 96, "data/" + "m" * 94]


def write(path, data, mtime_ns):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def make_root(root):
    """A dataset whose names are hard to write down."""
    for i, name in enumerate(NAMES):
        data = hashlib.sha256(name.encode()).digest() * (i * 1000) + b"end" * (name != "data/empty")
        write(os.path.join(root, "ns", "odd-v1", name), data, 1600000000_000000000 + (i * 123456789 if i % 2 else i * 10**9))
    write(os.path.join(root, "ns", "odd-v1", "data", os.fsdecode(b"bad\xff.txt")), b"not UTF-8", 1_500000000)
    return root


def spelled(path):
    return path.replace("\\", "\\x5c").replace("\n", "\\x0a").replace("\udcff", "\\xff")


def files_of(folder):
    """Path below it: bytes and time, of what is not hidden."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("."):
                path = os.path.join(at, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = (f.read(), os.stat(path).st_mtime_ns)
    return found


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = make_root(str(tmp_path_factory.mktemp("root")))
    with Hub([root]) as hub:
        hub.root = root
        hub.wait_ready().wait_indexed()
        yield hub


@pytest.fixture(scope="module")
def whole(hub):
    """The archive, as the first GET makes it: no digest is known."""
    url = URL.format("ns/odd-v1")
    for method, headers in (("HEAD", {}), ("GET", {"Range": "bytes=0-99"})):
        answer = hub.get(url, headers, method)
        assert answer.status == 503 and int(answer.headers["Retry-After"]) > 0
    answer = hub.get(url)
    assert answer.status == 200 and int(answer.headers["Content-Length"]) == len(answer.body)
    assert answer.headers["Content-Type"] == "application/x-tar" and answer.headers["Accept-Ranges"] == "bytes"
    return answer


def test_python_reads_it(hub, whole):
    source = files_of(os.path.join(hub.root, "ns", "odd-v1"))
    with tarfile.open(fileobj=io.BytesIO(whole.body)) as tar:
        members = tar.getmembers()
        names = [m.name for m in members]
        assert names == [f"ns/odd-v1/{spelled(p)}" for p in sorted(source, key=os.fsencode)] + ["ns/odd-v1/.minari-hub.json"]
        assert {(m.mode, m.uid, m.gid, m.uname, m.gname, m.type) for m in members} == {(0o644, 0, 0, "", "", tarfile.REGTYPE)}
        for path, (data, mtime_ns) in source.items():
            member = tar.getmember(f"ns/odd-v1/{spelled(path)}")
            assert tar.extractfile(member).read() == data, path
            assert abs(member.mtime - mtime_ns / 1e9) < 1e-6
        record = json.load(tar.extractfile(members[-1]))
    assert record["id"] == "ns/odd-v1" and record["revision"] == hub.dataset("ns/odd-v1")["revision"]
    assert {f["path"]: (f["size"], f["sha256"]) for f in record["files"]} == {
        spelled(p): (len(d), hashlib.sha256(d).hexdigest()) for p, (d, _) in source.items()}


BSDTAR = ["bsdtar", "xf"] if shutil.which("bsdtar") else ["cmake", "-E", "tar", "xf"]  # libarchive too


@pytest.mark.parametrize("command", [["tar", "xf"], BSDTAR], ids=["gnu", "bsd"])
def test_tar_installs_it(hub, whole, command, tmp_path):
    write(str(tmp_path / "it.tar"), whole.body, 0)
    done = subprocess.run([*command, "it.tar"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    source = files_of(os.path.join(hub.root, "ns", "odd-v1"))
    got = files_of(str(tmp_path / "ns" / "odd-v1"))
    assert got == {spelled(p): found for p, found in source.items()}
    verified = subprocess.run([os.path.join(BIN, "minari-cli"), "verify", "ns/odd-v1"], capture_output=True, text=True,
                              env={**os.environ, "MINARI_DATASETS_PATH": str(tmp_path), "MINARI_HUB_URL": hub.base})
    assert verified.returncode == 0, verified


def test_digests_are_kept_and_bytes_the_same(hub, whole):
    url = URL.format("ns/odd-v1")
    assert "content" in hub.dataset("ns/odd-v1")
    again = hub.get(url)
    assert again.body == whole.body and again.headers["ETag"] == whole.headers["ETag"]
    head = hub.get(url, method="HEAD")
    assert head.status == 200 and head.headers["Content-Length"] == str(len(whole.body)) and not head.body


def test_ranges(hub, whole):
    url, size = URL.format("ns/odd-v1"), len(whole.body)
    with tarfile.open(fileobj=io.BytesIO(whole.body)) as tar:
        edges = {e for m in tar.getmembers() for e in (m.offset, m.offset_data, m.offset_data + m.size)} | {size - 1024, size}
    for edge in sorted(edges):
        for first, last in ((edge - 1, edge), (edge, edge), (max(edge - 700, 0), edge + 700)):
            if first < 0 or first >= size:
                continue
            answer = hub.get(url, {"Range": f"bytes={first}-{last}"})
            stop = min(last + 1, size)
            assert answer.status == 206 and answer.headers["Content-Range"] == f"bytes {first}-{stop - 1}/{size}"
            assert answer.body == whole.body[first:stop], (first, last)
    assert hub.get(url, {"Range": "bytes=-1500"}).body == whole.body[-1500:]
    assert hub.get(url, {"Range": f"bytes={size}-"}).status == 416
    etag = whole.headers["ETag"]
    assert hub.get(url, {"If-None-Match": etag}).status == 304
    assert hub.get(url, {"If-Match": '"other"'}).status == 412
    assert hub.get(url, {"Range": "bytes=1-9", "If-Range": etag}).status == 206
    assert hub.get(url, {"Range": "bytes=1-9", "If-Range": '"other"'}).status == 200
    revision = hub.dataset("ns/odd-v1")["revision"]
    assert "immutable" in hub.get(f"{url}?revision={revision}").headers["Cache-Control"]
    assert hub.get(f"{url}?revision={'0' * 40}").status == 410
