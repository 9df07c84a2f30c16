#include "solver/resolve/world.hpp"

#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/toolkits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::resolve {

namespace {

specs::PackageRecord virtual_record(std::string name, std::string version, std::string build) {
    specs::PackageRecord record;
    record.name = std::move(name);
    record.version = std::move(version);
    record.build = std::move(build);
    return record;
}

std::string gpu_name(std::size_t index) {
    return fmt::format("__cudaenv_gpu{}", index);
}

constexpr const char* k_x86 = "x86_64";
constexpr const char* k_any_glibc = "2.99"; // conda's records require ">=2.28,<3.0.a0"
constexpr const char* k_driver = "__cudaenv_driver";
constexpr const char* k_driver_cuda = "__cudaenv_driver_cuda";
constexpr const char* k_runtime = "__cudaenv_runtime";
constexpr const char* k_assumed_nvcc = "__cudaenv_assumed_nvcc";

std::string describe_code(const knowledge::Architectures& code) {
    std::string text;
    for (const ComputeCapability& sass : code.sass) {
        text += (text.empty() ? "" : ", ") + sass.sm();
    }
    if (!code.ptx.empty()) {
        text += fmt::format("{}PTX of {}", text.empty() ? "" : " and ", code.ptx.front().str());
    }
    return text;
}

} // namespace

bool is_virtual(std::string_view name) {
    return name.starts_with("__");
}

World::World(const facts::Host& host, WorldOptions options)
    : m_host(host), m_options(std::move(options)) {
    add_system();
    add_driver();
    add_gpus();
    if (m_options.purpose == pins::Purpose::Build) {
        add_builders();
    }
    add_cuda_given();
}

void World::assume(Assumption assumption, std::vector<std::string> depends,
                   std::vector<std::string> constrains) {
    specs::PackageRecord record = virtual_record(assumption.demand, "0", "0");
    record.depends = std::move(depends);
    record.constrains = std::move(constrains);
    m_records.push_back(std::move(record));
    m_assumptions.push_back(std::move(assumption));
}

void World::add_system() {
    m_records.push_back(virtual_record("__unix", "0", "0"));
    const std::string kernel =
        m_host.kernel.substr(0, m_host.kernel.find_first_not_of("0123456789."));
    m_records.push_back(virtual_record("__linux", kernel.empty() ? "0" : kernel, "0"));
    m_records.push_back(
        virtual_record("__archspec", "1", m_host.machine.empty() ? k_x86 : m_host.machine));
    if (!m_host.machine.empty() && m_host.machine != k_x86) {
        m_records.push_back(virtual_record("__archspec", "1", std::string(k_x86) + "_assumed"));
        assume({FactKind::Processor, -1, "__fact_processor",
                fmt::format("this machine is {}", m_host.machine), "uname"},
               {fmt::format("__archspec 1 {}", m_host.machine)}, {});
    }
    if (m_host.glibc) {
        m_records.push_back(virtual_record("__glibc", m_host.glibc->str(), "0"));
        m_records.push_back(virtual_record("__glibc", k_any_glibc, "assumed"));
        assume({FactKind::Glibc, -1, "__fact_glibc",
                fmt::format("this machine has glibc {}", m_host.glibc->str()),
                "the C library here"},
               {fmt::format("__glibc {} 0", m_host.glibc->str())}, {});
    } else {
        m_records.push_back(virtual_record("__glibc", k_any_glibc, "assumed"));
    }
}

void World::add_driver() {
    const auto releases = knowledge::cuda_releases();
    const std::string newest = releases.empty() ? "13.5" : releases.back().str();
    m_records.push_back(virtual_record("__cuda", newest, "assumed"));
    for (const DottedVersion& release : releases) {
        m_records.push_back(virtual_record(k_runtime, release.str(), "0"));
    }
    const auto& driver = m_host.driver;
    if (driver && (driver->cuda || driver->version)) {
        std::string text = knowledge::driver_text(m_host);
        std::vector<std::string> depends;
        if (const auto cuda = knowledge::driver_cuda(m_host)) {
            m_records.push_back(virtual_record("__cuda", cuda->str(), "host"));
            m_records.push_back(virtual_record(k_driver_cuda, cuda->str(), "host"));
            depends.push_back(fmt::format("__cuda {} host", cuda->str()));
            depends.emplace_back(k_driver_cuda);
        }
        if (driver->version) {
            m_records.push_back(virtual_record(k_driver, driver->version->str(), "host"));
            depends.emplace_back(k_driver);
        }
        assume({FactKind::Driver, -1, "__fact_driver", std::move(text), driver->source},
               std::move(depends), {});
        return;
    }
    if (m_options.cuda_asked && !m_options.strict_host) {
        m_driver_assumed = true; // someone builds here for a machine that has one
        return;
    }
    std::string why = m_host.driver_absent.empty() ? "it is unknown whether there is a driver"
                                                   : "no driver: " + m_host.driver_absent;
    assume({FactKind::Driver, -1, "__fact_driver", std::move(why), {}}, {},
           {"__cuda ==0"}); // no __cuda at all
}

void World::add_gpus() {
    std::vector<std::string> any_of;
    for (std::size_t i = 0; i < m_host.gpus.size(); ++i) {
        const facts::Gpu& gpu = m_host.gpus[i];
        if (!gpu.compute_capability) {
            continue;
        }
        m_records.push_back(virtual_record(gpu_name(i), gpu.compute_capability->str(), "host"));
        if (m_options.every_gpu) {
            assume({FactKind::Gpu, static_cast<int>(i), fmt::format("__fact_gpu{}", i),
                    fmt::format("{} is {}",
                                gpu.name.empty() ? fmt::format("GPU {}", gpu.index) : gpu.name,
                                gpu.compute_capability->sm()),
                    gpu.source},
                   {gpu_name(i)}, {});
        } else {
            // One of several: an alternative record each, so that one served GPU is enough.
            specs::PackageRecord one =
                virtual_record("__cudaenv_any_gpu", fmt::format("{}", 1000 - i), "host");
            one.depends.push_back(gpu_name(i));
            m_records.push_back(std::move(one));
            any_of.push_back(gpu.name);
        }
    }
    if (!any_of.empty()) {
        assume({FactKind::Gpu, 0, "__fact_any_gpu", "GPUs here: " + join(any_of, ", "),
                m_host.gpus.front().source},
               {"__cudaenv_any_gpu"}, {});
    }
}

void World::add_builders() {
    // nvcc and compiler are chosen together: an nvcc needs a compiler of its range. Real ones stand
    // before assumed ones, the newest first, gcc before clang.
    std::vector<std::string> compiler_texts;
    for (std::size_t i = 0; i < m_host.compilers.size(); ++i) {
        const facts::Compiler& compiler = m_host.compilers[i];
        const bool gcc = compiler.family == facts::CompilerFamily::Gcc;
        specs::PackageRecord record = virtual_record(
            k_cxx, compiler.version.str(), fmt::format("{}_host{}", gcc ? "gcc" : "clang", i));
        record.build_number = 1;
        m_records.push_back(std::move(record));
        compiler_texts.push_back(
            fmt::format("{} {}", gcc ? "gcc" : "clang", compiler.version.str()));
    }
    for (int major = 4; major <= 16; ++major) {
        m_records.push_back(virtual_record(k_cxx, fmt::format("{}", major), "gcc_assumed"));
    }
    const auto add_nvcc = [&](const DottedVersion& version, const std::string& build,
                              std::uint64_t preference, std::optional<int> gcc_min,
                              std::optional<int> gcc_max, std::optional<int> clang_min,
                              std::optional<int> clang_max) {
        for (const bool gcc : {true, false}) {
            if (!gcc && !clang_max) {
                continue;
            }
            specs::PackageRecord record =
                virtual_record(k_nvcc, version.str(), build + (gcc ? "_gcc" : "_clang"));
            record.build_number = 2 * preference + (gcc ? 1 : 0);
            if (build == "assumed") {
                // An nvcc that somebody would have to get is the one of the very release.
                record.depends.push_back(
                    fmt::format("{} =={}", k_assumed_nvcc, version.major_minor()));
            }
            const std::string low = gcc         ? fmt::format(">={}", gcc_min.value_or(3))
                                    : clang_min ? fmt::format(">={}", *clang_min)
                                                : ">=3.3";
            const std::optional<int> top = gcc ? gcc_max : clang_max;
            const std::string range = top ? fmt::format("{},<{}", low, *top + 1) : low;
            const std::string needed =
                fmt::format("{} {} {}*", k_cxx, range, gcc ? "gcc" : "clang");
            record.depends.push_back(needed);
            const std::string accepted =
                gcc ? (top ? fmt::format("gcc {}-{}", gcc_min.value_or(3), *top)
                           : std::string("any gcc"))
                    : fmt::format("clang up to {}", top.value_or(0));
            m_needs[needed] = {FactKind::Compilers,
                               -1,
                               gcc && top ? fmt::format("gcc up to {}", *top) : accepted,
                               top ? std::optional(DottedVersion::of(std::to_string(*top)))
                                   : std::nullopt,
                               {}};
            record.constrains = library_constraints(version);
            m_records.push_back(std::move(record));
        }
    };
    std::vector<std::string> toolkit_texts;
    for (std::size_t i = 0; i < m_host.toolkits.size(); ++i) {
        const facts::Toolkit& toolkit = m_host.toolkits[i];
        if (!toolkit.nvcc || !toolkit.version || !toolkit.problem.empty()) {
            continue;
        }
        const auto range = knowledge::compiler_range(toolkit);
        add_nvcc(*toolkit.version, fmt::format("host{}", i), 1, range.gcc_min,
                 knowledge::newest_gcc(toolkit), range.clang_min, range.clang_max);
        toolkit_texts.push_back(fmt::format("nvcc {} in {}", toolkit.version->str(), toolkit.path));
    }
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        m_records.push_back(virtual_record(k_assumed_nvcc, release.major_minor(), "0"));
        const auto range = knowledge::compilers_of_toolkit(release);
        add_nvcc(release, "assumed", 0, range ? range->gcc_min : std::nullopt,
                 range ? range->gcc_max : std::nullopt, std::nullopt, std::nullopt);
    }
    assume(
        {FactKind::Toolkits,
         -1,
         "__fact_toolkits",
         toolkit_texts.empty() ? "no nvcc is on this host" : "here: " + join(toolkit_texts, "; "),
         {}},
        {}, {fmt::format("{} * host*", k_nvcc)});
    assume({FactKind::Compilers,
            -1,
            "__fact_compilers",
            compiler_texts.empty() ? "no C++ compiler is on this host"
                                   : "compilers here: " + join(compiler_texts, ", "),
            {}},
           {}, {fmt::format("{} * *_host*", k_cxx)});
}

void World::add_cuda_given() {
    m_records.push_back(virtual_record(k_cpu_build, "0", "0"));
    m_records.push_back(virtual_record(k_cuda_build, "0", "0"));
    if (m_options.cpu_asked) {
        assume({FactKind::CudaGiven, -1, "__fact_cpu_given", "a CPU build was requested", {}}, {},
               {std::string(k_cuda_build) + " ==9"});
    } else if (m_options.cuda_asked) {
        assume({FactKind::CudaGiven,
                -1,
                "__fact_cuda_given",
                m_options.cuda_named ? "CUDA was requested, which rules out a CPU build"
                                     : "a GPU is here, which rules out a CPU build",
                {}},
               {}, {std::string(k_cpu_build) + " ==9"});
    }
}

// Each need of this host has a spec of its own, so that the spec leads back to the words.
std::string World::unmet(const std::string& name, HostNeed need) {
    for (const auto& [spec, known] : m_needs) {
        if (known.text == need.text && spec.starts_with(name + ' ')) {
            return spec;
        }
    }
    std::string spec = fmt::format("{} ==0.0.{}", name, m_needs.size());
    m_needs.emplace(spec, std::move(need));
    return spec;
}

std::vector<std::string> World::runtime_constraints(const DottedVersion& cuda) {
    using knowledge::DriverFit;
    std::vector<std::string> constraints;
    const unsigned major = cuda.major();
    const auto judged = knowledge::driver_fit(m_host, cuda);
    const bool strict = m_options.strict_host;
    const bool refused =
        judged.fit == DriverFit::TooOld ||
        (judged.fit == DriverFit::MachineCode && (strict || m_options.full_driver)) ||
        (judged.fit == DriverFit::BelowMinimum && strict);
    if (refused && !m_driver_assumed) {
        const bool family =
            knowledge::has_family(cuda) && judged.fit == DriverFit::TooOld && !strict;
        const auto& bound = family ? judged.floor : judged.minimum;
        const std::string label = family ? std::to_string(major) : cuda.major_minor();
        HostNeed need{FactKind::Driver, -1, {}, std::nullopt, {}};
        need.text = bound ? fmt::format("driver {} or newer (CUDA {})", bound->driver.str(), label)
                          : fmt::format("a driver for CUDA {}", label);
        if (bound) {
            need.bound = bound->driver;
            need.source = bound->source;
        }
        const bool by_version = m_host.driver && m_host.driver->version;
        constraints.push_back(unmet(by_version ? k_driver : k_driver_cuda, std::move(need)));
    }
    if (m_options.purpose == pins::Purpose::Build) {
        const bool minor = m_options.nvcc_same_minor || !knowledge::any_minor_builds(cuda);
        std::string spec =
            fmt::format("{} {}.*", k_nvcc, minor ? cuda.major_minor() : std::to_string(major));
        m_needs.emplace(
            spec,
            HostNeed{FactKind::Toolkits,
                     -1,
                     fmt::format("nvcc {}{}", minor ? cuda.major_minor() : std::to_string(major),
                                 minor ? "" : ".x"),
                     cuda,
                     {}});
        constraints.push_back(std::move(spec));
        constraints.push_back(fmt::format("{} {}.*", k_assumed_nvcc, cuda.major_minor()));
    }
    return constraints;
}

std::vector<std::string> World::gpu_constraints(const DottedVersion& cuda,
                                                const knowledge::Architectures* code,
                                                bool toolkit_alone) {
    using knowledge::GpuFit;
    std::vector<std::string> constraints;
    for (std::size_t i = 0; i < m_host.gpus.size(); ++i) {
        const auto& capability = m_host.gpus[i].compute_capability;
        if (!capability) {
            continue;
        }
        const auto judged = toolkit_alone
                                ? knowledge::toolkit_serves(cuda, *capability)
                                : knowledge::build_serves(cuda, code, *capability, m_host);
        HostNeed need{FactKind::Gpu, static_cast<int>(i), {}, std::nullopt, judged.source};
        switch (judged.fit) {
        case GpuFit::NoCode:
            need.text = "code for " + describe_code(*code);
            break;
        case GpuFit::TooNew:
            need.text =
                fmt::format("CUDA {}, whose libraries have no code for {}{}", cuda.major_minor(),
                            capability->sm(),
                            judged.other_cuda.empty()
                                ? ""
                                : fmt::format(" (CUDA {} is the first)", judged.other_cuda));
            break;
        case GpuFit::TooOld:
            need.text = fmt::format(
                "CUDA {}, which no longer supports {}{}", cuda.major_minor(), capability->sm(),
                judged.other_cuda.empty()
                    ? ""
                    : fmt::format(" (CUDA {} was the last)", judged.other_cuda));
            break;
        case GpuFit::Unknown:
            if (!m_options.known_code || toolkit_alone) {
                continue;
            }
            need.text = "a list of GPUs that is not published";
            break;
        case GpuFit::MachineCode:
        case GpuFit::Ptx:
            continue;
        }
        constraints.push_back(unmet(gpu_name(i), std::move(need)));
    }
    return constraints;
}

std::vector<std::string> World::device_code_constraints(const knowledge::Architectures* code,
                                                        const DottedVersion& cuda) {
    return gpu_constraints(cuda, code, false);
}

std::vector<std::string> World::least_gpu_constraints(ComputeCapability least,
                                                      const std::string& source) {
    std::vector<std::string> constraints;
    for (std::size_t i = 0; i < m_host.gpus.size(); ++i) {
        const auto& capability = m_host.gpus[i].compute_capability;
        if (capability && *capability < least) {
            constraints.push_back(
                unmet(gpu_name(i),
                      {FactKind::Gpu, static_cast<int>(i),
                       fmt::format("code for {} and newer", least.sm()), std::nullopt, source}));
        }
    }
    return constraints;
}

std::vector<std::string> World::compiler_constraints(int oldest_gcc, const std::string& source) {
    if (m_options.purpose != pins::Purpose::Build) {
        return {};
    }
    std::string spec = fmt::format("{} >={}", k_cxx, oldest_gcc);
    HostNeed need{FactKind::Compilers,
                  -1,
                  fmt::format("g++ {} or newer", oldest_gcc),
                  DottedVersion::of(std::to_string(oldest_gcc)),
                  source,
                  true};
    m_needs.emplace(spec, std::move(need));
    return {std::move(spec)};
}

std::string World::x86_dependency(const std::string& processors) {
    std::string spec = fmt::format("__archspec * {}*", k_x86);
    m_needs.emplace(spec, HostNeed{FactKind::Processor, -1, processors, std::nullopt, {}});
    return spec;
}

std::vector<std::string> World::library_constraints(const DottedVersion& cuda) {
    return gpu_constraints(cuda, nullptr, true);
}

const HostNeed* World::need(const std::string& constraint) const {
    const auto found = m_needs.find(constraint);
    return found == m_needs.end() ? nullptr : &found->second;
}

namespace {
std::optional<std::size_t> host_index(const std::string& build) {
    const std::size_t at = build.find("host");
    if (at == std::string::npos) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(std::stoul(build.substr(at + 4)));
}
} // namespace

const facts::Toolkit* World::toolkit_of(const specs::PackageRecord& record) const {
    const auto index = record.name == k_nvcc ? host_index(record.build) : std::nullopt;
    return index && *index < m_host.toolkits.size() ? &m_host.toolkits[*index] : nullptr;
}

const facts::Compiler* World::compiler_of(const specs::PackageRecord& record) const {
    const auto index = record.name == k_cxx ? host_index(record.build) : std::nullopt;
    return index && *index < m_host.compilers.size() ? &m_host.compilers[*index] : nullptr;
}

// --- channel records ----------------------------------------------------------------------------

std::optional<DottedVersion> runtime_of(const specs::PackageRecord& record) {
    // Packages whose version is the CUDA release's (cuda-cudart's begins with it).
    static constexpr std::array<std::string_view, 5> k_runtimes = {
        "cudatoolkit", "cuda-version", "pytorch-cuda", "cuda-cudart", "cuda-runtime"};
    if (std::ranges::find(k_runtimes, record.name) == k_runtimes.end()) {
        return std::nullopt;
    }
    const auto version = DottedVersion::parse(record.version);
    if (!version || version->parts().size() < 2) {
        return std::nullopt;
    }
    return DottedVersion::of(version->major_minor());
}

// Which GPUs a pytorch build of a channel has code for: its own row where there is one, else what
// its toolkit can make.
void World::add_device_code(specs::PackageRecord& record) {
    const auto build = knowledge::build_by_conda(record.build, {});
    if (!build.cuda || build.cuda->parts().size() < 2) {
        return;
    }
    const auto* const release = knowledge::torch_release(record.version);
    std::optional<knowledge::Architectures> code;
    if (release != nullptr) {
        for (const auto& variant : release->variants) {
            if (variant.cuda.major_minor() == build.cuda->major_minor() &&
                variant.conda_architectures) {
                code = variant.conda_architectures;
            }
        }
    }
    for (std::string& constraint : device_code_constraints(code ? &*code : nullptr, *build.cuda)) {
        record.constrains.push_back(std::move(constraint));
    }
}

namespace {
bool is_known_release(const DottedVersion& cuda) {
    const auto releases = knowledge::cuda_releases();
    return std::ranges::find(releases, cuda) != releases.end();
}
} // namespace

void World::amend(std::vector<specs::PackageRecord>& records) {
    if (records.empty()) {
        return;
    }
    // Not xgboost and its like: a CPU build of those beside a CUDA torch is what people mean.
    const auto* const row = knowledge::find_framework(records.front().name);
    const bool framework = row != nullptr && row->cpu_build;
    const auto is_cuda_build = [](const specs::PackageRecord& record) {
        return knowledge::build_by_conda(record.build, record.depends).kind ==
               knowledge::BuildKind::Cuda;
    };
    const auto is_cpu_build = [](const specs::PackageRecord& record) {
        return knowledge::build_by_conda(record.build, record.depends).kind ==
               knowledge::BuildKind::Cpu;
    };
    // Where CUDA is named, a channel of builds that say CPU has no answer.
    const bool only_cpu =
        framework && m_options.cuda_named && std::ranges::all_of(records, is_cpu_build);
    const bool has_both = framework && (only_cpu || std::ranges::any_of(records, is_cuda_build));
    for (specs::PackageRecord& record : records) {
        if (const auto cuda = runtime_of(record)) {
            if (is_known_release(*cuda)) {
                // One environment, one CUDA: whichever packages carry it have to agree.
                record.depends.push_back(fmt::format("{} =={}", k_runtime, cuda->str()));
            }
            for (std::string& constraint : runtime_constraints(*cuda)) {
                record.constrains.push_back(std::move(constraint));
            }
        }
        if (record.name == "pytorch" && !m_host.gpus.empty()) {
            add_device_code(record);
        }
        if (!has_both) {
            continue;
        }
        if (!is_cuda_build(record)) {
            record.depends.emplace_back(k_cpu_build);
        } else {
            record.depends.emplace_back(k_cuda_build);
        }
    }
}

} // namespace cudaenv::resolve
