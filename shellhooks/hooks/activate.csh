# Written by `cudaenv attach`; `cudaenv detach` removes it.
# Does nothing if the shell has cudaenv's hook.
if ( -x %PROGRAM% && ! $?__cudaenv_program ) then
    set __cudaenv_file="`mktemp`"
    if ( "$__cudaenv_file" != "" ) then
        # Finishes deactivate.d: on a switch conda sets PATH after it.
        if ( $?__cudaenv_late_undo ) then
            setenv __CUDAENV_UNDO "$__cudaenv_late_undo"
        endif
        %PROGRAM% env --shell tcsh >! $__cudaenv_file:q
        if ( $status == 0 ) source $__cudaenv_file:q
        \rm -f $__cudaenv_file:q
    endif
    unset __cudaenv_file __cudaenv_late_undo
endif
