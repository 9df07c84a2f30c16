// What kind of Linux this is: distribution, container, WSL, Jetson.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "solver/facts/host.hpp"

#include <map>
#include <string>
#include <string_view>

namespace cudaenv::host {

// "Debian 12" out of os-release; without the vendor's "GNU/Linux".
std::string parse_os_release(std::string_view text);
// docker, podman, kubernetes, lxc, ... out of /proc/1/cgroup; empty = none named.
std::string parse_cgroup(std::string_view text);
// "6.1.0" out of uname's 6.1.0-18-amd64.
std::string kernel_version(std::string_view release);

// What uname and the C library say of this machine.
struct SystemIdentity {
    std::string hostname;
    std::string machine; // x86_64
    std::string release; // 6.1.0-18-amd64
    std::string glibc;   // empty on other C libraries
};
SystemIdentity system_identity();

struct PlatformFindings {
    facts::Platform platform;
    std::string distribution;
    std::map<std::string, std::string> sources;
    std::map<std::string, std::string> absent;
};
PlatformFindings find_platform(FileSystem& files, const Environment& environment,
                               const SystemIdentity& identity);

} // namespace cudaenv::host
