#include "host/project/config_files.hpp"

#include "base/failed_call.hpp"
#include "base/fd.hpp"
#include "base/private_files.hpp"
#include "solver/pins/toml_document.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace cudaenv::project {

namespace {

Result<std::optional<pins::ConfigFile>> load(const std::string& path, pins::FileScope scope,
                                             pins::UnknownKeys unknown, const trusted::Trust& trust,
                                             std::vector<trusted::SkippedFile>& skipped) {
    if (path.empty()) {
        return std::optional<pins::ConfigFile>();
    }
    trusted::TrustedFile found = trusted::read_trusted_file(path, trust);
    if (found.skipped) {
        skipped.push_back(*std::move(found.skipped));
    }
    if (!found.text) {
        return std::optional<pins::ConfigFile>();
    }
    CUDAENV_TRY(pins::ConfigFile file, pins::parse_config(*found.text, path, scope, unknown));
    return std::optional<pins::ConfigFile>(std::move(file));
}

trusted::Trust trust_for_config(uid_t user) {
    return {.user = user, .is_for_config = true};
}

Result<void> make_directory_of(const std::string& file) {
    const std::string directory = file.substr(0, file.rfind('/'));
    if (!make_private_directories(directory)) {
        Error error = failed_call(errno).value();
        error.message = "this directory cannot be created: " + error.message;
        error.path = directory;
        error.hint = "CUDAENV_CONFIG_DIR names another directory";
        return tl::unexpected(std::move(error));
    }
    return {};
}

// Whatever the umask is: a file that a group may write would be passed over.
void take_from_group(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (file && ::fstat(file.get(), &status) == 0) {
        ::fchmod(file.get(), status.st_mode & 0755U);
    }
}

tl::unexpected<Error> not_believed(const trusted::SkippedFile& reason) {
    return unavailable("unsafe-place", "would not be read afterwards: " + reason.why, reason.remedy,
                       reason.path);
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

Result<ConfigFiles> load_config(const ConfigPaths& paths, pins::UnknownKeys unknown, uid_t user) {
    ConfigFiles files;
    const trusted::Trust trust = trust_for_config(user);
    CUDAENV_TRY(files.system,
                load(paths.system, pins::FileScope::System, unknown, trust, files.skipped));
    CUDAENV_TRY(files.user, load(paths.user, pins::FileScope::User, unknown, trust, files.skipped));
    return files;
}

Result<FileEdit> edit_user_config(const std::string& path, const Edit& edit, bool makes_it) {
    CUDAENV_TRY_VOID(check_own_place(path));
    const trusted::Trust trust = trust_for_config(::geteuid());
    if (const auto found = trusted::read_trusted_file(path, trust); found.skipped) {
        return not_believed(*found.skipped);
    }
    if (makes_it) {
        CUDAENV_TRY_VOID(make_directory_of(path));
        const auto slash = path.rfind('/');
        if (const auto reason =
                trusted::reason_to_skip(path.substr(0, slash), &path[slash + 1], trust)) {
            return not_believed(*reason);
        }
    }
    CUDAENV_TRY(FileEdit done, edit_whole(path, edit, pins::k_most_toml_bytes));
    if (done.written && !done.before) {
        take_from_group(path);
    }
    return done;
}

Result<std::string> change_config(const ConfigPaths& paths, std::string_view key,
                                  pins::ConfigAction action, std::span<const std::string> words) {
    if (paths.user.empty()) {
        return unavailable("no-home", "there is no path for the user's config.toml",
                           "set HOME, XDG_CONFIG_HOME or CUDAENV_CONFIG_DIR to an absolute path");
    }
    const auto edit = [&](const std::optional<std::string>& text) {
        return pins::edit_config(text.value_or(""), paths.user, pins::FileScope::User, key, action,
                                 words);
    };
    // Judged before a directory is made for it.
    CUDAENV_TRY(const std::optional<std::string> before,
                read_whole(paths.user, pins::k_most_toml_bytes));
    CUDAENV_TRY(const std::string after, edit(before));
    CUDAENV_TRY_VOID(edit_user_config(paths.user, edit, after != before.value_or("")));
    return paths.user;
}

} // namespace cudaenv::project
