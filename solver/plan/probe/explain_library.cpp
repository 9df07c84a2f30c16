// The environment's libraries: what the loader says, and the statuses of NVRTC, cuBLAS, cuDNN and
// NCCL, which are no CUDA errors.
#include "base/text.hpp"
#include "solver/plan/probe/packages.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan::probe {

namespace {

// For what is not the environment's library (a program that was built), the runtime.
const facts::ProbedLibrary& library_of(facts::ProbeStep step) {
    const auto* const library = facts::probed_library(step);
    return library != nullptr ? *library : facts::k_probed_libraries.front();
}

bool has_status(const facts::ProbeRung& rung, std::string_view name) {
    return contains(rung.error_name, name) || contains(rung.message, name);
}

// Statuses by number, for where the library gives no name with them; 0 is none. cuDNN 9 numbers
// them anew, by thousands (cudnn_graph.h); 8 and older go from 1 (cudnn.h, as cublas_api.h).
using Numbers = std::array<int, 3>;
struct StatusNumbers {
    Numbers not_initialised{};
    Numbers arch_mismatch{};
    Numbers alloc_failed{};
};
StatusNumbers numbers_of(facts::ProbeStep step) {
    switch (step) {
    case facts::ProbeStep::Cublas:
        return {{1}, {8}, {3}};
    case facts::ProbeStep::Cudnn:
        return {{1, 1001}, {6, 3007}, {2, 4004}};
    default:
        return {}; // another library's numbers mean something else
    }
}
bool has_number(const facts::ProbeRung& rung, const Numbers& numbers) {
    return rung.error_name.empty() && rung.error.value_or(0) != 0 &&
           std::ranges::find(numbers, *rung.error) != numbers.end();
}

Finding explain_nvrtc(const Scene& scene, const facts::ProbeRung& rung) {
    const std::string said = telling_line(rung.message, {"libnvrtc-builtins", "rror"}, 48);
    // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE is 7, NVRTC_ERROR_INVALID_OPTION 5 (nvrtc.h).
    if (contains(rung.message, "builtins") || has_status(rung, "BUILTIN") || rung.error == 7) {
        return failure("CE342", "NVRTC does not find its libnvrtc-builtins",
                       "libnvrtc and libnvrtc-builtins are one pair of exactly one version, in one "
                       "directory",
                       bring_anew(scene, rung, "install that pair anew"));
    }
    if (contains(rung.message, "gpu-architecture") || has_status(rung, "INVALID_OPTION") ||
        rung.error == 5) {
        return failure(
            "CE344",
            fmt::format("NVRTC {} does not know {}",
                        rung.version ? rung.version->str() : "of this env", scene.gpu(rung.gpu)),
            "it is older than the GPU, or so new that it dropped it",
            StepFix{"an environment of a CUDA that knows this GPU", "cudaenv resolve torch"});
    }
    return failure("CE345",
                   fmt::format("NVRTC does not compile: {}", said.empty() ? refusal(rung) : said),
                   "a small kernel that every version takes was refused", bring_anew(scene, rung));
}

// A library that has no finding of its own for it (cuDNN has).
Finding explain_not_initialised(const facts::ProbeRung& rung) {
    const std::string_view name = library_of(rung.step).name;
    return failure(rung.step == facts::ProbeStep::Cublas ? "CE351" : "CE358",
                   fmt::format("{}: {} does not start", refusal(rung), name),
                   fmt::format("the GPU has too little memory left, or {} and the runtime are of "
                               "two CUDAs",
                               name),
                   StepFix{"see what fills the GPU; then install the environment's CUDA libraries "
                           "anew, together",
                           "nvidia-smi"});
}

Finding explain_cudnn_not_initialised(const Scene& scene, const facts::ProbeRung& rung) {
    Finding finding =
        failure("CE353", refusal(rung) + ": cuDNN does not start",
                "a cuDNN for another CUDA major, files of two cuDNNs mixed, a driver too old "
                "for it, or no memory left on the GPU",
                StepFix{"one nvidia-cudnn only, of the framework's CUDA and pinned version",
                        "pip list | grep -i cudnn"});
    if (rung.cuda && scene.runtime && rung.cuda->major() != scene.runtime->version.major()) {
        finding.cause = fmt::format("it was built for CUDA {}, the runtime is CUDA {}",
                                    rung.cuda->major_minor(), scene.runtime->version.major_minor());
    }
    return finding;
}

// CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER: the CUDA that cuDNN was built for has the
// floor, not the environment's runtime.
Finding explain_driver_below_cudnn(const Scene& scene, const facts::ProbeRung& rung) {
    Scene of_cudnn = scene;
    if (rung.cuda) {
        of_cudnn.runtime = ProbeVersion{*rung.cuda, rung.path};
    }
    Finding finding = explain_old_driver(of_cudnn, refusal(rung));
    if (finding.code == "CE323") { // by the tables it is new enough
        finding.code = "CE322";
        finding.detail =
            fmt::format("{}: {} is too old for cuDNN{}", one_line(rung.call, 32), scene.driver(),
                        rung.version ? " " + rung.version->str() : std::string());
        finding.cause = "this cuDNN asks for a newer driver than its CUDA does";
        finding.fix = StepFix{"a newer driver, or the cuDNN that the framework pins",
                              "pip list | grep -i cudnn"};
    }
    return finding;
}

Finding explain_no_host_memory(const facts::ProbeRung& rung) {
    return failure(
        "CE346", refusal(rung) + ": no host memory left",
        "the machine's own memory is full, or a limit keeps it from this process (ulimit -v, a "
        "job, a cgroup)",
        StepFix{"see what is free and which limits this shell has", "free -m; ulimit -a"},
        ProbeVerdict::Busy);
}

// What no other library has; none: its status is like theirs.
std::optional<Finding> explain_cudnn(const Scene& scene, const facts::ProbeRung& rung) {
    if (has_status(rung, "VERSION_MISMATCH") || has_status(rung, "SUBLIBRARY_LOADING") ||
        has_number(rung, {1002, 1008, 13})) {
        return failure(
            "CE354", refusal(rung),
            "libcudnn and its parts (libcudnn_ops, libcudnn_cnn, ...) come from two installs: "
            "system and pip, or two nvidia-cudnn in one environment",
            StepFix{"make the environment anew with one nvidia-cudnn; take the system's out of "
                    "LD_LIBRARY_PATH",
                    "pip list | grep -i cudnn"});
    }
    if (has_status(rung, "NOT_INITIALIZED") ||
        has_number(rung, numbers_of(facts::ProbeStep::Cudnn).not_initialised)) {
        return explain_cudnn_not_initialised(scene, rung);
    }
    if (has_status(rung, "INCOMPATIBLE_CUDA_DRIVER") || has_number(rung, {3005})) {
        return explain_driver_below_cudnn(scene, rung);
    }
    if (has_status(rung, "INCOMPATIBLE_CUDART") || has_number(rung, {3006})) {
        Finding finding = explain_cudnn_not_initialised(scene, rung);
        finding.detail = refusal(rung) + ": not with this runtime";
        if (!rung.cuda || !scene.runtime || rung.cuda->major() == scene.runtime->version.major()) {
            finding.cause = "this cuDNN does not go with the CUDA runtime that was loaded";
        }
        return finding;
    }
    // The GPU's own allocation ends in the same words.
    if (has_status(rung, "HOST_ALLOCATION_FAILED") || has_number(rung, {4003})) {
        return explain_no_host_memory(rung);
    }
    return std::nullopt;
}

Finding explain_nccl(const Scene& scene, const facts::ProbeRung& rung) {
    Finding finding =
        failure("CE357", refusal(rung) + ": the GPUs do not reach each other by NCCL", "",
                StepFix{"see how the GPUs are joined, then try without the direct way "
                        "between them",
                        "nvidia-smi topo -m; NCCL_P2P_DISABLE=1 cudaenv probe --full"});
    finding.of_the_moment = true;
    // nccl.h: 1 unhandled CUDA error, 2 system error, 3 internal error, 5 invalid usage.
    if (rung.error == 1 || has_status(rung, "unhandled cuda error")) {
        finding.cause = "a CUDA call inside NCCL failed: a driver older than NCCL's CUDA, or a GPU "
                        "that is busy";
    } else if (rung.error == 2 || has_status(rung, "unhandled system error")) {
        finding.cause = scene.in_container()
                            ? "the operating system refused something; in containers /dev/shm is "
                              "often too small (docker run --shm-size=1g)"
                            : "the operating system refused something: /dev/shm is full, or peer "
                              "access between the GPUs is blocked (IOMMU, ACS)";
    } else {
        finding.cause = "NCCL and the runtime are of two CUDAs, or it met what it does not know";
    }
    return finding;
}

// A refusal that names no library's status: maybe a CUDA error that was passed through.
bool is_cuda_call(std::string_view call) {
    return call.starts_with("cuda") ||
           (call.size() > 2 && call.starts_with("cu") && call[2] >= 'A' && call[2] <= 'Z');
}

} // namespace

Finding explain_loading(const Scene& scene, const facts::ProbeRung& rung) {
    if (auto closed = explain_closed_library(scene, rung)) {
        return std::move(*closed);
    }
    const facts::ProbedLibrary& library = library_of(rung.step);
    const bool is_built =
        rung.step == facts::ProbeStep::Build || rung.step == facts::ProbeStep::TorchExtension;
    const std::string_view name = is_built ? "what was built" : library.name;
    const std::string& said = rung.message;
    const std::string others = "another copy, found first on LD_LIBRARY_PATH or mixed in one "
                               "directory, is older than what it goes with";
    if (contains(said, "__nvJitLink")) {
        return failure("CE347", fmt::format("{} does not load: {}", name, loader_words(said)),
                       "an older libnvJitLink is found before the environment's own, mostly by "
                       "LD_LIBRARY_PATH",
                       StepFix{"let the environment's nvidia/nvjitlink/lib come first",
                               "unset LD_LIBRARY_PATH"});
    }
    if (contains(said, "GLIBC_") || contains(said, "GLIBCXX_") || contains(said, "CXXABI_")) {
        const bool of_system = contains(said, "GLIBC_");
        return failure("CE349", fmt::format("{} does not load: {}", name, loader_words(said)),
                       of_system ? "it was built for a newer system than this one"
                                 : "an older libstdc++ than it was built for is found first",
                       of_system
                           ? StepFix{"an older build of it, or a newer system", {}}
                           : StepFix{"let the environment's libstdc++ come first, or take a newer "
                                     "one into it",
                                     conda_install(scene) + " libstdcxx-ng"});
    }
    if (contains(said, "undefined symbol") || contains(said, "not found (required by") ||
        contains(said, "version `")) {
        return failure(
            "CE348", fmt::format("{} does not load: {}", name, loader_words(said)),
            "files of two versions meet: " + others,
            bring_anew(scene, rung,
                       "take CUDA directories out of LD_LIBRARY_PATH, then install it anew"));
    }
    const std::string fault = fault_of_file(rung);
    if (!fault.empty()) {
        return failure("CE350", fmt::format("{} does not load: {}", name, loader_words(said)),
                       fault, bring_anew(scene, rung));
    }
    Finding finding{rung.step == facts::ProbeStep::Runtime ? "CE321" : "CE341",
                    StepStatus::Fails,
                    fmt::format("{} does not load: {}", name,
                                said.empty() ? refusal(rung) : loader_words(said)),
                    rung.path.empty()
                        ? std::string("the loader's words say what is missing")
                        : one_line(rung.path, 120) + " is there; the loader's words say what is "
                                                     "missing",
                    bring_anew(scene, rung),
                    ProbeVerdict::Fails};
    if (contains(said, "cannot open shared object file")) {
        // Behind what a started program or Python says before it.
        const auto end = said.find(": cannot open shared object file");
        const auto before = said.substr(0, end);
        const std::string missing = file_name(before.substr(before.find_last_of(" \n") + 1));
        finding.cause = contains(missing, library.file)
                            ? fmt::format("{} is not where this environment looks", missing)
                            : fmt::format("it needs {}, which is not found", missing);
        if (contains(missing, "libcudnn.so.8")) {
            finding.cause =
                "it was built for cuDNN 8; a libcudnn.so.9 under that name is no answer";
            finding.fix = StepFix{"cuDNN 8 into the environment, or a build for cuDNN 9",
                                  fmt::format("{} '{}<9'", pip_install(scene),
                                              pip_package(facts::ProbeStep::Cudnn,
                                                          std::max(11U, cuda_major(scene, rung))))};
        }
    }
    return finding;
}

Finding explain_library_status(const Scene& scene, const facts::ProbeRung& rung) {
    if (is_cuda_call(rung.call)) {
        return explain_cuda_error(scene, rung, cuda_error(rung).value_or(999));
    }
    if (rung.step == facts::ProbeStep::Nvrtc) {
        return explain_nvrtc(scene, rung);
    }
    if (rung.step == facts::ProbeStep::Nccl) {
        return explain_nccl(scene, rung);
    }
    if (rung.step == facts::ProbeStep::Cudnn) {
        if (auto finding = explain_cudnn(scene, rung)) {
            return std::move(*finding);
        }
    }
    const StatusNumbers numbers = numbers_of(rung.step);
    if (has_status(rung, "NOT_INITIALIZED") || has_number(rung, numbers.not_initialised)) {
        return explain_not_initialised(rung);
    }
    if (has_status(rung, "ARCH_MISMATCH") || has_number(rung, numbers.arch_mismatch)) {
        return failure(
            "CE352", fmt::format("{}: no code for {}", refusal(rung), scene.gpu(rung.gpu)),
            "the library is newer than the GPU's last CUDA, or older than the GPU",
            StepFix{"an environment of a CUDA that serves this GPU", "cudaenv resolve torch"});
    }
    if (has_status(rung, "ALLOC_FAILED") || has_status(rung, "ALLOCATION_FAILED") ||
        has_number(rung, numbers.alloc_failed)) {
        return explain_cuda_error(scene, rung, 2);
    }
    return failure(
        "CE358", refusal(rung),
        rung.message.empty()
            ? fmt::format("{} refused a small computation; the driver or another version of "
                          "it may be at fault",
                          library_of(rung.step).name)
            : one_line(rung.message, 160),
        bring_anew(scene, rung));
}

std::optional<Finding> explain_foreign_cudnn(const Scene& scene, const facts::ProbeRung& rung) {
    if (!rung.cuda || !scene.runtime || rung.cuda->major() == scene.runtime->version.major()) {
        return std::nullopt;
    }
    return warning(
        "CE355",
        fmt::format("{} was built for CUDA {}, the runtime is CUDA {}",
                    rung.version ? "cuDNN " + rung.version->str() : std::string("cuDNN"),
                    rung.cuda->major(), scene.runtime->version.major_minor()),
        "it brings its own CUDA along or fails later with CUDNN_STATUS_NOT_INITIALIZED",
        {"the cuDNN for the runtime's CUDA, and no other beside it",
         pip_install(scene) + ' ' +
             pip_package(facts::ProbeStep::Cudnn, std::max(11U, scene.runtime->version.major()))});
}

Finding explain_missing_library(const Scene& scene, const facts::ProbeRung& rung) {
    if (auto closed = explain_closed_library(scene, rung)) {
        return std::move(*closed);
    }
    const facts::ProbedLibrary& library = library_of(rung.step);
    const bool is_runtime = rung.step == facts::ProbeStep::Runtime;
    std::string cause = is_runtime ? "nothing here brings a CUDA runtime; programs that need one "
                                     "bring it in"
                                   : fmt::format("nothing here brings {}", library.name);
    const auto& passed_over = scene.context->passed_over;
    if (const auto other = passed_over.find(rung.step); other != passed_over.end()) {
        cause = fmt::format("{} goes with another CUDA than this environment's, and is not where "
                            "its loader looks",
                            other->second);
    }
    return with_closed_place(
        scene,
        {is_runtime ? "CE320" : "CE340", StepStatus::Skipped,
         fmt::format("no {} in {}", library.file,
                     scene.context->environment != nullptr ? "this env" : "the usual places"),
         std::move(cause), bring(scene, rung), ProbeVerdict::Warns});
}

} // namespace cudaenv::plan::probe
