"""Commands that write, in directories in which somebody else may write too and swaps what they reach for links of
their own, without pause: nothing behind those is written or removed.

Root, another user and the attacker are real users, with directories on tmpfs, on overlay and on the disk of /var/tmp.
usage: test_races.py --cudaenv FILE --cudaenvd FILE [--count N]      N tries of each command, user and file system (5)"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import LAB, PROGRAMS, run_tests

VICTIM, ATTACKER, GROUP = 54001, 54002, 54000
AT_FDCWD, RENAME_EXCHANGE = -100, 2
SITE = "env/lib/python3.11/site-packages"
COUNT = 5

# What is typed, in turns; what is swapped: a path and what the link in its place leads to.
KINDS = {
    "attach": ([["attach", "-p", "env"], ["detach", "-p", "env"]],
               {"env/etc/conda/activate.d": "directory", "env/etc": "directory"}),
    "kernelspec": ([["attach", "--kernelspec", "-p", "env"], ["detach", "-p", "env"]],
                   {"env/share/jupyter/kernels/k": "directory", "env/share/jupyter/kernels/k/kernel.json": "file"}),
    "pin of an environment": ([["pin", "-p", "env", "12.4", "--host", LAB], ["pin", "-p", "env", "11.8", "--host", LAB]],
                              {"env/conda-meta/cudaenv.toml": "file", "env/conda-meta": "directory"}),
    "pin of a project": ([["pin", "12.4", "--here", "--host", LAB], ["pin", "11.8", "--here", "--host", LAB]],
                         {"cudaenv.toml": "file"}),
    "export": ([["host", "--host", LAB, "--export", "facts.json"]], {"facts.json": "file"}),
    "fix": ([["check", "--fix", "--yes", "-p", "env"]], {f"{SITE}/~ar": "directory", SITE: "directory"}),
}


def make_world(root):
    """What both may write to, and what is the victim's alone."""
    shared = root / "shared"
    for directory in ("env/etc/conda/activate.d", "env/conda-meta", "env/share/jupyter/kernels/k", "env/bin", SITE):
        (shared / directory).mkdir(parents=True)
    (shared / "env/bin/python3.11").symlink_to("/usr/bin/python3")
    kernel = '{"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]}'
    for name, text in (("env/share/jupyter/kernels/k/kernel.json", kernel), ("env/conda-meta/cudaenv.toml", ""),
                       ("cudaenv.toml", ""), ("facts.json", "{}")):
        (shared / name).write_text(text)
    secret = root / "secret"
    (secret / "directory/~ar").mkdir(parents=True)
    (secret / "directory/~ar/only.py").write_text("only copy")
    (secret / "directory/kernel.json").write_text(kernel)
    (secret / "file").write_text(kernel)
    for name in ("home", "home0"):
        (root / name / "cudaenv").mkdir(parents=True)
        (root / name / "cudaenv/config.toml").write_text(f'[activate]\ntrusted_groups = ["{GROUP}"]\n')
    for path in [*root.rglob("*")]:
        os.chown(path, VICTIM, GROUP, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod((0o2775 if path.is_dir() else 0o664) if shared in (path, *path.parents) else
                       (0o700 if path.is_dir() else 0o600))
    for path in (root / "home0", *(root / "home0").rglob("*")):
        os.chown(path, 0, 0)
    root.chmod(0o755)
    return shared, secret


def swap_without_pause(shared, swapped, secret):
    """The attacker. Returns the process."""
    child = os.fork()
    if child:
        return child
    try:
        os.setgroups([GROUP])
        os.setresgid(ATTACKER, ATTACKER, ATTACKER)
        os.setresuid(ATTACKER, ATTACKER, ATTACKER)
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        pairs = []
        for number, (path, leads_to) in enumerate(swapped.items()):
            trap = shared / f"trap-{number}"
            trap.symlink_to(secret / leads_to)
            pairs.append((os.fsencode(trap), os.fsencode(shared / path)))
        while os.getppid() != 1:
            for trap, path in pairs:
                rename(AT_FDCWD, trap, AT_FDCWD, path, RENAME_EXCHANGE)
    finally:
        os._exit(1)


def state_of(secret):
    return {str(path): (path.lstat().st_mode, path.lstat().st_uid, path.lstat().st_gid,
                        path.read_text() if path.is_file() else "") for path in [secret, *sorted(secret.rglob("*"))]}


@unittest.skipUnless(os.geteuid() == 0, "needs several users; run as root")
class Races(unittest.TestCase):
    def play(self, base, user):
        for kind, (commands, swapped) in KINDS.items():
            with self.subTest(kind, user=user, on=str(base)):
                root = Path(tempfile.mkdtemp(prefix="cudaenv-races-", dir=base))
                self.addCleanup(shutil.rmtree, root, ignore_errors=True)
                shared, secret = make_world(root)
                before = state_of(secret)
                home = root / ("home" if user else "home0")
                environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "PATH": "/usr/bin:/bin", "CUDAENV_NO_DAEMON": "1",
                               "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]}
                who = {"user": user, "group": GROUP, "extra_groups": []} if user else {}
                attacker = swap_without_pause(shared, swapped, secret)
                done = 0
                try:
                    for i in range(COUNT):
                        if kind == "fix":
                            self.leave_something(shared / SITE / "~ar")
                        ran = subprocess.run([PROGRAMS["cudaenv"], *commands[i % len(commands)]], cwd=shared,
                                             env=environment, capture_output=True, timeout=60, check=False, **who)
                        self.assertIn(ran.returncode, (0, 1, 2, 3), ran)
                        done += ran.returncode == 0
                        self.assertEqual(state_of(secret), before, ran)
                finally:
                    self.assertEqual(os.waitpid(attacker, os.WNOHANG), (0, 0), "the attacker has ended")
                    os.kill(attacker, signal.SIGKILL)
                    os.waitpid(attacker, 0)
                print(f"{kind}, {base}, uid {user}: {done} of {COUNT} done", file=sys.stderr)

    @staticmethod
    def leave_something(leftover):
        """What pip leaves of an interrupted install, wherever that is at this moment; never in what is secret."""
        if not leftover.parent.is_symlink() and not leftover.is_symlink():
            try:
                fd = os.open(leftover.parent, os.O_DIRECTORY | os.O_NOFOLLOW)
            except OSError:
                return
            try:
                os.mkdir(leftover.name, dir_fd=fd)
                os.chown(leftover.name, VICTIM, GROUP, dir_fd=fd, follow_symlinks=False)
            except OSError:
                pass
            finally:
                os.close(fd)

    def runnable(self):
        for program in PROGRAMS.values():
            if subprocess.run(["/usr/bin/test", "-x", program], user=VICTIM, group=GROUP, extra_groups=[],
                              check=False).returncode:
                self.skipTest(f"another user may not run {program}")

    def test_on_the_disk(self):
        self.runnable()
        for user in (VICTIM, 0):
            self.play("/var/tmp", user)

    def test_on_tmpfs(self):
        self.runnable()
        for user in (VICTIM, 0):
            self.play("/dev/shm", user)

    def test_on_overlay(self):
        self.runnable()
        base = Path(tempfile.mkdtemp(prefix="cudaenv-overlay-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        base.chmod(0o755)
        for name in ("lower", "upper", "work", "all"):
            (base / name).mkdir()
        mounted = subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                                  f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work", base / "all"],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode:
            self.skipTest(f"no overlay here: {mounted.stderr.strip()}")
        try:
            for user in (VICTIM, 0):
                self.play(base / "all", user)
        finally:
            subprocess.run(["umount", "--lazy", base / "all"], check=False)


if __name__ == "__main__":
    if "--count" in sys.argv:
        at = sys.argv.index("--count")
        COUNT = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    run_tests()
