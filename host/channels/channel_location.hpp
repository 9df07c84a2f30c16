// What a user gives as a channel, as a directory of this machine. Pure: looks at no file.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace cudaenv::channels {

struct ChannelLocation {
    std::string name;       // as the user named it, secrets removed
    std::string directory;  // no '/' at the end, but for the root itself
    bool bare_word = false; // no scheme and no '/': it may as well be the name of a public channel
};

// A directory, or a file:// URL with its percent escapes decoded. Any other scheme: Unavailable,
// "channel-not-local".
Result<ChannelLocation> locate_channel(std::string_view url_or_directory);

// "file:///tmp/my%20channel" of "/tmp/my channel".
std::string file_url(std::string_view absolute_path);

} // namespace cudaenv::channels
