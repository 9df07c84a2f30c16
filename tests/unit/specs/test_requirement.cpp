#include "solver/specs/requirement.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>

using namespace cudaenv::specs;

namespace {
Requirement requirement(const std::string& text) {
    auto parsed = Requirement::parse(text);
    INFO(text << ": " << (parsed ? "" : parsed.error().message));
    REQUIRE(parsed);
    return std::move(*parsed);
}
bool holds(const std::string& marker, const MarkerEnvironment& environment = {}) {
    const auto parsed = Marker::parse(marker);
    INFO(marker);
    REQUIRE(parsed);
    const auto value = parsed->evaluate(environment);
    REQUIRE(value);
    return *value;
}
} // namespace

TEST_CASE("a requirement has a name, extras, versions and a marker") {
    const Requirement read =
        requirement("Torch_Vision [opt, dev] >=0.15,<1 ; python_version < '3.13'");
    CHECK(read.name == "Torch_Vision");
    CHECK(read.normalized_name() == "torch-vision");
    CHECK(read.extras == std::vector<std::string>{"dev", "opt"});
    CHECK(read.specifiers.str() == ">=0.15,<1");
    CHECK(read.marker);
    CHECK(read.url.empty());
}

TEST_CASE("a requirement may name a URL") {
    const Requirement read =
        requirement("torch @ https://host/torch-2.4-py3-none-any.whl ; os_name == 'posix'");
    CHECK(read.url == "https://host/torch-2.4-py3-none-any.whl");
    CHECK(read.marker);
    CHECK(requirement("torch@https://host/t.whl").url == "https://host/t.whl");
}

TEST_CASE("versions may stand in parentheses and end in a comma") {
    CHECK(requirement("torch (>=2,<3)").specifiers.clauses().size() == 2);
    CHECK(requirement("torch>=2,").specifiers.clauses().size() == 1);
    CHECK(requirement("torch >= 2 , < 3").specifiers.clauses().size() == 2);
}

TEST_CASE("a project's name is compared in its normal form") {
    CHECK(normalize_project_name("A.b__c-.D") == "a-b-c-d");
}

TEST_CASE("markers compare versions as versions and the rest as texts") {
    MarkerEnvironment environment;
    environment.python_version = "3.9";
    environment.python_full_version = "3.9.18";
    CHECK(holds("python_version < '3.10'", environment));
    CHECK(holds("python_full_version >= '3.9.2'", environment));
    CHECK(holds("python_version in '3.8 3.9'", environment));
    CHECK(holds("'3.9' == python_version", environment));
    CHECK(holds("python_version == '3.*'", environment));
    CHECK(holds("sys_platform == 'linux' and platform_machine == 'x86_64'", environment));
    CHECK(holds("os.name == 'posix' or sys_platform == 'win32'", environment));
    CHECK_FALSE(holds("os_name != 'posix' and (os_name == 'posix' or os_name == 'nt')"));
    CHECK(holds("sys_platform not in 'win32 darwin'"));
    CHECK_FALSE(holds("os_name < 'q'"));
}

TEST_CASE("and binds tighter than or") {
    CHECK(holds("os_name == 'posix' or os_name == 'a' and os_name == 'b'"));
    CHECK_FALSE(holds("(os_name == 'posix' or os_name == 'a') and os_name == 'b'"));
}

TEST_CASE("an extra is compared in its normal form") {
    MarkerEnvironment environment;
    environment.extra = "Foo_Bar";
    CHECK(holds("extra == 'foo.bar'", environment));
    CHECK_FALSE(holds("extra == 'foo.bar'"));
    environment.extras = {"Foo_Bar"};
    CHECK(holds("'foo-bar' in extras", environment));
}

TEST_CASE("a senseless marker is reported when it is evaluated") {
    const auto marker = Marker::parse("os_name ~= 'posix'");
    REQUIRE(marker);
    CHECK_FALSE(marker->evaluate({}));
}

TEST_CASE("a broken requirement is refused at the column where it stops making sense") {
    struct Bad {
        std::string text;
        int column;
        std::string says;
    };
    const auto bad = GENERATE(values<Bad>({
        {"", 1, "no project name"},
        {"torch==", 8, "no version follows \"==\""},
        {"torch=1.7", 6, "a single \"=\" is conda's"},
        {"torch>=2 <3", 10, "joined by commas"},
        {"torch[", 6, "not closed"},
        {"torch[a b]", 9, "not closed"},
        {"torch[a,]", 9, "no extra follows"},
        {"torch>=1.*", 9, "is allowed only with =="},
        {"torch (>=2", 7, "not closed"},
        {"torch @ ", 9, "no URL"},
        {"torch; pythn_version < '3'", 8, "did you mean python_version?"},
        {"torch; python_version '3'", 23, "no comparison"},
        {"torch; python_version < '3", 25, "closing quote"},
        {"torch; (os_name == 'a'", 8, "not closed"},
        {"torch; os_name == 'a' os_name", 23, "after the end"},
        {"_torch", 1, "no project name"},
    }));
    INFO(bad.text);
    const auto parsed = Requirement::parse(bad.text);
    REQUIRE_FALSE(parsed);
    INFO(parsed.error().message << " | " << parsed.error().hint);
    CHECK(parsed.error().code == "bad-requirement");
    CHECK(parsed.error().column == bad.column);
    CHECK((parsed.error().message + parsed.error().hint).find(bad.says) != std::string::npos);
}

TEST_CASE("deeply nested markers are refused") {
    const std::string deep = std::string(5'000, '(') + "os_name == 'a'" + std::string(5'000, ')');
    CHECK_FALSE(Marker::parse(deep));
}

TEST_CASE("an error about a requirement quotes no part of a URL with a password") {
    for (const char* text : {"https://me:SECRET@[::1]/x", "http:\\/\\/me:SECRET@host",
                             "x @ password: SECRET", "ftp://me:SECRET@host/;type=a"}) {
        CAPTURE(text);
        const auto parsed = Requirement::parse(text);
        REQUIRE(!parsed);
        CHECK(parsed.error().message.find("SECRET") == std::string::npos);
    }
}
