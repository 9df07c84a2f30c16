// A forward reader over a piece of JSON text that allocates nothing and may stop at any byte.
//
// Law: it accepts exactly RFC 8259 values (UTF-8 checked, control characters refused, nesting
// bounded) and never reads at or past `end`. Where the piece ends before the value does it answers
// NeedMore, so a caller that reads a file in windows can fetch more and begin the value again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cudaenv::channels {

enum class Step { Ok, NeedMore, Bad };

// What a JSON string looked like between its quotes.
struct JsonString {
    std::string_view raw; // escapes as written
    bool escaped = false; // there is at least one backslash

    [[nodiscard]] std::string text() const; // escapes resolved
    [[nodiscard]] bool is(std::string_view word) const {
        return escaped ? text() == word : raw == word;
    }
};

class JsonCursor {
public:
    JsonCursor(const char* begin, const char* end) : m_at(begin), m_end(end) {}

    [[nodiscard]] const char* at() const { return m_at; }

    // After Step::Bad: where, and what would have been right.
    [[nodiscard]] const char* fault_at() const { return m_fault_at; }
    [[nodiscard]] const std::string& fault() const { return m_fault; }
    Step bad(const char* where, std::string what);

    // At the next byte that is not white space; NeedMore at the end.
    Step skip_space();
    // The byte here; only after skip_space gave Ok.
    [[nodiscard]] char peek() const { return *m_at; }
    void advance() { ++m_at; }

    // Each begins at the value's first byte, and after Ok stands behind its last.
    Step string(JsonString& out);
    Step integer(std::int64_t& out); // refuses fractions and what int64 cannot hold
    Step number(double& out);
    Step skip_value();
    // A list of strings; `out` is its text with both brackets.
    Step string_list(std::string_view& out);

    // White space, then "key" : and up to the value.
    Step key(JsonString& out);
    // White space, then `,` (more = true, standing before the next key) or `close` (more = false).
    Step separator(char close, bool& more);

    // "a text", "a number", ...: what the value here is, for messages.
    [[nodiscard]] const char* kind_here() const;

private:
    Step number_text(std::string_view& out, bool& whole);
    Step word(std::string_view expected);

    const char* m_at;
    const char* m_end;
    const char* m_fault_at = nullptr;
    std::string m_fault;
};

// The strings of a list that `JsonCursor::string_list` accepted.
template <typename Sink>
void each_string(std::string_view list, Sink&& sink) {
    JsonCursor cursor(list.data(), list.data() + list.size());
    cursor.advance();
    while (cursor.skip_space() == Step::Ok && cursor.peek() != ']') {
        if (cursor.peek() == ',') {
            cursor.advance();
            continue;
        }
        JsonString item;
        if (cursor.string(item) != Step::Ok) {
            return;
        }
        sink(item);
    }
}

} // namespace cudaenv::channels

// Leaves the enclosing function with the step of `expr` unless it is Ok.
#define CUDAENV_STEP(expr)                                                                         \
    do {                                                                                           \
        if (const ::cudaenv::channels::Step cudaenv_step = (expr);                                 \
            cudaenv_step != ::cudaenv::channels::Step::Ok) {                                       \
            return cudaenv_step;                                                                   \
        }                                                                                          \
    } while (false)
