"""A directory seen through a FUSE server (slow_disk.c): slow, and hanging while the server is stopped."""
import os
import select
import shutil
import signal
import subprocess
from pathlib import Path

from busy_shell import end_with_parent

SOURCE = Path(__file__).with_name("slow_disk.c")


class Unavailable(Exception):
    """Why there can be no such disk here."""


def compiled(into: Path):
    if not shutil.which("fusermount3") or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise Unavailable("FUSE is not here (Debian package fuse3, and /dev/fuse)")
    try:
        flags = subprocess.check_output(["pkg-config", "fuse3", "--cflags", "--libs"], text=True).split()
        subprocess.run(["cc", "-O1", "-o", str(into), str(SOURCE), *flags], check=True)
    except (OSError, subprocess.CalledProcessError):
        raise Unavailable("slow_disk.c cannot be built (Debian packages gcc, pkg-config and libfuse3-dev)") from None
    return into


class Disk:
    """`source` is seen at `place`, each operation after `delay` seconds."""

    def __init__(self, program: Path, source: Path, place: Path, delay: float):
        self.place = place
        place.mkdir()
        options = "ro,default_permissions" + (",allow_other" if os.getuid() == 0 else "")
        with open("/proc/self/mountinfo") as mounts:
            changed = select.poll()
            changed.register(mounts, select.POLLPRI)
            self.server = subprocess.Popen([program, source, str(int(delay * 1e6)), place, "-f", "-o", options],
                                           stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                           preexec_fn=end_with_parent)
            while self.server.poll() is None and f" {place} " not in mounts.read():
                changed.poll(100)
                mounts.seek(0)
        if self.server.poll() is not None:
            raise Unavailable(f"FUSE cannot be mounted here (status {self.server.returncode})")

    def stop(self):
        self.server.send_signal(signal.SIGSTOP)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Killed, it answers whoever still waits with an error.
        self.server.kill()
        self.server.wait()
        subprocess.run(["fusermount3", "-u", "-z", self.place], check=False)
