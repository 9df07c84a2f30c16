#include "host/names/expand_path.hpp"

#include "base/ascii.hpp"

#include <array>
#include <filesystem>
#include <pwd.h>

namespace cudaenv::names {

namespace {

bool is_name_character(char c) {
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string with_variables(const std::string& text, const host::Environment& environment,
                           std::set<std::string>& unset) {
    std::string expanded;
    std::size_t at = 0;
    while (at < text.size()) {
        const bool braced = text.compare(at, 2, "${") == 0;
        const std::size_t start = at + (braced ? 2 : 1);
        std::size_t end = start;
        while (end < text.size() && (braced ? text[end] != '}' : is_name_character(text[end]))) {
            ++end;
        }
        const bool is_variable = text[at] == '$' && end > start && (!braced || end < text.size());
        if (!is_variable) {
            expanded += text[at++];
            continue;
        }
        const std::string name = text.substr(start, end - start);
        const std::size_t next = end + (braced ? 1 : 0);
        if (const auto value = environment.find(name); value != environment.end()) {
            expanded += value->second;
        } else {
            unset.insert(name);
            expanded += text.substr(at, next - at);
        }
        at = next;
    }
    return expanded;
}

std::string home_of(const std::string& user) {
    std::array<char, 16384> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
    return found == nullptr ? std::string() : std::string(found->pw_dir);
}

std::string with_home(const std::string& text, const std::string& home) {
    if (!text.starts_with('~')) {
        return text;
    }
    const std::string user = text.substr(1, std::min(text.find('/'), text.size()) - 1);
    const std::string directory = user.empty() ? home : home_of(user);
    return directory.empty() ? text : directory + text.substr(user.size() + 1);
}

} // namespace

std::string expand_path(const std::string& written, const PathContext& context,
                        std::set<std::string>& unset) {
    const std::string expanded =
        with_home(with_variables(written, *context.environment, unset), context.home);
    const std::string path =
        (std::filesystem::path(context.directory) / expanded).lexically_normal();
    return std::string(without_end_slashes(path));
}

} // namespace cudaenv::names
