// Which host compilers a toolkit accepts, read out of its own crt/host_config.h. Pure.
// Every release of CUDA has one #if that compares __GNUC__ or __clang_major__ with numbers, and
// below it the #error "unsupported GNU version" or "unsupported clang version".
#pragma once

#include <optional>
#include <string_view>

namespace cudaenv::host {

// Major versions; none where the header sets no such bound.
struct CompilerBounds {
    std::optional<int> gcc_min;
    std::optional<int> gcc_max;
    std::optional<int> clang_min;
    std::optional<int> clang_max;
};

// None where the text checks no compiler at all, as the wrapper include/host_config.h of 9.0 and
// newer. A bound inside a major (8.0's gcc 5.3) counts the whole major.
std::optional<CompilerBounds> parse_host_config(std::string_view header);

} // namespace cudaenv::host
