"""Mirror rules: a hub keeps copies of another one's datasets, whatever happens meanwhile."""
import datetime
import glob
import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, until
from mirrors import again, expect_copy, here, is_whole, mirror, place, replace, revisions, rule, tree, upstream, wait_synced  # noqa: F401

ROUNDS = int(os.environ.get("HUB_KILL_ROUNDS", "25"))


def test_a_rule_made_before_the_hub_runs(place):
    with upstream(place) as up:
        said = mirror(place, "add", up.base, "--name", "lab", "--every", "1h", "--json").stdout
        assert json.loads(said)["name"] == "lab"
        assert [r["name"] for r in json.loads(mirror(place, "list", "--json").stdout)] == ["lab"]
        mirror(place, "add", up.base, "--name", "lab", code=1)  # there is one
        with here(place) as hub:
            hub.wait_ready()
            done = wait_synced(hub, "lab")
            assert done["failures"] == 0 and done["transfers"] == done["datasets"] > 20
            expect_copy(place)
            hub.wait_indexed()
            until(lambda: revisions(hub) == revisions(up))
            jobs = hub.get("/api/v1/jobs?kind=transfer&limit=1000").json()["items"]
            assert len(jobs) == done["datasets"] and {j["state"] for j in jobs} == {"done"}
            assert hub.get("/api/v1/jobs/" + jobs[0]["id"]).json() == jobs[0]
            assert all(re.fullmatch("[a-z2-7]{12}", j["id"]) for j in jobs) and hub.get("/api/v1/jobs/1").status == 404
            assert hub.get("/api/v1/mirrors").json()["total"] == 1
            assert hub.get("/api/v1/mirrors/other").status == 404
            assert "/" not in hub.get("/api/v1/mirrors/lab").json().get("root", "")
            assert hub.get("/api/v1/mirrors/lab?do=run", method="POST").status in (404, 405)  # for its admin alone
            assert again(place, hub, "lab") == (0, 0)


def test_rules_are_made_and_changed_while_it_runs(place):
    with upstream(place) as up, here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", up.base, "--prefix", "D4RL/", "--as", "copy/", "--include", "*.json")
        done = wait_synced(hub, "copy")
        assert done["prefix"] == "D4RL/" and done["datasets"] == 3
        files = tree(os.path.join(place, "here"))
        assert files and all(p.startswith("copy/D4RL/") and p.endswith(".json") for p in files)
        mirror(place, "pause", "copy")
        assert rule(place, "copy")["state"] == "paused"
        mirror(place, "resume", "copy")
        assert rule(place, "copy")["state"] == "idle"
        mirror(place, "remove", "copy")
        assert tree(os.path.join(place, "here")) == files
        mirror(place, "remove", "copy", code=3)
        mirror(place, "add", up.base, "--prefix", "D4RL/", "--as", "copy/")  # other files are wanted now
        until(lambda: wait_synced(hub, "copy")["waiting"] == 0 and any(not p.endswith(".json") for p in tree(os.path.join(place, "here"))))


def test_what_a_collector_left_behind_is_not_copied(place):
    shutil.copytree(os.path.join(place, "up/D4RL/door/human-v2/data"), os.path.join(place, "up/D4RL/tmpab_0cd12"))
    with upstream(place, "--settle", "0") as up, here(place) as hub:
        hub.wait_ready()
        assert up.statuses()["D4RL/tmpab_0cd12"] == "broken"
        mirror(place, "add", up.base, "--prefix", "D4RL/", "--name", "lab")
        assert wait_synced(hub, "lab")["failures"] == 0
        assert sorted({p.split("/data/")[0] for p in tree(os.path.join(place, "here")) if "/data/" in p}) == ["D4RL/door/human-v10", "D4RL/door/human-v2", "D4RL/door/human-v2-extra-v0"]


def instant(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def test_all_that_works_for_a_rule_shares_its_limit(place):
    """Two transfers at once are not twice as fast, and one alone is not half as fast."""
    for name, parts in (("one", 1), ("both", 2)):
        for part in range(parts):
            folder = os.path.join(place, "up", name, f"set{part}")
            os.makedirs(folder)
            with open(os.path.join(folder, "data.bin"), "wb") as f:
                f.write(os.urandom(3_000_000 // parts))
    with upstream(place) as up, here(place) as hub:
        hub.wait_ready()
        for name in ("one", "both"):
            began = time.monotonic()
            mirror(place, "add", up.base, "--prefix", name, "--name", name, "--limit", "1500K")
            until(lambda: wait_synced(hub, name)["waiting"] == 0, 60)
            assert time.monotonic() - began > 1.5, name
            times = [(instant(j["started"]), instant(j["finished"])) for j in hub.get("/api/v1/jobs?kind=transfer").json()["items"] if j.get("rule") == name]
            assert max(end for _, end in times) - min(begin for begin, _ in times) < 8, (name, times)
        for wrong in (["ftp://x"], ["http://user:secret@x"], [up.base, "--root", "nowhere"], [up.base, "--as", "../x"], [up.base, "--every", "1s"],
                      [up.base, "--limit", "many"], [up.base, "--token-file", "/nowhere"]):
            run = mirror(place, "add", *wrong, code=2)
            assert "secret" not in run.stdout + run.stderr


def test_rules_of_the_configuration_file(place):
    file = os.path.join(place, "hub.conf")
    with upstream(place) as up:
        with open(file, "w") as f:
            f.write(f"sweep = 1m\n\n[mirror lab]\nremote = {up.base}\nprefix = dummy-\nevery = 1h\nexclude = *.txt\n")
        with here(place, "--config", file) as hub:
            hub.wait_ready()
            done = wait_synced(hub, "lab")
            assert done["from"] == "file" and done["every"] == 3600 and done["exclude"] == ["*.txt"]
            mirror(place, "remove", "lab", code=7)  # where it is written
        with here(place) as hub:
            hub.wait_ready()
            assert hub.get("/api/v1/mirrors").json()["items"] == []
        with open(file, "a") as f:
            f.write("colour = red\n")
        with here(place, "--config", file) as hub:
            assert hub.process.wait(30) and "[mirror lab]: mirror rules have no setting" in hub.text_log()
            hub.process.returncode = 0


def test_a_change_is_all_that_is_fetched(place):
    changed = os.path.join(place, "up", "D4RL", "door", "human-v2", "data", "metadata.json")
    inode = lambda name: os.stat(os.path.join(place, "here", "D4RL", "door", "human-v2", "data", name)).st_ino
    with upstream(place) as up, here(place, "--sweep", "1s") as hub:
        hub.wait_ready()
        mirror(place, "add", up.base, "--name", "lab")
        wait_synced(hub, "lab")
        big, small = inode("main_data.hdf5"), inode("metadata.json")
        with open(changed, "rb") as f:
            data = json.loads(f.read())
        data["author"] = ["somebody else"]
        replace(changed, json.dumps(data).encode())
        before = up.dataset("D4RL/door/human-v2")["revision"]
        until(lambda: up.dataset("D4RL/door/human-v2")["revision"] != before)
        assert again(place, hub, "lab") == (os.path.getsize(changed), 1)
        assert inode("main_data.hdf5") == big and inode("metadata.json") != small
        expect_copy(place)
        origin = hub.dataset("D4RL/door/human-v2")["origin"]
        assert origin["remote"] == up.base and origin["rule"] == "lab" and origin["change"]["from"] == before
        assert [origin["change"][k] for k in ("added", "replaced", "removed")] == [0, 1, 0]
        assert f'minari_hub_mirror_bytes_total{{rule="lab"}} {rule(place, "lab")["bytes"]}' in hub.get("/metrics").body.decode()
        until(lambda: hub.dataset("D4RL/door/human-v2")["revision"] == up.dataset("D4RL/door/human-v2")["revision"])


def test_deletions(place):
    gone, kept = os.path.join(place, "up", "D4RL"), os.path.join(place, "here", "keep", "D4RL")
    with upstream(place) as up, here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", up.base, "--as", "keep/")
        mirror(place, "add", up.base, "--as", "follow/", "--delete")
        wait_synced(hub, "keep")
        wait_synced(hub, "follow")
        shutil.rmtree(gone)
        until(lambda: not any(d["id"].startswith("D4RL/") for d in up.datasets()))
        mirror(place, "add", up.base, "--as", "other/", "--prefix", "dummy-multi")
        wait_synced(hub, "other")
        again(place, hub, "follow")
        again(place, hub, "keep")
        assert os.path.isdir(kept)
        assert not os.path.exists(os.path.join(place, "here", "follow", "D4RL"))
        assert os.path.isdir(os.path.join(place, "here", "follow", "dummy-multi"))


def test_a_root_that_is_not_mounted_is_not_filled(place):
    """Its mount point is an empty folder: in the running hub, at a start, and until the admin says that all is gone."""
    root, away = os.path.join(place, "here"), os.path.join(place, "away")

    def swap(off, on):
        os.rename(root, off)
        os.rename(on, root)

    def expect_missing(hub, ids):
        until(lambda: "root-missing" in rule(place, "lab").get("error", ""))
        until(lambda: "root-missing" in hub.get("/api/v1/problems").body.decode())
        assert os.listdir(root) == [] and {d["id"] for d in hub.datasets()} == ids
        assert "root-missing: root 1" in hub.get("/readyz").body.decode()
        assert "minari_hub_roots_missing 1" in hub.get("/metrics").body.decode()

    with upstream(place) as up:
        os.mkdir(away)
        with here(place, "--sweep", "1s") as hub:
            hub.wait_ready()
            mirror(place, "add", up.base, "--name", "lab", "--prefix", "D")
            before = wait_synced(hub, "lab")
            hub.wait_indexed()
            until(lambda: len(hub.datasets()) == before["datasets"])  # a folder may be seen before the first dataset in it
            ids = {d["id"] for d in hub.datasets()}
            assert len(ids) == before["datasets"] > 1
            until(lambda: hub.get("/api/v1/status").json()["inspection"]["idle"])
            swap(os.path.join(place, "full"), away)
            mirror(place, "run", "lab")
            expect_missing(hub, ids)
        load = [os.path.join(BIN, "minari-hub"), "import", "/dev/null", "--state", os.path.join(place, "state")]
        run = subprocess.run([*load, "--root", root], capture_output=True, text=True)
        assert run.returncode == 1 and f"had {before['datasets']} datasets and is empty" in run.stderr and os.listdir(root) == [], run.stderr
        with here(place) as hub:
            hub.wait_ready()
            mirror(place, "run", "lab")
            expect_missing(hub, ids)
            run = subprocess.run(load, capture_output=True, text=True)
            assert run.returncode == 1 and "is not mounted" in run.stderr and os.listdir(root) == [], run.stderr
            swap(away, os.path.join(place, "full"))
            mirror(place, "run", "lab")
            assert wait_synced(hub, "lab", before["synced"])["transfers"] == before["transfers"]
            mirror(place, "pause", "lab")
            shutil.rmtree(root)
            os.mkdir(root)
            scan = [os.path.join(BIN, "minari-hub"), "scan", "--state", os.path.join(place, "state"), "--root", root]
            subprocess.run(scan, check=True, capture_output=True)
            assert {d["id"] for d in hub.datasets()} == ids
            scan.append("--forget")
            assert subprocess.run([*scan, "nowhere"], capture_output=True).returncode
            assert "missing" in json.dumps(hub.get("/api/v1/status").json()["roots"])
            mirror(place, "run", "lab", "--anew")
            assert wait_synced(hub, "lab", before["synced"])
            until(lambda: hub.get("/api/v1/mirrors/lab").json()["transfers"] == 2 * before["transfers"])
            until(lambda: "root-missing" not in hub.get("/api/v1/problems").body.decode())
            mirror(place, "pause", "lab")
            shutil.rmtree(root)
            os.mkdir(root)
            subprocess.run([*scan, root], check=True, capture_output=True)
            assert hub.datasets() == []


def test_what_is_not_a_copy_is_not_replaced(place):
    mine = os.path.join(place, "here", "D4RL", "door", "human-v2", "data")
    os.makedirs(mine)
    with open(os.path.join(mine, "notes.txt"), "w") as f:
        f.write("mine")
    shutil.rmtree(os.path.join(place, "up", "D4RL", "door", "human-v2-extra-v0"))  # its prefix is the same
    with upstream(place) as up, here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", up.base, "--name", "lab", "--prefix", "D4RL/door/human-v2")
        until(lambda: hub.get("/api/v1/mirrors/lab").json()["failures"])
        said = rule(place, "lab")
        assert said["state"] == "failing" and "already exists" in said["error"] and "--as NAME/" in said["error"] and said["bytes"] == 0
        assert os.listdir(mine) == ["notes.txt"]
        assert hub.get("/api/v1/mirrors/lab").json()["error"] == "exists"  # no text that might name a path


def test_what_a_new_rule_takes_is_asked(place):
    """On a terminal it says how much that is; without one nobody is asked, and no rule is made."""
    def add(answer, *args):
        ours, theirs = pty.openpty()
        run = subprocess.Popen([os.path.join(BIN, "minari-hub"), "mirror", "add", *args, "--state", os.path.join(place, "state"), "--root", os.path.join(place, "here")],
                               stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL, env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null"})
        os.close(theirs)
        seen = b""
        while b"[y/N]" not in seen:
            seen += os.read(ours, 4096)
        os.write(ours, answer)
        code = run.wait(60)
        os.close(ours)
        return code, seen.decode()

    with upstream(place) as up:
        total = len(up.datasets())
        code, seen = add(b"n\n", up.base, "--name", "lab")
        assert code and f"has {total} datasets," in seen and "Mirror everything?" in seen, seen
        assert json.loads(mirror(place, "list", "--json").stdout) == []
        code, seen = add(b"y\n", up.base, "--name", "lab", "--prefix", "D4RL/")
        assert code == 0 and "has 3 datasets," in seen, seen
        assert [r["name"] for r in json.loads(mirror(place, "list", "--json").stdout)] == ["lab"]
        run = subprocess.run([os.path.join(BIN, "minari-hub"), "mirror", "add", up.base, "--name", "other", "--state", os.path.join(place, "state")],
                             capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null"})
        assert run.returncode == 2 and f"has {total} datasets," in run.stderr and "--yes" in run.stderr, run.stderr
        assert add(b"n\n", "http://127.0.0.1:9")[1].count("cannot be listed now") == 1


def test_one_name_is_for_one_dataset(place):
    """That is refused where the rule is made, and not by its first pass."""
    with upstream(place) as up:
        for only in [], ["--only", "minari"]:
            run = mirror(place, "add", up.base, "--as", "door", "--prefix", "D4RL/door/", *only, code=2)
            assert "has 3 datasets" in run.stderr and "--as door/" in run.stderr, run.stderr
        assert json.loads(mirror(place, "list", "--json").stdout) == []
        mirror(place, "add", up.base, "--as", "door", "--prefix", "D4RL/door/human-v10")
        mirror(place, "add", up.base, "--as", "doors/", "--prefix", "D4RL/door/")
    mirror(place, "add", up.base, "--as", "later", "--prefix", "D4RL/door/")  # it does not answer now


def test_two_rules_over_one_place(place):
    with upstream(place) as up, here(place) as hub:
        hub.wait_ready()
        assert "note:" not in mirror(place, "add", up.base, "--name", "first", "--prefix", "dummy-multi").stderr
        wait_synced(hub, "first")
        before = tree(os.path.join(place, "here"))
        assert "'first'" in mirror(place, "add", up.base, "--name", "second", "--prefix", "dummy-multi", "--include", "*.json").stderr
        until(lambda: hub.get("/api/v1/mirrors/second").json()["failures"])
        assert "copy of the rule 'first'" in rule(place, "second")["error"] and tree(os.path.join(place, "here")) == before
        mirror(place, "remove", "first")
        mirror(place, "run", "second")
        wait_synced(hub, "second")
        assert all(p.endswith(".json") for p in tree(os.path.join(place, "here")))


def test_a_token_is_never_kept_or_told(place):
    token, secret = os.path.join(place, "token"), "hub_" + random.SystemRandom().randbytes(24).hex()
    with open(token, "w") as f:
        f.write(secret + "\n")
    with upstream(place) as up, here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", up.base, "--name", "lab", "--token-file", token, "--prefix", "dummy-multi")
        wait_synced(hub, "lab")
        assert rule(place, "lab")["token_file"] == token
        public = hub.get("/api/v1/mirrors/lab").body
        assert token.encode() not in public
        said = mirror(place, "list").stdout + mirror(place, "show", "lab").stdout + hub.text_log()
        assert secret not in said
    for name in glob.glob(os.path.join(place, "state", "*")):
        if os.path.isfile(name):
            with open(name, "rb") as f:
                assert secret.encode() not in f.read(), name


def test_what_takes_a_token_is_not_open_unnoticed(place):
    """Where no access rule is about it, both the making of its rule and each start say so, with the command that helps."""
    token, state = os.path.join(place, "token"), os.path.join(place, "state")
    with open(token, "w") as f:
        f.write("secret\n")
    with upstream(place) as up:
        made = mirror(place, "add", up.base, "--name", "lab", "--as", "lab/", "--prefix", "dummy-multi", "--token-file", token)
        assert "`minari-hub access set '*' none lab/` hides it" in made.stderr
        with here(place) as hub:
            hub.wait_ready()
            until(lambda: "rule lab: it takes a token" in hub.text_log())
            made = mirror(place, "add", up.base, "--name", "more", "--as", "more/", "--prefix", "dummy-multi", "--token-file", token, "--json")
            assert "`minari-hub access set '*' none more/` hides it" in json.loads(made.stdout)["note"]
            assert "takes a token" not in mirror(place, "add", up.base, "--name", "plain", "--as", "plain/", "--prefix", "dummy-multi").stderr
        for name in ("lab/", "more/"):
            subprocess.run([os.path.join(BIN, "minari-hub"), "access", "set", "*", "none", name, "--state", state], check=True, capture_output=True)
        with open(os.path.join(state, "test.log")) as log:
            before = log.read().count("it takes a token")
        with here(place) as hub:
            hub.wait_ready()
            made = mirror(place, "add", up.base, "--name", "below", "--as", "lab/below/", "--prefix", "dummy-multi", "--token-file", token)
            assert "takes a token" not in made.stderr and hub.text_log().count("it takes a token") == before


def test_a_second_hub_on_the_same_state_is_refused(place):
    with here(place) as hub:
        hub.wait_ready()
        second = subprocess.run([os.path.join(BIN, "minari-hub"), "serve", "--root", os.path.join(place, "here"), "--listen", "127.0.0.1:0", "--state",
                                 os.path.join(place, "state")], capture_output=True, text=True, timeout=60)
        assert second.returncode and "another minari-hub" in second.stderr


def test_the_hub_is_killed(place):
    rng = random.Random(9)
    root, state = os.path.join(place, "here"), os.path.join(place, "state")
    with upstream(place) as up:
        mirror(place, "add", up.base, "--name", "lab", "--limit", "1M")
        for round in range(ROUNDS):
            hub = here(place)
            time.sleep(rng.uniform(0.03, 0.5))  # whatever it is at by then
            hub.process.send_signal(signal.SIGKILL)
            hub.process.wait()
            hub.log.close()
            is_whole(root)
            visible = {os.path.dirname(p) for p in tree(root)}
            assert all(len(os.listdir(os.path.join(root, d))) for d in visible)
        with here(place) as hub:
            hub.wait_ready()
            done = wait_synced(hub, "lab")
            assert done["failures"] == 0
        expect_copy(place)
        with sqlite3.connect(os.path.join(state, "hub.db")) as db:
            assert db.execute("PRAGMA quick_check").fetchone()[0] == "ok"
            assert db.execute("SELECT count(*) FROM jobs WHERE state IN ('waiting', 'running')").fetchone()[0] == 0
            assert db.execute("SELECT count(*) FROM origins").fetchone()[0] == done["datasets"]
        assert os.listdir(os.path.join(root, ".minari-hub", "incoming")) == []


def test_the_list_goes_both_ways(place):
    for name in "abc":
        mirror(place, "add", "http://127.0.0.1:9", "--name", name)
    with here(place) as hub:
        hub.wait_ready()
        pages, url = [], "/api/v1/mirrors?limit=1"
        while url:
            pages.append(hub.get(url.replace(hub.base, "")).json())
            url = pages[-1]["next"]
        assert [[r["name"] for r in p["items"]] for p in pages] == [["a"], ["b"], ["c"]] and {p["total"] for p in pages} == {3}
        back = hub.get(pages[2]["prev"].replace(hub.base, "")).json()
        assert (back["items"][0]["name"], back["next"] is not None) == ("b", True) and hub.get(back["prev"].replace(hub.base, "")).json()["prev"] is None
