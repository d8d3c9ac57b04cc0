#!/usr/bin/env python3
"""Two builds of the hub against each other: compare.py OLD NEW [--only WORD] [--rounds N], each a git revision or a build folder. See
"Two builds" in tests/bench/README.md. Exits with 1 where a row is worse or has errors, with 2 where nothing could be measured."""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import bench as b
import works

LEAST = 0.03  # a smaller difference is none
PROGRAMS = ("minari-hub", "minari-inspect", "minari-cli")
EPISODES = "/api/v1/datasets/bench-%s-v0/episodes/%%d/observations?format=npy"
ROWS = "/api/v1/datasets/bench-door-v0/rows?fields=observations&fields=actions&fields=rewards"


class Build(b.Bench):
    """One of the two builds, with its servers: their states last as long as the comparison, their processes one round."""

    def __init__(self, name, folder, args, data, port):
        super().__init__(data, args, {}, [])
        self.name, self.bin, self.port, self.lab = name, f"{folder}/bin", port, f"{data}-compare-lab"
        self.starts = {}

    def serve(self, name, root, port):
        if name not in self.servers:
            command = [f"{self.bin}/minari-hub", "serve", "--root", root, "--state", self.folder(f"{name}-state"), "--listen", f"127.0.0.1:{port}",
                       "--settle", "0", "--access-log=off", "--measure=off"]
            began = time.perf_counter()
            server = b.Server(f"{self.name}-{name}", command, f"http://127.0.0.1:{port}/readyz", 0.002)
            self.starts[name] = measured(time.perf_counter() - began, b.cpu_ns(server.pids()) / 1000)
            self.servers[name] = server
        return self.servers[name]

    def hub(self):
        return self.serve("hub", self.data, self.port)

    def lab_hub(self):
        return self.serve("lab", self.lab, self.port + 1)

    def stop(self):
        while self.servers:
            self.servers.popitem()[1].stop()

    def folder(self, name):
        path = f"{b.WORK}/{self.name}-{name}"
        os.makedirs(path, exist_ok=True)
        return path

    def lines(self, server, c, paths):
        """What wrk measures with random lines of them."""
        file = f"{b.WORK}/{self.name}.urls"
        with open(file, "w") as f:
            f.write("\n".join(paths) + "\n")
        return self.urls(server, c, file)()

    def prepare(self):
        """Everything that a hub does once is done: the roots are inspected, and what the rows ask for is hashed."""
        self.hub()
        self.wait_indexed(self.port)
        works.wait_hashed(self.hub(), works.HUB_BIG)
        ask(self.hub(), "/api/v1/datasets/bench-door-v0/archive.tar")
        self.lab_hub()
        self.wait_indexed(self.port + 1, 600)
        download(self)
        self.stop()


def measured(seconds, cpu_us):
    return b.Run({"req/s": 1 / seconds, "p50": seconds * 1e3, "p99": seconds * 1e3, "bad": 0}, cpu_us, 0)


def ask(server, path):
    with urllib.request.urlopen(urllib.parse.urljoin(server.url, path)) as answer:
        return answer.read()


def slice_npy(x):
    """100-row npy slices, c=8"""
    b.hold(x.big)
    return x.slices(x.hub(), 8, works.NPY)()


def slice_json(x):
    """100-row JSON slices, c=8"""
    b.hold(x.big)
    return x.slices(x.hub(), 8, works.JSON)()


def slice_csv(x):
    """100-row csv slices, c=8"""
    b.hold(x.big)
    return x.slices(x.hub(), 8, works.NPY.replace("npy", "csv"))()


def image(x):
    """episodes of gzip images, c=1"""
    return x.lines(x.hub(), 1, [EPISODES % "img-frame" % e for e in range(50)])


def sample(x):
    """samples of 256 windows of 16 steps, c=1"""
    b.hold(x.big)
    return x.lines(x.hub(), 1, [works.SAMPLE % seed for seed in range(1000)])


def ranges(x):
    """1 MiB ranges of a native file, c=8"""
    b.hold(x.big)
    return x.ranges(x.hub(), 8, works.HUB_BIG, os.path.getsize(x.big))()


def rows(x):
    """all rows of 25 episodes (4 MB), c=1"""
    return x.plain(x.hub(), 1, ROWS)()


def archive(x):
    """a dataset of 4 MB as archive.tar, c=1"""
    return x.plain(x.hub(), 1, "/api/v1/datasets/bench-door-v0/archive.tar")()


def pages_datasets(x):
    """pages of 100 of 1,000 datasets, c=8"""
    paths, page = [], "/api/v1/datasets?limit=100"
    while page:
        paths.append(re.sub("^http://[^/]*", "", page))
        page = json.loads(ask(x.lab_hub(), page))["next"]
    return x.lines(x.lab_hub(), 8, paths)


def pages_episodes(x):
    """pages of 100 episodes of 1,000 datasets, c=8"""
    return x.lines(x.lab_hub(), 8, [f"/api/v1/datasets/robot-{i // 100:03d}/task-{i % 100:02d}-v0/episodes?limit=100" for i in range(1000)])


BIG_EPISODES = "/api/v1/datasets/bench-big-v0/episodes?"


def where(x):
    """200 filters of 2,000 episodes, c=8"""
    return x.lines(x.hub(), 8, [BIG_EPISODES + f"where=steps%20%3E%20{i}%20and%20number%20%3E%201500&limit=10" for i in range(800, 1000)])


def list_jsonl(x):
    """2,000 episodes as JSON lines, c=1"""
    return x.plain(x.hub(), 1, BIG_EPISODES + "format=jsonl")()


def slice_arrow(x):
    """100-row arrow slices, c=8"""
    b.hold(x.big)
    return x.slices(x.hub(), 8, works.NPY.replace("npy", "arrow"))()


def rows_csv(x):
    """all rows of 25 episodes as csv, c=1"""
    return x.plain(x.hub(), 1, ROWS + "&format=csv")()


def document(x):
    """documents of 1,000 datasets, c=8"""
    return x.lines(x.lab_hub(), 8, [f"/api/v1/datasets/robot-{i // 100:03d}/task-{i % 100:02d}-v0" for i in range(1000)])


def start(x):
    """start until ready, 1,000 datasets unchanged"""
    if "lab" in x.servers:
        x.servers.pop("lab").stop()
    x.lab_hub()
    return x.starts["lab"]


def scan(x, root):
    return works.transfer([f"{x.bin}/minari-hub", "scan", "--root", root, "--state", "OUT", "--settle", "0"], 1)()


def scan_file(x):
    """first scan of one file of 2,000 episodes"""
    b.hold(x.big)
    return scan(x, f"{b.WORK}/only-big")


def link(source, target):
    """The same file in another folder: a link where both are on one disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def scan_lab(x):
    """first scan of 100 datasets"""
    return scan(x, f"{x.lab}/robot-000")


def download(x):
    """minari-cli takes a dataset from the hub"""
    size = os.path.getsize(f"{x.data}/bench-img-v0/data/main_data.hdf5")
    command = [f"{x.bin}/minari-cli", "download", "bench-img-v0", "-r", f"http://127.0.0.1:{x.port}", "-o", "OUT", "--as", "it"]
    x.hub()
    return works.transfer(command, size)()


all_rows = [slice_npy, slice_json, slice_csv, image, sample, ranges, rows, archive, pages_datasets, pages_episodes, where,
            list_jsonl, slice_arrow, rows_csv, document, start, scan_file, scan_lab, download]


def verdict(old, new):
    """The ratio of the medians, the larger spread, and what they say. Less is better."""
    ratio, noise = statistics.median(new) / statistics.median(old), max(b.spread(old), b.spread(new))
    allowed = max(LEAST, noise)
    return ratio, noise, "WORSE" if ratio > 1 + allowed else "better" if ratio < 1 - allowed else "same"


def report(results):
    """Prints two lines a row; returns them."""
    lines = []
    print(f"\n{'row':16s} {'what':5s} {'old us':>12s} {'new us':>12s} {'ratio':>7s} {'spread':>7s}  verdict")
    for name, (old, new) in results.items():
        bad = b.bad(old), b.bad(new)
        for what, values in (("cpu", lambda run: run.cpu), ("wall", lambda run: 1e6 / run.rate if run.line.get("n") else run.p50 * 1e3)):
            pair = [[values(run) for run in runs] for runs in (old, new)]
            ratio, noise, said = (0, 0, "ERRORS") if any(bad) else verdict(*pair)
            medians = [statistics.median(v) for v in pair]
            print(f"{name:16s} {what:5s} {medians[0]:12,.1f} {medians[1]:12,.1f} {ratio:7.3f} {noise:7.1%}  {said}")
            lines.append({"row": name, "what": what, "old": pair[0], "new": pair[1], "ratio": ratio, "spread": noise, "verdict": said})
        if any(bad):
            print(f"    {bad[0]} answers of the old and {bad[1]} of the new build were not 2xx or broke off")
    return lines


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def git(*words):
    return subprocess.run(["git", "-C", b.TOP, *words], capture_output=True, text=True, check=False)


def built(what):
    """The folder of a build: `what` itself, or that of a revision, which is taken out of git and built in build/bench-compare."""
    for folder in (what, os.path.join(b.TOP, what)):
        if os.path.exists(f"{folder}/bin/minari-hub"):
            missing = [p for p in PROGRAMS if not os.path.exists(f"{folder}/bin/{p}")]
            if missing:
                fail(f"{folder}/bin has no {', '.join(missing)}")
            return os.path.abspath(folder)
    commit = git("rev-parse", "--verify", "--quiet", f"{what}^{{commit}}").stdout.strip()
    if not commit:
        fail(f"{what} is neither a build folder (with bin/minari-hub) nor a revision of this repository")
    top = os.path.join(os.path.abspath(b.TOP), "build", "bench-compare")
    source, log = f"{top}/{commit[:12]}", f"{top}/{commit[:12]}.log"
    os.makedirs(top, exist_ok=True)
    if not os.path.exists(source):
        part = tempfile.mkdtemp(dir=top)
        if git("archive", "-o", f"{part}.tar", commit).returncode or subprocess.run(["tar", "-xf", f"{part}.tar", "-C", part]).returncode:
            fail(f"{what} cannot be taken out of git into {part}")
        os.unlink(f"{part}.tar")
        os.rename(part, source)
    print(f"building {what} ({commit[:12]}) in {source}", flush=True)
    with open(log, "w") as out:
        for command in (["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release", "--target", *PROGRAMS]):
            if subprocess.run(command, cwd=source, stdout=out, stderr=out).returncode:
                with open(log, errors="replace") as f:
                    fail(f"{f.read()[-3000:]}\n{what} cannot be built: see {log}")
    return f"{source}/build"


def build_type(folder):
    try:
        with open(f"{folder}/CMakeCache.txt") as f:
            return re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", f.read(), re.M)[1]
    except OSError:
        return "unknown"


def arguments():
    parser = argparse.ArgumentParser(prog="run.sh --compare")
    parser.add_argument("old", help="a git revision, or a build folder (its bin/ has the programs)")
    parser.add_argument("new", help="another")
    parser.add_argument("--only", default="", help="the rows with one of these words (WORD,…) in their names: " + ", ".join(row.__name__ for row in all_rows))
    parser.add_argument("--rounds", type=int, default=11, help="how often both builds are measured (11)")
    parser.add_argument("--seconds", type=int, default=2, help="how long each is asked at a time (2)")
    parser.add_argument("--data", default=os.path.join(b.TOP, "build", "bench-data"))
    parser.add_argument("--json", help="write all figures there too")
    args = parser.parse_args()
    if args.rounds < 2:
        parser.error("a spread needs 2 rounds at least")
    chosen = [row for row in all_rows if any(word in row.__name__ for word in args.only.split(","))]
    if not chosen:
        parser.error(f"no row has {args.only} in its name")
    missing = [p for p in ("wrk", "git", "cmake") if not shutil.which(p)]
    if missing:
        fail(f"NOT INSTALLED: {', '.join(missing)}")
    return args, chosen


def main():
    args, chosen = arguments()
    data = os.path.abspath(args.data)
    folders = built(args.old), built(args.new)
    types = [build_type(folder) for folder in folders]
    if types[0] != types[1]:
        fail(f"the old build is {types[0]} and the new one {types[1]}: nothing can be learnt from that")
    b.make_data(data)
    if not os.path.exists(f"{data}-compare-lab"):
        subprocess.run([sys.executable, f"{b.HERE}/gen_lab.py", f"{data}-compare-lab", "1000", "100"], check=True)
    b.WORK = tempfile.mkdtemp(prefix="hub-bench-")
    builds = [Build(name, folder, args, data, port) for name, folder, port in zip(("old", "new"), folders, (8280, 8282))]
    results, began = {row.__name__: ([], []) for row in chosen}, time.monotonic()
    try:
        # Before the hubs look at the file: a link to it changes its stamp.
        shutil.copytree(f"{data}/bench-big-v0", f"{b.WORK}/only-big/bench-big-v0", copy_function=link)
        for build in builds:
            build.prepare()
        for i in range(args.rounds):
            for row in chosen:
                for build, runs in zip(builds, results[row.__name__]):
                    runs.append(b.undisturbed(lambda: row(build)))
            for build in builds:
                build.stop()
            print(f"round {i + 1} of {args.rounds}, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        for build in builds:
            build.stop()
        shutil.rmtree(b.WORK, ignore_errors=True)
    print(f"\nold {args.old}: {folders[0]}\nnew {args.new}: {folders[1]}")
    for row in chosen:
        print(f"    {row.__name__:16s} {row.__doc__}")
    lines = report(results)
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"old": args.old, "new": args.new, "rounds": args.rounds, "rows": lines}, f, indent=1)
    failed = [line for line in lines if line["verdict"] in ("WORSE", "ERRORS")]
    print(f"\n{len(failed)} of {len(lines)} lines are worse or have errors")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
