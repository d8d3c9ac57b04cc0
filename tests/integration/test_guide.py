"""README.md and the guide: every command is run and prints what they show ("..." stands for anything), every parameter is
taken, every link leads somewhere. What no test can run stands in NOT_RUN with the reason."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import types
import urllib.error

import pytest

sys.path[:0] = [os.path.dirname(__file__), os.path.join(os.path.dirname(__file__), "..", "support")]
import guide
from cli import Cli, at_the_prompt
from hub import BIN, FIXTURES, Hub, free_port, serving, until
from upstream_gcs import Gcs
from upstream_hf import Hf, minari_org

SAMPLES = os.path.join(FIXTURES, "samples")
BUILD = os.path.dirname(os.path.abspath(BIN))
EDGE = os.path.join(guide.GUIDE, "edge.md")

NOT_RUN = {
    "sh server/run.sh": "compiles everything; the gate's own build uses the same packages and presets",
    "sh server/run.sh --root /data --listen 0.0.0.0:8080": "the same",
    "sh tests/run.sh": "is the gate, which runs this test",
    "sh tests/bench/run.sh": "measures for an hour, against servers that are compiled for it",
    "docker build -f docker/Dockerfile -t minari-hub .": "needs a container engine; check_packages.sh and test_compose.py read the files",
    "docker run -p 8080:8080 -v /data/minari:/datasets:ro -v minari-state:/var/lib/minari-hub minari-hub": "needs a container engine",
    "systemctl enable --now minari-hub": "needs systemd as process 1",
    "systemctl edit minari-hub": "needs systemd as process 1, and an editor",
    """python3 -c "from lerobot.datasets.lerobot_dataset import LeRobotDataset; LeRobotDataset('lab/arm-v1', root='recorded').push_to_hub()\"""": "LeRobot brings torch; test_push.py makes its calls",
}
OTHERS = {"nginx": "test_access_proxies.py runs it", "caddyfile": "the same", "": "oauth2-proxy, of which the page says that no test runs it"}
OWN = {  # lines that a test of their own runs
    "curl -OJ http://hub:8080/api/v1/datasets/D4RL/door/human-v2/archive.tar": "test_curl_takes_a_dataset_along",
    "curl -C - -o human-v2.tar http://hub:8080/api/v1/datasets/D4RL/door/human-v2/archive.tar": "test_curl_takes_a_dataset_along",
    'tar x -C "$MINARI_DATASETS_PATH" -f human-v2.tar': "test_curl_takes_a_dataset_along",
    "minari-cli login http://hub:8080": "test_signing_in",
    "minari-cli login http://hub:8080 --token-file token": "test_signing_in",
    "minari-cli whoami": "test_signing_in",
    "minari-cli logout": "test_signing_in",
    **{line: "test_pushing" for page in ("cli.md", "api.md") for line in guide.lines(os.path.join(guide.GUIDE, page)) if re.search("upload|draft|revisions|> auth|namespace", line)},
    **{line: "test_pushing_as_hugging_face" for line in guide.lines(os.path.join(guide.GUIDE, "clients.md")) if re.search("hf upload|HF_TOKEN=", line)},
    **{line: "test_adopting" for line in guide.lines(os.path.join(guide.GUIDE, "admin.md")) if "minari-hub adopt" in line},
    **{line: "test_checking_deep" for line in guide.lines(os.path.join(guide.GUIDE, "admin.md")) if "minari-hub check --deep" in line},
    **{line: "test_backing_up" for line in guide.lines(os.path.join(guide.GUIDE, "admin.md")) if re.search("minari-hub (backup|restore)|--state /srv", line)},
}
DOWNLOAD = "minari-cli download D4RL/door/human-v2"
FIRST = {"start.md": DOWNLOAD, "formats.md": DOWNLOAD}  # what a page takes for granted
BEFORE_LINES = {"admin.md": "minari-hub mirror add hf://farama-minari --yes"}  # and its lines alone
CONSOLES = [(page, *example) for page in guide.pages() if page != EDGE for example in guide.console(page)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("more")
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), root / "arm-v30")
    with serving(SAMPLES) as h, serving(SAMPLES, str(root)) as more:
        h.more = more
        yield h


@pytest.fixture(scope="module")
def bucket():
    with Gcs("lab-datasets") as gcs:
        for here, _, names in os.walk(os.path.join(SAMPLES, "D4RL")):
            for name in names:
                with open(os.path.join(here, name), "rb") as f:
                    gcs.put(os.path.relpath(f.name, SAMPLES), f.read())
        yield gcs


@pytest.fixture(scope="module")
def hf():
    with Hf() as hf:
        for id, files in minari_org("farama-minari", SAMPLES).items():
            hf.put(id, files)
        hf.repos["lab/robot"] = hf.repos["farama-minari/door-human-v0"]
        hf.repos["lab/robot"].tags["v2.1"] = hf.repos["lab/robot"].branches["main"]
        hf.large = 1 << 30
        yield hf


@pytest.fixture(scope="module")
def lab(tmp_path_factory, hf, bucket):
    """A hub that the commands of an administrator are for: a root that it may write, and the state that they find it by."""
    root = tmp_path_factory.mktemp("lab")
    for name in ("D4RL", "door-human-v0"):
        shutil.copytree(os.path.join(SAMPLES, name), root / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", hf.url)
        patch.setenv("STORAGE_EMULATOR_HOST", bucket.url)
        hub = Hub([str(root)])
    with hub:
        hub.root = str(root)
        yield hub.wait_indexed()


class Place:
    """Where the commands of a page run, and what this machine has in the place of the addresses and folders of the guide."""

    def __init__(self, folder, hub, lab, env):
        self.folder, self.root = folder, lab.root
        self.names = {"http://127.0.0.1:8080": hub.base, "http://hub:8080": hub.base, "http://other-lab:8080": hub.base, "http://lab:8080": lab.base, "/etc/minari-token": f"{folder}/token",
                      "/usr/local": f"{folder}/prefix", "--install build ": f"--install {BUILD} "}
        self.env = {**env, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config"), "MINARI_DATASETS_PATH": str(folder / "datasets")}
        (folder / "token").write_text("secret\n")
        (folder / "datasets").mkdir()
        subprocess.run(["tar", "czf", folder / "x.tar.gz", "-C", os.path.join(FIXTURES, "lerobot"), "arm-v30"], check=True)

    def local(self, command):
        for name, value in self.names.items():
            command = command.replace(name, value)
        command = re.sub(r"(?<![\w/])/data(?![\w/])", self.root, command)
        return command.replace("0.0.0.0:8080", f"127.0.0.1:{free_port()}") if "0.0.0.0:8080" in command else command

    def run(self, command, **env):
        return run(self.local(command), {**self.env, **env}, self.folder)


@pytest.fixture(scope="module")
def place(hub, lab, bucket, hf, tmp_path_factory):
    env = {"MINARI_HUB_URL": hub.base, "STORAGE_EMULATOR_HOST": bucket.url, "HF_ENDPOINT": hf.url, "MINARI_HUB_CONFIG": "/dev/null", "MINARI_HUB_STATE": lab.state,
           "COLUMNS": "100", "NO_COLOR": "1"}
    env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}", **env}
    places = {}

    def place_of(page):
        name = os.path.basename(page)
        if name not in places:
            places[name] = Place(tmp_path_factory.mktemp(name), hub, lab, env)
            if name in FIRST:
                places[name].run(FIRST[name])
        return places[name]

    return place_of


def run(command, env, cwd, timeout=120):
    done = subprocess.run(["sh", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0 and not re.search("Sanitizer: |runtime error: ", done.stderr), (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


def expect(page, output, printed):
    pattern = ".*?".join(re.escape(piece) for piece in output.rstrip("\n").split("..."))
    assert re.fullmatch(pattern, printed.rstrip("\n"), re.S), f"\n--- {page}\n{output}\n--- printed\n{printed}"


# ---- commands ----


def test_all_code_is_run():
    """Nothing stands in a page that no test knows; and no table here names what stands in none."""
    known = {"console", "sh", "sh clients", "sh slow", "python", "c", "cmake", "ini", *OTHERS}
    assert all(guide.languages(page) <= known for page in guide.pages()), [(page, guide.languages(page) - known) for page in guide.pages()]
    lines = {line for page in guide.pages() for line in guide.lines(page)}
    assert not set(NOT_RUN) - lines and not set(OWN) - lines, "these stand in no page"
    assert all(test in globals() for test in OWN.values()) and all(len(reason) > 5 for reason in NOT_RUN.values())
    assert len(CONSOLES) >= 30 and len(lines) >= 30


@pytest.mark.parametrize("page,command,output", CONSOLES, ids=[f"{os.path.basename(page)}-{i}" for i, (page, *_) in enumerate(CONSOLES)])
def test_console(hub, lab, place, page, command, output):
    address = "http://hub:8080" if "http://hub:8080" in output else "http://127.0.0.1:8080"
    expect(page, output, place(page).run(command).replace(hub.base, address).replace(lab.base, "http://lab:8080"))


def serve(command, env, cwd):
    """A line that serves: until it is ready, then to its end."""
    port = re.search(r"--listen 127.0.0.1:(\d+)", command)
    port = port[1] if port else str(free_port())
    process = subprocess.Popen(["sh", "-c", "exec " + command], cwd=cwd, env={**env, "MINARI_HUB_LISTEN": f"127.0.0.1:{port}", "MINARI_HUB_STATE": f"{cwd}/served"},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def is_ready():
        assert process.poll() is None, process.communicate()
        return subprocess.run(["curl", "-sf", f"http://127.0.0.1:{port}/readyz"], capture_output=True).returncode == 0

    try:
        until(is_ready)
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, (command, said)


@pytest.mark.parametrize("page", [page for page in guide.pages() if page != EDGE and guide.lines(page)])
def test_lines(hub, place, page):
    """Each line ends well; those that serve, when they are ended."""
    here = place(page)
    if os.path.basename(page) in BEFORE_LINES:
        here.run(BEFORE_LINES[os.path.basename(page)])
    for line in guide.lines(page):
        if line in NOT_RUN or line in OWN:
            continue
        if line.startswith("minari-hub serve") and "--help" not in line:
            serve(here.local(line), here.env, here.folder)
        else:
            here.run(line, **({"MINARI_HUB_URL": hub.more.base} if "arm-v30" in line else {}))


def own_lines(test):
    return [line for line, name in OWN.items() if name == test]


def test_curl_takes_a_dataset_along(hub, tmp_path):
    """curl names the tar, goes on with a part of it, and tar installs it, by the commands as they stand in the guide."""
    named, goes_on, unpacked = (line.replace("http://hub:8080", hub.base) for line in own_lines("test_curl_takes_a_dataset_along"))
    env = {**os.environ, "MINARI_DATASETS_PATH": str(tmp_path)}
    run(named.replace("curl ", "curl -sS "), env, tmp_path)
    assert os.listdir(tmp_path) == ["human-v2.tar"]
    whole = (tmp_path / "human-v2.tar").read_bytes()
    (tmp_path / "human-v2.tar").write_bytes(whole[:1000])
    until(lambda: hub.get("/api/v1/datasets/D4RL/door/human-v2/archive.tar", {"Range": "bytes=0-0"}).status == 206)  # hashed by now
    run(goes_on.replace("curl ", "curl -sS "), env, tmp_path)
    assert (tmp_path / "human-v2.tar").read_bytes() == whole
    run(unpacked, env, tmp_path)
    assert (tmp_path / "D4RL" / "door" / "human-v2" / "data" / "main_data.hdf5").exists()


def test_signing_in(tmp_path):
    """The first line asks on a terminal; the others find what it kept."""
    asks, *others = own_lines("test_signing_in")
    said = []
    with serving(SAMPLES) as private:
        add = [os.path.join(BIN, "minari-hub"), "token", "add", "ann", "--state", private.state]
        token = subprocess.run(add, check=True, capture_output=True, text=True).stdout
        (tmp_path / "token").write_text(token)
        (tmp_path / "token").chmod(0o600)
        cli = Cli(tmp_path / "datasets", private.base, PATH=f"{os.path.abspath(BIN)}:{os.environ['PATH']}")
        code, seen = at_the_prompt(cli, *asks.replace("http://hub:8080", private.base).split()[1:], act=lambda p, master: os.write(master, token.encode()))
        assert code == 0 and token.strip() not in seen
        for line in others:
            said.append(run(line.replace("http://hub:8080", private.base), cli.env, tmp_path))
        assert [text.partition(": ")[2] for text in said] == ["ann (read)\n", "ann (read)\n", "the token is forgotten\n"]


@contextlib.contextmanager
def writable_hub(folder):
    """An empty hub, a token that may write lab/, and a recording beside it."""
    root, state = folder / "root", folder / "state"
    root.mkdir()
    state.mkdir(mode=0o700)
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), folder / "recorded")
    add = [os.path.join(BIN, "minari-hub"), "token", "add", "ann", "--write", "lab/", "--state", str(state)]
    token = subprocess.run(add, check=True, capture_output=True, text=True, env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null"}).stdout.strip()
    with Hub([str(root)], state=str(state)) as hub:
        hub.wait_ready()
        yield hub, token


def test_pushing_as_hugging_face(tmp_path):
    with writable_hub(tmp_path) as (hub, token):
        lines = [line.replace("http://hub:8080", hub.base).replace("mh_...", token) for line in own_lines("test_pushing_as_hugging_face")]
        assert len(lines) == 2
        env = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
        run("\n".join(["set -e", *lines]), env, tmp_path)
        until(lambda: {d["id"]: d["status"] for d in hub.datasets()} == {"lab/arm-v1": "ready"})


def test_pushing(tmp_path):
    """A hub that may be written, and a token for it: the lines of the command line, then those of curl in one shell."""
    with writable_hub(tmp_path) as (writable, token):
        (tmp_path / "notes.txt").write_text("hello\n")
        env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.environ['PATH']}", "MINARI_HUB_URL": writable.base, "MINARI_HUB_TOKEN": token,
               "MINARI_DATASETS_PATH": str(tmp_path / "datasets")}
        lines = [line.replace("http://hub:8080", writable.base) for line in own_lines("test_pushing")]
        for line in lines:
            if line.startswith("minari-cli"):
                run(line, env, tmp_path)
        run("\n".join(["set -e", *(line for line in lines if not line.startswith("minari-cli"))]), env, tmp_path)
        assert {d["id"]: d["status"] for d in writable.datasets()} == {"lab/arm-v0": "ready", "lab/arm-v1": "ready", "lab/notes-v0": "ready"}


def test_adopting(tmp_path):
    for name in ("root/lab/arm-v0", "root/lab/pick-v0"):
        shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), tmp_path / name)
    env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.environ['PATH']}", "MINARI_HUB_CONFIG": "/dev/null"}
    with Hub([str(tmp_path / "root")]) as hub:
        hub.wait_indexed()
        for line in own_lines("test_adopting"):
            run(line, {**env, "MINARI_HUB_STATE": hub.state}, tmp_path)
        assert all(hub.dataset(id)["commit"] for id in ("lab/arm-v0", "lab/pick-v0"))


def test_checking_deep(tmp_path):
    """With a backup that is there, of a dataset that is the hub's own."""
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-v30"), tmp_path / "root/lab/arm-v0")
    env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.environ['PATH']}", "MINARI_HUB_CONFIG": "/dev/null"}
    with Hub([str(tmp_path / "root")]) as hub:
        hub.wait_indexed()
        for line in ("minari-hub adopt lab/arm-v0", f"minari-hub backup {tmp_path}/backup --data", *own_lines("test_checking_deep")):
            run(line.replace("/backup/hub", f"{tmp_path}/backup"), {**env, "MINARI_HUB_STATE": hub.state}, tmp_path)


def test_backing_up(tmp_path):
    """Beside a hub; then another machine, whose folders are its own."""
    for name in ("root", "again", "backup"):
        (tmp_path / name).mkdir()
    lines = own_lines("test_backing_up")
    first, second = ([line for line in lines if ("backup /" in line) == now] for now in (True, False))
    env = {**os.environ, "PATH": f"{os.path.abspath(BIN)}:{os.environ['PATH']}", "MINARI_HUB_CONFIG": "/dev/null"}
    local = lambda line, root: line.replace("/backup/hub", f"{tmp_path}/backup/hub").replace("/srv/minari-hub", f"{tmp_path}/state").replace("/data", str(tmp_path / root))
    with Hub([str(tmp_path / "root")]) as hub:
        hub.wait_ready()
        for line in first:
            run(local(line, "root"), {**env, "MINARI_HUB_STATE": hub.state}, tmp_path)
    restoring, serving_line = second
    run(local(restoring, "again"), env, tmp_path)
    serve(local(serving_line, "again"), env, tmp_path)


def test_an_edge_hub(place, tmp_path):
    """The page from its first line to its last, with a hub of the lab and one beside the GPUs that fetches from it."""
    (serving_line,) = guide.lines(EDGE)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    lab = Hub([SAMPLES]).wait_indexed()
    line = serving_line.replace("http://hub:8080", lab.base).replace("/scratch/datasets", str(scratch)).replace("50G", "1M")
    words = line.replace("minari-hub serve --listen 0.0.0.0:8080", "").replace(f"--root {scratch}", "").split()
    with Hub([str(scratch)], args=words) as edge:
        with lab:
            edge.wait_ready()
            until(lambda: len(edge.datasets()) == len(lab.datasets()))
            for command, output in guide.console(EDGE):
                local = command.replace("http://edge:8080", edge.base).replace("http://hub:8080", lab.base).replace("/scratch/datasets", str(scratch))
                expect(EDGE, output, run(local, place(EDGE).env, tmp_path).replace(str(scratch), "/scratch/datasets"))
            pulled = edge.dataset("door-human-v0")
            assert pulled["revision"] == lab.dataset("door-human-v0")["revision"] and pulled["origin"]["remote"] == lab.base
        statuses = [edge.get(f"/api/v1/datasets/{id}/episodes/0/rewards").status for id in ("door-human-v0", "D4RL/door/human-v2")]
        assert statuses == [200, 503]  # with the lab's hub away: what was fetched, and what was not


# ---- programs ----


@pytest.fixture(scope="module")
def torch():
    """Without it its tensors are numpy's arrays."""
    try:
        import torch  # noqa: F401
    except ImportError:
        data = types.SimpleNamespace(IterableDataset=object, get_worker_info=lambda: None)
        sys.modules.update({"torch": types.SimpleNamespace(from_numpy=lambda a: a), "torch.utils": types.SimpleNamespace(), "torch.utils.data": data})


@pytest.fixture(scope="module")
def programs(hub, torch):
    """What the Python of each page leaves behind, run as it stands there, block after block."""
    spaces = {}
    for page in guide.pages():
        space = spaces[os.path.basename(page)] = {}
        for code in guide.blocks(page, "python"):
            exec(code.replace("http://hub:8080", hub.base), space)
    return spaces


def test_windows_for_torch(hub, programs):
    """The dataset class of the training loop."""
    space = programs["train.md"]
    batches = [b for b, _ in zip(space["Windows"]("D4RL/door/human-v2", ["@observation", "@action"], length=4, windows=9, pad="edge"), range(3))]
    assert all(tuple(b["actions"].shape[:2]) == (9, 4) == tuple(b["mask"].shape) for b in batches)
    assert len({bytes(b["episode"]) + bytes(b["start"]) for b in batches}) == 3
    spoken = next(iter(space["Windows"]("mission-text-v0", ["@observation"], length=2, windows=5, pad="edge")))
    assert spoken["observations/mission"].shape == (5, 2) and any(isinstance(text, str) and text for text in spoken["observations/mission"].ravel())
    seen = next(iter(space["Windows"]("pictures/corridor-v0", ["@observation"], length=3, windows=4, pad="edge")))
    images = space["pictures"](seen, "observations")
    assert images.dtype == "uint8" and images.shape[:2] == (4, 3) and images.ndim == 5 and images.std() > 1


def test_windows_wait_for_a_dataset_that_settles(hub, programs):
    """After 503 the same is asked again; any other error ends the epoch."""
    import http.server
    import threading

    answers = [503, 503, 200, 404]

    class Once(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status = answers.pop(0)
            body = hub.get(self.path).body if status == 200 else b"{}"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if status == 503:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Once) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        windows = programs["train.md"]["Windows"]("door-human-v0", ["@action"], hub=f"http://127.0.0.1:{server.server_port}", length=2, windows=3)
        assert windows.draw(1)["actions"].shape[:2] == (3, 2) and answers == [404]
        with pytest.raises(urllib.error.HTTPError):
            windows.draw(2)
        server.shutdown()


def test_recipes(hub, programs):
    """What people without a client do."""
    tables, transitions, first = programs["read.md"], programs["train.md"], programs["README.md"]["best"]
    known = {e["number"]: e["return"] for e in hub.episodes("D4RL/door/human-v2")}
    assert list(tables["best"]["return"]) == sorted(known.values(), reverse=True)
    assert len(tables["sets"]) == len(hub.datasets()) and len(tables["rows"]) == hub.dataset("D4RL/door/human-v2")["steps"]
    assert all(abs(known[n] - total) < 1e-9 for n, total in tables["returns"].iter_rows()) and len(tables["returns"]) == len(known)
    assert {len(transitions[name]) for name in ("obs", "acts", "next_obs", "rews", "dones")} == {len(tables["rows"])} and transitions["dones"].sum() == len(known)
    assert list(first["return"]) == sorted((e["return"] for e in hub.episodes("door-human-v0")), reverse=True)


def test_files_of_settings(place, tmp_path):
    """Sections are read, and a wrong word in one is not; that of systemd is its own."""
    for page in guide.pages():
        for text in guide.blocks(page, "ini"):
            if "[Service]" in text:
                continue
            (tmp_path / "hub.conf").write_text(text)
            word = "set" if "[access]" in text else "remote"
            (tmp_path / "wrong.conf").write_text(text.replace(f"{word} =", f"{word}s ="))
            env = {**place(page).env, "MINARI_HUB_CONFIG": ""}
            serve(f"minari-hub serve --config {tmp_path}/hub.conf", env, tmp_path)
            with pytest.raises(AssertionError, match=f"{word}s"):
                serve(f"minari-hub serve --config {tmp_path}/wrong.conf", env, tmp_path)


def test_c_is_that_of_the_example():
    """test_client_install.py builds and runs it."""
    page = os.path.join(guide.GUIDE, "c.md")
    (code,), (cmake,) = guide.blocks(page, "c"), guide.blocks(page, "cmake")
    assert guide.text_of("client/example/list.c").endswith(code)
    assert set(cmake.splitlines()) <= set(guide.text_of("client/example/CMakeLists.txt").splitlines())
