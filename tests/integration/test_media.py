"""Videos of episodes by the hub: every frame that was asked for decodes to the same bytes as in the whole file."""
import io
import json
import os
import shutil
import subprocess
import sys
import urllib.parse

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../support")]
import videos
from hub import BIN, FIXTURES, serving

COUNT = 90
# the houses, and what their four videos are: codec and flags of the muxer
HOUSES = {
    "house_1": [("h264", ""), ("h264", "faststart"), ("h264", "frag_keyframe+empty_moov+default_base_moof"), ("h264", "frag_keyframe")],
    "house_2": [("av1", ""), ("av1-long", "faststart"), ("hevc", ""), ("hevc-depth", "")],
    "house_3": [("vp9", ""), ("mpeg4", ""), ("h264-lerobot", "faststart"), ("av1", "faststart")],
    "house_4": [("h264", "negative_cts_offsets"), ("h264", "co64"), ("hevc", "negative_cts_offsets"), ("av1", "co64")],
    "house_5": [("h264-refresh", ""), ("h264-open", ""), ("h264-refresh", "faststart"), ("h264-open", "frag_keyframe")],
}
CAMERAS = [(episode, camera) for episode in (0, 1) for camera in ("exo_camera_1", "wrist_camera")]


def file_of(house, episode, camera):
    return f"{house}/episode_{episode:08d}_{camera}_batch_1_of_1.mp4"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("videos")
    for house, kinds in HOUSES.items():
        shutil.copytree(os.path.join(FIXTURES, "molmospaces/house"), root / "film" / house)
        for (codec, flags), (episode, camera) in zip(kinds, CAMERAS):
            path = str(root / "film" / file_of(house, episode, camera))
            videos.write(path, codec, COUNT, flags="" if flags == "co64" else flags)
            if flags == "co64":
                videos.widen(path)
                assert b"co64" in open(path, "rb").read()
    return root


@pytest.fixture(scope="module")
def hub(root):
    with serving(str(root)) as hub:
        yield hub


def each():
    for h, (house, kinds) in enumerate(HOUSES.items()):
        for (codec, flags), (episode, camera) in zip(kinds, CAMERAS):
            yield pytest.param(2 * h + episode, camera, file_of(house, episode, camera), id=f"{codec}-{flags or 'end'}")


def url_of(episode, camera, query=""):
    return f"/api/v1/datasets/film/episodes/{episode}/~media/{camera}.mp4{query}"


@pytest.mark.parametrize("episode,camera,path", list(each()))
def test_cuts(hub, root, episode, camera, path):
    file = str(root / "film" / path)
    whole = videos.frames(file)
    assert len(whole) == COUNT
    passed = hub.get(url_of(episode, camera))
    assert passed.status == 200 and passed.body == open(file, "rb").read()
    for start, stop in ((0, 90), (0, 1), (1, 2), (7, 31), (24, 25), (25, 50), (29, 61), (30, 60), (44, 45), (60, 90), (88, 90), (89, 90), (-3, None), (50, 1000)):
        query = f"?start={start}" + (f"&stop={stop}" if stop is not None else "")
        answer = hub.get(url_of(episode, camera, query))
        assert answer.status == 200 and answer.headers["Content-Type"] == "video/mp4", answer.body[:300]
        assert int(answer.headers["Content-Length"]) == len(answer.body)
        assert answer.body.index(b"moov") < answer.body.index(b"mdat")
        want, got = whole[start:stop], videos.frames(io.BytesIO(answer.body))
        assert [f[0] for f in got] == [f[0] for f in want], (query, [f[2] for f in got])
        assert got[0][1] == 0
        if "depth" not in path:
            assert [f[2] for f in got] == list(range(COUNT))[start:stop]


def test_random_cuts(hub, root):
    """As Python slices, in bounds and beyond, forwards and empty; HUB_TEST_CUTS: how many of each file."""
    random = np.random.default_rng(int(os.environ.get("HUB_TEST_SEED", "1")))
    for case in each():
        episode, camera, path = case.values
        whole = videos.frames(str(root / "film" / path))
        for _ in range(int(os.environ.get("HUB_TEST_CUTS", "6"))):
            start, stop = (int(n) if random.random() < 0.85 else None for n in random.integers(-COUNT - 9, COUNT + 9, 2))
            query = "&".join(f"{k}={v}" for k, v in (("start", start), ("stop", stop)) if v is not None)
            answer, want = hub.get(url_of(episode, camera, f"?{query}" if query else "")), whole[start:stop]
            assert answer.status == (200 if want else 416), (path, query, answer.status)
            got = videos.frames(io.BytesIO(answer.body)) if want else []
            assert [f[0] for f in got] == [f[0] for f in want], (path, query)


@pytest.mark.parametrize("query", ["", "?start=31&stop=47"])
def test_ranges_and_validators(hub, query):
    url = url_of(0, "wrist_camera", query)
    whole = hub.get(url)
    size, etag = len(whole.body), whole.headers["ETag"]
    assert whole.headers["Accept-Ranges"] == "bytes"
    head = hub.get(url, method="HEAD")
    assert head.status == 200 and head.body == b"" and int(head.headers["Content-Length"]) == size and head.headers["ETag"] == etag
    boxes = whole.body.index(b"mdat") + 4
    for first, last in ((0, 0), (0, 9), (boxes - 3, boxes + 3), (boxes, boxes + 10), (10, size - 1), (size - 1, size - 1), (0, size - 1), (3, boxes - 1), (5, 10**9)):
        part = hub.get(url, headers={"Range": f"bytes={first}-{last}"})
        assert part.status == 206 and part.body == whole.body[first:last + 1], (first, last, part.status)
        assert part.headers["Content-Range"] == f"bytes {first}-{min(last, size - 1)}/{size}"
    assert hub.get(url, headers={"Range": "bytes=-7"}).body == whole.body[-7:]
    beyond = hub.get(url, headers={"Range": f"bytes={size}-"})
    assert beyond.status == 416 and beyond.headers["Content-Range"] == f"bytes */{size}"
    assert hub.get(url, headers={"If-None-Match": etag}).status == 304
    assert hub.get(url, headers={"If-Match": '"other"'}).status == 412
    assert hub.get(url, headers={"Range": "bytes=0-9", "If-Range": etag}).status == 206
    assert hub.get(url, headers={"Range": "bytes=0-9", "If-Range": '"other"'}).body == whole.body


def test_etags_differ(hub):
    queries = ["", "?start=1", "?start=1&stop=7", "?stop=7", "?start=2"]
    tags = {hub.get(url_of(0, "wrist_camera", q)).headers["ETag"] for q in queries}
    assert len(tags) == len(queries)
    # the same frames asked for in another way
    assert len({hub.get(url_of(0, "wrist_camera", q)).headers["ETag"] for q in ("?start=-90&stop=7", "?start=0&stop=7")}) == 1


def test_the_list(hub):
    items = hub.get("/api/v1/datasets/film/episodes/0/~media").json()["items"]
    assert [i["camera"] for i in items] == [i["label"] for i in items] == ["exo_camera_1", "wrist_camera"]
    assert items[0] == {"camera": "exo_camera_1", "label": "exo_camera_1", "url": hub.base + url_of(0, "exo_camera_1"), "file": file_of("house_1", 0, "exo_camera_1"), "codecs": "avc1.64000a", "width": 64, "height": 48,
                        "fps": "30/1", "samples": COUNT, "first_frame": 0, "frames": COUNT, "from": 0.0, "to": 3.0, "posters": items[0]["posters"]}
    assert [p["step"] for p in items[0]["posters"]] == [0, 2, 4]
    codecs = {i["codecs"] for e in range(6) for i in hub.get(f"/api/v1/datasets/film/episodes/{e}/~media").json()["items"]}
    assert codecs == {"avc1.64000a", "av01.0.00M.08", "hev1.1.6.L30.90", "hev1.4.10.L255.99.C8", "vp09.00.10.08", "mp4v.20.241"}


def test_lengths_that_differ_are_told(hub):
    problems = [p for p in hub.dataset("film")["problems"] if p["code"] == "video-length"]
    assert any(p["detail"].startswith("exo_camera_1 has 90 frames for 6 steps") for p in problems), problems


@pytest.mark.parametrize("episode,camera,path", list(each()))
def test_posters(hub, root, episode, camera, path):
    whole = videos.frames(str(root / "film" / path))
    item = next(i for i in hub.get(f"/api/v1/datasets/film/episodes/{episode}/~media").json()["items"] if i["camera"] == camera)
    assert item["posters"][0]["step"] == 0
    for poster in item["posters"]:
        answer = hub.get(url_of(episode, camera, f"?poster={poster['step']}"))
        assert answer.status == 200 and answer.headers["Content-Type"] == "video/mp4", answer.body[:300]
        assert [f[0] for f in videos.frames(io.BytesIO(answer.body))] == [whole[poster["step"]][0]]
        assert abs(len(answer.body) - poster["bytes"]) < 2048
    assert hub.get(url_of(episode, camera, "?poster=0&stop=3")).status == 200  # one frame, whatever else is asked for
    assert hub.get(url_of(episode, camera, "?poster=-1")).status == 400


def test_a_poster_of_many_bytes_is_a_key_frame(tmp_path):
    """Key frames every fourth frame: 400 KB each, and so is what lies between them."""
    shutil.copytree(os.path.join(FIXTURES, "molmospaces/house"), tmp_path / "film/house_1")
    path = str(tmp_path / "film" / file_of("house_1", 0, "wrist_camera"))
    videos.write_noise(path, 6, size=(160, 120))
    whole = videos.frames(path)
    with serving(str(tmp_path)) as hub:
        item = next(i for i in hub.get("/api/v1/datasets/film/episodes/0/~media").json()["items"] if i["camera"] == "wrist_camera")
        assert [p["step"] for p in item["posters"]] == [0, 4]
        for step, key in ((0, 0), (1, 0), (3, 0), (4, 4), (5, 4), (99, 4)):
            answer = hub.get(url_of(0, "wrist_camera", f"?poster={step}"))
            assert [f[0] for f in videos.frames(io.BytesIO(answer.body))] == [whole[key][0]], step
        [first] = hub.get("/api/v1/datasets/film/~poster").json()["items"]
        assert (first["kind"], first["name"], first["episode"], first["step"]) == ("video", "exo_camera_1", 0, 2)
        assert hub.get(first["url"].removeprefix(hub.base)).status == 200


def test_a_dataset_without_cameras_has_no_poster():
    with serving(os.path.join(FIXTURES, "samples")) as hub:
        assert hub.get("/api/v1/datasets/door-human-v0/~poster").json() == {"items": []}
        [picture] = hub.get("/api/v1/datasets/pictures/corridor-v0/~poster").json()["items"]
        assert picture["kind"] == "picture" and picture["name"] == "observations"
        assert hub.get(picture["url"].removeprefix(hub.base)).headers["Content-Type"].startswith("image/")


def test_what_is_wrong(hub):
    def problem(url):
        answer = hub.get(url)
        return answer.status, answer.json()["type"].rsplit(":", 1)[1]

    assert problem(url_of(0, "nose")) == (404, "camera-not-found")
    assert problem("/api/v1/datasets/film/episodes/0/~media/wrist_camera") == (404, "camera-not-found")
    assert problem(url_of(99, "wrist_camera")) == (404, "episode-missing")
    assert problem(url_of(0, "wrist_camera", "?start=90")) == (416, "range-not-satisfiable")
    assert problem(url_of(0, "wrist_camera", "?start=5&stop=5")) == (416, "range-not-satisfiable")
    assert problem(url_of(0, "wrist_camera", "?start=x")) == (400, "bad-parameter")
    assert problem(url_of(0, "wrist_camera", "?row=1")) == (400, "bad-parameter")


def test_the_command_line(hub, root, tmp_path):
    def run(*arguments):
        return subprocess.run([os.path.join(BIN, "minari-cli"), "--remote", hub.base, "get", "film", "0", *arguments], capture_output=True, text=True, timeout=60)

    out = tmp_path / "wrist.mp4"
    done = run("~media/wrist_camera", "-o", str(out))
    assert done.returncode == 0 and out.read_bytes() == hub.get(url_of(0, "wrist_camera")).body, done
    for rows, query in (("10:20", "?start=10&stop=20"), ("-5:", "?start=-5"), ("7", "?start=7&stop=8"), ("-1", "?start=-1")):
        done = run("~media/wrist_camera.mp4", "--rows", rows, "-o", str(out))
        assert done.returncode == 0 and out.read_bytes() == hub.get(url_of(0, "wrist_camera", query)).body, (rows, done)
    missing = run("~media/nose", "-o", str(tmp_path / "x.mp4"))
    assert missing.returncode == 3 and "wrist_camera" in missing.stderr and not (tmp_path / "x.mp4").exists()
    assert run("~media/wrist_camera", "rewards", "-o", str(out)).returncode == 2
    assert run("~media/wrist_camera", "--rows", "::2", "-o", str(out)).returncode != 0


def test_the_command_line_shows_cameras(hub, root):
    """Of a dataset here, and of one of a hub; as the dataset says it has them, or as its videos are."""
    def show(*arguments, **env):
        done = subprocess.run([os.path.join(BIN, "minari-cli"), "show", *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **env})
        assert done.returncode == 0, done
        return [line.split("  ") for line in done.stdout.splitlines()], done.stdout

    lerobot = os.path.join(FIXTURES, "lerobot")
    with serving(lerobot) as other:
        for arguments, env in ((["-r", other.base, "arm-v30"], {}), (["arm-v30"], {"MINARI_DATASETS_PATH": lerobot})):
            lines, text = show(*arguments, **env)
            cells = [[c.strip() for c in line if c.strip()] for line in lines]
            assert ["Frames per Second", "10"] in cells and ["Robot", "so100"] in cells, text
            assert ["observation.images.top", "video", "64 x 48", "10", "av1"] in cells and ["observation.images.wrist", "video", "64 x 48", "10", "av1"] in cells, text
            assert "Tasks (2)" in text and ["0", "open the door 扉"] in cells, text
    for arguments, env in ((["-r", hub.base, "film"], {}), (["film"], {"MINARI_DATASETS_PATH": str(root)})):
        lines, text = show(*arguments, **env)
        cells = [[c.strip() for c in line if c.strip()] for line in lines]
        assert ["exo_camera_1", "video", "64 x 48", "30", "avc1.64000a"] in cells and "Tasks" not in text, text


def test_a_browser_plays_and_seeks(hub):
    """H.264 with B-frames and AV1, of which nothing, or something, is hidden before the first frame."""
    if os.environ.get("HUB_TEST_BROWSER") == "off":
        return
    script = os.path.join(HERE, "../support/play.js")
    if not shutil.which("chromium") or subprocess.run(["node", "-e", "require('playwright-core')"], capture_output=True).returncode:
        pytest.skip("no chromium, or no playwright-core in NODE_PATH")
    cuts = [(0, "exo_camera_1", 31, 61), (0, "exo_camera_1", 0, 30), (1, "exo_camera_1", 7, 67), (2, "exo_camera_1", 30, 60), (2, "wrist_camera", 40, 85)]
    urls = [hub.base + url_of(e, camera, f"?start={start}&stop={stop}") for e, camera, start, stop in cuts]
    done = subprocess.run(["node", script, *urls], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    for (_, _, start, stop), seen in zip(cuts, json.loads(done.stdout)):
        assert -1e-3 < seen["duration"] - (stop - start) / 30 < 0.14, seen  # Chromium counts hidden frames behind the last one
        assert seen["first"] == start and seen["last"] == stop - 1, (start, stop, seen)
        assert [n for _, n in seen["sought"]] == [start + i for i, _ in seen["sought"]], (start, seen)


def test_lerobot_episodes_that_share_a_file():
    """Each episode of v3 alone: its frames, and no others, the same as in the file it lies in."""
    root, shared = os.path.join(FIXTURES, "lerobot"), 0
    with serving(root) as hub:
        for id in ("arm-v21", "arm-v30", "many-v30"):
            for episode in hub.episodes(id):
                url = f"/api/v1/datasets/{id}/episodes/{episode['number']}/~media"
                for media in hub.get(url).json()["items"]:
                    whole = videos.frames(os.path.join(root, id, media["file"]))
                    assert media["samples"] == len(whole) and media["frames"] == episode["steps"] and "problem" not in media, media
                    assert media["label"] == media["camera"].rsplit(".", 1)[1]
                    answers = [hub.get(f"{url}/{media[name]}.mp4") for name in ("camera", "label")]
                    assert answers[0].status == 200 and answers[0].body == answers[1].body, answers[0].body
                    got = videos.frames(io.BytesIO(answers[0].body))
                    first = media["first_frame"]
                    assert [f[0] for f in got] == [f[0] for f in whole[first:first + media["frames"]]], (id, media)
                    shared += media["frames"] < media["samples"]
    assert shared > 5


def test_a_camera_that_is_taken_for_a_field():
    """Its name stands among the features of a dataset, so people ask for it as they ask for fields."""
    with serving(os.path.join(FIXTURES, "lerobot")) as hub:
        at = "/api/v1/datasets/arm-v30"
        for ask in ("episodes/1/observation.images.top", "episodes/1/top", "episodes/1/observation.images.top?buckets=16", "episodes/1/observation.images.top?runs=9",
                    "episodes/1?fields=observation.images.top", "sample?windows=1&length=1&fields=observation.images.top", "rows?fields=action&fields=top",
                    "~statistics?field=observation.images.top"):
            answer = hub.get(f"{at}/{ask}")
            number = "1" if "episodes/" in ask else "N"
            assert answer.status == 404 and answer.json()["type"].endswith("field-not-found"), ask
            assert f"is a video, not a field: use episodes/{number}/~media/observation.images.top.mp4" in answer.json()["detail"], answer.json()
        assert "it has action" in hub.get(f"{at}/episodes/1/nose").json()["detail"]
        revision = hub.dataset("arm-v30")["revision"]
        for query in "", f"?revision={revision}":
            top = next(i for i in hub.get(f"{at}/episodes/1/~media{query}").json()["items"] if i["label"] == "top")
            assert top["url"] == f"{hub.base}{at}/episodes/1/~media/top.mp4{query}" and hub.get(top["url"].removeprefix(hub.base)).status == 200


def test_episodes_lie_where_the_video_says(tmp_path):
    """A time is one of the file, whatever frame rate info.json states of it or of the rows."""
    source = os.path.join(FIXTURES, "lerobot", "arm-v30")
    for name, feature, rows in (("as-it-is", 10, 10), ("said", 5, 10), ("slow", 10, 5), ("by-row", 10, 5)):
        shutil.copytree(source, tmp_path / name)
        path = tmp_path / name / "meta" / "info.json"
        info = json.loads(path.read_text())
        info["fps"] = rows
        for each in info["features"].values():
            if each["dtype"] == "video":
                each["info"]["video.fps"] = feature
        path.write_text(json.dumps(info))
    # three frames more than there are rows: they are not one for each
    videos_of = tmp_path / "slow" / "videos"
    for camera in os.listdir(videos_of):
        videos.write(str(videos_of / camera / "chunk-000" / "file-000.mp4"), "h264", 60, rate=10)
    with serving(str(tmp_path)) as hub:
        for episode in hub.episodes("as-it-is"):
            said, slow, by_row, want = ([(i["camera"], i["first_frame"], i["frames"]) for i in hub.get(f"/api/v1/datasets/{id}/episodes/{episode['number']}/~media").json()["items"]]
                                for id in ("said", "slow", "by-row", "as-it-is"))
            assert said == want and len(want) == 2
            assert slow == [(camera, first, 2 * frames) for camera, first, frames in want]  # rows of 0.2 s each
            assert by_row == want
            for camera, first, _ in slow:  # steps are asked for: two frames each
                file = os.path.join(tmp_path, "slow", "videos", camera, "chunk-000", "file-000.mp4")
                whole = [f[0] for f in videos.frames(file)][first:first + 2 * episode["steps"]]
                for start, stop in ((0, 1), (1, 3), (-1, None), (0, None), (2, 999)):
                    query = f"?start={start}" + (f"&stop={stop}" if stop is not None else "")
                    answer = hub.get(f"/api/v1/datasets/slow/episodes/{episode['number']}/~media/{camera}.mp4{query}")
                    end = len(whole) if stop is None else 2 * stop
                    assert answer.status == (200 if whole[2 * start:end] else 416), (query, answer.body)
                    if answer.status == 416:
                        continue
                    assert [f[0] for f in videos.frames(io.BytesIO(answer.body))] == whole[2 * start:end], query
        codes = {id: {p["code"] for p in hub.dataset(id)["problems"]} for id in ("said", "slow")}
        assert "video-span" not in codes["said"] and {"video-span", "fps-mismatch"} <= codes["slow"]


def test_frames_that_cannot_be_cut_out(tmp_path):
    shutil.copytree(os.path.join(FIXTURES, "molmospaces/house"), tmp_path / "film" / "house_1")
    path = file_of("house_1", 0, "exo_camera_1")
    videos.write(str(tmp_path / "film" / path), "mpeg1", 90)
    with serving(str(tmp_path)) as hub:
        answer = hub.get(url_of(0, "exo_camera_1", "?start=5&stop=20"))
        assert answer.status == 406 and "MPEG-1" in answer.json()["detail"]
        assert hub.get(urllib.parse.urlsplit(answer.json()["file"]).path).body == open(str(tmp_path / "film" / path), "rb").read()


def test_hostile_files(tmp_path):
    """Each is a problem by name or simply works; the file is there in any case, and a cut that cannot be made says where."""
    hostile = sorted(f for f in os.listdir(os.path.join(FIXTURES, "mp4")) if f.startswith("hostile-"))
    for i, name in enumerate(hostile):
        house = tmp_path / "film" / f"house_{i}"
        shutil.copytree(os.path.join(FIXTURES, "molmospaces/house"), house)
        for episode, camera in CAMERAS:
            shutil.copy(os.path.join(FIXTURES, "mp4", name), tmp_path / "film" / file_of(f"house_{i}", episode, camera))
    with serving(str(tmp_path)) as hub:
        assert hub.dataset("film")["status"] == "ready"
        for i, name in enumerate(hostile):
            assert hub.get(url_of(2 * i, "wrist_camera")).body == open(os.path.join(FIXTURES, "mp4", name), "rb").read(), name
            answer = hub.get(url_of(2 * i, "wrist_camera", "?start=2&stop=4"))
            assert answer.status in (200, 406, 416), (name, answer.status, answer.body)
            if answer.status == 406:
                document = answer.json()
                assert hub.get(document["file"].replace(hub.base, "")).status == 200
                listed = hub.get(f"/api/v1/datasets/film/episodes/{2 * i}/~media").json()["items"][1]
                assert listed["problem"] in document["detail"], (listed, document)
