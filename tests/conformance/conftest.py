"""A hub over a small lab, and clients that run in processes of their own with nothing set but what their manuals name."""
import fractions
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

import av
import h5py
import hdf5plugin
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "integration"), os.path.join(HERE, "..", "support")]
sys.path.insert(0, HERE)
from hub import FIXTURES, serving

CLIENTS = os.environ.get("HUB_CLIENTS", os.path.join(HERE, "..", "..", "build", "conformance"))


def pytest_configure(config):
    config.versions, config.sent, config.pushes = {}, {}, []


def pytest_terminal_summary(terminalreporter, config):
    for name, versions in sorted(config.versions.items()):
        terminalreporter.write_line(f"client  {name} {', '.join(sorted(versions))}")
    for name, kinds in sorted(config.sent.items()):
        terminalreporter.write_line(f"client  {name} sends {', '.join(sorted(kinds))}")
    for client, action, sent, came in config.pushes:
        terminalreporter.write_line(f"push  {client:18} {action:20} {came}; sent {sent}")


class Clients:
    """Runs them, and keeps which versions they were, and how they said who asks."""

    def __init__(self, config, folder):
        self.versions, self.sent, self.folder = config.versions, config.sent, str(folder)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("HUB_", "HF_", "PYTHON")) and k not in ("STORAGE_EMULATOR_HOST", "NODE_PATH")}
        self.env |= {"HOME": self.folder, "TMPDIR": self.folder}

    def run(self, *command, env={}, code=0, timeout=120):
        done = subprocess.run(command, env={**self.env, **env}, cwd=self.folder, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == code, f"{' '.join(command)[:2000]}\n-> {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}"
        return done.stdout

    def sends(self, name, seen, wanted):
        assert seen == wanted, f"{name} sends {seen}"
        self.sent.setdefault(name, set()).update(seen)

    def program(self, name, *args, version=("--version",), **more):
        """One of the system's; `version` asks for its version."""
        path = shutil.which(name)
        assert path, f"{name} is not installed here: tests/conformance/run.sh installs it"
        if name not in self.versions:
            said = subprocess.run([path, *version], capture_output=True, text=True).stdout.split("\n")[0]
            self.versions[name] = {next((w.strip("v,") for w in said.split() if w.strip("v,")[:1].isdigit()), said)}
        return self.run(path, *args, **more)

    def python(self, venv, packages, script, *args, **more):
        """Runs a script in an environment of requirements/; its last line is JSON."""
        path = os.path.join(CLIENTS, venv, "bin", "python")
        assert os.path.exists(os.path.join(CLIENTS, venv, "installed.txt")), f"{', '.join(packages)} could not be installed: tests/conformance/run.sh says why"
        head = f"import importlib.metadata as m, json, sys; print(json.dumps({{p: m.version(p) for p in {packages!r}}}))\n"
        out = self.run(path, "-c", head + script, *args, **more).splitlines()
        for name, version in json.loads(out[0]).items():
            self.versions.setdefault(name, set()).add(version)
        return json.loads(out[-1])

    def node(self, packages, script, *args, **more):
        """Runs a module of tests/conformance/node; its last line is JSON."""
        assert os.path.exists(os.path.join(CLIENTS, "node_modules")), f"{', '.join(packages)} could not be installed: tests/conformance/run.sh says why"
        for name in packages:
            self.versions[name] = {json.load(open(os.path.join(CLIENTS, "node_modules", name, "package.json")))["version"]}
        at = os.path.join(CLIENTS, script)  # where import looks for node_modules
        shutil.copyfile(os.path.join(HERE, "node", script), at)
        return json.loads(self.program("node", at, *args, **more).splitlines()[-1])


@pytest.fixture
def clients(request, tmp_path):
    return Clients(request.config, tmp_path)


class Lab:
    def __init__(self, root):
        self.root = root
        self.names = sorted(os.path.relpath(os.path.join(at, f), root) for at, _, files in os.walk(root) for f in files)

    def path(self, name):
        return os.path.join(self.root, name)

    def bytes(self, name):
        return open(self.path(name), "rb").read()

    def files_equal(self, folder, below=""):
        """The same names and bytes, and no others."""
        folder = str(folder)
        wanted = [n for n in self.names if n.startswith(below)]
        got = sorted(os.path.relpath(os.path.join(at, f), folder) for at, _, files in os.walk(folder) for f in files)
        assert got == [n[len(below):] for n in wanted]
        for name in wanted:
            assert open(os.path.join(folder, name[len(below):]), "rb").read() == self.bytes(name), name
        return len(wanted)


def write_zarr(folder, arrays):
    """Version 3 (what version 2 keeps its metadata in are hidden files), a chunk of 4 rows."""
    def put(name, data):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        open(os.path.join(folder, name), "wb").write(data)

    put("zarr.json", json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}}).encode())
    for name, array in arrays.items():
        chunk = [4, *array.shape[1:]]
        put(f"{name}/zarr.json", json.dumps({"zarr_format": 3, "node_type": "array", "shape": array.shape, "data_type": str(array.dtype), "fill_value": 0, "attributes": {},
                                             "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
                                             "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                                             "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}).encode())
        for i in range(0, len(array), 4):
            rows = array[i:i + 4]
            full = np.concatenate([rows, np.zeros((4 - len(rows), *array.shape[1:]), array.dtype)])
            put(f"{name}/c/{i // 4}" + "/0" * (array.ndim - 1), full.tobytes())


def write_shards(folder, first, count):
    """What webdataset is to read of them."""
    os.makedirs(folder)
    samples = []
    for shard in range(first, first + count):
        with tarfile.open(os.path.join(folder, f"part-{shard:06}.tar"), "w") as tar:
            for i in range(3):
                key, data = f"{shard:03}-{i}", os.urandom(5000)
                for kind, body in (("bin", data), ("cls", str(i).encode())):
                    member = tarfile.TarInfo(f"{key}.{kind}")
                    member.size = len(body)
                    tar.addfile(member, io.BytesIO(body))
                samples.append([key, hashlib.sha256(data).hexdigest(), str(i)])
    return samples


def write_film(path, seconds):
    """10 frames a second, the number of each in its colours."""
    os.makedirs(os.path.dirname(path))
    with av.open(path, "w") as film:
        stream = film.add_stream("libx264", rate=10, options={"g": "20"})
        stream.width, stream.height, stream.pix_fmt, stream.time_base = 64, 48, "yuv420p", fractions.Fraction(1, 10)
        noise = np.random.default_rng(3)
        for i in range(seconds * 10):
            picture = np.full((48, 64, 3), i % 256, np.uint8) ^ noise.integers(0, 64, (48, 64, 3), np.uint8)
            film.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        film.mux(stream.encode())


def write_kinds(path, pattern):
    """A dataset of Minari whose episodes hold arrays of many kinds beside their own."""
    os.makedirs(os.path.dirname(path))
    shutil.copyfile(pattern, path)
    random = np.random.default_rng(2)
    with h5py.File(path, "a") as f:
        f.attrs["dataset_id"] = "kinds-v0"
        for i in (0, 1):
            g = f.require_group(f"episode_{i}/infos/kinds")
            n = 23 + i
            real, picture = random.normal(size=(n, 5)), random.integers(0, 256, (n, 6, 4, 3), np.uint8)
            g["contiguous"], g["big"], g["half"], g["flags"] = real, real.astype(">f4"), real.astype("f2"), real > 0
            g["complex"], g["text"] = real[:, 0] + 1j, np.array([f"text {k}" for k in range(n)], "S12")
            g.create_dataset("gzip", data=real, chunks=(7, 2), compression="gzip", shuffle=True, fletcher32=True)
            g.create_dataset("pictures", data=picture, chunks=(4, 6, 3, 3), compression="gzip")
            g.create_dataset("plain", data=picture, chunks=(5, 6, 4, 3))
            g.create_dataset("zstd", data=picture, chunks=(9, 6, 4, 3), **hdf5plugin.Zstd())
            g.create_dataset("blosc", data=np.round(real), chunks=(9, 5), **hdf5plugin.Blosc(cname="zstd", clevel=5))
            g.create_dataset("absent", shape=(n, 3), dtype="i4", chunks=(6, 3))[6:12] = 7
            g.create_dataset("filled", shape=(n, 3), dtype="i4", chunks=(6, 3), fillvalue=9)[6:12] = 7
            g.create_dataset("lzf", data=real, chunks=(9, 5), compression="lzf")


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """Files of several formats, some with names that have to be quoted. Without metadata of namespaces: there the protocols say more
    than the disk."""
    root = str(tmp_path_factory.mktemp("lab"))
    for kind, name in [("samples", "door-human-v0"), ("webdataset", "ilr-across"), ("robomimic", "")]:
        shutil.copytree(os.path.join(FIXTURES, kind, name), os.path.join(root, kind if not name else name), dirs_exist_ok=True)
    for name in ("notes/a b+c%20.bin", "notes/sub folder/#?&=;:.bin", "notes/ü<&>'.txt"):
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        open(os.path.join(root, name), "wb").write(os.urandom(70000))
    random = np.random.default_rng(1)
    table = {"a": random.integers(0, 100, 20000).tolist(), "t": [f"text {i:05}" for i in range(20000)]}
    os.makedirs(os.path.join(root, "parquet"))
    pyarrow.parquet.write_table(pa.table(table), os.path.join(root, "parquet", "values.parquet"), row_group_size=5000)
    arrays = {"action": random.normal(size=(11, 3)), "reward": random.integers(0, 9, 11)}
    write_zarr(os.path.join(root, "stacked.zarr"), arrays)
    samples = write_shards(os.path.join(root, "shards"), 8, 5)
    write_film(os.path.join(root, "film", "film.mp4"), 50)
    write_kinds(os.path.join(root, "kinds-v0", "data", "main_data.hdf5"), os.path.join(root, "door-human-v0", "data", "main_data.hdf5"))
    lab = Lab(root)
    lab.table, lab.zarr, lab.samples = table, arrays, samples
    return lab


@pytest.fixture(scope="session")
def hub(lab):
    with serving(lab.root) as hub:
        hub.checker = None
        yield hub
