#!/usr/bin/env bash
# Configures, builds and tests one preset. usage: packaging/test-preset.sh PRESET [ctest's arguments]
# The last line is ctest's own summary; above it, why tests were skipped, if any were.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
shift
# Most tests wait for shells, deadlines and other people's programs: two for each core keep the cores a third busy.
jobs=$((2 * $(nproc)))
say() { printf '%s\n' "$*" >&2; }

"$root/packaging/build-preset.sh" "$preset"
cd "$root"

log=$root/build/$preset/ctest.log
status=0
ctest --preset "$preset" --parallel "$jobs" --no-tests=error "$@" </dev/null >"$log" 2>&1 || status=$?
# A passed test is not worth a line; a failed one is, with all it said. Skipped ones follow by reason.
sed -e '/^The following tests did not run:/,/^$/d' "$log" |
    grep -vE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*(Passed|\*\*\*Skipped) |^ *Start +[0-9]+: |^[0-9]+% tests passed|^$' || true

# Catch2 writes a skip's reason as "explicitly with message:" and the text below it, wrapped.
reasons=$(awk '/explicitly with message:/ { reading = 1; text = ""; next }
               reading && NF == 0 { print text; reading = 0 }
               reading { sub(/^[[:space:]]+/, ""); text = text (text == "" ? "" : " ") $0 }
               /^skipped: / { sub(/^skipped: /, ""); print }' \
    "build/$preset/Testing/Temporary/LastTest.log" 2>/dev/null | sort | uniq -c | sort -rn || true)
if [ -n "$reasons" ]; then
    echo "skipped ($preset), by reason:"
    printf '%s\n' "$reasons"
fi
grep -E '^[0-9]+% tests passed' "$log" | tail -n 1 || say "$preset: ctest gave no summary"
exit $status
