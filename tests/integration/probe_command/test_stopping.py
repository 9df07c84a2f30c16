#!/usr/bin/env python3
"""`cudaenv probe` that is interrupted, whose client is killed or whose daemon is: what it started
and what it wrote does not stay."""

import fcntl
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from test_probe_command import CommandTest
from support import PROGRAMS, WAIT, run_tests

# Without a stop, a probe has 20 s and --build 100 s: what ends earlier was stopped.
AT_ONCE = 12

# It writes into its TMPDIR as nvcc does, has a child that no hang-up ends, and never comes back.
HANGING_NVCC = """#!/bin/sh
test "$1" = --version && exit 0
trap '' HUP TERM INT
mkdir -p "$TMPDIR/tmpxft/deeper"
: >"$TMPDIR/tmpxft/deeper/object.o"
sleep 600 &
: >"$HOME/nvcc-hangs"
wait
"""


class StoppingTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.scratch = self.root / "scratch"
        self.scratch.mkdir()
        self.environment["TMPDIR"] = str(self.scratch)

    def machine_with_nvcc(self, nvcc=HANGING_NVCC):
        """A driver that answers, and a toolkit with that nvcc."""
        self.machine("cuInit 100\n")
        self.toolkit = self.root / "toolkit"
        for name in ("bin", "include", "lib64"):
            (self.toolkit / name).mkdir(parents=True)
        (self.toolkit / "version.json").write_text(
            json.dumps({"cuda": {"name": "CUDA SDK", "version": "13.0.1"},
                        "cuda_nvcc": {"name": "CUDA NVCC", "version": "13.0.88"}}))
        (self.toolkit / "include" / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        self.install_runtime(13, self.toolkit / "lib64")
        self.write_nvcc(nvcc)
        self.environment["CUDA_HOME"] = str(self.toolkit)
        del self.environment["VIRTUAL_ENV"]

    def write_nvcc(self, text):
        nvcc = self.toolkit / "bin" / "nvcc"
        nvcc.write_text(text)
        nvcc.chmod(0o755)
        return nvcc

    def wait_until(self, holds, seconds=WAIT, why="it does not happen"):
        until = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), until, why)
            time.sleep(0.01)

    def wait_for_driver(self):
        self.wait_until(lambda: "hangs" in self.calls())

    def wait_for_nvcc(self):
        self.wait_until((self.root / "home" / "nvcc-hangs").exists)

    def client(self, *words):
        """In a process group of its own, as a shell starts it."""
        child = subprocess.Popen([PROGRAMS["cudaenv"], "probe", *words], cwd=self.root,
                                 env=self.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 process_group=0)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        return child

    def nothing_stays(self, *but):
        """Neither processes, besides those, nor files; long before any deadline."""
        def is_gone():
            return not set(self.left_behind()) - set(but) and not os.listdir(self.scratch)
        self.wait_until(is_gone, AT_ONCE, "something stays behind")

    def daemons_of(self, client):
        """The children of that process."""
        text = Path(f"/proc/{client.pid}/task/{client.pid}/children").read_text()
        return [int(pid) for pid in text.split()]


class FewDescriptors(StoppingTest):
    def test_it_answers_or_says_that_they_are_too_few(self):
        self.machine()
        for soft, hard, status in (*((few, few, 3) for few in (*range(4, 16), 24, 63)), (64, 64, 0), (9, 64, 0)):
            with self.subTest(soft=soft, hard=hard):
                def limit(soft=soft, hard=hard):
                    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                ran = subprocess.run([PROGRAMS["cudaenv"], "probe"], cwd=self.root, timeout=WAIT,
                                     env=self.environment, stdin=subprocess.DEVNULL,
                                     capture_output=True, preexec_fn=limit)
                self.assertEqual(ran.returncode, status, ran)
        self.nothing_stays()


class Interrupted(StoppingTest):
    def end_by(self, how, number, client):
        """As a terminal does it, and as `kill` does."""
        if how == "group":
            os.killpg(client.pid, number)
        else:
            os.kill(client.pid, number)
        out, err = client.communicate(timeout=AT_ONCE)  # no other process holds its output
        self.assertEqual((client.returncode, out), (-number, b""), err)
        self.nothing_stays()

    def test_of_a_probe_that_hangs_in_the_driver_nothing_stays(self):
        for how, number in (("group", signal.SIGINT), ("group", signal.SIGHUP),
                            ("group", signal.SIGTERM), ("client", signal.SIGTERM),
                            ("client", signal.SIGKILL)):
            with self.subTest(how=how, signal=number):
                self.machine("cuInit hang\n")
                self.log.unlink(missing_ok=True)
                client = self.client()
                self.wait_for_driver()
                self.end_by(how, number, client)

    def test_of_a_compiler_that_runs_neither_it_nor_what_it_wrote_stays(self):
        self.machine_with_nvcc()
        for how, number in (("group", signal.SIGINT), ("group", signal.SIGHUP),
                            ("group", signal.SIGTERM), ("client", signal.SIGKILL)):
            with self.subTest(how=how, signal=number):
                (self.root / "home" / "nvcc-hangs").unlink(missing_ok=True)
                client = self.client("--build")
                self.wait_for_nvcc()
                self.assertEqual(len(os.listdir(self.scratch)), 1)
                self.end_by(how, number, client)

    def test_a_probe_that_was_stopped_leaves_no_verdict(self):
        self.machine("cuInit hang\n")
        client = self.client()
        self.wait_for_driver()
        self.end_by("group", signal.SIGINT, client)
        self.assertIsNone(json.loads(self.cudaenv("status", "--json").stdout)["probe"])

    def test_gpus_that_are_looked_at_with_host_are_let_go_as_well(self):
        self.machine("cuInit hang\n")
        client = subprocess.Popen([PROGRAMS["cudaenv"], "host", "--probe"], cwd=self.root,
                                  env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, process_group=0)
        self.wait_for_driver()
        os.killpg(client.pid, signal.SIGINT)
        self.assertEqual(client.wait(timeout=AT_ONCE), -signal.SIGINT)
        self.nothing_stays()


class StandardStreams(StoppingTest):
    """cudaenvd --stdio and --once, as another client than ours may use them."""

    def lines(self):
        build = subprocess.run([PROGRAMS["cudaenvd"], "--version"], check=True, text=True,
                               capture_output=True).stdout.split()[1]
        caller = {"cwd": str(self.root), "environment": self.environment, "uid": os.getuid()}
        requests = (("hello", {"protocol": 1, "build": build}), ("probe", {"caller": caller}))
        return "".join(json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                                   "params": params}) + "\n"
                       for number, (method, params) in enumerate(requests)).encode()

    def daemon(self, option="--stdio", **more):
        child = subprocess.Popen([PROGRAMS["cudaenvd"], option], env=self.environment,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        child.stdin.write(self.lines())
        child.stdin.flush()
        return child

    def test_the_end_of_its_input_is_the_end_of_its_probe(self):
        self.machine("cuInit hang\n")
        child = self.daemon()
        self.wait_for_driver()
        child.stdin.close()
        self.assertEqual(child.wait(timeout=AT_ONCE), 0)
        self.nothing_stays()
        answers = [json.loads(line) for line in child.stdout]
        self.assertEqual(answers[-1]["error"]["data"]["code"], "stopped")

    def test_one_request_is_answered_after_the_end_of_its_input(self):
        self.machine("cuInit 100\n")
        child = self.daemon("--once")
        child.stdin.close()
        answers = [json.loads(line) for line in child.stdout]
        self.assertEqual(answers[-1]["result"]["object"]["verdict"], "no-gpu")

    def test_a_reader_that_goes_stops_it_as_well(self):
        self.machine("cuInit hang\n")
        child = self.daemon("--once")
        self.addCleanup(child.stdin.close)
        self.wait_for_driver()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=AT_ONCE), 0)
        self.nothing_stays()

    def test_signals_end_it_by_that_signal_and_those_ignored_by_its_starter_do_not(self):
        self.machine("cuInit hang\n")
        child = self.daemon(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.addCleanup(child.stdin.close)
        self.wait_for_driver()
        child.send_signal(signal.SIGHUP)  # as with nohup
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(timeout=AT_ONCE), -signal.SIGTERM)
        self.nothing_stays()


class Listening(StoppingTest):
    """The daemon that others ask too."""

    def test_a_client_that_was_killed_stops_its_probe_and_not_the_daemon(self):
        self.machine("cuInit hang\n")
        daemon = self.listening_daemon()
        client = self.client()
        self.wait_for_driver()
        client.kill()
        client.wait()
        self.nothing_stays(daemon.pid)
        self.scenario("cuInit 100\n")
        self.assertEqual(self.probe()[0]["verdict"], "no-gpu")
        self.assertIsNone(daemon.poll())

    def test_its_compilers_and_what_they_wrote_go_too(self):
        self.machine_with_nvcc()
        daemon = self.listening_daemon()
        client = self.client("--build")
        self.wait_for_nvcc()
        os.killpg(client.pid, signal.SIGINT)
        self.assertEqual(client.wait(timeout=AT_ONCE), -signal.SIGINT)
        self.nothing_stays(daemon.pid)
        self.assertIsNone(daemon.poll())

    def test_a_signal_to_the_daemon_ends_what_it_probes_and_tells_the_client(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                self.machine("cuInit hang\n")
                self.log.unlink(missing_ok=True)
                self.environment["CUDAENV_NO_DAEMON"] = "1"
                daemon = self.listening_daemon()
                client = self.client()
                self.wait_for_driver()
                daemon.send_signal(number)
                _, said = client.communicate(timeout=AT_ONCE)
                self.assertEqual(daemon.wait(timeout=AT_ONCE), 0)
                self.assertIn(b"the probe was stopped", said)
                self.nothing_stays()


class Sweeping(StoppingTest):
    def test_what_a_killed_daemon_left_goes_with_the_next_trial_and_nothing_else_does(self):
        self.machine_with_nvcc()
        client = self.client("--build")
        self.wait_for_nvcc()
        started = set(self.left_behind())
        for pid in self.daemons_of(client):
            os.kill(pid, signal.SIGKILL)
        client.wait(timeout=WAIT)
        for pid in started & set(self.left_behind()):
            os.kill(pid, signal.SIGKILL)  # the compiler that it started, which could not be ended
        left = os.listdir(self.scratch)
        self.assertEqual(len(left), 1)
        self.assertRegex(left[0], "^cudaenv-trial-[0-9A-Za-z]{6}$")

        victim = self.root / "victim"
        victim.mkdir(mode=0o700)
        (victim / "dear").touch()
        (self.scratch / left[0] / "link").symlink_to(victim)
        (self.scratch / "cudaenv-trial-Linked").symlink_to(victim)
        (self.scratch / "cudaenv-trial-A0file").touch()
        for name, mode in (("cudaenv-trial-In0Use", 0o700), ("cudaenv-trial-longer0", 0o700),
                           ("cudaenv-trial-Shared", 0o755), ("cudaenv-probe-abcdef", 0o700)):
            (self.scratch / name).mkdir()
            (self.scratch / name).chmod(mode)
            (self.scratch / name / "dear").touch()
        in_use = os.open(self.scratch / "cudaenv-trial-In0Use", os.O_RDONLY)
        self.addCleanup(os.close, in_use)
        fcntl.flock(in_use, fcntl.LOCK_EX)

        self.write_nvcc("#!/bin/sh\nexit 0\n")
        self.probe("--build")
        self.assertEqual(sorted(os.listdir(self.scratch)),
                         ["cudaenv-probe-abcdef", "cudaenv-trial-A0file", "cudaenv-trial-In0Use",
                          "cudaenv-trial-Linked", "cudaenv-trial-Shared", "cudaenv-trial-longer0"])
        self.assertEqual(os.listdir(victim), ["dear"])
        for name in ("cudaenv-trial-In0Use", "cudaenv-trial-Shared"):
            self.assertEqual(os.listdir(self.scratch / name), ["dear"])

    @unittest.skipUnless(os.geteuid() == 0, "run as root: it needs a directory of another user")
    def test_another_users_directory_is_left_alone(self):
        self.machine_with_nvcc("#!/bin/sh\nexit 0\n")
        other = self.scratch / "cudaenv-trial-Others"
        other.mkdir(mode=0o700)
        os.chown(other, 65534, 65534)
        self.probe("--build")
        self.assertTrue(other.is_dir())


if __name__ == "__main__":
    run_tests()
