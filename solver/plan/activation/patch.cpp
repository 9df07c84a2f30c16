#include "solver/plan/activation/patch.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "solver/plan/activation/managed.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace cudaenv::plan {

namespace {

using Entries = std::vector<std::string>;

constexpr std::string_view k_conda_snapshot = "__CONDA_SHLVL_";
constexpr std::string_view k_venv_snapshot = "_OLD_VIRTUAL_PATH";

std::optional<std::string> value_of(const Variables& environment, std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
}

// An empty list has no entries; every other text has one more than it has colons, empty ones
// counted: they are the user's.
Entries entries_of(std::string_view list) {
    if (list.empty()) {
        return {};
    }
    const auto pieces = split(list, ':');
    return {pieces.begin(), pieces.end()};
}

[[maybe_unused]] bool can_be_entry(std::string_view entry) {
    return !entry.empty() && entry.find(':') == std::string_view::npos;
}

// The entries among those added that `list` had by itself, in its order.
std::vector<OwnEntry> own_entries(const Entries& list, const ListUndo& added) {
    const auto is_added = [&](const std::string& entry) {
        return std::ranges::find(added.front, entry) != added.front.end() ||
               std::ranges::find(added.back, entry) != added.back.end();
    };
    std::vector<OwnEntry> own;
    for (std::size_t at = 0; at < list.size(); ++at) {
        if (!is_added(list[at])) {
            continue;
        }
        const auto known = std::ranges::find(own, list[at], &OwnEntry::entry);
        if (known != own.end()) {
            ++known->count;
        } else {
            own.push_back({list[at], 1, at == 0 ? std::string() : list[at - 1]});
        }
    }
    return own;
}

// What is to be added to one list, in the patch's order.
struct ListPatch {
    std::string name;
    Entries front;
    Entries back;
};

std::vector<ListPatch> lists_of(const Patch& patch) {
    std::vector<ListPatch> lists;
    for (const AddEntry& add : patch.entries) {
        assert(is_managed_list(add.list) && can_be_entry(add.entry));
        auto list = std::ranges::find(lists, add.list, &ListPatch::name);
        if (list == lists.end()) {
            list = lists.insert(lists.end(), {add.list, {}, {}});
        }
        (add.end == End::Front ? list->front : list->back).push_back(add.entry);
    }
    return lists;
}

void add_entries(Variables& environment, const ListPatch& list, Journal& journal) {
    const auto before = value_of(environment, list.name);
    const Entries base = entries_of(before.value_or(""));
    Entries entries = base;
    ListUndo undo{list.name,
                  !before           ? ListBefore::Unset
                  : before->empty() ? ListBefore::Empty
                                    : ListBefore::Filled,
                  {},
                  {},
                  {}};
    for (auto add = list.front.rbegin(); add != list.front.rend(); ++add) {
        if (entries.empty() || entries.front() != *add) {
            entries.insert(entries.begin(), *add);
            undo.front.insert(undo.front.begin(), *add);
        }
    }
    for (const std::string& add : list.back) {
        if (entries.empty() || entries.back() != add) {
            entries.push_back(add);
            undo.back.push_back(add);
        }
    }
    if (undo.front.empty() && undo.back.empty()) {
        return;
    }
    undo.own = own_entries(base, undo);
    if (!base.empty()) {
        undo.first = undo.front.empty() ? std::string() : base.front();
        undo.last = undo.back.empty() ? std::string() : base.back();
    }
    environment[list.name] = join(entries, ":");
    journal.lists.push_back(std::move(undo));
}

// Puts an entry that was deduplicated into its place at the front back to where the list had it.
// Does nothing where the list was restored instead: there it stands behind its neighbour already.
bool put_back(Entries& entries, const OwnEntry& own) {
    const auto entry = std::ranges::find(entries, own.entry);
    const auto neighbour = std::ranges::find(entries, own.after);
    if (own.after.empty() || entry == entries.end() || neighbour == entries.end() ||
        entry > neighbour) {
        return false;
    }
    std::rotate(entry, entry + 1, neighbour + 1);
    return true;
}

// The one of several equal entries that was put in front of `first`: whatever the user has put
// further ahead since, ours is the nearest before it. For the other end the range is reversed.
template <typename Iterator>
Iterator nearest_before(Iterator begin, Iterator end, const std::string& entry,
                        const std::string& first) {
    auto found = std::find(begin, end, entry);
    const auto limit = first.empty() ? begin : std::find(begin, end, first);
    for (auto next = found; limit != end && next < limit;) {
        found = next;
        next = std::find(std::next(next), end, entry);
    }
    return found;
}

// Takes what was added out of a list; false where nothing of it was in there.
bool take_out(Entries& entries, const ListUndo& undo) {
    bool changed = false;
    std::vector<std::string_view> missing;
    const auto is_there = [&](const std::string& entry) {
        const auto own = std::ranges::find(undo.own, entry, &OwnEntry::entry);
        return std::cmp_greater(std::ranges::count(entries, entry),
                                own == undo.own.end() ? 0 : own->count);
    };
    for (const std::string& entry : undo.front) {
        if (is_there(entry)) {
            entries.erase(nearest_before(entries.begin(), entries.end(), entry, undo.first));
            changed = true;
        } else {
            missing.push_back(entry);
        }
    }
    for (auto entry = undo.back.rbegin(); entry != undo.back.rend(); ++entry) {
        if (is_there(*entry)) {
            const auto found = nearest_before(entries.rbegin(), entries.rend(), *entry, undo.last);
            entries.erase(std::next(found).base());
            changed = true;
        }
    }
    for (const OwnEntry& own : undo.own) {
        if (std::ranges::find(missing, own.entry) != missing.end()) {
            changed = put_back(entries, own) || changed;
        }
    }
    return changed;
}

// The list's value without what was added; no value: unset. `list` itself, where nothing was in it.
std::optional<std::string> list_without(const std::string& list, const ListUndo& undo) {
    Entries entries = entries_of(list);
    if (!take_out(entries, undo)) {
        return list;
    }
    if (entries.empty()) {
        return undo.before == ListBefore::Empty ? std::optional(std::string()) : std::nullopt;
    }
    return join(entries, ":");
}

void put(Variables& environment, const std::string& name, std::optional<std::string> value) {
    if (value) {
        environment[name] = *std::move(value);
    } else {
        environment.erase(name);
    }
}

// A snapshot that was taken while we were active, as it would have been without us; no value: it
// would not be there, because an empty value is not kept.
std::optional<std::string> mended(const std::string& snapshot, std::string_view variable,
                                  const Journal& journal) {
    std::optional<std::string> value = snapshot;
    if (const auto list = std::ranges::find(journal.lists, variable, &ListUndo::name);
        list != journal.lists.end()) {
        value = list_without(snapshot, *list);
    }
    if (const auto scalar = std::ranges::find(journal.variables, variable, &VariableUndo::name);
        scalar != journal.variables.end() && snapshot == scalar->after) {
        value = scalar->before;
    }
    return value && value->empty() && !snapshot.empty() ? std::nullopt : value;
}

} // namespace

Applied apply(const Variables& base, const Patch& patch, std::string place, std::string context) {
    Applied applied{base, {}};
    applied.environment.erase(std::string(k_journal_variable));
    for (const auto& [name, value] : patch.variables) {
        assert(is_managed(name) && !is_managed_list(name));
        auto before = value_of(base, name);
        if (before == value) {
            continue;
        }
        applied.environment[name] = value;
        applied.journal.variables.push_back({name, std::move(before), value});
    }
    for (const ListPatch& list : lists_of(patch)) {
        add_entries(applied.environment, list, applied.journal);
    }
    if (applied.journal.empty()) {
        return applied;
    }
    for (const auto& [name, value] : base) {
        const auto variable = snapshot_of(name);
        if (variable && mended(value, *variable, applied.journal) != value) {
            applied.journal.snapshots.push_back(name);
        }
    }
    applied.journal.place = std::move(place);
    applied.journal.context = std::move(context);
    std::string text = write_journal(applied.journal);
    if (text.size() > k_most_journal_bytes) {
        return {base, {}};
    }
    applied.environment[std::string(k_journal_variable)] = std::move(text);
    return applied;
}

Variables undo(const Variables& environment) {
    const auto text = environment.find(k_journal_variable);
    if (text == environment.end()) {
        return environment;
    }
    Variables without = environment;
    without.erase(std::string(k_journal_variable));
    const auto journal = read_journal(text->second);
    if (!journal) {
        return without; // nobody can know what it said
    }
    for (const VariableUndo& variable : journal->variables) {
        if (value_of(without, variable.name) == variable.after) {
            put(without, variable.name, variable.before);
        }
    }
    for (const ListUndo& list : journal->lists) {
        if (const auto value = value_of(without, list.name)) {
            put(without, list.name, list_without(*value, list));
        }
    }
    for (const auto& [name, value] : environment) {
        const auto variable = snapshot_of(name);
        if (variable && std::ranges::find(journal->snapshots, name) == journal->snapshots.end()) {
            put(without, name, mended(value, *variable, *journal));
        }
    }
    return without;
}

std::optional<std::string_view> snapshot_of(std::string_view name) {
    if (name == k_venv_snapshot) {
        return "PATH";
    }
    if (!name.starts_with(k_conda_snapshot)) {
        return std::nullopt;
    }
    name.remove_prefix(k_conda_snapshot.size());
    const auto digits = static_cast<std::size_t>(
        std::ranges::find_if_not(name, [](char c) { return is_digit(c); }) - name.begin());
    if (digits == 0 || name.size() < digits + 2 || name[digits] != '_') {
        return std::nullopt;
    }
    return name.substr(digits + 1);
}

std::vector<Change> difference(const Variables& from, const Variables& to) {
    std::vector<Change> changes;
    auto old = from.begin();
    for (const auto& [name, value] : to) {
        for (; old != from.end() && old->first < name; ++old) {
            changes.push_back({old->first, std::nullopt});
        }
        const bool same_name = old != from.end() && old->first == name;
        if (!same_name || old->second != value) {
            changes.push_back({name, value});
        }
        if (same_name) {
            ++old;
        }
    }
    for (; old != from.end(); ++old) {
        changes.push_back({old->first, std::nullopt});
    }
    return changes;
}

} // namespace cudaenv::plan
