#!/bin/sh
# Installs py-rattler into a virtual environment of its own and compares cudaenv with it.
# usage: with_peer.sh VENV CUDAENV [COMPARE_OPTION...]
# Example: with_peer.sh build/peer-venv build/release/cli/cudaenv --work build/peer-work
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=$1
cudaenv=$2
shift 2
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import os, rattler; os._exit(0)' 2>/dev/null ||
    "$venv/bin/python" -m pip install --quiet py-rattler==0.28.0
exec "$venv/bin/python" "$here/compare.py" --cudaenv "$cudaenv" "$@"
