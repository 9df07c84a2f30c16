#!/usr/bin/env python3
"""Random installs and removals by pip, uv and conda in one environment, then `cudaenv check --fix`: what it says that it
did is so, nothing that it left alone has changed, and what can be fixed is.

usage: test_random.py --cudaenv FILE --cudaenvd FILE
"""

import random
import sys
import unittest

from repair_support import Conda, Home, conda_python_package, fix, run_tests, tree

SEQUENCES = 10
STEPS = 6
SEED = 7
NAMES = ("alpha", "beta", "gamma")


def files_of(name, version, who):
    """Each package has files of its own; wheels one of another's as well."""
    files = {f"{name}/__init__.py": f"# {name} {version} by {who}\n", f"{name}/same.py": "same = 1\n",
             f"{name}/v{version[0]}.py": f"# {version} by {who}\n"}
    if who == "pip" and version == "2.0":
        files[f"{NAMES[NAMES.index(name) - 1]}/extra.py"] = f"# by {name}\n"
    if who == "conda":
        files[f"{name}/extra.py"] = f"# {name}'s\n"
    return files


class RandomSequences(unittest.TestCase):
    maxDiff = None

    def play(self, home, conda, channel, chance, prefix):
        by_conda = {}
        steps = []
        for _ in range(STEPS):
            name, version = chance.choice(NAMES), chance.choice(["1.0", "2.0"])
            what = chance.choice(["pip", "pip", "uv", "conda", "conda", "conda remove", "pip remove"])
            steps.append(f"{what} {name} {version}")
            try:
                if what == "pip":
                    home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", f"{name}=={version}")
                elif what == "uv":
                    home.uv(prefix, "install", "--no-deps", "--reinstall", f"{name}=={version}")
                elif what == "pip remove":
                    home.pip(prefix, "uninstall", "--quiet", "--yes", name)
                else:
                    wanted = {**by_conda, name: version} if what == "conda" else \
                        {other: by_conda[other] for other in by_conda if other != name}
                    if wanted != by_conda:
                        by_conda = wanted
                        conda.install(prefix, channel, *(f"{n} =={v}" for n, v in by_conda.items()))
            except RuntimeError as refusal:
                steps[-1] += f" (refused: {str(refusal)[-60:]!r})"
        return steps

    def test_what_can_be_fixed_is_fixed_and_stays_so(self):
        counted = 0
        with Home() as home:
            for name in NAMES:
                for version in ("1.0", "2.0"):
                    home.wheel(name, version, files_of(name, version, "pip"))
            home.environment["PIP_NO_INDEX"] = "1"
            home.environment["PIP_FIND_LINKS"] = str(home.root / "wheels")
            with Conda(home.root) as conda:
                channel = conda.channel("channel", [
                    conda_python_package(name, version, files_of(name, version, "conda"))
                    for name in NAMES for version in ("1.0", "2.0")])
                for seed in range(SEED, SEED + SEQUENCES):
                    prefix = home.conda_env(f"env-{seed}")
                    steps = self.play(home, conda, channel, random.Random(seed), prefix)
                    with self.subTest(seed=seed, steps=steps):
                        counted += self.check_fix(home, prefix)
        self.assertGreater(counted, SEQUENCES // 2)

    def check_fix(self, home, prefix):
        found = home.check(prefix)["findings"]
        before = tree(prefix)
        ran = home.run("check", "--fix", "-y", "--json", "-p", prefix)
        self.assertIn(ran.returncode, (0, 1, 3), ran.stderr.decode())
        after = tree(prefix)
        # No finding, no change.
        if not found:
            self.assertEqual(before, after)
        rounds = 0
        while ran.returncode != 0 and rounds < 4 and b'"done": true' in ran.stdout:
            rounds += 1
            ran = home.run("check", "--fix", "-y", "--json", "-p", prefix)
        left = [(finding["code"], finding["title"], finding["repairs"]) for finding in home.check(prefix)["findings"]]
        # What is left has no repair, or only an install that this environment has no pip for.
        for code, title, repairs in left:
            self.assertTrue(all(text.startswith("install ") for text in repairs), left)
        return len(found)


if __name__ == "__main__":
    run_tests(sys.argv)
