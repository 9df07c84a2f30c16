#include "daemon/probe/child_environment.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace cudaenv::daemon {

namespace {

// Names without a slash are looked for; of LD_PRELOAD spaces separate too.
std::string with_absolute_paths(const std::string& list, std::string_view separators,
                                const std::string& cwd) {
    std::string text;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find_first_of(separators, at), list.size());
        const std::string entry = list.substr(at, end - at);
        const bool relative = !entry.starts_with('/') && entry.find('/') != std::string::npos;
        text += relative ? cwd + '/' + entry : entry;
        text += list.substr(end, 1);
        at = end + 1;
    }
    return text;
}

} // namespace

std::vector<std::string> child_environment(patch::Variables variables,
                                           const protocol::Caller& caller,
                                           const probe::LoaderTokens& tokens) {
    if (const auto found = variables.find("LD_LIBRARY_PATH"); found != variables.end()) {
        found->second = join(probe::loader_directories(found->second, caller.cwd, tokens), ":");
    }
    for (const auto& [name, separators] : {std::pair("LD_PRELOAD", ": "), {"LD_AUDIT", ":"}}) {
        if (const auto found = variables.find(name); found != variables.end()) {
            found->second = with_absolute_paths(found->second, separators, caller.cwd);
        }
    }
    std::vector<std::string> list;
    for (const auto& [name, value] : variables) {
        if (!name.starts_with("CUDAENV_") && !name.starts_with("__")) {
            list.push_back(name + '=' + value);
        }
    }
    return list;
}

} // namespace cudaenv::daemon
