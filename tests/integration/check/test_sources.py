#!/usr/bin/env python3
"""Installs whose source is this user's own, made by real setuptools: eggs, what a build/ holds, one source for several
Pythons; and environments that see the packages of the Python they were made with.

usage: test_sources.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from envs import A_TOOLKIT, SITE, HomeTest, quiet, run_tests
from real_wheels import Unavailable, kept, real_wheels, said
from torchlike import CALL, PLATFORM, SUFFIX, extension, library, torch_files, torch_requires, torchvision_files

NEEDS = ("libc10.so", "libtorch.so", "libtorch_cpu.so", "libtorch_python.so")
OLD = "57.5.0"  # the last setuptools but one that knew nothing of pip's ways


def old_setuptools():
    """The directory of its wheel."""
    if sys.version_info >= (3, 12):
        raise Unavailable(f"setuptools {OLD} needs a Python older than 3.12")

    def fill(made):
        made.mkdir()
        said([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
              "--only-binary", ":all:", "--dest", str(made), f"setuptools=={OLD}"])

    return kept(f"setuptools-{OLD}", fill)


def seen_by_python(prefix, *flags):
    """What importlib.metadata of the environment finds: {name: version}."""
    only_finding = quiet([prefix / "bin/python", *flags, "-c",
                  "import importlib.metadata as m, json\n"
                  "print(json.dumps({d.metadata['Name']: d.version for d in m.distributions()}))"])
    return json.loads(only_finding)


class Sources(HomeTest):
    @classmethod
    def make_wheels(cls, home):
        for version in ("2.8.0", "2.7.1"):
            whole = version + "+cu128"
            home.wheel("torch", whole, torch_files(whole, "12.8", "in_" + version.replace(".", "_")),
                           torch_requires("12.8"), PLATFORM)
        home.wheel("torchvision", "0.22.1+cu128", torchvision_files("0.22.1+cu128", "12.8"), ["torch==2.7.1"],
                       PLATFORM)
        home.wheel("flashing", "1.0", {"flashing.py": "x = 1\n"}, ["flash-attn"])
        home.wheel("flash-attn", "2.6.3", {"flash_attn/__init__.py": ""})

    def source(self, name, version="1.0", module=None, needs=(), zip_safe=False, **more):
        """A checkout with a setup.py. `module`: the C++ of an extension NAME._C, which links `needs`."""
        root = self.home.root / self.name("source") / name
        (root / name).mkdir(parents=True)
        (root / name / "__init__.py").write_text(f"version = '{version}'\n")
        words = dict(name=name, version=version, packages=[name], zip_safe=zip_safe, **more)
        text = "from setuptools import Extension, setup\n"
        extensions = ""
        if module is not None:
            (root / "csrc.cpp").write_text(module)
            stubs = self.home.root / "stubs"
            stubs.mkdir(exist_ok=True)
            for stub in needs:
                (stubs / stub).write_bytes(library(stub))
            extensions = (f", ext_modules=[Extension('{name}._C', ['csrc.cpp'], extra_link_args=['-nostdlib', "
                          f"'-Wl,--no-as-needed', *{[str(stubs / stub) for stub in needs]!r}])]")
        (root / "setup.py").write_text(f"{text}setup(**{words!r}{extensions})\n")
        return root

    def setup_py(self, prefix, source, *words):
        quiet([prefix / "bin/python", "setup.py", "--quiet", *words], cwd=source,
              env={**self.home.environment, "PATH": f"{prefix}/bin:/usr/bin:/bin"})

    def findings(self, prefix):
        return self.home.check(prefix, *self.machine(A_TOOLKIT))["findings"]

    def only_finding(self, prefix, *codes):
        """The environment has findings of these codes and no other; the first of the last code."""
        found = self.findings(prefix)
        text = json.dumps(found, indent=1, ensure_ascii=False)
        self.assertEqual(sorted(finding["code"] for finding in found), sorted(codes), text)
        if os.environ.get("SHOW"):
            print(f"\n== {self._testMethodName}\n{self.home.run('check', '-p', prefix).stdout.decode()}")
        return next((finding for finding in found if codes and finding["code"] == codes[-1]), None)

    def silent(self, prefix):
        self.only_finding(prefix)

    def healthy_cases(self, prefix, name):
        self.assertIn(name, {name.replace("_", "-") for name in seen_by_python(prefix)})
        self.silent(prefix)

    # Eggs

    def setuptools(self, prefix, old):
        if old:
            try:
                quiet([sys.executable, "-m", "pip", "--python", prefix / "bin/python", "install", "--quiet",
                       "--no-index", "--find-links", old_setuptools(), "setuptools"], env=self.home.environment)
            except Unavailable as reason:
                self.skipTest(str(reason))
        else:
            self.pip(prefix, "setuptools", "wheel")

    def replaced_egg(self, old, zip_safe, compiled=False):
        """An egg, then a wheel of the same name: what was built here is gone."""
        prefix = self.venv()
        self.setuptools(prefix, old)
        source = self.source("egged", zip_safe=zip_safe,
                             module='extern "C" void* PyInit__C() { return 0; }' if compiled else None)
        self.setup_py(prefix, source, "install")
        eggs = list((prefix / SITE).glob("egged-1.0-py*.egg"))
        self.assertEqual([egg.is_file() for egg in eggs], [zip_safe])
        self.healthy_cases(prefix, "egged")
        self.home.wheel("egged", "2.0", {"egged/__init__.py": "version = '2.0'\n"})
        self.home.pip(prefix, "uninstall", "--quiet", "--yes", "egged")
        self.pip(prefix, "egged==2.0")
        self.assertEqual(list((prefix / SITE).glob("egged-1.0-py*.egg")), [])
        return prefix

    def test_an_egg_with_a_compiled_module_is_known_as_built_here_when_a_wheel_replaced_it(self):
        finding = self.only_finding(self.replaced_egg(old=True, zip_safe=False, compiled=True), "CE104")
        self.assertIn("egged", finding["title"])
        self.assertIn("1.0", json.dumps(finding))

    def test_also_by_a_newer_setuptools(self):
        self.only_finding(self.replaced_egg(old=False, zip_safe=False, compiled=True), "CE104")

    def test_of_a_plain_egg_that_a_wheel_replaced_nothing_is_said(self):
        self.silent(self.replaced_egg(old=True, zip_safe=False))

    def test_nor_of_a_zipped_one(self):
        self.silent(self.replaced_egg(old=True, zip_safe=True))

    def test_an_egg_built_against_another_torch(self):
        prefix = self.venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        self.setuptools(prefix, old=True)
        source = self.source("apexegg", module=CALL % ("in_2_7_1", "_C", "in_2_7_1"), needs=NEEDS)
        self.setup_py(prefix, source, "install")
        egg, = (prefix / SITE).glob("apexegg-1.0-py*-linux-x86_64.egg")
        finding = self.only_finding(prefix, "CE110")
        self.assertIn(str(egg.name), json.dumps(finding["evidence"]))
        easy = prefix / SITE / "easy-install.pth"
        easy.write_text("".join(line for line in easy.read_text().splitlines(True) if "apexegg" not in line))
        self.assertNotIn("apexegg", seen_by_python(prefix))
        self.silent(prefix)  # Python does not see it

    def test_an_egg_for_the_torch_that_is_here_and_what_setuptools_fetched_for_it(self):
        prefix = self.venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        self.setuptools(prefix, old=True)
        source = self.source("apexfits", module=CALL % ("in_2_8_0", "_C", "in_2_8_0"), needs=NEEDS,
                             install_requires=["six"])
        (source / "setup.cfg").write_text(f"[easy_install]\nfind_links = {real_wheels()}\nallow_hosts = none\n"
                                          "index_url = file:///nowhere\n")
        self.setup_py(prefix, source, "install")
        self.assertTrue(list((prefix / SITE).glob("six-*.egg")))
        self.healthy_cases(prefix, "apexfits")
        self.pip(prefix, "six==1.16.0")  # pip removes the egg, which was not built here
        self.silent(prefix)

    def test_an_egg_of_which_an_older_one_is_left_counts_while_python_sees_that(self):
        prefix = self.venv("six==1.16.0")
        self.setuptools(prefix, old=False)
        source = self.source("several")
        for version in ("1.0", "2.0"):
            (source / "setup.py").write_text((source / "setup.py").read_text().replace("'1.0'", f"'{version}'"))
            self.setup_py(prefix, source, "install")
        easy = prefix / SITE / "easy-install.pth"
        self.assertEqual(len(list((prefix / SITE).glob("several-*.egg"))), 2)
        if "several-1.0" in easy.read_text():  # of the older one some releases leave the line
            imported = quiet([prefix / "bin/python", "-c", "import several; print(several.version)"]).strip()
            self.assertEqual(imported, "1.0")
            self.assertIn(f"Python imports {imported}", self.only_finding(prefix, "CE105")["cause"])
            easy.write_text("./several-2.0-py%d.%d.egg\n" % sys.version_info[:2])
        self.assertEqual(seen_by_python(prefix)["several"], "2.0")
        self.silent(prefix)

    # One source for several environments, and what its build/ holds

    def torch_upgraded(self, name, install, *more):
        """A source with an extension for torch 2.7.1, installed by install(prefix, source); then torch 2.8.0."""
        prefix = self.venv("torch==2.7.1+cu128", "nvidia-cuda-runtime-cu12", "setuptools", "wheel", *more)
        source = self.source(name, module=CALL % ("in_2_7_1", "_C", "in_2_7_1"), needs=NEEDS)
        install(prefix, source)
        self.silent(prefix)
        self.pip(prefix, "torch==2.8.0+cu128")
        return prefix, source

    def develop(self, prefix, source):
        self.setup_py(prefix, source, "develop", "--no-deps")

    def pip_of(self, *words):
        return lambda prefix, source: self.pip(prefix, "--no-build-isolation", "--no-cache-dir", *words, str(source))

    def rebuilt(self, prefix, source, install, finding):
        """The stale module stays when it is built again, as the finding says, and goes with its command."""
        module = self.modules(prefix, source)
        before = module.read_bytes()
        install(prefix, source)
        self.assertEqual(self.modules(prefix, source).read_bytes(), before)
        first, _, then = finding["fix"]["command"].partition(" && ")
        self.assertTrue(then, finding)
        quiet(["sh", "-c", first])
        self.assertFalse(list((source / "build").glob("lib.*")))
        self.assertFalse(list((source / "build").glob("temp.*")))
        self.assertNotIn("CE114", self.home.codes(prefix))

    def modules(self, prefix, source):
        found = [path for root in (source / source.name, prefix / SITE / source.name) if root.exists()
                 for path in root.glob("*.so")]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_CE114_a_build_of_setup_py_develop_that_the_next_build_would_take(self):
        prefix, source = self.torch_upgraded("devstale", self.develop)
        finding = self.only_finding(prefix, "CE110", "CE114")
        self.assertEqual(finding["severity"], "warning")
        self.assertEqual(len(finding["files"]), 1)
        self.assertIn("/build/lib.", finding["files"][0])
        self.rebuilt(prefix, source, self.develop, finding)

    def test_CE114_a_build_of_pip_install_that_the_next_build_would_take(self):
        install = self.pip_of("--force-reinstall")
        prefix, source = self.torch_upgraded("pipstale", install)
        finding = self.only_finding(prefix, "CE110", "CE114")
        self.rebuilt(prefix, source, install, finding)

    def test_CE114_is_silent_of_pip_install_editable_which_builds_apart(self):
        prefix, source = self.torch_upgraded("editapart", self.pip_of("--use-pep517", "--editable"))
        self.assertFalse(list((prefix / SITE).glob("*.egg-link")))
        self.setup_py(prefix, source, "build_ext")
        self.assertTrue(list((source / "build").glob("lib.*/editapart/*.so")))
        self.only_finding(prefix, "CE110")

    def test_CE114_is_silent_where_a_source_is_newer_and_where_it_was_built_again(self):
        prefix, source = self.torch_upgraded("devnewer", self.develop)
        (source / "csrc.cpp").write_text(CALL % ("in_2_8_0", "_C", "in_2_8_0"))
        self.only_finding(prefix, "CE110")
        self.develop(prefix, source)
        self.silent(prefix)

    def test_CE114_is_silent_of_what_lies_in_build_of_another_python_or_project(self):
        prefix, source = self.torch_upgraded("devothers", self.develop)
        build, = (source / "build").glob("lib.*")
        for other in ("lib.linux-x86_64-cpython-310", "lib.linux-x86_64-3.9", "cmake"):
            (source / "build" / other).mkdir()
            for path in build.rglob("*.so"):
                (source / "build" / other / path.name).write_bytes(path.read_bytes())
        quiet(["rm", "-r", build])
        self.only_finding(prefix, "CE110")

    def module_for(self, source, tag):
        return source / source.name / f"_C.{tag}-x86_64-linux-gnu.so"

    def test_CE112_of_an_editable_source_built_for_another_python_only(self):
        prefix = self.venv("setuptools", "wheel")
        source = self.source("devpython", module='extern "C" void* PyInit__C() { return 0; }')
        self.develop(prefix, source)
        made = self.modules(prefix, source)
        self.silent(prefix)
        other = self.module_for(source, "cpython-39")
        other.write_bytes(made.read_bytes())
        self.silent(prefix)  # one source, two environments
        made.unlink()
        finding = self.only_finding(prefix, "CE112")
        self.assertIn(other.name, json.dumps(finding["evidence"]))

    def test_of_one_source_for_two_pythons_each_module_is_held_to_its_own_torch(self):
        prefix = self.venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12", "setuptools", "wheel")
        source = self.source("twopythons", module=CALL % ("in_2_8_0", "_C", "in_2_8_0"), needs=NEEDS)
        self.develop(prefix, source)
        self.module_for(source, "cpython-39").write_bytes(extension("_C", "in_2_7_1", "11.8"))
        self.silent(prefix)

    # Environments that see their Python's packages

    def base_and_venv(self, *in_base):
        """A Python of its own whose site-packages hold these, and a virtual environment that sees them."""
        base = self.home.root / self.name("base")
        quiet([sys.executable, "-m", "venv", "--without-pip", base])
        prefix = self.home.root / self.name()
        quiet([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", prefix])
        if in_base:
            self.pip(base, *in_base)
        # A venv of a venv names the first Python; what an installed Python would have is this one's.
        config = prefix / "pyvenv.cfg"
        lines = [f"home = {base}/bin" if line.startswith("home") else line for line in config.read_text().splitlines()]
        config.write_text("\n".join(lines) + "\n")
        return prefix

    def test_torch_of_the_base_counts_where_a_partner_is_of_the_environment(self):
        prefix = self.base_and_venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        self.silent(prefix)
        self.pip(prefix, "torchvision==0.22.1+cu128")
        finding = self.only_finding(prefix, "CE120")
        self.assertIn("torch is 2.8.0", finding["title"])
        self.assertIn(str(prefix), finding["fix"]["command"])
        with self.subTest("not where the environment does not see it"):
            config = prefix / "pyvenv.cfg"
            config.write_text(config.read_text().replace("packages = true", "packages = false"))
            self.silent(prefix)

    def test_torch_of_the_base_is_what_a_module_of_the_environment_was_compiled_for(self):
        prefix = self.base_and_venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12")
        for name, asks in (("apexok", "in_2_8_0"), ("apexnot", "in_2_7_1")):
            self.home.wheel(name, "0.1", {f"{name}/__init__.py": "", f"{name}_C.{SUFFIX}": extension(f"{name}_C", asks)},
                            ["torch"], PLATFORM)
        self.pip(prefix, "apexok")
        self.silent(prefix)
        self.pip(prefix, "apexnot")
        self.assertIn("apexnot", self.only_finding(prefix, "CE110")["title"])

    def test_what_the_environment_has_itself_hides_what_the_base_has_and_is_no_duplicate(self):
        prefix = self.base_and_venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12", "six==1.16.0",
                                    "torchvision==0.22.1+cu128")
        self.silent(prefix)  # what does not fit in the base is the base's
        self.pip(prefix, "--ignore-installed", "torch==2.7.1+cu128", "six==1.17.0")
        self.silent(prefix)  # torchvision of the base goes with this one

    def test_what_the_base_has_is_not_missing(self):
        for in_base in ((), ("flash-attn",)):
            with self.subTest(in_base=in_base):
                prefix = self.base_and_venv("torch==2.8.0+cu128", "nvidia-cuda-runtime-cu12", *in_base)
                self.pip(prefix, "flashing")
                found = self.home.check(prefix, *self.machine())["findings"]
                self.assertEqual([finding["code"] for finding in found], [] if in_base else ["CE150"])
                quiet(["rm", "-r", prefix, self.home.root / self.name("base")])

    def test_packages_of_debians_python_are_seen(self):
        python = Path("/usr/bin/python3")
        if not python.exists() or not Path("/usr/lib/python3/dist-packages").is_dir():
            self.skipTest("no Python of Debian's is here")
        prefix = self.home.root / self.name()
        ran = subprocess.run([python, "-m", "venv", "--without-pip", "--system-site-packages", prefix],
                             capture_output=True, text=True)
        if ran.returncode != 0:
            self.skipTest("Debian's Python makes no virtual environments here")
        self.silent(prefix)


if __name__ == "__main__":
    run_tests(sys.argv)
