#include "shellhooks/activation/situation.hpp"

#include "base/printable.hpp"
#include "shellhooks/activation/directories.hpp"

#include <algorithm>

namespace cudaenv::activation {

const std::string* Situation::value(std::string_view name) const {
    const auto found = base.find(name);
    return found == base.end() || found->second.empty() ? nullptr : &found->second;
}

bool Situation::is_kept(std::string_view name) const {
    return std::ranges::find(kept, name) != kept.end();
}

bool Situation::users(std::string_view name) const {
    return value(name) != nullptr || is_kept(name);
}

std::string Situation::shown(std::string_view path) const {
    const std::string* const home = value("HOME");
    if (home != nullptr && home->front() == '/') {
        const std::string directory = normal_directory(*home);
        if (directory != "/" && lies_in(path, directory)) {
            return '~' + printable(path.substr(directory.size()));
        }
    }
    return printable(path);
}

} // namespace cudaenv::activation
