#include "host/environments/cuda_libraries.hpp"
#include "host/probe/verdict_store.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace cudaenv::host {
namespace {

using test::FakeDisk;
namespace fs = std::filesystem;

class Scratch {
public:
    Scratch() {
        std::string name = fs::temp_directory_path() / "cudaenv-verdicts-XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { fs::remove_all(path); }
    std::string path;
};

const std::string k_driver = "/usr/lib/" + machine_name() + "-linux-gnu/libcuda.so.580.95.05";
const std::string k_runtime = "/e/lib/libcudart.so.13";
const VerdictQuestion k_question{"/e", "=0", "/opt/cuda/lib64"};
const KeptVerdict k_bad{"fails", "runtime", "CE322", "the driver is too old", 1'790'000'000};

// A machine with one GPU, or as `change` has it.
FakeDisk machine(const std::string& change = {}) {
    FakeDisk disk;
    disk.file("/proc/sys/kernel/random/boot_id", change == "boot" ? "b2\n" : "b1\n")
        .file("/proc/driver/nvidia/version",
              change == "module" ? "Kernel Module  590.10" : "Kernel Module  580.95.05")
        .link(std::string(parent_path(k_driver)) + "/libcuda.so.1", "libcuda.so.580.95.05")
        .file(k_driver, change == "driver" ? "another" : "driver")
        .directory("/proc/driver/nvidia/gpus/0000:01:00.0")
        .file(k_runtime, change == "runtime" ? "upgraded" : "13");
    if (change == "gpu") {
        disk.directory("/proc/driver/nvidia/gpus/0000:02:00.0");
    }
    if (change == "mig") {
        disk.directory("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0");
    }
    return disk;
}

TEST_CASE("a verdict is given back as long as nothing that it rests on has changed") {
    const Scratch scratch;
    const VerdictStore store(scratch.path + "/cache/cudaenv");
    FakeDisk disk = machine();
    CHECK_FALSE(store.find(disk, k_question));
    store.keep(disk, k_question, {k_driver, k_runtime, "libnccl.so.2", "/e/lib/libcudnn.so.9"},
               k_bad);
    const auto kept = store.find(disk, k_question);
    REQUIRE(kept);
    CHECK(kept->verdict == "fails");
    CHECK(kept->step == "runtime");
    CHECK(kept->code == "CE322");
    CHECK(kept->summary == k_bad.summary);
    CHECK(kept->at == k_bad.at);

    for (const char* change : {"boot", "module", "driver", "runtime", "gpu", "mig"}) {
        INFO(change);
        FakeDisk changed = machine(change);
        CHECK_FALSE(store.find(changed, k_question));
    }
    FakeDisk appeared = machine();
    appeared.file("/e/lib/libcudnn.so.9");
    CHECK_FALSE(store.find(appeared, k_question));

    VerdictQuestion other = k_question;
    other.visible_devices = "";
    CHECK_FALSE(store.find(disk, other));
    other = k_question;
    other.library_path = "";
    CHECK_FALSE(store.find(disk, other));
    other = k_question;
    other.prefix = "/f";
    CHECK_FALSE(store.find(disk, other));
}

TEST_CASE("each environment has its own verdict, and the last one counts") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    VerdictQuestion none;
    KeptVerdict fine{"ok", "", "", "all right", 1'790'000'100};
    store.keep(disk, k_question, {}, k_bad);
    store.keep(disk, none, {}, fine);
    CHECK(store.find(disk, k_question)->verdict == "fails");
    CHECK(store.find(disk, none)->verdict == "ok");
    store.keep(disk, k_question, {}, fine);
    CHECK(store.find(disk, k_question)->verdict == "ok");
    // One file, private, and nothing beside it.
    CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 1);
    CHECK((fs::status(scratch.path + "/probes.json").permissions() & fs::perms::mask) ==
          (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a path that is no UTF-8 has its verdict too") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    const VerdictQuestion question{"/caf\xe9", "", "/\xff"};
    store.keep(disk, question, {"/caf\xe9/lib/libcudart.so.13"}, k_bad);
    CHECK(store.find(disk, question));
}

TEST_CASE("a store that is garbage, or that others can write, holds nothing") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    for (const char* text :
         {"", "{", "[]", R"({"schema":"cudaenv.probes/1"})",
          R"({"schema":"cudaenv.probes/1","environments":{"/e":3}})",
          R"({"schema":"cudaenv.probes/1","environments":{"/e":{"verdict":"fails"}}})"}) {
        std::ofstream(scratch.path + "/probes.json") << text;
        CHECK_FALSE(store.find(disk, k_question));
    }
    store.keep(disk, k_question, {}, k_bad);
    REQUIRE(store.find(disk, k_question));
    REQUIRE(::chmod((scratch.path + "/probes.json").c_str(), 0666) == 0);
    CHECK_FALSE(store.find(disk, k_question));
}

} // namespace
} // namespace cudaenv::host
