"""The cache of huggingface_hub as a root: its login is served to nobody."""
import io
import os
import shutil
import sys
import tarfile

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, Hub, quote

SECRETS = {"token": "hf_AAAAsecret", "stored_tokens": "[lab]\nhf_token = hf_AAAAsecret\n", "lab/arm/token": "hf_AAAAsecret", "lab/arm/notes.txt": "kept"}
DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")


def write(root, path, text):
    os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
    with open(os.path.join(root, path), "w") as f:
        f.write(text)


def test_a_login_is_served_by_no_protocol(tmp_path):
    root = str(tmp_path)
    shutil.copytree(DOOR, os.path.join(root, "lab", "arm"), copy_function=shutil.copyfile)
    for path, text in SECRETS.items():
        write(root, path, text)
    write(root, "hub/models--x/blobs/README.md", "x")
    with Hub([root]) as hub:
        hub.wait_indexed()
        listed = [(d["id"], f["path"]) for d in hub.datasets() for f in hub.get(f"/api/v1/datasets/{quote(d['id'])}/files").json()["items"]]
        assert ("lab/arm", "notes.txt") in listed and not [f for _, f in listed if "token" in f]
        for id, path in [("root-files", "token"), ("root-files", "stored_tokens"), ("lab/arm", "token")]:
            assert hub.get(f"/api/v1/datasets/{id}/files/{path}").status == 404
        for url in ("token", "stored_tokens", "lab/arm/token"):
            assert hub.get(f"/minari-datasets/{url}").status == 404
            assert hub.get(f"/storage/v1/b/minari-datasets/o/{url.replace('/', '%2F')}?alt=media").status == 404
        assert hub.get("/datasets/lab/arm/resolve/main/token").status == 404
        for url in ("/storage/v1/b/minari-datasets/o", "/minari-datasets/?list-type=2", "/api/datasets/lab/arm/tree/main?recursive=1"):
            answer = hub.get(url)
            assert answer.status == 200 and b"token" not in answer.body, url
        for id in ("lab/arm", "root-files"):
            archive = hub.get(f"/api/v1/datasets/{id}/archive.tar")
            assert b"secret" not in archive.body
            if archive.status == 200:
                assert not [m.name for m in tarfile.open(fileobj=io.BytesIO(archive.body)) if "token" in m.name]
        told = {(p["dataset"], p.get("path")) for p in hub.get("/api/v1/problems?limit=1000").json()["items"] if p["code"] == "credentials-withheld"}
        assert told == {("root-files", "token"), ("root-files", "stored_tokens"), ("lab/arm", "token")}
