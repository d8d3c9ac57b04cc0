"""Namespaces: what a folder of datasets says of itself, written by requests, by minari-cli and by Python Minari, and read by each other."""
import json
import os
import shutil
import subprocess
import sys

import pytest

from cli import Cli
from hub import FIXTURES, Hub, until
from test_access_twins import run
from test_drafts import ask, problem

DOOR = os.path.join(FIXTURES, "samples", "door-human-v0")
FILE = "namespace_metadata.json"
SPACES = "/api/v1/namespaces"


def serve(tmp_path, *roots):
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir(exist_ok=True)
    if not state.exists():
        state.mkdir(mode=0o700)
        (tmp_path / "token").write_text(run(str(state), "token", "add", "ann", "--write", "lab/"))
        (tmp_path / "admin").write_text(run(str(state), "token", "add", "root", "--admin"))
    hub = Hub([str(root), *roots], state=str(state))
    hub.wait_ready()
    hub.root, hub.token, hub.master = root, (tmp_path / "token").read_text().strip(), (tmp_path / "admin").read_text().strip()
    return hub


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


@pytest.fixture
def cli(hub, tmp_path):
    return Cli(tmp_path / "datasets", MINARI_HUB_TOKEN=hub.token)


def put(hub, name, said, **headers):
    return ask(hub, "PUT", f"{SPACES}/{name}", said if isinstance(said, (str, bytes)) else json.dumps(said), {k.replace("_", "-"): v for k, v in headers.items()})


def names(hub):
    return {n["namespace"]: n.get("metadata") for n in hub.get(f"{SPACES}?limit=1000").json()["items"]}


def audit(hub):
    rows = ask(hub, "GET", "/api/v1/audit?limit=1000", token=hub.master).json()["items"]
    return [(r["who"], r["action"], r["object"]) for r in rows if r["action"].startswith("namespace")]


# ---- requests ----


def test_one_is_created_changed_and_deleted(hub):
    said = b'{"description": "Arms",\n "room": 12}'
    made = put(hub, "lab/arms", said)
    assert (made.status, made.headers["Location"], made.body) == (201, f"{SPACES}/lab/arms", said)
    assert (hub.root / "lab/arms" / FILE).read_bytes() == said, "as it was sent"
    assert hub.get(f"{SPACES}/lab/arms").body == said
    assert names(hub) == {"lab": {}, "lab/arms": json.loads(said)}, "the one that it lies in is created, too"
    assert put(hub, "lab/arms", {"description": "x"}).status == 200
    assert hub.get(f"{SPACES}/lab/arms").json() == {"description": "x"}
    assert ask(hub, "DELETE", f"{SPACES}/lab/arms").status == 204 and not (hub.root / "lab/arms").exists()
    assert hub.get(f"{SPACES}/lab/arms").status == 404 and names(hub) == {"lab": {}}
    gone = ask(hub, "DELETE", f"{SPACES}/lab/arms")
    assert (gone.status, problem(gone)) == (404, "namespace-not-found")
    assert audit(hub) == [("token:ann", "namespace-add", "lab/arms"), ("token:ann", "namespace-add", "lab"), ("token:ann", "namespace-set", "lab/arms"),
                          ("token:ann", "namespace-delete", "lab/arms")]
    assert not list((hub.root / ".minari-hub/trash").iterdir())


def test_conditions(hub):
    assert put(hub, "lab", {}, If_Match="*").status == 412 and not (hub.root / "lab").exists()
    assert put(hub, "lab", {"a": 1}, If_None_Match="*").status == 201
    again = put(hub, "lab", {"a": 2}, If_None_Match="*")
    assert (again.status, problem(again)) == (412, "precondition-failed") and names(hub) == {"lab": {"a": 1}}
    assert put(hub, "lab", {"a": 3}, If_Match="*").status == 200 and names(hub) == {"lab": {"a": 3}}
    assert put(hub, "lab", {}, If_Match='"x"').status == put(hub, "lab", {}, If_Match="*", If_None_Match="*").status == 400


@pytest.mark.parametrize("name", ["a", "a.b", "lab%20x", "lab/x.y", "lab/~x", "lab//x", "lab/data", "lab/files/x"])
def test_names_that_minari_does_not_take(hub, name):
    assert ask(hub, "PUT", f"{SPACES}/{name}", "{}", token=hub.master).status == 400
    assert not [p for p in hub.root.iterdir() if p.name != ".minari-hub"]


@pytest.mark.parametrize("said", ["", "[]", "{", '"x"', "{} {}", '{"a": NaN}', b'{"a": "\xff"}'])
def test_what_is_not_an_object(hub, said):
    assert put(hub, "lab", said).status == 400 and not (hub.root / "lab").exists()


def test_a_long_one(hub):
    assert put(hub, "lab", {"description": "x" * 1000000}).status == 201 and len(names(hub)["lab"]["description"]) == 1000000


def test_who_may(hub):
    for method in ("PUT", "DELETE"):
        body = "{}" if method == "PUT" else None
        nobody, elsewhere = ask(hub, method, f"{SPACES}/lab", body, token=None), ask(hub, method, f"{SPACES}/other", body)
        assert (nobody.status, problem(nobody)) == (401, "sign-in")
        assert (elsewhere.status, problem(elsewhere)) == (403, "forbidden") and "may not write 'other/'" in elsewhere.json()["detail"]
    run(hub.state, "access", "set", "token:ann", "write", "other/mine/")
    until(lambda: put(hub, "other/mine", {}).status == 201)  # it takes effect within a second
    assert not (hub.root / "other" / FILE).exists(), "what lies above is not hers"


def test_what_is_private_is_absent(hub):
    put(hub, "lab/open", {}), put(hub, "lab/hidden", {"description": "secret"})
    run(hub.state, "access", "set", "*", "none", "lab/hidden/")
    until(lambda: names_of(hub, None) == {"lab", "lab/open"})
    assert ask(hub, "GET", f"{SPACES}/lab/hidden", token=None).status == 401
    assert names_of(hub, hub.master) == {"lab", "lab/open", "lab/hidden"}
    run(hub.state, "access", "set", "token:ann", "none", "lab/hidden/")
    until(lambda: names_of(hub, hub.token) == {"lab", "lab/open"})
    refused = ask(hub, "DELETE", f"{SPACES}/lab")
    assert (refused.status, refused.json()["contents"]) == (409, ["open"]) and b"hidden" not in refused.body


def names_of(hub, token):
    return {n["namespace"] for n in ask(hub, "GET", f"{SPACES}?limit=1000", token=token).json()["items"]}


def test_one_that_is_not_empty(hub):
    put(hub, "lab", {"description": "x"})
    shutil.copytree(DOOR, hub.root / "lab/door-v0")
    refused = ask(hub, "DELETE", f"{SPACES}/lab")
    assert (refused.status, problem(refused), refused.json()["contents"]) == (409, "exists", ["door-v0"])
    assert (hub.root / "lab" / FILE).exists()


def test_a_dataset_is_not_a_namespace(hub):
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), hub.root / "lab/arm-v30")
    for name in ("lab/arm-v30", "lab/arm-v30/sub"):
        assert put(hub, name, {}).status in (400, 409), name
    assert not (hub.root / "lab/arm-v30" / FILE).exists() and not (hub.root / "lab/arm-v30/sub").exists()


def test_after_a_start_and_by_hand(tmp_path):
    """hub.db knows where an empty one is; its file says what it says. One whose folder was removed is not listed."""
    more = tmp_path / "more"
    more.mkdir()
    with serve(tmp_path, f"lab={more}") as hub:
        assert put(hub, "lab/arms", {"a": 1}).status == 201 and (more / "arms" / FILE).exists()
        assert put(hub, "lab/gone", {}).status == 201
        itself = ask(hub, "PUT", f"{SPACES}/lab", "{}", token=hub.master)
        assert itself.status == 201 and (hub.root / "lab" / FILE).exists() or itself.status == 403
    (more / "arms" / FILE).write_text('{"a": 2}')
    shutil.rmtree(more / "gone")
    with serve(tmp_path, f"lab={more}") as hub:
        assert names(hub)["lab/arms"] == {"a": 2} and "lab/gone" not in names(hub)
        assert ask(hub, "DELETE", f"{SPACES}/lab/arms").status == 204


def test_a_root_that_is_not_written(tmp_path):
    more = tmp_path / "more"
    shutil.copytree(DOOR, more / "door-v0")
    with serve(tmp_path, f"lab={more}:ro") as hub:
        refused = put(hub, "lab/arms", {})
        assert refused.status == 403 and "read-only" in refused.json()["detail"] and not (more / "arms").exists()


# ---- minari-cli ----


def test_on_this_machine(cli):
    assert cli.run("namespace", "list", expect=0).out == ""
    cli.run("namespace", "create", "lab/arms", "--description", "Arms", "--metadata", '{"room": 12}', expect=0)
    assert json.load(open(cli.path("lab/arms", FILE))) == {"room": 12, "description": "Arms"}
    assert open(cli.path("lab", FILE)).read() == "{}"
    again = cli.run("namespace", "create", "lab/arms", expect=1)
    assert "exists already" in again.err
    cli.run("namespace", "update", "lab/arms", "--metadata", '{"a": [1]}', expect=0)
    assert json.load(open(cli.path("lab/arms", FILE))) == {"a": [1], "description": None}
    assert "there is no namespace 'none'" in cli.run("namespace", "update", "none", expect=3).err
    listed = cli.run("namespace", "list", "--json", expect=0).json()["items"]
    assert listed == [{"namespace": "lab", "metadata": {}}, {"namespace": "lab/arms", "metadata": {"a": [1], "description": None}}]
    assert "arms" in cli.run("namespace", "delete", "lab", expect=1).err
    assert cli.run("namespace", "delete", "lab/arms", "--json", expect=0).json() == {"namespace": "lab/arms", "deleted": True}
    assert cli.run("namespace", "delete", "lab/arms").code == 3
    cli.run("namespace", "delete", "lab", expect=0)
    assert not os.path.exists(cli.path("lab"))


def test_what_is_not_taken(cli):
    for words in (["create"], ["list", "lab"], ["make", "lab"], ["delete", "lab", "--description", "x"], ["create", "lab", "--metadata", "[1]"], ["create", "a.b"],
                  ["create", "lab", "--metadata", '{"description": "x"}', "--description", "y"]):
        refused = cli.run("namespace", *words, expect=2)
        assert refused.err.startswith("minari-cli: "), refused
    assert not os.path.exists(cli.path("lab"))


def test_on_a_hub(hub, cli):
    remote = ["--remote", hub.base]
    cli.run("namespace", "create", "lab/arms", "--description", "Arms", *remote, expect=0)
    assert "exists already" in cli.run("namespace", "create", "lab/arms", *remote, expect=1).err
    cli.run("namespace", "update", "lab/arms", "--description", "More \u00e9", *remote, expect=0)
    assert "there is no namespace" in cli.run("namespace", "update", "lab/none", *remote, expect=3).err
    table = cli.run("namespace", "list", *remote, expect=0).out
    assert "lab/arms" in table and "More é" in table
    assert cli.run("namespace", "list", "--json", *remote, expect=0).json()["items"] == [
        {"namespace": "lab", "metadata": {}}, {"namespace": "lab/arms", "metadata": {"description": "More é"}}]
    assert "there are: arms" in cli.run("namespace", "delete", "lab", *remote, expect=1).err
    assert cli.run("namespace", "create", "lab/more", *remote, MINARI_HUB_TOKEN="").code == 7
    assert cli.run("namespace", "create", "other", *remote).code == 7
    cli.run("namespace", "delete", "lab/arms", *remote, expect=0)
    assert cli.run("namespace", "delete", "lab/arms", *remote).code == 3
    assert "not a hub" in cli.run("namespace", "list", "--remote", "gcp://bucket", expect=1).err
    assert not os.path.exists(cli.path("lab")), "nothing of it is on this machine"


def test_along_with_a_push(hub, cli, tmp_path):
    """From the folders above, outermost first; what the hub has stays; what may not be written is said, and the push goes on."""
    folder = tmp_path / "datasets/lab/arms/door-v0"
    shutil.copytree(DOOR, folder)
    (tmp_path / "datasets/lab" / FILE).write_text('{"description": "The lab"}')
    (tmp_path / "datasets/lab/arms" / FILE).write_text('{"description": "Arms"}')
    upload = lambda path, id: cli.run("upload", str(path), id, "--remote", hub.base, expect=0)  # noqa: E731
    first = upload(folder, "lab/arms/door-v0")
    assert "namespace 'lab/arms' is pushed" in first.err, first
    assert names(hub) == {"lab": {"description": "The lab"}, "lab/arms": {"description": "Arms"}}
    (tmp_path / "datasets/lab" / FILE).write_text('{"description": "Another"}')
    assert "namespace" not in upload(folder, "lab/arms/door-v1").err
    upload(folder, "lab/elsewhere/door-v0")
    assert names(hub) == {"lab": {"description": "The lab"}, "lab/arms": {"description": "Arms"}, "lab/elsewhere": None}
    run(hub.state, "access", "set", "token:ann", "write", "own/door")
    shutil.copytree(DOOR, tmp_path / "datasets/own/door-v0")
    (tmp_path / "datasets/own" / FILE).write_text("{}")
    until(lambda: ask(hub, "POST", "/api/v1/drafts", json.dumps({"id": "own/door-v9"})).status == 201)
    said = upload(tmp_path / "datasets/own/door-v0", "own/door-v0").err
    assert "namespace 'own' is not pushed: this token may not write 'own/'" in said and names(hub)["own"] is None


# ---- Python Minari ----

LOCAL = """
import json, sys, minari.namespace as n
what, *args = json.loads(sys.argv[1])
out = getattr(n, what)(*args[0], **args[1])
print(json.dumps(out))
"""


def minari(env, what, *args, **more):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LOCAL, json.dumps([what, args, more])], env={**os.environ, **env}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def python():
    """The real one, or a loud word."""
    there = subprocess.run([sys.executable, "-c", "import minari.namespace"], capture_output=True, text=True, timeout=120)
    if there.returncode:
        pytest.skip(f"LOUD: Python Minari is not installed here, so that nothing reads what minari-cli writes of namespaces: {there.stderr[-300:]}")


def test_python_minari_on_this_machine(python, cli):
    """Each reads, changes and deletes what the other one made."""
    env = {"MINARI_DATASETS_PATH": cli.root}
    cli.run("namespace", "create", "nested/of/cli", "--description", "minari-cli's", "--metadata", '{"key": [1]}', expect=0)
    assert minari(env, "list_local_namespaces") == ["nested", "nested/of", "nested/of/cli"]
    assert minari(env, "get_namespace_metadata", "nested/of/cli") == {"key": [1], "description": "minari-cli's"}
    minari(env, "create_namespace", "nested/of/python", "Python's", key=[2])
    minari(env, "create_namespace", "plain")
    assert {i["namespace"]: i["metadata"] for i in cli.run("namespace", "list", "--json", expect=0).json()["items"]} == {
        "nested": {}, "nested/of": {}, "nested/of/cli": {"key": [1], "description": "minari-cli's"}, "nested/of/python": {"key": [2], "description": "Python's"}, "plain": {}}
    mine, theirs = (open(cli.path(f"nested/of/{n}", FILE)).read() for n in ("cli", "python"))
    assert mine == json.dumps({"key": [1], "description": "minari-cli's"}) and theirs == json.dumps({"key": [2], "description": "Python's"}), "byte by byte"
    minari(env, "update_namespace_metadata", "nested/of/cli", "é")
    assert cli.run("namespace", "list", "--json").json()["items"][2]["metadata"] == {"description": "é"}
    cli.run("namespace", "update", "nested/of/python", expect=0)
    assert minari(env, "get_namespace_metadata", "nested/of/python") == {"description": None}
    minari(env, "delete_namespace", "nested/of/cli")
    cli.run("namespace", "delete", "nested/of/python", expect=0)
    assert minari(env, "list_local_namespaces") == ["nested", "nested/of", "plain"]


def test_python_minari_from_a_hub(python, hub, cli, tmp_path):
    """What minari-cli wrote on the hub comes with a download by Hugging Face's protocol, also after it was changed."""
    shutil.copytree(DOOR, tmp_path / "pushed")
    cli.run("upload", str(tmp_path / "pushed"), "lab/arms/door-v0", "--remote", hub.base, expect=0)
    env = {"HF_ENDPOINT": hub.base, "HF_HOME": str(tmp_path / "home"), "MINARI_REMOTE": "hf://farama-minari", "MINARI_DATASETS_PATH": str(tmp_path / "sets")}
    for at, said in enumerate(("Arms", "More arms")):
        cli.run("namespace", ("create", "update")[at], "lab/arms", "--description", said, "--remote", hub.base, expect=0)
        assert minari(env, "list_remote_namespaces") == ["lab", "lab/arms"]
        minari(env, "download_namespace_metadata", "lab/arms", overwrite=True)
        assert minari(env, "get_namespace_metadata", "lab/arms")["description"] == said
