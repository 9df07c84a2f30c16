"""What `cudaenv resolve` prints is run by a real pip with --dry-run, in a real venv, and has to give the versions that
were answered. Questions are drawn with a fixed seed. Those whose command names PyTorch's own index are run only with
--pytorch-index, because not every machine reaches it."""

import argparse
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

# Names that are asked for, with what may follow them.
ASKED = {
    "torch": ["", "==2.1.2", "==2.4.1", "==2.5.1", "==2.6.0", "==2.7.1", "==2.8.0", "==2.9.1", ">=2.10", "<2.9"],
    "torchvision": ["", "==0.19.1", "==0.21.0"], "torchaudio": ["", "==2.5.1"],
    "jax[cuda12]": ["", "==0.5.3"], "jax[cuda13]": [""], "cupy-cuda12x": ["", "==13.6.0"], "cupy-cuda13x": [""],
    "xformers": [""], "bitsandbytes": [""], "vllm": ["", "==0.8.5"], "triton": [""], "numpy": ["<2", ">=2"],
    "tensorflow[and-cuda]": ["", "==2.17.0", "==2.20.0"], "transformers": [""], "torchcodec": [""], "accelerate": [""],
}
MACHINES = [("550.54.15", "9.0"), ("580.95.05", "8.6"), ("580.95.05", "12.0"), ("535.183.01", "8.0"),
            ("570.124.06", "8.9"), ("580.95.05", "6.1")]


def questions(count):
    draw = random.Random(20261125)
    for _ in range(count):
        names = draw.sample(sorted(ASKED), draw.choice([1, 1, 2, 2, 3]))
        specs = [name + draw.choice(ASKED[name]) for name in names]
        driver, gpu = draw.choice(MACHINES)
        yield [*specs, "--driver", driver, "--gpu", gpu]


def answer(cudaenv, prefix, question, home):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "CUDAENV_NO_DAEMON": "1", "LC_ALL": "C.UTF-8"}
    ran = subprocess.run([cudaenv, "resolve", *question, "-p", str(prefix), "--json"], capture_output=True, text=True,
                         env=environment, cwd=home)
    return ran.returncode, json.loads(ran.stdout or "{}")


def installed_by(commands, report):
    """The versions that pip would install, by name; an error as text. Each command runs alone."""
    versions = {}
    for command in commands:
        words = shlex.split(command)
        at = words.index("install")
        if "--no-build-isolation" in words:
            return None  # compiled here: nothing to compare before the tools are installed
        words[at:at + 1] = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", str(report)]
        ran = subprocess.run(words, capture_output=True, text=True)
        if ran.returncode:
            return ran.stderr.strip().splitlines()[-1][:300]
        for item in json.loads(report.read_text())["install"]:
            name = item["metadata"]["name"].lower().replace("_", "-").replace(".", "-")
            versions[name] = item["metadata"]["version"]
    return versions


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--cudaenvd")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--pytorch-index", action="store_true")
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="paste-"))
    subprocess.run([sys.executable, "-m", "venv", root / "venv"], check=True)
    probe = subprocess.run([root / "venv/bin/python", "-m", "pip", "download", "--quiet", "--no-deps", "--dest",
                            root / "probe", "six"], capture_output=True)
    if probe.returncode:
        print("skipped: pip reaches no index here")
        return 77
    conflicts = elsewhere = compiled = same = 0
    wrong = []
    for question in questions(arguments.count):
        status, outcome = answer(arguments.cudaenv, root / "venv", question, root)
        if status != 0:
            conflicts += 1
            continue
        if not arguments.pytorch_index and any("download.pytorch.org" in one for one in outcome["commands"]):
            elsewhere += 1
            continue
        versions = installed_by(outcome["commands"], root / "report.json")
        if versions is None:
            compiled += 1
            continue
        differ = versions if isinstance(versions, str) else [
            f"{package['name']} {package['version']}, pip {versions.get(package['name'])}"
            for package in outcome["packages"]
            if package["manager"] == "pip" and package["asked"] and
            versions.get(package["name"]) not in (package["version"], package["version"].split("+")[0])]
        if differ:
            wrong.append((question, outcome["commands"], differ))
        else:
            same += 1
    for question, commands, differ in wrong:
        print(" ".join(question), *commands, f"  {differ}", sep="\n    ")
    print(f"{same} as answered, {len(wrong)} otherwise; not run: {conflicts} conflicts, {elsewhere} from PyTorch's "
          f"index, {compiled} compiled here")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
