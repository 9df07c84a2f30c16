#!/usr/bin/env python3
"""`cudaenv resolve` and `explain` with files that list dependencies, through the program: what is in them decides
the answer, what is not used is said, and what cannot be read is an error with its place and status 2.

usage: test_inputs.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "commands"))
from support import CommandTest, run_tests  # noqa: E402

# A driver of CUDA 12.4 and a GPU that CUDA 11.8 and newer serve.
HOST = {"schema": "cudaenv.host/1", "machine": "x86_64", "glibc": "2.36",
        "driver": {"version": "550.54.15", "cuda": "12.4", "kind": "open", "derived": False, "source": "NVML"},
        "gpus": [{"index": 0, "name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "source": "NVML"}]}


class Inputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.work = self.root / "work"
        self.work.mkdir()
        self.host = self.root / "host.json"
        self.host.write_text(json.dumps(HOST))

    def put(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def ask(self, *words, status=0, command="resolve"):
        ran = self.run_cudaenv(command, *words, "--host", self.host, "--json", cwd=self.work)
        self.assertEqual(ran.returncode, status, ran)
        return json.loads(ran.stdout)

    def public(self, answer, name):
        """The version of a package without its local label; None where the answer has none."""
        versions = {package["name"].replace("pytorch", "torch"): package["version"] for package in answer["packages"]}
        return versions.get(name, "").split("+")[0] or None

    def test_requirements_decide_the_versions_and_pip_installs_them(self):
        self.put("requirements.txt", "# models\ntorch==2.4.1\ntorchvision==0.19.1  # partner\n")
        for words in (["-r", "requirements.txt"], ["requirements.txt"], ["./requirements.txt"],
                      ["--requirements", self.work / "requirements.txt"], ["."]):
            with self.subTest(words=words):
                answer = self.ask(*words)
                self.assertEqual(self.public(answer, "torch"), "2.4.1")
                self.assertEqual(self.public(answer, "torchvision"), "0.19.1")
                self.assertTrue(any("pip install" in command for command in answer["commands"]), answer["commands"])
        self.assertEqual(self.ask("-r", "requirements.txt", command="explain")["status"], "solved")

    def test_several_files_and_words_are_one_question(self):
        self.put("a.txt", "torch\n-c limits.txt\n")
        self.put("b/b.txt", "torchvision\n")
        self.put("limits.txt", "torch<2.4\n")
        answer = self.ask("-r", "a.txt", "-r", "b/b.txt", "torch>=2.2")
        self.assertRegex(self.public(answer, "torch"), r"^2\.3\.")
        self.assertIsNotNone(self.public(answer, "torchvision"))

    def test_the_index_of_a_file_decides_the_build(self):
        self.put("requirements.txt", "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.4.1\n")
        self.assertEqual(self.ask("requirements.txt")["cuda"], "11.8")
        self.assertEqual(self.ask("requirements.txt", "--cuda", "12.1")["cuda"], "12.1")
        self.put("requirements.txt", "-i https://download.pytorch.org/whl/cpu\ntorch==2.4.1\n")
        self.assertIsNone(self.ask("requirements.txt")["cuda"])

    def test_an_environment_file_of_condas(self):
        self.put("environment.yml", "name: t\nchannels:\n  - pytorch\n  - nvidia\ndependencies:\n  - python=3.10\n"
                                    "  - pytorch=2.1.2\n  - pytorch-cuda=11.8\n")
        answer = self.ask(".")
        self.assertEqual((self.public(answer, "torch"), answer["cuda"], answer["python"]), ("2.1.2", "11.8", "3.10"))
        self.assertIn("environment.yml: its channels are not read (pytorch, nvidia); -c names channels on this machine",
                      answer["remarks"])

    def test_a_local_channel_of_an_environment_file_answers(self):
        record = {"name": "pytorch", "version": "2.0.0", "build": "0", "build_number": 0, "depends": [], "subdir": "noarch"}
        self.put("channel/noarch/repodata.json", json.dumps(
            {"info": {"subdir": "noarch"}, "packages": {"pytorch-2.0.0-0.tar.bz2": record}, "packages.conda": {}}))
        self.put("channel/linux-64/repodata.json", json.dumps(
            {"info": {"subdir": "linux-64"}, "packages": {}, "packages.conda": {}}))
        self.put("environment.yml", "channels: [./channel]\ndependencies: [pytorch]\n")
        self.assertEqual(self.public(self.ask("environment.yml", "--cpu"), "torch"), "2.0.0")

    def test_requires_python_is_a_constraint(self):
        self.put("pyproject.toml", '[project]\nname = "t"\nrequires-python = ">=3.10,<3.12"\n'
                                   'dependencies = ["torch==2.5.1", "torchvision"]\n')
        answer = self.ask(".")
        self.assertIn(answer["python"], ("3.10", "3.11"))
        self.assertEqual(self.public(answer, "torchvision"), "0.20.1")
        self.assertEqual(self.ask(".", "--python", "3.10")["python"], "3.10")
        self.assertEqual(self.ask(".", "--python", "3.12", status=1)["status"], "conflict")

    def test_a_directory_without_dependencies_in_its_pyproject_has_its_other_file_read(self):
        self.put("pyproject.toml", "[tool.black]\nline-length = 100\n")
        self.put("requirements.txt", "torch==2.4.1\n")
        self.assertEqual(self.public(self.ask("."), "torch"), "2.4.1")
        self.assertEqual(self.ask("pyproject.toml", status=2)["code"], "no-dependencies")

    def test_a_pixi_workspace(self):
        self.put("pixi.toml", '[workspace]\nchannels = ["conda-forge"]\n'
                              'platforms = [{ name = "gpu", platform = "linux-64", cuda = "13.0", glibc = "2.40" }]\n'
                              '[dependencies]\npython = "3.11.*"\npytorch = "2.4.*"\n')
        answer = self.ask("pixi.toml")
        self.assertRegex(self.public(answer, "torch"), r"^2\.4\.")
        self.assertEqual(answer["python"], "3.11")
        self.assertIn("pixi.toml line 3 expects CUDA 13.0 of the driver; this one supports 12.4", answer["remarks"])
        self.assertIn("pixi.toml line 3 expects glibc 2.40; this machine has 2.36", answer["remarks"])
        self.assertRegex(answer["commands"][0], r"^pixi add --manifest-path \S*pixi.toml pytorch-gpu==2.4")
        self.put("pixi.toml", '[workspace]\nchannels = ["conda-forge"]\nplatforms = ["linux-64"]\n[dependencies]\n'
                              'python = "3.12.*"\n[pypi-dependencies]\ntorch = "==2.5.1"\n')
        self.assertEqual(self.ask("pixi.toml")["commands"], [f"pixi add --manifest-path {self.work}/pixi.toml --pypi torch==2.5.1"])

    def test_the_environment_of_the_directory_is_meant_where_none_is_active(self):
        self.put("uv.lock", "version = 1\n")
        self.put("sub/x", "")
        answer = self.ask("torch")
        self.assertRegex(answer["commands"][0], rf"^uv add --project {self.work} torch==")
        self.put(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.10.4\n")
        (self.work / ".venv/lib/python3.10/site-packages").mkdir(parents=True)
        answer = self.ask("torch")
        self.assertEqual((answer["python"], answer["environment"]["prefix"]), ("3.10", str(self.work / ".venv")))
        (self.work / "uv.lock").unlink()
        self.assertIn(f"{self.work}/.venv/bin/python -m pip install torch==", self.ask("torch")["commands"][0])
        self.put("pixi.toml", '[workspace]\nchannels = ["conda-forge"]\nplatforms = ["linux-64"]\n')
        answer = self.ask("pytorch")
        self.assertRegex(answer["commands"][0], r"^pixi add --manifest-path \S+/pixi.toml pytorch-gpu==")

    def test_a_dependency_group(self):
        self.put("pyproject.toml", '[project]\nname = "t"\nversion = "0"\n[dependency-groups]\n'
                                   'base = ["torch==2.4.1"]\ntrain = [{include-group = "base"}, "torchaudio"]\n')
        for words in (["pyproject.toml", "--group", "train"], ["--group", "train"], ["-r", ".", "--group", "train"]):
            answer = self.ask(*words)
            self.assertEqual((self.public(answer, "torch"), self.public(answer, "torchaudio")), ("2.4.1", "2.4.1"))
        self.assertEqual(self.ask("--group", "trein", status=2)["code"], "unknown-extra")

    def test_markers_are_judged_for_the_python_of_the_answer(self):
        self.put("requirements.txt", "torch==2.1.2; python_version < '3.12'\ntorch==2.5.1; python_version >= '3.12'\n")
        self.assertEqual(self.public(self.ask("requirements.txt", "--python", "3.11"), "torch"), "2.1.2")
        self.assertEqual(self.public(self.ask("requirements.txt", "--python", "3.12"), "torch"), "2.5.1")
        answer = self.ask("requirements.txt")
        late = tuple(map(int, answer["python"].split("."))) >= (3, 12)
        self.assertEqual(self.public(answer, "torch"), "2.5.1" if late else "2.1.2")

    def test_a_marker_of_an_unknown_name_does_not_decide_the_python(self):
        self.put("requirements.txt", "no-such-name; python_version < '3.9'\ntorch==2.4.1\n")
        plain, marked = self.ask("torch==2.4.1", "--manager", "pip"), self.ask("requirements.txt")
        self.assertEqual((marked["python"], marked["request"]), (plain["python"], plain["request"]))

    def test_names_that_are_not_known_are_said_and_the_rest_is_answered(self):
        self.put("requirements.txt", "".join(f"no-such-name-{i}\n" for i in range(200)) + "torch==2.4.1\n")
        answer = self.ask("requirements.txt")
        self.assertEqual(self.public(answer, "torch"), "2.4.1")
        said = [line for line in answer["remarks"] if "does not know no-such-name-0," in line]
        self.assertEqual(len(said), 1, answer["remarks"])
        self.assertIn("and 195 more", said[0])
        self.put("requirements.txt", "torch==2.4.1\ntorchvisoin\n")
        self.assertIn('requirements.txt line 2: cudaenv does not know torchvisoin: did you mean "torchvision"?',
                      self.ask("requirements.txt")["remarks"])
        self.assertEqual(self.ask("no-such-name", status=2)["code"], "no-such-package")

    def test_what_cannot_be_read_is_an_error_with_its_place(self):
        self.put("requirements.txt", "torch\ntorch=2.4.1\n")
        self.put("outer.txt", "-r missing.txt\n")
        self.put("environment.yml", "dependencies:\n  - pytorch\n bad\n")
        self.put("binary.txt", "a\0b")
        self.put("unknown.txt", "no-such-name\n")
        os.mkfifo(self.work / "pipe.txt")
        cases = [(["requirements.txt"], "bad-requirement", "requirements.txt", 2),
                 (["outer.txt"], "no-such-file", "outer.txt", 1),
                 (["-r", "environment.yml"], "bad-yaml", "environment.yml", 3),
                 (["-r", "gone.txt"], "no-such-file", "gone.txt", None),
                 (["gone.txt"], "no-such-file", "gone.txt", None),
                 (["binary.txt"], "not-an-input-file", "binary.txt", None)]
        for words, code, path, line in cases:
            with self.subTest(words=words):
                error = self.ask(*words, status=2)
                self.assertEqual((error["code"], error["path"], error["line"]), (code, path, line), error)
        for words in (["pipe.txt"], ["unknown.txt"]):
            error = self.ask(*words, status=2)
            self.assertEqual((error["code"], error["path"]), ("nothing-asked", words[0]), error)
        (self.work / "empty").mkdir()
        self.assertEqual(self.ask("./empty", status=2)["code"], "no-such-file")

    def test_an_error_of_the_resolver_names_the_line_of_the_file(self):
        self.put("environment.yml", "dependencies:\n  - python\n  - pytorch=abc\n")
        error = self.ask("environment.yml", status=2)
        self.assertEqual((error["code"], error["path"], error["line"]), ("bad-version", "environment.yml", 3), error)


if __name__ == "__main__":
    run_tests()
