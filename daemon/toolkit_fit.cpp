#include "daemon/toolkit_fit.hpp"

#include "solver/knowledge/knowledge.hpp"

#include <optional>

namespace cudaenv::daemon {

namespace {

// The oldest driver that runs the toolkit's machine code at all. Before CUDA 11 there is no
// compatibility within a family: the toolkit's own minimum is the floor.
std::optional<knowledge::DriverBound> floor_of(const DottedVersion& cuda) {
    if (auto floor = knowledge::family_floor(cuda.major())) {
        return floor;
    }
    return knowledge::toolkit_minimum_driver(cuda);
}

struct Served {
    std::vector<std::string> ptx_only; // sm_86, each once
    std::vector<std::string> unserved;
    bool known = true;
};

Served gpus_served(const DottedVersion& cuda, const facts::Host& host) {
    Served served;
    const auto architectures = knowledge::architectures_of_toolkit(cuda);
    if (!architectures) {
        served.known = false;
        return served;
    }
    const auto add = [](std::vector<std::string>& names, const std::string& name) {
        for (const std::string& known : names) {
            if (known == name) {
                return;
            }
        }
        names.push_back(name);
    };
    for (const facts::Gpu& gpu : host.gpus) {
        if (!gpu.compute_capability) {
            served.known = false;
        } else if (knowledge::serves_with_sass(*architectures, *gpu.compute_capability)) {
            continue;
        } else if (knowledge::serves_with_ptx(*architectures, *gpu.compute_capability)) {
            add(served.ptx_only, gpu.compute_capability->sm());
        } else {
            add(served.unserved, gpu.compute_capability->sm());
        }
    }
    return served;
}

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        text += (text.empty() ? "" : ", ") + name;
    }
    return text;
}

// The driver gives an older CUDA than the toolkit's: its machine code runs, its PTX does not.
bool above_ptx_ceiling(const DottedVersion& cuda, const facts::Driver& driver) {
    if (driver.cuda) {
        return DottedVersion::of(cuda.major_minor()) > *driver.cuda;
    }
    const auto minimum = knowledge::toolkit_minimum_driver(cuda);
    return minimum && driver.version && *driver.version < minimum->driver;
}

} // namespace

std::string_view name_of(FitState state) {
    switch (state) {
    case FitState::Fits:
        return "ok";
    case FitState::Warns:
        return "warns";
    case FitState::Breaks:
        return "fails";
    case FitState::Unknown:
        break;
    }
    return "unknown";
}

Fit fit_of(const facts::Toolkit& toolkit, const facts::Host& host) {
    if (!toolkit.problem.empty()) {
        return {FitState::Breaks, toolkit.problem};
    }
    if (!toolkit.version) {
        return {FitState::Unknown, "its version is unknown"};
    }
    const DottedVersion& cuda = *toolkit.version;
    if (!host.driver) {
        return {FitState::Unknown, {}}; // said once, by the driver's own row
    }
    const facts::Driver& driver = *host.driver;
    const auto floor = floor_of(cuda);
    // A facts file may know only what CUDA the driver gives; what it told itself counts in any
    // case.
    const bool by_cuda = driver.cuda && (driver.measured || !driver.version);
    if (by_cuda ? cuda.major() > driver.cuda->major()
                : floor && driver.version && *driver.version < floor->driver) {
        return {FitState::Breaks, floor && driver.version
                                      ? "needs driver " + floor->driver.str()
                                      : "needs a driver for CUDA " + std::to_string(cuda.major())};
    }
    const Served served = gpus_served(cuda, host);
    if (!served.unserved.empty()) {
        const bool some = served.unserved.size() < host.gpus.size();
        return {some ? FitState::Warns : FitState::Breaks,
                "no code for " + list_of(served.unserved)};
    }
    const bool ceiling = above_ptx_ceiling(cuda, driver);
    if (!served.ptx_only.empty()) {
        const std::string which = "no machine code for " + list_of(served.ptx_only);
        return ceiling ? Fit{FitState::Breaks, which + ", and this driver takes no PTX of it"}
                       : Fit{FitState::Warns, which + " (PTX only)"};
    }
    if (ceiling) {
        return {FitState::Warns,
                driver.cuda
                    ? "machine code only: no PTX beyond CUDA " + driver.cuda->str()
                    : std::string("machine code only: the driver is older than the toolkit")};
    }
    if (!driver.version && !driver.cuda) {
        return {FitState::Unknown, "the driver's version is unknown"};
    }
    if (!served.known) {
        return {FitState::Fits, "fits the driver; its machine code for the GPU is unknown"};
    }
    return {FitState::Fits, "fits the driver"};
}

std::vector<facts::Compiler> accepted_compilers(const facts::Toolkit& toolkit,
                                                const facts::Host& host) {
    std::vector<facts::Compiler> accepted;
    for (const facts::Compiler& compiler : host.compilers) {
        const auto major = static_cast<int>(compiler.version.major());
        const bool gcc = compiler.family == facts::CompilerFamily::Gcc;
        const std::optional<int> most = gcc ? toolkit.gcc_max : toolkit.clang_max;
        const std::optional<int> least = gcc ? toolkit.gcc_min : std::nullopt;
        if (most && major <= *most && major >= least.value_or(0)) {
            accepted.push_back(compiler);
        }
    }
    return accepted;
}

} // namespace cudaenv::daemon
