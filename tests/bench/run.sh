#!/bin/sh
# Compare minari-hub with its peers on this machine: sh tests/bench/run.sh [--yes] [--runs N] [--only WORD,...] [--data DIR]
# Alternated runs on loopback; medians with spread; server CPU per request first. Takes about 25 minutes and 6 GB of disk.
# Compare two builds of it: sh tests/bench/run.sh [--yes] --compare OLD NEW [--only WORD] [--rounds N] [--data DIR]
# Takes about 15 minutes beside building them. Shows the packages it would install and asks first; --yes does not ask.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
program=bench.py
yes=no
while :; do
    case ${1:-} in
    --yes) yes=yes ;;
    --compare) program=compare.py ;;
    *) break ;;
    esac
    shift
done
. "$here/tests/support/install.sh"
PACKAGES_BUILD=$(sed -n 's/^PACKAGES_BUILD="\(.*\)"$/\1/p' "$here/server/run.sh")
peers=
[ $program = compare.py ] || peers="nginx-light openssl"
# shellcheck disable=SC2086
install_packages "$yes" $PACKAGES_BUILD curl git python3-venv wrk $peers
PATH=$PATH:/usr/sbin # nginx is there, which is not in everybody's PATH
programs="cc cmake curl git pkg-config wrk"
[ $program = compare.py ] || programs="$programs nginx openssl"
for name in $programs; do
    command -v "$name" >/dev/null || {
        say "NOT INSTALLED: $name, though its package is"
        exit 1
    }
done

venv=$here/build/bench-venv
python=$venv/bin/python
pip() { # FOLDER PACKAGE...: into a virtual environment
    folder=$1
    shift
    [ -x "$folder/bin/pip" ] || /usr/bin/python3 -m venv "$folder"
    "$folder/bin/pip" install -q --disable-pip-version-check "$@"
}
imports() { # MODULE...
    [ -x "$python" ] && "$python" -c 'import importlib, sys; [importlib.import_module(m) for m in sys.argv[1:]]' "$@" 2>/dev/null
}
imports h5py numpy pyarrow || pip "$venv" h5py numpy pyarrow || {
    say "NO DATA CAN BE MADE: h5py, numpy or pyarrow cannot be installed in $venv"
    exit 1
}
[ $program = bench.py ] || exec "$python" "$here/tests/bench/compare.py" "$@"

cd "$here"
imports aiohttp flask google_crc32c gunicorn || pip "$venv" aiohttp flask google-crc32c gunicorn || {
    say "NO PEERS: aiohttp, Flask or gunicorn cannot be installed in $venv"
    exit 1
}
imports google.cloud.storage huggingface_hub minari || pip "$venv" huggingface_hub==1.33.0 'minari[gcs,hdf5]==0.5.3' || {
    say "NO STOCK CLIENTS: Python Minari or huggingface_hub cannot be installed in $venv"
    exit 1
}
olah=build/bench-olah # it excludes the clients' versions of what it uses itself
[ -x $olah/bin/olah-cli ] || pip $olah olah==0.5.4 || say "NO OLAH: it cannot be installed; nothing will be compared with it"
command -v rclone >/dev/null || install_packages "$yes" rclone || say "NO RCLONE: it cannot be installed; nothing will be compared with it"
cmake --preset release -DHUB_TESTS=ON >/dev/null # for micro_gather, ceiling and the clients of pushes
cmake --build build --target minari-hub minari-inspect minari-cli micro_gather ceiling push_files push_lfs micro_xet >/dev/null
exec "$python" tests/bench/bench.py "$@"
