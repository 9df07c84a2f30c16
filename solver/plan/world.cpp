#include "solver/plan/world.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan {

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

constexpr const char* k_driver = "__cudaenv_driver";
constexpr const char* k_driver_cuda = "__cudaenv_driver_cuda";
constexpr const char* k_runtime = "__cudaenv_runtime";
constexpr const char* k_assumed_nvcc = "__cudaenv_assumed_nvcc";

// A version spec that holds for exactly the compute capabilities that the device code serves.
std::string served_spec(const knowledge::Architectures& code, bool ptx_usable) {
    std::string spec;
    for (const ComputeCapability& sass : code.sass) {
        spec += fmt::format("{}>={},<{}", spec.empty() ? "" : "|", sass.str(), sass.major + 1);
    }
    if (ptx_usable && !code.ptx.empty()) {
        spec += fmt::format("{}>={}", spec.empty() ? "" : "|", code.ptx.front().str());
    }
    return spec;
}

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
    if (m_options.purpose == Purpose::Build) {
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
        virtual_record("__archspec", "1", m_host.machine.empty() ? "x86_64" : m_host.machine));
    if (m_host.glibc) {
        m_records.push_back(virtual_record("__glibc", m_host.glibc->str(), "0"));
        m_records.push_back(virtual_record("__glibc", "99", "assumed"));
        assume({FactKind::Glibc, -1, "__fact_glibc", fmt::format("glibc {}", m_host.glibc->str()),
                "the C library here"},
               {fmt::format("__glibc {} 0", m_host.glibc->str())}, {});
    } else {
        m_records.push_back(virtual_record("__glibc", "99", "assumed"));
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
        std::string text = driver->version ? "driver " + driver->version->str() : "the driver";
        if (driver->cuda) {
            text += " gives CUDA " + driver->cuda->str();
            text += driver->measured ? " (measured)" : "";
        }
        std::vector<std::string> depends;
        if (driver->cuda) {
            m_records.push_back(virtual_record("__cuda", driver->cuda->str(), "host"));
            m_records.push_back(virtual_record(k_driver_cuda, driver->cuda->str(), "host"));
            depends.push_back(fmt::format("__cuda {} host", driver->cuda->str()));
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
    std::string why = m_host.driver_absent.empty() ? "nothing is known of a driver"
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
                              std::optional<int> gcc_max, std::optional<int> clang_max) {
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
            const std::string low = gcc ? fmt::format(">={}", gcc_min.value_or(3)) : ">=3.3";
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
            if (const auto code = knowledge::architectures_of_toolkit(version)) {
                for (std::string& constraint : device_code_constraints(*code, version)) {
                    record.constrains.push_back(std::move(constraint));
                }
            }
            m_records.push_back(std::move(record));
        }
    };
    std::vector<std::string> toolkit_texts;
    for (std::size_t i = 0; i < m_host.toolkits.size(); ++i) {
        const facts::Toolkit& toolkit = m_host.toolkits[i];
        if (!toolkit.nvcc || !toolkit.version || !toolkit.problem.empty()) {
            continue;
        }
        add_nvcc(*toolkit.version, fmt::format("host{}", i), 1, toolkit.gcc_min, toolkit.gcc_max,
                 toolkit.clang_max);
        toolkit_texts.push_back(fmt::format("nvcc {} in {}", toolkit.version->str(), toolkit.path));
    }
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        m_records.push_back(virtual_record(k_assumed_nvcc, release.major_minor(), "0"));
        const auto range = knowledge::compilers_of_toolkit(release);
        add_nvcc(release, "assumed", 0, range ? range->gcc_min : std::nullopt,
                 range ? range->gcc_max : std::nullopt, std::nullopt);
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
        assume({FactKind::CudaGiven, -1, "__fact_cpu_given", "a CPU build was asked for", {}}, {},
               {std::string(k_cuda_build) + " ==9"});
    } else if (m_options.cuda_asked) {
        assume({FactKind::CudaGiven,
                -1,
                "__fact_cuda_given",
                "CUDA was asked for, so a CPU build is no answer",
                {}},
               {}, {std::string(k_cpu_build) + " ==9"});
    }
}

std::vector<std::string> World::runtime_constraints(const DottedVersion& cuda) {
    std::vector<std::string> constraints;
    const unsigned major = cuda.major();
    auto floor = major >= 11 ? knowledge::family_floor(major) : std::nullopt;
    if (!floor || m_options.strict_host) {
        if (auto own = knowledge::toolkit_minimum_driver(cuda)) {
            floor = std::move(own);
        }
    }
    const bool family = major >= 11 && !m_options.strict_host;
    HostNeed need{FactKind::Driver, -1, {}, std::nullopt, {}};
    const std::string label = family ? fmt::format("{}", major) : cuda.major_minor();
    need.text = floor ? fmt::format("driver {} or newer (CUDA {})", floor->driver.str(), label)
                      : fmt::format("a driver for CUDA {}", label);
    if (floor) {
        need.bound = floor->driver;
        need.source = floor->source;
    }
    // What the driver itself told goes before the table of its branches: a compat library gives
    // more than its kernel module's branch.
    const bool measured = m_host.driver && m_host.driver->measured && m_host.driver->cuda;
    if (m_host.driver && m_host.driver->version && floor && !measured) {
        constraints.push_back(fmt::format("{} >={}", k_driver, floor->driver.str()));
    } else if (m_host.driver && m_host.driver->cuda) {
        constraints.push_back(fmt::format("{} >={}", k_driver_cuda, label));
    }
    for (const std::string& constraint : constraints) {
        m_needs.emplace(constraint, need);
    }
    if (m_options.purpose == Purpose::Build) {
        // torch refuses another major outright and warns of another minor; before 11 minors differ
        // in ABI.
        const bool minor = m_options.nvcc_same_minor || major < 11;
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

std::vector<std::string> World::device_code_constraints(const knowledge::Architectures& code,
                                                        const DottedVersion& cuda) {
    std::vector<std::string> constraints;
    const bool ptx_usable = !m_host.driver || !m_host.driver->cuda || *m_host.driver->cuda >= cuda;
    const std::string spec = served_spec(code, ptx_usable);
    if (spec.empty()) {
        return constraints;
    }
    for (std::size_t i = 0; i < m_host.gpus.size(); ++i) {
        if (!m_host.gpus[i].compute_capability) {
            continue;
        }
        std::string constraint = fmt::format("{} {}", gpu_name(i), spec);
        m_needs.emplace(constraint,
                        HostNeed{FactKind::Gpu, static_cast<int>(i),
                                 "code for " + describe_code(code), std::nullopt, code.source});
        constraints.push_back(std::move(constraint));
    }
    return constraints;
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
    if (std::find(k_runtimes.begin(), k_runtimes.end(), record.name) == k_runtimes.end()) {
        return std::nullopt;
    }
    const auto version = DottedVersion::parse(record.version);
    if (!version || version->parts().size() < 2) {
        return std::nullopt;
    }
    return DottedVersion::of(version->major_minor());
}

bool is_framework(std::string_view name) {
    // Not xgboost and its like: a CPU build of those beside a CUDA torch is what people mean.
    static constexpr std::array<std::string_view, 8> k_frameworks = {
        "pytorch",    "libtorch",        "torchvision",   "torchaudio",
        "tensorflow", "tensorflow-base", "libtensorflow", "jaxlib"};
    return std::find(k_frameworks.begin(), k_frameworks.end(), name) != k_frameworks.end();
}

bool is_cuda_build(const specs::PackageRecord& record) {
    const std::string build = to_lower_ascii(record.build);
    const auto names_cuda = [&](std::string_view mark) {
        return build.find(mark) != std::string::npos;
    };
    if (names_cuda("cuda") || names_cuda("gpu") || names_cuda("_cu")) {
        return true;
    }
    return std::any_of(record.depends.begin(), record.depends.end(), [](const std::string& spec) {
        const std::string name = spec.substr(0, spec.find_first_of(" =<>!~["));
        return name == "cudatoolkit" || name.starts_with("cuda-") || name == "pytorch-cuda" ||
               name == "cudnn" || name == "__cuda" || name == "cudatoolkit-dev" ||
               spec == "pytorch-mutex 1.0 cuda" || spec.starts_with("_tflow_select 2.1") ||
               (name == "tensorflow-base" && spec.find("gpu_") != std::string::npos) ||
               (name == "pytorch" && spec.find("cuda") != std::string::npos);
    });
}

namespace {
// The CUDA of a pytorch build: `py3.8_cuda11.0.221_cudnn8.0.3_0` or `cuda126_mkl_py312_..._303`.
std::optional<DottedVersion> cuda_of_build(const std::string& build) {
    const std::size_t at = build.find("cuda");
    if (at == std::string::npos) {
        return std::nullopt;
    }
    const std::size_t end = build.find_first_not_of("0123456789.", at + 4);
    std::string digits = build.substr(at + 4, end == std::string::npos ? end : end - at - 4);
    if (digits.size() >= 3 && digits.find('.') == std::string::npos) {
        digits.insert(digits.size() - 1, ".");
    }
    const auto version = DottedVersion::parse(digits);
    if (!version || version->parts().size() < 2) {
        return std::nullopt;
    }
    return DottedVersion::of(version->major_minor());
}
} // namespace

// Which GPUs a pytorch build of a channel has code for: its own row where there is one, else what
// its toolkit can make.
void World::add_device_code(specs::PackageRecord& record) {
    const auto cuda = cuda_of_build(record.build);
    if (!cuda) {
        return;
    }
    std::optional<knowledge::Architectures> code;
    for (const auto& release : knowledge::torch_releases()) {
        if (release.torch.str() != record.version) {
            continue;
        }
        for (const auto& variant : release.variants) {
            if (variant.cuda.major_minor() == cuda->str() && variant.conda_architectures) {
                code = variant.conda_architectures;
            }
        }
    }
    if (!code) {
        code = knowledge::architectures_of_toolkit(*cuda);
    }
    if (code) {
        for (std::string& constraint : device_code_constraints(*code, *cuda)) {
            record.constrains.push_back(std::move(constraint));
        }
    }
}

namespace {
bool is_known_release(const DottedVersion& cuda) {
    const auto releases = knowledge::cuda_releases();
    return std::find(releases.begin(), releases.end(), cuda) != releases.end();
}
} // namespace

void World::amend(std::vector<specs::PackageRecord>& records) {
    if (records.empty()) {
        return;
    }
    const bool framework = is_framework(records.front().name);
    const bool has_both = framework && std::any_of(records.begin(), records.end(), is_cuda_build);
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

} // namespace cudaenv::plan
