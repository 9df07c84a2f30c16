"""What bench_busy.py's shells live in, below one root that any user can read: the programs as installed, stand-in
toolkits side by side, environments whose torch says a CUDA, pinned projects; and for each shell a home of its own with
nothing in its caches, state and runtime directories.
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

SHELLS = Path(__file__).resolve().parents[1] / "shells"
sys.path.insert(0, str(SHELLS))
import driver  # noqa: E402
import environments  # noqa: E402
import test_environments  # noqa: E402
import translate  # noqa: E402
import world  # noqa: E402

WANTED = "11.8"  # of every environment and project that is activated
OTHER = "12.4"   # of the project that `switch` leaves
KINDS = ["venv", "conda", "pin", "switch"]
PATH = "/usr/bin:/bin"  # not /usr/local/bin, where a machine may have an nvcc
PYTHON = "python3.11"  # the directory's name in conda's environment; nothing is run of it

# As each tool's documentation has it. direnv has no hook for xonsh.
DIRENV = {"bash": 'eval "$(direnv hook bash)"', "zsh": 'eval "$(direnv hook zsh)"',
          "fish": "direnv hook fish | source", "tcsh": "eval `direnv hook tcsh`"}


def programs(build: Path, into: Path):
    """The programs of a build tree or of an installed prefix, copied to where everybody may run them."""
    places = {"bin/cudaenv": "cli/cudaenv", "libexec/cudaenv/cudaenvd": "daemon/cudaenvd",
              "libexec/cudaenv/cudaenv-probe": "kernels/cudaenv-probe"}
    for installed, built in places.items():
        source = next((build / name for name in (installed, built) if (build / name).is_file()), None)
        if source is None:
            if installed.endswith("probe"):
                continue  # the prompt does not run it
            sys.exit(f"{build} holds neither {installed} nor {built}: build it, or name another with --build")
        target = into / installed
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    return str(into / "bin/cudaenv")


@dataclass
class Home:
    """One shell's own."""
    root: Path
    environment: dict
    start: Path       # the directory that the shell starts in
    before: list      # typed, and waited for, before the activation
    activation: str   # the line


class World:
    """`far`: a directory for OTHER's toolkit in place of the one where the others are."""

    def __init__(self, root: Path, homes: Path, build: Path, packages: int, conda=None, far=None):
        self.root = root
        self.homes = homes
        self.conda = conda
        self.load_conda = {}
        for directory in (root, homes):
            directory.mkdir(mode=0o755)
        self.program = programs(build, root / "prefix")
        self.toolkits = {"11.3": root / "toolkits/cuda-11.3", WANTED: root / f"toolkits/cuda-{WANTED}",
                         OTHER: (far or root / "toolkits") / f"cuda-{OTHER}"}
        wheels = root / "wheels"
        wheels.mkdir()
        for version, toolkit in self.toolkits.items():
            world.stand_in(f"{version}.{109 if version == '11.3' else 0}", toolkit)
            project = root / f"projects/p{version}"
            project.mkdir(parents=True)
            (project / "cudaenv.toml").write_text(f'[pins]\ncuda = "{version}"\n')
            (project / ".envrc").write_text(f"export CUDA_HOME={toolkit}\nPATH_add {toolkit}/bin\n")
            self.wheel = world.torch_wheel(*world.FRAMEWORKS[f"t{version.replace('.', '')}"], wheels)
            self._make_venv(root / f"envs/t{version}", packages)
            self._make_conda(root / f"conda/t{version}", packages)

    def _site(self, site: Path, packages):
        """torch as pip leaves it, and what else an environment of that size has."""
        site.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extractall(site)
        for number in range(packages):
            info = site / f"package_{number}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: package-{number}\nVersion: 1.0\n"
                                           + "x\n" * 999)
            (info / "RECORD").write_text("".join(f"package_{number}/m{i}.py,sha256=x,1\n" for i in range(50)))
            (info / "INSTALLER").write_text("pip\n")

    def _make_venv(self, path: Path, packages):
        driver.run_quietly(["/usr/bin/python3", "-m", "venv", "--without-pip", str(path)])
        self._site(next((path / "lib").glob("python3*")) / "site-packages", packages)

    def _make_conda(self, path: Path, packages):
        meta = path / "conda-meta"
        meta.mkdir(parents=True)
        (path / "bin").mkdir()
        (meta / "history").write_text("")
        for number in range(packages):
            name = f"package-{number}"
            (meta / f"{name}-1.0-0.json").write_text(json.dumps({
                "name": name, "version": "1.0", "build": "0", "build_number": 0, "depends": [], "subdir": "linux-64",
                "channel": "conda-forge", "files": [f"lib/{name}/{i}" for i in range(200)]}))
        self._site(path / f"lib/{PYTHON}/site-packages", packages)

    # --- what a shell needs

    def why_not(self, shell, kind, tool, owner):
        """Why this cannot be measured here; None where it can."""
        if why := driver.missing(shell):
            return why
        if tool == "direnv":
            if not shutil.which("direnv", path=PATH):
                return "direnv is not here (Debian package direnv)"
            if shell not in DIRENV:
                return f"direnv has no hook for {shell}"
        if kind == "conda":
            return self._why_no_conda(shell, owner)
        return None

    def _why_no_conda(self, shell, owner):
        if shell not in self.load_conda:
            try:
                self.load_conda[shell] = self._conda_text(shell)
            except (environments.Unavailable, RuntimeError, OSError) as reason:
                self.load_conda[shell] = None
                self.no_conda = str(reason).splitlines()[-1]
        if not self.load_conda[shell]:
            return f"no conda: {self.no_conda}"
        program = self.conda or environments.tools() / "python"
        try:
            subprocess.run([program, "--version"], capture_output=True, check=True, **owner.of_child())
        except (OSError, subprocess.CalledProcessError):
            return f"{owner.name} cannot run {program}"
        return None

    def _conda_text(self, shell):
        """What `conda init` has the shell read, without the activation of base."""
        if not self.conda:
            if shell not in test_environments.STAND_IN:
                raise environments.Unavailable(f"no conda on PATH or by --conda, and no stand-in in {shell}")
            return test_environments.stand_in(shell)
        name = {"bash": "posix", "zsh": "zsh"}.get(shell, shell)
        home = self.homes / "conda"
        home.mkdir(exist_ok=True)
        (home / ".condarc").write_text("auto_activate: false\n")
        text = driver.run_quietly([self.conda, f"shell.{name}", "hook"],
                                  env={"HOME": str(home), "PATH": PATH, "LANG": "C.UTF-8"})
        if shell == "tcsh":
            # A conda installed by pip does not have the file that its alias names.
            for line in text.splitlines():
                if line.startswith("source ") and line.rstrip('"').endswith("conda.csh"):
                    text += f"\nalias conda '{line}'\n"
        return text

    def of_warm_daemon(self, owner):
        """The directories that all shells with a warm daemon share."""
        root = self.homes / f"warm-{owner.name}"
        places = {"XDG_RUNTIME_DIR": root / "run", "XDG_STATE_HOME": root / "state"}
        if not root.exists():
            for place in [root, *places.values()]:
                place.mkdir(mode=0o700)
                os.chown(place, owner.uid, owner.gid)
        return {name: str(place) for name, place in places.items()}

    @contextlib.contextmanager
    def warm_daemon(self, owner):
        """A daemon that listens, and knows this machine."""
        def ask(*words):
            subprocess.run([self.program, *words], capture_output=True, check=True, **owner.of_child(),
                           env={"HOME": str(self.homes), "PATH": PATH, **self.of_warm_daemon(owner)})

        ask("daemon", "start")
        try:
            ask("host")
            yield
        finally:
            ask("daemon", "stop")

    def right(self, version):
        """What the typed line has to see: the release and CUDA_HOME."""
        return version, str(self.toolkits[version])

    def home(self, shell, kind, tool, daemon, owner, version=WANTED):
        """A home for one shell, its owner's, with nothing remembered in it."""
        root = Path(tempfile.mkdtemp(dir=self.homes))
        root.chmod(0o755)
        for name in ("home", "run", "config/cudaenv", "config/fish", "cache", "state", "data", "scratch"):
            (root / name).mkdir(parents=True)
        listed = ", ".join(sorted({world.toml_string(str(path.parent)) for path in self.toolkits.values()}))
        (root / "config/cudaenv/config.toml").write_text(f"[toolkits]\ndirectories = [{listed}]\n")
        environment = {
            "HOME": str(root / "home"), "PATH": PATH, "TERM": "dumb", "LANG": "C.UTF-8", "SHELL": "/bin/sh",
            "USER": owner.name, "LOGNAME": owner.name, "XDG_RUNTIME_DIR": str(root / "run"),
            "XDG_CONFIG_HOME": str(root / "config"), "XDG_CACHE_HOME": str(root / "cache"),
            "XDG_STATE_HOME": str(root / "state"), "XDG_DATA_HOME": str(root / "data"),
            "XONSH_DATA_DIR": str(root / "xonsh"), "VIRTUAL_ENV_DISABLE_PROMPT": "1", "DIRENV_LOG_FORMAT": "",
        }
        # In a container, and for root, none starts by itself.
        environment |= {"CUDAENV_NO_DAEMON": "1"} if daemon == "no" else {"CUDAENV_START_DAEMON": "1"}
        if daemon == "warm":
            environment |= self.of_warm_daemon(owner)
        before = ""
        if kind == "conda":
            load = root / f"scratch/conda{'.xsh' if shell == 'xonsh' else ''}"
            load.write_text(self.load_conda[shell])
            before = f"{driver.SOURCE[shell]} {load}\n"
        elif kind == "venv" and shell == "xonsh":
            before = "xontrib load vox\n"
        after = DIRENV[shell] + "\n" if tool == "direnv" else ""
        driver.write_rc_files(root / "home", self.program, tool == "cudaenv", {shell: before}, {shell: after})
        shutil.copyfile(root / "home" / driver.RC_FILES["fish"], root / "config/fish/config.fish")
        for folder, folders, files in os.walk(root):
            for name in [".", *folders, *files]:
                os.chown(os.path.join(folder, name), owner.uid, owner.gid)
        (root / "run").chmod(0o700)
        if tool == "direnv":
            for name in (WANTED, OTHER):
                subprocess.run(["direnv", "allow", str(self.root / f"projects/p{name}")], env=environment, check=True,
                               capture_output=True, **owner.of_child())
        words = translate.WORDS[shell]
        project = f"cd {self.root}/projects/p{version}"
        line = {"venv": words.activate(f"{self.root}/envs/t{version}"), "pin": project, "switch": project,
                "conda": f"conda activate {self.root}/conda/t{version}"}[kind]
        first = [f"cd {self.root}/projects/p{OTHER}"] if kind == "switch" else []
        return Home(root, environment, root / "home", first, line)
