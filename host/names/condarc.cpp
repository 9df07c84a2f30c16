#include "host/names/condarc.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace cudaenv::host {

namespace {

constexpr std::string_view k_key = "envs_dirs";
constexpr std::string_view k_other_key = "envs_path";

CondarcMark mark_of(std::string_view comment) {
    comment = trim(comment);
    while (!comment.empty() && (comment.front() == '!' || comment.front() == '#')) {
        comment.remove_prefix(1);
    }
    return comment == "final"    ? CondarcMark::Final
           : comment == "top"    ? CondarcMark::Top
           : comment == "bottom" ? CondarcMark::Bottom
                                 : CondarcMark::None;
}

bool is_null(std::string_view text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

// YAML as people write condarc files: a mapping of plain or quoted keys; block and flow collections
// below them.
class Reader {
public:
    explicit Reader(std::string_view text) : m_text(text) {}

    Result<CondarcList> read() {
        bool other_key = false;
        bool key = false;
        CondarcList found;
        while (skip_to_content()) {
            if (m_text.substr(m_at).starts_with("...") && column() == 0) {
                break;
            }
            CUDAENV_TRY_VOID(check_indent());
            if (peek() == '{') {
                return broken("a whole file in braces is not read: write one key per line");
            }
            const std::size_t indent = column();
            if (m_indent && *m_indent != indent) {
                return broken("this line's indentation fits no line above");
            }
            m_indent = indent;
            CUDAENV_TRY(const std::string name, key_here());
            const bool wanted = name == k_key || name == k_other_key;
            CUDAENV_TRY(auto value, value_of(indent, wanted));
            if (!wanted) {
                continue;
            }
            (name == k_key ? key : other_key) = true;
            if (key && other_key) {
                return broken("envs_dirs and envs_path are both set: conda accepts one of them");
            }
            found = std::move(value);
        }
        return found;
    }

private:
    [[nodiscard]] bool at_end() const { return m_at >= m_text.size(); }
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
    }
    [[nodiscard]] bool blank_at(std::size_t ahead) const {
        const char c = peek(ahead);
        return c == '\0' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
    }
    [[nodiscard]] std::size_t line_start() const {
        const std::size_t newline =
            m_at == 0 ? std::string_view::npos : m_text.substr(0, m_at).rfind('\n');
        return newline == std::string_view::npos ? 0 : newline + 1;
    }
    [[nodiscard]] std::size_t column() const { return m_at - line_start(); }

    [[nodiscard]] tl::unexpected<Error> broken(std::string message) const {
        Error error{ErrorKind::BadInput, "bad-condarc", std::move(message), {}, 0, 0, {}};
        const auto before = m_text.substr(0, std::min(m_at, m_text.size()));
        error.line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
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
        return m_text.substr(start, m_at - start);
    }

    // To the next line with content, at its first character. False at the end.
    bool skip_to_content() {
        while (!at_end()) {
            const bool first = column() == 0;
            if (first &&
                (peek() == '%' || (m_text.substr(m_at).starts_with("---") && blank_at(3)))) {
                m_at = peek() == '%' ? std::min(m_text.find('\n', m_at), m_text.size()) : m_at + 3;
            }
            skip_spaces();
            if (peek() != '\n') {
                return !at_end();
            }
            ++m_at;
        }
        return false;
    }

    Result<void> check_indent() {
        if (m_text.substr(line_start(), column()).find('\t') != std::string_view::npos) {
            return broken("a tab cannot indent a line");
        }
        return {};
    }

    // Behind a value: nothing but a comment may stand on its line.
    Result<CondarcMark> end_of_line() {
        const auto comment = skip_spaces();
        if (!at_end() && peek() != '\n') {
            return broken("unexpected text behind a value");
        }
        return mark_of(comment);
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
        while (!at_end() && peek() != '\n') {
            if ((peek() == '#' && m_at > start && blank_before()) ||
                (peek() == ':' && blank_at(1)) ||
                (flow && std::string_view(",[]{}").find(peek()) != std::string_view::npos)) {
                break;
            }
            ++m_at;
        }
        return std::string(trim(m_text.substr(start, m_at - start)));
    }
    [[nodiscard]] bool blank_before() const {
        return m_text[m_at - 1] == ' ' || m_text[m_at - 1] == '\t';
    }

    Result<std::string> key_here() {
        std::string name;
        if (peek() == '"' || peek() == '\'') {
            CUDAENV_TRY(name, quoted());
            skip_spaces();
        } else if (peek() == '-' && blank_at(1)) {
            return broken("a list item without a key above it");
        } else {
            name = plain(false);
        }
        if (peek() != ':') {
            return broken("expected KEY: VALUE");
        }
        ++m_at;
        return name;
    }

    Result<std::string> scalar(bool flow) {
        if (peek() == '"' || peek() == '\'') {
            return quoted();
        }
        if (std::string_view("&*!|>@`%").find(peek()) != std::string_view::npos && !at_end()) {
            return broken(std::string("a value that starts with ") + peek() + " is not read");
        }
        return plain(flow);
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

    // Nested ones are checked and give no items.
    Result<std::vector<CondarcItem>> flow_collection(int depth = 1) {
        constexpr int k_deepest = 32;
        if (depth > k_deepest) {
            return broken("the brackets are nested too deeply");
        }
        const std::size_t start = m_at;
        const char end = peek() == '[' ? ']' : '}';
        ++m_at;
        std::vector<CondarcItem> items;
        while (true) {
            skip_flow_space();
            if (peek() == end) {
                ++m_at;
                return items;
            }
            if (at_end()) {
                m_at = start;
                return broken(std::string("the ") + m_text[start] + " is not closed");
            }
            if (peek() == '[' || peek() == '{') {
                CUDAENV_TRY_VOID(flow_collection(depth + 1));
            } else {
                CUDAENV_TRY(auto text, scalar(true));
                items.push_back({std::move(text), CondarcMark::None});
            }
            skip_flow_space();
            if (peek() == ':') {
                ++m_at;
                continue;
            }
            if (peek() == ',') {
                ++m_at;
            } else if (peek() != end) {
                m_at = start;
                return broken(std::string("the ") + m_text[start] + " is not closed");
            }
        }
    }

    // Behind "KEY:". What belongs to it stands on its line, or is indented deeper than the key, or
    // is a list whose items stand where the key does.
    Result<CondarcList> value_of(std::size_t indent, bool wanted) {
        CondarcList list;
        list.mark = mark_of(skip_spaces());
        if (peek() == '[' || peek() == '{') {
            const bool map = peek() == '{';
            CUDAENV_TRY(list.items, flow_collection());
            CUDAENV_TRY(list.mark, end_of_line());
            return wanted && map ? not_a_list() : Result<CondarcList>(list);
        }
        if (at_end() || peek() == '\n') {
            return wanted ? block_list(std::move(list), indent) : skip_block(indent);
        }
        if (!wanted) {
            return skip_block(indent);
        }
        CUDAENV_TRY(const std::string text, scalar(false));
        return is_null(text) ? Result<CondarcList>(list) : not_a_list();
    }

    [[nodiscard]] Result<CondarcList> not_a_list() const {
        return broken("envs_dirs is not a list: conda refuses it");
    }

    Result<CondarcList> block_list(CondarcList list, std::size_t indent) {
        std::optional<std::size_t> items_at;
        while (skip_to_content()) {
            CUDAENV_TRY_VOID(check_indent());
            const bool item = peek() == '-' && blank_at(1);
            if (column() < indent || (column() == indent && !item)) {
                break;
            }
            if (!item || (items_at && *items_at != column())) {
                return items_at ? broken("expected another item of the list") : not_a_list();
            }
            items_at = column();
            ++m_at;
            skip_spaces();
            CondarcItem one;
            CUDAENV_TRY(one.text, scalar(false));
            if (peek() == ':' || peek() == '[' || peek() == '{') {
                return broken("an item of envs_dirs is not a path");
            }
            CUDAENV_TRY(one.mark, end_of_line());
            list.items.push_back(std::move(one));
        }
        return list;
    }

    // What another key holds: only whether it is YAML, as far as a line shows it.
    Result<CondarcList> skip_block(std::size_t indent) {
        bool first = true; // the key's own line
        while (first ? !at_end() : skip_to_content()) {
            if (!first) {
                CUDAENV_TRY_VOID(check_indent());
                const bool item = peek() == '-' && blank_at(1);
                if (column() < indent || (column() == indent && !item)) {
                    break;
                }
            }
            CUDAENV_TRY_VOID(skip_line(indent, first));
            first = false;
        }
        return CondarcList{};
    }

    Result<void> skip_line(std::size_t indent, bool has_key) {
        while (peek() == '-' && blank_at(1)) {
            ++m_at;
            skip_spaces();
        }
        if (peek() == '|' || peek() == '>') {
            return skip_block_scalar(indent);
        }
        if (peek() == '[' || peek() == '{') {
            CUDAENV_TRY_VOID(flow_collection());
        } else if (peek() == '"' || peek() == '\'') {
            CUDAENV_TRY_VOID(quoted());
        } else {
            plain(false);
        }
        skip_spaces();
        if (peek() == ':' && blank_at(1)) {
            if (has_key) {
                return broken("a second \": \" on one line");
            }
            ++m_at;
            skip_spaces();
            return skip_line(indent, true);
        }
        if (!at_end() && peek() != '\n') {
            return broken("unexpected text behind a value");
        }
        return {};
    }

    Result<void> skip_block_scalar(std::size_t indent) {
        while (!at_end()) {
            m_at = std::min(m_text.find('\n', m_at), m_text.size() - 1) + 1;
            const std::size_t start = m_at;
            const std::size_t text = m_text.find_first_not_of(" \r", start);
            if (text == std::string_view::npos ||
                (m_text[text] != '\n' && text - start <= indent)) {
                break;
            }
        }
        if (m_at > 0 && !at_end()) {
            --m_at; // at the end of the scalar's last line, as after any other value
        }
        return {};
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::optional<std::size_t> m_indent;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
    if (std::ranges::find(list, text) == list.end()) {
        list.push_back(text);
    }
}

} // namespace

Result<CondarcList> parse_condarc(std::string_view text) {
    constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
    text.remove_prefix(text.starts_with(k_byte_order_mark) ? k_byte_order_mark.size() : 0);
    return Reader(text).read();
}

std::vector<std::string> merge_condarc(const std::vector<CondarcList>& sources) {
    const auto is_final = [](const CondarcList& list) { return list.mark == CondarcMark::Final; };
    const auto end = std::ranges::find_if(sources, is_final);
    const std::span relevant(sources.begin(), end == sources.end() ? end : end + 1);
    std::vector<std::string> bottom; // last first
    std::vector<std::string> top;
    const auto add_marked = [](const CondarcList& list, CondarcMark mark,
                               std::vector<std::string>& to) {
        for (const CondarcItem& item : list.items) {
            if (item.mark == mark) {
                to.push_back(item.text);
            }
        }
    };
    for (const CondarcList& list : relevant) {
        add_marked(list, CondarcMark::Top, top);
    }
    std::vector<std::string> ordered;
    for (const std::string& text : top) {
        add_once(ordered, text);
    }
    for (auto list = relevant.rbegin(); list != relevant.rend(); ++list) {
        add_marked(*list, CondarcMark::Bottom, bottom);
        for (const CondarcItem& item : list->items) {
            add_once(ordered, item.text);
        }
    }
    std::vector<std::string> backwards;
    for (auto text = bottom.rbegin(); text != bottom.rend(); ++text) {
        add_once(backwards, *text);
    }
    for (auto text = ordered.rbegin(); text != ordered.rend(); ++text) {
        add_once(backwards, *text);
    }
    return {backwards.rbegin(), backwards.rend()};
}

} // namespace cudaenv::host
