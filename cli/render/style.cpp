#include "cli/render/style.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudaenv::cli {

namespace {

constexpr int k_note_column = 72; // where the notes on the right begin
constexpr std::string_view k_gap = "   ";
constexpr int k_narrowest_cell =
    24; // narrower than this, text is broken to the label column instead

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

// The part of `path` below `directory`; empty when it is not below it.
std::string_view below(std::string_view path, std::string_view directory) {
    if (directory.size() < 2 || !path.starts_with(directory) || path.size() <= directory.size() ||
        path[directory.size()] != '/') {
        return {};
    }
    return path.substr(directory.size() + 1);
}

// Split at spaces that stand in no single quotes: what a shell would take for words, quotes kept.
std::vector<std::string> shell_words(std::string_view command) {
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : command) {
        quoted = quoted != (c == '\'');
        if (c != ' ' || quoted) {
            words.back() += c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    if (words.back().empty()) {
        words.pop_back();
    }
    return words;
}

// The words before the first option, then each option with the words after it.
std::vector<std::string> option_groups(std::string_view command) {
    std::vector<std::string> groups;
    for (const std::string& word : shell_words(command)) {
        if (groups.empty() || word.starts_with('-')) {
            groups.push_back(word);
        } else {
            groups.back() += ' ' + word;
        }
    }
    return groups;
}

std::string_view escape_of(State state) {
    switch (state) {
    case State::Fits:
        return "\x1b[32m";
    case State::Warns:
        return "\x1b[33m";
    case State::Breaks:
        return "\x1b[31m";
    case State::Unknown:
        break;
    }
    return {};
}

} // namespace

State state_of(std::string_view name) {
    constexpr auto k_names =
        std::to_array<std::pair<std::string_view, State>>({{"ok", State::Fits},
                                                           {"warns", State::Warns},
                                                           {"warning", State::Warns},
                                                           {"fails", State::Breaks},
                                                           {"error", State::Breaks}});
    const auto* found = std::ranges::find(k_names, name, [](const auto& row) { return row.first; });
    return found == k_names.end() ? State::Unknown : found->second;
}

std::string coloured(const Style& style, State state, std::string_view text) {
    const std::string_view escape = style.colour ? escape_of(state) : std::string_view();
    if (escape.empty()) {
        return std::string(text);
    }
    return std::string(escape) + std::string(text) + "\x1b[0m";
}

std::string tick(const Style& style, State state) {
    switch (state) {
    case State::Fits:
        return coloured(style, state, style.utf8 ? "✓" : "ok");
    case State::Warns:
        return coloured(style, state, "!");
    case State::Breaks:
        return coloured(style, state, style.utf8 ? "✗" : "x");
    case State::Unknown:
        break;
    }
    return "?";
}

std::string spaces(int count) {
    return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

int width_of(std::string_view text) {
    int width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            i = std::min(text.find('m', i), text.size() - 1);
        } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
            ++width;
        }
    }
    return width;
}

std::string in_locale(const Style& style, std::string_view text) {
    std::string out(text);
    if (!style.utf8) {
        constexpr auto k_plain =
            std::to_array<std::pair<std::string_view, std::string_view>>({{" · ", ", "},
                                                                          {"·", ","},
                                                                          {"≥", ">="},
                                                                          {"≤", "<="},
                                                                          {"✓", "ok"},
                                                                          {"✗", "x"},
                                                                          {"…", "..."},
                                                                          {"–", "-"},
                                                                          {"→", "->"}});
        for (const auto& [sign, plain] : k_plain) {
            replace_all(out, sign, plain);
        }
    }
    return out;
}

std::string short_path(const Style& style, std::string_view path) {
    const std::string_view rest = below(path, style.home);
    return rest.empty() ? std::string(path) : "~/" + std::string(rest);
}

std::string message_path(const Style& style, std::string_view path) {
    const std::string_view rest = below(path, style.cwd);
    return rest.empty() ? short_path(style, path) : "./" + std::string(rest);
}

std::string joined(std::initializer_list<std::string> pieces, std::string_view separator) {
    std::string out;
    for (const std::string& piece : pieces) {
        if (!piece.empty()) {
            out += (out.empty() ? "" : std::string(separator)) + piece;
        }
    }
    return out;
}

std::vector<std::string> wrapped(std::string_view text, int width) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t at = 0;
    while (at < text.size()) {
        // A word with the spaces before it, so that columns inside the text survive.
        const std::size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(at, end - at);
        if (!line.empty() && begin < text.size() && width_of(line) + width_of(word) > width) {
            lines.push_back(std::exchange(line, std::string(text.substr(begin, end - begin))));
        } else {
            line += word;
        }
        at = end;
    }
    lines.push_back(std::move(line));
    return lines;
}

void Page::row(std::string_view label, std::string_view text, std::string_view note) {
    const std::string body = in_locale(m_style, text);
    const std::string aside = in_locale(m_style, note);
    bool first = true;
    for (const std::string& part : wrapped(body, m_style.columns - m_label_width)) {
        std::string out = first ? std::string(label) : std::string();
        out += spaces(m_label_width - width_of(out));
        if (first && !label.empty() && width_of(label) >= m_label_width) {
            out += ' ';
        }
        out += part;
        if (first && !aside.empty()) {
            const int gap = std::max(k_note_column - width_of(out), 2);
            if (width_of(out) + gap + width_of(aside) <= m_style.columns) {
                out += spaces(gap) + aside;
            }
        }
        first = false;
        line(out);
    }
}

void Page::row_if(std::string_view label, std::string_view text) {
    if (!text.empty()) {
        row(label, text);
    }
}

void Page::command(std::string_view label, std::string_view text) {
    if (text.empty()) {
        return;
    }
    const int gap = std::max(m_label_width - width_of(label), 1);
    line(std::string(label) + spaces(gap) + in_locale(m_style, text));
}

void Page::table(std::string_view label, const std::vector<std::vector<std::string>>& rows) {
    std::vector<int> widths;
    for (const auto& cells : rows) {
        widths.resize(std::max(widths.size(), cells.size()));
        for (std::size_t i = 0; i < cells.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(in_locale(m_style, cells[i])));
        }
    }
    bool first = true;
    for (const auto& cells : rows) {
        std::string text = std::exchange(first, false) ? std::string(label) : std::string();
        text += spaces(m_label_width - width_of(text));
        for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
            if (widths[i] > 0) {
                const std::string cell = in_locale(m_style, cells[i]);
                text += cell + spaces(widths[i] - width_of(cell)) + std::string(k_gap);
            }
        }
        const int column = width_of(text);
        const bool under_itself = m_style.columns - column >= k_narrowest_cell;
        const std::string last = cells.empty() ? std::string() : in_locale(m_style, cells.back());
        const int indent = under_itself ? column : m_label_width;
        bool first_part = true;
        for (const std::string& part : wrapped(last, m_style.columns - indent)) {
            line(std::exchange(first_part, false) ? text + part : spaces(indent) + part);
        }
    }
}

void Page::paragraph(int first, int indent, std::string_view text) {
    int at = first;
    for (const std::string& part : wrapped(in_locale(m_style, text), m_style.columns - indent)) {
        line(spaces(std::exchange(at, indent)) + part);
    }
}

void Page::line(std::string_view text) {
    const std::size_t end = text.find_last_not_of(' ');
    m_text += text.substr(0, end == std::string_view::npos ? 0 : end + 1);
    m_text += '\n';
}

void Page::command(int indent, std::string_view text) {
    if (text.empty()) {
        return;
    }
    const int room = m_style.columns - 2; // for " \\"
    std::string out = spaces(indent);
    bool empty = true; // nothing of the command on this line yet
    const auto add = [&](std::string_view piece) {
        if (!empty && width_of(out) + 1 + width_of(piece) > room) {
            m_text += out + " \\\n";
            out = spaces(indent + 4);
            empty = true;
        }
        out += (empty ? "" : " ") + std::string(piece);
        empty = false;
    };
    for (const std::string& group : option_groups(text)) {
        if (indent + 4 + width_of(group) <= room) {
            add(group); // an option stays with what belongs to it
            continue;
        }
        for (const std::string& word : shell_words(group)) {
            add(word);
        }
    }
    m_text += out + '\n';
}

} // namespace cudaenv::cli
