"""Tokens that minari-cli keeps and sends: where they come from, to which hub they go, and where they are never seen."""
import json
import os
import signal
import stat
import subprocess

import pytest

from cli import CLI, Cli, at_the_prompt
from hostile import HostileHub
from hub import PATIENCE, Hub, until
from test_access_twins import fill, run

SETS = {"lab/open-v0": "samples/door-human-v0", "lab/secret/arm-v1": "samples/door-human-v0"}
PRIVATE = "lab/secret/arm-v1"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    fill(str(root), SETS)
    with Hub([str(root)], state=str(state)) as hub:
        hub.wait_indexed()
        run(str(state), "access", "set", "*", "none", "lab/secret/")
        hub.ann, hub.bob = (run(str(state), "token", "add", name, "--read", "lab/secret/") for name in ("ann", "bob"))
        until(lambda: hub.get(f"/api/v1/datasets/{PRIVATE}").status == 401)  # it acts within a second
        yield hub


class Place(Cli):
    """minari-cli, and what it keeps."""

    @property
    def file(self):
        return os.path.join(self.config, "minari", "tokens.json")

    def kept(self):
        if not os.path.exists(self.file):
            return {}
        with open(self.file) as f:
            return json.load(f)

    def login(self, hub, token):
        return self.run("login", hub.base, "--token-file", "-", input=token + "\n", expect=0)


@pytest.fixture
def cli(hub, tmp_path):
    return Place(tmp_path / "sets", hub.base)


def secret(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Recorder(HostileHub):
    """A hub that knows every token, and what was sent to it."""

    def __init__(self):
        super().__init__({"a-v0": {"data/x": b"1"}})
        self.fault = self.identify
        self.base = self.url

    @staticmethod
    def identify(request, path):
        who = {"name": "eve", "auth": {"accessToken": {"displayName": "eve", "role": "read"}}}
        return path == "/api/whoami-v2" and (request.json(who) or True)

    def sent(self):
        return {r[3].get("Authorization") for r in self.requests}


@pytest.fixture
def other():
    with Recorder() as other:
        yield other


# ---- login, whoami, logout ----


def test_login_keeps_a_token_for_the_hub(hub, cli, tmp_path):
    assert cli.run("whoami", expect=0).out == f"{hub.base}: anonymous (read)\n"
    cli.run("show", PRIVATE, "--remote", hub.base, expect=7)
    done = cli.run("login", "--token-file", secret(tmp_path / "token", hub.ann + "\n"), expect=0)
    assert done.out == f"{hub.base}: ann (read)\n" and cli.file in done.err and "warning" not in done.err
    assert cli.kept() == {hub.base: hub.ann} and mode(cli.file) == 0o600 and mode(os.path.dirname(cli.file)) == 0o700
    assert cli.run("whoami", expect=0).out == f"{hub.base}: ann (read)\n"
    for words in (("show", PRIVATE), ("show", f"{hub.base}/{PRIVATE}"), ("download", PRIVATE), ("get", PRIVATE, "0", "rewards")):
        cli.run(*words, expect=0)
    cli.login(hub, hub.bob)
    assert cli.kept() == {hub.base: hub.bob} and os.listdir(os.path.dirname(cli.file)) == ["tokens.json"]
    assert cli.run("logout", expect=0).out == f"{hub.base}: the token is forgotten\n" and cli.kept() == {}
    assert cli.run("logout", expect=0).out == f"{hub.base}: no token was kept\n"
    assert cli.run("whoami", expect=0).out == f"{hub.base}: anonymous (read)\n"


def test_as_json(hub, cli):
    assert cli.run("logout", "--json", expect=0).json() == {"hub": hub.base, "forgotten": False} and not os.path.exists(cli.config)
    assert cli.run("whoami", "--json", expect=0).json() == {"hub": hub.base, "name": "anonymous", "role": "read", "signed_in": False}
    who = {"hub": hub.base, "name": "ann", "role": "read", "signed_in": True}
    assert cli.run("login", "--json", "--token-file", "-", input=hub.ann, expect=0).json() == {**who, "file": cli.file}
    assert cli.run("whoami", "--json", expect=0).json() == {**who, "token_from": "login"}
    assert cli.run("whoami", "--json", MINARI_HUB_TOKEN=hub.bob, expect=0).json() == {**who, "name": "bob", "token_from": "MINARI_HUB_TOKEN"}
    assert cli.run("whoami", "--json", "--token-file", "-", input=hub.ann, MINARI_HUB_TOKEN=hub.bob, expect=0).json() == {**who, "token_from": "--token-file"}
    assert cli.run("logout", "--json", expect=0).json() == {"hub": hub.base, "forgotten": True}


def test_login_on_a_terminal(hub, cli):
    code, seen = at_the_prompt(cli, "login", hub.base, act=lambda p, master: os.write(master, hub.ann.encode() + b"\n"))
    assert code == 0 and f"{hub.base}: ann (read)" in seen and hub.ann not in seen and cli.kept() == {hub.base: hub.ann}
    code, seen = at_the_prompt(cli, "login", hub.base, act=lambda p, master: p.send_signal(signal.SIGINT))
    assert code == 130 and cli.kept() == {hub.base: hub.ann}
    code, seen = at_the_prompt(cli, "login", hub.base, act=lambda p, master: os.write(master, b"\n"))
    assert code == 2 and "there is no token" in seen
    assert "--token-file -" in cli.run("login", hub.base, expect=2).err, "without a terminal"


def test_a_wrong_token_is_not_kept(hub, cli):
    cli.login(hub, hub.ann)
    for token, words in ((hub.ann[:-1] + ("a" if hub.ann[-1] != "a" else "b"), "token"), ("hf_somebody", "does not know this token")):
        done = cli.run("login", hub.base, "--token-file", "-", input=token, expect=7)
        assert words in done.err and "administrator" in done.err and token not in done.err and not done.out
        error = json.loads(cli.run("whoami", "--json", "--token-file", "-", input=hub.ann + "x", expect=7).err)["error"]
        assert (error["status"], error["problem"]) == ("denied", "bad-token")
    for text in ("", "\n", "two words", "mh_ä"):
        assert "token" in cli.run("login", hub.base, "--token-file", "-", input=text, expect=2).err
    assert cli.kept() == {hub.base: hub.ann}
    for words, code, says in ((("login", "hf://lab"), 1, "is not a hub"), (("login", "gcp://lab"), 1, "is not a hub"), (("whoami", "nonsense"), 2, "is not a remote"),
                              (("login", hub.base, "--remote", hub.base), 2, "given twice"), (("logout", "a", "b"), 2, "too many")):
        assert says in cli.run(*words, expect=code).err
    assert cli.run("login", expect=1, MINARI_HUB_URL="").err.count("hf://farama-minari (default) is not a hub")
    assert "XDG_CONFIG_HOME" in cli.run("login", "--token-file", "-", input=hub.ann, expect=1, HOME="", XDG_CONFIG_HOME="").err


def test_a_token_of_a_revoked_name(hub, cli):
    cli.login(hub, run(hub.state, "token", "add", "carl", "--read", "lab/secret/"))
    run(hub.state, "token", "revoke", "carl")
    until(lambda: cli.run("whoami").code == 7)
    done = cli.run("list", "remote", expect=7)
    assert "minari-cli login " + hub.base in done.err and "MINARI_HUB_TOKEN" in done.err


# ---- whose token goes where ----


def test_a_token_goes_to_its_hub_alone(hub, cli, other):
    cli.login(hub, hub.ann)
    cli.run("list", "remote", "--remote", other.url, expect=0)
    cli.run("download", f"{other.url}/a-v0", expect=0)
    assert other.sent() == {None}, "another port is another hub"
    cli.run("show", PRIVATE, "--remote", hub.base.replace("127.0.0.1", "localhost"), expect=7)
    cli.login(other, "of-the-other")
    assert cli.kept() == {hub.base: hub.ann, other.url: "of-the-other"}
    del other.requests[:]
    cli.run("list", "remote", "--remote", "HTTP" + other.url[4:] + "/", expect=0)
    assert other.sent() == {"Bearer of-the-other"}
    cli.run("show", PRIVATE, "--remote", hub.base, expect=0)


def test_no_redirect_carries_it(cli, other):
    with Recorder() as small:
        cli.login(small, "of-small")
        whoami = small.fault
        for place in (other.url, other.url.replace("127.0.0.1", "localhost")):  # another port, and another name
            small.fault = lambda request, path: whoami(request, path) or request.answer(302, headers={"Location": place + request.path}) or True
            assert "another host" in cli.run("list", "remote", "--remote", small.url, expect=7).err and not other.requests
            cli.run("download", "a-v0", "--remote", small.url, "--trust-redirects", "--force", expect=0)
            assert other.requests and other.sent() == {None}
            del other.requests[:]
        assert small.sent() == {"Bearer of-small"}
        small.fault = lambda request, path: request.answer(302, headers={"Location": other.url + request.path}) or True
        assert "another host" in cli.run("login", small.url, "--token-file", "-", input="new-one", expect=7).err
        assert cli.kept() == {small.url: "of-small"} and not other.requests


def test_the_order_of_sources(hub, cli, other):
    def sent(**more):
        del other.requests[:]
        cli.run("list", "remote", "--remote", other.url, expect=0, **more)
        return other.sent()

    cli.login(other, "kept")
    assert sent() == {"Bearer kept"}
    assert sent(MINARI_HUB_TOKEN="variable") == {"Bearer variable"}
    assert sent(MINARI_HUB_TOKEN="") == {"Bearer kept"}
    assert "MINARI_HUB_TOKEN is set" in cli.run("login", other.url, "--token-file", "-", input="newer", MINARI_HUB_TOKEN="variable", expect=0).err
    assert sent() == {"Bearer newer"}
    del other.requests[:]
    cli.run("list", "remote", "--remote", other.url, "--token-file", "-", input="file", MINARI_HUB_TOKEN="variable", expect=0)
    assert other.sent() == {"Bearer file"}


def test_a_token_out_of_a_file_or_a_pipe(hub, cli, other, tmp_path):
    closed, open_one = secret(tmp_path / "closed", "of-file\n"), secret(tmp_path / "open", "of-file", 0o644)
    assert "warning" not in cli.run("list", other.url, "--token-file", closed, expect=0).err
    done = cli.run("list", other.url, f"--token-file={open_one}", expect=0)
    assert f"others may read the token in '{open_one}'" in done.err and "chmod 600" in done.err
    reading, writing = os.pipe()
    os.write(writing, b"of-file\n")
    os.close(writing)
    words = [CLI, "download", f"{other.url}/a-v0", f"{other.url}/a-v0", "--force", "--token-file", f"/dev/fd/{reading}"]
    done = subprocess.run(words, env=cli.env, pass_fds=[reading], capture_output=True, text=True, timeout=PATIENCE)
    os.close(reading)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    assert other.sent() == {"Bearer of-file"}
    assert "cannot be opened" in cli.run("list", other.url, "--token-file", str(tmp_path / "none"), expect=1).err
    assert "more than 4096 bytes" in cli.run("list", other.url, "--token-file", "-", input="x" * 5000, expect=1).err


# ---- where it is never seen ----


def test_it_is_seen_nowhere(hub, cli, tmp_path):
    """In no output, no error, no log of requests, no file but its own; nor in the list of processes, which has the arguments."""
    said = [cli.login(hub, hub.ann)]
    for words in (("show", PRIVATE), ("download", PRIVATE), ("verify", PRIVATE, "--remote", hub.base), ("list", "remote"), ("whoami",), ("show", "lab/none-v0"),
                  ("get", PRIVATE, "0", "nothing"), ("show", PRIVATE, "--remote", "http://127.0.0.1:1", "--attempts", "1"), ("list", "remote", "--sort", "nonsense"), ("login",)):
        said.append(cli.run(*words, input=hub.ann))
        said.append(cli.run(*words, "-v", MINARI_HUB_TOKEN=hub.ann))
        said.append(cli.run(*words, "-v", "--json", "--token-file", "-", input=hub.ann))
    assert any("GET " in r.err for r in said) and any('"error"' in r.err for r in said)
    assert not [r for r in said if hub.ann in r.out + r.err]
    holders = [os.path.join(here, name) for here, _, names in os.walk(tmp_path) for name in names if hub.ann.encode() in open(os.path.join(here, name), "rb").read()]
    assert holders == [cli.file] and os.path.exists(cli.path(PRIVATE, ".minari-hub.json"))
    assert hub.ann not in hub.text_log()


def test_a_token_is_no_argument(hub, cli):
    for words in (("list", "remote", "--token", hub.ann), ("list", "remote", "--token=" + hub.ann), ("list", "remote", "--token-fil=" + hub.ann), ("login", hub.ann),
                  ("show", PRIVATE, "--remote", hub.base.replace("//", f"//any:{hub.ann}@")), ("login", hub.base.replace("//", f"//any:{hub.ann}@"))):
        for more in ((), ("--json",)):
            done = cli.run(*words, *more, expect=2)
            assert hub.ann not in done.err + done.out, done
            assert "--token-file" in done.err or "must not have a user or a password" in done.err, done


def test_a_file_that_others_may_read_is_not_used(hub, cli):
    cli.login(hub, hub.ann)
    os.chmod(cli.file, 0o640)
    done = cli.run("show", PRIVATE, "--remote", hub.base, expect=7)
    assert f"chmod 600 '{cli.file}'" in done.err and "minari-cli login" in done.err
    for words in (("login", hub.base, "--token-file", "-"), ("logout", hub.base)):
        assert "chmod 600" in cli.run(*words, input=hub.bob, expect=7).err
    assert cli.kept() == {hub.base: hub.ann} and mode(cli.file) == 0o640
    os.chmod(cli.file, 0o600)
    cli.run("show", PRIVATE, "--remote", hub.base, expect=0)


def test_a_damaged_file_is_left_as_it_is(hub, cli):
    cli.login(hub, hub.ann)
    with open(cli.file, "w") as f:
        f.write('{"' + hub.base)
    assert "is damaged" in cli.run("list", "remote", expect=0).err, "what is for everybody can be read"
    assert "remove it and log in again" in cli.run("login", "--token-file", "-", input=hub.ann, expect=1).err
    os.unlink(cli.file)
    cli.login(hub, hub.ann)


def test_logins_at_the_same_time(cli):
    """None is lost."""
    hubs = [Recorder() for _ in range(6)]
    try:
        processes = [subprocess.Popen([CLI, "login", hub.url, "--token-file", "-"], env=cli.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for hub in hubs]
        for number, p in enumerate(processes):
            p.communicate(b"token-%d" % number, timeout=PATIENCE)
        assert cli.kept() == {hub.url: f"token-{number}" for number, hub in enumerate(hubs)}
    finally:
        for hub in hubs:
            hub.__exit__()
