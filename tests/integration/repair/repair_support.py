"""What the tests of `check --fix` and `keep` share."""

import hashlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "check"))
import envs  # noqa: E402
from envs import SITE, Conda, Home, conda_python_package, quiet, run_tests  # noqa: E402,F401

PLACEHOLDER = "/opt/" + "_placehold" * 14
NOBODY = 65534


def content_of(path):
    """What tells a file or link from another; its mode too."""
    if path.is_symlink():
        return "link", os.readlink(path)
    return "file", hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode & 0o777


def tree(prefix, *, compiled=False):
    """Path -> content, of all files; directories where they are empty."""
    told = {}
    for above, directories, files in os.walk(prefix):
        if not compiled:
            directories[:] = [name for name in directories if name != "__pycache__"]
        for name in [*files, *(name for name in directories if (Path(above) / name).is_symlink())]:
            path = Path(above) / name
            told[os.path.relpath(path, prefix)] = content_of(path)
    return told


def not_as_recorded(prefix):
    """Paths of conda's records that are not what those say."""
    wrong = []
    for record in sorted((prefix / "conda-meta").glob("*.json")):
        for entry in json.loads(record.read_text())["paths_data"]["paths"]:
            path = prefix / entry["_path"]
            if entry["path_type"] == "softlink":
                wrong += [] if path.is_symlink() else [entry["_path"]]
                continue
            digest = entry.get("sha256_in_prefix") or entry["sha256"]
            if path.is_symlink() or not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                wrong.append(entry["_path"])
    return wrong


def fix(home, prefix, *words, status=0, **more):
    ran = home.run("check", "--fix", "-y", "--json", "-p", prefix, *words, **more)
    if ran.returncode != status:
        raise AssertionError(f"status {ran.returncode}, not {status}\n{ran.stdout.decode()}\n{ran.stderr.decode()}")
    return json.loads(ran.stdout)


def done(told):
    return [(step["code"], step["done"]) for step in told["steps"]]
