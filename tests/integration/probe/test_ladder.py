#!/usr/bin/env python3
"""cudaenv-probe --ladder over a stand-in driver: what it writes about one that works and one that
refuses. docs/probe.md is the contract."""

import subprocess

import drivers
from support import H200, PROGRAMS, SECOND, WAIT, ProbeTest, run_tests

QUICK = ["library", "driver", "gpu", "runtime", "memory", "kernel"]


class Whole(ProbeTest):
    def test_a_ladder_over_a_driver_that_works_is_climbed_to_its_end(self):
        ladder = self.climb(self.stand_in())
        self.assertEqual(ladder.status, 0)
        self.assertTrue(ladder.finished)
        for step in [*QUICK, "ptx", "ptx-runtime"]:
            self.assertEqual(ladder.rung(step)["result"], "ok", ladder)
        self.assertEqual(ladder.rung("library")["path"],
                         str(self.root / "driver/libcuda.so.580.159.04"))
        self.assertEqual(ladder.rung("library")["found_by"], "loader")
        self.assertNotIn("message", ladder.rung("runtime"))
        self.assertEqual(ladder.rung("driver")["cuda"], "13.0")
        gpu = ladder.rung("gpu", 0)
        self.assertEqual((gpu["name"], gpu["cc"], gpu["memory_total"]),
                         ("NVIDIA H200", "9.0", 150754820096))
        self.assertEqual(ladder.rung("runtime")["version"], "13.0")
        for check in ("global", "shared"):
            self.assertIn(check, ladder.rung("kernel", 0)["checks"])

    def test_the_quick_ladder_ends_with_a_kernel(self):
        ladder = self.climb(self.stand_in(), depth="quick")
        self.assertEqual(list(ladder.results()), QUICK)
        self.assertEqual(set(ladder.results().values()), {"ok"})

    def test_everything_that_was_allocated_is_given_back_and_it_was_a_few_megabytes(self):
        ladder = self.climb(self.stand_in())
        self.assertTrue(ladder.finished)
        self.assertEqual(self.calls()[-1], "held 0 bytes")
        self.assertIn("cuMemAlloc", self.calls())

    def test_libraries_that_are_not_named_are_skipped_with_the_reason(self):
        ladder = self.climb(self.stand_in())
        for step in ("nvrtc", "cublas", "cudnn", "nccl"):
            for rung in ladder.rungs(step):
                self.assertEqual(rung["result"], "skipped")
                self.assertTrue(rung["message"])

    def test_without_a_runtime_the_rungs_below_it_are_still_reported(self):
        self.scenario("")
        self.search(self.install_driver())
        ladder = self.climb()
        self.assertTrue(ladder.finished)
        self.assertEqual(ladder.rung("gpu", 0)["result"], "ok")
        runtime = ladder.rung("runtime")
        self.assertIn(runtime["result"], ("skipped", "failed"))
        self.assertTrue(runtime["message"])

    def test_the_first_runtime_that_loads_is_taken(self):
        good = self.stand_in()
        text = self.root / "libcudart.so.12"
        text.write_text("no library\n")
        ladder = self.climb(self.root / "libcudart.so.11.0", text, good)
        self.assertEqual(ladder.rung("runtime")["path"], str(good))
        self.assertEqual(ladder.rung("runtime")["result"], "ok")

    def test_a_request_that_is_none_is_a_mistake_in_usage(self):
        for request in ("", "{", "[]", '{"depth": "deep"}', '{"libraries": {"cudart": 7}}'):
            with self.subTest(request):
                ran = subprocess.run([PROGRAMS["probe"], "--ladder", request],
                                     capture_output=True, env=self.environment, timeout=WAIT)
                self.assertEqual(ran.returncode, 2)
                self.assertEqual(ran.stdout, b"")
                self.assertTrue(ran.stderr)


class Refused(ProbeTest):
    def check_refused(self, ladder, step, error, name=None, gpu=None):
        rung = ladder.rung(step, gpu)
        self.assertEqual((rung["result"], rung["error"]), ("failed", error), ladder)
        self.assertTrue(rung["call"].startswith("cu"), rung)
        if name:
            self.assertEqual(rung["error_name"], name)
        self.assertTrue(ladder.finished, ladder)
        self.assertEqual(ladder.status, 0)
        return rung

    def check_nothing_above(self, ladder, step, gpu=None):
        """Nothing that rests on that rung was found right."""
        order = [*QUICK, "ptx", "ptx-runtime"]
        for above in order[order.index(step) + 1:]:
            for rung in ladder.rungs(above):
                if gpu is None or rung.get("gpu") == gpu:
                    self.assertEqual(rung["result"], "skipped", ladder)

    def test_what_cuinit_returns_ends_the_ladder_at_the_driver(self):
        runtime = self.stand_in()
        for error, name in ((100, "CUDA_ERROR_NO_DEVICE"), (101, "CUDA_ERROR_INVALID_DEVICE"),
                            (802, "CUDA_ERROR_SYSTEM_NOT_READY"),
                            (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
                            (804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
                            (999, "CUDA_ERROR_UNKNOWN")):
            with self.subTest(name):
                self.scenario(f"cuInit {error}")
                ladder = self.climb(runtime)
                rung = self.check_refused(ladder, "driver", error, name)
                self.assertEqual(rung["call"], "cuInit")
                self.check_nothing_above(ladder, "driver")

    def test_a_number_that_the_driver_has_no_name_for_is_still_reported(self):
        ladder = self.climb(self.stand_in("cuInit 12345"))
        rung = self.check_refused(ladder, "driver", 12345)
        self.assertFalse(rung.get("error_name"))

    def test_a_driver_too_old_for_the_runtime_is_35_at_the_runtime(self):
        ladder = self.climb(self.stand_in("version 12020\nruntime 13000"))
        self.assertEqual(ladder.rung("driver")["cuda"], "12.2")
        self.check_refused(ladder, "runtime", 35, "cudaErrorInsufficientDriver")
        self.check_nothing_above(ladder, "runtime")

    def test_a_real_runtime_says_35_over_an_old_driver(self):
        self.scenario("version 10020")
        self.search(self.install_driver("440.33.01"))
        tried = []
        for version in drivers.RUNTIMES:
            with self.subTest(version):
                try:
                    file = drivers.runtime(version)
                except drivers.Unavailable as reason:
                    self.skipTest(f"no libcudart {version}: {reason}")
                ladder = self.climb(file)
                self.check_refused(ladder, "runtime", 35, "cudaErrorInsufficientDriver")
                self.assertEqual(ladder.rung("runtime")["path"], str(file))
                tried.append(version)

    def test_a_call_that_needs_a_newer_driver_is_36(self):
        ladder = self.climb(self.stand_in("cudaMalloc 36"))
        self.check_refused(ladder, "memory", 36, "cudaErrorCallRequiresNewerDriver")
        self.check_nothing_above(ladder, "memory")

    def test_no_memory_is_2_at_the_memory(self):
        ladder = self.climb(self.stand_in("cuMemAlloc 2"))
        self.check_refused(ladder, "memory", 2, "cudaErrorMemoryAllocation")
        self.check_nothing_above(ladder, "memory")

    def test_a_gpu_that_another_process_has_to_itself_is_46(self):
        devices = H200.strip() + " mode 3\n"
        ladder = self.climb(self.stand_in("cuDevicePrimaryCtxRetain 46", devices))
        failed = [line for line in ladder.ends if line["result"] == "failed"]
        self.assertEqual([line["error"] for line in failed], [46], ladder)
        self.check_nothing_above(ladder, failed[0]["step"])
        self.assertEqual(ladder.rung("gpu", 0)["compute_mode"], 3)

    def test_a_gpu_on_which_computing_is_prohibited_is_left_alone(self):
        ladder = self.climb(self.stand_in(devices=H200.strip() + " mode 2\n"))
        self.assertEqual(ladder.rung("gpu", 0)["compute_mode"], 2)
        self.assertNotIn("cuMemAlloc", self.calls())
        self.assertNotIn("cuLaunchKernel", self.calls())
        self.assertTrue(ladder.finished)

    def test_no_code_for_the_gpu_is_209_at_the_kernel(self):
        ladder = self.climb(self.stand_in("cuModuleLoadDataEx 209"))
        rung = self.check_refused(ladder, "kernel", 209, "CUDA_ERROR_NO_BINARY_FOR_GPU")
        self.assertIn("cuModuleLoad", rung["call"])

    def test_a_gpu_that_is_newer_than_every_machine_code_runs_from_ptx_or_says_why(self):
        devices = 'device 0 "NVIDIA X1000" cc 99.0 memory 8589934592\n'
        ladder = self.climb(self.stand_in(devices=devices))
        kernel = ladder.rung("kernel", 0)
        if kernel["result"] == "ok":
            self.assertTrue(kernel["architecture"].startswith("compute_"), kernel)
        else:
            self.assertTrue(kernel.get("message") or kernel.get("error"), kernel)
        self.assertEqual(ladder.rung("ptx", 0)["result"], "ok")

    def test_where_the_user_forces_ptx_no_machine_code_is_said_to_have_run(self):
        runtime = self.stand_in("cuModuleLoadDataEx 209 code")
        self.environment["CUDA_FORCE_PTX_JIT"] = "1"
        kernel = self.climb(runtime).rung("kernel", 0)
        self.assertEqual((kernel["result"], kernel["architecture"]), ("ok", "compute_50"), kernel)
        self.assertIn("CUDA_FORCE_PTX_JIT", kernel["message"])
        self.environment["CUDA_FORCE_PTX_JIT"] = "0"
        self.assertNotIn("CUDA_FORCE_PTX_JIT",
                         self.climb(runtime).rung("kernel", 0).get("message", ""))

    def test_ptx_newer_than_the_driver_is_222_and_only_there(self):
        ladder = self.climb(self.stand_in("version 12020\nruntime 12090\nptx 8.2", major=12))
        for step in [*QUICK, "ptx"]:
            self.assertEqual(ladder.rung(step)["result"], "ok", ladder)
        self.check_refused(ladder, "ptx-runtime", 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", 0)
        self.assertEqual(ladder.rung("ptx-runtime", 0)["isa"], "8.8")

    def test_a_driver_that_refuses_all_ptx_is_222_wherever_ptx_is(self):
        ladder = self.climb(self.stand_in("cuModuleLoadDataEx 222"))
        self.check_refused(ladder, "kernel", 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", 0)

    def test_a_kernel_that_faults_is_reported_where_it_was_waited_for(self):
        for error, name in ((700, "CUDA_ERROR_ILLEGAL_ADDRESS"), (719, "CUDA_ERROR_LAUNCH_FAILED")):
            with self.subTest(name):
                self.scenario(f"cuLaunchKernel fault {error}")
                self.search(self.install_driver())
                ladder = self.climb(self.install_runtime())
                rung = ladder.rung("kernel", 0)
                self.assertEqual((rung["result"], rung["error"]), ("failed", error), ladder)
                self.assertTrue(ladder.finished, ladder)
                # The context is lost: nothing after it can be right.
                self.assertNotIn("ok", [ladder.results().get(step) for step in
                                        ("ptx", "ptx-runtime")])

    def test_a_launch_that_is_refused_is_reported_as_that(self):
        ladder = self.climb(self.stand_in("cuLaunchKernel 701"))
        rung = self.check_refused(ladder, "kernel", 701)
        self.assertEqual(rung["call"], "cuLaunchKernel")

    def test_of_two_gpus_one_that_fails_does_not_hide_the_other(self):
        ladder = self.climb(self.stand_in("cuModuleLoadDataEx 209 gpu 1", H200 + SECOND))
        self.assertEqual(ladder.rung("kernel", 0)["result"], "ok")
        self.assertEqual(ladder.rung("kernel", 1)["error"], 209)
        self.assertEqual(ladder.rung("ptx", 0)["result"], "ok")
        self.assertTrue(ladder.finished)

    def test_of_two_gpus_one_without_memory_does_not_hide_the_other(self):
        for bad in (0, 1):
            with self.subTest(bad):
                self.scenario(f"cuMemAlloc 2 gpu {bad}", H200 + SECOND)
                self.search(self.install_driver())
                ladder = self.climb(self.install_runtime())
                self.assertEqual(ladder.rung("memory", bad)["error"], 2)
                self.check_nothing_above(ladder, "memory", bad)
                self.assertEqual(ladder.rung("kernel", 1 - bad)["result"], "ok")

    def test_a_gpu_that_is_hidden_is_not_touched(self):
        runtime = self.stand_in("cuMemAlloc 2 gpu 1", H200 + SECOND)
        self.environment["CUDA_VISIBLE_DEVICES"] = "0"
        ladder = self.climb(runtime)
        self.assertEqual(len(ladder.rungs("gpu")), 1)
        self.assertEqual(ladder.rung("kernel")["result"], "ok")
        with self.subTest("all of them on demand"):
            ladder = self.climb(runtime, all_gpus=True)
            self.assertEqual(len(ladder.rungs("gpu")), 2)

    def test_with_every_gpu_hidden_there_is_none(self):
        runtime = self.stand_in()
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        self.check_refused(self.climb(runtime), "driver", 100, "CUDA_ERROR_NO_DEVICE")


if __name__ == "__main__":
    run_tests()
