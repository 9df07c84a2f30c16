#!/usr/bin/env bash
# Builds cudaenv and installs it, then runs its main job on this machine.
# usage: packaging/install.sh [--prefix DIR] [--skip-packages]      DIR is ~/.local by default
# May be run again at any time; what is there already is kept.
set -euo pipefail

usage() { sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; }
say() { printf '%s\n' "$*" >&2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=${HOME:-/root}/.local
packages=install
users_path=$PATH
while [ $# -gt 0 ]; do
    case $1 in
        --prefix)
            [ $# -ge 2 ] || { usage; exit 2; }
            prefix=$2
            shift
            ;;
        --prefix=*) prefix=${1#*=} ;;
        --skip-packages) packages=skip ;;
        -h | --help)
            usage
            exit 0
            ;;
        *)
            say "install.sh: unknown argument \"$1\""
            usage
            exit 2
            ;;
    esac
    shift
done
[ -n "$prefix" ] || { say "install.sh: --prefix is empty"; exit 2; }
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

if [ $packages = install ]; then
    "$root/packaging/debian.sh" build
    # shellcheck source=packaging/system-tools.sh
    . "$root/packaging/system-tools.sh"
fi
"$root/packaging/libsolv.sh"

"$root/packaging/build-preset.sh" release
cmake --install "$root/build/release" --strip --prefix "$prefix" >/dev/null
say "cudaenv: installed in $prefix"

# The user units, where systemd looks for those of this prefix. They are there for who wants them:
# systemctl --user enable --now cudaenv.socket. Without them the client starts its daemon itself.
case $prefix in
    "${HOME:-/root}/.local") units=$prefix/share/systemd/user ;;
    *) units=$prefix/lib/systemd/user ;;
esac
mkdir -p "$units"
libexec=$prefix/libexec/cudaenv
for unit in cudaenv.socket cudaenv.service; do
    text=$(cat "$root/packaging/systemd/$unit")
    printf '%s\n' "${text//@LIBEXEC@/${libexec//%/%%}}" >"$units/$unit"
done

# The main job, on real input: what this machine is, and which torch fits it. Status 1 is an answer
# ("nothing fits here, because"), anything above is a failure of the installation.
main_job() {
    local status=0
    printf '\n$ cudaenv %s\n' "$*"
    "$prefix/bin/cudaenv" "$@" </dev/null || status=$?
    if [ $status -gt 1 ]; then
        say "install.sh: \"cudaenv $*\" ended with status $status"
        exit 3
    fi
}
main_job host
main_job resolve torch

case ":$users_path:" in
    *":$prefix/bin:"*) ;;
    *) printf '\n%s is not on your PATH; in this shell:  export PATH="%s:$%s"\n' "$prefix/bin" "$prefix/bin" PATH ;;
esac
