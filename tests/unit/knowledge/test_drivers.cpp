#include "solver/knowledge/cuda_release.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::knowledge;

TEST_CASE("each CUDA family from 11 on has its own floor, and older ones have none") {
    CHECK(family_floor(11)->driver.str() == "450.80.02");
    CHECK(family_floor(12)->driver.str() == "525.60.13");
    CHECK(family_floor(13)->driver.str() == "580.65.06");
    CHECK_FALSE(family_floor(10));
    CHECK_FALSE(family_floor(14));
    CHECK_FALSE(family_floor(13)->source.empty());
}

TEST_CASE("a toolkit's own minimum driver is found by release and by major.minor") {
    const auto [cuda, driver] = GENERATE(table<std::string, std::string>({
        {"11.3.1", "465.19.01"},
        {"11.3", "465.19.01"},
        {"11.4", "470.42.01"},
        {"11.4.4", "470.82.01"},
        {"11.1.1", "455.32"},
        {"12.4", "550.54.14"},
        {"12.4.1", "550.54.15"},
        {"12.9", "575.51.03"},
        {"10.0", "410.48"},
        {"10.0.130", "410.48"},
        {"10.1.243", "418.39"},
        {"9.0", "384.81"},
        {"9.2.1", "396.37"},
        {"8.0", "367.48"},
        {"13.0", "580.65.06"},
        {"7.0", "346.46"},
    }));
    CAPTURE(cuda);
    const auto found = toolkit_minimum_driver(DottedVersion::of(cuda));
    REQUIRE(found);
    CHECK(found->driver.str() == driver);
}

TEST_CASE("of CUDA 13.4 only the paired branch is known, and the source says so") {
    const auto found = toolkit_minimum_driver(DottedVersion::of("13.4"));
    REQUIRE(found);
    CHECK(found->driver.str() == "615");
    CHECK(found->source.find("only the paired branch") != std::string::npos);
}

TEST_CASE("a toolkit whose driver was never read has no minimum, which is unknown and not zero") {
    CHECK_FALSE(toolkit_minimum_driver(DottedVersion::of("13.5")));
    CHECK_FALSE(toolkit_minimum_driver(DottedVersion::of("12.7")));
    CHECK_FALSE(toolkit_minimum_driver(DottedVersion::of("14.0")));
}

TEST_CASE("11.1 is not taken for 11.10 nor 1.1") {
    CHECK_FALSE(toolkit_minimum_driver(DottedVersion::of("11.10")));
    CHECK_FALSE(toolkit_minimum_driver(DottedVersion::of("1.1")));
}

TEST_CASE("a driver's branch determines the CUDA it reports, odd cases included") {
    const auto [driver, cuda] = GENERATE(table<std::string, std::string>({
        {"470.223.02", "11.4"},
        {"450.80.02", "11.0"},
        {"384.145", "9.0"},
        {"550.54.14", "12.4"},
        {"580.159.04", "13.0"},
        {"565.57.01", "12.7"},
        {"430.26", "10.2"},
        {"430.34", "10.1"},
        {"430.64", "10.1"},
        {"435.21", "10.1"},
        {"440.33.01", "10.2"},
        {"390.157", "9.1"},
        {"615.10", "13.4"},
    }));
    CAPTURE(driver);
    const auto found = cuda_of_driver(DottedVersion::of(driver));
    REQUIRE(found);
    CHECK(found->cuda.str() == cuda);
    CHECK_FALSE(found->lower_bound);
    CHECK_FALSE(found->source.empty());
}

TEST_CASE("430.260 is another driver than 430.26") {
    CHECK(cuda_of_driver(DottedVersion::of("430.260"))->cuda.str() == "10.1");
}

TEST_CASE("a branch in no row gives what the nearest older one reports, as a lower bound") {
    const auto newer = cuda_of_driver(DottedVersion::of("640.12"));
    REQUIRE(newer);
    CHECK(newer->cuda.str() == "13.4");
    CHECK(newer->lower_bound);
    CHECK(newer->source.starts_with("derived: branch 640 "));
    const auto between = cuda_of_driver(DottedVersion::of("387.26"));
    REQUIRE(between);
    CHECK(between->cuda.str() == "9.0");
    CHECK(between->lower_bound);
}

TEST_CASE("a driver older than every branch known has no CUDA version") {
    CHECK_FALSE(cuda_of_driver(DottedVersion::of("340.108")));
    CHECK_FALSE(cuda_of_driver(DottedVersion::of("304.137")));
}

TEST_CASE("CUDA releases ascend from 7.0 to 13.5, each once, and 12.7 never was one") {
    const auto releases = cuda_releases();
    REQUIRE(releases.size() > 20);
    CHECK(releases.front().str() == "7.0");
    CHECK(releases.back().str() == "13.5");
    CHECK(std::ranges::adjacent_find(
              releases, [](const auto& a, const auto& b) { return !(a < b); }) == releases.end());
    CHECK(std::ranges::count(releases, DottedVersion::of("12.7")) == 0);
    for (const char* known : {"9.2", "10.0", "11.3", "12.4", "13.0"}) {
        CHECK(std::ranges::count(releases, DottedVersion::of(known)) == 1);
    }
}

TEST_CASE("a CUDA that was never released is known not to exist, with the nearest that does") {
    using Exists = CudaRelease::Exists;
    const auto of = [](const char* text) { return cuda_release(DottedVersion::of(text)); };
    for (const char* known : {"7.0", "11.3", "11.3.109", "12", "13.5"}) {
        CAPTURE(known);
        CHECK(of(known).exists == Exists::Yes);
    }
    const std::vector<std::pair<const char*, const char*>> never{
        {"99", "13.5"},   {"12.44", "12.9"}, {"11.9", "11.8"},  {"12.7", "12.6"},
        {"10.3", "10.2"}, {"15.0", "13.5"},  {"13.44", "13.5"}, {"0", "7.5"}};
    for (const auto& [version, nearest] : never) {
        CAPTURE(version);
        CHECK(of(version).exists == Exists::No);
        CHECK(of(version).nearest.str() == nearest);
    }
    for (const char* unknown : {"13.6", "14", "14.1", "6.5"}) {
        CAPTURE(unknown);
        CHECK(of(unknown).exists == Exists::Unknown);
    }
}

TEST_CASE("within a CUDA family a newer toolkit never wants an older driver") {
    std::optional<DriverBound> before;
    for (const DottedVersion& cuda : cuda_releases()) {
        const auto bound = toolkit_minimum_driver(cuda);
        if (!bound) {
            continue;
        }
        CAPTURE(cuda.str());
        if (before) {
            CHECK(before->driver <= bound->driver);
        }
        before = bound;
    }
}

TEST_CASE("a toolkit's minimum driver belongs to a branch that reports at least that CUDA") {
    for (const DottedVersion& cuda : cuda_releases()) {
        const auto bound = toolkit_minimum_driver(cuda);
        if (!bound || bound->driver < DottedVersion::of("367")) {
            continue; // the branch table begins with 367
        }
        CAPTURE(cuda.str(), bound->driver.str());
        const auto reported = cuda_of_driver(bound->driver);
        REQUIRE(reported);
        CHECK(reported->cuda >= cuda);
    }
}
