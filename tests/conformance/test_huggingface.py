"""huggingface_hub of four releases and `datasets`: what they list, bring and keep is what lies on the disk."""
import os
import shutil
import socket
import threading

import pytest

from conftest import CLIENTS, Lab
from hub import FIXTURES, serving

REPOS = ("arm-v21", "camera-v30")

BRING = """
import os
import huggingface_hub as h
repo, folder = sys.argv[1:3]
kw = dict(repo_type="dataset")
api = h.HfApi()
out = {"files": sorted(api.list_repo_files(repo, **kw)), "repos": sorted(d.id for d in api.list_datasets(author="lab"))}
out["searched"] = [d.id for d in api.list_datasets(search="camera")]
out["tags"] = [t.name for t in api.list_repo_refs(repo, **kw).tags]
out["tree"] = sorted(x.path for x in api.list_repo_tree(repo, recursive=True, **kw) if hasattr(x, "size"))
out["some"] = h.snapshot_download(repo, allow_patterns=["meta/*"], ignore_patterns=["*.jsonl"], local_dir=os.path.join(folder, "some"), **kw)
out["whole"] = h.snapshot_download(repo, **kw)
out["one"] = h.hf_hub_download(repo, "meta/info.json", revision=out["tags"][0], **kw)
fs = h.HfFileSystem()
name = f"datasets/{repo}/meta/info.json"
out["glob"] = sorted(fs.glob(f"datasets/{repo}/**/*.json"))
with fs.open(name, "rb", block_size=1024) as f:
    f.seek(-20, 2)
    out["tail"] = f.read().decode()
print(json.dumps(out))
"""

OFFLINE = """
import huggingface_hub as h
print(json.dumps(h.snapshot_download(sys.argv[1], repo_type="dataset")))
"""

VERSIONS = [("minari-0.5.1", "0.27"), ("minari-0.5.3", "0.36"), ("huggingface-1", "1"), ("minari-0.5.4", "2")]


@pytest.fixture(scope="module")
def repos(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("repos"))
    for name in REPOS:
        shutil.copytree(os.path.join(FIXTURES, "lerobot", name), os.path.join(root, "lab", name))
    shutil.copytree(os.path.join(root, "lab", REPOS[0]), os.path.join(root, "far", "large"))
    open(os.path.join(root, "far", "large", "weights.bin"), "wb").write(os.urandom(30_000_000))
    with serving(root) as hub:
        hub.checker = None
        yield Lab(root), hub


def where(base, folder):
    return {"HF_ENDPOINT": base, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


@pytest.mark.parametrize("venv", [v for v, _ in VERSIONS], ids=[i for _, i in VERSIONS])
def test_a_repository(repos, clients, tmp_path, venv):
    lab, hub = repos
    for name, tag in zip(REPOS, ("v2.1", "v3.0")):
        files = [n.removeprefix(f"lab/{name}/") for n in lab.names if n.startswith(f"lab/{name}/")]
        out = clients.python(venv, ["huggingface_hub"], BRING, f"lab/{name}", str(tmp_path / name), env=where(hub.base, tmp_path))
        assert out["files"] == out["tree"] == files and out["tags"] == [tag]
        assert out["repos"] == [f"lab/{r}" for r in REPOS] and out["searched"] == ["lab/camera-v30"]
        lab.files_equal(out["whole"], f"lab/{name}/")
        some = sorted(os.path.relpath(os.path.join(at, f), out["some"]) for at, _, fs in os.walk(out["some"]) for f in fs)
        assert [f for f in some if not f.startswith(".cache")] == [f for f in files if f.startswith("meta/") and not f.endswith(".jsonl")]
        info = lab.bytes(f"lab/{name}/meta/info.json")
        assert open(out["one"], "rb").read() == info and out["tail"] == info[-20:].decode()
        assert out["glob"] == sorted(f"datasets/lab/{name}/{f}" for f in files if f.endswith(".json"))
        again = clients.python(venv, ["huggingface_hub"], OFFLINE, f"lab/{name}", env=where("http://127.0.0.1:9", tmp_path) | {"HF_HUB_OFFLINE": "1"})
        assert again == out["whole"]


@pytest.mark.parametrize("venv, command", [("minari-0.5.1", "huggingface-cli"), ("minari-0.5.3", "hf"), ("huggingface-1", "hf"), ("minari-0.5.4", "hf")], ids=[i for _, i in VERSIONS])
def test_its_command(repos, clients, tmp_path, venv, command):
    lab, hub = repos
    program = os.path.join(CLIENTS, venv, "bin", command)
    clients.run(program, "download", "lab/arm-v21", "--repo-type", "dataset", "--local-dir", str(tmp_path / "all"), env=where(hub.base, tmp_path))
    shutil.rmtree(tmp_path / "all" / ".cache", ignore_errors=True)
    lab.files_equal(tmp_path / "all", "lab/arm-v21/")


AGAIN = """
import huggingface_hub as h
for left in (3, 2, 1, 0):  # as a user would, where it does not try again by itself
    try:
        print(json.dumps(h.snapshot_download("far/large", repo_type="dataset")))
        break
    except Exception:
        assert left
"""


class Cutting:
    """Passes connections on to a port; of those that bring more than `size` bytes the first `times` end there."""

    def __init__(self, port, size, times):
        self.port, self.size, self.left, self.cuts, self.brought = port, size, times, 0, 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            threading.Thread(target=self.pump, args=(client, far, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(far, client, True), daemon=True).start()

    def pump(self, source, to, counted):
        sent = 0
        try:
            while data := source.recv(65536):
                to.sendall(data)
                sent += len(data)
                self.brought += len(data) if counted else 0
                if counted and sent > self.size and self.left:
                    self.left, self.cuts = self.left - 1, self.cuts + 1
                    break
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.mark.parametrize("venv", [v for v, _ in VERSIONS], ids=[i for _, i in VERSIONS])
def test_going_on_after_a_cut(repos, clients, tmp_path, venv):
    lab, hub = repos
    proxy = Cutting(hub.port, 15_000_000, 2)
    out = clients.python(venv, ["huggingface_hub"], AGAIN, env=where(proxy.base, tmp_path))
    proxy.server.close()
    assert proxy.cuts == 2 and proxy.brought < 45_000_000  # 10 MB, which it writes at once, are not fetched again; 60 otherwise
    lab.files_equal(out, "far/large/")


DATASETS = """
import datasets
repo, tar = sys.argv[1:3]
tables = "data/*/*.parquet"  # as the cards of LeRobot's sets say
rows = datasets.load_dataset(repo, data_files=tables, split="train")
first = next(iter(datasets.load_dataset(repo, data_files=tables, split="train", streaming=True)))
shards = datasets.load_dataset("webdataset", data_files={"train": [tar]}, split="train", streaming=True)
keys = [s["__key__"] for s in shards]
plain = lambda row: {k: (v if isinstance(v, (int, float, str, list, type(None))) else str(v)) for k, v in row.items()}
print(json.dumps({"rows": rows.num_rows, "columns": rows.column_names, "same": plain(rows[0]) == plain(first), "index": rows["index"][:] if "index" in rows.column_names else None, "keys": keys}))
"""


def test_datasets(repos, hub, clients, tmp_path):
    lab, repos_hub = repos
    tar = hub.base + "/api/v1/datasets/shards/files/part-000008.tar"
    out = clients.python("minari-0.5.3", ["datasets"], DATASETS, "lab/arm-v21", tar, env=where(repos_hub.base, tmp_path))
    assert out["rows"] == repos_hub.dataset("lab/arm-v21")["steps"] and out["index"] == list(range(out["rows"])) and out["same"]
    assert out["keys"] == ["008-0", "008-1", "008-2"]
