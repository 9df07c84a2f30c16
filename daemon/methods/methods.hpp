// The method families, one file each. Each adds its methods to the table.
#pragma once

#include "daemon/activation/machine.hpp"
#include "daemon/service.hpp"

#include <memory>

namespace cudaenv::daemon {

void add_activate_methods(Service& service, const std::shared_ptr<Machine>& machine,
                          Control* control);                                       // activate
void add_check_methods(Service& service, const std::shared_ptr<Machine>& machine); // check
void add_check_fix_methods(Service& service,
                           const std::shared_ptr<Machine>& machine); // check.fix
void add_config_methods(Service& service);                           // config
void add_constraints_methods(Service& service,
                             const std::shared_ptr<Machine>& machine); // constraints
void add_daemon_methods(Service& service, Control& control); // daemon.status, daemon.drain
void add_host_methods(Service& service, const std::shared_ptr<Machine>& machine);  // host, toolkits
void add_keep_methods(Service& service, const std::shared_ptr<Machine>& machine);  // keep
void add_oracle_methods(Service& service);                                         // debug.oracle
void add_pin_methods(Service& service, const std::shared_ptr<Machine>& machine);   // pin, unpin
void add_probe_methods(Service& service, const std::shared_ptr<Machine>& machine); // probe
void add_resolve_methods(Service& service); // resolve, explain
void add_schema_methods(Service& service);  // schema
void add_status_methods(Service& service, const std::shared_ptr<Machine>& machine); // status
void add_usage_methods(Service& service);                                           // usage

} // namespace cudaenv::daemon
