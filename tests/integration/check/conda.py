"""conda_worker.py, kept running: the tests' conda."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "shells"))
sys.path.insert(0, str(HERE.parents[1] / "support"))
from environments import Unavailable, tools  # noqa: E402


class Conda:
    """Use as a context manager."""

    def __init__(self, root):
        self.root = Path(root)

    def __enter__(self):
        self.process = subprocess.Popen(
            [str(tools() / "python"), str(HERE / "conda_worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={"PATH": "/usr/bin:/bin", "HOME": str(self.root)})
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "it ended"}')
        if "error" in answer:
            raise RuntimeError(f"{request['do']}: {answer['error']}")

    def channel(self, name, packages):
        """Makes ROOT/NAME; returns it."""
        self.ask(do="channel", root=str(self.root / name), packages=packages)
        return self.root / name

    def install(self, prefix, channel, *specs):
        """The environment has what `specs` ask for then, and nothing else of conda's."""
        self.ask(do="install", prefix=str(prefix), channel=str(channel), cache=str(self.root / "cache"),
                 specs=list(specs))


__all__ = ["Conda", "Unavailable"]
