// RECORD of a dist-info: a file a line, as Python's csv module writes it (RFC 4180, a quote only
// where one is needed), and installed-files.txt of an egg-info. Pure text. Law: a damaged line is
// counted and costs no other line.
#pragma once

#include "check/inventory/claimed_path.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cudaenv::inventory {

// Lines beyond it are not read: the largest real record (of conda's) has some 20,000.
inline constexpr std::size_t k_most_claims = 1'000'000;

struct RecordText {
    facts::FileClaims files;
    // With no path or a NUL in it, more than three fields, a quote that is not closed, a size that
    // is no number, or a sha256 of another form. The path of the last two still counts as claimed.
    std::uint32_t damaged = 0;
    std::size_t first_damaged_line = 0; // from 1; 0: none
    bool cut = false; // there are more than k_most_claims, or than FileClaims holds
};

// Paths of a RECORD are seen from `site`. A backslash is a letter: wheels made on Windows may hold
// it, and installers keep it in the file's name.
RecordText parse_record(std::string_view text, std::string_view site, ClaimedPaths& paths);

// Paths are seen from the egg-info directory.
RecordText parse_installed_files(std::string_view text, std::string_view egg_info,
                                 ClaimedPaths& paths);

} // namespace cudaenv::inventory
