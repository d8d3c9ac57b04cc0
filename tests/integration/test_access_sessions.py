"""Who a request comes from, where no token is sent: sessions of browsers, signed links, users of a proxy. Failed tries, and changes
over the network."""
import http.client
import json
import re
import subprocess
import urllib.parse

import pytest

from hub import Hub, until
from test_access_twins import fill, run

SETS = {"lab/open-v0": "samples/door-human-v0", "lab/secret/arm-v1": "samples/door-human-v0", "lab/other/arm-v1": "samples/door-human-v0"}
SECRET, OTHER = "/api/v1/datasets/lab/secret/arm-v1", "/api/v1/datasets/lab/other/arm-v1"
PAGE = "/d/lab/secret/arm-v1"
USERS = ["--auth-header", "X-Forwarded-User", "--auth-groups-header", "X-Forwarded-Groups"]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    fill(str(root), SETS)
    with Hub([str(root)], state=str(state), args=[*USERS, "--failed-tries", "off"]) as hub:
        hub.wait_indexed()
        for prefix in ("lab/secret/", "lab/other/"):
            run(str(state), "access", "set", "*", "none", prefix)
        run(str(state), "access", "set", "user:ann", "read", "lab/secret/")
        run(str(state), "access", "set", "group:robots", "read", "lab/other/")
        hub.token = run(str(state), "token", "add", "ann", "--read", "lab/secret/")
        hub.boss = run(str(state), "token", "add", "boss", "--admin")
        until(lambda: hub.get(SECRET).status == 401)
        yield hub


def ask(hub, method, path, headers=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.request(method, path, body=body, headers=headers or {})
    with connection.getresponse() as answer:
        answer.body = answer.read()
    connection.close()
    return answer


def login(hub, token, next="/", **headers):
    form = urllib.parse.urlencode({"token": token, "next": next})
    return ask(hub, "POST", "/~login", {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded", **headers}, form)


def cookie_of(answer):
    return answer.headers["Set-Cookie"].split(";")[0]


def link(hub, path, token=None, **more):
    headers = {"Authorization": f"Bearer {token or hub.token}"}
    answer = ask(hub, "POST", "/api/v1/links", headers, json.dumps({"path": path, **more}))
    assert answer.status == 200, answer.body
    return json.loads(answer.body)["url"].removeprefix(hub.base)


# ---- sessions ----

def test_a_page_asks_to_sign_in(hub):
    answer = ask(hub, "GET", PAGE + "/episodes?sort=-return", {"Accept": "text/html"})
    assert (answer.status, answer.headers["Location"]) == (303, "/~login?next=" + urllib.parse.quote(PAGE + "/episodes?sort=-return", safe=""))
    assert "WWW-Authenticate" not in answer.headers, "a browser would ask for a name and a password"
    form = ask(hub, "GET", answer.headers["Location"], {"Accept": "text/html"})
    assert form.status == 200 and f'name="next" value="{PAGE}/episodes?sort=-return"' in form.body.decode()
    assert ask(hub, "GET", "/d/lab/secret/none", {"Accept": "text/html"}).status == 303, "whether or not it is there"
    assert ask(hub, "GET", "/d/lab/none", {"Accept": "text/html"}).status == 404


def test_a_session(hub):
    assert login(hub, f" {hub.token}\r\n", PAGE).status == 303, "as it comes out of a file"
    answer = login(hub, hub.token, PAGE, Origin=hub.base)
    assert (answer.status, answer.headers["Location"]) == (303, PAGE)
    assert re.fullmatch(r"mh_session=mh_[a-z2-7]{48}; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200", answer.headers["Set-Cookie"])
    assert hub.token not in str(answer.headers), "the cookie is not the token"
    session = {"Cookie": cookie_of(answer), "Accept": "text/html"}
    page = ask(hub, "GET", PAGE, session)
    assert page.status == 200 and "Sign out" in page.body.decode() and page.headers["Cache-Control"].startswith("private")
    assert ask(hub, "GET", SECRET, session).status == 200
    assert ask(hub, "GET", OTHER, session).status == 404
    text = cookie_of(answer).partition("=")[2]
    assert ask(hub, "GET", SECRET, {"Authorization": f"Bearer {text}"}).status == 401, "it is good as a cookie alone"
    assert ask(hub, "GET", SECRET, {"Cookie": f"mh_session={hub.token}"}).status == 401, "and a token is no cookie"
    out = ask(hub, "POST", "/~logout", {**session, "Origin": hub.base})
    assert (out.status, out.headers["Location"]) == (303, "/") and "mh_session=;" in out.headers["Set-Cookie"] and "Max-Age=0" in out.headers["Set-Cookie"]
    assert ask(hub, "GET", SECRET, session).status == 401
    audit = run(hub.state, "audit", "--json")
    assert audit.count('"session-begin"') >= 1 and audit.count('"session-end"') == 1 and text not in audit


def test_a_session_ends_with_its_token(hub):
    token = run(hub.state, "token", "add", "carl", "--read", "lab/secret/")
    until(lambda: login(hub, token).status == 303, 1)
    session = {"Cookie": cookie_of(login(hub, token))}
    assert ask(hub, "GET", SECRET, session).status == 200
    run(hub.state, "token", "revoke", "carl")
    until(lambda: ask(hub, "GET", SECRET, session).status == 401, 1)


def test_a_wrong_token(hub):
    for token in ("", "hf_abc", "mh_abc", hub.token[:-1] + ("a" if hub.token[-1] != "a" else "b"), "<script>"):
        answer = login(hub, token, PAGE)
        body = answer.body.decode()
        assert answer.status == 401 and "Set-Cookie" not in answer.headers and f'value="{PAGE}"' in body, token
        assert 'name="token"' in body and "<script>" not in body.replace("<script src", "") and (not token or token not in body.replace('placeholder="mh_..."', ""))


def test_other_places(hub):
    for next in ("//elsewhere.example/", "https://elsewhere.example/", "/\\elsewhere.example", "javascript:alert(1)", "/a\r\nSet-Cookie: x=1", "", "/" + 3000 * "a"):
        assert login(hub, hub.token, next).headers["Location"] == "/", next
    for origin in ("http://elsewhere.example", "null", f"http://127.0.0.1:{hub.port + 1}"):
        assert login(hub, hub.token, Origin=origin).status == 403, origin
        assert ask(hub, "POST", "/~logout", {"Origin": origin}).status == 403


def test_behind_tls(hub):
    answer = login(hub, hub.token, **{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "data.lab.example", "Origin": "https://data.lab.example"})
    assert re.fullmatch(r"__Host-mh_session=mh_[a-z2-7]{48}; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200; Secure", answer.headers["Set-Cookie"])
    assert ask(hub, "GET", SECRET, {"Cookie": cookie_of(answer)}).status == 200


def test_a_cookie_administers_nothing(hub):
    session = {"Cookie": cookie_of(login(hub, hub.boss))}
    assert ask(hub, "GET", "/api/v1/status", session).status == 200, "it reads what its token may"
    assert ask(hub, "GET", "/api/v1/tokens", session).status == 404
    assert ask(hub, "POST", "/api/v1/access?who=*&level=read&prefix=lab/secret/", session).status == 404


# ---- links ----

def test_a_link(hub):
    url = link(hub, SECRET + "/episodes/0/rewards?format=npy")
    answer = ask(hub, "GET", url)
    assert answer.status == 200 and answer.body.startswith(b"\x93NUMPY") and answer.headers["Cache-Control"].startswith("private")
    moved = url.replace("/episodes/0/", "/episodes/1/")
    assert [ask(hub, m, u).status for m, u in (("HEAD", url), ("GET", moved), ("POST", url), ("GET", url[:-1] + ("0" if url[-1] != "0" else "1")))] == [200, 401, 401, 401]
    below = link(hub, SECRET + "/")
    query = below.partition("?")[2]
    assert [ask(hub, "GET", f"{p}?{query}").status for p in (SECRET + "/episodes", SECRET + "/files/data/main_data.hdf5", SECRET, OTHER, "/api/v1/datasets")] == [200, 200, 401, 401, 401]
    part = ask(hub, "GET", f"{SECRET}/files/data/main_data.hdf5?{query}", {"Range": "bytes=0-3"})
    assert (part.status, part.body) == (206, b"\x89HDF")
    signature = re.search(r"sig=([0-9a-f]+)", url)[1]
    assert ask(hub, "GET", url, {"Authorization": "Bearer mh_wrong"}).status == 401
    until(lambda: hub.text_log().count("format=npy") >= 4)
    assert signature not in hub.text_log(), "no log has it"
    done = subprocess.run(["curl", "-sSf", hub.base + url], capture_output=True)
    assert done.stdout.startswith(b"\x93NUMPY"), done.stderr


def test_what_no_link_is_made_of(hub):
    headers = {"Authorization": f"Bearer {hub.token}"}
    for body in ("", "[]", "{}", '{"path": 1}', '{"path": "d/x"}', '{"path": "/"}', '{"path": "/d/../x"}', '{"path": "/d/x", "expires": "8d"}',
                 '{"path": "/d/x", "expires": "0s"}', '{"path": "/d/x", "expires": 60}', '{"path": "/d/x", "for": "ann"}', '{"path": "/d/x?sig=1"}', '{"path": "//elsewhere/x"}'):
        assert ask(hub, "POST", "/api/v1/links", headers, body).status == 400, body
    assert ask(hub, "POST", "/api/v1/links", {}, '{"path": "/d/x"}').status == 401
    assert ask(hub, "GET", "/api/v1/links", headers).status == 405


def test_a_link_ends(hub):
    token = run(hub.state, "token", "add", "dora", "--read", "lab/secret/")
    until(lambda: ask(hub, "GET", SECRET, {"Authorization": f"Bearer {token}"}).status == 200, 1)
    short, long = link(hub, SECRET, token, expires="1s"), link(hub, SECRET, token, expires="7d")
    until(lambda: ask(hub, "GET", short).status == 401, 5)
    assert "expired" in ask(hub, "GET", short).body.decode() and ask(hub, "GET", long).status == 200
    run(hub.state, "token", "revoke", "dora")
    until(lambda: ask(hub, "GET", long).status == 401, 1)


def test_a_link_only_reads(hub):
    assert ask(hub, "GET", link(hub, "/api/v1/tokens", hub.boss)).status == 404
    assert ask(hub, "GET", link(hub, SECRET, hub.boss)).status == 200


def test_a_link_by_a_session(hub):
    """As a page makes one."""
    session = {"Cookie": cookie_of(login(hub, hub.token))}
    answer = ask(hub, "POST", "/api/v1/links", session, json.dumps({"path": SECRET}))
    url = json.loads(answer.body)["url"].removeprefix(hub.base)
    ask(hub, "POST", "/~logout", session)
    assert ask(hub, "GET", url).status == 200, "it is of the token, not of the session"


# ---- users of a proxy ----

def test_users(hub):
    ann, group = {"X-Forwarded-User": "ann"}, {"X-Forwarded-User": "bob", "X-Forwarded-Groups": "arms, robots"}
    assert [ask(hub, "GET", p, h).status for p in (SECRET, OTHER) for h in (ann, group)] == [200, 404, 404, 200]
    assert ask(hub, "GET", SECRET, {"X-Forwarded-User": ""}).status == 401, "the proxy knows nobody"
    assert ask(hub, "GET", SECRET, {"X-Forwarded-Groups": "robots"}).status == 401
    page = ask(hub, "GET", PAGE, {**ann, "Accept": "text/html"}).body.decode()
    assert "ann" in page and "Sign out" not in page
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    connection.putrequest("GET", SECRET)
    for name in ("eve", "ann"):
        connection.putheader("X-Forwarded-User", name)
    connection.endheaders()
    assert connection.getresponse().status == 400, "the proxy did not replace the client's"
    assert ask(hub, "GET", OTHER, {"Authorization": f"Bearer {hub.token}", **group}).status == 404, "a token before a user"
    url = json.loads(ask(hub, "POST", "/api/v1/links", group, json.dumps({"path": OTHER})).body)["url"].removeprefix(hub.base)
    assert ask(hub, "GET", url).status == 200


def test_users_of_nobody(hub, tmp_path_factory):
    """A peer that is no trusted proxy names no user."""
    root, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    fill(str(root), {"lab/secret/arm-v1": "samples/door-human-v0"})
    run(str(state), "access", "set", "*", "none", "lab/secret/")
    run(str(state), "access", "set", "user:ann", "read", "lab/secret/")
    with Hub([str(root)], state=str(state), args=[*USERS, "--trusted-proxies", "10.9.9.9"]) as other:
        other.wait_ready()
        for _ in range(3):
            assert ask(other, "GET", SECRET, {"X-Forwarded-User": "ann"}).status == 401
        token = run(str(state), "token", "add", "boss", "--admin")
        as_boss = {"Authorization": f"Bearer {token}"}
        until(lambda: other.get("/api/v1/status", as_boss).status == 200)
        assert "minari_hub_dropped_user_headers_total 3\n" in other.get("/metrics", as_boss).body.decode()


# ---- failed tries, changes over the network ----

def test_failed_tries(tmp_path):
    for name in ("root", "state"):
        (tmp_path / name).mkdir(0o700)
    state = str(tmp_path / "state")
    with Hub([str(tmp_path / "root")], state=state, args=["--failed-tries", "3/1m"]) as hub:
        hub.wait_ready()
        token = run(state, "token", "add", "ann")
        until(lambda: hub.get("/api/v1/datasets", {"Authorization": f"Bearer {token}"}).status == 200)
        used = [hub.get("/api/v1/datasets", {"Authorization": "Bearer mh_wrong"}).status for _ in range(8)]
        assert used[-4:] == 4 * [429] and set(used[:3]) <= {401, 429}, used
        answer = hub.get("/api/v1/datasets", {"Authorization": "Bearer mh_wrong"})
        assert 1 <= int(answer.headers["Retry-After"]) <= 60 and answer.json()["type"] == "urn:minari-hub:too-many-tries"
        assert login(hub, "mh_wrong").status == 429
        assert hub.get("/api/v1/datasets", {"Authorization": f"Bearer {token}"}).status == 200, "a valid one is never refused"
        assert login(hub, token).status == 303
        assert hub.get("/api/v1/datasets", {"Authorization": "Bearer mh_wrong", "X-Forwarded-For": "10.1.2.3"}).status == 401, "another address"


@pytest.mark.parametrize("args, statuses", [([], [200, 403, 200, 200]), (["--insecure-writes", "on"], [200, 200, 200, 200])])
def test_changes_from_other_machines(tmp_path, args, statuses):
    for name in ("root", "state"):
        (tmp_path / name).mkdir(0o700)
    state = str(tmp_path / "state")
    with Hub([str(tmp_path / "root")], state=state, args=args) as hub:
        hub.wait_ready()
        boss = {"Authorization": "Bearer " + run(state, "token", "add", "boss", "--admin")}
        until(lambda: ask(hub, "GET", "/api/v1/tokens", boss).status == 200)
        far, safe = {"X-Forwarded-For": "10.1.2.3"}, {"X-Forwarded-For": "10.1.2.3", "X-Forwarded-Proto": "https"}
        change = "/api/v1/access?who=*&level=none&prefix=lab/"
        got = [ask(hub, m, p, {**boss, **h}) for m, p, h in (("POST", change, {}), ("POST", change, far), ("POST", change, safe), ("GET", "/api/v1/access", far))]
        assert [a.status for a in got] == statuses
        assert got[1].status == 200 or b"--insecure-writes" in got[1].body and b"--trusted-proxies" in got[1].body
