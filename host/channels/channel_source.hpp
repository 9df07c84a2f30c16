// Conda channels of this machine, opened for the solver: directories and file:// URLs that hold
// linux-64/ and noarch/ with repodata.json or repodata.json.zst (of both, the newer; of equals, the
// plain).
#pragma once

#include "base/result.hpp"
#include "solver/resolve/channel.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cudaenv::channels {

struct ChannelOptions {
    // Where indexes are kept between runs; made when needed. Empty: none are. Should be on a local
    // disk.
    std::string cache_directory;
    std::string platform_subdir = "linux-64"; // linux-aarch64 on such a host
    std::uint64_t largest_text = 0xFFFFFFFFU; // of one repodata file, decompressed; at most this
};

// Reads each repodata file once as a whole, or its index from an earlier run, and refuses the
// channel when a record is wrong: BadInput "bad-repodata" or "bad-zstd" with path, line and column.
// BadInput "no-channel" where the directory holds no channel; Unavailable "channel-not-local" for
// what is on the network; Unavailable "cannot-read".
Result<std::unique_ptr<resolve::Channel>> open_channel(std::string_view url_or_directory,
                                                       const ChannelOptions& options);

// What a user gives as a channel, as a directory of this machine. Pure: looks at no file.
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
