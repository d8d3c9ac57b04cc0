"""Who pushes here, what they sent, and what has to be there afterwards: for the tests of pushes."""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

from carriers import Front
from conftest import CLIENTS, FIXTURES, HERE, Lab
from hub import PATIENCE, Hub, serving, until
from test_access_twins import run

ARM = os.path.join(FIXTURES, "lerobot", "arm-v30")
NAMES = {  # of huggingface_hub -> its environment, and whether it may use hf_xet
    "0.27": ("minari-0.5.1", False), "0.36": ("minari-0.5.3", True), "1.0": ("huggingface-1.0", True), "1.19": ("huggingface-1.19", True),
    "1.20": ("huggingface-1.20", True), "1.20 without Xet": ("huggingface-1.20", False), "1.33": ("huggingface-1", True),
    "1.33 without Xet": ("huggingface-1", False), "2.4": ("minari-0.5.4", True), "2.4 without Xet": ("minari-0.5.4", False)}
GATE = ("0.36", "2.4", "2.4 without Xet")
ACTIONS = re.findall(r"(?m)^def (\w+)\(repo, folder\)", pathlib.Path(HERE, "actions.py").read_text())[1:]  # the first one begins others
BY_XET = {"1.20", "1.33", "2.4"}  # since 1.20 a client decides that alone


class PushedHub(Hub):
    """A hub of one root, where `token` may write below some prefixes; it keeps count of requests."""

    def __init__(self, folder, *args, prefix=("lab/",)):
        self.root, state = folder / "root", folder / "state"
        self.root.mkdir(parents=True)
        state.mkdir(mode=0o700)
        self.token = run(str(state), "token", "add", "ann", *(word for p in prefix for word in ("--write", p)))
        super().__init__([str(self.root)], state=str(state), args=("--log-format", "json", *args))

    def __enter__(self):
        self.wait_ready()
        self.checker = None
        return self

    def requests(self):
        """How many by route, of those that push and those that read by Hugging Face's protocol."""
        lines = (json.loads(line) for line in self.text_log().splitlines() if line.startswith("{"))
        return collections.Counter(f"{line['method']} {line['route']}" for line in lines if line.get("route", "").startswith(("hf", "xet")))

    @contextlib.contextmanager
    def counting(self, row):
        """What was sent meanwhile, in a row of the table."""
        before = self.requests()
        yield
        sent = self.requests() - before
        row[2] = ", ".join(f"{count} {name}" for name, count in sorted(sent.items())) or "nothing"


def env_of(hub, folder, name="2.4", base=None, **more):
    _, xet = NAMES[name]
    return {"HF_ENDPOINT": base or hub.base, "HF_TOKEN": hub.token, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1", **({} if xet else {"HF_HUB_DISABLE_XET": "1"}), **more}


def python_of(name, program="python"):
    path = os.path.join(CLIENTS, NAMES.get(name, [name])[0], "bin", program)
    assert os.path.exists(os.path.join(CLIENTS, NAMES.get(name, [name])[0], "installed.txt")), f"{name} could not be installed: tests/conformance/run.sh says why"
    return path


def clean_env(folder):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HUB_", "HF_", "PYTHON")) and k not in ("STORAGE_EMULATOR_HOST", "NODE_PATH")}
    nowhere = "http://127.0.0.1:9"  # where others than the hub are asked
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "HTTPS_PROXY": nowhere, "https_proxy": nowhere}


class Driver:
    """A client that does actions.py, one order after another."""

    def __init__(self, name, hub, folder):
        self.name, self.folder = name, folder
        self.errors = open(folder / "errors", "wb+")
        self.process = subprocess.Popen([python_of(name), os.path.join(HERE, "actions.py")], env={**clean_env(folder), **env_of(hub, folder, name)}, cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def do(self, action, repo, folder):
        timer = threading.Timer(4 * PATIENCE, self.process.kill)
        timer.start()
        order = {"action": action, "repo": repo, "folder": str(folder), "cache": str(self.folder / "cache" / action)}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = next((line for line in self.process.stdout if line.startswith("answer ")), None)
        timer.cancel()
        assert line, f"{self.name} ended in {action}: {(self.folder / 'errors').read_text()[-3000:]}"
        return json.loads(line.removeprefix("answer "))

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.errors.close()


def is_ready(hub, id):
    until(lambda: hub.statuses().get(id) == "ready")


def rows(hub, id):
    count = hub.dataset(id)["episodes"]
    return [hub.get(f"/api/v1/datasets/{id}/episodes/{n}?fields=action").json() for n in range(count)]


@pytest.fixture(scope="session")
def source():
    """Rows of what is pushed, as a hub over the folder itself has them."""
    with serving(os.path.dirname(ARM)) as hub:
        return rows(hub, "arm-v30")


def check_action(driver, action, hub, source, tmp_path, table):
    """The repo, what its client brings back and the rows of the hub are those of the folder."""
    repo = f"lab/{driver.name.replace(' ', '-')}-{action}"
    folder = shutil.copytree(ARM, tmp_path / "folder")
    (folder / "notes").mkdir()
    (folder / "notes" / "own.bin").write_bytes(os.urandom(200000))
    row = [driver.name, action, "", "FAILED"]
    table.append(row)
    with hub.counting(row):
        done = driver.do(action, repo, folder)
    assert not done["error"], done["error"]
    if "brought" not in done:
        row[3] = done["note"]
        return
    Lab(str(folder)).files_equal(done["brought"])
    is_ready(hub, repo)
    until(lambda: rows(hub, repo) == source)
    assert ("POST xet" in row[2]) == (driver.name in BY_XET), row  # an open file goes by LFS anyway
    row[3] = "as the source" + (f", {done['note']}" if done["note"] else "")


class Meter(Front):
    """Passes connections on, and counts what clients send; what exceeds `limit` waits until `free` is set."""

    def __init__(self, port):
        self.sent, self.limit = 0, None
        self.full, self.free, self.pumps = threading.Event(), threading.Event(), set()
        super().__init__(port)

    def pump(self, source, to, is_asking):
        self.pumps.add(threading.get_ident())
        super().pump(source, to, is_asking)
        self.pumps.discard(threading.get_ident())

    def idle(self):
        return not self.pumps

    def read(self, data):
        self.sent += len(data)
        if self.limit and self.sent > self.limit:
            self.full.set()
            self.free.wait(PATIENCE)
        return b""
