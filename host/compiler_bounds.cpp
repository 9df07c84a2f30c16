#include "host/compiler_bounds.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <charconv>

namespace cudaenv::host {

namespace {

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
