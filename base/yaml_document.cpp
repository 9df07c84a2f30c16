#include "base/yaml_document.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cudaenv {

namespace {

constexpr auto k_npos = std::string_view::npos;
constexpr int k_deepest = 32;

class Reader {
public:
    explicit Reader(std::string_view text) : m_text(text) {
        constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
        m_text.remove_prefix(m_text.starts_with(k_byte_order_mark) ? k_byte_order_mark.size() : 0);
        for (std::size_t at = 0; at != k_npos;) {
            m_line_starts.push_back(at);
            const std::size_t newline = m_text.find('\n', at);
            at = newline == k_npos ? k_npos : newline + 1;
        }
    }

    Result<YamlNode> read() {
        CUDAENV_TRY(const bool content, skip_to_content());
        if (!content) {
            return YamlNode{};
        }
        CUDAENV_TRY(auto root, node_here(k_npos, Mapping::Allowed, 1));
        CUDAENV_TRY(const bool more, skip_to_content());
        if (more) {
            return broken("this line's indentation fits no line above");
        }
        return root;
    }

private:
    enum class Mapping { Allowed, Refused };

    [[nodiscard]] bool at_end() const { return m_at >= m_text.size(); }
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
    }
    [[nodiscard]] bool blank_at(std::size_t ahead) const {
        const char c = peek(ahead);
        return c == '\0' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
    }
    [[nodiscard]] std::size_t line_index(std::size_t at) const {
        const auto after = std::ranges::upper_bound(m_line_starts, at);
        return static_cast<std::size_t>(after - m_line_starts.begin()) - 1;
    }
    [[nodiscard]] std::size_t column() const { return m_at - m_line_starts[line_index(m_at)]; }
    [[nodiscard]] bool is_item() const { return peek() == '-' && blank_at(1); }

    template <typename Placed>
    void place(Placed& value, std::size_t at) const {
        const std::size_t line = line_index(at);
        value.line = static_cast<int>(line) + 1;
        value.column = static_cast<int>(at - m_line_starts[line]) + 1;
    }
    [[nodiscard]] YamlNode node(YamlNode::Kind kind) const {
        YamlNode made;
        made.kind = kind;
        place(made, m_at);
        return made;
    }
    [[nodiscard]] tl::unexpected<Error> broken(std::string message) const {
        Error error{ErrorKind::BadInput, "bad-yaml", std::move(message), {}, 0, 0, {}};
        place(error, std::min(m_at, m_text.size()));
        return tl::unexpected(std::move(error));
    }

    // Spaces on this line, and a comment, which is returned without its line's end.
    std::string_view skip_spaces() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\r') {
            ++m_at;
        }
        const bool starts = m_at == 0 || m_text[m_at - 1] == ' ' || m_text[m_at - 1] == '\t' ||
                            m_text[m_at - 1] == '\n';
        if (peek() != '#' || !starts) {
            return {};
        }
        const std::size_t start = m_at;
        m_at = std::min(m_text.find('\n', m_at), m_text.size());
        return trim(m_text.substr(start, m_at - start));
    }
    [[nodiscard]] bool at_line_end() const { return at_end() || peek() == '\n'; }

    // To the next line with content, at its first character. False at the end of the document.
    Result<bool> skip_to_content() {
        while (!at_end()) {
            if (column() == 0) {
                const std::string_view rest = m_text.substr(m_at);
                if (rest.starts_with("...") && blank_at(3)) {
                    m_at = m_text.size();
                    return false;
                }
                if (rest.starts_with("---") && blank_at(3)) {
                    if (m_begun) {
                        return broken("a second document in one file is not read");
                    }
                    m_at += 3;
                } else if (peek() == '%' && !m_begun) {
                    m_at = std::min(m_text.find('\n', m_at), m_text.size());
                }
            }
            skip_spaces();
            if (!at_line_end()) {
                m_begun = true;
                const std::size_t start = m_line_starts[line_index(m_at)];
                if (m_text.substr(start, m_at - start).find('\t') != k_npos) {
                    return broken("a tab cannot indent a line");
                }
                return true;
            }
            m_at += at_end() ? 0 : 1;
        }
        return false;
    }

    // Behind a value: only a comment may stand on its line.
    Result<void> end_line(YamlNode& value) {
        const std::string_view comment = skip_spaces();
        if (!at_line_end()) {
            return broken("unexpected text behind a value");
        }
        if (!comment.empty()) {
            value.comment = std::string(comment);
        }
        return {};
    }

    Result<std::string> quoted() {
        const char quote = peek();
        const std::size_t start = m_at++;
        std::string text;
        while (!at_end()) {
            const char c = peek();
            ++m_at;
            if (c == quote) {
                if (quote == '\'' && peek() == '\'') {
                    text += '\'';
                    ++m_at;
                    continue;
                }
                return text;
            }
            if (c == '\\' && quote == '"') {
                const char escaped = peek();
                ++m_at;
                if (escaped != '"' && escaped != '\\' && escaped != '/') {
                    return broken("this escape in double quotes is not read");
                }
                text += escaped;
                continue;
            }
            text += c == '\n' ? ' ' : c;
        }
        m_at = start;
        return broken(std::string("a quote (") + quote + ") is not closed");
    }

    // Up to a comment, the line's end, ": ", and in a flow collection , ] and }.
    std::string plain(bool flow) {
        const std::size_t start = m_at;
        while (!at_line_end()) {
            const bool after_blank =
                m_at > start && (m_text[m_at - 1] == ' ' || m_text[m_at - 1] == '\t');
            if ((peek() == '#' && after_blank) || (peek() == ':' && blank_at(1)) ||
                (flow && std::string_view(",[]{}").find(peek()) != k_npos)) {
                break;
            }
            ++m_at;
        }
        return std::string(trim(m_text.substr(start, m_at - start)));
    }

    Result<YamlNode> scalar(bool flow) {
        YamlNode value = node(YamlNode::Kind::Scalar);
        if (peek() == '"' || peek() == '\'') {
            value.quoted = true;
            CUDAENV_TRY(value.text, quoted());
            return value;
        }
        if (peek() == '?' && blank_at(1)) {
            return broken("a key that starts with ? is not read");
        }
        if (peek() == '*' && !blank_at(1)) {
            value.kind = YamlNode::Kind::Alias;
        } else if (!at_end() && std::string_view("@`%").find(peek()) != k_npos) {
            return broken(std::string("a value that starts with ") + peek() +
                          " has to stand in quotes");
        }
        value.text = plain(flow);
        return value;
    }

    // &anchor and !tag say nothing that is needed here.
    void skip_properties() {
        while ((peek() == '&' || peek() == '!') && !at_line_end()) {
            while (!blank_at(0)) {
                ++m_at;
            }
            while (peek() == ' ' || peek() == '\t') {
                ++m_at;
            }
        }
    }

    void skip_flow_space() {
        while (true) {
            skip_spaces();
            if (peek() != '\n') {
                return;
            }
            ++m_at;
        }
    }

    Result<YamlNode> flow_node(int depth) {
        skip_properties();
        return peek() == '[' || peek() == '{' ? flow_collection(depth) : scalar(true);
    }

    Result<YamlNode> flow_collection(int depth) {
        if (depth > k_deepest) {
            return broken("the brackets are nested too deeply");
        }
        const std::size_t start = m_at;
        const bool is_list = peek() == '[';
        const char end = is_list ? ']' : '}';
        const auto not_closed = [&] {
            m_at = start;
            return broken(std::string("the ") + m_text[start] + " is not closed");
        };
        YamlNode made = node(is_list ? YamlNode::Kind::Sequence : YamlNode::Kind::Mapping);
        ++m_at;
        while (true) {
            skip_flow_space();
            if (peek() == end) {
                ++m_at;
                return made;
            }
            if (at_end()) {
                return not_closed();
            }
            const std::size_t before = m_at;
            CUDAENV_TRY(auto value, flow_node(depth + 1));
            skip_flow_space();
            if (peek() == ':') {
                ++m_at;
                skip_flow_space();
                YamlEntry entry{value.text, value.line, value.column, {}};
                if (peek() != ',' && peek() != end) {
                    CUDAENV_TRY(entry.value, flow_node(depth + 1));
                    skip_flow_space();
                }
                YamlNode pair;
                YamlNode& holder = is_list ? pair : made;
                holder.kind = YamlNode::Kind::Mapping;
                holder.line = entry.line;
                holder.column = entry.column;
                holder.entries.push_back(std::move(entry));
                if (is_list) {
                    made.items.push_back(std::move(pair));
                }
            } else if (is_list) {
                made.items.push_back(std::move(value));
            } else {
                made.entries.push_back({value.text, value.line, value.column, {}});
            }
            if (peek() == ',') {
                ++m_at;
            } else if (peek() != end || m_at == before) {
                return not_closed();
            }
        }
    }

    // `|` or `>`: the lines below that are indented deeper than `indent`.
    YamlNode block_scalar(std::size_t indent) {
        YamlNode value = node(YamlNode::Kind::Scalar);
        value.quoted = true;
        const bool folded = peek() == '>';
        m_at = std::min(m_text.find('\n', m_at), m_text.size());
        while (!at_end()) {
            const std::size_t start = m_at + 1;
            const std::size_t end = std::min(m_text.find('\n', start), m_text.size());
            const std::size_t text = m_text.find_first_not_of(" \r", start);
            const bool blank = text == k_npos || text >= end;
            if (start >= m_text.size() || (!blank && indent != k_npos && text - start <= indent)) {
                break;
            }
            value.text += trim(m_text.substr(start, end - start));
            value.text += folded ? ' ' : '\n';
            m_at = end;
        }
        return value;
    }

    // What is indented deeper than `indent`; a list below a key may stand where the key does.
    Result<YamlNode> node_below(std::size_t indent, bool of_key, int depth) {
        CUDAENV_TRY(const bool content, skip_to_content());
        if (content && (column() > indent || indent == k_npos ||
                        (of_key && column() == indent && is_item()))) {
            return node_here(indent, Mapping::Allowed, depth);
        }
        return node(YamlNode::Kind::Null);
    }

    // The node that begins here, within one that is indented by `indent`.
    Result<YamlNode> node_here(std::size_t indent, Mapping mapping, int depth) {
        if (depth > k_deepest) {
            return broken("the lines are nested too deeply");
        }
        const std::size_t here = column();
        if (is_item()) {
            return mapping == Mapping::Allowed ? sequence(here, depth)
                                               : broken("a list begins on the line below its key");
        }
        skip_properties();
        if (at_line_end()) {
            return node_below(indent, mapping == Mapping::Refused, depth + 1);
        }
        if (peek() == '|' || peek() == '>') {
            return block_scalar(indent);
        }
        const std::size_t start = m_at;
        Result<YamlNode> value =
            peek() == '[' || peek() == '{' ? flow_collection(depth + 1) : scalar(false);
        if (!value) {
            return value;
        }
        if (value->kind == YamlNode::Kind::Scalar || value->kind == YamlNode::Kind::Alias) {
            skip_quoted_key_space(*value);
            if (peek() == ':' && blank_at(1)) {
                if (mapping == Mapping::Refused) {
                    return broken("a second \": \" on one line");
                }
                m_at = start;
                return block_mapping(here, depth);
            }
        }
        CUDAENV_TRY_VOID(end_line(*value));
        const bool is_plain = value->kind == YamlNode::Kind::Scalar && !value->quoted;
        if (is_plain && value->comment.empty() && indent != k_npos) {
            CUDAENV_TRY_VOID(continue_plain(*value, indent));
        }
        return value;
    }
    // The lines of a plain scalar below its first.
    Result<void> continue_plain(YamlNode& value, std::size_t indent) {
        while (value.comment.empty()) {
            CUDAENV_TRY(const bool content, skip_to_content());
            if (!content || column() <= indent || is_item()) {
                return {};
            }
            const std::size_t start = m_at;
            value.text += ' ' + plain(false);
            if (peek() == ':') {
                m_at = start;
                return broken("this line's indentation fits no line above");
            }
            CUDAENV_TRY_VOID(end_line(value));
        }
        return {};
    }
    void skip_quoted_key_space(const YamlNode& key) {
        while (key.quoted && (peek() == ' ' || peek() == '\t')) {
            ++m_at;
        }
    }

    Result<YamlNode> block_mapping(std::size_t indent, int depth) {
        YamlNode made = node(YamlNode::Kind::Mapping);
        while (true) {
            if (is_item()) {
                return broken("a list item without a key above it");
            }
            CUDAENV_TRY(const auto key, scalar(false));
            skip_quoted_key_space(key);
            if (peek() != ':' || !blank_at(1)) {
                return broken("expected KEY: VALUE");
            }
            ++m_at;
            const std::string comment(skip_spaces());
            YamlEntry entry{key.text, key.line, key.column, {}};
            if (at_line_end()) {
                CUDAENV_TRY(entry.value, node_below(indent, true, depth + 1));
                entry.value.comment = comment;
            } else {
                CUDAENV_TRY(entry.value, node_here(indent, Mapping::Refused, depth + 1));
            }
            made.entries.push_back(std::move(entry));
            CUDAENV_TRY(const bool goes_on, next_at(indent));
            if (!goes_on) {
                return made;
            }
        }
    }

    Result<YamlNode> sequence(std::size_t indent, int depth) {
        YamlNode made = node(YamlNode::Kind::Sequence);
        while (true) {
            ++m_at;
            const std::string comment(skip_spaces());
            YamlNode item;
            if (at_line_end()) {
                CUDAENV_TRY(item, node_below(indent, false, depth + 1));
                item.comment = comment;
            } else {
                CUDAENV_TRY(item, node_here(indent, Mapping::Allowed, depth + 1));
            }
            made.items.push_back(std::move(item));
            CUDAENV_TRY(const bool goes_on, next_at(indent));
            if (!goes_on || !is_item()) {
                return made;
            }
        }
    }

    // Does another line of this block follow?
    Result<bool> next_at(std::size_t indent) {
        CUDAENV_TRY(const bool content, skip_to_content());
        if (content && column() > indent) {
            return broken("this line's indentation fits no line above");
        }
        return content && column() == indent;
    }

    std::string_view m_text;
    std::vector<std::size_t> m_line_starts;
    std::size_t m_at = 0;
    bool m_begun = false; // content has been read: no more directives
};

} // namespace

bool YamlNode::is_null() const {
    return kind == Kind::Null ||
           (kind == Kind::Scalar && !quoted &&
            (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL"));
}

Result<YamlNode> parse_yaml(std::string_view text) {
    return Reader(text).read();
}

} // namespace cudaenv
