"""What we say of LeRobot sets against lerobot's own reader: episodes, lengths, tasks, the rows of every column, and the file and times of every
video.  usage: compare_lerobot.py DUMP INSPECT SET...      with the Python of lerobot 0.3.3 (v2.1) or 0.6.1 (v3), torch or not

A set of a version that this lerobot does not read is passed over.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["HF_HOME"] = tempfile.mkdtemp()
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import lerobot_alone  # noqa: E402, F401
import pyarrow as pa  # noqa: E402
from lerobot.datasets import lerobot_dataset  # noqa: E402

from compare_pyarrow import expected  # noqa: E402

NEW = lerobot_dataset.CODEBASE_VERSION.startswith("v3")


def read(root):
    """(metadata, all rows) as LeRobotDataset has them."""
    meta = lerobot_dataset.LeRobotDatasetMetadata("fixtures/" + root.name, root=root)
    if NEW:
        from lerobot.datasets.dataset_reader import DatasetReader

        reader = DatasetReader(meta, root, None, 1e-4, "pyav", None, None)
        assert reader.try_load(), "it says that files are missing"
        return meta, reader.hf_dataset.data.table
    reader = object.__new__(lerobot_dataset.LeRobotDataset)
    reader.meta, reader.root, reader.episodes, reader.repo_id = meta, root, None, meta.repo_id
    return meta, reader.load_hf_dataset().data.table


def episodes(meta):
    """(number, its line, its first row)"""
    first = 0
    for number in range(meta.total_episodes):
        line = meta.episodes[number]
        yield number, line, line.get("dataset_from_index", first)
        first += line["length"]


def plain(column):
    """Without the types that datasets adds to Arrow's; lists of structs as their texts are compared elsewhere."""
    if isinstance(column.type, pa.ExtensionType):
        return pa.chunked_array([c.storage for c in column.chunks])
    return column


def task_of(meta, number):
    return meta.tasks.iloc[number].name if NEW else meta.tasks[number]


def video(meta, number, line, key):
    """(file, seconds)"""
    return str(meta.get_video_file_path(number, key)), line[f"videos/{key}/from_timestamp"] if NEW else 0


def said(dump, inspect, root):
    rows = {}
    for line in subprocess.run([dump, inspect, root], capture_output=True, text=True, check=True).stdout.splitlines():
        cells = line.split("\t")
        if cells[0] == "rows":
            rows[int(cells[1]), cells[2]] = cells[3:7]
    whole = json.loads(subprocess.run([inspect, "--json", root], capture_output=True, text=True).stdout)["datasets"][0]
    return rows, whole


def compare(dump, inspect, root):
    """What is equal by kind, and what differs."""
    meta, table = read(root)
    rows, ours = said(dump, inspect, root)
    equal, wrong = dict.fromkeys(("episodes", "tasks", "columns", "videos"), 0), []

    def check(kind, what, got, want):
        if got == want:
            equal[kind] += 1
        else:
            wrong.append(f"{what}: {got}, lerobot has {want}")

    media = {(ours["episode_list"][m["episode"]]["number"], m["camera"]): m for m in ours.get("media", [])}
    listed = {e["number"]: e for e in ours["episode_list"]}
    check("episodes", "episodes", (len(listed), ours["fps"]), (meta.total_episodes, meta.fps))
    for number, line, first in episodes(meta):
        mine, part = listed[number], table.slice(first, line["length"])
        check("episodes", f"steps of {number}", mine["steps"], len(part))
        check("episodes", f"rows of {number}", set(part["episode_index"].to_pylist()), {number})
        check("tasks", f"task of {number}", mine["task"], task_of(meta, part["task_index"][0].as_py()))
        check("tasks", f"tasks of {number}", sorted(mine.get("attributes", {}).get("tasks", [mine["task"]])), sorted(line["tasks"]))
        for name in part.column_names:
            if name.startswith("language_"):
                continue
            want = expected(plain(part[name]))
            if want:
                check("columns", f"{name} of {number}", rows.get((number, name)), [want[0], want[1], str(want[2]), "%08x" % want[3]])
        for key in meta.video_keys:
            path, at = video(meta, number, line, key)
            m = media[number, key]
            check("videos", f"{key} of {number}", (m["file"], m.get("first_frame", 0), m["frames"]), (path, round(at * meta.fps), line["length"]))
    return equal, wrong


def main(dump, inspect, *roots):
    totals, bad = {}, 0
    for root in map(Path, roots):
        version = json.loads((root / "meta/info.json").read_text())["codebase_version"]
        if version.startswith("v3") != NEW:
            continue
        equal, wrong = compare(dump, inspect, root)
        bad += len(wrong)
        print(f"{root.name}: " + ", ".join(f"{n} {kind}" for kind, n in equal.items()) + " equal to lerobot's reader")
        for line in wrong[:20]:
            print("   WRONG", line)
        totals = {kind: totals.get(kind, 0) + n for kind, n in equal.items()}
    print(f"lerobot {lerobot_dataset.CODEBASE_VERSION}: {totals}, {bad} wrong")
    return bool(bad) or not totals


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
