#include "host/channels/channel_location.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <charconv>

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
    const bool fits = std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return is_alnum(c) || c == '+' || c == '-' || c == '.';
    });
    return fits ? scheme : std::string_view{};
}

Result<std::string> percent_decoded(std::string_view text, std::size_t first_column) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        unsigned value = 0;
        const auto digits = text.substr(i + 1, 2);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2 || value == 0) {
            auto bad = bad_input("bad-channel",
                                 "\"" + std::string(text.substr(i, 3)) +
                                     "\" is not a percent escape of a path",
                                 "expected % and two hexadecimal digits, as in %20 for a space");
            bad.value().column = static_cast<int>(first_column + i + 1);
            return bad;
        }
        out += static_cast<char>(value);
        i += 2;
    }
    return out;
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
    // What follows ? or # is no part of the path.
    rest = rest.substr(0, rest.find_first_of("?#"));
    return percent_decoded(rest, url.size() - rest.size());
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
    while (out.directory.size() > 1 && out.directory.ends_with('/')) {
        out.directory.pop_back();
    }
    if (out.directory.empty()) {
        return bad_input("bad-channel", "channel " + out.name + " has no path",
                         std::string(k_local_hint));
    }
    return out;
}

std::string file_url(std::string_view absolute_path) {
    static constexpr std::string_view k_plain = "-._~/!$&'()*+,;=:@";
    static constexpr std::string_view k_hex = "0123456789ABCDEF";
    std::string out = "file://";
    for (const char c : absolute_path) {
        if (is_alnum(c) || k_plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += k_hex[byte >> 4];
            out += k_hex[byte & 15U];
        }
    }
    return out;
}

} // namespace cudaenv::channels
