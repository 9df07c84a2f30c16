// The method families, one file each. Each adds its methods to the table.
#pragma once

#include "daemon/service.hpp"

namespace cudaenv::daemon {

void add_schema_methods(Service& service); // schema

} // namespace cudaenv::daemon
