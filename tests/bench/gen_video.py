"""A house of MolmoSpaces with a video of 500 MiB: 16,000 frames of 32 KiB, a key frame every 250. Its frames are noise: nothing here decodes
them.  usage: gen_video.py DIR"""
import os
import random
import shutil
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FRAMES, SIZE, GROUP = 16000, 32768, 250


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", len(body) + 8, kind) + body


def full(kind, *parts, flags=0):
    return box(kind, struct.pack(">I", flags), *parts)


def numbers(*values):
    return struct.pack(f">{len(values)}I", *values)


def index(first):
    entry = box(b"avc1", bytes(6), b"\0\1", bytes(16), struct.pack(">HH", 640, 480), bytes(50), box(b"avcC", bytes.fromhex("0164001fffe1000067640000")))
    tables = box(b"stbl", full(b"stsd", numbers(1), entry), full(b"stts", numbers(1, FRAMES, 512)), full(b"stsc", numbers(1, 1, FRAMES, 1)),
                 full(b"stsz", numbers(0, FRAMES), numbers(*[SIZE] * FRAMES)), full(b"stco", numbers(1, first)),
                 full(b"stss", numbers(FRAMES // GROUP), numbers(*range(1, FRAMES + 1, GROUP))))
    media = box(b"mdia", full(b"mdhd", numbers(0, 0, 15360, FRAMES * 512, 0)), full(b"hdlr", bytes(4), b"vide", bytes(13)),
                box(b"minf", box(b"dinf", full(b"dref", numbers(1), full(b"url ", flags=1))), tables))
    matrix = numbers(1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
    track = box(b"trak", full(b"tkhd", numbers(0, 0, 1, 0, FRAMES), bytes(16), matrix, numbers(640 << 16, 480 << 16), flags=3), media)
    return box(b"moov", full(b"mvhd", numbers(0, 0, 30, FRAMES, 1 << 16, 1 << 24, 0, 0), matrix, bytes(24), numbers(2)), track)


to = os.path.join(os.path.abspath(sys.argv[1]), "film")
shutil.copytree(os.path.join(HERE, "../fixtures/molmospaces/house"), to, dirs_exist_ok=True)
noise = random.Random(1).randbytes(SIZE)
with open(os.path.join(to, "episode_00000000_wrist_camera_batch_1_of_1.mp4"), "wb") as f:
    head = box(b"ftyp", b"isom\0\0\2\0isomavc1")
    f.write(head + struct.pack(">I4s", FRAMES * SIZE + 8, b"mdat"))
    for _ in range(FRAMES):
        f.write(noise)
    f.write(index(len(head) + 8))
open(os.path.join(sys.argv[1], "ready"), "w").close()
