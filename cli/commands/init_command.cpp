// `cudaenv init SHELL`: adds the hook to the file that the shell reads when it starts.
#include "base/own_path.hpp"
#include "base/private_files.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/created_file.hpp"
#include "cli/commands/file_changes.hpp"
#include "cli/commands/marked_block.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

using hooks::Shell;

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

struct Root {
    std::string_view prefix;
    const char* variable;
    std::string_view below_home; // if the variable is not set
};
constexpr auto k_roots = std::to_array<Root>({
    {"~", "HOME", ""},
    {"$ZDOTDIR", "ZDOTDIR", ""},
    {"$XDG_CONFIG_HOME", "XDG_CONFIG_HOME", "/.config"},
});

// One of Shell::start_files as a path; empty if there is no home directory.
std::string expanded(std::string_view file) {
    const auto* const root = std::ranges::find_if(
        k_roots, [&](const Root& one) { return file.starts_with(one.prefix); });
    std::string directory = directory_in(root->variable);
    if (directory.empty()) {
        directory = directory_in("HOME");
        if (directory.empty()) {
            return {};
        }
        directory += root->below_home;
    }
    return directory.append(file.substr(root->prefix.size()));
}

Result<std::string> start_file(const Shell& shell) {
    const std::string first = expanded(shell.start_files[0]);
    if (first.empty()) {
        return bad_input("no-home", "there is no home directory with a start-up file",
                         "set HOME to an absolute path");
    }
    if (!shell.start_files[1].empty() && !exists(first)) {
        if (std::string second = expanded(shell.start_files[1]); exists(second)) {
            return second;
        }
    }
    return first;
}

std::string block_lines(const Shell& shell, const std::string& program) {
    const std::string name(shell.name);
    return "# Written by `cudaenv init " + name + "`; `cudaenv init " + name +
           " --undo` removes it.\n" + shell.start_lines(program);
}

// No text: the file is removed.
Result<void> change_own(const std::string& path, const std::optional<std::string>& text,
                        const std::optional<std::string>& before) {
    CUDAENV_TRY_VOID(check_own_place(path));
    struct stat status {};
    if (!before && ::lstat(path.c_str(), &status) == 0) {
        return unavailable("dangling-link", "is a dangling symlink", {}, path);
    }
    make_private_directories(path.substr(0, path.rfind('/')));
    CUDAENV_TRY(const Place place, place_of(path));
    return text ? replace_whole(place, path, *text, before) : remove_whole(place, path);
}

// Reports the failure, then the lines to edit by hand.
Result<int> cannot_write(Error error, bool undo, const std::string& lines, bool json) {
    error.hint = undo ? "remove these lines by hand" : "add these lines by hand";
    const int status = report_failure(error, json);
    if (!json) {
        static_cast<void>(write_all(STDERR_FILENO, '\n' + lines));
    }
    return status;
}

} // namespace

Result<int> init(Invocation& invocation) {
    const std::string name = invocation.params["arguments"][0].get<std::string>();
    const Shell* const shell = hooks::shell_named(name);
    if (shell == nullptr) {
        return defect("unknown shell");
    }
    const bool undo = invocation.params.contains("undo");
    CUDAENV_TRY(const std::string path, start_file(*shell));
    CUDAENV_TRY(const std::string program, own_program());
    const std::string lines = block_lines(*shell, program);
    CUDAENV_TRY(const auto before, read_whole(path));
    auto after = undo ? without_block(before.value_or(""))
                      : with_block(before.value_or(""), lines + creation_note(path, before));
    if (!after) {
        return at_path(path, std::move(after).error());
    }
    FileChanges changes{"init", {}, {}};
    if (*after == before.value_or("")) {
        changes.files.push_back({path, undo ? FileChange::Absent : FileChange::Kept});
    } else {
        const bool created = undo && after->empty() && created_directories(*before);
        auto written = change_own(path, created ? std::nullopt : std::optional(*after), before);
        if (!written) {
            return cannot_write(std::move(written).error(), undo, lines, invocation.output.json);
        }
        if (created) {
            remove_directories_above(path, *created_directories(*before));
        }
        changes.files.push_back({path, undo ? FileChange::Removed : FileChange::Written});
        changes.next = undo ? "running shells keep the hook until they exit"
                            : "start a new " + name + ", or run `exec " + name + "` in this one";
    }
    return show_file_changes(changes, invocation.output);
}

} // namespace cudaenv::cli
