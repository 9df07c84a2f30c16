#!/usr/bin/env python3
"""Where client and daemon meet: what is not the user's alone is not used, whatever it is, and a command
is answered without it and without a word."""

import os
import socket
import stat

from support import DaemonTest, FakeDaemon, requests_of, run_tests


class Places(DaemonTest):
    def check_without_daemon(self, reason):
        ran = self.run_client("env", "--json")
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        written = self.run_client("env", "-v").stderr
        self.assertEqual(written.count(b"answered without the daemon"), 1, written)
        started = self.ask("daemon", "start")
        self.assertFalse(started["running"], started)
        self.assertIn(reason, started["why_not"])
        self.assertEqual(self.daemons(), [])

    def test_a_directory_open_to_others_is_not_used_and_not_mended(self):
        for mode in (0o777, 0o770, 0o755, 0o750, 0o711, 0o500, 0o1777):
            with self.subTest(oct(mode)):
                self.directory.mkdir(exist_ok=True)
                self.directory.chmod(mode)
                self.check_without_daemon("mode")
                self.assertEqual(stat.S_IMODE(self.directory.stat().st_mode), mode)
                self.assertEqual(os.listdir(self.directory) if mode & 0o400 else [], [])

    def test_a_link_in_the_directorys_place_is_not_followed(self):
        (self.root / "target").mkdir(mode=0o700)
        for target in (self.root / "target", self.root / "nowhere"):
            with self.subTest(target.name):
                self.directory.symlink_to(target)
                self.check_without_daemon("link")
                self.directory.unlink()
        self.assertEqual(os.listdir(self.root / "target"), [])

    def test_a_file_in_the_directorys_place_is_left_alone(self):
        self.directory.write_text("mine")
        self.check_without_daemon("not a directory")
        self.assertEqual(self.directory.read_text(), "mine")

    def test_a_read_only_place_has_no_daemon(self):
        (self.root / "run").chmod(0o500)
        self.addCleanup((self.root / "run").chmod, 0o700)
        self.check_without_daemon("cannot be made")

    def test_a_lock_that_is_no_file_is_not_opened(self):
        self.directory.mkdir(mode=0o700)
        lock = self.directory / "daemon.lock"
        lock.symlink_to(self.root / "home/target")
        self.check_without_daemon("daemon.lock")
        self.assertFalse((self.root / "home/target").exists())
        lock.unlink()
        lock.mkdir()
        self.check_without_daemon("daemon.lock")
        lock.rmdir()
        os.mkfifo(lock, 0o600)
        self.check_without_daemon("daemon.lock")

    def test_a_link_in_the_sockets_place_is_replaced_not_followed(self):
        self.directory.mkdir(mode=0o700)
        elsewhere = self.root / "home/socket"
        os.symlink(elsewhere, self.socket_path)
        self.start()
        self.assertTrue(stat.S_ISSOCK(os.lstat(self.socket_path).st_mode))
        self.assertFalse(elsewhere.exists())

    def test_a_socket_of_which_nobody_listens_is_replaced(self):
        self.directory.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(self.socket_path)
        self.assertIn("no daemon listens", self.status()["why_not"])
        self.start()

    def test_somebody_who_listens_without_the_lock_is_not_pushed_aside(self):
        fake = FakeDaemon(self, lambda connection: list(requests_of(connection)))
        inode = os.stat(self.socket_path).st_ino
        self.ask("env", at_terminal=True)
        self.assertEqual(self.daemons(), [])
        self.assertEqual(os.stat(self.socket_path).st_ino, inode)
        fake.end()

    def test_a_runtime_directory_that_is_not_there_is_no_complaint(self):
        self.environment["XDG_RUNTIME_DIR"] = str(self.root / "nowhere")
        ran = self.run_client("env", "--json")
        self.assertEqual((ran.returncode, ran.stderr), (0, b""))
        self.assertFalse((self.root / "nowhere").exists())


if __name__ == "__main__":
    run_tests()
