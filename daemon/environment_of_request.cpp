#include "daemon/environment_of_request.hpp"

#include "base/text.hpp"
#include "daemon/host_of_request.hpp"
#include "host/names/environment_names.hpp"
#include "host/project/project.hpp"
#include "host/silent_paths.hpp"
#include "protocol/json_field.hpp"
#include "protocol/message.hpp"

#include <filesystem>
#include <set>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

namespace fs = std::filesystem;

// The caller's variables, and those that a condarc names and that do not travel by themselves.
Result<host::Environment> environment_of(const nlohmann::json& params,
                                         const protocol::Caller& caller) {
    host::Environment environment = caller.environment;
    const auto more = params.find(protocol::k_wanted_variables);
    if (more == params.end()) {
        return environment;
    }
    if (!more->is_object()) {
        return bad_input("bad-field", "\"variables\" is not an object");
    }
    for (const auto& [name, value] : more->items()) {
        if (!value.is_null()) {
            CUDAENV_TRY(environment[name], protocol::bytes_from_json(value, name));
        }
    }
    return environment;
}

// A file of conda's or mamba's. What lies in a prefix may be its owner's.
trusted::TrustedFile configuration_in(const std::string& path, trusted::Trust trust) {
    const fs::path directory = fs::path(path).parent_path();
    for (const fs::path& prefix : {directory, directory.parent_path()}) { // condarc.d lies below it
        if (std::error_code failed; fs::is_directory(prefix / "conda-meta", failed)) {
            trust.add_owner_of(prefix);
        }
    }
    return trusted::read_trusted_file(path, trust);
}

names::SearchTools tools_of(const host::Environment& environment, const protocol::Caller& caller,
                            Looks& looks) {
    host::FileSystem& files = looks.disk;
    const trusted::Trust trust = project::trust_of(
        caller.uid, looks.config(pins::UnknownKeys::Note).value_or(project::ConfigFiles{}));
    const names::NameSources sources{
        &files,
        {&environment, host::value_of(environment, "HOME"), caller.cwd},
        [](const std::string& path) { return ::access(path.c_str(), W_OK) == 0; },
        [&](const std::string& path) { return configuration_in(path, trust); }};
    return names::search_tools(sources);
}

// An error that the client answers by asking again with these variables, set or not.
tl::unexpected<Error> wants_variables(const std::set<std::string>& names) {
    const std::vector<std::string> list(names.begin(), names.end());
    return bad_input(protocol::k_wants_variables, "a condarc names variables that were not sent",
                     join(list, " "));
}

} // namespace

Result<void> places_answer(const nlohmann::json& params, const protocol::Caller& caller) {
    const auto prefix = protocol::path_field(params, "prefix").value_or(std::nullopt);
    return host::all_answer(
        {caller.cwd,
         prefix ? absolute_for(caller, *prefix) : project::active_prefix(caller.environment),
         project::config_paths(caller.environment).user});
}

Result<MeantEnvironment> environment_of_request(const nlohmann::json& params,
                                                const protocol::Caller& caller) {
    Looks looks(caller);
    return environment_of_request(params, caller, looks);
}

Result<MeantEnvironment> environment_of_request(const nlohmann::json& params,
                                                const protocol::Caller& caller, Looks& looks) {
    CUDAENV_TRY(const auto prefix, protocol::path_field(params, "prefix"));
    CUDAENV_TRY(const auto name, protocol::string_field(params, "name"));
    host::FileSystem& files = looks.disk;
    if (prefix) {
        std::string path = absolute_for(caller, *prefix);
        if (names::kind_of_prefix(files, path) == names::PrefixKind::None) {
            return bad_input("no-such-environment", "is not an environment",
                             "expected a directory with conda-meta or pyvenv.cfg", path);
        }
        return MeantEnvironment{std::move(path), {}};
    }
    if (!name) {
        return MeantEnvironment{project::active_prefix(caller.environment), {}};
    }
    CUDAENV_TRY(const auto environment, environment_of(params, caller));
    names::SearchTools tools = tools_of(environment, caller, looks);
    if (!tools.unset.empty() && !params.contains(protocol::k_wanted_variables)) {
        return wants_variables(tools.unset);
    }
    CUDAENV_TRY(auto found, names::prefix_named(*name, tools, files));
    return MeantEnvironment{std::move(found), std::move(tools.notes)};
}

bool names_environment(const nlohmann::json& params) {
    return params.contains("prefix") || params.contains("name");
}

std::string shown_name_of(const std::string& prefix, const protocol::Caller& caller, Looks& looks) {
    return names::name_of_prefix(prefix, tools_of(caller.environment, caller, looks));
}

std::string shown_name_of(const std::string& prefix, const protocol::Caller& caller) {
    Looks looks(caller);
    return shown_name_of(prefix, caller, looks);
}

} // namespace cudaenv::daemon
