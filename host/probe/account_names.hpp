// Names of users and groups by their numbers, out of /etc/passwd and /etc/group: getpwuid may ask a
// network.
#pragma once

#include "host/file_system.hpp"

#include <string>
#include <string_view>

namespace cudaenv::probe {

// The number itself where it has no name.
std::string user_name(host::FileSystem& files, std::string_view number);
std::string group_name(host::FileSystem& files, std::string_view number);

} // namespace cudaenv::probe
