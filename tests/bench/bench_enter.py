#!/usr/bin/env python3
"""What entering a project costs: the client's whole process beside direnv's, in alternation.

usage: bench_enter.py --cudaenv BIN [--runs N]

Ours is `cudaenv prompt bash` in a directory with a pinned CUDA, from an environment where nothing is active yet: with
the daemon warm, and without one (CUDAENV_NO_DAEMON, the caches of compilers' versions warm). direnv's is
`direnv export bash` in a directory with an allowed .envrc that exports CUDA_HOME and prepends to PATH: a first load.
Both answers are checked to hold the change. Prints medians, ratios and the client's system calls (strace).
Exit status: 0 measured; 1 a figure is over its limit: 2 ms with the daemon, 15 ms without, direnv less than 5 times as
slow, 30 system calls; 2 an answer was wrong.
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


def run(command, environment, place, times):
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=place, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    times.append((time.perf_counter() - begin) * 1000)
    if b"CUDA_HOME" not in done.stdout:
        sys.exit(f"{command[0]} gave no CUDA_HOME: {done.stdout[:200]!r} {done.stderr[:200]!r}")


def null(environment, times):
    begin = time.perf_counter()
    subprocess.run(["/bin/true"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    times.append((time.perf_counter() - begin) * 1000)


def system_calls(command, environment, place):
    if not shutil.which("strace"):
        return None
    done = subprocess.run(["strace", "-o", "/dev/stderr", *command], env=environment, cwd=place,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
    return sum("(" in line and not line.startswith(("---", "+++")) for line in done.stderr.splitlines())


def toolkit_version(cudaenv, environment):
    import json
    listed = json.loads(subprocess.run([cudaenv, "toolkits", "--json"], env=environment, capture_output=True,
                                       check=True).stdout)
    usable = [row["version"] for row in listed["toolkits"] if row["nvcc"] and row["version"] and not row["problem"]]
    return ".".join(usable[0].split(".")[:2]) if usable else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--runs", type=int, default=60)
    arguments = parser.parse_args()
    cudaenv = os.path.abspath(arguments.cudaenv)
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as work:
        root = Path(work)
        for name in ("home", "run", "ours", "theirs"):
            (root / name).mkdir(mode=0o700)
        plain = {"HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root / "run"), "PATH": "/usr/bin:/bin",
                 "LANG": "C.UTF-8"}
        alone = {**plain, "CUDAENV_NO_DAEMON": "1"}
        version = toolkit_version(cudaenv, alone)
        if version is None:
            print("skipped: no CUDA toolkit with nvcc on this machine")
            return 0
        (root / "ours/cudaenv.toml").write_text(f'[pins]\ncuda = "{version}"\n')
        (root / "theirs/.envrc").write_text("export CUDA_HOME=/usr/local/cuda\nPATH_add /usr/local/cuda/bin\n")
        ours = [cudaenv, "prompt", "bash"]
        direnv = shutil.which("direnv")
        rows = {"with the daemon": [], "without": [], "/bin/true": []}
        if direnv:
            subprocess.run([direnv, "allow", str(root / "theirs")], env=plain, check=True)
            rows["direnv, first load"] = []
        subprocess.run([cudaenv, "daemon", "start"], env=plain, capture_output=True, check=True)
        try:
            run(ours, plain, root / "ours", [])
            run(ours, alone, root / "ours", [])
            for _ in range(arguments.runs):
                run(ours, plain, root / "ours", rows["with the daemon"])
                run(ours, alone, root / "ours", rows["without"])
                null(plain, rows["/bin/true"])
                if direnv:
                    run([direnv, "export", "bash"], plain, root / "theirs", rows["direnv, first load"])
            calls = system_calls(ours, plain, root / "ours")
        finally:
            subprocess.run([cudaenv, "daemon", "stop"], env=plain, capture_output=True, check=False)
    medians = {label: statistics.median(times) for label, times in rows.items()}
    for label, median in medians.items():
        ratio = f"  1/{medians['direnv, first load'] / median:.1f} of direnv" if direnv else ""
        print(f"{label:20} median {median:6.2f} ms  least {min(rows[label]):6.2f} ms{ratio}")
    print(f"client's system calls with the daemon: {calls if calls is not None else 'strace is not here'}")
    over = [medians["with the daemon"] > 2.0, medians["without"] > 15.0, (calls or 0) >= 30]
    if direnv:
        over.append(medians["direnv, first load"] < 5 * medians["with the daemon"])
    return 1 if any(over) else 0


if __name__ == "__main__":
    sys.exit(main())
