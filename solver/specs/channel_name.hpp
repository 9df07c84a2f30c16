// A channel as a spec or a record names it: "conda-forge", "nvidia/label/cuda-11.8", a URL, a
// directory. Pure: a relative directory stays relative.
//
// Law: two names are the same channel where conda, with its default configuration, says so:
// "conda-forge" is https://conda.anaconda.org/conda-forge, "defaults" is pkgs/main and pkgs/r.
#pragma once

#include "base/result.hpp"
#include "solver/specs/pattern.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::specs {

struct ChannelName {
    std::string scheme;
    std::string location; // host and port, or a directory; empty for "defaults" and the unknown
    std::string name;
    std::string platform;         // a subdir that the text ended in; may be empty
    std::string package_filename; // of a URL of one package; may be empty

    // Error: "bad-channel" (a port that is no number).
    static Result<ChannelName> parse(std::string_view text);

    // What conda calls it: "conda-forge", "defaults", or a URL.
    [[nodiscard]] std::string canonical() const;
    // Empty for "defaults" and the unknown channel.
    [[nodiscard]] std::string base_url() const;
    // True where it lives neither at conda's own host of channels nor nowhere.
    [[nodiscard]] bool is_elsewhere() const;
};

// The channel part of a MatchSpec.
class ChannelSpec {
public:
    // Error: "bad-channel" or "bad-regex".
    static Result<ChannelSpec> parse(std::string_view text);
    // `text`: the record's channel; empty is the unknown one.
    [[nodiscard]] bool matches(std::string_view text) const;

private:
    std::optional<ChannelName> m_channel;
    std::optional<Regex> m_regex;
};

// "linux-64", "noarch", ...
[[nodiscard]] bool is_known_subdir(std::string_view text);
// The length of ".conda" or ".tar.bz2" at the end of `text`, in any case; else 0.
[[nodiscard]] std::size_t package_extension(std::string_view text);
// "https://..." and its like.
[[nodiscard]] bool has_scheme(std::string_view text);
// With a scheme, and a port that is one.
[[nodiscard]] bool is_url(std::string_view text);
// A path without "." and "..", "//" and a slash at the end; a relative one stays relative.
[[nodiscard]] std::string normal_path(std::string_view path);

} // namespace cudaenv::specs
