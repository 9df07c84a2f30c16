#include "host/project/project.hpp"

#include "base/failed_call.hpp"
#include "base/fd.hpp"
#include "base/printable.hpp"
#include "base/private_files.hpp"
#include "base/real_path.hpp"
#include "solver/pins/pins.hpp"
#include "solver/pins/toml_document.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <sys/stat.h>
#include <system_error>

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

std::string parent_of(const std::string& directory) {
    const std::size_t slash = directory.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : directory.substr(0, slash);
}

std::string inside(const std::string& directory, const char* name) {
    return directory == "/" ? '/' + std::string(name) : directory + '/' + name;
}

// Nothing where it cannot be looked at.
std::optional<struct statx> status_of(const std::string& directory) {
    struct statx status {};
    if (::statx(AT_FDCWD, directory.c_str(), AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID,
                &status) != 0) {
        return std::nullopt;
    }
    return status;
}

// Empty where there is no such file, or it is passed over.
std::optional<std::string> text_at(const std::string& path, const trusted::Trust& trust,
                                   std::vector<trusted::SkippedFile>& skipped) {
    trusted::TrustedFile file = trusted::read_trusted_file(path, trust);
    if (file.skipped) {
        skipped.push_back(*std::move(file.skipped));
    }
    return std::move(file.text);
}

Result<std::optional<pins::ProjectFile>> parse(const std::optional<std::string>& text,
                                               const std::string& path, pins::UnknownKeys unknown,
                                               std::vector<std::string>& notes) {
    if (!text) {
        return std::optional<pins::ProjectFile>();
    }
    auto file = pins::parse_project(*text, path, unknown);
    if (!file && unknown == pins::UnknownKeys::Note) {
        notes.push_back(one_line(file.error()));
        return std::optional<pins::ProjectFile>();
    }
    if (!file) {
        return tl::unexpected(std::move(file).error());
    }
    notes.insert(notes.end(), file->notes.begin(), file->notes.end());
    return std::optional(*std::move(file));
}

// The environment's own pins, which whoever owns it may have written as well.
Result<std::optional<pins::ProjectFile>> own_pins(const std::string& prefix, trusted::Trust trust,
                                                  pins::UnknownKeys unknown,
                                                  LoadedProject& loaded) {
    const auto path = prefix.empty() ? std::nullopt : pin_file_of(prefix);
    if (!path) {
        return std::optional<pins::ProjectFile>();
    }
    trust.add_owner_of(prefix);
    trusted::TrustedFile file = trusted::read_trusted_file(*path, trust);
    if (file.skipped) {
        loaded.skipped.push_back(*std::move(file.skipped));
    }
    return parse(file.text, *path, unknown, loaded.notes);
}

Result<std::vector<pins::Pin>> shell_pins(const host::Environment& environment) {
    const std::string text = host::value_of(environment, "CUDAENV_CUDA");
    if (text.empty()) {
        return std::vector<pins::Pin>();
    }
    CUDAENV_TRY(std::vector<pins::Pin> pins, pins::parse_pin(text, "CUDAENV_CUDA"));
    if (pins.size() != 1 || pins[0].name != "cuda") {
        return tl::unexpected(Error{ErrorKind::BadInput, "bad-pin",
                                    quoted(text) + " is not a CUDA version", "CUDAENV_CUDA", 0, 1,
                                    "expected digits and dots, as in 11.3"});
    }
    return pins;
}

bool is_directory(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_there(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0;
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

std::string FoundProject::local_file() const {
    return inside(directory, k_local_file);
}

Result<ProjectSearch> find_project(const std::string& start_directory,
                                   const trusted::Trust& trust) {
    const std::string start = resolved_path(start_directory);
    const auto mount = start.empty() ? std::nullopt : status_of(start);
    if (!mount || !S_ISDIR(mount->stx_mode)) {
        const int problem = start.empty() ? errno : ENOTDIR;
        return unavailable("no-directory",
                           "cannot search for a project: " +
                               std::generic_category().message(problem),
                           "change to a directory that exists", printable(start_directory));
    }
    ProjectSearch search;
    search.start = start;
    std::string directory = start;
    while (true) {
        const std::string file = inside(directory, k_project_file);
        struct stat found {};
        // Most directories have none.
        if (::lstat(file.c_str(), &found) == 0 || errno == EACCES) {
            if (auto text = text_at(file, trust, search.skipped)) {
                search.found = FoundProject{directory, file, *std::move(text), std::nullopt};
                search.found->local_text =
                    text_at(search.found->local_file(), trust, search.skipped);
                return search;
            }
        }
        const std::string parent = parent_of(directory);
        const auto above = parent == directory ? std::nullopt : status_of(parent);
        if (!above || !trusted::is_same_mount(*above, *mount)) {
            return search;
        }
        directory = parent;
    }
}

std::string active_prefix(const host::Environment& environment) {
    const std::string venv = host::value_of(environment, "VIRTUAL_ENV");
    const std::string conda = host::value_of(environment, "CONDA_PREFIX");
    if (venv.empty() || conda.empty()) {
        return venv.empty() ? conda : venv;
    }
    const auto path = host::directories_of(host::value_of(environment, "PATH"));
    const auto venv_at = std::ranges::find(path, venv + "/bin");
    const auto conda_at = std::ranges::find(path, conda + "/bin");
    return conda_at < venv_at ? conda : venv;
}

std::optional<std::string> pin_file_of(const std::string& prefix) {
    if (is_directory(prefix + "/conda-meta")) {
        return prefix + "/conda-meta/cudaenv.toml";
    }
    if (is_there(prefix + "/pyvenv.cfg")) {
        return prefix + "/cudaenv.toml";
    }
    return std::nullopt;
}

trusted::Trust trust_of(uid_t user, const ConfigFiles& files) {
    const auto pointer = [](const auto& file) { return file ? &*file : nullptr; };
    const pins::Config config =
        pins::Config::merge({pointer(files.system), pointer(files.user), nullptr, nullptr});
    return {.user = user, .groups = config.trusted_groups()};
}

Result<LoadedProject> load_project(const std::string& directory,
                                   const host::Environment& environment,
                                   const LoadOptions& options) {
    LoadedProject loaded;
    if (options.config_files) {
        loaded.config_files = *options.config_files;
    } else {
        CUDAENV_TRY(loaded.config_files,
                    load_config(options.config ? *options.config : config_paths(environment),
                                options.unknown, options.user));
    }
    loaded.skipped = loaded.config_files.skipped;
    const trusted::Trust trust = trust_of(options.user, loaded.config_files);
    auto search = find_project(directory, trust);
    if (!search && options.unknown == pins::UnknownKeys::Note) {
        loaded.notes.push_back(one_line(search.error()));
        search = ProjectSearch{directory, {}, {}};
    }
    CUDAENV_TRY(loaded.search, std::move(search));
    loaded.skipped.insert(loaded.skipped.end(), loaded.search.skipped.begin(),
                          loaded.search.skipped.end());
    if (const auto& found = loaded.search.found) {
        CUDAENV_TRY(loaded.project, parse(found->text, found->file, options.unknown, loaded.notes));
        CUDAENV_TRY(loaded.local,
                    parse(found->local_text, found->local_file(), options.unknown, loaded.notes));
    }
    loaded.prefix = options.prefix.empty() ? active_prefix(environment) : options.prefix;
    CUDAENV_TRY(loaded.environment, own_pins(loaded.prefix, trust, options.unknown, loaded));
    std::ranges::transform(loaded.skipped, std::inserter(loaded.notes, loaded.notes.begin()),
                           &trusted::SkippedFile::text);
    const auto& system = loaded.config_files.system;
    const auto& user = loaded.config_files.user;
    for (const auto* file : {&system, &user}) {
        if (*file) {
            loaded.notes.insert(loaded.notes.end(), (*file)->notes.begin(), (*file)->notes.end());
        }
    }

    const auto pointer = [](const auto& file) { return file ? &*file : nullptr; };
    loaded.config = pins::Config::merge(
        {pointer(system), pointer(user), pointer(loaded.project), pointer(loaded.local)});
    loaded.notes.insert(loaded.notes.end(), loaded.config.notes().begin(),
                        loaded.config.notes().end());

    std::vector<pins::PinLayer> layers;
    CUDAENV_TRY(std::vector<pins::Pin> shell, shell_pins(environment));
    layers.push_back({pins::PinSource::Shell, std::move(shell)});
    const auto add = [&](pins::PinSource source, const auto& file) {
        if (file) {
            layers.push_back({source, file->pins});
        }
    };
    add(pins::PinSource::ProjectLocal, loaded.local);
    add(pins::PinSource::Project, loaded.project);
    add(pins::PinSource::Environment, loaded.environment);
    add(pins::PinSource::User, user);
    add(pins::PinSource::System, system);
    loaded.pins = pins::effective_pins(layers);
    return loaded;
}

} // namespace cudaenv::project
