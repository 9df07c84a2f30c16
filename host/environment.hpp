// The environment of whoever asks, as a value: a daemon answers for shells that are not its own.
// Law: empty counts as unset (conda "unsets" by emptying).
#pragma once

#include "base/text.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

using Environment = std::map<std::string, std::string, std::less<>>;

// Empty when unset or empty.
inline std::string value_of(const Environment& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

// The absolute directories of a list such as PATH, in order, each once, without trailing slashes.
inline std::vector<std::string> directories_of(std::string_view list) {
    std::vector<std::string> directories;
    for (auto part : split(list, ':')) {
        while (part.size() > 1 && part.ends_with('/')) {
            part.remove_suffix(1);
        }
        bool seen = !part.starts_with('/'); // a relative one depends on where one stands
        for (const auto& known : directories) {
            seen = seen || known == part;
        }
        if (!seen) {
            directories.emplace_back(part);
        }
    }
    return directories;
}

} // namespace cudaenv::host
