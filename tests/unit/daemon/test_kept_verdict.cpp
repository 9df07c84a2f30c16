// For which shell and how long a saved verdict is reported, and in which words.
#include "daemon/probe/kept_verdict.hpp"
#include "tests/support/temporary_tree.hpp"
#include "tests/unit/daemon/probe_runs.hpp"

#include <catch2/catch_test_macros.hpp>

#include <chrono>
#include <filesystem>
#include <memory>

using namespace cudaenv;
using namespace cudaenv::daemon;
using judge::ProbeVerdict;
using judge::StepStatus;
using test::run_of;
using test::step;

namespace {

// A ladder that is all right, with what nvcc at `nvcc` built.
ProbeRun built(const std::string& nvcc, StepStatus status, const char* code = "") {
    ProbeRun made = run_of(ProbeVerdict::Ok, {step("kernel", StepStatus::Ok)});
    facts::ProbeRung rung;
    rung.step = facts::ProbeStep::Build;
    rung.path = nvcc;
    made.report.rungs.push_back(rung);
    made.outcome.steps.push_back(step("build", status, code));
    return made;
}

const ProbeWishes k_quick;
const ProbeWishes k_full{.full = true};
const ProbeWishes k_build{.build = true};

ProbeRun good() {
    return run_of(ProbeVerdict::Ok, {step("kernel", StepStatus::Ok)});
}
ProbeRun bad() {
    return run_of(ProbeVerdict::Fails,
                  {step("kernel", StepStatus::Ok), step("cublas", StepStatus::Fails, "CE350")});
}

class Shell {
public:
    Shell() {
        m_project.prefix = m_tree->path() + "/env";
        caller.environment = {{"HOME", m_tree->path()}, {"PATH", "/usr/bin"}};
    }
    // Another one on the same machine.
    [[nodiscard]] Shell with(protocol::Caller other) const {
        Shell made = *this;
        made.caller = std::move(other);
        return made;
    }
    void keep(const ProbeRun& probe, const ProbeWishes& wishes) const {
        keep_verdict(probe, wishes, {m_project, caller.environment, caller});
    }
    [[nodiscard]] std::string report() const {
        const auto kept = kept_verdict({m_project, caller.environment, caller});
        return kept ? in_short(*kept) + ": " + command_for(*kept) : "nothing";
    }
    // At the prompt of a shell that is about to have this.
    [[nodiscard]] bool is_told_with(const std::string& library_path) const {
        Activation activation;
        activation.project = m_project;
        activation.situation.base = caller.environment;
        activation.applied.environment = caller.environment;
        activation.applied.environment["LD_LIBRARY_PATH"] = library_path;
        Looks looks(caller);
        return bad_verdict(activation, caller, looks).has_value();
    }
    [[nodiscard]] std::string status() const {
        return kept_to_json(kept_verdict({m_project, caller.environment, caller}))["text"]
            .get<std::string>();
    }
    void pin(const char* cuda) {
        m_project.pins.pins = {{{"cuda", cuda, ""}, pins::PinSource::Project}};
    }
    [[nodiscard]] std::string file(const char* name, const char* content) const {
        return m_tree->file(name, content);
    }

    protocol::Caller caller;

private:
    std::shared_ptr<test::TemporaryTree> m_tree = std::make_shared<test::TemporaryTree>();
    project::LoadedProject m_project;
};

} // namespace

TEST_CASE("a quick probe that goes well leaves what a full one found, and the command finds it") {
    Shell shell;
    shell.keep(bad(), k_full);
    shell.keep(good(), k_quick);
    CHECK(shell.report() == "fails at cublas (CE350): cudaenv probe --full");
    CHECK(shell.status() ==
          "fails at cublas (CE350), --full, just now: a summary; cudaenv probe --full");
    shell.keep(good(), k_full);
    CHECK(shell.status() == "ok, --full, just now");
    shell.keep(run_of(ProbeVerdict::Fails, {step("kernel", StepStatus::Fails, "CE330")}), k_quick);
    CHECK(shell.report() == "fails at kernel (CE330): cudaenv probe");
}

TEST_CASE("a variable that changes the driver's answers lets go of a verdict, another does not") {
    for (const char* name :
         {"CUDA_DEVICE_ORDER", "CUDA_DISABLE_PTX_JIT", "CUDA_FORCE_PTX_JIT",
          "CUDA_MPS_PIPE_DIRECTORY", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "NCCL_P2P_DISABLE",
          "NCCL_SOCKET_IFNAME", "CUDA_MODULE_LOADING", "NVIDIA_TF32_OVERRIDE", "LD_PRELOAD",
          "GLIBC_TUNABLES", "CUBLAS_WORKSPACE_CONFIG"}) {
        INFO(name);
        Shell shell;
        shell.keep(bad(), k_full);
        shell.caller.environment[name] = ""; // set and empty is not unset
        CHECK(shell.report() == "nothing");
        shell.caller.environment[name] = "1";
        CHECK(shell.report() == "nothing");
        shell.caller.environment.erase(name);
        CHECK(shell.report() != "nothing");
    }
    Shell shell;
    shell.keep(bad(), k_full);
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDNN_PATH", "NVCC_APPEND_FLAGS", "PATH",
                             "NVIDIA_VISIBLE_DEVICES", "CUDA_CACHE_PATH", "NCCL_DEBUG"}) {
        INFO(name);
        shell.caller.environment[name] = "/opt/x";
        CHECK(shell.report() != "nothing");
    }
}

TEST_CASE(
    "a failed build is reported until it builds, or nvcc, a pin or what chooses them changes") {
    Shell shell;
    const std::string nvcc = shell.file("bin/nvcc", "12.4");
    shell.pin("12.4");
    shell.keep(built(nvcc, StepStatus::Fails, "CE360"), k_build);
    const std::string fails = "fails at build (CE360): cudaenv probe --build";
    CHECK(shell.report() == fails);
    shell.keep(good(), k_full);
    CHECK(shell.report() == fails);

    shell.pin("12.6");
    CHECK(shell.report() == "ok: cudaenv probe --full");
    shell.pin("12.4");
    CHECK(shell.report() == fails);
    for (const char* name : {"CXX", "CUDAHOSTCXX", "NVCC_APPEND_FLAGS", "CUDA_HOME", "CPATH"}) {
        INFO(name);
        shell.caller.environment[name] = "/opt/x";
        CHECK(shell.report() != fails);
        shell.caller.environment.erase(name);
        CHECK(shell.report() == fails);
    }
    static_cast<void>(shell.file("bin/nvcc", "12.4.1"));
    CHECK(shell.report() != fails);
    static_cast<void>(shell.file("bin/nvcc", "12.4"));

    shell.keep(built(nvcc, StepStatus::Fails, "CE360"), k_build);
    CHECK(shell.report() == fails);
    shell.keep(built(nvcc, StepStatus::Skipped), k_build); // it compiles, and no GPU runs it
    CHECK(shell.report() == "ok: cudaenv probe");
}

TEST_CASE("where there was no nvcc to try, nothing is said of building") {
    Shell shell;
    ProbeRun none = built("", StepStatus::Skipped, "CE362");
    shell.keep(none, k_build);
    CHECK(shell.status() == "ok, just now");
}

TEST_CASE("a verdict is reported to shells with the LD_LIBRARY_PATH that the probe ran with") {
    Shell shell;
    shell.caller.cwd = "/home/u/code";
    shell.caller.environment["LD_LIBRARY_PATH"] = "/opt/cuda/lib64:lib";
    shell.keep(bad(), k_full);
    CHECK(shell.report() != "nothing");
    // A shell at its first prompt does not have it yet.
    shell.caller.environment.erase("LD_LIBRARY_PATH");
    CHECK(shell.report() == "nothing");
    CHECK(shell.is_told_with("/opt/cuda/lib64:lib"));
    CHECK_FALSE(shell.is_told_with("/opt/cuda-12.4/lib64:lib"));
    // What is relative is another directory elsewhere.
    shell.caller.cwd = "/home/u";
    CHECK_FALSE(shell.is_told_with("/opt/cuda/lib64:lib"));
    shell.caller.cwd = "/home/u/code";
    shell.caller.environment["LD_LIBRARY_PATH"] = "/opt/cuda/lib64:lib";
    shell.keep(good(), k_full); // of which no prompt speaks
    CHECK(shell.report() == "ok: cudaenv probe --full");
    CHECK_FALSE(shell.is_told_with("/opt/cuda/lib64:lib"));
}

TEST_CASE("of all GPUs it is the verdict of a shell that sees all of them") {
    Shell shell;
    shell.caller.environment["CUDA_VISIBLE_DEVICES"] = "0";
    Shell all = shell.with(asking_for(shell.caller, {.all_gpus = true}));
    all.keep(bad(), k_full);
    CHECK(shell.report() == "nothing");
    shell.caller.environment.erase("CUDA_VISIBLE_DEVICES");
    CHECK(shell.report() == "fails at cublas (CE350): cudaenv probe --full");
    CHECK(asking_for(shell.caller, {.all_gpus = true}).environment == shell.caller.environment);
    shell.caller.environment["CUDAENV_DISABLE"] = "1";
    CHECK_FALSE(asking_for(shell.caller, {}).variable("CUDAENV_DISABLE"));
}

TEST_CASE("a warning is reported with its rung and reason, and what shows more") {
    Shell shell;
    ProbeRun warns = run_of(ProbeVerdict::Warns, {step("kernel", StepStatus::Ok),
                                                  step("ptx-runtime", StepStatus::Warns, "CE325"),
                                                  step("cudnn", StepStatus::Warns, "CE355")});
    shell.keep(warns, k_full);
    CHECK(shell.status() == "warns at ptx-runtime (CE325), --full, just now: refused; cudaenv "
                            "probe --full shows more");
    // A GPU that is in use is no reason where there is another.
    Shell other;
    other.keep(run_of(ProbeVerdict::Fails,
                      {test::busy("memory", "CE316"), step("cublas", StepStatus::Fails, "CE350")}),
               k_full);
    CHECK(other.report() == "fails at cublas (CE350): cudaenv probe --full");
}

TEST_CASE("a full probe that spared a GPU's rungs takes no more back than a quick one") {
    const auto spared = [](ProbeRun run, std::vector<std::string> left_out) {
        run.ladder.not_looked_at = std::move(left_out);
        return run;
    };
    const ProbeRun broken =
        run_of(ProbeVerdict::Fails, {step("kernel", StepStatus::Fails, "CE330")});
    Shell shell;
    shell.keep(bad(), k_full);
    shell.keep(broken, k_quick);
    shell.keep(spared(good(), {"cublas", "cudnn", "nccl"}), k_full);
    CHECK(shell.report() == "fails at cublas (CE350): cudaenv probe --full");
    shell.keep(spared(broken, {"ptx", "cublas"}), k_full);
    CHECK(shell.report() == "fails at kernel (CE330): cudaenv probe");
    shell.keep(good(), k_quick);
    CHECK(shell.report() == "fails at cublas (CE350): cudaenv probe --full");
    shell.keep(good(), k_full);
    CHECK(shell.report() == "ok: cudaenv probe --full");

    Shell new_one;
    new_one.keep(spared(good(), {"cublas"}), k_full);
    CHECK(new_one.report() == "ok: cudaenv probe");
    // What was looked at and is wrong is what the full one found.
    const ProbeRun warns = run_of(ProbeVerdict::Warns, {step("kernel", StepStatus::Ok),
                                                        step("cudnn", StepStatus::Warns, "CE355")});
    new_one.keep(spared(warns, {"nccl"}), k_full);
    CHECK(new_one.report() == "warns at cudnn (CE355): cudaenv probe --full");
    new_one.keep(spared(bad(), {"nccl"}), k_full);
    CHECK(new_one.report() == "fails at cublas (CE350): cudaenv probe --full");
}

TEST_CASE("that nothing could be written for building is of the moment, and is not kept") {
    Shell shell;
    const std::string nvcc = shell.file("bin/nvcc", "12.4");
    shell.keep(good(), k_quick);
    const ProbeRun unwritten = built(nvcc, StepStatus::Fails, "CE364");
    shell.keep(unwritten, k_build);
    CHECK(shell.report() == "ok: cudaenv probe");

    // Nor does it take back what building has shown, and what else failed is kept.
    shell.keep(built(nvcc, StepStatus::Fails, "CE360"), k_build);
    shell.keep(unwritten, k_build);
    CHECK(shell.report() == "fails at build (CE360): cudaenv probe --build");
    ProbeRun half = built(nvcc, StepStatus::Ok);
    half.outcome.steps.push_back(step("torch-extension", StepStatus::Fails, "CE364"));
    shell.keep(half, k_build);
    CHECK(shell.report() == "ok: cudaenv probe");
}

TEST_CASE("a verdict rests on what the libraries themselves had loaded") {
    const test::TemporaryTree tree;
    const std::string inner = tree.file("lib/libcublasLt.so.13", "13.0");
    protocol::Caller caller;
    caller.environment = {{"HOME", tree.path()}};
    const project::LoadedProject project;
    const Asker asker{project, caller.environment, caller};
    host::DiskFileSystem files;
    ProbeRun run = good();
    run.report.loaded = {inner};
    run.grounds = grounds_before(files, run.libraries, true, "", {});
    CHECK(keep_verdict(run, k_full, asker));
    CHECK(kept_verdict(asker));
    static_cast<void>(tree.file("lib/libcublasLt.so.13", "13.0.1"));
    CHECK_FALSE(kept_verdict(asker));
    // It was replaced while the probe ran, by one with the old time.
    std::filesystem::last_write_time(inner, std::filesystem::file_time_type::clock::now() -
                                                std::chrono::hours(1000));
    CHECK_FALSE(keep_verdict(run, k_full, asker));
    run.report.loaded = {tree.path() + "/lib/gone.so"};
    CHECK_FALSE(keep_verdict(run, k_full, asker));
}

TEST_CASE("of what changed under a probe nothing is saved, and the caller learns that") {
    const test::TemporaryTree tree;
    const std::string runtime = tree.file("lib/libcudart.so.13", "13.0");
    protocol::Caller caller;
    caller.environment = {{"HOME", tree.path()}};
    project::LoadedProject project;
    ProbeRun run = good();
    run.libraries.files[facts::ProbeStep::Runtime] = {runtime};
    host::DiskFileSystem files;
    run.grounds = grounds_before(files, run.libraries, false, "", {});
    const Asker asker{project, caller.environment, caller};
    CHECK(keep_verdict(run, k_quick, asker));
    CHECK(kept_verdict(asker));
    static_cast<void>(tree.file("lib/libcudart.so.13", "13.0.1"));
    CHECK_FALSE(keep_verdict(run, k_quick, asker));
    CHECK_FALSE(kept_verdict(asker));
}
