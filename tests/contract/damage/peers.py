"""How plain h5py fares on the same mutations: peers.py DAMAGE INSPECT FOLDER [--mutations N] [--seed S]

DAMAGE --write makes the mutated HDF5 files; each is opened and read whole by h5py in a process of its own, which may crash.
For the closing note, not a test. Needs h5py.
"""
import argparse
import collections
import os
import resource
import signal
import subprocess
import sys
import tempfile

SECONDS = 20


def read_all(path):
    """Everything a reader of the file would look at: every attribute, every dataset in full."""
    import h5py

    failed = 0

    def visit(name, object):
        nonlocal failed
        try:
            for key in object.attrs:
                object.attrs[key]
            if isinstance(object, h5py.Dataset) and object.size is not None and object.size < 10**7:
                object[()]
        except Exception:
            failed += 1

    try:
        with h5py.File(path, "r") as f:
            f.visititems(visit)
    except Exception:
        return 2
    return 1 if failed else 0


def in_child(path):
    """ok, fields failed, refused, or the signal that ended the child."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        os.dup2(devnull, 2)
        os._exit(read_all(path))
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return {0: "read whole", 1: "some objects failed", 2: "file refused"}.get(os.WEXITSTATUS(status), "exit")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("damage")
    p.add_argument("inspect")
    p.add_argument("folders", nargs="+")
    p.add_argument("--mutations", default="200")
    p.add_argument("--seed", default="1")
    args = p.parse_args()
    import h5py  # once, before all forks

    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="hub-peers-") as folder:
        subprocess.run([args.damage, args.inspect, *args.folders, "--mutations", args.mutations, "--seed", args.seed, "--write", folder],
                       check=True, stdout=subprocess.DEVNULL)
        for name in sorted(os.listdir(folder)):
            if name.endswith(".hdf5"):
                counts[in_child(os.path.join(folder, name))] += 1
    total = sum(counts.values())
    print(f"h5py {h5py.__version__}, HDF5 {h5py.version.hdf5_version}: {total} mutated files")
    for outcome, n in counts.most_common():
        print(f"  {outcome}: {n} ({100 * n / total:.1f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
