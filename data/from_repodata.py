#!/usr/bin/env python3
"""Writes data/conda.json: what conda's channels hold of the CUDA world, from their repodata.

usage: from_repodata.py DIR [DATE]    DIR/CHANNEL/linux-64/repodata.json[.zst] for conda-forge, main, ...

Two sections. `pytorch`: conda-forge's CUDA builds of pytorch, one row for each release and CUDA, with the Pythons that
all builds of it together have. `cudnn`: each version with the CUDA it is for and the channels that have it.
"""
import json
import re
import subprocess
import sys
from pathlib import Path


def records(directory, channel):
    for path in sorted((directory / channel).glob("linux-64/repodata.json*")):
        text = subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout \
            if path.suffix == ".zst" else path.read_bytes()
        data = json.loads(text)
        for kind in ("packages", "packages.conda"):
            yield from data.get(kind, {}).values()


def key(text):
    return [int(part) for part in re.findall(r"\d+", text)]


def cuda_of(record):
    for dependency in record["depends"]:
        found = re.match(r"(cudatoolkit|cuda-version) .*?(\d+\.\d+)", dependency)
        if found:
            return found[2]
    found = re.search(r"cuda(\d+)(\d)(?=_|$)", record["build"])
    return f"{found[1]}.{found[2]}" if found else None


def pythons_of(record):
    for dependency in record["depends"]:
        found = re.match(r"(python_abi|python) .*?(\d+\.\d+)", dependency)
        if found:
            yield found[2]


def pytorch_rows(directory, date):
    rows = {}
    for record in records(directory, "conda-forge"):
        cuda = cuda_of(record) if record["name"] == "pytorch" and "cuda" in record["build"] else None
        if cuda and not re.search(r"[a-z]", record["version"]):
            row = rows.setdefault((record["version"], cuda), {"pythons": set(), "glibc": None})
            row["pythons"].update(pythons_of(record))
            for dependency in record["depends"]:
                found = re.match(r"__glibc >=(\d+\.\d+)", dependency)
                row["glibc"] = found[1] if found else row["glibc"]
    for (version, cuda), row in sorted(rows.items(), key=lambda item: (key(item[0][0]), key(item[0][1]))):
        # A channel's current repodata has some builds of a release; each Python between two of them has one too.
        minors = sorted(int(python.split(".")[1]) for python in row["pythons"])
        pythons = [f"3.{minor}" for minor in range(minors[0], minors[-1] + 1)]
        yield {"torch": version, "cuda": cuda, "python": pythons,
               **({"glibc": row["glibc"]} if row["glibc"] and key(row["glibc"]) > [2, 17] else {}),
               "source": f"conda-forge repodata, read {date}"}


def cudnn_rows(directory, date):
    rows = {}
    for channel in ("main", "conda-forge"):
        for record in records(directory, channel):
            if record["name"] == "cudnn":
                found = re.search(r"cuda(\d+)\.?(\d+)?", record["build"])
                cuda = cuda_of(record) or (f"{found[1]}.{found[2]}" if found and found[2] else found and found[1])
                row = rows.setdefault(record["version"], {"cuda": set(), "channels": []})
                row["cuda"].update([cuda] if cuda else [])
                if channel not in row["channels"]:
                    row["channels"].append(channel)
    for version, row in sorted(rows.items(), key=lambda item: key(item[0])):
        yield {"cudnn": version, "cuda": sorted(row["cuda"], key=key),
               "channels": ["defaults" if one == "main" else one for one in row["channels"]],
               "source": f"repodata of {' and '.join(row['channels'])}, read {date}"}


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    directory, date = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "2026-11-21"
    sections = {"pytorch": list(pytorch_rows(directory, date)), "cudnn": list(cudnn_rows(directory, date))}
    lines = ['{', '"about": "What conda\'s channels hold of the CUDA world, made by from_repodata.py.",',
             '"sources": {},']
    for index, (name, rows) in enumerate(sections.items()):
        lines.append(f'"{name}": [')
        lines.append(",\n".join("  " + json.dumps(row) for row in rows))
        lines.append("]" + ("," if index + 1 < len(sections) else ""))
    (Path(__file__).parent / "conda.json").write_text("\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
