// Repairs that would do harm: tests/integration/check/test_sequences.py has them at random.
#include "check/rules/consequences.hpp"
#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

// pip's click 8.2 over conda's click 8.1.
ContextBuilder replaced_click() {
    ContextBuilder env;
    const auto [package, shipped] = env.conda_python("click", "8.1");
    env.file(package, env.site() + "/click/core.py", "conda's");
    env.uninstall(0);
    env.file(env.pip("click", "8.2"), env.site() + "/click/core.py", "pip's");
    return env;
}

facts::Distribution& needy(ContextBuilder& env, const char* requirement) {
    auto& distribution = env.pip("needy", "1.0");
    env.file(distribution, env.site() + "/needy.py", "import click");
    distribution.requires_dist = {requirement};
    return distribution;
}

TEST_CASE("a repair is withheld where a requirement that holds would not hold after it") {
    auto env = replaced_click();
    CHECK(kinds(env.found("CE102").at(0)) == kinds_of<UninstallPip, RestoreConda>());
    needy(env, "click>=8.2");
    for (const auto depth : {CheckDepth::Records, CheckDepth::Everything}) {
        const auto found = env.found("CE102", depth).at(0);
        CHECK(is_case(
            found, "replaced",
            {{"withheld", "breaks"}, {"dependent", "needy 1.0"}, {"requirement", "click>=8.2"}}));
        CHECK(found.repairs.empty());
        CHECK(found.finding.fix->command.empty());
        CHECK(found.finding.severity == facts::Severity::Warning);
    }
}

TEST_CASE("a requirement that does not hold now, or not here, withholds nothing") {
    for (const char* requirement :
         {"click>=9", "click>=8.2; python_version < '3'", "click>=8.2; extra == 'dev'", "click",
          "click>=8", "nothing-of-that-name>=1"}) {
        CAPTURE(requirement);
        auto env = replaced_click();
        needy(env, requirement);
        CHECK(env.found("CE102").at(0).repairs.size() == 2);
    }
}

TEST_CASE("an extra counts where another package requires it") {
    auto env = replaced_click();
    needy(env, "click>=8.2; extra == 'dev'");
    auto& user = env.pip("user", "1.0");
    user.requires_dist = {"needy[dev]"};
    CHECK(is_case(env.found("CE102").at(0), "replaced", {{"withheld", "breaks"}}));
}

TEST_CASE("conda's depends hold by what is really installed") {
    auto env = replaced_click();
    env.conda("tool", "1").depends = {"click >=8.2", "__glibc >=99", "absent"};
    CHECK(is_case(env.found("CE102").at(0), "replaced",
                  {{"withheld", "breaks"}, {"dependent", "tool 1"}}));
    env.inventory.conda.back().depends = {"click >=8.1", "absent"};
    CHECK(env.found("CE102").at(0).repairs.size() == 2);
}

TEST_CASE("two that only fit together go back together, and neither alone") {
    auto env = replaced_click();
    const auto [package, shipped] = env.conda_python("pair", "8.1");
    package.depends = {"click <8.2"};
    env.file(package, env.site() + "/pair/core.py", "conda's");
    env.uninstall(1);
    auto& pair = env.pip("pair", "8.2");
    pair.requires_dist = {"click>=8.2"};
    env.file(pair, env.site() + "/pair/core.py", "pip's");
    auto both = env.found("CE102");
    REQUIRE(both.size() == 2);
    for (const auto& found : both) {
        CHECK(found.repairs.size() == 2);
    }
    for (std::size_t alone = 0; alone < both.size(); ++alone) {
        std::vector<CheckFinding> one{both[alone]};
        withhold_harmful_repairs(env.context(), one);
        CHECK(one[0].repairs.empty());
    }
    // And where one of them has to stay, so has the other.
    needy(env, "click>=8.2");
    for (const auto& found : env.found("CE102")) {
        CAPTURE(found.subject);
        CHECK(found.repairs.empty());
    }
}

TEST_CASE("a file that was edited is not left among those of another version") {
    auto env = replaced_click();
    SECTION("of both") {
        env.disk[env.site() + "/click/core.py"] = "edited";
    }
    SECTION("of the one that would go") {
        auto& wheel = env.inventory.distributions.back();
        env.file(wheel, env.site() + "/click/new.py", "pip's");
        env.disk[env.site() + "/click/new.py"] = "edited";
    }
    const auto found = env.found("CE102").at(0);
    CHECK(is_case(found, "replaced", {{"withheld", "edited"}}));
    CHECK(found.repairs.empty());
}

TEST_CASE("what was edited is not overwritten by installing it again") {
    ContextBuilder env;
    auto& wheel = env.pip("tool", "1.0");
    for (const char* name : {"/tool/a.py", "/tool/b.py", "/tool/c.py", "/tool/d.json"}) {
        env.file(wheel, env.site() + name, "as installed");
    }
    env.disk.erase(env.site() + "/tool/a.py");
    env.disk.erase(env.site() + "/tool/b.py");
    env.disk.erase(env.site() + "/tool/c.py");
    CHECK(kinds(env.found("CE107").at(0)) == kinds_of<ReinstallPip>());
    env.disk[env.site() + "/tool/d.json"] = "edited";
    const auto found = env.found("CE107").at(0);
    CHECK(
        is_case(found, "pip", {{"withheld", "overwrites"}, {"path", env.site() + "/tool/d.json"}}));
    CHECK(found.repairs.empty());
    CHECK(found.finding.fix->command.ends_with("tool==1.0"));
}

TEST_CASE("worse is what held and does not, and what was not found") {
    const UnmetRequirement old{"needy 1.0", "click>=9", "needy", "click"};
    const UnmetRequirement same{"needy 2.0", "click>=8", "needy", "click"};
    const UnmetRequirement other{"user 1.0", "click", "user", "click"};
    CheckFinding before;
    before.finding.code = "CE102";
    before.subject = "click";
    before.files = {"a", "b"};
    CheckFinding after = before;
    using Unmet = std::vector<UnmetRequirement>;
    using Found = std::vector<CheckFinding>;
    CHECK(worse_of(Unmet{old}, Found{before}, Unmet{same}, Found{after}).empty());
    CHECK_FALSE(worse_of(Unmet{old}, Found{before}, Unmet{other}, Found{}).empty());
    after.finding.code = "CE107";
    after.finding.severity = facts::Severity::Error;
    after.files = {"a"};
    CHECK(worse_of(Unmet{}, Found{before}, Unmet{}, Found{after}).empty());
    after.files = {"a", "c"};
    CHECK_FALSE(worse_of(Unmet{}, Found{before}, Unmet{}, Found{after}).empty());
    after.finding.severity = facts::Severity::Note;
    CHECK(worse_of(Unmet{}, Found{before}, Unmet{}, Found{after}).empty());
}

} // namespace
} // namespace cudaenv::rules::testing
