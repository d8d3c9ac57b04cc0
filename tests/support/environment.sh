# Sourced by tests/run.sh and tests/conformance/install.sh, after install.sh: Python environments and node modules for the tests. They are
# made once for a machine, below ~/.cache/minari-hub-tests, named by what they hold, and shared by all checkouts. POSIX sh.

ENVIRONMENTS=${XDG_CACHE_HOME:-$HOME/.cache}/minari-hub-tests

# shared_folder LINK INSIDE FILE COMMAND...: LINK leads to what is at INSIDE in the folder that COMMAND FOLDER FILE filled once for this
# content of FILE
shared_folder() {
    link=$1
    inside=$2
    list=$3
    shift 3
    mkdir -p "$ENVIRONMENTS" "$(dirname "$link")"
    folder=$ENVIRONMENTS/$(basename "${list%.*}")-$({ /usr/bin/python3 --version; cat "$list"; } | sha256sum | cut -c 1-12)
    (
        flock 9
        cmp -s "$list" "$folder/installed.txt" && exit 0
        say "making $folder"
        rm -rf "$folder"
        "$@" "$folder" "$list" && cp "$list" "$folder/installed.txt"
    ) 9>"$folder.lock" || return 1
    rm -rf "$link"
    ln -s "$folder/$inside" "$link"
}

fill_python() { # FOLDER LIST
    /usr/bin/python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check -r "$2"
}
fill_node() { # FOLDER PACKAGE_JSON
    mkdir -p "$1" && cp "$2" "$1/package.json" && npm install --prefix "$1" --no-audit --no-fund --loglevel=error
}

python_environment() { shared_folder "$1" "" "$2" fill_python; }     # LINK REQUIREMENTS
node_modules() { shared_folder "$1" node_modules "$2" fill_node; } # LINK PACKAGE_JSON
