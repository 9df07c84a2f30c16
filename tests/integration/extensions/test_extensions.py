#!/usr/bin/env python3
"""Findings about compiled modules match what the loader does with them.

usage: test_extensions.py --dump DUMP_EXTENSIONS CASE     CASE: loader, abi, odd, editable, wheels

Each case makes an environment with libraries of torch's layout and modules that the compiler built against another
"torch"; the oracle is dlopen with LD_BIND_NOW=1 after torch's own libraries, as `import torch` leaves them. Exit
status: 0 all the same, 1 a difference, 77 there is no compiler, or no wheel to be had (the reason is printed).
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SITE = "lib/python3.11/site-packages"
TAG = "cpython-311-x86_64-linux-gnu"
failures = []


def check(ours, theirs, what):
    if ours != theirs:
        failures.append(f"{what}\n  found:    {str(ours)[:800]}\n  expected: {str(theirs)[:800]}")


def compiled(source, output, *words):
    """A shared object of C++ source; `words` go to the compiler."""
    output.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["g++", "-x", "c++", "-shared", "-fPIC", "-O1", "-o", str(output), "-", *words], input=source,
                   text=True, check=True)


def laid_down(prefix, name, version, files, requires=(), direct_url=None):
    """A dist-info that claims the files (relative to site-packages)."""
    directory = prefix / SITE / f"{name}-{version}.dist-info"
    directory.mkdir(parents=True)
    headers = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    headers += [f"Requires-Dist: {text}" for text in requires]
    (directory / "METADATA").write_text("\n".join(headers) + "\n")
    (directory / "INSTALLER").write_text("pip\n")
    (directory / "WHEEL").write_text(f"Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n")
    if direct_url:
        (directory / "direct_url.json").write_text(json.dumps(direct_url))
    (directory / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def dumped(program, prefix, **more):
    done = subprocess.run([program, str(prefix)], capture_output=True, timeout=120, **more)
    if done.returncode != 0:
        raise SystemExit(f"dump_extensions: status {done.returncode}: {done.stderr.decode()}")
    return {row["path"]: row for row in json.loads(done.stdout)["modules"]}


LOAD = """
import ctypes, sys
for path in sys.argv[2:]:
    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
try:
    ctypes.CDLL(sys.argv[1])
except OSError as error:
    print(error)
"""


def refusal(prefix, module):
    """What the loader says against the module; empty: it loads."""
    libraries = sorted((prefix / SITE / "torch/lib").glob("*.so"))
    done = subprocess.run([sys.executable, "-c", LOAD, str(module), *map(str, libraries)], capture_output=True,
                          text=True, check=True, env={**os.environ, "LD_BIND_NOW": "1"})
    return done.stdout.strip()


def torch_source(functions):
    body = "\n".join(functions)
    return f"#include <string>\nnamespace c10 {{\n{body}\n}}\n"


def function(number, defined):
    return f"void f{number}(int)" + (f" {{}}" if defined else ";")


def make_torch(library, functions, *words):
    compiled(torch_source(functions), library, f"-Wl,-soname,{library.name}", *words)


def case_loader(program, work):
    """Random sets of functions in two libraries of the torch that was and the one that is."""
    rng = random.Random(20261122)
    prefix = work / "env"
    was = work / "was"
    everything = range(12)
    halves = {"libc10.so": [n for n in everything if n % 2], "libtorch_cpu.so": [n for n in everything if not n % 2]}
    now = {name: [n for n in numbers if rng.random() < 0.7] for name, numbers in halves.items()}
    for name, numbers in halves.items():
        make_torch(was / name, [function(n, True) for n in numbers])
        style = "sysv" if name == "libc10.so" else "gnu"
        make_torch(prefix / SITE / "torch/lib" / name, [function(n, True) for n in now[name]],
                   f"-Wl,--hash-style={style}")
    laid_down(prefix, "torch", "2.8.0", ["torch/lib/libc10.so", "torch/lib/libtorch_cpu.so"])
    there = set(now["libc10.so"]) | set(now["libtorch_cpu.so"])

    # A library of the module's own, found by its RUNPATH, that defines one of torch's names.
    own = sorted(set(everything) - there)[0]
    make_torch(prefix / SITE / "ours/lib/libours.so", [function(own, True)])
    links = ["-L", str(was), "-l:libc10.so", "-l:libtorch_cpu.so", "-Wl,--no-as-needed"]
    files, expected = ["ours/lib/libours.so"], {}
    for number in range(14):
        used = rng.sample(everything, rng.randint(1, 4))
        weak = set(rng.sample(everything, 2)) - set(used)
        with_own = number % 3 == 0
        lines = [function(n, False) for n in used]
        lines += [f"__attribute__((weak)) void f{n}(int);" for n in weak]
        calls = "".join(f"c10::f{n}(0);" for n in used) + "".join(f"if (c10::f{n}) c10::f{n}(0);" for n in weak)
        source = torch_source(lines) + f"\nvoid entry{number}() {{ {calls} }}\n"
        name = f"ours/m{number}.{TAG}.so"
        own_words = ["-L", str(prefix / SITE / "ours/lib"), "-l:libours.so", "-Wl,-rpath,$ORIGIN/lib"]
        compiled(source, prefix / SITE / name, "-Wl,--no-as-needed", *links, *(own_words if with_own else []))
        files.append(name)
        missing = sorted(set(used) - there - ({own} if with_own else set()))
        expected[f"{SITE}/{name}"] = [f"_ZN3c102f{n}Ei" if n < 10 else f"_ZN3c103f{n}Ei" for n in missing]
    laid_down(prefix, "ours", "1.0", files, ["torch"])

    report = dumped(program, prefix)
    check(sorted(report), sorted(expected), "which modules are reported")
    refused = 0
    for path, symbols in expected.items():
        row = report.get(path)
        if row is None:
            continue
        check(row["unresolved"], sorted(symbols), f"{path}: what torch lacks")
        said = refusal(prefix, prefix / path)
        check(bool(said), bool(row["unresolved"]), f"{path}: the loader says {said!r}")
        if said:
            refused += 1
            check(any(f"undefined symbol: {symbol}" in said for symbol in row["unresolved"]), True,
                  f"{path}: the loader names one of them: {said}")
    check(0 < refused < len(expected), True, f"some are refused and some are not ({refused} of {len(expected)})")


FAIL = "void fail(const char*, const std::string&)"
NAME = "std::string name(int)"


def case_abi(program, work):
    prefix = work / "env"
    torch = prefix / SITE / "torch/lib/libc10.so"
    make_torch(torch, [FAIL + " {}", NAME + " { return {}; }"], "-D_GLIBCXX_USE_CXX11_ABI=1")
    laid_down(prefix, "torch", "2.8.0", ["torch/lib/libc10.so"])
    files = []
    for abi in (0, 1):
        was = work / f"was{abi}/libc10.so"
        make_torch(was, [FAIL + " {}", NAME + " { return {}; }"], f"-D_GLIBCXX_USE_CXX11_ABI={abi}")
        for what, call in (("fail", 'c10::fail("x", std::string())'), ("name", "c10::name(1)")):
            source = torch_source([FAIL + ";", NAME + ";"]) + f"void entry() {{ {call}; }}\n"
            name = f"{what}{abi}.{TAG}.so"
            compiled(source, prefix / SITE / name, f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-L", str(was.parent), "-l:libc10.so")
            files.append(name)
    laid_down(prefix, "ours", "1.0", files, ["torch>=2"])
    report = dumped(program, prefix)
    for name in files:
        row = report[f"{SITE}/{name}"]
        said = refusal(prefix, prefix / SITE / name)
        is_old = "0." in name
        check(bool(said), is_old, f"{name}: the loader says {said!r}")
        check(bool(row["unresolved"]), is_old, f"{name}: {row}")
        check(bool(row["asked_with_other_abi"]), is_old, f"{name}: {row}")
        if is_old:
            check("cxx11" in row["asked_with_other_abi"], False, f"{name}: {row}")
            check("cxx11" in row["defined_with_other_abi"], True, f"{name}: {row}")


def case_odd(program, work):
    prefix = work / "env"
    make_torch(prefix / SITE / "torch/lib/libc10.so", [function(1, True)])
    laid_down(prefix, "torch", "2.8.0", ["torch/lib/libc10.so"])
    was = work / "was/libc10.so"
    make_torch(was, [function(1, True), function(2, True)])
    uses = torch_source([function(1, False), function(2, False)]) + "void entry() { c10::f1(0); c10::f2(0); }\n"
    site = prefix / SITE
    links = ["-L", str(was.parent), "-l:libc10.so"]
    compiled(uses, site / f"good.{TAG}.so", *links)
    whole = (site / f"good.{TAG}.so").read_bytes()
    problems = {"cut.so": whole[: len(whole) // 2], "empty.so": b"", "text.so": b"INPUT(-lfoo)\n",
                "word32.so": whole[:4] + b"\x01" + whole[5:], "machine.so": whole[:18] + b"\xb7\x00" + whole[20:],
                "noise.so": whole[:64] + bytes(random.Random(1).randrange(256) for _ in range(len(whole) - 64))}
    for name, content in problems.items():
        (site / name).write_bytes(content)
    os.mkfifo(site / "pipe.so")
    (site / "loop.so").symlink_to("loop.so")
    with open(site / "huge.so", "wb") as huge:  # sparse
        huge.write(whole[:64])
        huge.truncate(1 << 36)
    # What needs no torch, what torch does not have to define, and another Python's beside and alone.
    compiled("void unrelated();\nvoid entry() { unrelated(); }\n", site / f"plain.{TAG}.so")
    compiled("void unrelated();\n" + uses.replace("c10::f2(0);", "unrelated();"), site / f"others.{TAG}.so",
             *links)
    compiled(uses, site / "old.cpython-310-x86_64-linux-gnu.so", *links)
    # A library that it needs and that is nowhere might define anything.
    compiled("void x() {}\n", work / "was/libelsewhere.so", "-Wl,-soname,libelsewhere.so")
    compiled(uses, site / f"unknown.{TAG}.so", "-Wl,--no-as-needed", *links, "-l:libelsewhere.so")
    # One of torch's that this torch does not have.
    make_torch(work / "was/libc10_cuda.so", [function(3, True)])
    compiled(uses, site / f"cuda.{TAG}.so", "-Wl,--no-as-needed", *links, "-l:libc10_cuda.so")
    names = [*problems, "pipe.so", "loop.so", "huge.so", "gone.so", f"good.{TAG}.so", f"plain.{TAG}.so",
             f"others.{TAG}.so", "old.cpython-310-x86_64-linux-gnu.so", f"unknown.{TAG}.so", f"cuda.{TAG}.so"]
    laid_down(prefix, "ours", "1.0", names, ["torch (>=2.0)"])
    report = dumped(program, prefix)
    for name in [*problems, "pipe.so", "loop.so", "huge.so", "gone.so"]:
        row = report.get(f"{SITE}/{name}")
        check(bool(row and row["problem"]), True, f"{name}: {row}")
        check(row and row["unresolved"], [], f"{name}: {row}")
    symbols = ["_ZN3c102f2Ei"]
    check(report[f"{SITE}/good.{TAG}.so"]["unresolved"], symbols, "the module beside them")
    check(f"{SITE}/plain.{TAG}.so" in report, False, "a module that does not link torch")
    check(report[f"{SITE}/others.{TAG}.so"]["unresolved"], [], "a symbol that is not torch's")
    check(report[f"{SITE}/old.cpython-310-x86_64-linux-gnu.so"]["python_tag"], "cpython-310-x86_64-linux-gnu", "tag")
    check(report[f"{SITE}/unknown.{TAG}.so"]["unresolved"], [], "a library that is nowhere")
    check(report[f"{SITE}/cuda.{TAG}.so"]["missing_of_torch"], ["libc10_cuda.so"], "CUDA's half of torch")
    # A torch of which nothing is there, or not all can be read, is asked nothing.
    (site / "torch/lib/libtorch_cpu.so").write_bytes(b"damaged")
    check(dumped(program, prefix)[f"{SITE}/good.{TAG}.so"]["unresolved"], [], "with a damaged torch")
    shutil.rmtree(site / "torch")
    check(dumped(program, prefix)[f"{SITE}/good.{TAG}.so"]["unresolved"], [], "without a torch")


def case_editable(program, work):
    prefix = work / "env"
    make_torch(prefix / SITE / "torch/lib/libc10.so", [function(1, True)])
    laid_down(prefix, "torch", "2.8.0", ["torch/lib/libc10.so"])
    was = work / "was/libc10.so"
    make_torch(was, [function(1, True), function(2, True)])
    source = work / "src/apex"
    uses = torch_source([function(2, False)]) + "void entry() { c10::f2(0); }\n"
    compiled(uses, source / f"apex_C.{TAG}.so", "-L", str(was.parent), "-l:libc10.so")
    compiled(uses, source / f"build/lib/apex_C.{TAG}.so", "-L", str(was.parent), "-l:libc10.so")
    laid_down(prefix, "apex", "0.1", [], direct_url={"url": source.as_uri(), "dir_info": {"editable": True}})
    (prefix / SITE / "__editable__.apex-0.1.pth").write_text(f"{source}\n")
    report = dumped(program, prefix)
    check(list(report), [str(source / f"apex_C.{TAG}.so")], "the modules built in place")
    check([row["unresolved"] for row in report.values()], [["_ZN3c102f2Ei"]], "what torch lacks")
    check(bool(refusal(prefix, source / f"apex_C.{TAG}.so")), True, "the loader refuses it too")


def hashes(prefix, name):
    """Of a wheel's RECORD: path -> hash."""
    record = next((prefix / SITE).glob(f"{name}-*.dist-info/RECORD"))
    rows = (line.rsplit(",", 2) for line in record.read_text().splitlines())
    return {path: report for path, report, _ in rows if report}


def case_wheels(program, work):
    """NVIDIA's own wheels, and torchvision and torchaudio of one torch."""
    def installed(name, *wheels):
        prefix = work / name
        (prefix / SITE).mkdir(parents=True)
        (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile",
                               "--only-binary", ":all:", "--python-version", "3.11", "--target",
                               str(prefix / SITE), *wheels], capture_output=True, text=True, timeout=300)
        if done.returncode:
            print(f"pip cannot have {wheels}: {done.stderr.strip().splitlines()[-1:]}")
            sys.exit(77)
        done = subprocess.run([program, "--findings", str(prefix)], capture_output=True, text=True, timeout=60)
        check(done.returncode, 0, f"{name}: {done.stderr}")
        return prefix, json.loads(done.stdout)

    cu11, cu12, cu13 = ("nvidia-cuda-runtime-cu11==11.8.89", "nvidia-cuda-runtime-cu12==12.6.77",
                        "nvidia-cuda-runtime==13.0.88")
    check(installed("one", cu12)[1], [], "one runtime")
    report = installed("apart", cu12, cu13)[1]
    check([(row["code"], row["severity"]) for row in report], [("CE130", "note")], "two that lie apart")
    prefix, report = installed("together", cu11, cu12)
    check([(row["code"], row["severity"]) for row in report], [("CE130", "warning")], "two in one directory")
    ours, theirs = hashes(prefix, "nvidia_cuda_runtime_cu11"), hashes(prefix, "nvidia_cuda_runtime_cu12")
    contested = {f"{SITE}/{path}" for path in ours.keys() & theirs.keys() if ours[path] != theirs[path]}
    libraries = {f"{SITE}/nvidia/cuda_runtime/lib/libcudart.so.{soname}" for soname in ("11.0", "12")}
    check(set(report[0]["files"]) - libraries, contested - libraries, "the files that both write")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--dump", required=True)
    arguments.add_argument("case", choices=["loader", "abi", "odd", "editable", "wheels"])
    given = arguments.parse_args()
    if given.case != "wheels" and not shutil.which("g++"):
        print("there is no g++")
        return 77
    with tempfile.TemporaryDirectory() as work:
        prefix = Path(work) / "env"
        (prefix / SITE).mkdir(parents=True)
        (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        globals()[f"case_{given.case}"](given.dump, Path(work))
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
