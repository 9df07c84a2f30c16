// What the judgement of a rung rests on, gathered once from the whole report and its context; and
// the small texts that several explanations share. Pure; only for solver/plan/probe.
#pragma once

#include "base/compute_capability.hpp"
#include "solver/plan/probe/judge.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan::probe {

// What one rung came to; a JudgedStep without the rung's own name, GPU and time.
struct Finding {
    std::string code;
    StepStatus status = StepStatus::Fails;
    std::string detail;
    std::string cause;
    std::optional<StepFix> fix;
    ProbeVerdict verdict = ProbeVerdict::Fails; // of a failure: what the whole comes to by it
    bool machine_is_right = false;              // JudgedStep's
    bool of_the_moment = false;                 // JudgedStep's
};

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
// 200 characters, from one that tells of a library that is missing where there is one; else the
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
// Begins the message of a library's file that is not whole: "cut short: PATH has 10 bytes of at
// least 20".
inline constexpr std::string_view k_cut_short = "cut short: ";
// What dlopen said, without directories: "libcublasLt.so.13 is not found".
std::string loader_words(std::string_view message, std::size_t most = 64);

Finding failure(const char* code, std::string detail, std::string cause, std::optional<StepFix> fix,
                ProbeVerdict verdict = ProbeVerdict::Fails);
Finding warning(const char* code, std::string detail, std::string cause, StepFix fix);
// The same finding; no file will show that it was put right.
Finding of_the_moment(Finding finding);

// --- explain_error.cpp --------------------------------------------------------------------------

// CUDA's error numbers, of the driver's calls and of the runtime's: those of runtimes before 10.1
// are translated by their names.
std::optional<int> cuda_error(const facts::ProbeRung& rung);
// Every number has one; `k_unexplained` is the code of those that have none of their own.
Finding explain_cuda_error(const Scene& scene, const facts::ProbeRung& rung, int error);
inline constexpr std::string_view k_unexplained = "CE359";

// --- explain_family.cpp -------------------------------------------------------------------------

Finding explain_by_family(const facts::ProbeRung& rung, int error);

// --- explain_busy.cpp ---------------------------------------------------------------------------

// A rung `memory` that made no context, so that nobody is disturbed: skipped or failed, by one of
// these calls, which are none of CUDA's.
inline constexpr std::string_view k_compute_mode = "compute mode"; // prohibited, or taken
inline constexpr std::string_view k_full = "memory";               // too full for a context
bool is_left_alone(const facts::ProbeRung& rung);
Finding explain_left_alone(const Scene& scene, const facts::ProbeRung& rung);
// 46 and 2: a GPU, or its memory, is not to be had.
Finding explain_unavailable(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_no_memory(const Scene& scene, const facts::ProbeRung& rung);

// --- explain_libcuda.cpp ------------------------------------------------------------------------

// libcuda is not there, or does not load.
Finding explain_missing_driver(const Scene& scene, const facts::ProbeRung& rung);
// The probe found libcuda where programs do not look; none where they do.
std::optional<Finding> explain_unfound_driver(const facts::ProbeRung& rung);

// --- explain_file.cpp ---------------------------------------------------------------------------

// What is wrong with a file that the loader refused, with its whole path; empty where its words do
// not tell that.
std::string fault_of_file(const facts::ProbeRung& rung);
// The command that takes a file's directory out of LD_LIBRARY_PATH; none where it is not in it.
// `wanted` ends the sentence.
std::optional<StepFix> fix_by_library_path(const Scene& scene, const std::string& file,
                                           const std::string& wanted);

// --- explain_other_libcuda.cpp ------------------------------------------------------------------

Finding explain_mismatch(const Scene& scene, std::string seen, int error);
Finding explain_stub(const Scene& scene, std::string seen);
// libcuda that works and is not of the module's version; none where that is meant (compat).
std::optional<Finding> explain_working_mismatch(const Scene& scene);

// --- explain_driver.cpp -------------------------------------------------------------------------

// A call of the driver's before there is a context; `error` as cuInit returned it.
Finding explain_driver_error(const Scene& scene, const facts::ProbeRung& rung, int error);
// An answer that no driver gives: `seen` tells it.
Finding explain_implausible(const Scene& scene, std::string seen);

// --- explain_no_device.cpp ----------------------------------------------------------------------

Finding explain_no_device(const Scene& scene, std::string seen);

// --- explain_closed.cpp -------------------------------------------------------------------------

// A file that is there and closed to this user, which looks as if it were not there: of the
// devices; of a library's rung. None where there is none.
std::optional<Finding> explain_closed_device(const Scene& scene, const std::string& seen);
std::optional<Finding> explain_closed_library(const Scene& scene, const facts::ProbeRung& rung);
// What seems absent may lie in a directory that is closed: the cause says so, and the fix opens it.
Finding with_closed_place(const Scene& scene, Finding absent);
// A library's failure, with the file in whose place another was taken because it is closed.
Finding with_closed_file(const Scene& scene, const facts::ProbeRung& rung, Finding finding);
// The runtime answers, and a nearer one was passed over because it is closed.
std::optional<Finding> explain_closed_runtime(const Scene& scene, const facts::ProbeRung& rung);

// --- explain_runtime.cpp ------------------------------------------------------------------------

// The newest toolkit release that the driver gives in full: 12.6 of 12.7, for which there is none.
// What is to be pinned or built for is this one, not the driver's own number.
std::optional<DottedVersion> newest_cuda_of(const Scene& scene);

// The runtime against the driver.
Finding explain_old_driver(const Scene& scene, std::string seen);
Finding explain_ceiling(const Scene& scene, std::string seen);
// The runtime answers, and sees another driver than the one that was tried.
std::optional<Finding> explain_other_driver(const Scene& scene, const facts::ProbeRung& rung);

// --- explain_code.cpp ---------------------------------------------------------------------------

// 209: what was loaded has nothing for this GPU.
Finding explain_no_code(const Scene& scene, const facts::ProbeRung& rung, std::string seen);
// Machine code was not tried, for a variable's sake.
std::optional<Finding> explain_forced_ptx(const facts::ProbeRung& rung);
// The probe brings its own code, and it ran. The environment's is not for this GPU: its torch's,
// which is certain to end with 209; or that of the runtime's CUDA, certain where the GPU is older,
// and a warning where PTX may serve a newer one. They stand at the kernel, not at the runtime: each
// GPU has its own answer, and the runtime itself does what it is asked.
std::optional<Finding> explain_unserved(const Scene& scene, const facts::ProbeRung& rung);
std::optional<Finding> explain_unserved_by_toolkit(const Scene& scene,
                                                   const facts::ProbeRung& rung);

// --- explain_library.cpp ------------------------------------------------------------------------

// A library of the environment's: the loader's refusal, then the library's own status.
Finding explain_loading(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_library_status(const Scene& scene, const facts::ProbeRung& rung);
std::optional<Finding> explain_foreign_cudnn(const Scene& scene, const facts::ProbeRung& rung);
Finding explain_missing_library(const Scene& scene, const facts::ProbeRung& rung);

// --- explain_build.cpp --------------------------------------------------------------------------

// A compiler's or torch's words.
Finding explain_untried_build(const facts::ProbeRung& rung);
Finding explain_build(const Scene& scene, const facts::ProbeRung& rung);
std::optional<Finding> explain_build_warning(const Scene& scene, const facts::ProbeRung& rung);

// --- explain_ending.cpp -------------------------------------------------------------------------

// The rung that the child hung or died on.
Finding explain_ending(const Scene& scene, facts::ProbeStep step);

} // namespace cudaenv::plan::probe
