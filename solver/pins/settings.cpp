#include "solver/pins/settings.hpp"

#include "base/compute_capability.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::pins {

namespace {

constexpr std::array<std::string_view, 2> k_purposes{"run", "build"};
constexpr std::array<std::string_view, 2> k_library_paths{"auto", "never"};
constexpr std::array<std::string_view, 1> k_users_library_paths{"always"};
constexpr std::array<std::string_view, 2> k_constraint_files{"off", "env"};
constexpr std::array<std::string_view, 2> k_daemon_starts{"auto", "never"};

constexpr std::array<SettingKey, 14> k_keys{{
    {"resolve", "channels", SettingKind::Words, "conda channels; the first one has priority"},
    {"resolve", "for", SettingKind::Word, "the purpose of a resolution", false, true, k_purposes},
    {"resolve", "targets", SettingKind::Capabilities,
     "compute capabilities to build for on a machine without a GPU"},
    {"activate", "ld_library_path", SettingKind::Word,
     "whether the toolkit's libraries go on LD_LIBRARY_PATH", false, true, k_library_paths,
     k_users_library_paths},
    {"activate", "compilers", SettingKind::Truth,
     "whether CC, CXX, CUDAHOSTCXX and NVCC_CCBIN are set"},
    {"activate", "keep_cuda_home", SettingKind::Truth,
     "whether CUDA_HOME from before the shell's hook counts as set by hand", false, false},
    {"activate", "constraints", SettingKind::Word,
     "whether pins are written into the environment's own pip.conf and conda pinned file", false,
     true, k_constraint_files},
    {"activate", "wrap", SettingKind::Truth,
     "whether hooks wrap conda, so that they act immediately after conda activate", true},
    {"activate", "trusted_groups", SettingKind::Words,
     "groups whose members may write trusted project files, as in [\"lab\"]", true},
    {"toolkits", "directories", SettingKind::Directories,
     "additional directories to search for toolkits", true},
    {"daemon", "start", SettingKind::Word, "whether interactive shells start a background daemon",
     true, true, k_daemon_starts},
    {"probe", "background", SettingKind::Truth,
     "whether the daemon runs the quick probe on idle GPUs after an activation", true, false},
    {"check", "warn", SettingKind::Truth,
     "whether a prompt reports what an install overwrote or mixed"},
    {"check", "ignore", SettingKind::Words, "codes of findings not to report, as in [\"CE130\"]"},
}};

std::string words_of(const SettingKey& key, bool project) {
    std::vector<std::string> words;
    for (const std::string_view word : key.words) {
        words.push_back('"' + std::string(word) + '"');
    }
    if (!project) {
        for (const std::string_view word : key.users_words) {
            words.push_back('"' + std::string(word) + '"');
        }
    }
    return join(words, " or ");
}

std::string expected(const SettingKey& key, bool project) {
    switch (key.kind) {
    case SettingKind::Word:
        return "expected " + words_of(key, project);
    case SettingKind::Truth:
        return "expected true or false";
    case SettingKind::Words:
        return "expected a list of strings, as in [\"pytorch\", \"conda-forge\"]";
    case SettingKind::Directories:
        return "expected a list of directories, as in [\"/opt/cuda-12.1\"]";
    case SettingKind::Capabilities:
        return "expected a list of compute capabilities, as in [\"8.6\", \"9.0\"]";
    }
    return {};
}

// `activation.wrap` is `activate.wrap` to whoever thinks of the noun.
std::string_view canonical_table(std::string_view table) {
    return table == "activation" ? "activate" : table;
}

bool may_set(const SettingKey& key, FileScope scope) {
    return !key.users_only || scope != FileScope::Project;
}

} // namespace

std::span<const SettingKey> setting_keys() {
    return k_keys;
}

const SettingKey* find_setting_key(std::string_view name) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string wanted =
        std::string(canonical_table(name.substr(0, dot))) + std::string(name.substr(dot));
    return find_pointer_if(k_keys, [&](const SettingKey& key) { return key.name() == wanted; });
}

Error unknown_setting(std::string_view name) {
    const auto names = each_of(k_keys, &SettingKey::name);
    return bad_input("unknown-key", "unknown key " + quoted(name),
                     did_you_mean(name, names, "known are " + join(names, ", ")))
        .value();
}

SettingValue default_of(const SettingKey& key) {
    switch (key.kind) {
    case SettingKind::Word:
        return std::string(key.words[0]);
    case SettingKind::Truth:
        return key.truth;
    case SettingKind::Words:
    case SettingKind::Directories:
    case SettingKind::Capabilities:
        break;
    }
    return std::vector<std::string>{};
}

std::string to_toml(const SettingValue& value) {
    if (const auto* truth = std::get_if<bool>(&value)) {
        return *truth ? "true" : "false";
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
        return toml_string(*text);
    }
    const auto items = each_of(std::get<std::vector<std::string>>(value), toml_string);
    return '[' + join(items, ", ") + ']';
}

const Setting* find_setting(std::span<const Setting> settings, std::string_view name) {
    return find_pointer_if(settings, [&](const Setting& setting) { return setting.key == name; });
}

Result<SettingValue> read_setting(const SettingKey& key, const TomlValue& value, FileScope scope,
                                  std::string_view path) {
    const bool project = scope == FileScope::Project;
    const auto wrong = [&](TomlPlace at, std::string found) {
        return toml_error(path, at, "bad-value", key.name() + " is " + std::move(found),
                          expected(key, project));
    };
    if (key.kind == SettingKind::Truth) {
        if (const auto* truth = std::get_if<bool>(&value.data)) {
            return *truth;
        }
        return wrong(value.at, std::string(kind_of(value)));
    }
    if (key.kind == SettingKind::Word) {
        const auto* word = std::get_if<std::string>(&value.data);
        if (word == nullptr) {
            return wrong(value.at, std::string(kind_of(value)));
        }
        if (is_one_of(*word, key.words) || (!project && is_one_of(*word, key.users_words))) {
            return *word;
        }
        if (is_one_of(*word, key.users_words)) {
            return toml_error(path, value.at, "bad-value",
                              key.name() + " cannot be " + quoted(*word) + " in a project",
                              expected(key, true) + "; " + quoted(*word) +
                                  " is for the user's own config.toml");
        }
        return wrong(value.at, quoted(*word));
    }
    const auto* list = std::get_if<TomlArray>(&value.data);
    if (list == nullptr) {
        return wrong(value.at, std::string(kind_of(value)));
    }
    std::vector<std::string> words;
    for (const TomlValue& item : *list) {
        const auto* word = std::get_if<std::string>(&item.data);
        if (word == nullptr) {
            return toml_error(path, item.at, "bad-value",
                              key.name() + " has " + std::string(kind_of(item)) + " in its list",
                              expected(key, project));
        }
        if (word->empty() || printable(*word) != *word) {
            return toml_error(path, item.at, "bad-value",
                              key.name() + " has " +
                                  (word->empty() ? "an empty string" : quoted(*word)) +
                                  " in its list",
                              expected(key, project));
        }
        if (key.kind == SettingKind::Directories && word->front() != '/' &&
            word->substr(0, 2) != "~/") {
            return toml_error(path, item.at, "bad-value",
                              quoted(*word) + " is not an absolute path", expected(key, project));
        }
        if (key.kind == SettingKind::Capabilities && !ComputeCapability::parse(*word)) {
            return toml_error(path, item.at, "bad-value",
                              quoted(*word) + " is not a compute capability",
                              expected(key, project));
        }
        words.push_back(*word);
    }
    return words;
}

Result<void> refuse_or_note(UnknownKeys unknown, tl::unexpected<Error> error,
                            std::vector<std::string>& notes) {
    if (unknown == UnknownKeys::Refuse) {
        return error;
    }
    const Error& what = error.value();
    notes.push_back(what.path + " line " + std::to_string(what.line) + ": " + what.message + "; " +
                    what.hint);
    return {};
}

bool is_settings_table(std::string_view name, FileScope scope) {
    return std::ranges::any_of(k_keys, [&](const SettingKey& key) {
        return key.table == canonical_table(name) && may_set(key, scope);
    });
}

Result<std::vector<Setting>> read_settings(const TomlTable& entries, FileScope scope,
                                           UnknownKeys unknown, std::string_view path,
                                           std::vector<std::string>& notes) {
    std::vector<Setting> settings;
    for (const TomlEntry& table : entries) {
        if (!is_settings_table(table.key, scope)) {
            continue;
        }
        const auto* values = std::get_if<TomlTable>(&table.value.data);
        if (values == nullptr) {
            return toml_error(path, table.at, "bad-value",
                              table.key + " is " + std::string(kind_of(table.value)),
                              "expected a table: [" + table.key + "]");
        }
        std::vector<std::string> known;
        for (const SettingKey& key : k_keys) {
            if (key.table == canonical_table(table.key) && may_set(key, scope)) {
                known.emplace_back(key.key);
            }
        }
        for (const TomlEntry& entry : *values) {
            const SettingKey* key = find_setting_key(table.key + '.' + entry.key);
            const bool users = key != nullptr && !may_set(*key, scope);
            if (key == nullptr || users) {
                CUDAENV_TRY_VOID(refuse_or_note(
                    unknown,
                    toml_error(
                        path, entry.at, "unknown-key",
                        users ? key->name() + " cannot be set in a project"
                              : "unknown key " + quoted(entry.key) + " in [" + table.key + ']',
                        users ? "it is for the user's own config.toml"
                              : did_you_mean(entry.key, known, "known are " + join(known, ", "))),
                    notes));
                continue;
            }
            CUDAENV_TRY(SettingValue value, read_setting(*key, entry.value, scope, path));
            settings.push_back({key->name(), std::move(value), printable(path), entry.at.line});
        }
    }
    return settings;
}

} // namespace cudaenv::pins
