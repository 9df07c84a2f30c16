"""What the tests of the daemon share: programs of their own, a runtime directory of their own for
each test, and raw connections.

Started as root, the tests run as another user: root's daemon is a different matter (none starts by
itself), and root may write where no other user may."""

import argparse
import ctypes
import json
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback  # noqa: F401  what a failure imports: the new user may not read the interpreter's
import unittest
import unittest.util  # noqa: F401
import difflib  # noqa: F401
import pprint  # noqa: F401
from pathlib import Path

ORDINARY_USER = 23456  # any that owns nothing here
PROGRAMS = None  # a directory with bin/cudaenv and libexec/cudaenv/cudaenvd
WAIT = 60  # seconds for what is expected to happen at once; a loaded machine is slow


def line(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                       "params": params}).encode() + b"\n"


def hello(build, **more):
    return line(0, "hello", {"protocol": 1, "build": build, **more})


CALLER = {"caller": {"cwd": "/", "environment": {}, "uid": os.getuid()}}


class Wire:
    """A connection to the socket, in bytes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        # sun_path is short; a test's directory may not be.
        directory = os.open(os.path.dirname(path), os.O_PATH)
        try:
            self.socket.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
        finally:
            os.close(directory)
        self.socket.settimeout(WAIT)  # not before: a full queue would be an error then
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)
        return self

    def read(self):
        text = self.file.readline()
        return json.loads(text) if text else None

    def close(self):
        self.file.close()
        self.socket.close()


class FakeDaemon:
    """Listens where the daemon would and behaves as a test wants. `behave` is given each connection;
    what it returns or raises ends that connection."""

    def __init__(self, test, behave):
        test.directory.mkdir(mode=0o700, exist_ok=True)
        self.path = test.socket_path
        self.behave = behave
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        self.connections = []
        self.ended = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()
        test.addCleanup(self.end)

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        try:
            self.behave(connection)
        except OSError:
            pass  # the client has gone
        connection.close()

    def stop_listening(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def end(self):
        self.ended.set()
        try:
            self.stop_listening()
        except OSError:
            pass  # it has stopped
        for connection in self.connections:
            connection.close()


def requests_of(connection):
    """The requests that come, one after the other."""
    for text in connection.makefile("rb"):
        yield json.loads(text)


def response(request, result):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n"


def refusal(request, code):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {
        "code": -32001, "message": code, "data": {"code": code, "message": code}}}).encode() + b"\n"


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-daemon-")))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        for name in ("home", "run", "state", "project"):
            (self.root / name).mkdir(mode=0o700)
        self.environment = {
            "HOME": str(self.root / "home"), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(self.root / "run"), "CUDAENV_STATE_DIR": str(self.root / "state"),
            "CUDAENV_START_DAEMON": "1"}
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.children = []
        self.addCleanup(self.end_processes)

    @property
    def directory(self):
        return self.root / "run/cudaenv"

    @property
    def socket_path(self):
        return str(self.directory / "daemon.socket")

    # Processes.

    def end_processes(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
        for pid in self.daemons():
            os.kill(pid, signal.SIGKILL)

    def daemons(self):
        """The cudaenvd that run for this test: they differ in their directory."""
        mark = f"XDG_RUNTIME_DIR={self.root / 'run'}".encode()
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and \
                        Path(f"/proc/{entry}/comm").read_text() == "cudaenvd\n" and \
                        mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    found.append(int(entry))
            except OSError:
                pass  # it has ended
        return found

    def wait_for_end(self, pid):
        try:
            watch = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            ready, _, _ = select.select([watch], [], [], WAIT)
            self.assertTrue(ready, f"process {pid} does not end")
        finally:
            os.close(watch)

    def client(self, *words, at_terminal=False, environment=None, **more):
        """Starts a client; standard input and error are a terminal where it is so said."""
        main, side = pty.openpty() if at_terminal else (None, None)
        child = subprocess.Popen(
            [PROGRAMS / "bin/cudaenv", *words], stdin=side or subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=side or subprocess.PIPE, cwd=self.root / "project",
            env={**self.environment, **(environment or {})}, **more)
        if side:
            os.close(side)
            self.addCleanup(os.close, main)
        self.children.append(child)
        return child

    def run_client(self, *words, **more):
        child = self.client(*words, **more)
        out, err = child.communicate(timeout=WAIT)
        return subprocess.CompletedProcess(words, child.returncode, out, err or b"")

    def ask(self, *words, **more):
        """The object that the command prints."""
        ran = self.run_client(*words, "--json", **more)
        self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
        return json.loads(ran.stdout)

    def status(self):
        return self.ask("daemon", "status")

    def start(self, **more):
        """A daemon as a client starts it; its status."""
        status = self.ask("daemon", "start", **more)
        self.assertTrue(status["running"], status)
        return status

    def start_in_foreground(self, *words, environment=None):
        child = subprocess.Popen([PROGRAMS / "libexec/cudaenv/cudaenvd", "--daemon", *words],
                                 env={**self.environment, **(environment or {})},
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.children.append(child)
        self.addCleanup(child.stderr.close)
        self.wait_until(lambda: os.path.exists(self.socket_path) or child.poll() is not None)
        return child

    def wait_until(self, holds):
        """For what the system has no event for that a test could wait on."""
        until = time.monotonic() + WAIT
        while not holds():
            self.assertLess(time.monotonic(), until, "it does not happen")
            time.sleep(0.002)

    def connect(self):
        wire = Wire(self.socket_path)
        self.addCleanup(wire.close)
        return wire

    def build(self):
        return subprocess.run([PROGRAMS / "libexec/cudaenv/cudaenvd", "--version"], check=True,
                              capture_output=True, text=True).stdout.split()[1]


def copy_programs(cudaenv, cudaenvd, probe):
    root = Path(tempfile.mkdtemp(prefix="cudaenv-programs-"))
    for program, place in ((cudaenv, "bin"), (cudaenvd, "libexec/cudaenv"),
                           (probe, "libexec/cudaenv")):
        if program:
            (root / place).mkdir(parents=True, exist_ok=True)
            shutil.copy2(program, root / place)
    subprocess.run(["chmod", "-R", "a+rX", root], check=True)
    return root


def run_tests(as_root=False):
    """Runs the tests of the main module, as an ordinary user if not otherwise said; status 4 where
    all were skipped."""
    global PROGRAMS
    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--cudaenvd", required=True)
    parser.add_argument("--probe")
    arguments, words = parser.parse_known_args()
    PROGRAMS = copy_programs(arguments.cudaenv, arguments.cudaenvd, arguments.probe)
    try:
        child = os.fork()
        if child == 0:
            if os.getuid() == 0 and not as_root:
                os.setgroups([])
                os.setresgid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
                os.setresuid(ORDINARY_USER, ORDINARY_USER, ORDINARY_USER)
                # A process that was root may not be looked at by its new user, not even by itself.
                ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
            CALLER["caller"]["uid"] = os.getuid()
            program = unittest.main(module="__main__", argv=[sys.argv[0], *words], exit=False)
            sys.stdout.flush()
            sys.stderr.flush()
            result = program.result
            bad = not result.wasSuccessful()
            os._exit(1 if bad else 4 if len(result.skipped) == result.testsRun else 0)
        _, status = os.waitpid(child, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
    finally:
        shutil.rmtree(PROGRAMS, ignore_errors=True)
