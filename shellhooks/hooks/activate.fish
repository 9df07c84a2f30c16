# Written by `cudaenv attach`; `cudaenv detach` removes it.
# Does nothing if the shell has cudaenv's hook.
if not functions -q __cudaenv_update; and test -x %PROGRAM%
    # The answer finishes what deactivate.d could not.
    set -q __cudaenv_late_undo; and set -gx __CUDAENV_UNDO $__cudaenv_late_undo
    set -eg __cudaenv_late_undo
    set -g __cudaenv_text (%PROGRAM% env --shell fish | string collect)
    string join -- \n $__cudaenv_text | source
    set -eg __cudaenv_text

    # conda computes PATH before it runs any script, so on a switch deactivate.d runs too late. This
    # undoes our changes before conda reads PATH.
    function __cudaenv_attached_call
        set -l original __cudaenv_attached_$argv[1]
        set -e argv[1]
        if not contains -- "$argv[1]" activate deactivate reactivate install update upgrade remove uninstall
            $original $argv
            return
        end
        if set -q __CUDAENV_UNDO; and test -x %PROGRAM%
            begin
                set -q _OLD_VIRTUAL_PATH; and set -lx _OLD_VIRTUAL_PATH $_OLD_VIRTUAL_PATH
                set -g __cudaenv_text (%PROGRAM% env --shell fish --leave | string collect)
            end
            string join -- \n $__cudaenv_text | source
            set -eg __cudaenv_text
        end
        $original $argv
        set -l result $status
        set -l script "$CONDA_PREFIX/etc/conda/activate.d/zz-cudaenv.fish"
        if not set -q __CUDAENV_UNDO; and test -f "$script"
            source "$script"
        end
        return $result
    end
    for __cudaenv_name in conda mamba micromamba
        functions -q $__cudaenv_name; or continue
        functions $__cudaenv_name | string match -q '*__cudaenv_attached_call*'; and continue
        functions -q __cudaenv_attached_$__cudaenv_name
        and functions -e __cudaenv_attached_$__cudaenv_name
        functions -c $__cudaenv_name __cudaenv_attached_$__cudaenv_name
        functions -e $__cudaenv_name
        function $__cudaenv_name --inherit-variable __cudaenv_name
            __cudaenv_attached_call $__cudaenv_name $argv
        end
    end
    set -e __cudaenv_name
end
