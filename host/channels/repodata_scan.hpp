// One pass over a repodata.json that is given in windows: checks it and groups its records by name
// without decoding them. Pure.
//
// Law: after `finish` gave tables, every record of "packages" and "packages.conda" is a place in
// them and was accepted by `read_record`; after an error nothing is. Memory: the tables, and one
// member of the text at a time.
#pragma once

#include "host/channels/record_index.hpp"

#include <memory>
#include <optional>
#include <span>

namespace cudaenv::channels {

// What is wrong with a repodata text, and where; the owner of the file adds its path, line and
// column.
struct RepodataFault {
    std::uint64_t offset = 0; // from 0, in bytes
    std::string record;       // file name of the record it is in; may be empty
    std::string what;
    bool truncated = false;
};

class RepodataScan {
public:
    RepodataScan();
    ~RepodataScan();
    RepodataScan(const RepodataScan&) = delete;
    RepodataScan& operator=(const RepodataScan&) = delete;

    // The next window, of any size. False: see fault(); nothing more is read then.
    bool feed(std::span<const char> window);
    // After the last window.
    [[nodiscard]] std::optional<IndexBuilder::Tables> finish();
    [[nodiscard]] const RepodataFault& fault() const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace cudaenv::channels
