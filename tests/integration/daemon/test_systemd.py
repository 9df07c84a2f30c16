#!/usr/bin/env python3
"""The user units, and a socket that systemd listens on."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

import support
from support import DaemonTest, run_tests

UNITS = Path(__file__).resolve().parents[3] / "packaging/systemd"
NEEDS = "it is not here; apt install systemd has it"


class Units(DaemonTest):
    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze: " + NEEDS)
    def test_systemd_finds_nothing_wrong_with_the_units(self):
        for name in ("cudaenv.socket", "cudaenv.service"):
            text = UNIT_TEXTS[name].replace("@LIBEXEC@",
                                            str(support.PROGRAMS / "libexec/cudaenv"))
            self.assertNotIn("@", text)
            (self.root / name).write_text(text)
        ran = subprocess.run(["systemd-analyze", "verify", "--user", "--man=no",
                              self.root / "cudaenv.socket", self.root / "cudaenv.service"],
                             env=self.environment, capture_output=True, text=True,
                             timeout=support.WAIT)
        wrong = [row for row in ran.stderr.splitlines() if "cudaenv" in row]
        self.assertEqual((ran.returncode, wrong), (0, []), ran.stderr)

    @unittest.skipUnless(shutil.which("systemd-socket-activate"),
                         "systemd-socket-activate: " + NEEDS)
    def test_a_socket_passed_by_systemd_is_served_and_left_to_it(self):
        self.directory.mkdir(mode=0o700)
        kept = [f"--setenv={name}={value}" for name, value in self.environment.items()]
        activator = subprocess.Popen(
            ["systemd-socket-activate", f"--listen={self.socket_path}", *kept,
             support.PROGRAMS / "libexec/cudaenv/cudaenvd", "--daemon"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.children.append(activator)
        # The socket is there a moment before anybody listens on it; the first connection starts it.
        self.wait_until(lambda: self.status()["running"])
        status = self.status()
        self.assertEqual(status["socket"], self.socket_path)
        self.assertEqual(status["pid"], activator.pid)  # it has become the daemon
        # No client starts one beside it, though no process took the lock by starting.
        self.ask("env", at_terminal=True)
        self.assertEqual(self.daemons(), [status["pid"]])
        self.assertFalse(self.ask("daemon", "stop")["running"])
        self.assertEqual(activator.wait(support.WAIT), 0)
        self.assertTrue(os.path.exists(self.socket_path))  # systemd's, not its own to remove

    def test_descriptors_meant_for_another_process_are_not_taken(self):
        self.start_in_foreground(environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"})
        self.assertTrue(self.status()["running"])


# Read before the tests become another user, who may not see this directory.
UNIT_TEXTS = {path.name: path.read_text() for path in UNITS.iterdir()}

if __name__ == "__main__":
    run_tests()
