// Which of a probe's rungs are the machine's, and for how long they are reported.
#include "daemon/measured.hpp"
#include "daemon/probe/kept_verdict.hpp"
#include "tests/support/temporary_tree.hpp"
#include "tests/unit/daemon/probe_runs.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>

using namespace cudaenv;
using namespace cudaenv::daemon;
using judge::JudgedStep;
using judge::ProbeVerdict;
using judge::StepStatus;
using test::step;

namespace {

ProbeRun run(ProbeVerdict verdict, std::vector<JudgedStep> steps) {
    ProbeRun made = test::run_of(verdict, std::move(steps));
    made.ladder.driver_cuda = DottedVersion::of("12.4");
    facts::ProbeRung gpu;
    gpu.step = facts::ProbeStep::Gpu;
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-1";
    gpu.compute_capability = ComputeCapability{9, 0};
    made.report.rungs.push_back(gpu);
    return made;
}

protocol::Caller caller_in(const std::string& home, const std::string& library_path = {}) {
    protocol::Caller caller;
    caller.environment = {{"HOME", home}, {"LD_LIBRARY_PATH", library_path}};
    return caller;
}

const protocol::Caller k_nobody;

} // namespace

TEST_CASE("what a good probe saw of the driver and the GPUs is measured") {
    const auto measured = measured_of(
        run(ProbeVerdict::Ok, {step("driver", StepStatus::Ok), step("kernel", StepStatus::Ok)}),
        k_nobody);
    CHECK(measured.verdict == "ok");
    CHECK(measured.driver_cuda->str() == "12.4");
    REQUIRE(measured.gpus.size() == 1);
    CHECK(measured.gpus[0].uuid == "GPU-1");
    CHECK(measured.failed.empty());
    CHECK(measured.at.ends_with("Z"));
}

TEST_CASE("a driver that did not start has reported no CUDA, and its rung failed") {
    const auto measured = measured_of(
        run(ProbeVerdict::DriverBroken, {step("driver", StepStatus::Fails, "CE312")}), k_nobody);
    CHECK_FALSE(measured.driver_cuda);
    REQUIRE(measured.failed.size() == 1);
    CHECK(measured.failed[0].step == "driver");
    CHECK(measured.failed[0].code == "CE312");
}

TEST_CASE("an environment's failure is not the machine's, and a busy GPU is not a failure") {
    CHECK(measured_of(run(ProbeVerdict::Fails, {step("driver", StepStatus::Ok),
                                                step("runtime", StepStatus::Fails, "CE321"),
                                                step("cudnn", StepStatus::Fails, "CE350")}),
                      k_nobody)
              .failed.empty());
    CHECK(measured_of(run(ProbeVerdict::Busy, {test::busy("memory", "CE316")}), k_nobody)
              .failed.empty());
    CHECK(measured_of(run(ProbeVerdict::Warns,
                          {test::busy("memory", "CE317"), step("kernel", StepStatus::Ok)}),
                      k_nobody)
              .failed.empty());
}

TEST_CASE(
    "no driver is a failure where its module is loaded, no GPU where one is there and shown") {
    auto none = run(ProbeVerdict::NoDriver, {step("library", StepStatus::Fails, "CE301")});
    CHECK(measured_of(none, k_nobody).failed.empty());
    none.host.driver = facts::Driver{};
    CHECK(measured_of(none, k_nobody).failed.size() == 1);

    auto hidden = run(ProbeVerdict::NoGpu, {step("driver", StepStatus::Fails, "CE311")});
    CHECK(measured_of(hidden, k_nobody).failed.empty());
    hidden.host.gpus.resize(1);
    CHECK(measured_of(hidden, k_nobody).failed.size() == 1);
    protocol::Caller hides;
    hides.environment = {{"CUDA_VISIBLE_DEVICES", ""}};
    CHECK(measured_of(hidden, hides).failed.empty());
}

TEST_CASE("what was measured is kept for shells that see the same machine") {
    const test::TemporaryTree tree;
    const auto caller = caller_in(tree.path());
    const auto good = run(ProbeVerdict::Ok, {step("driver", StepStatus::Ok)});
    CHECK_FALSE(kept_measured(caller));
    keep_measured(measured_of(good, caller), good, {}, caller);
    REQUIRE(kept_measured(caller));
    CHECK(kept_measured(caller)->driver_cuda->str() == "12.4");
    CHECK(kept_measured(caller)->gpus[0].compute_capability == ComputeCapability{9, 0});
    CHECK_FALSE(kept_measured(caller_in(tree.path(), "/opt/compat")));

    // Another shell's does not take its place.
    const auto other = caller_in(tree.path(), "/opt/compat");
    keep_measured(measured_of(good, other), good, {}, other);
    CHECK(kept_measured(caller));
}

TEST_CASE("a kernel that failed is reported until the runtime under it changes") {
    const test::TemporaryTree tree;
    tree.file("libcudart.so.13", "old");
    const auto caller = caller_in(tree.path());
    auto broken = run(ProbeVerdict::Fails,
                      {step("driver", StepStatus::Ok), step("kernel", StepStatus::Fails, "CE330")});
    facts::ProbeRung runtime;
    runtime.step = facts::ProbeStep::Runtime;
    runtime.path = tree.path() + "/libcudart.so.13";
    broken.report.rungs.push_back(runtime);
    keep_measured(measured_of(broken, caller), broken, {}, caller);
    REQUIRE(kept_measured(caller));
    CHECK(kept_measured(caller)->failed.size() == 1);
    tree.file("libcudart.so.13", "another");
    CHECK_FALSE(kept_measured(caller));

    // One that appears is taken in its place.
    tree.file("libcudart.so.13", "old");
    broken.libraries.looked_at = {tree.path()};
    host::DiskFileSystem files;
    broken.grounds = grounds_before(files, broken.libraries, false, "", {});
    keep_measured(measured_of(broken, caller), broken, {}, caller);
    CHECK(kept_measured(caller));
    tree.file("libpng.so.16", "");
    CHECK(kept_measured(caller));
    tree.file("libcudart.so.12", "");
    CHECK_FALSE(kept_measured(caller));
}

TEST_CASE("a failed rung that concerns only the environment is not the machine's") {
    JudgedStep kernel = step("kernel", StepStatus::Fails, "CE330");
    CHECK(measured_of(run(ProbeVerdict::Fails, {kernel}), k_nobody).failed.size() == 1);
    kernel.machine_is_right = true;
    CHECK(measured_of(run(ProbeVerdict::Fails, {kernel}), k_nobody).failed.empty());
}

TEST_CASE("a rung that failed is reported until a probe that reaches it goes well") {
    const test::TemporaryTree tree;
    const auto caller = caller_in(tree.path());
    const ProbeWishes full{.full = true};
    const auto keep = [&](const ProbeRun& probe, const ProbeWishes& wishes) {
        keep_measured(measured_of(probe, caller), probe, wishes, caller);
    };
    const auto failed = [&] {
        const auto kept = kept_measured(caller);
        return kept && !kept->failed.empty() ? kept->failed[0].step : "none";
    };
    const auto good = run(ProbeVerdict::Ok, {step("kernel", StepStatus::Ok)});
    keep(run(ProbeVerdict::Fails,
             {step("kernel", StepStatus::Ok), step("ptx", StepStatus::Fails, "CE341")}),
         full);
    keep(good, {});
    CHECK(failed() == "ptx");
    auto spared = good;
    spared.ladder.not_looked_at = {"ptx"};
    keep(spared, full);
    CHECK(failed() == "ptx");
    keep(good, full);
    CHECK(failed() == "none");

    keep(run(ProbeVerdict::Fails, {step("kernel", StepStatus::Fails, "CE330")}), {});
    // Another environment's runtime is in the way, or the GPU is in use.
    keep(run(ProbeVerdict::Fails, {step("runtime", StepStatus::Fails, "CE322")}), {});
    CHECK(failed() == "kernel");
    keep(run(ProbeVerdict::Busy, {test::busy("memory", "CE316")}), {});
    CHECK(failed() == "kernel");
    // An environment's library fails, and the kernel ran.
    keep(run(ProbeVerdict::Fails,
             {step("kernel", StepStatus::Ok), step("cudnn", StepStatus::Fails, "CE350")}),
         full);
    CHECK(failed() == "none");
}

TEST_CASE("what failed at a quick rung in a full probe a good quick one takes back") {
    const test::TemporaryTree tree;
    const auto caller = caller_in(tree.path());
    const auto keep = [&](const ProbeRun& probe, bool full) {
        keep_measured(measured_of(probe, caller), probe, {.full = full}, caller);
        const auto kept = kept_measured(caller);
        return kept && !kept->failed.empty() ? kept->failed[0].step : "none";
    };
    auto broken = run(ProbeVerdict::Fails, {step("kernel", StepStatus::Fails, "CE334")});
    broken.ladder.not_looked_at = {"ptx", "cublas"};
    const auto good = run(ProbeVerdict::Ok, {step("kernel", StepStatus::Ok)});
    CHECK(keep(broken, true) == "kernel");
    CHECK(keep(good, false) == "none");
    // Nor does a full one that went well before stand in the way.
    CHECK(keep(good, true) == "none");
    CHECK(keep(broken, false) == "kernel");
    CHECK(keep(good, false) == "none");
    // Of two GPUs each may fail at its own rung: it was the full probe that saw that.
    auto both = broken;
    both.ladder.steps.push_back(step("ptx", StepStatus::Fails, "CE330"));
    CHECK(keep(both, true) == "kernel");
    CHECK(keep(good, false) == "kernel");
    CHECK(keep(good, true) == "none");
}

TEST_CASE("a variable that changes the driver's answers is another machine to measure") {
    const test::TemporaryTree tree;
    auto caller = caller_in(tree.path());
    const auto good = run(ProbeVerdict::Ok, {step("kernel", StepStatus::Ok)});
    keep_measured(measured_of(good, caller), good, {}, caller);
    CHECK(kept_measured(caller));
    caller.environment["CUDA_FORCE_PTX_JIT"] = "1";
    CHECK_FALSE(kept_measured(caller));
}

TEST_CASE("where $ORIGIN leads each environment elsewhere each is measured by itself") {
    const test::TemporaryTree tree;
    auto caller = caller_in(tree.path(), "$ORIGIN/../lib");
    caller.environment["VIRTUAL_ENV"] = tree.path() + "/one";
    const auto good = run(ProbeVerdict::Ok, {step("kernel", StepStatus::Ok)});
    keep_measured(measured_of(good, caller), good, {}, caller);
    CHECK(kept_measured(caller));
    auto other = caller;
    other.environment["VIRTUAL_ENV"] = tree.path() + "/other";
    CHECK_FALSE(kept_measured(other));
    // Without it one environment's answer is every one's.
    caller.environment["LD_LIBRARY_PATH"] = other.environment["LD_LIBRARY_PATH"] = "/opt/lib";
    keep_measured(measured_of(good, caller), good, {}, caller);
    CHECK(kept_measured(other));
}

TEST_CASE("of what a shell's variables say only directories are in the file, as its own paths") {
    const test::TemporaryTree tree;
    auto caller = caller_in(tree.path(), "/opt/hunter2/lib");
    caller.environment["CUDA_VISIBLE_DEVICES"] = "hunter3";
    auto broken = run(ProbeVerdict::Fails, {step("kernel", StepStatus::Fails, "CE334")});
    broken.libraries.looked_at = {"/opt/hunter2/lib"};
    host::DiskFileSystem files;
    broken.grounds = grounds_before(files, broken.libraries, false, "", {});
    keep_measured(measured_of(broken, caller), broken, {}, caller);
    CHECK(kept_measured(caller));
    std::ifstream file(tree.path() + "/.cache/cudaenv/probes.json");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text.find("machine") != std::string::npos);
    CHECK(text.find("\"/opt/hunter2/lib\":\"absent\"") != std::string::npos);
    CHECK(text.find("hunter3") == std::string::npos);
    CHECK(text.find("LD_LIBRARY_PATH") == std::string::npos);
}
