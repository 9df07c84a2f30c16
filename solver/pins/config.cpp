#include "solver/pins/config.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "solver/pins/toml_edit.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace cudaenv::pins {

namespace {

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
                              "a project's pin goes before the administrator's");
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

// The value of a key from the words of a command line.
Result<SettingValue> value_of(const SettingKey& key, FileScope scope,
                              std::span<const std::string> words) {
    // The reader of files judges it, so that both say the same.
    TomlValue value{{0, 0}, TomlOther{"date"}};
    if (key.kind != SettingKind::Word && key.kind != SettingKind::Truth) {
        TomlArray list;
        for (const std::string& word : words) {
            list.push_back({{0, 0}, word});
        }
        value.data = std::move(list);
    } else if (words.size() != 1) {
        return bad_input(
            "bad-value", key.name() + " takes one value",
            "as in: cudaenv config set " + key.name() + ' ' +
                (key.kind == SettingKind::Truth ? std::string("true") : std::string(key.words[0])));
    } else if (key.kind == SettingKind::Truth && (words[0] == "true" || words[0] == "false")) {
        value.data = words[0] == "true";
    } else {
        value.data = words[0];
    }
    auto read = read_setting(key, value, scope, "");
    if (!read) {
        return tl::unexpected(std::move(read).error());
    }
    return read;
}

} // namespace

Result<ConfigFile> parse_config(std::string_view toml, std::string_view path, FileScope scope,
                                UnknownKeys unknown) {
    CUDAENV_TRY(const TomlTable entries, parse_toml(toml, path));
    ConfigFile file;
    file.path = printable(path);
    for (const TomlEntry& entry : entries) {
        if (entry.key == "pins" || is_settings_table(entry.key, scope)) {
            continue;
        }
        if (entry.key == "locked") {
            if (scope != FileScope::System) {
                return toml_error(path, entry.at, "unknown-key", "\"locked\" does nothing here",
                                  "only the administrator's /etc/cudaenv/config.toml locks keys");
            }
            CUDAENV_TRY(file.locked, read_locked(entry.value, path));
            continue;
        }
        const std::array<std::string, 5> known{"pins", "resolve", "activate", "toolkits", "locked"};
        std::string message = "unknown key " + quoted(entry.key);
        std::string hint = did_you_mean(entry.key, known, "known are " + join(known, ", "));
        if (unknown == UnknownKeys::Refuse) {
            return toml_error(path, entry.at, "unknown-key", std::move(message), std::move(hint));
        }
        file.notes.push_back(file.path + " line " + std::to_string(entry.at.line) + ": " + message +
                             "; " + hint);
    }
    CUDAENV_TRY(file.pins, read_pins(entries, unknown, path, file.notes));
    CUDAENV_TRY(file.settings, read_settings(entries, scope, unknown, path, file.notes));
    return file;
}

Config::Config() {
    for (const SettingKey& key : setting_keys()) {
        m_settings.push_back({key.name(), default_of(key), "default", false});
    }
}

Config Config::merge(const ConfigLayers& layers) {
    Config config;
    config.m_settings.clear();
    const std::span<const std::string> locked =
        layers.system != nullptr ? std::span<const std::string>(layers.system->locked)
                                 : std::span<const std::string>();
    for (const SettingKey& key : setting_keys()) {
        EffectiveSetting effective{key.name(), default_of(key), "default", false};
        effective.locked = std::find(locked.begin(), locked.end(), effective.key) != locked.end();
        const auto apply = [&](std::span<const Setting> settings, bool administrators) {
            const Setting* setting = find_setting(settings, effective.key);
            if (setting == nullptr) {
                return;
            }
            if (effective.locked && !administrators) {
                if (setting->value != effective.value) {
                    config.m_notes.push_back(setting->origin() + ": " + effective.key +
                                             " is locked by " + layers.system->path + "; ignored");
                }
                return;
            }
            effective.value = setting->value;
            effective.origin = setting->origin();
        };
        if (layers.system != nullptr) {
            apply(layers.system->settings, true);
        }
        if (layers.user != nullptr) {
            apply(layers.user->settings, false);
        }
        if (layers.project != nullptr) {
            apply(layers.project->settings, false);
        }
        if (layers.local != nullptr) {
            apply(layers.local->settings, false);
        }
        config.m_settings.push_back(std::move(effective));
    }
    return config;
}

const EffectiveSetting* Config::find(std::string_view key) const {
    const auto found = std::find_if(m_settings.begin(), m_settings.end(),
                                    [&](const EffectiveSetting& s) { return s.key == key; });
    return found == m_settings.end() ? nullptr : &*found;
}

namespace {
template <typename T>
const T& value_in(const Config& config, std::string_view key) {
    const EffectiveSetting* setting = config.find(key);
    assert(setting != nullptr); // `merge` fills every key
    return std::get<T>(setting->value);
}
} // namespace

Purpose Config::purpose() const {
    return value_in<std::string>(*this, "resolve.for") == "build" ? Purpose::Build : Purpose::Run;
}
const std::vector<std::string>& Config::channels() const {
    return value_in<std::vector<std::string>>(*this, "resolve.channels");
}
const std::vector<std::string>& Config::toolkit_directories() const {
    return value_in<std::vector<std::string>>(*this, "toolkits.directories");
}

const std::vector<std::string>& Config::trusted_groups() const {
    return value_in<std::vector<std::string>>(*this, "activate.trusted_groups");
}

const std::vector<std::string>& Config::targets() const {
    return value_in<std::vector<std::string>>(*this, "resolve.targets");
}
const std::string& Config::ld_library_path() const {
    return value_in<std::string>(*this, "activate.ld_library_path");
}
bool Config::compilers() const {
    return value_in<bool>(*this, "activate.compilers");
}
bool Config::keep_cuda_home() const {
    return value_in<bool>(*this, "activate.keep_cuda_home");
}
const std::string& Config::constraints() const {
    return value_in<std::string>(*this, "activate.constraints");
}
bool Config::warns() const {
    return value_in<bool>(*this, "check.warn");
}
const std::vector<std::string>& Config::ignored_findings() const {
    return value_in<std::vector<std::string>>(*this, "check.ignore");
}

Result<std::string> edit_config(std::string_view toml, std::string_view path, FileScope scope,
                                std::string_view key, ConfigAction action,
                                std::span<const std::string> words) {
    if (key.substr(0, 5) == "pins.") {
        PinEdit edit{std::string(key.substr(5)), std::nullopt};
        if (action == ConfigAction::Set) {
            if (words.size() != 1) {
                return bad_input("bad-value", printable(key) + " takes one version", "as in 11.3");
            }
            edit.constraint = words[0];
        }
        return edit_config_pins(toml, path, std::span(&edit, 1), scope);
    }
    const SettingKey* known = find_setting_key(key);
    if (known == nullptr) {
        return tl::unexpected(unknown_setting(key));
    }
    CUDAENV_TRY(const ConfigFile before, parse_config(toml, path, scope));
    TomlEdit edit{std::string(known->table), std::string(known->key), std::nullopt};
    SettingValue wanted;
    if (action == ConfigAction::Set) {
        CUDAENV_TRY(wanted, value_of(*known, scope, words));
        const Setting* old = find_setting(before.settings, known->name());
        if (old != nullptr && old->value == wanted) {
            return std::string(toml);
        }
        edit.value = to_toml(wanted);
    }
    CUDAENV_TRY(std::string edited, edit_toml(toml, std::span(&edit, 1)));
    const auto after = parse_config(edited, path, scope);
    const Setting* now = after ? find_setting(after->settings, known->name()) : nullptr;
    const bool right =
        after &&
        (action == ConfigAction::Set ? now != nullptr && now->value == wanted : now == nullptr) &&
        after->pins.size() == before.pins.size() && after->locked == before.locked;
    if (!right) {
        return defect("editing " + printable(path) + " would have changed something else");
    }
    return edited;
}

} // namespace cudaenv::pins
