#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <catch2/catch_test_macros.hpp>

using cudaenv::ComputeCapability;
using cudaenv::DottedVersion;

TEST_CASE("a version keeps its text and compares by number") {
    const auto driver = DottedVersion::parse("450.80.02");
    REQUIRE(driver);
    CHECK(driver->str() == "450.80.02");
    CHECK(*driver < DottedVersion::of("450.80.3"));
    CHECK(*driver > DottedVersion::of("418.226.00"));
    CHECK(DottedVersion::of("11") == DottedVersion::of("11.0"));
}

TEST_CASE("a prefix is whole parts, not characters") {
    CHECK(DottedVersion::of("11.3.109").begins_with(DottedVersion::of("11.3")));
    CHECK_FALSE(DottedVersion::of("11.30").begins_with(DottedVersion::of("11.3")));
    CHECK(DottedVersion::of("11.3.109").major_minor() == "11.3");
}

TEST_CASE("what is not digits and dots is refused with the text in the message") {
    for (const char* bad : {"", "eleven", "11.", ".11", "11..3", "11.3a", "-1", "99999999999",
                            "1.2.3.4.5.6.7.8.9"}) {
        CAPTURE(bad);
        const auto version = DottedVersion::parse(bad);
        REQUIRE_FALSE(version);
        CHECK(version.error().kind == cudaenv::ErrorKind::BadInput);
        CHECK(version.error().message.find(bad) != std::string::npos);
    }
}

TEST_CASE("a compute capability reads MAJOR.MINOR and prints as sm_NN") {
    CHECK(ComputeCapability::parse("8.6")->sm() == "sm_86");
    CHECK(ComputeCapability::parse("12.0")->sm() == "sm_120");
    CHECK_FALSE(ComputeCapability::parse("8"));
    CHECK_FALSE(ComputeCapability::parse("8.6.1"));
    CHECK(ComputeCapability{9, 0} < ComputeCapability{12, 0});
}
