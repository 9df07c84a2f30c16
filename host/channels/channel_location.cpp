#include "host/channels/channel_location.hpp"

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::channels {
namespace {

constexpr std::string_view k_local_hint =
    "give a directory or a file:// URL that holds linux-64/ and noarch/ with repodata.json or "
    "repodata.json.zst";

// "https" of "https://host/x"; empty for a path. One letter is not a scheme.
std::string_view scheme_of(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon < 2 || !is_letter(text[0]) ||
        colon + 1 >= text.size() || text[colon + 1] != '/') {
        return {};
    }
    const auto scheme = text.substr(0, colon);
    const bool fits = std::ranges::all_of(
        scheme, [](char c) { return is_alnum(c) || c == '+' || c == '-' || c == '.'; });
    return fits ? scheme : std::string_view{};
}

Result<std::string> path_of_file_url(std::string_view url) {
    const auto after_scheme = url.find(':') + 1;
    std::string_view rest = url.substr(after_scheme);
    if (rest.starts_with("//")) {
        rest.remove_prefix(2);
        const auto slash = std::min(rest.find('/'), rest.size());
        const auto host = to_lower_ascii(rest.substr(0, slash));
        if (!host.empty() && host != "localhost") {
            return bad_input("bad-channel",
                             "a file:// URL of another machine, \"" + host + "\", cannot be read",
                             "a path of this machine has three slashes, as in file:///srv/channel");
        }
        rest.remove_prefix(slash);
    }
    const std::size_t start = url.size() - rest.size();
    // What follows ? or # is no part of the path.
    rest = rest.substr(0, rest.find_first_of("?#"));
    if (const std::size_t fault = percent_fault(rest); fault != std::string_view::npos) {
        auto error = bad_input("bad-channel",
                               "\"" + std::string(rest.substr(fault, 3)) +
                                   "\" is not a percent escape of a path",
                               "expected % and two hexadecimal digits, as in %20 for a space");
        error.value().column = static_cast<int>(start + fault + 1);
        return error;
    }
    return percent_decode(rest);
}

} // namespace

Result<ChannelLocation> locate_channel(std::string_view url_or_directory) {
    const auto given = trim(url_or_directory);
    ChannelLocation out;
    out.name = redact_secrets(given);
    if (given.empty() || given.find('\0') != std::string_view::npos) {
        return bad_input("bad-channel", "a channel without a name", std::string(k_local_hint));
    }
    if (const auto scheme = to_lower_ascii(scheme_of(given)); scheme == "file") {
        CUDAENV_TRY(out.directory, path_of_file_url(given));
    } else if (!scheme.empty()) {
        return unavailable("channel-not-local",
                           "channel " + out.name +
                               " is on the network; only channels on this "
                               "machine can be read",
                           std::string(k_local_hint));
    } else {
        out.directory = given;
        out.bare_word = given.find('/') == std::string_view::npos && given != "." && given != "..";
    }
    out.directory = std::string(without_end_slashes(out.directory));
    if (out.directory.empty()) {
        return bad_input("bad-channel", "channel " + out.name + " has no path",
                         std::string(k_local_hint));
    }
    return out;
}

std::string file_url(std::string_view absolute_path) {
    return "file://" + percent_encode(absolute_path, "-._~/!$&'()*+,;=:@");
}

} // namespace cudaenv::channels
