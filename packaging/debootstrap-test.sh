#!/usr/bin/env bash
# README's two commands on a bare Debian 12 that is made for it, from a path with a space in it, twice
# in a row. usage: packaging/debootstrap-test.sh DIR [--install-only] [--busy] [--ccache CACHE] [--keep]
# DIR/root becomes the system (about 2 GB) and is removed at the end, except with --keep. With --busy two
# processes spin beside the commands. With --ccache what CACHE holds is not compiled again.
# Needs root and debootstrap. What is tested is the commit at HEAD, in a clone. This machine's mirror,
# proxies, certificates and pip settings are passed on; its extra apt sources are not.
set -euo pipefail

say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'debootstrap-test.sh: %s\n' "$*" >&2; exit "${2:-1}"; }

if [ -z "${CUDAENV_DEBOOTSTRAP_INSIDE:-}" ]; then
    [ $# -ge 1 ] || fail "usage: packaging/debootstrap-test.sh DIR [--install-only] [--busy] [--ccache CACHE] [--keep]" 2
    [ "$(id -u)" = 0 ] || fail "needs root (debootstrap, chroot)" 3
    command -v debootstrap >/dev/null || fail "debootstrap is missing: packaging/debian.sh full" 3
    # In a mount namespace of its own: whatever happens, no mount is left behind.
    exec env CUDAENV_DEBOOTSTRAP_INSIDE=1 unshare --mount --propagation private -- "$BASH" "$0" "$@"
fi

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
scope=all
keep=no
busy=no
ccache=
while [ $# -gt 0 ]; do
    case $1 in
        --install-only) scope=install ;;
        --keep) keep=yes ;;
        --busy) busy=yes ;;
        --ccache)
            [ -d "${2:-}" ] || fail "--ccache needs a directory" 2
            ccache=$2
            shift
            ;;
        *) fail "unknown argument \"$1\"" 2 ;;
    esac
    shift
done
system=$work/root
suite=bookworm

# --- the bare system -------------------------------------------------------------------------
rm -rf --one-file-system "$system"
# shellcheck disable=SC2016  # apt's placeholders
mirror=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk -v suite="$suite" '$1 == suite && $2 == "main" { print $3; exit }')
[ -n "$mirror" ] || fail "apt has no source for \"$suite main\" on this machine" 3
say "debootstrap $suite"
debootstrap --variant=minbase "$suite" "$system" "$mirror" >"$work/debootstrap.log" 2>&1 || {
    tail -n 20 "$work/debootstrap.log" >&2
    fail "debootstrap failed" 3
}
spinners=()
cleanup() {
    kill ${spinners[@]+"${spinners[@]}"} 2>/dev/null || true
    umount --lazy "$system/var/cache/ccache" 2>/dev/null || true
    umount --lazy --recursive "$system/proc" || true
    umount --lazy --recursive "$system/dev" || true
    if [ $keep = no ]; then
        rm -rf --one-file-system "$system"
    fi
}
trap cleanup EXIT
mount -t proc proc "$system/proc"
mount --rbind /dev "$system/dev"

# --- this machine's way to the network ---------------------------------------------------------
apt-config dump | grep -iE '^Acquire::(https?|Retries|Check-Valid-Until|ForceIPv)' \
    >"$system/etc/apt/apt.conf.d/90host" || true
copy() { # keeps the path; follows links, because their targets are not in the new system
    if [ -e "$1" ]; then
        mkdir -p "$system$(dirname "$1")"
        cp -rL "$1" "$system$(dirname "$1")/"
    fi
}
for path in /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
    copy "$path"
done
settings=()
while IFS= read -r -d '' setting; do
    case ${setting%%=*} in
        PIP_* | [Hh][Tt][Tt][Pp]_[Pp][Rr][Oo][Xx][Yy] | [Hh][Tt][Tt][Pp][Ss]_[Pp][Rr][Oo][Xx][Yy] | \
            [Nn][Oo]_[Pp][Rr][Oo][Xx][Yy] | SSL_CERT_FILE | SSL_CERT_DIR | REQUESTS_CA_BUNDLE | \
            CURL_CA_BUNDLE) settings+=("$setting") ;;
        *) continue ;;
    esac
    for path in ${setting#*=}; do
        case $path in /?*) copy "$path" ;; esac
    done
done < <(env -0)
# Certificates and wheel folders that pip's files (not the environment) name.
while IFS= read -r path; do
    case $path in /?*) copy "$path" ;; esac
done < <(cat /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf" 2>/dev/null |
    sed -n 's/^ *\(cert\|find-links\) *= *//p')

inside() {
    chroot "$system" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb CI=true \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${settings[@]+"${settings[@]}"} "$@" </dev/null
}

if [ -n "$ccache" ]; then
    say "ccache, with $ccache"
    inside sh -c 'apt-get -qq update && apt-get -qq install --no-install-recommends -y ccache' >"$work/ccache.log" 2>&1 ||
        fail "apt could not install ccache: $work/ccache.log" 3
    mkdir -p "$system/var/cache/ccache"
    mount --bind "$ccache" "$system/var/cache/ccache"
    settings+=(CCACHE_DIR=/var/cache/ccache CCACHE_BASEDIR=/root CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=20G)
fi

# --- the repository ----------------------------------------------------------------------------
place="/root/a path/cudaenv"
mkdir -p "$system/root/a path"
git clone --quiet --no-hardlinks "$source_root" "$system$place"
run() { inside /bin/bash -c "cd \"$place\" && $1"; }

say "as somebody who may not install: install.sh names what it needs, status 3"
cp -r "$system$place/packaging" "$system/srv/packaging"
status=0
inside setpriv --reuid 65534 --regid 65534 --clear-groups /srv/packaging/install.sh \
    >"$work/refused.log" 2>&1 || status=$?
[ $status = 3 ] || fail "install.sh without root ended with status $status, not 3"
grep -q 'apt-get install .*libsimdjson-dev' "$work/refused.log" || fail "install.sh without root did not say what it needs"

if [ $busy = yes ]; then
    for _ in 1 2; do
        (while :; do :; done) &
        spinners+=($!)
    done
fi

# --- README's commands ---------------------------------------------------------------------------
for round in first second; do
    say "packaging/install.sh, $round time"
    begun=$SECONDS
    run "packaging/install.sh" 2>&1 | tee "$work/install-$round.log"
    say "took $((SECONDS - begun)) s"
done
grep -q '^apt:' "$work/install-second.log" && fail "the second install.sh called apt again"
say "the installed program, from elsewhere, without the source tree"
run "mv \"$place\" \"$place.away\" && cd / && /root/.local/bin/cudaenv --version && /root/.local/bin/cudaenv host --json >/dev/null && mv \"$place.away\" \"$place\""
say "packaging/install.sh --prefix with a space"
run "packaging/install.sh --prefix '/opt/cuda env'" >"$work/install-prefix.log" 2>&1 || {
    tail -n 30 "$work/install-prefix.log" >&2
    fail "install.sh --prefix failed"
}

if [ $scope = all ]; then
    for round in first second; do
        say "packaging/test.sh, $round time"
        begun=$SECONDS
        run "packaging/test.sh" 2>&1 | tee "$work/test-$round.log"
        say "took $((SECONDS - begun)) s"
    done
fi
say "all of it works on a bare Debian 12"
