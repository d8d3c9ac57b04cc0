"""Every route × method × asker: the status and the shape of each answer, by a small model; and what is refused changes no row of hub.db.

The rows are those of the route table, each asked by the example of its row. All datasets are private. HUB_MATRIX_PART=1 sends all of
it; without it a part is drawn, by HUB_MATRIX_SEED."""
import collections
import json
import os
import random
import re
import shutil
import sqlite3
import sys
from urllib.parse import quote, urlsplit

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import routes
from hub import FIXTURES, Hub, until
from principals import CHALLENGE, ELSEWHERE, HEADERS, HERE, PROXY, Line, basic, bearer, link, run, session, unknown_token
from test_access_twins import settled
from test_routes import BODIES as OF_EXAMPLES

PART, SEED = float(os.environ.get("HUB_MATRIX_PART", "0.2")), int(os.environ.get("HUB_MATRIX_SEED", "1"))
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
PRIVATE = ("D4RL/", "lab/", "door-human", "mission-text", "pictures/")
NAMES = re.compile(r"D4RL|human-v2|arm-v30|door-human-v0")  # of what is private, in the examples of rows
LEAKS = re.compile(NAMES.pattern.removeprefix("D4RL|"))  # that word is in a line of help, too
BODIES = {"/api/v1/links": json.dumps({"path": "/api/v1/datasets"}), **OF_EXAMPLES}
NAMESPACE = "/api/v1/namespaces/{path}"
OF_CHANGES = {200, 201, 202, 204, 303, 404, 409}  # of an order that is taken: its object may be there already, or not yet


class Asker:
    """`bad`: its credential is refused everywhere; `signed`: the hub knows it; `reads`, `watches`: its rights; `admin`: it may also use what
    is for admins alone, which nothing may that a browser sends by itself. `link`: it asks with a signed link, made for the path itself or,
    "other", for another one."""

    def __init__(self, name, headers=None, address=HERE, *, bad=False, signed=False, reads=False, writes=False, watches=False, admin=False, link=None):
        self.name, self.headers, self.address, self.link = name, headers or {}, address, link
        self.bad, self.signed, self.reads, self.watches, self.admin = bad, signed or reads, reads, watches or admin, admin
        self.writes, self.cross, self.session = writes or admin, "Origin" in self.headers, "Cookie" in self.headers
        self.meant = not (self.cross or self.session or link or "X-Forwarded-User" in self.headers and address == PROXY)  # and not sent by a browser itself


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    lab, state = tmp_path_factory.mktemp("lab"), str(tmp_path_factory.mktemp("state"))
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), lab / "arm-v30")
    samples = shutil.copytree(os.path.join(FIXTURES, "samples"), tmp_path_factory.mktemp("root") / "samples")  # it gets a folder of the hub's
    for prefix in PRIVATE:
        run(state, "access", "set", "*", "none", prefix)
        for who in ("user:uma", "group:robotics"):
            run(state, "access", "set", who, "read", prefix)
    with Hub([str(samples), f"lab={lab}"], state=state, args=["--hash", "idle", "--failed-tries", "off", *HEADERS]) as hub:
        yield settled(hub)


@pytest.fixture(scope="module")
def askers(hub):
    def token(name, *words):
        return run(hub.state, "token", "add", name, *words)

    def of_level(level):
        return token(f"p-{level}", *(word for prefix in PRIVATE for word in (f"--{level}", prefix)))

    read, admin, revoked = of_level("read"), token("p-admin", "--admin"), token("p-revoked")
    expired = bearer(token("p-expired", "--expires", "1s"))
    run(hub.state, "token", "revoke", "p-revoked")
    until(lambda: hub.get("/api/v1/status", bearer(admin)).status == 200)
    until(lambda: hub.get("/healthz", expired).status == hub.get("/healthz", bearer(revoked)).status == 401)
    hub.reader, user, group = read, {"X-Forwarded-User": "uma"}, {"X-Forwarded-User": "otto", "X-Forwarded-Groups": "pilots, robotics"}
    return [
        Asker("none"), Asker("foreign credential", bearer("hf_" + "x" * 34)),
        Asker("unknown token", bearer(unknown_token()), bad=True), Asker("damaged token", bearer(read[:-1] + ("a" if read[-1] != "a" else "b")), bad=True),
        Asker("expired token", expired, bad=True), Asker("revoked token", bearer(revoked), bad=True),
        Asker("wrong network", bearer(token("p-network", "--admin", "--from", "10.0.0.0/8")), bad=True),
        Asker("read elsewhere", bearer(token("p-elsewhere", "--read", "elsewhere/")), signed=True),
        Asker("read", bearer(read), reads=True), Asker("label", bearer(of_level("label")), reads=True), Asker("write", bearer(of_level("write")), reads=True, writes=True),
        Asker("admin", bearer(admin), reads=True, admin=True),
        Asker("Basic", basic(read), reads=True), Asker("Basic of an admin", basic(admin), reads=True, admin=True),
        Asker("Basic of an admin, cross-site", {**basic(admin), **ELSEWHERE}, reads=True, watches=True),
        Asker("cookie", session(hub, read), reads=True), Asker("cookie of an admin", session(hub, admin), reads=True, watches=True),
        Asker("cookie of an admin, cross-site", {**session(hub, admin), **ELSEWHERE}, reads=True, watches=True),
        Asker("header user", user, PROXY, reads=True), Asker("header group", group, PROXY, reads=True),
        Asker("header user, untrusted address", user, HERE), Asker("header user, cross-site", {**user, **ELSEWHERE}, PROXY, reads=True),
        Asker("signed link", link="own", reads=True), Asker("link of another path", link="other", bad=True)]


# ---- the model ----

RESERVED = re.compile(r"episodes|files|rows|sample|batch|archive\.tar|~.*")


def matches(pattern, path, query):
    """As server/http/router.c: {id} takes segments up to a reserved one, {path} all that are left."""
    pattern, *wanted = pattern.split("?")
    if wanted and not any(re.search(rf"(?:^|&){name}=", query) for name in wanted):
        return False
    segments, slash = [s for s in path.split("/") if s], path.endswith("/")
    if pattern != "/" and pattern.endswith("/") and not slash:
        return False
    at = 0
    for part in (p for p in pattern.split("/") if p):
        left = segments[at:]
        if part == "{id}":
            took = next((i for i, s in enumerate(left) if RESERVED.fullmatch(s)), len(left))
        elif part == "{path}":
            took = len(left)
        else:
            took = 1 if left and (part[0] == "{" or part == left[0]) else 0
        if not took:
            return False
        at += took
    return at == len(segments)


def begins(table, path):
    """The names of others' buckets stand beside the first segments of our own rows."""
    first = path.split("/")[1]
    return any(r.pattern.split("/")[1].split("?")[0] == first for r in table)


def protocol_of(table, path, headers):
    if "Accept" in headers:
        return "page"
    if path.startswith(("/storage/", "/download/", "/upload/", "/resumable/", "/batch/", "/b/")):
        return "gcs"
    if path.startswith(("/api/", "/datasets/")) and not path.startswith("/api/v1/"):
        return "hf"
    return "xml" if path.count("/") > 1 and not begins(table, path) else "native"


def is_private(row, target):
    """Does a request for the example of this row name a dataset?"""
    return bool(NAMES.search(target) or NAMES.search(BODIES.get(row.pattern, "")))


def of_drafts(asker, row):
    """Of a draft that is not there, but for the list and for a new one; and of a dataset that is not the hub's own."""
    if row.method != "GET" and not asker.meant:
        return "forbidden", {403}
    if row.pattern == "/api/v1/datasets/{id}":
        return ("change", {409}) if asker.writes else ("forbidden", {403}) if asker.signed else ("sign in", {401})
    if row.pattern != "/api/v1/drafts":
        return "refused", {400, 404}
    if row.method == "GET" or asker.writes:
        return ("answer", {200}) if row.method == "GET" else ("change", OF_CHANGES)
    return ("forbidden", {403}) if asker.signed else ("sign in", {401})


def of_pushes(asker, row):
    """Of repos that nobody pushed here: a dataset is there, or nothing."""
    if not asker.meant:
        return "forbidden", {403}
    if row.pattern.endswith("/{oid}/{size}") or row.method == "DELETE" and row.pattern.startswith("/api/repos/"):
        return "refused", {400, 403}
    if asker.writes and row.pattern == "/api/repos/create":
        return "change", {200, 409}  # 409: another asker made it
    if asker.writes:
        return "refused", {400, 403, 404, 409}  # 403: its files were put there by hand
    return ("forbidden" if asker.reads else "absent", {403, 404}) if asker.signed else ("sign in", {401})


def of_namespaces(asker, row):
    """Without a body none is written; there is none to delete, or it is not empty."""
    if not asker.meant:
        return "forbidden", {403}
    if asker.writes:
        return "refused", {400} if row.method == "PUT" else {404, 409}
    return ("forbidden", {403}) if asker.signed else ("sign in", {401})


def of_xet(asker, row):
    """A client of Xet shows a pass in place of its token; it gets one for a repo that it may write, and this is one that nobody pushed."""
    if row.method == "POST":
        return ("bad token", {401}) if asker.meant else ("forbidden", {403})
    return ("forbidden", {403, 404}) if asker.signed else ("sign in", {401})


def of_draft_pages(asker, row):
    """For those who may write something, with whatever they send their token by; there is no draft."""
    if asker.writes or asker.watches:
        return ("answer", {200}) if row.pattern == "/~drafts" else ("absent", {404})
    return ("forbidden", {403}) if asker.signed else ("sign in", {303})


def of_right(asker, row, private, protocol):
    """(class, statuses) of a row that answers this method."""
    example = {row.status} if row.status else {200, 201, 202, 204, 206, 302, 303}
    if row.pattern in ("/~login", "/~logout") and row.method == "POST" and asker.cross:
        return "forbidden", {403}
    if row.pattern == "/api/v1/links":
        return ("answer", {200}) if asker.signed else ("sign in", {401})
    if row.right == "ADMINS":
        return "change" if row.method != "GET" else "admin", OF_CHANGES if row.method != "GET" else example
    if row.pattern.startswith("/~drafts"):
        return of_draft_pages(asker, row)
    if row.pattern.startswith("/xet/{epoch}/") or "/xet-write-token/" in row.pattern:
        return of_xet(asker, row)
    if row.right == "WRITERS" and protocol == "hf":
        return of_pushes(asker, row)
    if row.right == "WRITERS":
        return of_namespaces(asker, row) if row.pattern == NAMESPACE else of_drafts(asker, row)
    if row.right == "WATCHERS" and not asker.watches:
        return ("forbidden", {403}) if asker.signed else ("sign in", {303 if protocol == "page" else 401})
    if row.right != "READERS" or not private or asker.reads:
        return "answer", example
    if asker.signed or protocol in ("gcs", "xml"):
        return "absent", {404}
    return "sign in", {303 if protocol == "page" else 401}


def expected(table, asker, method, target, home, protocol):
    path, _, query = target.partition("?")
    if asker.bad:
        return "bad token", {401}
    rows = [r for r in table if (r.right != "ADMINS" or asker.admin) and matches(r.pattern, path, query) and (r.pattern[1:2] != "{" or not begins(table, path))]
    if not rows:
        return "no route", {404}
    row = next((r for r in rows if r.method == ("GET" if method == "HEAD" else method)), None)
    if not row and method != "OPTIONS" and path.startswith(("/oauth/", "/oauth2/", "/xet/")):
        return "no route", {404}  # reserved, for every method
    if not row:
        return ("preflight", {204}) if method == "OPTIONS" else ("not allowed", {403 if protocol == "hf" else 405})
    kind, statuses = of_right(asker, row, is_private(row, target), protocol)
    if row is home:
        return kind, statuses
    return kind, statuses | {400, 403} | ({404} if row.pattern == NAMESPACE or ".git/" in path else set())  # the query, or the name, is of another row


# ---- what is sent ----


def headers_of(route, method):
    headers = {"Accept": "text/html"} if re.match(r"/d/|/~|/$", route.pattern) else {}
    if method == "POST" and route.pattern in BODIES:
        headers["Content-Type"] = "application/json"
    return headers


def target_of(route):
    return quote(route.example, safe="/?&=%:,@*~+")


def linked(hub, route, asker):
    """The target by a link, or None where no link is made for it."""
    path, _, query = target_of(route).partition("?")
    answer = link(hub, hub.reader, path if asker.link == "own" else "/api/v1/datasets/D4RL/door/none-v0")
    if answer.status != 200:
        assert answer.status == 400 and not path.startswith("/api/v1/datasets"), (path, answer.status, answer.body)
        return None
    return f"{path}?{query}{'&' * bool(query)}{urlsplit(answer.json()['url']).query}"


def shape_of(kind, protocol, method, answer):
    """What is wrong with an answer of this class; None where nothing is."""
    said, status = answer.headers, answer.status
    if kind == "bad token" or (kind == "sign in" and status == 401):
        if said["WWW-Authenticate"] != CHALLENGE and protocol != "page":
            return "no challenge"
        if protocol == "native" and method != "HEAD" and not answer.json()["type"].endswith("bad-token" if kind == "bad token" else "sign-in"):
            return "another problem"
        if protocol == "hf" and kind == "sign in" and said["X-Error-Code"] != "RepoNotFound":
            return "no X-Error-Code"
    if status == 303 and kind == "sign in" and not said["Location"].startswith("/~login?next="):
        return f"leads to {said['Location']}"
    if kind in ("absent", "no route") and protocol == "native" and method != "HEAD" and answer.json()["status"] != 404:
        return "another problem"
    if kind in ("bad token", "sign in", "absent", "forbidden") and status != 303 and "no-store" not in said.get("Cache-Control", ""):
        return f"caches may keep it: {said['Cache-Control']}"
    if method == "HEAD" and answer.body:
        return "a body after HEAD"
    return None


def dump(state):
    """All rows of hub.db, but for when tokens and sessions were used."""
    with sqlite3.connect(f"file:{state}/hub.db?mode=ro", uri=True) as db:
        tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        columns = {t: [c[1] for c in db.execute(f"PRAGMA table_info({t})") if c[1] != "used"] for t in tables}
        return {t: sorted(map(repr, db.execute(f"SELECT {', '.join(columns[t])} FROM {t}"))) for t in tables}


class Matrix:
    def __init__(self, hub, askers):
        self.hub, self.askers, self.wrong, self.counts = hub, askers, [], collections.Counter()
        self.lines = {address: Line(hub.port, address) for address in (HERE, PROXY)}
        # no mirror is made before the end
        self.table = [r for r in routes.routes() if r.example]
        for row in self.table:
            row.status = 404 if row.pattern == "/api/v1/mirrors/{name}" and row.method == "GET" else row.status
        self.draw = random.Random(SEED)
        self.size = len(self.table) * len(METHODS) * len(askers)

    def send(self, route, method, asker):
        target = linked(self.hub, route, asker) if asker.link else target_of(route)
        if target is None:
            return self.counts.update(["no link is made"])
        headers = headers_of(route, method)
        protocol = protocol_of(self.table, target_of(route).partition("?")[0], headers)
        kind, statuses = expected(self.table, asker, method, target_of(route), route, protocol)
        if asker.link == "own" and method not in ("GET", "HEAD"):
            kind, statuses = "bad token", {401}  # a link reads
        body = BODIES.get(route.pattern) if method in ("POST", "PATCH") else None
        answer = self.lines[asker.address].ask(method, target, {**headers, **asker.headers}, body)
        wrong = None if answer.status in statuses else f"{kind} is {sorted(statuses)}"
        wrong = wrong or shape_of(kind, protocol, method, answer) or self.leak(route, asker, target, answer)
        self.counts.update([kind])
        if wrong:
            self.wrong.append(f"{method} {target} by {asker.name}: {answer.status}, {wrong}: {answer.body[:200]}")

    def leak(self, route, asker, target, answer):
        """Of a list who may not read gets no name."""
        if asker.reads or route.right == "ANYBODY" or route.pattern.startswith("/~guide") or is_private(route, target):
            return None
        found = LEAKS.search(answer.body.decode(errors="replace"))
        return found and f"it names {found[0]}"

    def is_change(self, route, method, asker):
        if route.pattern in ("/api/v1/drafts", "/api/repos/create"):  # whatever row the POST is of
            return method == "POST" and asker.writes and asker.meant
        return method == route.method != "GET" and (asker.admin and route.right == "ADMINS" or asker.session and route.pattern == "/~logout")

    def cells(self, route):
        return [(m, a) for m in METHODS for a in self.askers if self.draw.random() < PART]


def test_matrix(hub, askers):
    matrix = Matrix(hub, askers)
    changes, before = [], dump(hub.state)
    for route in matrix.table:
        for method, asker in matrix.cells(route):
            if matrix.is_change(route, method, asker):
                changes.append((route, method, asker))
            else:
                matrix.send(route, method, asker)
        after = dump(hub.state)
        assert after == before, (route.method, route.pattern, [t for t in after if after[t] != before.get(t)])
    for route, method, asker in sorted(changes, key=lambda c: c[0].pattern == "/~logout"):  # rules of others, so that those above stay
        route.example = route.example.replace("prefix=lab/", "prefix=elsewhere/")
        matrix.send(route, method, asker)
    sent = sum(matrix.counts.values())
    print(f"{len(matrix.table)} routes x {len(METHODS)} methods x {len(askers)} askers: {matrix.size} cells, {sent} sent, {dict(matrix.counts)}")
    assert not matrix.wrong, f"{len(matrix.wrong)} of {sent}\n" + "\n".join(matrix.wrong[:40])
    assert sent > matrix.size * PART * 0.9
    if any((route.pattern, method) == ("/api/v1/access", "POST") for route, method, _ in changes):  # a DELETE may find no rule
        assert dump(hub.state)["audit"] != before["audit"]
