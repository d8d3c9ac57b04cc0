"""Upstreams for tests of remotes: what the stand-ins of Google Cloud Storage and Hugging Face share. Standard library only.

`server.fault`, if set, is called with (request, path) first: it returns a true value when it answered itself. Everything asked for is
kept in `server.requests` as (method, path with query, headers).
"""
import json
import re
import socket
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=(), type="application/octet-stream"):
        self.send_response(status)
        for name, value in {"Content-Type": type, "Content-Length": str(len(body)), **dict(headers)}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        return True

    def json(self, value, status=200, headers=()):
        return self.answer(status, json.dumps(value).encode(), headers, "application/json; charset=UTF-8")

    def bytes(self, data, headers=()):
        """A body, whole or the range that is asked for."""
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if not match:
            return self.answer(200, data, headers)
        first, last = int(match[1]), min(int(match[2] or len(data) - 1), len(data) - 1)
        if first >= len(data):
            return self.answer(416, headers={**dict(headers), "Content-Range": f"bytes */{len(data)}"})
        return self.answer(206, data[first:last + 1], {**dict(headers), "Content-Range": f"bytes {first}-{last}/{len(data)}"})

    def cut(self, status, headers, body):
        """Send a head that may promise more than comes, then hang up."""
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True
        return True

    def do_HEAD(self):
        self.do_GET()

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def do_GET(self):
        up = self.server.upstream
        with up.lock:
            up.requests.append((self.command, self.path, dict(self.headers.items())))
        path, _, query = self.path.partition("?")
        try:
            if up.fault and up.fault(self, urllib.parse.unquote(self.path)):
                return
            up.route(self, path, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # clients may leave at any time
            super().handle_error(request, address)


class Upstream:
    def __init__(self, host="127.0.0.1"):
        self.fault, self.requests, self.lock = None, [], threading.Lock()
        self.server = Server((host, 0), Request)
        self.server.upstream = self
        self.port = self.server.server_address[1]
        self.url = f"http://{host}:{self.port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()

    def seen(self, pattern):
        """The requests whose path with query matches."""
        return [r for r in list(self.requests) if re.search(pattern, r[1])]

    def tokens(self):
        return {r[2].get("Authorization") for r in list(self.requests)}
