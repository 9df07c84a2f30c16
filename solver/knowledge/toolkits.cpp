#include "solver/knowledge/toolkits.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace cudaenv::knowledge {

namespace {

std::string gives_text(const DriverJudgement& judged) {
    return judged.gives ? judged.driver + " gives CUDA " + judged.gives->str() : judged.driver;
}

CudaFit by_driver(const DottedVersion& cuda, const DriverJudgement& judged) {
    switch (judged.fit) {
    case DriverFit::Full:
        return {Verdict::Works, "fits the driver"};
    case DriverFit::BelowMinimum:
        return {Verdict::Warns, judged.driver + " is older than this toolkit's minimum, " +
                                    judged.minimum->driver.str()};
    case DriverFit::MachineCode:
        return {Verdict::Warns, "machine code only: " + gives_text(judged) +
                                    ", which cannot compile PTX of CUDA " + short_cuda(cuda)};
    case DriverFit::TooOld:
        return {Verdict::Fails, judged.floor ? "needs driver " + judged.floor->driver.str()
                                             : "needs a driver for CUDA " + short_cuda(cuda)};
    case DriverFit::Unknown:
        break;
    }
    return {Verdict::Unknown, judged.driver.empty() ? "" : "the driver's version is unknown"};
}

std::string refusal(const DottedVersion& cuda, const GpuJudgement& judged,
                    const std::string& gpus) {
    const std::string subject = "CUDA " + short_cuda(cuda);
    if (judged.fit == GpuFit::TooOld) {
        return subject + " no longer supports " + gpus;
    }
    return subject + " does not support " + gpus +
           (judged.other_cuda.empty() ? "" : "; CUDA " + judged.other_cuda + " is the first");
}

} // namespace

std::string_view name_of(Verdict verdict) {
    constexpr auto k_names = std::to_array<std::string_view>({"ok", "warns", "fails", "unknown"});
    return k_names.at(static_cast<std::size_t>(verdict));
}

CudaFit cuda_fit(const DottedVersion& cuda, const facts::Host& host) {
    if (!host.driver) {
        return {};
    }
    CudaFit fit = by_driver(cuda, driver_fit(host, cuda));
    if (fit.verdict == Verdict::Fails) {
        return fit;
    }
    const auto gpus = gpus_of(host);
    std::vector<std::string> refused; // sm_86, each once
    std::size_t refused_gpus = 0;
    bool all_known = true;
    std::optional<GpuJudgement> first;
    for (const NamedGpu& gpu : gpus) {
        const GpuJudgement judged =
            gpu.capability ? toolkit_serves(cuda, *gpu.capability) : GpuJudgement{};
        all_known = all_known && judged.runs() != Answer::Unknown;
        if (judged.runs() != Answer::No) {
            continue;
        }
        ++refused_gpus;
        first = first ? first : judged;
        const std::string name = gpu.capability->sm();
        if (!is_one_of(name, refused)) {
            refused.push_back(name);
        }
    }
    if (first) {
        return {refused_gpus < gpus.size() ? Verdict::Warns : Verdict::Fails,
                refusal(cuda, *first, join(refused, ", "))};
    }
    if (fit.verdict == Verdict::Works && !all_known) {
        return {Verdict::Unknown, "fits the driver; whether it supports the GPU is unknown"};
    }
    return fit;
}

CudaFit toolkit_fit(const facts::Toolkit& toolkit, const facts::Host& host) {
    if (!toolkit.problem.empty()) {
        return {Verdict::Fails, toolkit.problem};
    }
    if (!toolkit.version) {
        return {Verdict::Unknown, "its version is unknown"};
    }
    return cuda_fit(*toolkit.version, host);
}

bool can_compile(const facts::Toolkit& toolkit) {
    return toolkit.nvcc && toolkit.problem.empty() && toolkit.version && !toolkit.version->empty();
}

bool any_minor_builds(const DottedVersion& cuda) {
    return cuda.major() >= 11;
}

NvccMatch nvcc_match(const DottedVersion& nvcc, const DottedVersion& cuda) {
    if (nvcc.major() != cuda.major()) {
        return NvccMatch::None;
    }
    if (cuda.parts().size() < 2 || nvcc.minor() == cuda.minor()) {
        return NvccMatch::Same;
    }
    return any_minor_builds(cuda) ? NvccMatch::SameMajor : NvccMatch::None;
}

const facts::Toolkit* toolkit_to_build(const facts::Host& host, const DottedVersion& cuda) {
    const facts::Toolkit* best = nullptr;
    const auto rank = [&](const facts::Toolkit& toolkit) {
        const std::uint32_t has = toolkit.version->minor();
        const bool below = has <= cuda.minor();
        return std::tuple(!below, below ? cuda.minor() - has : has - cuda.minor());
    };
    for (const facts::Toolkit& toolkit : host.toolkits) {
        if (can_compile(toolkit) && nvcc_match(*toolkit.version, cuda) != NvccMatch::None &&
            (best == nullptr || rank(toolkit) < rank(*best))) {
            best = &toolkit;
        }
    }
    return best;
}

std::string same_major_text(const DottedVersion& nvcc, const DottedVersion& cuda) {
    return "nvcc " + nvcc.major_minor() + " is here and works for CUDA " + cuda.major_minor() +
           " builds (same major version)";
}

} // namespace cudaenv::knowledge
