"""Reads go on while nothing can be stored: the admin says so (--read-only), the state's disk is full, or it is broken."""
import errno
import json
import os
import re
import subprocess
import sys

import pytest

from hub import BIN, FIXTURES, Hub, mounted, until
from test_access_twins import run
from test_drafts import ARM, ask, files_of, open_draft, problem, push, put

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from shim import Shim  # noqa: E402

SAMPLES = os.path.join(FIXTURES, "samples")
# They change nothing that hub.db must keep: samples of many episodes, links, sessions, reports of browsers
READING = {("post", "/api/v1/batch"), ("post", "/api/v1/links"), ("post", "/~login"), ("post", "/~logout"), ("post", "/~csp")}
READS = ("/api/v1/datasets", "/api/v1/datasets/door-human-v0", "/api/v1/datasets/door-human-v0/episodes?limit=3",
         "/api/v1/datasets/door-human-v0/episodes/0/observations?start=1&stop=5", "/api/v1/datasets/door-human-v0/files",
         "/api/v1/datasets/door-human-v0/files/data/main_data.hdf5", "/api/v1/status", "/api/v1/problems", "/metrics", "/readyz", "/", "/door-human-v0/")


def start(tmp_path, state, *args, **options):
    """A hub with an admin's token, which the state knows already."""
    (tmp_path / "root").mkdir(exist_ok=True)
    if not (tmp_path / "token").exists():
        (tmp_path / "token").write_text(run(str(state), "token", "add", "ann", "--write", "lab/").strip())
        run(str(state), "access", "set", "token:ann", "admin", "")
    hub = Hub([SAMPLES + ":ro", str(tmp_path / "root")], state=str(state), args=args, log=str(tmp_path / "hub.log"), **options)
    hub.wait_indexed()
    hub.root, hub.token = tmp_path / "root", (tmp_path / "token").read_text()
    return hub


def read_all(hub):
    for target in READS:
        answer = ask(hub, "GET", target)
        assert answer.status == 200 and answer.body, (target, answer.status, answer.body)


def export(state):
    done = subprocess.run([os.path.join(BIN, "minari-hub"), "export", "door-human-v0", "-o", "-", "--state", str(state)], capture_output=True)
    assert done.returncode == 0 and len(done.stdout) > 10000, done.stderr


def test_read_only(tmp_path):
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (tmp_path / "hub.conf").write_text("read-only = on\n")
    with start(tmp_path, state, "--config", str(tmp_path / "hub.conf")) as hub:
        changing = [(method, path) for path, methods in hub.get("/openapi.json").json()["paths"].items() for method in methods
                    if method in ("post", "put", "delete", "patch") and path.startswith(("/api/v1/", "/~"))]
        assert len(changing) > 15 and READING & set(changing)
        for method, path in changing:
            target = re.sub(r"\{\w+\}", "x", path)
            answer = ask(hub, method.upper(), target, "{}" if method in ("post", "put") else None)
            if (method, path) in READING:
                assert b"read-only" not in answer.body, (method, path)
            else:
                assert (answer.status, problem(answer)) == (403, "read-only"), (method, path, answer.status, answer.body)
                assert "--read-only" in answer.json()["detail"]
        read_all(hub)
        export(state)
        for words in (["token", "add", "bob"], ["scan", "--root", SAMPLES], ["check", "--root", SAMPLES], ["access", "set", "*", "none", "lab/"]):
            done = subprocess.run([os.path.join(BIN, "minari-hub"), *words, "--state", str(state)], capture_output=True, text=True)
            assert done.returncode not in (0, -6) and "this hub is read-only" in done.stderr, (words, done)
        pushed = subprocess.run([os.path.join(BIN, "minari-cli"), "upload", ARM, "lab/arm-v0", "--remote", hub.base], capture_output=True, text=True,
                                env={**os.environ, "MINARI_HUB_TOKEN": hub.token})
        assert pushed.returncode == 7 and "read-only" in pushed.stderr and "administrator" in pushed.stderr, pushed
        assert ask(hub, "PUT", "/api/v1/drafts/x/files/a", "x" * 100, {"Expect": "100-continue"}).status == 403
    with start(tmp_path, state) as hub:
        open_draft(hub, "lab/arm-v0")


def fill(path):
    with open(path, "wb", buffering=0) as ballast:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    ballast.write(bytes(size))
            except OSError as e:
                assert e.errno == errno.ENOSPC


def some_rule(hub, n):
    return ask(hub, "POST", f"/api/v1/access?who=user:{n}&level=read&prefix=lab/{n}/")


def test_a_full_disk_of_the_state(tmp_path):
    """A small file system of its own for the state; only root can make one."""
    with mounted(tmp_path / "state", 48) as state:
        with start(tmp_path, state) as hub:
            draft = push(hub, ARM, "lab/arm-v0")
            fill(state / "ballast")
            refused = next(answer for n in range(500) if (answer := some_rule(hub, n)).status != 200)
            assert (refused.status, problem(refused)) == (507, "no-space"), refused.body
            assert "until the disk of the hub's state has room" in refused.json()["detail"]
            for answer in (ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "lab/more-v0"})), put(hub, draft, "more.bin", b"x" * 5000),
                           ask(hub, "POST", draft + "/commit")):
                assert (answer.status, problem(answer)) == (507, "no-space"), answer.body
            assert hub.get("/api/v1/datasets/lab/arm-v0").status == 404
            read_all(hub)
            export(state)  # of files that were never hashed, and whose digests cannot be stored
            assert hub.get("/api/v1/datasets/door-human-v0/archive.tar").body[-1024:] == bytes(1024)
            assert "state-disk-full" in subprocess.run([os.path.join(BIN, "minari-hub"), "status", "--state", str(state)], capture_output=True, text=True).stdout
            os.unlink(state / "ballast")
            assert put(hub, draft, "more.bin", b"x" * 5000).status == 201
            assert ask(hub, "POST", draft + "/commit").status == 200
            until(lambda: hub.get("/api/v1/datasets/lab/arm-v0").status == 200)
            assert some_rule(hub, 1000).status == 200


def test_a_broken_disk(tmp_path):
    """No sync succeeds any more, as on a disk that fails; then it works again."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    shim = Shim(str(tmp_path), "minari-hub", kinds="FS")
    with start(tmp_path, state, prefix=shim.prefix) as hub:
        draft = push(hub, ARM, "lab/arm-v0")
        shim.at(1, errno.EIO, sticky=True)
        for answer in (some_rule(hub, 1), ask(hub, "POST", "/api/v1/tokens?name=bob")):
            assert (answer.status, problem(answer)) == (503, "storage-unavailable"), answer.body
            assert "until the disk of the hub's state works" in answer.json()["detail"] and answer.headers["Retry-After"]
        assert ask(hub, "POST", draft + "/commit").status >= 500
        assert hub.get("/api/v1/datasets/lab/arm-v0").status == 404
        read_all(hub)
        export(state)
        shim.at(0)
        assert some_rule(hub, 2).status == 200
        assert ask(hub, "POST", draft + "/commit").status == 200
        until(lambda: hub.get("/api/v1/datasets/lab/arm-v0").status == 200)
