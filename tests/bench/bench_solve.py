#!/usr/bin/env python3
"""Whole-process time of `cudaenv resolve` beside py-rattler on the same channel, in alternation.

usage: bench_solve.py --cudaenv BIN [--shared DIR] [--work DIR] [--runs N] [--big]

The request is `pytorch=*=*cuda* cuda-version=12.*` with __cuda 12.4 over the conda-forge slice; --big takes the
conda-forge-sized channel that shared/bench/make_channel.py writes (313 MB) instead. Runs go A B A B ..., so that both
meet the same noise; medians and their ratio are printed. cudaenv is measured cold (no cache) and warm. Needs py-rattler
0.28.0 (PyPI) in this Python. Exit status: 0 measured, 1 the answers differ or, on the slice, cudaenv (warm) took
half of the peer's time or more; 77 skipped.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SPECS = ["pytorch=*=*cuda*", "cuda-version=12.*"]
CUDA = "12.4"
SKIPPED = 77


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def slice_channel(shared, work):
    source = os.path.join(shared, "repodata", "slice", "conda-forge")
    if not os.path.isdir(source):
        skip(f"no {source}; give --shared or CUDAENV_SHARED")
    target = os.path.join(work, "conda-forge")
    for subdir in ("linux-64", "noarch"):
        os.makedirs(os.path.join(target, subdir), exist_ok=True)
        plain = os.path.join(target, subdir, "repodata.json")
        if not os.path.exists(plain):
            subprocess.run(["zstd", "-dqf", os.path.join(source, subdir, "repodata.json.zst"), "-o", plain], check=True)
    return target


def big_channel(shared, work):
    target = os.path.join(work, "big")
    if not os.path.exists(os.path.join(target, "noarch", "repodata.json")):
        maker = os.path.join(shared, "bench", "make_channel.py")
        if not os.path.exists(maker):
            skip(f"no {maker}; give --shared or CUDAENV_SHARED")
        subprocess.run([sys.executable, maker, target], check=True)
    return target


def measured(command, environment):
    """Seconds, peak memory in MiB, standard output."""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        child = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{command[0]} ended with {child.returncode}: {command}")
        out.seek(0)
        return took, usage.ru_maxrss / 1024, out.read().decode()


class Sides:
    def __init__(self, binary, shared, work, channel):
        self.work = work
        self.facts = os.path.join(work, "host.json")
        with open(self.facts, "w") as file:
            json.dump({"schema": "cudaenv.host/1", "driver": {"version": None, "cuda": CUDA, "source": "benchmark"},
                       "glibc": "2.36", "machine": "x86_64", "kernel": "6.1"}, file)
        self.cache = os.path.join(work, "cache")
        self.ours = [os.path.abspath(binary), "resolve", "--json", "--manager", "conda", "--host", self.facts,
                     "-c", channel, *SPECS]
        self.our_environment = {"PATH": os.environ["PATH"], "HOME": work, "CUDAENV_CACHE_DIR": self.cache,
                                "CUDAENV_NO_DAEMON": "1"}
        self.theirs = [sys.executable, os.path.join(shared, "bench", "rattler_solve.py"), channel, "--", *SPECS]
        self.their_environment = {**os.environ, "CUDAENV_BENCH_CUDA": CUDA}

    def warm(self):
        took, memory, text = measured(self.ours, self.our_environment)
        names = {f"{p['name']}-{p['version']}-{p['build']}" for p in json.loads(text)["packages"]}
        return took, memory, names

    def cold(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        return self.warm()

    def peer(self):
        took, memory, text = measured(self.theirs, self.their_environment)
        return took, memory, set(text.split())


def asked(names):
    return {name for name in names if name.rsplit("-", 2)[0] in ("pytorch", "cuda-version")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--shared", default=os.environ.get("CUDAENV_SHARED", os.path.join(HERE, "../../../shared")))
    parser.add_argument("--work", help="directory that keeps the channel (default: a temporary one)")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--big", action="store_true")
    arguments = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "import rattler, os; os._exit(0)"], stderr=subprocess.DEVNULL).returncode:
        skip("py-rattler is not installed for this Python: pip install py-rattler==0.28.0")
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as temporary:
        work = os.path.abspath(arguments.work or temporary)
        os.makedirs(work, exist_ok=True)
        channel = (big_channel if arguments.big else slice_channel)(arguments.shared, work)
        sides = Sides(arguments.cudaenv, arguments.shared, work, channel)
        sides.cold(), sides.peer()  # page cache and byte code
        time.sleep(0.1)
        runs = {"cold": [], "warm": [], "peer": []}
        for _ in range(arguments.runs):
            runs["cold"].append(sides.cold())
            runs["warm"].append(sides.warm())
            runs["peer"].append(sides.peer())
    report(runs, arguments)


def report(runs, arguments):
    took = {side: statistics.median(run[0] for run in rows) for side, rows in runs.items()}
    memory = {side: max(run[1] for run in rows) for side, rows in runs.items()}
    labels = {"cold": "cudaenv, no cache", "warm": "cudaenv, warm", "peer": "py-rattler"}
    for side, label in labels.items():
        least = min(run[0] for run in runs[side])
        print(f"{label:18} median {took[side] * 1000:7.1f} ms  least {least * 1000:7.1f} ms  "
              f"peak {memory[side]:5.0f} MiB  ratio to the peer {took[side] / took['peer']:.2f}")
    same = asked(runs["warm"][0][2]) == asked(runs["peer"][0][2]) == asked(runs["cold"][0][2])
    print("the same pytorch and cuda-version" if same else
          f"DIFFERENT: {asked(runs['warm'][0][2])} and {asked(runs['peer'][0][2])}")
    fast_enough = arguments.big or took["warm"] < took["peer"] / 2
    if not fast_enough:
        print("not less than half of the peer's time")
    sys.exit(0 if same and fast_enough else 1)


if __name__ == "__main__":
    main()
