"""gcp:// remotes: against gcp-storage-emulator and fake-gcs-server, and a stand-in for what that leaves out."""
import base64
import json
import os
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from cli import Cli, on_terminal, tree
from hub import FIXTURES
from upstream_gcs import FAKE_GCS, Gcs, attributes, emulator, fake_gcs

DOOR = "D4RL/door/human-v2"
NO_EMULATOR = "gcp-storage-emulator is not installed: tests/support/requirements.txt"
NEW, OLD = os.path.join(FIXTURES, "samples"), os.path.join(FIXTURES, "minari", "root-0.4.3")


def upload(bucket, root, head=""):
    for here, _, names in os.walk(root):
        for name in names:
            path = os.path.join(here, name)
            if not os.path.relpath(path, root).startswith((".", "pictures", "mission", "door-human-v0")):
                with open(path, "rb") as f:
                    bucket.put(head + os.path.relpath(path, root), f.read())


@pytest.fixture(scope="module", params=["gcp-storage-emulator", "fake-gcs-server"])
def emulated(request):
    """Two that know nothing of each other."""
    if request.param == "fake-gcs-server":
        if not FAKE_GCS:
            pytest.skip("NO FAKE-GCS-SERVER: HUB_TEST_FAKE_GCS names none, as there was no Go of 1.19 or later to make it")
        return fake_gcs
    pytest.importorskip("gcp_storage_emulator", reason=NO_EMULATOR)
    return emulator


@pytest.fixture(scope="module")
def new(emulated):
    with emulated() as bucket:
        upload(bucket, NEW)
        yield bucket


@pytest.fixture
def cli(tmp_path):
    return Cli(tmp_path / "sets")


@pytest.fixture
def lab():
    with Gcs() as bucket:
        yield bucket


def small(bucket, id="a/b-v0", **more):
    metadata = {"dataset_id": id, "total_episodes": 3, "total_steps": 30, "minari_version": "0.5.3", "author": ["me"], "data_format": "hdf5"}
    bucket.put(f"{id}/data/metadata.json", json.dumps({**metadata, **more}).encode())
    bucket.put(f"{id}/data/main_data.hdf5", b"x" * 1000)


def test_a_bucket_of_05(new, cli):
    env = {"STORAGE_EMULATOR_HOST": new.url}
    r = cli.run("list", "gcp://lab", expect=0, **env)
    assert "D4RL/door/human" in r.out and "gcp://lab" in r.err, r
    item, = cli.run("list", "remote", "-r", "gcp://lab", "--json", expect=0, **env).json()["items"]
    assert (item["id"], item["episodes"], item["steps"], item["format"], item["status"]) == (DOOR, 8, 99, "minari-hdf5", "ready")
    assert "0.5.3" in item["loadable_by"] and item["size"] == sum(map(len, tree(os.path.join(NEW, DOOR)).values()))
    shown = cli.run("show", "gcp://lab/" + DOOR, expect=0, **env).out
    assert "99" in shown and "Box(-inf, inf, (39,), float64)" in shown
    r = cli.run("download", "D4RL/door/human", "-r", "gcp://lab", expect=0, **env)
    assert "verified (CRC-32C of 2 files)" in r.out, r
    assert tree(cli.path(DOOR)) == tree(os.path.join(NEW, DOOR))
    assert "verified, 2 files agree" in cli.run("verify", DOOR, expect=0).out
    assert "compared with gcp://lab" in cli.run("verify", DOOR, "-r", "gcp://lab", expect=0, **env).out
    assert "minari-cli list gcp://lab --all" in cli.run("show", "D4RL/door/nothing-v1", "-r", "gcp://lab", expect=3, **env).err
    assert "not a hub" in cli.run("episodes", DOOR, "-r", "gcp://lab", **env).err


def test_a_bucket_of_04(cli, emulated):
    with emulated("old") as bucket:
        for id in sorted(os.listdir(OLD)):
            path = os.path.join(OLD, id, "data", "main_data.hdf5")
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    bucket.put(f"{id}/data/main_data.hdf5", f.read(), attributes(path))
        env = {"STORAGE_EMULATOR_HOST": bucket.url}
        items = {i["id"]: i for i in cli.run("list", "gcp://old", "--all", "--json", expect=0, **env).json()["items"]}
        id, item = next(iter(items.items()))
        want = attributes(os.path.join(OLD, id, "data", "main_data.hdf5"))
        assert str(item["episodes"]) == want["total_episodes"] and "0.5.3" not in item["loadable_by"] and "0.4.3" in item["loadable_by"]
        combined = [i for i in items if "combined_datasets" in attributes(os.path.join(OLD, i, "data", "main_data.hdf5"))]
        for one in combined:
            assert cli.run("show", "gcp://old/" + one, "--json", expect=0, **env).json()["combined"]
        cli.run("download", id, "-r", "gcp://old", expect=0, **env)
        assert tree(cli.path(id))["data/main_data.hdf5"][:4] == b"\x89HDF"


def test_pages_and_empty_ones(lab, cli):
    for i in range(7):
        small(lab, f"a/set-v{i}")
    lab.page, lab.empty = 3, 4
    env = {"STORAGE_EMULATOR_HOST": lab.url}
    ids = [i["id"] for i in cli.run("list", "gcp://lab", "--all", "--json", expect=0, **env).json()["items"]]
    assert ids == [f"a/set-v{i}" for i in range(7)]
    assert len(lab.seen("pageToken")) >= 4 * 5
    assert [i["id"] for i in cli.run("list", "gcp://lab", "--json", expect=0, **env).json()["items"]] == ["a/set-v6"]


def test_what_is_stored_compressed_comes_as_it_is_stored(lab, cli):
    small(lab)
    lab.put("a/b-v0/data/notes.txt", b"words " * 1000, compressed=True)
    lab.put("a/b-v0/data/joined.bin", b"y" * 5000, composite=True)
    cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0, STORAGE_EMULATOR_HOST=lab.url)
    assert tree(cli.path("a/b-v0"))["data/notes.txt"] == lab.objects["a/b-v0/data/notes.txt"][1]
    assert all("generation=" in r[1] for r in lab.seen("alt=media") if "metadata.json" not in r[1])
    assert os.stat(cli.path("a/b-v0/data/joined.bin")).st_mtime == 1709294400.123


def test_a_misspelt_id_is_told_what_is_near(lab, cli):
    small(lab)
    r = cli.run("download", "a/c-v0", "-r", "gcp://lab", expect=3, STORAGE_EMULATOR_HOST=lab.url)
    assert "no dataset 'a/c-v0' (nearest: a/b-v0)" in r.err and "minari-cli list gcp://lab --all" in r.err


def test_names_that_cannot_be_files(lab, cli):
    small(lab)
    for name in ("a/b-v0/", "a/b-v0/data/", "a/b-v0/x//y", "a/b-v0/../../evil", "a/b-v0/./z", "a/b-v0/both", "a/b-v0/both/below", "a/b-v0/" + "n" * 300):
        lab.put(name, b"1")
    r = cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0, STORAGE_EMULATOR_HOST=lab.url)
    assert "left out" in r.err and "'a/b-v0/x//y'" in r.err and "(7)" in r.err, r
    assert sorted(tree(cli.path("a/b-v0"))) == ["both/below", "data/main_data.hdf5", "data/metadata.json"]
    assert sorted(os.listdir(cli.root)) == [".minari-hub", "a"] and not os.path.exists(os.path.join(cli.root, "..", "evil"))


def test_a_prefix(lab, cli):
    lab.put("sets/v5/other.txt", b"1")
    small(lab)
    lab.objects = {"sets/v5/" + k: ({**v[0], "name": "sets/v5/" + k}, *v[1:]) for k, v in lab.objects.items()}
    env = {"STORAGE_EMULATOR_HOST": lab.url}
    assert [(i["id"], i["format"]) for i in cli.run("list", "gcp://lab/sets/v5", "--json", expect=0, **env).json()["items"]] == [("sets", "files"), ("a/b-v0", "minari-hdf5")]
    assert "sets " not in cli.run("list", "gcp://lab/sets/v5", expect=0, **env).out
    lab.put("sets/v5/a/README.md", b"1")
    assert "1 more: a/README.md" in cli.run("list", "gcp://lab/sets/v5", "-a", expect=0, **env).err
    cli.run("download", "a/b-v0", "-r", "gcp://lab/sets/v5", expect=0, **env)


def test_a_new_generation_in_the_middle_starts_over(lab, cli):
    small(lab)
    changed = []

    def fault(request, path):
        if "main_data" in path and not changed:
            changed.append(1)
            lab.put("a/b-v0/data/main_data.hdf5", b"z" * 2000)

    lab.fault = fault
    r = cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0, STORAGE_EMULATOR_HOST=lab.url)
    assert "starting over" in r.err and tree(cli.path("a/b-v0"))["data/main_data.hdf5"] == b"z" * 2000


def test_wrong_bytes_are_never_published(lab, cli):
    small(lab)
    item, _, _ = lab.objects["a/b-v0/data/main_data.hdf5"]
    lab.objects["a/b-v0/data/main_data.hdf5"] = (item, b"q" * 1000, b"")
    r = cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=5, STORAGE_EMULATOR_HOST=lab.url)
    assert "CRC-32C" in r.err and not os.path.exists(cli.path("a/b-v0"))


def test_md5_where_there_is_no_crc32c(lab, cli):
    env = {"STORAGE_EMULATOR_HOST": lab.url}
    small(lab)
    lab.put("a/b-v0/data/main_data.hdf5", b"x" * 1000, crc32c=None)
    lab.put("a/b-v0/data/joined.bin", b"y" * 1000, composite=True)
    assert "verified (" in cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0, **env).out
    assert "compared with gcp://lab" in cli.run("verify", "a/b-v0", "-r", "gcp://lab", expect=0, **env).out
    item, _, _ = lab.objects["a/b-v0/data/main_data.hdf5"]
    lab.objects["a/b-v0/data/main_data.hdf5"] = (item, b"q" * 1000, b"")
    r = cli.run("download", "a/b-v0", "-r", "gcp://lab", "--as", "it", expect=5, **env)
    assert "MD5" in r.err and not os.path.exists(cli.path("it"))
    lab.put("a/b-v0/data/main_data.hdf5", b"x" * 1000, composite=True, crc32c=None)
    r = cli.run("download", "a/b-v0", "-r", "gcp://lab", "--force", expect=0, **env)
    assert "size only of the rest" in r.out, r


def test_closed_empty_and_missing(lab, cli):
    env = {"STORAGE_EMULATOR_HOST": lab.url}
    r = cli.run("list", "gcp://lab", expect=3, **env)
    assert "there is nothing in 'gcp://lab'" in r.err and "hf://farama-minari" in r.err
    assert "there is no bucket 'nothing'" in cli.run("list", "gcp://nothing", expect=3, **env).err
    lab.token = "secret"
    r = cli.run("list", "gcp://lab", expect=7, **env)
    assert "closed to everybody without credentials" in r.err and "GOOGLE_APPLICATION_CREDENTIALS" in r.err
    assert "Anonymous caller" in r.err
    assert "closed to these credentials" in cli.run("list", "gcp://lab", "--token-file", "-", input="wrong\n", expect=7, **env).err
    small(lab)
    cli.run("list", "gcp://lab", "--token-file", "-", input="secret\n", expect=0, **env)
    assert cli.run("list", "gcp://lab", expect=4, STORAGE_EMULATOR_HOST="127.0.0.1:1").err.count("STORAGE_EMULATOR_HOST")


def test_a_hubs_token_is_for_hubs(lab, cli):
    small(lab)
    cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0, STORAGE_EMULATOR_HOST=lab.url, MINARI_HUB_TOKEN="of-the-hub")
    assert lab.tokens() == {None}


def verifier(public):
    """Whether an assertion is signed by that key: openssl knows."""
    def check(form):
        head, claims, signature = form["assertion"].split(".")
        pad = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        with open(public + ".sig", "wb") as f:
            f.write(pad(signature))
        with open(public + ".text", "w") as f:
            f.write(head + "." + claims)
        claims = json.loads(pad(claims))
        assert json.loads(pad(head))["alg"] == "RS256" and form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        assert claims["iss"] == "me@lab" and claims["exp"] - claims["iat"] == 3600 and "devstorage.read_only" in claims["scope"]
        return not subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature", public + ".sig", public + ".text"],
                                  stdout=subprocess.DEVNULL).returncode
    return check


def test_a_service_account(lab, cli, tmp_path):
    key, public = str(tmp_path / "key.pem"), str(tmp_path / "public.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    lab.check, lab.lifetime, lab.token = verifier(public), 3600, "none yet"
    account = {"type": "service_account", "client_email": "me@lab", "private_key_id": "k1", "private_key": open(key).read(), "token_uri": lab.url + "/token"}
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account))
    for i in range(40):
        small(lab, f"a/set-v{i}")
    env = {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}
    cli.run("download", "a/set-v3", "-r", "gcp://lab", "--endpoint", lab.url, expect=0, **env)
    assert lab.given == 1, "one token serves many requests"
    lab.lifetime = 1  # a token that is always about to run out is asked for again, and the old one is of no use then
    cli.run("download", "a/set-v4", "-r", "gcp://lab", "--endpoint", lab.url, expect=0, **env)
    r = cli.run("list", "gcp://lab", expect=7, STORAGE_EMULATOR_HOST=lab.url, **env)
    assert "GOOGLE_APPLICATION_CREDENTIALS is not sent to the host of STORAGE_EMULATOR_HOST: give its address with --endpoint" in r.err
    lab.token = None
    cli.run("list", "gcp://lab", expect=0, STORAGE_EMULATOR_HOST=lab.url, **env)  # an emulator gets none
    assert lab.requests[-1][2].get("Authorization") is None
    other = str(tmp_path / "other.pem")
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", other], check=True, stderr=subprocess.DEVNULL)
    path.write_text(json.dumps({**account, "private_key": open(other).read()}))
    r = cli.run("list", "gcp://lab", "--endpoint", lab.url, expect=7, **env)
    assert "refuses a token for 'me@lab'" in r.err and "unset GOOGLE_APPLICATION_CREDENTIALS" in r.err
    for text, words in [("{}", "type"), ("nonsense", "JSON file"), (json.dumps({**account, "private_key": "none"}), "RSA key")]:
        path.write_text(text)
        assert words in cli.run("list", "gcp://lab", "--endpoint", lab.url, expect=7, **env).err
    assert "PRIVATE" not in r.err


# ---- names and trees ----

def door(bucket, *versions):
    for v in versions:
        small(bucket, f"D4RL/door/human-v{v}")


def test_an_old_id(lab, cli):
    door(lab, 2)
    env = {"STORAGE_EMULATOR_HOST": lab.url, "MINARI_REMOTE": "gcp://lab"}
    r = cli.run("download", "door-human-v0", expect=3, **env)
    assert "there is no v0 of it: the newest is D4RL/door/human-v2" in r.err and "\n  minari-cli download D4RL/door/human-v2\n" in r.err, r
    assert not os.path.exists(cli.path("D4RL")) and not r.out
    for id in ("door-human-v1", "door-human", "door-human-v2"):
        assert "minari-cli download D4RL/door/human-v2\n" in cli.run("download", id, expect=3, **env).err
    assert "no v2" not in cli.run("download", "door-human-v2", expect=3, **env).err
    assert "--remote gcp://lab" in cli.run("show", "door-human-v0", "-r", "gcp://lab", expect=3, **env).err
    assert "D4RL" not in cli.run("download", "pen-human-v0", expect=3, **env).err
    door(lab, 0, 1)
    assert "minari-cli download D4RL/door/human-v0\n" in cli.run("download", "door-human-v0", expect=3, **env).err


def test_an_old_id_on_a_terminal(lab, cli):
    door(lab, 2)
    env = {"STORAGE_EMULATOR_HOST": lab.url, "MINARI_REMOTE": "gcp://lab"}
    code, seen = on_terminal(cli, "download", "door-human-v0", answer="n\n", **env)
    assert code == 3 and "Download D4RL/door/human-v2? [y/N]" in seen and not os.path.exists(cli.path("D4RL"))
    code, seen = on_terminal(cli, "download", "door-human-v0", answer="y\n", **env)
    assert code == 0 and os.path.exists(cli.path("D4RL/door/human-v2/data/metadata.json"))


def test_a_tree_that_is_not_minaris(lab, cli, tmp_path):
    for name in ("grasps/train/a.hdf5", "grasps/train/b.hdf5", "grasps/videos/a.mp4", "grasps/README.md"):
        lab.put(name, name.encode())
    env = {"STORAGE_EMULATOR_HOST": lab.url}
    item, = cli.run("list", "gcp://lab/grasps", "-a", "--json", expect=0, **env).json()["items"]
    assert (item["id"], item["format"], item["size"]) == ("grasps", "files", sum(map(len, lab.objects)))
    args = ("download", "-r", "gcp://lab/grasps", "--as", "lab/robomimic", "-o", str(tmp_path))
    cli.run(*args, expect=0, **env)
    assert sorted(tree(tmp_path / "lab" / "robomimic")) == ["README.md", "train/a.hdf5", "train/b.hdf5", "videos/a.mp4"]
    assert "skipped" in cli.run(*args, expect=0, **env).err
    r = cli.run(*args, "--force", "--include", "*.hdf5", "--include", "README*", "--exclude", "train/b*", expect=0, **env)
    assert sorted(tree(tmp_path / "lab" / "robomimic")) == ["README.md", "train/a.hdf5"] and "2 of 4 files" in r.err
    cli.run("verify", str(tmp_path / "lab" / "robomimic"), expect=0)
    assert "none of the 4 files" in cli.run(*args, "--force", "--include", "nothing", expect=2, **env).err
    assert sorted(tree(tmp_path / "lab" / "robomimic")) == ["README.md", "train/a.hdf5"]
    assert "--as names one" in cli.run(*args, "a", "b", expect=2, **env).err
    for bad in ("../up", "/tmp/x", "a//b", ".hidden"):
        cli.run("download", "-r", "gcp://lab/grasps", "--as", bad, "-o", str(tmp_path), expect=2, **env)


def test_a_folder_alone_is_of_the_format_that_the_list_names(lab, cli):
    """Also a dataset of Minari 0.4 whose object has no metadata, as other tools than Minari upload it."""
    small(lab)
    lab.put("old-v0/data/main_data.hdf5", b"y" * 1000)
    lab.put("arm/meta/info.json", b"{}")
    lab.put("arm/data/a.parquet", b"a")
    env = {"STORAGE_EMULATOR_HOST": lab.url}
    listed = {d["id"]: d["format"] for d in cli.run("list", "gcp://lab", "-a", "--json", expect=0, **env).json()["items"]}
    assert listed == {"a/b-v0": "minari-hdf5", "old-v0": "minari-hdf5", "arm": "lerobot"}
    for id, format in listed.items():
        assert cli.run("show", id, "-r", "gcp://lab", "--json", expect=0, **env).json()["format"] == format
    cli.run("download", "old-v0", "-r", "gcp://lab", expect=0, **env)
    assert tree(cli.path("old-v0")) == {"data/main_data.hdf5": b"y" * 1000}
    assert "in the format lerobot" in cli.run("download", "arm", "-r", "gcp://lab", expect=2, **env).err


def test_all_of_a_bucket_that_is_minaris(lab, cli, tmp_path):
    small(lab)
    cli.run("download", "-r", "gcp://lab", "--as", "mirror", "-o", str(tmp_path), expect=0, STORAGE_EMULATOR_HOST=lab.url)
    assert sorted(tree(tmp_path / "mirror")) == ["a/b-v0/data/main_data.hdf5", "a/b-v0/data/metadata.json"]


def test_many_after_a_question(lab, cli):
    door(lab, 1, 2)
    small(lab, "D4RL/door/expert-v2")
    env = {"STORAGE_EMULATOR_HOST": lab.url, "MINARI_REMOTE": "gcp://lab"}
    r = cli.run("download", "-p", "D4RL/door", input="n\n", expect=1, **env)
    assert "Download 2 datasets, 0.0 MB" in r.err and not os.path.exists(cli.path("D4RL"))
    cli.run("download", "D4RL/door/*", input="y\n", expect=0, **env)
    assert sorted(os.listdir(cli.path("D4RL/door"))) == ["expert-v2", "human-v2"]


def test_namespaces_come_along(lab, cli):
    door(lab, 2)
    lab.put("D4RL/namespace_metadata.json", b'{"description": "all"}')
    lab.put("D4RL/door/namespace_metadata.json", b'{"description": "doors"}')
    env = {"STORAGE_EMULATOR_HOST": lab.url, "MINARI_REMOTE": "gcp://lab"}
    os.makedirs(cli.path("D4RL"))
    with open(cli.path("D4RL/namespace_metadata.json"), "w") as f:
        f.write("{}")  # is there already
    cli.run("download", "D4RL/door/human-v2", expect=0, **env)
    with open(cli.path("D4RL/door/namespace_metadata.json")) as f:
        assert json.load(f) == {"description": "doors"}
    with open(cli.path("D4RL/namespace_metadata.json")) as f:
        assert f.read() == "{}"
    assert sorted(os.listdir(cli.path("D4RL/door"))) == ["human-v2", "namespace_metadata.json"]
