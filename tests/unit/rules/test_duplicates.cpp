#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;
constexpr auto k_both = {CheckDepth::Records, CheckDepth::Everything};

TEST_CASE("files that pip rewrote with the same content are owned by two managers") {
    ContextBuilder env;
    auto [package, own] = env.conda_python("six", "1.16.0");
    env.file(package, env.site() + "/six.py", "the same");
    static_cast<void>(own);
    env.uninstall(0);
    auto& wheel = env.pip("six", "1.16.0");
    env.file(wheel, env.site() + "/six.py", "the same");
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE101"});
        const auto found = env.found({}, depth)[0];
        CHECK(is_case(found, "",
                      {{"name", "six"},
                       {"conda_version", "1.16.0"},
                       {"manager", "pip"},
                       {"pip_version", "1.16.0"},
                       {"imported", "pip's six 1.16.0"},
                       {"own_work", ""}}));
        CHECK(found.finding.fix->command == "cudaenv check --fix CE101");

        CHECK(found.said_at_prompt);
        CHECK(found.files.empty());
        REQUIRE(kinds(found) == kinds_of<UninstallPip, RestoreConda>());
        CHECK(std::ranges::count(repair_at<RestoreConda>(found, 1).files,
                                 env.site() + "/six-1.16.0.dist-info/INSTALLER") == 1);
    }
    SECTION("and what is editable is not taken away") {
        wheel.direct_url = {"file:///src/six", true, "", "", "", "/src/six"};
        CHECK(env.found("CE101").at(0).repairs.empty());
    }
    SECTION("and as conda's alone as soon as conda has written it again") {
        wheel.installer = "conda";
        CHECK(env.codes().empty());
    }
}

TEST_CASE("a distribution beside conda's that shares no file with it is a finding") {
    ContextBuilder env;
    env.conda_python("pytorch", "2.4.1", "torch");
    env.file(env.pip("torch", "2.5.0"), env.site() + "/torch_new/a.py", "x");
    for (const auto depth : k_both) {
        REQUIRE(env.found("CE101", depth).size() == 1);
        CHECK(is_case(env.found("CE101", depth)[0], "",
                      {{"name", "torch"}, {"conda_version", "2.4.1"}, {"pip_version", "2.5.0"}}));
    }
}

// As `pip install --target ... --upgrade` leaves it.
ContextBuilder two_of_six() {
    ContextBuilder env;
    auto& older = env.pip("six", "1.15.0");
    env.file(older, env.site() + "/six.py", "of 1.15.0");
    env.file(older, env.site() + "/six_old.py", "of 1.15.0");
    env.file(env.pip("six", "1.16.0"), env.site() + "/six.py", "of 1.16.0");
    return env;
}

TEST_CASE("two records of one name are one finding, and the older is uninstalled") {
    auto env = two_of_six();
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE105"});
        const auto found = env.found({}, depth)[0];
        CHECK(is_case(found, "last-installed",
                      {{"name", "six"},
                       {"times", "twice"},
                       {"versions", "1.15.0 and 1.16.0"},
                       {"imported", "1.16.0"}}));
        REQUIRE(found.finding.evidence.size() == 2);
        CHECK(found.finding.evidence[0].path ==
              "/env/lib/python3.11/site-packages/six-1.16.0.dist-info");
        CHECK(found.finding.evidence[0].text ==
              "six 1.16.0, installed by pip, 2026-11-21 10:01 UTC");
        CHECK(is_case(found, "last-installed", {{"remaining", "1.16.0"}}));
        CHECK(found.files == std::vector{env.site() + "/six.py"}); // what 1.15.0 has lost
        REQUIRE(kinds(found) == kinds_of<UninstallPip>());
        CHECK(repair_at<UninstallPip>(found, 0).version == "1.15.0");
        CHECK(repair_at<UninstallPip>(found, 0).metadata == env.site() + "/six-1.15.0.dist-info");
    }
    SECTION("without a RECORD only its metadata goes") {
        env.inventory.distributions[0].has_record = false;
        CHECK(kinds(env.found("CE105").at(0)) == kinds_of<Remove>());
    }
    SECTION("nothing goes where it was built here, or which is the later is not known") {
        env.inventory.distributions[0].version = "1.15.0a0+git1234567";
        CHECK(env.found("CE105").at(0).repairs.empty());
        env.inventory.distributions[0].version = "1.15.0";
        env.inventory.distributions[0].installed_ns = env.inventory.distributions[1].installed_ns;
        CHECK(env.found("CE105").at(0).repairs.empty());
        // `pip uninstall six` takes the files of the other.
        CHECK(env.found("CE105")[0].finding.fix->command.empty());
    }
}

TEST_CASE("two of one name in two directories: the first hides the other") {
    auto env = two_of_six();
    env.inventory.sites.emplace_back("lib64/python3.11/site-packages");
    auto& other = env.inventory.distributions[1];
    other.site = env.inventory.sites[1];
    other.metadata = other.site + "/six-1.16.0.dist-info";
    const auto found = env.found("CE105", CheckDepth::Records).at(0);
    CHECK(is_case(found, "first-found", {{"imported", "1.15.0"}}));
    CHECK(found.repairs.empty());

    SECTION("of two Pythons they are not two") {
        env.inventory.sites[1] = other.site = "lib/python3.12/site-packages";
        other.metadata = other.site + "/six-1.16.0.dist-info";
        CHECK(env.found("CE105").empty());
    }
}

TEST_CASE("near misses of two records of one name") {
    auto env = two_of_six();
    auto& older = env.inventory.distributions[0];
    SECTION("a leftover without METADATA is not a distribution") {
        older.has_metadata = false;
        CHECK(env.found("CE105").empty());
    }
    SECTION("the system's is meant to be hidden by pip's") {
        older.installer = "debian";
        CHECK(env.codes().empty());
    }
    SECTION("conda's package may lay down an egg-info beside its dist-info") {
        ContextBuilder conda;
        auto [package, own] = conda.conda_python("six", "1.16.0");
        static_cast<void>(own);
        auto& egg = conda.bare("six", "1.16.0", "");
        egg.kind = facts::DistributionKind::EggInfoFile;
        egg.metadata = conda.site() + "/six-1.16.0-py3.11.egg-info";
        conda.file(package, egg.metadata, "Name: six");
        CHECK(conda.codes().empty());
    }
    SECTION("setup.py develop and pip install -e of one source are one") {
        older.kind = facts::DistributionKind::EggLink;
        older.metadata = env.site() + "/six.egg-link";
        older.source_directory = "/src/six";
        older.version = "1.16.0";
        older.files = {};
        env.inventory.distributions[1].direct_url = {"file:///src/six", true, "", "", "",
                                                     "/src/six"};
        CHECK(env.codes().empty());

        // of another version the egg-info is stale, and that is all
        older.version = "1.15.0";
        REQUIRE(env.codes() == Codes{"CE114"});
        const auto stale = env.found()[0];
        CHECK(is_case(stale, "egg-info", {{"package", "six 1.16.0"}, {"version", "1.15.0"}}));
        CHECK(stale.finding.fix->command ==
              "cd /src/six && /env/bin/python setup.py develop --uninstall");
        CHECK(stale.repairs.empty());

        // also where it was not installed as editable the second time
        env.inventory.distributions[1].direct_url->editable = false;
        CHECK(env.codes() == Codes{"CE114"});
        env.inventory.distributions[1].direct_url->editable = true;

        // of another source they are two
        older.source_directory = "/src/other";
        CHECK(env.codes() == Codes{"CE105"});
    }
}

} // namespace
} // namespace cudaenv::rules::testing
