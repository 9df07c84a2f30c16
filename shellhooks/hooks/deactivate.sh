# Written by `cudaenv attach`; `cudaenv detach` removes it.
# shellcheck shell=sh disable=SC2288,SC3044,SC1091
if \command -v __cudaenv_prompt >/dev/null 2>&1; then
    :
elif [ -n "${__CUDAENV_UNDO-}" ] && [ -x %PROGRAM% ]; then
    # On a switch PATH still has the environment, and conda sets it after this to what it computed
    # before, with our directories in it: activate.d of the next environment removes them.
    case ":${PATH-}:" in
    *":${CONDA_PREFIX-}/bin:"*) __cudaenv_late_undo=$__CUDAENV_UNDO ;;
    *) \unset __cudaenv_late_undo ;;
    esac
    __cudaenv_text=$(
        if [ -n "${_OLD_VIRTUAL_PATH-}" ]; then \export _OLD_VIRTUAL_PATH; fi
        # `command export` is not a builtin in zsh.
        if [ -n "${ZSH_VERSION-}" ]; then
            %PROGRAM% env --shell zsh --leave
        else
            %PROGRAM% env --shell posix --leave
        fi
    ) || __cudaenv_text=
    \eval "$__cudaenv_text"
    \unset __cudaenv_text
fi
