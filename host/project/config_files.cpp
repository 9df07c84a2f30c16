#include "host/project/config_files.hpp"

#include "base/private_files.hpp"
#include "host/project/text_file.hpp"
#include "solver/plan/printable.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <system_error>

namespace cudaenv::project {

namespace {

Result<std::optional<plan::ConfigFile>> load(const std::string& path, plan::FileScope scope,
                                             plan::UnknownKeys unknown) {
    if (path.empty()) {
        return std::optional<plan::ConfigFile>();
    }
    CUDAENV_TRY(const std::optional<std::string> text, read_text_file(path));
    if (!text) {
        return std::optional<plan::ConfigFile>();
    }
    CUDAENV_TRY(plan::ConfigFile file, plan::parse_config(*text, path, scope, unknown));
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

Result<ConfigFiles> load_config(const ConfigPaths& paths, plan::UnknownKeys unknown) {
    ConfigFiles files;
    CUDAENV_TRY(files.system, load(paths.system, plan::FileScope::System, unknown));
    CUDAENV_TRY(files.user, load(paths.user, plan::FileScope::User, unknown));
    return files;
}

Result<void> make_directory_of(const std::string& file) {
    if (is_anothers_place(file.substr(0, file.rfind('/')))) {
        return tl::unexpected(Error{ErrorKind::Unavailable, "anothers-home",
                                    "lies in a directory of another user's", plan::printable(file),
                                    0, 0, "run it as that user, or as root with root's own HOME"});
    }
    for (std::size_t slash = file.find('/', 1); slash != std::string::npos;
         slash = file.find('/', slash + 1)) {
        if (::mkdir(file.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) {
            const int problem = errno;
            struct stat status {};
            // A read-only or unwritable parent may say so before it says that the directory exists.
            if (::stat(file.substr(0, slash).c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
                continue;
            }
            return tl::unexpected(
                Error{ErrorKind::Unavailable, "permission-denied",
                      "this directory cannot be made: " + std::generic_category().message(problem),
                      plan::printable(file.substr(0, slash)), 0, 0,
                      "CUDAENV_CONFIG_DIR names another directory"});
        }
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
    CUDAENV_TRY(const std::optional<std::string> before, read_text_file(paths.user));
    CUDAENV_TRY(const std::string after, edit(before));
    if (after != before.value_or("")) {
        CUDAENV_TRY_VOID(make_directory_of(paths.user));
        CUDAENV_TRY_VOID(edit_text_file(paths.user, edit));
    }
    return paths.user;
}

} // namespace cudaenv::project
