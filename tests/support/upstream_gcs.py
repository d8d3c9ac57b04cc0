"""A stand-in of Google Cloud Storage for what emulators leave out: pages, also empty ones, generations, objects stored compressed,
composite objects, tokens. `Bucket.put` stores an object; `emulator` starts gcp-storage-emulator (PyPI), which is independent of it."""
import base64
import contextlib
import gzip
import hashlib
import json
import os
import struct
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from upstream import Upstream

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from hub import free_port, until  # noqa: E402


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def _table():
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
        yield i


TABLE = list(_table())

try:
    from google_crc32c import value as crc32c  # noqa: F811, the same, quick
except ImportError:
    pass


def b64(data):
    return base64.b64encode(data).decode()


class Gcs(Upstream):
    """One bucket. `token`, if set, is what requests must bear; `page` objects a page, with `empty` empty pages between them."""

    def __init__(self, bucket="lab", host="127.0.0.1"):
        super().__init__(host)
        self.bucket, self.objects, self.page, self.empty, self.token = bucket, {}, 1000, 0, None
        self.generation = 1700000000000000

    def put(self, name, data, composite=False, compressed=False, **more):
        self.generation += 1
        stored = gzip.compress(data) if compressed else data
        item = {"kind": "storage#object", "name": name, "size": str(len(stored)), "generation": str(self.generation),
                "updated": "2024-03-01T12:00:00.123Z", "crc32c": b64(struct.pack(">I", crc32c(stored))), **more}
        if compressed:
            item["contentEncoding"] = "gzip"
        if not composite:
            item["md5Hash"] = b64(hashlib.md5(stored).digest())
        self.objects[name] = (item, stored, data)

    def error(self, request, status, reason, message):
        return request.json({"error": {"code": status, "message": message, "errors": [{"message": message, "domain": "global", "reason": reason}]}}, status)

    def route(self, request, path, query):
        if path == "/token":
            return self.give_token(request)
        if self.token and request.headers.get("Authorization") != "Bearer " + self.token:
            return self.error(request, 401, "required", "Anonymous caller does not have storage.objects.list access to the Google Cloud Storage bucket.")
        for head in (f"/storage/v1/b/{self.bucket}/o", f"/download/storage/v1/b/{self.bucket}/o"):
            if path == head:
                return self.list(request, query)
            if path.startswith(head + "/"):
                return self.media(request, urllib.parse.unquote(path[len(head) + 1:]), query)
        self.error(request, 404, "notFound", "The specified bucket does not exist.")

    def list(self, request, query):
        names = [n for n in sorted(self.objects, key=str.encode) if n.startswith(query.get("prefix", ""))]
        at, empty = map(int, query.get("pageToken", "0+0").split("+"))
        if empty < self.empty and at:
            return request.json({"kind": "storage#objects", "nextPageToken": f"{at}+{empty + 1}"})
        more = {"nextPageToken": f"{at + self.page}+0"} if at + self.page < len(names) else {}
        items = [self.objects[n][0] for n in names[at:at + self.page]]
        request.json({"kind": "storage#objects", **({"items": items} if items else {}), **more})

    def media(self, request, name, query):
        if name not in self.objects or query.get("generation", self.objects[name][0]["generation"]) != self.objects[name][0]["generation"]:
            return self.error(request, 404, "notFound", f"No such object: {self.bucket}/{name}")
        item, stored, data = self.objects[name]
        headers = {"x-goog-generation": item["generation"], "ETag": '"' + item["generation"] + '"'}
        if "contentEncoding" in item and "gzip" not in request.headers.get("Accept-Encoding", ""):
            return request.cut(200, {**headers, "Connection": "close"}, data)  # decoded on the way: no length, no range
        if "contentEncoding" in item:
            headers["Content-Encoding"] = "gzip"
        request.bytes(stored, headers)

    def give_token(self, request):
        """Of a service account: `keys` (email to public key, set by the test) decides, `lifetime` is in seconds."""
        form = dict(urllib.parse.parse_qsl(request.body.decode()))
        self.assertion = form["assertion"]
        if not self.check(form):
            return request.json({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, 400)
        self.given = getattr(self, "given", 0) + 1
        self.token = f"ya29.{self.given}"
        request.json({"access_token": self.token, "expires_in": self.lifetime, "token_type": "Bearer"})


def attributes(path):
    """What Minari 0.4 kept of a file with its object: attributes as text."""
    import h5py

    with h5py.File(path) as f:
        return {k: str(v) for k, v in f.attrs.items() if k not in ("observation_space", "action_space", "env_spec")}


class Emulated:
    def __init__(self, url, bucket):
        self.url, self.bucket = url, bucket

    def put(self, name, data, metadata=None):
        """As clients upload: metadata and bytes as one multipart body."""
        meta = json.dumps({"name": name, "metadata": metadata or {}}).encode()
        body = b"--=b\r\nContent-Type: application/json\r\n\r\n" + meta + b"\r\n--=b\r\nContent-Type: application/octet-stream\r\n\r\n" + data + b"\r\n--=b--\r\n"
        url = f"{self.url}/upload/storage/v1/b/{self.bucket}/o?uploadType=multipart"
        headers = {"Content-Type": 'multipart/related; boundary="=b"'}
        urllib.request.urlopen(urllib.request.Request(url, body, headers, method="POST")).close()


@contextlib.contextmanager
def emulator(bucket="lab"):
    from gcp_storage_emulator.server import create_server

    port = free_port()
    server = create_server("127.0.0.1", port, in_memory=True, default_bucket=bucket)
    server.start()
    try:
        yield Emulated(f"http://127.0.0.1:{port}", bucket)
    finally:
        server._api._httpd.shutdown()
        server._api._httpd.server_close()


FAKE_GCS = os.environ.get("HUB_TEST_FAKE_GCS")  # fake-gcs-server, a Go program; tests/run.sh makes it


@contextlib.contextmanager
def fake_gcs(bucket="lab"):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [FAKE_GCS, "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-public-host", f"127.0.0.1:{port}", "-backend", "memory"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        make = urllib.request.Request(f"{url}/storage/v1/b", json.dumps({"name": bucket}).encode(), {"Content-Type": "application/json"}, method="POST")

        def is_made():
            with contextlib.suppress(urllib.error.URLError):
                urllib.request.urlopen(make).close()
                return True

        until(is_made)
        yield Emulated(url, bucket)
    finally:
        server.kill()
        server.wait()
