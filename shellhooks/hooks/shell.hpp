// A shell that cudaenv speaks: everything that differs from one shell to the next. Each shell is
// one file, shell_NAME.cpp, with its prompt hook beside it in hook.NAME; CMakeLists.txt makes the
// table of them. Pure.
#pragma once

#include "shellhooks/patch/patch.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace cudaenv::hooks {

// venv keeps PATH in it without exporting it, so a change of it is a plain assignment.
constexpr std::string_view k_unexported_variable = "_OLD_VIRTUAL_PATH";

struct CompletedCommand;
struct Watch;

// Scripts of `cudaenv attach`, for tools that source `etc/conda/activate.d/*.EXTENSION`. Texts are
// files beside the shell's own; in them %PROGRAM% stands for the path of cudaenv as a quoted word.
struct AttachScripts {
    std::string_view extension{};
    const char* activate = nullptr; // nullptr: the shell runs those of sh
    const char* deactivate = nullptr;
};

struct Shell {
    std::string_view name;          // "bash"
    std::string_view other_names{}; // "sh dash ksh"
    std::string_view plain_marks{}; // need no quotes, besides letters, digits and _ + : . / -
    std::string (*quote)(std::string_view word) = nullptr; // for quote_word
    // Law: evaluating the text makes exactly these changes to the shell's environment, whatever the
    // bytes of the values, also under `set -eu`, noclobber, posix mode and with odd IFS; and
    // changes no other state of the shell. No change is an empty text; others end with a newline.
    std::string (*render_changes)(std::span<const patch::Change> changes) = nullptr;
    AttachScripts attach{};

    // The text of hook.NAME. The members from here to start_lines belong to shells that have one.
    const char* hook = nullptr;
    // Defines what the hook compares at each prompt: for bash and zsh the function
    // `__cudaenv_stale` (builtins only; true when anything differs); for the others a variable that
    // is not exported, which xonsh compares itself and fish and tcsh pass to `cudaenv prompt
    // --watch`.
    std::string (*render_watch)(const Watch& watch) = nullptr;
    // A variable inside double quotes, empty where it is unset.
    std::string_view expansion = "${NAME-}";
    // `eval` of this shell keeps no newlines, so an answer is the path of a private file.
    bool answers_in_file = false;
    std::string_view evaluate_hook{}; // what a user types to get the hook into a running shell
    // The file that an interactive shell reads last of the user's own: the first that exists, else
    // the first. They begin with `~/`, `$XDG_CONFIG_HOME/` or `$ZDOTDIR/`.
    std::array<std::string_view, 2> start_files{};
    // What `cudaenv init` writes there. The shell must start without an error when `program` is
    // gone.
    std::string (*start_lines)(const std::string& program) = nullptr;

    std::string (*completions)(std::span<const CompletedCommand> commands) = nullptr;
};

// All of them, by name.
std::span<const Shell* const> shells();
// By any of its names; nullptr for an unknown one.
const Shell* shell_named(std::string_view name);

// The shell at a path, as SHELL has it, if it has a hook; else bash.
const Shell& hooked_shell_at(std::string_view path);

// Names between blanks, for a choice on the command line.
std::string_view names_of_all_shells();
std::string_view names_of_hooked_shells();
std::string_view names_of_completing_shells();

} // namespace cudaenv::hooks
