"""The peer's side of the comparison: py-rattler on the cases of peer_cases.json.

Needs py-rattler 0.28.0 from PyPI. Everything is imported inside functions, so that compare.py can work with the
recorded answers where py-rattler is not installed.
"""
import asyncio
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SUBDIRS = ("linux-64", "noarch")
GLIBC, KERNEL = "2.36", "6.1"


def load_cases():
    with open(os.path.join(HERE, "peer_cases.json")) as file:
        return json.load(file)["cases"]


def virtual_packages(case):
    """(name, version, build) of what conda would detect on the machine that the case means."""
    out = [("__glibc", GLIBC, "0"), ("__linux", KERNEL, "0"), ("__unix", "0", "0"),
           ("__archspec", "1", "x86_64")]
    if case["cuda"]:
        out.append(("__cuda", case["cuda"], "0"))
    return out


# What a pin constrains in conda's channels. `cuda` is whichever of these the chosen packages use; the last two
# carry major.minor only, as the first does with a prefix.
PIN_NAMES = {"cuda": ["cudatoolkit", "cuda-version", "pytorch-cuda"], "torch": ["pytorch"]}


def pin_constraints(case):
    out = []
    for name, version in case.get("pins", {}).items():
        plain = not any(sign in version for sign in "=<>!~*|,")
        for conda_name in PIN_NAMES.get(name, [name]):
            out.append(f"{conda_name} {version}.*" if plain else f"{conda_name} {version}")
    return out


class Peer:
    """Channels opened once, a solve for each case."""

    def __init__(self, slices):
        self.slices = slices
        self.opened = {}

    def channel(self, name):
        from rattler import Channel, SparseRepoData
        if name not in self.opened:
            root = os.path.join(self.slices, name)
            self.opened[name] = [
                SparseRepoData(Channel("file://" + os.path.abspath(root)), subdir, path)
                for subdir in SUBDIRS
                if os.path.exists(path := os.path.join(root, subdir, "repodata.json"))]
        return self.opened[name]

    def solve(self, case):
        """All chosen records, or None with the reason."""
        from rattler import GenericVirtualPackage, MatchSpec, PackageName, Version, solve_with_sparse_repodata
        from rattler.package.build_string import BuildString
        virtual = [GenericVirtualPackage(PackageName(n), Version(v), BuildString(b))
                   for n, v, b in virtual_packages(case)]
        data = [repodata for name in case["channels"] for repodata in self.channel(name)]

        async def run():
            return await solve_with_sparse_repodata(
                specs=[MatchSpec(spec, strict=False) for spec in case["specs"]], sparse_repodata=data,
                virtual_packages=virtual,
                constraints=[MatchSpec(spec, strict=False) for spec in pin_constraints(case)])
        try:
            return asyncio.run(run()), None
        except Exception as error:  # py-rattler keeps its SolverError private
            return None, str(error)

    def asked_names(self, case):
        from rattler import MatchSpec
        names = []
        for spec in case["specs"]:
            matcher = MatchSpec(spec, strict=False).name
            name = getattr(matcher, "normalized", None) or getattr(matcher, "name", None) or str(matcher)
            names.append(getattr(name, "normalized", name))
        return sorted(set(names))

    def answer(self, case):
        """What is compared: solvable, and version and build of what was asked for."""
        records, reason = self.solve(case)
        if records is None:
            return {"solved": False, "reason": " ".join(reason.split())[:300]}
        chosen = {r.name.normalized: [str(r.version), str(r.build)] for r in records}
        asked = self.asked_names(case)
        return {"solved": True, "asked": {name: chosen[name] for name in asked},
                "packages": sorted(f"{n}-{v}-{b}" for n, (v, b) in chosen.items())}
