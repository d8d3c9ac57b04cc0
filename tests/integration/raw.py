"""Raw sockets against tests/integration/http_server.c: no HTTP library stands between a test and the bytes it sends."""
import atexit
import re
import signal
import socket
import subprocess
import time


class Server:
    def __init__(self, program, *settings, file=None, stderr=None):
        command = [program]
        if file:
            command += ["--file", file]
        for setting in settings:
            command += ["--set", setting]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)
        atexit.register(self.process.kill)  # a failing test leaves nothing behind
        self.port = int(self.process.stdout.readline())

    def connect(self, timeout=10, source=None):
        """`source` is another address of this machine, 127.0.0.2 say: another client."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout, source_address=source and (source, 0))

    def exchange(self, raw, timeout=10, half_close=False):
        """Send these bytes, read until the server closes or nothing comes for a while: (bytes, closed)."""
        with self.connect(timeout) as sock:
            try:
                sock.sendall(raw)
                if half_close:
                    sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return read_all(sock)

    def get(self, target, headers="", method="GET", timeout=10):
        data, _ = self.exchange(
            f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n".encode("latin-1"), timeout)
        return parse(data, method)

    def executed(self):
        return int(self.get("/executed")[2])

    def wait_for(self, target, value, timeout=10):
        """Until the number at `target` is `value`: seconds it took."""
        begin = time.monotonic()
        while int(self.get(target)[2]) != value:
            assert time.monotonic() - begin < timeout, f"{target} never became {value}"
            time.sleep(0.02)
        return time.monotonic() - begin

    def gauge(self, name):
        return int(re.search(rb"minari_hub_http_%s (\d+)\n" % name.encode(), self.get("/metrics")[2])[1])

    def until(self, what, timeout=5):
        """Until `what` is true."""
        end = time.monotonic() + timeout
        while not what():
            assert time.monotonic() < end, "it did not come about"
            time.sleep(0.02)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        return code


def read_all(sock, quiet=0.4):
    """Until the server closes, or has answered and then been quiet for a while."""
    data, closed = b"", False
    while True:
        try:
            piece = sock.recv(65536)
        except socket.timeout:
            break
        except ConnectionResetError:
            closed = True
            break
        if not piece:
            closed = True
            break
        data += piece
        sock.settimeout(quiet)
    return data, closed


def parse(data, method="GET"):
    """(status, headers by lower-case name, body) of the first answer."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split(" ")[1])
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), value.strip())
    return status, headers, body


def statuses(data):
    """Of all answers in what came: (every body here is announced by Content-Length)."""
    out = []
    while data.startswith(b"HTTP/1."):
        head, _, rest = data.partition(b"\r\n\r\n")
        out.append(int(head.split(b" ")[1]))
        size = 0
        for line in head.split(b"\r\n")[1:]:
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        data = rest[size:]
    return out
