#include "daemon/methods/methods.hpp"

namespace cudaenv::daemon {

Service make_service() {
    Service service;
    add_config_methods(service);
    add_host_methods(service);
    add_oracle_methods(service);
    add_pin_methods(service);
    add_resolve_methods(service);
    add_schema_methods(service);
    add_status_methods(service);
    return service;
}

} // namespace cudaenv::daemon
