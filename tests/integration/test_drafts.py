"""Datasets that are pushed: whole and inspected, or not at all."""
import base64
import concurrent.futures
import fcntl
import hashlib
import http.client
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import time

import pytest

from hub import BIN, FIXTURES, Hub, quote, until
from test_access_twins import run

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
ARM = os.path.join(FIXTURES, "lerobot", "arm-v30")


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def serve(tmp_path, *args, prefix=()):
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir(exist_ok=True)
    if not state.exists():
        state.mkdir(mode=0o700)
        with open(tmp_path / "token", "w") as f:
            f.write(run(str(state), "token", "add", "ann", "--write", "lab/"))
    hub = Hub([str(root)], state=str(state), args=args, prefix=prefix)
    hub.wait_ready()
    hub.root, hub.token = root, (tmp_path / "token").read_text()
    return hub


def ask(hub, method, path, body=None, headers=None, token=""):
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=120)
    token = hub.token if token == "" else token
    headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    connection.request(method, path, body=body, headers=headers)
    with connection.getresponse() as answer:
        answer.body = answer.read()
    connection.close()
    answer.json = lambda: json.loads(answer.body)
    return answer


def files_of(folder):
    for base, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("."):
                path = os.path.join(base, name)
                yield os.path.relpath(path, folder), path


def open_draft(hub, id, **options):
    answer = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id}), **options)
    assert answer.status == 201, answer.body
    assert answer.headers["Location"] == "/api/v1/drafts/" + answer.json()["draft"]
    return answer.headers["Location"]


def put(hub, draft, path, data, **headers):
    return ask(hub, "PUT", f"{draft}/files/{quote(path)}", data, headers)


def push(hub, folder, id):
    draft = open_draft(hub, id)
    for path, file in files_of(folder):
        with open(file, "rb") as f:
            assert put(hub, draft, path, f.read()).status == 201
    return draft


def problem(answer):
    return answer.json()["type"].rpartition(":")[2]


def tree(folder):
    return {path: open(file, "rb").read() for path, file in files_of(folder)}


@pytest.mark.parametrize("fixture", [DOOR, ARM])
def test_a_push(hub, fixture):
    draft = push(hub, fixture, "lab/new-v0")
    assert hub.get("/api/v1/datasets/lab/new-v0").status == 404 and not (hub.root / "lab").exists(), "nothing of it is visible"
    shown = ask(hub, "GET", draft).json()
    assert (shown["state"], shown["files"], shown["complete"]) == ("open", len(tree(fixture)), len(tree(fixture)))
    done = ask(hub, "POST", draft + "/commit", json.dumps({"message": "first"}))
    assert done.status == 200, done.body
    assert tree(hub.root / "lab/new-v0") == tree(fixture)
    document = hub.get("/api/v1/datasets/lab/new-v0").json()
    assert document["status"] == "ready" and document["content"] == done.json()["content"], "its files need not be hashed again"
    assert ask(hub, "POST", draft + "/commit").json()["commit"] == done.json()["commit"], "who lost the answer gets it again"
    assert ask(hub, "GET", draft).json()["state"] == "published"
    states = lambda query: [d["state"] for d in ask(hub, "GET", "/api/v1/drafts" + query).json()["items"]]
    assert (states(""), states("?state=published"), states("?state=open")) == ([], ["published"], [])
    assert put(hub, draft, "data/more", b"x").status == 409
    with open(hub.root / "lab/new-v0/.minari-hub.json") as f:
        record = json.load(f)
    assert record["id"] == "lab/new-v0" and {f["path"]: f["sha256"] for f in record["files"]} == {p: hashlib.sha256(d).hexdigest() for p, d in tree(fixture).items()}
    audit = run(hub.state, "audit", "--json")
    assert '"publish"' in audit and done.json()["commit"] in audit
    assert not os.listdir(hub.root / ".minari-hub/drafts")


def test_from_where_it_ends(hub):
    data = os.urandom(3 << 20)
    draft = open_draft(hub, "lab/new-v0")
    part = lambda first, last: put(hub, draft, "data/a.bin", data[first:last], **{"Content-Range": f"bytes {first}-{last - 1}/{len(data)}"})
    assert (part(0, 1 << 20).status, part(1 << 20, 2 << 20).status) == (200, 200)
    head = ask(hub, "HEAD", draft + "/files/data/a.bin")
    assert head.headers["Upload-Offset"] == str(2 << 20)
    for first, last in ((0, 10), (1 << 20, 2 << 20), ((2 << 20) + 1, 3 << 20)):  # the first one begins again
        if first:
            wrong = part(first, last)
            assert (wrong.status, problem(wrong)) == (409, "upload-offset")
    assert part(2 << 20, 3 << 20).json()["sha256"] == hashlib.sha256(data).hexdigest()
    listed = ask(hub, "GET", draft + "/files").json()["items"]
    assert listed == [{"path": "data/a.bin", "size": len(data), "offset": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
    assert put(hub, draft, "data/a.bin", b"other").json()["sha256"] == hashlib.sha256(b"other").hexdigest(), "it may come again"


def test_parts_follow_each_other(hub):
    """Whoever has the answer to one sends the next at once, over another connection."""
    data, size = os.urandom(100 << 10), 1 << 10
    draft = open_draft(hub, "lab/new-v0")
    answers = [put(hub, draft, "a.bin", data[at:at + size], **{"Content-Range": f"bytes {at}-{at + size - 1}/{len(data)}"}) for at in range(0, len(data), size)]
    assert [a.status for a in answers] == [200] * 99 + [201]
    assert answers[-1].json()["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_body_that_breaks_off(hub):
    """What came is kept, and goes on there."""
    data = os.urandom(5 << 20)
    draft = open_draft(hub, "lab/new-v0")
    connection = http.client.HTTPConnection("127.0.0.1", hub.port)
    connection.putrequest("PUT", draft + "/files/a.bin")
    connection.putheader("Authorization", f"Bearer {hub.token}")
    connection.putheader("Content-Length", str(len(data)))
    connection.endheaders()
    connection.send(data[:3 << 20])
    offset = lambda: int(ask(hub, "HEAD", draft + "/files/a.bin").headers["Upload-Offset"] or 0)
    until(lambda: offset() >= 2 << 20)
    connection.close()
    time.sleep(0.2)
    at = offset()

    def goes_on():
        return put(hub, draft, "a.bin", data[at:], **{"Content-Range": f"bytes {at}-{len(data) - 1}/{len(data)}"})

    last = []
    until(lambda: last.append(goes_on()) or last[-1].status == 201)
    assert last[-1].json()["sha256"] == hashlib.sha256(data).hexdigest()


def test_digests(hub):
    draft = open_draft(hub, "lab/new-v0")
    digest = lambda data: {"Repr-Digest": f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"}
    assert put(hub, draft, "a", b"hello", **digest(b"hello")).status == 201
    wrong = put(hub, draft, "b", b"hello", **digest(b"other"))
    assert (wrong.status, problem(wrong)) == (422, "digest-mismatch")
    assert ask(hub, "HEAD", draft + "/files/b").headers["Upload-Offset"] == "0", "nothing of it is kept"
    assert put(hub, draft, "b", b"hello", **{"Repr-Digest": "sha-256=:x:"}).status == 400


def test_digests_of_other_kinds(hub):
    """Each of those that are stated is checked, and a refusal names the one that is wrong."""
    draft, text = open_draft(hub, "lab/new-v0"), b"hello"
    encoded = lambda data: base64.b64encode(data).decode()
    md5, sha256, crc32c = encoded(hashlib.md5(text).digest()), encoded(hashlib.sha256(text).digest()), encoded(bytes.fromhex("9a71bb4c"))
    wrong = {"SHA-256": encoded(bytes(32)), "MD5": encoded(bytes(16)), "CRC-32C": encoded(bytes(4))}
    stated = {"SHA-256": ("sha-256", sha256), "MD5": ("md5", md5), "CRC-32C": ("crc32c", crc32c)}
    both = lambda **changed: {"Repr-Digest": ", ".join(f"{key}=:{changed.get(name, good)}:" for name, (key, good) in stated.items())}
    assert put(hub, draft, "a", text, **both()).status == put(hub, draft, "b", text, **{"Content-MD5": md5}).status == 201
    for name, digest in wrong.items():
        refused = put(hub, draft, "c", text, **both(**{name: digest}))
        assert (refused.status, problem(refused)) == (422, "digest-mismatch") and f"the {name} of 'c'" in refused.json()["detail"], refused.body
    refused = put(hub, draft, "c", text, **{"Content-MD5": wrong["MD5"]})
    assert refused.status == 422 and "the MD5 of 'c'" in refused.json()["detail"]
    for headers in ({"Repr-Digest": "md5=:x:"}, {"Repr-Digest": f"sha-512=:{sha256}:"}, {"Content-MD5": "x"}, {"Content-MD5": md5, "Content-Range": "bytes 0-4/9"},
                    {"Content-MD5": md5, "Repr-Digest": f"md5=:{wrong['MD5']}:"}):
        assert put(hub, draft, "c", text, **headers).status == 400, headers


def test_digests_are_computed_once(tmp_path):
    """What the pass that stored a file computed is known of it when it is published, and after the next commit."""
    def known(path):
        with sqlite3.connect(tmp_path / "state/hub.db") as db:
            return db.execute("SELECT sha256, md5, crc32c FROM digests WHERE path = ?", ("lab/new-v0/" + path,)).fetchall()
    with serve(tmp_path, "--hash", "off") as hub:
        draft = open_draft(hub, "lab/new-v0")
        md5 = base64.b64encode(hashlib.md5(b"hello").digest()).decode()
        assert put(hub, draft, "a", b"hello", **{"Content-MD5": md5}).status == 201
        done = ask(hub, "POST", draft + "/commit?allow=files").json()
        want = [(hashlib.sha256(b"hello").hexdigest(), hashlib.md5(b"hello").hexdigest(), "9a71bb4c")]
        assert known("a") == want
        draft = "/api/v1/drafts/" + ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/new-v0", "base": done["commit"]})).json()["draft"]
        assert put(hub, draft, "b", b"other").status == 201
        assert ask(hub, "POST", draft + "/commit?allow=files").status == 200
        assert known("a") == want and known("b")[0][:2] == (hashlib.sha256(b"other").hexdigest(), ""), "an MD5 is computed where it is asked for"


def test_names(hub):
    draft = open_draft(hub, "lab/new-v0")
    for path in (".hidden", "a/.b", ".minari-hub.json", "a%5Cb", "a" * 256, "x/" + "b" * 256, "a%00b", "a%0Ab", "a/../b", "a//b"):
        answer = ask(hub, "PUT", f"{draft}/files/{path}", b"x")
        assert answer.status == 400, path
    assert put(hub, draft, "data/a", b"x").status == 201
    assert put(hub, draft, "café", b"x").status == 201
    for path in ("data", "data/a/b", "Data/A", "data/A", "DATA/b", "cafe\u0301", "CAFÉ/x"):
        answer = put(hub, draft, path, b"x")
        assert answer.status == 400 and "beside" in answer.json()["detail"], path
    for id in ("", "../x", "lab/.x", "lab/rows", "a/b/"):
        assert ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id})).status in (400, 403), id


def test_who_may_write(hub):
    run(hub.state, "access", "set", "*", "none", "lab/secret/")
    bob = run(hub.state, "token", "add", "bob", "--write", "lab/bob/")
    until(lambda: ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/bob/x-v0"}), token=bob).status == 201)
    draft = open_draft(hub, "lab/new-v0")
    assert ask(hub, "GET", draft, token=bob).status == 404, "it is of somebody else"
    assert [ask(hub, "PUT", draft + "/files/a", b"x", token=t).status for t in (bob, None)] == [404, 404]
    assert [ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/new-v1"}), token=t).status for t in (bob, None)] == [403, 401]
    assert ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/x"}), {"Origin": "http://elsewhere"}, token=None).status == 403
    assert {d["draft"] for d in ask(hub, "GET", "/api/v1/drafts").json()["items"]} == {draft.rpartition("/")[2]}


def test_refused_before_it_comes(hub):
    """No byte of a body is wanted of who may not write."""
    draft = open_draft(hub, "lab/new-v0")
    connection = http.client.HTTPConnection("127.0.0.1", hub.port)
    connection.putrequest("PUT", draft + "/files/a")
    connection.putheader("Content-Length", str(10 << 30))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    assert connection.getresponse().status == 404
    connection = http.client.HTTPConnection("127.0.0.1", hub.port)
    connection.putrequest("PUT", draft + "/files/a")
    connection.putheader("Authorization", f"Bearer {hub.token}")
    connection.putheader("Content-Length", str(10 ** 17))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    answer = connection.getresponse()
    said = json.loads(answer.read())
    assert (answer.status, said["type"]) == (507, "urn:minari-hub:no-space") and f"{64 << 20} of them stay so (--min-free)" in said["detail"]


def test_broken(hub):
    """A truncated file is refused with the inspector's reasons, and the draft goes on."""
    draft = open_draft(hub, "lab/new-v0")
    whole = tree(DOOR)
    for path, data in whole.items():
        put(hub, draft, path, data[:len(data) // 2] if path.endswith(".hdf5") else data)
    refused = ask(hub, "POST", draft + "/commit")
    assert (refused.status, problem(refused), refused.json()["verdict"]) == (422, "draft-refused", "broken")
    (found,) = refused.json()["problems"]
    assert found["code"] == "dataset-broken" and "main_data.hdf5" in found["detail"] and found["detail"] in refused.json()["detail"], refused.body
    assert not (hub.root / "lab").exists() and ask(hub, "GET", draft).json()["state"] == "open"
    for path, data in whole.items():
        put(hub, draft, path, data)
    assert ask(hub, "POST", draft + "/commit").status == 200


def test_allowed_all_the_same(hub):
    for id, files, allow in (("lab/notes", {"notes.txt": b"hello"}, "files"), ("lab/half-v0", {"data/main_data.hdf5": tree(DOOR)["data/main_data.hdf5"][:5000]}, "broken")):
        draft = open_draft(hub, id)
        for path, data in files.items():
            put(hub, draft, path, data)
        assert ask(hub, "POST", draft + "/commit").status == 422, id
        done = ask(hub, "POST", draft + f"/commit?allow={allow}")
        assert done.status == 200, id
        assert ("format=files" in done.json().get("listed", "")) == (allow == "files"), done.body
        if allow == "files":
            until(lambda: hub.get("/api/v1/datasets?format=files").json()["items"])
        assert tree(hub.root / id) == files


def test_what_is_not_complete(hub):
    draft = open_draft(hub, "lab/new-v0")
    empty = ask(hub, "POST", draft + "/commit")
    assert (empty.status, problem(empty)) == (422, "draft-refused") and "no file" in empty.json()["detail"]
    put(hub, draft, "data/a", b"hell", **{"Content-Range": "bytes 0-3/5"})
    part = ask(hub, "POST", draft + "/commit?allow=files")
    assert part.status == 422 and "data/a" in part.json()["detail"]
    assert ask(hub, "DELETE", draft + "/files/data/a").status == 204
    assert ask(hub, "GET", draft + "/files").json()["items"] == []


def tar_of(members, format=tarfile.GNU_FORMAT):
    """Of (name, bytes), or (TarInfo, None)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as tar:
        for name, data in members:
            member = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = len(data or b"")
            tar.addfile(member, io.BytesIO(data or b""))
    return out.getvalue()


def put_tar(hub, draft, data):
    return ask(hub, "PUT", draft + "/archive.tar", data)


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar(hub, format):
    """A dataset in one request, its names as `tar c .` has them."""
    draft = open_draft(hub, "lab/new-v0")
    files = tree(DOOR)
    if format != tarfile.USTAR_FORMAT:
        files = {**files, "é" * 60 + "/" + "n" * 150: os.urandom(3 << 20), "empty": b""}
    folder = tarfile.TarInfo("./")
    folder.type = tarfile.DIRTYPE
    answer = put_tar(hub, draft, tar_of([(folder, None), *((f"./{path}", data) for path, data in files.items())], format))
    assert answer.status == 200, answer.body
    assert (answer.json()["files"], answer.json()["complete"], answer.json()["bytes"]) == (len(files), len(files), sum(map(len, files.values())))
    listed = {f["path"]: f["sha256"] for f in ask(hub, "GET", draft + "/files").json()["items"]}
    assert listed == {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    assert ask(hub, "POST", draft + "/commit").status == 200
    assert tree(hub.root / "lab/new-v0") == files


def test_members_that_a_tar_may_not_have(hub):
    for name, type, why in (("link", tarfile.SYMTYPE, "symbolic link"), ("hard", tarfile.LNKTYPE, "hard link"), ("null", tarfile.CHRTYPE, "device"), ("pipe", tarfile.FIFOTYPE, "pipe"),
                            ("/etc/passwd", tarfile.REGTYPE, "absolute"), ("../up", tarfile.REGTYPE, "hidden"), ("a/../../b", tarfile.REGTYPE, "hidden"), (".hidden/a", tarfile.REGTYPE, "hidden"), ("a\\b", tarfile.REGTYPE, "backslash"),
                            ("FIRST", tarfile.REGTYPE, "case")):
        draft = open_draft(hub, "lab/new-v0")
        member = tarfile.TarInfo(name)
        member.type, member.linkname = type, "first"
        answer = put_tar(hub, draft, tar_of([("first", b"1"), (member, None), ("last", b"2")]))
        assert (answer.status, problem(answer)) == (400, "bad-request"), name
        assert f"'{name}'" in answer.json()["detail"] and why in answer.json()["detail"], answer.body
        assert [f["path"] for f in ask(hub, "GET", draft + "/files").json()["items"] if "sha256" in f] == ["first"], "what came before stays"
        assert ask(hub, "DELETE", draft).status == 204
    assert not os.path.exists(hub.root / "up") and not os.path.exists(hub.root.parent / "up")


def test_a_tar_that_is_broken(hub):
    whole = tar_of([("a", b"x" * 3000), ("b", b"y" * 3000)])
    for data, wrong, complete in ((whole[:2000], "missing, in 'a'", []), (whole[:5000], "in 'b'", ["a"]), (whole[:3584], "its end is missing", ["a"]), (whole[:3584] + b"z" + whole[3585:], "no valid header", ["a"]),
                                  (b"", "its end is missing", []), (b"PK" * 400, "no valid header", []), (whole + whole, "follow the end", ["a", "b"])):
        draft = open_draft(hub, "lab/new-v0")
        answer = put_tar(hub, draft, data)
        assert (answer.status, problem(answer)) == (400, "bad-request") and wrong in answer.json()["detail"], (wrong, answer.body)
        assert [f["path"] for f in ask(hub, "GET", draft + "/files").json()["items"] if "sha256" in f] == complete
        assert put_tar(hub, draft, whole).json()["complete"] == 2, "it may come again"
        assert ask(hub, "DELETE", draft).status == 204


def test_a_tar_keeps_to_quotas(tmp_path):
    with serve(tmp_path, "--quota", "lab/=1000") as hub:
        draft = open_draft(hub, "lab/new-v0")
        answer = put_tar(hub, draft, tar_of([("a", b"x" * 600), ("b", b"y" * 600)]))
        assert (answer.status, problem(answer)) == (507, "quota-exceeded")
        assert ask(hub, "GET", draft).json()["complete"] == 1


def test_a_tar_lies_in_no_memory(tmp_path, monkeypatch):
    """Nothing of a large member stays in the hub."""
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")  # what is freed is not resident
    with serve(tmp_path) as hub:
        send_large_tar(hub, open_draft(hub, "lab/new-v0"))


def send_large_tar(hub, draft):
    resident = lambda: ask(hub, "GET", "/api/v1/status").json()["memory"]["resident"]
    before, most = resident(), []
    head = tarfile.TarInfo("large.bin")
    head.size = 256 << 20

    def body():
        yield head.tobuf(tarfile.PAX_FORMAT)
        for i in range(256):
            yield bytes(1 << 20)
            if i % 32 == 0:
                most.append(resident())
        yield bytes(1024)

    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=120)
    connection.request("PUT", draft + "/archive.tar", body=body(), headers={"Authorization": f"Bearer {hub.token}", "Content-Length": str(head.size + 1536)})
    assert connection.getresponse().status == 200
    assert max(most) - before < 64 << 20


def test_quotas(tmp_path):
    """A size that does not fit is refused before a byte of it is sent, by the prefix that it does not fit below."""
    size = sum(len(data) for data in tree(DOOR).values())
    with serve(tmp_path, "--quota", f"lab={size + 100}", "--quota", "=1G") as hub:
        draft = push(hub, DOOR, "lab/new-v0")
        quotas = lambda: {q["prefix"]: (q["used"], q["limit"]) for q in ask(hub, "GET", "/api/v1/status").json()["quotas"]}
        assert quotas() == {"lab/": (size, size + 100), "": (size, 1 << 30)}
        connection = http.client.HTTPConnection("127.0.0.1", hub.port)
        connection.putrequest("PUT", open_draft(hub, "lab/other-v0") + "/files/a")
        connection.putheader("Authorization", f"Bearer {hub.token}")
        connection.putheader("Content-Length", "101")
        connection.putheader("Expect", "100-continue")
        connection.endheaders()
        answer = connection.getresponse()
        said = json.loads(answer.read())
        assert (answer.status, said["type"]) == (507, "urn:minari-hub:quota-exceeded")
        assert "'lab/'" in said["detail"] and f"({size + 100} bytes)" in said["detail"] and f"({size + 101} bytes)" in said["detail"], said
        assert ask(hub, "POST", draft + "/commit").status == 200
        assert quotas()["lab/"][0] == size, "now it is a dataset"
        metrics = ask(hub, "GET", "/metrics").body.decode()
        assert f'minari_hub_quota_used_bytes{{prefix="lab/"}} {size}' in metrics and f'minari_hub_quota_bytes{{prefix=""}} {1 << 30}' in metrics
        assert "quotas      lab/: " in run(hub.state, "status") and "Pushed datasets" in ask(hub, "GET", "/~operations", headers={"Accept": "text/html"}).body.decode()
        shutil.rmtree(hub.root / "lab/new-v0")
        assert put(hub, open_draft(hub, "lab/third-v0"), "a", b"x" * (size + 100)).status == 201, "it was removed by hand"


def test_a_quota_before_a_byte_is_sent(tmp_path):
    """What a draft declares, and a dataset that is renamed into a prefix, keeps to it; the figures are in the refusal."""
    size = sum(len(data) for data in tree(DOOR).values())
    with serve(tmp_path, "--quota", f"lab/small={size - 1}") as hub:
        declare = lambda id, bytes: ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id, "bytes": bytes}))
        refused = declare("lab/small/arm-v0", size)
        assert (refused.status, problem(refused)) == (507, "quota-exceeded")
        assert f"({size - 1} bytes)" in refused.json()["detail"] and f"({size} bytes)" in refused.json()["detail"]
        assert ask(hub, "GET", "/api/v1/drafts").json()["items"] == [], "no draft was opened"
        for wrong in ("1", -1, 1.5, True):
            assert declare("lab/small/arm-v0", wrong).status == 400, wrong
        far = declare("lab/far-v0", 1 << 60)
        assert (far.status, problem(far)) == (507, "no-space") and ask(hub, "GET", "/api/v1/drafts").json()["items"] == []
        assert declare("lab/small/first-v0", size - 11).status == 201 and declare("lab/small/second-v0", 11).status == 507
        assert declare("lab/small/second-v0", 10).status == 201, "exactly"
        assert ask(hub, "POST", push(hub, DOOR, "lab/arm-v0") + "/commit").status == 200
        moved = ask(hub, "PATCH", "/api/v1/datasets/lab/arm-v0", json.dumps({"id": "lab/small/arm-v0"}))
        assert (moved.status, problem(moved)) == (507, "quota-exceeded") and f"({size - 1 + size} bytes)" in moved.json()["detail"]
        assert hub.get("/api/v1/datasets/lab/arm-v0").json()["status"] == "ready" and (hub.root / "lab/arm-v0").exists(), "nothing was moved"


@pytest.mark.parametrize("quota", ["lab", "lab=", "lab=2X", "/lab=1G", "a//b=1G", "lab/=1G --quota lab=2G"])
def test_quotas_that_are_none(tmp_path, quota):
    ended = subprocess.run([os.path.join(BIN, "minari-hub"), "serve", "--root", str(tmp_path), "--state", str(tmp_path) + "-state", *f"--quota {quota}".split()], capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0 and "quota" in ended.stderr, ended


def test_what_a_rule_fills(tmp_path):
    """Nothing is pushed where an upstream or a mirror puts its own, or will."""
    with serve(tmp_path, "--upstream", "lab/up/=http://127.0.0.1:1") as hub:
        run(hub.state, "mirror", "add", "http://127.0.0.1:1", "--as", "lab/copies/", "--name", "copies", "--yes")
        run(hub.state, "mirror", "add", "http://127.0.0.1:1", "--prefix", "one", "--as", "lab/one-v0", "--name", "one", "--yes")
        for id, name in (("lab/up/new-v0", "lab/up/"), ("lab/copies/deep/new-v0", "lab/copies/"), ("lab/one-v0", "lab/one-v0")):
            answer = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id}))
            assert (answer.status, problem(answer)) == (409, "exists"), answer.body
            assert f"'{name}'" in answer.json()["detail"] and "choose an id elsewhere" in answer.json()["detail"], answer.body
        draft = push(hub, DOOR, "lab/upper-v0")
        assert ask(hub, "POST", draft + "/commit").status == 200
        late = push(hub, DOOR, "lab/late/new-v0")
        run(hub.state, "mirror", "add", "http://127.0.0.1:1", "--as", "lab/late/", "--name", "late", "--yes")
        assert ask(hub, "POST", late + "/commit").status == 409, "the rule was made meanwhile"


def test_what_is_there(hub):
    shutil.copytree(DOOR, hub.root / "lab/door-v0")
    until(lambda: hub.get("/api/v1/datasets/lab/door-v0").status == 200)
    for id in ("lab/door-v0", "lab/door-v0/inner-v0", "lab"):
        answer = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id}))
        assert answer.status == 409, id
    draft = push(hub, DOOR, "lab/new-v0")
    shutil.copytree(DOOR, hub.root / "lab/new-v0")  # by hand, meanwhile
    late = ask(hub, "POST", draft + "/commit")
    assert (late.status, problem(late)) == (409, "exists"), late.body
    assert ask(hub, "GET", draft).json()["state"] == "open"


def test_one_in_another(hub):
    """Both were free when they were opened."""
    outer, inner = push(hub, DOOR, "lab/new-v0"), push(hub, DOOR, "lab/new-v0/inner-v0")
    assert ask(hub, "POST", outer + "/commit").status == 200
    late = ask(hub, "POST", inner + "/commit")
    assert (late.status, problem(late)) == (409, "exists") and tree(hub.root / "lab/new-v0") == tree(DOOR)


def test_folders(hub):
    draft = open_draft(hub, "lab/new-v0")
    assert put(hub, draft, "a/b/c", b"x").status == 201
    assert ask(hub, "DELETE", draft + "/files/a/b/c").status == 204
    assert put(hub, draft, "a", b"x").status == 201, "no empty folder is left"
    assert put(hub, draft, "/".join("d" * 33), b"x").status == 400 and put(hub, draft, "/".join("d" * 32), b"x").status == 201
    assert ask(hub, "DELETE", draft).status == 204


def test_a_file_that_is_sent_is_not_dropped(hub):
    draft = open_draft(hub, "lab/new-v0")
    connection = http.client.HTTPConnection("127.0.0.1", hub.port)
    connection.putrequest("PUT", draft + "/files/a.bin")
    connection.putheader("Authorization", f"Bearer {hub.token}")
    connection.putheader("Content-Length", str(3 << 20))
    connection.endheaders()
    connection.send(bytes(2 << 20))
    until(lambda: int(ask(hub, "HEAD", draft + "/files/a.bin").headers["Upload-Offset"] or 0) > 0)
    assert ask(hub, "DELETE", draft + "/files/a.bin").status in (409, 503)
    assert put(hub, draft, "a.bin", b"other").status in (409, 503)
    connection.send(bytes(1 << 20))
    answer = connection.getresponse()
    assert answer.status in (201, 409), answer.read()


def test_two_at_once(hub):
    """Of two publications of one id one succeeds."""
    drafts = [push(hub, DOOR, "lab/new-v0") for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda d: ask(hub, "POST", d + "/commit"), drafts + drafts))
    statuses = [a.status for a in answers]
    published = {a.json()["commit"] for a in answers if a.status == 200}
    assert len(published) == 1 and set(statuses) <= {200, 409, 412, 503}, statuses
    assert tree(hub.root / "lab/new-v0") == tree(DOOR)


@pytest.mark.parametrize("fixture, allow", [(ARM, ""), ("two files", "?allow=files")])
def test_one_draft_twice_at_once(hub, tmp_path, fixture, allow):
    """The commits of one draft have one answer, whoever of them published it, and so has one that comes later."""
    if allow:
        fixture = tmp_path / fixture
        fixture.mkdir()
        for name in "ab":
            (fixture / name).write_bytes(b"x")
    for i in range(6):
        draft = push(hub, fixture, f"lab/new-v{i}")
        commit = lambda _: ask(hub, "POST", draft + "/commit" + allow)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = list(pool.map(commit, range(4))) + [commit(None)]
        assert {a.status for a in answers} == {200}, [a.body for a in answers]
        assert len({a.body for a in answers}) == 1, [a.body for a in answers]
        assert len(ask(hub, "GET", f"/api/v1/datasets/lab/new-v{i}/~revisions").json()["items"]) == 1


def test_many_commits_that_wait(hub):
    """While one has the draft, or its place, those that wait take no thread: another draft is inspected and published meanwhile."""
    draft, other = push(hub, ARM, "lab/new-v0"), push(hub, DOOR, "lab/other-v0")
    commit = lambda which: ask(hub, "POST", which + "/commit")
    held = os.open(f"{hub.root}/.minari-hub/drafts/{draft.rpartition('/')[2]}", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        waiting = [pool.submit(commit, draft) for _ in range(64)]
        in_flight = lambda: re.search(r"^minari_hub_http_requests_in_flight (\d+)", ask(hub, "GET", "/metrics").body.decode(), re.M)[1]
        until(lambda: int(in_flight()) >= 64)
        assert commit(other).status == 200
        assert not any(w.done() for w in waiting)
        os.close(held)
        answers = [w.result() for w in waiting]
    assert {a.status for a in answers} == {200} and len({a.body for a in answers}) == 1, [a.body for a in answers]
    assert len(ask(hub, "GET", "/api/v1/datasets/lab/new-v0/~revisions").json()["items"]) == 1


def test_a_power_cut(tmp_path):
    """Files that came before the machine stopped are read again: what the disk lost of them is not published. Without the name of
    another start in hub.db they would be taken for what they were."""
    whole = tree(ARM)
    with serve(tmp_path) as hub:
        draft = push(hub, ARM, "lab/new-v0")
        assert put(hub, draft, "part.bin", b"12345", **{"Content-Range": "bytes 0-4/10"}).status == 200
    folder = tmp_path / "root/.minari-hub/drafts" / draft.rpartition("/")[2]
    zeros, gone, *_ = sorted(whole)
    with sqlite3.connect(tmp_path / "state/hub.db") as db:
        assert db.execute("UPDATE draft_files SET boot = boot + 1").rowcount == len(whole) + 1
    os.chmod(folder / "tree" / zeros, 0o644)
    (folder / "tree" / zeros).write_bytes(bytes(len(whole[zeros])))
    os.remove(folder / "tree" / gone)
    (part,) = os.listdir(folder / "parts")
    os.rename(folder / "parts" / part, folder / "parts" / (f"{int(part[:16], 16) ^ 1:016x}" + part[16:]))
    with serve(tmp_path) as hub:
        assert not os.listdir(folder / "parts"), "nobody goes on with it"
        late = put(hub, draft, "part.bin", b"67890", **{"Content-Range": "bytes 5-9/10"})
        assert (late.status, problem(late)) == (409, "upload-offset")
        assert ask(hub, "DELETE", draft + "/files/part.bin").status == 204
        refused = ask(hub, "POST", draft + "/commit")
        assert refused.status == 422 and "2 files" in refused.json()["detail"] and "the machine stopped" in refused.json()["detail"], refused.body
        missing = {f["path"] for f in ask(hub, "GET", draft + "/files").json()["items"] if f["offset"] != f["size"]}
        assert missing == {zeros, gone} and not (folder / "tree" / zeros).exists()
        for path in missing:
            assert put(hub, draft, path, whole[path]).status == 201
        assert ask(hub, "POST", draft + "/commit").status == 200 and tree(hub.root / "lab/new-v0") == whole


def test_what_is_published_needs_no_time_to_settle(tmp_path):
    """Nobody writes to files of the hub's own: they are read at once, and not when they have been left alone for a while."""
    with serve(tmp_path, "--settle", "600s") as hub:
        assert ask(hub, "POST", push(hub, ARM, "lab/new-v0") + "/commit").status == 200
        assert hub.get("/api/v1/datasets/lab/new-v0").json()["status"] == "ready"
        shutil.copytree(ARM, hub.root / "lab/by-hand")
        shutil.copy(hub.root / "lab/new-v0/meta/info.json", hub.root / "lab/by-hand/meta/other.json")
        until(lambda: hub.get("/api/v1/datasets/lab/by-hand").status == 200)
        assert hub.get("/api/v1/datasets/lab/by-hand").json()["status"] == "pending"


def test_files_of_no_format_are_listed_at_once(hub):
    """By themselves below a dataset of a format, else by their folder: whoever published them finds them when the answer comes."""
    def files(id):
        return ask(hub, "GET", f"/api/v1/datasets/{id}/files").json()["items"]
    for i in range(8):
        draft = open_draft(hub, f"lab/new-v{i}")
        assert put(hub, draft, "notes.txt", b"x").status == 201
        assert ask(hub, "POST", draft + "/commit?allow=files").status == 200
        assert [f["path"] for f in files("lab")] == [f"new-v{j}/notes.txt" for j in range(i + 1)]
    assert ask(hub, "POST", push(hub, ARM, "lab/arm-v0") + "/commit").status == 200
    for i in range(8, 16):
        draft = open_draft(hub, f"lab/new-v{i}")
        assert put(hub, draft, "notes.txt", b"x").status == 201
        assert ask(hub, "POST", draft + "/commit?allow=files").status == 200
        assert [f["path"] for f in files(f"lab/new-v{i}")] == ["notes.txt"]


def test_an_order_that_comes_again(hub):
    """With a key it is answered with the draft that is open; without one each order opens its own."""
    def order(key=None, id="lab/new-v0", token="", **wanted):
        answer = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": id, **wanted}), {"Idempotency-Key": key} if key is not None else {}, token=token)
        return answer.status, answer.json().get("draft")
    bob = run(hub.state, "token", "add", "bob", "--write", "lab/")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        first = list(pool.map(lambda _: order("one"), range(6)))
    assert len({draft for _, draft in first}) == 1 and sorted(s for s, _ in first) == [200] * 5 + [201]
    draft = "/api/v1/drafts/" + first[0][1]
    assert ask(hub, "GET", draft).json()["key"] == "one" and put(hub, draft, "a", b"x").status == 201
    others = [order(), order(), order("two"), order("one", "lab/other-v0"), order("one", token=bob)]
    assert {s for s, _ in others} == {201} and len({d for _, d in others}) == 5 and first[0][1] not in {d for _, d in others}
    assert order("one") == (200, first[0][1])
    done = ask(hub, "POST", draft + "/commit?allow=files")
    assert done.status == 200 and order("one")[0] == 409, "the id is taken now"
    status, second = order("one", base=done.json()["commit"])
    assert status == 201 and order("one", base=done.json()["commit"][:9]) == (200, second) != (200, first[0][1])
    assert ask(hub, "DELETE", "/api/v1/drafts/" + second).status == 204
    assert order("one", base=done.json()["commit"])[0] == 201
    assert [order(wrong)[0] for wrong in ("", "a b", "x" * 65)] == [400] * 3


def test_dropped(hub):
    draft = push(hub, DOOR, "lab/new-v0")
    assert ask(hub, "DELETE", draft).status == 204
    assert [ask(hub, m, p).status for m, p in (("GET", draft), ("DELETE", draft), ("POST", draft + "/commit"))] == [404, 404, 404]
    assert not os.listdir(hub.root / ".minari-hub/drafts")


def test_too_many(hub):
    for i in range(16):
        open_draft(hub, f"lab/new-v{i}")
    answer = ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/new-v99"}))
    assert (answer.status, problem(answer)) == (429, "too-many-drafts")


def test_killed(tmp_path):
    """What was acknowledged is there after a kill at any moment, and the rest goes on."""
    whole, sent = tree(ARM), {}
    hub = serve(tmp_path)
    draft = open_draft(hub, "lab/new-v0")
    for round in range(6):
        hub.process.send_signal(signal.SIGKILL)
        hub.stop(expect=None)
        hub = serve(tmp_path)
        have = {f["path"]: f.get("sha256") for f in ask(hub, "GET", draft + "/files").json()["items"]}
        assert {p: d for p, d in have.items() if d}.items() >= sent.items()
        for path, data in list(whole.items())[round * 3:round * 3 + 3]:
            sent[path] = put(hub, draft, path, data).json()["sha256"]
    for path, data in whole.items():
        assert put(hub, draft, path, data).status == 201
    with concurrent.futures.ThreadPoolExecutor() as pool:
        lost = pool.submit(lambda: ask(hub, "POST", draft + "/commit"))
        time.sleep(0.05)
        hub.process.send_signal(signal.SIGKILL)
        with pytest.raises(Exception):
            answer = lost.result()
            raise RuntimeError(answer.status)
    hub.stop(expect=None)
    with serve(tmp_path) as hub:
        done = ask(hub, "POST", draft + "/commit")
        assert done.status == 200, done.body
        assert tree(hub.root / "lab/new-v0") == whole
        until(lambda: hub.get("/api/v1/datasets/lab/new-v0").json()["status"] == "ready")
