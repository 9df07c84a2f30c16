#!/usr/bin/env bash
# Configures a preset. usage: packaging/configure.sh PRESET [cmake's arguments]
# A build folder that was configured for another place (the checkout was moved or copied) is begun
# afresh: cmake refuses to use it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
shift
cache=$root/build/$preset/CMakeCache.txt
fresh=()
if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    fresh=(--fresh)
fi
cd "$root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" ${fresh[@]+"${fresh[@]}"} "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
}
