#include "solver/specs/pattern.hpp"

#include "base/ascii.hpp"

#include <re2/re2.h>
#include <string>

namespace cudaenv::specs {

bool glob_matches(std::string_view glob, std::string_view text) {
    // A final newline is looked over, as `$` does.
    if (!text.empty() && text.back() == '\n' &&
        glob_matches(glob, text.substr(0, text.size() - 1))) {
        return true;
    }
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos; // the last star passed, and where its text ends
    std::size_t resume = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = t;
        } else if (g < glob.size() && glob[g] == text[t]) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos && text[resume] != '\n') {
            g = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') {
        ++g;
    }
    return g == glob.size();
}

namespace {

tl::unexpected<Error> refusal(std::string_view expression, const std::string& why, std::size_t at) {
    auto error = bad_input("bad-regex", "\"" + std::string(expression) +
                                            "\" is not a regular expression: " + why);
    error.value().column = static_cast<int>(at) + 1;
    return error;
}

// One pass over an expression of Python's that writes it in RE2's syntax. It refuses what RE2 would
// accept with another meaning or Python not at all; the rest RE2 itself refuses.
class Translation {
public:
    explicit Translation(std::string_view text) : m_text(text) {}

    Result<std::string> run() {
        bool repeatable = false; // in Python an anchor is not
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (!repeatable && at_quantifier()) {
                return refuse("nothing to repeat");
            }
            repeatable = c != '^' && c != '$' && c != '|' && c != '(';
            if (c == '\\') {
                CUDAENV_TRY(repeatable, escape());
            } else if (c == '[') {
                CUDAENV_TRY_VOID(set());
            } else if (c == '(') {
                CUDAENV_TRY_VOID(group());
            } else {
                m_written += c;
                if (at_bounds() && next() == ',') {
                    m_written += '0'; // RE2 reads {,n} as text
                }
                ++m_at;
            }
        }
        return std::move(m_written);
    }

private:
    [[nodiscard]] tl::unexpected<Error> refuse(const char* why) const {
        return refusal(m_text, why, m_at);
    }
    [[nodiscard]] char next(std::size_t ahead = 1) const {
        return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
    }
    [[nodiscard]] bool at_quantifier() const {
        const char c = m_text[m_at];
        return c == '*' || c == '+' || c == '?' || at_bounds();
    }
    // At {m}, {m,}, {,n} or {m,n}; other braces are text.
    [[nodiscard]] bool at_bounds() const {
        const std::size_t end = m_text.find_first_not_of("0123456789,", m_at + 1);
        return m_text[m_at] == '{' && end != std::string_view::npos && end > m_at + 1 &&
               m_text[end] == '}';
    }
    // True when what the escape stands for can be repeated.
    Result<bool> escape() {
        constexpr std::string_view k_known = "AbBdDsSwWxafnrtvZ";
        const char c = next();
        if ((is_letter(c) && k_known.find(c) == std::string_view::npos) || is_digit(c) ||
            (c == 'x' && next(2) == '{')) {
            return refuse("an unknown escape or a back-reference");
        }
        if (m_at + 1 == m_text.size()) {
            return refuse("a backslash at the end");
        }
        m_at += 2;
        if (c != '_') {
            m_written += '\\';
        }
        m_written += c == 'Z' ? 'z' : c;
        return c != 'A' && c != 'b' && c != 'B' && c != 'Z';
    }
    Result<void> group() {
        if (next() == '?' && next(2) != ':' && m_text.substr(m_at, 4) != "(?P<") {
            return refuse("a group of a kind that is not supported");
        }
        m_written += next() == '?' ? "(?" : "(";
        m_at += next() == '?' ? 2 : 1;
        return {};
    }
    Result<void> set() {
        m_written += m_text[m_at++];
        if (next(0) == '^') {
            m_written += m_text[m_at++];
        }
        const std::size_t first = m_at;
        while (m_at < m_text.size() && (m_text[m_at] != ']' || m_at == first)) {
            if (m_text[m_at] == '\\') {
                CUDAENV_TRY_VOID(escape());
                continue;
            }
            if (m_text[m_at] == '[') {
                m_written += '\\'; // [[:alpha:]] is a class to RE2 only
            }
            m_written += m_text[m_at++];
        }
        return {};
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::string m_written;
};

} // namespace

Result<Regex> Regex::compile(std::string_view expression) {
    constexpr std::size_t k_longest_expression = 4096;
    if (expression.size() > k_longest_expression) {
        return bad_input("bad-regex", "a regular expression longer than 4096 bytes");
    }
    CUDAENV_TRY(const std::string translated, Translation(expression).run());
    re2::RE2::Options options;
    options.set_log_errors(false);
    auto compiled = std::make_shared<const re2::RE2>(translated, options);
    if (!compiled->ok()) {
        const std::string& part = compiled->error_arg();
        const std::size_t at = expression.find(part);
        const std::string why = compiled->error();
        return refusal(expression, part == translated ? why.substr(0, why.rfind(": " + part)) : why,
                       at == std::string_view::npos ? 0 : at);
    }
    return Regex(std::move(compiled));
}

bool Regex::matches(std::string_view text) const {
    const auto matches = [this](std::string_view tried) {
        return m_compiled->Match({tried.data(), tried.size()}, 0, tried.size(),
                                 re2::RE2::ANCHOR_START, nullptr, 0);
    };
    // In Python `$` also stands before a newline that ends the text.
    return matches(text) || (text.ends_with('\n') && matches(text.substr(0, text.size() - 1)));
}

} // namespace cudaenv::specs
