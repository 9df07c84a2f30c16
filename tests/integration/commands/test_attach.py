"""`cudaenv attach` and `detach`: an attached environment has its CUDA in every shell that conda
knows, and a shell that has left it is as its pair without cudaenv."""

import shlex
import shutil
import sys
from pathlib import Path

import conda
import support
from support import CommandTest, run_tests

HERE = Path(__file__).resolve().parent

SHELLS = {  # program and words before a script's path; which of conda's shells it is
    "dash": (["dash"], "sh"), "bash": (["bash", "--norc"], "sh"), "zsh": (["zsh", "-f"], "sh"),
    "bash in posix mode": (["bash", "--posix"], "sh"),
    "fish": (["fish", "--no-config"], "fish"), "tcsh": (["tcsh", "-f"], "csh"),
}
SWITCHES_EXACTLY = ["bash", "zsh", "bash in posix mode", "fish"]


class Attach(CommandTest):
    def setUp(self):
        super().setUp()
        toolkits = self.root / "tool kits"
        for version in ("11.3.109", "12.4.131"):
            self.make_toolkit(toolkits / f"cuda-{version[:4]}", version)
        config = self.home / ".config/cudaenv/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'toolkits.directories = ["{toolkits}/cuda-11.3", "{toolkits}/cuda-12.4"]\n'
                          "activate.compilers = false\n")
        self.toolkits = {"a": str(toolkits / "cuda-11.3"), "b": str(toolkits / "cuda-12.4")}
        for name, pin in (("a", "11.3"), ("b", "12.4"), ("c", None)):
            prefix = self.prefix(name)
            (prefix / "bin").mkdir(parents=True)
            (prefix / "conda-meta").mkdir()
            if pin:
                (prefix / "conda-meta/cudaenv.toml").write_text(f'[pins]\ncuda = "{pin}"\n')
        self.environment["CONDA_SHLVL"] = "0"

    def prefix(self, name):
        return self.root / "envs" / f"the env's {name}"

    @staticmethod
    def make_toolkit(root, version):
        for part in ("bin", "include", "lib64", "nvvm"):
            (root / part).mkdir(parents=True)
        nvcc = root / "bin/nvcc"
        nvcc.write_text(f"#!/bin/sh\necho release {version[:4]}, V{version}\n")
        nvcc.chmod(0o755)
        (root / "version.json").write_text(
            f'{{"cuda": {{"name": "CUDA SDK", "version": "{version}"}}}}')

    def attach(self, *names):
        for name in names:
            self.check(self.run_cudaenv("attach", "-p", str(self.prefix(name))))

    def script(self, shell, steps):
        """A script that runs the steps and writes its environment down after each."""
        _, kind = SHELLS[shell]
        command = f"{shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'conda.py'))}"
        functions = conda.FUNCTIONS[kind].replace("@COMMAND@", command).replace(
            "@SCRATCH@", str(self.root / "scratch"))
        lines = ["set -eu" if kind == "sh" else "", functions]
        for number, step in enumerate(steps):
            words = step.split()
            if words[0] in ("activate", "deactivate", "install"):
                words = ["conda", words[0], *(conda.quote(kind, str(self.prefix(name)))
                                              for name in words[1:])]
                step = " ".join(words)
            lines += [step, f"/usr/bin/env -0 > {self.root}/step-{number}"]
        path = self.root / "script"
        path.write_text("\n".join(lines) + "\n")
        return path

    def play(self, shell, steps, environment=None):
        """The environment after each step."""
        program, _ = SHELLS[shell]
        if shutil.which(program[0], path=self.environment["PATH"]) is None:
            self.skipTest(f"no {program[0]} here; apt install {program[0]}")
        ran = self.run_program([*program, self.script(shell, steps)], environment=environment)
        self.assertEqual((ran.returncode, ran.stderr.decode()), (0, ""), shell)
        states = []
        for number in range(len(steps)):
            entries = (self.root / f"step-{number}").read_bytes().decode().split("\0")
            state = dict(entry.split("=", 1) for entry in entries if "=" in entry)
            for name in ("_", "PWD", "OLDPWD", "SHLVL"):
                state.pop(name, None)
            states.append(state)
        return states

    def pair(self, shell, steps, environment=None):
        """What the same steps leave where nothing is attached."""
        hidden = self.root / "hidden"
        hidden.mkdir()
        for name in "abc":
            etc = self.prefix(name) / "etc"
            if etc.exists():
                etc.rename(hidden / name)
        try:
            return self.play(shell, steps, environment)
        finally:
            for name in "abc":
                if (hidden / name).exists():
                    (hidden / name).rename(self.prefix(name) / "etc")
            hidden.rmdir()

    def check_law(self, shell, steps, active, environment=None):
        """`active`: after each step the environment whose CUDA is to be active, or None."""
        mine, plain = self.play(shell, steps, environment), self.pair(shell, steps, environment)
        for step, name, state, without in zip(steps, active, mine, plain):
            with self.subTest(shell=shell, step=step):
                if name is None:
                    self.assertEqual(state, without)
                    continue
                toolkit = self.toolkits[name]
                self.assertEqual((state["CUDA_HOME"], state["CUDA_PATH"]), (toolkit, toolkit))
                self.assertEqual(state["PATH"], f"{toolkit}/bin:{without['PATH']}")
                self.assertEqual(state["CONDA_PREFIX"], without["CONDA_PREFIX"])

    def test_in_and_out_again_in_every_shell_also_under_set_eu(self):
        self.attach("a")
        for shell in SHELLS:
            self.check_law(shell, ["activate a", "deactivate", "activate c", "deactivate"],
                           ["a", None, None, None])

    def test_users_own_values_come_back(self):
        self.attach("a")
        own = {"CUDA_PATH": "", "LD_LIBRARY_PATH": "/own"}
        for shell in SHELLS:
            self.check_law(shell, ["activate a", "deactivate"], ["a", None], own)

    def test_activating_the_active_environment_again_changes_nothing(self):
        self.attach("a")
        for shell in SHELLS:
            self.check_law(shell, ["activate a", "activate a", "install x", "deactivate"],
                           ["a", "a", "a", None])

    def test_a_switch_to_another_attached_environment_leaves_nothing_of_the_first(self):
        self.attach("a", "b")
        for shell in SHELLS:
            self.check_law(shell, ["activate a", "activate b", "activate a", "deactivate",
                                   "deactivate", "deactivate"], ["a", "b", "a", "b", "a", None][:3] +
                           ["b", "a", None])

    def test_a_switch_to_an_environment_that_is_not_attached_and_back(self):
        self.attach("a")
        for shell in SWITCHES_EXACTLY:
            self.check_law(shell, ["activate a", "activate c", "deactivate", "deactivate"],
                           ["a", None, "a", None])

    def test_xonsh_which_runs_the_scripts_in_bash_comes_and_goes(self):
        if shutil.which("xonsh", path=self.environment["PATH"]) is None:
            self.skipTest("no xonsh here; apt install xonsh")
        # xonsh's source-bash does not find a file with a quote in its name.
        prefix = self.root / "plain"
        self.prefix("a").rename(prefix)
        self.check(self.run_cudaenv("attach", "-p", str(prefix)))
        script = self.root / "script.xsh"
        scripts = [f"{prefix}/etc/conda/{step}.d/zz-cudaenv.sh"
                   for step in ("activate", "deactivate")]
        script.write_text(
            f"$CONDA_PREFIX = {str(prefix)!r}\n"
            f"$PATH.insert(0, {str(prefix / 'bin')!r})\n"
            f"source-bash --suppress-skip-message -n @({scripts[0]!r})\n"
            "print(${...}.get('CUDA_HOME'))\n"
            f"source-bash --suppress-skip-message -n @({scripts[1]!r})\n"
            "print(${...}.get('CUDA_HOME'), '__CUDAENV_UNDO' in ${...}, ':'.join($PATH))\n")
        ran = self.run_program(["xonsh", "--no-rc", script])
        self.check(ran, out=f"{self.toolkits['a']}\nNone False "
                            f"{prefix}/bin:/usr/bin:/bin\n")

    def test_where_conda_cannot_be_wrapped_such_a_switch_leaves_a_directory_on_path_alone(self):
        self.attach("a")
        steps = ["activate a", "activate c", "deactivate", "deactivate"]
        for shell in set(SHELLS) - set(SWITCHES_EXACTLY):
            mine, plain = self.play(shell, steps), self.pair(shell, steps)
            with self.subTest(shell):
                without = dict(plain[1], PATH=f"{self.toolkits['a']}/bin:{plain[1]['PATH']}")
                self.assertEqual(mine[1], without)
                self.assertEqual(mine[3], plain[3])

    def test_status_and_words_of_conda_are_its_own(self):
        self.attach("a")
        for shell, (_, kind) in SHELLS.items():
            if kind != "sh":
                continue
            states = self.play(shell, ["activate a", "conda fail || GOT=$?; export GOT",
                                       "SAID=$(conda list --json); export SAID", "deactivate"])
            self.assertEqual((states[1]["GOT"], states[2]["SAID"]), ("3", "plain list --json"))

    def test_a_cudaenv_that_is_gone_is_missed_by_nobody(self):
        program = self.root / "gone/cudaenv"
        program.parent.mkdir()
        shutil.copy(support.PROGRAMS["cudaenv"], program)
        self.check(self.run_program([program, "attach", "-p", self.prefix("a")]))
        program.unlink()
        for shell in SHELLS:
            self.check_law(shell, ["activate a", "deactivate"], [None, None])

    def test_where_the_shell_has_the_hook_the_scripts_do_nothing(self):
        self.attach("a")
        hook = {"sh": "__cudaenv_prompt() { :; }", "fish": "function __cudaenv_update; end",
                "csh": "set __cudaenv_program=x"}
        for shell, (_, kind) in SHELLS.items():
            steps = [hook[kind], "activate a", "deactivate"]
            self.assertNotIn("CUDA_HOME", self.play(shell, steps)[1])

    def test_detach_removes_what_attach_wrote_and_nothing_else(self):
        own = self.prefix("a") / "etc/conda/activate.d/own.sh"
        own.parent.mkdir(parents=True)
        own.write_text("export OWN=1\n")
        self.attach("a")
        self.attach("a")  # again is no harm
        ran = self.check(self.run_cudaenv("detach", "-p", str(self.prefix("a"))))
        self.assertEqual(ran.stdout.decode().count("removed"), 6)
        left = [path for path in (self.prefix("a") / "etc").rglob("*") if path.is_file()]
        self.assertEqual(left, [own])
        ran = self.check(self.run_cudaenv("detach", "-p", str(self.prefix("a"))))
        self.assertIn("not there", ran.stdout.decode())

    def test_detach_leaves_no_directory_that_attach_created(self):
        for own in ([], ["etc"], ["etc/conda/activate.d"], ["etc/conda/deactivate.d"]):
            for directory in own:
                (self.prefix("a") / directory).mkdir(parents=True, exist_ok=True)
            before = sorted(self.prefix("a").rglob("*"))
            self.attach("a")
            self.attach("a")
            self.check(self.run_cudaenv("detach", "-p", str(self.prefix("a"))))
            self.assertEqual(sorted(self.prefix("a").rglob("*")), before)

    def test_a_file_of_somebody_elses_is_neither_overwritten_nor_removed(self):
        theirs = self.prefix("a") / "etc/conda/deactivate.d/zz-cudaenv.fish"
        theirs.parent.mkdir(parents=True)
        theirs.write_text("# theirs\n")
        ran = self.check(self.run_cudaenv("attach", "-p", str(self.prefix("a"))), status=3)
        self.assertIn("was not written by cudaenv", ran.stderr.decode())
        self.assertEqual(theirs.read_text(), "# theirs\n")
        self.assertFalse((self.prefix("a") / "etc/conda/activate.d").exists())
        self.check(self.run_cudaenv("detach", "-p", str(self.prefix("a"))))
        self.assertEqual(theirs.read_text(), "# theirs\n")

    def test_a_venv_is_refused_with_what_serves_it(self):
        venv = self.root / "venv"
        venv.mkdir()
        (venv / "pyvenv.cfg").touch()
        ran = self.check(self.run_cudaenv("attach", "-p", str(venv)), status=2)
        for words in ("cudaenv init SHELL", "cudaenv run", "--kernelspec"):
            self.assertIn(words, ran.stderr.decode())

    def test_without_an_environment_it_asks_for_one(self):
        ran = self.check(self.run_cudaenv("attach"), status=2)
        self.assertIn("expected -n NAME or -p PREFIX", ran.stderr.decode())


if __name__ == "__main__":
    run_tests()
