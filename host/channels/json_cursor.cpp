#include "host/channels/json_cursor.hpp"

#include "base/ascii.hpp"
#include "base/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace cudaenv::channels {
namespace {

// Deeper than any record nests; bounds what a hostile text can make us remember.
constexpr std::size_t k_deepest = 256;

unsigned char byte_at(const char* p) {
    return static_cast<unsigned char>(*p);
}

// Whether four digits of \uXXXX begin here; at least four bytes must be there.
bool is_hex4(const char* p) {
    return std::all_of(p, p + 4, [](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
}

// From `p` to the next quote, backslash or control character; `high` becomes true where a byte
// above 0x7F was passed.
const char* plain_run(const char* p, const char* end, bool& high) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1F);
    while (end - p >= 16) {
        __m128i block;
        std::memcpy(&block, p, sizeof block);
        const __m128i special = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)),
            _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block));
        const auto stops = static_cast<unsigned>(_mm_movemask_epi8(special));
        const auto highs = static_cast<unsigned>(_mm_movemask_epi8(block));
        if (stops != 0) {
            const int first = std::countr_zero(stops);
            high = high || (highs & ((1U << first) - 1U)) != 0;
            return p + first;
        }
        high = high || highs != 0;
        p += 16;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && byte_at(p) >= 0x20) {
        high = high || byte_at(p) >= 0x80;
        ++p;
    }
    return p;
}

} // namespace

std::string JsonString::text() const {
    if (!escaped) {
        return std::string(raw);
    }
    // A lone half of a surrogate pair is no text; a package is not worth refusing for it.
    const auto value = nlohmann::json::parse('"' + std::string(raw) + '"', nullptr, false);
    return value.is_string() ? value.get<std::string>() : std::string(raw);
}

Step JsonCursor::bad(const char* where, std::string what) {
    m_fault_at = where;
    m_fault = std::move(what);
    return Step::Bad;
}

Step JsonCursor::skip_space() {
    while (m_at < m_end && (*m_at == ' ' || *m_at == '\n' || *m_at == '\r' || *m_at == '\t')) {
        ++m_at;
    }
    return m_at < m_end ? Step::Ok : Step::NeedMore;
}

Step JsonCursor::string(JsonString& out) {
    if (m_at == m_end) {
        return Step::NeedMore;
    }
    if (*m_at != '"') {
        return bad(m_at, std::string("expected a string in quotes, found ") + kind_here());
    }
    const char* begin = m_at + 1;
    const char* p = begin;
    bool high = false;
    bool escaped = false;
    for (;;) {
        p = plain_run(p, m_end, high);
        if (p == m_end) {
            return Step::NeedMore;
        }
        if (*p == '"') {
            break;
        }
        if (*p != '\\') {
            return bad(p, "a string must not contain an unescaped control character");
        }
        escaped = true;
        if (m_end - p < 2) {
            return Step::NeedMore;
        }
        if (p[1] == 'u') {
            if (m_end - p < 6) {
                return Step::NeedMore;
            }
            if (!is_hex4(p + 2)) {
                return bad(p, "expected four hexadecimal digits after \\u");
            }
            p += 6;
        } else if (p[1] != '\0' && std::strchr("\"\\/bfnrt", p[1]) != nullptr) {
            p += 2;
        } else {
            return bad(p, "not a JSON escape");
        }
    }
    if (high) {
        const std::string_view text(begin, static_cast<std::size_t>(p - begin));
        if (const std::size_t end = utf8_end(text); end != text.size()) {
            return bad(begin + end, "not UTF-8");
        }
    }
    out.raw = std::string_view(begin, static_cast<std::size_t>(p - begin));
    out.escaped = escaped;
    m_at = p + 1;
    return Step::Ok;
}

Step JsonCursor::number_text(std::string_view& out, bool& whole) {
    const char* p = m_at;
    const auto digits = [&] {
        const char* first = p;
        while (p < m_end && is_digit(*p)) {
            ++p;
        }
        return p != first;
    };
    whole = true;
    if (p < m_end && *p == '-') {
        ++p;
    }
    const char* first = p;
    if (p < m_end && !digits()) {
        return bad(m_at, "expected a number");
    }
    if (p - first > 1 && *first == '0') {
        return bad(first, "a number must not begin with 0");
    }
    if (p < m_end && *p == '.') {
        whole = false;
        ++p;
        if (p < m_end && !digits()) {
            return bad(p, "expected a digit after the point");
        }
    }
    if (p < m_end && (*p == 'e' || *p == 'E')) {
        whole = false;
        ++p;
        if (p < m_end && (*p == '+' || *p == '-')) {
            ++p;
        }
        if (p < m_end && !digits()) {
            return bad(p, "expected a digit in the exponent");
        }
    }
    if (p == m_end) {
        return Step::NeedMore; // no number ends a repodata file: a bracket always follows
    }
    out = std::string_view(m_at, static_cast<std::size_t>(p - m_at));
    m_at = p;
    return Step::Ok;
}

Step JsonCursor::integer(std::int64_t& out) {
    if (m_at < m_end && *m_at != '-' && !is_digit(*m_at)) {
        return bad(m_at, std::string("expected an integer, found ") + kind_here());
    }
    const char* begin = m_at;
    std::string_view text;
    bool whole = false;
    CUDAENV_STEP(number_text(text, whole));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (!whole || error != std::errc() || end != text.data() + text.size()) {
        return bad(begin, "expected an integer, found " + std::string(text.substr(0, 40)));
    }
    return Step::Ok;
}

Step JsonCursor::number(double& out) {
    if (m_at < m_end && *m_at != '-' && !is_digit(*m_at)) {
        return bad(m_at, std::string("expected a number, found ") + kind_here());
    }
    const char* begin = m_at;
    std::string_view text;
    bool whole = false;
    CUDAENV_STEP(number_text(text, whole));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) {
        return bad(begin, "this number is out of range");
    }
    return Step::Ok;
}

Step JsonCursor::word(std::string_view expected) {
    const std::string_view here(m_at, static_cast<std::size_t>(m_end - m_at));
    if (here.size() < expected.size() && expected.starts_with(here)) {
        return Step::NeedMore;
    }
    if (!here.starts_with(expected)) {
        return bad(m_at, "expected a JSON value");
    }
    m_at += expected.size();
    return Step::Ok;
}

Step JsonCursor::skip_value() {
    // Closing brackets still owed, innermost last.
    char owed[k_deepest];
    std::size_t depth = 0;
    for (;;) {
        CUDAENV_STEP(skip_space());
        bool opened = false;
        switch (*m_at) {
        case '"': {
            JsonString ignored;
            CUDAENV_STEP(string(ignored));
            break;
        }
        case '{':
        case '[':
            if (depth == k_deepest) {
                return bad(m_at, "nested more than 256 deep");
            }
            owed[depth++] = *m_at == '{' ? '}' : ']';
            ++m_at;
            opened = true;
            break;
        case 't':
            CUDAENV_STEP(word("true"));
            break;
        case 'f':
            CUDAENV_STEP(word("false"));
            break;
        case 'n':
            CUDAENV_STEP(word("null"));
            break;
        default: {
            std::string_view text;
            bool whole = false;
            if (*m_at != '-' && !is_digit(*m_at)) {
                return bad(m_at, "expected a JSON value");
            }
            CUDAENV_STEP(number_text(text, whole));
            break;
        }
        }
        if (opened) {
            CUDAENV_STEP(skip_space());
            if (*m_at == owed[depth - 1]) {
                ++m_at;
                --depth;
            } else {
                if (owed[depth - 1] == '}') {
                    JsonString ignored;
                    CUDAENV_STEP(key(ignored));
                }
                continue;
            }
        }
        // A value is complete: close what closes here, or go on to the next member.
        bool more = false;
        while (depth > 0 && !more) {
            CUDAENV_STEP(separator(owed[depth - 1], more));
            if (!more) {
                --depth;
            } else if (owed[depth - 1] == '}') {
                JsonString ignored;
                CUDAENV_STEP(key(ignored));
            }
        }
        if (depth == 0) {
            return Step::Ok;
        }
    }
}

Step JsonCursor::string_list(std::string_view& out) {
    if (m_at < m_end && *m_at != '[') {
        return bad(m_at, std::string("expected a list of strings, found ") + kind_here());
    }
    const char* begin = m_at;
    ++m_at;
    CUDAENV_STEP(skip_space());
    if (*m_at == ']') {
        ++m_at;
    } else {
        bool more = true;
        while (more) {
            CUDAENV_STEP(skip_space());
            JsonString ignored;
            CUDAENV_STEP(string(ignored));
            CUDAENV_STEP(separator(']', more));
        }
    }
    out = std::string_view(begin, static_cast<std::size_t>(m_at - begin));
    return Step::Ok;
}

Step JsonCursor::key(JsonString& out) {
    CUDAENV_STEP(skip_space());
    if (*m_at != '"') {
        return bad(m_at, "expected a key in quotes");
    }
    CUDAENV_STEP(string(out));
    CUDAENV_STEP(skip_space());
    if (*m_at != ':') {
        return bad(m_at, "expected ':' after the key");
    }
    ++m_at;
    return skip_space();
}

Step JsonCursor::separator(char close, bool& more) {
    CUDAENV_STEP(skip_space());
    if (*m_at != ',' && *m_at != close) {
        return bad(m_at, std::string("expected ',' or '") + close + "'");
    }
    more = *m_at == ',';
    ++m_at;
    return Step::Ok;
}

const char* JsonCursor::kind_here() const {
    switch (m_at < m_end ? *m_at : '\0') {
    case '"':
        return "a string";
    case '{':
        return "an object";
    case '[':
        return "a list";
    case 't':
    case 'f':
        return "true or false";
    case 'n':
        return "null";
    default:
        return m_at < m_end && (*m_at == '-' || is_digit(*m_at)) ? "a number" : "no JSON value";
    }
}

} // namespace cudaenv::channels
