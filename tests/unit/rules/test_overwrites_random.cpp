#include "check/rules/overwritten.hpp"
#include "tests/unit/rules/two_managers.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

namespace cudaenv::rules::testing {
namespace {

using Random = std::mt19937;

std::size_t pick(Random& random, std::size_t below) {
    return random() % below;
}

// One step of either manager; its words are the way back to a failure.
std::string step(TwoManagers& managers, Random& random) {
    const std::string name = pick(random, 2) == 0 ? "alpha" : "beta";
    const std::string version = pick(random, 2) == 0 ? "1.0" : "2.0";
    switch (pick(random, 6)) {
    case 0:
    case 1:
        managers.conda_install(name, version);
        return "conda install " + name + '=' + version + '\n';
    case 2:
        managers.conda_remove(name);
        return "conda remove " + name + '\n';
    case 3:
        managers.pip_uninstall(name);
        return "pip uninstall " + name + '\n';
    default:
        managers.pip_install(name, version);
        return "pip install " + name + "==" + version + '\n';
    }
}

std::string dump(const std::vector<CheckFinding>& found) {
    std::string text;
    for (const auto& one : found) {
        text += one.finding.code + ' ' + one.finding.title + '\n';
        for (const auto& file : one.files) {
            text += "    " + file + '\n';
        }
    }
    return text;
}

// Of those that tell of files; leftovers name metadata.
std::set<std::string> named(const std::vector<CheckFinding>& found) {
    std::set<std::string> result;
    for (const auto& one : found) {
        if (one.finding.code != "CE106") {
            result.insert(one.files.begin(), one.files.end());
        }
    }
    return result;
}

TEST_CASE("after any sequence of conda and pip exactly the files that differ are named") {
    for (const bool share : {false, true}) {
        for (unsigned seed = 0; seed < 400; ++seed) {
            Random random(seed);
            TwoManagers managers(share);
            std::string steps;
            const auto count = 1 + pick(random, 7);
            for (std::size_t i = 0; i < count; ++i) {
                steps += step(managers, random);
            }
            auto env = managers.environment();
            const auto found = env.found();
            INFO(seed << " " << share << "\n" << steps << dump(found));
            REQUIRE(named(found) == managers.differing());
            // By the records alone nothing is named that does not differ.
            for (const auto& path : named(env.found({}, CheckDepth::Records))) {
                CHECK(managers.differing().contains(path));
            }
        }
    }
}

TEST_CASE("after any sequence of conda and pip the repairs bring back what the records say") {
    for (unsigned seed = 0; seed < 400; ++seed) {
        Random random(seed);
        TwoManagers managers(false);
        std::string steps;
        const auto count = 1 + pick(random, 7);
        for (std::size_t i = 0; i < count; ++i) {
            steps += step(managers, random);
        }
        std::vector<CheckFinding> found;
        for (int round = 0; round < 8; ++round) {
            auto env = managers.environment();
            found = env.found();
            const auto first = std::find_if(found.begin(), found.end(),
                                            [](const auto& one) { return !one.repairs.empty(); });
            if (first == found.end()) {
                break;
            }
            steps += "--fix " + first->finding.code + ' ' + first->subject + '\n';
            for (const auto& repair : first->repairs) {
                managers.carry_out(repair, env.inventory);
            }
        }
        INFO(seed << "\n" << steps << dump(found));
        REQUIRE(found.empty());
        REQUIRE(managers.differing().empty());
    }
}

TEST_CASE("of any claims and contents each package loses what a loop over all of them finds") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        Random random(seed);
        ContextBuilder env;
        const auto paths = [&](std::size_t i) {
            return env.site() + "/p/f" + std::to_string(i) + ".py";
        };
        const auto fill = [&](auto& package) {
            for (std::size_t i = 0; i < 6; ++i) {
                if (pick(random, 2) == 0) {
                    ContextBuilder::claim(package, paths(i), std::to_string(pick(random, 3)));
                }
            }
        };
        for (int i = 0; i < 2; ++i) {
            fill(env.conda("c" + std::to_string(i), "1"));
            auto& wheel = env.bare("d" + std::to_string(i), "1", "pip");
            env.file(wheel, wheel.metadata + "/METADATA", "Name: d");
            fill(wheel);
        }
        for (std::size_t i = 0; i < 6; ++i) {
            if (const auto content = pick(random, 5); content < 4) {
                env.disk[paths(i)] = std::to_string(content);
            }
        }
        const auto& context = env.context();
        std::map<Party, std::set<std::string>> expected;
        const auto look = [&](facts::Claim::By by, const auto& packages) {
            for (std::uint32_t number = 0; number < packages.size(); ++number) {
                const auto& files = packages[number].files;
                for (const auto& file : files) {
                    const std::string path(files.path(file));
                    const auto state = env.state_of(path);
                    const auto fit = facts::fit_of(file, &state);
                    // Two of conda's that write one path is conda's own business.
                    bool of_conda = false;
                    for (const auto& claim : context.claims.of(path)) {
                        of_conda = of_conda || (claim.by == facts::Claim::By::Conda &&
                                                facts::fit_of(context.claims.file(claim), &state) ==
                                                    facts::Fit::Same);
                    }
                    if (fit == facts::Fit::Missing ||
                        (fit == facts::Fit::Other &&
                         !(by == facts::Claim::By::Conda && of_conda))) {
                        expected[{by, number}].insert(path);
                    }
                }
            }
        };
        look(facts::Claim::By::Conda, env.inventory.conda);
        look(facts::Claim::By::Distribution, env.inventory.distributions);
        std::map<Party, std::set<std::string>> result;
        for (const auto& loss : find_losses(context)) {
            for (const auto* files : {&loss.replaced, &loss.gone, &loss.changed}) {
                for (const auto& path : *files) {
                    CHECK(result[loss.victim].insert(path).second); // never twice
                }
            }
        }
        INFO(seed);
        REQUIRE(result == expected);
    }
}

} // namespace
} // namespace cudaenv::rules::testing
