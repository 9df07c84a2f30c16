#!/usr/bin/env python3
"""Random installs and removals by pip, uv and conda in one environment: `cudaenv check` names exactly the files whose
content is not what a record says, as hashing all of them finds it; and `check --fix`, with edits and deletions by hand
among them, makes nothing worse: no hash, no import that worked, no requirement that held, and no edit is lost.

usage: test_sequences.py --cudaenv FILE --cudaenvd FILE [--sequences N] [--fixes N] [--seed S]
"""

import base64
import csv
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import unittest

from envs import SITE, Conda, Home, conda_python_package, run_tests, tools, tree

SEQUENCES = 6
FIXES = 60
STEPS = 7
SEED = 1
ORDINARY = re.compile(r"(^|/)(INSTALLER|RECORD|REQUESTED|direct_url\.json|uv_cache\.json)$|\.pyc$|(^|/)__pycache__(/|$)"
                      r"|^bin/")


def text(name, version, who):
    return f"# {name} {version} by {who}\n" + "x = 1\n" * (ord(name[-1]) % 5)


def wheel_files(name, version):
    """Each package has files of its own, and one that another has as well."""
    other = {"alpha": "beta", "beta": "gamma", "gamma": "alpha"}[name]
    return {f"{name}/__init__.py": text(name, version, "pip"), f"{name}/same.py": "same = 1\n",
            f"{name}/v{version[0]}.py": text(name, version, "pip"),
            f"{other}/extra.py": text(name, version, "pip")}


def conda_files(name, version):
    return {f"{name}/__init__.py": text(name, version, "conda"), f"{name}/same.py": "same = 1\n",
            f"{name}/v{version[0]}.py": text(name, version, "conda"), f"{name}/extra.py": text(name, version, "conda")}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def claims(prefix):
    """Path and digest of every record that counts, but for what installers change in any case."""
    found = []
    for record in (prefix / "conda-meta").glob("*.json"):
        for path in json.loads(record.read_text())["paths_data"]["paths"]:
            found.append((path["_path"], path.get("sha256_in_prefix") or path["sha256"]))
    for info in (prefix / SITE).glob("*.dist-info"):
        installer = info / "INSTALLER"
        if not installer.exists() or installer.read_text().strip() == "conda" or not (info / "RECORD").exists():
            continue
        for name, digest, _ in csv.reader((info / "RECORD").read_text().splitlines()):
            if digest:
                found.append((os.path.normpath(f"{SITE}/{name}"),
                              base64.urlsafe_b64decode(digest.partition("=")[2] + "==").hex()))
    return [(path, digest) for path, digest in found if not ORDINARY.search(path)]


def brute_force(prefix):
    """Every path of every record whose content is not what that record says."""
    return {path for path, digest in claims(prefix)
            if not (prefix / path).is_file() or sha256(prefix / path) != digest}


def contested(prefix):
    """Paths of which two records want another content: one of them is never served."""
    wanted = {}
    for path, digest in claims(prefix):
        wanted.setdefault(path, set()).add(digest)
    return {path for path, digests in wanted.items() if len(digests) > 1}


def named_in(report):
    """The files that findings name; a leftover is a directory."""
    return {file for finding in report["findings"] if finding["code"] != "CE106" for file in finding["files"]}


class Sequences(unittest.TestCase):
    maxDiff = None

    def play(self, home, conda, channel, seed):
        chance = random.Random(seed)
        prefix = home.conda_env(f"env-{seed}")
        by_conda = {}
        steps = []
        for _ in range(STEPS):
            name = chance.choice(["alpha", "beta", "gamma"])
            version = chance.choice(["1.0", "2.0"])
            what = chance.choice(["pip", "pip", "conda", "conda", "pip remove", "conda remove", "uv"])
            steps.append(f"{what} {name} {version}")
            try:
                if what == "pip":
                    home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", f"{name}=={version}")
                elif what == "uv":
                    home.uv(prefix, "install", "--no-deps", "--reinstall", f"{name}=={version}")
                elif what == "pip remove":
                    home.pip(prefix, "uninstall", "--quiet", "--yes", name)
                else:
                    before = dict(by_conda)
                    if what == "conda":
                        by_conda[name] = version
                    else:
                        by_conda.pop(name, None)
                    if before != by_conda:
                        conda.install(prefix, channel, *(f"{n} =={v}" for n, v in by_conda.items()))
            except RuntimeError as refusal:
                steps[-1] += f" (refused: {str(refusal)[-80:]!r})"
            expected = brute_force(prefix)
            report = home.check(prefix)
            named = named_in(report)
            self.assertEqual(named, expected, f"seed {seed}: {steps}\n{json.dumps(report['findings'], indent=1)}")
        self.fix(home, prefix, f"seed {seed}: {steps}")

    def fix(self, home, prefix, what):
        """What can be put back is put back; nothing is worse than before; without a finding nothing changes."""
        before = brute_force(prefix)
        all_before = tree(prefix)
        found = home.check(prefix)["findings"]
        repairable = {file for finding in found if finding["repairs"] for file in finding["files"]}
        # What has to be installed again is installed by uv: these environments have no pip.
        with_uv = {"PATH": f"{tools()}:/usr/bin:/bin", "UV_OFFLINE": "1", "UV_FIND_LINKS": str(home.root / "wheels")}
        ran = home.run("check", "-p", prefix, "--fix", "--yes", "--json", env=with_uv)
        self.assertIn(ran.returncode, (0, 1), f"{what}\n{ran.stdout.decode()}{ran.stderr.decode()}")
        after = brute_force(prefix)
        never = contested(prefix)
        self.assertEqual(after - before - never, set(), f"{what}\n{ran.stdout.decode()}")
        self.assertEqual((after & repairable) - never, set(), f"{what}\n{ran.stdout.decode()}")
        self.assertEqual(named_in(home.check(prefix)), after, what)
        if not found:
            self.assertEqual(tree(prefix), all_before, what)
        rounds = 0
        while ran.returncode != 0 and rounds < 4 and b'"done": true' in ran.stdout:
            rounds += 1
            ran = home.run("check", "-p", prefix, "--fix", "--yes", "--json", env=with_uv)
        for finding in home.check(prefix)["findings"]:
            self.assertEqual(finding["repairs"], [], f"{what}\n{finding}")

    def test_check_names_exactly_the_files_whose_content_is_not_their_records(self):
        with Home() as home:
            for name in ("alpha", "beta", "gamma"):
                for version in ("1.0", "2.0"):
                    home.wheel(name, version, wheel_files(name, version))
            with Conda(home.root) as conda:
                channel = conda.channel("channel", [conda_python_package(name, version, conda_files(name, version))
                                                    for name in ("alpha", "beta", "gamma") for version in ("1.0", "2.0")])
                for seed in range(SEED, SEED + SEQUENCES):
                    with self.subTest(seed=seed):
                        self.play(home, conda, channel, seed)


NEEDS = {"alpha": "beta", "beta": "gamma"}  # in the same version or a newer one


def code_of(name, version, who):
    """Files of two versions cannot be imported together, nor a package without what it requires."""
    major = version[0]
    files = {f"{name}/__init__.py": f"VERSION = {major}\nfrom .core import by_{who}_{major}\n"
                                    f"from .v{major} import by_{who}_{major}\n",
             f"{name}/core.py": f"by_{who}_{major} = 1\n", f"{name}/v{major}.py": f"by_{who}_{major} = 1\n",
             f"{name}/same.py": "same = 1\n"}
    if name in NEEDS:
        files[f"{name}/__init__.py"] += f"import {NEEDS[name]}\nassert {NEEDS[name]}.VERSION >= {major}\n"
    return files


STATE = """
import importlib, importlib.metadata, re
for name in ("alpha", "beta", "gamma", "needy"):
    try:
        works = importlib.import_module(name).__file__ is not None  # the rest of a directory can be imported, too
    except Exception:
        works = False
    if not works:
        print("fails", name)
here = [one for one in importlib.metadata.distributions() if one.metadata["Name"]]
for one in here:
    for requirement in one.requires or ():
        name, least = re.fullmatch("(.*?)>=(.*)", requirement).groups()
        if not any(other.metadata["Name"] == name and other.version >= least for other in here):
            print("unmet", one.metadata["Name"], name)
"""


class Fixes(unittest.TestCase):
    """What `--fix` does after random steps, also of a hand that edits and deletes."""

    maxDiff = None

    def state(self, prefix, whole):
        """What is wrong: hashes, imports that fail, requirements that do not hold. `whole`: by pip as well."""
        ran = subprocess.run([prefix / "bin/python", "-c", STATE], capture_output=True, text=True,
                             env={"PYTHONDONTWRITEBYTECODE": "1"})
        lines = [line.split(" ", 1) for line in ran.stdout.splitlines()]
        failing = {text for what, text in lines if what == "fails"}
        unmet = {text for what, text in lines if what == "unmet"}
        if whole:
            checked = subprocess.run([sys.executable, "-m", "pip", "--python", prefix / "bin/python", "check"],
                                     capture_output=True, text=True)
            unmet |= {re.sub(r"\S*\d\S*", "", line) for line in checked.stdout.splitlines()
                      if checked.returncode and "requirement" in line}
        return brute_force(prefix), failing, unmet

    def play(self, home, conda, channel, seed):
        chance = random.Random(seed)
        prefix = home.uv_venv(f"fixed-{seed}")
        (prefix / "conda-meta").mkdir()
        (prefix / "conda-meta/history").touch()
        by_conda = {}
        edited = {}
        steps = []
        for _ in range(STEPS):
            name = chance.choice(["alpha", "beta", "gamma"])
            version = chance.choice(["1.0", "2.0"])
            what = chance.choice(["uv", "uv", "uv", "uv alone", "uv alone", "pip", "conda", "conda", "conda", "conda",
                                  "uv remove", "conda remove", "edit", "edit", "delete", "needy", "needy"])
            steps.append(f"{what} {name} {version}")
            try:
                if what == "pip":
                    home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", f"{name}=={version}")
                elif what == "uv":
                    home.uv(prefix, "install", f"{name}=={version}")
                elif what == "needy":
                    home.uv(prefix, "install", f"needy=={version}")
                elif what == "uv alone":
                    home.uv(prefix, "install", "--no-deps", "--reinstall", f"{name}=={version}")
                elif what == "uv remove":
                    home.uv(prefix, "uninstall", name)
                elif what in ("edit", "delete"):
                    files = sorted((prefix / SITE / name).glob("*.py"))
                    file = chance.choice(files) if files else None
                    if file and what == "edit":
                        file.unlink()  # it may be a second name of the file in a cache
                        file.write_text(f"# edited {seed}\nfrom {name}.same import *\n")
                        edited[file] = file.read_text()
                    elif file:
                        file.unlink()
                else:
                    before = dict(by_conda)
                    if what == "conda":
                        by_conda[name] = version
                    else:
                        by_conda.pop(name, None)
                    if before != by_conda:
                        conda.install(prefix, channel, *(f"{n} =={v}" for n, v in by_conda.items()))
            except RuntimeError as refusal:
                steps[-1] += f" (refused: {str(refusal)[-60:]!r})"
        edited = {file: text for file, text in edited.items() if file.is_file() and file.read_text() == text}
        wrong, failing, unmet = self.state(prefix, seed % 10 == 0)
        ran = home.run("check", "-p", prefix, "--fix", "--yes", "--json",
                       env={"PATH": f"{tools()}:/usr/bin:/bin", "UV_OFFLINE": "1",
                            "UV_FIND_LINKS": str(home.root / "wheels")})
        said = f"seed {seed}: {steps}\n{ran.stdout.decode()}{ran.stderr.decode()}"
        self.assertIn(ran.returncode, (0, 1, 3), said)
        wrong_after, failing_after, unmet_after = self.state(prefix, seed % 10 == 0)
        self.assertEqual(failing_after - failing, set(), said)
        self.assertEqual(wrong_after - wrong - contested(prefix), set(), said)
        self.assertEqual(unmet_after - unmet, set(), said)
        for file, text in edited.items():
            self.assertTrue(file.is_file() and file.read_text() == text, f"{file}\n{said}")
        return any(step["done"] for step in json.loads(ran.stdout)["steps"])

    def test_a_fix_makes_nothing_worse(self):
        names = ("alpha", "beta", "gamma")
        with Home() as home:
            for version in ("1.0", "2.0"):
                for name in names:
                    home.wheel(name, version, code_of(name, version, "pip"),
                               [f"{NEEDS[name]}>={version}"] if name in NEEDS else [])
                home.wheel("needy", version, {"needy.py": f"import alpha\nassert alpha.VERSION >= {version}\n"},
                           [f"alpha>={version}"])
            with Conda(home.root) as conda:
                channel = conda.channel("channel", [
                    conda_python_package(name, version, code_of(name, version, "conda"),
                                         [f"{NEEDS[name]} >={version}"] if name in NEEDS else [])
                    for name in names for version in ("1.0", "2.0")])
                done = 0
                for seed in range(SEED, SEED + FIXES):
                    with self.subTest(seed=seed):
                        done += self.play(home, conda, channel, seed)
                self.assertGreater(done * 5, FIXES, "hardly any sequence needs a fix")


if __name__ == "__main__":
    words = sys.argv
    for option, variable in (("--sequences", "SEQUENCES"), ("--fixes", "FIXES"), ("--seed", "SEED")):
        if option in words:
            at = words.index(option)
            globals()[variable] = int(words[at + 1])
            words = words[:at] + words[at + 2:]
    run_tests(words)
