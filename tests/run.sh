#!/bin/sh
# Build minari-hub with sanitizers and as users build it, warnings as errors, and run every test once: sh tests/run.sh [--yes]
# Shows the packages it would install and asks first; --yes does not ask. A test that fails once fails the run, except for the names in
# tests/support/retried.txt. Ends with the time of each step and "N passed, N failed". tests/README.md says what runs where.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
mkdir -p build
. tests/support/install.sh
. tests/support/environment.sh

yes=no
[ "${1:-}" = --yes ] && yes=yes

begin=$(date +%s)
passed=0
failed=0
times=
step=
step() { # NAME: the work up to the next step is counted as NAME's
    now=$(date +%s)
    [ -z "$step" ] || times="$times$(printf '%5d s  %s' $((now - since)) "$step")
"
    step=$1
    since=$now
    say "== $step"
}

check() { # NAME COMMAND...: one check that is not an entry of ctest
    step "$1"
    name=$1
    shift
    if "$@" >build/check.log 2>&1; then
        passed=$((passed + 1))
        say "ok    $name"
    else
        failed=$((failed + 1))
        say "FAIL  $name"
        tail -n 60 build/check.log >&2
    fi
}

run_tests() { # PRESET FOLDER OPTION...: ctest; each test with its time, what failed in full, and what this machine cannot run
    preset=$1
    log=$2/tests.log
    details=$2/Testing/Temporary/LastTest.log
    shift 2
    ctest --preset "$preset" -j $((2 * $(nproc))) --no-tests=error "$@" >"$log" 2>&1 || true
    grep -E 'Test +#' "$log" || true
    sed -n '/sec\*proc/p' "$log" # the time of each label; what computes counts twice
    sed -n 's/^SKIPPED/LEFT OUT/p; /^NO [A-Z]/p' "$details" | sort -u
    grep -hE '^client ' "$details" | sort -u || true # the versions of stock clients
    total=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\)/\1 \2/p' "$log" | tail -n 1)
    [ -n "$total" ] || total="1 1"
    failed=$((failed + ${total% *}))
    passed=$((passed + ${total#* } - ${total% *}))
    [ "${total% *}" = 0 ] || tail -n 500 "$log"
}

retried=$(sed -n 's/^\([a-z0-9_]\{1,\}\) .*/\1/p' tests/support/retried.txt | paste -sd '|')
test_step() { # NAME PRESET FOLDER LABELS: the tests with one of these labels; then those of them that may fail once
    step "$1"
    run_tests "$2" "$3" -L "^($4)\$" -E "^(${retried:-none})\$"
    if [ -n "$retried" ] && ctest --preset "$2" -N -L "^($4)\$" -R "^($retried)\$" | grep -q 'Test *#'; then
        run_tests "$2" "$3" -L "^($4)\$" -R "^($retried)\$" --repeat until-pass:2
    fi
}

step "packages"
PACKAGES_BUILD=$(sed -n 's/^PACKAGES_BUILD="\(.*\)"$/\1/p' server/run.sh)
PACKAGES_TEST="aria2 caddy ccache clang-format clang-tidy curl git libcriterion-dev make nginx-light nodejs openssl prometheus python3-venv rclone strace wget"
# shellcheck disable=SC2086
install_packages "$yes" $PACKAGES_BUILD $PACKAGES_TEST
# A machine that cannot have a browser, or Go, leaves their tests out by name.
command -v npm >/dev/null || install_packages "$yes" npm || true
command -v chromium >/dev/null || install_packages "$yes" chromium || true

# Real clients and readers: installed, where this machine has not got them yet, while the programs are built
export HUB_TEST_PYTHON="$here/build/venv/bin/python" HUB_CLIENTS="$here/build/conformance" NODE_PATH="$here/build/node/node_modules"
export HUB_TEST_PYTHON_043="$HUB_CLIENTS/minari-0.4.3/bin/python" HUB_TEST_PYTHON_HF="$HUB_CLIENTS/huggingface-1/bin/python"
FAKE_GCS=github.com/fsouza/fake-gcs-server@v1.45.2 # the last release that Go 1.19 builds, which Debian 12 has
clients() {
    python_environment build/venv tests/support/requirements.txt || return 1
    node_modules build/node/node_modules tests/web/package.json || echo "NO BROWSER: playwright-core and axe-core cannot be had here"
    if [ "$yes" = yes ]; then set -- --yes; else set --; fi
    sh tests/conformance/install.sh "$@"
    [ -x build/go/fake-gcs-server ] || { command -v go >/dev/null && GOBIN="$here/build/go" go install $FAKE_GCS; } ||
        echo "NO FAKE-GCS-SERVER: there is no Go of 1.19 or later here, or $FAKE_GCS cannot be had; only the other emulator is tried"
}
clients >build/clients.log 2>&1 &
installing=$!

# What another checkout on this machine has compiled is not compiled again
export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR="$here" CCACHE_NOHASHDIR=1

step "build with sanitizers"
cmake --preset asan >/dev/null
cmake --build --preset asan | tail -n 3
step "build as users do"
cmake --preset release -DHUB_TESTS=ON -DHUB_WERROR=ON >/dev/null
cmake --build --preset release | tail -n 3
step "clients, installed meanwhile"
wait "$installing" || { cat build/clients.log >&2; exit 1; }
grep -E '^(NO|NOT) ' build/clients.log || true
if [ -x build/go/fake-gcs-server ]; then export HUB_TEST_FAKE_GCS="$here/build/go/fake-gcs-server"; fi

test_step "tests with sanitizers: units, formats, fuzz targets, api" asan build/asan 'unit|contract|fuzz|api'
test_step "tests of what users have: load, guide, clients, pages" release build 'release|clients|pages'
check "clang-format" sh tests/support/check_format.sh
check "clang-tidy" sh tests/support/check_tidy.sh build/asan
check "history" sh tests/support/check_history.sh
check "packages of Dockerfile and run.sh" sh tests/support/check_packages.sh
check "at most three names in retried.txt" sh tests/support/check_retried.sh
step end
printf '%s%5d s  in all\n' "$times" $(($(date +%s) - begin))
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
