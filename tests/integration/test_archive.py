"""A dataset as a tar: what GNU tar, bsdtar and Python make of archive.tar; ranges of it; export and import."""
import hashlib
import io
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tarfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, Hub, quote, until

URL = "/api/v1/datasets/{}/archive.tar"
LONG = "/".join(["d" * 60] * 5)  # 304 bytes
NAMES = ["data/main_data.hdf5", "data/metadata.json", "data/back\\slash.txt", "data/new\nline.txt", "data/süß 数据.txt", "data/empty",
         f"data/{LONG}/file.bin", "data/" + "n" * 96, "data/" + "m" * 94]

UNHASHED = ["head-v0", "part-v0"]  # each for one request


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


def info(name, size=0, kind=tarfile.REGTYPE, **more):
    member = tarfile.TarInfo(name)
    member.size, member.type, member.mtime = size, kind, 10**9
    for key, value in more.items():
        setattr(member, key, value)
    return member


def packed(*members, format=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as tar:
        for member, data in members:
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = make_root(str(tmp_path_factory.mktemp("root")))
    for id in UNHASHED:
        write(os.path.join(root, id, "data", "a.bin"), id.encode() * 1000, 10**18)
    with Hub([root]) as hub:
        hub.root = root
        hub.wait_ready().wait_indexed()
        yield hub


@pytest.fixture(scope="module")
def whole(hub):
    """The archive, as the first GET makes it: no digest is known."""
    answer = hub.get(URL.format("ns/odd-v1"))
    assert answer.status == 200 and int(answer.headers["Content-Length"]) == len(answer.body)
    assert answer.headers["Content-Type"] == "application/x-tar" and answer.headers["Accept-Ranges"] == "bytes"
    return answer


@pytest.mark.parametrize("id, method, headers, status", [(UNHASHED[0], "HEAD", {}, 200), (UNHASHED[1], "GET", {"Range": "bytes=0-99"}, 206)])
def test_a_part_has_to_wait_for_digests(hub, id, method, headers, status):
    """Who asks for one has the files hashed: each request is the first for its dataset."""
    url = URL.format(id)
    answer = hub.get(url, headers, method)
    assert answer.status == 503 and int(answer.headers["Retry-After"]) > 0
    until(lambda: hub.get(url, headers, method).status == status)


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


def test_what_is_cut_off_goes_on(hub, whole, tmp_path):
    got = tmp_path / "got.tar"
    got.write_bytes(whole.body[:100001])
    subprocess.run(["curl", "-fsS", "-C", "-", "-o", str(got), hub.base + URL.format("ns/odd-v1")], check=True)
    assert got.read_bytes() == whole.body


def test_minari_cli_gets_it(hub, whole, tmp_path):
    done = subprocess.run([os.path.join(BIN, "minari-cli"), "get", "ns/odd-v1", "archive.tar", "-o", "x.tar", "--remote", hub.base],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "x.tar").read_bytes() == whole.body, done
    wrong = subprocess.run([os.path.join(BIN, "minari-cli"), "get", "ns/odd-v1", "3", "--remote", hub.base], capture_output=True, text=True)
    assert wrong.returncode == 2 and "archive.tar" in wrong.stderr


def test_what_changes_is_another_archive(tmp_path):
    root = str(tmp_path / "root")
    big = os.path.join(root, "set-v0", "data", "b.bin")
    write(os.path.join(root, "set-v0", "data", "a.bin"), b"a" * 1000, 10**18)
    write(big, b"b" * (64 << 20), 10**18)
    url = URL.format("set-v0")
    with Hub([root], args=["--hash", "off"]) as hub:
        hub.wait_ready().wait_indexed()
        off = hub.get(url, method="HEAD")
        assert off.status == 200, "nothing is to be hashed"
        with tarfile.open(fileobj=io.BytesIO(hub.get(url).body)) as tar:
            assert tar.getnames() == ["set-v0/data/a.bin", "set-v0/data/b.bin"]
    with Hub([root]) as hub:
        hub.wait_ready().wait_indexed()
        before = hub.get(url)
        assert before.headers["ETag"] != off.headers["ETag"]
        with socket.create_connection(("127.0.0.1", hub.port)) as s:  # changes while it is sent
            s.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            got = s.recv(4096)
            write(big, b"c" * (64 << 20), 10**18 + 10**9)
            while piece := s.recv(1 << 20):
                got += piece
        assert b"200 OK" in got and len(got) < len(before.body), "cut short"
        until(lambda: hub.get(url, method="HEAD").headers.get("ETag", before.headers["ETag"]) != before.headers["ETag"])
        after = hub.get(url, {"Range": "bytes=5-", "If-Range": before.headers["ETag"]})
        assert after.status == 200 and len(after.body) == len(before.body) and after.body != before.body


# ---- export and import ----


def program(*args, **options):
    return subprocess.run([os.path.join(BIN, "minari-hub"), *args], capture_output=True, timeout=60, **options)


def left(root):
    """What is in a root but for folders, as find(1) has it."""
    return sorted(os.path.relpath(os.path.join(at, name), root) for at, _, names in os.walk(root) for name in names
                  if not (name == "lock" and ".minari-hub" in at))


@pytest.fixture
def other(tmp_path):
    root = tmp_path / "other"
    root.mkdir()
    with Hub([str(root)]) as hub:
        hub.root = str(root)
        yield hub.wait_ready()


def test_export_and_import(hub, whole, other, tmp_path):
    tar = str(tmp_path / "x.tar")
    done = program("export", "ns/odd-v1", "-o", tar, "--state", hub.state)
    assert done.returncode == 0, done
    with open(tar, "rb") as f:
        assert f.read() == whole.body
    done = program("import", tar, "--state", other.state)
    assert done.returncode == 0 and b"ns/odd-v1: 10 files" in done.stdout and b"10 verified with SHA-256" in done.stdout, done
    until(lambda: "ns/odd-v1" in other.statuses())
    other.wait_indexed()
    assert other.get(URL.format("ns/odd-v1")).body == whole.body
    a, b = hub.dataset("ns/odd-v1"), other.dataset("ns/odd-v1")
    assert a["content"] == b["content"] and a["revision"] == b["revision"]
    [job] = other.get("/api/v1/jobs?kind=import").json()["items"]
    assert job["state"] == "done" and job["target"] == "x.tar" and job["done"] == job["of"] == len(whole.body)
    again = program("import", tar, "--state", other.state)
    assert again.returncode == 1 and b"--replace" in again.stderr
    assert program("import", tar, "--state", other.state, "--replace").returncode == 0
    assert program("import", tar, "--state", other.state, "--as", "mine-v2").returncode == 0
    assert files_of(os.path.join(other.root, "mine-v2")) == files_of(os.path.join(hub.root, "ns", "odd-v1"))
    missing = program("export", "ns/none", "-o", tar, "--state", hub.state)
    assert missing.returncode == 3 and b"there is no dataset 'ns/none'" in missing.stderr and not os.path.exists(tar + ".part")


def test_without_a_hub(hub, whole, tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    write(os.path.join(hub.root, "second-v0", "data", "x.bin"), b"x" * 600, 10**18)
    done = program("export", "ns/odd-v1", "second-v0", "-o", "-", "--state", str(tmp_path / "s"), "--root", hub.root, "--settle", "0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(whole.body[:-1024]) and len(done.stdout) > len(whole.body)
    put = program("import", "-", "--json", "--state", str(tmp_path / "t"), "--root", str(into), input=done.stdout)
    assert put.returncode == 0, put
    assert [(s["id"], s["digests"], s["verified"]) for s in json.loads(put.stdout)] == [("ns/odd-v1", True, 10), ("second-v0", True, 1)]
    assert files_of(str(into / "ns" / "odd-v1")) == files_of(os.path.join(hub.root, "ns", "odd-v1"))


def test_what_namespaces_say_comes_along(tmp_path):
    """Above the files, in each archive; it is put where there is none, and never over another."""
    root, tar = tmp_path / "root", str(tmp_path / "x.tar")
    for id in "lab/door/a-v0", "lab/door/b-v0":
        for name in "main_data.hdf5", "metadata.json":
            write(str(root / id / "data" / name), id.encode() * 100, 10**18)
    said = {"lab/namespace_metadata.json": b'{"description": "the lab"}\n', "lab/door/namespace_metadata.json": b'{"description": "doors"}'}
    for path, text in said.items():
        write(str(root / path), text, 1_600000000_123456789)
    url = URL.format("lab/door/a-v0")
    with Hub([str(root)], args=["--settle", "0"]) as hub:
        hub.wait_ready().wait_indexed()
        whole = hub.get(url)
        with tarfile.open(fileobj=io.BytesIO(whole.body)) as it:
            assert it.getnames() == [*said, "lab/door/a-v0/data/main_data.hdf5", "lab/door/a-v0/data/metadata.json", "lab/door/a-v0/.minari-hub.json"]
            assert [it.extractfile(p).read() for p in said] == list(said.values())
            assert abs(it.getmember("lab/namespace_metadata.json").mtime - 1600000000.123456789) < 1e-6
        assert int(hub.get(url, method="HEAD").headers["Content-Length"]) == len(whole.body)
        for first, last in ((0, 9), (500, 1600), (1500, 3000), (len(whole.body) - 2000, len(whole.body) - 1)):
            assert hub.get(url, {"Range": f"bytes={first}-{last}"}).body == whole.body[first:last + 1]
        assert program("export", "lab/door/a-v0", "lab/door/b-v0", "-o", tar, "--state", hub.state).returncode == 0
        write(str(root / "lab" / "namespace_metadata.json"), b"[]", 10**18)  # nonsense, which is of no archive
        other = hub.get(url)
        assert other.headers["ETag"] != whole.headers["ETag"] and b"the lab" not in other.body and b"doors" in other.body
    into = tmp_path / "into"
    write(str(into / "lab" / "namespace_metadata.json"), b'{"description": "mine"}', 10**18)
    done = program("import", tar, "--state", str(tmp_path / "t"), "--root", str(into))
    assert done.returncode == 0, done
    assert (into / "lab/namespace_metadata.json").read_bytes() == b'{"description": "mine"}'
    assert (into / "lab/door/namespace_metadata.json").read_bytes() == b'{"description": "doors"}'
    assert (into / "lab/door/b-v0/data/metadata.json").exists()


@pytest.mark.parametrize("maker", ["gnu", "posix", "bsd", tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_any_tar_of_datasets(maker, tmp_path):
    root, into, tar = tmp_path / "root", tmp_path / "into", str(tmp_path / "x.tar")
    into.mkdir()
    deep = "/".join(["e" * 40] * (3 if maker == tarfile.USTAR_FORMAT else 6))
    write(str(root / "ns" / "a-v0" / "data" / deep / "f.bin"), b"f" * 5000, 10**18)
    write(str(root / "ns" / "a-v0" / "data" / ".hidden"), b"h", 10**18)
    write(str(root / "ns" / "b-v0" / "data" / "süß\\ \n.txt"), b"b", 10**18)
    write(str(root / "ns" / "namespace_metadata.json"), b"{}", 10**18)
    write(str(root / "ns" / "README"), b"of no dataset", 10**18)
    if isinstance(maker, int):
        with tarfile.open(tar, "w", format=maker) as out:
            out.add(root / "ns", "ns")
    else:
        command = {"gnu": ["tar", "--format=gnu", "-cf"], "posix": ["tar", "--format=posix", "-cf"],
                   "bsd": [BSDTAR[0], "cf"] if BSDTAR[0] == "bsdtar" else ["cmake", "-E", "tar", "cf"]}[maker]
        subprocess.run([*command, tar, "./ns" if maker == "gnu" else "ns"], cwd=root, check=True)
    done = program("import", tar, "--state", str(tmp_path / "t"), "--root", str(into))
    assert done.returncode == 0, done
    assert done.stdout.count(b"no digests") == 2 and b"1 hidden files" in done.stderr and b"1 files that belong to no dataset" in done.stderr
    expected = {p: d for p, d in files_of(str(root / "ns")).items() if p != "README"}
    assert {p: d[0] for p, d in files_of(str(into / "ns")).items()} == {p: d[0] for p, d in expected.items()}
    assert (into / "ns" / "a-v0" / ".minari-hub.json").exists()
    verified = subprocess.run([os.path.join(BIN, "minari-cli"), "verify", str(into / "ns" / "a-v0")], capture_output=True,
                              env={**os.environ, "MINARI_HUB_URL": "http://127.0.0.1:9"})
    assert verified.returncode == 0, verified


def test_files_that_the_record_does_not_list(tmp_path):
    """They come along, as what somebody added, but nobody says that they are the hub's."""
    into = tmp_path / "into"
    into.mkdir()
    digest = lambda data: hashlib.sha256(data).hexdigest()
    record = json.dumps({"record": 1, "id": "a-v0", "revision": "0" * 40, "files": [{"path": "data/a.bin", "size": 3, "sha256": digest(b"abc"), "origin": "hub"}]}).encode()
    members = [("a-v0/data/a.bin", b"abc"), ("a-v0/data/b.bin", b"more"), ("a-v0/README.md", b"mine"), ("a-v0/.minari-hub.json", record)]
    tar = packed(*[(info(name, len(data)), data) for name, data in members])
    done = program("import", "-", "--state", str(tmp_path / "t"), "--root", str(into), input=tar)
    assert done.returncode == 0 and b"3 files" in done.stdout and b"1 verified with SHA-256, 2 not" in done.stdout, done
    assert b"2 files without a digest in the tar: 'a-v0/README.md', 'a-v0/data/b.bin'" in done.stderr, done
    kept = json.loads((into / "a-v0" / ".minari-hub.json").read_bytes())["files"]
    assert {f["path"]: (f["origin"], f["sha256"]) for f in kept} == {"data/a.bin": ("hub", digest(b"abc")), "data/b.bin": ("computed", digest(b"more")), "README.md": ("computed", digest(b"mine"))}
    put = program("import", "-", "--json", "--replace", "--state", str(tmp_path / "t"), "--root", str(into), input=tar)
    assert [(s["verified"], s["unlisted"]) for s in json.loads(put.stdout)] == [(1, 2)]


def test_trees_without_the_layout_of_minari(tmp_path):
    tar = str(tmp_path / "x.tar")
    with tarfile.open(tar, "w") as out:
        for name in ("lift/ph/low_dim.hdf5", "lift/mh/low_dim.hdf5", "loose.txt"):
            out.addfile(info(name, 3), io.BytesIO(b"abc"))
    for number, (more, there) in enumerate(((["--as", "robo/"], ["robo/lift/mh/low_dim.hdf5", "robo/lift/ph/low_dim.hdf5"]),
                                            (["--as", "all"], ["all/lift/mh/low_dim.hdf5", "all/lift/ph/low_dim.hdf5", "all/loose.txt"]))):
        root = tmp_path / str(number)
        root.mkdir()
        done = program("import", tar, "--state", str(tmp_path / "t"), "--root", str(root), *more)
        assert done.returncode == 0, done
        assert [p for p in left(str(root)) if not p.endswith(".json")] == there


def test_ids_of_a_root_with_a_name(tmp_path):
    tar = packed((info("lab/ns/a-v0/data/a.bin", 3), b"abc"), (info("lab/ns/namespace_metadata.json", 2), b"{}"))
    into = tmp_path / "into"
    into.mkdir()
    (tmp_path / "ro").mkdir()
    with Hub([f"lab={into}", f"ro={tmp_path / 'ro'}:ro"]) as hub:
        hub.wait_ready()
        several = program("import", "-", "--state", hub.state, input=tar)
        assert several.returncode == 2 and b"--root NAME" in several.stderr
        denied = program("import", "-", "--root", "ro", "--state", hub.state, input=tar)
        assert denied.returncode == 7 and b"is read-only" in denied.stderr
        done = program("import", "-", "--root", "lab", "--state", hub.state, input=tar)
        assert done.returncode == 0 and done.stdout.startswith(b"lab/ns/a-v0: 1 file,"), done
        assert (into / "ns" / "namespace_metadata.json").read_bytes() == b"{}"
        until(lambda: any(id.startswith("lab/ns") for id in hub.statuses()))


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk needs root")
def test_a_full_disk(tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", into]).returncode:
        pytest.skip("NO FULL DISK: no tmpfs can be mounted here, so an import onto a disk that is full is not tried")
    try:
        for members in ([(info("a-v0/data/big", 5 << 20), b"x" * (5 << 20))], [(info(f"a-v0/data/{i}", 1), b"x") for i in range(5000)]):
            done = program("import", "-", "--state", str(tmp_path / "t"), "--root", str(into), input=packed(*members))
            assert done.returncode == 6, done
            assert left(str(into)) == []
    finally:
        subprocess.run(["umount", into], check=True)


# ---- what is refused ----


GOOD = (info("ns/good-v0/data/a.bin", 3), b"abc")


def hostile():
    link = lambda kind: packed(GOOD, (info("ns/good-v0/data/l", kind=kind, linkname="/etc/passwd"), b""))
    yield "traversal", packed(GOOD, (info("ns/../../x/data/a", 1), b"x")), b"leads outside"
    yield "absolute", packed(GOOD, (info("/tmp/x/data/a", 1), b"x")), b"absolute name"
    yield "symbolic", link(tarfile.SYMTYPE), b"symbolic link"
    yield "hard", link(tarfile.LNKTYPE), b"hard link"
    yield "device", link(tarfile.CHRTYPE), b"a device"
    yield "pipe", link(tarfile.FIFOTYPE), b"a pipe"
    yield "sparse", packed(GOOD, (info("ns/good-v0/data/s", pax_headers={"GNU.sparse.major": "1"}), b"")), b"sparse"
    yield "twice", packed(GOOD, GOOD), b"comes twice"
    yield "both", packed(GOOD, (info("ns/good-v0/data/a.bin/b", 1), b"x")), b"a.bin"
    yield "huge", packed(GOOD)[:-10240 + 1024] + info("ns/good-v0/data/h", 1 << 60).tobuf(tarfile.GNU_FORMAT), b"has room for"
    yield "truncated in a file", packed((info("ns/good-v0/data/a.bin", 5000), b"x" * 5000))[:3000], b"cut short"
    yield "without an end", packed(GOOD)[:1024], b"cut short"
    yield "something behind", packed(GOOD) + packed(GOOD), b"after the end"
    yield "checksum", packed(GOOD)[:1024] + b"x" * 512, b"no valid header"
    yield "empty", b"", b"is empty"
    yield "no members", b"\0" * 1024, b"holds no dataset"
    yield "text", b"hello" * 300, b"not a tar"
    yield "zip", b"PK\3\4" + b"x" * 600, b"zip"
    for magic, name in ((b"\x1f\x8b", b"gunzip -c"), (b"\x28\xb5\x2f\xfd", b"zstd -dc"), (b"\xfd7zXZ", b"xz -dc"), (b"BZh9", b"bunzip2 -c")):
        yield name.decode(), magic + b"x" * 600, name
    yield "no name", packed((info("data/a.bin", 1), b"x")), b"--as NAME"
    yield "only loose", packed((info("a.bin", 1), b"x")), b"--as NAME"
    yield "reserved", packed((info("~files/data/a.bin", 1), b"x")), b"reserved"
    yield "deep", packed((info("a/" * 70 + "data/a.bin", 1), b"x")), b"too deep"
    yield "long", packed((info("a" * 300 + "/data/a.bin", 1), b"x")), b"too long"
    record = {"record": 1, "id": "ns/good-v0", "revision": "", "files": [{"path": "data/a.bin", "size": 3, "sha256": "00" * 32}]}
    text = json.dumps(record).encode()
    yield "digest", packed(GOOD, (info("ns/good-v0/.minari-hub.json", len(text)), text)), b"SHA-256 differs"
    record["files"][0].update(sha256=hashlib.sha256(b"abc").hexdigest(), path="data/b.bin")
    text = json.dumps(record).encode()
    yield "a file is missing", packed(GOOD, (info("ns/good-v0/.minari-hub.json", len(text)), text)), b"is not in the tar"
    yield "bad record", packed(GOOD, (info("ns/good-v0/.minari-hub.json", 2), b"{}")), b"is not a record"


def test_hostile_tars_leave_nothing(tmp_path):
    root = tmp_path / "root"
    write(str(root / "ns" / "mine-v0" / "data" / "x.bin"), b"x", 10**18)
    for name, tar, why in hostile():
        done = program("import", "-", "--state", str(tmp_path / "t"), "--root", str(root), input=tar)
        assert done.returncode in (1, 2, 5, 6) and why in done.stderr, (name, done)
        assert left(str(root)) == ["ns/mine-v0/data/x.bin"], name
        assert os.listdir(root / ".minari-hub" / "incoming") == [] if (root / ".minari-hub" / "incoming").exists() else True
    assert os.listdir(root / "ns") == ["mine-v0"]


def test_a_limit_of_file_sizes_is_said(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
    done = program("import", "-", "--state", str(tmp_path / "t"), "--root", str(root), input=BIG, preexec_fn=limited)
    assert done.returncode == 6 and b"File too large" in done.stderr and b"ulimit -f" in done.stderr, done
    assert left(str(root)) == []


def test_a_kill_leaves_nothing(tmp_path):
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir()
    state.mkdir()
    with Hub([str(root)], state=str(state)) as hub:
        kill_an_import(hub.wait_ready(), str(root))
    with Hub([str(root)], state=str(state)) as hub:
        hub.wait_ready()
        until(lambda: left(str(root)) == [])
        until(lambda: [j["state"] for j in hub.get("/api/v1/jobs?kind=import").json()["items"]] == ["failed"])
        done = program("import", "-", "--state", hub.state, input=BIG)
        assert done.returncode == 0, done
        assert sorted(os.listdir(root / "ns")) == ["big-v0", "good-v0"]


BIG = packed((info("ns/big-v0/data/a.bin", 32 << 20), b"a" * (32 << 20)), GOOD)


def kill_an_import(other, root):
    importing = subprocess.Popen([os.path.join(BIN, "minari-hub"), "import", "-", "--state", other.state], stdin=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
    importing.stdin.write(BIG[:20 << 20])
    importing.stdin.flush()
    until(lambda: any("incoming" in p for p in left(root)))
    second = program("import", "-", "--state", other.state, input=BIG)
    assert second.returncode == 1 and b"under way" in second.stderr or b"is running" in second.stderr, second
    importing.kill()
    importing.wait()
    assert os.listdir(root) == [".minari-hub"]
