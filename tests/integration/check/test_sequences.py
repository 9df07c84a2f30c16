#!/usr/bin/env python3
"""Random installs and removals by pip and by conda in one environment: `cudaenv check` names exactly the files whose
content is not what a record says, as hashing all of them finds it.

usage: test_sequences.py --cudaenv FILE --cudaenvd FILE [--sequences N] [--seed S]
"""

import base64
import csv
import hashlib
import json
import os
import random
import re
import sys
import unittest

from envs import SITE, Conda, Home, conda_python_package, run_tests, tools, tree

SEQUENCES = 6
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


if __name__ == "__main__":
    words = sys.argv
    for option, variable in (("--sequences", "SEQUENCES"), ("--seed", "SEED")):
        if option in words:
            at = words.index(option)
            globals()[variable] = int(words[at + 1])
            words = words[:at] + words[at + 2:]
    run_tests(words)
