#!/usr/bin/env python3
"""For whom a verdict of `cudaenv probe` is kept, what it rests on, and what of it is reported later."""

import json
import os
import re
import shutil
import subprocess

from test_probe_command import CommandTest
from support import H200, PROGRAMS, SECOND, run_tests

# It records how it was run; only its version is requested.
COMPILER = """#!/bin/sh
env >"{place}/environment"
echo "g++ (Debian 12.2.0-14) 12.2.0"
"""


def preload(file):
    """LD_PRELOAD with it; a sanitizer's own library insists on being the first."""
    needs = subprocess.run(["ldd", PROGRAMS["probe"]], capture_output=True, text=True, check=True).stdout
    sanitizers = re.findall(r"lib[a-z]+san\.so\S* => (\S+)", needs)
    return {"LD_PRELOAD": ":".join([*sanitizers, str(file)])}


class KeepingTest(CommandTest):
    def kept(self, **variables):
        return json.loads(self.cudaenv("status", "--json", **variables).stdout)["probe"]

    def measured(self, **variables):
        return json.loads(self.cudaenv("host", "--json", **variables).stdout).get("measured")

    def row(self):
        """Of `status`, whatever the width of lines."""
        shown = " ".join(self.cudaenv("status").stdout.split())
        return shown[shown.index(" probe ") + 7:shown.index(" shows more") + 11]


class Askers(KeepingTest):
    def test_what_all_gpus_show_is_kept_for_shells_that_see_all_of_them(self):
        self.machine("cuLaunchKernel wrong gpu 1\n", devices=H200 + SECOND)
        one = {"CUDA_VISIBLE_DEVICES": "0"}
        self.assertEqual(self.probe("--all-gpus", **one)[0]["verdict"], "fails")
        self.assertIsNone(self.kept(**one))
        self.assertIsNone(self.measured(**one))
        self.assertEqual(self.kept()["step"], "kernel")
        self.assertEqual(self.measured()["failed"][0]["step"], "kernel")
        self.assertIn("! probe fails at kernel",
                      json.loads(self.cudaenv("env", "--json").stdout)["line"])
        # And where the shell shows all of them anyway, it is the ordinary verdict.
        self.machine(devices=H200 + SECOND)
        self.assertEqual(self.probe("--all-gpus")[0]["verdict"], "ok")
        self.assertEqual(self.kept()["verdict"], "ok")

    def test_variables_that_cuda_reads_are_tried_and_are_another_question(self):
        self.machine()
        inner = self.root / "preloaded" / "libcublasLt.so.13"
        inner.parent.mkdir()
        shutil.copy2(PROGRAMS["standin"] / "libcuda.so.1", inner)
        (inner.parent / "scenario").symlink_to(self.scenario_file)
        preloaded = preload(inner)
        self.assertEqual(self.probe(**preloaded)[0]["verdict"], "ok")
        self.assertEqual(self.kept(**preloaded)["verdict"], "ok")
        self.assertIsNone(self.kept())
        # It was in the child, though no rung names it: an upgrade of it lets go of the verdict.
        self.assertIn(str(inner), self.store())
        os.utime(inner, (1, 1))
        self.assertIsNone(self.kept(**preloaded))
        # The child is somewhere else than the shell.
        relative = preload("preloaded/libcublasLt.so.13")
        self.probe(**relative)
        self.assertEqual(self.kept(**relative)["verdict"], "ok")
        os.utime(inner, (2, 2))
        self.assertIsNone(self.kept(**relative))

        self.probe(NVIDIA_TF32_OVERRIDE="0")
        self.assertTrue(self.kept(NVIDIA_TF32_OVERRIDE="0"))
        self.assertIsNone(self.kept())
        # Variables that only affect messages do not count, nor do those that activation sets.
        self.assertTrue(self.kept(NVIDIA_TF32_OVERRIDE="0", NCCL_DEBUG="INFO", CUDA_HOME="/opt"))

    def store(self):
        return (self.root / "home" / ".cache" / "cudaenv" / "probes.json").read_text()

    def test_a_compiler_that_is_asked_for_its_version_does_not_have_them(self):
        place = self.root / "bin"
        place.mkdir()
        (place / "g++").write_text(COMPILER.format(place=place))
        (place / "g++").chmod(0o755)
        self.machine()
        self.cudaenv("host", "--json", PATH=f"{place}:/usr/bin:/bin", NVIDIA_TF32_OVERRIDE="0",
                     LD_LIBRARY_PATH="/opt/x")
        shown = (place / "environment").read_text()
        self.assertIn("LD_LIBRARY_PATH=/opt/x", shown)
        self.assertNotIn("NVIDIA_TF32_OVERRIDE", shown)


class Grounds(KeepingTest):
    def test_another_build_of_torch_lets_go_of_it(self):
        self.machine()
        self.probe()
        self.assertEqual(self.kept()["verdict"], "ok")
        (self.site / "torch" / "version.py").write_text(
            "__version__ = '2.10.0+cu128'\ncuda = '12.8'\n")
        self.assertIsNone(self.kept())

    def test_who_may_read_a_library_is_part_of_it(self):
        runtime = self.machine()
        self.probe()
        self.assertEqual(self.kept()["verdict"], "ok")
        runtime.chmod(0o000)
        self.assertIsNone(self.kept())


class Warnings(KeepingTest):
    def test_a_warning_is_reported_with_its_rung_and_reason(self):
        self.machine("version 13000\nruntime 13010\n")
        self.assertEqual(self.probe()[0]["verdict"], "warns")
        self.assertRegex(self.row(), r"^warns at runtime \(CE325\), just now: .*13\.1.*; "
                                     r"cudaenv probe shows more$")
        self.assertNotIn("probe", json.loads(self.cudaenv("env", "--json").stdout)["line"])


class Building(KeepingTest):
    def test_a_tmpdir_in_which_nothing_can_be_built_is_not_kept(self):
        toolkit = self.root / "toolkit"
        for name in ("bin", "include", "lib64"):
            (toolkit / name).mkdir(parents=True)
        (toolkit / "version.json").write_text(json.dumps(
            {"cuda": {"name": "CUDA SDK", "version": "13.0.1"},
             "cuda_nvcc": {"name": "CUDA NVCC", "version": "13.0.88"}}))
        (toolkit / "include" / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        (toolkit / "bin" / "nvcc").write_text("#!/bin/sh\nexit 1\n")
        (toolkit / "bin" / "nvcc").chmod(0o755)
        self.machine()
        self.install_runtime(13, toolkit / "lib64")
        self.environment["CUDA_HOME"] = str(toolkit)
        del self.environment["VIRTUAL_ENV"]
        place = self.root / "a$b"
        place.mkdir()
        probe, status = self.probe("--build", TMPDIR=str(place))
        self.assertEqual((self.step(probe, "build")["code"], status), ("CE364", 1), probe)
        self.assertEqual(self.kept()["verdict"], "ok")
        # What nvcc itself does is kept.
        self.assertEqual(self.probe("--build")[1], 1)
        self.assertEqual((self.kept()["verdict"], self.kept()["depth"]), ("fails", "build"))


if __name__ == "__main__":
    run_tests()
