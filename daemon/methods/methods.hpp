// The methods: one row each in methods.cpp, one file a family.
#pragma once

#include "daemon/activation/machine.hpp"
#include "daemon/service.hpp"
#include "protocol/json_field.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace cudaenv::daemon {

class Installs;

Method check, config, constraints, explain, host, keep, oracle, pin, probe, release, resolve,
    schema, status, toolkits, unpin, usage;

// Those that remember something between requests, or order this daemon about.
Handler activate_method(const std::shared_ptr<Machine>& machine,
                        const std::shared_ptr<Installs>& installs, Control* control);
Handler said_method(const std::shared_ptr<Installs>& installs);
Handler check_fix_method();
Handler daemon_status_method(Control& control);
Handler daemon_drain_method(Control& control);

// Values that several methods' objects have.

inline nlohmann::json fit_to_json(const knowledge::CudaFit& fit) {
    return {{"state", knowledge::name_of(fit.verdict)}, {"text", fit.text}};
}

} // namespace cudaenv::daemon
