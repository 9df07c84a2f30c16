#include "host/examine.hpp"
#include "solver/facts/host_json.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/fake_processes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

namespace cudaenv::host {
namespace {

using test::FakeDisk;
using test::FakeProcesses;

SystemIdentity lab() {
    return {"lab-07", "x86_64", "6.1.0-18-amd64", "2.36"};
}

TEST_CASE("an empty machine gives a host where every absence has its reason") {
    FakeDisk disk;
    FakeProcesses processes;
    const auto host = examine({}, disk, processes, lab(), 1763719200);
    CHECK(host.captured == "2025-11-21T10:00:00Z");
    CHECK(host.hostname == "lab-07");
    CHECK(host.kernel == "6.1.0");
    CHECK(host.glibc->str() == "2.36");
    CHECK_FALSE(host.driver_absent.empty());
    CHECK_FALSE(host.gpus_absent.empty());
    for (const auto* what : {"toolkits", "compilers", "conda", "distribution"}) {
        INFO(what);
        CHECK(host.absent.contains(what));
    }
    CHECK(processes.started.empty());
    const auto written = facts::to_json(host);
    const auto read = facts::parse_host(written.dump(), "f");
    REQUIRE(read);
    CHECK(facts::to_json(*read) == written);
}

TEST_CASE("a musl machine has no glibc, and says why") {
    FakeDisk disk;
    FakeProcesses processes;
    auto identity = lab();
    identity.glibc.clear();
    const auto host = examine({}, disk, processes, identity, 0);
    CHECK_FALSE(host.glibc);
    CHECK(host.absent.contains("glibc"));
}

TEST_CASE("the cache's place follows the variables, and none without a home") {
    CHECK(default_cache_directory({{"CUDAENV_CACHE_DIR", "/c"}}, "/home/u") == "/c");
    CHECK(default_cache_directory({{"XDG_CACHE_HOME", "/x"}}, "/home/u") == "/x/cudaenv");
    CHECK(default_cache_directory({{"XDG_CACHE_HOME", ""}}, "/home/u") == "/home/u/.cache/cudaenv");
    CHECK(default_cache_directory({{"XDG_CACHE_HOME", "relative"}}, "").empty());
}

} // namespace
} // namespace cudaenv::host
