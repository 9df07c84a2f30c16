#include "solver/inputs/target.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using inputs::Target;

namespace {

Target::Verdict judge(const Target& target, std::string_view marker) {
    const auto parsed = specs::Marker::parse(marker);
    REQUIRE(parsed);
    const auto verdict = target.judge(*parsed);
    REQUIRE(verdict);
    return *verdict;
}

} // namespace

TEST_CASE("a marker about Python is open where the Python is") {
    const Target open;
    CHECK(judge(open, "python_version >= '3.9'") == Target::Verdict::DependsOnPython);
    CHECK(judge(open, "python_version >= '3'") == Target::Verdict::Yes);
    CHECK(judge(open, "python_version < '3'") == Target::Verdict::No);
    CHECK(judge(open, "sys_platform == 'win32' and python_version >= '3.9'") ==
          Target::Verdict::No);
    CHECK(judge(open, "implementation_name == 'pypy'") == Target::Verdict::No);
}

TEST_CASE("a minor version decides but for patch releases") {
    const Target minor("3.11");
    CHECK(judge(minor, "python_version == '3.11'") == Target::Verdict::Yes);
    CHECK(judge(minor, "python_full_version < '3.11.4'") == Target::Verdict::DependsOnPython);
    CHECK(judge(Target("3.11.2"), "python_full_version < '3.11.4'") == Target::Verdict::Yes);
}

TEST_CASE("what the file requires of Python narrows it; a contradiction does not") {
    Target target;
    target.narrow(*specs::SpecifierSet::parse(">=3.10,<3.12"));
    CHECK(judge(target, "python_version >= '3.10'") == Target::Verdict::Yes);
    CHECK(judge(target, "python_version >= '3.11'") == Target::Verdict::DependsOnPython);
    target.narrow(*specs::SpecifierSet::parse(">=4"));
    CHECK(judge(target, "python_version >= '3.10'") == Target::Verdict::Yes);
}
