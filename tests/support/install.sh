# Sourced by server/run.sh and tests/run.sh: say what would be installed, ask, install. POSIX sh.

say() {
    printf '%s\n' "$*" >&2
}

# install_packages yes|no PACKAGE...
install_packages() {
    ask=$1
    shift
    missing=""
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || {
        say "these packages are missing and this system has no apt-get:$missing"
        return 1
    }
    say "these packages would be installed with apt-get:$missing"
    if [ "$ask" = no ]; then
        [ -t 0 ] || {
            say "no terminal to ask on: run again with --yes"
            return 1
        }
        printf 'go on? [y/N] ' >&2
        read -r answer
        case $answer in
        y | Y | yes) ;;
        *)
            say "nothing was installed"
            return 1
            ;;
        esac
    fi
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq update
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
}
