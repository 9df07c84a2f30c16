#include "host/platform.hpp"

#include <array>
#include <sys/utsname.h>
#include <utility>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

namespace cudaenv::host {

namespace {

std::string unquoted(std::string_view value) {
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
        value = value.substr(1, value.size() - 2);
    }
    return std::string(value);
}

struct Container {
    std::string kind;
    std::string source;
};

// The surest witness first: what the container's manager says itself.
Container find_container(FileSystem& files, const Environment& environment) {
    if (const auto kind = value_of(environment, "container"); !kind.empty()) {
        return {kind, "the variable `container`"};
    }
    for (const auto* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"}) {
        if (!value_of(environment, name).empty()) {
            return {"apptainer", std::string("the variable ") + name};
        }
    }
    if (const auto text = files.read_file("/run/systemd/container")) {
        if (auto kind = std::string(trim(*text)); !kind.empty()) {
            return {std::move(kind), "/run/systemd/container"};
        }
    }
    if (files.exists("/run/.containerenv")) {
        return {"podman", "/run/.containerenv"};
    }
    if (files.exists("/.dockerenv")) {
        return {"docker", "/.dockerenv"};
    }
    if (files.exists("/dev/lxd/sock")) {
        return {"lxc", "/dev/lxd/sock"};
    }
    if (const auto text = files.read_file("/proc/1/cgroup")) {
        if (auto kind = parse_cgroup(*text); !kind.empty()) {
            return {std::move(kind), "/proc/1/cgroup"};
        }
    }
    return {};
}

std::string find_jetson(FileSystem& files) {
    if (files.exists("/etc/nv_tegra_release")) {
        return "/etc/nv_tegra_release";
    }
    for (const auto* path : {"/proc/device-tree/model", "/sys/firmware/devicetree/base/model"}) {
        if (const auto model = files.read_file(path, 256);
            model && (model->find("Jetson") != std::string::npos ||
                      model->find("NVIDIA Orin") != std::string::npos)) {
            return path;
        }
    }
    return {};
}

} // namespace

std::string parse_os_release(std::string_view text) {
    std::string name;
    std::string version;
    std::string pretty;
    for (const auto& [key, written] : assignments_in(text)) {
        auto value = unquoted(written);
        if (key == "NAME") {
            name = std::move(value);
        } else if (key == "VERSION_ID") {
            version = std::move(value);
        } else if (key == "PRETTY_NAME") {
            pretty = std::move(value);
        }
    }
    for (const std::string_view tail : {" GNU/Linux", " Linux"}) {
        if (name.size() > tail.size() && name.ends_with(tail)) {
            name.resize(name.size() - tail.size());
        }
    }
    if (name.empty()) {
        return pretty;
    }
    return version.empty() ? name : name + ' ' + version;
}

std::string parse_cgroup(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> k_marks = {{
        {"kubepods", "kubernetes"},
        {"libpod", "podman"},
        {"docker", "docker"},
        {"containerd", "containerd"},
        {"lxc", "lxc"},
        {"machine.slice/machine-", "systemd-nspawn"},
    }};
    for (const auto line : split(text, '\n')) {
        // "12:devices:/docker/0123..."; the path of process 1 itself.
        const auto path = line.substr(std::min(line.rfind(':') + 1, line.size()));
        for (const auto& [mark, kind] : k_marks) {
            // A host's own docker.service runs under system.slice.
            if (path.find(mark) != std::string_view::npos && !path.ends_with(".service")) {
                return std::string(kind);
            }
        }
    }
    return {};
}

std::string kernel_version(std::string_view release) {
    return std::string(leading_numbers(release));
}

SystemIdentity system_identity() {
    SystemIdentity identity;
    utsname names{};
    if (::uname(&names) == 0) {
        identity.hostname = names.nodename;
        identity.machine = names.machine;
        identity.release = names.release;
    }
#if defined(__GLIBC__)
    identity.glibc = ::gnu_get_libc_version();
#endif
    return identity;
}

PlatformFindings find_platform(FileSystem& files, const Environment& environment,
                               const SystemIdentity& identity) {
    PlatformFindings findings;
    for (const auto* path : {"/etc/os-release", "/usr/lib/os-release"}) {
        const auto text = files.read_file(path);
        if (text && findings.distribution.empty()) {
            findings.distribution = parse_os_release(*text);
            findings.sources["distribution"] = path;
        }
    }
    if (findings.distribution.empty()) {
        findings.sources.erase("distribution");
        findings.absent["distribution"] =
            "neither /etc/os-release nor /usr/lib/os-release names it";
    }
    // Both generations of WSL name Microsoft in the kernel's release; only the second has CUDA.
    const auto release = to_lower_ascii(identity.release);
    if (release.find("microsoft") != std::string::npos) {
        findings.platform.wsl = true;
        findings.sources["wsl"] = "uname: " + identity.release;
    }
    auto container = find_container(files, environment);
    if (!container.kind.empty()) {
        findings.platform.container = std::move(container.kind);
        findings.sources["container"] = std::move(container.source);
    }
    if (auto source = find_jetson(files); !source.empty()) {
        findings.platform.jetson = true;
        findings.sources["jetson"] = std::move(source);
    }
    return findings;
}

} // namespace cudaenv::host
