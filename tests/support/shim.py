"""The other side of shim.c: what a program does to files is counted, and at one of those moments it is ended or fails."""
import mmap
import os
import struct

BIN = os.environ.get("HUB_BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin"))
LIBRARY = os.path.join(BIN, "libhub_shim.so")
SEEN_AT, SEEN, WHERE, BELOW = 320, 1 << 20, 512, 512
NAMES = "FSRLUT"  # syncs and names: few; with W for writes there are many more, and M for folders


class Shim:
    """`prefix` before a command preloads it into the program of that name; what happens below a folder counts, or everything."""

    def __init__(self, folder, program, kinds=NAMES, below=""):
        self.path = os.path.join(folder, "shim")
        with open(self.path, "wb") as f:
            f.truncate(SEEN_AT + SEEN + WHERE + BELOW)
        with open(self.path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 0)
        self.map[24:40] = kinds.encode().ljust(16, b"\0")
        self.map[SEEN_AT + SEEN + WHERE:] = below.encode().ljust(BELOW, b"\0")
        self.prefix = ["env", "LD_PRELOAD=" + LIBRARY, "HUB_SHIM=" + self.path, "HUB_SHIM_IN=" + program,
                       "ASAN_OPTIONS=verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")]

    def at(self, moment, error=0, sticky=False):
        """At that moment from now, counted from 1, it is killed, or fails with an error."""
        struct.pack_into("=QQII", self.map, 0, 0, moment, error, sticky)
        struct.pack_into("=Q256s", self.map, 56, 0, b"")
        self.map[SEEN_AT:SEEN_AT + SEEN + WHERE] = b"\0" * (SEEN + WHERE)
        return self

    @property
    def count(self):
        return struct.unpack_from("=Q", self.map)[0]

    @property
    def seen(self):
        return self.map[SEEN_AT:SEEN_AT + min(self.count, SEEN)].decode()

    @property
    def where(self):
        """The file of the last moment at which something happened; empty: it has not come."""
        return self.map[SEEN_AT + SEEN:SEEN_AT + SEEN + WHERE].partition(b"\0")[0].decode(errors="replace")

    @property
    def unsynced(self):
        """What was not on the disk when the folder around it got its name: how many, and the first."""
        count, first = struct.unpack_from("=Q256s", self.map, 56)
        return count and (count, first.rstrip(b"\0").decode(errors="replace"))

    def clock(self, seconds):
        struct.pack_into("=q", self.map, 40, seconds)

    def device(self, more):
        struct.pack_into("=Q", self.map, 48, more)


def some(count, most):
    """At most so many of the moments 1 to `count`, evenly; 0: all."""
    step = max(1, -(-count // most)) if most else 1
    return range(count, 0, -step)[::-1]
