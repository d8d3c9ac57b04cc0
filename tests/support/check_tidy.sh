#!/bin/sh
# The curated checks of .clang-tidy over the program's own sources: check_tidy.sh BUILD [--all]. BUILD has been built by Ninja and has
# compile_commands.json. The files that changed since the commit in tests/support/tidy-base get all checks; those that include a changed
# header all but clang's analyzer, which takes 4.6 s of 4.7 s a file. All files get all checks with --all, when that commit is not here, or
# when .clang-tidy changed since. `tests/long.sh --only tidy` checks all and moves the commit.
set -eu
build=$1
sources() { git ls-files 'storage/*.c' 'server/*.c' 'client/*.c' | grep -v '_table\.c$'; }

includers() { # of the files named in $1: "FILE.o: #deps ..." and, indented, each file that FILE.o was compiled from
    ninja -C "$build" -t deps | awk -v top="$PWD/" -v since="$(cat "$1")" '
        function flush() { if (hit) print source; hit = 0; source = "" }
        BEGIN { n = split(since, names, "\n"); for (i = 1; i <= n; i++) is[names[i]] = 1 }
        /^[^ ]/ { flush() }
        /^ / { sub(/^ +(\.\.\/)*/, ""); if (index($0, top) == 1) $0 = substr($0, length(top) + 1); if (/\.c$/) source = $0; if ($0 in is) hit = 1 }
        END { flush() }' | sort -u
}

base=$(cat tests/support/tidy-base)
since=$build/tidy.since
all=${2:-}
git diff --name-only "$base" -- >"$since" 2>/dev/null || { echo "clang-tidy: $base is not here: all files" >&2 && all=--all; }
git ls-files --others --exclude-standard >>"$since"
if grep -q '^\.clang-tidy$' "$since"; then all=--all; fi
if [ "$all" = --all ]; then
    sources >"$build/tidy.changed"
    : >"$build/tidy.includers"
else
    includers "$since" >"$build/tidy.found"
    sources | grep -Fxf "$since" >"$build/tidy.changed" || true
    sources | grep -Fxf "$build/tidy.found" | grep -vFxf "$build/tidy.changed" >"$build/tidy.includers" || true
fi
echo "clang-tidy: of $(sources | wc -l) files $(wc -l <"$build/tidy.changed") by all checks, $(wc -l <"$build/tidy.includers") without the analyzer"

check() { xargs -r -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" "$@" 2>/dev/null; }
status=0
check <"$build/tidy.changed" || status=1
check '--checks=-clang-analyzer-*' --extra-arg=-w <"$build/tidy.includers" || status=1
exit $status
