#!/usr/bin/env python3
"""Random interleavings of what users do, in one real shell with the hook and in its paired shell
without: after leaving, and wherever CUDAENV_DISABLE is set in between, both have the same environment.

usage: test_interleavings.py --shell SHELL --cudaenv FILE --cudaenvd FILE [--count N | --full]
                             [--seed S]
Many interleavings share one shell process. A failure is played again alone in fresh shells, and
made smaller by leaving out steps; seed and steps are printed. Modules are loaded among them, by Lmod
in one half of the walks and by Environment Modules in the other. Two edits are left out, because no
tool can tell them from its own doing: setting a variable to exactly what is active, and `X:$L` on a
list that was unset.
"""

import random
import re
import shlex
import sys
import time

import driver
import modules
import play
import scene

PROJECTS = ["p113", "p113/inner", "p118", "p124", "none", "none/deep", "build", "quietlibs",
            "absent", "hard", "odd/{space}", "odd/{quote}", "odd/{dollar}", "odd/{unicode}", "~"]
ENVIRONMENTS = ["t113", "t118", "t124", "plain", "cpu"]
PINS = ["11.3", "11.8", "12.4", ">=11,<12"]
# What is set by hand is never what is active already: no pin chooses what lies elsewhere, and one
# variable's value is not the other's.
BY_HAND = {
    "CUDA_HOME": ["{root}/elsewhere/cuda-12.1", "/opt/none/cuda", ""],
    "CUDA_PATH": ["{root}/elsewhere/cuda-12.0", ""],
    "LD_LIBRARY_PATH": ["/opt/a", "/opt/a:/opt/b", ""],
    "CC": ["/opt/own/cc", "gcc"],
    "CXX": ["/opt/own/c++"],
    "MAX_JOBS": ["3"],
    "CMAKE_PREFIX_PATH": ["/opt/cmake"],
    "CPLUS_INCLUDE_PATH": ["/opt/include", ""],
    "MINE": ["a b", "$(x)'\"", ""],
}


# Of toolkits that nothing else makes active.
MODULES = ["cuda/12.1", "cuda/12.2", "tool/1"]
# What Lmod leaves of its counting, which would make a walk depend on those before it in its shell.
COUNTERS = ["__LMOD_REF_COUNT_" + name for name in ("LD_LIBRARY_PATH", "MODULEPATH", "PATH")]


def one(steps, *words):
    steps.append(" ".join(shlex.quote(word) for word in words))


class Model:
    """As much of a shell's state as is needed to propose steps that make sense."""

    def __init__(self):
        self.environment = None
        self.by_script = False
        self.directory = "~"
        self.outer = None


def values(name, with_modules):
    """By hand; a module that is unloaded leaves a list unset that was empty before."""
    return [value for value in BY_HAND[name]
            if value or not with_modules or name != "LD_LIBRARY_PATH"]


def module_step(chance):
    first, second = chance.sample(MODULES, 2)
    return chance.choice([["load", first], ["load", first], ["unload", first], ["swap", first, second],
                          ["purge"], ["save", "mine"], ["restore", "mine"]])


def interleaving(seed, length, with_modules):
    """The steps of one seed; the beginning puts the shell where every other begins."""
    chance = random.Random(seed)
    steps = []
    model = Model()
    begin = ["PATH={bin}:/usr/local/bin:/usr/bin:/bin"]
    for name in BY_HAND:
        value = chance.choice([None, None, *values(name, with_modules)])
        if name in ("CUDA_HOME", "CUDA_PATH") and chance.random() < 0.7:
            value = None
        begin.append(name if value is None else f"{name}={value}")
    if with_modules:
        begin += COUNTERS
    one(steps, "begin", *begin)
    if with_modules:
        one(steps, "modules")
    gone = set()
    asked_afresh = False
    for _ in range(length):
        kind = chance.choices(
            ["cd", "activate", "leave", "pin", "unpin", "use", "use-clear", "export", "unset",
             "extend", "swap", "pin-file", "toolkit", "shell", "exit", "exec", "law", "fresh",
             "module"],
            [26, 14, 8, 6, 3, 4, 3, 6, 4, 12, 2, 3, 3, 2, 3, 1, 8, 2, 14 if with_modules else 0])[0]
        in_project = model.directory != "~"
        if kind == "cd":
            # Lmod fails where PATH has a name as odd as the toolkit of `hard`.
            model.directory = chance.choice([project for project in PROJECTS
                                             if project != "hard" or not with_modules])
            one(steps, "cd", model.directory)
        elif kind == "activate":
            if model.environment and not model.by_script:
                one(steps, "leave", model.environment)
            model.environment = chance.choice(ENVIRONMENTS)
            model.by_script = chance.random() < 0.7
            one(steps, "activate" if model.by_script else "enter", model.environment)
        elif kind == "leave" and model.environment:
            leave(steps, model)
        elif kind == "pin" and in_project:
            one(steps, "pin", "cuda=" + chance.choice(PINS[:3]))
        elif kind == "unpin" and in_project:
            one(steps, "unpin", "cuda")
        elif kind == "use":
            one(steps, "use", chance.choice(PINS[:3]))
        elif kind == "use-clear":
            one(steps, "use-clear")
        elif kind == "export":
            name = chance.choice(sorted(BY_HAND))
            one(steps, "export", name, chance.choice(values(name, with_modules)))
        elif kind == "unset":
            one(steps, "unset", chance.choice(sorted(BY_HAND)))
        elif kind == "extend":
            one(steps, chance.choice(["prepend", "append"]),
                chance.choice(["PATH", "PATH", "LD_LIBRARY_PATH", "CPLUS_INCLUDE_PATH"]),
                chance.choice(["/opt/x", "/opt/y z", "{root}/elsewhere/cuda-12.1/lib64"]))
        elif kind == "swap":
            one(steps, "swap", chance.choice(["t118", "plain"]), chance.choice(["t113", "t124"]))
        elif kind == "pin-file" and in_project and not model.directory.startswith("odd"):
            if chance.random() < 0.6:
                one(steps, "write-pin", model.directory, chance.choice(PINS))
            else:
                one(steps, "remove-file", model.directory + "/cudaenv.toml")
        elif kind == "toolkit":
            # Without 12.4 its pin takes a module's toolkit: set by both, the two cannot be distinguished.
            version = chance.choice(["11.3", "11.8"] if with_modules else ["11.3", "11.8", "12.4"])
            one(steps, "return" if version in gone else "vanish", version)
            gone ^= {version}
        elif kind == "shell" and model.outer is None:
            one(steps, "shell")
            inner = Model()
            inner.environment, inner.directory, inner.outer = \
                model.environment, model.directory, model
            model = inner
        elif kind == "exit" and model.outer is not None:
            one(steps, "exit")
            model = model.outer
        elif kind == "exec":
            one(steps, "exec")
            model.by_script = False
        elif kind == "module":
            one(steps, "type", "module", *module_step(chance))
        elif kind == "law":
            one(steps, "law", "disabled")
        elif kind == "fresh" and not asked_afresh:
            asked_afresh = True
            one(steps, "fresh")
    one(steps, "law", "disabled")
    while model.outer is not None:
        leave_everything(steps, model, with_modules)
        one(steps, "exit")
        model = model.outer
    leave_everything(steps, model, with_modules)
    return steps


def leave(steps, model):
    one(steps, *(["deactivate"] if model.by_script else ["leave", model.environment]))
    model.environment = None


def leave_everything(steps, model, with_modules):
    if model.environment:
        leave(steps, model)
    one(steps, "cd", "~")
    one(steps, "use-clear")
    if with_modules:
        one(steps, "type", "module", "purge")
    one(steps, "begin", "CUDA_HOME", "CUDA_PATH")
    one(steps, "law")


def module_systems(shell):
    """By name the rc text of each module system that can be had; walks are divided among them."""
    found = {}
    for name in modules.SYSTEMS if shell in modules.SHELLS else []:
        try:
            found[name] = modules.start(name)
        except modules.Unavailable as reason:
            print(f"note: skipped: no walk has {name}: {reason}")
    return found or {"": None}


def play_all(world, kind, hooked, lists):
    """Every interleaving in one shell: the snapshots of each. After a failure the shell is given
    up and the next interleaving gets a fresh one."""
    taken = []
    active = late = 0
    at = 0
    while at < len(lists):
        with play.Play(world, kind, hooked, modules.ENVIRONMENT) as playing:
            while at < len(lists):
                world.reset()
                playing.snapshots = []
                before = playing.late
                try:
                    playing.play(lists[at])
                    taken.append(playing.snapshots)
                    at += 1
                except (play.Failure, driver.Died) as failure:
                    taken.append(failure)
                    at += 1
                    break
                finally:
                    active += playing.seen_active
                    playing.seen_active = 0
                    late += playing.late - before
    return taken, active, late


def verdict(hooked, paired):
    if isinstance(paired, Exception):
        return f"in the shell without cudaenv: {paired}"
    if isinstance(hooked, Exception):
        return str(hooked)
    for number, (with_hook, without) in enumerate(zip(hooked, paired, strict=True), 1):
        if lines := play.compare(with_hook, without):
            return f"law {number}:\n    " + "\n    ".join(lines)
    return None


def kind_of(failure):
    """What a failure is about, so that making it smaller does not end with another one: names of
    variables, or the words without numbers and places."""
    names = re.findall(r"^ +(\w+): ", failure, re.MULTILINE)
    if names:
        return sorted(names)[0]
    text = failure.partition("`: ")[2] or failure
    return re.sub(r"[\d'\"]+|/\S+", "", text.splitlines()[0])[:40]


def made_smaller(world, kind, steps, seconds, before):
    """The shortest list found by leaving out steps that still fails, and how it fails."""
    failure, _ = play.play_pair(world, kind, steps, modules.ENVIRONMENT, before)
    if not failure:
        return None, None
    end = time.monotonic() + seconds
    # Without all of the leaving at its end, a list says nothing.
    last = max(at for at, step in enumerate(steps) if step == "law disabled") + 1
    steps, leaving = steps[:last], steps[last:]
    size = max(1, len(steps) // 2)
    while size and time.monotonic() < end:
        at = 0
        while at < len(steps) and time.monotonic() < end:
            candidate = steps[:at] + steps[at + size:]
            try:
                other, _ = play.play_pair(world, kind, candidate + leaving, modules.ENVIRONMENT,
                                          before)
            except Exception:  # a list that makes no sense is no candidate
                other = None
            if other and "did not come back" not in other and "ended at" not in other \
                    or other and ("did not come back" in failure or "ended at" in failure):
                steps, failure = candidate, other
            else:
                at += size
        size //= 2
    return steps + leaving, failure


def main():
    parser = scene.arguments(__doc__)
    parser.add_argument("--count", type=int, help="100; of xonsh 30, each of which takes six times as long")
    parser.add_argument("--full", action="store_true", help="1,000 interleavings")
    parser.add_argument("--seed", type=int, default=1, help="of the first interleaving")
    parser.add_argument("--length", type=int, default=14, help="steps, before leaving")
    parser.add_argument("--shrink-seconds", type=float, default=60)
    options = parser.parse_args()
    if why := driver.missing(options.shell):
        scene.skip(why)
    count = 1000 if options.full else options.count or (30 if options.shell == "xonsh" else 100)
    if options.shell == "xonsh":
        # Its lists expand what looks like a variable in an entry: a directory named `$HOME*` is not
        # what xonsh itself hands to a shell within.
        PROJECTS.remove("hard")
    begun = time.monotonic()
    failed = steps_played = active = late = 0
    systems = module_systems(options.shell)
    with scene.prepared(options) as world:
        for number, (system, before) in enumerate(systems.items()):
            seeds = [seed for seed in range(options.seed, options.seed + count)
                     if seed % len(systems) == number]
            lists = [interleaving(f"{seed}", options.length, bool(system)) for seed in seeds]
            steps_played += sum(map(len, lists))
            world.write_rc_files(False, before)
            paired, _, _ = play_all(world, options.shell, False, lists)
            world.write_rc_files(True, before)
            hooked, seen_active, passed_deadline = play_all(world, options.shell, True, lists)
            active += seen_active
            late += passed_deadline
            for seed, steps, ours, theirs in zip(seeds, lists, hooked, paired, strict=True):
                failure = verdict(ours, theirs)
                if not failure:
                    continue
                failed += 1
                if failed > 10:
                    continue
                print(f"FAILED: {options.shell} {system}, seed {seed} (--seed {seed} --count 1): "
                      f"{failure}")
                if failed <= 3:
                    small, how = made_smaller(world, options.shell, steps, options.shrink_seconds,
                                              before)
                    if small is None:
                        print("  alone in fresh shells it does not fail; it needs those before it")
                    else:
                        print(f"  alone: {how}\n  smallest:\n    " + "\n    ".join(small))
                sys.stdout.flush()
    print(f"{options.shell}: {count} interleavings, {steps_played} steps, {failed} failed, "
          f"cudaenv active at {active} looks, {late} prompts past their deadline, "
          f"{time.monotonic() - begun:.1f} s")
    if not active:
        print("cudaenv was never active: nothing was tried")
    return 1 if failed or not active else 0


if __name__ == "__main__":
    sys.exit(main())
