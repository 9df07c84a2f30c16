// CUDA's error numbers wherever a rung meets them: a table of numbers, and the cases of
// data/findings.json that they are.
#include "kernels/judge/scene.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cudaenv::judge {

namespace {

// Names of cudaError_t whose numbers were others before CUDA 10.1 (driver_types.h of 10.0 and of
// 10.1); the driver's numbers never changed.
constexpr auto k_runtime_names = std::to_array<std::pair<std::string_view, int>>({
    {"cudaErrorMemoryAllocation", 2},
    {"cudaErrorInitializationError", 3},
    {"cudaErrorCudartUnloading", 4},
    {"cudaErrorStubLibrary", 34},
    {"cudaErrorInsufficientDriver", 35},
    {"cudaErrorCallRequiresNewerDriver", 36},
    {"cudaErrorDevicesUnavailable", 46},
    {"cudaErrorNoDevice", 100},
    {"cudaErrorInvalidDevice", 101},
    {"cudaErrorInvalidKernelImage", 200},
    {"cudaErrorNoKernelImageForDevice", 209},
    {"cudaErrorECCUncorrectable", 214},
    {"cudaErrorInvalidPtx", 218},
    {"cudaErrorNvlinkUncorrectable", 220},
    {"cudaErrorJitCompilerNotFound", 221},
    {"cudaErrorUnsupportedPtxVersion", 222},
    {"cudaErrorJitCompilationDisabled", 223},
    {"cudaErrorOperatingSystem", 304},
    {"cudaErrorIllegalAddress", 700},
    {"cudaErrorLaunchOutOfResources", 701},
    {"cudaErrorLaunchTimeout", 702},
    {"cudaErrorAssert", 710},
    {"cudaErrorHardwareStackError", 714},
    {"cudaErrorIllegalInstruction", 715},
    {"cudaErrorMisalignedAddress", 716},
    {"cudaErrorInvalidAddressSpace", 717},
    {"cudaErrorInvalidPc", 718},
    {"cudaErrorLaunchFailure", 719},
    {"cudaErrorSystemNotReady", 802},
    {"cudaErrorSystemDriverMismatch", 803},
    {"cudaErrorCompatNotSupportedOnDevice", 804},
    {"cudaErrorUnknown", 999},
});

constexpr int k_initialisation = 3;
constexpr int k_stub = 34;
constexpr int k_no_device = 100;
constexpr int k_operating_system = 304;
constexpr int k_unknown = 999;

using Explain = Finding (*)(const Scene&, const facts::ProbeRung&, int);

Finding of_driver(const Scene& scene, const facts::ProbeRung& rung, int error) {
    Finding finding = explain_driver_error(scene, rung, error);
    if (scene.driver_cuda && finding.verdict == ProbeVerdict::DriverBroken) {
        finding.verdict = ProbeVerdict::Fails; // the driver itself did start
    }
    return finding;
}

// Which of the cases of a code it is.
enum class Case {
    Named,     // `situation`
    OwnCode,   // "own" of the probe's code, which is not at fault; "other" of any other code
    Built,     // "built" of a program that was built
    Container, // "container" in one
};

// One number, or a range of them; the first row that has it holds.
struct ErrorRow {
    int first;
    int last;
    std::string_view code;
    std::string_view situation;
    Case which = Case::Named;
    Explain explain = nullptr; // where a number alone does not say which finding it is
};

// The driver and the runtime number alike since CUDA 10.1 (cuda.h, driver_types.h), by hundreds:
// CE359 says of a number without a finding of its own what its neighbours mean.
constexpr auto k_errors = std::to_array<ErrorRow>({
    {2, 2, {}, {}, {}, [](auto& scene, auto& rung, int) { return explain_no_memory(scene, rung); }},
    {3, 3, "CE338", "not-initialised"},
    {4, 4, "CE338", "shutting-down"},
    {k_stub,
     k_stub,
     {},
     {},
     {},
     [](auto& scene, auto& rung, int) { return explain_stub(scene, refusal(rung)); }},
    {35,
     35,
     {},
     {},
     {},
     [](auto& scene, auto& rung, int) { return explain_old_driver(scene, rung); }},
    {36, 36, "CE324", ""},
    {46,
     46,
     {},
     {},
     {},
     [](auto& scene, auto& rung, int) { return explain_unavailable(scene, rung); }},
    {100, 101, {}, {}, {}, of_driver},
    {802, 804, {}, {}, {}, of_driver},
    {200,
     200,
     {},
     {},
     {},
     [](auto& scene, auto& rung, int) { return explain_no_code(scene, rung, refusal(rung)); }},
    {209,
     209,
     {},
     {},
     {},
     [](auto& scene, auto& rung, int) { return explain_no_code(scene, rung, refusal(rung)); }},
    {214, 214, "CE335", "memory"},
    {220, 220, "CE335", "nvlink"},
    {221, 221, "CE332", "", Case::Container},
    {222, 222, "CE330", "", Case::Built},
    {223, 223, "CE333", ""},
    {304, 304, "CE339", "refused"},
    {700, 700, "CE334", "", Case::OwnCode},
    {716, 717, "CE334", "", Case::OwnCode},
    {702, 702, "CE337", ""},
    {710, 710, "CE391", "", Case::OwnCode},
    {714, 715, "CE391", "", Case::OwnCode},
    {718, 718, "CE391", "", Case::OwnCode},
    {719, 719, "CE390", "", Case::OwnCode},
    {805, 809, "CE319", ""},
    {k_unknown, k_unknown, "CE314", ""},
    {102, 103, k_unexplained, "licence"},
    {216, 216, k_unexplained, "context"},
    {217, 217, k_unexplained, "peer"},
    {226, 226, k_unexplained, "contained"},
    {800, 800, k_unexplained, "not-permitted"},
    {801, 801, k_unexplained, "not-supported"},
    {810, 810, k_unexplained, "mps"},
    {1, 99, k_unexplained, "value"},
    {100, 199, k_unexplained, "gpu"},
    {200, 299, k_unexplained, "loading"},
    {300, 399, k_unexplained, "file"},
    {400, 499, k_unexplained, "handle"},
    {500, 599, k_unexplained, "name"},
    {600, 699, k_unexplained, "not-ready"},
    {700, 799, k_unexplained, "kernel"},
    {800, 899, k_unexplained, "system"},
    {900, 998, k_unexplained, "order"},
});

const ErrorRow& row_of_error(int error) {
    static constexpr ErrorRow k_new{0, 0, k_unexplained, "new"};
    const auto* const found = std::ranges::find_if(
        k_errors, [&](const ErrorRow& row) { return row.first <= error && error <= row.last; });
    return found == k_errors.end() ? k_new : *found;
}

// The probe's own code, which is not at fault.
bool is_own_code(const facts::ProbeRung& rung) {
    return facts::is_quick(rung.step) ||
           facts::row_of(rung.step).subject == facts::RungSubject::Gpu;
}

std::string_view situation_of(const ErrorRow& row, const Scene& scene,
                              const facts::ProbeRung& rung) {
    switch (row.which) {
    case Case::OwnCode:
        return is_own_code(rung) ? "own" : "other";
    case Case::Built:
        return facts::is_built(rung.step) ? "built" : "";
    case Case::Container:
        return scene.in_container() ? "container" : "";
    case Case::Named:
        break;
    }
    return row.situation;
}

std::string who_answered(const facts::ProbeRung& rung) {
    const auto* const library = facts::probed_library(rung.step);
    if (rung.call.starts_with("cuda")) {
        return "the CUDA runtime";
    }
    if (library != nullptr && !rung.call.starts_with("cu")) {
        return std::string(library->name);
    }
    return facts::is_built(rung.step) ? "the built program" : "the driver";
}

} // namespace

std::optional<int> cuda_error(const facts::ProbeRung& rung) {
    for (const auto& [name, number] : k_runtime_names) {
        if (rung.error_name == name) {
            return number;
        }
    }
    return rung.error;
}

Finding explain_cuda_error(const Scene& scene, const facts::ProbeRung& rung, int error) {
    const ErrorRow& row = row_of_error(error);
    if (row.explain != nullptr) {
        return row.explain(scene, rung, error);
    }
    const std::string_view runs = facts::row_of(rung.step).runs;
    return found(row.code, situation_of(row, scene, rung),
                 {{"seen", refusal(rung)},
                  {"gpu", scene.gpu(rung.gpu)},
                  {"driver", scene.driver()},
                  {"runtime",
                   scene.runtime ? "CUDA " + scene.runtime->version.major_minor() : "the runtime"},
                  {"newest", scene.newest_cuda()},
                  {"ran", std::string(runs.empty() ? "a call before any kernel" : runs)},
                  {"isa", rung.isa ? one_line(rung.isa->str(), 12) : std::string()},
                  {"who", who_answered(rung)},
                  {"call", one_line(rung.call, 40)},
                  {"number", std::to_string(rung.error.value_or(error))},
                  {"error_name", one_line(rung.error_name, 48)},
                  {"said", one_line(rung.message, 120)}});
}

Finding explain_driver_error(const Scene& scene, const facts::ProbeRung& rung, int error) {
    const std::string seen = refusal(rung);
    if (error == k_stub || (is_stub(scene.libcuda) && error != k_no_device)) {
        return explain_stub(scene, seen);
    }
    const std::string module = scene.module ? scene.module->str() : std::string();
    switch (error) {
    case k_no_device:
        return explain_no_device(scene, seen);
    case k_no_device + 1: {
        Finding finding = explain_no_device(scene, seen);
        const bool is_by_variable = finding.text.code == "CE308" || finding.text.code == "CE312";
        return is_by_variable ? finding
                              : found("CE312", "",
                                      {{"seen", seen},
                                       {"value", scene.context->visible_devices ? "set" : ""}});
    }
    case 802:
        return found("CE313", "", {{"seen", seen}, {"module", module}});
    case 803:
    case 804:
        return explain_mismatch(scene, seen, error);
    default:
        break;
    }
    if (error == k_initialisation || error == k_operating_system || error == k_unknown) {
        if (auto closed = explain_closed_device(scene, seen)) {
            return std::move(*closed);
        }
    }
    // Of a driver that does not start there is more to say than of an unknown error elsewhere.
    if (Finding finding = explain_cuda_error(scene, rung, error);
        error != k_unknown && finding.text.code != k_unexplained) {
        if (finding.verdict == ProbeVerdict::Fails) {
            finding.verdict = ProbeVerdict::DriverBroken;
        }
        return finding;
    }
    return found("CE314", "start", {{"seen", seen}});
}

} // namespace cudaenv::judge
