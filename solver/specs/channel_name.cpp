#include "solver/specs/channel_name.hpp"

#include "base/percent.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace cudaenv::specs {

namespace {

// conda 26.7, its default configuration.
constexpr std::string_view k_alias = "conda.anaconda.org";
constexpr std::string_view k_defaults_host = "repo.anaconda.com";
constexpr std::array<std::string_view, 3> k_custom = {"pkgs/main", "pkgs/pro", "pkgs/r"};
constexpr std::string_view k_unknown = "<unknown>";
constexpr std::array<std::string_view, 19> k_subdirs = {"noarch",        "emscripten-wasm32",
                                                        "wasi-wasm32",   "freebsd-64",
                                                        "linux-32",      "linux-64",
                                                        "linux-aarch64", "linux-armv6l",
                                                        "linux-armv7l",  "linux-ppc64",
                                                        "linux-ppc64le", "linux-riscv64",
                                                        "linux-s390x",   "osx-64",
                                                        "osx-arm64",     "win-32",
                                                        "win-64",        "win-arm64",
                                                        "zos-z"};

std::string_view strip_slashes(std::string_view text) {
    while (!text.empty() && text.front() == '/') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == '/') {
        text.remove_suffix(1);
    }
    return text;
}

std::string_view strip_trailing_slashes(std::string_view text) {
    while (!text.empty() && text.back() == '/') {
        text.remove_suffix(1);
    }
    return text;
}

std::string join_url(std::string_view first, std::string_view second) {
    std::string joined = first.empty() || first.front() == '/' ? "/" : "";
    joined += strip_slashes(first);
    const std::string_view rest = strip_slashes(second);
    if (!rest.empty()) {
        if (!strip_slashes(first).empty()) {
            joined += '/';
        }
        joined += rest;
    }
    return joined;
}

// Compared only as far as the shorter goes, as conda does.
bool tokens_agree(std::string_view a, std::string_view b) {
    const auto left = split(a, '/');
    const auto right = split(b, '/');
    return std::equal(left.begin(),
                      left.begin() + static_cast<long>(std::min(left.size(), right.size())),
                      right.begin());
}

std::string replace_first(std::string_view text, std::string_view what) {
    std::string out(text);
    if (const std::size_t at = out.find(what); at != std::string::npos) {
        out.erase(at, what.size());
    }
    return out;
}

void split_token(std::string& url) {
    const std::size_t at = url.find("/t/");
    if (at != std::string::npos) {
        std::size_t end = at + 3;
        while (end < url.size() &&
               ((url[end] >= '0' && url[end] <= '9') || (url[end] >= 'a' && url[end] <= 'z') ||
                (url[end] >= 'A' && url[end] <= 'Z') || url[end] == '-')) {
            ++end;
        }
        url.erase(at, end - at);
    }
    url.resize(strip_trailing_slashes(url).size());
}

std::string split_platform(std::string& url) {
    std::string platform;
    const std::string lower = to_lower_ascii(url);
    for (std::size_t at = lower.find('/'); at != std::string::npos; at = lower.find('/', at + 1)) {
        const std::size_t end = std::min(lower.find('/', at + 1), lower.size());
        if (is_known_subdir(std::string_view(lower).substr(at + 1, end - at - 1))) {
            platform = url.substr(at + 1, end - at - 1);
            url = replace_first(url, '/' + platform);
            break;
        }
    }
    url.resize(strip_trailing_slashes(url).size());
    return platform;
}

struct UrlParts {
    std::string host; // lower case
    std::string port;
    std::string path;
};

Result<UrlParts> split_url(std::string_view url) {
    const std::size_t scheme_end = url.find("://");
    std::string_view rest = has_scheme(url) ? url.substr(scheme_end + 3) : url;
    rest = rest.substr(0, rest.find_first_of("?#"));
    UrlParts parts;
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    std::string_view authority = rest.substr(0, slash);
    parts.path = std::string(rest.substr(slash));
    if ((authority.find('[') == std::string_view::npos) !=
        (authority.find(']') == std::string_view::npos)) {
        return bad_input("bad-channel", "\"" + redact_secrets(url) +
                                            "\": a bracket of an IPv6 address is missing");
    }
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
        authority.remove_prefix(at + 1);
    }
    const std::size_t colon = authority.find(':');
    parts.host = to_lower_ascii(authority.substr(0, colon));
    if (colon != std::string_view::npos && colon + 1 < authority.size()) {
        std::string_view port = authority.substr(colon + 1);
        std::uint32_t value = 0;
        for (const char c : port) {
            if (c < '0' || c > '9' || value > 65535) {
                return bad_input("bad-channel",
                                 "\"" + redact_secrets(url) + "\": the port is not a number",
                                 "expected a URL, as in https://host:8080/channel");
            }
            value = value * 10 + static_cast<std::uint32_t>(c - '0');
        }
        if (value > 65535) {
            return bad_input("bad-channel",
                             "\"" + redact_secrets(url) + "\": the port is above 65535");
        }
        parts.port = value == 0 ? "" : std::to_string(value);
    }
    return parts;
}

Result<ChannelName> parse_url(std::string_view text) {
    ChannelName channel;
    std::string url(text);
    split_token(url);
    channel.platform = split_platform(url);
    const bool is_index = url.ends_with(".json") || url.ends_with(".json.zst");
    if (package_extension(url) > 0 || is_index) {
        if (const std::size_t slash = url.rfind('/'); slash != std::string::npos) {
            channel.package_filename = percent_decode(std::string_view(url).substr(slash + 1));
            url.resize(slash);
        }
    }
    CUDAENV_TRY(const UrlParts parts, split_url(url));
    const std::string scheme = has_scheme(url) ? url.substr(0, url.find("://")) : "";
    const std::string authority = parts.host + (parts.port.empty() ? "" : ':' + parts.port);
    const std::string path(strip_trailing_slashes(parts.path));
    const std::string place = authority + path;
    channel.scheme = scheme.empty() ? "https" : scheme;
    if (path.empty()) {
        channel.location = authority;
        return channel;
    }
    for (const std::string_view custom : k_custom) {
        const std::string home = join_url(k_defaults_host, custom);
        if (tokens_agree(place, home)) {
            channel.location = k_defaults_host;
            channel.name =
                percent_decode(join_url(custom, strip_slashes(replace_first(place, home))));
            return channel;
        }
    }
    if (tokens_agree(place, k_alias)) {
        channel.location = k_alias;
        channel.name = percent_decode(strip_slashes(replace_first(place, k_alias)));
        return channel;
    }
    if (parts.host.empty()) {
        const std::size_t slash = place.rfind('/');
        channel.location = slash == 0 ? "/" : place.substr(0, slash);
        channel.name = percent_decode(place.substr(slash + 1));
        channel.scheme = "file";
        return channel;
    }
    // Enterprise servers keep their channels under /conda.
    std::string_view name = strip_slashes(path);
    channel.location = authority;
    if (name == "conda" || name.starts_with("conda/")) {
        channel.location += "/conda";
        name.remove_prefix(std::min<std::size_t>(name.size(), 6));
    }
    channel.name = percent_decode(strip_slashes(name));
    return channel;
}

bool looks_like_path(std::string_view text) {
    if (text.find("://") != std::string_view::npos || text.empty()) {
        return false;
    }
    const bool drive = text.size() > 2 && text[1] == ':' && (text[2] == '/' || text[2] == '\\') &&
                       ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
    return text.starts_with("./") || text.starts_with("..") || text[0] == '~' || text[0] == '/' ||
           drive || text.starts_with("\\\\");
}

} // namespace

bool is_known_subdir(std::string_view text) {
    return is_one_of(text, k_subdirs);
}

std::size_t package_extension(std::string_view text) {
    constexpr std::size_t k_longest = 8;
    const std::string end =
        to_lower_ascii(text.substr(text.size() - std::min(text.size(), k_longest)));
    return end.ends_with(".tar.bz2") ? 8U : end.ends_with(".conda") ? 6U : 0U;
}

bool has_scheme(std::string_view text) {
    const std::size_t end = text.find("://");
    constexpr std::size_t k_longest = 12;
    if (end == std::string_view::npos || end == 0 || end > k_longest || text[0] < 'a' ||
        text[0] > 'z') {
        return false;
    }
    return std::all_of(text.begin(), text.begin() + static_cast<long>(end),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

bool is_url(std::string_view text) {
    return has_scheme(text) && split_url(text).has_value();
}

std::string normal_path(std::string_view path) {
    const bool absolute = path.starts_with('/');
    std::vector<std::string_view> kept;
    for (const std::string_view piece : split(path, '/')) {
        if (piece.empty() || piece == ".") {
            continue;
        }
        if (piece == ".." && !kept.empty() && kept.back() != "..") {
            kept.pop_back();
        } else if (piece != ".." || !absolute) {
            kept.push_back(piece);
        }
    }
    std::string out = absolute ? "/" : "";
    for (const std::string_view piece : kept) {
        if (!out.empty() && out.back() != '/') {
            out += '/';
        }
        out += piece;
    }
    return out;
}

Result<ChannelName> ChannelName::parse(std::string_view text) {
    ChannelName channel;
    if (text.empty() || text == k_unknown || text == "None:///<unknown>" || text == "None") {
        channel.name = k_unknown;
        return channel;
    }
    if (has_scheme(text) || (!looks_like_path(text) && package_extension(text) > 0)) {
        return parse_url(text);
    }
    if (looks_like_path(text)) {
        const std::string path = normal_path(text);
        return parse_url("file://" + (path.starts_with('/') ? path : '/' + path));
    }
    std::string name(text);
    channel.platform = split_platform(name);
    channel.name = name;
    if (name == "defaults" || name == "local") {
        return channel;
    }
    channel.scheme = "https";
    const bool custom = std::ranges::any_of(k_custom, [&](std::string_view home) {
        return name == home || (name.starts_with(home) && name[home.size()] == '/');
    });
    channel.location = custom ? k_defaults_host : k_alias;
    return channel;
}

std::string ChannelName::canonical() const {
    if (name == "pkgs/main" || name == "pkgs/r") {
        return "defaults";
    }
    const bool custom = !name.empty() && std::ranges::any_of(k_custom, [&](std::string_view home) {
        return tokens_agree(name, home);
    });
    if (custom || location == k_alias || scheme.empty()) {
        return name;
    }
    return scheme + "://" + join_url(location, name);
}

std::string ChannelName::base_url() const {
    return scheme.empty() ? "" : scheme + "://" + join_url(location, name);
}

bool ChannelName::is_elsewhere() const {
    return !location.empty() && location != k_alias;
}

Result<ChannelSpec> ChannelSpec::parse(std::string_view text) {
    ChannelSpec spec;
    std::string expression;
    if (text.starts_with('^') && text.ends_with('$')) {
        expression = text;
    } else if (text.find('*') != std::string_view::npos) {
        // Only the star is special in conda's reading; the rest is a regular expression as it
        // stands.
        expression = "^(?:";
        for (const char c : text) {
            expression += c == '*' ? ".*" : std::string(1, c);
        }
        expression += ")$";
    }
    if (!expression.empty()) {
        CUDAENV_TRY(spec.m_regex, Regex::compile(expression));
        return spec;
    }
    CUDAENV_TRY(spec.m_channel, ChannelName::parse(text));
    return spec;
}

bool ChannelSpec::matches(std::string_view text) const {
    const auto other = ChannelName::parse(text);
    if (!other) {
        return false;
    }
    if (m_regex) {
        return m_regex->matches(other->canonical());
    }
    if (m_channel->is_elsewhere()) {
        return m_channel->base_url() == other->base_url();
    }
    return m_channel->name == other->name || m_channel->name == other->canonical();
}

} // namespace cudaenv::specs
