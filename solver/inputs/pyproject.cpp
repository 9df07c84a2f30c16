#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/inputs/readers.hpp"

#include <algorithm>
#include <set>

namespace cudaenv::inputs {

namespace {

using pins::TomlArray;
using pins::TomlEntry;
using pins::TomlTable;

constexpr std::string_view k_list = R"(["torch==2.4.1"])";

const TomlTable* inner_table(const TomlTable& table, std::string_view key) {
    const TomlEntry* entry = find_entry(table, key);
    return entry ? std::get_if<TomlTable>(&entry->value.data) : nullptr;
}

class PyprojectParser {
public:
    PyprojectParser(Input& input, const TomlTable& entries, const std::string& path,
                    std::span<const std::string> extras, Target target)
        : m_input(input), m_entries(entries), m_path(path), m_chosen(extras.begin(), extras.end()),
          m_target(std::move(target)) {}

    Result<void> read() {
        const TomlTable none;
        const TomlTable* project = inner_table(m_entries, "project");
        const TomlTable* tool = inner_table(m_entries, "tool");
        tool = tool ? tool : &none;
        const TomlTable* pixi = inner_table(*tool, "pixi");
        const TomlEntry* groups = find_entry(m_entries, "dependency-groups");
        if (groups != nullptr) {
            CUDAENV_TRY(m_groups, table_of(*groups, m_path));
        }
        if (project == nullptr && pixi == nullptr && m_groups == nullptr) {
            return error_at({m_path, 1, 1}, "no-dependencies", no_project(*tool),
                            "expected [project] with dependencies = " + std::string(k_list));
        }
        if (project != nullptr) {
            CUDAENV_TRY_VOID(read_project(*project));
        }
        for (const std::string& extra : m_chosen) {
            CUDAENV_TRY_VOID(choose(extra, pixi != nullptr));
        }
        note_what_is_left();
        if (const TomlTable* uv = inner_table(*tool, "uv")) {
            CUDAENV_TRY_VOID(read_uv(*uv));
        }
        if (pixi != nullptr) {
            return parse_pixi(m_input, *pixi, m_path, m_pixi_environment, m_target);
        }
        return {};
    }

private:
    static std::string no_project(const TomlTable& tool) {
        return inner_table(tool, "poetry") != nullptr
                   ? "Poetry's own tables are not read, and there is no [project]"
                   : "no [project], [dependency-groups] or [tool.pixi]";
    }

    Result<void> read_project(const TomlTable& project) {
        if (const TomlEntry* name = find_entry(project, "name")) {
            if (const auto* text = std::get_if<std::string>(&name->value.data)) {
                m_name = specs::normalize_project_name(*text);
            }
        }
        if (const TomlEntry* python = find_entry(project, "requires-python")) {
            CUDAENV_TRY(const auto text, string_of(python->value, m_path, R"(">=3.10")"));
            FilePlace place = at(m_path, python->value.at);
            ++place.column; // past the quote
            CUDAENV_TRY_VOID(add_python(m_input, text, place, m_target));
        }
        if (const TomlEntry* optional = find_entry(project, "optional-dependencies")) {
            CUDAENV_TRY(m_optional, table_of(*optional, m_path));
        }
        if (const TomlEntry* dependencies = find_entry(project, "dependencies")) {
            CUDAENV_TRY_VOID(requirements(*dependencies));
        } else if (is_dynamic(project)) {
            m_input.notes.push_back(
                printable(m_path) +
                ": its dependencies are dynamic: the build system computes them, "
                "this file does not list them");
        }
        return {};
    }

    static bool is_dynamic(const TomlTable& project) {
        const TomlEntry* dynamic = find_entry(project, "dynamic");
        const auto* list = dynamic ? std::get_if<TomlArray>(&dynamic->value.data) : nullptr;
        return list != nullptr && std::ranges::any_of(*list, [](const pins::TomlValue& value) {
                   const auto* text = std::get_if<std::string>(&value.data);
                   return text != nullptr && *text == "dependencies";
               });
    }

    Result<void> requirements(const TomlEntry& entry) {
        CUDAENV_TRY(const TomlArray* list,
                    array_of(entry, m_path, "dependencies = " + std::string(k_list)));
        for (const auto& value : *list) {
            CUDAENV_TRY(const auto text, string_of(value, m_path, R"("torch==2.4.1")"));
            CUDAENV_TRY_VOID(requirement(text, value));
        }
        return {};
    }

    Result<void> requirement(std::string_view text, const pins::TomlValue& value) {
        FilePlace place = at(m_path, value.at);
        ++place.column; // past the quote
        // all = ["thisproject[gpu,docs]"]
        const auto parsed = specs::Requirement::parse(text);
        if (parsed && !m_name.empty() && parsed->normalized_name() == m_name) {
            for (const std::string& extra : parsed->extras) {
                CUDAENV_TRY_VOID(choose(specs::normalize_project_name(extra), false));
            }
            return {};
        }
        return add_requirement(m_input, text, place, m_target);
    }

    static const TomlEntry* normalized_entry(const TomlTable* table, std::string_view name) {
        if (table == nullptr) {
            return nullptr;
        }
        return find_pointer_if(*table, [&](const TomlEntry& entry) {
            return specs::normalize_project_name(entry.key) == name;
        });
    }

    Result<void> choose(const std::string& name, bool may_be_pixis) {
        if (const TomlEntry* extra = normalized_entry(m_optional, name)) {
            return m_done.insert("extra " + name).second ? requirements(*extra) : Result<void>{};
        }
        if (normalized_entry(m_groups, name) != nullptr) {
            return group(name);
        }
        if (may_be_pixis) {
            m_pixi_environment = name;
            return {};
        }
        const auto known = names_of(m_optional, m_groups);
        return error_at({m_path, 1, 1}, "unknown-extra",
                        "there is no extra or dependency group " + quoted(name),
                        known.empty() ? "the file has neither" : "it has " + join(known, ", "));
    }

    Result<void> group(const std::string& name) {
        if (!m_done.insert("group " + name).second) {
            return {};
        }
        const TomlEntry& entry = *normalized_entry(m_groups, name);
        CUDAENV_TRY(const TomlArray* list,
                    array_of(entry, m_path, "test = " + std::string(k_list)));
        for (const auto& value : *list) {
            if (const auto* include = std::get_if<TomlTable>(&value.data)) {
                const TomlEntry* named = find_entry(*include, "include-group");
                if (named == nullptr) {
                    return error_at(at(m_path, value.at), "bad-value",
                                    "a table here has to be { include-group = NAME }",
                                    R"(as in { include-group = "test" })");
                }
                CUDAENV_TRY(const auto text, string_of(named->value, m_path, R"("test")"));
                const std::string other = specs::normalize_project_name(text);
                if (normalized_entry(m_groups, other) == nullptr) {
                    return error_at(at(m_path, named->value.at), "unknown-extra",
                                    "there is no dependency group " + quoted(text),
                                    "it has " + join(names_of(nullptr, m_groups), ", "));
                }
                CUDAENV_TRY_VOID(group(other));
                continue;
            }
            CUDAENV_TRY(const auto text, string_of(value, m_path, R"("torch==2.4.1")"));
            CUDAENV_TRY_VOID(requirement(text, value));
        }
        return {};
    }

    static std::vector<std::string> names_of(const TomlTable* first, const TomlTable* second) {
        std::vector<std::string> names;
        for (const TomlTable* table : {first, second}) {
            for (const TomlEntry& entry : table ? *table : TomlTable{}) {
                names.push_back(printable(entry.key));
            }
        }
        return names;
    }

    void note_what_is_left() {
        std::vector<std::string> left;
        for (const TomlTable* table : {m_optional, m_groups}) {
            const std::string kind = table == m_optional ? "extra " : "group ";
            for (const TomlEntry& entry : table ? *table : TomlTable{}) {
                if (!m_done.contains(kind + specs::normalize_project_name(entry.key))) {
                    left.push_back(printable(entry.key));
                }
            }
        }
        if (!left.empty()) {
            m_input.notes.push_back(
                printable(m_path) + ": not part of the question: " + join(left, ", ") +
                "; to add one: -r '" + printable(m_path) + '[' + left.front() + "]'");
        }
    }

    // [tool.uv.sources] torch = { index = "pytorch-cu128" }, or a list of such with markers and
    // extras. Only an index that a source of PyTorch's names decides about its build.
    Result<void> read_uv(const TomlTable& uv) {
        std::set<std::string> used;
        if (const TomlTable* sources = inner_table(uv, "sources")) {
            for (const TomlEntry& entry : *sources) {
                if (entry.key.starts_with("torch")) {
                    CUDAENV_TRY_VOID(source(entry.value, used));
                }
            }
        }
        for (const char* key : {"constraint-dependencies", "override-dependencies"}) {
            if (const TomlEntry* entry = find_entry(uv, key)) {
                CUDAENV_TRY(const TomlArray* list, array_of(*entry, m_path, k_list));
                for (const auto& value : *list) {
                    CUDAENV_TRY(const auto text, string_of(value, m_path, R"("torch<2.5")"));
                    FilePlace place = at(m_path, value.at);
                    ++place.column;
                    CUDAENV_TRY_VOID(
                        add_requirement(m_input, text, place, m_target, Strength::Bound));
                }
            }
        }
        const TomlEntry* index = find_entry(uv, "index");
        const auto* list = index ? std::get_if<TomlArray>(&index->value.data) : nullptr;
        for (const pins::TomlValue& value : list ? *list : TomlArray{}) {
            const auto* table = std::get_if<TomlTable>(&value.data);
            const TomlEntry* url = table ? find_entry(*table, "url") : nullptr;
            const TomlEntry* name = table ? find_entry(*table, "name") : nullptr;
            const auto* text = url ? std::get_if<std::string>(&url->value.data) : nullptr;
            const auto* named = name ? std::get_if<std::string>(&name->value.data) : nullptr;
            if (text != nullptr && (named == nullptr || used.contains(*named))) {
                add_index(m_input, *text, at(m_path, url->at));
            }
        }
        return {};
    }

    Result<void> source(const pins::TomlValue& value, std::set<std::string>& used) {
        if (const auto* list = std::get_if<TomlArray>(&value.data)) {
            for (const pins::TomlValue& one : *list) {
                CUDAENV_TRY_VOID(source(one, used));
            }
            return {};
        }
        const auto* table = std::get_if<TomlTable>(&value.data);
        const TomlEntry* index = table ? find_entry(*table, "index") : nullptr;
        if (index == nullptr) {
            return {};
        }
        if (const TomlEntry* marker = find_entry(*table, "marker")) {
            CUDAENV_TRY(const auto text, string_of(marker->value, m_path, "a marker"));
            auto parsed = specs::Marker::parse(text);
            if (!parsed) {
                return error_within(at(m_path, marker->value.at), std::move(parsed).error());
            }
            CUDAENV_TRY(const auto verdict, m_target.judge(*parsed));
            if (verdict == Target::Verdict::No) {
                return {};
            }
        }
        for (const char* key : {"extra", "group"}) {
            if (const TomlEntry* only = find_entry(*table, key)) {
                CUDAENV_TRY(const auto name, string_of(only->value, m_path, R"("cu128")"));
                if (!m_done.contains(std::string(key) + ' ' +
                                     specs::normalize_project_name(name))) {
                    return {};
                }
            }
        }
        CUDAENV_TRY(auto name, string_of(index->value, m_path, R"("pytorch-cu128")"));
        used.insert(std::move(name));
        return {};
    }

    Input& m_input;
    const TomlTable& m_entries;
    const std::string& m_path;
    std::vector<std::string> m_chosen;
    Target m_target;
    std::string m_name;
    const TomlTable* m_optional = nullptr;
    const TomlTable* m_groups = nullptr;
    std::set<std::string> m_done; // "extra gpu", "group test"
    std::string m_pixi_environment = "default";
};

} // namespace

Result<void> parse_pyproject(Input& input, const pins::TomlTable& entries, const std::string& path,
                             std::span<const std::string> extras, Target target) {
    return PyprojectParser(input, entries, path, extras, std::move(target)).read();
}

} // namespace cudaenv::inputs
