"""A real hub for a test: started on a free port over given roots, stopped and checked at the end. Standard library only."""
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
PROGRAM = os.environ.get("HUB_PROGRAM", "minari-hub")  # or minari-hub-late: tests/support/late.c
BIN = os.environ.get("HUB_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin"))

PATIENCE = 60  # seconds until a test gives up: far more than anything takes that works, as the machine may stand still


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


def quote(path):
    return urllib.parse.quote(path, safe="/")


class Connection:
    """One connection for the requests of one thread: a test that sends thousands takes half the time."""
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method, path, headers):
        while True:
            fresh = self.connection.sock is None
            try:
                self.connection.request(method, path, headers=headers)
                with self.connection.getresponse() as r:
                    return Answer(r.status, r.headers, r.read())
            except OSError as e:
                self.connection.close()
                if fresh or not isinstance(e, (BrokenPipeError, ConnectionResetError)):  # a hub may end an idle connection at any time
                    raise


class Control(http.client.HTTPConnection):
    """HTTP over STATE/control.sock; its directory is named by a descriptor, because a socket's name is short."""

    def __init__(self, state):
        super().__init__("localhost", timeout=30)
        self.state = state

    def connect(self):
        directory = os.open(self.state, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{directory}/control.sock")
        finally:
            os.close(directory)


class Hub:
    """`keep_alive`: `get` sends all requests over one connection; for tests of one thread."""
    def __init__(self, roots, state=None, args=(), program=PROGRAM, prefix=(), log=None, keep_alive=False):
        self.own_state = state is None
        self.state = state or tempfile.mkdtemp(prefix="hub-state-")
        self.log_path = log or os.path.join(self.state, "test.log")
        self.log = open(self.log_path, "ab")
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.connection = Connection(self.port) if keep_alive else None
        command = [os.path.join(BIN, program), "serve", "--state", self.state, "--listen", f"127.0.0.1:{self.port}", "--settle", "0"]
        for root in roots:
            command += ["--root", root]
        self.process = subprocess.Popen(list(prefix) + command + list(args), stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.checker = None

    def get(self, path, headers=None, method="GET"):
        """`path` is already percent-encoded."""
        answer = self.connection.ask(method, path, headers or {}) if self.connection else self.get_alone(path, headers, method)
        if self.checker:
            self.checker(method, path, answer)
        return answer

    def get_alone(self, path, headers, method):
        """Over a connection of its own."""
        request = urllib.request.Request(self.base + path, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as r:
                return Answer(r.status, r.headers, r.read())
        except urllib.error.HTTPError as e:
            return Answer(e.code, e.headers, e.read())

    def get_uncut(self, path):
        """None where the answer ends short, as it must where its file is replaced while it is sent: for `until`."""
        with contextlib.suppress(http.client.IncompleteRead):
            return self.get(path)

    def wait_ready(self, timeout=PATIENCE):
        def is_ready():
            assert self.process.poll() is None, f"the hub ended with {self.process.returncode}"
            with contextlib.suppress(OSError, urllib.error.URLError):
                return self.get("/readyz").status == 200

        try:
            until(is_ready, timeout)
        except AssertionError as e:
            raise AssertionError(f"the hub is not ready: {e}\n{self.log_tail()}") from None
        self.hold_to_contract()
        return self

    def hold_to_contract(self):
        """From now on every answer is checked against the hub's own openapi.json."""
        if not self.checker:
            from contract import Contract

            self.checker = Contract(self.get("/openapi.json").json())

    def datasets(self, query=""):
        items, url = [], "/api/v1/datasets?limit=1000" + query
        while url:
            page = self.get(url).json()
            items += page["items"]
            url = page["next"] and page["next"].replace(self.base, "")
        return items

    def statuses(self):
        return {d["id"]: d["status"] for d in self.datasets()}

    def wait_indexed(self, timeout=120):
        """Until nothing is pending."""
        self.wait_ready()

        def is_indexed():
            items = self.datasets() or self.admin("/api/v1/datasets?limit=1000")["items"]  # where rules hide all
            return items and all(i["status"] != "pending" for i in items)

        try:
            until(is_indexed, timeout, every=0.05)
        except AssertionError as e:
            raise AssertionError(f"{e}, still pending: {[i for i in self.datasets() if i['status'] == 'pending']}\n{self.log_tail()}") from None
        return self

    def admin(self, path):
        """What the admin of this machine gets."""
        connection = Control(self.state)
        connection.request("GET", path)
        with connection.getresponse() as answer:
            return json.loads(answer.read())

    def dataset(self, id):
        return self.get(f"/api/v1/datasets/{quote(id)}").json()

    def episodes(self, id):
        items, url = [], f"/api/v1/datasets/{quote(id)}/episodes?limit=1000"
        while url:
            page = self.get(url).json()
            items += page["items"]
            url = page["next"] and page["next"].replace(self.base, "")
        return items

    def processor_s(self):
        """What it has used of a processor: a bound that holds however busy the machine is."""
        with open(f"/proc/{self.process.pid}/stat") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def text_log(self):
        self.log.flush()
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def log_tail(self):
        """The end of the log, for a message."""
        return self.text_log()[-20000:]

    def stop(self, expect=0):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("the hub did not stop:\n" + self.log_tail())
        log = self.text_log()
        self.log.close()
        if self.own_state:
            shutil.rmtree(self.state, ignore_errors=True)
        assert not re.search(r"Sanitizer: |runtime error: ", log), log
        if expect is not None:
            assert self.process.returncode == expect, f"exit {self.process.returncode}:\n{log}"

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.stop(expect=None if kind else 0)


def no_full_disk(why):
    import pytest  # programs without it read this file, too
    pytest.skip(f"LOUD: NO FULL DISK: {why}, so nothing is tried on a disk that is full")


def small_disk(megabytes, *folders):
    """A command before others has so much disk at /mnt, with these folders of mode 700, in a mount namespace of its own; others see it by
    /proc/PID/root."""
    made = "".join(f" && mkdir -m 700 /mnt/{f}" for f in folders)
    command = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size={megabytes}m,mode=755 tmpfs /mnt{made} && exec "$@"', "sh"]
    if subprocess.run([*command, "true"], capture_output=True).returncode:
        no_full_disk("no tmpfs can be mounted here (unshare -rm)")
    return command


@contextlib.contextmanager
def mounted(folder, megabytes):
    """A small file system of its own at a folder, which is made; only root can make one."""
    os.mkdir(folder)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}M,mode=0700", "tmpfs", str(folder)], capture_output=True, text=True)
    if done.returncode:
        no_full_disk(f"no file system can be mounted here: {done.stderr}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def free_port():
    """A port that nobody uses. It lies below those that the kernel gives to connections and to servers of port 0: none of these can take
    it before the hub listens there."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
        below = int(f.read().split()[0])
    while True:
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", random.SystemRandom().randrange(10000, below) if below > 20000 else 0))
            return s.getsockname()[1]


def until(what, seconds=PATIENCE, every=0.02):
    """What `what` returns as soon as that is true. The one way in which tests wait for something that is not told to them."""
    end = time.monotonic() + seconds
    while True:
        last = time.monotonic() >= end  # it is asked once more after a long standstill
        try:
            got = what()
        except OSError as e:
            if last or not isinstance(getattr(e, "reason", e), (ConnectionRefusedError, ConnectionResetError)):  # those of a hub that restarts
                raise
            got = None
        if got:
            return got
        assert not last, f"it did not come about within {seconds} s"
        time.sleep(every)


@contextlib.contextmanager
def serving(*roots, **options):
    with Hub(roots, **options) as hub:
        yield hub.wait_indexed()
