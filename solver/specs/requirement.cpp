#include "solver/specs/requirement.hpp"

#include "base/ascii.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::specs {

namespace {

constexpr bool is_word(char c) {
    return is_alnum(c) || c == '_';
}

struct VariableName {
    std::string_view written;
    std::string_view name;
};
// PEP 508's names and their old forms.
constexpr std::array<VariableName, 20> k_variables = {{
    {"python_version", "python_version"},
    {"python_full_version", "python_full_version"},
    {"os_name", "os_name"},
    {"os.name", "os_name"},
    {"sys_platform", "sys_platform"},
    {"sys.platform", "sys_platform"},
    {"platform_release", "platform_release"},
    {"platform_system", "platform_system"},
    {"platform_version", "platform_version"},
    {"platform.version", "platform_version"},
    {"platform_machine", "platform_machine"},
    {"platform.machine", "platform_machine"},
    {"platform_python_implementation", "platform_python_implementation"},
    {"platform.python_implementation", "platform_python_implementation"},
    {"python_implementation", "platform_python_implementation"},
    {"implementation_name", "implementation_name"},
    {"implementation_version", "implementation_version"},
    {"extra", "extra"},
    {"extras", "extras"},
    {"dependency_groups", "dependency_groups"},
}};

} // namespace

std::string normalize_project_name(std::string_view name) {
    std::string out;
    for (const char c : to_lower_ascii(name)) {
        if (c != '-' && c != '_' && c != '.') {
            out += c;
        } else if (out.empty() || out.back() != '-') {
            out += '-';
        }
    }
    return out;
}

class RequirementParser {
public:
    explicit RequirementParser(std::string_view text) : m_text(text) {}

    Result<Requirement> requirement() {
        Requirement requirement;
        requirement.text = std::string(m_text);
        skip_blanks();
        const std::string_view name = identifier();
        if (name.empty()) {
            return fail("no project name", m_at,
                        "a requirement begins with a name, as in torch>=2");
        }
        requirement.name = std::string(name);
        skip_blanks();
        CUDAENV_TRY_VOID(extras(requirement));
        skip_blanks();
        if (take("@")) {
            skip_blanks();
            const std::size_t begin = m_at;
            while (more() && m_text[m_at] != ' ' && m_text[m_at] != '\t') {
                ++m_at;
            }
            if (begin == m_at) {
                return fail("no URL follows \"@\"", m_at,
                            "expected a URL, as in name @ https://host/name-1.0-py3-none-any.whl");
            }
            requirement.url = std::string(m_text.substr(begin, m_at - begin));
            skip_blanks();
        } else {
            CUDAENV_TRY_VOID(specifiers(requirement));
            skip_blanks();
        }
        if (more()) {
            if (!take(";")) {
                // A part of a URL with a password is not recognised as one, so it is not quoted.
                const std::size_t quoted = redact_secrets(m_text) == m_text ? 20 : 1;
                return fail('"' + std::string(m_text.substr(m_at, quoted)) +
                                "\" is not expected here",
                            m_at, after_specifiers_hint());
            }
            Marker marker;
            CUDAENV_TRY(marker.m_root, group(0));
            requirement.marker = std::move(marker);
        }
        if (more()) {
            return fail("text after the end of the marker", m_at,
                        "join comparisons with \"and\" or \"or\"");
        }
        return requirement;
    }

    Result<Marker> marker() {
        Marker marker;
        CUDAENV_TRY(marker.m_root, group(0));
        if (more()) {
            return fail("text after the end of the marker", m_at,
                        "join comparisons with \"and\" or \"or\"");
        }
        return marker;
    }

private:
    static constexpr int k_deepest = 50;

    [[nodiscard]] bool more() const { return m_at < m_text.size(); }
    void skip_blanks() {
        while (more() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) {
            ++m_at;
        }
    }
    void skip_spaces() {
        while (more() && is_space(m_text[m_at])) {
            ++m_at;
        }
    }
    bool take(std::string_view word) {
        if (!m_text.substr(m_at).starts_with(word)) {
            return false;
        }
        m_at += word.size();
        return true;
    }
    bool take_word(std::string_view word) {
        const std::size_t end = m_at + word.size();
        if (!m_text.substr(m_at).starts_with(word) ||
            (end < m_text.size() && is_word(m_text[end]))) {
            return false;
        }
        m_at = end;
        return true;
    }
    [[nodiscard]] tl::unexpected<Error> fail(std::string what, std::size_t offset,
                                             std::string hint = {}) const {
        auto failure =
            bad_input("bad-requirement",
                      '"' + redact_secrets(m_text) + "\" is not a requirement: " + std::move(what),
                      std::move(hint));
        failure.value().column = static_cast<int>(std::min<std::size_t>(offset, 1 << 30)) + 1;
        return failure;
    }
    [[nodiscard]] std::string after_specifiers_hint() const {
        if (m_text.substr(m_at).starts_with('=')) {
            return "a single \"=\" is conda's; Python's is ==";
        }
        return "versions are joined by commas, as in >=2,<3; a marker follows a semicolon";
    }

    // Letters, digits and . _ - inside; ends in a letter, a digit or an underscore.
    std::string_view identifier() {
        const std::size_t begin = m_at;
        if (!more() || !is_alnum(m_text[m_at])) {
            return {};
        }
        std::size_t end = m_at;
        while (end < m_text.size() &&
               (is_word(m_text[end]) || m_text[end] == '.' || m_text[end] == '-')) {
            ++end;
        }
        while (!is_word(m_text[end - 1])) {
            --end;
        }
        m_at = end;
        return m_text.substr(begin, end - begin);
    }

    Result<void> extras(Requirement& requirement) {
        const std::size_t open = m_at;
        if (!take("[")) {
            return {};
        }
        skip_blanks();
        for (std::string_view extra = identifier(); !extra.empty();) {
            requirement.extras.emplace_back(extra);
            skip_blanks();
            if (!take(",")) {
                break;
            }
            skip_blanks();
            extra = identifier();
            if (extra.empty()) {
                return fail("no extra follows the comma", m_at, "write extras as in [dev,test]");
            }
        }
        skip_blanks();
        if (!take("]")) {
            return fail("the \"[\" of the extras is not closed", more() ? m_at : open,
                        "write extras as in [dev,test]");
        }
        sort_unique(requirement.extras);
        return {};
    }

    // Finds where the clauses end, then lets SpecifierSet read them.
    Result<void> specifiers(Requirement& requirement) {
        const std::size_t open = m_at;
        const bool in_parentheses = take("(");
        skip_blanks();
        const std::size_t begin = m_at;
        std::size_t end = begin;
        while (at_comparison()) {
            const bool identical = m_text.substr(m_at).starts_with("===");
            while (more() && std::string_view("=<>!~").find(m_text[m_at]) != k_npos) {
                ++m_at;
            }
            skip_spaces();
            while (more() && !is_space(m_text[m_at]) && m_text[m_at] != ';' &&
                   m_text[m_at] != ')' && (identical || m_text[m_at] != ',')) {
                ++m_at;
            }
            end = m_at;
            skip_blanks();
            if (!take(",")) {
                break;
            }
            end = m_at;
            skip_blanks();
        }
        auto parsed = SpecifierSet::parse(m_text.substr(begin, end - begin));
        if (!parsed) {
            Error inner = std::move(parsed).error();
            return fail(std::move(inner.message),
                        begin + static_cast<std::size_t>(std::max(inner.column, 1)) - 1,
                        std::move(inner.hint));
        }
        requirement.specifiers = std::move(*parsed);
        skip_blanks();
        if (in_parentheses && !take(")")) {
            return fail("the \"(\" of the versions is not closed", more() ? m_at : open);
        }
        return {};
    }
    [[nodiscard]] bool at_comparison() const {
        const std::string_view rest = m_text.substr(m_at);
        return rest.starts_with("==") || rest.starts_with("!=") || rest.starts_with("~=") ||
               rest.starts_with('<') || rest.starts_with('>');
    }

    Result<Marker::Node> group(int depth) {
        Marker::Node node;
        node.alternatives.emplace_back();
        while (true) {
            CUDAENV_TRY(Marker::Node member, atom(depth));
            node.alternatives.back().push_back(std::move(member));
            if (take_word("or")) {
                node.alternatives.emplace_back();
            } else if (!take_word("and")) {
                return node;
            }
        }
    }

    Result<Marker::Node> atom(int depth) {
        skip_blanks();
        const std::size_t open = m_at;
        Marker::Node node;
        if (take("(")) {
            if (depth >= k_deepest) {
                return fail("parentheses nested more than 50 deep", open);
            }
            CUDAENV_TRY(node, group(depth + 1));
            if (!take(")")) {
                return fail("a \"(\" in the marker is not closed", more() ? m_at : open);
            }
        } else {
            CUDAENV_TRY(node.comparison, comparison());
        }
        skip_blanks();
        return node;
    }

    Result<Marker::Comparison> comparison() {
        Marker::Comparison comparison;
        CUDAENV_TRY(comparison.left, operand());
        skip_blanks();
        CUDAENV_TRY(comparison.relation, relation());
        skip_blanks();
        CUDAENV_TRY(comparison.right, operand());
        skip_blanks();
        normalize(comparison);
        return comparison;
    }

    Result<std::string> relation() {
        if (take_word("in")) {
            return std::string("in");
        }
        const std::size_t begin = m_at;
        if (take_word("not")) {
            skip_blanks();
            if (m_at > begin + 3 && take_word("in")) {
                return std::string("not in");
            }
            return fail("\"not\" without \"in\"", m_at, "write 'x' not in name");
        }
        for (const std::string_view symbol : {"===", "==", "~=", "!=", "<=", ">=", "<", ">"}) {
            if (take(symbol)) {
                return std::string(symbol);
            }
        }
        return fail("no comparison", m_at,
                    "expected one of <=, <, !=, ==, >=, >, ~=, ===, in, not in");
    }

    Result<Marker::Operand> operand() {
        for (const VariableName& variable : k_variables) {
            if (take_word(variable.written)) {
                return Marker::Operand{true, std::string(variable.name)};
            }
        }
        if (!more() || (m_text[m_at] != '"' && m_text[m_at] != '\'')) {
            const std::size_t word_end =
                std::min(m_text.find_first_of(" \t=<>!~'\"()", m_at), m_text.size());
            return fail("neither a marker's name nor a quoted text", m_at,
                        name_hint(m_text.substr(m_at, word_end - m_at)));
        }
        const std::size_t begin = m_at;
        const std::size_t end = m_text.find(m_text[m_at], m_at + 1);
        if (end == k_npos) {
            return fail("a text without its closing quote", begin);
        }
        m_at = end + 1;
        return quoted(m_text.substr(begin + 1, end - begin - 1), begin);
    }

    static std::string name_hint(std::string_view word) {
        constexpr std::size_t k_longest_name = 40;
        if (word.size() <= k_longest_name) {
            std::vector<std::string> names;
            names.reserve(k_variables.size());
            for (const VariableName& variable : k_variables) {
                names.emplace_back(variable.written);
            }
            if (const auto near = nearest(word, names)) {
                return "did you mean " + *near + "?";
            }
        }
        return "expected a name such as python_version, or a text in quotes";
    }

    // A text as Python writes it, with the plain escapes.
    Result<Marker::Operand> quoted(std::string_view inner, std::size_t at) const {
        if (inner.find_first_of("\r\n") != k_npos || inner.find('\0') != k_npos ||
            inner.ends_with('\\')) {
            return fail("a quoted text that does not end on its line", at);
        }
        constexpr std::string_view k_letters = "\\'\"abfnrtv";
        constexpr std::string_view k_meanings = "\\'\"\a\b\f\n\r\t\v";
        std::string text;
        for (std::size_t i = 0; i < inner.size(); ++i) {
            const std::size_t escape = inner[i] == '\\' ? k_letters.find(inner[i + 1]) : k_npos;
            if (escape != k_npos) {
                text += k_meanings[escape];
                ++i;
            } else {
                text += inner[i];
                if (inner[i] == '\\') {
                    text += inner[++i];
                }
            }
        }
        return Marker::Operand{false, std::move(text)};
    }

    // Extras are compared as project names are.
    static void normalize(Marker::Comparison& comparison) {
        const auto is_set = [](const Marker::Operand& operand) {
            return operand.is_variable &&
                   (operand.text == "extras" || operand.text == "dependency_groups");
        };
        const auto is_extra = [](const Marker::Operand& operand) {
            return operand.is_variable && operand.text == "extra";
        };
        if (is_extra(comparison.left) && !comparison.right.is_variable) {
            comparison.right.text = normalize_project_name(comparison.right.text);
        } else if ((is_extra(comparison.right) || is_set(comparison.right)) &&
                   !comparison.left.is_variable) {
            comparison.left.text = normalize_project_name(comparison.left.text);
        }
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

Result<Requirement> Requirement::parse(std::string_view text) {
    constexpr std::size_t k_longest = std::size_t{1} << 16;
    if (text.size() > k_longest) {
        return bad_input("bad-requirement", "a requirement longer than 64 KiB");
    }
    return RequirementParser(text).requirement();
}

std::string Requirement::normalized_name() const {
    return normalize_project_name(name);
}

Result<Marker> Marker::parse(std::string_view text) {
    constexpr std::size_t k_longest = std::size_t{1} << 16;
    if (text.size() > k_longest) {
        return bad_input("bad-requirement", "a marker longer than 64 KiB");
    }
    return RequirementParser(text).marker();
}

} // namespace cudaenv::specs
