#include "shellhooks/hooks/completion.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <set>

namespace cudaenv::hooks {

bool OptionRow::is_named(std::string_view word) const {
    const auto others = split(also, ' ');
    return word == name || (!word.empty() && std::ranges::find(others, word) != others.end());
}

std::vector<OptionRow> distinct_options(std::span<const CompletedCommand> commands) {
    std::vector<OptionRow> rows;
    std::set<std::string_view> seen;
    for (const CompletedCommand& command : commands) {
        for (const OptionRow& row : command.options) {
            if (seen.insert(row.name).second) {
                rows.push_back(row);
            }
        }
    }
    return rows;
}

std::string names_of(std::span<const CompletedCommand> commands, char separator) {
    std::string text;
    for (const CompletedCommand& command : commands) {
        text += text.empty() ? std::string() : std::string(1, separator);
        text += command.name;
    }
    return text;
}

} // namespace cudaenv::hooks
