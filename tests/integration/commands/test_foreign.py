"""Commands write only where they mean to: no link of somebody else's is followed, nothing leaves an environment, and
root leaves nothing in another user's home."""

import ctypes
import json
import os
import stat
import threading
import unittest

from support import PROGRAMS, CommandTest, run_tests

OTHER = 4321  # a user of this test alone
CONSTRAINTS = {"setting": "env", "pip_lines": ["torch==2.6.0"], "conda_lines": ["pytorch 2.6.0.*"],
               "pip": {"version": "26.2", "builds_apart": "always"}}
KERNEL = json.dumps({"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]})


class Case(CommandTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.root / "e"
        (self.prefix / "bin").mkdir(parents=True)
        (self.prefix / "conda-meta").mkdir()
        self.outside = self.root / "outside"
        self.outside.mkdir()
        self.secret = self.outside / "secret"
        self.secret.write_text(KERNEL)
        self.secret.chmod(0o600)
        self.fake_daemon(constraints=CONSTRAINTS)

    def refused(self, code, *words, **more):
        ran = self.run_cudaenv(*words, "--json", **more)
        self.assertNotEqual(ran.returncode, 0)
        self.assertEqual(json.loads(ran.stdout)["code"], code, ran)
        self.assertEqual(self.secret.read_text(), KERNEL)
        self.assertEqual(stat.S_IMODE(self.secret.stat().st_mode), 0o600)
        self.assertEqual(os.listdir(self.outside), ["secret"])

    def link(self, path, target):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


class Links(Case):
    def test_files_of_the_environment_that_are_links_are_not_written_through(self):
        for name in ("pip.conf", "conda-meta/pinned", "etc/conda/activate.d/zz-cudaenv.sh"):
            with self.subTest(name):
                self.link(self.prefix / name, self.secret)
                self.refused("is-a-link", "attach", "-p", self.prefix)
                (self.prefix / name).unlink()

    def test_directories_of_the_environment_that_lead_out_of_it_are_not_entered(self):
        for name in ("etc", "etc/conda/activate.d", "conda-meta"):
            with self.subTest(name):
                if name == "conda-meta":
                    (self.prefix / name).rmdir()
                self.link(self.prefix / name, self.outside)
                self.refused("outside", "attach", "-p", self.prefix)
                (self.prefix / name).unlink()

    def test_a_kernel_that_is_a_link_is_left_alone(self):
        self.link(self.prefix / "share/jupyter/kernels/k/kernel.json", self.secret)
        self.refused("is-a-link", "attach", "--kernelspec", "-p", self.prefix)

    def test_links_inside_the_environment_are_followed(self):
        (self.prefix / "really").mkdir()
        self.link(self.prefix / "etc", "really")
        self.check(self.run_cudaenv("attach", "-p", self.prefix))
        self.assertTrue((self.prefix / "really/conda/activate.d/zz-cudaenv.sh").exists())
        self.check(self.run_cudaenv("detach", "-p", self.prefix))
        self.assertEqual(os.listdir(self.prefix / "really"), [])


@unittest.skipUnless(os.geteuid() == 0, "needs files of several owners; run as root")
class Anothers(Case):
    def give(self, path, owner=OTHER):
        os.chown(path, owner, owner, follow_symlinks=False)

    def test_what_belongs_to_neither_the_caller_nor_the_environments_owner_is_left_alone(self):
        (self.prefix / "etc/conda").mkdir(parents=True)
        self.give(self.prefix / "etc/conda")
        self.refused("foreign-owner", "attach", "-p", self.prefix)
        self.assertEqual(os.listdir(self.prefix / "etc/conda"), [])
        self.give(self.prefix)  # now it is the owner's
        self.check(self.run_cudaenv("attach", "-p", self.prefix))
        self.check(self.run_cudaenv("detach", "-p", self.prefix))
        (self.prefix / "pip.conf").touch()
        self.give(self.prefix / "pip.conf", OTHER + 1)
        self.refused("foreign-owner", "attach", "-p", self.prefix)

    def test_what_root_makes_in_an_environment_of_anothers_is_its_owners(self):
        for path in (self.prefix, *self.prefix.rglob("*")):
            self.give(path)
        self.check(self.run_cudaenv("attach", "-p", self.prefix))
        made = [path for path in self.prefix.rglob("*")]
        self.assertIn(self.prefix / "etc/conda/activate.d/zz-cudaenv.sh", made)
        self.assertEqual({path.lstat().st_uid for path in made}, {OTHER})
        self.check(self.run_cudaenv("detach", "-p", self.prefix))

    def test_a_file_to_export_to_that_another_has_laid_as_a_link_is_not_followed(self):
        shared = self.root / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        self.link(shared / "facts.json", self.secret)
        self.give(shared / "facts.json")
        self.refused("foreign-owner", "host", "--export", shared / "facts.json", environment={
            "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]})
        (shared / "facts.json").unlink()
        self.link(shared / "facts.json", self.secret)
        self.check(self.run_cudaenv("host", "--export", shared / "facts.json", environment={
            "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]}))
        self.secret.write_text(KERNEL)
        self.secret.chmod(0o600)
        self.link(shared / "there", self.outside)
        self.give(shared / "there")
        self.refused("foreign-owner", "host", "--export", shared / "there/facts.json", environment={
            "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]})

    def test_no_export_goes_through_a_link_that_is_swapped_in_meanwhile(self):
        theirs = self.root / "theirs"
        theirs.mkdir()
        (theirs / "x").touch()
        self.link(theirs / "link", self.secret)
        for path in (theirs, theirs / "x", theirs / "link"):
            self.give(path)
        ended = threading.Event()

        def swap():
            libc = ctypes.CDLL(None)
            while not ended.is_set():
                libc.renameat2(-100, os.fsencode(theirs / "x"), -100, os.fsencode(theirs / "link"), 2)

        swapping = threading.Thread(target=swap)
        swapping.start()
        try:
            for _ in range(60):
                self.run_cudaenv("host", "--export", theirs / "x", environment={
                    "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]})
                self.assertEqual(self.secret.read_text(), KERNEL)
        finally:
            ended.set()
            swapping.join()

    def test_an_environments_own_pins_are_not_written_through_a_link(self):
        self.link(self.prefix / "conda-meta/cudaenv.toml", self.secret)
        for words in (["pin", "11.3"], ["unpin", "cuda"]):
            with self.subTest(words):
                self.refused("is-a-link", *words, "-p", self.prefix, environment={
                    "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]})

    def test_root_follows_no_link_in_the_home_of_another(self):
        self.give(self.home)
        self.link(self.home / ".config", self.outside)
        self.give(self.home / ".config")
        for words in (["init", "fish"], ["config", "set", "check.warn", "false"], ["pin", "--global", "cuda=11.3"],
                      ["unpin", "--global", "cuda"]):
            with self.subTest(words):
                self.refused("anothers-home", *words, environment={"CUDAENV_DAEMON": PROGRAMS["cudaenvd"]})

    def test_root_makes_no_file_in_the_home_of_another(self):
        self.give(self.home)
        real = {"CUDAENV_DAEMON": PROGRAMS["cudaenvd"]}
        for words in (["init", "bash"], ["init", "fish"], ["config", "set", "check.warn", "false"],
                      ["pin", "--global", "cuda=11.3"]):
            with self.subTest(words):
                self.refused("anothers-home", *words, environment=real)
        self.assertEqual(os.listdir(self.home), [])


if __name__ == "__main__":
    run_tests()
