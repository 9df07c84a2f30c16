#!/usr/bin/env python3
"""`cudaenv probe` at a terminal says which rung it is on, and removes that line again; no other output
hears of it."""

import os
import pty
import select
import signal
import subprocess
import time

from test_stopping import StoppingTest
from test_watching import Terminal
from support import PROGRAMS, WAIT, run_tests


class ProgressTest(StoppingTest):
    def setUp(self):
        super().setUp()
        self.environment["TERM"] = "xterm-256color"

    def start(self, *words, **variables):
        """With standard error on a terminal, and the page elsewhere."""
        self.controller, side = pty.openpty()
        self.addCleanup(os.close, self.controller)
        child = subprocess.Popen([PROGRAMS["cudaenv"], *words], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=side, cwd=self.root,
                                 env=self.environment | variables, process_group=0)
        os.close(side)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.said = b""
        return child

    def hear(self, wanted=None):
        """What comes on the terminal, up to `wanted` or its end."""
        until = time.monotonic() + WAIT
        while wanted is None or wanted not in self.said:
            ready, _, _ = select.select([self.controller], [], [], max(0, until - time.monotonic()))
            self.assertTrue(ready, self.said)
            try:
                self.said += os.read(self.controller, 65536)
            except OSError:  # the other side is closed
                self.assertIsNone(wanted, self.said)
                break
        return self.said

    def shown_at_the_end(self):
        terminal = Terminal(100, 30)
        terminal.take(self.said)
        return terminal.text()

    def test_each_rung_is_reported_and_the_line_is_gone_before_the_page(self):
        self.machine()
        for probe in (("probe",), ("probe", "--json"), ("host", "--probe", "--json")):
            for daemon in (False, True):
                with self.subTest(probe=probe, daemon=daemon):
                    if daemon and "CUDAENV_NO_DAEMON" in self.environment:
                        self.listening_daemon()
                    child = self.start(*probe)
                    page, _ = child.communicate(timeout=WAIT)
                    said = self.hear()
                    for rung in (b"library", b"driver", b"kernel, gpu 0"):
                        self.assertIn(b"probing " + rung + b" ...", said)
                    self.assertEqual(self.shown_at_the_end(), "")
                    self.assertEqual(child.returncode, 0)
                    self.assertNotIn(b"probing", page)
            self.environment["CUDAENV_NO_DAEMON"] = "1"

    def test_the_rung_that_hangs_is_what_one_sees(self):
        self.machine("cuInit hang\n")
        child = self.start("probe")
        self.hear(b"probing driver ...")
        self.assertEqual(self.shown_at_the_end(), "probing driver ...")
        os.killpg(child.pid, signal.SIGINT)
        child.communicate(timeout=WAIT)
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.nothing_stays()

    def test_a_failure_is_reported_after_the_line_is_gone(self):
        self.machine("cuInit 803\n")
        child = self.start("probe")
        page, _ = child.communicate(timeout=WAIT)
        self.hear()
        self.assertEqual((self.shown_at_the_end(), child.returncode), ("", 1))
        self.assertIn(b"error 803", page)

    def test_nothing_is_reported_where_nobody_can_see_it_or_wants_to(self):
        self.machine()
        for words, variables in ((("-q",), {}), ((), {"TERM": "dumb"}), ((), {"TERM": ""})):
            with self.subTest(words=words, variables=variables):
                child = self.start("probe", *words, **variables)
                child.communicate(timeout=WAIT)
                self.assertEqual(self.hear(), b"")
        self.assertEqual(self.cudaenv("probe").stderr, "")  # a pipe


if __name__ == "__main__":
    run_tests()
