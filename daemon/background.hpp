// cudaenvd as a process: belonging to no shell (--stay), its end without memory, its program.
#pragma once

#include <string>
#include <sys/stat.h>

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

// The end of cudaenvd where no memory is left. Most of it throws std::bad_alloc, which becomes an
// answer (service.hpp). What may not throw, such as a copy of a Result (tl::expected's is
// noexcept), can only end the process: then the exit status says why.

// From now on: a std::terminate on a thread that found no memory ends the process with
// protocol::k_ended_without_memory, without a word and without a core file.
void end_quietly_without_memory();

// The program that this process runs, on its disk.
class OwnProgram {
public:
    OwnProgram(); // as it is now
    // Whether another file, or none, is at its path since then: one stat.
    [[nodiscard]] bool replaced() const;

private:
    std::string m_path; // empty where /proc is not there: then never replaced
    struct stat m_status {};
};

} // namespace cudaenv::daemon
