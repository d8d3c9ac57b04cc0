"""Objects that come in parts, as clients of Hugging Face send large files: in any order, over a restart, and by huggingface_hub 0.36 itself."""
import os
import random
import signal

import pytest

from hub import until
from test_access_twins import run
from test_drafts import ask, serve
from test_hf_push import batch, commit, create, line_of, put, send, sha256
from test_hf_refused import run_client

REPO, PART = "lab/arm-v30", 64 << 10
DATA = random.Random(7).randbytes(4 * PART + 1000)
SMALL = ("--upload-part", "64K")


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path, *SMALL) as hub:
        create(hub)
        yield hub


class Upload:
    """One object, as the batch says that it comes."""

    def __init__(self, hub, data=DATA, **more):
        answer = batch(hub, [data], **more)
        self.hub, self.data, self.answer = hub, data, answer.json()
        self.item = self.answer["objects"][0]
        if "actions" in self.item:
            self.href, self.header = (self.item["actions"]["upload"][k] for k in ("href", "header"))
            self.part = int(self.header["chunk_size"])
            self.count = len(self.header) - 1
            self.etags = {}

    def bytes_of(self, n):
        return self.data[(n - 1) * self.part:n * self.part]

    def put(self, n, data=None):
        answer = put(self.hub, self.header[str(n)], self.bytes_of(n) if data is None else data)
        if answer.status == 200:
            self.etags[n] = answer.headers["ETag"]
        return answer

    def join(self, parts=None, href=None):
        parts = parts or [{"partNumber": n, "etag": self.etags[n]} for n in sorted(self.etags)]
        return send(self.hub, "POST", (href or self.href).removeprefix(self.hub.base), {"oid": self.item["oid"], "parts": parts}, token=None)

    def put_all(self, numbers=None):
        assert {self.put(n).status for n in numbers or range(1, self.count + 1)} == {200}
        return self


def parts(hub):
    folder = hub.root / ".minari-hub" / "parts"
    return sorted(folder.iterdir()) if folder.exists() else []


def objects(hub):
    folder = hub.root / ".minari-hub" / "objects"
    return {p.name for p in folder.iterdir()} if folder.exists() else set()


def is_there(hub, data=DATA):
    assert "actions" not in batch(hub, [data]).json()["objects"][0] and parts(hub) == []
    assert (hub.root / ".minari-hub" / "objects" / sha256(data)).read_bytes() == data


def test_parts_in_any_order(hub):
    upload = Upload(hub)
    assert upload.answer["transfer"] == "multipart" and (upload.part, upload.count) == (PART, 5)
    assert batch(hub, [DATA[:PART]]).json()["transfer"] == "basic"
    upload.put_all((5, 2, 1, 4, 3, 2))
    assert upload.join().status == 200 and upload.join().status == 200  # the first answer may have been lost
    is_there(hub)
    assert commit(hub, [line_of("data/a.bin", DATA, "lfs")]).status == 200
    assert ask(hub, "GET", f"/datasets/{REPO}/resolve/main/data/a.bin").body == DATA
    asked = {"operation": "upload", "transfers": ["basic"], "objects": [{"oid": sha256(DATA[1:]), "size": len(DATA) - 1}]}
    alone = send(hub, "POST", f"/datasets/{REPO}.git/info/lfs/objects/batch", asked).json()
    assert alone["transfer"] == "basic" and alone["objects"][0]["actions"]["upload"]["header"] == {}  # who does not know parts


def test_what_is_wrong_is_refused(hub):
    upload = Upload(hub)
    assert upload.join([{"partNumber": 1, "etag": '"' + "0" * 64 + '"'}]).json()["error"].startswith("no part of the object was sent")
    for n, data, status, words in ((1, DATA[:100], 400, "100 are announced"), (5, DATA[:PART], 400, "announced"), (1, DATA[:PART] + b"x", 400, "announced")):
        refused = upload.put(n, data)
        assert refused.status == status and words in refused.json()["error"], refused.body
    upload.put_all((1, 2, 4, 5))
    listed = lambda *numbers: [{"partNumber": n, "etag": upload.etags.get(n, '"' + "1" * 64 + '"')} for n in numbers]
    for wrong, words in ((listed(1, 2, 4, 5), "numbered from 1, in their order"), (listed(2, 1, 3, 4, 5), "in their order"), (listed(1, 2), "has 5 parts, and 2 are listed"),
                         (listed(1, 2, 3, 4, 5), "part 3 of the object was not sent"), (listed(1, 2, 3, 4, 5, 6), "6 are listed"),
                         ([{"partNumber": 1, "etag": "x"}], "another \"etag\"")):
        refused = upload.join(wrong)
        assert refused.status == 400 and words in refused.json()["error"], refused.body
    upload.put(3)
    first = upload.etags[1]
    upload.put(1, b"y" * PART)
    refused = upload.join([{"partNumber": 1, "etag": first}, *listed(2, 3, 4, 5)])
    assert refused.status == 400 and "part 1 of the object came again since" in refused.json()["error"]
    assert len(parts(hub)) == 1 and upload.join().status == 422 and parts(hub) == [] and objects(hub) == set()  # another object than was stated
    for href in (upload.header["1"].replace("/1?", "/2?"), upload.header["1"].replace(f"/{PART}/", f"/{PART + 1}/"), upload.href.replace(f"/{PART}?", f"/{PART}/1?")):
        assert put(hub, href, upload.bytes_of(1)).status == 403, href
    assert upload.join(listed(1), href=upload.header["1"].replace("/1?", "?")).status == 403
    upload.put_all()
    assert upload.join().status == 200
    is_there(hub)


def test_parts_are_their_senders(hub):
    bob = run(hub.state, "token", "add", "bob", "--write", "lab/").strip()
    until(lambda: ask(hub, "GET", "/api/whoami-v2", token=bob).status == 200)
    ann, other = Upload(hub).put_all(), Upload(hub, token=bob).put_all((1, 2))
    assert len(parts(hub)) == 2 and other.join([{"partNumber": n, "etag": ann.etags[n]} for n in range(1, 6)]).status == 400
    assert ann.join().status == 200 and len(parts(hub)) == 1
    assert "actions" in Upload(hub, token=bob).item


def test_killed_and_tidied(tmp_path):
    hub = serve(tmp_path, *SMALL)
    create(hub)
    half, left = Upload(hub).put_all((1, 3, 4)), Upload(hub, DATA[1:]).put_all((1,))
    hub.process.send_signal(signal.SIGKILL)
    hub.stop(expect=None)
    old = {p for p in parts(hub) if p.stat().st_blocks == min(q.stat().st_blocks for q in parts(hub))}
    for path in old:
        os.utime(path, (1, 1))
    with serve(tmp_path, "--upload-part", "128K") as hub:  # of what began no part changes its size
        until(lambda: len(parts(hub)) == 1)
        half.hub = hub
        half.header = {k: v.replace(v.split("/datasets/")[0], hub.base) for k, v in half.header.items()}
        half.href = half.href.replace(half.href.split("/datasets/")[0], hub.base)
        half.put_all((2, 5))
        assert half.join().status == 200
        is_there(hub)
    assert left.etags and len(old) == 1


def test_they_wait_within_the_budget(tmp_path):
    with serve(tmp_path, *SMALL, "--upload-cache", "500K") as hub:
        create(hub)
        first, second = Upload(hub), Upload(hub, DATA[1:])
        assert first.put(1).status == 200
        refused = second.put(1)
        assert refused.status == 507 and "--upload-cache" in refused.json()["error"], refused.body
        assert "--upload-cache" in Upload(hub, DATA[1:]).item["error"]["message"]
        assert "actions" in Upload(hub).item and first.put_all().join().status == 200  # its room is its own
        assert "--upload-cache" in Upload(hub, DATA[1:]).item["error"]["message"]
        assert commit(hub, [line_of("a.bin", DATA, "lfs")]).status == 200
        assert Upload(hub, DATA[1:]).put_all().join().status == 200


CLIENT = """
data = pathlib.Path(sys.argv[1]).read_bytes()
api.create_commit(repo, [h.CommitOperationAdd("a.bin", sys.argv[1]), h.CommitOperationAdd("b.bin", data[1:]), h.CommitOperationAdd("c.bin", data[:100])], commit_message="large", **kw)
for name, want in (("a.bin", data), ("b.bin", data[1:]), ("c.bin", data[:100])):
    assert pathlib.Path(h.hf_hub_download(repo, name, **kw)).read_bytes() == want
"""


def test_a_client(hub, tmp_path):
    (tmp_path / "large").write_bytes(DATA)
    assert run_client(hub, tmp_path, CLIENT, tmp_path / "large") == ""
    assert sum(" hf-lfs-put " in line for line in hub.text_log().splitlines()) == 5 + 5 + 1
    assert parts(hub) == []
