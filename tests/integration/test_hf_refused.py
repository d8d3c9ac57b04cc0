"""What huggingface_hub 0.36 prints where the hub refuses a push: its user learns what is wrong, and what to do."""
import os
import subprocess
import sys

import pytest

from hub import until
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
