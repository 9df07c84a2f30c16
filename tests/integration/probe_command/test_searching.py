#!/usr/bin/env python3
"""Which libraries `cudaenv probe` takes where LD_LIBRARY_PATH is relative, empty in places or leads to
broken links: the real loader's choice, beside which it is held. And what a library starts."""

import os
import shutil
import subprocess
import unittest

from test_probe_command import CommandTest
from support import PROGRAMS, WAIT, run_tests

LOADS = "import ctypes, os; ctypes.CDLL('libcudart.so.13'); " \
    "os.write(1, [line.split()[-1] for line in open('/proc/self/maps', 'rb') " \
    "if b'libcudart.so.13' in line][0])"

# A library that leaves a process behind, in the group of whoever loads it, which no hang-up ends.
FORKS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
    char began[4096];
    snprintf(began, sizeof began, "%s/began", getenv("HOME"));
    fclose(fopen(began, "w"));
    if (fork() == 0) {
        signal(SIGHUP, SIG_IGN);
        signal(SIGTERM, SIG_IGN);
        for (;;) pause();
    }
}
"""


class SearchTest(CommandTest):
    def setUp(self):
        super().setUp()
        del self.environment["VIRTUAL_ENV"]
        self.scenario("")
        self.install_driver()
        (self.root / "broken").mkdir()

    def install_here(self):
        """In the directory of the caller; the scenario lies there already."""
        return shutil.copy2(PROGRAMS["standin"] / "libcudart.so.standin",
                            self.root / "libcudart.so.13")

    def loaders_choice(self):
        """What a program of the same shell gets: a path, or None."""
        ran = subprocess.run(["/usr/bin/env", "python3", "-c", LOADS], cwd=self.root,
                             capture_output=True, env=self.environment | {"PATH": os.environ["PATH"]},
                             timeout=WAIT)
        return os.fsdecode(ran.stdout) or None

    def check_choice(self, expected):
        self.assertEqual(self.loaders_choice(), expected)
        probe, _ = self.probe()
        self.assertEqual(probe["runtime_path"], expected)
        return probe


class Entries(SearchTest):
    def test_a_relative_entry_lies_below_the_callers_directory(self):
        runtime = self.install_runtime(13)
        self.search("driver", "./runtime")
        self.assertEqual(self.check_choice(str(runtime))["verdict"], "ok")

    def test_an_empty_entry_is_the_callers_directory(self):
        runtime = self.install_here()
        self.search("", self.root / "driver")
        self.assertEqual(self.check_choice(str(runtime))["verdict"], "ok")

    def test_both_are_the_clients_where_a_daemon_answers(self):
        runtime = self.install_here()
        self.search("driver", "")
        self.listening_daemon()  # in the root directory
        self.assertEqual(self.check_choice(str(runtime))["verdict"], "ok")


    def test_a_name_that_is_no_utf8_is_a_name_like_others(self):
        place = os.fsdecode(os.fsencode(self.root) + b"/caf\xe9")
        runtime = self.install_runtime(13, at=place)
        self.search("driver", place)
        self.assertEqual(os.fsencode(self.loaders_choice()), os.fsencode(runtime))
        probe, _ = self.probe()
        self.assertEqual(probe["verdict"], "ok")
        self.assertEqual(probe["runtime_path"], {"hex": os.fsencode(runtime).hex()})


class BrokenLinks(SearchTest):
    def test_a_link_to_nothing_is_passed_over_and_reported(self):
        runtime = self.install_runtime(13)
        link = self.root / "broken" / "libcudart.so.13"
        link.symlink_to("gone")
        nvrtc = self.root / "broken" / "libnvrtc.so.13"
        nvrtc.symlink_to("gone")
        self.search("driver", "broken", "runtime")
        probe = self.check_choice(str(runtime))
        self.assertEqual(probe["verdict"], "ok")
        self.assertIn(f"{link} is a broken link", self.step(probe, "runtime")["detail"])
        steps = self.probe("--full")[0]["steps"]
        self.assertTrue(any(step["name"] == "nvrtc" and f"{nvrtc} is a broken link" in step["detail"]
                            for step in steps), steps)

    def test_behind_a_link_in_a_circle_nothing_is_found(self):
        runtime = self.install_runtime(13)
        link = self.root / "broken" / "libcudart.so.13"
        link.symlink_to(link.name)
        self.search(self.root / "driver", self.root / "broken", self.root / "runtime")
        # The system may have one, or a toolkit.
        self.assertNotEqual(self.loaders_choice(), str(runtime))
        probe, _ = self.probe()
        self.assertNotEqual(probe["runtime_path"], str(runtime))
        self.assertIn(f"{link} is a broken link", self.step(probe, "runtime")["detail"])


class Leftovers(SearchTest):
    def test_what_a_library_forks_does_not_outlive_the_probe(self):
        if not shutil.which("cc"):
            self.skipTest("no cc here: install gcc")
        library = self.root / "broken" / "libcudart.so.13"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], check=True,
                       input=FORKS.encode(), timeout=WAIT)
        self.search(self.root / "driver", self.root / "broken")
        self.probe()
        self.assertTrue((self.root / "home" / "began").exists())
        self.nothing_is_left()


class Pipes(CommandTest):
    """Named as a library: the loader would wait there for ever."""

    def test_one_in_the_place_of_libcuda_is_reported_at_once(self):
        self.machine()
        os.mkfifo(self.root / "libcuda.so.1")
        self.environment["LD_LIBRARY_PATH"] = str(self.root)
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("driver-broken", 1), probe)
        self.assertIn(f"{self.root}/libcuda.so.1 is a pipe", self.step(probe, "library")["cause"])

    def test_one_in_the_place_of_libcudart_is_reported_at_once(self):
        runtime = self.machine()
        runtime.unlink()
        os.mkfifo(runtime)
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("fails", 1), probe)
        self.assertIn("is a pipe", self.step(probe, "runtime")["cause"])


class OtherEnvironments(CommandTest):
    def test_a_fix_names_the_environment_that_was_asked_about(self):
        self.machine().write_bytes(b"")
        fix = self.step(self.probe()[0], "runtime")["fix"]["command"]
        self.assertIn(" -m pip install ", fix)
        del self.environment["VIRTUAL_ENV"]
        probe, _ = self.probe("-p", str(self.prefix))
        fix = self.step(probe, "runtime")["fix"]["command"]
        self.assertTrue(fix.startswith(f"{self.prefix}/bin/python -m pip install "), fix)


class LoaderTokens(CommandTest):
    def test_origin_is_the_directory_of_the_environments_python(self):
        self.machine()
        (self.prefix / "bin").mkdir()
        (self.prefix / "bin" / "python").write_bytes(b"")
        (self.root / "driver").rename(self.prefix / "driver")
        self.environment["LD_LIBRARY_PATH"] = "$ORIGIN/../driver"
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("ok", 0), probe)
        # A virtual environment's python is the one that it leads to: nothing lies beside that.
        (self.prefix / "bin" / "python").unlink()
        (self.prefix / "bin" / "python").symlink_to("/usr/bin/env")
        self.assertEqual(self.probe()[0]["verdict"], "no-driver")


if __name__ == "__main__":
    run_tests()
