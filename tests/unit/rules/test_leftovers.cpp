#include "tests/unit/rules/context_builder.hpp"
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using facts::LeftoverKind;
using Codes = std::vector<std::string>;

TEST_CASE("directories that a killed pip renamed are one finding, and are removed") {
    ContextBuilder env;
    env.file(env.pip("numpy", "2.0.0"), env.site() + "/numpy/a.py", "x");
    CHECK(env.codes().empty());
    env.inventory.leftovers = {{LeftoverKind::InterruptedUninstall, env.site() + "/~umpy", "", ""},
                               {LeftoverKind::InterruptedUninstall,
                                env.site() + "/~umpy-1.26.4.dist-info", "numpy", "1.26.4"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(found, "interrupted-uninstall", {{"n", "2"}}));
    CHECK(found.finding.severity == facts::Severity::Note);
    CHECK(found.subject == "numpy");
    REQUIRE(found.finding.evidence.size() == 2);
    CHECK(found.finding.evidence[0].path == "/env/lib/python3.11/site-packages/~umpy");
    CHECK(found.finding.evidence[0].text == "renamed by an installer");
    CHECK(found.finding.evidence[1].text == "was numpy 1.26.4");
    CHECK(found.finding.fix->command == "cudaenv check --fix CE106");
    CHECK(kinds(found) == kinds_of<Remove, Remove>());
    CHECK(repair_at<Remove>(found, 0).path == env.site() + "/~umpy");
    CHECK_FALSE(found.said_at_prompt);
}

TEST_CASE("renamed directories of a distribution that is not installed may be the only copy") {
    ContextBuilder env;
    env.inventory.leftovers = {{LeftoverKind::InterruptedUninstall, env.site() + "/~umpy", "", ""},
                               {LeftoverKind::InterruptedUninstall,
                                env.site() + "/~umpy-1.26.4.dist-info", "numpy", "1.26.4"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(found, "only-copy", {{"package", "numpy 1.26.4"}}));
    CHECK(found.finding.severity == facts::Severity::Warning);
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command == "/env/bin/python -m pip install --no-deps numpy==1.26.4");
}

TEST_CASE("renamed directories of a build are its only copy where another version is installed") {
    ContextBuilder env;
    auto& torch = wheel(env, "torch", "2.6.0+mine");
    env.inventory.leftovers = {{LeftoverKind::InterruptedUninstall,
                                env.site() + "/~orch-2.6.0+mine.dist-info", "torch", "2.6.0+mine"}};
    CHECK(is_case(env.found("CE106").at(0), "interrupted-uninstall", {{"n", "1"}}));
    torch.version = "2.5.1";
    CHECK(is_case(env.found("CE106").at(0), "only-copy", {{"package", "torch 2.6.0+mine"}}));
}

TEST_CASE("METADATA of conda's distribution is restored") {
    ContextBuilder env;
    const auto [package, six] = env.conda_python("six", "1.16.0");
    env.file(package, env.site() + "/six.py", "x");
    CHECK(env.codes().empty());
    env.disk.erase(six.metadata + "/METADATA");
    six.has_metadata = false;
    env.inventory.leftovers = {{LeftoverKind::NoMetadata, six.metadata, "six", "1.16.0"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(found, "conda-metadata", {{"victim", "conda's six 1.16.0"}}));
    CHECK(kinds(found) == kinds_of<RestoreConda>());
    CHECK(found.files == std::vector<std::string>{six.metadata + "/METADATA"});
}

TEST_CASE("a record that conda renamed is reported where the package has no other") {
    ContextBuilder env;
    env.conda("python", "3.11.7");
    env.inventory.leftovers = {
        {LeftoverKind::InterruptedConda, "conda-meta/many-1.0-0.json.c~", "many", "1.0"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto found = env.found()[0];
    CHECK(is_case(found, "conda-interrupted", {{"package", "many 1.0"}}));
    CHECK(found.finding.fix->command == "conda install -p /env many=1.0");
    CHECK(found.repairs.empty());
    env.conda("many", "2.0");
    CHECK(env.codes().empty());
}

TEST_CASE("files of conda without a record are reported where its records are known") {
    ContextBuilder env;
    env.conda("python", "3.11.7");
    const auto [package, six] = env.conda_python("six", "1.16.0");
    env.file(package, env.site() + "/six.py", "x");
    CHECK(env.codes().empty());
    env.inventory.conda.pop_back();
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto found = env.found()[0];
    CHECK(found.finding.severity == facts::Severity::Warning);
    CHECK(is_case(found, "conda-no-record", {{"package", "six 1.16.0"}}));
    CHECK(found.finding.fix->command == "conda install -p /env six=1.16.0");

    SECTION("not where a record could not be read") {
        env.inventory.notes = {{"conda-meta/six-1.16.0-0.json", "permission denied"}};
        CHECK(env.codes().empty());
    }
    SECTION("a damaged record is reported itself") {
        env.inventory.notes = {{"conda-meta/six-1.16.0-0.json", "is empty", true}};
        REQUIRE(env.codes() == Codes{"CE106"});
        CHECK(is_case(env.found()[0], "conda-record", {{"name", "six-1.16.0-0"}}));
    }
    SECTION("not where conda has a package of that name") {
        env.conda("six", "1.17.0");
        CHECK(env.codes().empty());
    }
    SECTION("not where somebody has taken all records away") {
        env.inventory.conda.clear();
        CHECK(env.codes().empty());
    }
    SECTION("not what pip installed") {
        six.installer = "pip";
        CHECK(env.codes().empty());
    }
}

facts::Distribution& incomplete(ContextBuilder& env, const std::string& installer) {
    auto& left = env.bare("six", "1.16.0", installer);
    left.has_metadata = false;
    left.has_record = false;
    env.inventory.leftovers = {{LeftoverKind::NoMetadata, left.metadata, "six", "1.16.0"},
                               {LeftoverKind::NoRecord, left.metadata, "six", "1.16.0"}};
    return left;
}

TEST_CASE("a dist-info without METADATA and RECORD is one finding, and is removed") {
    ContextBuilder env;
    auto& left = incomplete(env, "");
    REQUIRE(env.codes() == Codes{"CE106"});
    const auto found = env.found()[0];
    CHECK(is_case(found, "no-metadata", {{"package", "six 1.16.0"}}));
    REQUIRE(found.repairs.size() == 1);
    CHECK(repair_at<Remove>(found, 0).path == left.metadata);

    SECTION("with a RECORD its files may be there, and nothing is taken away") {
        left.has_record = true;
        env.inventory.leftovers.pop_back();
        CHECK(env.found("CE106").at(0).repairs.empty());
        CHECK(env.found("CE106")[0].finding.fix->command ==
              "/env/bin/python -m pip install --force-reinstall --no-deps six==1.16.0");
    }
}

TEST_CASE("metadata without RECORD is reported only of installers that always write one") {
    ContextBuilder env;
    auto& left = incomplete(env, "uv");
    left.has_metadata = true;
    env.inventory.leftovers.erase(env.inventory.leftovers.begin());
    REQUIRE(env.codes() == Codes{"CE106"});
    CHECK(is_case(env.found()[0], "no-record", {{"package", "six 1.16.0"}}));
    CHECK(env.found()[0].finding.fix->command ==
          "uv pip install --python /env --reinstall --no-deps six==1.16.0");
    CHECK(env.found()[0].repairs.empty());
    left.installer.clear();
    CHECK(env.codes().empty());
    left.installer = "installer of a distribution";
    CHECK(env.codes().empty());
}

TEST_CASE("incomplete metadata of conda's and of the system's is theirs") {
    ContextBuilder env;
    auto& left = incomplete(env, "pip");
    SECTION("conda's") {
        env.file(env.conda("six", "1.16.0"), left.metadata + "/top_level.txt", "six");
        CHECK(env.codes().empty());
    }
    SECTION("the system's") {
        left.installer = "debian";
        CHECK(env.codes().empty());
    }
}

} // namespace
} // namespace cudaenv::rules::testing
