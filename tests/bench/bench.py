#!/usr/bin/env python3
"""The bench: real servers on loopback, alternated runs, medians with spread, server CPU per request, the hypervisor's steal. See
tests/bench/README.md. A missed bar is reported, nothing is hidden: runs with errors are marked."""
import argparse
import contextlib
import ctypes
import json
import mmap
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
BIN = os.path.join(TOP, "build", "bin")
HUB, AIOHTTP, FLASK, PARQUET = 8180, 8102, 8101, 8103
CEILING = {("npy", 100): 8195, ("csv", 100): 8196, ("npy", 256): 8197}


def task_ns(pid, task):
    with open(f"/proc/{pid}/task/{task}/schedstat") as f:
        return int(f.read().split()[0])


def cpu_ns(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a worker that ends meanwhile
            for task in os.listdir(f"/proc/{pid}/task"):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    total += task_ns(pid, task)
    return total


def stat_line():
    with open("/proc/stat") as f:
        return [int(x) for x in f.readline().split()[1:9]]


def family(pid):
    """A server's process and its workers."""
    pids = [pid]
    for p in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{p}/task/{p}/children") as f:
            pids += [int(x) for x in f.read().split()]
    return pids


class Server:
    def __init__(self, name, command, url, tick=0.05, patience=60, env=None):
        self.name, self.url = name, url
        self.log = open(os.path.join(WORK, name.replace(" ", "-") + ".log"), "wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env={**os.environ, **(env or {})}, cwd=HERE)
        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(url, timeout=2).read()
                return
            except OSError as e:
                if getattr(e, "code", 503) != 503:
                    return
                if self.process.poll() is not None:
                    break
                time.sleep(tick)
        self.stop()
        with open(self.log.name, errors="replace") as f:
            raise SystemExit(f"{name} does not answer at {url}:\n{f.read()[-2000:]}")

    def pids(self):
        return family(self.process.pid)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Run:
    """One measured run of wrk (or curl) against one server."""

    def __init__(self, line, requests_cpu_us, steal):
        self.line, self.cpu, self.steal = line, requests_cpu_us, steal
        self.rate, self.p50, self.p99, self.bad = line["req/s"], line["p50"], line["p99"], line["bad"]


def wrk(server, script, path, c, seconds, env):
    before, s0 = cpu_ns(server.pids()), stat_line()
    out = subprocess.run(["wrk", f"-t{min(c, 2)}", f"-c{c}", f"-d{seconds}s", "--latency", "-s", os.path.join(HERE, script), server.url.split("/", 3)[0] + "//" + server.url.split("/")[2] + path],
                         capture_output=True, text=True, env={**os.environ, **{k: str(v) for k, v in env.items()}}).stdout
    after, s1 = cpu_ns(server.pids()), stat_line()
    m = re.search(r"RESULT n (\d+) req/s (\S+) MB/s (\S+) p50 (\S+) p90 (\S+) p99 (\S+) max (\S+) non2xx (\d+) err (\d+)", out)
    if not m:
        raise SystemExit(f"wrk said nothing usable against {server.name}:\n{out}")
    n = int(m[1])
    line = {"n": n, "req/s": float(m[2]), "MB/s": float(m[3]), "p50": float(m[4]), "p99": float(m[6]), "bad": int(m[8]) + int(m[9])}
    total = sum(b - a for a, b in zip(s0, s1)) or 1
    return Run(line, (after - before) / 1000 / max(n, 1), 100 * (s1[7] - s0[7]) / total)


def curl_time(server, path, *options):
    before = cpu_ns(server.pids())
    s0 = stat_line()
    out = subprocess.run(["curl", "-sf", "-o", "/dev/null", "-w", "%{time_total} %{size_download}", server.url.rsplit("/", 1)[0].split("/", 3)[0] + "//" + server.url.split("/")[2] + path, *options],
                         capture_output=True, text=True, check=True).stdout.split()
    s1 = stat_line()
    seconds, size = float(out[0]), int(out[1])
    total = sum(b - a for a, b in zip(s0, s1)) or 1
    return Run({"req/s": size / 1e6 / seconds, "p50": seconds * 1e3, "p99": seconds * 1e3, "bad": 0}, (cpu_ns(server.pids()) - before) / 1000, 100 * (s1[7] - s0[7]) / total)


def undisturbed(work):
    """What a run gives; it is made again, up to twice, when the hypervisor took more than 5 % of its time for others."""
    for _ in range(3):
        before, result, after = stat_line(), work(), stat_line()
        if 100 * (after[7] - before[7]) <= 5 * (sum(after) - sum(before)):
            break
    return result


def alternate(works, runs, warm=None):
    """works: name -> callable; one run of each in turn, `runs` times, each with the file `warm` in the page cache."""
    results = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            if warm:
                hold(warm)
            results[name].append(undisturbed(work))
    return results


def from_disk(path):
    """Have a file's pages as reading it leaves them, which is how a server finds its data, and not as its writer did: what was written in
    small pieces lies in single pages, of which each read takes twice the processor time."""
    block = bytearray(4 << 20)
    with open(path, "rb", buffering=0) as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while f.readinto(block):
            pass


held = {}


def hold(path):
    """Keep a file's pages in memory until the end: a host may take those of an idle guest away (several percent of a file within
    seconds), and a warm run is to be warm. Where they may not be locked (ulimit -l) they are read once more before each run."""
    if path not in held:
        from_disk(path)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        with open(path, "rb") as f:
            size = os.fstat(f.fileno()).st_size
            at = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, f.fileno(), ctypes.c_long(0))
        held[path] = libc.mlock(ctypes.c_void_p(at), ctypes.c_size_t(size)) == 0
    if not held[path]:
        block = bytearray(4 << 20)
        with open(path, "rb", buffering=0) as f:
            while f.readinto(block):
                pass


def middle(values):
    return statistics.median(values)


def show(title, results, rows):
    for name, runs in results.items():
        rates, cpus = [r.rate for r in runs], [r.cpu for r in runs]
        line = (f"{title:34.34s} {name:22.22s} {middle(rates):9.0f} [{min(rates):.0f}..{max(rates):.0f}]  p50 {middle([r.p50 for r in runs]):8.3f}  "
                f"p99 {middle([r.p99 for r in runs]):8.3f}  cpu {middle(cpus):8.1f} us [{min(cpus):.1f}..{max(cpus):.1f}]  "
                f"bad {sum(r.bad for r in runs)}  steal {max(r.steal for r in runs):.0f}%")
        print(line, flush=True)
        rows.append({"work": title, "server": name, "rate": middle(rates), "spread": [min(rates), max(rates)], "p50": middle([r.p50 for r in runs]),
                     "p99": middle([r.p99 for r in runs]), "cpu_us": middle(cpus), "bad": sum(r.bad for r in runs)})


bars = []


def bar(what, values, limit, at_least):
    """Met where the median of the runs meets the limit. The worst of them is printed beside it and decides nothing: one run of a few seconds
    says what else the machine did meanwhile."""
    values = values if isinstance(values, list) else [values]
    median, worst = middle(values), min(values) if at_least else max(values)
    ok = median >= limit if at_least else median <= limit
    bars.append((what, median, worst, limit, at_least, ok))
    print(f"    {'pass' if ok else 'MISS'}  {what}: {median:.2f}, worst {worst:.2f} ({'>=' if at_least else '<='} {limit:g})", flush=True)


def rates(runs):
    return [x.rate for x in runs]


def cpus(runs):
    return [x.cpu for x in runs]


def p99s(runs):
    return [x.p99 for x in runs]


def over(a, b):
    """Run by run: those of one number were measured one after the other."""
    return [x / y for x, y in zip(a, b)]


def spread(values):
    """The interquartile range over the median: of 11 values the distance from the 3rd to the 9th."""
    first, _, third = statistics.quantiles(values, n=4)
    return (third - first) / middle(values)


def bad(r):
    return sum(x.bad for x in r)


def make_data(data):
    if not os.path.exists(f"{data}/lerobot-bench/meta/info.json"):
        print(f"making the data in {data} (about 3.5 GB)", flush=True)
        subprocess.run([sys.executable, f"{HERE}/gen_data.py", data, "all"], check=True)
        subprocess.run([sys.executable, f"{HERE}/gen_images.py", data], check=True)
        subprocess.run([sys.executable, f"{HERE}/gen_lerobot.py", f"{data}/lerobot-bench"], check=True)


def main():
    global WORK
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default="", help="words with commas between: the tables whose function has one of them in its name")
    parser.add_argument("--data", default=os.path.join(TOP, "build", "bench-data"))
    parser.add_argument("--json", help="write the rows there too")
    a = parser.parse_args()
    WORK = tempfile.mkdtemp(prefix="hub-bench-")
    data = os.path.abspath(a.data)
    make_data(data)
    from works import all_works

    servers, rows = {}, []
    try:
        bench = Bench(data, a, servers, rows)
        for work in all_works:
            if any(word in work.__name__ for word in a.only.split(",")):
                print(f"\n== {work.__doc__.strip()}", flush=True)
                work(bench)
    finally:
        for server in servers.values():
            server.stop()
        shutil.rmtree(WORK, ignore_errors=True)
    missed = [b for b in bars if not b[5]]
    print(f"\n{len(bars) - len(missed)} of {len(bars)} bars met")
    for what, median, worst, limit, at_least, _ in missed:
        print(f"missed: {what}: {median:.2f}, worst {worst:.2f}, wanted {'>=' if at_least else '<='} {limit:g}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"rows": rows, "bars": bars}, f, indent=1)


class Bench:
    """What a work needs: the data, the servers (started on first use), and how to measure."""

    def __init__(self, data, args, servers, rows):
        self.data, self.args, self.servers, self.rows = data, args, servers, rows
        self.big = f"{data}/bench-big-v0/data/main_data.hdf5"

    def hub(self):
        if "hub" not in self.servers:
            state = os.path.join(WORK, "state")
            os.makedirs(state)
            command = [f"{BIN}/minari-hub", "serve", "--root", self.data, "--state", state, "--listen", f"127.0.0.1:{HUB}", "--settle", "0",
                       "--access-log=off", "--measure=off"]  # the peers run without a log too
            self.servers["hub"] = Server("hub", command, f"http://127.0.0.1:{HUB}/readyz")
            self.wait_indexed(HUB)
        return self.servers["hub"]

    def wait_indexed(self, port, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = []
            for only in ("", "&status=pending"):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/datasets?limit=1{only}") as r:
                    found.append(json.load(r)["total"])
            if found[0] and not found[1]:
                return
            time.sleep(0.05)
        raise SystemExit("the hub did not finish indexing")

    def nginx(self, port=8081):
        if "nginx" not in self.servers:
            conf = os.path.join(WORK, "nginx.conf")
            with open(f"{HERE}/nginx.conf") as f, open(conf, "w") as out:
                out.write(f.read().replace("DATA", self.data).replace("WORK", WORK))
            os.makedirs(f"{self.data}/doc", exist_ok=True)
            with open(f"{self.data}/doc/1k.json", "wb") as f:
                f.write(b"a" * 1024)
            os.chmod(WORK, 0o755)
            self.servers["nginx"] = Server("nginx", ["nginx", "-c", conf], "http://127.0.0.1:8081/doc/1k.json")
        s = self.servers["nginx"]
        other = Server.__new__(Server)
        other.name, other.process, other.url = f"nginx {'sendfile' if port == 8081 else 'copy'}", s.process, f"http://127.0.0.1:{port}/"
        return other

    def aiohttp(self):
        if "aiohttp" not in self.servers:
            self.servers["aiohttp"] = Server("aiohttp", [sys.executable, "peer_aiohttp.py", str(AIOHTTP)], f"http://127.0.0.1:{AIOHTTP}/hello", env={"H5": self.big})
        return self.servers["aiohttp"]

    def gunicorn(self, app, port, env):
        if app not in self.servers:
            self.servers[app] = Server(app, [sys.executable, "-m", "gunicorn", "-k", "gthread", "-w", "2", "--threads", "4", "-b", f"127.0.0.1:{port}", f"{app}:app"],
                                       f"http://127.0.0.1:{port}/hello", env=env)
        return self.servers[app]

    def flask(self):
        return self.gunicorn("peer_flask", FLASK, {"H5": self.big})

    def parquet(self):
        return self.gunicorn("peer_parquet", PARQUET, {"ROOT": f"{self.data}/lerobot-bench"})

    def ceiling(self, form, n=100):
        """A server that answers with the bytes of a slice of n rows, and reads no HTTP; its bytes are compared with the hub's first."""
        name = f"ceiling {form} {n}"
        if name not in self.servers:
            subprocess.run(["cmake", "--build", os.path.join(TOP, "build"), "--target", "ceiling"], check=True, stdout=subprocess.DEVNULL)
            mine = subprocess.run([f"{BIN}/ceiling", self.big, form, str(n), "17", "345"], capture_output=True, check=True).stdout
            with urllib.request.urlopen(f"{self.hub().url[:-7]}/api/v1/datasets/bench-big-v0/episodes/17/observations?start=345&stop={345 + n}&format={form}") as answer:
                assert answer.read() == mine, f"{name} and the hub answer with different bytes"
            self.servers[name] = Server(name, [f"{BIN}/ceiling", self.big, form, str(n), str(CEILING[form, n])], f"http://127.0.0.1:{CEILING[form, n]}/")
        return self.servers[name]

    def compare(self, title, works, warm=None, times=1):
        """The works measured in turn. times: as many more runs, for what differs much from run to run."""
        results = alternate(works, times * self.args.runs, warm)
        show(title, results, self.rows)
        return results

    def slices(self, server, c, template, **env):
        return lambda: wrk(server, "slice.lua", "", c, self.args.seconds, {"TPL": template, "N": 100, **env})

    def ranges(self, server, c, path, size, **env):
        return lambda: wrk(server, "range.lua", path, c, self.args.seconds, {"SIZE": size, **env})

    def urls(self, server, c, file):
        return lambda: wrk(server, "urls.lua", "", c, self.args.seconds, {"URLS": file})

    def plain(self, server, c, path, token=""):
        return lambda: wrk(server, "plain.lua", path, c, self.args.seconds, {"TOKEN": token})

    def whole(self, server, path, *options):
        return lambda: curl_time(server, path, *options)

    def one_at_a_time(self, server, paths):
        """Sequential requests on one connection: wall and CPU ms each."""
        def run():
            import http.client

            host = server.url.split("/")[2]
            connection = http.client.HTTPConnection(host)
            for p in paths[:3]:
                connection.request("GET", p)
                connection.getresponse().read()
            before, s0, t0, size = cpu_ns(server.pids()), stat_line(), time.perf_counter(), 0
            for p in paths:
                connection.request("GET", p)
                answer = connection.getresponse()
                size = len(answer.read())
                assert answer.status == 200, (p, answer.status)
            wall = (time.perf_counter() - t0) / len(paths)
            s1 = stat_line()
            total = sum(b - a for a, b in zip(s0, s1)) or 1
            line = {"req/s": 1 / wall, "p50": wall * 1e3, "p99": wall * 1e3, "bad": 0}
            return Run(line, (cpu_ns(server.pids()) - before) / 1000 / len(paths), 100 * (s1[7] - s0[7]) / total)
        return run


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    sys.modules["bench"] = sys.modules["__main__"]
    main()
