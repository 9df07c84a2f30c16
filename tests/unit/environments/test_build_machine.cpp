#include "host/environments/environments.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

#include <sched.h>

namespace cudaenv::environments {
namespace {

using test::FakeDisk;

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

// This test's own cores: no quota gives more than those.
int own_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
    return CPU_COUNT(&set);
}

FakeDisk machine(const std::string& cgroup) {
    FakeDisk disk;
    disk.file("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree:          100000 kB\n"
                               "MemAvailable:    8388608 kB\n");
    if (!cgroup.empty()) {
        disk.file("/proc/self/cgroup", cgroup);
    }
    return disk;
}

TEST_CASE("without limits a build has the cores of its affinity and the memory that is available") {
    auto disk = machine("");
    const auto found = build_machine(disk);
    CHECK(found.cores == own_cores());
    CHECK(found.memory_bytes == 8192 * k_mib);
}

TEST_CASE("a machine that says nothing has one core or more and unknown memory") {
    FakeDisk disk;
    const auto found = build_machine(disk);
    CHECK(found.cores >= 1);
    CHECK_FALSE(found.memory_bytes);
}

TEST_CASE("the narrowest of a process's cgroups and those above it counts (version 2)") {
    auto disk = machine("0::/user.slice/job.scope\n");
    disk.file("/sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n")
        .file("/sys/fs/cgroup/user.slice/job.scope/memory.max", "max\n")
        .file("/sys/fs/cgroup/user.slice/cpu.max", "100000 100000\n")
        .file("/sys/fs/cgroup/user.slice/memory.max", std::to_string(1024 * k_mib) + "\n")
        .file("/sys/fs/cgroup/user.slice/memory.current", std::to_string(512 * k_mib) + "\n");
    const auto found = build_machine(disk);
    CHECK(found.cores == 1);
    CHECK(found.memory_bytes == 512 * k_mib);
}

TEST_CASE("files that can be dropped do not count as used memory") {
    auto disk = machine("0::/\n");
    disk.file("/sys/fs/cgroup/memory.max", std::to_string(1024 * k_mib))
        .file("/sys/fs/cgroup/memory.current", std::to_string(1000 * k_mib))
        .file("/sys/fs/cgroup/memory.stat",
              "anon 1\ninactive_file " + std::to_string(900 * k_mib) + "\nactive_file 5\n");
    CHECK(build_machine(disk).memory_bytes == 924 * k_mib);
}

TEST_CASE("a container that sees the host's cgroup path is limited by the root that it sees") {
    for (const auto* path : {"0::/docker/0123abcd\n", "0::/../../other\n", "0::/\n"}) {
        auto disk = machine(path);
        disk.file("/sys/fs/cgroup/cpu.max", "50000 100000")
            .file("/sys/fs/cgroup/memory.max", std::to_string(256 * k_mib));
        const auto found = build_machine(disk);
        CHECK(found.cores == 1); // half a core is one
        CHECK(found.memory_bytes == 256 * k_mib);
    }
}

TEST_CASE("cgroups of version 1 limit too, and its huge number means no limit") {
    auto disk = machine("5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/job\n");
    disk.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n")
        .file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n")
        .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
        .file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(300 * k_mib))
        .file("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", std::to_string(200 * k_mib))
        .file("/sys/fs/cgroup/memory/job/memory.stat",
              "inactive_file 1\ntotal_inactive_file " + std::to_string(100 * k_mib) + "\n")
        .file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    const auto found = build_machine(disk);
    CHECK(found.cores == 1);
    CHECK(found.memory_bytes == 200 * k_mib);
}

TEST_CASE("a full group leaves no memory, a wide quota no more cores than there are") {
    auto disk = machine("0::/\n");
    disk.file("/sys/fs/cgroup/cpu.max", "900000000 100000")
        .file("/sys/fs/cgroup/memory.max", "1000")
        .file("/sys/fs/cgroup/memory.current", "2000");
    const auto found = build_machine(disk);
    CHECK(found.cores == own_cores());
    CHECK(found.memory_bytes == 0);
}

TEST_CASE("cgroup files with nonsense in them are no limits") {
    auto disk = machine("nonsense\n0:relative\n0::relative\n::\n");
    disk.file("/sys/fs/cgroup/cpu.max", "many 0\n").file("/sys/fs/cgroup/memory.max", "-7");
    const auto found = build_machine(disk);
    CHECK(found.cores == own_cores());
    CHECK(found.memory_bytes == 8192 * k_mib);
}

} // namespace
} // namespace cudaenv::environments
