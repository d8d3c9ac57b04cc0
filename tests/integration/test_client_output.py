"""Files that minari-cli writes with -o: whole or not there, taken up where they broke off, and a bar while they come."""
import hashlib
import os
import random
import re
import signal
import sys
import threading
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from cli import Cli, on_terminal
from hostile import PREFIX, HostileHub
from hub import FIXTURES, serving, until

ID = "a-v0"
DATA = random.Random(3).randbytes(700_000)
OTHER = DATA[::-1]


class Archive:
    """Answers archive.tar with `data`, breaking off or stopping after so many bytes of each of the first answers."""

    def __init__(self, hub, cuts=(), ranges=True, etag='"e-1"', length=True, stops=False):
        self.data, self.cuts, self.ranges, self.etag, self.length, self.stops = DATA, list(cuts), ranges, etag, length, stops
        self.asked, self.go_on, self.stopped = [], not stops, None  # the port of the client that waits
        hub.fault = self.answer

    def answer(self, request, path):
        if not path.endswith("/archive.tar"):
            return False
        asked = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range") or "")
        self.asked.append((int(asked[1]) if asked else None, request.headers.get("If-Range")))
        first = int(asked[1]) if asked and self.ranges and request.headers.get("If-Range") == self.etag else 0
        if first and first >= len(self.data):
            return request.answer(416, b"", {"Content-Range": f"bytes */{len(self.data)}"})
        head = {"ETag": self.etag, "Accept-Ranges": "bytes" if self.ranges else None, "Content-Length": len(self.data) - first if self.length else None,
                "Content-Range": f"bytes {first}-{len(self.data) - 1}/{len(self.data)}" if first else None, "Connection": "close"}
        head, body = {k: str(v) for k, v in head.items() if v is not None}, self.data[first:]
        if self.cuts and not self.stops:
            return request.cut(206 if first else 200, head, body[:self.cuts.pop(0)])
        request.send_response(206 if first else 200)
        for name, value in head.items():
            request.send_header(name, value)
        request.end_headers()
        if self.cuts:
            size = self.cuts.pop(0)
            request.wfile.write(body[:size])
            self.stopped = request.client_address[1]
            until(lambda: self.go_on)
            body = body[size:]
        request.wfile.write(body)
        request.close_connection = True
        return True


@pytest.fixture
def hub():
    with HostileHub({ID: {"data/x": b"1"}}) as hub:
        yield hub


@pytest.fixture
def cli(hub, tmp_path):
    return Cli(tmp_path / "datasets", hub.url)


def left(tmp_path):
    return sorted(n for n in os.listdir(tmp_path) if n != "datasets")


def test_a_cut_connection_goes_on(hub, cli, tmp_path):
    archive = Archive(hub, [200_000, 100_000])
    cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
    assert (tmp_path / "x.tar").read_bytes() == DATA and left(tmp_path) == ["x.tar"]
    assert archive.asked == [(None, None), (200_000, '"e-1"'), (300_000, '"e-1"')]
    archive.cuts = [200_000]
    assert cli.bytes("get", ID, "archive.tar") == DATA, "a pipe cannot go back, and need not"


def test_without_parts_it_begins_again(hub, cli, tmp_path):
    for options in {"ranges": False}, {"etag": 'W/"e"'}, {"etag": ""}:
        archive = Archive(hub, [200_000], **options)
        cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
        assert (tmp_path / "x.tar").read_bytes() == DATA and left(tmp_path) == ["x.tar"]
        assert archive.asked == [(None, None)] * 2
        Archive(hub, [200_000], **options)
        assert "stopped answering" in cli.run("get", ID, "archive.tar", "--format", "raw", prefix=["sh", "-c", '"$@" >/dev/null', "sh"], expect=4).err


def test_another_answer_after_a_break(hub, cli, tmp_path):
    archive = Archive(hub, [200_000])

    def change(request, path):
        if archive.asked:
            archive.data, archive.etag = OTHER, '"e-2"'
        return archive.answer(request, path)

    hub.fault = change
    cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
    assert (tmp_path / "x.tar").read_bytes() == OTHER and left(tmp_path) == ["x.tar"]
    archive = Archive(hub, [200_000])
    hub.fault = change
    assert "the file has changed" in cli.run("get", ID, "archive.tar", prefix=["sh", "-c", '"$@" >/dev/null', "sh"]).err


def is_taken(port):
    """Whether the client at that port has read all that was sent to it."""
    with open("/proc/net/tcp") as f:
        fields = [line.split() for line in f][1:]
    return all(queues == "00000000:00000000" for _, local, remote, _, queues, *_ in fields if f"{port:04X}" in (local[-4:], remote[-4:]))


def interrupted(cli, archive, tmp_path):
    p = cli.start("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"))
    until(lambda: archive.stopped and is_taken(archive.stopped))
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=60)
    assert p.returncode == 130, err
    archive.go_on, archive.stops = True, False
    return err


def test_an_interrupt_leaves_a_part_to_go_on_with(hub, cli, tmp_path):
    archive = Archive(hub, [200_000], stops=True)
    assert "run the same command again" in interrupted(cli, archive, tmp_path)
    (part,) = left(tmp_path)
    assert part.startswith("x.tar.") and part.endswith("-e-1.part") and (tmp_path / part).read_bytes() == DATA[:200_000]
    cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
    assert (tmp_path / "x.tar").read_bytes() == DATA and left(tmp_path) == ["x.tar"] and archive.asked[1:] == [(200_000, '"e-1"')]


def test_an_interrupt_leaves_nothing_that_is_of_no_use(hub, cli, tmp_path):
    archive = Archive(hub, [200_000], ranges=False, stops=True)
    assert "goes on" not in interrupted(cli, archive, tmp_path)
    assert left(tmp_path) == []


@pytest.mark.parametrize("what", ["changed", "other", "whole"])
def test_a_part_that_does_not_fit(hub, cli, tmp_path, what):
    """Of a state that is gone, of another answer, or of all of it: the answer comes from its beginning, and no part stays."""
    archive = Archive(hub)
    url = hashlib.sha256(f"{hub.url}{PREFIX}/{ID}/archive.tar".encode()).hexdigest()[:8]
    tag = {"changed": f"{url}-e-0", "other": "00000000-e-1", "whole": f"{url}-e-1"}[what]
    (tmp_path / f"x.tar.{tag}.part").write_bytes(DATA if what == "whole" else OTHER[:1000])
    (tmp_path / "x.tar.123.part").write_bytes(b"somebody else's")
    cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
    assert (tmp_path / "x.tar").read_bytes() == DATA and left(tmp_path) == ["x.tar", "x.tar.123.part"]
    assert archive.asked == {"changed": [(1000, '"e-0"')], "other": [(None, None)], "whole": [(len(DATA), '"e-1"'), (None, None)]}[what]


@pytest.mark.parametrize("how", [os.symlink, os.link])
def test_a_part_that_leads_elsewhere_is_left_alone(hub, cli, tmp_path, how):
    archive, target = Archive(hub), tmp_path / "datasets" / "victim"
    os.makedirs(target.parent, exist_ok=True)
    target.write_bytes(b"precious")
    how(target, tmp_path / f"x.tar.{hashlib.sha256(f'{hub.url}{PREFIX}/{ID}/archive.tar'.encode()).hexdigest()[:8]}-e-1.part")
    cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
    assert (tmp_path / "x.tar").read_bytes() == DATA and target.read_bytes() == b"precious" and archive.asked == [(None, None)]


def test_two_at_once(hub, cli, tmp_path):
    """The second one leaves the part of the first alone."""
    archive = Archive(hub, [200_000], stops=True)
    first = cli.start("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"))
    until(lambda: any(os.path.getsize(tmp_path / n) for n in left(tmp_path)))
    cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), expect=0)
    assert (tmp_path / "x.tar").read_bytes() == DATA and len(left(tmp_path)) == 2 and archive.asked == [(None, None)] * 2
    archive.go_on = True
    assert first.wait(60) == 0 and (tmp_path / "x.tar").read_bytes() == DATA and left(tmp_path) == ["x.tar"]
    first.communicate()


def test_attempts_are_counted_and_the_part_stays(hub, cli, tmp_path):
    archive = Archive(hub, [1000] * 9)
    err = cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), "--attempts", "2", expect=4).err
    assert "run the same command again" in err and len(archive.asked) == 2
    (part,) = left(tmp_path)
    assert os.path.getsize(tmp_path / part) == 2000
    assert len(cli.run("get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), "--attempts", "1", "--json", expect=4).err.splitlines()) == 1
    assert archive.asked[2] == (2000, '"e-1"') and os.path.getsize(tmp_path / part) == 3000


def test_the_bar(hub, cli, tmp_path):
    def shown(*more, **options):
        archive = Archive(hub, [350_000], stops=True, **options)
        threading.Timer(0.6, setattr, (archive, "go_on", True)).start()
        hub.fault = lambda request, path: time.sleep(0.2) or archive.answer(request, path)  # nothing is drawn of what takes no time
        code, seen = on_terminal(cli, "get", ID, "archive.tar", "-o", str(tmp_path / "x.tar"), *more)
        assert code == 0 and (tmp_path / "x.tar").read_bytes() == DATA
        return seen

    assert re.search(r"x\.tar \[#+\.*\] +\d+% 0\.\d MB/0\.7 MB \d", shown())
    seen = shown(length=False)
    assert re.search(r"x\.tar +0\.\d MB \d", seen) and "%" not in seen
    assert "x.tar" not in shown("--no-progress") and "x.tar" not in shown("--quiet")


def test_with_a_hub(tmp_path):
    with serving(os.path.join(FIXTURES, "minari", "root-0.5.3")) as hub:
        cli, at = Cli(tmp_path / "datasets", hub.base), f"{PREFIX}/D4RL/door/human-v2/archive.tar"
        answer = hub.get(at)
        etag, url = answer.headers["ETag"].strip('"'), hashlib.sha256((hub.base + at).encode()).hexdigest()[:8]
        (tmp_path / f"x.tar.{url}-{etag}.part").write_bytes(answer.body[:300_000])
        r = cli.run("get", "D4RL/door/human-v2", "archive.tar", "-o", str(tmp_path / "x.tar"), "-v", expect=0)
        assert (tmp_path / "x.tar").read_bytes() == answer.body and f"206, {len(answer.body) - 300_000} bytes" in r.err
        assert left(tmp_path) == ["x.tar"]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-x", "-s"] + sys.argv[1:]))
