#!/usr/bin/env python3
"""cudaenv-probe --ladder over NVIDIA's own libraries on a machine without a GPU: libcuda of several
branches out of Debian's packages, a toolkit's stub, and no library at all."""

import subprocess

import drivers
from support import ProbeTest, run_tests


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

    def test_no_library_is_told_as_none(self):
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


if __name__ == "__main__":
    run_tests()
