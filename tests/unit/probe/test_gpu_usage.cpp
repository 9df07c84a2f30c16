#include "host/probe/gpu_usage.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::probe;
using cudaenv::test::FakeDisk;
using std::string_literals::operator""s;

namespace {

UsageNow one_process(int pid, bool graphics = false) {
    UsageNow usage;
    GpuUsage gpu;
    GpuProcess process;
    process.pid = pid;
    process.graphics = graphics;
    gpu.processes.push_back(process);
    usage.gpus.push_back(gpu);
    return usage;
}

void add_process(FakeDisk& disk, const std::string& pid, const std::string& command_line,
                 const std::string& environ) {
    disk.file("/proc/" + pid + "/maps", "7f00-7f01 r-xp /usr/lib/libcuda.so.580.159.04\n");
    disk.file("/proc/" + pid + "/status", "Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n");
    disk.file("/proc/" + pid + "/cmdline", command_line);
    disk.file("/proc/" + pid + "/environ", environ);
}

} // namespace

TEST_CASE("a GPU without processes differs from one whose processes NVML does not report") {
    const auto usage = read_gpu_usage(R"({"gpus": [{"processes": []}, {}]})");
    REQUIRE(usage);
    REQUIRE(usage->gpus.size() == 2);
    CHECK(usage->gpus[0].lists_processes);
    CHECK_FALSE(usage->gpus[1].lists_processes);
}

TEST_CASE("what the probe says of GPUs is read, and what is not plausible is left out") {
    const auto usage =
        read_gpu_usage(R"({"driver_version": "580.159.04", "errors": ["x", 3], "start_error": 18,
        "gpus": [{"index": 1, "name": "NVIDIA H200", "uuid": "GPU-1", "memory_total": 100,
                  "memory_used": 40, "utilization": 87, "temperature": 54, "power": 412,
                  "mig": true, "processes": [{"pid": 7, "memory": 12, "graphics": false},
                  {"pid": 7, "graphics": true}, {"pid": 0}, {"pid": -3}, {"pid": "8"}, 9]},
                 {"utilization": 101, "temperature": 4000, "power": -1, "memory_used": "1"}, 3]})");
    REQUIRE(usage);
    CHECK(usage->driver_version == "580.159.04");
    CHECK(usage->errors == std::vector<std::string>{"x"});
    CHECK(usage->start_error == 18);
    CHECK_FALSE(read_gpu_usage(R"({"start_error": -1})")->start_error);
    REQUIRE(usage->gpus.size() == 2);
    const GpuUsage& first = usage->gpus[0];
    CHECK(first.index == 1);
    CHECK(first.memory_used == 40U);
    CHECK(first.utilization == 87);
    CHECK(first.temperature == 54);
    CHECK(first.power == 412);
    CHECK(first.mig);
    REQUIRE(first.processes.size() == 1); // one that computes and draws is one
    CHECK(first.processes[0].pid == 7);
    CHECK(first.processes[0].memory == 12U);
    const GpuUsage& second = usage->gpus[1];
    CHECK_FALSE(second.utilization);
    CHECK_FALSE(second.temperature);
    CHECK_FALSE(second.power);
    CHECK_FALSE(second.memory_used);
}

TEST_CASE("an answer that is no object is refused") {
    for (const char* text : {"", "[]", "{", "3", "nonsense"}) {
        const auto usage = read_gpu_usage(text);
        REQUIRE_FALSE(usage);
        CHECK(usage.error().code == "bad-probe-answer");
    }
}

TEST_CASE("a process has its user, its program without arguments, and the venv it was called by") {
    FakeDisk disk;
    disk.file("/etc/passwd", "root:x:0:0::/root:/bin/sh\nlab:x:1000:1000::/home/lab:/bin/sh\n");
    disk.file("/home/lab/apex/.venv/pyvenv.cfg", "");
    add_process(disk, "42",
                "/home/lab/apex/.venv/bin/python\0-u\0/srv/train.py\0--token\0secret\0"s, "");
    UsageNow usage = one_process(42);
    identify_processes(disk, usage);
    const GpuProcess& process = usage.gpus[0].processes[0];
    CHECK(process.user == "lab");
    CHECK(process.command == "python train.py");
    CHECK(process.environment == "/home/lab/apex/.venv");
}

TEST_CASE("else the environment that was active when it began, if there is one") {
    FakeDisk disk;
    disk.file("/opt/conda/envs/apex/conda-meta/history", "");
    add_process(disk, "42", "python\0-m\0torch.distributed.run\0"s,
                "HOME=/root\0CONDA_PREFIX=/opt/conda/envs/apex\0"s);
    add_process(disk, "43", "/usr/bin/python3\0-c\0import secrets\0"s, "VIRTUAL_ENV=/gone\0"s);
    UsageNow usage = one_process(42);
    identify_processes(disk, usage);
    CHECK(usage.gpus[0].processes[0].environment == "/opt/conda/envs/apex");
    CHECK(usage.gpus[0].processes[0].command == "python -m torch.distributed.run");
    CHECK(usage.gpus[0].processes[0].user == "1000"); // no line in /etc/passwd
    usage = one_process(43);
    identify_processes(disk, usage);
    CHECK(usage.gpus[0].processes[0].environment.empty());
    CHECK(usage.gpus[0].processes[0].command == "python3");
}

TEST_CASE("a number that is somebody else here is not taken for the process") {
    FakeDisk disk;
    add_process(disk, "42", "bash\0"s, "");
    disk.file("/proc/42/maps", "55e0-55e1 r-xp /usr/bin/bash\n");
    UsageNow usage = one_process(42);
    identify_processes(disk, usage);
    CHECK(usage.gpus[0].processes[0].command.empty());
    CHECK(usage.gpus[0].processes[0].user.empty());
    usage = one_process(43); // and one that is not here at all
    identify_processes(disk, usage);
    CHECK(usage.gpus[0].processes[0].command.empty());
}

TEST_CASE("a process on eight GPUs is looked at once, and a user's name looked up once") {
    FakeDisk disk;
    add_process(disk, "42", "python\0train.py\0"s, "");
    add_process(disk, "43", "python\0serve.py\0"s, "");
    disk.file("/etc/passwd", "me:x:1000:1000::/home/me:/bin/sh\n");
    UsageNow usage;
    for (int i = 0; i < 8; ++i) {
        for (const int pid : {42, 43}) {
            usage.gpus.push_back(one_process(pid).gpus.front());
        }
    }
    identify_processes(disk, usage);
    CHECK(usage.gpus.back().processes[0].user == "me");
    CHECK(usage.gpus[14].processes[0].command == "python train.py");
    const auto reads = [&](const char* path) {
        return std::ranges::count(disk.log(), std::string("read ") + path);
    };
    for (const char* file : {"maps", "status", "cmdline", "environ"}) {
        CHECK(reads((std::string("/proc/42/") + file).c_str()) == 1);
    }
    CHECK(reads("/etc/passwd") == 1);
}

TEST_CASE("one that draws is reported though it has no libcuda, and is not where it does not") {
    FakeDisk disk;
    add_process(disk, "42", "Xorg\0"s, "");
    disk.file("/proc/42/maps", "55e0-55e1 r-xp /usr/lib/xorg/Xorg\n");
    UsageNow usage = one_process(42);
    usage.gpus.push_back(one_process(42, true).gpus.front());
    identify_processes(disk, usage);
    CHECK(usage.gpus[0].processes[0].command.empty());
    CHECK(usage.gpus[1].processes[0].command == "Xorg");
}
