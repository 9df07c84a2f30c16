#!/usr/bin/env python3
"""The inventory of a large environment beside Python's importlib.metadata, in alternation.

usage: bench_inventory.py --program DUMP_INVENTORY [--runs N] [--python PYTHON]

Makes an environment of 250 packages of conda's and 250 wheels with 60,000 files in all; 60 of conda's have a dist-info
as well, as its Python packages do. --program is dump_inventory of a build (the target of that name): of an optimised
one for figures. Ours is read_inventory and the join by path, in a warm process and as a whole process; the peer is a
Python process that walks the files of all distributions (and reads nothing of conda's). Prints medians, the ratio and
memory. Exit status: 0 measured; 1 the median of the scan is 60 ms or more; 2 the two count different files.
"""
import argparse
import base64
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 60.0  # milliseconds
SITE = "lib/python3.11/site-packages"
PEER = """
import importlib.metadata, sys
count = 0
for distribution in importlib.metadata.distributions(path=[sys.argv[1]]):
    distribution.metadata["Name"], distribution.version
    for file in distribution.files or ():
        count += 1
print(count)
"""


def shares(total, parts):
    """Sizes as of real environments: one package of a sixth, a few large ones, many of some ten files."""
    weights = [1 / (rank + 3) for rank in range(parts)]
    sizes = [max(4, int(total * weight / sum(weights))) for weight in weights]
    sizes[0] += total - sum(sizes)
    return sizes


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def dist_info(root, name, version, files, installer):
    info = f"{name}-{version}.dist-info"
    extra = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
             + "Classifier: Programming Language :: Python\n" * 12
             + "".join(f"Requires-Dist: package{number}>=1.{number}\n" for number in range(8)) + "\n"
             + "A description of some length.\n" * 200,
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: bdist_wheel (0.41.2)\nTag: py3-none-any\n\n",
             f"{info}/INSTALLER": installer}
    lines = []
    for path in [*files, *extra]:
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.encode()).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(path) * 10}\n")
    lines.append(f"{info}/RECORD,,\n")
    for path, text in {**extra, f"{info}/RECORD": "".join(lines)}.items():
        write(root / SITE / path, text)
    return [*extra, f"{info}/RECORD"]


def conda_record(root, name, files):
    paths = [{"_path": path, "path_type": "hardlink", "sha256": (digest := hashlib.sha256(path.encode()).hexdigest()),
              "sha256_in_prefix": digest, "size_in_bytes": len(path) * 10} for path in files]
    write(root / f"conda-meta/{name}-1.0-py311_0.json", json.dumps(
        {"build": "py311_0", "build_number": 0, "channel": "https://conda.anaconda.org/conda-forge/linux-64",
         "constrains": [], "depends": [f"dependency{number} >=1.{number}" for number in range(8)], "files": files,
         "name": name, "paths_data": {"paths": paths, "paths_version": 1}, "version": "1.0"}, indent=2))


def make(root):
    """An environment whose files are empty: only records are read."""
    total = 0
    for kind, sizes in (("conda", shares(29400, 250)), ("wheel", shares(29400, 250))):
        for number, size in enumerate(sizes):
            name = f"{kind}_package{number}"
            python = kind == "wheel" or number % 4 == 1
            base = name if python else f"include/{name}"
            files = [f"{base}/part{file % 7}/sub_module{file // 40}/file_with_a_name_{file}.py" for file in range(size)]
            inside = [f"{SITE}/{file}" if python else file for file in files]
            for file in inside:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).touch()
            if kind == "wheel" or number % 4 == 1:
                inside += [f"{SITE}/{path}" for path in
                           dist_info(root, name, "1.0", files, "pip\n" if kind == "wheel" else "conda\n")]
            if kind == "conda":
                conda_record(root, name, inside)
            total += len(inside)
    write(root / "conda-meta/history", "")
    return total


def milliseconds(command):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return (time.perf_counter() - begin) * 1000, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--python", default=sys.executable)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as work:
        root = Path(work)
        total = make(root)
        size = sum(file.stat().st_size for file in root.glob("conda-meta/*"))
        size += sum(file.stat().st_size for file in root.glob(f"{SITE}/*.dist-info/RECORD"))
        print(f"{total} files, records of {size / 1e6:.1f} MB")
        scans, joins, wholes, peers = [], [], [], []
        program = os.path.abspath(told.program)
        for _ in range(told.runs):
            _, output = milliseconds([program, "--time", "2", work])
            read, join = map(float, output.splitlines()[1].split())
            scans.append(read + join)
            joins.append(join)
            wholes.append(milliseconds([program, "--time", "1", work])[0])
            spent, counted = milliseconds([told.python, "-c", PEER, str(root / SITE)])
            peers.append(spent)
        facts = output.splitlines()[-1].split()
        dumped = json.loads(subprocess.run([program, work], capture_output=True, check=True).stdout)
    for label, rows in (("read and join", scans), ("  of that the join", joins), ("as a whole process", wholes),
                        ("importlib.metadata", peers)):
        print(f"{label:20} median {statistics.median(rows):7.2f} ms  least {min(rows):7.2f}  most {max(rows):7.2f}")
    ratio = statistics.median(peers) / statistics.median(wholes)
    print(f"the peer takes {ratio:.1f} times as long as our whole process")
    print(f"{facts[1]} claims in {int(facts[3]) / 1e6:.1f} MB, the join {int(facts[5]) / 1e6:.1f} MB")
    ours = sum(len(distribution["files"]) for distribution in dumped["distributions"])
    if ours != int(counted):
        print(f"ours has {ours} files of distributions, importlib.metadata {counted.strip()}")
        return 2
    return 1 if statistics.median(scans) >= LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())
