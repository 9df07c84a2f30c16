"""activate.constraints = "env": pip of the environment, of several real versions, then refuses what would replace
torch, with words that say who asks; attach and detach leave every file as it was."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "check"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shells"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from conda import Conda  # noqa: E402
from downloads import Unavailable, kept, said  # noqa: E402
from wheels import Index, make_wheel  # noqa: E402
from support import PROGRAMS, CommandTest, run_tests  # noqa: E402

PIPS = ["24.3.1", "25.3", "26.2"]
MARKER = "kept.by.cudaenv.until.cudaenv.detach"
SOURCE_BUILD = "1.12.0a0+git664058f"

BACKEND = """
import importlib.metadata, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    torch = importlib.metadata.version("torch")
    with zipfile.ZipFile(directory + "/apex-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("apex.py", f"built_with = {torch!r}\\n")
        wheel.writestr("apex-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: apex\\nVersion: 1.0\\n")
        wheel.writestr("apex-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\n"
                                                   "Tag: py3-none-any\\n")
        wheel.writestr("apex-1.0.dist-info/RECORD", "")
    return "apex-1.0-py3-none-any.whl"
"""


def pip_wheels():
    """A directory with a wheel of each of PIPS."""
    def fill(made):
        made.mkdir()
        for version in PIPS:
            said([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps",
                  "--dest", str(made), f"pip=={version}"])

    return kept("pips-1", fill)


class Constraints(CommandTest):
    def setUp(self):
        super().setUp()
        try:
            self.pips = pip_wheels()
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.set("env")
        wheels = self.root / "wheels"
        self.torch = {version: make_wheel(wheels if version != SOURCE_BUILD else self.root / "own", "torch", version,
                                          {"torch/__init__.py": f"v = {version!r}\n"})
                      for version in ("2.4.0+cu121", "2.5.0", SOURCE_BUILD)}
        for version, torch in (("0.19.0", "torch==2.4.0"), ("0.20.0", "torch==2.5.0"), ("0.2.2", "torch")):
            make_wheel(wheels, "torchvision", version, {"torchvision/__init__.py": version}, requires=[torch])
        served = Index(wheels)
        self.index = served.__enter__()
        self.addCleanup(served.__exit__)

    def set(self, value):
        self.check(self.run_cudaenv("config", "set", "activate.constraints", value))

    def env(self, pip, torch="2.4.0+cu121", name="env", conda=True):
        prefix = self.root / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
        outer = [sys.executable, "-m", "pip", "--python", prefix / "bin/python", "install", "--quiet", "--no-index",
                 "--no-deps", "--find-links", self.pips]
        if pip:
            self.check(self.run_program([*outer, f"pip=={pip}"]))
        if torch:
            self.check(self.run_program([*outer, self.torch[torch]]))
        if conda:
            (prefix / "conda-meta").mkdir()
            (prefix / "conda-meta/history").touch()
        return prefix

    def pip(self, prefix, *words, **environment):
        return self.run_program([prefix / "bin/python", "-m", "pip", "--disable-pip-version-check", *words],
                                environment={"PIP_INDEX_URL": self.index.url, "PIP_NO_CACHE_DIR": "1",
                                             "PIP_ROOT_USER_ACTION": "ignore", **environment})

    def attach(self, prefix, status=0):
        return self.check(self.run_cudaenv("attach", "-p", str(prefix)), status=status)

    def detach(self, prefix):
        return self.check(self.run_cudaenv("detach", "-p", str(prefix)))

    def version(self, prefix, name):
        ran = self.run_program([prefix / "bin/python", "-c",
                                f"import importlib.metadata as m; print(m.version({name!r}))"])
        return ran.stdout.decode().strip()

    def files(self, prefix):
        places = [prefix / "pip.conf", *(prefix / "conda-meta").glob("*"), *(prefix / "etc").rglob("*")]
        return {str(place.relative_to(prefix)): place.read_bytes() for place in places if place.is_file()}

    def refused(self, prefix, *words, status=3):
        before = self.files(prefix)
        ran = self.attach(prefix, status=status)
        for word in words:
            self.assertIn(word, ran.stderr.decode())
        self.assertEqual(self.files(prefix), before)

    def test_pip_brings_the_partner_that_fits_and_keeps_torch(self):
        for pip in PIPS[1:]:
            with self.subTest(pip=pip):
                prefix = self.env(pip, name=f"env-{pip}")
                self.attach(prefix)
                self.check(self.pip(prefix, "install", "torchvision"))
                self.assertEqual(self.version(prefix, "torchvision"), "0.19.0")
                self.assertEqual(self.version(prefix, "torch"), "2.4.0+cu121")

    def test_without_it_the_same_command_replaces_torch(self):
        self.set("off")
        prefix = self.env(PIPS[-1])
        self.attach(prefix)
        self.check(self.pip(prefix, "install", "torchvision"))
        self.assertEqual(self.version(prefix, "torch"), "2.5.0")

    def test_a_build_of_ones_own_is_kept_and_pip_says_who_asks(self):
        for pip in PIPS[1:]:
            with self.subTest(pip=pip):
                prefix = self.env(pip, SOURCE_BUILD, name=f"env-{pip}")
                make_wheel(self.root / "wheels", "torchvision", "0.13.0", {"torchvision/__init__.py": "x"},
                           requires=["torch==1.12.0"])
                self.attach(prefix)
                ran = self.pip(prefix, "install", "torchvision")
                self.assertNotEqual(ran.returncode, 0)
                said_by_pip = (ran.stdout + ran.stderr).decode()
                self.assertIn(f"=={SOURCE_BUILD}", said_by_pip)
                self.assertIn(MARKER, said_by_pip)
                (self.root / "wheels/torchvision-0.13.0-py3-none-any.whl").unlink(missing_ok=True)
                ran = self.pip(prefix, "install", "torchvision")
                self.assertNotEqual(ran.returncode, 0)
                self.assertIn(MARKER, (ran.stdout + ran.stderr).decode())
                self.assertEqual(self.version(prefix, "torch"), SOURCE_BUILD)

    def test_another_torch_on_purpose_as_the_file_says_and_then_attach_again(self):
        prefix = self.env(PIPS[-1])
        self.attach(prefix)
        self.assertNotEqual(self.pip(prefix, "install", "torch==2.5.0").returncode, 0)
        self.assertNotEqual(self.pip(prefix, "install", "-c", os.devnull, "torch==2.5.0").returncode, 0)
        text = (prefix / "etc/cudaenv/constraints.txt").read_text()
        self.assertIn("PIP_CONSTRAINT=/dev/null pip install torch==X", text)
        self.check(self.pip(prefix, "install", "torch==2.5.0", PIP_CONSTRAINT="/dev/null"))
        checked = self.run_cudaenv("check", "-p", str(prefix), "CE160")
        self.assertIn("torch is 2.5.0, held at 2.4.0+cu121", checked.stdout.decode())
        self.attach(prefix)
        self.assertIn("\ntorch==2.5.0,", (prefix / "etc/cudaenv/constraints.txt").read_text())
        self.assertNotIn("CE160", self.run_cudaenv("check", "-p", str(prefix), "CE160").stdout.decode())

    def test_isolated_builds_take_the_torch_that_they_ask_for(self):
        source = self.root / "apex"
        source.mkdir()
        (source / "backend.py").write_text(BACKEND)
        (source / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["torch==2.5.0"]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "apex"\nversion = "1.0"\n')
        for pip in PIPS[1:]:
            for command in (["install"], ["wheel", "-w", str(self.root / "out")]):
                with self.subTest(pip=pip, command=command[0]):
                    prefix = self.root / f"env-{pip}"
                    if not prefix.exists():
                        self.env(pip, name=f"env-{pip}")
                        self.attach(prefix)
                    self.check(self.pip(prefix, *command, str(source)))
        with self.subTest("the reason for refusing older ones"):
            prefix = self.env(PIPS[0], name="old")
            (self.root / "c.txt").write_text("torch==2.4.0+cu121\n")
            (prefix / "pip.conf").write_text(f"[global]\nconstraint = {self.root}/c.txt\n")
            ran = self.pip(prefix, "install", str(source))
            self.assertIn("(constraint) torch==2.4.0", (ran.stdout + ran.stderr).decode())

    def test_a_prefix_with_spaces_and_other_signs_is_held_all_the_same(self):
        for pip in PIPS[1:]:
            with self.subTest(pip=pip):
                prefix = self.env(pip, name=f"the env's \u00e9 #%2 {pip}")
                self.attach(prefix)
                ran = self.pip(prefix, "install", "torch==2.5.0")
                self.assertIn("(constraint) torch", (ran.stdout + ran.stderr).decode())
                self.detach(prefix)
                self.assertFalse((prefix / "pip.conf").exists())

    def test_detach_takes_out_exactly_what_attach_wrote(self):
        prefix = self.env(PIPS[-1])
        for pip_conf, pinned in ((None, None), ("", ""), ("[global]\ntimeout = 5", "numpy 1.*"),
                                 ("[global]\ntimeout = 5\n[install]\nno-deps = no\n", "# theirs\nnumpy 1.*\n")):
            with self.subTest(pip_conf=pip_conf):
                for path, text in ((prefix / "pip.conf", pip_conf), (prefix / "conda-meta/pinned", pinned)):
                    path.unlink(missing_ok=True)
                    if text is not None:
                        path.write_text(text)
                before = self.files(prefix)
                self.attach(prefix)
                attached = self.files(prefix)
                self.assertIn(b"pytorch ==2.4.0+cu121\n", attached["conda-meta/pinned"])
                self.assertIn(b"torch==2.4.0+cu121,", attached["etc/cudaenv/constraints.txt"])
                self.check(self.pip(prefix, "config", "list"))
                self.attach(prefix)  # again is no harm
                self.assertEqual(self.files(prefix), attached)
                self.detach(prefix)
                self.assertEqual(self.files(prefix), before)
                self.assertFalse((prefix / "etc/cudaenv").exists())

    def codes(self, prefix):
        ran = self.run_cudaenv("check", "-p", str(prefix), "--json")
        return [(finding["code"], finding["severity"]) for finding in json.loads(ran.stdout)["findings"]]

    def test_of_an_environment_that_was_copied_the_constraints_are_anothers(self):
        prefix = self.env(PIPS[-1])
        self.attach(prefix)
        self.assertEqual(self.codes(prefix), [])
        copy = self.root / "a copy"
        self.check(self.run_program(["cp", "-a", prefix, copy]))
        self.assertEqual(self.codes(copy), [("CE160", "warning")])
        shutil.rmtree(prefix)
        self.assertEqual(self.codes(copy), [("CE160", "error")])
        self.attach(copy)
        self.assertEqual(self.codes(copy), [])
        self.assertIn(str(copy).replace(" ", "%20"), (copy / "pip.conf").read_text())

    def test_what_the_user_wrote_meanwhile_stays(self):
        prefix = self.env(PIPS[-1])
        self.attach(prefix)
        with open(prefix / "pip.conf", "a") as conf:
            conf.write("timeout = 5\n")
        with open(prefix / "conda-meta/pinned", "a") as pinned:
            pinned.write("scipy 1.*\n")
        self.attach(prefix)
        self.assertIn("global.timeout='5'", self.pip(prefix, "config", "list").stdout.decode())
        self.detach(prefix)
        self.assertEqual((prefix / "pip.conf").read_text(), "[global]\ntimeout = 5\n")
        self.assertEqual((prefix / "conda-meta/pinned").read_text(), "scipy 1.*\n")

    def test_pips_own_config_command_takes_the_marks_and_detach_finds_the_line(self):
        prefix = self.env("25.3")
        self.attach(prefix)
        self.check(self.pip(prefix, "config", "--site", "set", "global.timeout", "5"))
        self.assertNotIn(">>>", (prefix / "pip.conf").read_text())
        self.detach(prefix)
        self.assertIn("global.timeout='5'", self.pip(prefix, "config", "list").stdout.decode())
        self.assertNotIn("constraint", (prefix / "pip.conf").read_text())

    def test_switched_off_attach_takes_them_out(self):
        prefix = self.env(PIPS[-1])
        self.attach(prefix)
        self.set("off")
        self.attach(prefix)
        self.assertFalse((prefix / "pip.conf").exists())
        self.assertTrue((prefix / "etc/conda/activate.d/zz-cudaenv.sh").exists())

    def test_a_venv_gets_the_constraints_alone(self):
        prefix = self.env(PIPS[-1], conda=False)
        self.attach(prefix)
        self.assertEqual(set(self.files(prefix)), {"pip.conf", "etc/cudaenv/constraints.txt"})
        self.detach(prefix)
        self.assertEqual(self.files(prefix), {})

    def test_an_environment_without_torch_is_attached_without_them(self):
        prefix = self.env(PIPS[-1], torch=None)
        ran = self.attach(prefix)
        self.assertIn("no torch is installed or pinned", ran.stderr.decode())
        self.assertFalse((prefix / "pip.conf").exists())

    def test_a_pip_that_is_too_old_is_refused(self):
        self.refused(self.env(PIPS[0]), "pip 24.3.1", "isolated builds", "pip 25.3", "install --upgrade pip")

    def test_an_environment_without_pip_is_refused(self):
        self.refused(self.env(None, name="uv"), "has no pip", "uv does not read pip.conf", "ensurepip")

    def test_a_constraint_of_the_users_is_refused_wherever_pip_would_read_it(self):
        prefix = self.env(PIPS[-1])
        users = self.home / ".config/pip/pip.conf"
        users.parent.mkdir(parents=True)
        for path in (prefix / "pip.conf", users):
            path.write_text("[install]\nconstraint = /theirs.txt\n")
            self.refused(prefix, "pip.conf line 2", "names a constraint already")
            path.unlink()
        self.attach(prefix)

    def test_an_environment_of_somebody_elses_is_refused(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to be another user")
        prefix = self.env(PIPS[-1])
        for path in (self.root, self.home):
            os.chmod(path, 0o755)
        os.chmod(self.root / "run", 0o777)
        for path in (self.home / ".config").rglob("*"):
            os.chmod(path, 0o755 if path.is_dir() else 0o644)
        os.chmod(self.home / ".config", 0o755)
        ran = self.run_program(["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                PROGRAMS["cudaenv"], "attach", "-p", prefix],
                               environment={"XDG_RUNTIME_DIR": "/nonexistent"})
        self.assertEqual(ran.returncode, 3, ran.stderr.decode())
        self.assertIn("cannot be written", ran.stderr.decode())
        self.assertFalse((prefix / "pip.conf").exists())

    def test_condas_own_solver_then_keeps_the_build_that_is_there(self):
        def pytorch(version, build):
            return {"name": "pytorch", "version": version, "build": build, "depends": [],
                    "files": {f"lib/{version}-{build}": "x"}}
        with Conda(self.root) as conda:
            build = "py311_cuda121_cudnn910_0"
            channel = conda.channel("channel", [
                pytorch("2.4.0", build), pytorch("2.4.0", "cpu_0"), pytorch("2.5.0", "py311_cuda124_0"),
                {"name": "torchvision", "version": "0.19.0", "build": "0", "depends": ["pytorch ==2.4.0"],
                 "files": {"lib/v": "a"}},
                {"name": "torchvision", "version": "0.20.0", "build": "0", "depends": ["pytorch ==2.5.0"],
                 "files": {"lib/v": "b"}}])
            prefix = self.env(PIPS[-1])
            # Its dist-info is what ties conda's record to Python's torch.
            info = "lib/python{}.{}/site-packages/torch-2.4.0+cu121.dist-info".format(*sys.version_info)
            record = {"name": "pytorch", "version": "2.4.0", "build": build, "depends": [],
                      "files": [f"{info}/METADATA", f"{info}/INSTALLER"]}
            (prefix / info / "INSTALLER").write_text("conda\n")
            (prefix / f"conda-meta/pytorch-2.4.0-{build}.json").write_text(json.dumps(
                {**record, "build_number": 0, "channel": "c", "subdir": "linux-64", "fn": "x", "url": "",
                 "paths_data": {"paths_version": 1, "paths": [
                     {"_path": path, "path_type": "hardlink"} for path in record["files"]]}}))
            self.attach(prefix)
            lines = (prefix / "conda-meta/pinned").read_text().splitlines()
            self.assertEqual(lines, [f"pytorch ==2.4.0 {build}"])
            other = self.root / "solved"
            conda.install(other, channel, "torchvision", *lines)
            self.assertEqual(sorted(path.name for path in (other / "conda-meta").glob("*.json")),
                             [f"pytorch-2.4.0-{build}.json", "torchvision-0.19.0-0.json"])
            with self.assertRaises(RuntimeError):
                conda.install(other, channel, "torchvision ==0.20.0", *lines)


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    run_tests()
