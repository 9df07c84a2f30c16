#include "shellhooks/patch/update.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::patch {

namespace {

constexpr std::array<std::string_view, 2> k_roots{"CUDA_HOME", "CUDA_PATH"};

constexpr std::array<std::string_view, 3> k_context_variables{"CONDA_PREFIX", "VIRTUAL_ENV",
                                                              "CUDAENV_CUDA"};

std::string_view text_of(const Variables& environment, std::string_view name) {
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
    return find_pointer(journal.lists, name, &ListUndo::name);
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

Journal journal_of(const Variables& environment) {
    return read_journal(text_of(environment, k_journal_variable)).value_or(Journal());
}

bool says_by_hand(const Journal& journal, std::string_view name, std::string_view value) {
    return std::ranges::any_of(journal.by_hand, [&](const SetVariable& variable) {
        return variable.name == name && variable.value == value;
    });
}

// Somebody has set the variable to something else than we did.
bool is_overridden(const Journal& journal, const Variables& environment, std::string_view name) {
    const auto ours = std::ranges::find(journal.variables, name, &VariableUndo::name);
    return ours != journal.variables.end() && ours->after != text_of(environment, name);
}

std::vector<SetVariable> set_by_hand(const Variables& shell, const Variables& base) {
    const auto inherited = inherited_variables(shell);
    std::vector<SetVariable> by_hand;
    for (const std::string_view name : k_roots) {
        const std::string_view value = text_of(base, name);
        if (!value.empty() && std::ranges::find(inherited, name) == inherited.end()) {
            by_hand.push_back({std::string(name), std::string(value)});
        }
    }
    return by_hand;
}

// Also where nothing was to be changed: that a decision was made here shows the next one
// that it is the same.
void remember(Applied& applied) {
    std::string text = write_journal(applied.journal);
    if (text.size() <= k_most_journal_bytes) {
        applied.environment[std::string(k_journal_variable)] = std::move(text);
    }
}

} // namespace

Applied update(const Variables& shell, const Patch& patch, std::string place, std::string context) {
    const Journal old = journal_of(shell);
    const Variables base = undo(shell);
    Applied applied = apply(base, patch, place, context);
    applied.journal.by_hand = set_by_hand(shell, base);
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

std::vector<std::string> inherited_variables(const Variables& shell) {
    const bool hooked = shell.contains(k_found_home);
    const Variables found{
        {"CUDA_HOME", std::string(text_of(shell, k_found_home))},
        {"CUDA_PATH", std::string(text_of(shell, k_found_path))},
        {std::string(k_journal_variable), std::string(text_of(shell, k_found_journal))}};
    const Journal then = journal_of(found);
    const Journal now = journal_of(shell);
    const Variables before = undo(found);
    const Variables base = undo(shell);
    std::vector<std::string> inherited;
    for (const std::string_view name : k_roots) {
        const std::string_view value = text_of(base, name);
        // To the same value again, while ours was active: that is seen too.
        const bool is_set_since =
            value != text_of(before, name) ||
            (is_overridden(now, shell, name) && !is_overridden(then, found, name));
        if (!value.empty() && !(hooked && is_set_since) && !says_by_hand(now, name, value) &&
            !says_by_hand(then, name, value)) {
            inherited.emplace_back(name);
        }
    }
    return inherited;
}

std::string context_of(const Variables& environment, std::string_view project_directory) {
    std::string context;
    for (const std::string_view name : k_context_variables) {
        context += text_of(environment, name);
        context += '\n';
    }
    return context += project_directory;
}

bool still_in(std::string_view context, const Variables& environment,
              std::string_view project_directory) {
    // A directory may hold newlines, an environment's name hardly; where one does, the comparison
    // fails and the shell counts as having left.
    for (const std::string_view name : k_context_variables) {
        const std::string_view value = text_of(environment, name);
        if (!context.starts_with(value) || context.substr(value.size(), 1) != "\n") {
            return false;
        }
        context.remove_prefix(value.size() + 1);
    }
    return context == project_directory;
}

} // namespace cudaenv::patch
