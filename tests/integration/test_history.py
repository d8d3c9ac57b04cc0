"""tests/support/history.py over histories made by hand: good ones are explained, and the answer that is wrong is named."""
import os
import random
import sys
import threading
import time

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
from history import FOREVER, LOST, Call, History, wrong


def publish(who, begin, end, value, base=None, answer="done", id="a"):
    return Call(who, "publish", id, begin, end, answer, value, base)


def delete(who, begin, end, answer="done", id="a"):
    return Call(who, "delete", id, begin, end, answer)


def rename(who, begin, end, to, answer="done", id="a"):
    return Call(who, "rename", id, begin, end, answer, to=to)


def read(who, begin, end, answer, id="a"):
    return Call(who, "read", id, begin, end, answer)


def listed(who, begin, end, answer):
    return Call(who, "list", None, begin, end, answer)


GOOD = {
    "nothing": [],
    "one after the other": [read("r", 0, 1, None), publish("p", 2, 3, "A"), read("r", 4, 5, "A"), publish("p", 6, 7, "B", "A"), read("r", 8, 9, "B"),
                            delete("p", 10, 11), read("r", 12, 13, None), delete("p", 14, 15, "missing"), listed("r", 16, 17, {})],
    "one wins": [publish("p", 0, 9, "A"), publish("q", 1, 8, "B", answer="refused"), read("r", 10, 11, "A")],
    "read before it is acknowledged": [publish("p", 0, 9, "A"), read("r", 1, 2, None), read("r", 3, 4, "A"), read("s", 5, 6, "A")],
    "lost, and took place": [publish("p", 0, FOREVER, "A", answer=LOST), read("r", 5, 6, None), read("r", 7, 8, "A")],
    "lost, and did not": [publish("p", 0, FOREVER, "A", answer=LOST), read("r", 5, 6, None), publish("q", 7, 8, "B"), read("r", 9, 10, "B")],
    "lost, and late": [publish("p", 0, 1, "A"), publish("q", 0, FOREVER, "B", "A", answer=LOST), read("r", 2, 3, "A"), delete("s", 4, 5),
                       publish("s", 6, 7, "A"), read("r", 8, 9, "B")],
    "two of them": [publish("p", 0, 5, "A"), publish("q", 0, 5, "X", id="b"), listed("r", 1, 4, {"b": "X"}), listed("r", 6, 7, {"a": "A", "b": "X"}),
                    listed("s", 8, 9, {"a", "b"})],
    "renamed": [publish("p", 0, 1, "A"), rename("q", 2, 9, "b"), read("r", 3, 4, "A"), read("r", 5, 6, None), listed("s", 7, 8, {"b": "A"}),
                publish("p", 10, 11, "B"), rename("q", 12, 13, "b", "refused"), rename("q", 14, 15, "c", id="b"), rename("q", 16, 17, "b"),
                rename("q", 18, 19, "b", "missing"), publish("p", 20, 21, "C", "B", id="b")],
    "deleted, and taken": [publish("p", 0, 1, "A"), publish("p", 2, 3, "B", id="b"), delete("q", 4, 5, id="b"), rename("r", 6, 7, "b", "refused"),
                           publish("p", 8, 9, "C", id="b"), listed("s", 10, 11, {"a": "A", "b": "C"})],
    "renamed, and its answer lost": [publish("p", 0, 1, "A"), Call("q", "rename", "a", 2, FOREVER, LOST, to="b"), read("r", 3, 4, "A"), read("r", 5, 6, "A", id="b")],
    "a refusal while it was": [publish("p", 0, 1, "A"), delete("q", 2, 9), publish("r", 3, 8, "B", answer="refused"), read("s", 10, 11, None)],
}
BAD = {
    "a stale read": ([publish("p", 0, 1, "A"), publish("p", 2, 3, "B", "A"), read("r", 4, 5, "A")], "r read"),
    "back again": ([publish("p", 0, 9, "A"), read("r", 1, 2, "A"), read("s", 3, 4, None)], "s read"),
    "a lost update": ([publish("o", 0, 1, "A"), publish("p", 2, 9, "B", "A"), publish("q", 3, 8, "C", "A"), read("r", 10, 11, "C")], "p publish"),
    "a change that is gone": ([publish("p", 0, 1, "A"), read("r", 2, 3, "A"), read("r", 4, 5, None)], "r read"),
    "of nowhere": ([publish("p", 0, 1, "A"), read("r", 2, 3, "B")], "r read"),
    "two won": ([publish("p", 0, 5, "A"), publish("q", 0, 6, "B")], "q publish"),
    "refused for nothing": ([publish("p", 0, 1, "A", answer="refused")], "p publish"),
    "deleted twice": ([publish("p", 0, 1, "A"), delete("q", 2, 9), delete("r", 3, 8)], "q delete"),
    "deleted, and there": ([publish("p", 0, 1, "A"), delete("q", 2, 3), read("r", 4, 5, "A")], "r read"),
    "half of a list": ([publish("p", 0, 1, "A"), publish("q", 2, 3, "X", id="b"), listed("r", 4, 5, {"b": "X"})], "r list"),
    "an id too many": ([publish("p", 0, 1, "A"), listed("r", 4, 5, {"a", "b"})], "r list"),
    "two lists that disagree": ([publish("p", 0, 9, "A"), publish("q", 0, 9, "X", id="b"), listed("r", 1, 8, {"a": "A"}), listed("s", 1, 8, {"b": "X"})], "list"),
    "renamed, and there": ([publish("p", 0, 1, "A"), rename("q", 2, 3, "b"), read("r", 4, 5, "A")], "r read"),
    "renamed, and nowhere": ([publish("p", 0, 1, "A"), rename("q", 2, 9, "b"), read("r", 3, 4, None), read("r", 5, 6, None, id="b")], "r read"),
    "renamed over another": ([publish("p", 0, 1, "A"), publish("p", 2, 3, "B", id="b"), rename("q", 4, 5, "b")], "q rename"),
    "renamed by two": ([publish("p", 0, 1, "A"), rename("q", 2, 9, "b"), rename("r", 3, 8, "c")], "q rename"),
    "pushed to what was renamed": ([publish("p", 0, 1, "A"), rename("q", 2, 3, "b"), publish("p", 4, 5, "B", "A")], "p publish"),
    "lost, and before it began": ([read("r", 0, 1, "A"), publish("p", 2, FOREVER, "A", answer=LOST)], "r read"),
}


@pytest.mark.parametrize("calls", GOOD.values(), ids=GOOD)
def test_good(calls):
    assert wrong(calls) is None
    assert wrong(reversed_list(calls)) is None, "in whatever order they were written down"


@pytest.mark.parametrize("calls, named", BAD.values(), ids=BAD)
def test_bad(calls, named):
    for some in (calls, reversed_list(calls)):
        said = wrong(some)
        assert said and named in said.splitlines()[0], said


def reversed_list(calls):
    return list(reversed(calls))


def test_before():
    assert wrong([read("r", 0, 1, "A"), publish("p", 2, 3, "B", "A")], {"a": "A"}) is None
    assert "r read" in wrong([read("r", 0, 1, None)], {"a": "A"})


class Store:
    """Heads under a lock; `slip` makes it look before it takes the lock."""

    def __init__(self, slip=False):
        self.heads, self.deleted, self.lock, self.slip = {}, set(), threading.Lock(), slip

    def publish(self, id, value, base):
        was = self.heads.get(id)
        if self.slip:
            time.sleep(0)  # others may come in between
        with self.lock:
            if (was if self.slip else self.heads.get(id)) != base:
                return "refused"
            self.heads[id] = value
            self.deleted.discard(id)
            return "done"

    def rename(self, id, to):
        with self.lock:
            if id not in self.heads or to in self.heads:
                return "missing" if id not in self.heads else "refused"
            if to in self.deleted:
                return "refused"
            self.heads[to] = self.heads.pop(id)
            return "done"

    def delete(self, id):
        with self.lock:
            self.deleted |= {id} & set(self.heads)
            return "done" if self.heads.pop(id, None) else "missing"

    def list(self):
        with self.lock:
            return dict(self.heads)


def work(store, history, name, count):
    rng = random.Random(name)
    for n in range(count):
        id, kind = rng.choice("ab"), rng.choice(("publish", "publish", "read", "read", "delete", "rename", "list"))
        if kind == "publish":
            base = store.heads.get(id)
            history.ask(name, kind, id, lambda: store.publish(id, f"{name}{n}", base), f"{name}{n}", base)
        elif kind == "list":
            history.ask(name, kind, None, store.list)
        elif kind == "rename":
            to = "a" if id == "b" else "b"
            history.ask(name, kind, id, lambda: store.rename(id, to), to=to)
        else:
            history.ask(name, kind, id, (lambda: store.delete(id)) if kind == "delete" else lambda: store.heads.get(id))


def recorded(store, clients, count):
    history = History()
    threads = [threading.Thread(target=work, args=(store, history, f"client{i}-", count)) for i in range(clients)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return history


def test_clients_at_once():
    history = recorded(Store(), 8, 250)
    began = time.process_time()
    assert history.wrong() is None
    print(f"{len(history.calls)} calls of 8 clients: explained in {time.process_time() - began:.2f} s")


def test_a_race_is_found():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        assert any(recorded(Store(slip=True), 8, 100).wrong() for _ in range(20))
    finally:
        sys.setswitchinterval(interval)


def test_what_is_not_recorded():
    history = History()

    def lost():
        raise ConnectionResetError

    assert history.ask("p", "publish", "a", lost, "A") is None and history.calls[0].answer is LOST
    assert history.ask("r", "read", "a", lost) is None and history.ask("q", "publish", "a", lambda: "nothing", "B") == "nothing"
    assert len(history.calls) == 1
