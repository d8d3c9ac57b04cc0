"""What is measured, and the bars. Each function is one table of the report."""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

import bench as b

NPY = "/api/v1/datasets/bench-big-v0/episodes/%E/observations?start=%A&stop=%B&format=npy"
JSON = NPY.replace("npy", "json")
PEER_NPY, PEER_JSON = "/slice/%E?a=%A&b=%B&fmt=npy", "/slice/%E?a=%A&b=%B&fmt=json"
BIG = "/bench-big-v0/data/main_data.hdf5"
LAB = 8181
HUB_BIG = "/api/v1/datasets/bench-big-v0/files/data/main_data.hdf5"


def slice_npy(x):
    """100-row npy slice, auto-chunk, c=8"""
    size = os.path.getsize(x.big)
    r = x.compare("npy slice c=8", {
        "hub": x.slices(x.hub(), 8, NPY), "aiohttp": x.slices(x.aiohttp(), 8, PEER_NPY), "flask": x.slices(x.flask(), 8, PEER_NPY),
        "nginx 31,200 B range": x.ranges(x.nginx(8081), 8, BIG, size, LEN=31200), "nginx copy, same": x.ranges(x.nginx(8082), 8, BIG, size, LEN=31200)})
    nginx = min(b.cpu(r["nginx 31,200 B range"]), b.cpu(r["nginx copy, same"]))
    b.bar("npy slice c=8, req/s over aiohttp", b.rate(r["hub"]) / b.rate(r["aiohttp"]), 8, True)
    b.bar("npy slice c=8, CPU over nginx sending the same bytes", b.cpu(r["hub"]) / nginx, 2, False)
    b.bar("npy slice c=8, errors", b.bad(r["hub"]), 0, False)


def slice_npy_64(x):
    """The same, c=64, alone and beside 8 cold readers"""
    # nginx tells what this machine allows: its clients wait for the same cores
    works = {"hub": x.slices(x.hub(), 64, NPY), "nginx copy, 31,200 B": x.ranges(x.nginx(8082), 64, BIG, os.path.getsize(x.big), LEN=31200)}
    r = x.compare("npy slice c=64", works)
    b.bar("npy slice c=64, p99 ms", b.p99(r["hub"]), 10, False)
    b.bar("npy slice c=64, errors", b.bad(r["hub"]), 0, False)
    cold = cold_readers(x, 8)
    try:
        r = x.compare("npy slice c=64 + 8 cold readers", works)
    finally:
        for p in cold:
            p.terminate()
    b.bar("npy slice c=64 beside 8 cold readers, p99 ms", b.p99(r["hub"]), 10, False)
    b.bar("npy slice c=64 beside 8 cold readers, errors", b.bad(r["hub"]), 0, False)


def cold_readers(x, n):
    """Clients that read a file whose pages are dropped from the cache all the time."""
    path = f"{x.data}/bench-big-contig-v0/data/main_data.hdf5"
    code = ("import os,random,sys,urllib.request as u\n"
            "fd=os.open(sys.argv[1],os.O_RDONLY)\n"
            "while True:\n"
            "  os.posix_fadvise(fd,0,0,os.POSIX_FADV_DONTNEED)\n"
            "  u.urlopen(sys.argv[2]%random.randrange(2000)).read()\n")
    url = f"http://127.0.0.1:{b.HUB}/api/v1/datasets/bench-big-contig-v0/episodes/%d/observations?format=npy"
    return [subprocess.Popen([b.sys.executable, "-c", code, path, url], stderr=subprocess.DEVNULL) for _ in range(n)]


def slice_json(x):
    """100-row JSON slice, c=8"""
    r = x.compare("json slice c=8", {"hub": x.slices(x.hub(), 8, JSON), "flask": x.slices(x.flask(), 8, PEER_JSON)})
    b.bar("json slice c=8, req/s over flask", b.rate(r["hub"]) / b.rate(r["flask"]), 7, True)


def images(x):
    """gzip image episode, one request at a time, against a one-thread H5Dread loop"""
    program = os.path.join(b.WORK, "h5dread")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "hdf5"], capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", "-O2", "-o", program, f"{b.HERE}/h5dread.c", *flags], check=True)
    for name, cpu_bar in (("img", 3), ("img-frame", 1.4)):
        paths = [f"/api/v1/datasets/bench-{name}-v0/episodes/{e}/observations?format=npy" for e in range(50)]
        hub = x.one_at_a_time(x.hub(), paths)
        walls, cpus, runs = [], [], []
        for _ in range(x.args.runs):
            out = subprocess.run([program, f"{x.data}/bench-{name}-v0/data/main_data.hdf5", "50", "50"], capture_output=True, text=True, check=True).stdout
            m = re.search(r"wall_ms (\S+) cpu_ms (\S+)", out)
            walls.append(float(m[1]))
            cpus.append(float(m[2]))
            runs.append(hub())
        b.show(f"{name} episode", {"hub": runs}, x.rows)
        wall, cpu = statistics.median(walls), statistics.median(cpus)
        print(f"    H5Dread: wall {wall:.1f} ms, cpu {cpu:.1f} ms an episode")
        b.bar(f"{name}: wall, H5Dread over hub", wall / statistics.median([r.p50 for r in runs]), 2, True)
        b.bar(f"{name}: CPU, H5Dread over hub", cpu * 1000 / b.cpu(runs), cpu_bar, True)


def wait_hashed(x, path):
    """The first request for a file has it hashed once, behind the answers; what is compared is what comes after that. Its time is told."""
    x.hub()
    start = time.perf_counter()
    while True:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{b.HUB}{path}", method="HEAD")) as answer:
            if answer.headers["Repr-Digest"]:
                break
        time.sleep(0.1)
    print(f"    sha256, crc32c and md5 of {path.rsplit('/', 1)[1]}: known after {time.perf_counter() - start:.1f} s", flush=True)


def file_ranges(x):
    """1 MiB ranges, c=8 and c=64; whole file"""
    size = os.path.getsize(x.big)
    wait_hashed(x, HUB_BIG)
    for c in (8, 64):
        r = x.compare(f"1 MiB ranges c={c}", {"hub": x.ranges(x.hub(), c, HUB_BIG, size), "nginx sendfile": x.ranges(x.nginx(8081), c, BIG, size),
                                             "nginx copy": x.ranges(x.nginx(8082), c, BIG, size)})
        best = max(("nginx sendfile", "nginx copy"), key=lambda n: b.rate(r[n]))
        b.bar(f"1 MiB ranges c={c}, CPU over nginx", b.cpu(r["hub"]) / b.cpu(r[best]), 1.1, False)
        b.bar(f"1 MiB ranges c={c}, req/s over nginx", b.rate(r["hub"]) / b.rate(r[best]), 0.9, True)
    r = x.compare("whole file, MB/s", {"hub": x.whole(x.hub(), HUB_BIG), "nginx sendfile": x.whole(x.nginx(8081), BIG), "nginx copy": x.whole(x.nginx(8082), BIG)})
    b.bar("whole file, MB/s over nginx", b.rate(r["hub"]) / max(b.rate(r["nginx sendfile"]), b.rate(r["nginx copy"])), 1.0, True)


def document(x):
    """A document of about 1 KB, c=64, against an nginx file with open_file_cache"""
    path = "/api/v1/datasets/lerobot-bench"
    size = len(urllib.request.urlopen(f"http://127.0.0.1:{b.HUB}{path}").read()) if x.hub() else 0
    r = x.compare(f"document of {size} B c=64", {"hub": x.plain(x.hub(), 64, path), "nginx 1 KB": x.plain(x.nginx(8081), 64, "/doc/1k.json")})
    b.bar("document c=64, req/s over nginx", b.rate(r["hub"]) / b.rate(r["nginx 1 KB"]), 0.9, True)


def lerobot(x):
    """LeRobot 100-row slice, c=8"""
    env = {"EPS": 50}
    r = x.compare("lerobot slice c=8", {
        "hub": x.slices(x.hub(), 8, "/api/v1/datasets/lerobot-bench/episodes/%E/observation.state?start=%A&stop=%B&format=npy", **env),
        "flask + pyarrow": x.slices(x.parquet(), 8, PEER_NPY, **env)})
    b.bar("lerobot slice, CPU of flask + pyarrow over hub", b.cpu(r["flask + pyarrow"]) / b.cpu(r["hub"]), 8, True)


def scan(root, state):
    t = time.perf_counter()
    out = subprocess.run([f"{b.BIN}/minari-hub", "scan", "--root", root, "--state", state, "--settle", "0"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return time.perf_counter() - t


def inspection(x):
    """Inspection of `big`, of one dataset of 50,000 chunks, and a restart with nothing changed"""
    only, many = os.path.join(b.WORK, "only-big"), os.path.join(b.WORK, "many")
    shutil.copytree(f"{x.data}/bench-big-v0", f"{only}/bench-big-v0", copy_function=os.link)
    make_many_chunks(many)
    scan(only, tempfile.mkdtemp(dir=b.WORK))
    first, again, chunks = [], [], []
    for _ in range(x.args.runs):
        state = tempfile.mkdtemp(dir=b.WORK)
        first.append(scan(only, state))
        again.append(scan(only, state))
        chunks.append(scan(many, tempfile.mkdtemp(dir=b.WORK)))
    for name, values in (("big, first", first), ("big, unchanged", again), ("50,000 chunks", chunks)):
        print(f"{'inspection: ' + name:34s} hub scan {statistics.median(values) * 1e3:9.1f} ms [{min(values) * 1e3:.1f}..{max(values) * 1e3:.1f}]")
    b.bar("inspection of big, s", statistics.median(first), 1, False)
    b.bar("inspection of 50,000 chunks, s", statistics.median(chunks), 0.2, False)
    b.bar("restart unchanged, s", statistics.median(again), 0.05, False)


def first_walks(x):
    """The first walk of folders that are no datasets"""
    def folders(root, n):
        for i in range(n):
            os.makedirs(f"{root}/junk/d{i:05d}")
            with open(f"{root}/junk/d{i:05d}/notes.txt", "w") as f:
                f.write("x")

    def parquet(root, n):
        for i in range(n):
            open(f"{root}/f{i:06d}.parquet", "w").close()

    for what, make, n, limit in (("20,000 folders that are no datasets", folders, 20000, 2), ("100,000 empty Parquet files", parquet, 100000, 3)):
        with tempfile.TemporaryDirectory() as root:
            make(root, n)
            seconds = []
            for _ in range(3):
                with tempfile.TemporaryDirectory() as state:
                    seconds.append(scan(root, state))
            b.bar(f"first walk of {what}, s", statistics.median(seconds), limit, False)


def make_many_chunks(root):
    import h5py
    import numpy as np

    os.makedirs(f"{root}/chunks-v0/data")
    with h5py.File(f"{root}/chunks-v0/data/main_data.hdf5", "w") as f:
        g = f.create_group("episode_0")
        g.attrs.update({"id": 0, "total_steps": 100000})
        g.create_dataset("observations", data=np.zeros((100001, 2)), chunks=(2, 2))
        for name in ("actions", "rewards"):
            g[name] = np.zeros(100000)
        for name in ("terminations", "truncations"):
            g[name] = np.zeros(100000, bool)
        space = json.dumps({"type": "Box", "dtype": "float64", "shape": [2], "low": [-1.0, -1.0], "high": [1.0, 1.0]})
        f.attrs.update({"total_episodes": 1, "total_steps": 100000, "dataset_id": "chunks-v0", "minari_version": "~=0.4", "observation_space": space, "action_space": space})


def memory(x):
    """Memory and pages with 10,000 datasets of 1,000,000 episodes"""
    lab, state = f"{x.data}-lab", f"{x.data}-lab-state"
    if not os.path.exists(lab):
        subprocess.run([b.sys.executable, f"{b.HERE}/gen_lab.py", lab], check=True)
    first = not os.path.exists(state)
    os.makedirs(state, exist_ok=True)
    command = [f"{b.BIN}/minari-hub", "serve", "--root", f"lab={lab}", "--root", f"bench={x.data}", "--state", state, "--listen", f"127.0.0.1:{LAB}",
               "--settle", "0", "--access-log=off"]
    began = time.perf_counter()
    hub = b.Server("hub-lab", command, f"http://127.0.0.1:{LAB}/readyz", patience=1800)
    x.wait_indexed(LAB, 1800)
    if first:
        print(f"    every dataset inspected after {time.perf_counter() - began:.0f} s", flush=True)
    starts = []
    for _ in range(x.args.runs):
        hub.stop()
        began = time.perf_counter()
        hub = b.Server("hub-lab", command, f"http://127.0.0.1:{LAB}/readyz", 0.005)
        starts.append(time.perf_counter() - began)
    x.servers["hub-lab"] = hub
    urls = lab_urls(x)
    time.sleep(5)
    idle = rss_anon(hub)
    print(f"    {urls['datasets']} datasets, {urls['episodes']} episodes; start to readyz {statistics.median(starts):.2f} s [{min(starts):.2f}..{max(starts):.2f}]")
    b.bar("lab: start, s", statistics.median(starts), 1, False)
    b.bar("lab: RssAnon idle, MiB", idle, 64, False)
    for name in ("list", "episode"):
        r = x.compare(f"lab: pages of the {name}s c=8", {"hub": x.urls(hub, 8, urls[name])})
        b.bar(f"lab: {name} pages, p99 ms", b.p99(r["hub"]), 10, False)
        b.bar(f"lab: {name} pages, errors", b.bad(r["hub"]), 0, False)
    peaks = []
    run = x.urls(hub, 1000, urls["mixed"])
    r = x.compare("lab: mixed c=1000", {"hub": lambda: sampled(hub, run, peaks)})
    b.bar("lab: RssAnon under 1,000 connections, MiB", max(peaks), 256, False)
    b.bar("lab: mixed c=1000, errors", b.bad(r["hub"]), 0, False)


def rss_anon(server):
    with open(f"/proc/{server.process.pid}/status") as f:
        return int(re.search(r"RssAnon:\s+(\d+)", f.read())[1]) / 1024


def sampled(server, run, peaks):
    """A run, and the highest RssAnon seen meanwhile."""
    import threading

    over = threading.Event()

    def watch():
        while not over.wait(0.05):
            peaks.append(rss_anon(server))
    watcher = threading.Thread(target=watch)
    watcher.start()
    result = run()
    over.set()
    watcher.join()
    return result


def lab_urls(x):
    """Files of paths: every page of the list, pages of episodes of 2,000 datasets, and a mixture of slices, documents, pages and ranges."""
    import random

    api = f"http://127.0.0.1:{LAB}"
    pages, items, url = [], [], f"{api}/api/v1/datasets?limit=100"
    while url:
        pages.append(url[len(api):])
        with urllib.request.urlopen(url) as answer:
            page = json.load(answer)
        items += page["items"]
        url = page["next"]
    rng = random.Random(5)
    ids = [i["id"] for i in items if "/task-" in i["id"]]
    named = next(i["id"] for i in items if i["id"].endswith("bench-big-v0"))  # of several roots each is the first segment of its ids
    some = rng.sample(ids, min(2000, len(ids)))
    episodes = [f"/api/v1/datasets/{i}/episodes?limit=100" for i in some]
    big = f"/api/v1/datasets/{named}/episodes/"
    mixed = rng.sample(episodes, 100) + rng.sample(pages, 20) + [f"/api/v1/datasets/{i}" for i in rng.sample(some, 200)]
    mixed += [f"/api/v1/datasets/{i}/episodes/{rng.randrange(100)}/observations?format=npy" for i in some[:1000]]
    for form, count in (("npy", 1000), ("json", 300)):
        for _ in range(count):
            a = rng.randrange(900)
            mixed.append(f"{big}{rng.randrange(2000)}/observations?start={a}&stop={a + 100}&format={form}")
    whole = f"/api/v1/datasets/{named}/files/data/main_data.hdf5"
    mixed += [f"{whole} {size}" for size in (4096, 65536, 1048576) for _ in range(30)]
    found = {"datasets": len(items), "episodes": sum(i["episodes"] for i in items)}
    for name, lines in (("list", pages), ("episode", episodes), ("mixed", mixed)):
        found[name] = os.path.join(b.WORK, f"{name}.urls")
        with open(found[name], "w") as f:
            f.write("\n".join(lines) + "\n")
    return found


all_works = [slice_npy, slice_npy_64, slice_json, images, file_ranges, document, inspection, lerobot, memory]
