// A record of conda-meta/ as conda, mamba and rattler write it. Pure text.
#pragma once

#include "base/result.hpp"
#include "check/inventory/claimed_path.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace cudaenv::inventory {

// Larger ones are not read.
inline constexpr std::size_t k_longest_record = std::size_t{64} << 20U;

// Keeps its memory from record to record; one for each thread.
class CondaMetaReader {
public:
    CondaMetaReader();
    CondaMetaReader(const CondaMetaReader&) = delete;
    CondaMetaReader& operator=(const CondaMetaReader&) = delete;
    ~CondaMetaReader();

    // Fails on what is not a JSON object with a name. Where `paths_data` is missing, as in old
    // records, the claims are those of `files`. Names of files that are no UTF-8, which conda
    // writes as lone surrogates, come back as the bytes that they are. `record` and `written_ns`
    // are left empty.
    [[nodiscard]] Result<facts::CondaPackage> read(std::string_view text, ClaimedPaths& paths);

private:
    struct Parser;
    std::unique_ptr<Parser> m_parser;
};

} // namespace cudaenv::inventory
