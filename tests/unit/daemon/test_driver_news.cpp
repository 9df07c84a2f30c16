#include "daemon/probe/kept_verdict.hpp"
#include "tests/support/temporary_tree.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::daemon {
namespace {

TEST_CASE("what is wrong with the driver is reported once, and again when it changes") {
    const test::TemporaryTree tree;
    CHECK(is_news(tree.path(), "driver", "the library is 580, the module 570"));
    CHECK_FALSE(is_news(tree.path(), "driver", "the library is 580, the module 570"));
    CHECK(is_news(tree.path(), "driver", "the library is 590"));
    CHECK_FALSE(is_news(tree.path(), "driver", "the library is 590"));
}

TEST_CASE("a report that cannot be recorded is not repeated at every prompt") {
    CHECK_FALSE(is_news("", "driver", "the library is 580"));
    CHECK_FALSE(is_news("/nowhere/at/all", "driver", "the library is 580"));
}

} // namespace
} // namespace cudaenv::daemon
