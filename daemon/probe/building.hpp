// `cudaenv probe --build`: with what it builds, and what came of it.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "daemon/activation/activation.hpp"
#include "daemon/probe/probe.hpp"
#include "daemon/waiter.hpp"
#include "host/probe/loader_directories.hpp"
#include "host/process.hpp"
#include "protocol/caller.hpp"
#include "shellhooks/patch/patch.hpp"
#include "solver/facts/probe.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

// A private directory for what the build rungs write; gone with the value, whatever is in it.
//
// Law: it is locked (flock) for as long as it is used. One that no process holds is a killed
// process's: the next `make` in the same place removes it, if it is this user's own, private and
// named as ours are. No link is ever followed.
class TrialDirectory {
public:
    // In `parent` where that is an absolute directory that can be written to, else in /tmp. Error
    // (Unavailable): "no-directory", with each place and why not there.
    static Result<TrialDirectory> make(const std::string& parent);

    TrialDirectory(TrialDirectory&& other) noexcept;
    TrialDirectory& operator=(TrialDirectory&&) = delete;
    TrialDirectory(const TrialDirectory&) = delete;
    TrialDirectory& operator=(const TrialDirectory&) = delete;
    ~TrialDirectory();

    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    TrialDirectory(std::string path, Fd held) : m_path(std::move(path)), m_held(std::move(held)) {}
    std::string m_path; // empty: moved away
    Fd m_held;          // locked; none where its file system has no locks
};

// The variables that cudaenv-probe and what --build starts run with.

// What has to do with this program alone is not the children's. They run in another directory than
// the shell: what LD_LIBRARY_PATH, LD_PRELOAD and LD_AUDIT have of relative paths is made absolute,
// and LD_LIBRARY_PATH's tokens are what they are to the environment's programs.
std::vector<std::string> child_environment(patch::Variables variables,
                                           const protocol::Caller& caller,
                                           const probe::LoaderTokens& tokens);

} // namespace cudaenv::daemon
