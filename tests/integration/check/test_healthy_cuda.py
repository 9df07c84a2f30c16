#!/usr/bin/env python3
"""Healthy environments: with torch, CUDA's wheels and compiled modules. `cudaenv check` finds nothing in any.

usage: test_healthy_cuda.py --cudaenv FILE --cudaenvd FILE
"""

import sys

from envs import SITE, run_tests
from healthy import HealthyTest, plain_module, torch_wheels
from torchlike import PLATFORM, SUFFIX, extension, library, torch_files, torchvision_files


class CudaWheels(HealthyTest):
    def test_nvtx_of_two_cudas_whose_files_are_the_same(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "nvidia-nvtx-cu11", "nvidia-nvtx-cu12")
        self.healthy(prefix)

    def test_wheels_of_one_cuda_side_by_side_and_one_going(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "nvidia-cuda-runtime-cu12", "nvidia-cuda-cupti-cu12",
                      "nvidia-nvtx-cu12")
        self.healthy(prefix)
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "nvidia-nvtx-cu12")
        self.assertFalse((prefix / SITE / "nvidia/__init__.py").exists())
        self.healthy(prefix)

    def test_modules_of_the_stable_abi_and_of_several_pythons(self):
        made = library("", 'extern "C" void* PyInit__x() { return 0; }')
        self.home.wheel("compiled", "1.0", {
            "compiled/__init__.py": plain_module(), "compiled/_x.abi3.so": made, f"compiled/_y.{SUFFIX}": made,
            "compiled/_y.cpython-39-x86_64-linux-gnu.so": made, "compiled/_y.cpython-312-x86_64-linux-gnu.so": made,
            "compiled/_y.cpython-313t-x86_64-linux-gnu.so": made, "compiled/_plain.so": made,
            "compiled/lib/libhelper.so.3": made, "compiled.libs/libgomp-a34b3233.so.1.0.0": made}, tag=PLATFORM)
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "compiled")
        self.healthy(prefix)

    def test_torch_with_cuda_its_partners_and_its_wheels(self):
        wanted = torch_wheels(self.home)
        for maker in ("pip", "uv"):
            with self.subTest(maker=maker):
                prefix = self.home.venv(self.name(maker))
                if maker == "pip":
                    self.home.pip(prefix, "install", "--quiet", *wanted)
                else:
                    self.home.uv(prefix, "install", *wanted)
                self.assertTrue((prefix / SITE / "nvidia/cuda_runtime/lib/libcudart.so.12").exists())
                self.healthy(prefix)
                self.healthy(prefix, "--driver", "575.51.03", "--gpu", "8.0")

    def test_torch_without_cuda_on_a_machine_without(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", *torch_wheels(self.home, cuda=None))
        self.healthy(prefix)

    def test_an_extension_that_goes_with_torch(self):
        wanted = torch_wheels(self.home)
        self.home.wheel("apexlike", "0.1", {"apexlike/__init__.py": "", f"apexlike_C.{SUFFIX}":
                                            extension("apexlike_C", "in_2_8_0", "12.8")}, ["torch"], PLATFORM)
        prefix = self.venv()
        self.home.uv(prefix, "install", *wanted, "apexlike")
        self.healthy(prefix)

    def test_torch_built_here_and_partners_built_here(self):
        built = "2.8.0a0+gitba56102"
        self.home.wheel("torch", built, torch_files(built, "12.8"), [], PLATFORM)
        self.home.wheel("torchvision", "0.23.0a0+824e8c8", torchvision_files("0.23.0a0+824e8c8", "12.8"), ["torch"],
                        PLATFORM)
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", f"torch=={built}", "torchvision==0.23.0a0+824e8c8")
        self.healthy(prefix)

    def test_torch_upgraded_with_its_partners(self):
        older = torch_wheels(self.home, "2.7.1")
        prefix = self.venv()
        self.home.uv(prefix, "install", *older)
        self.healthy(prefix)
        newer = torch_wheels(self.home)
        self.home.pip(prefix, "install", "--quiet", "--upgrade", *newer)
        self.healthy(prefix)


if __name__ == "__main__":
    run_tests(sys.argv)
