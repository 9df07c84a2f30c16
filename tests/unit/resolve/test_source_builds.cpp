// What is compiled here: the commands work when pasted, and what is missing for them is said.
#include "hosts.hpp"
#include "solver/resolve/resolve.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace cudaenv;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using test::HostBuilder;
using test::words_of;

namespace {

resolve::Outcome outcome_of(std::vector<std::string> specs, const facts::Host& host,
                            const std::string& cuda, pins::Purpose purpose = pins::Purpose::Run) {
    resolve::Request request;
    for (std::string& spec : specs) {
        request.specs.push_back({std::move(spec), "argument 1"});
    }
    request.pins.push_back({"cuda", cuda, "--cuda"});
    request.purpose = purpose;
    request.manager = resolve::ManagerChoice::Pip;
    auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    REQUIRE(outcome->solved());
    return *std::move(outcome);
}

HostBuilder h100() {
    return HostBuilder().driver("550.54.15").gpu("H100", "9.0");
}

bool has(const resolve::Outcome& outcome, std::string_view code) {
    return std::ranges::count(outcome.warnings, code, &facts::Finding::code) +
               std::ranges::count(outcome.missing, code, &facts::Finding::code) >
           0;
}

} // namespace

TEST_CASE(
    "apex is built with the nvcc of torch's CUDA, in a venv that has what its build imports") {
    auto host = h100().toolkit("12.4.131").gcc("12.2.0").host();
    host.compilers.front().is_default = true;
    const auto outcome = outcome_of({"apex", "torch==2.6.0"}, host, "12.4");
    REQUIRE(outcome.commands.size() == 4);
    CHECK(outcome.commands[2] ==
          ".venv/bin/python -m pip install 'setuptools<82' wheel packaging ninja");
    CHECK(outcome.commands[3] ==
          "CUDA_HOME=/usr/local/cuda-12.4 MAX_JOBS=4 APEX_CPP_EXT=1 APEX_CUDA_EXT=1 "
          ".venv/bin/python -m pip install --no-build-isolation "
          "git+https://github.com/NVIDIA/apex");
    CHECK_FALSE(has(outcome, "CE210"));
    CHECK_FALSE(has(outcome, "CE221"));
    CHECK_FALSE(has(outcome, "CE224"));
}

TEST_CASE("where the default compiler is refused, a build names the one that fits") {
    auto host = h100().toolkit("12.4.131").gcc("14.2.0").gcc("12.2.0").host();
    host.compilers.front().is_default = true;
    const auto outcome = outcome_of({"flash-attn", "torch==2.6.0"}, host, "12.4");
    CHECK_THAT(outcome.commands.back(),
               StartsWith("CUDA_HOME=/usr/local/cuda-12.4 CC=/usr/bin/gcc-12 CXX=/usr/bin/g++-12 "
                          "NVCC_CCBIN=/usr/bin/g++-12 MAX_JOBS=4 "));
}

TEST_CASE("without an nvcc a build says so, and names the one that the fix installs") {
    auto host = h100().gcc("12.2.0").host();
    host.compilers.front().is_default = true;
    const auto outcome = outcome_of({"flash-attn", "torch==2.6.0"}, host, "12.4");
    CHECK(has(outcome, "CE221"));
    CHECK_FALSE(has(outcome, "CE210"));
    CHECK_THAT(outcome.commands.back(), StartsWith("CUDA_HOME=$HOME/cuda-12.4 "));
}

TEST_CASE("without a compiler that nvcc accepts a build says so") {
    auto host = h100().toolkit("12.4.131").gcc("15.2.0").host();
    CHECK(has(outcome_of({"flash-attn", "torch==2.6.0"}, host, "12.4"), "CE223"));
}

TEST_CASE("an nvcc of another minor builds flash-attn, and apex refuses it") {
    auto host = h100().toolkit("12.8.93").gcc("12.2.0").host();
    host.compilers.front().is_default = true;
    for (const auto purpose : {pins::Purpose::Run, pins::Purpose::Build}) {
        const auto apex = outcome_of({"apex", "torch==2.6.0"}, host, "12.4", purpose);
        CHECK_THAT(words_of(apex),
                   ContainsSubstring("CE222 apex does not build with nvcc 12.8.93: torch has CUDA "
                                     "12.4"));
        CHECK_FALSE(has(apex, "CE205"));
        CHECK_FALSE(apex.toolkit); // no tick for what the build refuses
        const auto flash = outcome_of({"flash-attn", "torch==2.6.0"}, host, "12.4", purpose);
        CHECK(has(flash, "CE205"));
        CHECK_FALSE(has(flash, "CE222"));
        CHECK_THAT(flash.commands.back(), StartsWith("CUDA_HOME=/usr/local/cuda-12.8 "));
    }
}

TEST_CASE("apex for an older torch is an older tag, and the answer says why") {
    const auto outcome = outcome_of({"apex", "torch==2.4.1"},
                                    h100().toolkit("12.4.131").gcc("12.2.0").host(), "12.4");
    CHECK(has(outcome, "CE224"));
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("github.com/NVIDIA/apex@25.09"));
}

TEST_CASE("a project's own page of wheels for this torch and CUDA comes before a build") {
    const auto outcome = outcome_of({"torch-scatter", "torch==2.6.0"}, h100().host(), "12.4");
    CHECK(outcome.commands.back() ==
          ".venv/bin/python -m pip install -f "
          "https://data.pyg.org/whl/torch-2.6.0+cu124.html torch-scatter==2.1.2");
    CHECK_FALSE(has(outcome, "CE221"));
}

TEST_CASE("an extra that is compiled here is installed without isolation, whoever names it") {
    auto host = HostBuilder()
                    .driver("580.95.05")
                    .gpu("NVIDIA B200", "10.0")
                    .toolkit("12.8.93")
                    .gcc("12.2.0")
                    .host();
    host.compilers.front().is_default = true;
    for (const char* const spec : {"transformer-engine[pytorch]", "transformer-engine"}) {
        const auto outcome = outcome_of({spec, "torch==2.7.1"}, host, "12.8");
        CHECK_THAT(outcome.commands.back(),
                   ContainsSubstring("--no-build-isolation 'transformer-engine[pytorch]=="));
    }
}
