#include "solver/specs/cuda_label.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace cudaenv::specs {

namespace {

std::string_view digits_at_start(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_digit);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// "118" is 11.8, "92" 9.2, "12" 12, "12.8.1" 12.8, "1210" none.
std::optional<DottedVersion> of_digits(std::string_view text) {
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

std::optional<DottedVersion> cuda_in(std::string_view text) {
    for (auto at = text.find("cu"); at != std::string_view::npos; at = text.find("cu", at + 1)) {
        if (at > 0 && is_letter(text[at - 1])) {
            continue; // the middle of a word
        }
        auto rest = text.substr(at + 2);
        if (rest.starts_with("da")) {
            rest.remove_prefix(2);
        }
        if (auto version = of_digits(rest)) {
            return version;
        }
    }
    return std::nullopt;
}

} // namespace cudaenv::specs
