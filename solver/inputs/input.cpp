#include "solver/inputs/input.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "solver/inputs/readers.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::inputs {

namespace {

constexpr std::array<std::string_view, 5> k_names = {
    "pixi.toml", "pyproject.toml", "environment.yml", "environment.yaml", "requirements.txt"};
constexpr std::array<std::string_view, 5> k_endings = {".txt", ".in", ".yml", ".yaml", ".toml"};
constexpr std::string_view k_read =
    "it reads requirements.txt, environment.yml, pyproject.toml and pixi.toml";

enum class Form { Requirements, EnvironmentYaml, Toml };

// Of a name that says nothing, by the first line with content.
Form form_of(std::string_view name, std::string_view text) {
    if (name.ends_with(".toml")) {
        return Form::Toml;
    }
    if (name.ends_with(".yml") || name.ends_with(".yaml")) {
        return Form::EnvironmentYaml;
    }
    for (const std::string_view line : split(text, '\n')) {
        const std::string_view content = trim(line);
        if (content.empty() || content[0] == '#') {
            continue;
        }
        for (const char* key : {"name:", "channels:", "dependencies:", "---"}) {
            if (content.starts_with(key)) {
                return Form::EnvironmentYaml;
            }
        }
        return content[0] == '[' ? Form::Toml : Form::Requirements;
    }
    return Form::Requirements;
}

bool is_pixi_manifest(std::string_view name, const pins::TomlTable& entries) {
    if (name == "pixi.toml" || name == "pyproject.toml") {
        return name == "pixi.toml";
    }
    const auto* project = find_entry(entries, "project");
    const auto* table = project ? std::get_if<pins::TomlTable>(&project->value.data) : nullptr;
    return find_entry(entries, "workspace") != nullptr ||
           find_entry(entries, "dependencies") != nullptr ||
           find_entry(entries, "pypi-dependencies") != nullptr ||
           (table != nullptr && find_entry(*table, "channels") != nullptr);
}

// The label of an index says something of PyTorch's packages only.
void drop_unused_label(Input& input) {
    const bool torch = std::ranges::any_of(input.wanted, [](const Entry& entry) {
        return entry.text.starts_with("torch") || entry.text.starts_with("xformers") ||
               entry.text.starts_with("pytorch");
    });
    if (input.index_label && (!torch || input.index_label->text.empty())) {
        input.index_label.reset();
    }
}

} // namespace

std::span<const std::string_view> input_file_names() {
    return k_names;
}

InputWord split_input_word(std::string_view word) {
    InputWord split_word;
    const std::size_t open = word.ends_with(']') ? word.rfind('[') : std::string_view::npos;
    split_word.path = std::string(word.substr(0, open));
    if (open != std::string_view::npos) {
        for (const auto extra : split(word.substr(open + 1, word.size() - open - 2), ',')) {
            split_word.extras.push_back(specs::normalize_project_name(trim(extra)));
        }
    }
    return split_word;
}

bool is_input_name(std::string_view word) {
    const std::string path = split_input_word(word).path;
    const bool is_url = path.find("://") != std::string::npos;
    return !is_url &&
           (path == "." || path == ".." || path.starts_with("./") || path.starts_with("../") ||
            path.starts_with('/') || std::ranges::any_of(k_endings, [&](std::string_view ending) {
                return path.ends_with(ending) && path.size() > ending.size();
            }));
}

Result<Input> read_input(std::string_view word, const ReadFile& read, const Target& target) {
    const InputWord split_word = split_input_word(word);
    const std::string& path = split_word.path;
    const std::string_view name = std::string_view(path).substr(
        path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    const auto refused = [&](const std::string& message) {
        return tl::unexpected(Error{ErrorKind::BadInput, "not-an-input-file", message,
                                    printable(path), 0, 0, std::string(k_read)});
    };
    for (const char* other : {"Pipfile", "setup.py", "setup.cfg", "pixi.lock", "uv.lock",
                              "poetry.lock", "conda-lock.yml", "meta.yaml", "cudaenv.lock"}) {
        if (name == other) {
            return refused("cudaenv does not read " + std::string(other));
        }
    }
    if (name == "cudaenv.toml" || name == "cudaenv.local.toml") {
        return refused("cudaenv reads this file by itself, without -r");
    }
    CUDAENV_TRY(const std::string text, read(path));
    if (text.find('\0') != std::string::npos) {
        return refused("this is not a text file");
    }
    Input input;
    const Form form = form_of(name, text);
    if (form != Form::Toml && !split_word.extras.empty()) {
        return tl::unexpected(Error{ErrorKind::BadInput, "unknown-extra",
                                    "this file has no extras or groups", printable(path), 0, 0,
                                    "leave out the brackets"});
    }
    if (form == Form::Requirements) {
        input.is_pips = true;
        CUDAENV_TRY_VOID(parse_requirements(input, text, path, read, target));
    } else if (form == Form::EnvironmentYaml) {
        CUDAENV_TRY_VOID(parse_environment_yaml(input, text, path, read, target));
    } else {
        CUDAENV_TRY(const auto entries, pins::parse_toml(text, path));
        if (is_pixi_manifest(name, entries)) {
            if (split_word.extras.size() > 1) {
                return tl::unexpected(Error{ErrorKind::BadInput, "unknown-extra",
                                            "several environments are named", printable(path), 0, 0,
                                            "name one: pixi resolves each by itself"});
            }
            CUDAENV_TRY_VOID(
                parse_pixi(input, entries, path,
                           split_word.extras.empty() ? "default" : split_word.extras[0], target));
        } else {
            const auto* tool = find_entry(entries, "tool");
            const auto* tools = tool ? std::get_if<pins::TomlTable>(&tool->value.data) : nullptr;
            input.is_pips = tools == nullptr || find_entry(*tools, "pixi") == nullptr;
            CUDAENV_TRY_VOID(parse_pyproject(input, entries, path, split_word.extras, target));
        }
    }
    drop_unused_label(input);
    return input;
}

} // namespace cudaenv::inputs
