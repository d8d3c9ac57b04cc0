"""--hf-upstream: what the hub does not have comes from another hub, through clients that know only this one."""
import contextlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import threading

import pytest

sys.path.insert(0, os.path.dirname(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from hub import BIN, FIXTURES, PATIENCE, Hub, free_port, serving, until
from load import MiB, asking, metric, resident, status_of
from upstream_hf import Hf

NEWEST = os.environ.get("HUB_TEST_PYTHON_HF")
PYTHONS = [sys.executable, pytest.param(NEWEST, marks=pytest.mark.skipif(not NEWEST, reason="HUB_TEST_PYTHON_HF names no Python with a newer huggingface_hub"))]
FILES = {"README.md": b"# far\n", "data/large.bin": bytes(range(256)) * 1000, "data/a b%.txt": b"spaces", **{f"more/{i:03}.txt": b"%d" % i for i in range(40)}}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    root = str(tmp_path_factory.mktemp("lab"))
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v21"), os.path.join(root, "lab", "arm"))
    with Hf(cdn_host="localhost") as hf:
        hf.page = 10
        hf.put("far/set", FILES)
        hf.put("far/model", {"config.json": b"{}", "weights.bin": b"w" * 20_000})
        hf.renamed["far/old"] = "far/set"
        with serving(root, args=("--hf-upstream", hf.url + "/")) as hub:
            yield hub, hf


SCRIPT = """
import json, os, sys
import huggingface_hub as h
home = sys.argv[1]
api, kw = h.HfApi(), dict(repo_type="dataset")
out = {"sha": api.dataset_info("far/set").sha, "files": sorted(api.list_repo_files("far/set", **kw))}
out["tree"] = sorted(x.path for x in api.list_repo_tree("far/set", recursive=True, **kw) if hasattr(x, "size"))
out["paths"] = [x.path for x in api.get_paths_info("far/set", ["README.md", "none"], **kw)]
out["branches"] = [b.name for b in api.list_repo_refs("far/set", **kw).branches]
out["snapshot"] = h.snapshot_download("far/set", **kw)
out["old"] = open(h.hf_hub_download("far/old", "README.md", **kw)).read()
out["model"] = len(open(h.hf_hub_download("far/model", "weights.bin"), "rb").read())
out["model files"] = sorted(api.list_repo_files("far/model"))
out["near"] = os.path.exists(h.hf_hub_download("lab/arm", "meta/info.json", **kw))
out["lists"] = [d.id for d in api.list_datasets()]
out["models"] = [m.id for m in api.list_models(author="far")]
out["wrong"] = []
for ask in (lambda: api.dataset_info("no/repo"), lambda: h.hf_hub_download("no/repo", "x", **kw), lambda: h.hf_hub_download("far/set", "no", **kw),
            lambda: h.hf_hub_download("far/set", "README.md", revision="none", **kw), lambda: h.hf_hub_download("no/model", "x")):
    try:
        ask()
    except Exception as e:
        out["wrong"].append(type(e).__name__)
print(json.dumps(out))
"""


def run(python, hub, home, script=SCRIPT, **env):
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("HF_")}, "HF_ENDPOINT": hub.base, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1",
           "NO_PROXY": "*", **env}
    done = subprocess.run([python, "-c", script, str(home)], capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()


@pytest.mark.parametrize("python", PYTHONS)
def test_huggingface_hub_has_both(place, python, tmp_path):
    hub, hf = place
    out = run(python, hub, tmp_path)
    assert out["sha"] == hf.repos["far/set"].branches["main"] and out["files"] == out["tree"] == sorted(FILES)
    assert out["paths"] == ["README.md"] and out["branches"] == ["main"] and out["old"] == "# far\n"
    assert {name: read(out["snapshot"], name) for name in FILES} == FILES
    assert out["model"] == 20_000 and out["model files"] == ["config.json", "weights.bin"]
    assert out["near"] and out["lists"] == ["lab/arm"] and out["models"] == sorted(i for i in hf.repos if i.startswith("far/"))
    assert out["wrong"] == ["RepositoryNotFoundError", "RepositoryNotFoundError", "EntryNotFoundError", "RevisionNotFoundError", "RepositoryNotFoundError"] or \
        out["wrong"][2] == "RemoteEntryNotFoundError"
    assert not [path for _, path, _ in hf.requests if "lab/arm" in path]


def test_the_token_goes_to_the_upstream_alone(place, tmp_path):
    hub, hf = place
    hf.token = "hf_" + "s" * 34
    try:
        with open(hub.log_path, "rb") as f:
            f.seek(0, 2)
            script = """
import json, sys
import huggingface_hub as h
read = lambda name: len(open(h.hf_hub_download("far/set", name, repo_type="dataset"), "rb").read())
print(json.dumps([h.HfApi().dataset_info("far/set").id, read("README.md"), read("data/large.bin"), read("data/a b%.txt")]))
"""
            before = len(hf.cdn.requests)
            assert run(sys.executable, hub, tmp_path, script, HF_TOKEN=hf.token) == ["far/set", 6, 256_000, 6]
            assert hf.token.encode() not in f.read()
        assert hf.cdn.requests[before:] and not [h for _, _, h in hf.cdn.requests if "Authorization" in h]
        refused = hub.get("/api/datasets/far/set")
        assert refused.status == 401 and refused.headers["X-Error-Code"] == "RepoNotFound"
        part = hub.get("/datasets/far/set/resolve/main/README.md", headers={"Authorization": "Bearer " + hf.token, "Range": "bytes=2-4"})
        assert (part.status, part.body, part.headers["Content-Range"]) == (206, b"far", "bytes 2-4/6")
    finally:
        hf.token = None


def test_files_are_redirected_and_questions_are_not(place):
    hub, hf = place
    raw = subprocess.run(["curl", "-si", hub.base + "/datasets/far/set/resolve/main/data/a%20b%25.txt?download=true"], capture_output=True, text=True).stdout
    assert raw.startswith("HTTP/1.1 307") and f"Location: {hf.url}/datasets/far/set/resolve/main/data/a%20b%25.txt?download=true" in raw
    head = hub.get("/datasets/far/set/resolve/main/README.md", method="HEAD")
    assert head.headers["X-Repo-Commit"] == hf.repos["far/set"].branches["main"] and head.headers["Content-Length"] == "6"
    page = hub.get("/api/datasets/far/set/tree/main?recursive=true")
    assert f'<{hub.base}/api/datasets/far/set/tree/main?recursive=true&cursor=10>; rel="next"' == page.headers["Link"]


def test_what_is_here_is_never_asked_for_there(place):
    hub, hf = place
    before = len(hf.requests)
    for path in ("/api/datasets/lab/arm/commits/none", "/api/datasets/lab/arm/revision/none", "/datasets/lab/arm", "/datasets/lab/arm/tree/main", "/datasets/lab/arm/resolve/main/none"):
        answer = hub.get(path)
        assert answer.status == 404 and answer.headers["X-Error-Message"] == answer.json()["error"], path
    assert len(hf.requests) == before


def test_a_large_file_that_the_upstream_sends_itself(place):
    hub, hf = place
    hf.large, large = 1 << 30, hf.large
    hf.put("far/whole", {"whole.bin": b"w" * (17 << 20)})
    try:
        path = "/datasets/far/whole/resolve/main/whole.bin"
        head = subprocess.run(["curl", "-si", "-H", "Authorization: Bearer hf_x", hub.base + path], capture_output=True, text=True).stdout
        assert head.startswith("HTTP/1.1 307") and f"Location: {hf.url}{path}" in head
    finally:
        hf.large = large


def test_uploads_are_refused_with_words(place):
    hub, hf = place
    before = len(hf.requests)
    for path in ("/api/models/far/model/preupload/main", "/api/models/far/model/commit/main", "/api/spaces/a/b/commit/main",
                 "/api/datasets/far/set/discussions", "/api/datasets/lab/arm/super-squash/main"):
        done = subprocess.run(["curl", "-s", "-w", "%{http_code}", "-d", "{}", hub.base + path], capture_output=True, text=True).stdout
        assert done.endswith("403") and f"does not take {path[1:]}:" in json.loads(done[:-3])["error"], done
    for path in ("/api/repos/create", "/api/datasets/far/set/preupload/main", "/api/datasets/far/set/commit/main", "/datasets/far/set.git/info/lfs/objects/batch"):
        body = json.dumps({"name": "set", "organization": "far", "type": "dataset"})
        done = subprocess.run(["curl", "-s", "-w", "%{http_code}", "-H", "Content-Type: application/json", "-d", body, hub.base + path], capture_output=True, text=True).stdout
        assert done.endswith("401") and "wants a token" in json.loads(done[:-3])["error"], done
    assert len(hf.requests) == before
    done = subprocess.run(["curl", "-s", "-d", "paths=config.json&expand=False", hub.base + "/api/models/far/model/paths-info/main"], capture_output=True, text=True).stdout
    assert [entry["path"] for entry in json.loads(done)] == ["config.json"]


KEPT = """
import json, sys
import huggingface_hub as h
kw = dict(repo_type="dataset")
try:
    h.hf_hub_download("far/set", "data/none", **kw)
    wrong = None
except Exception as e:
    wrong = type(e).__name__
print(json.dumps([h.snapshot_download("far/set", **kw), open(h.hf_hub_download("far/set", "README.md", **kw)).read(), wrong]))
"""


def test_an_upstream_that_is_not_there(place, tmp_path):
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v21"), tmp_path / "root" / "lab" / "arm")
    with Hf() as hf:
        url = hf.url
    with serving(str(tmp_path / "root"), args=("--hf-upstream", url)) as hub:
        first = run(sys.executable, place[0], tmp_path, KEPT)
        offline = run(sys.executable, hub, tmp_path, KEPT, HF_HUB_OFFLINE="1")
        assert first[2] in ("EntryNotFoundError", "RemoteEntryNotFoundError") and offline[:2] == first[:2]
        one = "import json, time, huggingface_hub as h; time.sleep = lambda s: None; print(json.dumps(open(h.hf_hub_download('far/set', 'README.md', repo_type='dataset')).read()))"
        assert run(sys.executable, hub, tmp_path, one) == first[1]  # what it has it goes on with, after the pauses between its attempts
        answer = hub.get("/api/datasets/far/set")
        assert answer.status == 503 and "does not answer" in answer.json()["error"] and url[7:] in answer.json()["error"] and answer.headers["Retry-After"]
        head = hub.get("/datasets/far/set/resolve/main/x", method="HEAD")
        assert head.status == 503 and url[7:] in head.headers["X-Error-Message"]
        assert hub.get("/api/datasets/lab/arm").status == 200


def test_many_wait_and_nobody_is_in_their_way(place):
    hub, hf = place
    released, in_flight = threading.Event(), lambda: int(re.search(rb"^minari_hub_http_requests_in_flight (\d+)", hub.get("/metrics").body, re.M)[1])
    hf.fault = lambda request, path: "/far/set" in path and not released.wait(PATIENCE)
    try:
        slow = [subprocess.Popen(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", hub.base + "/api/datasets/far/set"], stdout=subprocess.PIPE) for _ in range(20)]
        until(lambda: in_flight() > 20)
        assert hub.get("/api/datasets/lab/arm").status == 200 and in_flight() > 20
        released.set()
        assert {s.communicate()[0] for s in slow} == {b"200"}
        released.clear()
        left = subprocess.Popen(["curl", "-s", hub.base + "/api/datasets/far/set"], stdout=subprocess.DEVNULL)
        until(lambda: in_flight() > 1)
        left.kill()
        left.wait()
    finally:
        released.set()
        hf.fault = None


PLAIN, NAMED = "attachment", 'attachment; filename="a.html"'


@pytest.mark.parametrize("type, stated, expected", [
    ("text/html", None, PLAIN), ("text/html; charset=utf-8", "inline", PLAIN), ("image/svg+xml", "inline; filename=attachment", PLAIN),
    ("text/html", NAMED, NAMED), ("application/json", None, None), ("application/json; charset=utf-8", None, None), ("application/jsonp", None, PLAIN)])
def test_a_page_of_the_upstream_is_none_of_the_hub(place, type, stated, expected):
    hub, hf = place
    hf.fault = lambda request, path: request.answer(200, b"<script>alert(1)</script>", {"Content-Disposition": stated}, type)
    try:
        for method in ("GET", "HEAD"):
            answer = hub.get("/datasets/z/html", {"Accept": "text/html"}, method)
            assert answer.status == 200 and answer.headers["Content-Type"] == type
            assert answer.headers["Content-Security-Policy"].startswith("sandbox") and answer.headers["Content-Disposition"] == expected
    finally:
        hf.fault = None


def in_flight(hub):
    return int(re.search(rb"^minari_hub_http_requests_in_flight (\d+)", hub.get("/metrics").body, re.M)[1])


def test_one_client_leaves_the_way_to_the_upstream_to_others(place):
    hub, hf = place
    released = threading.Event()
    hf.fault = lambda request, path: "/far/set" in path and not released.wait(PATIENCE)
    try:
        with contextlib.ExitStack() as clients:
            for _ in range(300):
                clients.enter_context(asking(hub, "/api/datasets/far/set", "127.0.0.2", 4096))
            until(lambda: in_flight(hub) > 100)
            assert hub.get("/api/datasets/far/model").status == 200
            assert len(hf.seen("/api/datasets/far/set")) > 5 and in_flight(hub) > 100  # those of the other go on
    finally:
        released.set()
        hf.fault = None


@pytest.mark.parametrize("stated", [True, False])
def test_answers_of_the_upstream_are_in_the_memory_budget(place, tmp_path, monkeypatch, stated):
    hf, body = place[1], b"x" * 8 * MiB
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")  # what is freed is not resident

    def fault(request, path):
        if "/api/datasets/big" not in path:
            return False
        request.close_connection = True
        return request.answer(200, body, {} if stated else {"Content-Length": None})

    hf.fault = fault
    try:
        with Hub([str(tmp_path)], args=("--hf-upstream", hf.url, "--memory", "64MiB")) as hub, contextlib.ExitStack() as clients:
            hub.wait_ready()
            before = resident(hub.process.pid)
            readers = [clients.enter_context(asking(hub, f"/api/datasets/big/{i}", f"127.0.0.{2 + i % 20}", 4096)) for i in range(60)]
            until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") > 30 * MiB)
            until(lambda: len(hf.seen("/api/datasets/big")) >= 30)  # more than there is memory for
            waiting, statuses = set(readers), set()
            while 200 not in statuses:  # on a busy machine those who wait longer for memory are answered first, with 503
                answered = select.select(list(waiting), [], [], PATIENCE)[0]
                assert answered, statuses
                statuses |= {status_of(r) for r in answered}
                waiting -= set(answered)
            assert resident(hub.process.pid) - before < 100 * MiB
            clients.close()
            until(lambda: metric(hub, "minari_hub_memory_budget_used_bytes") == 0)
            assert len(hub.get("/api/datasets/big/last").body) == len(body)
    finally:
        hf.fault = None


def test_hubs_that_point_at_each_other(tmp_path):
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v21"), tmp_path / "lab" / "arm")
    port = free_port()
    with serving(str(tmp_path), args=("--hf-upstream", f"http://127.0.0.1:{port}")) as first:
        with Hub([str(tmp_path)], args=("--listen", f"127.0.0.1:{port}", "--hf-upstream", first.base)) as second:
            second.base = f"http://127.0.0.1:{port}"
            second.wait_ready()
            assert second.get("/api/datasets/far/set").status == 404
            assert first.get("/datasets/far/set/resolve/main/x", method="HEAD").headers["X-Error-Code"] == "RepoNotFound"


def test_a_hub_that_is_its_own_upstream(tmp_path):
    port = free_port()
    with Hub([str(tmp_path)], args=("--listen", f"127.0.0.1:{port}", "--hf-upstream", f"http://127.0.0.1:{port}")) as hub:
        hub.base = f"http://127.0.0.1:{port}"
        hub.wait_ready()
        for path in ("/datasets/far/set/resolve/main/x", "/api/models/far/model"):
            assert hub.get(path).headers["X-Error-Code"] == "RepoNotFound"


@pytest.mark.parametrize("url", ["huggingface.co", "ftp://x", "https://", "https://user:secret@x", "https://x?y=1"])
def test_an_address_that_is_none(url, tmp_path):
    done = subprocess.run([os.path.join(BIN, "minari-hub"), "serve", "--root", str(tmp_path), "--state", str(tmp_path) + "-state", "--hf-upstream", url],
                          capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 or done.returncode == 1
    assert "hf-upstream" in done.stderr
