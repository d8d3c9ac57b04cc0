"""Copies whose program ends, or whose disk fails, at one moment: at each sync, rename, link, removal and commit. What can be seen is
whole, and the next start finishes it. tests/support/shim.c does it; HUB_CRASH_POINTS says how many moments a test tries, 0 all."""
import contextlib
import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from urllib.parse import unquote

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from cli import Cli
from hub import BIN, Hub, small_disk, until
from mirrors import again, here, is_whole, mirror, place, rule, tree, wait_synced  # noqa: F401
from shim import NAMES, Shim, some
from upstream_gcs import Gcs

DOOR = "D4RL/door/human-v2"
POINTS = int(os.environ.get("HUB_CRASH_POINTS", "8"))
rng = random.Random(17)
PLAIN = {"data/main_data.hdf5": rng.randbytes(70_000), "data/metadata.json": b"{}"}
CHANGED = {**PLAIN, "data/metadata.json": b'{"author": "somebody else"}'}
MANY = {"data/metadata.json": b"{}", **{f"data/part/{i}.bin": rng.randbytes(100) for i in range(70)}}


def put(bucket, id, files, **more):
    for name in [n for n in bucket.objects if n.startswith(id + "/")]:
        del bucket.objects[name]
    for name, data in files.items():
        bucket.put(f"{id}/{name}", data, **more)


def leftovers(root):
    """Of transfers, once nothing is under way."""
    private = os.path.join(root, ".minari-hub")
    return [f for name in ("incoming", "trash", "replace") if os.path.isdir(os.path.join(private, name)) for f in os.listdir(os.path.join(private, name))]


def below(root, id):
    return tree(os.path.join(root, id)) if os.path.exists(os.path.join(root, id)) else None


@pytest.fixture
def bucket():
    with Gcs() as bucket:
        yield bucket


# ---- one download ----

@pytest.mark.parametrize("files, old", [(PLAIN, None), (CHANGED, PLAIN), (MANY, None)], ids=["new", "replaced", "many"])
def test_a_download_is_ended(tmp_path, bucket, files, old):
    cli = Cli(tmp_path / "sets", STORAGE_EMULATOR_HOST=bucket.url)
    shim = Shim(str(tmp_path), "minari-cli")

    def prepare():
        shutil.rmtree(cli.root, ignore_errors=True)
        if old:
            put(bucket, "a/b-v0", old)
            cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0)
        put(bucket, "a/b-v0", files)

    def download(*prefix):
        return cli.run("download", "a/b-v0", "-r", "gcp://lab", "--force", prefix=prefix).code

    prepare()
    shim.at(0)
    assert download(*shim.prefix) == 0 and below(cli.root, "a/b-v0") == files
    assert not shim.unsynced
    print(shim.count, shim.seen)
    for moment in some(shim.count, POINTS):
        prepare()
        shim.at(moment)
        assert download(*shim.prefix) == -signal.SIGKILL, moment
        assert below(cli.root, "a/b-v0") in (files, old), moment
        assert download() == 0 and below(cli.root, "a/b-v0") == files, moment
        assert not [name for _, _, names in os.walk(cli.path("a/b-v0")) for name in names if name.endswith(".tmp")], moment
        cli.run("download", "a/b-v0", "-r", "gcp://lab", expect=0)  # what was replaced goes with the next
        assert leftovers(cli.root) == [], moment


@pytest.mark.parametrize("kinds, error, sticky", [(NAMES, errno.EIO, False), ("W", errno.ENOSPC, True), ("FSRLT", errno.EIO, True)], ids=["once", "full", "for good"])
def test_a_download_fails(tmp_path, bucket, kinds, error, sticky):
    """What could not be written, synced or named is no success; afterwards it goes on."""
    cli = Cli(tmp_path / "sets", STORAGE_EMULATOR_HOST=bucket.url)
    shim = Shim(str(tmp_path), "minari-cli", kinds)
    download = lambda **more: cli.run("download", "a/b-v0", "-r", "gcp://lab", "--force", **more)
    put(bucket, "a/b-v0", CHANGED)
    download(prefix=shim.at(0).prefix, expect=0)
    for moment in some(shim.count, POINTS):
        shutil.rmtree(cli.root)
        put(bucket, "a/b-v0", PLAIN)
        download(expect=0)
        put(bucket, "a/b-v0", CHANGED)
        r = download(prefix=shim.at(moment, error, sticky).prefix)
        kind = shim.seen[moment - 1:moment]
        assert r.code >= 0 and below(cli.root, "a/b-v0") in (PLAIN, CHANGED), (moment, r)
        if r.code == 0:
            assert kind not in "FSW" and below(cli.root, "a/b-v0") == CHANGED, (moment, kind, r)
        else:
            assert os.strerror(error) in r.err, (moment, kind, r)
        if error == errno.ENOSPC:
            assert r.code == 6, (moment, r)
        download(expect=0)
        assert below(cli.root, "a/b-v0") == CHANGED


# ---- a pass of a rule, in the server ----

@pytest.fixture
def mirrored(place, bucket, monkeypatch):
    """A copy of a bucket, which has changed since: one is new, one another, one gone; its folders are copied for each try."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
    shutil.rmtree(os.path.join(place, "up"))
    for id in ("changed/set-v0", "gone/set-v0", "same/set-v0"):
        put(bucket, id, PLAIN)
    with here(place) as hub:
        hub.wait_ready()
        mirror(place, "add", "gcp://lab", "--name", "lab", "--delete", "--every", "10s")
        before = wait_synced(hub, "lab")["synced"]
    put(bucket, "gone/set-v0", {})
    put(bucket, "changed/set-v0", CHANGED)
    put(bucket, "many-v0", MANY)
    for name in ("here", "state"):
        os.rename(os.path.join(place, name), os.path.join(place, name + "-0"))
    with sqlite3.connect(os.path.join(place, "state-0", "hub.db")) as db:
        db.execute("UPDATE rules SET due = 0")
    return place, before


WANTED = {"changed/set-v0": CHANGED, "same/set-v0": PLAIN, "many-v0": MANY, "gone/set-v0": None}


def fresh(place):
    for name in ("here", "state"):
        shutil.rmtree(os.path.join(place, name), ignore_errors=True)
        shutil.copytree(os.path.join(place, name + "-0"), os.path.join(place, name), ignore=shutil.ignore_patterns("test.log"))


def is_half(root):
    """Datasets that are neither as they were nor as they will be."""
    was = {"changed/set-v0": PLAIN, "gone/set-v0": PLAIN, "same/set-v0": PLAIN, "many-v0": None}
    return [id for id in WANTED if below(root, id) not in (was[id], WANTED[id])]


def through(place, prefix=()):
    """A hub from here, at work until all is as wanted; None: it died before."""
    root, incoming = os.path.join(place, "here"), os.path.join(place, "here", ".minari-hub", "incoming")
    hub = Hub([root], state=os.path.join(place, "state"), prefix=prefix)
    done = lambda: all(below(root, id) == files for id, files in WANTED.items()) and not os.listdir(incoming)
    until(lambda: hub.process.poll() is not None or done())
    if hub.process.poll() is None:
        return hub
    hub.log.close()


def end(hub):
    if hub:
        hub.process.kill()
        hub.process.wait()
        hub.log.close()


def test_a_pass_is_ended(mirrored, bucket):
    place, before = mirrored
    root = os.path.join(place, "here")
    shim = Shim(place, "minari-hub")
    fresh(place)
    with through(place, shim.at(0).prefix) as hub:
        hub.wait_ready()
        wait_synced(hub, "lab", before)
    assert not shim.unsynced
    for moment in some(shim.count, POINTS):
        fresh(place)
        end(through(place, shim.at(moment).prefix))
        assert not is_half(root), (moment, is_half(root))
        is_whole(root)
        there = [id for id in ("changed/set-v0", "many-v0") if below(root, id) == WANTED[id]]
        bucket.requests.clear()
        with through(place) as hub:
            hub.wait_ready()
            wait_synced(hub, "lab", before)
            assert not [path for _, path, _ in bucket.requests if any(id in unquote(path) for id in there) and "alt=media" in path], moment
            assert again(place, hub, "lab") == (0, 0), moment  # removes what was replaced before
            until(lambda: leftovers(root) == [])
        assert not is_half(root), moment
        with sqlite3.connect(os.path.join(place, "state", "hub.db")) as db:
            assert db.execute("PRAGMA quick_check").fetchone()[0] == "ok"
            assert {r[0] for r in db.execute("SELECT path FROM origins")} == {id for id in WANTED if WANTED[id]}
            assert db.execute("SELECT count(*) FROM jobs WHERE state IN ('waiting', 'running')").fetchone()[0] == 0


def test_a_small_dataset_waits_for_the_disk_a_few_times(place, bucket, monkeypatch):
    """Once for each file and folder of it and its record, for the folder above it, and for hub.db: on a busy disk nothing else takes so long."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
    shim, sets = Shim(place, "minari-hub", "FS"), 40
    for i in range(sets):
        put(bucket, f"a/set{i}-v0", PLAIN)
    with Hub([os.path.join(place, "here")], state=os.path.join(place, "state"), prefix=shim.prefix) as hub:
        hub.wait_ready()
        shim.at(0)
        mirror(place, "add", "gcp://lab", "--name", "lab")
        assert wait_synced(hub, "lab")["transfers"] == sets
        assert shim.count < 10 * sets and not shim.unsynced
    assert tree(os.path.join(place, "here")) == {f"a/set{i}-v0/{name}": data for i in range(sets) for name, data in PLAIN.items()}


# ---- clocks ----

def test_the_clock_jumps(place, bucket, monkeypatch):
    """Within a pass, and within a transfer: nothing is taken for gone or for late, and the next pass comes."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
    shim = Shim(place, "minari-hub")
    now, sets = [0], {f"a/set-v{i}": PLAIN for i in range(4)}
    for id, files in sets.items():
        put(bucket, id, files)

    def jump(part, seconds):
        def fault(request, path):
            if part in path:
                now[0] += seconds
                shim.clock(now[0])
                time.sleep(1.2)  # longer than it takes to say that the lease is kept
                bucket.fault = None
        return fault

    with Hub([os.path.join(place, "here")], state=os.path.join(place, "state"), prefix=shim.prefix) as hub:
        hub.wait_ready()
        mirror(place, "add", "gcp://lab", "--name", "lab", "--delete", "--every", "10s")
        wait_synced(hub, "lab")
        jumps = [("/o?", -3600), ("alt=media", 366 * 86400), (None, -366 * 86400)]
        for i, (part, seconds) in enumerate(jumps if POINTS else [*jumps, ("alt=media", 366 * 86400), ("/o?", -366 * 86400)]):
            before = rule(place, "lab")
            put(bucket, "a/set-v0", {**PLAIN, "data/more.txt": str(i).encode()})
            if part:
                bucket.fault = jump(part, seconds)
                mirror(place, "run", "lab")
            else:  # by itself, though its time is a year ahead
                now[0] += seconds
                shim.clock(now[0])
            until(lambda: (r := rule(place, "lab"))["transfers"] > before["transfers"] and r["state"] == "idle")
            said = rule(place, "lab")
            assert said["failures"] == 0 and said["transfers"] == before["transfers"] + 1 and said["lag"] >= 0
            assert all(below(os.path.join(place, "here"), id) for id in sets)
            assert below(os.path.join(place, "here"), "a/set-v0")["data/more.txt"] == str(i).encode()
            assert hub.get("/api/v1/status").status == hub.get("/metrics").status == 200
        assert {j["attempts"] for j in hub.get("/api/v1/jobs?kind=transfer&limit=1000").json()["items"]} == {1}


# ---- hub.db of earlier releases ----

MIGRATIONS = os.path.join(os.path.dirname(__file__), "..", "..", "migrations")


# A row of each table but digests: the schema that has it first, its columns, their values
ROWS = {
    "rules": (4, "name, source, paused, spec, made, due", ("lab", "command", 1, '{"remote":"http://hub.example","root":"main"}', 1, 2)),
    "jobs": (4, "kind, target, rule, payload, state, priority, run_at", ("sync", "lab", "lab", "{}", "done", 0, 3)),
    "origins": (4, "root, path, rule, remote, remote_id, revision, synced, seen", ("main", "a/b-v0", "lab", "http://hub.example", "a/b-v0", "0" * 40, 4, 5)),
    "origin_files": (4, "root, dataset, path, size, modified, generation, etag, sha256, other, sum", ("main", "a/b-v0", "data/x", 6, 7, 8, "e", b"\1" * 32, 0, b"")),
    "damaged": (5, "root, path, dataset, size, mtime_ns, tag, found, why", ("main", "a/b-v0/data/x", "a/b-v0", 6, 7, 8, 9, "bytes")),
    "tokens": (12, "id, name, sha256, networks, made, expires, used, rotated", ("abcdefghij", "ann", b"\2" * 32, "", 1, 0, 0, 0)),
    "access_rules": (12, "who, prefix, level, made", ("token:ann", "lab/", "write", 1)),
    "audit": (12, "at, who, action, object, detail, revision", (1, "admin", "token-add", "ann", "{}", "")),
    "secrets": (13, "name, value", ("links", b"\3" * 32)),
    "drafts": (15, "id, dataset, root, path, who, state, made, touched, commit_id", ("a" * 16, "lab/x-v0", "main", "lab/x-v0", "token:ann", "published", 1, 2, "c" * 40)),
    "draft_files": (15, "draft, path, size, sha256", ("a" * 16, "data/x", 6, b"\4" * 32)),
    "commits": (15, "id, dataset, tree, parent, who, at, message", ("c" * 40, "lab/x-v0", "d" * 64, "", "token:ann", 1, "first")),
}


def put_rows(db, version):
    for table, (since, columns, values) in ROWS.items():
        if version >= since:
            db.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(values))})", values)


def rows_of(db, version):
    """What is there of them; migrations may add to the specification of a rule."""
    found = {table: db.execute(f"SELECT {columns} FROM {table}").fetchall() for table, (since, columns, _) in ROWS.items() if version >= since}
    if "rules" in found:
        found["rules"] = [tuple(json.dumps({k: v for k, v in json.loads(x).items() if k != "only"}, separators=(",", ":")) if str(x).startswith("{") else x for x in row)
                          for row in found["rules"]]
    return found


def columns_of(db):
    return sorted(db.execute("SELECT s.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS c WHERE s.type = 'table'"))


def newest_columns():
    with sqlite3.connect(":memory:") as db:
        for name in sorted(os.listdir(MIGRATIONS)):
            with open(os.path.join(MIGRATIONS, name)) as f:
                db.executescript(f.read())
        return columns_of(db)


def old_hub_db(path, version, root):
    """As a release of that schema left it: with a row of each table, and a digest, which is none, of each file."""
    digests = []
    with sqlite3.connect(path) as db:
        for name in sorted(os.listdir(MIGRATIONS))[:version]:
            with open(os.path.join(MIGRATIONS, name)) as f:
                db.executescript(f.read())
        db.execute(f"PRAGMA user_version = {version}")
        for name in tree(root):
            st = os.stat(os.path.join(root, name))
            digest = f"{len(digests) + 1:064x}"
            tag = st.st_ctime_ns ^ ((st.st_ino << 32 | st.st_ino >> 32) & (1 << 64) - 1)
            stamp = [st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns] if version == 1 else [st.st_size, st.st_mtime_ns, tag - (tag >> 63 << 64)]
            row = [0 if version < 3 else "#0", name, *stamp, digest, "", ""]
            names = "device, inode, size, mtime_ns, ctime_ns" if version == 1 else "size, mtime_ns, tag"
            db.execute(f"INSERT INTO digests (root, path, {names}, sha256, md5, crc32c) VALUES ({', '.join('?' * len(row))})", row)
            digests.append((name, digest))
        put_rows(db, version)
    return sorted(digests)


@pytest.mark.parametrize("version", range(1, len(os.listdir(MIGRATIONS))))
def test_the_migration_of_an_old_hub_db_is_ended(place, version):
    root, state, old = (os.path.join(place, name) for name in ("up", "state", "old.db"))
    shim = Shim(place, "minari-hub", NAMES + "W")
    digests = old_hub_db(old, version, root)

    def start(*prefix):
        return subprocess.run([*prefix, os.path.join(BIN, "minari-hub"), "mirror", "list", "--state", state], capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                              env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_DATASETS_PATH": root}).returncode

    def lay():
        shutil.rmtree(state, ignore_errors=True)
        os.mkdir(state)
        shutil.copy(old, os.path.join(state, "hub.db"))

    lay()
    shim.at(0)
    assert start(*shim.prefix) == 0
    print(shim.count, shim.seen)
    for moment in some(shim.count, POINTS):
        lay()
        shim.at(moment)
        assert start(*shim.prefix) == -signal.SIGKILL, moment
        assert start() == 0, moment
        with sqlite3.connect(os.path.join(state, "hub.db")) as db:
            assert db.execute("PRAGMA quick_check").fetchone()[0] == "ok"
            assert db.execute("PRAGMA user_version").fetchone()[0] == len(os.listdir(MIGRATIONS))
            assert db.execute("SELECT path, sha256 FROM digests ORDER BY path").fetchall() == digests, moment
            assert rows_of(db, version) == {table: [values] for table, (since, _, values) in ROWS.items() if version >= since}, moment
            assert columns_of(db) == newest_columns()
    with Hub([root], state=state, args=["--hash", "off"]) as hub:  # and they are used
        files = hub.wait_indexed().get(f"/api/v1/datasets/{DOOR}/files").json()["items"]
        assert {f["sha256"] for f in files} <= {d for _, d in digests}


def test_hub_db_of_every_commit_that_changed_migrations(tmp_path):
    """A migration that was changed before its release left its hub.db with somebody who built that commit."""
    git = lambda *words: subprocess.run(["git", "-C", os.path.dirname(MIGRATIONS), *words], capture_output=True, text=True)
    commits = git("log", "--format=%h", "--", "migrations").stdout.split()
    if len(commits) < 2:
        pytest.skip("LOUD: there is no history here, so hub.db of earlier commits is not tried")
    for commit in commits:
        state = tmp_path / commit
        state.mkdir(mode=0o700)
        names = git("ls-tree", "--name-only", commit, "migrations/").stdout.split()
        if f"/{len(names):04}_" not in names[-1]:
            continue  # a step that was written before the one in front of it: no program numbers such a hub.db
        with sqlite3.connect(state / "hub.db") as db:
            for name in names:
                db.executescript(git("show", f"{commit}:{name}").stdout)
            db.execute(f"PRAGMA user_version = {len(names)}")
            put_rows(db, len(names))
        done = subprocess.run([os.path.join(BIN, "minari-hub"), "token", "list", "--state", str(state)], capture_output=True, text=True)
        assert done.returncode == 0, (commit, done)
        with sqlite3.connect(state / "hub.db") as db:
            assert rows_of(db, len(names)) == {table: [values] for table, (since, _, values) in ROWS.items() if len(names) >= since}, commit
            assert columns_of(db) == newest_columns(), commit


def test_a_newer_hub_db_is_refused(tmp_path):
    """By each command that opens it, and left as it is."""
    (tmp_path / "root").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    path = tmp_path / "state/hub.db"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    for words in (["serve", "--listen", "off", "--root", tmp_path / "root"], ["token", "list"], ["scan", "--root", tmp_path / "root"],
                  ["backup", tmp_path / "backup", "--root", tmp_path / "root"]):
        done = subprocess.run([os.path.join(BIN, "minari-hub"), *map(str, words), "--state", str(tmp_path / "state")], capture_output=True, text=True, timeout=60)
        assert done.returncode not in (0, -6) and "was written by a newer minari-hub (version 999; this one" in done.stderr, (words, done)
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA user_version").fetchone()[0] == 999 and not db.execute("SELECT * FROM sqlite_schema").fetchall(), words
    assert not (tmp_path / "backup/manifest.json").exists()


# ---- at once ----

def test_two_mirrors_a_download_and_a_removal_at_once(place, bucket, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
    root = os.path.join(place, "here")
    cli = Cli(root, STORAGE_EMULATOR_HOST=bucket.url)
    version = lambda n: {"data/main_data.hdf5": bytes([n]) * 50_000, "data/metadata.json": json.dumps({"version": n}).encode()}
    halves = []

    def watch():
        """What stays where it is while it is read is of one version, and whole."""
        path, found = os.path.join(root, "a", "set-v0"), {}
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                for name in version(0):
                    with contextlib.suppress(FileNotFoundError), open(os.open(name, os.O_RDONLY, dir_fd=folder), "rb") as f:
                        found[name] = f.read()
                if os.path.samestat(os.stat(path), os.fstat(folder)) and found not in map(version, range(21)):
                    halves.append({name: data[:20] for name, data in found.items()})
            finally:
                os.close(folder)

    put(bucket, "a/set-v0", version(0))
    with here(place) as hub:
        hub.wait_ready()
        for name in ("one", "two"):
            mirror(place, "add", "gcp://lab", "--name", name, "--delete")
        for name in ("one", "two"):
            wait_synced(hub, name)
        for n in range(1, 21):
            put(bucket, "a/set-v0", version(n), updated=f"2024-03-01T12:00:{n:02}.123Z")  # of one size: the time tells them apart
            mirror(place, "run", "one")
            mirror(place, "run", "two")
            check = subprocess.run([os.path.join(BIN, "minari-hub"), "check", "--state", hub.state], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                   env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_DATASETS_PATH": root}) if n % 5 == 0 else None
            assert not check or check.returncode in (0, 1), check
            others = [cli.start("download", "a/set-v0", "-r", "gcp://lab", "--force"), cli.start("delete", "a/set-v0", "--yes")]
            while any(p.poll() is None for p in others):
                watch()
            for p in others:
                out, err = p.communicate()
                assert p.returncode in (0, 1, 3), (n, p.args, out, err)
            assert not halves, n
        for name in ("one", "two", "one"):
            again(place, hub, name)
        until(lambda: below(root, "a/set-v0") == version(20))
        again(place, hub, "two")
        until(lambda: leftovers(root) == [])
        assert rule(place, "one")["state"] == rule(place, "two")["state"] == "idle"


# ---- a disk that is full ----

@pytest.fixture(name="small_disk")
def make_small_disk():
    return small_disk(90, "here", "state")


@pytest.mark.parametrize("left", [None, 0, 8, 64] if POINTS else [None, *range(0, 64, 4), *range(64, 704, 64)])
def test_the_disk_is_full(place, bucket, monkeypatch, small_disk, left):
    """So many KiB are left when the bytes begin to come: said, not visible, and it goes on once there is space. None: on hub.db's disk."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
    files = {"data/main_data.hdf5": rng.randbytes(700_000), "data/metadata.json": b"{}"}
    put(bucket, "old/set-v0", PLAIN)
    with Hub(["/mnt/here"], state="/mnt/state" if left is None else os.path.join(place, "state"), log=os.path.join(place, "log"), prefix=small_disk) as hub:
        hub.wait_ready()
        disk = f"/proc/{hub.process.pid}/root/mnt"
        root, ballast = os.path.join(disk, "here"), os.path.join(disk, "ballast")
        state = os.path.join(disk, "state") if left is None else hub.state
        mirror(place, "add", "gcp://lab", "--name", "lab", "--delete", state=state, root=root)
        wait_synced(hub, "lab")
        put(bucket, "new/set-v0", files)

        def fill(request, path):
            if "main_data" in path and "new" in path and not os.path.exists(ballast):
                with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as f:
                    while f.write(bytes(1 << 20)):
                        pass
                os.truncate(ballast, max(0, os.path.getsize(ballast) - ((left or 0) << 10)))

        bucket.fault = fill
        mirror(place, "run", "lab", state=state, root=root)
        here_is = lambda: below(root, "new/set-v0")
        until(lambda: os.path.exists(ballast) and (here_is() or "No space left" in hub.text_log() or "must stay free" in hub.text_log()))
        if left is not None and not here_is():  # its bytes are set aside before they come: what is left may do for the rest
            told = until(lambda: (said := hub.get("/api/v1/mirrors/lab").json())["failures"] and said)
            assert told["error"] == "no-space" and told["state"] == "failing", told
        assert here_is() == files if left and left > 63 else here_is() in (None, files)
        assert below(root, "old/set-v0") == PLAIN
        bucket.fault = None
        os.unlink(ballast)
        mirror(place, "run", "lab", state=state, root=root)
        until(lambda: below(root, "new/set-v0") == files)
        until(lambda: hub.get("/api/v1/mirrors/lab").json()["state"] == "idle")
        assert leftovers(root) == []


def test_the_disk_gets_another_number(place):
    """As after a restart of the machine: no digest is lost, and no revision changes."""
    root, state = os.path.join(place, "up"), os.path.join(place, "state")
    shim = Shim(place, "minari-hub")
    said = lambda hub: {d["id"]: (d["revision"], hub.dataset(d["id"]).get("content")) for d in hub.datasets()}
    with Hub([root], state=state, args=["--hash", "idle"], prefix=shim.prefix) as hub:
        hub.wait_indexed()
        until(lambda: all(content for _, content in said(hub).values()))
        before = said(hub)
    shim.device(7)
    with Hub([root], state=state, args=["--hash", "off"], prefix=shim.prefix) as hub:
        assert said(hub.wait_indexed()) == before
