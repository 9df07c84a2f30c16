// `cudaenv hook SHELL`: runs at every start of a shell, so it waits for no daemon.
#include "base/fd.hpp"
#include "base/runtime_directory.hpp"
#include "base/whole_file.hpp"
#include "cli/caller.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/own_program.hpp"
#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/start_rules.hpp"
#include "shellhooks/hook.hpp"
#include "shellhooks/shell.hpp"
#include "solver/plan/config.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <variant>

namespace cudaenv::cli {

namespace {

// An absolute path from the environment; XDG has relative ones ignored.
std::string directory_in(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value == '/' ? value : std::string();
}

// host/project/config_files.hpp has the same rule for the daemon.
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

std::optional<plan::ConfigFile> config_at(const std::string& path, plan::FileScope scope) {
    const auto text = path.empty() ? std::nullopt : read_whole(path);
    if (!text || !text->has_value()) {
        return std::nullopt;
    }
    // A file that cannot be read must not cost the user the hook: the first prompt tells of it.
    auto file = plan::parse_config(**text, path, scope, plan::UnknownKeys::Note);
    return file ? std::optional(std::move(*file)) : std::nullopt;
}

// Leaves a mark in the runtime directory, which does not outlive the boot.
bool is_first_look() {
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
    const auto system = config_at("/etc/cudaenv/config.toml", plan::FileScope::System);
    const auto user = config_at(users_config(), plan::FileScope::User);
    const plan::Config config = plan::Config::merge(
        {system ? &*system : nullptr, user ? &*user : nullptr, nullptr, nullptr});
    const plan::EffectiveSetting* const setting = config.find("activate.wrap");
    const bool* const value = setting == nullptr ? nullptr : std::get_if<bool>(&setting->value);
    return value == nullptr || *value;
}

// A person's first prompt will ask in a moment: what its answer needs is looked at meanwhile, by
// the daemon that may stay, or, the first time since the runtime directory was made, by a child.
void look_in_background() {
    ConnectWishes wishes;
    wishes.start = StartDaemon::IfTerminal;
    wishes.let_finish = true;
    if (!start_situation().at_terminal() || !is_first_look()) {
        return;
    }
    auto connection = Connection::open(wishes);
    if (connection && !connection->from_daemon()) {
        static_cast<void>(
            connection->tell({0, "activate", {{"watch", true}}, this_caller(Terminal{})}));
    }
}

} // namespace

Result<int> print_hook(Invocation& invocation) {
    const auto shell =
        shellhooks::shell_named(invocation.params["arguments"][0].get<std::string>());
    if (!shell) {
        return defect("a shell of the table has no hook");
    }
    shellhooks::HookOptions options;
    CUDAENV_TRY(options.program, own_program());
    options.wrap = wraps();
    CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, shellhooks::hook_text(*shell, options)));
    look_in_background();
    return 0;
}

} // namespace cudaenv::cli
