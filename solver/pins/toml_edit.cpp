#include "solver/pins/toml_edit.hpp"

#include "solver/pins/toml_layout.hpp"

#include <algorithm>

namespace cudaenv::pins {

namespace {

// The line ending in use before `position`, else the first one after it, else "\n".
std::string_view newline_near(std::string_view text, std::size_t position) {
    std::size_t end = position == 0 ? std::string_view::npos : text.rfind('\n', position - 1);
    if (end == std::string_view::npos) {
        end = text.find('\n', position);
    }
    return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

// `line` as a new line at `position`, which is the start of a line or the end of the text.
std::string with_line(std::string_view text, std::size_t position, std::string_view line) {
    const std::string_view newline = newline_near(text, position);
    std::string out(text.substr(0, position));
    if (position > 0 && text[position - 1] != '\n') {
        out.append(newline).append(line); // the last line had no newline, nor has the new one
    } else {
        out.append(line).append(newline);
    }
    return out.append(text.substr(position));
}

std::string replaced(std::string_view text, TomlRange range, std::string_view with) {
    return std::string(text.substr(0, range.begin)).append(with).append(text.substr(range.end));
}

std::string in_quotes_of(std::string_view old, const std::string& value) {
    const bool simple = value.size() >= 2 && value.front() == '"' &&
                        value.find_first_of("\\'") == std::string::npos;
    if (simple && old.size() >= 2 && old[0] == '\'' && old.substr(0, 3) != "'''") {
        return '\'' + value.substr(1, value.size() - 2) + '\'';
    }
    return value;
}

std::string indent_of(std::string_view text, const TomlStatement& line) {
    return std::string(text.substr(line.whole.begin, line.key.begin - line.whole.begin));
}

std::string without(std::string_view text, const TomlLayout& layout, std::size_t index) {
    const TomlStatement& gone = layout.statements[index];
    if (!gone.inside) {
        return replaced(text, gone.whole, "");
    }
    const TomlStatement* before = nullptr;
    const TomlStatement* after = nullptr;
    for (const TomlStatement& other : layout.statements) {
        if (other.inside && other.holder == gone.holder) {
            if (other.whole.end <= gone.whole.begin) {
                before = &other;
            } else if (other.whole.begin >= gone.whole.end && after == nullptr) {
                after = &other;
            }
        }
    }
    if (before != nullptr) {
        return replaced(text, {before->whole.end, gone.whole.end}, "");
    }
    if (after != nullptr) {
        return replaced(text, {gone.whole.begin, after->whole.begin}, "");
    }
    return replaced(text, layout.statements[gone.holder].value, "{}");
}

std::string with_new(std::string_view text, const TomlLayout& layout, const TomlEdit& edit) {
    const TomlKeyPath table{edit.table};
    const std::string line = edit.key + " = " + *edit.value;
    // pins = { cuda = "11.3" }
    for (std::size_t i = 0; i < layout.statements.size(); ++i) {
        const TomlStatement& holder = layout.statements[i];
        if (holder.path != table || !holder.inline_table) {
            continue;
        }
        const TomlStatement* last = nullptr;
        for (const TomlStatement& entry : layout.statements) {
            if (entry.inside && entry.holder == i) {
                last = &entry;
            }
        }
        if (last == nullptr) {
            return replaced(text, holder.value, "{ " + line + " }");
        }
        return replaced(text, {last->value.end, last->value.end}, ", " + line);
    }
    // [pins]
    for (std::size_t i = 0; i < layout.headers.size(); ++i) {
        const TomlHeader& header = layout.headers[i];
        if (header.path != table || header.array) {
            continue;
        }
        const TomlStatement* last = nullptr;
        for (const TomlStatement& entry : layout.statements) {
            if (!entry.inside && entry.section == i + 1) {
                last = &entry;
            }
        }
        if (last == nullptr) {
            return with_line(text, header.line.end, line);
        }
        return with_line(text, last->whole.end, indent_of(text, *last) + line);
    }
    // pins.cuda = "11.3"
    const TomlStatement* last = nullptr;
    for (const TomlStatement& entry : layout.statements) {
        if (!entry.inside && entry.section == 0 && entry.path.size() == 2 &&
            entry.path[0] == edit.table) {
            last = &entry;
        }
    }
    if (last != nullptr) {
        return with_line(text, last->whole.end, indent_of(text, *last) + edit.table + '.' + line);
    }
    // No such table yet.
    const std::string_view newline = newline_near(text, text.size());
    std::string out(text);
    const bool ends = out.empty() || out.back() == '\n' || out == "\xEF\xBB\xBF";
    const bool final_newline = ends;
    if (!ends) {
        out.append(newline);
    }
    if (!out.empty() && out != "\xEF\xBB\xBF") {
        out.append(newline);
    }
    out.append("[" + edit.table + "]").append(newline).append(line);
    return final_newline ? out.append(newline) : out;
}

} // namespace

Result<std::string> edit_toml(std::string_view text, std::span<const TomlEdit> edits) {
    std::string edited(text);
    for (const TomlEdit& edit : edits) {
        const auto layout = lay_out_toml(edited);
        if (!layout) {
            return defect("the place of " + edit.table + '.' + edit.key +
                          " was lost while editing TOML");
        }
        const TomlKeyPath path{edit.table, edit.key};
        const auto found = std::ranges::find_if(
            layout->statements, [&](const TomlStatement& s) { return s.path == path; });
        if (found != layout->statements.end()) {
            const std::string_view old = std::string_view(edited).substr(
                found->value.begin, found->value.end - found->value.begin);
            edited = edit.value
                         ? replaced(edited, found->value, in_quotes_of(old, *edit.value))
                         : without(edited, *layout,
                                   static_cast<std::size_t>(found - layout->statements.begin()));
        } else if (edit.value) {
            edited = with_new(edited, *layout, edit);
        }
    }
    return edited;
}

} // namespace cudaenv::pins
