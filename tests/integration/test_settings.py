"""The server as its admin sets it up: what it does at its limits, who may ask, and which links it writes."""
import os
import signal
import socket
import subprocess
import tempfile
import time

import hub as hubs


def test_a_full_pipe_on_stderr_does_not_hold_up_the_end(tmp_path):
    """Whoever reads the log may have stopped reading: the hub still ends when it is told to."""
    reader, writer = os.pipe()
    port, state = hubs.free_port(), tempfile.mkdtemp(prefix="hub-state-")
    process = subprocess.Popen([os.path.join(hubs.BIN, "minari-hub"), "serve", "--root", str(tmp_path), "--state", state,
                                "--listen", f"127.0.0.1:{port}"], stderr=writer, stdin=subprocess.DEVNULL)
    end = time.monotonic() + 20
    while True:  # until it is ready and has said so
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
                sock.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
                if sock.recv(100).startswith(b"HTTP/1.1 200"):
                    break
        except OSError:
            pass
        assert time.monotonic() < end
        time.sleep(0.05)
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b".")
    except BlockingIOError:
        os.set_blocking(writer, True)
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        for _ in range(20):
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert sock.recv(1000).startswith(b"HTTP/1.1 200")
    process.send_signal(signal.SIGTERM)
    try:
        assert process.wait(10) == 0
    finally:
        process.kill()
        os.close(reader)
        os.close(writer)
