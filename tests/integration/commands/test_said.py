"""What a prompt is given to say: one line for a change and at most one beside it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from support import PROGRAMS, CommandTest, run_tests


class Said(CommandTest):
    def setUp(self):
        super().setUp()
        self.daemon = subprocess.Popen([PROGRAMS["cudaenvd"], "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       env=self.environment, cwd=self.root, text=True)
        self.addCleanup(self.end)
        self.number = 0
        self.ask("hello", protocol=1)
        prefix = self.root / "e"
        (prefix / "conda-meta").mkdir(parents=True)
        (prefix / "bin").mkdir()
        self.facts, self.toolkit = self.lab_with_its_toolkit()
        self.torch_in(prefix)
        self.shell = {**self.environment, "CONDA_PREFIX": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin",
                      "CUDAENV_HOST": str(self.facts)}

    def end(self):
        self.daemon.stdin.close()
        self.daemon.stdout.close()
        self.daemon.wait(timeout=60)

    def ask(self, method, **params):
        self.number += 1
        self.daemon.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method,
                                            "params": params}) + "\n")
        self.daemon.stdin.flush()
        return json.loads(self.daemon.stdout.readline())

    def prompt(self, **params):
        """The lines of a prompt in this shell, which then has what was changed."""
        answer = self.ask("activate", shell="bash", **params, caller={
            "cwd": str(self.root), "environment": self.shell, "utf8": True, "uid": 0})["result"]["object"]
        for change in answer["changes"]:
            self.shell.pop(change["name"], None)
            if change["value"] is not None:
                self.shell[change["name"]] = change["value"]
        return answer["say"]

    def test_one_line_a_change_and_none_where_nothing_changed(self):
        said = self.prompt()
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(f"CUDA 11.3 · {self.toolkit}"), said)
        self.assertEqual(self.prompt(), [])

    def test_a_nested_shell_whose_start_up_files_touch_path_says_nothing(self):
        self.prompt()
        for path in (f"/usr/local/sbin:{self.shell['PATH']}", "/usr/local/bin:/usr/bin:/bin"):
            self.shell["PATH"] = path
            self.assertEqual(self.prompt(), [])
            self.assertIn(f"{self.toolkit}/bin", self.shell["PATH"].split(":"))

    def test_a_conflict_adds_one_line_and_more_than_one_point_to_status(self):
        self.shell["CUDAENV_CUDA"] = "10.0"
        said = self.prompt()
        self.assertEqual(len(said), 2, said)
        self.assertFalse(said[1].endswith("cudaenv status"), said)
        (self.root / "cudaenv.toml").write_text('[pins]\ncuda = "11.3"\nnothing_known = "1"\n')
        del self.shell["CUDAENV_CUDA"]
        self.prompt()
        self.shell["CUDAENV_CUDA"] = "10.0"
        said = self.prompt()
        self.assertEqual(len(said), 2, said)
        self.assertTrue(said[1].endswith(" · cudaenv status"), said)

    def test_what_was_taken_back_before_the_question_counts_as_what_the_shell_has(self):
        self.prompt()
        was = self.shell["__CUDAENV_UNDO"]
        bare = {**self.environment, "PATH": "/usr/bin:/bin", "CUDAENV_HOST": str(self.facts)}
        self.shell = {**bare, "CONDA_PREFIX": str(self.root / "e"), "PATH": f"{self.root}/e/bin:/usr/bin:/bin"}
        self.assertEqual(self.prompt(was=was), [])
        self.shell = bare
        self.assertEqual(self.prompt(was=was), ["off, the shell is as it was"])

    def test_a_configuration_that_cannot_be_read_is_named_and_what_was_set_is_taken_back(self):
        config = Path(self.environment["HOME"], ".config/cudaenv/config.toml")
        config.parent.mkdir(parents=True, exist_ok=True)
        for text in (b"xx[\n", b"[activate\n", b"[activate]\nkeep_cuda_home = maybe\n", b'[pins]\ncuda = "abc"\n',
                     b"\0\xff"):
            config.unlink(missing_ok=True)
            self.prompt()
            self.assertIn("CUDA_HOME", self.shell)
            config.write_bytes(text)
            answer = self.ask("activate", shell="bash", watch=True, caller={
                "cwd": str(self.root), "environment": self.shell, "utf8": True, "uid": 0})["result"]["object"]
            self.assertEqual(len(answer["say"]), 1, answer)
            self.assertIn("config.toml", answer["say"][0])
            self.assertIn("unset -v CUDA_HOME", answer["text"])
            self.shell.pop("CUDA_HOME")

    def test_another_users_project_file_is_told_once_and_not_to_be_adopted(self):
        if os.getuid() != 0:
            self.skipTest("needs a file of another user; run as root")
        (self.root / "cudaenv.toml").write_text('[pins]\ncuda = "10.0"\n')
        os.chown(self.root / "cudaenv.toml", 12345, 12345)
        lines = [line for line in self.prompt(tell_installs=True) if "belongs to" in line]
        self.assertEqual(len(lines), 1)
        self.assertNotIn("chown", lines[0])
        self.assertEqual([line for line in self.prompt(tell_installs=True) if "belongs to" in line], [])
        self.shell.pop("CONDA_PREFIX")  # another decision
        self.assertEqual([line for line in self.prompt(tell_installs=True) if "belongs to" in line], [])

    def test_what_is_taken_back_is_one_line(self):
        self.prompt()
        shutil.rmtree(self.root / "e")
        self.shell = {key: value for key, value in self.shell.items() if key != "CONDA_PREFIX"}
        self.assertEqual(self.prompt(), ["off, the shell is as it was"])


if __name__ == "__main__":
    run_tests()
