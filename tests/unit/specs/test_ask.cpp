#include "solver/specs/ask.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <string>

using namespace cudaenv::specs;

namespace {
Ask ask(const std::string& text) {
    auto parsed = Ask::parse(text);
    INFO(text << ": " << (parsed ? "" : parsed.error().message));
    REQUIRE(parsed);
    return std::move(*parsed);
}
} // namespace

TEST_CASE("what both managers read is asked of both") {
    const auto text =
        GENERATE("torch", "torch==2.4", "torch>=2,<3", "torch ~=2.4.0", "torch!=2.4.*", " torch ");
    const Ask asked = ask(text);
    INFO(text);
    CHECK(asked.conda() != nullptr);
    CHECK(asked.pip() != nullptr);
    CHECK(asked.name() == "torch");
}

TEST_CASE("what only conda reads is conda's") {
    const auto text =
        GENERATE("numpy 1.26.*", "numpy=1.26", "numpy=1.7=*cuda11.0*", "conda-forge::numpy",
                 "numpy[build=py*]", "numpy >=1|<0.5", "numpy 1.26 py_0");
    const Ask asked = ask(text);
    INFO(text);
    CHECK(asked.conda() != nullptr);
    CHECK(asked.pip() == nullptr);
    CHECK(asked.name() == "numpy");
}

TEST_CASE("what only Python reads is Python's") {
    const auto text = GENERATE("tensorflow[and-cuda]", "tensorflow[and-cuda]>=2.14",
                               "tensorflow>=2; python_version<'3.12'",
                               "tensorflow @ https://host/t.whl", "tensorflow===2.14");
    const Ask asked = ask(text);
    INFO(text);
    CHECK(asked.conda() == nullptr);
    REQUIRE(asked.pip() != nullptr);
    CHECK(asked.name() == "tensorflow");
}

TEST_CASE("extras are reported") {
    CHECK(ask("tensorflow[and-cuda]").extras() == std::vector<std::string>{"and-cuda"});
    CHECK(ask("torch").extras().empty());
}

TEST_CASE("a name is normalized, and conda keeps its own") {
    CHECK(ask("Foo_Bar>=1").name() == "foo-bar");
    CHECK(ask("Foo_Bar>=1").conda()->name() == "foo_bar");
    CHECK(ask("_libgcc_mutex").pip() == nullptr);
}

TEST_CASE("each manager's versions are judged by its own rules") {
    const Ask exact = ask("torch==2.4");
    CHECK(exact.constrains_version());
    CHECK(exact.satisfied_by("2.4.0", VersionRules::Conda));
    CHECK(exact.satisfied_by("2.4.0", VersionRules::Pep440));
    CHECK(exact.satisfied_by("2.4.0+cu124", VersionRules::Pep440));
    CHECK_FALSE(exact.satisfied_by("2.4.0+cu124", VersionRules::Conda));
    CHECK_FALSE(exact.satisfied_by("2.4.1", VersionRules::Pep440));
    CHECK_FALSE(ask("torch>=2,<3").satisfied_by("2.5.0rc1", VersionRules::Pep440));
    CHECK(ask("torch>=2.5.0rc1").satisfied_by("2.5.0rc1", VersionRules::Pep440));
    CHECK(ask("torch").satisfied_by("1.0", VersionRules::Conda));
    CHECK_FALSE(ask("torch").constrains_version());
}

TEST_CASE("conda's own forms judge a wheel's version without its local part") {
    CHECK(ask("torch=1.12").satisfied_by("1.12.1+cu113", VersionRules::Pep440));
    CHECK(ask("torch=1.12.1=*cuda*").satisfied_by("1.12.1+cu113", VersionRules::Pep440));
    CHECK_FALSE(ask("torch=1.12").satisfied_by("1.13.0+cu117", VersionRules::Pep440));
}

TEST_CASE("what no parser reads is refused with its column") {
    const auto missing = Ask::parse("torch==");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().column == 8);
    CHECK(missing.error().message.find("no version follows") != std::string::npos);
    CHECK_FALSE(missing.error().hint.empty());

    const auto shifted = Ask::parse("  torch==");
    REQUIRE_FALSE(shifted);
    CHECK(shifted.error().column == 10);

    CHECK_FALSE(Ask::parse(""));
    CHECK_FALSE(Ask::parse("cuda=ele~ven"));
    CHECK(Ask::parse("torch[a b]").error().code == "bad-requirement");
}
