"""Real environments for tests: what makes them comes from PyPI, into a venv below the tests' cache.

`uv` makes virtual environments; py-rattler and conda-package-handling make conda's, from a channel
built on the spot (make_conda.py).
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from downloads import Unavailable, cache_root, locked, said  # noqa: E402

REQUIREMENTS = ["uv==0.13.9", "py-rattler==0.28.0", "conda-package-handling==2.6.0"]
MAKE_CONDA = Path(__file__).with_name("make_conda.py")


def tools() -> Path:
    """The bin directory of the venv with uv, rattler and conda-package-handling."""
    with locked("tools"):
        venv = cache_root() / "tools"
        stamp = venv / "complete"
        wanted = "\n".join(REQUIREMENTS)
        if not stamp.exists() or stamp.read_text() != wanted:
            said([sys.executable, "-m", "venv", "--clear", str(venv)])
            said([str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet",
                  "install", "--only-binary", ":all:", *REQUIREMENTS])
            stamp.write_text(wanted)
        return venv / "bin"


def make_conda_environments(root: Path):
    said([str(tools() / "python"), str(MAKE_CONDA), str(root)],
         env={"PATH": "/usr/bin:/bin", "HOME": str(root)})


def make_uv_environment(path: Path, wheel: Path, cache: Path):
    uv = str(tools() / "uv")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cache), "UV_CACHE_DIR": str(cache / "uv"),
                   "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never"}
    said([uv, "venv", "--quiet", "--python", sys.executable, str(path)], env=environment)
    said([uv, "pip", "install", "--quiet", "--no-index", "--no-deps", "--python",
          str(path / "bin/python"), str(wheel)], env=environment)


def answers(program, *words) -> bool:
    try:
        return subprocess.run([program, *words], capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=60).returncode == 0
    except OSError:
        return False


__all__ = ["MAKE_CONDA", "Unavailable", "answers", "make_conda_environments",
           "make_uv_environment", "tools"]
