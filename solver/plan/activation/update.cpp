#include "solver/plan/activation/update.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::plan {

namespace {

constexpr std::array<std::string_view, 3> k_context_variables{"CONDA_PREFIX", "VIRTUAL_ENV",
                                                              "CUDAENV_CUDA"};

std::string_view value_of(const Variables& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string_view() : std::string_view(found->second);
}

// Each of our entries is still on the list.
bool holds_entries(std::string_view list, const ListUndo& ours) {
    auto parts = split(list, ':');
    const auto take = [&](const std::string& entry) {
        const auto found = std::ranges::find(parts, entry);
        if (found == parts.end()) {
            return false;
        }
        parts.erase(found);
        return true;
    };
    return std::ranges::all_of(ours.front, take) && std::ranges::all_of(ours.back, take);
}

const ListUndo* find_list(const Journal& journal, std::string_view name) {
    const auto found = std::ranges::find(journal.lists, name, &ListUndo::name);
    return found == journal.lists.end() ? nullptr : &*found;
}

// A variable that somebody set over ours may come back to our value when they restore what they
// saved (direnv does): then it is ours again, so its undo is kept.
void keep_overridden(const Journal& old, const Variables& shell, Journal& journal) {
    for (const VariableUndo& variable : old.variables) {
        const auto known = std::ranges::find(journal.variables, variable.name, &VariableUndo::name);
        const auto now = shell.find(variable.name);
        if (known == journal.variables.end() &&
            (now == shell.end() || now->second != variable.after)) {
            journal.variables.push_back(variable);
        }
    }
}

// Also where nothing was to be changed: that a decision was made here is what tells the next one
// that it is the same.
void remember(Applied& applied) {
    std::string text = write_journal(applied.journal);
    if (text.size() <= k_most_journal_bytes) {
        applied.environment[std::string(k_journal_variable)] = std::move(text);
    }
}

} // namespace

Applied update(const Variables& shell, const Patch& patch, std::string place, std::string context) {
    const Journal old = read_journal(value_of(shell, k_journal_variable)).value_or(Journal());
    Applied applied = apply(undo(shell), patch, place, context);
    applied.journal.place = std::move(place);
    applied.journal.context = std::move(context);
    if (old.place == applied.journal.place) {
        keep_overridden(old, shell, applied.journal);
    }
    if (old.place != applied.journal.place || old.context != applied.journal.context) {
        remember(applied);
        return applied;
    }
    for (ListUndo& list : applied.journal.lists) {
        const ListUndo* before = find_list(old, list.name);
        const auto now = shell.find(list.name);
        if (before != nullptr && now != shell.end() && before->front == list.front &&
            before->back == list.back && holds_entries(now->second, list)) {
            applied.environment[list.name] = now->second;
            list.before = before->before;
            list.own = before->own;
        }
    }
    remember(applied);
    return applied;
}

std::string context_of(const Variables& environment, std::string_view project_directory) {
    std::string context;
    for (const std::string_view name : k_context_variables) {
        context += value_of(environment, name);
        context += '\n';
    }
    return context += project_directory;
}

bool still_in(std::string_view context, const Variables& environment, std::string_view directory) {
    // A directory may hold newlines, an environment's name hardly; where one does, the comparison
    // fails and the shell counts as having left.
    for (const std::string_view name : k_context_variables) {
        const std::string_view value = value_of(environment, name);
        if (!context.starts_with(value) || context.substr(value.size(), 1) != "\n") {
            return false;
        }
        context.remove_prefix(value.size() + 1);
    }
    return context.empty() || context == directory ||
           (directory.starts_with(context) && directory.substr(context.size(), 1) == "/");
}

} // namespace cudaenv::plan
