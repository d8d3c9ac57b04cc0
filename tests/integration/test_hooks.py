"""What an address outside hears of pushes."""
import contextlib
import http.server
import json
import os
import subprocess
import threading
import time

import pytest

from hub import BIN, until
from test_drafts import DOOR, ask, open_draft, push, put, serve


class Listener(http.server.ThreadingHTTPServer):
    """Keeps what it is sent; refuses the first `refuses` requests, and takes `delay` seconds for each."""

    daemon_threads = True

    def __init__(self, refuses=0, delay=0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.refuses, self.delay, self.events, self.tries = refuses, delay, [], 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/hook?key=1"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server = self.server
        server.tries += 1
        time.sleep(server.delay)
        good = server.tries > server.refuses
        if good:
            assert self.path == "/hook?key=1" and self.headers["Content-Type"] == "application/json"
            server.events.append(json.loads(body))
        self.send_response(204 if good else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def listening(**options):
    listener = Listener(**options)
    thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield listener
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def codes(hub):
    return [p["code"] for p in ask(hub, "GET", "/api/v1/problems").json()["items"]]


def test_events(tmp_path):
    """A publication, a refusal and a quota, each once and in their order."""
    with listening() as listener, serve(tmp_path, "--on-publish-url", listener.url, "--quota", "lab/=100M") as hub:
        draft = push(hub, DOOR, "lab/new-v0")
        commit = ask(hub, "POST", draft + "/commit").json()["commit"]
        notes = open_draft(hub, "lab/notes")
        put(hub, notes, "notes.txt", b"hello")
        assert ask(hub, "POST", notes + "/commit").status == 422
        for name in ("a", "b", "c"):
            assert ask(hub, "PUT", f"{notes}/files/{name}", b"x", {"Content-Range": f"bytes 0-0/{1 << 30}"}).status == 507
        until(lambda: len(listener.events) == 3)
        published, refused, quota = listener.events
        assert (published["event"], published["dataset"], published["commit"], published["who"]) == ("publish", "lab/new-v0", commit, "token:ann")
        assert published["draft"] == draft.rpartition("/")[2] and published["files"] and published["bytes"] and published["at"].endswith("Z")
        assert (refused["event"], refused["dataset"], refused["files"], refused["bytes"]) == ("refused", "lab/notes", 1, 5) and "no format" in refused["reason"]
        assert (quota["event"], quota["dataset"]) == ("quota", "lab/notes") and "'lab/'" in quota["reason"]
        until(lambda: ask(hub, "GET", "/api/v1/status").json()["hook"] == {"delivered": 3, "failed": 0, "dropped": 0, "waiting": 0})
        assert "minari_hub_hook_events_total 3" in ask(hub, "GET", "/metrics").body.decode() and "hook-failing" not in codes(hub)


def test_what_is_not_taken_is_sent_again(tmp_path):
    with listening(refuses=2) as listener, serve(tmp_path, "--on-publish-url", listener.url) as hub:
        assert ask(hub, "POST", push(hub, DOOR, "lab/new-v0") + "/commit").status == 200
        until(lambda: "hook-failing" in codes(hub))
        until(lambda: listener.events)
        assert listener.tries == 3 and listener.events[0]["dataset"] == "lab/new-v0"
        until(lambda: "hook-failing" not in codes(hub))
        assert ask(hub, "GET", "/api/v1/status").json()["hook"] == {"delivered": 1, "failed": 2, "dropped": 0, "waiting": 0}
        assert "minari_hub_hook_failures_total 2" in ask(hub, "GET", "/metrics").body.decode() and "hook-failed" in hub.text_log()


def test_nobody_waits_for_it(tmp_path):
    """Neither a push nor the end of the hub, though the address takes a minute, or nobody is there."""
    with listening(delay=20) as listener:
        with serve(tmp_path, "--on-publish-url", listener.url) as hub:
            assert ask(hub, "POST", push(hub, DOOR, "lab/new-v0") + "/commit").status == 200
            until(lambda: listener.tries)
            assert not listener.events, "it was answered before"
            ends = time.monotonic()
        assert time.monotonic() - ends < 15 and not listener.events


@pytest.mark.parametrize("url", ["", "ftp://x/", "http://", "http:///x", "https://a b/"])
def test_addresses_that_are_none(tmp_path, url):
    ended = subprocess.run([os.path.join(BIN, "minari-hub"), "serve", "--root", str(tmp_path), "--state", str(tmp_path) + "-state", "--on-publish-url", url], capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0 and "on-publish-url" in ended.stderr, ended


def test_events_outlive_the_hub(tmp_path):
    """What was not taken is sent by the next hub, in its order, whether the last one was killed or ended."""
    with listening(refuses=1000000) as listener:
        args = ("--on-publish-url", listener.url)
        hub = serve(tmp_path, *args)
        commit = ask(hub, "POST", push(hub, DOOR, "lab/new-v0") + "/commit").json()["commit"]
        notes = open_draft(hub, "lab/notes")
        put(hub, notes, "notes.txt", b"hello")
        assert ask(hub, "POST", notes + "/commit").status == 422
        until(lambda: ask(hub, "GET", "/api/v1/status").json()["hook"]["waiting"] == 2)
        hub.process.kill()
        hub.stop(expect=None)
        with serve(tmp_path, *args) as hub:
            until(lambda: ask(hub, "GET", "/api/v1/status").json()["hook"]["waiting"] == 2)
        assert not listener.events
        listener.refuses = 0
        with serve(tmp_path, *args) as hub:
            until(lambda: len(listener.events) == 2)
            assert [(e["event"], e.get("commit")) for e in listener.events] == [("publish", commit), ("refused", None)]
            until(lambda: ask(hub, "GET", "/api/v1/status").json()["hook"]["waiting"] == 0)
        with serve(tmp_path, *args) as hub:
            until(lambda: ask(hub, "GET", "/api/v1/status").json()["hook"] == {"delivered": 0, "failed": 0, "dropped": 0, "waiting": 0})
        assert len(listener.events) == 2, "none twice"
