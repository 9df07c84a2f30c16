#include "host/package_names.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

namespace cudaenv::host {

std::optional<CondaRecord> parse_conda_record(std::string_view file_name) {
    constexpr std::string_view k_end = ".json";
    if (!file_name.ends_with(k_end)) {
        return std::nullopt;
    }
    file_name.remove_suffix(k_end.size());
    const auto build = file_name.rfind('-');
    if (build == std::string_view::npos || build == 0) {
        return std::nullopt;
    }
    const auto version = file_name.rfind('-', build - 1);
    if (version == std::string_view::npos || version == 0) {
        return std::nullopt;
    }
    return CondaRecord{std::string(file_name.substr(0, version)),
                       std::string(file_name.substr(version + 1, build - version - 1)),
                       std::string(file_name.substr(build + 1)),
                       {}};
}

std::optional<DistInfo> parse_dist_info(std::string_view directory_name) {
    constexpr std::string_view k_end = ".dist-info";
    if (!directory_name.ends_with(k_end)) {
        return std::nullopt;
    }
    directory_name.remove_suffix(k_end.size());
    // Before the version no digit follows a dash; old tools left dashes in names.
    auto dash = directory_name.find('-');
    while (dash != std::string_view::npos && dash + 1 < directory_name.size() &&
           !is_digit(directory_name[dash + 1])) {
        dash = directory_name.find('-', dash + 1);
    }
    if (dash == std::string_view::npos || dash == 0 || dash + 1 == directory_name.size()) {
        return std::nullopt;
    }
    DistInfo info{to_lower_ascii(directory_name.substr(0, dash)),
                  std::string(directory_name.substr(dash + 1)),
                  {}};
    for (char& c : info.name) {
        c = c == '-' || c == '.' ? '_' : c;
    }
    return info;
}

} // namespace cudaenv::host
