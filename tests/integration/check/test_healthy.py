#!/usr/bin/env python3
"""Healthy environments of many makes, by real pip, uv, virtualenv and py-rattler: `cudaenv check` finds nothing in any.

usage: test_healthy.py --cudaenv FILE --cudaenvd FILE
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from envs import SITE, VERSION, Conda, HomeTest, conda_python_package, quiet, run_tests, tools
from torchlike import (PLATFORM, SUFFIX, cudnn_files, extension, library, make_family, nccl_files,
                       torch_files, torchvision_files)

PLACEHOLDER = "/opt/placehold_placehold_placehold_placehold_placehold_placehold_placehold_placehold_placehold"
PYC = f".cpython-{VERSION.replace('.', '')}.pyc"


def plain_module(text="x = 1\n"):
    return text * 20


def source_tree(root, name, version="1.0", legacy=False):
    (root / name).mkdir(parents=True)
    (root / name / "__init__.py").write_text(plain_module())
    if legacy:
        (root / "setup.py").write_text(f"from setuptools import setup\nsetup(name={name!r}, version={version!r},"
                                       f" packages=[{name!r}])\n")
    else:
        (root / "pyproject.toml").write_text(
            f'[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
            f'[project]\nname = "{name}"\nversion = "{version}"\n[tool.setuptools]\npackages = ["{name}"]\n')
    return root


def conda_packages():
    library_text = "\0ELF of conda" * 100
    norecord = conda_python_package("norecord", "1.0", {"norecord/__init__.py": plain_module()})
    norecord["files"] = {path: text for path, text in norecord["files"].items()
                         if not path.endswith(("/RECORD", "/INSTALLER", "/REQUESTED"))}
    noinstaller = conda_python_package("noinstaller", "1.0", {"noinstaller/__init__.py": plain_module()})
    noinstaller["files"] = {path: text for path, text in noinstaller["files"].items()
                            if not path.endswith("/INSTALLER")}
    noarch = conda_python_package("noarched", "1.0", {"noarched/__init__.py": plain_module(),
                                                      "noarched/sub/__init__.py": plain_module()}, ["python"])
    noarch.update(noarch=True, files={path.replace(f"{SITE}/", "site-packages/"): text
                                      for path, text in noarch["files"].items()})
    relinked = conda_python_package("relinked", "1.0", {"relinked/__init__.py": plain_module(),
                                                        "relinked/_c.abi3.so": library_text})
    relinked.update(placeholder=PLACEHOLDER)
    relinked["files"].update({
        "bin/relinked": f"#!{PLACEHOLDER}/bin/python\nprint()\n",
        "etc/relinked.conf": f"prefix = {PLACEHOLDER}\n",
        "lib/librelinked.so.1.2": f"\0ELF {PLACEHOLDER}/share\0 rest\0" * 4,
        "lib/librelinked.so.1": {"link": "librelinked.so.1.2"}, "lib/librelinked.so": {"link": "librelinked.so.1.2"}})
    egg = {"name": "egged", "version": "1.0", "build": "0", "files": {
        f"{SITE}/egged/__init__.py": plain_module(),
        f"{SITE}/egged-1.0-py{VERSION}.egg-info/PKG-INFO": "Metadata-Version: 1.0\nName: egged\nVersion: 1.0\n",
        f"{SITE}/egged-1.0-py{VERSION}.egg-info/SOURCES.txt": "setup.py\n",
        f"{SITE}/egged-1.0-py{VERSION}.egg-info/top_level.txt": "egged\n"}}
    scripted = conda_python_package("scripted", "1.0", {"scripted/__init__.py": plain_module()})
    scripted["files"].update({
        "bin/scripted": f"#!{PLACEHOLDER}/bin/python\nprint()\n", "etc/scripted/config.ini": "a = 1\n",
        "share/scripted/cache.db": "empty\n", "share/glib-2.0/schemas/gschemas.compiled": "compiled\n",
        "share/info/dir": "index\n", "etc/fonts/fonts.conf": "<x/>\n", "var/cache/scripted/x": "x\n",
        "share/jupyter/kernels/python3/kernel.json": '{"argv": []}\n',
        "ssl/cacert.pem": "certificates\n"})
    python = {"name": "python", "version": f"{VERSION}.7", "build": "0", "files": {
        f"lib/python{VERSION}/cudaenv_test.py": "x = 1\n", "lib/libpython-like.so": library_text}}
    return [
        conda_python_package("byconda", "1.0", {"byconda/__init__.py": plain_module()}),
        conda_python_package("byconda", "2.0", {"byconda/__init__.py": plain_module("y = 2\n")}),
        conda_python_package("pipped", "1.0", {"pipped/__init__.py": plain_module()}, installer="pip\n"),
        conda_python_package("condatwo", "1.0", {"shared_ns/two/__init__.py": plain_module()}),
        conda_python_package("condaone", "1.0", {"shared_ns/one/__init__.py": plain_module()}),
        conda_python_package("numpylike", "1.26.4", {
            "numpylike/__init__.py": plain_module(), f"numpylike/core/_multiarray.{SUFFIX}": library_text}),
        norecord, noinstaller, noarch, relinked, egg, scripted, python,
        {"name": "cuda-cudart", "version": "12.8.90", "build": "0", "depends": [], "files": {
            "lib/libcudart.so.12.8.90": "\0ELF cudart 12.8.90" * 20,
            "lib/libcudart.so.12": {"link": "libcudart.so.12.8.90"}}},
        {"name": "ncurses", "version": "6.5", "build": "0", "files": {
            "lib/libncurses.so.6.5": library_text, "lib/libncurses.so.6": {"link": "libncurses.so.6.5"},
            "share/terminfo/x/xterm": "terminfo\n", "lib/terminfo/x/xterm": {"link": "../../../share/terminfo/x/xterm"},
            "lib/terminfo/dangling": {"link": "../nowhere"}}}]


class Healthy(HomeTest):
    @classmethod
    def make_wheels(cls, home):
        for version in ("1.0", "2.0"):
            home.wheel("plain", version, {
                "plain/__init__.py": plain_module(f"v = {version}\n"), f"plain/only_{version[0]}.py": plain_module(),
                "plain/sub/__init__.py": "",
                f"plain-{version}.dist-info/entry_points.txt": "[console_scripts]\nplain = plain:main\n",
                f"plain-{version}.data/data/share/plain/data.txt": f"data {version}\n" * 10,
                f"plain-{version}.data/data/etc/jupyter/plain.json": "{}\n",
                f"plain-{version}.data/headers/plain.h": f"#define V {version}\n" * 10,
                f"plain-{version}.data/scripts/plain-script": "#!python\nprint()\n"})
        home.wheel("nsone", "1.0", {"shared_ns/one/__init__.py": plain_module()})
        home.wheel("nstwo", "1.0", {"shared_ns/two/__init__.py": plain_module()})
        declared = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
        home.wheel("oldone", "1.0", {"old_ns/__init__.py": declared, "old_ns/one.py": plain_module()})
        home.wheel("oldtwo", "1.0", {"old_ns/__init__.py": declared, "old_ns/two.py": plain_module()})

    @classmethod
    def conda_packages(cls):
        return conda_packages()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.setuptools = cls.home.venv("with-setuptools")
        cls.home.uv(cls.setuptools, "install", "setuptools", "wheel")

    def healthy(self, prefix, *words):
        report = self.home.check(prefix, *words)
        self.assertEqual(report["findings"], [], json.dumps(report["findings"], indent=1))
        return report

    def plain(self, *more):
        """A venv with a few packages by pip."""
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "plain", "six", "markupsafe", *more)
        return prefix

    def conda_env(self, *specs):
        prefix = self.home.conda_env(self.name())
        self.conda.install(prefix, self.channel, *specs)
        return prefix

    # venv and pip

    def test_an_empty_venv_and_one_with_pip_in_it(self):
        self.healthy(self.venv())
        self.healthy(self.home.venv(self.name("pip"), pip=True))

    def test_a_venv_with_packages_by_pip(self):
        prefix = self.plain()
        subprocess.run([prefix / "bin/python", "-c", "import plain, six, markupsafe"], check=True)
        self.healthy(prefix)
        with self.subTest("the compiled Python is gone"):
            for cache in list(prefix.rglob("__pycache__")):
                shutil.rmtree(cache)
            self.healthy(prefix)
        with self.subTest("and made for another Python"):
            cache = prefix / SITE / "plain/__pycache__"
            cache.mkdir()
            (cache / "__init__.cpython-312.pyc").write_bytes(b"other")
            self.healthy(prefix)

    def test_upgrade_reinstall_downgrade_and_the_same_twice(self):
        prefix = self.venv()
        for words in (["plain==1.0"], ["plain==1.0"], ["--upgrade", "plain"], ["--force-reinstall", "plain"],
                      ["plain==1.0"], ["--ignore-installed", "plain==1.0"]):
            self.home.pip(prefix, "install", "--quiet", "--no-deps", *words)
            with self.subTest(words=words):
                self.healthy(prefix)

    def test_pip_upgrades_itself(self):
        prefix = self.venv()
        self.home.uv(prefix, "install", "pip==24.3.1")
        self.healthy(prefix)
        quiet([prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--find-links",
               self.home.root / "wheels", "--upgrade", "pip"], env=self.home.environment)
        self.assertIn("pip-25.3.dist-info", os.listdir(prefix / SITE))
        self.healthy(prefix)

    def test_an_uninstall_leaves_nothing_behind(self):
        prefix = self.plain()
        (prefix / SITE / "plain/own_notes.txt").write_text("mine\n")  # pip leaves it
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "plain", "six")
        self.healthy(prefix)

    def test_a_target_directory_used_as_a_site(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--target", prefix / SITE, "nsone", "six")
        self.healthy(prefix)
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--target", prefix / "vendored", "six==1.16.0")
        self.healthy(prefix)

    def test_a_target_directory_for_a_wheel_with_scripts_and_data(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--target", prefix / SITE, "plain")
        self.healthy(prefix)

    def test_packages_of_the_user_beside_an_environment(self):
        prefix = self.plain()
        base = self.home.root / "userbase"
        quiet([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--user", "--ignore-installed",
               "--no-index", "--find-links", self.home.root / "wheels", "six==1.16.0", "plain==1.0"],
              env={**self.home.environment, "PYTHONUSERBASE": str(base)})
        self.healthy(prefix)
        report = self.home.run("check", "-p", prefix, "--json", env={"PYTHONUSERBASE": str(base)})
        self.assertEqual(json.loads(report.stdout)["findings"], [])

    def test_an_environment_that_sees_the_systems_packages(self):
        prefix = self.home.root / self.name()
        quiet([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", prefix])
        self.home.uv(prefix, "install", "six==1.16.0", "plain")
        self.healthy(prefix)

    def test_source_built_packages_by_pip(self):
        source = source_tree(self.home.root / "built-source", "builtone")
        prefix = self.venv()
        self.home.uv(prefix, "install", "setuptools", "wheel")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--no-build-isolation", source)
        self.healthy(prefix)
        with self.subTest("twice, of a newer version"):
            pyproject = source / "pyproject.toml"
            pyproject.write_text(pyproject.read_text().replace('"1.0"', '"1.1"'))
            self.home.pip(prefix, "install", "--quiet", "--no-deps", "--no-build-isolation", source)
            self.assertIn("builtone-1.1.dist-info", os.listdir(prefix / SITE))
            self.healthy(prefix)

    def test_a_pure_package_built_here_and_then_taken_from_the_index(self):
        self.home.wheel("purebuilt", "2.0", {"purebuilt/__init__.py": plain_module()})
        source = source_tree(self.home.root / "pure-source", "purebuilt")
        prefix = self.venv()
        self.home.uv(prefix, "install", "setuptools", "wheel")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--no-build-isolation", source)
        self.healthy(prefix)
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--upgrade", "purebuilt")
        self.assertIn("purebuilt-2.0.dist-info", os.listdir(prefix / SITE))
        self.healthy(prefix)

    def test_a_local_wheel_upgraded_from_the_index(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", self.home.root / "wheels/plain-1.0-py3-none-any.whl")
        self.assertTrue((prefix / SITE / "plain-1.0.dist-info/direct_url.json").exists())
        self.healthy(prefix)
        self.home.pip(prefix, "install", "--quiet", "--upgrade", "plain")
        self.healthy(prefix)

    def test_a_build_from_a_source_that_was_editable_before(self):
        source = source_tree(self.home.root / "edit-then-build", "editbuild")
        for maker in ("pip", "uv"):
            with self.subTest(maker=maker):
                prefix = self.home.venv(self.name(maker))
                self.home.uv(prefix, "install", "setuptools", "wheel")
                for words in (["--editable", source], [source], ["--editable", source]):
                    if maker == "pip":
                        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--no-build-isolation", *words)
                    else:
                        self.home.uv(prefix, "install", "--no-build-isolation", "--reinstall-package", "editbuild", *words)
                    self.healthy(prefix)

    def test_data_and_tests_of_packages_that_were_changed_or_thinned_out(self):
        self.home.wheel("withdata", "1.0", {
            "withdata/__init__.py": plain_module(), "withdata/cacert.pem": "certificates\n" * 9,
            "withdata/conf.json": "{}\n", "withdata/page.html": "<a>\n" * 9, "withdata/tests/__init__.py": "",
            "withdata/tests/test_it.py": plain_module(), "withdata/stubs.pyi": "x: int\n" * 9})
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "withdata")
        for file in ("cacert.pem", "conf.json", "page.html"):
            (prefix / SITE / "withdata" / file).write_text("of the company\n")
        self.healthy(prefix)
        shutil.rmtree(prefix / SITE / "withdata/tests")
        (prefix / SITE / "withdata/stubs.pyi").unlink()
        self.healthy(prefix)

    def test_installers_of_other_names_and_none(self):
        prefix = self.plain()
        for name, text in (("six-1.17.0", "poetry 1.8.2"), ("plain-2.0", "pdm\n"), ("markupsafe-3.0.2", None)):
            info = next(path for path in (prefix / SITE).iterdir() if path.name.lower() == f"{name}.dist-info")
            (info / "INSTALLER").write_text(text) if text else (info / "INSTALLER").unlink()
        self.healthy(prefix)

    # uv and virtualenv

    def test_uv_in_each_link_mode(self):
        for mode in ("copy", "hardlink", "symlink", "clone"):
            with self.subTest(mode=mode):
                prefix = self.home.uv_venv(self.name(mode))
                self.home.uv(prefix, "install", "--link-mode", mode, "plain==1.0", "six", "zope.interface", "zope.event",
                             "setuptools")
                self.healthy(prefix)
                self.home.uv(prefix, "install", "--link-mode", mode, "--upgrade", "plain", "pip")
                self.healthy(prefix)

    def test_two_environments_on_one_cache_of_uv(self):
        first, second = self.home.uv_venv(self.name("one")), self.home.uv_venv(self.name("two"))
        for prefix in (first, second):
            self.home.uv(prefix, "install", "--link-mode", "hardlink", "plain==1.0")
        self.home.uv(first, "uninstall", "plain")
        self.healthy(first)
        self.healthy(second)

    def test_a_cache_of_uv_that_moved(self):
        prefix = self.home.uv_venv(self.name())
        cache = self.home.root / "uv-moving"
        quiet([tools() / "uv", "pip", "install", "--quiet", "--cache-dir", cache, "--link-mode", "hardlink", "--no-index",
               "--find-links", self.home.root / "wheels", "--python", prefix / "bin/python", "plain", "six"],
              env=self.home.environment)
        os.rename(cache, self.home.root / "uv-moved")
        self.healthy(prefix)

    def test_uv_and_pip_in_turns(self):
        prefix = self.home.uv_venv(self.name())
        self.home.uv(prefix, "install", "plain==1.0", "six==1.16.0")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--upgrade", "plain")
        self.home.uv(prefix, "install", "--upgrade", "six")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", "six")
        self.home.uv(prefix, "install", "--reinstall", "plain")
        self.healthy(prefix)

    def test_virtualenv_with_what_it_seeds(self):
        home = self.home
        maker = home.uv_venv(self.name("maker"))
        home.uv(maker, "install", "virtualenv")
        self.healthy(maker)
        for seeder in ("app-data", "pip"):
            prefix = home.root / self.name(seeder)
            quiet([maker / "bin/python", "-m", "virtualenv", "--quiet", "--no-download", "--seeder", seeder, prefix],
                  env={**home.environment, "VIRTUALENV_OVERRIDE_APP_DATA": str(home.root / "app-data")})
            with self.subTest(seeder=seeder):
                home.pip(prefix, "install", "--quiet", "--no-deps", "plain")
                self.healthy(prefix)

    # editable ones

    def test_an_editable_package_by_pip_twice(self):
        source = source_tree(self.home.root / "editable-source", "editone")
        prefix = self.venv()
        self.home.uv(prefix, "install", "setuptools", "wheel")
        for _ in range(2):
            self.home.pip(prefix, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", source)
            self.assertTrue(list((prefix / SITE).glob("__editable__*")))
            self.healthy(prefix)
        (source / "editone/more.py").write_text(plain_module())
        (source / "editone/__init__.py").write_text("changed = 1\n")
        self.healthy(prefix)
        with self.subTest("and then as a wheel, as its user wants it"):
            self.home.pip(prefix, "uninstall", "--quiet", "--yes", "editone")
            self.healthy(prefix)

    def test_an_editable_package_by_uv(self):
        source = source_tree(self.home.root / "editable-by-uv", "edituv")
        prefix = self.home.uv_venv(self.name())
        self.home.uv(prefix, "install", "setuptools", "wheel")
        self.home.uv(prefix, "install", "--no-build-isolation", "--editable", source)
        self.healthy(prefix)

    def test_setup_py_develop_once_and_twice(self):
        source = source_tree(self.home.root / "develop-source", "devone", legacy=True)
        prefix = self.venv()
        self.home.uv(prefix, "install", "setuptools", "wheel")
        for _ in range(2):
            quiet([prefix / "bin/python", "setup.py", "--quiet", "develop", "--no-deps"], cwd=source,
                  env=self.home.environment)
            self.assertTrue(list((prefix / SITE).glob("*egg-link")))
            self.healthy(prefix)

    def test_setup_py_install_lays_an_egg_or_an_egg_info(self):
        source = source_tree(self.home.root / "legacy-source", "legacyone", legacy=True)
        prefix = self.venv()
        self.home.uv(prefix, "install", "setuptools", "wheel")
        quiet([prefix / "bin/python", "setup.py", "--quiet", "install", "--single-version-externally-managed",
               "--root", "/"], cwd=source, env=self.home.environment)
        self.assertTrue(list((prefix / SITE).glob("legacyone*egg-info")))
        self.healthy(prefix)
        other = source_tree(self.home.root / "legacy-source-2", "legacytwo", legacy=True)
        quiet([prefix / "bin/python", "setup.py", "--quiet", "install"], cwd=other, env=self.home.environment)
        self.assertTrue(list((prefix / SITE).glob("legacytwo*egg")))
        self.healthy(prefix)

    def test_a_package_replaced_by_a_link_to_a_checkout(self):
        prefix = self.plain()
        checkout = self.home.root / "checkout/plain"
        checkout.mkdir(parents=True)
        (checkout / "__init__.py").write_text("debugged = 1\n")
        shutil.move(prefix / SITE / "plain", prefix / SITE / "plain.orig")
        (prefix / SITE / "plain").symlink_to(checkout)
        self.healthy(prefix)
        with self.subTest("a file of a package"):
            module = prefix / SITE / "six.py"
            module.unlink()
            (checkout / "six.py").write_text("mine = 1\n")
            module.symlink_to(checkout / "six.py")
            self.healthy(prefix)

    # namespaces and shared files

    def test_namespace_packages_of_two_distributions(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "nsone", "nstwo", "oldone", "oldtwo", "zope.interface",
                      "zope.event")
        self.healthy(prefix)
        with self.subTest("one of them goes"):
            self.home.pip(prefix, "uninstall", "--quiet", "--yes", "nsone", "zope.event")
            self.healthy(prefix)

    def test_a_namespace_whose_declaration_went_with_one_of_two(self):
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "oldone", "oldtwo")
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "oldone")
        self.assertFalse((prefix / SITE / "old_ns/__init__.py").exists())
        self.healthy(prefix)

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

    def test_documents_and_tests_that_two_wheels_write_to_one_place(self):
        for name in ("docone", "doctwo"):
            self.home.wheel(name, "1.0", {f"{name}.py": plain_module(), "tests/__init__.py": f"# {name}\n",
                                          "tests/test_it.py": f"# tests of {name}\n" * 9, "README.md": f"{name}\n",
                                          "LICENSE": f"of {name}\n", "docs/conf.py": f"# {name}\n"})
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "docone", "doctwo")
        self.healthy(prefix)

    # names and places

    def test_names_with_spaces_letters_of_all_kinds_and_line_ends(self):
        files = {
            "oddnames/__init__.py": plain_module(), "oddnames/with space.txt": "a\n", "oddnames/größe.txt": "b\n",
            "oddnames/数.txt": "c\n", "oddnames/comma,quote\".txt": "d\n", "oddnames/" + "long" * 50 + ".txt": "f\n"}
        for maker in ("uv", "pip"):
            if maker == "pip":  # uv refuses such a name
                files["oddnames/line\nend.txt"] = "e\n"
            self.home.wheel("oddnames", "1.0", files)
            with self.subTest(maker=maker):
                prefix = self.home.venv(self.name(f"an envi ronment, größe 数 \"{maker}\""))
                if maker == "pip":
                    self.home.pip(prefix, "install", "--quiet", "oddnames")
                else:
                    self.home.uv(prefix, "install", "oddnames")
                self.healthy(prefix)

    def test_a_copy_of_the_whole_environment(self):
        prefix = self.plain("oldone", "oldtwo")
        for words in (["-a"], ["-r"]):
            copy = self.home.root / self.name("copy" + words[0])
            quiet(["cp", *words, prefix, copy])
            self.healthy(copy)
        moved = self.home.root / self.name("moved")
        os.rename(prefix, moved)
        self.healthy(moved)

    def test_a_copy_of_a_conda_environment(self):
        prefix = self.conda_env("byconda", "relinked", "noarched", "ncurses")
        copy = self.home.root / self.name("copy")
        quiet(["cp", "-a", prefix, copy])
        self.healthy(copy)
        tarred = self.home.root / self.name("tarred")
        tarred.mkdir()
        quiet(["sh", "-c", 'tar -C "$1" -cf - . | tar -C "$2" -xf -', "sh", prefix, tarred])
        self.healthy(tarred)

    def test_an_environment_reached_through_a_link(self):
        prefix = self.plain()
        link = self.home.root / self.name("link")
        link.symlink_to(prefix)
        self.healthy(link)
        with self.subTest("site-packages is one"):
            elsewhere = self.home.root / self.name("elsewhere")
            shutil.move(prefix / SITE, elsewhere)
            (prefix / SITE).symlink_to(elsewhere)
            self.healthy(prefix)

    def test_an_environment_of_another_user(self):
        if os.getuid() != 0:
            self.skipTest("files can be given to another user by root alone")
        prefix = self.plain()
        quiet(["chown", "-R", "65534:65534", prefix])
        self.healthy(prefix)

    def test_an_environment_that_may_only_be_read(self):
        prefix = self.plain()
        quiet(["chmod", "-R", "a-w", prefix])
        self.addCleanup(quiet, ["chmod", "-R", "u+w", prefix])
        self.healthy(prefix)

    def test_file_times_that_were_set(self):
        prefix = self.plain()
        for root, _, files in os.walk(prefix / SITE):
            for file in files:
                os.utime(os.path.join(root, file), (315532800, 315532800), follow_symlinks=False)
        self.healthy(prefix)

    # compiled modules

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

    def test_scripts_whose_first_line_was_rewritten(self):
        prefix = self.plain()
        for script in (prefix / "bin/plain", prefix / "bin/plain-script"):
            text = script.read_text()
            script.write_text("#!/usr/bin/env python\n" + text.partition("\n")[2])
        self.healthy(prefix)

    # torch and its family

    def torch_wheels(self, torch="2.8.0", cuda="12.8"):
        home = self.home
        wanted = make_family(home, torch, cuda)
        if cuda:
            major = cuda.split(".")[0]
            home.wheel(f"nvidia-cudnn-cu{major}", "9.10.2.21", cudnn_files("9.10.2.21"), tag="py3-none-linux_x86_64")
            home.wheel(f"nvidia-nccl-cu{major}", "2.27.3", nccl_files("2.27.3", cuda), tag="py3-none-linux_x86_64")
        home.wheel("typing-extensions", "4.12.2", {"typing_extensions.py": plain_module()})
        return wanted

    def test_torch_with_cuda_its_partners_and_its_wheels(self):
        wanted = self.torch_wheels()
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
        self.home.pip(prefix, "install", "--quiet", *self.torch_wheels(cuda=None))
        self.healthy(prefix)

    def test_an_extension_that_goes_with_torch(self):
        wanted = self.torch_wheels()
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
        older = self.torch_wheels("2.7.1")
        prefix = self.venv()
        self.home.uv(prefix, "install", *older)
        self.healthy(prefix)
        newer = self.torch_wheels()
        self.home.pip(prefix, "install", "--quiet", "--upgrade", *newer)
        self.healthy(prefix)

    # conda

    def test_conda_alone(self):
        prefix = self.conda_env("byconda", "numpylike", "relinked", "egged", "scripted", "ncurses", "python", "noarched")
        self.healthy(prefix)
        with self.subTest("upgraded"):
            self.conda.install(prefix, self.channel, "byconda ==1.0", "relinked")
            self.conda.install(prefix, self.channel, "byconda ==2.0", "relinked", "pipped")
            self.healthy(prefix)

    def test_conda_packages_that_say_pip_or_nothing_of_their_installer(self):
        self.healthy(self.conda_env("pipped", "norecord", "noinstaller"))

    def test_noarch_packages_with_compiled_python_on_record_as_micromamba_makes_them(self):
        prefix = self.conda_env("python", "noarched")
        package = prefix / SITE / "noarched"
        quiet([sys.executable, "-m", "compileall", "-q", package])
        record = next((prefix / "conda-meta").glob("noarched-*.json"))
        report = json.loads(record.read_text())
        for compiled in sorted(package.rglob("*.pyc")):
            path = str(compiled.relative_to(prefix))
            digest = hashlib.sha256(compiled.read_bytes()).hexdigest()
            report["files"].append(path)
            report["paths_data"]["paths"].append({"_path": path, "path_type": "pyc_file", "sha256_in_prefix": digest,
                                                "size_in_bytes": compiled.stat().st_size})
        record.write_text(json.dumps(report))
        self.healthy(prefix)
        for compiled in package.rglob("*.pyc"):
            compiled.unlink()
        quiet([sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", package])
        self.healthy(prefix)

    def test_conda_and_pip_done_right(self):
        wanted = self.torch_wheels()
        prefix = self.conda_env("byconda", "numpylike", "scripted", "python", "noarched")
        self.home.pip(prefix, "install", "--quiet", *wanted, "plain", "six")
        self.healthy(prefix)
        with self.subTest("conda's are upgraded and pip's too"):
            self.conda.install(prefix, self.channel, "byconda ==2.0", "numpylike", "scripted", "python", "noarched",
                               "pipped")
            self.home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", "plain==1.0")
            self.healthy(prefix)
        with self.subTest("and pip's go again"):
            self.home.pip(prefix, "uninstall", "--quiet", "--yes", "plain", "six")
            self.healthy(prefix)

    def test_one_namespace_by_conda_and_by_pip(self):
        prefix = self.conda_env("condaone")
        self.home.pip(prefix, "install", "--quiet", "nstwo")
        self.healthy(prefix)

    def test_configuration_that_scripts_and_users_changed(self):
        prefix = self.conda_env("scripted", "relinked")
        for file in ("etc/scripted/config.ini", "etc/relinked.conf", "share/scripted/cache.db", "share/info/dir",
                     "share/glib-2.0/schemas/gschemas.compiled", "etc/fonts/fonts.conf", "var/cache/scripted/x",
                     "share/jupyter/kernels/python3/kernel.json"):
            with self.subTest(file=file):
                path = prefix / file
                path.unlink()
                path.write_text("by a post-link script\n")
                self.healthy(prefix)

    def test_packages_linked_softly_by_conda(self):
        prefix = self.conda_env("byconda", "numpylike")
        cache = self.home.root / "softcache"
        for name in ("byconda", "numpylike"):
            for record in (prefix / "conda-meta").glob(f"{name}-*.json"):
                report = json.loads(record.read_text())
                for entry in report["paths_data"]["paths"]:
                    file = prefix / entry["_path"]
                    there = cache / record.stem / entry["_path"]
                    there.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(file, there)
                    file.symlink_to(there)
        self.healthy(prefix)

    def test_a_conda_environment_whose_package_cache_is_gone(self):
        prefix = self.home.conda_env(self.name())
        own = Conda(self.home.root / "own-cache")
        (self.home.root / "own-cache").mkdir()
        with own as conda:
            conda.install(prefix, self.channel, "byconda", "relinked", "ncurses")
        shutil.rmtree(self.home.root / "own-cache")
        self.healthy(prefix)

    def test_conda_records_linked_once_more(self):
        prefix = self.conda_env("byconda", "relinked")
        for record in (prefix / "conda-meta").glob("*.json"):
            record.write_text(record.read_text())
            os.utime(record, (time.time() + 0, time.time()))
        self.healthy(prefix)

    def test_odd_files_beside_condas_records(self):
        prefix = self.conda_env("byconda")
        (prefix / "conda-meta/history").unlink()
        self.healthy(prefix)
        for name, text in (("pinned", "byconda ==2.0\n"), ("state", "{}"), (".byconda.json.swp", "x"),
                           ("byconda-2.0-0.json.c~", "{}"), ("notes.txt", "mine\n")):
            (prefix / "conda-meta" / name).write_text(text)
        self.healthy(prefix)

    def test_the_runtime_by_conda_alone(self):
        self.healthy(self.conda_env("cuda-cudart"))

    def test_an_editable_package_in_a_conda_environment(self):
        source = source_tree(self.home.root / "editable-in-conda", "editconda")
        prefix = self.conda_env("byconda")
        self.home.uv(prefix, "install", "setuptools", "wheel")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", source)
        self.healthy(prefix)

    # what others made

    def test_debians_own(self):
        if not Path("/usr/lib/python3/dist-packages").is_dir():
            self.skipTest("there is no Debian's Python")
        self.healthy("/usr")

    def test_the_interpreters_own_prefix(self):
        # Somebody's: of what was done to it nothing is known, but for what installers never explain away.
        report = self.home.check(sys.base_prefix)
        self.assertEqual([finding for finding in report["findings"] if finding["code"] not in ("CE105", "CE106", "CE109")],
                         [])

    def test_the_tests_own_tools(self):
        self.healthy(tools().parent)


if __name__ == "__main__":
    run_tests(sys.argv)
