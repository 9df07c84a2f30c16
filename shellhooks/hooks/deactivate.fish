# Written by `cudaenv attach`; `cudaenv detach` removes it.
if not functions -q __cudaenv_update; and set -q __CUDAENV_UNDO; and test -x %PROGRAM%
    # On a switch conda sets PATH after this, with our directories in it: activate.d of the next
    # environment removes them.
    set -e __cudaenv_late_undo
    contains -- "$CONDA_PREFIX/bin" $PATH; and set -g __cudaenv_late_undo $__CUDAENV_UNDO
    begin
        set -q _OLD_VIRTUAL_PATH; and set -lx _OLD_VIRTUAL_PATH $_OLD_VIRTUAL_PATH
        set -g __cudaenv_text (%PROGRAM% env --shell fish --leave | string collect)
    end
    string join -- \n $__cudaenv_text | source
    set -eg __cudaenv_text
end
