#!/usr/bin/env python3
"""Where the place changes without a prompt, by a line of a paste or by a key, the next command has the right CUDA.

usage: test_between_prompts.py --shell SHELL --cudaenv FILE --cudaenvd FILE
Status 77: the shell is not here.
"""

import os
import shutil
import sys
import unittest

import driver
import play
import scene

KEY = "\x07"  # Ctrl-G
# Before the hook. The driver switches zsh's line editor off; {place} is where the key goes.
BOUND = {
    "bash": "bind 'set enable-bracketed-paste on'\nbind -x '\"\\C-g\": cd {place}'\n",
    "zsh": "setopt zle\ngo() {{ cd {place}; zle reset-prompt; }}\nzle -N go\nbindkey '^G' go\n",
    "fish": "function fish_user_key_bindings; bind \\cg 'cd {place}; commandline -f repaint'; end\n",
}
USERS_OWN = {
    "bash": "PS0='own-ps0 '\ntrap 'own_debug=1' DEBUG\n",
    "zsh": "TRAPDEBUG() {{ own_debug=1; }}\n",
}
TAKEN = {  # the user has what the hook would need
    "bash": "trap 'echo own-urg' URG\n",
    "zsh": "trap 'own_debug=1' DEBUG\n",
}

options = None
shells_world = None


class BetweenPromptsTest(unittest.TestCase):
    def start(self, more=None):
        shells_world.reset()
        before = (BOUND.get(options.shell, "") + (more or {}).get(options.shell, "")).format(
            place=shells_world.root / "projects/p124")
        shells_world.write_rc_files(True, {options.shell: before})
        self.play = play.Play(shells_world, options.shell, True, {"TERM": "xterm"})
        self.play.__enter__()
        self.addCleanup(self.play.__exit__)
        self.seen = shells_world.scratch / "seen"
        shutil.rmtree(self.seen, ignore_errors=True)
        self.seen.mkdir()

    def look(self, name):
        return f"env > {self.seen}/{name}"

    def home(self, name):
        """CUDA_HOME of the command `look(name)`, as a version."""
        for line in (self.seen / name).read_text(errors="replace").splitlines():
            if line.startswith("CUDA_HOME="):
                return line.rpartition("cuda-")[2]
        return None

    def homes(self, *names):
        return [self.home(name) for name in names]

    def write(self, text):
        os.write(self.play.shell.terminal, text.encode())

    def paste(self, *lines):
        self.write("\x1b[200~" + "\r".join(lines) + "\x1b[201~")
        self.play.shell.wait_until_quiet()
        self.play.type("")
        self.play.shell.wait_until_quiet()

    def activate(self, name):
        if options.shell == "xonsh":
            self.play.type("xontrib load vox")
        return self.play.words.activate(self.play.env_path(name))

    def cd(self, name):
        return self.play.words.cd(self.play.place(name))

    def test_each_line_of_a_paste_has_the_cuda_of_the_lines_before_it(self):
        self.start()
        self.paste(self.activate("t118"), self.look("a"), self.activate("t124"), self.look("b"),
                   self.cd("p113"), self.look("c"), self.cd("none"), self.look("d"),
                   self.play.words.deactivate(), self.look("e"))
        self.assertEqual(self.homes("a", "b", "c", "d", "e"), ["11.8", "12.4", "11.3", "12.4", None])
        self.paste(self.cd("p118"), self.look("f"), self.cd("p124"), self.look("g"))
        self.assertEqual(self.homes("f", "g"), ["11.8", "12.4"])

    def test_commands_on_one_line_have_the_cuda_of_those_before_them(self):
        if options.shell not in ("fish", "xonsh"):
            self.skipTest("between the commands of one line this shell runs nothing of ours")
        self.start()
        self.play.type("; ".join([self.activate("t118"), self.look("a"), self.activate("t124"), self.look("b"),
                                  self.cd("p113"), self.look("c"), self.play.words.deactivate(),
                                  self.cd("none"), self.look("d")]))
        self.assertEqual(self.homes("a", "b", "c", "d"), ["11.8", "12.4", "11.3", None])

    def test_lines_of_a_paste_in_one_place_ask_nothing(self):
        self.start()
        self.play.type(self.cd("p118"))
        if options.shell in ("fish", "xonsh"):
            self.skipTest("these ask at every prompt, or compare by themselves")
        program = shells_world.program
        asked = shells_world.scratch / "asked"
        hidden = program + " hidden"
        os.rename(program, hidden)
        self.addCleanup(os.replace, hidden, program)
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\n: > '{asked}'\nexec '{hidden}' \"$@\"\n")
        os.chmod(program, 0o755)
        os.utime(program, ns=(0, 0))
        self.play.type("")  # the program is another one
        asked.unlink(missing_ok=True)
        self.paste("true", "false", "(cd /)", self.look("a"))
        self.assertFalse(asked.exists())

    def test_a_key_that_changes_the_directory_is_seen_before_the_command(self):
        if options.shell not in BOUND:
            self.skipTest("keys of this shell run no commands of its own")
        self.start()
        self.play.type(self.cd("p118"))
        self.write(KEY)
        self.play.shell.wait_until_quiet()
        self.play.type(self.look("a"))
        self.play.shell.wait_until_quiet()
        self.assertEqual(self.home("a"), "12.4")

    def test_what_the_user_has_of_the_same_kind_stays(self):
        if options.shell not in USERS_OWN:
            self.skipTest("nothing of the kind in this shell")
        self.start(USERS_OWN)
        self.paste("own_debug=0", "true", f'echo "debug $own_debug" > {self.seen}/own')
        self.assertEqual((self.seen / "own").read_text(), "debug 1\n")
        if options.shell == "bash":
            self.play.type("true")
            self.assertIn("own-ps0", self.play.answer.said)
            self.play.type("__cudaenv_unhook")
            self.play.type("trap -p URG; echo \"<$PS0>\"")
            self.assertIn("<own-ps0 >", self.play.answer.said)
            self.assertNotIn("cudaenv", self.play.answer.said)

    def test_where_the_users_own_trap_stands_in_the_way_the_next_prompt_updates(self):
        if options.shell not in TAKEN:
            self.skipTest("nothing of the kind in this shell")
        self.start(TAKEN)
        self.paste(self.cd("p118"), "true")
        self.assertNotIn("own-urg", self.play.answer.said)
        self.play.type(self.look("a"))
        self.assertEqual(self.home("a"), "11.8")
        self.play.type("kill -URG $$" if options.shell == "bash" else "trap")
        self.assertIn("own-urg" if options.shell == "bash" else "own_debug=1", self.play.answer.said)

    def test_after_a_paste_no_trap_is_left(self):
        if options.shell != "zsh":
            self.skipTest("only zsh has a trap for a paste")
        self.start()
        self.paste(self.cd("p118"), "true")
        self.play.type(f"trap > {self.seen}/traps")
        self.assertEqual((self.seen / "traps").read_text(), "")

    def test_a_readonly_variable_is_left_alone_and_the_line_is_said_once(self):
        if options.shell != "bash":
            self.skipTest("readonly is bash's here")
        for options_set in ("", "set -u"):
            self.start()
            self.play.type(options_set)
            self.play.type("readonly CC CXX")
            self.play.heard = ""
            self.play.type(self.cd("p118"))
            for _ in range(3):
                self.play.type("true")
            self.assertEqual(self.play.heard.count("cudaenv: CUDA 11.8"), 1, self.play.heard)
            self.play.type(self.look("a"))
            self.assertEqual(self.home("a"), "11.8")


def main():
    global options, shells_world
    options = scene.arguments(__doc__).parse_args()
    if why := driver.missing(options.shell):
        scene.skip(why)
    if options.shell == "tcsh":
        scene.skip("tcsh has no bracketed paste, and a prompt before each line")
    with scene.prepared(options, odd=False) as shells_world:
        load = unittest.defaultTestLoader.loadTestsFromTestCase
        done = unittest.TextTestRunner().run(load(BetweenPromptsTest))
    return 0 if done.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
