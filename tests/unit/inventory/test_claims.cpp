#include "solver/facts/claims.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <set>
#include <string>

namespace cudaenv::facts {
namespace {

FileClaims files(const std::vector<std::string>& paths) {
    FileClaims result;
    for (const auto& path : paths) {
        result.add(path, {});
    }
    return result;
}

CondaPackage conda(const std::vector<std::string>& paths) {
    CondaPackage package;
    package.files = files(paths);
    return package;
}

Distribution wheel(const std::vector<std::string>& paths) {
    Distribution distribution;
    distribution.files = files(paths);
    return distribution;
}

TEST_CASE("a path has all its claims, conda's packages first") {
    Inventory inventory;
    inventory.conda = {conda({"a", "b"}), conda({"b", "c"})};
    inventory.distributions = {wheel({"c", "b", "b"}), wheel({})};
    const Claims claims(inventory);
    using By = Claim::By;
    CHECK(claims.size() == 7);
    CHECK(claims.of("a") == std::vector<Claim>{{By::Conda, 0, 0}});
    CHECK(claims.of("b") == std::vector<Claim>{{By::Conda, 0, 1},
                                               {By::Conda, 1, 0},
                                               {By::Distribution, 0, 1},
                                               {By::Distribution, 0, 2}});
    CHECK(claims.of("c") == std::vector<Claim>{{By::Conda, 1, 1}, {By::Distribution, 0, 0}});
    CHECK(claims.of("d").empty());
    CHECK(claims.of("").empty());
    CHECK(claims.path(claims.of("c").front()) == "c");
}

TEST_CASE("each path is visited once with all its claims, in the order of the first") {
    Inventory inventory;
    inventory.conda = {conda({"x", "x", "shared"})};
    inventory.distributions = {wheel({"a", "shared"})};
    const Claims claims(inventory);
    std::vector<std::pair<std::string, std::size_t>> result;
    claims.for_each_path([&](std::string_view path, std::span<const Claim> by) {
        result.emplace_back(path, by.size());
    });
    CHECK(result ==
          std::vector<std::pair<std::string, std::size_t>>{{"x", 2}, {"shared", 2}, {"a", 1}});
    Claims(Inventory{}).for_each_path([](std::string_view, std::span<const Claim>) { FAIL(); });
}

TEST_CASE("shared paths are those of two packages, not those that one record has twice") {
    Inventory inventory;
    inventory.conda = {conda({"x", "x", "shared"})};
    inventory.distributions = {wheel({"y", "y", "shared", "z"}), wheel({"z", "w"})};
    const Claims claims(inventory);
    std::vector<std::string> shared;
    claims.for_each_shared([&](std::string_view path, std::span<const Claim> by) {
        CHECK(by.size() == 2);
        CHECK_FALSE(by[0].same_owner(by[1]));
        shared.emplace_back(path);
    });
    CHECK(shared == std::vector<std::string>{"shared", "z"});
}

TEST_CASE("an inventory without files has no claims") {
    const Inventory inventory;
    const Claims claims(inventory);
    CHECK(claims.size() == 0);
    CHECK(claims.of("a").empty());
    claims.for_each_shared([](std::string_view, std::span<const Claim>) { FAIL(); });
}

TEST_CASE("joining is the same as comparing every path with every other") {
    // Paths of one letter in four, so that many meet; a fixed generator, so that a failure stays.
    std::uint32_t state = 7;
    const auto draw = [&](std::uint32_t below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 8U) % below;
    };
    for (int round = 0; round < 50; ++round) {
        Inventory inventory;
        std::map<std::string, std::vector<Claim>> expected;
        for (std::uint32_t package = 0; package < 6; ++package) {
            std::vector<std::string> paths;
            for (std::uint32_t file = 0; file < draw(40); ++file) {
                std::string path = "lib/python3.11/site-packages/";
                for (std::uint32_t letters = 1 + draw(3); letters > 0; --letters) {
                    path += static_cast<char>('a' + draw(4));
                }
                paths.push_back(path);
            }
            const auto by = package < 3 ? Claim::By::Conda : Claim::By::Distribution;
            for (std::uint32_t file = 0; file < paths.size(); ++file) {
                expected[paths[file]].push_back({by, package % 3, file});
            }
            if (by == Claim::By::Conda) {
                inventory.conda.push_back(conda(paths));
            } else {
                inventory.distributions.push_back(wheel(paths));
            }
        }
        const Claims claims(inventory);
        std::set<std::string> shared;
        for (const auto& [path, of] : expected) {
            CHECK(claims.of(path) == of);
            for (const auto& claim : of) {
                if (!claim.same_owner(of.front())) {
                    shared.insert(path);
                }
            }
        }
        claims.for_each_shared([&](std::string_view path, std::span<const Claim> by) {
            CHECK(shared.erase(std::string(path)) == 1);
            CHECK(std::vector<Claim>(by.begin(), by.end()) == expected[std::string(path)]);
        });
        CHECK(shared.empty());
    }
}

} // namespace
} // namespace cudaenv::facts
