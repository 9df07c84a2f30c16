#include "check/repair/repair.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using rules::ReinstallPip;
using rules::Remove;
using rules::Repair;
using rules::RestoreConda;
using rules::RestoreKept;
using rules::UninstallPip;

namespace {

rules::CheckFinding finding(std::vector<Repair> repairs) {
    rules::CheckFinding found;
    found.repairs = std::move(repairs);
    return found;
}

std::vector<Repair> repairs_of(const std::vector<rules::CheckFinding>& findings) {
    std::vector<Repair> repairs;
    for (const auto& step : repair::steps_of(findings)) {
        repairs.push_back(step.repair);
    }
    return repairs;
}

} // namespace

TEST_CASE("a repair that two findings need is one step for both, with the files of both") {
    const std::vector<rules::CheckFinding> findings{
        finding({UninstallPip{"", "six", ""}, RestoreConda{0, {"b", "a"}}}),
        finding({UninstallPip{"", "six", ""}, RestoreConda{0, {"c", "a"}}})};
    const auto steps = repair::steps_of(findings);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].repair == Repair(UninstallPip{"", "six", ""}));
    CHECK(steps[0].findings == std::vector<std::size_t>{0, 1});
    CHECK(steps[1].repair == Repair(RestoreConda{0, {"a", "b", "c"}}));
}

TEST_CASE("what goes comes before what comes back, and commands are last") {
    CHECK(repairs_of({finding({ReinstallPip{"a", ""}}), finding({RestoreConda{}}),
                      finding({UninstallPip{"", "b", ""}}), finding({Remove{"c"}})}) ==
          std::vector<Repair>{Remove{"c"}, UninstallPip{"", "b", ""}, RestoreConda{},
                              ReinstallPip{"a", ""}});
}

TEST_CASE("a distribution that a kept copy replaces is not uninstalled first") {
    CHECK(repairs_of({finding({UninstallPip{"", "torch", ""}, UninstallPip{"", "x", ""}}),
                      finding({RestoreKept{"torch", ""}})}) ==
          std::vector<Repair>{UninstallPip{"", "x", ""}, RestoreKept{"torch", ""}});
}

TEST_CASE("repairs of two packages, versions or directories are two") {
    CHECK(repairs_of({finding({Remove{"a"}, Remove{"b"}, RestoreConda{0, {}}, RestoreConda{1, {}},
                               UninstallPip{"a", "x", ""}, UninstallPip{"b", "x", ""}})})
              .size() == 6);
}

TEST_CASE("findings without repairs have no steps") {
    CHECK(repairs_of({finding({})}).empty());
}
