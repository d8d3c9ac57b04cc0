"""The server as its admin sets it up: what it does at its limits, who may ask, and which links it writes."""
import contextlib
import os
import resource
import signal
import socket
import subprocess
import tempfile

import hub as hubs
import pytest


def test_a_full_pipe_on_stderr_does_not_hold_up_the_end(tmp_path):
    """Whoever reads the log may have stopped reading: the hub still ends when it is told to."""
    reader, writer = os.pipe()
    port, state = hubs.free_port(), tempfile.mkdtemp(prefix="hub-state-")
    process = subprocess.Popen([os.path.join(hubs.BIN, "minari-hub"), "serve", "--root", str(tmp_path), "--state", state,
                                "--listen", f"127.0.0.1:{port}"], stderr=writer, stdin=subprocess.DEVNULL)

    def is_ready():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
            sock.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
            return sock.recv(100).startswith(b"HTTP/1.1 200")

    hubs.until(is_ready)
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b".")
    except BlockingIOError:
        os.set_blocking(writer, True)
    with socket.create_connection(("127.0.0.1", port), timeout=hubs.PATIENCE) as sock:
        for _ in range(20):
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert sock.recv(1000).startswith(b"HTTP/1.1 200")
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(hubs.PATIENCE) == 0
    finally:
        process.kill()
        os.close(reader)
        os.close(writer)


def test_few_descriptors(tmp_path):
    """Silent clients take all connections that few descriptors allow: health is still answered, and so are files. That those who are
    quiet for longest make room before their deadline is tried in test_raw_requests.py, with a deadline of the test's own."""
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "notes.txt").write_text("x")
    with few_descriptors(64), hubs.serving(str(tmp_path / "root")) as hub:
        hubs.until(lambda: "ulimit -n" in hub.text_log())
        silent = []
        for _ in range(100):
            silent.append(socket.socket())
            silent[-1].setblocking(False)
            silent[-1].connect_ex(("127.0.0.1", hub.port))
        assert hub.get("/healthz").status in (200, 503)
        hubs.until(lambda: hub.get("/api/v1/datasets/a/files/notes.txt").status == 200)
        for sock in silent:
            sock.close()


@contextlib.contextmanager
def few_descriptors(count):
    """For the programs started meanwhile."""
    popen = subprocess.Popen
    subprocess.Popen = lambda *args, **named: popen(
        *args, **named, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
    try:
        yield
    finally:
        subprocess.Popen = popen


DATASETS = "/api/v1/datasets?limit=1"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two folders that are listed as plain files, so that there is a next page."""
    root = tmp_path_factory.mktemp("root")
    for name in ("a", "b"):
        (root / name).mkdir()
        (root / name / "notes.txt").write_text("x")
    return str(root)


def varies(answer):
    """By the Origin."""
    return "Origin" in answer.headers.get_all("Vary", ())


def test_pages_of_other_origins(root):
    lab, other = {"Origin": "https://lab.example"}, {"Origin": "https://evil.example"}
    preflight = {"Access-Control-Request-Method": "GET"}
    with hubs.serving(root) as hub:
        for headers in ({}, lab):
            answer = hub.get(DATASETS, headers)
            assert answer.headers["Access-Control-Allow-Origin"] == "*" and not varies(answer)
        assert hub.get("/openapi.json").headers["Access-Control-Allow-Origin"] == "*"
        for target in ("/healthz", "/metrics", "/"):
            assert hub.get(target, lab).headers["Access-Control-Allow-Origin"] is None
    with hubs.serving(root, args=("--cors", "https://lab.example,http://localhost:3000")) as hub:
        for target in (DATASETS, "/api/v1/datasets/nope", "/openapi.json"):
            for headers, allowed in ((lab, "https://lab.example"), (other, None), ({}, None)):
                answer = hub.get(target, headers)
                assert answer.headers["Access-Control-Allow-Origin"] == allowed
                assert varies(answer)
        assert hub.get(DATASETS, {**lab, **preflight}, "OPTIONS").headers["Access-Control-Allow-Methods"]
        assert hub.get(DATASETS, {**other, **preflight}, "OPTIONS").headers["Access-Control-Allow-Methods"] is None
    with hubs.serving(root, args=("--cors", "off")) as hub:
        answer = hub.get(DATASETS, lab)
        assert answer.headers["Access-Control-Allow-Origin"] is None and not varies(answer)


def test_names_of_the_server(root):
    with hubs.serving(root, args=("--host", "127.0.0.1,hub.lab")) as hub:
        assert hub.get(DATASETS, {"Host": "hub.lab:99"}).json()["next"].startswith("http://hub.lab:99/api/")
        refused = hub.get(DATASETS, {"Host": "evil.example"})
        assert refused.status == 400 and "evil.example" in refused.json()["detail"]
        assert hub.get("/healthz", {"Host": "10.0.0.7"}).status == 200  # probes ask by address


def test_links_behind_proxies(root):
    says = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "data.lab", "X-Forwarded-For": "203.0.113.9"}
    with hubs.serving(root) as hub:  # loopback is trusted
        assert hub.get(DATASETS, says).json()["next"].startswith("https://data.lab/api/")
        hubs.until(lambda: "Z 203.0.113.9 GET " in hub.text_log())
    with hubs.serving(root, args=("--trusted-proxies", "10.0.0.0/8")) as hub:
        assert hub.get(DATASETS, says).json()["next"].startswith(hub.base + "/api/")
        assert "203.0.113.9" not in hub.text_log()
    with hubs.serving(root, args=("--public-url", "https://lab.example/hub/")) as hub:
        assert hub.get(DATASETS, says).json()["next"].startswith("https://lab.example/hub/api/")


def test_wrong_settings_are_named(root, tmp_path):
    for name, value in (("--cors", "lab.example"), ("--host", "a<b"), ("--trusted-proxies", "10.0.0.0/64"),
                        ("--public-url", "lab.example")):
        done = subprocess.run([os.path.join(hubs.BIN, "minari-hub"), "serve", "--root", root, "--state", str(tmp_path / "state"),
                               "--listen", "127.0.0.1:0", name, value], capture_output=True, text=True, timeout=30)
        assert done.returncode != 0 and name[2:] in done.stderr and value.split("/")[0] in done.stderr
