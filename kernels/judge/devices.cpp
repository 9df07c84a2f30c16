// Which GPUs there are and who uses them: why a driver that starts shows none, and GPUs that
// another process holds, by CUDA's errors (46, 2) or left alone without a call.
#include "base/text.hpp"
#include "kernels/judge/scene.hpp"

#include <algorithm>
#include <charconv>

namespace cudaenv::judge {

namespace {

// The first GPU that CUDA_VISIBLE_DEVICES names is certainly not here.
bool names_absent_gpu(const Scene& scene) {
    const auto& host = scene.context->host;
    if (!scene.context->visible_devices || host == nullptr || host->gpus.empty()) {
        return false;
    }
    const std::string& value = *scene.context->visible_devices;
    const std::string_view first = trim(split(value, ',').front());
    unsigned ordinal = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), ordinal);
    if (error == std::errc{} && end == first.data() + first.size()) {
        return ordinal >= host->gpus.size();
    }
    if (!first.starts_with("GPU-")) {
        return false; // MIG instances are not among the host's facts
    }
    return std::ranges::none_of(host->gpus, [&](const facts::Gpu& gpu) {
        // A prefix of the UUID is enough, and an unknown UUID may be it.
        return gpu.uuid.empty() || gpu.uuid.starts_with(first);
    });
}

// GPUs in MIG mode show their instances only; a GPU without MIG would be visible, unless
// CUDA_VISIBLE_DEVICES names another.
bool mig_hides(const Scene& scene) {
    const facts::Host* const host = scene.context->host;
    if (host == nullptr || host->gpus.empty()) {
        return false;
    }
    const auto has_mig = [](const facts::Gpu& gpu) { return gpu.mig; };
    return scene.context->visible_devices ? std::ranges::any_of(host->gpus, has_mig)
                                          : std::ranges::all_of(host->gpus, has_mig);
}

bool hides_all(const Scene& scene) {
    if (!scene.context->visible_devices) {
        return false;
    }
    const std::string& value = *scene.context->visible_devices;
    const std::string_view first = trim(split(value, ',').front());
    return first.empty() || first.starts_with('-') || first == "none" || first == "void" ||
           first == "NoDevFiles";
}

const facts::ProbeRung* gpu_rung(const Scene& scene, std::optional<int> ordinal) {
    const auto found = scene.gpus.find(ordinal.value_or(0));
    return found == scene.gpus.end() ? nullptr : found->second;
}

enum class ComputeMode { Default, ExclusiveThread, Prohibited, ExclusiveProcess };

ComputeMode compute_mode(const Scene& scene, const facts::ProbeRung& rung) {
    const facts::ProbeRung* const gpu = gpu_rung(scene, rung.gpu);
    return static_cast<ComputeMode>(rung.compute_mode ? *rung.compute_mode
                                    : gpu != nullptr  ? gpu->compute_mode.value_or(0)
                                                      : 0);
}

bool is_exclusive(ComputeMode mode) {
    return mode == ComputeMode::ExclusiveThread || mode == ComputeMode::ExclusiveProcess;
}

// The GPU's free memory: as this rung saw it, or its rung `memory` before.
std::optional<std::uint64_t> free_memory(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.memory_free) {
        return rung.memory_free;
    }
    for (const facts::ProbeRung& one : scene.report->rungs) {
        if (one.step == facts::ProbeStep::Memory && one.gpu == rung.gpu && one.memory_free) {
            return one.memory_free;
        }
    }
    const facts::ProbeRung* const gpu = gpu_rung(scene, rung.gpu);
    return gpu != nullptr ? gpu->memory_free : std::nullopt; // NVML's, before there was a context
}

constexpr std::uint64_t k_mebibyte = 1024 * 1024;

Finding used(const Scene& scene, const facts::ProbeRung& rung, std::string_view code,
             std::string_view situation, std::string seen) {
    const auto free = free_memory(scene, rung);
    return found(code, situation,
                 {{"seen", std::move(seen)},
                  {"gpu", scene.gpu(rung.gpu)},
                  {"free", free ? std::to_string(*free / k_mebibyte) : std::string()}});
}

} // namespace

Finding explain_no_device(const Scene& scene, const std::string& seen) {
    const facts::Host* const host = scene.context->host;
    const std::string value = one_line(scene.context->visible_devices.value_or(""), 24);
    if (hides_all(scene)) {
        return found("CE308", "", {{"seen", seen}, {"value", value}});
    }
    if (names_absent_gpu(scene)) {
        return found(
            "CE312", "variable",
            {{"seen", seen}, {"value", value}, {"gpus", std::to_string(host->gpus.size())}});
    }
    if (auto closed = explain_closed_device(scene, seen)) {
        return std::move(*closed);
    }
    const Arguments arguments{{"seen", seen}};
    if (mig_hides(scene)) {
        return found("CE318", "", arguments);
    }
    const auto& device_files = scene.context->device_files;
    if (scene.in_container() && device_files != true) {
        return found("CE309", "", arguments);
    }
    const bool has_gpu = host != nullptr && !host->gpus.empty();
    const bool is_expected = has_gpu || scene.module || device_files == false;
    if (is_expected && !scene.module && !scene.on_wsl()) {
        return has_gpu ? found("CE310", "module", arguments) : found("CE311", "", arguments);
    }
    if (is_expected) {
        return found("CE310",
                     device_files != false ? "lost"
                     : scene.on_wsl()      ? "wsl"
                                           : "device-files",
                     arguments);
    }
    return found("CE311", scene.on_wsl() ? "wsl" : "", arguments);
}

bool is_left_alone(const facts::ProbeRung& rung) {
    return rung.step == facts::ProbeStep::Memory &&
           (rung.call == k_compute_mode || rung.call == k_full);
}

Finding explain_left_alone(const Scene& scene, const facts::ProbeRung& rung) {
    constexpr const char* k_left_alone = "left alone";
    if (rung.call == k_full) {
        return used(scene, rung, "CE317", "left-alone", k_left_alone);
    }
    if (compute_mode(scene, rung) == ComputeMode::Prohibited) {
        return used(scene, rung, "CE316", "prohibited", {});
    }
    return used(scene, rung, "CE316",
                rung.reason == facts::RungReason::HolderUnknown ? "maybe-exclusive" : "exclusive",
                k_left_alone);
}

Finding explain_unavailable(const Scene& scene, const facts::ProbeRung& rung) {
    const ComputeMode mode = compute_mode(scene, rung);
    const bool is_prohibited = mode == ComputeMode::Prohibited;
    return used(scene, rung, "CE316",
                is_prohibited        ? "prohibited"
                : is_exclusive(mode) ? "exclusive"
                                     : "",
                is_prohibited && rung.call.empty() ? std::string() : refusal(rung));
}

Finding explain_no_memory(const Scene& scene, const facts::ProbeRung& rung) {
    const auto free = free_memory(scene, rung);
    // A context takes some hundred MB; with more than that left, other processes are not the
    // reason.
    return used(scene, rung, "CE317", free && *free > 1024 * k_mebibyte ? "limit" : "",
                refusal(rung));
}

} // namespace cudaenv::judge
