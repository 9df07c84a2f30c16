#include "daemon/activation/activation.hpp"
#include "daemon/host_of_request.hpp"
#include "daemon/measured.hpp"
#include "daemon/methods/json_values.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/host_json.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/toolkits.hpp"

namespace cudaenv::daemon {

namespace {

// The host's toolkits as JSON, each with "fits": made from what is in the object, so that the order
// is the same.
void add_fits(nlohmann::json& toolkits, const facts::Host& host) {
    for (std::size_t i = 0; i < host.toolkits.size(); ++i) {
        toolkits[i]["fits"] = fit_to_json(knowledge::toolkit_fit(host.toolkits[i], host));
    }
}

// The quick probe of this machine, kept like one that `cudaenv probe` asked for.
Result<facts::Measured> measure(const nlohmann::json& params, const protocol::Caller& caller,
                                Machine& machine, const Waiter& waiter) {
    const ProbeWishes wishes;
    const protocol::Caller asking = asking_for(caller, wishes);
    CUDAENV_TRY(const auto activation, activation_of(params, asking, machine));
    CUDAENV_TRY(const auto run, run_probe(activation, wishes, asking, machine, waiter));
    auto measured = measured_of(run, asking);
    keep_verdict(run, wishes, {activation.project, activation.situation.base, asking});
    keep_measured(measured, run, wishes, asking);
    return measured;
}

// --probe measures only this machine.
Result<void> refuse_described(const nlohmann::json& params, const protocol::Caller& caller) {
    const bool by_variable = !caller.variable("CUDAENV_HOST").value_or("").empty();
    for (const char* option : {"host", "driver", "gpu"}) {
        if (params.contains(option)) {
            return bad_input("usage", std::string("--probe measures this machine, --") + option +
                                          " describes another");
        }
    }
    return by_variable
               ? bad_input("usage", "--probe measures this machine, CUDAENV_HOST describes another",
                           "unset CUDAENV_HOST")
               : Result<void>();
}

} // namespace

Result<protocol::Reply> host(const nlohmann::json& params, const protocol::Caller& caller,
                             Machine& machine, const Waiter& waiter) {
    CUDAENV_TRY(const bool facts_only, protocol::bool_field(params, "facts_only", false));
    CUDAENV_TRY(const bool probes, protocol::bool_field(params, "probe", false));
    std::optional<facts::Measured> measured;
    if (probes) {
        CUDAENV_TRY_VOID(refuse_described(params, caller));
        CUDAENV_TRY(measured, measure(params, caller, machine, waiter));
    }
    CUDAENV_TRY(auto found, host_of(params, caller));
    if (measured) { // also where nothing can be kept
        found = with_measured_for(caller, std::move(found), *std::move(measured));
    }
    nlohmann::json object = facts::to_json(found);
    if (!facts_only) {
        if (found.driver && !knowledge::driver_cuda(found)) {
            object["driver"]["note"] = knowledge::driver_text(found);
        }
        add_fits(object["toolkits"], found);
    }
    return protocol::Reply{0, std::move(object)};
}

Result<protocol::Reply> toolkits(const nlohmann::json& params, const protocol::Caller& caller,
                                 Machine&, const Waiter&) {
    CUDAENV_TRY(auto found, host_of(params, caller));
    nlohmann::json list = std::move(facts::to_json(found)["toolkits"]);
    add_fits(list, found);
    for (std::size_t i = 0; i < found.toolkits.size(); ++i) {
        facts::Host only_compilers;
        only_compilers.compilers = knowledge::compilers_for(found.toolkits[i], found);
        list[i]["compilers_here"] = facts::to_json(only_compilers)["compilers"];
    }
    return protocol::Reply{0, {{"schema", "cudaenv.toolkits/1"}, {"toolkits", std::move(list)}}};
}

} // namespace cudaenv::daemon
