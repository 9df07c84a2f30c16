#!/usr/bin/env python3
"""`cudaenv check --fix`, killed at each of the system calls that change an environment: every file is the old or the
new one, and the next fix comes to the end.

usage: test_interrupted.py --cudaenv FILE --cudaenvd FILE
"""

import shutil
import subprocess
import sys
import unittest

from repair_support import SITE, Conda, Home, conda_python_package, envs, fix, not_as_recorded, run_tests, tree
from test_kept import BUILT, build, wheel

CALLS = "rename,renameat,renameat2,unlink,unlinkat"
MOST = 200  # changes of one fix, and then some


def without_words(files):
    """Without what every installer rewrites, and what differs in healthy environments."""
    return {path: content for path, content in files.items()
            if not path.endswith((".dist-info/INSTALLER", ".dist-info/RECORD", ".dist-info/REQUESTED",
                                  ".dist-info/direct_url.json"))}


def become(prefix, copy):
    """The same environment with the files of the copy: what distinguishes it from another one stays."""
    own = {prefix / "pyvenv.cfg", prefix / "conda-meta"}
    for path in prefix.iterdir():
        if path in own:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for path in (prefix / "conda-meta").glob("*"):
        path.unlink()
    shutil.copytree(copy, prefix, symlinks=True, dirs_exist_ok=True)


class Interrupted(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.home = self.enterContext(Home())
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        tried = subprocess.run(["strace", "-o", "/dev/null", "-e", "inject=rename:signal=KILL:when=1", "true"],
                               capture_output=True)
        if tried.returncode != 0:
            self.skipTest(f"strace cannot trace here: {tried.stderr.decode().strip()}")

    def killed(self, prefix, number):
        """False where the fix came to its end before its change of that number."""
        # Counted in each process for itself; the client changes nothing, its children do.
        report = self.home.root / "trace"
        subprocess.run(["strace", "-f", "-qq", "-o", report, "-e", f"trace={CALLS}", "-e",
                        f"inject={CALLS}:signal=KILL:when={number}",
                        envs.PROGRAMS["cudaenv"], "check", "--fix", "-y", "--json", "-p", prefix],
                       env=self.home.environment, capture_output=True, timeout=120)
        return "killed by SIGKILL" in report.read_text()

    def try_all(self, prefix, kept_copy, before, after):
        """`before` the fix and `after` it; `kept_copy`: of the broken environment."""
        memory = self.home.root / "state/environments"
        remembered = self.home.root / "remembered"
        shutil.rmtree(remembered, ignore_errors=True)
        shutil.copytree(memory, remembered)
        tried = 0
        for number in range(1, MOST):
            become(prefix, kept_copy)
            shutil.rmtree(memory)
            shutil.copytree(remembered, memory)
            if not self.killed(prefix, number):
                break
            tried += 1
            now = {path: content for path, content in tree(prefix).items() if not path.startswith(".cudaenv-fix/")}
            for path, content in now.items():
                self.assertIn(content, (before.get(path), after.get(path)), f"{path}, killed at change {number}")
            lost = (before.keys() & after.keys()) - now.keys()
            self.assertEqual(lost, set(), f"gone, killed at change {number}")
            ran = self.home.run("check", "--fix", "-y", "--json", "-p", prefix)
            self.assertEqual(ran.returncode, 0, ran.stdout.decode() + ran.stderr.decode())
            self.assertEqual(without_words(tree(prefix)), without_words(after),
                             f"after the second fix, killed at change {number}")
        return tried

    def test_a_kept_build_that_is_put_back(self):
        wheel(self.home)
        prefix = self.home.venv("env")
        self.home.pip(prefix, "install", "--quiet", "--no-deps", build(self.home))
        self.home.check(prefix)
        after = tree(prefix)
        self.assertEqual(self.home.run("keep", "-p", prefix, "torch").returncode, 0)
        self.home.pip(prefix, "install", "--quiet", "torch==2.8.0")
        self.home.check(prefix)
        before = tree(prefix)
        copy = self.home.root / "copy"
        shutil.copytree(prefix, copy, symlinks=True)
        tried = self.try_all(prefix, copy, before, after)
        self.assertGreater(tried, 10)
        self.assertTrue((prefix / SITE / f"torch-{BUILT}.dist-info").exists())

    def test_a_wheel_over_conda_that_is_taken_away(self):
        for version in ("2.0", "1.0"):
            with self.subTest(version=version):
                self.wheel_over_conda(version)

    def wheel_over_conda(self, version):
        files = {"alpha/__init__.py": "# conda's\n", "alpha/one.py": "x = 1\n", "alpha/two.py": "x = 2\n"}
        self.home.wheel("alpha", version, {"alpha/__init__.py": "# wheel's\n", "alpha/one.py": "y = 1\n",
                                         "alpha/new.py": "n = 1\n"})
        with Conda(self.home.root) as conda:
            channel = conda.channel(f"channel-{version}", [conda_python_package("alpha", "1.0", files)])
            prefix = self.home.conda_env(f"env-{version}")
            conda.install(prefix, channel, "alpha")
        after = tree(prefix)
        self.home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", f"alpha=={version}")
        self.home.check(prefix)
        before = tree(prefix)
        copy = self.home.root / f"copy-{version}"
        shutil.copytree(prefix, copy, symlinks=True)
        tried = self.try_all(prefix, copy, before, after)
        self.assertGreater(tried, 5)
        self.assertEqual(not_as_recorded(prefix), [])


if __name__ == "__main__":
    run_tests(sys.argv)
