#!/usr/bin/env python3
"""Checks that includes follow docs/architecture.md: arrows inwards, third-party headers only in their
adapters, and nothing of the world outside in the pure folders.

usage: check_arrows.py ROOT          every breach as "file:line: what", status 1 if there is one
       check_arrows.py --self-test   the checker against trees with one known breach each
"""

import pathlib
import re
import sys
import tempfile

# folder -> folders it may include from, besides itself; "host/" is host and every room in it. The longest folder
# that a path begins with is the one it belongs to.
ARROWS = {
    "base": [],
    "data": [],
    "protocol": ["base"],
    "solver/specs": ["base"],
    "solver/facts": ["base", "solver/specs"],
    "solver/knowledge": ["base", "data", "solver/specs", "solver/facts"],
    "solver/solv": ["base", "solver/specs"],
    "solver/pins": ["base", "solver/facts"],
    "solver/inputs": ["base", "solver/specs", "solver/pins"],
    "solver/resolve": ["base", "solver/specs", "solver/facts", "solver/knowledge", "solver/solv", "solver/pins"],
    "shellhooks/patch": ["base"],
    "shellhooks/activation": ["base", "solver/facts", "solver/knowledge", "solver/pins", "shellhooks/patch"],
    "shellhooks/hooks": ["base", "shellhooks/patch"],
    "host": ["base", "solver/facts", "solver/knowledge"],
    "host/channels": ["base", "solver/specs", "solver/resolve"],
    "host/environments": ["base", "solver/specs", "solver/facts", "solver/knowledge", "host"],
    "host/names": ["base", "host", "host/trusted"],
    "host/observed": ["base", "host"],
    "host/probe": ["base", "solver/facts", "solver/knowledge", "host", "host/environments"],
    "host/project": ["base", "solver/pins", "host", "host/trusted"],
    "host/trusted": ["base", "solver/pins"],
    "host/watch": ["base", "host"],
    "check/rules": ["base", "solver/specs", "solver/facts", "solver/knowledge", "solver/pins"],
    "check/inventory": ["base", "solver/specs", "solver/facts", "host", "host/environments", "check/rules"],
    "check/extensions": ["base", "solver/specs", "solver/facts", "host", "check/rules"],
    "check/memory": ["base", "solver/facts"],
    "check/repair": ["base", "solver/facts", "solver/pins", "host", "host/trusted", "check/rules", "check/inventory"],
    "kernels": ["base", "solver/facts", "kernels/ptx", "kernels/rungs"],
    "kernels/ptx": ["base"],
    "kernels/rungs": ["base", "solver/facts", "kernels", "kernels/ptx"],
    "kernels/judge": ["base", "solver/facts", "solver/knowledge"],
    "daemon": ["base", "protocol", "data", "solver/", "shellhooks/", "check/", "host/", "kernels/judge"],
    "cli": ["base", "protocol", "solver/pins", "solver/facts", "shellhooks/patch", "shellhooks/hooks"],
}

# third-party library -> paths (prefixes) that may include it.
ADAPTERS = {
    "tl": ["base/"],
    "fmt": ["solver/resolve/", "shellhooks/activation/", "check/", "host/", "daemon/", "cli/", "kernels/"],
    "nlohmann": ["base/json_bytes.", "base/json_members.", "base/private_store.", "protocol/", "solver/facts/", "solver/specs/oracle.cpp", "solver/resolve/outcome_json.",
                 "shellhooks/patch/direnv_diff.cpp", "check/", "host/", "kernels/", "daemon/", "cli/"],
    "toml++": ["solver/pins/toml_document.cpp"],
    "re2": ["solver/specs/pattern.cpp"],
    "yaml": ["base/yaml_document.cpp"],
    "solv": ["solver/solv/engine.cpp"],
    "simdjson": ["solver/knowledge/table.cpp", "check/inventory/conda_meta.cpp"],
    "openssl": ["check/inventory/sha256_file.cpp"],
    "zstd": ["host/channels/repodata_file.cpp"],
    "zlib": ["shellhooks/patch/direnv_diff.cpp"],
    "libelf": ["check/extensions/elf_file.cpp"],
    "boost": ["daemon/"],
    "catch2": [],
}

# Values in, values out: no clock, file, environment, process or network in here.
PURE = ["solver/", "protocol/", "shellhooks/", "check/rules/", "kernels/judge/"]
IMPURE_HEADER = re.compile(
    r"(fstream|iostream|filesystem|thread|random|ctime|cstdio|unistd\.h|fcntl\.h|dlfcn\.h|netdb\.h|"
    r"poll\.h|spawn\.h|sys/.*|netinet/.*|arpa/.*)$")
IMPURE_CALL = re.compile(r"\b(secure_)?getenv\s*\(|_clock::now\s*\(|\bstd::time\s*\(|\bsystem\s*\(")
LITERAL = re.compile(r'"(\\.|[^"\\])*"')
QUOTED = re.compile(r'\s*#\s*include\s+"([^"]+)"')
ANGLED = re.compile(r"\s*#\s*include\s+<([^>]+)>")


def folder_of(path):
    """The architectural folder of a path such as solver/resolve/request.hpp, or None."""
    found = [folder for folder in ARROWS if path.startswith(folder + "/")]
    return max(found, key=len) if found else None


def may_include(folder, target):
    return any(target == allowed or allowed.endswith("/") and f"{target}/".startswith(allowed)
               for allowed in ARROWS[folder])


def library_of(header):
    if header in ("simdjson.h", "yaml.h", "zlib.h", "zstd.h"):
        return header[:-2]
    if header in ("gelf.h", "libelf.h"):
        return "libelf"
    first = header.split("/")[0]
    return first if "/" in header and first in ADAPTERS else None


def breaches_of_line(path, line):
    folder = folder_of(path)
    pure = any(path.startswith(prefix) for prefix in PURE)
    quoted = QUOTED.match(line)
    if quoted:
        target = folder_of(quoted.group(1))
        if target is None:
            # data/ and the like generate headers; what is not of the tree is written in <>.
            yield f'"{quoted.group(1)}" is in no folder of the architecture (includes start at the root)'
        elif target != folder and not may_include(folder, target):
            yield f"{folder} may not include from {target}"
        return
    angled = ANGLED.match(line)
    if angled:
        library = library_of(angled.group(1))
        if library and not any(path.startswith(place) for place in ADAPTERS[library]):
            places = ", ".join(ADAPTERS[library]) or "tests only"
            yield f"<{angled.group(1)}> belongs to: {places}"
        if pure and IMPURE_HEADER.match(angled.group(1)):
            yield f"<{angled.group(1)}> in a pure folder: the caller brings what is outside, as a value"
        return
    if pure and IMPURE_CALL.search(LITERAL.sub('""', line).split("//")[0]):
        yield "a pure folder asks the clock, the environment or the shell: take it as a value"


def check(root):
    root = pathlib.Path(root)
    breaches = []
    seen = 0
    for folder in sorted({name.split("/")[0] for name in ARROWS}):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".h", ".cu"):
                continue
            path = file.relative_to(root).as_posix()
            seen += 1
            if folder_of(path) is None:
                breaches.append(f"{path}:1: lies in no folder of the architecture")
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                breaches += [f"{path}:{number}: {what}" for what in breaches_of_line(path, line)]
    return breaches, seen


def self_test():
    cases = [  # (path, line, is it a breach)
        ("base/a.hpp", '#include "protocol/frame.hpp"', True),
        ("solver/specs/a.cpp", '#include "solver/resolve/request.hpp"', True),
        ("solver/resolve/a.cpp", '#include "solver/specs/version.hpp"', False),
        ("solver/resolve/a.cpp", '#include "host/process.hpp"', True),
        ("cli/a.cpp", '#include "daemon/service.hpp"', True),
        ("cli/a.cpp", '#include "protocol/frame.hpp"', False),
        ("solver/resolve/a.cpp", "#include <solv/pool.h>", True),
        ("solver/solv/engine.cpp", "#include <solv/pool.h>", False),
        ("solver/specs/a.cpp", "#include <fstream>", True),
        ("host/a.cpp", "#include <fstream>", False),
        ("protocol/a.cpp", "auto now = std::chrono::steady_clock::now();", True),
        ("shellhooks/a.cpp", 'const char* home = std::getenv("HOME");', True),
        ("solver/resolve/a.cpp", "// getenv() is not called here", False),
        ("solver/resolve/a.cpp", 'say("a newer system (glibc)");', False),
        ("cli/render/a.cpp", '#include "render.hpp"', True),
        ("daemon/a.hpp", "#include <boost/asio/awaitable.hpp>", False),
        ("host/a.cpp", "#include <boost/asio/awaitable.hpp>", True),
        ("base/a.cpp", "#include <catch2/catch_all.hpp>", True),
    ]
    wrong = 0
    for path, line, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True)
            file.write_text(line + "\n")
            breaches, _ = check(root)
        if bool(breaches) != expected:
            wrong += 1
            print(f"{path}: {line}: expected {'a breach' if expected else 'none'}, got {breaches}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    breaches, seen = check(sys.argv[1])
    if seen == 0:
        print(f"{sys.argv[1]} holds no source files", file=sys.stderr)
        return 2
    print("\n".join(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
