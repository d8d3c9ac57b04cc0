"""What is measured, and the bars. Each function is one table of the report."""
import contextlib
import datetime
import glob
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import bench as b
from pushes import push_works

NPY = "/api/v1/datasets/bench-big-v0/episodes/%E/observations?start=%A&stop=%B&format=npy"
JSON = NPY.replace("npy", "json")
PEER_NPY, PEER_JSON = "/slice/%E?a=%A&b=%B&fmt=npy", "/slice/%E?a=%A&b=%B&fmt=json"
BIG = "/bench-big-v0/data/main_data.hdf5"
LAB, WALK, FORMATS, TAR, VIDEO, LEROBOT = 8181, 8182, 8183, 8104, 8184, 8185
BUCKET, SMALL, INDEX, COPY, SECOND = 8186, 8187, 8188, 8189, 8190
FACADE, OLAH = 8191, 8194
OPEN, RULED = 8198, 8199
STATIC = {"nginx sendfile": 8192, "nginx copy": 8193}
HUB_BIG = "/api/v1/datasets/bench-big-v0/files/data/main_data.hdf5"


def slice_npy(x):
    """100-row npy slice, auto-chunk, c=8"""
    size = os.path.getsize(x.big)
    r = x.compare("npy slice c=8", {
        "hub": x.slices(x.hub(), 8, NPY), "aiohttp": x.slices(x.aiohttp(), 8, PEER_NPY), "flask": x.slices(x.flask(), 8, PEER_NPY),
        "ceiling": x.slices(x.ceiling("npy"), 8, NPY), "nginx 1 KB": x.plain(x.nginx(8081), 8, "/doc/1k.json"),
        "nginx 31,200 B range": x.ranges(x.nginx(8081), 8, BIG, size, LEN=31200), "nginx copy, same": x.ranges(x.nginx(8082), 8, BIG, size, LEN=31200)}, x.big)
    hub, ceiling, nginx = b.cpus(r["hub"]), b.cpus(r["ceiling"]), min((b.cpus(r["nginx 31,200 B range"]), b.cpus(r["nginx copy, same"])), key=statistics.median)
    print(f"    CPU, hub over nginx sending the same bytes: {statistics.median(b.over(hub, nginx)):.2f}; over the ceiling: {statistics.median(b.over(hub, ceiling)):.2f}")
    b.bar("npy slice c=8, req/s over aiohttp", b.over(b.rates(r["hub"]), b.rates(r["aiohttp"])), 8, True)
    # nginx sends bytes that lie in one file in that order; these are gathered from chunks. So the ceiling has what making and sending them takes, and
    # a small file of nginx has what a request takes besides. No figure of the hub is in the bar: it cannot become easier by a slower hub.
    b.bar("npy slice c=8, CPU, the ceiling and a request of nginx for 1 KB, over hub", [(c + n) / h for c, n, h in zip(ceiling, b.cpus(r["nginx 1 KB"]), hub)], 0.95, True)
    b.bar("npy slice c=8, errors", b.bad(r["hub"]), 0, False)


def slice_npy_64(x):
    """The same, c=64: as fast as they can; and 64 that pause between requests, alone and beside 8 cold readers of the same server"""
    # nginx shows what this machine allows: its clients wait for the same cores
    peer = "nginx copy, 31,200 B"

    def works(**env):
        return {"hub": x.slices(x.hub(), 64, NPY, **env), peer: x.ranges(x.nginx(8082), 64, BIG, os.path.getsize(x.big), LEN=31200, **env)}

    r = x.compare("npy slice c=64", works(), x.big)
    b.bar("npy slice c=64, p99 ms", b.p99s(r["hub"]), 10, False)
    b.bar("npy slice c=64, errors", b.bad(r["hub"]), 0, False)
    alone = x.compare(f"npy slice c=64, each every {PAUSE_MS} ms", works(EVERY=PAUSE_MS), x.big, times=3)
    paced = works(EVERY=PAUSE_MS)
    paced["hub"] = beside_cold_readers(x, f"http://127.0.0.1:{b.HUB}/api/v1/datasets/bench-big-contig-v0/episodes/%d/observations?format=npy", paced["hub"])
    paced[peer] = beside_cold_readers(x, "http://127.0.0.1:8082/bench-big-contig-v0/data/main_data.hdf5", paced[peer])
    r = x.compare(f"npy slice c=64, each every {PAUSE_MS} ms, beside 8 cold readers", paced, x.big, times=3)
    print(f"    alone: p99 {b.middle(b.over(b.p99s(alone['hub']), b.p99s(alone[peer]))):.2f} of nginx, which sends bytes that lie in one file")
    noise = b.spread(b.p99s(r[peer]))  # how far nginx lies from itself, in the same rounds
    print(f"    beside 8 cold readers: p99 of nginx differs from itself by {noise:.0%}")
    b.bar("npy slice c=64 beside 8 cold readers of its own, p99 over nginx and its spread", b.over(b.p99s(r["hub"]), b.p99s(r[peer])), round(1 + noise, 2), False)
    b.bar("npy slice c=64 beside 8 cold readers, errors", b.bad(r["hub"]), 0, False)


PAUSE_MS = 10
READS_A_SECOND = 50
COLD_READER = """
import os, random, sys, time, urllib.request as u
path, url, pause = sys.argv[1], sys.argv[2], 1 / float(sys.argv[3])
fd = os.open(path, os.O_RDONLY)
def read():
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    e = random.randrange(2000)
    at = e * 549000
    u.urlopen(url % e if "%d" in url else u.Request(url, headers={"Range": f"bytes={at}-{at + 312439}"})).read()
read()
print("ready", flush=True)
due = time.monotonic()
while True:
    due += pause
    time.sleep(max(0, due - time.monotonic()))
    read()
"""


def beside_cold_readers(x, url, work, n=8):
    """The work beside clients of the same server that read, an episode's bytes each time (312 KB), a file whose pages are dropped from the cache all the time.
    Each reads READS_A_SECOND times, however fast it is answered: a faster server has no more of them to bear. The work begins when all have an answer."""
    path = f"{x.data}/bench-big-contig-v0/data/main_data.hdf5"

    def run():
        readers = [subprocess.Popen([b.sys.executable, "-c", COLD_READER, path, url, str(READS_A_SECOND)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(n)]
        try:
            for reader in readers:
                if not reader.stdout.readline():
                    raise SystemExit(f"a cold reader has no answer from {url}")
            return work()
        finally:
            for reader in readers:
                reader.terminate()
                reader.wait()
                reader.stdout.close()
    return run


SAMPLE = "/api/v1/datasets/bench-big-v0/sample?windows=256&length=16&fields=observations&fields=actions&fields=rewards&seed=%d"
DRAWN_BY_HAND = """
import sys, time, h5py, numpy as np
rng, f = np.random.default_rng(1), h5py.File(sys.argv[1])
shapes = {"observations": (39,), "actions": (28,), "rewards": ()}
def batch():
    out = {k: np.empty((256, 16, *s)) for k, s in shapes.items()}
    for i in range(256):
        e, a = rng.integers(2000), rng.integers(985)
        for k in shapes:
            out[k][i] = f[f"episode_{e}/{k}"][a:a + 16]
for _ in range(3):
    batch()
wall, cpu = time.perf_counter(), time.process_time()
for _ in range(20):
    batch()
print((time.perf_counter() - wall) / 20 * 1000, (time.process_time() - cpu) / 20 * 1000)
"""


def micro_windows():
    """CPU microseconds of gathering the rows of such a sample, and nothing else: as many windows, reads and bytes, of a file that is larger than caches are."""
    subprocess.run(["cmake", "--build", os.path.join(b.TOP, "build"), "--target", "micro_gather"], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([f"{b.BIN}/micro_gather"], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"a sample, 256 x 16 rows .* (\S+) us CPU", out)[1])


def samples(x):
    """256 windows of 16 steps, c=1, against an h5py loop over the same reads"""
    urls, loops = os.path.join(b.WORK, "samples.urls"), []
    with open(urls, "w") as f:
        f.write("".join(SAMPLE % seed + "\n" for seed in range(1000)))
    with urllib.request.urlopen(f"http://127.0.0.1:{b.HUB}" + SAMPLE % 1 if x.hub() else "") as answer:
        size = len(answer.read())
    r = x.compare("sample 256 x 16 c=1", {"hub": x.urls(x.hub(), 1, urls), "nginx copy, same bytes": x.ranges(x.nginx(8082), 1, BIG, os.path.getsize(x.big), LEN=size)}, x.big)
    for _ in range(x.args.runs):
        out = subprocess.run([b.sys.executable, "-c", DRAWN_BY_HAND, x.big], capture_output=True, text=True, check=True).stdout
        loops.append([float(ms) for ms in out.split()])
    walls, cpus, alone = [wall for wall, _ in loops], [1000 * cpu for _, cpu in loops], micro_windows()
    print(f"    h5py: wall {statistics.median(walls):.1f} ms, CPU {statistics.median(cpus) / 1000:.1f} ms a batch; gathering alone: CPU {alone:.0f} us; {size} bytes")
    b.bar("sample: wall, h5py over hub", b.over(walls, [run.line["p50"] for run in r["hub"]]), 8, True)
    b.bar("sample: CPU, h5py over hub", b.over(cpus, b.cpus(r["hub"])), 20, True)
    b.bar("sample: CPU over gathering alone and nginx sending the same bytes", b.over(b.cpus(r["hub"]), [alone + cpu for cpu in b.cpus(r["nginx copy, same bytes"])]), 1.5, False)
    b.bar("sample: errors", b.bad(r["hub"]), 0, False)


def slice_json(x):
    """100-row JSON slice, c=8"""
    r = x.compare("json slice c=8", {"hub": x.slices(x.hub(), 8, JSON), "flask": x.slices(x.flask(), 8, PEER_JSON)})
    b.bar("json slice c=8, req/s over flask", b.over(b.rates(r["hub"]), b.rates(r["flask"])), 7, True)


def slice_tables(x):
    """100-row csv slice, c=8, against Flask + numpy, and against the same bytes without HTTP; arrow against npy"""
    csv = NPY.replace("npy", "csv")
    r = x.compare("csv slice c=8", {"flask": x.slices(x.flask(), 8, PEER_NPY.replace("npy", "csv")), "hub": x.slices(x.hub(), 8, csv), "ceiling": x.slices(x.ceiling("csv"), 8, csv),
                                    "hub, npy": x.slices(x.hub(), 8, NPY, N=256), "ceiling, npy": x.slices(x.ceiling("npy", 256), 8, NPY, N=256)}, x.big)
    http = [max(hub - ceiling, 0) for hub, ceiling in zip(b.cpus(r["hub, npy"]), b.cpus(r["ceiling, npy"]))]
    print(f"    CPU, flask over hub: {statistics.median(b.over(b.cpus(r['flask']), b.cpus(r['hub']))):.1f}; ceiling over hub: "
          f"{statistics.median(b.over(b.cpus(r['ceiling']), b.cpus(r['hub']))):.2f}; HTTP takes {statistics.median(http):.1f} us of an npy slice of as many bytes")
    b.bar("csv slice c=8, CPU, the ceiling and what HTTP takes of an npy slice of as many bytes, over hub", [(c + h) / hub for c, h, hub in zip(b.cpus(r["ceiling"]), http, b.cpus(r["hub"]))], 0.95, True)
    b.bar("csv slice c=8, errors", b.bad(r["hub"]), 0, False)
    r = x.compare("arrow and npy slice c=8", {"arrow": x.slices(x.hub(), 8, NPY.replace("npy", "arrow")), "npy": x.slices(x.hub(), 8, NPY)}, x.big)
    b.bar("arrow slice c=8, CPU over npy", b.over(b.cpus(r["arrow"]), b.cpus(r["npy"])), 2, False)
    b.bar("arrow slice c=8, errors", b.bad(r["arrow"]), 0, False)


JOINED_BY_HAND = """
import sys, time, h5py, numpy as np
f = h5py.File(sys.argv[1])
steps = [f[f"episode_{e}"].attrs["total_steps"] for e in range(int(f.attrs["total_episodes"]))]
wall, cpu = time.perf_counter(), time.process_time()
for k in ("observations", "actions", "rewards"):
    np.concatenate([f[f"episode_{e}/{k}"][:n] for e, n in enumerate(steps)])
print((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)
"""


def one_connection(work):
    """The answers' MB/s instead of their number."""
    def run():
        result = work()
        result.rate = result.line["MB/s"]
        return result
    return run


def whole_rows(x):
    """All rows of a dataset of 25 episodes, and of one of 2,000 (1.1 GB), against h5py + concatenate; nginx sends the whole file"""
    for name in ("door", "big"):
        file = f"{x.data}/bench-{name}-v0/data/main_data.hdf5"

        def by_hand():
            out = subprocess.run([b.sys.executable, "-c", JOINED_BY_HAND, file], capture_output=True, text=True, check=True).stdout
            ms, cpu_ms = (float(v) for v in out.split())
            return b.Run({"req/s": os.path.getsize(file) / 1e3 / ms, "p50": ms, "p99": ms, "bad": 0}, cpu_ms * 1000, 0)
        path = f"/api/v1/datasets/bench-{name}-v0/rows?fields=observations&fields=actions&fields=rewards"
        # by hand the file is open before it is timed: so is the connection; but wrk gives up on an answer after 2 s
        hub = one_connection(x.plain(x.hub(), 1, path)) if name == "door" else x.whole(x.hub(), path)
        r = x.compare(f"rows of {name}, MB/s", {"hub": hub, "h5py + concatenate": by_hand, "nginx copy, whole file": x.whole(x.nginx(8082), f"/bench-{name}-v0/data/main_data.hdf5")}, file)
        b.bar(f"rows of {name}: wall, h5py + concatenate over hub", [hand.p50 / run.p50 for hand, run in zip(r["h5py + concatenate"], r["hub"])], 5, True)


def images(x):
    """gzip image episode, one request at a time, against a one-thread H5Dread loop"""
    program = os.path.join(b.WORK, "h5dread")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "hdf5"], capture_output=True, text=True).stdout.split()
    subprocess.run(["cc", "-O2", "-o", program, f"{b.HERE}/h5dread.c", *flags], check=True)
    for name, cpu_bar in (("img", 3), ("img-frame", 1.4)):
        paths = [f"/api/v1/datasets/bench-{name}-v0/episodes/{e}/observations?format=npy" for e in range(50)]
        file = f"{x.data}/bench-{name}-v0/data/main_data.hdf5"
        b.hold(file)
        hub = x.one_at_a_time(x.hub(), paths)
        walls, cpus, runs = [], [], []
        for _ in range(x.args.runs):
            out = subprocess.run([program, file, "50", "50"], capture_output=True, text=True, check=True).stdout
            m = re.search(r"wall_ms (\S+) cpu_ms (\S+)", out)
            walls.append(float(m[1]))
            cpus.append(float(m[2]))
            runs.append(b.undisturbed(hub))
        b.show(f"{name} episode", {"hub": runs}, x.rows)
        print(f"    H5Dread: wall {statistics.median(walls):.1f} ms, cpu {statistics.median(cpus):.1f} ms an episode")
        b.bar(f"{name}: wall, H5Dread over hub", b.over(walls, [r.p50 for r in runs]), 2, True)
        b.bar(f"{name}: CPU, H5Dread over hub", b.over([1000 * ms for ms in cpus], b.cpus(runs)), cpu_bar, True)


def wait_hashed(server, path):
    """The first request for a file has it hashed once, behind the answers; what is compared is what comes after that. Its time is told."""
    start = time.perf_counter()
    while True:
        with urllib.request.urlopen(urllib.request.Request(urllib.parse.urljoin(server.url, path), method="HEAD")) as answer:
            if answer.headers["Repr-Digest"]:
                break
        time.sleep(0.1)
    print(f"    sha256, crc32c and md5 of {path.rsplit('/', 1)[1]}: known after {time.perf_counter() - start:.1f} s", flush=True)


def faster_nginx(results):
    return max((results["nginx sendfile"], results["nginx copy"]), key=lambda runs: statistics.median(b.rates(runs)))


def file_ranges(x):
    """1 MiB ranges, c=8 and c=64; whole file"""
    size = os.path.getsize(x.big)
    wait_hashed(x.hub(), HUB_BIG)
    for c, rate in ((8, 0.9), (64, 0.95)):
        r = x.compare(f"1 MiB ranges c={c}", {"hub": x.ranges(x.hub(), c, HUB_BIG, size), "nginx sendfile": x.ranges(x.nginx(8081), c, BIG, size),
                                             "nginx copy": x.ranges(x.nginx(8082), c, BIG, size)}, x.big)
        best = faster_nginx(r)
        b.bar(f"1 MiB ranges c={c}, CPU over nginx", b.over(b.cpus(r["hub"]), b.cpus(best)), 1.1, False)
        b.bar(f"1 MiB ranges c={c}, req/s over nginx", b.over(b.rates(r["hub"]), b.rates(best)), rate, True)
    r = x.compare("whole file, MB/s", {"hub": x.whole(x.hub(), HUB_BIG), "nginx sendfile": x.whole(x.nginx(8081), BIG), "nginx copy": x.whole(x.nginx(8082), BIG)}, x.big, times=3)
    best = faster_nginx(r)
    b.bar("whole file, MB/s over nginx", b.over(b.rates(r["hub"]), b.rates(best)), 0.95, True)
    b.bar("whole file, CPU over nginx", b.over(b.cpus(r["hub"]), b.cpus(best)), 1.15, False)


def archive_tar(x):
    """A dataset as archive.tar, its digests known, against nginx sending the same tar from a file"""
    url, name = "/api/v1/datasets/bench-big-v0/archive.tar", ".bench-archive.tar"  # hidden from the hub
    x.hub()
    with urllib.request.urlopen(f"http://127.0.0.1:{b.HUB}{url}") as answer, open(f"{x.data}/{name}", "wb") as out:
        shutil.copyfileobj(answer, out, 1 << 20)  # hashed as it is sent
    try:
        r = x.compare("archive.tar, MB/s", {"hub": x.whole(x.hub(), url), "nginx sendfile": x.whole(x.nginx(8081), f"/{name}"),
                                            "nginx copy": x.whole(x.nginx(8082), f"/{name}")}, x.big)
    finally:
        os.unlink(f"{x.data}/{name}")
    b.bar("archive.tar, CPU over nginx", b.over(b.cpus(r["hub"]), b.cpus(faster_nginx(r))), 1.2, False)


def video_cut(x):
    """7,500 frames (235 MiB) cut out of a video of 500 MiB, against nginx sending the same range of the file"""
    data = f"{x.data}-video"
    if not os.path.exists(f"{data}/ready"):
        shutil.rmtree(data, ignore_errors=True)
        subprocess.run([b.sys.executable, f"{b.HERE}/gen_video.py", data], check=True)
        os.symlink(data, f"{x.data}/video")  # for nginx
    name = "film/episode_00000000_wrist_camera_batch_1_of_1.mp4"
    command = [f"{b.BIN}/minari-hub", "serve", "--root", data, "--state", os.path.join(b.WORK, "video"), "--listen", f"127.0.0.1:{VIDEO}", "--settle", "0",
               "--access-log=off", "--measure=off"]
    hub = x.servers["hub-video"] = b.Server("hub-video", command, f"http://127.0.0.1:{VIDEO}/readyz")
    x.wait_indexed(VIDEO)
    cut = "/api/v1/datasets/film/episodes/0/~media/wrist_camera.mp4?start=7500&stop=15000"
    for _ in range(5):
        start = time.perf_counter()
        with urllib.request.urlopen(f"http://127.0.0.1:{VIDEO}{cut}") as answer:
            answer.read(1)
            first_ms = (time.perf_counter() - start) * 1e3
    one = "-r", f"{32 + 7500 * 32768}-{31 + 15000 * 32768}"
    r = x.compare("cut of a video, MB/s", {"hub": x.whole(hub, cut), "nginx sendfile": x.whole(x.nginx(8081), f"/video/{name}", *one),
                                           "nginx copy": x.whole(x.nginx(8082), f"/video/{name}", *one)}, f"{data}/{name}")
    b.bar("cut of a video, first byte ms, warm", [first_ms], 20, False)
    b.bar("cut of a video, CPU over nginx sending the same range", b.over(b.cpus(r["hub"]), b.cpus(faster_nginx(r))), 1.2, False)


def document(x):
    """A document of about 1 KB, c=64, against an nginx file with open_file_cache"""
    path = "/api/v1/datasets/lerobot-bench"
    size = len(urllib.request.urlopen(f"http://127.0.0.1:{b.HUB}{path}").read()) if x.hub() else 0
    r = x.compare(f"document of {size} B c=64", {"hub": x.plain(x.hub(), 64, path), "nginx 1 KB": x.plain(x.nginx(8081), 64, "/doc/1k.json")})
    b.bar("document c=64, req/s over nginx", b.over(b.rates(r["hub"]), b.rates(r["nginx 1 KB"])), 0.9, True)


def lerobot(x):
    """LeRobot 100-row slice, c=8"""
    env = {"EPS": 50}
    r = x.compare("lerobot slice c=8", {
        "hub": x.slices(x.hub(), 8, "/api/v1/datasets/lerobot-bench/episodes/%E/observation.state?start=%A&stop=%B&format=npy", **env),
        "flask + pyarrow": x.slices(x.parquet(), 8, PEER_NPY, **env)})
    b.bar("lerobot slice, CPU of flask + pyarrow over hub", b.over(b.cpus(r["flask + pyarrow"]), b.cpus(r["hub"])), 8, True)


def lerobot_data(x):
    """500 episodes of 1,000 rows in files of their own and in one; 1,000 of them in two files; 10,000 files of 20 rows."""
    data = f"{x.data}-lerobot"
    if not os.path.exists(f"{data}/ready"):
        shutil.rmtree(data, ignore_errors=True)
        for name, *how in (("slices/v21", "500"), ("slices/v30", "500", "1000", "v3.0"), ("slices/merged", "500", "1000", "v3.0-merged"),
                           ("million/v30", "1000", "1000", "v3.0"), ("million-merged/v30", "1000", "1000", "v3.0-merged"), ("many/v21", "10000", "20")):
            subprocess.run([b.sys.executable, f"{b.HERE}/gen_lerobot.py", f"{data}/{name}", *how], check=True)
        open(f"{data}/ready", "w").close()
    return data


def lerobot_slices(x):
    """LeRobot 100-row slice of v2.1 and of v3, where 500 episodes share a file, c=8"""
    data, env = lerobot_data(x), {"EPS": 500}
    command = [f"{b.BIN}/minari-hub", "serve", "--root", f"{data}/slices", "--state", os.path.join(b.WORK, "lerobot"), "--listen", f"127.0.0.1:{LEROBOT}", "--settle", "0",
               "--access-log=off", "--measure=off"]
    server = x.servers["hub-lerobot"] = b.Server("hub-lerobot", command, f"http://127.0.0.1:{LEROBOT}/readyz")
    x.wait_indexed(LEROBOT)
    r = x.compare("lerobot versions c=8", {name: x.slices(server, 8, f"/api/v1/datasets/{id}/episodes/%E/observation.state?start=%A&stop=%B&format=npy", **env)
                                           for name, id in (("v2.1", "v21"), ("v3.0", "v30"), ("v3.0, one row group", "merged"))})
    for name in ("v3.0", "v3.0, one row group"):
        b.bar(f"lerobot slice of {name}, CPU over v2.1's", b.over(b.cpus(r[name]), b.cpus(r["v2.1"])), 1.5, False)
        b.bar(f"lerobot slice of {name}, errors", b.bad(r[name]), 0, False)


FOOTERS = """
import glob, sys, time, pyarrow.parquet as pq
began = time.perf_counter()
for path in glob.glob(f"{sys.argv[1]}/v21/data/*/*.parquet"):
    pq.read_metadata(path)
print(time.perf_counter() - began)
"""


def lerobot_inspection(x):
    """Inspection of 10,000 episodes of LeRobot v2.1, against pyarrow reading their footers, and of a million frames of v3"""
    data = lerobot_data(x)
    many, footers, million, merged = [], [], [], []
    for _ in range(x.args.runs):
        many.append(b.undisturbed(lambda: scan(f"{data}/many", tempfile.mkdtemp(dir=b.WORK))))
        footers.append(b.undisturbed(lambda: float(subprocess.check_output([b.sys.executable, "-c", FOOTERS, f"{data}/many"]))))
        million.append(b.undisturbed(lambda: scan(f"{data}/million", tempfile.mkdtemp(dir=b.WORK))))
        merged.append(b.undisturbed(lambda: scan(f"{data}/million-merged", tempfile.mkdtemp(dir=b.WORK))))
    for name, values in (("10,000 files", many), ("their footers, pyarrow", footers), ("a million frames", million), ("the same, one row group a file", merged)):
        print(f"{'inspection: ' + name:44s} {statistics.median(values) * 1e3:9.1f} ms [{min(values) * 1e3:.1f}..{max(values) * 1e3:.1f}]")
    b.bar("inspection of 10,000 episodes of v2.1 over reading their footers", b.over(many, footers), 2, False)
    b.bar("inspection of a million frames of v3, s", million, 1, False)
    b.bar("inspection of a million frames of v3, one row group a file, s", merged, 1, False)


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
        again.append(b.undisturbed(lambda: scan(only, state)))
        chunks.append(b.undisturbed(lambda: scan(many, tempfile.mkdtemp(dir=b.WORK))))
    for name, values in (("big, first", first), ("big, unchanged", again), ("50,000 chunks", chunks)):
        print(f"{'inspection: ' + name:34s} hub scan {statistics.median(values) * 1e3:9.1f} ms [{min(values) * 1e3:.1f}..{max(values) * 1e3:.1f}]")
    b.bar("inspection of big, s", first, 1, False)
    b.bar("inspection of 50,000 chunks, s", chunks, 0.2, False)
    b.bar("restart unchanged, s", again, 0.05, False)


def formats_data(x):
    data = f"{x.data}-formats"
    if not os.path.exists(f"{data}/ready-3"):
        shutil.rmtree(data, ignore_errors=True)
        subprocess.run([b.sys.executable, f"{b.HERE}/gen_formats.py", data], check=True)
    return data


def formats_hub(x):
    if "hub-formats" not in x.servers:
        data = formats_data(x)
        command = [f"{b.BIN}/minari-hub", "serve", "--root", f"slices={data}/slices", "--root", f"shard={data}/shard", "--state", os.path.join(b.WORK, "formats"),
                   "--listen", f"127.0.0.1:{FORMATS}", "--settle", "0", "--access-log=off", "--measure=off"]
        x.servers["hub-formats"] = b.Server("hub-formats", command, f"http://127.0.0.1:{FORMATS}/readyz")
        x.wait_indexed(FORMATS)
    return x.servers["hub-formats"]


def format_slices(x):
    """The same 100 rows out of each format, c=8"""
    fields = {"minari": ("minari-v0", "observations", "slices/minari-v0/data/main_data.hdf5"), "robomimic": ("robomimic", "obs/state", "slices/robomimic.hdf5"),
              "d4rl": ("d4rl", "observations", "slices/d4rl.hdf5"), "aloha": ("aloha", "observations/qpos", None), "il frames": ("demos", "obs", "slices/demos/demos.tar"),
              "npy": ("plain", "array", "slices/plain.npy"), "arrow": ("columns", "state", "slices/columns.arrow"),
              "maniskill": ("trajectory", "obs", "slices/trajectory.h5"), "parquet lists": ("minari-parquet-v0", "observations", None),
              "arrow lists": ("lists", "obs", "slices/lists/data-00000-of-00001.arrow"), "minari arrow": ("minari-arrow-v0", "observations", None),
              "robotwin": ("twin", "joint_action/vector", None), "molmospaces": ("molmo", "obs/extra/state", "slices/molmo/train/house_0/trajectories_batch_1_of_1.h5"),
              "imitation": ("rollouts", "obs", "slices/rollouts.npz"), "imitation parquet": ("pushed", "obs", "slices/pushed/data/train-00000-of-00001.parquet"),
              "il .npz": ("atari", "obs", "slices/atari.npz"), "il .pkl.gz": ("procgen", "obs", None)}
    server, data, works = formats_hub(x), formats_data(x), {}
    for name, (dataset, field, file) in fields.items():
        env = {"EPS": 1, "ROWS": 50000} if name in ("npy", "arrow") else {"EPS": 20 if name == "il .pkl.gz" else 50, "ROWS": 998}
        works[name] = x.slices(server, 8, f"/api/v1/datasets/slices/{dataset}/episodes/%E/{field}?start=%A&stop=%B&format=npy", **env)
        if file:
            b.hold(f"{data}/{file}")
    r = x.compare("100-row npy slice c=8", works)
    for name in works:
        if name != "minari":
            b.bar(f"100-row slice of {name}, CPU over minari's", b.over(b.cpus(r[name]), b.cpus(r["minari"])), 1.5, False)
        b.bar(f"100-row slice of {name}, errors", b.bad(r[name]), 0, False)


def tar_frames(x):
    """A frame of 32 KiB out of a plain tar shard of 1 GiB, c=8, against Flask with tarfile and its index"""
    server, file = formats_hub(x), f"{formats_data(x)}/shard/frames.tar"
    flask = x.gunicorn("peer_tar", TAR, {"TAR": file})
    env = {"EPS": 1, "ROWS": 32768}
    r = x.compare("tar frame c=8", {"hub": x.slices(server, 8, "/api/v1/datasets/shard/episodes/0/jpg?row=%A&format=image", **env),
                                    "flask + tarfile": x.slices(flask, 8, "/frame/%A", **env)}, file)
    b.bar("tar frame, CPU of flask + tarfile over hub", b.over(b.cpus(r["flask + tarfile"]), b.cpus(r["hub"])), 10, True)
    b.bar("tar frame, errors", b.bad(r["hub"]) + b.bad(r["flask + tarfile"]), 0, False)


H5PY_WALK = """
import h5py, sys, time
began = time.perf_counter()
def visit(name, item):
    if isinstance(item, h5py.Dataset) and item.chunks:
        for i in range(item.id.get_num_chunks()):
            item.id.get_chunk_info(i)
with h5py.File(sys.argv[1], "r") as f:
    f.visititems(visit)
print(time.perf_counter() - began)
"""


def format_inspection(x):
    """Inspection of 1,000 robomimic demos of 20 gzip datasets, and of 10,000 ALOHA files"""
    data = formats_data(x)
    first, walks, many = [], [], []
    b.hold(f"{data}/robomimic/demos.hdf5")
    for _ in range(x.args.runs):
        first.append(b.undisturbed(lambda: first_scan(f"{data}/robomimic")))
        walks.append(b.undisturbed(lambda: float(subprocess.check_output([b.sys.executable, "-c", H5PY_WALK, f"{data}/robomimic/demos.hdf5"]))))
        many.append(b.undisturbed(lambda: first_scan(f"{data}/aloha")))
    b.bar("inspection of 1,000 robomimic demos, s", first, 0.5, False)
    b.bar("h5py walk that lists every chunk, over that", b.over(walks, first), 10, True)
    b.bar("inspection of 10,000 ALOHA files, s", many, 10, False)


def make_folders(root, n):
    for i in range(n):
        os.makedirs(f"{root}/d{i:05d}")
        with open(f"{root}/d{i:05d}/notes.txt", "w") as f:
            f.write("x")


def make_empty_parquet(root, n):
    for i in range(n):
        open(f"{root}/f{i:06d}.parquet", "w").close()


def first_scan(root):
    with tempfile.TemporaryDirectory(dir=b.WORK) as state:
        return scan(root, state)


def first_answer(root):
    """Seconds from the start of the server to the first slice of the dataset."""
    url, patience = f"http://127.0.0.1:{WALK}/api/v1/datasets/z-v0/episodes/0/observations?stop=10&format=npy", 60
    with tempfile.TemporaryDirectory(dir=b.WORK) as state:
        began = time.perf_counter()
        hub = b.Server("hub-walk", [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", state, "--listen", f"127.0.0.1:{WALK}", "--settle", "0",
                                    "--access-log=off", "--measure=off"], f"http://127.0.0.1:{WALK}/healthz", 0.005)
        try:
            while time.perf_counter() - began < patience:
                try:
                    urllib.request.urlopen(url).read()
                    return time.perf_counter() - began
                except urllib.error.HTTPError:
                    time.sleep(0.005)
            raise SystemExit(f"no answer from {url}")
        finally:
            hub.stop()


def first_walks(x):
    """The first walk of folders that are no datasets"""
    def make_hidden(root, n):
        make_folders(root, n)
        shutil.copytree(f"{x.data}/bench-door-v0", f"{root}/z-v0")

    for what, make, n, measure, limit in (("first walk of 20,000 folders that are no datasets", make_folders, 20000, first_scan, 2),
                                          ("a dataset behind 10,000 such folders answers after", make_hidden, 10000, first_answer, 1),
                                          ("first walk of 100,000 empty Parquet files", make_empty_parquet, 100000, first_scan, 3)):
        with tempfile.TemporaryDirectory(dir=b.WORK) as root:
            make(root, n)
            b.bar(f"{what}, s", [b.undisturbed(lambda: measure(root)) for _ in range(x.args.runs)], limit, False)


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
    if not os.path.exists(f"{lab}-listings"):
        make_listings(f"{lab}-listings")
    command = [f"{b.BIN}/minari-hub", "serve", "--root", f"lab={lab}", "--root", f"bench={x.data}", "--root", f"listings={lab}-listings", "--state", state,
               "--listen", f"127.0.0.1:{LAB}", "--settle", "0", "--access-log=off", "--measure=off"]
    began = time.perf_counter()
    hub = b.Server("hub-lab", command, f"http://127.0.0.1:{LAB}/readyz", patience=1800)
    x.wait_indexed(LAB, 1800)
    if first:
        print(f"    every dataset inspected after {time.perf_counter() - began:.0f} s", flush=True)
    (index,) = glob.glob(f"{state}/index-*.db")
    starts = []
    for _ in range(x.args.runs):
        hub.stop()
        b.hold(index)
        began = time.perf_counter()
        hub = b.Server("hub-lab", command, f"http://127.0.0.1:{LAB}/readyz", 0.005)
        starts.append(time.perf_counter() - began)
    x.servers["hub-lab"] = hub
    urls = lab_urls(x)
    time.sleep(5)
    idle = rss_anon(hub)
    print(f"    {urls['datasets']} datasets, {urls['episodes']} episodes; start to readyz {statistics.median(starts):.2f} s [{min(starts):.2f}..{max(starts):.2f}]")
    b.bar("lab: start, s", starts, 1, False)
    b.bar("lab: RssAnon idle, MiB", idle, 64, False)
    for name in ("list", "episode"):
        r = x.compare(f"lab: pages of the {name}s c=8", {"hub": x.urls(hub, 8, urls[name])}, index)
        b.bar(f"lab: {name} pages, p99 ms", b.p99s(r["hub"]), 10, False)
        b.bar(f"lab: {name} pages, errors", b.bad(r["hub"]), 0, False)
    peaks = []
    run = x.urls(hub, 1000, urls["mixed"])
    r = x.compare("lab: mixed c=1000", {"hub": lambda: sampled(hub, run, peaks)}, index)
    b.bar("lab: RssAnon under 1,000 connections, MiB", max(peaks), 256, False)
    b.bar("lab: mixed c=1000, errors", b.bad(r["hub"]), 0, False)
    peaks.clear()
    with slow_readers(60) as cut:
        r = x.compare("lab: mixed c=1000 + 60 slow readers", {"hub": lambda: sampled(hub, run, peaks)}, index)
    b.bar("lab: RssAnon under 1,000 connections with 60 slow readers of large listings, MiB", max(peaks), 256, False)
    b.bar("lab: mixed c=1000 + 60 slow readers, errors", b.bad(r["hub"]) + len(cut), 0, False)
    peaks.clear()
    large = x.urls(hub, 1000, urls["large"])
    with slow_readers(60):
        x.compare("lab: large listings c=1000 + 60 slow readers (503 where memory is short)", {"hub": lambda: sampled(hub, large, peaks)})
    b.bar("lab: RssAnon while 1,000 connections ask for large listings beside 60 slow readers of such, MiB", max(peaks), 256, False)


LISTINGS = 3


def make_listings(root):
    """Folders of 20,000 files with long names: a listing of some 10 MB each."""
    for n in range(LISTINGS):
        folder = f"{root}/set-{n}/{'more' * 40}"
        os.makedirs(folder)
        for i in range(20000):
            open(f"{folder}/{i:05}" + f"-{i:05}" * 9, "w").close()


@contextlib.contextmanager
def slow_readers(count):
    """Clients, each with an address of its own, that take a few KB/s of a listing. Gives the list of those that were cut off."""
    over, readers, cut = threading.Event(), [], []

    def drip():
        while not over.wait(0.2):
            for reader in [r for r in readers if r not in cut]:
                with contextlib.suppress(ConnectionError):
                    if reader.recv(1024):
                        continue
                cut.append(reader)
    with contextlib.ExitStack() as stack:
        for i in range(count):
            reader = stack.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(30)
            reader.bind((f"127.0.0.{2 + i}", 0))
            reader.connect(("127.0.0.1", LAB))
            reader.sendall(f"GET /api/v1/datasets/listings/set-{i % LISTINGS}/files HTTP/1.1\r\nHost: 127.0.0.1:{LAB}\r\n\r\n".encode())
            status = reader.recv(12)
            assert status == b"HTTP/1.1 200", status
            readers.append(reader)
        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield cut
        finally:
            over.set()
            thread.join()


def rss_anon(server):
    with open(f"/proc/{server.process.pid}/status") as f:
        return int(re.search(r"RssAnon:\s+(\d+)", f.read())[1]) / 1024


def sampled(server, run, peaks):
    """A run, and the highest RssAnon seen meanwhile."""
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


def transfer(command, size, env=None):
    """One run of a program that fetches `size` bytes into a new folder, which "OUT" in its words stands for: MB/s, its own processor time, its memory."""
    def run():
        out = tempfile.mkdtemp(dir=b.WORK)
        began = time.perf_counter()
        process = subprocess.Popen([w.replace("OUT", out) for w in command], env={**os.environ, "HOME": out, **{k: v.replace("OUT", out) for k, v in (env or {}).items()}},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
        seconds = time.perf_counter() - began
        shutil.rmtree(out)
        if status:
            raise SystemExit(f"{command[0]} failed: {said[-2000:].decode(errors='replace')}")
        result = b.Run({"req/s": size / 1e6 / seconds, "p50": seconds * 1e3, "p99": seconds * 1e3, "bad": 0}, (used.ru_utime + used.ru_stime) * 1e6, 0)
        result.rss = used.ru_maxrss / 1024
        return result
    return run


def openssl_us(size):
    """Processor time of SHA-256 over so many bytes."""
    said = subprocess.run(["openssl", "speed", "-mr", "-seconds", "1", "-bytes", "1048576", "-evp", "sha256"], capture_output=True, text=True).stdout
    return size / float(said.strip().rsplit(":", 1)[1]) * 1e6


def transfer_gcs(x):
    """2 GiB in 100 files from a bucket: minari-cli, rclone copy, Python Minari"""
    count, each = 100, 20 * 2**20
    server = x.servers["bucket"] = b.Server("bucket", [b.sys.executable, "peer_gcs.py", str(BUCKET), str(count), str(each)], f"http://127.0.0.1:{BUCKET}/storage/v1/b/lab/o")
    url, size = f"http://127.0.0.1:{BUCKET}", count * each
    works = {"minari-cli": transfer([f"{b.BIN}/minari-cli", "download", "many-v0", "-r", "gcp://lab", "-o", "OUT"], size, {"STORAGE_EMULATOR_HOST": url})}
    if shutil.which("rclone"):
        works["rclone copy"] = transfer(["rclone", "copy", "--config", "/dev/null", f":gcs,endpoint='{url}/storage/v1/',anonymous=true,no_check_bucket=true:lab", "OUT"], size)
    else:
        print("    RCLONE IS NOT INSTALLED: NOTHING IS COMPARED WITH IT")
    if not subprocess.run([b.sys.executable, "-c", "import minari, google.cloud.storage"], stderr=subprocess.DEVNULL).returncode:
        works["Python Minari"] = transfer([b.sys.executable, "-c", "import minari; minari.download_dataset('many-v0')"], size,
                                          {"STORAGE_EMULATOR_HOST": url, "MINARI_REMOTE": "gcp://lab", "MINARI_DATASETS_PATH": "OUT"})
    else:
        print("    PYTHON MINARI IS NOT INSTALLED: NOTHING IS COMPARED WITH IT")
    r = x.compare("2 GiB from a bucket, MB/s", works)
    if "rclone copy" in r:
        b.bar("2 GiB from a bucket, rate over rclone copy", b.over(b.rates(r["minari-cli"]), b.rates(r["rclone copy"])), 1, True)
        sha256 = openssl_us(size)
        b.bar("2 GiB from a bucket, CPU over rclone's and that of SHA-256", [m / (c + sha256) for m, c in zip(b.cpus(r["minari-cli"]), b.cpus(r["rclone copy"]))], 1, False)
    if "Python Minari" in r:
        b.bar("2 GiB from a bucket, rate over Python Minari", b.over(b.rates(r["minari-cli"]), b.rates(r["Python Minari"])), 2, True)
    server.stop()
    del x.servers["bucket"]


def transfer_listing(x):
    """A list of 100,000 objects in pages of 1,000"""
    server = x.servers["bucket"] = b.Server("bucket", [b.sys.executable, "peer_gcs.py", str(BUCKET), "100000", "0"], f"http://127.0.0.1:{BUCKET}/storage/v1/b/lab/o")
    work = transfer([f"{b.BIN}/minari-cli", "list", "gcp://lab"], 0, {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{BUCKET}"})
    work()  # the server makes its pages
    r = x.compare("100,000 objects", {"minari-cli list": work})["minari-cli list"]
    b.bar("100,000 objects, CPU s", [c / 1e6 for c in b.cpus(r)], 3, False)
    b.bar("100,000 objects, MiB", [run.rss for run in r], 64, False)
    server.stop()
    del x.servers["bucket"]


def facade_listing(x):
    """The hub as a bucket: a list of 100,000 objects in pages of 1,000"""
    root, state = f"{b.WORK}/objects", f"{b.WORK}/objects-state"
    os.makedirs(root)
    os.makedirs(state)
    make_empty_parquet(root, 100000)
    server = x.servers["objects"] = b.Server("objects", [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", state, "--listen", f"127.0.0.1:{SMALL}", "--settle", "0", "--access-log=off", "--measure=off"],
                                             f"http://127.0.0.1:{SMALL}/readyz")
    x.wait_indexed(SMALL)
    at, first, cpus = f"http://127.0.0.1:{SMALL}/storage/v1/b/minari-datasets/o?projection=noAcl&prettyPrint=false", [], []
    for _ in range(1 + x.args.runs):
        token, count, before = "", 0, b.cpu_ns(server.pids())
        while token is not None:
            begun = time.perf_counter()
            page = urllib.request.urlopen(at + (f"&pageToken={urllib.parse.quote(token, safe='')}" if token else "")).read()
            first += [] if token else [1000 * (time.perf_counter() - begun)]
            page = json.loads(page)
            count, token = count + len(page["items"]), page.get("nextPageToken")
        assert count == 100000
        cpus.append((b.cpu_ns(server.pids()) - before) / 1e9)
    print(f"    first page {statistics.median(first[1:]):.1f} ms (the very first {first[0]:.1f}), all {statistics.median(cpus[1:]):.2f} s of the server's CPU")
    b.bar("hub as a bucket, 100,000 objects: first page, ms", first[1:], 20, False)
    b.bar("hub as a bucket, 100,000 objects: all pages, CPU s", cpus[1:], 3, False)
    server.stop()
    del x.servers["objects"]


SNAPSHOT = """
import os, sys, huggingface_hub as h
if sys.argv[2].isdigit():
    snapshots = os.path.dirname(h.snapshot_download(sys.argv[1], repo_type="dataset"))
    assert sum(len(files) for _, _, files in os.walk(snapshots)) == int(sys.argv[2])
elif sys.argv[2].endswith(".bin"):
    h.hf_hub_download(sys.argv[1], sys.argv[2], repo_type="dataset")
else:
    h.snapshot_download(sys.argv[1], repo_type="dataset", allow_patterns=sys.argv[2])
"""
BLOB = """
import sys
from google.cloud import storage
client = storage.Client.create_anonymous_client()
with open(sys.argv[1] + "/it", "wb") as f:
    client.download_blob_to_file("gs://minari-datasets/" + sys.argv[2], f)
"""


def snapshot(repo, what):
    """huggingface_hub takes a repo of so many files, or what of it has such names, or one file."""
    quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_XET": "1"}
    return [b.sys.executable, "-c", SNAPSHOT, repo, what], lambda url: {"HF_ENDPOINT": url, "HF_HOME": "OUT", **quiet}


def facade_hub(x, root, log):
    state = f"{root}-state"
    os.makedirs(state, exist_ok=True)
    hub = x.servers["facade"] = b.Server("facade", [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", state, "--listen", f"127.0.0.1:{FACADE}", "--settle", "0",
                                                    f"--access-log={log}", "--measure=off"], f"http://127.0.0.1:{FACADE}/readyz")
    x.wait_indexed(FACADE)
    return hub


def as_files(x, log, headers=""):
    """nginx with what a client was answered, at the addresses it asked for: the same bytes, but for the hub's port in them. Each of its forms has its own port."""
    tops, asked, links = {port: tempfile.mkdtemp(dir=b.WORK) for port in STATIC.values()}, set(), ""
    with open(log) as f:
        asked = set(re.findall(r" (?:GET|HEAD) (/\S+) 200 ", f.read()))
    for at in asked - {"/readyz"}:
        if at.startswith("/api/v1/"):
            continue
        for top in tops.values():
            os.makedirs(os.path.dirname(top + at), exist_ok=True)
        with urllib.request.urlopen(f"http://127.0.0.1:{FACADE}{at}") as answer:
            if answer.headers["Link"]:  # the next page of a list
                links += f"'{at}' '{answer.headers['Link']}';".replace(":%d" % FACADE, ":$server_port")
            if "json" in answer.headers["Content-Type"]:
                text = answer.read()
                for port, top in tops.items():
                    with open(top + at, "wb") as out:
                        out.write(text.replace(b":%d" % FACADE, b":%d" % port))
            else:
                first, second = tops.values()
                with open(first + at, "wb") as out:
                    shutil.copyfileobj(answer, out, 1 << 20)
                os.link(first + at, second + at)
    conf = f"{b.WORK}/static.conf"
    with open(f"{b.HERE}/nginx.conf") as f, open(conf, "w") as out:
        text = f.read().replace("WORK/nginx.pid", f"{conf}.pid").replace("WORK", b.WORK).replace("max=1000", "max=10000")
        text = text.replace("http {", "http { map_hash_bucket_size 1024; map $request_uri $more { default ''; %s }" % links)
        for before, (port, top) in zip((8081, 8082), tops.items()):
            text = text.replace(f"127.0.0.1:{before}; root DATA;", f"127.0.0.1:{port}; root {top}; {headers} add_header Link $more; try_files $request_uri =404;")
        out.write(text)
    for folder in (b.WORK, *tops.values()):
        os.chmod(folder, 0o755)
    x.servers["static"] = b.Server("static", ["nginx", "-c", conf], f"http://127.0.0.1:{STATIC['nginx copy']}/")
    return x.servers["static"]


def olah(x):
    """The mirror of Hugging Face from PyPI, with the hub as what it mirrors."""
    program = os.path.join(b.TOP, "build", "bench-olah", "bin", "olah-cli")
    if not os.path.exists(program):
        print("    OLAH IS NOT INSTALLED: NOTHING IS COMPARED WITH IT")
        return None
    kept, here, above = tempfile.mkdtemp(dir=b.WORK), f"127.0.0.1:{OLAH}", f"127.0.0.1:{FACADE}"
    x.servers["olah"] = b.Server("olah", [program, "--host", "127.0.0.1", "--port", str(OLAH), "--hf-scheme", "http", "--hf-netloc", above, "--hf-lfs-netloc", above, "--mirror-scheme", "http",
                                          "--mirror-netloc", here, "--mirror-lfs-netloc", here, "--repos-path", kept, "--log-path", kept], f"http://{here}/")
    return x.servers["olah"]


def served(server, command, size, env):
    """A run of a client, with the server's processor time for all of it."""
    client = transfer(command, size, env)

    def run():
        before = b.cpu_ns(server.pids())
        result = client()
        result.cpu = (b.cpu_ns(server.pids()) - before) / 1000
        return result
    return run


def stock_client(x, title, root, command, env, size, same, same_size, headers=""):
    """A stock client, whose environment `env` makes of an address: the hub against nginx, in both forms, that answers the same requests with the same bytes from files, and,
    for the `same` work by way of Hugging Face, against olah, which has seen it all before."""
    url = f"http://127.0.0.1:{FACADE}"
    hub = facade_hub(x, root, "on")
    transfer(command, size, env(url))()  # what was never asked for is hashed; and the log says what is asked
    for _ in range(2):
        transfer(same[0], same_size, same[1](url))()
    static = as_files(x, hub.log.name, headers)
    hub.stop()
    hub = facade_hub(x, root, "off")
    r = x.compare(f"{title}, MB/s", {"hub": served(hub, command, size, env(url)), **{form: served(static, command, size, env(f"http://127.0.0.1:{port}")) for form, port in STATIC.items()}})
    best, other = sorted(STATIC, key=lambda form: statistics.median(b.cpus(r[form])))
    print(f"    {best} is the bar; over {other}: {statistics.median(b.over(b.cpus(r['hub']), b.cpus(r[other]))):.2f}")
    b.bar(f"{title}: server CPU over {best}", b.over(b.cpus(r["hub"]), b.cpus(r[best])), 1.3, False)
    peer = olah(x)
    if peer:
        at = f"http://127.0.0.1:{OLAH}"
        transfer(same[0], same_size, same[1](at))()
        r = b.alternate({"hub": served(hub, same[0], same_size, same[1](url)), "olah, warm": served(peer, same[0], same_size, same[1](at))}, min(2, x.args.runs))
        b.show(f"{title}: by HF, MB/s", r, x.rows)
        b.bar(f"{title}: wall, olah over hub", [o.p50 / h.p50 for o, h in zip(r["olah, warm"], r["hub"])], 5, True)
    for name in ("facade", "static", "olah"):
        if name in x.servers:
            x.servers.pop(name).stop()
    shutil.rmtree(root)


def stock_list(x):
    """minari list remote over a bucket of 300 datasets; of olah, which knows no buckets and takes a fifth of a second for each, 50 of the 300 files that this reads"""
    root, size = f"{b.WORK}/facade-list", 0
    small = small_hdf5()
    with open(os.path.join(os.path.dirname(small), "metadata.json")) as f:
        said = json.load(f)
    for i in range(300):
        folder = f"{root}/lab/set{i:03d}-v0/data"
        os.makedirs(folder)
        shutil.copy(small, folder)
        with open(f"{folder}/metadata.json", "w") as f:
            size += f.write(json.dumps({**said, "dataset_id": f"lab/set{i:03d}-v0"}))
    command = [os.path.join(os.path.dirname(b.sys.executable), "minari"), "list", "remote"]
    env = lambda url: {"STORAGE_EMULATOR_HOST": url, "MINARI_REMOTE": "gcp://minari-datasets", "MINARI_DATASETS_PATH": "OUT"}
    stock_client(x, "minari list remote, 300 datasets", root, command, env, size, snapshot("farama-minari/lab", "set0[0-4]*/metadata.json"), size)


def stock_snapshot(x):
    """snapshot_download of 2,000 files; of olah, which takes a fifth of a second for each, 50 of them"""
    root, size, some = f"{b.WORK}/facade-snapshot", 0, 0
    os.makedirs(f"{root}/many/f")
    for i in range(2000):
        with open(f"{root}/many/f/{i:05d}.bin", "wb") as f:
            size += f.write(os.urandom(1000 + 4 * i))  # nginx makes its ETag of the size
        some = some or (i == 49 and size)
    command, env = snapshot("farama-minari/many", "2000")
    stock_client(x, "snapshot_download, 2,000 files", root, command, env, size, snapshot("farama-minari/many", "f/000[0-4]*"), some, f"add_header X-Repo-Commit {'0' * 40};")


def stock_blob(x):
    """download_blob_to_file of 1 GiB from the hub as a bucket; hf_hub_download of it by way of olah"""
    root, size = f"{b.WORK}/facade-blob", 1 << 30
    os.makedirs(f"{root}/big")
    with open(f"{root}/big/one.bin", "wb") as f:
        for _ in range(1024):
            f.write(os.urandom(1 << 20))
    command = [b.sys.executable, "-c", BLOB, "OUT", "big/one.bin"]
    stock_client(x, "download_blob_to_file, 1 GiB", root, command, lambda url: {"STORAGE_EMULATOR_HOST": url}, size, snapshot("farama-minari/big", "one.bin"), size)


def transfer_small(x):
    """10,000 small files: minari-cli from a hub, rclone over http from nginx"""
    root, size = f"{b.WORK}/small", 0
    os.makedirs(f"{root}/small-v0/data")
    for i in range(10000):
        with open(f"{root}/small-v0/data/{i:05d}.bin", "wb") as f:
            size += f.write(os.urandom(1000 + i % 9000))
    state = f"{b.WORK}/small-state"
    os.makedirs(state)
    hub = x.servers["small"] = b.Server("small", [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", state, "--listen", f"127.0.0.1:{SMALL}", "--settle", "0", "--access-log=off", "--measure=off"],
                                        f"http://127.0.0.1:{SMALL}/readyz")
    x.wait_indexed(SMALL)
    item, = json.load(urllib.request.urlopen(f"http://127.0.0.1:{SMALL}/api/v1/datasets"))["items"]
    work = transfer([f"{b.BIN}/minari-cli", "download", item["id"], "-r", f"http://127.0.0.1:{SMALL}", "-o", "OUT", "--as", "it", "--connections", "8"], size)
    work()  # the hub hashes what was never asked for
    works = {"minari-cli": work}
    if shutil.which("rclone"):
        conf = f"{b.WORK}/small.conf"
        with open(f"{b.HERE}/nginx.conf") as f, open(conf, "w") as out:
            text = f.read().replace("DATA", root).replace("WORK/nginx.pid", "WORK/small.pid").replace("WORK", b.WORK)
            out.write(text.replace("127.0.0.1:8081;", f"127.0.0.1:{INDEX}; autoindex on;").replace("127.0.0.1:8082", f"127.0.0.1:{INDEX + 1}"))
        os.chmod(b.WORK, 0o755)
        x.servers["index"] = b.Server("index", ["nginx", "-c", conf], f"http://127.0.0.1:{INDEX}/small-v0/")
        works["rclone http"] = transfer(["rclone", "copy", "--config", "/dev/null", "--transfers", "8", f":http,url='http://127.0.0.1:{INDEX}/':", "OUT"], size)
    else:
        print("    RCLONE IS NOT INSTALLED: NOTHING IS COMPARED WITH IT")
    r = x.compare("10,000 small files, MB/s", works)
    if "rclone http" in r:
        b.bar("10,000 small files, rate over rclone http", b.over(b.rates(r["minari-cli"]), b.rates(r["rclone http"])), 0.8, True)
        x.servers.pop("index").stop()
    hub.stop()
    del x.servers["small"]


def small_hdf5():
    return min(glob.glob(f"{b.HERE}/../fixtures/minari/root-0.5.3/*/*/data/main_data.hdf5"), key=os.path.getsize)


def mirror_hub(x, name, port, remote, *args, env=None):
    """A hub that copies a remote by the rule "lab"; `args` are the rule's. Returns it, what waits for a pass, and what times another."""
    root, state = f"{b.WORK}/{name}", f"{b.WORK}/{name}-state"
    os.makedirs(root, exist_ok=True)
    os.makedirs(state)
    command = [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", state, "--listen", f"127.0.0.1:{port}", "--settle", "0", "--access-log=off", "--measure=off"]
    hub = x.servers[name] = b.Server(name, ["env", *(f"{k}={v}" for k, v in (env or {}).items()), *command], f"http://127.0.0.1:{port}/readyz")
    rule = lambda: json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/mirrors/lab"))

    def wait(since=""):
        while rule().get("synced", "") <= since:
            time.sleep(0.01)

    def again():
        before, began = rule()["synced"], time.monotonic()
        subprocess.run([f"{b.BIN}/minari-hub", "mirror", "run", "lab", "--state", state], check=True, stdout=subprocess.DEVNULL)
        wait(before)
        return time.monotonic() - began

    subprocess.run([f"{b.BIN}/minari-hub", "mirror", "add", remote, "--name", "lab", "--yes", *args, "--state", state], check=True, stdout=subprocess.DEVNULL)
    return hub, wait, again


def mirror_unchanged(x, count=int(os.environ.get("HUB_BENCH_DATASETS", "10000"))):
    """A pass over 10,000 datasets of which none has changed: from a bucket, and from a hub"""
    x.servers["bucket"] = b.Server("bucket", [b.sys.executable, "peer_gcs.py", str(BUCKET), str(count), small_hdf5()], f"http://127.0.0.1:{BUCKET}/storage/v1/b/lab/o")
    _, wait, again = mirror_hub(x, "copy", COPY, "gcp://lab", env={"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{BUCKET}"})
    wait()
    x.wait_indexed(COPY, 900)
    b.bar(f"{count:,} unchanged datasets of a bucket, s", [again() for _ in range(x.args.runs)], 10, False)
    _, wait, again = mirror_hub(x, "second", SECOND, f"http://127.0.0.1:{COPY}")
    wait()
    x.wait_indexed(SECOND, 900)
    b.bar(f"{count:,} unchanged datasets of a hub, s", [again() for _ in range(x.args.runs)], 10, False)
    for name in ("second", "copy", "bucket"):
        x.servers.pop(name).stop()


def process_s(pid):
    """Processor time of a process, with all its threads that have ended."""
    with open(f"/proc/{pid}/stat") as f:
        return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def mirror_run(name, remote, size, env=None):
    """One run of a rule on a hub of its own, pinned to core 0: from the beginning of its pass until all is copied."""
    def run():
        place = tempfile.mkdtemp(dir=b.WORK)
        os.mkdir(f"{place}/root")
        command = [f"{b.BIN}/minari-hub", "serve", "--root", f"{place}/root", "--state", f"{place}/state", "--listen", f"127.0.0.1:{COPY}", "--settle", "0", "--access-log=off", "--measure=off"]
        hub = b.Server(name, ["taskset", "-c", "0", *command], f"http://127.0.0.1:{COPY}/readyz", env=env)
        seen = lambda path: json.load(urllib.request.urlopen(f"http://127.0.0.1:{COPY}/api/v1/{path}"))
        try:
            before = process_s(hub.process.pid)
            subprocess.run([f"{b.BIN}/minari-hub", "mirror", "add", remote, "--name", "lab", "--yes", "--state", f"{place}/state"], check=True, stdout=subprocess.DEVNULL)
            while not seen("mirrors/lab").get("synced"):
                time.sleep(0.05)
            began = datetime.datetime.fromisoformat(seen("jobs?kind=mirror")["items"][0]["started"].replace("Z", "+00:00"))
            seconds, used = time.time() - began.timestamp(), process_s(hub.process.pid) - before
        finally:
            hub.stop()
            shutil.rmtree(place)
        return b.Run({"req/s": size / seconds, "p50": seconds * 1e3, "p99": seconds * 1e3, "bad": 0}, used * 1e6, 0)
    return run


def mirror_against(x, title, size, url):
    """A rule for a bucket beside rclone copy."""
    works = {"rule": mirror_run("rule", "gcp://lab", size, {"STORAGE_EMULATOR_HOST": url})}
    if shutil.which("rclone"):
        works["rclone copy"] = transfer(["rclone", "copy", "--config", "/dev/null", f":gcs,endpoint='{url}/storage/v1/',anonymous=true,no_check_bucket=true:lab", "OUT"], size * 1e6)
    else:
        print("    RCLONE IS NOT INSTALLED: NOTHING IS COMPARED WITH IT")
    return x.compare(title, works)


def mirror_new(x, count=2000):
    """2,000 small datasets by a rule from a hub; the same from a bucket, and 2 GiB in 100 files, by a rule and by rclone copy"""
    root, state = f"{b.WORK}/many", f"{b.WORK}/many-state"
    for i in range(count):
        folder = f"{root}/set{i:05d}-v0/data"
        os.makedirs(folder)
        shutil.copy(small_hdf5(), folder)
        shutil.copy(os.path.join(os.path.dirname(small_hdf5()), "metadata.json"), folder)
    os.makedirs(state)
    hub = x.servers["many"] = b.Server("many", [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", state, "--listen", f"127.0.0.1:{SMALL}", "--settle", "0", "--access-log=off", "--measure=off"],
                                        f"http://127.0.0.1:{SMALL}/readyz")
    x.wait_indexed(SMALL, 900)
    work = mirror_run("rule", f"http://127.0.0.1:{SMALL}", count)
    work()  # the hub hashes what was never asked for
    b.bar(f"{count:,} small datasets of a hub, per second", b.rates(x.compare(f"{count:,} small datasets of a hub, 1/s", {"rule": work})["rule"]), 60, True)
    hub.stop()
    del x.servers["many"]
    url = f"http://127.0.0.1:{BUCKET}"
    for title, size, words in ((f"{count:,} small datasets of a bucket, 1/s", count, [str(count), small_hdf5()]), ("2 GiB of a bucket, MB/s", 2 * 2**30 / 1e6, ["100", str(2 * 2**30 // 100)])):
        server = x.servers["bucket"] = b.Server("bucket", [b.sys.executable, "peer_gcs.py", str(BUCKET), *words], f"{url}/storage/v1/b/lab/o")
        r = mirror_against(x, title, size, url)
        server.stop()
        del x.servers["bucket"]
    if "rclone copy" in r:
        b.bar("2 GiB of a bucket by a rule, rate over rclone copy", b.over(b.rates(r["rule"]), b.rates(r["rclone copy"])), 1, True)


def mirror_beside(x):
    """Slices of other datasets while a mirror copies at 50 MB/s"""
    x.servers["bucket"] = b.Server("bucket", [b.sys.executable, "peer_gcs.py", str(BUCKET), "300", str(20 << 20)], f"http://127.0.0.1:{BUCKET}/storage/v1/b/lab/o")
    root, state = f"{b.WORK}/beside", f"{b.WORK}/beside-state"
    os.makedirs(root)
    os.makedirs(state)
    hub = x.servers["beside"] = b.Server("beside", ["env", f"STORAGE_EMULATOR_HOST=http://127.0.0.1:{BUCKET}", f"{b.BIN}/minari-hub", "serve", "--root", f"copies={root}", "--root", f"big={x.data}",
                                                    "--state", state, "--listen", f"127.0.0.1:{COPY}", "--settle", "0", "--access-log=off", "--measure=off"], f"http://127.0.0.1:{COPY}/readyz")
    x.wait_indexed(COPY)
    path = NPY.replace("/datasets/", "/datasets/big/")
    work = x.slices(hub, 8, path)
    alone = [work() for _ in range(x.args.runs)]
    command = [f"{b.BIN}/minari-hub", "mirror"]
    subprocess.run([*command, "add", "gcp://lab", "--name", "lab", "--root", "copies", "--limit", "50M", "--state", state], check=True, stdout=subprocess.DEVNULL)
    while not json.load(urllib.request.urlopen(f"http://127.0.0.1:{COPY}/api/v1/mirrors/lab"))["running"]:
        time.sleep(0.01)
    beside = [work() for _ in range(x.args.runs)]
    still = json.load(urllib.request.urlopen(f"http://127.0.0.1:{COPY}/api/v1/mirrors/lab"))["running"]
    b.show("slices while a mirror copies", {"alone": alone, "beside": beside}, x.rows)
    b.bar("slices beside a mirror, p99 over 2x alone + 0.5 ms", [m / (2 * a + 0.5) for m, a in zip(b.p99s(beside), b.p99s(alone))], 1, False)
    if not still:
        print("    the copy was over before the last run")
    for name in ("beside", "bucket"):
        x.servers.pop(name).stop()


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
    large = ["/api/v1/datasets?limit=1000"] + [f"/api/v1/datasets/{i}/episodes?limit=1000" for i in some[:10]]
    large += [f"/api/v1/datasets/listings/set-{n}/files" for n in range(LISTINGS)]
    for name, lines in (("list", pages), ("episode", episodes), ("mixed", mixed), ("large", large)):
        found[name] = os.path.join(b.WORK, f"{name}.urls")
        with open(found[name], "w") as f:
            f.write("\n".join(lines) + "\n")
    return found


MEASURED = 8251
CURVES = 8597


def measuring(x):
    """Measuring 500 MB of uncompressed rows, decoded bytes a second of processor time; and slices beside it"""
    root = os.path.join(b.WORK, "measured")
    shutil.copytree(f"{x.data}/bench-big-contig-v0", f"{root}/bench-big-contig-v0", copy_function=os.link)
    rate, beside = [], {}

    def serve(mode):
        command = [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", tempfile.mkdtemp(dir=b.WORK), "--listen", f"127.0.0.1:{MEASURED}", "--settle", "0",
                   "--access-log=off", f"--measure={mode}"]
        server = x.servers[f"hub-measure-{mode}"] = b.Server(f"hub-measure-{mode}", command, f"http://127.0.0.1:{MEASURED}/readyz")
        x.wait_indexed(MEASURED)
        return server

    def ask(what):
        with urllib.request.urlopen(f"http://127.0.0.1:{MEASURED}/api/v1/datasets/bench-big-contig-v0{what}") as r:
            return json.load(r)

    rows = {"float64": 8, "float32": 4, "bool": 1, "int64": 8}
    for _ in range(x.args.runs):
        server = serve("on-demand")
        time.sleep(1)  # the rewards
        before = b.cpu_ns(server.pids())
        while not ask("/~findings")["coverage"]["complete"]:
            time.sleep(0.2)
        used = b.cpu_ns(server.pids()) - before
        bytes_read = 0
        for field in ask("")["fields"]:
            width = rows[field["dtype"]]
            for n in field["shape"]:
                width *= n
            # actions are read in both passes
            bytes_read += width * ask("")["steps"] * (2 if field["role"] == "action" else 1)
        rate.append(bytes_read / used * 1e3)
        server.stop()
    print(f"measuring: {statistics.median(rate):.0f} MB/s of processor time")
    b.bar("measuring uncompressed rows, MB/s a core", rate, 300, True)
    slices = NPY.replace("bench-big-v0", "bench-big-contig-v0")
    for mode in ("off", "idle"):
        server = serve(mode)
        r = x.compare(f"npy slice c=2, measuring {mode}", {mode: x.slices(server, 2, slices)})
        beside[mode] = b.p99s(r[mode])
        server.stop()
    allowed = 2 * statistics.median(beside["off"]) + 0.5
    b.bar("npy slice c=2 beside measuring, p99 over 2x + 0.5 ms of that alone", [v / allowed for v in beside["idle"]], 1, False)


MIN_MAX = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    d = f["episode_0/observations"]
    x = np.memmap(sys.argv[1], "f8", "r", d.id.get_offset(), d.shape)
whole = len(x) // 1024
def half(i):
    v = x[i * whole // 2 * 1024 : (i + 1) * whole // 2 * 1024].reshape(-1, 1024, x.shape[1])
    return v.min(1), v.max(1)
for _ in range(4):
    start = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(half, (0, 1)))
    print((time.perf_counter() - start) * 1000)
"""


def curves(x):
    """buckets=1800 of an episode of 10^6 x 39 float64, warm pages, against numpy min and max over the mapped array on two threads"""
    from gen_data import minari

    root = os.path.join(b.WORK, "curves")
    for name, chunked in (("curves-contig-v0", False), ("curves-chunked-v0", True)):
        os.makedirs(f"{root}/{name}/data")
        minari(f"{root}/{name}/data/main_data.hdf5", 1, 1_000_000, chunked)
        b.from_disk(f"{root}/{name}/data/main_data.hdf5")
    numpy = []
    path = "/api/v1/datasets/{}/episodes/0/observations?format=raw&{}"
    first, later = {"contig": [], "chunked": []}, []

    def ask(*what):
        start = time.perf_counter()
        with urllib.request.urlopen(f"http://127.0.0.1:{CURVES}" + path.format(*what)) as r:
            r.read()
        return (time.perf_counter() - start) * 1000

    for _ in range(x.args.runs + 1):  # what the first look keeps is gone with the server
        out = subprocess.run([b.sys.executable, "-c", MIN_MAX, f"{root}/curves-contig-v0/data/main_data.hdf5"], capture_output=True, text=True, check=True).stdout
        numpy.append(statistics.median(float(ms) for ms in out.split()[1:]))
        command = [f"{b.BIN}/minari-hub", "serve", "--root", root, "--state", os.path.join(b.WORK, "curves-state"), "--listen", f"127.0.0.1:{CURVES}", "--settle", "0",
                   "--access-log=off", "--measure=off"]
        server = x.servers["hub-curves"] = b.Server("hub-curves", command, f"http://127.0.0.1:{CURVES}/readyz")
        x.wait_indexed(CURVES)
        for kind, walls in first.items():
            ask(f"curves-{kind}-v0", "buckets=16&stop=20")  # its layout
            walls.append(ask(f"curves-{kind}-v0", "buckets=1800"))
        later += [ask("curves-contig-v0", f"width=256&start={k << 18}&stop={(k + 1) << 18}") for k in range(3)]
        server.stop()
    print(f"    numpy {statistics.median(numpy):.1f} ms; first look {statistics.median(first['contig'][1:]):.1f} ms contiguous, {statistics.median(first['chunked'][1:]):.1f} ms in chunks; later {statistics.median(later):.1f} ms")
    for kind, walls in first.items():
        b.bar(f"curves of 10^6 x 39, {kind}: wall over numpy", b.over(walls[1:], numpy[1:]), 1, False)
    b.bar("curves of 10^6 x 39: later looks, ms", later, 10, False)



def access_rules(path):
    """200 classes: 100 folders, and a dataset of its own in each. `half` reads 50 folders with all that is in them."""
    with open(path, "w") as f:
        f.write("[access]\nset = token:boss admin\n")
        for i in range(100):
            for prefix in (f"robot-{i:03d}/", f"robot-{i:03d}/task-00"):
                f.write(f"set = * none {prefix}\n" + (f"set = token:half read {prefix}\n" if i < 50 else ""))


def access_hub(x, name, port, *args):
    root = f"{x.data}-access"
    if not os.path.exists(root):
        subprocess.run([b.sys.executable, f"{b.HERE}/gen_lab.py", f"{root}.new", "10000", "1"], check=True)
        os.rename(f"{root}.new", root)
    state = os.path.join(b.WORK, name)
    os.makedirs(state)
    x.servers[name] = b.Server(name, [f"{b.BIN}/minari-hub", "serve", "--root", root, "--root", f"bench={x.data}", "--state", state, "--listen", f"127.0.0.1:{port}",
                                      "--settle", "0", "--access-log=off", "--measure=off", *args], f"http://127.0.0.1:{port}/readyz", patience=600)
    return x.servers[name], state


def access(x):
    """1,000 tokens and 200 classes of 10,000 datasets: what a token costs a request, and the list of who sees half"""
    rules = os.path.join(b.WORK, "access.conf")
    access_rules(rules)
    plain, _ = access_hub(x, "hub-open", OPEN)
    x.wait_indexed(OPEN, 1800)
    hub, state = access_hub(x, "hub-ruled", RULED, "--config", rules)
    tokens = {name: subprocess.run([f"{b.BIN}/minari-hub", "token", "add", name, "--state", state], check=True, capture_output=True, text=True).stdout.strip() for name in ("boss", "half")}

    def ask(path, method="GET", token="boss"):
        request = urllib.request.Request(f"http://127.0.0.1:{RULED}{path}", method=method, headers={"Authorization": f"Bearer {tokens[token]}", "Content-Length": "0"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    while True:
        with contextlib.suppress(urllib.error.HTTPError):
            if ask("/api/v1/datasets?status=pending&limit=1")["total"] == 0:
                break
        time.sleep(0.2)
    for i in range(1000):
        ask(f"/api/v1/tokens?name=t{i}&read=robot-{i % 100:03d}/", "POST")
    seen = {name: ask("/api/v1/datasets?limit=1", token=name)["total"] for name in tokens}
    print(f"    boss sees {seen['boss']} datasets, half {seen['half']}", flush=True)
    document, page = "/api/v1/datasets/bench/bench-door-v0", "/api/v1/datasets?limit=100"
    r = x.compare("document c=8", {"open hub": x.plain(plain, 8, document), "ruled, anonymous": x.plain(hub, 8, document), "ruled, a token": x.plain(hub, 8, document, tokens["half"])})
    b.bar("document, CPU us more with a token, 1,000 tokens and 200 classes, than on an open hub", [t - o for t, o in zip(b.cpus(r["ruled, a token"]), b.cpus(r["open hub"]))], 2, False)
    b.bar("document, errors", sum(b.bad(runs) for runs in r.values()), 0, False)
    r = x.compare("page of 100 of the list c=8", {"open hub": x.plain(plain, 8, page), "who sees all": x.plain(hub, 8, page, tokens["boss"]), "who sees half": x.plain(hub, 8, page, tokens["half"])})
    b.bar("list, CPU of who sees half over who sees all", b.over(b.cpus(r["who sees half"]), b.cpus(r["who sees all"])), 1.2, False)
    b.bar("list, CPU of who sees all over an open hub", b.over(b.cpus(r["who sees all"]), b.cpus(r["open hub"])), 1.2, False)
    b.bar("list, errors", sum(b.bad(runs) for runs in r.values()), 0, False)
    began = time.perf_counter()
    ask("/api/v1/access?who=token:t1&level=read&prefix=bench/", "POST")
    print(f"    a change of a rule is answered, and in force, after {(time.perf_counter() - began) * 1000:.0f} ms")


all_works = [slice_npy, slice_npy_64, samples, slice_json, slice_tables, whole_rows, images, file_ranges, archive_tar, video_cut, document, inspection, first_walks, lerobot, lerobot_slices, lerobot_inspection, format_slices, tar_frames, format_inspection,
             memory, transfer_gcs, transfer_listing, facade_listing, stock_list, stock_snapshot, stock_blob, transfer_small, mirror_new, mirror_unchanged, mirror_beside]
all_works += [measuring, curves, access, *push_works]
