"""Private is absent: a hub whose rules hide datasets answers, byte for byte, like its twin that lacks them.

The twin has the same configuration, rules and tokens. Requests are drawn over the route table: HUB_TWIN_REQUESTS of them for
each asker (250, so that a gate compares 500), from HUB_TWIN_SEED."""
import http.client
import json
import os
import random
import re
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import routes
from hub import BIN, FIXTURES, Hub, until

COUNT, SEED = int(os.environ.get("HUB_TWIN_REQUESTS", "250")), int(os.environ.get("HUB_TWIN_SEED", "1"))
PUBLIC = {"D4RL/door/human-v2": "samples/D4RL/door/human-v2", "lab/arm-v0": "lerobot/arm-v30", "lab/door-human-v0": "samples/door-human-v0"}
SECRET = {"lab/secret/door-human-v0": "samples/door-human-v0", "lab/secret/door-human-v1": "samples/door-human-v0", "lab/arms-v1": "lerobot/arm-v30"}
READERS = {"robots/arm-v2": "lerobot/arm-v30", "robots/door-human-v0": "samples/door-human-v0"}
RULES = [("*", "none", "lab/secret/"), ("*", "none", "lab/arms"), ("*", "none", "robots/"), ("user:ann", "read", "robots/")]
ABSENT = ["lab/secret/leg-v0", "lab/leg-v1", "robots/leg-v1", "nothing", "lab/secret", "lab", "robots"]
SEGMENTS = {"n": ["0", "1", "7", "99", "x"], "camera": ["top.mp4", "top"], "rev": ["main", "v3.0", "0123abc", "refs/heads/main"],
            "bucket": ["minari-datasets", "lab", "robots", "nothing"], "build": ["0"], "name": ["aloha", "none"],
            "path": ["actions", "observations", "action", "rewards", "data/main_data.hdf5", "meta/info.json", "lab/secret", "lab/secret/notes.txt", "robots", "start", "none"]}
VARYING = {"date", "x-request-id"}


def run(state, *words):
    return subprocess.run([os.path.join(BIN, "minari-hub"), *words, "--state", state], check=True, capture_output=True, text=True).stdout.strip()


def fill(root, *sets):
    for datasets in sets:
        for name, fixture in datasets.items():
            shutil.copytree(os.path.join(FIXTURES, fixture), os.path.join(root, name))
    if SECRET in sets:
        with open(os.path.join(root, "lab/secret/notes.txt"), "w") as f:
            f.write("hidden")
        os.utime(os.path.join(root, "lab/secret/notes.txt"), (1e9, 1e9))


def settled(hub):
    """All is inspected, hashed and measured: later answers do not change."""
    hub.wait_indexed()
    measuring = lambda: hub.admin("/api/v1/status")["measuring"]
    files = lambda: [f for d in hub.admin("/api/v1/datasets?limit=1000")["items"] for f in hub.admin(f"/api/v1/datasets/{quote(d['id'])}/files?limit=1000")["items"]]
    until(lambda: all(f.get("sha256") for f in files()) and not hub.admin("/api/v1/jobs")["items"] and measuring()["parts"] == measuring()["of_parts"])
    return hub


@pytest.fixture(scope="module")
def hubs(tmp_path_factory):
    """The hub; the twins of who is anonymous, and of who reads robots/; the tokens."""
    base = tmp_path_factory.mktemp("twins")
    state = str(base / "state")
    os.mkdir(state, 0o700)
    for rule in RULES:
        run(state, "access", "set", *rule)
    tokens = {"reader": run(state, "token", "add", "reader", "--read", "robots/"), "stranger": run(state, "token", "add", "stranger"), None: None}
    started = {}
    for name, sets in {"whole": (PUBLIC, SECRET, READERS), "public": (PUBLIC,), "reader": (PUBLIC, READERS)}.items():
        root, own = str(base / name), str(base / (name + "-state"))
        os.mkdir(root)
        fill(root, *sets)
        shutil.copytree(state, own)
        started[name] = Hub([root], state=own, args=["--public-url", "http://hub.lab", "--hash", "idle", "--auth-header", "X-Forwarded-User"])
    try:
        for hub in started.values():
            settled(hub)
        yield started, tokens
    finally:
        for hub in started.values():
            hub.stop()


def value_of(draw, name):
    if name == "id":
        return draw.choice([draw.choice(list(PUBLIC)), draw.choice(list({**SECRET, **READERS})), draw.choice(ABSENT), "lab/arms", "lab/secret/door-human", "robots/arm"])
    if name == "org":
        return draw.choice(["farama-minari", "lab", "robots", "D4RL", "nobody"])
    return draw.choice(SEGMENTS.get(name, ["none"]))


def query_of(draw, takes, examples):
    chosen = []
    for ident in draw.sample(takes, min(len(takes), draw.choice([0, 0, 1, 2]))):
        name, _, value = (examples.get(ident) or "").partition("=")
        if not name:
            continue
        if name in ("prefix", "q", "search", "author"):
            value = draw.choice(["lab", "lab/", "lab/secret/", "robots/", "arm", "secret", "door", "D4RL", value])
        chosen.append(f"{name}={quote(value, safe='')}")
    return "?" + "&".join(chosen) if chosen else ""


def drawn(count, seed):
    """(method, path, body): each route in turn."""
    draw, examples = random.Random(seed), {ident: example for ident, _, _, example, _, in_path in routes.parameters() if not in_path}
    table = [r for r in routes.routes() if r.method == "GET" or r.pattern in ("/api/v1/batch", "/api/datasets/{org}/{name}/paths-info/{rev}")]
    for i in range(count):
        route = table[i % len(table)]
        pattern, _, wanted = route.pattern.partition("?")
        if "{org}/{name}" in pattern:
            pattern = pattern.replace("{name}", draw.choice(["arm", "arms", "arm-v0", "arms-v1", "secret", "door-human-v0", "none", "door"]))
        gcs = "/o/{path}" in pattern
        fill_in = lambda m: quote(draw.choice([f"{value_of(draw, 'id')}/{draw.choice(['data/main_data.hdf5', 'meta/info.json', 'namespace_metadata.json'])}", value_of(draw, "id")]) if gcs and m[1] == "path"
                                  else value_of(draw, m[1]), safe="" if gcs else "/")
        path = re.sub(r"\{(\w+)\}", fill_in, pattern) + query_of(draw, [t for t in route.takes if t != "window_seed"], examples)
        if path.partition("?")[0].endswith("/sample"):
            path += ("&" if "?" in path else "?") + "seed=7"
        body = None
        if route.method == "POST":
            body = json.dumps({"items": [{"id": value_of(draw, "id"), "episode": 0, "start": 0, "stop": 2}], "fields": ["actions"]} if "batch" in path else {"paths": [value_of(draw, "path")], "expand": True})
        yield route.method, path, body


def ask(hub, method, path, body, token, more=()):
    headers = {"Host": "hub.lab", "Accept": "text/html, */*"} if path.startswith(("/d/", "/~")) or path == "/" else {"Host": "hub.lab"}
    headers.update(more)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body:
        headers["Content-Type"] = "application/json"
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.request(method, path, body=body, headers=headers)
    with connection.getresponse() as answer:
        got = answer.status, sorted((k.lower(), v) for k, v in answer.getheaders() if k.lower() not in VARYING), answer.read()
    connection.close()
    return got


def session(hub, token):
    """The header of a browser that has signed in."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.request("POST", "/~login", body=f"token={token}")
    with connection.getresponse() as answer:
        assert answer.status == 303
        return {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}


def compare(hub, twin, token, seed, more=lambda hub: {}):
    different, statuses, own = [], {}, {h: more(h) for h in (hub, twin)}
    starts = [json.loads(ask(h, "GET", "/storage/v1/b", None, token, own[h])[2])["items"][0]["timeCreated"].encode() for h in (hub, twin)]  # of the program
    for method, path, body in drawn(COUNT, seed):
        a, b = ((status, headers, text.replace(start, b"START")) for start, (status, headers, text) in
                zip(starts, (ask(h, method, path, body, token, own[h]) for h in (hub, twin))))
        statuses[a[0]] = statuses.get(a[0], 0) + 1
        if a != b:
            different.append(f"{method} {path} {body or ''}\n   hub {a[0]} {[h for h in a[1] if h not in b[1]]} {a[2][:700]}\n  twin {b[0]} {[h for h in b[1] if h not in a[1]]} {b[2][:700]}")
    print(f"{COUNT} requests, {statuses}")
    assert not different, f"{len(different)} of {COUNT} differ\n" + "\n".join(different[:12])
    assert statuses.get(200, 0) > COUNT / 10


def test_anonymous_and_the_twin(hubs):
    started, _ = hubs
    compare(started["whole"], started["public"], None, SEED)


def test_a_reader_of_one_folder_and_the_twin(hubs):
    started, tokens = hubs
    compare(started["whole"], started["reader"], tokens["reader"], SEED + 1)


def test_a_stranger_and_the_twin(hubs):
    started, tokens = hubs
    compare(started["whole"], started["public"], tokens["stranger"], SEED + 2)


def test_a_session_and_the_twin(hubs):
    started, tokens = hubs
    compare(started["whole"], started["reader"], None, SEED + 3, lambda hub: session(hub, tokens["reader"]))


def test_a_user_of_a_proxy_and_the_twin(hubs):
    started, _ = hubs
    compare(started["whole"], started["reader"], None, SEED + 4, lambda hub: {"X-Forwarded-User": "ann"})
