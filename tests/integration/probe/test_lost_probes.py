#!/usr/bin/env python3
"""`cudaenv probe` over drivers that hang and die: each has its own code, comes within the deadline,
and leaves no process behind."""

import json
import os
import signal
import subprocess
import time

from support import PROGRAMS, WAIT, run_tests
from verdict_support import VerdictTest

QUICK_DEADLINE = 20  # seconds, as docs/probe.md has it


class Crashes(VerdictTest):
    PLACES = [("cuInit", "driver"), ("cuDeviceGetName", "gpu"), ("cudaGetDeviceCount", "runtime"),
              ("cuMemAlloc", "memory"), ("cuModuleLoadDataEx", "kernel"),
              ("cuLaunchKernel", "kernel")]

    def test_a_crash_is_reported_with_its_step_and_signal(self):
        for function, name in self.PLACES:
            for action, signal_name in (("crash", "SIGSEGV"), ("abort", "SIGABRT")):
                with self.subTest(f"{function} {action}"):
                    self.machine(f"{function} {action}")
                    self.check(self.probe(), "crashed", name, code="CE381", words=signal_name)

    def test_the_last_words_before_a_crash_are_its_cause_in_text_and_json(self):
        words = "Could not load library libcuda_part.so.9. Error: " + "ä" * 60
        self.machine(f'cuLaunchKernel abort say "{words}"')
        step = self.check(self.probe(), "crashed", "kernel", code="CE381", words="SIGABRT")
        self.assertIn(f"its last output: {words}", step["cause"])
        ran = subprocess.run([PROGRAMS["cudaenv"], "probe"], capture_output=True, text=True,
                             env=self.environment, cwd=self.root, timeout=WAIT)
        self.assertIn("libcuda_part.so.9", " ".join(ran.stdout.split()))

    def test_what_is_said_of_a_secret_place_has_no_secret(self):
        self.machine('cuLaunchKernel exit say "no licence: https://me:pw4711@host.test/a?k=pw4711"')
        step = self.check(self.probe(), "crashed", "kernel", code="CE383")
        self.assertIn("https://***@host.test/a?***", step["cause"])
        self.assertNotIn("pw4711", json.dumps(step))

    def test_a_driver_that_ends_the_process_gave_no_whole_answer(self):
        for function, name in self.PLACES:
            with self.subTest(function):
                self.machine(f"{function} exit")
                self.check(self.probe(), "crashed", name, code="CE383")


class Hangs(VerdictTest):
    def start(self, function, *words, **more):
        """A probe that hangs in that function; returns once it does."""
        self.machine(f'{function} hang say "nothing"')
        child = subprocess.Popen(self.command(*words), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=self.environment, cwd=self.root,
                                 start_new_session=True, **more)
        self.wait_until(lambda: "hangs" in self.calls() or child.poll() is not None)
        self.assertIsNone(child.poll(), "it ended instead of hanging")
        return child

    def wait_until(self, holds, seconds=WAIT):
        """For what the system has no event for that a test could wait on."""
        until = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), until, "it does not happen")
            time.sleep(0.02)

    def parent_of(self, process):
        with open(f"/proc/{process}/stat", encoding="ascii") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])

    def check_timeout(self, child, name):
        out, err = child.communicate(timeout=QUICK_DEADLINE + WAIT)
        answer = json.loads(out)
        step = self.check(answer, "timeout", name, code="CE380")
        self.assertTrue(step["cause"].endswith("its last output: nothing"), step)
        self.assertEqual(child.returncode, 1, err)
        self.nothing_is_left()

    def test_a_driver_that_never_returns_from_cuinit_is_given_up_in_time(self):
        self.check_timeout(self.start("cuInit"), "driver")

    def test_a_kernel_that_never_ends_is_given_up_in_time(self):
        self.check_timeout(self.start("cuCtxSynchronize"), "kernel")

    def test_when_the_terminal_is_interrupted_nothing_stays(self):
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(signal.Signals(number).name):
                self.log.unlink(missing_ok=True)
                child = self.start("cuInit")
                os.killpg(child.pid, number)  # as a terminal does: all of the foreground
                child.communicate(timeout=WAIT)
                self.wait_until(lambda: not self.left_behind(), seconds=10)

    def test_a_daemon_whose_probe_hangs_answers_everybody_else_and_takes_it_along(self):
        del self.environment["CUDAENV_NO_DAEMON"]
        daemon = subprocess.Popen([PROGRAMS["cudaenvd"], "--daemon"], env=self.environment,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        self.wait_until(lambda: (self.root / "run/cudaenv/daemon.socket").exists())
        child = self.start("cuInit")
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        for _ in range(3):
            said = subprocess.run([PROGRAMS["cudaenv"], "status", "--json"], capture_output=True,
                                  env=self.environment, cwd=self.root, timeout=WAIT)
            self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIsNone(child.poll(), "the probe hangs still")
        self.assertEqual(self.parents_of_probes(daemon, child), [daemon.pid])
        # Nobody waits for it any more.
        child.kill()
        child.wait()
        self.wait_until(lambda: self.left_behind() == [daemon.pid])
        self.log.unlink()
        child = self.start("cuInit")
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        child.send_signal(signal.SIGSTOP)  # it would ask a daemon of its own
        self.assertEqual(self.parents_of_probes(daemon, child), [daemon.pid])
        daemon.kill()
        daemon.wait()
        self.wait_until(lambda: self.left_behind() == [child.pid])

    def parents_of_probes(self, *others):
        pids = [other.pid for other in others]
        return [self.parent_of(process) for process in self.left_behind() if process not in pids]


if __name__ == "__main__":
    run_tests()
