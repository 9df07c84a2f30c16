#!/usr/bin/env python3
"""A torch that was built here, and `pip install torchvision`: what the next prompt says, in real shells with the real
hook and daemon, and what `cudaenv check` and `check --fix` say and do then.

usage: test_story.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import shutil
import signal
import sys
import time
import unittest
from pathlib import Path

import envs
from envs import SITE, Home, Index, make_wheel, quiet, run_tests

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shells"))
import driver  # noqa: E402

WAIT = 60  # seconds for what is expected to happen at once; a loaded machine is slow
BUILT = "1.12.0a0+git664058f"
BACKEND = """\
import os, shutil
def build_wheel(directory, config_settings=None, metadata_directory=None):
    shutil.copy({wheel!r}, directory)
    return os.path.basename({wheel!r})
"""


def torch_files(who):
    """The layout of a real one, in small: a CUDA library beside Python code."""
    return {"torch/__init__.py": f"built_by = {who!r}\n", "torch/version.py": f"# {who}\n",
            "torch/lib/libtorch.so": f"\0ELF {who}" * 200, "torch/lib/libc10.so": f"\0ELF c10 {who}" * 100,
            "torch/_C.cpython-311-x86_64-linux-gnu.so": f"\0ELF C {who}" * 50, "torch/py.typed": ""}


class Story(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.home = Home()
        self.home.__enter__()
        self.addCleanup(self.home.__exit__)
        self.addCleanup(self.end_daemons)
        root = self.home.root
        make_wheel(root / "index", "torch", "2.15.0", torch_files("index"), ["typing-extensions"])
        make_wheel(root / "index", "torchvision", "0.30.0", {"torchvision/__init__.py": ""}, ["torch==2.15.0"])
        make_wheel(root / "index", "typing-extensions", "4.12.2", {"typing_extensions.py": ""})
        make_wheel(root / "index", "harmless", "1.0", {"harmless.py": ""})
        built = make_wheel(root / "built", "torch", BUILT, torch_files("source"))
        self.source = root / "home/src/pytorch"
        self.source.mkdir(parents=True)
        (self.source / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n')
        (self.source / "backend.py").write_text(BACKEND.format(wheel=str(built)))
        self.prefix = self.home.venv("apex")
        self.environment = {key: value for key, value in self.home.environment.items()
                            if key != "CUDAENV_NO_DAEMON"}
        self.environment.update(TERM="xterm", PS1="")
        driver.write_rc_files(root / "home", envs.PROGRAMS["cudaenv"], True)

    def end_daemons(self):
        mark = f"XDG_RUNTIME_DIR={self.home.root / 'run'}".encode()
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and Path(f"/proc/{entry}/comm").read_text() == "cudaenvd\n" and \
                        mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:
                pass  # it has ended

    def shell(self, kind):
        if why := driver.missing(kind):
            self.skipTest(why)
        scratch = self.home.root / f"scratch-{kind}"
        scratch.mkdir(exist_ok=True)
        shell = driver.Shell(kind, self.environment, self.home.root / "home", scratch, deadline=120)
        self.addCleanup(shell.close)
        return shell

    def said(self, answer):
        return [line.strip() for line in answer.said.splitlines() if line.strip().startswith("cudaenv: CE")]

    def activated(self, kind):
        shell = self.shell(kind)
        script = {"fish": "activate.fish", "tcsh": "activate.csh"}.get(kind, "activate")
        answer = shell.run(f"source {self.prefix}/bin/{script}")
        self.assertEqual(answer.status, 0, answer.said)
        return shell

    def press_enter_until(self, holds, *shells):
        """What the shells said until it holds. On a busy machine an answer may come at a later prompt."""
        said = []
        end = time.monotonic() + WAIT
        while not holds(said) and time.monotonic() < end:
            for shell in shells:
                said += self.said(shell.run(""))
        return said

    def is_remembered(self, _):
        return any((self.home.root / "state/environments").glob("*.json"))

    def pip(self, prefix=None):
        """Typed outside of the environment: venv without a pip of its own is made in a tenth of the time."""
        return [sys.executable, "-m", "pip", "--python", f"{prefix or self.prefix}/bin/python", "install", "--quiet"]

    def install_build(self):
        quiet([*self.pip(), "--no-deps", "--no-index", "--no-build-isolation", self.source],
              env=self.environment)
        self.assertIn(f"torch-{BUILT}.dist-info", os.listdir(self.prefix / SITE))

    def play(self, kind):
        self.install_build()
        shell = self.activated(kind)
        self.assertEqual(self.press_enter_until(self.is_remembered, shell), [])
        with Index(self.home.root / "index") as index:
            pip = " ".join([*self.pip(), "--index-url", index.url])
            self.assertEqual(self.said(shell.run(f"{pip} harmless")), [])
            answer = shell.run(f"{pip} torchvision")
            self.assertEqual(answer.status, 0, answer.said)
            self.assertEqual(
                self.said(answer) or self.press_enter_until(bool, shell),
                ["cudaenv: CE104 pip replaced torch 1.12.0a0+git (built here) with torch 2.15.0"
                 " · cudaenv check CE104"], answer.said)
            for command in ("", "cd /", f"{pip} --force-reinstall harmless", ""):
                self.assertEqual(self.said(shell.run(command)), [], command)
        report = self.home.check(self.prefix, status=1)
        found = [finding for finding in report["findings"] if finding["code"] == "CE104"]
        self.assertEqual(len(found), 1, report)
        self.assertIn("torchvision", json.dumps(found[0]["evidence"]))
        self.assertIn(BUILT, json.dumps(found[0]["evidence"]))

    def test_bash_says_it_once_at_the_next_prompt(self):
        self.play("bash")

    def test_zsh_says_it_once_at_the_next_prompt(self):
        self.play("zsh")

    def test_fish_says_it_once_at_the_next_prompt(self):
        self.play("fish")

    def test_tcsh_says_it_once_at_the_next_prompt(self):
        self.play("tcsh")

    def test_an_install_in_another_terminal_is_said_here_once(self):
        self.install_build()
        shells = [self.activated("bash"), self.activated("bash")]
        self.assertEqual(self.press_enter_until(self.is_remembered, *shells), [])
        with Index(self.home.root / "index") as index:
            quiet([*self.pip(), "--index-url", index.url, "torchvision"], env=self.environment)
        said = self.press_enter_until(bool, *shells)
        said += [line for shell in shells for line in self.said(shell.run(""))]
        self.assertEqual(len(said), 1, said)
        self.assertIn("CE104", said[0])

    def test_what_the_settings_forbid_is_not_said(self):
        for setting in ('warn = false', 'ignore = ["CE104"]'):
            with self.subTest(setting):
                config = self.home.root / "home/.config/cudaenv/config.toml"
                config.parent.mkdir(parents=True, exist_ok=True)
                config.write_text(f"[check]\n{setting}\n")
                shutil.rmtree(self.home.root / "state", ignore_errors=True)
                shutil.rmtree(self.prefix)
                self.home.venv("apex")
                self.install_build()
                shell = self.activated("bash")
                with Index(self.home.root / "index") as index:
                    answer = shell.run(" ".join([*self.pip(), "--index-url", index.url, "torchvision"]))
                self.assertEqual(answer.status, 0, answer.said)
                self.assertEqual(self.said(answer) + self.said(shell.run("")), [])

    def test_a_script_of_attach_says_it(self):
        conda = self.home.conda_env("attached")
        self.prefix = conda
        ran = self.home.run("attach", "-p", conda)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        script = next((conda / "etc/conda/activate.d").glob("*.sh"))
        words = ["sh", "-eu", "-c", f'. "{script}"']
        environment = {**self.environment, "CONDA_PREFIX": str(conda), "CUDAENV_NO_DAEMON": "1"}
        self.home.pip(conda, "install", "--quiet", "--no-deps", "--no-build-isolation", str(self.source))
        run = lambda: envs.subprocess.run(words, env=environment, capture_output=True, timeout=60)  # noqa: E731
        self.assertNotIn(b"CE104", run().stderr)
        with Index(self.home.root / "index") as index:
            quiet([*self.pip(conda), "--index-url", index.url, "torchvision"], env=self.environment)
        self.assertIn(b"CE104 pip replaced torch", run().stderr)
        self.assertNotIn(b"CE104", run().stderr)


if __name__ == "__main__":
    run_tests(sys.argv)
