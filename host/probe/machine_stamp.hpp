// The machine as every verdict rests on it: this boot, the loaded module, libcuda, GPUs and MIG
// instances. Law: a few files of /proc are read, the rest is looked at.
#pragma once

#include "host/file_system.hpp"
#include "host/probe/driver_files.hpp"

#include <optional>
#include <string>

namespace cudaenv::probe {

// `looked_at`: as whoever asks has seen the driver already.
std::string machine_stamp(host::FileSystem& files,
                          const std::optional<DriverFiles>& looked_at = {});

// /dev/nvidia0 and the like: a container has those that it was given, /proc shows all. Not among
// what a probe's grounds are, since the driver may make them for it.
std::string devices_stamp(host::FileSystem& files);

// Whose entries are this machine's where several share a home: its host name. /etc/machine-id is
// the image's in containers, one for all nodes that run it; a name that each container has for
// itself costs an entry, which goes when the store is full.
std::string name_of_machine(host::FileSystem& files);

} // namespace cudaenv::probe
