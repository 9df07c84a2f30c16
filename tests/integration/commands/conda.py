"""Just enough of conda for its scripts' sake: the same statements in the same order as `conda
shell.SHELL activate` prints them (deactivate scripts, unset, exports with a PATH that was computed
before, activate scripts; on the last deactivate PATH comes first), and the shell functions around it.

usage: conda.py SHELL activate PREFIX | deactivate | reactivate
"""

import os
import shlex
import sys
from pathlib import Path

FUNCTIONS = {
    "sh": """
conda() {
    case "${1-}" in
    activate | deactivate)
        __ask=$(@COMMAND@ sh "$@") || return $?
        eval "$__ask" ;;
    install)
        __ask=$(@COMMAND@ sh reactivate) || return $?
        eval "$__ask" ;;
    fail) return 3 ;;
    *) echo "plain $*" ;;
    esac
}
""",
    "fish": """
function conda
    switch "$argv[1]"
        case activate deactivate
            eval (@COMMAND@ fish $argv | string collect)
        case install
            eval (@COMMAND@ fish reactivate | string collect)
        case fail
            return 3
        case '*'
            echo plain $argv
    end
end
""",
    # An alias, as conda's is; the scripts are files.
    "csh": """
set __conda=(@COMMAND@)
alias conda '$__conda:q csh \\!* >! @SCRATCH@; source @SCRATCH@'
""",
}
EXTENSION = {"sh": "sh", "fish": "fish", "csh": "csh"}


def quote(shell, text):
    if shell == "fish":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return shlex.quote(text)


def export(shell, name, value):
    if shell == "fish" and name == "PATH":
        return "set -gx PATH " + " ".join(quote(shell, entry) for entry in value.split(":"))
    return {"sh": f"export {name}={quote(shell, value)}",
            "fish": f"set -gx {name} {quote(shell, value)}",
            "csh": f"setenv {name} {quote(shell, value)}"}[shell]


def unset(shell, name):
    return {"sh": f"unset {name}", "fish": f"set -e {name}", "csh": f"unsetenv {name}"}[shell]


def scripts(shell, prefix, folder):
    found = sorted(Path(prefix, "etc/conda", folder).glob(f"*.{EXTENSION[shell]}"),
                   reverse=folder == "deactivate.d")
    word = "." if shell == "sh" else "source"
    return [f"{word} {quote(shell, str(script))}" for script in found]


def without(path, prefix):
    return [entry for entry in path if entry != f"{prefix}/bin"]


def replaced(path, old, new):
    """`new` where `old` was; conda puts it first where old is not there."""
    entry = f"{old}/bin"
    at = path.index(entry) if entry in path else 0
    rest = without(path, old)
    return rest[:at] + [f"{new}/bin"] + rest[at:]


def statements(shell, words, env):
    level = int(env.get("CONDA_SHLVL", "0") or 0)
    path = env["PATH"].split(":")
    old = env.get("CONDA_PREFIX", "")
    set_ = lambda name, value: export(shell, name, str(value))
    if words[0] == "install" or words == ["activate", old]:
        words = ["reactivate"]
    if words[0] == "reactivate":
        return [*scripts(shell, old, "deactivate.d"),
                set_("PATH", ":".join(replaced(path, old, old))),
                *scripts(shell, old, "activate.d")] if old else []
    if words[0] == "activate":
        new = words[1]
        after = [f"{new}/bin", *path] if level == 0 else replaced(path, old, new)
        return [*(scripts(shell, old, "deactivate.d") if level else []),
                set_("PATH", ":".join(after)), set_("CONDA_PREFIX", new),
                set_("CONDA_SHLVL", level + 1),
                *([set_(f"CONDA_PREFIX_{level}", old)] if level else []),
                *scripts(shell, new, "activate.d")]
    if level < 1:
        return []
    if level == 1:
        return [set_("PATH", ":".join(without(path, old))),
                *scripts(shell, old, "deactivate.d"), unset(shell, "CONDA_PREFIX"),
                set_("CONDA_SHLVL", 0)]
    back = env[f"CONDA_PREFIX_{level - 1}"]
    return [*scripts(shell, old, "deactivate.d"), unset(shell, f"CONDA_PREFIX_{level - 1}"),
            set_("PATH", ":".join(replaced(path, old, back))), set_("CONDA_PREFIX", back),
            set_("CONDA_SHLVL", level - 1), *scripts(shell, back, "activate.d")]


if __name__ == "__main__":
    separator = ";\n" if sys.argv[1] == "fish" else "\n"
    print(separator.join(statements(sys.argv[1], sys.argv[2:], dict(os.environ))))
