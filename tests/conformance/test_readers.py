"""Libraries that read pieces of files over HTTP: fsspec, gcsfs, h5py, zarr, pyarrow, DuckDB, webdataset, google-cloud-storage, ffmpeg."""
import hashlib
import os
from urllib.parse import unquote

import pytest

NAME = "door-human-v0/data/main_data.hdf5"
OVER_HTTP = ["/minari-datasets/" + NAME, "/api/v1/datasets/door-human-v0/files/data/main_data.hdf5", "/datasets/farama-minari/door-human-v0/resolve/main/data/main_data.hdf5"]

# gcsfs of 2026 asks by gRPC over TLS, at the same host and for 30 s and more a bucket, whether it is hierarchical, unless it is told not to
GCSFS = {"GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}

# a digest of all values of a file of HDF5, by path
DIGEST = """
import hashlib, h5py
def digest(file):
    found = {}
    def look(name, node):
        if isinstance(node, h5py.Dataset) and node.dtype.kind in "iuf":
            found[name] = hashlib.sha256(node[()].tobytes()).hexdigest()
    file.visititems(look)
    return found
"""


def local_digest(clients, lab, name):
    return clients.python("readers", ["h5py"], DIGEST + "print(json.dumps(digest(h5py.File(sys.argv[1]))))", lab.path(name))


@pytest.mark.parametrize("at", OVER_HTTP)
def test_fsspec_and_h5py(clients, hub, lab, at):
    got = clients.python("readers", ["fsspec", "aiohttp", "h5py"], DIGEST + """
import fsspec
with fsspec.open(sys.argv[1], "rb", block_size=65536) as f:
    found = digest(h5py.File(f))
print(json.dumps(found))
""", hub.base + at)
    assert got == local_digest(clients, lab, NAME) and len(got) > 20


def test_fsspec_lists_folders(clients, hub, lab):
    got = clients.python("readers", ["fsspec"], """
import fsspec
fs = fsspec.filesystem("http")
found = {u: fs.size(u) for u in fs.find(sys.argv[1] + "/") if not u.endswith("/")}
print(json.dumps([found, fs.cat_file(sys.argv[1] + "/door-human-v0/data/main_data.hdf5", 1, 4).decode()]))
""", f"{hub.base}/minari-datasets")
    assert {unquote(u.split("/minari-datasets/", 1)[1]): s for u, s in got[0].items()} == {n: os.path.getsize(lab.path(n)) for n in lab.names}
    assert got[1] == "HDF"


def test_gcsfs_and_h5py(clients, hub, lab, tmp_path):
    got = clients.python("readers", ["gcsfs", "h5py"], DIGEST + """
import gcsfs
fs = gcsfs.GCSFileSystem(token="anon")
with fs.open("minari-datasets/door-human-v0/data/main_data.hdf5") as f:
    found = digest(h5py.File(f))
names = fs.find("minari-datasets")
fs.get("minari-datasets/notes/", "notes/", recursive=True)
fs.get_file("minari-datasets/door-human-v0/data/main_data.hdf5", "main_data.hdf5")
print(json.dumps([found, names, fs.isdir("minari-datasets/door-human-v0"), fs.exists("minari-datasets/none"), fs.info("minari-datasets/door-human-v0/data/main_data.hdf5")["size"]]))
""", env={"STORAGE_EMULATOR_HOST": hub.base} | GCSFS)
    assert got[0] == local_digest(clients, lab, NAME)
    assert got[1] == ["minari-datasets/" + n for n in lab.names]
    assert got[2:] == [True, False, os.path.getsize(lab.path(NAME))]
    assert (tmp_path / "main_data.hdf5").read_bytes() == lab.bytes(NAME)
    assert lab.files_equal(tmp_path / "notes", "notes/") == 3


def test_gcsfs_and_zarr(clients, hub, lab):
    got = clients.python("readers", ["zarr", "gcsfs"], """
import hashlib, zarr
group = zarr.open_group("gs://minari-datasets/stacked.zarr", mode="r", storage_options={"token": "anon"})
web = zarr.open_group(sys.argv[1] + "/minari-datasets/stacked.zarr", mode="r")
print(json.dumps([[name, list(g[name].shape), hashlib.sha256(g[name][:].tobytes()).hexdigest()] for g in (group, web) for name in ("action", "reward")]))
""", hub.base, env={"STORAGE_EMULATOR_HOST": hub.base} | GCSFS)
    wanted = [[name, list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()] for name, array in lab.zarr.items()]
    assert got == wanted * 2


@pytest.mark.parametrize("id", ["kinds-v0", "door-human-v0"])
def test_kerchunk(clients, hub, lab, id):
    """All arrays of all episodes by references, against h5py; those that are left out are the ones that numcodecs cannot read."""
    document = hub.get(f"/api/v1/datasets/{id}/~kerchunk.json").json()
    left = {l["path"]: l["detail"] for l in document["left_out"]}
    assert set(left) == ({"infos/kinds/filled", "infos/kinds/lzf"} if id == "kinds-v0" else set())
    got = clients.python("readers", ["fsspec", "zarr", "numcodecs", "h5py"], """
import fsspec, h5py, hdf5plugin, numpy as np, zarr
from zarr.storage import FsspecStore
fs = fsspec.filesystem("reference", fo=sys.argv[1], remote_protocol="http", asynchronous=True, remote_options={"asynchronous": True})
group = zarr.open_group(FsspecStore(fs, path=""), mode="r", zarr_format=2)
compared, wrong = 0, []
with h5py.File(sys.argv[2]) as f:
    def look(name, node):
        global compared
        episode, _, path = name.partition("/")
        if isinstance(node, h5py.Dataset) and episode.startswith("episode_") and path not in sys.argv[3:]:
            array, wanted = group[f"episodes/{episode[8:]}/{path}"][...], node[()]
            compared += 1
            if not np.array_equal(array, wanted) or array.dtype != node.dtype:
                wrong.append([name, str(array.dtype), str(node.dtype), list(array.shape), list(wanted.shape)])
    f.visititems(look)
print(json.dumps([compared, wrong]))
""", f"{hub.base}/api/v1/datasets/{id}/~kerchunk.json", lab.path(f"{id}/data/main_data.hdf5"), *left)
    assert got[1] == [] and got[0] > 50


def test_google_cloud_storage(clients, hub, lab, tmp_path):
    got = clients.python("readers", ["google-cloud-storage"], """
from google.cloud import storage
from google.api_core import exceptions
client = storage.Client.create_anonymous_client()
bucket = client.bucket("minari-datasets")
names = [b.name for b in client.list_blobs("minari-datasets", page_size=7)]
folders = client.list_blobs("minari-datasets", delimiter="/"); list(folders)
blob = bucket.get_blob("door-human-v0/data/main_data.hdf5")
with open("whole", "wb") as f:
    client.download_blob_to_file(blob, f)
bucket.blob(blob.name, chunk_size=256 * 1024).download_to_filename("chunks")
with blob.open("rb") as f:
    f.seek(1); part = f.read(3).decode()
try:
    bucket.blob("new").upload_from_string(b"x" * 100000); wrote = "it wrote"
except exceptions.ClientError as e:
    wrote = e.code
print(json.dumps([names, sorted(folders.prefixes), part, bucket.blob("none").exists(), bucket.exists(), wrote]))
""", env={"STORAGE_EMULATOR_HOST": hub.base + "/"})
    assert got[0] == lab.names and got[1] == sorted({n.split("/")[0] + "/" for n in lab.names if "/" in n})
    assert got[2:] == ["HDF", False, True, 405]
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "chunks").read_bytes() == lab.bytes(NAME)


@pytest.mark.parametrize("at", ["/minari-datasets/parquet/", "/api/v1/datasets/parquet/values/files/"])
def test_pyarrow_and_duckdb(clients, hub, lab, at):
    """A column, and the count that is in the footer."""
    url = hub.base + at + "values.parquet"
    wanted = lab.table
    got = clients.python("readers", ["pyarrow", "fsspec"], """
import fsspec, os, pyarrow.parquet as pq, pyarrow.dataset as ds
with fsspec.open(sys.argv[1], "rb") as f:
    one = pq.read_table(f, columns=["a"]).column("a").to_pylist()
fs, path = fsspec.core.url_to_fs(sys.argv[1])
two = ds.dataset(path, filesystem=fs).to_table(filter=ds.field("a") > 5, use_threads=False).num_rows
print(json.dumps([sum(one), two]), flush=True)
os._exit(0)  # Arrow and Python end each other's threads badly
""", url)
    assert got == [sum(wanted["a"]), sum(a > 5 for a in wanted["a"])]
    got = clients.python("readers", ["duckdb"], """
import duckdb, duckdb_extension_httpfs, glob, os
db = duckdb.connect()
(at,) = glob.glob(os.path.dirname(duckdb_extension_httpfs.__file__) + "/extensions/*/httpfs.duckdb_extension")
db.execute(f"LOAD '{at}'")
print(json.dumps(list(db.execute(f"SELECT sum(a)::BIGINT, count(*), max(t) FROM '{sys.argv[1]}'").fetchone())))
""", url)
    assert got == [sum(wanted["a"]), len(wanted["a"]), max(wanted["t"])]


def test_webdataset(clients, hub, lab):
    """All shards by one URL with a brace, which the dataset's document gives."""
    (at,) = hub.dataset("shards")["shards"]
    assert at == "/api/v1/datasets/shards/files/part-{000008..000012}.tar"
    assert hub.dataset("ilr-across")["shards"] == ["/api/v1/datasets/ilr-across/files/random-{8..10}.tar"]
    got = clients.python("readers", ["webdataset"], """
import hashlib, webdataset as wds
print(json.dumps([[s["__key__"], hashlib.sha256(s["bin"]).hexdigest(), s["cls"].decode()] for s in wds.WebDataset(sys.argv[1], shardshuffle=False)]))
""", hub.base + at)
    assert got == lab.samples


def test_ffmpeg_seeks(clients, hub, lab):
    """A frame from the middle of a video is the same as of the local file, and is found without reading all."""
    script = """
import imageio_ffmpeg, subprocess
out = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-ss", "40", "-i", sys.argv[1], "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True)
import hashlib
assert not out.stderr, out.stderr
print(json.dumps([len(out.stdout), hashlib.sha256(out.stdout).hexdigest(), imageio_ffmpeg.get_ffmpeg_version()]))
"""
    local = clients.python("readers", ["imageio-ffmpeg"], script, lab.path("film/film.mp4"))
    for at in ("/minari-datasets/film/film.mp4", "/api/v1/datasets/film/files/film.mp4"):
        assert clients.python("readers", ["imageio-ffmpeg"], script, hub.base + at) == local
    clients.versions["ffmpeg"] = {local[2]}
    assert local[0] == 64 * 48 * 3
