"""Askers of a hub that has rules, and what each of them sends: for tests of access."""
import base64
import http.client
import json
import tempfile
import urllib.parse

from hub import Answer
from test_access_twins import run

HERE, PROXY = "127.0.0.1", "127.0.0.2"  # the second one is the proxy that hubs with HEADERS believe
USER_HEADERS = ("--auth-header", "X-Forwarded-User", "--auth-groups-header", "X-Forwarded-Groups")
HEADERS = (*USER_HEADERS, "--trusted-proxies", PROXY)
CHALLENGE = 'Bearer, Basic realm="minari-hub"'
ELSEWHERE = {"Origin": "http://elsewhere.example"}  # what a page of another site cannot leave out


class Line:
    """One connection after another from an address of this machine, each as long as the hub keeps it."""

    def __init__(self, port, address=HERE):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(address, 0))

    def ask(self, method, path, headers=None, body=None):
        for last in (False, True):
            try:
                self.connection.request(method, path, body=body, headers=headers or {})
                with self.connection.getresponse() as answer:
                    return Answer(answer.status, answer.headers, answer.read())
            except (http.client.HTTPException, OSError):  # the hub has ended it meanwhile
                self.connection.close()
                if last:
                    raise

    def close(self):
        self.connection.close()


def ask(hub, method, path, headers=None, body=None, address=HERE):
    line = Line(hub.port, address)
    try:
        return line.ask(method, path, headers, body)
    finally:
        line.close()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def basic(token, name="any"):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{token}".encode()).decode()}


def unknown_token():
    """One that another hub made."""
    with tempfile.TemporaryDirectory() as state:
        return run(state, "token", "add", "somebody")


def sign_in(hub, token, next_path="/", headers=None):
    """The answer of the form."""
    form = urllib.parse.urlencode({"token": token, "next": next_path})
    return ask(hub, "POST", "/~login", {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}, form)


def session(hub, token):
    """The cookie that the form gives to a browser."""
    answer = sign_in(hub, token)
    assert answer.status == 303, (answer.status, answer.body)
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def link(hub, token, path, **more):
    """The answer to who wants a signed link."""
    return ask(hub, "POST", "/api/v1/links", {**bearer(token), "Content-Type": "application/json"}, json.dumps({"path": path, **more}))


def signed(hub, token, path, **more):
    """A path with the query that signs it."""
    answer = link(hub, token, path, **more)
    assert answer.status == 200, (path, answer.status, answer.body)
    url = urllib.parse.urlsplit(answer.json()["url"])
    return f"{url.path}?{url.query}"
