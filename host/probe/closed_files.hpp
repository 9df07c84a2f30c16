// Libraries and device files that are there and that this user may not open, which the loader and
// the driver treat as if they did not exist.
//
// Law: nothing is opened but /etc/passwd and /etc/group, for the names of owners: the kernel is
// asked whether it would let us (ACLs counted in; a container's device cgroup is not).
#pragma once

#include "host/file_system.hpp"
#include "host/probe/library_search.hpp"
#include "solver/facts/probe.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

// libcuda.so.1 in `library_path` (LD_LIBRARY_PATH's directories) and in the driver's own places,
// and the libraries of k_library_rungs where they were looked for: those that may not be read;
// and the directories among these places that may not be searched, each once.
std::vector<facts::ClosedFile> closed_libraries(const ProbeLibraries& libraries,
                                                std::span<const std::string> library_path);
// nvidiactl, nvidia-uvm and dxg, and the GPUs' own where no GPU's may be read and written.
std::vector<facts::ClosedFile> closed_devices(const std::string& directory = "/dev");

// Names of users and groups by their numbers, out of /etc/passwd and /etc/group: getpwuid may ask a
// network.

// The number itself where it has no name.
std::string user_name(host::FileSystem& files, std::string_view number);
std::string group_name(host::FileSystem& files, std::string_view number);

} // namespace cudaenv::probe
