#include "host/repair/repair.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using plan::Repair;

namespace {

Repair make(Repair::Kind kind, std::string distribution, std::vector<std::string> files = {}) {
    Repair repair;
    repair.kind = kind;
    repair.distribution = std::move(distribution);
    repair.files = std::move(files);
    return repair;
}

plan::CheckFinding finding(std::vector<Repair> repairs) {
    plan::CheckFinding found;
    found.repairs = std::move(repairs);
    return found;
}

} // namespace

TEST_CASE("what two findings need is done once, for both, with the files of both") {
    const std::vector<plan::CheckFinding> findings{
        finding({make(Repair::Kind::UninstallPip, "six"),
                 make(Repair::Kind::RestoreConda, "", {"b", "a"})}),
        finding({make(Repair::Kind::UninstallPip, "six"),
                 make(Repair::Kind::RestoreConda, "", {"c", "a"})})};
    const auto steps = host::steps_of(findings);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].repair.kind == Repair::Kind::UninstallPip);
    CHECK(steps[0].findings == std::vector<std::size_t>{0, 1});
    CHECK(steps[1].repair.files == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("what goes comes before what comes back, and commands are last") {
    const std::vector<plan::CheckFinding> findings{finding({make(Repair::Kind::ReinstallPip, "a")}),
                                                   finding({make(Repair::Kind::RestoreConda, "")}),
                                                   finding({make(Repair::Kind::UninstallPip, "b")}),
                                                   finding({make(Repair::Kind::Remove, "")})};
    const auto steps = host::steps_of(findings);
    REQUIRE(steps.size() == 4);
    CHECK(steps[0].repair.kind == Repair::Kind::Remove);
    CHECK(steps[1].repair.kind == Repair::Kind::UninstallPip);
    CHECK(steps[2].repair.kind == Repair::Kind::RestoreConda);
    CHECK(steps[3].repair.kind == Repair::Kind::ReinstallPip);
}

TEST_CASE("what a kept copy takes the place of is not uninstalled before") {
    const std::vector<plan::CheckFinding> findings{
        finding({make(Repair::Kind::UninstallPip, "torch"), make(Repair::Kind::UninstallPip, "x")}),
        finding({make(Repair::Kind::RestoreKept, "torch")})};
    const auto steps = host::steps_of(findings);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].repair.distribution == "x");
    CHECK(steps[1].repair.kind == Repair::Kind::RestoreKept);
}

TEST_CASE("findings without repairs have no steps") {
    CHECK(host::steps_of(std::vector<plan::CheckFinding>{finding({})}).empty());
}
