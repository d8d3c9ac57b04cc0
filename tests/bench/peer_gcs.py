"""A bucket for downloads, the stand-in of tests/support with what rclone and Python Minari ask for besides: peer_gcs.py PORT FILES SIZE, or
peer_gcs.py PORT OBJECTS 0 for a list of so many that are never fetched, or peer_gcs.py PORT DATASETS FILE for as many of two files each. All files hold the same bytes, which are in memory once."""
import base64
import hashlib
import json
import os
import random
import struct
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import upstream
from upstream_gcs import Gcs, crc32c

port, count = map(int, sys.argv[1:3])
small = not sys.argv[3].isdigit() and sys.argv[3]
size = 0 if small else int(sys.argv[3])
METADATA = json.dumps({"dataset_id": "many-v0", "total_episodes": 1, "total_steps": 1, "minari_version": "0.5.3", "author": ["bench"], "data_format": "hdf5"}).encode()
data = random.Random(3).randbytes(size)


class Fixed(upstream.Server):
    def __init__(self, address, handler):
        super().__init__((address[0], port), handler)


class Bucket(Gcs):
    """Lists are made once, so that the client is what is measured. 503 until all is in it."""
    ready = False

    def list(self, request, query):
        key = (query.get("prefix", ""), query.get("delimiter"), query.get("pageToken", "0"))
        if key not in pages:
            below = [n for n in sorted(self.objects) if n.startswith(key[0])]
            folders = {n[:n.index("/", len(key[0])) + 1] for n in below if key[1] and "/" in n[len(key[0]):]}
            below, at = [n for n in below if not key[1] or "/" not in n[len(key[0]):]], int(key[2])
            page = {"items": [self.objects[n][0] for n in below[at:at + 1000]], "prefixes": sorted(folders)}
            if at + 1000 < len(below):
                page["nextPageToken"] = str(at + 1000)
            pages[key] = json.dumps({"kind": "storage#objects", **{k: v for k, v in page.items() if v}}).encode()
        request.answer(200, pages[key], type="application/json")

    def route(self, request, path, query):
        """rclone looks at an object by its own address first."""
        head = "/storage/v1/b/lab/o/"
        if not self.ready:
            return self.error(request, 503, "backendError", "not yet")
        if path.startswith(head) and query.get("alt") != "media":
            name = urllib.parse.unquote(path[len(head):])
            return request.json(self.objects[name][0]) if name in self.objects else self.error(request, 404, "notFound", "No such object")
        return super().route(request, path, query)


def put(name, data, generation, sums):
    link = f"{gcs.url}/download/storage/v1/b/lab/o/{urllib.parse.quote(name, safe='')}?alt=media"
    item = {"kind": "storage#object", "id": f"lab/{name}/{generation}", "name": name, "bucket": "lab", "size": str(len(data)), "generation": str(generation),
            "contentType": "application/octet-stream", "updated": "2024-03-01T12:00:00.123Z", "timeCreated": "2024-03-01T12:00:00.123Z", "mediaLink": link, **sums}
    gcs.objects[name] = (item, data, data)


def sums_of(data):
    return {"crc32c": base64.b64encode(struct.pack(">I", crc32c(data))).decode(), "md5Hash": base64.b64encode(hashlib.md5(data).digest()).decode()}


upstream.Server = Fixed
pages, gcs = {}, Bucket()
sums = sums_of(data)
if small:
    with open(small, "rb") as f:
        data = f.read()
    sums = sums_of(data)
for i in range(count):
    put(f"lab/set{i:05d}-v0/data/main_data.hdf5" if small else f"many-v0/data/{i:06d}.hdf5", data, i + 1, sums)
    if small:
        put(f"lab/set{i:05d}-v0/data/metadata.json", METADATA, count + i + 1, sums_of(METADATA))
if size:
    put("many-v0/data/metadata.json", METADATA, count + 1, sums_of(METADATA))
gcs.ready = True
while True:
    gcs.requests.clear()
    time.sleep(1)
