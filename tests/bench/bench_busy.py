#!/usr/bin/env python3
"""Right at the first prompt on a cold and busy machine: how often, and after which wait.

usage: bench_busy.py [--build DIR] [--count N] [--shells LIST] [--kinds LIST] [--loads LIST] [--daemon no|yes|both]
                     [--users LIST] [--cpus N] [--drop-caches] [--json FILE] ...

Each activation is made in a new interactive shell in a pseudo-terminal, with an empty state directory, cache and
runtime directory: the activation's line and `nvcc --version; echo "[$CUDA_HOME]"` are written at once. The kinds:
  venv    `. venv/bin/activate`, whose torch says CUDA 11.8 (xonsh: `vox activate`)
  conda   `conda activate` of such an environment, by conda's own function (--conda, or conda on PATH)
  pin     `cd` to a directory with a pin
  switch  `cd` to it from a directory with another pin, which is active by then
Counted is what the second line saw: right; wrong (another release or another CUDA_HOME); empty; hung (nothing within
--deadline). "said": it was not right, and a message said so; "silent": none did. "later": where it was not right, the
prompt at which it was (of five that follow). The wait is from the writing of both lines to the first that nvcc, or the
shell that finds none, shows.
Beside cudaenv, in alternation: the same shell without a hook (conda's row without a hook is conda's own time), and
direnv's hook with an .envrc. `--daemon yes`: one starts at the shell's first prompt, cold like all else.
The load is N processes that spin, of the same user and of niceness 0, each in a session of its own.
Of other users than the own only root can be measured: run it as root for `--users nobody,root`.
Exit status: 0 measured and always right or said; 1 something was wrong or silent.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import math
import multiprocessing
import os
import platform
import pwd
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import busy_shell
import busy_world

REPOSITORY = Path(__file__).resolve().parents[2]
COLUMNS = ["shell", "kind", "by", "user", "load", "right", "wrong", "empty", "hung", "said", "silent", "later",
           "min", "median", "p95", "p99", "max"]


def words(text):
    return [word for word in text.split(",") if word]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build/release",
                        help="build tree or installed prefix (build/release)")
    parser.add_argument("--count", type=int, default=200, help="activations of each kind (200)")
    parser.add_argument("--shells", type=words, default=busy_world.driver.SHELLS)
    parser.add_argument("--kinds", type=words, default=busy_world.KINDS)
    parser.add_argument("--loads", type=lambda text: [int(word) for word in words(text)], default=[0, 8, 16])
    parser.add_argument("--daemon", choices=["yes", "no", "both"], default="both")
    parser.add_argument("--beside", type=words, default=["plain", "direnv"], help="plain,direnv; empty: cudaenv alone")
    own = pwd.getpwuid(os.getuid()).pw_name
    parser.add_argument("--users", type=words, default=["nobody", "root"] if own == "root" else [own])
    parser.add_argument("--cpus", type=int, help="all runs on that many of the cores")
    parser.add_argument("--drop-caches", action="store_true", help="empty the kernel's caches before each shell (root)")
    parser.add_argument("--jobs", type=int, default=1, help="activations at the same time (1)")
    parser.add_argument("--packages", type=int, default=150, help="other packages in each environment (150)")
    parser.add_argument("--conda", default=shutil.which("conda"), help="conda's program")
    parser.add_argument("--deadline", type=float, default=60.0, help="seconds (60)")
    parser.add_argument("--root", type=Path, default=Path("/var/tmp"), help="where the files are (/var/tmp)")
    parser.add_argument("--json", type=Path, help="all that was measured, into this file")
    return parser.parse_args()


def drop_caches():
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3\n")


def one(world, cell, owner, wanted, options):
    """One activation, in a worker."""
    home = world.home(cell["shell"], cell["kind"], cell["tool"], cell["daemon"], owner)
    try:
        if options.drop_caches:
            drop_caches()
        expected = cell["tool"] != "plain"
        return busy_shell.activate(cell["shell"], home, owner, wanted, options.deadline, 5 if expected else 0)
    finally:
        shutil.rmtree(home.root, ignore_errors=True)


def percentile(times, part):
    """The nearest rank."""
    return times[max(0, math.ceil(part * len(times)) - 1)]


def row_of(cell, seen):
    waits = sorted(one.wait for one in seen if one.wait is not None)
    row = {**cell, "by": cell["tool"] if cell["tool"] != "cudaenv" else
           "cudaenv, daemon" if cell["daemon"] == "yes" else "cudaenv"}
    missed = [one for one in seen if one.outcome != "right"]
    for outcome in ("right", "wrong", "empty", "hung"):
        row[outcome] = sum(one.outcome == outcome for one in seen)
    row["said"] = sum(one.said for one in missed)
    row["silent"] = len(missed) - row["said"]
    laters = [one.later for one in missed]
    row["later"] = "" if not missed else ">5" if None in laters else str(max(laters))
    if cell["tool"] == "plain":
        row |= {"right": "", "wrong": "", "empty": "", "said": "", "silent": "", "later": ""}
    for name, part in {"min": 0, "median": 0.5, "p95": 0.95, "p99": 0.99, "max": 1}.items():
        row[name] = round(percentile(waits, part)) if waits else ""
    return row


def table(rows, columns):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row[name]) for name in columns) + " |" for row in rows]
    return "\n".join(lines)


def machine(options):
    autogroup = Path("/proc/sys/kernel/sched_autogroup_enabled")
    return {
        "cores": os.cpu_count(), "used": len(os.sched_getaffinity(0)), "kernel": platform.release(),
        "autogroup": autogroup.read_text().strip() if autogroup.exists() else "not in this kernel",
        "loadavg": os.getloadavg()[0], "build": str(options.build), "count": options.count, "jobs": options.jobs,
        "caches": "dropped before each shell" if options.drop_caches else "warm",
    }


def cells_of(world, options, user, load):
    """The cells that are measured in alternation, and those that cannot be, with the reason."""
    daemons = {"both": ["no", "yes"]}.get(options.daemon, [options.daemon])
    tools = [("cudaenv", daemon) for daemon in daemons] + [(tool, "no") for tool in options.beside]
    for shell in options.shells:
        for kind in options.kinds:
            cells = []
            for tool, daemon in tools:
                # Without a hook `switch` is as `pin`, and direnv's is about directories.
                if tool == "plain" and kind == "switch" or tool == "direnv" and kind in ("venv", "conda"):
                    continue
                if why := world.why_not(shell, kind, tool):
                    yield [], f"{shell}, {kind}, {tool}: {why}"
                else:
                    cells.append({"shell": shell, "kind": kind, "tool": tool, "daemon": daemon, "user": user,
                                  "load": load})
            if cells:
                yield cells, None


def measure(world, options):
    rows = []
    skipped = []
    measured = []
    wanted = (busy_world.WANTED, str(world.toolkits[0] / f"cuda-{busy_world.WANTED}"))
    for user in options.users:
        owner = busy_shell.Owner.named(user)
        for load in options.loads:
            with busy_shell.Load(load, owner):
                for cells, why in cells_of(world, options, user, load):
                    if why:
                        skipped += [why] if why not in skipped else []
                        continue
                    seen = [[] for _ in cells]
                    with concurrent.futures.ProcessPoolExecutor(
                            options.jobs, multiprocessing.get_context("fork"), busy_shell.prepare_worker) as pool:
                        asked = [[pool.submit(one, world, cell, owner, wanted, options) for cell in cells]
                                 for _ in range(options.count)]
                        for turn in asked:
                            for place, answer in enumerate(turn):
                                seen[place].append(answer.result())
                    for cell, all_of_cell in zip(cells, seen):
                        rows.append(row_of(cell, all_of_cell))
                        measured.append({**cell, "loadavg": os.getloadavg()[0],
                                         "activations": [dataclasses.asdict(each) for each in all_of_cell]})
                        print(table(rows[-1:], COLUMNS).splitlines()[-1], file=sys.stderr, flush=True)
                    if options.json:
                        options.json.write_text(json.dumps({"machine": machine(options), "rows": rows,
                                                            "skipped": skipped, "measured": measured}, indent=1))
    return rows, skipped


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = arguments()
    if options.drop_caches and os.getuid() != 0:
        sys.exit("--drop-caches needs root")
    if options.cpus:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cpus])
    with tempfile.TemporaryDirectory(prefix="cudaenv-busy-", dir=options.root) as name:
        world = busy_world.World(Path(name), options.build, options.packages, options.conda)
        says = machine(options)
        rows, skipped = measure(world, options)
    print("waits in ms; " + ", ".join(f"{key} {value}" for key, value in says.items()) + "\n")
    print(table(rows, COLUMNS))
    for why in skipped:
        print(f"\nnot measured: {why}")
    return 1 if any(row["by"].startswith("cudaenv") and (row["wrong"] or row["silent"] or row["hung"]) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
