#!/bin/sh
# Fuzz with libFuzzer: sh tests/fuzz/run.sh [SECONDS [TARGET...]], 60 seconds each of all targets if nothing is said.
# Needs clang and libFuzzer (Debian: clang-14 libclang-rt-14-dev libfuzzer-14-dev). Found inputs are kept in
# build/fuzz/found/TARGET; what crashed lies in build/fuzz/crashes and makes the script fail.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here"
seconds=${1:-60}
[ $# -gt 0 ] && shift
compiler=${CC:-clang}
command -v "$compiler" >/dev/null || compiler=clang-14

cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DHUB_FUZZER=ON \
    -DHUB_SANITIZE=address,undefined,fuzzer-no-link >/dev/null
targets=${*:-$(sed -n 's/^hub_fuzz(\([a-z0-9_]*\) .*/\1/p; s/^foreach(target \(.*\))$/\1/p' tests/fuzz/CMakeLists.txt)}
for target in $targets; do
    cmake --build build/fuzz --target "fuzz_$target" >build/fuzz/build.log || { cat build/fuzz/build.log; exit 1; }
done

mkdir -p build/fuzz/crashes
failed=
for target in $targets; do
    found=build/fuzz/found/$target
    mkdir -p "$found"
    # fixtures that are inputs as they are, under names of their own
    while read -r input; do
        [ -f "$input" ] && cp "$input" "$found/$(sha256sum <"$input" | cut -c 1-40)"
    done <"build/fuzz/tests/fuzz/$target.inputs" || true
    printf '%s: ' "$target"
    if nice -n 10 "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=200000 \
        -print_final_stats=1 -artifact_prefix="build/fuzz/crashes/$target-" "$found" "tests/fuzz/corpus/$target" >build/fuzz/log 2>&1; then
        grep -E '^#[0-9]+.*DONE' build/fuzz/log | tail -n 1
    else
        failed="$failed $target"
        echo FAILED
        grep -vE '^#[0-9]+' build/fuzz/log | head -n 60
    fi
    cp build/fuzz/log "build/fuzz/$target.log"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
