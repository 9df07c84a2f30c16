// What the judgement of a rung rests on, gathered once from the whole report and its context; the
// explanations, one file each; and the small texts that they share. Pure; only for kernels/judge.
#pragma once

#include "base/compute_capability.hpp"
#include "kernels/judge/judge.hpp"
#include "solver/facts/finding.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/recipes.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::judge {

// What one rung came to; a JudgedStep without the rung's own name, GPU and time.
struct Finding {
    // A case of data/findings.json; without a code the title alone, of a rung that succeeded or was
    // skipped.
    facts::Finding text;
    StepStatus status = StepStatus::Fails;
    ProbeVerdict verdict = ProbeVerdict::Fails; // of a failure: the verdict of the whole probe
    bool machine_is_right = false;              // JudgedStep's
    bool of_the_moment = false;                 // JudgedStep's
};
// That case with its status, verdict and whether it passes by itself, as its row says.
Finding found(std::string_view code, std::string_view situation, facts::Arguments arguments);
// The same finding where everything works all the same.
Finding as_warning(Finding finding);
Finding with_verdict(Finding finding, ProbeVerdict verdict);
// A failure that may have `other` as its reason instead: its cause is added, its fix replaces.
Finding or_because(Finding finding, const Finding& other);

using facts::Arguments;
Arguments operator+(Arguments left, const Arguments& right);

struct Scene {
    const facts::ProbeReport* report = nullptr;
    const ProbeContext* context = nullptr;
    std::string libcuda;                  // the file that was loaded; empty: none
    std::optional<DottedVersion> library; // 580.95.05 of libcuda.so.580.95.05
    std::optional<DottedVersion> module;  // the kernel module's
    std::optional<DottedVersion> driver_cuda;
    std::optional<ProbeVersion> runtime;
    std::map<int, const facts::ProbeRung*> gpus; // the Gpu rungs by ordinal
    bool machine_code_ran = false;               // the kernel computed right on some GPU

    [[nodiscard]] bool in_container() const;
    [[nodiscard]] bool on_wsl() const;
    // "driver 580.159.04", "the driver" where its version is unknown.
    [[nodiscard]] std::string driver() const;
    // "NVIDIA H200 (sm_90)", "the GPU".
    [[nodiscard]] std::string gpu(std::optional<int> ordinal) const;
    [[nodiscard]] std::optional<ComputeCapability> capability(std::optional<int> ordinal) const;
    // The first framework with CUDA of the environment, or null.
    [[nodiscard]] const facts::FrameworkBuild* framework() const;
    // The host with what was measured here in the place of what was looked up: what
    // solver/knowledge judges.
    [[nodiscard]] facts::Host host() const;
    // Where commands install: the environment.
    [[nodiscard]] knowledge::Target target() const;
    // The newest CUDA release that the driver gives in full: "12.6" of 12.7, which has none. Empty:
    // unknown. Pins and builds are for this one, not for the driver's own number.
    [[nodiscard]] std::string newest_cuda() const;
};

Scene look_at(const facts::ProbeReport& report, const ProbeContext& context);

// --- text ---------------------------------------------------------------------------------------

std::string file_name(std::string_view path);
std::string directory_of(std::string_view path);
// True where a directory of `path` is called `name`, or begins with it where it ends in '-'.
bool has_component(std::string_view path, std::string_view name);
// Below a directory of cuda-compat: compat/, or conda's cuda-compat/.
bool is_compat(std::string_view path);
bool is_stub(std::string_view path);
// Printable and in one line, blanks run together, at most `most` bytes.
std::string one_line(std::string_view text, std::size_t most = 60);
// The line of a longer text that says what went wrong, cut as one_line does: the first that has
// one of `words`, else the first.
std::string telling_line(std::string_view text, std::initializer_list<std::string_view> words,
                         std::size_t most = 60);
bool contains(std::string_view text, std::string_view part);
// What the child wrote last, in one line without control characters: the lines that have room in
// 200 characters, from one that names a missing library where there is one; else the
// last. Empty: it wrote nothing.
std::string last_words(const facts::ProbeReport& report);

// Entries of LD_LIBRARY_PATH that `fits` is true of.
template <typename Fits>
std::vector<std::string> entries_that(const ProbeContext& context, Fits&& fits) {
    std::vector<std::string> found;
    for (const std::string& entry : context.library_path) {
        if (fits(entry)) {
            found.push_back(entry);
        }
    }
    return found;
}
// The command that takes them out: "unset LD_LIBRARY_PATH", or an export of the rest.
std::string library_path_without(const ProbeContext& context,
                                 const std::vector<std::string>& entries);

// "cuInit: error 100", "cudnnCreate: CUDNN_STATUS_NOT_INITIALIZED (1001)". The names of CUDA's own
// errors are left to who has room for them, but for numbers that mean something else today.
std::string refusal(const facts::ProbeRung& rung);
// What dlopen said, without directories: "libcublasLt.so.13 is not found", "libcudnn.so.9 is cut
// short".
std::string loader_words(const facts::ProbeRung& rung);

// --- errors.cpp: CUDA's error numbers ------------------------------------------------------------

// Of the driver's calls and of the runtime's: those of runtimes before 10.1 are translated by their
// names.
std::optional<int> cuda_error(const facts::ProbeRung& rung);
// Every number has a finding; `k_unexplained` is the code of those without one of their own.
Finding explain_cuda_error(const Scene& scene, const facts::ProbeRung& rung, int error);
inline constexpr std::string_view k_unexplained = "CE359";
// A call of the driver's before there is a context; `error` as cuInit returned it.
Finding explain_driver_error(const Scene& scene, const facts::ProbeRung& rung, int error);

// --- libcuda.cpp: the driver's library
// ------------------------------------------------------------

// libcuda does not exist, or does not load.
Finding explain_missing_driver(const Scene& scene, const facts::ProbeRung& rung,
                               const std::string& seen = {});
// The probe found libcuda where programs do not search; none where they do.
std::optional<Finding> explain_unfound_driver(const facts::ProbeRung& rung);
// An answer that no driver gives.
Finding explain_implausible(const Scene& scene, std::string seen);
Finding explain_stub(const Scene& scene, const std::string& seen);
Finding explain_mismatch(const Scene& scene, const std::string& seen, int error);
// libcuda that works and is not of the module's version; none where that is intended (compat).
std::optional<Finding> explain_working_mismatch(const Scene& scene);

// What is wrong with a file that the loader refused, with its whole path; empty where its words do
// not say.
std::string fault_of_file(const facts::ProbeRung& rung);
// Arguments "entries" and "command" that remove a file's directory from LD_LIBRARY_PATH; empty
// where it is not in it.
Arguments out_of_library_path(const Scene& scene, const std::string& file);

// --- devices.cpp: which GPUs there are, and who uses them
// -----------------------------------------

Finding explain_no_device(const Scene& scene, const std::string& seen);
// A rung `memory` that made no context, so that no process is disturbed: skipped or failed, by one
// of these calls, which are not CUDA's.
inline constexpr std::string_view k_compute_mode = "compute mode"; // prohibited, or taken
inline constexpr std::string_view k_full = "memory";               // too full for a context
bool is_left_alone(const facts::ProbeRung& rung);
Finding explain_left_alone(const Scene& scene, const facts::ProbeRung& rung);
// 46 and 2: a GPU, or its memory, is not available.
Finding explain_unavailable(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_no_memory(const Scene& scene, const facts::ProbeRung& rung);

// --- closed.cpp: files that exist and may not be opened
// -------------------------------------------

// Such files look as if they did not exist. None where there is none.
std::optional<Finding> explain_closed_device(const Scene& scene, const std::string& seen);
std::optional<Finding> explain_closed_library(const Scene& scene, const facts::ProbeRung& rung);
// What seems absent may lie in a directory that is closed.
Finding with_closed_place(const Scene& scene, Finding absent);
// A library's failure, with the file in whose place another was loaded because it is closed.
Finding with_closed_file(const Scene& scene, const facts::ProbeRung& rung, Finding finding);
// The runtime answers, and a nearer one was passed over because it is closed.
std::optional<Finding> explain_closed_runtime(const Scene& scene, const facts::ProbeRung& rung);

// --- runtime.cpp: the runtime against the driver and the GPU
// --------------------------------------

Finding explain_old_driver(const Scene& scene, const facts::ProbeRung& rung,
                           std::string_view code = "CE322");
Finding explain_ceiling(const Scene& scene, std::string seen, std::string_view code = "CE325");
// The runtime answers, and sees another driver than the one that was tried.
std::optional<Finding> explain_other_driver(const Scene& scene, const facts::ProbeRung& rung);
// 209: what was loaded has no code for this GPU.
Finding explain_no_code(const Scene& scene, const facts::ProbeRung& rung, const std::string& seen);
// The probe's own code ran. The environment's is not for this GPU: its torch's, or that of the
// runtime's CUDA; or machine code was not tried. They belong to the kernel, not to the runtime:
// each GPU has its own answer.
std::optional<Finding> explain_code(const Scene& scene, const facts::ProbeRung& rung);

// --- libraries.cpp: a library of the environment
// --------------------------------------------------

Finding explain_loading(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_library_status(const Scene& scene, const facts::ProbeRung& rung);
// It works: parts of two installations, or another CUDA's cuDNN.
std::optional<Finding> explain_working_library(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_missing_library(const Scene& scene, const facts::ProbeRung& rung);
// Arguments "reinstall" and "reinstall_command": the package of that library.
Arguments reinstalled(const Scene& scene, const facts::ProbeRung& rung);

// --- build.cpp: a compiler's words or torch's
// -----------------------------------------------------

Finding explain_untried_build(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_build(const Scene& scene, const facts::ProbeRung& rung);
std::optional<Finding> explain_build_warning(const Scene& scene, const facts::ProbeRung& rung);

// --- ending.cpp
// -----------------------------------------------------------------------------------

// The rung that the child hung or died on.
Finding explain_ending(const Scene& scene, facts::ProbeStep step);
// Everything was climbed, and the child did not exit properly afterwards.
Finding explain_farewell(const Scene& scene, const std::string& line);

// judge_rung.cpp: one reported rung, right or a finding. `is_broken_below`: a rung that it rests on
// failed and has the finding.
Finding judge_rung(const Scene& scene, const facts::ProbeRung& rung, bool is_broken_below);
// Not tried, for that reason.
Finding skipped(std::string detail);

// What a rung that went well says in its line: "machine code for sm_90, result correct".
std::string detail_of(const Scene& scene, const facts::ProbeRung& rung);

} // namespace cudaenv::judge
