#!/usr/bin/env python3
"""Where the user may have few processes or little memory, a command is answered or says why not, and whatever serves
it ends with it. Needs root, who can be a user without other processes."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import support
from support import CALLER, DaemonTest, hello, line, run_tests

LONELY_USER = 4_000_123_457  # of whom nothing else runs
SOON = 20  # seconds, on a busy machine too; what hung did so for 60 and longer


class Limits(DaemonTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.root / "project/v"
        (self.prefix / "lib/python3.11/site-packages").mkdir(parents=True)
        (self.prefix / "pyvenv.cfg").touch()
        subprocess.run(["chown", "-R", f"{LONELY_USER}:{LONELY_USER}", self.root], check=True)
        self.environment["CUDAENV_NO_DAEMON"] = "1"
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"  # for which the sanitizer makes a process

    def client(self, *words, limits=(), **more):
        def limit():
            for name, most in limits:
                resource.setrlimit(name, (most, most))
        return super().client(*words, user=LONELY_USER, group=LONELY_USER, extra_groups=[], preexec_fn=limit, **more)

    def check_answered_or_said(self, limits):
        """Of commands of every lane."""
        answered = 0
        for words in (["env"], ["check", "-p", self.prefix], ["toolkits"]):
            began = time.monotonic()
            ran = self.run_client(*words, limits=limits)
            took = time.monotonic() - began
            with self.subTest(limits=limits, words=words):
                self.assertLess(took, SOON)
                if ran.returncode in (0, 1):
                    answered += 1
                else:
                    self.assertIn(ran.returncode, (3, 70), ran.stderr)
                    self.assertEqual(ran.stderr.count(b"cudaenv: "), 1, ran.stderr)
                    self.assertNotIn(b"defect", ran.stderr)
            for pid in self.daemons():
                self.wait_for_end(pid)
        return answered

    def test_few_processes(self):
        # The client and its child are two; threads count as processes do.
        for most in range(2, 8):
            self.assertEqual(self.check_answered_or_said([(resource.RLIMIT_NPROC, most)]), 3, most)
        self.assertEqual(self.check_answered_or_said([(resource.RLIMIT_NPROC, 1)]), 0)

    def test_little_memory(self):
        program = (support.PROGRAMS / "libexec/cudaenv/cudaenvd").read_bytes()
        if b"__asan_init" in program or b"__tsan_init" in program:
            self.skipTest("a sanitizer's shadow needs more memory than any limit here; use the dev preset")
        answered = [self.check_answered_or_said([(resource.RLIMIT_AS, most << 10)])
                    for most in (8_000, 16_000, 24_000, 32_000, 48_000, 64_000, 200_000)]
        self.assertEqual(answered[-1], 3, answered)

    def test_where_memory_ends_it_is_said_and_nothing_is_a_defect(self):
        program = (support.PROGRAMS / "libexec/cudaenv/cudaenvd").read_bytes()
        if b"__asan_init" in program or b"__tsan_init" in program:
            self.skipTest("a sanitizer's shadow needs more memory than any limit here; use the dev preset")
        for most in range(24_000, 42_000, 400):
            ran = self.run_client("toolkits", "--json", limits=[(resource.RLIMIT_AS, most << 10)])
            with self.subTest(most=most):
                self.assertIn(ran.returncode, (0, 3), ran.stderr)
                self.assertEqual(ran.stderr, b"")
                if ran.returncode == 3:
                    self.assertIn(json.loads(ran.stdout)["code"], ("no-memory", "daemon-does-not-load"))

    def test_records_that_may_not_be_read_are_no_answer(self):
        site = self.prefix / "lib/python3.11/site-packages"
        for name in ("whole", "closed"):
            (site / f"{name}-1.0.dist-info").mkdir()
            (site / f"{name}-1.0.dist-info/METADATA").write_text(f"Name: {name}\nVersion: 1.0\n")
            (site / f"{name}-1.0.dist-info/RECORD").write_text("")
        (self.prefix / "conda-meta").mkdir()
        for path in (site, self.prefix / "conda-meta", self.prefix / "lib", site.parent):
            for words in (["check"], ["check", "--fix"], ["keep", "whole"]):
                path.chmod(0o000)  # root's: for the client's user it is closed
                ran = self.run_client(*words, "-p", self.prefix, "--json")
                path.chmod(0o755)
                with self.subTest(path=path, words=words):
                    self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
                    error = json.loads(ran.stdout)
                    self.assertEqual((error["code"], error["path"]), ("records-unreadable", str(path)))
        # One record: the others are looked at, and it is named.
        (site / "closed-1.0.dist-info").chmod(0o000)
        ran = self.run_client("check", "-p", self.prefix, "--json")
        self.assertEqual([note["path"] for note in json.loads(ran.stdout)["unread"]],
                         ["lib/python3.11/site-packages/closed-1.0.dist-info"])
        self.assertIn(b"No problems found in what could be read", self.run_client("check", "-p", self.prefix).stdout)

    def test_whoever_serves_ends_with_its_client_and_by_a_signal(self):
        for most in range(1, 6):
            for how in ("closed", "signal"):
                server = subprocess.Popen(
                    [support.PROGRAMS / "libexec/cudaenv/cudaenvd", "--stdio"], env=self.environment, user=LONELY_USER,
                    group=LONELY_USER, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (most, most)))
                self.children.append(server)
                server.stdin.write(hello(self.build()) + line(1, "host", {**CALLER, "progress": True}))
                server.stdin.flush()
                self.assertTrue(server.stdout.readline())
                if how == "signal":
                    server.send_signal(signal.SIGTERM)
                server.stdin.close()
                server.stdout.close()
                with self.subTest(most=most, how=how):
                    server.wait(timeout=SOON)


if __name__ == "__main__":
    if os.getuid() != 0:
        print("SKIP: only root can be a user without other processes; run it with sudo")
        sys.exit(4)
    run_tests(as_root=True)
