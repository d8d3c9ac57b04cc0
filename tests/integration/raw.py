"""Raw sockets against tests/integration/http_server.c: no HTTP library stands between a test and the bytes it sends."""
import atexit
import os
import re
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from hub import PATIENCE, until  # noqa: E402


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

    def connect(self, timeout=PATIENCE, source=None):
        """`source` is another address of this machine, 127.0.0.2 say: another client."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout, source_address=source and (source, 0))

    def exchange(self, raw, timeout=PATIENCE, half_close=False, answers=1, quiet=0.4, closes=False):
        """Send these bytes, read until the server closes, or so many answers are whole and nothing more comes for a while:
        (bytes, closed). Where it `closes` that is waited for."""
        with self.connect(timeout) as sock:
            try:
                sock.sendall(raw)
                if half_close:
                    sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return read_all(sock, timeout if closes else quiet, answers, head=raw.startswith(b"HEAD "))

    def get(self, target, headers="", method="GET", timeout=PATIENCE):
        """The connection is closed behind it: that is waited for."""
        data, _ = self.exchange(
            f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n".encode("latin-1"), timeout,
            closes=True)
        return parse(data, method)

    def executed(self):
        return int(self.get("/executed")[2])

    def wait_for(self, target, value, timeout=PATIENCE):
        """Until the number at `target` is `value`."""
        until(lambda: int(self.get(target)[2]) == value, timeout)

    def gauge(self, name):
        return int(re.search(rb"minari_hub_http_%s (\d+)\n" % name.encode(), self.get("/metrics")[2])[1])

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()
        return code


def read_all(sock, quiet=0.4, answers=1, head=False):
    """Until the server closes, or so many answers are whole and it has then been quiet for a while. However long the machine
    stands still between the head of an answer and its body: that is waited for."""
    data, closed = b"", False
    while True:
        if sum(whole for _, whole in split(data, head)) >= answers:
            sock.settimeout(quiet)
        try:
            piece = sock.recv(4 << 20)  # all that came is looked through again with each piece
        except socket.timeout:
            break
        except ConnectionResetError:
            closed = True
            break
        if not piece:
            closed = True
            break
        data += piece
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


def split(data, head=False):
    """(status, whether it is whole) of all answers in what came. A body ends as its header says: by Content-Length or by its last chunk."""
    while data.startswith(b"HTTP/1."):
        top, end, rest = data.partition(b"\r\n\r\n")
        status = int(top[9:12] or 0)
        announced = re.search(rb"(?i)\r\ncontent-length: *(\d+)", top)
        bare = head or status in (204, 304) or status < 200
        if not bare and re.search(rb"(?i)\r\ntransfer-encoding: *chunked", top):
            whole, data = take_chunks(rest)
        else:
            size = int(announced[1]) if announced and not bare else 0
            whole, data = len(rest) >= size, rest[size:]
        yield status, bool(end) and whole


def take_chunks(data):
    """Whether the last chunk is there, and what follows it."""
    at = 0
    while (end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:end], 16)
        at = end + 4 + size
        if len(data) < at:
            break
        if size == 0:
            return True, data[at:]
    return False, b""


def statuses(data):
    return [status for status, _ in split(data)]
