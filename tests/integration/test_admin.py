"""The hub as the admin of its machine asks it: over the control socket in the state directory."""
import http.client
import contextlib
import json
import os
import pty
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import time

import pytest

from hub import BIN, Control, FIXTURES, Hub, mounted, serving, until

SAMPLES = os.path.join(FIXTURES, "samples")


def ask(hub, path, method="GET"):
    connection = Control(hub.state)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


@pytest.fixture(params=["short", "long"])
def state(request):
    top = tempfile.mkdtemp(prefix="hub-state-")
    path = top if request.param == "short" else os.path.join(top, "d" * 120)
    os.makedirs(path, exist_ok=True)
    yield path
    shutil.rmtree(top)


def test_the_control_socket_is_the_owners(state):
    with serving(SAMPLES, state=state) as hub:
        path = os.path.join(state, "control.sock")
        mode = os.stat(path).st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
        assert ask(hub, "/healthz") == (200, b"ok\n")
        status, body = ask(hub, "/api/v1/datasets")
        assert status == 200 and json.loads(body)["total"] == 4
    assert not os.path.exists(path)


def test_a_socket_left_behind_is_replaced(state):
    with socket.socket(socket.AF_UNIX) as stale:
        directory = os.open(state, os.O_PATH)
        stale.bind(f"/proc/self/fd/{directory}/control.sock")
        os.close(directory)
    with serving(SAMPLES, state=state) as hub:
        assert ask(hub, "/healthz") == (200, b"ok\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's process is started, which takes root")
def test_another_user_is_not_answered(state):
    with serving(SAMPLES, state=state) as hub:
        path = state
        while os.stat(path).st_mode & 0o777 == 0o700:
            os.chmod(path, 0o755)
            path = os.path.dirname(path)
        os.chmod(os.path.join(state, "control.sock"), 0o666)
        child = os.fork()
        if child == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                ask(hub, "/healthz")
            except (OSError, http.client.HTTPException):
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert ask(hub, "/healthz") == (200, b"ok\n")


@pytest.fixture
def trouble(tmp_path):
    """A root with two good datasets, one that is broken and one with problems of its own."""
    root = tmp_path / "root"
    shutil.copytree(SAMPLES, root)
    shutil.copytree(os.path.join(FIXTURES, "lerobot", "arm-claims"), root / "arm-claims")
    broken = root / "half-v0" / "data"
    shutil.copytree(root / "door-human-v0" / "data", broken)
    (broken / "main_data.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    return str(root)


def test_status(trouble):
    with serving("lab=" + trouble) as hub:
        status = hub.get("/api/v1/status").json()
        assert status["ready"] and status["datasets"]["total"] == len(hub.datasets())
        assert status["datasets"]["broken"] == 1
        assert [r["name"] for r in status["roots"]] == ["lab"] and "path" not in status["roots"][0]
        assert trouble not in json.dumps(status) and hub.state not in json.dumps(status)
        assert status["memory"]["resident"] > 1024 * 1024 and status["files"]["open"] > 3
        local = json.loads(ask(hub, "/api/v1/status")[1])
        assert local["roots"][0]["path"] == os.path.realpath(trouble)
        assert local["state"]["path"] == os.path.realpath(hub.state)


def test_a_sweep_on_request_is_for_the_admin(trouble):
    with serving(trouble, args=["--sweep", "0"]) as hub:
        assert hub.get("/api/v1/sweep", method="POST").status == 404
        before = json.loads(ask(hub, "/api/v1/status")[1])["inspection"]["sweeps"]
        assert ask(hub, "/api/v1/sweep", method="POST")[0] == 202
        while json.loads(ask(hub, "/api/v1/status")[1])["inspection"]["sweeps"] == before:
            pass


def pages(hub, path):
    items, total, url = [], None, path
    while url:
        page = hub.get(url).json()
        items += page["items"]
        assert total in (None, page["total"])
        total = page["total"]
        url = page["next"] and page["next"].replace(hub.base, "")
    assert len(items) == total
    return items


def test_problems_in_one_place(trouble):
    with serving(trouble) as hub:
        whole = pages(hub, "/api/v1/problems?limit=1000")
        broken = [p for p in whole if p["code"] == "dataset-broken"]
        assert [p["dataset"] for p in broken] == ["half-v0"] and broken[0]["detail"]
        named = {p["dataset"] for p in whole}
        for item in hub.datasets():
            own = hub.dataset(item["id"])["problems"]
            mine = [p for p in whole if p.get("dataset") == item["id"] and p["code"] != "dataset-broken"]
            assert [(p["code"], p["detail"]) for p in mine] == [(p["code"], p["detail"]) for p in own]
            assert (item["id"] in named) == bool(own or item["status"] == "broken")
        for limit in (1, 2, 3, 7):
            assert pages(hub, f"/api/v1/problems?limit={limit}") == whole
        assert {p["dataset"] for p in pages(hub, "/api/v1/problems?prefix=arm")} == {"arm-claims"}


def test_jobs(trouble):
    with serving(trouble) as hub:
        assert hub.get("/api/v1/jobs?kind=inspect").json()["items"] == []
        for parameter in ("kind=sleep", "state=asleep", "limit=0", "x=1"):
            assert hub.get("/api/v1/jobs?" + parameter).status == 400


def test_jobs_of_a_hub_that_is_busy(trouble):
    """A file that was changed a moment ago waits for the settle time: its dataset's inspection is a job."""
    with Hub([trouble], args=["--settle", "1h"]) as hub:
        hub.wait_ready()
        jobs = pages(hub, "/api/v1/jobs?limit=2")
        assert "half-v0" in {j["target"] for j in jobs}
        assert all(j["kind"] == "inspect" and j["state"] == "waiting" and j["unit"] == "parts" for j in jobs)
        assert [j["id"] for j in jobs] == sorted(j["id"] for j in jobs)


def hub_command(state, *args):
    return subprocess.run([os.path.join(BIN, "minari-hub"), *args, "--state", state], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null"})


def test_the_commands_ask_the_running_hub(trouble, state):
    with serving("lab=" + trouble, state=state) as hub:
        said = hub_command(state, "status")
        assert said.returncode == 0, said.stderr
        assert re.search(r"^minari-hub \S+, up \d+ s, ready$", said.stdout, re.M), said.stdout
        assert f"lab = {os.path.realpath(trouble)}: 6 datasets" in said.stdout
        assert "datasets    6: 5 ready, 0 pending, 1 broken, 0 unsupported;" in said.stdout
        assert json.loads(hub_command(state, "status", "--json").stdout)["datasets"]["broken"] == 1
        problems = hub_command(state, "problems")
        assert problems.returncode == 0 and re.search(r"^lab/half-v0: dataset-broken: ", problems.stdout, re.M), problems.stdout
        listed = json.loads(hub_command(state, "problems", "--json").stdout)
        assert len(listed) == len(problems.stdout.splitlines()) == hub.get("/api/v1/problems").json()["total"]
        shutil.copytree(os.path.join(trouble, "door-human-v0"), os.path.join(trouble, "door-human-v1"))
        scan = hub_command(state, "scan", "--root", trouble)
        assert scan.returncode == 0, scan.stderr
        assert "lab/half-v0: dataset-broken: " in scan.stdout and "datasets    7: 6 ready" in scan.stdout
        assert hub.dataset("lab/door-human-v1")["status"] == "ready"


def test_without_a_hub_the_commands_say_so(tmp_path):
    for command in ("status", "problems"):
        said = hub_command(str(tmp_path), command)
        assert said.returncode == 4 and "no minari-hub is running with the state directory" in said.stderr
        assert "minari-hub serve" in said.stderr


def test_without_a_state_directory_the_commands_say_where_to_look(tmp_path):
    for command in ("status", "problems"):
        said = hub_command(str(tmp_path / "none"), command)
        assert said.returncode == 4 and f"no minari-hub is running with the state directory {tmp_path}/none" in said.stderr
        assert "--state DIR" in said.stderr


def with_a_service(tmp_path, *lines):
    """What a script says in a world of its own, where a hub runs as the service does."""
    program, service = os.path.join(BIN, "minari-hub"), "/var/lib/minari-hub"
    script = ["set -e", f"mount -t tmpfs -o mode=0755 tmpfs {os.path.dirname(service)}", f"mkdir -m 0700 {service}",
              f"STATE_DIRECTORY={service} {program} serve --root {SAMPLES} --listen off --no-access-log 2> {tmp_path}/log & hub=$!",
              f"until {program} status --state {service} 2>&1 | grep -q ' 4 ready'; do kill -0 $hub; sleep 0.05; done", *lines, "kill $hub; wait $hub"]
    env = {k: v for k, v in os.environ.items() if k not in ("XDG_STATE_HOME", "STATE_DIRECTORY")}
    return subprocess.run(["unshare", "--mount", "sh", "-c", "\n".join(script)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                          env={**env, "HUB": program, "HOME": str(tmp_path), "MINARI_HUB_CONFIG": "/dev/null"})


@pytest.mark.skipif(os.geteuid() != 0, reason="a file system is mounted, which takes root")
def test_the_commands_find_the_service(tmp_path):
    said = with_a_service(tmp_path, "$HUB status; $HUB problems; $HUB check door-human-v0",
                          "mkdir -p $HOME/.local/state/minari-hub; $HUB problems --json",
                          f"$HUB status --state {tmp_path} || echo exit $?")
    assert said.returncode == 0, (said, (tmp_path / "log").read_text())
    assert "state       /var/lib/minari-hub" in said.stdout and "datasets    4: 4 ready" in said.stdout and said.stdout.endswith("exit 4\n")
    assert "/var/lib/minari-hub" in said.stderr and "--state DIR" in said.stderr


def test_man_page_and_completions_are_of_the_tables():
    for what, words in (("man", ["--listen", "control.sock", "problems"]), ("bash", ["--root", "status"]),
                        ("zsh", ["--root", "status"]), ("fish", ["listen", "status"])):
        made = subprocess.run([os.path.join(BIN, "minari-hub"), "--generate", what], capture_output=True, text=True, timeout=60)
        assert made.returncode == 0
        for word in words:
            assert word in made.stdout.replace("\\-", "-"), (what, word)


def test_the_inspector_has_a_man_page_and_completions():
    program = os.path.join(BIN, "minari-inspect")
    names = re.findall(r"^  --([a-z-]+)", subprocess.run([program, "--help"], capture_output=True, text=True, timeout=60).stdout, re.M)
    assert {"json", "strict", "allow-target", "help"} <= set(names)
    for what, option in (("man", r"\-\-%s"), ("bash", "--%s"), ("zsh", "--%s"), ("fish", "-l %s")):
        made = subprocess.run([program, "--generate", what], capture_output=True, text=True, timeout=60)
        for name in names:
            assert option % name.replace("-", r"\-" if what == "man" else "-") in made.stdout, (what, name)
    assert subprocess.run([program, "--generate", "csh"], capture_output=True, timeout=60).returncode == 2


@pytest.mark.skipif(not shutil.which("man"), reason="no man")
@pytest.mark.parametrize("program", ["minari-hub", "minari-cli", "minari-inspect"])
def test_man_pages_are_without_warnings(tmp_path, program):
    (tmp_path / "page.1").write_bytes(subprocess.run([os.path.join(BIN, program), "--generate", "man"], capture_output=True, timeout=60).stdout)
    shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", str(tmp_path / "page.1")], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    assert shown.returncode == 0 and "SYNOPSIS" in shown.stdout and not shown.stderr, shown.stderr


def events(hub):
    lines = [line for line in hub.text_log().splitlines() if '"event"' in line]
    return [json.loads(line) for line in lines]


def test_what_turns_broken_is_told_once_with_a_remedy(trouble, state):
    with serving("lab=" + trouble, state=state, args=["--log-format", "json", "--no-access-log"]) as hub:
        def told(name, dataset):
            return [e for e in events(hub) if e["event"] == name and e.get("dataset") == dataset]

        line = until(lambda: told("dataset-broken", "lab/half-v0"))
        assert len(line) == 1 and line[0]["level"] == "warning" and "minari-inspect" in line[0]["message"]
        good = os.path.join(trouble, "door-human-v0", "data", "main_data.hdf5")
        with open(good, "rb") as f:
            whole = f.read()
        with open(good, "wb") as f:
            f.write(whole[:5000])
        until(lambda: told("dataset-broken", "lab/door-human-v0"))
        with open(good, "wb") as f:
            f.write(whole)
        until(lambda: told("dataset-well", "lab/door-human-v0"))
        shutil.rmtree(os.path.join(trouble, "half-v0"))
        until(lambda: told("dataset-gone", "lab/half-v0"))
        assert 'minari_hub_events_total{event="dataset-broken"} 2' in hub.get("/metrics").body.decode()


def test_alerts_begin_and_end(trouble, tmp_path):
    """A root that goes away is an alert; it ends when the root is back."""
    root = tmp_path / "lab"
    os.rename(trouble, root)
    with serving(str(root), args=["--log-format", "json", "--no-access-log", "--sweep", "0"]) as hub:
        count = len(hub.datasets())
        os.rename(root, tmp_path / "away")
        until(lambda: [e for e in events(hub) if e["event"] == "root-unreadable"])
        alerts = json.loads(ask(hub, "/api/v1/status")[1])["alerts"]
        assert alerts[0]["code"] == "root-unreadable" and str(root) in alerts[0]["local"]
        tcp = hub.get("/api/v1/problems").json()["items"]
        assert tcp[0]["code"] == "root-unreadable" and str(tmp_path) not in json.dumps(tcp)
        assert len(hub.datasets()) == count
        os.rename(tmp_path / "away", root)
        until(lambda: [e for e in events(hub) if e["event"] == "alert-over"])
        assert hub.get("/api/v1/status").json()["alerts"] == []


def test_process_metrics(trouble):
    with serving(trouble) as hub:
        metrics = dict(line.rsplit(" ", 1) for line in hub.get("/metrics").body.decode().splitlines() if not line.startswith("#"))
        assert float(metrics["process_resident_memory_bytes"]) > 1 << 20
        assert float(metrics["process_open_fds"]) > 3 and float(metrics["process_start_time_seconds"]) > 1.7e9
        assert float(metrics["minari_hub_sweeps_total"]) >= 1


def test_readyz_names_what_it_waits_for(tmp_path):
    """The inspector answers nothing, so that no root is ever walked."""
    lazy = tmp_path / "inspector"
    lazy.write_text("#!/bin/sh\nexec sleep 600\n")
    lazy.chmod(0o755)
    os.makedirs(tmp_path / "root" / "door-v0" / "data")
    (tmp_path / "root" / "door-v0" / "data" / "main_data.hdf5").write_bytes(b"x" * 10)
    with Hub([str(tmp_path / "root")], args=["--inspector", str(lazy)]) as hub:
        def asked():
            try:
                answer = hub.get("/readyz")
                return answer if answer.status == 503 else None
            except OSError:
                return None

        answer = until(asked)
        assert answer.json()["type"] == "urn:minari-hub:starting" and "directories so far" in answer.json()["detail"]


def test_a_full_state_disk_is_an_alert_and_ends(tmp_path):
    """A small file system of its own for the state; only root can make one."""
    with mounted(tmp_path / "state", 80) as state:
        with serving(SAMPLES, state=str(state), args=["--log-format", "json", "--no-access-log"]) as hub:
            assert hub.get("/api/v1/status").json()["alerts"] == []
            with open(state / "ballast", "wb") as f:
                f.write(b"x" * (40 << 20))
            until(lambda: [e for e in events(hub) if e["event"] == "state-disk-full"])
            said = hub_command(str(state), "status").stdout
            assert "state-disk-full" in said and str(state) in said
            os.unlink(state / "ballast")
            until(lambda: [e for e in events(hub) if e["event"] == "alert-over"])


@pytest.mark.parametrize("beside", [False, True])
def test_a_scan_ends_when_the_state_disk_is_full(tmp_path, beside):
    """More datasets than a small disk has room for: `scan` names the disk and the remedy, alone and beside a running hub."""
    root, state = tmp_path / "root", tmp_path / "state"
    state.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8M,mode=0700", "tmpfs", str(state)], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"LOUD: no file system can be mounted here: {mounted.stderr.decode()}")

    def scan():
        return subprocess.run([os.path.join(BIN, "minari-hub"), "scan", "--root", str(root), "--state", str(state), "--settle", "0"],
                              capture_output=True, text=True, timeout=60)

    def add(first, last):
        for i in range(first, last):
            shutil.copytree(os.path.join(SAMPLES, "door-human-v0"), root / f"door-{i:02}-v0")

    try:
        add(0, 1)
        with serving(str(root), state=str(state)) if beside else contextlib.nullcontext():
            assert scan().returncode == 0
            with open(state / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
                while True:
                    ballast.write(bytes(4096))
            os.truncate(state / "ballast", os.path.getsize(state / "ballast") - (256 << 10))
            add(1, 60)
            said = scan()
            assert said.returncode == 6, said
            assert f"the disk of {os.path.realpath(state)} is full" in said.stderr and "--state DIR" in said.stderr, said.stderr
            os.unlink(state / "ballast")
            until(lambda: re.search(r"60 datasets \(60 ready|datasets +60: 60 ready", scan().stdout))
    finally:
        subprocess.run(["umount", "-l", str(state)], check=True)


def test_the_unit_of_the_service_is_sound(tmp_path):
    """Installed below any prefix it starts the program that was installed with it; systemd knows its directives, also with a root to write."""
    subprocess.run(["cmake", "--install", os.path.dirname(os.path.abspath(BIN)), "--component", "minari-hub", "--prefix", tmp_path / "there"],
                   check=True, capture_output=True, timeout=60)
    text = (tmp_path / "there" / "lib" / "systemd" / "system" / "minari-hub.service").read_text()
    program = re.search(r"^ExecStart=(\S+) serve$", text, re.M)[1]
    assert program == str(tmp_path / "there" / "bin" / "minari-hub") and os.access(program, os.X_OK)
    assert "Type=notify" in text and "@" not in text.replace("$MAINPID", "")
    example = re.search(r"^#   (ReadWritePaths=/\S+)$", text, re.M)[1]
    if shutil.which("systemd-analyze"):
        here = tmp_path / "minari-hub.service"
        here.write_text(text.replace("[Service]", f"[Service]\n{example}", 1))
        checked = subprocess.run(["systemd-analyze", "verify", "--man=no", str(here)], capture_output=True, text=True, timeout=60)
        assert "minari-hub.service" not in checked.stderr, checked.stderr


def test_folders_that_are_not_watched_are_told(tmp_path):
    """A user namespace of its own has a limit of inotify watches of its own."""
    for i in range(10):
        os.makedirs(tmp_path / "root" / f"a{i}" / "b")
    limited = tmp_path / "limited"
    limited.write_text('#!/bin/sh\nexec unshare -Ur sh -c \'echo 3 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"\' '
                       + os.path.join(BIN, "minari-hub") + ' "$@"\n')
    limited.chmod(0o755)
    if subprocess.run([str(limited), "version"], capture_output=True).returncode:
        pytest.skip("LOUD: no user namespace with a limit of its own can be made here")
    with Hub([str(tmp_path / "root")], program=str(limited), args=["--log-format", "json", "--no-access-log"]) as hub:
        hub.wait_ready()
        told = until(lambda: [e for e in events(hub) if e["event"] == "folders-not-watched"])
        assert "max_user_watches" in told[0]["message"]
        assert "folders-not-watched" in {a["code"] for a in hub.get("/api/v1/status").json()["alerts"]}


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's process is started, which takes root")
def test_folders_that_may_not_be_entered_are_told(tmp_path):
    root = tmp_path / "root"
    (root / "open-v0").mkdir(parents=True)
    (root / "open-v0" / "x.txt").write_text("x")
    (root / "closed").mkdir(mode=0o000)
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == 0 and path != path.parent and "pytest" in str(path):
            path.chmod(0o755)
    as_nobody = tmp_path / "as-nobody"
    as_nobody.write_text(f'#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups {os.path.join(BIN, "minari-hub")} "$@"\n')
    as_nobody.chmod(0o755)
    if subprocess.run([str(as_nobody), "version"], capture_output=True).returncode:
        pytest.skip("LOUD: another user cannot run the programs where they were built")
    state = tmp_path / "state"
    state.mkdir()
    os.chown(state, 65534, 65534)
    with Hub([str(root)], state=str(state), program=str(as_nobody), args=["--log-format", "json", "--no-access-log"]) as hub:
        hub.wait_ready()
        until(lambda: [e for e in events(hub) if e["event"] == "folders-not-entered"])
        assert [d["id"] for d in hub.datasets() if d["status"] == "broken"] == ["closed"]


def test_a_proxy_that_is_not_trusted_is_told_of_once(tmp_path):
    """Its clients share one turn: the admin is told the address and the option. One client with one address is no proxy."""
    with serving(SAMPLES, args=["--log-format", "json", "--no-access-log", "--trusted-proxies", "off"]) as hub:
        def told():
            return [e for e in events(hub) if e["event"] == "proxy-not-trusted"]

        for _ in range(20):
            hub.get("/healthz", {"X-Forwarded-For": "192.0.2.1"})
        time.sleep(0.5)  # it has time to look; nothing says that it has
        assert not told()
        for i in range(40):
            hub.get("/healthz", {"X-Forwarded-For": f"192.0.2.{i % 10}"})
        until(told)
        time.sleep(0.5)  # and to look once more
        assert len(told()) == 1 and "--trusted-proxies 127.0.0.1" in json.dumps(told()[0]), told()
    with serving(SAMPLES, args=["--log-format", "json", "--no-access-log"]) as hub:  # loopback is trusted
        for i in range(40):
            hub.get("/healthz", {"X-Forwarded-For": f"192.0.2.{i % 10}"})
        time.sleep(0.5)  # as above
        assert not [e for e in events(hub) if e["event"] == "proxy-not-trusted"]


@pytest.mark.parametrize("fails", [False, True])
def test_the_build_says_how_far_it_is(tmp_path, fails):
    """server/run.sh on a terminal, where cmake waits until its count was seen."""
    for name in ("server/run.sh", "tests/support/install.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(os.path.dirname(__file__), "..", "..", name), tmp_path / name)
    for name, text in (("tools/dpkg-query", "echo install ok installed"), ("build/bin/minari-hub", 'echo served "$2"'),
                       ("tools/cmake", f'[ "$1" = --build ] || exit 0\necho "[1/3] Building"\nuntil [ -e {tmp_path}/seen ]; do sleep 0.05; done\n'
                                       f'echo "[2/3] error: no"\nexit {int(fails)}')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n" + text + "\n")
        os.chmod(tmp_path / name, 0o755)
    master, slave = pty.openpty()
    run = subprocess.Popen(["sh", str(tmp_path / "server" / "run.sh"), "--root", "/data"], stdin=slave, stdout=slave, stderr=slave,
                           env={**os.environ, "PATH": f"{tmp_path}/tools:{os.environ['PATH']}"})
    os.close(slave)
    said = b""
    with contextlib.suppress(OSError):  # as a terminal ends
        while chunk := os.read(master, 4096):
            said += chunk
            if b"[1/3]" in said:
                (tmp_path / "seen").touch()
    os.close(master)
    assert run.wait(60) == (1 if fails else 0) and b"[1/3]" in said, said
    assert (b"error: no" in said and b"the build failed" in said) if fails else b"served --root" in said, said
