#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/specs/pep440.hpp"
#include "solver/specs/requirement.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <regex>
#include <set>

using namespace cudaenv;
using namespace cudaenv::knowledge;

namespace {

const PackageRelease& release(std::string_view name, std::string_view version) {
    const auto releases = package_releases(name);
    const auto found = std::ranges::find(releases, version, &PackageRelease::version);
    CAPTURE(name, version);
    REQUIRE(found != releases.end());
    return *found;
}

bool requires_exactly(const PackageRelease& release, std::string_view requirement) {
    return std::ranges::count(release.requirements, requirement) == 1;
}

void check_requirement(const std::string& text) {
    CAPTURE(text);
    const auto parsed = specs::Requirement::parse(text);
    REQUIRE(parsed);
    if (parsed->marker) {
        // What Linux x86_64 decides is gone from the marker, extras too: only the Python is left.
        CHECK(text.find("python") != std::string::npos);
        for (const char* decided : {"extra", "platform_system", "platform_machine", "os_name"}) {
            CHECK(text.find(decided) == std::string::npos);
        }
    }
}

} // namespace

TEST_CASE("every package release parses, with its requirements, Pythons and wheel tags") {
    const std::regex python("cp3\\d+(t|-abi3|-cp3\\d+d?m?)?|(py2|py3\\d*|cp2\\d)(-.*)?");
    const std::regex platform("any|(manylinux_\\d+_\\d+|linux)_(x86_64|aarch64)");
    std::size_t count = 0;
    for (const std::string& name : package_names()) {
        CHECK(name == specs::normalize_project_name(name));
        for (const PackageRelease& each : package_releases(name)) {
            CAPTURE(name, each.version);
            CHECK(each.name == name);
            REQUIRE(specs::Pep440Version::parse(each.version));
            REQUIRE(specs::SpecifierSet::parse(each.requires_python));
            for (const std::string& requirement : each.requirements) {
                check_requirement(requirement);
            }
            for (const std::string& requirement : each.unstated) {
                check_requirement(requirement);
                CHECK_FALSE(each.unstated_source.empty());
            }
            for (const PackageExtra& extra : each.extras) {
                CHECK_FALSE(extra.requirements.empty());
                for (const std::string& requirement : extra.requirements) {
                    check_requirement(requirement);
                }
            }
            for (const PackageWheels& wheels : each.wheels) {
                CAPTURE(wheels.platform);
                CHECK(std::regex_match(wheels.platform, platform));
                CHECK_FALSE(wheels.pythons.empty());
                for (const std::string& tag : wheels.pythons) {
                    CAPTURE(tag);
                    CHECK(std::regex_match(tag, python));
                }
            }
            CHECK_FALSE(each.source.empty());
            ++count;
        }
    }
    CHECK(count > 500);
}

TEST_CASE("releases of a package ascend, and each is there once") {
    for (const std::string& name : package_names()) {
        std::optional<specs::Pep440Version> before;
        for (const PackageRelease& each : package_releases(name)) {
            CAPTURE(name, each.version);
            auto version = specs::Pep440Version::parse(each.version);
            REQUIRE(version);
            CHECK((!before || *before < *version));
            before = *std::move(version);
        }
    }
}

TEST_CASE("a release that is built here has no wheel, and its project says what the build needs") {
    std::size_t built = 0;
    for (const std::string& name : package_names()) {
        for (const PackageRelease& each : package_releases(name)) {
            if (each.builds_here) {
                CAPTURE(name, each.version);
                CHECK(each.wheels.empty());
                const PackageProject* project = package_project(name);
                REQUIRE(project != nullptr);
                CHECK_FALSE(project->build_needs.empty());
                ++built;
            }
        }
    }
    CHECK(built > 50);
}

TEST_CASE("a package is found in any spelling of its name, an unknown one is not") {
    CHECK(package_releases("Flash_Attn").data() == package_releases("flash-attn").data());
    CHECK(package_releases("no-such-package").empty());
    CHECK(package_project("no-such-package") == nullptr);
    CHECK(std::ranges::is_sorted(package_names()));
}

TEST_CASE("known pins: xformers, vLLM and torch name each other and Triton exactly") {
    CHECK(requires_exactly(release("xformers", "0.0.28.post3"), "torch==2.5.1"));
    CHECK(requires_exactly(release("vllm", "0.8.5"), "torch==2.6.0"));
    const PackageRelease& torch = release("torch", "2.6.0");
    CHECK(std::ranges::any_of(torch.requirements, [](const std::string& requirement) {
        return requirement.starts_with("triton==3.2.0");
    }));
    CHECK(torch.cudas == std::vector{DottedVersion::of("12.4")});
}

TEST_CASE("JAX's CUDA comes by an extra, from a plugin of its own version") {
    const PackageRelease& jax = release("jax", "0.4.30");
    const auto cuda12 = std::ranges::find(jax.extras, "cuda12", &PackageExtra::name);
    REQUIRE(cuda12 != jax.extras.end());
    CHECK(std::ranges::any_of(cuda12->requirements, [](const std::string& requirement) {
        return requirement.starts_with("jax-cuda12-plugin[with-cuda]") &&
               requirement.find("<=0.4.30") != std::string::npos;
    }));
    CHECK(release("jax-cuda12-plugin", "0.4.30").cudas == std::vector{DottedVersion::of("12")});
}

TEST_CASE("flash-attn is source only; apex on the index is another project than NVIDIA's") {
    const PackageRelease& newest = package_releases("flash-attn").back();
    CHECK(newest.builds_here);
    const auto& needs = package_project("flash-attn")->build_needs;
    CHECK(std::ranges::count(needs, "--no-build-isolation") == 1);
    CHECK(std::ranges::count(needs, "nvcc") == 1);
    const PackageProject* apex = package_project("apex");
    REQUIRE(apex != nullptr);
    CHECK(apex->other_project);
    CHECK(apex->elsewhere.find("github.com/NVIDIA/apex") != std::string::npos);
    CHECK_FALSE(package_project("flash-attn")->other_project);
}

TEST_CASE("a binary built against NumPy 1 requires it, though METADATA does not say so") {
    CHECK(release("torch", "2.1.2").unstated == std::vector<std::string>{"numpy<2"});
    CHECK(release("torch", "2.3.0").unstated.empty());
    CHECK(release("jaxlib", "0.4.26").unstated.empty());
    CHECK(release("torchtext", "0.18.0").unstated == std::vector<std::string>{"torch==2.3.*"});
}

TEST_CASE("the CUDA and the least GPU of a build come from its METADATA, its record or documents") {
    const PackageRelease& xformers = release("xformers", "0.0.28.post3");
    CHECK(xformers.cudas == std::vector{DottedVersion::of("12.1")});
    CHECK(xformers.least_gpu);
    const auto& bitsandbytes = release("bitsandbytes", "0.45.0").cudas;
    CHECK(bitsandbytes.front().str() == "11.7");
    CHECK(bitsandbytes.back().str() == "12.6");
    CHECK(release("vllm", "0.8.5").cudas == std::vector{DottedVersion::of("12.4")});
    CHECK(release("vllm", "0.24.0").cudas == std::vector{DottedVersion::of("13")});
    CHECK(release("vllm", "0.24.0").least_gpu == ComputeCapability::parse("7.5").value());
    CHECK(release("jax-cuda13-plugin", "0.9.0").least_gpu_source.find("jax") != std::string::npos);
}

TEST_CASE("a package that no index has is known by where it is") {
    CHECK(package_releases("pyg-lib").empty());
    REQUIRE(package_project("pyg_lib") != nullptr);
    CHECK(package_project("pyg_lib")->elsewhere.find("{torch_minor}.0+{tag}") != std::string::npos);
    CHECK(std::ranges::count(package_names(), "pyg-lib") == 1);
    const auto& builds = package_project("torch-scatter")->elsewhere_builds;
    const auto found =
        std::ranges::find(builds, "2.4", [](const auto& each) { return each.first; });
    REQUIRE(found != builds.end());
    CHECK(found->second == std::vector<std::string>{"cu118", "cu121", "cu124"});
}

TEST_CASE("every framework whose releases are in the table of packages is known there") {
    const std::vector<std::string> names = package_names();
    std::size_t count = 0;
    for (const Framework& framework : frameworks()) {
        if (framework.table == "packages") {
            CAPTURE(framework.name);
            CHECK(std::ranges::count(names, framework.name) == 1);
            ++count;
        }
    }
    CHECK(count > 10);
}

TEST_CASE("a build from a repository is the newest whose torch is reached") {
    const auto requirement = [](const char* torch) {
        const auto* const build = package_build("apex", DottedVersion::of(torch));
        return build == nullptr ? std::string() : build->requirement;
    };
    CHECK(requirement("1.4.0") == "git+https://github.com/NVIDIA/apex@22.03");
    CHECK(requirement("2.4.1") == "git+https://github.com/NVIDIA/apex@25.09");
    CHECK(requirement("2.6.0") == "git+https://github.com/NVIDIA/apex");
    CHECK(package_build("apex", DottedVersion::of("2.8.0"))->note.empty());
    CHECK(package_build("flash-attn", std::nullopt) == nullptr);
    CHECK(package_project("apex")->exact_nvcc);
    CHECK_FALSE(package_project("flash-attn")->exact_nvcc);
    CHECK(setuptools_for(DottedVersion::of("2.1.2")) == "setuptools<70");
    CHECK(setuptools_for(DottedVersion::of("2.4.1")) == "setuptools<82");
    CHECK(setuptools_for(DottedVersion::of("2.15.0")) == "setuptools");
}
