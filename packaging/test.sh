#!/usr/bin/env bash
# Builds the dev preset and runs every test but those labelled long. usage: packaging/test.sh [--full] [--skip-packages]
# --full adds these and what takes long (packaging/long-tests.sh): asan, tsan, clang-tidy, every fuzz target for some
# time, the comparison with py-rattler, the benchmarks, and a bare Debian root.
set -euo pipefail

say() { printf '%s\n' "$*" >&2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
full=no
packages=install
for argument in "$@"; do
    case $argument in
        --full) full=yes ;;
        --skip-packages) packages=skip ;;
        -h | --help)
            sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2
            exit 0
            ;;
        *)
            say "test.sh: unknown argument \"$argument\" (--full, --skip-packages)"
            exit 2
            ;;
    esac
done

if [ $packages = install ]; then
    if [ $full = yes ]; then
        "$root/packaging/debian.sh" build test full
    else
        "$root/packaging/debian.sh" build test
    fi
    # shellcheck source=packaging/system-tools.sh
    . "$root/packaging/system-tools.sh"
fi
"$root/packaging/libsolv.sh"

if [ $full = yes ]; then
    "$root/packaging/long-tests.sh"
    "$root/packaging/test-preset.sh" dev
else
    "$root/packaging/test-preset.sh" dev --label-exclude '^long$'
fi
