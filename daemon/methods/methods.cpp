#include "daemon/methods/methods.hpp"

namespace cudaenv::daemon {

Service make_service(Control* control) {
    Service service;
    const auto machine = std::make_shared<Machine>();
    add_activate_methods(service, machine, control);
    add_check_methods(service, machine);
    add_check_fix_methods(service, machine);
    add_config_methods(service);
    add_constraints_methods(service, machine);
    add_host_methods(service, machine);
    add_keep_methods(service, machine);
    add_oracle_methods(service);
    add_pin_methods(service, machine);
    add_probe_methods(service, machine);
    add_resolve_methods(service);
    add_schema_methods(service);
    add_status_methods(service, machine);
    add_usage_methods(service);
    if (control != nullptr) {
        add_daemon_methods(service, *control);
    }
    return service;
}

} // namespace cudaenv::daemon
