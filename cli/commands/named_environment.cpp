#include "cli/commands/named_environment.hpp"

#include "cli/ask.hpp"
#include "cli/render/field.hpp"

#include <unistd.h>

namespace cudaenv::cli {

Result<NamedEnvironment> named_environment(const nlohmann::json& params,
                                           const protocol::Caller& caller) {
    nlohmann::json question = nlohmann::json::object();
    for (const char* key : {"prefix", "name"}) {
        if (params.contains(key)) {
            question[key] = params[key];
        }
    }
    CUDAENV_TRY(const auto reply, ask_daemon("status", std::move(question), caller));
    const nlohmann::json& found = member(reply.object, "environment");
    NamedEnvironment environment;
    environment.prefix = text_at(found, "prefix");
    environment.name = text_at(found, "name");
    if (environment.prefix.empty()) {
        return bad_input("no-environment", "no environment is active and none is named",
                         "expected -n NAME or -p PREFIX");
    }
    const std::string conda_meta = environment.prefix + "/conda-meta";
    environment.kind =
        ::access(conda_meta.c_str(), F_OK) == 0 ? EnvironmentKind::Conda : EnvironmentKind::Venv;
    return environment;
}

} // namespace cudaenv::cli
