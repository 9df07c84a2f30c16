#include "solver/pins/toml_document.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "solver/pins/toml_layout.hpp"

// toml++ reads as deep as values nest; 16 is far beyond any settings file (see k_most_dots for
// keys).
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
// Else toml++ 3.3 reads numbers through std::stringstream, which brings iostreams and locales into
// the static client.
#define TOML_FLOAT_CHARCONV 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#include <toml++/toml.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <algorithm>

namespace cudaenv::pins {

namespace {

// Columns of longer lines that are not ASCII stay counted in characters: counting bytes for each of
// their entries would be quadratic.
constexpr std::size_t k_longest_counted_line = 1U << 14U;

struct Line {
    std::size_t begin = 0;
    std::size_t end = 0;  // without the newline
    bool counted = false; // columns need turning from characters into bytes
};

class Reader {
public:
    Reader(std::string_view text, std::string_view path) : m_text(text), m_path(path) {
        if (m_text.substr(0, 3) == "\xEF\xBB\xBF") {
            m_text.remove_prefix(3); // a byte order mark has no column
        }
        for (const std::string_view line : split(m_text, '\n')) {
            const auto begin = static_cast<std::size_t>(line.data() - m_text.data());
            const bool ascii = std::ranges::all_of(
                line, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
            m_lines.push_back(
                {begin, begin + line.size(), !ascii && line.size() <= k_longest_counted_line});
        }
    }

    [[nodiscard]] Result<TomlTable> read() const {
        if (const auto layout = lay_out_toml(m_text); !layout) {
            return syntax_error(place(layout.error().at), layout.error().wanted);
        }
        const toml::parse_result parsed = toml::parse(m_text);
        if (!parsed) {
            return syntax_error(place(parsed.error().source().begin),
                                parsed.error().description().substr(0, 200));
        }
        return table(parsed.table());
    }

private:
    [[nodiscard]] std::string_view text_of(const Line& line) const {
        return m_text.substr(line.begin, line.end - line.begin);
    }

    [[nodiscard]] TomlPlace place(const toml::source_position& position) const {
        TomlPlace at{static_cast<int>(position.line), static_cast<int>(position.column)};
        const std::size_t index = position.line == 0 ? 0 : position.line - 1;
        if (index < m_lines.size() && m_lines[index].counted) {
            const std::string_view line = text_of(m_lines[index]);
            std::size_t byte = 0;
            for (toml::source_index i = 1; i < position.column && byte < line.size(); ++i) {
                ++byte;
                while (byte < line.size() &&
                       (static_cast<unsigned char>(line[byte]) & 0xC0U) == 0x80U) {
                    ++byte;
                }
            }
            at.column = static_cast<int>(byte) + 1;
        }
        return at;
    }

    [[nodiscard]] std::string_view raw(TomlPlace at) const {
        const auto index = static_cast<std::size_t>(at.line) - 1;
        if (at.line < 1 || index >= m_lines.size()) {
            return {};
        }
        const std::string_view line = text_of(m_lines[index]);
        const std::size_t begin = std::min(static_cast<std::size_t>(at.column) - 1, line.size());
        return line.substr(begin, line.find_first_of(" \t\r,]}#", begin) - begin);
    }

    [[nodiscard]] TomlTable table(const toml::table& source) const {
        TomlTable entries;
        for (const auto& [key, node] : source) {
            entries.push_back({std::string(key.str()), place(key.source().begin), value(node)});
        }
        // toml++ sorts by name; a file is read in its own order.
        std::ranges::sort(entries, [](const TomlEntry& a, const TomlEntry& b) {
            return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
        });
        return entries;
    }

    [[nodiscard]] TomlValue value(const toml::node& node) const {
        TomlValue out{place(node.source().begin), TomlOther{"date"}};
        if (const auto* text = node.as_string()) {
            out.data = text->get();
        } else if (const auto* truth = node.as_boolean()) {
            out.data = truth->get();
        } else if (node.is_number()) {
            out.data = TomlNumber{std::string(raw(out.at))};
        } else if (const auto* array = node.as_array()) {
            TomlArray values;
            for (const toml::node& element : *array) {
                values.push_back(value(element));
            }
            out.data = std::move(values);
        } else if (const auto* inner = node.as_table()) {
            out.data = table(*inner);
        }
        return out;
    }

    [[nodiscard]] TomlPlace place(std::size_t byte) const {
        const auto after = std::ranges::upper_bound(m_lines, byte, {}, &Line::begin);
        const auto line = after == m_lines.begin() ? after : after - 1;
        return {static_cast<int>(line - m_lines.begin()) + 1,
                static_cast<int>(byte - line->begin) + 1};
    }

    // toml++ says what the grammar wanted; the usual mistake is a version without quotes.
    [[nodiscard]] tl::unexpected<Error> syntax_error(TomlPlace at, std::string_view problem) const {
        const auto index = static_cast<std::size_t>(std::max(at.line, 1)) - 1;
        if (index < m_lines.size()) {
            const std::string_view line = text_of(m_lines[index]);
            const std::size_t equals = line.find('=');
            const std::string_view key = trim(line.substr(0, equals));
            const bool bare =
                !key.empty() &&
                key.find_first_not_of(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                    std::string_view::npos;
            if (equals != std::string_view::npos && bare) {
                const std::string_view rest = line.substr(equals + 1);
                const std::string_view written = trim(rest.substr(0, rest.find('#')));
                constexpr std::string_view k_version_signs = "0123456789.*<>=!~, abcdefpostrv+";
                if (!written.empty() && written.size() <= 40 &&
                    std::string_view("0123456789<>=!~*").find(written[0]) !=
                        std::string_view::npos &&
                    written.find_first_not_of(k_version_signs) == std::string_view::npos) {
                    return toml_error(m_path,
                                      {at.line, static_cast<int>(written.data() - line.data()) + 1},
                                      "bad-toml", printable(written) + " is not in quotes",
                                      "write " + printable(key) + " = " + toml_string(written));
                }
            }
        }
        return toml_error(m_path, at, "bad-toml", "not TOML: " + printable(problem),
                          "a line is [table] or key = value, as in cuda = \"11.3\"");
    }

    std::string_view m_text;
    std::string_view m_path;
    std::vector<Line> m_lines;
};

} // namespace

Result<TomlTable> parse_toml(std::string_view text, std::string_view path) {
    if (text.size() > k_most_toml_bytes) {
        return toml_error(path, {}, "file-too-large",
                          "larger than " + std::to_string(k_most_toml_bytes) + " bytes",
                          "a settings file has a few lines; is this another file?");
    }
    return Reader(text, path).read();
}

std::string_view kind_of(const TomlValue& value) {
    struct Name {
        std::string_view operator()(const std::string&) const { return "a string"; }
        std::string_view operator()(bool) const { return "true or false"; }
        std::string_view operator()(const TomlNumber&) const { return "a number"; }
        std::string_view operator()(const TomlOther&) const { return "a date"; }
        std::string_view operator()(const TomlArray&) const { return "an array"; }
        std::string_view operator()(const TomlTable&) const { return "a table"; }
    };
    return std::visit(Name{}, value.data);
}

tl::unexpected<Error> toml_error(std::string_view path, TomlPlace at, std::string code,
                                 std::string message, std::string hint) {
    return tl::unexpected(Error{ErrorKind::BadInput, std::move(code), std::move(message),
                                printable(path), at.line, at.column, std::move(hint)});
}

std::string toml_string(std::string_view text) {
    constexpr std::string_view k_digits = "0123456789ABCDEF";
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\u00";
            out += k_digits[byte >> 4U];
            out += k_digits[byte & 15U];
        } else {
            out += c;
        }
    }
    return out + '"';
}

} // namespace cudaenv::pins
