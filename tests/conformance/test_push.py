"""Stock clients of Hugging Face push, unchanged: what the hub has then is what they sent, and what they bring back. A row for each client and each
action of actions.py; slow/test_slow_push.py has the other clients."""
import pytest

from pushing import ACTIONS, GATE, Driver, PushedHub, check_action, source


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with PushedHub(tmp_path_factory.mktemp("hub")) as hub:
        yield hub


@pytest.fixture(scope="module", params=GATE)
def driver(request, hub, tmp_path_factory):
    driver = Driver(request.param, hub, tmp_path_factory.mktemp("client"))
    yield driver
    driver.close()


@pytest.mark.parametrize("action", ACTIONS)
def test_push(driver, action, hub, source, tmp_path, pytestconfig):
    check_action(driver, action, hub, source, tmp_path, pytestconfig.pushes)
