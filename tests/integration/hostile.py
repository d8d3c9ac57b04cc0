"""A little hub that serves files from memory and misbehaves on request, for tests of clients. Standard library only.

`hub.fault`, if set, is called with (request, path) first: it returns a true value when it answered itself. Everything asked for is
kept in `hub.requests` as (method, path, Range or None, headers). `hub.pages` cuts the listing into pages of so many.
"""
import base64
import hashlib
import json
import os
import re
import sys
import threading
import time
import urllib.parse
from http.server import ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import upstream

PREFIX = "/api/v1/datasets"
builtins_id = id  # ids are something else here


class Request(upstream.Request):
    def json(self, value, status=200, headers=()):
        return self.answer(status, json.dumps(value).encode(), headers, "application/json" if status < 400 else "application/problem+json")

    def problem(self, status, name, detail="as told", headers=()):
        return self.json({"type": "urn:minari-hub:" + name, "title": name, "status": status, "detail": detail, "instance": self.path},
                         status, headers)

    def do_GET(self):
        hub = self.server.hub
        path, _, query = self.path.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        with hub.lock:
            hub.requests.append((self.command, urllib.parse.unquote(path), self.headers.get("Range"), dict(self.headers)))
        try:
            if hub.fault and hub.fault(self, urllib.parse.unquote(path)):
                return
            self.route(hub, path, query)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def route(self, hub, path, query):
        if not path.startswith(PREFIX):
            return self.problem(404, "route-not-found")
        rest = path[len(PREFIX):].lstrip("/")
        if not rest:
            return self.page(hub, int(query.get("cursor", 0)))
        id, _, file = rest.partition("/files")
        id = urllib.parse.unquote(id)
        if id not in hub.sets:
            return self.problem(404, "dataset-not-found", f"there is no dataset '{id}'")
        wanted = query.get("revision")
        if wanted and wanted != hub.revision(id):
            return self.problem(410, "revision-gone", f"'{id}' is now at revision {hub.revision(id)}")
        if "/files" not in rest:
            return self.json({**hub.summary(id), "fields": [], "files": len(hub.sets[id]), "problems": [], "versions": [hub.summary(id)]})
        if not file:
            return self.json(hub.listing(id))
        self.file(hub, id, urllib.parse.unquote(file[1:]))

    def page(self, hub, first):
        ids, size = sorted(hub.sets), hub.pages or len(hub.sets) or 1
        next = f"{hub.next_base or hub.url}{PREFIX}?limit=1000&cursor={first + size}" if first + size < len(ids) else None
        self.json({"items": [hub.summary(i) for i in ids[first:first + size]], "total": len(ids), "next": next})

    def file(self, hub, id, name):
        data = hub.sets[id].get(name)
        if data is None:
            return self.problem(404, "file-not-found", name)
        etag = '"' + hashlib.sha256((hub.revision(id) + name).encode()).hexdigest()[:32] + '"'
        headers = {"ETag": etag, "Accept-Ranges": "bytes"}
        if hub.digests:
            headers["Repr-Digest"] = "sha-256=:" + base64.b64encode(bytes.fromhex(hub.sha256(data))).decode() + ":"
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if match and self.headers.get("If-Range", etag) == etag:
            first, last = int(match[1]), min(int(match[2] or len(data) - 1), len(data) - 1)
            if first >= len(data):
                return self.answer(416, headers={**headers, "Content-Range": f"bytes */{len(data)}"})
            return self.answer(206, data[first:last + 1], {**headers, "Content-Range": f"bytes {first}-{last}/{len(data)}"})
        self.answer(200, data, headers)


class HostileHub:
    def __init__(self, sets, digests=True):
        self.sets, self.digests = sets, digests
        self.fault, self.requests, self.lock = None, [], threading.Lock()
        self.salt, self.pages, self.next_base, self.cache = {}, None, None, {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Request)
        self.server.daemon_threads = True
        self.server.hub = self
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()

    def sha256(self, data):
        """Of bytes that are asked for again and again."""
        key = builtins_id(data)
        if key not in self.cache:
            self.cache[key] = (data, hashlib.sha256(data).hexdigest())
        return self.cache[key][1]

    def revision(self, id):
        text = "".join(f"{p} {len(d)} {self.sha256(d)}" for p, d in sorted(self.sets[id].items()))
        return hashlib.sha256((text + str(self.salt.get(id, ""))).encode()).hexdigest()[:40]

    def summary(self, id):
        match = re.fullmatch(r"(?:(.*)/)?([^/]*?)(?:-v(\d+))?", id)
        out = {"id": id, "name": match[2], "format": "minari-hdf5", "status": "ready", "episodes": 1, "steps": 1,
               "size": sum(len(d) for d in self.sets[id].values()), "authors": ["somebody"], "revision": self.revision(id)}
        if match[1]:
            out["namespace"] = match[1]
        if match[3]:
            out["version"] = int(match[3])
        return out

    def listing(self, id):
        items = []
        for path, data in sorted(self.sets[id].items()):
            item = {"path": path, "size": len(data), "modified": "2026-01-01T00:00:00.000Z", "type": "application/octet-stream"}
            if self.digests:
                item["sha256"] = self.sha256(data)
            items.append(item)
        return {"id": id, "revision": self.revision(id), "size": sum(i["size"] for i in items), "total": len(items), "items": items}

    def file_requests(self):
        return [r for r in self.requests if "/files/" in r[1] and r[0] == "GET"]



def endless(request, headers=()):
    """A body that does not end by itself."""
    request.send_response(200)
    for name, value in {"Content-Type": "application/json", **dict(headers)}.items():
        request.send_header(name, value)
    request.end_headers()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        request.wfile.write(b" " * 262144)
    request.close_connection = True
    return True
