#include "solver/pins/project_file.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "solver/pins/config.hpp"
#include "solver/pins/pins.hpp"
#include "solver/pins/toml_edit.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::pins {

namespace {

const Pin* find_pin(std::span<const Pin> pins, std::string_view name) {
    const auto found =
        std::find_if(pins.begin(), pins.end(), [&](const Pin& pin) { return pin.name == name; });
    return found == pins.end() ? nullptr : &*found;
}

Result<Pin> read_pin(const TomlEntry& entry, const PinName& name, std::string_view path) {
    if (const auto* number = std::get_if<TomlNumber>(&entry.value.data)) {
        return toml_error(path, entry.value.at, "bad-value",
                          "the version " + printable(number->text) +
                              " is a number, and as a number 11.30 is 11.3",
                          "write " + printable(entry.key) + " = " + toml_string(number->text));
    }
    const auto* text = std::get_if<std::string>(&entry.value.data);
    if (text == nullptr) {
        return toml_error(path, entry.value.at, "bad-value",
                          "the pin " + quoted(entry.key) + " is " +
                              std::string(kind_of(entry.value)),
                          "expected a version in quotes, as in \"11.3\"");
    }
    auto constraint = PinConstraint::parse(*text);
    if (!constraint) {
        Error error = std::move(constraint).error();
        error.path = printable(path);
        error.line = entry.value.at.line;
        error.column += entry.value.at.column; // past the quote
        return tl::unexpected(std::move(error));
    }
    return Pin{std::string(name.name), constraint->str(),
               printable(path) + " line " + std::to_string(entry.at.line)};
}

// What the edits mean once read: canonical names and constraints.
Result<std::vector<PinEdit>> understood(std::span<const PinEdit> edits) {
    std::vector<PinEdit> out;
    for (const PinEdit& edit : edits) {
        const PinName* name = find_pin_name(edit.name);
        if (name == nullptr) {
            return tl::unexpected(unknown_pin(edit.name));
        }
        PinEdit read{std::string(name->name), std::nullopt};
        if (edit.constraint) {
            CUDAENV_TRY(const PinConstraint constraint, PinConstraint::parse(*edit.constraint));
            read.constraint = constraint.str();
        }
        out.push_back(std::move(read));
    }
    return out;
}

// The key that a pin has in the file, which may be an alias.
std::string key_in(const TomlTable& entries, const std::string& name) {
    for (const TomlEntry& table : entries) {
        const auto* pins = std::get_if<TomlTable>(&table.value.data);
        if (table.key != "pins" || pins == nullptr) {
            continue;
        }
        for (const TomlEntry& entry : *pins) {
            const PinName* known = find_pin_name(entry.key);
            if (known != nullptr && known->name == name) {
                return entry.key;
            }
        }
    }
    return name;
}

struct Contents {
    std::vector<Pin> pins;
    std::vector<Setting> settings;
    std::vector<std::string> locked;
};

Result<Contents> contents_of(Result<ConfigFile> file) {
    if (!file) {
        return tl::unexpected(std::move(file).error());
    }
    return Contents{std::move(file->pins), std::move(file->settings), std::move(file->locked)};
}

using Reading = Result<Contents> (*)(std::string_view toml, std::string_view path);

bool same_settings(std::span<const Setting> a, std::span<const Setting> b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const Setting& x, const Setting& y) { return x.key == y.key && x.value == y.value; });
}

Result<std::string> edit_with(Reading read, std::string_view toml, std::string_view path,
                              std::span<const PinEdit> edits) {
    CUDAENV_TRY(const std::vector<PinEdit> wanted, understood(edits));
    CUDAENV_TRY(const Contents before, read(toml, path));
    CUDAENV_TRY(const TomlTable entries, parse_toml(toml, path));
    std::vector<Pin> expected = before.pins;
    std::vector<TomlEdit> changes;
    for (const PinEdit& edit : wanted) {
        const auto at = std::find_if(expected.begin(), expected.end(),
                                     [&](const Pin& pin) { return pin.name == edit.name; });
        const bool there = at != expected.end();
        if (!edit.constraint) {
            if (there) {
                expected.erase(at);
                changes.push_back({"pins", key_in(entries, edit.name), std::nullopt});
            }
        } else if (!there || at->constraint != *edit.constraint) {
            if (there) {
                at->constraint = *edit.constraint;
            } else {
                expected.push_back({edit.name, *edit.constraint, {}});
            }
            changes.push_back({"pins", key_in(entries, edit.name), toml_string(*edit.constraint)});
        }
    }
    CUDAENV_TRY(std::string edited, edit_toml(toml, changes));
    if (edited.size() > k_most_toml_bytes) {
        return toml_error(path, {}, "file-too-large",
                          "would become larger than a settings file may be", "shorten it");
    }
    // The proof that only what was asked for has changed.
    const auto after = read(edited, path);
    bool right = after && after->pins.size() == expected.size() &&
                 same_settings(after->settings, before.settings) && after->locked == before.locked;
    for (const Pin& pin : expected) {
        const Pin* found = right ? find_pin(after->pins, pin.name) : nullptr;
        right = found != nullptr && found->constraint == pin.constraint;
    }
    if (!right) {
        return defect("editing the pins of " + printable(path) +
                      " would have changed something else");
    }
    return edited;
}

} // namespace

std::optional<Purpose> ProjectFile::purpose() const {
    const Setting* setting = find_setting(settings, "resolve.for");
    if (setting == nullptr) {
        return std::nullopt;
    }
    return std::get<std::string>(setting->value) == "build" ? Purpose::Build : Purpose::Run;
}

std::optional<std::vector<std::string>> ProjectFile::channels() const {
    const Setting* setting = find_setting(settings, "resolve.channels");
    return setting == nullptr ? std::nullopt
                              : std::optional(std::get<std::vector<std::string>>(setting->value));
}

Result<std::vector<Pin>> read_pins(const TomlTable& entries, UnknownKeys unknown,
                                   std::string_view path, std::vector<std::string>& notes) {
    std::vector<Pin> pins;
    for (const TomlEntry& table : entries) {
        if (table.key != "pins") {
            continue;
        }
        const auto* values = std::get_if<TomlTable>(&table.value.data);
        if (values == nullptr) {
            return toml_error(path, table.at, "bad-value",
                              "pins is " + std::string(kind_of(table.value)),
                              "expected a table: [pins], then lines such as cuda = \"11.3\"");
        }
        for (const TomlEntry& entry : *values) {
            const PinName* name = find_pin_name(entry.key);
            if (name == nullptr) {
                Error error = unknown_pin(entry.key);
                error.path = printable(path);
                error.line = entry.at.line;
                error.column = entry.at.column;
                if (unknown == UnknownKeys::Refuse) {
                    return tl::unexpected(std::move(error));
                }
                notes.push_back(error.path + " line " + std::to_string(error.line) + ": " +
                                error.message + "; " + error.hint);
                continue;
            }
            if (const Pin* twice = find_pin(pins, name->name)) {
                return toml_error(path, entry.at, "bad-pin",
                                  quoted(entry.key) + " pins " + twice->name + " a second time",
                                  "the first is " + twice->origin + "; keep one");
            }
            CUDAENV_TRY(Pin pin, read_pin(entry, *name, path));
            pins.push_back(std::move(pin));
        }
    }
    return pins;
}

Result<ProjectFile> parse_project(std::string_view toml, std::string_view path,
                                  UnknownKeys unknown) {
    CUDAENV_TRY(const TomlTable entries, parse_toml(toml, path));
    ProjectFile file;
    file.path = printable(path);
    for (const TomlEntry& entry : entries) {
        if (entry.key == "pins" || is_settings_table(entry.key, FileScope::Project)) {
            continue;
        }
        const std::array<std::string, 3> known{"pins", "resolve", "activate"};
        std::string message = "unknown key " + quoted(entry.key);
        const std::string hint =
            did_you_mean(entry.key, known,
                         find_pin_name(entry.key) != nullptr ? "pins stand under a line [pins]"
                         : is_settings_table(entry.key, FileScope::User)
                             ? "this table is for the user's own config.toml"
                             : "known are " + join(known, ", "));
        if (unknown == UnknownKeys::Refuse) {
            return toml_error(path, entry.at, "unknown-key", std::move(message), hint);
        }
        file.notes.push_back(file.path + " line " + std::to_string(entry.at.line) + ": " + message +
                             "; " + hint);
    }
    CUDAENV_TRY(file.pins, read_pins(entries, unknown, path, file.notes));
    CUDAENV_TRY(file.settings,
                read_settings(entries, FileScope::Project, unknown, path, file.notes));
    return file;
}

Result<std::string> edit_pins(std::string_view toml, std::string_view path,
                              std::span<const PinEdit> edits) {
    const Reading read = [](std::string_view text, std::string_view name) -> Result<Contents> {
        CUDAENV_TRY(ProjectFile file, parse_project(text, name));
        return Contents{std::move(file.pins), std::move(file.settings), {}};
    };
    return edit_with(read, toml, path, edits);
}

Result<std::string> edit_config_pins(std::string_view toml, std::string_view path,
                                     std::span<const PinEdit> edits, FileScope scope) {
    const Reading user = [](std::string_view text, std::string_view name) {
        return contents_of(parse_config(text, name, FileScope::User));
    };
    const Reading system = [](std::string_view text, std::string_view name) {
        return contents_of(parse_config(text, name, FileScope::System));
    };
    return edit_with(scope == FileScope::System ? system : user, toml, path, edits);
}

} // namespace cudaenv::pins
