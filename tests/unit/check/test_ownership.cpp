#include "tests/unit/check/scene_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::plan::testing {
namespace {

TEST_CASE("the tests' SHA-256 is that of the standard's example") {
    const auto digest = cudaenv::testing::sha256("abc");
    CHECK(digest[0] == 0xba);
    CHECK(digest[1] == 0x78);
    CHECK(digest[31] == 0xad);
}

TEST_CASE("an environment of conda's and pip's packages side by side has no finding") {
    SceneBuilder env;
    auto [package, distribution] = env.conda_python("numpy", "1.26.4");
    env.file(package, env.site() + "/numpy/core.py", "conda's");
    env.claim(distribution, env.site() + "/numpy/core.py", "conda's");
    env.file(env.pip("six", "1.16.0"), env.site() + "/six.py", "six");
    CHECK(env.codes().empty());
    CHECK(env.codes(CheckDepth::Records).empty());
}

} // namespace
} // namespace cudaenv::plan::testing
