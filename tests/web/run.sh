#!/bin/sh
# The pages in Debian's chromium, against the hub of HUB_BIN (build/dev/bin): sh tests/web/run.sh [--all] [SUBJECT...].
# --all adds what is slow: a million steps and episodes, times. SUBJECT: clicks, videos, ... Several runs may go on side by side.
# HUB_WEB_ROOTS=DIR: the datasets that `roots.py DIR` made, so that each run need not make its own. SHOTS=DIR keeps pictures of every view.
# Ends with 1 and a line for each thing that is wrong; with 3 where there is no browser.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
export HUB_BIN="${HUB_BIN:-$top/build/dev/bin}" NODE_PATH="${NODE_PATH:-$top/build/node/node_modules}" PYTHONDONTWRITEBYTECODE=1
python=${HUB_TEST_PYTHON:-$top/build/venv/bin/python}
if ! command -v chromium >/dev/null || ! node -e 'require("axe-core"), require("playwright-core")' 2>/dev/null; then
    echo "NO BROWSER: chromium, or playwright-core and axe-core in NODE_PATH ($NODE_PATH), are missing: no test looks at the pages" >&2
    exit 3
fi
all=
for argument in "$@"; do [ "$argument" != --all ] || all=--all; done
work=$(mktemp -d "${TMPDIR:-/tmp}/hub-web-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export TMPDIR="$work" # states of hubs, profiles of browsers
roots=${HUB_WEB_ROOTS:-$work/roots}
[ -n "${HUB_WEB_ROOTS:-}" ] || "$python" "$here/roots.py" "$roots" $all
node "$here/main.js" "$roots" "$@"
