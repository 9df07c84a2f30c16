"""What the tests of the client's own commands share: where they live, and a daemon that says what
the test wants."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from ctest_status import run_tests_of_main  # noqa: E402

LAB = Path(__file__).resolve().parents[3] / "docs/examples/lab-07.json"
PROGRAMS = {}  # "cudaenv", "cudaenvd": set by run_tests

# Not the interpreter of the tests: another user may not be able to run it.
DAEMON = """#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    hello = request["method"] == "hello"
    with open({asked!r}, "a") as log:
        log.write(line)
    answers = json.load(open({answers!r}))
    result = dict(request["params"], capabilities=[]) if hello else \\
        {{"status": 0, "object": answers[request["method"]]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": result}}), flush=True)
"""


def env_object(**more):
    return {"schema": "cudaenv.env/1", "cuda": None, "toolkit": None, "changes": [], "set": {},
            "front": {}, "back": {}, "line": None, "notes": [], "warnings": [], "remedy": None,
            **more}


class CommandTest(unittest.TestCase):
    """One directory, one home, one environment of the process for each test."""

    def setUp(self):
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-commands-")))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.home = self.root / "home"
        self.home.mkdir()
        (self.root / "run").mkdir(mode=0o700)
        self.environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
                            "XDG_RUNTIME_DIR": str(self.root / "run"), "CUDAENV_NO_DAEMON": "1",
                            "CUDAENV_DAEMON": PROGRAMS["cudaenvd"], "SHELL": "/bin/bash"}

    def fake_daemon(self, **answers):
        """From now on the daemon answers so, by method. Returns what it was asked, when called."""
        asked, text = self.root / "asked", self.root / "answers.json"
        text.write_text(json.dumps(answers))
        program = self.root / "fake-cudaenvd"
        program.write_text(DAEMON.format(asked=str(asked), answers=str(text)))
        program.chmod(0o755)
        asked.touch()
        asked.chmod(0o666)
        self.environment["CUDAENV_DAEMON"] = str(program)

        def requests(method):
            lines = [json.loads(line) for line in asked.read_text().splitlines()]
            return [line["params"] for line in lines if line["method"] == method]
        return requests

    def lab_with_its_toolkit(self):
        """The facts of lab-07, whose CUDA 11.3 lies below this test's directory. Returns facts and toolkit."""
        toolkit = self.root / "cuda-11.3"
        for directory in ("bin", "include", "lib64", "nvvm"):
            (toolkit / directory).mkdir(parents=True)
        (toolkit / "bin/nvcc").touch()
        (toolkit / "bin/nvcc").chmod(0o755)
        facts = self.root / "lab.json"
        facts.write_text(LAB.read_text().replace("/usr/local/cuda-11.3", str(toolkit)))
        return facts, toolkit

    def torch_in(self, prefix, version="1.12.1+cu113"):
        """As torch's wheel leaves it in an environment, as far as a prompt reads it."""
        site = prefix / "lib/python3.11/site-packages"
        (site / f"torch-{version}.dist-info").mkdir(parents=True)
        (site / f"torch-{version}.dist-info/METADATA").write_text(f"Name: torch\nVersion: {version}\n")
        (site / "torch").mkdir()
        (site / "torch/version.py").write_text(
            f"__version__ = '{version}'\ncuda: Optional[str] = '{version[-3:-1]}.{version[-1]}'\n")

    def run_cudaenv(self, *words, **more):
        return self.run_program([PROGRAMS["cudaenv"], *words], **more)

    def run_program(self, words, environment=None, cwd=None, **more):
        return subprocess.run([os.fsencode(word) for word in words], capture_output=True,
                              env={**self.environment, **(environment or {})},
                              cwd=cwd or self.root, timeout=60, **more)

    def check(self, ran, status=0, out=None, err=None):
        self.assertEqual(ran.returncode, status, ran.stderr.decode(errors="replace"))
        if out is not None:
            self.assertEqual(ran.stdout.decode(), out)
        if err is not None:
            self.assertEqual(ran.stderr.decode(), err)
        return ran


def run_tests():
    """For ctest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--cudaenvd", required=True)
    options, rest = parser.parse_known_args()
    PROGRAMS.update(cudaenv=os.path.realpath(options.cudaenv),
                    cudaenvd=os.path.realpath(options.cudaenvd))
    run_tests_of_main(rest)
