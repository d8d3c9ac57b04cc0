"""The lines of README.md for the clients that people have, each as it stands there."""
import os
import re
import shutil
import subprocess

from conftest import CLIENTS, HERE

with open(os.path.join(HERE, "..", "..", "README.md")) as f:
    LINES = [line for block in re.findall(r"^```sh\n(.*?)^```", f.read(), re.M | re.S) for line in block.splitlines() if "http://hub:8080" in line]


def test_there_are_lines():
    assert len(LINES) >= 12


def test_lines(clients, hub, tmp_path):
    bin = tmp_path / "bin"
    bin.mkdir()
    readers = os.path.abspath(os.path.join(CLIENTS, "readers", "bin"))
    film = subprocess.run([os.path.join(readers, "python3"), "-c", "import imageio_ffmpeg as i; print(i.get_ffmpeg_exe())"], capture_output=True, text=True, check=True)
    (bin / "ffmpeg").symlink_to(film.stdout.strip())
    version, extension = subprocess.run([os.path.join(readers, "python3"), "-c", "import duckdb, duckdb_extension_httpfs as e; print(duckdb.__version__, e.__file__)"],
                                        capture_output=True, text=True, check=True).stdout.split()  # what DuckDB loads from its own site when it needs it
    shutil.copytree(os.path.join(os.path.dirname(extension), "extensions", f"v{version}"), tmp_path / f".duckdb/extensions/v{version}/linux_amd64")
    for line in LINES:
        clients.run("sh", "-ec", line.replace("http://hub:8080", hub.base), env={"PATH": f"{bin}:{readers}:{os.environ['PATH']}"})
