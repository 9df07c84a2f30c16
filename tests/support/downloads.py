"""Real packages for tests, out of Debian's archive and from PyPI: unpacked, never installed.

They are kept under ${XDG_CACHE_HOME:-~/.cache}/cudaenv-tests, each downloaded once."""

import contextlib
import fcntl
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


class Unavailable(Exception):
    """What a test asks for cannot be had here; the text says why and how it could."""


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "cudaenv-tests"


def said(command, **more):
    """Standard output of a command; Unavailable with the last line it said where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, **more)
    except FileNotFoundError:
        raise Unavailable(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} took longer than ten minutes") from None
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        # Addresses of mirrors do not belong in a log.
        last = re.sub(r"\b[a-z]+://\S+", "(address)",
                      lines[-1] if lines else f"status {done.returncode}, no message")
        raise Unavailable(f"{' '.join(map(str, command[:3]))} failed: {last[:200]}")
    return done.stdout


@contextlib.contextmanager
def locked(name):
    """Tests that run at the same time do not download the same thing twice."""
    cache_root().mkdir(parents=True, exist_ok=True)
    with open(cache_root() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def kept(name, fill):
    """The directory of that name; at the first call `fill` makes it, elsewhere at first."""
    with locked(name):
        place = cache_root() / name
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=cache_root(), prefix="making-") as scratch:
                made = Path(scratch) / "made"
                fill(made)
                os.rename(made, place)
        return place


def apt_configuration(under: Path, suite: str) -> dict:
    """A private apt that knows one suite with its non-free part, from wherever this machine's own
    apt takes its release: nothing of the machine's apt is changed."""
    targets = said(["apt-get", "indextargets", "--format",
                    "$(ORIGIN)|$(COMPONENT)|$(REPO_URI)|$(RELEASE)", "Created-By: Packages"])
    places = [line.split("|") for line in targets.splitlines()]
    uris = [uri for origin, component, uri, release in places
            if origin == "Debian" and component == "main" and "security" not in release]
    if not uris:
        raise Unavailable("apt knows no Debian suite on this machine")
    for part in ("state", "cache", "sources"):
        (under / part).mkdir(parents=True, exist_ok=True)
    keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
    (under / "sources" / "one.sources").write_text(
        f"Types: deb\nURIs: {uris[0]}\nSuites: {suite}\nComponents: main non-free\n"
        + (f"Signed-By: {keyring}\n" if keyring.exists() else ""))
    (under / "apt.conf").write_text(
        f'Dir::State "{under}/state";\nDir::Cache "{under}/cache";\n'
        f'Dir::Etc::SourceList "/dev/null";\nDir::Etc::SourceParts "{under}/sources";\n'
        'APT::Sandbox::User "root";\nAcquire::Languages "none";\nAcquire::Retries "2";\n')
    return {**os.environ, "APT_CONFIG": str(under / "apt.conf")}


def debian_package(name: str, suite: str, into: Path):
    """Downloads one package of a suite and unpacks it, without installing anything."""
    with tempfile.TemporaryDirectory(prefix="cudaenv-apt-") as scratch:
        scratch = Path(scratch)
        environment = apt_configuration(scratch, suite)
        said(["apt-get", "-qq", "update"], env=environment)
        said(["apt-get", "-qq", "download", f"{name}/{suite}"], env=environment, cwd=scratch)
        found = list(scratch.glob("*.deb"))
        if len(found) != 1:
            raise Unavailable(f"apt gave {len(found)} files for {name} of {suite}")
        said(["dpkg-deb", "-x", str(found[0]), str(into)])


def pip_target(wheels, into: Path):
    said([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
          "--no-deps", "--only-binary", ":all:", "--target", str(into), *wheels])


def print_all(asked):
    """Of pairs of a function and what it is given: where each is, or why it cannot be had."""
    status = 0
    for get, name in asked:
        try:
            print(f"{get.__name__} {name}\t{get(name)}")
        except Unavailable as reason:
            print(f"{get.__name__} {name}\tcannot be had: {reason}")
            status = 77
    return status
