#include "check/inventory/failing_imports.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <vector>

namespace cudaenv::inventory {
namespace {

std::vector<std::string> modules(std::string_view text) {
    std::vector<std::string> names;
    for (const auto& [name, line] : imports_of_source(text)) {
        names.push_back(name);
    }
    return names;
}

TEST_CASE("imports without indentation are those that are executed in any case") {
    using Names = std::vector<std::string>;
    CHECK(modules("import a\nimport b.c as d, e  # f\n") == Names{"a", "b.c", "e"});
    CHECK(modules("from x.y import z\n") == Names{"x.y"});
    CHECK(modules("from . import core\nfrom ..up import (one,\n    two)\n") ==
          Names{".", ".core", "..up", "..up.one"});
    CHECK(modules("from torch import nn\n") == Names{"torch", "torch.nn"});
    CHECK(modules("try:\n    import a\nexcept ImportError:\n    a = None\n").empty());
    CHECK(modules("if TYPE_CHECKING:\n    import a\ndef f():\n\timport b\n").empty());
    CHECK(modules("important = 1\nfromage = 2\nimport\nfrom\n").empty());
}

TEST_CASE("a docstring imports nothing, and nothing follows a raise") {
    using Names = std::vector<std::string>;
    CHECK(modules("\"\"\"Use it:\n\nimport a\n\"\"\"\nimport b\n") == Names{"b"});
    CHECK(modules("'''one line'''\nimport b\n") == Names{"b"});
    CHECK(modules("import a\nraise ImportError('no')\nimport b\n") == Names{"a"});
}

TEST_CASE("an import has its line") {
    const auto found = imports_of_source("#!/usr/bin/python\n\nimport a\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].second == 3);
}

} // namespace
} // namespace cudaenv::inventory
