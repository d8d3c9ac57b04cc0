"""Credentials that are sent wrongly, and changes of rules that are cut off: nobody gets in by them, and nothing is half done."""
import base64
import glob
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from hub import BIN, FIXTURES, Hub, until
from principals import HEADERS, ask, bearer, run, session, signed
from shim import Shim
from test_access_twins import fill

SETS = {"lab/open-v0": "samples/door-human-v0", "lab/secret/arm-v1": "samples/door-human-v0"}
SECRET = "/api/v1/datasets/lab/secret/arm-v1"
MIGRATIONS = sorted(glob.glob(os.path.join(os.path.dirname(__file__), "..", "..", "migrations", "*.sql")))


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root, state = str(tmp_path_factory.mktemp("root")), str(tmp_path_factory.mktemp("state"))
    fill(root, SETS)
    run(state, "access", "set", "*", "none", "lab/secret/")
    with Hub([root], state=state, args=["--failed-tries", "off", "--access-log", *HEADERS]) as hub:
        hub.wait_indexed()
        hub.token, hub.other = run(state, "token", "add", "ann", "--read", "lab/secret/"), run(state, "token", "add", "bob")
        until(lambda: hub.get(SECRET, bearer(hub.token)).status == 200)
        yield hub


def raw(hub, *lines, path=SECRET, method="GET"):
    """The status of a request with these header lines as they are; None where the hub ends the connection without one."""
    request = [f"{method} {path} HTTP/1.1".encode(), b"Host: 127.0.0.1", b"Connection: close", *(l if isinstance(l, bytes) else l.encode() for l in lines), b"", b""]
    with socket.create_connection(("127.0.0.1", hub.port), timeout=60) as s:
        answer = b""
        try:
            s.sendall(b"\r\n".join(request))
            while data := s.recv(65536):
                answer += data
        except ConnectionError:
            pass
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else None


def coded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


# ---- headers ----


def test_two_headers_are_refused(hub):
    good, bad, theirs = f"Authorization: Bearer {hub.token}", "Authorization: Bearer hf_x", f"Authorization: Bearer {hub.other}"
    for lines in ((good, good), (good, bad), (bad, good), (theirs, good), (good, "authorization: "), (good, f"AUTHORIZATION: Basic {coded('x:' + hub.token)}")):
        assert raw(hub, *lines) == 400, lines
    assert raw(hub, good) == 200


def test_the_name_of_the_scheme_is_of_any_case(hub):
    for scheme in ("Bearer", "bearer", "BEARER", "bEaReR"):
        assert raw(hub, f"Authorization: {scheme} {hub.token}") == 200
    for scheme in ("Basic", "basic", "BASIC"):
        assert raw(hub, f"aUTHORIZATION: {scheme} {coded('x:' + hub.token)}") == 200
    for scheme in ("Bearers", "Token", "token", "Digest", "", "Bearer,", "Bearer:"):
        assert raw(hub, f"Authorization: {scheme} {hub.token}".replace(":  ", ": ")) == 401, scheme
    assert raw(hub, f"Authorization: Bearer {hub.token.upper()}") == 401, "the token is not"


def test_blanks(hub):
    assert raw(hub, f"Authorization:Bearer {hub.token}") == raw(hub, f"Authorization: \t Bearer   {hub.token} \t ") == 200
    for wrong in (f"Authorization: Bearer{hub.token}", f"Authorization: Bearer {hub.token} {hub.token}", f"Authorization: Bearer {hub.token},", f"Authorization: Bearer \"{hub.token}\"",
                  f"Authorization: Bearer {hub.token[:20]} {hub.token[20:]}", f"Authorization: Basic {coded('x:' + hub.token + ' ')}", f"Authorization: Basic {coded('x: ' + hub.token)}",
                  f"Authorization: Basic {coded(hub.token)}", f"Authorization: Basic {coded(hub.token + ':')}", f"Authorization: {hub.token}", "Authorization:", "Authorization: Bearer", "Authorization: Bearer "):
        assert raw(hub, wrong) == 401, wrong
    for folded in (f"Authorization: Bearer\r\n {hub.token}", f"Authorization: Bearer {hub.token[:30]}\r\n\t{hub.token[30:]}", f"Authorization : Bearer {hub.token}"):
        assert raw(hub, folded) == 400, folded


def test_control_characters(hub):
    for byte in (b"\x00", b"\x01", b"\x0b", b"\x1b", b"\x7f"):
        assert raw(hub, b"Authorization: Bearer " + hub.token.encode() + byte + b"x") in (400, None), byte
        assert raw(hub, b"Authorization: Bearer " + byte + hub.token.encode()) in (400, None), byte
        inside = hub.token.encode()[:25] + byte + hub.token.encode()[25:]
        for password in (hub.token.encode() + byte, byte + hub.token.encode(), inside):
            assert raw(hub, f"Authorization: Basic {coded(b'x:' + password)}") == 401, (byte, password)
    for odd in ("é", "\u2028", "\ufeff"):
        assert raw(hub, f"Authorization: Bearer {hub.token}{odd}") in (400, 401)
    for name in ("", ":", "x" * 2000, "\n", "ann"):  # of a user: it says nothing; what follows the first colon is the password
        assert raw(hub, f"Authorization: Basic {coded(name + ':' + hub.token)}") == (401 if name == ":" else 200), name


def test_very_long_ones(hub):
    """Refused, one way or the other; and the hub goes on."""
    long = "a" * 65536
    for line in (f"Authorization: Bearer {long}", f"Authorization: Bearer mh_{long}", f"Authorization: Basic {coded('x:mh_' + long)}", f"Authorization: Bearer {hub.token}{long}",
                 f"Cookie: mh_session={long}", f"X-Forwarded-User: {long}", f"Authorization: {long}"):
        assert raw(hub, line) in (400, 401, 413, 431, None), line[:60]
    for size in (2000, 3000, 3200):
        assert raw(hub, f"Authorization: Basic {coded('x' * size + ':' + hub.other)}") in (401, 404)
        assert raw(hub, f"Authorization: Bearer mh_{'a' * size}") == 401
    assert raw(hub, *(f"Authorization{i}: Bearer {hub.token}" for i in range(90))) == 401
    assert raw(hub, f"Authorization: Bearer {hub.token}") == 200


def test_a_token_in_an_address_counts_nothing(hub):
    for name in ("token", "access_token", "auth", "key", "api_key", "Authorization", "mh_session", "sig"):
        assert ask(hub, "GET", f"{SECRET}?{name}={hub.token}").status in (400, 401), name
        assert ask(hub, "GET", f"/api/v1/datasets?{name}={hub.token}").body.find(b"lab/secret") < 0
    assert ask(hub, "GET", f"{SECRET}?token={hub.token}", bearer(hub.other)).status in (400, 404)
    for header in ("X-Auth-Token", "X-Api-Key", "Proxy-Authorization", "X-Access-Token", "Token"):
        assert raw(hub, f"{header}: {hub.token}") == raw(hub, f"{header}: Bearer {hub.token}") == 401


def test_no_secret_is_logged(hub):
    """The access log of all that was asked here, whatever the order of these tests."""
    ask(hub, "GET", f"{SECRET}?token={hub.token}")
    ask(hub, "GET", f"/d/lab/secret/arm-v1?token={hub.token}", {"Accept": "text/html"})
    session(hub, hub.token)
    link = signed(hub, hub.token, SECRET)
    assert ask(hub, "GET", link).status == 200
    ask(hub, "GET", SECRET, bearer(hub.token[:-1]))
    until(lambda: hub.text_log().count(" GET ") > 3)
    assert hub.token[13:30] not in hub.text_log(), "the secret of a token"
    assert link.partition("sig=")[2][:20] not in hub.text_log(), "the signature of a link"


# ---- cookies ----


def test_cookies(hub):
    cookie, others = session(hub, hub.token)["Cookie"], session(hub, hub.other)["Cookie"]
    assert raw(hub, f"Cookie: {cookie}") == 200
    many = "; ".join(f"name{i}=value{i}" for i in range(150))
    for line in (f"Cookie: {many}; {cookie}", f"Cookie: {cookie}; {many}", f"Cookie: a=b;{cookie};c=d", f"Cookie: {cookie}; {cookie}"):
        assert raw(hub, line) == 200, line[:80]
    for lines in ((f"Cookie: x{cookie}",), (f"Cookie: {cookie}x",), (f"Cookie: {cookie.upper()}",), (f"Cookie: other={cookie}",), ("Cookie: mh_session=",), ("Cookie: mh_session",),
                  ("Cookie: " + cookie.replace("=", " = "),), (f"Cookie: mh_session={hub.token}",), (f"Set-{cookie}",)):
        assert raw(hub, *lines) in (401, 400), lines
    for lines in ((f"Cookie: {cookie}; {others}",), (f"Cookie: {others}; {cookie}",), (f"Cookie: {cookie}", f"Cookie: {others}")):
        assert raw(hub, *lines) in (200, 400, 401, 404), lines  # one of both, or none; never both: the next line
        assert raw(hub, *lines, path="/api/v1/tokens") in (400, 401, 404)
    assert raw(hub, f"Cookie: {cookie}", "Authorization: Bearer mh_x") == 401, "a bad token is refused, whatever else comes"
    assert raw(hub, f"Cookie: {cookie}", f"Authorization: Bearer {hub.other}") == 404, "what the program sent counts, not what the browser kept"
    token = cookie.partition("=")[2]
    assert raw(hub, f"Authorization: Bearer {token}") == raw(hub, f"Authorization: Basic {coded('x:' + token)}") == 401, "it is good as a cookie alone"


# ---- links ----


def test_links_that_were_changed(hub):
    link = signed(hub, hub.token, SECRET)
    path, _, query = link.partition("?")
    assert ask(hub, "GET", link).status == ask(hub, "HEAD", link).status == 200
    parts = dict(pair.split("=", 1) for pair in query.split("&"))
    later = {**parts, "exp": str(int(parts["exp"]) + 3600) if parts["exp"].isdigit() else parts["exp"][:-1] + "9"}
    joined = lambda pairs: f"{path}?" + "&".join(f"{k}={v}" for k, v in pairs.items())
    maker = next(name for name in parts if name not in ("exp", "sig"))
    wrong = [joined(later), *(joined({**parts, maker: other}) for other in ("bob", "user:ann", "local", hub.other[3:13])), joined({**parts, "sig": parts["sig"][::-1]}), joined({**parts, "sig": ""}),
             *(joined({k: v for k, v in parts.items() if k != left_out}) for left_out in parts), link + "&exp=" + parts["exp"], link + "&sig=x", joined({**parts, "sig": parts["sig"] + "-1"}),
             link.replace("arm-v1", "arm-v2"), f"{path}/episodes?{query}", link.replace("lab/secret", "lab/../lab/secret"), link.replace("/api/v1", "/api//v1")]
    for target in wrong:
        assert ask(hub, "GET", target).status in (400, 401, 404), target
    for method in ("POST", "PUT", "DELETE"):
        assert ask(hub, method, link).status in (400, 401, 403, 404, 405)
    below = signed(hub, hub.token, SECRET + "/").partition("?")[2]
    assert ask(hub, "GET", f"{SECRET}/episodes?{below}").status == ask(hub, "GET", f"{SECRET}/files?{below}").status == 200
    for outside in ("/api/v1/datasets", "/api/v1/datasets/lab/secret/arm-v10", "/api/v1/datasets/lab/secret/arm-v1/../arm-v2/episodes", "/api/v1/datasets/lab/secret"):
        assert ask(hub, "GET", f"{outside}?{below}").status in (400, 401, 404), outside


def test_a_link_reads_what_its_maker_may_when_it_is_used(hub):
    token = run(hub.state, "token", "add", "carl", "--read", "lab/secret/")
    until(lambda: hub.get(SECRET, bearer(token)).status == 200)
    link, cookie = signed(hub, token, SECRET, expires="7d"), session(hub, token)
    assert ask(hub, "GET", link).status == ask(hub, "GET", SECRET, cookie).status == 200
    run(hub.state, "access", "unset", "token:carl", "lab/secret/")
    until(lambda: ask(hub, "GET", link).status == 404 and ask(hub, "GET", SECRET, cookie).status == 404)
    run(hub.state, "access", "set", "token:carl", "read", "lab/secret/")
    until(lambda: ask(hub, "GET", link).status == 200)
    run(hub.state, "token", "revoke", "carl")
    until(lambda: ask(hub, "GET", link).status == 401 and ask(hub, "GET", SECRET, cookie).status == 401)


# ---- the clock ----


def test_the_clock_jumps(tmp_path):
    """What expires does so by the time of day, there and back, and nothing else is lost by it."""
    root, state = str(tmp_path / "root"), str(tmp_path / "state")
    os.mkdir(state, 0o700)
    fill(root, SETS)
    run(state, "access", "set", "*", "none", "lab/secret/")
    shim = Shim(str(tmp_path), "minari-hub")
    with Hub([root], state=state, prefix=shim.at(0).prefix) as hub:
        hub.wait_indexed()
        short, long = (run(state, "token", "add", name, "--read", "lab/secret/", *more) for name, more in (("short", ("--expires", "1h")), ("long", ())))
        until(lambda: hub.get(SECRET, bearer(long)).status == 200)
        link, cookie = signed(hub, long, SECRET, expires="2h"), session(hub, long)
        for hours, wanted in ((0, (200, 200, 200, 200)), (1.1, (401, 200, 200, 200)), (3, (401, 200, 401, 200)), (13, (401, 200, 401, 401)), (-48, (200, 200, 200, 200)), (0, (200, 200, 200, 200))):
            shim.clock(int(hours * 3600))
            asked = lambda: tuple(a.status for a in (hub.get(SECRET, bearer(short)), hub.get(SECRET, bearer(long)), ask(hub, "GET", link), ask(hub, "GET", SECRET, cookie)))
            until(lambda: asked() == wanted, 20)


# ---- changes that are cut off ----


def rows(state, sql):
    with sqlite3.connect(f"file:{state}/hub.db?mode=ro", uri=True) as db:
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
        return db.execute(sql).fetchall()


def is_whole(state):
    """Each token and rule is there with its row of the audit, or neither is."""
    tokens, ruled = {n for n, in rows(state, "SELECT name FROM tokens")}, {(w, p) for w, p in rows(state, "SELECT who, prefix FROM access_rules")}
    audit = rows(state, "SELECT action, object FROM audit ORDER BY id")
    live = set()
    for action, name in audit:
        (live.discard if action == "token-revoke" else live.add)(name) if action.startswith("token-") else None
    assert tokens == live
    kept = {}
    for action, what in audit:
        who, _, prefix = what.partition(" ")
        if action.startswith("access-"):
            kept[who, prefix] = action == "access-set"
    assert {pair for pair in ruled if not pair[0].startswith("token:")} == {pair for pair, there in kept.items() if there}
    assert {who for who, _ in ruled if who.startswith("token:")} == {f"token:{n}" for n in tokens}
    return tokens


LOOP = """
i=0
while :; do
    i=$((i+1))
    "$0" token add "$2-$i" --read lab/ --state "$1" >/dev/null 2>&1 && echo "$2-$i"
    "$0" access set "user:u$((i % 7))" read "lab/$2/" --state "$1" >/dev/null 2>&1
    [ $((i % 3)) != 0 ] || "$0" access unset "user:u$(((i + 3) % 7))" "lab/$2/" --state "$1" >/dev/null 2>&1
    [ $((i % 5)) != 0 ] || "$0" token rotate "$2-$i" --state "$1" >/dev/null 2>&1
done
"""


def changing(state, name):
    return subprocess.Popen(["sh", "-c", LOOP, os.path.join(BIN, "minari-hub"), state, name], stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize("running", [True, False], ids=["by a hub", "alone"])
def test_kill_in_the_middle_of_changes(tmp_path, running):
    """kill -9 of the hub, or of the command that writes by itself: hub.db is whole, and what was answered is in it."""
    root, state = str(tmp_path / "root"), str(tmp_path / "state")
    os.mkdir(state, 0o700)
    fill(root, {"lab/open-v0": SETS["lab/open-v0"]})
    answered = set()
    for turn in range(5):
        hub = Hub([root], state=state) if running else None
        if hub:
            hub.wait_ready()
        work = changing(state, f"t{turn}")
        answered.add(work.stdout.readline().strip())  # the first one is made
        time.sleep(0.05 + 0.17 * turn)  # another moment each time
        if hub:
            hub.process.kill()
            hub.process.wait()
            hub.log.close()
        os.killpg(work.pid, signal.SIGKILL)
        answered |= set(work.communicate()[0].split())
        run(state, "access", "list")  # opens and repairs what is left
        assert answered <= is_whole(state)


def test_reload_in_the_middle_of_changes(hub):
    work = changing(hub.state, "reloaded")
    try:
        made = [work.stdout.readline().strip()]
        for _ in range(30):
            hub.process.send_signal(signal.SIGHUP)
            assert hub.get(SECRET, bearer(hub.token)).status == 200 and hub.get(SECRET).status == 401
    finally:
        os.killpg(work.pid, signal.SIGKILL)
        made += work.communicate()[0].split()
    assert set(made) <= {n for n, in rows(hub.state, "SELECT name FROM tokens")}


# ---- the state directory ----


def schema(state):
    return rows(state, "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    state = str(tmp_path_factory.mktemp("fresh"))
    run(state, "access", "set", "*", "none", "lab/")
    return state


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_hub_db_of_each_earlier_schema(tmp_path, fresh, version):
    """It becomes the schema of today, and keeps what it holds."""
    old = str(tmp_path)
    with sqlite3.connect(os.path.join(old, "hub.db")) as db:
        for step, path in enumerate(MIGRATIONS[:version], 1):
            db.executescript(open(path).read())
            if step == 1:
                db.execute("INSERT INTO digests VALUES (0, 'a/b.h5', 1, 2, 3, 4, 5, 'ab', 'cd', 'ef')")
            if path.endswith("_access.sql"):
                db.execute("INSERT INTO access_rules VALUES ('user:old', 'lab/', 'read', 1)")
        db.execute(f"PRAGMA user_version = {version}")
    run(old, "access", "set", "*", "none", "lab/")
    assert schema(old) == schema(fresh)
    assert rows(old, "PRAGMA user_version") == rows(fresh, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert rows(old, "SELECT path, crc32c FROM digests") == [("a/b.h5", "ef")]
    has_rule = any(path.endswith("_access.sql") for path in MIGRATIONS[:version])
    assert rows(old, "SELECT count(*) FROM access_rules") == [(1 + has_rule,)]


def test_all_of_the_state_is_its_owners(hub):
    """While it serves, sessions and links made: directories 0700, files 0600, the socket too."""
    session(hub, hub.token), signed(hub, hub.token, SECRET)
    for here, folders, names in os.walk(hub.state):
        assert stat.S_IMODE(os.stat(here).st_mode) == 0o700, here
        for name in set(names) - {"test.log"}:  # which this test writes
            assert stat.S_IMODE(os.lstat(os.path.join(here, name)).st_mode) == 0o600, name
