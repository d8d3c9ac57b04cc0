"""Datasets that come, change and go while the hub runs: found without being asked to look, settled before they are read, and never
answered with rows of two states at once."""
import contextlib
import functools
import json
import os
import shutil
import sys
import tempfile
import threading
import time

import h5py
import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import FIXTURES, Hub, until

SAMPLES = os.path.join(FIXTURES, "samples")
DOOR = os.path.join(SAMPLES, "door-human-v0")


def copy(to, of=DOOR):
    """As cp does it: the files are new."""
    shutil.copytree(of, to, copy_function=shutil.copyfile)


def main_file(dataset):
    return os.path.join(dataset, "data", "main_data.hdf5")


def fill(dataset, value):
    """Every observation of episode 0 becomes `value`, in place."""
    with h5py.File(main_file(dataset), "r+") as f:
        f["episode_0/observations"][...] = value


@contextlib.contextmanager
def watching(*arguments, settle="200ms"):
    root = tempfile.mkdtemp(prefix="hub-watch-")
    try:
        shutil.copytree(os.path.join(SAMPLES, "D4RL"), os.path.join(root, "D4RL"))
        with Hub([root], args=("--settle", settle, *arguments)) as hub:
            hub.wait_indexed()
            yield hub, root
    finally:
        shutil.rmtree(root)


def is_ready(hub, id):
    return lambda: hub.statuses().get(id) == "ready"


def put(root, id, of=DOOR):
    """As mv does it: the dataset is whole as soon as it has its name, however slow the machine is."""
    copy(os.path.join(root, ".put"), of)
    os.rename(os.path.join(root, ".put"), os.path.join(root, id))


def observations(hub, id, more=""):
    return hub.get(f"/api/v1/datasets/{id}/episodes/0/observations{more}")


def is_answered(hub, id):
    """A copy that pauses for longer than it takes to settle is ready in between, and changes again."""
    return lambda: is_ready(hub, id)() and observations(hub, id).status == 200


def test_added_and_deleted():
    with watching() as (hub, root):
        copy(os.path.join(root, "door-human-v0"))
        until(is_answered(hub, "door-human-v0"))
        shutil.rmtree(os.path.join(root, "door-human-v0"))
        until(lambda: "door-human-v0" not in hub.statuses())
        assert observations(hub, "door-human-v0").status == 404
        assert hub.statuses() == {"D4RL/door/human-v2": "ready"}


def test_renamed():
    with watching() as (hub, root):
        copy(os.path.join(root, "door-human-v0"))
        until(is_ready(hub, "door-human-v0"))
        os.rename(os.path.join(root, "door-human-v0"), os.path.join(root, "door-human-v3"))
        until(lambda: is_ready(hub, "door-human-v3")() and "door-human-v0" not in hub.statuses())
        assert hub.get("/api/v1/datasets/door-human").json()["id"] == "door-human-v3"


def test_half_copied_is_pending_and_then_ready():
    settle = 5
    with watching(settle=f"{settle}s") as (hub, root):
        to = os.path.join(root, "door-human-v0")
        os.makedirs(os.path.join(to, "data"))
        with open(main_file(DOOR), "rb") as f:
            data = f.read()
        looks = 0
        with open(main_file(to), "wb") as f:
            for part in range(8):
                written = time.monotonic()
                f.write(data[len(data) * part // 8 : len(data) * (part + 1) // 8])
                f.flush()
                time.sleep(0.3)  # the hub has noticed, or not: both are fine
                status = hub.statuses().get("door-human-v0", "pending")
                if time.monotonic() - written < settle:  # else it may have settled: the machine stood still
                    assert status == "pending"
                    looks += 1
        assert looks
        waiting = until(lambda: next((d for d in hub.datasets() if d["id"] == "door-human-v0"), None))
        if waiting["status"] == "pending":
            assert waiting["reason"]
            answer = observations(hub, "door-human-v0")
            assert answer.status in (200, 503) and (answer.status == 200 or answer.headers["Retry-After"])
        until(is_answered(hub, "door-human-v0"))
        assert np.array_equal(observations(hub, "door-human-v0").json(), expected(DOOR))


def expected(dataset):
    with h5py.File(main_file(dataset)) as f:
        return f["episode_0/observations"][...]


def test_locked_is_busy():
    import fcntl

    with watching() as (hub, root):
        to = os.path.join(root, "door-human-v0")
        copy(os.path.join(root, ".door"))
        with open(main_file(os.path.join(root, ".door")), "r+b") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            os.rename(os.path.join(root, ".door"), to)
            busy = until(lambda: next((d for d in hub.datasets() if d["id"] == "door-human-v0" and "busy" in d.get("reason", "")), None))
            assert busy["status"] == "pending"
        until(is_ready(hub, "door-human-v0"))


@contextlib.contextmanager
def readers(hub, url, count=4):
    """Ask for the same rows over and over; what came is kept."""
    answers, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            answers.append(hub.get(url))

    with in_background(*[ask] * count, stop=stop):
        yield answers


@contextlib.contextmanager
def in_background(*tasks, stop):
    """Each on a thread, until `stop` is set at the end. What fails there fails here."""
    failures = []

    def run(task):
        try:
            task()
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for t in threads:
        t.start()
    try:
        yield
    finally:
        stop.set()
        for t in threads:
            t.join()
        if failures:
            raise failures[0]


def check_states(answers, allowed):
    """Each answer is one whole state or says that there is none now, and a validator names one state only."""
    tags = {}
    for a in answers:
        if a.status != 200:
            assert a.status == 503 and a.json()["type"] in ("urn:minari-hub:dataset-changing", "urn:minari-hub:pending"), a.body
            assert a.headers["Retry-After"]
            continue
        values = np.unique(a.json())
        assert len(values) == 1 and values[0] in allowed, values
        tags.setdefault(a.headers["ETag"], set()).add(values[0])
    assert all(len(values) == 1 for values in tags.values()), tags


def collect(folder, storage):
    """What a DataCollector has in its folder after an episode."""
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata.json"), "w") as f:
        json.dump({"data_format": storage, "observation_space": "{}", "action_space": "{}"}, f)
    if storage == "hdf5":
        shutil.copyfile(main_file(DOOR), os.path.join(folder, "main_data.hdf5"))
    else:
        shutil.copytree(os.path.join(FIXTURES, "minari/root-0.5.3-columns/arrow/infos-v0/data/0"), os.path.join(folder, "0"), copy_function=shutil.copyfile)


def test_what_a_collector_keeps_is_no_dataset():
    """Pending while it is written, broken once it was left behind; offered to no client. Folders of another name are what they hold."""
    with watching(settle="100ms") as (hub, root):
        left = {"tmpab_0cd12": "hdf5", "lab/tmpzz9zz9zz": "arrow"}
        for id, storage in left.items():
            collect(os.path.join(root, id), storage)
        collect(os.path.join(root, "tmp-of-mine"), "hdf5")
        def is_recorded(id):
            document = hub.dataset(id)
            return document if "is being recorded" in document.get("reason", "") else None

        for id in left:  # each answer is one moment: between two of them it may wait to be inspected again
            document = until(lambda: is_recorded(id))
            assert (document["status"], document["format"]) == ("pending", "data-collector") and "DataCollector" in document["reason"]
        until(is_ready(hub, "tmp-of-mine/main_data"))
        os.makedirs(os.path.join(root, "saved-v0"))
        os.rename(os.path.join(root, "tmpab_0cd12"), os.path.join(root, "saved-v0/data"))  # as it is saved
        until(lambda: "tmpab_0cd12" not in hub.statuses() and hub.statuses().get("saved-v0") == "ready")
        collect(os.path.join(root, "tmpab_0cd12"), "hdf5")
        left_behind(root, left)


def left_behind(root, left):
    """When nothing was written for 300 times what it takes to settle, which here is no time."""
    with Hub([root], args=("--settle", "0")) as hub:
        hub.wait_indexed()
        assert {hub.statuses()[id] for id in left} == {"broken"} and hub.statuses()["tmp-of-mine/main_data"] == "ready"
        for id in left:
            document = hub.dataset(id)
            assert document["format"] == "data-collector" and document["reason"].startswith("a DataCollector of Minari keeps here what it collects")
            assert hub.get(f"/api/v1/datasets/{id}/files").status == 200 and not [i for i in hub.statuses() if i.startswith(id + "/")]
        repos = [d["id"] for author in ("farama-minari", "lab") for d in hub.get(f"/api/datasets?author={author}").json()]
        objects = [o["name"] for o in hub.get("/storage/v1/b/minari-datasets/o").json()["items"]]
        assert repos and objects and not any("tmpab" in name or "tmpzz" in name for name in repos + objects)
        assert hub.get("/api/datasets/farama-minari/tmpab_0cd12").status in (401, 404) and any("tmp-of-mine" in name for name in objects)


@pytest.mark.parametrize("how", ["exchanged", "file-renamed", "in-place"])
def test_replaced_under_readers(how):
    with watching(settle="100ms") as (hub, root):
        target, other = os.path.join(root, "door-human-v0"), os.path.join(root, ".other")
        copy(other)
        fill(other, 0.0)
        os.rename(other, target)
        until(is_ready(hub, "door-human-v0"))
        url = "/api/v1/datasets/door-human-v0/episodes/0/observations"
        with readers(hub, url) as answers:
            for round in (1.0, 2.0, 3.0):
                if how == "in-place":
                    fill(target, round)
                else:
                    copy(other)
                    fill(other, round)
                    if how == "exchanged":
                        os.rename(target, os.path.join(root, ".old"))
                        os.rename(other, target)
                        shutil.rmtree(os.path.join(root, ".old"))
                    else:
                        os.replace(main_file(other), main_file(target))
                        shutil.rmtree(other)
                until(lambda: (a := hub.get_uncut(url)) and a.status == 200 and np.all(np.array(a.json()) == round))
        answers = [a for a in answers if a.status != 404]  # between the two renames there is none
        assert len(answers) > 10
        check_states(answers, {0.0, 1.0, 2.0, 3.0})


def test_a_range_never_continues_another_state():
    with watching(settle="100ms") as (hub, root):
        target = os.path.join(root, "door-human-v0")
        put(root, "door-human-v0")
        until(is_ready(hub, "door-human-v0"))
        url = "/api/v1/datasets/door-human-v0/files/data/main_data.hdf5"
        first = hub.get(url)
        tag = first.headers["ETag"]
        fill(target, 7.0)
        os.utime(main_file(target))

        def is_another():
            a = hub.get(url, {"Range": "bytes=100-199", "If-Range": tag})
            assert a.status in (200, 206, 503), a.status
            assert a.status != 206 or a.body == first.body[100:200]
            assert a.status != 200 or a.headers["ETag"] != tag
            return a.status == 200

        until(is_another)


def test_a_dataset_that_changes_leaves_others_alone():
    settle = 5
    with watching(settle=f"{settle}s") as (hub, root):
        target = os.path.join(root, "door-human-v0")
        put(root, "door-human-v0")
        until(is_ready(hub, "door-human-v0"))
        took = settle
        while took >= settle:  # else it may have settled again: the machine stood still
            changed = time.monotonic()
            fill(target, changed)
            status = observations(hub, "door-human-v0").status
            took = time.monotonic() - changed
        assert status == 503
        assert hub.get("/api/v1/datasets/D4RL/door/human-v2/episodes/0/observations").status == 200
        until(lambda: observations(hub, "door-human-v0").status == 200)


def test_a_link_that_leaves_the_root_and_one_that_may():
    outside = tempfile.mkdtemp(prefix="hub-outside-")
    try:
        copy(os.path.join(outside, "door-human-v0"))
        with watching() as (hub, root):
            made = os.path.join(outside, "made")
            copy(made)
            os.remove(main_file(made))
            os.symlink(main_file(os.path.join(outside, "door-human-v0")), main_file(made))
            os.rename(made, os.path.join(root, "door-human-v5"))
            os.symlink(os.path.join(outside, "door-human-v0"), os.path.join(root, "door-human-v0"))
            until(lambda: hub.statuses().get("door-human-v5", "pending") != "pending")
            problems = hub.dataset("door-human-v5")["problems"]
            assert {"link-leaves"} <= {p["code"] for p in problems} and any(p.get("path") == "data/main_data.hdf5" for p in problems)
            assert hub.get("/api/v1/datasets/door-human-v5/files/data/main_data.hdf5").status == 404
            linked = until(lambda: next((d for d in hub.datasets() if d["id"] == "door-human-v0" and d["status"] != "pending"), None))
            assert linked["status"] == "broken" and "--allow-target" in linked["reason"]
            assert hub.get("/api/v1/datasets/door-human-v0/files").json()["items"] == []
        with watching("--allow-target", outside) as (hub, root):
            os.symlink(os.path.join(outside, "door-human-v0"), os.path.join(root, "door-human-v0"))
            until(is_answered(hub, "door-human-v0"))
    finally:
        shutil.rmtree(outside)


def test_the_sweep_finds_what_nobody_tells():
    with watching("--sweep", "1s") as (hub, root):
        put(root, "door-human-v0")
        until(is_ready(hub, "door-human-v0"))
        revision = hub.dataset("door-human-v0")["revision"]
        stamp = os.stat(main_file(os.path.join(root, "door-human-v0")))
        os.utime(main_file(os.path.join(root, "door-human-v0")), ns=(stamp.st_atime_ns, stamp.st_mtime_ns - 10**9))  # no event
        until(lambda: hub.dataset("door-human-v0")["revision"] != revision)


def test_named_roots_keep_equal_ids_apart():
    state = tempfile.mkdtemp(prefix="hub-roots-")
    try:
        for name in ("a", "b"):
            copy(os.path.join(state, name, "door-human-v0"))
        with Hub([os.path.join(state, "a"), "lab=" + os.path.join(state, "b")]) as hub:
            hub.wait_indexed()
            assert hub.statuses() == {"door-human-v0": "ready", "lab/door-human-v0": "ready"}
            d = hub.dataset("lab/door-human-v0")
            assert d["namespace"] == "lab" and d["problems"] == []
            assert hub.get("/api/v1/datasets/lab/door-human/episodes/0/rewards?stop=1").status == 200
    finally:
        shutil.rmtree(state)


def reseed(dataset, seed):
    """Every episode says which version it is of."""
    with h5py.File(main_file(dataset), "r+") as f:
        for name in f:
            f[name].attrs["seed"] = seed


def test_what_a_revision_names_is_of_that_revision():
    """Two versions of several datasets are swapped by rename while all that is said of a revision is asked for."""
    ids = [f"set-v{i}" for i in range(6)]
    with watching(settle="100ms") as (hub, root):
        for number, id in enumerate(ids):
            for version in (1, 2):
                copy(os.path.join(root, f".{id}.{version}"))
                reseed(os.path.join(root, f".{id}.{version}"), 100 * number + version)
            os.rename(os.path.join(root, f".{id}.1"), os.path.join(root, id))
        seeds, wrong, answered, stop = {}, [], [], threading.Event()
        for id in ids:
            until(is_ready(hub, id))
        revisions = {id: [hub.dataset(id)["revision"]] for id in ids}

        def check(id, revision, answer, what):
            answered.append(answer.status)
            if answer.status != 200:
                return
            said = {"episodes": lambda: answer.json()["items"][0]["seed"], "episode": lambda: answer.json()["seed"],
                    "document": lambda: answer.json()["revision"], "files": lambda: answer.json()["revision"]}[what]()
            if what in ("document", "files"):
                if said != revision:
                    wrong.append((what, revision, said))
            else:
                seeds.setdefault((id, revision), set()).add(said)
            if what == "document" and [v["revision"] for v in answer.json()["versions"] if v["id"] == id] != [revision]:
                wrong.append(("versions", revision))

        def ask(id):
            url = f"/api/v1/datasets/{id}"
            while not stop.is_set():
                now = hub.get(url)
                if now.status != 200 or "revision" not in now.json():
                    continue
                for revision in {now.json()["revision"], *revisions[id][-1:]}:
                    revisions[id].append(revision)
                    for what, path in (("episodes", "/episodes"), ("episode", "/episodes/0"), ("document", ""), ("files", "/files")):
                        check(id, revision, hub.get(f"{url}{path}?revision={revision}"), what)

        def are_seen(version, answers):
            """All were answered as they are now, and much was answered."""
            newest = {id: seeds.get((id, hub.dataset(id).get("revision"))) for id in ids}
            return all(newest[id] == {100 * number + version} for number, id in enumerate(ids)) and answered.count(200) > answers

        with in_background(*[functools.partial(ask, id) for id in ids], stop=stop):
            for swap in range(24):
                out, back = (2, 1) if swap % 2 else (1, 2)
                for id in ids:
                    os.rename(os.path.join(root, id), os.path.join(root, f".{id}.{out}"))
                    os.rename(os.path.join(root, f".{id}.{back}"), os.path.join(root, id))
                    time.sleep(0.05)  # they change while they are asked for: that is what is tested
                if swap % 3 == 2:  # after the second version, after the first, and so on
                    until(lambda: wrong or are_seen(back, 7 * swap))
        assert not wrong, wrong[:5]
        assert set(answered) <= {200, 404, 410, 503} and answered.count(200) > 100, {s: answered.count(s) for s in set(answered)}
        mixed = {k: v for k, v in seeds.items() if len(v) > 1}
        assert not mixed, mixed
        assert len(seeds) >= 2 * len(ids), "hardly anything was swapped"
