#!/usr/bin/env python3
"""The inventory of a large environment beside Python's importlib.metadata, in alternation.

usage: bench_inventory.py --program DUMP_INVENTORY [--runs N] [--python PYTHON]

Makes an environment of 250 packages of conda's and 250 wheels with 60,000 files in all; 60 of conda's have a dist-info
as well, as its Python packages do. --program is dump_inventory of a build (the target of that name): of an optimised
one for figures. Ours is read_inventory and the join by path, in a warm process and as a whole process; the peer is a
Python process that walks the files of all distributions (and reads nothing of conda's). Prints medians, the ratio and
memory.

Then the files themselves, 200 MB of libraries among them: the look at all of them where nothing speaks against one;
and where all have to be read (as in a copied environment), from the disk and from the page cache, beside sha256sum on
the same files, also in alternation and each as a whole process; and once more with the digests kept.

Exit status: 0 measured; 1 the median of the scan is 60 ms or more, or that of the look 100 ms; 2 the two count
different files.
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
LOOK_LIMIT = 100.0
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
        text = extra.get(path, content(path)).encode()
        digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(text)}\n")
    lines.append(f"{info}/RECORD,,\n")
    for path, text in {**extra, f"{info}/RECORD": "".join(lines)}.items():
        write(root / SITE / path, text)
    return [*extra, f"{info}/RECORD"]


def conda_record(root, name, files):
    paths = []
    for path in files:
        data = (root / path).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        paths.append({"_path": path, "path_type": "hardlink", "sha256": digest, "sha256_in_prefix": digest,
                      "size_in_bytes": len(data)})
    write(root / f"conda-meta/{name}-1.0-py311_0.json", json.dumps(
        {"build": "py311_0", "build_number": 0, "channel": "https://conda.anaconda.org/conda-forge/linux-64",
         "constrains": [], "depends": [f"dependency{number} >=1.{number}" for number in range(8)], "files": files,
         "name": name, "paths_data": {"paths": paths, "paths_version": 1}, "version": "1.0"}, indent=2))


def content(path):
    """What a file has: some hundred bytes."""
    return path * 10


def make(root):
    total = 0
    for kind, sizes in (("conda", shares(29400, 250)), ("wheel", shares(29400, 250))):
        for number, size in enumerate(sizes):
            name = f"{kind}_package{number}"
            python = kind == "wheel" or number % 4 == 1
            base = name if python else f"include/{name}"
            files = [f"{base}/part{file % 7}/sub_module{file // 40}/file_with_a_name_{file}.py" for file in range(size)]
            inside = [f"{SITE}/{file}" if python else file for file in files]
            for short, file in zip(files, inside):
                write(root / file, content(short))
            if kind == "wheel" or number % 4 == 1:
                inside += [f"{SITE}/{path}" for path in
                           dist_info(root, name, "1.0", files, "pip\n" if kind == "wheel" else "conda\n")]
            if kind == "conda":
                conda_record(root, name, inside)
            total += len(inside)
    write(root / "conda-meta/history", "")
    return total


def add_libraries(root):
    """A wheel with what torch's are made of: a few files with most of the bytes."""
    info = "libraries-1.0.dist-info"
    lines = []
    for number, size in enumerate((100, 50, 20, 10, 10, 5, 5)):
        data = os.urandom(size << 20)
        path = f"libraries/lib{number}.so"
        write(root / SITE / path, "")
        (root / SITE / path).write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    write(root / SITE / info / "METADATA", "Metadata-Version: 2.1\nName: libraries\nVersion: 1.0\n\n")
    write(root / SITE / info / "RECORD", "".join(lines) + f"{info}/RECORD,,\n")


def make_old(root):
    """Records that are older than all files, as in a copy that kept the times of modification."""
    for record in [*root.glob("conda-meta/*.json"), *root.glob(f"{SITE}/*.dist-info")]:
        os.utime(record, (1_000_000_000, 1_000_000_000))


def forget(files):
    """Takes them out of the page cache."""
    os.sync()
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def row(label, times):
    print(f"{label:28} median {statistics.median(times):8.1f} ms  least {min(times):8.1f}  most {max(times):8.1f}")
    return statistics.median(times)


def bench_files(program, root, runs):
    """The median of the look at all files, in milliseconds."""
    add_libraries(root)
    _, output = milliseconds([program, "--time-examine", str(runs), str(root)])
    lines = output.splitlines()
    looks = [float(line) for line in lines[:-1]]
    cost = json.loads(lines[-1])
    print(f"{cost['looked_at']} files looked at, {cost['hashed']} read, {cost['held']} held")
    look = row("the look alone", looks)
    make_old(root)
    states = json.loads(subprocess.run([program, "--examine", str(root)], capture_output=True, check=True).stdout)
    files = [file for folder, _, names in os.walk(root) for file in (os.path.join(folder, name) for name in names)
             if "conda-meta" not in folder and os.path.basename(file) not in ("RECORD", "INSTALLER")]
    print(f"{states['hashed']} files read, {states['bytes'] / 1e6:.0f} MB; sha256sum reads {len(files)}")
    listing = root.with_name(root.name + ".list")
    listing.write_bytes(b"\0".join(os.fsencode(file) for file in files))
    commands = {"examine": [program, "--time-examine", "1", str(root)],
                "sha256sum": ["xargs", "-0", "-a", str(listing), "sha256sum"]}
    times = {}
    for _ in range(max(3, runs // 3)):
        for temperature in ("from disk", "from memory"):
            for who, command in commands.items():
                if temperature == "from disk":
                    forget(files)
                times.setdefault((who, temperature), []).append(milliseconds(command)[0])
    medians = {key: row(f"{key[0]}, {key[1]}", spent) for key, spent in times.items()}
    for temperature in ("from disk", "from memory"):
        ratio = medians["sha256sum", temperature] / medians["examine", temperature]
        print(f"{temperature} sha256sum takes {ratio:.1f} times as long as examine "
              f"({states['bytes'] / 1e6 / medians['examine', temperature]:.2f} GB/s)")
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-cache-") as cache:
        command = [program, "--time-examine", "1", str(root), cache]
        milliseconds(command)
        row("examine, digests kept", [milliseconds(command)[0] for _ in range(max(3, runs // 3))])
    listing.unlink()
    return look


def milliseconds(command):
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return (time.perf_counter() - begin) * 1000, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as work:
        root = Path(work)
        total = make(root)
        size = sum(file.stat().st_size for file in root.glob("conda-meta/*"))
        size += sum(file.stat().st_size for file in root.glob(f"{SITE}/*.dist-info/RECORD"))
        print(f"{total} files, records of {size / 1e6:.1f} MB")
        scans, joins, wholes, peers = [], [], [], []
        program = os.path.abspath(arguments.program)
        for _ in range(arguments.runs):
            _, output = milliseconds([program, "--time", "2", work])
            read, join = map(float, output.splitlines()[1].split())
            scans.append(read + join)
            joins.append(join)
            wholes.append(milliseconds([program, "--time", "1", work])[0])
            spent, counted = milliseconds([arguments.python, "-c", PEER, str(root / SITE)])
            peers.append(spent)
        facts = output.splitlines()[-1].split()
        dumped = json.loads(subprocess.run([program, work], capture_output=True, check=True).stdout)
        look = bench_files(program, root, arguments.runs)
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
    return 1 if statistics.median(scans) >= LIMIT or look >= LOOK_LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())
