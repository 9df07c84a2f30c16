#include "host/project/config_files.hpp"

#include "base/failed_call.hpp"
#include "base/private_files.hpp"
#include "base/whole_file.hpp"
#include "solver/plan/toml_document.hpp"

#include <cerrno>

namespace cudaenv::project {

namespace {

Result<std::optional<plan::ConfigFile>> load(const std::string& path, plan::FileScope scope,
                                             plan::UnknownKeys unknown, const host::Trust& trust,
                                             std::vector<host::SkippedFile>& skipped) {
    if (path.empty()) {
        return std::optional<plan::ConfigFile>();
    }
    host::TrustedFile found = host::read_trusted_file(path, trust);
    if (found.skipped) {
        skipped.push_back(*std::move(found.skipped));
    }
    if (!found.text) {
        return std::optional<plan::ConfigFile>();
    }
    CUDAENV_TRY(plan::ConfigFile file, plan::parse_config(*found.text, path, scope, unknown));
    return std::optional<plan::ConfigFile>(std::move(file));
}

} // namespace

ConfigPaths config_paths(const host::Environment& environment) {
    ConfigPaths paths;
    const auto absolute = [&](std::string_view name) {
        std::string value = host::value_of(environment, name);
        return value.starts_with('/') ? value
                                      : std::string(); // XDG: a relative one is to be ignored
    };
    if (const std::string own = absolute("CUDAENV_CONFIG_DIR"); !own.empty()) {
        paths.user = own + "/config.toml";
    } else if (const std::string xdg = absolute("XDG_CONFIG_HOME"); !xdg.empty()) {
        paths.user = xdg + "/cudaenv/config.toml";
    } else if (const std::string home = absolute("HOME"); !home.empty()) {
        paths.user = home + "/.config/cudaenv/config.toml";
    }
    return paths;
}

Result<ConfigFiles> load_config(const ConfigPaths& paths, plan::UnknownKeys unknown, uid_t user) {
    ConfigFiles files;
    const host::Trust trust{.user = user, .is_for_config = true};
    CUDAENV_TRY(files.system,
                load(paths.system, plan::FileScope::System, unknown, trust, files.skipped));
    CUDAENV_TRY(files.user, load(paths.user, plan::FileScope::User, unknown, trust, files.skipped));
    return files;
}

Result<void> make_directory_of(const std::string& file) {
    CUDAENV_TRY_VOID(check_own_place(file));
    const std::string directory = file.substr(0, file.rfind('/'));
    if (!make_private_directories(directory)) {
        Error error = failed_call(errno).value();
        error.message = "this directory cannot be made: " + error.message;
        error.path = directory;
        error.hint = "CUDAENV_CONFIG_DIR names another directory";
        return tl::unexpected(std::move(error));
    }
    return {};
}

Result<std::string> change_config(const ConfigPaths& paths, std::string_view key,
                                  plan::ConfigAction action, std::span<const std::string> words) {
    if (paths.user.empty()) {
        return unavailable("no-home", "there is no place for the user's config.toml",
                           "set HOME, XDG_CONFIG_HOME or CUDAENV_CONFIG_DIR to an absolute path");
    }
    const auto edit = [&](const std::optional<std::string>& text) {
        return plan::edit_config(text.value_or(""), paths.user, plan::FileScope::User, key, action,
                                 words);
    };
    // Judged before a directory is made for it.
    CUDAENV_TRY(const std::optional<std::string> before,
                read_whole(paths.user, plan::k_most_toml_bytes));
    CUDAENV_TRY(const std::string after, edit(before));
    if (after != before.value_or("")) {
        CUDAENV_TRY_VOID(make_directory_of(paths.user));
        CUDAENV_TRY_VOID(edit_whole(paths.user, edit, plan::k_most_toml_bytes));
    }
    return paths.user;
}

} // namespace cudaenv::project
