# shellcheck shell=bash
# The hook of cudaenv for bash 4.2 and newer: eval "$(cudaenv hook bash)"
#
# At each prompt it asks one question with builtins alone, "can anything have changed?"
# (__cudaenv_stale, which every answer of the program redefines), and calls the program only if so.
# The program alone decides what to change. Evaluating the hook again installs nothing twice.
#
# docs/decisions/0010-hooks.md gives the reasons.

__cudaenv_program=@CUDAENV_PROGRAM@
__cudaenv_wrap=@CUDAENV_WRAP@

# Values set before the hook are not the user's choice in this shell, also when it is evaluated again.
if [[ ! -v __cudaenv_found_home ]]; then
    __cudaenv_found_home=${CUDA_HOME-}
    __cudaenv_found_path=${CUDA_PATH-}
    __cudaenv_found_journal=${__CUDAENV_UNDO-}
fi

# Its only key is the place of the last update.
\builtin declare -gA __cudaenv_place

# Stale until the first answer. Not exported: a nested shell is stale at first too.
__cudaenv_check=:
function __cudaenv_stale {
    :
}

# True in a shell that a person types into, unlike `bash -ic`.
function __cudaenv_is_interactive { [[ $- == *i* && ! -v BASH_EXECUTION_STRING ]]; }

# Adds to __cudaenv_keep the variables that are set but not exported, and readonly ones. An exported
# CUDA_HOME is the user's choice, readonly or not.
function __cudaenv_find_kept {
    \builtin local - __cudaenv_attributes
    \builtin set +u
    # shellcheck disable=SC2043 # replaced by many names
    for __cudaenv_name in @CUDAENV_MANAGED@; do
        # No indirection: it does not show a readonly variable that is unset.
        \builtin eval "__cudaenv_attributes=\${$__cudaenv_name@a}"
        case $__cudaenv_name,$__cudaenv_attributes in
        CUDA_*,*x*) continue ;;
        *,*r*) ;;
        *,*x*) continue ;;
        *) [[ -v $__cudaenv_name ]] || continue ;;
        esac
        __cudaenv_keep=$__cudaenv_keep,$__cudaenv_name
    done
}

# Asks the program and evaluates its answer; always true. Arguments go to the program. The one fork
# also brings the user's INT trap (an interrupt must not leave half of the changes) and the bodies
# of conda's functions (which show whether conda.sh was sourced again).
#
# An interrupt ends this function at any point, and bash runs PROMPT_COMMAND once more. Then
# __cudaenv_asking is still set, and the program undoes what is not for this place instead of waiting
# again. It does the same after a failure.
function __cudaenv_update {
    __cudaenv_place=()
    __cudaenv_place["@CUDAENV_PLACE@"]=
    if [[ ! -x $__cudaenv_program ]]; then
        if [[ -v __CUDAENV_UNDO && ! -v __cudaenv_gone ]]; then
            __cudaenv_gone=1
            \builtin export -n __cudaenv_gone
            \builtin printf '%s\n' "cudaenv: $__cudaenv_program @CUDAENV_GONE@" >&2
        fi
        return 0
    fi
    \builtin unset -v __cudaenv_gone
    local __cudaenv_text __cudaenv_failed __cudaenv_name __cudaenv_keep __cudaenv_interrupt
    __cudaenv_failed=0 __cudaenv_keep=
    # ${name@a} and `local -` need bash 4.4; older ones cannot say whether a variable is exported.
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then __cudaenv_find_kept; fi
    # Before 5.0, -nt and -ot compare seconds.
    if ((BASH_VERSINFO[0] < 5)); then set -- "$@" --whole-seconds; fi
    if [[ -n $__cudaenv_keep ]]; then set -- "$@" --keep "${__cudaenv_keep#,}"; fi
    if [[ -v __cudaenv_asking ]]; then set -- "$@" --cut-off; fi
    if [[ -v __cudaenv_waited ]]; then set -- "$@" --waited "$__cudaenv_waited"; fi
    __cudaenv_asking=1
    \builtin export -n __cudaenv_asking
    # Exported only for the program, as is _OLD_VIRTUAL_PATH if it is set.
    __cudaenv_text=$(
        \builtin trap -p INT
        \builtin printf '\n%s\n' __cudaenv:functions
        if [[ $__cudaenv_wrap == 1 ]]; then
            \builtin declare -f conda mamba micromamba || :
        fi
        \builtin printf '\n%s\n' __cudaenv:answer
        \builtin export _OLD_VIRTUAL_PATH \
            __cudaenv_found_home __cudaenv_found_path __cudaenv_found_journal
        \builtin exec "$__cudaenv_program" prompt bash "$@"
    ) || __cudaenv_failed=1
    if [[ $__cudaenv_wrap == 1 ]]; then
        __cudaenv_wrap_all "${__cudaenv_text%%$'\n__cudaenv:answer'*}"
    fi
    if [[ $__cudaenv_failed == 1 || $__cudaenv_text != *$'\n__cudaenv:answer\n'?* ]]; then
        if [[ $* != *--cut-off* && $__cudaenv_failed == 1 ]]; then __cudaenv_update "$@"; fi
        \builtin unset -v __cudaenv_asking
        return 0
    fi
    __cudaenv_interrupt=${__cudaenv_text%%$'\n__cudaenv:functions'*}
    \builtin trap '' INT
    \builtin unset -v __cudaenv_asking __cudaenv_waited
    __cudaenv_evaluate "${__cudaenv_text#*$'\n__cudaenv:answer\n'}"
    __cudaenv_define_prompt
    __cudaenv_define_between
    \builtin export -nf __cudaenv_stale __cudaenv_prompt || : # set -a would have exported them
    \builtin eval "${__cudaenv_interrupt:-trap - INT}" || :
    return 0
}

# Evaluates what the program wrote; always true. Under `set -k` assignments after `export` would be its
# environment, not its arguments; hence also no `local` with a value.
function __cudaenv_evaluate {
    if [[ $- != *k* ]]; then
        \builtin eval "$1" || :
        return 0
    fi
    \builtin set +k
    \builtin eval "$1" || :
    \builtin set -k
}

# __cudaenv_prompt stands at the end of PROMPT_COMMAND, so that changes of the others (direnv, pyenv)
# are seen at once. Its $1 is $?, which it returns for commands after it; under `set -e` it must not.
# The check is its body, which saves a call.
function __cudaenv_define_prompt {
    \builtin eval "function __cudaenv_prompt {
        if $__cudaenv_check; then __cudaenv_ask; fi
        case \${1-0} in 0) ;; *) [[ \$- == *e* ]] || return \"\$1\" ;; esac
    }"
}
__cudaenv_define_prompt

# The prompt's check is always stale under `set -u` and nocasematch; this one is exact.
function __cudaenv_ask {
    # shellcheck disable=SC2050 # it depends on an option
    if [[ a == A ]]; then
        \builtin shopt -u nocasematch
        __cudaenv_ask
        \builtin shopt -s nocasematch
    elif __cudaenv_stale; then
        __cudaenv_update --say
    fi
}

# There is no prompt between the lines of one paste, nor after a key that is bound to `cd`. bash expands
# PS0 before each line, in this shell: if the place has changed, that sends SIGURG, and the trap updates
# before the line runs. Without the trap SIGURG does nothing.
function __cudaenv_signal { \builtin kill -s URG "$$"; }

function __cudaenv_between {
    # Not `[[ -v`: bash before 5.2 expands the key twice, so a directory's name would be executed.
    if [[ -n ${__cudaenv_place["@CUDAENV_PLACE@"]-another} ]]; then __cudaenv_update --say; fi
}

# At each update, since something else may have set PS0. An exported PS0 reaches shells without the hook,
# so it is not changed. PS0 needs bash 4.4.
function __cudaenv_define_between {
    # shellcheck disable=SC2016
    if [[ -v __cudaenv_listens && ${PS0-} != *__cudaenv_signal* && ${PS0+${PS0@a}} != *x* ]] &&
        \builtin shopt -q promptvars; then
        PS0='${__cudaenv_place["@CUDAENV_PLACE@"]-$(__cudaenv_signal)}'${PS0-}
        \builtin export -n PS0
    fi
}

# `declare -f +i` tests for a function without a fork or output. It is too slow for each prompt (20
# microseconds); whatever defines conda for the first time changes PATH, which causes an update.
function __cudaenv_wrap_new {
    local __cudaenv_name
    for __cudaenv_name in conda mamba micromamba; do
        if \builtin declare -f +i "$__cudaenv_name" &&
            ! \builtin declare -f +i "__cudaenv_original_$__cudaenv_name"; then
            __cudaenv_wrap_all "$(\builtin declare -f conda mamba micromamba || :)"
            return 0
        fi
    done
    return 0
}

# Wraps each of the three functions that is defined and not ours. $1 has their texts as `declare -f`
# prints them; the original stays as __cudaenv_original_NAME.
function __cudaenv_wrap_all {
    local __cudaenv_rest __cudaenv_name __cudaenv_body
    __cudaenv_rest=$'\n'$1
    for __cudaenv_name in micromamba mamba conda; do
        [[ $__cudaenv_rest == *$'\n'"$__cudaenv_name () "* ]] || continue
        __cudaenv_body=${__cudaenv_rest##*$'\n'"$__cudaenv_name () "}
        __cudaenv_rest=${__cudaenv_rest%$'\n'"$__cudaenv_name () "*}
        [[ $__cudaenv_body != *__cudaenv_wrapped* ]] || continue
        __cudaenv_body="function __cudaenv_original_$__cudaenv_name $__cudaenv_body"
        if \builtin eval "$__cudaenv_body" 2>/dev/null; then
            \builtin eval "function $__cudaenv_name { __cudaenv_wrapped $__cudaenv_name \"\$@\"; }"
        fi
    done
    return 0
}

# A wrapped function: our changes are undone before it and made again after it, so that what it saves
# has nothing of ours, and `conda activate x && nvcc --version` is right on one line.
function __cudaenv_wrapped {
    local __cudaenv_original __cudaenv_result __cudaenv_was
    __cudaenv_original=__cudaenv_original_$1 __cudaenv_result=0 __cudaenv_was=${__CUDAENV_UNDO-}
    \builtin shift
    # shellcheck disable=SC2194 # replaced by many words
    case " @CUDAENV_ACTING@ " in
    *" ${1-} "*) ;;
    *)
        "$__cudaenv_original" "$@"
        return
        ;;
    esac
    if [[ -v __CUDAENV_UNDO ]]; then __cudaenv_update --leave; fi
    # No `||` here: it would switch `set -e` off inside of the function.
    "$__cudaenv_original" "$@"
    __cudaenv_result=$?
    __cudaenv_update_now "$__cudaenv_was"
    return "$__cudaenv_result"
}

# After a command: $1 is the journal from before it.
function __cudaenv_update_now {
    # A part of a pipe changes nothing in this shell; the next prompt reports it.
    if __cudaenv_is_interactive && ((!BASH_SUBSHELL)); then set -- --say --was "${1-}"; else set -- --was "${1-}"; fi
    __cudaenv_update "$@"
}

# RETURN trap: a file was sourced. If conda or mamba is in its name, it may have redefined their
# functions, which only a fork can show.
function __cudaenv_sourced {
    case $1 in
    *[Cc][Oo][Nn][Dd][Aa]* | *[Mm][Aa][Mm][Bb][Aa]*)
        __cudaenv_wrap_all "$(\builtin declare -f conda mamba micromamba || :)"
        ;;
    *) __cudaenv_wrap_new ;;
    esac
}

# The program, as a command that the user typed.
function __cudaenv_call {
    __cudaenv_found_home=$__cudaenv_found_home __cudaenv_found_path=$__cudaenv_found_path \
        __cudaenv_found_journal=$__cudaenv_found_journal "$__cudaenv_program" "$@"
}

# Shadows the program: `use` changes this shell, and after other commands the shell is updated at once.
function cudaenv {
    local __cudaenv_result __cudaenv_text __cudaenv_word
    __cudaenv_result=0
    case ${1-} in
    '' | -* | completions | env | host | hook | init | prompt | run | schema | status)
        __cudaenv_call "$@"
        return
        ;;
    use)
        for __cudaenv_word in "$@"; do
            case $__cudaenv_word in
            -h | --help | --json | --shell | --shell=*)
                __cudaenv_call "$@"
                return
                ;;
            esac
        done
        \builtin shift
        __cudaenv_text=$(__cudaenv_call use --shell bash "$@") || __cudaenv_result=$?
        if [[ $__cudaenv_result == 0 ]]; then __cudaenv_evaluate "$__cudaenv_text"; fi
        ;;
    *)
        __cudaenv_call "$@"
        __cudaenv_result=$?
        ;;
    esac
    # Prompts do not watch the user's configuration.
    if [[ ${1-} == config ]] || __cudaenv_stale; then __cudaenv_update_now; fi
    return "$__cudaenv_result"
}

function __cudaenv_install {
    local __cudaenv_attributes __cudaenv_command
    __cudaenv_attributes='' __cudaenv_command='__cudaenv_prompt "$?"'
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then
        __cudaenv_attributes=${PROMPT_COMMAND[*]+${PROMPT_COMMAND[*]@a}}
    fi
    # An exported PROMPT_COMMAND reaches shells without the hook, where this expands to nothing. (An
    # argument would need an IFS with a blank.)
    # shellcheck disable=SC2016
    if [[ $__cudaenv_attributes == *x* ]]; then
        __cudaenv_command='${__cudaenv_program:+__cudaenv_prompt}'
    fi
    if [[ $__cudaenv_attributes == *a* ]] &&
        ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
        PROMPT_COMMAND+=("$__cudaenv_command")
    else
        # Separate with a newline: the previous command may end in ';' or a comment.
        # shellcheck disable=SC2128,SC2178 # the first element
        PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}$__cudaenv_command
    fi
    # Under set -a the assignment exported it.
    if [[ $__cudaenv_attributes != *x* ]]; then \builtin export -n PROMPT_COMMAND; fi
}

# Undoes everything: our changes, the wrapping, the prompt, and these functions.
function __cudaenv_unhook {
    local __cudaenv_name __cudaenv_key __cudaenv_text
    if [[ -v __CUDAENV_UNDO ]]; then __cudaenv_update --leave; fi
    for __cudaenv_name in conda mamba micromamba; do
        if [[ $(\builtin declare -f "$__cudaenv_name") == *__cudaenv_wrapped* ]]; then
            __cudaenv_key=$(\builtin declare -f "__cudaenv_original_$__cudaenv_name")
            \builtin eval "function $__cudaenv_name ${__cudaenv_key#* () }"
        fi
        \builtin unset -f "__cudaenv_original_$__cudaenv_name"
    done
    # shellcheck disable=SC2016
    for __cudaenv_name in '${__cudaenv_program:+__cudaenv_prompt}' '__cudaenv_prompt "$?"'; do
        for __cudaenv_key in "${!PROMPT_COMMAND[@]}"; do
            __cudaenv_text=${PROMPT_COMMAND[__cudaenv_key]}
            if [[ $__cudaenv_text != "$__cudaenv_name" ]]; then
                __cudaenv_text=${__cudaenv_text/$'\n'"$__cudaenv_name"/}
                PROMPT_COMMAND[__cudaenv_key]=${__cudaenv_text/"$__cudaenv_name"/:}
            elif ((${#PROMPT_COMMAND[@]} == 1)); then
                \builtin unset -v PROMPT_COMMAND
            else
                \builtin unset -v "PROMPT_COMMAND[$__cudaenv_key]"
            fi
        done
    done
    if [[ $(\builtin trap -p RETURN) == *__cudaenv_sourced* ]]; then \builtin trap - RETURN; fi
    if [[ $(\builtin trap -p URG) == *__cudaenv_between* ]]; then \builtin trap - URG; fi
    if [[ ${PS0-} == *__cudaenv_signal* ]]; then
        # shellcheck disable=SC2016
        PS0=${PS0/'${__cudaenv_place["@CUDAENV_PLACE@"]-$(__cudaenv_signal)}'/}
        if [[ -z $PS0 ]]; then \builtin unset -v PS0; fi
    fi
    \builtin unset -v "${!__cudaenv_@}"
    \builtin unset -f __cudaenv_stale __cudaenv_is_interactive __cudaenv_update __cudaenv_evaluate \
        __cudaenv_define_prompt __cudaenv_prompt __cudaenv_ask __cudaenv_wrap_new \
        __cudaenv_wrap_all __cudaenv_wrapped __cudaenv_update_now __cudaenv_sourced \
        __cudaenv_install __cudaenv_call \
        __cudaenv_signal __cudaenv_between __cudaenv_define_between __cudaenv_find_kept cudaenv \
        __cudaenv_unhook
}

# Traced, or the RETURN trap would return when it ends.
\builtin declare -ft __cudaenv_unhook
# `set -a` exports what is defined; these are only for this shell.
\builtin export -n __cudaenv_program __cudaenv_wrap __cudaenv_check __cudaenv_found_home \
    __cudaenv_found_path __cudaenv_found_journal
\builtin export -nf __cudaenv_stale __cudaenv_is_interactive __cudaenv_update __cudaenv_evaluate \
    __cudaenv_define_prompt __cudaenv_prompt __cudaenv_ask __cudaenv_wrap_new __cudaenv_wrap_all \
    __cudaenv_wrapped __cudaenv_update_now __cudaenv_sourced __cudaenv_install __cudaenv_call \
    __cudaenv_signal __cudaenv_between __cudaenv_define_between __cudaenv_find_kept cudaenv \
    __cudaenv_unhook
if [[ $__cudaenv_wrap == 1 ]]; then
    __cudaenv_wrap_all "$(\builtin declare -f conda mamba micromamba || :)"
    if [[ -z $(\builtin trap -p RETURN) ]]; then
        \builtin trap '__cudaenv_sourced "$BASH_COMMAND"' RETURN
    fi
fi
if ! __cudaenv_is_interactive; then
    __cudaenv_update
elif [[ ${PROMPT_COMMAND[*]-} != *__cudaenv_prompt* ]]; then
    __cudaenv_install
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) && [[ -z $(\builtin trap -p URG) ]]; then
        \builtin trap __cudaenv_between URG
        __cudaenv_listens=1
        \builtin export -n __cudaenv_listens
    fi
fi
