#include "host/probe/probe_report.hpp"
#include "host/process.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <iterator>

namespace {

using namespace cudaenv;
using facts::ProbeResult;
using facts::ProbeStep;
using Ending = facts::ProbeReport::Ending;

host::ChildOutcome wrote(std::string output) {
    host::ChildOutcome outcome;
    outcome.started = true;
    outcome.exit_status = 0;
    outcome.output = std::move(output);
    return outcome;
}

facts::ProbeReport read(std::string output) {
    return probe::read_probe_report(wrote(std::move(output)));
}

// The report of a real child of this shell script.
facts::ProbeReport read_from_child(const std::string& script,
                                   std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    host::ChildProcessRunner processes;
    return probe::read_probe_report(processes.run({{"/bin/sh", "-c", script}, {}}, deadline));
}

// Of one that says this and never ends. It gets more time until it has begun: the machine may be
// busy.
facts::ProbeReport read_from_one_that_hangs(const std::string& says) {
    for (auto deadline = std::chrono::milliseconds(300);; deadline *= 4) {
        auto report = read_from_child(says + "exec sleep 600", deadline);
        if (!report.rungs.empty() || deadline > std::chrono::minutes(1)) {
            return report;
        }
    }
}

constexpr const char* k_begun = R"({"event": "begin", "step": "driver"})";
constexpr const char* k_finished = "\n{\"event\": \"finished\"}\n";

} // namespace

TEST_CASE("the lines of a whole ladder are read with all their members") {
    std::ifstream file(test::source_directory() / "tests/fuzz/corpus/probe_report/h200.jsonl");
    const auto report = read(std::string(std::istreambuf_iterator<char>(file), {}));
    CHECK(report.ending == Ending::Finished);
    REQUIRE(report.rungs.size() == 6);
    CHECK(report.rungs[0].path == "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04");
    CHECK(report.rungs[1].cuda->str() == "13.0");
    CHECK(report.rungs[1].devices == 1);
    CHECK(report.rungs[1].took_ms == 96.8);
    const auto& gpu = report.rungs[2];
    CHECK(gpu.gpu == 0);
    CHECK(gpu.name == "NVIDIA H200");
    CHECK(gpu.compute_capability == ComputeCapability{9, 0});
    CHECK(gpu.memory_total == 150000000000ULL);
    CHECK(gpu.compute_mode == 0);
    CHECK(!gpu.mig);
    CHECK(report.rungs[5].architecture == "sm_90");
    CHECK(report.rungs[5].checks.size() == 4);
}

TEST_CASE("what was loaded is read from the last line, absolute paths only") {
    std::ifstream file(test::source_directory() / "tests/fuzz/corpus/probe_report/h200.jsonl");
    const auto report = read(std::string(std::istreambuf_iterator<char>(file), {}));
    CHECK(report.loaded ==
          std::vector<std::string>{
              "/home/me/env/lib/python3.12/site-packages/nvidia/cu13/lib/libcudart.so.13",
              "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"});
    const auto odd = read(
        R"({"event": "finished", "loaded": ["/b", 7, null, "b.so", "", "/b", {"hex": "2fe9"}, )"
        R"({"hex": "2f0"}, {"hex": 7}, {"hex": "2f00"}, ["/c"], "/)" +
        std::string(5000, 'x') + "\", \"/a\"]}");
    CHECK(odd.loaded == std::vector<std::string>{"/a", "/b", "/\xe9"});
    CHECK(odd.ending == Ending::Finished);
    CHECK(read(R"({"event": "finished", "loaded": "/a"})").loaded.empty());
}

TEST_CASE("no more is read of what was loaded than a ladder loads") {
    std::string list;
    for (int i = 0; i < 100; ++i) {
        list += (i == 0 ? "\"/" : ", \"/") + std::to_string(i) + '"';
    }
    CHECK(read("{\"event\": \"finished\", \"loaded\": [" + list + "]}").loaded.size() == 64);
}

TEST_CASE("a path that is no UTF-8 is read whole") {
    const auto report = read(R"({"event": "end", "step": "runtime", "result": "ok", )"
                             R"("path": {"hex": "2f636166e92f6c6962"}})");
    CHECK(report.rungs.at(0).path == "/caf\xe9/lib");
}

TEST_CASE("an error is read with its call, number, name and message") {
    const auto report =
        read(R"({"event": "end", "step": "driver", "result": "failed", "call": "cuInit",
        "error": 803})");
    CHECK(report.rungs.empty()); // a line is a line
    const auto whole = read(
        R"({"event": "end", "step": "driver", "result": "failed", "call": "cuInit", "error": 803, )"
        R"("error_name": "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "message": "words"})");
    REQUIRE(whole.rungs.size() == 1);
    CHECK(whole.rungs[0].result == ProbeResult::Failed);
    CHECK(whole.rungs[0].call == "cuInit");
    CHECK(whole.rungs[0].error == 803);
    CHECK(whole.rungs[0].error_name == "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    CHECK(whole.rungs[0].message == "words");
}

TEST_CASE("where the driver's library was found is read") {
    const auto report = read(
        R"({"event": "end", "step": "library", "result": "ok", "path": "/usr/lib/wsl/lib/libcuda.so.1", )"
        R"("found_by": "wsl"})");
    REQUIRE(report.rungs.size() == 1);
    CHECK(report.rungs[0].found_by == "wsl");
}

TEST_CASE("what is no line of ours is left out") {
    const auto report =
        read(std::string("NVRM: something\n[1, 2]\n\"end\"\n{\"event\": 7}\n") +
             R"({"event": "end", "step": "cookies", "result": "ok"})" + "\n" +
             R"({"event": "end", "step": "driver", "result": "splendid"})" + "\n" +
             R"({"event": "end", "step": "gpu", "gpu": "first", "result": "ok"})" + "\n" +
             R"({"event": "end", "step": "gpu", "gpu": -1, "result": "ok"})" + "\n\xff\xfe\n" +
             std::string(3, '\0') + "\n" +
             R"({"event": "end", "step": "library", "result": "ok"})" + k_finished);
    REQUIRE(report.rungs.size() == 1);
    CHECK(report.rungs[0].step == ProbeStep::Library);
    CHECK(report.ending == Ending::Finished);
}

TEST_CASE("members of another type and values that are not plausible are left out") {
    const auto report =
        read(R"({"event": "end", "step": "gpu", "gpu": 0, "result": "ok", "ms": -4, "name": 12, )"
             R"("cc": "ninety", "memory_total": -1, "memory_free": 1e30, "compute_mode": 77, )"
             R"("mig": "yes", "devices": 99999999999, "checks": [1, "global", null], )"
             R"("version": "13.x", "cuda": 13, "error": 99999999999999})");
    REQUIRE(report.rungs.size() == 1);
    const auto& rung = report.rungs[0];
    CHECK(rung.took_ms == 0);
    CHECK(rung.name.empty());
    CHECK(!rung.compute_capability);
    CHECK(!rung.memory_total);
    CHECK(!rung.memory_free);
    CHECK(!rung.compute_mode);
    CHECK(!rung.mig);
    CHECK(!rung.devices);
    CHECK(rung.checks == std::vector<std::string>{"global"});
    CHECK(!rung.version);
    CHECK(!rung.cuda);
    CHECK(!rung.error);
}

TEST_CASE("more free memory than there is says nothing of what is free") {
    const auto report = read(R"({"event": "end", "step": "memory", "gpu": 0, "result": "ok", )"
                             R"("memory_total": 10, "memory_free": 11})");
    CHECK(report.rungs.at(0).memory_total == 10);
    CHECK(!report.rungs.at(0).memory_free);
}

TEST_CASE("a message is cut at 4 KiB, between two characters") {
    std::string words;
    for (int i = 0; i < 3000; ++i) {
        words += "\xc3\xa4";
    }
    const auto report = read(
        R"({"event": "end", "step": "build", "result": "failed", "message": "x)" + words + "\"}");
    const auto& message = report.rungs.at(0).message;
    CHECK(message.size() == 4095);
    CHECK(message.ends_with("\xc3\xa4"));
}

TEST_CASE("a step that was begun and not ended is unfinished, after those that ended") {
    const auto report = read(std::string(k_begun) + "\n" +
                             R"({"event": "end", "step": "library", "result": "ok"})" +
                             "\n{\"event\": \"end\", \"step\": \"dri");
    REQUIRE(report.rungs.size() == 2);
    CHECK(report.rungs[1].step == ProbeStep::Driver);
    CHECK(report.rungs[1].result == ProbeResult::Unfinished);
    CHECK(report.ending == Ending::Garbled);
}

TEST_CASE(
    "what an unfinished step was about to open is reported with it, and forgotten where it ended") {
    const std::string begins = R"({"event": "begin", "step": "cublas", "gpu": 0})";
    const std::string opens =
        "\n" +
        std::string(
            R"({"event": "opens", "step": "cublas", "gpu": 0, "path": "/a/libcublas.so.13"})") +
        "\n" +
        R"({"event": "opens", "step": "cublas", "gpu": 0, "path": "/b/libcublas.so.13", "message": "cut short"})" +
        "\n";
    const auto died = read(begins + opens);
    REQUIRE(died.rungs.size() == 1);
    CHECK(died.rungs[0].result == ProbeResult::Unfinished);
    CHECK(died.rungs[0].path == "/b/libcublas.so.13");
    CHECK(died.rungs[0].message == "cut short");
    const auto ended =
        read(begins + opens + R"({"event": "end", "step": "cublas", "gpu": 0, "result": "ok"})");
    REQUIRE(ended.rungs.size() == 1);
    CHECK(ended.rungs[0].path.empty());
    CHECK(ended.rungs[0].message.empty());
    CHECK(read(opens).rungs.empty()); // of a step that was never begun
}

TEST_CASE("a step ends once for each GPU") {
    const std::string one = R"({"event": "end", "step": "kernel", "gpu": 0, "result": "ok"})";
    const std::string other = R"({"event": "end", "step": "kernel", "gpu": 1, "result": "wrong"})";
    const auto report =
        read(one + "\n" + other + "\n" +
             R"({"event": "end", "step": "kernel", "gpu": 0, "result": "failed"})" + "\n" +
             R"({"event": "begin", "step": "kernel", "gpu": 0})" + k_finished);
    REQUIRE(report.rungs.size() == 2);
    CHECK(report.rungs[0].result == ProbeResult::Ok);
    CHECK(report.rungs[1].result == ProbeResult::Wrong);
}

TEST_CASE("an output without end is read within bounds") {
    std::string output;
    for (int i = 0; i < 4096; ++i) {
        output += R"({"event": "end", "step": "kernel", "gpu": )" + std::to_string(i) +
                  ", \"result\": \"ok\"}\n" + R"({"event": "end", "step": "memory", "gpu": )" +
                  std::to_string(i) + ", \"result\": \"ok\"}\n";
    }
    CHECK(read(output).rungs.size() == 4096);
    CHECK(read(std::string(1024 * 1024, '[')).ending == Ending::Garbled);
}

TEST_CASE("a child that ends by itself and says so is finished") {
    const auto report = read_from_child("echo '{\"event\": \"finished\"}'");
    CHECK(report.ending == Ending::Finished);
    CHECK(report.failure.empty());
}

TEST_CASE("a child that ends without its last line is garbled, with what it complained of") {
    const auto report = read_from_child("echo 'usage: nonsense' >&2; exit 2");
    CHECK(report.ending == Ending::Garbled);
    CHECK(report.failure == "exit status 2");
    CHECK(report.words == "usage: nonsense");
    CHECK(read_from_child("true").failure == "its last line is missing");
}

TEST_CASE("a child that a signal ended has crashed, with the step it was on") {
    const auto report =
        read_from_child(std::string("echo '") + k_begun + "'; kill -SEGV $$; sleep 600");
    CHECK(report.ending == Ending::Crashed);
    CHECK(report.signal == 11);
    REQUIRE(report.rungs.size() == 1);
    CHECK(report.rungs[0].result == ProbeResult::Unfinished);
}

TEST_CASE("what a library wrote before it aborted, hung or broke off is kept") {
    const std::string says =
        std::string("echo '") + k_begun +
        "'; echo 'Could not load library libcudnn_ops.so.9. Error: no such file' >&2; ";
    const std::string words = "Could not load library libcudnn_ops.so.9. Error: no such file";
    CHECK(read_from_child(says + "kill -ABRT $$; sleep 600").words == words);
    CHECK(read_from_one_that_hangs(says).words == words);
    CHECK(read_from_child(says + "exit 3").words == words);
}

TEST_CASE("the end of a child's last output is kept, without the secrets of URLs") {
    auto outcome = wrote("");
    outcome.error = "first line\n" + std::string(5000, 'x') +
                    "\nfrom https://me:pw4711@example.org/t/tk-4711/get?key=4711\nlast line\n";
    const auto report = probe::read_probe_report(outcome);
    CHECK(report.words == "from https://***@example.org/t/***/get?***\nlast line");
    outcome.error = std::string(5000, 'x');
    CHECK(probe::read_probe_report(outcome).words.size() == 4096);
}

TEST_CASE("a child that never ends has timed out, with the step it was on") {
    const auto report = read_from_one_that_hangs(std::string("echo '") + k_begun + "'; ");
    CHECK(report.ending == Ending::TimedOut);
    REQUIRE(report.rungs.size() == 1);
    CHECK(report.rungs[0].result == ProbeResult::Unfinished);
}

TEST_CASE("a child that finished and then broke is finished, and the rest is kept") {
    const auto report =
        read_from_child("echo '{\"event\": \"finished\"}'; kill -ABRT $$; sleep 600");
    CHECK(report.ending == Ending::Finished);
    CHECK(report.failure == "ended by signal 6");
    CHECK(report.signal == 6);
}

TEST_CASE("a program that is not there was not started") {
    host::ChildProcessRunner processes;
    const auto report = probe::read_probe_report(
        processes.run({{"/nonexistent/cudaenv-probe"}, {}}, std::chrono::seconds(5)));
    CHECK(report.ending == Ending::NotStarted);
    CHECK(report.failure.find("cannot start") != std::string::npos);
    CHECK(report.rungs.empty());
}
