#include "check/rules/foreign_modules.hpp"
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

constexpr const char* k_new_abi =
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
constexpr const char* k_old_abi = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs";

// apex of a repository, beside torch 2.8.0+cu126.
struct Apex {
    ContextBuilder env;
    std::string directory;

    explicit Apex(const std::string& torch = "2.8.0+cu126") {
        wheel(env, "torch", torch);
        auto& apex = wheel(env, "apex", "0.1");
        apex.direct_url = facts::DirectUrl{};
        apex.direct_url->url = "https://example.invalid/apex";
        apex.direct_url->vcs = "git";
        apex.direct_url->commit = "810ffae";
        directory = env.site() + '/';
    }
    facts::ExtensionModule& module(const std::string& name,
                                   const std::string& tag = "cpython-311-x86_64-linux-gnu") {
        facts::ExtensionModule found;
        found.path = directory + name + (tag.empty() ? "" : '.' + tag) + ".so";
        found.distribution = 1;
        found.needed = {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libcudart.so.12"};
        found.python_tag = tag;
        env.file(env.inventory.distributions[1], found.path, "module");
        env.extensions.push_back(found);
        return env.extensions.back();
    }
};

TEST_CASE("tags in the names of modules and directories say which Python they are for") {
    CHECK(python_tag_of("apex_C.cpython-311-x86_64-linux-gnu.so") ==
          "cpython-311-x86_64-linux-gnu");
    CHECK(python_tag_of("x.abi3.so") == "abi3");
    CHECK(python_tag_of("libx.so").empty());
    CHECK(python_tag_of("libx.so.1").empty());
    CHECK(python_tag_of("my.module.so").empty());
    CHECK(python_tag_of(".so").empty());
    CHECK(python_of_tag("cpython-311-x86_64-linux-gnu") == "3.11");
    CHECK(python_of_tag("cpython-36m-x86_64-linux-gnu") == "3.6");
    CHECK(python_of_tag("cpython-313t-x86_64-linux-gnu") == "3.13t");
    CHECK(python_of_tag("abi3").empty());
    CHECK(python_of_tag("pypy39-pp73-x86_64-linux-gnu").empty());
    CHECK(python_of_site("lib/python3.11/site-packages") == "3.11");
    CHECK(python_of_site("lib/python3.13t/site-packages") == "3.13t");
    CHECK(python_of_site("lib/python3/dist-packages").empty());
    CHECK(python_of_site("lib/python3.x/site-packages").empty());
    CHECK(module_stem("a/apex_C.cpython-311-x86_64-linux-gnu.so") == "a/apex_C");
    CHECK(module_stem("a/_C.so") == "a/_C");
}

TEST_CASE("modules that torch serves are no finding") {
    Apex apex;
    SECTION("for this Python") {
        apex.module("apex_C");
    }
    SECTION("for any Python from some on") {
        apex.module("apex_C", "abi3");
    }
    SECTION("without a tag") {
        apex.module("apex_C", "");
    }
    SECTION("for several Pythons side by side") {
        apex.module("apex_C", "cpython-310-x86_64-linux-gnu");
        apex.module("apex_C");
        apex.module("apex_C", "cpython-312-x86_64-linux-gnu");
    }
    SECTION("for another, with one for any beside it") {
        apex.module("apex_C", "cpython-310-x86_64-linux-gnu");
        apex.module("apex_C", "abi3");
    }
    SECTION("one that could not be read") {
        auto& module = apex.module("apex_C");
        module.problem = "is not an ELF file";
        module.needed = {"libcudart.so.11.0"};
        module.unresolved = {k_new_abi};
    }
    SECTION("with a runtime under a name of its own") {
        apex.module("apex_C").needed = {"libc10.so", "libcudart-d0da41ae.so.11.0"};
    }
    CHECK(apex.env.codes().empty());
}

TEST_CASE("an unresolved symbol of torch's is an error that names it readably") {
    Apex apex;
    apex.module("apex_C").unresolved = {k_new_abi};
    apex.module("amp_C").unresolved = {"_ZN2at4_ops4gone4callERKNS_6TensorE"};
    const auto found = apex.env.found();
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(finding.code == "CE110");
    CHECK(finding.severity == facts::Severity::Error);
    CHECK(is_case(finding, "symbol", {{"module", "apex 0.1"}, {"torch", "2.8.0+cu126"}}));
    REQUIRE(finding.evidence.size() == 2);
    CHECK(finding.evidence[0].path ==
          "/env/" + apex.directory + "apex_C.cpython-311-x86_64-linux-gnu.so");
    CHECK(
        finding.evidence[0].text.starts_with("undefined: c10::detail::torchCheckFail(char const*"));
    CHECK(finding.evidence[1].text == "undefined: at::_ops::gone::call(at::Tensor const&)");
    CHECK(finding.fix->command ==
          "/env/bin/python -m pip install --no-deps --no-build-isolation --force-reinstall "
          "--no-cache-dir git+https://example.invalid/apex@810ffae");
    CHECK(found[0].files.size() == 2);
}

TEST_CASE("what an index has compiled for another torch is compiled here") {
    Apex apex;
    auto& module = apex.module("apex_C");
    module.unresolved = {k_new_abi};
    auto& distribution = apex.env.inventory.distributions[module.distribution];
    distribution.direct_url.reset();
    CHECK(apex.env.found("CE110").at(0).finding.fix->command ==
          "/env/bin/python -m pip install --no-deps --no-build-isolation --force-reinstall "
          "--no-cache-dir --no-binary apex apex==0.1");

    // for another Python the index has another wheel
    module.unresolved.clear();
    module.python_tag = "cpython-310-x86_64-linux-gnu";
    module.path = apex.directory + "apex_C.cpython-310-x86_64-linux-gnu.so";
    distribution.files = {};
    distribution.tags = {"cp310-cp310-linux_x86_64"};
    const auto fix = *apex.env.found("CE112").at(0).finding.fix;
    CHECK(fix.command == "/env/bin/python -m pip install --no-deps --force-reinstall "
                         "--no-cache-dir apex==0.1");
    CHECK(is_case(apex.env.found("CE112").at(0), "", {{"reinstall", "yes"}}));
}

TEST_CASE("the other C++ ABI is named with both settings") {
    Apex apex;
    auto& module = apex.module("apex_C");
    SECTION("the module has the old one") {
        module.unresolved = {k_old_abi};
        module.asked_with_other_abi = k_old_abi;
        module.defined_with_other_abi = k_new_abi;
        const auto finding = apex.env.found("CE110").at(0).finding;
        CHECK(is_case(finding, "abi",
                      {{"module", "apex 0.1"}, {"module_abi", "0"}, {"torch_abi", "1"}}));
    }
    SECTION("the module has the new one") {
        module.unresolved = {k_new_abi};
        module.asked_with_other_abi = k_new_abi;
        module.defined_with_other_abi = k_old_abi;
        CHECK(is_case(apex.env.found("CE110").at(0), "abi",
                      {{"module_abi", "1"}, {"torch_abi", "0"}}));
    }
}

TEST_CASE("a torch library that this torch does not have is a finding") {
    Apex apex;
    apex.module("apex_C").missing_of_torch = {"libtorch_cuda_cpp.so"};
    const auto found = apex.env.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.code == "CE110");
    CHECK(found[0].finding.evidence[0].text == "needs libtorch_cuda_cpp.so");
}

TEST_CASE("a module that needs another CUDA's runtime is a finding") {
    Apex apex;
    apex.module("apex_C").needed = {"libc10.so", "libcudart.so.11.0"};
    facts::EnvironmentFacts facts;
    SECTION("which is not here") {
        const auto finding = apex.env.found().at(0).finding;
        CHECK(finding.code == "CE111");
        CHECK(finding.severity == facts::Severity::Error);
        CHECK(is_case(
            finding, "no-runtime",
            {{"module", "apex 0.1"}, {"cuda", "CUDA 11"}, {"torch", "built for CUDA 12.6"}}));
        CHECK(finding.evidence[0].text == "needs libcudart.so.11.0");
    }
    SECTION("which is here as well") {
        facts.sonames = {"libcudart.so.11.0"};
        apex.env.environment = &facts;
        CHECK(apex.env.found("CE111").at(0).finding.severity == facts::Severity::Warning);
    }
}

TEST_CASE("a module with CUDA beside a torch without is one finding") {
    Apex apex("2.8.0+cpu");
    auto& module = apex.module("apex_C");
    module.missing_of_torch = {"libc10_cuda.so"};
    module.unresolved = {"_ZN3c104cuda20getCurrentCUDAStreamEa"};
    const auto found = apex.env.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.code == "CE111");
    CHECK(is_case(found[0], "no-runtime",
                  {{"cuda", "CUDA"}, {"torch", "a CPU build"}, {"cpu_torch", "yes"}}));
}

TEST_CASE("a torch of unknown CUDA gives no finding about runtimes") {
    Apex apex("1.12.0a0+git664058f");
    apex.module("apex_C").needed = {"libc10.so", "libcudart.so.11.0"};
    CHECK(apex.env.codes().empty());
}

TEST_CASE("a module for only another Python is a finding") {
    Apex apex;
    apex.module("apex_C", "cpython-310-x86_64-linux-gnu");
    auto& distribution = apex.env.inventory.distributions[1];
    distribution.tags = {"cp310-cp310-linux_x86_64"};
    SECTION("than its directory's") {
        const auto finding = apex.env.found().at(0).finding;
        CHECK(finding.code == "CE112");
        CHECK(is_case(
            finding, "",
            {{"module", "apex 0.1"}, {"made_for", "Python 3.10"}, {"python", "Python 3.11"}}));
    }
    SECTION("built in place") {
        distribution.tags = {"cp311-cp311-linux_x86_64"};
        distribution.direct_url->editable = true;
        CHECK(apex.env.found("CE112").size() == 1);
    }
    SECTION("and not where the directory does not tell") {
        distribution.site = "lib/python3/dist-packages";
        CHECK(apex.env.codes().empty());
    }
    SECTION("and not in a wheel for all that carries modules for many") {
        distribution.tags = {"py3-none-manylinux2014_x86_64"};
        CHECK(apex.env.codes().empty());
    }
    SECTION("and not in one that has modules for this Python too") {
        apex.module("another_C");
        CHECK(apex.env.codes().empty());
    }
}

TEST_CASE("a torchvision of another release is reported once, by its requirement") {
    ContextBuilder env;
    wheel(env, "torch", "2.7.1+cu126");
    wheel(env, "torchvision", "0.23.0+cu126", {"torch (==2.8.0)"});
    facts::ExtensionModule module;
    module.path = env.site() + "/torchvision/_C.so";
    module.distribution = 1;
    module.needed = {"libc10.so"};
    module.unresolved = {k_new_abi};
    env.extensions = {module};
    CHECK(env.codes() == Codes{"CE120"});
}

} // namespace
} // namespace cudaenv::rules::testing
