// Which paths lie on file systems that do not answer. Who touches such a path waits, perhaps for
// ever; here it is a thread that waits.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

// Those of `paths` that gave no answer within 0.6 s, all asked beside each other, and those that
// were silent before and still are. Where only local file systems are mounted no child is started.
std::vector<std::string> silent_paths(std::span<const std::string> paths);

// For places that a question cannot be answered without: an error where one of them is silent, since
// whoever reads there waits as long. Empty paths are left out. Errors: "silent-file-system".
Result<void> all_answer(std::vector<std::string> paths);

// Whether the path lies, by its name, where something may be mounted that does not answer.
bool may_be_silent(const std::string& path);

// Where something that may be silent is mounted, of the text of /proc/self/mountinfo; not a
// desktop's own in /run/user.
std::vector<std::string> remote_mounts(std::string_view mountinfo);

// The same with the mounts that may be silent and with what asks one path and may not come back. Of
// those that lie on one mount by their names, one is asked at a time.
using AskPath = std::function<void(const std::string& path)>;
std::vector<std::string> silent_paths(std::span<const std::string> paths,
                                      std::span<const std::string> mounts, const AskPath& ask);

} // namespace cudaenv::host
