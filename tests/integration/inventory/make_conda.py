"""Makes a conda environment for real: packages built by conda-package-handling, indexed, solved and
installed by py-rattler. Run by test_inventory.py in a venv that has both.

usage: make_conda.py ROOT     makes ROOT/channel and the environment ROOT/env
"""

import asyncio
import base64
import hashlib
import json
import os
import sys
from pathlib import Path

SITE = "lib/python3.11/site-packages"
PLACEHOLDER = "/opt/" + "_placehold" * 12


def digest(data):
    return hashlib.sha256(data).hexdigest()


def python_package(name, version, files, installer="conda\n"):
    """A Python package as conda's are: its dist-info with a RECORD, INSTALLER rewritten after it was made."""
    info = f"{name}-{version}.dist-info"
    whole = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
             "Requires-Dist: idna (>=2.5)\nRequires-Dist: gpu-part ; extra == 'gpu'\n\nText\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: conda-test (1)\nTag: py3-none-any\n\n",
             f"{info}/INSTALLER": "pip\n", f"{info}/REQUESTED": "",
             f"{info}/direct_url.json": json.dumps({"dir_info": {}, "url": "file:///home/conda/feedstock/work"})}
    lines = []
    for path, text in whole.items():
        own = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        quoted = '"' + path.replace('"', '""') + '"' if set(path) & set(',"\n') else path
        lines.append(f"{quoted},sha256={own},{len(text.encode())}\n")
    lines += [f"../../../bin/{name},sha256={'A' * 43},200\n", f"{name}/__pycache__/x.cpython-311.pyc,,\n",
              f"{info}/RECORD,,\n"]
    whole[f"{info}/RECORD"] = "".join(lines)
    whole[f"{info}/INSTALLER"] = installer
    return {f"{SITE}/{path}": text for path, text in whole.items()}


PACKAGES = {
    "six": ("1.15.0", [], python_package("six", "1.15.0", {"six.py": "# conda's\n"})),
    "odd-names": ("1.0", ["six >=1.10"], python_package("odd_names", "1.0", {
        "odd_names/a,b.py": "", 'odd_names/say "hi".txt': "hi\n", "odd_names/gr\u00fc\u00df.py": "x = 1\n"})),
    "tools": ("2.1", ["odd-names", "six"], {
        "bin/tool": f"#!{PLACEHOLDER}/bin/python\n", "lib/libtool.so.1": "ELF, so to speak\n",
        "lib/libtool.so": Path("libtool.so.1"), "share/tools/part,one": "1\n"}),
}


def write_package(channel, scratch, name, version, depends, files):
    import conda_package_handling.api as handling

    prefix = scratch / name
    paths = []
    for file, content in files.items():
        path = prefix / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            path.symlink_to(content)
            data = files[str(Path(file).parent / content)].encode()
            paths.append({"_path": file, "path_type": "softlink", "size_in_bytes": len(data), "sha256": digest(data)})
            continue
        path.write_text(content)
        entry = {"_path": file, "path_type": "hardlink", "size_in_bytes": len(content.encode()),
                 "sha256": digest(content.encode())}
        if PLACEHOLDER in content:
            entry.update(prefix_placeholder=PLACEHOLDER, file_mode="text")
        paths.append(entry)
    (prefix / "info").mkdir()
    (prefix / "info/index.json").write_text(json.dumps({
        "name": name, "version": version, "build": "0", "build_number": 0, "depends": depends, "constrains": [],
        "subdir": "linux-64", "arch": "x86_64", "platform": "linux", "timestamp": 1700000000000, "license": "none"}))
    (prefix / "info/paths.json").write_text(json.dumps({"paths": paths, "paths_version": 1}))
    (prefix / "info/files").write_text("".join(f"{file}\n" for file in files))
    handling.create(str(prefix), [*files, "info/index.json", "info/paths.json", "info/files"],
                    str(channel / f"linux-64/{name}-{version}-0.conda"))


async def make(root):
    import rattler
    import rattler.index

    channel = root / "channel"
    for subdir in ("linux-64", "noarch"):
        (channel / subdir).mkdir(parents=True)
    for name, (version, depends, files) in PACKAGES.items():
        write_package(channel, root / "packages", name, version, depends, files)
    await rattler.index.index_fs(channel)
    gateway = rattler.Gateway(cache_dir=root / "cache")
    records = await rattler.solve([channel.as_uri()], ["tools"], gateway=gateway, platforms=["linux-64", "noarch"])
    await rattler.install(records, root / "env", cache_dir=root / "cache", show_progress=False)
    (root / "env/conda-meta/history").touch()


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1])))
    # rattler's threads may still be at work, and taking the interpreter down under them ends badly.
    os._exit(0)
