#include "host/project/project.hpp"

#include "base/printable.hpp"
#include "solver/pins/pins.hpp"

#include <algorithm>
#include <iterator>
#include <sys/stat.h>

namespace cudaenv::project {

namespace {

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
