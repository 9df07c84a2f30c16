#include "host/preprocessor.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace cudaenv::host {

namespace {

bool is_word(char c) {
    return is_alnum(c) || c == '_';
}

// Comments become a space, a backslash before a line's end joins the lines.
std::string without_comments(std::string_view source) {
    std::string result;
    result.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        const auto rest = source.substr(i);
        if (rest.starts_with("\\\n")) {
            i += 1;
        } else if (rest.starts_with("\\\r\n")) {
            i += 2;
        } else if (rest.starts_with("/*")) {
            const auto end = source.find("*/", i + 2);
            if (end == std::string_view::npos) {
                return result;
            }
            result += ' ';
            i = end + 1;
        } else if (rest.starts_with("//")) {
            const auto end = source.find('\n', i);
            if (end == std::string_view::npos) {
                return result;
            }
            i = end - 1;
        } else {
            result += source[i];
        }
    }
    return result;
}

std::vector<std::string> tokens_of(std::string_view text) {
    constexpr std::array<std::string_view, 6> k_pairs = {"&&", "||", "==", "!=", "<=", ">="};
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < text.size();) {
        if (is_space(text[i])) {
            ++i;
            continue;
        }
        std::size_t length = 1;
        if (is_word(text[i])) {
            while (i + length < text.size() && is_word(text[i + length])) {
                ++length;
            }
        } else {
            for (const auto pair : k_pairs) {
                if (text.substr(i).starts_with(pair)) {
                    length = 2;
                }
            }
        }
        tokens.emplace_back(text.substr(i, length));
        i += length;
    }
    return tokens;
}

// An integer literal, decimal or hexadecimal, its suffix dropped.
std::optional<long> number_of(std::string_view token) {
    if (token.empty() || !is_digit(token.front())) {
        return std::nullopt;
    }
    while (token.size() > 1 && (token.back() == 'L' || token.back() == 'U' || token.back() == 'l' ||
                                token.back() == 'u')) {
        token.remove_suffix(1);
    }
    int base = 10;
    if (token.starts_with("0x") || token.starts_with("0X")) {
        token.remove_prefix(2);
        base = 16;
    }
    long value = 0;
    const auto [end, error] =
        std::from_chars(token.data(), token.data() + token.size(), value, base);
    if (error != std::errc() || end != token.data() + token.size()) {
        return std::nullopt;
    }
    return value;
}

// Grammar: or := and ("||" and)*; and := equality ("&&" equality)*; equality := relation
// (("=="|"!=") relation)*; relation := sum (("<"|">"|"<="|">=") sum)*; sum := product (("+"|"-")
// product)*; product := unary (("*"|"/"|"%") unary)*.
class Expression {
public:
    Expression(const std::vector<std::string>& tokens, const Macros& macros)
        : m_tokens(&tokens), m_macros(&macros) {}

    std::optional<long> value() {
        const long result = binary(0);
        if (m_failed || m_at != m_tokens->size()) {
            return std::nullopt;
        }
        return result;
    }

private:
    static constexpr int k_levels = 6;
    // Parentheses deeper than this are no compiler check; it bounds the recursion.
    static constexpr int k_depth = 64;

    [[nodiscard]] std::string_view peek() const {
        return m_at < m_tokens->size() ? std::string_view((*m_tokens)[m_at]) : std::string_view();
    }
    bool take(std::string_view token) {
        if (peek() == token) {
            ++m_at;
            return true;
        }
        return false;
    }

    static bool is_operator(int level, std::string_view token) {
        switch (level) {
        case 0:
            return token == "||";
        case 1:
            return token == "&&";
        case 2:
            return token == "==" || token == "!=";
        case 3:
            return token == "<" || token == ">" || token == "<=" || token == ">=";
        case 4:
            return token == "+" || token == "-";
        default:
            return token == "*" || token == "/" || token == "%";
        }
    }

    // Numbers in headers are small; whoever writes huge ones gets "cannot be evaluated".
    long apply(std::string_view op, long a, long b) {
        constexpr long k_huge = 1L << 31U;
        if (op == "||") {
            return static_cast<long>(a != 0 || b != 0);
        }
        if (op == "&&") {
            return static_cast<long>(a != 0 && b != 0);
        }
        if (op == "==") {
            return static_cast<long>(a == b);
        }
        if (op == "!=") {
            return static_cast<long>(a != b);
        }
        if (op == "<") {
            return static_cast<long>(a < b);
        }
        if (op == ">") {
            return static_cast<long>(a > b);
        }
        if (op == "<=") {
            return static_cast<long>(a <= b);
        }
        if (op == ">=") {
            return static_cast<long>(a >= b);
        }
        if (a > k_huge || a < -k_huge || b > k_huge || b < -k_huge ||
            (b == 0 && (op == "/" || op == "%"))) {
            m_failed = true;
            return 0;
        }
        switch (op.front()) {
        case '+':
            return a + b;
        case '-':
            return a - b;
        case '*':
            return a * b;
        case '/':
            return a / b;
        default:
            return a % b;
        }
    }

    long binary(int level) {
        if (level == k_levels) {
            return unary();
        }
        long left = binary(level + 1);
        while (!m_failed && is_operator(level, peek())) {
            const std::string op((*m_tokens)[m_at++]);
            left = apply(op, left, binary(level + 1));
        }
        return left;
    }

    long unary() {
        if (++m_depth > k_depth) {
            m_failed = true;
        }
        const long result = m_failed ? 0 : primary();
        --m_depth;
        return result;
    }

    long primary() {
        if (take("!")) {
            return static_cast<long>(unary() == 0);
        }
        if (take("-")) {
            return -unary();
        }
        if (take("(")) {
            const long inner = binary(0);
            m_failed = m_failed || !take(")");
            return inner;
        }
        if (take("defined")) {
            const bool parenthesis = take("(");
            const std::string name(peek());
            ++m_at;
            m_failed =
                m_failed || name.empty() || !is_word(name.front()) || (parenthesis && !take(")"));
            return static_cast<long>(m_macros->contains(name));
        }
        const std::string_view token = peek();
        ++m_at;
        if (const auto number = number_of(token)) {
            return *number;
        }
        // A name followed by a parenthesis is a call, as __has_include(...): not for us.
        if (token.empty() || !is_word(token.front()) || peek() == "(" || is_digit(token.front())) {
            m_failed = true;
            return 0;
        }
        const auto macro = m_macros->find(token);
        return macro == m_macros->end() ? 0 : macro->second;
    }

    const std::vector<std::string>* m_tokens;
    const Macros* m_macros;
    std::size_t m_at = 0;
    int m_depth = 0;
    bool m_failed = false;
};

} // namespace

Preprocessor::Preprocessor(std::string_view source) {
    constexpr std::array<std::pair<std::string_view, Kind>, 9> k_words = {{
        {"if", Kind::If},
        {"ifdef", Kind::Ifdef},
        {"ifndef", Kind::Ifndef},
        {"elif", Kind::Elif},
        {"else", Kind::Else},
        {"endif", Kind::Endif},
        {"define", Kind::Define},
        {"undef", Kind::Undef},
        {"error", Kind::Error},
    }};
    const auto plain = without_comments(source);
    for (auto line : split(plain, '\n')) {
        line = trim(line);
        if (!line.starts_with('#')) {
            continue;
        }
        line = trim(line.substr(1));
        std::size_t length = 0;
        while (length < line.size() && is_word(line[length])) {
            ++length;
        }
        for (const auto& [word, kind] : k_words) {
            if (line.substr(0, length) == word) {
                const auto rest = trim(line.substr(length));
                Directive directive{kind, {}, {}};
                if (kind == Kind::Error) {
                    directive.text = std::string(rest);
                } else {
                    directive.tokens = tokens_of(rest);
                }
                m_directives.push_back(std::move(directive));
            }
        }
    }
}

std::string Preprocessor::first_error(Macros macros) const {
    // Of one #if group: whether this branch is taken, and whether a later one still may be.
    struct Group {
        bool taken = false;
        bool open = false;
    };
    std::vector<Group> groups;
    const auto active = [&] {
        for (const auto& group : groups) {
            if (!group.taken) {
                return false;
            }
        }
        return true;
    };
    const auto opened = [](std::optional<long> value) {
        return Group{value && *value != 0, value && *value == 0};
    };
    for (const auto& directive : m_directives) {
        const auto& tokens = directive.tokens;
        switch (directive.kind) {
        case Kind::If:
            groups.push_back(active() ? opened(Expression(tokens, macros).value()) : Group{});
            break;
        case Kind::Ifdef:
        case Kind::Ifndef: {
            const bool wanted = directive.kind == Kind::Ifdef;
            const bool known = !tokens.empty() && macros.contains(tokens.front());
            groups.push_back(active() ? opened(static_cast<long>(known == wanted)) : Group{});
            break;
        }
        case Kind::Elif:
            if (!groups.empty()) {
                const bool may = groups.back().open;
                groups.back() = Group{};
                groups.back().taken = may; // so that active() speaks of the outer groups
                groups.back() =
                    may && active() ? opened(Expression(tokens, macros).value()) : Group{};
            }
            break;
        case Kind::Else:
            if (!groups.empty()) {
                groups.back() = Group{groups.back().open, false};
            }
            break;
        case Kind::Endif:
            if (!groups.empty()) {
                groups.pop_back();
            }
            break;
        case Kind::Define:
            if (active() && !tokens.empty()) {
                macros[tokens.front()] = tokens.size() == 2 ? number_of(tokens[1]).value_or(0) : 0;
            }
            break;
        case Kind::Undef:
            if (active() && !tokens.empty()) {
                macros.erase(tokens.front());
            }
            break;
        case Kind::Error:
            if (active()) {
                return directive.text.empty() ? "#error" : directive.text;
            }
            break;
        }
    }
    return {};
}

bool Preprocessor::mentions_error(std::string_view words) const {
    for (const auto& directive : m_directives) {
        if (directive.kind == Kind::Error && directive.text.find(words) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace cudaenv::host
