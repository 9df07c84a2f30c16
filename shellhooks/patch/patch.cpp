#include "shellhooks/patch/patch.hpp"

#include "base/ascii.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "shellhooks/patch/direnv_diff.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <functional>
#include <utility>

namespace cudaenv::patch {

namespace {

using Entries = std::vector<std::string>;

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
            continue;
        }
        own.push_back({list[at], 1, {}});
        for (std::size_t before = at; before-- > 0;) {
            own.back().after.push_back(list[before]);
        }
    }
    return own;
}

struct Reference {
    std::string entry;
    std::size_t count = 0;
};
using References = std::vector<Reference>; // in the counter's order

// What a counter says; nothing where it is not written as expected.
References references_of(const CounterStyle& style, std::string_view text) {
    References references;
    while (!text.empty()) {
        const std::size_t colon = text.find(':');
        const std::string_view entry = text.substr(0, colon);
        text.remove_prefix(std::min(entry.size() + 1, text.size()));
        std::size_t count = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
        const auto digits = static_cast<std::size_t>(stop - text.data());
        if (error != std::errc() || (digits < text.size() && text[digits] != style.between)) {
            return {};
        }
        text.remove_prefix(std::min(digits + 1, text.size()));
        references.push_back({std::string(entry), count});
    }
    return references;
}

std::string written(const CounterStyle& style, const References& references) {
    std::string text;
    for (const Reference& reference : references) {
        text += text.empty() ? std::string() : std::string(1, style.between);
        text += reference.entry + ':' + std::to_string(reference.count);
    }
    return text;
}

// How many want `entry` on `list`, by whoever counts; 0: no counter names it.
std::size_t references_to(const Variables& environment, std::string_view list,
                          const std::string& entry) {
    for (const CounterStyle& style : counter_styles()) {
        const auto counter = value_of(environment, std::string(style.prefix) + std::string(list));
        const References references = references_of(style, counter.value_or(""));
        const auto found = std::ranges::find(references, entry, &Reference::entry);
        if (found != references.end()) {
            return found->count;
        }
    }
    return 0;
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
    Entries moved;
    const auto is_counted = [&](const std::string& entry) {
        return environment.contains(std::string(counter_styles().front().prefix) + list.name) &&
               std::ranges::count(base, entry) == 1;
    };
    ListUndo undo{list.name,
                  !before           ? ListBefore::Unset
                  : before->empty() ? ListBefore::Empty
                                    : ListBefore::Filled,
                  {},
                  {},
                  {}};
    for (auto add = list.front.rbegin(); add != list.front.rend(); ++add) {
        if (entries.empty() || entries.front() != *add) {
            if (is_counted(*add)) {
                std::erase(entries, *add);
                moved.push_back(*add);
            }
            entries.insert(entries.begin(), *add);
            undo.front.insert(undo.front.begin(), *add);
        }
    }
    for (const std::string& add : list.back) {
        if ((entries.empty() || entries.back() != add) && !is_counted(add)) {
            entries.push_back(add);
            undo.back.push_back(add);
        }
    }
    if (undo.front.empty() && undo.back.empty()) {
        return;
    }
    undo.own = own_entries(base, undo);
    for (OwnEntry& own : undo.own) {
        own.count -= static_cast<std::size_t>(std::ranges::count(moved, own.entry));
    }
    if (!base.empty()) {
        undo.first = undo.front.empty() ? std::string() : base.front();
        undo.last = undo.back.empty() ? std::string() : base.back();
    }
    environment[list.name] = join(entries, ":");
    journal.lists.push_back(std::move(undo));
}

// Puts an entry that was moved or deduplicated into its place at the front back to where the list
// had it: behind the nearest of what stood before it and is still there. Does nothing where the
// list was restored instead: there it stands behind that already. `name_of`: the entry of an
// element.
template <typename List, typename Projection>
bool put_back(List& entries, typename List::iterator entry, const OwnEntry& own,
              Projection name_of) {
    if (entry == entries.end()) {
        return false;
    }
    for (const std::string& before : own.after) {
        const auto neighbour = std::ranges::find(entries, before, name_of);
        if (neighbour == entries.end()) {
            continue;
        }
        if (entry > neighbour) {
            return false;
        }
        std::rotate(entry, entry + 1, neighbour + 1);
        return true;
    }
    return false;
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

const OwnEntry* find_own(const ListUndo& undo, const std::string& entry) {
    return find_pointer(undo.own, entry, &OwnEntry::entry);
}

// Takes what was added out of a list; false where nothing of it was in there. What somebody else
// wants on it since, by who counts in `environment`, stays.
bool take_out(Entries& entries, const ListUndo& undo, const Variables& environment) {
    bool changed = false;
    std::vector<std::string_view> missing;
    const auto is_there = [&](const std::string& entry) {
        const OwnEntry* const own = find_own(undo, entry);
        return std::cmp_greater(std::ranges::count(entries, entry),
                                own == nullptr ? 0 : own->count) &&
               (own != nullptr || references_to(environment, undo.name, entry) < 2);
    };
    for (const std::string& entry : undo.front) {
        if (!is_there(entry)) {
            missing.push_back(entry);
            continue;
        }
        const auto found = nearest_before(entries.begin(), entries.end(), entry, undo.first);
        if (const OwnEntry* const own = find_own(undo, entry); own != nullptr && own->count == 0) {
            changed = put_back(entries, found, *own, std::identity()) || changed;
            continue;
        }
        entries.erase(found);
        changed = true;
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
            const auto entry = std::ranges::find(entries, own.entry);
            changed = put_back(entries, entry, own, std::identity()) || changed;
        }
    }
    return changed;
}

// The list's value without what was added; no value: unset. `list` itself, where nothing was in it.
std::optional<std::string> list_without(const std::string& list, const ListUndo& undo,
                                        const Variables& environment) {
    Entries entries = entries_of(list);
    if (!take_out(entries, undo, environment)) {
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

// What a counter says that was written while we were active, as if we had not been.
std::string counter_without(const CounterStyle& style, const std::string& counter,
                            const ListUndo& undo) {
    References references = references_of(style, counter);
    if (references.empty()) {
        return counter; // not written as expected
    }
    for (const auto* const added : {&undo.front, &undo.back}) {
        for (const std::string& entry : *added) {
            const auto reference = std::ranges::find(references, entry, &Reference::entry);
            const OwnEntry* const own = find_own(undo, entry);
            if (reference == references.end()) {
                continue;
            }
            if (own != nullptr) {
                reference->count -= own->count > 0 && reference->count > own->count ? 1 : 0;
                put_back(references, reference, *own, &Reference::entry);
            } else if (--reference->count < style.least) {
                references.erase(reference);
            }
        }
    }
    return written(style, references);
}

// A value of `variable` that `name` has kept since we were active, as it would have been without
// us; no value: it would not be there, because an empty value is not kept.
std::optional<std::string> without_ours(std::string_view name, const std::string& snapshot,
                                        std::string_view variable, const Journal& journal,
                                        const Variables& environment) {
    std::optional<std::string> value = snapshot;
    if (const auto list = std::ranges::find(journal.lists, variable, &ListUndo::name);
        list != journal.lists.end()) {
        const CounterStyle* const style = counter_style(name);
        value = style != nullptr ? counter_without(*style, snapshot, *list)
                                 : list_without(snapshot, *list, environment);
    }
    if (const auto scalar = std::ranges::find(journal.variables, variable, &VariableUndo::name);
        scalar != journal.variables.end() && snapshot == scalar->after) {
        value = scalar->before;
    }
    return value && value->empty() && !snapshot.empty() ? std::nullopt : value;
}

// A snapshot that was taken while we were active, as it would have been without us.
std::optional<std::string> mended(const std::string& name, const std::string& snapshot,
                                  const Journal& journal, const Variables& environment) {
    if (name == k_direnv_diff) {
        return mended_direnv_diff(
            snapshot, [&](const std::string& variable, const std::string& value) {
                return without_ours(name, value, variable, journal, environment);
            });
    }
    return without_ours(name, snapshot, *snapshot_of(name), journal, environment);
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
        if (is_snapshot(name) && mended(name, value, applied.journal, base) != value) {
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
        return without; // what it said cannot be known
    }
    for (const VariableUndo& variable : journal->variables) {
        if (value_of(without, variable.name) == variable.after) {
            put(without, variable.name, variable.before);
        }
    }
    for (const ListUndo& list : journal->lists) {
        if (const auto value = value_of(without, list.name)) {
            put(without, list.name, list_without(*value, list, environment));
        }
    }
    for (const auto& [name, value] : environment) {
        if (is_snapshot(name) &&
            std::ranges::find(journal->snapshots, name) == journal->snapshots.end()) {
            put(without, name, mended(name, value, *journal, environment));
        }
    }
    return without;
}

bool is_snapshot(std::string_view name) {
    return name == k_direnv_diff || snapshot_of(name);
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

} // namespace cudaenv::patch
