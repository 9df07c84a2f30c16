// What one request reads of this machine: each file and setting once, whichever part of the answer
// asks for it. Only for as long as one request.
#pragma once

#include "host/file_system.hpp"
#include "host/probe/verdict_store.hpp"
#include "host/project/project.hpp"
#include "protocol/caller.hpp"

#include <optional>

namespace cudaenv::daemon {

class Looks {
public:
    explicit Looks(const protocol::Caller& caller);
    Looks(const Looks&) = delete;
    Looks& operator=(const Looks&) = delete;

    // The user's and the administrator's config.toml.
    const Result<project::ConfigFiles>& config(pins::UnknownKeys unknown);

    host::DiskFileSystem disk;
    host::RememberingFileSystem files{disk};
    probe::VerdictReader verdicts; // the caller's

private:
    const protocol::Caller& m_caller;
    std::optional<Result<project::ConfigFiles>> m_config;
    pins::UnknownKeys m_unknown = pins::UnknownKeys::Note;
};

} // namespace cudaenv::daemon
