#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

// torch 2.8.0+cu128 of an index on a machine of which all is known.
struct Machine {
    ContextBuilder env;
    facts::EnvironmentFacts environment;
    facts::Host host;
    facts::Toolkit toolkit;

    explicit Machine(const std::string& torch = "2.8.0+cu128", const std::string& cuda = "12.8") {
        wheel(env, "torch", torch);
        environment.prefix = "/env";
        environment.frameworks = {
            {"torch", torch, DottedVersion::of(cuda), false, "/env/torch/version.py"}};
        toolkit.path = "/usr/local/cuda-12.8";
        toolkit.version = DottedVersion::of("12.8.93");
        toolkit.nvcc = true;
        host.toolkits = {toolkit};
        env.environment = &environment;
        env.host = &host;
        env.toolkit = &toolkit;
        driver("580.65.06");
        gpu("NVIDIA H200", {9, 0});
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine() = default;

    facts::Driver& driver(const std::string& version) {
        host.driver.emplace();
        host.driver->version = DottedVersion::of(version);
        host.driver->source = "/proc/driver/nvidia/version";
        return *host.driver;
    }
    void gpu(const std::string& name, ComputeCapability capability) {
        facts::Gpu found;
        found.index = static_cast<int>(host.gpus.size());
        found.name = name;
        found.compute_capability = capability;
        host.gpus.push_back(found);
    }
};

TEST_CASE("an environment that fits its machine has no finding") {
    Machine machine;
    SECTION("as it is") {}
    SECTION("with a toolkit of another minor") {
        machine.toolkit.version = DottedVersion::of("12.4.131");
    }
    SECTION("where the driver is not known") {
        machine.host.driver.reset();
        machine.host.gpus.clear();
    }
    SECTION("where the chosen toolkit has no nvcc, and is of another major") {
        machine.toolkit.version = DottedVersion::of("13.0.88");
        machine.toolkit.nvcc = false;
    }
    SECTION("where nothing of the machine was looked at") {
        machine.env.host = nullptr;
    }
    SECTION("where a GPU's capability is unknown") {
        machine.host.gpus.push_back({});
    }
    SECTION("on Jetson, whose driver is numbered otherwise") {
        machine.driver("36.4.0");
        machine.host.platform.jetson = true;
    }
    SECTION("on WSL, whose driver is Windows' own") {
        machine.driver("522.25");
        machine.host.platform.wsl = true;
    }
    CHECK(machine.env.codes().empty());
}

TEST_CASE("a toolkit of another CUDA major than torch is a warning that says what refuses") {
    Machine machine;
    machine.toolkit.version = DottedVersion::of("13.0.88");
    machine.toolkit.path = "/usr/local/cuda-13.0";
    const auto found = machine.env.found();
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(finding.code == "CE140");
    CHECK(finding.severity == facts::Severity::Warning);
    CHECK(
        is_case(finding, "", {{"torch", "2.8.0+cu128"}, {"cuda", "12.8"}, {"toolkit", "13.0.88"}}));
    CHECK(finding.evidence[1].path == "/usr/local/cuda-13.0");
    CHECK(finding.fix->command == "cudaenv pin 12.8");
    // The pin that is to be changed may be the environment's own.
    for (const std::string file : {"conda-meta/cudaenv.toml", "cudaenv.toml"}) {
        machine.env.cuda_origin = "/env/" + file + " line 2";
        CHECK(machine.env.found("CE140").at(0).finding.fix->command == "cudaenv pin -p /env 12.8");
    }
    machine.env.cuda_origin = "/home/me/code/cudaenv.toml line 2";
    CHECK(machine.env.found("CE140").at(0).finding.fix->command == "cudaenv pin 12.8");
}

TEST_CASE("a driver below the floor of the runtime's family is an error") {
    Machine machine;
    machine.driver("470.199.02");
    SECTION("by the table") {
        const auto found = machine.env.found();
        REQUIRE(found.size() == 1);
        const auto& finding = found[0].finding;
        CHECK(finding.code == "CE141");
        CHECK(finding.severity == facts::Severity::Error);
        CHECK(is_case(finding, "",
                      {{"build", "torch 2.8.0+cu128"},
                       {"cuda", "12.8"},
                       {"floor", "525.60.13"},
                       {"driver", "470.199.02"}}));
        CHECK(finding.evidence[0].path == "/env/torch/version.py");
        CHECK(finding.evidence[1].text == "driver 470.199.02 gives CUDA 11.4");
    }
    SECTION("by what the driver itself says") {
        machine.host.driver->cuda = DottedVersion::of("11.4");
        const auto found = machine.env.found("CE141");
        REQUIRE(found.size() == 1);
        // No torch is built for 11.4.
        CHECK(found[0].finding.fix->command == "cudaenv resolve torch");
    }
    SECTION("of a runtime without a framework") {
        machine.environment.frameworks.clear();
        machine.environment.runtime = {"cudatoolkit", DottedVersion::of("12.4"), "/env/record"};
        const auto found = machine.env.found("CE141");
        REQUIRE(found.size() == 1);
        CHECK(found[0].subject == "cudatoolkit");
    }
}

TEST_CASE("a driver too old for JAX names the plugin, and says nothing of torch") {
    Machine machine("0.8.2", "13");
    machine.env.inventory.distributions.clear();
    wheel(machine.env, "jaxlib", "0.8.2");
    wheel(machine.env, "jax-cuda13-plugin", "0.8.2");
    machine.environment.frameworks = {
        {"jaxlib", "0.8.2", DottedVersion::of("13"), false, "/env/jax_cuda13_plugin"}};
    machine.driver("550.54.15");
    const auto found = machine.env.found("CE141");
    REQUIRE(found.size() == 1);
    CHECK(is_case(found[0], "", {{"build", "jax-cuda13-plugin 0.8.2"}, {"jax", "yes"}}));
    CHECK(found[0].finding.cause.find("torch") == std::string::npos);
    CHECK(found[0].finding.fix->command ==
          "/env/bin/python -m pip uninstall -y jax-cuda13-plugin && /env/bin/python -m pip "
          "install 'jax-cuda12-plugin[with-cuda]==0.8.2'");
}

TEST_CASE("a pinned CUDA whose nvcc torch refuses is one warning, with or without a toolkit") {
    Machine machine;
    machine.env.cuda = "11.8";
    machine.env.cuda_origin = "/code/cudaenv.toml line 1";
    const auto found = machine.env.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.code == "CE140");
    CHECK(is_case(found[0], "pin", {{"cuda", "12.8"}, {"pin", "11.8"}}));
    CHECK(found[0].finding.fix->command == "cudaenv pin 12.8");
    SECTION("the toolkit shows it") {
        machine.toolkit.version = DottedVersion::of("11.8.89");
        CHECK(machine.env.codes() == Codes{"CE140"});
        CHECK(is_case(machine.env.found().at(0), ""));
    }
    SECTION("of the same major it builds") {
        machine.env.cuda = "12.4";
        CHECK(machine.env.codes().empty());
    }
    SECTION("a range or a word names no CUDA") {
        for (const char* const pin : {"cpu", ">=11", "11.*"}) {
            machine.env.cuda = pin;
            CHECK(machine.env.codes().empty());
        }
    }
    SECTION("at a prompt nothing is said") {
        CHECK(machine.env.codes(CheckDepth::Records).empty());
    }
}

TEST_CASE("what was measured wins over the table") {
    Machine machine;
    machine.driver("470.199.02"); // with cuda-compat
    machine.host.measured.emplace();
    SECTION("the driver gives enough") {
        machine.host.measured->driver_cuda = DottedVersion::of("12.9");
        CHECK(machine.env.codes().empty());
    }
    SECTION("the driver gives the major") {
        machine.host.measured->driver_cuda = DottedVersion::of("12.2");
        CHECK(machine.env.codes() == Codes{"CE142"});
    }
    SECTION("the GPUs are others") {
        machine.host.measured->driver_cuda = DottedVersion::of("12.9");
        machine.host.measured->gpus = {{"NVIDIA V100", "", ComputeCapability{7, 0}}};
        CHECK(machine.env.codes().empty());
        machine.host.measured->gpus = {{"GTX 1080 Ti", "", ComputeCapability{6, 1}}};
        CHECK(machine.env.codes() == Codes{"CE143"});
    }
}

TEST_CASE("a driver above the floor and below the toolkit's own minimum is a warning") {
    Machine machine;
    machine.driver("550.54.15");
    SECTION("by the table") {
        const auto found = machine.env.found();
        REQUIRE(found.size() == 1);
        CHECK(found[0].finding.code == "CE142");
        CHECK(found[0].finding.severity == facts::Severity::Warning);
        CHECK(is_case(found[0], "driver-cuda", {{"driver", "driver 550.54.15"}}));
    }
    SECTION("by what the driver itself says") {
        machine.host.driver->cuda = DottedVersion::of("12.4");
        const auto found = machine.env.found();
        REQUIRE(found.size() == 1);
        CHECK(
            is_case(found[0], "driver-cuda", {{"gives", "12.4"}, {"driver", "driver 550.54.15"}}));
    }
    SECTION("a driver that says it gives as much is enough") {
        machine.host.driver->cuda = DottedVersion::of("12.8");
        CHECK(machine.env.codes().empty());
    }
    SECTION("a build for a whole major") {
        machine.environment.frameworks = {
            {"cupy", "13.4.0", DottedVersion::of("12"), false, "/env/cupy"}};
        CHECK(machine.env.codes().empty());
    }
}

TEST_CASE("a GPU without code is an error where all are, else a warning") {
    Machine machine;
    machine.host.gpus.clear();
    machine.gpu("GTX 1080 Ti", {6, 1});
    SECTION("all") {
        const auto found = machine.env.found();
        REQUIRE(found.size() == 1);
        CHECK(found[0].finding.code == "CE143");
        CHECK(found[0].finding.severity == facts::Severity::Error);
        CHECK(is_case(found[0], "", {{"torch", "2.8.0+cu128"}, {"gpus", "GTX 1080 Ti (sm_61)"}}));
    }
    SECTION("one of two") {
        machine.gpu("RTX 4090", {8, 9});
        CHECK(machine.env.found("CE143").at(0).finding.severity == facts::Severity::Warning);
    }
}

TEST_CASE("of builds that no table has read nothing is said about GPUs") {
    const auto without_finding = [](const std::string& torch) {
        Machine machine(torch);
        machine.host.gpus.clear();
        machine.gpu("GTX 1080 Ti", {6, 1});
        return machine.env.found("CE143").empty();
    };
    CHECK(without_finding("2.8.0a0+git1234567"));
    CHECK(without_finding("9.9.0+cu128"));
    CHECK_FALSE(without_finding("2.8.0+cu128"));
}

TEST_CASE("conda-forge's torch is built for GPUs of its own choice") {
    Machine machine;
    machine.env.inventory.distributions.clear();
    machine.env.inventory.conda.clear();
    auto& package = conda_torch(machine.env, "pytorch", "2.8.0", "cuda128_generic_py311h1234_200");
    machine.host.gpus.clear();
    machine.gpu("GTX 1080 Ti", {6, 1});
    package.channel = "https://example.invalid/conda-forge";
    machine.environment.frameworks[0].version = "2.8.0";
    CHECK(machine.env.found("CE143").empty());
}

TEST_CASE("what must be compiled is a finding only without nvcc") {
    Machine machine;
    machine.env.toolkit = nullptr;
    machine.host.toolkits.clear();
    SECTION("a requirement that comes as source alone") {
        wheel(machine.env, "my-model", "1.0", {"flash-attn>=2"});
        const auto found = machine.env.found();
        REQUIRE(found.size() == 1);
        CHECK(found[0].finding.code == "CE150");
        CHECK(found[0].finding.severity == facts::Severity::Warning);
        CHECK(is_case(found[0], "requirement",
                      {{"name", "my-model"}, {"needs", "flash-attn"}, {"cuda", "12.8"}}));
        CHECK_FALSE(found[0].finding.fix->command.empty());
    }
    SECTION("it is installed") {
        wheel(machine.env, "my-model", "1.0", {"flash-attn>=2"});
        wheel(machine.env, "flash-attn", "2.8.0");
        CHECK(machine.env.codes().empty());
    }
    SECTION("an extra of it") {
        wheel(machine.env, "my-model", "1.0", {"flash-attn>=2; extra == \"fast\""});
        CHECK(machine.env.codes().empty());
    }
    SECTION("an nvcc is on the machine") {
        wheel(machine.env, "my-model", "1.0", {"flash-attn>=2"});
        machine.host.toolkits = {machine.toolkit};
        CHECK(machine.env.codes().empty());
    }
    SECTION("an nvcc is in the environment") {
        wheel(machine.env, "my-model", "1.0", {"flash-attn>=2"});
        machine.environment.toolkits = {machine.toolkit};
        CHECK(machine.env.codes().empty());
    }
    SECTION("an editable extension with CUDA code is a note") {
        auto& apex = wheel(machine.env, "apex", "0.1");
        apex.direct_url = facts::DirectUrl{};
        apex.direct_url->editable = true;
        apex.direct_url->local_directory = "/src/apex";
        facts::ExtensionModule module;
        module.path = "/src/apex/apex_C.cpython-311-x86_64-linux-gnu.so";
        module.distribution = 1;
        module.needed = {"libc10.so", "libc10_cuda.so", "libcudart.so.12"};
        machine.env.extensions = {module};
        CHECK(machine.env.found("CE150").at(0).finding.severity == facts::Severity::Note);
        machine.env.extensions[0].needed = {"libc10.so"};
        CHECK(machine.env.codes().empty());
    }
}

} // namespace
} // namespace cudaenv::rules::testing
