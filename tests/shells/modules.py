#!/usr/bin/env python3
"""Lmod and Environment Modules, as Debian has them. The two packages cannot be installed beside each
other, so each is unpacked into the cache of tests/support/downloads.py with its places rewritten.

`modules.py [SYSTEM...]` prints where each is, or why it cannot be had.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from downloads import Unavailable, debian_package, kept, print_all, said  # noqa: E402

SHELLS = ["bash", "zsh", "fish", "tcsh"]  # neither has anything for xonsh
SYSTEMS = {
    "lmod": {
        "home": "usr/share/lmod/lmod",
        "places": ["/usr/share/lmod", "/etc/lmod"],
        "needs": "lua5.3 lua-filesystem lua-json lua-posix lua-term tcl",
    },
    "environment-modules": {
        "home": "usr/share/modules",
        "places": ["/usr/share/modules", "/etc/environment-modules", "/usr/lib/x86_64-linux-gnu",
                   "/usr/lib/aarch64-linux-gnu"],
        "needs": "tcl",
    },
}
# Neither waits at a pager, and Lmod keeps no cache, whose age it would write into the environment.
ENVIRONMENT = {"LMOD_PAGER": "none", "LMOD_SHORT_TIME": "86400", "MODULES_PAGER": "cat"}


def relocate(tree: Path, places, into: Path):
    for directory, _, files in os.walk(tree):
        for file in (Path(directory, name) for name in files):
            content = b"" if file.is_symlink() else file.read_bytes()
            if b"\0" in content:
                continue
            moved = content
            for place in places:
                moved = moved.replace(place.encode(), str(into).encode() + place.encode())
            if moved != content:
                file.write_bytes(moved)


def system(name: str) -> Path:
    """The directory of that system's start-up files; Unavailable with its reason."""
    source = SYSTEMS[name]

    def make(made):
        debian_package(name, "bookworm", made)
        relocate(made, source["places"], made.parents[1] / f"{name}-unpacked")

    home = kept(f"{name}-unpacked", make) / source["home"]
    try:
        said(["bash", "-c", '. "$0/init/bash" && module --version', str(home)])
    except Unavailable as reason:
        raise Unavailable(f"{name} does not start ({reason}); "
                          f"it needs the Debian packages {source['needs']}") from None
    return home


def start(name: str) -> dict:
    """Lines for the rc file of each shell, which bring `module`."""
    home = system(name)
    return {shell: f"{'.' if shell in ('bash', 'zsh') else 'source'} '{home}/init/{shell}'\n"
            for shell in SHELLS}


def write_files(into: Path, toolkits: dict):
    """Modulefiles cuda/VERSION of those toolkits, as sites write them, and of a tool beside them."""
    for version, root in toolkits.items():
        file = into / "cuda" / version
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#%Module\nsetenv CUDA_HOME {root}\nprepend-path PATH {root}/bin\n"
                        f"prepend-path LD_LIBRARY_PATH {root}/lib64\n")
    (into / "tool").mkdir(parents=True, exist_ok=True)
    (into / "tool/1").write_text("#%Module\nprepend-path PATH /opt/tool/bin\n"
                                 "append-path LD_LIBRARY_PATH /opt/tool/lib\n")


if __name__ == "__main__":
    sys.exit(print_all([(system, name) for name in sys.argv[1:] or SYSTEMS]))
