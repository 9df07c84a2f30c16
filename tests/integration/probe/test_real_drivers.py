#!/usr/bin/env python3
"""cudaenv-probe --ladder over NVIDIA's own libraries on a machine without a GPU: libcuda of several
branches out of Debian's packages, a toolkit's stub, and no library at all; and over
NVIDIA's NVRTC."""

import subprocess
from pathlib import Path

import drivers
from support import H200, PROGRAMS, ProbeTest, run_tests


class RealDrivers(ProbeTest):
    makes_no_devices = True

    def setUp(self):
        super().setUp()
        if drivers.has_gpu():
            self.skipTest("this machine has a GPU; these are for one that has none")

    def runtimes(self):
        for version in drivers.RUNTIMES:
            try:
                yield version, drivers.runtime(version)
            except drivers.Unavailable as reason:
                self.skipTest(f"no libcudart {version}: {reason}")

    def check_nothing_else(self, ladder):
        """What rests on a GPU was not tried."""
        self.assertTrue(ladder.finished)
        self.assertEqual({line["step"] for line in ladder.ends if line["result"] != "skipped"}
                         - {"library", "driver"}, set())

    def test_each_branch_loads_tells_its_cuda_and_finds_no_gpu(self):
        for branch, (_, _, cuda) in drivers.DRIVERS.items():
            with self.subTest(branch):
                try:
                    place = drivers.driver(branch)
                except drivers.Unavailable as reason:
                    self.skipTest(f"no libcuda {branch}: {reason}")
                self.search(place)
                for version, runtime in self.runtimes():
                    ladder = self.climb(runtime)
                    self.assertEqual(ladder.status, 0)
                    self.assertTrue(ladder.finished)
                    library = ladder.rung("library")
                    self.assertEqual(library["result"], "ok", version)
                    self.assertIn(f"libcuda.so.{branch}.", library["path"])
                    rung = ladder.rung("driver")
                    self.assertEqual((rung["result"], rung["call"], rung["error"]),
                                     ("failed", "cuInit", 100))
                    self.assertEqual(rung["error_name"], "CUDA_ERROR_NO_DEVICE")
                    # It says so without any GPU.
                    self.assertEqual(rung.get("cuda"), cuda)
                    self.check_nothing_else(ladder)

    def test_a_toolkits_stub_is_34_and_has_no_version(self):
        try:
            stubs = drivers.stubs()
        except drivers.Unavailable as reason:
            self.skipTest(str(reason))
        # As users have it: the directory on LD_LIBRARY_PATH, with the name that the loader wants.
        place = self.root / "stubs"
        place.mkdir()
        (place / "libcuda.so.1").symlink_to(stubs / "libcuda.so")
        self.search(place)
        for version, runtime in self.runtimes():
            with self.subTest(version):
                ladder = self.climb(runtime)
                self.assertEqual(ladder.rung("library")["path"],
                                 str((stubs / "libcuda.so").resolve()))
                rung = ladder.rung("driver")
                self.assertEqual((rung["result"], rung["error"]), ("failed", 34))
                self.assertNotIn("cuda", rung)
                self.check_nothing_else(ladder)

    def test_no_library_is_reported_as_none(self):
        ran = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
        if "libcuda.so.1" in ran.stdout:
            self.skipTest("this machine has a driver's library")
        for version, runtime in self.runtimes():
            with self.subTest(version):
                ladder = self.climb(runtime)
                library = ladder.rung("library")
                self.assertEqual(library["result"], "failed")
                self.assertIn("libcuda.so.1", library["message"])
                self.check_nothing_else(ladder)


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


if __name__ == "__main__":
    run_tests()
