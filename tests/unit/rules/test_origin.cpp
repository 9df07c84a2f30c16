#include "check/rules/origin.hpp"
#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using facts::DirectUrl;
using facts::Origin;
using facts::SeenDistribution;

facts::Distribution of_version(const std::string& version) {
    facts::Distribution distribution;
    distribution.name = "torch";
    distribution.version = version;
    distribution.installer = "pip";
    distribution.has_record = true;
    return distribution;
}

TEST_CASE("a version that names a commit was built from a checkout") {
    for (const auto* version : {"1.12.0a0+git664058f", "2.1.0a0+32f93b1", "0.1.dev5+g1a2b3c4",
                                "3.0+g1a2b3c4d5.d20260101"}) {
        CHECK(origin_of(of_version(version)) == Origin::Built);
    }
    for (const auto* version : {"2.4.1+cu121", "2.5.0.dev20240901+cu121", "1.0", "1.0+gpu", "1.0+g",
                                "1.0a0", "2.5.6+cu122torch2.2", ""}) {
        CHECK(origin_of(of_version(version)) == Origin::Wheel);
    }
}

TEST_CASE(
    "direct_url.json distinguishes a directory, a repository and a source archive from a wheel") {
    auto distribution = of_version("1.0");
    distribution.direct_url = DirectUrl{"file:///src/torch", true, "", "", "", "/src/torch"};
    CHECK(origin_of(distribution) == Origin::Editable);
    CHECK(source_of(distribution) == "/src/torch");
    distribution.direct_url->editable = false;
    CHECK(origin_of(distribution) == Origin::Built);
    distribution.direct_url = DirectUrl{"https://a/torch.git", false, "git", "664058f", "", ""};
    CHECK(origin_of(distribution) == Origin::Built);
    CHECK(source_of(distribution) == "git+https://a/torch.git@664058f");
    distribution.direct_url = DirectUrl{"https://a/t-1.tar.gz", false, "", "", "sha256=1", ""};
    CHECK(origin_of(distribution) == Origin::Built);
    distribution.direct_url = DirectUrl{"file:///d/torch-1.0.whl", false, "", "", "sha256=1", ""};
    CHECK(origin_of(distribution) == Origin::Wheel);
    distribution.version = "1.12.0a0+git664058f"; // the wheel was built here
    CHECK(origin_of(distribution) == Origin::Built);
}

TEST_CASE("setup.py develop is editable, setup.py install is built, pip's old way is neither") {
    auto distribution = of_version("1.0");
    distribution.kind = facts::DistributionKind::EggLink;
    distribution.source_directory = "/src/torch";
    CHECK(origin_of(distribution) == Origin::Editable);
    CHECK(source_of(distribution) == "/src/torch");
    distribution.kind = facts::DistributionKind::EggInfoDirectory;
    distribution.installer.clear();
    CHECK(origin_of(distribution) == Origin::Wheel); // with installed-files.txt
    distribution.has_record = false;
    CHECK(origin_of(distribution) == Origin::Built);
    distribution.kind = facts::DistributionKind::EggInfoFile;
    CHECK(origin_of(distribution) == Origin::Built);
}

TEST_CASE("conda's packages are not the user's builds, whatever their dist-info says") {
    ContextBuilder env;
    auto [package, distribution] = env.conda_python("numpy", "1.26.4");
    static_cast<void>(package);
    distribution.direct_url =
        DirectUrl{"file:///home/conda/feedstock/work", false, "", "", "", "/home/conda/work"};
    auto& own = env.pip("apex", "0.1");
    own.direct_url = DirectUrl{"file:///src/apex", false, "", "", "", "/src/apex"};
    const auto& context = env.context();
    const auto seen = seen_in(context.inventory, context.ownership);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].name == "apex");
    CHECK(seen[0].origin == Origin::Built);
    CHECK(seen[0].source == "/src/apex");
    CHECK(seen[0].files == own.files.size());
    CHECK(seen[1].name == "numpy");
    CHECK(seen[1].origin == Origin::Wheel);
    CHECK(seen[1].source.empty());
}

TEST_CASE("what is left without METADATA is not there") {
    ContextBuilder env;
    env.pip("six", "1.16").has_metadata = false;
    const auto& context = env.context();
    CHECK(seen_in(context.inventory, context.ownership).empty());
}

TEST_CASE("of two of one name the one made by hand is remembered, else the later") {
    ContextBuilder env;
    auto& built = env.pip("torch", "1.12.0a0+git664058f");
    static_cast<void>(built);
    env.pip("torch", "2.0");
    env.pip("six", "1.16");
    env.pip("six", "1.15");
    const auto& context = env.context();
    const auto seen = seen_in(context.inventory, context.ownership);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].version == "1.15");
    CHECK(seen[1].version == "1.12.0a0+git664058f");
}

SeenDistribution seen(const std::string& name, const std::string& version, Origin origin) {
    SeenDistribution found;
    found.name = name;
    found.version = version;
    found.origin = origin;
    return found;
}

std::vector<std::string> versions(const std::vector<SeenDistribution>& list) {
    std::vector<std::string> found;
    for (const auto& one : list) {
        found.push_back(one.name + ' ' + one.version);
    }
    return found;
}

TEST_CASE("of a build it is remembered whether all of it is certainly plain Python") {
    const auto is_pure = [](const std::string& tag, const std::string& file, bool built) {
        ContextBuilder env;
        auto& wheel = env.pip("plain", "1.0");
        env.file(wheel, env.site() + file, "x");
        if (!tag.empty()) {
            wheel.tags = {tag};
        }
        if (built) {
            wheel.direct_url = {"file:///src", false, "", "", "", "/src"};
        }
        const auto& context = env.context();
        return seen_in(context.inventory, context.ownership).at(0).pure;
    };
    CHECK(is_pure("py3-none-any", "/plain.py", true));
    CHECK_FALSE(is_pure("py3-none-any", "/plain.so", true));
    CHECK_FALSE(is_pure("py3-none-any", "/libplain.so.1", true));
    CHECK_FALSE(is_pure("cp311-cp311-linux_x86_64", "/plain.py", true));
    CHECK_FALSE(is_pure("", "/plain.py", true));
    CHECK_FALSE(is_pure("py3-none-any", "/plain.py", false)); // of an index, where it matters not
}

TEST_CASE("a build that was replaced is remembered until it is built again or ignored") {
    const std::vector before{seen("apex", "0.1", Origin::Wheel),
                             seen("torch", "1+git", Origin::Built)};
    const std::vector wheel{seen("torch", "2.0", Origin::Wheel)};
    using Texts = std::vector<std::string>;
    CHECK(versions(remember(before, wheel, 1)) == Texts{"torch 1+git"});
    CHECK(versions(remember(remember(before, wheel, 1), wheel, 2)) == Texts{"torch 1+git"});
    CHECK(versions(remember(before, {seen("torch", "2+git", Origin::Editable)}, 1)) ==
          Texts{"torch 2+git"});
    // between the uninstall and the install of an upgrade
    CHECK(versions(remember(before, {seen("zlib", "1", Origin::Wheel)}, 1)) ==
          Texts{"torch 1+git", "zlib 1"});
}

TEST_CASE("a build that was taken away long before another was installed is not replaced by it") {
    const std::vector before{seen("torch", "1+git", Origin::Built)};
    const auto gone = remember(before, {}, 5'000);
    REQUIRE(gone.size() == 1);
    CHECK(gone[0].gone_ns == 5'000);
    CHECK(remember(gone, {}, 9'000).at(0).gone_ns == 5'000);
    auto wheel = seen("torch", "2.0", Origin::Wheel);
    wheel.installed_ns = 300'000'000'000; // within one slow install
    CHECK(versions(remember(gone, {wheel}, wheel.installed_ns)) ==
          std::vector<std::string>{"torch 1+git"});
    CHECK_FALSE(was_gone_before(gone[0], wheel.installed_ns));
    wheel.installed_ns = 700'000'000'000;
    CHECK(versions(remember(gone, {wheel}, wheel.installed_ns)) ==
          std::vector<std::string>{"torch 2.0"});
    CHECK(was_gone_before(gone[0], wheel.installed_ns));
}

TEST_CASE("versions that no index has are distinguished from those of torch's indexes") {
    for (const char* version : {"0.2+mine", "1.12.0a0+git664058f", "2.0+g1a2b3c4.d20260101"}) {
        CHECK(is_own_version(version));
    }
    for (const char* version : {"2.8.0", "2.8.0+cu128", "2.0.0+cu92", "2.8.0+cpu",
                                "2.8.0+cpu.cxx11.abi", "2.8.0+rocm6.4", "2.8.0+xpu"}) {
        CHECK_FALSE(is_own_version(version));
    }
}

} // namespace
} // namespace cudaenv::rules::testing
