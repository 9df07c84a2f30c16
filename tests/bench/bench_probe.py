#!/usr/bin/env python3
"""The quick probe beside a bare program (cuInit, one kernel, its result compared), alternating in one run.

usage: bench_probe.py --cudaenv BIN --probe BIN [--cudart FILE] [--nvcc NVCC] [--runs N] [--limit RATIO]
                      [--json FILE]

Three commands: the bare program (tests/bench/bare_kernel.cu, built here for this GPU), `cudaenv-probe` with the quick
request that `cudaenv probe` would make, and `cudaenv probe` itself with a daemon that is warm. The request has the
libcudart that `cudaenv probe` finds here, else the one of nvcc's toolkit; --cudart takes another. Prints medians and
the ratios to the bare program; --json writes them to a file with every single time.
Exit status: 0 both within the limit (1.25), 1 one over it, 77 no GPU, no nvcc or no libcudart here.
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
from pathlib import Path


def seconds(command, environment):
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False)
    took = time.perf_counter() - begun
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: status {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return took


def libcudart(cudaenv, nvcc, environment):
    """The file that `cudaenv probe` tries here; else the toolkit's; None where there is neither."""
    said = subprocess.run([cudaenv, "probe", "--json"], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    try:
        found = json.loads(said.stdout).get("runtime_path")
    except ValueError:
        raise SystemExit(f"cudaenv probe --json: status {said.returncode}: {said.stderr[-500:]}") from None
    if found:
        return found
    toolkit = Path(os.path.realpath(nvcc)).parent.parent
    return next((str(file) for place in ("lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib")
                 for file in sorted((toolkit / place).glob("libcudart.so.*"))), None)


def measure(arguments, bare, cudaenv, cudart, environment):
    """Seconds of each command, alternating; the first of each warms the files and is left out."""
    libraries = {"cudart": [cudart], "nvrtc": [], "cublas": [], "cudnn": [], "nccl": []}
    request = json.dumps({"depth": "quick", "all_gpus": False, "libraries": libraries})
    commands = {"bare": [bare], "cudaenv-probe": [os.path.abspath(arguments.probe), "--ladder", request],
                "cudaenv probe": [cudaenv, "probe"]}
    climbed = subprocess.run(commands["cudaenv-probe"], env=environment, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=True).stdout
    rungs = {line["step"]: line["result"] for line in map(json.loads, climbed.splitlines()) if "result" in line}
    # What ends early is quick, and no measure.
    if rungs.get("runtime") != "ok" or rungs.get("kernel") != "ok":
        raise SystemExit(f"the ladder with {cudart} is not climbed to its end: {rungs}")
    times = {label: [] for label in commands}
    for turn in range(arguments.runs + 1):
        for label, command in commands.items():
            took = seconds(command, environment)
            if turn > 0:
                times[label].append(took)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--cudart")
    parser.add_argument("--nvcc", default=shutil.which("nvcc"))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--limit", type=float, default=1.25)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not arguments.nvcc:
        print("skipped: no nvcc on PATH for the bare program")
        return 77
    if not os.path.exists("/proc/driver/nvidia/version"):
        print("skipped: no NVIDIA driver here")
        return 77
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as name:
        work = Path(name)
        bare = str(work / "bare")
        subprocess.run([arguments.nvcc, "-arch=native", "-o", bare, str(Path(__file__).with_name("bare_kernel.cu"))],
                       check=True)
        (work / "run").mkdir(mode=0o700)
        environment = {**os.environ, "HOME": name, "XDG_RUNTIME_DIR": str(work / "run"), "XDG_CACHE_HOME": name,
                       "CUDAENV_START_DAEMON": "1"}
        cudaenv = os.path.abspath(arguments.cudaenv)
        subprocess.run([cudaenv, "daemon", "start"], env=environment, check=True, stdout=subprocess.DEVNULL)
        try:
            cudart = arguments.cudart or libcudart(cudaenv, arguments.nvcc, environment)
            if cudart is None:
                print("skipped: no libcudart here; --cudart FILE names one")
                return 77
            times = measure(arguments, bare, cudaenv, cudart, environment)
        finally:
            subprocess.run([cudaenv, "daemon", "stop"], env=environment, check=False, stdout=subprocess.DEVNULL)
    medians = {label: statistics.median(taken) for label, taken in times.items()}
    ratios = {label: median / medians["bare"] for label, median in medians.items()}
    print(f"libcudart: {cudart}")
    for label, median in medians.items():
        print(f"{label:14} {median * 1000:7.1f} ms   {ratios[label]:.2f} of bare   "
              f"(least {min(times[label]) * 1000:.1f}, {len(times[label])} runs)"
              f"{'   over the limit' if ratios[label] > arguments.limit else ''}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"cudart": cudart, "limit": arguments.limit, "ratios": ratios,
                                         "medians_s": medians, "times_s": times}, indent=1) + "\n")
    return 1 if max(ratios.values()) > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
