"""The upload of Xet: what hf_xet sends becomes objects, and nothing else does."""
import concurrent.futures
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import time

import pytest

from hub import FIXTURES, PATIENCE, until
from test_access_twins import run
from test_drafts import ask, serve

XET = os.path.join(FIXTURES, "xet")
FIRST, SECOND = ("99c6b9e0e4195b212dd19bce2e807caba38e6629b519470dd019b2bd0c0c2184",
                 "99a1ffbc0f92b23377bf9c0bad04701d3c51d264268f7113fed3db4368a7eca6")
REPO = "lab/arm"


def read(*path):
    with open(os.path.join(XET, *path), "rb") as f:
        return f.read()


def start(tmp_path, *args):
    """A hub with a repo, and the token of test_drafts that may write to it."""
    hub = serve(tmp_path, *args)
    made = ask(hub, "POST", "/api/repos/create", json.dumps({"name": "arm", "organization": "lab", "type": "dataset", "private": False}))
    assert made.status in (200, 409), made.body
    return hub


@pytest.fixture
def hub(tmp_path):
    with start(tmp_path) as hub:
        yield hub


class Upload:
    """What a client of Xet holds."""

    def __init__(self, hub, token="", repo=REPO):
        self.hub, self.answer = hub, ask(hub, "GET", f"/api/datasets/{repo}/xet-write-token/main", token=token)
        if self.answer.status == 200:
            self.grant = self.answer.json()
            self.path = self.grant["casUrl"].removeprefix(hub.base)
            self.epoch = self.path.split("/")[2]

    def post(self, path, body, **more):
        return ask(self.hub, "POST", self.path + path, body, token=more.get("token", self.grant["accessToken"]))

    def xorb(self, name, body=None, **more):
        return self.post(f"/v1/xorbs/default/{name}", read("xorbs", name) if body is None else body, **more)

    def shard(self, body, version=2, **more):
        """The last line, and the status where there is none."""
        answer = self.post(f"/v{version}/shards", body, **more)
        return json.loads(answer.body.splitlines()[-1]) if answer.status == 200 else answer.status


def objects(hub):
    folder = hub.root / ".minari-hub" / "objects"
    return {p.name for p in folder.iterdir()} if folder.exists() else set()


def xorbs(hub):
    return {p.relative_to(hub.root / ".minari-hub" / "xorbs").as_posix()
            for p in (hub.root / ".minari-hub" / "xorbs").rglob("*") if p.is_file()}


def sha256s(shard):
    """As the metadata of its files says."""
    at, found = 48, set()
    while shard[at:at + 32] != b"\xff" * 32:
        flags, terms = struct.unpack_from("<II", shard, at + 32)
        at += 48 + 48 * terms * (2 if flags >> 31 else 1)
        found.add(b"".join(shard[at + i:at + i + 8][::-1] for i in (0, 8, 16, 24)).hex())
        at += 48
    return found


def assert_are_themselves(hub):
    for name in objects(hub):
        assert hashlib.sha256((hub.root / ".minari-hub" / "objects" / name).read_bytes()).hexdigest() == name


@pytest.mark.parametrize("version", [1, 2])
def test_files_become_objects(hub, version):
    upload = Upload(hub)
    assert upload.answer.headers["X-Xet-Cas-Url"] == upload.grant["casUrl"]
    assert upload.answer.headers["Cache-Control"] == "no-store"
    assert 3000 < upload.grant["exp"] - time.time() < 3700
    assert upload.xorb(FIRST).json() == {"was_inserted": True}
    done = {"result": 1} if version == 1 else {"type": "result"}
    assert upload.shard(read("first.shard"), version) == done
    assert objects(hub) == sha256s(read("first.shard")) and len(objects(hub)) == 4
    # a later push names a xorb of this one, and comes to the same place
    again = Upload(hub)
    assert again.grant["casUrl"] == upload.grant["casUrl"]
    again.xorb(SECOND)
    assert again.shard(read("second.shard"), version) == done
    assert objects(hub) == sha256s(read("first.shard")) | sha256s(read("second.shard"))
    assert again.shard(read("second.shard"), version) == done  # its answer was lost
    assert_are_themselves(hub)


def test_every_question_has_an_answer(hub):
    upload = Upload(hub)
    for method, path in (("GET", f"/v1/chunks/default/{FIRST}"), ("POST", f"/v1/xorb-grants/default/{FIRST}"),
                         ("POST", "/v1/telemetry"), ("GET", f"/v2/reconstructions/{FIRST}")):
        assert ask(hub, method, upload.path + path, b"{}" if method == "POST" else None,
                   token=upload.grant["accessToken"]).status == 404, path


def test_who_may(hub):
    """A pass is for one upload, and for as long as its token may write there."""
    assert Upload(hub, token=None).answer.status == 401
    assert Upload(hub, repo="other/arm").answer.status == 403
    assert Upload(hub, repo="lab/none").answer.headers["X-Error-Code"] == "RepoNotFound"
    reader = run(hub.state, "token", "add", "rob", "--read", "lab/").strip()
    bob = run(hub.state, "token", "add", "bob", "--write", "lab/").strip()
    assert Upload(hub, token=reader).answer.status == 403
    until(lambda: Upload(hub, token=bob).answer.status == 200)
    ann, bob = Upload(hub), Upload(hub, token=bob)
    assert ann.epoch != bob.epoch  # nobody else's xorbs come into one's files
    good = ann.grant["accessToken"]
    parts = good.split(".")
    bad = ["", hub.token.strip(), "x", "xet", bob.grant["accessToken"], good[:-1], good + "x", good.replace("arm", "leg"),
           ".".join([parts[0], str(int(parts[1]) + 1), *parts[2:]]), ".".join([*parts[:3], "0" * 64, parts[4]]),
           ".".join([*parts[:2], "a" * 10, *parts[3:]]), "xet.1.a.b.c", "xet...."]
    for token in bad:
        assert ann.xorb(FIRST, token=token or None).status == 401, token
        assert ann.shard(read("first.shard"), token=token or None) == 401, token
    assert ann.xorb(FIRST).status == 200
    run(hub.state, "access", "set", "token:ann", "read", "lab/")
    until(lambda: ann.xorb(FIRST).status == 403)
    run(hub.state, "access", "set", "token:ann", "write", "lab/")
    until(lambda: ann.xorb(FIRST).status == 200)
    run(hub.state, "token", "revoke", "ann")
    until(lambda: ann.xorb(FIRST).status == 401)
    assert ann.shard(read("first.shard")) == 401
    assert not objects(hub)


def test_a_link_is_no_pass(hub):
    """A signed link of that address, which its maker may give away to read, lets nobody write."""
    upload = Upload(hub)
    path = f"{upload.path}/{REPO}"
    url = ask(hub, "POST", "/api/v1/links", json.dumps({"path": path})).json()["url"]
    query = dict(pair.split("=") for pair in url.split("?")[1].split("&"))
    forged = ".".join(["xet", query["exp"], query["as"], query["sig"], REPO])
    assert upload.xorb(FIRST, token=forged).status == 401


def patched(shard, at, value):
    return shard[:at] + struct.pack("<I", value) + shard[at + 4:]


def test_shards_that_lie(hub):
    upload = Upload(hub)
    upload.xorb(FIRST)
    shard = read("first.shard")
    lies = {"counts": patched(shard, 48 + 36, 0xffffffff), "terms": patched(shard, 48 + 36, 2), "no sha": patched(shard, 48 + 32, 1 << 31),
            "cut": shard[:-1], "empty": b"", "noise": random.Random(1).randbytes(5000)}
    for name, lie in lies.items():
        assert upload.shard(lie) == {"counts": 413, "no sha": 422}.get(name, 400), name
    for lie, words in ((patched(shard, 96 + 36, 36008), "states 36008 bytes"), (patched(shard, 96 + 44, 12), "names chunks up to 12"),
                       (patched(shard, 96 + 40, 0), "states 36007 bytes")):
        answer = upload.shard(lie)
        assert answer["type"] == "error" and not answer["retryable"] and words in answer["message"], answer
        assert upload.shard(lie, version=1) == 400
    assert not objects(hub)
    assert upload.shard(shard) == {"type": "result"}  # nothing of this spoils the upload


@pytest.mark.parametrize("version", [1, 2])
def test_a_shard_that_states_another_sha256(hub, version):
    """Nothing of that file is kept, and the next push sends everything again."""
    upload = Upload(hub)
    upload.xorb(FIRST)
    shard = bytearray(read("first.shard"))
    shard[48 * 4] ^= 1
    answer = upload.shard(bytes(shard), version)
    assert answer == 422 if version == 1 else "SHA-256" in answer["message"]
    assert not objects(hub) and not xorbs(hub)
    assert upload.xorb(FIRST).status == 404
    assert Upload(hub).epoch != upload.epoch


def test_a_xorb_that_is_gone(hub):
    upload = Upload(hub)
    upload.xorb(SECOND)
    answer = upload.shard(read("second.shard"))
    assert answer["type"] == "error" and FIRST in answer["message"] and "run the push again" in answer["message"]
    again = Upload(hub)
    assert again.epoch != upload.epoch  # so the client sends all of them
    again.xorb(FIRST), again.xorb(SECOND)
    assert again.shard(read("second.shard")) == {"type": "result"}


def chunk(scheme, data, raw):
    return struct.pack("<I", len(data) << 8) + struct.pack("<I", raw << 8 | scheme) + data


def test_xorbs_that_lie(hub):
    upload = Upload(hub)
    whole = read("xorbs", FIRST)
    for name, lie, status in (("cut", whole[:-1], 400), ("empty", b"", 400), ("noise", random.Random(2).randbytes(5000), 400),
                              ("scheme", chunk(7, b"abcd", 4), 400), ("raw", chunk(1, b"abcd", 200000), 413), ("version", b"\1" + whole[1:], 400),
                              ("chunks", chunk(0, b"a", 1) * 8193, 413)):
        answer = upload.xorb(FIRST, lie)
        assert answer.status == status, (name, answer.status, answer.body)
    long = ask(hub, "POST", f"{upload.path}/v1/xorbs/default/{FIRST}", None, {"Content-Length": str(66 << 20)}, upload.grant["accessToken"])
    assert long.status == 413  # before it comes
    assert upload.xorb("A" * 64, whole).status == upload.xorb("..%2f..%2fetc", whole).status == 400
    assert not xorbs(hub)


def shard_of(xorb, bytes_, chunks, sha256):
    """One file of one term."""
    def turned(digest):
        return b"".join(digest[i:i + 8][::-1] for i in (0, 8, 16, 24))

    name = turned(bytes.fromhex(xorb))
    end = b"\xff" * 32 + bytes(16)
    return (read("first.shard")[:48] + bytes(32) + struct.pack("<IIQ", 1 << 30, 1, 0) + name + struct.pack("<IIII", 0, bytes_, 0, chunks) +
            turned(bytes.fromhex(sha256)) + bytes(16) + end + end)


def frame_of(zeros):
    import pyarrow

    return pyarrow.compress(bytes(zeros), codec="lz4", asbytes=True)


def test_bombs(hub):
    """Frames that would unpack to more than a chunk has, and as many chunks as a xorb may have of them."""
    upload = Upload(hub)
    bomb = frame_of(16 << 20)
    for raw in (1, 131072):
        assert upload.xorb(FIRST, chunk(1, bomb, raw)).status == 200
        answer = upload.shard(shard_of(FIRST, raw, 1, hashlib.sha256(bytes(raw)).hexdigest()))
        assert answer["type"] == "error" and "declared length" in answer["message"]
        upload = Upload(hub)
    before = hub.processor_s()
    frame = frame_of(131072)
    assert upload.xorb(FIRST, chunk(1, frame, 131072) * 512).status == 200  # 64 MiB in 270 KB is what Xet is for
    assert upload.shard(shard_of(FIRST, 64 << 20, 512, hashlib.sha256(bytes(64 << 20)).hexdigest())) == {"type": "result"}
    assert hub.processor_s() - before < 60
    assert upload.xorb(FIRST, chunk(1, frame, 131072) * 513).status == 413


def test_a_budget(tmp_path):
    """Of all that wait, those go first that were not used for longest; one upload that is larger than all says so."""
    with start(tmp_path, "--upload-cache", "1M") as hub:
        bob = run(hub.state, "token", "add", "bob", "--write", "lab/").strip()
        until(lambda: Upload(hub, token=bob).answer.status == 200)
        old = Upload(hub, token=bob)
        for n in range(6):
            old.xorb(f"{n:064x}", read("xorbs", FIRST))
        os.utime(hub.root / ".minari-hub" / "xorbs" / old.epoch, (1, 1))
        new, statuses = Upload(hub), []
        for n in range(12):
            statuses.append(new.xorb(f"{n:064x}", read("xorbs", FIRST)).status)
            held = sum(p.stat().st_blocks * 512 for p in (hub.root / ".minari-hub" / "xorbs").rglob("*") if p.is_file())
            assert held <= 1 << 20
        assert statuses[:6] == [200] * 6 and old.xorb(FIRST).status == 404
        assert 507 in statuses and statuses[-1] == 404  # its own was too much: the next push has another address
        assert Upload(hub).epoch != new.epoch


def test_what_is_old_goes_by_itself(tmp_path):
    """Whether or not somebody pushes again."""
    with start(tmp_path) as hub:
        upload = Upload(hub)
        assert upload.xorb(FIRST).status == 200
        folder = hub.root / ".minari-hub" / "xorbs" / upload.epoch
        os.utime(folder, (1, 1))
    with serve(tmp_path) as hub:
        until(lambda: not folder.exists())
        assert list(folder.parent.iterdir()) == []


def test_many_at_once(hub):
    """64 xorbs at once, each of its own content, then one shard that needs them all."""
    upload = Upload(hub)
    names = [f"{n:064x}" for n in range(64)]
    bodies = [chunk(0, random.Random(n).randbytes(131072), 131072) * 4 for n in range(64)]
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        assert {a.status for a in pool.map(upload.xorb, names, bodies)} == {200}
        shards = [shard_of(name, 4 * 131072, 4, hashlib.sha256(body[8:8 + 131072] * 4).hexdigest()) for name, body in zip(names, bodies)]
        # more than are taken at once: some are told to try again, and clients do
        answers = list(pool.map(lambda shard: until(lambda: (a := upload.shard(shard)) != 503 and a, PATIENCE), shards))
    assert answers == [{"type": "result"}] * 64
    assert len(objects(hub)) == 64
    assert_are_themselves(hub)


def test_killed(tmp_path):
    """What came before goes on after; what was half there leaves nothing."""
    hub = start(tmp_path)
    upload = Upload(hub)
    upload.xorb(FIRST)
    (hub.root / ".minari-hub" / "xorbs" / upload.epoch / "part-0").write_bytes(b"half")
    hub.process.kill()
    hub.stop(expect=None)
    with start(tmp_path) as hub:
        again = Upload(hub)
        assert again.epoch == upload.epoch
        again.xorb(SECOND)
        assert again.shard(read("second.shard")) == {"type": "result"}
        (hub.root / ".minari-hub" / "xorbs" / again.epoch / FIRST).write_bytes(b"damaged")
        (hub.root / ".minari-hub" / "objects" / next(iter(objects(hub)))).unlink()
        assert "damaged" in again.shard(read("second.shard"))["message"]


CLIENT = """
import os, sys, hf_xet
url, token, *paths = sys.argv[1:]
with hf_xet.XetSession().new_upload_commit(token_refresh_url=url, token_refresh_headers={"Authorization": "Bearer " + token}) as commit:
    handles = [commit.start_upload_file(path, sha256=hf_xet.COMPUTE_SHA256) for path in paths]
for handle in handles:
    print(handle.result().xet_info.sha256)
"""


class Client:
    """hf_xet itself, called as huggingface_hub calls it, with what it remembers in a folder of its own."""

    def __init__(self, hub, tmp_path, name):
        self.hub, self.home = hub, tmp_path / name

    def begin(self, *paths):
        environment = {**os.environ, "HF_HOME": str(self.home), "HF_XET_CACHE": str(self.home / "xet")}
        url = f"{self.hub.base}/api/datasets/{REPO}/xet-write-token/main"
        return subprocess.Popen([sys.executable, "-c", CLIENT, url, self.hub.token.strip(), *map(str, paths)], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def push(self, *paths):
        process = self.begin(*paths)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        wanted = [hashlib.sha256(p.read_bytes()).hexdigest() for p in paths]
        assert out.split() == wanted and set(wanted) <= objects(self.hub)


def bodies(hub):
    """Bytes of xorbs that are there."""
    return sum(p.stat().st_size for p in (hub.root / ".minari-hub" / "xorbs").rglob("*") if p.is_file())


def make_files(folder, *sizes):
    """Random bytes, text and numbers, each as it compresses."""
    folder.mkdir()
    draw, paths = random.Random(3), []
    for n, size in enumerate(sizes):
        kinds = (lambda: draw.randbytes(size), lambda: b"".join(b'{"frame": %d}\n' % i for i in range(size // 14)),
                 lambda: struct.pack(f"<{size // 4}f", *(i / 977 for i in range(size // 4))))
        paths.append(folder / f"{n}.bin")
        paths[-1].write_bytes(kinds[n % 3]())
    return paths


def test_the_client_itself(hub, tmp_path):
    pytest.importorskip("hf_xet")
    paths = make_files(tmp_path / "files", 100_000, 1_000_000, 4_000_003, 20_000_000, 20)
    client = Client(hub, tmp_path, "home")
    client.push(*paths)
    sent = bodies(hub)
    data = paths[3].read_bytes()
    paths[3].write_bytes(data[:9_000_000] + b"an edit in the middle" + data[9_000_000:] + b"and more behind")
    client.push(*paths)
    assert bodies(hub) - sent < 2_000_000  # the rest is what it sent before
    # what it sent is gone: another address, so it sends all again
    shutil.rmtree(hub.root / ".minari-hub" / "xorbs")
    shutil.rmtree(hub.root / ".minari-hub" / "objects")
    client.push(*paths)
    assert_are_themselves(hub)


def test_a_client_that_misses_a_xorb(hub, tmp_path):
    """A xorb is lost without its epoch: that push fails, the next one succeeds."""
    pytest.importorskip("hf_xet")
    (path,) = make_files(tmp_path / "files", 5_000_000)
    client = Client(hub, tmp_path, "home")
    client.push(path)
    for p in (hub.root / ".minari-hub" / "xorbs").rglob("*"):
        if p.is_file():
            p.unlink()
    path.write_bytes(path.read_bytes() + bytes(1000))
    process = client.begin(path)
    _, err = process.communicate(timeout=300)
    assert process.returncode and "run the push again" in err, err  # the hub's own words
    client.push(path)


def test_a_client_that_is_killed(hub, tmp_path):
    pytest.importorskip("hf_xet")
    paths = make_files(tmp_path / "files", *[12_000_000] * 6)
    client = Client(hub, tmp_path, "home")
    process = client.begin(*paths)
    until(lambda: (hub.root / ".minari-hub" / "xorbs").exists() and bodies(hub) > 1_000_000)
    process.kill()
    process.communicate()
    client.push(*paths)
    assert_are_themselves(hub)


def test_two_clients_at_once(hub, tmp_path):
    pytest.importorskip("hf_xet")
    paths = make_files(tmp_path / "files", 9_000_000, 300_000, 3_000_000)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: Client(hub, tmp_path, name).push(*paths), ["one", "two"]))
    assert_are_themselves(hub)
