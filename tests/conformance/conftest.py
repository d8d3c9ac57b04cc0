"""A hub over a small lab, and clients that run in processes of their own with nothing set but what their manuals name."""
import json
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
sys.path.insert(0, HERE)
from hub import FIXTURES, serving

CLIENTS = os.environ.get("HUB_CLIENTS", os.path.join(HERE, "..", "..", "build", "conformance"))


def pytest_configure(config):
    config.versions = {}


def pytest_terminal_summary(terminalreporter, config):
    for name, version in sorted(config.versions.items()):
        terminalreporter.write_line(f"client  {name} {version}")


class Clients:
    """Runs them, and keeps which versions they were."""

    def __init__(self, versions, folder):
        self.versions, self.folder = versions, str(folder)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("HUB_", "HF_", "PYTHON")) and k not in ("STORAGE_EMULATOR_HOST", "NODE_PATH")}
        self.env |= {"HOME": self.folder, "TMPDIR": self.folder}

    def run(self, *command, env={}, code=0, timeout=120):
        done = subprocess.run(command, env={**self.env, **env}, cwd=self.folder, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == code, f"{' '.join(command)[:2000]}\n-> {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}"
        return done.stdout

    def program(self, name, *args, version=("--version",), **more):
        """One of the system's; `version` asks for its version."""
        path = shutil.which(name)
        assert path, f"{name} is not installed here: tests/conformance/run.sh installs it"
        if name not in self.versions:
            said = subprocess.run([path, *version], capture_output=True, text=True).stdout.split("\n")[0]
            self.versions[name] = next((w.strip("v,") for w in said.split() if w.strip("v,")[:1].isdigit()), said)
        return self.run(path, *args, **more)

    def python(self, venv, packages, script, *args, **more):
        """Runs a script in an environment of requirements/; its last line is JSON."""
        path = os.path.join(CLIENTS, venv, "bin", "python")
        assert os.path.exists(os.path.join(CLIENTS, venv, "installed.txt")), f"{', '.join(packages)} could not be installed: tests/conformance/run.sh says why"
        head = f"import importlib.metadata as m, json, sys; print(json.dumps({{p: m.version(p) for p in {packages!r}}}))\n"
        out = self.run(path, "-c", head + script, *args, **more).splitlines()
        self.versions.update(json.loads(out[0]))
        return json.loads(out[-1])

    def node(self, packages, script, *args, **more):
        """Runs a module of tests/conformance/node; its last line is JSON."""
        assert os.path.exists(os.path.join(CLIENTS, "installed.json")), f"{', '.join(packages)} could not be installed: tests/conformance/run.sh says why"
        for name in packages:
            self.versions[name] = json.load(open(os.path.join(CLIENTS, "node_modules", name, "package.json")))["version"]
        at = os.path.join(CLIENTS, script)  # where import looks for node_modules
        shutil.copyfile(os.path.join(HERE, "node", script), at)
        return json.loads(self.program("node", at, *args, **more).splitlines()[-1])


@pytest.fixture
def clients(request, tmp_path):
    return Clients(request.config.versions, tmp_path)


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


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """Files of several formats, some with names that have to be quoted. Without metadata of namespaces: there the protocols say more
    than the disk."""
    root = str(tmp_path_factory.mktemp("lab"))
    for kind, name in [("samples", "door-human-v0"), ("webdataset", "ilr-across"), ("robomimic", ""), ("parquet", "")]:
        shutil.copytree(os.path.join(FIXTURES, kind, name), os.path.join(root, kind if not name else name), dirs_exist_ok=True)
    for name in ("notes/a b+c%20.bin", "notes/sub folder/#?&=;:.bin", "notes/ü<&>'.txt"):
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        open(os.path.join(root, name), "wb").write(os.urandom(70000))
    return Lab(root)


@pytest.fixture(scope="session")
def hub(lab):
    with serving(lab.root) as hub:
        hub.checker = None
        yield hub
