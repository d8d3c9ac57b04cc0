"""Who asked what when, and what was answered: recorded from clients that work at once, then searched for an answer that no order of
events explains. A hub is one map of datasets to heads, and each call takes place at one moment between its begin and its end:

| call | answer | at that moment |
|---|---|---|
| publish(id, value, base) | "done" | the head was `base` (None: there is no dataset), and is `value` from then on |
| | "refused" | the head was another than `base`, and stays |
| delete(id) | "done" | there was a head, and is none from then on; its id stays taken |
| | "missing" | there was none |
| rename(id, to) | "done" | there was a head, and none of `to`, which has it from then on |
| | "missing" | there was none |
| | "refused" | `to` was taken |
| read(id) | a value, None | that was the head |
| list() | {id: value}, or a set of ids | these were all heads |

A call whose answer was lost may have taken place at any later moment, or not at all. What is refused for another reason (busy, a full
disk) says nothing of the heads: it is not recorded. Each publication has a value of its own."""
import contextlib
import itertools
import threading
import time

LOST = object()
GONE = object()  # the head of a dataset that was deleted
CHANGES = ("publish", "delete", "rename")
FOREVER = float("inf")


class Call:
    def __init__(self, who, kind, id, begin, end, answer, value=None, base=None, to=None):
        self.who, self.kind, self.id, self.begin, self.end, self.answer = who, kind, id, begin, end, answer
        self.value, self.base, self.to = value, base, to

    def __repr__(self):
        more = {"publish": f"({self.id}, {self.value}, base {self.base})", "rename": f"({self.id}, to {self.to})", "list": "()"}.get(self.kind, f"({self.id})")
        said = "no answer" if self.answer is LOST else repr(self.answer)
        return f"{self.begin:.6f} to {self.end:.6f}: {self.who} {self.kind}{more} -> {said}"

    def after(self, heads):
        """The heads after it took place; None: with this answer it cannot take place here."""
        head = heads.get(self.id) if heads.get(self.id) is not GONE else None
        if self.kind == "list":
            there = {id: value for id, value in heads.items() if value is not GONE}
            return heads if self.answer == (there if isinstance(self.answer, dict) else set(there)) else None
        if self.kind == "read":
            return heads if self.answer == head else None
        may = self.may(head, heads)
        if self.answer is not LOST and self.answer not in may:
            return None
        if "done" not in may:
            return heads
        left = {id: value for id, value in heads.items() if id != self.id}
        return {**left, self.to or self.id: {"delete": GONE, "rename": head}.get(self.kind, self.value)}

    def may(self, head, heads):
        """What a change may be answered."""
        if self.kind == "publish":
            return ("done",) if head == self.base else ("refused",)
        if self.kind == "delete":
            return ("done",) if head else ("missing",)
        return ("done",) if head and self.to not in heads else (("missing",) if not head else ()) + (("refused",) if self.to in heads else ())

    def concerns(self, other):
        """Is it about the same dataset?"""
        return "list" in (self.kind, other.kind) or not {self.id, self.to}.isdisjoint({other.id, other.to} - {None})


class History:
    """Filled from any thread."""

    def __init__(self):
        self.calls, self.lock = [], threading.Lock()

    def ask(self, who, kind, id, do, value=None, base=None, to=None):
        """What `do` returns, which is the answer as above; "nothing": it says nothing of the heads. An OSError loses it, and None is
        returned."""
        begin, answer = time.monotonic(), LOST
        with contextlib.suppress(OSError):
            answer = do()
        end = FOREVER if answer is LOST else time.monotonic()
        if answer != "nothing" and (answer is not LOST or kind in CHANGES):
            with self.lock:
                self.calls.append(Call(who, kind, id, begin, end, answer, value, base, to))
        return None if answer is LOST else answer

    def wrong(self, before=()):
        """A text about the first answer that no order explains, with what was under way; None: all are explained. `before`: the heads
        at the beginning."""
        return wrong(self.calls, dict(before))


def wrong(calls, heads=()):
    """See History.wrong."""
    heads, ends = dict(heads), sorted(c.end for c in calls if c.end != FOREVER)
    if has_order(calls, heads):
        return None
    low, high = 0, len(ends) - 1  # what no order explains stays so, whatever comes later
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if not has_order(until(calls, ends[middle]), heads) else (middle + 1, high)
    (bad,) = [c for c in calls if c.end == ends[low]][:1]
    beside = [c for c in sorted(calls, key=lambda c: c.end) if c is not bad and c.begin <= bad.end and bad.concerns(c)]
    changes, looks = [c for c in beside if c.kind in CHANGES], [c for c in beside if c.kind in ("read", "list")]
    return "\n".join([f"no order of events explains: {bad}", *(f"  beside or before: {c}" for c in changes[-10:] + looks[-5:])])


def until(calls, moment):
    """What was known at a moment: later answers had not come."""
    known = [c for c in calls if c.begin <= moment]
    lost = lambda c: Call(c.who, c.kind, c.id, c.begin, FOREVER, LOST, c.value, c.base, c.to)
    return [c if c.end <= moment else lost(c) for c in known if c.end <= moment or c.kind in CHANGES]


def has_order(calls, heads):
    """Is there an order in which each call takes place between its begin and its end, and has its answer? The search of Wing and Gong,
    which remembers where it was (Lowe). A call that changes nothing takes place as soon as it can: nothing is lost by that."""
    calls = sorted(calls, key=lambda c: c.begin)
    wanted = sum(1 << i for i, c in enumerate(calls) if c.answer is not LOST)
    been, ways = set(), [(0, heads)]
    while ways:
        done, heads = ways.pop()
        done = settle(calls, done, heads)
        if done & wanted == wanted:
            return True
        key = done, frozenset(heads.items())
        if key in been:
            continue
        been.add(key)
        for i in ready(calls, done):
            after = calls[i].after(heads)
            if after is not None:
                ways.append((done | 1 << i, after))
    return False


def ready(calls, done):
    """Those that may be the next: none of the others ended before they began."""
    first, end = (~done & done + 1).bit_length() - 1, FOREVER
    for i in itertools.takewhile(lambda i: calls[i].begin <= end, range(first, len(calls))):
        if not done >> i & 1:
            end = min(end, calls[i].end)
            yield i


def settle(calls, done, heads):
    """All that may come now and changes nothing."""
    while True:
        found = sum(1 << i for i in ready(calls, done) if calls[i].answer is not LOST and calls[i].after(heads) == heads)
        if not found:
            return done
        done |= found
