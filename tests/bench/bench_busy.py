#!/usr/bin/env python3
"""Right at the first prompt on a cold and busy machine: how often, and after which wait.

usage: bench_busy.py [--scene busy|slow-disk|hanging-toolkit|unchanged] [--build DIR] [--count N] [--shells LIST]
                     [--kinds LIST] [--loads LIST] [--daemon no|yes|both|warm|all] [--users LIST] [--cpus N]
                     [--drop-caches] [--json FILE] ...

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
direnv's hook with an .envrc. `--daemon yes`: one starts at the shell's first prompt, cold like all else; `warm`: one
is there before, which all shells share, with its state; `both` is no and yes, `all` the three.
The load is N processes that spin, of the same user and of niceness 0, each in a session of its own.
Only root can measure as another user: run it as root for `--users nobody,root`.
Other scenes than `busy`, with 20 activations each and no load if not said otherwise:
  slow-disk        programs, toolkits, environments and projects are on a disk that takes --delay for each operation
  hanging-toolkit  a listed directory with the toolkit of CUDA 12.4 answers no request; the environment wants 11.8,
                   which is on a good disk, or 12.4
  unchanged        bench_prompt.py: what a prompt costs where nothing has changed
In the first two, "over" counts what took longer than --limit, and "prompts" is the longest of five prompts afterwards.
Exit status: 0 measured, and always right or said, in time; 1 not so; 77 skipped.
"""
import argparse
import contextlib
import dataclasses
import itertools
import json
import math
import multiprocessing
import os
import platform
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import busy_disk
import busy_shell
import busy_world

REPOSITORY = Path(__file__).resolve().parents[2]
COLUMNS = ["shell", "kind", "by", "user", "load", "right", "wrong", "empty", "hung", "said", "silent", "later",
           "min", "median", "p95", "p99", "max"]
OF_SCENES = [*COLUMNS, "over", "prompts"]
SCENES = ["busy", "slow-disk", "hanging-toolkit", "unchanged"]


def words(text):
    return [word for word in text.split(",") if word]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scene", choices=SCENES, default="busy")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build/release",
                        help="build tree or installed prefix (build/release)")
    parser.add_argument("--count", type=int, help="activations of each kind (200)")
    parser.add_argument("--shells", type=words, default=busy_world.driver.SHELLS)
    parser.add_argument("--kinds", type=words, help=",".join(busy_world.KINDS))
    parser.add_argument("--loads", type=lambda text: [int(word) for word in words(text)], help="0,8,16")
    parser.add_argument("--daemon", choices=["no", "yes", "both", "warm", "all"], default="both")
    parser.add_argument("--beside", type=words, default=["plain", "direnv"], help="plain,direnv; empty: cudaenv alone")
    own = pwd.getpwuid(os.getuid()).pw_name
    parser.add_argument("--users", type=words, default=["nobody", "root"] if own == "root" else [own])
    parser.add_argument("--cpus", type=int, help="all runs on that many of the cores")
    parser.add_argument("--drop-caches", action="store_true", help="empty the kernel's caches before each shell (root)")
    parser.add_argument("--jobs", type=int, default=1, help="activations at the same time (1)")
    parser.add_argument("--packages", type=int, default=150, help="other packages in each environment (150)")
    parser.add_argument("--conda", default=shutil.which("conda"),
                        help="conda's program; one installed by pip from its sources will do")
    parser.add_argument("--deadline", type=float, default=60.0, help="seconds (60)")
    parser.add_argument("--delay", type=float, default=0.005, help="seconds, of the slow disk (0.005)")
    parser.add_argument("--limit", type=float, default=2.5, help="seconds, of a wait in a scene (2.5)")
    parser.add_argument("--root", type=Path, default=Path("/var/tmp"), help="where the files are (/var/tmp)")
    parser.add_argument("--json", type=Path, help="all that was measured, into this file")
    options = parser.parse_args()
    busy = options.scene == "busy"
    options.count = options.count or (200 if busy else 20)
    options.kinds = options.kinds or (busy_world.KINDS if busy else ["venv", "pin"])
    options.loads = options.loads or ([0, 8, 16] if busy else [0])
    if options.scene == "slow-disk":
        options.drop_caches = os.getuid() == 0
    if options.scene == "hanging-toolkit":
        options.beside = []
    return options


def drop_caches():
    os.sync()
    try:
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
    except OSError as error:
        sys.exit(f"the kernel's caches cannot be dropped here: {error}")


def one(world, cell, owner, options):
    """One activation, in a worker."""
    home = world.home(cell["shell"], cell["kind"], cell["tool"], cell["daemon"], owner, cell["version"])
    try:
        if options.drop_caches:
            drop_caches()
        return busy_shell.activate(cell["shell"], home, owner, world.right(cell["version"]), options.deadline,
                                   follow=0 if cell["tool"] == "plain" else 5, all_of_them=options.scene != "busy")
    finally:
        shutil.rmtree(home.root, ignore_errors=True)


def percentile(times, part):
    """The nearest rank."""
    return times[max(0, math.ceil(part * len(times)) - 1)]


def row_of(cell, seen, options):
    waits = sorted(one.wait for one in seen if one.wait is not None)
    row = {**cell, "by": cell["tool"] + {"no": "", "yes": ", daemon", "warm": ", warm daemon"}[cell["daemon"]]}
    if options.scene != "busy":
        row["kind"] += f" {cell['version']}"
        row["over"] = sum(wait > options.limit * 1000 for wait in waits)
        row["prompts"] = round(max((ms for one in seen for ms in one.prompts), default=0))
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


def columns_of(options):
    return COLUMNS if options.scene == "busy" else OF_SCENES


def table(rows, columns):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row[name]) for name in columns) + " |" for row in rows]
    return "\n".join(lines)


def machine(options):
    autogroup = Path("/proc/sys/kernel/sched_autogroup_enabled")
    return {
        "cores": os.cpu_count(), "used": len(os.sched_getaffinity(0)), "kernel": platform.release(),
        "autogroup": autogroup.read_text().strip() if autogroup.exists() else "not in this kernel",
        "scene": options.scene, "load before": round(os.getloadavg()[0], 1),
        "build": str(options.build), "count": options.count, "jobs": options.jobs,
        "caches": "dropped before each shell" if options.drop_caches else "warm",
    }


def cells_of(world, options, versions, owner, load):
    """The cells that are measured in alternation, and why others cannot be measured."""
    daemons = {"both": ["no", "yes"], "all": ["no", "yes", "warm"]}.get(options.daemon, [options.daemon])
    tools = [("cudaenv", daemon) for daemon in daemons] + [(tool, "no") for tool in options.beside]
    for shell, kind, version in itertools.product(options.shells, options.kinds, versions):
        cells = []
        reasons = []
        for tool, daemon in tools:
            # Without a hook `switch` is as `pin`, and direnv's is about directories.
            if tool == "plain" and kind == "switch" or tool == "direnv" and kind in ("venv", "conda"):
                continue
            if why := world.why_not(shell, kind, tool, owner):
                reasons.append(f"{shell}, {kind}, {tool}, {owner.name}: {why}")
                continue
            cells.append({"shell": shell, "kind": kind, "version": version, "tool": tool, "daemon": daemon,
                          "user": owner.name, "load": load})
        yield cells, reasons


def measure(world, options, versions=(busy_world.WANTED,)):
    rows = []
    skipped = {}  # for its order
    measured = []
    for user, load in itertools.product(options.users, options.loads):
        owner = busy_shell.Owner.named(user)
        warm = world.warm_daemon(owner) if options.daemon in ("warm", "all") else contextlib.nullcontext()
        with warm, busy_shell.Load(load, owner):
            for cells, reasons in cells_of(world, options, versions, owner, load):
                skipped |= dict.fromkeys(reasons)
                for cell, seen in zip(cells, alternated(world, cells, owner, options)):
                    rows.append(row_of(cell, seen, options))
                    measured.append({**cell, "activations": [dataclasses.asdict(each) for each in seen]})
                    print(table(rows[-1:], columns_of(options)).splitlines()[-1], file=sys.stderr, flush=True)
                if options.json:
                    options.json.write_text(json.dumps({"machine": machine(options), "rows": rows,
                                                        "skipped": list(skipped), "measured": measured}, indent=1))
    return rows, skipped


def alternated(world, cells, owner, options):
    """What was seen in each cell: one activation of each, then the next of each, and so on."""
    with multiprocessing.get_context("fork").Pool(options.jobs, busy_shell.prepare_worker) as pool:
        turns = [[pool.apply_async(one, (world, cell, owner, options)) for cell in cells]
                 for _ in range(options.count)]
        return [[turn[place].get() for turn in turns] for place in range(len(cells))]


def played(options, root):
    """The scene's rows, and why others are missing."""
    place = root / "world"
    far = root / "far" if options.scene == "hanging-toolkit" else None
    world = busy_world.World(place, root / "homes", options.build, options.packages, options.conda, far)
    if options.scene == "busy":
        return measure(world, options)
    program = busy_disk.compiled(root / "slow_disk")
    seen = far or place
    behind = seen.rename(root / "disk")
    with busy_disk.Disk(program, behind, seen, 0 if far else options.delay) as disk:
        if not far:
            return measure(world, options)
        disk.stop()
        return measure(world, options, [busy_world.WANTED, busy_world.OTHER])


def unchanged(options):
    program = next(path for path in (options.build / "bin/cudaenv", options.build / "cli/cudaenv") if path.exists())
    return subprocess.run([sys.executable, Path(__file__).with_name("bench_prompt.py"), "--cudaenv", program,
                           "--calls", "100000"], check=False).returncode


def end(*_):
    """By a signal: what was started is ended and what was made is removed, once."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def is_bad(row):
    return row["tool"] == "cudaenv" and (row["wrong"] or row["silent"] or row["hung"] or row.get("over"))


def main():
    signal.signal(signal.SIGTERM, end)
    options = arguments()
    if options.drop_caches:
        drop_caches()
    if options.cpus:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cpus])
    if options.scene == "unchanged":
        return unchanged(options)
    says = machine(options)
    with tempfile.TemporaryDirectory(prefix="cudaenv-bench-", dir=options.root) as name:
        os.chmod(name, 0o755)
        try:
            rows, skipped = played(options, Path(name))
        except busy_disk.Unavailable as why:
            print(f"skipped: {why}")
            return 77
    print("waits in ms; " + ", ".join(f"{key} {value}" for key, value in says.items()) + "\n")
    print(table(rows, columns_of(options)))
    for why in skipped:
        print(f"\nnot measured: {why}")
    return 1 if any(map(is_bad, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
