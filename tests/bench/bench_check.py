#!/usr/bin/env python3
"""Whole-process time of `cudaenv check` beside cuda-doctor and env-repair, in alternation, on one environment.

usage: bench_check.py --cudaenv BIN --environment PREFIX [--cuda-doctor BIN] [--env-repair BIN] [--runs N]

Both peers are PyPI packages (cuda-doctor==0.2.0, env-repair==0.2.7); cuda-doctor looks at the environment of the Python that
it is installed for, so that PREFIX should be the environment in which both are. cudaenv answers without a daemon, its
first time with nothing kept and then with the digests that it keeps. Prints medians and ratios. Exit status: 0
measured, 1 a peer took less than ten times as long as `cudaenv check` (warm).
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time

RATIO = 10


def seconds(command, environment):
    begin = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--environment", required=True)
    parser.add_argument("--cuda-doctor", default=shutil.which("cuda-doctor"))
    parser.add_argument("--env-repair", default=shutil.which("env-repair"))
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    prefix = os.path.abspath(arguments.environment)
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as work:
        cache = os.path.join(work, "cache")
        environment = {**os.environ, "CUDAENV_CACHE_DIR": cache, "CUDAENV_STATE_DIR": os.path.join(work, "state"),
                       "CUDAENV_NO_DAEMON": "1", "VIRTUAL_ENV": prefix}
        ours = [os.path.abspath(arguments.cudaenv), "check", "-p", prefix, "--json"]
        peers = {name: command for name, command in (
            ("cuda-doctor", arguments.cuda_doctor and [arguments.cuda_doctor, "diagnose"]),
            ("env-repair", arguments.env_repair and [arguments.env_repair, "--env", prefix, "--json"])) if command}
        commands = {"cudaenv, nothing kept": ours, "cudaenv, warm": ours, **peers}
        runs = {name: [] for name in commands}
        for command in commands.values():
            seconds(command, environment)
        for _ in range(arguments.runs):
            for name, command in commands.items():
                if name == "cudaenv, nothing kept":
                    shutil.rmtree(cache, ignore_errors=True)
                runs[name].append(seconds(command, environment))
    medians = {name: statistics.median(rows) for name, rows in runs.items()}
    warm = medians["cudaenv, warm"]
    for name, median in medians.items():
        print(f"{name:22} median {median * 1000:7.1f} ms  least {min(runs[name]) * 1000:7.1f} ms  "
              f"{median / warm:6.1f} times cudaenv, warm")
    for name in ("cuda-doctor", "env-repair"):
        if name not in peers:
            print(f"{name} is not installed (PyPI), so it is no peer here")
    return 1 if any(medians[name] < RATIO * warm for name in peers) else 0


if __name__ == "__main__":
    raise SystemExit(main())
