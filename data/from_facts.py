#!/usr/bin/env python3
"""Writes the tables of this folder from a directory of compatibility facts.

    python3 data/from_facts.py FACTS [--repodata DIR] [--out DIR]

FACTS holds driver-cuda.json, cuda-gcc.json and so on; DIR holds slices of conda channels
(`slice/pytorch/linux-64/repodata.json[.zst]`, `snap/...`), from which the Pythons of conda's own
builds are read. Plain Python 3.9, no third-party module; `zstd` is called for .zst files.

The law: a row says only what a fact says. Rows of confidence `memory` are left out; a source stands
in every row, written out or as "@key" into the table's own `sources`.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# Read in the page itself (same revision that the facts cite), where the facts have only prefixes.
PREVIOUS_VERSIONS = ("https://pytorch.org/get-started/previous-versions/ "
                     "(pytorch.github.io _get_started/previous-versions.md @04862e37)")
VISION_OF_1_0 = {"1.0.0": "0.2.1", "1.0.1": "0.2.2", "1.1.0": "0.3.0"}
# The one release whose conda packages were paired otherwise than its wheels.
CONDA_PAIRS = {"2.0.0": ("0.15.0", "2.0.0")}
# cudatoolkit of these is in the channels that conda searches unasked; 11.1, 11.5 and 11.6 are not.
CUDATOOLKIT_IN_DEFAULTS = {"8.0", "9.0", "9.2", "10.0", "10.1", "10.2", "11.0", "11.3"}
# From here on the lists of wheel names are complete only for some Pythons, so PyPI's own are added.
LAST_COMPLETE_INDEX = (2, 2, 2)
# torchaudio's wheels have no label before; all of them are on PyPI (its list of files, read 2026-11-25).
FIRST_LABELLED_AUDIO = (0, 10)
# The pytorch channel has no build of a newer one (repodata of conda channel pytorch, slice of 2026-11: 2.5.1, its
# last release, ends at py3.12), while 2.5's wheels have 3.13.
LAST_CONDA_PYTHON = (3, 12)
# What [and-cuda] requires and the index does not have, or has for some Pythons only (its lists of files).
AND_CUDA_FILES = "list of files of {} on the index, read 2026-11-25"
AND_CUDA_PYTHONS = {"tensorrt==8.5.3.1": ["3.6", "3.7", "3.8", "3.9", "3.10"]}
AND_CUDA_MISSING = ["tensorrt-libs==8.6.1"]
# aarch64. PyPI's wheels: Pythons by their names; without CUDA up to 2.10, since every nvidia-* requirement is marked
# platform_machine == "x86_64" or absent (METADATA of each, read 2026-11-25).
AARCH64_METADATA = "PyPI torch {}: METADATA of its aarch64 wheels, read 2026-11-25"
AARCH64_PYTHONS = [  # from this release on
    ("1.8.0", "3.6 3.7 3.8 3.9"), ("1.10.2", "3.6 3.7 3.8 3.9 3.10"), ("1.11.0", "3.7 3.8 3.9 3.10"),
    ("2.0.0", "3.8 3.9 3.10 3.11"), ("2.2.0", "3.8 3.9 3.10 3.11 3.12"), ("2.5.0", "3.9 3.10 3.11 3.12"),
    ("2.6.0", "3.9 3.10 3.11 3.12 3.13"), ("2.9.0", "3.10 3.11 3.12 3.13 3.14"),
    ("2.15.0", "3.11 3.12 3.13 3.14 3.15")]
AARCH64_FIRST_CUDA_ON_PYPI = (2, 11)
MATRIX_AARCH64 = "pytorch RELEASE.md, PyTorch CUDA Support Matrix, Linux aarch64 builds, for 2.12, 2.13 and 2.14"
MATRIX_AARCH64_2_11 = "pytorch RELEASE.md as it stood for 2.11 (removed lines of pytorch PR 182849)"
SBSA_12_6 = ["8.0", "9.0"]
SBSA_13 = ["8.0", "9.0", "10.0", "11.0", "12.0"]
# (torch, tag): (source of the file, GPUs, source of these)
AARCH64_INDEX = {
    ("2.6.0", "cu126"): ("two lock files that name torch-2.6.0+cu126-cp312-cp312-linux_aarch64.whl of the index",
                         ["9.0"], "pytorch issue 148169, comment of 2025-02-28: 12.6 on aarch64 has sm_90 alone"),
    ("2.7.0", "cu128"): ("the index page as quoted in astral-sh/uv issue 13195", ["9.0", "10.0", "12.0"],
                         "pytorch PR 146378"),
    ("2.8.0", "cu129"): ("torch-2.8.0+cu129-cp312-cp312-manylinux_2_28_aarch64.whl of the index, named in public "
                         "installation scripts", None, None),
    ("2.9.0", "cu130"): ("torch-2.9.0+cu130-cp312-cp312-manylinux_2_28_aarch64.whl of the index, named in public "
                         "README files", None, None),
    ("2.9.1", "cu130"): ("torch-2.9.1+cu130-cp312-cp312-manylinux_2_28_aarch64.whl of the index, named in public "
                         "installation scripts", None, None),
    ("2.10.0", "cu130"): ("torch-2.10.0+cu130-cp312-cp312-manylinux_2_28_aarch64.whl of the index, named in public "
                          "documents", None, None),
    ("2.11.0", "cu126"): (MATRIX_AARCH64_2_11, SBSA_12_6, MATRIX_AARCH64_2_11),
    ("2.11.0", "cu128"): (MATRIX_AARCH64_2_11, ["8.0", "9.0", "10.0", "12.0"], MATRIX_AARCH64_2_11),
    **{(number, tag): (MATRIX_AARCH64, SBSA_12_6 if tag == "cu126" else SBSA_13, MATRIX_AARCH64)
       for number in ("2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1") for tag in ("cu126", "cu132")},
}
AARCH64_PYPI_GPUS = {"2.11": MATRIX_AARCH64_2_11, "2.12": MATRIX_AARCH64, "2.13": MATRIX_AARCH64,
                     "2.14": MATRIX_AARCH64,
                     "2.15": "torch 2.15.0 torch/cuda/__init__.py, PYTORCH_RELEASES_CODE_CC"}
# From here on stable CUDA builds for aarch64 may exist: CUDA 12.4 came as nightly builds after 2.3. One that is not
# in the lists above is unknown; an older one, and any of CUDA 11 or 12.1, there is not.
AARCH64_FIRST = "pytorch/builder issue 1856, 2024-06: on aarch64 CUDA begins with 12.4, in nightly builds after 2.3"
# Keys for sources that many rows share; the others are named after file and revision or first words.
SOURCE_KEYS = {
    "Table 3 CUDA Toolkit and Corresponding": "release-notes-table-3",
    "Debian sid pci.ids": "pci.ids",
    "pci.ids + chip join": "pci.ids-ambiguous",
    "copy of the former NVIDIA cuda-gpus page": "cuda-gpus-former",
    "(copy of NVIDIA page); https://gist": "cuda-gpus-copies",
    "developer.nvidia.com/cuda-gpus": "cuda-gpus",
    "developer.nvidia.com/cuda-legacy-gpus": "cuda-legacy-gpus",
    "public copy (Go lookup table": "cuda-gpus-in-go",
    "get-started/previous-versions": "previous-versions",
    "replicate/cog": "cog",
    "RELEASE.md": "RELEASE.md",
    "cuobjdump over every .so": "pytorch_compute_capabilities",
    "of conda channel pytorch": "channel-pytorch",
    "Requires-Dist torch==": "requires-dist",
    "cudnn-803/support-matrix": "cudnn-803-matrix",
    "cudnn-822/support-matrix": "cudnn-822-matrix",
    "nixpkgs pkgs/development/cuda-modules/cudnn": "nixpkgs-cudnn",
    "nvcc-compatibilities.nix": "nixpkgs-nvcc",
    "tested_build_configurations": "tensorflow-tested",
}
# PCI functions of NVIDIA's that bear a GPU's name and are none.
NOT_A_GPU = ("Audio Controller", "NVSwitch")


def version(text):
    return tuple(int(part) if part.isdigit() else -1 for part in text.split("."))


def cuda_of_tag(tag):
    return tag[2:-1] + "." + tag[-1]


def tidy(text):
    """One line, without the traces of how a fact was looked up."""
    text = re.sub(r"\s+", " ", text.replace("(run here)", "(run)").replace(" run here", " run"))
    text = re.sub(r"(?<=\S)\s*public cop(?:y|ies)( \.\.\.\))?\s*$", "", text)
    return text.replace(" on the test machine", "").strip(" ;,")


def pythons(tags):
    """["cp37/cp37m", "cp313/cp313t"] -> ["3.7"]; free-threaded builds alone do not count."""
    found = set()
    for tag in tags:
        interpreter, _, abi = tag.partition("/")
        if abi.endswith("t"):
            continue
        digits = re.fullmatch(r"cp(\d)(\d+)", interpreter)
        if digits:
            found.add(f"{digits[1]}.{digits[2]}")
    return sorted(found, key=version)


class Table:
    def __init__(self, about):
        self.about, self.sections, self.named = about, {}, {}

    def add(self, section, **row):
        row = {key: value for key, value in row.items() if value not in (None, "", [], False)}
        for key in row:
            if key.endswith("source"):
                row[key] = tidy(row[key]) if isinstance(row[key], str) else list(map(tidy, row[key]))
        if "note" in row:
            row["note"] = re.sub(r"\s+public copies\b", "", tidy(row["note"]))
        self.sections.setdefault(section, []).append(row)

    def _texts(self):
        for rows in self.sections.values():
            for row in rows:
                for key, value in row.items():
                    if key.endswith("source"):
                        yield from [value] if isinstance(value, str) else value

    def _name_sources(self):
        """A text that stands in two rows or more is written once, under a key."""
        counts = collections.Counter(self._texts())
        taken = {}
        for text, count in counts.items():
            if count < 2:
                continue
            revision = re.search(r"(\S+) @([0-9a-f]{7})", text)
            short = next((key for words, key in SOURCE_KEYS.items() if words in text), None)
            if short:
                key = short
            elif revision:
                key = "/".join(revision[1].split("/")[-2:]) + "@" + revision[2]
            else:
                words = re.findall(r"[a-z0-9.]+", re.sub(r"https?://\S+/(?=\S)", "", text.lower()))
                key = "-".join(words[:3] + words[-1:])
            unique, letter = key, ord("b")
            while taken.get(unique, text) != text:
                unique, letter = f"{key}-{chr(letter)}", letter + 1
            taken[unique] = text
        return taken

    def write(self, path):
        taken = self._name_sources()
        key_of = {text: "@" + key for key, text in taken.items()}
        line = lambda value: json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
        out = ["{", f' "about": {line(self.about)},', ' "sources": {']
        out.append(",\n".join(f"  {line(k)}: {line(v)}" for k, v in sorted(taken.items())))
        out.append(" },")
        blocks = []
        for section, rows in self.sections.items():
            lines = []
            for row in rows:
                shown = {}
                for key, value in row.items():
                    if key.endswith("source"):
                        value = (key_of.get(value, value) if isinstance(value, str)
                                 else [key_of.get(v, v) for v in value])
                    shown[key] = value
                lines.append("  " + line(shown))
            blocks.append(f" {line(section)}: [\n" + ",\n".join(lines) + "\n ]")
        out.append(",\n".join(blocks))
        out.append("}")
        path.write_text("\n".join(out) + "\n", encoding="utf-8")


def known(rows):
    return [row for row in rows if row.get("confidence") != "memory"]


def drivers(facts):
    table = Table("Driver versions: what each toolkit wants, the floor of each family, and the CUDA "
                  "that a driver branch reports. Linux x86_64.")
    for row in sorted(known(facts["toolkit_min_driver"]),
                      key=lambda r: (version(r["cuda"]), version(r["release"]))):
        driver = row["min_driver_linux_x86_64"] or row.get("driver_branch")
        table.add("toolkits", cuda=row["cuda"], release=row["release"], driver=driver,
                  confidence=row.get("confidence"), note=row.get("note"), source=row["source"])
    for row in sorted(facts["minor_version_compat"], key=lambda r: int(r["family"])):
        table.add("families", family=row["family"], driver=row["min_driver_exact"],
                  note=row.get("note"), source=f'{row["source"]}; {row["exact_source"]}')
    branches = [dict(row, driver=row["branch"]) for row in facts["driver_branch_cuda"]]
    for row in list(branches):  # a driver that a note names apart from its branch
        odd = re.search(r"\b(\d{3}\.\d+)\b.* printed (\d+\.\d+)", row.get("note", ""))
        if odd:
            branches.append({"driver": odd[1], "cuda": odd[2],
                             "source": f"nvidia-smi outputs in public repos: {odd[1]} -> {odd[2]}"})
    for row in sorted(branches, key=lambda r: version(r["driver"])):
        table.add("branches", driver=row["driver"], cuda=row["cuda"],
                  confidence="derived" if row.get("derived") else None, note=row.get("note"),
                  source=row["source"])
    return table


def compilers(facts, components):
    table = Table("Host compilers that a toolkit's nvcc accepts. Rows with `nvcc` were read in that "
                  "build's crt/host_config.h, which enforces the maximum only: the minimum is the "
                  "documented one.")
    releases = collections.defaultdict(list)
    for toolkit in components["toolkits"]:
        for name, value in toolkit["components"].items():
            if name.startswith("nvidia-cuda-nvcc"):
                releases[value].append(toolkit["toolkit"])
    documented = {row["cuda"]: row for row in facts["documented_ranges"]}
    whole = lambda v: None if v is None else str(v)
    for row in known(facts["from_docs_old"]):
        special = re.search(r"nvcc V([\d.]+) \(([\d.]+) GA\) is special-cased to gcc <(\d+)",
                            row["source"])
        if special:
            table.add("ranges", cuda=row["cuda"], nvcc=special[1], releases=[special[2]],
                      gcc_min=whole(row.get("gcc_min")), gcc_max=str(int(special[3]) - 1),
                      clang_min=whole(row.get("clang_min")), clang_max=whole(row.get("clang_max")),
                      source=row["source"])
        table.add("ranges", cuda=row["cuda"], gcc_min=whole(row.get("gcc_min")),
                  gcc_max=whole(row.get("gcc_max")), clang_min=whole(row.get("clang_min")),
                  clang_max=whole(row.get("clang_max")), confidence=row.get("confidence"),
                  note=row.get("note"), source=row["source"])
    for row in known(facts["from_host_config"]):
        if not re.fullmatch(r"[\d.]+", row["nvcc_build"]):
            continue  # release candidates
        cuda, minimum = row["cuda"], facts["summary"][row["cuda"]]
        note = "minimum documented, not enforced"
        if cuda not in documented:
            note = "minimum carried over from the documented neighbours, not enforced"
        table.add("ranges", cuda=cuda, nvcc=row["nvcc_build"],
                  releases=sorted(releases.get(row["nvcc_build"], []), key=version),
                  gcc_min=whole(minimum["gcc_min"]), gcc_max=whole(row["gcc_max"]),
                  clang_min=whole(minimum["clang_min"]), clang_max=whole(row["clang_max"]),
                  note=note, source=row["source"])
    return table


def capability(text):
    return text if "." in text else text[:-1] + "." + text[-1]


def plain_architectures(names):
    """Without the family- and architecture-specific forms (90a, 100f), which serve no other GPU."""
    return [capability(n) for n in names if n[-1].isdigit()]


def architectures(facts, driver_facts):
    table = Table("Architectures that each toolkit can make code for, and the life of each GPU "
                  "generation.")
    for row in known(facts["by_cuda"]):
        table.add("toolkits", cuda=row["cuda"], sass=plain_architectures(row["sass"]),
                  ptx=plain_architectures(row["ptx"]), source=row["source"])
    for row in sorted(known(facts["arch_matrix"]), key=lambda r: version(r["cc"][0])):
        last = next((r for r in driver_facts["gpu_arch_last_driver"] if row["cc"][0] in r["cc"]), {})
        source = row.get("source", facts["arch_matrix_source"].removesuffix(" unless given"))
        if last:
            source += "; " + driver_facts["gpu_arch_source"]
        table.add("generations", architecture=row["arch"], compute_capabilities=row["cc"],
                  first_cuda=row["first_cuda"],
                  last_cuda=row.get("last_cuda") or last.get("last_cuda_toolkit"),
                  last_driver=row.get("last_driver") or last.get("last_driver"),
                  note=row.get("note"), source=source)
    return table


def gpus(facts, arch_facts):
    table = Table("GPUs: by PCI device id (vendor 10de), which is exact, and by marketing name, which "
                  "may not be.")
    for row in known(facts["devices"]):
        if any(word in row["chip"] + " " + row["name"] for word in NOT_A_GPU):
            continue
        table.add("devices", device=row["device_id"], chip=row["chip"], name=row["name"],
                  compute_capability=row["cc"], source=facts["meta"]["source"])
    for row in known(arch_facts["gpus"]):
        table.add("names", name=row["name"], compute_capability=row["cc"], source=row["source"])
    for row in known(arch_facts["gpus_extra"]):
        for value in [row["cc"]] if isinstance(row["cc"], str) else row["cc"]:
            table.add("names", name=row["name"], compute_capability=value, source=row["source"])
    return table


class CondaPythons:
    """(torch, tag) -> Pythons of the pytorch channel's own builds, read in stored repodata."""

    def __init__(self, root):
        self.found, self.source = collections.defaultdict(set), None
        # A snapshot is a whole channel; a slice holds what some solves reached, so it says less.
        for path in sorted(root.glob("snap/pytorch-*/linux-64/repodata.json*")) if root else []:
            data = path.read_bytes()
            if path.suffix == ".zst":
                data = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
            document = json.loads(data)
            for records in (document.get("packages", {}), document.get("packages.conda", {})):
                for record in records.values():
                    self._take(record)
            stamp = path.parts[-3].removeprefix("pytorch-")
            self.source = f"repodata.json of conda channel pytorch, linux-64, {stamp}"

    def _take(self, record):
        if record["name"] != "pytorch":
            return
        cuda = re.search(r"py(\d\.\d+)_cuda(\d+)\.(\d+)", record["build"])
        if cuda:
            self.found[record["version"], f"cu{cuda[2]}{cuda[3]}"].add(cuda[1])

    def of(self, torch, tag):
        return sorted(self.found.get((torch, tag), []), key=version)

    def bounded(self, torch, tag, wheels):
        """As far as they are known: those read, else the wheels' up to the channel's last."""
        return self.of(torch, tag) or [p for p in wheels if version(p) <= LAST_CONDA_PYTHON]


def wheel_ptx(tag, is_default, torch):
    """PTX where a list was read as sm_NN only. From torch 2.7 the index's builds for CUDA 12.8 and
    newer have 12.0+PTX; PyPI's CUDA 13 builds have none (torch.json, meta.notes)."""
    if version(torch) < (2, 7) or version(cuda_of_tag(tag)) < (12, 8):
        return []
    return [] if is_default and version(cuda_of_tag(tag)) >= (13, 0) else ["12.0"]


def torch(facts, arch_facts, wheels_facts, conda_pythons):
    table = Table("torch: releases with their partners, and every CUDA build of each, as wheel and as "
                  "conda package. Linux x86_64.")
    arch = {(r["torch"], r["tag"], r["kind"]): r for r in known(arch_facts["variants"])}
    wheels, partners = collections.defaultdict(list), collections.defaultdict(dict)
    partner_pythons = collections.defaultdict(list)
    for row in known(wheels_facts["wheels"]):
        if row["package"] == "torch":
            wheels[row["version"], row["tag"]].append(row)
        else:
            label = "" if row["local"] is None else "+" + row["local"]
            held = partners[row["package"], row["version"]]
            held[row["tag"]] = max(held.get(row["tag"], ""), row["version"] + label)
            partner_pythons[row["package"], row["version"], row["tag"]].append(f'{row["python"]}/{row["abi"]}')
    unlisted = {(r["torch"], r["tag"]): r["source"]
                for r in arch_facts["meta"].get("variants_seen_without_arch_list", [])}

    built_for = {r["torch"]: {v["tag"] for v in r["cuda_variants"] if v.get("confidence") not in ("memory", "rfc")}
                 for r in facts["releases"]}
    for number, tag in wheels:
        built_for.setdefault(number, set()).add(tag)
    released_with = {}
    for release in facts["releases"]:  # the first torch that a partner was built for
        for package in ("torchvision", "torchaudio"):
            for candidate in release.get(package) or []:
                released_with.setdefault((package, candidate), release["torch"])

    def partner(package, candidates, number, tag):
        """(version with its label, Pythons) of the newest partner for this tag; the version is the wheel's own where
        one was seen, plain where it is PyPI's, None where there is none for this tag."""
        candidates = sorted(candidates or [], key=version, reverse=True)
        for candidate in candidates:
            if tag in partners[package, candidate]:
                complete = version(number) <= LAST_COMPLETE_INDEX
                return (partners[package, candidate][tag],
                        pythons(partner_pythons[package, candidate, tag]) if complete else [])
        for candidate in candidates:
            if package == "torchaudio" and version(candidate) < FIRST_LABELLED_AUDIO:
                return candidate, []
            if version(number) <= LAST_COMPLETE_INDEX:
                continue
            # The list of names is not complete: a label that its own torch has. Else PyPI's, if it is for several.
            if tag in built_for.get(released_with[package, candidate], set()):
                return f"{candidate}+{tag}", []
            return candidate, []
        return None, []

    for release in facts["releases"]:
        number = release["torch"]
        vision, audio = release.get("torchvision"), release.get("torchaudio")
        sources = [release["pypi"]["source"], release["pair_source"]]
        if not vision and number in VISION_OF_1_0:
            vision = [VISION_OF_1_0[number]]
            sources.append(PREVIOUS_VERSIONS)
        notes = [release[k] for k in ("torchvision_note", "torchaudio_note") if release.get(k)]
        conda_vision, conda_audio = CONDA_PAIRS.get(number, (None, None))
        if conda_vision:
            sources.append(PREVIOUS_VERSIONS)
        table.add("releases", torch=number,
                  torchvision=max(vision, key=version) if vision else None,
                  torchaudio=max(audio, key=version) if audio else None,
                  conda_torchvision=conda_vision, conda_torchaudio=conda_audio,
                  python=pythons(release["pypi"]["python"]), note="; ".join(notes), source=sources)
        stated = {v["tag"]: v for v in release["cuda_variants"]}
        tags = {tag for tag, v in stated.items() if v.get("confidence") != "memory"}
        tags |= {tag for (n, tag, _) in arch if n == number}
        tags |= {tag for (n, tag) in wheels if n == number} | {t for (n, t) in unlisted if n == number}
        for tag in sorted(tags, key=lambda t: version(cuda_of_tag(t))):
            variant(table, release, tag, stated.get(tag, {}), arch, wheels, unlisted, conda_pythons,
                    partner("torchvision", vision, number, tag), partner("torchaudio", audio, number, tag))
    for row in facts["lts"]:
        if "wheels" in row:
            long_term_support(table, row)
    table.sections["releases"].sort(key=lambda r: version(r["torch"]))
    table.sections["variants"].sort(key=lambda r: (version(r["torch"]), version(r["cuda"])))
    aarch64(table)
    return table


def aarch64(table):
    """Which of these builds there are for aarch64: `releases` by PyPI's wheels, `variants` with CUDA."""
    for release in table.sections["releases"]:
        number = release["torch"]
        range_ = [text for first, text in AARCH64_PYTHONS if version(first) <= version(number)]
        if range_ and not release.get("long_term_support"):
            table.add("aarch64_releases", torch=number, python=range_[-1].split(),
                      source=AARCH64_METADATA.format(number))
    for row in list(table.sections["variants"]):
        number, tag = row["torch"], row["tag"]
        if "wheel" not in row or row.get("confidence") == "rfc" or version(number) < (2, 4):
            continue
        common = dict(torch=number, tag=tag)
        file, code, code_source = AARCH64_INDEX.get((number, tag), (None, None, None))
        if row.get("pypi_default") and version(number) >= AARCH64_FIRST_CUDA_ON_PYPI:
            table.add("aarch64_variants", **common, pypi_default=True, sass=SBSA_13,
                      arch_source=AARCH64_PYPI_GPUS[".".join(number.split(".")[:2])],
                      source=AARCH64_METADATA.format(number))
        elif file:
            table.add("aarch64_variants", **common, sass=code, arch_source=code_source, source=file)
        elif version(row["cuda"]) >= (12, 4):
            table.add("aarch64_variants", **common, unknown=True, source=AARCH64_FIRST)


def glibc_of(number, tag):
    """What the wheels' platform tags ask for beyond manylinux2014: manylinux_2_28 from 2.7.0 on, and of 2.6.0+cu126
    (torch-wheels.json)."""
    return "2.28" if version(number) >= (2, 7) or (number, tag) == ("2.6.0", "cu126") else None


def variant(table, release, tag, stated, arch, wheels, unlisted, conda_pythons, vision, audio):
    number, cuda = release["torch"], cuda_of_tag(tag)
    if stated.get("confidence") == "memory":
        stated = {}
    default = release["pypi"]["default_tag"] == tag
    names = [w for w in wheels.get((number, tag), []) if "." not in (w["local"] or "")]
    wheel_arch, conda_arch = (arch.get((number, tag, kind)) for kind in ("wheel", "conda"))
    wheel = bool(names or stated or wheel_arch or (number, tag) in unlisted)
    sources = list(stated.get("source", []))
    if names:
        sources.append("wheel names of the index: " + names[0]["source"])
    if (number, tag) in unlisted:
        sources.append(unlisted[number, tag])
    found = set(pythons(w["python"] + "/" + w["abi"] for w in names))
    if default or not found or version(number) > LAST_COMPLETE_INDEX:
        found |= set(pythons(release["pypi"]["python"]))
    row = dict(torch=number, tag=tag, cuda=cuda, confidence=stated.get("confidence"),
               python=sorted(found, key=version) if wheel else None)
    if wheel:
        row.update(wheel="unlabelled" if names and all(w["local"] is None for w in names) else "labelled",
                   pypi_default=default,
                   glibc=glibc_of(number, tag),
                   index="https://download.pytorch.org/whl/" + (names[0]["index"] if names else tag),
                   wheel_torchvision=vision[0], wheel_torchaudio=audio[0])
        for column, (_, own) in (("torchvision_python", vision), ("torchaudio_python", audio)):
            if own and not set(row["python"]) <= set(own):
                row[column] = own
        row["cudnn"] = stated.get("cudnn")
        if not row["cudnn"] and wheel_arch and wheel_arch.get("cudnn_confidence") != "unknown":
            row["cudnn"], row["cudnn_source"] = wheel_arch.get("cudnn"), wheel_arch.get("cudnn_source")
        if stated.get("arch") and "CUDA_ARCH_FLAGS" in stated["arch_source"] or not wheel_arch:
            if stated.get("arch"):
                ptx = wheel_ptx(tag, default, number)
                row.update(sass=plain_architectures([a.removeprefix("sm_") for a in stated["arch"]]),
                           ptx=ptx, arch_source=stated["arch_source"] + (
                               "; +PTX: pytorch PR 175253" if ptx else ""))
        else:
            row.update(sass=wheel_arch["arch"], ptx=wheel_arch["ptx"],
                       arch_confidence=wheel_arch.get("confidence"), arch_source=wheel_arch["source"])
    if conda_arch:
        stated_package = (release.get("conda") or {}).get("package") or ""
        if "cudaXX" in stated_package:
            pin, channels = "cuda" + tag[2:], ["pytorch"]
        elif version(number) >= (1, 13):
            pin, channels = "pytorch-cuda=" + cuda, ["pytorch", "nvidia"]
        else:
            pin = "cudatoolkit=" + cuda
            channels = ["pytorch"] + ([] if cuda in CUDATOOLKIT_IN_DEFAULTS else ["conda-forge"])
        row.update(conda=pin, channels=channels, conda_cudnn=conda_arch.get("cudnn"),
                   conda_python=conda_pythons.bounded(number, tag, pythons(release["pypi"]["python"])))
        if conda_pythons.of(number, tag):
            sources.append(conda_pythons.source)
        else:
            sources.append("Pythons of the conda build: those of the wheels up to 3.12, the last in conda channel "
                           "pytorch (its records of 2.2.0 to 2.5.1)")
        sources.append(conda_arch.get("measured", {}).get("source", conda_arch["source"]))
        if conda_arch.get("confidence") != "unknown":
            row.update(conda_sass=conda_arch["arch"], conda_ptx=conda_arch["ptx"],
                       conda_arch_confidence=conda_arch.get("confidence"),
                       conda_arch_source=conda_arch["source"])
    if not sources:
        sources = [row["arch_source"]]
    table.add("variants", **row, source=list(dict.fromkeys(sources)))


def long_term_support(table, row):
    """Releases kept on an index of their own; the facts give an upper bound of Python only, the lower
    one is that of the release they continue."""
    number = row["torch"]
    base = max((r for r in table.sections["releases"]
                if r["torch"].rsplit(".", 1)[0] == number.rsplit(".", 1)[0]),
               key=lambda r: version(r["torch"]))
    top = version(row["python"].removeprefix("<="))
    range_ = [p for p in base["python"] if version(p) <= top]
    table.add("releases", torch=number, torchvision=row["torchvision"], torchaudio=row["torchaudio"],
              python=range_, long_term_support=True,
              note=f"Python: {row['python']}; lower bound as {base['torch']}", source=[row["source"]])
    conda, channel = re.match(r"(\S+) -c (\S+)", row["conda"]).groups()
    in_conda = conda.partition("=")[2].split("|")
    for tag in row["wheels"]:
        cuda = cuda_of_tag(tag)
        extra = {}
        if cuda in in_conda:
            extra = dict(conda="cudatoolkit=" + cuda, channels=[channel] + (
                [] if cuda in CUDATOOLKIT_IN_DEFAULTS else ["nvidia"]))
        # pytorch.org's line names the partners without a label: `torchvision==0.9.2 torchaudio==0.8.2`.
        table.add("variants", torch=number, tag=tag, cuda=cuda, python=range_, wheel="labelled",
                  wheel_torchvision=row["torchvision"], wheel_torchaudio=row["torchaudio"],
                  index=row["index"].replace("<tag>", tag), **extra, source=[row["source"]])


def tensorflow(facts):
    table = Table("TensorFlow: the CUDA and cuDNN that a release was built and tested with.")
    tested = {tuple(row["tf"].split(".")[:2]): row for row in facts["tested_build_configurations"]}
    for row in sorted(known(facts["pypi"]), key=lambda r: version(r["tf"])):
        if not re.fullmatch(r"[\d.]+", row["tf"]):
            continue  # post releases: their corrections are in the next numbered one
        config = tested.get(tuple(row["tf"].split(".")[:2]), {})
        sources = [row["source"]] + ([config["source"]] if config else [])
        table.add("releases", tensorflow=row["tf"], python=pythons(row["python"]),
                  cuda=config.get("cuda"), cudnn=config.get("cudnn"), package=config.get("package"),
                  tested=config.get("tf"), and_cuda=row.get("and_cuda"), **obtainable(row), source=sources)
    return table


def obtainable(row):
    """Whether pip can install [and-cuda]: what the index lacks of it, or the Pythons for which it has all."""
    for requirement in row.get("and_cuda") or []:
        source = AND_CUDA_FILES.format(requirement.partition("==")[0])
        if requirement in AND_CUDA_MISSING:
            return {"and_cuda_missing": requirement, "and_cuda_source": source}
        if requirement in AND_CUDA_PYTHONS:
            range_ = [p for p in pythons(row["python"]) if p in AND_CUDA_PYTHONS[requirement]]
            return {"and_cuda_python": range_, "and_cuda_source": source}
    return {}


def cudnn(facts):
    table = Table("cuDNN: the CUDA releases it works with (support matrix), and its wheels (`wheels`: "
                  "CUDA majors; any minor of the major will do).")
    for row in known(facts["support_matrix"]):
        first, _, last = row["cudnn"].removesuffix(".x").partition("-")
        drivers_ = row["min_driver"]
        if isinstance(drivers_, str):
            drivers_ = {row["cuda"][0]: drivers_}
        plain = {k: v for k, v in (drivers_ or {}).items() if re.fullmatch(r"[\d.]+", k)}
        rest = "; ".join(f"{k}: {v}" for k, v in (drivers_ or {}).items() if k not in plain)
        table.add("matrix", cudnn=first, last=last, cuda=row["cuda"], min_driver=plain,
                  soname=row["soname"], compute_capabilities=row.get("cc"),
                  confidence=row.get("confidence"),
                  note="; ".join(filter(None, [row.get("note"), rest and "driver " + rest])),
                  source=row["source"])
    for row in sorted(known(facts["pypi"]), key=lambda r: (version(r["cudnn"]), r["cuda_major"])):
        table.add("wheels", cudnn=row["cudnn"], cuda=row["cuda_major"],
                  distribution="nvidia-cudnn-cu" + row["cuda_major"], soname=row["soname"],
                  directory=row["path"], source=row["source"])
    return table


def distributions(facts, nvcc):
    table = Table("PyPI distributions that carry a CUDA library or tool, and where inside "
                  "site-packages; `nvcc` marks those with a compiler that runs.")
    with_nvcc = {row["dist"] for row in nvcc["pypi"] if row["has_nvcc"]}
    for row in known(facts["components"]):
        table.add("distributions", distribution=row["dist"], cuda=row["cuda_major"],
                  component=row["component"], nvcc=row["dist"] in with_nvcc, sonames=row["sonames"],
                  directories=row["dirs"], versions=row["versions"],
                  source=row["source"].partition(":")[0] + ": file list of its wheels")
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("facts", type=pathlib.Path)
    parser.add_argument("--repodata", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    options = parser.parse_args()

    def load(name):
        path = options.facts / f"{name}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            sys.exit(f"from_facts.py: {path}: {error}")

    driver, arch, parts = load("driver-cuda"), load("cuda-arch"), load("cuda-toolkit-components")
    for name, table in {
        "drivers": drivers(driver),
        "compilers": compilers(load("cuda-gcc"), parts),
        "architectures": architectures(arch, driver),
        "gpus": gpus(load("gpu-pci"), arch),
        "torch": torch(load("torch"), load("torch-arch"), load("torch-wheels"),
                       CondaPythons(options.repodata)),
        "tensorflow": tensorflow(load("tensorflow")),
        "cudnn": cudnn(load("cudnn-cuda")),
        "pip-distributions": distributions(load("pip-cuda-wheels"), load("nvcc-availability")),
    }.items():
        table.write(options.out / f"{name}.json")


if __name__ == "__main__":
    main()
