#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using facts::Origin;
using Codes = std::vector<std::string>;

// torch was built here; then `pip install torchvision` brought a wheel.
ContextBuilder replaced_torch() {
    ContextBuilder env;
    env.seen = {{"six", "1.15.0", Origin::Wheel, "", env.site() + "/six-1.15.0.dist-info",
                 ContextBuilder::k_first_ns - 2, 2},
                {"torch", "1.12.0a0+git664058f", Origin::Built, "/home/me/src/pytorch",
                 env.site() + "/torch-1.12.0a0+git664058f.dist-info",
                 ContextBuilder::k_first_ns - 1, 2114}};
    env.file(env.pip("six", "1.16.0"), env.site() + "/six.py", "x");
    env.file(env.pip("torch", "2.15.0"), env.site() + "/torch/__init__.py", "x");
    auto& vision = env.pip("torchvision", "0.30.0");
    env.file(vision, env.site() + "/torchvision/__init__.py", "x");
    vision.requires_dist = {"numpy", "torch==2.15.0"};
    vision.requested = true;
    return env;
}

TEST_CASE("a build that a wheel replaced is reported with both versions and the reason") {
    auto env = replaced_torch();
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        REQUIRE(env.found("CE104", depth).size() == 1);
    }
    const auto found = env.found("CE104")[0];
    CHECK(is_case(found, "compiled",
                  {{"manager", "pip"},
                   {"name", "torch"},
                   {"version", "1.12.0a0+git"},
                   {"origin", "built here"},
                   {"now", "torch 2.15.0"}}));
    CHECK(found.finding.severity == facts::Severity::Error);
    REQUIRE(found.finding.evidence.size() == 2);
    CHECK(found.finding.evidence[0].text ==
          "was torch 1.12.0a0+git664058f, built here from /home/me/src/pytorch, 2,114 files");
    CHECK(found.finding.evidence[1].path ==
          "/env/lib/python3.11/site-packages/torch-2.15.0.dist-info");
    CHECK(found.finding.evidence[1].text ==
          "now torch 2.15.0, required by torchvision, 2026-11-21 10:01 UTC");

    CHECK(found.said_at_prompt);
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command ==
          "/env/bin/python -m pip install --no-deps /home/me/src/pytorch");

    SECTION("where it was kept it is put back, when what requires the other is no longer does") {
        env.kept = {{"torch", "1.11.0"}, {"torch", "1.12.0a0+git664058f"}, {"torch", "1.13.0"}};
        const auto withheld = env.found("CE104").at(0);
        CHECK(withheld.repairs.empty());
        CHECK(is_case(withheld, "compiled",
                      {{"withheld", "breaks"}, {"requirement", "torch==2.15.0"}}));
        CHECK(withheld.finding.fix->command == "/env/bin/python -m pip uninstall -y torchvision");
        env.inventory.distributions[2].requires_dist.clear();
        const auto kept = env.found("CE104").at(0);
        REQUIRE(kept.repairs.size() == 1);
        CHECK(kinds(kept) == kinds_of<RestoreKept>());
        CHECK(repair_at<RestoreKept>(kept, 0).distribution == "torch");
        CHECK(repair_at<RestoreKept>(kept, 0).version == "1.12.0a0+git664058f");
        CHECK(kept.finding.fix->command == "cudaenv check --fix CE104");
    }
    SECTION("where another version of it was kept the last of them is") {
        env.inventory.distributions[2].requires_dist.clear();
        env.kept = {{"torch", "1.11.0"}, {"torch", "1.10.0"}};
        const auto kept = env.found("CE104").at(0);
        REQUIRE(kept.repairs.size() == 1);
        CHECK(repair_at<RestoreKept>(kept, 0).version == "1.10.0");
        CHECK(is_case(kept, "compiled", {{"restored", "1.10.0"}}));
    }
    SECTION("but not where it was plain Python, and the wheel was asked for by name") {
        env.seen[1].pure = true;
        CHECK(is_case(env.found("CE104").at(0), "pure"));
        env.inventory.distributions[1].requested = true;
        CHECK(env.found("CE104").empty());
        env.kept = {{"torch", "1.12.0a0+git664058f"}};
        CHECK(env.found("CE104").size() == 1);
        env.kept.clear();
        env.seen[1].pure = false;
        CHECK(env.found("CE104").size() == 1);
    }
    SECTION("one of an index counts where a copy of it is kept") {
        env.seen[1].origin = Origin::Kept;
        CHECK(env.found("CE104").empty());
        env.kept = {{"torch", "1.12.0a0+git664058f"}};
        CHECK(is_case(env.found("CE104").at(0), "kept"));
    }
    SECTION("one that was editable is installed so again") {
        env.seen[1].origin = Origin::Editable;
        env.seen[1].source = "/home/me/my src";
        const auto editable = env.found("CE104").at(0);
        CHECK(is_case(editable, "compiled", {{"origin", "editable"}}));
        CHECK(editable.finding.fix->command ==
              "/env/bin/python -m pip install --no-deps -e '/home/me/my src'");
    }
    SECTION("of whose source nothing is known there is no command") {
        env.seen[1].source.clear();
        CHECK(env.found("CE104").at(0).finding.fix->command.empty());
    }
    SECTION("a wheel that was requested by name names no other package") {
        env.inventory.distributions[1].requested = true;
        CHECK(env.found("CE104").at(0).finding.evidence[1].text ==
              "now torch 2.15.0, requested by name, 2026-11-21 10:01 UTC");
    }
    SECTION("nor is what was installed another day") {
        env.inventory.distributions[2].installed_ns += 100 * ContextBuilder::k_minute_ns;
        CHECK(env.found("CE104").at(0).finding.evidence[1].text ==
              "now torch 2.15.0, 2026-11-21 10:01 UTC");
    }
    SECTION("uv is named where uv installed it") {
        env.inventory.distributions[1].installer = "uv";
        CHECK(is_case(env.found("CE104").at(0), "compiled", {{"manager", "uv"}}));
    }
}

TEST_CASE("a build that conda's package replaced names conda") {
    ContextBuilder env;
    env.seen = {{"torch", "1.12.0a0+git664058f", Origin::Built, "", "", 1, 0}};
    env.conda_python("pytorch", "2.4.1", "torch");
    REQUIRE(env.codes(CheckDepth::Records) == Codes{"CE104"});
    CHECK(
        is_case(env.found("CE104")[0], "compiled", {{"manager", "conda"}, {"now", "torch 2.4.1"}}));
}

TEST_CASE("a rebuild, a removal, an older wheel and a wheel for a wheel are no findings") {
    auto env = replaced_torch();
    auto& torch = env.inventory.distributions[1];
    SECTION("rebuilt") {
        torch.version = "1.13.0a0+git7654321";
    }
    SECTION("rebuilt from the directory, in any version") {
        torch.direct_url = {"file:///home/me/src/pytorch", false, "", "", "",
                            "/home/me/src/pytorch"};
    }
    SECTION("made editable") {
        torch.direct_url = {"file:///home/me/src/pytorch", true, "", "", "",
                            "/home/me/src/pytorch"};
    }
    SECTION("uninstalled") {
        env.uninstall(1);
    }
    SECTION("a record from before") {
        torch.installed_ns = ContextBuilder::k_first_ns - 10;
    }
    SECTION("it was a wheel already") {
        env.seen[1].origin = Origin::Wheel;
    }
    SECTION("it is still there, beside the wheel") {
        env.pip("torch", "1.12.0a0+git664058f");
    }
    CHECK(env.found("CE104").empty());
}

} // namespace
} // namespace cudaenv::rules::testing
