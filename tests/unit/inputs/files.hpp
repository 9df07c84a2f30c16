// Files in memory, read as an input, and what came of it as lines that a test compares.
#pragma once

#include "solver/inputs/input.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudaenv::test {

using Files = std::map<std::string, std::string>;

inline Result<inputs::Input> read_files(const Files& files, std::string_view word,
                                        const inputs::Target& target = inputs::Target()) {
    return inputs::read_input(
        word,
        [&](const std::string& path) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) {
                return tl::unexpected(Error{
                    ErrorKind::BadInput, "no-such-file", "there is no such file", path, 0, 0, {}});
            }
            return found->second;
        },
        target);
}

inline Result<inputs::Input> read_file(const std::string& name, const std::string& text,
                                       const inputs::Target& target = inputs::Target()) {
    return read_files({{name, text}}, name, target);
}

using Lines = std::vector<std::string>;

inline Lines texts(const std::vector<inputs::Entry>& entries) {
    Lines lines;
    for (const inputs::Entry& entry : entries) {
        lines.push_back(entry.text);
    }
    return lines;
}

// "torch==2.4.1 (requirements.txt line 2)"
inline Lines placed(const std::vector<inputs::Entry>& entries) {
    Lines lines;
    for (const inputs::Entry& entry : entries) {
        lines.push_back(entry.text + " (" + entry.origin + ")");
    }
    return lines;
}

} // namespace cudaenv::test
