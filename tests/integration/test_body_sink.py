"""Bodies that are taken as they come: none lies in memory, a slow sink makes its client wait, and what is refused is refused before
or while it comes. Run by ctest: test_body_sink.py HTTP_SERVER"""
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import raw  # noqa: E402
from hub import until  # noqa: E402

PROGRAM = sys.argv.pop(1)
MIB = 1 << 20


def crc32c(data):
    table = []
    for i in range(256):
        c = i
        for _ in range(8):
            c = c >> 1 ^ 0x82F63B78 * (c & 1)
        table.append(c)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def head(n, *lines):
    return "\r\n".join([f"POST /sink/{n} HTTP/1.1", "Host: x", *lines, "", ""]).encode()


def answer_of(sock):
    data, _ = raw.read_all(sock, 20)
    return raw.parse(data)


class Sinks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = raw.Server(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def tearDown(self):
        self.server.wait_for("/sinks", 0)

    def send(self, n, body, piece=64 << 10):
        with self.server.connect() as sock:
            sock.sendall(head(n, f"Content-Length: {len(body)}", "Connection: close"))
            for at in range(0, len(body), piece):
                sock.sendall(body[at:at + piece])
            return answer_of(sock)

    def test_sizes(self):
        for size in (0, 1, 1000, MIB - 1, MIB, MIB + 1, 3 * MIB, 5 * MIB + 17):
            body = os.urandom(min(size, 1000)) * (size // 1000) + b"z" * (size % 1000) if size > 1000 else b"q" * size
            status, _, text = self.send(0, body)
            self.assertEqual((status, int(text.split()[0])), (200, len(body)))
            if size <= 1000:
                self.assertEqual(int(text.split()[1], 16), crc32c(body) if size else 0)

    def test_bytes_are_the_same(self):
        body = os.urandom(200_000)
        for piece in (1 << 20, 1000, 17_001):
            status, _, text = self.send(0, body, piece)
            self.assertEqual((status, int(text.split()[1], 16)), (200, crc32c(body)))

    def test_chunked(self):
        body = os.urandom(3000)
        with self.server.connect() as sock:
            sock.sendall(head(0, "Transfer-Encoding: chunked", "Connection: close"))
            for at in range(0, 3000, 700):
                part = body[at:at + 700]
                sock.sendall(b"%x\r\n%s\r\n" % (len(part), part))
            sock.sendall(b"0\r\n\r\n")
            status, _, text = answer_of(sock)
        self.assertEqual((status, text.split()), (200, [b"3000", b"%08x" % crc32c(body)]))

    def test_small_chunks(self):
        """Of which the library hands out many at once, also while a worker takes a block."""
        body = os.urandom(1000) * 4500
        raw_body = b"".join(b"3e8\r\n%s\r\n" % body[at:at + 1000] for at in range(0, len(body), 1000)) + b"0\r\n\r\n"
        for n in (0, 3):
            with self.server.connect() as sock:
                sock.sendall(head(n, "Transfer-Encoding: chunked", "Connection: close") + raw_body)
                status, _, text = answer_of(sock)
            self.assertEqual((status, text.split()[0]), (200, b"%d" % len(body)))
            self.assertEqual(text, self.send(0, body)[2], "the same bytes")

    def test_the_next_request_of_a_connection(self):
        body = b"x" * (2 * MIB + 5)
        with self.server.connect() as sock:
            for _ in range(3):
                sock.sendall(head(0, f"Content-Length: {len(body)}") + body)
                data, closed = raw.read_all(sock, 0.3)
                self.assertFalse(closed)
                self.assertEqual((raw.parse(data)[0], raw.parse(data)[2].split()[0]), (200, b"%d" % len(body)))

    def test_expect(self):
        """100 Continue is sent once the sink is open, and never to who is refused."""
        with self.server.connect() as sock:
            sock.sendall(head(0, "Content-Length: 5", "Expect: 100-continue", "Connection: close"))
            self.assertTrue(sock.recv(100).startswith(b"HTTP/1.1 100 "))
            sock.sendall(b"hello")
            self.assertEqual(answer_of(sock)[0], 200)
        for n, size, status in ((403, 5, 403), (0, 2 << 30, 413)):
            with self.server.connect() as sock:
                sock.sendall(head(n, f"Content-Length: {size}", "Expect: 100-continue"))
                data, closed = raw.read_all(sock, 20)
                self.assertTrue(data.startswith(b"HTTP/1.1 %d " % status) and closed, data[:200])

    def test_refused_while_it_comes(self):
        """The answer is there before the body ends, with its reason; the connection is closed behind it."""
        with self.server.connect() as sock:
            sock.sendall(head(13, f"Content-Length: {64 * MIB}"))
            sock.settimeout(0.05)
            sent, data = 0, b""
            while not data and sent < 64 * MIB:
                sock.settimeout(5)
                sock.sendall(b"x" * 65536)
                sent += 65536
                sock.settimeout(0.001)
                try:
                    data = sock.recv(65536)
                except socket.timeout:
                    pass
            self.assertLess(sent, 32 * MIB)
            self.assertTrue(data.startswith(b"HTTP/1.1 507 ") and b"planted" in data and b"Connection: close" in data, data[:300])

    def test_who_reads_late(self):
        """Who sends all of a body before it reads finds the refusal of its beginning."""
        for size in (5, 3 * MIB):
            status, _, text = self.send(403, b"x" * size)
            self.assertEqual((status, b"not here" in text), (403, True))

    def test_curl_reads_a_refusal(self):
        with tempfile.TemporaryFile() as body:
            body.truncate(64 * MIB)
            done = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST", "-T", "-", "-H", f"Content-Length: {64 * MIB}", "-H", "Transfer-Encoding:",
                                   f"http://127.0.0.1:{self.server.port}/sink/13"], stdin=body, capture_output=True, text=True)
        self.assertEqual(done.stdout, "507", done.stderr)

    def test_memory(self):
        """A slow sink makes its client wait: of 96 MiB only a block lies in memory."""
        status = f"/proc/{self.server.process.pid}/status"

        def rss():
            with open(status) as f:
                return next(int(line.split()[1]) for line in f if line.startswith("RssAnon")) << 10

        self.send(0, b"x" * (4 * MIB))
        before, peak = rss(), 0
        with self.server.connect() as sock:
            sock.sendall(head(2, f"Content-Length: {96 * MIB}", "Connection: close"))
            for _ in range(96):
                sock.sendall(b"y" * MIB)
                peak = max(peak, rss())
            self.assertEqual(answer_of(sock)[2].split()[0], b"%d" % (96 * MIB))
        self.assertLess(peak - before, 16 * MIB)

    def test_who_leaves(self):
        """The sink has all that came by then, and is freed."""
        for size in (100, 3 * MIB + 100):
            before = int(self.server.get("/taken")[2])
            sock = self.server.connect()
            sock.sendall(head(20, f"Content-Length: {16 * MIB}") + b"x" * size)
            self.server.wait_for("/sinks", 1)
            sock.close()
            self.server.wait_for("/sinks", 0)
            self.assertEqual(int(self.server.get("/taken")[2]) - before, size)

    def test_others_are_answered(self):
        """Beside slow sinks, as each keeps a worker only while it takes a block."""
        socks = [self.server.connect() for _ in range(8)]
        for sock in socks:
            sock.sendall(head(0, f"Content-Length: {16 * MIB}") + b"x" * (MIB + 10))
        self.assertEqual(self.server.get("/sleep/1")[0], 200)
        for sock in socks:
            sock.close()


class Rates(unittest.TestCase):
    """A body may take as long as its bytes keep coming; there is no other clock."""

    def test_a_floor_of_bytes(self):
        server = raw.Server(PROGRAM, "body_ms=300", "rate_ms=400", "min_rate=2000")
        try:
            with server.connect() as sock:
                sock.sendall(head(0, "Content-Length: 6000", "Connection: close"))
                for _ in range(12):
                    sock.sendall(b"x" * 500)
                    time.sleep(0.1)
                self.assertEqual(answer_of(sock)[0], 200, "longer than body_ms")
            with server.connect() as sock:
                sock.sendall(head(0, "Content-Length: 6000"))
                begun = time.monotonic()
                with self.assertRaises(OSError):
                    while time.monotonic() < begun + 20:
                        sock.sendall(b"x")
                        time.sleep(0.1)
            until(lambda: int(server.get("/sinks")[2]) == 0)
        finally:
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
