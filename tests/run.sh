#!/bin/sh
# Build minari-hub with warnings as errors and with sanitizers, and run every test: sh tests/run.sh [--yes]
# Shows the packages it would install and asks first; --yes does not ask. Ends with "N passed, N failed".
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"

yes=no
[ "${1:-}" = --yes ] && yes=yes

. tests/support/install.sh
PACKAGES_BUILD=$(sed -n 's/^PACKAGES_BUILD="\(.*\)"$/\1/p' server/run.sh)
PACKAGES_TEST="clang-format clang-tidy curl git libcriterion-dev make prometheus python3-venv rclone strace"
install_packages "$yes" $PACKAGES_BUILD $PACKAGES_TEST

# Real clients and readers for the tests that drive them; inside the checkout.
venv=build/venv
if [ ! -x $venv/bin/pytest ]; then
    say "making $venv (Python clients for the tests)"
    /usr/bin/python3 -m venv $venv
    $venv/bin/pip install -q --disable-pip-version-check -r tests/support/requirements.txt
fi
export HUB_TEST_PYTHON="$here/$venv/bin/python"
old=build/venv-minari-0.4.3
if [ ! -x $old/bin/minari ]; then
    /usr/bin/python3 -m venv $old
    $old/bin/pip install -q --disable-pip-version-check -r tests/support/requirements-0.4.3.txt
fi
export HUB_TEST_PYTHON_043="$here/$old/bin/python"
newer=build/venv-hf
if [ ! -x $newer/bin/hf ]; then
    /usr/bin/python3 -m venv $newer
    $newer/bin/pip install -q --disable-pip-version-check -r tests/support/requirements-hf.txt
fi
export HUB_TEST_PYTHON_HF="$here/$newer/bin/python"

# A bucket of Google's as a second party has it: its last release that Go 1.19 builds, which Debian 12 has.
FAKE_GCS=github.com/fsouza/fake-gcs-server@v1.45.2
if [ -x build/go/fake-gcs-server ] || { command -v go >/dev/null && GOBIN="$here/build/go" go install $FAKE_GCS >&2; }; then
    export HUB_TEST_FAKE_GCS="$here/build/go/fake-gcs-server"
else
    say "NO FAKE-GCS-SERVER: there is no Go of 1.19 or later here, or $FAKE_GCS cannot be had; only the other emulator is tried"
fi

# A browser that plays videos. A machine that cannot have it leaves that one test out, by name.
missing=""
command -v chromium >/dev/null || missing="$missing chromium"
command -v node >/dev/null || missing="$missing nodejs"
command -v npm >/dev/null || missing="$missing npm"
# shellcheck disable=SC2086
if { [ -z "$missing" ] || install_packages "$yes" $missing; } && { [ -d build/node/node_modules/axe-core ] ||
    npm install --prefix build/node --no-save --no-audit --no-fund --loglevel=error playwright-core@1.56.1 axe-core@4.10.2 >&2; }; then
    export NODE_PATH="$here/build/node/node_modules"
else
    say "NO BROWSER: chromium, nodejs or playwright-core cannot be had here; no test sees a video played or looks at the pages"
fi

failed=0
passed=0
count() { # LOG: add the ctest summary of LOG to the totals
    total=$(summary "$1")
    [ -n "$total" ] || { failed=$((failed + 1)); return; }
    bad=${total% *}
    all=${total#* }
    failed=$((failed + bad))
    passed=$((passed + all - bad))
}
check() { # NAME COMMAND...: one check that is not a ctest
    name=$1
    shift
    if "$@" >build/check.log 2>&1; then
        passed=$((passed + 1))
        say "ok    $name"
    else
        failed=$((failed + 1))
        say "FAIL  $name"
        tail -n 40 build/check.log >&2
    fi
}

summary() { # LOG: "FAILED ALL" of a run
    sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\)/\1 \2/p' "$1" | tail -n 1
}

# What failed beside other tests may have been disturbed by them: it is tried once more, alone. What passes then is named, since it wants
# a look all the same; what fails again has failed, and so has everything where more than three failed.
try_again() { # PRESET LOG: sets `unsteady`, names between |, and `still`, how many have failed
    unsteady=
    still=$(summary "$2")
    still=${still% *}
    bad=${still:-0}
    [ "$bad" -gt 0 ] && [ "$bad" -le 3 ] || return 0
    ctest --preset "$1" --rerun-failed -j 1 >"$2.again" 2>&1 || true
    again=$(summary "$2.again")
    [ -n "$again" ] || return 0
    still=${again% *}
    unsteady=$(sed -n 's/.*Test *#[0-9]*: \([a-z0-9_]*\) \.* *Passed.*/\1/p' "$2.again" | paste -sd '|')
    failed=$((failed - bad + still))
    passed=$((passed + bad - still))
}

run_tests() { # PRESET OPTION...: ctest, what it says of each test, and the totals
    log=build/$1$2.log
    ctest --preset "$@" -j "$(nproc)" >"$log" 2>&1 || true
    sed -n 's/^SKIPPED/LEFT OUT/p' "build/$1/Testing/Temporary/LastTest.log" # a test that this machine cannot run is named
    count "$log"
    try_again "$1" "$log"
    grep -E 'Test +#|Total Test time' "$log" | grep -vE "Test +#[0-9]+: (${unsteady:-none}) .*Failed" || true
    if [ -n "$unsteady" ]; then
        echo "UNSTEADY, failed beside others and passed alone: $unsteady"
        grep -E '^E  |Assertion' "$log" | head -n 12 || true
        grep -E 'Test +#' "$log.again"
    fi
    if [ "$still" = 0 ]; then
        echo "all tests of $1 passed"
    else
        tail -n 200 "$log"
    fi
}
retried="^($(cut -d ' ' -f 1 tests/support/retried.txt | paste -sd '|'))\$"

for preset in dev asan; do
    say "== $preset: configure and build"
    cmake --preset $preset >/dev/null
    cmake --build --preset $preset
    say "== $preset: test"
    [ $preset = dev ] || export HUB_TEST_BROWSER=off # once is enough
    run_tests "$preset" -E "$retried"
    run_tests "$preset" -R "$retried" --repeat until-pass:2 # only these: see there
done

rm -f build/unsteady.txt
clients_yes=
[ "$yes" = no ] || clients_yes=--yes
stock_clients() { # OPTION...: their versions are worth a look each time
    # shellcheck disable=SC2086
    HUB_BIN=$here/build/dev/bin sh tests/conformance/run.sh $clients_yes "$@" >build/conformance.log 2>&1
}
clients() { # what failed is tried once more, as above: a client may fall over its own threads as it ends
    if ! stock_clients; then
        cp build/conformance.log build/conformance.first.log
        [ "$(grep -c '^FAILED' build/conformance.first.log)" -le 3 ] && stock_clients --last-failed || { cat build/conformance*.log; return 1; }
        sed -n 's/^FAILED/UNSTEADY, failed once and passed then:/p' build/conformance.first.log >build/unsteady.txt
        mv build/conformance.first.log build/conformance.log
    fi
    grep -hE '^client |^SKIPPED' build/conformance.log >build/clients.txt || true
}
check "stock clients" clients
[ ! -s build/clients.txt ] || cat build/clients.txt

pages() {
    HUB_BIN=$here/build/dev/bin sh tests/web/run.sh >build/web.log 2>&1 || { cat build/web.log; return 1; }
    awk '/^[A-Za-z]/ { on = /^UNSTEADY/ } on' build/web.log >>build/unsteady.txt
}
[ -z "${NODE_PATH:-}" ] || check "pages in a browser" pages
[ ! -s build/unsteady.txt ] || cat build/unsteady.txt
check "clang-format" sh tests/support/check_format.sh
check "clang-tidy" sh tests/support/check_tidy.sh build/dev
check "packages of Dockerfile and run.sh agree" sh tests/support/check_packages.sh
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
