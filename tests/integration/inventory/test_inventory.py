#!/usr/bin/env python3
"""The inventory of real environments agrees with Python's importlib.metadata and the records themselves.

usage: test_inventory.py --dump DUMP_INVENTORY CASE     CASE: pip, uv, conda, kept, system, odd

Every distribution, every line of RECORD and every path of conda's records is compared. Exit status: 0 all the same,
1 a difference, 77 the environment cannot be made here (the reason is printed).
"""
import argparse
import base64
import csv
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "shells"))
from environments import Unavailable, tools  # noqa: E402
from downloads import said  # noqa: E402

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
WHEELS = ["idna==3.10", "six==1.17.0", "MarkupSafe==2.1.5", "nvidia-nvtx-cu12==12.1.105"]
failures = []


def check(ours, theirs, what):
    if ours != theirs:
        failures.append(f"{what}\n  found:    {str(ours)[:600]}\n  expected: {str(theirs)[:600]}")


def latin(text):
    """A name of a file as dump_inventory writes it."""
    return os.fsencode(text).decode("latin-1")


def dumped(program, prefix, **more):
    done = subprocess.run([program, str(prefix)], capture_output=True, timeout=120, **more)
    if done.returncode != 0:
        raise SystemExit(f"dump_inventory {prefix}: status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def below(prefix, site, path):
    whole = os.path.normpath(os.path.join(prefix, site, path))
    return os.path.relpath(whole, prefix) if whole.startswith(f"{prefix}/") else whole


def hexadecimal(row_hash):
    """sha256=BASE64 of a RECORD as dump_inventory has it."""
    name, _, text = row_hash.partition("=")
    if name != "sha256" or len(text) == 64:  # Debian's packages have it in hexadecimal digits
        return row_hash
    return "sha256=" + base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()


def one_line(text):
    return re.sub(r"\s*\n\s*", " ", text)


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def compare_python(report, prefix):
    """Every distribution that importlib.metadata finds in the sites, and no other."""
    prefix = str(prefix)
    ours = {row["metadata"]: row for row in report["distributions"] if row["kind"] != "egg-link"}
    seen = 0
    lines = 0
    for site in report["sites"]:
        for distribution in importlib.metadata.distributions(path=[os.path.join(prefix, site)]):
            path = str(distribution._path)
            where = os.path.relpath(path, prefix)
            if not where.startswith(f"{site}/") or os.path.basename(where).startswith("~"):
                continue  # of an egg on a .pth file
            row = ours.get(latin(where))
            seen += 1
            if row is None:
                failures.append(f"{where}  is not reported")
                continue
            metadata = distribution.metadata
            if metadata and metadata["Name"]:
                check(row["written"], metadata["Name"], f"{where}: name")
                check(row["name"], canonical(metadata["Name"]), f"{where}: canonical name")
                check(row["version"], distribution.version, f"{where}: version")
                check(row["requires"], [one_line(text) for text in distribution.requires or []],
                      f"{where}: requirements")
            check(row["installer"], (distribution.read_text("INSTALLER") or "").strip(), f"{where}: installer")
            check(row["requested"], os.path.exists(os.path.join(path, "REQUESTED")), f"{where}: requested")
            wheel = distribution.read_text("WHEEL") or ""
            check(row["tags"], re.findall(r"^Tag: *(.*?)\s*$", wheel, re.MULTILINE), f"{where}: tags")
            check(row["generator"], "".join(re.findall(r"^Generator: *(.*?)\s*$", wheel, re.MULTILINE)),
                  f"{where}: generator")
            url = distribution.read_text("direct_url.json")
            check("direct_url" in row, url is not None, f"{where}: direct_url.json")
            record = os.path.join(path, "RECORD")
            check(row["has_record"] and row["kind"] == "dist-info", os.path.exists(record), f"{where}: RECORD")
            if row["kind"] != "dist-info" or not os.path.exists(record):
                continue
            with open(record, newline="", encoding="utf-8") as text:
                rows = [line for line in csv.reader(text) if line]
            expected = [[latin(below(prefix, site, name)), hexadecimal(digest), int(size) if size else None]
                        for name, digest, size in rows]
            check([[name, digest, size] for name, _, digest, size, _ in row["files"]], expected, f"{where}: files")
            check(len(row["files"]), len(distribution.files), f"{where}: number of files")
            lines += len(rows)
    check(len(ours), seen, "number of distributions")
    check(lines > 0, True, "there are lines of RECORD to compare")
    return seen, lines


def compare_conda(report, prefix):
    records = {path.name: json.loads(path.read_text()) for path in sorted((prefix / "conda-meta").glob("*.json"))}
    check([row["record"] for row in report["conda"]], [f"conda-meta/{name}" for name in records], "records of conda's")
    for row in report["conda"]:
        record = records[os.path.basename(row["record"])]
        for key in ("name", "version", "build", "depends"):
            check(row[key], record[key], f"{row['record']}: {key}")
        expected = []
        for path in record["paths_data"]["paths"]:
            digest = path.get("sha256_in_prefix") or path.get("sha256")
            expected.append([latin(path["_path"]), {"hardlink": "file"}.get(path["path_type"], path["path_type"]),
                             f"sha256={digest}" if digest else "", path.get("size_in_bytes"),
                             bool(path.get("prefix_placeholder"))])
        check(row["files"], expected, f"{row['record']}: files")
        check(row["written_ns"], (prefix / row["record"]).stat().st_mtime_ns, f"{row['record']}: written")


def compare_shared(report):
    """The join against one of dictionaries."""
    owners = {}
    for row in report["conda"]:
        for file in row["files"]:
            owners.setdefault(file[0], []).append(row["record"])
    for row in report["distributions"]:
        for file in row["files"]:
            owners.setdefault(file[0], []).append(row["metadata"])
    expected = {path: by for path, by in owners.items() if len(set(by)) > 1}
    check(dict(map(tuple, report["shared"])), expected, "shared paths")
    return expected


def check_times(report, began):
    """Each was installed after the test began, though its files may be links to older ones."""
    for row in report["distributions"]:
        check(row["installed_ns"] > began, True, f"{row['metadata']}: installed after the test began")


def write_source(root, name, setup):
    source = root / name
    (source / "src" / name).mkdir(parents=True)
    (source / "src" / name / "__init__.py").write_text("")
    (source / "setup.py").write_text(
        f"from setuptools import setup\nsetup(name={name!r}, version='0.3', packages=[{name!r}], "
        f"package_dir={{'': 'src'}}, {setup})\n")
    return source


def write_modern(root):
    """Has what makes pip build it as a wheel, so that it is editable by a .pth file and direct_url.json."""
    source = write_source(root, "modern", "")
    (source / "pyproject.toml").write_text(
        "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n")
    return source


def write_wheel(root):
    """A wheel with every name that a RECORD has to quote."""
    wheel = root / "quo_ting-1.0-py3-none-any.whl"
    files = {name: "" for name in ("quoting/__init__.py", "quoting/a,b.txt", 'quoting/say "hi".txt',
                                   "quoting/gr\u00fc\u00df.txt", "quoting/back\\slash.txt")}
    files["quo_ting-1.0.dist-info/METADATA"] = ("Metadata-Version: 2.1\nName: Quo_Ting\nVersion: 1.0\n"
                                               "Requires-Dist: six\n\nText\n")
    files["quo_ting-1.0.dist-info/WHEEL"] = "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\n" \
                                           "Tag: py3-none-any\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for name in [*files, "quo_ting-1.0.dist-info/RECORD"]:
        writer.writerow([name, "", ""])
    files["quo_ting-1.0.dist-info/RECORD"] = out.getvalue()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


def make_pip(root):
    env = root / "env"
    said([sys.executable, "-m", "venv", str(env)])
    pip = [str(env / "bin/python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    said([*pip, "--only-binary", ":all:", "--no-compile", *WHEELS])
    said([*pip, "--no-deps", str(write_wheel(root))])
    return env


def the(report, name):
    rows = [row for row in report["distributions"] if row["name"] == name]
    check(len(rows), 1, f"distributions of the name {name}")
    return rows[0] if rows else {}


def case_pip(program, root):
    began = time.time_ns() - 1_000_000_000  # a file system's clock may go in steps
    env = make_pip(root)
    pip = [str(env / "bin/python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    said([*pip, "setuptools==69.5.1", "wheel==0.43.0"])
    said([*pip, "--no-build-isolation", "--no-deps", "-e", str(write_modern(root))])
    legacy = write_source(root, "legacy", "install_requires=['six'], extras_require={'x:python_version>\"3\"': ['idna']}")
    said([str(env / "bin/python"), "setup.py", "-q", "develop", "--no-deps"], cwd=legacy)
    (env / f"lib/python{VERSION}/site-packages/~dna").mkdir()
    report = dumped(program, env)
    counted = compare_python(report, env)
    compare_shared(report)
    check_times(report, began)
    check(report["sites"], [f"lib/python{VERSION}/site-packages"], "sites")
    check(report["notes"], [], "notes")
    check(report["conda"], [], "conda's packages")
    check([row["kind"] for row in report["leftovers"]], ["interrupted-uninstall"], "leftovers")
    check(the(report, "idna")["installer"], "pip", "installer of idna")
    check(the(report, "quo-ting")["direct_url"]["local_directory"], "", "a wheel's file is no directory")
    check(the(report, "modern")["direct_url"]["editable"], True, "modern is editable")
    check(the(report, "modern")["direct_url"]["local_directory"], str(root / "modern"), "where modern is")
    row = the(report, "legacy")
    check(row["kind"], "egg-link", "legacy's kind")
    check(row["version"], "0.3", "legacy's version")
    check(row["source_directory"], str(legacy / "src"), "where legacy is")
    source = list(importlib.metadata.distributions(path=[str(legacy / "src")]))[0]
    check(row["requires"], source.requires, "what legacy requires")
    check(len(row["requires"]), 2, "legacy requires something")
    names = {os.path.basename(row["path"]): row for row in report["path_files"]}
    check("easy-install.pth" in names, True, "easy-install.pth is reported")
    check(names.get("easy-install.pth", {}).get("directories"), [str(legacy / "src")], "where it leads")
    check(any(name.startswith("__editable__.modern") for name in names), True, "__editable__.modern*.pth is reported")
    check(len(names), 2, "no other .pth is reported")
    return counted


def case_uv(program, root):
    began = time.time_ns() - 1_000_000_000
    uv = str(tools() / "uv")
    env = root / "env"
    environment = {**os.environ, "UV_CACHE_DIR": str(root / "cache"), "UV_PYTHON_DOWNLOADS": "never"}
    wheels = root / "wheels"
    # By pip, which knows this machine's index; uv is then given the files.
    said([sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps",
          "--only-binary", ":all:", "-d", str(wheels), *WHEELS])
    said([uv, "venv", "--quiet", "--python", sys.executable, str(env)], env=environment)
    install = [uv, "pip", "install", "--quiet", "--no-index", "--no-deps", "--python", str(env / "bin/python")]
    files = sorted(str(path) for path in wheels.glob("*.whl"))
    said([*install, "--find-links", str(wheels), "idna", "six"], env=environment)
    said([*install, "--link-mode", "symlink", str(write_wheel(root)),
          *(file for file in files if "idna" not in file and "six" not in file)], env=environment)
    report = dumped(program, env)
    counted = compare_python(report, env)
    compare_shared(report)
    check(report["notes"], [], "notes")
    check(report["leftovers"], [], "leftovers")
    check(report["path_files"], [], ".pth files")
    check_times(report, began)
    check({row["installer"] for row in report["distributions"]}, {"uv"}, "installers")
    raw = (env / f"lib/python{VERSION}/site-packages/idna-3.10.dist-info/INSTALLER").read_text()
    check(raw, "uv", "uv still writes no end of the line: the case is one")
    return counted


def case_conda(program, root):
    began = time.time_ns() - 1_000_000_000
    said([str(tools() / "python"), str(HERE / "make_conda.py"), str(root)],
         env={"PATH": "/usr/bin:/bin", "HOME": str(root)})
    env = root / "env"
    report = dumped(program, env)
    counted = compare_python(report, env)
    compare_conda(report, env)
    check_times(report, began)
    check(report["conda_prefix"], True, "is conda's")
    check(report["notes"], [], "notes")
    check([row["name"] for row in report["conda"]], ["odd-names", "six", "tools"], "conda's packages")
    check({row["installer"] for row in report["distributions"]}, {"conda"}, "installers")
    info = "lib/python3.11/site-packages/six-1.15.0.dist-info"
    shared = compare_shared(report)
    check(shared.get("lib/python3.11/site-packages/six.py"), ["conda-meta/six-1.15.0-0.json", info],
          "six.py is claimed by conda's record and by the distribution")
    rows = {row[0]: row for package in report["conda"] for row in package["files"]}
    check(rows["bin/tool"][4], True, "the prefix was replaced in bin/tool")
    check(rows["lib/libtool.so"][1], "softlink", "libtool.so is a link")

    # A wheel over conda's package, as pip lays it down.
    if VERSION == "3.11":
        said([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps",
              "--upgrade", "--only-binary", ":all:", "--target", str(env / "lib/python3.11/site-packages"),
              "six==1.17.0"])
        report = dumped(program, env)
        compare_python(report, env)
        compare_conda(report, env)
        shared = compare_shared(report)
        check(shared.get("lib/python3.11/site-packages/six.py"),
              ["conda-meta/six-1.15.0-0.json", info, info.replace("1.15", "1.17")], "three claim six.py")
    return counted


def case_kept(program, root):
    """After an install of one package one record is read again, whoever installs, and all is as a fresh read."""
    env = make_pip(root)
    site = env / f"lib/python{VERSION}/site-packages"
    pip = [str(env / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    kept = subprocess.Popen([program, "--refresh", str(env)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def refreshed(what):
        kept.stdin.write("\n")
        kept.stdin.flush()
        report = json.loads(kept.stdout.readline())
        read = report.pop("records_read")
        check(report, dumped(program, env), f"{what}: as a fresh read")
        return read

    def settle():
        while refreshed("again") != 0:  # what is younger than the clock's step is read again
            pass

    try:
        everything = refreshed("at first")
        check(everything > 5, True, "all is read at first")
        settle()
        for what, command, expected in (
                ("an upgrade", ["install", "--no-deps", "--only-binary", ":all:", "idna==3.7"], 1),
                ("an uninstall", ["uninstall", "--yes", "six"], 0),
                ("an install", ["install", "--no-deps", "--only-binary", ":all:", "six==1.17.0"], 1),
                ("the same again", ["install", "--no-deps", "--force-reinstall", "--only-binary", ":all:",
                                    "six==1.17.0"], 1)):
            said([*pip, *command])
            check(refreshed(what), expected, f"records read after {what}")
            settle()
        (site / "six.py").write_text("# by hand\n")
        check(refreshed("a claimed file"), 0, "no record is read for a claimed file")
        shutil.rmtree(site / "idna-3.7.dist-info")
        check(refreshed("one that is gone"), 0, "records read after one is gone")
    finally:
        kept.stdin.close()
        kept.stdout.close()
        check(kept.wait(timeout=60), 0, "status")
    return everything, 4


def case_system(program, root):
    counted = [0, 0]
    prefixes = {sys.base_prefix, "/usr"}
    if VERSION not in os.path.realpath("/usr/bin/python3"):
        prefixes.discard("/usr")
    for prefix in sorted(prefixes):
        report = dumped(program, prefix)
        if not report["distributions"]:
            continue
        seen, lines = compare_python(report, prefix)
        compare_shared(report)
        counted[0] += seen
        counted[1] += lines
    if counted[0] == 0:
        raise Unavailable("this machine's Pythons have no packages")
    return counted


NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


def can_be_nobody(place):
    """Whether a program can be run as another user here, for whom files are unreadable; says so where not."""
    try:
        if subprocess.run(["test", "-x", str(place)], **NOBODY).returncode == 0:
            return True
        print(f"not tried: unreadable files, for user {NOBODY['user']} may not enter {place}")
    except PermissionError:
        print("not tried: unreadable files, which takes the right to run a program as another user (root)")
    return False


def case_odd(program, root):
    env = make_pip(root)
    site = env / f"lib/python{VERSION}/site-packages"
    healthy = dumped(program, env)
    # Symlinks in a circle and back into the environment.
    (site / "loop").symlink_to("loop")
    (site / "up").symlink_to(env)
    (site / "round-1.dist-info").symlink_to("round-1.dist-info")
    # A name that is no UTF-8.
    odd = os.fsencode(site) + b"/caf\xe9-1.dist-info"
    os.mkdir(odd)
    Path(os.fsdecode(odd + b"/METADATA")).write_text("Name: cafe\nVersion: 1\n\n")
    Path(os.fsdecode(odd + b"/RECORD")).write_bytes(b"caf\xe9/\xff.py,,3\n")
    # A METADATA of 50 MB.
    metadata = site / "idna-3.10.dist-info/METADATA"
    with open(metadata, "a") as out:
        for _ in range(50):
            out.write("x" * 1_000_000 + "\n")
    # A corrupt RECORD.
    record = site / "six-1.17.0.dist-info/RECORD"
    record.write_bytes(record.read_bytes()[:150] + b'\n\0\xff"' + b"\n,,,,,\nsix.py,,1\n")
    report = dumped(program, env)
    check(the(report, "cafe")["metadata"], latin(os.fsdecode(odd[len(os.fsencode(env)) + 1:])), "a name of bytes")
    check([row[0].rpartition("/")[2] for row in the(report, "cafe")["files"]], ["\xff.py"], "a file of bytes")
    check(the(report, "six")["damaged_lines"] >= 2, True, "damaged lines of six")
    check(the(report, "six")["files"][-1][0], f"lib/python{VERSION}/site-packages/six.py", "the line behind them")
    check([note[0].rpartition("/")[2] for note in report["notes"]], ["round-1.dist-info", "RECORD"], "notes")
    untouched = ("name", "version", "files", "requires", "installer")
    for row in healthy["distributions"]:
        if row["name"] != "six":
            check([the(report, row["name"])[key] for key in untouched], [row[key] for key in untouched], row["metadata"])
    root.chmod(0o755)
    if can_be_nobody(root):
        record.chmod(0)
        (site / "idna-3.10.dist-info").chmod(0)
        copy = root / "dump_inventory"
        shutil.copy(program, copy)  # its own place may be one that user nobody may not enter
        report = dumped(copy, env, **NOBODY)
        check([note for note in report["notes"] if note[1] == "permission denied"],
              [[f"lib/python{VERSION}/site-packages/{name}", "permission denied"]
               for name in ("idna-3.10.dist-info", "six-1.17.0.dist-info/RECORD")], "what user nobody may not read")
        check(the(report, "idna")["version"], "3.10", "what the name still says")
        check(len(the(report, "markupsafe")["files"]) > 5, True, "the rest")
        (site / "idna-3.10.dist-info").chmod(0o755)
    return len(report["distributions"]), 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("case", choices=["pip", "uv", "conda", "kept", "system", "odd"])
    report = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudaenv-inventory-") as root:
        try:
            seen, lines = globals()[f"case_{report.case}"](os.path.abspath(report.dump), Path(root).resolve())
        except Unavailable as reason:
            print(f"skipped: {reason}")
            return 77
    print(f"{report.case}: {seen} distributions, {lines} lines of RECORD compared, {len(failures)} differences")
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
