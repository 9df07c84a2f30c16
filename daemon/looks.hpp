// What one request has seen of this machine's files and of the store of verdicts: each is looked at
// once, whoever of those that answer it asks. Only for as long as one request.
#pragma once

#include "host/probe/verdict_store.hpp"
#include "host/remembering_file_system.hpp"
#include "protocol/caller.hpp"

namespace cudaenv::daemon {

struct Looks {
    explicit Looks(const protocol::Caller& caller);
    Looks(const Looks&) = delete;
    Looks& operator=(const Looks&) = delete;

    host::DiskFileSystem disk;
    host::RememberingFileSystem files{disk};
    host::VerdictReader verdicts; // the caller's
};

} // namespace cudaenv::daemon
