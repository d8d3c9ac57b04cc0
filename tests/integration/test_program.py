"""The program minari-hub as its admin meets it: what it prints, its signals, its settings. Run by ctest:
test_program.py DIRECTORY_OF_THE_PROGRAMS; needs the standard library only."""
import atexit
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

BIN = sys.argv.pop(1)
HUB = os.path.join(BIN, "minari-hub")
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "samples")


def run(*args, **env):
    return subprocess.run([HUB, *args], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null", **env})


class Program(unittest.TestCase):
    def setUp(self):
        self.state = tempfile.mkdtemp(prefix="hub-state-")
        self.addCleanup(shutil.rmtree, self.state)

    def serve(self, *args, **env):
        process = subprocess.Popen([HUB, "serve", "--state", self.state, "--listen", "127.0.0.1:0", "--settle", "0", *args],
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                   env={**os.environ, "MINARI_HUB_CONFIG": "/dev/null", **env})
        atexit.register(process.kill)
        return process

    def lines_until(self, process, pattern, seconds=60):
        lines, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            line = process.stderr.readline()
            lines.append(line)
            if not line or re.search(pattern, line):
                return lines
        self.fail("not seen in time: " + pattern)

    def test_serve_shows_requests_that_work_and_tells_systemd(self):
        path = os.path.join(self.state, "notify.sock")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        manager.bind(path)
        manager.settimeout(30)
        process = self.serve("--root", SAMPLES + ":ro", "--no-access-log", NOTIFY_SOCKET=path)
        lines = self.lines_until(process, "episodes")
        self.assertEqual(manager.recv(100), b"READY=1")
        text = "".join(lines)
        self.assertIn("4 datasets, 4 of them ready", text)
        urls = re.findall(r"curl '([^']+)'", text)
        self.assertEqual(len(urls), 3, text)
        for url in urls:
            with urllib.request.urlopen(url, timeout=60) as answer:
                self.assertEqual(answer.status, 200)
        process.send_signal(signal.SIGHUP)
        self.lines_until(process, "reload: SIGHUP")
        self.assertIsNone(process.poll())
        second = run("serve", "--root", SAMPLES, "--state", self.state, "--listen", "127.0.0.1:0")
        self.assertEqual(second.returncode, 1)
        self.assertIn(self.state, second.stderr)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(manager.recv(100), b"STOPPING=1")
        manager.close()
        process.stderr.close()

    def test_access_log_as_json(self):
        process = self.serve("--root", SAMPLES, "--log-format", "json")
        start = json.loads(self.lines_until(process, "serves 1 root")[-1])
        self.assertEqual((start["level"], start["event"]), ("info", "started"))
        self.assertIn(os.path.realpath(SAMPLES), start["message"])
        base = re.search(r"http://[^ ]+", start["message"])[0]
        self.ask(base)
        line = self.lines_until(process, "mine-1")[-1]
        self.assertRegex(line, r'^\{"time":"[^"]+Z","id":"mine-1","client":"127.0.0.1","method":"GET","route":"none",'
                               r'"target":"/api/v1/datasets","query":"limit=1&prefix=%1B","agent":"me/1","status":400,'
                               r'"bytes":\d+,"duration_ms":\d+\.\d{3}\}\n$')
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 0)
        events = [json.loads(line)["event"] for line in process.stderr if '"event"' in line]
        self.assertEqual(events[-2:], ["stopping", "stopped"])
        process.stderr.close()

    def ask(self, base):
        request = urllib.request.Request(base + "/api/v1/datasets?limit=1&prefix=%1B",
                                         headers={"X-Request-Id": "mine-1", "User-Agent": "me/1"})
        try:
            urllib.request.urlopen(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            error.close()

    def test_access_log_as_text(self):
        process = self.serve("--root", SAMPLES)
        base = re.search(r"http://[^ ]+", self.lines_until(process, "serves 1 root")[-1])[0]
        self.ask(base)
        self.assertRegex(self.lines_until(process, "mine-1")[-1],
                         r'^\S+Z 127\.0\.0\.1 GET /api/v1/datasets\?limit=1&prefix=%1B 400 \d+ bytes \d+\.\d{3} ms none mine-1 "me/1"\n$')
        process.send_signal(signal.SIGHUP)
        self.lines_until(process, " info reload: SIGHUP")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 0)
        rest = process.stderr.read()
        self.assertRegex(rest, r"info stopping: SIGTERM: no new connections; .*\n\S+ info stopped: ")
        process.stderr.close()

    def test_an_answer_that_broke_off_is_logged_with_what_was_sent(self):
        root = tempfile.mkdtemp(prefix="hub-root-")
        self.addCleanup(shutil.rmtree, root)
        os.mkdir(os.path.join(root, "set"))
        with open(os.path.join(root, "set", "large.bin"), "wb") as f:
            f.truncate(64 * 1024 * 1024)
        process = self.serve("--root", root, "--log-format", "json")
        lines = self.lines_until(process, '"event":"indexed"')
        host = re.search(r"http://([^ /]+)", "".join(lines))[1].split(":")
        with socket.create_connection((host[0], int(host[1])), timeout=60) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            s.sendall(b"GET /api/v1/datasets/set/files/large.bin HTTP/1.1\r\nHost: x\r\nX-Request-Id: cut-1\r\n\r\n")
            self.assertIn(b"200", s.recv(1000))
            got = len(s.recv(100000))
        line = json.loads(self.lines_until(process, "cut-1")[-1])
        self.assertTrue(line["aborted"], line)
        self.assertGreater(line["bytes"], 0)
        self.assertLess(line["bytes"], 32 * 1024 * 1024)
        self.assertGreater(got, 0)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        process.stderr.close()

    def test_address_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            hub = run("serve", "--root", SAMPLES, "--state", self.state, "--listen", f"127.0.0.1:{port}")
        self.assertEqual(hub.returncode, 1)
        self.assertIn(f"cannot listen on 127.0.0.1 port {port}: Address already in use", hub.stderr)

    def test_scan(self):
        scan = run("scan", "--root", SAMPLES, "--state", self.state, "--settle", "0")
        self.assertEqual(scan.returncode, 0, scan.stderr)
        self.assertRegex(scan.stdout, r"4 datasets \(4 ready, 0 broken, 0 unsupported, 0 pending\), 25 episodes, 276 steps, \d+ bytes\n$")

    def test_help_version_config(self):
        self.assertIn("--listen ADDR:PORT", run("help").stdout)
        self.assertIn("--listen ADDR:PORT", run("serve", "--help").stdout)
        for command, option in (("mirror", "--delete"), ("check", "--repair"), ("import", "--replace"), ("export", "--output")):
            about = run(command, "--help").stdout
            self.assertTrue(about.startswith(f"minari-hub {command}: ") and option in about and "--listen" not in about, about)
            self.assertEqual(run("help", command).stdout, about)
        self.assertRegex(run("--version").stdout, r"^minari-hub \S+\nlibmicrohttpd \S+\nSQLite \S+\n")
        self.assertIn("# listen = 127.0.0.1:8080\n", run("config").stdout)
        self.assertIn("\nqueue = 7\n", run("config", MINARI_HUB_QUEUE="7").stdout)

    def test_mistakes(self):
        for args, says in ((["serve", "--rot", "/x"], "unknown option --rot"), (["server"], 'unknown command "server"'),
                           ([], "name a command"), (["serve", "--root", "/nowhere"], "/nowhere"),
                           (["status", "--jsn"], "probably meant: --json"), (["mirror", "add", "x", "--evry", "1d"], "probably meant: --every"),
                           (["mirror", "add", "x", "--every", "1x"], 'every "1x": not a time'), (["check", "--rate=lots"], 'rate "lots": not a size'),
                           (["import", "--replace", "a.tar", "b.tar"], "an extra argument"),
                           (["serve", "--root", SAMPLES, "--inspector", "/nowhere"], "/nowhere")):
            hub = run(*args, "--state", self.state) if len(args) > 1 else run(*args)
            self.assertEqual(hub.returncode, 2, args)
            self.assertIn(says, hub.stderr)


if __name__ == "__main__":
    unittest.main()
