#!/usr/bin/env python3
"""`cudaenv probe` where libcuda is missing, closed, broken, a stub, or a real one without a GPU:
each is reported apart, with what to do."""

import json
import os
import subprocess
from pathlib import Path

import drivers
from support import PROGRAMS, WAIT, run_tests
from verdict_support import VerdictTest


class Libraries(VerdictTest):
    def check_library(self, verdict, code, words=""):
        return self.check(self.probe(), verdict, "library", code=code, words=words)

    def without_a_driver(self):
        ran = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
        if "libcuda.so.1" in ran.stdout:
            self.skipTest("this machine's own driver would be found behind it")

    def test_no_library_is_no_driver(self):
        self.without_a_driver()
        self.scenario("")
        self.install_environment()
        self.check_library("no-driver", "CE301", "libcuda.so.1")
        with self.subTest("which may be allowed"):
            ran = subprocess.run(self.command("--allow-missing"), capture_output=True,
                                 env=self.environment, cwd=self.root, timeout=WAIT)
            self.assertEqual(ran.returncode, 0)

    def test_a_libcuda_that_may_not_be_read_is_not_reported_as_absent(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to have a file of another user's; run as root")
        self.without_a_driver()
        self.machine()
        nobody = 65534
        for place, _, files in os.walk(self.root):
            os.chown(place, nobody, nobody)
            for file in files:
                os.chown(Path(place) / file, nobody, nobody, follow_symlinks=False)
        file = self.root / "driver/libcuda.so.1"
        os.chown(file, 0, 0)
        file.chmod(0o640)
        as_nobody = {"user": nobody, "group": nobody, "extra_groups": []}
        try:
            subprocess.run([PROGRAMS["cudaenv"], "--version"], check=True, capture_output=True,
                           env=self.environment, cwd="/", timeout=WAIT, **as_nobody)
        except (OSError, subprocess.CalledProcessError) as reason:
            self.skipTest(f"another user may not run the programs of this build: {reason}")
        answer = self.probe(**as_nobody)
        self.check(answer, "driver-broken", "library", code="CE302",
                   words=f"may not read libcuda.so.1,{file} exists,it is root's,mode 0640,"
                         f"chmod a+r {file}")

    def test_what_is_no_library_is_a_broken_driver(self):
        self.without_a_driver()
        self.scenario("")
        self.install_environment()
        for what in ("text", "empty", "directory", "nothing in it"):
            with self.subTest(what):
                file = self.root / what.replace(" ", "-") / "libcuda.so.1"
                file.parent.mkdir()
                if what == "directory":
                    file.mkdir()
                elif what == "nothing in it":
                    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", file],
                                   input=b"int nothing;\n", check=True, timeout=WAIT)
                else:
                    file.write_text("no library\n" if what == "text" else "")
                self.search(file.parent)
                # It hides the driver: where it lies, and what takes it out.
                self.check_library("driver-broken", "CE302", "unset LD_LIBRARY_PATH"
                                   if what != "nothing in it" else "lacks a function")
        for what, link in (("dangling", "libcuda.so.1.1"), ("circle", "libcuda.so.1")):
            with self.subTest(what):
                file = self.root / what / "libcuda.so.1"
                file.parent.mkdir()
                file.symlink_to(link)
                self.search(file.parent)
                self.check_library("driver-broken", "CE302", f"{file},unset LD_LIBRARY_PATH")
                with self.subTest("which is not allowed to be missing"):
                    ran = subprocess.run(self.command("--allow-missing"), capture_output=True,
                                         env=self.environment, cwd=self.root, timeout=WAIT)
                    self.assertEqual(ran.returncode, 1)
        with self.subTest("cut short"):
            whole = self.install_driver()
            file = self.root / "short/libcuda.so.1"
            file.parent.mkdir()
            file.write_bytes((Path(whole) / "libcuda.so.1").read_bytes()[:8192])
            self.search(file.parent)
            self.check_library("driver-broken", "CE302",
                               f"{file} has 8192 bytes of at least,unset LD_LIBRARY_PATH")

    def test_a_library_that_dies_while_it_is_loaded_is_a_crash_at_the_library(self):
        self.scenario("")
        self.install_environment()
        file = self.root / "driver/libcuda.so.1"
        file.parent.mkdir()
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", file], check=True, timeout=WAIT,
                       input=b"#include <stdlib.h>\n"
                             b"__attribute__((constructor)) static void dies(void) { abort(); }\n")
        self.search(file.parent)
        self.check_library("crashed", "CE381", "SIGABRT")

    def test_a_stubs_directory_is_recognised_and_named(self):
        try:
            stubs = drivers.stubs()
        except drivers.Unavailable as reason:
            self.skipTest(str(reason))
        self.scenario("")
        self.install_environment()
        place = self.root / "cuda/lib64/stubs"
        place.mkdir(parents=True)
        for name in ("libcuda.so", "libcuda.so.1"):
            (place / name).symlink_to(stubs / "libcuda.so")
        self.search(place)
        answer = self.probe()
        self.assertIn(answer["verdict"], ("no-driver", "driver-broken"))
        self.check(answer, answer["verdict"], "driver", code="CE303", words=f"stub,{place}")
        self.assertIsNone(answer["driver_cuda"])  # never 0.0
        self.assertNotIn("0.0", json.dumps(answer["steps"][1]["detail"]))

    def test_real_drivers_without_a_gpu_are_no_gpu(self):
        if drivers.has_gpu():
            self.skipTest("this machine has a GPU; this is for one that has none")
        self.scenario("")
        self.makes_no_devices = True
        in_container = self.is_a_container()
        for branch in drivers.DRIVERS:
            with self.subTest(branch):
                try:
                    self.search(drivers.driver(branch))
                except drivers.Unavailable as reason:
                    self.skipTest(f"no libcuda {branch}: {reason}")
                self.install_environment("12.4")
                for named, code in ((None, "CE309" if in_container else "CE311"),
                                    ("podman", "CE309")):
                    self.environment.pop("container", None)
                    if named:
                        self.environment["container"] = named  # as systemd and podman have it
                    answer = self.probe()
                    self.assertEqual(answer["verdict"], "no-gpu", answer)
                    step = self.step(answer, "driver")
                    self.assertEqual((step["status"], step["code"]), ("fails", code), step)

    def is_a_container(self):
        """As `cudaenv host` reports it, which has its own tests."""
        ran = subprocess.run([PROGRAMS["cudaenv"], "host", "--json"], capture_output=True,
                             env=self.environment, cwd=self.root, timeout=WAIT, check=True)
        return bool(json.loads(ran.stdout)["platform"]["container"])


if __name__ == "__main__":
    run_tests()
