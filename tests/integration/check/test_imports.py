#!/usr/bin/env python3
"""What stops an import, found in records, ELF headers and source without an import: CUDA libraries that are missing,
modules for another NumPy, requirements that are not installed, copies that Python finds earlier.

usage: test_imports.py --cudaenv FILE --cudaenvd FILE
"""

import json
import subprocess
import sys

from downloads import kept, said
from envs import SITE, Unavailable, run_tests
from findings_environments import FindingsTest
from torchlike import PLATFORM, cudnn_files, nccl_files, nvidia_files, runtime_files, torch_files

NEEDS = ("libcublas.so.12", "libcublasLt.so.12", "libcudnn.so.9", "libnccl.so.2")
WHEELS = {"nvidia-cuda-runtime-cu12": "12.8.90", "nvidia-cublas-cu12": "12.8.4.1", "nvidia-cudnn-cu12": "9.10.2.21",
          "nvidia-nccl-cu12": "2.27.3"}
NUMPY = ["numexpr==2.8.4", "numpy==1.26.4", "numpy==2.1.3"]


class Imports(FindingsTest):
    @classmethod
    def conda_packages(cls):
        return []

    @classmethod
    def make_wheels(cls, home):
        def wheel(name, version, files, requires=()):
            home.wheel(name, version, files, requires, "py3-none-linux_x86_64")

        wheel("nvidia-cuda-runtime-cu12", "12.8.90", runtime_files("12.8"))
        wheel("nvidia-cublas-cu12", "12.8.4.1", nvidia_files("cublas", {"libcublas.so.12": "12.8", "libcublasLt.so.12": ""}))
        wheel("nvidia-cudnn-cu12", "9.10.2.21", cudnn_files("9.10.2.21"))
        wheel("nvidia-cudnn-cu12", "8.9.7.29", cudnn_files("8.9.7.29"))
        wheel("nvidia-nccl-cu12", "2.27.3", nccl_files("2.27.3", "12.8"))
        home.wheel("torch", "2.8.0", torch_files("2.8.0+cu128", "12.8", libraries=NEEDS),
                   [f'{name}=={version}; platform_system == "Linux"' for name, version in WHEELS.items()], PLATFORM)
        home.wheel("torch", "2.7.0", torch_files("2.7.0+cu126", "12.6", libraries=NEEDS), tag=PLATFORM)
        provider = torch_files("1", "11.8", libraries=("libcublas.so.11", "libcudnn.so.8"))["torch/lib/libtorch_cuda.so"]
        home.wheel("onnxruntime-gpu", "1.18.0", {
            "onnxruntime/__init__.py": "", "onnxruntime/capi/libonnxruntime_providers_cuda.so": provider}, tag=PLATFORM)
        home.wheel("dateuser", "1.0", {
            "dateuser/__init__.py": '"""import nothing"""\nfrom . import core\n', "dateuser/core.py":
            "try:\n    import optional_thing\nexcept ImportError:\n    pass\nimport dateutil.parser\n",
            "dateuser/tests.py": "import pytest\n"}, ["python-dateutil>=2.8", "optional-thing", "pytest", "never-imported"])
        home.wheel("python-dateutil", "2.9.0", {"dateutil/__init__.py": "", "dateutil/parser.py": ""})
        home.wheel("plugged", "1.0", {"plugged.py": "import pluggy\n"}, ["pluggy<2,>=1"])
        for version in ("1.5.0", "2.5.0"):
            home.wheel("pluggy", version, {"pluggy.py": f"v = '{version}'\n"})

    def torch_env(self, *more, without=()):
        return self.venv("torch==2.8.0", *(f"{name}=={version}" for name, version in WHEELS.items() if name not in without),
                         *more)

    # CUDA libraries

    def test_CE136_a_wheel_of_torchs_was_uninstalled(self):
        prefix = self.torch_env()
        self.silent(prefix)
        self.home.pip(prefix, "uninstall", "-y", "nvidia-cublas-cu12")
        # An error, unless this machine has that library.
        finding = self.only(prefix, "CE136", says=["torch 2.8.0", "libcublas.so.12", "and 1 more"],
                            evidence=["nvidia-cublas-cu12==12.8.4.1", "libtorch_cuda.so"],
                            files=[f"{SITE}/torch/lib/libtorch_cuda.so"])
        self.assertIn("nvidia-cublas-cu12==12.8.4.1", finding["fix"]["command"])

    def test_CE136_another_version_with_another_soname(self):
        prefix = self.torch_env("nvidia-cudnn-cu12==8.9.7.29", without=("nvidia-cudnn-cu12",))
        finding = self.only(prefix, "CE136", says=["libcudnn.so.9"], evidence=["8.9.7.29 is installed"])
        self.assertIn("nvidia-cudnn-cu12==9.10.2.21", finding["fix"]["command"])

    def test_CE136_the_loader_takes_another_one(self):
        toolkit = self.home.root / self.name("toolkit")
        toolkit.mkdir()
        (toolkit / "libcudnn.so.9").write_bytes(b"\x7fELF")
        prefix = self.torch_env(without=("nvidia-cudnn-cu12",))
        self.home.environment["LD_LIBRARY_PATH"] = str(toolkit)
        self.addCleanup(self.home.environment.pop, "LD_LIBRARY_PATH", None)
        self.only(prefix, "CE136", severity="warning", says=["libcudnn.so.9", "outside"], evidence=[str(toolkit)])
        self.reported = None  # with the wheel there it is CE135's

    def test_CE136_is_silent_where_a_toolkit_of_the_machine_is_meant(self):
        self.silent(self.venv("torch==2.7.0", "onnxruntime-gpu==1.18.0"))

    def test_CE136_onnxruntime_for_another_cuda_than_torchs(self):
        prefix = self.torch_env("onnxruntime-gpu==1.18.0")
        self.only(prefix, "CE136", severity="warning", says=["onnxruntime-gpu 1.18.0", "libcublas.so.11"],
                  evidence=["libcudnn.so.8", "libcudart.so.11.0"])

    # NumPy

    def test_CE113_a_module_for_numpy_1_under_numpy_2_of_the_index(self):
        def fill(made):
            made.mkdir()
            for requirement in NUMPY:
                said([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
                      "--only-binary", ":all:", "--dest", str(made), requirement])

        try:
            for wheel in kept("check-numpy-1", fill).iterdir():
                if not (self.home.root / "wheels" / wheel.name).exists():
                    (self.home.root / "wheels" / wheel.name).symlink_to(wheel)
        except Unavailable as reason:
            self.skipTest(str(reason))
        prefix = self.venv("numexpr==2.8.4", "numpy==1.26.4")
        self.silent(prefix)
        self.assertEqual(self.imported(prefix, "numexpr"), 0)
        self.pip(prefix, "numpy==2.1.3")
        self.assertNotEqual(self.imported(prefix, "numexpr"), 0)
        finding = self.only(prefix, "CE113", severity="error", says=["numexpr 2.8.4", "NumPy 1", "2.1.3"])
        self.assertIn("numpy<2", finding["fix"]["command"])

    def imported(self, prefix, module):
        return subprocess.run([prefix / "bin/python", "-c", f"import {module}"], capture_output=True).returncode

    # Requirements

    def test_CE125_what_an_import_needs_is_not_installed(self):
        prefix = self.venv("dateuser")
        self.assertNotEqual(self.imported(prefix, "dateuser"), 0)
        self.only(prefix, "CE125", severity="error", says=["dateuser 1.0", "python-dateutil>=2.8"],
                  evidence=["imports dateutil", "dateuser/core.py"], files=[f"{SITE}/dateuser/core.py"])

    def test_CE125_is_silent_of_what_is_not_imported_at_once(self):
        prefix = self.venv("dateuser", "python-dateutil")
        self.assertEqual(self.imported(prefix, "dateuser"), 0)
        self.silent(prefix)

    def test_CE124_is_a_note_of_what_has_nothing_to_do_with_cuda(self):
        prefix = self.venv("plugged", "pluggy==2.5.0")
        self.only(prefix, "CE124", severity="note", says=["plugged 1.0", "2.5.0"])

    # sys.path

    def user_site(self, base, *wanted):
        self.home.pip(self.home.root / self.name("outer"), "install", "--quiet", "--no-deps", "--target",
                      str(base / SITE), *wanted)

    def test_CE115_conda_sees_the_users_own_site_packages_and_a_venv_does_not(self):
        self.home.venv(self.name("outer"))
        base = self.home.root / self.name("base")
        self.user_site(base, "nvidia-cudnn-cu12==8.9.7.29")
        self.home.environment["PYTHONUSERBASE"] = str(base)
        self.addCleanup(self.home.environment.pop, "PYTHONUSERBASE", None)
        prefix = self.torch_env()
        self.silent(prefix)
        (prefix / "pyvenv.cfg").unlink()  # as in an environment of conda's
        (prefix / "conda-meta").mkdir()
        finding = self.only(prefix, "CE115", severity="warning", says=["nvidia-cudnn-cu12 8.9.7.29", "9.10.2.21"],
                            evidence=[str(base)])
        self.reported = None
        self.assertEqual(finding["fix"]["command"], "export PYTHONNOUSERSITE=1")
        self.home.environment["PYTHONNOUSERSITE"] = "1"
        self.addCleanup(self.home.environment.pop, "PYTHONNOUSERSITE", None)
        self.silent(prefix)

    def test_CE115_another_copy_on_PYTHONPATH(self):
        prefix = self.torch_env()
        self.home.venv(self.name("outer"))
        path = self.home.root / self.name("path")
        self.user_site(path, "nvidia-cudnn-cu12==8.9.7.29")
        tree = self.home.root / self.name("tree")
        (tree / "torch").mkdir(parents=True)
        (tree / "torch/__init__.py").touch()
        self.addCleanup(self.home.environment.pop, "PYTHONPATH", None)
        self.home.environment["PYTHONPATH"] = f"{prefix / SITE}:{self.home.root}"  # nothing of interest
        self.silent(prefix)
        self.home.environment["PYTHONPATH"] = f"{path / SITE}:{self.home.root}"
        finding = self.only(prefix, "CE115", severity="warning", says=["nvidia-cudnn-cu12 8.9.7.29"])
        self.assertEqual(finding["fix"]["command"], f"export PYTHONPATH={self.home.root}")
        self.home.environment["PYTHONPATH"] = str(tree)
        finding = self.only(prefix, "CE115", severity="warning", says=["torch", "PYTHONPATH"])
        self.assertEqual(finding["fix"]["command"], "unset PYTHONPATH")
        self.assertIn(str(tree / "torch"), json.dumps(finding["evidence"]))


if __name__ == "__main__":
    run_tests(sys.argv)
