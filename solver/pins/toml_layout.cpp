#include "solver/pins/toml_layout.hpp"

#include <algorithm>
#include <cstdint>

namespace cudaenv::pins {

namespace {

constexpr std::string_view k_key_signs =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
constexpr std::string_view k_word_signs =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+.: ";

void append_utf8(std::string& out, std::uint32_t point) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) {
        put(point);
    } else if (point < 0x800) {
        put(0xC0U | (point >> 6U));
        put(0x80U | (point & 0x3FU));
    } else if (point < 0x10000) {
        put(0xE0U | (point >> 12U));
        put(0x80U | ((point >> 6U) & 0x3FU));
        put(0x80U | (point & 0x3FU));
    } else {
        put(0xF0U | (point >> 18U));
        put(0x80U | ((point >> 12U) & 0x3FU));
        put(0x80U | ((point >> 6U) & 0x3FU));
        put(0x80U | (point & 0x3FU));
    }
}

// Follows a text that is known to be TOML and notes where its keys and values stand. Every method
// that returns bool is false when the text is not what it expects; m_fault then says what was
// expected.
class Scanner {
public:
    explicit Scanner(std::string_view text) : m_text(text) {
        if (m_text.substr(0, 3) == "\xEF\xBB\xBF") {
            m_at = 3;
        }
    }

    tl::expected<TomlLayout, TomlFault> scan() {
        while (true) {
            const std::size_t line = m_at;
            skip_white();
            if (at_end()) {
                return std::move(m_layout);
            }
            if (peek() == '\n' || peek() == '\r' || peek() == '#') {
                if (!line_end()) {
                    return tl::unexpected(std::move(m_fault));
                }
                continue;
            }
            if (!(peek() == '[' ? header(line) : statement(line))) {
                return tl::unexpected(std::move(m_fault));
            }
        }
    }

private:
    bool fail(std::string_view wanted) {
        m_fault = {std::min(m_at, m_text.size()), std::string(wanted)};
        return false;
    }
    [[nodiscard]] bool at_end() const { return m_at >= m_text.size(); }
    [[nodiscard]] char peek() const { return at_end() ? '\0' : m_text[m_at]; }
    [[nodiscard]] bool follows(std::string_view word) const {
        return m_text.substr(m_at, word.size()) == word;
    }
    bool take(char c) {
        if (at_end() || peek() != c) {
            return false;
        }
        ++m_at;
        return true;
    }
    void skip_white() { m_at = std::min(m_text.find_first_not_of(" \t", m_at), m_text.size()); }

    // A comment and the newline, or the end of the text.
    bool line_end() {
        skip_white();
        if (peek() == '#') {
            m_at = std::min(m_text.find('\n', m_at), m_text.size());
        }
        if (at_end()) {
            return true;
        }
        take('\r');
        return take('\n') || fail("expected the end of the line");
    }

    // To the next thing inside an array, over line ends and comments.
    bool skip_white_lines() {
        while (true) {
            skip_white();
            if (at_end()) {
                return fail("expected ]");
            }
            if (peek() != '\n' && peek() != '\r' && peek() != '#') {
                return true;
            }
            if (!line_end()) {
                return false;
            }
        }
    }

    bool header(std::size_t line) {
        TomlHeader found;
        take('[');
        found.array = take('[');
        if (!key_path(found.path)) {
            return false;
        }
        if (!take(']') || (found.array && !take(']'))) {
            return fail("expected ] after the table's name");
        }
        if (!line_end()) {
            return false;
        }
        found.line = {line, m_at};
        m_section = found.path;
        m_layout.headers.push_back(std::move(found));
        return true;
    }

    bool statement(std::size_t line) {
        const std::size_t index = m_layout.statements.size();
        m_layout.statements.emplace_back();
        m_layout.statements[index].section = m_layout.headers.size();
        if (!key_and_value(index, m_section, 0) || !line_end()) {
            return false;
        }
        m_layout.statements[index].whole = {line, m_at};
        return true;
    }

    bool key_and_equals(TomlKeyPath& path) {
        return key_path(path) && (take('=') || fail("expected = after the key"));
    }

    // Fills statement `index`, and adds those inside it when its value is an inline table.
    bool key_and_value(std::size_t index, const TomlKeyPath& prefix, std::size_t depth) {
        TomlKeyPath path = prefix;
        const std::size_t key = m_at;
        if (!key_and_equals(path)) {
            return false;
        }
        TomlStatement& found = m_layout.statements[index];
        found.path = path;
        found.key = {key, m_at - 1};
        skip_white();
        found.value.begin = m_at;
        found.inline_table = peek() == '{';
        const bool read = found.inline_table
                              ? inline_table(depth, [&] { return entry(index, path, depth); })
                              : value(depth);
        m_layout.statements[index].value.end = m_at; // `found` may have moved
        return read;
    }

    // An entry of the inline table of statement `holder`.
    bool entry(std::size_t holder, const TomlKeyPath& path, std::size_t depth) {
        const std::size_t index = m_layout.statements.size();
        m_layout.statements.emplace_back();
        m_layout.statements[index].inside = true;
        m_layout.statements[index].holder = holder;
        if (!key_and_value(index, path, depth + 1)) {
            return false;
        }
        TomlStatement& added = m_layout.statements[index];
        added.whole = {added.key.begin, added.value.end};
        return true;
    }

    template <typename ReadEntry>
    bool inline_table(std::size_t depth, const ReadEntry& read_entry) {
        if (depth >= k_deepest_toml) {
            return fail("values nest too deep");
        }
        take('{');
        skip_white();
        while (!take('}')) {
            if (!read_entry()) {
                return false;
            }
            skip_white();
            if (take(',')) {
                skip_white();
            } else if (peek() != '}') {
                return fail("expected , or } in an inline table");
            }
        }
        return true;
    }

    bool array(std::size_t depth) {
        if (depth >= k_deepest_toml) {
            return fail("values nest too deep");
        }
        take('[');
        while (skip_white_lines()) {
            if (take(']')) {
                return true;
            }
            if (!value(depth + 1) || !skip_white_lines()) {
                return false;
            }
            if (!take(',') && peek() != ']') {
                return fail("expected , or ] in an array");
            }
        }
        return false;
    }

    bool value(std::size_t depth) {
        switch (peek()) {
        case '"':
        case '\'':
            return string(nullptr);
        case '[':
            return array(depth);
        case '{': // in an array: no key path leads into it
            return inline_table(depth, [&] {
                TomlKeyPath ignored;
                if (!key_and_equals(ignored)) {
                    return false;
                }
                skip_white();
                return value(depth + 1);
            });
        default:
            break;
        }
        // A number, date or truth: letters, digits and a few signs, in a date one space.
        const std::size_t begin = m_at;
        m_at = std::min(m_text.find_first_of(",]}#\r\n", m_at), m_text.size());
        while (m_at > begin && (m_text[m_at - 1] == ' ' || m_text[m_at - 1] == '\t')) {
            --m_at;
        }
        const std::string_view word = m_text.substr(begin, m_at - begin);
        if (word.empty() || word.find_first_not_of(k_word_signs) != std::string_view::npos) {
            m_at = begin;
            return fail(word.empty() ? "expected a value" : "expected a value; text needs quotes");
        }
        return true;
    }

    bool key_path(TomlKeyPath& path) {
        for (std::size_t parts = 0; parts < k_deepest_toml; ++parts) {
            skip_white();
            std::string part;
            if (peek() == '"' || peek() == '\'') {
                if (follows("\"\"\"") || follows("\'\'\'")) {
                    return fail("expected a key on one line");
                }
                if (!string(&part)) {
                    return false;
                }
            } else {
                const std::size_t end =
                    std::min(m_text.find_first_not_of(k_key_signs, m_at), m_text.size());
                if (end == m_at) {
                    return fail("expected a key");
                }
                part = m_text.substr(m_at, end - m_at);
                m_at = end;
            }
            path.push_back(std::move(part));
            skip_white();
            if (!take('.')) {
                return true;
            }
        }
        return fail("keys nest too deep");
    }

    // Any of the four kinds of string. Keys want the meaning: it is decoded into `meaning`.
    bool string(std::string* meaning) {
        const char quote = peek();
        const bool literal = quote == '\'';
        const std::string_view triple = literal ? "'''" : "\"\"\"";
        if (follows(triple)) {
            m_at += 3;
            while (!at_end()) {
                if (follows(triple)) {
                    m_at += 3;
                    // Up to two quotes may stand before the closing three.
                    for (int more = 0; more < 2 && peek() == quote && !at_end(); ++more) {
                        ++m_at;
                    }
                    return true;
                }
                m_at += !literal && peek() == '\\' ? 2 : 1;
            }
            return fail(literal ? "expected \'\'\' at the end of the text"
                                : "expected \"\"\" at the end of the text");
        }
        ++m_at;
        while (!at_end() && peek() != '\n') {
            if (take(quote)) {
                return true;
            }
            if (!literal && peek() == '\\') {
                if (!escape(meaning)) {
                    return false;
                }
                continue;
            }
            if (meaning != nullptr) {
                *meaning += peek();
            }
            ++m_at;
        }
        return fail(literal ? "expected ' at the end of the text"
                            : "expected \" at the end of the text");
    }

    bool escape(std::string* meaning) {
        constexpr std::string_view k_letters = "btnfr\"\\";
        constexpr std::string_view k_meanings = "\b\t\n\f\r\"\\";
        ++m_at;
        const char letter = peek();
        ++m_at;
        if (const std::size_t i = k_letters.find(letter); i != std::string_view::npos) {
            if (meaning != nullptr) {
                *meaning += k_meanings[i];
            }
            return true;
        }
        const std::size_t digits = letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
        std::uint32_t point = 0;
        for (std::size_t i = 0; i < digits; ++i, ++m_at) {
            const char c = peek();
            const std::uint32_t digit =
                c >= '0' && c <= '9'   ? static_cast<std::uint32_t>(c - '0')
                : c >= 'a' && c <= 'f' ? static_cast<std::uint32_t>(c - 'a' + 10)
                : c >= 'A' && c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10)
                                       : 16U;
            if (digit == 16U) {
                return fail("expected hexadecimal digits");
            }
            point = point * 16U + digit;
        }
        if (digits != 0 && meaning != nullptr) {
            append_utf8(*meaning, point);
        }
        return digits != 0 || fail("expected one of b t n f r \" \\ u U after \\");
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    TomlKeyPath m_section;
    TomlLayout m_layout;
    TomlFault m_fault;
};

} // namespace

tl::expected<TomlLayout, TomlFault> lay_out_toml(std::string_view text) {
    return Scanner(text).scan();
}

} // namespace cudaenv::pins
