"""`cudaenv run`, `env` and `use` with a daemon that says what the test wants."""

import json
import signal
import subprocess

import support
from support import CommandTest, env_object, run_tests


def change(name, value):
    return {"name": name, "value": value}


class Run(CommandTest):
    def setUp(self):
        super().setUp()
        self.bin = self.root / "toolkit/bin"
        self.bin.mkdir(parents=True)
        nvcc = self.bin / "nvcc"
        nvcc.write_text("#!/bin/sh\necho the chosen nvcc \"$@\"\n")
        nvcc.chmod(0o755)
        self.answer = env_object(
            toolkit={"path": str(self.root / "toolkit")},
            changes=[change("CUDA_HOME", str(self.root / "toolkit")),
                     change("PATH", f"{self.bin}:/usr/bin:/bin"), change("GONE", None)],
            set={"CUDA_HOME": str(self.root / "toolkit")}, front={"PATH": [str(self.bin)]})

    def test_the_command_is_found_on_the_path_of_the_new_environment(self):
        self.fake_daemon(activate=self.answer)
        self.check(self.run_cudaenv("run", "nvcc", "--version"), out="the chosen nvcc --version\n")

    def test_words_after_the_command_are_never_parsed(self):
        asked = self.fake_daemon(activate=self.answer)
        words = ["--help", "--json", "-p", "x", "--", "--cuda", "1"]
        self.check(self.run_cudaenv("run", "--cuda", "11.3", "nvcc", *words),
                   out=f"the chosen nvcc {' '.join(words)}\n")
        self.check(self.run_cudaenv("run", "--", "nvcc", "--", "-q"), out="the chosen nvcc -- -q\n")
        self.assertEqual([a.get("cuda") for a in asked("activate")], ["11.3", None])

    def test_variables_are_set_and_unset_and_others_stay_in_their_order(self):
        self.fake_daemon(activate=self.answer)
        ran = self.check(self.run_cudaenv("run", "env", environment={"GONE": "1", "KEPT": "a=b"}))
        lines = ran.stdout.decode().splitlines()
        self.assertIn("KEPT=a=b", lines)
        self.assertIn(f"CUDA_HOME={self.root}/toolkit", lines)
        self.assertFalse([line for line in lines if line.startswith("GONE=")])

    def test_bytes_that_are_not_utf8_arrive_as_they_are(self):
        self.answer["changes"].append(change("ODD", {"hex": "2fff0a"}))
        self.fake_daemon(activate=self.answer)
        ran = self.check(self.run_cudaenv("run", "printenv", "ODD"))
        self.assertEqual(ran.stdout, b"/\xff\n\n")

    def test_the_process_becomes_the_command_with_its_input_and_its_status(self):
        self.fake_daemon(activate=self.answer)
        with subprocess.Popen([support.PROGRAMS["cudaenv"], "run", "sh", "-c", "echo $$; cat; exit 42"],
                              env=self.environment, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as child:
            out, _ = child.communicate(b"typed")
        self.assertEqual(out, f"{child.pid}\ntyped".encode())
        self.assertEqual(child.returncode, 42)

    def test_signals_reach_the_command_and_none_is_ignored_for_it(self):
        self.fake_daemon(activate=self.answer)
        with subprocess.Popen([support.PROGRAMS["cudaenv"], "run", "sh", "-c",
                               "grep SigIgn /proc/$$/status; exec sleep 60"],
                              env=self.environment, stdout=subprocess.PIPE,
                              restore_signals=True) as child:
            line = child.stdout.readline()
            child.send_signal(signal.SIGTERM)
            child.wait(10)
        self.assertEqual(int(line.split()[1], 16), 0)
        self.assertEqual(child.returncode, -signal.SIGTERM)

    def test_its_own_failures_have_statuses_of_their_own(self):
        self.fake_daemon(activate=self.answer)
        plain = self.root / "plain"
        plain.write_text("no program\n")
        lost = self.root / "lost"
        lost.write_text("#!/no/such/interpreter\n")
        lost.chmod(0o755)
        for words, status, text in (
                (["no-such-program"], 127, '"no-such-program" is not on PATH'),
                ([str(self.root / "missing")], 127, "does not exist"),
                ([str(plain)], 126, "cannot be executed: Permission denied"),
                ([str(lost)], 126, "needs an interpreter that does not exist"),
                ([], 125, "cudaenv run needs COMMAND"),
                (["--no-such-option", "x"], 125, "is not an option of cudaenv run")):
            ran = self.check(self.run_cudaenv("run", *words), status=status, out="")
            self.assertIn(text, ran.stderr.decode())
        self.environment["CUDAENV_DAEMON"] = "/no/such/cudaenvd"
        ran = self.check(self.run_cudaenv("run", "true"), status=125, out="")
        self.assertIn("cudaenvd was not found", ran.stderr.decode())

    def test_a_version_asked_for_that_is_not_here_runs_nothing(self):
        self.fake_daemon(activate=env_object(remedy="get it so"))
        ran = self.check(self.run_cudaenv("run", "--cuda", "11.3", "echo", "ran"), 125, out="")
        self.assertRegex(ran.stderr.decode(), r"\bCUDA 11\.3\b.*; get it so\n$")
        self.check(self.run_cudaenv("run", "echo", "ran"), 0, out="ran\n")
        other = {"path": "/cuda-11.8", "version": "11.8.89", "match": "same-major"}
        self.fake_daemon(activate=env_object(toolkit=other))
        self.check(self.run_cudaenv("run", "--cuda", "11.3", "echo", "ran"), 125, out="")
        self.check(self.run_cudaenv("run", "echo", "ran"), 0, out="ran\n")

    def test_half_an_answer_runs_nothing(self):
        for broken in ({"changes": [{"name": "A=B", "value": "1"}]},
                       {"changes": [{"name": "A", "value": 3}]},
                       {"changes": [{"name": "A", "value": {"hex": "0"}}]},
                       {"changes": [{"name": "A", "value": "a\0b"}]},
                       {"schema": "cudaenv.other/1"}, {"toolkit": {"path": "relative"}}):
            self.fake_daemon(activate=env_object(**broken))
            self.check(self.run_cudaenv("run", "echo", "ran"), 125, out="")

    def test_a_named_environment_is_as_if_it_were_active(self):
        for kind, variable, other in (("conda-meta", "CONDA_PREFIX", "VIRTUAL_ENV"),
                                      ("pyvenv.cfg", "VIRTUAL_ENV", "CONDA_PREFIX")):
            prefix = self.root / f"env {kind}"
            (prefix / "bin").mkdir(parents=True)
            (prefix / kind).mkdir() if kind == "conda-meta" else (prefix / kind).touch()
            asked = self.fake_daemon(
                activate=env_object(),
                status={"environment": {"prefix": str(prefix), "name": "e", "kind": "x"}})
            ran = self.check(self.run_cudaenv("run", "-n", "e", "env",
                                              environment={"VIRTUAL_ENV": "/v"}))
            lines = ran.stdout.decode().splitlines()
            self.assertIn(f"PATH={prefix}/bin:/usr/bin:/bin", lines)
            self.assertIn(f"{variable}={prefix}", lines)
            if variable == "CONDA_PREFIX":
                self.assertFalse([line for line in lines if line.startswith("VIRTUAL_ENV=")])
            params = asked("activate")[-1]
            self.assertEqual(params["prefix"], str(prefix))
            self.assertEqual(params["caller"]["environment"]["PATH"],
                             f"{prefix}/bin:/usr/bin:/bin")
            self.assertEqual(params["caller"]["environment"][variable], str(prefix))

    def test_warnings_are_told_and_with_quiet_are_not(self):
        self.fake_daemon(activate=env_object(warnings=["the minor differs"]))
        self.check(self.run_cudaenv("run", "true"), err="cudaenv: the minor differs\n")
        self.check(self.run_cudaenv("run", "-q", "true"), err="")


class Env(CommandTest):
    def setUp(self):
        super().setUp()
        self.answer = env_object(
            changes=[change("CC", "/usr/bin/gcc-9"), change("PATH", "/t/bin:/usr/bin:/bin"),
                     change("CUDNN_HOME", None), change("__CUDAENV_UNDO", "1.x")],
            set={"CC": "/usr/bin/gcc-9", "CUDA_HOME": "/t"},
            front={"PATH": ["/t/bin", "/t/nvvm/bin"]}, back={"LD_LIBRARY_PATH": ["/t/lib64"]})

    def test_text_for_a_shell_is_the_changes(self):
        self.fake_daemon(activate=self.answer)
        ran = self.check(self.run_cudaenv("env", "--shell", "bash"))
        ran = self.run_program(["bash", "-c", 'CUDNN_HOME=x; export CUDNN_HOME; eval "$1"; '
                                 'echo "$CC|$PATH|${CUDNN_HOME-unset}|$__CUDAENV_UNDO"', "-",
                                 ran.stdout.decode()])
        self.check(ran, out="/usr/bin/gcc-9|/t/bin:/usr/bin:/bin|unset|1.x\n")

    def test_a_dotenv_file_has_whole_values_whether_this_shell_has_them_or_not(self):
        self.fake_daemon(activate=self.answer)
        self.check(self.run_cudaenv("env", "--dotenv", environment={"LD_LIBRARY_PATH": "/t/lib64"}),
                   out="CC=/usr/bin/gcc-9\nCUDA_HOME=/t\nLD_LIBRARY_PATH=/t/lib64\n"
                       "PATH=/t/bin:/usr/bin:/bin\n")

    def test_a_dotenv_file_means_the_same_to_python_dotenv(self):
        try:
            import dotenv
        except ImportError:
            self.skipTest("no python-dotenv here; pip install python-dotenv")
        self.answer["set"]["CC"] = "/opt/my gcc/bin/g++-9 --x=a#b ü"
        self.fake_daemon(activate=self.answer)
        ran = self.check(self.run_cudaenv("env", "--dotenv"))
        (self.root / ".env").write_bytes(ran.stdout)
        self.assertEqual(dotenv.dotenv_values(self.root / ".env")["CC"], self.answer["set"]["CC"])

    def test_what_readers_of_dotenv_files_disagree_about_is_refused(self):
        for value in ("a\nb", "$HOME", "'quoted'", " a", "a ", "a #b", "#a", "a\\b", "`a`", "a\rb"):
            self.answer["set"]["CC"] = value
            self.fake_daemon(activate=self.answer)
            ran = self.check(self.run_cudaenv("env", "--dotenv"), status=3, out="")
            self.assertIn("the value of CC cannot be written", ran.stderr.decode())

    def test_github_gets_its_two_files(self):
        self.answer["set"]["CC"] = "two\nlines\nCUDAENV_END"
        self.fake_daemon(activate=self.answer)
        files = {name: str(self.root / name) for name in ("GITHUB_ENV", "GITHUB_PATH")}
        for path in files.values():
            with open(path, "w") as file:
                file.write("BEFORE=1\n")
        self.check(self.run_cudaenv("env", "--github", environment=files), out="")
        self.assertEqual((self.root / "GITHUB_ENV").read_text(),
                         "BEFORE=1\nCC<<CUDAENV_END_\ntwo\nlines\nCUDAENV_END\nCUDAENV_END_\n"
                         "CUDA_HOME<<CUDAENV_END\n/t\nCUDAENV_END\n")
        # The runner puts each line before those above it.
        self.assertEqual((self.root / "GITHUB_PATH").read_text(),
                         "BEFORE=1\n/t/nvvm/bin\n/t/bin\n")

    def test_without_the_files_github_text_is_printed(self):
        self.fake_daemon(activate=self.answer)
        ran = self.check(self.run_cudaenv("env", "--github"))
        self.assertTrue(ran.stdout.decode().endswith("CUDAENV_END\n/t/nvvm/bin\n/t/bin\n"))

    def test_json_is_the_object_and_forms_exclude_each_other(self):
        self.fake_daemon(activate=self.answer)
        self.assertEqual(json.loads(self.check(self.run_cudaenv("env", "--json")).stdout),
                         self.answer)
        self.check(self.run_cudaenv("env", "--dotenv", "--shell", "sh"), status=2)

    def test_leaving_needs_no_daemon(self):
        self.environment["CUDAENV_DAEMON"] = "/no/such/cudaenvd"
        self.check(self.run_cudaenv("env", "--shell", "sh", "--leave"), out="")


class Use(CommandTest):
    def test_the_shell_gets_the_version(self):
        for word in ("11.3", "cuda=11.3", "cu113", "cuda@11.3"):
            ran = self.check(self.run_cudaenv("use", "--shell", "bash", word))
            self.check(self.run_program(["sh", "-c", 'eval "$1"; printenv CUDAENV_CUDA', "-",
                                         ran.stdout.decode()]), out="11.3\n")
        ran = self.check(self.run_cudaenv("use", "--shell", "bash", "--clear"))
        self.check(self.run_program(["sh", "-c", 'eval "$1"; echo ${CUDAENV_CUDA-unset}', "-",
                                     ran.stdout.decode()], environment={"CUDAENV_CUDA": "12"}),
                   out="unset\n")

    def test_a_facts_file_is_taken_as_by_any_command(self):
        ran = self.check(self.run_cudaenv("use", "--shell", "bash", "--host", "/no/such/file", "11.3"))
        self.assertIn(b"11.3", ran.stdout)

    def test_what_is_no_cuda_version_is_refused_at_the_door(self):
        for words, text in (
                (["eleven"], '"eleven" is not a version: expected digits and dots, as in 11.3\n'),
                (["torch=2"], '"torch=2" is not a CUDA version'),
                (["cuda=eleven"], '"eleven" is not a version'),
                (["--clear", "11.3"], "--clear takes no version"),
                ([], "cudaenv use needs a version")):
            ran = self.check(self.run_cudaenv("use", "--shell", "bash", *words), status=2, out="")
            self.assertIn(text, ran.stderr.decode())

    def test_without_the_hook_it_says_how_to_get_it(self):
        ran = self.check(self.run_cudaenv("use", "11.3", environment={"SHELL": "/usr/bin/fish"}),
                         status=2, out="")
        self.assertIn("cudaenv hook fish | source", ran.stderr.decode())


if __name__ == "__main__":
    run_tests()
