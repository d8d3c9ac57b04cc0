"""Requests whose values are still being measured: they wait, say so, or answer from what is known; never from what is not."""
import contextlib
import functools
import json
import os
import re
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlencode

import h5py
import numpy as np
import pytest

from cli import Cli, on_terminal
from hub import FIXTURES, PATIENCE, Hub, serving, until

JERKY = 'jerk is not null'


def write(path, episodes=4, rewards=True, **attributes):
    rng = np.random.default_rng(len(str(path)))
    with h5py.File(path, "w") as f:
        data = f.create_group("data")
        for i in range(episodes):
            demo = data.create_group(f"demo_{i}")
            demo.attrs["num_samples"] = 20
            demo["actions"] = np.cumsum(rng.normal(size=(20, 2)), axis=0) + i
            demo["dones"] = np.arange(20) == 19
            if rewards:
                demo["rewards"] = np.full(20, float(i))
            for name, value in attributes.items():
                demo.attrs[name] = value
    return path


def url(what, id="made", **query):
    return f"/api/v1/datasets/{quote(id)}/{what}?" + urlencode(query, doseq=True)


@contextlib.contextmanager
def slow(tmp_path, *args, episodes=4):
    """A hub that measures what is asked for only, and pace(seconds, failing): how long each read of it takes from then on, and how many
    of 1000 end in an I/O error."""
    (tmp_path / "root").mkdir(exist_ok=True)
    write(tmp_path / "root/made.hdf5", episodes=episodes)
    order = tmp_path / "order"

    def pace(seconds, failing=0):
        order.with_suffix(".new").write_text(f"{int(seconds * 1000)} {int(seconds * 1000)} {failing}")
        os.rename(order.with_suffix(".new"), order)

    pace(0)
    os.environ["HUB_LATE_FILE"] = str(order)
    try:
        hub = Hub([str(tmp_path / "root")], program="minari-hub-late", args=("--hash", "off", "--measure", "on-demand", *args))
    finally:
        del os.environ["HUB_LATE_FILE"]
    with hub:
        hub.wait_indexed()
        yield hub, pace


NEEDS = [("episodes", {"where": 'max("actions") > -1000'}), ("episodes", {"sort": "-jerk"}), ("episodes", {"columns": "number,jerk"}),
         ("episodes", {"where": JERKY, "format": "jsonl"}), ("episodes", {"sort": "jerk", "at": 1, "limit": 2}),
         ("episodes", {"columns": "number", "where": JERKY, "format": "csv"}), ("episodes", {"where": JERKY, "random": 1, "seed": 1}),
         ("rows", {"fields": "actions", "where": JERKY, "format": "csv"}), ("rows", {"fields": "actions", "sort": "jerk"}),
         ("sample", {"fields": "actions", "where": JERKY, "seed": 1}), ("~statistics", {"where": JERKY}),
         ("files", {"where": JERKY}), ("episodes/1", {"sort": "jerk"})]


@pytest.mark.parametrize("what,query", NEEDS)
def test_what_is_not_measured_is_waited_for(tmp_path, what, query):
    """At first it is pending, with how much is done; then it is whole. What is known is given to who says that it will do."""
    write(tmp_path / "made.hdf5")
    with serving(str(tmp_path), args=["--measure", "on-demand"]) as hub:
        known = hub.get(url(what, partial=1, **query))
        problem = hub.get(url(what, wait=0, **query))
        if problem.status != 200:  # the first of both has it measured
            assert problem.status == 503 and problem.headers["Retry-After"] and problem.headers["Cache-Control"] == "no-store"
            assert problem.json()["type"] == "urn:minari-hub:pending" and (problem.json()["done"], problem.json()["of"]) == (0, 1)
            assert known.status in (200, 400, 404) and "partial=1" in problem.json()["detail"]  # of nothing nothing is sampled
        whole = hub.get(url(what, wait=30, **query))
        assert whole.status == 200 and whole.headers.get("X-Measured", "1/1") == "1/1" and whole.headers["Cache-Control"].endswith("no-cache")
        assert re.sub(rb"wait=\d+", b"", hub.get(url(what, wait=0, **query)).body) == re.sub(rb"wait=\d+", b"", whole.body)


def test_an_answer_from_what_is_known_says_how_much_that_is(tmp_path):
    with slow(tmp_path) as (hub, pace):
        pace(2)
        for query in {"where": JERKY}, {"columns": "number", "where": JERKY}:
            known = hub.get(url("episodes", partial=1, **query))
            assert known.status == 200 and known.headers["X-Measured"] == "0/1" and known.headers["Cache-Control"] == "no-store" and known.headers["Retry-After"]
            assert known.json()["measured"] == [0, 1] and known.json()["total"] == 0
        pace(0)
        whole = hub.get(url("episodes", where=JERKY, wait=30))
        assert whole.status == 200 and whole.json()["measured"] == [1, 1] and whole.json()["total"] == 4
        assert "measured" not in hub.get(url("episodes", where="steps > 3")).json()


def test_a_part_that_cannot_be_read_keeps_nobody_waiting(tmp_path):
    """It is reported once, and measured once it can be read."""
    with slow(tmp_path) as (hub, pace):
        pace(0, failing=1000)
        answer = hub.get(url("episodes", where=JERKY, wait=30))
        assert answer.status == 200 and answer.headers["X-Measured"] == "0/1" and answer.json()["measured"] == [0, 1] and answer.json()["total"] == 0
        assert answer.headers["Cache-Control"] == "no-store" and "Retry-After" not in answer.headers
        coverage = hub.get(url("~findings")).json()["coverage"]
        assert (coverage["failed"], coverage["parts"], coverage["complete"]) == (1, 0, True)
        assert "1 of 1 parts could not be measured" in Cli(tmp_path / "none", hub.base).run("stats", "made", expect=0).err
        problem, = (p for p in hub.get("/api/v1/problems").json()["items"] if p["code"] == "measuring-failed")
        told = "1 part of datasets could not be measured (made: "
        assert problem["detail"].startswith(told)
        until(lambda: told in hub.text_log())
        pace(0)
        until(lambda: hub.get(url("episodes", where=JERKY, wait=0)).headers["X-Measured"] == "1/1")
        assert hub.text_log().count(told) == 1
        assert "measuring-failed" not in hub.get("/api/v1/problems").body.decode()


def test_no_worker_waits(tmp_path):
    """Twenty requests wait at a hub with one worker, which answers others meanwhile; then all of them are answered."""
    with slow(tmp_path, "--workers", "1") as (hub, pace):
        pace(2)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(hub.get(url("episodes", where=JERKY, wait=30)))) for _ in range(20)]
        for thread in threads:
            thread.start()
        in_flight = lambda: int(re.search(rb"^minari_hub_http_requests_in_flight (\d+)", hub.get("/metrics").body, re.M)[1])
        until(lambda: in_flight() > 20)
        for _ in range(5):
            assert hub.get(url("episodes", where="steps > 3")).json()["total"] == 4
        assert not answers
        pace(0)
        for thread in threads:
            thread.join(60)
        assert [a.status for a in answers] == [200] * 20 and {a.json()["total"] for a in answers} == {4}


def test_the_wait_ends(tmp_path):
    """After the time that is given, and at once when the hub stops."""
    with slow(tmp_path) as (hub, pace):
        pace(20)
        begun = time.monotonic()
        answer = hub.get(url("episodes", where=JERKY, wait=1))
        assert answer.status == 503 and time.monotonic() - begun >= 1
        begun = time.monotonic()
        assert hub.get(url("rows", fields="actions", where=JERKY)).status == 503  # two seconds unless it says so
        assert 2 <= time.monotonic() - begun
        for wait in "31", "-1", "x", "":
            assert hub.get(url("episodes", where=JERKY, wait=wait)).json()["parameter"] == "wait"
        answers = []
        waits = threading.Thread(target=lambda: answers.append(hub.get(url("episodes", where=JERKY, wait=30))))
        waits.start()
        until(lambda: re.search(rb"^minari_hub_http_requests_in_flight 2", hub.get("/metrics").body, re.M))
        hub.process.terminate()
        waits.join(PATIENCE)
        assert not waits.is_alive() and answers[0].status == 503 and answers[0].json()["type"].split(":")[-1] in ("draining", "pending")


def test_complete_is_never_called_half(tmp_path):
    """What a number says of itself and how much is measured come from one moment, whatever is measured beside it."""
    with slow(tmp_path, episodes=8) as (hub, pace):
        seen = set()

        def is_whole():
            answer = hub.get(url("episodes", where='max("actions") > -1000', partial=1))
            seen.add((answer.headers["X-Measured"], answer.json()["total"]))
            return answer.headers["X-Measured"] == "1/1"

        pace(0.1)
        until(is_whole, every=0)
        assert seen <= {("0/1", 0), ("1/1", 8)}
        assert hub.get(url("episodes", where="flat_reward = true", wait=0)).status == 200  # which needs the rewards alone


def test_what_is_asked_for_comes_first(tmp_path):
    """Between two parts of one dataset another one is measured that somebody waits for."""
    shutil.copytree(f"{FIXTURES}/minari/root-0.4.2/simple-links-v0", tmp_path / "root/simple-links-v0")
    with slow(tmp_path) as (hub, pace):
        pace(0.1)
        measured = lambda: hub.get(url("episodes", "simple-links-v0", columns='max("actions")', partial=1)).headers["X-Measured"]
        assert measured() == "0/3"
        until(lambda: any(j["target"] == "simple-links-v0" and j["state"] == "running" for j in hub.get("/api/v1/jobs").json()["items"]))
        assert hub.get(url("episodes", where=JERKY, wait=30)).json()["total"] == 4
        assert measured() != "3/3"
        pace(0)
        assert hub.get(url("episodes", "simple-links-v0", columns="jerk", wait=30)).headers["X-Measured"] == "3/3"


@pytest.mark.parametrize("what,query", NEEDS)
def test_a_hub_that_measures_nothing(tmp_path, what, query):
    write(tmp_path / "made.hdf5")
    with serving(str(tmp_path), args=["--measure", "off"]) as hub:
        problem = hub.get(url(what, **query))
        assert problem.status == 422 and problem.json()["type"] == "urn:minari-hub:not-measured" and "Retry-After" not in problem.headers
        assert "--measure" in problem.json()["detail"] and "partial=1" in problem.json()["detail"]
        assert hub.get(url("episodes", sort="return")).status == 200  # inspection sums it up
        assert hub.get(url("files", wait=2, partial=0)).json() == hub.get(url("files")).json()  # which nothing is chosen of


def test_statistics_of_a_choice_that_is_not_complete_are_not_stored(tmp_path):
    """Once their values are all measured, and what the episodes are chosen by is not."""
    with slow(tmp_path) as (hub, pace):
        pace(0.1)
        revision = hub.dataset("made")["revision"]

        def is_whole():
            answer = hub.get(url("~statistics", field="steps", where=JERKY, partial=1, revision=revision))
            whole = answer.json()["episodes"] == 4
            assert answer.json()["measured"] == [whole, 1] and answer.headers["X-Measured"] == (None if whole else "0/1")
            assert (answer.headers["Cache-Control"] == "no-store") != whole
            return whole

        until(is_whole)


def test_what_files_state_needs_no_measuring(tmp_path):
    """Statistics of LeRobot, returns where no field is a reward."""
    write(tmp_path / "made.hdf5", rewards=False)
    with serving(f"own={tmp_path}", f"arm={FIXTURES}/lerobot", args=["--measure", "off"]) as hub:
        ids = [d["id"] for d in hub.datasets()]
        made, arm = (next(i for i in ids if i.endswith(end)) for end in ("made", "arm-v21"))
        answer = hub.get(url("episodes", made, columns="number,return", where="return is null"))
        assert answer.status == 200 and answer.json()["columns"]["return"] == [None] * 4
        stated = next(f for f, s in hub.episodes(arm)[0]["statistics"].items() if "max" in s and not isinstance(s["max"], list))
        answer = hub.get(url("episodes", arm, where=f'max("{stated}") > -1e300'))
        assert answer.status == 200 and answer.json()["total"] == len(hub.episodes(arm)) and "X-Measured" not in answer.headers


def test_lists_of_datasets_never_wait(tmp_path):
    with slow(tmp_path) as (hub, pace):
        pace(20)
        for query in "", "&sort=-steps", "&include=returns":
            assert hub.get("/api/v1/datasets?limit=5" + query).status == 200
        listed = json.loads(hub.get(url("episodes", include="metrics,spark")).body)
        assert [e["metrics"] for e in listed["items"]] == [None] * 4


def test_pages_say_how_much_is_known(tmp_path):
    """They do not wait; what is copied from them, with numbers of episodes, is complete or not there."""
    with slow(tmp_path) as (hub, pace):
        pace(1)
        for query in {"where": JERKY}, {"where": "steps > 3", "sort": "jerk"}:
            page = hub.get("/d/made/episodes?" + urlencode(query)).body.decode()
            assert "0 of 1 parts of this dataset are measured" in page and "Code for these episodes" not in page and "partial=" not in page
            empty = "No episode matches yet. Remove a filter:" in page and "jerk is not measured yet." in page
            assert empty == (query["where"] == JERKY) and "has a value" not in page and "Measured so far" not in page
        page = hub.get("/d/made/~statistics?" + urlencode({"where": JERKY})).body.decode()
        assert "0 of 1 parts of this dataset are measured" in page and "Measured:" not in page
        plain = hub.get("/d/made/episodes?" + urlencode({"where": "steps > 3"})).body.decode()
        assert "parts of this dataset" not in plain and "Code for these episodes" in plain
        assert hub.get("/d/made/episodes/1?" + urlencode({"sort": "jerk"})).status == 200
        pace(0)
        assert hub.get(url("episodes", where=JERKY, wait=30)).status == 200
        page = hub.get("/d/made/episodes?" + urlencode({"where": JERKY})).body.decode()
        assert "parts of this dataset" not in page and "Code for these episodes" in page


def test_pages_say_why_a_filter_chooses_none(tmp_path):
    """A name without values, and the attribute of that name which may be meant."""
    write(tmp_path / "made.hdf5", success="maybe", jerk=3.0)
    with serving(str(tmp_path), args=["--measure", "off"]) as hub:
        page = lambda where: hub.get("/d/made/episodes?" + urlencode({"where": where})).body.decode()
        said = page("success = true")
        assert "No episode here has a value for success." in said and "4 of 4 have an attribute of that name, written in quotes:" in said
        said = page("jerk > 5")
        assert "jerk is not measured yet." in said and "4 of 4 have an attribute of that name" in said
        said = page("terminated = true")
        assert "No episode here has a value for terminated." in said and "attribute of that name" not in said
        assert "has a value" not in page("return > 900") and "no episode has an attribute" in page('"nothing" > 3')


COMMANDS = [("episodes", "--where", JERKY), ("rows", "actions", "--where", JERKY), ("sample", "actions", "--where", JERKY, "-o", "made.npz"),
            ("stats", "--where", JERKY)]


def test_commands_wait_on_a_terminal_and_fail_elsewhere(tmp_path, monkeypatch):
    """All at once, each of a dataset of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "root").mkdir()
    for name, *_ in COMMANDS:
        write(tmp_path / f"root/of-{name}.hdf5")
    with slow(tmp_path) as (hub, pace), ThreadPoolExecutor() as threads:
        cli = Cli(tmp_path / "none", hub.base)
        on = lambda run: list(threads.map(lambda c: run(c[0], "of-" + c[0], *c[1:]), COMMANDS))
        pace(0.5)
        for failed in on(cli.run):
            assert failed.code == 1 and not failed.out, failed
            assert failed.err.startswith("minari-cli: not measured yet: 0 of 1 parts") and "minari-cli stats" in failed.err, failed
        error = json.loads(cli.run("stats", "of-stats", "--where", JERKY, "--json", expect=1).err)["error"]
        assert (error["status"], error["problem"]) == ("busy", "pending")
        pace(0.1)
        waited = on(functools.partial(on_terminal, cli))
        assert {code for code, _ in waited} == {0} and any("waiting for it to be measured: 0 of 1 parts" in text for _, text in waited), waited
        for done in on(cli.run):
            assert done.code == 0, done
    with serving(str(tmp_path / "root"), args=["--measure", "off"]) as hub:
        for name, *more in COMMANDS:
            failed = Cli(tmp_path / "none", hub.base).run(name, "made", *more, expect=1)
            assert "--measure idle or on-demand" in failed.err, failed


def test_a_dataset_of_this_machine_is_waited_for(tmp_path):
    """Its hub ends with the command: nobody else will measure it."""
    write(tmp_path / "made.hdf5")
    result = Cli(tmp_path).run("episodes", str(tmp_path / "made.hdf5"), "--where", 'max("actions") > -1000', "--json", expect=0)
    assert len(result.json()["items"]) == 4
