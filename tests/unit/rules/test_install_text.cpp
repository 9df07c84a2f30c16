#include "check/rules/evidence.hpp"
#include "tests/unit/rules/context_builder.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

TEST_CASE("what a record has becomes part of a command only where it is a name and a version") {
    CHECK(pip_requirement("numpy", "2.0.0") == "numpy==2.0.0");
    CHECK(pip_requirement("a", "1.0+cu118.post1") == "a==1.0+cu118.post1");
    for (const std::string name :
         {"-rfoo", "--index-url=http://a", "victim @ http://a/y", "a;b", "a-", "", "a[b]", "a\n"}) {
        INFO(name);
        CHECK(pip_name(name).empty());
        CHECK(pip_requirement(name, "1.0").empty());
        CHECK(conda_requirement(name == "a-" ? "-a" : name, "1.0", "0").empty());
    }
    for (const std::string version : {"-e/etc", "", "1 @ http://a", "not one"}) {
        INFO(version);
        CHECK(pip_requirement("a", version).empty());
        CHECK(conda_requirement("a", version == "-e/etc" ? "/etc" : version, "0").empty());
    }
    CHECK(conda_requirement("_libgcc_mutex", "0.1", "conda_forge") ==
          "_libgcc_mutex=0.1=conda_forge");
    CHECK(conda_requirement("openssl", "1!3.0.2g") == "openssl=1!3.0.2g");
    CHECK(conda_requirement("a", "1", "0 -c http://a").empty());
    CHECK(pip_source("/home/me/my src") == "/home/me/my src");
    CHECK(pip_source("git+https://a/b@c") == "git+https://a/b@c");
    for (const std::string source : {"-r/etc/passwd", "--index-url=http://a", "src", "+://a", ""}) {
        CHECK(pip_source(source).empty());
    }
    CHECK(both_commands("a", "b") == "a && b");
    CHECK(both_commands("a", "").empty());
    CHECK(both_commands("", "b").empty());
}

TEST_CASE("a distribution whose name is an option gets no command and no repair") {
    for (const auto& [name, version] : std::vector<std::pair<std::string, std::string>>{
             {"-rfoo", "1.0"}, {"victim @ http://a/y", "1.0"}, {"victim", "-e/etc"}}) {
        INFO(name);
        ContextBuilder env;
        auto& victim = env.pip("victim", "1.0");
        env.file(victim, env.site() + "/victim/a.py", "x");
        env.file(victim, env.site() + "/victim/b.py", "x");
        victim.name = name;
        victim.version = version;
        SECTION("files changed") {
            env.disk[env.site() + "/victim/a.py"] = "y";
            CHECK(env.found("CE109").at(0).finding.fix->command.empty());
        }
        SECTION("files gone") {
            env.disk.erase(env.site() + "/victim/a.py");
            env.disk.erase(env.site() + "/victim/b.py");
            const auto found = env.found("CE107").at(0);
            CHECK(found.repairs.empty());
            CHECK(found.finding.fix->command.empty());
        }
    }
}

} // namespace
} // namespace cudaenv::rules::testing
