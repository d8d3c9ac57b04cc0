#!/bin/sh
# Tests that take too long for every run: sh tests/long.sh [--only STEP]... Packages and Pythons are those of tests/run.sh, which comes
# first. STEP: tidy tsan damage oracle parquet lerobot memory drain kills drafts access pages clients. Ends with "N passed, N failed".
# HUB_PARQUET_FILES names a folder of Parquet files that others wrote (apache/parquet-testing), HUB_LEROBOT_PYTHONS the Pythons that have
# lerobot for the step lerobot: by default those that "tests/fixtures/make.sh lerobot" leaves.
set -eu
cd "$(dirname "$0")/.."
. tests/support/install.sh

[ -n "${HUB_TEST_PYTHON:-}" ] || HUB_TEST_PYTHON=$PWD/build/venv/bin/python
export HUB_TEST_PYTHON
steps="tidy tsan damage oracle parquet lerobot memory drain kills drafts access pages clients"
wanted=" "
while [ $# -gt 0 ]; do
    case "$1 $steps " in
    "--only "*" ${2:-} "*) wanted="$wanted$2 " ;;
    *) sed -n 2,6p "$0" >&2 && exit 2 ;;
    esac
    shift 2
done

passed=0
failed=0
check() { # NAME COMMAND...
    name=$1
    shift
    say "== $name"
    if "$@" >"build/long-$name.log" 2>&1; then
        passed=$((passed + 1))
        say "ok    $name"
    else
        failed=$((failed + 1))
        say "FAIL  $name: build/long-$name.log"
        tail -n 40 "build/long-$name.log" >&2
    fi
}
is_wanted() { case $wanted in " " | *" $1 "*) return 0 ;; esac; return 1; }
build() { # PRESET [TARGET]...
    preset=$1
    shift
    cmake --preset "$preset" >/dev/null && cmake --build --preset "$preset" ${1:+--target} "$@" >/dev/null
}

# All sources under clang-tidy. The gate checks what changed since the commit that this step leaves in tidy-base: commit that file.
tidy() {
    build asan || return 1
    sh tests/support/check_tidy.sh build/asan --all || return 1
    [ -z "$(git status --porcelain -- storage server client)" ] || return 0 # the files checked are in no commit
    git rev-parse HEAD >tests/support/tidy-base
}

# Threads under ThreadSanitizer, over files and over a store whose bytes come late. Criterion cannot run there: tests/support/plain
# stands in for it.
tsan_units="unit_storage_base unit_storage_catalog unit_storage_scan unit_storage_transfer unit_server_http"
tsan_tests="replaced or leaves_others or slow_readers or the_end_does_not or pages_wait or departed or light or proxy"
tsan() {
    build tsan minari-hub minari-hub-late minari-inspect inspect_planted http_server http_server_late $tsan_units || return 1
    rm -f build/tsan/report.*
    export TSAN_OPTIONS="log_path=$PWD/build/tsan/report:halt_on_error=0" HUB_BIN=$PWD/build/tsan/bin
    ctest --preset tsan -R "^($(printf '%s|' $tsan_units)raw_requests|raw_requests_late)\$" || return 1
    "$HUB_TEST_PYTHON" -m pytest -q -p no:cacheprovider tests/integration/test_watch.py \
        tests/integration/test_load.py tests/integration/test_admin.py -k "$tsan_tests" || return 1
    HUB_LATE_MS=2 HUB_PROGRAM=minari-hub-late "$HUB_TEST_PYTHON" -m pytest -q -p no:cacheprovider tests/integration/test_late.py \
        tests/integration/test_watch.py tests/integration/test_oracle.py -k "test_late or $tsan_tests or hdf5 or lerobot" || return 1
    ! cat build/tsan/report.* 2>/dev/null
}

# Every kind of fixture, damaged at random, read by a sanitized inspector.
damage() {
    build asan damage minari-inspect || return 1
    for kind in $(sed -n 's/^hub_damage([a-z0-9_]* \(.*\))$/\1/p' tests/contract/damage/CMakeLists.txt); do
        build/asan/bin/damage build/asan/bin/minari-inspect "tests/fixtures/$kind" --mutations "${HUB_MUTATIONS:-5000}" || return 1
    done
}

# All values of the fixtures, from files and from a store whose bytes come late (every kind of piece); then random files and random slices
# against h5py, for half an hour.
oracle() {
    build dev || return 1
    HUB_BIN=$PWD/build/dev/bin "$HUB_TEST_PYTHON" -m pytest -q -p no:cacheprovider tests/integration/test_oracle.py || return 1
    HUB_LATE_MS=2 HUB_PROGRAM=minari-hub-late HUB_BIN=$PWD/build/dev/bin "$HUB_TEST_PYTHON" -m pytest -q -p no:cacheprovider \
        tests/integration/test_oracle.py -k "hdf5 or lerobot or webdataset" || return 1
    HUB_BIN=$PWD/build/dev/bin "$HUB_TEST_PYTHON" tests/integration/test_property.py "${HUB_PROPERTY_SECONDS:-1800}"
}

# Files of other writers, healthy and broken ones, against pyarrow; without a folder of them, the fixtures. Then random ones.
parquet() {
    build dev contract_dump minari-inspect || return 1
    "$HUB_TEST_PYTHON" -B tests/contract/compare_parquet.py build/dev/bin/contract_dump build/dev/bin/minari-inspect \
        "${HUB_PARQUET_FILES:-tests/fixtures/parquet}" || return 1
    "$HUB_TEST_PYTHON" -B tests/contract/random_parquet.py build/dev/bin/contract_dump build/dev/bin/minari-inspect \
        --seed 1000 --seconds "${HUB_PROPERTY_SECONDS:-1800}"
}

# What we say of recorded sets against lerobot's own reader: 0.3.3 reads v2.1, 0.6.1 reads v3.
lerobots=${HUB_LEROBOT_PYTHONS:-$(ls "${XDG_CACHE_HOME:-$HOME/.cache}"/minari-hub-fixtures/lerobot*/bin/python 2>/dev/null || true)}
lerobot() {
    build dev contract_dump minari-inspect || return 1
    for python in $lerobots; do
        "$python" -B tests/contract/compare_lerobot.py build/dev/bin/contract_dump build/dev/bin/minari-inspect tests/fixtures/lerobot/arm-v21 \
            tests/fixtures/lerobot/camera-v21 tests/fixtures/lerobot/arm-v30 tests/fixtures/lerobot/many-v30 tests/fixtures/lerobot/camera-v30 \
            tests/fixtures/lerobot/language-v30 tests/fixtures/lerobot/pandas-v30 || return 1
    done
}

# 1,000 connections and 60 slow readers over a million episodes. A bar that is missed is a line of its own.
memory() {
    sh tests/bench/run.sh --only memory >build/long-bench.log 2>&1 || { cat build/long-bench.log; return 1; }
    cat build/long-bench.log
    ! grep 'MISS.*RssAnon' build/long-bench.log
}

# Ends of the server and of the hub at any moment.
drain() {
    build dev http_server http_server_late || return 1
    for program in http_server http_server_late; do
        HUB_DRAIN_ROUNDS=1000 /usr/bin/python3 tests/integration/test_raw_requests.py "build/dev/bin/$program" || return 1
    done
}
# kill -9 at any moment, and at each sync, rename, link, removal and commit once.
kills() {
    build dev || return 1
    HUB_KILL_ROUNDS=200 HUB_CRASH_POINTS=0 HUB_BIN=$PWD/build/dev/bin "$HUB_TEST_PYTHON" -m pytest -q -p no:cacheprovider \
        tests/integration/test_kill.py tests/integration/test_crash.py tests/integration/test_mirror.py
}

# Pushes under every fault: cuts at every 64 KiB, each moment that a disk fails or a hub ends, 500 kills, a million drafts of one token;
# clients that push, rename, delete and read the same datasets for a minute.
drafts() {
    cmake --preset release -DHUB_TESTS=ON >/dev/null || return 1
    cmake --build --preset release --target minari-hub minari-inspect minari-cli hub_shim >/dev/null || return 1
    HUB_DRAFT_STEP_KIB=64 HUB_DRAFT_KILLS=500 HUB_DRAFT_STARTS=1000000 HUB_CRASH_POINTS=0 HUB_AT_ONCE_SECONDS=60 HUB_BIN=$PWD/build/bin "$HUB_TEST_PYTHON" -m pytest \
        -q -s -p no:cacheprovider tests/integration/test_draft_faults.py tests/integration/test_at_once.py
}

# Who gets what: every route by every method and asker, many requests to twins; and what the time of answers says of what is private,
# with nothing beside it.
access() {
    build asan minari-hub minari-inspect minari-cli hub_shim || return 1
    HUB_MATRIX_PART=1 HUB_TWIN_REQUESTS=5000 HUB_BIN=$PWD/build/asan/bin "$HUB_TEST_PYTHON" -m pytest -q -s -p no:cacheprovider \
        tests/integration/test_access_matrix.py tests/integration/test_access_twins.py || return 1
    build release minari-hub minari-inspect || return 1
    HUB_BIN=$PWD/build/bin "$HUB_TEST_PYTHON" -m pytest -q -s -p no:cacheprovider tests/integration/test_access_timing.py
}

# The slow subjects of the pages: a million steps and episodes, times.
pages() {
    build release || return 1
    HUB_BIN=$PWD/build/bin sh tests/web/run.sh --all
}

# The clients that take long to install or to start.
clients() {
    build release || return 1
    HUB_BIN=$PWD/build/bin sh tests/conformance/slow.sh --yes
}

mkdir -p build
for name in $steps; do
    if ! is_wanted $name; then continue; fi
    if [ "$name$lerobots" = lerobot ]; then
        say "SKIP  lerobot: none is here (tests/fixtures/make.sh lerobot makes two, or HUB_LEROBOT_PYTHONS names them)"
    else
        check $name $name
    fi
done
printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
