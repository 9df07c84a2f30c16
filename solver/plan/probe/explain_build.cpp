// A compiler's words and torch's, matched loosely: their exact texts differ from release to
// release.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "solver/plan/probe/packages.hpp"
#include "solver/plan/probe/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::plan::probe {

namespace {

// Torch's sentences lack or gain a space or a line break from release to release.
std::string squeezed(std::string_view text) {
    std::string plain;
    for (const char c : to_lower_ascii(text)) {
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            plain += c;
        }
    }
    return plain;
}

// The first parenthesised or quoted words after `mark`.
std::string between(std::string_view text, std::string_view mark, char open, char close) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) {
        return {};
    }
    const auto from = text.find(open, at);
    const auto to = from == std::string_view::npos ? from : text.find(close, from + 1);
    return to == std::string_view::npos ? std::string()
                                        : one_line(text.substr(from + 1, to - from - 1), 24);
}

// The number after `mark`: "versions later than 11", "must be less than 16".
std::optional<DottedVersion> number_after(std::string_view said, std::string_view mark) {
    const auto at = said.find(mark);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const auto rest = said.substr(at + mark.size());
    auto number = DottedVersion::parse(rest.substr(0, rest.find_first_not_of("0123456789.")));
    return number ? std::optional(std::move(*number)) : std::nullopt;
}

// The newest g++ of this host that is not later than `limit`.
const facts::Compiler* fitting_gcc(const Scene& scene, const std::optional<DottedVersion>& limit) {
    const facts::Compiler* best = nullptr;
    if (!limit || scene.context->host == nullptr) {
        return nullptr;
    }
    for (const facts::Compiler& compiler : scene.context->host->compilers) {
        if (compiler.family == facts::CompilerFamily::Gcc &&
            compiler.version.major() <= limit->major() &&
            (best == nullptr || best->version < compiler.version)) {
            best = &compiler;
        }
    }
    return best;
}

Finding fails(const char* code, std::string detail, std::string cause, StepFix fix) {
    return {code,           StepStatus::Fails,  std::move(detail), std::move(cause),
            std::move(fix), ProbeVerdict::Fails};
}

Finding explain_host_compiler(const Scene& scene, std::string_view said, bool is_gcc) {
    const auto limit =
        number_after(said, is_gcc ? "versions later than " : "version must be less than ");
    std::string detail = fmt::format("nvcc refuses this {}", is_gcc ? "gcc" : "clang");
    if (limit) {
        detail += is_gcc ? fmt::format(": it takes none later than {}", limit->str())
                         : fmt::format(": it takes those below {}", limit->str());
    }
    const facts::Compiler* const other = fitting_gcc(scene, is_gcc ? limit : std::nullopt);
    return fails("CE360", std::move(detail),
                 "each nvcc names in its crt/host_config.h the compilers that it goes with",
                 other != nullptr
                     ? StepFix{fmt::format("g++ {} is here: nvcc -ccbin {}", other->version.str(),
                                           shell_word(other->path)),
                               "export CUDAHOSTCXX=" + shell_word(other->path)}
                     : StepFix{"a g++ that it takes (without root: conda's gxx), then nvcc -ccbin "
                               "g++-N",
                               "cudaenv toolkits"});
}

// The extension's own words (host/probe/trial/extension.cpp): "kernel launch 209 cudaErrorNo...".
std::optional<facts::ProbeRung> failed_launch(const facts::ProbeRung& rung) {
    constexpr std::string_view k_mark = "kernel launch ";
    const auto number = number_after(rung.message, k_mark);
    const auto name =
        rung.message.find("cudaError", std::min(rung.message.find(k_mark), rung.message.size()));
    if (!number || number->parts().size() != 1 || name == std::string::npos) {
        return std::nullopt;
    }
    facts::ProbeRung launch = rung;
    launch.call = "kernel launch";
    launch.error = static_cast<int>(number->major());
    const auto end = rung.message.find_first_not_of(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", name);
    launch.error_name = rung.message.substr(name, end == std::string::npos ? end : end - name);
    launch.message.clear();
    return launch;
}

Finding explain_unwritten(const facts::ProbeRung& rung) {
    const bool is_limit = contains(rung.message, "File too large") ||
                          contains(rung.message, "File size limit exceeded");
    return fails("CE364", "the trial cannot be written: " + one_line(rung.message, 80),
                 "what is built lies below TMPDIR, else /tmp; here " + one_line(rung.message, 200),
                 is_limit ? StepFix{"a higher limit for the size of files (ulimit -f)",
                                    "ulimit -f unlimited"}
                          : StepFix{"a TMPDIR with room, in which you may write",
                                    "mkdir -p ~/tmp && export TMPDIR=~/tmp"});
}

// A name that no nvcc takes: whatever is built there fails, the user's own as well.
Finding explain_unfit_place(const facts::ProbeRung& rung) {
    return fails("CE364", "TMPDIR has " + one_line(rung.message, 86),
                 "nvcc passes the names of its temporary files on through a shell and in lists, "
                 "and breaks at this character",
                 {"a TMPDIR with a plain name", "mkdir -p ~/tmp && export TMPDIR=~/tmp"});
}

Finding explain_broken_nvcc(const facts::ProbeRung& rung) {
    return fails("CE363", one_line(rung.message, 200),
                 "this nvcc does not work whatever it compiles: a part of its installation is "
                 "missing, or it is a wrapper that fails",
                 {"repair it, or put another first: CUDA_HOME, PATH", "cudaenv toolkits"});
}

// From outside: nothing that was built is at fault.
std::optional<Finding> explain_killed(const facts::ProbeRung& rung) {
    constexpr auto k_words = std::to_array<std::string_view>(
        {"ended by signal 9", "ended by signal 15", "Killed signal terminated program",
         "Terminated signal terminated program"});
    const auto found = std::find_if(k_words.begin(), k_words.end(), [&](std::string_view words) {
        return contains(rung.message, words);
    });
    if (found == k_words.end()) {
        return std::nullopt;
    }
    const bool is_program = rung.call == facts::k_program_call;
    return of_the_moment(
        fails("CE373", is_program ? "what was built was killed" : "the compiler was killed",
              "somebody killed it: the kernel for want of memory, a job limit, or a person",
              {"more memory, or less beside it; then once more",
               "sudo dmesg | grep -i 'out of memory' | tail -3"}));
}

Finding explain_no_import(const Scene& scene, const facts::ProbeRung& rung) {
    return fails(
        "CE374", "torch cannot be imported: " + one_line(rung.message, 72),
        "this environment's torch does not start, whatever is built: " +
            one_line(rung.message, 200),
        {"mend that first; it says more of itself",
         shell_word(scene.context->environment->prefix + "/bin/python") + " -c 'import torch'"});
}

Finding cpu_build() {
    return fails("CE368", "this torch is a build without CUDA",
                 "it came from an index without CUDA, or another package's requirement replaced "
                 "the CUDA build",
                 {"torch, torchvision and torchaudio together, from one CUDA index",
                  "cudaenv resolve torch torchvision torchaudio"});
}

} // namespace

Finding explain_untried_build(const facts::ProbeRung& rung) {
    Finding finding;
    if (contains(rung.message, "build without CUDA")) {
        finding = cpu_build();
    } else if (rung.path.empty()) {
        finding = fails(
            "CE362", rung.message.empty() ? "nothing to build with" : one_line(rung.message, 80),
            "compiling needs an nvcc and a host compiler that it accepts; running needs neither",
            {"an nvcc into the environment, without root",
             "conda install -c conda-forge cuda-nvcc"});
    } else {
        finding.detail = one_line(rung.message, 90); // built, and not run
    }
    finding.status = StepStatus::Skipped;
    finding.verdict = ProbeVerdict::Ok;
    return finding;
}

Finding explain_build(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.call == facts::k_write_call) {
        return explain_unwritten(rung);
    }
    if (rung.call == facts::k_place_call) {
        return explain_unfit_place(rung);
    }
    if (auto killed = explain_killed(rung)) {
        return std::move(*killed);
    }
    if (rung.call == facts::k_nvcc_call) {
        return explain_broken_nvcc(rung);
    }
    const std::string& said = rung.message;
    if (rung.call == facts::k_import_call) {
        return explain_no_import(scene, rung);
    }
    const std::string plain = squeezed(said);
    // A program that nvcc built carries the runtime of nvcc's own CUDA.
    Scene of_nvcc = scene;
    if (rung.version) {
        of_nvcc.runtime = ProbeVersion{*rung.version, rung.path};
    }
    if (rung.error && (rung.call.starts_with("cuda") || rung.error_name.starts_with("cudaError"))) {
        return explain_cuda_error(of_nvcc, rung, *cuda_error(rung));
    }
    if (const auto launch = failed_launch(rung)) {
        return explain_cuda_error(of_nvcc, *launch, *cuda_error(*launch));
    }
    if (contains(plain, "unsupportedgnuversion") || contains(plain, "unsupportedclangversion")) {
        return explain_host_compiler(scene, said, contains(plain, "unsupportedgnuversion"));
    }
    if (contains(plain, "unsupportedgpuarchitecture")) {
        const std::string which = between(said, "nsupported gpu architecture", '\'', '\'');
        return fails("CE361",
                     fmt::format("nvcc does not know {}", which.empty() ? "this GPU" : which),
                     "each CUDA drops old GPUs and learns new ones: 13 has none below sm_75, 12.8 "
                     "is the first with sm_100 and sm_120",
                     {"an nvcc that knows it, or another TORCH_CUDA_ARCH_LIST or "
                      "CMAKE_CUDA_ARCHITECTURES",
                      "cudaenv toolkits"});
    }
    if (contains(plain, "thedetectedcudaversion") && contains(plain, "mismatches")) {
        return fails("CE365",
                     fmt::format("nvcc is of CUDA {}, torch was built with another major",
                                 between(said, "detected CUDA version", '(', ')')),
                     "torch refuses an nvcc of another major than its own CUDA",
                     {"a toolkit of torch's CUDA for CUDA_HOME, or the torch of that nvcc",
                      "cudaenv toolkits"});
    }
    if (contains(plain, "cudawasnotfound") ||
        contains(plain, "cuda_homeenvironmentvariableisnotset")) {
        return fails("CE367", "torch finds no nvcc",
                     "neither CUDA_HOME nor PATH leads to one; wheels of CUDA 11 and 12 bring none",
                     {"an nvcc into the environment, without root",
                      conda_install(scene) + " -c conda-forge cuda-nvcc"});
    }
    if (contains(plain, "torchnotcompiledwithcuda")) {
        return cpu_build();
    }
    if (contains(plain, "nvidiadriveronyoursystemistooold")) {
        const std::string found = between(said, "too old", '(', ')');
        Finding finding = explain_old_driver(scene, "torch");
        finding.code = "CE370";
        finding.detail =
            fmt::format("torch: the driver is too old{}", found.empty() ? "" : " (" + found + ")");
        return finding;
    }
    if (contains(plain, "notcompatiblewiththecurrentpytorch") ||
        contains(plain, "nolongersupportsthisgpu") || contains(plain, "nokernelimageisavailable") ||
        contains(plain, "minimumandmaximumcudacapability")) {
        return explain_no_code(scene, rung, "torch");
    }
    if (contains(plain, "ninjaisrequired")) {
        return fails("CE371", "torch builds extensions with ninja, which is not here",
                     "it is a program, and a package of pip and conda",
                     {"ninja into the environment", pip_install(scene) + " ninja"});
    }
    if (contains(plain, "python.h:nosuchfile")) {
        return fails("CE372", "Python.h is not here", "this Python came without its headers",
                     {"Debian and Ubuntu keep them in python3-dev; conda's Python has them",
                      "sudo apt install python3-dev"});
    }
    const bool is_loaders_word =
        contains(said, "cannot open shared object file") || contains(said, "undefined symbol");
    // A library of torch's own is no package of CUDA's.
    if (is_loaders_word && (contains(said, "libcu") || contains(said, "libnv"))) {
        return explain_loading(scene, rung);
    }
    const bool is_torch = rung.step == facts::ProbeStep::TorchExtension;
    const std::string line = telling_line(
        said, {"cannot open", "cannot find", "fatal", "error:", "Error:", "ndefined"}, 80);
    StepFix fix{"what the compiler said, whole: the member output", "cudaenv probe --build --json"};
    if (rung.call == facts::k_program_call) {
        fix = {"look at what the kernel says of it", "sudo dmesg | tail"};
    } else if (is_torch && is_loaders_word) {
        fix = {"see which file it wants, and who brings that",
               shell_word(scene.context->environment->prefix + "/bin/python") +
                   " -c 'import torch'"};
    }
    return fails(is_torch ? "CE369" : "CE363", line.empty() ? refusal(rung) : line,
                 is_torch ? "a small extension for this torch does not build or run"
                          : "a small program does not compile, link or run",
                 std::move(fix));
}

std::optional<Finding> explain_build_warning(const Scene& scene, const facts::ProbeRung& rung) {
    const facts::FrameworkBuild* const build = scene.framework();
    const bool differs = build != nullptr && build->name == "torch" && rung.version &&
                         rung.version->major() == build->cuda->major() &&
                         rung.version->minor() != build->cuda->minor();
    if (!differs && !contains(squeezed(rung.message), "minorversionmismatch")) {
        return std::nullopt;
    }
    const std::string nvcc = rung.version
                                 ? rung.version->major_minor()
                                 : between(rung.message, "detected CUDA version", '(', ')');
    Finding finding;
    finding.code = "CE366";
    finding.status = StepStatus::Warns;
    finding.verdict = ProbeVerdict::Warns;
    finding.detail =
        fmt::format("builds and runs; nvcc is of CUDA {}, torch of {}", nvcc,
                    build != nullptr ? build->cuda->major_minor() : std::string("another minor"));
    finding.cause = "torch accepts another minor of its major, and says so";
    return finding;
}

} // namespace cudaenv::plan::probe
