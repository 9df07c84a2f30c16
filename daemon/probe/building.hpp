// `cudaenv probe --build`: with what it builds, and what came of it.
#pragma once

#include "daemon/activation/activation.hpp"
#include "daemon/probe/probe.hpp"
#include "daemon/waiter.hpp"
#include "host/process.hpp"
#include "solver/facts/probe.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace cudaenv::daemon {

// --build, in all 300 s: nvcc and the linker on a busy machine; and torch's headers through a host
// compiler, of which a minute is usual on a slow one.
inline constexpr std::chrono::seconds k_program_deadline{100};
inline constexpr std::chrono::seconds k_extension_deadline{200};

// The toolkit, its parts and the compiler that what is built here would use.
struct BuildTools {
    std::optional<facts::Toolkit> toolkit;
    std::optional<facts::ToolkitLayout> layout;
    std::optional<facts::Compiler> host_compiler;
    patch::Variables variables; // activated
    std::string no_nvcc;
};

// Where activation chooses nothing, what whoever types nvcc would meet.
BuildTools build_tools_of(const Activation& activation, host::FileSystem& files, Machine& machine,
                          const protocol::Caller& caller);

// Compiles, links and runs below TMPDIR, and adds the rungs of that to the ladder's. `gpus`: how
// many the machine has.
void add_build_rungs(facts::ProbeReport& report, const Activation& activation, BuildTools tools,
                     const protocol::Caller& caller, std::size_t gpus,
                     host::ProcessRunner& processes, const Waiter& waiter);

} // namespace cudaenv::daemon
