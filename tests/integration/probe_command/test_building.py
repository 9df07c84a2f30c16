#!/usr/bin/env python3
"""`cudaenv probe --build` where the compiler itself is broken, or nothing can be written: it is reported
which, where, and what would be right."""

import json
import os
import resource
import shutil
import subprocess
import unittest

from test_probe_command import CommandTest
from support import PROGRAMS, WAIT, run_tests

SOUND_NVCC = """#!/bin/sh
test "$1" = --version && exit 0
: >"$3"
"""

# As `unshare -rm sh -c`: the directory is a file system without any room, then the command.
FULL_DISK = """set -e
mount -t tmpfs -o size=4k,nr_inodes=100 none "$1"
head -c 4096 /dev/zero >"$1/full"
shift
exec "$@"
"""


NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def mounts():
    return subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"],
                          capture_output=True, check=False).returncode == 0


class BuildingTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.scratch = self.root / "scratch"
        self.scratch.mkdir()
        self.environment["TMPDIR"] = str(self.scratch)
        self.machine("cuInit 100\n")
        del self.environment["VIRTUAL_ENV"]

    def toolkit(self, nvcc, at="toolkit"):
        place = self.root / at
        for name in ("bin", "include", "lib64"):
            (place / name).mkdir(parents=True)
        (place / "version.json").write_text(
            json.dumps({"cuda": {"name": "CUDA SDK", "version": "13.0.1"},
                        "cuda_nvcc": {"name": "CUDA NVCC", "version": "13.0.88"}}))
        (place / "include" / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        self.install_runtime(13, place / "lib64")
        program = place / "bin" / "nvcc"
        program.write_text(nvcc)
        program.chmod(0o755)
        return place

    def built(self, probe):
        step = self.step(probe, "build")
        return step, " ".join([step["detail"], step["cause"] or "",
                               json.dumps(step["fix"] or {})])


class BrokenCompilers(BuildingTest):
    def check(self, nvcc, *words, **how):
        place = self.toolkit(nvcc)
        self.environment |= {"CUDA_HOME": str(place)} | how
        probe, status = self.probe("--build")
        step, _ = self.built(probe)
        self.assertEqual((step["status"], status), ("fails", 1), step)
        for word in (str(place / "bin" / "nvcc"), *words):
            self.assertIn(word, step["detail"])
        return step

    def test_one_whose_own_parts_are_missing(self):
        self.check("#!/bin/sh\necho 'nvcc: 9: cicc: not found' >&2\nexit 127\n",
                   "exit status 127", "cicc: not found")

    def test_a_wrapper_that_fails(self):
        self.check("#!/bin/sh\necho 'module: error: no license today' >&2\nexit 3\n",
                   "exit status 3", "no license today")

    def test_one_that_says_nothing(self):
        self.check("#!/bin/sh\nexit 9\n", "exit status 9")

    def test_one_that_ends_well_and_writes_nothing(self):
        self.check("#!/bin/sh\nexit 0\n", "it succeeded, but wrote no program")

    def test_one_that_dies(self):
        self.check("#!/bin/sh\nkill -SEGV $$\n", "ended by signal 11")

    def test_one_that_is_none(self):
        self.check("#!/no/such/interpreter\n", "cannot start")

    def test_one_that_works_until_it_compiles(self):
        step = self.check("#!/bin/sh\ntest \"$1\" = --version && exit 0\n"
                          "echo 'error: no seat' >&2\nexit 5\n", "exit status 5", "no seat")
        self.assertIn("no seat", step["output"])

    def test_what_it_said_of_the_program_is_reported_whole(self):
        place = self.toolkit("#!/bin/sh\ntest \"$1\" = --version && exit 0\n"
                             "for line in 1 2 3; do echo \"program.cu($line): error: bad\"; done\n"
                             "exit 2\n")
        step, _ = self.built(self.probe("--build", CUDA_HOME=str(place))[0])
        self.assertEqual(step["code"], "CE363")
        for line in (1, 2, 3):
            self.assertIn(f"program.cu({line}): error: bad", step["output"])
        self.assertEqual(step["fix"]["command"], "cudaenv probe --build --json")

    def test_one_that_was_killed_is_not_called_broken(self):
        place = self.toolkit("#!/bin/sh\ntest \"$1\" = --version && exit 0\nkill -KILL $$\n")
        step, _ = self.built(self.probe("--build", CUDA_HOME=str(place))[0])
        self.assertEqual((step["status"], step["code"]), ("fails", "CE373"))

    def test_the_first_on_path_is_tried_even_where_it_does_not_tell_its_version(self):
        sound = self.toolkit(SOUND_NVCC, "sound")
        broken = self.toolkit("#!/bin/sh\necho 'no seat' >&2\nexit 127\n", "broken")
        (broken / "version.json").unlink()
        (broken / "include" / "cuda.h").unlink()

        def path(*places):
            return ":".join([f"{place}/bin" for place in places] + ["/usr/bin", "/bin"])
        step, _ = self.built(self.probe("--build", PATH=path(broken, sound))[0])
        self.assertEqual(step["status"], "fails", step)
        for word in (str(broken / "bin/nvcc"), "exit status 127", "no seat"):
            self.assertIn(word, step["detail"])
        step, _ = self.built(self.probe("--build", PATH=path(sound, broken))[0])
        self.assertEqual(step["status"], "skipped", step)  # it compiles; there is no GPU


class FullDisks(BuildingTest):
    def setUp(self):
        super().setUp()
        self.environment["CUDA_HOME"] = str(self.toolkit(SOUND_NVCC))

    def check(self, probe, *words):
        step, shown = self.built(probe)
        self.assertEqual(step["status"], "fails", step)
        for word in (str(self.scratch), "TMPDIR", *words):
            self.assertIn(word, shown)

    def probe_under(self, prepare=None, before=()):
        ran = subprocess.run([*before, PROGRAMS["cudaenv"], "probe", "--build", "--json"],
                             capture_output=True, text=True, stdin=subprocess.DEVNULL,
                             cwd=self.root, timeout=WAIT, env=self.environment,
                             preexec_fn=prepare)
        self.assertEqual(ran.returncode, 1, ran.stderr)
        return json.loads(ran.stdout)

    @unittest.skipUnless(mounts(), "no mount namespaces here: run as root, or where user "
                                   "namespaces are allowed")
    def test_a_full_tmpdir_is_reported_with_its_place_and_what_would_be_right(self):
        full = ["unshare", "-rm", "sh", "-c", FULL_DISK, "sh", str(self.scratch)]
        self.check(self.probe_under(before=full), "No space left on device")

    def test_a_file_size_limit_is_reported_as_such_and_ends_nobody(self):
        def no_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        self.check(self.probe_under(no_files), "File too large")

    def test_a_compiler_that_finds_no_room_is_not_the_programs_fault(self):
        self.toolkit("#!/bin/sh\necho 'program.cu: fatal: cannot write: No space left on device' >&2\n"
                     "exit 1\n", "other")
        self.environment["CUDA_HOME"] = str(self.root / "other")
        self.check(self.probe_under(), "No space left on device")


class OddNames(BuildingTest):
    """Of TMPDIR. Those that break nvcc are reported; all others are not."""

    BREAKING = {'a"b': "a double quote", "a$b": "a $", "a`b": "a backquote", "a\nb": "a line break",
                "a,b": "a comma"}
    FITTING = ["a b", "a'b", "a\\b", "a;b", "a(b", "a#b", "a*b", "a=b", "\u00e9"]

    def test_those_at_which_nvcc_breaks_are_reported_before_anything_is_built(self):
        self.environment["CUDA_HOME"] = str(self.toolkit("#!/bin/sh\n: >$HOME/nvcc-ran\n"))
        for name, word in self.BREAKING.items():
            with self.subTest(name):
                probe, status = self.probe("--build", TMPDIR=str(self.root / name))
                step, shown = self.built(probe)
                self.assertEqual((step["status"], step["code"], status), ("fails", "CE364", 1))
                for wanted in ("TMPDIR", word, "mkdir -p ~/tmp"):
                    self.assertIn(wanted, shown)
        self.assertFalse((self.root / "home" / "nvcc-ran").exists())

    def test_others_are_built_in(self):
        self.environment["CUDA_HOME"] = str(self.toolkit(SOUND_NVCC))
        for name in self.FITTING:
            with self.subTest(name):
                (self.root / name).mkdir()
                step, _ = self.built(self.probe("--build", TMPDIR=str(self.root / name))[0])
                self.assertEqual(step["status"], "skipped", step)  # it compiles; there is no GPU
                self.assertEqual(os.listdir(self.root / name), [])

    @unittest.skipUnless(NVCC, "no nvcc on PATH or in /usr/local/cuda: install a CUDA toolkit")
    def test_they_are_those_of_a_real_nvcc(self):
        source = self.root / "program.cu"
        source.write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
        for name in [*self.BREAKING, *self.FITTING]:
            with self.subTest(name):
                (self.root / name).mkdir()
                ran = subprocess.run([NVCC, source, "-o", self.root / name / "program"],
                                     capture_output=True, stdin=subprocess.DEVNULL, timeout=WAIT,
                                     env=self.environment | {"TMPDIR": str(self.root / name)})
                self.assertEqual(ran.returncode != 0, name in self.BREAKING, ran)


if __name__ == "__main__":
    run_tests()
