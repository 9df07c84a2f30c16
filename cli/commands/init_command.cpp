// `cudaenv init SHELL`: the hook into the file that the shell reads when it starts.
#include "base/private_files.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/created_file.hpp"
#include "cli/commands/file_changes.hpp"
#include "cli/commands/marked_block.hpp"
#include "cli/commands/own_program.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "shellhooks/quote.hpp"
#include "shellhooks/shell.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

using shellhooks::Shell;

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

std::string directory_in(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value == '/' ? value : std::string();
}

// The file that an interactive shell of this kind reads last of the user's own.
Result<std::string> start_file(Shell shell) {
    const std::string home = directory_in("HOME");
    const std::string zdotdir = directory_in("ZDOTDIR");
    std::string config = directory_in("XDG_CONFIG_HOME");
    if (home.empty() && !(shell == Shell::Zsh && !zdotdir.empty())) {
        return bad_input("no-home",
                         "there is no home directory whose start-up file could be changed",
                         "expected HOME to be an absolute path");
    }
    if (config.empty()) {
        config = home + "/.config";
    }
    switch (shell) {
    case Shell::Posix:
        break;
    case Shell::Bash:
        return home + "/.bashrc";
    case Shell::Zsh:
        return (zdotdir.empty() ? home : zdotdir) + "/.zshrc";
    case Shell::Fish:
        // Not conf.d, which is read before it: conda writes itself in here.
        return config + "/fish/config.fish";
    case Shell::Tcsh:
        // .cshrc is read only where there is no .tcshrc.
        return home +
               (exists(home + "/.tcshrc") || !exists(home + "/.cshrc") ? "/.tcshrc" : "/.cshrc");
    case Shell::Xonsh:
        // Both are read, .xonshrc last.
        return exists(config + "/xonsh/rc.xsh") && !exists(home + "/.xonshrc")
                   ? config + "/xonsh/rc.xsh"
                   : home + "/.xonshrc";
    }
    return defect("a shell without a start-up file");
}

// Without cudaenv the shell starts as if nothing had been written.
std::string block_lines(Shell shell, const std::string& program) {
    const std::string word = shellhooks::quote_word(shell, program);
    const std::string name(shellhooks::name_of(shell));
    std::string text = "# Written by `cudaenv init " + name + "`; `cudaenv init " + name +
                       " --undo` takes it out.\n";
    switch (shell) {
    case Shell::Posix:
    case Shell::Bash:
    case Shell::Zsh:
        return text + "if [ -x " + word + " ]; then\n    eval \"$(" + word + " hook " + name +
               ")\"\nfi\n";
    case Shell::Fish:
        return text + "if test -x " + word + "\n    " + word + " hook fish | source\nend\n";
    case Shell::Tcsh:
        text += "if ( -x " + word + " ) then\n";
        // Inside "`...`" no quoting of a path is safe.
        text += word == program
                    ? "    eval \"`" + word + " hook tcsh`\"\n"
                    : "    set __cudaenv_file=`mktemp`\n    " + word +
                          " hook tcsh >! $__cudaenv_file:q\n    source $__cudaenv_file:q\n"
                          "    \\rm -f $__cudaenv_file:q\n    unset __cudaenv_file\n";
        return text + "endif\n";
    case Shell::Xonsh:
        break;
    }
    // A whole path stands in @(...) or as it is; for access() it is a string of Python.
    const std::string python =
        word.starts_with("@(") ? word.substr(2, word.size() - 3) : '\'' + word + '\'';
    // Not $(...): in a start-up file it was seen to give nothing on a loaded machine.
    return text + "if __import__('os').access(" + python +
           ", 1):\n    execx(__import__('subprocess').check_output([" + python +
           ", 'hook', 'xonsh'], text=True,\n          env=__xonsh__.env.detype()))\n";
}

// No text: the file is removed.
Result<void> change_own(const std::string& path, const std::optional<std::string>& text,
                        const std::optional<std::string>& before) {
    CUDAENV_TRY_VOID(check_own_place(path));
    struct stat status {};
    if (!before && ::lstat(path.c_str(), &status) == 0) {
        return tl::unexpected(Error{ErrorKind::Unavailable,
                                    "dangling-link",
                                    "is a link that leads nowhere",
                                    path,
                                    0,
                                    0,
                                    {}});
    }
    make_private_directories(path.substr(0, path.rfind('/')));
    CUDAENV_TRY(const Place place, place_of(path));
    return text ? replace_whole(place, path, *text, before) : remove_whole(place, path);
}

// The failure, and after it what the user can do by hand.
Result<int> cannot_write(Error error, bool undo, const std::string& lines, bool json) {
    error.hint = undo ? "these lines are to be taken out" : "these lines do it by hand";
    const int status = report_failure(error, json);
    if (!json) {
        static_cast<void>(write_all(STDERR_FILENO, '\n' + lines));
    }
    return status;
}

} // namespace

Result<int> init(Invocation& invocation) {
    const std::string name = invocation.params["arguments"][0].get<std::string>();
    const auto shell = shellhooks::shell_named(name);
    if (!shell) {
        return defect("a shell of the table is none");
    }
    const bool undo = invocation.params.contains("undo");
    CUDAENV_TRY(const std::string path, start_file(*shell));
    CUDAENV_TRY(const std::string program, own_program());
    const std::string lines = block_lines(*shell, program);
    CUDAENV_TRY(const auto before, read_whole(path));
    auto after = undo ? without_block(before.value_or(""))
                      : with_block(before.value_or(""), lines + creation_note(path, before));
    if (!after) {
        after.error().path = path;
        return tl::unexpected(std::move(after).error());
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
        changes.next = undo ? "shells that have the hook keep it until they end"
                            : "a new " + name + ", or `exec " + name + "` in this one";
    }
    return show_file_changes(changes, invocation.output);
}

} // namespace cudaenv::cli
