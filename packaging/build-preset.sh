#!/usr/bin/env bash
# Configures and builds a preset. usage: packaging/build-preset.sh PRESET
# On a terminal ninja shows its progress; in a log only a failure is worth lines. A build folder that
# was configured for another place (the checkout was moved or copied) is begun afresh: cmake refuses
# to use it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
cache=$root/build/$preset/CMakeCache.txt
fresh=()
if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    fresh=(--fresh)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

failed() {
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 200 >&2 || true
    printf '%s: the build failed\n' "$preset" >&2
    exit 1
}

# What a file includes is known from its last compilation: nothing is preprocessed twice.
export CCACHE_DEPEND=1
cd "$root"
begun=$SECONDS
printf '%s: building\n' "$preset" >&2
cmake --preset "$preset" ${fresh[@]+"${fresh[@]}"} >"$log" 2>&1 || failed
if [ -t 1 ]; then
    cmake --build --preset "$preset"
else
    cmake --build --preset "$preset" >"$log" 2>&1 || failed
fi
printf '%s: built in %s s\n' "$preset" $((SECONDS - begun)) >&2
