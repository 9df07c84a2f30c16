// The settings that are not pins: one table of keys, read from cudaenv.toml and config.toml alike.
// Pure.
//
// Law: a key is known here or nowhere; a value has its key's kind; a project cannot set what only
// the user may.
#pragma once

#include "base/result.hpp"
#include "solver/pins/toml_document.hpp"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cudaenv::pins {

// Whose file it is. A project's file is data that somebody else may have written (decision 13).
enum class FileScope { Project, User, System };

// What to do about a key that is not known: `pin`, `lock` and `resolve` refuse it, the prompt goes
// on.
enum class UnknownKeys { Refuse, Note };

enum class SettingKind { Word, Truth, Words, Directories, Capabilities };

struct SettingKey {
    std::string_view table;
    std::string_view key;
    SettingKind kind = SettingKind::Word;
    std::string_view what;
    bool users_only = false;
    bool truth = true;                               // the default of a Truth
    std::span<const std::string_view> words{};       // the values of a Word, the default first
    std::span<const std::string_view> users_words{}; // further ones, not for projects

    [[nodiscard]] std::string name() const { return std::string(table) + '.' + std::string(key); }
};

std::span<const SettingKey> setting_keys();
// By dotted name, "resolve.channels"; null for an unknown one.
const SettingKey* find_setting_key(std::string_view name);
// "unknown-key", with the nearest known name as hint.
Error unknown_setting(std::string_view name);

using SettingValue = std::variant<bool, std::string, std::vector<std::string>>;

// The value where no file sets one: the first word, `truth`, an empty list.
SettingValue default_of(const SettingKey& key);
// As TOML: "auto", true, ["pytorch", "conda-forge"].
std::string to_toml(const SettingValue& value);

struct Setting {
    std::string key; // dotted name
    SettingValue value;
    std::string path; // printable
    int line = 0;

    // "/p/cudaenv.toml line 7"
    [[nodiscard]] std::string origin() const { return path + " line " + std::to_string(line); }
};

const Setting* find_setting(std::span<const Setting> settings, std::string_view name);

// Reads one entry of a table. Errors: "bad-value".
Result<SettingValue> read_setting(const SettingKey& key, const TomlValue& value, FileScope scope,
                                  std::string_view path);
// Reads the tables of settings among `entries` and leaves the others ("pins", "locked") alone.
// Unknown keys inside them are refused or added to `notes`.
Result<std::vector<Setting>> read_settings(const TomlTable& entries, FileScope scope,
                                           UnknownKeys unknown, std::string_view path,
                                           std::vector<std::string>& notes);
// An unknown key: the error, or a note of it where the rest of the file still counts.
Result<void> refuse_or_note(UnknownKeys unknown, tl::unexpected<Error> error,
                            std::vector<std::string>& notes);
// Whether a table of settings has this name, in this scope.
bool is_settings_table(std::string_view name, FileScope scope);

} // namespace cudaenv::pins
