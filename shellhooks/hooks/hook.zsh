# The hook of cudaenv for zsh 5.3 and newer: eval "$(cudaenv hook zsh)"
#
# At each prompt it asks one question with builtins alone, "can anything have changed?"
# (__cudaenv_stale, which every answer of the program redefines), and calls the program only if so.
# The program alone decides what to change. Evaluating the hook again installs nothing twice.
#
# Every function except those that run the user's own begins with `emulate -L zsh`, so that the user's
# options such as ksharrays, shwordsplit and extendedglob change nothing here.
#
# docs/decisions/0010-hooks.md gives the reasons.

typeset -g __cudaenv_program=@CUDAENV_PROGRAM@
typeset -g __cudaenv_wrap=@CUDAENV_WRAP@
# Values set before the hook are not the user's choice in this shell, also when it is evaluated again.
if [[ ! -v __cudaenv_found_home ]]; then
    typeset -g __cudaenv_found_home=${CUDA_HOME-} __cudaenv_found_path=${CUDA_PATH-}
    typeset -g __cudaenv_found_journal=${__CUDAENV_UNDO-}
fi
# allexport exports them
typeset -g +x __cudaenv_program __cudaenv_wrap __cudaenv_found_home __cudaenv_found_path \
    __cudaenv_found_journal

# Stale until the first answer. A nested shell is stale at first too.
function __cudaenv_stale {
    :
}

# True in a shell that a person types into, unlike `zsh -ic`.
function __cudaenv_is_interactive { [[ -o interactive && ! -v ZSH_EXECUTION_STRING ]] }

# Asks the program and evaluates its answer; always true. Arguments go to the program. If the
# wait is interrupted or the program fails, it is asked to undo what is not for this place.
function __cudaenv_update {
    emulate -L zsh
    setopt no_aliases no_err_return
    typeset -g +x __cudaenv_place="@CUDAENV_PLACE@"
    if [[ ! -x $__cudaenv_program ]]; then
        if [[ -v __CUDAENV_UNDO && ! -v __cudaenv_gone ]]; then
            typeset -g +x __cudaenv_gone=1
            builtin print -ru2 -- "cudaenv: $__cudaenv_program @CUDAENV_GONE@"
        fi
        return 0
    fi
    unset __cudaenv_gone
    local __cudaenv_text __cudaenv_name
    local -a __cudaenv_keep
    for __cudaenv_name in @CUDAENV_MANAGED@; do
        if [[ -v $__cudaenv_name && ( ${(tP)__cudaenv_name} != *export* ||
            ( ${(tP)__cudaenv_name} == *readonly* && $__cudaenv_name != CUDA_* ) ) ]]; then
            __cudaenv_keep+=($__cudaenv_name)
        fi
    done
    if (( $#__cudaenv_keep )); then set -- "$@" --keep ${(j:,:)__cudaenv_keep}; fi
    if [[ -v __cudaenv_asking ]]; then set -- "$@" --cut-off; fi
    if [[ -v __cudaenv_waited ]]; then set -- "$@" --waited $__cudaenv_waited; fi
    typeset -g +x __cudaenv_asking=1
    {
        # Exported only for the program, as is _OLD_VIRTUAL_PATH.
        if __cudaenv_text=$(
            if [[ -v _OLD_VIRTUAL_PATH ]]; then builtin export _OLD_VIRTUAL_PATH; fi
            builtin export __cudaenv_found_home __cudaenv_found_path __cudaenv_found_journal
            exec "$__cudaenv_program" prompt zsh "$@"
        ); then
            # An interrupt must not leave half of the changes. The user's trap is restored
            # afterwards: emulate -L has set localtraps.
            trap '' INT
            unset __cudaenv_asking __cudaenv_waited
            builtin eval "$__cudaenv_text" || :
        fi
    } always {
        if [[ -v __cudaenv_asking ]]; then
            local __cudaenv_interrupted=$TRY_BLOCK_INTERRUPT
            TRY_BLOCK_INTERRUPT=0
            trap '' INT # a second one must not end this as well; it takes a moment only
            if [[ "$*" != *--cut-off* ]]; then __cudaenv_update "$@"; fi
            # Drop the rest of a line, as any interrupt does. At a prompt no line is running, and a
            # pending interrupt would end the next command.
            if [[ "$*" == *--was* ]]; then TRY_BLOCK_INTERRUPT=$__cudaenv_interrupted; fi
        else
            if [[ $__cudaenv_wrap == 1 ]]; then __cudaenv_wrap_all; fi
            __cudaenv_define_prompt
        fi
    }
    return 0
}

# The precmd function. Calls cost most in zsh, so it contains the body of __cudaenv_stale, and neither
# an `emulate` nor anything that an option could change. zsh restores $? after its precmd functions.
# Each prompt compares the three wrapped functions with what we defined: $functions has their bodies
# without a fork. Whatever defines them for the first time sets CONDA_EXE (conda) or CONDA_SHLVL
# (mamba, whose own script sets no MAMBA_EXE); comparing these costs a tenth. If one of the three is
# wrapped already, another that appears without setting either is wrapped at the next update, as in
# bash.
function __cudaenv_define_prompt {
    emulate -L zsh
    local __cudaenv_name __cudaenv_differs= __cudaenv_row= __cudaenv_absent=
    typeset -g +x __cudaenv_bodies=
    if [[ $__cudaenv_wrap == 1 ]]; then
        for __cudaenv_name in conda mamba micromamba; do
            if [[ -v "functions[$__cudaenv_name]" ]]; then
                __cudaenv_row+="\${functions[$__cudaenv_name]-}"
                __cudaenv_bodies+=$functions[$__cudaenv_name]
            elif [[ $__cudaenv_name == conda && ! -v CONDA_EXE ]]; then
                __cudaenv_differs+="-v CONDA_EXE || "
            elif [[ $__cudaenv_name == *mamba && ! -v CONDA_SHLVL ]]; then
                __cudaenv_differs=${__cudaenv_differs/'-v CONDA_SHLVL || '/}"-v CONDA_SHLVL || "
            else
                __cudaenv_absent+="-v functions[$__cudaenv_name] || "
            fi
        done
        if [[ -n $__cudaenv_row ]]; then
            __cudaenv_differs+="\"$__cudaenv_row\" != \"\$__cudaenv_bodies\" || "
        else
            __cudaenv_differs+=$__cudaenv_absent
        fi
        __cudaenv_differs="[[ ${__cudaenv_differs% || } ]] ||"
    fi
    # On one line each: with cshjunkiequotes a string must not contain a newline.
    local __cudaenv_body="if $__cudaenv_differs { $functions[__cudaenv_stale]"$'\n'
    functions[__cudaenv_prompt]="$__cudaenv_body}; then __cudaenv_changed; fi; builtin unset __cudaenv_due; if [[ -v __cudaenv_between ]]; then __cudaenv_end_between; fi"
    return 0
}

function __cudaenv_changed {
    emulate -L zsh
    if [[ $__cudaenv_wrap == 1 ]]; then __cudaenv_wrap_all; fi
    if ! __cudaenv_stale; then
        __cudaenv_define_prompt
    elif [[ -v __p9k_instant_prompt_active ]]; then
        # During powerlevel10k's instant prompt standard error is a file, and text in it causes a
        # warning. The next prompt prints the line.
        CUDAENV_QUIET=1 __cudaenv_update --say
        typeset -g +x __cudaenv_unsaid=
        functions[__cudaenv_stale]=:
        __cudaenv_define_prompt
    else
        if [[ -v __cudaenv_unsaid ]]; then
            unset __cudaenv_unsaid
            __cudaenv_update --leave
        fi
        __cudaenv_update --say
    fi
}

# Before a command: an interrupt may have ended the work of the prompt at any point, and a widget may
# have changed the directory since. Then update now.
#
# The lines of one paste are one event. If it has several, a DEBUG trap compares between them until the
# prompt; if the user has one, it stays, and nothing compares.
function __cudaenv_command {
    emulate -L zsh
    setopt no_local_traps
    if [[ -v __cudaenv_due || -v __cudaenv_asking || "@CUDAENV_PLACE@" != $__cudaenv_place ]]; then
        __cudaenv_prompt
    fi
    typeset -g +x __cudaenv_due=
    # $1 is as typed, and empty without a history; in $3 every ; is a newline.
    if [[ ${1:-$3} == *$'\n'* && ! -v functions[TRAPDEBUG] && $(trap) != *' DEBUG'* ]]; then
        typeset -g +x __cudaenv_between=
        trap '[[ "@CUDAENV_PLACE@" == "$__cudaenv_place" || ${#funcstack[@]} != 0 ]] || __cudaenv_update_now' DEBUG
    fi
}

function __cudaenv_end_between {
    emulate -L zsh
    setopt no_local_traps
    unset __cudaenv_between
    if [[ $(trap) == *__cudaenv_place* ]]; then trap - DEBUG; fi
}

# Wraps each of the three functions that is defined and not ours; the original stays as
# __cudaenv_original_NAME.
function __cudaenv_wrap_all {
    emulate -L zsh
    local __cudaenv_name
    for __cudaenv_name in conda mamba micromamba; do
        if (( $+functions[$__cudaenv_name] )) &&
            [[ $functions[$__cudaenv_name] != *(__cudaenv_wrapped|'builtin autoload')* ]]; then
            functions[__cudaenv_original_$__cudaenv_name]=$functions[$__cudaenv_name]
            functions[$__cudaenv_name]="__cudaenv_wrapped $__cudaenv_name \"\$@\""
        fi
    done
    return 0
}

# A wrapped function: our changes are undone before it and made again after it, so that what it saves
# has nothing of ours, and `conda activate x && nvcc --version` is right on one line. The original runs
# under the user's options, hence no emulate here.
function __cudaenv_wrapped {
    local __cudaenv_original=__cudaenv_original_$1 __cudaenv_result=0 __cudaenv_was=${__CUDAENV_UNDO-}
    builtin shift
    case " @CUDAENV_ACTING@ " in
    (*" ${1-} "*) ;;
    (*)
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
    if __cudaenv_is_interactive && (( ! ZSH_SUBSHELL )); then set -- --say --was "${1-}"; else set -- --was "${1-}"; fi
    __cudaenv_update "$@"
}

# A separate function, so that the text is read under zsh's default options.
function __cudaenv_evaluate {
    emulate -L zsh
    setopt no_aliases no_err_return
    builtin eval "$1" || :
    return 0
}

# The program, as a command that the user typed.
function __cudaenv_call {
    __cudaenv_found_home=$__cudaenv_found_home __cudaenv_found_path=$__cudaenv_found_path \
        __cudaenv_found_journal=$__cudaenv_found_journal "$__cudaenv_program" "$@"
}

# Shadows the program: `use` changes this shell, and after other commands the shell is updated at once.
function cudaenv {
    local __cudaenv_result=0 __cudaenv_text __cudaenv_word
    case "${1-}" in
    (''|-*|completions|env|host|hook|init|prompt|run|schema|status)
        __cudaenv_call "$@"
        return
        ;;
    (use)
        for __cudaenv_word in "$@"; do
            case "$__cudaenv_word" in
            (-h|--help|--json|--shell|--shell=*)
                __cudaenv_call "$@"
                return
                ;;
            esac
        done
        builtin shift
        __cudaenv_text=$(__cudaenv_call use --shell zsh "$@") || __cudaenv_result=$?
        if [[ $__cudaenv_result == 0 ]]; then __cudaenv_evaluate "$__cudaenv_text"; fi
        ;;
    (*)
        __cudaenv_call "$@"
        __cudaenv_result=$?
        ;;
    esac
    # Prompts do not watch the user's configuration.
    if [[ "${1-}" == config ]] || __cudaenv_stale; then __cudaenv_update_now; fi
    return "$__cudaenv_result"
}

function __cudaenv_install {
    emulate -L zsh
    typeset -ga precmd_functions preexec_functions
    if (( ! ${precmd_functions[(Ie)__cudaenv_prompt]} )); then
        precmd_functions+=(__cudaenv_prompt)
    fi
    if (( ! ${preexec_functions[(Ie)__cudaenv_command]} )); then
        preexec_functions+=(__cudaenv_command)
    fi
    return 0
}

# Undoes everything: our changes, the wrapping, the prompt, and these functions.
function __cudaenv_unhook {
    emulate -L zsh
    local __cudaenv_name
    if [[ -v __CUDAENV_UNDO ]]; then __cudaenv_update --leave; fi
    for __cudaenv_name in conda mamba micromamba; do
        if (( $+functions[__cudaenv_original_$__cudaenv_name] )); then
            if [[ ${functions[$__cudaenv_name]-} == *__cudaenv_wrapped* ]]; then
                functions[$__cudaenv_name]=$functions[__cudaenv_original_$__cudaenv_name]
            fi
            unset "functions[__cudaenv_original_$__cudaenv_name]"
        fi
    done
    precmd_functions=(${precmd_functions:#__cudaenv_prompt})
    preexec_functions=(${preexec_functions:#__cudaenv_command})
    unset -m '__cudaenv_*'
    unfunction __cudaenv_stale __cudaenv_is_interactive __cudaenv_update __cudaenv_prompt \
        __cudaenv_define_prompt __cudaenv_changed __cudaenv_command __cudaenv_end_between \
        __cudaenv_wrap_all __cudaenv_wrapped __cudaenv_update_now __cudaenv_evaluate \
        __cudaenv_install __cudaenv_call cudaenv __cudaenv_unhook
}

if [[ $__cudaenv_wrap == 1 ]]; then __cudaenv_wrap_all; fi
__cudaenv_define_prompt
if __cudaenv_is_interactive; then __cudaenv_install; else __cudaenv_update; fi
