"""What `cudaenv resolve` prints is run by a real pip or uv with --dry-run, in a venv, and has to give the versions that
were answered; `cudaenv check` has to be silent about the environment that results.

Questions are drawn with a fixed seed: half of them in an environment where something is installed. What is installed
has the real METADATA of the index and no files: installers and cudaenv read no more. METADATA is read once: answers of
installers are kept in --cache, and one venv serves all questions. Each question that is not run is counted with its
reason. Without --pytorch-index, what is on PyTorch's own index is asked of the default one, without the label."""

import argparse
import collections
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Names that are asked for, with what may follow them.
ASKED = {
    "torch": ["", "==2.5.1", "==2.6.0", "==2.7.1", "==2.8.0", "==2.9.1", "==2.12.1", ">=2.10", "<2.9"],
    "torchvision": ["", "==0.21.0", "==0.23.0"], "torchaudio": ["", "==2.8.0"],
    "jax[cuda12]": ["", "==0.5.3"], "jax[cuda13]": [""], "flax": [""], "optax": [""], "cupy-cuda12x": ["", "==13.6.0"],
    "cupy-cuda13x": [""], "xformers": [""], "bitsandbytes": [""], "vllm": ["", "==0.8.5"], "triton": [""],
    "numpy": ["<2", ">=2"], "tensorflow[and-cuda]": ["", "==2.17.0", "==2.20.0"], "tensorflow": [""],
    "transformers": [""], "torchcodec": [""], "accelerate": [""], "ultralytics": [""], "sentence-transformers": [""],
    "onnxruntime-gpu": [""], "torchmetrics": [""],
}
# (driver, GPU): the builds of the default index for CUDA 12.6, 12.8 and 13 run on most of them.
MACHINES = [("550.54.15", "9.0"), ("580.95.05", "8.6"), ("580.95.05", "12.0"), ("535.183.01", "8.0"),
            ("570.124.06", "8.9"), ("595.58.03", "9.0"), ("595.58.03", "8.9"), ("580.95.05", "9.0")]
# What an environment has: requirements of the default index, and torch's own label.
ENVIRONMENTS = [(["torch==2.6.0", "torchvision==0.21.0"], "+cu124"), (["torch==2.8.0"], "+cu128"),
                (["torch==2.9.1", "torchvision==0.24.1", "torchaudio==2.9.1"], "+cu128"), (["torch==2.7.1"], "+cu126"),
                (["torch==2.11.0"], "+cu130"), (["jax[cuda12]==0.6.2"], ""), (["tensorflow[and-cuda]==2.20.0"], ""),
                (["numpy==1.26.4"], "")]


def questions(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        names = draw.sample(sorted(ASKED), draw.choice([1, 1, 2, 2, 3]))
        driver, gpu = draw.choice(MACHINES)
        holds = draw.choice(ENVIRONMENTS) if draw.random() < 0.5 else ([], "")
        yield ([name + draw.choice(ASKED[name]) for name in names], ["--driver", driver, "--gpu", gpu], holds,
               draw.random() < 0.2)


def normalized(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Place:
    """One venv whose site-packages is laid out again for each question."""

    def __init__(self, root, cache, cudaenv):
        self.root, self.cache, self.cudaenv = root, cache, cudaenv
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", root / "tools"], check=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
        self.python = root / "venv/bin/python"
        self.site = next((root / "venv/lib").glob("python3*/site-packages"))
        self.ours = {path.name for path in self.site.iterdir()}
        self.config = (root / "venv/pyvenv.cfg").read_text()
        self.home = root / "home"
        self.home.mkdir()
        tools = root / "tools/bin/python"
        self.reached = not subprocess.run([tools, "-m", "pip", "install", "--quiet", "--upgrade", "pip", "uv"],
                                          capture_output=True).returncode
        self.pip = [str(tools), "-m", "pip", "--python", str(self.python)]
        self.uv = str(root / "tools/bin/uv")

    def lay_out(self, distributions, label, uv):
        """`distributions`: name -> METADATA as an installer's report has it."""
        for path in self.site.iterdir():
            if path.name not in self.ours:
                shutil.rmtree(path)
        (self.root / "venv/pyvenv.cfg").write_text(self.config + ("uv = 0.13.8\n" if uv else ""))
        for metadata in distributions.values():
            name, version = metadata["name"], metadata["version"]
            folder = self.site / f"{re.sub(r'[-_.]+', '_', name)}-{version}.dist-info"
            folder.mkdir()
            lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
            lines += [f"Provides-Extra: {extra}" for extra in metadata.get("provides_extra", [])]
            lines += [f"Requires-Dist: {text}" for text in metadata.get("requires_dist", [])]
            (folder / "METADATA").write_text("\n".join(lines) + "\n")
            (folder / "INSTALLER").write_text("uv\n" if uv else "pip\n")
            (folder / "RECORD").write_text("".join(f"{folder.name}/{one},,\n" for one in
                                                   ("METADATA", "INSTALLER", "RECORD", "WHEEL")))
            (folder / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
            if name == "torch":
                package = self.site / "torch"
                package.mkdir()
                full = version if "+" in version else version + label
                cuda = re.search(r"\+cu(\d+)(\d)$", full)
                (package / "version.py").write_text(
                    f"__version__ = '{full}'\ncuda = {cuda and f'{cuda[1]}.{cuda[2]}'!r}\n")
                with open(folder / "RECORD", "a", encoding="utf-8") as record:
                    record.write("torch/version.py,,\n")

    def ask(self, *words):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "CUDAENV_NO_DAEMON": "1", "LC_ALL": "C.UTF-8"}
        ran = subprocess.run([self.cudaenv, *words, "--json"], capture_output=True, text=True, env=environment,
                             cwd=self.home)
        return ran.returncode, json.loads(ran.stdout or "{}")

    def would_install(self, words, state):
        """name -> METADATA of what an installer would add, or its error as text; `state`: what is installed."""
        key = hashlib.sha256(json.dumps([words, sorted((one["name"], one["version"]) for one in state.values())])
                             .encode()).hexdigest()[:24]
        kept = self.cache / f"{key}.json"
        if kept.is_file():
            return json.loads(kept.read_text())
        report = self.root / "report.json"
        ran = subprocess.run([*self.pip, "install", "--dry-run", "--quiet", "--use-feature=fast-deps", "--report",
                              str(report), *words], capture_output=True, text=True)
        errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        result = errors[-1][:300] if errors else ran.stderr[-300:] if ran.returncode else {
            normalized(item["metadata"]["name"]): {field: item["metadata"].get(field, []) for field in
                                                   ("name", "version", "requires_dist", "provides_extra")}
            for item in json.loads(report.read_text())["install"]}
        kept.write_text(json.dumps(result))
        return result

    def uv_agrees(self, words):
        """What uv would install, name -> version, or its error as text."""
        ran = subprocess.run([self.uv, "pip", "install", "--dry-run", "--python", str(self.python), *words],
                             capture_output=True, text=True)
        if ran.returncode:
            return ran.stderr.strip()[-300:]
        return {normalized(name): version for name, version in re.findall(r"^ \+ ([\w.-]+)==(\S+)", ran.stderr, re.M)}


def after_install(words):
    """What follows `install` in a printed command, without the choice of the environment."""
    words = words[words.index("install") + 1:]
    if "--python" in words:
        del words[words.index("--python"):words.index("--python") + 2]
    return words


def carried_out(place, commands, state, with_index, unlabelled):
    """(state after the commands, None) or (None, why they were not run) or (None, {wrong})."""
    state = dict(state)
    for command in commands:
        words = shlex.split(command)
        if "venv" in words[1:3]:
            continue  # the venv is there
        if "conda" in words[0] or "activate" in words[:2]:
            return None, "conda's part"
        if "--no-build-isolation" in words or "git+" in command:
            return None, "compiled here"
        if "uninstall" in words:
            for name in words[words.index("uninstall") + 1:]:
                state.pop(normalized(name), None)
            continue
        wanted = after_install(words)
        if "download.pytorch.org" in command and not with_index:
            if re.search(r"jax|tensorflow|cud", " ".join(wanted).split("http")[0].replace("+cu", "+")):
                return None, "on PyTorch's own index"
            # The default index has the release in another build: what it and the others require stays the same.
            wanted = [re.sub(r"\+cu\d+$", "", word) for word in wanted
                      if "http" not in word and "-index-url" not in word]
            unlabelled.append(command)
        added = place.would_install(wanted, state)
        if isinstance(added, str):
            return None, {"error": added}
        if words[0] == "uv":
            other = place.uv_agrees(wanted)
            if isinstance(other, str):
                return None, {"error": "uv: " + other}
            named = [normalized(re.split(r"[\[=<>!~]", word)[0]) for word in wanted if "==" in word]
            for name in named:
                if name in added and other.get(name) != added[name]["version"]:
                    return None, {"error": f"uv {name} {other.get(name)}, pip {added[name]['version']}"}
        state.update(added)
        place.lay_out(state, "", words[0] == "uv")  # the next command finds it installed
    return state, None


def differences(outcome, before, after):
    """Where what is installed afterwards is not what was answered, or what was kept is not what it was."""
    found = []
    for package in outcome["packages"]:
        if package["manager"] != "pip" or not (package["asked"] or package["kept"]):
            continue
        name = normalized(package["name"])
        have = after.get(name, {}).get("version")
        if have not in (package["version"], package["version"].split("+")[0]):
            found.append(f"{name} {package['version']}, installed {have}")
        if package["kept"] and have != before.get(name, {}).get("version"):
            found.append(f"{name} was said to be kept")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv", required=True)
    parser.add_argument("--cudaenvd")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--pytorch-index", action="store_true")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / f"cudaenv-paste-{os.getuid()}")
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="paste-"))
    place = Place(root, arguments.cache, arguments.cudaenv)
    if not place.reached:
        print("skipped: pip reaches no index here")
        return 77
    skipped, wrong, same, findings, other_builds = collections.Counter(), [], 0, 0, 0
    for specs, machine, (holds, label), uv in questions(arguments.count, arguments.seed):
        place.lay_out({}, "", uv)
        before = place.would_install(holds, {}) if holds else {}
        place.lay_out(before, label, uv)
        status, outcome = place.ask("resolve", *specs, *machine, "-p", str(root / "venv"))
        if status == 1 and outcome.get("conflict"):
            skipped["conflict"] += 1
            continue
        shown = [" ".join([*specs, *machine]), f"in {', '.join(holds) or 'an empty venv'}{' of uv' if uv else ''}"]
        if status != 0:
            wrong.append([*shown, f"exit {status}: {outcome.get('message')}"])
            continue
        unlabelled = []
        after, why = carried_out(place, outcome["commands"], before, arguments.pytorch_index, unlabelled)
        if isinstance(why, str):
            skipped[why] += 1
            continue
        differ = [why["error"]] if after is None else differences(outcome, before, after)
        other_builds += bool(unlabelled)
        if not differ and not unlabelled:
            torch = next((one["version"] for one in outcome["packages"] if one["name"] == "torch"), "")
            tag = f"+cu{outcome['cuda'].replace('.', '')}" if torch and outcome.get("cuda") else ""
            place.lay_out(after, tag, uv)
            _, checked = place.ask("check", "-p", str(root / "venv"), *machine)
            # resolve itself says what minor version compatibility costs.
            said = {"CE142"} if {one["code"] for one in outcome["warnings"]} & {"CE202", "CE203"} else set()
            differ = [f"check: {one['code']} {one['title']}" for one in checked.get("findings", [])
                      if one["severity"] != "note" and one["code"] not in said]
            findings += bool(differ)
        if differ:
            wrong.append([*shown, *outcome["commands"], *differ])
        else:
            same += 1
    for lines in wrong:
        print(*lines, sep="\n    ")
    shutil.rmtree(root)
    print(f"{same} as answered, {len(wrong)} otherwise ({findings} of them by check); {other_builds} of these with the "
          "default index's build, since PyTorch's own index is not reached; not run: "
          + ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
