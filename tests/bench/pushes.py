"""What is measured of pushes, and the bars: see works.py. The hub is pinned to core 0, and so is what it is compared with; all else to core 1."""
import contextlib
import functools
import http.client
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import bench as b

HUB, PEER = 8261, 8083
MIB = 1 << 20
LARGE_MIB = int(os.environ.get("HUB_BENCH_PUSH_MIB", "4096"))
STOCK_MIB = int(os.environ.get("HUB_BENCH_STOCK_MIB", "2048"))
SOME = 5000
MANY = int(os.environ.get("HUB_BENCH_PUSH_FILES", "100000"))
LINE_MB = 30  # a second, of each of four pushes beside slices: together a gigabit line


def on_core_1(work):
    """Whatever it starts is there, too, but for servers and the like."""
    @functools.wraps(work)
    def run(x):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {1})
        try:
            work(x)
        finally:
            os.sched_setaffinity(0, cores)
    return run


def on_core_0(*command):
    return ["taskset", "-c", "0", *command]


class Pushed:
    """A hub that takes pushes, with a token that may write."""

    def __init__(self, x, *roots):
        self.place = tempfile.mkdtemp(dir=b.WORK)
        os.mkdir(f"{self.place}/root")
        command = [f"{b.BIN}/minari-hub", "serve", "--root", f"lab={self.place}/root", *roots, "--state", f"{self.place}/state", "--listen", f"127.0.0.1:{HUB}", "--settle", "0",
                   "--access-log=off", "--measure=off"]
        self.server = x.servers["pushed"] = b.Server("pushed", on_core_0(*command), f"http://127.0.0.1:{HUB}/readyz")
        self.x, self.number = x, 0
        self.token = subprocess.run([f"{b.BIN}/minari-hub", "token", "add", "ann", "--write", "lab/", "--state", f"{self.place}/state"], check=True, capture_output=True, text=True).stdout.strip()

    def ask(self, method, path, body=None, status=(200, 201, 204)):
        connection = http.client.HTTPConnection("127.0.0.1", HUB, timeout=600)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            data = answer.read()
        assert answer.status in status, (method, path, answer.status, data[:500])
        return json.loads(data) if data else None

    def draft(self):
        self.number += 1
        return "/api/v1/drafts/" + self.ask("POST", "/api/v1/drafts", json.dumps({"id": f"lab/set{self.number}-v0"}))["draft"]

    def repo(self):
        self.number += 1
        name = f"set{self.number}-v0"
        self.ask("POST", "/api/repos/create", json.dumps({"name": name, "organization": "lab", "type": "dataset"}))
        return f"lab/{name}"

    def stop(self):
        self.x.servers.pop("pushed").stop()
        shutil.rmtree(self.place)


def anonymous_kib(server):
    """Of the server alone: its inspectors have each their own."""
    total = 0
    for pid in server.pids()[:1]:
        with open(f"/proc/{pid}/status") as f:
            total += int(re.search(r"RssAnon:\s+(\d+)", f.read())[1])
    return total


class Highest(threading.Thread):
    """The highest RssAnon of a server, of samples every 50 ms."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.over = server, threading.Event()
        self.before = self.kib = anonymous_kib(server)

    def run(self):
        while not self.over.wait(0.05):
            self.kib = max(self.kib, anonymous_kib(self.server))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def send(path, url, *options):
    """The bytes of a file by one PUT."""
    status = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-T", path, *options, url], check=True, capture_output=True, text=True).stdout
    assert status in ("201", "204"), (url, status)


def timed(server, size, work):
    """A run: MB a second, and the processor time of a server together with what `work` says that others took in its place."""
    before, began = b.cpu_ns(server.pids()), time.perf_counter()
    others_s = work() or 0
    wall = time.perf_counter() - began
    return b.Run({"req/s": size / 1e6 / wall, "p50": wall * 1e3, "p99": wall * 1e3, "bad": 0}, (b.cpu_ns(server.pids()) - before) / 1000 + others_s * 1e6, 0)


def make_large():
    path, block = os.path.join(b.WORK, "push-large.bin"), os.urandom(MIB)
    with open(path, "wb") as f:
        for _ in range(LARGE_MIB):
            f.write(block)
    return path


def push_peer(x):
    conf = os.path.join(b.WORK, "nginx-push.conf")
    with open(f"{b.HERE}/nginx_push.conf") as f, open(conf, "w") as out:
        out.write(f.read().replace("WORK", b.WORK))
    os.makedirs(os.path.join(b.WORK, "push-peer"))
    for folder, mode in ((b.WORK, 0o755), (os.path.join(b.WORK, "push-peer"), 0o777)):  # its workers may be another user
        os.chmod(folder, mode)
    return b.Server("nginx-push", on_core_0("nginx", "-c", conf), f"http://127.0.0.1:{PEER}/none")


@on_core_1
def push_large(x):
    """One large file (4 GiB) by one PUT, against nginx client_body_in_file_only and then sha256sum"""
    path, size, hub = make_large(), LARGE_MIB * MIB, Pushed(x)
    peer = x.servers["nginx-push"] = push_peer(x)
    there = os.path.join(b.WORK, "push-peer", "large.bin")
    grown, removals = [], []

    def to_hub():
        draft = hub.draft()
        with Highest(hub.server) as highest:
            run = timed(hub.server, size, lambda: send(path, f"http://127.0.0.1:{HUB}{draft}/files/large.bin", "-H", f"Authorization: Bearer {hub.token}"))
        grown.append((highest.kib - highest.before) / 1024)
        hub.ask("DELETE", draft)
        return run

    def to_peer(*sum_of):
        def work():
            send(path, f"http://127.0.0.1:{PEER}/large.bin")
            before = children_s()
            subprocess.run(on_core_0(*sum_of, there), check=True, stdout=subprocess.DEVNULL)
            return children_s() - before

        def run():
            result = timed(peer, size, work)
            os.unlink(there)
            return result
        return run

    r = x.compare(f"{LARGE_MIB} MiB by one PUT, MB/s", {"hub": to_hub, "nginx, sha256sum": to_peer("sha256sum"), "nginx, openssl dgst": to_peer("openssl", "dgst", "-sha256")}, path)
    for name in ("nginx, sha256sum", "nginx, openssl dgst"):
        wall, cpu = b.over(b.rates(r["hub"]), b.rates(r[name])), b.over(b.cpus(r[name]), b.cpus(r["hub"]))
        if name == "nginx, sha256sum":
            b.bar("one large PUT, rate over nginx and then sha256sum", wall, 0.9, True)
            b.bar("one large PUT, CPU of nginx and then sha256sum over hub", cpu, 0.9, True)
        else:
            print(f"    over {name}: rate {b.middle(wall):.2f}, CPU {b.middle(cpu):.2f}")
    b.bar("one large PUT, MiB that RssAnon grows by at most", grown, 16, False)
    x.servers.pop("nginx-push").stop()
    hub.stop()
    os.unlink(path)


def put_many(hub, draft, count, connections=8):
    """Seconds that files of 10 KB take."""
    said = subprocess.run([f"{b.BIN}/push_files", str(HUB), hub.token, draft, str(count), "10000", str(connections)], check=True, capture_output=True, text=True)
    seconds, refused = re.match(r"(\S+) s, (\d+) refused", said.stdout).groups()
    assert refused == "0", said.stderr
    return float(seconds)


def put_dataset(x, hub, draft):
    """A small Minari dataset, so that there is something to inspect."""
    folder = f"{x.data}/bench-door-v0/data"
    for name in os.listdir(folder):
        send(f"{folder}/{name}", f"http://127.0.0.1:{HUB}{draft}/files/data/{name}", "-H", f"Authorization: Bearer {hub.token}")


def commit(hub, draft):
    began = time.perf_counter()
    done = hub.ask("POST", f"{draft}/commit")
    assert done.get("format"), done
    return time.perf_counter() - began


@on_core_1
def push_small(x):
    """10 KB files on 8 connections, and the commit of 100,000 of them beside a dataset"""
    hub, commits = Pushed(x), []

    def run():
        draft = hub.draft()
        put_dataset(x, hub, draft)
        before = b.cpu_ns(hub.server.pids())
        seconds = put_many(hub, draft, SOME)
        used = b.cpu_ns(hub.server.pids()) - before
        commits.append(commit(hub, draft))
        return b.Run({"req/s": SOME / seconds, "p50": seconds / SOME * 1e3, "p99": seconds / SOME * 1e3, "bad": 0}, used / 1000 / SOME, 0)

    r = x.compare(f"{SOME:,} files of 10 KB, 1/s", {"hub": run})
    print(f"    their commit: {b.middle(commits):.2f} s")
    b.bar("files of 10 KB a second", b.rates(r["hub"]), 1000, True)
    draft = hub.draft()
    put_dataset(x, hub, draft)
    seconds = put_many(hub, draft, MANY)
    print(f"    {MANY:,} files came in {seconds:.1f} s, {MANY / seconds:.0f} a second", flush=True)
    with Highest(hub.server) as highest:
        b.bar(f"commit of {MANY:,} files, s", commit(hub, draft), 5, False)
    print(f"    RssAnon {highest.before / 1024:.0f} MiB before the commit, {highest.kib / 1024:.0f} at most")
    hub.stop()


class Pushers:
    """Four clients that send one file after the other."""

    def __init__(self, hub, path, *options):
        self.hub, self.over, self.sent = hub, threading.Event(), 0
        self.threads = [threading.Thread(target=self.push, args=(path, n, *options), daemon=True) for n in range(4)]
        self.draft = hub.draft()

    def push(self, path, number, *options):
        while not self.over.is_set():
            send(path, f"http://127.0.0.1:{HUB}{self.draft}/files/{number}.bin", "-H", f"Authorization: Bearer {self.hub.token}", *options)
            self.sent += os.path.getsize(path)

    def __enter__(self):
        self.began = time.monotonic()
        [t.start() for t in self.threads]
        time.sleep(0.2)
        return self

    def __exit__(self, *_):
        self.over.set()
        [t.join() for t in self.threads]
        self.rate = self.sent / 1e6 / (time.monotonic() - self.began)
        self.hub.ask("DELETE", self.draft)


@on_core_1
def push_beside(x):
    """Slices of other datasets while four pushes come"""
    from works import NPY

    path = os.path.join(b.WORK, "push-beside.bin")
    with open(path, "wb") as f:
        f.write(os.urandom(64 * MIB))
    hub = Pushed(x, "--root", f"big={x.data}")
    x.wait_indexed(HUB)
    slices = x.slices(hub.server, 8, NPY.replace("/datasets/", "/datasets/big/"))
    rates = {}

    def beside(name, *options):
        def run():
            with Pushers(hub, path, *options) as pushers:
                result = slices()
            rates.setdefault(name, []).append(pushers.rate)
            return result
        return run

    line, fast = f"beside 4 of {LINE_MB} MB/s", "beside 4 without limit"
    r = x.compare("slices while four pushes come", {"alone": slices, line: beside(line, "--limit-rate", f"{LINE_MB}M"), fast: beside(fast)}, x.big)
    for name in (line, fast):
        over = [m / (2 * a + 0.5) for m, a in zip(b.p99s(r[name]), b.p99s(r["alone"]))]
        print(f"    {name}: {b.middle(rates[name]):.0f} MB/s came")
        b.bar(f"slices {name}, p99 over 2x alone + 0.5 ms", over, 1, False)
        b.bar(f"slices {name}, errors", b.bad(r[name]), 0, False)
    hub.stop()
    os.unlink(path)


def lfs_many(hub, repo, count, connections=8):
    """Seconds that files of 10 KB take to be sent, and to be committed."""
    said = subprocess.run([f"{b.BIN}/push_lfs", str(HUB), hub.token, repo, str(count), "10000", str(connections)], check=True, stdout=subprocess.PIPE, text=True)
    return [float(seconds) for seconds in re.match(r"(\S+) s to send, (\S+) s to commit", said.stdout).groups()]


@on_core_1
def push_lfs(x):
    """10 KB files by Git LFS on 8 connections: asked for a hundred at a time, sent, verified, and committed"""
    hub, commits = Pushed(x), []

    def run():
        repo = hub.repo()
        before = b.cpu_ns(hub.server.pids())
        seconds, last = lfs_many(hub, repo, SOME)
        used = b.cpu_ns(hub.server.pids()) - before
        commits.append(last)
        return b.Run({"req/s": SOME / (seconds + last), "p50": seconds / SOME * 1e3, "p99": seconds / SOME * 1e3, "bad": 0}, used / 1000 / SOME, 0)

    r = x.compare(f"{SOME:,} files of 10 KB by LFS, 1/s", {"hub": run})
    print(f"    their commit: {b.middle(commits):.2f} s of it")
    b.bar("files of 10 KB a second by LFS, with their commit", b.rates(r["hub"]), 1000, True)
    hub.stop()


def make_folder(x):
    """A small dataset and, beside it, large files that no two runs share: its place."""
    folder = tempfile.mkdtemp(dir=b.WORK)
    shutil.copytree(f"{x.data}/bench-door-v0/data", f"{folder}/data")
    with open(f"{folder}/data/large.bin", "wb") as f:
        for _ in range(STOCK_MIB):
            f.write(os.urandom(MIB))
    return folder


def stock_upload(hub, folder, **env):
    """Seconds of processor time of the server for a push by `hf upload`; the whole of it is the client's run."""
    repo = hub.repo()
    with tempfile.TemporaryDirectory(dir=b.WORK) as home:
        env = {**{k: v for k, v in os.environ.items() if not k.startswith("HF_")}, "HF_ENDPOINT": f"http://127.0.0.1:{HUB}", "HF_TOKEN": hub.token, "HF_HOME": home,
               "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", **env}
        before = b.cpu_ns(hub.server.pids())
        subprocess.run([os.path.join(os.path.dirname(sys.executable), "hf"), "upload", repo, folder, "--repo-type", "dataset"], check=True, capture_output=True, env=env)
        return (b.cpu_ns(hub.server.pids()) - before) / 1e9


def native_upload(hub, folder):
    """The same bytes by PUT into a draft, and its commit."""
    before, draft = b.cpu_ns(hub.server.pids()), hub.draft()
    for name in os.listdir(f"{folder}/data"):
        send(f"{folder}/data/{name}", f"http://127.0.0.1:{HUB}{draft}/files/data/{name}", "-H", f"Authorization: Bearer {hub.token}")
    commit(hub, draft)
    return (b.cpu_ns(hub.server.pids()) - before) / 1e9


@on_core_1
def push_stock(x):
    """A folder of 2 GiB: processor time of the hub for a push by hf upload, with Git LFS and over Xet, against PUT into a draft"""
    used = {"native": [], "lfs": [], "xet": []}
    for _ in range(x.args.runs):
        hub, folder = Pushed(x), make_folder(x)
        used["native"].append(native_upload(hub, folder))
        used["lfs"].append(stock_upload(hub, folder, HF_HUB_DISABLE_XET="1"))
        used["xet"].append(stock_upload(hub, folder))
        hub.stop()
        shutil.rmtree(folder)
    for name, seconds in used.items():
        print(f"    {STOCK_MIB} MiB, {name}: {b.middle(seconds):.2f} s of processor time [{min(seconds):.2f}..{max(seconds):.2f}]")
    b.bar("CPU of hf upload with Git LFS over native PUT", b.over(used["lfs"], used["native"]), 1.3, False)
    b.bar("CPU of hf upload over Xet over native PUT", b.over(used["xet"], used["native"]), 2, False)
    rates = {name: STOCK_MIB * MIB / 1e6 / b.middle(seconds) for name, seconds in used.items()}
    print("    raw MB a second of the hub's processor time: " + ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items()))


@on_core_1
def push_xet(x):
    """Files made of xorbs, without a server: raw MB a second of processor time"""
    said = subprocess.run([f"{b.BIN}/micro_xet"], check=True, stdout=subprocess.PIPE, text=True).stdout
    print(said, end="")
    for scheme, rate in re.findall(r"^(\S.*?) +\d+ MB/s decoded +(\d+) MB/s to an object$", said, re.M):
        b.bar(f"made of xorbs, {scheme}, MB/s", int(rate), 400, True)


push_works = [push_large, push_small, push_beside, push_lfs, push_stock, push_xet]
