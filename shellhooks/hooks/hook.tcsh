: The hook for tcsh. It is evaluated as one line, so there are neither comments nor blocks ;
set __cudaenv_program=@CUDAENV_PROGRAM@ ;
set __cudaenv_wrap=@CUDAENV_WRAP@ ;
set __cudaenv_say='' ;
set __cudaenv_looked='' ;
set __cudaenv_more=() ;
set __cudaenv_cut=() ;
set __cudaenv_waited=- ;
set __cudaenv_code=0 ;
if (! $?__cudaenv_watch) set __cudaenv_watch=- ;

: What was there before the hook is not the wish of the user in this shell. Evaluated again, it stays so ;
alias __cudaenv_find 'set __cudaenv_found_home="" __cudaenv_found_path="" __cudaenv_found_journal=""; if ($?CUDA_HOME) eval __cudaenv_find_home; if ($?CUDA_PATH) eval __cudaenv_find_path; if ($?__CUDAENV_UNDO) eval __cudaenv_find_journal' ;
alias __cudaenv_find_home 'set __cudaenv_found_home=$CUDA_HOME:q' ;
alias __cudaenv_find_path 'set __cudaenv_found_path=$CUDA_PATH:q' ;
alias __cudaenv_find_journal 'set __cudaenv_found_journal=$__CUDAENV_UNDO:q' ;
if (! $?__cudaenv_found_home) eval __cudaenv_find ;
alias __cudaenv_pass_found 'setenv __cudaenv_found_home $__cudaenv_found_home:q; setenv __cudaenv_found_path $__cudaenv_found_path:q; setenv __cudaenv_found_journal $__cudaenv_found_journal:q' ;

: An answer is the path of a private file, which is read. It removes itself: nothing that is merely named is ever removed here. An interrupt ends all of this, so what is not for this place is taken back before there is a wait, with status 4 ;
alias __cudaenv_ask 'set __cudaenv_flags=($__cudaenv_cut --waited $__cudaenv_waited:q \!*); set __cudaenv_cut=(--cut-off); set __cudaenv_file=(`if ($?_OLD_VIRTUAL_PATH) eval __cudaenv_pass; __cudaenv_pass_found; $__cudaenv_program:q prompt tcsh $__cudaenv_say $__cudaenv_flags:q`); set __cudaenv_code=$status; set __cudaenv_cut=(); if ($#__cudaenv_file == 1) eval __cudaenv_take' ;
alias __cudaenv_pass 'setenv _OLD_VIRTUAL_PATH $_OLD_VIRTUAL_PATH:q' ;
alias __cudaenv_take 'set __cudaenv_waited=-; if (-o $__cudaenv_file:q && -f $__cudaenv_file:q) source $__cudaenv_file:q; set __cudaenv_looked=""' ;
alias __cudaenv_leave 'if ($?__CUDAENV_UNDO) eval __cudaenv_ask --leave' ;
alias __cudaenv_ask_first 'set __cudaenv_was=-; if ($?__CUDAENV_UNDO) eval __cudaenv_note_was; __cudaenv_ask --take-back-first --watch $__cudaenv_watch:q $__cudaenv_more:q' ;
alias __cudaenv_ask_again '__cudaenv_ask --take-back-first --watch $__cudaenv_watch:q --was $__cudaenv_was:q' ;
alias __cudaenv_note_off 'if ("$CUDAENV_DISABLE" != "") set __cudaenv_off=1' ;
alias __cudaenv_update 'set __cudaenv_off=0; if ($?CUDAENV_DISABLE) eval __cudaenv_note_off; if ($__cudaenv_off) eval __cudaenv_leave; if (! $__cudaenv_off) eval __cudaenv_ask_first; if ($__cudaenv_code == 4) eval __cudaenv_ask_again; if ($__cudaenv_code != 0 && $__cudaenv_code != 4) eval __cudaenv_ask_cut; __cudaenv_look' ;
alias __cudaenv_ask_cut 'set __cudaenv_cut=(--cut-off); __cudaenv_ask_again' ;

: The precmd of the user comes first, so that what direnv does there is seen at once and is not done to what is ours. It finds the status as it is, and for the prompt tcsh itself keeps it ;
alias __cudaenv_precmd 'set __cudaenv_say=--say; __cudaenv_update' ;
set __cudaenv_found=("`alias precmd`") ;
if ("$__cudaenv_found" == "") alias precmd __cudaenv_precmd ;
if ("$__cudaenv_found" != "" && "$__cudaenv_found" !~ *__cudaenv_precmd*) alias __cudaenv_user_precmd "$__cudaenv_found" ;
if ("$__cudaenv_found" != "" && "$__cudaenv_found" !~ *__cudaenv_precmd*) alias precmd '__cudaenv_user_precmd; __cudaenv_precmd' ;

: Ours stand before conda, mamba and micromamba where these are aliases. Each is one simple command, so that it is right in a pipe or after another command: eval of the words as they were typed, between ours. In a pipe eval hides standard input from its commands, so there they are given it ;
set __cudaenv_words='set __cudaenv_noglob=$?noglob; set noglob; set __cudaenv_args=(-' ;
set __cudaenv_begin='); if (! $__cudaenv_noglob) unset noglob; set __cudaenv_word=-; if ($#__cudaenv_args > 1) eval __cudaenv_first; set __cudaenv_piped=0; if (-p /dev/stdin) set __cudaenv_piped=1 < /dev/stdin; @ __cudaenv_direct = ! $__cudaenv_piped;' ;
set __cudaenv_then='; set status=$__cudaenv_direct &&' ;
set __cudaenv_else='< /dev/stdin; set __cudaenv_result=$status; set status=$__cudaenv_piped &&' ;
set __cudaenv_end='; if (! $__cudaenv_piped) set __cudaenv_result=$status;' ;
set __cudaenv_return='; set status=$__cudaenv_result' ;
alias __cudaenv_first 'set __cudaenv_word="$__cudaenv_args[2]"' ;
alias __cudaenv_start 'set __cudaenv_acts=0; if (" @CUDAENV_ACTING@ " =~ *" $__cudaenv_word "*) set __cudaenv_acts=1; set __cudaenv_was=-; if ($?__CUDAENV_UNDO) eval __cudaenv_note_was; if ($__cudaenv_acts) eval __cudaenv_leave' ;
alias __cudaenv_note_was 'set __cudaenv_was=$__CUDAENV_UNDO:q' ;
alias __cudaenv_finish 'if ($__cudaenv_acts) eval __cudaenv_update_now' ;

: After a command, where the next may stand on the same line: where all is as it was before, nothing is said ;
alias __cudaenv_update_now 'set __cudaenv_more=(--was $__cudaenv_was:q); __cudaenv_update; set __cudaenv_more=()' ;
alias __cudaenv_around_conda 'eval $__cudaenv_words:q \!*:q $__cudaenv_begin:q __cudaenv_start $__cudaenv_then:q __cudaenv_original_conda \!*:q $__cudaenv_else:q __cudaenv_original_conda \!*:q $__cudaenv_end:q __cudaenv_finish $__cudaenv_return:q' ;
alias __cudaenv_around_mamba 'eval $__cudaenv_words:q \!*:q $__cudaenv_begin:q __cudaenv_start $__cudaenv_then:q __cudaenv_original_mamba \!*:q $__cudaenv_else:q __cudaenv_original_mamba \!*:q $__cudaenv_end:q __cudaenv_finish $__cudaenv_return:q' ;
alias __cudaenv_around_micromamba 'eval $__cudaenv_words:q \!*:q $__cudaenv_begin:q __cudaenv_start $__cudaenv_then:q __cudaenv_original_micromamba \!*:q $__cudaenv_else:q __cudaenv_original_micromamba \!*:q $__cudaenv_end:q __cudaenv_finish $__cudaenv_return:q' ;
alias __cudaenv_look 'if ($__cudaenv_wrap && "$?_CONDA_EXE$?MAMBA_EXE" != "$__cudaenv_looked") eval __cudaenv_look_again' ;
alias __cudaenv_look_again 'set __cudaenv_looked="$?_CONDA_EXE$?MAMBA_EXE"; set __cudaenv_seen=0; __cudaenv_look_at conda; __cudaenv_look_at mamba; __cudaenv_look_at micromamba; if (! $__cudaenv_seen && "$__cudaenv_looked" != 00) set __cudaenv_looked=""' ;
alias __cudaenv_look_at 'set __cudaenv_found=("`alias \!:1`"); if ("$__cudaenv_found" != "") set __cudaenv_seen=1; if ("$__cudaenv_found" != "" && "$__cudaenv_found" !~ *__cudaenv_*) eval __cudaenv_put_before \!:1' ;
alias __cudaenv_put_before 'alias __cudaenv_original_\!:1 "$__cudaenv_found"; alias \!:1 __cudaenv_around_\!:1' ;

: Stands before the program. use changes this shell, and whatever else was changed shows at once. Within double quotes and backquotes :q is not heeded, but within an alias there ;
alias cudaenv 'eval $__cudaenv_words:q \!*:q $__cudaenv_begin:q __cudaenv_start_own $__cudaenv_then:q $__cudaenv_own:q \!*:q $__cudaenv_else:q $__cudaenv_own:q \!*:q $__cudaenv_end:q __cudaenv_finish_own $__cudaenv_return:q' ;
set __cudaenv_own='/usr/bin/env __cudaenv_found_home=$__cudaenv_found_home:q __cudaenv_found_path=$__cudaenv_found_path:q __cudaenv_found_journal=$__cudaenv_found_journal:q $__cudaenv_program:q' ;
alias __cudaenv_start_own 'if ("$__cudaenv_word" == use) eval "set __cudaenv_direct=1; set __cudaenv_piped=1"' ;
alias __cudaenv_finish_own 'if ("$__cudaenv_word" == use) eval __cudaenv_use; set __cudaenv_was=-; __cudaenv_update_now' ;
: The words of use have a redirection among them, if one was typed: of the inner eval it is one again ;
alias __cudaenv_use 'eval eval __cudaenv_use_now $__cudaenv_args[3-]:q' ;
alias __cudaenv_use_text '$__cudaenv_program:q use --shell tcsh \!*' ;
alias __cudaenv_use_now 'set __cudaenv_text=("`__cudaenv_use_text \!*`"); set __cudaenv_result=$status; if ($__cudaenv_result == 0) eval "$__cudaenv_text"' ;

: As if the hook had never been ;
alias __cudaenv_unhook '__cudaenv_leave; __cudaenv_give_back precmd __cudaenv_user_precmd; __cudaenv_give_back conda __cudaenv_original_conda; __cudaenv_give_back mamba __cudaenv_original_mamba; __cudaenv_give_back micromamba __cudaenv_original_micromamba; unalias cudaenv "__cudaenv_*"; unset "__cudaenv_*"' ;
alias __cudaenv_give_back 'set __cudaenv_found=("`alias \!:1`"); if ("$__cudaenv_found" =~ *__cudaenv_*) eval __cudaenv_put_back \!*' ;
alias __cudaenv_put_back 'set __cudaenv_found=("`alias \!:2`"); unalias \!:1; if ("$__cudaenv_found" != "") alias \!:1 "$__cudaenv_found"' ;

: On a terminal that is not ours, as after su, standard input cannot be opened again: there nothing stands before conda and the program, and the prompt serves alone ;
if (! -r /dev/stdin) set __cudaenv_wrap=0 ;
if (! -r /dev/stdin) unalias cudaenv ;

: A script has no prompt: it is served at once. Else a prompt will come ;
if (! $?prompt) eval __cudaenv_update ;
if ($?prompt) eval __cudaenv_look ;
