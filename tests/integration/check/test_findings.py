#!/usr/bin/env python3
"""What `cudaenv check` finds of installers that wrote over each other and of records that lie: each finding in an
environment that real installers made so, and a near miss that it is silent of.

usage: test_findings.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import subprocess
import sys
import time

from envs import SITE, conda_python_package, make_wheel, quiet, run_tests
from findings_environments import FindingsTest, many, module
from torchlike import PLATFORM, torch_files


class Findings(FindingsTest):
    @classmethod
    def make_wheels(cls, home):
        for version in ("1.0", "2.0"):
            home.wheel("both", version, many("both", version, "pip"))
            home.wheel("alone", version, many("alone", version, "pip"))
            # The same content as conda's: only the version differs.
            home.wheel("quietly", version, {"quietly.py": module("the same")})
        home.wheel("writer", "1.0", {"writer.py": "", "common/it.py": module("writer"), "common/also.py": module("a")})
        home.wheel("rewriter", "1.0", {"rewriter.py": "", "common/it.py": module("rewriter"),
                                       "common/also.py": module("b")})
        home.wheel("agreeing", "1.0", {"agreeing.py": "", "common/it.py": module("writer")})

    @classmethod
    def conda_packages(cls):
        return [
            *super().conda_packages(),
            *(conda_python_package("both", version, many("both", version, "conda")) for version in ("1.0", "2.0", "3.0")),
            conda_python_package("quietly", "1.0", {"quietly.py": module("the same")})]

    # Who wrote over whom

    def test_CE101_conda_and_pip_both_count_it_as_theirs(self):
        prefix = self.conda_env("quietly", "other")
        self.pip(prefix, "--ignore-installed", "quietly==2.0")
        self.only(prefix, "CE101", severity="warning", says=["quietly"], evidence=["1.0", "2.0"])
        self.fixed(prefix, "CE101")
        self.assertFalse((prefix / SITE / "quietly-2.0.dist-info").exists())
        self.assertTrue((prefix / SITE / "quietly.py").exists())

    def test_CE101_of_what_was_built_here_takes_nothing_away(self):
        prefix = self.conda_env("quietly", "other")
        wheel = make_wheel(self.home.root / "built", "quietly", "2.0+mine", {"quietly.py": module("the same")})
        self.pip(prefix, "--ignore-installed", str(wheel))
        finding = self.only(prefix, "CE101", says=["quietly"], evidence=["1.0", "2.0+mine"])
        self.assertEqual(finding["repairs"], [])

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

    def test_CE104_what_was_built_here_is_now_a_wheels(self):
        build = make_wheel(self.home.root / "built", "torch", "2.9.0a0+git1234567", torch_files("2.9.0a0+git1234567"),
                           [], PLATFORM)
        self.home.wheel("torch", "2.8.0+cpu", torch_files("2.8.0+cpu"), [], PLATFORM)
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
        findings = self.home.check(prefix)["findings"]
        self.assertEqual({finding["code"] for finding in findings}, {"CE106"}, findings)
        self.assertEqual({finding["severity"] for finding in findings}, {"note"})
        self.assertIn("~lone-1.0.dist-info", json.dumps(findings))
        self.fixed(prefix, "CE106")
        self.assertEqual([path.name for path in (prefix / SITE).iterdir() if path.name.startswith("~")], [])
        self.assertTrue((prefix / SITE / "alone/core.py").exists())

    def test_CE106_of_what_was_not_laid_down_again_nothing_is_taken_away(self):
        prefix = self.venv("alone==1.0")
        self.home.uv(prefix, "install", "pip==25.3")
        for path in ("alone", "alone-1.0.dist-info"):
            os.rename(prefix / SITE / path, prefix / SITE / f"~{path[1:]}")
        finding = self.only(prefix, "CE106", severity="warning", says=["alone 1.0"])
        self.assertEqual(finding["repairs"], [])
        quiet(["sh", "-c", finding["fix"]["command"]], env={
            **self.home.environment, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.home.root / "wheels")})
        self.only(prefix, "CE106", severity="note")
        self.fixed(prefix, "CE106")

    def test_CE106_of_a_build_that_a_wheel_was_replacing(self):
        build = make_wheel(self.home.root / "built", "torch", "2.9.0a0+git1234567", torch_files("2.9.0a0+git1234567"),
                           [], PLATFORM)
        prefix = self.venv()
        self.pip(prefix, str(build))
        for path in ("torch", "torch-2.9.0a0+git1234567.dist-info"):
            os.rename(prefix / SITE / path, prefix / SITE / f"~{path[1:]}")
        self.home.wheel("torch", "2.8.0+cpu", torch_files("2.8.0+cpu"), [], PLATFORM)
        self.pip(prefix, "torch==2.8.0+cpu")
        finding = self.only(prefix, "CE106", severity="warning", says=["2.9.0a0+git1234567"])
        self.assertEqual(finding["repairs"], [])

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
        # Writing and removing 15,000 takes this file system a minute.
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


if __name__ == "__main__":
    run_tests(sys.argv)
