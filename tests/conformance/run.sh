#!/bin/sh
# Stock clients against the hub, unchanged: sh tests/conformance/run.sh [--yes] [PYTEST OPTION...]. Installs them (install.sh), then drives
# them against the programs of HUB_BIN (build/dev/bin); the Python that does so is HUB_TEST_PYTHON.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
yes=
[ "${1:-}" = --yes ] && yes=--yes && shift

export HUB_BIN="${HUB_BIN:-$top/build/dev/bin}" HUB_CLIENTS="${HUB_CLIENTS:-$top/build/conformance}" PYTHONDONTWRITEBYTECODE=1
sh "$here/install.sh" $yes ${HUB_SUITE:-}
suite=$here/${HUB_SUITE:-}
[ -n "${HUB_SUITE:-}" ] || set -- --ignore="$here/slow" "$@"
exec "${HUB_TEST_PYTHON:-$top/build/venv/bin/python}" -m pytest -q -rfs -o cache_dir="$HUB_CLIENTS/.pytest" --confcutdir="$here" --durations=8 "$@" "$suite"
