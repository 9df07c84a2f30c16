#!/usr/bin/env python3
"""While cudaenvd does not answer: a prompt waits for it, nothing runs with another environment's CUDA, and an interrupt
ends the wait.

usage: test_waiting.py --shell SHELL --cudaenv FILE --cudaenvd FILE
Status 77: the shell is not here.
"""

import contextlib
import fcntl
import os
import select
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

import driver
import play
import scene

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import silent_mount  # noqa: E402

PATIENCE = 120  # seconds until an event counts as missing
BUSY = "Machine is busy: CUDA is not set"
INTERRUPTED = "Interrupted: CUDA is not set"
NOT_AT_ANY_MOMENT = {
    "tcsh": "an interrupt that comes before the client has started is not noticed in tcsh",
    # Without our hook: of 40 lines that an interrupt followed after 4 ms, 10 never came back.
    "xonsh": "xonsh 0.13 itself may hang at an interrupt in the first milliseconds of a command",
}

options = None
shells_world = None


class Gate:
    """A cudaenvd that starts only while the gate is open, and some seconds later if asked to."""

    def __init__(self, world):
        self.lock = world.root / "gate"
        self.asked = world.root / "asked"
        self.delay = world.root / "delay"
        self.delay.write_text("0")
        self.program = world.root / "gated cudaenvd"
        self.lock.touch()
        self.program.write_text(f"#!/bin/sh\n: > '{self.asked}'\nexec 2>/dev/null\nflock -s '{self.lock}' true\n"
                                f"sleep $(cat '{self.delay}')\n"
                                f"exec '{world.daemon_program}' \"$@\"\n")
        self.program.chmod(0o755)
        self.held = None

    def close(self):
        self.held = os.open(self.lock, os.O_RDWR)
        fcntl.flock(self.held, fcntl.LOCK_EX)
        self.asked.unlink(missing_ok=True)

    def open(self):
        if self.held is not None:
            os.close(self.held)
            self.held = None

    def wait_until_asked(self):
        end = time.monotonic() + PATIENCE
        while not self.asked.exists():
            if time.monotonic() > end:
                raise AssertionError("cudaenvd was not started")
            select.select([], [], [], 0.005)


# The user's own handling of an interrupt, by which a shell may go on as if there had been none; and a wrapped command.
INTERRUPTS = {
    "bash": {"none": "", "echo": "trap 'echo hi' INT\n", "ignored": "trap '' INT\n"},
    "zsh": {"none": "", "TRAPINT": "TRAPINT() { return 0; }\n", "echo": "trap 'echo hi' INT\n",
            "ignored": "trap '' INT\n"},
    "fish": {"none": "", "handler": "function on_int --on-signal INT; echo hi; end\n"},
    "tcsh": {"none": ""},
    "xonsh": {"none": "", "wrapped": "def _conda(args):\n    __xonsh__.env['VIRTUAL_ENV'] = args[1]\n"
                                     "aliases['conda'] = _conda\n"},
}


class SilentPlaceTest(unittest.TestCase):
    """A directory whose file system does not answer."""

    NAME = None  # below the world

    def setUp(self):
        shells_world.reset()
        shells_world.write_rc_files(True)
        self.place = shells_world.root / self.NAME
        if not self.place.exists():
            self.place.mkdir()
            self.addCleanup(self.place.rmdir)

    def fall_silent(self):
        silence = silent_mount.silent(self.place)
        try:
            silence.__enter__()
        except silent_mount.Unavailable as why:
            self.skipTest(str(why))
        self.addCleanup(silence.__exit__, None, None, None)

    @contextlib.contextmanager
    def playing(self, daemon):
        environment = {} if daemon else {"CUDAENV_NO_DAEMON": "1"}
        with play.Play(shells_world, options.shell, True, environment) as playing:
            yield playing

    def played(self, steps, daemon):
        with self.playing(daemon) as playing:
            playing.play(steps)
            return playing.answer.said
        self.fail("no play")


class SilentConfigurationTest(SilentPlaceTest):
    """The user's configuration, as where HOME lies on a file server: it is reported, and no prompt is left waiting."""

    NAME = "config/cudaenv"

    def cudaenvds(self):
        """Processes that work for this world."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if b"cudaenvd" in (process / "cmdline").read_bytes() and \
                        os.fsencode(shells_world.root) in (process / "environ").read_bytes():
                    found.append(process.name)
            except OSError:
                continue  # it has ended
        return found

    def check(self, daemon):
        if options.shell == "xonsh":
            self.skipTest("xonsh looks at a local configuration before each command, and this one was local")
        with self.playing(daemon) as playing:
            playing.play(["activate t113", "expect nvcc 11.3"])
            self.fall_silent()
            playing.play(["activate t118"])
            self.assertIn("does not answer: CUDA is not set yet", playing.answer.said)
            self.assertNotIn(BUSY, playing.answer.said)
            playing.play(["expect inactive"])
            if not daemon:
                end = time.monotonic() + PATIENCE
                while self.cudaenvds():
                    self.assertLess(time.monotonic(), end)
                    select.select([], [], [], 0.05)

    def test_without_a_daemon_and_no_process_is_left(self):
        self.check(daemon=False)

    def test_with_a_daemon(self):
        self.check(daemon=True)


class SilentProgramTest(SilentPlaceTest):
    """The program and a listed directory of toolkits: prompts at which nothing changed do not look at them."""

    NAME = "far"

    def test_a_prompt_at_which_nothing_changed_does_not_wait(self):
        if options.shell not in ("bash", "zsh"):
            self.skipTest("whether a prompt asks is decided in the shell alone in bash and zsh only")
        # Of a type that does not count as local, and it answers for now; the program lies below it.
        self.mount("-t", "bpf", "far", self.place)
        below = self.place / "bin"
        below.mkdir()
        self.mount("--bind", Path(shells_world.cudaenv).parent, below)
        program, shells_world.program = shells_world.program, str(below / Path(shells_world.cudaenv).name)
        self.addCleanup(setattr, shells_world, "program", program)
        shells_world.toolkit_directories.append(self.place)
        self.addCleanup(shells_world.toolkit_directories.remove, self.place)
        shells_world.write_config()
        shells_world.write_rc_files(True)
        environment = {"CUDAENV_NO_DAEMON": "1", "CUDAENV_DAEMON": shells_world.daemon_program}
        with play.Play(shells_world, options.shell, True, environment) as playing:
            # No toolkit here fits this pin: a new one would be noticed where directories are looked at.
            playing.play(["cd absent"])
            self.assertIn("9.0", playing.answer.said)
            self.fall_silent()
            playing.shell.deadline = 20
            playing.type("")
            playing.type("")

    def mount(self, *words):
        done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest(f"cannot be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", words[-1]], check=False)


class SilentToolkitTest(SilentPlaceTest):
    """A toolkit: another one is chosen, or it is said."""

    NAME = "toolkits/cuda-silent"

    def setUp(self):
        super().setUp()
        self.fall_silent()

    def test_the_toolkit_that_is_wanted_answers(self):
        for daemon in (False, True):
            with self.subTest(daemon=daemon):
                said = self.played(["activate t118", "expect nvcc 11.8"], daemon)
                self.assertNotIn(BUSY, said)

    def test_where_it_may_be_the_one_that_is_wanted_nothing_is_set_and_it_is_said(self):
        moved = shells_world.root / "toolkits/cuda-12.4"
        away = shells_world.scratch / "away"
        moved.rename(away)
        self.addCleanup(away.rename, moved)
        said = self.played(["activate t118", "activate t124"], False)
        self.assertIn(f"CUDA 12.4 · {self.place} does not answer", said.replace("~", str(shells_world.home)))

    def test_what_is_set_by_hand_does_not_keep_a_prompt_waiting(self):
        for daemon in (False, True):
            with self.subTest(daemon=daemon):
                said = self.played(["activate t118", f"export CUDA_HOME {self.place}/cuda"], daemon)
                self.assertIn("does not answer", said)
                said = self.played([f"export CUDA_HOME {self.place}/cuda", "activate t118"], daemon)
                self.assertNotIn(BUSY, said)


class WaitingTest(unittest.TestCase):
    def setUp(self):
        shells_world.reset()
        shells_world.write_rc_files(True)
        self.gate = Gate(shells_world)
        self.addCleanup(self.gate.open)
        self.environment = {"CUDAENV_DAEMON": str(self.gate.program), "CUDAENV_NO_DAEMON": "1"}
        self.play = play.Play(shells_world, options.shell, True, self.environment)
        self.play.__enter__()
        self.addCleanup(self.play.__exit__)
        self.play.play(["activate t118", "expect nvcc 11.8"])

    def home(self):
        """What a command gets: by the environment of a child, without a wait of this test's own."""
        return self.play.shell.environment().get(b"CUDA_HOME", b"").decode()

    def toolkit(self, version):
        return str(shells_world.root / f"toolkits/cuda-{version}")

    def write(self, text):
        os.write(self.play.shell.terminal, text.encode())

    def activate(self, name):
        return self.play.words.activate(self.play.env_path(name))

    def test_a_line_typed_ahead_runs_with_the_new_environments_cuda(self):
        self.gate.close()
        self.write(self.activate("t124") + "\n")
        self.gate.wait_until_asked()
        self.write("env | grep ^CUDA_HOME= ; printf '%s-%s' it ended\n")
        self.gate.open()
        output = self.until("it-ended")
        self.assertIn("CUDA_HOME=" + self.toolkit("12.4"), output)
        self.assertNotIn(self.toolkit("11.8"), output)

    def test_without_an_answer_nothing_of_the_old_environment_is_left(self):
        self.gate.close()
        self.play.type(self.activate("t124"))
        self.assertIn(BUSY, self.play.answer.said)
        self.assertEqual(self.home(), "")
        self.play.type("")
        self.assertNotIn(BUSY, self.play.answer.said)  # said once
        self.gate.open()
        self.becomes("12.4")

    def test_an_answer_that_always_takes_its_time_comes_in_the_end(self):
        self.gate.close()
        self.play.type(self.activate("t124"))
        self.assertIn(BUSY, self.play.answer.said)
        self.gate.delay.write_text("0.2")
        self.gate.open()
        self.becomes("12.4")

    def test_an_interrupt_ends_the_wait_and_nothing_of_the_old_environment_is_left(self):
        self.gate.close()
        self.write(self.activate("t124") + "\n")
        self.gate.wait_until_asked()
        self.play.answer = self.play.shell.interrupt()
        said = self.play.answer.said
        self.assertEqual(self.home(), "")
        self.play.type("")
        said += self.play.answer.said
        self.assertNotIn(BUSY, said)
        self.assertEqual(said.count("cudaenv: "), said.count(INTERRUPTED), said)
        self.assertLessEqual(said.count(INTERRUPTED), 1, said)
        self.gate.open()
        self.becomes("12.4")

    def test_an_interrupt_is_said_before_the_next_command_whatever_the_user_does_with_interrupts(self):
        for name, before in INTERRUPTS[options.shell].items():
            for later in (0, 0.3):
                with self.subTest(name, later=later):
                    self.gate.open()
                    shells_world.write_rc_files(True, {options.shell: before})
                    with play.Play(shells_world, options.shell, True, self.environment) as self.play:
                        self.play.play(["activate t118", "expect nvcc 11.8"])
                        self.gate.close()
                        other = self.play.env_path("t124")
                        line = f"conda activate {other}" if name == "wrapped" else self.activate("t124")
                        self.write(line + "\n")
                        self.gate.wait_until_asked()
                        time.sleep(later)
                        self.write("\x03")
                        self.play.shell.wait_until_quiet(1)
                        self.write("printf '%s-%s' it ended\n")
                        said = self.until("it-ended")
                        said = self.play.shell.heard.decode("utf-8", "replace") + said
                        self.play.shell.wait_until_quiet()
                        self.assertEqual(said.partition("it-ended")[0].count(INTERRUPTED), 1, said)
                        self.assertEqual(self.home(), "")
                        self.play.type("")
                        self.assertNotIn(INTERRUPTED, self.play.answer.said)
                    self.gate.open()

    def test_an_interrupt_between_the_lines_of_a_paste_leaves_nothing_of_the_old_environment(self):
        if options.shell == "tcsh":
            self.skipTest("tcsh has a prompt before each line")
        shells_world.write_rc_files(True, {"zsh": "setopt zle\n"})
        seen = shells_world.scratch / "seen"
        seen.unlink(missing_ok=True)
        environment = {**self.environment, "TERM": "xterm"}
        with play.Play(shells_world, options.shell, True, environment) as self.play:
            self.play.play(["activate t118", "expect nvcc 11.8"])
            self.gate.close()
            self.write(f"\x1b[200~{self.play.words.cd(self.play.place('p124'))}\renv > {seen}\x1b[201~")
            self.play.shell.wait_until_quiet()
            self.write("\n")
            self.gate.wait_until_asked()
            self.write("\x03")
            self.play.shell.wait_until_quiet(3)
            self.gate.open()
            if seen.exists():
                self.assertNotIn("CUDA_HOME=", seen.read_text())
            self.becomes("12.4")

    def test_an_interrupt_in_a_project_with_another_pin_leaves_nothing_of_what_was_active(self):
        pin = Path(self.play.place("p118"), "cudaenv.toml")
        self.addCleanup(pin.write_text, pin.read_text())
        for line in (self.play.words.cd(self.play.place("p124")), "echo"):
            with self.subTest(line):
                self.gate.open()
                self.play.type(self.play.words.cd(self.play.place("p118")))
                self.becomes("11.8")
                self.gate.close()
                if line == "echo":
                    pin.write_text('[pins]\ncuda = "11.3"\n')
                self.write(line + "\n")
                self.gate.wait_until_asked()
                self.play.answer = self.play.shell.interrupt()
                self.assertEqual(self.home(), "")

    def is_right_here(self):
        """What is set is this directory's CUDA, or nothing is. A line that an interrupt drops has run nothing."""
        environment = {}
        end = time.monotonic() + PATIENCE
        while not environment:
            self.play.shell.wait_until_quiet()
            try:
                environment = self.play.shell.environment(deadline=5)
            except driver.Died:
                self.assertLess(time.monotonic(), end)
        self.play.shell.wait_until_quiet()
        version = "12.4" if environment.get(b"PWD", b"").endswith(b"/p124") else "11.8"
        return environment.get(b"CUDA_HOME", b"").decode() in ("", self.toolkit(version))

    def test_an_interrupt_at_any_moment_leaves_nothing_of_another_directory(self):
        if options.shell in NOT_AT_ANY_MOMENT:
            self.skipTest(NOT_AT_ANY_MOMENT[options.shell])
        for count in (1, 2):
            for delay in (0, 1, 4, 16):
                with self.subTest(count=count, delay=delay):
                    self.play.type(self.play.words.cd(self.play.place("p118")))
                    self.becomes("11.8")
                    # Unquoted: of a line that is half read, the terminal drops what comes after.
                    self.write(f"cd {self.play.place('p124')}\n")
                    time.sleep(delay / 1000)
                    for _ in range(count - 1):
                        self.write("\x03")
                        time.sleep(0.003)
                    self.write("\x03")
                    self.assertTrue(self.is_right_here())

    def test_a_client_that_is_killed_or_gone_is_made_up_for_or_told(self):
        program = Path(shells_world.program)
        real, marker = program.with_name("real cudaenv"), shells_world.scratch / "killed"
        target = os.readlink(program)

        def back():
            for path in (program, real):
                path.unlink(missing_ok=True)
            program.symlink_to(target)

        self.addCleanup(back)
        program.unlink()
        shutil.copy2(target, program)
        with play.Play(shells_world, options.shell, True, self.environment) as self.play:
            self.play.type(self.activate("t118"))
            self.play.type(self.play.words.cd(self.play.place("p118")))
            self.becomes("11.8")
            program.rename(real)
            program.write_text(f"#!/bin/sh\nrm '{marker}' 2>/dev/null && kill -9 $$\nexec '{real}' \"$@\"\n")
            program.chmod(0o755)
            marker.touch()
            self.play.type(self.play.words.cd(self.play.place("p124")))
            self.assertFalse(marker.exists())
            self.assertTrue(self.is_right_here())
            self.becomes("12.4")
            program.unlink()
            self.play.type(self.play.words.cd(self.play.place("p118")))
            self.assertIn("Command not found" if options.shell == "tcsh" else "was removed", self.play.answer.said)

    def test_an_interrupt_drops_the_rest_of_the_line(self):
        if options.shell != "zsh":
            self.skipTest("the wait of the other shells is at a prompt, behind the whole line, or theirs to interrupt")
        # A wrapped command waits where it stands.
        self.play.type(f"CONDA_EXE=/x/bin/conda; conda() {{ . {self.play.env_path('t124')}/bin/activate; }}")
        self.gate.close()
        self.write("conda activate x && echo the-rest\"\"-ran\n")
        self.gate.wait_until_asked()
        self.play.answer = self.play.shell.interrupt()
        self.assertNotIn("the-rest-ran", self.play.answer.said)
        self.assertEqual(self.home(), "")

    def test_a_script_says_that_the_answer_did_not_come(self):
        self.gate.close()
        hook = driver.hook_line(options.shell, shells_world.program)
        script = shells_world.scratch / "script"
        script.write_text(f"{hook}\nenv\n")
        environment = {**self.play.environment, "VIRTUAL_ENV": self.play.env_path("t124")}
        # Without start-up files: the driver's make tcsh take a script for an interactive shell.
        plain = {"tcsh": ["-f"], "xonsh": ["--no-rc"]}.get(options.shell, [])
        ran = subprocess.run([options.shell, *plain, script],
                             env=environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(ran.stderr.count(BUSY), 1, ran)
        self.assertNotIn("CUDA_HOME=", ran.stdout)

    def until(self, text):
        output = b""
        end = time.monotonic() + PATIENCE
        while text.encode() not in output:
            if not select.select([self.play.shell.terminal], [], [], end - time.monotonic())[0]:
                raise AssertionError(output)
            output += os.read(self.play.shell.terminal, 65536)
        return output.decode("utf-8", "replace")

    def becomes(self, version):
        end = time.monotonic() + PATIENCE
        while self.home() != self.toolkit(version):
            self.assertLess(time.monotonic(), end, self.play.surroundings())
            self.play.type("")


def main():
    global options, shells_world
    options = scene.arguments(__doc__).parse_args()
    if why := driver.missing(options.shell):
        scene.skip(why)
    with scene.prepared(options, odd=False) as shells_world:
        shells_world.kill_daemon()
        load = unittest.defaultTestLoader.loadTestsFromTestCase
        done = unittest.TextTestRunner().run(
            unittest.TestSuite(
                load(case) for case in (WaitingTest, SilentConfigurationTest, SilentProgramTest, SilentToolkitTest)))
    return 0 if done.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
