// Libraries and device files that are there and that this user may not open, which the loader and
// the driver tell as if they were not there.
//
// Law: nothing is opened but /etc/passwd and /etc/group, for the names of owners: the kernel is
// asked whether it would let us (ACLs counted in; a container's device cgroup is not).
#pragma once

#include "solver/facts/probe.hpp"

#include <span>
#include <string>
#include <vector>

namespace cudaenv::host {

// Of these absolute paths, those that are files and may not be read.
std::vector<facts::ClosedFile> closed_libraries(std::span<const std::string> paths);
// Where libcuda.so.1 would be: beside `library_path`, in the driver's own places.
std::vector<std::string> places_of_libcuda(std::span<const std::string> library_path);
// nvidiactl, nvidia-uvm and dxg, and the GPUs' own where no GPU's may be read and written.
std::vector<facts::ClosedFile> closed_devices(const std::string& directory = "/dev");

} // namespace cudaenv::host
