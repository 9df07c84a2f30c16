// Becoming a process that belongs to no shell: for cudaenvd --stay.
#pragma once

namespace cudaenv::daemon {

// A session of its own, no descriptor above 2 but what is kept, no signal ignored or blocked that
// the starter had so (a terminal's hang-up ignored), "/" as directory, files for the user alone.
void leave_the_shell();

// For one that may outlive its client: a session of its own, and nothing more on standard error,
// whose reader would wait for it. It ends after two minutes, whatever it waits for.
void leave_the_terminal();

// Standard input and output become /dev/null; returns a copy of standard input, close-on-exec.
int take_standard_streams();

// SIGTERM and SIGINT wait from hold to release: so that who is asked to end after it listens, and
// before it can hear that, still takes its socket with it.
void hold_end_signals();
void release_end_signals();

// Nothing of the starter's environment is left. To be called once what it was started for is read,
// and before there is a second thread.
void forget_environment();

} // namespace cudaenv::daemon
