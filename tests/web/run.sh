#!/bin/sh
# The pages in Debian's chromium, against the hub of HUB_BIN (build/dev/bin) over roots made for it:
# sh tests/web/run.sh [--all] [SUBJECT...]. --all adds what is slow: a million steps and episodes, times. SUBJECT: clicks, videos, ...
# SHOTS=DIR keeps pictures of every view. Ends with 1 and a line for each thing that is wrong; with 3 where there is no browser.
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
roots=$(mktemp -d "${TMPDIR:-/tmp}/hub-web-XXXXXX")
trap 'rm -rf "$roots"' EXIT INT TERM
"$python" "$here/roots.py" "$roots" $all
node "$here/main.js" "$roots" "$@"
