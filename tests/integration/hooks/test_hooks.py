"""The mechanics of the hooks of bash and zsh: when the program is called and with what, and what of
the user's is left alone. The program is a script here that logs its calls and answers what the test
has written; the shells, their terminal, their functions and traps are real.

    test_hooks.py bash|zsh [NAME...]      4: that shell is not here
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/shells"))
import driver  # noqa: E402

SHELL = "bash"  # or zsh: the first argument

PROGRAM = """\
#!/bin/sh
echo "$*|${_OLD_VIRTUAL_PATH-none}|${CUDA_HOME-none}" >> "%(here)s/log"
case "$1 $*" in
prompt*--leave*) cat "%(here)s/leave" ;;
prompt*)
    case "$*" in
    *--cut-off*) ;; # it does not wait again
    *) if [ -e "%(here)s/waits" ]; then read -r line < "%(here)s/waits"; fi ;;
    esac
    [ ! -e "%(here)s/fails" ] || exit 3
    cat "%(here)s/answer"
    ;;
use*) [ ! -e "%(here)s/fails" ] || exit 3; echo "export CUDAENV_CUDA=11.3" ;;
*) exit "$(cat "%(here)s/status")" ;;
esac
"""

# As conda's own: a function whose name is conda, which evaluates text and has a status.
CONDA = """\
%(name)s() {
    \\local cmd="${1-__missing__}"
    case "$cmd" in
        activate)
            CONDA_SAVED="${CUDA_HOME-none}"
            export CONDA_PREFIX="${2-}"
            ;;
        deactivate)
            unset CONDA_PREFIX
            ;;
        fails)
            return 7
            ;;
        install)
            return 5
            ;;
        *)
            echo "conda %(version)s: $*"
            ;;
    esac
}
"""

# Sets CUDA_HOME until the directory or CONDA_PREFIX changes.
ANSWER = """\
export CUDA_HOME=/cuda __CUDAENV_UNDO=1
__cudaenv_directory=$PWD __cudaenv_prefix=${CONDA_PREFIX-none}
function __cudaenv_stale { [[ $PWD != "$__cudaenv_directory" || ${CONDA_PREFIX-none} != "$__cudaenv_prefix" ]]; }
"""
LEAVE = """\
unset CUDA_HOME __CUDAENV_UNDO
function __cudaenv_stale { return 0; }
"""


class Hooks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cudaenv hooks ")
        self.addCleanup(scratch.cleanup)
        self.here = Path(scratch.name)
        plain = tempfile.TemporaryDirectory(prefix="cudaenv-hooks-")  # the driver quotes no path
        self.addCleanup(plain.cleanup)
        self.plain = plain.name
        self.home = self.here / "home"
        self.home.mkdir()
        self.program = self.here / "cuda'env"
        self.program.write_text(PROGRAM % {"here": self.here})
        self.program.chmod(0o755)
        self.log = self.here / "log"
        self.log.write_text("")
        self.write("answer", ANSWER)
        self.write("leave", LEAVE)
        self.write("status", "0")
        self.hook = self.write("hook", self.hook_text())
        self.evaluate = f'eval "$(cat "{self.hook}")"'
        self.conda_sh = self.write("conda.sh", CONDA % {"name": "conda", "version": 1})

    def write(self, name, text):
        path = self.here / name
        path.write_text(text)
        return path

    def hook_text(self, wrap=1):
        text = (SOURCE / f"shellhooks/hooks/hook.{SHELL}").read_text()
        program = "'" + str(self.program).replace("'", "'\\''") + "'"
        return (text.replace("@CUDAENV_PROGRAM@", program).replace("@CUDAENV_WRAP@", str(wrap))
                .replace("@CUDAENV_MANAGED@", "CC CUDA_HOME LD_LIBRARY_PATH PATH")
                .replace("@CUDAENV_PLACE@", "$PWD:${VIRTUAL_ENV-}:${CONDA_PREFIX-}")
                .replace("@CUDAENV_GONE@", "is gone").replace("@CUDAENV_ACTING@",
                         "activate deactivate reactivate install update upgrade remove uninstall"))

    def calls(self):
        """The arguments of each call since the last look."""
        lines = self.log.read_text().splitlines()
        self.log.write_text("")
        return [line.split("|")[0].split(" --was")[0] for line in lines]

    def interactive(self, rc=None, **variables):
        """A shell that has read an rc file: by default one with the hook in it."""
        text = driver.RC[SHELL].replace("TOKEN", driver.TOKEN)
        text += (self.evaluate if rc is None else rc) + "\n"
        (self.home / driver.RC_FILES[SHELL]).write_text(text)
        environment = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin",
                       "TERM": "dumb", "LC_ALL": "C.UTF-8", **variables}
        shell = driver.Shell(SHELL, environment, str(self.home), self.plain)
        self.addCleanup(shell.close)
        return shell

    def script(self, text, *options, status=0):
        done = subprocess.run([SHELL, *(["--norc"] if SHELL == "bash" else ["-f"]), *options,
                               str(self.write("script", text))],
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.home),
                                   "LC_ALL": "C.UTF-8"},
                              cwd=self.home, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    # The prompt.

    def test_the_program_is_called_at_the_first_prompt_and_then_only_after_a_change(self):
        shell = self.interactive()
        self.assertEqual(self.calls(), [f"prompt {SHELL} --say"])
        self.assertEqual(shell.run("echo \"$CUDA_HOME\"").said.strip(), "/cuda")
        shell.run("")
        self.assertEqual(self.calls(), [])
        shell.run("cd /")
        self.assertEqual(self.calls(), [f"prompt {SHELL} --say"])
        shell.run(":")
        self.assertEqual(self.calls(), [])

    def test_the_status_of_the_last_command_is_kept(self):
        shell = self.interactive()
        self.assertEqual(shell.run("(exit 42)").status, 42)  # the program is not called
        self.assertEqual(shell.run("cd /; (exit 43)").status, 43)  # it is
        (self.here / "fails").touch()
        self.assertEqual(shell.run("cd /tmp; (exit 44)").status, 44)  # it is, and fails
        self.assertEqual(shell.run("true").status, 0)

    def test_nothing_changes_where_the_program_fails_and_it_is_asked_again(self):
        (self.here / "fails").touch()
        shell = self.interactive()
        self.assertEqual(shell.run("echo ${CUDA_HOME-none}").said.strip(), "none")
        # At each prompt twice: the second time it is to take back what is not for this place. In zsh the question
        # stays open, and is asked before the command and after it.
        self.assertEqual(["--cut-off" in call for call in self.calls()],
                         [False, True, True, True] if SHELL == "zsh" else [False, True] * 2)
        (self.here / "fails").unlink()
        shell.run("")
        self.assertEqual(shell.run("echo ${CUDA_HOME-none}").said.strip(), "/cuda")
        self.assertEqual(len(self.calls()), 1)

    def test_an_empty_answer_changes_nothing(self):
        self.write("answer", "")
        shell = self.interactive()
        answer = shell.run("echo ${CUDA_HOME-none}")
        self.assertEqual((answer.said.strip(), answer.status), ("none", 0))

    def test_a_program_that_is_gone_is_told_once_where_it_has_set_something(self):
        shell = self.interactive()
        self.program.unlink()
        self.assertEqual(shell.run("cd /").said.count("is gone"), 1)
        self.assertEqual(shell.run("cd /usr").said.strip(), "")
        self.assertEqual(shell.run("(exit 3)").status, 3)
        shell.run("unset __CUDAENV_UNDO __cudaenv_gone")
        self.assertEqual(shell.run("cd /").said.strip(), "")

    def test_evaluated_often_it_is_installed_once(self):
        shell = self.interactive("\n".join([self.evaluate] * 3))
        self.assertEqual(len(self.calls()), 1)
        shell.run(self.evaluate)
        self.assertEqual(len(self.calls()), 1)  # it is stale again, since the binary may be another
        listing = "$PROMPT_COMMAND" if SHELL == "bash" else "$precmd_functions"
        said = shell.run(f'echo "{listing}"').said
        self.assertEqual(said.count("__cudaenv_prompt"), 1)

    def test_the_program_is_silent_while_rc_files_are_read(self):
        shell = self.interactive(self.evaluate + "\n__seen=$(cat '%s')" % self.log)
        self.assertEqual(shell.run('echo "[$__seen]"').said.strip(), "[]")

    def test_an_interrupt_during_an_update_leaves_the_shell_as_it_was(self):
        os.mkfifo(self.here / "waits")
        shell = self.interactive("trap 'echo mine' INT\n" + self.evaluate.replace("eval", "true #"))
        waiting = self.here / "waits"
        waiting.unlink()
        before = shell.run("trap").said
        shell.run(self.evaluate)
        self.calls()
        os.mkfifo(waiting)
        # The update blocks in the program. Once the program has opened the fifo it is interrupted.
        os.write(shell.terminal, b"export CONDA_PREFIX=/e\n")
        writer = os.open(waiting, os.O_WRONLY)
        shell.interrupt()
        os.close(writer)
        waiting.unlink()
        self.assertGreaterEqual(len(self.calls()), 1)
        self.assertEqual(shell.run("echo \"$CUDA_HOME\"").said.strip(), "/cuda")
        after = shell.run("trap").said
        lines = [line for line in after.splitlines() if "__cudaenv_" not in line]
        self.assertEqual("\n".join(lines).strip(), before.strip())

    def test_jobs_are_kept_and_not_spoken_of(self):
        shell = self.interactive()
        shell.run("sleep 1000 &")
        self.assertEqual(shell.run("cd /").said.strip(), "")
        self.assertIn("sleep 1000", shell.run("jobs").said)
        self.assertEqual(shell.run("kill %1; wait 2>/dev/null; true").status, 0)

    def test_options_of_the_user_are_kept_and_do_not_matter(self):
        options = {"bash": ["set -u", "set -C", "set -o posix", "shopt -s nocasematch nullglob "
                            "failglob extglob", "IFS=/_a", "set -a"],
                   "zsh": ["setopt ksh_arrays", "setopt sh_word_split glob_subst", "setopt no_unset",
                           "setopt no_clobber", "setopt extended_glob", "setopt warn_create_global",
                           "IFS=/_a", "setopt all_export", "setopt rc_quotes csh_junkie_quotes"]}
        listing = {"bash": "shopt; set +o; declare -p IFS", "zsh": "setopt; typeset -p IFS"}[SHELL]
        for option in options[SHELL]:
            with self.subTest(option):
                shell = self.interactive(option + "\n" + self.evaluate)
                self.assertEqual(shell.greeting.strip(), "")
                self.assertEqual(self.calls(), [f"prompt {SHELL} --say"])
                options_before = shell.run(listing).said
                self.assertEqual(shell.run("cd /").said.strip(), "")
                self.assertEqual(self.calls(), [f"prompt {SHELL} --say"])
                self.assertEqual(shell.run("(exit 9)").status, 9)
                self.assertEqual(shell.run("echo \"$CUDA_HOME\"").said.strip(), "/cuda")
                self.assertEqual(self.calls(), [])
                self.assertEqual(shell.run(listing).said, options_before)
                self.assertNotIn(b"__cudaenv_", b"".join(
                    name for name in shell.environment() if b"directory" not in name
                    and b"prefix" not in name))  # the two of this test's own answer

    def test_the_shell_lives_on_with_errexit(self):
        shell = self.interactive(self.evaluate)
        shell.run("set -e")
        shell.run("! true")
        shell.run("false && true")
        (self.here / "fails").touch()
        shell.run("cd /")
        self.assertEqual(shell.run("echo here").said.strip(), "here")

    def test_a_variable_that_is_not_exported_is_named(self):
        shell = self.interactive()
        shell.run("CC=mine; cd /")
        self.assertEqual(self.calls()[-1], f"prompt {SHELL} --say --keep CC")
        shell.run("export CC; cd /tmp")
        self.assertEqual(self.calls()[-1], f"prompt {SHELL} --say")
        shell.run("unset CC; LD_LIBRARY_PATH=; CC=(gcc -m64); cd /")
        self.assertEqual(self.calls()[-1], f"prompt {SHELL} --say --keep CC,LD_LIBRARY_PATH")

    def test_the_path_that_venv_keeps_is_handed_on_to_the_program_alone(self):
        shell = self.interactive()
        shell.run("_OLD_VIRTUAL_PATH='/a b'; cd /")
        self.assertEqual(self.log.read_text().splitlines()[-1].split("|")[1], "/a b")
        self.assertNotIn(b"_OLD_VIRTUAL_PATH", shell.environment())
        shell.run("unset _OLD_VIRTUAL_PATH; cd /tmp")
        self.assertEqual(self.log.read_text().splitlines()[-1].split("|")[1], "none")

    def test_a_nested_shell_asks_for_itself(self):
        shell = self.interactive("set -a\n" + self.evaluate)
        self.calls()
        shell.enter(SHELL, f"{SHELL} -i")
        self.assertEqual(len(self.calls()), 1)

    # Scripts and commands.

    def test_a_script_is_updated_at_once_and_silently(self):
        text = f"set -eu\n{self.evaluate}\necho $CUDA_HOME\n"
        self.assertEqual(self.script(text), "/cuda\n")
        self.assertEqual(self.calls(), [f"prompt {SHELL}"])

    def test_a_command_of_an_interactive_shell_is_updated_at_once_and_silently(self):
        (self.home / driver.RC_FILES[SHELL]).write_text(self.evaluate + "\n")
        done = subprocess.run([SHELL, "-ic", "echo $CUDA_HOME"], capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": str(self.home)},
                              stdin=subprocess.DEVNULL, start_new_session=True, timeout=60)
        self.assertEqual(done.stdout, "/cuda\n")
        self.assertEqual(self.calls(), [f"prompt {SHELL}"])

    def test_a_script_with_errexit_lives_on_where_the_program_fails(self):
        (self.here / "fails").touch()
        self.assertEqual(self.script(f"set -eu\n{self.evaluate}\necho on\n"), "on\n")

    # conda, mamba, micromamba.

    def test_an_activation_acts_at_once(self):
        for name in ["conda", "mamba", "micromamba"]:
            with self.subTest(name):
                self.write("conda.sh", CONDA % {"name": name, "version": 1})
                text = (f". '{self.conda_sh}'\nset -eu\n{self.evaluate}\nunset CUDA_HOME\n"
                        f"{name} activate /e && echo $CUDA_HOME $CONDA_PREFIX\n"
                        f"echo $CONDA_SAVED\n{name} deactivate; echo ${{CONDA_PREFIX-none}}\n")
                self.assertEqual(self.script(text), "/cuda /e\nnone\nnone\n")
                self.assertEqual(self.calls(), [f"prompt {SHELL}"] +
                                 [f"prompt {SHELL} --leave", f"prompt {SHELL}"] * 2)

    def test_what_does_not_concern_the_environment_goes_straight_through(self):
        text = (f". '{self.conda_sh}'\n{self.evaluate}\nconda 'a  b' '*' ''\nconda\n"
                "conda fails; echo $?\n")
        self.assertEqual(self.script(text), "conda 1: a  b * \nconda 1: \n7\n")
        self.assertEqual(self.calls(), [f"prompt {SHELL}"])

    def test_the_status_of_a_wrapped_function_is_its_own(self):
        text = (f". '{self.conda_sh}'\n{self.evaluate}\nconda install x; echo $?\n"
                "set -e; conda install x || echo $?; conda install x; echo not reached\n")
        self.assertEqual(self.script(text, status=5), "5\n5\n")

    def test_a_function_that_comes_after_the_hook_is_wrapped(self):
        text = (f"set -eu\n{self.evaluate}\n. '{self.conda_sh}'\nunset CUDA_HOME\n"
                "conda activate /e && echo ${CUDA_HOME-none}\n")
        if SHELL == "zsh":  # zsh has nothing that runs after `.`: the next prompt sees it
            shell = self.interactive()
            shell.run(f"export CONDA_EXE=/opt/conda/bin/conda; . '{self.conda_sh}'")  # as conda.sh does
            self.assertEqual(shell.run("conda activate /e && echo \"$CUDA_HOME\"").said.strip(), "/cuda")
            self.assertIn(f"prompt {SHELL} --leave", self.calls())
        else:
            self.assertEqual(self.script(text), "/cuda\n")

    def test_a_function_that_is_defined_anew_is_wrapped_anew(self):
        shell = self.interactive(f". '{self.conda_sh}'\n{self.evaluate}")
        self.assertEqual(shell.run("conda x").said.strip(), "conda 1: x")
        self.write("conda.sh", CONDA % {"name": "conda", "version": 2})
        shell.run(f". '{self.conda_sh}'")
        self.calls()
        self.assertEqual(shell.run("conda x").said.strip(), "conda 2: x")
        shell.run("conda activate /e")
        self.assertEqual(self.calls(), [f"prompt {SHELL} --leave", f"prompt {SHELL} --say"])

    def test_a_function_that_was_evaluated_anew_is_wrapped_by_the_next_update(self):
        shell = self.interactive(f". '{self.conda_sh}'\n{self.evaluate}")
        self.write("other", CONDA % {"name": "conda", "version": 2})
        shell.run(f'eval "$(cat "{self.here}/other")"')
        shell.run("cd /")
        self.calls()
        shell.run("conda activate /e")
        self.assertEqual(self.calls(), [f"prompt {SHELL} --leave", f"prompt {SHELL} --say"])

    def test_an_alias_of_the_name_is_no_obstacle(self):
        text = ("alias conda='echo alias' cudaenv='echo alias' mamba=false micromamba=false\n" +
                self.evaluate)
        shell = self.interactive(f". '{self.conda_sh}'\n{text}")
        self.assertEqual(shell.greeting.strip(), "")
        self.assertEqual(shell.run("\\conda x").said.strip(), "conda 1: x")
        self.calls()
        shell.run("\\conda activate /e")
        self.assertEqual(self.calls()[0], f"prompt {SHELL} --leave")

    def test_wrapping_is_switched_off_by_the_configuration(self):
        self.hook.write_text(self.hook_text(wrap=0))
        shell = self.interactive(f". '{self.conda_sh}'\n{self.evaluate}")
        self.calls()
        self.assertEqual(shell.run("conda activate /e; echo \"$CUDA_HOME\"").said.strip(), "/cuda")
        self.assertEqual(self.calls(), [f"prompt {SHELL} --say"])  # the prompt's
        body = "declare -f conda" if SHELL == "bash" else "echo $functions[conda]"
        self.assertNotIn("__cudaenv", shell.run(body).said)
        self.assertNotIn("RETURN", shell.run("trap").said)

    # The function `cudaenv`.

    def test_use_changes_this_shell(self):
        text = f"set -eu\n{self.evaluate}\ncudaenv use 11.3\necho $CUDAENV_CUDA\n"
        self.assertEqual(self.script(text), "11.3\n")
        self.assertEqual(self.calls(), [f"prompt {SHELL}", f"use --shell {SHELL} 11.3"])

    def test_use_that_fails_changes_nothing_and_has_its_status(self):
        text = (f"{self.evaluate}\ntouch '{self.here}/fails'\ncudaenv use 99\n"
                "echo $? ${CUDAENV_CUDA-none}\n")
        self.assertEqual(self.script(text), "3 none\n")

    def test_another_command_is_followed_by_the_check(self):
        stale = ANSWER + "function __cudaenv_stale { return 0; }\n"
        self.write("answer", stale)
        self.write("status", "1")
        text = f"{self.evaluate}\ncudaenv pin 'a  b'; echo $?\ncudaenv host; echo $?\n"
        self.assertEqual(self.script(text), "1\n1\n")
        self.assertEqual(self.calls(), [f"prompt {SHELL}", "pin a  b", f"prompt {SHELL}", "host"])

    # Taking it back.

    def test_unhook_takes_everything_back(self):
        state = {"bash": 'declare -f; trap -p; echo "${PROMPT_COMMAND-unset}"; set -o; shopt; '
                         'compgen -v | grep cudaenv; env | sort',
                 "zsh": 'functions; trap; print -r -- "$precmd_functions"; setopt; env | sort'}[SHELL]
        state = re.sub(r"env \| sort", "env | sort | grep -v '^_='", state)
        file = self.here / "state"
        self.write("answer", ANSWER.replace("__cudaenv_directory=$PWD __cudaenv_prefix=${CONDA_PREFIX-none}", "")
                   .replace("[[ $PWD", "[[ /").replace('"$__cudaenv_directory"', "/")
                   .replace("${CONDA_PREFIX-none} !=", "a !=").replace('"$__cudaenv_prefix"', "a"))
        shell = self.interactive(f". '{self.conda_sh}'")
        for before in {"bash": ["unset PROMPT_COMMAND", "PROMPT_COMMAND='__u=1;'",
                                "export PROMPT_COMMAND=__u=1",
                                "unset PROMPT_COMMAND; PROMPT_COMMAND=(__u=1 __v=2)"],
                       "zsh": ["precmd_functions=()", "precmd_functions=(true)"]}[SHELL]:
            with self.subTest(before):
                shell.run(before)
                shell.run(f"{{ {state}; }} > '{file}' 2>&1")
                expected = file.read_text()
                shell.run(self.evaluate)
                self.assertEqual(shell.run("echo \"$CUDA_HOME\"").said.strip(), "/cuda")
                self.assertEqual(shell.run("__cudaenv_unhook").said.strip(), "")
                shell.run(f"{{ {state}; }} > '{file}' 2>&1")
                self.assertEqual(file.read_text(), expected)

    def test_the_unchanged_prompt_makes_no_process(self):
        if not shutil.which("strace"):
            self.skipTest("no strace here; apt install strace")
        text = (f"{self.evaluate}\n: > '{self.here}/begin'\nk=0\n"
                "while [ $k -lt 50 ]; do __cudaenv_prompt; k=$((k+1)); done\n"
                f": > '{self.here}/end'\n")
        trace = self.here / "trace"
        done = subprocess.run(["strace", "-f", "-o", str(trace), SHELL, str(self.write("s", text))],
                              env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
                              timeout=60, stdin=subprocess.DEVNULL)
        if "ptrace" in done.stderr:
            self.skipTest("strace may not trace here: " + done.stderr.strip())
        calls = trace.read_text()
        between = calls[calls.index("/begin"):calls.index("/end")]
        self.assertIsNone(re.search(r"\b(clone3?|v?fork|execve|pipe2?)\(", between))


class Bash(Hooks):
    def test_what_is_in_prompt_command_stays_and_sees_the_status(self):
        for before in ["PROMPT_COMMAND='__seen=$?'", "PROMPT_COMMAND='__seen=$? ;  '",
                       "PROMPT_COMMAND='__seen=$? # a comment'", "PROMPT_COMMAND=('__seen=$?')",
                       "export PROMPT_COMMAND='__seen=$?'", "PROMPT_COMMAND=([2]='__seen=$?')"]:
            with self.subTest(before):
                shell = self.interactive(before + "\n" + self.evaluate)
                self.calls()
                shell.run("cd /; (exit 41)")
                self.assertEqual(shell.run("echo $__seen").said.strip(), "41")
                self.assertEqual(self.calls(), [f"prompt {SHELL} --say"])

    def test_what_is_put_around_it_later_sees_the_status(self):
        for after in ["PROMPT_COMMAND=\"$PROMPT_COMMAND; __seen=$?\"".replace("$?", "\\$?"),
                      "PROMPT_COMMAND=\"__seen=\\$?; $PROMPT_COMMAND\"",
                      "PROMPT_COMMAND=(\"$PROMPT_COMMAND\" '__seen=$?')"]:
            with self.subTest(after):
                shell = self.interactive(self.evaluate + "\n" + after)
                shell.run("cd /; (exit 41)")
                self.assertEqual(shell.run("echo $__seen").said.strip(), "41")
                self.assertEqual(len(self.calls()), 2)

    def test_a_nested_shell_without_the_hook_does_not_stumble_over_an_exported_prompt_command(self):
        shell = self.interactive("export PROMPT_COMMAND=true\n" + self.evaluate)
        (self.home / ".bashrc").write_text(driver.RC["bash"].replace("TOKEN", driver.TOKEN))
        self.assertEqual(shell.enter("bash", "bash -i").said.strip(), "")
        self.assertEqual(shell.run("true").said.strip(), "")

    def test_a_debug_trap_stays_and_is_fired_once_a_prompt(self):
        shell = self.interactive(self.evaluate + "\n__n=0; trap '((__n += 1))' DEBUG")
        trap = shell.run("trap -p DEBUG").said
        first = int(shell.run("echo $__n").said)
        second = int(shell.run("echo $__n").said)
        self.assertEqual(second - first, 2)  # the command, and __cudaenv_prompt
        shell.run("cd /")
        third = int(shell.run("echo $__n").said)
        self.assertEqual(third - second, 4)  # two commands, two prompts, one of them an update
        self.assertEqual(shell.run("trap -p DEBUG").said, trap)

    def test_a_return_trap_of_the_users_stays(self):
        shell = self.interactive("trap 'true mine' RETURN\n" + self.evaluate)
        self.assertIn("true mine", shell.run("trap -p RETURN").said)
        shell.run("cd /")
        self.assertIn("true mine", shell.run("trap -p RETURN").said)

    def test_the_return_trap_keeps_the_status_of_what_was_sourced(self):
        shell = self.interactive(f". '{self.conda_sh}'\n{self.evaluate}")
        for name in ["conda.sh", "other.sh"]:
            self.write(name, "return 6\n")
            self.assertEqual(shell.run(f". '{self.here}/{name}'").status, 6)

    def test_the_last_argument_and_the_statuses_of_a_pipe_are_kept(self):
        shell = self.interactive()
        shell.run("cd /; echo last")
        self.assertEqual(shell.run("echo $_").said.strip(), "last")
        shell.run("cd /tmp; (exit 3) | (exit 4)")
        self.assertEqual(shell.run('echo "${PIPESTATUS[@]}"').said.strip(), "3 4")

    def test_posix_mode_and_errexit_with_a_readonly_variable_end_no_script(self):
        self.write("answer", "\\command export CUDA_HOME=/cuda 2>/dev/null || :\n" + LEAVE[LEAVE.index("function"):])
        text = f"readonly CUDA_HOME=/mine\nset -eu; set -o posix\n{self.evaluate}\necho $CUDA_HOME\n"
        self.assertEqual(self.script(text), "/mine\n")


class Zsh(Hooks):
    def test_functions_of_the_users_before_the_prompt_see_the_status(self):
        shell = self.interactive(self.evaluate + "\nmine() { __seen=$?; }\n"
                                 "precmd_functions+=(mine)")
        shell.run("cd /; (exit 41)")
        self.assertEqual(shell.run("echo $__seen").said.strip(), "41")

    def test_a_function_trap_of_the_users_stays(self):
        shell = self.interactive("TRAPINT() { return 130 }\n" + self.evaluate)
        shell.run("cd /")
        self.assertIn("return 130", shell.run("echo $functions[TRAPINT]").said)

    def test_the_originals_run_under_the_users_options(self):
        self.write("conda.sh", "conda() { [[ -o ksh_arrays ]] && setopt sh_word_split; "
                               "echo ${options[kshglob]}; }\n")
        shell = self.interactive(f". '{self.conda_sh}'\n{self.evaluate}\nsetopt ksh_glob ksh_arrays")
        self.assertEqual(shell.run("conda activate x").said.strip(), "on")
        self.assertEqual(shell.run("[[ -o sh_word_split ]]").status, 0)


def main():
    global SHELL
    SHELL = sys.argv[1]
    reason = driver.missing(SHELL)
    if reason:
        print("skipped:", reason)
        return 4
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromTestCase({"bash": Bash, "zsh": Zsh}[SHELL])
    if sys.argv[2:]:
        suite = unittest.TestSuite(test for test in suite
                                   if any(part in test.id() for part in sys.argv[2:]))
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
