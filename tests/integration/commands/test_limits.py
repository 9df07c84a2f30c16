#!/usr/bin/env python3
"""What the machine or the user does not allow is said, once and by code, and never taken for an answer: few
descriptors, no room in a file, no /proc, a slow cudaenvd, project files that do not count.

usage: test_limits.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import support
from support import CommandTest, run_tests

NEEDED = 64
RUN_FAILED = 125


def limited(name, soft, hard=None):
    return lambda: resource.setrlimit(name, (soft, soft if hard is None else hard))


class Limits(CommandTest):
    def setUp(self):
        super().setUp()
        self.project = self.root / "project"
        self.project.mkdir()
        (self.project / "cudaenv.toml").write_text('[pins]\ncuda = "11.3"\n')
        self.prefix = self.root / "venv"
        (self.prefix / "lib/python3.11/site-packages").mkdir(parents=True)
        (self.prefix / "pyvenv.cfg").write_text("version = 3.11.2\n")

    def test_in_a_removed_directory_no_other_is_taken_for_it(self):
        for words in (["pin", "13.0"], ["status"]):
            ran = subprocess.run(["/bin/sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@" --json',
                                  support.PROGRAMS["cudaenv"], *words], cwd=self.root, env=self.environment,
                                 capture_output=True, timeout=60, check=False)
            self.assertEqual((ran.returncode, json.loads(ran.stdout)["code"]), (3, "no-directory"), ran)
        self.assertFalse(os.path.exists("/cudaenv.toml"))

    def test_with_few_descriptors_every_command_says_so(self):
        for most in (5, 6, 10, 13, NEEDED - 1):
            for words in (["env"], ["host"], ["status"], ["toolkits"], ["pin"], ["check", "-p", self.prefix],
                          ["config", "list"]):
                with self.subTest(most=most, words=words):
                    ran = self.run_cudaenv(*words, "--json", cwd=self.project,
                                           preexec_fn=limited(resource.RLIMIT_NOFILE, most))
                    self.check(ran, status=3)
                    self.assertEqual(json.loads(ran.stdout)["code"], "few-descriptors")
            with self.subTest(most=most, words="run"):
                ran = self.run_cudaenv("run", "--", "echo", "ran", cwd=self.project,
                                       preexec_fn=limited(resource.RLIMIT_NOFILE, most))
                self.check(ran, status=RUN_FAILED, out="")
            with self.subTest(most=most, words="prompt"):
                ran = self.run_cudaenv("prompt", "bash", cwd=self.project,
                                       preexec_fn=limited(resource.RLIMIT_NOFILE, most))
                self.check(ran)
                self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)
            with self.subTest(most=most, words="cudaenvd"):
                ran = self.run_program([support.PROGRAMS["cudaenvd"], "--stdio"], stdin=subprocess.DEVNULL,
                                       preexec_fn=limited(resource.RLIMIT_NOFILE, most))
                self.assertNotIn(ran.returncode, (0, 70))
                self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)

    def test_where_more_may_be_had_it_is_and_others_keep_what_the_user_set(self):
        facts, _ = self.lab_with_its_toolkit()
        tools = self.root / "tools"
        tools.mkdir()
        (tools / "g++-11").write_text(f"#!/bin/sh\nulimit -Sn > {self.root}/of-a-child\necho 11.4.0\n")
        (tools / "g++-11").chmod(0o755)
        more = {"PATH": f"{tools}:/usr/bin:/bin", "CUDAENV_HOST": str(facts)}
        few = limited(resource.RLIMIT_NOFILE, 13, 4096)
        whole = self.check(self.run_cudaenv("env", "--json", cwd=self.project, environment=more))
        self.assertEqual(json.loads(whole.stdout)["cuda"], "11.3")
        ran = self.check(self.run_cudaenv("env", "--json", cwd=self.project, environment=more, preexec_fn=few))
        self.assertEqual(json.loads(ran.stdout), json.loads(whole.stdout))
        self.check(self.run_cudaenv("run", "sh", "-c", "ulimit -Sn; ulimit -Hn", cwd=self.project, preexec_fn=few),
                   out="13\n4096\n")
        self.check(self.run_cudaenv("host", environment={"PATH": more["PATH"]}, preexec_fn=few))
        self.assertEqual((self.root / "of-a-child").read_text(), "13\n")

    def test_a_file_that_may_not_grow_is_an_error_and_leaves_nothing(self):
        conda = self.root / "conda"
        (conda / "conda-meta").mkdir(parents=True)
        for words in (["init", "zsh"], ["attach", "-p", conda]):
            with self.subTest(words=words):
                before = sorted(str(path) for path in self.root.rglob("*"))
                ran = self.run_cudaenv(*words, "--json", preexec_fn=limited(resource.RLIMIT_FSIZE, 0))
                self.check(ran, status=3)
                self.assertEqual(json.loads(ran.stdout)["schema"], "cudaenv.error/1")
                after = [path for path in sorted(str(path) for path in self.root.rglob("*")) if path not in before]
                self.assertEqual([path for path in after if os.path.isfile(path)], [])

    def test_what_run_starts_has_the_signals_that_it_would_have_without(self):
        def ignored(*words, **more):
            ran = self.check(self.run_program([*words, "grep", "SigIgn", "/proc/self/status"], **more))
            return ran.stdout

        for how in (signal.SIG_DFL, signal.SIG_IGN):
            with self.subTest(how=how):
                def set_it(how=how):
                    signal.signal(signal.SIGXFSZ, how)
                self.assertEqual(ignored(support.PROGRAMS["cudaenv"], "run", "--", preexec_fn=set_it,
                                         restore_signals=False),
                                 ignored("env", preexec_fn=set_it, restore_signals=False))

    def test_a_script_that_captures_errors_does_not_wait_for_a_slow_daemon(self):
        slow = self.root / "slow-cudaenvd"
        slow.write_text("#!/bin/sh\ncd \"${0%/*}\" && echo $$ > new && mv new pid\nexec sleep 50\n")
        slow.chmod(0o755)
        began = time.monotonic()
        ran = self.run_program(["sh", "-c", '"$0" prompt bash 2>&1; echo end', support.PROGRAMS["cudaenv"]],
                               environment={"CUDAENV_DAEMON": str(slow)}, cwd=self.project)
        took = time.monotonic() - began
        while not (self.root / "pid").exists():  # a busy machine starts it later
            self.assertLess(time.monotonic() - began, 60)
            time.sleep(0.01)
        os.kill(int((self.root / "pid").read_text()), signal.SIGKILL)
        self.check(ran)
        self.assertLess(took, 25)  # it waits for 5 s; the sleeper for 50

    def test_without_proc_cudaenvd_is_found(self):
        if os.getuid() != 0:
            self.skipTest("only root can take /proc away")
        program = support.PROGRAMS["cudaenv"]
        environment = {"CUDAENV_DAEMON": ""}
        for words in (["status"], ["toolkits"], ["env"], ["pin"]):
            with self.subTest(words=words):
                script = 'mount -t tmpfs none /proc 2>/dev/null || exit 77; exec "$0" "$@"'
                ran = self.run_program(["unshare", "-m", "sh", "-c", script, program, *words],
                                       environment=environment, cwd=self.project)
                if ran.returncode in (77, 1) and b"unshare" in ran.stderr or ran.returncode == 77:
                    self.skipTest("no mount namespace here")
                self.assertIn(ran.returncode, (0, 1), ran.stderr)

    def test_a_project_file_that_does_not_count_is_named_with_its_reason(self):
        def writable(path):
            path.write_text('[pins]\ncuda = "11.3"\n')
            path.chmod(0o666)

        for make in (writable, os.mkfifo, lambda path: path.symlink_to("nowhere"), lambda path: path.mkdir()):
            here = self.root / f"project-{len(list(self.root.iterdir()))}"
            here.mkdir()
            path = here / "cudaenv.toml"
            make(path)
            for words in (["env"], ["env", "--shell", "bash"], ["env", "--dotenv"], ["env", "--json"],
                          ["run", "true"]):
                with self.subTest(words=words, path=path):
                    ran = self.check(self.run_cudaenv(*words, cwd=here))
                    self.assertEqual(ran.stderr.count(str(path).encode() + b" "), 1, ran.stderr)
                    first = words[0]
                    self.check(self.run_cudaenv(first, "-q", *words[1:], cwd=here), err="")
            said = json.loads(self.run_cudaenv("env", "--json", cwd=here).stdout)["skipped"]
            self.assertEqual(len(said), 1, said)

    def test_the_remedy_can_be_pasted_whatever_directories_are_configured(self):
        facts = self.root / "lab.json"
        facts.write_text(support.LAB.read_text())
        paths = {"HOME": str(self.home), "CUDAENV_HOST": str(facts),
                 "PATH": f"{os.path.dirname(support.PROGRAMS['cudaenv'])}:/usr/bin:/bin"}
        (self.project / "cudaenv.toml").write_text('[pins]\ncuda = "12.6"\n')
        directories = [str(self.root / "a b"), str(self.root / "c,d"), str(self.root / "plain")]
        for count in range(4):
            with self.subTest(count=count):
                shutil.rmtree(self.home / ".config", ignore_errors=True)
                (self.home / ".config/cudaenv").mkdir(parents=True)
                (self.home / ".config/cudaenv/config.toml").write_text(
                    f"[toolkits]\ndirectories = {json.dumps(directories[:count])}\n")
                env = json.loads(self.check(self.run_cudaenv("env", "--json", cwd=self.project,
                                                             environment=paths)).stdout)
                command = re.search(r"cudaenv config set toolkits\.directories .*", env["remedy"])
                self.assertTrue(command, env["remedy"])
                self.check(self.run_program(["sh", "-c", command[0]], cwd=self.project, environment=paths))
                got = json.loads(self.check(self.run_cudaenv("config", "get", "toolkits.directories", "--json",
                                                             cwd=self.project, environment=paths)).stdout)
                self.assertEqual(got["settings"][0]["value"][:-1], directories[:count])
                self.assertEqual(len(got["settings"][0]["value"]), count + 1)

    def test_one_value_of_a_list_may_have_commas_and_a_key_of_one_value_takes_one(self):
        for words, value in ((["a,b"], ["a", "b"]), (["a", "b"], ["a", "b"])):
            self.check(self.run_cudaenv("config", "set", "resolve.channels", *words))
            got = self.check(self.run_cudaenv("config", "get", "resolve.channels", "--json"))
            self.assertEqual(json.loads(got.stdout)["settings"][0]["value"], value)
        ran = self.run_cudaenv("config", "set", "resolve.for", "run", "build", "--json")
        self.check(ran, status=2)
        self.assertEqual(json.loads(ran.stdout)["code"], "bad-value")

    def test_json_shows_what_a_terminal_would_obey_or_hide_as_numbers(self):
        odd = "".join(chr(code) for code in (0x85, 0x9B, 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E,
                                             0x2066, 0x2069, 0x7F))
        here = self.root / f"a{odd}b"
        here.mkdir()
        (here / "cudaenv.toml").write_text('[pins]\ncuda = "11"\n')
        ran = self.run_cudaenv("status", "--json", cwd=here)
        shown = self.run_cudaenv("status", cwd=here)
        for raw in odd:
            self.assertNotIn(raw.encode(), ran.stdout)
            self.assertNotIn(raw.encode(), shown.stdout + shown.stderr)
        self.assertEqual(json.loads(ran.stdout)["project"]["file"], f"{here}/cudaenv.toml")


if __name__ == "__main__":
    run_tests()
