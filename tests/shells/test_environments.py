#!/usr/bin/env python3
"""Real environments in one real shell: uv's venvs, and conda's made by py-rattler from a channel built
here, activated by conda, mamba and micromamba where they are on PATH.

usage: test_environments.py --shell SHELL --cudaenv FILE --cudaenvd FILE [--only TEXT]
Status 77: the shell is not here, or PyPI cannot be reached.
"""

import os
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import driver
import environments
import play
import scene

# conda's function, in small: py-rattler's activation, the environment's own deactivate.d.
STAND_IN = {
    "bash": """\
conda() {
    case ${1-} in
        activate)
            [ -d "$2/conda-meta" ] || return 1
            __stand_in_text="$(@PYTHON@ @MAKE@ --activate @SHELL@ "$2" ${CONDA_PREFIX:+"$CONDA_PREFIX"})" || return
            eval "$__stand_in_text" ;;
        deactivate)
            [ -n "${CONDA_PREFIX:-}" ] || return 0
            for __stand_in_text in "$CONDA_PREFIX"/etc/conda/deactivate.d/saver.sh; do
                if [ -e "$__stand_in_text" ]; then . "$__stand_in_text"; fi
            done
            if [ -e "$CONDA_PREFIX/conda-meta/state" ]; then unset CUDA_HOME FROM_STATE; fi
            __stand_in_text=":$PATH:"
            __stand_in_text="${__stand_in_text//":$CONDA_PREFIX/bin:"/:}"
            __stand_in_text="${__stand_in_text#:}"
            export PATH="${__stand_in_text%:}"
            unset CONDA_PREFIX CONDA_SHLVL ;;
    esac
}
""",
    "fish": """\
function conda
    switch "$argv[1]"
        case activate
            test -d "$argv[2]/conda-meta"; or return 1
            @PYTHON@ @MAKE@ --activate fish "$argv[2]" $CONDA_PREFIX | source
        case deactivate
            set -q CONDA_PREFIX; or return 0
            if test -e "$CONDA_PREFIX/etc/conda/deactivate.d/saver.fish"
                source "$CONDA_PREFIX/etc/conda/deactivate.d/saver.fish"
            end
            if test -e "$CONDA_PREFIX/conda-meta/state"
                set -e CUDA_HOME; set -e FROM_STATE
            end
            set -gx PATH (string match --invert -- "$CONDA_PREFIX/bin" $PATH)
            set -e CONDA_PREFIX; set -e CONDA_SHLVL
    end
end
""",
}
STAND_IN["zsh"] = STAND_IN["bash"]

# How each real tool is loaded into each shell, as its own documentation has it.
LOAD = {
    "conda": {"bash": 'eval "$(@ shell.bash hook)"', "zsh": 'eval "$(@ shell.zsh hook)"',
              "fish": "@ shell.fish hook | source", "xonsh": "execx($(@ shell.xonsh hook))",
              "tcsh": "source `@ info --base`/etc/profile.d/conda.csh"},
    "micromamba": {"bash": 'eval "$(@ shell hook --shell bash)"',
                   "zsh": 'eval "$(@ shell hook --shell zsh)"',
                   "fish": "@ shell hook --shell fish | source",
                   # The script for xonsh takes these two from what `shell init` writes before it.
                   "xonsh": "$MAMBA_EXE = '@'; $MAMBA_ROOT_PREFIX = $HOME + '/mamba'\n"
                            "execx($(@ shell hook --shell xonsh))",
                   "tcsh": "@ shell hook --shell tcsh >! $HOME/.mamba-hook; source $HOME/.mamba-hook"},
}
LOAD["mamba"] = LOAD["micromamba"]


def stand_in(shell):
    text = STAND_IN[shell]
    for name, value in {"@PYTHON@": str(environments.tools() / "python"), "@SHELL@": shell,
                        "@MAKE@": str(environments.MAKE_CONDA)}.items():
        text = text.replace(name, shlex.quote(value))
    return text


def why_not(world, shell, tool, before):
    """What keeps a tool from activating an environment in this shell where there is no hook of ours;
    None where it does. Some bring scripts that do not work, or lack one."""
    world.reset()
    world.write_rc_files(False, before)
    wanted = str(world.root / "conda/t118").encode()
    try:
        with play.Play(world, shell, False) as plain:
            plain.type(f"{tool} activate {os.fsdecode(wanted)}")
            if plain.shell.environment().get(b"CONDA_PREFIX") == wanted:
                plain.type(f"{tool} deactivate")
                if plain.shell.environment().get(b"CONDA_PREFIX") != wanted:
                    return None
                return f"`{tool} deactivate` leaves nothing"
            return f"`{tool} activate` activates nothing: " + " ".join(plain.heard.split())[-300:]
    except driver.Died as died:
        return " ".join(str(died).split())[-300:]


def filled(steps, values):
    def fill(text):
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    return [fill(step) if isinstance(step, str) else
            {shell: fill(text) for shell, text in step.items()} for step in steps]


def main():
    parser = scene.arguments(__doc__)
    parser.add_argument("--only", help="scenarios with this text in their name")
    options = parser.parse_args()
    if why := driver.missing(options.shell):
        scene.skip(why)
    try:
        environments.tools()
    except environments.Unavailable as reason:
        scene.skip(f"uv and py-rattler come from PyPI: {reason}")
    lists = tomllib.loads(Path(__file__).with_name("environments.toml").read_text())
    played = failed = 0

    def run(world, label, scenario, before=None, values=None):
        nonlocal played, failed
        if options.shell not in scenario.get("shells", driver.SHELLS) or \
                options.only and options.only not in scenario["name"]:
            return
        try:
            failure, _ = play.play_pair(world, options.shell, filled(scenario["steps"], values or {}),
                                        before=before)
        except play.Skip as reason:
            print(f"skipped: {reason}")
            return
        played += 1
        if failure:
            failed += 1
            print(f"FAILED: {options.shell}, {label}: {scenario['name']}\n    {failure}")

    with scene.prepared(options, odd=False) as world:
        environments.make_uv_environment(world.root / "envs/uv118",
                                         next(world.wheels.glob("torch-2.1.0+cu118*")), world.root)
        world._copy(world.root / "envs/uv118", world.root / "pristine/envs/uv118")
        environments.make_conda_environments(world.root)
        if options.shell != "xonsh":  # uv has no script for it
            for scenario in lists["uv"]:
                run(world, "uv", scenario)
        tools = []
        for tool in ("conda", "mamba", "micromamba"):
            if program := shutil.which(tool):
                tools.append((tool, LOAD[tool][options.shell].replace("@", program), False))
            else:
                print(f"skipped: {tool} is not on PATH: its own activation was not tried")
        if options.shell in STAND_IN and "conda" not in [name for name, *_ in tools]:
            tools.append(("conda", stand_in(options.shell), True))
        for tool, load, is_stand_in in tools:
            label = "conda's stand-in" if is_stand_in else tool
            ending = ".xsh" if options.shell == "xonsh" else ""
            loader = world.root / (f"load-{label.replace(' ', '-')}".replace("'", "") + ending)
            loader.write_text(load + "\n")
            text = f"{driver.SOURCE[options.shell]} {loader}"
            before = {options.shell: text + "\n"}
            if why := why_not(world, options.shell, tool, before):
                print(f"skipped: {label} in {options.shell}, without cudaenv as well: {why}")
                continue
            values = {"tool": tool, "conda": str(world.root / "conda"), "again": text, "load": text,
                      "typed": load}
            world.write_config()
            for scenario in lists["conda"]:
                if not (is_stand_in and scenario.get("real")):
                    run(world, label, scenario, None if scenario.get("late") else before, values)
    print(f"{options.shell}: {played} scenarios with real environments, {failed} failed")
    if not played:
        scene.skip(f"nothing here activates an environment in {options.shell}: uv has no script for it, "
                   "and neither conda, mamba nor micromamba is on PATH")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
