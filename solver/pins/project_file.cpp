#include "solver/pins/project_file.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/pins/pins.hpp"
#include "solver/pins/toml_edit.hpp"

#include <algorithm>

namespace cudaenv::pins {

namespace {

const Pin* find_pin(std::span<const Pin> pins, std::string_view name) {
    return find_pointer_if(pins, [&](const Pin& pin) { return pin.name == name; });
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

// Reads the table [pins]; the rest of `entries` is left alone.
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
                const Error error = unknown_pin(entry.key);
                CUDAENV_TRY_VOID(refuse_or_note(
                    unknown, toml_error(path, entry.at, error.code, error.message, error.hint),
                    notes));
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

Result<std::vector<std::string>> read_locked(const TomlValue& value, std::string_view path) {
    constexpr std::string_view k_example = "expected a list of keys, as in [\"resolve.channels\"]";
    const auto* list = std::get_if<TomlArray>(&value.data);
    if (list == nullptr) {
        return toml_error(path, value.at, "bad-value", "locked is " + std::string(kind_of(value)),
                          std::string(k_example));
    }
    std::vector<std::string> locked;
    for (const TomlValue& item : *list) {
        const auto* key = std::get_if<std::string>(&item.data);
        if (key == nullptr) {
            return toml_error(path, item.at, "bad-value",
                              "locked has " + std::string(kind_of(item)) + " in its list",
                              std::string(k_example));
        }
        if (key->substr(0, 5) == "pins." || *key == "pins") {
            return toml_error(path, item.at, "bad-value", "pins cannot be locked",
                              "a project's pin overrides the administrator's");
        }
        const SettingKey* known = find_setting_key(*key);
        if (known == nullptr) {
            const Error error = unknown_setting(*key);
            return toml_error(path, item.at, error.code, error.message, error.hint);
        }
        locked.push_back(known->name());
    }
    return locked;
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

bool same_settings(std::span<const Setting> a, std::span<const Setting> b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const Setting& x, const Setting& y) { return x.key == y.key && x.value == y.value; });
}

} // namespace

Result<std::string> edit_pins(std::string_view toml, std::string_view path,
                              std::span<const PinEdit> edits, FileScope scope) {
    CUDAENV_TRY(const std::vector<PinEdit> wanted, understood(edits));
    CUDAENV_TRY(const ProjectFile before, parse_config(toml, path, scope));
    CUDAENV_TRY(const TomlTable entries, parse_toml(toml, path));
    std::vector<Pin> expected = before.pins;
    std::vector<TomlEdit> changes;
    for (const PinEdit& edit : wanted) {
        const auto at =
            std::ranges::find_if(expected, [&](const Pin& pin) { return pin.name == edit.name; });
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
    const auto after = parse_config(edited, path, scope);
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

Result<ConfigFile> parse_config(std::string_view toml, std::string_view path, FileScope scope,
                                UnknownKeys unknown) {
    CUDAENV_TRY(const TomlTable entries, parse_toml(toml, path));
    ConfigFile file;
    file.path = printable(path);
    std::vector<std::string> known{"pins", "resolve", "activate"};
    if (scope != FileScope::Project) {
        known.insert(known.end(), {"toolkits", "locked"});
    }
    for (const TomlEntry& entry : entries) {
        if (entry.key == "pins" || is_settings_table(entry.key, scope)) {
            continue;
        }
        if (entry.key == "locked" && scope != FileScope::Project) {
            if (scope != FileScope::System) {
                return toml_error(path, entry.at, "unknown-key", "\"locked\" does nothing here",
                                  "only the administrator's /etc/cudaenv/config.toml locks keys");
            }
            CUDAENV_TRY(file.locked, read_locked(entry.value, path));
            continue;
        }
        const std::string hint =
            did_you_mean(entry.key, known,
                         find_pin_name(entry.key) != nullptr ? "pins belong below a line [pins]"
                         : is_settings_table(entry.key, FileScope::User)
                             ? "this table is for the user's own config.toml"
                             : "known are " + join(known, ", "));
        CUDAENV_TRY_VOID(refuse_or_note(
            unknown,
            toml_error(path, entry.at, "unknown-key", "unknown key " + quoted(entry.key), hint),
            file.notes));
    }
    CUDAENV_TRY(file.pins, read_pins(entries, unknown, path, file.notes));
    CUDAENV_TRY(file.settings, read_settings(entries, scope, unknown, path, file.notes));
    return file;
}

} // namespace cudaenv::pins
