#!/usr/bin/env python3
"""Every failure that the collected facts know (facts/gotchas.md: message, cause, fix) is one that the probe is
tested to explain, or one that it cannot meet, with the reason.

usage: test_gotchas.py [--shared DIR]     DIR has facts/gotchas.md; default CUDAENV_SHARED, else ../shared beside the
project. Without it: skipped, status 77."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from ctest_status import run_tests_of_main  # noqa: E402

TESTS = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("CUDAENV_SHARED", TESTS.parent.parent / "shared"))

# What each message begins with, and the tests that it is explained by: rows of tests/unit/probe/cases, or methods of
# Python tests.
EXPLAINED = {
    "CUDA driver version is insufficient": [
        "35 below the family's floor names the floor and an older build",
        "35 without any driver means that there is no driver",
        "test_a_runtime_that_is_too_new_breaks_there_and_says_what_to_do"],
    "The NVIDIA driver on your system is too old": ["torch that finds the driver too old"],
    "API call is not supported in the installed CUDA driver": ["36 is a call that came later"],
    "the provided PTX was compiled with an unsupported toolchain": [
        "222 for the runtime's own PTX is the driver's ceiling",
        "222 for NVRTC's PTX after machine code ran is a warning"],
    "no kernel image is available": [
        "209 on a GPU newer than the runtime names the first CUDA that knows it",
        "209 on a GPU older than the runtime names the last CUDA that served it",
        "209 on a GPU that the runtime's CUDA serves is the build's",
        "a GPU that computes and that torch certainly has no code for fails"],
    "X with CUDA capability sm_NN is not compatible": ["torch without code for the GPU"],
    "Found GPU%d %s which is of cuda capability %d.%d. Minimum": [
        "torch 2 that has no code for the GPU, by its range"],
    "Found GPU%d %s which is of cuda capability %d.%d. PyTorch no longer": [
        "torch 1 that dropped the GPU"],
    "nvcc fatal   : Unsupported gpu architecture": ["a GPU that nvcc does not know"],
    "The detected CUDA version (%s) mismatches": [
        "nvcc of another major than torch, in the words of 1.13",
        "nvcc of another major than torch, in the words of 2.8"],
    "The detected CUDA version (%s) has a minor version mismatch": [
        "nvcc of another minor than torch is a warning"],
    "CUDA was not found on the system": ["torch without an nvcc to be found"],
    "There are no %s version bounds defined": [
        "torch that has no table of compilers for that CUDA says nothing of weight"],
    "#error -- unsupported GNU version!": ["a host compiler that is too new, and one here that is not"],
    "#error -- unsupported clang version!": ["clang that is too new"],
    "libcudnn.so.8: cannot open shared object file": ["cuDNN 8 that is missed is not answered by 9"],
    "CUDNN_STATUS_NOT_INITIALIZED": [
        "cuDNN 8 that is not initialised", "cuDNN 9 that is not initialised, by its new number",
        "a cuDNN of another CUDA that is not initialised has that for its cause"],
    "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH": ["cuDNN of two installs"],
    "libcusparse.so.12: undefined symbol": ["an older libnvJitLink found first"],
    "forward compatibility was attempted": [
        "804 from a compat directory says whom it serves",
        "804 with a newer libcuda is the same unrebooted upgrade"],
    "system has unsupported display driver": [
        "803 from a compat directory names the entry to remove",
        "803 with a newer libcuda wants a reboot",
        "803 with an older libcuda is one that was left over"],
    "system not yet initialized": ["802 wants the fabric manager of the driver's version"],
    "Failed to initialize NVML": [
        "test_watch_tells_both_versions_and_the_way_out_where_nvml_does_not_start"],
    "Torch not compiled with CUDA enabled": ["torch without CUDA"],
    "no CUDA-capable device is detected": [
        "an empty CUDA_VISIBLE_DEVICES hides every GPU",
        "a container without device files was started without GPUs"],
    "CUDA driver is a stub library": ["a stub is recognised by its number, and its directory is named"],
}
NOT_MET = {
    "nvidia-container-cli: requirement error": "the container does not start, and nothing in it",
    "No matching distribution found": "pip's own, before anything is installed",
}


def messages(text):
    """The first column of the table: each message that stands in backquotes there."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", row.split(" | ")[0])[0] for row in rows]


def names_of_tests():
    rows = "".join(file.read_text() for file in (TESTS / "unit/judge/cases").glob("*.cpp"))
    methods = "".join(file.read_text() for place in ("probe", "probe_command")
                      for file in (TESTS / "integration" / place).glob("*.py")
                      if file.name != Path(__file__).name)
    return (set(re.findall(r'^\s+\{"([^"]+)",', rows, re.MULTILINE)) |
            set(re.findall(r"def (test_\w+)", methods)))


class Gotchas(unittest.TestCase):
    def test_each_failure_that_is_known_is_explained_or_cannot_be_met(self):
        known = messages((SHARED / "facts" / "gotchas.md").read_text())
        self.assertGreater(len(known), 20)
        for message in known:
            begins = [begin for begin in (*EXPLAINED, *NOT_MET) if message.startswith(begin)]
            self.assertEqual(len(begins), 1, message)

    def test_each_of_those_tests_is_there(self):
        there = names_of_tests()
        for begin, tests in EXPLAINED.items():
            for test in tests:
                self.assertTrue(test in there, f"{begin}: no test {test!r}")


if __name__ == "__main__":
    if "--shared" in sys.argv:
        at = sys.argv.index("--shared")
        SHARED = Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if not (SHARED / "facts" / "gotchas.md").exists():
        print(f"skipped: no {SHARED}/facts/gotchas.md; give --shared or CUDAENV_SHARED, the directory that has facts/")
        sys.exit(77)
    run_tests_of_main(sys.argv[1:])
