#!/usr/bin/env python3
"""Healthy environments: by conda, alone and together with pip. `cudaenv check` finds nothing in any.

usage: test_healthy_conda.py --cudaenv FILE --cudaenvd FILE
"""

import hashlib
import json
import os
import shutil
import sys
import time

from envs import SITE, VERSION, Conda, conda_python_package, quiet, run_tests
from healthy import HealthyTest, plain_module, source_tree, torch_wheels
from torchlike import SUFFIX

PLACEHOLDER = "/opt/placehold_placehold_placehold_placehold_placehold_placehold_placehold_placehold_placehold"


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


class CondaEnvironments(HealthyTest):
    @classmethod
    def conda_packages(cls):
        return conda_packages()

    def conda_env(self, *specs):
        prefix = self.home.conda_env(self.name())
        self.conda.install(prefix, self.channel, *specs)
        return prefix

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
        wanted = torch_wheels(self.home)
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

    def test_a_copy_of_a_conda_environment(self):
        prefix = self.conda_env("byconda", "relinked", "noarched", "ncurses")
        copy = self.home.root / self.name("copy")
        quiet(["cp", "-a", prefix, copy])
        self.healthy(copy)
        tarred = self.home.root / self.name("tarred")
        tarred.mkdir()
        quiet(["sh", "-c", 'tar -C "$1" -cf - . | tar -C "$2" -xf -', "sh", prefix, tarred])
        self.healthy(tarred)


if __name__ == "__main__":
    run_tests(sys.argv)
