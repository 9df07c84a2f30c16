#!/usr/bin/env python3
"""Spec lists drawn at random from what the channel slices hold, in the form of peer_cases.json.

usage: random_cases.py SLICES OUT.json [--seed N] [--count N]

SLICES are the unpacked slices (compare.py --work DIR leaves them in DIR/slices). Names come by how often they are
depended on and from a list of what GPU users ask for; constraints are cut from versions and builds that exist, so that
most lists can be solved and the rest nearly.
"""
import argparse
import collections
import json
import os
import random

CHANNELS = [["conda-forge"], ["conda-forge"], ["conda-forge"], ["main"], ["main"], ["pytorch", "main"],
            ["pytorch", "nvidia", "conda-forge"], ["nvidia", "conda-forge"], ["rapidsai", "conda-forge", "nvidia"],
            ["nvidia-label-cuda-11.8.0", "conda-forge"], ["nvidia-label-cuda-12.4.0", "conda-forge"],
            ["main", "conda-forge"], ["conda-forge", "main"]]
CUDAS = [None, "10.2", "11.4", "11.8", "12.2", "12.4", "12.8", "13.0"]
WANTED = """pytorch pytorch-gpu torchvision torchaudio pytorch-cuda cudatoolkit cuda-version cuda-toolkit cuda-nvcc cudnn nccl
tensorflow tensorflow-gpu jax jaxlib cupy numba numpy scipy pandas scikit-learn matplotlib python cudf cuml rmm keras triton
mkl nomkl blas openblas libblas gxx gcc ninja cmake opencv faiss faiss-gpu transformers xgboost lightgbm ipython jupyterlab
cuda-cudart libcublas cuda-python pycuda flash-attn xformers magma theano pygpu mxnet torchtext pip setuptools""".split()


def load(slices, channel):
    records = collections.defaultdict(list)
    for subdir in ("linux-64", "noarch"):
        path = os.path.join(slices, channel, subdir, "repodata.json")
        if os.path.exists(path):
            with open(path) as file:
                data = json.load(file)
            for section in ("packages", "packages.conda"):
                for record in data[section].values():
                    records[record["name"]].append(record)
    return dict(records)


def spec_for(rng, name, record):
    version, build = record["version"], record["build"]
    parts = version.split(".")
    short = ".".join(parts[:rng.choice([1, 2, 2, 3])])
    flavour = next((word for word in ("cuda", "cpu", "mkl", "openblas", "py3", "py2") if word in build), None)
    forms = [lambda: name, lambda: name, lambda: name, lambda: f"{name}={short}", lambda: f"{name}={short}",
             lambda: f"{name}=={version}", lambda: f"{name}>={short}", lambda: f"{name}<{short}",
             lambda: f"{name}<={version}", lambda: f"{name} {version} {build}", lambda: f"{name}={version}={build}",
             lambda: f"{name}[version='>={short}']", lambda: f"{name}!={version}",
             lambda: f"{name}>={short},<{int(parts[0]) + 1 if parts[0].isdigit() else 9}",
             lambda: f"{name}~={short}" if "." in short else name]
    if flavour:
        forms += [lambda: f"{name}=*=*{flavour}*", lambda: f"{name}[build=*{flavour}*]"]
    return rng.choice(forms)()


def draw(rng, by_channel, popular):
    channels = rng.choice(CHANNELS)
    records = collections.ChainMap(*(by_channel[c] for c in channels))
    here = [name for name in WANTED if name in records]
    names = rng.sample(here, min(len(here), rng.choice([1, 1, 2, 2, 3])))
    if rng.random() < 0.3:
        names.append(rng.choice([n for n in popular[channels[-1]] if n in records] or here))
    if rng.random() < 0.3 and "python" in records:
        names.append("python")
    specs = [spec_for(rng, name, rng.choice(records[name])) for name in dict.fromkeys(names)]
    return {"channels": channels, "cuda": rng.choice(CUDAS), "specs": specs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slices")
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    by_channel = {c: load(arguments.slices, c) for c in sorted({c for group in CHANNELS for c in group})}
    popular = {}
    for channel, records in by_channel.items():
        count = collections.Counter(d.split()[0] for rs in records.values() for r in rs for d in r.get("depends", []))
        popular[channel] = [name for name, _ in count.most_common(300) if not name.startswith("_")]
    cases = [dict(name=f"random-{arguments.seed}-{i}", **draw(rng, by_channel, popular))
             for i in range(arguments.count)]
    with open(arguments.out, "w") as file:
        json.dump({"cases": cases}, file, indent=0)


if __name__ == "__main__":
    main()
