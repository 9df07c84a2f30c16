"""Does conda's part for real: packages made by conda-package-handling, a channel indexed, environments
installed by py-rattler. Runs in a venv that has both; requests come as JSON lines, one answer each.

{"do": "channel", "root": DIR, "packages": [{name, version, build, depends, files: {path: text | {"link": target} |
    {"base64": ...}}, executables: [path], placeholder: TEXT}]}
{"do": "install", "prefix": DIR, "channel": DIR, "cache": DIR, "specs": [...]}    the environment has exactly these then
"""

import asyncio
import base64
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def content_of(value):
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()


def write_package(channel, scratch, package):
    import conda_package_handling.api as handling

    stem = f"{package['name']}-{package['version']}-{package['build']}"
    prefix = scratch / stem
    paths = []
    files = package["files"]
    for file, value in files.items():
        path = prefix / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, dict) and "link" in value:
            path.symlink_to(value["link"])
            target = os.path.normpath(os.path.join(os.path.dirname(file), value["link"]))
            data = content_of(files[target]) if target in files else b""
            paths.append({"_path": file, "path_type": "softlink", "size_in_bytes": len(data), "sha256": sha256(data)})
            continue
        data = content_of(value)
        path.write_bytes(data)
        path.chmod(0o755 if file.startswith("bin/") else 0o644)
        entry = {"_path": file, "path_type": "hardlink", "size_in_bytes": len(data), "sha256": sha256(data)}
        placeholder = package.get("placeholder")
        if placeholder and placeholder.encode() in data:
            entry.update(prefix_placeholder=placeholder, file_mode="binary" if b"\0" in data else "text")
        paths.append(entry)
    info = prefix / "info"
    info.mkdir()
    index = {"name": package["name"], "version": package["version"], "build": package["build"], "build_number": 0,
             "depends": package.get("depends", []), "constrains": [],
             "subdir": "noarch" if package.get("noarch") else "linux-64", "timestamp": 1700000000000, "license": "none"}
    if package.get("noarch"):
        index["noarch"] = "python"
        (info / "link.json").write_text(json.dumps({"noarch": {"type": "python",
                                                               "entry_points": package.get("entry_points", [])},
                                                    "package_metadata_version": 1}))
    else:
        index.update(arch="x86_64", platform="linux")
    (info / "index.json").write_text(json.dumps(index))
    (info / "paths.json").write_text(json.dumps({"paths": paths, "paths_version": 1}))
    (info / "files").write_text("".join(f"{file}\n" for file in files))
    listed = [*files, *(f"info/{file.name}" for file in info.iterdir())]
    handling.create(str(prefix), listed, str(channel / index["subdir"] / f"{stem}.conda"))


async def make_channel(request):
    import rattler.index

    channel = Path(request["root"])
    for subdir in ("linux-64", "noarch"):
        (channel / subdir).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for package in request["packages"]:
            write_package(channel, Path(scratch), package)
    await rattler.index.index_fs(channel, force=True)


async def install(request):
    import rattler

    cache = Path(request["cache"])
    records = []
    if request["specs"]:
        records = await rattler.solve([Path(request["channel"]).as_uri()], request["specs"],
                                      gateway=rattler.Gateway(cache_dir=cache), platforms=["linux-64", "noarch"])
    await rattler.install(records, request["prefix"], cache_dir=cache, show_progress=False)
    meta = Path(request["prefix"]) / "conda-meta"
    meta.mkdir(parents=True, exist_ok=True)
    (meta / "history").touch()


def main():
    loop = asyncio.new_event_loop()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            loop.run_until_complete({"channel": make_channel, "install": install}[request["do"]](request))
            answer = {}
        except Exception as error:  # noqa: BLE001: whatever it is, the client gets it
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    os._exit(0)  # rattler crashes in one of ten ends of an interpreter


main()
