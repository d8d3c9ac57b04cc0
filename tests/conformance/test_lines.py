"""The lines of the guide for the clients that people have, each as it stands there."""
import html
import os
import re
import shutil
import subprocess

import pytest

import guide
from conftest import CLIENTS
from hub import FIXTURES, serving

LINES = guide.lines(os.path.join(guide.GUIDE, "clients.md"), "sh clients")


def test_there_are_lines():
    assert len(LINES) >= 16


def test_lines(clients, hub, tmp_path):
    bin = tmp_path / "bin"
    bin.mkdir()
    readers = os.path.abspath(os.path.join(CLIENTS, "readers", "bin"))
    film = subprocess.run([os.path.join(readers, "python3"), "-c", "import imageio_ffmpeg as i; print(i.get_ffmpeg_exe())"], capture_output=True, text=True, check=True)
    (bin / "ffmpeg").symlink_to(film.stdout.strip())
    version, extension = subprocess.run([os.path.join(readers, "python3"), "-c", "import duckdb, duckdb_extension_httpfs as e; print(duckdb.__version__, e.__file__)"],
                                        capture_output=True, text=True, check=True).stdout.split()  # what DuckDB loads from its own site when it needs it
    shutil.copytree(os.path.join(os.path.dirname(extension), "extensions", f"v{version}"), tmp_path / f".duckdb/extensions/v{version}/linux_amd64")
    (bin / "hf").symlink_to(os.path.abspath(os.path.join(CLIENTS, "huggingface-1", "bin", "hf")))
    os.symlink(os.path.abspath(os.path.join(CLIENTS, "node_modules")), os.path.join(clients.folder, "node_modules"))
    for line in LINES:
        assert clients.run("sh", "-ec", line.replace("http://hub:8080", hub.base), env={"PATH": f"{bin}:{readers}:{os.environ['PATH']}"}) or " -c " not in line


@pytest.mark.parametrize("venv, packages, title, root, id", [("minari-0.5.3", ["minari"], "Python: Minari", f"{FIXTURES}/samples", "D4RL/door/human-v2"),
                                                             ("minari-0.5.3", ["minari"], "Python: Minari, from a bucket", f"{FIXTURES}/samples", "D4RL/door/human-v2"),
                                                             ("readers", ["webdataset"], "Python: webdataset", "", "shards")])
def test_recipes_of_the_page(clients, lab, tmp_path, venv, packages, title, root, id):
    """Those that need libraries of their own; tests/integration runs the others."""
    with serving(root or lab.root) as hub:
        hub.checker = None
        body = hub.get(f"/d/{id}/~use", {"Accept": "text/html"}).body.decode()
        recipes = dict(re.findall(r"<h3>(.*?)</h3><pre[^>]*><code>(.*?)</code>", body, re.S))
        clients.python(venv, packages, html.unescape(recipes[title]) + "\nprint('0')", env={"MINARI_DATASETS_PATH": str(tmp_path)})
