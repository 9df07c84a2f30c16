#include "daemon/methods/methods.hpp"

namespace cudaenv::daemon {

Service make_service() {
    Service service;
    add_schema_methods(service);
    return service;
}

} // namespace cudaenv::daemon
