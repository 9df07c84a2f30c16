// The pieces of a MatchSpec's text: brackets, keys, version and build, names. Pure.
#pragma once

#include "base/ascii.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::specs {

// White space of ASCII as conda's language counts it: the four separators 0x1c-0x1f are some too.
constexpr bool is_python_space(char c) {
    return is_space(c) || (c >= '\x1c' && c <= '\x1f');
}

// Without white space at both ends, as conda's language counts it.
[[nodiscard]] std::string_view strip(std::string_view text);
// All occurrences of `what` taken out.
[[nodiscard]] std::string without(std::string_view text, std::string_view what);
// The last `open` of the first line that has a `close` behind it, up to the last such `close`; or
// empty.
[[nodiscard]] std::string_view last_section(std::string_view text, char open, char close);

struct KeyValue {
    std::string_view key;
    std::string_view value;
};
// Reads `key=value` at `at` and moves behind it and its comma; false where none stands there.
bool read_key_value(std::string_view text, std::size_t& at, KeyValue& found);

struct VersionAndBuild {
    std::string version; // without spaces
    std::optional<std::string> build;
};
[[nodiscard]] VersionAndBuild split_build(std::string_view text);
// What a version's leading equals signs mean.
[[nodiscard]] std::string sanitize_version(const std::string& version, bool has_build);
// `name` in lower case.
[[nodiscard]] bool is_package_name(std::string_view name);

} // namespace cudaenv::specs
