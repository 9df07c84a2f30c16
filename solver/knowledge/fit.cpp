#include "solver/knowledge/fit.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace cudaenv::knowledge {

namespace {

DottedVersion minor_of(const DottedVersion& cuda) {
    return DottedVersion::of(cuda.major_minor());
}

// Windows' driver and a Jetson's are numbered apart: their versions meet none of the tables'
// bounds.
bool is_numbered_apart(const facts::Host& host) {
    return host.platform.wsl || host.platform.jetson;
}

DriverFit fit_by_cuda(const DottedVersion& gives, const DottedVersion& cuda) {
    if (gives.major() != cuda.major()) {
        return gives.major() > cuda.major() ? DriverFit::Full : DriverFit::TooOld;
    }
    if (cuda.parts().size() < 2 || minor_of(gives) >= minor_of(cuda)) {
        return DriverFit::Full;
    }
    return has_family(cuda) ? DriverFit::MachineCode : DriverFit::TooOld;
}

} // namespace

bool has_family(const DottedVersion& cuda) {
    return cuda.major() >= 11;
}

Answer DriverJudgement::runs() const {
    switch (fit) {
    case DriverFit::TooOld:
        return Answer::No;
    case DriverFit::Unknown:
        return Answer::Unknown;
    case DriverFit::Full:
    case DriverFit::BelowMinimum:
    case DriverFit::MachineCode:
        break;
    }
    return Answer::Yes;
}

DriverJudgement driver_fit(const facts::Host& host, const DottedVersion& cuda) {
    DriverJudgement judged;
    judged.floor = has_family(cuda) ? family_floor(cuda.major()) : toolkit_minimum_driver(cuda);
    judged.minimum = cuda.parts().size() < 2 ? judged.floor : toolkit_minimum_driver(cuda);
    if (!host.driver) {
        return judged;
    }
    const facts::Driver& driver = *host.driver;
    judged.driver = driver.version ? "driver " + driver.version->str() : "the driver";
    judged.source = driver.source;
    judged.gives = driver_cuda(host);
    judged.measured = driver.measured || (host.measured && host.measured->driver_cuda);
    const bool said = judged.measured || (driver.cuda && !driver.derived);
    const auto version = is_numbered_apart(host) ? std::nullopt : driver.version;
    judged.newer = version && !judged.gives && cuda_of_driver(*version).has_value();
    if (judged.gives) {
        judged.fit = fit_by_cuda(*judged.gives, cuda);
        // Below the floor there is no minor version compatibility: such a driver runs the CUDA that
        // it gives itself, and no other of the family. What was measured may be cuda-compat's, of
        // which the driver's version says nothing; what the driver reports stands for all before.
        const bool itself = has_family(cuda)
                                ? cuda.parts().size() > 1 && judged.fit == DriverFit::Full &&
                                      (said || minor_of(*judged.gives) == minor_of(cuda))
                                : said;
        if (version && judged.floor && !judged.measured && !itself &&
            *version < judged.floor->driver && judged.gives->major() == cuda.major()) {
            judged.fit = DriverFit::TooOld;
        }
    } else if (version && judged.floor) {
        judged.fit = *version < judged.floor->driver     ? DriverFit::TooOld
                     : !judged.minimum                   ? DriverFit::Unknown
                     : *version < judged.minimum->driver ? DriverFit::MachineCode
                                                         : DriverFit::Full;
    }
    if (judged.fit == DriverFit::Full && version && judged.minimum && !said &&
        *version < judged.minimum->driver) {
        judged.fit = DriverFit::BelowMinimum;
    }
    return judged;
}

std::optional<DottedVersion> driver_cuda(const facts::Host& host) {
    if (!host.driver) {
        return std::nullopt;
    }
    if (host.measured && host.measured->driver_cuda) {
        return host.measured->driver_cuda;
    }
    if (host.driver->cuda || !host.driver->version || is_numbered_apart(host)) {
        return host.driver->cuda;
    }
    const auto known = cuda_of_driver(*host.driver->version);
    return known && !known->newer_than_known ? std::optional(known->cuda) : std::nullopt;
}

std::optional<DottedVersion> newest_cuda_in_full(const facts::Host& host) {
    std::optional<DottedVersion> gives = driver_cuda(host);
    if (!gives && host.driver && host.driver->version && !is_numbered_apart(host)) {
        if (const auto known = cuda_of_driver(*host.driver->version)) {
            gives = known->cuda;
        }
    }
    std::optional<DottedVersion> newest;
    for (const DottedVersion& release : cuda_releases()) {
        if (gives && release <= *gives) {
            newest = release;
        }
    }
    return newest;
}

std::string driver_text(const facts::Host& host) {
    if (!host.driver) {
        return {};
    }
    const facts::Driver& driver = *host.driver;
    const std::string name =
        driver.version ? "driver " + driver.version->str() : std::string("the driver");
    if (const auto gives = driver_cuda(host)) {
        return name + " gives CUDA " + gives->str() + (driver.measured ? " (measured)" : "");
    }
    if (!driver.version) {
        return {};
    }
    return !is_numbered_apart(host) && cuda_of_driver(*driver.version)
               ? name + " is newer than cudaenv knows"
               : name + ": the CUDA that it gives is unknown";
}

DriverVerdict driver_verdict(const facts::Host& host, const DottedVersion& cuda) {
    const DriverJudgement judged = driver_fit(host, cuda);
    const Answer answer = judged.fit == DriverFit::Full ? Answer::Yes : Answer::Unknown;
    if (judged.newer && answer == Answer::Yes) {
        // By its version alone: what it gives beyond this CUDA is not known.
        return {judged.driver + " runs CUDA " + cuda.major_minor(), answer};
    }
    return {driver_text(host), answer};
}

std::optional<DriverBound> driver_before_gpu(const facts::Host& host, ComputeCapability gpu) {
    const bool seen = host.measured && host.measured->driver_cuda;
    if (!host.driver || !host.driver->version || seen || is_numbered_apart(host)) {
        return std::nullopt;
    }
    const auto generation = generation_of(gpu);
    if (!generation || !generation->first_cuda) {
        return std::nullopt;
    }
    auto first = toolkit_minimum_driver(*generation->first_cuda);
    return first && host.driver->version->major() < first->driver.major() ? first : std::nullopt;
}

Answer GpuJudgement::runs() const {
    switch (fit) {
    case GpuFit::MachineCode:
    case GpuFit::Ptx:
        return Answer::Yes;
    case GpuFit::Unknown:
        return Answer::Unknown;
    case GpuFit::NoCode:
    case GpuFit::TooNew:
    case GpuFit::TooOld:
        break;
    }
    return Answer::No;
}

bool machine_code_runs(ComputeCapability made, ComputeCapability gpu, const DottedVersion& cuda) {
    if (made == gpu) {
        return true;
    }
    constexpr ComputeCapability k_thor_before_13{10, 1};
    constexpr ComputeCapability k_thor{11, 0};
    if ((made == k_thor_before_13 && gpu == k_thor) ||
        (made == k_thor && gpu == k_thor_before_13)) {
        return true; // renamed
    }
    if (made.major != gpu.major || made.minor > gpu.minor || gpu == k_thor_before_13) {
        return false;
    }
    constexpr std::array<ComputeCapability, 4> k_integrated = {{{5, 3}, {6, 2}, {7, 2}, {8, 7}}};
    const auto integrated = [&](ComputeCapability one) { return is_one_of(one, k_integrated); };
    if (integrated(gpu)) {
        // From CUDA 13.2 on, SBSA binaries run on Jetson.
        return !integrated(made) && gpu.major >= 7 && cuda >= DottedVersion::of("13.2");
    }
    return !integrated(made);
}

GpuJudgement toolkit_serves(const DottedVersion& cuda, ComputeCapability gpu) {
    GpuJudgement judged;
    const auto made = architectures_of_toolkit(cuda);
    if (!made || made->sass.empty()) {
        return judged;
    }
    judged.source = made->source;
    const auto runs = [&](ComputeCapability one) { return machine_code_runs(one, gpu, cuda); };
    if (std::ranges::any_of(made->sass, runs)) {
        judged.fit = GpuFit::MachineCode;
        return judged;
    }
    const auto generation = generation_of(gpu);
    judged.fit = gpu < made->sass.front() || (generation && generation->first_cuda &&
                                              minor_of(cuda) >= *generation->first_cuda)
                     ? GpuFit::TooOld
                     : GpuFit::TooNew;
    if (generation && judged.fit == GpuFit::TooOld) {
        judged.other_cuda = generation->last_cuda.value_or("");
    }
    if (judged.fit == GpuFit::TooNew) {
        for (const DottedVersion& release : cuda_releases()) {
            const auto later = architectures_of_toolkit(release);
            if (release > minor_of(cuda) && later &&
                std::ranges::any_of(later->sass, [&](ComputeCapability one) {
                    return machine_code_runs(one, gpu, release);
                })) {
                judged.other_cuda = release.str();
                break;
            }
        }
    }
    return judged;
}

GpuJudgement build_serves(const DottedVersion& cuda, const Architectures* code,
                          ComputeCapability gpu, const facts::Host& host) {
    const GpuJudgement libraries = toolkit_serves(cuda, gpu);
    if (libraries.runs() == Answer::No) {
        return libraries;
    }
    GpuJudgement judged;
    if (code == nullptr || (code->sass.empty() && code->ptx.empty())) {
        return judged;
    }
    judged.source = code->source;
    judged.certain = code->confidence.empty() || code->derived;
    const auto runs = [&](ComputeCapability one) { return machine_code_runs(one, gpu, cuda); };
    if (std::ranges::any_of(code->sass, runs)) {
        judged.fit = code->derived ? GpuFit::Unknown : GpuFit::MachineCode;
    } else if (serves_with_ptx(*code, gpu)) {
        const DriverFit driver = driver_fit(host, cuda).fit;
        judged.fit = driver == DriverFit::MachineCode || driver == DriverFit::TooOld
                         ? GpuFit::NoCode
                     : code->derived ? GpuFit::Unknown
                                     : GpuFit::Ptx;
    } else {
        judged.fit = GpuFit::NoCode;
    }
    return judged;
}

std::vector<NamedGpu> gpus_of(const facts::Host& host) {
    std::vector<NamedGpu> gpus;
    const auto add = [&](int index, const auto& gpu, std::string source) {
        gpus.push_back({index, gpu.name.empty() ? "GPU " + std::to_string(index) : gpu.name,
                        gpu.uuid, gpu.compute_capability, std::move(source)});
    };
    if (host.measured && !host.measured->gpus.empty()) {
        for (const facts::MeasuredGpu& gpu : host.measured->gpus) {
            add(static_cast<int>(gpus.size()), gpu, "cudaenv probe");
        }
        return gpus;
    }
    for (const facts::Gpu& gpu : host.gpus) {
        add(gpu.index, gpu, gpu.source);
    }
    return gpus;
}

std::string visible_devices(std::span<const NamedGpu> gpus) {
    const bool by_uuid = !gpus.empty() && std::ranges::none_of(gpus, [](const NamedGpu& gpu) {
        return gpu.uuid.empty();
    });
    std::string list;
    for (const NamedGpu& gpu : gpus) {
        list += (list.empty() ? "" : ",") + (by_uuid ? gpu.uuid : std::to_string(gpu.index));
    }
    return (by_uuid ? "" : "CUDA_DEVICE_ORDER=PCI_BUS_ID ") + ("CUDA_VISIBLE_DEVICES=" + list);
}

CompilerRange compiler_range(const facts::Toolkit& toolkit) {
    CompilerRange range{toolkit.gcc_min, toolkit.gcc_max, toolkit.clang_min, toolkit.clang_max,
                        toolkit.source};
    const auto known = toolkit.version ? compilers_of_toolkit(*toolkit.version) : std::nullopt;
    if (known && !range.gcc_max) {
        range.gcc_min = known->gcc_min;
        range.gcc_max = known->gcc_max;
    }
    if (known && !range.clang_max) {
        range.clang_min = known->clang_min;
        range.clang_max = known->clang_max;
    }
    return range;
}

Answer accepts_compiler(const facts::Toolkit& toolkit, const facts::Compiler& compiler) {
    const CompilerRange range = compiler_range(toolkit);
    const bool gcc = compiler.family == facts::CompilerFamily::Gcc;
    const auto& low = gcc ? range.gcc_min : range.clang_min;
    const auto& high = gcc ? range.gcc_max : range.clang_max;
    const int major = static_cast<int>(compiler.version.major());
    if (!high) {
        return Answer::Unknown;
    }
    return major <= *high && (!low || major >= *low) ? Answer::Yes : Answer::No;
}

namespace {

bool is_known_to_fail(const facts::Toolkit& toolkit, const facts::Compiler& compiler) {
    return toolkit.version && toolkit.version->major() == 9 && toolkit.version->minor() < 2 &&
           compiler.family == facts::CompilerFamily::Gcc && compiler.version.major() == 6;
}

} // namespace

std::optional<int> newest_gcc(const facts::Toolkit& toolkit) {
    const auto newest = compiler_range(toolkit).gcc_max;
    facts::Compiler accepted;
    if (newest) {
        accepted.version = DottedVersion::of(std::to_string(*newest));
    }
    return newest && is_known_to_fail(toolkit, accepted) ? std::optional(*newest - 1) : newest;
}

std::vector<facts::Compiler> compilers_for(const facts::Toolkit& toolkit, const facts::Host& host) {
    std::vector<facts::Compiler> compilers;
    for (const facts::Compiler& compiler : host.compilers) {
        if (accepts_compiler(toolkit, compiler) == Answer::Yes) {
            compilers.push_back(compiler);
        }
    }
    std::ranges::stable_sort(compilers, [&](const facts::Compiler& a, const facts::Compiler& b) {
        const auto rank = [&](const facts::Compiler& one) {
            return std::tuple(is_known_to_fail(toolkit, one),
                              one.family != facts::CompilerFamily::Gcc, !one.is_default);
        };
        // The major alone: a prompt may know less of a version than `status`, and both must choose
        // the same one.
        const auto major = [](const facts::Compiler& one) { return one.version.major(); };
        return rank(a) != rank(b)     ? rank(a) < rank(b)
               : major(a) != major(b) ? major(a) > major(b)
                                      : a.path < b.path;
    });
    return compilers;
}

Answer has_glibc(const facts::Host& host) {
    if (host.glibc) {
        return Answer::Yes;
    }
    // Distributions whose C library is musl: https://wiki.musl-libc.org/projects-using-musl.html
    constexpr std::array<std::string_view, 4> k_musl = {"Alpine", "postmarketOS", "Chimera",
                                                        "Adelie"};
    return std::ranges::any_of(
               k_musl, [&](std::string_view name) { return host.distribution.starts_with(name); })
               ? Answer::No
               : Answer::Unknown;
}

Answer platform_fits(std::string_view tags, const facts::Host& host) {
    Answer best = Answer::No;
    for (std::string_view tag : split(tags, '.')) {
        if (tag == "any") {
            return Answer::Yes;
        }
        constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_legacy = {{
            {"manylinux1_", "manylinux_2_5_"},
            {"manylinux2010_", "manylinux_2_12_"},
            {"manylinux2014_", "manylinux_2_17_"},
        }};
        std::string full(tag);
        for (const auto& [old, meant] : k_legacy) {
            if (tag.starts_with(old)) {
                full = std::string(meant) + full.substr(old.size());
            }
        }
        constexpr std::string_view k_many = "manylinux_2_";
        const bool plain = full.starts_with("linux_");
        if (!plain && !full.starts_with(k_many)) {
            continue; // another system's
        }
        const std::size_t begin = plain ? std::string_view("linux_").size() : k_many.size();
        const std::size_t end = plain ? begin : full.find('_', begin);
        if (end == std::string::npos) {
            continue;
        }
        const std::string machine = full.substr(plain ? begin : end + 1);
        if (!host.machine.empty() && machine != host.machine) {
            continue;
        }
        if (plain || !host.glibc || host.machine.empty()) {
            best = std::max(best, plain && !host.machine.empty() ? Answer::Yes : Answer::Unknown);
            continue;
        }
        const auto wanted = DottedVersion::parse("2." + full.substr(begin, end - begin));
        if (wanted && *host.glibc >= *wanted) {
            return Answer::Yes;
        }
    }
    return best;
}

} // namespace cudaenv::knowledge
