"""HDF5's checksums of metadata: each block of an index, a header or a heap is damaged in turn. What it covers is told by name, and all
else reads as before."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from hub import BIN, FIXTURES

ONE_FIELD = {b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB"}  # indexes of the chunks of one dataset
KINDS = ONE_FIELD | {b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHDB"}


def inspect(folder):
    run = subprocess.run([os.path.join(BIN, "minari-inspect"), "--json", folder], capture_output=True, timeout=60)
    assert run.returncode in (0, 8), run
    [found] = json.loads(run.stdout)["datasets"]
    return found


def readable(found):
    return {f["path"]: f for f in found.get("fields", []) if "unreadable" not in f}


@pytest.mark.parametrize("name", ["layout-hdf5-2-v0", "groups-dense-v0", "chunks-arrays-v0"])
def test_damage_is_told_where_it_is(name, tmp_path):
    folder = str(tmp_path / name)
    shutil.copytree(os.path.join(FIXTURES, "hdf5", name), folder)
    path = os.path.join(folder, "data", "main_data.hdf5")
    with open(path, "rb") as f:
        whole = f.read()
    before = inspect(folder)
    seen, kept = collections.Counter(), collections.Counter()
    for found in re.finditer(b"|".join(sorted(KINDS)), whole):
        kind, at = found[0], found.start() + 7
        if seen[kind] >= 3:
            continue
        with open(path, "wb") as f:
            f.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        after = inspect(folder)
        said = json.dumps(after)
        if said == json.dumps(before):
            continue  # nothing that is read: the order of links, say
        seen[kind] += 1
        lost = [p for p, f in readable(before).items() if readable(after).get(p) != f]
        kept[kind] += len(lost) < len(readable(before))
        assert "the checksum of the" in said, (kind, at, said)
        if kind in ONE_FIELD:
            assert len(lost) == 1, (kind, at, lost)
            assert "checksum of the chunk index" in said, (kind, at, said)
    print(name, seen, kept)
    assert all(kept[kind] for kind in seen), (seen, kept)  # none of them always costs all fields
