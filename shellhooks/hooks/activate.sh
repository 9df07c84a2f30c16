# Written by `cudaenv attach`; `cudaenv detach` removes it.
# shellcheck shell=sh disable=SC2288,SC3044,SC1091
# For sh, dash, bash and zsh (xonsh runs it in bash); also under `set -eu`, and when the environment
# is activated again. Does nothing if the shell has cudaenv's hook.
if \command -v __cudaenv_prompt >/dev/null 2>&1; then
    :
elif [ -x %PROGRAM% ]; then
    # The answer finishes what deactivate.d could not.
    if [ -n "${__cudaenv_late_undo-}" ]; then
        __CUDAENV_UNDO=$__cudaenv_late_undo
        \export __CUDAENV_UNDO
        \unset __cudaenv_late_undo
    fi
    # `command export` is not a builtin in zsh.
    if [ -n "${ZSH_VERSION-}" ]; then __cudaenv_shell=zsh; else __cudaenv_shell=posix; fi
    __cudaenv_text=$(%PROGRAM% env --shell "$__cudaenv_shell") || __cudaenv_text=
    \unset __cudaenv_shell
    \eval "$__cudaenv_text"
    \unset __cudaenv_text

    # conda computes PATH before it runs any script, so on a switch deactivate.d runs too late. In bash
    # and zsh this undoes our changes before conda reads PATH.
    if [ -n "${BASH_VERSION-}${ZSH_VERSION-}" ]; then
        __cudaenv_attached_leave() {
            if [ -n "${__CUDAENV_UNDO-}" ] && [ -x %PROGRAM% ]; then
                __cudaenv_text=$(
                    if [ -n "${_OLD_VIRTUAL_PATH-}" ]; then \export _OLD_VIRTUAL_PATH; fi
                    if [ -n "${ZSH_VERSION-}" ]; then
                        %PROGRAM% env --shell zsh --leave
                    else
                        %PROGRAM% env --shell posix --leave
                    fi
                ) || __cudaenv_text=
                \eval "$__cudaenv_text"
                \unset __cudaenv_text
            fi
        }
        # If nothing ran activate.d again (a failed install), run it now.
        __cudaenv_attached_return() {
            if [ -z "${__CUDAENV_UNDO-}" ] &&
                [ -f "${CONDA_PREFIX-}/etc/conda/activate.d/zz-cudaenv.sh" ]; then
                \. "$CONDA_PREFIX/etc/conda/activate.d/zz-cudaenv.sh"
            fi
        }
        __cudaenv_attached_call() {
            __cudaenv_name=__cudaenv_attached_$1
            \shift
            case "${1-}" in
            activate | deactivate | reactivate | install | update | upgrade | remove | uninstall)
                __cudaenv_attached_leave
                # No `||` here: it would switch `set -e` off inside of the function.
                "$__cudaenv_name" "$@"
                __cudaenv_result=$?
                __cudaenv_attached_return
                return "$__cudaenv_result"
                ;;
            esac
            "$__cudaenv_name" "$@"
        }
        for __cudaenv_name in conda mamba micromamba; do
            __cudaenv_body=$(\typeset -f "$__cudaenv_name" 2>/dev/null) || __cudaenv_body=
            case $__cudaenv_body in
            '' | *__cudaenv_attached_call*) ;;
            *)
                # Without its name at the beginning.
                \eval "__cudaenv_attached_$__cudaenv_name ${__cudaenv_body#*"$__cudaenv_name"}"
                # This form does not expand an alias of the same name.
                \eval "function $__cudaenv_name { __cudaenv_attached_call $__cudaenv_name \"\$@\"; }"
                ;;
            esac
        done
        \unset __cudaenv_name __cudaenv_body
    fi
fi
