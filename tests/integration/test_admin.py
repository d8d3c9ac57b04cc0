"""The hub as the admin of its machine asks it: over the control socket in the state directory."""
import http.client
import json
import os
import shutil
import socket
import stat
import tempfile

import pytest

from hub import FIXTURES, serving

SAMPLES = os.path.join(FIXTURES, "samples")


class Control(http.client.HTTPConnection):
    """HTTP over STATE/control.sock; its directory is named by a descriptor, because a socket's name is short."""

    def __init__(self, state):
        super().__init__("localhost", timeout=30)
        self.state = state

    def connect(self):
        directory = os.open(self.state, os.O_PATH | os.O_DIRECTORY)
        try:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(self.timeout)
            self.sock.connect(f"/proc/self/fd/{directory}/control.sock")
        finally:
            os.close(directory)


def ask(hub, path, method="GET"):
    connection = Control(hub.state)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


@pytest.fixture(params=["short", "long"])
def state(request):
    top = tempfile.mkdtemp(prefix="hub-state-")
    path = top if request.param == "short" else os.path.join(top, "d" * 120)
    os.makedirs(path, exist_ok=True)
    yield path
    shutil.rmtree(top)


def test_the_control_socket_is_the_owners(state):
    with serving(SAMPLES, state=state) as hub:
        path = os.path.join(state, "control.sock")
        mode = os.stat(path).st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
        assert ask(hub, "/healthz") == (200, b"ok\n")
        status, body = ask(hub, "/api/v1/datasets")
        assert status == 200 and json.loads(body)["total"] == 4
    assert not os.path.exists(path)


def test_a_socket_left_behind_is_replaced(state):
    with socket.socket(socket.AF_UNIX) as stale:
        directory = os.open(state, os.O_PATH)
        stale.bind(f"/proc/self/fd/{directory}/control.sock")
        os.close(directory)
    with serving(SAMPLES, state=state) as hub:
        assert ask(hub, "/healthz") == (200, b"ok\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's process is started, which takes root")
def test_another_user_is_not_answered(state):
    with serving(SAMPLES, state=state) as hub:
        path = state
        while os.stat(path).st_mode & 0o777 == 0o700:
            os.chmod(path, 0o755)
            path = os.path.dirname(path)
        os.chmod(os.path.join(state, "control.sock"), 0o666)
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                ask(hub, "/healthz")
            except (OSError, http.client.HTTPException):
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert ask(hub, "/healthz") == (200, b"ok\n")
