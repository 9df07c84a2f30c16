"""`cudaenv init` and `hook`: what is in a start-up file afterwards, and that real shells read it."""

import json
import os
import shutil
import stat

import support
from support import CommandTest, run_tests

BEGIN, END = "# >>> cudaenv >>>\n", "# <<< cudaenv <<<\n"
FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish", "tcsh": ".tcshrc",
         "xonsh": ".xonshrc"}
# How each shell reads a file and then says something, without its other start-up files.
READ = {
    "bash": ["bash", "--norc", "-c", '. "$0"; echo read $(type -t __cudaenv_prompt)'],
    "zsh": ["zsh", "-f", "-c", '. "$0"; echo read ${functions[__cudaenv_prompt]:+function}'],
    "fish": ["fish", "--no-config", "-c",
             "source $argv[1]; functions -q __cudaenv_update; and echo read function; or echo read"],
    "tcsh": ["tcsh", "-f", "-c",
             'source "$argv[1]"; if ("`alias cudaenv`" != "") echo read function; '
             'if ("`alias cudaenv`" == "") echo read'],
    "xonsh": ["xonsh", "--no-rc", "-c",
              "source @($ARG1)\n"
              "print('read function' if callable(aliases.get('cudaenv')) else 'read')"],
}


class Init(CommandTest):
    def init(self, shell, *words, status=0, **more):
        return self.check(self.run_cudaenv("init", shell, *words, **more), status=status)

    def test_a_file_that_was_not_there_is_created_and_removed_again_with_its_directories(self):
        for shell, name in FILES.items():
            path = self.home / name
            before = sorted(self.home.rglob("*"))
            ran = self.init(shell)
            self.assertIn("written", ran.stdout.decode())
            text = path.read_text()
            self.assertTrue(text.startswith(BEGIN) and text.endswith(END), text)
            self.assertRegex(text, f"hook('?,)? '?{shell}")
            self.assertIn("unchanged", self.init(shell).stdout.decode())
            self.init(shell, "--undo")
            self.assertEqual(sorted(self.home.rglob("*")), before)

    def test_an_empty_file_of_the_users_stays(self):
        (self.home / ".config/fish").mkdir(parents=True)
        for shell, name in FILES.items():
            (self.home / name).touch()
            self.init(shell)
            self.init(shell, "--undo")
            self.assertEqual((self.home / name).read_bytes(), b"")

    def test_what_was_added_to_a_created_file_stays(self):
        self.init("fish")
        path = self.home / FILES["fish"]
        path.write_text(path.read_text() + "set -g mine 1\n")
        self.init("fish", "--undo")
        self.assertEqual(path.read_text(), "set -g mine 1\n")

    def test_everything_else_stays_byte_for_byte_and_undo_is_exact(self):
        for before in (b"alias a=b\n", b"no line end", b"dos\r\nlines\r\n", b"\xff\xfe\0bytes\n", b"\n\n",
                       b"# >>> conda initialize >>>\n# <<< conda initialize <<<\n"):
            path = self.home / ".bashrc"
            path.write_bytes(before)
            self.init("bash")
            after = path.read_bytes()
            self.assertTrue(after.startswith(before))
            self.assertTrue(after.endswith(END.encode()))
            self.init("bash", "--undo")
            self.assertEqual(path.read_bytes(), before)

    def test_once_is_enough(self):
        self.init("zsh")
        once = (self.home / ".zshrc").read_bytes()
        inode = (self.home / ".zshrc").stat().st_ino
        self.assertIn("unchanged", self.init("zsh").stdout.decode())
        self.assertEqual((self.home / ".zshrc").read_bytes(), once)
        self.assertEqual((self.home / ".zshrc").stat().st_ino, inode)
        self.init("zsh", "--undo")
        self.assertIn("not there", self.init("zsh", "--undo").stdout.decode())

    def test_an_older_block_is_replaced_where_it_stands(self):
        path = self.home / ".bashrc"
        path.write_text(f"first\n{BEGIN}old\n{END}last")
        self.init("bash")
        text = path.read_text()
        self.assertTrue(text.startswith("first\n" + BEGIN) and text.endswith(END + "last"))
        self.assertNotIn("old", text)

    def test_what_was_written_behind_the_block_keeps_its_line(self):
        path = self.home / ".bashrc"
        path.write_text("first")
        self.init("bash")
        with path.open("a") as file:
            file.write("later\n")
        self.init("bash", "--undo")
        self.assertEqual(path.read_text(), "first\nlater\n")

    def test_a_block_without_an_end_is_an_error_with_its_line(self):
        path = self.home / ".bashrc"
        path.write_text("a\n" + BEGIN + "b\n")
        for words in ([], ["--undo"]):
            ran = self.init("bash", *words, status=2)
            self.assertIn("./home/.bashrc line 2, column 1", ran.stderr.decode())
        self.assertEqual(path.read_text(), "a\n" + BEGIN + "b\n")

    def test_links_are_followed_and_modes_kept(self):
        real = self.home / "dotfiles/bashrc"
        real.parent.mkdir()
        real.write_text("x\n")
        real.chmod(0o640)
        (self.home / ".bashrc").symlink_to("dotfiles/bashrc")
        self.init("bash")
        self.assertTrue((self.home / ".bashrc").is_symlink())
        self.assertIn(BEGIN, real.read_text())
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o640)
        self.assertEqual(sorted(os.listdir(real.parent)), ["bashrc"])

    def test_a_link_to_nothing_is_an_error_with_what_to_paste(self):
        (self.home / ".bashrc").symlink_to("nowhere")
        ran = self.init("bash", status=3)
        self.assertIn("is a dangling symlink", ran.stderr.decode())
        self.assertIn("hook bash", ran.stderr.decode())
        self.assertTrue((self.home / ".bashrc").is_symlink())

    def test_a_read_only_file_is_an_error_with_what_to_paste(self):
        path = self.home / ".bashrc"
        path.write_text("mine\n")
        path.chmod(0o444)
        words = [support.PROGRAMS["cudaenv"], "init", "bash"]
        if os.getuid() == 0:
            if shutil.which("setpriv") is None:
                self.skipTest("root may write to every file, and there is no setpriv to be another; "
                              "apt install util-linux")
            shutil.copy(support.PROGRAMS["cudaenv"], self.root / "cudaenv")
            self.root.chmod(0o755)
            self.home.chmod(0o777)
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--",
                     str(self.root / "cudaenv"), "init", "bash"]
        ran = self.check(self.run_program(words), status=3)
        text = ran.stderr.decode()
        self.assertIn("./home/.bashrc: cannot be written: Permission denied", text)
        self.assertIn("\n\n# Written by `cudaenv init bash`;", text)
        self.assertIn(" hook bash)\"\nfi\n", text)
        self.assertEqual(path.read_text(), "mine\n")

    def test_the_file_is_the_one_that_the_shell_reads(self):
        (self.root / "z").mkdir()
        self.init("zsh", environment={"ZDOTDIR": str(self.root / "z")})
        self.assertTrue((self.root / "z/.zshrc").exists())
        (self.home / ".cshrc").write_text("# mine\n")
        self.init("tcsh")
        self.assertIn(BEGIN, (self.home / ".cshrc").read_text())
        self.assertFalse((self.home / ".tcshrc").exists())
        self.init("fish", environment={"XDG_CONFIG_HOME": str(self.root / "c")})
        self.assertTrue((self.root / "c/fish/config.fish").exists())
        rc = self.home / ".config/xonsh/rc.xsh"
        rc.parent.mkdir(parents=True)
        rc.write_text("# mine\n")
        self.init("xonsh")
        self.assertIn(BEGIN, rc.read_text())

    def test_json_tells_what_was_done(self):
        change = json.loads(self.init("bash", "--json").stdout)
        self.assertEqual(change["schema"], "cudaenv.change/1")
        self.assertEqual(change["files"], [{"path": str(self.home / ".bashrc"), "change": "written"}])

    def read(self, shell):
        return self.run_program([*READ[shell], str(self.home / FILES[shell])],
                                environment={"CUDAENV_DISABLE": "1",
                                             "ARG1": str(self.home / FILES[shell])})

    def installed(self, place):
        """cudaenv in a directory whose name is hard on quoting."""
        program = self.root / place / "cudaenv"
        program.parent.mkdir(parents=True)
        shutil.copy(support.PROGRAMS["cudaenv"], program)
        return program

    def test_each_shell_has_the_hook_after_reading_its_file(self):
        for shell in FILES:
            with self.subTest(shell):
                if shutil.which(shell, path=self.environment["PATH"]) is None:
                    self.skipTest(f"no {shell} here; apt install {shell}")
                program = self.installed(f"{shell}/it's $(a) \"place\"")
                self.check(self.run_program([str(program), "init", shell]))
                ran = self.read(shell)
                self.assertEqual((ran.stdout.decode(), ran.stderr.decode()), ("read function\n", ""))

    def test_a_cudaenv_that_was_removed_breaks_no_shell(self):
        program = self.installed("it's $(a) \"place\"")
        for shell in FILES:
            with self.subTest(shell):
                if shutil.which(shell, path=self.environment["PATH"]) is None:
                    self.skipTest(f"no {shell} here; apt install {shell}")
                self.check(self.run_program([str(program), "init", shell]))
        program.unlink()
        for shell in FILES:
            with self.subTest(shell):
                ran = self.read(shell)
                self.assertEqual((ran.stdout.decode(), ran.stderr.decode()), ("read\n", ""))


class Hook(CommandTest):
    def test_wrapping_can_be_switched_off_in_the_configuration(self):
        config = self.home / ".config/cudaenv/config.toml"
        config.parent.mkdir(parents=True)
        for text, wraps in (("", "1"), ("[activate]\nwrap = false\n", "0"),
                            ("activation.wrap = false\n", "0"), ("[activate]\nwrap = true\n", "1"),
                            ("[activate\n", "1"), ("activate.wrap = 'no'\n", "1")):
            config.write_text(text)
            ran = self.check(self.run_cudaenv("hook", "bash"))
            self.assertIn(f"__cudaenv_wrap={wraps}\n", ran.stdout.decode())

    def test_it_asks_no_daemon_and_names_this_program(self):
        self.environment["CUDAENV_DAEMON"] = "/no/such/cudaenvd"
        for shell in FILES:
            ran = self.check(self.run_cudaenv("hook", shell))
            self.assertIn(support.PROGRAMS["cudaenv"], ran.stdout.decode())


if __name__ == "__main__":
    run_tests()
