"""A client generated from /openapi.json by openapi-python-client: nothing is dropped, and what it parses is what the hub says."""
import datetime
import importlib
import os
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES, serving, until

ID = "D4RL/door/human-v2"


@pytest.fixture(scope="module")
def hub():
    with serving(os.path.join(FIXTURES, "samples")) as h:
        yield h


@pytest.fixture(scope="module")
def ask(hub):
    """ask("datasets.get_dataset", ..., token=None) -> (status, parsed)"""
    with tempfile.TemporaryDirectory(prefix="hub-generated-") as folder:
        document = os.path.join(folder, "openapi.json")
        with open(document, "wb") as f:
            f.write(hub.get("/openapi.json").body)
        environment = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}
        made = subprocess.run([sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--meta", "none", "--fail-on-warning",
                               "--output-path", os.path.join(folder, "generated_hub")], capture_output=True, text=True, env=environment)
        assert made.returncode == 0, made.stdout + made.stderr
        sys.path.insert(0, folder)
        generated = importlib.import_module("generated_hub")

        def call(operation, /, *arguments, token=None, **parameters):
            client = generated.AuthenticatedClient(base_url=hub.base, token=token) if token else generated.Client(base_url=hub.base)
            answer = importlib.import_module("generated_hub.api." + operation).sync_detailed(*arguments, client=client, **parameters)
            return answer.status_code, answer.parsed

        yield call
        sys.path.remove(folder)


def same(value):
    """The same with times in one spelling: the client makes them datetimes and writes them back its own way."""
    if isinstance(value, dict):
        return {k: datetime.datetime.fromisoformat(v) if k == "modified" else same(v) for k, v in value.items()}
    return [same(v) for v in value] if isinstance(value, list) else value


def test_datasets(hub, ask):
    status, page = ask("datasets.list_datasets", limit=1000)
    assert status == 200 and [d.id for d in page.items] == [d["id"] for d in hub.datasets()] and page.total == len(page.items)
    status, dataset = ask("datasets.get_dataset", ID)
    assert status == 200 and same(dataset.to_dict()) == same(hub.dataset(ID))
    status, problem = ask("datasets.get_dataset", "no/such-v0")
    assert status == 404 and problem.type_ == "urn:minari-hub:dataset-not-found"


def test_episodes(hub, ask):
    status, page = ask("episodes.list_episodes", ID, limit=3)
    assert status == 200 and [e.to_dict() for e in page.items] == hub.episodes(ID)[:3]
    status, episode = ask("episodes.get_episode", ID, 0)
    assert status == 200 and episode.to_dict() == hub.get(f"/api/v1/datasets/{ID}/episodes/0").json()
    status, rows = ask("episodes.get_episode", ID, 0, fields=["observations", "rewards"], start=2, stop=5)
    assert status == 200 and rows.to_dict() == hub.get(f"/api/v1/datasets/{ID}/episodes/0?fields=observations&fields=rewards&start=2&stop=5").json()


def test_rows(hub, ask):
    status, rows = ask("episodes.get_rows", ID, 1, "observations", start=-2)
    assert status == 200 and rows == hub.get(f"/api/v1/datasets/{ID}/episodes/1/observations?start=-2").json()
    status, problem = ask("episodes.get_rows", ID, 1, "nothing")
    assert status == 404 and problem.type_ == "urn:minari-hub:field-not-found"
    status, problem = ask("episodes.get_rows", ID, 1, "observations", revision="0" * 40)
    assert status == 410 and problem.type_ == "urn:minari-hub:revision-gone"


def test_files(hub, ask):
    status, listing = ask("files.list_files", ID)
    assert status == 200 and same(listing.to_dict()) == same(hub.get(f"/api/v1/datasets/{ID}/files").json())
    path = "data/main_data.hdf5"
    status, file = ask("files.get_file", ID, path)
    with open(os.path.join(FIXTURES, "samples", ID, path), "rb") as f:
        assert status == 200 and file.payload.read() == f.read()


def test_what_is_for_admins(hub, ask):
    status, problem = ask("access.list_tokens")
    assert status == 404 and problem.type_ == "urn:minari-hub:route-not-found"
    boss = subprocess.run([os.path.join(BIN, "minari-hub"), "token", "add", "boss", "--admin", "--state", hub.state], capture_output=True, text=True, check=True).stdout.strip()
    until(lambda: ask("access.list_tokens", token=boss)[0] == 200)
    status, made = ask("access.add_token", name="ann", read=["lab/"], token=boss)
    assert status == 201 and made.token.startswith("mh_") and [(r.level, r.prefix) for r in made.rules] == [("read", "lab/")]
    assert ask("access.add_token", name="ann", token=boss)[0] == 409
    status, page = ask("access.list_tokens", token=boss)
    assert status == 200 and [t.name for t in page.items] == ["ann", "boss"]
    status, gone = ask("access.revoke_token", "ann", token=boss)
    assert status == 200 and gone.to_dict() == {"revoked": "ann"}
    status, audit = ask("access.list_audit", token=boss)
    assert status == 200 and [(a.who, a.action, a.object_) for a in audit.items][1:] == [("token:boss", "token-add", "ann"), ("token:boss", "token-revoke", "ann")]


def test_every_operation_has_a_name(hub):
    document = hub.get("/openapi.json").json()
    operations = [op for path in document["paths"].values() for op in path.values()]
    names = [op["operationId"] for op in operations]
    assert len(set(names)) == len(names) and all(op["tags"] for op in operations)
