#include "host/modulefile.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace cudaenv::host {

namespace {

// Of the file, and under their own names what both languages call to ask for the module's name.
using Variables = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 4> k_home_names = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT",
                                                          "CUDADIR"};

bool is_name(char c) {
    return is_alnum(c) || c == '_';
}

std::string_view name_at(std::string_view text) {
    return text.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_name) - text.begin()));
}

// Collects what the two languages find.
class Found {
public:
    void home(std::string_view directory) { add(m_homes, directory); }
    void path(std::string_view directories) {
        for (const auto written : split(directories, ':')) {
            const auto directory = without_end_slashes(written);
            if (base_name(directory) == "bin") {
                add(m_roots, parent_path(directory));
            }
        }
    }
    std::vector<std::string> take() { return m_homes.empty() ? m_roots : m_homes; }

private:
    static void add(std::vector<std::string>& into, std::string_view directory) {
        directory = without_end_slashes(directory);
        if (directory.size() > 1 && directory.front() == '/') {
            add_once(into, std::string(directory));
        }
    }

    std::vector<std::string> m_homes;
    std::vector<std::string> m_roots;
};

// What a line sets `name` to, by `verb`.
struct Line {
    std::string_view verb; // as in Tcl; "set" for a variable of the file
    std::string_view name;
    std::optional<std::string> value; // none: not plain
};

// `$name`, `${name}`, [module-info ...], and [file join ...], whose blanks become slashes.
std::optional<std::string> tcl_value(std::string_view text, const Variables& variables) {
    constexpr std::string_view k_join = "[file join ";
    std::string value;
    int joins = 0;
    while (!text.empty()) {
        const char c = text.front();
        if (text.starts_with(k_join)) {
            ++joins;
            text.remove_prefix(k_join.size());
        } else if (c == '$' || c == '[') {
            const bool closed = c == '[' || text.starts_with("${");
            const std::string_view from = text.substr(text.starts_with("${") ? 2 : 1);
            const auto name =
                closed ? from.substr(0, from.find(c == '[' ? ']' : '}')) : name_at(from);
            const auto known = variables.find(name);
            if (known == variables.end() || (closed && name.size() == from.size())) {
                return std::nullopt;
            }
            value += known->second;
            text = from.substr(name.size() + (closed ? 1 : 0));
        } else if (c == ']' && joins > 0) {
            --joins;
            text.remove_prefix(1);
        } else {
            value += c == ' ' && joins > 0 ? '/' : c;
            text.remove_prefix(1);
        }
    }
    return joins == 0 ? std::optional(value) : std::nullopt;
}

Line tcl_line(std::string_view line, const Variables& variables) {
    Line read;
    for (std::string_view* word : {&read.verb, &read.name}) {
        *word = line.substr(0, line.find_first_of(" \t"));
        line = trim(line.substr(word->size()));
    }
    if (line.starts_with('"') || line.starts_with('{')) {
        const auto end = line.find(line.front() == '"' ? '"' : '}', 1);
        line = end == std::string_view::npos ? std::string_view() : line.substr(1, end - 1);
    } else if (line.starts_with('[')) {
        line = line.substr(0, line.rfind(']') + 1);
    } else {
        line = line.substr(0, line.find_first_of(" \t;"));
    }
    if (!line.empty()) {
        read.value = tcl_value(line, variables);
    }
    return read;
}

// Literals, variables, `..`, pathJoin(...), myModuleVersion() and its like, up to a comma or the
// parenthesis that closes what surrounds it.
std::optional<std::string> lua_value(std::string_view text, const Variables& variables) {
    std::string value;
    for (int depth = 0; !text.empty();) {
        const char c = text.front();
        const bool is_long = text.starts_with("[[");
        if (c == '"' || c == '\'' || is_long) {
            const std::size_t mark = is_long ? 2 : 1;
            const auto end = text.find(is_long ? "]]" : text.substr(0, 1), mark);
            if (end == std::string_view::npos) {
                return std::nullopt;
            }
            value += text.substr(mark, end - mark);
            text.remove_prefix(end + mark);
        } else if (const auto name = name_at(text); !name.empty()) {
            const auto known = variables.find(name);
            if (known == variables.end() && name != "pathJoin") {
                return std::nullopt;
            }
            value += known == variables.end() ? std::string() : known->second;
            text.remove_prefix(name.size());
        } else if (depth == 0 && (c == ',' || c == ')')) {
            break;
        } else if (c == ',') {
            value += value.ends_with('/') ? "" : "/";
            text.remove_prefix(1);
        } else if (c == '(' || c == ')' || is_space(c) || text.starts_with("..")) {
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            text.remove_prefix(c == '.' ? 2 : 1);
        } else {
            return std::nullopt;
        }
    }
    return value;
}

Line lua_line(std::string_view line, const Variables& variables) {
    constexpr std::array<std::array<std::string_view, 2>, 4> k_verbs = {
        {{"setenv", "setenv"},
         {"pushenv", "pushenv"},
         {"prepend_path", "prepend-path"},
         {"append_path", "append-path"}}};
    if (line.starts_with("local ")) {
        line = trim(line.substr(6));
    }
    const auto word = name_at(line);
    const auto rest = trim(line.substr(word.size()));
    if (rest.starts_with('=')) {
        return {"set", word, lua_value(rest.substr(1), variables)};
    }
    const auto verb = std::ranges::find(k_verbs, word, [](const auto& row) { return row[0]; });
    const auto comma = rest.find(',');
    if (verb == k_verbs.end() || !rest.starts_with('(') || comma == std::string_view::npos) {
        return {};
    }
    const auto name = trim(rest.substr(1, comma - 1));
    return {(*verb)[1], name.size() < 2 ? name : name.substr(1, name.size() - 2),
            lua_value(rest.substr(comma + 1), variables)};
}

} // namespace

std::vector<std::string> parse_modulefile(std::string_view text, std::string_view path) {
    const bool lua = path.ends_with(".lua");
    if (lua) {
        path.remove_suffix(4);
    } else if (!text.starts_with("#%Module")) { // as every Tcl modulefile does
        return {};
    }
    const std::string version(base_name(path));
    const std::string name(base_name(parent_path(path)));
    Variables variables = {{"module-info version", version},
                           {"module-info name", name + '/' + version},
                           {"myModuleVersion", version},
                           {"myModuleName", name},
                           {"myModuleFullName", name + '/' + version}};
    Found found;
    for (const auto whole : split(text, '\n')) {
        const auto line = trim(whole);
        if (line.starts_with(lua ? "--" : "#")) {
            continue;
        }
        Line read = lua ? lua_line(line, variables) : tcl_line(line, variables);
        if (!read.value) {
            continue;
        }
        const bool sets = read.verb == "setenv" || read.verb == "pushenv";
        if (read.verb == "set") {
            variables[std::string(read.name)] = *std::move(read.value);
        } else if (sets && std::ranges::count(k_home_names, read.name) > 0) {
            found.home(*read.value);
        } else if ((read.verb == "prepend-path" || read.verb == "append-path") &&
                   read.name == "PATH") {
            found.path(*read.value);
        }
    }
    return found.take();
}

} // namespace cudaenv::host
