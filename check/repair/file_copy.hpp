// One file made of another, and what it holds. Law: nothing is followed, nothing is written over,
// and what is not a regular file is not opened for long.
#pragma once

#include "base/goes_on.hpp"
#include "base/result.hpp"
#include "solver/facts/inventory.hpp"

#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/types.h>

namespace cudaenv::repair {

enum class CopyWay { Shared, Copied }; // Shared: the same blocks until one of them is written

// `from` must be a regular file; `to` must not be there. Its mode is `mode`, its time of change
// that of the source. What could not be copied whole is not left behind. Code also: k_stopped.
Result<CopyWay> copy_file(int from_directory, const std::string& from, int to_directory,
                          const std::string& to, mode_t mode, const GoesOn& wanted = {});
// A new file of that content.
Result<void> write_file(int directory, const std::string& name, std::string_view content,
                        mode_t mode, const timespec& modified);
// The whole of a regular file of at most `limit` bytes.
Result<std::string> read_file(int directory, const std::string& name, std::size_t limit);
// With an empty name, of the link that is open there.
Result<std::string> read_link(int directory, const std::string& name);
// Of a regular file.
Result<facts::Sha256Digest> digest_of(int directory, const std::string& name,
                                      const GoesOn& wanted = {});

std::string to_text(const facts::Sha256Digest& digest);

} // namespace cudaenv::repair
