"""What the tests of the probe share: scenarios for tests/support/standin_cuda, the
ladder as cudaenv-probe reports it, and the certainty that nothing of it is left running."""

import argparse
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from ctest_status import run_tests_of_main  # noqa: E402

LIBC = ctypes.CDLL(None)
PROGRAMS = {}  # "probe", "standin", "cudaenv", "cudaenvd", "nvml": set by run_tests
GONE = 12  # seconds; a probe that is not stopped has 20
WAIT = 60  # seconds for what is expected to happen at once; a loaded machine is slow

H200 = 'device 0 "NVIDIA H200" cc 9.0 memory 150754820096\n'
SECOND = 'device 1 "NVIDIA H200" cc 9.0 memory 150754820096\n'


def drop_mknod():
    pr_capbset_drop, cap_mknod = 24, 27
    LIBC.prctl(pr_capbset_drop, cap_mknod, 0, 0, 0)  # refused where one has no such right anyway


class Ladder:
    """The lines of one climb: `ends` are the rungs that ended, `open` those that did not,
    `opened` the last file that was about to be opened."""

    def __init__(self, text, status):
        self.lines = [json.loads(line) for line in text.splitlines()]
        self.status = status
        self.ends, self.open = [], []
        self.finished, self.loaded, self.opened = False, [], {}
        for line in self.lines:
            assert not self.finished, f"a line after the last: {line}"
            if line["event"] == "begin":
                self.open.append((line["step"], line.get("gpu")))
            elif line["event"] == "opens":
                assert self.open == [(line["step"], line.get("gpu"))], line
                self.opened = line
            elif line["event"] == "end":
                # Every end has its begin, and rungs are climbed one after the other.
                assert self.open == [(line["step"], line.get("gpu"))], line
                self.open.clear()
                self.ends.append(line)
            else:
                assert line.keys() == {"event", "loaded"} and line["event"] == "finished", line
                self.finished, self.loaded = True, line["loaded"]

    def rungs(self, step):
        return [line for line in self.ends if line["step"] == step]

    def rung(self, step, gpu=None):
        found = [line for line in self.rungs(step) if gpu is None or line.get("gpu") == gpu]
        assert len(found) == 1, f"{len(found)} rungs {step}: {self}"
        return found[0]

    def results(self):
        """{"driver": "ok", "kernel": "failed"}, for one GPU."""
        return {line["step"]: line["result"] for line in self.ends}

    def __str__(self):
        return "\n".join(map(str, self.lines))


class ProbeTest(unittest.TestCase):
    """One directory, one home, one environment of the process for each test."""

    def setUp(self):
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-probe-")))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.addCleanup(self.nothing_is_left)
        (self.root / "home").mkdir()
        (self.root / "run").mkdir(mode=0o700)
        self.scenario_file = self.root / "scenario"
        self.log = self.root / "calls"
        self.environment = {"HOME": str(self.root / "home"), "PATH": "/usr/bin:/bin",
                            "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": str(self.root / "run")}

    # The machine of the test.

    def install_driver(self, version="580.159.04", at="driver"):
        """A directory with libcuda.so.1, as a driver of that version has it."""
        place = self.root / at
        place.mkdir(parents=True, exist_ok=True)
        self.put_scenario(place)
        file = place / f"libcuda.so.{version}"
        shutil.copy2(PROGRAMS["standin"] / "libcuda.so.1", file)
        if not (place / "libcuda.so.1").is_symlink():
            (place / "libcuda.so.1").symlink_to(file.name)
        return place

    def install_runtime(self, major=13, at="runtime"):
        place = self.root / at
        place.mkdir(parents=True, exist_ok=True)
        self.put_scenario(place)
        file = place / f"libcudart.so.{major}"
        shutil.copy2(PROGRAMS["standin"] / "libcudart.so.standin", file)
        return file

    def install_library(self, name, number, at="libraries"):
        """libcublas.so.13 and the like: they compute over the stand-in driver."""
        place = self.root / at
        place.mkdir(parents=True, exist_ok=True)
        self.put_scenario(place)
        file = place / f"lib{name}.so.{number}"
        shutil.copy2(PROGRAMS["standin"] / f"lib{name}.so.standin", file)
        return file

    def put_scenario(self, place):
        """Where the stand-in looks: one scenario for all of them."""
        if not (place / "scenario").is_symlink():
            (place / "scenario").symlink_to(self.scenario_file)

    def search(self, *places):
        self.environment["LD_LIBRARY_PATH"] = ":".join(map(str, places))

    def scenario(self, text, devices=H200):
        """What the stand-in does; its calls are then in `self.log`."""
        self.scenario_file.write_text(f"log {self.log}\n{devices}{text}")

    def stand_in(self, text="", devices=H200, major=13):
        """A whole machine: its driver, its runtime, and what they do."""
        self.scenario(text, devices)
        self.search(self.install_driver())
        return self.install_runtime(major)

    def calls(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    # The climb.

    # A real libcuda that root calls makes /dev/nvidiactl where there is none: set for those, so
    # that the machine stays as it was.
    makes_no_devices = False

    def before_it_starts(self):
        return drop_mknod if self.makes_no_devices else None

    def ladder_command(self, cudart, depth="full", **more):
        files = {"cudart": cudart} | {name: more.pop(name, ())
                                      for name in ("nvrtc", "cublas", "cudnn", "nccl")}
        libraries = {name: [file if isinstance(file, dict) else str(file) for file in those]
                     for name, those in files.items()}
        request = {"depth": depth, "all_gpus": False, "libraries": libraries, **more}
        return [PROGRAMS["probe"], "--ladder", json.dumps(request)]

    def climb(self, *cudart, **more):
        """The ladder of a probe that comes to its end, however it does."""
        ran = subprocess.run(self.ladder_command(cudart, **more), capture_output=True,
                             stdin=subprocess.DEVNULL, env=self.environment, timeout=WAIT,
                             preexec_fn=self.before_it_starts())
        self.assertNotIn(b"stand-in CUDA:", ran.stderr)
        return Ladder(ran.stdout.decode(), ran.returncode)

    def climb_until_it_hangs(self, *cudart, **more):
        """The ladder of a probe that the stand-in driver holds; killed once it is held."""
        self.log = self.root / "held"
        os.mkfifo(self.log)
        text = self.scenario_file.read_text().splitlines()
        self.scenario_file.write_text("\n".join([f"log {self.log}", *text[1:]]) + "\n")
        reader = os.open(self.log, os.O_RDWR | os.O_NONBLOCK)  # so that it is never at its end
        self.addCleanup(os.close, reader)
        child = subprocess.Popen(self.ladder_command(cudart, **more), stdout=subprocess.PIPE,
                                 stdin=subprocess.DEVNULL, env=self.environment)
        try:
            said, until = b"", time.monotonic() + WAIT
            while b"hangs\n" not in said:
                ready, _, _ = select.select([reader], [], [], max(0, until - time.monotonic()))
                self.assertTrue(ready, f"it never hung; it called {said.decode()}")
                said += os.read(reader, 65536)
            self.assertIsNone(child.poll())
        finally:
            child.kill()
            out, _ = child.communicate()
        return Ladder(out.decode(), child.returncode)

    # Afterwards.

    def left_behind(self):
        """Processes that have anything to do with this test's directory."""
        mark, found = os.fsencode(self.root), []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            for file in ("environ", "cmdline", "maps"):
                try:
                    with open(f"/proc/{entry}/{file}", "rb") as opened:
                        if mark in opened.read():
                            found.append(int(entry))
                            break
                except OSError:
                    pass  # it has ended, or belongs to somebody else
        return found

    def nothing_is_left(self):
        """What was killed may take a moment to be gone; what is there after that was not."""
        until = time.monotonic() + GONE
        while (left := self.left_behind()) and time.monotonic() < until:
            time.sleep(0.02)
        for process in left:
            os.kill(process, signal.SIGKILL)
        self.assertEqual(left, [], "processes of the probe are still there")


def run_tests():
    """For ctest."""
    parser = argparse.ArgumentParser()
    for name in ("probe", "standin", "cudaenv", "cudaenvd", "nvml"):
        parser.add_argument(f"--{name}")
    options, rest = parser.parse_known_args()
    PROGRAMS.update({name: os.path.realpath(path) for name, path in vars(options).items() if path})
    if "standin" in PROGRAMS:
        PROGRAMS["standin"] = Path(PROGRAMS["standin"])
    run_tests_of_main(rest)
