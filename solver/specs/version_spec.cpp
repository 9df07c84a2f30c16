#include "solver/specs/version_spec.hpp"

#include "solver/specs/spec_text.hpp"

#include <algorithm>

namespace cudaenv::specs {

namespace {

constexpr bool is_delimiter(char c) {
    return c == '(' || c == ')' || c == '|' || c == ',';
}
constexpr bool is_operator_char(char c) {
    return c == '=' || c == '<' || c == '>' || c == '!' || c == '~';
}

tl::unexpected<Error> bad_spec(std::string message, std::size_t column_offset,
                               std::string hint = {}) {
    auto failure = bad_input("bad-spec", std::move(message), std::move(hint));
    failure.value().column = static_cast<int>(column_offset) + 1;
    return failure;
}

std::string_view strip_trailing(std::string_view text, char c) {
    while (!text.empty() && text.back() == c) {
        text.remove_suffix(1);
    }
    return text;
}

struct Token {
    std::string_view text;
    std::size_t at;
};

} // namespace

class VersionSpecParser {
public:
    explicit VersionSpecParser(std::string_view text) : m_text(text) {}

    Result<VersionSpec> parse_number_relation() {
        if (strip(m_text) == "*") {
            return VersionSpec(VersionSpec::Anything{});
        }
        return relation(m_text, 0, Stars::Kept);
    }

    Result<VersionSpec> parse() {
        const std::string_view first_line = m_text.substr(0, m_text.find('\n'));
        if (first_line.find_first_of("()|,^$") == std::string_view::npos) {
            return leaf({m_text, 0});
        }
        return expression();
    }

private:
    // A node while the expression is read; groups know their depth, for the bound below.
    struct Operand {
        std::optional<Token> leaf;
        char joined = 0; // ',' or '|' of a group
        std::vector<Operand> members;
        int depth = 0;
    };
    static constexpr int k_deepest = 100;

    Result<VersionSpec> expression() {
        if (auto read = read_operands(); !read) {
            return tl::unexpected(std::move(read).error());
        }
        if (!m_operators.empty()) {
            return bad_spec("a \"(\" in \"" + std::string(m_text) + "\" is not closed",
                            m_operators.back().second);
        }
        if (m_operands.empty()) {
            return bad_spec("\"" + std::string(m_text) + "\" holds no version", 0,
                            "expected a version constraint, as in >=1.2,<2");
        }
        // Conda reads on after a complete expression and forgets what follows; so do we.
        return build(m_operands.front());
    }

    Result<void> read_operands() {
        m_operators.emplace_back('(', 0);
        std::size_t at = 0;
        while (at < m_text.size()) {
            const Token token = next_token(at);
            if (token.text.size() == 1 && is_delimiter(token.text[0])) {
                CUDAENV_TRY_VOID(take_delimiter(token.text[0], token.at));
            } else {
                Operand operand;
                operand.leaf = token;
                m_operands.push_back(std::move(operand));
            }
        }
        return take_delimiter(')', m_text.size());
    }

    Token next_token(std::size_t& at) {
        std::size_t begin = at;
        while (begin < m_text.size() && is_python_space(m_text[begin])) {
            ++begin;
        }
        if (begin < m_text.size() && m_text[begin] == '^') {
            if (const std::size_t end = m_text.find('$', begin); end != std::string_view::npos) {
                at = end + 1;
                return {m_text.substr(begin, at - begin), begin};
            }
        }
        if (begin < m_text.size() && is_delimiter(m_text[begin])) {
            at = begin + 1;
            return {m_text.substr(begin, 1), begin};
        }
        std::size_t end = begin;
        while (end < m_text.size() && !is_delimiter(m_text[end])) {
            ++end;
        }
        at = end;
        return {strip(m_text.substr(begin, end - begin)), begin};
    }

    Result<void> take_delimiter(char c, std::size_t at) {
        switch (c) {
        case '|':
            CUDAENV_TRY_VOID(join_down_to("(", at));
            m_operators.emplace_back('|', at);
            break;
        case ',':
            CUDAENV_TRY_VOID(join_down_to("|(", at));
            m_operators.emplace_back(',', at);
            break;
        case '(':
            if (++m_open > k_deepest) {
                return bad_spec("parentheses nested more than 100 deep", at);
            }
            m_operators.emplace_back('(', at);
            break;
        default:
            --m_open;
            CUDAENV_TRY_VOID(join_down_to("(", at));
            if (m_operators.empty()) {
                return bad_spec("a \")\" in \"" + std::string(m_text) + "\" closes nothing", at);
            }
            m_operators.pop_back();
        }
        return {};
    }

    Result<void> join_down_to(std::string_view stops, std::size_t at) {
        while (!m_operators.empty() &&
               stops.find(m_operators.back().first) == std::string_view::npos) {
            const auto [joiner, joiner_at] = m_operators.back();
            if (m_operands.size() < 2) {
                return bad_spec(std::string("\"") + joiner + "\" in \"" + std::string(m_text) +
                                    "\" joins nothing",
                                joiner_at, "expected a constraint on both sides, as in >=1.2,<2");
            }
            m_operators.pop_back();
            Operand right = std::move(m_operands.back());
            m_operands.pop_back();
            Operand left = std::move(m_operands.back());
            m_operands.pop_back();
            Operand group;
            if (left.joined == joiner) {
                group = std::move(left);
            } else {
                group.joined = joiner;
                group.depth = left.depth + 1;
                group.members.push_back(std::move(left));
            }
            if (right.joined == joiner) {
                group.depth = std::max(group.depth, right.depth);
                for (Operand& member : right.members) {
                    group.members.push_back(std::move(member));
                }
            } else {
                group.depth = std::max(group.depth, right.depth + 1);
                group.members.push_back(std::move(right));
            }
            if (group.depth > k_deepest) {
                return bad_spec("parentheses nested more than 100 deep", at);
            }
            m_operands.push_back(std::move(group));
        }
        return {};
    }

    Result<VersionSpec> build(const Operand& operand) {
        if (operand.leaf) {
            return leaf(*operand.leaf);
        }
        VersionSpec::Group group{operand.joined == ',', {}};
        group.members.reserve(operand.members.size());
        for (const Operand& member : operand.members) {
            CUDAENV_TRY(VersionSpec built, build(member));
            group.members.push_back(std::move(built));
        }
        return VersionSpec(std::move(group));
    }

    // `at`: where `text` stands, for the column.
    static Result<Version> version(std::string_view text, std::size_t at) {
        auto parsed = Version::parse(text);
        if (!parsed) {
            Error error = std::move(parsed).error();
            error.code = "bad-spec";
            error.column += static_cast<int>(at);
            return tl::unexpected(std::move(error));
        }
        return parsed;
    }

    static Result<VersionSpec> regex(std::string_view text, std::size_t at) {
        auto compiled = Regex::compile(text);
        if (!compiled) {
            Error error = std::move(compiled).error();
            error.code = "bad-spec";
            error.column = static_cast<int>(at) + 1;
            return tl::unexpected(std::move(error));
        }
        return VersionSpec(VersionSpec::Expression{std::move(*compiled)});
    }

    static Result<VersionSpec> leaf(Token token) {
        const std::string_view text = strip(token.text);
        const std::size_t at =
            token.at +
            (text.empty() ? 0 : static_cast<std::size_t>(text.data() - token.text.data()));
        if (text.empty()) {
            return bad_spec("an empty version constraint", at,
                            "expected a version, as in 1.2.3 or >=1.2");
        }
        if (text.front() == '^' || text.back() == '$') {
            if (text.front() != '^' || text.back() != '$') {
                return bad_spec("\"" + std::string(text) +
                                    "\": a regular expression begins with ^ and ends with $",
                                at);
            }
            return regex(text, at);
        }
        if (is_operator_char(text.front())) {
            return relation(text, at, Stars::Read);
        }
        if (text == "*") {
            return VersionSpec(VersionSpec::Anything{});
        }
        const std::string_view starless = strip_trailing(text, '*');
        if (starless.find('*') != std::string_view::npos) {
            return glob(text, at);
        }
        if (text.back() == '*') {
            // "1.7*" means 1.7.*, never 1.70.
            std::string written(text);
            if (!text.ends_with(".*")) {
                written.back() = '.';
                written += '*';
            }
            CUDAENV_TRY(Version parsed,
                        version(strip_trailing(strip_trailing(written, '*'), '.'), at));
            return VersionSpec(
                VersionSpec::Compare{VersionSpec::Relation::Starts, std::move(parsed)});
        }
        if (text.find('@') != std::string_view::npos) {
            return VersionSpec(VersionSpec::ExactText{std::string(text)});
        }
        CUDAENV_TRY(Version parsed, version(text, at));
        return VersionSpec(VersionSpec::Compare{VersionSpec::Relation::Equal, std::move(parsed)});
    }

    // A version with a star inside. Only '.' and '+' are taken as text; other characters that a
    // regular expression knows keep that meaning, as they do for conda.
    static Result<VersionSpec> glob(std::string_view text, std::size_t at) {
        const bool plain = text.find_first_of("\\^$?{}[]()|") == std::string_view::npos;
        if (plain) {
            return VersionSpec(VersionSpec::Glob{std::string(text)});
        }
        std::string expression = "^(?:";
        for (const char c : text) {
            if (c == '.' || c == '+') {
                expression += '\\';
            } else if (c == '*') {
                expression += '.';
            }
            expression += c;
        }
        expression += ")$";
        return regex(expression, at);
    }

    enum class Stars { Read, Kept };
    static Result<VersionSpec> relation(std::string_view text, std::size_t at, Stars stars) {
        using Relation = VersionSpec::Relation;
        std::size_t length = 1;
        while (length < text.size() && is_operator_char(text[length])) {
            ++length;
        }
        const std::string_view symbol = text.substr(0, length);
        std::string_view operand = text.substr(length);
        const bool known = symbol == "=" || symbol == "==" || symbol == "!=" || symbol == "<=" ||
                           symbol == ">=" || symbol == "<" || symbol == ">" || symbol == "~=";
        if (!known) {
            return bad_spec("\"" + std::string(symbol) + "\" is not an operator", at,
                            "expected one of = == != <= >= < > ~=");
        }
        if (operand.empty()) {
            return bad_spec("no version follows \"" + std::string(symbol) + "\"", at + length,
                            "expected a version, as in " + std::string(symbol) + "1.2");
        }
        const auto space = std::ranges::find_if(operand, is_space);
        if (space != operand.end()) {
            return bad_spec("white space inside \"" + std::string(text) + "\"",
                            at + length + static_cast<std::size_t>(space - operand.begin()),
                            "write the operator and its version together, as in " +
                                std::string(symbol) + "1.2");
        }
        Relation meaning = symbol == "="    ? Relation::Starts
                           : symbol == "==" ? Relation::Equal
                           : symbol == "!=" ? Relation::NotEqual
                           : symbol == "<=" ? Relation::LessEqual
                           : symbol == ">=" ? Relation::GreaterEqual
                           : symbol == "<"  ? Relation::Less
                                            : Relation::Greater;
        if (stars == Stars::Read && operand.ends_with(".*")) {
            if (symbol == "~=") {
                return bad_spec("\"" + std::string(text) + "\": \"~=\" takes no \".*\"",
                                at + text.size() - 2,
                                "write " + std::string(text.substr(0, text.size() - 2)));
            }
            operand.remove_suffix(2);
            if (symbol == "!=") {
                meaning = Relation::NotStarts;
            }
        }
        CUDAENV_TRY(Version parsed, version(operand, at + length));
        if (symbol != "~=") {
            return VersionSpec(VersionSpec::Compare{meaning, std::move(parsed)});
        }
        VersionSpec::Compatible compatible{std::move(parsed), std::nullopt};
        const std::string& normal = compatible.version.normal();
        const std::size_t dot = normal.rfind('.');
        if (auto prefix = Version::parse(
                std::string_view(normal).substr(0, dot == std::string::npos ? 0 : dot))) {
            compatible.prefix = std::move(*prefix);
        }
        return VersionSpec(std::move(compatible));
    }

    std::string_view m_text;
    std::vector<Operand> m_operands;
    std::vector<std::pair<char, std::size_t>> m_operators;
    int m_open = 0;
};

Result<VersionSpec> VersionSpec::parse(std::string_view text) {
    return VersionSpecParser(text).parse();
}

Result<VersionSpec> VersionSpec::parse_number_relation(std::string_view text) {
    return VersionSpecParser(text).parse_number_relation();
}

bool VersionSpec::is_anything() const {
    return std::holds_alternative<Anything>(m_node);
}

Verdict VersionSpec::evaluate(std::string_view text, const Version* version) const {
    if (const auto* compare = std::get_if<Compare>(&m_node)) {
        if (version == nullptr) {
            return Verdict::Undefined;
        }
        switch (compare->relation) {
        case Relation::Equal:
            return verdict_of(*version == compare->version);
        case Relation::NotEqual:
            return verdict_of(*version != compare->version);
        case Relation::Less:
            return verdict_of(*version < compare->version);
        case Relation::LessEqual:
            return verdict_of(*version <= compare->version);
        case Relation::Greater:
            return verdict_of(*version > compare->version);
        case Relation::GreaterEqual:
            return verdict_of(*version >= compare->version);
        case Relation::Starts:
            return verdict_of(version->starts_with(compare->version));
        case Relation::NotStarts:
            return verdict_of(!version->starts_with(compare->version));
        }
    }
    if (const auto* group = std::get_if<Group>(&m_node)) {
        // In order, and no further than needed: conda does not meet what it does not reach.
        const Verdict decided = group->all ? Verdict::No : Verdict::Yes;
        for (const VersionSpec& member : group->members) {
            const Verdict verdict = member.evaluate(text, version);
            if (verdict == decided || verdict == Verdict::Undefined) {
                return verdict;
            }
        }
        return group->all ? Verdict::Yes : Verdict::No;
    }
    if (const auto* compatible = std::get_if<Compatible>(&m_node)) {
        if (version == nullptr) {
            return Verdict::Undefined;
        }
        if (*version < compatible->version) {
            return Verdict::No;
        }
        return compatible->prefix ? verdict_of(version->starts_with(*compatible->prefix))
                                  : Verdict::Undefined;
    }
    if (const auto* exact = std::get_if<ExactText>(&m_node)) {
        return verdict_of(exact->text == text);
    }
    if (const auto* glob = std::get_if<Glob>(&m_node)) {
        return verdict_of(glob_matches(glob->glob, text));
    }
    if (const auto* expression = std::get_if<Expression>(&m_node)) {
        return verdict_of(expression->regex.matches(text));
    }
    return Verdict::Yes;
}

} // namespace cudaenv::specs
