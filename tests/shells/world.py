"""What the shells of a test live in, below one root: a home with rc files, toolkits side by side,
environments, projects, and names that are hard on quoting.

The hooked shell and its paired shell run one after the other in the same world, so that no path
differs between them; `reset` puts back what steps have changed.
"""

import base64
import hashlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import driver
import toolkits

# Names of directories; each is a way in which quoting goes wrong. `newline` cannot be typed.
ODD_NAMES = {
    "space": "sp  ace ",
    "quote": "it's \"quoted\"",
    "dollar": "$(touch CUDAENV_WAS_HERE)`touch CUDAENV_WAS_HERE`${HOME}",
    "glob": "gl*b[a-z]?{x,y}~",
    "newline": "new\nline",
    "unicode": "ünï→cødé",
    "backslash": "back\\slash\\n",
    "bang": "wow!42 !! #not;a&comment|<>",
    "dash": "-n",
    "percent": "100%s %d^2",
}

FRAMEWORKS = {  # by the name of the environment: torch's version and the CUDA that it says
    "t113": ("1.12.1+cu113", "11.3"),
    "t118": ("2.1.0+cu118", "11.8"),
    "t124": ("2.5.0+cu124", "12.4"),
    "cpu": ("2.5.0+cpu", None),
}
REAL_TOOLKITS = ["11.8", "12.4"]
STAND_INS = {"11.3": "11.3.109", "12.1": "12.1.105"}  # nvcc of these is in no index that tests use
MAXIMAL_GCC = {"10.2": 8, "11.3": 10, "11.8": 11, "12.0": 12, "12.1": 12, "12.2": 12, "12.4": 13}


def torch_wheel(version, cuda, into: Path):
    """A wheel of `torch` with nothing in it but what says which CUDA it was built with."""
    name = f"torch-{version}-py3-none-any.whl"
    info = f"torch-{version}.dist-info"
    says = f"__version__ = '{version}'\ncuda = {cuda!r}\nhip = None\ngit_version = '0'\ndebug = False\n"
    files = {
        "torch/__init__.py": "from .version import __version__\n",
        "torch/version.py": says,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: cudaenv-tests\nRoot-Is-Purelib: true\n"
                         "Tag: py3-none-any\n",
    }
    record = ""
    with zipfile.ZipFile(into / name, "w") as wheel:
        for path, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
            record += f"{path},sha256={digest.decode()},{len(text)}\n"
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
    return into / name


def stand_in(version, into: Path):
    """A toolkit that answers `nvcc --version` and contains what shows its version and its compilers."""
    short = ".".join(version.split(".")[:2])
    major, minor = (int(part) for part in short.split("."))
    for part in ("bin", "include/crt", "lib64/stubs", "nvvm/libdevice"):
        (into / part).mkdir(parents=True)
    nvcc = into / "bin/nvcc"
    nvcc.write_text("#!/bin/sh\necho 'nvcc: NVIDIA (R) Cuda compiler driver (a stand-in)'\n"
                    f"echo 'Cuda compilation tools, release {short}, V{version}'\n")
    nvcc.chmod(0o755)
    (into / "include/cuda.h").write_text(f"#define CUDA_VERSION {major * 1000 + minor * 10}\n")
    (into / "include/cuda_runtime_api.h").write_text(
        f"#define CUDART_VERSION {major * 1000 + minor * 10}\n")
    (into / "include/crt/host_config.h").write_text(
        f"#if defined(__GNUC__)\n#if __GNUC__ > {MAXIMAL_GCC[short]}\n"
        f"#error -- unsupported GNU version! gcc versions later than {MAXIMAL_GCC[short]} are not "
        "supported!\n#endif\n#endif\n")
    (into / "nvvm/libdevice/libdevice.10.bc").write_bytes(b"BC")
    soname = f"libcudart.so.{f'{major}.0' if major < 12 else major}"
    for name in (soname, "libcudart.so"):
        (into / "lib64" / name).write_bytes(b"")
    if (major, minor) >= (11, 1):
        (into / "version.json").write_text(
            f'{{"cuda": {{"name": "CUDA SDK", "version": "{version}"}},\n'
            f' "cuda_nvcc": {{"name": "CUDA NVCC", "version": "{version}"}}}}\n')
    else:
        (into / "version.txt").write_text(f"CUDA Version {version}\n")
    return into


def toml_string(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class World:
    def __init__(self, root: Path, cudaenv: str, daemon: str, odd=True):
        self.root = Path(os.path.realpath(root))
        self.cudaenv = os.path.realpath(cudaenv)
        self.daemon_program = os.path.realpath(daemon)
        self.home = self.root / "home"
        self.scratch = self.root / "scratch"
        self.runtime = self.root / "run"
        self.config = self.root / "config/cudaenv/config.toml"
        self.notes = []
        for directory in (self.home, self.scratch, self.config.parent, self.root / "bin"):
            directory.mkdir(parents=True)
        self.runtime.mkdir(mode=0o700)
        # As installed: a directory on PATH with the program, found by its plain name.
        (self.root / "bin/cudaenv").symlink_to(self.cudaenv)
        self.program = str(self.root / "bin/cudaenv")
        self.taken_away = {}
        self._make_toolkits(odd)
        self._make_wheels()
        self._make_environments()
        self._make_projects()
        self.write_config()
        for part in ("projects", "envs"):
            self._copy(self.root / part, self.root / "pristine" / part)

    # --- making it

    def _make_toolkits(self, odd):
        place = self.root / "toolkits"
        place.mkdir()
        self.real = {}
        for version in REAL_TOOLKITS:
            try:
                toolkits.put(version, place / f"cuda-{version}")
                self.real[version] = True
            except toolkits.Unavailable as reason:
                self.notes.append(f"CUDA {version} is a stand-in here: {reason}")
                stand_in(f"{version}.0", place / f"cuda-{version}")
        for short, version in STAND_INS.items():
            stand_in(version, place / f"cuda-{short}")
        # What a user sets by hand, and no pin ever chooses.
        for short in ("12.0", "12.1", "12.2"):
            stand_in(f"{short}.1", self.root / f"elsewhere/cuda-{short}")
        self.toolkit_directories = [place]
        if odd:
            # Values that quoting has to carry into the shell, not only names to read.
            hard = self.root / ODD_NAMES["quote"] / ODD_NAMES["bang"] / ODD_NAMES["unicode"]
            hard = hard.parent / (hard.name + ODD_NAMES["backslash"] + " $HOME*")
            stand_in("10.2.89", hard / "cuda-10.2")
            self.toolkit_directories.append(hard)

    def _make_wheels(self):
        self.wheels = self.root / "wheels"
        self.wheels.mkdir()
        for name, (version, cuda) in FRAMEWORKS.items():
            torch_wheel(version, cuda, self.wheels)

    def _venv(self, path: Path):
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        driver.run_quietly([python, "-m", "venv", "--without-pip", str(path)])

    def pip_install(self, environment: Path, name: str):
        """The real pip puts torch of that environment's name into an environment."""
        version, _ = FRAMEWORKS[name]
        driver.run_quietly([sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet",
                            "--python", str(environment / "bin/python"), "install", "--no-index",
                            "--no-deps", "--force-reinstall", "--root-user-action", "ignore",
                            str(self.wheels / f"torch-{version}-py3-none-any.whl")])

    def _make_environments(self):
        envs = self.root / "envs"
        envs.mkdir()
        for name in ["plain", *FRAMEWORKS]:
            self._venv(envs / name)
        for name in FRAMEWORKS:
            self.pip_install(envs / name, name)
        # Those with odd names are entered by hand, as activate of older venv executes what is in its
        # own name.
        for name, odd in ODD_NAMES.items():
            self._copy(envs / "t118", envs / odd)

    def _make_projects(self):
        projects = self.root / "projects"
        for version in ("11.3", "11.8", "12.4"):
            self._pin_file(projects / f"p{version.replace('.', '')}", version)
        (projects / "none/deep").mkdir(parents=True)
        (projects / "p113/deep/er").mkdir(parents=True)
        self._pin_file(projects / "p113/inner", "11.8")
        self._pin_file(projects / "absent", "9.0")
        self._pin_file(projects / "hard", "10.2")
        self._pin_file(projects / "quietlibs", "11.8",
                       '[activate]\nld_library_path = "never"\ncompilers = false\n')
        self._pin_file(projects / "build", "11.8", '[resolve]\nfor = "build"\n')
        (projects / "broken").mkdir()
        (projects / "broken/cudaenv.toml").write_text("[pins\ncuda = 11\n")
        for odd in ODD_NAMES.values():
            self._pin_file(projects / "odd" / odd, "11.8")

    @staticmethod
    def _pin_file(directory: Path, version, more=""):
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "cudaenv.toml").write_text(f'[pins]\ncuda = "{version}"\n{more}')

    def write_config(self, more=""):
        listed = ", ".join(toml_string(str(path)) for path in self.toolkit_directories)
        self.config.write_text(f"[toolkits]\ndirectories = [{listed}]\n{more}")

    @staticmethod
    def _copy(source: Path, destination: Path):
        shutil.copytree(source, destination, symlinks=True)

    # --- what steps do to it

    def environment(self):
        return {
            "HOME": str(self.home),
            "PATH": f"{self.root}/bin:/usr/local/bin:/usr/bin:/bin",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "USER": "somebody",
            "SHELL": "/bin/sh",
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_CACHE_HOME": str(self.root / "cache"),
            "XDG_STATE_HOME": str(self.root / "state"),
            "VIRTUAL_ENV_DISABLE_PROMPT": "1",
            "XONSH_DATA_DIR": str(self.root / "xonsh"),
        }

    def write_rc_files(self, hooked, before=None, after=None):
        driver.write_rc_files(self.home, self.program, hooked, before, after)
        # fish looks below XDG_CONFIG_HOME, and xonsh below it too.
        fish = self.root / "config/fish/config.fish"
        fish.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.home / driver.RC_FILES["fish"], fish)

    def swap_framework(self, environment: str, name: str):
        """What `pip install torch==...` leaves, quickly: pip's own files of another environment."""
        target = self.root / "envs" / environment
        origin = self.root / "pristine/envs" / name
        site = next((target / "lib").glob("python3*")) / "site-packages"
        for old in [*site.glob("torch*")]:
            shutil.rmtree(old)
        fresh = next((origin / "lib").glob("python3*")) / "site-packages"
        for new in fresh.glob("torch*"):
            self._copy(new, site / new.name)

    def take_away(self, version: str):
        path = self.root / f"toolkits/cuda-{version}"
        if path.exists():
            os.rename(path, self.root / f"taken-{version}")

    def bring_back(self, version: str):
        taken = self.root / f"taken-{version}"
        if taken.exists():
            os.rename(taken, self.root / f"toolkits/cuda-{version}")

    def reset(self):
        for taken in self.root.glob("taken-*"):
            self.bring_back(taken.name.removeprefix("taken-"))
        (self.home / "cudaenv.toml").unlink(missing_ok=True)
        for part in ("projects", "envs"):
            self._mirror(self.root / "pristine" / part, self.root / part)
        self.write_config()

    @classmethod
    def _mirror(cls, pristine: Path, live: Path):
        """Puts a tree back as it was; files that are as they were are left, with their times."""
        wanted = {entry.name: entry for entry in os.scandir(pristine)}
        for entry in os.scandir(live):
            if entry.name not in wanted:
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)
        for name, entry in wanted.items():
            target = live / name
            if entry.is_dir(follow_symlinks=False):
                if target.is_dir():
                    cls._mirror(Path(entry.path), target)
                else:
                    cls._copy(Path(entry.path), target)
            elif not os.path.lexists(target):
                shutil.copy2(entry.path, target, follow_symlinks=False)
            elif not entry.is_symlink():
                ours, theirs = os.stat(target), entry.stat()
                if (ours.st_size, ours.st_mtime_ns) != (theirs.st_size, theirs.st_mtime_ns):
                    shutil.copy2(entry.path, target)

    # --- the daemon

    def start_daemon(self):
        """A daemon for the whole test, as an interactive user's first prompt would start it; for
        root, in a container or in CI the client does not by itself."""
        if self.listening():
            return True
        process = subprocess.Popen([self.daemon_program, "--daemon"], env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        end = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < end:
            if self.listening():
                return True
            select.select([], [], [], 0.002)
        return False

    def listening(self):
        """Whether a daemon answers on a socket in this world's runtime directory."""
        for path in self.runtime.glob("cudaenv/*"):
            if path.is_socket():
                with socket.socket(socket.AF_UNIX) as probe:
                    try:
                        probe.connect(str(path))
                        return True
                    except OSError:
                        pass
        return False

    def kill_daemon(self):
        """kill -9, whoever listens in this world's runtime directory."""
        for process in self.daemon_processes():
            os.kill(process, signal.SIGKILL)

    def daemon_processes(self):
        wanted = f"XDG_RUNTIME_DIR={self.runtime}".encode()
        found = []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    command = Path(entry.path, "cmdline").read_bytes().split(b"\0")
                    if b"cudaenvd" in os.path.basename(command[0]) and \
                            wanted in Path(entry.path, "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    pass
        return found

    def close(self):
        self.kill_daemon()
