"""Builds a conda channel and environments from it, for real: packages made by conda-package-handling,
indexed, solved and installed by py-rattler. Run by environments.py in a venv that has both.

usage: make_conda.py ROOT     makes ROOT/channel and ROOT/conda/NAME, prints nothing
       make_conda.py --activate SHELL PREFIX [CURRENT_PREFIX]
                              the text by which py-rattler activates it in that shell
"""

import asyncio
import hashlib
import json
import os
import sys
from pathlib import Path

PYTHON = {"39": "python3.9", "311": "python3.11"}

# What an activation script of a package does that others have to live with: it keeps
# LD_LIBRARY_PATH as it is at activation and puts that back at deactivation.
SAVER = {
    "activate.d/saver.sh": """\
if [ -n "${LD_LIBRARY_PATH+x}" ]; then export SAVER_LIBRARIES="$LD_LIBRARY_PATH"; fi
export LD_LIBRARY_PATH="$CONDA_PREFIX/lib/saver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
""",
    "deactivate.d/saver.sh": """\
if [ -n "${SAVER_LIBRARIES+x}" ]; then
    export LD_LIBRARY_PATH="$SAVER_LIBRARIES"; unset SAVER_LIBRARIES
else
    unset LD_LIBRARY_PATH
fi
""",
    "activate.d/saver.fish": """\
if set -q LD_LIBRARY_PATH; set -gx SAVER_LIBRARIES "$LD_LIBRARY_PATH"; end
set -gx LD_LIBRARY_PATH $CONDA_PREFIX/lib/saver $LD_LIBRARY_PATH
""",
    "deactivate.d/saver.fish": """\
if set -q SAVER_LIBRARIES
    set -gx LD_LIBRARY_PATH $SAVER_LIBRARIES; set -e SAVER_LIBRARIES
else
    set -e LD_LIBRARY_PATH
end
""",
    "activate.d/saver.csh": """\
if ( $?LD_LIBRARY_PATH ) then
  setenv SAVER_LIBRARIES "$LD_LIBRARY_PATH"
  setenv LD_LIBRARY_PATH "$CONDA_PREFIX/lib/saver:$LD_LIBRARY_PATH"
else
  setenv LD_LIBRARY_PATH "$CONDA_PREFIX/lib/saver"
endif
""",
    "deactivate.d/saver.csh": """\
if ( $?SAVER_LIBRARIES ) then
  setenv LD_LIBRARY_PATH "$SAVER_LIBRARIES"
  unsetenv SAVER_LIBRARIES
else
  unsetenv LD_LIBRARY_PATH
endif
""",
}


def torch_files(version, cuda, python):
    site = f"lib/{PYTHON[python]}/site-packages"
    return {
        f"{site}/torch/__init__.py": "from .version import __version__\n",
        f"{site}/torch/version.py": f"__version__ = '{version}'\ncuda = {cuda!r}\n",
        f"{site}/torch-{version}.dist-info/METADATA":
            f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n",
        f"{site}/torch-{version}.dist-info/INSTALLER": "conda\n",
    }


PACKAGES = [
    ("pytorch", "1.12.1", "py3.9_cuda11.3_cudnn8.3.2_0", ["cudatoolkit >=11.3,<11.4"],
     torch_files("1.12.1", "11.3", "39")),
    ("pytorch", "2.1.0", "py3.11_cuda11.8_cudnn8.7.0_0", ["pytorch-cuda 11.8.*"],
     torch_files("2.1.0", "11.8", "311")),
    ("pytorch-cuda", "11.8", "h7e8668a_5", [], {"share/pytorch-cuda": "11.8\n"}),
    # conda-forge's cudatoolkit: libraries, and no nvcc.
    ("cudatoolkit", "11.3.1", "h9edb442_11", [], {"lib/libcudart.so.11.0": ""}),
    ("saver", "1.0", "0", [], {f"etc/conda/{name}": text for name, text in SAVER.items()}),
    ("tool", "1.0", "0", [], {"bin/tool": "#!/bin/sh\necho tool\n"}),
]
ENVIRONMENTS = {
    "apex": ["pytorch 1.12.1.*"],
    "t118": ["pytorch 2.1.0.*"],
    "saver": ["pytorch 2.1.0.*", "saver"],
    "state": ["cudatoolkit"],
    "bare": ["tool"],
}


def write_package(channel: Path, scratch: Path, name, version, build, depends, files):
    import conda_package_handling.api as handling

    prefix = scratch / f"{name}-{version}-{build}"
    paths = []
    for file, text in files.items():
        path = prefix / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if file.startswith("bin/"):
            path.chmod(0o755)
        paths.append({"_path": file, "path_type": "hardlink", "size_in_bytes": len(text.encode()),
                      "sha256": hashlib.sha256(text.encode()).hexdigest()})
    info = prefix / "info"
    info.mkdir()
    (info / "index.json").write_text(json.dumps({
        "name": name, "version": version, "build": build, "build_number": int(build.rpartition("_")[2]),
        "depends": depends, "constrains": [], "subdir": "linux-64", "arch": "x86_64",
        "platform": "linux", "timestamp": 1700000000000, "license": "none"}))
    (info / "paths.json").write_text(json.dumps({"paths": paths, "paths_version": 1}))
    (info / "files").write_text("".join(f"{file}\n" for file in files))
    listed = [*files, "info/index.json", "info/paths.json", "info/files"]
    handling.create(str(prefix), listed, str(channel / f"linux-64/{name}-{version}-{build}.conda"))


async def make(root: Path):
    import rattler
    import rattler.index

    channel = root / "channel"
    for subdir in ("linux-64", "noarch"):
        (channel / subdir).mkdir(parents=True)
    for package in PACKAGES:
        write_package(channel, root / "packages", *package)
    await rattler.index.index_fs(channel)
    gateway = rattler.Gateway(cache_dir=root / "rattler-cache")
    for name, specs in ENVIRONMENTS.items():
        records = await rattler.solve([channel.as_uri()], specs, gateway=gateway,
                                      platforms=["linux-64", "noarch"])
        await rattler.install(records, root / "conda" / name, cache_dir=root / "rattler-cache",
                              show_progress=False)
        # conda takes a prefix for an environment where there is a history.
        (root / "conda" / name / "conda-meta/history").touch()
    # What `conda env config vars set` writes.
    (root / "conda/state/conda-meta/state").write_text(json.dumps(
        {"version": 1, "env_vars": {"CUDA_HOME": "/opt/of-conda-state", "FROM_STATE": "a b"}}))


def activation(shell, prefix, current=None):
    import rattler.shell

    variables = rattler.shell.ActivationVariables(
        Path(current) if current else None, os.environ["PATH"].split(":"))
    return rattler.shell.activate(Path(prefix), variables, getattr(rattler.shell.Shell, shell)).script


if __name__ == "__main__":
    if sys.argv[1] == "--activate":
        sys.stdout.write(activation(*sys.argv[2:]))
    else:
        asyncio.run(make(Path(sys.argv[1])))
    # rattler's threads may still be at work, and taking the interpreter down under them ends badly.
    sys.stdout.flush()
    os._exit(0)
