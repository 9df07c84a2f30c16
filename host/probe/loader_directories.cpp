#include "host/probe/loader_directories.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/environments/cuda_libraries.hpp"

#include <array>
#include <utility>

namespace cudaenv::probe {

namespace {

// How much of `text`, which begins behind a dollar, is this token: ORIGIN or {ORIGIN}, and not the
// beginning of ORIGINAL. 0: another one.
std::size_t token_length(std::string_view text, std::string_view token) {
    const bool is_curly = text.starts_with('{');
    const std::string_view name = text.substr(is_curly ? 1 : 0);
    if (!name.starts_with(token)) {
        return 0;
    }
    const char next = name.size() > token.size() ? name[token.size()] : '\0';
    if (is_curly) {
        return next == '}' ? token.size() + 2 : 0;
    }
    return is_alnum(next) || next == '_' ? 0 : token.size();
}

// None where a value is needed that is not known. A dollar that begins no token is a dollar.
std::optional<std::string> with_tokens(std::string_view entry, const LoaderTokens& tokens) {
    const std::array<std::pair<std::string_view, std::string_view>, 3> k_tokens{
        {{"ORIGIN", tokens.origin}, {"LIB", tokens.lib}, {"PLATFORM", {}}}};
    std::string text;
    for (std::size_t at = 0; at < entry.size(); ++at) {
        text += entry[at];
        if (entry[at] != '$') {
            continue;
        }
        for (const auto& [token, value] : k_tokens) {
            if (const std::size_t length = token_length(entry.substr(at + 1), token)) {
                if (value.empty()) {
                    return std::nullopt;
                }
                text.pop_back();
                text += value;
                at += length;
                break;
            }
        }
    }
    return text;
}

} // namespace

LoaderTokens loader_tokens(host::FileSystem& files,
                           const std::optional<facts::EnvironmentFacts>& environment) {
    LoaderTokens tokens;
    if (environment) {
        const auto python = files.real_path(environment->prefix + "/bin/python");
        tokens.origin = python ? python->substr(0, python->rfind('/')) : std::string();
    }
    // Debian's and Ubuntu's ld.so; others differ among themselves.
    const std::string multiarch = "lib/" + environments::machine_name() + "-linux-gnu";
    if (files.exists('/' + multiarch + "/libc.so.6")) {
        tokens.lib = multiarch;
    }
    return tokens;
}

std::vector<std::string> loader_directories(std::string_view list, const std::string& cwd,
                                            const LoaderTokens& tokens) {
    std::vector<std::string> directories;
    if (list.empty()) {
        return directories;
    }
    for (const std::string_view part : split(list, ':')) {
        for (const std::string_view written : split(part, ';')) {
            const auto entry = with_tokens(written, tokens);
            if (!entry) {
                continue;
            }
            if (entry->starts_with('/')) {
                directories.push_back(*entry);
            } else if (cwd.starts_with('/')) {
                directories.push_back(entry->empty() ? cwd
                                      : cwd == "/"   ? '/' + *entry
                                                     : cwd + '/' + *entry);
            }
        }
    }
    return directories;
}

} // namespace cudaenv::probe
