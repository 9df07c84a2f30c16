#include "host/toolkit_text.hpp"

#include "base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace cudaenv::host {

namespace {

std::optional<DottedVersion> as_version(std::string_view text) {
    auto parsed = DottedVersion::parse(trim(text));
    return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

// The whole number that `#define macro` gives; none where it gives an expression.
std::optional<unsigned> defined_number(std::string_view header, std::string_view macro) {
    for (auto at = header.find(macro); at != std::string_view::npos;
         at = header.find(macro, at + 1)) {
        const auto line_start = header.rfind('\n', at) + 1; // npos + 1 is 0
        auto before = trim(header.substr(line_start, at - line_start));
        if (!before.starts_with('#') || trim(before.substr(1)) != "define") {
            continue;
        }
        auto rest = header.substr(at + macro.size());
        if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t')) {
            continue; // a longer name
        }
        rest = rest.substr(std::min(rest.find_first_not_of(" \t("), rest.size()));
        unsigned value = 0;
        if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc()) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<DottedVersion> three_defines(std::string_view header, std::string_view major,
                                           std::string_view minor, std::string_view patch) {
    const auto first = defined_number(header, major);
    const auto second = defined_number(header, minor);
    const auto third = defined_number(header, patch);
    if (!first || !second || !third) {
        return std::nullopt;
    }
    return as_version(std::to_string(*first) + '.' + std::to_string(*second) + '.' +
                      std::to_string(*third));
}

// Nothing that nvcc drives is older; a bound below says nothing.
constexpr int k_oldest = 3;

struct Range {
    std::optional<int> min;
    std::optional<int> max;
};

// What `#if __GNUC__ < 6 || __GNUC__ > 12` leaves of the major versions in `macro`.
Range accepted(std::string_view condition, std::string_view macro) {
    Range range;
    for (auto at = condition.find(macro); at != std::string_view::npos;
         at = condition.find(macro, at)) {
        at += macro.size();
        const std::string_view rest = condition.substr(at);
        const auto digits = std::min(rest.find_first_of("0123456789"), rest.size());
        const std::string_view comparison = trim(rest.substr(0, digits));
        int bound = 0;
        if (std::from_chars(rest.data() + digits, rest.data() + rest.size(), bound).ec !=
            std::errc()) {
            continue;
        }
        if (comparison == ">" || comparison == ">=") {
            range.max = comparison == ">" ? bound : bound - 1;
        } else if ((comparison == "<" || comparison == "<=") && bound > k_oldest) {
            range.min = comparison == "<" ? bound : bound + 1;
        }
    }
    return range;
}

} // namespace

std::optional<DottedVersion> parse_version_json(std::string_view text) {
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object()) {
        return std::nullopt;
    }
    const auto version_of = [&](const char* key) -> std::optional<DottedVersion> {
        const auto found = document.find(key);
        if (found == document.end()) {
            return std::nullopt;
        }
        // {"version": "11.3.109"}, or the text itself.
        const auto& value =
            found->is_object() && found->contains("version") ? (*found)["version"] : *found;
        return value.is_string() ? as_version(value.get_ref<const std::string&>()) : std::nullopt;
    };
    auto sdk = version_of("cuda");
    // The SDK's third part is a date in some releases (11.3.20210326); nvcc's is a build.
    if (auto nvcc = version_of("cuda_nvcc");
        nvcc && (!sdk || nvcc->major_minor() == sdk->major_minor())) {
        return nvcc;
    }
    if (sdk && sdk->part(2) > 9999) {
        return as_version(sdk->major_minor());
    }
    return sdk ? sdk : version_of("version");
}

std::optional<DottedVersion> parse_version_txt(std::string_view text) {
    for (const auto line : split(text, '\n')) {
        constexpr std::string_view k_label = "CUDA Version";
        if (const auto at = line.find(k_label); at != std::string_view::npos) {
            return as_version(line.substr(at + k_label.size()));
        }
    }
    return std::nullopt;
}

std::optional<DottedVersion> parse_cuda_define(std::string_view header, std::string_view macro) {
    const auto number = defined_number(header, macro);
    // 7050 was 7.5, 13000 is 13.0; anything else is another header's number.
    if (!number || *number < 1000 || *number > 99'990) {
        return std::nullopt;
    }
    return as_version(std::to_string(*number / 1000) + '.' + std::to_string(*number % 1000 / 10));
}

std::optional<DottedVersion> parse_nvcc_version(std::string_view text) {
    constexpr std::string_view k_label = "release ";
    const auto at = text.find(k_label);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto line = text.substr(at + k_label.size(), text.find('\n', at) - at - k_label.size());
    if (const auto full = line.find(", V"); full != std::string_view::npos) {
        if (auto version = as_version(line.substr(full + 3))) {
            return version;
        }
    }
    return as_version(line.substr(0, line.find(',')));
}

std::optional<DottedVersion> parse_cudnn_header(std::string_view header) {
    return three_defines(header, "CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL");
}

std::optional<DottedVersion> parse_nccl_header(std::string_view header) {
    return three_defines(header, "NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH");
}

std::optional<DottedVersion> parse_library_name(std::string_view file_name,
                                                std::string_view library) {
    if (!file_name.starts_with(library) || !file_name.substr(library.size()).starts_with(".so.")) {
        return std::nullopt;
    }
    return as_version(file_name.substr(library.size() + 4));
}

std::optional<CompilerBounds> parse_host_config(std::string_view header) {
    std::optional<CompilerBounds> bounds;
    std::string_view condition;
    for (const std::string_view line : split(header, '\n')) {
        if (line.starts_with("#if")) {
            condition = line;
        } else if (!line.starts_with("#error")) {
            continue;
        } else if (line.find("unsupported GNU version") != std::string_view::npos) {
            const auto [min, max] = accepted(condition, "__GNUC__");
            bounds = bounds.value_or(CompilerBounds());
            bounds->gcc_min = min;
            bounds->gcc_max = max;
        } else if (line.find("unsupported clang version") != std::string_view::npos) {
            const auto [min, max] = accepted(condition, "__clang_major__");
            bounds = bounds.value_or(CompilerBounds());
            bounds->clang_min = min;
            bounds->clang_max = max;
        }
    }
    return bounds;
}

} // namespace cudaenv::host
