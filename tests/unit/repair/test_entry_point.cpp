#include "check/repair/conda_source.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace cudaenv::repair {
namespace {

TEST_CASE("link.json names the commands of a noarch Python package and what they call") {
    const auto found = read_entry_points(
        R"({"noarch": {"entry_points": ["pip = pip._internal.cli.main:main", "x=a:b", 3, "none"],
            "type": "python"}, "package_metadata_version": 1})");
    CHECK(found ==
          std::map<std::string, std::string>{{"pip", "pip._internal.cli.main:main"}, {"x", "a:b"}});
    for (const char* broken : {"", "[]", "{}", R"({"noarch": {"entry_points": 1}})",
                               R"({"noarch": []})", R"({"noarch": "python"})"}) {
        CHECK(read_entry_points(broken).empty());
    }
}

TEST_CASE("a command is a program that calls what its line names") {
    const auto script = entry_point_script("/env/bin/python3.11", "a.b_2:Class.main [extra]");
    REQUIRE(script);
    CHECK(script->starts_with("#!/env/bin/python3.11\n"));
    CHECK(script->find("from a.b_2 import Class\n") != std::string::npos);
    CHECK(script->ends_with("sys.exit(Class.main())\n"));
}

TEST_CASE("a prefix that no first line can hold goes by a shell") {
    for (const std::string& python :
         {std::string("/my env/bin/python3.11"), '/' + std::string(130, 'e') + "/bin/python3.11"}) {
        const auto script = entry_point_script(python, "a:b");
        REQUIRE(script);
        CHECK(script->starts_with("#!/bin/sh\n'''exec' \"" + python + "\" "));
    }
}

TEST_CASE("a name that is not Python's, or a path that a shell cannot run, gives no command") {
    for (const char* target : {"", "a", ":", "a:", ":b", "a:b\nimport os", "a;b:c", "a b:c",
                               "a:b()", "1a:b", "a..b:c", "a:b.", "a:\"", "a:b#"}) {
        CHECK_FALSE(entry_point_script("/env/bin/python", target));
    }
    for (const char* python : {"/a\nb/python", "/a\"b/python", "/a$(b)/python", "/a`b/python"}) {
        CHECK_FALSE(entry_point_script(python, "a:b"));
    }
}

} // namespace
} // namespace cudaenv::repair
