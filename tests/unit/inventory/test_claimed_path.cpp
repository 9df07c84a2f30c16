#include "check/inventory/claimed_path.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::inventory {
namespace {

std::string resolved(std::string_view base, std::string_view written) {
    ClaimedPaths paths("/e/env", "/real/env");
    return std::string(paths.resolve(base, written));
}

TEST_CASE("a path of a record is relative to the prefix") {
    CHECK(resolved("lib/python3.11/site-packages", "torch/version.py") ==
          "lib/python3.11/site-packages/torch/version.py");
    CHECK(resolved("lib/python3.11/site-packages", "../../../bin/torchrun") == "bin/torchrun");
    CHECK(resolved("lib/python3.11/site-packages", "./torch//a/./b.py") ==
          "lib/python3.11/site-packages/torch/a/b.py");
    CHECK(resolved("lib/s", "numpy.libs/.hidden") == "lib/s/numpy.libs/.hidden");
    CHECK(resolved("lib/s", "a/..b/...") == "lib/s/a/..b/...");
    CHECK(resolved("lib/s", "pkg/__pycache__/") == "lib/s/pkg/__pycache__");
    CHECK(resolved("", "bin/x") == "bin/x");
}

TEST_CASE("a path that leads out of the prefix is absolute") {
    CHECK(resolved("lib/s", "../../../other/x") == "/e/other/x");
    CHECK(resolved("lib/s", "/usr/share/man/man1/x.1") == "/usr/share/man/man1/x.1");
    CHECK(resolved("lib/s", "../../../../../../../etc/x") == "/etc/x");
    CHECK(resolved("/opt/site", "a/b") == "/opt/site/a/b");
    CHECK(resolved("/opt/site", "../a/b") == "/opt/a/b");
    CHECK(resolved("lib/s", "/e/environment/x") == "/e/environment/x");
}

TEST_CASE("an absolute path below the prefix is relative, by either name of the prefix") {
    CHECK(resolved("lib/s", "/e/env/bin/x") == "bin/x");
    CHECK(resolved("lib/s", "/real/env/bin/x") == "bin/x");
    CHECK(resolved("/e/env/lib", "../bin/x") == "bin/x");
}

TEST_CASE("the prefix itself is the empty path, and the root is a slash") {
    CHECK(resolved("lib/s", "../..").empty());
    CHECK(resolved("lib/s", "/e/env/").empty());
    CHECK(resolved("lib/s", "/") == "/");
}

TEST_CASE("bytes that are no UTF-8 and backslashes stay as they are") {
    CHECK(resolved("lib", "caf\xe9.py") == "lib/caf\xe9.py");
    CHECK(resolved("lib", "pkg\\mod.py") == "lib/pkg\\mod.py");
}

} // namespace
} // namespace cudaenv::inventory
