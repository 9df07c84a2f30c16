"""What every test of shells does at its start and end: arguments, a missing shell, the world."""

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import driver
import world as worlds

SKIPPED = 77


def arguments(description, shells=True):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cudaenv", required=True, help="the client")
    parser.add_argument("--cudaenvd", required=True, help="the daemon")
    parser.add_argument("--keep", action="store_true", help="leave the world for looking at")
    if shells:
        parser.add_argument("--shell", required=True, choices=driver.SHELLS)
    return parser


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


@contextlib.contextmanager
def prepared(options, **more):
    """A world with a daemon, taken down at the end."""
    root = Path(tempfile.mkdtemp(prefix="cudaenv-shells-"))
    os.chmod(root, 0o755)
    world = None
    try:
        world = worlds.World(root, options.cudaenv, options.cudaenvd, **more)
        for note in world.notes:
            print(f"note: {note}")
        driver.run_quietly([world.program, "--version"], env=world.environment())
        if not world.start_daemon():
            print("note: no daemon could be started; every prompt starts its own")
        if shells := getattr(options, "shell", None):
            project = world.root / "projects/p118"
            if why := driver.unsafe(shells, world.program, world.environment(), project):
                print(f"FAILED: {shells}: {why}")
                sys.exit(1)
        yield world
    finally:
        if world is not None:
            world.close()
        if options.keep:
            print(f"kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
