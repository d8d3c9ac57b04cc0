"""Faults of the place that bytes come from. Each function makes what an Upstream's `fault` takes, for the requests whose path holds
`part`; `data` is what the file truly is. A fault that happens a few times only is followed by the truth."""
import re
import time


def first(request):
    match = re.match(r"bytes=(\d+)-", request.headers.get("Range") or "")
    return int(match[1]) if match else 0


def of(part, fn):
    def fault(request, path):
        return fn(request, path) if part in path and request.command == "GET" else None
    return fault


def a_few(count, fn):
    """Only the first so many times."""
    left = [count]

    def some(request, path):
        if left[0] > 0:
            left[0] -= 1
            return fn(request, path)
    return some


def status(code, headers=()):
    return lambda request, path: request.json({"error": "told to"}, code, headers)


def cut(data, size, headers=()):
    """Every answer breaks off after so many bytes."""
    def fault(request, path):
        at = first(request)
        if len(data) - at > size:
            part = {"Content-Range": f"bytes {at}-{len(data) - 1}/{len(data)}"} if at else {}
            return request.cut(206 if at else 200, {"Content-Length": str(len(data) - at), **part, **dict(headers)}, data[at:at + size])
    return fault


def then(*faults):
    """One after the other, the last for good; None is the truth."""
    calls = iter(faults)
    state = [next(calls)]

    def fault(request, path):
        now = state[0]
        state[0] = next(calls, state[0])
        return now and now(request, path)
    return fault


def wrong_bytes(data):
    return lambda request, path: request.bytes(bytes([data[0] ^ 1]) + data[1:])


def wrong_range(data):
    """Another part than was asked for, and said so."""
    def fault(request, path):
        at = first(request) + 1
        return request.answer(206, data[at:], {"Content-Range": f"bytes {at}-{len(data) - 1}/{len(data)}"})
    return fault


def whole(data):
    """200, whatever range is asked for."""
    return lambda request, path: request.answer(200, data)


def longer(data):
    return lambda request, path: request.answer(200, data + b"more")


def shorter(data):
    """A clean end that comes too early, without a length."""
    return lambda request, path: request.cut(200, {"Connection": "close"}, data[:len(data) // 2])


def stall(data, seconds):
    def fault(request, path):
        request.send_response(200)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        request.wfile.write(data[:1000])
        request.wfile.flush()
        time.sleep(seconds)
        request.close_connection = True
        return True
    return fault


def gate(data, at, event):
    """What is asked for, but beyond the byte `at` only once the event is set."""
    def fault(request, path):
        match = re.match(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
        begin, end = (int(match[1]), int(match[2]) + 1) if match else (0, len(data))
        request.send_response(206 if match else 200)
        request.send_header("Content-Length", str(end - begin))
        if match:
            request.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        request.end_headers()
        middle = max(begin, min(at, end))
        request.wfile.write(data[begin:middle])
        request.wfile.flush()
        if middle < end:
            event.wait(60)
            request.wfile.write(data[middle:end])
        return True
    return fault


def slow(data, per_s, event, sent=None):
    """What is asked for, at so many bytes a second until the event is set; `sent` is told each piece that was."""
    def fault(request, path):
        match = re.match(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
        begin, end = (int(match[1]), int(match[2]) + 1) if match else (0, len(data))
        request.send_response(206 if match else 200)
        request.send_header("Content-Length", str(end - begin))
        if match:
            request.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        request.end_headers()
        step = per_s // 20
        for at in range(begin, end, step):
            request.wfile.write(data[at:min(at + step, end)])
            if sent:
                sent(at, min(at + step, end))
            event.wait(0.05)
        return True
    return fault


def drip(data, seconds):
    """A byte now and then: never quite still."""
    def fault(request, path):
        request.send_response(200)
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        for i in range(seconds * 10):
            request.wfile.write(data[i:i + 1])
            request.wfile.flush()
            time.sleep(0.1)
        request.close_connection = True
        return True
    return fault


def endless(seconds=20):
    """A body that does not end by itself."""
    def fault(request, path):
        request.send_response(200)
        request.send_header("Connection", "close")
        request.end_headers()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            request.wfile.write(b" " * 262144)
        request.close_connection = True
        return True
    return fault


def said_to_be_gzip(data):
    return lambda request, path: request.bytes(data, {"Content-Encoding": "gzip"})


def redirect(to):
    return lambda request, path: request.answer(302, headers={"Location": to(request) if callable(to) else to})
