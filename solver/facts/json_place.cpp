#include "solver/facts/json_place.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace cudaenv::facts {

namespace {

// Walks a text that a parser has accepted; every step is bounded by its end all the same.
class Walker {
public:
    explicit Walker(std::string_view text) : m_text(text) {}

    [[nodiscard]] std::size_t skip_space(std::size_t at) const {
        while (at < m_text.size() &&
               std::string_view(" \t\r\n").find(m_text[at]) != std::string_view::npos) {
            ++at;
        }
        return at;
    }

    // `at` is on a quote; the offset behind the closing one.
    [[nodiscard]] std::size_t skip_string(std::size_t at) const {
        for (++at; at < m_text.size(); ++at) {
            if (m_text[at] == '\\') {
                ++at;
            } else if (m_text[at] == '"') {
                return at + 1;
            }
        }
        return m_text.size();
    }

    [[nodiscard]] std::size_t skip_value(std::size_t at) const {
        at = skip_space(at);
        int depth = 0;
        while (at < m_text.size()) {
            const char c = m_text[at];
            if (c == '"') {
                at = skip_string(at);
                if (depth == 0) {
                    return at;
                }
                continue;
            }
            if (c == '{' || c == '[') {
                ++depth;
            } else if (c == '}' || c == ']') {
                if (depth == 0) {
                    return at;
                }
                if (--depth == 0) {
                    return at + 1;
                }
            } else if (depth == 0 &&
                       std::string_view(", \t\r\n").find(c) != std::string_view::npos) {
                return at;
            }
            ++at;
        }
        return at;
    }

    // `at` is on the container's bracket; the offset of the member's value.
    [[nodiscard]] std::optional<std::size_t> member(std::size_t at, std::string_view step) const {
        const bool object = m_text[at] == '{';
        std::size_t wanted = 0;
        if (!object &&
            std::from_chars(step.data(), step.data() + step.size(), wanted).ec != std::errc()) {
            return std::nullopt;
        }
        std::optional<std::size_t> found;
        at = skip_space(at + 1);
        for (std::size_t index = 0; at < m_text.size() && m_text[at] != '}' && m_text[at] != ']';
             ++index) {
            bool hit = !object && index == wanted;
            if (object) {
                const std::size_t key_end = skip_string(at);
                hit = key_is(m_text.substr(at, key_end - at), step);
                at = skip_space(key_end);
                at = skip_space(std::min(at + 1, m_text.size())); // the colon
            }
            if (hit) {
                found = at;
            }
            at = skip_space(skip_value(at));
            if (at < m_text.size() && m_text[at] == ',') {
                at = skip_space(at + 1);
            }
        }
        return found;
    }

private:
    static bool key_is(std::string_view quoted, std::string_view key) {
        const auto parsed = nlohmann::json::parse(quoted, nullptr, false);
        return parsed.is_string() && parsed.get_ref<const std::string&>() == key;
    }

    std::string_view m_text;
};

} // namespace

TextPlace place_of_offset(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    const auto before = text.substr(0, offset);
    const auto newline = before.rfind('\n');
    TextPlace place;
    place.line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
    place.column =
        static_cast<int>(newline == std::string_view::npos ? offset : offset - newline - 1) + 1;
    return place;
}

std::size_t offset_of_value(std::string_view json, const std::vector<std::string>& steps) {
    const Walker walker(json);
    std::size_t at = walker.skip_space(0);
    for (const auto& step : steps) {
        if (at >= json.size() || (json[at] != '{' && json[at] != '[')) {
            break;
        }
        const auto next = walker.member(at, step);
        if (!next) {
            break;
        }
        at = *next;
    }
    return at;
}

} // namespace cudaenv::facts
