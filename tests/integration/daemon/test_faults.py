#!/usr/bin/env python3
"""Whatever the daemon does or does not do, a command is answered rightly and a prompt comes back."""

import errno
import fcntl
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import support
from support import CALLER, DaemonTest, FakeDaemon, hello, line, requests_of, response, run_tests


class Faults(DaemonTest):
    def setUp(self):
        super().setUp()
        self.transcripts = {}
        self.right = self.ask("env")  # by a child of the client's own

    def check_command(self, *words):
        began = time.monotonic()
        ran = self.run_client(*words or ("env",), "--json")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(ran.stderr, b"")
        return ran.stdout, time.monotonic() - began

    def check_right(self):
        self.assertEqual(self.ask("env"), self.right)

    def check_prompt(self, fail_again=lambda: None):
        """It comes back, with the right text or with none; before each try what is tried is made to fail again. How
        long that takes is for tests/bench."""
        for _ in range(3):
            fail_again()
            ran = self.run_client("prompt", "bash", "--say")
            self.assertTrue(ran.returncode == 0 or ran.stdout == b"", ran)

    def transcript(self, client_bytes):
        """What a real daemon answers to these. Asked for once: a second program at each try would be
        what the client is waiting for."""
        if client_bytes not in self.transcripts:
            ran = subprocess.run([support.PROGRAMS / "libexec/cudaenv/cudaenvd", "--stdio"],
                                 input=client_bytes, capture_output=True, env=self.environment,
                                 timeout=support.WAIT)
            self.transcripts[client_bytes] = ran.stdout
        return self.transcripts[client_bytes]

    def kill_daemons(self):
        """Whoever serves here, also one that the last prompt has started."""
        for pid in self.daemons():
            os.kill(pid, signal.SIGKILL)
            self.wait_for_end(pid)

    def play(self, cut, then):
        """A daemon whose answer ends after a part of it; `then` says how. Both requests of a
        connection come in one write, so that one read has them."""
        def behave(connection):
            asked = b""
            while asked.count(b"\n") < 2:
                piece = connection.recv(1 << 20)
                if not piece:
                    return
                asked += piece
            answer = self.transcript(asked)
            if not answer:
                return  # the test is over, and has ended what answered
            connection.sendall(answer[:cut(answer)])
            then(connection)
        return FakeDaemon(self, behave)

    def stall(self, _connection):
        self.fake.ended.wait()

    CUTS = {
        "before the first byte": lambda answer: 0,
        "after the first byte": lambda answer: 1,
        "within the greeting": lambda answer: answer.index(b"\n") // 2,
        "before the greeting's newline": lambda answer: answer.index(b"\n"),
        "after the greeting": lambda answer: answer.index(b"\n") + 1,
        "within the answer": lambda answer: (answer.index(b"\n") + len(answer)) // 2,
        "before the last newline": lambda answer: len(answer) - 1,
    }

    def hold_the_claim(self):
        """Until the test ends: the daemon that a prompt has started when the fake one failed may come
        up only when that has gone, and would then be where the next fake one wants to listen."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(self.directory / "daemon.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)

    def each_cut(self, then, check):
        self.hold_the_claim()
        for name, cut in self.CUTS.items():
            with self.subTest(name):
                self.fake = self.play(cut, then)
                check()
                self.fake.end()

    def test_a_daemon_that_stops_at_any_byte_costs_a_prompt_less_than_50_ms(self):
        self.each_cut(self.stall, self.check_prompt)

    def test_a_daemon_that_stops_at_any_byte_leaves_a_command_right(self):
        self.each_cut(self.stall, self.check_right)

    def test_a_daemon_that_dies_at_any_byte_leaves_command_and_prompt_right(self):
        def check():
            self.check_right()
            self.check_prompt()
        self.each_cut(lambda connection: None, check)

    def test_a_daemon_that_goes_on_in_garbage_at_any_byte_leaves_a_command_right(self):
        self.each_cut(lambda connection: connection.sendall(b"\0\xff{]\n" * 1000), self.check_right)

    def test_half_a_greeting_on_every_connection_costs_a_second(self):
        self.hold_the_claim()
        for piece in (b"{", b""):
            fake = FakeDaemon(self, lambda connection, piece=piece: (connection.sendall(piece), fake.ended.wait()))
            _, seconds = self.check_command()
            self.assertLess(seconds, 15)  # the deadline of the command is 60
            fake.end()

    def test_a_daemon_that_does_not_even_accept_costs_little(self):
        self.directory.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.socket_path)
            listener.listen(0)
            self.check_prompt()
            others = [socket.socket(socket.AF_UNIX) for _ in range(4)]
            for other in others:  # until its queue is full
                other.setblocking(False)
                other.connect_ex(self.socket_path)
            self.assertEqual(others[-1].connect_ex(self.socket_path), errno.EAGAIN)
            self.check_prompt()
            self.check_right()
            for other in others:
                other.close()

    def test_answers_that_are_none_are_not_believed(self):
        self.hold_the_claim()
        for name, behave in {
            "a line without end": lambda c: c.sendall(b"x" * (3 << 20)),
            "answers without an id": lambda c: [c.sendall(
                response(request, {"protocol": 1, "build": self.build(), "listening": True})
                if request["method"] == "hello" else
                response({"id": 77}, {"status": 0, "object": {}})) for request in requests_of(c)],
            "an invalid greeting": lambda c: [c.sendall(response(request, [1]))
                                                  for request in requests_of(c)],
        }.items():
            with self.subTest(name):
                fake = FakeDaemon(self, behave)
                self.check_right()
                self.check_prompt()
                fake.end()

    def test_a_child_that_has_answered_and_does_not_end_is_not_waited_for(self):
        """As one that is still reading what an install has mixed, or that has a thread in a file system which does not
        answer."""
        slow = self.root / "slow-cudaenvd"
        real = support.PROGRAMS / "libexec/cudaenv/cudaenvd"
        slow.write_text(f'#!/bin/sh\n"{real}" "$@"\necho ended >>"{self.root}/ended"\nexec sleep 600\n')
        slow.chmod(0o755)
        self.environment.update(CUDAENV_DAEMON=str(slow), CUDAENV_NO_DAEMON="1")
        # The child keeps the standard error that it was given: of a terminal, as a shell's.
        for words in (("prompt", "bash", "--say"), ("env", "--json")):
            ran = subprocess.run([support.PROGRAMS / "bin/cudaenv", *words], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=self.environment, cwd=self.root, timeout=support.WAIT)
            self.assertTrue(ran.returncode == 0 or ran.stdout == b"", ran)

    def test_beside_a_stopped_daemon_a_prompt_comes_back_and_a_command_answers_after_a_second(self):
        pid = self.start()["pid"]
        os.kill(pid, signal.SIGSTOP)
        self.check_prompt()
        self.check_right()
        _, took = self.check_command("host")  # one that may take long is asked after first
        self.assertGreater(took, 0.9)
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(self.status()["pid"], pid)

    def test_a_daemon_stopped_and_killed_while_a_client_waits_is_done_without(self):
        pid = self.start()["pid"]
        os.kill(pid, signal.SIGSTOP)
        waiting = self.client("host", "--json")
        state = Path(f"/proc/{waiting.pid}/status")
        self.wait_until(lambda: "S (sleeping)" in state.read_text())
        os.kill(pid, signal.SIGKILL)
        out, err = waiting.communicate(timeout=support.WAIT)
        self.assertEqual((waiting.returncode, err), (0, b""))
        self.assertIn(b"cudaenv.host/1", out)

    def test_a_daemon_killed_at_work_is_followed_by_another(self):
        pid = self.start()["pid"]
        wire = self.connect().send(hello(self.build()))
        wire.read()
        questions = '{"k": "cmp", "a": "1.0", "b": "2.0"}\n' * 20000
        wire.send(line(1, "debug.oracle", {"lines": questions, **CALLER}))
        os.kill(pid, signal.SIGKILL)
        self.check_right()
        self.check_prompt(self.kill_daemons)
        self.kill_daemons()
        self.ask("env", at_terminal=True)
        self.assertNotEqual(self.status()["pid"], pid)

    def test_a_full_disk_forbids_no_daemon_and_one_without_inodes_is_no_answer_less(self):
        script = """
            set -e
            mount -t tmpfs -o size=64k,nr_inodes=$1,mode=700 tmpfs "$XDG_RUNTIME_DIR"
            mount --bind "$XDG_RUNTIME_DIR" "$CUDAENV_STATE_DIR"
            if [ "$1" = 3 ]; then : > "$XDG_RUNTIME_DIR/a"; : > "$XDG_RUNTIME_DIR/b" || :
            else dd if=/dev/zero of="$XDG_RUNTIME_DIR/full" bs=4k count=100 2>/dev/null || :; fi
            "$2" daemon start --json || :
            "$2" env --json > /dev/null
            "$2" daemon stop --json > /dev/null"""
        if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", self.root / "state"],
                          capture_output=True).returncode != 0:
            self.skipTest("no user namespaces with mounts here")
        for inodes, runs in (("100", b'"running": true'), ("3", b'"running": false')):
            ran = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", inodes,
                                  support.PROGRAMS / "bin/cudaenv"], env=self.environment,
                                 capture_output=True, timeout=support.WAIT)
            self.assertEqual((ran.returncode, ran.stderr), (0, b""), ran.stdout)
            self.assertIn(runs, ran.stdout)


class Skew(DaemonTest):
    def setUp(self):
        super().setUp()
        self.asked = []

    def other_daemon(self, **greeting):
        """One of another build: answers a hello, refuses requests, leaves when it is asked to."""
        def behave(connection):
            for request in requests_of(connection):
                self.asked.append(request["method"])
                if request["method"] == "hello":
                    connection.sendall(response(request, {"protocol": 1, "listening": True,
                                                          "capabilities": [], **greeting}))
                elif request["method"] == "daemon.drain":
                    fake.stop_listening()
                    connection.sendall(response(request, {"status": 0, "object": {}}))
                else:
                    connection.sendall(support.refusal(request, "other-build"))
        fake = FakeDaemon(self, behave)
        return fake

    def test_an_older_daemon_is_asked_to_leave_and_followed_by_ours(self):
        for greeting in ({"build": "0.0.9+g1", "built": 1}, {"build": "0.0.9", "built": 0}):
            with self.subTest(greeting):
                self.other_daemon(**greeting)
                self.ask("env", at_terminal=True)
                self.assertIn("daemon.drain", self.asked)
                self.assertEqual(self.status()["build"], self.build())
                self.ask("daemon", "stop")
                self.asked.clear()

    def test_a_newer_daemon_is_left_in_peace_and_done_without(self):
        for greeting in ({"build": "9.0.0+g1", "built": 1 << 40}, {"build": "9.0.0", "built": 0},
                         {"build": "0.0.1", "protocol": 2},
                         {"build": self.build() + ".other", "built": 0}):  # who can tell
            with self.subTest(greeting):
                fake = self.other_daemon(**greeting)
                self.assertEqual(self.ask("env", at_terminal=True)["schema"], "cudaenv.env/1")
                self.assertNotIn("daemon.drain", self.asked)
                self.assertEqual(self.daemons(), [])
                fake.end()

    def test_a_client_of_another_build_or_protocol_gets_a_greeting_and_can_make_it_leave(self):
        for other in (hello("0.0.1+gother"), line(0, "hello", {"protocol": 99, "build": "99"})):
            pid = self.start()["pid"]
            wire = self.connect().send(other + line(1, "activate", CALLER) +
                                       line(2, "daemon.drain", {}))
            self.assertEqual(wire.read()["result"]["build"], self.build())
            self.assertIn(wire.read()["error"]["data"]["code"], ("other-build", "protocol-mismatch"))
            self.assertFalse(wire.read()["result"]["object"]["running"])
            self.assertIsNone(wire.read())
            self.wait_for_end(pid)

    def test_a_cudaenvd_of_another_build_than_its_client_does_not_stay(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            child = subprocess.Popen([support.PROGRAMS / "libexec/cudaenv/cudaenvd", "--stay", "0.0.1"],
                                     env=self.environment, stdin=theirs, stdout=theirs)
            self.children.append(child)
            theirs.close()
            ours.sendall(hello("0.0.1") + line(1, "activate", CALLER))
            lines = ours.makefile("rb")
            greeting = support.json.loads(lines.readline())["result"]
            self.assertIn("another build", greeting["why_not_listening"])
            self.assertIn(b"cudaenv.env/1", lines.readline())  # but it answers
            lines.close()
            ours.close()
            self.assertEqual(child.wait(support.WAIT), 0)


if __name__ == "__main__":
    run_tests()
