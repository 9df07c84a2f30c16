// Any bytes as the files that cudaenv keeps for a user between runs: compilers.json, the memory of
// an environment and probes.json, once as they are and once as the part of the file that belongs to
// this environment. Read or ignored; what was read is written and read again as it was, and what is
// added is found.
#include "check/memory/environment_memory.hpp"
#include "host/probe/verdict_store.hpp"
#include "host/version_cache.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/fake_disk.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace cudaenv;
using namespace cudaenv::host;
using namespace cudaenv::memory;
using namespace cudaenv::probe;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t k_now = 1'790'000'000;

// For the stores of this process; in memory where that is possible, since a disk's file system
// flushes each file that replaces another.
class Scratch {
public:
    Scratch() {
        const fs::path memory = "/dev/shm";
        const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
        std::string pattern =
            (has_memory ? memory : fs::temp_directory_path()) / "cudaenv-fuzz-XXXXXX";
        require(::mkdtemp(pattern.data()) != nullptr);
        m_path = pattern;
        ::umask(S_IWGRP | S_IWOTH); // else nothing of it is believed
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored; // what is left is small
        fs::remove_all(m_path, ignored);
    }
    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

const std::string& directory() {
    static const Scratch scratch;
    return scratch.path();
}

void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

json document_in(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

// The part of a document before and behind the one value that `mark` stands for.
struct Frame {
    std::string before;
    std::string behind;

    Frame(const json& document, const json& mark) {
        const std::string text = document.dump();
        const std::string value = mark.dump();
        const std::size_t at = text.find(value);
        require(at != std::string::npos);
        before = text.substr(0, at);
        behind = text.substr(at + value.size());
    }
    [[nodiscard]] std::string around(const std::string& text) const {
        return before + text + behind;
    }
};

const json k_mark = "the fuzzer's bytes";

void check_versions(const std::string& text) {
    const std::string path = directory() + "/compilers.json";
    put(path, text);
    const VersionCache before(directory(), k_now);
    VersionCache cache(directory(), k_now);
    cache.keep("added", {"12.2.0", "why"});
    cache.save();
    const VersionCache after(directory(), k_now);
    const auto added = after.find("added");
    require(added && added->version == "12.2.0" && added->reason == "why");
    const auto same = [](const std::optional<KeptVersion>& one,
                         const std::optional<KeptVersion>& other) {
        return one.has_value() == other.has_value() &&
               (!one || (one->version == other->version && one->reason == other->reason));
    };
    const json written = document_in(path);
    for (const auto& [key, entry] : written.at("entries").items()) {
        require(key == "added" || same(before.find(key), after.find(key)));
    }
}

bool same(const facts::SeenDistribution& one, const facts::SeenDistribution& other) {
    return one.name == other.name && one.version == other.version && one.origin == other.origin &&
           one.source == other.source && one.metadata == other.metadata &&
           one.installed_ns == other.installed_ns && one.gone_ns == other.gone_ns &&
           one.files == other.files && one.pure == other.pure;
}

void check_memory_file(const EnvironmentMemories& memories, const std::string& prefix) {
    const EnvironmentMemory memory = memories.read(prefix);
    for (const facts::SeenDistribution& seen : memory.seen) {
        require(!seen.name.empty());
    }
    require(memories.write(prefix, memory));
    const EnvironmentMemory again = memories.read(prefix);
    require(again.stamp == memory.stamp && again.reported == memory.reported);
    require(std::ranges::equal(again.seen, memory.seen, same));
    require(std::ranges::equal(
        again.unsaid, memory.unsaid, [](const UnsaidFinding& one, const UnsaidFinding& other) {
            return one.key == other.key && one.code == other.code && one.line == other.line;
        }));
}

void check_memory(const std::string& text) {
    const EnvironmentMemories memories(directory());
    const std::string prefix = directory() + "/environment";
    static const std::string path = [&] {
        require(memories.write(prefix, {}));
        return fs::directory_iterator(directory() + "/environments")->path().string();
    }();
    // "identity", then what the fuzzer says, then "schema".
    static const Frame frame = [&] {
        json document = document_in(path);
        document = {{"identity", document.at("identity")},
                    {"mark", k_mark},
                    {"schema", document.at("schema")}};
        Frame around(document, k_mark);
        around.before.resize(around.before.rfind(R"("mark":)"));
        return around;
    }();
    put(path, text);
    check_memory_file(memories, prefix);
    put(path, frame.around(text));
    check_memory_file(memories, prefix);
}

test::FakeDisk machine() {
    test::FakeDisk disk;
    disk.file("/proc/sys/kernel/random/boot_id", "b1\n")
        .file("/proc/driver/nvidia/version", "Kernel Module  580.95.05")
        .file("/proc/sys/kernel/hostname", "node1\n")
        .directory("/proc/driver/nvidia/gpus/0000:01:00.0")
        .file("/e/lib/libcudart.so.13", "13");
    return disk;
}

void check_verdict_file(const VerdictStore& store, const VerdictQuestion& question) {
    test::FakeDisk disk = machine();
    const auto holds = [&](const KeptVerdict& found) { return !is_out_of_time(found, k_now); };
    const auto found = store.find(disk, question, k_now);
    require(!found || holds(*found));
    const auto bad =
        VerdictReader(disk, store).find(question, k_now, VerdictReader::Wanted::NotWell);
    require(!bad || (holds(*bad) && !is_well(*bad)));
    require(!found || is_well(*found) || bad);

    const KeptVerdict added{"fails", "runtime", "CE322", "the driver is too old", k_now};
    const std::vector<std::string> rests_on{"/e/lib/libcudart.so.13"};
    require(store.keep(disk, question, grounds_of(disk, added.depth, rests_on), rests_on, added));
    const auto now = store.find(disk, question, k_now);
    require(now && holds(*now) && !is_well(*now) && now->at <= k_now);
    require(store.text().size() <= VerdictStore::k_size_limit);
}

void check_verdicts(const std::string& text) {
    const VerdictStore store(directory());
    const VerdictQuestion question{"/e", "CUDA_VISIBLE_DEVICES=0\n", "PATH=/usr/bin\n", {}};
    const std::string path = directory() + "/probes.json";
    // The verdicts of the one entry.
    static const Frame frame = [&] {
        put(path, "");
        check_verdict_file(store, question);
        json document = document_in(path);
        document.at("environments").front().at("verdicts") = k_mark;
        return Frame(document, k_mark);
    }();
    put(path, text);
    check_verdict_file(store, question);
    put(path, frame.around(text));
    check_verdict_file(store, question);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    // The fuzzer's bytes are text here; the first chooses the store.
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 3) {
    case 0:
        check_versions(text);
        break;
    case 1:
        check_memory(text);
        break;
    default:
        check_verdicts(text);
        break;
    }
    return 0;
}
