#include "host/names/search_tools.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/conda_installs.hpp"
#include "host/names/condarc.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <pwd.h>

namespace cudaenv::names {

namespace {

bool is_name_character(char c) {
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string with_variables(const std::string& text, const host::Environment& environment,
                           std::set<std::string>& unset) {
    std::string expanded;
    std::size_t at = 0;
    while (at < text.size()) {
        const bool braced = text.compare(at, 2, "${") == 0;
        const std::size_t start = at + (braced ? 2 : 1);
        std::size_t end = start;
        while (end < text.size() && (braced ? text[end] != '}' : is_name_character(text[end]))) {
            ++end;
        }
        const bool is_variable = text[at] == '$' && end > start && (!braced || end < text.size());
        if (!is_variable) {
            expanded += text[at++];
            continue;
        }
        const std::string name = text.substr(start, end - start);
        const std::size_t next = end + (braced ? 1 : 0);
        if (const auto value = environment.find(name); value != environment.end()) {
            expanded += value->second;
        } else {
            unset.insert(name);
            expanded += text.substr(at, next - at);
        }
        at = next;
    }
    return expanded;
}

std::string home_of(const std::string& user) {
    std::array<char, 16384> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    ::getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found);
    return found == nullptr ? std::string() : std::string(found->pw_dir);
}

std::string with_home(const std::string& text, const std::string& home) {
    if (!text.starts_with('~')) {
        return text;
    }
    const std::string user = text.substr(1, std::min(text.find('/'), text.size()) - 1);
    const std::string directory = user.empty() ? home : home_of(user);
    return directory.empty() ? text : directory + text.substr(user.size() + 1);
}

using Paths = std::vector<std::string>;

struct Search {
    const NameSources& sources;
    SearchTools found{};

    SearchTools take() {
        add_active();
        add_others();
        add_registered();
        return std::move(found);
    }

    [[nodiscard]] std::string variable(std::string_view name) const {
        return host::value_of(*sources.context.environment, name);
    }
    std::string expanded(const std::string& path) {
        return expand_path(path, sources.context, found.unset);
    }
    [[nodiscard]] bool exists(const std::string& path) const { return sources.files->exists(path); }
    [[nodiscard]] bool is_directory(const std::string& path) const {
        const auto status = sources.files->status(path);
        return status && status->kind == host::FileKind::Directory;
    }

    // The first of these programs on PATH; empty without one.
    [[nodiscard]] std::string on_path(const Paths& names) const {
        for (const std::string& directory : host::directories_of(variable("PATH"))) {
            for (const std::string& name : names) {
                const auto status = sources.files->status(directory + '/' + name);
                if (status && status->kind == host::FileKind::Regular && status->executable) {
                    return directory + '/' + name;
                }
            }
        }
        return {};
    }

    // ROOT of ROOT/bin/conda, which may be reached through a link; empty where it is no prefix.
    [[nodiscard]] std::string root_of_program(const std::string& program) const {
        for (const auto& path : {std::optional(program), optional_real_path(program)}) {
            const std::string root(path ? host::parent_path(host::parent_path(*path)) : "");
            if (!root.empty() && is_directory(root + "/conda-meta")) {
                return root;
            }
        }
        return {};
    }
    [[nodiscard]] std::optional<std::string> optional_real_path(const std::string& path) const {
        const auto real = sources.files->real_path(path);
        return real ? std::optional(*real) : std::nullopt;
    }

    // libmamba's defaults; what is no prefix is not taken.
    [[nodiscard]] std::string mamba_root() {
        if (const std::string root = variable("MAMBA_ROOT_PREFIX"); !root.empty()) {
            return expanded(root);
        }
        if (const std::string root = root_of_program(variable("MAMBA_EXE")); !root.empty()) {
            return root;
        }
        for (const std::string& root : mamba_defaults()) {
            if (is_root_of_mamba(root)) {
                return root;
            }
        }
        return {};
    }
    [[nodiscard]] Paths mamba_defaults() const {
        const std::string data = variable("XDG_DATA_HOME");
        const std::string& home = sources.context.home;
        return {home + "/micromamba", (data.empty() ? home + "/.local/share" : data) + "/mamba"};
    }
    [[nodiscard]] bool is_root_of_mamba(const std::string& root) const {
        return exists(root + "/envs") || exists(root + "/conda-meta") || exists(root + "/pkgs");
    }

    // What is not trusted or cannot be read is said once and counts for nothing.
    std::optional<std::string> text_of(const std::string& path) {
        const trusted::TrustedFile file = sources.read(path);
        if (file.skipped) {
            add_once(found.notes, file.skipped->text());
        }
        return file.text;
    }

    std::optional<CondarcList> list_in(const std::string& path) {
        const auto text = text_of(path);
        if (!text) {
            return std::nullopt;
        }
        auto list = parse_condarc(*text);
        if (!list) {
            add_once(found.notes, path + ": ignored: line " + std::to_string(list.error().line) +
                                      ": " + list.error().message);
            return std::nullopt;
        }
        return *std::move(list);
    }

    [[nodiscard]] static bool is_yaml(std::string_view path) {
        return path.ends_with(".yml") || path.ends_with(".yaml");
    }

    // A file of a search path, or those of a directory (condarc.d), by name.
    void add_sources(const std::string& written, std::vector<CondarcList>& lists, Paths& seen) {
        const std::string path = expanded(written);
        const auto status = sources.files->status(path);
        Paths files;
        if (status && status->kind == host::FileKind::Directory) {
            for (const std::string& name : sources.files->names_in(path)) {
                if (is_yaml(name)) {
                    files.push_back(path + '/' + name);
                }
            }
        } else if (status && status->kind == host::FileKind::Regular) {
            files.push_back(path);
        }
        for (const std::string& file : files) {
            const std::string_view name = host::base_name(file);
            const bool has_its_name = name == ".condarc" || name == "condarc" ||
                                      name == ".mambarc" || name == "mambarc" || is_yaml(name);
            if (!has_its_name || std::ranges::find(seen, file) != seen.end()) {
                continue;
            }
            seen.push_back(file);
            if (auto list = list_in(file)) {
                lists.push_back(*std::move(list));
            }
        }
    }

    // The search path of conda's base/constants.py, weakest first.
    static Paths three_of(const std::string& directory, bool slash = true) {
        const std::string base = directory + (slash ? "/" : "");
        return {base + ".condarc", base + "condarc", base + "condarc.d"};
    }
    [[nodiscard]] Paths conda_search_path(const std::string& root) const {
        Paths path;
        const auto add = [&](const std::string& directory) {
            const Paths three = three_of(directory);
            path.insert(path.end(), three.begin(), three.end());
        };
        const std::string& home = sources.context.home;
        add("/etc/conda");
        add("/var/lib/conda");
        const std::string conda_root = variable("CONDA_ROOT");
        if (const std::string& own = conda_root.empty() ? root : conda_root; !own.empty()) {
            add(own);
        }
        if (const std::string xdg = variable("XDG_CONFIG_HOME"); !xdg.empty()) {
            add(xdg + "/conda");
        }
        add(home + "/.config/conda");
        add(home + "/.conda");
        path.push_back(home + "/.condarc");
        const std::string active = variable("CONDA_PREFIX");
        if (const std::string& prefix = active.empty() ? root : active; !prefix.empty()) {
            add(prefix);
        }
        add_variable(path, "CONDARC");
        return path;
    }
    // libmamba's: conda's, and its own with more weight.
    [[nodiscard]] Paths mamba_search_path(const std::string& root) const {
        const std::string& home = sources.context.home;
        const std::string xdg = variable("XDG_CONFIG_HOME");
        Paths path = conda_search_path(root);
        path.insert(path.begin(),
                    {"/etc/conda/.mambarc", "/var/lib/conda/.mambarc", root + "/.mambarc"});
        for (const std::string& directory :
             {(xdg.empty() ? home + "/.config" : xdg) + "/mamba", home + "/.mamba"}) {
            path.insert(path.end(), {directory + "/.mambarc", directory + "/mambarc",
                                     directory + "/mambarc.d"});
        }
        path.push_back(home + "/.mambarc");
        add_variable(path, "MAMBARC");
        return path;
    }
    void add_variable(Paths& path, std::string_view name) const {
        if (const std::string value = variable(name); !value.empty()) {
            path.push_back(value);
        }
    }

    std::vector<CondarcList> lists_of(const Paths& search_path) {
        std::vector<CondarcList> lists;
        Paths seen;
        for (const std::string& written : search_path) {
            add_sources(written, lists, seen);
        }
        return lists;
    }

    // CONDA_ENVS_DIRS or CONDA_ENVS_PATH; conda and mamba refuse to work with both.
    Paths variables_directories() {
        Paths directories;
        for (const char* name : {"CONDA_ENVS_DIRS", "CONDA_ENVS_PATH"}) {
            const std::string value = variable(name);
            for (const std::string_view part : split(value, ':')) {
                if (const auto directory = trim(part); !directory.empty()) {
                    add_once(directories, std::string(directory));
                }
            }
        }
        if (!variable("CONDA_ENVS_DIRS").empty() && !variable("CONDA_ENVS_PATH").empty()) {
            add_once(found.notes, "CONDA_ENVS_DIRS and CONDA_ENVS_PATH are both set: conda "
                                  "accepts only one of them");
        }
        return directories;
    }

    SearchTool conda(const std::string& root) {
        SearchTool tool{"conda", root, {}};
        std::vector<CondarcList> lists = lists_of(conda_search_path(root));
        CondarcList variables;
        for (const std::string& directory : variables_directories()) {
            variables.items.push_back({directory, CondarcMark::None});
        }
        lists.push_back(std::move(variables));
        Paths written = merge_condarc(lists);
        const std::string own = root.empty() ? std::string() : root + "/envs";
        const std::string users = sources.context.home + "/.conda/envs";
        const bool writable = !root.empty() && sources.may_write(root + "/conda-meta/history");
        written.push_back(writable ? own : users);
        written.push_back(writable ? users : own);
        for (const std::string& directory : written) {
            if (!directory.empty()) {
                add_once(tool.directories, expanded(directory));
            }
        }
        return tool;
    }

    SearchTool mamba(const std::string& root) {
        SearchTool tool{"mamba", root, {}};
        Paths written = variables_directories();
        std::ranges::reverse(written); // libmamba puts each before the one before
        std::vector<CondarcList> lists = lists_of(mamba_search_path(root));
        for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
            for (const CondarcItem& item : list->items) {
                written.push_back(item.text);
            }
        }
        written.push_back(root + "/envs");
        for (const std::string& directory : written) {
            add_once(tool.directories, expanded(directory));
        }
        return tool;
    }

    // The project that the caller stands in.
    [[nodiscard]] std::string pixi_workspace() const {
        if (const std::string root = variable("PIXI_PROJECT_ROOT"); !root.empty()) {
            return root;
        }
        const std::string global = pixi_home();
        std::string_view directory = sources.context.directory;
        while (directory.size() > 1) {
            const std::string candidate = std::string(directory) + "/.pixi";
            if (candidate != global && exists(candidate + "/envs")) {
                return std::string(directory);
            }
            directory = host::parent_path(directory);
        }
        return {};
    }
    [[nodiscard]] std::string pixi_home() const {
        const std::string home = variable("PIXI_HOME");
        return home.empty() ? sources.context.home + "/.pixi" : home;
    }

    void add_active() {
        const std::string named = variable("CONDA_EXE");
        const std::string conda_program = named.empty() ? on_path({"conda"}) : named;
        const bool has_conda = !conda_program.empty();
        const bool has_mamba = !variable("MAMBA_EXE").empty() ||
                               !variable("MAMBA_ROOT_PREFIX").empty() ||
                               (!has_conda && !on_path({"micromamba", "mamba"}).empty());
        const std::string root = has_mamba ? mamba_root() : std::string();
        if (!root.empty()) {
            found.active.push_back(mamba(root));
        }
        // Without either: where conda's configuration says.
        auto& tools = has_conda || root.empty() ? found.active : found.others;
        tools.insert(tools.begin(), conda(root_of_program(conda_program)));
        if (const std::string workspace = pixi_workspace(); !workspace.empty()) {
            found.active.push_back({"pixi", {}, {workspace + "/.pixi/envs"}});
        }
    }

    void add_other(SearchTool tool) {
        const auto has_it = [&](const SearchTool& known) {
            return std::ranges::find(known.directories, tool.directories.front()) !=
                   known.directories.end();
        };
        if (!std::ranges::any_of(found.active, has_it) &&
            !std::ranges::any_of(found.others, has_it)) {
            found.others.push_back(std::move(tool));
        }
    }

    void add_others() {
        const std::string active = variable("CONDA_PREFIX");
        if (!active.empty()) {
            const std::string_view parent = host::parent_path(active);
            const bool named = host::base_name(parent) == "envs";
            const std::string root(named ? host::parent_path(parent) : active);
            const bool is_root = named || exists(root + "/condabin/conda");
            add_other({"conda", is_root ? root : std::string(), {root + "/envs"}});
        }
        for (const std::string& root : host::usual_conda_roots(sources.context.home)) {
            if (is_directory(root + "/conda-meta") || is_directory(root + "/envs")) {
                add_other({"conda", root, {root + "/envs"}});
            }
        }
        for (const std::string& root : mamba_defaults()) {
            if (is_root_of_mamba(root)) {
                add_other({"mamba", root, {root + "/envs"}});
            }
        }
        found.others.push_back({"pixi global", {}, {pixi_home() + "/envs"}});
    }

    void add_registered() {
        const std::string list =
            text_of(sources.context.home + "/.conda/environments.txt").value_or("");
        for (const std::string_view line : split(list, '\n')) {
            if (const std::string_view path = trim(line); path.starts_with('/')) {
                add_once(found.registered, std::string(path));
            }
        }
    }
};

} // namespace

std::string expand_path(const std::string& written, const PathContext& context,
                        std::set<std::string>& unset) {
    const std::string expanded =
        with_home(with_variables(written, *context.environment, unset), context.home);
    const std::string path =
        (std::filesystem::path(context.directory) / expanded).lexically_normal();
    return std::string(without_end_slashes(path));
}

SearchTools search_tools(const NameSources& sources) {
    return Search{sources}.take();
}

} // namespace cudaenv::names
