#!/usr/bin/env python3
"""While cudaenvd does not answer: a prompt waits for it, nothing runs with another environment's CUDA, and an interrupt
ends the wait.

usage: test_waiting.py --shell SHELL --cudaenv FILE --cudaenvd FILE
Status 77: the shell is not here.
"""

import fcntl
import os
import select
import subprocess
import sys
import time
import unittest

import driver
import play
import scene

PATIENCE = 120  # seconds until an event counts as missing
BUSY = "Machine is busy: CUDA is not set"
INTERRUPTED = "Interrupted: CUDA is not set"

options = None
shells_world = None


class Gate:
    """A cudaenvd that starts only while the gate is open."""

    def __init__(self, world):
        self.lock = world.root / "gate"
        self.asked = world.root / "asked"
        self.program = world.root / "gated cudaenvd"
        self.lock.touch()
        self.program.write_text(f"#!/bin/sh\n: > '{self.asked}'\nexec 2>/dev/null\nflock -s '{self.lock}' true\n"
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


class WaitingTest(unittest.TestCase):
    def setUp(self):
        shells_world.reset()
        shells_world.write_rc_files(True)
        self.gate = Gate(shells_world)
        self.addCleanup(self.gate.open)
        environment = {"CUDAENV_DAEMON": str(self.gate.program), "CUDAENV_NO_DAEMON": "1"}
        self.play = play.Play(shells_world, options.shell, True, environment)
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

    def test_an_interrupt_ends_the_wait_and_nothing_of_the_old_environment_is_left(self):
        self.gate.close()
        self.write(self.activate("t124") + "\n")
        self.gate.wait_until_asked()
        self.play.answer = self.play.shell.interrupt()
        self.assertNotIn(BUSY, self.play.answer.said)
        self.assertEqual(self.home(), "")
        self.gate.open()
        self.becomes("12.4")

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
        done = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(WaitingTest))
    return 0 if done.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
