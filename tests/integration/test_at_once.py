"""Clients at once: they publish, replace, rename, delete, read and list the same datasets, and one order of events explains all that they
are answered; also while a check reads the files and another hub mirrors them.

HUB_AT_ONCE_SECONDS: how long they work; without it a few seconds, and no check and no mirror beside them."""
import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from history import History
from hub import BIN, Hub, quote, until
from test_drafts import DOOR, ask, problem, put, serve, tree

SECONDS = float(os.environ.get("HUB_AT_ONCE_SECONDS", "0"))
at_length = pytest.mark.skipif(not SECONDS, reason="HUB_AT_ONCE_SECONDS is not set")
IDS = [f"lab/set{i}-v0" for i in range(3)]
FILES = tree(DOOR)
NAMES = ("name.txt", "notes/name.txt")  # of what is in both no reader sees two
# Of a change that another one is in the way of: it did not take place, and says nothing of the heads.
BUSY = {"draft-busy", "busy", "overloaded", "too-many-requests"}


@pytest.fixture
def hub(tmp_path):
    with serve(tmp_path) as hub:
        yield hub


def dataset(id):
    return "/api/v1/datasets/" + quote(id)


class Clients:
    """What they ask of a hub, and were answered. The value of a dataset is the commit that its document names."""

    def __init__(self, hub):
        self.hub, self.history, self.over, self.failed, self.commits = hub, History(), threading.Event(), [], {}

    def answered(self, answer, **meanings):
        """What an answer says, by its status or its problem."""
        said = str(answer.status) if answer.status < 300 else problem(answer)
        if said in BUSY:
            return "nothing"
        if said.replace("-", "_") not in meanings:
            raise AssertionError(f"{answer.status}: {answer.body.decode()}")
        return meanings[said.replace("-", "_")]

    def push(self, id, name, base):
        """A dataset that no other one is like."""
        opened = ask(self.hub, "POST", "/api/v1/drafts", json.dumps({"id": id, **({"base": base} if base else {})}))
        meanings = {"exists": "refused", "commit_conflict": "refused"}
        if opened.status != 201:
            return self.answered(opened, **meanings)
        draft = opened.headers["Location"]
        for path, data in {**({} if base else FILES), **dict.fromkeys(NAMES, name.encode())}.items():
            assert put(self.hub, draft, path, data).status == 201
        done = ask(self.hub, "POST", draft + "/commit")
        if done.status == 200:
            self.commits[done.json()["commit"]] = name
            return "done"
        assert ask(self.hub, "DELETE", draft).status == 204
        return self.answered(done, **meanings)

    def delete(self, id):
        return self.answered(ask(self.hub, "DELETE", dataset(id)), **{"204": "done", "dataset_not_found": "missing", "commit_conflict": "nothing"})

    def rename(self, id, to):
        return self.answered(ask(self.hub, "PATCH", dataset(id), json.dumps({"id": to})), **{"204": "done", "dataset_not_found": "missing", "exists": "refused",
                                                                                                             "commit_conflict": "nothing"})

    def read(self, id):
        """A former id leads to what has another one now, which its document names."""
        shown = ask(self.hub, "GET", dataset(id))
        if shown.status == 404:
            return None
        assert shown.status == 200, shown.body
        if shown.json()["id"] != id:
            return None
        return shown.json().get("commit", "nothing")  # on its way to be listed no more

    def list(self):
        return frozenset(d["id"] for d in ask(self.hub, "GET", "/api/v1/datasets?limit=1000").json()["items"])

    # ---- at work ----

    def publish(self, who, id, name):
        base = self.history.ask(who, "read", id, lambda: self.read(id))
        self.history.ask(who, "publish", id, lambda: self.push(id, name, base), name, base)

    def works(self, who, rng, n):
        id, to = rng.sample(IDS, 2)
        kind = who.split()[0]
        if kind == "pusher":
            self.publish(who, id, f"{who} {n}")
        elif kind == "deleter":
            self.history.ask(who, "delete", id, lambda: self.delete(id))
        elif kind == "renamer":
            to = rng.choice((to, f"lab/named{n}-v0"))  # one of the others is taken most of the time
            self.history.ask(who, "rename", id, lambda: self.rename(id, to), to=to)
        elif n % 4:
            self.history.ask(who, "read", id, lambda: self.read(id))
        else:
            self.history.ask(who, "list", None, self.list)
        time.sleep({"pusher": 0, "reader": 0.01}.get(kind, rng.uniform(0, 0.5)))

    def run(self, who):
        rng, n = random.Random(who), 0
        try:
            while not self.over.is_set():
                self.works(who, rng, n)
                n += 1
        except Exception as e:  # what a thread raises is seen in the end
            self.failed.append((who, e))
            self.over.set()

    @contextlib.contextmanager
    def at_work(self, *who):
        threads = [threading.Thread(target=self.run, args=(name,)) for name in who]
        [t.start() for t in threads]
        yield
        self.over.set()
        [t.join() for t in threads]
        if self.failed:
            raise self.failed[0][1]

    def sees_a_move(self, look):
        """A dataset that is being renamed may be listed at neither id, or at both: looks at them say nothing then."""
        return look.kind in ("read", "list") and any(c.kind == "rename" and c.answer == "done" and c.begin < look.end and look.begin < c.end and look.concerns(c)
                                                     for c in self.history.calls)

    def check(self):
        """One order of events explains all; commits by the names of what was published."""
        for call in self.history.calls:
            call.base = self.commits.get(call.base)
            if call.kind == "read":
                call.answer = self.commits[call.answer] if call.answer else None
        self.history.calls = [call for call in self.history.calls if not self.sees_a_move(call)]
        counts = {}
        for call in self.history.calls:
            said = call.answer if call.kind not in ("read", "list") else ""
            counts[f"{call.kind} {said}".strip()] = counts.get(f"{call.kind} {said}".strip(), 0) + 1
        print(counts)
        wrong = self.history.wrong()
        assert not wrong, wrong
        assert counts.get("publish done", 0) > 1 and counts.get("read", 0) > 1, counts


EVERYBODY = [*(f"pusher {i}" for i in range(3)), "deleter", "renamer", "reader 1", "reader 2"]


def test_pushes_alone(hub):
    """Of those that begin with the same commit one is done."""
    clients = Clients(hub)
    with clients.at_work(*(f"pusher {i}" for i in range(4)), "reader 1", "reader 2"):
        clients.over.wait(SECONDS or 4)
    clients.check()


def test_one_order_of_events(hub):
    clients = Clients(hub)
    with clients.at_work(*EVERYBODY):
        clients.over.wait(SECONDS or 12)
    clients.check()


def names_in(folder):
    """What the files of a dataset say whose they are; they may be removed meanwhile, when it is replaced."""
    found = set()
    with contextlib.suppress(OSError):
        at = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            for path in NAMES:
                with contextlib.suppress(OSError), open(os.open(path, os.O_RDONLY, dir_fd=at), "rb") as f:
                    found.add(f.read())
        finally:
            os.close(at)
    return found


def program(*args):
    return subprocess.run([os.path.join(BIN, "minari-hub"), *args], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null"})


class Beside(threading.Thread):
    """Does something again and again."""

    def __init__(self, what, over):
        super().__init__(daemon=True)
        self.what, self.over, self.count, self.wrong = what, over, 0, []

    def run(self):
        while not self.over.is_set():
            said = self.what()
            self.wrong += [said] if said else []
            self.count += 1


@at_length
def test_while_it_is_mirrored_and_checked(hub, tmp_path):
    """A check finds no damage, and the copies of another hub are whole, each of one publication."""
    clients, there, state = Clients(hub), tmp_path / "there", tmp_path / "there-state"
    there.mkdir()
    state.mkdir(mode=0o700)

    def check():
        done = program("check", "--state", hub.state)
        return done.returncode not in (0, 3) and (done.returncode, done.stdout, done.stderr)

    def look():
        time.sleep(0.01)
        return [found for root in (hub.root, there) for id in IDS if len(found := names_in(root / id)) > 1]

    with Hub([str(there)], state=str(state)) as other:
        other.wait_ready()
        made = program("mirror", "add", hub.base, "--name", "lab", "--prefix", "lab/", "--every", "1h", "--yes", "--state", str(state))
        assert made.returncode == 0, made.stderr
        mirror = lambda: program("mirror", "run", "lab", "--state", str(state)).returncode != 0
        beside = [Beside(what, clients.over) for what in (check, look, mirror)]
        with clients.at_work(*EVERYBODY):
            [b.start() for b in beside]
            clients.over.wait(SECONDS)
        [b.join() for b in beside]
        assert not any(b.wrong for b in beside), [b.wrong[:3] for b in beside]
        print("checks, looks and passes:", [b.count for b in beside])
        clients.check()
        same = lambda: {id: tree(there / id) for id in IDS if id in clients.list()} == {id: tree(hub.root / id) for id in IDS if (hub.root / id).exists()}
        until(lambda: not mirror() and (time.sleep(0.5) or same()))
