"""Upstreams that break off, lie, change or never end: in the end the right bytes, or a stated refusal and nothing to be seen."""
import os
import random
import re
import sys

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import faults
from cli import Cli, tree
from hostile import HostileHub
from upstream import Upstream
from upstream_gcs import Gcs
from upstream_hf import Hf

DATA = random.Random(11).randbytes(700_000)
FILES = {"data/big.bin": DATA, "data/metadata.json": b"{}"}


class Case:
    """A remote, where its bytes come from, and a client of it that bears a token."""

    def __init__(self, upstream, bytes_from, part, address, cli, put, id=()):
        self.upstream, self.bytes_from, self.part, self.address, self.cli = upstream, bytes_from, part, address, cli
        self.put, self.id, self.files = put, id, FILES
        put(FILES)

    def download(self, fault, *args, expect=0):
        self.bytes_from.fault = faults.of(self.part, fault)
        r = self.cli.run("download", *self.id, "-r", self.address, "--as", "it", "-o", self.cli.root, "--token-file", "-", *args, input="secret", expect=expect)
        if expect:
            assert not os.path.exists(self.cli.path("it")), r
        else:
            assert tree(self.cli.path("it")) == self.files, r
        return r


class Hub(HostileHub):
    """A hub, as the upstreams of tests/support are used."""

    def __init__(self):
        super().__init__({})

    def seen(self, pattern):
        return [r for r in list(self.requests) if re.search(pattern, r[1])]

    def put(self, files):
        self.sets["set-v0"] = files


@pytest.fixture(params=["gcs", "hf", "hub"])
def case(request, tmp_path):
    if request.param == "gcs":
        with Gcs() as gcs:
            gcs.token = "secret"
            yield Case(gcs, gcs, "big.bin?", "gcp://lab/set", Cli(tmp_path / "sets", STORAGE_EMULATOR_HOST=gcs.url),
                       lambda files: [gcs.put("set/" + name, data) for name, data in files.items()])
    elif request.param == "hf":
        with Hf() as hf:
            hf.token = "secret"
            yield Case(hf, hf.cdn, "/blobs/", "hf://lab/set", Cli(tmp_path / "sets", HF_ENDPOINT=hf.url),
                       lambda files: hf.put("lab/set", files))
            assert hf.cdn.tokens() <= {None}
    else:
        with Hub() as hub:
            yield Case(hub, hub, "big.bin", hub.url, Cli(tmp_path / "sets"), hub.put, ["set-v0"])


@pytest.fixture
def elsewhere():
    """A second host: it has the file, and must never see the token."""
    with Upstream("127.0.0.2") as other:
        other.route = lambda request, path, query: request.bytes(DATA)
        yield other
        assert other.tokens() <= {None}


def test_storms_pass(case):
    case.download(faults.a_few(3, faults.status(503)))
    case.download(faults.a_few(2, faults.status(429, {"Retry-After": "1"})), "--force")


def test_a_storm_that_does_not_pass_is_told(case):
    r = case.download(faults.status(500), "--attempts", "2", expect=4)
    assert "500" in r.err


def test_cut_every_64_kib(case):
    case.download(faults.cut(DATA, 65536))
    assert len(case.bytes_from.seen(case.part.rstrip("?"))) >= len(DATA) // 65536


def test_wrong_bytes(case):
    assert "differs from" in case.download(faults.wrong_bytes(DATA), expect=5).err
    case.download(lambda request, path: None)  # the good file is kept, the bad one comes anew


def test_a_wrong_range_is_refused(case):
    assert "did not send the requested part" in case.download(faults.then(faults.cut(DATA, 100_000), faults.wrong_range(DATA)), expect=4).err


def test_all_of_it_for_a_range_starts_over(case):
    case.download(faults.then(faults.cut(DATA, 100_000), faults.whole(DATA)))


def test_a_change_in_the_middle_is_never_a_mixture(case):
    new = {**FILES, "data/big.bin": random.Random(12).randbytes(len(DATA))}

    def change(request, path):
        case.put(new)
        case.files = FILES if "hf" in case.address else new  # a commit stays what it was
        return faults.cut(DATA, 100_000)(request, path)
    r = case.download(faults.then(change, None))
    assert ("starting over" in r.err) == (case.files is new), r


@pytest.mark.parametrize("status", [404, 410, 412, 416])
def test_what_is_gone_in_the_middle_is_listed_anew(case, status):
    r = case.download(faults.status(status), expect=1)
    assert "kept changing" in r.err and len(case.bytes_from.seen(case.part.rstrip("?"))) < 20
    r = case.download(faults.then(faults.cut(DATA, 100_000), faults.status(status), None))
    resolved_anew = "hf" in case.address and status == 410  # an address that ran out
    assert ("starting over" in r.err) != resolved_anew, r


def test_a_drip_is_given_up(case):
    case.download(faults.a_few(1, faults.drip(DATA, 4)), "--timeout", "1")


def test_a_longer_file_is_refused(case):
    assert "kept changing" in case.download(faults.longer(DATA), expect=1).err


def test_an_early_end_is_no_end(case):
    case.download(faults.a_few(1, faults.shorter(DATA)))


def test_a_stall_is_given_up(case):
    case.download(faults.a_few(1, faults.stall(DATA, 6)), "--timeout", "1")


def test_what_never_ends_is_refused(case):
    assert "longer than" in case.download(faults.endless(), expect=1).err


def test_what_is_said_to_be_compressed_is_kept_as_it_is(case):
    case.download(faults.said_to_be_gzip(DATA))


def test_redirects_that_lead_nowhere(case):
    loop = faults.redirect(lambda request: request.path)
    assert "more than 5 redirects" in case.download(loop, expect=4).err
    for to in ("file:///etc/passwd", "gopher://127.0.0.1/"):
        assert "is not followed" in case.download(faults.redirect(to), expect=4).err


def test_a_redirect_to_a_second_host(case, elsewhere):
    r = case.download(faults.redirect(elsewhere.url + "/x"), expect=7)
    assert ("private network" in r.err or "another host" in r.err) and "--trust-redirects" in r.err and not elsewhere.requests
    case.download(faults.redirect(elsewhere.url + "/x"), "--trust-redirects")
    assert elsewhere.requests


def test_a_list_that_is_none(case):
    case.upstream.fault = lambda request, path: request.answer(200, b"<html>", type="text/html")
    assert " JSON" in case.cli.run("list", case.address, "--token-file", "-", input="secret", expect=4).err
