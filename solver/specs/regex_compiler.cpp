// Regular expressions in Python's syntax, turned into the program that pattern.cpp follows.
#include "base/ascii.hpp"
#include "solver/specs/pattern.hpp"

#include <optional>
#include <set>

namespace cudaenv::specs {

namespace {
constexpr std::size_t k_longest_program = 20'000;
constexpr int k_deepest_group = 100;
} // namespace

class RegexCompiler {
public:
    explicit RegexCompiler(std::string_view text) : m_text(text) {}

    Result<Regex> compile() {
        // Errors end the parse by this value, met nowhere else.
        try {
            const Piece all = alternatives(0);
            if (m_at < m_text.size()) {
                fail("an unmatched )");
            }
            emit_checked(all.program);
            m_regex.m_program.push_back({});
        } catch (const Fault& fault) {
            auto error =
                bad_input("bad-regex", "\"" + std::string(m_text) +
                                           "\" is not a regular expression: " + fault.what);
            error.value().column = static_cast<int>(fault.at) + 1;
            return error;
        }
        return std::move(m_regex);
    }

private:
    using Op = Regex::Op;
    using Instruction = Regex::Instruction;
    struct Fault {
        std::string what;
        std::size_t at;
    };
    // Jumps inside a piece are relative to its beginning until it is placed.
    struct Piece {
        std::vector<Instruction> program;
        std::size_t least = 0; // bytes read, least and most; for look-behind
        std::size_t most = 0;
        bool repeatable = true;
    };
    static constexpr std::size_t k_unbounded = static_cast<std::size_t>(-1) / 4;

    [[noreturn]] void fail(std::string what) const { throw Fault{std::move(what), m_at}; }
    [[nodiscard]] bool more() const { return m_at < m_text.size(); }
    [[nodiscard]] char peek() const { return m_text[m_at]; }
    bool take(char c) {
        if (more() && peek() == c) {
            ++m_at;
            return true;
        }
        return false;
    }
    bool take(std::string_view word) {
        if (m_text.substr(m_at).starts_with(word)) {
            m_at += word.size();
            return true;
        }
        return false;
    }
    void emit_checked(const std::vector<Instruction>& program) {
        append(m_regex.m_program, program);
    }
    void append(std::vector<Instruction>& to, const std::vector<Instruction>& from) const {
        if (to.size() + from.size() > k_longest_program) {
            fail("too large");
        }
        const auto base = static_cast<std::uint32_t>(to.size());
        for (Instruction instruction : from) {
            if (instruction.op == Op::Split || instruction.op == Op::Jump ||
                instruction.op == Op::Look) {
                instruction.x += base;
                instruction.y += base;
            }
            to.push_back(instruction);
        }
    }
    static Instruction split(std::size_t x, std::size_t y) {
        Instruction instruction;
        instruction.op = Op::Split;
        instruction.x = static_cast<std::uint32_t>(x);
        instruction.y = static_cast<std::uint32_t>(y);
        return instruction;
    }
    static Instruction jump(std::size_t x) {
        Instruction instruction = split(x, 0);
        instruction.op = Op::Jump;
        return instruction;
    }
    static std::size_t bounded(std::size_t n) { return std::min(n, k_unbounded); }

    Piece alternatives(int depth) {
        if (depth > k_deepest_group) {
            fail("groups nested too deeply");
        }
        Piece left = sequence(depth);
        while (take('|')) {
            const Piece right = sequence(depth);
            Piece both;
            both.program.push_back(split(1, left.program.size() + 2));
            append(both.program, left.program);
            both.program.push_back(jump(left.program.size() + right.program.size() + 2));
            append(both.program, right.program);
            both.least = std::min(left.least, right.least);
            both.most = std::max(left.most, right.most);
            left = std::move(both);
        }
        return left;
    }

    Piece sequence(int depth) {
        Piece all;
        while (more() && peek() != '|' && peek() != ')') {
            Piece piece = atom(depth);
            repeat(piece);
            append(all.program, piece.program);
            all.least = bounded(all.least + piece.least);
            all.most = bounded(all.most + piece.most);
        }
        return all;
    }

    void repeat(Piece& piece) {
        std::size_t least = 0;
        std::size_t most = 0;
        if (!quantifier(least, most)) {
            return;
        }
        if (!piece.repeatable) {
            fail("nothing to repeat");
        }
        if (!take('?') && take('+')) {
            make_possessive(piece, least, most);
            return;
        }
        std::size_t second_least = 0;
        std::size_t second_most = 0;
        if (quantifier(second_least, second_most)) {
            fail("a second quantifier");
        }
        Piece repeated;
        for (std::size_t i = 0; i < least; ++i) {
            append(repeated.program, piece.program);
            if (piece.program.empty()) {
                break;
            }
        }
        if (most == k_unbounded) {
            const std::size_t begin = repeated.program.size();
            repeated.program.push_back(split(begin + 1, begin + piece.program.size() + 2));
            append(repeated.program, piece.program);
            repeated.program.push_back(jump(begin));
        } else if (!piece.program.empty()) {
            const std::size_t optional = most - least;
            const std::size_t end =
                repeated.program.size() + bounded(optional) * (piece.program.size() + 1);
            for (std::size_t i = 0; i < optional; ++i) {
                repeated.program.push_back(split(repeated.program.size() + 1, end));
                append(repeated.program, piece.program);
            }
        }
        repeated.least = least == 0 || piece.least == 0 ? 0 : bounded(piece.least) * least;
        repeated.most = most == 0 || piece.most == 0 ? 0
                        : most >= k_longest_program || piece.most >= k_longest_program
                            ? k_unbounded
                            : piece.most * most;
        piece = std::move(repeated);
    }

    // `a*+` gives nothing back: where it stops before its most, no further `a` follows. Only for
    // what reads one byte.
    void make_possessive(Piece& piece, std::size_t least, std::size_t most) {
        if (piece.program.size() != 1 || piece.most != 1) {
            fail("this possessive quantifier is not supported");
        }
        const Instruction one_byte = piece.program[0];
        Instruction none_follows;
        none_follows.op = Op::Look;
        none_follows.negated = true;
        none_follows.x = 3;
        const std::vector<Instruction> stop = {none_follows, one_byte, {}};
        Piece whole;
        append(whole.program, std::vector<Instruction>(least, one_byte));
        const std::size_t begin = whole.program.size();
        if (most == k_unbounded) {
            whole.program.push_back(split(begin + 1, begin + 3));
            whole.program.push_back(one_byte);
            whole.program.push_back(jump(begin));
            append(whole.program, stop);
        } else if (most > least) {
            // Each step reads one more, or stops and leaves.
            const std::size_t end = begin + (most - least) * 6;
            for (std::size_t i = begin; i < end; i += 6) {
                whole.program.push_back(split(i + 5, i + 1));
                append(whole.program, stop);
                whole.program.push_back(jump(end));
                whole.program.push_back(one_byte);
            }
        }
        whole.least = least;
        whole.most = most;
        piece = std::move(whole);
    }

    bool quantifier(std::size_t& least, std::size_t& most) {
        if (take('*')) {
            least = 0;
            most = k_unbounded;
            return true;
        }
        if (take('+')) {
            least = 1;
            most = k_unbounded;
            return true;
        }
        if (take('?')) {
            least = 0;
            most = 1;
            return true;
        }
        if (!more() || peek() != '{') {
            return false;
        }
        // What is not a proper {m}, {m,}, {,n} or {m,n} is read as text.
        const std::size_t begin = m_at++;
        const auto low = number();
        const bool comma = take(',');
        const auto high = comma ? number() : low;
        if ((!low && !comma) || !take('}')) {
            m_at = begin;
            return false;
        }
        least = low.value_or(0);
        most = high.value_or(k_unbounded);
        if (least > most) {
            fail("the least repeat is above the greatest");
        }
        if (least > k_longest_program || (most != k_unbounded && most > k_longest_program)) {
            fail("too many repeats");
        }
        return true;
    }
    std::optional<std::size_t> number() {
        const std::size_t begin = m_at;
        std::size_t value = 0;
        while (more() && is_digit(peek())) {
            value = std::min<std::size_t>(value * 10 + static_cast<std::size_t>(peek() - '0'),
                                          1'000'000);
            ++m_at;
        }
        return begin == m_at ? std::nullopt : std::optional(value);
    }

    static Piece one(Op op, bool repeatable = true) {
        Piece piece;
        Instruction instruction;
        instruction.op = op;
        piece.program.push_back(instruction);
        piece.repeatable = repeatable;
        return piece;
    }
    Piece byte(char c) {
        Piece piece = one(Op::Byte);
        piece.program[0].byte = static_cast<std::uint8_t>(c);
        piece.least = piece.most = 1;
        return piece;
    }
    Piece set(const std::bitset<256>& bytes) {
        Piece piece = one(Op::Set);
        piece.program[0].x = static_cast<std::uint32_t>(m_regex.m_sets.size());
        if (m_regex.m_sets.size() > k_longest_program / 4) {
            fail("too large");
        }
        m_regex.m_sets.push_back(bytes);
        piece.least = piece.most = 1;
        return piece;
    }

    Piece atom(int depth) {
        const char c = peek();
        if (c == '*' || c == '+' || c == '?') {
            fail("nothing to repeat");
        }
        if (c == '{') {
            std::size_t least = 0;
            std::size_t most = 0;
            const std::size_t begin = m_at;
            if (quantifier(least, most)) {
                m_at = begin;
                fail("nothing to repeat");
            }
        }
        ++m_at;
        switch (c) {
        case '.': {
            Piece piece = one(Op::Any);
            piece.least = piece.most = 1;
            return piece;
        }
        case '^':
            return one(Op::Begin, false);
        case '$':
            return one(Op::End, false);
        case '(':
            return group(depth);
        case '[':
            return bracket();
        case '\\':
            return escape();
        default:
            return byte(c);
        }
    }

    Piece group(int depth) {
        Instruction look;
        look.op = Op::Look;
        bool is_look = false;
        bool behind = false;
        if (take('?')) {
            if (take("#")) {
                const std::size_t end = m_text.find(')', m_at);
                if (end == std::string_view::npos) {
                    fail("a comment without its )");
                }
                m_at = end + 1;
                // Python lets a quantifier reach over a comment; nobody writes that.
                Piece nothing;
                nothing.repeatable = false;
                return nothing;
            }
            if (take("P<")) {
                group_name();
            } else if (take("=")) {
                is_look = true;
            } else if (take("!")) {
                is_look = look.negated = true;
            } else if (take("<=")) {
                is_look = behind = true;
            } else if (take("<!")) {
                is_look = behind = look.negated = true;
            } else if (!take(":")) {
                fail("a group of a kind that is not supported");
            }
        }
        Piece inner = alternatives(depth + 1);
        if (!take(')')) {
            fail("a group without its )");
        }
        if (!is_look) {
            inner.repeatable = true;
            return inner;
        }
        if (behind) {
            if (inner.least != inner.most) {
                fail("look-behind needs a fixed width");
            }
            look.behind = static_cast<std::int32_t>(std::min<std::size_t>(inner.most, 1 << 20));
        }
        Piece piece;
        look.x = static_cast<std::uint32_t>(inner.program.size() + 2);
        piece.program.push_back(look);
        append(piece.program, inner.program);
        piece.program.push_back({});
        return piece;
    }

    void group_name() {
        const std::size_t begin = m_at;
        const std::size_t end = m_text.find('>', m_at);
        if (end == std::string_view::npos || end == begin) {
            fail("a group name without its end");
        }
        const std::string_view name = m_text.substr(begin, end - begin);
        for (std::size_t i = 0; i < name.size(); ++i) {
            if (!is_letter(name[i]) && name[i] != '_' && !(i > 0 && is_digit(name[i]))) {
                fail("a bad group name");
            }
        }
        if (!m_names.insert(std::string(name)).second) {
            fail("a group name used twice");
        }
        m_at = end + 1;
    }

    static std::bitset<256> class_of(char c) {
        std::bitset<256> bytes;
        for (int i = 0; i < 128; ++i) {
            const char b = static_cast<char>(i);
            const bool space = b == ' ' || (b >= '\t' && b <= '\r') || (b >= 0x1c && b <= 0x1f);
            const bool in = c == 'd' || c == 'D'   ? is_digit(b)
                            : c == 's' || c == 'S' ? space
                                                   : is_digit(b) || is_letter(b) || b == '_';
            bytes[static_cast<std::size_t>(i)] = in;
        }
        return c < 'a' ? ~bytes : bytes;
    }
    static bool is_class(char c) {
        return c == 'd' || c == 'D' || c == 's' || c == 'S' || c == 'w' || c == 'W';
    }

    // What follows a backslash and stands for one byte.
    char escaped_byte(bool in_set) {
        const char c = m_text[m_at++];
        switch (c) {
        case 'a':
            return '\a';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'v':
            return '\v';
        case 'b':
            if (in_set) {
                return '\b';
            }
            break;
        case 'x':
            return static_cast<char>(hexadecimal());
        default:
            break;
        }
        if (is_digit(c)) {
            return octal(c, in_set);
        }
        if (is_letter(c)) {
            fail("an unknown escape");
        }
        return c;
    }
    int hexadecimal() {
        int value = 0;
        for (int i = 0; i < 2; ++i) {
            const char c = more() ? peek() : ' ';
            const int digit = is_digit(c)            ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) {
                fail("an incomplete escape");
            }
            value = value * 16 + digit;
            ++m_at;
        }
        if (value > 127) {
            fail("escapes beyond ASCII are not supported");
        }
        return value;
    }
    char octal(char first, bool in_set) {
        const auto is_octal = [&](std::size_t i) {
            return i < m_text.size() && m_text[i] >= '0' && m_text[i] <= '7';
        };
        const bool three = first <= '7' && is_octal(m_at) && is_octal(m_at + 1);
        if (first != '0' && !three && !in_set) {
            fail("back-references are not supported");
        }
        if (first > '7') {
            fail("an unknown escape");
        }
        int value = first - '0';
        for (int i = 0; i < 2 && is_octal(m_at); ++i) {
            value = value * 8 + (m_text[m_at++] - '0');
        }
        if (value > 127) {
            fail("escapes beyond ASCII are not supported");
        }
        return static_cast<char>(value);
    }

    Piece escape() {
        if (!more()) {
            fail("a backslash at the end");
        }
        const char c = peek();
        if (is_class(c)) {
            ++m_at;
            return set(class_of(c));
        }
        const Op op = c == 'A'   ? Op::Begin
                      : c == 'Z' ? Op::VeryEnd
                      : c == 'b' ? Op::Boundary
                      : c == 'B' ? Op::NotBoundary
                                 : Op::Byte;
        if (op != Op::Byte) {
            ++m_at;
            return one(op, false);
        }
        return byte(escaped_byte(false));
    }

    Piece bracket() {
        const std::size_t begin = m_at;
        const bool negated = take('^');
        std::bitset<256> bytes;
        for (bool first = true;; first = false) {
            if (!more()) {
                m_at = begin;
                fail("a [ without its ]");
            }
            if (peek() == ']' && !first) {
                ++m_at;
                return set(negated ? ~bytes : bytes);
            }
            bool is_single = true;
            const char low = set_member(bytes, is_single);
            if (!(m_at + 1 < m_text.size() && peek() == '-' && m_text[m_at + 1] != ']')) {
                if (is_single) {
                    bytes.set(static_cast<unsigned char>(low));
                }
                continue;
            }
            ++m_at;
            std::bitset<256> ignored;
            bool high_is_single = true;
            const char high = set_member(ignored, high_is_single);
            if (!is_single || !high_is_single ||
                static_cast<unsigned char>(low) > static_cast<unsigned char>(high)) {
                fail("a bad range");
            }
            for (int i = static_cast<unsigned char>(low); i <= static_cast<unsigned char>(high);
                 ++i) {
                bytes.set(static_cast<std::size_t>(i));
            }
        }
    }
    char set_member(std::bitset<256>& bytes, bool& is_single) {
        const char c = m_text[m_at++];
        if (c != '\\') {
            return c;
        }
        if (!more()) {
            fail("a backslash at the end");
        }
        if (is_class(peek())) {
            bytes |= class_of(m_text[m_at++]);
            is_single = false;
            return 0;
        }
        return escaped_byte(true);
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    Regex m_regex;
    std::set<std::string> m_names;
};

Result<Regex> Regex::compile(std::string_view expression) {
    constexpr std::size_t k_longest_expression = 4096;
    if (expression.size() > k_longest_expression) {
        return bad_input("bad-regex", "a regular expression longer than 4096 bytes");
    }
    return RegexCompiler(expression).compile();
}

} // namespace cudaenv::specs
