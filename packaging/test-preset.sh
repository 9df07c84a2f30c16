#!/usr/bin/env bash
# Configures, builds and tests one preset. usage: packaging/test-preset.sh PRESET [ctest's arguments]
# The last line is ctest's own summary; above it, why tests were skipped, if any were.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
shift
jobs=$(nproc)
say() { printf '%s\n' "$*" >&2; }

say "$preset: building"
"$root/packaging/configure.sh" "$preset"
cd "$root"
# Ninja's progress is for a terminal; in a log only what went wrong is worth a line.
build_log=$(mktemp)
trap 'rm -f "$build_log"' EXIT
begun=$SECONDS
if [ -t 1 ]; then
    cmake --build --preset "$preset"
elif ! cmake --build --preset "$preset" >"$build_log" 2>&1; then
    grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\|Generating\)' "$build_log" | tail -n 200 >&2 || true
    say "$preset: the build failed"
    exit 1
fi
say "$preset: built in $((SECONDS - begun)) s, testing"

log=$root/build/$preset/ctest.log
status=0
ctest --preset "$preset" --parallel "$jobs" --no-tests=error "$@" </dev/null >"$log" 2>&1 || status=$?
# A passed test is not worth a line; a failed one is, with all it said. Skipped ones follow by reason.
sed -e '/^The following tests did not run:/,/^$/d' "$log" |
    grep -vE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*(Passed|\*\*\*Skipped) |^ *Start +[0-9]+: |^$' || true

# Catch2 writes a skip's reason as "explicitly with message:" and the text below it, wrapped.
reasons=$(awk '/explicitly with message:/ { reading = 1; text = ""; next }
               reading && NF == 0 { print text; reading = 0 }
               reading { sub(/^[[:space:]]+/, ""); text = text (text == "" ? "" : " ") $0 }
               /^SKIP: / { sub(/^SKIP: /, ""); print }' \
    "build/$preset/Testing/Temporary/LastTest.log" 2>/dev/null | sort | uniq -c | sort -rn || true)
if [ -n "$reasons" ]; then
    echo "skipped ($preset), by reason:"
    printf '%s\n' "$reasons"
fi
grep -E '^[0-9]+% tests passed' "$log" | tail -n 1 || say "$preset: ctest gave no summary"
exit $status
