#include "host/environments/packages.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::host {

namespace {

// Beginnings of names, conda's and PyPI's.
constexpr std::array k_beginnings = {
    std::string_view("clangxx"),    std::string_view("cuda"),
    std::string_view("cudnn"),      std::string_view("cupy"),
    std::string_view("gxx_impl_"),  std::string_view("jax"),
    std::string_view("libcudnn"),   std::string_view("nvidia_cuda_runtime"),
    std::string_view("python"),     std::string_view("pytorch"),
    std::string_view("tensorflow"), std::string_view("tf_nightly"),
    std::string_view("torch"),
};

} // namespace

bool matters_for_cuda(std::string_view package_name) {
    return std::any_of(k_beginnings.begin(), k_beginnings.end(),
                       [&](std::string_view start) { return package_name.starts_with(start); });
}

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

bool Site::has(std::string_view name) const {
    return std::binary_search(names.begin(), names.end(), name);
}

const CondaRecord* Packages::conda_record(std::string_view name) const {
    const auto found = std::find_if(conda.begin(), conda.end(),
                                    [&](const CondaRecord& record) { return record.name == name; });
    return found == conda.end() ? nullptr : &*found;
}

const DistInfo* Packages::dist_info(std::string_view name) const {
    for (const auto& site : sites) {
        for (const auto& package : site.packages) {
            if (package.name == name) {
                return &package;
            }
        }
    }
    return nullptr;
}

} // namespace cudaenv::host
