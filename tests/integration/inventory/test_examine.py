#!/usr/bin/env python3
"""The examination of the files of real environments agrees with hashing every claimed file in Python.

usage: test_examine.py --dump DUMP_INVENTORY [--seed N | --seed random] [--steps N] CASE     CASE: pip, conda, copy, odd

The examination checks times first and reads little; the oracle here reads everything. Files are overwritten, swapped,
removed and put back at random, with their size and time of modification as they were. Exit status: 0 all the same,
1 a difference, 77 the environment cannot be made here (the reason is printed).
"""
import argparse
import base64
import errno
import hashlib
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from test_inventory import HERE, NOBODY, VERSION, Unavailable, can_be_nobody, check, dumped, failures, make_pip, said, tools

ORDINARY = {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"}


def examined(program, prefix, *cache, **more):
    done = subprocess.run([program, "--examine", prefix, *cache], capture_output=True, timeout=120, **more)
    if done.returncode != 0:
        raise SystemExit(f"dump_inventory --examine {prefix}: status {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def is_ordinary(path):
    parts = path.split("/")
    if parts[-1].endswith((".pyc", ".pyo")) or "__pycache__" in parts:
        return True
    return len(parts) > 1 and parts[-2].endswith((".dist-info", ".egg-info")) and parts[-1] in ORDINARY


def claims_of(report):
    """(path, record, kind, hash, size, prefix replaced) of every claim."""
    for row in [*report["conda"], *report["distributions"]]:
        for path, kind, digest, size, replaced in row["files"]:
            yield path, row.get("record") or row["metadata"], kind, digest, size, replaced


def on_disk(prefix, path):
    return os.path.join(os.fsencode(prefix), path.encode("latin-1"))


def truth(report, prefix):
    """{(path, record): "missing" or "other"} by looking at all and reading all."""
    real = os.path.realpath(os.fsencode(prefix))
    wrong = {}
    digests = {}
    for path, record, kind, digest, size, replaced in claims_of(report):
        if is_ordinary(path):
            continue
        file = on_disk(prefix, path)
        if not path.startswith("/") and not (os.path.realpath(os.path.dirname(file)) + b"/").startswith(real + b"/"):
            continue  # somebody's own source
        try:
            status = os.lstat(file)
        except (FileNotFoundError, NotADirectoryError):
            wrong[path, record] = "missing"
            continue
        except OSError as reason:
            if reason.errno != errno.ELOOP:
                raise
            continue
        if kind != "file" or stat.S_ISLNK(status.st_mode):
            continue
        if stat.S_ISDIR(status.st_mode) and digest:
            wrong[path, record] = "other"
        if not stat.S_ISREG(status.st_mode):
            continue
        if file not in digests:
            digests[file] = "sha256=" + hashlib.sha256(Path(os.fsdecode(file)).read_bytes()).hexdigest()
        if digest.startswith("sha256=") and digest != digests[file] or not replaced and size not in (None, status.st_size):
            wrong[path, record] = "other"
    return wrong


def reported_wrong(states):
    return {(path, record): fit for path, state in states.items() for record, fit in state["fits"]
            if fit in ("missing", "other")}


def difference(ours, theirs):
    return {"not reported": {key: theirs[key] for key in theirs if ours.get(key) != theirs[key]},
            "wrongly reported": {key: ours[key] for key in ours if theirs.get(key) != ours[key]}}


def compare(program, prefix, what, *cache):
    report = dumped(program, prefix)
    states = examined(program, prefix, *cache)
    check(difference(reported_wrong(states["states"]), truth(report, prefix)), {"not reported": {}, "wrongly reported": {}}, what)
    return states


class Vandal:
    """Does to the claimed files of an environment what hands, editors and programs do, and knows the way back."""

    def __init__(self, program, prefix, dice):
        self.prefix = prefix
        self.dice = dice
        paths = {path for path, _, kind, digest, _, _ in claims_of(dumped(program, prefix))
                 if kind == "file" and digest and not path.startswith("/")}
        self.files = sorted(path for path in paths if os.path.isfile(file := on_disk(prefix, path))
                            and not os.path.islink(file))
        self.kept = {path: Path(os.fsdecode(on_disk(prefix, path))).read_bytes() for path in self.files}
        check(len(self.files) > 5, True, "there are files to be changed")

    def step(self):
        path = self.dice.choice(self.files)
        file = Path(os.fsdecode(on_disk(self.prefix, path)))
        move = self.dice.choice(["overwrite", "overwrite", "replace", "append", "remove", "touch", "link", "relink",
                                 "back", "back", "swap", "chmod", "directory"])
        if not os.path.lexists(file) or not stat.S_ISREG(os.lstat(file).st_mode):
            move = "back"
        if move != "back" and not file.exists():
            return f"nothing {path}"
        status = os.lstat(file) if os.path.lexists(file) else None
        if move == "overwrite":  # the same inode, size and times
            data = bytearray(file.read_bytes() or b"")
            if data:
                data[self.dice.randrange(len(data))] ^= 1
                with open(file, "r+b") as out:
                    out.write(data)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        elif move == "replace":  # as an installer does: another inode of the same size and times
            data = bytes(reversed(file.read_bytes()))
            other = file.with_name(file.name + ".new")
            other.write_bytes(data)
            os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
            other.replace(file)
        elif move == "append":
            with open(file, "ab") as out:
                out.write(b"more\n")
        elif move == "remove":
            file.unlink()
        elif move == "touch":
            os.utime(file)
        elif move == "chmod":
            file.chmod(stat.S_IMODE(status.st_mode) ^ 0o100)
        elif move == "link":  # to itself elsewhere: no record claims a link
            other = Path(os.fsdecode(self.prefix)) / "elsewhere"
            other.write_bytes(b"x")
            file.unlink()
            file.symlink_to(other)
        elif move == "relink":  # a copy without hard links
            data = file.read_bytes()
            file.unlink()
            file.write_bytes(data)
        elif move == "directory":
            file.unlink()
            file.mkdir()
        elif move == "swap":
            other = Path(os.fsdecode(on_disk(self.prefix, self.dice.choice(self.files))))
            if other != file and other.is_file() and not other.is_symlink():
                spare = file.with_name(file.name + ".spare")
                file.rename(spare)
                other.rename(file)
                spare.rename(other)
        else:
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            elif os.path.lexists(file):
                file.unlink()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.kept[path])
        return f"{move} {path}"


def vandalise(program, prefix, root, report):
    dice = random.Random(report.seed)
    vandal = Vandal(program, prefix, dice)
    cache = str(root / "cache")
    done = []
    seen = 0
    for step in range(report.steps):
        done = [*done, *(vandal.step() for _ in range(dice.randrange(1, 4)))][-12:]
        before = len(failures)
        states = compare(program, prefix, f"seed {report.seed}, step {step}, after {done}", cache)
        seen += len(states["states"])
        if len(failures) > before:
            break
    check(seen > 0, True, "something was changed")
    again = examined(program, prefix, cache)
    check(again["states"], states["states"], "a second look")
    # What was changed in the last hundredths of a second is read again.
    check(again["hashed"] <= max(3, states["hashed"]), True, "a second look reads nothing")
    return seen


def case_pip(program, root, report):
    env = make_pip(root)
    states = compare(program, env, "as pip left it")
    check(states["states"], {}, "as pip left it nothing is held")
    check(states["looked_at"] > 100, True, "files were looked at")
    return vandalise(program, env, root, report)


def make_conda(root):
    said([str(tools() / "python"), str(HERE / "make_conda.py"), str(root)],
         env={"PATH": "/usr/bin:/bin", "HOME": str(root)})
    return root / "env"


def case_conda(program, root, report):
    env = make_conda(root)
    states = compare(program, env, "as conda left it")
    site = "lib/python3.11/site-packages"
    # conda's RECORDs list scripts that the packages do not ship; that is all that is held.
    check(sorted(path for path, state in states["states"].items() if state["lies"] == "missing"),
          ["bin/odd_names", "bin/six"], "what is missing in a healthy environment")
    check([fit for path, state in states["states"].items() for record, fit in state["fits"]
           if fit == "other" and record.startswith("conda-meta")], [], "what is wrong by conda's records")
    six = env / site / "six.py"
    check(six.stat().st_nlink > 1, True, "six.py is a link to the package cache: the case is one")
    # Changed in the package cache, and so in the environment.
    cached = next(file for file in (root / "cache").rglob("six.py") if file.stat().st_ino == six.stat().st_ino)
    data = cached.read_bytes()
    cached.write_bytes(data.upper())
    states = compare(program, env, "changed in the package cache")
    check(f"{site}/six.py" in states["states"], True, "six.py is reported")
    cached.write_bytes(data)
    states = compare(program, env, "and back")
    check(f"{site}/six.py" in states["states"], False, "six.py is as it was")
    # Another environment from the same cache is another link, which is a change of the file's, but of no content.
    os.link(cached, root / "another")
    compare(program, env, "another link")
    (env / "lib64").symlink_to("lib")
    if VERSION == "3.11":
        said([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps",
              "--upgrade", "--only-binary", ":all:", "--target", str(env / site), "six==1.17.0"])
        states = compare(program, env, "a wheel over conda's package")
        fits = dict(states["states"][f"{site}/six.py"]["fits"])
        check(fits, {"conda-meta/six-1.15.0-0.json": "other", f"{site}/six-1.15.0.dist-info": "other",
                     f"{site}/six-1.17.0.dist-info": "same"}, "whose six.py is")
    return vandalise(program, env, root, report)


def case_copy(program, root, report):
    """cp -a keeps the times of modification: nothing of the copy may be believed for its times."""
    env = make_pip(root)
    site = env / f"lib/python{VERSION}/site-packages"
    six = site / "six.py"
    status = six.stat()
    six.write_bytes(bytes(reversed(six.read_bytes())))
    os.utime(six, ns=(status.st_atime_ns, status.st_mtime_ns))
    copy = os.fsdecode(os.fsencode(root) + b"/a copy\nof caf\xe9")
    said(["cp", "-a", str(env), copy])
    states = compare(program, copy, "a copy")
    check([path.rpartition("/")[2] for path in states["states"]], ["six.py"], "what is held of a copy")
    check(states["hashed"] > 100, True, "all of a copy is read")
    cache = str(root / "cache")
    copied = examined(program, copy, cache)
    again = examined(program, copy, cache)
    check(again["states"], copied["states"], "a second look at the copy")
    check(again["hashed"] + again["from_cache"], copied["hashed"], "what is asked for a digest")
    check(again["from_cache"] > again["hashed"], True, "a second look reads little")
    # A metadata directory that somebody touched since does not make a copy an installation.
    (Path(copy) / site.relative_to(env) / "six-1.17.0.dist-info/noticed").touch()
    touched = compare(program, copy, "a copy, and a touched directory")
    check([path.rpartition("/")[2] for path in touched["states"]], ["six.py"], "what is held of it still")
    linked = copy + " linked"
    said(["cp", "-al", copy, linked])
    compare(program, linked, "a copy of links")
    return vandalise(program, copy, root, report)


def case_odd(program, root, report):
    env = make_pip(root)
    site = env / f"lib/python{VERSION}/site-packages"
    relative = f"lib/python{VERSION}/site-packages"
    # A package that is somebody's own source for the time being.
    source = root / "src/markupsafe"
    shutil.move(site / "markupsafe", source)
    (site / "markupsafe").symlink_to(source)
    (source / "__init__.py").write_text("print('debugging')\n")
    (source / "_native.py").unlink()
    states = compare(program, env, "a package that is a link to its source")
    lies = {state["lies"] for path, state in states["states"].items()}
    check(lies, {"redirected"}, "what a package that leads to a source is")
    check(all("/markupsafe/" in path for path in states["states"]), True, "no other is held")
    shutil.rmtree(source)  # where it is not mounted
    states = compare(program, env, "a package that leads nowhere")
    check({state["lies"] for state in states["states"].values()}, {"redirected"}, "what leads nowhere")
    # A pipe, a circle, a file instead of a directory.
    (site / "six.py").unlink()
    os.mkfifo(site / "six.py")
    shutil.rmtree(site / "idna")
    (site / "idna").symlink_to("idna")
    shutil.rmtree(site / "nvidia")
    (site / "nvidia").write_text("")
    states = compare(program, env, "odd things")["states"]
    check(states[f"{relative}/six.py"]["lies"], "other", "a pipe")
    check(states[f"{relative}/idna/core.py"]["lies"], "unreadable", "a circle")
    check({state["lies"] for path, state in states.items() if "/nvidia/" in path}, {"missing"}, "beneath a file")
    # A file that is replaced all the time by one of the same content.
    target = site / "quoting/say \"hi\".txt"
    metadata = site / "quo_ting-1.0.dist-info/METADATA"
    record = site / "quo_ting-1.0.dist-info/RECORD"
    data = b"the same\n" * 20000
    own = hashlib.sha256(data)
    target.write_bytes(data)
    line = f"sha256={base64.urlsafe_b64encode(own.digest()).decode().rstrip('=')},{len(data)}"
    record.write_text(record.read_text().replace('"quoting/say ""hi"".txt",,', f'"quoting/say ""hi"".txt",{line}'))
    check(line in record.read_text(), True, "the record has the file's digest: the case is one")
    at_work = True

    def replace_it():
        while at_work:
            other = metadata.with_name("other")
            other.write_bytes(data)
            other.replace(target)

    thread = threading.Thread(target=replace_it)
    thread.start()
    try:
        seen = {examined(program, env)["states"].get(f"{relative}/quoting/say \"hi\".txt", {"lies": "as claimed"})["lies"]
                for _ in range(25)}
    finally:
        at_work = False
        thread.join()
    check(seen <= {"as claimed", "unreadable"}, True, f"what a file that is always right was called: {seen}")
    # Files that come and go: whatever is reported of them, the others are reported.
    at_work = True

    def come_and_go():
        while at_work:
            target.unlink(missing_ok=True)
            target.write_bytes(data[:1000])
            target.write_bytes(data)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(25):
            check(examined(program, env)["states"][f"{relative}/six.py"]["lies"], "other", "beside what comes and goes")
    finally:
        at_work = False
        thread.join()
    target.write_bytes(data)
    compare(program, env, "afterwards")
    root.chmod(0o755)
    if can_be_nobody(root):
        (site / "idna").unlink()
        (site / "idna").mkdir(mode=0)
        os.chmod(target, 0)
        copy = root / "dump_inventory"
        shutil.copy(program, copy)
        states = examined(copy, env, **NOBODY)["states"]
        check({state["lies"] for path, state in states.items() if "/idna/" in path}, {"unreadable"}, "a closed directory")
        check(states[f"{relative}/quoting/say \"hi\".txt"]["lies"], "unreadable", "a closed file that has changed")
        (site / "idna").chmod(0o755)
    return len(states)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--seed", type=lambda text: random.SystemRandom().randrange(1_000_000) if text == "random"
                        else int(text), default=451338, help="a number, or random")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("case", choices=["pip", "conda", "copy", "odd"])
    report = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cudaenv-examine-") as root:
        try:
            seen = globals()[f"case_{report.case}"](os.path.abspath(report.dump), Path(root).resolve(), report)
        except Unavailable as reason:
            print(f"skipped: {reason}")
            return 77
    print(f"{report.case}: seed {report.seed}, {seen} states compared, {len(failures)} differences")
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
