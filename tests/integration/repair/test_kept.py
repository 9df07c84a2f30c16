#!/usr/bin/env python3
"""`cudaenv keep`, and what `cudaenv check --fix` makes of it.

usage: test_kept.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from repair_support import SITE, Home, done, envs, fix, run_tests, tree

WHEELS = Path(envs.__file__).parent
BUILT = "1.12.0a0+git664058f"
PROGRAM = b"\x7fELF" + bytes(range(256)) * 300


def build(home, name="torch", version=BUILT):
    """A stand-in of real layout, as a build of one's own makes it."""
    home.wheel(name, version, {
        f"{name}/__init__.py": "from .version import cuda\n", f"{name}/version.py": "cuda = '11.3'\n",
        f"{name}/lib/libtorch.so": PROGRAM, f"{name}/_C.cpython-311-x86_64-linux-gnu.so": PROGRAM[::-1],
        f"{name}/bin/protoc": "#!/bin/sh\n", f"{name}/a,b \u00e9.txt": "odd\n", f"{name}/empty": ""})
    return home.root / "wheels" / f"{name}-{version}-py3-none-any.whl"


def wheel(home, version="2.8.0"):
    home.wheel("torch", version, {
        "torch/__init__.py": "cuda = '13.0'\n", "torch/version.py": "cuda = '13.0'\n",
        "torch/lib/libtorch.so": b"\x7fELF" + b"w" * 5000, "torch/lib/libtorch_new.so": b"\x7fELF" + b"n" * 5000,
        "torch/new/part.py": "x = 1\n"})


class Keeping(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.home = self.enterContext(Home())

    def built(self, name="env"):
        prefix = self.home.venv(name)
        self.home.pip(prefix, "install", "--quiet", "--no-deps", build(self.home))
        site = prefix / SITE
        (site / "torch/bin/protoc").chmod(0o755)
        (site / "torch/lib/libtorch.so").chmod(0o555)
        (site / "torch/version.py").chmod(0o640)
        (site / "torch/lib/libtorch.so.1").symlink_to("libtorch.so")
        with open(site / f"torch-{BUILT}.dist-info/RECORD", "a", encoding="utf-8") as record:
            record.write("torch/lib/libtorch.so.1,,\n")
        self.home.check(prefix)  # what is here is remembered
        return prefix

    def keep(self, prefix, *words, status=0, **more):
        ran = self.home.run("keep", "--json", "-p", prefix, *words, **more)
        self.assertEqual(ran.returncode, status, ran.stdout.decode() + ran.stderr.decode())
        return json.loads(ran.stdout)

    def test_a_kept_build_comes_back_byte_for_byte_with_its_modes(self):
        wheel(self.home)
        for installer in (self.home.pip, self.home.uv):
            with self.subTest(installer=installer.__name__):
                prefix = self.built(f"env-{installer.__name__}")
                before = tree(prefix)
                report = self.keep(prefix, "torch")
                self.assertEqual([one["version"] for one in report["kept"]], [BUILT])
                installer(prefix, "install", "torch==2.8.0")
                compiled = prefix / SITE / "torch/__pycache__/version.cpython-311.pyc"
                compiled.parent.mkdir(exist_ok=True)
                compiled.write_bytes(b"of the wheel's")
                self.assertEqual(self.home.codes(prefix), ["CE104"])
                report = fix(self.home, prefix)
                self.assertEqual(done(report), [("CE104", True)])
                after = tree(prefix)
                after.pop(".lock", None)  # uv's own
                self.assertEqual(after, before)
                self.assertFalse(compiled.exists() and compiled.read_bytes() == b"of the wheel's")
                self.assertEqual(self.home.codes(prefix), [])

    def test_a_kept_copy_is_the_users_alone_and_is_no_second_name_of_the_original(self):
        prefix = self.built()
        report = self.keep(prefix, "Torch")
        place = Path(report["kept"][0]["path"])
        for above in (place, *place.rglob("*")):
            if above.is_dir():
                self.assertEqual(above.stat().st_mode & 0o077, 0, above)
            elif not above.is_symlink():
                self.assertEqual(above.stat().st_nlink, 1, above)
        original = prefix / SITE / "torch/lib/libtorch.so"
        self.assertEqual((place / "files" / original.relative_to(prefix)).read_bytes(), PROGRAM)

    def test_a_client_that_is_interrupted_or_gone_ends_the_copy_and_nothing_of_it_stays(self):
        prefix = self.built()
        os.truncate(prefix / SITE / "torch/empty", 6 << 30)  # a hole: seconds to copy, but no room where it lies
        kept = self.home.root / "state/kept"

        def until(wanted, what):
            for _ in range(6000):
                if wanted():
                    return
                time.sleep(0.01)
            self.fail(what)

        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(sent=sent):
                client = subprocess.Popen([envs.PROGRAMS["cudaenv"], "keep", "torch", "-p", prefix],
                                          env=self.home.environment, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
                until(lambda: list(kept.glob("*/.new-*")) or client.poll() is not None, "the copy does not begin")
                client.send_signal(sent)  # to it alone
                self.assertEqual(client.wait(timeout=60), -sent, "it was done before it could be interrupted")
                until(lambda: not list(kept.glob("*/.new-*")), "a partial copy stays")
                self.assertEqual(list(kept.glob("*/torch-*")), [])

    def test_a_copy_replaces_the_one_before_and_can_be_forgotten(self):
        prefix = self.built()
        self.assertEqual(self.keep(prefix)["kept"], [])
        self.keep(prefix, "torch")
        (prefix / SITE / "torch/version.py").write_text("cuda = '11.4'\n")
        report = self.keep(prefix, "torch")
        self.assertIn("1 file kept with content", report["notes"][0])
        listed = self.keep(prefix, "--list")
        self.assertEqual(len(listed["kept"]), 1)
        self.assertEqual(listed["kept"], self.keep(prefix)["kept"])
        kept = Path(listed["kept"][0]["path"]) / "files" / SITE / "torch/version.py"
        self.assertEqual(kept.read_text(), "cuda = '11.4'\n")
        self.assertEqual(sorted(os.listdir(kept.parents[6])), [f"torch-{BUILT}"])
        wrong = self.keep(prefix, "--forget", "troch", status=2)
        self.assertIn("torch", wrong["hint"])
        gone = self.keep(prefix, "--forget", f"torch=={BUILT}")
        self.assertEqual((gone["action"], len(gone["kept"])), ("forgotten", 1))
        self.assertEqual(self.keep(prefix, "--list")["kept"], [])
        self.assertFalse(kept.exists())

    def test_errors_at_the_door(self):
        prefix = self.built()
        report = self.keep(prefix, "troch", status=2)
        self.assertEqual((report["code"], report["hint"]), ("no-such-distribution", 'did you mean "torch"?'))
        (prefix / SITE / "torch/version.py").unlink()
        report = self.keep(prefix, "torch", status=3)
        self.assertEqual(report["code"], "files-missing")
        self.assertIn("torch/version.py", report["message"])
        (prefix / SITE / f"torch-{BUILT}.dist-info/RECORD").unlink()
        self.assertEqual(self.keep(prefix, "torch", status=3)["code"], "no-record")
        self.assertEqual(self.keep(prefix, "torch", "--list", status=2)["code"], "two-wishes")
        self.assertEqual(self.keep(prefix, "--list")["kept"], [])

    def test_what_an_index_has_is_kept_only_where_it_is_insisted_on(self):
        prefix = self.home.venv("env")
        self.home.wheel("plain", "1.0", {"plain.py": ""})
        with envs.Index(self.home.root / "wheels") as index:
            envs.quiet([sys.executable, "-m", "pip", "--python", prefix / "bin/python", "install", "--quiet",
                        "--index-url", index.url, "plain"], env=self.home.environment)
        report = self.keep(prefix, "plain", status=2)
        self.assertEqual(report["code"], "can-be-had-again")
        self.assertEqual(len(self.keep(prefix, "plain", "--yes")["kept"]), 1)

    def test_of_an_editable_one_the_records_are_kept_and_the_source_is_named(self):
        prefix = self.home.venv("env", pip=True)
        source = self.home.root / "src"
        (source / "mine").mkdir(parents=True)
        (source / "mine/__init__.py").write_text("")
        (source / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "mine"\nversion = "0.1"\n')
        (source / "backend.py").write_text(
            f"import sys\nsys.path.insert(0, {str(WHEELS)!r})\nfrom wheels import make_wheel\n"
            "def build_editable(directory, settings=None, metadata=None):\n"
            f"    return make_wheel(directory, 'mine', '0.1', {{'__editable__.mine.pth': {str(source)!r}}}).name\n"
            "build_wheel = build_editable\n")
        envs.quiet([prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation",
                    "--no-deps", "-e", source], env=self.home.environment)
        report = self.keep(prefix, "mine")
        self.assertTrue(report["kept"][0]["editable"])
        self.assertIn(str(source), report["notes"][0])
        kept = Path(report["kept"][0]["path"]) / "files" / SITE
        self.assertEqual((kept / "__editable__.mine.pth").read_text(), str(source))
        self.assertFalse((kept / "mine").exists())

    def test_what_setup_py_installs_is_kept_and_missed_and_comes_back(self):
        """`setup.py develop` and an egg of `setup.py install`, which pip replaces for another package's sake."""
        for wheel in envs.real_wheels().iterdir():
            if wheel.name.startswith(("setuptools-", "wheel-")):
                os.symlink(wheel, self.home.root / "wheels" / wheel.name)
        self.home.wheel("vision", "1.0", {"vision.py": "import mine\n"}, ["mine==2.0"])
        self.home.wheel("mine", "2.0", {"mine/__init__.py": "who = 'wheel'\n"})
        for command in ("develop", "install"):
            with self.subTest(command):
                prefix = self.home.venv(f"env-{command}")
                self.home.pip(prefix, "install", "--quiet", "setuptools==70.3.0", "wheel")
                source = self.home.root / f"source-{command}"
                (source / "mine/deep/deeper").mkdir(parents=True)
                (source / "mine/__init__.py").write_text("who = 'built'\n")
                (source / "mine/deep/__init__.py").write_text("")
                (source / "setup.py").write_text("from setuptools import setup\nsetup(name='mine', version='1.0',"
                                                 " packages=['mine', 'mine.deep'], zip_safe=False)\n")
                envs.quiet([prefix / "bin/python", "setup.py", "--quiet", command], cwd=source)
                who = [prefix / "bin/python", "-c", "import mine; print(mine.who)"]
                self.assertEqual(envs.quiet(who), "built\n")
                before = tree(prefix)
                [kept] = self.keep(prefix, "mine")["kept"]
                self.assertEqual((kept["version"], kept["editable"]), ("1.0", command == "develop"))
                self.home.pip(prefix, "install", "--quiet", "vision")
                self.assertEqual(envs.quiet(who), "wheel\n")
                [finding] = self.home.check(prefix)["findings"]
                self.assertEqual((finding["code"], finding["subject"], finding["repairs"]), ("CE104", "mine", []))
                self.assertIn("vision 1.0, which requires mine==2.0", finding["fix"]["text"])
                envs.quiet(["sh", "-c", finding["fix"]["command"].replace(
                    f"{prefix}/bin/python -m pip", f"{sys.executable} -m pip --python {prefix}/bin/python")],
                    env=self.home.environment)
                self.assertEqual(done(fix(self.home, prefix)), [("CE104", True)])
                self.assertEqual(envs.quiet(who), "built\n")
                self.assertEqual(self.home.codes(prefix), [])
                after = tree(prefix)
                easy = f"{SITE}/easy-install.pth"
                self.assertIn(easy, after)
                self.assertEqual({path for path in before | after if before.get(path) != after.get(path)} - {easy}, set())

    def test_a_replacement_that_is_accepted_is_not_reported_again(self):
        wheel(self.home)
        wheel(self.home, "2.9.0")
        prefix = self.built()
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        self.assertEqual(self.home.codes(prefix), ["CE104"])
        for words, code in ((["CE104:vision"], "no-such-finding"), (["torch"], "bad-code")):
            ran = self.home.run("check", "--json", "-p", prefix, "--accept", *words)
            self.assertEqual((ran.returncode, json.loads(ran.stdout)["code"]), (2, code))
        accepted = self.home.check(prefix, "--accept", "CE104:torch", status=0)
        self.assertEqual((accepted["findings"], accepted["accepted"]), ([], 1))
        self.assertEqual(self.home.check(prefix, status=0)["findings"], [])
        [finding] = self.home.check(prefix, "--all", status=0)["findings"]
        self.assertEqual((finding["code"], finding["accepted"]), ("CE104", True))
        self.assertEqual(json.loads(self.home.run("check", "--fix", "--json", "-p", prefix).stdout)["left"], [])
        self.home.pip(prefix, "install", "--quiet", "torch==2.9.0")  # another replacement
        self.assertEqual(self.home.codes(prefix), ["CE104"])

    def test_a_damaged_copy_changes_nothing(self):
        wheel(self.home)
        prefix = self.built()
        kept = Path(self.keep(prefix, "torch")["kept"][0]["path"])
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        file = kept / "files" / SITE / "torch/lib/libtorch.so"
        file.write_bytes(PROGRAM[:-1] + b"!")
        before = tree(prefix)
        report = fix(self.home, prefix, status=3)
        self.assertIn("libtorch.so", report["steps"][0]["error"])
        self.assertEqual(tree(prefix), before)
        self.assertEqual([left["code"] for left in report["left"]], ["CE104"])

    def test_an_environment_is_the_same_by_whichever_way_it_is_reached(self):
        wheel(self.home)
        prefix = self.built()
        link = self.home.root / "link"
        link.symlink_to(prefix)
        self.keep(link, "torch")
        self.assertEqual(len(self.keep(prefix, "--list")["kept"]), 1)
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        self.assertEqual(self.home.codes(prefix), ["CE104"])
        self.assertEqual(self.home.codes(link), ["CE104"])
        self.assertEqual(done(fix(self.home, link)), [("CE104", True)])

    def test_what_is_kept_is_missed_without_any_look_in_between(self):
        """Neither `check` nor a prompt has seen the build: `keep` has."""
        wheel(self.home)
        prefix = self.home.venv("env")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", build(self.home))
        self.keep(prefix, "torch")
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        self.assertEqual(self.home.codes(prefix), ["CE104"])
        fix(self.home, prefix)
        self.assertEqual([path.name for path in (prefix / SITE).glob("torch-*")], [f"torch-{BUILT}.dist-info"])

    def test_a_wheel_changed_by_hand_is_missed_where_it_is_kept(self):
        self.home.wheel("plain", "1.0", {"plain.py": "x = 1\n"})
        self.home.wheel("plain", "2.0", {"plain.py": "x = 2\n"})
        prefix = self.home.venv("env")
        self.home.pip(prefix, "install", "--quiet", "plain==1.0")
        (prefix / SITE / "plain.py").write_text("x = 'mine'\n")
        self.keep(prefix, "--yes", "plain")
        self.home.pip(prefix, "install", "--quiet", "plain==2.0")
        self.assertEqual(self.home.codes(prefix), ["CE104"])
        report = fix(self.home, prefix, "CE104")
        self.assertEqual(done(report), [("CE104", True)])
        self.assertEqual((prefix / SITE / "plain.py").read_text(), "x = 'mine'\n")
        self.keep(prefix, "--forget", "plain")
        self.home.pip(prefix, "install", "--quiet", "plain==2.0")
        self.assertEqual(self.home.codes(prefix), [])

    def test_an_environment_made_anew_in_its_place_misses_nothing(self):
        wheel(self.home)
        prefix = self.built()
        self.keep(prefix, "torch")
        for make in ("whole", "cleared"):
            with self.subTest(make=make):
                if make == "whole":
                    shutil.rmtree(prefix)
                    self.home.venv("env")
                else:
                    envs.quiet([sys.executable, "-m", "venv", "--without-pip", "--clear", prefix])
                self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
                self.assertEqual(self.home.codes(prefix), [])

    def test_a_copy_for_a_python_that_the_environment_no_longer_has_is_not_put_back(self):
        wheel(self.home)
        prefix = self.built()
        self.keep(prefix, "torch")
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        # As an upgrade of Python leaves it: packages are in the new one's directory.
        older = prefix / SITE
        newer = prefix / "lib/python3.99/site-packages"
        newer.parent.mkdir()
        older.rename(newer)
        older.parent.rmdir()
        config = prefix / "pyvenv.cfg"
        config.write_text(config.read_text().replace("version = 3.", "version = 3.99."))
        for link in (prefix / "bin").glob("python3.*"):
            link.rename(prefix / "bin/python3.99")
        before = tree(prefix)
        found = self.home.check(prefix)["findings"]
        self.assertEqual([finding["code"] for finding in found], ["CE104"])
        self.assertEqual(found[0]["repairs"], [])
        self.home.run("check", "--fix", "-y", "-p", prefix)
        self.assertEqual(tree(prefix), before)

    def in_small_disk(self, place, size, command, **more):
        """Runs the command with a file system of that size at `place`; skips if that is not possible."""
        script = f"mount -t tmpfs -o size={size} none {place} && {more.pop('first', 'true')} && exec \"$@\""
        whole = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *map(str, command)]
        tried = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c",
                                f"mount -t tmpfs -o size=1m none {place}"], capture_output=True)
        if tried.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {tried.stderr.decode().strip()}")
        return subprocess.run(whole, env=self.home.environment, capture_output=True, timeout=120, **more)

    def test_a_full_disk_keeps_nothing_and_says_how_much_is_needed(self):
        prefix = self.built()
        ran = self.in_small_disk(self.home.root / "state", "64k",
                                 [envs.PROGRAMS["cudaenv"], "keep", "--json", "-p", prefix, "torch"])
        self.assertEqual(ran.returncode, 3, ran.stdout.decode() + ran.stderr.decode())
        report = json.loads(ran.stdout)
        self.assertEqual(report["code"], "no-space")
        self.assertRegex(report["message"], r"\d+ bytes \(\d+ KiB\) are needed")

    def test_a_full_environment_stays_as_it_is(self):
        wheel(self.home)
        prefix = self.built()
        self.keep(prefix, "torch")
        before, copy, result = (self.home.root / name for name in ("before", "copy", "result"))
        shutil.copytree(prefix, before, symlinks=True)
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        shutil.copytree(prefix, copy, symlinks=True)
        script = ('"$0" check --fix -y --json -p "$1"; status=$?; rm "$1/filler"; cp -a "$1" "$2"; exit $status')
        ran = self.in_small_disk(prefix, "64m",
                                 ["sh", "-c", script, envs.PROGRAMS["cudaenv"], prefix, result],
                                 first=f"cp -a {before}/. {prefix} && '{envs.PROGRAMS['cudaenv']}' check -p {prefix} >/dev/null && "
                                       f"rm -r {prefix}/lib && cp -a {copy}/lib {prefix} && "
                                       f"{{ cat /dev/zero >{prefix}/filler 2>/dev/null || true; }}")
        self.assertEqual(ran.returncode, 3, ran.stdout.decode() + ran.stderr.decode())
        self.assertIn("No space", json.loads(ran.stdout)["steps"][0]["error"])
        self.assertEqual(tree(result), tree(copy))

    def test_an_environment_whose_packages_lie_on_another_file_system_is_put_right_as_well(self):
        wheel(self.home)
        prefix = self.built()
        expected = tree(prefix)
        self.keep(prefix, "torch")
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        copy, result = self.home.root / "copy", self.home.root / "result"
        shutil.copytree(prefix / SITE, copy, symlinks=True)
        script = '"$0" check --fix -y --json -p "$1"; status=$?; cp -a "$1" "$2"; exit $status'
        ran = self.in_small_disk(prefix / SITE, "20m", ["sh", "-c", script, envs.PROGRAMS["cudaenv"], prefix, result],
                                 first=f"cp -a {copy}/. {prefix / SITE}")
        self.assertEqual(ran.returncode, 0, ran.stdout.decode() + ran.stderr.decode())
        self.assertEqual(tree(result), expected)


if __name__ == "__main__":
    run_tests(sys.argv)
