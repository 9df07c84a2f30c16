// How the layers of settings merge, and editing config.toml. Pure.
//
// Law: every effective value knows where it comes from; a key that the administrator's file locks
// has the administrator's value (or the default), whatever the others say, and each that loses is
// named.
#pragma once

#include "base/result.hpp"
#include "solver/pins/project_file.hpp"
#include "solver/pins/settings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::pins {

struct EffectiveSetting {
    std::string key;
    SettingValue value;
    std::string origin; // "default" or "/etc/cudaenv/config.toml line 3"
    bool locked = false;
};

struct ConfigLayers {
    const ConfigFile* system = nullptr; // any may be absent
    const ConfigFile* user = nullptr;
    const ProjectFile* project = nullptr;
    const ProjectFile* local = nullptr; // cudaenv.local.toml
};

// What is in force, in the order of setting_keys(): `config list`.
class Config {
public:
    Config(); // the defaults
    static Config merge(const ConfigLayers& layers);

    [[nodiscard]] const std::vector<EffectiveSetting>& settings() const { return m_settings; }
    // By dotted name; null for an unknown one: `config get`.
    [[nodiscard]] const EffectiveSetting* find(std::string_view key) const;
    // Values that a lock left out, one line each.
    [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

    [[nodiscard]] Purpose purpose() const;
    [[nodiscard]] const std::vector<std::string>& channels() const;
    [[nodiscard]] const std::vector<std::string>& toolkit_directories() const;
    // Compute capabilities, as "8.6": what is built for where there is no GPU.
    [[nodiscard]] const std::vector<std::string>& targets() const;
    [[nodiscard]] const std::string& ld_library_path() const; // auto | never | always
    [[nodiscard]] bool compilers() const;
    [[nodiscard]] bool keep_cuda_home() const; // what was there before the hook is the user's wish
    [[nodiscard]] const std::string& constraints() const;                 // off | env
    [[nodiscard]] const std::vector<std::string>& trusted_groups() const; // by name
    [[nodiscard]] bool warns() const; // of mixed installs, at the prompt
    [[nodiscard]] const std::vector<std::string>& ignored_findings() const; // codes

private:
    std::vector<EffectiveSetting> m_settings;
    std::vector<std::string> m_notes;
};

// `config set KEY VALUE...` on the text of config.toml: keeps all other bytes, as edit_pins does.
// `words` is one word for a single value, any number for a list; none at all unsets the key when
// `unset`. Key "pins.NAME" sets a global pin. Errors: "unknown-key", "bad-value", those of
// parse_config.
enum class ConfigAction { Set, Unset };
Result<std::string> edit_config(std::string_view toml, std::string_view path, FileScope scope,
                                std::string_view key, ConfigAction action,
                                std::span<const std::string> words);

} // namespace cudaenv::pins
