// What cudaenv changes in a shell's environment, and how that is taken back. Pure: an environment
// is a value.
//
// Law: for every environment E, patch P and edit U of the user's that does not look at what the
// patch put there, undo(U(apply(E, P))) == U(E), byte for byte; unset, empty and set are three
// things. Some edits cannot be distinguished from the patch's own: setting a variable to exactly
// what it was set to, or a list again with an entry that the patch added; `X:$LIST` on a list that
// was unset or empty before (without the patch it leaves `X:`, with it `X`); taking the last entry
// of one's own off a list (it ends up unset, as Environment Modules leave it). Of a list that had
// no entries, and to which the user adds an equal one and others, one of the two goes.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::patch {

// An environment: what is unset is missing.
using Variables = std::map<std::string, std::string, std::less<>>;

struct SetVariable {
    std::string name;
    std::string value;
};

enum class End { Front, Back };

// One directory on a list such as PATH: neither empty nor with a ':' in it.
struct AddEntry {
    std::string list;
    std::string entry;
    End end = End::Front;
};

struct Patch {
    std::vector<SetVariable> variables; // each name once
    std::vector<AddEntry> entries;      // in order: of two at the front, the first ends up first
};

// What stood in a variable before it was set; no value: it was unset.
struct VariableUndo {
    std::string name;
    std::optional<std::string> before;
    std::string after; // what it was set to: another value is the user's, and stays
};

enum class ListBefore { Unset, Empty, Filled };

// An entry that the patch puts at an end though the list had it elsewhere: without the patch it
// stands there, and zsh's `typeset -U path` or a restored PATH leave only one of the two.
struct OwnEntry {
    std::string entry;
    std::size_t count = 1; // how often the list has it beside ours; 0: it was moved to its end
    std::vector<std::string> after{}; // what stood before the first of them, nearest first
};

struct ListUndo {
    std::string name;
    ListBefore before = ListBefore::Filled;
    std::vector<std::string> front; // entries added, first first
    std::vector<std::string> back;
    std::vector<OwnEntry> own{}; // of those added, in the list's order
    // What ours was put in front of and behind, which distinguishes it from an equal entry of the
    // user adds; empty: nothing.
    std::string first{};
    std::string last{};
};

// The undo, as it travels in the environment (`k_journal_variable`).
struct Journal {
    std::string place;   // host and boot that it was written on
    std::string context; // what it was decided for: `context_of`
    std::vector<VariableUndo> variables;
    std::vector<ListUndo> lists;
    // Snapshots (`is_snapshot`) that were there before and look like ours: they are not mended.
    std::vector<std::string> snapshots{};
    // What the user has set in this shell (`inherited_variables`), so that a shell within knows.
    std::vector<SetVariable> by_hand{};

    [[nodiscard]] bool empty() const { return variables.empty() && lists.empty(); }
};

constexpr std::string_view k_journal_variable = "__CUDAENV_UNDO";

constexpr std::size_t k_most_journal_bytes = std::size_t{64} << 10;

// Only letters, digits and _ . / + - : , % so that every shell takes it unquoted; one line.
std::string write_journal(const Journal& journal);
// Reads what write_journal wrote. Error: "bad-journal": somebody changed or cut it, it is longer
// than the limit, or it names a variable that is not managed (no journal of ours unsets HOME).
Result<Journal> read_journal(std::string_view text);

struct Applied {
    Variables environment; // with the journal in it, where anything was changed
    Journal journal;
};
// `base` has no journal, `patch` names managed variables only. A list that has the entry at that
// end already is left alone, as is a variable that has the value already. Lmod counts how often a
// list has a directory: where it does, an entry is moved to the front, not added a second time.
// What could not be taken back is not done: where the journal would outgrow its limit, nothing is
// changed.
Applied apply(const Variables& base, const Patch& patch, std::string place, std::string context);

// Without our changes and without the journal; reads it from the environment itself. Also mends
// what others copied while we were active (`is_snapshot`). A journal that cannot be read is
// dropped, and nothing else is touched.
Variables undo(const Variables& environment);

// A variable in which others keep earlier values of variables: venv's _OLD_VIRTUAL_PATH, conda's
// __CONDA_SHLVL_1_CUDA_HOME, direnv's DIRENV_DIFF; or count a list's entries, as Lmod's
// __LMOD_REF_COUNT_PATH and Environment Modules' __MODULES_SHARE_PATH. All but DIRENV_DIFF, which
// keeps many, are of one variable (snapshot_of in base/variables.hpp).
bool is_snapshot(std::string_view name);

// One change; no value: it is to be unset.
struct Change {
    std::string name;
    std::optional<std::string> value;
};
// Sorted by name.
std::vector<Change> difference(const Variables& from, const Variables& to);

} // namespace cudaenv::patch
