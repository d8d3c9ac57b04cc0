"""Stock clients with a token of the hub, each in its own way, where nothing is for everybody; and what each of them sent."""
import ctypes
import hashlib
import json
import os
import shutil
import sys

import pytest

from carriers import BUCKET, NETWORK, OWN, Front, Private
from conftest import CLIENTS
from hub import BIN
from principals import bearer, signed
from test_huggingface import where
from test_readers import DIGEST, GCSFS, local_digest

NAME, ID = f"{OWN}/door-human-v0/data/main_data.hdf5", f"{OWN}/door-human-v0"
NATIVE = f"/api/v1/datasets/{ID}/files/data/main_data.hdf5"
PARQUET = f"/api/v1/datasets/{OWN}/parquet/values/files/values.parquet"


@pytest.fixture(scope="module")
def private(lab, tmp_path_factory):
    private = Private(lab, str(tmp_path_factory.mktemp("private")), str(tmp_path_factory.mktemp("state")))
    with private.hub:
        yield private.begin()


@pytest.fixture
def front(private):
    front = Front(private.hub.port)
    yield front
    front.close()


# ---- by Google's protocol ----

MINARI = """
import minari
try:
    found = minari.list_remote_datasets(prefix="D4RL")
except Exception as e:  # there is no such repository
    found = []
if "D4RL/door/human-v2" in found:
    minari.download_dataset("D4RL/door/human-v2")
print(json.dumps([sorted(found), minari.load_dataset("D4RL/door/human-v2").total_episodes if found else 0]))
"""


def test_minari_over_gcp_by_its_network(private, front, clients, tmp_path):
    """It can send nothing: a rule for the address that it comes from is all there is."""
    near = Front(private.hub.port, NETWORK)
    env = {"MINARI_REMOTE": f"gcp://{BUCKET}", "MINARI_DATASETS_PATH": str(tmp_path / "sets")}
    found, episodes = clients.python("minari-0.5.4", ["minari"], MINARI, env={**env, "STORAGE_EMULATOR_HOST": near.base})
    assert "D4RL/door/human-v2" in found and episodes
    assert clients.python("minari-0.5.4", ["minari"], MINARI, env={**env, "STORAGE_EMULATOR_HOST": front.base}) == [[], 0]
    near.close()
    clients.sends("minari over gcp", near.seen | front.seen, {"nothing"})


GOOGLE = """
import hashlib
from google.cloud import storage
from google.oauth2.credentials import Credentials
import gcsfs
who, name = Credentials(token=sys.argv[1]), sys.argv[2]
client = storage.Client(project="none", credentials=who)
names = [b.name for b in client.list_blobs("minari-datasets", page_size=7)]
data = client.bucket("minari-datasets").blob(name).download_as_bytes()
fs = gcsfs.GCSFileSystem(project="none", token=who)
with fs.open("minari-datasets/" + name) as f:
    f.seek(1)
    part = f.read(3).decode()
print(json.dumps([names, hashlib.sha256(data).hexdigest(), part, sorted(fs.find("minari-datasets")) == sorted("minari-datasets/" + n for n in names)]))
"""


def test_google_cloud_storage_and_gcsfs(private, front, clients):
    got = clients.python("readers", ["google-cloud-storage", "gcsfs"], GOOGLE, private.token, NAME, env={"STORAGE_EMULATOR_HOST": front.base} | GCSFS)
    assert set(private.lab.names) <= set(got[0]) and got[1:] == [hashlib.sha256(private.lab.bytes(NAME)).hexdigest(), "HDF", True]
    clients.sends("google-cloud-storage, gcsfs", front.seen, {"Bearer"})


def test_obstore_polars_and_cloudpathlib(private, front, clients):
    got = clients.python("objects", ["obstore", "polars", "cloudpathlib"], """
import hashlib, obstore, polars
from cloudpathlib import GSClient
from google.cloud import storage
from google.oauth2.credentials import Credentials
from obstore.store import GCSStore
base, token, own, name = sys.argv[1:]
store = GCSStore("minari-datasets", config={"google_base_url": base}, client_options={"allow_http": True}, credential_provider=lambda: {"token": token, "expires_at": None})
whole = bytes(obstore.get(store, name).bytes())
frame = polars.scan_parquet(f"gs://minari-datasets/{own}/parquet/*.parquet", storage_options={"google_base_url": base}, credential_provider=lambda: ({"bearer_token": token}, None))
client = GSClient(storage_client=storage.Client(project="none", credentials=Credentials(token=token)), local_cache_dir="cache")
read = client.CloudPath("gs://minari-datasets/" + name).read_bytes()
print(json.dumps([hashlib.sha256(whole).hexdigest(), frame.select("a").sum().collect().item(), whole == read]))
""", front.base, private.token, OWN, NAME, env={"STORAGE_EMULATOR_HOST": front.base})
    assert got == [hashlib.sha256(private.lab.bytes(NAME)).hexdigest(), sum(private.table["a"]), True]
    clients.sends("obstore, polars, cloudpathlib", front.seen, {"Bearer"})


def test_rclone_by_a_bucket(private, front, clients, tmp_path):
    """By `access_token` where it has that (since 1.69), else by the `token` that its login would have kept."""
    env = {"RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_HUB_TYPE": "google cloud storage", "RCLONE_CONFIG_HUB_ENDPOINT": front.base + "/storage/v1/", "RCLONE_CONFIG_HUB_NO_CHECK_BUCKET": "true"}
    if "--gcs-access-token" in clients.program("rclone", "help", "backend", "gcs", version=("version",), env={"RCLONE_CONFIG": "/dev/null"}):
        how, env["RCLONE_CONFIG_HUB_ACCESS_TOKEN"] = "access_token", private.token
    else:
        how, env["RCLONE_CONFIG_HUB_TOKEN"] = "token, as this release has no access_token", json.dumps({"access_token": private.token, "token_type": "Bearer", "expiry": "2100-01-01T00:00:00Z"})
    clients.program("rclone", "copy", f"hub:{BUCKET}/{OWN}", str(tmp_path / "copy"), version=("version",), env=env)
    assert private.own_equal(tmp_path / "copy") > 20
    clients.sends(f"rclone gcs (by {how})", front.seen, {"Bearer"})


# ---- by Hugging Face's ----


def test_minari_over_hf(private, front, clients, tmp_path):
    env = where(front.base, tmp_path) | {"MINARI_REMOTE": "hf://farama-minari", "MINARI_DATASETS_PATH": str(tmp_path / "sets")}
    found, episodes = clients.python("minari-0.5.4", ["minari", "huggingface_hub"], MINARI, env={**env, "HF_TOKEN": private.token})
    assert "D4RL/door/human-v2" in found and episodes
    clients.sends("minari over hf", front.seen, {"Bearer"})
    assert clients.python("minari-0.5.4", ["minari"], MINARI, env={**env, "HF_HOME": str(tmp_path / "other"), "MINARI_DATASETS_PATH": str(tmp_path / "none")}) == [[], 0]


def test_hf_signs_in(private, front, clients, tmp_path):
    """`hf auth login --token` keeps it; from then on its commands send it."""
    hf = os.path.join(CLIENTS, "minari-0.5.4", "bin", "hf")
    env = where(front.base, tmp_path)
    clients.run(hf, "auth", "login", "--token", private.token, env=env)
    assert "reader" in clients.run(hf, "auth", "whoami", env=env)
    clients.run(hf, "download", "lab/arm-v21", "--repo-type", "dataset", "--local-dir", str(tmp_path / "all"), env=env)
    shutil.rmtree(tmp_path / "all" / ".cache", ignore_errors=True)
    private.lab.files_equal(tmp_path / "all", "lab/arm-v21/")
    clients.sends("hf auth login", front.seen, {"Bearer", "nothing"})  # nothing where it asks for /api/agent-harnesses
    clients.run(hf, "auth", "logout", env=env)
    clients.run(hf, "download", "lab/arm-v21", "--repo-type", "dataset", "--local-dir", str(tmp_path / "none"), env=env, code=1)


def test_datasets(private, front, clients, tmp_path):
    got = clients.python("minari-0.5.3", ["datasets", "huggingface_hub"], """
import datasets
rows = datasets.load_dataset("lab/arm-v21", data_files="data/*/*.parquet", split="train")
print(json.dumps([rows.num_rows, len(list(datasets.load_dataset("lab/arm-v21", data_files="data/*/*.parquet", split="train", streaming=True)))]))
""", env=where(front.base, tmp_path) | {"HF_TOKEN": private.token})
    steps = private.hub.get("/api/v1/datasets/lab/arm-v21", bearer(private.token)).json()["steps"]
    assert got == [steps, steps]
    clients.sends("datasets", front.seen, {"Bearer"})


# ---- programs ----


def test_rclone_by_addresses(private, front, clients, tmp_path):
    env = {"RCLONE_CONFIG": "/dev/null", "RCLONE_CONFIG_WEB_TYPE": "http", "RCLONE_CONFIG_WEB_URL": f"{front.base.replace('//', f'//any:{private.token}@')}/{BUCKET}/{OWN}/"}
    clients.program("rclone", "copy", "web:", str(tmp_path / "copy"), version=("version",), env=env)
    assert private.own_equal(tmp_path / "copy") > 20
    clients.sends("rclone http", front.seen, {"Basic"})


@pytest.mark.parametrize("at", [NATIVE, f"/{BUCKET}/{NAME}", f"/datasets/{OWN}/door-human-v0/resolve/main/data/main_data.hdf5"], ids=["native", "bucket", "hf"])
def test_curl_wget_and_aria2(private, front, clients, tmp_path, at):
    data, token, to = private.lab.bytes(NAME), private.token, tmp_path / "x"
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login any password {token}\n")
    challenged = [] if at == NATIVE else ["--auth-no-challenge"]  # buckets say 404 to who sends nothing; Hugging Face's clients go by other headers
    ways = {"curl -u": ("curl", "-sSf", "-u", f"any:{token}", "-o", "x"), "curl --netrc": ("curl", "-sSf", "--netrc", "-o", "x"), "curl -H": ("curl", "-sSf", "-H", f"Authorization: Bearer {token}", "-o", "x"),
            "wget --user": ("wget", "-q", *challenged, "--user", "any", "--password", token, "-O", "x"), "wget --header": ("wget", "-q", "--no-netrc", "--header", f"Authorization: Bearer {token}", "-O", "x"),
            "aria2": ("aria2c", "-q", "--no-conf", "-n", "-x", "4", "-k", "1M", "--http-user", "any", "--http-passwd", token, "-o", "x"),
            "aria2 --header": ("aria2c", "-q", "--no-conf", "-n", "--header", f"Authorization: Bearer {token}", "-o", "x")}
    for name, words in ways.items():
        front.seen.clear()
        clients.program(*words, front.base + at)
        assert to.read_bytes() == data, name
        to.unlink()
        clients.sends(name, front.seen, {"Bearer"} if "-H" in name or "header" in name else {"Basic"} | ({"nothing"} if name == "wget --user" and not challenged else set()))
    clients.program("curl", "-sf", front.base + at, code=22)


def test_wget_takes_a_folder(private, front, clients, tmp_path):
    to = str(tmp_path / "copy")
    clients.program("wget", "-q", "-r", "-np", "-nH", "--cut-dirs=2", "-R", "index.html*", "--auth-no-challenge", "--user", "any", "--password", private.token, "-P", to, f"{front.base}/{BUCKET}/{OWN}/shards/")
    assert sorted(os.listdir(os.path.join(to, "shards"))) == sorted(os.path.basename(n) for n in private.lab.names if n.startswith(f"{OWN}/shards/"))
    clients.sends("wget -r", front.seen, {"Basic"})


# ---- readers ----


def test_fsspec_h5py_and_pyarrow(private, front, clients):
    got = clients.python("readers", ["fsspec", "h5py", "pyarrow"], DIGEST + """
import fsspec, os, pyarrow.parquet as pq
more = {"client_kwargs": {"headers": {"Authorization": "Bearer " + sys.argv[3]}}}
with fsspec.open(sys.argv[1], "rb", block_size=65536, **more) as f:
    found = digest(h5py.File(f))
with fsspec.open(sys.argv[2], "rb", **more) as f:
    total = sum(pq.read_table(f, columns=["a"]).column("a").to_pylist())
print(json.dumps([found, total]), flush=True)
os._exit(0)  # Arrow and Python end each other's threads badly
""", front.base + NATIVE, front.base + PARQUET, private.token)
    assert got == [local_digest(clients, private.lab, NAME), sum(private.table["a"])]
    clients.sends("fsspec, h5py, pyarrow", front.seen, {"Bearer"})


def test_node(private, front, clients):
    got = clients.node(["hyparquet", "@google-cloud/storage", "@huggingface/hub"], "tokens.mjs", front.base, private.token, OWN)
    below = [n for n in private.lab.names if n.startswith(f"{ID}/")]
    assert got == {"sum": sum(private.table["a"]), "names": below, "sha256": hashlib.sha256(private.lab.bytes(NAME)).hexdigest(), "files": sorted(n.removeprefix(ID + "/") for n in below)}
    clients.sends("hyparquet, @google-cloud/storage, @huggingface/hub (by its fetch: accessToken must begin with hf_)", front.seen, {"Bearer"})


# ---- what takes an address alone: signed links ----


def link(private, front, path, **more):
    return front.base + signed(private.hub, private.token, path, **more)


def test_ffmpeg(private, front, clients):
    script = """
import hashlib, imageio_ffmpeg, subprocess
out = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *sys.argv[2:], "-ss", "40", "-i", sys.argv[1], "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True)
assert not out.stderr, out.stderr
print(json.dumps([len(out.stdout), hashlib.sha256(out.stdout).hexdigest()]))
"""
    film = f"/api/v1/datasets/{OWN}/film/files/film.mp4"
    local = clients.python("readers", ["imageio-ffmpeg"], script, private.lab.path(f"{OWN}/film/film.mp4"))
    assert clients.python("readers", ["imageio-ffmpeg"], script, link(private, front, film)) == local
    clients.sends("ffmpeg", front.seen, {"a signed link"})
    front.seen.clear()
    assert clients.python("readers", ["imageio-ffmpeg"], script, front.base + film, "-headers", f"Authorization: Bearer {private.token}\r\n") == local
    clients.sends("ffmpeg -headers", front.seen, {"Bearer"})


def test_duckdb_and_pandas(private, front, clients):
    url = link(private, front, PARQUET)
    got = clients.python("readers", ["duckdb"], """
import duckdb, duckdb_extension_httpfs, glob, os
db = duckdb.connect()
(at,) = glob.glob(os.path.dirname(duckdb_extension_httpfs.__file__) + "/extensions/*/httpfs.duckdb_extension")
db.execute(f"LOAD '{at}'")
print(json.dumps(list(db.execute(f"SELECT sum(a)::BIGINT, count(*) FROM read_parquet('{sys.argv[1]}')").fetchone())))
""", url)
    assert got == [sum(private.table["a"]), len(private.table["a"])]
    assert clients.run(sys.executable, "-c", "import pandas, sys; print(pandas.read_parquet(sys.argv[1])['a'].sum())", url).strip() == str(sum(private.table["a"]))
    clients.sends("duckdb, pandas", front.seen, {"a signed link"})


def test_webdataset(private, front, clients):
    """All shards by one address, of a link for all that is below it."""
    base, _, query = link(private, front, f"/api/v1/datasets/{OWN}/shards/files/").partition("?")
    got = clients.python("readers", ["webdataset"], """
import hashlib, webdataset as wds
print(json.dumps([[s["__key__"], hashlib.sha256(s["bin"]).hexdigest(), s["cls"].decode()] for s in wds.WebDataset(sys.argv[1], shardshuffle=False)]))
""", f"{base}part-{{000008..000012}}.tar?{query}")
    assert got == private.samples
    clients.sends("webdataset", front.seen, {"a signed link"})


# ---- our own ----


class Options(ctypes.Structure):  # as far as it is needed: `size` says so
    _fields_ = [("size", ctypes.c_size_t), ("base_url", ctypes.c_char_p), ("token", ctypes.c_char_p)]


class TableQuery(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("columns", ctypes.c_char_p), ("where", ctypes.c_char_p)]


def test_libminari(private, front, clients):
    lib = ctypes.CDLL(os.path.join(BIN, "..", "client", "libminari.so"))
    query, buffer, size = TableQuery(ctypes.sizeof(TableQuery), b"number,steps"), ctypes.create_string_buffer(1 << 20), ctypes.c_size_t()
    read = []
    for token in (private.token.encode(), None, private.token[:-1].encode()):
        client, options = ctypes.c_void_p(), Options(ctypes.sizeof(Options), front.base.encode(), token)
        assert lib.minari_client_new(ctypes.byref(options), ctypes.byref(client), None) == 0
        read.append((lib.minari_episode_table_read(client, ID.encode(), ctypes.byref(query), buffer, ctypes.c_size_t(len(buffer)), ctypes.byref(size), None), buffer.raw[:size.value]))
        lib.minari_client_free(client)
        if token == private.token.encode():
            clients.sends("libminari", front.seen, {"Bearer"})
    assert read[0] == (0, private.hub.get(f"/api/v1/datasets/{ID}/episodes?columns=number,steps&format=npz", bearer(private.token)).body)
    assert read[1][0] == read[2][0] != 0


def test_minari_cli(private, front, clients, tmp_path):
    program = os.path.abspath(os.path.join(BIN, "minari-cli"))
    clients.run(program, "download", "D4RL/door/human-v2", "--remote", front.base, env={"MINARI_HUB_TOKEN": private.token, "MINARI_DATASETS_PATH": str(tmp_path / "sets")})
    assert (tmp_path / "sets/D4RL/door/human-v2/data/main_data.hdf5").read_bytes() == private.lab.bytes("D4RL/door/human-v2/data/main_data.hdf5")
    clients.sends("minari-cli", front.seen, {"Bearer"})
