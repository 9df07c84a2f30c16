#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

// apex of a checkout, by setup.py develop, beside torch 2.8.0: in place and in build/ is one module
// for another torch.
struct Checkout {
    ContextBuilder env;
    facts::Distribution& apex;

    Checkout() : apex((wheel(env, "torch", "2.8.0+cu126"), wheel(env, "apex", "0.1"))) {
        apex.kind = facts::DistributionKind::EggLink;
        apex.source_directory = "/src/a b";
        apex.tags.clear();
        apex.files = {};
        module("apex_C").unresolved = {"_ZN3c103oldEv"};
        auto& built = module("build/lib.linux-x86_64-cpython-311/apex_C");
        built.unresolved = {"_ZN3c103oldEv"};
        built.in_build = true;
    }
    facts::ExtensionModule& module(const std::string& name) {
        facts::ExtensionModule found;
        found.path = "/src/a b/" + name + ".cpython-311-x86_64-linux-gnu.so";
        found.distribution = 1;
        found.needed = {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libcudart.so.12"};
        found.python_tag = "cpython-311-x86_64-linux-gnu";
        env.extensions.push_back(found);
        return env.extensions.back();
    }
    facts::ExtensionModule& built() { return env.extensions[1]; }
};

TEST_CASE("a module in build/ for an earlier torch is reported with what to delete") {
    Checkout checkout;
    const auto found = checkout.env.found();
    REQUIRE(found.size() == 2);
    CHECK(found[0].finding.code == "CE110");
    const auto& stale = found[1];
    CHECK(stale.finding.code == "CE114");
    CHECK(stale.finding.severity == facts::Severity::Warning);
    CHECK(stale.subject == "apex");
    CHECK(stale.files == Codes{checkout.built().path});
    const std::string command =
        "rm -rf '/src/a b/build/lib.linux-x86_64-cpython-311' "
        "'/src/a b/build/temp.linux-x86_64-cpython-311' && "
        "/env/bin/python -m pip install --no-deps --no-build-isolation -e '/src/a b'";
    CHECK(stale.finding.fix->command == command);
    CHECK(found[0].finding.fix->command == command); // else it would bring the old one back
}

TEST_CASE("a module in build/ that the next build replaces is no finding") {
    Checkout checkout;
    SECTION("the one in place goes with torch, and nothing is built") {
        checkout.env.extensions[0].unresolved.clear();
        CHECK(checkout.env.codes() == Codes{});
    }
    SECTION("the one in build/ is the newer") {
        checkout.built().unresolved.clear();
        CHECK(checkout.env.codes() == Codes{"CE110"});
    }
    SECTION("pip install -e builds apart") {
        checkout.apex.kind = facts::DistributionKind::DistInfo;
        checkout.apex.source_directory.clear();
        checkout.apex.direct_url = facts::DirectUrl{};
        checkout.apex.direct_url->url = "file:///src/a%20b";
        checkout.apex.direct_url->local_directory = "/src/a b";
        checkout.apex.direct_url->editable = true;
        CHECK(checkout.env.codes() == Codes{"CE110"});
        checkout.apex.direct_url->editable = false; // pip install DIRECTORY does not
        CHECK(checkout.env.codes() == Codes{"CE110", "CE114"});
    }
}

TEST_CASE("a partner has to fit the torch of the base Python that the venv sees") {
    ContextBuilder env;
    wheel(env, "torchvision", "0.22.1+cu126", {"torch (==2.7.1)"});
    facts::Distribution torch;
    torch.name = torch.written = "torch";
    torch.version = "2.8.0+cu126";
    torch.has_metadata = true;
    torch.metadata = "/usr/lib/python3/dist-packages/torch-2.8.0.dist-info";
    CHECK(env.codes() == Codes{});
    env.inventory.base = {torch};
    const auto found = env.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.code == "CE120");
    CHECK(found[0].finding.evidence.back().path == torch.metadata);
    SECTION("not where both are that Python's") {
        env.inventory.base.push_back(env.inventory.distributions[0]);
        env.inventory.distributions.clear();
        CHECK(env.codes() == Codes{});
    }
    SECTION("nor where the environment has one of its own") {
        wheel(env, "torch", "2.7.1+cu126");
        CHECK(env.codes() == Codes{});
    }
}

} // namespace
} // namespace cudaenv::rules::testing
