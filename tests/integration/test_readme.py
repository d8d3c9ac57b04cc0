"""Every command of README.md that begins with "$ " is run against a hub on the samples, and prints what the README shows
("..." stands for anything)."""
import os
import re
import subprocess
import sys
import types
import urllib.error

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from hub import BIN, FIXTURES, serving, until
from upstream_gcs import Gcs
from upstream_hf import Hf, minari_org

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def examples():
    """(command, expected output) of every console block."""
    with open(os.path.join(TOP, "README.md")) as f:
        blocks = re.findall(r"^```console\n(.*?)^```", f.read(), re.M | re.S)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more.lstrip("> ")
            yield command, output


@pytest.fixture(scope="module")
def hub():
    with serving(os.path.join(FIXTURES, "samples")) as h:
        yield h


@pytest.fixture(scope="module")
def bucket():
    root = os.path.join(FIXTURES, "samples")
    with Gcs("lab-datasets") as gcs:
        for here, _, names in os.walk(os.path.join(root, "D4RL")):
            for name in names:
                with open(os.path.join(here, name), "rb") as f:
                    gcs.put(os.path.relpath(f.name, root), f.read())
        yield gcs


@pytest.fixture(scope="module")
def hf():
    with Hf() as hf:
        for id, files in minari_org("farama-minari", os.path.join(FIXTURES, "samples")).items():
            hf.put(id, files)
        hf.repos["lab/robot"] = hf.repos["farama-minari/door-human-v0"]
        hf.repos["lab/robot"].tags["v2.1"] = hf.repos["lab/robot"].branches["main"]
        hf.large = 1 << 30
        yield hf


def test_there_are_examples():
    assert len(list(examples())) >= 8


@pytest.mark.parametrize("command,output", examples())
def test_command(hub, bucket, hf, tmp_path_factory, command, output):
    home = os.environ.setdefault("HUB_README_HOME", str(tmp_path_factory.mktemp("readme")))
    env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}", "MINARI_HUB_URL": hub.base, "HOME": home,
           "MINARI_DATASETS_PATH": os.path.join(home, "datasets"), "STORAGE_EMULATOR_HOST": bucket.url, "HF_ENDPOINT": hf.url, "COLUMNS": "100", "NO_COLOR": "1"}
    ran = subprocess.run(["sh", "-c", command.replace("http://127.0.0.1:8080", hub.base).replace("http://hub:8080", hub.base)], cwd=home, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout.replace(hub.base, "http://127.0.0.1:8080")
    pattern = ".*?".join(re.escape(piece) for piece in output.rstrip("\n").split("..."))
    assert re.fullmatch(pattern, said.rstrip("\n"), re.S), f"\n--- README\n{output}\n--- printed\n{said}"


def test_curl_takes_a_dataset_along(hub, tmp_path):
    """curl names the tar, goes on with a part of it, and tar installs it, by the commands as they stand in the README."""
    with open(os.path.join(TOP, "README.md")) as f:
        block = next(b for b in re.findall(r"^```sh\n(.*?)^```", f.read(), re.M | re.S) if "archive.tar" in b)
    named, goes_on, unpacked = (line.replace("http://hub:8080", hub.base) for line in block.splitlines()[:3])
    env = {**os.environ, "MINARI_DATASETS_PATH": str(tmp_path)}

    def run(command):
        subprocess.run(["sh", "-ec", command], cwd=tmp_path, env=env, check=True, timeout=60)

    run(named.replace("curl ", "curl -sS "))
    assert os.listdir(tmp_path) == ["human-v2.tar"]
    whole = (tmp_path / "human-v2.tar").read_bytes()
    (tmp_path / "human-v2.tar").write_bytes(whole[:1000])
    until(lambda: hub.get("/api/v1/datasets/D4RL/door/human-v2/archive.tar", {"Range": "bytes=0-0"}).status == 206)  # hashed by now
    run(goes_on.replace("curl ", "curl -sS "))
    assert (tmp_path / "human-v2.tar").read_bytes() == whole
    run(unpacked)
    assert (tmp_path / "D4RL" / "door" / "human-v2" / "data" / "main_data.hdf5").exists()


@pytest.fixture
def torch():
    """Without it its tensors are numpy's arrays."""
    try:
        import torch  # noqa: F401
    except ImportError:
        data = types.SimpleNamespace(IterableDataset=object, get_worker_info=lambda: None)
        sys.modules.update({"torch": types.SimpleNamespace(from_numpy=lambda a: a), "torch.utils": types.SimpleNamespace(), "torch.utils.data": data})


def test_windows_for_torch(hub, torch):
    """The dataset class of the training loop."""
    with open(os.path.join(TOP, "README.md")) as f:
        code = "\n".join(b for b in re.findall(r"^```python\n(.*?)^```", f.read(), re.M | re.S) if "IterableDataset" in b or "def pictures" in b)
    space = {}
    exec(code, space)
    batches = [b for b, _ in zip(space["Windows"]("D4RL/door/human-v2", ["@observation", "@action"], hub=hub.base, length=4, windows=9, pad="edge"), range(3))]
    assert all(tuple(b["actions"].shape[:2]) == (9, 4) == tuple(b["mask"].shape) for b in batches)
    assert len({bytes(b["episode"]) + bytes(b["start"]) for b in batches}) == 3
    spoken = next(iter(space["Windows"]("mission-text-v0", ["@observation"], hub=hub.base, length=2, windows=5, pad="edge")))
    assert spoken["observations/mission"].shape == (5, 2) and any(isinstance(text, str) and text for text in spoken["observations/mission"].ravel())
    seen = next(iter(space["Windows"]("pictures/corridor-v0", ["@observation"], hub=hub.base, length=3, windows=4, pad="edge")))
    images = space["pictures"](seen, "observations")
    assert images.dtype == "uint8" and images.shape[:2] == (4, 3) and images.ndim == 5 and images.std() > 1


def test_windows_wait_for_a_dataset_that_settles(hub, torch):
    """An answer 503 is asked again; any other error ends the epoch."""
    import http.server
    import threading

    answers = [503, 503, 200, 404]

    class Once(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status = answers.pop(0)
            body = hub.get(self.path).body if status == 200 else b"{}"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 503:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    space = {}
    with open(os.path.join(TOP, "README.md")) as f:
        exec(next(b for b in re.findall(r"^```python\n(.*?)^```", f.read(), re.M | re.S) if "IterableDataset" in b), space)
    with http.server.HTTPServer(("127.0.0.1", 0), Once) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        windows = space["Windows"]("door-human-v0", ["@action"], hub=f"http://127.0.0.1:{server.server_port}", length=2, windows=3)
        assert windows.draw(1)["actions"].shape[:2] == (3, 2) and answers == [404]
        with pytest.raises(urllib.error.HTTPError):
            windows.draw(2)
        server.shutdown()


def test_recipes(hub):
    """What stands in the README for people without a client, run as it stands there."""
    with open(os.path.join(TOP, "README.md")) as f:
        recipes = [b for b in re.findall(r"^```python\n(.*?)^```", f.read(), re.M | re.S) if "IterableDataset" not in b and "def pictures" not in b]
    space = {}
    for code in recipes:
        exec(code.replace("http://hub:8080", hub.base), space)
    steps = hub.dataset("D4RL/door/human-v2")["steps"]
    assert list(space["best"]["return"]) == sorted((e["return"] for e in hub.episodes("D4RL/door/human-v2")), reverse=True)
    assert len(space["sets"]) == len(hub.datasets()) and len(space["rows"]) == steps
    known = {e["number"]: e["return"] for e in hub.episodes("D4RL/door/human-v2")}
    assert all(abs(known[n] - total) < 1e-9 for n, total in space["returns"].iter_rows()) and len(space["returns"]) == len(known)
    assert {len(space[name]) for name in ("obs", "acts", "next_obs", "rews", "dones")} == {steps} and space["dones"].sum() == len(known)
