"""What the tests of `check --fix` and `keep` share."""

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "check"))
import envs  # noqa: E402
from envs import SITE, Conda, Home, conda_python_package, content_of, quiet, run_tests, tree  # noqa: E402,F401

PLACEHOLDER = "/opt/" + "_placehold" * 14
NOBODY = 65534


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


def done(report):
    return [(step["code"], step["done"]) for step in report["steps"]]
