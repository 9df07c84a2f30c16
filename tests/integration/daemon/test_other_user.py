#!/usr/bin/env python3
"""What another user of the machine may try. Needs root, who can be two users."""

import os
import subprocess
import sys

from support import ORDINARY_USER, DaemonTest, FakeDaemon, hello, line, requests_of, run_tests


class OtherUser(DaemonTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["chown", "-R", f"{ORDINARY_USER}:{ORDINARY_USER}", self.root], check=True)

    def client(self, *words, **more):
        return super().client(*words, user=ORDINARY_USER, group=ORDINARY_USER, extra_groups=[],
                              **more)

    def test_a_directory_of_another_user_is_not_used(self):
        self.directory.mkdir(mode=0o700)
        started = self.ask("daemon", "start")
        self.assertFalse(started["running"])
        self.assertIn("belongs to user 0", started["why_not"])
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_daemon_of_another_user_is_told_nothing(self):
        self.directory.mkdir(mode=0o700)
        os.chown(self.directory, ORDINARY_USER, ORDINARY_USER)
        heard = []
        fake = FakeDaemon(self, lambda connection: heard.extend(requests_of(connection)))
        os.chmod(self.socket_path, 0o666)
        ran = self.run_client("env", "--json")
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        self.assertIn("served by user 0", self.status()["why_not"])
        fake.end()
        self.assertEqual(heard, [])

    def test_a_client_of_another_user_is_told_nothing(self):
        self.start()
        wire = self.connect()
        try:
            wire.send(hello(self.build()) + line(1, "daemon.status", {}))
            self.assertIsNone(wire.read())
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was quicker
        logged = self.run_client("daemon", "logs").stdout
        self.assertIn(b"another user", logged)


if __name__ == "__main__":
    if os.getuid() != 0:
        print("SKIP: only root can be two users; run it with sudo")
        sys.exit(4)
    run_tests(as_root=True)
