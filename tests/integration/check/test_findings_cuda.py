#!/usr/bin/env python3
"""What `cudaenv check` finds of compiled modules, torch's family, CUDA's libraries and the machine: each finding in an
environment that real installers made so, and a near miss that it is silent of.

usage: test_findings_cuda.py --cudaenv FILE --cudaenvd FILE
"""

import json
import sys

from envs import SITE, VERSION, quiet, run_tests
from findings_environments import FindingsTest
from torchlike import PLATFORM, SUFFIX, cudnn_files, extension, library, make_family, nccl_files, torchvision_files


class CudaFindings(FindingsTest):
    @classmethod
    def make_wheels(cls, home):
        for torch, cuda in (("2.8.0", "12.8"), ("2.7.1", "12.8"), ("2.8.0", "11.8"), ("2.8.0", None), ("2.8.0", "12.6")):
            make_family(home, torch, cuda)
        for cuda, version in (("11", "9.10.2.21"), ("12", "9.10.2.21"), ("12", "9.12.0.46"), ("13", "9.12.0.46")):
            home.wheel(f"nvidia-cudnn-cu{cuda}", version, cudnn_files(version), tag="py3-none-linux_x86_64")
        home.wheel("nvidia-nccl-cu12", "2.27.3", nccl_files("2.27.3", "12.8"), tag="py3-none-linux_x86_64")
        home.wheel("nvidia-nccl-cu13", "2.27.7", nccl_files("2.27.7", "13.0"), tag="py3-none-linux_x86_64")

    @classmethod
    def conda_packages(cls):
        return [
            *super().conda_packages(),
            {"name": "cuda-cudart", "version": "12.8.90", "build": "0", "files": {
                "lib/libcudart.so.12.8.90": "\0ELF cudart 12.8.90" * 20,
                "lib/libcudart.so.12": {"link": "libcudart.so.12.8.90"}}},
            {"name": "cudnn", "version": "9.8.0.87", "build": "0", "files": {
                "lib/libcudnn.so.9.8.0": "\0ELF cudnn" * 20, "lib/libcudnn.so.9": {"link": "libcudnn.so.9.8.0"},
                "include/cudnn_version.h": "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 8\n#define CUDNN_PATCHLEVEL 0\n"}},
            {"name": "nccl", "version": "2.26.2", "build": "0", "files": {
                "lib/libnccl.so.2.26.2": "\0ELF nccl" * 20, "lib/libnccl.so.2": {"link": "libnccl.so.2.26.2"}}}]

    # Compiled modules

    def apex(self, name, asks, cuda="12.8", suffix=SUFFIX, version="0.1"):
        self.home.wheel(name, version, {f"{name}/__init__.py": "", f"{name}_C.{suffix}":
                                        extension(f"{name}_C", asks, cuda)}, ["torch"], PLATFORM)
        return name

    def torch_env(self, *more, torch="torch==2.8.0+cu128", text="env"):
        return self.venv(torch, "nvidia-cuda-runtime-cu12", *more, text=text)

    def test_CE110_a_module_compiled_against_another_torch(self):
        prefix = self.torch_env(self.apex("apexold", "in_2_7_1"))
        finding = self.only(prefix, "CE110", severity="error", says=["apexold"], evidence=["in_2_7_1"])
        self.assertIn(f"apexold_C.{SUFFIX}", json.dumps(finding["evidence"]))

    def test_CE110_by_pip_install_of_another_torch(self):
        prefix = self.torch_env(self.apex("apexboth", "in_2_8_0"))
        self.silent(prefix)
        self.pip(prefix, "torch==2.7.1+cu128")
        self.only(prefix, "CE110", severity="error", says=["apexboth"], evidence=["in_2_8_0"])

    def test_CE110_is_silent_of_one_that_goes_with_torch_and_of_one_that_has_the_symbol_elsewhere(self):
        self.home.wheel("ownsymbol", "1.0", {
            "ownsymbol/__init__.py": "", "ownsymbol/lib/libhelper.so": library(
                "libhelper.so", "namespace c10 { __attribute__((visibility(\"default\"))) void in_2_7_1(int) {} }"),
            f"ownsymbol/_C.{SUFFIX}": library("", "namespace c10 { void in_2_7_1(int); } extern \"C\" void* PyInit__C()"
                                              " { c10::in_2_7_1(1); return 0; }", ("libhelper.so", "libc10.so"))},
            tag=PLATFORM)
        self.silent(self.torch_env(self.apex("apexgood", "in_2_8_0"), "ownsymbol"))

    def test_CE111_a_module_of_another_cuda(self):
        prefix = self.torch_env(self.apex("apexeleven", "in_2_8_0", "11.8"))
        self.only(prefix, "CE111", severity="error", says=["apexeleven"], evidence=["libcudart.so.11.0"])

    def test_CE111_a_module_of_cuda_beside_a_torch_without(self):
        prefix = self.venv("torch==2.8.0+cpu", self.apex("apexcuda", "in_2_8_0"))
        self.only(prefix, "CE111", severity="error", says=["apexcuda"])

    def test_CE111_is_silent_of_another_minor_and_of_what_uses_no_cuda(self):
        self.silent(self.torch_env(self.apex("apexminor", "in_2_8_0", "12.4"), self.apex("apexcpu", "in_2_8_0", None)))

    def test_CE112_a_module_of_another_python(self):
        self.home.wheel("apexpython", "0.1", {
            "apexpython/__init__.py": "", "apexpython/_C.cpython-310-x86_64-linux-gnu.so": extension("_C", "in_2_8_0")},
            ["torch"], "cp310-cp310-linux_x86_64")
        prefix = self.torch_env()
        self.pip(prefix, "--target", str(prefix / SITE), "--python-version", "3.10", "--platform", "linux_x86_64",
                 "--only-binary", ":all:", "apexpython")
        finding = self.only(prefix, "CE112", severity="error", says=["apexpython", "3.10", VERSION])
        self.apex("apexpython", "in_2_8_0")  # on the index
        self.assertIn("_C.cpython-310-x86_64-linux-gnu.so", json.dumps(finding["evidence"]))

    def test_CE112_a_module_of_another_python_copied_from_another_environment(self):
        name = "apexcopied_C.cpython-310-x86_64-linux-gnu.so"
        self.home.wheel("apexcopied", "0.1", {"apexcopied.py": "", name: extension("apexcopied_C", "in_2_8_0")}, ["torch"],
                        "cp310-cp310-linux_x86_64")
        maker = self.home.venv(self.name("maker"))
        self.pip(maker, "--target", str(maker / "target"), "--python-version", "3.10", "--platform", "linux_x86_64",
                 "--only-binary", ":all:", "apexcopied")
        prefix = self.torch_env()
        quiet(["cp", "-r", f"{maker}/target/.", prefix / SITE])
        self.only(prefix, "CE112", severity="error", says=["apexcopied", "3.10", VERSION])
        self.apex("apexcopied", "in_2_8_0")  # on the index

    def test_CE112_is_silent_where_there_is_one_for_this_python_beside_it(self):
        made = library("", 'extern "C" void* PyInit__x() { return 0; }')
        self.home.wheel("severalpythons", "1.0", {
            "severalpythons/__init__.py": "", f"severalpythons/_x.{SUFFIX}": made,
            "severalpythons/_x.cpython-39-x86_64-linux-gnu.so": made, "severalpythons/_z.abi3.so": made,
            "severalpythons/data/_w.cpython-39-x86_64-linux-gnu.so.txt": "x\n"}, tag=PLATFORM)
        self.silent(self.venv("severalpythons"))

    # torch's family

    def test_CE120_torchvision_is_made_for_another_torch(self):
        prefix = self.torch_env("torchvision==0.22.1+cu128")
        finding = self.only(prefix, "CE120", severity="error", says=["torchvision", "2.8.0"])
        self.assertIn("0.23.0", finding["fix"]["command"])

    def test_CE120_torchaudio_too(self):
        prefix = self.torch_env("torchaudio==2.7.1+cu128")
        finding = self.only(prefix, "CE120", severity="error", says=["torchaudio"])
        self.assertIn("2.8.0", finding["fix"]["command"])

    def test_CE120_is_silent_of_partners_that_fit(self):
        self.silent(self.torch_env("torchvision==0.23.0+cu128", "torchaudio==2.8.0+cu128"))

    def test_CE121_torchvision_is_a_build_for_another_cuda(self):
        prefix = self.torch_env("torchvision==0.23.0+cu118")
        codes = {finding["code"]: finding for finding in self.home.check(prefix)["findings"]}
        self.assertIn("CE121", codes)
        self.assertEqual(codes["CE121"]["severity"], "error")
        self.assertIn("cu128", codes["CE121"]["fix"]["command"])

    def test_CE121_has_no_cuda_at_all(self):
        prefix = self.torch_env("torchvision==0.23.0+cpu")
        self.only(prefix, "CE121", severity="warning", says=["torchvision"])

    def test_CE121_is_silent_of_one_that_does_not_say_its_cuda(self):
        self.home.wheel("torchvision", "0.23.0", torchvision_files("0.23.0", None, "in_2_8_0"), ["torch==2.8.0"], PLATFORM)
        prefix = self.torch_env("--no-index", str(self.home.root / f"wheels/torchvision-0.23.0-{PLATFORM}.whl"))
        self.silent(prefix)

    def test_CE122_torch_without_cuda_and_a_partner_with(self):
        prefix = self.venv("torch==2.8.0+cpu", "torchaudio==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        findings = self.home.check(prefix)["findings"]
        self.assertIn("CE122", [finding["code"] for finding in findings], findings)
        self.assertEqual({finding["severity"] for finding in findings if finding["code"] == "CE122"}, {"warning"})

    def test_CE122_is_silent_where_nobody_asks_for_cuda(self):
        self.silent(self.venv("torch==2.8.0+cpu", "torchvision==0.23.0+cpu", "torchaudio==2.8.0+cpu"))

    # CUDA's libraries

    def test_CE130_two_runtimes_of_which_one_wrote_over_the_other(self):
        prefix = self.venv("nvidia-cuda-runtime-cu11")
        self.pip(prefix, "nvidia-cuda-runtime-cu12")
        findings = self.home.check(prefix)["findings"]
        self.assertEqual([finding["code"] for finding in findings], ["CE130"], json.dumps(findings, indent=1))
        self.assertEqual({finding["severity"] for finding in findings}, {"warning"})
        self.assertIn(60, [len(finding["files"]) for finding in findings])

    def test_CE130_by_conda_and_by_pip_apart_is_a_note(self):
        prefix = self.conda_env("cuda-cudart", "other")
        self.pip(prefix, "nvidia-cuda-runtime-cu12")
        self.only(prefix, "CE130", severity="note")

    def test_CE130_is_silent_of_one_runtime_and_its_neighbours(self):
        self.silent(self.venv("nvidia-cuda-runtime-cu12", "nvidia-cuda-cupti-cu12", "nvidia-nvtx-cu12"))

    def test_CE131_two_cudnns_in_one_directory(self):
        prefix = self.venv("nvidia-cudnn-cu11")
        self.pip(prefix, "nvidia-cudnn-cu12")
        findings = self.home.check(prefix)["findings"]
        self.assertEqual([finding["code"] for finding in findings], ["CE131"], json.dumps(findings, indent=1))

    def test_CE131_of_conda_and_of_pip(self):
        prefix = self.conda_env("cudnn", "other")
        self.pip(prefix, "nvidia-cudnn-cu12")
        self.only(prefix, "CE131", severity="warning", evidence=["9.8.0", "9.12.0"])

    def test_CE131_is_silent_of_one(self):
        self.silent(self.venv("nvidia-cudnn-cu12"))

    def test_CE132_two_ncclss_of_which_one_wrote_over_the_other(self):
        prefix = self.venv("nvidia-nccl-cu12")
        self.pip(prefix, "nvidia-nccl-cu13")
        findings = {finding["code"]: finding for finding in self.home.check(prefix)["findings"]}
        self.assertEqual(set(findings), {"CE132"}, json.dumps(findings, indent=1))
        self.assertEqual(findings["CE132"]["severity"], "warning")
        for version in ("2.27.3", "2.27.7"):
            self.assertIn(version, json.dumps(findings["CE132"]))

    def test_CE132_of_conda_and_of_pip_is_a_note(self):
        prefix = self.conda_env("nccl", "other")
        self.pip(prefix, "nvidia-nccl-cu12")
        self.only(prefix, "CE132", severity="note")

    def test_CE132_is_silent_of_one(self):
        self.silent(self.venv("nvidia-nccl-cu13"))

    def test_CE133_parts_of_two_cudnns_as_after_half_an_install(self):
        prefix = self.venv("nvidia-cudnn-cu11")
        part = prefix / SITE / "nvidia/cudnn/lib/libcudnn_cnn.so.9"
        older = part.read_bytes()
        self.pip(prefix, "nvidia-cudnn-cu12")
        self.assertNotEqual(part.read_bytes(), older)
        part.unlink()
        part.write_bytes(older)
        found = {finding["code"]: finding for finding in self.home.check(prefix)["findings"]}
        self.assertIn("CE133", found, list(found))
        self.assertEqual(found["CE133"]["severity"], "error")
        self.assertIn(f"{SITE}/nvidia/cudnn/lib/libcudnn_cnn.so.9", found["CE133"]["files"])

    def test_CE133_parts_of_another_that_has_no_libcudnn(self):
        self.home.wheel("nvidia-cudnn-cu14", "9.13.0.50", cudnn_files("9.13.0.50", only=["_ops", "_cnn"]),
                        tag="py3-none-linux_x86_64")
        prefix = self.venv("nvidia-cudnn-cu12")
        self.pip(prefix, "nvidia-cudnn-cu14")
        self.assertIn("CE133", self.home.codes(prefix))

    def test_CE133_is_silent_of_a_whole_one_upgraded(self):
        prefix = self.venv("nvidia-cudnn-cu12")
        self.home.wheel("nvidia-cudnn-cu12", "9.14.0.64", cudnn_files("9.14.0.64"), tag="py3-none-linux_x86_64")
        self.pip(prefix, "--upgrade", "nvidia-cudnn-cu12==9.14.0.64")
        (self.home.root / "wheels/nvidia_cudnn_cu12-9.14.0.64-py3-none-linux_x86_64.whl").unlink()
        self.silent(prefix)

    # The machine

    def test_CE141_the_driver_is_below_the_floor(self):
        finding = self.only(self.torch_env(), "CE141", "--driver", "470.82.01", "--gpu", "8.0", severity="error",
                            says=["470.82.01"])
        self.assertTrue(finding["fix"])

    def test_CE142_the_driver_gives_an_older_cuda_of_the_same_major(self):
        self.only(self.torch_env(), "CE142", "--driver", "550.54.15", "--gpu", "8.0", severity="warning",
                  says=["550.54.15"])

    def test_CE141_and_CE142_are_silent_of_a_driver_that_suffices(self):
        prefix = self.torch_env()
        self.silent(prefix, "--driver", "570.26", "--gpu", "9.0")
        self.silent(prefix, "--driver", "580.65.06", "--gpu", "8.0")

    def test_CE143_torch_has_no_code_for_the_gpu(self):
        self.only(self.torch_env(), "CE143", "--driver", "575.51.03", "--gpu", "3.7", severity="error")

    def test_CE143_is_silent_of_one_that_it_serves(self):
        prefix = self.torch_env()
        for capability in ("7.5", "8.6", "8.9", "9.0", "10.0", "12.0"):
            with self.subTest(capability=capability):
                self.silent(prefix, "--driver", "575.51.03", "--gpu", capability)

    def test_CE124_a_package_for_another_torch_and_status_says_so_too(self):
        self.home.wheel("xformers", "0.0.31", {"xformers/__init__.py": ""}, ["torch==2.7.1"])
        prefix = self.torch_env()
        self.pip(prefix, "--no-deps", "xformers==0.0.31")
        finding = self.only(prefix, "CE124", severity="warning", says=["xformers 0.0.31", "torch==2.7.1", "2.8.0+cu128"])
        self.assertIn(" torch==2.8.0+cu128", finding["fix"]["command"])
        self.home.wheel("xformers", "0.0.32.post2", {"xformers/__init__.py": ""}, ["torch==2.8.0"])
        status = json.loads(self.home.run("status", "-p", str(prefix), "--json").stdout)
        self.assertIn("CE124", [one["code"] for one in status["findings"]])

    def test_CE124_is_silent_of_what_does_not_apply(self):
        self.home.wheel("bitsandbytes", "0.46.0", {"bitsandbytes/__init__.py": ""}, [
            "torch<3,>=2.2", "triton==1; extra == 'old'", "torch<2; sys_platform == 'win32'", "torch<2; python_version < '3.0'"])
        self.silent(self.torch_env("bitsandbytes"))

    def test_a_driver_too_old_is_the_first_line_of_status_and_its_next_step(self):
        prefix = self.torch_env()
        old = ("--driver", "470.82.01", "--gpu", "8.0")
        status = json.loads(self.home.run("status", "-p", str(prefix), *old, "--json").stdout)
        self.assertEqual((status["findings"][0]["code"], status["findings"][0]["severity"]), ("CE141", "error"))
        self.assertEqual(status["next"], f"cudaenv check -p {prefix}")

    def toolkit_env(self, pin):
        """A conda environment with torch for CUDA 12.8 and a pin, on a machine with a toolkit of that."""
        root = self.home.root / f"toolkits/cuda-{pin}"
        for part in ("bin", "include", "lib64", "nvvm"):
            (root / part).mkdir(parents=True, exist_ok=True)
        (root / "bin/nvcc").write_text(f"#!/bin/sh\necho release {pin}, V{pin}.109\n")
        (root / "bin/nvcc").chmod(0o755)
        (root / "version.json").write_text(f'{{"cuda": {{"name": "CUDA SDK", "version": "{pin}.109"}}}}')
        config = self.home.root / "home/.config/cudaenv/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'toolkits.directories = ["{root}"]\n')
        self.addCleanup(config.unlink)
        prefix = self.conda_env("other")
        self.pip(prefix, "torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        (prefix / "conda-meta/cudaenv.toml").write_text(f'[pins]\ncuda = "{pin}"\n')
        return prefix

    def test_CE140_the_toolkit_chosen_is_of_another_major(self):
        self.only(self.toolkit_env("11.3"), "CE140", severity="warning", says=["12.8", "11.3"])

    def test_CE140_is_silent_of_another_minor(self):
        self.silent(self.toolkit_env("12.4"))

    def test_CE150_what_has_to_be_built_and_no_nvcc(self):
        self.home.wheel("my-model", "1.0", {"my_model.py": ""}, ["flash-attn>=2"])
        finding = self.only(self.torch_env("my-model"), "CE150", *self.machine(), severity="warning",
                            says=["my-model", "flash-attn"])
        self.assertIn("12.8", json.dumps(finding["fix"]))

    def test_CE150_is_silent_of_an_extra_of_what_is_here_and_where_there_is_an_nvcc(self):
        self.home.wheel("extra-model", "1.0", {"extra_model.py": ""}, ['flash-attn>=2; extra == "fast"'])
        self.home.wheel("whole-model", "1.0", {"whole_model.py": ""}, ["flash-attn>=2"])
        self.home.wheel("flash-attn", "2.8.0", {"flash_attn/__init__.py": ""})
        self.silent(self.torch_env("extra-model", text="extra"), *self.machine())
        self.silent(self.torch_env("whole-model", "flash-attn", text="whole"), *self.machine())


if __name__ == "__main__":
    run_tests(sys.argv)
