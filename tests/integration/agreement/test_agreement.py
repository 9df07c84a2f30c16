"""One question, one answer: over a grid of hosts, environments and CUDAs every command gives the same
verdict, the same compiler and the same way to nvcc, byte for byte.

The judgements live in solver/knowledge; a command that judges by itself shows here as a disagreement.
What is so according to NVIDIA's documents stands below as well, so that a wrong judgement that all share
shows too."""

import argparse
import collections
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

CUDAS = ["9.0", "11.3", "11.8", "12.4", "12.6", "13.0"]
DRIVERS = {
    "no-driver": None, "450": ("450.80.02", "11.0"), "470": ("470.199.02", "11.4"),
    "525": ("525.147.05", "12.0"), "550": ("550.54.15", "12.4"), "580": ("580.95.05", "13.0"),
    "cuda-only": (None, "12.2"), "515-version": ("515.43.04", None), "535-version": ("535.54.03", None),
}
# The oldest driver of a family, and of each release; both from the CUDA Toolkit Release Notes.
FLOORS = {11: (450, 80, 2), 12: (525, 60, 13), 13: (580, 65, 6)}
MINIMUMS = {"9.0": (384, 81), "11.3": (465, 19, 1), "11.8": (520, 61, 5), "12.4": (550, 54, 14),
            "12.6": (560, 28, 3), "13.0": (580, 65, 6)}
# The first and the last CUDA whose nvcc and libraries have code for a GPU.
SERVED = {"6.1": ("8.0", "12.9"), "8.6": ("11.0", "99"), "12.0": ("12.8", "99")}
# What NVIDIA calls the installers: the release and its driver, but for old ones the whole address.
RUNFILES = {"9.0": "https://developer.nvidia.com/compute/cuda/9.0/Prod/local_installers/"
                   "cuda_9.0.176_384.81_linux-run", "11.3": "11.3.0_465.19.01", "11.8": "11.8.0_520.61.05", "12.4": "12.4.0_550.54.14",
            "12.6": "12.6.0_560.28.03", "13.0": "13.0.0_580.65.06"}
GPUS = {"none": [], "pascal": ["6.1"], "ampere": ["8.6"], "blackwell": ["12.0"], "two": ["6.1", "8.6"],
        "unnamed": [None]}
# release -> nvcc's version, newest and oldest g++.
TOOLKITS = {"9.0": ("9.0.176", 6, None), "11.3": ("11.3.109", 10, 6), "11.8": ("11.8.89", 11, 6),
            "12.4": ("12.4.131", 13, 6), "13.0": ("13.0.88", 15, 6)}
COMPILERS = {"debian": [("12.2.0", "/usr/bin/g++-12", True), ("9.4.0", "/usr/bin/g++-9", False),
                        ("6.5.0", "/usr/bin/g++-6", False), ("5.5.0", "/usr/bin/g++-5", False)],
             "new": [("15.2.0", "/usr/bin/g++-15", True)],
             "older default": [("13.2.0", "/usr/bin/g++-13", False), ("11.4.0", "/usr/bin/g++-11", True)]}
# What is here of toolkits, compilers and conda: by turns, so that each meets each driver and GPU.
MACHINES = [(["11.3", "12.4", "13.0"], "debian", True), ([], "debian", False),
            (["9.0", "11.8", "12.4"], "debian", True), (["12.4"], "new", False),
            (["12.4", "13.0"], "older default", False)]
ENVIRONMENTS = {
    "none": None,
    "venv": ("venv", "2.7.1+cu126", "12.6"),
    "uv": ("uv", "2.11.0+cu130", "13.0"),
    "cpu": ("venv", "2.8.0+cpu", None),
    "conda": ("conda", "1.12.1", "11.3"),
}


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def expected_state(driver, gpus, cuda):
    """The one word for a CUDA on a host."""
    if driver is None:
        return "unknown"
    version, gives = driver
    wanted = numbers(cuda)
    if gives:
        given = numbers(gives)
        runs = given[0] > wanted[0] or given[0] == wanted[0] and (given >= wanted or wanted[0] >= 11)
        fully = given >= wanted
    else:
        runs = numbers(version) >= FLOORS.get(wanted[0], MINIMUMS[cuda])
        fully = numbers(version) >= MINIMUMS[cuda]
    if not runs:
        return "fails"
    refused = [gpu for gpu in gpus if gpu and not
               numbers(SERVED[gpu][0]) <= wanted <= numbers(SERVED[gpu][1])]
    if refused:
        return "fails" if len(refused) == len(gpus) else "warns"
    return "warns" if not fully else "unknown" if None in gpus else "ok"


def expected_toolkit(cuda, here):
    """Of the same release, else from CUDA 11 on of the same major: nearest below, then above."""
    if cuda in here:
        return cuda
    major, minor = numbers(cuda)
    near = [one for one in here if numbers(one)[0] == major and major >= 11]
    return min(near, key=lambda one: (numbers(one)[1] > minor, abs(numbers(one)[1] - minor)), default=None)


def expected_compiler(release, compilers):
    """The default one where nvcc takes it, else the newest; nvcc 9.0 does not compile with g++ 6."""
    newest = 5 if release == "9.0" else TOOLKITS[release][1]
    oldest = TOOLKITS[release][2] or 0
    fitting = [one for one in compilers if oldest <= int(one[0].split(".")[0]) <= newest]
    return max(fitting, key=lambda one: (one[2], numbers(one[0])), default=(None, None))[1]


def expected_recipe(cuda, prefix):
    kind = ENVIRONMENTS[prefix.name][0] if prefix else None
    if kind == "conda" and numbers(cuda)[0] >= 12:
        return (f"conda install -p {prefix} -c conda-forge cuda-version={cuda} cuda-nvcc cuda-cudart-dev "
                "cuda-nvrtc-dev cuda-nvtx-dev cuda-profiler-api libcublas-dev libcufft-dev libcurand-dev "
                "libcusolver-dev libcusparse-dev")
    if kind == "conda" and numbers(cuda) >= (11, 3):
        packages = "cuda-nvcc cuda-libraries-dev cuda-nvtx" if cuda == "11.8" else "cuda-toolkit"
        return f"conda install -p {prefix} -c nvidia/label/cuda-{cuda}.0 {packages}"
    if kind in ("venv", "uv") and numbers(cuda)[0] >= 13:
        pip = f"{prefix}/bin/python -m pip install" if kind == "venv" else f"uv pip install --python {prefix}"
        return (f"{pip} 'cuda-toolkit[nvcc,cudart,cccl,cublas,cusparse,cusolver,curand,cufft,nvrtc,nvtx]"
                f"=={cuda}.*'")
    address = RUNFILES[cuda] if RUNFILES[cuda].startswith("https:") else (
        "https://developer.download.nvidia.com/compute/cuda/"
        f"{RUNFILES[cuda].split('_')[0]}/local_installers/cuda_{RUNFILES[cuda]}_linux.run")
    return (f"curl -fLO {address} && sh {address.split('/')[-1]} --silent --toolkit "
            f"--toolkitpath=$HOME/cuda-{cuda} && "
            f"cudaenv config set toolkits.directories $HOME/cuda-{cuda}")


def host_of(driver, gpus, machine):
    toolkits, compilers, conda = machine
    facts = {"schema": "cudaenv.host/1", "hostname": "agreement", "glibc": "2.36", "machine": "x86_64",
             "kernel": "6.1.0", "platform": {"wsl": False, "container": None, "jetson": None},
             "gpus": [{"index": i, "name": f"GPU {i}", "uuid": None, "compute_capability": sm,
                       "pci_device": None, "memory_bytes": None, "mig": False, "source": "test"}
                      for i, sm in enumerate(gpus)],
             "toolkits": [{"path": f"/usr/local/cuda-{name}", "version": TOOLKITS[name][0], "nvcc": True,
                           "gcc_max": TOOLKITS[name][1], "gcc_min": TOOLKITS[name][2], "clang_max": None,
                           "cudnn": None, "cudnn_library": None, "nccl": None, "problem": None,
                           "source": "test"} for name in toolkits],
             "compilers": [{"family": "gcc", "version": version, "path": path, "source": "test",
                            "default": default} for version, path, default in COMPILERS[compilers]],
             "conda": [{"kind": "conda", "path": "/opt/miniforge3", "version": "26.7.0"}] if conda else []}
    if driver:
        facts["driver"] = {"version": driver[0], "cuda": driver[1], "kind": "proprietary",
                           "derived": False, "source": "NVML"}
    return facts


def make_environment(root, name, description):
    """A directory with the files that pip and conda leave, and torch's version.py."""
    if description is None:
        return None
    kind, version, cuda = description
    prefix = root / name
    site = prefix / "lib/python3.11/site-packages"
    package = site / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text(f"__version__ = {version!r}\ncuda = {cuda!r}\n")
    (prefix / "bin").mkdir()
    (prefix / "bin/python").symlink_to("/usr/bin/python3")
    if kind == "conda":
        meta = prefix / "conda-meta"
        meta.mkdir()
        (meta / "history").write_text("")
        for record in ({"name": "python", "version": "3.11.7", "build": "h1_0", "depends": [], "files": []},
                       {"name": "pytorch", "version": version, "build": "py3.11_cuda11.3_cudnn8.3.2_0",
                        "depends": ["cudatoolkit >=11.3,<11.4"], "files": [
                            "lib/python3.11/site-packages/torch/__init__.py",
                            "lib/python3.11/site-packages/torch/version.py"]}):
            file = "{name}-{version}-{build}.json".format(**record)
            (meta / file).write_text(json.dumps(record))
        return prefix
    made_by = "uv = 0.9.5\n" if kind == "uv" else ""
    (prefix / "pyvenv.cfg").write_text(f"home = /usr/bin\n{made_by}version = 3.11.7\n")
    info = site / f"torch-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
    (info / "INSTALLER").write_text("uv\n" if kind == "uv" else "pip\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in (
        "torch/__init__.py", "torch/version.py", f"{info.name}/METADATA", f"{info.name}/INSTALLER",
        f"{info.name}/WHEEL", f"{info.name}/RECORD")))
    return prefix


class Daemon:
    """`cudaenvd --stdio` of the test's own."""

    def __init__(self, program, home):
        self.number = 0
        self.home = home
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen([program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment)
        self.send("hello", {"protocol": 1, "build": "agreement", "built": 0})

    def send(self, method, params):
        self.number += 1
        self.process.stdin.write(json.dumps(
            {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode() + b"\n")
        self.process.stdin.flush()
        parts = ""
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"cudaenvd ended during {method}")
            message = json.loads(line)
            if message.get("method") == "part":
                parts += message["params"]["text"]
            elif "id" in message:
                return {"result": json.loads(parts)} if message.get("parts") else message

    def ask(self, method, cwd, prefix, variables, **params):
        if prefix:
            params["prefix"] = str(prefix)
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", **variables}
        answer = self.send(method, {**params, "caller": {
            "cwd": str(cwd), "environment": environment, "is_terminal": False, "columns": 100, "utf8": True,
            "uid": os.getuid()}})
        if "error" in answer:
            return {"error": answer["error"]["data"]["code"], "message": answer["error"]["message"]}
        return answer["result"]["object"]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def command_in(texts):
    """The command that a list of warnings ends with."""
    for text in texts:
        for start in ("conda ", "curl ", "sh cuda_"):
            if ": " + start in text:
                return text[text.index(": " + start) + 2:]
    return None


def answers(daemon, case):
    """What each command says, by question: {question: {command: answer}}; a command that does not say
    is left out."""
    host_file, cwd, prefix, cuda, (driver, gpus, machine) = case
    release = expected_toolkit(cuda, machine[0])
    said = collections.defaultdict(dict)
    host = {"host": str(host_file)}
    chosen = {"CUDAENV_CUDA": cuda}

    toolkits = daemon.ask("toolkits", cwd, None, {}, **host)["toolkits"]
    fits = {toolkit["path"]: toolkit for toolkit in toolkits}
    env = daemon.ask("activate", cwd, prefix, chosen, **host)
    status = daemon.ask("status", cwd, prefix, chosen, **host)
    project = cwd / "pinned"
    project.mkdir(exist_ok=True)
    (project / "cudaenv.toml").unlink(missing_ok=True)
    (project / "cudaenv.toml").write_text("")
    pin_target = {"arguments": [f"cuda={cuda}"], "here": True}
    pin = daemon.ask("pin", project, None, {}, **pin_target, **host) if prefix is None else None

    used = env["toolkit"] and env["toolkit"]["path"]
    said["toolkit"]["expected"] = release and f"/usr/local/cuda-{release}"
    said["toolkit"]["env"] = used
    said["toolkit"]["status"] = status["toolkit"] and status["toolkit"]["path"]
    if used in fits:
        said["verdict of the toolkit"]["toolkits"] = fits[used]["fits"]
        said["verdict of the toolkit"]["status"] = status["toolkit"]["fits"]
        said["word for the toolkit"]["expected"] = expected_state(driver, gpus, release)
        said["word for the toolkit"]["toolkits"] = fits[used]["fits"]["state"]
        said["host compiler"]["expected"] = expected_compiler(release, COMPILERS[machine[1]])
        compilers = [one["path"] for one in fits[used]["compilers_here"] if one["family"] == "gcc"]
        said["host compiler"]["toolkits"] = compilers[0] if compilers else None
        said["host compiler"]["env"] = env["host_compiler"] and env["host_compiler"]["path"]
        said["compiler recipe"]["env"] = command_in(env["warnings"])
        said["compiler recipe"]["status"] = command_in(status["notes"])
    else:
        said["nvcc recipe"]["expected"] = expected_recipe(cuda, prefix)
        said["nvcc recipe"]["env"] = env["remedy"]
        if not any(finding["severity"] == "error" for finding in status["findings"]):
            said["nvcc recipe"]["status"] = status["next"]
    same_release = next((one for one in toolkits if one["version"].startswith(cuda + ".")), None)
    if pin and "error" not in pin:
        state = expected_state(driver, gpus, cuda)
        said["this host can have it"]["expected"] = state != "fails"
        said["this host can have it"]["pin"] = pin["possible"]
        said["word for the host"]["expected"] = state
        said["word for the host"]["pin"] = next(
            line["state"] for line in pin["meaning"]
            if not line["text"].startswith(("toolkit ", "newest ", "no t", "nvcc ")) or
            line["text"].startswith("no driver"))
        texts = [line["text"] for line in pin["meaning"]]
        if same_release:
            said["this host can have it"]["toolkits"] = same_release["fits"]["state"] != "fails"
            said["word for the host"]["toolkits"] = same_release["fits"]["state"]
        if not pin["possible"]:
            said["toolkit of a CUDA that cannot run"]["expected"] = False
            said["toolkit of a CUDA that cannot run"]["pin"] = any(
                "toolkit" in text or "nvcc" in text for text in texts + [pin["next"]])
        elif used:
            said["toolkit"]["pin"] = next(
                (text.split(" ", 1)[1].split(" (")[0] for text in texts if text.startswith("toolkit ")), None)
            said["host compiler"]["pin"] = next(
                ("/usr/bin/" + text.split("compiled with ")[1] for text in texts if "compiled with " in text),
                None)
            said["compiler recipe"]["pin"] = command_in(texts)
        else:
            said["nvcc recipe"]["pin"] = pin["next"]
    resolved(daemon, case, said, same_release, used)
    checked(daemon, case, said)
    return said


def recipe_of(finding):
    """The command of a finding."""
    return finding["fix"] and finding["fix"]["command"]


def resolved(daemon, case, said, same_release, used):
    host_file, cwd, prefix, cuda, _ = case
    answer = daemon.ask("resolve", cwd, prefix, {}, host=str(host_file), cuda=cuda, arguments=["cuda"])
    if "error" in answer:
        return
    codes = {finding["code"]: finding for finding in answer["warnings"] + answer["missing"]}
    if "CE210" in codes and not used:
        said["nvcc recipe"]["resolve"] = recipe_of(codes["CE210"])
    if answer["conflict"] is None:
        said["nvcc is here"]["env"] = used is not None
        said["nvcc is here"]["resolve"] = "CE210" not in codes
    if same_release and same_release["fits"]["state"] != "unknown":
        refused = answer["conflict"] is not None or "CE204" in codes
        fits = same_release["fits"]
        said["driver and GPUs refuse it"]["toolkits"] = fits["state"] == "fails" or "support" in fits["text"]
        said["driver and GPUs refuse it"]["resolve"] = refused
        # What the GPU refuses is said first, in one line.
        if answer["conflict"] is None and fits["state"] != "fails":
            said["machine code only"]["toolkits"] = fits["text"].startswith("machine code only")
            said["machine code only"]["resolve"] = "CE202" in codes


def checked(daemon, case, said):
    """The framework that is installed: the same host, the CUDA of the build."""
    host_file, cwd, prefix, cuda, _ = case
    if prefix is None or ENVIRONMENTS[prefix.name][2] != cuda:
        return
    answer = daemon.ask("check", cwd, prefix, {}, host=str(host_file))
    codes = {finding["code"] for finding in answer["findings"]}
    status = daemon.ask("status", cwd, prefix, {}, host=str(host_file))
    errors = [finding["code"] for finding in status["findings"] if finding["severity"] == "error"]
    said["driver refuses the build"]["status"] = "CE141" in errors
    said["the next step is `cudaenv check`"]["expected"] = bool(errors)
    said["the next step is `cudaenv check`"]["status"] = status["next"].startswith("cudaenv check -p ")
    pin_project = cwd / "build"
    pin_project.mkdir(exist_ok=True)
    (pin_project / "cudaenv.toml").write_text("")
    pin = daemon.ask("pin", pin_project, None, {}, host=str(host_file), arguments=[f"cuda={cuda}"], here=True)
    words = " ".join(line["text"] for line in pin["meaning"])
    said["driver refuses the build"]["check"] = "CE141" in codes
    said["driver refuses the build"]["pin"] = "needs driver" in words or "needs a driver" in words
    if pin["possible"]:
        said["driver gives an older CUDA"]["check"] = "CE142" in codes
        said["driver gives an older CUDA"]["pin"] = "machine code only" in words


def grid(root):
    hosts = {}
    environments = {name: make_environment(root, name, description)
                    for name, description in ENVIRONMENTS.items()}
    turn = itertools.cycle(MACHINES)
    for (driver, version), (gpu, sms) in itertools.product(DRIVERS.items(), GPUS.items()):
        for cuda, environment in itertools.product(CUDAS, environments):
            machine = next(turn)
            key = f"{driver}-{gpu}-{MACHINES.index(machine)}"
            if key not in hosts:
                hosts[key] = root / f"{key}.json"
                hosts[key].write_text(json.dumps(host_of(version, sms, machine)))
            yield f"{key} {environment} CUDA {cuda}", (hosts[key], root, environments[environment], cuda,
                                                              (version, sms, machine))
        next(turn)  # so that the machines move against the CUDAs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cudaenv")
    parser.add_argument("--cudaenvd", required=True)
    parser.add_argument("--most", type=int, default=20, help="disagreements to show")
    parser.add_argument("--without", nargs="*", default=[], help="commands that are not compared")
    parser.add_argument("--only", default="", help="part of a combination's name")
    parser.add_argument("--one-in", type=int, default=1, metavar="N", help="a fixed choice of every Nth combination")
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="agreement-"))
    (root / "home").mkdir()
    combinations = comparisons = 0
    disagreements = collections.Counter()
    compared = collections.Counter()
    try:
        daemon = Daemon(arguments.cudaenvd, root / "home")
        for name, case in grid(root):
            if arguments.only not in name or zlib.crc32(name.encode()) % arguments.one_in:
                continue
            combinations += 1
            for question, by_command in answers(daemon, case).items():
                for command in arguments.without:
                    by_command.pop(command, None)
                if len(by_command) < 2:
                    continue
                comparisons += 1
                compared[question] += 1
                if len({json.dumps(answer, sort_keys=True) for answer in by_command.values()}) > 1:
                    disagreements[question] += 1
                    if sum(disagreements.values()) <= arguments.most:
                        print(f"{name}: {question}")
                        for command, answer in by_command.items():
                            print(f"    {command:10} {answer}")
        daemon.end()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{combinations} combinations, {comparisons} questions compared:")
    for question, count in sorted(compared.items()):
        print(f"    {question}: {count} compared, {disagreements[question]} disagree")
    if not arguments.only:
        assert combinations >= 500, "the grid is too small"
        assert all(compared[question] >= 20 for question in compared), "a question is hardly ever asked"
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
