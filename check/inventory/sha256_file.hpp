// The SHA-256 of open files. One hasher for each thread: it keeps its memory. Law: reads and does
// nothing else to the file; a file that changes meanwhile is reported as such, never as a digest.
#pragma once

#include "base/file_identity.hpp"
#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <memory>

struct evp_md_ctx_st;

namespace cudaenv::inventory {

// Whether a later change of the file is sure to show in its identity, as looked at at `now_ns`
// (since the epoch): not if it was changed just then, in what may be one tick of the clock.
bool is_settled(const FileIdentity& file, std::int64_t now_ns);

class FileHasher {
public:
    FileHasher();
    FileHasher(FileHasher&&) noexcept;
    FileHasher& operator=(FileHasher&&) noexcept;
    ~FileHasher();

    // `name` as seen from the directory open at `directory`, which has to be `expected` from
    // before it is read until after. Codes: those of host/file_system.hpp, "not-a-file", "changed",
    // k_stopped.
    Result<facts::Sha256Digest> hash(int directory, const char* name, const FileIdentity& expected,
                                     const GoesOn& wanted = {});

private:
    Result<std::uint64_t> read_all(int fd, std::uint64_t size, const GoesOn& wanted);

    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    std::unique_ptr<evp_md_ctx_st, Free> m_context;
    std::unique_ptr<char[]> m_memory;
};

} // namespace cudaenv::inventory
