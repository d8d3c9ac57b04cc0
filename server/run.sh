#!/bin/sh
# Build minari-hub and serve a directory of datasets: sh server/run.sh [--yes] [options of `minari-hub serve`]
# Debian 12 or 13. Shows the packages it would install and asks first; --yes does not ask.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

PACKAGES_BUILD="ca-certificates cmake gcc libc6-dev ninja-build pkg-config libmicrohttpd-dev libcurl4-openssl-dev libsqlite3-dev libhdf5-dev libjansson-dev libssl-dev libblosc-dev libdeflate-dev liblz4-dev liblzf-dev libseccomp-dev libsnappy-dev libunistring-dev libzstd-dev libinih-dev libmd4c-dev zlib1g-dev"

yes=no
if [ "${1:-}" = --yes ]; then
    yes=yes
    shift
fi

. "$here/tests/support/install.sh"
install_packages "$yes" $PACKAGES_BUILD

# build PRESET: with a count of what is done, on a terminal
build() {
    cmake --build --preset "$1" >>build.log 2>&1 &
    compiler=$!
    trap 'kill "$compiler" 2>/dev/null; exit 130' INT TERM
    while [ -t 2 ] && kill -0 "$compiler" 2>/dev/null; do
        printf '\r%s ' "$(sed -n 's/^\(\[[0-9]*\/[0-9]*\]\).*/\1/p' build.log | tail -n 1)" >&2
        sleep 1
    done
    [ ! -t 2 ] || printf '\r' >&2
    wait "$compiler"
    done_with=$?
    trap - INT TERM
    return $done_with
}

cd "$here"
say "building (release) in build/"
cmake --preset release >build.log 2>&1 && build release || {
    tail -n 30 build.log >&2
    say "the build failed; the whole log is in $here/build.log"
    exit 1
}
rm -f build.log

root=${MINARI_DATASETS_PATH:-$HOME/.minari/datasets}
has_root=no
for argument in "$@"; do
    case $argument in
    --root | --root=* | --config | --config=*) has_root=yes ;;
    esac
done
if [ "$has_root" = no ]; then
    if [ -d "$root" ] && [ -n "$(ls -A "$root" 2>/dev/null)" ]; then
        set -- --root "$root" "$@"
    else
        say "$root is empty or missing: serving the samples in tests/fixtures/samples"
        say "(set MINARI_DATASETS_PATH, or give --root DIR, to serve your own)"
        set -- --root "$here/tests/fixtures/samples:ro" "$@"
    fi
fi
exec "$here/build/bin/minari-hub" serve "$@"
