// `cudaenv hook SHELL`: runs at every start of a shell, so it waits for no daemon.
#include "base/fd.hpp"
#include "base/own_path.hpp"
#include "base/runtime_directory.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/commands.hpp"
#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/start_rules.hpp"
#include "cli/this_caller.hpp"
#include "shellhooks/hooks/hook_text.hpp"
#include "shellhooks/hooks/shell.hpp"
#include "solver/pins/config.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <variant>

namespace cudaenv::cli {

namespace {

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
