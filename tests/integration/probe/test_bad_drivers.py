#!/usr/bin/env python3
"""cudaenv-probe --ladder over a stand-in driver that lies, hangs or ends the process."""

import signal

from support import ProbeTest, run_tests


class Lies(ProbeTest):
    def test_a_wrong_result_is_wrong_and_not_a_failure(self):
        ladder = self.climb(self.stand_in("cuLaunchKernel wrong"))
        rung = ladder.rung("kernel", 0)
        self.assertEqual(rung["result"], "wrong", ladder)
        self.assertNotIn("error", rung)
        self.assertTrue(rung["message"])

    def test_each_kernel_is_checked(self):
        runtime = self.stand_in()
        checks = self.climb(runtime).rung("kernel", 0)["checks"]
        self.assertGreaterEqual(len(checks), 2)
        for check in checks:
            with self.subTest(check):
                self.scenario(f"cuLaunchKernel wrong name cudaenv_{check.replace('-', '_')}")
                rung = self.climb(runtime).rung("kernel", 0)
                self.assertEqual(rung["result"], "wrong")
                self.assertIn(check, rung["message"])

    def test_a_copy_that_comes_back_changed_is_seen_by_the_memory_rung(self):
        ladder = self.climb(self.stand_in("cuMemcpyDtoH wrong"))
        self.assertEqual(ladder.rung("memory", 0)["result"], "wrong", ladder)

    def test_wrong_from_ptx_is_reported_at_the_ptx(self):
        runtime = self.stand_in()
        if not self.climb(runtime).rung("kernel", 0)["architecture"].startswith("sm_"):
            self.skipTest("built without nvcc: the kernel rung is PTX as well")
        self.scenario("cuLaunchKernel wrong ptx")
        ladder = self.climb(runtime)
        self.assertEqual(ladder.rung("kernel", 0)["result"], "ok")
        self.assertEqual(ladder.rung("ptx", 0)["result"], "wrong")

    def test_a_version_that_no_driver_has_is_not_believed(self):
        runtime = self.stand_in()
        for said in ("garbage 0", "garbage -1", "garbage 2147483647", "garbage 99999999",
                     "unwritten"):
            with self.subTest(said):
                self.scenario(f"cuDriverGetVersion {said}")
                ladder = self.climb(runtime)
                self.assertEqual(ladder.status, 0)
                self.assertTrue(ladder.finished, ladder)
                self.assertNotIn("cuda", ladder.rung("driver"), ladder)

    def test_a_version_that_no_runtime_has_is_not_believed(self):
        runtime = self.stand_in()
        for said in ("garbage 0", "garbage -1", "garbage 2147483647", "unwritten"):
            with self.subTest(said):
                self.scenario(f"cudaRuntimeGetVersion {said}")
                ladder = self.climb(runtime)
                self.assertTrue(ladder.finished, ladder)
                for rung in ladder.rungs("runtime"):
                    self.assertNotIn("version", rung, ladder)

    def test_a_count_of_gpus_that_cannot_be_is_not_believed(self):
        runtime = self.stand_in()
        for said in ("garbage -1", "garbage 2147483647", "unwritten"):
            with self.subTest(said):
                self.scenario(f"cuDeviceGetCount {said}")
                ladder = self.climb(runtime)
                self.assertEqual(ladder.status, 0)
                self.assertTrue(ladder.finished, ladder)
                self.assertLess(len(ladder.lines), 100)
                rung = ladder.rung("driver")
                self.assertEqual(rung["result"], "wrong", ladder)
                self.assertIn("counts", rung["message"])
                self.assertNotIn("devices", rung)

    def test_a_gpu_without_a_name_is_still_climbed(self):
        runtime = self.stand_in()
        for said in ("unwritten", "garbage 255", "1"):
            with self.subTest(said):
                self.scenario(f"cuDeviceGetName {said}")
                ladder = self.climb(runtime)  # its lines are JSON, whatever the name's bytes
                self.assertEqual(ladder.rung("kernel", 0)["result"], "ok", ladder)
        with self.subTest("empty"):
            self.scenario("", 'device 0 "" cc 9.0 memory 8589934592\n')
            self.assertEqual(self.climb(runtime).rung("kernel", 0)["result"], "ok")

    def test_a_gpu_of_an_impossible_capability_is_no_reason_to_die(self):
        runtime = self.stand_in()
        for said in ("garbage -1", "garbage 2147483647", "unwritten", "1"):
            with self.subTest(said):
                self.scenario(f"cuDeviceGetAttribute {said}")
                ladder = self.climb(runtime)
                self.assertEqual(ladder.status, 0, ladder)
                self.assertTrue(ladder.finished)


# Where the driver may hold or kill whoever calls it: the function, and the rung that asks it.
PLACES = [("cuInit", "driver"), ("cuDeviceGetName", "gpu"), ("cudaGetDeviceCount", "runtime"),
          ("cuDevicePrimaryCtxRetain", None), ("cuMemAlloc", "memory"), ("cuMemcpyHtoD", "memory"),
          ("cuModuleLoadDataEx", "kernel"), ("cuLaunchKernel", "kernel"),
          ("cuCtxSynchronize", None)]


class Dies(ProbeTest):
    def check_left_open(self, ladder, step):
        self.assertFalse(ladder.finished)
        self.assertEqual(len(ladder.open), 1, ladder)
        if step:
            self.assertEqual(ladder.open[0][0], step)

    def test_a_call_that_never_returns_leaves_its_rung_open(self):
        runtime = self.stand_in()
        for function, step in PLACES:
            with self.subTest(function):
                self.scenario(f"{function} hang")
                if (self.root / "held").exists():
                    (self.root / "held").unlink()
                self.check_left_open(self.climb_until_it_hangs(runtime), step)

    def test_a_crash_inside_the_driver_leaves_its_rung_open(self):
        runtime = self.stand_in()
        for function, step in PLACES:
            for action, number in (("crash", signal.SIGSEGV), ("abort", signal.SIGABRT)):
                with self.subTest(f"{function} {action}"):
                    self.scenario(f"{function} {action}")
                    ladder = self.climb(runtime)
                    self.assertEqual(ladder.status, -number)
                    self.check_left_open(ladder, step)

    def test_a_driver_that_ends_the_process_leaves_its_rung_open(self):
        runtime = self.stand_in()
        for function, step in PLACES:
            with self.subTest(function):
                self.scenario(f"{function} exit")
                ladder = self.climb(runtime)
                self.assertEqual(ladder.status, 0)
                self.check_left_open(ladder, step)


if __name__ == "__main__":
    run_tests()
