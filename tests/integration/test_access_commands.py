"""minari-hub token, access and audit: with a running hub and without one; the state directory; kill -9 within a change."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import tempfile
import time

import pytest

from hub import BIN, FIXTURES, Hub, serving, until

SAMPLES = os.path.join(FIXTURES, "samples")
TOKEN = re.compile(r"mh_[a-z2-7]{48}")


@pytest.fixture
def state():
    path = tempfile.mkdtemp(prefix="hub-state-")
    yield path
    shutil.rmtree(path)


@pytest.fixture(params=["running", "alone"])
def place(request, state):
    """A state directory on which a hub runs, or none does."""
    if request.param == "alone":
        yield state
    else:
        with serving(SAMPLES, state=state):
            yield state


def run(state, *words, code=0):
    """(stdout, stderr) of a command."""
    done = subprocess.run([os.path.join(BIN, "minari-hub"), *words, "--state", state], capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    assert "Sanitizer" not in done.stderr, done.stderr
    return done.stdout, done.stderr


def listed(state, *words):
    return json.loads(run(state, *words, "--json")[0])


def rules(state):
    return {(r["who"], r["prefix"]): r["level"] for r in listed(state, "access", "list")}


def test_a_token_stands_alone_on_standard_output(place):
    out, err = run(place, "token", "add", "ann", "--read", "lab/", "--write", "lab/ann/", "--expires", "90d", "--from", "10.0.0.0/8", "--from", "fd00::/8")
    assert TOKEN.fullmatch(out.strip()) and out.count("\n") == 1 and "lab/ann/" in err
    token = out.strip()
    assert rules(place) == {("token:ann", "lab/"): "read", ("token:ann", "lab/ann/"): "write"}
    shown = listed(place, "token", "list")
    assert [t["name"] for t in shown] == ["ann"] and shown[0]["from"] == ["10.0.0.0/8", "fd00::/8"] and shown[0]["state"] == "valid"
    assert {(r["level"], r["prefix"]) for r in shown[0]["rules"]} == {("read", "lab/"), ("write", "lab/ann/")}
    text, err = run(place, "token", "list")
    assert "ann" in text and token not in text + err + json.dumps(shown)
    made = json.loads(run(place, "token", "add", "bob", "--admin", "--write", "", "--json")[0])
    assert TOKEN.fullmatch(made["token"]) and made["name"] == "bob" and made["token"][3:13] == made["id"]
    assert rules(place)[("token:bob", "")] == "admin"
    for name in os.listdir(place):  # no secret is stored
        path = os.path.join(place, name)
        if stat.S_ISREG(os.stat(path).st_mode) and name != "test.log":
            assert token[13:30].encode() not in open(path, "rb").read(), name


def test_tokens_are_rotated_and_revoked(place):
    first = run(place, "token", "add", "ann", "--read", "lab/")[0].strip()
    second = run(place, "token", "rotate", "ann", "--overlap", "1h")[0].strip()
    assert first != second and TOKEN.fullmatch(second)
    assert [t["state"] for t in listed(place, "token", "list")] == ["valid", "rotated"]
    run(place, "token", "rotate", "ann")
    assert "there is a token 'ann' already" in run(place, "token", "add", "ann", code=1)[1]
    assert "revoked" in run(place, "token", "revoke", "ann")[1]
    assert listed(place, "token", "list") == [] and rules(place) == {}
    assert "there is no token 'ann'" in run(place, "token", "revoke", "ann", code=3)[1]
    assert "there is no token 'ann'" in run(place, "token", "rotate", "ann", code=3)[1]


def test_rules_are_set_explained_and_unset(place):
    run(place, "access", "set", "*", "none", "lab/secret/")
    run(place, "access", "set", "group:Domain Users", "label", "lab/secret/arm")
    run(place, "access", "set", "net:10.0.0.0/8", "read", "")
    run(place, "access", "set", "signed-in", "write", "lab/files/")
    assert rules(place) == {("*", "lab/secret/"): "none", ("group:Domain Users", "lab/secret/arm"): "label", ("net:10.0.0.0/8", ""): "read",
                            ("signed-in", "lab/files~/"): "write"}
    for who, id, level, why in [("*", "lab/secret/x", "none", "rule"), ("token:ann", "lab/secret/x-v1", "none", "rule"), ("*", "lab/x", "read", "default"),
                                ("group:Domain Users", "lab/secret/arm-v3", "label", "rule"), ("signed-in", "lab/files~/x", "write", "rule"),
                                ("net:10.1.2.3/32", "lab/x", "read", "rule")]:
        shown = listed(place, "access", "explain", who, id)
        assert (shown["level"], shown["why"]) == (level, why), (who, id, shown)
    assert run(place, "access", "explain", "*", "lab/secret/x")[0] == "none: by the rule * none 'lab/secret/'\n"
    run(place, "access", "set", "*", "read", "lab/secret/")
    run(place, "access", "unset", "net:10.0.0.0/8", "")
    assert rules(place)[("*", "lab/secret/")] == "read" and len(rules(place)) == 3
    assert "there is no rule of *" in run(place, "access", "unset", "*", "lab/", code=3)[1]


WRONG = [("token",), ("token", "make", "x"), ("token", "add"), ("token", "add", "a/b"), ("token", "add", "ann", "bob"), ("token", "list", "--admin"),
         ("token", "add", "ann", "--overlap", "1h"), ("token", "add", "ann", "--expires", "soon"), ("token", "add", "ann", "--from", "10.0.0.1/8"),
         ("token", "add", "ann", "--read", "../x"), ("access",), ("access", "set", "*", "none"), ("access", "set", "*", "all", "lab/"),
         ("access", "set", "all", "none", "lab/"), ("access", "set", "*", "none", "/lab"), ("access", "set", "*", "admin", ""), ("access", "explain", "*"),
         ("access", "explain", "*", "../x"), ("audit", "--since", "yesterday"), ("audit", "x")]


def test_what_is_wrong_is_named(place):
    for words in WRONG:
        err = run(place, *words, code=2)[1]
        assert err.startswith("minari-hub: ") and err.count("\n") == 1, err
    assert listed(place, "token", "list") == [] and rules(place) == {} and listed(place, "audit") == []


def test_the_audit_has_each_change(place):
    run(place, "token", "add", "ann", "--read", "lab/")
    run(place, "access", "set", "*", "none", "lab/")
    run(place, "access", "set", "*", "read", "lab/")
    run(place, "access", "unset", "*", "lab/")
    run(place, "token", "rotate", "ann")
    run(place, "token", "revoke", "ann")
    rows = listed(place, "audit")
    assert [(r["who"], r["action"], r["object"]) for r in rows] == [
        ("local", "token-add", "ann"), ("local", "access-set", "* lab/"), ("local", "access-set", "* lab/"), ("local", "access-unset", "* lab/"),
        ("local", "token-rotate", "ann"), ("local", "token-revoke", "ann")]
    assert rows[2]["detail"] == {"who": "*", "prefix": "lab/", "level": "read", "was": "none"}
    assert rows[0]["detail"]["rules"] == [{"level": "read", "prefix": "lab/"}]
    assert listed(place, "audit", "--since", "1h") == rows and listed(place, "audit", "--since", "0s") == []
    assert listed(place, "audit", "--since", rows[0]["at"]) == rows
    assert run(place, "audit")[0].count("\n") == 6


def test_a_job_that_is_not_there(state):
    """Its number is nobody's: to the admin that is no question of what is allowed."""
    with serving(SAMPLES, state=state) as hub:
        admin = {"Authorization": "Bearer " + run(state, "token", "add", "boss", "--admin")[0].strip()}
        until(lambda: hub.get("/api/v1/tokens", admin).status == 200)
        for path in ("/api/v1/jobs/0", "/api/v1/jobs/0?do=stop", "/api/v1/jobs/k3vq7dmx2abn?do=keep&fence=1"):
            answer = hub.get(path, {**admin, "Content-Length": "0"}, method="POST")
            assert (answer.status, answer.json()["type"]) == (404, "urn:minari-hub:job-not-found"), answer.body
            status, said = control(state, "POST", path)
            assert (status, said["type"]) == (404, "urn:minari-hub:job-not-found"), said


def test_a_running_hub_logs_each_change_and_pages_its_lists(state):
    with serving(SAMPLES, state=state) as hub:
        for i in range(7):
            run(state, "token", "add", f"t{i}", "--read", f"p{i}/")
        run(state, "access", "set", "*", "none", "lab/")
        until(lambda: "local: token-add t0" in hub.text_log() and "local: access-set * none 'lab/'" in hub.text_log())
        for path, key in [("tokens", lambda i: i["name"]), ("access", lambda i: (i["prefix"], i["who"])), ("audit", lambda i: i["id"])]:
            whole = control(state, "GET", f"/api/v1/{path}")[1]
            assert whole["total"] == len(whole["items"]) == 8 - (path == "tokens")
            pages, url = [], f"/api/v1/{path}?limit=3"
            while url:
                page = control(state, "GET", url)[1]
                pages.append(page)
                url = page["next"] and page["next"].partition("localhost")[2]
            items = [i for p in pages for i in p["items"]]
            assert items == whole["items"] and sorted(items, key=key) == items, path
            back = control(state, "GET", pages[-1]["prev"].partition("localhost")[2])[1]
            assert back["items"] == pages[-2]["items"]
        assert control(state, "DELETE", "/api/v1/tokens/t3") == (200, {"revoked": "t3"})
        assert control(state, "DELETE", "/api/v1/access?who=*&prefix=lab/")[0] == 200
        for method, path in [("GET", "tokens"), ("POST", "tokens?name=x"), ("DELETE", "tokens/t1"), ("GET", "access"), ("POST", "access"), ("GET", "audit")]:
            assert hub.get(f"/api/v1/{path}", method=method).status in (401, 403, 404, 405), "the network is not the admin"


class Control(http.client.HTTPConnection):
    """HTTP over STATE/control.sock."""

    def __init__(self, state):
        super().__init__("localhost", timeout=60)
        self.state = state

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.path.join(self.state, "control.sock"))


def control(state, method, path):
    connection = Control(state)
    connection.request(method, path)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


@pytest.mark.parametrize("words,said", [((), "may read everything; nobody may write; 0 rules, 1 token"), (("user:bob", "write", "lab/"), "may read everything; 1 rule, 1 token"),
                                        (("*", "none", "lab/"), "may read everything, but nothing of lab/; nobody may write; 1 rule, 1 token")])
def test_what_other_machines_get_is_said(state, words, said):
    """By the log at the start, by status and by the page."""
    run(state, "token", "add", "ann")
    if words:
        run(state, "access", "set", *words)
    hub = subprocess.Popen([os.path.join(BIN, "minari-hub"), "serve", "--root", SAMPLES, "--state", state, "--listen", "0.0.0.0:0", "--settle", "0"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(os.path.join(state, "test.log"), "wb"))
    try:
        until(lambda: said in open(os.path.join(state, "test.log")).read())
        assert re.search(r"^access +everybody who reaches 0\.0\.0\.0:\d+ " + re.escape(said) + "$", run(state, "status")[0], re.M)
        shown = json.loads(run(state, "status", "--json")[0])["access"]
        assert (shown["beyond_loopback"], shown["hides"], shown["rules"], shown["tokens"]) == (True, "*" in words, 1 if words else 0, 1) and said in shown["text"]
        connection = Control(state)
        connection.request("GET", "/~operations", headers={"Accept": "text/html"})
        assert said in connection.getresponse().read().decode()
        connection.close()
    finally:
        hub.send_signal(signal.SIGTERM)
        assert hub.wait(60) == 0


# ---- the configuration ----


def configured(state, text):
    path = os.path.join(state, "hub.conf")
    with open(path, "w") as f:
        f.write(text)
    return path


def test_declared_rules_win_and_are_shown_so(place):
    run(place, "access", "set", "*", "read", "lab/")
    config = configured(place, "[access]\nset = * none lab/\nset = group:Domain Users read lab/  # who works here\n")
    # a hub that runs has what it was started with; without one the command reads the file
    if os.path.exists(os.path.join(place, "control.sock")):
        return
    shown = listed(place, "access", "list", "--config", config)
    assert {(r["who"], r["level"], r["declared"]) for r in shown} == {("*", "none", True), ("group:Domain Users", "read", True)}
    err = run(place, "access", "set", "*", "read", "lab/", "--config", config, code=1)[1]
    assert "the configuration declares '* none lab/'" in err
    assert "(declared)" in run(place, "access", "list", "--config", config)[0]


def test_a_wrong_line_is_named(state):
    for text, named in [("[access]\nset = all none lab/\n", "does not say who"), ("[access]\nrule = * none\n", "[access] has no setting \"rule\""),
                        ("[access]\nset = * lab/\n", "WHO LEVEL PREFIX")]:
        config = configured(state, text)
        done = subprocess.run([os.path.join(BIN, "minari-hub"), "serve", "--root", SAMPLES, "--state", state, "--config", config], capture_output=True, text=True)
        assert done.returncode != 0 and named in done.stderr, done.stderr


def test_token_files_are_made_and_declare_their_rules(state):
    read, write = os.path.join(state, "read-token"), os.path.join(state, "write-token")
    with serving(SAMPLES, state=state, args=("--read-token-file", read, "--write-token-file", write)):
        for path in (read, write):
            assert TOKEN.fullmatch(open(path).read().strip()) and stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert rules(state) == {("*", ""): "none", ("token:read-token-file", ""): "read", ("token:write-token-file", ""): "write"}
        assert [(t["name"], t["declared"]) for t in listed(state, "token", "list")] == [("read-token-file", True), ("write-token-file", True)]
        assert "the name of the token of a file" in run(state, "token", "add", "read-token-file", code=1)[1]
    before = open(read).read()
    with serving(SAMPLES, state=state, args=("--read-token-file", read)):
        assert open(read).read() == before
    with open(write, "w") as f:
        f.write("secret\n")
    done = subprocess.run([os.path.join(BIN, "minari-hub"), "serve", "--root", SAMPLES, "--state", state, "--write-token-file", write], capture_output=True, text=True)
    assert done.returncode != 0 and "holds no access token" in done.stderr, done.stderr


def test_figures_without_names_are_for_everybody_where_the_admin_says_so(state, tmp_path):
    shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), tmp_path / "door-human-v0")
    for flags in ((), ("--metrics-open",)):
        with serving(f"hidden7={tmp_path}", state=state, args=flags) as hub:
            run(state, "access", "set", "*", "none", "")
            if not flags:
                run(state, "mirror", "add", "http://127.0.0.1:1", "--name", "hidden8", "--yes")
            until(lambda: hub.get("/api/v1/datasets").status == 401 or hub.get("/api/v1/datasets").json()["total"] == 0)
            answers = [hub.get(path) for path in ("/metrics", "/api/v1/status")]
            assert [a.status for a in answers] == ([200, 200] if flags else [401, 401])
            assert not any(b"hidden" in a.body for a in answers)
            assert b"hidden7" not in hub.get("/~operations").body
            admin = {"Authorization": "Bearer " + run(state, "token", "add", f"boss{len(flags)}", "--admin")[0].strip()}
            until(lambda: hub.get("/metrics", admin).status == 200)
            assert b'root="hidden7"' in hub.get("/metrics", admin).body and b'rule="hidden8"' in hub.get("/metrics", admin).body
            assert [r["name"] for r in hub.get("/api/v1/status", admin).json()["roots"]] == ["hidden7"]
            if flags:
                metrics, status = answers[0].body.decode(), answers[1].json()
                assert 'minari_hub_root_free_bytes{root="0"}' in metrics and "minari_hub_mirror_" not in metrics and "minari_hub_datasets{" in metrics
                assert status["roots"] == status["alerts"] == [] and "text" not in status["access"] and status["access"]["hides"]
                assert status["datasets"]["total"] == 1


def test_sighup_reads_the_configuration_again(state):
    """The lines of [access] and the token files, not the rules of hub.db; what is wrong changes nothing."""
    config = configured(state, "[access]\nset = * none D4RL/\nset = token:write-token-file read D4RL/\n")
    token = os.path.join(state, "write-token")
    dataset, other = "/api/v1/datasets/D4RL/door/human-v2", "/api/v1/datasets/door-human-v0"
    with serving(SAMPLES, state=state, args=("--config", config, "--write-token-file", token)) as hub:
        run(state, "access", "set", "*", "none", "door-human-v0")

        def seen(text=None):
            bearer = {"Authorization": f"Bearer {text}"} if text else {}
            return hub.get(dataset, bearer).status, hub.get(other, bearer).status

        def hang_up(said):
            before = hub.text_log().count(said)
            hub.process.send_signal(signal.SIGHUP)
            until(lambda: hub.text_log().count(said) > before)

        first = open(token).read().strip()
        until(lambda: seen() == (401, 401) and seen(first) == (200, 404))
        configured(state, "[access]\nset = * read D4RL/\nset = token:x read D4RL/\n")
        hang_up("SIGHUP: everybody who reaches")
        assert seen() == (200, 401) and ("token:x", "D4RL/") in rules(state)
        configured(state, "[access]\nset = * none D4RL/\nset = all none lab/\n")
        hang_up("rules and tokens stay in force as they were")
        assert seen() == (200, 401) and "does not say who" in hub.text_log()
        configured(state, "[access]\nset = * none D4RL/\n[mirror\n")
        hang_up("hub.conf line 3: ")
        os.rename(config, config + "~")
        hang_up("hub.conf: No such file")
        with open(token, "w") as f:
            f.write("secret\n")
        os.rename(config + "~", config)
        configured(state, "[access]\nset = * none D4RL/\n")
        hang_up("holds no access token")
        assert seen() == (200, 401) and seen(first) == (200, 404)
        os.remove(token)
        hang_up("SIGHUP: everybody who reaches")
        second = open(token).read().strip()
        assert second != first and seen() == (401, 401) and seen(second) == (404, 404) and seen(first) == (401, 401)


# ---- the state directory ----


def test_the_state_directory_is_its_owners(state):
    with serving(SAMPLES, state=state):
        pass
    os.chmod(state, 0o755)
    for name in os.listdir(state):
        if stat.S_ISREG(os.stat(os.path.join(state, name)).st_mode):
            os.chmod(os.path.join(state, name), 0o644)
    with serving(SAMPLES, state=state):
        assert stat.S_IMODE(os.stat(state).st_mode) == 0o700
        for name in os.listdir(state):
            mode = os.stat(os.path.join(state, name)).st_mode
            assert not stat.S_ISREG(mode) or stat.S_IMODE(mode) == 0o600, name


def test_a_directory_that_holds_something_else_is_left_as_it_is(state):
    os.chmod(state, 0o755)
    with open(os.path.join(state, "notes.txt"), "w"):
        pass
    run(state, "token", "add", "ann")
    assert stat.S_IMODE(os.stat(state).st_mode) == 0o755 and stat.S_IMODE(os.stat(os.path.join(state, "hub.db")).st_mode) == 0o600
    os.chmod(state, 0o1777)  # as /tmp
    os.remove(os.path.join(state, "hub.db"))
    assert "--state DIR" in run(state, "token", "list", code=7)[1]
    assert stat.S_IMODE(os.stat(state).st_mode) == 0o1777


@pytest.mark.skipif(os.geteuid() != 0, reason="a directory of another user is made, which takes root")
def test_a_state_directory_that_everybody_may_write_is_refused(state):
    os.chmod(state, 0o777)
    with tempfile.TemporaryDirectory(dir="/tmp") as programs:
        for name in ("minari-hub", "minari-inspect"):
            shutil.copy(os.path.join(BIN, name), programs)
        os.chmod(programs, 0o755)
        done = subprocess.run([os.path.join(programs, "minari-hub"), "token", "list", "--state", state], capture_output=True, text=True, user=65534, group=65534,
                              extra_groups=[], env={"PATH": os.environ["PATH"], "HOME": "/", "ASAN_OPTIONS": "detect_leaks=0"}, cwd="/")
    assert done.returncode == 7 and "chmod 0700" in done.stderr, done.stderr


# ---- kill -9 ----


def whole(path):
    """hub.db holds each change with its audit row, or neither."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
        tokens = {name for name, in db.execute("SELECT name FROM tokens")}
        ruled = {who.removeprefix("token:") for who, in db.execute("SELECT who FROM access_rules")}
        audited = {name for name, in db.execute("SELECT object FROM audit WHERE action = 'token-add'")}
    assert tokens == ruled == audited
    return tokens


def test_a_change_is_whole_or_not_there_after_a_kill(state):
    with serving(SAMPLES, state=state):
        pass
    answered = set()
    for turn in range(6):
        hub = Hub([SAMPLES], state=state)
        try:
            hub.wait_ready()
            script = "i=0; while :; do i=$((i+1)); \"$0\" token add t%d-$i --read lab/ --state \"$1\" >/dev/null 2>&1 && echo t%d-$i; done" % (turn, turn)
            adding = subprocess.Popen(["sh", "-c", script, os.path.join(BIN, "minari-hub"), state], stdout=subprocess.PIPE, text=True, start_new_session=True)
            time.sleep(0.7 + 0.13 * turn)  # another moment each time
            hub.process.send_signal(signal.SIGKILL)
            hub.process.wait()
            os.killpg(adding.pid, signal.SIGKILL)
            answered |= set(adding.communicate()[0].split())
        finally:
            hub.process.kill()
            hub.log.close()
        run(state, "access", "list")  # opens and repairs what is left
        assert answered <= whole(os.path.join(state, "hub.db"))
    assert answered
