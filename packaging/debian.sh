#!/usr/bin/env bash
# Installs what sections of debian-packages.txt name and this machine lacks.
# usage: packaging/debian.sh SECTION...       (build, test, full)
# As root or through sudo; with neither it says exactly what it would need and ends with status 3.
# Touches nothing when nothing is missing, so that a second run needs no root and no network.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
list=$here/debian-packages.txt
own_sources=/etc/apt/sources.list.d/cudaenv-backports.sources

say() { printf '%s\n' "$*" >&2; }

if [ $# -eq 0 ]; then
    say "usage: packaging/debian.sh SECTION...   (sections of $list)"
    exit 2
fi

# The packages of the sections asked for, one a line, `name` or `name/suite`.
wanted() {
    awk -v sections=" $* " '
        /^#/ || /^[[:space:]]*$/ { next }
        /^\[.*\]$/ { on = index(sections, " " substr($0, 2, length($0) - 2) " "); next }
        on { print $1 }' "$list"
}

mapfile -t wanted_packages < <(wanted "$@")

# shellcheck source=/dev/null
distribution=$(. /etc/os-release 2>/dev/null && printf '%s %s' "${ID:-unknown}" "${VERSION_ID:-}" || echo unknown)
if [ "$distribution" != "debian 12" ]; then
    say "This is \"$distribution\"; cudaenv has been tried on Debian 12 only."
    say "It needs, by Debian's names: ${wanted_packages[*]%%/*}"
    say "With these installed your own way, go on with --skip-packages."
    exit 3
fi

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
suites=()
for package in "${wanted_packages[@]}"; do
    installed "${package%%/*}" && continue
    missing+=("${package%%/*}")
    case $package in */*) suites+=("${package#*/}") ;; esac
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

if [ "$(id -u)" = 0 ]; then
    as_root=()
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo)
else
    say "Packages are missing, and this is neither root nor a user with sudo. As root:"
    if [ ${#suites[@]} -gt 0 ]; then
        say "    # with the suite ${suites[0]} in the apt sources, for what is marked /${suites[0]} in $list"
    fi
    say "    apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    exit 3
fi

# What apt says is worth reading only when it fails.
apt_log=$(mktemp)
trap 'rm -f "$apt_log"' EXIT
apt_get() {
    local status=0
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" </dev/null >"$apt_log" 2>&1 || status=$?
    if [ $status -ne 0 ]; then
        tail -n 40 "$apt_log" >&2
        say "apt-get $1 failed with status $status"
        exit 3
    fi
}

# Switches a suite on beside the release it belongs to, from the very mirror and with the very key
# that this machine uses for that release: apt is asked, no host is written here.
# shellcheck disable=SC2016  # $(RELEASE) and its like are apt's placeholders
enable_suite() {
    local suite=$1 release=${1%-backports} uri signed_by
    if apt-get indextargets --format '$(RELEASE)' 'Created-By: Packages' | grep -qx -- "$suite"; then
        return
    fi
    uri=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk -v release="$release" '$1 == release && $2 == "main" { print $3; exit }')
    if [ -z "$uri" ]; then
        say "apt has no source for \"$release main\" on this machine, so $suite cannot be switched on beside it."
        say "Add one under /etc/apt/sources.list.d, then run this again."
        exit 3
    fi
    signed_by=/usr/share/keyrings/debian-archive-keyring.gpg
    say "apt: switching on $suite in $own_sources"
    {
        echo "# Written by cudaenv's packaging/debian.sh, for: ${missing[*]}"
        echo "Types: deb"
        echo "URIs: $uri"
        echo "Suites: $suite"
        echo "Components: main"
        if [ -e "$signed_by" ]; then
            echo "Signed-By: $signed_by"
        fi
    } | ${as_root[@]+"${as_root[@]}"} tee "$own_sources" >/dev/null
}

for suite in ${suites[@]+"${suites[@]}"}; do
    enable_suite "$suite"
done
say "apt: installing ${missing[*]}"
apt_get update
apt_get install --no-install-recommends -y "${missing[@]}"

for package in "${missing[@]}"; do
    if ! installed "$package"; then
        say "apt reported success, but $package is not installed"
        exit 3
    fi
done
