// What a record calls a file, as the inventory names it. Pure text: no symlink is followed.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::inventory {

class ClaimedPaths {
public:
    // `prefix` is absolute, without "." and ".."; `real_prefix` the same with its symlinks
    // resolved, for records write absolute paths in either way. Both without a slash at the end.
    explicit ClaimedPaths(std::string prefix, std::string real_prefix = {});

    // `written` as seen from `base` ("" for the prefix, "lib/python3.11/site-packages", or
    // absolute): relative to the prefix where it lies below it, else absolute. "" where it is the
    // prefix itself. Good until the next call.
    std::string_view resolve(std::string_view base, std::string_view written);

    [[nodiscard]] const std::string& prefix() const { return m_prefix; }
    // Absolute, whichever it was.
    [[nodiscard]] std::string absolute(std::string_view path) const;

private:
    std::string m_prefix;
    std::string m_real_prefix;
    std::string m_path;
};

} // namespace cudaenv::inventory
