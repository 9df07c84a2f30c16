#include "cli/commands/named_environment.hpp"

#include "base/json_members.hpp"
#include "base/real_path.hpp"
#include "base/text.hpp"
#include "cli/ask.hpp"
#include "cli/report.hpp"
#include "protocol/json_field.hpp"

#include <optional>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

// The path as given, absolute and without slashes at the end, since scripts compare it with
// CONDA_PREFIX. Empty if nothing has this name.
std::string absolute(std::string path) {
    if (!path.starts_with('/')) {
        return resolved_path(path);
    }
    return std::string(without_end_slashes(path));
}

std::optional<EnvironmentKind> kind_of(const std::string& prefix) {
    return exists(prefix + "/conda-meta")   ? std::optional(EnvironmentKind::Conda)
           : exists(prefix + "/pyvenv.cfg") ? std::optional(EnvironmentKind::Venv)
                                            : std::nullopt;
}

} // namespace

Result<NamedEnvironment> named_environment(const nlohmann::json& params,
                                           const protocol::Caller& caller) {
    if (params.contains("prefix")) {
        CUDAENV_TRY(const auto named, protocol::bytes_from_json(params["prefix"], "prefix"));
        const std::string prefix = absolute(named);
        if (const auto kind = kind_of(prefix)) {
            return NamedEnvironment{prefix, prefix.substr(prefix.rfind('/') + 1), *kind};
        }
    }
    // The daemon knows where names are kept, and what is wrong with a path that is no environment.
    nlohmann::json question = nlohmann::json::object();
    for (const char* key : {"prefix", "name"}) {
        if (params.contains(key)) {
            question[key] = params[key];
        }
    }
    CUDAENV_TRY(const auto reply, ask_daemon("status", std::move(question), caller,
                                             {.afterwards = Afterwards::Execs}));
    const nlohmann::json& found = member(reply.object, "environment");
    NamedEnvironment environment;
    const auto prefix = protocol::bytes_from_json(member(found, "prefix"), "prefix");
    environment.prefix = prefix.value_or("");
    environment.name = protocol::bytes_from_json(member(found, "name"), "name").value_or("");
    if (environment.prefix.empty()) {
        return bad_input("no-environment", "no environment is active, and none was given",
                         "expected -n NAME or -p PREFIX");
    }
    for (const std::string& note : texts_at(found, "notes")) {
        say(note);
    }
    environment.kind = kind_of(environment.prefix).value_or(EnvironmentKind::Venv);
    return environment;
}

} // namespace cudaenv::cli
