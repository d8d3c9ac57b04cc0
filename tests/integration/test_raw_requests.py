"""What the HTTP floor does with requests that two parsers could read differently, with slow clients, with too many of them,
and when it is told to stop. Run by ctest: test_raw_requests.py HTTP_SERVER"""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import raw  # noqa: E402
from hub import PATIENCE, until  # noqa: E402

PROGRAM = sys.argv.pop(1)
ROUNDS = int(os.environ.get("HUB_DRAIN_ROUNDS", "25"))
HELLO = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"


def request(*lines, body=b""):
    return b"\r\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\r\n\r\n" + body


class Smuggling(unittest.TestCase):
    """Every row: one answer, 400, the connection closed, and the request hidden behind it never executed."""

    @classmethod
    def setUpClass(cls):
        cls.server = raw.Server(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    refused = {
        "two differing Content-Length": request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 5", "Content-Length: 0", body=b"hello"),
        "two equal Content-Length": request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 5", "Content-Length: 5", body=b"hello"),
        "Content-Length and Transfer-Encoding": request(
            "POST /echo HTTP/1.1", "Host: x", "Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
        "Transfer-Encoding and Content-Length": request(
            "POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Content-Length: 5", body=b"0\r\n\r\n"),
        "Transfer-Encoding with a space before the colon": request(
            "POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding : chunked", "Content-Length: 5", body=b"0\r\n\r\n"),
        "xchunked": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
        "gzip, chunked": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
        "identity and Content-Length": request(
            "POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: identity", "Content-Length: 5", body=b"hello"),
        "two Transfer-Encoding": request(
            "POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
        "Transfer-Encoding folded": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding:", " chunked", body=b"0\r\n\r\n"),
        "Content-Length folded, behind a GET": request("GET /hello HTTP/1.1", "Host: x", "Content-Length:", " 42"),
        "Content-Length folded with a tab": request("HEAD /hello HTTP/1.1", "Host: x", "Content-Length:", "\t42"),
        "Transfer-Encoding folded, behind a GET": request("GET /hello HTTP/1.1", "Host: x", "Transfer-Encoding:", " chunked"),
        "a folded value": request("GET /hello HTTP/1.1", "Host: x", "X-A: a", " b"),
        "a folded value before others": request("GET /hello HTTP/1.1", "Host: x", "X-A: a", "  b", "\tc", "X-B: b"),
        "a folded Host": request("GET /hello HTTP/1.1", "Host: x", " y"),
        "no length at all": request("POST /echo HTTP/1.1", "Host: x"),
        "chunked in HTTP/1.0": request("POST /echo HTTP/1.0", "Host: x", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"),
        "two Host": request("GET /hello HTTP/1.1", "Host: x", "Host: y"),
        "no Host": request("GET /hello HTTP/1.1", "Accept: */*"),
        "a Host that is none": request("GET /hello HTTP/1.1", "Host: a b<c>"),
        "%00 in the target": request("GET /hello%00x HTTP/1.1", "Host: x"),
        "%00 in a parameter": request("GET /query?q=%00 HTTP/1.1", "Host: x"),
        "bare CR in a value": request("GET /hello HTTP/1.1", "Host: x", "X-A: a\rb"),
        "a control character in a value": request("GET /hello HTTP/1.1", "Host: x", b"X-A: a\x01b"),
        "method G@T": request("G@T /hello HTTP/1.1", "Host: x"),
        "absolute-form target": request("GET http://x/hello HTTP/1.1", "Host: x"),
        "authority-form target": request("GET x:80 HTTP/1.1", "Host: x"),
        "asterisk-form target": request("OPTIONS * HTTP/1.1", "Host: x"),
        "a header name that is no token": request("GET /hello HTTP/1.1", "Host: x", "X(A): a"),
        "space in the target": request("GET /hel lo HTTP/1.1", "Host: x"),
        "bad Content-Length": request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 5x", body=b"hello"),
        "negative Content-Length": request("POST /echo HTTP/1.1", "Host: x", "Content-Length: -5", body=b"hello"),
        "huge Content-Length": request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 99999999999999999999", body=b"hello"),
        "a number of headers": request("GET /hello HTTP/1.1", "Host: x", *[f"X-{i}: {i}" for i in range(150)]),
    }
    keeps_open = {"%00 in the target", "%00 in a parameter"}  # nothing is ambiguous about where the request ends

    by_the_library = {"space in the target": [], "huge Content-Length": [413]}  # closed without a word; its own status

    def test_refused(self):
        for name, sent in self.refused.items():
            with self.subTest(name):
                before = self.server.executed()
                closes = name not in self.keeps_open
                data, closed = self.server.exchange(sent + HELLO if closes else sent, closes=closes)
                expected = self.by_the_library.get(name, [400])
                self.assertEqual(raw.statuses(data), expected, data)
                self.assertTrue(closed or not closes, "the connection stays open")
                self.assertEqual(self.server.executed(), before)

    def test_a_number_of_headers_is_told(self):
        data, closed = self.server.exchange(self.refused["a number of headers"], closes=True)
        self.assertIn(b"more than 100 header fields", data)
        self.assertTrue(closed)

    # Not seen by the guard, or harmless: one request each, whatever the library makes of the rest.
    accepted = {
        "bare LF line ends": b"GET /hello HTTP/1.1\nHost: x\n\n",
        "HTTP/1.9": request("GET /hello HTTP/1.9", "Host: x"),
        "chunk extensions": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", body=b"5;a=b\r\nhello\r\n0\r\n\r\n"),
        "chunked": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", body=b"5\r\nhello\r\n0\r\n\r\n"),
        "chunked trailer": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: chunked",
                                   body=b"5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n"),
        "CHUNKED": request("POST /echo HTTP/1.1", "Host: x", "Transfer-Encoding: CHUNKED", body=b"0\r\n\r\n"),
        "HTTP/1.0 without a Host": request("GET /hello HTTP/1.0"),
    }

    def test_accepted(self):
        for name, sent in self.accepted.items():
            with self.subTest(name):
                before = self.server.executed()
                data, _ = self.server.exchange(sent)
                self.assertEqual(raw.statuses(data), [200], data)
                self.assertEqual(self.server.executed(), before + 1)

    # The library cuts these before it shows them: they are found in what lies between what it shows.
    hidden = {
        "NUL in the target": request(b"GET /hello\x00x HTTP/1.1", "Host: x"),
        "NUL in a value": request("GET /hello HTTP/1.1", b"X-A: a\x00b", "Host: x"),
        "NUL in the last value": request("GET /hello HTTP/1.1", "Host: x", b"X-A: a\x00b"),
        "NULs before the end": request("GET /hello HTTP/1.1", "Host: x", b"X-A: a\x00\x00\x00\x00b"),
        "a length cut by a NUL": request("POST /echo HTTP/1.1", "Host: x", b"Content-Length: 0\x0039", body=b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n...."),
        "a field without a name": request("GET /hello HTTP/1.1", ": foo", "Host: x"),
        "a last field without a name": request("GET /hello HTTP/1.1", "Host: x", ": foo"),
    }

    def test_what_the_library_hides(self):
        for name, sent in self.hidden.items():
            with self.subTest(name):
                before = self.server.executed()
                data, closed = self.server.exchange(sent, half_close=True)
                self.assertEqual((raw.statuses(data), closed), ([400], True), data)
                self.assertEqual(self.server.executed(), before)

    def test_blanks_hide_nothing(self):
        for sent in (request("GET /hello HTTP/1.1", "Host: x", "X-A: a  ", "X-B:", "X-C:\t", "X-D: d\t"), request("GET /hello HTTP/1.1", "X-B:", "Host: x", "X-E:"),
                     b"GET /hello HTTP/1.1\nHost: x\nX-A: a\n\n"):
            statuses = raw.statuses(self.server.exchange(sent + HELLO, answers=2)[0])
            self.assertEqual(statuses, [200, 200], sent)

    def test_dot_segments(self):
        for target in ("/hello/..", "/../hello", "/./hello", "/%2e%2e/hello", "/hello%2F..%2Fx", "//hello", "/hello//",
                       "/a\\b", "/%zz", "/%4", "/%ff", "/%C0%AF", "/a%0Ab", "/%ED%A0%80"):
            with self.subTest(target):
                self.assertEqual(self.server.get(target)[0], 400)


class Plain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = raw.Server(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def test_pipelining(self):
        many = b"".join(request(f"GET /bytes/{n} HTTP/1.1", "Host: x") for n in (3, 70000, 0, 5)) + HELLO * 20
        data, _ = self.server.exchange(many, answers=24)
        self.assertEqual(raw.statuses(data), [200] * 24)
        echo = request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 5", body=b"hello")
        data, _ = self.server.exchange(echo + request("GET /sleep/20 HTTP/1.1", "Host: x") + echo + HELLO, answers=4)
        self.assertEqual(raw.statuses(data), [200] * 4)

    def test_nothing_is_expected_of_a_request_without_a_body(self):
        for expected in ("Expect: 100-continue", "expect: 100-Continue"):
            first = request("GET /small HTTP/1.1", "Host: x", expected)
            second = request("GET /small HTTP/1.1", "Host: x", "Connection: close")
            self.assertEqual(raw.statuses(self.server.exchange(first + second)[0]), [200, 200])

    def test_head_is_get_without_its_body(self):
        for target in ("/hello", "/small", "/bytes/70000", "/nope", "/datasets/x", "/query?limit=x", "/sleep/1"):
            with self.subTest(target):
                get, head = self.server.get(target), self.server.get(target, method="HEAD")
                self.assertEqual(head[0], get[0])
                self.assertEqual(head[2], b"")
                self.assertEqual({n: v for n, v in head[1].items() if n not in ("date", "x-request-id")},
                                 {n: v for n, v in get[1].items() if n not in ("date", "x-request-id")})
                self.assertEqual(int(head[1]["content-length"]), len(get[2]))

    def test_methods(self):
        status, headers, _ = self.server.get("/hello", method="DELETE")
        self.assertEqual((status, headers["allow"]), (405, "GET, HEAD, OPTIONS"))
        status, headers, _ = self.server.get("/hello", method="BREW")
        self.assertEqual((status, headers["allow"]), (405, "GET, HEAD, OPTIONS"))
        self.assertEqual(self.server.get("/nope", method="BREW")[0], 404)
        status, headers, body = self.server.get("/api/hello", "Origin: http://a\r\nAccess-Control-Request-Method: GET\r\n",
                                                method="OPTIONS")
        self.assertEqual((status, headers["access-control-allow-methods"], body), (204, "GET, HEAD, OPTIONS", b""))
        status, headers, body = self.server.get("/echo", method="OPTIONS")
        self.assertEqual((status, headers["allow"], body), (204, "POST, OPTIONS", b""))
        self.assertNotIn("access-control-allow-methods", headers)
        self.assertEqual(self.server.get("/nope", method="OPTIONS")[0], 404)

    def test_post_without_a_body_where_there_is_none(self):
        data, closed = self.server.exchange(request("POST /hello HTTP/1.1", "Host: x") + HELLO, answers=2)
        self.assertEqual(raw.statuses(data), [405, 200], data)
        self.assertEqual(raw.parse(data)[1]["allow"], "GET, HEAD, OPTIONS")

    def test_a_slash_at_the_end(self):
        for target, location in (("/hello/", "/hello"), ("/query/?q=%20a&limit=1", "/query?q=%20a&limit=1"),
                                 ("/datasets/a%2Fb/", "/datasets/a%2Fb")):
            for method in ("GET", "HEAD"):
                status, headers, body = self.server.get(target, method=method)
                self.assertEqual((status, headers["location"], body), (308, location, b""))
        self.assertEqual(self.server.get("/nope/")[0], 404)
        self.assertEqual(self.server.get("/hello/", method="DELETE")[0], 405)

    def test_many_parameters(self):
        for count in (100, 500, 600, 1500, 3000):
            status, headers, body = self.server.get("/query?" + "&".join(f"a{i}=1" for i in range(count)))
            self.assertIn((status, b"more than 64 parameters" in body), ((400, True), (414, False)))

    def test_many_cookies(self):
        status, headers, body = self.server.get("/hello", "Cookie: " + "; ".join(f"c{i}=1" for i in range(60)) + "\r\n")
        self.assertEqual(status, 200)
        self.assertEqual(self.server.get("/hello", "Cookie: " + "; ".join(f"c{i}=1" for i in range(1500)) + "\r\n")[0], 431)
        for count in (400, 800):
            status, headers, body = self.server.get("/hello", "Cookie: " + "; ".join(f"c{i}=1" for i in range(count)) + "\r\n")
            self.assertEqual((status, headers["content-type"]), (431, "application/problem+json"))
            self.assertEqual(json.loads(body)["type"], "urn:minari-hub:too-large")
            self.assertEqual(int(headers["content-length"]), len(body))

    def test_headers_of_every_answer(self):
        for target in ("/hello", "/small", "/nope", "/query?limit=x", "/a%00"):
            status, headers, _ = self.server.get(target)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            if status >= 400:
                self.assertRegex(headers["x-request-id"], "^[0-9a-f]{16}$")
            self.assertNotIn("transfer-encoding", headers)
            self.assertNotIn("access-control-allow-origin", headers)
        for target in ("/api/hello", "/api/nope", "/api/hello?a=%00", "/openapi.json"):
            _, headers, _ = self.server.get(target)
            self.assertEqual(headers["access-control-allow-origin"], "*")
            self.assertEqual(headers["access-control-expose-headers"], "*")
        self.assertEqual(self.server.get("/hello", "X-Request-Id: run-7.a_B\r\n")[1]["x-request-id"], "run-7.a_B")
        for bad in ("a b", "x" * 33, "a;b", ""):
            self.assertRegex(self.server.get("/nope", f"X-Request-Id: {bad}\r\n")[1]["x-request-id"], "^[0-9a-f]{16}$")

    def test_json_ends_with_a_line_feed(self):
        self.assertEqual(self.server.get("/json")[2], b"[1,2]\n")
        self.assertEqual(self.server.get("/json", method="HEAD")[1]["content-length"], "6")
        self.assertTrue(self.server.get("/nope")[2].endswith(b"}\n"))

    def test_paths_of_the_machine_are_for_the_log(self):
        server = raw.Server(PROGRAM, "access_log=1", stderr=subprocess.PIPE)
        status, _, body = server.get("/failure")
        self.assertEqual((status, json.loads(body)["detail"]), (500, "opening '...': no luck"))
        server.process.send_signal(signal.SIGTERM)
        log = json.loads(server.process.communicate()[1])
        self.assertEqual((log["detail"], log["client"]), ("opening '/secret/place/index.db': no luck", "127.0.0.1"))

    def test_links_follow_the_proxy(self):
        self.assertTrue(self.server.get("/query?q=", "X-Forwarded-Proto: https\r\n")[2].endswith(b" https://x"))
        self.assertTrue(self.server.get("/query?q=", "X-Forwarded-Proto: gopher\r\n")[2].endswith(b" http://x"))
        self.assertTrue(self.server.get("/query?q=", "X-Forwarded-Host: hub.lab:1, y\r\n")[2].endswith(b" http://hub.lab:1"))
        self.assertTrue(self.server.get("/query?q=", "X-Forwarded-Host: a<b\r\n")[2].endswith(b" http://x"))

    def test_bodies(self):
        post = lambda body, *lines, **how: self.server.exchange(request("POST /echo HTTP/1.1", "Host: x", *lines, body=body), **how)
        data, _ = post(b"x" * 4096, "Content-Length: 4096")
        self.assertEqual(raw.parse(data)[2], b"x" * 4096)
        data, closed = post(b"x" * 4097, "Content-Length: 4097", closes=True)
        self.assertEqual((raw.statuses(data), closed), ([413], True))
        data, closed = post(b"1100\r\n" + b"x" * 0x1100 + b"\r\n0\r\n\r\n", "Transfer-Encoding: chunked", closes=True)
        self.assertEqual((raw.statuses(data), closed), ([413], True))
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        data, closed = post(chunk * 20, "Transfer-Encoding: chunked", closes=True)
        self.assertTrue(closed)
        data, closed = self.server.exchange(request("GET /hello HTTP/1.1", "Host: x", "Content-Length: 5", body=b"hello"), closes=True)
        self.assertEqual((raw.statuses(data), closed), ([413], True))
        data, _ = post(b"", "Content-Length: 5", "Expect: 100-continue")
        self.assertTrue(data.startswith(b"HTTP/1.1 100 Continue\r\n\r\n"))
        data, closed = post(b"", "Content-Length: 5000", "Expect: 100-continue", closes=True)
        self.assertEqual((raw.statuses(data), closed), ([413], True))

    def test_oversized_headers(self):
        self.assertIn(raw.statuses(self.server.exchange(request("GET /hello HTTP/1.1", "Host: x", "X-A: " + "a" * 40000))[0])[0], (413, 431))
        self.assertEqual(raw.statuses(self.server.exchange(request("GET /" + "a" * 40000 + " HTTP/1.1", "Host: x"))[0]), [414])
        many = [f"X-{i}: {i}" for i in range(1500)]
        self.assertIn(raw.statuses(self.server.exchange(request("GET /hello HTTP/1.1", "Host: x", *many))[0])[0], (400, 431))
        self.assertEqual(self.server.get("/" + "a" * 12000)[0], 404)
        for size in range(15700, 16700, 20):  # as many as there is hardly room for the answer beside
            answers = raw.statuses(self.server.exchange(request("GET /" + "a" * size + " HTTP/1.1", "Host: x"))[0])
            self.assertIn(answers, ([404], [431], [414]), size)

    def test_metrics(self):
        self.server.get("/hello")
        text = self.server.get("/metrics")[2].decode()
        self.assertRegex(text, r'minari_hub_http_requests_total\{route="hello",method="GET",status="2xx"\} [1-9]')
        self.assertRegex(text, r'duration_seconds_bucket\{route="hello",le="\+Inf"\} [1-9]')
        self.assertIn("minari_hub_http_in_flight 1" if False else "minari_hub_http_requests_in_flight 1\n", text)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))


class Slow(unittest.TestCase):
    """Clients that keep a connection without getting on: each is ended, others are served meanwhile and after. The deadlines are
    seconds, as the machine may stand still for a while, and well below those that hold where none is set."""

    @classmethod
    def setUpClass(cls):
        cls.server = raw.Server(PROGRAM, "header_ms=1500", "body_ms=2000", "idle_ms=3500", "rate_ms=1500", "min_rate=1000",
                                "connections=64", "event_threads=2")

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def drip(self, sock, data, limit=9):
        """A byte each 0.1 s: seconds until the server ended it."""
        begin = time.monotonic()
        sock.settimeout(0.1)
        for i in range(int(limit * 10)):
            try:
                sock.sendall(data[i % len(data):i % len(data) + 1])
                if sock.recv(1000) == b"":
                    return time.monotonic() - begin
            except socket.timeout:
                pass
            except OSError:
                return time.monotonic() - begin
        return None

    def test_slow_header(self):
        with self.server.connect() as sock:
            took = self.drip(sock, b"GET /hello HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 100)
        self.assertIsNotNone(took)
        self.assertLess(took, 8)

    def test_silence_after_connecting(self):
        with self.server.connect() as sock:
            begin = time.monotonic()
            self.assertEqual(sock.recv(1), b"")
            self.assertLess(time.monotonic() - begin, 8)

    def test_idle_keep_alive(self):
        with self.server.connect() as sock:
            sock.sendall(HELLO)
            self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200"))
            time.sleep(1.7)  # longer than a header may take: it is the idle time that counts
            sock.sendall(HELLO)
            self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200"))
            self.assertEqual(sock.recv(1), b"")

    def test_slow_body(self):
        with self.server.connect() as sock:
            sock.sendall(request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 1000"))
            took = self.drip(sock, b"x" * 100)
        self.assertIsNotNone(took)
        self.assertLess(took, 8)

    def test_slow_reader(self):
        with self.server.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(request("GET /bytes/60000000 HTTP/1.1", "Host: x"))
            until(lambda: b"minari_hub_memory_budget_used_bytes 0\n" in self.server.get("/metrics")[2], 15)  # its memory is not held

    def test_a_steady_reader_is_left_alone(self):
        with self.server.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.sendall(request("GET /bytes/20000000 HTTP/1.1", "Host: x", "Connection: close"))
            got, begin = 0, time.monotonic()
            while True:
                piece = sock.recv(65536)
                if not piece:
                    break
                got += len(piece)
                if time.monotonic() - begin < 3:
                    time.sleep(0.02)  # it takes its time
            self.assertGreater(got, 20000000)

    def test_all_slots_taken_by_slow_headers(self):
        socks = [self.server.connect() for _ in range(64)]
        try:
            for sock in socks:
                sock.sendall(b"GET /hello HTTP/1.1\r\nHost:")
            begin = time.monotonic()
            # 503 while most of them are still there: the last connections are kept for probes
            while (answer := self.server.get("/hello"))[0] == 503:
                self.assertIn("retry-after", answer[1])
            self.assertEqual(answer[0], 200)
            self.assertLess(time.monotonic() - begin, 8)
        finally:
            for sock in socks:
                sock.close()


class HalfClosed(unittest.TestCase):
    """Clients that close their side behind the request (nc -N, HTTP/1.0 scripts, some proxies) get the whole answer and leave
    nothing behind."""

    settings = ("header_ms=300000", "idle_ms=300000")  # no deadline ends what is left behind

    def nothing_is_left(self, server):
        until(lambda: server.gauge("connections") <= 1)

    def test_a_flood_leaves_nothing_behind(self):
        server = raw.Server(PROGRAM, *self.settings)
        for i in range(6000):
            with server.connect() as sock:
                sock.sendall(HELLO)
                sock.shutdown(socket.SHUT_WR)
                answer = sock.recv(4096)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200"), (i, answer))
        self.nothing_is_left(server)
        self.assertEqual(server.stop(), 0)

    def test_incomplete_requests_too(self):
        server = raw.Server(PROGRAM, *self.settings)
        for part in (b"GET /hello HTTP/1.1\r\nHo", request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 9", body=b"half"), b""):
            for i in range(100):
                with server.connect() as sock:
                    sock.sendall(part)
                    sock.shutdown(socket.SHUT_WR)
        self.nothing_is_left(server)
        self.assertEqual(server.stop(), 0)

    def test_the_whole_answer_comes(self):
        server = raw.Server(PROGRAM, "workers=2", *self.settings)
        for line in ("HTTP/1.1", "HTTP/1.0"):
            for target, size in (("/hello", 6), ("/sleep/900", 6), ("/bytes/20000000", 20000000)):
                with self.subTest(target=target, line=line), server.connect() as sock:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                    sock.sendall(request(f"GET {target} {line}", "Host: x"))
                    sock.shutdown(socket.SHUT_WR)
                    data, begin = b"", time.monotonic()
                    while True:
                        piece = sock.recv(65536)
                        if not piece:
                            break
                        data += piece
                        if size > 6 and time.monotonic() - begin < 1.5:
                            time.sleep(0.02)  # a reader that takes its time
                    self.assertEqual(raw.parse(data)[0], 200)
                    self.assertEqual(len(raw.parse(data)[2]), size)
        self.nothing_is_left(server)
        self.assertEqual(server.stop(), 0)

    def test_the_end_of_an_answer_is_waited_for(self):
        """All of it lies in the kernel, which has longer to send than the idle deadline."""
        server = raw.Server(PROGRAM, "idle_ms=500", "rate_ms=5000")
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", server.port))
            sock.sendall(request("GET /bytes/100000 HTTP/1.1", "Host: x"))
            sock.shutdown(socket.SHUT_WR)
            time.sleep(1.2)  # longer than that deadline
            data, closed = raw.read_all(sock, quiet=3)
        self.assertEqual(len(raw.parse(data)[2]), 100000)
        self.assertEqual(server.stop(), 0)


class Crowded(unittest.TestCase):
    """From 90 % of the connections on, those that have been quiet for longest make room."""

    def test_silent_connections_do_not_lock_others_out(self):
        server = raw.Server(PROGRAM, "connections=64", "event_threads=2", "header_ms=60000")
        silent = [server.connect() for _ in range(200)]
        until(lambda: server.get("/hello")[0] == 200)
        for sock in silent:
            sock.close()
        self.assertEqual(server.stop(), 0)

    def test_the_longest_idle_goes_first(self):
        server = raw.Server(PROGRAM, "connections=40", "event_threads=1")
        socks = []
        for i in range(38):
            sock = server.connect()
            sock.sendall(HELLO)
            self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200"))
            socks.append(sock)
            time.sleep(0.01)  # each has been quiet for another time
        self.assertEqual(socks[0].recv(1), b"")  # ended
        socks[-1].sendall(HELLO)
        self.assertTrue(socks[-1].recv(4096).startswith(b"HTTP/1.1 200"))
        for sock in socks:
            sock.close()
        self.assertEqual(server.stop(), 0)

    def test_a_share_for_each_client(self):
        server = raw.Server(PROGRAM, "connections_per_client=5")
        socks = [server.connect() for _ in range(5)]
        for sock in socks:
            sock.sendall(HELLO)
            self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200"))
        with server.connect() as more:
            with self.assertRaises((ConnectionResetError, BrokenPipeError, AssertionError)):
                more.sendall(HELLO)
                self.assertTrue(more.recv(1))
        for sock in socks:
            sock.close()
        self.assertEqual(server.stop(), 0)


class Overload(unittest.TestCase):
    def test_the_queue_is_bounded_and_the_rest_is_told(self):
        server = raw.Server(PROGRAM, "workers=1", "queue=2")
        answers = []

        def ask():
            answers.append(server.get("/hold/1"))

        threads = [threading.Thread(target=ask) for _ in range(10)]
        for thread in threads:
            thread.start()
        until(lambda: server.gauge("overloads_total") >= 7)  # one runs, two wait
        self.assertEqual(server.get("/release")[0], 200)  # what needs no worker goes on
        for thread in threads:
            thread.join()
        codes = [a[0] for a in answers]
        self.assertIn(codes.count(200), (2, 3))  # two wait; the worker may have taken one before the queue filled
        self.assertEqual(codes.count(503), 10 - codes.count(200))
        refused = [a for a in answers if a[0] == 503]
        self.assertTrue(all(a[1]["retry-after"] == "1" and b"urn:minari-hub:overloaded" in a[2] for a in refused))
        self.assertIn(b"minari_hub_http_overloads_total %d\n" % len(refused), server.get("/metrics")[2])
        self.assertEqual(server.stop(), 0)

    def test_the_last_connections_are_for_saying_no(self):
        server = raw.Server(PROGRAM, "connections=32", "event_threads=1")
        held = [server.connect() for _ in range(30)]
        for sock in held:
            sock.sendall(b"GET /hello HTTP/1.1\r\n")
        until(lambda: server.get("/hello")[0] == 503)
        self.assertEqual(server.get("/readyz")[0], 200)
        for sock in held:
            sock.close()
        until(lambda: server.get("/hello")[0] == 200)
        self.assertEqual(server.stop(), 0)

    def test_budget(self):
        server = raw.Server(PROGRAM)
        self.assertEqual(server.get("/bytes/200000000")[0], 413)
        status, headers, body = server.get("/bytes/100000000", method="HEAD")
        self.assertEqual((status, headers["content-length"]), (200, "100000000"))
        until(lambda: b"minari_hub_memory_budget_used_bytes 0\n" in server.get("/metrics")[2])
        self.assertEqual(server.stop(), 0)


class Departure(unittest.TestCase):
    """Work for a client that is gone ends."""

    def setUp(self):
        self.server = raw.Server(PROGRAM, "workers=1", "grace_ms=300")

    def test_one_that_leaves(self):
        for reset in (False, True):
            done = self.server.executed()
            with self.server.connect() as sock:
                sock.sendall(request("GET /work/30000 HTTP/1.1", "Host: x"))
                self.server.wait_for("/executed", done + 1)
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.server.wait_for("/given-up", 1 + reset, 20)
        self.assertEqual(self.server.stop(), 0)

    def test_one_that_leaves_while_it_waits_is_not_begun(self):
        busy = [self.server.connect() for _ in range(2)]
        for sock in busy:
            sock.sendall(request("GET /hold/0 HTTP/1.1", "Host: x"))
        self.server.wait_for("/executed", 2)
        with self.server.connect() as sock:
            sock.sendall(request("GET /work/30000 HTTP/1.1", "Host: x"))
            until(lambda: self.server.gauge("queue_depth") == 1)
        time.sleep(4)  # it is believed gone after a second and a look at it; nothing tells when that was
        self.assertEqual(self.server.get("/release")[0], 200)
        for sock in busy:
            self.assertEqual(raw.parse(raw.read_all(sock)[0])[0], 200)
            sock.close()
        self.assertEqual(self.server.get("/sleep/1")[0], 200)
        self.assertEqual(self.server.executed(), 2)
        self.assertEqual(self.server.stop(), 0)

    def test_a_half_closed_connection_gets_a_short_answer(self):
        took = 1
        while took >= 1:  # else it was no short one: the machine stood still
            begin = time.monotonic()
            data, _ = self.server.exchange(request("GET /work/300 HTTP/1.1", "Host: x"), half_close=True)
            took = time.monotonic() - begin
        self.assertEqual(raw.parse(data)[0], 200)
        self.assertEqual(self.server.stop(), 0)

    def test_the_end_of_the_server_does_not_wait_for_long_work(self):
        with self.server.connect() as sock:
            sock.sendall(request("GET /work/30000 HTTP/1.1", "Host: x"))
            self.server.wait_for("/executed", 1)
            begin = time.monotonic()
            self.assertEqual(self.server.stop(), 0)
            self.assertLess(time.monotonic() - begin, 20)
            self.assertEqual(raw.parse(raw.read_all(sock)[0])[0], 503)


class Fairness(unittest.TestCase):
    def test_heavy_requests_of_one_client_do_not_hold_up_the_light_ones_of_another(self):
        server = raw.Server(PROGRAM, "workers=1")
        many = [server.connect(source="127.0.0.2") for _ in range(12)]
        for number, sock in enumerate(many):
            sock.sendall(request(f"GET /{'sleep/1000' if number else 'hold/1'} HTTP/1.1", "Host: x", "Connection: close"))
            if not number:
                server.wait_for("/executed", 1)
        until(lambda: server.gauge("queue_depth") == 11)
        self.assertEqual(server.get("/sleep/1")[0], 200)  # light: a thread is left to it
        with server.connect() as heavy:
            heavy.sendall(request("GET /sleep/101 HTTP/1.1", "Host: x", "Connection: close"))
            until(lambda: server.gauge("queue_depth") == 12)
            begin = time.monotonic()
            self.assertEqual(server.get("/release")[0], 200)
            self.assertEqual(raw.parse(raw.read_all(heavy)[0])[0], 200)
            self.assertLess(time.monotonic() - begin, 8)  # after one of the others', not after eleven
        for sock in many:
            sock.close()
        self.assertEqual(server.stop(), 0)


class Drain(unittest.TestCase):
    def test_in_order(self):
        server = raw.Server(PROGRAM, "workers=1", "grace_ms=3000")
        kept, last = [server.connect(), server.connect()], server.connect()
        answers = {}

        def ask(name, target):
            answers[name] = server.get(target)

        running = threading.Thread(target=ask, args=("running", "/hold/1"))
        running.start()
        server.wait_for("/executed", 1)
        waiting = [threading.Thread(target=ask, args=(f"waiting {i}", "/sleep/1000")) for i in range(3)]
        for thread in waiting:
            thread.start()
        until(lambda: server.gauge("queue_depth") == 3)
        server.process.send_signal(signal.SIGTERM)

        def is_told():
            """On a connection from before. An answer that was made at that very moment is the last on its connection as well."""
            kept[0].sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            status, headers, body = raw.parse(raw.read_all(kept[0], quiet=0.02)[0])
            if status == 200 and headers.get("connection") == "close":
                kept.pop(0).close()
            return status == 503 and headers["connection"] == "close" and b"urn:minari-hub:draining" in body

        def is_refused():
            try:
                server.connect().close()
            except OSError:
                return True

        until(is_told)
        until(is_refused)  # nobody new is taken
        for thread in waiting:
            thread.join()
        last.sendall(request("GET /release HTTP/1.1", "Host: x"))
        self.assertEqual(raw.parse(raw.read_all(last)[0])[0], 200)
        running.join()
        for sock in (*kept, last):
            sock.close()
        self.assertEqual(server.process.wait(timeout=PATIENCE), 0)
        server.process.stdout.close()
        self.assertEqual(answers["running"][0], 200)
        self.assertEqual([answers[f"waiting {i}"][0] for i in range(3)], [503] * 3)

    def test_rounds(self):
        """Whatever is going on when the signal comes: it ends by itself, in time, with 0 (libmicrohttpd would abort on a
        connection left suspended)."""
        folder = tempfile.mkdtemp(prefix="hub-http-")
        path = os.path.join(folder, "file.bin")
        with open(path, "wb") as out:
            out.truncate(9000000)
        for number in range(ROUNDS):
            server = raw.Server(PROGRAM, "workers=2", "queue=4", "grace_ms=%d" % (number % 4 * 30), file=path)
            socks = []
            for i in range(14):
                sock = server.connect()
                kind = (i + number) % 7
                sock.sendall([request("GET /sleep/40 HTTP/1.1", "Host: x"), HELLO, b"GET /hello HT",
                              request("POST /echo HTTP/1.1", "Host: x", "Content-Length: 9", body=b"half"),
                              request("GET /bytes/9000000 HTTP/1.1", "Host: x"),
                              request("GET /file HTTP/1.1", "Host: x"),
                              request("GET /sleep/5 HTTP/1.1", "Host: x") * 9][kind])
                socks.append(sock)
            time.sleep(number % 7 * 0.005)  # at another moment each time
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(timeout=PATIENCE), 0)
            server.process.stdout.close()
            for sock in socks:
                sock.close()
        shutil.rmtree(folder)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hub-http-")
        cls.path = os.path.join(cls.folder, "file.bin")
        cls.content = os.urandom(3 << 20) + b"end"
        with open(cls.path, "wb") as out:
            out.write(cls.content)
        cls.server = raw.Server(PROGRAM, file=cls.path)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0
        shutil.rmtree(cls.folder)

    def test_ranges(self):
        size = len(self.content)
        for header, first, last in (("bytes=0-0", 0, 0), ("bytes=5-70000", 5, 70000), ("bytes=-3", size - 3, size - 1),
                                    ("bytes=1000000-", 1000000, size - 1), (f"bytes=0-{1 << 20}", 0, 1 << 20),
                                    ("bytes=7-99999999999", 7, size - 1)):
            with self.subTest(header):
                status, headers, body = self.server.get("/file", f"Range: {header}\r\n")
                self.assertEqual((status, headers["content-range"]), (206, f"bytes {first}-{last}/{size}"))
                self.assertEqual(body, self.content[first:last + 1])

    def test_whole(self):
        status, headers, body = self.server.get("/file")
        self.assertEqual((status, body), (200, self.content))
        status, headers, body = self.server.get("/file", "Range: bytes=0-1,5-6\r\n")
        self.assertEqual((status, body), (200, self.content))
        status, headers, body = self.server.get("/file", method="HEAD")
        self.assertEqual((status, headers["content-length"], body), (200, str(len(self.content)), b""))

    def test_nothing_follows_the_header_of_a_head(self):
        """Another request waits behind it: what comes next is its answer, or the end where the length is not known."""
        for line in ("1.1", "1.0"):
            for target in ("/hello", "/small", "/json", "/bytes/0", "/bytes/70000", "/bytes/200000000", "/nope", "/datasets/x", "/query?limit=x",
                           "/failure", "/hello/", "/a%00", "/sleep/1", "/sleep/101", "/api/hello", "/made/0", "/made/3", "/made/51", "/echo"):
                self.head_and_another(line, target)
            for more in ("Range: bytes=0-9", "Range: bytes=100000-", "Range: bytes=999999999-", 'If-None-Match: "file-1"',
                         'If-Range: "other"', "Connection: keep-alive", "X-A: a"):
                self.head_and_another(line, "/file", more)

    def head_and_another(self, version, target, more="X-B: b"):
        with self.subTest(version=version, target=target, more=more), self.server.connect() as sock:
            sock.sendall(request(f"HEAD {target} HTTP/{version}", "Host: x", more) + request("GET /hello HTTP/1.1", "Host: x", "Connection: close"))
            data, closed = raw.read_all(sock, quiet=PATIENCE, answers=2, head=True)
            head, _, rest = data.partition(b"\r\n\r\n")
            self.assertTrue(closed and head.startswith(b"HTTP/1."), data)
            if rest:
                self.assertEqual(rest.count(b"HTTP/1."), 1, rest)
                self.assertTrue(rest.startswith(b"HTTP/1.1 200") and rest.endswith(b"\r\n\r\nhello\n"), rest)
            else:
                self.assertTrue(version == "1.0" or target.startswith("/made"), "the connection could go on")

    def test_bytes_that_take_their_time(self):
        """Longer than a machine that stands still makes a client believe that an answer is at its end."""
        order = os.path.join(self.folder, "order")
        with open(order, "w") as out:
            out.write("500 600 0")
        os.environ["HUB_LATE_FILE"] = order  # of the store whose bytes come late; another one does not look at it
        try:
            server = raw.Server(PROGRAM, file=self.path)
        finally:
            del os.environ["HUB_LATE_FILE"]
        self.assertEqual(server.get("/file", "Range: bytes=5-70000\r\n")[2], self.content[5:70001])
        self.assertEqual(server.get("/file")[2], self.content)
        self.assertEqual(server.stop(), 0)

    def test_one_that_was_changed_before_its_first_byte(self):
        """No answer that breaks off: nothing of it was sent yet."""
        status, headers, body = self.server.get("/changed")
        self.assertEqual((status, json.loads(body)["type"]), (503, "urn:minari-hub:dataset-changing"))
        self.assertIn("retry-after", headers)

    def test_unsatisfiable_and_unmodified(self):
        self.assertEqual(self.server.get("/file", "Range: bytes=999999999-\r\n")[0], 416)
        self.assertEqual(self.server.get("/file", 'If-None-Match: "file-1"\r\n')[0::2], (304, b""))
        self.assertEqual(self.server.get("/file", 'Range: bytes=0-0\r\nIf-Range: "other"\r\n')[0], 200)

    def test_cold_pages_are_read_by_a_worker(self):
        with open(self.path, "rb+") as file:
            os.fsync(file.fileno())
            for header, part in (("", self.content), ("Range: bytes=100-200\r\n", self.content[100:201])):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                self.assertEqual(self.server.get("/file", header)[2], part)

    def test_a_client_that_leaves(self):
        for _ in range(20):
            with self.server.connect() as sock:
                sock.sendall(request("GET /file HTTP/1.1", "Host: x"))
                sock.recv(1000)
        self.assertEqual(self.server.get("/file")[2], self.content)

    def test_a_file_that_changes_ends_the_connection_short(self):
        folder = tempfile.mkdtemp(prefix="hub-http-")
        path = os.path.join(folder, "file.bin")
        with open(path, "wb") as out:
            out.truncate(64 << 20)
        server = raw.Server(PROGRAM, file=path)
        with server.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.sendall(request("GET /file HTTP/1.1", "Host: x", "Connection: close"))
            got = len(sock.recv(65536))
            with open(path, "r+b") as out:
                out.write(b"changed")
            while True:
                try:
                    piece = sock.recv(1 << 20)
                except ConnectionResetError:
                    break
                if not piece:
                    break
                got += len(piece)
        self.assertLess(got, 64 << 20)
        self.assertEqual(server.stop(), 0)
        shutil.rmtree(folder)


def unchunk(data):
    """The body of an answer in chunks, and whether it ended as it should."""
    parts, at = [], data.index(b"\r\n\r\n") + 4
    while (end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:end], 16)
        if size == 0:
            return b"".join(parts), data[end:] == b"\r\n\r\n"
        parts.append(data[end + 2:end + 2 + size])
        at = end + 4 + size
    return b"".join(parts), False


class MadeBodies(unittest.TestCase):
    """Bodies that are made as they are sent: of no known length."""

    def setUp(self):
        self.server = raw.Server(PROGRAM)

    def tearDown(self):
        if self.server.process.poll() is None:
            self.assertEqual(self.server.stop(), 0)

    def ask(self, target, version="1.1", method="GET"):
        return self.server.exchange(request(f"{method} {target} HTTP/{version}", "Host: x", "Connection: close"), closes=True)[0]

    def test_whole(self):
        for n in 0, 1, 3, 40:
            expected = b"".join(b"%06d\n" % i for i in range(n * 10000))
            self.assertEqual(unchunk(self.ask(f"/made/{n}")), (expected, True))
            self.assertEqual(self.ask(f"/made/{n}", "1.0").split(b"\r\n\r\n", 1)[1], expected)
            for close in ("Connection: close",), ():  # no chunk follows, not even the last: the client would take it for its next answer
                head, _, rest = self.server.exchange(request(f"HEAD /made/{n} HTTP/1.1", "Host: x", *close))[0].partition(b"\r\n\r\n")
                self.assertTrue(head.startswith(b"HTTP/1.1 200"))
                self.assertEqual(rest, b"")

    def test_others_follow_on_the_connection(self):
        data = self.server.exchange(request("GET /made/2 HTTP/1.1", "Host: x") + HELLO * 3, answers=4)[0]
        self.assertEqual(data.count(b"hello\n"), 3)
        self.assertEqual(data.count(b"HTTP/1.1 200"), 4)

    def test_one_that_fails_half_way_is_not_ended(self):
        body, ended = unchunk(self.ask("/made/51"))
        self.assertEqual((body[:7], body[-7:], ended), (b"000000\n", b"499999\n", False))

    def test_a_client_that_leaves(self):
        for _ in range(20):
            with self.server.connect() as sock:
                sock.sendall(request("GET /made/49 HTTP/1.1", "Host: x"))
                sock.recv(1000)
        self.server.wait_for("/given-up", 20)

    def test_the_end_of_the_server(self):
        with self.server.connect() as sock:
            sock.sendall(request("GET /made/49 HTTP/1.1", "Host: x"))
            sock.recv(1000)
            begin = time.monotonic()
            self.assertEqual(self.server.stop(), 0)
            self.assertLess(time.monotonic() - begin, 30)


class LongBodies(MadeBodies):
    """Bodies that are made as they are sent, whose length is known: the next stretch is made while one is sent."""
    STRETCH = 12 << 20

    def test_whole(self):
        for n in 1, 3:
            head, _, body = self.ask(f"/long/{n}").partition(b"\r\n\r\n")
            self.assertIn(f"Content-Length: {n * self.STRETCH}".encode(), head)
            self.assertTrue(body == b"".join(b"%d" % i * self.STRETCH for i in range(n)))

    def test_others_follow_on_the_connection(self):
        data = self.server.exchange(request("GET /long/2 HTTP/1.1", "Host: x") + HELLO * 3, answers=4)[0]
        self.assertEqual(data.count(b"hello\n"), 3)

    def test_one_that_fails_half_way_is_not_ended(self):
        body = self.ask("/long/4").partition(b"\r\n\r\n")[2]
        self.assertTrue(body == b"".join(b"%d" % i * self.STRETCH for i in range(3)))

    def test_the_next_stretch_is_made_while_one_is_sent(self):
        with self.server.connect() as sock:
            sock.sendall(request("GET /long/3 HTTP/1.1", "Host: x"))
            sock.recv(1000)  # and no more: sockets hold less than a stretch
            self.server.wait_for("/executed", 2)

    def test_a_client_that_leaves(self):
        for _ in range(20):
            with self.server.connect() as sock:
                sock.sendall(request("GET /long/3 HTTP/1.1", "Host: x"))
                sock.recv(1000)
        self.server.wait_for("/given-up", 20)

    def test_memory_is_held_until_it_is_sent(self):
        def used(size):
            return b"minari_hub_memory_budget_used_bytes %d\n" % size in self.server.get("/metrics")[2]
        until(lambda: used(0))
        with self.server.connect() as sock:
            sock.sendall(request("GET /long/3 HTTP/1.1", "Host: x"))
            sock.recv(1000)
            self.assertTrue(used(2 * self.STRETCH))
        until(lambda: used(0))

    def test_the_end_of_the_server(self):
        with self.server.connect() as sock:
            sock.sendall(request("GET /long/3 HTTP/1.1", "Host: x"))
            sock.recv(1000)
            self.assertEqual(self.server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
