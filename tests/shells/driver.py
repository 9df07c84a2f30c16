"""A real interactive shell in a pseudo-terminal, driven one command at a time.

Law: nothing waits for time to pass. Every prompt of a shell carries a marker with the process, a
count and the status of the last command; a command has ended when a marker appears that was not the
last one. A command that does not end within its deadline is a failure that shows what was on the
terminal.
"""

import errno
import fcntl
import os
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from pathlib import Path

TOKEN = "cudaenv-driver"
MARKER = re.compile(rb"<<" + TOKEN.encode() + rb";(\d+);(\d+);(-?\d+)>>")
ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]"
                     rb"|\x1b[=>]|[\r\x00]")
# What fish writes to see whether the cursor stands at the left edge.
FISH_LINE_END = re.compile("⏎ *(⏎ )?")

SHELLS = ["bash", "zsh", "fish", "tcsh", "xonsh"]
PACKAGES = {shell: shell for shell in SHELLS}

# What each reads at its start, below HOME; the marker is in the prompt, so nothing of it is exported.
RC_FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish",
            "tcsh": ".tcshrc", "xonsh": ".xonshrc"}
RC = {
    "bash": """\
__driver_count=$RANDOM
PS1='<<TOKEN;$$;$((__driver_count += 1));$?>>'
""",
    "zsh": """\
setopt prompt_subst no_prompt_cr no_prompt_sp no_zle no_beep
__driver_count=$RANDOM
PS1='<<TOKEN;$$;$((__driver_count += 1));%?>>'
""",
    "fish": """\
set -g fish_greeting
set -g __driver_count (random)
function __driver_counts --on-event fish_prompt
    set -g __driver_count (math $__driver_count + 1)
end
function fish_prompt
    set -l driver_status $status
    printf '<<%s;%s;%s;%s>>' TOKEN $fish_pid $__driver_count $driver_status
end
function fish_title
end
function fish_right_prompt
end
""",
    "tcsh": """\
set prompt = '<<TOKEN;'$$';%h;%?>>'
unset edit autologout
set nobeep
set history = 5
""",
    "xonsh": """\
# xonsh 0.13 closes the pipes of an alias twice, the second time when Python collects what held them;
# the number may be another command's pipe by then. Here nothing is collected. (conda's function
# removes the name `_os`.)
import gc as _gc, os as _driver_os, random as _random
_gc.disable()
class _Driver:
    count = _random.randrange(1 << 15)
    @staticmethod
    def counts(**_):
        _Driver.count += 1
    @staticmethod
    def prompt():
        last = __xonsh__.history[-1].rtn if __xonsh__.history and len(__xonsh__.history) else 0
        return f"<<TOKEN;{_driver_os.getpid()};{_Driver.count};{int(last or 0)}>>"
events.on_pre_prompt(_Driver.counts)
$PROMPT_FIELDS["driver"] = _Driver.prompt
$PROMPT = "{driver}"
$XONSH_SHOW_TRACEBACK = False
$AUTO_CD = False
$XONSH_AUTOPAIR = False
""",
}
ARGUMENTS = {
    "bash": ["bash", "-i"],
    "zsh": ["zsh", "-i"],
    "fish": ["fish", "-i"],
    "tcsh": ["tcsh"],
    "xonsh": ["xonsh", "-i", "--shell-type", "readline"],
}
SOURCE = {"bash": ".", "zsh": ".", "fish": "source", "tcsh": "source", "xonsh": "source"}


def missing(shell):
    """Why a shell cannot be tried here; None where it can."""
    if shutil.which(shell, path="/usr/local/bin:/usr/bin:/bin"):
        return None
    return f"{shell} is not installed (Debian package {PACKAGES[shell]})"


def hook_line(shell, program):
    quoted = shlex.quote(str(program))
    return {
        "bash": f'eval "$({quoted} hook bash)"\n',
        "zsh": f'eval "$({quoted} hook zsh)"\n',
        "fish": f"{quoted} hook fish | source\n",
        "tcsh": f"eval `{quoted} hook tcsh`\n",
        # As `cudaenv init xonsh` writes it.
        "xonsh": f"execx(__import__('subprocess').check_output(['{program}', 'hook', 'xonsh'], text=True,\n"
                 "      env=__xonsh__.env.detype()))\n",
    }[shell]


def unsafe(shell, program, environment, directory):
    """tcsh's hook sources the file that the program names, and removes it. Where the answer is anything
    else, words of it could be removed that must stay: then no tcsh may be started."""
    if shell != "tcsh":
        return None
    end = time.monotonic() + 60
    lines = []
    while not lines and time.monotonic() < end:  # a busy machine may have no answer in time
        done = subprocess.run([program, "prompt", "tcsh", "--watch", "-"], env=environment, cwd=directory,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        lines = done.stdout.splitlines()
    if not lines:
        return "`cudaenv prompt tcsh` gave no answer in a project"
    path = Path(lines[0])
    if len(lines) != 1 or len(lines[0].split()) != 1 or not path.is_absolute() or not path.is_file():
        return f"`cudaenv prompt tcsh` gave no path of a private file but {done.stdout[:200]!r}"
    mode = path.stat()
    path.unlink()
    if mode.st_uid != os.getuid() or mode.st_mode & 0o077:
        return f"the file {path} that tcsh is to source is not private"
    return None


def write_rc_files(home: Path, program, hooked: bool, before=None, after=None):
    """The rc files of all five shells: with the hook, or (the paired shell) without. `before` and
    `after` are texts by shell around the hook."""
    for shell, name in RC_FILES.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = RC[shell].replace("TOKEN", TOKEN) + (before or {}).get(shell, "")
        if hooked:
            text += hook_line(shell, program)
        path.write_text(text + (after or {}).get(shell, ""))


class Died(Exception):
    """The shell ended, or did not come back within the deadline."""


@dataclass
class Answer:
    status: int     # of the command, as the prompt has it
    said: str       # what appeared on the terminal, escapes removed
    seconds: float


class Shell:
    """One process in one pseudo-terminal. Nested shells are the caller's concern: `kind` says which
    one reads the next line."""

    def __init__(self, kind, environment, directory, scratch, deadline=120.0, become=None):
        """`become` is called in the child before the shell is: it makes it another user's."""
        self.kinds = [kind]
        self.scratch = Path(scratch)
        self.deadline = deadline
        self.count = 0
        self.last = None
        self.transcript = []
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            try:
                # Before the shell is there: what it finds is what readline gives back later.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 2000, 0, 0))
                modes = termios.tcgetattr(0)
                modes[3] &= ~termios.ECHO
                termios.tcsetattr(0, termios.TCSANOW, modes)
                if become:
                    become()
                os.chdir(directory)
                os.execvpe(ARGUMENTS[kind][0], ARGUMENTS[kind], environment)
            finally:
                os._exit(127)
        self.greeting = self._until_prompt(b"", "its start").said

    @property
    def kind(self):
        return self.kinds[-1]

    def _until_prompt(self, text, what, deadline=None, of_another=False):
        """`of_another`: only a prompt of another process counts (tcsh shows one more on `exit`)."""
        begun = time.monotonic()
        end = begun + (deadline or self.deadline)
        output = b""
        while text:
            text = text[os.write(self.terminal, text):]
        while True:
            left = end - time.monotonic()
            ready = left > 0 and select.select([self.terminal], [], [], left)[0]
            if not ready:
                raise Died(f"{self.kind} did not come back from {what}; the terminal shows:\n"
                           + self._readable(output)[-2000:])
            try:
                piece = os.read(self.terminal, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                piece = b""
            if not piece:
                raise Died(f"{self.kind} ended at {what}; the terminal shows:\n"
                           + self._readable(output)[-2000:])
            output += piece
            if b"\x1b[c" in piece or b"\x1b[0c" in piece:  # newer fish asks who the terminal is
                os.write(self.terminal, b"\x1b[?62c")
            for found in MARKER.finditer(output):
                at = (found[1], found[2])
                if at != self.last and not (of_another and at[0] == self.last[0]):
                    self.last = at
                    answer = Answer(int(found[3]), self._readable(output[:found.start()]),
                                    time.monotonic() - begun)
                    self.transcript.append((what, answer))
                    return answer

    @staticmethod
    def _readable(output):
        text = MARKER.sub(b"", ESCAPES.sub(b"", output)).decode("utf-8", "backslashreplace")
        return FISH_LINE_END.sub("", text)

    def run(self, text, deadline=None):
        """Types a command, or sources it from a private file where it cannot be typed: several lines,
        bytes that a terminal would take as keys."""
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogateescape")
        if not text and self.kind == "tcsh":
            text = b":"  # tcsh does not count an empty line
        if len(text) > 1000 or any(byte < 32 or byte > 126 for byte in text):
            self.count += 1
            file = self.scratch / f"typed.{self.count}{'.xsh' if self.kind == 'xonsh' else ''}"
            file.write_bytes(text + b"\n")
            text = f"{SOURCE[self.kind]} {file}".encode()
        return self._until_prompt(text + b"\n", text.decode(), deadline)

    def environment(self, deadline=None):
        """What a child of the shell gets, byte for byte."""
        file = self.scratch / "environment"
        redirect = ">!" if self.kind == "tcsh" else ">|" if self.kind in ("bash", "zsh") else ">"
        file.unlink(missing_ok=True)
        answer = self.run(f"env -0 {redirect} {file}", deadline)
        if not file.exists():
            raise Died(f"{self.kind} did not carry out `env -0 {redirect} FILE`; the terminal shows:\n"
                       + answer.said)
        content = file.read_bytes()
        return dict(entry.split(b"=", 1) for entry in content.split(b"\0") if b"=" in entry)

    def interrupt(self):
        return self._until_prompt(b"\x03", "an interrupt")

    def wait_until_quiet(self, seconds=0.3):
        """Until nothing has been written for that time: for when the number of prompts to come is not known."""
        output = b""
        while select.select([self.terminal], [], [], seconds)[0]:
            output += os.read(self.terminal, 65536)
        self.heard = output
        for found in MARKER.finditer(output):
            self.last = (found[1], found[2])

    def enter(self, kind, text):
        """A command after which another shell reads what is typed."""
        self.kinds.append(kind)
        return self.run(text)

    def replace(self, kind, text):
        self.kinds[-1] = kind
        if kind == "tcsh":
            self.last = None  # its counting may restart at the same number
        return self.run(text)

    def leave(self):
        self.kinds.pop()
        return self._until_prompt(b"exit\n", "exit", of_another=True)

    def close(self):
        """Ends the shell and whatever it left in its session."""
        os.close(self.terminal)
        for attempt in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.kill(self.process, attempt)
            except ProcessLookupError:
                break
            end = time.monotonic() + 2
            while time.monotonic() < end:
                if os.waitpid(self.process, os.WNOHANG)[0]:
                    return
                select.select([], [], [], 0.005)
        try:
            os.waitpid(self.process, 0)
        except ChildProcessError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run_quietly(command, **more):
    """A helper program outside the shells; its output is shown only where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="backslashreplace",
                          stdin=subprocess.DEVNULL, timeout=300, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout
