#!/bin/sh
# The curated checks of .clang-tidy over the program's own sources: check_tidy.sh BUILD [--all]. BUILD has been built by Ninja and has
# compile_commands.json. Only the files that changed since the commit in tests/support/tidy-base are checked, and those that include a
# changed header; all of them when that commit is not here, or when .clang-tidy changed since. The analyzer, nearly all of the time, is
# shallow here: a tenth of the time. With --all it is deep, over all files: `tests/long.sh --only tidy`, which also moves the commit.
set -eu
build=$1
sources() { git ls-files 'storage/*.c' 'server/*.c' 'client/*.c' | grep -v '_table\.c$'; }

changed() { # the sources to check
    base=$(cat tests/support/tidy-base)
    since=$(git diff --name-only "$base" -- 2>/dev/null) || { echo "clang-tidy: $base is not here: all files" >&2 && sources && return; }
    since="$since
$(git ls-files --others --exclude-standard)"
    if echo "$since" | grep -q '^\.clang-tidy$'; then
        sources
        return
    fi
    # "FILE.o: #deps ..." and, indented, each file that it was compiled from
    ninja -C "$build" -t deps | awk -v top="$PWD/" -v since="$since" '
        function flush() { if (hit) print source; hit = 0; source = "" }
        BEGIN { n = split(since, names, "\n"); for (i = 1; i <= n; i++) is[names[i]] = 1 }
        /^[^ ]/ { flush() }
        /^ / { sub(/^ +(\.\.\/)*/, ""); if (index($0, top) == 1) $0 = substr($0, length(top) + 1); if (/\.c$/) source = $0; if ($0 in is) hit = 1 }
        END { flush() }' | sort -u >"$build/tidy.changed"
    sources | grep -Fxf "$build/tidy.changed" || true
}

mode=shallow
[ "${2:-}" != --all ] || mode=deep
if [ $mode = deep ]; then sources; else changed; fi >"$build/tidy.files"
echo "clang-tidy: $(wc -l <"$build/tidy.files") of $(sources | wc -l) files"
xargs -r -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" \
    --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=$mode 2>/dev/null <"$build/tidy.files"
