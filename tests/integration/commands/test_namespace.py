"""`cudaenv run --usr-local-cuda`: what only the command sees at /usr/local/cuda.

Each test makes a /usr/local of its own in a mount namespace of its own, as root or, where the system
allows it, in a user namespace.
"""

import os
import shutil
import subprocess

import support
from support import CommandTest, env_object, run_tests

# $1 is the test's /usr/local, the rest the command.
STAGE = 'mount --make-rprivate / && mount --rbind "$1" /usr/local && shift && exec "$@"'


def stage_words():
    """How this user gets a mount namespace to stage a test in."""
    for words in (["unshare", "-m"], ["unshare", "-Urm"]):
        if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            return words
    return None


class Namespace(CommandTest):
    def setUp(self):
        super().setUp()
        self.stage = stage_words()
        if self.stage is None:
            self.skipTest("on this system only root may make mount namespaces; run it as root")
        self.toolkit = self.root / "a toolkit"
        (self.toolkit / "bin").mkdir(parents=True)
        (self.toolkit / "mark").write_text("chosen\n")
        self.local = self.root / "local"
        for part in ("bin", "cuda-13.0/bin", "share/man"):
            (self.local / part).mkdir(parents=True)
        (self.local / "cuda-13.0/mark").write_text("13.0\n")
        (self.local / "a file").write_text("text\n")
        (self.local / "man").symlink_to("share/man")
        (self.local / "nowhere").symlink_to("/no/such/thing")
        self.fake_daemon(activate=env_object(toolkit={"path": str(self.toolkit)}))
        self.root.chmod(0o755)

    def on_stage(self, script, before=(), toolkit=None):
        if toolkit:
            self.fake_daemon(activate=env_object(toolkit={"path": toolkit}))
        return self.run_program([*self.stage, "sh", "-c", STAGE, "-", self.local, *before,
                                 support.PROGRAMS["cudaenv"], "run", "--usr-local-cuda", "sh", "-c",
                                 script])

    def test_a_link_leads_to_the_toolkit_and_its_old_target_stays_what_it_was(self):
        (self.local / "cuda").symlink_to("/usr/local/cuda-13.0")
        self.check(self.on_stage("cat /usr/local/cuda/mark /usr/local/cuda-13.0/mark"),
                   out="chosen\n13.0\n")

    def test_a_link_through_other_links_is_replaced_where_it_begins(self):
        (self.root / "alternatives").symlink_to("/usr/local/cuda-13.0")
        (self.local / "cuda").symlink_to(self.root / "alternatives")
        self.check(self.on_stage("cat /usr/local/cuda/mark /usr/local/cuda-13.0/mark"),
                   out="chosen\n13.0\n")

    def test_a_directory_shows_the_toolkit(self):
        (self.local / "cuda").mkdir()
        self.check(self.on_stage("cat /usr/local/cuda/mark; touch /usr/local/bin/new"),
                   out="chosen\n")
        self.assertEqual(os.listdir(self.local / "cuda"), [])
        self.assertTrue((self.local / "bin/new").exists())

    def test_where_there_was_nothing_the_toolkit_is(self):
        self.check(self.on_stage("cat /usr/local/cuda/mark"), out="chosen\n")
        self.assertFalse((self.local / "cuda").exists())

    def test_a_toolkit_below_usr_local_is_found_there(self):
        (self.local / "cuda-12.4").mkdir()
        (self.local / "cuda-12.4/mark").write_text("12.4\n")
        (self.local / "cuda").symlink_to("cuda-13.0")
        self.check(self.on_stage("cat /usr/local/cuda/mark; readlink -f /usr/local/cuda",
                                 toolkit="/usr/local/cuda-12.4"),
                   out="12.4\n/usr/local/cuda-12.4\n")

    def test_everything_else_in_usr_local_is_as_it_was(self):
        (self.local / "cuda").symlink_to("/usr/local/cuda-13.0")
        ran = self.check(self.on_stage(
            "cd /usr/local && ls && cat 'a file' && readlink man nowhere && echo made >bin/made && "
            "ls -d share/man"))
        self.assertEqual(ran.stdout.decode().splitlines(),
                         ["a file", "bin", "cuda", "cuda-13.0", "man", "nowhere", "share", "text",
                          "share/man", "/no/such/thing", "share/man"])
        self.assertEqual((self.local / "bin/made").read_text(), "made\n")

    def test_what_would_be_lost_with_the_namespace_cannot_be_written(self):
        (self.local / "cuda").symlink_to("/usr/local/cuda-13.0")
        ran = self.on_stage("touch /usr/local/new")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("Read-only", ran.stderr.decode())

    def test_where_the_link_is_right_already_nothing_is_mounted(self):
        (self.local / "cuda").symlink_to(self.toolkit)
        self.check(self.on_stage("cat /usr/local/cuda/mark; touch /usr/local/new"), out="chosen\n")

    def test_the_directory_that_one_is_in_stays_and_leads_on(self):
        (self.local / "cuda").symlink_to("/usr/local/cuda-13.0")
        ran = self.run_program([*self.stage, "sh", "-c", STAGE, "-", self.local, "sh", "-c",
                                'cd /usr/local/share && exec "$@"', "-",
                                support.PROGRAMS["cudaenv"], "run", "--usr-local-cuda", "sh", "-c",
                                "pwd; cat ../cuda/mark"])
        self.check(ran, out="/usr/local/share\nchosen\n")

    def test_nobody_outside_sees_any_of_it(self):
        (self.local / "cuda").symlink_to("/usr/local/cuda-13.0")
        script = '"$@" & wait $!; cat /usr/local/cuda/mark'
        ran = self.run_program([*self.stage, "sh", "-c", STAGE, "-", self.local, "sh", "-c", script,
                                "-", support.PROGRAMS["cudaenv"], "run", "--usr-local-cuda", "cat",
                                "/usr/local/cuda/mark"])
        self.check(ran, out="chosen\n13.0\n")

    def test_without_a_toolkit_it_says_so(self):
        self.fake_daemon(activate=env_object())
        ran = self.check(self.run_cudaenv("run", "--usr-local-cuda", "true"), status=125)
        self.assertIn("no toolkit was chosen", ran.stderr.decode())

    def test_a_toolkit_that_is_gone_is_named(self):
        self.fake_daemon(activate=env_object(toolkit={"path": "/no/such/toolkit"}))
        ran = self.check(self.run_cudaenv("run", "--usr-local-cuda", "true"), status=125)
        self.assertIn("/no/such/toolkit", ran.stderr.decode())


class OrdinaryUser(Namespace):
    """The same, and more, for somebody who is not root."""

    AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]

    def setUp(self):
        super().setUp()
        if os.getuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("becoming another user needs root and setpriv (apt install util-linux)")
        if subprocess.run([*self.AS_NOBODY, "unshare", "-U", "true"],
                          capture_output=True).returncode != 0:
            self.skipTest("this system lets no ordinary user make a user namespace; "
                          "sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces, "
                          "kernel.apparmor_restrict_unprivileged_userns")
        program = self.root / "cudaenv"  # where nobody may read it
        shutil.copy(support.PROGRAMS["cudaenv"], program)
        for path in (self.local, self.local / "bin"):
            path.chmod(0o777)
        self.environment["XDG_RUNTIME_DIR"] = ""
        self.program = str(program)

    def on_stage(self, script, before=(), toolkit=None):
        if toolkit:
            self.fake_daemon(activate=env_object(toolkit={"path": toolkit}))
        return self.run_program([*self.stage, "sh", "-c", STAGE, "-", self.local, *self.AS_NOBODY,
                                 *before, self.program, "run", "--usr-local-cuda", "sh", "-c",
                                 script])

    def test_ids_are_the_same_and_no_capability_is_left(self):
        (self.local / "cuda").symlink_to("/usr/local/cuda-13.0")
        ran = self.check(self.on_stage("id -u; id -g; cat /usr/local/cuda/mark; "
                                       "grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status"))
        lines = ran.stdout.decode().splitlines()
        self.assertEqual(lines[:3], ["65534", "65534", "chosen"])
        self.assertEqual({int(line.split()[1], 16) for line in lines[3:]}, {0})

    def test_where_the_system_forbids_it_the_user_learns_what_else_there_is(self):
        # Root of a user namespace that may have none below it, without any capability.
        script = ("echo 0 >/proc/sys/user/max_user_namespaces && "
                  'exec setpriv --bounding-set=-all --inh-caps=-all "$@"')
        words = ["unshare", "-Ur", "sh", "-c", script, "-"]
        tried = self.run_program([*words, "true"])
        if tried.returncode != 0:
            self.skipTest("user namespaces cannot be forbidden for this test: " +
                          tried.stderr.decode())
        ran = self.check(self.run_program([*words, self.program, "run", "--usr-local-cuda", "echo",
                                           "ran"]), status=125, out="")
        text = ran.stderr.decode()
        self.assertIn("this system forbids private mount namespaces: unshare:", text)
        self.assertIn("user.max_user_namespaces is 0", text)
        self.assertIn("without --usr-local-cuda", text)


if __name__ == "__main__":
    run_tests()
