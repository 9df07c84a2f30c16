#include "check/repair/placeholder.hpp"

namespace cudaenv::repair {

namespace {

constexpr std::size_t k_longest_first_line = 127; // that Linux reads

std::string replaced(std::string_view content, std::string_view from, std::string_view to) {
    std::string out;
    out.reserve(content.size());
    std::size_t at = 0;
    for (auto found = content.find(from); found != std::string_view::npos;
         found = content.find(from, at)) {
        out += content.substr(at, found - at);
        out += to;
        at = found + from.size();
    }
    out += content.substr(at);
    return out;
}

// "#! /a/bin/python -E" as "#!/usr/bin/env python -E".
std::string by_env(std::string_view line) {
    std::string_view rest = line.substr(2);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with('/')) {
        return std::string(line);
    }
    std::size_t end = 0; // a blank after a backslash belongs to the path
    while (end < rest.size() && ((rest[end] != ' ' && rest[end] != '\t' && rest[end] != '\r') ||
                                 (end > 0 && rest[end - 1] == '\\'))) {
        ++end;
    }
    const std::string_view program = rest.substr(0, end);
    return "#!/usr/bin/env " + std::string(program.substr(program.rfind('/') + 1)) +
           std::string(rest.substr(end));
}

} // namespace

std::string with_prefix_in_text(std::string_view content, std::string_view placeholder,
                                std::string_view prefix) {
    if (placeholder.empty()) {
        return std::string(content);
    }
    std::string text = replaced(content, placeholder, prefix);
    if (!content.starts_with("#!")) {
        return text;
    }
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool had_placeholder =
        content.substr(0, content.find('\n')).find(placeholder) != std::string_view::npos;
    const bool unreadable =
        end > k_longest_first_line || prefix.find(' ') != std::string_view::npos;
    return had_placeholder && unreadable
               ? by_env(std::string_view(text).substr(0, end)) + text.substr(end)
               : text;
}

std::optional<std::string> with_prefix_in_binary(std::string_view content,
                                                 std::string_view placeholder,
                                                 std::string_view prefix) {
    // No path has a NUL in it.
    if (placeholder.empty() || placeholder.find('\0') != std::string_view::npos ||
        prefix.size() > placeholder.size()) {
        return std::nullopt;
    }
    std::string out;
    out.reserve(content.size());
    std::size_t at = 0;
    for (auto found = content.find(placeholder); found != std::string_view::npos;
         found = content.find(placeholder, at)) {
        const auto end = std::min(content.find('\0', found), content.size());
        out += content.substr(at, found - at);
        const std::string text = replaced(content.substr(found, end - found), placeholder, prefix);
        out += text;
        out.append(end - found - text.size(), '\0');
        at = end;
    }
    out += content.substr(at);
    return out;
}

} // namespace cudaenv::repair
