"""What huggingface_hub 0.36 prints where the hub refuses a push: its user learns what is wrong, and what to do."""
import os
import subprocess
import sys

import pytest

from hub import until
from test_access_twins import run
from test_drafts import ARM, ask, files_of, serve

REPO = "lab/arm-v30"
HEAD = f"""
import huggingface_hub as h, pathlib, sys
api, repo, kw = h.HfApi(), "{REPO}", {{"repo_type": "dataset"}}
api.create_repo(repo, private=False, exist_ok=True, **kw)
"""


def environment(hub, tmp_path, **more):
    return {**os.environ, "HF_ENDPOINT": hub.base, "HF_TOKEN": hub.token.strip(), "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", **more}


def run_client(hub, tmp_path, script, *args):
    """What it prints on its standard error: nothing, where it ends well."""
    done = subprocess.run([sys.executable, "-c", HEAD + script, *map(str, args)], env=environment(hub, tmp_path), capture_output=True, text=True, timeout=300)
    assert (done.returncode == 0) == (not done.stderr), done.stderr[-3000:] + hub.text_log()[-3000:]
    return done.stderr


def state(hub):
    return ask(hub, "GET", f"/api/datasets/{REPO}/commits/main").json()[0]["state"]


BROKEN = """
if sys.argv[1] != "tag":
    api.upload_folder(repo_id=repo, folder_path=sys.argv[1], **kw)
if "tag" in sys.argv:
    api.create_tag(repo, tag="v9", **kw)
"""


@pytest.mark.parametrize("prefix, refuses", [("lab/", True), ("/", True), (REPO, True), ("lab/arm", False)])
def test_a_tag_on_what_is_broken(tmp_path, prefix, refuses):
    folder = tmp_path / "arm"
    for name, path in files_of(ARM):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        data = open(path, "rb").read()
        (folder / name).write_bytes(data[:-20] if name.startswith("data/") and name.endswith(".parquet") else data)
    with serve(tmp_path, "--refuse-broken", "other/", "--refuse-broken", prefix) as hub:
        assert run_client(hub, tmp_path, BROKEN, folder) == ""
        until(lambda: state(hub) == "broken")
        said = run_client(hub, tmp_path, BROKEN, "tag")
        tags = [t["name"] for t in ask(hub, "GET", f"/api/datasets/{REPO}/refs").json()["tags"]]
        if not refuses:
            assert said == "" and tags == ["v9"]
            return
        assert "422 Client Error" in said and f"No tag is set, for '{REPO}' is broken: data/" in said, said
        assert tags == [] and ask(hub, "GET", f"/api/datasets/{REPO}").json()["siblings"], "the commit is there"
        assert run_client(hub, tmp_path, BROKEN, ARM, "tag") == ""  # as it was recorded
        assert [t["name"] for t in ask(hub, "GET", f"/api/datasets/{REPO}/refs").json()["tags"]] == ["v9", "v3.0"]


SMALL = """
add = lambda name, size: h.CommitOperationAdd(name, name[:1].encode() * size)
api.create_commit(repo, [add("a.txt", 200000)], commit_message="it fits", **kw)
api.create_commit(repo, [add("a.txt", 200000), add("c.txt", 200000)], commit_message="one is there already", **kw)
try:
    api.create_commit(repo, [add("d.txt", 200000), add("e.txt", 200000)], commit_message="both do not fit", **kw)
except h.utils.HfHubHTTPError as e:
    sys.exit(str(e))
"""


def test_small_files_keep_to_a_quota(tmp_path):
    """They are in the commit itself, and one that does not fit is not stored."""
    with serve(tmp_path, "--quota", "lab/=300K") as hub:
        said = run_client(hub, tmp_path, SMALL)
        assert "507 Server Error" in said and "the quota of 'lab/' has room for 107200 bytes more, and 'e.txt' has 200000" in said, said
        assert {s["rfilename"] for s in ask(hub, "GET", f"/api/datasets/{REPO}").json()["siblings"]} == {"a.txt", "c.txt"}
        assert len(list((hub.root / ".minari-hub" / "objects").iterdir())) == 3, "d.txt waits for another commit"


PUSH = """
adds = [h.CommitOperationAdd(f"data/{i}.bin", bytes([i]) * 5000) for i in range(2)]
try:
    api.preupload_lfs_files(repo, adds[:1], **kw)
    print("sent", flush=True)
    input()
    api.preupload_lfs_files(repo, adds[1:], **kw)
    api.create_commit(repo, adds, commit_message="late", **kw)
except h.utils.HfHubHTTPError as e:
    sys.exit(f"{type(e).__name__} {e}")
"""


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_token_that_ends_in_the_middle(tmp_path, end):
    """Its user reads that it is the token, and nothing of the push is there."""
    with serve(tmp_path) as hub:
        assert run_client(hub, tmp_path, "") == ""
        token = run(hub.state, "token", "add", "eve", "--write", "lab/", *(("--expires", "20s") if end == "expired" else ())).strip()
        until(lambda: ask(hub, "GET", "/api/whoami-v2", token=token).status == 200)
        client = subprocess.Popen([sys.executable, "-c", HEAD.replace("api.create_repo", "pass # ") + PUSH], env=environment(hub, tmp_path, HF_TOKEN=token),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert client.stdout.readline() == "sent\n", client.communicate()
        if end == "revoked":
            run(hub.state, "token", "revoke", "eve")
        until(lambda: ask(hub, "GET", "/api/whoami-v2", token=token).status == 401)
        said = client.communicate("\n", timeout=300)[1]
        assert client.returncode == 1 and "401 Client Error" in said and end in said, said
        assert ask(hub, "GET", f"/api/datasets/{REPO}").json()["siblings"] == []
