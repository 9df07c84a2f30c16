// The end of cudaenvd where no memory is left. Most of it throws std::bad_alloc, which becomes an
// answer (service.hpp). What may not throw, such as a copy of a Result (tl::expected's is
// noexcept), can only end the process: then the exit status says why.
#pragma once

namespace cudaenv::daemon {

// From now on: a std::terminate on a thread that found no memory ends the process with
// protocol::k_ended_without_memory, without a word and without a core file.
void end_quietly_without_memory();

} // namespace cudaenv::daemon
