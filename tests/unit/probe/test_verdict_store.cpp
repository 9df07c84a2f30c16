#include "host/environments/cuda_libraries.hpp"
#include "host/probe/verdict_store.hpp"
#include "tests/support/fake_disk.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sys/stat.h>
#include <thread>

namespace cudaenv::probe {
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

const std::string k_driver =
    "/usr/lib/" + environments::machine_name() + "-linux-gnu/libcuda.so.580.95.05";
const std::string k_runtime = "/e/lib/libcudart.so.13";
const VerdictQuestion k_question{"/e", "CUDA_VISIBLE_DEVICES=0\n", "PATH=/usr/bin\n", {}};
constexpr std::int64_t k_now = 1'790'000'500;
const KeptVerdict k_bad{"fails", "runtime", "CE322", "the driver is too old", 1'790'000'000};

// A machine with one GPU, or as `change` has it.
FakeDisk machine(const std::string& change = {}) {
    FakeDisk disk;
    disk.file("/proc/sys/kernel/random/boot_id", change == "boot" ? "b2\n" : "b1\n")
        .file("/proc/driver/nvidia/version",
              change == "module" ? "Kernel Module  590.10" : "Kernel Module  580.95.05")
        .link(std::string(host::parent_path(k_driver)) + "/libcuda.so.1", "libcuda.so.580.95.05")
        .file("/proc/sys/kernel/hostname", change == "name" ? "node2\n" : "node1\n")
        .file(k_driver, change == "driver" ? "another" : "driver")
        .directory("/proc/driver/nvidia/gpus/0000:01:00.0")
        .file(k_runtime, change == "runtime" ? "upgraded" : "13");
    if (change == "gpu") {
        disk.directory("/proc/driver/nvidia/gpus/0000:02:00.0");
    }
    if (change == "mig") {
        disk.directory("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/ci0");
    }
    if (change == "device") {
        disk.file("/dev/nvidia0");
    }
    return disk;
}

// As after a probe under which nothing changed.
void keep(const VerdictStore& store, FakeDisk& disk, const VerdictQuestion& question,
          const std::vector<std::string>& rests_on, const KeptVerdict& verdict) {
    CHECK(store.keep(disk, question, grounds_of(disk, verdict.depth, rests_on), rests_on, verdict));
}

TEST_CASE("a verdict is given back as long as nothing that it rests on has changed") {
    const Scratch scratch;
    const VerdictStore store(scratch.path + "/cache/cudaenv");
    FakeDisk disk = machine();
    CHECK_FALSE(store.find(disk, k_question, k_now));
    keep(store, disk, k_question, {k_driver, k_runtime, "libnccl.so.2", "/e/lib/libcudnn.so.9"},
         k_bad);
    const auto kept = store.find(disk, k_question, k_now);
    REQUIRE(kept);
    CHECK(kept->verdict == "fails");
    CHECK(kept->step == "runtime");
    CHECK(kept->code == "CE322");
    CHECK(kept->summary == k_bad.summary);
    CHECK(kept->at == k_bad.at);

    for (const char* change :
         {"boot", "module", "driver", "runtime", "gpu", "mig", "device", "name"}) {
        INFO(change);
        FakeDisk changed = machine(change);
        CHECK_FALSE(store.find(changed, k_question, k_now));
    }
    FakeDisk appeared = machine();
    appeared.file("/e/lib/libcudnn.so.9");
    CHECK_FALSE(store.find(appeared, k_question, k_now));

    VerdictQuestion other = k_question;
    other.shell = "";
    CHECK_FALSE(store.find(disk, other, k_now));
    other = k_question;
    other.prefix = "/f";
    CHECK_FALSE(store.find(disk, other, k_now));
}

TEST_CASE("each environment has its own verdict, and the last one of its depth counts") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    VerdictQuestion none;
    KeptVerdict fine{"ok", "", "", "all right", 1'790'000'100};
    keep(store, disk, k_question, {}, k_bad);
    keep(store, disk, none, {}, fine);
    CHECK(store.find(disk, k_question, k_now)->verdict == "fails");
    CHECK(store.find(disk, none, k_now)->verdict == "ok");
    keep(store, disk, k_question, {}, fine);
    CHECK(store.find(disk, k_question, k_now)->verdict == "ok");
    // One file, private, and nothing beside it.
    CHECK(std::distance(fs::directory_iterator(scratch.path), {}) == 1);
    CHECK((fs::status(scratch.path + "/probes.json").permissions() & fs::perms::mask) ==
          (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a path that is no UTF-8 has its verdict too") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    const VerdictQuestion question{"/caf\xe9", "LD_LIBRARY_PATH=/\xff\n", "", {}};
    keep(store, disk, question, {"/caf\xe9/lib/libcudart.so.13"}, k_bad);
    CHECK(store.find(disk, question, k_now));
}

TEST_CASE("a store that is garbage, or that others can write, holds nothing") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    const std::string file = scratch.path + "/probes.json";
    FakeDisk disk = machine();
    for (const char* text : {"", "{", "[]", R"({"schema":"cudaenv.probes/2"})",
                             R"({"schema":"cudaenv.probes/2","environments":{"/e":3}})"}) {
        std::ofstream(file) << text;
        CHECK_FALSE(store.find(disk, k_question, k_now));
    }
    keep(store, disk, k_question, {k_driver}, k_bad);
    REQUIRE(store.find(disk, k_question, k_now));
    std::ifstream written(file);
    const auto good = nlohmann::json::parse(written);
    const auto entry =
        nlohmann::json::json_pointer("/environments") / good.at("environments").begin().key();
    for (const char* member :
         {"", "/machine", "/verdicts", "/verdicts/0", "/verdicts/0/depth", "/verdicts/0/at",
          "/verdicts/0/files", "/verdicts/0/of_the_moment", "file"}) {
        INFO(member);
        const auto pointer = member == std::string("file")
                                 ? entry / "verdicts" / 0 / "files" / k_driver
                                 : entry / nlohmann::json::json_pointer(member);
        REQUIRE(good.contains(pointer));
        for (const auto& value : {nlohmann::json(3.5), nlohmann::json("x"), nlohmann::json(),
                                  nlohmann::json::array({7})}) {
            auto bad = good;
            bad[pointer] = value;
            std::ofstream(file) << bad;
            CHECK_FALSE(store.find(disk, k_question, k_now));
        }
    }
    auto ancient = good;
    ancient[entry / "verdicts" / 0 / "at"] = std::numeric_limits<std::int64_t>::min();
    std::ofstream(file) << ancient;
    CHECK_FALSE(store.find(disk, k_question, k_now));
    std::ofstream(file) << good;
    REQUIRE(store.find(disk, k_question, k_now));
    REQUIRE(::chmod(file.c_str(), 0666) == 0);
    CHECK_FALSE(store.find(disk, k_question, k_now));
}

// What is reported after probes that said these, one a second.
struct Said {
    VerdictDepth depth;
    const char* verdict;
};
std::string worst_after(const std::vector<Said>& said, std::int64_t seconds_later = 10) {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    std::int64_t at = 1'790'000'000;
    for (const auto& [depth, verdict] : said) {
        keep(store, disk, k_question, {k_runtime}, {verdict, "", "", "", at++, depth});
    }
    const auto kept = store.find(disk, k_question, at + seconds_later);
    return kept ? std::string(name_of(kept->depth)) + ' ' + kept->verdict : "nothing";
}
constexpr auto k_quick = VerdictDepth::Quick;
constexpr auto k_full = VerdictDepth::Full;
constexpr auto k_build = VerdictDepth::Build;

TEST_CASE("a probe that looked less far takes no failure back, one that looked as far does") {
    CHECK(worst_after({{k_full, "fails"}, {k_quick, "ok"}}) == "full fails");
    CHECK(worst_after({{k_full, "fails"}, {k_quick, "ok"}, {k_full, "ok"}}) == "full ok");
    CHECK(worst_after({{k_quick, "fails"}, {k_full, "ok"}}) == "full ok");
    CHECK(worst_after({{k_quick, "fails"}, {k_full, "warns"}, {k_quick, "ok"}}) == "full warns");
    // Of two that hold the worst, of two as bad the newest.
    CHECK(worst_after({{k_full, "ok"}, {k_quick, "fails"}}) == "quick fails");
    CHECK(worst_after({{k_full, "fails"}, {k_quick, "driver-broken"}}) == "quick driver-broken");
    CHECK(worst_after({{k_full, "ok"}, {k_quick, "fails"}, {k_quick, "ok"}}) == "quick ok");
}

TEST_CASE("what a probe did not look at it does not take back, what it did it does") {
    const auto told_after = [](KeptVerdict later) {
        const Scratch scratch;
        const VerdictStore store(scratch.path);
        FakeDisk disk = machine();
        keep(store, disk, k_question, {}, {"fails", "cudnn", "CE353", "", k_now - 9, k_full});
        later.at = k_now - 1;
        keep(store, disk, k_question, {}, later);
        const auto first = store.find(disk, k_question, k_now)->step;
        // Once that is mended.
        keep(store, disk, k_question, {}, {"ok", "", "", "", k_now, k_full, {"cudnn"}});
        return first + ' ' + store.find(disk, k_question, k_now)->step;
    };
    CHECK(told_after({"ok", "", "", "", 0, k_full, {"cublas"}}) == " ");
    CHECK(told_after({"ok", "", "", "", 0, k_full, {"cublas", "cudnn"}}) == "cudnn cudnn");
    CHECK(told_after({"warns", "gpu", "CE319", "", 0, k_full, {"cudnn"}}) == "cudnn cudnn");
    CHECK(told_after({"fails", "nccl", "CE336", "", 0, k_full, {}}) == "nccl ");
    CHECK(told_after({"fails", "cublas", "CE351", "", 0, k_full, {"cudnn"}}) == "cublas cudnn");
}

TEST_CASE("a verdict that holds less far than its probe looked rests on what such a probe opens") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    const auto grounds = grounds_of(disk, k_full, {"/e/lib"});
    CHECK(store.keep(disk, k_question, grounds, {"/e/lib"}, {"ok", "", "", "", k_now, k_quick}));
    CHECK(store.find(disk, k_question, k_now));
    FakeDisk more = machine();
    more.file("/e/lib/libcudnn.so.9");
    CHECK(store.find(more, k_question, k_now)); // a quick probe does not open it
    more.file("/e/lib/libcudart.so.12");
    CHECK_FALSE(store.find(more, k_question, k_now));
}

TEST_CASE("an environment is found among others, whatever its name is") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    const auto question = [](const std::string& prefix) {
        return VerdictQuestion{prefix, "CUDA_VISIBLE_DEVICES=0\n", "", {}};
    };
    const std::vector<std::string> names{"/e",           "/e/e", "/a \"b\" \\", "/{\"}",
                                         "/caf\xc3\xa9", "",     "/\\",         "/e\n"};
    for (const std::string& name : names) {
        keep(store, disk, question(name), {}, {"fails", name, "CE351", "{\"\\\"}", k_now});
    }
    for (const std::string& name : names) {
        INFO(name);
        REQUIRE(store.find(disk, question(name), k_now));
        CHECK(store.find(disk, question(name), k_now)->step == name);
    }
    CHECK_FALSE(store.find(disk, question("/"), k_now));
}

TEST_CASE("a build has a separate verdict, which only another build replaces") {
    CHECK(worst_after({{k_build, "fails"}, {k_full, "ok"}}) == "build fails");
    CHECK(worst_after({{k_full, "fails"}, {k_build, "ok"}}) == "full fails");
    CHECK(worst_after({{k_quick, "ok"}, {k_build, "fails"}, {k_build, "ok"}}) == "quick ok");
    // It says nothing of the ladder.
    CHECK(worst_after({{k_build, "ok"}}) == "nothing");
}

TEST_CASE("a hang, a crash or a busy GPU is reported for an hour, and hides nothing for good") {
    constexpr std::int64_t k_hour = 3600;
    for (const char* transient : {"timeout", "crashed", "busy"}) {
        INFO(transient);
        const std::string expected = std::string("quick ") + transient;
        CHECK(worst_after({{k_quick, transient}}, k_hour - 2) == expected);
        CHECK(worst_after({{k_quick, transient}}, k_hour) == "nothing");
        CHECK(worst_after({{k_quick, transient}}, -10) == "nothing"); // the clock was set back
        CHECK(worst_after({{k_quick, "ok"}, {k_quick, transient}}) == expected);
        CHECK(worst_after({{k_quick, "ok"}, {k_quick, transient}}, k_hour) == "quick ok");
        CHECK(worst_after({{k_quick, "fails"}, {k_full, transient}}, k_hour) == "quick fails");
        CHECK(worst_after({{k_quick, transient}, {k_quick, "ok"}}) == "quick ok");
        CHECK(worst_after({{k_full, transient}, {k_quick, "ok"}}) ==
              std::string("full ") + transient);
    }
    CHECK(worst_after({{k_full, "fails"}}, 1000 * k_hour) == "full fails");
}

TEST_CASE("a verdict that no longer holds takes the others of its entry with it only where they "
          "rest on the same") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    const KeptVerdict full{"fails", "nccl", "CE355", "", k_now - 2, k_full};
    const KeptVerdict quick{"ok", "", "", "", k_now - 1, k_quick};
    keep(store, disk, k_question, {"/e/lib/libnccl.so.2"}, full);
    keep(store, disk, k_question, {k_runtime}, quick);
    CHECK(store.find(disk, k_question, k_now)->step == "nccl");
    FakeDisk replaced = machine();
    replaced.file("/e/lib/libnccl.so.2", "another");
    CHECK(store.find(replaced, k_question, k_now)->verdict == "ok");
    FakeDisk upgraded = machine("runtime");
    CHECK(store.find(upgraded, k_question, k_now)->step == "nccl");
    FakeDisk rebooted = machine("boot");
    CHECK_FALSE(store.find(rebooted, k_question, k_now));
}

TEST_CASE("another compiler or pin lets go of what was built alone") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    keep(store, disk, k_question, {}, {"ok", "", "", "", k_now - 2, k_quick});
    keep(store, disk, k_question, {}, {"fails", "build", "CE360", "", k_now - 1, k_build});
    CHECK(store.find(disk, k_question, k_now)->step == "build");
    VerdictQuestion other = k_question;
    other.building = "PATH=/opt/cuda/bin\n";
    CHECK(store.find(disk, other, k_now)->verdict == "ok");
}

TEST_CASE("what variables say is kept as no text, whatever directories of theirs are looked at") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    keep(store, disk, {"/e", "NVCC_APPEND_FLAGS=-DTOKEN=hunter2\n", "X=hunter2\n", {}}, {}, k_bad);
    std::ifstream written(scratch.path + "/probes.json");
    const std::string text{std::istreambuf_iterator<char>(written), {}};
    CHECK(text.find("CE322") != std::string::npos);
    CHECK(text.find("hunter2") == std::string::npos);
}

TEST_CASE("each kind of shell has its own verdict, and one takes nothing from another") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    VerdictQuestion other = k_question;
    other.shell = "CUDA_VISIBLE_DEVICES=1\n";
    keep(store, disk, k_question, {}, {"fails", "cublas", "CE350", "", k_now - 2, k_full});
    keep(store, disk, other, {}, {"ok", "", "", "", k_now - 1, k_quick});
    REQUIRE(store.find(disk, k_question, k_now));
    CHECK(store.find(disk, k_question, k_now)->code == "CE350");
    REQUIRE(store.find(disk, other, k_now));
    CHECK(store.find(disk, other, k_now)->verdict == "ok");
}

TEST_CASE(
    "what no file shows to be mended is reported for an hour, and that all was well is over") {
    constexpr std::int64_t k_hour = 3600;
    const KeptVerdict lost{"fails", "nccl", "CE357", "", k_now + 1, k_full, {}, true};
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    keep(store, disk, k_question, {}, {"ok", "", "", "", k_now, k_full});
    keep(store, disk, k_question, {}, lost);
    CHECK(store.find(disk, k_question, k_now + k_hour)->code == "CE357");
    CHECK_FALSE(store.find(disk, k_question, k_now + k_hour + 1));
    // What files show is reported until they change.
    keep(store, disk, k_question, {}, {"fails", "runtime", "CE322", "", k_now, k_quick});
    keep(store, disk, k_question, {}, lost);
    CHECK(store.find(disk, k_question, k_now + k_hour)->code == "CE357");
    CHECK(store.find(disk, k_question, k_now + 1000 * k_hour)->code == "CE322");
}

TEST_CASE("what was kept later than now is not believed") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    keep(store, disk, k_question, {}, k_bad);
    CHECK(store.find(disk, k_question, k_bad.at));
    CHECK_FALSE(store.find(disk, k_question, k_bad.at - 1));
}

TEST_CASE("what changed while the probe ran leaves no verdict, and the earlier one is gone too") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    for (const char* change : {"runtime", "driver", "module", "gpu", "mig"}) {
        INFO(change);
        FakeDisk before = machine();
        const VerdictGrounds grounds = grounds_of(before, k_quick, {k_runtime});
        FakeDisk after = machine(change);
        CHECK_FALSE(store.keep(after, k_question, grounds, {k_runtime}, k_bad));
        CHECK_FALSE(store.find(after, k_question, k_now));
    }
    // The driver made the GPU's file for the probe itself.
    FakeDisk before = machine();
    const VerdictGrounds grounds = grounds_of(before, k_quick, {k_runtime});
    FakeDisk after = machine("device");
    CHECK(store.keep(after, k_question, grounds, {k_runtime}, k_bad));
    CHECK(store.find(after, k_question, k_now));
}

TEST_CASE("what appears where a library was looked for lets go of a verdict, other files do not") {
    const std::string lib = "/e/lib";
    const std::string wheels = "/e/site/nvidia";
    const std::string cache = "/etc/ld.so.cache";
    const auto disk_with = [&](const char* path) {
        FakeDisk disk = machine();
        disk.directory(wheels + "/cudnn/lib");
        disk.file(cache, std::string("glibc\0libz.so.1\0/lib/libz.so.1\0", 32));
        if (*path != '\0') {
            disk.file(path, "x");
        }
        return disk;
    };
    const auto holds_with = [&](VerdictDepth depth, FakeDisk changed) {
        const Scratch scratch;
        const VerdictStore store(scratch.path);
        FakeDisk disk = disk_with("");
        keep(store, disk, k_question, {lib, wheels, cache}, {"ok", "", "", "", k_now, depth});
        return store.find(changed, k_question, k_now).has_value();
    };
    CHECK(holds_with(k_full, disk_with("")));
    CHECK(holds_with(k_full, disk_with("/e/lib/libpng.so.16")));
    CHECK_FALSE(holds_with(k_quick, disk_with("/e/lib/libcudart.so.12")));
    CHECK(holds_with(k_quick, disk_with("/e/lib/libnvrtc.so.12"))); // it does not look so far
    CHECK_FALSE(holds_with(k_full, disk_with("/e/lib/libnvrtc.so.12")));
    CHECK_FALSE(holds_with(k_quick, disk_with("/e/site/nvidia/cuda_runtime/x")));
    const auto known_to_the_loader = [&](const std::string& name) {
        FakeDisk disk = machine();
        disk.directory(wheels + "/cudnn/lib");
        return std::move(
            disk.file(cache, std::string("glibc\0libz.so.1\0/lib/libz.so.1\0", 32) + name + '\0'));
    };
    CHECK_FALSE(holds_with(k_quick, known_to_the_loader("libcudart.so.12")));
    CHECK(holds_with(k_quick, known_to_the_loader("libpng.so.16")));
}

VerdictQuestion environment(int number) {
    return {"/e" + std::to_string(number), "", "", {}};
}

TEST_CASE("of more environments than are kept the oldest goes") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    for (int number = 0; number < 201; ++number) {
        keep(store, disk, environment(number), {}, {"ok", "", "", "", k_now + number, k_quick});
    }
    CHECK_FALSE(store.find(disk, environment(0), k_now + 300));
    CHECK(store.find(disk, environment(1), k_now + 300));
    CHECK(store.find(disk, environment(200), k_now + 300));
}

TEST_CASE("a store is never longer than what is read of it: the oldest go") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    std::vector<std::string> files; // some 20 KB of them
    for (int number = 0; number < 200; ++number) {
        files.push_back("/e/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so." +
                        std::to_string(number));
        disk.file(files.back(), "x");
    }
    const auto size = [&] { return fs::file_size(scratch.path + "/probes.json"); };
    int kept = 0;
    for (bool is_full = false; !is_full; ++kept) {
        REQUIRE(kept < 200);
        keep(store, disk, environment(kept), files, {"ok", "", "", "", k_now + kept, k_quick});
        CHECK(size() <= VerdictStore::k_size_limit);
        is_full = !store.find(disk, environment(0), k_now + 300);
    }
    CHECK(size() > VerdictStore::k_size_limit * 9 / 10);
    CHECK(store.find(disk, environment(1), k_now + 300));
    CHECK(store.find(disk, environment(kept - 1), k_now + 300));

    // One that has no room at all takes none from the others.
    const std::string vast(VerdictStore::k_size_limit, 'x');
    keep(store, disk, environment(0), {}, {"fails", "", "", vast, k_now + 300, k_quick});
    CHECK_FALSE(store.find(disk, environment(0), k_now + 300));
    CHECK(store.find(disk, environment(kept - 1), k_now + 300));
}

TEST_CASE("machines that share a home take nothing from each other") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk one = machine();
    FakeDisk other = machine("name");
    other.directory("/proc/driver/nvidia/gpus/0000:02:00.0");
    keep(store, one, k_question, {}, k_bad);
    CHECK_FALSE(store.find(other, k_question, k_now));
    keep(store, other, k_question, {}, {"ok", "", "", "", k_now, k_quick});
    REQUIRE(store.find(one, k_question, k_now));
    CHECK(store.find(one, k_question, k_now)->code == "CE322");
    CHECK(store.find(other, k_question, k_now)->verdict == "ok");
}

TEST_CASE("who asks only what is bad looks at no file of what is well, and each file once") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    FakeDisk disk = machine();
    keep(store, disk, k_question, {k_runtime}, {"ok", "", "", "", k_now, k_quick});
    keep(store, disk, k_question, {k_runtime}, {"warns", "", "", "", k_now, k_full});
    const auto looks = [&](VerdictReader::Wanted wanted) {
        FakeDisk asked = machine();
        static_cast<void>(VerdictReader(asked, store).find(k_question, k_now, wanted));
        return std::ranges::count(asked.log(), "stat " + k_runtime);
    };
    CHECK(looks(VerdictReader::Wanted::NotWell) == 0);
    CHECK(looks(VerdictReader::Wanted::All) == 1);
    keep(store, disk, k_question, {k_runtime}, {"fails", "", "", "", k_now, k_build});
    CHECK(looks(VerdictReader::Wanted::NotWell) == 1);
    CHECK(VerdictReader(disk, store).find(k_question, k_now, VerdictReader::Wanted::NotWell));
}

TEST_CASE("of what several keep at once nothing is lost") {
    const Scratch scratch;
    const VerdictStore store(scratch.path);
    constexpr int k_each = 12;
    const auto environment = [](int thread, int number) {
        return VerdictQuestion{
            "/e" + std::to_string(thread) + '-' + std::to_string(number), "", "", {}};
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            FakeDisk disk = machine();
            const VerdictGrounds grounds = grounds_of(disk, k_quick, {});
            for (int number = 0; number < k_each; ++number) {
                store.keep(disk, environment(thread, number), grounds, {},
                           {"ok", "", "", "", k_now, k_quick});
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    FakeDisk disk = machine();
    int kept = 0;
    for (int thread = 0; thread < 4; ++thread) {
        for (int number = 0; number < k_each; ++number) {
            kept += store.find(disk, environment(thread, number), k_now) ? 1 : 0;
        }
    }
    CHECK(kept == 4 * k_each);
}

} // namespace
} // namespace cudaenv::probe
