// The host as records, so that one solve knows it: conda's virtual packages as conda knows them,
// and our own facts beside them (driver, each GPU, each nvcc with its compiler range, each host
// compiler). Pure.
//
// Each fact is an assumption: a record `__fact_...` that an answer must hold and that shuts out
// every world in which the fact is otherwise. An explanation leaves one out and asks what would
// then be possible: that is why the records of other worlds (an `assumed` driver, nvcc, compiler)
// are here too.
#pragma once

#include "solver/facts/host.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/resolve/request.hpp"
#include "solver/specs/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::resolve {

enum class FactKind { Driver, Gpu, Glibc, Processor, Toolkits, Compilers, CudaGiven };

struct Assumption {
    FactKind kind = FactKind::Driver;
    int gpu = -1;       // for FactKind::Gpu: index into Host::gpus
    std::string demand; // "__fact_driver"
    std::string text;   // "driver 470.199.02 gives CUDA 11.4"
    std::string source; // "/proc/driver/nvidia/version"
};

// What a record needs of the host, said in words.
struct HostNeed {
    FactKind kind = FactKind::Driver;
    int gpu = -1;
    std::string text;                   // "a driver for CUDA 12: 525.60.13 or newer"
    std::optional<DottedVersion> bound; // the driver or compiler version in it
    std::string source;                 // of the bound
    bool at_least = false;              // the bound is the oldest that will do, not the newest
};

// How much is asked of a host; the resolver tries the stricter first where it matters.
struct WorldOptions {
    bool cuda_asked =
        false; // a request or pin names CUDA, or a usable GPU is here and nothing says cpu
    bool cuda_named = false; // the request names CUDA
    bool cpu_asked = false;
    bool strict_host = false;
    pins::Purpose purpose = pins::Purpose::Run;
    bool every_gpu = true;       // else: at least one GPU is served
    bool nvcc_same_minor = true; // else: the same major is enough (11 and newer)
    bool full_driver = false;    // else: minor version compatibility is enough
    bool known_code = false;     // else: a build whose list of GPUs is not known will do
};

class World {
public:
    World(const facts::Host& host, WorldOptions options);

    [[nodiscard]] const std::vector<specs::PackageRecord>& records() const { return m_records; }
    [[nodiscard]] const std::vector<Assumption>& assumptions() const { return m_assumptions; }
    // The driver is taken to be good enough although none was seen.
    [[nodiscard]] bool driver_assumed() const { return m_driver_assumed; }

    // Constraints for a record that brings CUDA runtime `cuda` (major.minor).
    std::vector<std::string> runtime_constraints(const DottedVersion& cuda);
    // Constraints for a record that was made with `cuda` and carries device code; nullptr: its list
    // is not known.
    std::vector<std::string> device_code_constraints(const knowledge::Architectures* code,
                                                     const DottedVersion& cuda);
    // Constraints of a build that serves GPUs from that compute capability on.
    std::vector<std::string> least_gpu_constraints(ComputeCapability least,
                                                   const std::string& source);
    // The constraint of code whose headers need a g++ of that major or newer; empty where nothing
    // is built.
    std::vector<std::string> compiler_constraints(int oldest_gcc, const std::string& source);
    // The dependency of a build that exists for x86-64 alone; `processors`: in words, what the
    // whole package has builds for.
    std::string x86_dependency(const std::string& processors);
    // Constraints for nvcc, and for what rests on the libraries of that release alone: the GPUs
    // that they serve.
    std::vector<std::string> library_constraints(const DottedVersion& cuda);
    // Adds, to the records of one channel package, what this host asks of them: driver floors for
    // CUDA runtimes, device code for frameworks, and the mark of a CPU build where CUDA was asked.
    void amend(std::vector<specs::PackageRecord>& records);

    // What a constraint that this world made means; nullptr for any other spec.
    [[nodiscard]] const HostNeed* need(const std::string& constraint) const;

    // The toolkit or compiler that a chosen `__cudaenv_nvcc` or `__cudaenv_cxx` record stands for.
    [[nodiscard]] const facts::Toolkit* toolkit_of(const specs::PackageRecord& record) const;
    [[nodiscard]] const facts::Compiler* compiler_of(const specs::PackageRecord& record) const;
    [[nodiscard]] const facts::Host& host() const { return m_host; }

    // What a record must depend on to be refused where CUDA was asked (or, with --cpu, where it was
    // not).
    static constexpr const char* k_cpu_build = "__cudaenv_cpu_build";
    static constexpr const char* k_cuda_build = "__cudaenv_cuda_build";
    static constexpr const char* k_nvcc = "__cudaenv_nvcc";
    static constexpr const char* k_cxx = "__cudaenv_cxx";

private:
    void add_driver();
    void add_gpus();
    void add_system();
    void add_builders();
    void add_cuda_given();
    void add_device_code(specs::PackageRecord& record);
    // A constraint that this host does not meet, for a record that would need `need`.
    std::string unmet(const std::string& name, HostNeed need);
    std::vector<std::string> gpu_constraints(const DottedVersion& cuda,
                                             const knowledge::Architectures* code,
                                             bool toolkit_alone);
    void assume(Assumption assumption, std::vector<std::string> depends,
                std::vector<std::string> constrains);

    facts::Host m_host;
    WorldOptions m_options;
    std::vector<specs::PackageRecord> m_records;
    std::vector<Assumption> m_assumptions;
    std::map<std::string, HostNeed> m_needs;
    bool m_driver_assumed = false;
};

// True for names that only the solver knows: virtual packages and the facts above.
bool is_virtual(std::string_view name);
// The CUDA of a channel record that is a CUDA runtime (cudatoolkit, cuda-version, cuda-cudart,
// ...).
std::optional<DottedVersion> runtime_of(const specs::PackageRecord& record);

} // namespace cudaenv::resolve
