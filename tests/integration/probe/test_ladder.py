#!/usr/bin/env python3
"""cudaenv-probe --ladder over a stand-in driver: what it writes about a driver that works, refuses,
lies, hangs and dies. docs/probe.md is the contract."""

import json
import signal
import subprocess
from pathlib import Path

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

    def test_what_was_loaded_is_told_by_real_paths_and_of_cuda_only(self):
        uuid = "6c1d2b4e9f0a47c58e3d1a2b3c4d5e6f"
        runtime = self.stand_in(devices=f"{H200.strip()} uuid {uuid}\n")
        real = self.root / "elsewhere"
        real.mkdir()
        runtime.rename(real / "libcudart.so.13.0.96")
        runtime.symlink_to(real / "libcudart.so.13.0.96")
        nvml = Path(PROGRAMS["nvml"]).resolve()
        self.search(self.environment["LD_LIBRARY_PATH"], nvml.parent)
        self.environment["FAKE_NVML"] = "two-gpus"
        for depth in ("quick", "full"):
            with self.subTest(depth):
                loaded = self.climb(runtime, depth=depth).loaded
                self.assertEqual(loaded, sorted(loaded))
                # NVML is closed again on the way.
                self.assertEqual(set(loaded) - {str(nvml)},
                                 {str(self.root / "driver/libcuda.so.580.159.04"),
                                  str(real / "libcudart.so.13.0.96")})
                self.assertIn(str(nvml), loaded)

    def test_what_a_library_needs_beside_itself_is_told_as_loaded(self):
        runtime = self.stand_in()
        place = self.root / "libraries"
        place.mkdir()
        for name, needs in (("libhelps.so", []), ("libcublas.so.13", ["-L.", "-lhelps"])):
            subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", name, "-Wl,--no-as-needed",
                            *needs, "-Wl,-rpath," + str(place)], cwd=place,
                           input=b"int nothing;\n", check=True, timeout=WAIT)
        loaded = self.climb(runtime, cublas=[place / "libcublas.so.13"]).loaded
        self.assertIn(str(place / "libcublas.so.13"), loaded)
        self.assertIn(str(place / "libhelps.so"), loaded)

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

    def test_without_a_runtime_the_rungs_below_it_are_still_told(self):
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

    def test_a_number_that_the_driver_has_no_name_for_is_still_told(self):
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

    def test_a_kernel_that_faults_is_told_where_it_was_waited_for(self):
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

    def test_a_launch_that_is_refused_is_told_as_that(self):
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

    def test_wrong_from_ptx_is_told_at_the_ptx(self):
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


class RealNvrtc(ProbeTest):
    """NVIDIA's own NVRTC compiles; the stand-in runs what came of it."""

    def compile_with(self, version, text="", devices=H200):
        try:
            file = drivers.nvrtc(version)
        except drivers.Unavailable as reason:
            self.skipTest(f"no NVRTC {version}: {reason}")
        runtime = self.stand_in(text, devices)
        if b"__asan_init" in Path(PROGRAMS["probe"]).read_bytes():
            # The sanitizer opens libraries in NVRTC's stead, without NVRTC's own search path.
            self.search(self.environment["LD_LIBRARY_PATH"], file.parent)
        return self.climb(runtime, nvrtc=[file]).rung("nvrtc", 0)

    def test_what_nvrtc_compiles_is_run_as_machine_code_and_as_ptx(self):
        for version in drivers.NVRTCS:
            with self.subTest(version):
                rung = self.compile_with(version)
                self.assertEqual((rung["result"], rung["version"]), ("ok", version), rung)
                self.assertEqual((rung["architecture"], rung["checks"]),
                                 ("sm_90", ["machine-code", "ptx"]))

    def test_its_ptx_is_refused_by_an_older_driver_though_its_machine_code_runs(self):
        rung = self.compile_with("12.4", "version 12020\nruntime 12040\nptx 8.2")
        self.assertEqual((rung["result"], rung["error"], rung["checks"]),
                         ("failed", 222, ["machine-code"]), rung)

    def test_a_gpu_newer_than_nvrtc_is_served_from_ptx(self):
        rung = self.compile_with("11.8", devices='device 0 "B200" cc 10.0 memory 8589934592\n')
        self.assertEqual(rung["result"], "ok", rung)
        self.assertTrue(rung["architecture"].startswith("compute_"), rung)

    def test_wrong_from_what_it_compiled_is_wrong(self):
        rung = self.compile_with("12.4", "cuLaunchKernel wrong name cudaenv_nvrtc")
        self.assertEqual(rung["result"], "wrong", rung)


class LeftAlone(ProbeTest):
    """A GPU that is busy or closed is told as that, and no context is made on it."""

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
                self.assertIn("NVML does not tell", memory["message"])

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

    def test_processes_are_told_right_whatever_length_the_newest_entries_have(self):
        self.environment["LD_LIBRARY_PATH"] = str(Path(PROGRAMS["nvml"]).parent)
        self.environment["FAKE_NVML"] = "occupied"
        ran = subprocess.run([PROGRAMS["probe"], "--usage"], capture_output=True, check=True,
                             env=self.environment, timeout=WAIT)
        self.assertEqual(json.loads(ran.stdout)["gpus"][0]["processes"],
                         [{"pid": 4711, "memory": 1 << 20, "graphics": False},
                          {"pid": 4712, "memory": 2 << 20, "graphics": False}])


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


class Libraries(ProbeTest):
    """What may lie where the driver's library is looked for."""

    def check_not_loaded(self, ladder):
        rung = ladder.rung("library")
        self.assertEqual(rung["result"], "failed", ladder)
        self.assertTrue(rung["message"])
        self.assertTrue(ladder.finished)
        self.assertEqual([line["step"] for line in ladder.ends if line["result"] == "ok"], [])
        return rung["message"]

    def test_without_a_library_the_loaders_words_are_told(self):
        self.scenario("")
        ladder = self.climb(self.install_runtime())
        if ladder.rung("library")["result"] == "ok":
            self.skipTest("this machine has a driver's library")
        self.assertIn("libcuda.so.1", self.check_not_loaded(ladder))

    def machine_without_a_driver(self):
        ran = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
        if "libcuda.so.1" in ran.stdout:
            self.skipTest("this machine's own driver would be found behind it")

    def test_a_text_file_is_no_library(self):
        self.machine_without_a_driver()
        place = self.root / "bad"
        place.mkdir()
        (place / "libcuda.so.1").write_text("this is no library\n")
        self.search(place)
        self.scenario("")
        self.assertIn("libcuda.so.1", self.check_not_loaded(self.climb(self.install_runtime())))

    def test_a_directory_is_no_library(self):
        self.machine_without_a_driver()
        (self.root / "bad/libcuda.so.1").mkdir(parents=True)
        self.search(self.root / "bad")
        self.scenario("")
        self.check_not_loaded(self.climb(self.install_runtime()))

    def test_a_library_that_lacks_every_function_is_told(self):
        place = self.root / "bad"
        place.mkdir()
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", place / "libcuda.so.1"],
                       input=b"int nothing;\n", check=True, timeout=WAIT)
        self.search(place)
        self.scenario("")
        ladder = self.climb(self.install_runtime())
        self.assertTrue(ladder.finished)
        first = [line for line in ladder.ends if line["result"] == "failed"][0]
        self.assertIn(first["step"], ("library", "driver"))
        self.assertTrue(first["message"])

    def test_a_library_that_dies_while_it_is_loaded_leaves_the_library_open(self):
        place = self.root / "bad"
        place.mkdir()
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", place / "libcuda.so.1"],
                       input=b"#include <stdlib.h>\n"
                             b"__attribute__((constructor)) static void dies(void) { abort(); }\n",
                       check=True, timeout=WAIT)
        self.search(place)
        self.scenario("")
        ladder = self.climb(self.install_runtime())
        self.assertEqual(ladder.status, -signal.SIGABRT)
        self.assertEqual(ladder.open, [("library", None)])

    def test_a_library_that_only_its_linker_name_finds_is_told_as_that(self):
        self.machine_without_a_driver()
        self.scenario("")
        place = self.install_driver()
        (place / "libcuda.so.1").rename(place / "libcuda.so")
        self.search(place)
        ladder = self.climb(self.install_runtime())
        self.assertEqual(ladder.rung("library")["found_by"], "linker-name", ladder)
        # The runtime has it from the probe, by its soname.
        self.assertEqual(ladder.rung("runtime")["result"], "ok", ladder)
        self.assertIn("loader", ladder.rung("runtime")["message"])

    def test_links_to_the_library_are_followed_and_its_version_is_in_its_name(self):
        self.scenario("cuInit 803")
        compat = self.install_driver("575.57.08", at="cuda/compat")
        self.search(compat, self.install_driver())
        ladder = self.climb(self.install_runtime())
        self.assertEqual(ladder.rung("library")["path"], str(compat / "libcuda.so.575.57.08"))
        self.assertEqual(ladder.rung("driver")["error"], 803)


if __name__ == "__main__":
    run_tests()
