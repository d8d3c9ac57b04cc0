"""The pages without JavaScript: what the API says is in them, links lead on, and no text of a dataset is markup."""
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import quote, urljoin

import h5py
import numpy as np
import pytest

from hub import BIN, FIXTURES, serving

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


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    hostile(root)
    for name in ("camera-v30", "arm-v30"):
        shutil.copytree(os.path.join(FIXTURES, "lerobot", name), root / name)
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
    assert sum(a.get("class") == "plot" for t, a in found.tags if t == "svg") == 4
    found = page(hub, f"/d/{DOOR}/files?prefix=data/")
    assert all(f["path"] in found.text for f in hub.get(api + "/files").json()["items"])
    for view in ("~statistics", "~findings", "~use"):
        assert page(hub, f"/d/{DOOR}/{view}")
    assert "Disk" in page(hub, "/~operations").text


def test_links_lead_to_answers(hub):
    """All links of all views, a level deep."""
    seen, todo = set(), ["/", f"/d/{DOOR}", f"/d/{DOOR}/episodes/7", "/d/lab/hostile-v0", "/d/camera-v30/episodes/0", "/~operations"]
    for start in todo:
        found = page(hub, start)
        for href in found.links() + [a["src"] for t, a in found.tags if t in ("img", "script", "video")]:
            url = urljoin(hub.base + start, href)
            if url.startswith(hub.base) and url not in seen and not href.startswith("#"):
                seen.add(url)
                assert hub.get(url[len(hub.base) :], HTML).status in (200, 303), (start, href)
    assert len(seen) > 80


def test_bars_open_their_episodes(hub):
    histogram = hub.get(f"/api/v1/datasets/{DOOR}/~statistics").json()["fields"]["return"]["histogram"]
    bars = [h for h in page(hub, f"/d/{DOOR}").links() if "where=return" in h]
    counts = [c for c in histogram["counts"] if c]
    assert len(bars) == len(counts)
    for bar, count in zip(bars, counts):
        assert hub.get(bar.replace("/d/", "/api/v1/datasets/")).json()["total"] == count


def test_neighbours_follow_the_list(hub):
    order = [e["number"] for e in hub.get(f"/api/v1/datasets/{DOOR}/episodes?sort=-return").json()["items"]]
    links = page(hub, f"/d/{DOOR}/episodes/{order[3]}?sort=-return&at=2").links()
    assert f"/d/{DOOR}/episodes/{order[2]}?sort=-return" in links and f"/d/{DOOR}/episodes/{order[4]}?sort=-return" in links


def test_what_cannot_be_shown_is_a_page(hub):
    assert "no dataset 'nope-v0'" in page(hub, "/d/nope-v0", 404).text
    assert page(hub, f"/d/{DOOR}/episodes/999", 404) and page(hub, f"/d/{DOOR}?bogus=1", 400) and page(hub, "/?bogus=1", 400)
    assert 'at 1 ("retur <")' in page(hub, f"/d/{DOOR}/episodes?where=retur%20%3C", 400).text
    assert hub.get(f"/d/{DOOR}/episodes?number=7", HTML).status == 200  # sent on to it
    assert hub.get("/~assets/000000000000/style.css").status == 404


def test_recipes_do_what_they_say(hub, tmp_path):
    """Every one that is shown, pasted into a shell or into Python."""
    body = hub.get(f"/d/{DOOR}/~use?e=7", HTML).body.decode()
    recipes = [(title, html.unescape(text)) for title, text in re.findall(r"<h3>(.*?)</h3><pre[^>]*><code>(.*?)</code>", body, re.S)]
    env = os.environ | {"PATH": BIN + ":" + os.environ["PATH"], "MINARI_HUB_URL": hub.base, "MINARI_DATASETS_PATH": str(tmp_path / "datasets")}
    env.pop("PYTHONPATH", None)
    assert [t for t, _ in recipes] == ["minari-cli", "minari-cli: rows of a field", "curl: rows of a field", "numpy", "curl: all files", "Python, once downloaded"]
    for title, text in recipes:
        language = [sys.executable, "-c"] if title in ("numpy", "Python, once downloaded") else ["bash", "-euc"]
        done = subprocess.run([*language, text], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (title, text, done.stderr)
    assert (tmp_path / "datasets" / DOOR / "data/main_data.hdf5").is_file() and (tmp_path / "rows.npy").is_file()


def test_assets_never_change(hub):
    for tag, attributes in page(hub, "/").tags:
        url = attributes.get("href", "") if tag == "link" else attributes.get("src", "") if tag == "script" else ""
        if url.startswith("/~assets/"):
            assert "immutable" in hub.get(url).headers["Cache-Control"]


def test_text_of_a_dataset_is_text(hub):
    for path in ("/?q=" + quote(HOSTILE), "/d/lab/hostile-v0", "/d/lab/hostile-v0/episodes?where=" + quote(HOSTILE), "/d/lab/hostile-v0/episodes/0", "/d/lab/hostile-v0/~statistics", "/d/lab/hostile-v0/~use"):
        answer = hub.get(path, HTML)
        found = Page(answer.body)
        assert sum(t == "script" for t, _ in found.tags) == 1 and "\u202e" not in answer.body.decode()
        assert not any("javascript:" in str(v) for t, a in found.tags for v in a.values() if t == "a")
        assert not any(a.get("src") == "x" for _, a in found.tags)
    found = page(hub, "/d/lab/hostile-v0")
    assert "<script>alert(1)</script>" in found.text and "U+202E" in found.text and "javascript:alert(1)" in found.text


def test_a_browser_finds_nothing_wrong(hub):
    """axe-core, the console, the policy and no sideways scroll, on every view; the way to an episode; its videos."""
    if os.environ.get("HUB_TEST_BROWSER") == "off":
        return
    if not shutil.which("chromium") or subprocess.run(["node", "-e", "require('axe-core'), require('playwright-core')"], capture_output=True).returncode:
        pytest.skip("no chromium, or no playwright-core and axe-core in NODE_PATH")
    views = ["/", "/?status=broken", "/~operations", "/d/nope-v0", "/d/lab/hostile-v0", "/d/lab/hostile-v0/episodes/0", f"/d/{DOOR}", "/d/arm-v30/episodes/0", "/d/pictures/corridor-v0/episodes/0"]
    views += [f"/d/{DOOR}/{view}" for view in ("episodes?where=retur", "episodes?sort=-return", "episodes/1?at=3", "files", "~statistics", "~findings", "~use")]
    done = subprocess.run(["node", os.path.join(os.path.dirname(__file__), "../web/views.js"), hub.base, *views], capture_output=True, text=True, timeout=240)
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
