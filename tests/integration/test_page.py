"""The pages without JavaScript: what the API says is in them, links lead on, and no text of a dataset is markup."""
import ast
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from urllib.parse import quote, urljoin

import h5py
import numpy as np
import pytest

from browser import browser
from hub import BIN, FIXTURES, Hub, serving, until

DOOR = "D4RL/door/human-v2"
HTML = {"Accept": "text/html,*/*;q=0.8"}
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=y>\u202e"


class Page(html.parser.HTMLParser):
    """Text, links, tags and attributes of a page."""

    def __init__(self, body):
        super().__init__()
        self.text, self.tags, self.open = "", [], []
        self.feed(body.decode())
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "input", "img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def links(self):
        return [a["href"] for t, a in self.tags if t == "a"]


ODD = "lab/it's $HOME 50% #1?-v0"  # each means something to a shell, to Python or in a URL


def hostile(root):
    folder = root / "lab" / "hostile-v0"
    (folder / "data").mkdir(parents=True)
    with h5py.File(folder / "data/main_data.hdf5", "w") as f:
        f.attrs["total_episodes"], f.attrs["total_steps"], f.attrs["minari_version"] = 1, 3, "0.5.3"
        f.attrs["description"], f.attrs["author"], f.attrs["code_permalink"] = HOSTILE, HOSTILE, "javascript:alert(1)"
        episode = f.create_group("episode_0")
        episode.attrs["id"], episode.attrs["total_steps"] = 0, 3
        episode["rewards"], episode["actions"] = np.arange(3.0), np.zeros((3, 1))
        episode["terminations"], episode["truncations"] = [False, False, True], [False] * 3
        episode["observations/" + HOSTILE.replace("/", "_")] = np.zeros((4, 2))
    (folder / "data/metadata.json").write_text(json.dumps({"description": HOSTILE, "author": [HOSTILE], "code_permalink": "javascript:alert(1)", "total_episodes": 1, "total_steps": 3}))


LONG, SPIKE, HOLES = 100_000, 77_777, range(40_000, 40_010)


def long_episode(root):
    """A spike of one step, a few values that are not finite, an integer beyond 2^53; a row of more numbers than curves have colours."""
    folder, steps = root / "lab" / "long-v0", np.arange(LONG)
    (folder / "data").mkdir(parents=True)
    with h5py.File(folder / "data/main_data.hdf5", "w") as f:
        f.attrs["total_episodes"], f.attrs["total_steps"], f.attrs["minari_version"] = 1, LONG, "0.5.3"
        episode = f.create_group("episode_0")
        episode.attrs["id"], episode.attrs["total_steps"] = 0, LONG
        rewards = np.sin(steps / 3000) + np.tile([0.0, 0.25, 0.5, 0.125], LONG // 4)
        rewards[SPIKE], rewards[HOLES.start : HOLES.stop] = 50, np.nan
        episode["rewards"], episode["actions"] = rewards, np.sin(steps[:, None] / 50 + np.arange(12)).astype("f4")
        episode["observations"] = np.cos(np.arange(LONG + 1)[:, None] / 7 + np.arange(3))
        episode["infos/count"] = 2**60 + steps
        episode["infos/phase"] = steps // 30_000
        episode["terminations"], episode["truncations"] = steps == LONG - 1, np.zeros(LONG, bool)
    (folder / "data/metadata.json").write_text(json.dumps({"total_episodes": 1, "total_steps": LONG}))


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    hostile(root)
    long_episode(root)
    for name in ("camera-v30", "arm-v30"):
        shutil.copytree(os.path.join(FIXTURES, "lerobot", name), root / name)
    shutil.copytree(os.path.join(FIXTURES, "webdataset", "plain"), root / "shards" / "plain")
    shutil.copytree(os.path.join(FIXTURES, "samples", "pictures", "corridor-v0"), root / ODD)
    with serving(os.path.join(FIXTURES, "samples"), str(root)) as hub:
        yield hub


def page(hub, path, status=200):
    answer = hub.get(path, HTML)
    assert answer.status == status, (path, answer.status, answer.body[:500])
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'") and "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and "Access-Control-Allow-Origin" not in answer.headers
    found = Page(answer.body)
    assert sum(t == "h1" for t, _ in found.tags) == 1 and any(t == "main" for t, _ in found.tags)
    assert not [a for _, attributes in found.tags for a in attributes if a == "style" or a.startswith("on")]
    return found


def test_front_is_json_unless_a_browser_asks(hub):
    assert hub.get("/").json()["name"] == "minari-hub" and hub.get("/", {"Accept": "*/*"}).json()["count"]
    answer = hub.get("/", HTML)
    assert answer.headers.get_all("Vary") == ["Accept", "Accept-Encoding"]
    assert hub.get("/", HTML | {"If-None-Match": answer.headers["ETag"]}).status == 304
    assert hub.get("/", HTML, method="HEAD").status == 200


def test_every_view_says_what_the_api_says(hub):
    api = f"/api/v1/datasets/{DOOR}"
    found = page(hub, "/?q=door&format=&status=")
    assert DOOR in found.text and f"/d/{DOOR}" in found.links()
    document, found = hub.get(api).json(), page(hub, f"/d/{DOOR}")
    assert document["description"] in found.text and all(f["path"] in found.text for f in document["fields"])
    episodes = hub.get(api + "/episodes?sort=-return").json()["items"]
    found = page(hub, f"/d/{DOOR}/episodes?sort=-return")
    shown = [int(m[1]) for m in (re.fullmatch(r".*/episodes/(\d+)\?sort=-return", h) for h in found.links()) if m]
    assert shown == [e["number"] for e in episodes]
    rows = hub.get(api + "/episodes/1/rewards?format=json").json()
    found = page(hub, f"/d/{DOOR}/episodes/1?at=3")
    assert f"{rows[3]:.9g}" in found.text and "At step 3" in found.text
    assert sum("plot" in a.get("class", "").split() for t, a in found.tags if t == "svg") == 4
    tasks = hub.get("/api/v1/datasets/camera-v30/~statistics").json()["tasks"]["values"]
    found = page(hub, "/d/camera-v30")
    assert tasks and all(f"/d/camera-v30/episodes?task={quote(t['value'])}" in found.links() and t["value"] in found.text for t in tasks)
    found = page(hub, f"/d/{DOOR}/files?prefix=data/")
    assert all(f["path"] in found.text for f in hub.get(api + "/files").json()["items"])
    for view in ("~statistics", "~findings", "~use"):
        assert page(hub, f"/d/{DOOR}/{view}")
    assert "Disk" in page(hub, "/~operations").text


def test_lists_go_on(hub):
    """By their links only; each page of a list is the JSON that it names."""
    for start, api, key in (("/?limit=2&sort=-steps", "/api/v1/datasets?sort=-steps&limit=200", "id"),
                            ("/?limit=3", "/api/v1/datasets?limit=200", "id"),
                            (f"/d/{DOOR}/episodes?limit=3&where=steps+>+1".replace(">", "%3E"), f"/api/v1/datasets/{DOOR}/episodes?where=steps+%3E+1&limit=200", "number")):
        want, seen, at, way = [item[key] for item in hub.get(api).json()["items"]], [], start, []
        while at:
            found = page(hub, at)
            links = {a.get("rel"): a["href"] for t, a in found.tags if t == "a"}
            alternate = next(a["href"] for t, a in found.tags if t == "link" and a.get("rel") == "alternate")
            items = [item[key] for item in hub.get(alternate).json()["items"]]
            way.append(items)
            seen += items
            if "prev" in links:
                back = page(hub, urljoin(at, links["prev"]))
                alternate = next(a["href"] for t, a in back.tags if t == "link" and a.get("rel") == "alternate")
                assert [item[key] for item in hub.get(alternate).json()["items"]] == way[-2]
            at = urljoin(at, links["next"]) if "next" in links else None
        assert seen == want and len(way) > 2, start


def test_what_datasets_say_of_themselves_narrows_the_list(hub):
    facets = hub.get("/api/v1/datasets?limit=1&facets=robot,env,task").json()["facets"]
    found = page(hub, "/?sort=-size")
    assert facets["robot"] and facets["task"]
    for name, values in facets.items():
        for value in values[:8]:
            href = f"/?sort=-size&{name}={quote(value['value'])}"
            assert href[1:] in found.links(), href
            narrowed = page(hub, href)
            assert f"{value['count']} dataset" in narrowed.text and not [h for h in narrowed.links() if h.count(name + "=") > 1]


def test_a_name_that_is_not_there_is_answered_with_those_that_are(hub):
    for wrong, near in (("D4RL/door/human-v9", DOOR), ("D4RL/door/humam-v2", DOOR), ("camera-v31", "camera-v30")):
        assert near in str(hub.get(f"/api/v1/datasets/{wrong}").json()), wrong
        found = page(hub, f"/d/{wrong}", 404)
        assert f"/d/{near}" in found.links() and "Did you mean" in found.text
    assert "Did you" not in page(hub, "/d/zzzzzzzzzzzzzzz", 404).text


def test_links_lead_to_answers(hub):
    """All links of all views, a level deep."""
    seen, todo = set(), ["/", f"/d/{DOOR}", f"/d/{DOOR}/episodes/7", "/d/lab/hostile-v0", "/d/camera-v30/episodes/0", "/~operations", "/~guide", "/~guide?q=hub"]
    for start in todo:
        found = page(hub, start)
        for href in found.links() + [a["src"] for t, a in found.tags if t in ("img", "script", "video")]:
            url = urljoin(hub.base + start, href)
            if url.startswith(hub.base) and url not in seen and not href.startswith("#"):
                seen.add(url)
                assert hub.get(url[len(hub.base) :], HTML).status in (200, 303), (start, href)
    assert len(seen) > 80


def test_curves_are_called_as_the_dataset_calls_them(hub):
    found = page(hub, "/d/arm-v30/episodes/0")
    assert "shoulder" in found.text and "[0]" not in found.text.split("observation.grid")[0]
    bounds = {a["data-field"]: a["data-bounds"] for t, a in page(hub, f"/d/{DOOR}/episodes/1?lanes=rewards,actions:0-3").tags if t == "figure" and "data-bounds" in a}
    assert bounds["actions"] == "[[-1.0,1.0]]" and bounds["rewards"] == "[]"


def test_bars_open_their_episodes(hub):
    histogram = hub.get(f"/api/v1/datasets/{DOOR}/~statistics").json()["fields"]["return"]["histogram"]
    bars = list(dict.fromkeys(h for h in page(hub, f"/d/{DOOR}").links() if "where=return" in h))  # each is in a list too
    counts = [c for c in histogram["counts"] if c]
    assert len(bars) == len(counts)
    for bar, count in zip(bars, counts):
        assert hub.get(bar.replace("/d/", "/api/v1/datasets/")).json()["total"] == count


def test_numbers_of_fields_are_drawn(hub):
    """A drawing a dimension, by the dataset's own name; what two numbers of episodes come to together."""
    api = "/api/v1/datasets/arm-v30/~statistics"
    ask = lambda: hub.get(api + "?field=action&bins=20").json().get("fields", {}).get("action", {})
    field = until(lambda: f if (f := ask()).get("histogram_coverage", {}).get("complete") else None)
    found = page(hub, "/d/arm-v30/~statistics?field=action")
    assert field["names"] and all(name in found.text for name in field["names"])
    drawn = [a for t, a in found.tags if t == "rect" and a.get("class") == "bar" and "height" in a]
    opened = [h for h in found.links() if "where=" in h]
    assert len(drawn) >= sum(1 for h in field["histogram"] for c in h["counts"] if c) and "/d/arm-v30/~statistics?field=action#field" in found.links() and opened
    grid = hub.get(api + "?by=steps,return&bins=12").json()["grid"]
    cells = [a for t, a in found.tags if t == "rect" and re.fullmatch("bar g[1-9]", a.get("class", ""))]
    assert len(cells) == sum(1 for column in grid["counts"] for c in column if c) > 1
    assert page(hub, "/d/arm-v30/~statistics?field=none", 404)


def test_versions_and_names_of_dimensions(tmp_path):
    for name in ("arm-v20", "arm-v21", "arm-v30"):
        shutil.copytree(os.path.join(FIXTURES, "lerobot", name), tmp_path / name)
    with serving(str(tmp_path)) as hub:
        found = page(hub, "/d/arm-v21")
        assert re.search(r"v30 \(newest\)\s*v21\s*v20", found.text)
        assert {"/d/arm-v30", "/d/arm-v20"} <= set(found.links()) and [a["href"] for t, a in found.tags if a.get("aria-current") == "true"] == ["/d/arm-v21"]
        named = [f for f in hub.dataset("arm-v21")["fields"] if f.get("names")]
        assert named and all(", ".join(f["names"]) in found.text for f in named)


def test_episodes_beside_each_other(hub):
    assert f"/d/{DOOR}/~compare?e=7" in page(hub, f"/d/{DOOR}/episodes/7").links()
    marks = [a for t, a in page(hub, f"/d/{DOOR}/episodes").tags if t == "input" and a.get("name") == "e"]
    assert marks and all(a["form"] == "compare" for a in marks)
    documents = [hub.get(f"/api/v1/datasets/{DOOR}/episodes/{n}").json() for n in (1, 7)]
    found = page(hub, f"/d/{DOOR}/~compare?e=1&e=7&e=lab/hostile-v0:0&align=end")
    assert all(f"{d['steps']}" in found.text for d in documents) and "lab/hostile-v0: episode 0" in found.text
    lines = [a for t, a in found.tags if t == "path" and a.get("class") == "line s1" and a["d"] != "M0 6H24"]
    assert len(lines) == 2 + 4  # rewards, their sum, four numbers of the action
    ends = {c: [re.findall(r"[ML]([\d.]+)", a["d"])[-1] for t, a in found.tags if t == "path" and a.get("class") == f"line {c}" and a["d"] != "M0 6H24"][0] for c in ("s1", "s2", "s3")}
    most = max(3, *(d["steps"] for d in documents))
    assert all(abs(float(x) - 1000 * (most - 1) / most) < 0.1 for x in ends.values()), ends  # all end at the same place
    found = page(hub, f"/d/{DOOR}/~compare?e=1&e=7&lanes=observations:2%2B5,rewards&align=0,5")
    assert sum(a.get("class") == "plot" for t, a in found.tags if t == "svg") == 3
    found = page(hub, f"/d/{DOOR}/~compare?e=1&e=7&lanes=rewards&align=reward")
    firsts = [next((i for i, r in enumerate(hub.get(f"/api/v1/datasets/{DOOR}/episodes/{n}/rewards?format=json").json()) if r), 0) for n in (1, 7)]
    steps, most = [d["steps"] for d in documents], max(firsts)
    span = max(most - f + s for f, s in zip(firsts, steps))
    begins = [[a["d"] for t, a in found.tags if t == "path" and a.get("class") == f"line {c}" and a["d"] != "M0 6H24"][0] for c in ("s1", "s2")]
    assert [round(1000 * (most - f) / span, 1) for f in firsts] == [float(re.match(r"M([\d.]+)", d)[1]) for d in begins]
    steps = [hub.get(f"/api/v1/datasets/arm-v30/episodes/{n}").json()["steps"] for n in (0, 2)]
    sides = [(float(a["data-shift"]), float(a["data-fps"])) for t, a in page(hub, "/d/arm-v30/~compare?e=0&e=2&align=end").tags if t == "div" and "data-shift" in a]
    fps = hub.dataset("arm-v30")["fps"]
    assert sides == [(max(steps) - s, fps) for s in steps for _ in range(2)]
    assert page(hub, f"/d/{DOOR}/~compare") and page(hub, f"/d/{DOOR}/~compare?e=999", 404)


@pytest.mark.parametrize("align, shifts", [("start", (0, 0)), ("0,5", (5, 0))])
def test_the_difference_of_two_episodes(hub, align, shifts):
    before = page(hub, f"/d/{DOOR}/~compare?e=1&e=7&lanes=rewards,observations:2&align={align}")
    url = next(h for h in before.links() if "diff=1" in h)
    found = page(hub, f"/d/{DOOR}/~compare" + url)
    assert len([t for t, a in found.tags if t == "svg" and a.get("class") == "plot"]) == 4
    for field, dim in (("rewards", ()), ("observations", (2,))):
        rows = [np.array(hub.get(f"/api/v1/datasets/{DOOR}/episodes/{n}/{field}?format=json").json())[(slice(None), *dim)] for n in (1, 7)]
        steps = [hub.get(f"/api/v1/datasets/{DOOR}/episodes/{n}").json()["steps"] for n in (1, 7)]
        first = max(shifts)
        count = min(n + s for n, s in zip(steps, shifts)) - first
        wanted = np.subtract(*(r[first - s:][:count] for r, s in zip(rows, shifts)))
        said = re.search(r"episode 1 - episode 7, (\d+) steps: from (\S+) to (\S+)", found.text[found.text.index(f"{field}" + (" [2]" if dim else "") + ": the difference"):])
        assert int(said[1]) == count and np.allclose([float(said[2].replace("−", "-")), float(said[3])], [wanted.min(), wanted.max()], rtol=1e-3), said


def test_a_link_to_what_was_shows_what_is(hub):
    revision = hub.get(f"/api/v1/datasets/{DOOR}").json()["revision"]
    for view in ("?", "/episodes?", "/episodes/7?at=2&", "/~statistics?"):
        assert "The data changed" not in page(hub, f"/d/{DOOR}{view}revision={revision}").text
        assert f"The data changed since this link was made (0000\u2026 is now {revision[:12]}" in page(hub, f"/d/{DOOR}{view}revision=0000").text


def test_neighbours_follow_the_list(hub):
    order = [e["number"] for e in hub.get(f"/api/v1/datasets/{DOOR}/episodes?sort=-return").json()["items"]]
    links = page(hub, f"/d/{DOOR}/episodes/{order[3]}?sort=-return&at=2").links()
    assert all(f"/d/{DOOR}/episodes/{order[n]}?sort=-return&at=2" in links for n in (2, 4))


def test_what_cannot_be_shown_is_a_page(hub):
    assert "there is no dataset 'nope-v0'" in page(hub, "/d/nope-v0", 404).text
    assert page(hub, f"/d/{DOOR}/episodes/999", 404) and page(hub, f"/d/{DOOR}?bogus=1", 400) and page(hub, "/?bogus=1", 400)
    assert 'at 1 ("retur <")' in page(hub, f"/d/{DOOR}/episodes?where=retur%20%3C", 400).text
    assert hub.get(f"/d/{DOOR}/episodes?number=7", HTML).status == 200  # sent on to it
    assert hub.get("/~assets/000000000000/style.css").status == 404


def test_chosen_episodes_are_written_down(hub):
    """As a filter of ours, as JSON, and as commands that a shell and Python read."""
    assert not recipes_of(hub, f"/d/{DOOR}/episodes") and not recipes_of(hub, f"/d/{DOOR}/episodes?where=steps<0".replace("<", "%3C"))
    found = recipes_of(hub, f"/d/{DOOR}/episodes?where=number%20in%20(7,3)&sort=-steps")
    assert json.loads(found["The episodes as JSON"]) == [3, 7]
    items = hub.get(f"/api/v1/datasets/{DOOR}/episodes?where={quote(found['The episodes as a filter'])}").json()["items"]
    assert [e["number"] for e in items] == [3, 7]
    ast.parse(found["Python: Minari, without them"])
    assert "{3, 7}" in found["Python: Minari, without them"]
    for commands in (found, recipes_of(hub, "/d/camera-v30/episodes?where=number%20%3C%202")):
        for title, text in commands.items():
            if "Python" not in title and "episodes as" not in title:
                subprocess.run(["bash", "-n", "-c", text], check=True)

def test_filters_that_are_offered_choose_some(tmp_path):
    """Of names that have values here; what chooses none says which name no episode has, and that an attribute has it."""
    (tmp_path / "graded-v0/data").mkdir(parents=True)
    with h5py.File(tmp_path / "graded-v0/data/main_data.hdf5", "w") as f:
        for i in range(6):
            e, steps = f.create_group(f"episode_{i}"), 12 + i
            e["rewards"], e["actions"], e["observations"] = np.full(steps, i / 3), np.random.default_rng(i).normal(size=(steps, 2)), np.zeros(steps + 1)
            e["terminations"], e["truncations"] = np.zeros(steps, bool), np.arange(steps) == steps - 1
            e.attrs["success"], e.attrs["score"] = i > 3, i / 5
    with serving(str(tmp_path), f"{FIXTURES}/samples", f"{FIXTURES}/lerobot", f"{FIXTURES}/molmospaces") as hub:
        hub.wait_indexed()
        offered = {}
        for d in hub.datasets("&status=ready"):
            until(lambda: not d["episodes"] or (s := hub.get(f"/api/v1/datasets/{quote(d['id'])}/~statistics")).status == 200 and not s.headers["Retry-After"])
            body = hub.get(f"/d/{quote(d['id'])}/episodes", HTML).body.decode()
            offered[d["id"]] = [html.unescape(w) for w in re.findall(r"<a href=\"\?where=[^\"]*\"><code>(.*?)</code></a>", body)]
            for where in offered[d["id"]]:
                known = where.split()[0] + " is not null" if where.startswith("jerk") else where
                assert hub.get(f"/api/v1/datasets/{quote(d['id'])}/episodes?where={quote(known)}").json()["total"] > 0, (d["id"], where)
        assert {"success = false", "truncated = true", "jerk > 0.5"} < set(offered["graded-v0"]) and len(offered["graded-v0"]) == 5
        assert not any(w.startswith("success") for w in offered[DOOR]) and any(w.startswith("task = '") for w in offered["arm-v30"])
        nothing = page(hub, "/d/graded-v0/episodes?where=score%20%3C%200%20and%20seed%20%3E%201&sort=steps")
        assert "No episode matches. Remove a filter:" in nothing.text and "No episode here has a value for score." in nothing.text
        assert "No episode here has a value for seed." in nothing.text and '6 of 6 have an attribute of that name, written in quotes: "score" is not null' in nothing.text
        assert "?where=%22score%22%20is%20not%20null&sort=steps" in nothing.links() or "?sort=steps&where=%22score%22%20is%20not%20null" in nothing.links()
        assert "?sort=steps" in nothing.links() and "Compare selected" not in nothing.text
        assert "No episode matches" in page(hub, "/d/graded-v0/episodes?where=steps%20%3C%200").text and "has a value" not in page(hub, "/d/graded-v0/episodes?where=steps%20%3C%200").text


def test_what_is_being_written_is_a_page_that_asks_again(tmp_path):
    folder = shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "door-human-v0")
    with serving(str(tmp_path), args=["--settle", "2s"]) as hub:
        assert page(hub, "/d/door-human-v0/episodes/0?at=2")
        with open(folder / "data" / "main_data.hdf5", "ab") as f:
            f.write(b"more")
        found = page(hub, "/d/door-human-v0/episodes/0?at=2", 503)
        assert "These files are being written" in found.text or "This dataset is not ready yet" in found.text
        assert "/d/door-human-v0/episodes/0?at=2" in found.links() and [a for t, a in found.tags if a.get("id") == "again"][0]["data-seconds"] == "3"
        until(lambda: hub.get("/d/door-human-v0/episodes/0", HTML).status == 200)


def refreshes(found):
    return [a["content"] for t, a in found.tags if t == "meta" and a.get("http-equiv") == "refresh"]


def test_a_pending_dataset_is_a_page_that_follows(tmp_path):
    folder = shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "door-human-v0")
    for here, _, names in os.walk(folder):
        for name in names:
            os.utime(os.path.join(here, name))
    with Hub([str(tmp_path)], args=["--settle", "1h"]) as hub:
        hub.wait_ready()
        found = page(hub, "/d/door-human-v0")
        size = sum(os.path.getsize(os.path.join(here, name)) for here, _, names in os.walk(folder) for name in names)
        assert re.search(r"Not ready yet: its files changed a moment ago\.\s*\d\S* [KM]B, last change \d+ s ago\.", found.text), found.text
        assert size and "this page updates itself" in found.text and refreshes(found) == ["5"]
        assert [a["data-then"] for t, a in found.tags if a.get("class") == "muted counting"] == ["load"]
        assert not [a for t, a in found.tags if a.get("class") == "note bad"] and "revision" not in found.text and "Download and use" not in found.text
        assert "/d/door-human-v0/files" in found.links()
        asked_again = page(hub, "/d/door-human-v0/episodes/0", 503)
        assert refreshes(asked_again) and [a["data-tries"] for t, a in asked_again.tags if a.get("id") == "again"] == ["100000"]
    with serving(str(tmp_path)) as hub:
        found = page(hub, "/d/door-human-v0")
        assert not refreshes(found) and "Download and use" in found.text and "revision" in found.text and "updates itself" not in found.text


def test_errors_are_pages_for_browsers_alone(hub):
    """HTML where Accept names it, at any address that is not of the API; without it pages answer as the API does, and others as their protocol does."""
    for path, status in (("/d/none-v0", 404), ("/d/door-human-v0/episodes/999", 404), ("/d/door-human-v0?nonsense=1", 400), ("/d/a//b", 400)):
        page(hub, path, status)
        for accept in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
            answer = hub.get(path, accept)
            assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json") and answer.json()["status"] == status
    for path in ("/nothing/here", "/nothing/here/", "/mirrors", "/docs", "/minari-datasets/none"):
        found = page(hub, path, 404)
        assert {"/", "/~operations", "/~guide"} <= set(found.links()), path
        assert "html" not in hub.get(path).headers["Content-Type"], path
    assert hub.get("/nothing/here").headers["Content-Type"].startswith("application/xml")
    for path in ("/api/v1/datasets/none-v0", "/api/datasets/none/none", "/storage/v1/b/none/o/none"):
        assert "html" not in hub.get(path, HTML).headers["Content-Type"], path


def test_a_field_that_cannot_be_read_says_why(tmp_path):
    folder = shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "door-human-v0")
    with h5py.File(folder / "data" / "main_data.hdf5", "r+") as f:
        group = f["episode_0"]
        steps = group["actions"].shape[0]
        group.require_group("infos").create_dataset("bad", (steps,), "f8", chunks=(steps,), compression="gzip").id.write_direct_chunk((0,), b"no deflate")
    with serving(str(tmp_path)) as hub:
        said = hub.get("/api/v1/datasets/door-human-v0/episodes/0/infos/bad?buckets=16").json()["detail"]
        found = page(hub, "/d/door-human-v0/episodes/0?lanes=rewards,infos/bad")
        assert said in found.text and sum(a.get("class") == "lane" for t, a in found.tags if t == "figure") == 1


def test_integers_of_64_bits_are_among_the_rows(tmp_path):
    folder = shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "door-human-v0")
    with h5py.File(folder / "data" / "main_data.hdf5", "r+") as f:
        steps = f["episode_0/actions"].shape[0]
        f["episode_0"].require_group("infos")["stamp"] = np.uint64(2**64 - 1 - steps) + np.arange(steps, dtype="u8")
        f["episode_0/infos"]["stamps"] = np.full((steps, 2), 2**63, "u8")
    with serving(str(tmp_path)) as hub:
        found = page(hub, "/d/door-human-v0/episodes/0?at=2&lanes=infos/stamp")
        assert str(2**64 + 1 - steps) in found.text and found.text.count(str(2**63)) == 2
        assert sum(a.get("class") == "lane" for t, a in found.tags if t == "figure") == 1


def minari(folder, episodes):
    (folder / "data").mkdir(parents=True)
    with h5py.File(folder / "data/main_data.hdf5", "w") as f:
        f.attrs["total_episodes"], f.attrs["total_steps"], f.attrs["minari_version"] = len(episodes), sum(len(e["rewards"]) for e in episodes), "0.5.3"
        for n, episode in enumerate(episodes):
            steps = len(episode["rewards"])
            group = f.create_group(f"episode_{n}")
            group.attrs["id"], group.attrs["total_steps"] = n, steps
            for name, values in {"actions": np.zeros((steps, 1)), "terminations": np.arange(steps) == steps - 1, "truncations": np.zeros(steps, bool), **episode}.items():
                group[name] = values


def test_a_curve_of_no_finite_value_says_so(tmp_path):
    minari(tmp_path / "holes-v0", [{"rewards": np.full(9, np.nan)}, {"rewards": np.zeros(0)}, {"rewards": np.array([1, np.nan, 2.0])}])
    with serving(str(tmp_path)) as hub:
        captions = [page(hub, f"/d/holes-v0/episodes/{n}?lanes=rewards").text for n in range(3)]
        assert "no finite value: 9 values are not finite" in captions[0] and "No values" in captions[1]
        assert "least 1 (step 0), greatest 2 (step 2); 1 value is not finite" in captions[2]
        found = page(hub, "/d/holes-v0/~compare?e=0&e=2").text
        assert "episode 0: no finite value; episode 2: from 1 to 2" in found
        found = page(hub, "/d/holes-v0/~compare?e=0&e=2&diff=1").text
        assert "episode 0 - episode 2: there is no step at which both are finite" in found
        assert not re.search("[^-]from (NaN|\u221e)", "".join(captions) + found, re.I)


def test_fields_that_are_left_out_are_counted(tmp_path):
    minari(tmp_path / "wide-v0", [{"rewards": np.arange(4.0), **{f"infos/f{i:02}": np.arange(5) for i in range(70)}}])
    with serving(str(tmp_path)) as hub:
        found = page(hub, "/d/wide-v0/episodes/0?at=2")
        rows = found.text.split("Rows as stored")[1].split("Use this episode")[0]
        assert all(name in rows for name in ("actions", "rewards", "terminations", "truncations"))
        assert rows.count("infos/") == 36 and "34 more fields are not shown" in rows
        assert "74 fields in total" in found.text
        there = [a["href"] for t, a in found.tags if t == "a" and a.get("aria-current") == "true"]
        assert len(there) == 2  # rewards are drawn, and can be taken away


def test_lists_of_odd_episodes_count_what_they_list(tmp_path):
    minari(tmp_path / "few-v0", [{"rewards": np.arange(n + 2.0) if n else np.zeros(9)} for n in range(24)])
    minari(tmp_path / "three-v0", [{"rewards": np.arange(n + 2.0)} for n in range(3)])
    with serving(str(tmp_path)) as hub:
        for id in "few-v0", "three-v0":
            until(lambda: hub.get(f"/api/v1/datasets/{id}/~findings").json()["coverage"]["complete"])
        found = page(hub, "/d/few-v0/~findings")
        assert found.text.count("10 of 24") == 4 and "Extremes: lowest, highest, shortest, longest" in found.text
        body = hub.get("/d/few-v0/~findings", HTML).body.decode()
        names = re.findall(r"<figcaption><a [^>]*><b>(\w+)</b>", body)
        assert "flat_reward" in names
        for name in names:
            assert hub.get(f"/api/v1/datasets/few-v0/episodes?where={name}+is+not+null").status == 200, name
        assert "/d/few-v0/episodes/0?at=0&lanes=rewards" in found.links()
        assert "Looked for and not found: NaN or infinite values" in found.text
        few = page(hub, "/d/three-v0/~findings")
        assert "Extremes" not in few.text and "Looked for from 8 episodes on: " in few.text and "Not looked for, as no episode has what it takes: actions stand still" in few.text


def recipes_of(hub, path):
    body = hub.get(path, HTML).body.decode()
    return {title: html.unescape(text) for title, text in re.findall(r"<h3>(.*?)</h3><pre[^>]*><code>(.*?)</code>", body, re.S)}


COMMON = {"minari-cli", "minari-cli: rows of a field", "curl: rows of a field", "Python: numpy, rows of a field", "Python: pandas, a table of all episodes",
          "curl: all files", "rclone: sync all files"}
STOCK, REPO, STEPS = {"Python: Minari", "Python: Minari, from a bucket", "Python: Minari, once downloaded"}, {"Python: huggingface_hub"}, {"Python: numpy, transitions of all episodes"}
ELSEWHERE = {"Python: Minari", "Python: Minari, from a bucket", "Python: LeRobot", "Python: webdataset"}  # tests/conformance runs them: they want libraries of their own


@pytest.mark.parametrize("id, shown, file", [
    (DOOR, COMMON | STOCK | REPO | STEPS, "data/main_data.hdf5"), ("camera-v30", COMMON | REPO | STEPS | {"Python: LeRobot"}, "meta/info.json"),
    ("shards/plain", COMMON | REPO | {"Python: webdataset"}, "steps-000000.tar"), (ODD, COMMON | STEPS, "data/main_data.hdf5")])
def test_recipes_do_what_they_say(hub, id, shown, file, tmp_path):
    """Every one that is shown, pasted into a shell or into Python."""
    recipes = recipes_of(hub, f"/d/{quote(id)}/~use?e={7 if id == DOOR else 0}")
    assert set(recipes) == shown
    if id == DOOR:
        assert "hf://farama-minari" in recipes["Python: Minari"] and "gcp://minari-datasets" in recipes["Python: Minari, from a bucket"]
    run_recipes(hub, recipes, tmp_path)
    bytes = hub.get(f"/api/v1/datasets/{quote(id)}/files/{file}").body
    assert (tmp_path / "rows.npy").is_file() and all(p.read_bytes() == bytes for p in [tmp_path / id / file, *tmp_path.rglob(file)])


def run_recipes(hub, recipes, tmp_path):
    env = os.environ | {"PATH": os.pathsep.join([BIN, os.path.dirname(sys.executable), os.environ["PATH"]]), "MINARI_HUB_URL": hub.base, "HF_HOME": str(tmp_path / "hf"),
                        "MINARI_DATASETS_PATH": str(tmp_path / "datasets"), "NO_PROXY": "*"}
    env.pop("PYTHONPATH", None)
    (tmp_path / "datasets").mkdir()
    for title, text in recipes.items():
        if title in ELSEWHERE:
            ast.parse(text)
            continue
        program = [sys.executable, "-c"] if title.startswith("Python") else ["bash", "-euc"]
        done = subprocess.run([*program, text], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (title, text, done.stderr)


def test_a_dataset_that_lacks_something_says_so(tmp_path):
    """In the list, at its head, and in what it offers: commands that would fail are left out, and one line says why."""
    for name in "cut-parquet", "frames-dropped":
        shutil.copytree(os.path.join(FIXTURES, "lerobot-broken", name), tmp_path / "root" / name)
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v21"), tmp_path / "root" / "arm-v21")
    cut = shutil.copytree(os.path.join(FIXTURES, "samples", "door-human-v0"), tmp_path / "root" / "cut-v0")
    os.truncate(cut / "data/main_data.hdf5", 5000)
    with serving(str(tmp_path / "root")) as hub:
        hub.wait_indexed()
        words = {d["id"]: f"ready, {n} problem{'s' * (n > 1)}" if (n := d.get("costly_problems")) else d["status"] for d in hub.datasets()}
        assert words["arm-v21"] == "ready" and words["cut-v0"] == "broken" and words["cut-parquet"] == "ready, 4 problems"
        listed = page(hub, "/")
        for id, said in words.items():
            assert said in page(hub, f"/d/{id}").text and said in listed.text
        assert page(hub, "/?problems=true").text.count("ready, ") == 2 and "problems: with problems" in page(hub, "/?problems=true").text
        assert "with problems3" in listed.text and "without problems1" in listed.text
        assert "1 of 4 episodes cannot be read; LeRobot does not load it." in page(hub, "/d/cut-parquet").text
        first = hub.episodes("cut-parquet")[0]["number"]
        recipes = recipes_of(hub, "/d/cut-parquet/~use")
        assert "LeRobot refuses it" in page(hub, "/d/cut-parquet/~use").text
        assert f"minari-cli get 'cut-parquet' {first} " in recipes["minari-cli: rows of a field"] and not {"minari-cli", "Python: LeRobot"} & set(recipes)
        run_recipes(hub, recipes, tmp_path)
        assert set(recipes_of(hub, "/d/cut-v0")) == set(recipes_of(hub, "/d/cut-v0/~use")) == {"curl: all files", "rclone: sync all files"}
        assert "Only its files can be downloaded, as they are: " in page(hub, "/d/cut-v0/~use").text
        assert recipes_of(hub, "/d/arm-v21")["Python: LeRobot"].count(f"episodes=[{hub.episodes('arm-v21')[0]['number']}]") == 1


def test_browsers_report_what_they_refuse(hub):
    assert "; report-uri /~csp" in hub.get("/", HTML).headers["Content-Security-Policy"]
    report = {"csp-report": {"document-uri": hub.base + "/", "violated-directive": "script-src-elem", "blocked-uri": "inline\n2026 forged"}}

    def post(body):
        request = urllib.request.Request(hub.base + "/~csp", data=body, headers={"Content-Type": "application/csp-report"}, method="POST")
        try:
            return urllib.request.urlopen(request).status
        except urllib.error.HTTPError as e:
            return e.code

    assert [post(json.dumps(report).encode()) for _ in range(20)] == [204] * 20
    assert [post(b) for b in (b"", b"[]", b"x" * 4096, b"x" * 5000)] == [400, 400, 400, 413]
    assert 'route="page-report"' in hub.get("/metrics").body.decode()
    lines = until(lambda: [line for line in hub.text_log().splitlines() if "a browser blocked" in line])
    assert len(lines) == 1 and "script-src-elem" in lines[0] and "forged" in lines[0]


def test_assets_never_change(hub):
    for tag, attributes in page(hub, "/").tags + page(hub, f"/d/{DOOR}/episodes/0").tags:
        url = attributes.get("href", "") if tag == "link" else attributes.get("src", "") if tag == "script" else ""
        if url.startswith("/~assets/"):
            assert "immutable" in hub.get(url).headers["Cache-Control"]


def test_text_of_a_dataset_is_text(hub):
    for path in ("/?q=" + quote(HOSTILE), "/d/lab/hostile-v0", "/d/lab/hostile-v0/episodes?where=" + quote(HOSTILE), "/d/lab/hostile-v0/episodes/0", "/d/lab/hostile-v0/~statistics", "/d/lab/hostile-v0/~use"):
        answer = hub.get(path, HTML)
        found = Page(answer.body)
        scripts = [a["src"] for t, a in found.tags if t == "script" and not a["src"].endswith("/posters.js")]
        assert len(set(scripts)) == (4 if "/episodes/0" in path else 2) and all(re.fullmatch(r"/~assets/\w+/[\w.]+\.js", s) for s in scripts)
        assert "\u202e" not in answer.body.decode()
        assert not any("javascript:" in str(v) for t, a in found.tags for v in a.values() if t == "a")
        assert not any(a.get("src") == "x" for _, a in found.tags)
    found = page(hub, "/d/lab/hostile-v0")
    assert "<script>alert(1)</script>" in found.text and "U+202E" in found.text and "javascript:alert(1)" in found.text


def test_a_window_of_an_episode_without_script(hub):
    episode = "/d/lab/long-v0/episodes/0"
    found = page(hub, episode + "?from=77770&to=77786&lanes=rewards,observations:0%2B2,infos/phase,terminations,return")
    paths = [a for t, a in found.tags if t == "path" and a.get("class", "").startswith("line")]
    assert len(paths) == 1 + 2 + 3 + 1  # three more in a legend; a sum of what is not finite and runs of truth values are no lines
    first = re.findall(r"([\d.]+) ([\d.]+)", paths[0]["d"])
    assert len(first) == 32 and min(first, key=lambda p: float(p[1]))[0] == "437.5"  # each step holds until the next one begins
    lanes = [a["data-lane"] for t, a in found.tags if t == "figure" and a.get("class") == "lane"]
    assert lanes == ["rewards", "observations:0+2", "infos/phase", "terminations", "return"]
    assert f"greatest 50 (step {SPIKE:,}); 10 values are not finite" in found.text  # of the whole episode
    for query in ("from=99999&to=5", "from=-3", "to=999999999", "lanes=,,nope,actions:99,rewards%253A", "lanes=" + "rewards," * 50):
        page(hub, f"{episode}?{query}")
    page(hub, episode + "?from=x", 400)


def test_lanes_in_a_browser(hub):
    if not browser():
        return
    done = subprocess.run(["node", os.path.join(os.path.dirname(__file__), "../web/lanes.js"), hub.base, "lab/long-v0", str(SPIKE), str(HOLES.start)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


REFUSED = {
    "slot in a tag": '{{block a(x text)}}<p {{x}}>b</p>{{end}}',
    "address that is text": '{{block a(x text)}}<a href="{{x}}">b</a>{{end}}',
    "part of an address": '{{block a(x url)}}<a href="/d/{{x}}">b</a>{{end}}',
    "url in text": "{{block a(x url)}}<p>{{x}}</p>{{end}}",
    "style": '{{block a()}}<p style="x">b</p>{{end}}',
    "handler": '{{block a()}}<p onclick="x">b</p>{{end}}',
    "style element": "{{block a()}}<style>b</style>{{end}}",
    "inline script": "{{block a()}}<script>b</script>{{end}}",
    "unbalanced": "{{block a()}}<p><b>c</p></b>{{end}}",
    "left open": "{{block a()}}<p>{{end}}",
    "unquoted": "{{block a()}}<p class=x>b</p>{{end}}",
    "unused": "{{block a(x text)}}<p>b</p>{{end}}",
    "undeclared": "{{block a()}}<p>{{x}}</p>{{end}}",
    "unknown type": "{{block a(x html)}}<p>{{x}}</p>{{end}}",
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_template_compiler_refuses(tmp_path, name):
    source = tmp_path / "bad.html"
    compiler = [os.path.join(BIN, "hub_template"), tmp_path / "out.h", tmp_path / "out.c", source]
    source.write_text('{{block a(x text, y url)}}<p class="{{x}}"><a href="{{y}}">{{x}}</a></p>{{end}}')
    assert subprocess.run(compiler).returncode == 0
    source.write_text(REFUSED[name])
    assert subprocess.run(compiler, capture_output=True).returncode == 1


def test_where_datasets_come_from_is_said(tmp_path):
    """A copy, what an upstream has alone, and the rules behind both."""
    lab, copies = tmp_path / "lab", tmp_path / "copies"
    for name in "kept-v0", "other/listed-v0":
        minari(lab / name, [{"rewards": np.arange(9.0)}])
    copies.mkdir()
    with serving(str(lab)) as far, Hub([str(copies)], args=["--upstream", "up/=" + far.base]) as hub:
        hub.wait_ready()
        add = [os.path.join(BIN, "minari-hub"), "mirror", "add", far.base, "--prefix", "kept", "--every", "6h", "--yes", "--state", hub.state]
        subprocess.run(add, check=True, capture_output=True)
        until(lambda: [d for d in hub.datasets() if d["id"] == "kept-v0" and d["status"] == "ready"])
        until(lambda: len(hub.datasets("&status=remote")) == 2)
        until(lambda: all(m["state"] == "idle" for m in hub.get("/api/v1/mirrors").json()["items"]))
        rules = page(hub, "/~operations").text
        assert "Rules that keep copies" in rules and "kept, every 6 h" in rules and "up to date" in rules and "Upstreams" in rules
        one = page(hub, "/d/kept-v0")
        assert f"Copy of {far.base}, checked 20" in one.text and ", next 20" in one.text and far.base in one.links()
        remote = page(hub, "/d/up/other/listed-v0")
        assert f"Remote: only {far.base} has it; it is fetched when somebody reads it." in remote.text and "0 files" not in remote.text
        front = page(hub, "/").text
        assert "1here" in front and "2remote" in front


def test_problems_stand_by_weight(tmp_path):
    """The dearest first, those of one kind together, each kind with what helps."""
    shutil.copytree(f"{FIXTURES}/molmospaces/odd", tmp_path / "odd")
    (tmp_path / "cut-v0/data").mkdir(parents=True)
    (tmp_path / "cut-v0/data/main_data.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(50))
    with serving(str(tmp_path)) as hub:
        problems = hub.get("/api/v1/problems?limit=1000").json()["items"]
        found = page(hub, "/~operations").text
        said = re.findall(r"([a-z-]+) (\d+), costs ([a-z ]+)", found)
        assert {code: int(count) for code, count, _ in said} == {code: sum(p["code"] == code for p in problems) for code in {p["code"] for p in problems}}
        order = ["the whole dataset", "episodes", "loading by its library", "videos", "fields", "nothing"]
        weights = [order.index(next(o for o in order if costs.startswith(o))) for _, _, costs in said]
        assert weights == sorted(weights) and weights[0] == 0 and "Copy it here again" in found
