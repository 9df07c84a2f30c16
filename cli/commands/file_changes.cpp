#include "cli/commands/file_changes.hpp"

#include "base/json_bytes.hpp"
#include "base/text.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// In the order of FileChange.
constexpr std::array k_names{"written", "removed", "kept", "absent", "foreign"};

constexpr std::string_view k_note = "# There was no such file before";
constexpr std::string_view k_directories = "; directories created with it: ";

std::string above(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

std::optional<std::string_view> note_in(std::string_view text) {
    const std::size_t at = text.find(k_note);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    return text.substr(at, text.find('\n', at) - at);
}

// The last line of the text had no newline and got one; the block remembers that.
constexpr std::string_view k_unended = "# The line before this block had no end.\n";

struct Span {
    std::size_t begin = 0; // of the first line
    std::size_t end = 0;   // after the last line's end
};

// The line that begins at `at`, without its end; a DOS line's \r is no part of it.
std::string_view line_at(std::string_view text, std::size_t at) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

std::size_t after_line(std::string_view text, std::size_t at) {
    const std::size_t end = text.find('\n', at);
    return end == std::string_view::npos ? text.size() : end + 1;
}

Result<std::optional<Span>> find_block(std::string_view text) {
    std::optional<std::size_t> begin;
    int begins_at = 0;
    int number = 0;
    for (std::size_t at = 0; at < text.size(); at = after_line(text, at)) {
        ++number;
        const std::string_view line = line_at(text, at);
        if (!begin && line == k_block_begin) {
            begin = at;
            begins_at = number;
        } else if (begin && line == k_block_end) {
            return std::optional(Span{*begin, after_line(text, at)});
        }
    }
    if (begin) {
        return tl::unexpected(Error{ErrorKind::BadInput,
                                    "broken-block",
                                    "cudaenv's block begins here, but its end is missing",
                                    {},
                                    begins_at,
                                    1,
                                    "expected a line `" + std::string(k_block_end) + "` after it"});
    }
    return std::optional<Span>();
}

std::string block_of(std::string_view lines, bool unended) {
    return std::string(k_block_begin) + '\n' + (unended ? std::string(k_unended) : "") +
           std::string(lines) + std::string(k_block_end) + '\n';
}

bool is_unended(std::string_view block) {
    return block.substr(std::min(block.size(), k_block_begin.size() + 1)).starts_with(k_unended);
}

constexpr std::string_view k_held = "# In conda-meta/pinned: ";
constexpr std::string_view k_made = "# conda-meta/pinned was not there before.";
constexpr std::string_view k_pinned_unended = "# The last line of conda-meta/pinned had no end.";

// "pytorch" of "conda-forge::pytorch ==2.4.0".
std::string package_of(std::string_view line) {
    line = trim(line);
    if (const std::size_t channel = line.rfind("::"); channel != std::string_view::npos) {
        line = line.substr(channel + 2);
    }
    return to_lower_ascii(line.substr(0, line.find_first_of(" \t=<>!~[;,#")));
}

template <typename OnLine>
void for_each_line(std::string_view text, const OnLine& on_line) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        on_line(text.substr(at, end - at));
        at = end;
    }
}

std::string_view without_end(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return line;
}

} // namespace

Result<int> show_file_changes(const FileChanges& changes, const OutputWishes& output) {
    nlohmann::json files = nlohmann::json::array();
    for (const ChangedFile& file : changes.files) {
        files.push_back(
            {{"path", file.path}, {"change", k_names[static_cast<std::size_t>(file.change)]}});
    }
    const nlohmann::json object = {{"schema", "cudaenv.change/1"},
                                   {"command", changes.command},
                                   {"files", std::move(files)},
                                   {"next", text_or_null(changes.next)}};
    if (output.json) {
        CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, as_json(object)));
    } else if (!output.quiet) {
        const Terminal terminal = terminal_of(STDOUT_FILENO);
        CUDAENV_TRY_VOID(
            write_all(STDOUT_FILENO,
                      render(object, style_for(terminal, output.colour, this_caller(terminal)))));
    }
    return 0;
}

std::string creation_note(const std::string& path, const std::optional<std::string>& before) {
    if (before) {
        const auto note = note_in(*before);
        return note ? std::string(*note) + '\n' : std::string();
    }
    int count = 0;
    for (std::string directory = above(path);
         !directory.empty() && ::access(directory.c_str(), F_OK) != 0;
         directory = above(directory)) {
        ++count;
    }
    return std::string(k_note) +
           (count == 0 ? "" : std::string(k_directories) + std::to_string(count)) + ".\n";
}

std::optional<int> created_directories(std::string_view text) {
    const auto note = note_in(text);
    if (!note) {
        return std::nullopt;
    }
    int count = 0;
    if (note->substr(k_note.size()).starts_with(k_directories)) {
        std::from_chars(note->data() + k_note.size() + k_directories.size(),
                        note->data() + note->size(), count);
    }
    return count;
}

void remove_directories_above(std::string path, int count) {
    for (; count > 0; --count) {
        path = above(path);
        if (::rmdir(path.c_str()) != 0) {
            return;
        }
    }
}

Result<std::string> with_block(std::string_view text, std::string_view lines) {
    CUDAENV_TRY(const auto found, find_block(text));
    if (found) {
        const bool unended = is_unended(text.substr(found->begin, found->end - found->begin));
        return std::string(text.substr(0, found->begin)) + block_of(lines, unended) +
               std::string(text.substr(found->end));
    }
    const bool unended = !text.empty() && text.back() != '\n';
    return std::string(text) + (unended ? "\n" : "") + block_of(lines, unended);
}

Result<std::string> without_block(std::string_view text) {
    CUDAENV_TRY(const auto found, find_block(text));
    if (!found) {
        return std::string(text);
    }
    std::string_view before = text.substr(0, found->begin);
    const std::string_view after = text.substr(found->end);
    // Where something was written behind the block, the line end has become its own.
    if (after.empty() && is_unended(text.substr(found->begin, found->end - found->begin)) &&
        before.ends_with('\n')) {
        before.remove_suffix(1);
    }
    return std::string(before) + std::string(after);
}

PinnedRecord pinned_record(std::string_view constraints) {
    PinnedRecord record;
    for_each_line(constraints, [&](std::string_view line) {
        line = without_end(line);
        record.made = record.made || line == k_made;
        record.unended = record.unended || line == k_pinned_unended;
        if (line.starts_with(k_held)) {
            record.lines.emplace_back(line.substr(k_held.size()));
        }
    });
    return record;
}

std::string without_pinned(std::string_view text, const PinnedRecord& record) {
    std::string kept;
    bool last_is_ours = false;
    for_each_line(text, [&](std::string_view line) {
        last_is_ours = std::ranges::find(record.lines, without_end(line)) != record.lines.end();
        kept += last_is_ours ? std::string_view() : line;
    });
    if (record.unended && last_is_ours && kept.ends_with('\n')) {
        kept.pop_back();
    }
    return kept;
}

PinnedChange with_pinned(const std::optional<std::string>& plain, std::vector<std::string> lines,
                         bool of_conda) {
    std::vector<std::string> theirs;
    for_each_line(plain ? std::string_view(*plain) : std::string_view(),
                  [&](std::string_view line) { theirs.push_back(package_of(line)); });
    std::erase_if(lines, [&](const std::string& line) {
        return std::ranges::find(theirs, package_of(line)) != theirs.end();
    });
    if (!of_conda || lines.empty()) {
        return {plain, {}};
    }
    PinnedChange change;
    change.text = plain.value_or("");
    if (!plain) {
        change.record += std::string(k_made) + '\n';
    } else if (!plain->empty() && plain->back() != '\n') {
        change.record += std::string(k_pinned_unended) + '\n';
        *change.text += '\n';
    }
    for (const std::string& line : lines) {
        *change.text += line + '\n';
        change.record += std::string(k_held) + line + '\n';
    }
    return change;
}

} // namespace cudaenv::cli
