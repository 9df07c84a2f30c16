"""One activation in one new shell with the next line typed ahead: what that line saw, and how long it waited."""
import contextlib
import ctypes
import dataclasses
import os
import pwd
import re
import select
import signal
import subprocess
import time
from dataclasses import dataclass

from busy_world import driver

TYPED_AHEAD = 'nvcc --version; echo "[$CUDA_HOME]"'
# The first that `nvcc --version` shows: of an nvcc, or of a shell that finds none.
NVCC_SPEAKS = re.compile(r"^nvcc: NVIDIA|command not found|[Cc]ommand not found|Unknown command", re.M)
RELEASE = re.compile(r"^Cuda compilation tools, release ([0-9.]+)", re.M)
HOME_SHOWN = re.compile(r"^\[([^\]$]*)\]\s*$", re.M)
NO_HOME = re.compile(r"CUDA_HOME: Undefined variable|^\[\$CUDA_HOME\]\s*$", re.M)
# A message that the CUDA is not set, in the words of any version.
SAID = re.compile(r"cudaenv: .*(busy|in time|not set|retry|asked again|not answer)")


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
prctl = ctypes.CDLL(None, use_errno=True).prctl


def end_with_parent():
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass
class Owner:
    name: str
    uid: int
    gid: int

    @classmethod
    def named(cls, name):
        entry = pwd.getpwnam(name)
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    def of_child(self):
        """For subprocess."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if os.getuid() == 0 else {}

    def become(self):
        """In the child of a terminal."""
        if os.getuid() != 0:
            return
        os.chown(os.ttyname(0), self.uid, -1)
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)


@dataclass
class Seen:
    outcome: str              # right, wrong, empty, hung
    wait: float | None        # ms, from the writing of the activation to the first that nvcc showed
    said: bool                # that it is not set
    lines: list               # all that cudaenv said
    later: int | None = None  # the prompt after the first at which it was right
    prompts: list = dataclasses.field(default_factory=list)  # ms that each later prompt took
    text: str = ""            # of the terminal, where it was not right


class Terminal(driver.Shell):
    def ahead(self, activation):
        """Writes both lines at once. Returns what the terminal showed until the second had ended, and the ms until it
        began to speak."""
        begun = time.monotonic()
        end = begun + self.deadline
        os.write(self.terminal, f"{activation}\n{TYPED_AHEAD}\n".encode())
        output = b""
        spoke = None
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise driver.Died(self._readable(output))
            try:
                output += os.read(self.terminal, 65536)
            except OSError:
                raise driver.Died(self._readable(output)) from None
            now = time.monotonic()
            # A marker ends a line, so that what a shell shows after its prompt is not taken for output.
            text = driver.ESCAPES.sub(b"", driver.MARKER.sub(b"<prompt>\n", output)).decode("utf-8", "replace")
            if spoke is None and NVCC_SPEAKS.search(text):
                spoke = (now - begun) * 1000
            shown = HOME_SHOWN.search(text) or NO_HOME.search(text)
            if spoke and shown and "<prompt>" in text[shown.end():]:
                self.last = [(found[1], found[2]) for found in driver.MARKER.finditer(output)][-1]
                return text, spoke


def judge(text, wanted):
    """What the typed line saw, where `wanted` is (release, CUDA_HOME)."""
    release = RELEASE.search(text)
    home = HOME_SHOWN.search(text)
    saw = (release and release[1], home and home[1])
    if saw == wanted:
        return "right"
    return "wrong" if any(saw) else "empty"


def descendants(process):
    found = []
    for parent in [process]:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as children:
                    for child in map(int, children.read().split()):
                        found += [child, *descendants(child)]
        except OSError:
            pass
    return found


def prepare_worker():
    """For a process that drives shells: a load does not delay its clock, and what a shell leaves behind (its daemon)
    becomes its child, so that it can be ended."""
    end_with_parent()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def end_leftovers():
    """Ends whatever descends from this process, which has no other children to keep."""
    end = time.monotonic() + 5
    while left := descendants(os.getpid()):
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if time.monotonic() > end:
            return
        select.select([], [], [], 0.002)


def activate(shell, home, owner, wanted, deadline, follow=5, all_of_them=False):
    """`wanted`: what is right, (release, CUDA_HOME). Where it was not right, up to `follow` more prompts are tried
    until one is; `all_of_them`: tried and timed in any case."""
    try:
        with Terminal(shell, home.environment, home.start, home.root / "scratch", deadline, owner.become) as terminal:
            for line in home.before:
                terminal.run(line)
                for _ in range(10):
                    if any(HOME_SHOWN.findall(terminal.run(TYPED_AHEAD).said)):
                        break
            text, wait = terminal.ahead(home.activation)
            seen = Seen(judge(text, wanted), wait, bool(SAID.search(text)), re.findall(r"cudaenv: .*", text))
            if seen.outcome != "right":
                seen.text = text[-2000:]
            for number in range(1, follow + 1):
                if not all_of_them and (seen.outcome == "right" or seen.later):
                    break
                answer = terminal.run(TYPED_AHEAD)
                seen.prompts.append(round(answer.seconds * 1000, 1))
                if seen.later is None and judge(answer.said, wanted) == "right":
                    seen.later = number
            return seen
    except driver.Died as died:
        return Seen("hung", None, bool(SAID.search(str(died))), re.findall(r"cudaenv: .*", str(died)),
                    text=str(died)[-2000:])
    finally:
        end_leftovers()


class Load:
    """N processes that spin, as the same user, each in a session of its own: with sched_autogroup_enabled one session
    counts as one, however many spin in it."""

    def __init__(self, count, owner):
        self.processes = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"], start_new_session=True,
                                           stdin=subprocess.DEVNULL, preexec_fn=end_with_parent, **owner.of_child())
                          for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
