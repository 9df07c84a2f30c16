"""Names of environments: made-up homes, condarc files and variables, and which directory cudaenv and
conda's own locate_prefix_by_name find there.

Needs a Python that can import conda: this one, or the one that CUDAENV_TEST_CONDA_PYTHON names."""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from ctest_status import run_tests_of_main  # noqa: E402

DUMP = None
PYTHON = os.environ.get("CUDAENV_TEST_CONDA_PYTHON", sys.executable)
LAYOUTS = 300

WORKER = """
import json, os, sys
sys.prefix = sys.argv[1]
os.environ.pop("CONDA_ROOT", None)
from conda.base import context as module
from conda.common.configuration import YamlRawParameter
from conda.exceptions import CondaError
for line in sys.stdin:
    request = json.loads(line)
    os.environ.clear()
    os.environ.update(request["environment"], CONDA_ROOT=sys.prefix)
    os.chdir(request["directory"])
    YamlRawParameter.cache_clear()
    found = {}
    try:
        module.reset_context()
        directories = module.context.envs_dirs
        for name in request["names"]:
            try:
                found[name] = module.locate_prefix_by_name(name)
            except CondaError:
                found[name] = None
        print(json.dumps({"found": found, "directories": directories}), flush=True)
    except Exception as error:
        print(json.dumps({"error": repr(error)}), flush=True)
"""


class Lines:
    """A program that answers a line with a line."""

    def __init__(self, *words, **more):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


class Names(unittest.TestCase):
    def setUp(self):
        if subprocess.run([PYTHON, "-c", "import conda.base.context"], capture_output=True).returncode != 0:
            self.skipTest("no conda to compare with: CUDAENV_TEST_CONDA_PYTHON=PYTHON names a Python that "
                          "can import it, such as that of an installed conda")
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="cudaenv-names-")))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        for directory in ("home", "work", "conda/conda-meta", "conda/bin", "lab"):
            (self.root / directory).mkdir(parents=True)
        (self.root / "conda/conda-meta/history").touch()
        program = self.root / "conda/bin/conda"
        program.touch()
        program.chmod(0o755)
        self.ours = Lines(DUMP)
        self.addCleanup(self.ours.close)
        self.conda = Lines(PYTHON, "-c", WORKER, str(self.root / "conda"), cwd=self.root)
        self.addCleanup(self.conda.close)

    def written(self, dice):
        """One directory in one of the ways that it can be written."""
        return dice.choice(["~/e1", "$HOME/e2", "${LAB}/e3", "$LAB/e4", "$UNSET/e5", "../lab/e6", "relative",
                            f"{self.root}/e7", f"{self.root}/lab/../e8/", "~/.conda/envs", "'quoted e9'"])

    def condarc(self, dice):
        directories = [self.written(dice) for _ in range(dice.randrange(4))]
        key = dice.choice(["envs_dirs", "envs_dirs", "envs_path"])
        mark = dice.choice(["", "", "", "  #!final"])
        if dice.random() < 0.4:
            items = [directory if directory.startswith("'") else f'"{directory}"' for directory in directories]
            text = f"{key}: [{', '.join(items)}]{mark}\n"
        else:
            indent = dice.choice(["", "  "])
            items = [f"{indent}- {directory}{dice.choice(['', '', '  #!top', '  #!bottom', '  # words'])}\n"
                     for directory in directories]
            text = f"{key}:\n" + "".join(items)
        return dice.choice(["", "channels:\n  - defaults\n", "# mine\n\n"]) + text + \
            dice.choice(["", "ssl_verify: true\n", "custom_channels: {a: 'b: c'}\n"])

    def layout(self, dice):
        home, lab = self.root / "home", self.root / "lab"
        environment = {"HOME": str(home), "LAB": str(lab), "CONDA_EXE": str(self.root / "conda/bin/conda"),
                       "PATH": "/usr/bin:/bin"}
        places = [home / ".condarc", home / ".config/conda/condarc", home / ".conda/condarc.d/one.yml",
                  home / ".conda/condarc.d/two.yaml", home / ".conda/condarc.d/not", self.root / "conda/.condarc",
                  self.root / "conda/condarc.d/site.yml", self.root / "extra.yml", self.root / "xdg/conda/condarc"]
        for place in places:
            place.unlink(missing_ok=True)
            if dice.random() < 0.35:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(self.condarc(dice))
        if dice.random() < 0.4:
            environment["CONDARC"] = str(self.root / "extra.yml")
        if dice.random() < 0.3:
            environment["XDG_CONFIG_HOME"] = str(self.root / "xdg")
        if dice.random() < 0.3:
            environment[dice.choice(["CONDA_ENVS_DIRS", "CONDA_ENVS_PATH"])] = ":".join(
                self.written(dice).strip("'") for _ in range(dice.randrange(3)))
        if dice.random() < 0.2:
            active = home / "e1/active"
            (active / "conda-meta").mkdir(parents=True, exist_ok=True)
            (active / ".condarc").write_text(self.condarc(dice))
            environment["CONDA_PREFIX"] = str(active)
        return {"environment": environment, "directory": str(self.root / "work")}

    def test_as_conda(self):
        dice = random.Random(12)
        compared = 0
        for number in range(LAYOUTS):
            request = {**self.layout(dice), "names": ["one", "two", "base", "root", "absent"]}
            theirs = self.conda.ask(request)
            with self.subTest(number=number, request=request):
                self.assertNotIn("error", theirs)
                # Environments where conda looks, so that its answer says which comes first.
                for directory in theirs["directories"]:
                    for name in ("one", "two"):
                        shutil.rmtree(Path(directory, name), ignore_errors=True)
                        if dice.random() < 0.4:
                            Path(directory, name, "conda-meta").mkdir(parents=True)
                theirs = self.conda.ask(request)
                ours = self.ours.ask(request)
                self.assertEqual(ours["notes"], [])
                self.assertEqual(ours["directories"], list(theirs["directories"]))
                self.assertEqual(ours["found"], theirs["found"])
                compared += 1
        self.assertEqual(compared, LAYOUTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    options, rest = parser.parse_known_args()
    DUMP = options.dump
    run_tests_of_main(rest)
