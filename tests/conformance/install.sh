#!/bin/sh
# Installs the stock clients below build/conformance: a Python environment for each file of requirements/, and node_modules for
# package.json: sh tests/conformance/install.sh [--yes] [slow]. `slow` adds those of slow/requirements. A client that cannot be had is
# named; the tests that drive it fail.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
. "$top/tests/support/install.sh"
. "$top/tests/support/environment.sh"
yes=no
[ "${1:-}" = --yes ] && yes=yes && shift
clients=${HUB_CLIENTS:-$top/build/conformance}

install_packages "$yes" aria2 curl nodejs rclone wget || say "NOT INSTALLED: programs are missing"
lists=$here/requirements
if [ "${1:-}" = slow ]; then
    install_packages "$yes" ffmpeg python3-h5py || say "NOT INSTALLED: h5py with ros3, or the decoders of LeRobot"
    lists="$lists $here/slow/requirements"
fi
# shellcheck disable=SC2086
for list in $(find $lists -name '*.txt' | sort); do
    python_environment "$clients/$(basename "$list" .txt)" "$list" || say "NOT INSTALLED: $list"
done
node_modules "$clients/node_modules" "$here/package.json" || say "NOT INSTALLED: $here/package.json"
