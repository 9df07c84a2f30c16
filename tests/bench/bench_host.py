#!/usr/bin/env python3
"""Whole-process time of `cudaenv host` beside `cuda-doctor`, in alternation.

usage: bench_host.py --cudaenv BIN [--peer CUDA_DOCTOR] [--runs N]

cuda-doctor 0.2.0 is a PyPI package; --peer names its program (default: the one on PATH). Both look at this machine.
cudaenv is measured with an empty cache (each compiler and nvcc asked once) and warm (no child at all). Prints medians
and ratios. Exit status: 0 measured, 1 `cudaenv host` (warm) took 40 ms or more on a machine without a driver.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

LIMIT = 0.040  # seconds, on a machine without a driver


def seconds(command, environment):
    begin = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--peer", default=shutil.which("cuda-doctor"))
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as work:
        cache = os.path.join(work, "cache")
        environment = {**os.environ, "CUDAENV_CACHE_DIR": cache, "CUDAENV_NO_DAEMON": "1"}
        ours = [os.path.abspath(arguments.cudaenv), "host", "--json"]
        runs = {"cudaenv, no cache": [], "cudaenv, warm": []}
        if arguments.peer:
            runs["cuda-doctor"] = []
        seconds(ours, environment)
        for _ in range(arguments.runs):
            shutil.rmtree(cache, ignore_errors=True)
            runs["cudaenv, no cache"].append(seconds(ours, environment))
            runs["cudaenv, warm"].append(seconds(ours, environment))
            if arguments.peer:
                runs["cuda-doctor"].append(seconds([arguments.peer], os.environ))
    medians = {label: statistics.median(rows) for label, rows in runs.items()}
    for label, median in medians.items():
        ratio = f"  ratio to the peer {median / medians['cuda-doctor']:.2f}" if arguments.peer else ""
        print(f"{label:18} median {median * 1000:6.1f} ms  least {min(runs[label]) * 1000:6.1f} ms{ratio}")
    if not arguments.peer:
        print("cuda-doctor is not installed (PyPI: cuda-doctor==0.2.0), so there is no peer")
    has_driver = os.path.exists("/sys/module/nvidia/version")
    return 1 if not has_driver and medians["cudaenv, warm"] >= LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())
