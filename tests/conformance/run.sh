#!/bin/sh
# Stock clients against the hub, unchanged: sh tests/conformance/run.sh [--yes] [PYTEST OPTION...]. The programs are those of HUB_BIN
# (build/dev/bin), the Python that drives them is HUB_TEST_PYTHON. Clients are installed below build/conformance: a virtual environment
# for each file of requirements/, and node_modules for package.json. One that cannot be had is a test that fails and says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/support/install.sh"
yes=no
[ "${1:-}" = --yes ] && yes=yes && shift

export HUB_BIN="${HUB_BIN:-$top/build/dev/bin}" HUB_CLIENTS="$top/build/conformance" PYTHONDONTWRITEBYTECODE=1
python=${HUB_TEST_PYTHON:-$top/build/venv/bin/python}
mkdir -p "$HUB_CLIENTS"

install_packages "$yes" aria2 curl nodejs rclone wget || say "NOT INSTALLED: programs are missing"
[ "${HUB_SUITE:-}" != slow ] || install_packages "$yes" ffmpeg python3-h5py || say "NOT INSTALLED: h5py with ros3, or the decoders of LeRobot"
lists=$here/requirements
[ "${HUB_SUITE:-}" != slow ] || lists="$lists $here/slow/requirements"
for list in $(find $lists -name '*.txt' | sort); do
    venv=$HUB_CLIENTS/$(basename "$list" .txt)
    cmp -s "$list" "$venv/installed.txt" && continue
    say "making $venv"
    rm -rf "$venv"
    { /usr/bin/python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r "$list" && cp "$list" "$venv/installed.txt"; } >&2 ||
        say "NOT INSTALLED: $list"
done
if ! cmp -s "$here/package.json" "$HUB_CLIENTS/installed.json"; then
    cp "$here/package.json" "$HUB_CLIENTS/package.json"
    { command -v npm >/dev/null && npm install --prefix "$HUB_CLIENTS" --no-audit --no-fund --loglevel=error && cp "$here/package.json" "$HUB_CLIENTS/installed.json"; } >&2 ||
        say "NOT INSTALLED: $here/package.json"
fi
suite=$here
[ -z "${HUB_SUITE:-}" ] || suite=$here/$HUB_SUITE
[ -n "${HUB_SUITE:-}" ] || set -- --ignore="$here/slow" "$@"
exec "$python" -m pytest -q -rfs -o cache_dir="$HUB_CLIENTS/.pytest" --confcutdir="$here" --durations=8 "$@" "$suite"
