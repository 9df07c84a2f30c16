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

std::string_view digits_at_start(std::string_view text) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::optional<DottedVersion> version_of_digits(std::string_view text) {
    const auto first = digits_at_start(text);
    if (first.empty() || first.size() > 3) {
        return std::nullopt;
    }
    std::string version(first);
    const auto rest = text.substr(first.size());
    if (rest.starts_with('.') && first.size() < 3) {
        const auto second = digits_at_start(rest.substr(1));
        if (!second.empty()) {
            version += '.';
            version += second;
        }
    } else if (first.size() == 3 || (first.size() == 2 && first >= "70")) {
        version.insert(version.size() - 1, "."); // 118, 92; 11 and 12 are majors
    }
    auto parsed = DottedVersion::parse(version);
    return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

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

std::optional<DottedVersion> cuda_in(std::string_view text) {
    for (std::size_t at = text.find("cu"); at != std::string_view::npos;
         at = text.find("cu", at + 1)) {
        if (at > 0 && is_letter(text[at - 1])) {
            continue; // the middle of a word
        }
        auto rest = text.substr(at + 2);
        if (rest.starts_with("da")) {
            rest.remove_prefix(2);
        }
        if (auto version = version_of_digits(rest)) {
            return version;
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::host
