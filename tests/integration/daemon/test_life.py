#!/usr/bin/env python3
"""How a daemon comes, stays and goes."""

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import support
from support import CALLER, DaemonTest, hello, line, run_tests


class Coming(DaemonTest):
    def test_started_by_hand_it_says_that_it_listens_and_the_next_asks_it(self):
        started = self.start()
        now = self.status()
        self.assertEqual(now["pid"], started["pid"])
        self.assertEqual(now["socket"], self.socket_path)
        self.ask("env")
        self.assertEqual(self.status()["requests"], now["requests"] + 2)
        self.assertEqual(self.daemons(), [started["pid"]])

    def test_a_command_at_a_terminal_leaves_one_behind_and_in_a_script_it_does_not(self):
        self.ask("env")
        self.assertEqual(self.daemons(), [])
        self.ask("env", at_terminal=True)
        self.assertEqual(self.daemons(), [self.status()["pid"]])

    def test_decision_17_where_none_is_started_by_itself(self):
        for name, value in (("CI", "true"), ("SLURM_JOB_ID", "7"), ("PBS_JOBID", "7"),
                            ("container", "podman"), ("CUDAENV_NO_DAEMON", "1")):
            environment = {name: value}
            if name != "CUDAENV_NO_DAEMON":
                environment["CUDAENV_START_DAEMON"] = ""
            self.ask("env", at_terminal=True, environment=environment)
            self.assertEqual(self.daemons(), [], name)

    def test_the_users_configuration_forbids_it_and_daemon_start_says_so(self):
        config = self.root / "home/.config/cudaenv"
        config.mkdir(parents=True)
        (config / "config.toml").write_text('[daemon]\nstart = "never"\n')
        said = self.ask("daemon", "start")
        self.assertFalse(said["running"])
        self.assertIn('daemon.start is "never"', said["why_not"])
        self.assertEqual(self.daemons(), [])

    def test_of_twenty_clients_at_once_each_is_answered_and_one_daemon_stays(self):
        clients = [self.client("env", "--json", at_terminal=True) for _ in range(20)]
        answers = [json.loads(client.communicate(timeout=support.WAIT)[0]) for client in clients]
        self.assertEqual([client.returncode for client in clients], [0] * 20)
        self.assertTrue(all(answer == answers[0] for answer in answers))
        kept = self.status()["pid"]
        for pid in self.daemons():
            if pid != kept:
                self.wait_for_end(pid)
        self.assertEqual(self.daemons(), [kept])

    def test_files_of_the_daemon_are_the_users_alone(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        self.start()
        mode = {path.name: stat.S_IMODE(path.lstat().st_mode)
                for path in [self.directory, *self.directory.iterdir(),
                             self.root / "state/daemon.log"]}
        self.assertEqual(mode, {"cudaenv": 0o700, "daemon.socket": 0o600, "daemon.lock": 0o600,
                                "daemon.log": 0o600})

    def test_nothing_of_the_starters_shell_stays_with_it(self):
        secret = os.open(self.root / "home", os.O_RDONLY)
        os.set_inheritable(secret, True)
        self.addCleanup(os.close, secret)
        pid = self.start(environment={"API_TOKEN": "s3cret", "LD_LIBRARY_PATH": "/nowhere"},
                         close_fds=False)["pid"]
        process = Path(f"/proc/{pid}")
        self.assertEqual(os.readlink(process / "cwd"), "/")
        open_files = [os.readlink(entry) for entry in (process / "fd").iterdir()]
        self.assertNotIn(str(self.root / "home"), open_files)
        self.assertFalse([name for name in open_files if "/pts/" in name])
        for name in open_files:  # a pipe to itself is how signals come to the io thread
            self.assertEqual(open_files.count(name), 2 if "pipe:" in name else
                             open_files.count(name), open_files)
        self.assertNotIn(b"s3cret", (process / "environ").read_bytes())
        fields = (process / "stat").read_text().rpartition(") ")[2].split()
        self.assertEqual(int(fields[3]), pid)  # a session of its own
        self.assertEqual(int(fields[4]), 0)  # and no terminal

    def test_a_runtime_directory_too_long_for_a_socket_address_is_no_hindrance(self):
        long = self.root / "run" / ("x" * 120)
        long.mkdir(mode=0o700)
        self.environment["XDG_RUNTIME_DIR"] = str(long)
        started = self.ask("daemon", "start")
        self.addCleanup(os.kill, started["pid"], signal.SIGKILL)
        self.assertTrue(started["running"], started)
        self.assertEqual(self.status()["pid"], started["pid"])


class Going(DaemonTest):
    def test_asked_to_it_goes_and_its_socket_with_it(self):
        pid = self.start()["pid"]
        self.assertFalse(self.ask("daemon", "stop")["running"])
        self.wait_for_end(pid)
        self.assertEqual(sorted(os.listdir(self.directory)), ["daemon.lock"])
        self.assertFalse(self.status()["running"])
        logged = self.run_client("daemon", "logs", "--json").stdout.splitlines()
        self.assertEqual([json.loads(each)["pid"] for each in logged], [pid, pid])

    def test_terminated_it_goes(self):
        child = self.start_in_foreground()
        child.terminate()
        self.assertEqual(child.wait(support.WAIT), 0)
        self.assertFalse(os.path.exists(self.socket_path))

    def test_idle_it_goes_and_was_not_woken_meanwhile(self):
        child = self.start_in_foreground("--idle-seconds", "8")

        def switches():
            return sum(int(row.split()[1]) for task in Path(f"/proc/{child.pid}/task").iterdir()
                       for row in (task / "status").read_text().splitlines()
                       if "ctxt_switches" in row)

        self.assertTrue(self.status()["running"])
        self.wait_until(lambda: all("S (sleeping)" in (task / "status").read_text()
                                    for task in Path(f"/proc/{child.pid}/task").iterdir()))
        before, began = switches(), time.monotonic()
        time.sleep(1.5)  # what is measured is that nothing happens
        self.assertEqual(switches(), before)
        self.assertEqual(child.wait(support.WAIT), 0)
        self.assertGreater(time.monotonic() - began, 1.5)

    def test_drained_while_busy_it_listens_no_more_but_answers_what_it_was_asked(self):
        self.start()
        wire = self.connect().send(hello(self.build()))
        self.assertTrue(wire.read()["result"]["listening"])
        # Long enough to be at work when the other one comes; what it is does not matter.
        questions = '{"k": "cmp", "a": "1.0", "b": "2.0"}\n' * 20000
        wire.send(line(1, "debug.oracle", {"lines": questions, **CALLER}))
        self.wait_until(lambda: self.connect().send(line(9, "daemon.status", {})).read())
        self.assertFalse(self.ask("daemon", "stop")["running"])
        self.assertFalse(os.path.exists(self.socket_path))
        answer = wire.read()
        self.assertEqual(answer["id"], 1)
        self.assertEqual(answer["result"]["object"]["lines"], "-1\n" * 20000)
        self.assertIsNone(wire.read())

    def test_its_socket_removed_replaced_or_its_lock_it_goes_and_takes_nothing_of_others(self):
        for name in ("daemon.socket", "daemon.lock"):
            pid = self.start()["pid"]
            (self.directory / "other").write_text("other")
            os.rename(self.directory / "other", self.directory / name)
            self.wait_for_end(pid)
            self.assertEqual((self.directory / name).read_text(), "other")
            os.unlink(self.directory / name)
            pid = self.start()["pid"]
            os.unlink(self.directory / name)
            self.wait_for_end(pid)

    def test_its_directory_opened_to_others_or_moved_it_goes(self):
        pid = self.start()["pid"]
        os.chmod(self.directory, 0o755)
        self.wait_for_end(pid)
        os.chmod(self.directory, 0o700)
        pid = self.start()["pid"]
        os.rename(self.directory, self.root / "run/elsewhere")
        self.wait_for_end(pid)

    def test_its_program_replaced_the_next_client_is_answered_by_the_new_one(self):
        programs = self.root / "programs"
        shutil.copytree(support.PROGRAMS, programs)
        before = self.environment
        old, support.PROGRAMS = support.PROGRAMS, programs
        self.addCleanup(setattr, support, "PROGRAMS", old)
        pid = self.start()["pid"]
        program = programs / "libexec/cudaenv/cudaenvd"
        shutil.copy2(program, programs / "new")
        os.rename(programs / "new", program)
        self.assertNotEqual(self.start()["pid"], pid)
        self.wait_for_end(pid)
        self.environment = before

    def test_killed_it_leaves_a_socket_that_the_next_one_takes_over(self):
        pid = self.start()["pid"]
        os.kill(pid, signal.SIGKILL)
        self.wait_for_end(pid)
        self.assertTrue(os.path.exists(self.socket_path))
        said = self.status()
        self.assertFalse(said["running"])
        self.assertIn("no daemon listens", said["why_not"])
        quiet = self.run_client("env")
        self.assertEqual((quiet.returncode, quiet.stderr), (0, b""))
        self.assertNotEqual(self.start()["pid"], pid)

    def test_one_that_does_not_answer_is_killed_by_stop(self):
        pid = self.start()["pid"]
        os.kill(pid, signal.SIGSTOP)
        said = self.ask("daemon", "stop")
        self.assertIn("was killed", said["why_not"])
        self.wait_for_end(pid)

    def test_the_log_is_begun_anew_at_a_mebibyte_and_a_link_is_not_followed(self):
        log = self.root / "state/daemon.log"
        log.write_bytes(b"x" * (1 << 20))
        log.chmod(0o600)
        self.start()
        self.assertEqual((self.root / "state/daemon.log.1").stat().st_size, 1 << 20)
        self.assertIn("listens on", log.read_text())
        self.ask("daemon", "stop")
        log.unlink()
        log.symlink_to(self.root / "home/target")
        self.start()
        self.assertFalse((self.root / "home/target").exists())


class Serving(DaemonTest):
    def test_a_long_job_delays_no_quick_one(self):
        self.start()
        build = self.build()
        questions = '{"k": "cmp", "a": "1.0", "b": "2.0"}\n' * 20000
        wires = [self.connect().send(hello(build)) for _ in range(33)]
        for wire in wires:
            wire.read()
        *busy, quick = wires

        def answered():
            return quick.read()["result"]["object"]["requests"]

        # The first look at the machine is not quick; it is over before the long ones begin.
        quick.send(line(0, "activate", CALLER) + line(0, "daemon.status", {}))
        quick.read()
        before = answered()
        long = line(1, "debug.oracle", {"lines": questions, **CALLER})
        for wire in busy:
            wire.send(long[:-1])
        # All begin at once, and the daemon counts: this process may be the one that gets no time.
        for wire in busy:
            wire.send(long[-1:])
        quick.send(line(1, "activate", CALLER) + line(2, "daemon.status", {}))
        self.assertIn("result", quick.read())
        # Thirty-two long ones, two threads: most have not even begun.
        self.assertLess(answered() - before, len(busy))

    def test_half_a_line_blocks_nobody_and_gives_way_when_places_are_short(self):
        self.start()
        stalled = self.connect().send(hello(self.build())[:20])
        silent = [self.connect() for _ in range(80)]
        wire = self.connect().send(line(1, "daemon.status", {}))
        self.assertEqual(wire.read()["result"]["object"]["running"], True)
        self.assertIsNone(stalled.read())  # the longest silent one has gone
        self.assertEqual(len(silent), 80)

    def test_garbage_and_oversized_lines_are_refused_and_nobody_else_notices(self):
        self.start()
        other = self.connect().send(hello(self.build()))
        self.assertTrue(other.read()["result"]["listening"])
        wire = self.connect().send(b"\0\xff garbage\n{}\n[1]\n")
        for code in (-32700, -32600, -32600):
            self.assertEqual(wire.read()["error"]["code"], code)
        wire = self.connect()
        try:
            wire.send(b"x" * (1 << 20) + b"x")
        except BrokenPipeError:
            pass  # it has stopped reading, as it should
        self.assertEqual(wire.read()["error"]["data"]["code"], "frame-too-long")
        self.assertIsNone(wire.read())
        other.send(line(2, "activate", CALLER))
        self.assertEqual(other.read()["id"], 2)

    def test_a_client_in_another_mount_namespace_is_told_to_ask_elsewhere(self):
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
            self.skipTest("no user namespaces here")
        self.start()
        before = self.status()["requests"]
        ran = subprocess.run(["unshare", "-rm", support.PROGRAMS / "bin/cudaenv", "env", "--json"],
                             env=self.environment, capture_output=True, timeout=support.WAIT)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(json.loads(ran.stdout)["schema"], "cudaenv.env/1")
        self.assertEqual(self.status()["requests"], before + 1)  # only the question itself


if __name__ == "__main__":
    run_tests()
