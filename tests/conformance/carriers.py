"""A hub where everything is private, and how a client said to it who asks."""
import os
import re
import shutil
import socket
import threading

from conftest import Lab
from hub import FIXTURES, Hub, until
from principals import bearer, run
from test_minari import say_they_are_of

BUCKET, OWN = "minari-datasets", "own"  # the folder of the bucket that holds the lab
NETWORK = "127.0.0.4"  # who comes from there needs no token


class Private:
    """`hub`; `lab`, its files below OWN and beside it; `token`, which reads everything. `release`: of Minari, whose sets they are."""

    def __init__(self, lab, root, state, release="0.5.4"):
        shutil.copytree(lab.root, os.path.join(root, OWN))
        shutil.copytree(os.path.join(FIXTURES, "samples", "D4RL"), os.path.join(root, "D4RL"))
        say_they_are_of(os.path.join(root, "D4RL"), release)
        for name in ("arm-v21", "arm-v30"):
            shutil.copytree(os.path.join(FIXTURES, "lerobot", name), os.path.join(root, "lab", name))
        self.lab, self.table, self.samples = Lab(root), lab.table, lab.samples
        run(state, "access", "set", "*", "none", "")
        run(state, "access", "set", f"net:{NETWORK}/32", "read", "")
        self.token = run(state, "token", "add", "reader", "--read", "")
        self.hub = Hub([root], state=state)

    def begin(self):
        self.hub.wait_ready()
        self.hub.checker = None
        until(lambda: (items := self.hub.get("/api/v1/datasets?limit=1000", bearer(self.token)).json()["items"]) and all(d["status"] != "pending" for d in items))
        assert not self.hub.datasets()
        return self

    def own_equal(self, folder):
        """Files of OWN; what the hub says of it as a namespace is in a bucket, too, and not on the disk."""
        os.remove(os.path.join(folder, "namespace_metadata.json"))
        return self.lab.files_equal(folder, OWN + "/")


class Front:
    """Passes connections on to a port, from an address of this machine, and keeps how requests said who asks."""

    def __init__(self, port, address="127.0.0.1"):
        self.port, self.address, self.seen = port, address, set()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.base = "http://127.0.0.1:%d" % self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port), source_address=(self.address, 0))
            threading.Thread(target=self.pump, args=(client, far, True), daemon=True).start()
            threading.Thread(target=self.pump, args=(far, client, False), daemon=True).start()

    def pump(self, source, to, is_asking):
        left = b""
        try:
            while data := source.recv(65536):
                left = self.read(left + data) if is_asking else left
                to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def read(self, data):
        """What is left behind the last whole header."""
        while b"\r\n\r\n" in data:
            head, _, data = data.partition(b"\r\n\r\n")
            scheme = re.search(rb"^authorization: *(\w+)", head, re.I | re.M)
            signed = re.search(rb"(?:GET|HEAD) \S*[?&]sig=", head)
            self.seen.add(scheme[1].decode().capitalize() if scheme else "a signed link" if signed else "nothing")
        return data

    def close(self):
        self.server.close()
