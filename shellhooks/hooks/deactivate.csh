# Written by `cudaenv attach`; `cudaenv detach` removes it.
if ( -x %PROGRAM% && ! $?__cudaenv_program && $?__CUDAENV_UNDO ) then
    unset __cudaenv_late_undo
    if ( $?CONDA_PREFIX ) then
        # Still on PATH: a switch.
        if ( ":${PATH}:" =~ "*:${CONDA_PREFIX}/bin:*" ) set __cudaenv_late_undo="$__CUDAENV_UNDO"
    endif
    set __cudaenv_file="`mktemp`"
    if ( "$__cudaenv_file" != "" ) then
        %PROGRAM% env --shell tcsh --leave >! $__cudaenv_file:q
        if ( $status == 0 ) source $__cudaenv_file:q
        \rm -f $__cudaenv_file:q
    endif
    unset __cudaenv_file
endif
