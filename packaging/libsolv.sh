#!/usr/bin/env bash
# Fetches libsolv's source by pip, pinned by hash, and builds it static with the conda feature
# (Debian's libsolv has none). usage: packaging/libsolv.sh [PREFIX]   default build/deps/libsolv
set -euo pipefail

version=0.7.39.post1
sha256=6f9bb51f2bac747b494783a1c940fd6df58c3cc8ee2e61cc6a53256b0c4958eb
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=${1:-$root/build/deps/libsolv}
stamp=$prefix/.built-$version-$sha256

if [ -e "$stamp" ]; then
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "libsolv: fetching $version" >&2
# pip prepares the metadata in an isolated environment of its own, so nothing of the user's changes.
# The requirements file carries the hash, so that nothing else can be unpacked.
printf 'solv==%s --hash=sha256:%s\n' "$version" "$sha256" >"$work/requirements.txt"
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary solv \
    --require-hashes -r "$work/requirements.txt" -d "$work"
echo "$sha256  $work/solv-$version.tar.gz" | sha256sum --check --quiet
tar -xzf "$work/solv-$version.tar.gz" -C "$work"

echo "libsolv: building" >&2
source_dir=$work/solv-$version
build() {
    cmake -S "$source_dir" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DENABLE_CONDA=ON -DMULTI_SEMANTICS=ON -DENABLE_COMPLEX_DEPS=ON -DENABLE_STATIC=ON \
        -DDISABLE_SHARED=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON &&
        cmake --build "$work/build"
}
if ! build >"$work/log" 2>&1; then
    tail -n 30 "$work/log" >&2
    echo "libsolv: the build failed" >&2
    exit 1
fi

# The source distribution has its install rules off: header and library are installed here.
mkdir -p "$prefix/include/solv" "$prefix/lib"
cp "$source_dir"/src/*.h "$work/build/src/solvversion.h" "$prefix/include/solv/"
cp "$(find "$work/build" -name libsolv.a)" "$prefix/lib/"
cp "$source_dir/LICENSE.BSD" "$prefix/LICENSE.libsolv"
touch "$stamp"
echo "libsolv: $version in $prefix" >&2
