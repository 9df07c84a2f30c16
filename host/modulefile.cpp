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

using Variables = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::string_view, 4> k_home_names = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT",
                                                          "CUDADIR"};

struct ModuleName {
    std::string name;
    std::string version;
};

bool is_name(char c) {
    return is_alnum(c) || c == '_';
}

// Collects what the two languages find.
class Found {
public:
    void home(std::string_view directory) { add(m_homes, directory); }
    void path(std::string_view directories) {
        for (auto directory : split(directories, ':')) {
            while (directory.size() > 1 && directory.ends_with('/')) {
                directory.remove_suffix(1);
            }
            if (base_name(directory) == "bin") {
                add(m_roots, parent_path(directory));
            }
        }
    }
    std::vector<std::string> take() { return m_homes.empty() ? m_roots : m_homes; }

private:
    static void add(std::vector<std::string>& into, std::string_view directory) {
        while (directory.size() > 1 && directory.ends_with('/')) {
            directory.remove_suffix(1);
        }
        if (directory.size() > 1 && directory.front() == '/' &&
            std::find(into.begin(), into.end(), directory) == into.end()) {
            into.emplace_back(directory);
        }
    }

    std::vector<std::string> m_homes;
    std::vector<std::string> m_roots;
};

// --- Tcl ----------------------------------------------------------------------------------------

// Words of a command line; quotes and braces hold a word together, [ ] too.
std::vector<std::string> tcl_words(std::string_view line) {
    std::vector<std::string> words;
    std::size_t i = 0;
    while (i < line.size()) {
        if (line[i] == ' ' || line[i] == '\t') {
            ++i;
            continue;
        }
        if (line[i] == ';' || line[i] == '#') {
            break;
        }
        std::string word;
        int brackets = 0;
        const char quote = line[i] == '"' || line[i] == '{' ? line[i] : '\0';
        if (quote != '\0') {
            ++i;
        }
        for (; i < line.size(); ++i) {
            const char c = line[i];
            brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
            if (brackets <= 0 && ((quote == '"' && c == '"') || (quote == '{' && c == '}'))) {
                ++i;
                break;
            }
            if (quote == '\0' && brackets <= 0 && (c == ' ' || c == '\t' || c == ';')) {
                break;
            }
            word += c;
        }
        words.push_back(std::move(word));
    }
    return words;
}

// Of commands within commands; no path is written like that, and it bounds the recursion.
constexpr int k_deepest = 32;

std::optional<std::string> tcl_value(std::string_view word, const Variables& variables,
                                     const ModuleName& module);

// [file join a b], [module-info version], [module-info name].
std::optional<std::string> tcl_command(std::string_view command, const Variables& variables,
                                       const ModuleName& module) {
    const auto words = tcl_words(command);
    if (words.size() > 2 && words[0] == "file" && words[1] == "join") {
        std::string joined;
        for (std::size_t i = 2; i < words.size(); ++i) {
            const auto part = tcl_value(words[i], variables, module);
            if (!part) {
                return std::nullopt;
            }
            joined = part->starts_with('/') || joined.empty() ? *part : joined + '/' + *part;
        }
        return joined;
    }
    if (words.size() == 2 && words[0] == "module-info") {
        if (words[1] == "version") {
            return module.version;
        }
        if (words[1] == "name") {
            return module.name + '/' + module.version;
        }
    }
    return std::nullopt;
}

std::optional<std::string> tcl_value(std::string_view word, const Variables& variables,
                                     const ModuleName& module) {
    std::string value;
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (word[i] == '[') {
            int depth = 0;
            std::size_t end = i;
            for (; end < word.size(); ++end) {
                depth += word[end] == '[' ? 1 : word[end] == ']' ? -1 : 0;
                if (depth == 0) {
                    break;
                }
                if (depth > k_deepest) {
                    return std::nullopt;
                }
            }
            const auto inner = end < word.size()
                                   ? tcl_command(word.substr(i + 1, end - i - 1), variables, module)
                                   : std::nullopt;
            if (!inner) {
                return std::nullopt;
            }
            value += *inner;
            i = end;
        } else if (word[i] == '$') {
            const bool braces = i + 1 < word.size() && word[i + 1] == '{';
            std::size_t begin = i + (braces ? 2 : 1);
            std::size_t end = begin;
            while (end < word.size() && (braces ? word[end] != '}' : is_name(word[end]))) {
                ++end;
            }
            const auto known = variables.find(word.substr(begin, end - begin));
            if (known == variables.end()) {
                return std::nullopt;
            }
            value += known->second;
            i = braces ? end : end - 1;
        } else {
            value += word[i];
        }
    }
    return value;
}

std::vector<std::string> parse_tcl(std::string_view text, const ModuleName& module) {
    Found found;
    Variables variables;
    for (const auto line : split(text, '\n')) {
        const auto words = tcl_words(trim(line));
        if (words.size() < 3) {
            continue;
        }
        const auto value = tcl_value(words[2], variables, module);
        if (!value) {
            continue;
        }
        if (words[0] == "set") {
            variables[words[1]] = *value;
        } else if (words[0] == "setenv" || words[0] == "pushenv") {
            variables["env(" + words[1] + ")"] = *value;
            if (std::find(k_home_names.begin(), k_home_names.end(), words[1]) !=
                k_home_names.end()) {
                found.home(*value);
            }
        } else if ((words[0] == "prepend-path" || words[0] == "append-path") &&
                   words[1] == "PATH") {
            found.path(*value);
        }
    }
    return found.take();
}

// --- Lua ----------------------------------------------------------------------------------------

// A string expression: literals, variables, `..`, pathJoin(...), myModuleVersion(), parentheses.
class LuaExpression {
public:
    LuaExpression(std::string_view text, const Variables& variables, const ModuleName& module)
        : m_text(text), m_variables(&variables), m_module(&module) {}

    // The value up to a comma, a closing parenthesis or the end.
    std::optional<std::string> value() {
        auto left = term();
        while (left && rest().starts_with("..")) {
            m_at += 2;
            const auto right = term();
            if (!right) {
                return std::nullopt;
            }
            *left += *right;
        }
        return left;
    }
    // "(" value ("," value)* ")"; empty where it is none or a value is not known.
    std::vector<std::string> arguments() {
        std::vector<std::string> values;
        if (!take('(')) {
            return {};
        }
        do {
            auto next = value();
            if (!next) {
                return {};
            }
            values.push_back(std::move(*next));
        } while (take(','));
        return values;
    }

private:
    std::string_view rest() {
        while (m_at < m_text.size() && is_space(m_text[m_at])) {
            ++m_at;
        }
        return m_text.substr(std::min(m_at, m_text.size()));
    }
    bool take(char c) {
        if (rest().starts_with(c)) {
            ++m_at;
            return true;
        }
        return false;
    }
    std::string_view name() {
        const auto text = rest();
        std::size_t length = 0;
        while (length < text.size() && is_name(text[length])) {
            ++length;
        }
        m_at += length;
        return text.substr(0, length);
    }

    std::optional<std::string> term() {
        if (++m_depth > k_deepest) {
            return std::nullopt;
        }
        auto result = term_inside();
        --m_depth;
        return result;
    }

    std::optional<std::string> term_inside() {
        const auto text = rest();
        if (text.starts_with('"') || text.starts_with('\'')) {
            const auto end = text.find(text.front(), 1);
            if (end == std::string_view::npos) {
                return std::nullopt;
            }
            m_at += end + 1;
            return std::string(text.substr(1, end - 1));
        }
        if (text.starts_with("[[")) {
            const auto end = text.find("]]");
            if (end == std::string_view::npos) {
                return std::nullopt;
            }
            m_at += end + 2;
            return std::string(text.substr(2, end - 2));
        }
        if (take('(')) {
            auto inner = value();
            return take(')') ? inner : std::nullopt;
        }
        const auto word = name();
        if (!rest().starts_with('(')) {
            const auto known = m_variables->find(word);
            return known == m_variables->end() ? std::nullopt : std::optional(known->second);
        }
        return call(word);
    }

    std::optional<std::string> call(std::string_view function) {
        if (function == "pathJoin") {
            const auto parts = arguments();
            std::string joined;
            for (const auto& part : parts) {
                joined += joined.empty() || joined.ends_with('/') ? part : '/' + part;
            }
            return take(')') && !parts.empty() ? std::optional(joined) : std::nullopt;
        }
        if (!take('(') || !take(')')) {
            return std::nullopt;
        }
        if (function == "myModuleVersion") {
            return m_module->version;
        }
        if (function == "myModuleName") {
            return m_module->name;
        }
        if (function == "myModuleFullName") {
            return m_module->name + '/' + m_module->version;
        }
        return std::nullopt;
    }

    std::string_view m_text;
    const Variables* m_variables;
    const ModuleName* m_module;
    std::size_t m_at = 0;
    int m_depth = 0;
};

std::vector<std::string> parse_lua(std::string_view text, const ModuleName& module) {
    Found found;
    Variables variables;
    for (auto line : split(text, '\n')) {
        line = trim(line);
        if (line.starts_with("--")) {
            continue;
        }
        if (line.starts_with("local ")) {
            line = trim(line.substr(6));
        }
        std::size_t length = 0;
        while (length < line.size() && is_name(line[length])) {
            ++length;
        }
        const auto word = line.substr(0, length);
        const auto rest = trim(line.substr(length));
        if (word.empty()) {
            continue;
        }
        if (rest.starts_with('=') && !rest.starts_with("==")) {
            if (auto value = LuaExpression(rest.substr(1), variables, module).value()) {
                variables[std::string(word)] = std::move(*value);
            }
            continue;
        }
        const auto arguments = LuaExpression(rest, variables, module).arguments();
        if (arguments.size() < 2) {
            continue;
        }
        if (word == "setenv" || word == "pushenv") {
            if (std::find(k_home_names.begin(), k_home_names.end(), arguments[0]) !=
                k_home_names.end()) {
                found.home(arguments[1]);
            }
        } else if ((word == "prepend_path" || word == "append_path") && arguments[0] == "PATH") {
            found.path(arguments[1]);
        }
    }
    return found.take();
}

} // namespace

std::vector<std::string> parse_modulefile(std::string_view text, std::string_view path) {
    const bool lua = path.ends_with(".lua");
    if (lua) {
        path.remove_suffix(4);
    }
    const ModuleName module{std::string(base_name(parent_path(path))),
                            std::string(base_name(path))};
    if (lua) {
        return parse_lua(text, module);
    }
    // A Tcl modulefile says so in its first bytes.
    return text.starts_with("#%Module") ? parse_tcl(text, module) : std::vector<std::string>();
}

} // namespace cudaenv::host
