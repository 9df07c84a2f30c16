#include "daemon/host_of_request.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/toolkit_fit.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/host_json.hpp"

namespace cudaenv::daemon {

namespace {

nlohmann::json fit_to_json(const Fit& fit) {
    return {{"state", name_of(fit.state)}, {"text", fit.text}};
}

// The host's toolkits as JSON, each with "fits": made from what is in the object, so that the order
// is the same.
void add_fits(nlohmann::json& toolkits, const facts::Host& host) {
    for (std::size_t i = 0; i < host.toolkits.size(); ++i) {
        toolkits[i]["fits"] = fit_to_json(fit_of(host.toolkits[i], host));
    }
}

Result<protocol::Reply> host(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(const bool facts_only, protocol::bool_field(params, "facts_only", false));
    CUDAENV_TRY(const auto found, host_of(params, caller));
    nlohmann::json object = facts::to_json(found);
    if (!facts_only) {
        add_fits(object["toolkits"], found);
    }
    return protocol::Reply{0, std::move(object)};
}

Result<protocol::Reply> toolkits(const nlohmann::json& params, const protocol::Caller& caller) {
    CUDAENV_TRY(auto found, host_of(params, caller));
    nlohmann::json list = std::move(facts::to_json(found)["toolkits"]);
    add_fits(list, found);
    for (std::size_t i = 0; i < found.toolkits.size(); ++i) {
        facts::Host only_compilers;
        only_compilers.compilers = accepted_compilers(found.toolkits[i], found);
        list[i]["compilers_here"] = facts::to_json(only_compilers)["compilers"];
    }
    return protocol::Reply{0, {{"schema", "cudaenv.toolkits/1"}, {"toolkits", std::move(list)}}};
}

} // namespace

void add_host_methods(Service& service) {
    service.add("host", host);
    service.add("toolkits", toolkits);
}

} // namespace cudaenv::daemon
