// The method families, one file each. Each adds its methods to the table.
#pragma once

#include "daemon/service.hpp"

namespace cudaenv::daemon {

void add_host_methods(Service& service);   // host, toolkits
void add_oracle_methods(Service& service); // debug.oracle
void add_schema_methods(Service& service); // schema

} // namespace cudaenv::daemon
