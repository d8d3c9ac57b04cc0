"""What is said about datasets: spaces of any size, sets that their own library refuses, problems, prices."""
import http.client
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

import h5py
import numpy as np
import pytest

from hub import BIN, FIXTURES, quote, serving, until

os.environ.setdefault("MINARI_DATASETS_PATH", "/nonexistent")
sys.dont_write_bytecode = True


def run(program, *args, code=0):
    p = subprocess.run([os.path.join(BIN, program), *args], capture_output=True, text=True, timeout=120)
    assert p.returncode == code, (p.returncode, p.stdout, p.stderr)
    return p.stdout


# ---- spaces ----


def make_cameras(root, id):
    """Two cameras of 480x640, as Minari itself writes them: their bounds are 17 MB of metadata.json."""
    script = f"""
import os; os.environ["MINARI_DATASETS_PATH"] = {str(root)!r}
import minari, numpy as np
from gymnasium import spaces
from minari.data_collector import EpisodeBuffer
box = lambda: spaces.Box(0, 255, (480, 640, 3), np.uint8)
space = spaces.Dict(cam=box(), wrist=box(), q=spaces.Box(-np.inf, np.inf, (7,), np.float64))
action = spaces.Box(np.array([-4.8, -np.inf, -0.41887903], np.float32), np.array([4.8, np.inf, 0.41887903], np.float32))
n = 2
episode = EpisodeBuffer(id=0, seed=1, options=None, infos={{}}, rewards=[1.0] * n, terminations=[False, True],
    truncations=[False] * n, actions=[np.zeros(3, np.float32)] * n,
    observations={{"cam": [np.full((480, 640, 3), t, np.uint8) for t in range(n + 1)],
                   "wrist": [np.zeros((480, 640, 3), np.uint8)] * (n + 1), "q": [np.arange(7.0)] * (n + 1)}})
minari.create_dataset_from_buffers({id!r}, [episode], observation_space=space, action_space=action, env=None,
    algorithm_name="none", author="me", author_email="me@here", code_permalink="here")
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=120)
    return os.path.join(root, id, "data", "metadata.json")


def test_bounds_of_a_picture_are_one_number_each(tmp_path):
    """A grid of 7x7x3 listed 147 times 0 and 147 times 255, a camera none at all."""
    h5py = pytest.importorskip("h5py")
    box = lambda shape, high: {"type": "Box", "dtype": "uint8", "shape": shape, "low": 0, "high": high}
    space = {"type": "Dict", "subspaces": {"grid": box([7, 7, 3], 255), "cam": box([64, 48, 3], 200), "list": box([147], 9)}}
    (tmp_path / "grid-v0" / "data").mkdir(parents=True)
    with h5py.File(tmp_path / "grid-v0" / "data" / "main_data.hdf5", "w") as f:
        f.attrs.update(dataset_id="grid-v0", total_episodes=1, total_steps=2, minari_version="0.5.0", observation_space=json.dumps(space))
        f["episode_0/rewards"] = np.zeros(2)
        for name, shape in {"grid": (7, 7, 3), "cam": (64, 48, 3), "list": (147,)}.items():
            f[f"episode_0/observations/{name}"] = np.zeros((3, *shape), np.uint8)
    with serving(str(tmp_path)) as hub:
        fields = {f["path"]: (f.get("picture", {}).get("layout"), f.get("low"), f.get("high")) for f in hub.dataset("grid-v0")["fields"]}
        assert fields["observations/grid"] == ("HWC", 0, 255) and fields["observations/cam"] == ("HWC", 0, 200)
        assert fields["observations/list"] == (None, [0] * 147, [9] * 147)


def test_text_in_a_file_of_narrow_addresses(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "narrow-v0" / "data").mkdir(parents=True)
    sizes = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    sizes.set_sizes(4, 4)
    path = str(tmp_path / "narrow-v0" / "data" / "main_data.hdf5")
    with h5py.File(h5py.h5f.create(path.encode(), h5py.h5f.ACC_TRUNC, sizes)) as f:
        f["episode_0/rewards"] = np.zeros(3)
        f["episode_0"].create_dataset("infos/s", data=["é0", "b", "c" * 99], dtype=h5py.string_dtype())
    with serving(str(tmp_path)) as hub:
        assert hub.get("/api/v1/datasets/narrow-v0/episodes/0/infos/s").json() == ["é0", "b", "c" * 99]


def test_two_cameras(tmp_path):
    with open(make_cameras(tmp_path, "robot/two-cameras-v0"), encoding="utf-8") as f:
        stored = json.load(f)
    assert len(stored["observation_space"]) > 8e6
    with serving(str(tmp_path)) as hub:
        answer = hub.get("/api/v1/datasets/robot/two-cameras-v0")
        d = answer.json()
        assert len(answer.body) <= 8192 and d["status"] == "ready" and d["problems"] == [] and d["loadable_by"]
        cam = {"type": "Box", "dtype": "uint8", "shape": [480, 640, 3], "low": 0, "high": 255}
        assert d["observation_space"]["subspaces"]["cam"] == cam == d["observation_space"]["subspaces"]["wrist"]
        assert d["action_space"]["low"] == [-4.800000190734863, "-Infinity", -0.41887903213500977]
        assert not any(k.endswith("_space") for k in d["metadata"])
        for of in "observation", "action":
            answer = hub.get(f"/api/v1/datasets/robot/two-cameras-v0/~spaces?of={of}")
            assert answer.status == 200 and answer.body.decode() == stored[of + "_space"]
            assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert answer.headers["Content-Length"] == str(len(answer.body))
            etag = {"If-None-Match": answer.headers["ETag"]}
            assert hub.get(f"/api/v1/datasets/robot/two-cameras-v0/~spaces?of={of}", etag).status == 304
        assert hub.get("/api/v1/datasets/robot/two-cameras-v0/~spaces?of=reward").json()["parameter"] == "of"
        one = http.client.HTTPConnection("127.0.0.1", hub.port)  # what was sent before leaves nothing to the next answer
        for path, expected in (("~spaces?of=observation", stored["observation_space"].encode()),
                               ("files/data/metadata.json", (tmp_path / "robot/two-cameras-v0/data/metadata.json").read_bytes())):
            one.request("GET", "/api/v1/datasets/robot/two-cameras-v0/" + path)
            assert one.getresponse().read() == expected, path
        text = run("minari-cli", "show", "robot/two-cameras-v0", "--remote", hub.base)
        assert "Box(0, 255, (480, 640, 3), uint8)" in text
        assert "Box([-4.8 -inf -0.41887903], [4.8 inf 0.41887903], (3,), float32)" in text
        copy = tmp_path / "copy"
        env = {**os.environ, "MINARI_DATASETS_PATH": str(copy)}
        subprocess.run([os.path.join(BIN, "minari-cli"), "download", "robot/two-cameras-v0", "--remote", hub.base],
                       env=env, check=True, capture_output=True, timeout=120)
        check = "import minari; d = minari.load_dataset('robot/two-cameras-v0'); print(d.observation_space['cam'].shape, len(d[0]))"
        p = subprocess.run([sys.executable, "-W", "ignore", "-c", check], env=env, capture_output=True, text=True, timeout=120)
        assert p.stdout.strip() == "(480, 640, 3) 2", p.stderr


def test_the_stored_text_of_every_fixture(tmp_path):
    """In metadata.json, in attributes of HDF5, of variable and of fixed length, or not at all."""
    h5py = pytest.importorskip("h5py")
    fixtures = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "minari")
    fixed = tmp_path / "fixed-v0" / "data"
    fixed.mkdir(parents=True)
    with h5py.File(fixed / "main_data.hdf5", "w") as f:
        f.attrs["total_episodes"], f.attrs["dataset_id"] = 1, "fixed-v0"
        f.attrs["action_space"] = np.bytes_(b'{"type": "Discrete", "dtype": "int64", "start": 0, "n": 2}')
        f["episode_0/rewards"] = [1.0]
    checked = 0
    with serving(f"fix={fixtures}", f"own={tmp_path}") as hub:
        for item in hub.datasets():
            if not item["format"].startswith("minari"):
                continue
            root, path = item["id"].split("/", 1)
            folder = os.path.join(fixtures if root == "fix" else tmp_path, path, "data")
            if os.path.exists(os.path.join(folder, "metadata.json")):
                with open(os.path.join(folder, "metadata.json"), encoding="utf-8", errors="replace") as f:
                    try:
                        stored = json.load(f)
                    except ValueError:
                        continue
            else:
                try:
                    with h5py.File(os.path.join(folder, "main_data.hdf5")) as f:
                        stored = dict(f.attrs)
                except OSError:
                    continue
            for of in "observation", "action":
                answer = hub.get(f"/api/v1/datasets/{item['id']}/~spaces?of={of}")
                want = stored.get(of + "_space")
                if isinstance(want, (str, bytes)):
                    assert answer.body == (want.encode() if isinstance(want, str) else bytes(want)), item["id"]
                    checked += 1
                else:
                    assert answer.status == 404 and answer.json()["type"].endswith(":field-not-found")
    assert checked > 20


# ---- prices of what a dictionary holds ----


def test_words_and_pictures_of_a_dictionary_are_not_priced_at_all_of_it(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    meta, data = tmp_path / "words" / "meta", tmp_path / "words" / "data" / "chunk-000"
    meta.mkdir(parents=True), data.mkdir(parents=True)
    info = {"codebase_version": "v2.1", "total_episodes": 1, "total_frames": 200000, "fps": 10, "features": {}}
    (meta / "info.json").write_text(json.dumps(info))
    words = [f"w{i:05}" for i in range(50000)] * 4
    pictures = [bytes([i % 60]) * 400000 for i in range(60)] + [None] * 199940
    table = pa.table({"word": words, "picture": pictures, "maybe": pa.array([1, None, 3, None] * 50000, pa.int64())})
    pq.write_table(table, data / "episode_000000.parquet", use_dictionary=True, data_page_size=4096,
                   dictionary_pagesize_limit=64 << 20, row_group_size=200000, compression="zstd")
    with serving(str(tmp_path), args=["--memory", "128M"]) as hub:
        base = "/api/v1/datasets/words/episodes/0"
        answer = hub.get(base + "/word?start=-800")
        assert answer.status == 200, answer.body
        assert answer.json() == words[-800:]
        answer = hub.get(base + "/picture?start=50&stop=62")
        assert answer.status == 200 and answer.json()[10:] == [None, None]
        assert hub.get(base + "/maybe?start=0&stop=4").json() == [1, None, 3, None]


# ---- sets that their own library refuses ----

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
VIDEO = os.path.join(FIXTURES, "lerobot", "arm-v21", "videos", "chunk-000", "observation.images.top", "episode_000000.mp4")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9999\n"


def make_arm(root, name, episodes=3, frames=4):
    """A small LeRobot v2.1 set without videos that LeRobot would load."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    meta, data = root / name / "meta", root / name / "data" / "chunk-000"
    meta.mkdir(parents=True), data.mkdir(parents=True)
    features = {"action": {"dtype": "float32", "shape": [2]}}
    info = {"codebase_version": "v2.1", "total_episodes": episodes, "total_frames": episodes * frames, "fps": 10,
            "total_tasks": 1, "features": features, "splits": {"train": f"0:{episodes}"}, "chunks_size": 1000,
            "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"}
    (meta / "info.json").write_text(json.dumps(info))
    (meta / "tasks.jsonl").write_text('{"task_index": 0, "task": "lift"}\n')
    lines = [{"episode_index": i, "tasks": ["lift"], "length": frames} for i in range(episodes)]
    (meta / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (meta / "episodes_stats.jsonl").write_text("".join(json.dumps({"episode_index": i, "stats": {}}) + "\n" for i in range(episodes)))
    for i in range(episodes):
        table = pa.table({"action": pa.array([[0.0, 1.0]] * frames, pa.list_(pa.float32())),
                          "episode_index": [i] * frames, "task_index": [0] * frames})
        pq.write_table(table, data / f"episode_{i:06}.parquet")
    return root / name


def test_what_its_own_library_refuses_is_never_silently_ready(tmp_path):
    pytest.importorskip("pyarrow")
    h5py = pytest.importorskip("h5py")
    make_arm(tmp_path, "good")
    (make_arm(tmp_path, "no-info") / "meta" / "info.json").unlink()
    (make_arm(tmp_path, "empty-info") / "meta" / "info.json").write_bytes(b"")
    (make_arm(tmp_path, "pointer-info") / "meta" / "info.json").write_bytes(POINTER)
    (make_arm(tmp_path, "cut-info") / "meta" / "info.json").write_bytes(b'{"codebase_ver')
    (make_arm(tmp_path, "no-tasks") / "meta" / "tasks.jsonl").unlink()
    (make_arm(tmp_path, "pointer-tasks") / "meta" / "tasks.jsonl").write_bytes(POINTER)
    (make_arm(tmp_path, "no-stats") / "meta" / "episodes_stats.jsonl").unlink()
    (make_arm(tmp_path, "lost-episode") / "data" / "chunk-000" / "episode_000001.parquet").unlink()
    (make_arm(tmp_path, "bad-episode") / "data" / "chunk-000" / "episode_000001.parquet").write_bytes(b"PAR1")
    make_arm(tmp_path, "fresh", episodes=0)
    no_data = make_arm(tmp_path, "no-data")
    for f in (no_data / "data" / "chunk-000").iterdir():
        f.unlink()
    for name, write in {"robo-v0": lambda f: f.create_group("data/demo_0"),
                        "flat-v0": lambda f: f.create_dataset("observations", data=[1.0])}.items():
        (tmp_path / name / "data").mkdir(parents=True)
        with h5py.File(tmp_path / name / "data" / "main_data.hdf5", "w") as f:
            write(f)
    shutil.copytree(os.path.join(FIXTURES, "hdf5-hostile", "unclean-shutdown-v0"), tmp_path / "open-v0")
    with pytest.raises(OSError, match="consistency flags|already open"):
        h5py.File(tmp_path / "open-v0" / "data" / "main_data.hdf5")
    with serving(str(tmp_path)) as hub:
        sets = {i["id"]: i for i in hub.datasets()}
        assert sets["good"]["status"] == "ready" and "loadable" not in sets["good"]
        assert hub.dataset("good")["problems"] == []
        for name, reason in {"no-info": "info.json is missing", "empty-info": "info.json", "cut-info": "info.json",
                             "pointer-info": "git lfs pull", "no-data": "there is no data file"}.items():
            assert sets[name]["format"] == "lerobot" and sets[name]["status"] == "broken", (name, sets[name])
            assert reason in sets[name]["reason"], sets[name]
        refused = {"no-tasks": "missing", "pointer-tasks": "cannot be read", "no-stats": "missing", "lost-episode": "without the data file",
                   "bad-episode": "cannot be read", "fresh": "no episode has been recorded", "robo-v0": "", "flat-v0": "", "open-v0": "refuse to read it"}
        for name, reason in refused.items():
            assert sets[name]["status"] == "ready" and sets[name]["loadable"] is False and sets[name]["loadable_by"] == []
            assert any(p["code"] == "not-loadable" and reason in p["detail"] for p in hub.dataset(name)["problems"]), name
        assert any("git lfs pull" in p["detail"] for p in hub.dataset("pointer-tasks")["problems"])
        assert "file-not-closed" in {p["code"] for p in hub.dataset("open-v0")["problems"]}
        assert any("robomimic" in p["detail"] for p in hub.dataset("robo-v0")["problems"])
        assert any("D4RL" in p["detail"] for p in hub.dataset("flat-v0")["problems"])
        lost = set(refused) | {"no-info", "empty-info", "cut-info", "pointer-info", "no-data"}
        for query in "loadable=false", "problems=true":
            assert {i["id"] for i in hub.datasets("&" + query)} == lost
        for query in "loadable=true", "problems=false":
            assert {i["id"] for i in hub.datasets("&" + query)} == set(sets) - lost
        assert hub.get("/api/v1/datasets?loadable=no").json()["parameter"] == "loadable"
        facets = hub.get("/api/v1/datasets?facets=problems&problems=true").json()["facets"]["problems"]
        assert {f["value"]: f["count"] for f in facets} == {"true": len(lost), "false": len(sets) - len(lost)}
        costs = {p["code"]: p.get("costs") for p in hub.dataset("bad-episode")["problems"]}
        assert costs == {"fewer-than-claimed": "episodes", "unreadable-episode": "episodes", "not-loadable": "loading"}, costs
        assert sets["bad-episode"]["costly_problems"] == len(hub.dataset("bad-episode")["problems"])
        listed = hub.get("/api/v1/problems?prefix=bad-episode").json()["items"]
        assert {p["code"]: p["costs"] for p in listed} == costs


def test_what_contradicts_info_json_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    arm = make_arm(tmp_path, "arm")
    info = json.loads((arm / "meta" / "info.json").read_text())
    info["features"] = {"action": {"dtype": "float64", "shape": [3]}, "cam": {"dtype": "video", "shape": [2, 2, 3]}}
    totals = {"total_frames": 99, "total_tasks": 7, "total_videos": 3}
    (arm / "meta" / "info.json").write_text(json.dumps({**info, **totals}))
    (arm / "meta" / "tasks.jsonl").write_text('{"task_index": 5, "task": "lift"}\n{"task_index": 6, "task": "drop"}\n{"task_')
    with serving(str(tmp_path)) as hub:
        d = hub.dataset("arm")
        told = {(p["code"], p.get("path", "").split("/")[-1]): p["detail"] for p in d["problems"]}
        assert told["dtype-mismatch", "action"] == "info.json states float64, the files hold float32"
        assert "shape-mismatch" in {c for c, _ in told} and "99 steps" in told["fewer-than-claimed", "info.json"]
        assert "task_index 0 has no task" in told["unknown-task", "episode_000000.parquet"]
        assert told["count-mismatch", "tasks.jsonl"] == "info.json says total_tasks is 7, there are 2"
        assert told["count-mismatch", "videos"] == "info.json says total_videos is 3, there are 0"
        assert told["bad-json-line", "tasks.jsonl"].startswith("line 3 is cut short") and " more" not in told["bad-json-line", "tasks.jsonl"]


def plain_tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in ("0001.txt", "0002.txt"):
            member = tarfile.TarInfo(name)
            member.size = 5
            tar.addfile(member, io.BytesIO(b"hello"))
    return out.getvalue()


def test_tasks_of_an_episode_are_a_set(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    arm = make_arm(tmp_path, "arm")
    info = json.loads((arm / "meta" / "info.json").read_text())
    info["features"] = {"action": {"dtype": "float32", "shape": [1, 2]}, "note": {"dtype": "float32", "shape": [1]},
                        "label": {"dtype": "string", "shape": [1]}}
    (arm / "meta" / "info.json").write_text(json.dumps(info))
    (arm / "meta" / "tasks.jsonl").write_text('{"task_index": 0, "task": "lift"}\n{"task_index": 1, "task": "drop"}\n')
    with open(arm / "meta" / "episodes.jsonl", "a") as f:
        f.write('{"episode_index": 3, "ta')
    for i, tasks in enumerate(([0, 0, 1, 0], [1, 1, 7, 8], [0] * 4)):
        text = pa.array(["a", "b", "c", "d"])
        pq.write_table(pa.table({"action": pa.array([[0.0, 1.0]] * 4, pa.list_(pa.float32())), "note": text, "label": text,
                                 "episode_index": [i] * 4, "task_index": tasks}), arm / "data" / "chunk-000" / f"episode_{i:06}.parquet")
    with serving(str(tmp_path)) as hub:
        episodes = list(hub.episodes("arm"))
        assert [e["task"] for e in episodes] == ["lift", "drop", "lift"]
        assert [e["attributes"].get("tasks") for e in episodes] == [["lift", "drop"], None, None]
        problems = [(p["code"], p.get("path", "").split("/")[-1], p["detail"]) for p in hub.dataset("arm")["problems"]]
        assert {d for c, _, d in problems if c == "unknown-task"} == {f"task_index {n} has no task in meta/tasks.jsonl" for n in (7, 8)}
        assert [p for p in problems if p[0] == "shape-mismatch"] == [("shape-mismatch", "action", "info.json states [1,2], the files hold [2]")]
        assert [p for p in problems if p[0] == "dtype-mismatch"] == [("dtype-mismatch", "note", "info.json states float32, the files hold string")]
        assert len([p for p in problems if p[0] == "bad-json-line"]) == 1


def test_what_was_never_fetched_or_is_not_in_all_files(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    arm = make_arm(tmp_path, "arm")
    file = arm / "data" / "chunk-000" / "episode_000001.parquet"
    pq.write_table(pq.read_table(file).drop(["action"]), file)
    for name, pointers in (("first", 1), ("all", 2)):
        (tmp_path / name).mkdir()
        for i in range(2):
            (tmp_path / name / f"a-{i:06}.tar").write_bytes(POINTER if i < pointers else plain_tar())
    make_cameras(tmp_path, "spoilt-v0")
    (tmp_path / "spoilt-v0" / "data" / "metadata.json").write_bytes(POINTER)
    with serving(str(tmp_path)) as hub:
        sets = {i["id"]: i for i in hub.datasets()}
        told = {name: [(p["code"], p["path"].split("/")[-1], p["detail"]) for p in hub.dataset(name)["problems"]] for name in sets}
        assert ("missing-column", "action", "1 of 3 episode files do not have it") in told["arm"]
        assert "action" not in {f["path"] for f in hub.get("/api/v1/datasets/arm/episodes/1").json()["fields"]}
        assert (sets["first"]["format"], sets["first"]["status"], sets["first"]["episodes"]) == ("webdataset", "ready", 1)
        assert ("not-fetched", "a-000000.tar") in {t[:2] for t in told["first"]}
        assert (sets["all"]["format"], sets["all"]["status"]) == ("webdataset", "broken") and "git lfs pull" in sets["all"]["reason"]
        assert [t[0] for t in told["spoilt-v0"]] == ["metadata-damaged", "not-loadable"]


def test_a_video_that_is_not_whole_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    whole = open(VIDEO, "rb").read()
    moov = whole.index(b"moov") - 4
    endless = whole[:40] + b"\0\0\0\0" + whole[44:moov]  # as a writer leaves it that was killed
    wide = b"\0\0\0\1mdat" + (1 << 62).to_bytes(8, "big")
    cases = {"whole": (whole, None), "half": (whole[:moov // 2], "cut-video"), "tail": (whole[:-1], "cut-video"),
             "no-index": (whole[:moov], "cut-video"), "endless": (endless, "cut-video"), "few": (b"abc", "cut-video"),
             "wide": (whole[:40] + wide, "cut-video"), "zeros": (b"\0" * 4096, "bad-video"), "text": (b"<html>" * 99, "bad-video"),
             "small-box": (whole[:40] + b"\0\0\0\3mdat" + whole[48:], "bad-video"), "padded": (whole + b"\0" * 5, None),
             "empty": (b"", "bad-video"), "pointer": (POINTER, "not-fetched")}
    for name, (data, _) in cases.items():
        arm = make_arm(tmp_path, name, episodes=1, frames=5)
        info = json.loads((arm / "meta" / "info.json").read_text())
        info["features"]["cam"] = {"dtype": "video", "shape": [2, 2, 3]}
        (arm / "meta" / "info.json").write_text(json.dumps(info))
        videos = arm / "videos" / "chunk-000" / "cam"
        videos.mkdir(parents=True)
        (videos / "episode_000000.mp4").write_bytes(data)
    with serving(str(tmp_path)) as hub:
        for name, (_, code) in cases.items():
            d = hub.dataset(name)
            told = {p["code"] for p in d["problems"] if p["path"].startswith("videos")}
            assert told == ({code, "not-loadable"} if code else set()), (name, d["problems"])
            assert (d.get("loadable") is False) == bool(code), name
            assert not code or "1 of 1 videos cannot be played" in {p["detail"] for p in d["problems"]}
        (tmp_path / "pointer" / "videos" / "chunk-000" / "cam" / "episode_000000.mp4").write_bytes(whole)
        until(lambda: not hub.dataset("pointer")["problems"])


def test_not_every_video_of_many_is_opened(tmp_path):
    pytest.importorskip("pyarrow")
    videos = make_arm(tmp_path, "many", episodes=1) / "videos" / "chunk-000" / "cam"
    videos.mkdir(parents=True)
    shutil.copy(VIDEO, videos / "episode_000000.mp4")
    for i in range(1, 10003):
        os.link(videos / "episode_000000.mp4", videos / f"episode_{i:06}.mp4")
    with serving(str(tmp_path)) as hub:
        told = [p["detail"] for p in hub.dataset("many")["problems"] if p["code"] == "videos-not-checked"]
        assert told == ["3 of 10003 videos were not checked: only the first 10000 of a dataset are"]


# ---- problems ----


def test_many_problems_of_one_kind_are_one_line(tmp_path):
    pytest.importorskip("pyarrow")
    arm = make_arm(tmp_path, "arm", episodes=40)
    for i in range(1, 40):
        (arm / "data" / "chunk-000" / f"episode_{i:06}.parquet").write_bytes(POINTER)
    with serving(str(tmp_path)) as hub:
        problems = [p for p in hub.dataset("arm")["problems"] if p["code"] == "not-fetched"]
        assert len(problems) == 1 and problems[0]["path"].endswith("episode_000001.parquet"), problems
        assert problems[0]["detail"].endswith("run git lfs pull ... and 38 more")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file that another user may not read")
def test_permission_denied_says_so_and_to_whom():
    pytest.importorskip("pyarrow")
    with tempfile.TemporaryDirectory(prefix="hub-others") as root:  # not below pytest's folder, which every run shuts to others
        arm = make_arm(pathlib.Path(root), "arm")
        os.chmod(arm / "data" / "chunk-000" / "episode_000001.parquet", 0o600)
        os.chmod(make_arm(pathlib.Path(root), "shut") / "meta" / "info.json", 0o600)
        for folder, _, _ in os.walk(root):
            os.chmod(folder, 0o755)
        command = [os.path.join(BIN, "minari-inspect"), "--json", root]
        p = subprocess.run(command, capture_output=True, text=True, user="nobody", timeout=60)
    assert p.stdout, p.stderr
    sets = {d["name"]: d for d in json.loads(p.stdout)["datasets"]}
    denied = [x for x in sets["arm"]["problems"] if x["code"] == "permission-denied"]
    assert len(denied) == 1, sets["arm"]["problems"]
    assert "permission denied" in denied[0]["detail"] and "nobody" not in denied[0]["detail"]  # whoever asks this program knows
    assert sets["arm"]["episodes"] == 2
    assert sets["shut"]["format"] == "lerobot" and "permission denied" in sets["shut"]["reason"]
    assert sets["shut"]["reason"].count("meta/info.json") == 1, sets["shut"]["reason"]


def test_a_negative_count_of_lerobot_is_told(tmp_path):
    arm = tmp_path / "arm"
    shutil.copytree(os.path.join(os.path.dirname(__file__), "..", "fixtures", "lerobot", "arm-v21"), arm)
    info = json.loads((arm / "meta" / "info.json").read_text())
    (arm / "meta" / "info.json").write_text(json.dumps(dict(info, total_frames=-1)))
    with serving(str(tmp_path)) as hub:
        problems = [(p["code"], p["path"], p["detail"]) for p in hub.dataset("arm")["problems"]]
        assert ("bad-metadata", "meta/info.json", "total_frames is negative: -1") in problems, problems


# ---- tasks ----


def test_episodes_of_a_task(tmp_path):
    """By its text, and by its number where the dataset has a list; an episode of several tasks is of each."""
    sets = ["lerobot/arm-v21", "lerobot/arm-v30", "lerobot/many-v30", "robomimic/libero", "robomimic/robocasa", "molmospaces/pick", "molmospaces/split", "aloha/sim"]
    for name in sets:
        shutil.copytree(os.path.join(FIXTURES, name), tmp_path / name.replace("/", "-"))
    several, told = 0, set()
    with serving(str(tmp_path)) as hub:
        for id in [d["id"] for d in hub.datasets() if d["format"] != "files"]:
            episodes, listed = hub.episodes(id), {t["index"]: t["task"] for t in hub.dataset(id).get("tasks", [])}
            of = {e["number"]: {e.get("task")} | set(e["attributes"].get("tasks", [])) for e in episodes}
            several += sum(len(tasks) > 1 for tasks in of.values())
            texts = set().union(*of.values()) - {None}
            told |= {id.split("-")[0]} if texts else set()
            assert bool(listed) == id.startswith("lerobot"), (id, texts, listed)

            def ask(task, query=""):
                page = hub.get(f"/api/v1/datasets/{id}/episodes?limit=1000&task={quote(str(task))}{query}").json()
                assert page["total"] == len(page["items"])
                return [e["number"] for e in page["items"]]

            for text in texts:
                want = [n for n, tasks in of.items() if text in tasks]
                assert want and ask(text) == want and ask(text, "&sort=-steps") != [] and ask(text, "&sort=-number") == want[::-1], (id, text)
            for number, text in listed.items():
                assert ask(number) == [n for n, tasks in of.items() if text in tasks], (id, number)
            for unknown in "no such task", "1000000":
                problem = hub.get(f"/api/v1/datasets/{id}/episodes?task={quote(unknown)}")
                assert problem.status == 400 and problem.json()["parameter"] == "task" and problem.json()["value"] == unknown
                assert ("none" if not texts else problem.json()["detail"].split("it has ")[1].split(", ")[0]) in texts | {"none"}
            if texts:  # the cursor goes on with the same task
                numbers, url = [], f"/api/v1/datasets/{id}/episodes?limit=1&task={quote(max(texts))}"
                while url:
                    page = hub.get(url).json()
                    numbers += [e["number"] for e in page["items"]]
                    url = page["next"] and page["next"].replace(hub.base, "")
                assert numbers == ask(max(texts))
        done = run("minari-cli", "--remote", hub.base, "episodes", "lerobot-arm-v21", "--task", "1", "--json")
        assert [e["number"] for e in json.loads(done)["items"]] == ask_of(hub, "lerobot-arm-v21", 1)
    assert several and told == {"lerobot", "robomimic", "molmospaces"}


def ask_of(hub, id, task):
    return [e["number"] for e in hub.get(f"/api/v1/datasets/{id}/episodes?task={task}").json()["items"]]


# ---- the files of some episodes ----


def test_files_of_episodes(tmp_path):
    """What they need is enough: from those files alone a hub has the same rows; where a format keeps episodes together all are listed."""
    apart = ["lerobot/arm-v21", "lerobot/arm-v30", "lerobot/many-v30", "lerobot/scattered-v30", "aloha/twin", "molmospaces/house", "molmospaces/split", "webdataset/ilr-across",
             "webdataset/ilr-shards", "il/demos/atari", "minari/root-0.5.3-columns/arrow/door-human-v2", "minari/root-0.5.3-columns/parquet/door-human-v2"]
    together = ["datasets/steps-shards", "robomimic/lift-ph", "minari/root-0.5.3/D4RL/door/human-v2"]
    whole, part = tmp_path / "whole", tmp_path / "part"
    for name in apart + together:
        shutil.copytree(os.path.join(FIXTURES, name), whole / name)

    def rows(hub, id, number):
        fields = [f for f in hub.get(f"/api/v1/datasets/{quote(id)}/episodes/{number}").json()["fields"] if "unreadable" not in f]
        videos = hub.get(f"/api/v1/datasets/{quote(id)}/episodes/{number}/~media").json()["items"]
        data = {f["path"]: hub.get(f"/api/v1/datasets/{quote(id)}/episodes/{number}/{quote(f['path'])}").body for f in fields}
        return {**data, **{v["camera"]: hub.get(f"/api/v1/datasets/{quote(id)}/episodes/{number}/~media/{v['camera']}.mp4").body for v in videos}}

    left, want = {}, {}
    with serving(str(whole)) as hub:
        for id in [d["id"] for d in hub.datasets() if d["format"] != "files"]:
            files, numbers = hub.get(f"/api/v1/datasets/{quote(id)}/files").json(), [e["number"] for e in hub.episodes(id)]
            some = numbers[1:3] if len(numbers) > 4 else numbers[1:2] if "across" in id else numbers[:1]
            chosen = hub.get(f"/api/v1/datasets/{quote(id)}/files?episodes={','.join(map(str, some))}").json()
            assert chosen["episodes"] == len(some) and chosen["left_out"] == files["total"] - chosen["total"] and chosen["revision"] == files["revision"]
            assert chosen["size"] == sum(f["size"] for f in chosen["items"]) and all(f in files["items"] for f in chosen["items"])
            left[id] = chosen["left_out"]
            if not left[id]:
                continue
            for f in chosen["items"]:
                (part / id / f["path"]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(whole / id / f["path"], part / id / f["path"])
            want[id] = {n: rows(hub, id, n) for n in some}
        split = hub.get("/api/v1/datasets/minari/root-0.5.3-columns/arrow/door-human-v2/files?episodes=:2,9:").json()
        assert split["episodes"] == 5 and split["total"] == 11
        assert hub.get("/api/v1/datasets/lerobot/arm-v21/files?split=train").json()["episodes"] == 4
        by_task = hub.get("/api/v1/datasets/lerobot/arm-v21/files?task=0&episodes=0:3").json()
        assert hub.get("/api/v1/datasets/lerobot/arm-v21/files?where=number%20%3E%201").json()["episodes"] == 2
        assert by_task["episodes"] == len([n for n in ask_of(hub, "lerobot/arm-v21", 0) if n < 3]) and by_task["left_out"]
        for query, status in (("episodes=x", 400), ("episodes=1,", 400), ("episodes=1:2:3", 400), ("episodes=-1", 400), ("episodes=", 400), ("episodes=99", 404), ("split=none", 400), ("where=number", 400),
                              ("episodes=99999999999999999999", 400), ("from=1", 400)):
            assert hub.get(f"/api/v1/datasets/lerobot/arm-v21/files?{query}").status == status, query
    assert {id for id, n in left.items() if n} == set(apart) - {"lerobot/arm-v30", "lerobot/scattered-v30"}, left
    with serving(str(part)) as hub:
        for id, episodes in want.items():
            below = [d["id"] for d in hub.datasets() if (d["id"] + "/").startswith(id + "/")]  # a file that is alone is a dataset of its own
            got = [rows(hub, d, e["number"]) for d in below for e in hub.episodes(d)]
            for number, expected in episodes.items():
                own = {k: v for k, v in expected.items() if k not in ("index", "episode_index")}  # numbered anew, where the numbers lie in the order of files
                assert any(own.items() <= rest.items() for rest in got), (id, number)


def test_pictures_that_are_distances(tmp_path):
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), tmp_path / "arm")
    path = tmp_path / "arm" / "meta" / "info.json"
    info = json.loads(path.read_text())
    name, feature = next((k, f) for k, f in info["features"].items() if f["dtype"] == "video")
    feature["info"] |= {"is_depth_map": True, "depth_unit": "mm", "video.depth_min": 0.05, "video.depth_max": 10, "video.shift": 3.5, "video.use_log": True}
    path.write_text(json.dumps(info))
    with serving(str(tmp_path)) as hub:
        hub.wait_indexed()
        depths = {c["camera"]: c.get("depth") for c in hub.dataset("arm")["cameras"]}
        assert depths.pop(name) == {"unit": "mm", "min": 0.05, "max": 10.0, "shift": 3.5, "log": True}
        assert depths and set(depths.values()) == {None}


def test_items_of_a_tuple_have_one_name_in_every_storage():
    """HDF5 says _index_1 where Arrow and Parquet say 1: fields are called as in HDF5, and go by the other name too."""
    with serving(os.path.join(FIXTURES, "minari")) as hub:
        ids = ["root-0.5.3/dummy-combo/test-v0", "root-0.5.3-columns/arrow/combo-v0", "root-0.5.3-columns/parquet/combo-v0"]
        names = [[f["path"] for f in hub.dataset(id)["fields"]] for id in ids]
        assert names[0] == names[1] == names[2] and "observations/_index_1/_index_0" in names[0]
        for id in ids:
            at = f"/api/v1/datasets/{id}"
            for path in "observations/_index_1/_index_0", "observations/_index_1/_index_1/component_2", "actions/a/_index_1", "actions/a", "observations/_index_1":
                other = path.replace("_index_", "")
                half = path.replace("_index_", "", 1)
                for ask in "episodes/0/{}", "episodes/0/{}?buckets=4", "episodes/0?fields={}&start=0", "rows?fields={}&format=jsonl", "sample?windows=2&length=1&seed=1&fields={}":
                    answers = [hub.get(f"{at}/{ask.format(p)}") for p in (path, other, half)]
                    assert answers[0].status == 200 or (answers[0].status, "buckets" in ask) == (400, True), answers[0].body
                    assert len({a.body.replace(half.encode(), path.encode()).replace(other.encode(), path.encode()) for a in answers}) == 1, (id, ask, path)
            leaf = "observations/_index_0"
            for name in leaf, leaf.replace("_index_", ""):
                known = until(lambda: (a := hub.get(f"{at}/~statistics?field={name}")).status == 200 and a)
                assert list(known.json()["fields"]) == [leaf]
                table = until(lambda: (a := hub.get(f"{at}/episodes?where=max(%22{name}%22)+is+not+null&columns=number,max(%22{name}%22)&format=jsonl")).status == 200 and a)
                assert table.body.count(b"\n") == 1 and name.encode() in table.body, table.body
            assert hub.get(f"{at}/episodes/0/observations/7").status == 404


def test_what_a_set_says_wrongly_is_named(tmp_path):
    """Of LeRobot's info.json a byte order mark and a version that is a number, and an episode that is listed twice; of D4RL rows of which
    none follows the one before it."""
    arm = os.path.join(FIXTURES, "lerobot/arm-v21")
    for name in ("mark", "number", "twice"):
        shutil.copytree(arm, tmp_path / name)
    info = (tmp_path / "mark/meta/info.json").read_bytes()
    (tmp_path / "mark/meta/info.json").write_bytes(b"\xef\xbb\xbf" + info)
    (tmp_path / "number/meta/info.json").write_text(json.dumps({**json.loads(info), "codebase_version": 2.1}))
    with open(tmp_path / "twice/meta/episodes.jsonl", "r+") as f:
        first = f.readline()
        f.seek(0, 2)
        f.write(first)
    with h5py.File(tmp_path / "shuffled.hdf5", "w") as f:
        rng = np.random.default_rng(1)
        f["observations"], f["next_observations"] = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
        f["actions"], f["rewards"], f["terminals"] = rng.normal(size=(50, 2)), np.zeros(50), np.zeros(50, bool)
    with serving(str(tmp_path)) as hub:
        hub.wait_indexed()
        assert "byte order mark" in hub.dataset("mark")["reason"]
        assert "codebase_version as the number 2.1" in hub.dataset("number")["reason"]
        twice = hub.dataset("twice")
        assert twice["status"] == "ready" and [p["path"] for p in twice["problems"] if p["code"] == "repeated-episode"] == ["meta/episodes.jsonl"], twice["problems"]
        shuffled = hub.dataset("shuffled")
        assert shuffled["episodes"] == 50 and "shuffled transitions" in {p["code"]: p["detail"] for p in shuffled["problems"]}["shuffled-transitions"]
