"""Videos whose frames carry their number as black and white squares: twelve bits, lowest first, in rows of four."""
import os
import struct

os.environ["SVT_LOG"] = "1"
import av
import numpy as np

SQUARE = 16
SIZE = (4 * SQUARE, 3 * SQUARE)  # width, height


def picture(number):
    a = np.empty((SIZE[1], SIZE[0], 3), np.uint8)
    for bit in range(12):
        y, x = divmod(bit, 4)
        a[y * SQUARE:(y + 1) * SQUARE, x * SQUARE:(x + 1) * SQUARE] = 255 * (number >> bit & 1)
    return a


def number_of(gray):
    """Of a decoded picture: the number that its squares say."""
    return sum(int(gray[y * SQUARE + 8, x * SQUARE + 8] > gray.max() / 2) << (4 * y + x) for y in range(3) for x in range(4))


CODECS = {  # name: encoder, its options, pixel format
    "h264": ("libx264", {"bf": "3", "g": "25", "crf": "20", "threads": "1"}, "yuv420p"),
    "h264-lerobot": ("libx264", {"g": "2", "threads": "1"}, "yuv420p"),
    "h264-refresh": ("libx264", {"x264-params": "keyint=20:intra-refresh=1:bframes=0:threads=1", "crf": "20"}, "yuv420p"),
    "h264-open": ("libx264", {"x264-params": "keyint=20:open-gop=1:bframes=3:scenecut=0:threads=1", "crf": "20"}, "yuv420p"),
    "mpeg1": ("mpeg1video", {"g": "12", "bf": "2"}, "yuv420p"),
    "hevc": ("libx265", {"x265-params": "log-level=none:keyint=30:open-gop=1:bframes=4:pools=1"}, "yuv420p"),
    "hevc-depth": ("libx265", {"x265-params": "log-level=none:lossless=1:keyint=2:pools=1"}, "gray12le"),
    "av1": ("libsvtav1", {"preset": "12", "g": "2", "crf": "30"}, "yuv420p"),
    "av1-long": ("libsvtav1", {"preset": "12", "g": "32", "crf": "30"}, "yuv420p"),
    "vp9": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "g": "30"}, "yuv420p"),
    "mpeg4": ("mpeg4", {"g": "12", "bf": "2"}, "yuv420p"),
}


def write(path, codec, count, *, first=0, rate=30, flags=""):
    """`flags`: those of the muxer, "faststart" or "frag_keyframe+empty_moov"; without them the index stands at the end."""
    encoder, options, pixels = CODECS[codec]
    av.logging.set_level(av.logging.PANIC)
    with av.open(path, "w", format="mp4", options={"movflags": flags} if flags else {}) as out:
        stream = out.add_stream(encoder, rate=rate, options=options)
        stream.width, stream.height = SIZE
        stream.pix_fmt = pixels
        for i in range(count):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(picture(first + i), format="rgb24")))
        out.mux(stream.encode(None))


def write_noise(path, count, size=(640, 480)):
    """Frames that no codec makes small, each a key frame's or its follower's: some 400 KB each."""
    av.logging.set_level(av.logging.PANIC)
    random = np.random.default_rng(7)
    with av.open(path, "w", format="mp4") as out:
        stream = out.add_stream("libx264", rate=30, options={"preset": "ultrafast", "qp": "0", "g": "4", "threads": "1"})
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for _ in range(count):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(random.integers(0, 256, (size[1] * 3 // 2, size[0]), np.uint8), format="yuv420p")))
        out.mux(stream.encode(None))


def boxes(data, begin, end):
    while begin < end:
        size, kind = struct.unpack(">I4s", data[begin:begin + 8])
        yield kind, begin, begin + size
        begin += size


def widen(path):
    """With co64 instead of stco. The index must stand at the end."""
    data = open(path, "rb").read()

    def rewrite(begin, end):
        out = b""
        for kind, first, last in boxes(data, begin, end):
            body = data[first + 8:last]
            if kind == b"stco":
                count = struct.unpack(">I", body[4:8])[0]
                kind, body = b"co64", body[:8] + struct.pack(f">{count}Q", *struct.unpack(f">{count}I", body[8:]))
            elif kind in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
                body = rewrite(first + 8, last)
            out += struct.pack(">I4s", 8 + len(body), kind) + body
        return out

    moov = [b for b in boxes(data, 0, len(data))][-1]
    assert moov[0] == b"moov"
    open(path, "wb").write(data[:moov[1]] + rewrite(moov[1], moov[2]))


def append(path, parts):
    """The files one behind the other, as they are: how LeRobot joins the videos of episodes."""
    with av.open(path, "w", format="mp4", options={"movflags": "faststart"}) as out:
        stream, begin = None, 0
        for part in parts:
            with av.open(part) as source:
                track = source.streams.video[0]
                stream = stream or out.add_stream_from_template(track, opaque=True)
                for packet in source.demux(track):
                    if packet.dts is None:
                        continue
                    packet.pts += begin
                    packet.dts += begin
                    packet.stream = stream
                    out.mux(packet)
                begin += track.duration


def visible(plane, depth):
    """Without what pads its lines."""
    lines = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[:plane.height]
    return lines[:, :plane.width * ((depth + 7) // 8)].tobytes()


def frames(source):
    """Every frame that is shown, as its decoded bytes, and its time."""
    with av.open(source) as f:
        return [(b"".join(visible(p, frame.format.components[0].bits) for p in frame.planes), frame.pts, number_of(frame.to_ndarray(format="gray"))) for frame in f.decode(video=0)]
