#!/usr/bin/env python3
"""The quick probe beside a bare program (cuInit, one kernel, its result compared), alternating in one run.

usage: bench_probe.py --cudaenv BIN --probe BIN [--nvcc NVCC] [--runs N] [--limit RATIO]

Three commands: the bare program (tests/bench/bare_kernel.cu, built here for this GPU), `cudaenv-probe` with a quick
request, and `cudaenv probe` itself with a daemon that is warm. Prints medians and the ratios to the bare program.
Exit status: 0 within the limit (1.25 for cudaenv-probe), 1 over it, 77 no GPU or no nvcc here.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds(command, environment):
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    took = time.perf_counter() - begun
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: status {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--nvcc", default=shutil.which("nvcc"))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--limit", type=float, default=1.25)
    told = parser.parse_args()
    if not told.nvcc:
        print("skipped: no nvcc on PATH for the bare program")
        return 77
    if not os.path.exists("/proc/driver/nvidia/version"):
        print("skipped: no NVIDIA driver here")
        return 77
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as name:
        work = Path(name)
        bare = str(work / "bare")
        subprocess.run([told.nvcc, "-arch=native", "-o", bare, str(Path(__file__).with_name("bare_kernel.cu"))],
                       check=True)
        (work / "run").mkdir(mode=0o700)
        environment = {**os.environ, "HOME": name, "XDG_RUNTIME_DIR": str(work / "run"), "XDG_CACHE_HOME": name,
                       "CUDAENV_START_DAEMON": "1"}
        cudaenv = os.path.abspath(told.cudaenv)
        subprocess.run([cudaenv, "daemon", "start"], env=environment, check=True, stdout=subprocess.DEVNULL)
        commands = {"bare": [bare],
                    "cudaenv-probe": [os.path.abspath(told.probe), "--ladder", '{"depth": "quick"}'],
                    "cudaenv probe": [cudaenv, "probe"]}
        times = {name: [] for name in commands}
        try:
            for turn in range(told.runs + 1):
                for label, command in commands.items():
                    took = seconds(command, environment)
                    if turn > 0:  # the first of each warms the files
                        times[label].append(took)
        finally:
            subprocess.run([cudaenv, "daemon", "stop"], env=environment, check=False, stdout=subprocess.DEVNULL)
    medians = {label: statistics.median(taken) for label, taken in times.items()}
    for label, median in medians.items():
        print(f"{label:14} {median * 1000:7.1f} ms   {median / medians['bare']:.2f} of bare   "
              f"(least {min(times[label]) * 1000:.1f}, {len(times[label])} runs)")
    return 1 if medians["cudaenv-probe"] > told.limit * medians["bare"] else 0


if __name__ == "__main__":
    sys.exit(main())
