#!/usr/bin/env python3
"""Prompt frameworks and terminals' shell integrations, sourced for real, before and after cudaenv's
hook: the right CUDA at the first command, `$?` kept, the prompt as it would be, nothing printed at the
start, no question at an unchanged prompt, an exact undo.

usage: test_frameworks.py --cudaenv FILE --cudaenvd FILE [--only TEXT]

None of their code is in this repository. Debian's packages (zsh-autosuggestions, zsh-syntax-highlighting,
tmux, bsdutils) run as they are installed. The others come from CUDAENV_SHELL_FRAMEWORKS=DIR, a directory
with one checkout each; what is missing is skipped by name:

  powerlevel10k   github.com/romkatv/powerlevel10k
  ohmyzsh         github.com/ohmyzsh/ohmyzsh
  prezto          github.com/sorin-ionescu/prezto (the submodules are not needed)
  kitty           github.com/kovidgoyal/kitty (shell-integration/)
  wezterm         github.com/wezterm/wezterm (assets/shell-integration/)
  vscode          github.com/microsoft/vscode (src/vs/workbench/contrib/terminal/common/scripts/)
  jetbrains       github.com/JetBrains/intellij-community (plugins/terminal/resources/shell-integrations/)
  fish-conda      github.com/lewisacidic/fish-conda, as fisher installs it
  starship        the program itself, DIR/starship/starship
"""

import os
import sys
import time
from pathlib import Path

import driver
import play
import scene

DIRECTORY = os.environ.get("CUDAENV_SHELL_FRAMEWORKS", "")

# zsh's line editor is what these are about; the marker then comes from a function at the prompt, since
# the editor expands PS1 more than once.
EDITOR = "setopt zle prompt_cr prompt_sp\nPS1='%% '\n"
MARKS = """
__driver_marks() { local result=$?; print -rn -- "<<TOKEN;$$;$((__driver_count += 1));$result>>"; }
precmd_functions+=(__driver_marks)
"""
COLOURS = {"TERM": "xterm-256color"}

# For each shell: the text around the hook; `end` comes last wherever the hook stands. `needs` is a file
# below DIR, or an absolute path and its Debian package.
FRAMEWORKS = {
    "zsh-syntax-highlighting and zsh-autosuggestions": {
        "needs": ("/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh",
                  "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"),
        "debian": "zsh-autosuggestions zsh-syntax-highlighting", "extra": COLOURS,
        "zsh": ". /usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh\n"
               ". /usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh\n",
        "editor": True,
    },
    "powerlevel10k": {
        "needs": ("powerlevel10k/powerlevel10k.zsh-theme",), "extra": COLOURS, "editor": True,
        "starts": 2,  # the first writes the instant prompt that the second shows
        "active": True,
        "first": 'if [[ -r "$XDG_CACHE_HOME/p10k-instant-prompt-${(%):-%n}.zsh" ]]; then\n'
                 '  source "$XDG_CACHE_HOME/p10k-instant-prompt-${(%):-%n}.zsh"\nfi\n',
        "zsh": "POWERLEVEL9K_DISABLE_GITSTATUS=true POWERLEVEL9K_DISABLE_CONFIGURATION_WIZARD=true\n"
               "POWERLEVEL9K_INSTANT_PROMPT=verbose\n"
               "POWERLEVEL9K_LEFT_PROMPT_ELEMENTS=(dir prompt_char)\n"
               "POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS=()\n"
               ". {dir}/powerlevel10k/powerlevel10k.zsh-theme\n",
        # What precmd functions print at the first prompt is what it warns of.
        "end": {"zsh": """
precmd_functions=(${precmd_functions:#__driver_marks} __driver_notes)
__driver_notes() { __driver_result=$?; }
__driver_marks() { print -rn -- "<<TOKEN;$$;$((__driver_count += 1));$__driver_result>>"; }
autoload -Uz add-zle-hook-widget
add-zle-hook-widget line-init __driver_marks
"""},
    },
    "oh-my-zsh": {
        "needs": ("ohmyzsh/oh-my-zsh.sh",), "extra": COLOURS, "editor": True,
        "zsh": "ZSH={dir}/ohmyzsh ZSH_THEME=robbyrussell DISABLE_AUTO_UPDATE=true ZSH_DISABLE_COMPFIX=true\n"
               "plugins=(git virtualenv)\n. $ZSH/oh-my-zsh.sh\n",
    },
    "prezto": {
        "needs": ("prezto/init.zsh",), "extra": COLOURS, "editor": True,
        "zsh": "[[ -e ~/.zprezto ]] || ln -s {dir}/prezto ~/.zprezto\n"
               "zstyle ':prezto:load' pmodule environment terminal editor history directory spectrum "
               "utility completion python prompt\n"
               "zstyle ':prezto:module:prompt' theme minimal\n. ~/.zprezto/init.zsh\n",
    },
    "starship": {
        "needs": ("starship/starship",), "extra": COLOURS,
        "bash": 'eval "$({dir}/starship/starship init bash --print-full-init)"\n',
        "zsh": 'eval "$({dir}/starship/starship init zsh --print-full-init)"\n',
        "fish": "{dir}/starship/starship init fish --print-full-init | source\n",
        "editor": True,
        # It writes PS1 again at each prompt.
        "end": {"bash": "__driver_marks() { printf '<<TOKEN;%s;%s;%s>>' $$ $((__driver_count += 1)) "
                        "\"$STARSHIP_CMD_STATUS\"; }\nPROMPT_COMMAND+=$'\\n'__driver_marks\n",
                "fish": "functions -c fish_prompt __theirs\nfunction fish_prompt\n"
                        "    set -l driver_status $status\n    __theirs\n"
                        "    printf '<<%s;%s;%s;%s>>' TOKEN $fish_pid $__driver_count $driver_status\nend\n"},
    },
    "kitty": {
        "needs": ("kitty/shell-integration/bash/kitty.bash",),
        "extra": {**COLOURS, "KITTY_SHELL_INTEGRATION": "enabled", "KITTY_INSTALLATION_DIR": "{dir}/kitty"},
        "bash": ". {dir}/kitty/shell-integration/bash/kitty.bash\n",
        "zsh": "autoload -Uz -- {dir}/kitty/shell-integration/zsh/kitty-integration\nkitty-integration\n"
               "unfunction kitty-integration\n",
        "fish": "source {dir}/kitty/shell-integration/fish/vendor_conf.d/kitty-shell-integration.fish\n",
        "editor": True,
    },
    "wezterm": {
        "needs": ("wezterm/assets/shell-integration/wezterm.sh",), "extra": COLOURS, "editor": True,
        "bash": ". {dir}/wezterm/assets/shell-integration/wezterm.sh\n",
        "zsh": ". {dir}/wezterm/assets/shell-integration/wezterm.sh\n",
    },
    "VS Code": {
        "needs": ("vscode/shellIntegration-bash.sh", "vscode/shellIntegration-rc.zsh",
                  "vscode/shellIntegration.fish"),
        "extra": {**COLOURS, "TERM_PROGRAM": "vscode", "VSCODE_NONCE": "n", "VSCODE_STABLE": "1"},
        "bash": ". {dir}/vscode/shellIntegration-bash.sh\n",
        "zsh": "USER_ZDOTDIR=$HOME\n. {dir}/vscode/shellIntegration-rc.zsh\n",
        "fish": "source {dir}/vscode/shellIntegration.fish\n",
        "editor": True,
    },
    "JetBrains": {
        "needs": ("jetbrains/bash/bash-integration.bash", "jetbrains/zsh/zsh-integration.zsh",
                  "jetbrains/fish/fish-integration.fish"),
        "extra": {**COLOURS, "TERMINAL_EMULATOR": "JetBrains-JediTerm",
                  "_INTELLIJ_FORCE_SET_FROM_IDE": "yes"},
        # It reads ~/.bashrc itself, which is where this stands: once is enough.
        "bash": "[ -n \"${{__driver_once-}}\" ] || {{ __driver_once=1; HOME=/nonexistent; "
                ". {dir}/jetbrains/bash/bash-integration.bash; HOME={home}; }}\n",
        "zsh": "__driver_source() {{ . {dir}/jetbrains/zsh/zsh-integration.zsh; }}; __driver_source\n",
        "fish": "source {dir}/jetbrains/fish/fish-integration.fish\n",
        "braces": True, "editor": True,
    },
    "fisher's fish-conda": {
        "needs": ("fish-conda/conda.fish",), "extra": COLOURS,
        "fish": "set -g CONDA_ROOT {home}/no-conda\nsource {dir}/fish-conda/conda.fish\n",
    },
    "direnv": {
        "needs": ("/usr/bin/direnv",), "debian": "direnv", "extra": {"DIRENV_LOG_FORMAT": ""},
        "bash": 'eval "$(direnv hook bash)"\n', "zsh": 'eval "$(direnv hook zsh)"\n',
        "fish": "direnv hook fish | source\n",
        # What it keeps when it comes after ours is brought back when ours is gone.
        "steps": [
            {"other": "mkdir -p ~/add/bin ~/set; echo 'PATH_add bin' > ~/add/.envrc; echo 'export CC=clang "
                      "LD_LIBRARY_PATH=/c/lib CUDA_HOME=/opt/mine' > ~/set/.envrc; direnv allow ~/add; "
                      "direnv allow ~/set"},
            *[step for project in ("p118", "p124") for directory in ("~/add", "~/set") for step in (
                f"cd {project}", f"expect nvcc {project[1:3]}.{project[3]}", {"other": f"cd {directory}"},
                {"other": "cd ~"}, "expect inactive", "law")],
            "cd p118", {"other": "cd ~/add"}, {"other": "cd ~/set"}, "cd p124", "expect nvcc 12.4",
            {"other": "cd ~/set"}, {"other": "cd ~/add"}, {"other": "cd ~"}, "law",
            "activate t118", {"other": "cd ~/set"}, {"other": "cd ~/add"}, "expect nvcc 11.8", "deactivate",
            {"other": "cd ~"}, "expect inactive", "law",
        ],
    },
    "script": {
        "needs": ("/usr/bin/script",), "debian": "bsdutils", "extra": {},
        "bash": "", "zsh": "", "fish": "",
        "begin": "script -q -c '{shell} -i' /dev/null",
    },
}
PROMPT = {"bash": 'export SEEN_PROMPT="$PS1"', "zsh": 'export SEEN_PROMPT="$PROMPT$RPROMPT"',
          "fish": "set -gx SEEN_PROMPT (functions --no-details fish_prompt | string collect)"}
# Counts how often the hook asks. In fish each prompt does: docs/decisions/0010-hooks.md.
COUNT = {"bash": 'eval "function __driver_real ${body#*\\(\\)}"; '
                 'function __cudaenv_update { asked=$((asked + 1)); __driver_real "$@"; }; asked=0',
         "zsh": "functions[__driver_real]=$functions[__cudaenv_update]; "
                "__cudaenv_update() { asked=$((asked + 1)); __driver_real \"$@\"; }; asked=0"}

# Values that differ between two starts of the same program, whoever else is there.
BY_NATURE = {b"STARSHIP_SESSION_KEY", b"P9K_TTY", b"_P9K_TTY", b"_P9K_SSH_TTY"}


def steps(shell, framework):
    counted = []
    if shell == "bash":
        counted = ["type body=$(declare -f __cudaenv_update || echo '() { :; }')"]
    if shell in COUNT:
        counted += [{"other": COUNT[shell]}, "prompt", "prompt", "type true",
                    {"other": "test ${asked:-0} = 0"}, "expect status 0"]
    begin = [{"other": framework["begin"].format(shell=shell)}] if "begin" in framework else []
    end = [{"other": "exit"}] if "begin" in framework else []
    # A shell that is started in an environment: the line is there, and no framework minds it.
    first = ["expect says-not [WARNING]", "prompt", "expect nvcc 11.8", "type deactivate 2>/dev/null; "
             "unset VIRTUAL_ENV", "expect says cudaenv: CUDA 11.8", "expect says-not [WARNING]"] \
        if framework.get("active") else ["expect quiet"]
    return [
        *first, *begin, "activate t118", "expect nvcc 11.8", "type false", "expect status 1",
        "same-status", "hush", "prompt", "expect quiet", "cd p124", "expect nvcc 12.4",
        "at-once 11.3 cudaenv use 11.3", "use-clear", "expect nvcc 12.4", "cd ~", "expect nvcc 11.8",
        "deactivate", "expect inactive", {"other": PROMPT[shell]}, "law", *counted, *end,
    ]


def texts(world, framework, shell, hook_first):
    """What stands before and after the hook, and the variables of the terminal."""
    def fill(text):
        text = text.replace("{dir}", DIRECTORY).replace("{home}", str(world.home))
        return text.replace("{{", "{").replace("}}", "}") if framework.get("braces") else text
    own = fill(framework[shell])
    edits = framework.get("editor") and shell == "zsh"
    before = (EDITOR if edits else "") + fill(framework.get("first", ""))
    end = (MARKS if edits else "") + framework.get("end", {}).get(shell, "")
    end = end.replace("TOKEN", driver.TOKEN)
    extra = {name: fill(value) for name, value in framework["extra"].items()}
    if framework.get("active"):
        extra["VIRTUAL_ENV"] = str(world.root / "envs/t118")
    return ({shell: before + ("" if hook_first else own)},
            {shell: (own if hook_first else "") + end}, extra)


def missing(framework):
    for file in framework["needs"]:
        if file.startswith("/"):
            if not os.path.exists(file):
                return f"{file} is not here (Debian: {framework['debian']})"
        elif not DIRECTORY or not Path(DIRECTORY, file).exists():
            return f"CUDAENV_SHELL_FRAMEWORKS has no {file} (see this file's docstring)"
    return None


def main():
    parser = scene.arguments(__doc__, shells=False)
    parser.add_argument("--only", help="frameworks with this text in their name or shell")
    options = parser.parse_args()
    play.BY_NATURE |= BY_NATURE
    played = failed = 0
    begun = time.monotonic()
    with scene.prepared(options, odd=False) as world:
        for name, framework in FRAMEWORKS.items():
            if why := missing(framework):
                print(f"skipped: {name}: {why}")
                continue
            for shell in ("bash", "zsh", "fish"):
                label = f"{name} in {shell}"
                if shell not in framework or (options.only and options.only not in label):
                    continue
                if why := driver.missing(shell):
                    print(f"skipped: {label}: {why}")
                    continue
                for hook_first in (False, True):
                    before, after, extra = texts(world, framework, shell, hook_first)
                    for _ in range(framework.get("starts", 1)):
                        to_play = framework.get("steps") or steps(shell, framework)
                        failure, _ = play.play_pair(world, shell, to_play, extra, before, after)
                    played += 1
                    if failure:
                        failed += 1
                        print(f"FAILED: {label}, hook {'first' if hook_first else 'last'}: {failure}")
    print(f"{played} plays, {failed} failed, {time.monotonic() - begun:.1f} s")
    if not played:
        return scene.SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
