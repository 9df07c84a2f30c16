#include "host/names/environment_names.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::names {

namespace {

struct Match {
    std::string tool;
    std::string prefix;
};

bool is_directory(host::FileSystem& files, const std::string& path) {
    const auto status = files.status(path);
    return status && status->kind == host::FileKind::Directory;
}

// As the tool itself finds it: the first directory of that name. Empty without one.
std::string found_by(const SearchTool& tool, const std::string& name, host::FileSystem& files) {
    if (!tool.root.empty() && (name == "base" || (name == "root" && tool.name == "conda"))) {
        return tool.root;
    }
    for (const std::string& directory : tool.directories) {
        if (const std::string prefix = directory + '/' + name; is_directory(files, prefix)) {
            return prefix;
        }
    }
    return {};
}

// Each place once; two paths may lead to one.
void add(std::vector<Match>& matches, Match match, host::FileSystem& files) {
    const auto place = [&](const std::string& path) {
        return files.real_path(path).value_or(path);
    };
    const auto same = [&](const Match& known) {
        return place(known.prefix) == place(match.prefix);
    };
    if (!std::ranges::any_of(matches, same)) {
        matches.push_back(std::move(match));
    }
}

Result<std::string> only_one(const std::string& name, const std::vector<Match>& matches) {
    if (matches.size() == 1) {
        return matches.front().prefix;
    }
    const auto places =
        each_of(matches, [](const Match& match) { return match.prefix + " (" + match.tool + ')'; });
    return bad_input("ambiguous-environment",
                     std::to_string(matches.size()) + " environments are named \"" + name +
                         "\": " + join(places, ", "),
                     "choose one with --prefix");
}

tl::unexpected<Error> not_found(const std::string& name, const SearchTools& tools,
                                const std::string& directory) {
    if (!directory.empty()) {
        return bad_input("no-such-environment",
                         "is named \"" + name + "\" and is not an environment",
                         "expected a directory with conda-meta or pyvenv.cfg", directory);
    }
    std::vector<std::string> places;
    for (const auto* group : {&tools.active, &tools.others}) {
        for (const SearchTool& tool : *group) {
            for (const std::string& place : tool.directories) {
                if (std::ranges::find(places, place) == places.end()) {
                    places.push_back(place);
                }
            }
        }
    }
    std::vector<std::string> hint{"looked in " + join(places, ", ")};
    hint.insert(hint.end(), tools.notes.begin(), tools.notes.end());
    hint.emplace_back("--prefix takes a directory");
    return bad_input("no-such-environment", "there is no environment named \"" + name + '"',
                     join(hint, "; "));
}

} // namespace

PrefixKind kind_of_prefix(host::FileSystem& files, const std::string& prefix) {
    return is_directory(files, prefix + "/conda-meta") ? PrefixKind::Conda
           : files.exists(prefix + "/pyvenv.cfg")      ? PrefixKind::Venv
                                                       : PrefixKind::None;
}

Result<std::string> prefix_named(const std::string& name, const SearchTools& tools,
                                 host::FileSystem& files) {
    std::string no_environment; // a directory of this name, but not an environment
    if (name.empty() || name.find('/') != std::string::npos) {
        return not_found(name, tools, {});
    }
    for (const auto* group : {&tools.active, &tools.others}) {
        std::vector<Match> matches;
        for (const SearchTool& tool : *group) {
            const std::string prefix = found_by(tool, name, files);
            if (prefix.empty()) {
                continue;
            }
            if (kind_of_prefix(files, prefix) != PrefixKind::None) {
                add(matches, {tool.name, prefix}, files);
            } else if (no_environment.empty()) {
                no_environment = prefix;
            }
        }
        if (!matches.empty()) {
            return only_one(name, matches);
        }
    }
    std::vector<Match> matches;
    for (const std::string& prefix : tools.registered) {
        if (host::base_name(prefix) == name && kind_of_prefix(files, prefix) != PrefixKind::None) {
            add(matches, {"environments.txt", prefix}, files);
        }
    }
    return matches.empty() ? not_found(name, tools, no_environment) : only_one(name, matches);
}

std::string name_of_prefix(const std::string& prefix, const SearchTools& tools) {
    const auto is_root = [&](const SearchTool& tool) { return tool.root == prefix; };
    return std::ranges::any_of(tools.active, is_root) || std::ranges::any_of(tools.others, is_root)
               ? "base"
               : std::string(host::base_name(prefix));
}

} // namespace cudaenv::names
