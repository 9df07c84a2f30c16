#include "solver/facts/host_json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include <random>

namespace cudaenv::facts {
namespace {

using nlohmann::json;

// A random host: every member present or not, independently.
class RandomHost {
public:
    explicit RandomHost(unsigned seed) : m_random(seed) {}

    Host draw() {
        Host host;
        host.hostname = text();
        host.captured = coin() ? "2026-11-21T10:00:00Z" : "";
        if (coin()) {
            Driver driver;
            driver.version = version();
            driver.cuda = version();
            if (coin()) {
                driver.kind = coin() ? DriverKind::Open : DriverKind::Proprietary;
            }
            driver.derived = coin();
            driver.source = text();
            driver.measured = coin();
            host.driver = driver;
        }
        host.driver_absent = text();
        repeat([&] { host.gpus.push_back(gpu()); });
        host.gpus_absent = text();
        repeat([&] { host.toolkits.push_back(toolkit()); });
        repeat([&] {
            Compiler compiler;
            compiler.family = coin() ? CompilerFamily::Gcc : CompilerFamily::Clang;
            compiler.version = version().value_or(DottedVersion::of("9.4.0"));
            compiler.path = "/usr/bin/" + text();
            compiler.source = text();
            compiler.is_default = coin();
            host.compilers.push_back(compiler);
        });
        host.glibc = version();
        host.machine = text();
        host.kernel = text();
        host.distribution = text();
        host.platform = {coin(), text(), coin()};
        repeat([&] {
            CondaInstall install;
            install.kind = "conda";
            install.path = text();
            if (coin()) {
                install.version = "26.7.1";
            }
            install.source = text();
            host.conda.push_back(install);
        });
        host.sources = map();
        host.absent = map();
        repeat([&] { host.notes.push_back(text()); });
        if (coin()) {
            Measured measured;
            measured.verdict = text();
            measured.summary = text();
            measured.at = text();
            measured.driver_cuda = version();
            repeat([&] {
                const Gpu drawn = gpu();
                measured.gpus.push_back({drawn.name, drawn.uuid, drawn.compute_capability});
            });
            measured.runtime = version();
            repeat([&] { measured.failed.push_back({text(), text(), text(), text()}); });
            host.measured = measured;
        }
        return host;
    }

private:
    unsigned below(unsigned limit) {
        return std::uniform_int_distribution<unsigned>(0, limit - 1)(m_random);
    }
    bool coin() { return below(2) == 1; }
    template <typename F>
    void repeat(F action) {
        for (unsigned i = below(4); i > 0; --i) {
            action();
        }
    }
    std::string text() {
        static const std::vector<std::string> k_texts = {"",
                                                         "NVML",
                                                         "a \"quoted\" \\ path/with~tilde",
                                                         "Gr\xc3\xbc\xc3\x9f"
                                                         "e",
                                                         "\n\t\x01",
                                                         "{[,:]}"};
        return k_texts[below(static_cast<unsigned>(k_texts.size()))];
    }
    std::optional<DottedVersion> version() {
        static const std::vector<const char*> k_versions = {"11.3", "450.80.02", "4294967295", "8"};
        if (coin()) {
            return std::nullopt;
        }
        return DottedVersion::of(k_versions[below(static_cast<unsigned>(k_versions.size()))]);
    }
    std::optional<int> major() {
        return coin() ? std::optional(static_cast<int>(below(30))) : std::nullopt;
    }
    std::map<std::string, std::string> map() {
        std::map<std::string, std::string> drawn;
        repeat([&] { drawn["key/" + std::to_string(below(9)) + "~"] = "a source"; });
        return drawn;
    }
    Gpu gpu() {
        Gpu gpu;
        gpu.index = static_cast<int>(below(16));
        gpu.name = text();
        gpu.uuid = text();
        if (coin()) {
            gpu.compute_capability =
                ComputeCapability{static_cast<int>(below(13)), static_cast<int>(below(10))};
        }
        gpu.pci_device = coin() ? "0x2204" : "";
        if (coin()) {
            gpu.memory_bytes = (std::uint64_t{1} << 63U) + below(100);
        }
        gpu.mig = coin();
        gpu.source = text();
        gpu.last_driver_branch = version();
        return gpu;
    }
    Toolkit toolkit() {
        Toolkit toolkit;
        toolkit.path = "/usr/local/cuda-" + text();
        toolkit.version = version();
        toolkit.nvcc = coin();
        toolkit.gcc_min = major();
        toolkit.gcc_max = major();
        toolkit.clang_min = major();
        toolkit.clang_max = major();
        toolkit.cudnn = version();
        toolkit.cudnn_library = version();
        toolkit.nccl = version();
        toolkit.nccl_library = version();
        toolkit.problem = text();
        toolkit.source = text();
        repeat([&] { toolkit.aliases.push_back(text()); });
        toolkit.sources = map();
        toolkit.absent = map();
        repeat([&] { toolkit.warnings.push_back(text()); });
        return toolkit;
    }

    std::mt19937 m_random;
};

TEST_CASE("a host written and read again is the same host") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        INFO("seed " << seed);
        const auto written = to_json(RandomHost(seed).draw());
        for (const int indent : {-1, 2}) {
            const auto read = parse_host(written.dump(indent), "facts.json");
            if (!read) {
                FAIL(read.error().message << " line " << read.error().line);
            }
            // The writer names every member, so equal JSON means equal hosts.
            REQUIRE(to_json(*read) == written);
        }
    }
}

TEST_CASE("what is written has the keys that the command line promises") {
    Host host;
    host.gpus.resize(1);
    host.toolkits.resize(1);
    host.compilers.resize(1);
    host.conda.resize(1);
    host.driver = Driver{};
    const auto written = to_json(host);
    const auto has = [](const json& object, std::initializer_list<const char*> keys) {
        for (const auto* key : keys) {
            INFO(key);
            CHECK(object.contains(key));
        }
    };
    CHECK(written["schema"] == "cudaenv.host/1");
    has(written, {"hostname", "captured", "driver", "driver_absent", "gpus", "gpus_absent",
                  "toolkits", "compilers", "glibc", "machine", "kernel", "platform", "conda"});
    has(written["driver"], {"version", "cuda", "kind", "derived", "source"});
    has(written["gpus"][0], {"index", "name", "uuid", "compute_capability", "pci_device",
                             "memory_bytes", "mig", "source"});
    has(written["toolkits"][0], {"path", "version", "nvcc", "gcc_min", "gcc_max", "clang_max",
                                 "cudnn", "cudnn_library", "nccl", "problem", "source"});
    has(written["compilers"][0], {"family", "version", "path", "source"});
    has(written["platform"], {"wsl", "container", "jetson"});
    has(written["conda"][0], {"kind", "path", "version"});
    CHECK(written["driver"]["kind"].is_null());
    CHECK(written["driver_absent"].is_null());
}

TEST_CASE("a facts file needs nothing but its schema") {
    const auto read = parse_host(R"({"schema": "cudaenv.host/1"})", "f");
    REQUIRE(read);
    CHECK_FALSE(read->driver);
    CHECK(read->driver_absent.empty()); // unknown, not absent
    CHECK(read->gpus.empty());
}

TEST_CASE("a facts file from before anything was measured says that nothing was") {
    const auto read = parse_host(
        R"({"schema": "cudaenv.host/1", "driver": {"cuda": "12.4", "derived": true}})", "f");
    REQUIRE(read);
    CHECK_FALSE(read->measured);
    CHECK_FALSE(read->driver->measured);
    CHECK(to_json(*read)["measured"].is_null());
}

TEST_CASE("keys that are not known are ignored") {
    const auto read = parse_host(
        R"({"schema": "cudaenv.host/1", "colour": [1], "driver": {"cuda": "12.4", "mood": {}}})",
        "f");
    REQUIRE(read);
    CHECK(read->driver->cuda->str() == "12.4");
    CHECK_FALSE(read->driver->version);
}

TEST_CASE("a GPU without an index takes its place in the list") {
    const auto read = parse_host(
        R"({"schema": "cudaenv.host/1", "gpus": [{}, {"compute_capability": "8.6"}]})", "f");
    REQUIRE(read);
    CHECK(read->gpus[1].index == 1);
}

struct Bad {
    const char* text;
    const char* says; // part of the message
    int line;
    int column;
};

TEST_CASE("a malformed facts file is refused with its place and what would be right") {
    const auto bad = GENERATE(
        Bad{"", "not JSON", 1, 1}, Bad{"{", "not JSON", 1, 2},
        Bad{"{\n  \"schema\" 1}", "not JSON", 2, 12},
        Bad{"[1]", "the whole document: is an array", 1, 1}, Bad{"{}", "`schema` is missing", 1, 1},
        Bad{"{\"schema\": 1}", "/schema: is 1", 1, 12},
        Bad{"{\"schema\": \"cudaenv.host/2\"}", "/schema: is \"cudaenv.host/2\"", 1, 12},
        Bad{"{\"schema\": \"cudaenv.host/1\",\n \"driver\": {\"cuda\": 12.4}}",
            "/driver/cuda: is 12.4", 2, 21},
        Bad{"{\"schema\": \"cudaenv.host/1\",\n \"driver\": {\"cuda\": \"twelve\"}}",
            "/driver/cuda: is \"twelve\"", 2, 21},
        Bad{"{\"schema\": \"cudaenv.host/1\",\n \"driver\": \"470\"}", "/driver: is \"470\"", 2,
            12},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"driver\": {\"kind\": \"shut\"}}", "/driver/kind", 1,
            49},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"gpus\": {}}", "/gpus: is an object", 1, 38},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"gpus\":\n[{}, 7]}", "/gpus/1: is 7", 2, 6},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"gpus\":\n[{}, {\"compute_capability\": 8.6}]}",
            "/gpus/1/compute_capability: is 8.6", 2, 29},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"gpus\": [{\"memory_bytes\": -1}]}",
            "/gpus/0/memory_bytes: is -1", 1, 56},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"toolkits\": [{\"nvcc\": true}]}",
            "/toolkits/0: `path` is missing", 1, 43},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"toolkits\": [{\"path\": \"/c\", \"nvcc\": "
            "\"yes\"}]}",
            "/toolkits/0/nvcc: is \"yes\"", 1, 66},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"compilers\": [{\"family\": \"icc\"}]}",
            "/compilers/0/family: is \"icc\"", 1, 55},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"compilers\": [{\"family\": \"gcc\"}]}",
            "/compilers/0: `version` is missing", 1, 44},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"notes\": [1]}", "/notes/0: is 1", 1, 40},
        Bad{"{\"schema\": \"cudaenv.host/1\", \"platform\": {\"wsl\": 1}}", "/platform/wsl", 1,
            50});
    INFO(bad.text);
    const auto read = parse_host(bad.text, "/p/host.json");
    REQUIRE_FALSE(read);
    const auto& error = read.error();
    INFO(error.message);
    CHECK(error.message.find(bad.says) != std::string::npos);
    CHECK(error.message.find('\n') == std::string::npos);
    CHECK(error.path == "/p/host.json");
    CHECK(error.line == bad.line);
    CHECK(error.column == bad.column);
    CHECK_FALSE(error.hint.empty());
    CHECK(error.kind == ErrorKind::BadInput);
}

TEST_CASE("a facts file cut anywhere is refused, never half read") {
    const std::string whole = to_json(RandomHost(7).draw()).dump(1);
    REQUIRE(parse_host(whole, "f"));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto read = parse_host(std::string_view(whole).substr(0, length), "f");
        INFO("cut at " << length);
        REQUIRE_FALSE(read);
        CHECK(read.error().line > 0);
        CHECK(read.error().column > 0);
    }
}

TEST_CASE("every value replaced by another type is either refused with its pointer or ignored") {
    const json whole = to_json(RandomHost(12).draw());
    const json flat = whole.flatten();
    for (const auto& [pointer, value] : flat.items()) {
        json changed = whole;
        changed[json::json_pointer(pointer)] = json::array({json::array()});
        const auto read = parse_host(changed.dump(), "f");
        INFO(pointer);
        if (read) {
            CHECK((value.is_array() || value.is_object() || value.is_null()));
            continue;
        }
        CHECK(read.error().message.starts_with('/'));
    }
}

} // namespace
} // namespace cudaenv::facts
