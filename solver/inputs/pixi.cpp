#include "base/dotted_version.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/inputs/readers.hpp"
#include "solver/specs/ask.hpp"

namespace cudaenv::inputs {

namespace {

using pins::TomlArray;
using pins::TomlEntry;
using pins::TomlTable;

class PixiParser {
public:
    PixiParser(Input& input, std::string_view path, const Target& target)
        : m_input(input), m_path(path), m_target(target) {}

    Result<void> manifest(const TomlTable& entries, std::string_view environment) {
        for (const char* name : {"workspace", "project"}) { // the older name
            if (const TomlEntry* workspace = find_entry(entries, name)) {
                CUDAENV_TRY(const TomlTable* table, table_of(*workspace, m_path));
                CUDAENV_TRY_VOID(channels_and_platforms(*table));
            }
        }
        CUDAENV_TRY(const auto chosen, features_of(entries, environment));
        if (chosen.with_root) {
            CUDAENV_TRY_VOID(feature(entries));
        }
        const TomlEntry* features = find_entry(entries, "feature");
        const TomlTable none;
        const TomlTable* table = &none;
        if (features != nullptr) {
            CUDAENV_TRY(table, table_of(*features, m_path));
        }
        std::vector<std::string> left;
        for (const TomlEntry& entry : *table) {
            if (!is_one_of(entry.key, chosen.names)) {
                left.push_back(printable(entry.key));
                continue;
            }
            CUDAENV_TRY(const TomlTable* one, table_of(entry, m_path));
            CUDAENV_TRY_VOID(feature(*one));
            CUDAENV_TRY_VOID(channels_and_platforms(*one));
        }
        if (!left.empty()) {
            m_input.notes.push_back(printable(m_path) + ": the environment " + quoted(environment) +
                                    " has no feature " + join(left, ", ") +
                                    (environments(entries).empty()
                                         ? ""
                                         : "; others: -r '" + printable(m_path) + "[NAME]' with " +
                                               join(environments(entries), ", ")));
        }
        return {};
    }

private:
    struct Features {
        bool with_root = true; // the tables of the root are the feature "default"
        std::vector<std::string> names;
    };

    static std::vector<std::string> environments(const TomlTable& entries) {
        std::vector<std::string> names;
        const TomlEntry* listed = find_entry(entries, "environments");
        if (listed != nullptr) {
            if (const auto* table = std::get_if<TomlTable>(&listed->value.data)) {
                for (const TomlEntry& entry : *table) {
                    names.push_back(printable(entry.key));
                }
            }
        }
        return names;
    }

    // environments = { default = ["cuda"], lint = { features = [...], no-default-feature = true } }
    Result<Features> features_of(const TomlTable& entries, std::string_view environment) {
        Features features;
        const TomlEntry* listed = find_entry(entries, "environments");
        const TomlEntry* chosen = nullptr;
        if (listed != nullptr) {
            CUDAENV_TRY(const TomlTable* table, table_of(*listed, m_path));
            chosen = find_entry(*table, environment);
        }
        if (chosen == nullptr && environment != "default") {
            auto names = environments(entries);
            return error_at({std::string(m_path), listed ? listed->at.line : 1, 1}, "unknown-extra",
                            "there is no environment " + quoted(environment),
                            names.empty() ? "the file has no [environments]"
                                          : "it has " + join(names, ", "));
        }
        if (chosen == nullptr) {
            return features;
        }
        const TomlEntry* list = chosen;
        if (const auto* table = std::get_if<TomlTable>(&chosen->value.data)) {
            const TomlEntry* without = find_entry(*table, "no-default-feature");
            const bool* truth = without ? std::get_if<bool>(&without->value.data) : nullptr;
            features.with_root = truth == nullptr || !*truth;
            list = find_entry(*table, "features");
        }
        if (list != nullptr) {
            CUDAENV_TRY(const TomlArray* names, array_of(*list, m_path, R"(default = ["cuda"])"));
            for (const auto& name : *names) {
                CUDAENV_TRY(auto text, string_of(name, m_path, R"(default = ["cuda"])"));
                features.names.push_back(std::move(text));
            }
        }
        return features;
    }

    Result<void> feature(const TomlTable& table) {
        for (const TomlEntry& entry : table) {
            if (entry.key == "dependencies" || entry.key == "host-dependencies" ||
                entry.key == "build-dependencies") {
                CUDAENV_TRY_VOID(each(entry, &PixiParser::conda_dependency));
            } else if (entry.key == "pypi-dependencies") {
                CUDAENV_TRY_VOID(each(entry, &PixiParser::pip_dependency));
            } else if (entry.key == "system-requirements") {
                CUDAENV_TRY_VOID(system_requirements(entry));
            } else if (entry.key == "pypi-options") {
                CUDAENV_TRY_VOID(pip_options(entry));
            } else if (entry.key == "target") {
                CUDAENV_TRY(const TomlTable* targets, table_of(entry, m_path));
                for (const TomlEntry& target : *targets) {
                    if (target.key == "linux" || target.key == "unix" ||
                        target.key == m_target.platform()) {
                        CUDAENV_TRY(const TomlTable* inner, table_of(target, m_path));
                        CUDAENV_TRY_VOID(feature(*inner));
                    }
                }
            }
        }
        return {};
    }

    Result<void> each(const TomlEntry& entry, Result<void> (PixiParser::*read)(const TomlEntry&)) {
        CUDAENV_TRY(const TomlTable* table, table_of(entry, m_path));
        for (const TomlEntry& dependency : *table) {
            CUDAENV_TRY_VOID((this->*read)(dependency));
        }
        return {};
    }

    // "2.5.*" or { version = "2.5.*", build = "*cuda*", channel = "conda-forge" }
    Result<void> conda_dependency(const TomlEntry& entry) {
        std::string version = "*";
        std::string build;
        std::string channel;
        FilePlace place = at(m_path, entry.value.at);
        if (const auto* table = std::get_if<TomlTable>(&entry.value.data)) {
            place = at(m_path, entry.at);
            for (const TomlEntry& part : *table) {
                const bool is_source = part.key == "git" || part.key == "path" || part.key == "url";
                if (is_source) {
                    m_input.notes.push_back(place.origin() + ": " + printable(entry.key) +
                                            " comes from its own place and is not part of the "
                                            "answer");
                    return {};
                }
                if (part.key == "version") {
                    CUDAENV_TRY(version, string_of(part.value, m_path, R"("2.5.*")"));
                } else if (part.key == "build") {
                    CUDAENV_TRY(build, string_of(part.value, m_path, R"("*cuda*")"));
                } else if (part.key == "channel") {
                    CUDAENV_TRY(channel, string_of(part.value, m_path, R"("conda-forge")"));
                }
            }
        } else {
            CUDAENV_TRY(version, string_of(entry.value, m_path, R"("2.5.*")"));
            // "2.5.* *cuda*": a build behind the version.
            const std::string_view text = trim(version);
            const std::size_t space = text.find(' ');
            if (space != std::string_view::npos && space > 0 &&
                std::string_view(",<>=!~|").find(text[space - 1]) == std::string_view::npos &&
                std::string_view(",<>=!~|").find(trim(text.substr(space))[0]) ==
                    std::string_view::npos) {
                build = std::string(trim(text.substr(space)));
                version = std::string(text.substr(0, space));
            }
        }
        std::erase(version, ' ');
        std::string text = channel.empty() ? entry.key : channel + "::" + entry.key;
        if (!build.empty()) {
            text += ' ' + version + ' ' + build;
        } else if (version != "*") {
            // A bare version is exact in pixi, as in conda's "name version".
            const bool bare = version.find_first_of("=<>!~") != 0;
            text += (!bare ? "" : version.ends_with(".*") ? "=" : "==") + version;
        }
        return at_start_of(place, add_match_spec(m_input, text, place));
    }

    // ">=2.5" or { version = ">=2.5", extras = ["opt"], index = "https://..." }
    Result<void> pip_dependency(const TomlEntry& entry) {
        std::string version = "*";
        std::string extras;
        FilePlace place = at(m_path, entry.value.at);
        std::string url;
        if (const auto* table = std::get_if<TomlTable>(&entry.value.data)) {
            place = at(m_path, entry.at);
            for (const TomlEntry& part : *table) {
                if (part.key == "version") {
                    CUDAENV_TRY(version, string_of(part.value, m_path, R"(">=2.5")"));
                } else if (part.key == "extras") {
                    CUDAENV_TRY(const TomlArray* list,
                                array_of(part, m_path, R"(extras = ["and-cuda"])"));
                    for (const auto& extra : *list) {
                        CUDAENV_TRY(const auto name,
                                    string_of(extra, m_path, R"(extras = ["and-cuda"])"));
                        extras += (extras.empty() ? "" : ",") + name;
                    }
                } else if (part.key == "index") {
                    CUDAENV_TRY(const auto index, string_of(part.value, m_path, "a URL"));
                    add_index(m_input, index, at(m_path, part.at));
                } else if (part.key == "url" || part.key == "git" || part.key == "path") {
                    CUDAENV_TRY(url, string_of(part.value, m_path, "a URL"));
                }
            }
        } else {
            CUDAENV_TRY(version, string_of(entry.value, m_path, R"(">=2.5")"));
        }
        std::string text = entry.key + (extras.empty() ? "" : '[' + extras + ']');
        if (!url.empty()) {
            text += " @ " + url;
        } else if (trim(version) != "*" && !trim(version).empty()) {
            const bool bare = trim(version).find_first_of("=<>!~") != 0;
            text += (bare ? "==" : "") + version;
        }
        return at_start_of(place, add_requirement(m_input, text, place, m_target));
    }

    // A spec is put together from parts: a column within it is none of the file's.
    static Result<void> at_start_of(const FilePlace& place, Result<void> added) {
        if (!added) {
            added.error().column = place.column;
        }
        return added;
    }

    Result<void> channels_and_platforms(const TomlTable& table) {
        if (const TomlEntry* channels = find_entry(table, "channels")) {
            CUDAENV_TRY(const TomlArray* list,
                        array_of(*channels, m_path, R"(channels = ["conda-forge"])"));
            for (const auto& channel : *list) {
                const auto* inner = std::get_if<TomlTable>(&channel.data);
                const TomlEntry* named = inner ? find_entry(*inner, "channel") : nullptr;
                CUDAENV_TRY(auto text, string_of(named ? named->value : channel, m_path,
                                                 R"(channels = ["conda-forge"])"));
                m_input.channels.push_back({std::move(text), at(m_path, channel.at).origin()});
            }
        }
        const TomlEntry* platforms = find_entry(table, "platforms");
        if (platforms == nullptr) {
            return {};
        }
        constexpr const char* k_example =
            R"(platforms = ["linux-64"] or [{ platform = "linux-64", cuda = "12" }])";
        CUDAENV_TRY(const TomlArray* list, array_of(*platforms, m_path, k_example));
        bool linux_here = list->empty();
        for (const auto& platform : *list) {
            const auto* rich = std::get_if<TomlTable>(&platform.data);
            if (rich == nullptr) {
                CUDAENV_TRY(const auto name, string_of(platform, m_path, k_example));
                linux_here = linux_here || name.starts_with("linux-");
                continue;
            }
            const TomlEntry* named = find_entry(*rich, "platform");
            named = named ? named : find_entry(*rich, "name");
            if (named == nullptr) {
                return error_at(at(m_path, platform.at), "bad-value",
                                "a platform has no \"platform\"",
                                std::string("as in ") + k_example);
            }
            CUDAENV_TRY(const auto name, string_of(named->value, m_path, k_example));
            linux_here = linux_here || name.starts_with("linux-");
            if (name == m_target.platform()) {
                CUDAENV_TRY_VOID(expectations(*rich, "glibc"));
            }
        }
        if (!linux_here) {
            m_input.notes.push_back(at(m_path, platforms->at).origin() +
                                    " names no Linux platform: pixi would not install it here");
        }
        return {};
    }

    // Deprecated since pixi 0.71, read as it reads them: of every Linux platform.
    Result<void> system_requirements(const TomlEntry& entry) {
        CUDAENV_TRY(const TomlTable* table, table_of(entry, m_path));
        m_input.notes.push_back(at(m_path, entry.at).origin() +
                                ": [system-requirements] is deprecated; write platforms = "
                                "[{ platform = \"linux-64\", cuda = \"12\" }]");
        return expectations(*table, "libc");
    }

    // cuda = "12" or { driver = "12", arch = "8.6" }; glibc = "2.28", or libc = { family = "glibc",
    // version = "2.28" }. The first that is named counts.
    Result<void> expectations(const TomlTable& table, std::string_view libc) {
        const auto read = [&](std::string_view key, std::string_view inner,
                              std::optional<Entry>& into) -> Result<void> {
            const TomlEntry* entry = find_entry(table, key);
            if (entry == nullptr || into) {
                return {};
            }
            const pins::TomlValue* value = &entry->value;
            if (const auto* parts = std::get_if<TomlTable>(&value->data)) {
                const TomlEntry* part = find_entry(*parts, inner);
                if (part == nullptr) {
                    return {};
                }
                value = &part->value;
            }
            CUDAENV_TRY(auto text, string_of(*value, m_path, R"("12")"));
            if (!DottedVersion::parse(text)) {
                return error_at(at(m_path, value->at), "bad-version",
                                quoted(text) + " is not a version",
                                "expected digits and dots, as in 12.4");
            }
            into = Entry{std::move(text), at(m_path, entry->at).origin()};
            return {};
        };
        CUDAENV_TRY_VOID(read("cuda", "driver", m_input.driver_cuda));
        return read(libc, "version", m_input.glibc);
    }

    Result<void> pip_options(const TomlEntry& entry) {
        CUDAENV_TRY(const TomlTable* table, table_of(entry, m_path));
        for (const TomlEntry& option : *table) {
            if (option.key == "index-url") {
                CUDAENV_TRY(const auto url, string_of(option.value, m_path, "a URL"));
                add_index(m_input, url, at(m_path, option.at));
            } else if (option.key == "extra-index-urls") {
                CUDAENV_TRY(const TomlArray* list,
                            array_of(option, m_path, R"(["https://host/simple"])"));
                for (const auto& value : *list) {
                    CUDAENV_TRY(const auto url, string_of(value, m_path, "a URL"));
                    add_index(m_input, url, at(m_path, value.at));
                }
            }
        }
        return {};
    }

    Input& m_input;
    std::string_view m_path;
    const Target& m_target;
};

} // namespace

Result<void> parse_pixi(Input& input, const pins::TomlTable& entries, const std::string& path,
                        std::string_view environment, const Target& target) {
    return PixiParser(input, path, target).manifest(entries, environment);
}

} // namespace cudaenv::inputs
