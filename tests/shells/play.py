"""Plays steps in a shell, with cudaenv's hook or (the paired shell) without, and compares what the
two leave.

Law: after leaving, the environment of the hooked shell equals, name by name and byte by byte, that
of a paired shell in which the user did the same, and nothing of ours remains. `law` in a list of
steps takes the environment of both at that place.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import driver
import modules
import world as worlds
from translate import WORDS

# What differs by nature between two processes that did the same.
BY_NATURE = {b"_", b"LAST_RETURN_CODE", b"XONSH_DATA_DIR", b"XONSH_HISTORY_FILE",
             b"XONSH_APPEND_NEWLINE", b"__ALIAS_NAME", b"__ALIAS_STACK"}
OURS = re.compile(rb"__CUDAENV|__cudaenv|CUDAENV_")
# What a user sets by steps, and so is not ours.
USERS_OWN = {b"CUDAENV_CUDA", b"CUDAENV_DISABLE", b"CUDAENV_NO_DAEMON", b"CUDAENV_QUIET"}
# What a hook says whose answer did not come within the prompt's deadline.
LATE = "retrying at the next prompt"
SETTLES = 60  # seconds in which a prompt in time is expected


class Failure(Exception):
    pass


class Skip(Exception):
    """A step needs what is not here; says what and how to get it."""


def shown(value):
    return "unset" if value is None else repr(value.decode("utf-8", "surrogateescape"))


def compare(hooked, paired):
    """One line for each difference that the law forbids."""
    lines = []
    for name in sorted(set(hooked) | set(paired)):
        if name in BY_NATURE:
            continue
        if hooked.get(name) != paired.get(name):
            lines.append(f"{name.decode()}: {shown(hooked.get(name))} with cudaenv, "
                         f"{shown(paired.get(name))} without")
    return lines


def ours_in(environment):
    return [name.decode() for name in environment if OURS.match(name) and name not in USERS_OWN]


class Play:
    """One shell and the state that expectations look at."""

    def __init__(self, world, kind, hooked, extra=None):
        self.world = world
        self.kind = kind
        self.hooked = hooked
        more = {name: self.fill(value) for name, value in (extra or {}).items()}
        self.environment = {**world.environment(), **more}
        if kind == "xonsh":
            # Without the histories of the shells before it: xonsh 0.13 fills readline's history with
            # them from a thread of its own, unlocked, and now and then dies of it, or rather does
            # not, since its handler of SIGSEGV returns to where it was.
            self.environment["XONSH_DATA_DIR"] = tempfile.mkdtemp(prefix="xonsh-", dir=world.root)
        self.snapshots = []
        self.answer = None  # of the last step that is no expectation
        self.heard = ""     # all that was on the terminal since the last `hush`
        self.late = 0       # prompts that passed their deadline
        self.seen_active = 0  # looks at which cudaenv had something set
        self.shell = None

    def __enter__(self):
        self.shell = driver.Shell(self.kind, self.environment, str(self.world.home),
                                  self.world.scratch)
        self.answer = driver.Answer(0, self.shell.greeting, 0.0)
        self._hear()
        self.settle()
        self.answer = None
        if self.hooked and self.kind == "xonsh":
            # Of a start-up file that fails xonsh says so and goes on, without the hook.
            there = self.shell.run("print('cudaenv' in aliases)").said
            if "True" not in there:
                raise driver.Died(f"xonsh has no hook ({there.strip()}); at its start it said:\n{self.heard}")
        return self

    def __exit__(self, *_):
        self.shell.close()

    @property
    def words(self):
        return WORDS[self.shell.kind]

    # --- names in steps

    def fill(self, text):
        """{root}, {home}, {projects}, {envs}, {toolkits} and the odd names by their own names."""
        places = {part: str(self.world.root / part)
                  for part in ("home", "projects", "envs", "toolkits", "bin", "scratch")}
        places.update(root=str(self.world.root), program=self.world.program,
                      token=self.world.root.name)
        for name, value in {**places, **worlds.ODD_NAMES}.items():
            text = text.replace("{" + name + "}", value)
        return text

    def place(self, text):
        if text == "~":
            return str(self.world.home)
        return text if text.startswith("/") else str(self.world.root / "projects" / text)

    def env_path(self, name):
        return name if name.startswith("/") else str(self.world.root / "envs" / name)

    # --- playing

    def play(self, steps):
        for step in steps:
            self.step(step)

    def step(self, step):
        """A step is a text of words, or a text for each shell: {bash = "...", other = "..."}."""
        if isinstance(step, dict):
            text = step.get(self.shell.kind, step.get("other"))
            if text is None:
                return
            for line in [text] if isinstance(text, str) else text:
                self.type(self.fill(line))
            return
        words = shlex.split(step)
        if words[0] == "expect":
            if self.hooked:
                self.expect(words[1], [self.fill(word) for word in words[2:]])
            return
        getattr(self, "do_" + words[0].replace("-", "_"))(*[self.fill(word) for word in words[1:]])

    def type(self, text):
        self.answer = self.shell.run(text)
        self._hear()

    def _hear(self):
        said = self.answer.said
        if LATE in said:
            self.late += 1
            said = "\n".join(line for line in said.split("\n") if LATE not in line)
        self.heard += said

    def settle(self):
        """A prompt that passed its deadline asks again at the next one: that is the contract, and a
        loaded machine is no defect. Each such prompt is counted."""
        end = time.monotonic() + SETTLES
        while self.answer is not None and LATE in self.answer.said:
            if time.monotonic() > end:
                raise Failure(f"all prompts of {SETTLES} s passed their deadline")
            status = self.answer.status
            self.type("")
            self.answer.status = status

    # --- what a user does

    def do_activate(self, name):
        if self.shell.kind == "xonsh":
            self.type("xontrib load vox")
        self.type(self.words.activate(self.env_path(name)))

    def do_deactivate(self):
        self.type(self.words.deactivate())

    def do_enter(self, name):
        """As tools do that have no script: the two variables set by hand."""
        path = self.env_path(name)
        self.do_export("VIRTUAL_ENV", path)
        self.do_prepend("PATH", path + "/bin")

    def do_leave(self, name):
        self.do_unset("VIRTUAL_ENV")
        self.do_remove("PATH", self.env_path(name) + "/bin")

    def do_remove(self, name, directory):
        """The entry is taken out of the list as it is now, whatever else is in it."""
        if self.shell.kind == "xonsh":
            self.type(self.words.remove(name, directory))
            return
        current = self.shell.environment().get(name.encode(), b"").decode("utf-8", "surrogateescape")
        kept = [entry for entry in current.split(":") if entry != directory]
        self.do_export(name, ":".join(kept))

    def do_cd(self, directory):
        self.type(self.words.cd(self.place(directory)))

    def do_cd_relative(self, directory):
        self.type(self.words.cd(directory))

    def do_export(self, name, value):
        self.type(self.words.export(name, value))

    def do_local(self, name, value):
        self.type(self.words.local(name, value))

    def do_unset(self, name):
        self.type(self.words.unset(name))

    def do_prepend(self, name, directory):
        self.type(self.words.prepend(name, self.fill(directory)))

    def do_append(self, name, directory):
        self.type(self.words.append(name, self.fill(directory)))

    def do_pin(self, *words):
        self.type("cudaenv pin " + " ".join(words))

    def do_unpin(self, *words):
        self.type("cudaenv unpin " + " ".join(words))

    def do_use(self, version):
        self.type(f"cudaenv use {version}" if self.hooked else self.words.use(version))

    def do_use_clear(self):
        if self.hooked:
            self.type("cudaenv use --clear")
        else:
            self.do_unset("CUDAENV_CUDA")

    def do_begin(self, *words):
        """Many variables at once, NAME=VALUE set and NAME unset, as one sourced file."""
        lines = []
        for word in words:
            name, filled, value = word.partition("=")
            lines.append(self.words.export(name, value) if filled else self.words.unset(name))
        self.type("\n".join(lines))

    def do_at_once(self, version, *command):
        """The command and nvcc on one line: what it has changed is right at once."""
        joined = " ".join(command)
        if not self.hooked:
            if command[:2] == ("cudaenv", "use"):
                self.do_use(command[2])
            else:
                self.type(joined)
            return
        file = self.world.scratch / "nvcc"
        file.unlink(missing_ok=True)
        self.type(f"{joined} && {self.words.nvcc(str(file))}")
        text = file.read_text(errors="replace") if file.exists() else ""
        if f"release {version}," not in text:
            raise Failure(f"`{joined} && nvcc --version` says {text.strip()[-200:] or 'nothing'}, "
                          f"expected {version}; the terminal shows:\n{self.answer.said[-400:]}")

    def do_disable(self):
        self.do_export("CUDAENV_DISABLE", "1")

    def do_enable(self):
        self.do_unset("CUDAENV_DISABLE")

    def do_prompt(self):
        self.type("")

    def do_type(self, *text):
        self.type(" ".join(text))

    def do_shell(self, kind=None):
        kind = kind or self.shell.kind
        self._need(kind)
        self.answer = self.shell.enter(kind, self.words.shell(kind))
        self._hear()

    def do_exec(self, kind=None):
        kind = kind or self.shell.kind
        self._need(kind)
        self.answer = self.shell.replace(kind, self.words.exec(kind))
        self._hear()

    def _need(self, kind):
        if why := driver.missing(kind):
            raise Skip(why)

    def do_exit(self):
        self.answer = self.shell.leave()
        self._hear()

    def do_need(self, program, *package):
        path = self.environment["PATH"]
        if not any(os.access(Path(d, program), os.X_OK) for d in path.split(":")):
            raise Skip(f"{program} is not installed ({' '.join(package) or program})")

    def do_need_file(self, path, *package):
        if not os.path.exists(path):
            raise Skip(f"{path} is not here ({' '.join(package)})")

    # --- what happens to files meanwhile

    def do_write(self, path, text):
        path = Path(self.place(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("\\n", "\n"))

    def do_modules(self):
        """Modulefiles of three toolkits that pins choose and of three that none does; no collections."""
        places = {version: self.world.root / f"{place}/cuda-{version}"
                  for place, versions in (("toolkits", ("11.3", "11.8", "12.4")),
                                          ("elsewhere", ("12.0", "12.1", "12.2")))
                  for version in versions}
        modules.write_files(self.world.root / "modules", places)
        for collections in (".lmod.d", ".config/lmod", ".module"):
            shutil.rmtree(self.world.home / collections, ignore_errors=True)
        self.type(f"module use {self.world.root}/modules")

    def do_write_pin(self, directory, version):
        self.world._pin_file(Path(self.place(directory)), version)

    def do_replace_pin(self, directory, version):
        """As an editor saves: a new file renamed over the old one, here with the old one's time."""
        file = Path(self.place(directory)) / "cudaenv.toml"
        times = os.stat(file)
        fresh = file.with_name(".cudaenv.toml.new")
        fresh.write_text(f'[pins]\ncuda = "{version}"\n')
        os.utime(fresh, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
        os.rename(fresh, file)

    def do_remove_file(self, path):
        Path(self.place(path)).unlink(missing_ok=True)

    def do_touch(self, path):
        os.utime(self.place(path))

    def do_config(self, *text):
        self.world.write_config(" ".join(text).replace("\\n", "\n") + "\n")

    def do_install(self, environment, name):
        self.world.pip_install(self.world.root / "envs" / environment, name)

    def do_swap(self, environment, name):
        self.world.swap_framework(environment, name)

    def do_vanish(self, version):
        self.world.take_away(version)

    def do_return(self, version):
        self.world.bring_back(version)

    def do_kill_daemon(self):
        if self.hooked:
            self.world.kill_daemon()

    def do_start_daemon(self):
        if self.hooked:
            self.world.start_daemon()

    def do_hush(self):
        self.heard = ""

    # --- the law

    def do_law(self, kind="left"):
        """`left`: nothing of ours may be active. `disabled`: the same, brought about by
        CUDAENV_DISABLE, wherever the shell stands."""
        if kind == "disabled":
            if self.hooked:
                self.seen_active += b"__CUDAENV_UNDO" in self.shell.environment()
            self.do_disable()
        self.settle()
        environment = self.shell.environment()
        self.snapshots.append(environment)
        if self.hooked:
            if remains := ours_in(environment):
                raise Failure(f"after leaving there still is {', '.join(remains)}")
        if kind == "disabled":
            self.do_enable()

    def do_fresh(self):
        """A shell within asks afresh, whatever the outer one believes to be unchanged: both must have
        come to the same."""
        if not self.hooked:
            return
        self.do_prompt()
        self.settle()
        outer = self.shell.environment()
        self.do_shell()
        self.settle()
        inner = self.shell.environment()
        self.do_exit()
        nested = {b"SHLVL", b"OLDPWD", b"__CUDAENV_UNDO"}
        # Environment Modules set it empty where it was unset, when they start.
        for environment in (inner, outer):
            if not environment.get(b"LOADEDMODULES"):
                nested.add(b"LOADEDMODULES")
        lines = compare({name: value for name, value in inner.items() if name not in nested},
                        {name: value for name, value in outer.items() if name not in nested})
        if lines:
            raise Failure("a shell that asks afresh comes to something else (its value first):\n  "
                          + "\n  ".join(lines))

    def do_same_status(self):
        """The last command's status is that of the paired shell."""
        self.snapshots.append({b"status of the last command": str(self.answer.status).encode()})

    # --- expectations, of the hooked shell only

    def expect(self, what, words):
        self.settle()
        getattr(self, "expect_" + what.replace("-", "_"))(*words)

    def _value(self, name):
        return self.shell.environment().get(name.encode())

    def expect_nvcc(self, version):
        """nvcc of the shell's own PATH is that version, and CUDA_HOME and CUDA_PATH are where it lies."""
        file = self.world.scratch / "nvcc"
        file.unlink(missing_ok=True)
        said = self.shell.run(self.words.nvcc(str(file))).said
        text = file.read_text(errors="replace") if file.exists() else ""
        found = re.search(r"release (\d+\.\d+)", text)
        if not found or found[1] != version:
            raise Failure(f"nvcc is {found[1] if found else text.strip()[:200] or 'absent'}, "
                          f"expected {version}; the terminal shows:\n{said[-600:]}")
        self.expect_home(version)

    def expect_home(self, version):
        environment = self.shell.environment()
        home = environment.get(b"CUDA_HOME")
        if home is None or home != environment.get(b"CUDA_PATH"):
            raise Failure(f"CUDA_HOME is {shown(home)}, CUDA_PATH {shown(environment.get(b'CUDA_PATH'))}")
        nvcc = os.path.join(os.fsdecode(home), "bin/nvcc")
        text = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout \
            if os.path.exists(nvcc) else ""
        if f"release {version}," not in text:
            raise Failure(f"CUDA_HOME is {shown(home)}, which is not {version}")
        directories = environment[b"PATH"].split(b":")
        if b"" in directories:
            raise Failure("PATH has an empty element")
        for name in (b"PATH", b"LD_LIBRARY_PATH", b"LIBRARY_PATH", b"CPLUS_INCLUDE_PATH"):
            for entry in environment.get(name, b"").split(b":"):
                if entry.endswith((b"/stubs", b"/compat")):
                    raise Failure(f"{name.decode()} has {shown(entry)}")

    def expect_soon_set(self, name):
        """At one of the next prompts: for where nothing says that the machine was too busy at this one."""
        end = time.monotonic() + SETTLES
        while not self._value(name) and time.monotonic() < end:
            self.type("")
        self.expect_set(name)

    def expect_inactive(self):
        environment = self.shell.environment()
        remains = ours_in(environment)
        if remains or b"CUDA_HOME" in environment:
            raise Failure(f"still active: {', '.join(remains)} CUDA_HOME "
                          f"{shown(environment.get(b'CUDA_HOME'))}")

    def expect_var(self, name, value):
        if self._value(name) != value.encode("utf-8", "surrogateescape"):
            raise Failure(f"{name} is {shown(self._value(name))}, expected {value!r}")

    def expect_contains(self, name, value):
        if value.encode() not in (self._value(name) or b"").split(b":"):
            raise Failure(f"{name} is {shown(self._value(name))}, without {value!r}")

    def expect_lacks(self, name, value):
        if value.encode() in (self._value(name) or b"").split(b":"):
            raise Failure(f"{name} is {shown(self._value(name))}, with {value!r}")

    def expect_first(self, name, value):
        if (self._value(name) or b"").split(b":")[0] != value.encode():
            raise Failure(f"{name} is {shown(self._value(name))}, expected to begin with {value!r}")

    def expect_unset(self, name):
        if self._value(name) is not None:
            raise Failure(f"{name} is {shown(self._value(name))}, expected it unset")

    def expect_set(self, name):
        if not self._value(name):
            raise Failure(f"{name} is {shown(self._value(name))}, expected a value")

    def expect_compiler(self, version):
        """CC and CXX are gcc of that version, where it is here."""
        environment = self.shell.environment()
        for name in (b"CC", b"CXX"):
            program = os.fsdecode(environment.get(name, b""))
            if not program:
                raise Failure(f"{name.decode()} is {shown(environment.get(name))}")
            text = subprocess.run(shlex.split(program) + ["-dumpversion"], capture_output=True,
                                  text=True).stdout
            if text.split(".")[0].strip() != version:
                raise Failure(f"{name.decode()} is {program}, version {text.strip()}, "
                              f"expected {version}")

    def expect_status(self, status):
        if self.answer.status != int(status):
            raise Failure(f"$? is {self.answer.status}, expected {status}")

    def expect_says(self, *text):
        if " ".join(text) not in self.heard:
            raise Failure(f"the terminal does not show {' '.join(text)!r} but:\n{self.heard[-600:]}")

    def expect_says_not(self, *text):
        if " ".join(text) in self.heard:
            raise Failure(f"the terminal shows {' '.join(text)!r}:\n{self.heard[-600:]}")

    def expect_said_once(self, *text):
        count = self.heard.count(" ".join(text))
        if count != 1:
            raise Failure(f"{' '.join(text)!r} is on the terminal {count} times:\n{self.heard[-600:]}")

    def expect_quiet(self):
        if "cudaenv:" in self.heard:
            raise Failure(f"the terminal shows:\n{self.heard[-600:]}")

    def expect_no_file(self, path):
        if os.path.exists(path):
            raise Failure(f"{path} was made")

    def expect_file_has(self, path, text):
        content = Path(path).read_text(errors="replace") if os.path.exists(path) else "(no file)"
        if text not in content:
            raise Failure(f"{path} lacks {text!r}:\n{content[-800:]}")

    def expect_file_lacks(self, path, text):
        if text in Path(path).read_text(errors="replace"):
            raise Failure(f"{path} has {text!r}")

    def surroundings(self):
        """What a failure is to be understood from: what is set, and what was on the terminal."""
        try:
            environment = self.shell.environment()
        except driver.Died as died:
            return f"    and then: {died}"
        names = ["CUDA_HOME", "CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN", "CONDA_PREFIX", "VIRTUAL_ENV",
                 "PATH", "__CUDAENV_UNDO"]
        lines = [f"    {name}: {shown(environment.get(name.encode()))}" for name in names]
        last = [f"    {what!r}: {answer.said[-400:]!r}" for what, answer in self.shell.transcript[-8:]]
        return "\n".join([*lines, "    the last commands and what the terminal showed:", *last])


def play_pair(world, kind, steps, extra=None, before=None, after=None, hooked_after=None):
    """The same steps in the paired shell, then in the hooked one, where `hooked_after` is more rc
    text. Returns the failure, or None, and how many prompts were late."""
    taken = {}
    late = 0
    for hooked in (False, True):
        world.reset()
        world.write_rc_files(hooked, before, hooked_after if hooked and hooked_after else after)
        try:
            with Play(world, kind, hooked, extra) as play:
                at = 0
                try:
                    for at, step in enumerate(steps):
                        play.step(step)
                except Failure as failure:
                    return f"step {at + 1} `{steps[at]}`: {failure}\n{play.surroundings()}", play.late
                except driver.Died as died:
                    return f"step {at + 1} `{steps[at]}`, hook {hooked}: {died}", play.late
                taken[hooked] = play.snapshots
                late = play.late
        except driver.Died as died:
            return f"hook {hooked}: {died}", late
    for number, (with_hook, without) in enumerate(zip(taken[True], taken[False], strict=True), 1):
        if lines := compare(with_hook, without):
            return f"law {number}:\n  " + "\n  ".join(lines), late
    return None, late
