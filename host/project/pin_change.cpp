#include "host/project/pin_change.hpp"

#include "base/environment_files.hpp"
#include "base/printable.hpp"
#include "host/project/project.hpp"
#include "solver/pins/pins.hpp"
#include "solver/pins/project_file.hpp"
#include "solver/pins/toml_document.hpp"

#include <algorithm>

namespace cudaenv::project {

namespace {

using pins::PinEdit;

std::string argument(std::size_t index) {
    return "argument " + std::to_string(index + 1);
}

Result<std::vector<PinEdit>> edits_to_set(std::span<const std::string> specs) {
    std::vector<pins::Pin> pins;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        CUDAENV_TRY(std::vector<pins::Pin> read, pins::parse_pin(specs[i], argument(i)));
        for (pins::Pin& pin : read) {
            const auto same = std::ranges::find_if(
                pins, [&](const pins::Pin& other) { return other.name == pin.name; });
            if (same == pins.end()) {
                pins.push_back(std::move(pin));
            } else if (same->constraint != pin.constraint) {
                return tl::unexpected(Error{ErrorKind::BadInput, "bad-pin",
                                            pin.name + " is asked to be " + same->constraint +
                                                " (" + same->origin + ") and " + pin.constraint,
                                            argument(i), 0, 1, "give one of them"});
            }
        }
    }
    std::vector<PinEdit> edits;
    for (pins::Pin& pin : pins) {
        edits.push_back({std::move(pin.name), std::move(pin.constraint)});
    }
    return edits;
}

Result<std::vector<PinEdit>> edits_to_remove(std::span<const std::string> names) {
    std::vector<PinEdit> edits;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const pins::PinName* name = pins::find_pin_name(names[i]);
        if (name == nullptr) {
            Error error = pins::unknown_pin(names[i]);
            error.path = argument(i);
            error.column = 1;
            if (names[i].find_first_of("=<>!~@") != std::string::npos) {
                error.hint = "unpin takes only names, as in cuda";
            }
            return tl::unexpected(std::move(error));
        }
        const bool twice = std::ranges::any_of(
            edits, [&](const PinEdit& edit) { return edit.name == name->name; });
        if (!twice) {
            edits.push_back({std::string(name->name), std::nullopt});
        }
    }
    return edits;
}

tl::unexpected<Error> unsafe(const trusted::SkippedFile& reason) {
    return unavailable("unsafe-place", "a project file here would not be read: " + reason.why,
                       reason.remedy, printable(reason.path));
}

struct Chosen {
    std::string path; // empty: none
    bool global = false;
    std::string prefix; // of the environment whose file it is

    [[nodiscard]] pins::FileScope scope() const {
        return global ? pins::FileScope::User : pins::FileScope::Project;
    }
};

Result<Chosen> project_file(PinPlace place, const std::string& directory,
                            const trusted::Trust& trust, PinAction action,
                            std::vector<std::string>& notes) {
    CUDAENV_TRY(const ProjectSearch search, find_project(directory, trust));
    const std::string here = (search.start == "/" ? "" : search.start) + '/' + k_project_file;
    const auto skipped = std::ranges::find_if(
        search.skipped, [&](const trusted::SkippedFile& file) { return file.path == here; });
    const bool is_here = search.found && search.found->file == here;
    if (search.found && (is_here || place == PinPlace::Nearest) &&
        skipped == search.skipped.end()) {
        for (const trusted::SkippedFile& file : search.skipped) {
            notes.push_back(file.text());
        }
        return Chosen{search.found->file, false, {}};
    }
    // A file is to stand here. One that is here and would not be read is not to be edited.
    if (skipped != search.skipped.end()) {
        return unsafe(*skipped);
    }
    for (const trusted::SkippedFile& file : search.skipped) {
        notes.push_back(file.text());
    }
    if (action == PinAction::Remove) {
        return Chosen{};
    }
    if (const auto reason = trusted::reason_to_skip(search.start, k_project_file, trust)) {
        return unsafe(*reason);
    }
    return Chosen{here, false, {}};
}

Result<Chosen> choose(const PinTarget& target, const std::string& directory,
                      const host::Environment& environment, PinAction action,
                      std::vector<std::string>& notes) {
    switch (target.place) {
    case PinPlace::Nearest:
    case PinPlace::Here: {
        CUDAENV_TRY(const ConfigFiles files,
                    load_config(target.config ? *target.config : config_paths(environment),
                                pins::UnknownKeys::Note, target.user));
        return project_file(target.place, directory, trust_of(target.user, files), action, notes);
    }
    case PinPlace::Environment: {
        const std::string prefix =
            target.prefix.empty() ? active_prefix(environment) : target.prefix;
        if (prefix.empty()) {
            return unavailable("no-environment", "no environment is active",
                               "name one with --prefix");
        }
        const auto file = pin_file_of(prefix);
        if (!file) {
            return bad_input("not-an-environment",
                             "is not an environment: it has neither conda-meta nor pyvenv.cfg",
                             "expected the prefix of a conda env or venv", printable(prefix));
        }
        return Chosen{*file, false, prefix};
    }
    case PinPlace::Global: {
        const ConfigPaths paths = target.config ? *target.config : config_paths(environment);
        if (paths.user.empty()) {
            return unavailable(
                "no-home", "there is no path for the user's config.toml",
                "set HOME, XDG_CONFIG_HOME or CUDAENV_CONFIG_DIR to an absolute path");
        }
        return Chosen{paths.user, true, {}};
    }
    }
    return defect("an unknown place for a pin");
}

Result<std::vector<pins::Pin>> pins_in(const std::string& text, const Chosen& chosen) {
    CUDAENV_TRY(pins::ProjectFile file, pins::parse_config(text, chosen.path, chosen.scope()));
    return std::move(file.pins);
}

std::optional<std::string> constraint_of(const std::vector<pins::Pin>& pins,
                                         const std::string& name) {
    const auto found =
        std::ranges::find_if(pins, [&](const pins::Pin& pin) { return pin.name == name; });
    return found == pins.end() ? std::nullopt : std::optional(found->constraint);
}

Result<FileEdit> edit_chosen(const Chosen& chosen, const Edit& edit, PinAction action) {
    if (!chosen.prefix.empty()) {
        CUDAENV_TRY(const auto files, EnvironmentFiles::open(chosen.prefix));
        return files.edit(chosen.path, edit);
    }
    if (chosen.global) {
        return edit_user_config(chosen.path, edit, action == PinAction::Set);
    }
    return edit_whole(chosen.path, edit, pins::k_most_toml_bytes);
}

} // namespace

Result<PinChange> change_pins(const PinTarget& target, const std::string& directory,
                              const host::Environment& environment,
                              std::span<const std::string> specs, PinAction action) {
    if (specs.empty()) {
        return bad_input("bad-pin", "no pin is given", "as in 11.3 or torch=1.12");
    }
    CUDAENV_TRY(const std::vector<PinEdit> edits,
                action == PinAction::Set ? edits_to_set(specs) : edits_to_remove(specs));
    PinChange change;
    CUDAENV_TRY(const Chosen chosen, choose(target, directory, environment, action, change.notes));
    if (chosen.path.empty()) {
        for (const PinEdit& edit : edits) {
            change.items.push_back({edit.name, std::nullopt, std::nullopt});
        }
        change.notes.push_back("no cudaenv.toml applies to " + printable(directory));
        return change;
    }
    const auto edit = [&](const std::optional<std::string>& text) {
        const std::string_view old = text ? std::string_view(*text) : std::string_view();
        return pins::edit_pins(old, chosen.path, edits, chosen.scope());
    };
    CUDAENV_TRY(const FileEdit done, edit_chosen(chosen, edit, action));
    CUDAENV_TRY(const std::vector<pins::Pin> before, pins_in(done.before.value_or(""), chosen));
    CUDAENV_TRY(const std::vector<pins::Pin> after, pins_in(done.after, chosen));
    change.path = chosen.path;
    change.created = done.written && !done.before;
    change.written = done.written;
    for (const PinEdit& wanted : edits) {
        change.items.push_back(
            {wanted.name, constraint_of(before, wanted.name), constraint_of(after, wanted.name)});
        if (action == PinAction::Remove && !change.items.back().before) {
            change.notes.push_back(wanted.name + " is not pinned in " + printable(chosen.path));
        }
    }
    return change;
}

} // namespace cudaenv::project
