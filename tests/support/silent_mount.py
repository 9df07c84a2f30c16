"""A directory that does not answer: a FUSE mount whose server never says a word. Root only."""

import contextlib
import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
MNT_DETACH = 2


class Unavailable(Exception):
    """Why there can be no such directory here."""


@contextlib.contextmanager
def silent(place):
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Unavailable(f"/dev/fuse cannot be opened: {error.strerror}") from None
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    if LIBC.mount(b"silent", os.fsencode(place), b"fuse", 0, options.encode()) != 0:
        reason = os.strerror(ctypes.get_errno())
        os.close(device)
        raise Unavailable(f"FUSE cannot be mounted here without root: {reason}")
    try:
        yield place
    finally:
        os.close(device)  # whoever waits gets an error
        LIBC.umount2(os.fsencode(place), MNT_DETACH)
