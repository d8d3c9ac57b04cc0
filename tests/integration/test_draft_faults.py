"""Pushes under faults: bodies that are cut, slow, wrong, again or out of order; a full disk; a disk that fails once; a hub that ends at
any moment. What was acknowledged is there, what is published is whole, nobody sees a part of it, and a rerun completes.

HUB_DRAFT_STEP_KIB: between two cuts; HUB_DRAFT_KILLS: random ones; HUB_DRAFT_STARTS: drafts that one token opens; HUB_CRASH_POINTS: how
many moments a test tries, 0 all. The step drafts of long.sh has more of each."""
import base64
import contextlib
import errno
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from cli import Cli
from hub import Hub, quote, small_disk, until
from shim import NAMES, Shim, some
from test_access_twins import run
from test_drafts import ARM, DOOR, ask, open_draft, problem, push, put, tree

STEP = int(os.environ.get("HUB_DRAFT_STEP_KIB", "512")) << 10
KILLS = int(os.environ.get("HUB_DRAFT_KILLS", "25"))
STARTS = int(os.environ.get("HUB_DRAFT_STARTS", "2000"))
POINTS = int(os.environ.get("HUB_CRASH_POINTS", "8"))
IS_FAST = "asan" not in os.environ.get("HUB_BIN", "")
BLOCK = (1 << 20) + (1 << 16)  # bytes of a body that may be on their way to the file
BIG = random.Random(28).randbytes(4 << 20)
SET = tree(ARM)
SLICE = "/api/v1/datasets/lab/old-v0/episodes/0/actions"
GONE = (OSError, http.client.HTTPException)  # what a client sees of a hub that ends


def serve(place, *args, prefix=(), root=None, state=None, beside=True):
    """A hub over PLACE/root, which has lab/old-v0 where something is beside; the token that writes lab/."""
    root, state = str(root or place / "root"), str(state or place / "state")
    if not os.path.exists(place / "token"):
        os.makedirs(place / "state", mode=0o700)
        (place / "token").write_text(run(str(place / "state"), "token", "add", "ann", "--write", "lab/"))
        if beside:
            shutil.copytree(DOOR, place / "root/lab/old-v0")
    began = time.monotonic()
    hub = Hub([root], state=state, log=str(place / "log"), prefix=prefix, args=["--min-free", "0", *args])
    hub.wait_ready()
    hub.ready_s = time.monotonic() - began
    hub.root, hub.token = root, (place / "token").read_text()
    return hub


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def end(hub):
    hub.process.kill()
    hub.stop(expect=None)


# ---- requests by hand ----

def begin_put(hub, draft, path, first, size):
    """A connection over which the rest of a file may be sent; or the refusal."""
    sock = socket.create_connection(("127.0.0.1", hub.port), timeout=60)
    sock.sendall((f"PUT {draft}/files/{quote(path)} HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {hub.token}\r\nExpect: 100-continue\r\n"
                  f"Content-Length: {size - first}\r\nContent-Range: bytes {first}-{size - 1}/{size}\r\n\r\n").encode())
    if sock.recv(13, socket.MSG_PEEK).startswith(b"HTTP/1.1 100 "):
        sock.recv(65536)
        return sock
    return answer_of(sock)


def answer_of(sock):
    with sock:
        answer = http.client.HTTPResponse(sock)
        answer.begin()
        answer.body = answer.read()
    answer.json = lambda: json.loads(answer.body)
    return answer


def offset(hub, draft, path):
    head = ask(hub, "HEAD", f"{draft}/files/{quote(path)}")
    assert head.status in (200, 404), head.status
    return int(head.headers["Upload-Offset"]) if head.status == 200 else 0


def go_on(hub, draft, path, size):
    """A connection that sends a file on from where it stands, and that byte: until the hub has seen that the sender before is gone."""
    def once():
        at = offset(hub, draft, path)
        found = begin_put(hub, draft, path, at, size)
        if isinstance(found, socket.socket):
            return found, at
        assert found.status in (409, 503), found.body
    return until(once)


def finish(hub, draft, path, data):
    sock, at = go_on(hub, draft, path, len(data))
    sock.sendall(data[at:])
    answer = answer_of(sock)
    assert (answer.status, answer.json()["sha256"]) == (201, hashlib.sha256(data).hexdigest()), answer.body


def part(hub, draft, path, data, first, last):
    return put(hub, draft, path, data[first:last], **{"Content-Range": f"bytes {first}-{last - 1}/{len(data)}"})


# ---- bodies ----

def test_a_line_that_breaks_every_step(hub):
    """All that arrived is kept, so that each try gets on; also where a break takes with it what was on its way."""
    draft, sent = open_draft(hub, "lab/new-v0"), 0
    for cut in range(STEP, len(BIG), STEP):
        sock, at = go_on(hub, draft, "data/a.bin", len(BIG))
        sock.sendall(BIG[at:cut])
        sent += cut - at
        sock.close()
        until(lambda: offset(hub, draft, "data/a.bin") == cut)
    finish(hub, draft, "data/a.bin", BIG)
    print(f"{len(BIG) >> 10} KiB in {len(BIG) // STEP} connections: {sent + STEP - len(BIG)} bytes were sent twice")
    at = 0
    for cut in range(STEP, len(BIG), STEP):
        sock, before = go_on(hub, draft, "data/b.bin", len(BIG))
        assert before >= at, "what is there stays"
        at = before
        sock.sendall(BIG[at:max(cut, at)])
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    finish(hub, draft, "data/b.bin", BIG)


def test_parts_in_and_out_of_order(hub):
    draft = open_draft(hub, "lab/new-v0")
    ends = range(STEP, len(BIG) + 1, STEP)
    for last in ends:
        for wrong in {0 if last == STEP else STEP, last, len(BIG) - STEP} - {0, last - STEP}:
            refused = part(hub, draft, "a", BIG, wrong, min(wrong + STEP, len(BIG))) if wrong < len(BIG) else None
            assert refused is None or (refused.status, problem(refused)) == (409, "upload-offset"), (last, wrong, refused.body)
            assert refused is None or f"{last - STEP} bytes of the file are there" in refused.json()["detail"], refused.body
        taken = part(hub, draft, "a", BIG, last - STEP, last)
        assert (taken.status, taken.headers["Upload-Offset"]) == (201 if last == len(BIG) else 200, str(last))
    again = part(hub, draft, "a", BIG, len(BIG) - STEP, len(BIG))
    assert (again.status, problem(again)) == (409, "upload-offset") and f"all {len(BIG)} bytes" in again.json()["detail"], again.body
    assert offset(hub, draft, "a") == len(BIG) and ask(hub, "GET", draft + "/files").json()["items"][0]["sha256"] == hashlib.sha256(BIG).hexdigest()
    assert not os.listdir(f"{hub.root}/.minari-hub/drafts/{draft.rpartition('/')[2]}/parts"), "what is refused leaves nothing"
    for _ in range(2):
        assert put(hub, draft, "a", BIG).status == 201, "all of it may come again"
    assert ask(hub, "POST", draft + "/commit?allow=files").status == 200
    assert tree(f"{hub.root}/lab/new-v0") == {"a": BIG}


def test_wrong_lengths(hub):
    draft = open_draft(hub, "lab/new-v0")
    chunks = lambda data: iter([data])  # without a length
    with_range = lambda body, text: put(hub, draft, "a", body, **{"Content-Range": text})
    assert with_range(b"12345", "bytes 0-9/10").status == 400 and with_range(b"12345", "bytes 0-3/10").status == 400
    for text in ("bytes 0-9/9", "bytes 5-4/10", "bytes 0-4/*", "bytes */5", "items 0-4/5", "bytes 0-4/99999999999999999999", "bytes  0-4/5", "bytes 0-4/5x", "bytes"):
        assert with_range(b"12345", text).status == 400, text
    assert put(hub, draft, "b", chunks(b"12345")).status == 400, "of what size?"
    short = with_range(chunks(b"123"), "bytes 0-4/5")
    assert short.status == 400 and "fewer bytes" in short.json()["detail"] and offset(hub, draft, "a") == 3
    long = with_range(chunks(b"4567"), "bytes 3-4/5")
    assert long.status == 413 and "more bytes" in long.json()["detail"] and offset(hub, draft, "a") == 3, "nothing of it is kept"
    assert with_range(chunks(b"45"), "bytes 3-4/5").json()["sha256"] == hashlib.sha256(b"12345").hexdigest()


def test_a_wrong_digest_after_parts(hub):
    draft, digest = open_draft(hub, "lab/new-v0"), lambda data: f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"
    half = len(BIG) // 2
    last = {"Content-Range": f"bytes {half}-{len(BIG) - 1}/{len(BIG)}"}
    for stated, status in ((BIG[1:], 422), (BIG, 201)):
        assert part(hub, draft, "a", BIG, 0, half).status == 200
        answer = put(hub, draft, "a", BIG[half:], **last, **{"Repr-Digest": digest(stated)})
        assert answer.status == status, answer.body
        assert offset(hub, draft, "a") == (len(BIG) if status == 201 else 0)
    for data in (BIG, b""):
        assert put(hub, draft, "a", data, **{"Repr-Digest": digest(b"other")}).status == 422, "of a whole one that comes again"
        assert ask(hub, "POST", draft + "/commit?allow=files").status == 422, "and which is not there then"


def test_slow_bodies(hub):
    """They hold nobody up; they are ended in the end, and what came of them is kept."""
    draft = open_draft(hub, "lab/slow-v0")
    socks = [begin_put(hub, draft, f"{i}.bin", 0, 1 << 20) for i in range(4)]
    for sock in socks:
        sock.sendall(BIG[:1000])
    alive, sent, began = list(socks), 1000, time.monotonic()
    done = threading.Thread(target=lambda: ask(hub, "POST", push(hub, ARM, "lab/fast-v0") + "/commit"))
    done.start()
    while alive and time.monotonic() < began + 60:
        sent += 1
        for sock in list(alive):
            try:
                sock.sendall(BIG[sent - 1:sent])
            except OSError:
                alive.remove(sock)
        time.sleep(0.1)  # so slow are they
    done.join()
    assert not alive and tree(f"{hub.root}/lab/fast-v0") == SET
    print(f"{sent} bytes in {time.monotonic() - began:.1f} s: ended")
    [sock.close() for sock in socks]
    for i in range(4):
        until(lambda: offset(hub, draft, f"{i}.bin") > 1000)
        finish(hub, draft, f"{i}.bin", BIG[:1 << 20])


# ---- a disk that is full ----

@pytest.fixture(name="small_disk")
def make_small_disk():
    return small_disk(40, "root", "state")


@contextlib.contextmanager
def full(folder):
    """Not a byte more has room there."""
    path = os.path.join(folder, "ballast")
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    size = 1 << 30
    while size >= 1:
        try:
            os.posix_fallocate(fd, os.fstat(fd).st_size, size)
        except OSError:
            size >>= 1
    yield
    os.close(fd)
    os.unlink(path)


def test_the_disk_is_full(tmp_path, small_disk):
    with serve(tmp_path, prefix=small_disk, root="/mnt/root", beside=False) as hub:
        disk = f"/proc/{hub.process.pid}/root/mnt"
        for n, at in enumerate(range(0, len(BIG) + 1, STEP)):
            draft = open_draft(hub, f"lab/new-v{n}")
            sock = begin_put(hub, draft, "a.bin", 0, len(BIG))
            sock.sendall(BIG[:at])
            until(lambda: at < BLOCK or offset(hub, draft, "a.bin") >= at - BLOCK)
            with full(disk):
                with contextlib.suppress(OSError):
                    sock.sendall(BIG[at:])
                answer = answer_of(sock)
                assert answer.status == 201 if at == len(BIG) and answer.status == 201 else (answer.status, problem(answer)) == (507, "no-space"), (at, answer.body)
                assert ask(hub, "POST", draft + "/commit?allow=files").status in (422, 507) and not os.path.exists(f"{disk}/root/lab"), at
                refused = begin_put(hub, draft, "b.bin", 0, 1 << 20)
                assert (refused.status, problem(refused)) == (507, "no-space"), "before a byte of it comes"
                assert hub.get("/api/v1/datasets").status == 200
                came = offset(hub, draft, "a.bin")
                assert came >= at - BLOCK, (at, came)
            if came < len(BIG):
                finish(hub, draft, "a.bin", BIG)
            done = ask(hub, "POST", draft + "/commit?allow=files")
            assert done.status == 200, done.body
            assert tree(f"{disk}/root/lab/new-v{n}") == {"a.bin": BIG}
            shutil.rmtree(f"{disk}/root/lab")
        assert leftovers(f"{disk}/root") == []
    print(f"full at {n + 1} places of {len(BIG) >> 20} MiB")


def test_the_disk_of_the_state_is_full(tmp_path, small_disk):
    """Reads go on; what is pushed says why it is not taken, and goes on when there is room."""
    serve(tmp_path).stop()
    command = [*small_disk[:-2], small_disk[-2].replace("exec", f"cp {tmp_path}/state/hub.db* /mnt/state/ && exec"), "sh"]
    with serve(tmp_path, prefix=command, state="/mnt/state") as hub:
        hub.state = f"/proc/{hub.process.pid}/root/mnt/state"
        hub.wait_indexed()
        draft = open_draft(hub, "lab/new-v0")
        want, refused, n = hub.get(SLICE).body, None, 0
        with full(f"/proc/{hub.process.pid}/root/mnt"):
            while (not refused or refused.status == 201) and n < 2000:  # a page of its log may have room yet
                n += 1
                refused = put(hub, draft, f"{n:0200}", b"x")
            assert (refused.status, problem(refused)) == (507, "no-space"), refused.body
            opened = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/more-v0"}))
            assert (opened.status, problem(opened)) == (507, "no-space"), opened.body
            assert ask(hub, "POST", draft + "/commit?allow=files").status == 507 and not os.path.exists(f"{hub.root}/lab/new-v0")
            assert hub.get(SLICE).body == want and hub.get("/api/v1/datasets").status == 200
        assert put(hub, draft, f"{n:0200}", b"x").status == 201
        done = ask(hub, "POST", draft + "/commit?allow=files")
        assert done.status == 200 and len(tree(f"{hub.root}/lab/new-v0")) == n, done.body
        assert not os.path.exists(f"{hub.root}/lab/more-v0") and leftovers(hub.root) == []
        assert [d["id"] for d in ask(hub, "GET", "/api/v1/drafts").json()["items"] if d["state"] == "open"] == []


# ---- a push that goes on after anything ----

def leftovers(root):
    private = os.path.join(root, ".minari-hub")
    return [f"{name}/{f}" for name in ("drafts", "incoming", "trash", "replace") if os.path.isdir(os.path.join(private, name))
            for f in os.listdir(os.path.join(private, name))]


def again(what):
    """What `what` returns once that is true; unlike `until` it does not outlast a hub that ends."""
    end = time.monotonic() + 60
    while not (got := what()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)  # until a reason has passed that passes
    return got


class Push:
    """One dataset, in parts; remembers what was acknowledged."""

    def __init__(self, id, files=SET, parts=3):
        self.id, self.files, self.parts, self.draft, self.came, self.commit, self.refusals = id, files, parts, None, {}, None, []

    def taken(self, answer, *good):
        """Or refused for a reason that passes: it is asked for once more."""
        if answer.status in good:
            return answer
        self.refusals.append((answer.status, problem(answer)))
        assert answer.status in (500, 503, 507) or problem(answer) in ("upload-offset", "draft-busy"), (answer.status, answer.body)

    def open(self, hub):
        """The draft of a request whose answer was lost is found by its id."""
        (found,) = [d for d in ask(hub, "GET", "/api/v1/drafts").json()["items"] if d["id"] == self.id and d["state"] != "dropped"][:1] or [None]
        if found:
            self.draft = "/api/v1/drafts/" + found["draft"]
        elif self.taken(answer := ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": self.id})), 201):
            self.draft = answer.headers["Location"]
        return self.draft

    def send(self, hub, path):
        """One part more; true once the file is whole."""
        data = self.files[path]
        there = {f["path"]: f for f in ask(hub, "GET", self.draft + "/files").json()["items"]}.get(path, {"offset": 0})
        if "sha256" in there:
            return True
        at = there["offset"] if there["offset"] < len(data) else 0  # all of it came, and whoever sent it does not know its digest
        self.came[path] = at
        answer = self.taken(part(hub, self.draft, path, data, at, min(at + -(-len(data) // self.parts), len(data))), 200, 201)
        if answer:
            self.came[path] = int(answer.headers["Upload-Offset"])
            assert answer.status == 200 or answer.json()["sha256"] == hashlib.sha256(data).hexdigest()
        return answer and answer.status == 201

    def go(self, hub):
        """Until it is a dataset."""
        again(lambda: self.draft or self.open(hub))
        for path in self.files if ask(hub, "GET", self.draft).json()["state"] == "open" else ():
            again(lambda: self.send(hub, path))
        done = again(lambda: self.taken(ask(hub, "POST", self.draft + "/commit"), 200))
        assert self.commit in (None, done.json()["commit"])
        self.commit = done.json()["commit"]

    def check(self, hub):
        """Nothing that was acknowledged is missing; it is there whole, or not at all."""
        there = os.path.join(hub.root, self.id)
        assert not os.path.exists(there) or tree(there) == self.files
        if self.commit:
            assert os.path.exists(there) and ask(hub, "POST", self.draft + "/commit").json()["commit"] == self.commit
        elif self.draft and ask(hub, "GET", self.draft).json()["state"] == "open":
            have = {f["path"]: f["offset"] for f in ask(hub, "GET", self.draft + "/files").json()["items"]}
            assert not (lost := {path: (have.get(path), at) for path, at in self.came.items() if have.get(path, 0) < at}), lost


class Beside(threading.Thread):
    """Reads another dataset all the time, and looks whether a part of what is pushed can be seen. `hub`: None while it is to end."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.hub, self.push, self.reads, self.slowest_s, self.wrong, self.over = root, None, None, 0, 0, [], threading.Event()
        self.want = None

    def look(self, hub, push):
        began = time.monotonic()
        got = hub.get_alone(SLICE, {}, "GET")
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        self.want = self.want or got.body
        if (got.status, got.body) != (200, self.want):
            self.wrong.append((got.status, got.body[:200]))
        there = os.path.join(self.root, push.id) if push else ""
        if push and os.path.exists(there) and tree(there) != push.files:
            self.wrong.append(("half", push.id, sorted(tree(there))))
        shown = hub.get_alone(f"/api/v1/datasets/{quote(push.id)}", {}, "GET") if push else None
        if shown and shown.status != 404 and (shown.json()["status"] not in ("ready", "pending") or tree(there) != push.files):
            self.wrong.append(("shown", shown.body[:500]))
        self.reads += 1

    def run(self):
        while not self.over.is_set():
            hub, push = self.hub, self.push
            if not hub:
                self.over.wait(0.005)
                continue
            self.over.wait(0.02)  # and leave the machine to the others
            try:
                self.look(hub, push)
            except GONE as e:
                if self.hub is hub:
                    self.wrong.append(repr(e))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.hub = None
        self.over.set()
        self.join()
        if not error[0]:
            assert not self.wrong and self.reads, self.wrong[:3]


def tidied(place):
    """A week later: the drafts that are left go with the first one that is opened, and nothing of them stays."""
    shim = Shim(str(place), "minari-hub")
    shim.clock(8 * 86400)
    with serve(place, prefix=shim.prefix) as hub:
        draft = open_draft(hub, "lab/last-v0")
        until(lambda: leftovers(hub.root) == ["drafts/" + draft.rpartition("/")[2]])
        assert ask(hub, "DELETE", draft).status == 204 and leftovers(hub.root) == []
        assert [d for d in ask(hub, "GET", "/api/v1/drafts").json()["items"]] == []


# ---- a disk that fails ----

def counted(shim, hub, push):
    """The moments of a push that nothing happens to."""
    shim.at(0)
    push.go(hub)
    assert not push.refusals and not shim.unsynced, (push.refusals, shim.unsynced)
    print(push.id, shim.count, shim.seen)
    return shim.count


@pytest.mark.parametrize("kinds, error", [("FS", errno.EIO), ("RLM", errno.EIO), ("U", errno.EIO), ("WT", errno.EIO), ("WTM", errno.ENOSPC)],
                         ids=["syncs", "names", "removals", "writes", "full"])
def test_the_disk_fails_once(tmp_path, kinds, error):
    """What could not be written, synced or named is no success; the same again is."""
    shim, failed = Shim(str(tmp_path), "minari-hub", kinds), 0
    with Beside(str(tmp_path / "root")) as beside:
        with serve(tmp_path, "--hash", "off", prefix=shim.prefix) as hub:
            hub.wait_indexed()
            count = counted(shim, hub, Push("lab/new-v0"))
            for moment in some(count, POINTS if kinds == "FS" else POINTS // 2):
                push = Push(f"lab/new-v{moment}")
                shim.at(moment, error)
                beside.hub, beside.push = hub, push
                push.go(hub)
                push.check(hub)
                assert len(push.refusals) <= 1, (moment, shim.where, push.refusals)
                if "FS" == kinds and shim.where.startswith(hub.root):
                    assert push.refusals, ("a failed sync was no failure", moment, shim.where)
                assert error != errno.ENOSPC or not push.refusals or push.refusals[0][0] == 507, (moment, shim.where, push.refusals)
                failed += len(push.refusals)
                shim.at(0)
            beside.hub = None
            assert kinds == "U" or leftovers(hub.root) == []
    tidied(tmp_path)
    print(f"{kinds}: {failed} of {moment} moments were refused and done again; {beside.reads} reads beside, the slowest {beside.slowest_s * 1000:.0f} ms")


@pytest.mark.parametrize("kinds, error", [("WTM", errno.ENOSPC), ("FSRLM", errno.EIO)], ids=["full", "broken"])
def test_the_disk_fails_for_a_while(tmp_path, kinds, error):
    """From each moment of a commit on nothing can be written: the draft is as it was, and is published when the disk is well."""
    shim, refused = Shim(str(tmp_path), "minari-hub", kinds), 0
    with serve(tmp_path, "--hash", "off", prefix=shim.prefix) as hub:
        hub.wait_indexed()
        commit = lambda draft: ask(hub, "POST", draft + "/commit")
        draft = push(hub, DOOR, "lab/new-v0")
        shim.at(0)
        assert commit(draft).status == 200
        count = shim.count
        for moment in some(count, POINTS // 4):  # some take as long as a commit waits for a list that cannot be written
            draft = push(hub, DOOR, f"lab/new-v{moment}")
            shim.at(moment, error, sticky=True)
            answer = commit(draft)
            refused += answer.status != 200
            assert answer.status in (200, 500, 503, 507), answer.body
            assert tree(f"{hub.root}/lab/new-v{moment}") in ({}, tree(DOOR))
            shim.at(0)
            again = commit(draft)
            assert again.status == 200 and tree(f"{hub.root}/lab/new-v{moment}") == tree(DOOR), (moment, again.body)
        assert leftovers(hub.root) == []
    print(f"{kinds} fail from one of {count} moments on: {refused} commits were refused, and done when the disk was well")


def test_the_first_folder_that_cannot_be_made(tmp_path):
    """A draft is not put elsewhere for that, where nobody finds it: it is refused, and opened when the disk is well."""
    shim = Shim(str(tmp_path), "minari-hub", "M")
    with serve(tmp_path, "--hash", "off", prefix=shim.prefix) as hub:
        hub.wait_indexed()
        order = lambda: ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/new-v0"}))
        for moment in range(1, 4):
            shim.at(moment, errno.EIO)
            refused = order()
            assert refused.status == 500 and shim.where.startswith(f"{hub.root}/.minari-hub"), (moment, refused.status, shim.where)
            assert not [name for name in os.listdir(hub.root) if name.startswith(".minari-hub-")], moment
        shim.at(0)
        draft = order().headers["Location"]
        assert ask(hub, "GET", draft + "/files").json()["items"] == [] and put(hub, draft, "a", b"x").status == 201


def test_files_wait_for_no_disk(tmp_path):
    """Before its commit a draft may be lost in a power cut: a thousand small files are not a thousand syncs."""
    shim = Shim(str(tmp_path), "minari-hub", "FS")
    with serve(tmp_path, "--hash", "off", prefix=shim.prefix) as hub:
        hub.wait_indexed()
        draft, count = open_draft(hub, "lab/new-v0"), 50
        shim.at(0)
        for n in range(count):
            assert put(hub, draft, f"{n}", b"x").status == 201
        assert shim.count < count / 2, (shim.count, shim.where)


def test_a_name_that_was_not_synced_is_synced_by_who_goes_on(tmp_path):
    """The dataset is in its place, and its name not on the disk: no later commit says so before that is done."""
    shim, late = Shim(str(tmp_path), "minari-hub", "FS", below=f"{tmp_path}/root"), 0
    with serve(tmp_path, "--hash", "off", prefix=shim.prefix) as hub:
        hub.wait_indexed()
        commit = lambda draft: ask(hub, "POST", draft + "/commit").status
        draft = push(hub, DOOR, "lab/deep/first-v0")
        shim.at(0)
        assert commit(draft) == 200
        for moment in range(1, shim.count + 1):
            shim.at(0)
            draft, where = push(hub, DOOR, f"lab/deep/new-v{moment}"), []
            shim.at(moment, errno.EIO)
            if commit(draft) == 200 or not os.path.exists(f"{hub.root}/lab/deep/new-v{moment}"):
                continue
            late += 1
            for sync in range(1, 20):
                shim.at(sync, errno.EIO)
                if commit(draft) == 200:
                    break
                where.append(shim.where)
            assert f"{hub.root}/lab/deep" in where, (moment, where)
    assert late
    print(f"{late} of {moment} syncs of a commit fail when the dataset is in its place")


# ---- a hub that ends ----

def goes_on(place, push, beside, times):
    """The hub that starts after an end: at once, with all that was acknowledged; the same push completes."""
    hub = serve(place, "--hash", "off")
    times.append(hub.ready_s)
    push.check(hub)
    beside.hub = hub
    push.go(hub)
    push.check(hub)
    beside.hub = None
    until(lambda: hub.get(f"/api/v1/datasets/{push.id}").json()["status"] == "ready")  # one that was published before may be listed later
    hub.stop()


def say_times(times, what):
    print(f"{what}: {len(times)} restarts, the slowest ready after {max(times):.2f} s, the median {sorted(times)[len(times) // 2]:.2f} s")
    assert not IS_FAST or max(times) <= 2


def test_each_crash_point(tmp_path):
    shim, times = Shim(str(tmp_path), "minari-hub", NAMES + "M"), []
    with Beside(str(tmp_path / "root")) as beside:
        with serve(tmp_path, "--hash", "off", prefix=shim.prefix) as hub:
            count = counted(shim, hub.wait_indexed(), Push("lab/new-v0"))
        for moment in some(count, POINTS):
            push = beside.push = Push(f"lab/new-v{moment}")
            hub = serve(tmp_path, "--hash", "off", prefix=shim.prefix)
            hub.wait_indexed()
            shim.at(moment)
            with contextlib.suppress(*GONE):
                push.go(hub)
            until(lambda: hub.process.poll() is not None or push.commit)
            end(hub)
            shim.at(0)
            goes_on(tmp_path, push, beside, times)
        tidied(tmp_path)
    say_times(times, f"ended at {len(times)} of {count} moments; {beside.reads} reads beside")


def test_random_kills(tmp_path):
    rng, times, push, published = random.Random(28), [], None, 0
    with Beside(str(tmp_path / "root")) as beside:
        hub, push, longest = serve(tmp_path, "--hash", "off"), Push("lab/new-v0"), 0.5
        hub.wait_indexed()
        for kill in range(KILLS):
            beside.hub, beside.push = hub, push
            after, began = rng.uniform(0, longest), time.monotonic()

            def kill_it(hub=hub):
                beside.hub = None
                hub.process.send_signal(signal.SIGKILL)

            timer = threading.Timer(after, kill_it)
            timer.start()
            try:
                while True:
                    push.go(hub)
                    push.check(hub)
                    published += 1
                    longest = max(0.2, time.monotonic() - began)
                    push = beside.push = Push(f"lab/new-v{published}")
            except GONE:
                timer.join()
                assert hub.process.wait(60) == -signal.SIGKILL
            end(hub)
            hub = serve(tmp_path, "--hash", "off")
            times.append(hub.ready_s)
            push.check(hub)
        push.go(hub)
        push.check(hub)
        for n in range(published + 1):
            assert tree(f"{hub.root}/lab/new-v{n}") == SET, n
        hub.stop()
        tidied(tmp_path)
    say_times(times, f"{KILLS} kills within {published + 1} pushes; {beside.reads} reads beside, the slowest {beside.slowest_s * 1000:.0f} ms")


# ---- datasets that are damaged ----

def without_moov(data):
    """An mp4 whose recording ended before its index was written."""
    kept, at = b"", 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        kept += data[at:at + size] if data[at + 4:at + 8] != b"moov" else b""
        at += size
    assert len(kept) < len(data)
    return kept


def left_open(data):
    """An HDF5 file whose writer ended before it closed it."""
    script = """if True:
        import h5py, numpy, os, sys
        file = h5py.File(sys.argv[1], "w", libver="latest")
        for i in range(3):
            episode = file.create_group(f"episode_{i}")
            for name in ("observations", "actions", "rewards", "terminations", "truncations"):
                episode[name] = numpy.zeros((11 if name == "observations" else 10, 2), numpy.float32)
            file.flush()
        os._exit(0)"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", script, folder + "/a.hdf5"], check=True)
        with open(folder + "/a.hdf5", "rb") as f:
            return f.read()


TABLE, VIDEO = "data/chunk-000/file-000.parquet", "videos/observation.images.top/chunk-000/file-000.mp4"
DAMAGED = {
    "a table that is cut": (ARM, TABLE, lambda data: data[:len(data) // 2], 422, "footer|cut"),
    "a table without its end": (ARM, TABLE, lambda data: data[:-8], 422, "footer|cut"),
    "a list of episodes that is cut": (ARM, "meta/episodes/chunk-000/file-000.parquet", lambda data: data[:-8], None, "footer|cut"),
    "a video without its index": (ARM, VIDEO, without_moov, None, "moov|index|cut"),
    "a video of nothing": (ARM, VIDEO, lambda data: b"", None, "empty|0 bytes|mp4"),
    "an HDF5 file that is cut": (DOOR, "data/main_data.hdf5", lambda data: data[:len(data) // 2], 422, "cut"),
    "an HDF5 file of half a header": (DOOR, "data/main_data.hdf5", lambda data: data[:50], 422, "."),
    "an HDF5 file left open": (DOOR, "data/main_data.hdf5", left_open, None, "open|closed|cut"),
}


def told(said, path, reason):
    """A line that names the file and why."""
    return any(path in line and re.search(reason, line) for line in said)


@pytest.mark.parametrize("fixture, path, damage, status, reason", DAMAGED.values(), ids=DAMAGED)
def test_damaged(hub, tmp_path, fixture, path, damage, status, reason):
    """The answer names the file and the reason, and so does the terminal of who pushes it."""
    files = tree(fixture)
    files[path] = damage(files[path])
    draft = open_draft(hub, "lab/new-v0")
    for name, data in files.items():
        assert put(hub, draft, name, data).status == 201
    answer = ask(hub, "POST", draft + "/commit")
    said = [*(f"{p.get('path')}: {p['code']}: {p['detail']}" for p in answer.json()["problems"]), answer.json().get("detail", "")]
    print(answer.status, *said, sep="\n  ")
    assert answer.status == (status or answer.status) and told(said, path, reason), said
    assert os.path.exists(f"{hub.root}/lab/new-v0") == (answer.status == 200)
    for name, data in files.items():
        os.makedirs(os.path.dirname(tmp_path / "set" / name), exist_ok=True)
        (tmp_path / "set" / name).write_bytes(data)
    cli = Cli(tmp_path / "datasets", hub.base, MINARI_HUB_TOKEN=hub.token)
    for option in ([], ["--no-inspect"]):
        shown = cli.run("upload", str(tmp_path / "set"), f"lab/by-hand-v{len(option)}", *option)
        assert shown.code == (8 if answer.status == 422 else 0) and told(shown.err.splitlines(), path, reason), (option, shown)


# ---- many ----

def statuses(sock, requests, count):
    """Of so many requests that are sent at once."""
    sock.sendall(requests)
    got = b""
    while len(found := re.findall(rb"HTTP/1\.1 (\d+) ", got)) < count:
        got += sock.recv(1 << 20)
    return [int(status) for status in found]


def anonymous_kib(hub):
    with open(f"/proc/{hub.process.pid}/status") as f:
        return int(re.search(r"RssAnon:\s+(\d+)", f.read())[1])


def test_one_token_opens_many(hub):
    """16 are open, and the rest is refused, without growing."""
    body = json.dumps({"id": "lab/new-v0"})
    one = f"POST /api/v1/drafts HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer {hub.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    batch, seen, began, memory = 50, {}, time.monotonic(), []
    with socket.create_connection(("127.0.0.1", hub.port), timeout=60) as sock:
        for n in range(STARTS // batch):
            for status in statuses(sock, one * batch, batch):
                seen[status] = seen.get(status, 0) + 1
            memory.append(anonymous_kib(hub))
    rate, grown = STARTS / (time.monotonic() - began), memory[-1] - memory[len(memory) // 5]
    print(f"{STARTS} starts: {seen}, {rate:.0f}/s, RssAnon {memory[0]} KiB at first, {memory[len(memory) // 5]} after a fifth, {memory[-1]} at last")
    assert seen == {201: 16, 429: STARTS - 16} and len(os.listdir(f"{hub.root}/.minari-hub/drafts")) == 16
    assert not IS_FAST or grown <= 2048
