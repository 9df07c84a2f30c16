#!/usr/bin/env python3
"""Real CUDA toolkits, side by side, for tests: nvcc 11.8 and 12.4 out of Debian's packages, 13.x from
PyPI, each rearranged to the form that NVIDIA's own installer gives (bin, include, lib64, nvvm).

What Debian leaves out of the package with nvcc (headers, libdevice, the runtime library) comes from
NVIDIA's wheels of the same version, because Debian's own package of them is 557 MB.

Downloads are kept as tests/support/downloads.py says. `toolkits.py [VERSION...]` prints
where each is, or why it cannot be had.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from downloads import (Unavailable, cache_root, debian_package, kept, pip_target,  # noqa: E402
                       print_all, said)

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

    def make(made):
        if version in DEBIAN:
            assemble_debian(source, made)
        else:
            assemble_pypi(source, made)
        text = said([str(made / "bin/nvcc"), "--version"])
        if f"release {source['release']}" not in text:
            raise Unavailable(f"what came as CUDA {version} says: {text.splitlines()[-1]}")

    return kept(f"toolkit-{version}", make)


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


if __name__ == "__main__":
    sys.exit(print_all([(toolkit, version) for version in sys.argv[1:] or VERSIONS]))
