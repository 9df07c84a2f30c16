"""What the hooks of fish, tcsh and xonsh do, in the real shells, around a stand-in of the program.

The stand-in notes each call and answers `prompt` with what lies in a file, so that the hook alone is
tested: when it asks, with which words, what it passes on and what it leaves as it was.
usage: test_hooks_other.py SHELL   (exit status 4: no such shell here)
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ACTING = "activate deactivate reactivate install update upgrade remove uninstall"
HOOKS = pathlib.Path(__file__).resolve().parents[3] / "shellhooks" / "hooks"
STAND_IN = r"""#!/bin/sh
here=${0%/*/*}
printf '%s|%s\n' "$*" "$_OLD_VIRTUAL_PATH" >>"$here/calls"
answer() {
    if [ "$(cat "$here/shell")" = tcsh ] && [ "$2" = file ]; then
        copy=$(mktemp "$here/answers/XXXXXX")
        { echo "/bin/rm -f $copy"; cat "$here/$1"; } >"$copy" # it removes itself
        echo "$copy"
    else
        cat "$here/$1"
    fi
}
case $1 in
prompt)
    [ -e "$here/broken" ] && exit 3
    case "$*" in
    *--leave*) answer leave file ;;
    *--watch\ w1*) ;;
    *) answer enter file ;;
    esac ;;
use) answer use ; exit "$(cat "$here/use-status")" ;;
*) exec "$@" ;;
esac
"""


class Fish:
    name = "fish"
    program = ["fish", "--no-config"]
    quoted = "'{}'"
    enter = ("set -gx CUDA_HOME '/ours $(id) it\\'s'\nset -gx __CUDAENV_UNDO j\n"
             "set -g __cudaenv_watch w1\n")
    leave = "set -eg CUDA_HOME\nset -eg __CUDAENV_UNDO\nset -g __cudaenv_watch w0\n"
    use = "set -gx CUDAENV_CUDA 11.8\n"
    hook = "source {hook}"
    conda = "function conda; echo original $argv; cat; return 6; end"
    quiet_conda = "function conda; echo original $argv; return 6; end"
    show = 'echo "[$CUDA_HOME]"'
    status = 'echo "status $status"'
    failing = "sh -c 'exit 5'"
    names = ("set -n | string match -r '__cudaenv|CUDAENV'; "
             "functions -a | string match '*cudaenv*'; true")
    set_old_path = "set -g _OLD_VIRTUAL_PATH /a /b"
    disable = "set -gx CUDAENV_DISABLE 1"
    stale = "set -e __cudaenv_watch"
    either = "{0}; or echo failed; {1}; and echo worked"
    skipped = "false; and conda activate never; true"
    forever = "echo hi | conda list | sed s/^/P/"


class Tcsh:
    name = "tcsh"
    program = ["tcsh", "-f"]
    quoted = "'{}'"
    enter = ("setenv CUDA_HOME '/ours $(id) it'\\''s' ;\nsetenv __CUDAENV_UNDO j ;\n"
             "set __cudaenv_watch=w1 ;\n")
    leave = "unsetenv CUDA_HOME ;\nunsetenv __CUDAENV_UNDO ;\nset __cudaenv_watch=w0 ;\n"
    use = "setenv CUDAENV_CUDA 11.8 ;\n"
    hook = 'eval "`cat {hook}`"'
    conda = "set _CONDA_EXE=x; alias conda source {directory}/conda.csh"
    quiet_conda = conda
    show = 'if ($?CUDA_HOME) eval \'echo "[$CUDA_HOME]"\'\nif (! $?CUDA_HOME) echo "[]"'
    status = 'echo "status $status"'
    failing = "sh -c 'exit 5'"
    names = "set | grep -i cudaenv; env | grep -i cudaenv; alias | grep cudaenv; true"
    set_old_path = "set _OLD_VIRTUAL_PATH=/a:/b"
    disable = "setenv CUDAENV_DISABLE 1"
    stale = "set __cudaenv_watch=-"
    either = "{0} || echo failed\n{1} && echo worked"
    skipped = "false && conda activate never\ntrue"
    forever = "echo hi | conda list | sed s/^/P/"


class Xonsh:
    name = "xonsh"
    program = ["xonsh", "--no-rc"]
    quoted = "@('{}')"
    change = "from xonsh.built_ins import XSH\n"
    watch = "__cudaenv_watch = (__import__('os').getcwdb(), [('STALE', {0})], [])\n"
    enter = (change + "XSH.env['CUDA_HOME'] = \"/ours $(id) it's\"\n"
             "XSH.env['__CUDAENV_UNDO'] = 'j'\n" + watch.format(None))
    leave = (change + "XSH.env.pop('CUDA_HOME', None)\nXSH.env.pop('__CUDAENV_UNDO', None)\n"
             + watch.format("b'never'"))
    use = change + "XSH.env['CUDAENV_CUDA'] = '11.8'\n"
    hook = "execx(open('{hook}').read())"
    conda = """def _conda(args, stdin=None, stdout=None):
    print('original', *args, file=stdout, flush=True)
    if stdin is not None:
        print(stdin.read(), end='', file=stdout, flush=True)
    return 6

aliases['conda'] = _conda"""
    # Not on a thread: xonsh 0.13's readline shell loses its output after any that takes a while.
    quiet_conda = ("aliases['conda'] = __import__('xonsh.tools').tools.unthreadable("
                   "lambda args: print('original', *args, flush=True) or 6)")
    show = "print('[' + str(__xonsh__.env.get('CUDA_HOME', '')) + ']', flush=True)"
    status = "print('status', __xonsh__.env.get('LAST_RETURN_CODE', 0))"
    failing = "sh -c 'exit 5'"
    names = ("print(*[n for n in [*dir(), *aliases, *__xonsh__.env.detype(), "
             "*__xonsh__.__dict__] if 'cudaenv' in n.lower()])")
    set_old_path = "$_OLD_VIRTUAL_PATH = '/a:/b'"
    disable = "$CUDAENV_DISABLE = '1'"
    stale = "$STALE = '1'"
    either = "{0} || echo failed\n{1} && echo worked"
    skipped = "false && conda activate never"
    forever = "echo hi | conda list | sed s/^/P/"


class HookTest(unittest.TestCase):
    shell = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="hook-"))
        self.addCleanup(shutil.rmtree, self.directory)
        here = self.directory
        (here / "answers").mkdir()
        for name in ("enter", "leave", "use"):
            (here / name).write_text(getattr(self.shell, name))
        (here / "shell").write_text(self.shell.name)
        (here / "use-status").write_text("0")
        (here / "calls").write_text("")
        (here / "conda.csh").write_text("echo original $argv:q\nif ($1 == list) cat\n"
                                        "sh -c 'exit 6'\n")
        self.program = here / "a path/cudaenv"
        self.program.parent.mkdir()
        self.program.write_text(STAND_IN)
        self.program.chmod(0o755)
        text = (HOOKS / f"hook.{self.shell.name}").read_text()
        for wrap in (0, 1):
            (here / f"hook{wrap}").write_text(text.replace("@CUDAENV_WRAP@", str(wrap))
                                              .replace("@CUDAENV_ACTING@", ACTING)
                                              .replace("@CUDAENV_GONE@", "is gone")
                                              .replace("@CUDAENV_PLACE@", "$PWD:$VIRTUAL_ENV")
                                              .replace("@CUDAENV_PROGRAM@",
                                                       self.shell.quoted.format(self.program)))
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(here),
                            "LC_ALL": "C.UTF-8", "TERM": "dumb", "XONSH_SHOW_TRACEBACK": "1"}

    def words(self, text):
        return text.replace("{hook}", str(self.directory / "hook1")) \
                   .replace("{directory}", str(self.directory))

    def script(self, *lines, stdin=subprocess.DEVNULL):
        file = self.directory / "script"
        file.write_text(self.words("\n".join(lines)) + "\n")
        done = subprocess.run([*self.shell.program, str(file)], env=self.environment, stdin=stdin,
                              cwd=self.directory, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def calls(self):
        """The program's calls so far, without the words that say what is watched or was active."""
        lines = (self.directory / "calls").read_text().splitlines()
        (self.directory / "calls").write_text("")
        lines = [re.sub(r" --(waited \S+|take-back-first|cut-off)", "", line) for line in lines]
        return [line.split("|")[0].split(" --watch")[0].split(" --was")[0] for line in lines]

    OURS = "[/ours $(id) it's]"

    def test_a_script_is_served_at_once_and_silently(self):
        self.assertEqual(self.script(self.shell.hook, self.shell.status, self.shell.show),
                         ["status 0", self.OURS])
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}"])
        self.assertEqual(list((self.directory / "answers").iterdir()), [])

    def test_a_program_that_fails_changes_nothing(self):
        (self.directory / "broken").touch()
        self.assertEqual(self.script(self.shell.hook, self.shell.show), ["[]"])

    def test_it_installs_itself_once(self):
        self.script(self.shell.quiet_conda, *[self.shell.hook] * 3, "cudaenv true",
                    "conda activate x")
        asked = self.calls()
        self.assertEqual(asked.count("true"), 1)
        self.assertEqual(asked.count(f"prompt {self.shell.name} --leave"), 1)

    def test_conda_is_left_before_and_asked_after_and_keeps_its_status(self):
        out = self.script(self.shell.hook, self.shell.quiet_conda, "cudaenv true",
                          self.shell.stale, "conda activate 'a b'", self.shell.status,
                          self.shell.show)
        self.assertEqual(out[0], "original activate a b")
        if self.shell.name != "xonsh": # where a command in a script leaves no status
            self.assertEqual(out[1], "status 6")
        self.assertEqual(out[-1], self.OURS)
        self.assertEqual(self.calls()[-2:], [f"prompt {self.shell.name} --leave",
                                             f"prompt {self.shell.name}"])

    def test_what_was_active_before_conda_is_told_so_that_the_same_again_is_silent(self):
        self.script(self.shell.hook, self.shell.quiet_conda, "cudaenv true", "conda activate x")
        last = (self.directory / "calls").read_text().splitlines()[-1]
        self.assertEqual(last.split("|")[0].split(" --was ")[1:], ["j"])

    def test_other_words_of_conda_go_straight_through_also_in_a_pipe(self):
        out = self.script(self.shell.conda, self.shell.hook, self.shell.forever)
        self.assertEqual(out, ["Poriginal list", "Phi"])
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}"])

    def test_a_command_after_one_that_failed_is_not_begun(self):
        out = self.script(self.shell.quiet_conda, self.shell.hook, self.shell.skipped)
        self.assertEqual(out, [])
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}"])

    def test_wrapping_can_be_off(self):
        hook = self.shell.hook.replace("{hook}", str(self.directory / "hook0"))
        self.script(self.shell.quiet_conda, hook, "conda activate x")
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}"])

    def test_the_program_keeps_its_words_status_and_output(self):
        out = self.script(self.shell.hook, "cudaenv printf '<%s>' 'a  b' 'it\"s' '#' '*' ''",
                          "cudaenv echo", "cudaenv echo out > file", "cat file",
                          "echo in | cudaenv cat | sed s/^/P/",
                          self.shell.either.format("cudaenv false", "cudaenv true"))
        self.assertEqual(out, ["<a  b><it\"s><#><*><>", "out", "Pin", "failed", "worked"])

    def test_other_words_of_the_program_are_followed_by_a_question(self):
        self.script(self.shell.hook, self.shell.stale, "cudaenv true")
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}", "true",
                                        f"prompt {self.shell.name}"])

    def test_use_changes_this_shell(self):
        out = self.script(self.shell.hook, "cudaenv use 11.8", "echo $CUDAENV_CUDA")
        self.assertEqual(out, ["11.8"])
        self.assertIn(f"use --shell {self.shell.name} 11.8", self.calls())

    def test_a_use_that_fails_says_so(self):
        (self.directory / "use-status").write_text("2")
        (self.directory / "use").write_text("")
        out = self.script(self.shell.hook,
                          self.shell.either.format("cudaenv use 99", "cudaenv use 99"))
        self.assertEqual(out, ["failed"])

    def test_the_copy_of_path_that_venv_keeps_is_passed_on(self):
        self.script(self.shell.set_old_path, self.shell.hook)
        self.assertTrue((self.directory / "calls").read_text().endswith("|/a:/b\n"))

    def test_disabled_it_takes_back_and_asks_no_more(self):
        out = self.script(self.shell.hook, self.shell.disable, "cudaenv true", self.shell.show,
                          "cudaenv true", "cudaenv true")
        self.assertEqual(out, ["[]"])
        asked = self.calls()
        self.assertEqual(len([call for call in asked if call.startswith("prompt")]), 2)

    def test_unhooked_nothing_of_it_is_left(self):
        out = self.script(self.shell.quiet_conda, self.shell.hook, "__cudaenv_unhook",
                          self.shell.names, self.shell.show, "conda activate x")
        self.assertEqual([line for line in out if line], ["[]", "original activate x"])
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}",
                                        f"prompt {self.shell.name} --leave"])

    # At a terminal.

    def terminal(self, *lines):
        """Types each line when the shell has shown what the one before ends with."""
        program = [*self.shell.program]
        if self.shell.name == "xonsh":
            program += ["--shell-type", "readline"]
        if self.shell.name == "fish":
            program += ["--features", "no-query-term"]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.directory)
            os.execvpe(program[0], program, self.environment)
        seen = b""

        def until(mark):
            nonlocal seen
            end = time.monotonic() + 30
            while mark not in seen:
                ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
                try:
                    more = os.read(terminal, 65536) if ready else b""
                except OSError: # the shell is gone
                    more = b""
                if not more:
                    self.fail(f"{mark} was not shown, but {seen!r}")
                seen += more
            before, _, seen = seen.partition(mark)
            return before.decode(errors="replace")

        out = []
        try:
            for number, line in enumerate(lines):
                os.write(terminal, self.words(line).encode() + b"\n")
                # Its output, not its echo: the word is not typed as such.
                os.write(terminal, f"printf '%sE{number}' DON\n".encode())
                out.append(until(f"DONE{number}".encode()))
        finally:
            # To its end: a stand-in that it started may still be writing.
            os.write(terminal, b"exit\n")
            self.rest_of(terminal)
            os.close(terminal)
            os.waitpid(child, 0)
        return out

    def rest_of(self, terminal):
        text = b""
        end = time.monotonic() + 30
        while time.monotonic() < end and select.select([terminal], [], [], 30)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError: # the shell is gone
                break
            if not more:
                break
            text += more
        return text.decode(errors="replace")

    def test_a_prompt_asks_and_may_say_something(self):
        out = self.terminal(self.shell.hook, *self.shell.show.splitlines())
        self.assertIn(self.OURS, "".join(out))
        asked = self.calls()
        self.assertEqual(set(asked), {f"prompt {self.shell.name} --say"})
        if self.shell.name == "xonsh":
            self.assertEqual(len(asked), 1) # it compares by itself
        else:
            self.assertGreater(len(asked), 1) # each prompt hands the watch back

    def test_the_status_of_a_command_passes_a_prompt(self):
        out = self.typed(self.shell.hook, self.shell.failing, self.shell.status)
        self.assertIn("status 5", out)

    def typed(self, *lines):
        """The whole of what is shown for lines that are typed ahead, each at a prompt of its own."""
        program = [*self.shell.program]
        if self.shell.name == "xonsh":
            program += ["--shell-type", "readline"]
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.directory)
            os.execvpe(program[0], program, self.environment)
        for line in [*lines, "exit"]:
            os.write(terminal, self.words(line).encode() + b"\n")
        text = self.rest_of(terminal)
        os.close(terminal)
        os.waitpid(child, 0)
        return text

    def test_conda_that_comes_after_the_hook_is_wrapped_at_a_prompt(self):
        self.terminal(self.shell.hook, self.shell.quiet_conda, "conda activate x")
        self.assertIn(f"prompt {self.shell.name} --say --leave", self.calls())

    def test_a_nested_shell_asks_for_itself(self):
        inner = " ".join(self.shell.program)
        file = self.directory / "inner"
        file.write_text(self.words(self.shell.hook) + "\n")
        self.script(self.shell.hook, f"{inner} {file}")
        self.assertEqual(self.calls(), [f"prompt {self.shell.name}"] * 2)


class XonshTest(HookTest):
    def test_the_list_that_vox_keeps_is_passed_on_and_changed_in_place(self):
        (self.directory / "enter").write_text(
            self.shell.enter + "__cudaenv_kept_path[:] = ['/c d']\n")
        out = self.script("import sys, types",
                          "kept = ['/ours', '/c d']",
                          "sys.modules['xontrib.voxapi'] = types.SimpleNamespace("
                          "Vox=types.SimpleNamespace(oldvars={'PATH': kept}))",
                          self.shell.hook, "print(kept)")
        self.assertEqual(out, ["['/c d']"])
        self.assertTrue((self.directory / "calls").read_text().endswith("|/ours:/c d\n"))


class FishTest(HookTest):
    def test_it_asks_after_handlers_that_were_added_after_it(self):
        later = ("function later --on-event fish_prompt; "
                 "set -gx _OLD_VIRTUAL_PATH (random); echo $_OLD_VIRTUAL_PATH >>seen; end")
        self.terminal(self.shell.hook, later, "true", "true")
        seen = (self.directory / "seen").read_text().splitlines()
        asked = [line.split("|")[1]
                 for line in (self.directory / "calls").read_text().splitlines()]
        asked = [old for old in asked if old]
        self.assertGreater(len(asked), 2)
        # But for the one prompt at which the handler was new.
        self.assertEqual(asked[-3:], seen[-3:])

    def test_direnv_after_the_hook_comes_first_at_the_first_prompt_too(self):
        config = self.directory / "fish"
        config.mkdir()
        (config / "config.fish").write_text(
            self.words(self.shell.hook) + "\nfunction __direnv_export_eval --on-event fish_prompt\n"
            "    set -gx _OLD_VIRTUAL_PATH by-direnv\nend\n")
        self.environment["XDG_CONFIG_HOME"] = str(self.directory)
        program = self.shell.program
        self.addCleanup(setattr, self.shell, "program", program)
        self.shell.program = ["fish"]
        self.terminal("true")
        asked = (self.directory / "calls").read_text().splitlines()
        self.assertEqual({line.split("|")[1] for line in asked}, {"by-direnv"})


class TcshTest(HookTest):
    def test_the_users_own_precmd_runs_too_with_the_status(self):
        out = self.terminal("alias precmd 'echo own $status'", self.shell.hook, self.shell.failing)
        self.assertIn("own 5", out[-1])
        self.assertIn(f"prompt {self.shell.name} --say", self.calls())

    def test_it_asks_after_the_users_own_precmd_and_the_status_stays(self):
        out = self.typed("alias precmd 'setenv _OLD_VIRTUAL_PATH by-precmd; sh -c \"exit 3\"'",
                         self.shell.hook, self.shell.failing, self.shell.status)
        self.assertIn("status 5", out)
        asked = (self.directory / "calls").read_text().splitlines()
        self.assertTrue(asked)
        self.assertEqual({line.split("|")[1] for line in asked}, {"by-precmd"})

    def test_an_answer_that_is_no_private_file_is_neither_read_nor_removed(self):
        kept = self.directory / "kept"
        kept.write_text("echo read\n")
        for answer in (f"setenv CC {kept} ;", f"{kept} {kept}", "/etc/passwd/", str(self.directory)):
            self.program.write_text(f"#!/bin/sh\necho '{answer}'\n")
            self.assertEqual(self.script(self.shell.hook, self.shell.show), ["[]"])
            self.assertTrue(kept.exists())

    def test_odd_settings_do_not_matter(self):
        out = self.script("set noglob noclobber nonomatch backslash_quote", self.shell.hook,
                          self.shell.show, "echo $?noglob $?noclobber $?backslash_quote")
        self.assertEqual(out, [self.OURS, "1 1 1"])

    def test_a_script_whose_input_is_a_pipe_can_activate(self):
        script = self.directory / "script"
        script.write_text(self.words("\n".join([self.shell.quiet_conda, self.shell.hook,
                                                "unsetenv CUDA_HOME", self.shell.stale,
                                                "conda activate x", self.shell.show])) + "\n")
        done = subprocess.run(["tcsh", "-f", str(script)], env=self.environment, input="",
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.splitlines(), ["original activate x", self.OURS])


if __name__ == "__main__":
    shells = {"fish": Fish, "tcsh": Tcsh, "xonsh": Xonsh}
    chosen = sys.argv.pop(1)
    if shutil.which(chosen, path="/usr/local/bin:/usr/bin:/bin") is None:
        print(f"SKIP: no {chosen} here; apt install {chosen}")
        sys.exit(4)
    HookTest.shell = shells[chosen]
    case = {"fish": FishTest, "tcsh": TcshTest, "xonsh": XonshTest}[chosen]
    result = unittest.TextTestRunner(verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(case))
    sys.exit(0 if result.wasSuccessful() else 1)
