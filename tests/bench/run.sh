#!/bin/sh
# Compare minari-hub with its peers on this machine: sh tests/bench/run.sh [--yes] [--runs N] [--only WORD] [--data DIR]
# Alternated runs on loopback; medians with spread; server CPU per request first. Takes about 25 minutes and 6 GB of disk.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here"
yes=no
if [ "${1:-}" = --yes ]; then
    yes=yes
    shift
fi
. tests/support/install.sh
PACKAGES_BUILD=$(sed -n 's/^PACKAGES_BUILD="\(.*\)"$/\1/p' server/run.sh)
install_packages "$yes" $PACKAGES_BUILD nginx-light rclone wrk python3-venv
venv=build/bench-venv
if [ ! -x $venv/bin/gunicorn ]; then
    /usr/bin/python3 -m venv $venv
    $venv/bin/pip install -q --disable-pip-version-check aiohttp flask google-crc32c gunicorn h5py huggingface_hub==1.33.0 'minari[gcs,hdf5]==0.5.3' numpy pyarrow
fi
olah=build/bench-olah # it excludes the clients' versions of what it uses itself
if [ ! -x $olah/bin/olah-cli ]; then
    /usr/bin/python3 -m venv $olah
    $olah/bin/pip install -q --disable-pip-version-check olah==0.5.4 || echo "olah cannot be installed: nothing will be compared with it" >&2
fi
cmake --preset release -DHUB_TESTS=ON >/dev/null # for micro_gather
cmake --build --preset release >/dev/null
exec $venv/bin/python tests/bench/bench.py "$@"
