#include "base/text.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace cudaenv {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    std::size_t at = 0;
    while (true) {
        const std::size_t end = text.find(separator, at);
        if (end == std::string_view::npos) {
            pieces.push_back(text.substr(at));
            return pieces;
        }
        pieces.push_back(text.substr(at, end - at));
        at = end + 1;
    }
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view k_white = " \t\r\n\f\v";
    const std::size_t first = text.find_first_not_of(k_white);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(k_white) - first + 1);
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
    std::string joined;
    for (const std::string& piece : pieces) {
        if (&piece != pieces.data()) {
            joined += separator;
        }
        joined += piece;
    }
    return joined;
}

std::string to_lower_ascii(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return lower;
}

std::string_view without_end_slashes(std::string_view path) {
    return path.substr(
        0, std::max(path.find_last_not_of('/') + 1, std::min<std::size_t>(path.size(), 1)));
}

std::string_view leading_numbers(std::string_view text) {
    text = text.substr(0, text.find_first_not_of("0123456789."));
    return text.substr(0, text.find_last_not_of('.') + 1);
}

std::vector<std::pair<std::string_view, std::string_view>> assignments_in(std::string_view text) {
    std::vector<std::pair<std::string_view, std::string_view>> assignments;
    for (const std::string_view line : split(text, '\n')) {
        if (const auto equals = line.find('='); equals != std::string_view::npos) {
            assignments.emplace_back(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
        }
    }
    return assignments;
}

bool contains(std::span<const std::string> list, std::string_view text) {
    return std::ranges::find(list, text) != list.end();
}

void add_once(std::vector<std::string>& list, std::string text) {
    if (!contains(list, text)) {
        list.push_back(std::move(text));
    }
}

namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row[b.size()];
}
} // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
    std::optional<std::string> best;
    std::size_t best_distance = 3;
    constexpr std::size_t k_longest = 64;
    if (word.size() > k_longest) {
        return best;
    }
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance && 2 * distance < std::max<std::size_t>(word.size(), 3)) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         std::string otherwise) {
    const auto near = nearest(word, candidates);
    return near ? "did you mean \"" + *near + "\"?" : otherwise;
}

namespace {

// Of URLs with their scheme.
std::string redact_urls(std::string_view text) {
    std::string out;
    std::size_t at = 0;
    while (true) {
        const std::size_t scheme = text.find("://", at);
        if (scheme == std::string_view::npos) {
            out += text.substr(at);
            return out;
        }
        const std::size_t host = scheme + 3;
        const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'", host), text.size());
        const std::size_t slash = std::min(text.find('/', host), end);
        out += text.substr(at, host - at);
        const std::string_view authority = text.substr(host, slash - host);
        if (const std::size_t user_end = authority.rfind('@'); user_end != std::string_view::npos) {
            out += "***";
            out += authority.substr(user_end);
        } else {
            out += authority;
        }
        std::string_view path = text.substr(slash, end - slash);
        while (true) {
            // Also where the whole was turned to upper case.
            const std::size_t token = std::min(path.find("/t/"), path.find("/T/"));
            if (token == std::string_view::npos) {
                break;
            }
            const std::size_t token_end = std::min(path.find('/', token + 3), path.size());
            out += path.substr(0, token + 3);
            out += "***";
            path.remove_prefix(token_end);
        }
        // What a query, a parameter or a fragment carries may be a token under any name.
        const std::size_t query = path.find_first_of("?;#");
        out += path.substr(0, query);
        if (query != std::string_view::npos) {
            out += path[query];
            out += "***";
        }
        at = end;
    }
}

// Up to and with what says that a secret follows; npos: nothing does. `lower` is in lower case.
std::size_t end_of_secret_name(std::string_view lower, std::size_t from) {
    constexpr std::array k_names = std::to_array<std::string_view>({"bearer ",
                                                                    "authorization: basic ",
                                                                    "authorization: token ",
                                                                    "-token: ",
                                                                    "_token: ",
                                                                    "token=",
                                                                    "password=",
                                                                    "password: ",
                                                                    "passwd=",
                                                                    "passphrase=",
                                                                    "secret=",
                                                                    "client_secret: ",
                                                                    "api_key=",
                                                                    "api_key: ",
                                                                    "apikey=",
                                                                    "api-key=",
                                                                    "api-key: ",
                                                                    "access_key=",
                                                                    "access-key=",
                                                                    "access_key_id=",
                                                                    "private_key=",
                                                                    "_pat=",
                                                                    "_auth=",
                                                                    "_authtoken="});
    std::size_t first = std::string_view::npos;
    std::size_t end = std::string_view::npos;
    for (const std::string_view name : k_names) {
        if (const std::size_t at = lower.find(name, from); at < first) {
            first = at;
            end = at + name.size();
        }
    }
    return end;
}

// Tokens that tell by their first letters what they are (GitHub, GitLab, Hugging Face, PyPI, Slack,
// AWS, Google, NVIDIA, npm, Docker, DigitalOcean, Databricks, Anthropic, OpenAI, Stripe,
// anaconda.org, prefix.dev, JSON web tokens), replaced behind those where at least twelve more
// follow.
void redact_known_tokens(std::string& text) {
    constexpr std::array k_begins = std::to_array<std::string_view>(
        {"ghp_",  "gho_",      "ghs_",    "ghu_",  "ghr_",    "github_pat_", "glpat-",
         "gldt-", "glptt-",    "hf_",     "pypi-", "xoxa-",   "xoxb-",       "xoxp-",
         "xoxr-", "xoxs-",     "AKIA",    "ASIA",  "AIza",    "ya29.",       "nvapi-",
         "npm_",  "dckr_pat_", "dop_v1_", "dapi",  "sk-ant-", "sk-proj-",    "sk_live_",
         "tk-",   "pfx_",      "eyJ"});
    constexpr std::string_view k_letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    constexpr std::size_t k_least = 12;
    for (const std::string_view begin : k_begins) {
        for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
            const std::size_t from = at + begin.size();
            const std::size_t end = std::min(text.find_first_not_of(k_letters, from), text.size());
            const bool begins_here = at == 0 || k_letters.find(text[at - 1]) == k_letters.npos;
            if (begins_here && end - from >= k_least) {
                text.replace(from, end - from, "***");
            }
            at = from;
        }
    }
}

} // namespace

std::string redact_secrets(std::string_view text) {
    std::string plain(text);
    redact_known_tokens(plain);
    for (std::size_t at = 0; (at = plain.find("\\/", at)) != std::string::npos; ++at) {
        plain.erase(at, 1);
    }
    // A URL without its scheme: "//user:pw@host".
    for (std::size_t at = 0; (at = plain.find("//", at)) != std::string::npos;) {
        at = std::min(plain.find_first_not_of('/', at), plain.size());
        std::size_t end = std::min(plain.find_first_of(" \t\r\n\"'/", at), plain.size());
        // A port has digits: anything else behind the colon is a password with a slash in it.
        if (const std::size_t colon = plain.find(':', at);
            colon < end && plain.find('@', at) > end &&
            !std::all_of(plain.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                         plain.begin() + static_cast<std::ptrdiff_t>(end), is_digit)) {
            end = std::min(plain.find_first_of(" \t\r\n\"'", at), plain.size());
        }
        const std::size_t user_end = plain.rfind('@', end);
        if (user_end != std::string::npos && user_end > at && user_end < end) {
            plain.replace(at, user_end - at, "***");
        }
    }
    plain = redact_urls(plain);
    std::string out;
    const std::string lower = to_lower_ascii(plain);
    std::size_t at = 0;
    while (true) {
        const std::size_t secret = end_of_secret_name(lower, at);
        if (secret == std::string_view::npos) {
            return out + plain.substr(at);
        }
        out += plain.substr(at, secret - at) + "***";
        at = std::min(plain.find_first_of(" \t\r\n\"',;&", secret), plain.size());
    }
}

} // namespace cudaenv
