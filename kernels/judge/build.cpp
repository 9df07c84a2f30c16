// A compiler's words and torch's, matched loosely: their exact texts differ from release to
// release.
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "kernels/judge/scene.hpp"
#include "solver/knowledge/builds.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::judge {

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

// The release of nvcc that builds for this environment: its framework's, the runtime's, what the
// driver gives.
std::optional<DottedVersion> wanted_cuda(const Scene& scene) {
    if (const auto* const framework = scene.framework()) {
        return framework->cuda;
    }
    if (scene.runtime) {
        return scene.runtime->version;
    }
    const std::string newest = scene.newest_cuda();
    return newest.empty() ? std::nullopt : std::optional(DottedVersion::of(newest));
}

// How to get an nvcc: arguments "recipe" and "recipe_command".
Arguments nvcc_recipe(const Scene& scene) {
    const auto cuda = wanted_cuda(scene);
    if (!cuda) {
        return {{"recipe", "install a CUDA toolkit"}, {"recipe_command", "cudaenv toolkits"}};
    }
    auto recipe = knowledge::nvcc_recipe(*cuda, scene.target());
    return {{"recipe", "install " + recipe.text}, {"recipe_command", std::move(recipe.command)}};
}

Finding explain_host_compiler(const Scene& scene, std::string_view said, bool is_gcc) {
    const auto limit =
        number_after(said, is_gcc ? "versions later than " : "version must be less than ");
    Arguments arguments{{"compiler", is_gcc ? "gcc" : "clang"},
                        {"limit", !limit   ? std::string()
                                  : is_gcc ? "no version later than " + limit->str()
                                           : "versions below " + limit->str()}};
    if (const auto* const other = fitting_gcc(scene, is_gcc ? limit : std::nullopt)) {
        return found("CE360", "here",
                     arguments + Arguments{{"gcc", other->version.str()},
                                           {"path", shell_word(other->path)}});
    }
    knowledge::Recipe recipe;
    if (is_gcc && limit) {
        recipe = knowledge::compiler_recipe(static_cast<int>(limit->major()),
                                            knowledge::GccBound::OrOlder, scene.target());
    }
    return found("CE360", "",
                 arguments +
                     Arguments{{"recipe", recipe.text.empty() ? "install a g++ that it supports"
                                                              : "install " + recipe.text},
                               {"recipe_command",
                                recipe.command.empty() ? "cudaenv toolkits" : recipe.command}});
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

// What was said, for a title and for a cause.
Arguments words_of(const facts::ProbeRung& rung, std::size_t most) {
    return {{"said", one_line(rung.message, most)}, {"all", one_line(rung.message, 200)}};
}

Finding explain_unwritten(const facts::ProbeRung& rung) {
    const bool is_limit = contains(rung.message, "File too large") ||
                          contains(rung.message, "File size limit exceeded");
    return found("CE364", is_limit ? "limit" : "", words_of(rung, 80));
}

// Killed from outside: what was built is not at fault.
std::optional<Finding> explain_killed(const facts::ProbeRung& rung) {
    constexpr auto k_words = std::to_array<std::string_view>(
        {"ended by signal 9", "ended by signal 15", "Killed signal terminated program",
         "Terminated signal terminated program"});
    const bool is_killed = std::ranges::any_of(
        k_words, [&](std::string_view words) { return contains(rung.message, words); });
    return is_killed
               ? std::optional(found(
                     "CE373", "", {{"program", rung.call == facts::k_program_call ? "yes" : ""}}))
               : std::nullopt;
}

std::string python_of(const Scene& scene) {
    const auto* const environment = scene.context->environment;
    return environment == nullptr ? std::string("python")
                                  : shell_word(environment->prefix + "/bin/python");
}

// A call of the trial's own that failed.
std::optional<Finding> explain_call(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.call == facts::k_write_call) {
        return explain_unwritten(rung);
    }
    if (rung.call == facts::k_place_call) {
        return found("CE364", "name", words_of(rung, 86));
    }
    if (auto killed = explain_killed(rung)) {
        return killed;
    }
    if (rung.call == facts::k_nvcc_call) {
        return found("CE363", "nvcc", words_of(rung, 200));
    }
    if (rung.call == facts::k_import_call) {
        return found("CE374", "", words_of(rung, 72) + Arguments{{"python", python_of(scene)}});
    }
    return std::nullopt;
}

// A CUDA error of the built program, or of torch's extension.
std::optional<Finding> explain_error_of_built(const Scene& scene, const facts::ProbeRung& rung) {
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
    return std::nullopt;
}

// Compilers' and torch's sentences, in lower case and without blanks; the first that occurs holds.
struct Sentence {
    std::string_view words;
    Finding (*explain)(const Scene&, const facts::ProbeRung&);
};

Finding unknown_gpu(const Scene& /*scene*/, const facts::ProbeRung& rung) {
    return found("CE361", "",
                 {{"sm", between(rung.message, "nsupported gpu architecture", '\'', '\'')}});
}
Finding other_major(const Scene& /*scene*/, const facts::ProbeRung& rung) {
    return found("CE365", "", {{"nvcc", between(rung.message, "detected CUDA version", '(', ')')}});
}
Finding no_nvcc(const Scene& scene, const facts::ProbeRung& /*rung*/) {
    return found("CE367", "", nvcc_recipe(scene));
}
Finding cpu_build(const Scene& /*scene*/, const facts::ProbeRung& /*rung*/) {
    return found("CE368", "", {});
}
Finding old_driver(const Scene& scene, const facts::ProbeRung& rung) {
    return explain_old_driver(scene, rung, "CE370");
}
Finding no_code(const Scene& scene, const facts::ProbeRung& rung) {
    return explain_no_code(scene, rung, "torch");
}
Finding no_ninja(const Scene& scene, const facts::ProbeRung& /*rung*/) {
    return found(
        "CE371", "",
        {{"install", knowledge::pip_install(scene.target(), std::array<std::string, 1>{"ninja"})}});
}
Finding no_headers(const Scene& /*scene*/, const facts::ProbeRung& /*rung*/) {
    return found("CE372", "", {});
}
Finding refused_gcc(const Scene& scene, const facts::ProbeRung& rung) {
    return explain_host_compiler(scene, rung.message, true);
}
Finding refused_clang(const Scene& scene, const facts::ProbeRung& rung) {
    return explain_host_compiler(scene, rung.message, false);
}
// nvcc's own front end writes PTX that its ptxas does not know: pip installs nvcc 13.0 beside nvvm
// and crt of 13.5.
Finding mixed_nvcc(const Scene& scene, const facts::ProbeRung& rung) {
    return found(rung.step == facts::ProbeStep::Build ? "CE363" : "CE369", "mixed",
                 Arguments{{"said", one_line(rung.cause, 86)},
                           {"nvcc", rung.version ? rung.version->str() : std::string()}} +
                     nvcc_recipe(scene));
}

constexpr auto k_sentences = std::to_array<Sentence>({
    {"unsupportedgnuversion", refused_gcc},
    {"unsupportedclangversion", refused_clang},
    {"unsupported.version", mixed_nvcc},
    {"unsupportedgpuarchitecture", unknown_gpu},
    {"mismatchestheversionthatwasusedtocompile", other_major},
    {"cudawasnotfound", no_nvcc},
    {"cuda_homeenvironmentvariableisnotset", no_nvcc},
    {"torchnotcompiledwithcuda", cpu_build},
    {"nvidiadriveronyoursystemistooold", old_driver},
    {"notcompatiblewiththecurrentpytorch", no_code},
    {"nolongersupportsthisgpu", no_code},
    {"nokernelimageisavailable", no_code},
    {"minimumandmaximumcudacapability", no_code},
    {"ninjaisrequired", no_ninja},
    {"python.h:nosuchfile", no_headers},
});

} // namespace

Finding explain_untried_build(const Scene& scene, const facts::ProbeRung& rung) {
    if (rung.reason == facts::RungReason::CpuBuild) {
        return found("CE368", "untried", {});
    }
    if (rung.path.empty()) {
        return found("CE362", "", words_of(rung, 80) + nvcc_recipe(scene));
    }
    Finding finding; // built, and not run
    finding.status = StepStatus::Skipped;
    finding.verdict = ProbeVerdict::Ok;
    finding.text.title = one_line(rung.message, 90);
    return finding;
}

Finding explain_build(const Scene& scene, const facts::ProbeRung& rung) {
    if (auto finding = explain_call(scene, rung)) {
        return std::move(*finding);
    }
    if (auto finding = explain_error_of_built(scene, rung)) {
        return std::move(*finding);
    }
    const std::string plain = squeezed(rung.message);
    const auto* const known = std::ranges::find_if(
        k_sentences, [&](const Sentence& row) { return contains(plain, row.words); });
    if (known != k_sentences.end()) {
        return known->explain(scene, rung);
    }
    const std::string& said = rung.message;
    const bool is_loaders_word =
        contains(said, "cannot open shared object file") || contains(said, "undefined symbol");
    // A library of torch's own is not in a package of CUDA's.
    if (is_loaders_word && (contains(said, "libcu") || contains(said, "libnv"))) {
        return explain_loading(scene, rung);
    }
    const bool is_torch = rung.step == facts::ProbeStep::TorchExtension;
    const std::string line =
        !rung.cause.empty() ? one_line(rung.cause, 86) : telling_line(said, {}, 80);
    return found(is_torch ? "CE369" : "CE363",
                 rung.call == facts::k_program_call ? "program"
                 : is_torch && is_loaders_word      ? "import"
                                                    : "",
                 {{"said", line.empty() ? refusal(rung) : line}, {"python", python_of(scene)}});
}

std::optional<Finding> explain_build_warning(const Scene& scene, const facts::ProbeRung& rung) {
    const facts::FrameworkBuild* const build = scene.framework();
    const bool differs = build != nullptr && build->name == "torch" && rung.version &&
                         rung.version->major() == build->cuda->major() &&
                         rung.version->minor() != build->cuda->minor();
    if (!differs && !contains(squeezed(rung.message), "minorversionmismatch")) {
        return std::nullopt;
    }
    return found(
        "CE366", "",
        {{"nvcc", rung.version ? rung.version->major_minor()
                               : between(rung.message, "detected CUDA version", '(', ')')},
         {"torch", build != nullptr ? build->cuda->major_minor() : std::string("another minor")}});
}

} // namespace cudaenv::judge
