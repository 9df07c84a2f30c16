#include "cli/commands/pinned_file.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::cli {

namespace {

constexpr std::string_view k_held = "# In conda-meta/pinned: ";
constexpr std::string_view k_made = "# conda-meta/pinned was not there before.";
constexpr std::string_view k_unended_pins = "# The last line of conda-meta/pinned had no end.";

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

PinnedRecord pinned_record(std::string_view constraints) {
    PinnedRecord record;
    for_each_line(constraints, [&](std::string_view line) {
        line = without_end(line);
        record.made = record.made || line == k_made;
        record.unended = record.unended || line == k_unended_pins;
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
        change.record += std::string(k_unended_pins) + '\n';
        *change.text += '\n';
    }
    for (const std::string& line : lines) {
        *change.text += line + '\n';
        change.record += std::string(k_held) + line + '\n';
    }
    return change;
}

} // namespace cudaenv::cli
