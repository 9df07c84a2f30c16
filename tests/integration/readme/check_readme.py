#!/usr/bin/env python3
"""Runs every command of README.md's ```console blocks and compares what it prints with what README shows.

usage: check_readme.py --cudaenv BIN README.md            status 1 and a diff where they differ
       check_readme.py --cudaenv BIN README.md --update   writes what was printed into README

The commands run one after another in one empty project folder that holds docs/examples/*; they speak of the machine
in an example's facts file, so that the answer is the same on every machine. The home folder is shown as /home/ada.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHOWN_HOME = "/home/ada"


def commands_of(block):
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def printed(command, project, environment):
    done = subprocess.run(["bash", "-c", command], cwd=project, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    if done.returncode not in (0, 1):  # 1 is an answer: a conflict
        sys.exit(f"`{command}` ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("readme", type=pathlib.Path)
    arguments = parser.parse_args()
    before = arguments.readme.read_text()
    binary = pathlib.Path(arguments.cudaenv).resolve()

    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder).resolve() / "home"
        project = home / "work" / "apex"
        project.mkdir(parents=True)
        for example in (arguments.readme.resolve().parent / "docs" / "examples").iterdir():
            shutil.copy(example, project)
        environment = {"HOME": str(home), "PATH": f"{binary.parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                       "CUDAENV_NO_DAEMON": "1"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]

        def run_block(match):
            text = "".join(f"$ {command}\n{printed(command, project, environment)}\n"
                           for command in commands_of(match.group(1)))
            return "```console\n" + text.rstrip("\n").replace(str(home), SHOWN_HOME) + "\n```"

        after = BLOCK.sub(run_block, before)

    if not any(commands_of(block) for block in BLOCK.findall(before)):
        sys.exit(f"{arguments.readme} shows no session")
    if after == before:
        return
    if arguments.update:
        arguments.readme.write_text(after)
        return
    sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                               "README.md", "what the commands print"))
    sys.exit(1)


if __name__ == "__main__":
    main()
