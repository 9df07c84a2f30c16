// What a machine is, as values: the facts file of `cudaenv host --export`. Pure data; host/ finds
// it out, solver/plan solves over it. Each value says where it comes from, each absence why.
// `std::nullopt` and an empty list with its `_absent` reason are "known to be absent"; where the
// reason is empty too, the fact is unknown (a facts file need not say everything).
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::facts {

enum class DriverKind { Open, Proprietary };

struct Driver {
    std::optional<DottedVersion> version; // 470.199.02; absent in files that only know `__cuda`
    std::optional<DottedVersion> cuda;    // newest CUDA that it runs fully, 11.4
    std::optional<DriverKind> kind;
    bool derived = false; // `cuda` is from the branch table, not from the driver itself
    std::string source;
    bool measured = false; // `cuda` is what the driver itself reported to `cudaenv probe`
};

struct Gpu {
    int index = 0;
    std::string name;
    std::string uuid;
    std::optional<ComputeCapability> compute_capability;
    std::string pci_device; // "0x2204", NVIDIA's device id; empty where unknown
    std::optional<std::uint64_t> memory_bytes;
    bool mig = false;
    std::string source;
    std::optional<DottedVersion>
        last_driver_branch; // newest branch that serves it; none: still served
};

struct Toolkit {
    std::string path;                     // absolute, symlinks resolved
    std::optional<DottedVersion> version; // 11.3.109
    bool nvcc = false;
    std::optional<int> gcc_min; // majors that its crt/host_config.h or the table accepts
    std::optional<int> gcc_max;
    std::optional<int> clang_max;
    std::optional<DottedVersion> cudnn;         // from the header
    std::optional<DottedVersion> cudnn_library; // from the real .so
    std::optional<DottedVersion> nccl;
    std::string problem; // why it cannot be used; empty when it can
    bool silent = false; // it does not answer: what it is, or holds, is not known
    std::string source;  // how it was found: a path, "CUDA_HOME", "PATH", a modulefile
    std::optional<int> clang_min;
    std::optional<DottedVersion> nccl_library;  // from the real .so
    std::vector<std::string> aliases;           // other paths that lead here, /usr/local/cuda first
    std::map<std::string, std::string> sources; // member ("version", "gcc_max", ...) -> where from
    std::map<std::string, std::string> absent;  // member -> why there is no value
    std::vector<std::string> warnings;          // as when cuDNN's header and library differ
};

enum class CompilerFamily { Gcc, Clang };

struct Compiler {
    CompilerFamily family = CompilerFamily::Gcc;
    DottedVersion version; // 9.4.0
    std::string path;      // of the C++ driver, /usr/bin/g++-9
    std::string source;
    bool is_default = false; // what a bare `g++` or `clang++` on PATH runs
};

struct CondaInstall {
    std::string kind; // conda, mamba, micromamba, pixi
    std::string path;
    std::optional<std::string> version;
    std::string source;
};

struct Platform {
    bool wsl = false;
    std::string container; // docker, podman, lxc, ...; empty = none
    bool jetson = false;
};

struct MeasuredGpu {
    std::string name;
    std::string uuid; // GPU-..., MIG-... of an instance
    std::optional<ComputeCapability> compute_capability;
};

struct FailedRung {
    std::string step;   // a word of probe_rungs.hpp
    std::string code;   // CE3xx, docs/findings.md
    std::string detail; // one line: what was refused
    std::string cause;
};

// What `cudaenv probe` saw of this machine: the driver and the GPUs, not one environment.
struct Measured {
    std::string verdict;                      // "ok", "no-driver": judge::name_of
    std::string summary;                      // one line
    std::string at;                           // RFC 3339, UTC
    std::optional<DottedVersion> driver_cuda; // as the driver itself said
    std::vector<MeasuredGpu> gpus;            // the visible ones
    std::optional<DottedVersion> runtime;     // that ran there, 13.0
    std::vector<FailedRung> failed;           // of the machine's own rungs, in their order
};

struct Host {
    std::string hostname;
    std::string captured; // RFC 3339, UTC
    std::optional<Driver> driver;
    std::string driver_absent; // reason; empty with no driver = unknown
    std::vector<Gpu> gpus;
    std::string gpus_absent;
    std::vector<Toolkit> toolkits;
    std::vector<Compiler> compilers;
    std::optional<DottedVersion> glibc;
    std::string machine;      // x86_64
    std::string kernel;       // 6.1.0
    std::string distribution; // "Debian 12"
    Platform platform;
    std::vector<CondaInstall> conda;
    std::map<std::string, std::string> sources; // "glibc", "kernel", ... -> where from
    std::map<std::string, std::string> absent;  // "glibc", "compilers", ... -> why it is absent
    std::vector<std::string> notes;             // seen and left out, with the reason
    std::optional<Measured> measured;           // none: no probe, or it no longer holds
};

} // namespace cudaenv::facts
