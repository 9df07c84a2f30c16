"""Real libraries of the driver's and of the runtime's, for tests: libcuda out of Debian's packages,
unpacked and never installed; libcudart out of NVIDIA's wheels; the stub of a toolkit.

Downloads are kept as tests/support/downloads.py says. `drivers.py` prints where each is,
or why it cannot be had."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from downloads import Unavailable, debian_package, kept, pip_target, print_all  # noqa: E402

# By branch: Debian's package, its suite, and the CUDA that it gives.
DRIVERS = {
    "470": ("libnvidia-tesla-470-cuda1", "bookworm", "11.4"),
    "525": ("libnvidia-tesla-cuda1", "bookworm", "12.0"),
    "535": ("libcuda1", "bookworm", "12.2"),
    "550": ("libcuda1", "trixie", "12.4"),
}
RUNTIMES = {
    "11.8": "nvidia-cuda-runtime-cu11==11.8.89",
    "12.4": "nvidia-cuda-runtime-cu12==12.4.127",
    "12.9": "nvidia-cuda-runtime-cu12==12.9.79",
    "13.0": "nvidia-cuda-runtime==13.0.96",
}
NVRTCS = {
    "11.8": "nvidia-cuda-nvrtc-cu11==11.8.89",
    "12.4": "nvidia-cuda-nvrtc-cu12==12.4.127",
}


def one_of(root: Path, pattern: str) -> Path:
    found = sorted(root.rglob(pattern))
    if not found:
        raise Unavailable(f"what came for {root.name} has no {pattern}")
    return found[0]


def driver(branch: str) -> Path:
    """The directory with that branch's libcuda.so.1; Unavailable with its reason."""
    package, suite, _ = DRIVERS[branch]
    root = kept(f"driver-{branch}", lambda into: debian_package(package, suite, into))
    return one_of(root, "libcuda.so.1").parent


def runtime(version: str) -> Path:
    """That version's libcudart, the file; Unavailable with its reason."""
    root = kept(f"cudart-{version}", lambda into: pip_target([RUNTIMES[version]], into))
    return one_of(root, "libcudart.so.*")


def nvrtc(version: str) -> Path:
    """That version's libnvrtc, the file; Unavailable with its reason."""
    root = kept(f"nvrtc-{version}", lambda into: pip_target([NVRTCS[version]], into))
    return one_of(root, "libnvrtc.so.*")


def stubs() -> Path:
    """A toolkit's directory of stubs; Unavailable where no toolkit here has one."""
    roots = [os.environ.get("CUDA_HOME") or "/usr/local/cuda", *Path("/usr/local").glob("cuda-*")]
    places = [Path(root) / library / "stubs" for root in roots for library in ("lib64", "lib")]
    for place in [*places, Path("/usr/lib/x86_64-linux-gnu/stubs")]:
        if (place / "libcuda.so").is_file():
            return place
    raise Unavailable("no toolkit here has a stubs/libcuda.so (Debian: nvidia-cuda-dev)")


def has_gpu() -> bool:
    # Not /dev/nvidiactl: who calls libcuda as root may have made that without any GPU.
    return any(os.path.exists(path) for path in ("/proc/driver/nvidia/version", "/dev/nvidia0",
                                                 "/dev/dxg"))


if __name__ == "__main__":
    sys.exit(print_all([(driver, branch) for branch in DRIVERS]
                       + [(runtime, name) for name in RUNTIMES]
                       + [(nvrtc, name) for name in NVRTCS]))
