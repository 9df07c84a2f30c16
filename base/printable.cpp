#include "base/printable.hpp"

#include "base/utf8.hpp"

#include <algorithm>
#include <array>

namespace cudaenv {

namespace {

std::string escaped(unsigned char byte) {
    constexpr std::array<char, 17> k_digits{"0123456789abcdef"};
    switch (byte) {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return {'\\', 'x', k_digits[byte >> 4U], k_digits[byte & 15U]};
    }
}

// Of a whole sequence of at most three bytes, as UTF-8 has it; else 0.
unsigned code_point(std::string_view sequence) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
    switch (sequence.size()) {
    case 1:
        return byte(0);
    case 2:
        return (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
    case 3:
        return (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    default:
        return 0;
    }
}

// What a terminal obeys or hides. U+0080..U+009F are control characters too: some terminals obey
// them. The others: Bidi_Control in https://www.unicode.org/Public/UCD/latest/ucd/PropList.txt, and
// the separators of lines and paragraphs.
bool is_unseen(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

// The length of the character at the head of `bytes` where it is shown as it is, else 0.
std::size_t shown_length(std::string_view bytes) {
    const std::size_t length = utf8_length(bytes);
    return length == 4 || (length != 0 && !is_unseen(code_point(bytes.substr(0, length)))) ? length
                                                                                           : 0;
}

} // namespace

std::string printable(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t shown = shown_length(bytes);
        const std::size_t length =
            shown != 0 ? shown : std::max<std::size_t>(utf8_length(bytes), 1);
        if (shown != 0) {
            out += bytes.substr(0, length);
        } else {
            for (const char byte : bytes.substr(0, length)) {
                out += escaped(static_cast<unsigned char>(byte));
            }
        }
        bytes.remove_prefix(length);
    }
    return out;
}

std::string printable_json(std::string_view json) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    std::string out;
    out.reserve(json.size());
    while (!json.empty()) {
        const std::size_t length = std::max<std::size_t>(utf8_length(json), 1);
        const unsigned code = code_point(json.substr(0, length));
        if (code >= 0x7F && length <= 3 && is_unseen(code)) { // strings alone have them
            out += "\\u";
            for (const unsigned shift : {12U, 8U, 4U, 0U}) {
                out += k_digits[code >> shift & 15U];
            }
        } else {
            out += json.substr(0, length);
        }
        json.remove_prefix(length);
    }
    return out;
}

std::string quoted(std::string_view bytes, std::size_t most) {
    if (bytes.size() <= most) {
        return '"' + printable(bytes) + '"';
    }
    while (most > 0 && (static_cast<unsigned char>(bytes[most]) & 0xC0U) == 0x80U) {
        --most; // not in the middle of a character
    }
    return '"' + printable(bytes.substr(0, most)) + "...\"";
}

std::string one_line(const Error& error) {
    std::string text = printable(error.path);
    if (error.line > 0) {
        text += " line " + std::to_string(error.line);
    }
    text += (text.empty() ? "" : ": ") + error.message;
    return error.hint.empty() ? text : text + "; " + error.hint;
}

} // namespace cudaenv
