"""The rules of the bench hold, without a server: check_bars.py

The median of the runs decides a bar, whatever the worst of them was. The spread is the interquartile range over the median. Cold readers ask for bytes at
a rate of their own, from a file that is dropped from the cache, and the work begins when each has an answer. Ends with 1 where one does not hold."""
import contextlib
import http.server
import io
import os
import subprocess
import tempfile
import threading
import time
import types

import bench as b
import works


def verdict(values, limit, at_least):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        b.bar("a row", values, limit, at_least)
    return said.getvalue().split()[0], b.bars[-1][1:3]


def check_bars():
    assert verdict([0.5, 0.97, 0.99], 0.95, True) == ("pass", (0.97, 0.5))
    assert verdict([0.94, 0.94, 3.0], 0.95, True) == ("MISS", (0.94, 0.94))
    assert verdict([0.8, 1.0, 9.0], 1, False) == ("pass", (1.0, 9.0))
    assert verdict([0.8, 1.1, 1.2], 1, False) == ("MISS", (1.1, 1.2))
    assert verdict(1, 0, False) == ("MISS", (1, 1))  # a number alone: errors


def check_spread():
    assert b.spread([10] * 11) == 0
    assert b.spread(list(range(5, 16))) == 6 / 10  # from the 3rd to the 9th


def check_times():
    """Of processes that end while they are looked at."""
    child = subprocess.Popen(["true"])
    child.wait()
    assert b.family(child.pid) == [child.pid]
    assert b.cpu_ns([child.pid, os.getpid()]) > b.cpu_ns([child.pid]) == 0


class Counted(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        self.asked.append(self.headers["Range"])
        self.send_response(206)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a reader is terminated at any time


def check_cold_readers():
    readers = 2
    with tempfile.TemporaryDirectory() as data, Quiet(("127.0.0.1", 0), Counted) as server:
        os.makedirs(f"{data}/bench-big-contig-v0/data")
        open(f"{data}/bench-big-contig-v0/data/main_data.hdf5", "w").close()
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

        def work():
            before = len(Counted.asked)
            time.sleep(0.5)
            return before, len(Counted.asked)
        began = time.monotonic()
        before, after = works.beside_cold_readers(types.SimpleNamespace(data=data), f"http://127.0.0.1:{server.server_port}/", work, readers)()
        most = readers * (1 + works.READS_A_SECOND * (time.monotonic() - began))
        server.shutdown()
    assert before >= readers, f"the work began after {before} answers"
    assert before < after <= most, f"{before} reads before the work, {after} after it, and {most:.0f} at most"
    assert all(asked.startswith("bytes=") for asked in Counted.asked)


check_bars()
check_spread()
check_times()
check_cold_readers()
