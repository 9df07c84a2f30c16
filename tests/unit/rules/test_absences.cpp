// What is missing in an environment, and what only seems to be.
#include "check/rules/file_kind.hpp"
#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;
using Paths = std::vector<std::string>;
constexpr auto k_both = {CheckDepth::Records, CheckDepth::Everything};

TEST_CASE("what pip --target lists of a home of its own is not missing") {
    ContextBuilder env;
    auto& plain = env.pip("plain", "2.0");
    env.file(plain, env.site() + "/plain.py", "x");
    for (const std::string path : {"bin/plain", "share/plain/a", "share/plain/b", "include/p.h"}) {
        ContextBuilder::claim(plain, "lib/" + path, "x"); // ../../bin/plain of the site
        env.disk[env.site() + '/' + path] = "x";
    }
    CHECK(env.codes().empty());
    SECTION(
        "but its modules are, and so are a library and a script where an environment has them") {
        ContextBuilder::claim(plain, "lib/libplain.so.1", "x");
        ContextBuilder::claim(plain, "bin/plain.so", "x");
        env.disk.erase(env.site() + "/plain.py");
        REQUIRE(env.codes() == Codes{"CE109"});
        CHECK(env.found()[0].files ==
              Paths{"bin/plain.so", "lib/libplain.so.1", env.site() + "/plain.py"});
    }
}

TEST_CASE("the digests of namespace declarations are those of their words") {
    for (const std::string text : {
             "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n",
             "__path__ = __import__(\"pkgutil\").extend_path(__path__, __name__)\n",
             "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n",
             "from pkgutil import extend_path\n\n__path__ = extend_path(__path__, __name__)\n",
             "import pkgutil\n__path__ = pkgutil.extend_path(__path__, __name__)\n",
             "import pkgutil\n\n__path__ = pkgutil.extend_path(__path__, __name__)\n",
             "__import__('pkg_resources').declare_namespace(__name__)\n",
             "__import__(\"pkg_resources\").declare_namespace(__name__)\n",
             "import pkg_resources\npkg_resources.declare_namespace(__name__)\n",
             "import pkg_resources\n\npkg_resources.declare_namespace(__name__)\n",
             "try:\n    __import__('pkg_resources').declare_namespace(__name__)\nexcept "
             "ImportError:\n    from pkgutil import extend_path\n    __path__ = "
             "extend_path(__path__, __name__)\n",
             "try:\n    import pkg_resources\n    "
             "pkg_resources.declare_namespace(__name__)\nexcept ImportError:\n    import pkgutil\n "
             "   __path__ = pkgutil.extend_path(__path__, __name__)\n",
         }) {
        facts::FileClaim claim;
        claim.hash = facts::ClaimHash::Sha256;
        claim.sha256 = cudaenv::testing::sha256(text);
        INFO(text);
        CHECK(is_namespace_declaration("a/__init__.py", claim));
        CHECK_FALSE(is_namespace_declaration("a/core.py", claim));
        claim.hash = facts::ClaimHash::None;
        CHECK_FALSE(is_namespace_declaration("a/__init__.py", claim));
    }
}

TEST_CASE("a declaration of a namespace that went with another wheel is not missed") {
    ContextBuilder env;
    auto& two = env.pip("oldtwo", "1.0");
    const auto declaration = env.site() + "/old_ns/__init__.py";
    env.file(two, env.site() + "/old_ns/two.py", "x");
    env.file(two, env.site() + "/old_ns/three.py", "x");
    SECTION("as pkgutil has it, beside modules") {
        ContextBuilder::claim(two, declaration,
                              "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n");
        CHECK(env.codes().empty());
    }
    SECTION("but one that holds code is") {
        ContextBuilder::claim(two, declaration, "from .two import x\n");
        REQUIRE(env.codes() == Codes{"CE109"});
        const auto found = env.found()[0].finding;
        CHECK(
            is_case(found, "missing", {{"n", "1"}, {"victim", "pip's oldtwo 1.0"}, {"conda", ""}}));
        CHECK(found.fix->command.find("--force-reinstall") != std::string::npos);
    }
    SECTION("and changed and missing files are reported together") {
        ContextBuilder::claim(two, declaration, "from .two import x\n");
        env.disk[env.site() + "/old_ns/two.py"] = "mine";
        CHECK(is_case(env.found("CE109").at(0), "changed",
                      {{"n", "2"}, {"victim", "pip's oldtwo 1.0"}, {"deleted", "yes"}}));
    }
}

TEST_CASE("a RECORD that does not name its own METADATA says nothing of files") {
    ContextBuilder env;
    auto& victim = env.bare("victim", "1.0", "pip");
    for (const std::string name : {"a.py", "b.py", "c.py"}) {
        ContextBuilder::claim(victim, env.site() + "/victim/" + name, "x");
    }
    env.unhashed(victim, victim.metadata + "/RECORD");
    env.disk[env.site() + "/victim/a.py"] = "what no record says";
    CHECK(env.codes().empty());
    SECTION("one that does, does") {
        env.file(victim, victim.metadata + "/METADATA", "Name: victim");
        CHECK(env.codes() == Codes{"CE107", "CE109"});
        SECTION("unless lines of it are damaged") {
            victim.damaged_lines = 1;
            CHECK(env.codes().empty());
        }
    }
    SECTION("but what it wrote over conda's files lies there") {
        auto& package = env.conda("lib", "1");
        package.written_ns = 1;
        ContextBuilder::claim(package, env.site() + "/victim/a.py", "conda's");
        env.disk[env.site() + "/victim/a.py"] = "x";
        for (auto damaged : {0U, 3U}) {
            victim.damaged_lines = damaged;
            CHECK(env.codes() == Codes{"CE102"});
        }
    }
}

TEST_CASE(
    "a conda package of which most is gone is an error, and one of which data is gone is not") {
    ContextBuilder env;
    const auto [package, numpy] = env.conda_python("numpy", "1.26.4");
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
        env.file(package, env.site() + "/numpy/" + name + ".py", name);
    }
    auto& fonts = env.conda("fonts", "1.0");
    env.file(fonts, "share/fonts/a.ttf", "x");
    env.disk.erase("share/fonts/a.ttf");
    CHECK(env.codes().empty());
    for (const char* name : {"a", "b", "c"}) {
        env.disk.erase(env.site() + "/numpy/" + name + ".py");
    }
    CHECK(env.codes() == Codes{"CE109"});
    for (const char* name : {"d", "e", "f", "g", "h", "i"}) {
        env.disk.erase(env.site() + "/numpy/" + name + ".py");
    }
    REQUIRE(env.codes() == Codes{"CE107"});
    const auto found = env.found()[0];
    CHECK(found.finding.severity == facts::Severity::Error);
    CHECK(is_case(found, "conda",
                  {{"victim", "conda's numpy 1.26.4"}, {"n", "9"}, {"total", "11 files"}}));
    CHECK(kinds(found) == kinds_of<RestoreConda>());
}

TEST_CASE("as many files as the title says are missing") {
    ContextBuilder env;
    auto& wheel = env.pip("victim", "1.0");
    for (const std::string name : {"a.py", "b.py", "c.py", "d.py"}) {
        env.file(wheel, env.site() + "/victim/" + name, "x");
    }
    for (const std::string name : {"a.py", "b.py", "c.py"}) {
        env.disk.erase(env.site() + "/victim/" + name);
    }
    const auto found = env.found("CE107").at(0).finding;
    CHECK(is_case(found, "pip", {{"victim", "victim 1.0"}, {"n", "3"}, {"total", "6 files"}}));
}

// conda's `both`, of which pip has taken away what the RECORD there named.
ContextBuilder uninstalled() {
    ContextBuilder env;
    auto [package, own] = env.conda_python("both", "1.0");
    for (const std::string name : {"a.py", "b.py"}) {
        env.file(package, env.site() + "/both/" + name, "conda's");
        ContextBuilder::claim(own, env.site() + "/both/" + name, "conda's");
    }
    auto [other, own_other] = env.conda_python("other", "1.0");
    for (const std::string name : {"a.py", "b.py"}) {
        env.file(other, env.site() + "/other/" + name, "conda's");
        ContextBuilder::claim(own_other, env.site() + "/other/" + name, "conda's");
    }
    return env;
}

TEST_CASE("conda's package of which pip left a directory without METADATA is an error") {
    auto env = uninstalled();
    auto& own = env.inventory.distributions[0];
    CHECK(env.codes().empty());
    for (const auto& file : own.files) {
        env.disk.erase(std::string(own.files.path(file)));
    }
    own.has_metadata = own.has_record = false;
    own.installer.clear();
    own.files = {};
    env.inventory.leftovers = {{facts::LeftoverKind::NoMetadata, own.metadata, "both", "1.0"}};
    for (const auto depth : k_both) {
        REQUIRE(env.codes(depth) == Codes{"CE102"});
        const auto found = env.found({}, depth)[0];
        CHECK(found.finding.severity == facts::Severity::Error);
        CHECK(is_case(found, "uninstalled", {{"victim", "conda's both 1.0"}}));
        CHECK(found.said_at_prompt);

        CHECK(kinds(found) == kinds_of<RestoreConda>());
    }
    SECTION("not so where the directory could not be read") {
        env.inventory.notes = {{own.metadata + "/METADATA", "permission denied"}};
        CHECK(env.codes(CheckDepth::Records).empty());
    }
}

TEST_CASE("an environment stripped of its metadata was not uninstalled") {
    auto env = uninstalled();
    for (const auto& own : env.inventory.distributions) {
        for (const auto* name : {"METADATA", "WHEEL", "INSTALLER", "RECORD"}) {
            env.disk.erase(own.metadata + '/' + name);
        }
    }
    env.inventory.distributions.clear();
    for (const auto depth : k_both) {
        CHECK(env.codes(depth).empty());
    }
}

} // namespace
} // namespace cudaenv::rules::testing
