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


def load_cases(path=None):
    with open(path or os.path.join(HERE, "peer_cases.json")) as file:
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

    @staticmethod
    def asked_names(case):
        from rattler import MatchSpec
        return sorted({name_of(MatchSpec(spec, strict=False)) for spec in case["specs"]})

    def answer(self, case):
        """What is compared: solvable, and version and build of what was asked for."""
        records, reason = self.solve(case)
        if records is None:
            reason = reason.replace("file://" + os.path.abspath(self.slices) + "/", "")
            return {"solved": False, "reason": " ".join(reason.split())[:300]}
        chosen = {r.name.normalized: [str(r.version), str(r.build)] for r in records}
        asked = self.asked_names(case)
        return {"solved": True, "asked": {name: chosen[name] for name in asked},
                "packages": sorted(f"{n}-{v}-{b}" for n, (v, b) in chosen.items())}

    def proof_faults(self, case, packages, driver_assumed):
        """Whether an answer of cudaenv (its JSON's `packages`) holds, by py-rattler's own MatchSpec."""
        from rattler import MatchSpec
        faults, chosen = [], {}
        for package in packages:
            record = self.find_record(case, package)
            if record is None:
                faults.append(f"{package['name']} {package['version']} {package['build']}: in no channel that may give it")
            elif package["name"] in chosen:
                faults.append(f"{package['name']}: twice")
            else:
                chosen[package["name"]] = record
        present = dict(chosen)
        for name, version, build in virtual_packages(case):
            present[name] = virtual_record(name, version, build)
        if driver_assumed:  # then any driver will do
            present.pop("__cuda", None)
        faults += [f"the request needs {spec}" for spec in case["specs"] if not met(MatchSpec(spec, strict=False), present)]
        for name, record in chosen.items():
            for text in record.depends:
                spec = MatchSpec(text, strict=False)
                if not (driver_assumed and name_of(spec) == "__cuda") and not met(spec, present):
                    faults.append(f"{name} needs {text}")
            for text in record.constrains:
                spec = MatchSpec(text, strict=False)
                other = present.get(name_of(spec))
                if other is not None and not spec.matches(other):
                    faults.append(f"{name} allows only {text}")
        return faults

    def find_record(self, case, package):
        """The record in the first channel that has the name: strict priority."""
        for channel in case["channels"]:
            records = [r for repodata in self.channel(channel) for r in repodata.load_records(package["name"])]
            if records:
                for record in records:
                    if str(record.version) == package["version"] and str(record.build) == package["build"]:
                        return record
                return None
        return None


def name_of(spec):
    """The name of a MatchSpec: rattler wraps it in matcher and name objects that differ between versions."""
    name = spec.name
    for _ in range(3):
        if isinstance(name, str):
            return name
        name = next((getattr(name, key) for key in ("normalized", "name", "as_exact") if hasattr(name, key)), str(name))
    return str(name)


def met(spec, present):
    record = present.get(name_of(spec))
    return record is not None and spec.matches(record)


def virtual_record(name, version, build):
    from rattler import PackageName, PackageRecord
    from rattler.package.build_string import BuildString
    return PackageRecord(name=PackageName(name), version=version, build=BuildString(build), build_number=0, subdir="linux-64",
                         arch=None, platform=None)
