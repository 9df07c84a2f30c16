// `cudaenv hook SHELL`: runs at every start of a shell, so it asks no daemon.
#include "cli/commands/commands.hpp"
#include "cli/commands/own_program.hpp"
#include "cli/commands/text_file.hpp"
#include "cli/output.hpp"
#include "shellhooks/hook.hpp"
#include "shellhooks/shell.hpp"
#include "solver/plan/config.hpp"

#include <cstdlib>
#include <optional>
#include <string>
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
    const auto text = path.empty() ? std::nullopt : read_whole_file(path);
    if (!text || !text->has_value()) {
        return std::nullopt;
    }
    // A file that cannot be read must not cost the user the hook: the first prompt tells of it.
    auto file = plan::parse_config(**text, path, scope, plan::UnknownKeys::Note);
    return file ? std::optional(std::move(*file)) : std::nullopt;
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
    return 0;
}

} // namespace cudaenv::cli
