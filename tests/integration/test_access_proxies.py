"""A hub with rules behind the proxies of the guide: TLS, users that nginx knows, and a cache that serves nobody another one's answer."""
import http.server
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from urllib.parse import quote, urlencode

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import guide
from hub import BIN, Hub, free_port, until
from principals import USER_HEADERS, ask, basic, bearer, run, session
from proxies import ADMIN, SSO, guide_caddy, guide_nginx, nginx, signed_certificate
from test_access_twins import fill, settled

SETS = {"lab/open-v0": "samples/door-human-v0", "lab/secret/door-v1": "samples/door-human-v0", "lab/secret/arm-v1": "lerobot/arm-v30", "lab/arms/arm-v1": "lerobot/arm-v30"}
SECRET, ARM = "/api/v1/datasets/lab/secret/door-v1", "/api/v1/datasets/lab/secret/arm-v1"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """Beside what is private: a user, a group, and tokens of a reader, of somebody else and of an admin."""
    root, state = str(tmp_path_factory.mktemp("root")), str(tmp_path_factory.mktemp("state"))
    fill(root, SETS)
    for rule in (("*", "none", "lab/secret/"), ("*", "none", "lab/arms/"), ("user:ann", "read", "lab/secret/"), ("group:Domain Robots", "read", "lab/arms/")):
        run(state, "access", "set", *rule)
    made = {name: run(state, "token", "add", name, *more) for name, more in (("reader", ("--read", "lab/secret/")), ("other", ()), ("boss", ("--admin",)))}
    with Hub([root], state=state, args=["--hash", "idle", "--failed-tries", "off", *USER_HEADERS]) as hub:  # the proxies are on this machine, as in the guide
        hub.made = made
        yield settled(hub)


# ---- TLS ----


@pytest.fixture(params=["nginx", "caddy"])
def front(request, hub, tmp_path):
    front, proxy = guide_nginx(str(tmp_path), hub, 0) if request.param == "nginx" else guide_caddy(str(tmp_path), hub)
    with proxy:
        yield front


def same(front, hub, path, headers, status=200, method="GET", body=None):
    """Through the proxy as without it."""
    got, want = front.ask(method, path, headers, body), ask(hub, method, path, headers, body)
    assert (got.status, got.body) == (want.status, want.body) and got.status == status, (path, got.status, got.body[:300], want.status)
    return got


def test_a_token_a_body_and_a_video(front, hub):
    reader = bearer(hub.made["reader"])
    assert front.ask("GET", SECRET).status == 401 and front.ask("GET", SECRET, bearer(hub.made["other"])).status == 404
    same(front, hub, SECRET + "/episodes/0/rewards?format=npy", reader)
    same(front, hub, SECRET + "/episodes/0/rewards?format=npy", basic(hub.made["reader"]))
    same(front, hub, "/b/minari-datasets/o/" + quote("lab/secret/door-v1/data/main_data.hdf5", safe="") + "?alt=media", reader)
    items = json.dumps({"items": [{"id": "lab/secret/door-v1", "episode": 0, "start": 0, "stop": 2}], "fields": ["actions"]}).ljust(1 << 20)
    same(front, hub, "/api/v1/batch?format=npz", {**reader, "Content-Type": "application/json"}, method="POST", body=items)
    camera = hub.get(ARM + "/episodes/0/~media", reader).json()["items"][0]
    video = next(path for path in re.findall(r"/api/v1/[^\"]+\.mp4", json.dumps(camera)))
    whole = same(front, hub, video, reader).body
    assert len(whole) > 700 and same(front, hub, video, {**reader, "Range": "bytes=100-599"}, 206).body == whole[100:600]
    page = front.ask("GET", "/api/v1/datasets?limit=1", reader).json()
    assert page["next"].startswith(front.base + "/api/v1/datasets?")


def test_signing_in_and_changing_over_tls(front, hub):
    answer = front.ask("POST", "/~login", {"Content-Type": "application/x-www-form-urlencoded", "Origin": front.base}, urlencode({"token": hub.made["reader"], "next": "/d/lab/secret/door-v1"}))
    cookie = answer.headers["Set-Cookie"]
    assert answer.status == 303 and cookie.startswith("__Host-mh_session=") and "Secure" in cookie and answer.headers["Location"] == "/d/lab/secret/door-v1"
    assert front.ask("GET", "/d/lab/secret/door-v1", {"Cookie": cookie.partition(";")[0], "Accept": "text/html"}).status == 200
    elsewhere = {"X-Forwarded-For": "203.0.113.9", **bearer(hub.made["boss"])}  # as nginx passes it on, another machine behind the proxy
    assert front.ask("POST", "/api/v1/access?who=user:x&level=read&prefix=lab/x/", elsewhere).status == 200
    link = front.ask("POST", "/api/v1/links", {"Content-Type": "application/json", **bearer(hub.made["reader"])}, json.dumps({"path": SECRET})).json()["url"]
    assert link.startswith(front.base + SECRET) and front.ask("GET", link.removeprefix(front.base)).status == 200


# ---- a certificate of the lab's own ----

CLIENTS = os.environ.get("HUB_CLIENTS", "")
HF = "from huggingface_hub import HfApi; HfApi(endpoint={base!r}, token=False).dataset_info('lab/open-v0')"
GCS = ("from google.auth.credentials import AnonymousCredentials; from google.cloud import storage; "
       "b = storage.Client(project='x', credentials=AnonymousCredentials(), client_options={{'api_endpoint': {base!r}}}).bucket('minari-datasets'); "
       "assert b.blob('lab/open-v0/data/main_data.hdf5').download_as_bytes(retry=None, timeout=20)")


def python(folder):
    return os.path.join(CLIENTS, folder, "bin/python") if folder else sys.executable


# the first words of the row of the guide, the variable, and what reads {base} of the hub by it
TRUSTING = [("`minari-cli`", "SSL_CERT_FILE", [os.path.join(BIN, "minari-cli"), "show", "lab/open-v0", "--remote", "{base}"]),
            ("curl", "CURL_CA_BUNDLE", ["curl", "-sfS", "{base}/api/v1/datasets"]),
            ("requests", "REQUESTS_CA_BUNDLE", [python(""), "-c", HF]),
            ("requests", "REQUESTS_CA_BUNDLE", [python("objects"), "-c", GCS]),
            ("httpx", "SSL_CERT_FILE", [python(""), "-c", "import urllib.request; urllib.request.urlopen('{base}/api/v1/datasets').read()"]),
            ("httpx", "SSL_CERT_FILE", [python("huggingface-1"), "-c", HF]),
            ("rclone", "RCLONE_CA_CERT", ["rclone", "cat", ":http,url=\"{base}/minari-datasets/lab/open-v0/\":data/main_data.hdf5", "--retries", "1", "--low-level-retries", "1"])]


def test_clients_trust_the_labs_own_authority(hub, tmp_path):
    """Each by the variable that the guide names, and none without."""
    (table,) = [guide.rows(text) for title, text in guide.sections(ADMIN) if title == "A certificate of the lab's own"]
    assert {(name, variable) for name, variable, _ in TRUSTING} == {(re.split(r"[ ,:]", row[0])[0], re.search(r"`(\w+)`", row[1])[1]) for row in table}
    authority, *signed = signed_certificate(str(tmp_path))
    front, proxy = guide_nginx(str(tmp_path), hub, 0, signed=signed, **{"data.lab.example": "localhost"})
    base, ran = f"https://localhost:{front.port}", []
    clean = {k: v for k, v in os.environ.items() if k not in {variable for _, variable, _ in TRUSTING}}
    with proxy:
        for _, variable, words in TRUSTING:
            words = [word.format(base=base) for word in words]
            if shutil.which(words[0]) is None:
                continue
            run_with = lambda **more: subprocess.run(words, env={**clean, **more}, capture_output=True, text=True, errors="replace", timeout=120)
            trusted, other = run_with(**{variable: authority}), run_with()
            assert trusted.returncode == 0, (words, trusted.stdout, trusted.stderr)
            assert other.returncode != 0 and "certificate" in (other.stdout + other.stderr).lower(), (words, other.stdout, other.stderr)
            ran.append(words[0])
    assert len(ran) >= 4, f"of {len(TRUSTING)} clients only {ran} are here"


# ---- users that the proxy knows ----


class SignOn(http.server.BaseHTTPRequestHandler):
    """What stands in for a lab's single sign-on: the cookie names who has signed in."""

    PEOPLE = {"ann": "", "bob": "pilots,Domain Robots", "carl": "pilots", "reader": ""}

    def do_GET(self):
        who = dict(pair.split("=", 1) for pair in self.headers.get("Cookie", "none=").split("; ")).get("sso", "")
        self.send_response(202 if who in self.PEOPLE else 401)
        if who in self.PEOPLE:
            self.send_header("X-Auth-Request-User", who)
            self.send_header("X-Auth-Request-Groups", self.PEOPLE[who])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def signed_on(hub, tmp_path_factory):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), SignOn) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        front, proxy = guide_nginx(str(tmp_path_factory.mktemp("sso")), hub, 1, **{SSO: f"127.0.0.1:{server.server_port}"})
        with proxy:
            yield front
        server.shutdown()


def test_users_and_groups_of_nginx(signed_on, hub):
    def of(who, path, **more):
        return signed_on.ask("GET", path, {**({"Cookie": f"sso={who}"} if who else {}), **more}).status

    arms = "/api/v1/datasets/lab/arms/arm-v1"
    assert of("", SECRET) == of("", "/api/v1/datasets/lab/open-v0") == of("mallory", SECRET) == 401
    assert {who: (of(who, SECRET), of(who, arms), of(who, "/api/v1/datasets/lab/open-v0")) for who in ("ann", "bob", "carl", "reader")} == {
        "ann": (200, 404, 200), "bob": (404, 200, 200), "carl": (404, 404, 200), "reader": (404, 404, 200)}, "a user is not a token of the same name"
    assert of("ann", SECRET, **{"X-Forwarded-User": "bob", "X-Forwarded-Groups": "Domain Robots"}) == 200
    forged = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "Domain Robots"}
    assert [of("carl", path, **forged) for path in (SECRET, arms)] == [404, 404], "nobody names themselves"
    assert [of("", path, Authorization="Bearer hf_x", **forged) for path in (SECRET, arms)] == [401, 401]
    assert of("", SECRET, **bearer(hub.made["reader"])) == 200 and of("", SECRET, **basic(hub.made["reader"])) == 200, "programs send tokens"
    assert of("ann", SECRET, **bearer(hub.made["other"])) == 404, "the token counts"
    assert of("ann", "/api/v1/tokens") == of("bob", "/api/v1/tokens") == 404


def test_a_user_never_changes_what_admins_may(signed_on, hub):
    run(hub.state, "access", "set", "user:ann", "admin", "")
    try:
        until(lambda: signed_on.ask("GET", "/api/v1/status", {"Cookie": "sso=ann"}).status == 200)
        for origin in ({}, {"Origin": signed_on.base}, {"Origin": "http://elsewhere.example"}):
            for method, path in (("GET", "/api/v1/tokens"), ("POST", "/api/v1/access?who=user:z&level=read&prefix=lab/"), ("DELETE", "/api/v1/tokens/reader")):
                assert signed_on.ask(method, path, {"Cookie": "sso=ann", **origin}).status == 404
    finally:
        run(hub.state, "access", "unset", "user:ann", "")


# ---- a cache ----

PATHS = [p for id in ("lab/open-v0", "lab/secret/door-v1", "lab/secret/none-v1") for p in (
    f"/api/v1/datasets/{id}", f"/api/v1/datasets/{id}/episodes", f"/api/v1/datasets/{id}/files", f"/api/v1/datasets/{id}/files/data/main_data.hdf5", f"/api/v1/datasets/{id}/episodes/0/rewards",
    f"/api/v1/datasets/{id}/episodes/0/rewards?format=npy", f"/api/v1/datasets/{id}/sample?windows=2&seed=3", f"/api/v1/datasets/{id}/~kerchunk.json", f"/api/v1/datasets/{id}/archive.tar",
    f"/d/{id}", f"/api/datasets/{'/'.join(id.split('/')[:2])}", f"/datasets/{'/'.join(id.split('/')[:2])}/resolve/main/data/main_data.hdf5", f"/minari-datasets/{id}/data/main_data.hdf5",
    f"/minari-datasets/{id}/", "/storage/v1/b/minari-datasets/o/" + quote(f"{id}/data/main_data.hdf5", safe=""), "/b/minari-datasets/o/" + quote(f"{id}/data/main_data.hdf5", safe="") + "?alt=media")]
LISTS = ["/api/v1/datasets", "/api/v1/datasets?facets=format", "/api/v1/namespaces", "/api/v1/problems", "/", "/api/datasets", "/storage/v1/b/minari-datasets/o", "/minari-datasets/", "/minari-datasets?list-type=2",
         "/openapi.json", "/~guide", "/~guide/start", "/healthz", "/api/whoami-v2", "/api/v1/status", "/metrics", "/~operations", "/~login"]
VARYING = {"/metrics", "/api/v1/status", "/~operations", "/healthz"}  # from one moment to the next: their statuses alone


def test_a_cache_serves_nobody_the_answer_of_another(hub, tmp_path):
    port, state = free_port(), str(tmp_path / "cache")
    revision = hub.admin("/api/v1/datasets/lab/secret/door-v1")["revision"]
    public = hub.admin("/api/v1/datasets/lab/open-v0")["revision"]
    pinned = [f"{SECRET}{rest}?revision={revision}" for rest in ("", "/episodes", "/episodes/0/rewards", "/files/data/main_data.hdf5")]
    pinned += [f"/api/v1/datasets/lab/open-v0{rest}?revision={public}" for rest in ("", "/episodes", "/episodes/0/rewards", "/files/data/main_data.hdf5")]
    asset = re.search(rb"/~assets/[^\"]+", ask(hub, "GET", "/", {"Accept": "text/html"}).body)[0].decode()
    host = {"Host": f"127.0.0.1:{hub.port}"}  # by the proxy, too: what the answers say of addresses is the same
    reader, other = hub.made["reader"], hub.made["other"]
    askers = {"anonymous": {}, "reader": bearer(reader), "reader by Basic": basic(reader), "reader by cookie": session(hub, reader), "other": bearer(other), "admin": bearer(hub.made["boss"]),
              "bad token": bearer("mh_x"), "foreign": bearer("hf_x"), "user": {"X-Forwarded-User": "ann"}}
    draw, kept, wrong = random.Random(1), {}, []
    server = f"""proxy_cache_path {state} keys_zone=hub:1m;
        server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{hub.port}; proxy_set_header Host 127.0.0.1:{hub.port}; proxy_cache hub; proxy_cache_valid any 10m;
        add_header X-Cache $upstream_cache_status always; }} }}"""
    with nginx(str(tmp_path / "nginx"), port, server):
        front = type("Cached", (), {"port": port})
        for path in PATHS + LISTS + pinned + [asset]:
            turns = list(askers) * 3
            draw.shuffle(turns)
            for who in turns:
                headers = {**host, **askers[who], **({"Accept": "text/html"} if path.startswith(("/d/", "/~")) or path == "/" else {})}
                got, want = ask(front, "GET", path, headers), ask(hub, "GET", path, headers)
                kept.setdefault(path, []).append(got.headers["X-Cache"])
                if who == "bad token" and got.headers["X-Cache"] == "HIT":
                    got = ask(front, "GET", path, host)  # what is for everybody; it counts as nobody's
                    want = ask(hub, "GET", path, host)
                if got.status != want.status or (got.body != want.body and path not in VARYING):
                    wrong.append(f"{who} {path}: {got.status} {got.headers['X-Cache']} {got.body[:100]}, not {want.status} {want.body[:100]}")
    hits = {path: states.count("HIT") for path, states in kept.items() if "HIT" in states}
    print(f"{sum(map(len, kept.values()))} requests through a cache; it answered {sum(hits.values())} itself: {hits}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:20])
    assert not [path for path in hits if "secret" in path], hits
    assert hits.get(asset) and any("lab/open-v0" in path for path in hits), hits
