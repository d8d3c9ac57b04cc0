"""Downloads from a hub that breaks off, lies, changes its mind or never ends: what is published is right, or nothing is."""
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from cli import CLI, Cli, on_terminal, tree
from hostile import PREFIX, HostileHub, endless
from hub import PATIENCE, until

ID = "door-human-v0"
MAIN = "data/main_data.hdf5"
SEGMENT = 8 << 20
rng = random.Random(5)
BIG = rng.randbytes(5 * SEGMENT + 12345)
SMALL = {MAIN: rng.randbytes(300_000), "data/metadata.json": b"{}", "data/empty": b""}


@pytest.fixture
def small():
    with HostileHub({ID: dict(SMALL)}) as hub:
        yield hub


@pytest.fixture
def big():
    with HostileHub({ID: {MAIN: BIG, "data/metadata.json": b"{}"}}) as hub:
        yield hub


def is_main(path):
    return path.endswith(MAIN)


def nothing_published(cli):
    assert not os.path.exists(cli.path(ID))


def right(cli, hub):
    assert tree(cli.path(ID)) == hub.sets[ID]
    assert not os.listdir(cli.path(".minari-hub", "incoming"))


def test_download_verify_and_what_is_left_behind(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    r = cli.run("download", ID, expect=0)
    assert "verified (SHA-256 of 3 files)" in r.out
    right(cli, small)
    assert cli.run("verify", ID, expect=0).out.count("verified")


def test_large_files_come_in_parts_over_connections(big, tmp_path):
    cli = Cli(tmp_path, big.url)
    cli.run("download", ID, expect=0)
    right(cli, big)
    ranges = sorted(int(r[2][6:].split("-")[0]) for r in big.file_requests() if is_main(r[1]))
    assert ranges == [i * SEGMENT for i in range(6)]


def test_a_broken_connection_is_taken_up_where_it_broke(small, tmp_path):
    cuts = []

    def fault(request, path):
        if is_main(path) and len(cuts) < 3:
            data, asked = SMALL[MAIN], request.headers.get("Range")
            first = int(asked[6:].split("-")[0]) if asked else 0
            cuts.append(first)
            total = len(data)
            head = {"Content-Length": str(total - first), "ETag": '"e"'}
            if first:
                assert request.headers["If-Range"] == '"e"'
                head["Content-Range"] = f"bytes {first}-{total - 1}/{total}"
            return request.cut(206 if first else 200, head, data[first:first + 50_000])
        if is_main(path):
            data, first = SMALL[MAIN], int(request.headers["Range"][6:].split("-")[0])
            request.answer(206, data[first:], {"ETag": '"e"', "Content-Range": f"bytes {first}-{len(data) - 1}/{len(data)}"})
            return True

    small.fault = fault
    cli = Cli(tmp_path, small.url)
    cli.run("download", ID, expect=0)
    right(cli, small)
    assert cuts == [0, 50_000, 100_000], "no byte was fetched twice"


def test_a_part_of_another_place_is_refused(big, tmp_path):
    def fault(request, path):
        if is_main(path):
            request.answer(206, BIG[:SEGMENT], {"Content-Range": f"bytes 0-{SEGMENT - 1}/{len(BIG)}"})
            return True

    big.fault = fault
    cli = Cli(tmp_path, big.url)
    assert "did not send the requested part" in cli.run("download", ID, expect=4).err
    nothing_published(cli)


@pytest.mark.parametrize("header", [None, "bytes */42", "bytes 0-", "bytes 5-4/9", "bytes 0-8388607/99999999999999999999"])
def test_a_part_without_a_good_content_range_is_refused(big, tmp_path, header):
    def fault(request, path):
        if is_main(path):
            request.answer(206, BIG[:SEGMENT], {"Content-Range": header})
            return True

    big.fault = fault
    cli = Cli(tmp_path, big.url)
    cli.run("download", ID, expect=4)
    nothing_published(cli)


def test_a_server_without_ranges(big, tmp_path):
    def fault(request, path):
        if is_main(path):
            request.answer(200, BIG)
            return True

    big.fault = fault
    cli = Cli(tmp_path, big.url)
    cli.run("download", ID, expect=0)
    right(cli, big)


def test_another_etag_starts_over_with_the_new_files(big, tmp_path):
    new, asked = rng.randbytes(len(BIG)), []

    def fault(request, path):
        if is_main(path):
            asked.append(path)
            if len(asked) == 4:
                big.sets[ID] = {MAIN: new, "data/metadata.json": b"{}"}
                request.answer(206, new[:SEGMENT], {"ETag": '"new"', "Content-Range": f"bytes 0-{SEGMENT - 1}/{len(new)}"})
                return True

    big.fault = fault
    cli = Cli(tmp_path, big.url)
    r = cli.run("download", ID, expect=0)
    assert "starting over" in r.err
    right(cli, big)
    assert tree(cli.path(ID))[MAIN] == new


def test_a_revision_that_goes_starts_over(big, tmp_path):
    asked = []

    def fault(request, path):
        if is_main(path):
            asked.append(path)
            if len(asked) == 4:
                big.sets[ID] = {MAIN: BIG[::-1], "data/metadata.json": b"{}"}

    big.fault = fault
    cli = Cli(tmp_path, big.url)
    cli.run("download", ID, expect=0)
    right(cli, big)


def test_a_dataset_that_never_rests_is_given_up(small, tmp_path):
    def fault(request, path):
        if "/files/" in path:
            small.salt[ID] = time.monotonic()

    small.fault = fault
    cli = Cli(tmp_path, small.url)
    r = cli.run("download", ID, expect=1)
    assert "kept changing" in r.err
    nothing_published(cli)


def test_errors_that_pass(small, tmp_path):
    count = [0]

    def fault(request, path):
        count[0] += 1
        if count[0] % 3:
            status = (500, 502, 503, 429, 408)[count[0] % 5]
            request.problem(status, "overloaded", headers={"Retry-After": "0"} if status == 503 else ())
            return True

    small.fault = fault
    cli = Cli(tmp_path, small.url)
    cli.run("download", ID, expect=0)
    right(cli, small)


def test_retry_after_is_waited_for(small, tmp_path):
    when = []

    def fault(request, path):
        when.append(time.monotonic())
        if len(when) == 1:
            request.problem(503, "starting", headers={"Retry-After": "1"})
            return True

    small.fault = fault
    Cli(tmp_path, small.url).run("list", "remote", expect=0)
    assert when[1] - when[0] >= 1


def test_errors_that_stay(small, tmp_path):
    small.fault = lambda request, path: request.answer(500, b"<html>") or True
    cli = Cli(tmp_path, small.url)
    r = cli.run("list", "remote", "--attempts", "3", expect=4)
    assert "500" in r.err
    assert len(small.requests) == 3


def test_nobody_there(tmp_path):
    began = time.monotonic()
    r = Cli(tmp_path, "http://127.0.0.1:9").run("list", "remote", expect=4)
    assert time.monotonic() - began < 30 and "cannot be reached" in r.err and "readyz" in r.err


def test_redirects(small, tmp_path):
    cli = Cli(tmp_path, small.url)

    def loop(request, path):
        request.answer(302, headers={"Location": request.path})
        return True

    small.fault = loop
    assert "redirects" in cli.run("list", "remote", expect=4).err
    for place in ("file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/x", None):
        small.fault = lambda request, path: request.answer(302, headers={"Location": place}) or True
        assert "root:" not in cli.run("list", "remote", "--trust-redirects", expect=4).out
    small.fault = lambda request, path: path.startswith("/api") and (request.answer(307, headers={"Location": "/moved" + request.path}) or True)  # the same host may move things about
    asked = len(small.requests)
    cli.run("list", "remote")
    assert [r[1][:6] for r in small.requests[asked:]] == ["/api/v", "/moved"]


def test_other_hosts_are_followed_only_where_that_is_trusted(small, tmp_path):
    with HostileHub({ID: dict(SMALL)}) as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        for place in (elsewhere, other.url):  # another name, and another port
            small.fault = lambda request, path: request.answer(302, headers={"Location": place + request.path}) or True
            r = Cli(tmp_path, small.url).run("list", "remote", "--token-file", "-", input="secret", expect=7)
            assert "another host" in r.err and "--trust-redirects" in r.err and place in r.err
        assert not other.requests
        cli = Cli(tmp_path, small.url)
        cli.run("download", ID, "--token-file", "-", "--trust-redirects", input="secret", expect=0)
        assert tree(cli.path(ID)) == SMALL and len(other.file_requests()) == 2
        assert all(r[3]["Authorization"] == "Bearer secret" for r in small.requests)
        assert other.requests and all("Authorization" not in r[3] for r in other.requests), "the token stays with its hub"


def test_the_next_page_is_the_same_hubs(small, tmp_path):
    with HostileHub({ID: dict(SMALL)}) as other:
        small.pages, small.next_base = 1, other.url  # "next" on another host: only its query counts
        small.sets["a-v0"] = small.sets["b-v0"] = {"data/x": b"1"}
        assert Cli(tmp_path, small.url).run("list", "remote", "--json", expect=0).json()["total"] == 3
        assert not other.requests


def test_a_hub_that_sends_a_byte_now_and_then_is_given_up(small, tmp_path):
    def drip(request, path):
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", "100000")
        request.end_headers()
        for _ in range(300):
            request.wfile.write(b" ")
            request.wfile.flush()
            time.sleep(0.1)
        return True

    small.fault = drip
    began = time.monotonic()
    r = Cli(tmp_path, small.url).run("list", "remote", "--timeout", "1", "--attempts", "1", expect=4)
    assert time.monotonic() - began < 10 and "stopped answering" in r.err and small.url + "/readyz" in r.err


def test_lists_that_never_end_are_given_up(small, tmp_path):
    item = {**small.summary(ID), "description": "x" * (1 << 20)}
    body = json.dumps({"items": [dict(item, id=f"a-v{i}") for i in range(40)], "total": 1, "next": "/api/v1/datasets?cursor=1"}).encode()
    small.fault = lambda request, path: request.answer(200, body, type="application/json") or True
    r = Cli(tmp_path, small.url).run("list", "remote", expect=1)
    assert "does not end" in r.err and "prefix" in r.err
    assert len(small.requests) < 10


def test_https_to_a_hub_that_speaks_http(small, tmp_path):
    began = time.monotonic()
    r = Cli(tmp_path, small.url.replace("http:", "https:")).run("list", "remote", expect=4)
    assert "check whether it speaks https" in r.err and "http://" in r.err and time.monotonic() - began < 5


def test_a_hub_that_went_away(big, tmp_path):
    """What came is kept, and said to be; the tries in between are told."""
    def fault(request, path):
        if is_main(path) and len(big.file_requests()) > 2:
            return request.cut(500, {}, b"")

    big.fault = fault
    cli = Cli(tmp_path, big.url)
    r = cli.run("download", ID, "--attempts", "4", "--connections", "1", expect=4)
    assert re.search(r"[1-9]\d% are downloaded: run the same command again to continue", r.err), r
    assert "trying again in" in r.err and "attempt 2 failed" in r.err
    assert "trying again" not in cli.run("download", ID, "--attempts", "3", "--quiet", expect=4).err
    big.fault = None
    assert re.search(r"resuming, [12]\d\.\d MB of 42\.0 MB are already here", cli.run("download", ID, expect=0).err)


def test_answers_that_never_end(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    small.fault = lambda request, path: endless(request)
    r = cli.run("list", "remote")
    assert r.code in (1, 4) and "longer than" in r.err
    small.fault = lambda request, path: is_main(path) and endless(request)
    r = cli.run("download", ID)
    assert r.code in (1, 4) and "longer than" in r.err
    nothing_published(cli)


def test_a_stalled_server_is_given_up(small, tmp_path):
    """The library's stall timeout; its default of 30 s is too long for a test, so only Ctrl-C is tried here."""
    small.fault = lambda request, path: time.sleep(20) or True
    cli = Cli(tmp_path, small.url)
    p = cli.start("list", "remote")
    until(lambda: small.requests)
    p.send_signal(signal.SIGINT)
    assert p.wait(15) == 130  # the answer would take 20 s
    p.communicate()


@pytest.mark.parametrize("listing", [
    [{"path": "../../escaped", "size": 1}],
    [{"path": "/tmp/escaped", "size": 1}],
    [{"path": "data/../../escaped", "size": 1}],
    [{"path": "data/.hidden", "size": 1}],
    [{"path": ".minari-hub.json", "size": 1}],
    [{"path": "data/a", "size": 1}, {"path": "data/a", "size": 1}],
    [{"path": "data/a", "size": -1}],
    [{"path": "data/a"}],
    [{"path": "data/a", "size": 1 << 62}, {"path": "data/b", "size": 1 << 62}, {"path": "data/c", "size": 1 << 62}, {"path": "data/d", "size": 1 << 62}],
    [{"size": 1}],
    ["data/a"],
])
def test_listings_that_lie(small, tmp_path, listing):
    small.listing = lambda id: {"id": id, "revision": small.revision(id), "size": 1, "total": 1, "items": listing}
    cli = Cli(tmp_path, small.url)
    r = cli.run("download", ID)
    assert r.code in (1, 4, 6), r
    nothing_published(cli)
    assert not os.path.exists(os.path.join(os.path.dirname(cli.root), "escaped")) and not os.path.exists("/tmp/escaped")


def test_an_id_that_leaves_is_refused(small, tmp_path):
    real = small.summary
    small.summary = lambda id: {**real(id), "id": "../../escaped"}
    cli = Cli(tmp_path / "inner", small.url)
    assert cli.run("download", ID).code in (2, 4)
    for id in ("../x", "/etc", "a/../b", "", "a//b", ".minari-hub"):
        assert cli.run("download", "--", id).code == 2, id
        assert cli.run("delete", "-y", "--", id).code in (2, 3), id
    assert sorted(os.listdir(tmp_path)) in ([], ["inner"])


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"{\"items\":{}}", b"<html>", b"{\"items\":[{}]}", b"{\"items\":[1]}", b"[" * 100000, b"\xff\xfe"])
def test_answers_that_are_none(small, tmp_path, body):
    small.fault = lambda request, path: request.answer(200, body, type="application/json") or True
    r = Cli(tmp_path, small.url).run("list", "remote", expect=4)
    assert "hub" in r.err


def test_bytes_that_are_not_what_was_promised(small, tmp_path):
    wrong = b"\0" * len(SMALL[MAIN])
    small.fault = lambda request, path: is_main(path) and (request.answer(200, wrong, {"ETag": '"e"'}) or True)
    cli = Cli(tmp_path, small.url)
    r = cli.run("download", ID, expect=5)
    assert "SHA-256" in r.err and "verified" not in r.out
    nothing_published(cli)
    small.fault = None
    before = len(small.file_requests())
    cli.run("download", ID, expect=0)
    right(cli, small)
    assert all(is_main(r[1]) for r in small.file_requests()[before:]), "only the bad file was fetched again"


def test_nobody_says_verified_without_a_digest(tmp_path):
    with HostileHub({ID: dict(SMALL)}, digests=False) as hub:
        listing = hub.listing

        def partly(id):
            got = listing(id)
            got["items"][1]["sha256"] = hub.sha256(SMALL[got["items"][1]["path"]])
            return got

        hub.listing = partly
        cli = Cli(tmp_path, hub.url)
        r = cli.run("download", ID, "--digest-wait", "1", expect=0)
        assert "2 of 3 files verified, size only of the rest" in r.out  # an empty file is what its size says
        assert not cli.run("download", ID, "--digest-wait", "1", "--json", "--force", expect=0).json()["downloads"][0]["verified"]
        r = cli.run("verify", ID, expect=0)
        assert "not all digests are known" in r.out and "2 verified, 1 as downloaded" in r.out
        with open(cli.path(ID, "data", "metadata.json"), "w") as f:
            f.write("[]")
        assert "changed: data/metadata.json" in cli.run("verify", ID, expect=5).out


def test_texts_cannot_command_a_terminal(small, tmp_path):
    real = small.summary
    small.summary = lambda id: {**real(id), "authors": ["\x1b]0;owned\x07\x1b[2J\u202e"], "description": "\x1b[31m"}
    cli = Cli(tmp_path, small.url)
    for args in (("list", "remote"), ("show", ID)):
        out = cli.run(*args, expect=0).out
        assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out
    small.fault = lambda request, path: request.problem(404, "dataset-not-found", "\x1b[2Jgone") or True
    assert "\x1b" not in cli.run("show", "x-v0", expect=3).err
    for text in ("\x1b[2J", "\x9b2J", "\x07", "\x7f"):
        body = json.dumps({"items": [{"number": 0, "task": text}], "next": None}, ensure_ascii=False).encode()
        body = body.replace(b"\\u001b", b"\x1b").replace(b"\\u0007", b"\x07")  # as a hub that is none would write it
        small.fault = lambda request, path: request.answer(200, body, type="application/json") or True
        for args in (("episodes", ID, "--json"), ("episodes", ID), ("get", ID, "0", "rewards")):
            code, seen = on_terminal(cli, *args, NO_COLOR="1")
            assert text not in seen, (args, seen)


def test_what_minari_inspect_says_cannot_either(tmp_path):
    script = tmp_path / "inspect"
    script.write_text("#!/bin/sh\nprintf 'cannot read \\033[2J\\302\\233x\\n' >&2\nexit 1\n")
    script.chmod(0o755)
    r = Cli(tmp_path).run("list", "local", expect=1, MINARI_INSPECT=str(script))
    assert "cannot read ?[2J?x" in r.err and "\x1b" not in r.err and "\x9b" not in r.err


def stop_at(hub, number):
    """From that request for a file on none is answered, until what is returned is set."""
    held = threading.Event()
    hub.fault = lambda request, path: is_main(path) and len(hub.file_requests()) >= number and not held.wait(PATIENCE)
    return held


def test_kill_9_and_go_on(big, tmp_path):
    """Five times; what is fetched twice is at most what was under way."""
    big.sets[ID] = {MAIN: BIG, **{f"data/additional_data_{i}.hdf5": rng.randbytes(SEGMENT + 1) for i in range(4)}}
    cli = Cli(tmp_path, big.url)
    big.fault = lambda request, path: "/files/" in path and time.sleep(0.35)
    for round in range(5):
        before = len(big.file_requests())
        p = cli.start("download", ID, "--connections", "2")
        until(lambda: len(big.file_requests()) > before + round)
        p.kill()
        p.communicate()
        nothing_published(cli)
    r = cli.run("download", ID, expect=0)
    assert "resuming" in r.err
    right(cli, big)
    asked = [r[1:3] for r in big.file_requests()]
    assert len(asked) - len(set(asked)) <= 5 * 2, "more was fetched twice than was under way"


def test_an_interrupt_keeps_what_came(big, tmp_path):
    held = stop_at(big, 4)
    cli = Cli(tmp_path, big.url)
    p = cli.start("download", ID, "--connections", "1")
    until(lambda: len(big.file_requests()) >= 4)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=PATIENCE)
    held.set()
    assert p.returncode == 130 and "run the same command again to continue" in err
    nothing_published(cli)
    big.fault = None
    before = len(big.file_requests())
    r = cli.run("download", ID, "--json", expect=0)
    assert r.json()["downloads"][0]["bytes_kept"] >= SEGMENT
    assert len(big.file_requests()) - before < 7
    right(cli, big)


def test_one_download_at_a_time(big, tmp_path):
    held = stop_at(big, 1)
    cli = Cli(tmp_path, big.url)
    p = cli.start("download", ID)
    until(big.file_requests)
    assert "another process" in cli.run("download", ID, expect=1).err
    held.set()
    p.communicate()
    assert p.returncode == 0
    right(cli, big)


def test_existing_and_force(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    cli.run("download", ID, expect=0)
    before = len(small.file_requests())
    r = cli.run("download", ID, expect=0)
    assert "skipped" in r.err and len(small.file_requests()) == before
    small.sets[ID] = {MAIN: b"other"}
    assert "another revision" in cli.run("download", ID, expect=0).err
    assert tree(cli.path(ID)) == SMALL
    cli.run("download", ID, "--force", expect=0)
    right(cli, small)


def test_readers_see_the_old_or_the_new_dataset(small, tmp_path):
    """While it is replaced again and again, every opened tree is whole."""
    sets = [{f"data/{i}": bytes([v]) * 1000 for i in range(5)} for v in (1, 2)]
    cli = Cli(tmp_path, small.url)
    small.sets[ID] = sets[0]
    cli.run("download", ID, expect=0)
    stop, bad = threading.Event(), []

    def read():
        while not stop.is_set():
            folder = os.open(cli.path(ID), os.O_RDONLY)
            try:
                seen = set()
                for i in range(5):
                    f = os.open(f"data/{i}", os.O_RDONLY, dir_fd=folder)
                    seen.add(os.read(f, 1))
                    os.close(f)
                if len(seen) != 1:
                    bad.append(seen)
            except FileNotFoundError:
                pass  # the old tree is gone by now: a reader opens again
            os.close(folder)

    thread = threading.Thread(target=read)
    thread.start()
    for i in range(10):
        small.sets[ID] = sets[(i + 1) % 2]
        cli.run("download", ID, "--force", expect=0)
        assert os.path.isdir(cli.path(ID))
    stop.set()
    thread.join()
    assert not bad


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk(big, tmp_path):
    place = tmp_path / "small-disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", place], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        cli = Cli(place, big.url)
        r = cli.run("download", ID, expect=6)
        assert "needs 42.0 MB more" in r.err and not big.file_requests(), "told before anything was fetched"
        nothing_published(cli)
        big.sets[ID] = {MAIN: BIG[:12 << 20]}
        (place / "filler").write_bytes(b"")
        filled = []

        def fill(request, path):  # the disk fills up while the download runs: the second file has no room
            if path.endswith("/a") and not filled:
                filled.append(1)
                (place / "filler").write_bytes(b"\0" * (9 << 20))

        big.sets[ID] = {"data/a": BIG[:1 << 20], "data/b": BIG[:12 << 20]}
        big.fault = fill
        r = cli.run("download", ID, "--connections", "1", expect=6)
        nothing_published(cli)
        (place / "filler").unlink()
        r = cli.run("download", ID, expect=0)
        right(cli, big)
    finally:
        subprocess.run(["umount", "-l", place])


def test_many_small_files(tmp_path):
    files = {f"data/{i}/part-0.arrow": rng.randbytes(i % 50) for i in range(400)}
    with HostileHub({"many-v0": files}) as hub:
        cli = Cli(tmp_path, hub.url)
        cli.run("download", "many-v0", expect=0)
        assert tree(cli.path("many-v0")) == files
        assert len(hub.file_requests()) == sum(1 for d in files.values() if d), "one request a file, none for empty ones"


# ---- a hub that says what is to be published ----


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("lie", ["lab", "precious-v3", "lab/precious-v3", "door-human-v1", "door-human"])
@pytest.mark.parametrize("where", ["summary", "listing"])
def test_a_hub_cannot_choose_what_is_published(small, tmp_path, where, lie, force):
    cli = Cli(tmp_path / "datasets", small.url)
    for id in ("lab/precious-v3", "precious-v3"):
        os.makedirs(cli.path(id, "data"))
    real = getattr(small, where)
    setattr(small, where, lambda id: {**real(id), "id": lie})
    assert "the request names" in cli.run("download", ID, *force, expect=4).err
    assert sorted(n for n in os.listdir(cli.root) if n[0] != ".") == ["lab", "precious-v3"]
    assert os.listdir(cli.path("lab")) == ["precious-v3"] and os.path.isdir(cli.path("precious-v3", "data"))


def test_what_is_in_the_way_counts_only_if_it_is_whole(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    for path, data in SMALL.items():
        os.makedirs(os.path.dirname(cli.path(ID, path)), exist_ok=True)
        with open(cli.path(ID, path), "wb") as f:
            f.write(data)
    assert "skipped" in cli.run("download", ID, expect=0).err and not small.file_requests()  # as another program downloads it
    os.truncate(cli.path(ID, MAIN), 1000)
    r = cli.run("download", ID, expect=1)
    assert "not the remote's" in r.err and "no record" in r.err and "1000 bytes instead of 300000" in r.err and "--force" in r.err
    said = cli.run("download", ID, "--json", expect=1).json()
    assert said["downloads"] == [] and said["failed"][0]["id"] == ID and "1000 bytes" in said["failed"][0]["detail"]
    os.remove(cli.path(ID, MAIN))
    assert "is missing" in cli.run("download", ID, expect=1).err
    cli.run("download", ID, "--force", expect=0)
    right(cli, small)
    os.truncate(cli.path(ID, MAIN), 1000)
    r = cli.run("download", ID, expect=1)  # the record tells it without asking for the list
    assert "not as it was downloaded" in r.err and "1000 bytes instead of 300000" in r.err
    cli.run("download", ID, "--force", expect=0)
    right(cli, small)


def test_a_byte_that_was_flipped_on_its_way_comes_right_the_next_time(small, tmp_path):
    left = [1]

    def fault(request, path):
        if is_main(path) and left:
            return request.answer(200, bytes([SMALL[MAIN][0] ^ 1]) + SMALL[MAIN][1:]) if left.pop() else None

    small.fault = fault
    cli = Cli(tmp_path, small.url)
    r = cli.run("download", ID, expect=0)
    assert "fetching the wrong bytes again" in r.err and "verified (SHA-256 of 3 files)" in r.out
    right(cli, small)
    assert len([q for q in small.file_requests() if is_main(q[1])]) == 2 and len(small.file_requests()) == 3  # what is good is kept


def test_who_is_asked_to_wait_for_an_hour_is_told(small, tmp_path):
    small.fault = lambda request, path: is_main(path) and request.problem(429, "overloaded", "too much", {"Retry-After": "3600"})
    r = Cli(tmp_path, small.url).run("download", ID, expect=4)
    assert "try again in 60 minutes" in r.err and len([q for q in small.file_requests() if is_main(q[1])]) == 1


def test_a_limit_of_file_sizes_is_said(big, tmp_path):
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SEGMENT, SEGMENT))
    cli = Cli(tmp_path, big.url)
    p = cli.start("download", ID, preexec_fn=limited)
    _, said = p.communicate()
    assert p.returncode == 6 and "File too large" in said and "ulimit -f" in said, said
    cli.run("download", ID, expect=0)
    right(cli, big)


def test_a_file_in_the_place_of_the_folder(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    (tmp_path / "file").write_text("x")
    for place in ("file", "file/below"):
        r = cli.run("download", ID, "-o", str(tmp_path / place), expect=1)
        assert "a file is in its place" in r.err and not small.file_requests()
    os.rename(tmp_path / "file", cli.path(ID))
    assert "is not a dataset" in cli.run("download", ID, expect=1).err


def test_a_version_of_the_id_may_be_the_answer(small, tmp_path):
    real = small.summary
    small.sets["door-human"] = small.sets[ID]
    small.summary = lambda id: {**real(id), "id": "door-human-v0"} if id == "door-human" else real(id)
    cli = Cli(tmp_path, small.url)
    cli.run("download", "door-human", expect=0)
    assert os.path.isdir(cli.path("door-human-v0"))


def test_force_replaces_no_namespace_and_nothing_that_was_not_asked_for(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    small.sets["my-own"] = small.sets["precious-v3"] = {"data/x": b"of the hub"}
    for id in ("my-own/precious-v3", "precious-v3"):
        os.makedirs(cli.path(id, "data"))
        with open(cli.path(id, "data", "x"), "w") as f:
            f.write("mine")
    r = cli.run("download", "--force", "my-own", expect=1)
    assert "is not a dataset" in r.err and not small.file_requests(), "told before anything was fetched"
    assert tree(cli.path("my-own")) == {"precious-v3/data/x": b"mine"}

    def fault(request, path):  # the dataset that was asked for says it was combined from the user's own
        if path == PREFIX + "/" + ID:
            request.json({**small.summary(ID), "fields": [], "problems": [], "versions": [], "combined": ["precious-v3"]})
            return True

    small.fault = fault
    assert "precious-v3: skipped" in cli.run("download", "--force", ID, expect=0).err
    assert tree(cli.path("precious-v3")) == {"data/x": b"mine"}
    right(cli, small)


def test_what_was_replaced_stays_until_the_next_download(small, tmp_path):
    cli = Cli(tmp_path, small.url)
    cli.run("download", ID, expect=0)
    old, small.sets[ID] = small.sets[ID], {MAIN: b"other"}
    cli.run("download", ID, "--force", expect=0)
    kept = os.listdir(cli.path(".minari-hub", "trash"))
    assert len(kept) == 1 and tree(cli.path(".minari-hub", "trash", kept[0])) == old
    cli.run("download", ID, expect=0)
    assert os.listdir(cli.path(".minari-hub", "trash")) == []


@pytest.mark.parametrize("status", ["broken", "pending", "unsupported", "ready"])
def test_what_is_of_no_use_is_not_downloaded_unasked(small, tmp_path, status):
    real = small.summary
    more = {"loadable": False, "reason": "as told"} if status == "ready" else {"status": status, "reason": "as told"}
    small.summary = lambda id: {**real(id), **more}
    cli = Cli(tmp_path, small.url)
    r = cli.run("download", ID, expect=8)
    assert (status if status != "ready" else "not loadable") in r.err and "as told" in r.err and "--force" in r.err
    nothing_published(cli)
    r = cli.run("download", ID, "--force", expect=0)
    assert "its files are downloaded as they are" in r.err
    right(cli, small)


# ---- a folder of datasets that others can write in ----


def planted(folder):
    """What an attacker would like to see moved or removed, and what is in it."""
    os.makedirs(folder / "thesis")
    (folder / "thesis" / "1.txt").write_text("keep")
    (folder / "1-1").mkdir()
    (folder / "1-1" / "x").write_text("keep")
    (folder / "secret.key").write_text("keep")
    return lambda: tree(folder) == {"thesis/1.txt": b"keep", "1-1/x": b"keep", "secret.key": b"keep"}


@pytest.mark.parametrize("link", [".minari-hub", ".minari-hub/trash", ".minari-hub/replace", ".minari-hub/incoming"])
def test_a_private_folder_that_is_a_link_is_not_followed(small, tmp_path, link):
    untouched = planted(tmp_path / "victim")
    cli = Cli(tmp_path / "datasets", small.url)
    os.makedirs(os.path.dirname(cli.path(link)), mode=0o700)
    os.symlink(tmp_path / "victim", cli.path(link))
    r = cli.run("download", ID)
    assert untouched(), r
    assert r.code == (0 if link == ".minari-hub" else 7), r
    if not r.code:
        assert tree(cli.path(ID)) == SMALL


def test_forged_journals_are_no_orders(small, tmp_path):
    untouched = planted(tmp_path / "victim")
    cli = Cli(tmp_path / "datasets", small.url)
    os.makedirs(cli.path(".minari-hub", "replace"), mode=0o700)
    os.chmod(cli.path(".minari-hub"), 0o700)
    (tmp_path / "evil").write_text("echo owned")
    for i, (id, new, old) in enumerate([("rc", "../../evil", "1-1"), ("../victim/rc", "incoming/0/tree", "1-1"), ("x-v0", "incoming/0/tree", "../../../victim/thesis")]):
        for names in (("id", "new", "old"), ("target", "new", "old")):
            with open(cli.path(".minari-hub", "replace", f"{i}-{len(names[0])}.json"), "w") as f:
                json.dump(dict(zip(names, (id if names[0] == "id" else str(tmp_path / "victim" / "rc"), str(tmp_path / "evil"), old))), f)
    cli.run("download", ID, expect=0)
    assert untouched() and (tmp_path / "evil").exists()
    assert os.listdir(cli.path(".minari-hub", "replace")) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files to somebody else needs root")
def test_the_private_folder_of_somebody_else_is_left_alone(small, tmp_path):
    cli = Cli(tmp_path / "datasets", small.url)
    os.makedirs(cli.path(".minari-hub", "trash", "1-1"))
    for name in (".minari-hub", ".minari-hub/trash", ".minari-hub/trash/1-1"):
        os.chown(cli.path(name), 12345, 12345)
    cli.run("download", ID, expect=0)
    assert tree(cli.path(ID)) == SMALL
    assert os.listdir(cli.path(".minari-hub")) == ["trash"] and os.listdir(cli.path(".minari-hub", "trash")) == ["1-1"]
    assert os.path.isdir(cli.path(".minari-hub-0"))
    os.chown(cli.path(".minari-hub-0"), 12345, 12345)
    r = cli.run("download", ID, "--force", expect=7)
    assert "not private to this user" in r.err


@pytest.mark.skipif(os.geteuid() != 0, reason="root may write everywhere: another user is needed")
def test_a_folder_that_cannot_be_written(small):
    become = {"user": 12345, "group": 12345, "extra_groups": []}
    with tempfile.TemporaryDirectory() as root:  # pytest's own folders are closed to others
        os.chmod(root, 0o755)
        cli = Cli(root, small.url)
        for place in (root, os.path.join(root, "below", "this")):
            p = subprocess.run([CLI, "download", ID, "-o", place], env=cli.env, capture_output=True, text=True, **become)
            assert p.returncode == 7 and "ermission denied" in p.stderr, p


# ---- unfinished downloads ----


def test_a_partial_download_is_seen_and_thrown_away(big, tmp_path):
    held = stop_at(big, 4)
    cli = Cli(tmp_path, big.url)
    p = cli.start("download", ID, "--connections", "1")
    until(lambda: len(big.file_requests()) >= 4)
    assert re.search(ID + r".*42.0 MB +downloading \d+%", cli.run("list", "local", expect=0).out)
    assert "another process" in cli.run("delete", "-y", ID, expect=1).err
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=PATIENCE)
    held.set()
    assert re.search(ID + r".*42.0 MB +partial [1-9]\d%", cli.run("list", "local", expect=0).out)
    assert cli.run("list", "local", "--json", expect=0).json()["partial"][0]["id"] == ID
    cli.run("delete", "-y", ID, expect=0)
    assert os.listdir(cli.path(".minari-hub", "incoming")) == []
    assert ID not in cli.run("list", "local", expect=0).out
    assert "not among" in cli.run("delete", "-y", ID, expect=3).err


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-x", "-s"] + sys.argv[1:]))
