#include "shellhooks/patch/journal_compare.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::patch {

std::vector<AddEntry> lost_entries(const Variables& environment) {
    const auto text = environment.find(k_journal_variable);
    const auto journal = read_journal(text == environment.end() ? "" : text->second);
    std::vector<AddEntry> lost;
    if (!journal) {
        return lost;
    }
    for (const ListUndo& undo : journal->lists) {
        const auto list = environment.find(undo.name);
        const auto there =
            split(list == environment.end() ? std::string_view() : list->second, ':');
        const auto add_lost = [&](const std::vector<std::string>& added, End end) {
            for (const std::string& entry : added) {
                if (std::ranges::find(there, entry) == there.end()) {
                    lost.push_back({undo.name, entry, end});
                }
            }
        };
        add_lost(undo.front, End::Front);
        add_lost(undo.back, End::Back);
    }
    return lost;
}

bool is_same_patch(const Journal& a, const Journal& b) {
    const auto same_value = [](const VariableUndo& x, const VariableUndo& y) {
        return x.name == y.name && x.after == y.after;
    };
    const auto same_entries = [](const ListUndo& x, const ListUndo& y) {
        return x.name == y.name && x.front == y.front && x.back == y.back;
    };
    return std::ranges::equal(a.variables, b.variables, same_value) &&
           std::ranges::equal(a.lists, b.lists, same_entries);
}

} // namespace cudaenv::patch
