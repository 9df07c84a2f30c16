#!/usr/bin/env python3
"""Healthy environments: by pip, uv, virtualenv and setuptools, from wheels and from source. `cudaenv check` finds nothing in any.

usage: test_healthy_installers.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import shutil
import subprocess
import sys

from envs import SITE, quiet, run_tests, tools
from healthy import HealthyTest, plain_module, source_tree


class Installers(HealthyTest):
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

    def test_documents_and_tests_that_two_wheels_write_to_one_place(self):
        for name in ("docone", "doctwo"):
            self.home.wheel(name, "1.0", {f"{name}.py": plain_module(), "tests/__init__.py": f"# {name}\n",
                                          "tests/test_it.py": f"# tests of {name}\n" * 9, "README.md": f"{name}\n",
                                          "LICENSE": f"of {name}\n", "docs/conf.py": f"# {name}\n"})
        prefix = self.venv()
        self.home.pip(prefix, "install", "--quiet", "docone", "doctwo")
        self.healthy(prefix)


if __name__ == "__main__":
    run_tests(sys.argv)
