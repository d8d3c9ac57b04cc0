"""Stock clients with a token of the hub, each in its own way; without one a private dataset is not there."""
import base64
import http.client
import os
import subprocess
import sys

import pytest

from browser import browser
from cli import Cli
from hub import BIN, FIXTURES, Hub, until
from test_access_twins import ask, fill, run

SETS = {"lab/open-v0": "samples/door-human-v0", "lab/secret/arm-v1": "samples/door-human-v0", "lab/secret/moving-v1": "lerobot/arm-v30"}
SECRET = "/api/v1/datasets/lab/secret/arm-v1"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    fill(str(root), SETS)
    with Hub([str(root)], state=str(state)) as hub:
        hub.wait_indexed()
        run(str(state), "access", "set", "*", "none", "lab/secret/")
        hub.token = run(str(state), "token", "add", "ann", "--read", "lab/secret/")
        hub.other = run(str(state), "token", "add", "bob")
        until(lambda: hub.get(SECRET).status == 401)  # it acts within a second
        yield hub


def basic(token):
    return "Basic " + base64.b64encode(f"any:{token}".encode()).decode()


def send(hub, method, path, headers):
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.request(method, path, headers={**headers, "Content-Length": "0"})
    with connection.getresponse() as answer:
        return answer.status


def test_carriers(hub):
    for credentials in (f"Bearer {hub.token}", f"bearer  {hub.token}", basic(hub.token)):
        answer = hub.get(SECRET, {"Authorization": credentials})
        assert answer.status == 200 and answer.headers["Cache-Control"].startswith("private")
        assert "Authorization, Cookie" in answer.headers.get_all("Vary")
    for credentials, status, name in (("", 401, "sign-in"), ("Bearer hf_somebody", 401, "sign-in"), (f"Bearer {hub.other}", 404, "dataset-not-found"),
                                      (f"Bearer {hub.token[:-1]}x", 401, "bad-token"), ("Bearer mh_", 401, "bad-token"), ("Basic !", 401, "sign-in")):
        answer = hub.get(SECRET, {"Authorization": credentials} if credentials else {})
        assert (answer.status, answer.json()["type"].rpartition(":")[2]) == (status, name), credentials
        assert status == 404 or answer.headers["WWW-Authenticate"] == 'Bearer, Basic realm="minari-hub"'
    assert hub.get("/api/v1/datasets/lab/open-v0", {"Authorization": "Bearer mh_wrong"}).status == 401, "a bad token is refused on public data, too"
    open_one = hub.get("/api/v1/datasets/lab/open-v0")
    assert "private" not in open_one.headers["Cache-Control"] and "Authorization, Cookie" not in (open_one.headers.get_all("Vary") or [])


def test_revoked_at_once(hub):
    token = run(hub.state, "token", "add", "carl", "--read", "lab/secret/")
    until(lambda: hub.get(SECRET, {"Authorization": f"Bearer {token}"}).status == 200, 1)
    run(hub.state, "token", "revoke", "carl")
    until(lambda: hub.get(SECRET, {"Authorization": f"Bearer {token}"}).status == 401, 1)


def test_an_admin_over_the_network(hub):
    token = run(hub.state, "token", "add", "boss", "--admin")
    as_boss = {"Authorization": f"Bearer {token}"}
    until(lambda: hub.get("/api/v1/status", as_boss).status == 200, 1)
    assert {d["id"] for d in hub.get("/api/v1/datasets", as_boss).json()["items"]} == set(SETS)
    assert [ask(hub, "GET", "/api/v1/tokens", None, t)[0] for t in (token, hub.token, None)] == [200, 404, 404], "for others there is no such resource"
    path = "/api/v1/access?who=*&level=read&prefix=lab/open-v0"
    forged = {"Authorization": basic(token), "Origin": "http://elsewhere.example"}
    assert [send(hub, "POST", path, h) for h in (forged, {"Authorization": basic(hub.token)})] == [404, 404]
    assert send(hub, "POST", path, {"Authorization": basic(token)}) == 200
    assert run(hub.state, "audit", "--json").count('"token:boss"') == 1
    assert [hub.get(p, {"Authorization": f"Bearer {hub.token}"}).status for p in ("/api/v1/status", "/metrics")] == [403, 403]


def test_curl(hub, tmp_path):
    url = hub.base + SECRET + "/episodes/0/rewards?format=npy"
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login any password {hub.token}\n")
    for words in (["-u", f"any:{hub.token}"], ["-H", f"Authorization: Bearer {hub.token}"], ["--netrc"]):
        done = subprocess.run(["curl", "-sSf", *words, url], capture_output=True, env={**os.environ, "HOME": str(tmp_path)})
        assert done.returncode == 0 and done.stdout.startswith(b"\x93NUMPY"), done.stderr
    assert subprocess.run(["curl", "-sSf", url], capture_output=True).returncode == 22


def test_minari_cli(hub, tmp_path):
    got = Cli(tmp_path / "ann", MINARI_HUB_TOKEN=hub.token).run("download", "lab/secret/arm-v1", "--remote", hub.base)
    assert (tmp_path / "ann" / "lab/secret/arm-v1/data/main_data.hdf5").stat().st_size, got
    for words in (("show", "lab/secret/arm-v1"), ("download", "lab/secret/arm-v1")):
        done = Cli(tmp_path / "nobody").run(*words, "--remote", hub.base)
        assert done.code and "wants a token of this hub" in done.err and "MINARI_HUB_TOKEN" in done.err, done


def test_huggingface_hub(hub, tmp_path):
    script = f"""
import sys
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.utils import RepositoryNotFoundError
api, other = HfApi(endpoint="{hub.base}", token=sys.argv[1]), HfApi(endpoint="{hub.base}", token=False)
files = api.list_repo_files("lab/secret", repo_type="dataset")
assert "arm-v1/data/main_data.hdf5" in files, files
path = hf_hub_download("lab/secret", "arm-v1/data/main_data.hdf5", repo_type="dataset", endpoint="{hub.base}", token=sys.argv[1])
assert open(path, "rb").read(4) == b"\\x89HDF"
assert api.whoami()["name"] == "ann"
assert [d.id for d in other.list_datasets()] == ["farama-minari/lab"], list(other.list_datasets())
for call in (lambda: other.list_repo_files("lab/secret", repo_type="dataset"), lambda: other.repo_info("lab/secret", repo_type="dataset")):
    try:
        call()
        raise SystemExit("it is there")
    except RepositoryNotFoundError:
        pass
"""
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("HF_")}, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run([sys.executable, "-c", script, hub.token], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_signing_in_in_a_browser(hub):
    """The form, curves and a video of a private dataset, and the end of the session."""
    if not browser():
        return
    done = subprocess.run(["node", os.path.join(os.path.dirname(__file__), "../web/sign_in.js"), hub.base, hub.token, "lab/secret/moving-v1"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
