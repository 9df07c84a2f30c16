// The environment's libraries: which package contains them, what the loader says, and the statuses
// of NVRTC, cuBLAS, cuDNN and NCCL, which are not CUDA errors.
#include "base/ascii.hpp"
#include "base/ranges.hpp"
#include "kernels/judge/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::judge {

namespace {

using facts::ProbeStep;

// Of a built program the runtime, which it needs.
const facts::ProbedLibrary& library_of(ProbeStep step) {
    const auto* const library = facts::probed_library(step);
    return library != nullptr ? *library : facts::row_of(ProbeStep::Runtime).library;
}

// --- packages -----------------------------------------------------------------------------------

// 11 of "/opt/libcudart.so.11.0: file too short".
unsigned major_in_name(std::string_view text, std::string_view library) {
    const std::string mark = std::string(library) + ".so.";
    const auto at = text.find(mark);
    unsigned major = 0;
    for (auto i = at == std::string_view::npos ? text.size() : at + mark.size();
         i < text.size() && is_digit(text[i]) && major < 100; ++i) {
        major = major * 10 + static_cast<unsigned>(text[i] - '0');
    }
    return major;
}

// The file that was tried: the loader's words begin with it.
std::string_view tried_file(const facts::ProbeRung& rung) {
    const std::string_view said = rung.message;
    return !rung.path.empty()      ? std::string_view(rung.path)
           : said.starts_with('/') ? said.substr(0, said.find(':'))
                                   : std::string_view();
}

bool is_of_conda(const Scene& scene, std::string_view file) {
    const auto* const environment = scene.context->environment;
    return environment != nullptr && environment->kind == facts::EnvironmentKind::Conda &&
           !contains(file, "/site-packages/");
}

// The CUDA major that this library has or must have: by the broken file's own name where it is the
// runtime, by the loaded runtime, by what the environment carries, by its framework; else by the
// driver. 0: unknown.
unsigned cuda_major(const Scene& scene, const facts::ProbeRung& rung) {
    const auto& runtime = facts::row_of(ProbeStep::Runtime).library;
    if (rung.step == ProbeStep::Runtime) {
        for (const std::string_view text :
             {std::string_view(rung.path), std::string_view(rung.message)}) {
            if (const unsigned major = major_in_name(text, runtime.file); major != 0) {
                return major;
            }
        }
    }
    if (scene.runtime) {
        return scene.runtime->version.major();
    }
    if (const auto* const environment = scene.context->environment) {
        if (environment->runtime) {
            return environment->runtime->version.major();
        }
        for (const std::string& soname : environment->sonames) {
            if (const unsigned major = major_in_name(soname, runtime.file); major != 0) {
                return major;
            }
        }
    }
    if (const facts::FrameworkBuild* const framework = scene.framework()) {
        return framework->cuda->major();
    }
    return scene.driver_cuda ? scene.driver_cuda->major() : 0;
}

// nvidia-cuda-runtime-cu12, nvidia-cuda-runtime (13 and later: cuDNN and NCCL keep their suffix,
// the toolkit's own parts lost it). Empty: there are no wheels for that major, or it is unknown.
std::string pip_package(const facts::ProbedLibrary& library, unsigned major) {
    if (major < 11) {
        return {};
    }
    return major >= 13 && library.of_toolkit ? std::string(library.pip)
                                             : fmt::format("{}-cu{}", library.pip, major);
}

// cuda-cudart, cudatoolkit (11 and older).
std::string conda_package(const facts::ProbedLibrary& library, unsigned major) {
    return std::string(library.of_toolkit && major != 0 && major < 12 ? "cudatoolkit"
                                                                      : library.conda);
}

// "==13.0.96" of a package that is installed: another version may not fit the rest.
std::string version_here(const Scene& scene, std::string_view package) {
    const auto* const environment = scene.context->environment;
    if (environment == nullptr || !environment->runtime) {
        return {};
    }
    std::string carried = environment->runtime->package;
    std::ranges::replace(carried, '_', '-');
    return carried == package && environment->runtime->version.parts().size() > 2
               ? "==" + environment->runtime->version.str()
               : std::string();
}

std::string pip_command(const Scene& scene, const std::string& requirement,
                        std::span<const std::string> options = {}) {
    return knowledge::pip_install(scene.target(), std::array{requirement}, std::nullopt, options);
}

// The command that installs a library into the environment.
std::string install_command(const Scene& scene, const facts::ProbeRung& rung) {
    const auto& library = library_of(rung.step);
    const unsigned major = cuda_major(scene, rung);
    const std::string pip = pip_package(library, major);
    return is_of_conda(scene, {}) || pip.empty()
               ? knowledge::conda_install(scene.target(), std::array{conda_package(library, major)},
                                          {})
               : pip_command(scene, pip);
}

// --- statuses -----------------------------------------------------------------------------------

bool has_status(const facts::ProbeRung& rung, std::string_view name) {
    return contains(rung.error_name, name) || contains(rung.message, name);
}

enum class Meaning {
    NotInitialised,
    ArchMismatch,
    AllocFailed,
    Mixed,
    OldDriver,
    OtherRuntime,
    NoHostMemory
};

// A status of a library: by a part of its name, or by its number where the library gives no name
// with it. cuDNN 9 numbers them by thousands (cudnn_graph.h); 8 and older number from 1 (cudnn.h,
// as cublas_api.h). The first row that fits holds.
struct StatusRow {
    std::optional<ProbeStep> step; // none: any library but NVRTC and NCCL
    std::string_view name;
    std::array<int, 3> numbers; // 0 is none
    Meaning meaning;
};
constexpr auto k_statuses = std::to_array<StatusRow>({
    {ProbeStep::Cudnn, "VERSION_MISMATCH", {1002, 13}, Meaning::Mixed},
    {ProbeStep::Cudnn, "SUBLIBRARY_LOADING", {1008}, Meaning::Mixed},
    {ProbeStep::Cudnn, "NOT_INITIALIZED", {1, 1001}, Meaning::NotInitialised},
    {ProbeStep::Cudnn, "INCOMPATIBLE_CUDA_DRIVER", {3005}, Meaning::OldDriver},
    {ProbeStep::Cudnn, "INCOMPATIBLE_CUDART", {3006}, Meaning::OtherRuntime},
    {ProbeStep::Cudnn, "HOST_ALLOCATION_FAILED", {4003}, Meaning::NoHostMemory},
    {ProbeStep::Cudnn, "ARCH_MISMATCH", {6, 3007}, Meaning::ArchMismatch},
    {ProbeStep::Cudnn, "ALLOC_FAILED", {2, 4004}, Meaning::AllocFailed},
    {ProbeStep::Cublas, "NOT_INITIALIZED", {1}, Meaning::NotInitialised},
    {ProbeStep::Cublas, "ARCH_MISMATCH", {8}, Meaning::ArchMismatch},
    {ProbeStep::Cublas, "ALLOC_FAILED", {3}, Meaning::AllocFailed},
    {std::nullopt, "NOT_INITIALIZED", {}, Meaning::NotInitialised},
    {std::nullopt, "ARCH_MISMATCH", {}, Meaning::ArchMismatch},
    {std::nullopt, "ALLOC_FAILED", {}, Meaning::AllocFailed},
    {std::nullopt, "ALLOCATION_FAILED", {}, Meaning::AllocFailed},
});

std::optional<Meaning> meaning_of(const facts::ProbeRung& rung) {
    const int number = rung.error_name.empty() ? rung.error.value_or(0) : 0;
    const auto* const row = std::ranges::find_if(k_statuses, [&](const StatusRow& one) {
        return (!one.step || one.step == rung.step) &&
               (has_status(rung, one.name) || (number != 0 && is_one_of(number, one.numbers)));
    });
    return row == k_statuses.end() ? std::nullopt : std::optional(row->meaning);
}

// Another CUDA's cuDNN: arguments "built" and "runtime"; empty where it is the runtime's.
Arguments foreign_cuda(const Scene& scene, const facts::ProbeRung& rung) {
    const bool is_foreign =
        rung.cuda && scene.runtime && rung.cuda->major() != scene.runtime->version.major();
    return {{"built", is_foreign ? rung.cuda->major_minor() : std::string()},
            {"runtime", is_foreign ? scene.runtime->version.major_minor() : std::string()}};
}

// The CUDA that cuDNN was built for has the floor, not the environment's runtime.
Finding explain_driver_below_cudnn(const Scene& scene, const facts::ProbeRung& rung) {
    Scene of_cudnn = scene;
    if (rung.cuda) {
        of_cudnn.runtime = ProbeVersion{*rung.cuda, rung.path};
    }
    Finding finding = explain_old_driver(of_cudnn, rung);
    const bool is_new_enough = finding.text.code == "CE323"; // by the tables
    return is_new_enough ? found("CE322", "cudnn",
                                 {{"seen", one_line(rung.call, 32)},
                                  {"driver", scene.driver()},
                                  {"version", rung.version ? rung.version->str() : std::string()}})
                         : finding;
}

Finding explain_nvrtc(const Scene& scene, const facts::ProbeRung& rung) {
    const std::string said = telling_line(rung.message, {"libnvrtc-builtins", "rror"}, 48);
    // NVRTC_ERROR_BUILTIN_OPERATION_FAILURE is 7, NVRTC_ERROR_INVALID_OPTION 5 (nvrtc.h).
    const bool lacks_builtins =
        contains(rung.message, "builtins") || has_status(rung, "BUILTIN") || rung.error == 7;
    const bool is_unknown_gpu = contains(rung.message, "gpu-architecture") ||
                                has_status(rung, "INVALID_OPTION") || rung.error == 5;
    return found(lacks_builtins   ? "CE342"
                 : is_unknown_gpu ? "CE344"
                                  : "CE345",
                 "",
                 Arguments{{"said", said.empty() ? refusal(rung) : said},
                           {"version", rung.version ? rung.version->str() : std::string()},
                           {"gpu", scene.gpu(rung.gpu)}} +
                     reinstalled(scene, rung));
}

Finding explain_nccl(const Scene& scene, const facts::ProbeRung& rung) {
    // nccl.h: 1 unhandled CUDA error, 2 system error, 3 internal error, 5 invalid usage.
    const bool is_cuda = rung.error == 1 || has_status(rung, "unhandled cuda error");
    const bool is_system = rung.error == 2 || has_status(rung, "unhandled system error");
    return found("CE357",
                 is_cuda                ? "cuda"
                 : !is_system           ? ""
                 : scene.in_container() ? "container"
                                        : "system",
                 {{"seen", refusal(rung)}});
}

// A refusal that names no library's status: maybe a CUDA error that was passed through.
bool is_cuda_call(std::string_view call) {
    return call.starts_with("cuda") ||
           (call.size() > 2 && call.starts_with("cu") && call[2] >= 'A' && call[2] <= 'Z');
}

// "libcudnn_ops.so.9" of the loader's words for a file that does not exist, which may follow what a
// program or Python says before them. Empty: they say something else.
std::string missing_file(std::string_view said) {
    const auto end = said.find(": cannot open shared object file");
    if (end == std::string_view::npos) {
        return {};
    }
    const auto before = said.substr(0, end);
    return file_name(before.substr(before.find_last_of(" \n") + 1));
}

} // namespace

Arguments reinstalled(const Scene& scene, const facts::ProbeRung& rung) {
    const auto& library = library_of(rung.step);
    const unsigned major = cuda_major(scene, rung);
    const std::string_view file = tried_file(rung);
    const std::string pip = pip_package(library, major);
    const std::array<std::string, 1> force = {"--force-reinstall"};
    std::string command;
    if (contains(file, "/torch/lib/")) {
        command = pip_command(scene, "torch", force); // its own copy
    } else if (is_of_conda(scene, file)) {
        command = knowledge::conda_install(
            scene.target(), std::array{force.front(), conda_package(library, major)}, {});
    } else if (!pip.empty()) {
        command = pip_command(scene, pip + version_here(scene, pip), force);
    }
    // Wheels of the time before those packages contain the library themselves.
    const char* const text =
        command.empty() ? "reinstall the package that contains it" : "reinstall it";
    return {{"reinstall", text}, {"reinstall_command", std::move(command)}};
}

Finding explain_loading(const Scene& scene, const facts::ProbeRung& rung) {
    if (auto closed = explain_closed_library(scene, rung)) {
        return std::move(*closed);
    }
    const facts::ProbedLibrary& library = library_of(rung.step);
    const std::string& said = rung.message;
    const std::string missing = missing_file(said);
    Arguments arguments =
        Arguments{
            {"name", facts::is_built(rung.step) ? "the built program" : std::string(library.name)},
            {"said", said.empty() ? refusal(rung) : loader_words(rung)},
            {"path", one_line(rung.path, 120)},
            {"missing", missing},
            {"fault", fault_of_file(rung)}} +
        reinstalled(scene, rung);
    // The loader's words (glibc's elf/), in the order in which they are looked for.
    struct Words {
        std::string_view words;
        std::string_view code;
        std::string_view situation;
    };
    constexpr auto k_words = std::to_array<Words>({{"__nvJitLink", "CE347", ""},
                                                   {"GLIBC_", "CE349", "glibc"},
                                                   {"GLIBCXX_", "CE349", "libstdcxx"},
                                                   {"CXXABI_", "CE349", "libstdcxx"},
                                                   {"undefined symbol", "CE348", ""},
                                                   {"not found (required by", "CE348", ""},
                                                   {"version `", "CE348", ""}});
    const auto* const known =
        std::ranges::find_if(k_words, [&](const Words& row) { return contains(said, row.words); });
    if (known != k_words.end()) {
        arguments.emplace_back("install",
                               knowledge::conda_install(scene.target(),
                                                        std::array<std::string, 1>{"libstdcxx-ng"},
                                                        std::array<std::string, 1>{"conda-forge"}));
        return found(known->code, known->situation, std::move(arguments));
    }
    if (!fault_of_file(rung).empty()) {
        return found("CE350", "", std::move(arguments));
    }
    const bool is_cudnn8 = contains(missing, "libcudnn.so.8");
    if (is_cudnn8) {
        const auto& cudnn = facts::row_of(ProbeStep::Cudnn).library;
        arguments.emplace_back(
            "install",
            pip_command(scene, pip_package(cudnn, std::max(11U, cuda_major(scene, rung))) + "<9"));
    }
    return found(rung.step == ProbeStep::Runtime ? "CE321" : "CE341",
                 is_cudnn8                         ? "cudnn8"
                 : missing.empty()                 ? ""
                 : contains(missing, library.file) ? "itself"
                                                   : "needs",
                 std::move(arguments));
}

Finding explain_library_status(const Scene& scene, const facts::ProbeRung& rung) {
    if (is_cuda_call(rung.call)) {
        return explain_cuda_error(scene, rung, cuda_error(rung).value_or(999));
    }
    if (rung.step == ProbeStep::Nvrtc) {
        return explain_nvrtc(scene, rung);
    }
    if (rung.step == ProbeStep::Nccl) {
        return explain_nccl(scene, rung);
    }
    const bool is_cudnn = rung.step == ProbeStep::Cudnn;
    const Arguments arguments = Arguments{{"seen", refusal(rung)},
                                          {"name", std::string(library_of(rung.step).name)},
                                          {"gpu", scene.gpu(rung.gpu)},
                                          {"said", one_line(rung.message, 160)}} +
                                foreign_cuda(scene, rung);
    const auto meaning = meaning_of(rung);
    if (!meaning) {
        return found("CE358", "", arguments + reinstalled(scene, rung));
    }
    switch (*meaning) {
    case Meaning::NotInitialised:
        return is_cudnn ? found("CE353", "", arguments)
                        : found(rung.step == ProbeStep::Cublas ? "CE351" : "CE358",
                                "not-initialised", arguments);
    case Meaning::ArchMismatch:
        return found("CE352", "", arguments);
    case Meaning::AllocFailed:
        return explain_no_memory(scene, rung);
    case Meaning::Mixed:
        return found("CE354", "", arguments);
    case Meaning::OldDriver:
        return explain_driver_below_cudnn(scene, rung);
    case Meaning::OtherRuntime:
        return found("CE353", "runtime", arguments);
    case Meaning::NoHostMemory:
        break;
    }
    return found("CE346", "", arguments);
}

std::optional<Finding> explain_working_library(const Scene& scene, const facts::ProbeRung& rung) {
    const facts::ProbedLibrary& library = library_of(rung.step);
    const std::string version = rung.version ? rung.version->str() : std::string();
    if (!rung.part.empty()) {
        const facts::FrameworkBuild* const framework = scene.framework();
        const bool is_checked =
            rung.step == ProbeStep::Cudnn && framework != nullptr && framework->name == "torch";
        const Arguments out = out_of_library_path(scene, rung.part);
        return found("CE354", "parts",
                     Arguments{{"name", std::string(library.name)},
                               {"version", version},
                               {"part", file_name(rung.part)},
                               {"part_path", one_line(rung.part, 120)},
                               {"file", file_name(rung.path)},
                               {"path", one_line(rung.path, 120)},
                               {"torch", is_checked ? "yes" : ""}} +
                         (out.empty() ? Arguments{{"entries", ""}, {"command", ""}} : out));
    }
    const Arguments foreign = foreign_cuda(scene, rung);
    if (rung.step != ProbeStep::Cudnn || foreign.front().second.empty()) {
        return std::nullopt;
    }
    return found(
        "CE355", "",
        Arguments{
            {"version", version},
            {"install",
             pip_command(scene,
                         pip_package(library, std::max(11U, scene.runtime->version.major())))}} +
            foreign);
}

Finding explain_missing_library(const Scene& scene, const facts::ProbeRung& rung) {
    if (auto closed = explain_closed_library(scene, rung)) {
        return std::move(*closed);
    }
    const facts::ProbedLibrary& library = library_of(rung.step);
    const auto other = scene.context->passed_over.find(rung.step);
    return with_closed_place(
        scene,
        found(rung.step == ProbeStep::Runtime ? "CE320" : "CE340", "",
              {{"library", std::string(library.file)},
               {"name", std::string(library.name)},
               {"where", scene.context->environment != nullptr ? "this env" : "the usual places"},
               {"other", other != scene.context->passed_over.end() ? other->second : std::string()},
               {"install", install_command(scene, rung)}}));
}

} // namespace cudaenv::judge
