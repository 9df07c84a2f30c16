// The machine that runs the tests, whatever it is.
#include "host/driver.hpp"
#include "host/examine.hpp"
#include "host/toolkit_text.hpp"
#include "solver/facts/host_json.hpp"
#include "solver/knowledge/knowledge.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <set>
#include <unistd.h>

namespace cudaenv::host {
namespace {

// This machine's ports; children are counted.
class CountedProcesses final : public ProcessRunner {
public:
    std::vector<ChildOutcome> run_all(std::span<const ChildCommand> commands,
                                      std::chrono::milliseconds deadline) override {
        started += commands.size();
        return m_real.run_all(commands, deadline);
    }
    std::size_t started = 0;

private:
    ChildProcessRunner m_real;
};

ExamineOptions options_here(const std::string& cache) {
    ExamineOptions options;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals != std::string_view::npos) {
            options.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    options.home = value_of(options.environment, "HOME");
    options.probe_path = CUDAENV_PROBE;
    options.cache_directory = cache;
    return options;
}

TEST_CASE(
    "this machine is reported with a source or a reason for everything, and can be read back") {
    test::TemporaryTree tree;
    const auto host = examine(options_here(tree.path() + "/cache"));
    CHECK(host.hostname.empty() == false);
    CHECK(host.machine.empty() == false);
    CHECK((host.driver.has_value() || !host.driver_absent.empty()));
    CHECK((!host.gpus.empty() || !host.gpus_absent.empty()));
    CHECK((host.glibc.has_value() || host.absent.contains("glibc")));
    CHECK((!host.toolkits.empty() || host.absent.contains("toolkits")));
    CHECK((!host.conda.empty() || host.absent.contains("conda")));
    REQUIRE_FALSE(host.compilers.empty()); // something built this test
    for (const auto& compiler : host.compilers) {
        CHECK(::access(compiler.path.c_str(), X_OK) == 0);
        CHECK_FALSE(compiler.source.empty());
    }
    std::set<std::string> paths;
    for (const auto& toolkit : host.toolkits) {
        INFO(toolkit.path);
        CHECK(paths.insert(toolkit.path).second); // each once
        CHECK_FALSE(toolkit.source.empty());
        if (!toolkit.problem.empty()) {
            continue;
        }
        const auto present = [&](bool value, const char* name) {
            INFO(name);
            CHECK((value ? toolkit.sources : toolkit.absent).contains(name));
        };
        present(toolkit.version.has_value(), "version");
        present(toolkit.gcc_max.has_value(), "gcc_max");
        present(toolkit.cudnn.has_value(), "cudnn");
        present(toolkit.cudnn_library.has_value(), "cudnn_library");
        present(toolkit.nccl.has_value(), "nccl");
    }
    const auto written = to_json(host);
    const auto read = facts::parse_host(written.dump(2), "here");
    REQUIRE(read);
    CHECK(to_json(*read) == written);
}

TEST_CASE("a warm look starts no child where there is no driver") {
    test::TemporaryTree tree;
    const auto options = options_here(tree.path() + "/cache");
    DiskFileSystem files;
    if (has_gpu_device(files) || files.exists("/sys/module/nvidia")) {
        SKIP("this machine has a driver, which is asked each time; run where there is none");
    }
    CountedProcesses cold;
    const auto first = examine(options, files, cold, system_identity(), 1000);
    CHECK(cold.started <= first.compilers.size() + first.toolkits.size() + first.conda.size());
    CountedProcesses warm;
    const auto second = examine(options, files, warm, system_identity(), 1000);
    CHECK(warm.started == 0);
    CHECK(to_json(first) == to_json(second));
}

TEST_CASE("the table of compilers agrees with every host_config.h here") {
    test::TemporaryTree tree;
    const auto host = examine(options_here(""));
    bool compared = false;
    for (const auto& toolkit : host.toolkits) {
        const auto source = toolkit.sources.find("gcc_max");
        if (!toolkit.version || source == toolkit.sources.end() ||
            source->second.starts_with("table")) {
            continue;
        }
        const auto row =
            knowledge::compilers_of_toolkit(DottedVersion::of(toolkit.version->major_minor()));
        if (row && row->gcc_max) {
            INFO(toolkit.path << " by " << source->second << ", table by " << row->source);
            CHECK(toolkit.gcc_max == row->gcc_max);
            compared = true;
        }
    }
    if (!compared) {
        SKIP("no toolkit with a crt/host_config.h here; install one, as /usr/local/cuda");
    }
}

} // namespace
} // namespace cudaenv::host
