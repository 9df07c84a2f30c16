#include "cli/commands/activation_answer.hpp"

#include "base/json_members.hpp"
#include "cli/ask.hpp"
#include "cli/commands/named_environment.hpp"
#include "protocol/json_field.hpp"
#include "shellhooks/patch/update.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

namespace cudaenv::cli {

namespace {

tl::unexpected<Error> unreadable(const std::string& what) {
    return defect("cudaenvd's answer cannot be read: " + what);
}

// Nothing if it is not bytes, or not what an environment can hold.
std::optional<std::string> bytes_of(const nlohmann::json& value) {
    auto bytes = protocol::bytes_from_json(value, "value");
    return bytes && bytes->find('\0') == std::string::npos ? std::optional(std::move(*bytes))
                                                           : std::nullopt;
}

bool is_name(const std::string& name) {
    return !name.empty() && name.find('=') == std::string::npos &&
           name.find('\0') == std::string::npos;
}

bool assigns(const std::string& entry, const std::string& name) {
    return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

void set(EnvironmentBlock& block, protocol::Caller& caller, const std::string& name,
         const std::string& value) {
    block = with_changes(std::move(block), {{name, value}});
    caller.environment[name] = value;
}

// As its activate script would do it, but for the prompt and the scripts of activate.d.
void enter(const NamedEnvironment& environment, protocol::Caller& caller, EnvironmentBlock& base) {
    const std::string bin = environment.prefix + "/bin";
    const std::string path = caller.variable("PATH").value_or("");
    if (path != bin && !path.starts_with(bin + ':')) {
        set(base, caller, "PATH", path.empty() ? bin : bin + ':' + path);
    }
    if (environment.kind == EnvironmentKind::Conda) {
        set(base, caller, "CONDA_PREFIX", environment.prefix);
        set(base, caller, "CONDA_DEFAULT_ENV", environment.name);
        base = with_changes(std::move(base), {{"VIRTUAL_ENV", std::nullopt}});
        caller.environment.erase("VIRTUAL_ENV");
        return;
    }
    set(base, caller, "VIRTUAL_ENV", environment.prefix);
    base = with_changes(std::move(base), {{"PYTHONHOME", std::nullopt}});
}

} // namespace

Result<ActivationAnswer> read_activation(const nlohmann::json& object) {
    if (text_at(object, "schema") != "cudaenv.env/1") {
        return unreadable("it is not a cudaenv.env/1");
    }
    ActivationAnswer answer;
    for (const nlohmann::json& change : list_at(object, "changes")) {
        const std::string name = text_at(change, "name");
        const nlohmann::json& value = member(change, "value");
        const auto bytes = bytes_of(value);
        if (!is_name(name) || (!value.is_null() && !bytes)) {
            return unreadable("a change is malformed");
        }
        answer.changes.push_back({name, bytes});
    }
    if (const nlohmann::json& set = member(object, "set"); set.is_object()) {
        for (const auto& [name, value] : set.items()) {
            const auto bytes = bytes_of(value);
            if (!is_name(name) || !bytes) {
                return unreadable("a variable is malformed");
            }
            answer.set.push_back({name, *bytes});
        }
    }
    std::set<std::string> lists;
    for (const char* end : {"front", "back"}) {
        const nlohmann::json& additions = member(object, end);
        if (!additions.is_object()) {
            continue;
        }
        for (const auto& [list, directories] : additions.items()) {
            lists.insert(list);
            for (const nlohmann::json& directory : directories) {
                const auto bytes = bytes_of(directory);
                if (!bytes) {
                    return unreadable("a directory is malformed");
                }
                if (end == std::string_view("front")) {
                    answer.front[list].push_back(*bytes);
                }
            }
        }
    }
    answer.lists.assign(lists.begin(), lists.end());
    if (const nlohmann::json& toolkit = member(object, "toolkit"); toolkit.is_object()) {
        const auto path = bytes_of(member(toolkit, "path"));
        if (!path || !path->starts_with('/')) {
            return unreadable("the toolkit's path is malformed");
        }
        answer.toolkit = *path;
        answer.is_same_major = text_at(toolkit, "match") == "same-major";
    }
    answer.remedy = text_at(object, "remedy");
    answer.line = text_at(object, "line");
    answer.warnings = texts_at(object, "warnings");
    answer.skipped = texts_at(object, "skipped");
    return answer;
}

EnvironmentBlock with_changes(EnvironmentBlock block, const std::vector<patch::Change>& changes) {
    for (const patch::Change& change : changes) {
        std::erase_if(block, [&](const std::string& entry) { return assigns(entry, change.name); });
        if (change.value) {
            block.push_back(change.name + '=' + *change.value);
        }
    }
    return block;
}

EnvironmentBlock own_environment() {
    EnvironmentBlock block;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        // Hooks pass these only to the program.
        if (!std::string_view(*entry).starts_with(patch::k_found_prefix)) {
            block.emplace_back(*entry);
        }
    }
    return block;
}

std::vector<patch::SetVariable> whole_values(const ActivationAnswer& answer,
                                             const protocol::Caller& caller) {
    std::vector<patch::SetVariable> values = answer.set;
    for (const std::string& list : answer.lists) {
        const auto change = std::ranges::find(answer.changes, list, &patch::Change::name);
        const auto value = change != answer.changes.end() ? change->value : caller.variable(list);
        if (value) {
            values.push_back({list, *value});
        }
    }
    std::ranges::sort(values, {}, &patch::SetVariable::name);
    return values;
}

nlohmann::json question_of(const nlohmann::json& params) {
    nlohmann::json question = nlohmann::json::object();
    for (const char* key : {"cuda", "prefix", "name"}) {
        if (params.contains(key)) {
            question[key] = params[key];
        }
    }
    return question;
}

Result<ActivationAnswer> ask_activation(nlohmann::json params, protocol::Caller caller,
                                        EnvironmentBlock& base) {
    if (params.contains("prefix") || params.contains("name")) {
        CUDAENV_TRY(const auto environment, named_environment(params, caller));
        params.erase("name");
        params["prefix"] = protocol::bytes_to_json(environment.prefix);
        enter(environment, caller, base);
    }
    CUDAENV_TRY(const auto reply, ask_daemon("activate", std::move(params), caller,
                                             {.afterwards = Afterwards::Execs}));
    return read_activation(reply.object);
}

} // namespace cudaenv::cli
