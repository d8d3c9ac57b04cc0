"""How long the hub takes tells nobody whether what is private exists: run by tests/long.sh, alone on the machine.

Of each route private and absent names are requested HUB_TIMING_REQUESTS times each, in random order over one connection. A classifier
that knows the time of an answer alone gets no further than an area under its curve of 0.53."""
import os
import random
import socket
import sys
import time
from urllib.parse import quote

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from hub import Hub, until
from principals import bearer, run
from test_access_twins import fill, settled

REQUESTS, SEED, MOST = int(os.environ.get("HUB_TIMING_REQUESTS", "10000")), int(os.environ.get("HUB_TIMING_SEED", "1")), 0.53
NAMES = 20  # of each kind, so that no spelling is slower by itself
FILE = "data/main_data.hdf5"
ROUTES = {"dataset": "/api/v1/datasets/lab/secret/{}-v0", "alias": "/api/v1/datasets/lab/secret/{}", "file": "/api/v1/datasets/lab/secret/{}-v0/files/" + FILE,
          "episodes": "/api/v1/datasets/lab/secret/{}-v0/episodes", "rows": "/api/v1/datasets/lab/secret/{}-v0/episodes/0/rewards", "page": "/d/lab/secret/{}-v0",
          "repository": "/api/datasets/repos/{}-v0", "file of a repository": "/datasets/repos/{}-v0/resolve/main/" + FILE,
          "object": "/storage/v1/b/minari-datasets/o/" + quote("lab/secret/{}-v0/", safe="{}") + quote(FILE, safe=""), "object by path": "/minari-datasets/lab/secret/{}-v0/" + FILE,
          "folder": "/minari-datasets/lab/secret/{}-v0/", "namespace": "/api/v1/namespaces/lab/secret/{}"}


def names(draw):
    return ["".join(draw.choice("bcdfghjkmnpqrstvwxz") for _ in range(8)) for _ in range(NAMES)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root, state, draw = str(tmp_path_factory.mktemp("root")), str(tmp_path_factory.mktemp("state")), random.Random(SEED)
    private, absent = names(draw), names(draw)
    sets = {"lab/open-v0": "samples/door-human-v0"}
    for name in private:
        sets |= {f"lab/secret/{name}-v0": "samples/door-human-v0", f"repos/{name}-v0": "samples/door-human-v0", f"lab/secret/{name}/inner-v0": "samples/door-human-v0"}
    fill(root, sets)
    for prefix in ("lab/secret/", "repos/"):
        run(state, "access", "set", "*", "none", prefix)
    stranger = run(state, "token", "add", "stranger")
    with Hub([root], state=state, args=["--hash", "idle"]) as hub:
        settled(hub)
        hub.private, hub.absent, hub.askers = private, absent, {"anonymous": {}, "a stranger": bearer(stranger)}
        until(lambda: hub.get("/healthz", bearer(stranger)).status == 200)
        yield hub


class Clocked:
    """A socket, and how long each answer took from the request to its last byte."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request):
        begun = time.perf_counter_ns()
        self.socket.sendall(request)
        answer = self.socket.recv(65536)
        while not self.is_whole(answer):
            more = self.socket.recv(65536)
            assert more, "the hub ended the connection"
            answer += more
        return time.perf_counter_ns() - begun, answer

    @staticmethod
    def is_whole(answer):
        head, _, body = answer.partition(b"\r\n\r\n")
        if not _:
            return False
        at = head.lower().find(b"\r\ncontent-length: ")
        return at < 0 or len(body) >= int(head[at + 18:].split(b"\r\n", 1)[0])


def area(a, b):
    """Under the curve of the better one of the two classifiers by time: 0.5 where they know nothing. Ties count half."""
    ranked = sorted([(t, 0) for t in a] + [(t, 1) for t in b])
    below, i = 0.0, 0
    while i < len(ranked):
        end = i
        while end < len(ranked) and ranked[end][0] == ranked[i][0]:
            end += 1
        below += sum(kind for _, kind in ranked[i:end]) * (i + end + 1) / 2  # ranks from 1, the middle of ties
        i = end
    part = (below - len(b) * (len(b) + 1) / 2) / (len(a) * len(b))
    return max(part, 1 - part)


def measure(hub, path, headers):
    draw, line = random.Random(SEED), Clocked(hub.port)
    lines = "".join(f"{k}: {v}\r\n" for k, v in {"Host": f"127.0.0.1:{hub.port}", "Accept": "text/html" if path.startswith("/d/") else "*/*", **headers}.items())
    asked = [(kind, f"GET {path.format(name)} HTTP/1.1\r\n{lines}\r\n".encode()) for kind, known in enumerate((hub.private, hub.absent)) for name in known]
    times, statuses = ([], []), set()
    for _, request in asked * 20:  # everything is warm
        line.ask(request)
    order = [draw.choice([a for a in asked if a[0] == kind]) for kind in (0, 1) for _ in range(REQUESTS)]
    draw.shuffle(order)
    for kind, request in order:
        took, answer = line.ask(request)
        times[kind].append(took)
        statuses.add(answer.split(b" ", 2)[1])
    assert len(statuses) == 1 and b"200" not in statuses, (path, statuses)
    return area(*times), sorted(times[0])[REQUESTS // 2] / 1000


@pytest.mark.parametrize("asker", ["anonymous", "a stranger"])
@pytest.mark.parametrize("route", ROUTES)
def test_time_says_nothing(hub, route, asker):
    auc, middle_us = measure(hub, ROUTES[route], hub.askers[asker])
    print(f"{route}, {asker}: AUC {auc:.4f}, {middle_us:.0f} us")
    assert auc <= MOST, f"{route}, asked by {asker}: {auc:.4f}"
