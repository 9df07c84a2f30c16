#include "solver/pins/config.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "solver/pins/toml_edit.hpp"

#include <cassert>

namespace cudaenv::pins {

namespace {

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
    return read_setting(key, value, scope, "");
}

} // namespace

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
        effective.locked = is_one_of(effective.key, locked);
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
        for (const auto* file : {layers.system, layers.user, layers.project, layers.local}) {
            if (file != nullptr) {
                apply(file->settings, file == layers.system);
            }
        }
        config.m_settings.push_back(std::move(effective));
    }
    return config;
}

const EffectiveSetting* Config::find(std::string_view key) const {
    return find_pointer_if(m_settings, [&](const EffectiveSetting& s) { return s.key == key; });
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
        return edit_pins(toml, path, std::span(&edit, 1), scope);
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
