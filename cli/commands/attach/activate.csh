# Written by `cudaenv attach`; `cudaenv detach` removes it.
# Where the shell has cudaenv's hook, that does all of this.
if ( -x %PROGRAM% && ! $?__cudaenv_program ) then
    set __cudaenv_file="`mktemp`"
    if ( "$__cudaenv_file" != "" ) then
        # What deactivate.d could not finish, because conda sets PATH after it on a switch.
        if ( $?__cudaenv_late_undo ) then
            setenv __CUDAENV_UNDO "$__cudaenv_late_undo"
        endif
        %PROGRAM% env --shell tcsh >! $__cudaenv_file:q
        if ( $status == 0 ) source $__cudaenv_file:q
        \rm -f $__cudaenv_file:q
    endif
    unset __cudaenv_file __cudaenv_late_undo
endif
