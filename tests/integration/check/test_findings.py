#!/usr/bin/env python3
"""Each finding of `cudaenv check` in an environment that real installers made so, and a near miss that it is silent of.

usage: test_findings.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from envs import SITE, VERSION, Conda, Home, conda_python_package, make_wheel, quiet, run_tests, tools
from real_wheels import Unavailable, real_wheels
from torchlike import (PLATFORM, SUFFIX, cudnn_files, extension, library, nccl_files,
                       torch_files, torch_requires, torchvision_files)


def module(text):
    return f"{text}\n" * 10


def many(name, version, who):
    return {f"{name}/__init__.py": module(f"# {name} {version} {who}"), f"{name}/same.py": module("same = 1"),
            f"{name}/core.py": module(f"# core {version} {who}"), f"{name}/v{version[0]}.py": module(f"# {who}")}


class Findings(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.home.__enter__()
        cls.addClassCleanup(lambda: cls.home.__exit__(None, None, None))
        wheels = cls.home.root / "wheels"
        try:
            for wheel in real_wheels().iterdir():
                os.symlink(wheel, wheels / wheel.name)
        except Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from None
        home = cls.home
        for version in ("1.0", "2.0"):
            home.wheel("both", version, many("both", version, "pip"))
            home.wheel("alone", version, many("alone", version, "pip"))
            # The same content as conda's: only the version differs.
            home.wheel("quietly", version, {"quietly.py": module("the same")})
        home.wheel("writer", "1.0", {"writer.py": "", "common/it.py": module("writer"), "common/also.py": module("a")})
        home.wheel("rewriter", "1.0", {"rewriter.py": "", "common/it.py": module("rewriter"),
                                       "common/also.py": module("b")})
        home.wheel("agreeing", "1.0", {"agreeing.py": "", "common/it.py": module("writer")})
        for version, cuda in (("2.8.0", "12.8"), ("2.7.1", "12.8"), ("2.8.0", "11.8"), ("2.8.0", None),
                              ("2.8.0", "12.6")):
            local = f"+cu{cuda.replace('.', '')}" if cuda else "+cpu"
            vision = {"2.8.0": "0.23.0", "2.7.1": "0.22.1"}[version]
            home.wheel("torch", version + local, torch_files(version + local, cuda, "in_" + version.replace(".", "_")),
                       torch_requires(cuda), PLATFORM)
            home.wheel("torchvision", vision + local, torchvision_plain(vision + local, version, cuda),
                       [f"torch=={version}"], PLATFORM)
            home.wheel("torchaudio", version + local, {"torchaudio/__init__.py": "", "torchaudio/version.py":
                                                       f"__version__ = '{version}{local}'\n"}, [f"torch=={version}"],
                       PLATFORM)
        for cuda, version in (("11", "9.10.2.21"), ("12", "9.12.0.46"), ("13", "9.12.0.46")):
            home.wheel(f"nvidia-cudnn-cu{cuda}", version, cudnn_files(version), tag="py3-none-linux_x86_64")
        home.wheel("nvidia-nccl-cu12", "2.27.3", nccl_files("2.27.3", "12.8"), tag="py3-none-linux_x86_64")
        home.wheel("nvidia-nccl-cu13", "2.27.7", nccl_files("2.27.7", "13.0"), tag="py3-none-linux_x86_64")
        cls.conda_process = Conda(cls.home.root)
        cls.conda = cls.conda_process.__enter__()
        cls.addClassCleanup(lambda: cls.conda_process.__exit__(None, None, None))
        cls.channel = cls.conda.channel("channel", [
            *(conda_python_package("both", version, many("both", version, "conda")) for version in ("1.0", "2.0", "3.0")),
            conda_python_package("quietly", "1.0", {"quietly.py": module("the same")}),
            conda_python_package("other", "1.0", many("other", "1.0", "conda")),
            {"name": "cuda-cudart", "version": "12.8.90", "build": "0", "files": {
                "lib/libcudart.so.12.8.90": "\0ELF cudart 12.8.90" * 20,
                "lib/libcudart.so.12": {"link": "libcudart.so.12.8.90"}}},
            {"name": "cudnn", "version": "9.8.0.87", "build": "0", "files": {
                "lib/libcudnn.so.9.8.0": "\0ELF cudnn" * 20, "lib/libcudnn.so.9": {"link": "libcudnn.so.9.8.0"},
                "include/cudnn_version.h": "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 8\n#define CUDNN_PATCHLEVEL 0\n"}},
            {"name": "nccl", "version": "2.26.2", "build": "0", "files": {
                "lib/libnccl.so.2.26.2": "\0ELF nccl" * 20, "lib/libnccl.so.2": {"link": "libnccl.so.2.26.2"}}}])

    def name(self, text="env"):
        return f"{self._testMethodName[5:60]}-{text}"

    def venv(self, *wanted, text="env"):
        prefix = self.home.venv(self.name(text))
        if wanted:
            self.pip(prefix, *wanted)
        return prefix

    def pip(self, prefix, *wanted):
        self.home.pip(prefix, "install", "--quiet", "--no-deps", *wanted)

    def conda_env(self, *specs, text="env"):
        prefix = self.home.conda_env(self.name(text))
        self.conda.install(prefix, self.channel, *specs)
        return prefix

    def only(self, prefix, code, *words, severity=None, files=None, says=(), evidence=()):
        """The environment has this finding once, and no other."""
        told = self.home.check(prefix, *words)["findings"]
        text = json.dumps(told, indent=1, ensure_ascii=False)
        self.assertEqual([finding["code"] for finding in told], [code], text)
        finding = told[0]
        if os.environ.get("SHOW"):
            print(f"\n== {self._testMethodName}\n{self.home.run('check', '-p', prefix, *words).stdout.decode()}")
        if severity:
            self.assertEqual(finding["severity"], severity, text)
        if files is not None:
            self.assertEqual(sorted(finding["files"]), sorted(files), text)
        for word in says:
            self.assertIn(word, finding["title"], text)
        for word in evidence:
            self.assertIn(word, json.dumps(finding["evidence"], ensure_ascii=False), text)
        for line in [finding["title"], *(item["text"] for item in finding["evidence"])]:
            self.assertNotIn("\n", line)
        self.assertTrue(finding["fix"] and (finding["fix"]["command"] or finding["fix"]["text"]), text)
        return finding

    def silent(self, prefix, *words):
        told = self.home.check(prefix, *words)["findings"]
        self.assertEqual(told, [], json.dumps(told, indent=1, ensure_ascii=False))

    def fixed(self, prefix, code):
        """--fix takes the finding away."""
        self.home.uv(prefix, "install", "pip==25.3")
        ran = self.home.run("check", code, "-p", prefix, "--fix", "--yes",
                            env={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.home.root / "wheels")})
        said = ran.stdout.decode() + ran.stderr.decode()
        self.assertEqual(ran.returncode, 0, said)
        left = self.home.check(prefix)["findings"]
        self.assertEqual(left, [], said + json.dumps(left, indent=1, ensure_ascii=False))

    # Who wrote over whom

    def test_CE101_conda_and_pip_both_count_it_as_theirs(self):
        prefix = self.conda_env("quietly", "other")
        self.pip(prefix, "--ignore-installed", "quietly==2.0")
        self.only(prefix, "CE101", severity="warning", says=["quietly"], evidence=["1.0", "2.0"])
        self.fixed(prefix, "CE101")
        self.assertFalse((prefix / SITE / "quietly-2.0.dist-info").exists())
        self.assertTrue((prefix / SITE / "quietly.py").exists())

    def test_CE101_is_silent_of_two_distributions_that_have_one_manager_each(self):
        prefix = self.conda_env("quietly", "other")
        self.pip(prefix, "alone", "both")
        self.silent(prefix)

    def test_CE102_a_wheel_wrote_over_files_of_a_conda_package(self):
        prefix = self.conda_env("both ==1.0", "other")
        self.pip(prefix, "--upgrade", "both==2.0")
        stamp = time.strftime("%Y-%m-%d", time.gmtime())
        self.only(prefix, "CE102", severity="warning", says=["both", "2.0"], evidence=["1.0", "2.0", stamp], files=[
            f"{SITE}/both/__init__.py", f"{SITE}/both/core.py", f"{SITE}/both/v1.py"] + [
            f"{SITE}/both-1.0.dist-info/{file}" for file in ("METADATA", "WHEEL")])
        self.fixed(prefix, "CE102")
        self.assertEqual((prefix / SITE / "both/core.py").read_text(), many("both", "1.0", "conda")["both/core.py"])

    def test_CE102_says_an_error_where_pip_only_took_away(self):
        prefix = self.conda_env("both ==1.0", "other")
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "both")
        self.only(prefix, "CE102", severity="error", says=["both"])
        self.fixed(prefix, "CE102")

    def test_CE102_is_silent_of_a_wheel_with_the_same_content_and_version(self):
        prefix = self.conda_env("other")
        self.pip(prefix, "both==2.0")
        self.silent(prefix)

    def test_CE103_conda_wrote_over_a_distribution_of_pip(self):
        prefix = self.conda_env("other")
        self.pip(prefix, "both==1.0")
        self.conda.install(prefix, self.channel, "other", "both ==2.0")
        self.only(prefix, "CE103", severity="warning", says=["both"], evidence=["1.0", "2.0"],
                  files=[f"{SITE}/both/__init__.py", f"{SITE}/both/core.py"])
        self.fixed(prefix, "CE103")
        self.assertFalse((prefix / SITE / "both-1.0.dist-info").exists())
        self.assertEqual((prefix / SITE / "both/core.py").read_text(), many("both", "2.0", "conda")["both/core.py"])

    def test_CE103_is_silent_where_conda_wrote_the_very_version(self):
        prefix = self.conda_env("other")
        self.pip(prefix, "both==1.0")
        self.conda.install(prefix, self.channel, "other", "both ==1.0")
        self.silent(prefix)

    def built(self, name, wheel):
        source = self.home.root / self.name(f"source-{name}")
        source.mkdir()
        (source / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n')
        (source / "backend.py").write_text(
            f"import shutil\ndef build_wheel(directory, config_settings=None, metadata_directory=None):\n"
            f"    shutil.copy({str(wheel)!r}, directory)\n    return {wheel.name!r}\n")
        return source

    def test_CE104_what_was_built_here_is_now_a_wheels(self):
        build = make_wheel(self.home.root / "built", "torch", "2.9.0a0+git1234567", torch_files("2.9.0a0+git1234567"),
                           [], PLATFORM)
        prefix = self.venv()
        self.pip(prefix, "--no-build-isolation", str(self.built("torch", build)))
        self.silent(prefix)
        self.pip(prefix, "torch==2.8.0+cpu")
        finding = self.only(prefix, "CE104", severity="error", says=["torch"], evidence=["2.9.0a0+git1234567", "2.8.0"])
        self.assertTrue(finding["fix"]["text"])

    def test_CE104_is_silent_where_it_was_built_anew_or_taken_away(self):
        prefix = self.venv()
        for version in ("2.9.0a0+git1234567", "2.9.0a0+git7654321"):
            build = make_wheel(self.home.root / "built", "torch", version, torch_files(version), [], PLATFORM)
            source = self.built(f"torch-{version}", build)
            self.pip(prefix, "--no-build-isolation", str(source))
            self.silent(prefix)
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "torch")
        self.silent(prefix)

    # Records

    def test_CE105_one_distribution_twice(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--target", prefix / SITE, "alone==1.0")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--target", prefix / SITE, "--upgrade", "alone==2.0")
        self.assertEqual(len(list((prefix / SITE).glob("alone-*.dist-info"))), 2)
        self.only(prefix, "CE105", severity="warning", says=["alone"], evidence=["1.0", "2.0"])
        self.fixed(prefix, "CE105")
        self.assertEqual([path.name for path in (prefix / SITE).glob("alone-*.dist-info")], ["alone-2.0.dist-info"])
        subprocess.run([prefix / "bin/python", "-c", "import alone.core, alone.v2"], check=True)

    def test_CE105_is_silent_of_one_in_the_environment_and_one_in_the_systems(self):
        prefix = self.home.root / self.name()
        quiet([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", prefix])
        self.pip(prefix, "--ignore-installed", "six==1.16.0")
        self.pip(prefix, "--target", str(prefix / "vendor"), "six==1.17.0")
        self.silent(prefix)

    def test_CE106_left_of_a_killed_uninstall(self):
        prefix = self.venv("alone==1.0")
        for path in ("alone", "alone-1.0.dist-info"):
            os.rename(prefix / SITE / path, prefix / SITE / f"~{path[1:]}")
        self.pip(prefix, "alone==2.0")
        told = self.home.check(prefix)["findings"]
        self.assertEqual({finding["code"] for finding in told}, {"CE106"}, told)
        self.assertEqual({finding["severity"] for finding in told}, {"note"})
        self.assertIn("~lone-1.0.dist-info", json.dumps(told))
        self.fixed(prefix, "CE106")
        self.assertEqual([path.name for path in (prefix / SITE).iterdir() if path.name.startswith("~")], [])
        self.assertTrue((prefix / SITE / "alone/core.py").exists())

    def test_CE106_is_silent_of_tildes_elsewhere(self):
        prefix = self.venv("alone==1.0")
        (prefix / SITE / "alone/~notes.txt").write_text("mine\n")
        (prefix / SITE / "alone/__init__.py~").write_text("backup\n")
        (prefix / "~backup").mkdir()
        (prefix / SITE / "~mine.txt").write_text("a user's own file\n")
        self.silent(prefix)

    def test_CE107_the_record_is_here_and_the_files_are_gone(self):
        prefix = self.conda_env("both ==1.0", "other")
        self.pip(prefix, "--upgrade", "both==2.0")
        self.conda.install(prefix, self.channel, "other")
        self.assertFalse((prefix / SITE / "both/core.py").exists())
        self.only(prefix, "CE107", severity="error", says=["both", "2.0"],
                  files=[f"{SITE}/both/__init__.py", f"{SITE}/both/core.py", f"{SITE}/both/same.py"])
        self.fixed(prefix, "CE107")
        subprocess.run([prefix / "bin/python", "-c", "import both.core, both.v2"], check=True)

    def test_CE107_the_runtime_of_cuda_11_took_away_that_of_12(self):
        prefix = self.venv("nvidia-cuda-runtime-cu12")
        self.pip(prefix, "nvidia-cuda-runtime-cu11")
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "nvidia-cuda-runtime-cu11")
        self.only(prefix, "CE107", severity="error", says=["nvidia-cuda-runtime-cu12"])

    def test_CE107_is_silent_where_conda_took_away_its_own(self):
        prefix = self.conda_env("both ==1.0", "other")
        self.conda.install(prefix, self.channel, "other")
        self.silent(prefix)

    def test_CE108_a_wheel_wrote_over_another_wheel(self):
        prefix = self.venv("writer")
        self.pip(prefix, "rewriter")
        self.only(prefix, "CE108", severity="warning", says=["writer", "rewriter"],
                  files=[f"{SITE}/common/it.py", f"{SITE}/common/also.py"])

    def test_CE108_by_uv_as_well(self):
        prefix = self.home.uv_venv(self.name())
        self.home.uv(prefix, "install", "writer")
        self.home.uv(prefix, "install", "rewriter")
        self.only(prefix, "CE108", severity="warning", says=["rewriter 1.0 overwrote 2 files of writer 1.0"],
                  files=[f"{SITE}/common/it.py", f"{SITE}/common/also.py"])

    def test_CE108_is_silent_of_the_same_content(self):
        prefix = self.venv("writer", "agreeing")
        self.silent(prefix)

    def test_CE109_code_was_changed_by_hand(self):
        prefix = self.venv("alone==1.0")
        path = prefix / SITE / "alone/core.py"
        path.write_text(path.read_text() + "print('debugging')\n")
        self.only(prefix, "CE109", severity="note", says=["alone"], files=[f"{SITE}/alone/core.py"])

    def test_CE109_is_silent_of_files_that_no_record_has(self):
        prefix = self.venv("alone==1.0")
        (prefix / SITE / "alone/local_settings.py").write_text("mine = 1\n")
        (prefix / SITE / "sitecustomize.py").write_text("mine = 1\n")
        path = prefix / SITE / "alone/core.py"
        path.write_text(path.read_text())  # the same again
        self.silent(prefix)

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

    def test_CE112_is_silent_where_there_is_one_for_this_python_beside_it(self):
        made = library("", 'extern "C" void* PyInit__x() { return 0; }')
        self.home.wheel("severalpythons", "1.0", {
            "severalpythons/__init__.py": "", f"severalpythons/_x.{SUFFIX}": made,
            "severalpythons/_x.cpython-39-x86_64-linux-gnu.so": made, "severalpythons/_z.abi3.so": made,
            "severalpythons/data/_w.cpython-39-x86_64-linux-gnu.so.txt": "x\n"}, tag=PLATFORM)
        self.silent(self.venv("severalpythons"))

    def developed(self, after, editable=True):
        """`setup.py develop` of 1.0, then an install of the same directory by another build backend, which leaves the
        egg-info there as it was."""
        directory = self.home.root / self.name("source-developed")
        files = {"__editable__.developed.pth": f"{directory}\n"} if editable else {"developed.py": module(after)}
        wheel = make_wheel(self.home.root / "built", "developed", after, files)
        source = self.built("developed", wheel)
        self.assertEqual(source, directory)
        with (source / "backend.py").open("a") as backend:
            backend.write("build_editable = build_wheel\n")
        (source / "setup.py").write_text("from setuptools import setup\n"
                                         "setup(name='developed', version='1.0', py_modules=['developed'])\n")
        (source / "developed.py").write_text(module("1.0"))
        (source / "pyproject.toml").rename(source / "kept.toml")
        prefix = self.venv("setuptools", "wheel")
        quiet([prefix / "bin/python", "setup.py", "--quiet", "develop", "--no-deps"], cwd=source,
              env=self.home.environment)
        (source / "kept.toml").rename(source / "pyproject.toml")
        self.pip(prefix, "--no-build-isolation", "--ignore-installed", *(["--editable"] if editable else []), str(source))
        self.assertTrue((source / "developed.egg-info").exists())
        self.assertTrue((prefix / SITE / "developed.egg-link").exists())
        return prefix

    def test_CE114_an_egg_info_of_another_version_beside_the_source(self):
        self.only(self.developed("2.0"), "CE114", severity="note", says=["developed", "2.0", "1.0"])

    def test_CE114_of_what_was_installed_from_there(self):
        self.only(self.developed("2.0", editable=False), "CE114", severity="note", says=["developed", "2.0", "1.0"])

    def test_CE114_is_silent_where_both_are_of_one_version(self):
        self.silent(self.developed("1.0"))

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
        self.home.wheel("torchvision", "0.23.0", torchvision_plain("0.23.0", "2.8.0", None), ["torch==2.8.0"], PLATFORM)
        prefix = self.torch_env("--no-index", str(self.home.root / f"wheels/torchvision-0.23.0-{PLATFORM}.whl"))
        self.silent(prefix)

    def test_CE122_torch_without_cuda_and_a_partner_with(self):
        prefix = self.venv("torch==2.8.0+cpu", "torchaudio==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        told = self.home.check(prefix)["findings"]
        self.assertIn("CE122", [finding["code"] for finding in told], told)
        self.assertEqual({finding["severity"] for finding in told if finding["code"] == "CE122"}, {"warning"})

    def test_CE122_is_silent_where_nobody_asks_for_cuda(self):
        self.silent(self.venv("torch==2.8.0+cpu", "torchvision==0.23.0+cpu", "torchaudio==2.8.0+cpu"))

    # CUDA's libraries

    def test_CE130_two_runtimes_of_which_one_wrote_over_the_other(self):
        prefix = self.venv("nvidia-cuda-runtime-cu11")
        self.pip(prefix, "nvidia-cuda-runtime-cu12")
        told = self.home.check(prefix)["findings"]
        self.assertEqual([finding["code"] for finding in told], ["CE130"], json.dumps(told, indent=1))
        self.assertEqual({finding["severity"] for finding in told}, {"warning"})
        self.assertIn(60, [len(finding["files"]) for finding in told])

    def test_CE130_by_conda_and_by_pip_apart_is_a_note(self):
        prefix = self.conda_env("cuda-cudart", "other")
        self.pip(prefix, "nvidia-cuda-runtime-cu12")
        self.only(prefix, "CE130", severity="note")

    def test_CE130_is_silent_of_one_runtime_and_its_neighbours(self):
        self.silent(self.venv("nvidia-cuda-runtime-cu12", "nvidia-cuda-cupti-cu12", "nvidia-nvtx-cu12"))

    def test_CE131_two_cudnns_in_one_directory(self):
        prefix = self.venv("nvidia-cudnn-cu11")
        self.pip(prefix, "nvidia-cudnn-cu12")
        told = self.home.check(prefix)["findings"]
        self.assertEqual([finding["code"] for finding in told], ["CE131"], json.dumps(told, indent=1))

    def test_CE131_of_conda_and_of_pip(self):
        prefix = self.conda_env("cudnn", "other")
        self.pip(prefix, "nvidia-cudnn-cu12")
        self.only(prefix, "CE131", severity="warning", evidence=["9.8.0", "9.12.0"])

    def test_CE131_is_silent_of_one(self):
        self.silent(self.venv("nvidia-cudnn-cu12"))

    def test_CE132_two_ncclss_of_which_one_wrote_over_the_other(self):
        prefix = self.venv("nvidia-nccl-cu12")
        self.pip(prefix, "nvidia-nccl-cu13")
        told = {finding["code"]: finding for finding in self.home.check(prefix)["findings"]}
        self.assertEqual(set(told), {"CE132"}, json.dumps(told, indent=1))
        self.assertEqual(told["CE132"]["severity"], "warning")
        for version in ("2.27.3", "2.27.7"):
            self.assertIn(version, json.dumps(told["CE132"]))

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

    def machine_without_nvcc(self):
        """Facts of this machine, as one that has no toolkit."""
        file = self.home.root / "no-toolkit.json"
        ran = self.home.run("host", "--export", file)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        told = json.loads(file.read_text())
        told["toolkits"] = []
        file.write_text(json.dumps(told))
        return "--host", file

    def test_CE150_what_has_to_be_built_and_no_nvcc(self):
        self.home.wheel("my-model", "1.0", {"my_model.py": ""}, ["flash-attn>=2"])
        finding = self.only(self.torch_env("my-model"), "CE150", *self.machine_without_nvcc(), severity="warning",
                            says=["my-model", "flash-attn"])
        self.assertIn("12.8", json.dumps(finding["fix"]))

    def test_CE150_is_silent_of_an_extra_of_what_is_here_and_where_there_is_an_nvcc(self):
        self.home.wheel("extra-model", "1.0", {"extra_model.py": ""}, ['flash-attn>=2; extra == "fast"'])
        self.home.wheel("whole-model", "1.0", {"whole_model.py": ""}, ["flash-attn>=2"])
        self.home.wheel("flash-attn", "2.8.0", {"flash_attn/__init__.py": ""})
        self.silent(self.torch_env("extra-model", text="extra"), *self.machine_without_nvcc())
        self.silent(self.torch_env("whole-model", "flash-attn", text="whole"), *self.machine_without_nvcc())

    # The command

    def test_codes_named_ignored_and_failed_on(self):
        prefix = self.venv("alone==1.0", "writer")
        self.pip(prefix, "rewriter")
        path = prefix / SITE / "alone/core.py"
        path.write_text("changed = 1\n")
        codes = lambda *words, **more: [finding["code"] for finding in  # noqa: E731
                                        self.home.check(prefix, *words, **more)["findings"]]
        self.assertEqual(sorted(codes(status=0)), ["CE108", "CE109"])
        self.assertEqual(codes("CE109", status=0), ["CE109"])
        self.assertEqual(codes("--ignore", "CE109", "--fail-on", "warning", status=1), ["CE108"])
        self.assertEqual(codes("--ignore", "CE108", "--fail-on", "warning", status=0), ["CE109"])
        self.assertEqual(codes("--ignore", "CE108", "--fail-on", "note", status=1), ["CE109"])
        self.assertEqual(codes("--ignore", "CE108", "--ignore", "CE109", "--fail-on", "note", status=0), [])

    def test_a_package_of_as_many_files_as_torch_has(self):
        self.home.wheel("hugepackage", "1.0", {"hugepackage.py": module("x = 1")})
        prefix = self.venv("hugepackage")
        # 15,000 that were laid down and taken away again take this file system a minute.
        path = "hugepackage/include/ATen/native/transformers/of/many/directories/header_number_{}_of_all.h"
        with (prefix / SITE / "hugepackage-1.0.dist-info/RECORD").open("a") as record:
            record.write("".join(f"{path.format(number)},sha256={'A' * 43},10\n" for number in range(15_000)))
        finding = self.only(prefix, "CE107", severity="error")
        self.assertGreaterEqual(len(finding["files"]), 1)
        self.assertEqual(self.home.run("check", "-p", prefix).returncode, 1)

    def test_every_line_for_people_fits_a_terminal(self):
        prefix = self.conda_env("both ==1.0", "other")
        self.pip(prefix, "--upgrade", "both==2.0")
        ran = self.home.run("check", "-p", prefix)
        self.assertEqual(ran.stderr, b"")
        for line in ran.stdout.decode().splitlines():
            if str(prefix) not in line:
                self.assertLessEqual(len(line), 100, line)


def torchvision_plain(version, torch, cuda):
    return {**torchvision_files(version, cuda),
            "torchvision/_C.so": extension("_C", "in_" + torch.replace(".", "_"), cuda)}


if __name__ == "__main__":
    run_tests(sys.argv)
