"""hf:// remotes, against a stand-in of Hugging Face that the real huggingface_hub and Python Minari were satisfied with first."""
import hashlib
import os
import random
import subprocess
import sys
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from cli import Cli, tree
from hub import FIXTURES
from upstream_hf import Hf, minari_org

DOOR = "D4RL/door/human-v2"
SAMPLES = os.path.join(FIXTURES, "samples")
rng = random.Random(3)
BIG = rng.randbytes(3_000_000)
ROBOT = {"README.md": b"# a robot", ".gitattributes": b"*", "meta/info.json": b"{}", "data/chunk-000/episode_000000.parquet": BIG, "a b+c/%41.txt": b"odd name"}


@pytest.fixture
def hf():
    with Hf() as hf:
        for id, files in minari_org("farama-minari", SAMPLES).items():
            hf.put(id, files)
        hf.put("lab/robot", ROBOT)
        yield hf


@pytest.fixture
def cli(tmp_path, hf):
    return Cli(tmp_path / "sets", HF_ENDPOINT=hf.url, HOME=str(tmp_path), HF_TOKEN="")


# ---- the stand-in, by the real clients ----

NEW_HUB = os.environ.get("HUB_TEST_PYTHON_HF")


@pytest.fixture(params=[sys.executable, pytest.param(NEW_HUB, marks=pytest.mark.skipif(not NEW_HUB, reason="HUB_TEST_PYTHON_HF names no Python with a newer huggingface_hub"))],
                ids=["pinned", "newer"])
def python(request):
    """One with huggingface_hub 0.36, which Python Minari takes, and one with a later release."""
    if subprocess.run([request.param, "-c", "import huggingface_hub"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("huggingface_hub is not installed: tests/support/requirements.txt")
    return request.param


@pytest.fixture
def far():
    """Its large files are at another address, as Hugging Face's are: of one and the same, newer clients go on with what the second says."""
    with Hf(cdn_host="127.0.0.2") as hf:
        for id, files in minari_org("farama-minari", SAMPLES).items():
            hf.put(id, files)
        hf.put("lab/robot", ROBOT)
        yield hf


def real(hf, tmp_path, code, python=sys.executable, **env):
    """A Python program of its own: huggingface_hub reads its environment once."""
    env = {**os.environ, "HF_ENDPOINT": hf.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1", **env}
    ran = subprocess.run([python, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def test_huggingface_hub_is_satisfied(far, python, tmp_path):
    hf = far
    hf.page = 2
    hf.put("lab/robot", {**ROBOT, "README.md": b"# other"}, branch="next")
    out = real(hf, tmp_path, f"""
import hashlib, os
from huggingface_hub import HfApi, hf_hub_download, snapshot_download
api = HfApi()
tree = list(api.list_repo_tree("lab/robot", repo_type="dataset", recursive=True))
print(sorted(t.path for t in tree))
print([d.id for d in api.list_datasets(author="lab")])
print([b.name for b in api.list_repo_refs("lab/robot", repo_type="dataset").branches])
path = hf_hub_download("lab/robot", "data/chunk-000/episode_000000.parquet", repo_type="dataset")
print(hashlib.sha256(open(path, "rb").read()).hexdigest())
here = snapshot_download("lab/robot", repo_type="dataset", revision="next", local_dir={str(tmp_path / "snapshot")!r})
print(sorted(os.path.relpath(os.path.join(a, n), here) for a, _, names in os.walk(here) for n in names if ".cache" not in a))
print(open(here + "/README.md").read())
""", python).splitlines()
    want = sorted({*ROBOT, "meta", "data", "data/chunk-000", "a b+c"})
    assert out[0] == str(want) and out[1] == "['lab/robot']" and out[2] == "['main', 'next']"
    assert out[3] == hashlib.sha256(BIG).hexdigest() and out[4] == str(sorted(ROBOT)) and out[5] == "# other"


def test_huggingface_hub_resumes(far, python, tmp_path):
    hf = far
    cuts, data = [], BIG * 5  # it keeps what came in pieces of 10 MB
    hf.put("lab/robot", {"large.bin": data})

    def fault(request, path):
        if not cuts and request.command == "GET":
            cuts.append(1)
            return request.cut(200, {"Content-Length": str(len(data)), "ETag": '"x"'}, data[:12_000_000])

    hf.cdn.fault = fault
    code = """
import hashlib
from huggingface_hub import snapshot_download
try:
    here = snapshot_download("lab/robot", repo_type="dataset")
except Exception:
    here = snapshot_download("lab/robot", repo_type="dataset")
print(hashlib.sha256(open(here + "/large.bin", "rb").read()).hexdigest())
"""
    out = real(hf, tmp_path, code, python)
    assert out.strip() == hashlib.sha256(data).hexdigest() and any(r[2].get("Range") or r[2].get("range") for r in hf.cdn.requests)


def test_python_minari_is_satisfied(far, tmp_path):
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed: tests/support/requirements.txt")
    out = real(far, tmp_path, f"""
import minari
from minari.storage.hosting import list_remote_datasets
print(sorted(list_remote_datasets(remote_path="hf://farama-minari")))
minari.download_dataset("hf://farama-minari/{DOOR}")
print(len(minari.load_dataset("{DOOR}")))
""", MINARI_DATASETS_PATH=str(tmp_path / "minari"))
    assert out.splitlines()[0] == str([DOOR, "pictures/corridor-v0"]) and out.splitlines()[-1] == "8"


# ---- ours ----

def test_an_organisation_by_its_namespaces(hf, cli):
    r = cli.run("list", "hf://farama-minari", expect=0)
    assert DOOR in r.out and "pictures/corridor-v0" in r.out
    item, = cli.run("list", "remote", "-r", "hf://farama-minari", "-p", "D4RL", "--json", expect=0).json()["items"]
    assert (item["id"], item["episodes"], item["steps"]) == (DOOR, 8, 99) and item["size"] == sum(map(len, tree(os.path.join(SAMPLES, DOOR)).values()))
    assert [i["id"] for i in cli.run("list", "hf://farama-minari/D4RL", "--json", expect=0).json()["items"]] == [DOOR]
    assert "Box(-inf, inf, (39,), float64)" in cli.run("show", "D4RL/door/human", "-r", "hf://farama-minari", expect=0).out
    r = cli.run("download", DOOR, "-r", "hf://farama-minari", expect=0)
    assert "verified (git SHA-1 of 2 files)" in r.out or "verified (SHA-256 of 2 files)" in r.out, r
    assert tree(cli.path(DOOR)) == tree(os.path.join(SAMPLES, DOOR))
    cli.run("verify", DOOR, "-r", "hf://farama-minari", expect=0)
    cli.run("verify", DOOR, expect=0)
    assert os.stat(cli.path(DOOR, "data", "metadata.json")).st_mtime == 1714979289
    assert os.path.exists(cli.path("D4RL", "namespace_metadata.json")) and os.path.exists(cli.path("D4RL", "door", "namespace_metadata.json"))
    # the default remote is that organisation
    assert DOOR in cli.run("list", "remote", expect=0).out
    # a dataset without a namespace is a repo of its own
    hf.put("farama-minari/own-v3", {p.split("human-v2/")[1]: d for p, d in hf.repos["farama-minari/D4RL"].commits[hf.repos["farama-minari/D4RL"].branches["main"]].items() if "human-v2/" in p})
    cli.run("download", "own", "-r", "hf://farama-minari", expect=0)
    assert tree(cli.path("own-v3")) == tree(cli.path(DOOR))
    assert "there is no dataset 'nothing-v1'" in cli.run("download", "nothing-v1", "-r", "hf://farama-minari", expect=3).err


def test_an_organisation_of_many_repos_is_not_walked(hf, cli):
    for i in range(40):
        hf.put(f"farama-minari/robot{i}", ROBOT)
    assert DOOR in cli.run("list", "hf://farama-minari", expect=0).out
    assert len(hf.seen("/robot[0-9]+/revision/")) == 40 and not hf.seen("/robot[0-9]+/tree/")


def test_any_repo_as_it_is(hf, cli, tmp_path):
    hf.page = 2
    item, = cli.run("list", "hf://lab/robot", "-a", "--json", expect=0).json()["items"]
    assert (item["id"], item["format"]) == ("robot", "lerobot")
    r = cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "robots"), expect=0)
    assert "verified (" in r.out
    want = {k: v for k, v in ROBOT.items() if not k.startswith(".")}
    assert tree(tmp_path / "robots" / "robot") == want
    assert hf.cdn.requests and all("Authorization" not in r[2] for r in hf.cdn.requests)
    hf.put("lab/notes", {"README.md": b"words"})
    r = cli.run("list", "hf://lab", expect=0)
    assert "robot" in r.out and "lerobot" in r.out and "notes" not in r.out and "plain files" not in r.err, r
    assert {i["id"]: i["format"] for i in cli.run("list", "hf://lab", "-a", "--json", expect=0).json()["items"]} == {"robot": "lerobot", "notes": "files"}
    hf.put("words/notes", {"README.md": b"words"})
    assert "--all shows" in cli.run("list", "hf://words", expect=0).err


def test_revisions(hf, cli, tmp_path):
    old = hf.repos["lab/robot"].branches["main"]
    hf.repos["lab/robot"].tags["v2.1"] = old
    hf.put("lab/robot", {**ROBOT, "README.md": b"# newer"})
    for address, text in [("hf://lab/robot@v2.1", b"# a robot"), ("hf://lab/robot@" + old, b"# a robot"), ("hf://lab/robot", b"# newer")]:
        cli.run("download", address, "-o", str(tmp_path / "robots"), "--force", expect=0)
        assert tree(tmp_path / "robots" / "robot")["README.md"] == text
    r = cli.run("show", "robot", "-r", "hf://lab/robot@v9", expect=3)
    assert "no revision 'v9'" in r.err and "main, v2.1" in r.err


def test_the_token_goes_to_no_other_host(hf, cli, tmp_path):
    hf.token = "hf_secret"
    r = cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "a"), expect=7)
    assert "HF_TOKEN" in r.err
    cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "a"), HF_TOKEN="hf_secret", expect=0)
    (tmp_path / ".cache" / "huggingface").mkdir(parents=True)
    (tmp_path / ".cache" / "huggingface" / "token").write_text("hf_secret\n")
    cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "b"), expect=0)
    cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "c"), "--token-file", "-", input="hf_secret\n", HF_TOKEN="wrong", expect=0)
    assert hf.cdn.requests and hf.cdn.tokens() == {None}


def test_a_renamed_repo(hf, cli, tmp_path):
    hf.renamed["lab/old"] = "lab/robot"
    cli.run("download", "hf://lab/old", "-o", str(tmp_path / "a"), expect=0)
    assert tree(tmp_path / "a" / "old")["README.md"] == ROBOT["README.md"]


def test_a_signed_address_that_runs_out(hf, cli, tmp_path):
    def fault(request, path):
        if hf.signature == 0:
            hf.signature = 1
            return request.cut(200, {"Content-Length": str(len(BIG)), "ETag": '"x"'}, BIG[:1_000_000])

    hf.cdn.fault = fault
    cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "a"), expect=0)
    assert tree(tmp_path / "a" / "robot")["data/chunk-000/episode_000000.parquet"] == BIG
    assert {r[1].split("signature=")[1] for r in hf.cdn.requests} == {"0", "1"}


def test_a_limit_of_requests_is_waited_for(hf, cli):
    told = []

    def fault(request, path):
        if len(told) < 2:
            told.append(time.monotonic())
            return request.json({"error": "too many"}, 429, {"RateLimit": '"api";r=0;t=1', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'})

    hf.fault = fault
    cli.run("list", "hf://farama-minari/D4RL", expect=0)
    assert told[1] - told[0] >= 1


def test_a_redirect_into_the_machine(cli, tmp_path):
    with Hf(cdn_host="127.0.0.2") as hf:
        hf.put("lab/robot", ROBOT)
        r = cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "a"), HF_ENDPOINT=hf.url, expect=7)
        assert "address of this machine or of a private network" in r.err and "--trust-redirects" in r.err
        assert not hf.cdn.requests and not os.path.exists(tmp_path / "a" / "robot")
        cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "a"), "--trust-redirects", HF_ENDPOINT=hf.url, expect=0)


def test_wrong_bytes_are_never_published(hf, cli, tmp_path):
    hf.repos["lab/robot"].commits[hf.repos["lab/robot"].branches["main"]] = dict(ROBOT)
    hf.cdn.fault = lambda request, path: request.bytes(BIG[:-1] + b"!", {"ETag": '"x"'})
    r = cli.run("download", "hf://lab/robot", "-o", str(tmp_path / "a"), expect=5)
    assert "SHA-256" in r.err and not os.path.exists(tmp_path / "a" / "robot")
