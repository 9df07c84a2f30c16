#!/usr/bin/env python3
"""Real CUDA toolkits, side by side, for tests: nvcc 11.8 and 12.4 out of Debian's packages, 13.x from
PyPI, each rearranged to the form that NVIDIA's own installer gives (bin, include, lib64, nvvm).

What Debian leaves out of the package with nvcc (headers, libdevice, the runtime library) comes from
NVIDIA's wheels of the same version, because Debian's own package of them is 557 MB.

Downloads are kept under ${XDG_CACHE_HOME:-~/.cache}/cudaenv-tests. `toolkits.py [VERSION...]` prints
where each is, or why it cannot be had.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class Unavailable(Exception):
    """A toolkit cannot be had here; the text says why and how it could."""


# By the name that a test asks for: where it comes from, and what `nvcc --version` must then say.
DEBIAN = {
    "11.8": {
        "suite": "bookworm",
        "release": "11.8, V11.8.89",
        "wheels": ["nvidia-cuda-nvcc-cu11==11.8.89", "nvidia-cuda-runtime-cu11==11.8.89"],
    },
    "12.4": {
        "suite": "trixie",
        "release": "12.4, V12.4.131",
        "wheels": ["nvidia-cuda-nvcc-cu12==12.4.131", "nvidia-cuda-runtime-cu12==12.4.127"],
    },
}
PYPI = {
    "13.0": {
        "release": "13.0, V13.0.88",
        # nvcc asks for the next three without versions, and different minors share a folder.
        "wheels": ["nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-nvvm==13.0.88",
                   "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85"],
    },
}
VERSIONS = sorted({*DEBIAN, *PYPI})

# Debian's nvcc.profile names Debian's places; this names those of the form we give it.
PROFILE = """\
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
LD_LIBRARY_PATH += $(TOP)/lib64:
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"
"""
PROGRAMS = ["nvcc", "ptxas", "fatbinary", "cudafe++", "nvlink", "bin2c", "cicc",
            "__nvcc_device_query"]


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
        # Addresses of mirrors are nobody's business in a log.
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


def assemble_debian(source, into: Path):
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix="unpack-") as scratch:
        scratch = Path(scratch)
        debian_package("nvidia-cuda-toolkit", source["suite"], scratch / "deb")
        pip_target(source["wheels"], scratch / "wheels")
        binaries = into / "bin"
        binaries.mkdir(parents=True)
        for program in PROGRAMS:
            for place in ("usr/lib/nvidia-cuda-toolkit/bin", "usr/bin"):
                origin = scratch / "deb" / place / program
                if origin.exists():
                    shutil.copy2(origin, binaries / program)
                    break
        shutil.copytree(scratch / "deb/usr/lib/nvidia-cuda-toolkit/bin/crt", binaries / "crt")
        (binaries / "nvcc.profile").write_text(PROFILE)
        wheels = scratch / "wheels/nvidia"
        shutil.copytree(wheels / "cuda_nvcc/nvvm", into / "nvvm")
        (into / "nvvm/bin").mkdir(exist_ok=True)
        shutil.move(binaries / "cicc", into / "nvvm/bin/cicc")
        shutil.copytree(wheels / "cuda_nvcc/include", into / "include")
        shutil.copytree(wheels / "cuda_runtime/include", into / "include", dirs_exist_ok=True)
        library = into / "lib64"
        library.mkdir()
        for file in (wheels / "cuda_runtime/lib").glob("libcudart.so.*"):
            shutil.copy2(file, library / file.name)
            (library / "libcudart.so").symlink_to(file.name)


def assemble_pypi(source, into: Path):
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix="unpack-") as scratch:
        pip_target(source["wheels"], Path(scratch) / "wheels")
        # PyPI's form already is the installer's, but for the library's directory and plain name.
        tree = Path(scratch) / "wheels/nvidia/cu13"
        shutil.move(tree, into)
        library = into / "lib"
        if not (into / "lib64").exists():
            (into / "lib64").symlink_to("lib")
        for file in library.glob("libcudart.so.*"):
            if not (library / "libcudart.so").exists():
                (library / "libcudart.so").symlink_to(file.name)


def toolkit(version: str) -> Path:
    """The root of the toolkit of that version, made at the first call; Unavailable with its reason."""
    source = DEBIAN.get(version) or PYPI.get(version)
    if source is None:
        raise Unavailable(f"no source is known for CUDA {version}")
    with locked(f"toolkit-{version}"):
        place = cache_root() / f"toolkit-{version}"
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=cache_root(), prefix="making-") as scratch:
                made = Path(scratch) / "toolkit"
                if version in DEBIAN:
                    assemble_debian(source, made)
                else:
                    assemble_pypi(source, made)
                text = said([str(made / "bin/nvcc"), "--version"])
                if f"release {source['release']}" not in text:
                    raise Unavailable(f"what came as CUDA {version} says: {text.splitlines()[-1]}")
                os.rename(made, place)
        return place


def put(version: str, into: Path) -> Path:
    """A copy under a test's own root, by hard links where the file system allows: a toolkit may be
    taken away there without being lost to the next test."""
    def link(origin, destination):
        try:
            os.link(origin, destination, follow_symlinks=False)
        except OSError:
            shutil.copy2(origin, destination, follow_symlinks=False)
        return destination

    shutil.copytree(toolkit(version), into, symlinks=True, copy_function=link)
    return into


def main():
    status = 0
    for version in sys.argv[1:] or VERSIONS:
        try:
            print(f"{version}\t{toolkit(version)}")
        except Unavailable as reason:
            print(f"{version}\tcannot be had: {reason}")
            status = 77
    return status


if __name__ == "__main__":
    sys.exit(main())
