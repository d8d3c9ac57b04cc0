"""A program outside the tree builds against what is installed: shared and static, by CMake and by pkg-config."""
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hostile import HostileHub
from hub import BIN, FIXTURES, serving

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLE = os.path.join(HERE, "..", "..", "client", "example")
BUILD = os.path.dirname(os.path.abspath(BIN))


def run(*command, **env):
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def sanitized():
    with open(os.path.join(BUILD, "CMakeCache.txt")) as f:
        return re.search(r"^HUB_SANITIZE:STRING=(.*)$", f.read(), re.M)[1]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    prefix = str(tmp_path_factory.mktemp("prefix"))
    run("cmake", "--install", BUILD, "--component", "libminari", "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def lib(prefix):
    for folder, _, names in os.walk(prefix):
        if "libminari.a" in names:
            return folder


def check(program, **env):
    with HostileHub({"a-v0": {"data/x": b"1"}, "b-v0": {"data/x": b"1"}}) as hub:
        assert run(program, hub.url, **env).splitlines()[:2] == ["a-v0", "b-v0"]


def test_only_the_public_headers_are_there(prefix):
    assert sorted(os.listdir(os.path.join(prefix, "include"))) == ["minari"]
    for name in os.listdir(os.path.join(prefix, "include", "minari")):
        with open(os.path.join(prefix, "include", "minari", name)) as f:
            assert "hub_" not in f.read(), name


def test_only_minari_can_be_seen(lib):
    for flags, file in ((["-D"], "libminari.so"), (["-g"], "libminari.a")):
        names = re.findall(r" [A-TV-Z] (\S+)", run("nm", *flags, "--defined-only", os.path.join(lib, file)))
        strangers = [n for n in names if not n.startswith("minari_") and not (sanitized() and "asan" in n)]
        assert names and not strangers, strangers


def test_cmake(prefix, lib, tmp_path):
    flags = f"-fsanitize={sanitized()}" if sanitized() else ""
    run("cmake", "-S", EXAMPLE, "-B", str(tmp_path), f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={flags}")
    run("cmake", "--build", str(tmp_path))
    check(str(tmp_path / "list"))
    check(str(tmp_path / "list-static"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(other C)\nfind_package(minari REQUIRED)\n"
                                          f"add_executable(other {EXAMPLE}/list.c)\ntarget_link_libraries(other PRIVATE minari::minari)\n")
    run("cmake", "-S", str(other), "-B", str(other / "build"), f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_FLAGS={flags}")
    run("cmake", "--build", str(other / "build"))
    check(str(other / "build" / "other"))
    with serving(os.path.join(FIXTURES, "minari", "root-0.5.3")) as hub:
        id = "D4RL/door/human-v2"
        rows = hub.get(f"/api/v1/datasets/{id}/episodes?columns=number,steps,return&sort=-return&limit=10&format=jsonl").body.splitlines()
        best = [json.loads(row) for row in rows]
        assert run(str(tmp_path / "table"), hub.base, id).splitlines() == [f"{e['number']} {e['steps']} {e['return']:.6g}" for e in best] != []
        assert subprocess.run([str(tmp_path / "table"), hub.base, "no-v0"], capture_output=True, text=True).stderr.startswith("not-found: ")
        refused = subprocess.run([str(tmp_path / "upload"), hub.base, os.path.join(FIXTURES, "lerobot", "arm-v30"), "lab/arm-v0"], capture_output=True, text=True)
        assert refused.returncode and "denied: " in refused.stderr, refused  # it has no token


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_pkg_config(lib, tmp_path):
    env = {"PKG_CONFIG_PATH": os.path.join(lib, "pkgconfig")}
    flags = [f"-fsanitize={sanitized()}"] if sanitized() else []
    source, program = os.path.join(EXAMPLE, "list.c"), str(tmp_path / "list")
    run("cc", *flags, source, "-o", program, *run("pkg-config", "--cflags", "--libs", "minari", **env).split())
    check(program, LD_LIBRARY_PATH=lib)
    # --static says what the archive needs, and no more than a stock system has: only libminari.a is in this folder
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(os.path.join(lib, "libminari.a"), alone)
    words = run("pkg-config", "--static", "--cflags", "--libs", "minari", **env).split()
    run("cc", *flags, source, "-o", program, *[f"-L{alone}" if w.startswith("-L") else w for w in words])
    assert "libminari" not in run("ldd", program)
    check(program)


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_cxx(lib, tmp_path, standard):
    """Without a warning, and nothing crashes on NULL."""
    env = {"PKG_CONFIG_PATH": os.path.join(lib, "pkgconfig")}
    flags = [f"-fsanitize={sanitized()}"] if sanitized() else []
    program = str(tmp_path / "options")
    run("g++", f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags, os.path.join(HERE, "options.cpp"), "-o", program,
        *run("pkg-config", "--cflags", "--libs", "minari", **env).split())
    with HostileHub({"a-v0": {"data/x": b"1"}, "b-v0": {"data/x": b"1"}}) as hub:
        hub.fault = lambda request, path: path.endswith("/rewards") and (request.answer(200, b"[1.5,2.5]", {"X-Shape": "10,39", "X-Dtype": "float64"}) or True)
        assert run(program, hub.url, LD_LIBRARY_PATH=lib) == ""


@pytest.mark.parametrize("options", [["-std=c11"], ["-std=c17", "-O2"]])
def test_c_without_a_warning(lib, tmp_path, options):
    source = tmp_path / "x.c"
    source.write_text("#include <minari/minari.h>\nstatic struct minari_client_options o = MINARI_CLIENT_OPTIONS_INIT;\n"
                      "static struct minari_download_options d = MINARI_DOWNLOAD_OPTIONS_INIT;\nint main(void) { return o.size == d.size; }\n")
    cflags = run("pkg-config", "--cflags", "minari", PKG_CONFIG_PATH=os.path.join(lib, "pkgconfig")).split()
    run("cc", *options, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", str(source), "-o", str(tmp_path / "x.o"), *cflags)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-x", "-s"] + sys.argv[1:]))
