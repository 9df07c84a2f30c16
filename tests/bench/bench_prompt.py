#!/usr/bin/env python3
"""What a prompt costs where nothing has changed, in bash and zsh, beside direnv's hook in the same run.

usage: bench_prompt.py --cudaenv BIN [--calls N] [--direnv-calls N] [--limit MICROSECONDS]

The program and its hook are the real ones. Two places: `home`, where no project and no environment is, and `project`,
a directory three below the home directory with a pinned CUDA, an active conda environment and conda's function; a
toolkit is active where this machine has one. In each the shell evaluates the hook, the files are left to settle, and then the hook's
prompt function is called N times (10000 if not said), 20 at a time between two readings of the clock; the calls
before and after are checked to have asked the program nothing. direnv's hook (`eval "$(direnv export SHELL)"`) is
called in the same directories, with a loaded and allowed .envrc in the project. Prints medians and ratios.
That the calls start no process is seen in what the kernel counts of the shell's ended children: their page faults.
Exit status: 0 measured, 1 a median of ours is over the limit (30 microseconds), 2 the prompt was not a skipped one, or
started a process.
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

BATCH = 20
CLOCK = {"bash": "", "zsh": "zmodload zsh/datetime; "}
CALL = {"bash": '__cudaenv_prompt "$?"', "zsh": "__cudaenv_prompt"}

SCRIPT = """\
%(clock)s
if [ -n "${CONDA_SHLVL-}" ]; then conda() { command conda "$@"; }; fi
eval "$("%(cudaenv)s" hook %(shell)s)"
cd "%(place)s" && __cudaenv_update
if __cudaenv_stale; then exit 20; fi
echo active ${CUDA_HOME-none}
batch() { %(calls)s; }
children() { read -r a b c d e f g h i of_process of_children rest < /proc/$$/stat; }
children; before=$of_children
k=0
while [ $k -lt %(batches)d ]; do
    k=$((k+1)); t=$EPOCHREALTIME; batch; echo ours $t $EPOCHREALTIME
done
children; [ "$of_children" = "$before" ] || exit 22
if __cudaenv_stale; then exit 21; fi
"""
DIRENV = """\
%(clock)s
cd "%(place)s"
eval "$("%(direnv)s" export %(shell)s 2>/dev/null)"
k=0
while [ $k -lt %(calls)d ]; do
    k=$((k+1)); t=$EPOCHREALTIME; eval "$("%(direnv)s" export %(shell)s)"; echo direnv $t $EPOCHREALTIME
done
"""


def run(shell, text, environment):
    done = subprocess.run([shell, "--norc" if shell == "bash" else "-f", "-c", text], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    times = []
    active = ""
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] in (["ours"], ["direnv"]):
            # bash writes the clock with the locale's point; here that is one.
            times.append((float(words[2]) - float(words[1])) * 1e6)
        elif words[:1] == ["active"]:
            active = words[1]
    return done.returncode, times, active, done.stderr


def settle(directory):
    """What was made just now does not count as settled: its times are put back by an hour."""
    hour_ago = time.time() - 3600
    for root, folders, files in os.walk(directory):
        for name in folders + files:
            os.utime(os.path.join(root, name), (hour_ago, hour_ago), follow_symlinks=False)


def make_places(work, cudaenv, direnv, environment):
    home = work / "home"
    project = home / "work" / "models" / "apex"
    prefix = home / "miniforge3" / "envs" / "apex"
    for folder in [project, prefix / "conda-meta", prefix / "lib/python3.11/site-packages"]:
        folder.mkdir(parents=True)
    (prefix / "conda-meta" / "history").write_text("")
    done = subprocess.run([cudaenv, "toolkits", "--json"], env=environment, capture_output=True, text=True, check=False)
    toolkits = json.loads(done.stdout or "{}").get("toolkits", [])
    version = ".".join(toolkits[0]["version"].split(".")[:2]) if toolkits else "11.3"
    (project / "cudaenv.toml").write_text(f'[pins]\ncuda = "{version}"\n')
    (project / ".envrc").write_text("export CUDA_HOME=/usr/local/cuda\n")
    settle(work)
    if direnv:
        subprocess.run([direnv, "allow", str(project)], env=environment, check=True)
    return {"home": (home, {}), "project": (project, {"CONDA_PREFIX": str(prefix), "CONDA_DEFAULT_ENV": "apex",
                                                                  "CONDA_SHLVL": "1", "CONDA_EXE": "/opt/conda"})}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--direnv", default=shutil.which("direnv"))
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--direnv-calls", type=int, default=200)
    parser.add_argument("--limit", type=float, default=30.0)
    arguments = parser.parse_args()
    cudaenv = os.path.abspath(arguments.cudaenv)
    over = False
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-") as name:
        work = Path(name)
        (work / "run").mkdir(mode=0o700)
        environment = {"HOME": str(work / "home"), "XDG_RUNTIME_DIR": str(work / "run"), "LC_ALL": "C.UTF-8",
                       "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "xterm",
                       "CUDAENV_NO_DAEMON": "1"}
        places = make_places(work, cudaenv, arguments.direnv, environment)
        if not arguments.direnv:
            print("direnv is not here (Debian package direnv): ours alone")
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores; microseconds a prompt, medians")
        for shell in ["bash", "zsh"]:
            if not shutil.which(shell):
                print(f"{shell} is not here (Debian package {shell})")
                continue
            for place, (directory, more) in places.items():
                fill = {"clock": CLOCK[shell], "cudaenv": cudaenv, "direnv": arguments.direnv, "shell": shell,
                        "place": directory}
                status, times, active, said = run(shell, SCRIPT % {
                    **fill, "calls": "; ".join([CALL[shell]] * BATCH), "batches": -(-arguments.calls // BATCH)},
                    {**environment, **more})
                if status != 0:
                    print(f"{shell} in {place}: not a skipped prompt (status {status}) {said}")
                    return 2
                ours = statistics.median(times) / BATCH
                low = min(times) / BATCH
                over = over or ours >= arguments.limit
                text = f"{shell:5}{place:9}cudaenv {ours:7.1f} (least {low:.1f}, {len(times) * BATCH} calls)"
                if arguments.direnv:
                    _, times, _, _ = run(shell, DIRENV % {**fill, "calls": arguments.direnv_calls}, {**environment, **more})
                    theirs = statistics.median(times)
                    text += f"   direnv {theirs:8.1f} ({len(times)} calls)   ratio {theirs / ours:6.0f}"
                print(text + f"   CUDA_HOME {active}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
