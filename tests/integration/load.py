"""What tests of load share: clients that read as they like, and what the hub holds meanwhile. Standard library only."""
import contextlib
import re
import socket

MiB = 1024 * 1024


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))


def metric(hub, name):
    return float(re.search(rb"^%s (\S+)$" % name.encode(), hub.get("/metrics").body, re.M)[1])


@contextlib.contextmanager
def asking(hub, path, source="127.0.0.1", receive=None):
    """A client that sends one request and reads only what the test reads."""
    with socket.socket() as sock:
        if receive:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        sock.bind((source, 0))
        sock.settimeout(60)
        sock.connect(("127.0.0.1", hub.port))
        sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        yield sock


def status_of(sock):
    return int(sock.recv(4096).split(b" ", 2)[1])
