"""Environments for the tests of `cudaenv check`: made by real pip, uv and py-rattler."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from conda import Conda, Unavailable  # noqa: F401
from environments import tools
from real_wheels import real_wheels
from wheels import Index, make_wheel  # noqa: F401

A_TOOLKIT = {"path": "/opt/cuda-12.8", "version": "12.8.93", "nvcc": True, "gcc_min": 6, "gcc_max": 14, "problem": None,
             "source": "/opt/cuda-12.8/version.json"}
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
SITE = f"lib/python{VERSION}/site-packages"
PROGRAMS = {}  # "cudaenv", "cudaenvd": set by run_tests


def quiet(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Home:
    """One user's home with what cudaenv and installers keep there. Use as a context manager."""

    def __enter__(self):
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-check-")))
        for name in ("home", "state", "cache", "wheels", "run"):
            (self.root / name).mkdir(mode=0o700)
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.root / "home"), "LC_ALL": "C.UTF-8",
            "CUDAENV_DAEMON": PROGRAMS["cudaenvd"], "CUDAENV_STATE_DIR": str(self.root / "state"),
            "CUDAENV_CACHE_DIR": str(self.root / "cache"), "XDG_RUNTIME_DIR": str(self.root / "run"),
            "CUDAENV_NO_DAEMON": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1",
            "PIP_CONFIG_FILE": os.devnull, "PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_ROOT_USER_ACTION": "ignore",
            "UV_CACHE_DIR": str(self.root / "uv"),
            "UV_PYTHON_DOWNLOADS": "never"}
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def wheel(self, *words, **more):
        return make_wheel(self.root / "wheels", *words, **more)

    def run(self, *words, **more):
        return subprocess.run([PROGRAMS["cudaenv"], *map(str, words)], env={**self.environment, **more.pop("env", {})},
                              capture_output=True, timeout=120, **more)

    def check(self, prefix, *words, status=None):
        ran = self.run("check", "-p", prefix, "--json", *words)
        if ran.returncode not in (0, 1) or (status is not None and ran.returncode != status):
            raise AssertionError(f"status {ran.returncode}\n{ran.stdout.decode()}\n{ran.stderr.decode()}")
        return json.loads(ran.stdout)

    def codes(self, prefix):
        """Of all findings, sorted, each as often as it is reported."""
        return sorted(finding["code"] for finding in self.check(prefix)["findings"])

    def venv(self, name, pip=False):
        prefix = self.root / name
        quiet([sys.executable, "-m", "venv", *([] if pip else ["--without-pip"]), prefix])
        return prefix

    def uv_venv(self, name):
        prefix = self.root / name
        quiet([tools() / "uv", "venv", "--quiet", "--python", sys.executable, prefix], env=self.environment)
        return prefix

    def pip(self, prefix, *words):
        """The outer pip, at work in the environment; packages come from this home's wheels alone."""
        return quiet([sys.executable, "-m", "pip", "--python", prefix / "bin/python", *words,
                      *(["--no-index", "--find-links", self.root / "wheels"] if words[0] == "install" else [])],
                     env=self.environment)

    def uv(self, prefix, *words):
        return quiet([tools() / "uv", "pip", words[0], "--quiet", "--python", prefix / "bin/python", *words[1:],
                      *(["--no-index", "--find-links", self.root / "wheels"] if words[0] == "install" else [])],
                     env=self.environment)

    def conda_env(self, name):
        """A conda prefix whose Python is this one: what conda's own would be, but for its record."""
        prefix = self.venv(name)
        (prefix / "conda-meta").mkdir()
        (prefix / "conda-meta/history").touch()
        return prefix


class HomeTest(unittest.TestCase):
    """One home for all tests of a class, with wheels to install from and, where there are any, conda's packages."""

    maxDiff = None
    has_real_wheels = True  # small ones of the index

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        cls.home.__enter__()
        cls.addClassCleanup(lambda: cls.home.__exit__(None, None, None))
        if cls.has_real_wheels:
            try:
                for wheel in real_wheels().iterdir():
                    os.symlink(wheel, cls.home.root / "wheels" / wheel.name)
            except Unavailable as reason:
                raise unittest.SkipTest(str(reason)) from None
        cls.make_wheels(cls.home)
        if packages := cls.conda_packages():
            conda = Conda(cls.home.root)
            cls.conda = conda.__enter__()
            cls.addClassCleanup(lambda: conda.__exit__(None, None, None))
            cls.channel = cls.conda.channel("channel", packages)

    @classmethod
    def make_wheels(cls, home):
        """What pip and uv can install beside the real ones."""

    @classmethod
    def conda_packages(cls):
        """What conda can."""
        return []

    def name(self, text="env"):
        return f"{self._testMethodName[5:60]}-{text}"

    def machine(self, *toolkits):
        """Words that give `check` this machine with these toolkits in the place of its own."""
        file = self.home.root / f"machine-{len(toolkits)}.json"
        if not file.exists():
            ran = self.home.run("host", "--json")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            file.write_text(json.dumps({**json.loads(ran.stdout), "toolkits": toolkits}))
        return "--host", file

    def venv(self, *wanted, text="env"):
        prefix = self.home.venv(self.name(text))
        if wanted:
            self.pip(prefix, *wanted)
        return prefix

    def pip(self, prefix, *wanted):
        self.home.pip(prefix, "install", "--quiet", "--no-deps", *wanted)


def conda_python_package(name, version, files, depends=(), installer="conda\n", build="0"):
    """A Python package as conda's are, its dist-info installed with it."""
    info = f"{name}-{version}.dist-info"
    wheel_files = {**files,
                   f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nText\n",
                   f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: conda\nTag: py3-none-any\n"}
    from wheels import record_line
    record = "".join(record_line(path, text.encode()) for path, text in wheel_files.items())
    record += record_line(f"{info}/INSTALLER", b"pip\n") + f"{info}/RECORD,,\n"
    whole = {**wheel_files, f"{info}/INSTALLER": installer, f"{info}/RECORD": record, f"{info}/REQUESTED": ""}
    return {"name": name, "version": version, "build": build, "depends": list(depends),
            "files": {f"{SITE}/{path}": text for path, text in whole.items()}}


def content_of(path):
    """What distinguishes a file or link from another; its mode too."""
    if path.is_symlink():
        return "link", os.readlink(path)
    return "file", hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode & 0o777


def tree(prefix, *, compiled=False):
    """Path -> content, of all files; directories where they are empty."""
    contents = {}
    for above, directories, files in os.walk(prefix):
        if not compiled:
            directories[:] = [name for name in directories if name != "__pycache__"]
        for name in [*files, *(name for name in directories if (Path(above) / name).is_symlink())]:
            path = Path(above) / name
            contents[os.path.relpath(path, prefix)] = content_of(path)
    return contents


def run_tests(arguments):
    """`arguments`: --cudaenv FILE --cudaenvd FILE, and unittest's own."""
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--cudaenvd", required=True)
    options, others = parser.parse_known_args(arguments[1:])
    PROGRAMS.update(cudaenv=os.path.realpath(options.cudaenv), cudaenvd=os.path.realpath(options.cudaenvd))
    try:
        tools()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(argv=[arguments[0], *others])
