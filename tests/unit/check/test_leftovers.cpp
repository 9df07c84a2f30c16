#include "tests/unit/check/scene_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::plan::testing {
namespace {

using facts::LeftoverKind;
using Codes = std::vector<std::string>;

TEST_CASE("what a killed pip moved aside is told at once, and taken away") {
    SceneBuilder env;
    env.file(env.pip("numpy", "2.0.0"), env.site() + "/numpy/a.py", "x");
    CHECK(env.codes().empty());
    env.inventory.leftovers = {{LeftoverKind::InterruptedUninstall, env.site() + "/~umpy", "", ""},
                               {LeftoverKind::InterruptedUninstall,
                                env.site() + "/~umpy-1.26.4.dist-info", "numpy", "1.26.4"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto told = env.found()[0];
    CHECK(told.finding.title == "2 directories of an interrupted uninstall are left");
    CHECK(told.finding.severity == Severity::Note);
    CHECK(told.subject == "numpy");
    REQUIRE(told.finding.evidence.size() == 2);
    CHECK(told.finding.evidence[0].path == "/env/lib/python3.11/site-packages/~umpy");
    CHECK(told.finding.evidence[0].text == "moved aside by an installer");
    CHECK(told.finding.evidence[1].text == "was numpy 1.26.4");
    CHECK(told.finding.fix->command == "cudaenv check --fix CE106");
    REQUIRE(told.repairs.size() == 2);
    CHECK(told.repairs[0].kind == Repair::Kind::Remove);
    CHECK(told.repairs[0].path == env.site() + "/~umpy");
    CHECK_FALSE(told.told_at_prompt);
}

TEST_CASE("of what was not laid down again the moved aside may be the only copy") {
    SceneBuilder env;
    env.inventory.leftovers = {{LeftoverKind::InterruptedUninstall, env.site() + "/~umpy", "", ""},
                               {LeftoverKind::InterruptedUninstall,
                                env.site() + "/~umpy-1.26.4.dist-info", "numpy", "1.26.4"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto told = env.found()[0];
    CHECK(told.finding.title ==
          "numpy 1.26.4 was being replaced or removed, and is not installed now");
    CHECK(told.finding.severity == Severity::Warning);
    CHECK(told.repairs.empty());
    CHECK(told.finding.fix->command == "/env/bin/python -m pip install --no-deps numpy==1.26.4");
}

TEST_CASE("of a distribution that conda laid down its METADATA is put back") {
    SceneBuilder env;
    const auto [package, six] = env.conda_python("six", "1.16.0");
    env.file(package, env.site() + "/six.py", "x");
    CHECK(env.codes().empty());
    env.disk.erase(six.metadata + "/METADATA");
    six.has_metadata = false;
    env.inventory.leftovers = {{LeftoverKind::NoMetadata, six.metadata, "six", "1.16.0"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto told = env.found()[0];
    CHECK(told.finding.title == "conda's six 1.16.0 has lost its METADATA");
    REQUIRE(told.repairs.size() == 1);
    CHECK(told.repairs[0].kind == Repair::Kind::RestoreConda);
    CHECK(told.files == std::vector<std::string>{six.metadata + "/METADATA"});
}

TEST_CASE("a record that conda moved aside is told where the package has none any more") {
    SceneBuilder env;
    env.conda("python", "3.11.7");
    env.inventory.leftovers = {
        {LeftoverKind::InterruptedConda, "conda-meta/many-1.0-0.json.c~", "many", "1.0"}};
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto told = env.found()[0];
    CHECK(told.finding.title == "conda was replacing or removing many 1.0, and did not finish");
    CHECK(told.finding.fix->command == "conda install -p /env many=1.0");
    CHECK(told.repairs.empty());
    env.conda("many", "2.0");
    CHECK(env.codes().empty());
}

TEST_CASE("what conda laid down and has no record of is told where its records are known") {
    SceneBuilder env;
    env.conda("python", "3.11.7");
    const auto [package, six] = env.conda_python("six", "1.16.0");
    env.file(package, env.site() + "/six.py", "x");
    CHECK(env.codes().empty());
    env.inventory.conda.pop_back();
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.codes(depth) == Codes{"CE106"});
    }
    const auto told = env.found()[0];
    CHECK(told.finding.severity == Severity::Warning);
    CHECK(told.finding.title == "six 1.16.0 was laid down by conda, and conda has no record of it");
    CHECK(told.finding.fix->command == "conda install -p /env six=1.16.0");

    SECTION("not where a record could not be read") {
        env.inventory.notes = {{"conda-meta/six-1.16.0-0.json", "permission denied"}};
        CHECK(env.codes().empty());
    }
    SECTION("one that is damaged is told itself") {
        env.inventory.notes = {{"conda-meta/six-1.16.0-0.json", "is empty", true}};
        REQUIRE(env.codes() == Codes{"CE106"});
        CHECK(env.found()[0].finding.title == "conda's record of six-1.16.0-0 is damaged");
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

facts::Distribution& incomplete(SceneBuilder& env, const std::string& installer) {
    auto& left = env.bare("six", "1.16.0", installer);
    left.has_metadata = false;
    left.has_record = false;
    env.inventory.leftovers = {{LeftoverKind::NoMetadata, left.metadata, "six", "1.16.0"},
                               {LeftoverKind::NoRecord, left.metadata, "six", "1.16.0"}};
    return left;
}

TEST_CASE("a dist-info that has neither METADATA nor RECORD is told once, and taken away") {
    SceneBuilder env;
    auto& left = incomplete(env, "");
    REQUIRE(env.codes() == Codes{"CE106"});
    const auto told = env.found()[0];
    CHECK(told.finding.title == "what is left of six 1.16.0 has no METADATA");
    REQUIRE(told.repairs.size() == 1);
    CHECK(told.repairs[0].path == left.metadata);

    SECTION("with a RECORD its files may be there, and nothing is taken away") {
        left.has_record = true;
        env.inventory.leftovers.pop_back();
        CHECK(env.found("CE106").at(0).repairs.empty());
        CHECK(env.found("CE106")[0].finding.fix->command ==
              "/env/bin/python -m pip install --force-reinstall --no-deps six==1.16.0");
    }
}

TEST_CASE("metadata without RECORD is told of installers that always write one, and of no others") {
    SceneBuilder env;
    auto& left = incomplete(env, "uv");
    left.has_metadata = true;
    env.inventory.leftovers.erase(env.inventory.leftovers.begin());
    REQUIRE(env.codes() == Codes{"CE106"});
    CHECK(env.found()[0].finding.title == "six 1.16.0 has lost its RECORD");
    CHECK(env.found()[0].finding.fix->command ==
          "uv pip install --python /env --reinstall --no-deps six==1.16.0");
    CHECK(env.found()[0].repairs.empty());
    left.installer.clear();
    CHECK(env.codes().empty());
    left.installer = "installer of a distribution";
    CHECK(env.codes().empty());
}

TEST_CASE("incomplete metadata of conda's and of the system's is theirs") {
    SceneBuilder env;
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
} // namespace cudaenv::plan::testing
