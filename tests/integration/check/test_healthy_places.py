#!/usr/bin/env python3
"""Healthy environments: with odd names, copied, moved, linked, of other users, or made by others. `cudaenv check` finds nothing in any.

usage: test_healthy_places.py --cudaenv FILE --cudaenvd FILE
"""

import os
import shutil
import sys
from pathlib import Path

from envs import SITE, quiet, run_tests, tools
from healthy import HealthyTest, plain_module


class Places(HealthyTest):
    def test_names_with_spaces_letters_of_all_kinds_and_line_ends(self):
        files = {
            "oddnames/__init__.py": plain_module(), "oddnames/with space.txt": "a\n", "oddnames/größe.txt": "b\n",
            "oddnames/数.txt": "c\n", "oddnames/comma,quote\".txt": "d\n", "oddnames/" + "long" * 50 + ".txt": "f\n"}
        for maker in ("uv", "pip"):
            if maker == "pip":  # uv refuses such a name
                files["oddnames/line\nend.txt"] = "e\n"
            self.home.wheel("oddnames", "1.0", files)
            with self.subTest(maker=maker):
                prefix = self.home.venv(self.name(f"an envi ronment, größe 数 \"{maker}\""))
                if maker == "pip":
                    self.home.pip(prefix, "install", "--quiet", "oddnames")
                else:
                    self.home.uv(prefix, "install", "oddnames")
                self.healthy(prefix)

    def test_a_copy_of_the_whole_environment(self):
        prefix = self.plain("oldone", "oldtwo")
        for words in (["-a"], ["-r"]):
            copy = self.home.root / self.name("copy" + words[0])
            quiet(["cp", *words, prefix, copy])
            self.healthy(copy)
        moved = self.home.root / self.name("moved")
        os.rename(prefix, moved)
        self.healthy(moved)

    def test_an_environment_reached_through_a_link(self):
        prefix = self.plain()
        link = self.home.root / self.name("link")
        link.symlink_to(prefix)
        self.healthy(link)
        with self.subTest("site-packages is one"):
            elsewhere = self.home.root / self.name("elsewhere")
            shutil.move(prefix / SITE, elsewhere)
            (prefix / SITE).symlink_to(elsewhere)
            self.healthy(prefix)

    def test_an_environment_of_another_user(self):
        if os.getuid() != 0:
            self.skipTest("files can be given to another user by root alone")
        prefix = self.plain()
        quiet(["chown", "-R", "65534:65534", prefix])
        self.healthy(prefix)

    def test_an_environment_that_may_only_be_read(self):
        prefix = self.plain()
        quiet(["chmod", "-R", "a-w", prefix])
        self.addCleanup(quiet, ["chmod", "-R", "u+w", prefix])
        self.healthy(prefix)

    def test_file_times_that_were_set(self):
        prefix = self.plain()
        for root, _, files in os.walk(prefix / SITE):
            for file in files:
                os.utime(os.path.join(root, file), (315532800, 315532800), follow_symlinks=False)
        self.healthy(prefix)

    def test_scripts_whose_first_line_was_rewritten(self):
        prefix = self.plain()
        for script in (prefix / "bin/plain", prefix / "bin/plain-script"):
            text = script.read_text()
            script.write_text("#!/usr/bin/env python\n" + text.partition("\n")[2])
        self.healthy(prefix)

    # what others made

    def test_debians_own(self):
        if not Path("/usr/lib/python3/dist-packages").is_dir():
            self.skipTest("there is no Debian's Python")
        self.healthy("/usr")

    def test_the_interpreters_own_prefix(self):
        # Somebody's: of what was done to it nothing is known, but for what installers never explain away.
        report = self.home.check(sys.base_prefix)
        self.assertEqual([finding for finding in report["findings"] if finding["code"] not in ("CE105", "CE106", "CE109")],
                         [])

    def test_the_tests_own_tools(self):
        self.healthy(tools().parent)


if __name__ == "__main__":
    run_tests(sys.argv)
