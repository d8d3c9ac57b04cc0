"""Libraries for objects of any cloud, told where Google's are: obstore and polars (object_store of Rust), cloudpathlib, google-cloud-storage."""
import hashlib
import os

import pytest

NAME = "door-human-v0/data/main_data.hdf5"
BUCKET = "minari-datasets"


def test_obstore(clients, hub, lab):
    """Lists whole, of a folder and behind a name; an object, pieces of it, and its conditions."""
    got = clients.python("objects", ["obstore"], """
import hashlib, obstore
from obstore.store import GCSStore
store = GCSStore("minari-datasets", config={"google_base_url": sys.argv[1], "google_skip_signature": True}, client_options={"allow_http": True})
name = sys.argv[2]
out = {"names": [[o["path"], o["size"]] for page in obstore.list(store) for o in page]}
out["behind"] = [o["path"] for page in obstore.list(store, offset=name) for o in page]
folder = obstore.list_with_delimiter(store, "notes")
out["folder"] = [folder["common_prefixes"], [o["path"] for o in folder["objects"]]]
out["sha256"] = {n: hashlib.sha256(bytes(obstore.get(store, n).bytes())).hexdigest() for n, _ in out["names"]}
out["pieces"] = [bytes(p).decode("latin-1") for p in obstore.get_ranges(store, name, starts=[1, 1000], lengths=[3, 20])]
head = obstore.head(store, name)
out["etags"] = head["e_tag"] == [o for page in obstore.list(store, name.rsplit("/", 1)[0]) for o in page if o["path"] == name][0]["e_tag"]
out["wrong"] = []
for ask in (lambda: obstore.head(store, "none"), lambda: obstore.get(store, name, options={"if_match": '"x"'}), lambda: obstore.get(store, name, options={"if_none_match": head["e_tag"]})):
    try:
        ask()
    except Exception as e:
        out["wrong"].append(type(e).__name__)
print(json.dumps(out))
""", hub.base, NAME)
    # object_store writes names as it needs them: those of the list are what it was given
    assert sorted(got["names"]) == [[n, os.path.getsize(lab.path(n))] for n in lab.names]
    assert got["behind"] == [n for n in sorted(lab.names, key=str.encode) if n.encode() > NAME.encode()]
    assert got["folder"] == [["notes/sub folder"], [n for n in sorted(lab.names, key=str.encode) if n.startswith("notes/") and n.count("/") == 1]]
    assert got["sha256"] == {n: hashlib.sha256(lab.bytes(n)).hexdigest() for n in lab.names}
    data = lab.bytes(NAME).decode("latin-1")
    assert got["pieces"] == [data[1:4], data[1000:1020]] and got["etags"]
    assert got["wrong"] == ["FileNotFoundError", "PreconditionError", "NotModifiedError"]


def test_polars(clients, hub, lab):
    got = clients.python("objects", ["polars"], """
import polars
options = {"google_base_url": sys.argv[1], "google_skip_signature": "true"}
one = polars.scan_parquet("gs://minari-datasets/parquet/*.parquet", storage_options=options, credential_provider=None)
two = polars.scan_parquet(sys.argv[1] + "/minari-datasets/parquet/values.parquet")
print(json.dumps([f.select("a").sum().collect().item() for f in (one, two)]))
""", hub.base)
    assert got == [sum(lab.table["a"])] * 2


def test_cloudpathlib(clients, hub, lab, tmp_path):
    got = clients.python("objects", ["cloudpathlib"], """
from cloudpathlib import GSClient
from google.cloud import storage
client = GSClient(storage_client=storage.Client.create_anonymous_client(), local_cache_dir="cache")
top = client.CloudPath("gs://minari-datasets/door-human-v0")
out = {"names": sorted(p.name for p in top.iterdir()), "glob": [str(p) for p in top.glob("**/*.hdf5")]}
out["kinds"] = [[p.exists(), p.is_dir(), p.is_file()] for p in (top, client.CloudPath(str(top) + "/"), top / "data" / "main_data.hdf5", top / "none")]
stat = (top / "data" / "main_data.hdf5").stat()
out["stat"] = [stat.st_size, stat.st_mtime]
top.download_to("copy")
print(json.dumps(out))
""", env={"STORAGE_EMULATOR_HOST": hub.base})
    assert got["names"] == sorted(os.listdir(lab.path("door-human-v0"))) and got["glob"] == [f"gs://{BUCKET}/{NAME}"]
    assert got["kinds"] == [[True, True, False], [True, True, False], [True, False, True], [False, False, False]]
    assert got["stat"] == [os.path.getsize(lab.path(NAME)), pytest.approx(os.path.getmtime(lab.path(NAME)), abs=1e-5)]
    assert lab.files_equal(tmp_path / "copy", "door-human-v0/") >= 1


def test_conditions_of_google_cloud_storage(clients, hub, lab):
    """What an object is by its etag; names that end as folders do; parts by several workers."""
    got = clients.python("objects", ["google-cloud-storage"], """
from google.api_core import exceptions
from google.cloud import storage
from google.cloud.storage import transfer_manager
client = storage.Client.create_anonymous_client()
bucket = client.bucket("minari-datasets")
blob = bucket.get_blob(sys.argv[1])
same = bucket.blob(blob.name)
out = {"size": len(same.download_as_bytes(if_etag_match=blob.etag)), "wrong": []}
same.reload(if_etag_match=blob.etag)
for ask in (lambda: same.download_as_bytes(if_etag_match="x"), lambda: same.reload(if_etag_match="x"), lambda: same.download_as_bytes(if_etag_not_match=blob.etag),
            lambda: same.reload(if_etag_not_match=blob.etag), lambda: bucket.blob("door-human-v0/").download_as_bytes()):
    try:
        ask()
    except exceptions.GoogleAPIError as e:
        out["wrong"].append(type(e).__name__)
out["there"] = [bucket.blob(n).exists() for n in ("door-human-v0/", "none/", blob.name, blob.name + "/")]
transfer_manager.download_chunks_concurrently(bucket.blob(blob.name), "parts", chunk_size=100_000, worker_type="thread")
out["parts"] = open("parts", "rb").read() == same.download_as_bytes(raw_download=True)
print(json.dumps(out))
""", NAME, env={"STORAGE_EMULATOR_HOST": hub.base})
    assert got == {"size": os.path.getsize(lab.path(NAME)), "wrong": ["PreconditionFailed", "PreconditionFailed", "NotModified", "NotModified", "NotFound"],
                   "there": [False, False, True, False], "parts": True}
