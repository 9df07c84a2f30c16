# cudaenv's hook for fish. The program decides what to change; the hook asks it when something may have
# changed.
set -g __cudaenv_program @CUDAENV_PROGRAM@
set -g __cudaenv_wrap @CUDAENV_WRAP@

# Values set before the hook are not the user's choice in this shell, also when it is evaluated again.
if not set -q __cudaenv_found_home
    set -g __cudaenv_found_home "$CUDA_HOME"
    set -g __cudaenv_found_path "$CUDA_PATH"
    set -g __cudaenv_found_journal "$__CUDAENV_UNDO"
end

# The program, with the values found at the start exported only for it.
function __cudaenv_call
    set -lx __cudaenv_found_home $__cudaenv_found_home
    set -lx __cudaenv_found_path $__cudaenv_found_path
    set -lx __cudaenv_found_journal $__cudaenv_found_journal
    command $__cudaenv_program $argv
end

# Asks the program and evaluates its answer. With --leave our changes are undone. An interrupt ends all
# of this, so what is not for this place is undone before the wait (status 4).
function __cudaenv_ask
    set -l words prompt fish
    # Once prompts are shown a person reads them, and no start-up file is running.
    set -q __cudaenv_prompted; and set -a words --say --take-back-first
    set -g __cudaenv_place "@CUDAENV_PLACE@"
    set -a words $argv
    # Variables that are set but not exported are the user's.
    set -l keep
    for name in @CUDAENV_MANAGED@
        set -q $name; and not set -qx $name; and set -a keep $name
    end
    test -n "$keep"; and set -a words --keep (string join , $keep)
    set -q __cudaenv_asking; and set -a words --cut-off
    set -q __cudaenv_waited; and set -a words --waited $__cudaenv_waited
    if not test -x $__cudaenv_program
        if set -q __CUDAENV_UNDO; and not set -q __cudaenv_gone
            set -g __cudaenv_gone
            echo "cudaenv: $__cudaenv_program @CUDAENV_GONE@" >&2
        end
        return 0
    end
    set -eg __cudaenv_gone
    set -l was "$__CUDAENV_UNDO"
    set -g __cudaenv_asking
    begin
        set -q _OLD_VIRTUAL_PATH; and set -lx _OLD_VIRTUAL_PATH $_OLD_VIRTUAL_PATH
        set -l IFS \n
        set -g __cudaenv_answer (__cudaenv_call $words)
        set -g __cudaenv_code $status
    end
    set -eg __cudaenv_asking
    contains -- $__cudaenv_code 0 4; or set -g __cudaenv_answer
    if test -n "$__cudaenv_answer"
        set -eg __cudaenv_waited
        string join -- \n $__cudaenv_answer | source
    end
    set -eg __cudaenv_answer
    if test $__cudaenv_code = 4
        __cudaenv_ask $argv --was "$was"
    else if test $__cudaenv_code != 0; and not contains -- --cut-off $words
        set -g __cudaenv_asking
        __cudaenv_ask $argv
    end
    return 0
end

function __cudaenv_update
    if test -n "$CUDAENV_DISABLE"
        set -q __CUDAENV_UNDO; and __cudaenv_ask --leave
    else if set -q __cudaenv_watch
        __cudaenv_ask --watch $__cudaenv_watch $argv
    else
        __cudaenv_ask $argv
    end
    __cudaenv_wrap_all
    return 0
end

# Handlers run in the order of their definition. Redefined at each prompt, ours is the last: changes by
# others are seen at once, and their copies of PATH have nothing of ours.
function __cudaenv_listen
    function __cudaenv_on_prompt --on-event fish_prompt
        __cudaenv_listen
        if not set -q __cudaenv_prompted
            status is-interactive; and set -g __cudaenv_prompted
            # At the first prompt those defined after the hook have yet to run.
            for name in __direnv_export_eval __mise_env_eval
                functions -q $name; and $name
            end
        end
        __cudaenv_update
        set -eg __cudaenv_due
    end
end

# An interrupt can end the function above at any point, and keys can change the directory without a
# prompt. Then update before the next command.
function __cudaenv_on_command --on-event fish_preexec
    if set -q __cudaenv_due; or test "@CUDAENV_PLACE@" != "$__cudaenv_place"
        __cudaenv_update
    end
    set -g __cudaenv_due
    # Several commands, as in a paste of several lines, are one event.
    set -eg __cudaenv_several __cudaenv_within
    string match -qr '[\n;&]|\b(and|or)\b' -- "$argv"; and set -g __cudaenv_several
end

# Between them, if the place changes; a single command is followed by a prompt. A script of venv's sets
# PATH after VIRTUAL_ENV; changes inside a wrapped command are handled after it.
function __cudaenv_on_change --on-variable PWD --on-variable VIRTUAL_ENV --on-variable PATH
    set -q __cudaenv_due; and set -q __cudaenv_several; or return 0
    not set -q __cudaenv_asking; and not set -q __cudaenv_within; or return 0
    test "@CUDAENV_PLACE@" != "$__cudaenv_place"; or return 0
    test -z "$VIRTUAL_ENV"; or contains -- $VIRTUAL_ENV/bin $PATH; or return 0
    __cudaenv_update
end
__cudaenv_listen

# conda, mamba and micromamba are functions that change the shell. Ours wrap them, and are recognized by
# their description.
function __cudaenv_wrap_all
    test "$__cudaenv_wrap" = 1; or return 0
    for name in conda mamba micromamba
        functions -q $name; or continue
        set -l details (functions -Dv $name)
        test "$details[5]" = __cudaenv_wrapped; and continue
        functions -q __cudaenv_original_$name; and functions -e __cudaenv_original_$name
        functions -c $name __cudaenv_original_$name
        functions -e $name
        function $name --description __cudaenv_wrapped --inherit-variable name
            __cudaenv_around __cudaenv_original_$name $argv
        end
    end
end

function __cudaenv_around
    set -l original $argv[1]
    set -e argv[1]
    if not contains -- "$argv[1]" @CUDAENV_ACTING@
        $original $argv
        return
    end
    set -l was "$__CUDAENV_UNDO"
    set -q __CUDAENV_UNDO; and __cudaenv_ask --leave
    set -g __cudaenv_within
    $original $argv
    set -l result $status
    set -eg __cudaenv_within
    __cudaenv_update --was "$was"
    return $result
end

# Shadows the program: `use` changes this shell, and after other commands the shell is updated at once.
function cudaenv
    set -l result
    if test "$argv[1]" = use
        set -l IFS \n
        set -l answer (__cudaenv_call use --shell fish $argv[2..-1])
        set result $status
        test $result -eq 0; and string join -- \n $answer | source
    else
        __cudaenv_call $argv
        set result $status
    end
    __cudaenv_update --was ""
    return $result
end

# Undoes everything.
function __cudaenv_unhook
    set -q __CUDAENV_UNDO; and __cudaenv_ask --leave
    for name in conda mamba micromamba
        functions -q __cudaenv_original_$name; or continue
        set -l details (functions -Dv $name)
        if test "$details[5]" = __cudaenv_wrapped
            functions -e $name
            functions -c __cudaenv_original_$name $name
        end
        functions -e __cudaenv_original_$name
    end
    functions -e cudaenv __cudaenv_call __cudaenv_ask __cudaenv_update __cudaenv_listen __cudaenv_on_prompt __cudaenv_on_command __cudaenv_on_change \
        __cudaenv_wrap_all __cudaenv_around __cudaenv_unhook
    set -eg (set -gn | string match '__cudaenv_*')
end

# A script, or `fish -c`, has no prompt, so update now. Otherwise the first prompt does.
if not status is-interactive
    __cudaenv_update
else if string match -qr -- '^(-[A-Za-z]*c|--command(=.*)?)$' (string split0 </proc/self/cmdline 2>/dev/null)
    __cudaenv_update
else
    __cudaenv_wrap_all
end
