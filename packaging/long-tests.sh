#!/usr/bin/env bash
# What takes long: the part of `packaging/test.sh --full` that is not the dev preset. Each step says
# how it went; all are run, and the status is 1 if any failed.
# usage: packaging/long-tests.sh [STEP...]     default: all of
#        scripts asan tsan tidy shells fuzz peer bench debootstrap
# CUDAENV_FUZZ_SECONDS (60) is the time of each fuzz target, CUDAENV_SHARED the folder with facts/ and
# repodata/, CUDAENV_TEST_ROOT (/var/tmp/cudaenv-test) where the bare Debian root is made.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=packaging/system-tools.sh
. packaging/system-tools.sh
say() { printf '%s\n' "$*" >&2; }

scripts() { shellcheck -x packaging/*.sh .ci/run; }
asan() { packaging/test-preset.sh asan; }
tsan() { packaging/test-preset.sh tsan; }
tidy() { packaging/build-preset.sh tidy; }

# A thousand random interleavings in each shell; one that is not here says so and is passed over.
shells() {
    local shell status=0 code
    packaging/build-preset.sh dev
    for shell in bash zsh fish tcsh xonsh; do
        code=0
        python3 tests/shells/test_interleavings.py --full --shell "$shell" \
            --cudaenv build/dev/cli/cudaenv --cudaenvd build/dev/daemon/cudaenvd || code=$?
        case $code in 0 | 77) ;; *) status=1 ;; esac
    done
    return $status
}

fuzz() {
    local program target seeds found status=0
    packaging/test-preset.sh fuzz
    for program in build/fuzz/tests/fuzz/fuzz_*; do
        case $program in *.cpp | *.d) continue ;; esac
        target=${program##*/fuzz_}
        seeds=tests/fuzz/corpus/$target
        found=build/fuzz/found-by-long-runs/$target
        mkdir -p "$found"
        say "fuzz $target for ${CUDAENV_FUZZ_SECONDS:-60} s"
        "$program" -max_total_time="${CUDAENV_FUZZ_SECONDS:-60}" -timeout=10 -max_len=8192 -verbosity=0 \
            -print_final_stats=1 -artifact_prefix="$found-" "$found" "$seeds" || status=1
    done
    return $status
}

# What pip installs for comparisons, never part of cudaenv.
peer_python() {
    local venv=build/deps/peer-venv
    if [ ! -e "$venv/.complete-2" ]; then
        rm -rf "$venv"
        python3 -m venv "$venv" >&2
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            py-rattler==0.28.0 cuda-doctor==0.2.0 env-repair==0.2.7 >&2
        touch "$venv/.complete-2"
    fi
    printf '%s\n' "$root/$venv/bin/python"
}

shared() { printf '%s\n' "${CUDAENV_SHARED:-$root/../shared}"; }

# 77 is a step that has said why it was skipped.
unless_skipped() {
    local status=0
    "$@" || status=$?
    [ $status = 77 ] || return $status
}

peer() {
    local python
    packaging/build-preset.sh release
    python=$(peer_python)
    mkdir -p build/peer
    unless_skipped "$python" tests/integration/peer/compare.py --cudaenv build/release/cli/cudaenv \
        --shared "$(shared)" --work build/peer
}

bench() {
    local python status=0
    packaging/build-preset.sh release
    python=$(peer_python)
    mkdir -p build/peer
    unless_skipped "$python" tests/bench/bench_solve.py --cudaenv build/release/cli/cudaenv \
        --shared "$(shared)" --work build/peer || status=1
    "$python" tests/bench/bench_host.py --cudaenv build/release/cli/cudaenv \
        --peer "$(dirname "$python")/cuda-doctor" || status=1
    "$python" tests/bench/bench_check.py --cudaenv build/release/cli/cudaenv --environment build/deps/peer-venv \
        --cuda-doctor "$(dirname "$python")/cuda-doctor" --env-repair "$(dirname "$python")/env-repair" || status=1
    # Beside direnv, where it is installed.
    python3 tests/bench/bench_prompt.py --cudaenv build/release/cli/cudaenv || status=1
    python3 tests/bench/bench_enter.py --cudaenv build/release/cli/cudaenv || status=1
    # A program of the tests, which the release preset has not.
    cmake -G Ninja -S . -B build/bench -DCMAKE_BUILD_TYPE=Release >&2
    cmake --build build/bench --target dump_inventory >&2
    python3 tests/bench/bench_inventory.py --program build/bench/tests/integration/inventory/dump_inventory || status=1
    return $status
}

debootstrap() {
    if [ "$(id -u)" != 0 ]; then
        say "skipped: a bare Debian root needs root"
        return 0
    fi
    packaging/debootstrap-test.sh "${CUDAENV_TEST_ROOT:-/var/tmp/cudaenv-test}" --busy
}

if [ $# -eq 0 ]; then
    set -- scripts asan tsan tidy shells fuzz peer bench debootstrap
fi
failed=()
for step in "$@"; do
    case $step in
        scripts | asan | tsan | tidy | shells | fuzz | peer | bench | debootstrap) ;;
        *)
            say "long-tests.sh: no step \"$step\""
            exit 2
            ;;
    esac
    say "=== $step"
    begun=$SECONDS
    # A shell of its own, because `set -e` is off inside a condition.
    if "$BASH" -euo pipefail -c "$(declare -f say "$step" peer_python shared unless_skipped); root=\$1; cd \"\$root\"; $step" - "$root"; then
        say "=== $step: good ($((SECONDS - begun)) s)"
    else
        say "=== $step: FAILED ($((SECONDS - begun)) s)"
        failed+=("$step")
    fi
done
if [ ${#failed[@]} -gt 0 ]; then
    say "failed: ${failed[*]}"
    exit 1
fi
