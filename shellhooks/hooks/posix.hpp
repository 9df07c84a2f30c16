// What sh, bash and zsh share. Pure; for the files of these shells.
#pragma once

#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::hooks {

extern const Shell k_posix;

constexpr std::string_view k_posix_plain_marks = "@%=,";
std::string quote_posix(std::string_view word);

// Letters, digits and _, no digit first. An environment may hold other names; no shell can change
// those.
bool is_variable_name(std::string_view name);

// sh and bash.
std::string render_changes_posix(std::span<const patch::Change> changes);

// `eval` of the hook, where the program is there.
std::string posix_start_lines(const Shell& shell, const std::string& program);

// ---- `__cudaenv_stale` of bash and zsh: stale_check.cpp.

// A function that is always true. No `return`: the hooks put its body into another function.
constexpr std::string_view k_always_stale = "function __cudaenv_stale {\n:\n}\n";

// One comparison of several values in a row costs half of one comparison each. A mark that no
// recorded value holds separates them: equal rows have equally many marks, so no mark is in a new
// value either, and the parts are equal one by one.
struct Row {
    std::string expansions; // "$PWD,${A+x}${B-}"
    std::string value;      // what it was
};

// `$A` costs half of `${A-}`, but under `set -u` it ends the prompt's command where A is unset.
enum class Expand { Plain, UnsetToo };

// Expands to nothing as long as a variable that was unset or empty still is. `Plain`: shorter,
// where unset and empty mean the same.
std::string expansion_of_empty(const patch::Change& variable, Expand expand = Expand::UnsetToo);
// One row; one for each value where every mark is in some value. `empty`: what expands to nothing.
std::vector<Row> rows(const Watch& watch, const std::string& empty, Expand expand);
// Whether every file that needs a stamp has one.
bool is_comparable(const Watch& watch, std::string WatchedFile::*stamp);
// The directory has been compared before: a short path costs 0.1 microseconds less for each
// directory above.
std::string path_from_here(const Watch& watch, const WatchedFile& file);
// "[[ A ||\nB ]]"
std::string any_of(const std::vector<std::string>& differences);
std::string stale_function(const std::string& condition);

} // namespace cudaenv::hooks
