#!/usr/bin/env python3
"""GPUs on which the ladder makes no context, because they are busy, closed or full."""

import json
import subprocess
from pathlib import Path

from support import H200, PROGRAMS, SECOND, WAIT, ProbeTest, run_tests


class LeftAlone(ProbeTest):
    """A GPU that is busy or closed is reported as that, and no context is made on it."""

    CONTEXT = {"cuDevicePrimaryCtxRetain", "cudaSetDevice", "cudaMalloc", "cuMemAlloc"}

    def with_mode(self, mode, nvml, more=""):
        """The ladder over one GPU in that compute mode, with an NVML that behaves like that."""
        uuid = "6c1d2b4e9f0a47c58e3d1a2b3c4d5e6f"
        runtime = self.stand_in("", f"{H200.strip()} mode {mode} uuid {uuid}\n{more}")
        if nvml:
            self.search(self.environment["LD_LIBRARY_PATH"], Path(PROGRAMS["nvml"]).parent)
            self.environment["FAKE_NVML"] = nvml
        self.environment.setdefault("CUDA_MPS_PIPE_DIRECTORY", str(self.root / "no-mps"))
        self.log.unlink(missing_ok=True)
        ladder = self.climb(runtime)
        self.assertTrue(ladder.finished, ladder)
        return ladder

    def check_left_alone(self, ladder, call, error):
        memory = ladder.rung("memory", 0)
        self.assertEqual((memory["result"], memory["call"], memory["error"]),
                         ("failed", call, error), ladder)
        self.assertTrue(memory["message"].startswith("left alone: "), memory)
        self.assertTrue(memory["error_name"].startswith("CUDA_ERROR_"), memory)
        self.assertEqual(self.CONTEXT & set(self.calls()), set())
        for line in ladder.ends[ladder.ends.index(memory) + 1:]:
            self.assertEqual(line["result"], "skipped", line)
        return memory

    def test_a_prohibited_gpu_gets_no_context(self):
        for nvml in (None, "two-gpus"):
            with self.subTest(nvml):
                self.check_left_alone(self.with_mode(2, nvml), "compute mode", 46)

    def test_an_exclusive_gpu_that_somebody_is_on_gets_no_context(self):
        for mode in (1, 3):
            for nvml in ("occupied", "busy"):
                with self.subTest(mode=mode, nvml=nvml):
                    memory = self.check_left_alone(self.with_mode(mode, nvml), "compute mode", 46)
                    self.assertIn("another process", memory["message"])

    def test_an_exclusive_gpu_of_which_nvml_tells_nothing_gets_no_context(self):
        for nvml in ("secretive", "mismatch"):
            with self.subTest(nvml):
                memory = self.check_left_alone(self.with_mode(3, nvml), "compute mode", 46)
                self.assertEqual(memory["reason"], "holder-unknown")

    def test_an_exclusive_gpu_that_is_idle_is_held_for_the_quick_rungs_only(self):
        ladder = self.with_mode(3, "two-gpus")
        self.assertEqual(ladder.rung("kernel", 0)["result"], "ok", ladder)
        self.assertIn("cudaSetDevice", self.calls())
        for step in ("ptx", "ptx-runtime", "nvrtc", "cublas"):
            rung = ladder.rung(step, 0)
            self.assertEqual((rung["result"], rung["message"]),
                             ("skipped", "exclusive mode: the quick probe only"))

    def test_an_exclusive_gpu_that_mps_shares_is_climbed(self):
        (self.root / "mps").mkdir()
        (self.root / "mps/control").touch()
        self.environment["CUDA_MPS_PIPE_DIRECTORY"] = str(self.root / "mps")
        ladder = self.with_mode(3, "occupied")
        self.assertEqual(ladder.rung("kernel", 0)["result"], "ok", ladder)

    def test_a_full_gpu_gets_no_context(self):
        ladder = self.with_mode(0, "full")
        self.assertEqual(ladder.rung("gpu", 0)["memory_free"], 512 << 20)
        memory = self.check_left_alone(ladder, "memory", 2)
        self.assertIn("512 MiB", memory["message"])

    def test_a_shared_gpu_that_others_are_on_is_climbed(self):
        for nvml in ("occupied", "busy", "mismatch"):
            with self.subTest(nvml):
                ladder = self.with_mode(0, nvml)
                self.assertEqual(ladder.rung("kernel", 0)["result"], "ok", ladder)

    def test_the_neighbour_of_a_gpu_that_is_left_alone_is_climbed(self):
        ladder = self.with_mode(2, None, SECOND)
        self.assertEqual(ladder.rung("memory", 0)["error"], 46)
        self.assertEqual(ladder.rung("kernel", 1)["result"], "ok")
        self.assertEqual(ladder.rung("ptx", 1)["result"], "ok")

    def test_processes_are_reported_right_whatever_length_the_newest_entries_have(self):
        self.environment["LD_LIBRARY_PATH"] = str(Path(PROGRAMS["nvml"]).parent)
        self.environment["FAKE_NVML"] = "occupied"
        ran = subprocess.run([PROGRAMS["probe"], "--usage"], capture_output=True, check=True,
                             env=self.environment, timeout=WAIT)
        self.assertEqual(json.loads(ran.stdout)["gpus"][0]["processes"],
                         [{"pid": 4711, "memory": 1 << 20, "graphics": False},
                          {"pid": 4712, "memory": 2 << 20, "graphics": False}])


if __name__ == "__main__":
    run_tests()
