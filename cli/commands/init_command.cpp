// `cudaenv init SHELL`: adds the hook to the file that the shell reads when it starts.

#include "base/fd.hpp"
#include "base/own_path.hpp"
#include "base/private_files.hpp"
#include "base/runtime_directory.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/file_changes.hpp"
#include "cli/connection.hpp"
#include "cli/report.hpp"
#include "cli/start_rules.hpp"
#include "cli/this_caller.hpp"
#include "shellhooks/hooks/hook_text.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "solver/pins/config.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <variant>

namespace cudaenv::cli {

namespace {

using hooks::Shell;

bool is_there(const std::string& path) {
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
    if (!shell.start_files[1].empty() && !is_there(first)) {
        if (std::string second = expanded(shell.start_files[1]); is_there(second)) {
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

// `cudaenv hook SHELL`: runs at every start of a shell, so it waits for no daemon.

// host/project/project.hpp has the same rule for the daemon.
std::string users_config() {
    if (const std::string own = directory_in("CUDAENV_CONFIG_DIR"); !own.empty()) {
        return own + "/config.toml";
    }
    if (const std::string xdg = directory_in("XDG_CONFIG_HOME"); !xdg.empty()) {
        return xdg + "/cudaenv/config.toml";
    }
    const std::string home = directory_in("HOME");
    return home.empty() ? home : home + "/.config/cudaenv/config.toml";
}

std::optional<pins::ConfigFile> config_at(const std::string& path, pins::FileScope scope) {
    const auto text = path.empty() ? std::nullopt : read_whole(path);
    if (!text || !text->has_value()) {
        return std::nullopt;
    }
    // An unreadable file must not keep the hook from loading; the first prompt reports it.
    auto file = pins::parse_config(**text, path, scope, pins::UnknownKeys::Note);
    return file ? std::optional(std::move(*file)) : std::nullopt;
}

// Leaves a file in the runtime directory, which does not survive a reboot.
bool is_first_start() {
    const auto directory =
        open_runtime_directory(std::getenv("XDG_RUNTIME_DIR"), ::geteuid(), IfMissing::Make);
    if (!directory) {
        return false;
    }
    const Fd mark(::openat(directory->fd.get(), "looked", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
    return static_cast<bool>(mark);
}

bool wraps() {
    const auto system = config_at("/etc/cudaenv/config.toml", pins::FileScope::System);
    const auto user = config_at(users_config(), pins::FileScope::User);
    const pins::Config config = pins::Config::merge(
        {system ? &*system : nullptr, user ? &*user : nullptr, nullptr, nullptr});
    const pins::EffectiveSetting* const setting = config.find("activate.wrap");
    const bool* const value = setting == nullptr ? nullptr : std::get_if<bool>(&setting->value);
    return value == nullptr || *value;
}

// The first prompt will ask in a moment. Until then a daemon that may stay reads what the answer
// needs; without one, a child does, the first time since the runtime directory was created.
void read_in_background() {
    ConnectWishes wishes;
    wishes.start = StartDaemon::IfTerminal;
    wishes.let_finish = true;
    if (!start_situation().at_terminal() || !is_first_start()) {
        return;
    }
    auto connection = Connection::open(wishes);
    if (connection && !connection->from_daemon()) {
        static_cast<void>(
            connection->tell({0, "activate", {{"watch", true}}, this_caller(Terminal{})}));
    }
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

Result<int> print_hook(Invocation& invocation) {
    const hooks::Shell* const shell =
        hooks::shell_named(invocation.params["arguments"][0].get<std::string>());
    if (shell == nullptr) {
        return defect("unknown shell");
    }
    hooks::HookOptions options;
    CUDAENV_TRY(options.program, own_program());
    options.wrap = wraps();
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, hooks::hook_text(*shell, options)));
    read_in_background();
    return 0;
}

} // namespace cudaenv::cli
