#include "solver/specs/spec_text.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::specs {

namespace {

constexpr bool is_lower_alnum(char c) {
    return is_digit(c) || is_lower(c);
}
constexpr bool is_key_char(char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

// The rest of a name after its beginning: no two of . - _ together.
bool is_name_tail(std::string_view tail) {
    for (std::size_t i = 0; i + 1 < tail.size(); ++i) {
        if (!is_lower_alnum(tail[i]) && !is_lower_alnum(tail[i + 1])) {
            return false;
        }
    }
    return true;
}

} // namespace

std::string_view strip(std::string_view text) {
    while (!text.empty() && is_python_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_python_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string without(std::string_view text, std::string_view what) {
    std::string out;
    while (true) {
        const std::size_t at = text.find(what);
        out += text.substr(0, at);
        if (at == k_npos) {
            return out;
        }
        text.remove_prefix(at + what.size());
    }
}

std::string_view last_section(std::string_view text, char open, char close) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t end = line.rfind(close);
    if (end == k_npos || end == 0) {
        return {};
    }
    const std::size_t begin = line.rfind(open, end - 1);
    return begin == k_npos ? std::string_view{} : line.substr(begin, end + 1 - begin);
}

// `key=value` at `at`: the value quoted, or up to a comma, a space or the end.
bool read_key_value(std::string_view text, std::size_t& at, KeyValue& found) {
    const auto ends_value = [&](std::size_t i) {
        return i == text.size() || text[i] == ',' || text[i] == ' ' ||
               (i + 1 == text.size() && text[i] == '\n');
    };
    std::size_t equals = at;
    while (equals < text.size() && is_key_char(text[equals])) {
        ++equals;
    }
    if (equals == at || equals == text.size() || text[equals] != '=') {
        return false;
    }
    const std::size_t begin = equals + 1;
    found.key = text.substr(at, equals - at);
    if (begin < text.size() && (text[begin] == '"' || text[begin] == '\'')) {
        const std::size_t quote = text.find_first_of("\"'", begin + 1);
        if (quote == k_npos || text[quote] != text[begin] || !ends_value(quote + 1)) {
            return false;
        }
        found.value = text.substr(begin + 1, quote - begin - 1);
        at = quote + 1;
    } else {
        std::size_t end = begin;
        while (!ends_value(end) && text[end] != '"' && text[end] != '\'') {
            ++end;
        }
        if (!ends_value(end)) {
            return false;
        }
        found.value = text.substr(begin, end - begin);
        at = end;
    }
    if (at < text.size() && text[at] != '\n') {
        ++at;
    }
    return true;
}

// "1.2 py_0" and "1.2=py_0": the build is the last word free of operators, after a space or "="
// that no operator precedes.
VersionAndBuild split_build(std::string_view text) {
    const std::size_t size = text.size();
    const std::size_t last_barred = text.find_last_of("-=,|<>~");
    const auto ends_version = [&](std::size_t end) {
        if (end == size) {
            return true;
        }
        constexpr std::string_view k_operators = "=!|,<>~";
        return (text[end] == ' ' || text[end] == '=') && end + 1 < size &&
               (last_barred == k_npos || last_barred <= end) &&
               k_operators.find(text[end - 1]) == k_npos;
    };
    constexpr std::string_view k_not_last = "><!,|";
    std::size_t start = 0;
    while (start < size) {
        const std::size_t line_end = std::min(text.find('\n', start), size);
        for (std::size_t end = start + 1; end <= line_end; ++end) {
            std::size_t found = 0;
            if (end < size && k_not_last.find(text[end]) == k_npos && ends_version(end + 1)) {
                found = end + 1;
            } else if (ends_version(end)) {
                found = end;
            }
            if (found > 0) {
                VersionAndBuild parts;
                parts.version = without(text.substr(start, found - start), " ");
                if (found < size) {
                    parts.build = std::string(strip(text.substr(found + 1)));
                }
                return parts;
            }
        }
        start = line_end + 1;
    }
    return {without(text, " "), std::nullopt};
}

// "=1.7" is "1.7*", "==1.7" is "1.7"; with a build, "=1.7" is exactly 1.7.
std::string sanitize_version(const std::string& version, bool has_build) {
    if (version == "==" || version == "=" || !version.starts_with('=')) {
        return version;
    }
    std::string bare = version.substr(std::min(version.find_first_not_of('='), version.size()));
    if (version.starts_with("==") && !has_build) {
        return bare;
    }
    if (bare.find_first_of("=,|") == std::string::npos) {
        if (!has_build && !bare.ends_with('*')) {
            bare += '*';
        }
        return bare;
    }
    return version;
}

bool is_package_name(std::string_view name) {
    if (name.starts_with("__")) {
        return name.size() > 2 && is_lower_alnum(name[2]) && is_name_tail(name.substr(3));
    }
    return (is_lower_alnum(name[0]) || name[0] == '_') && is_name_tail(name.substr(1));
}

} // namespace cudaenv::specs
