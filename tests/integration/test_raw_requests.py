"""What the HTTP floor does with requests that two parsers could read differently, with slow clients, with too many of them,
and when it is told to stop. Run by ctest: test_raw_requests.py HTTP_SERVER"""
import os
import signal
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import raw  # noqa: E402

PROGRAM = sys.argv.pop(1)
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
                data, closed = self.server.exchange(sent + HELLO if name not in self.keeps_open else sent)
                expected = self.by_the_library.get(name, [400])
                self.assertEqual(raw.statuses(data), expected, data)
                if name not in self.keeps_open:
                    self.assertTrue(closed, "the connection stays open")
                self.assertEqual(self.server.executed(), before)

    # Not seen by the guard, or harmless: one request each, whatever the library makes of the rest.
    accepted = {
        "bare LF line ends": b"GET /hello HTTP/1.1\nHost: x\n\n",
        "HTTP/1.9": request("GET /hello HTTP/1.9", "Host: x"),
        "empty header name": request("GET /hello HTTP/1.1", "Host: x", ": a"),
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

    # The library cuts these before we can see them (nginx in front refuses them): at least nothing runs twice.
    unseen = {
        "NUL in the target": request(b"GET /hello\x00x HTTP/1.1", "Host: x"),
        "NUL in a value": request("GET /hello HTTP/1.1", "Host: x", b"X-A: a\x00b"),
    }

    def test_unseen(self):
        for name, sent in self.unseen.items():
            with self.subTest(name):
                before = self.server.executed()
                data, _ = self.server.exchange(sent, half_close=True)
                self.assertLessEqual(self.server.executed(), before + 1, data)

    def test_dot_segments(self):
        for target in ("/hello/..", "/../hello", "/./hello", "/%2e%2e/hello", "/hello%2F..%2Fx", "//hello", "/hello/", "/a%5Cb",
                       "/a\\b", "/%zz", "/%4", "/%ff", "/%C0%AF", "/a%0Ab", "/%ED%A0%80"):
            with self.subTest(target):
                self.assertEqual(self.server.get(target)[0], 400)


if __name__ == "__main__":
    unittest.main()
