#include "solver/knowledge/knowledge.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace cudaenv;
using namespace cudaenv::knowledge;

namespace {
Architectures made_for(std::vector<ComputeCapability> sass,
                       std::vector<ComputeCapability> ptx = {}) {
    return {std::move(sass), std::move(ptx), false, "", "a test"};
}
} // namespace

TEST_CASE("machine code serves the same major with an equal or higher minor, and nothing else") {
    const auto code = made_for({{6, 0}, {8, 0}, {8, 6}});
    CHECK(serves_with_sass(code, {6, 0}));
    CHECK(serves_with_sass(code, {6, 1}));
    CHECK(serves_with_sass(code, {8, 9}));
    CHECK_FALSE(serves_with_sass(code, {7, 0}));
    CHECK_FALSE(serves_with_sass(code, {9, 0}));
    CHECK_FALSE(serves_with_sass(made_for({{6, 1}}), {6, 0}));
    CHECK_FALSE(serves_with_sass(made_for({}), {6, 0}));
}

TEST_CASE("PTX serves everything at least as new") {
    const auto code = made_for({}, {{5, 0}});
    CHECK(serves_with_ptx(code, {5, 0}));
    CHECK(serves_with_ptx(code, {12, 0}));
    CHECK_FALSE(serves_with_ptx(code, {3, 7}));
    CHECK_FALSE(serves_with_ptx(made_for({{5, 0}}), {5, 0}));
}

TEST_CASE("CUDA 13 dropped Maxwell, Pascal and Volta; 12.8 first knows Blackwell; 11 dropped 3.0") {
    const auto of = [](const char* cuda) {
        return *architectures_of_toolkit(DottedVersion::of(cuda));
    };
    for (const ComputeCapability old : {ComputeCapability{5, 0}, {6, 0}, {6, 1}, {7, 0}}) {
        CHECK(serves_with_sass(of("12.9"), old));
        CHECK_FALSE(serves_with_sass(of("13.0"), old));
    }
    CHECK(serves_with_sass(of("13.0"), {7, 5}));
    CHECK(serves_with_sass(of("12.8"), {12, 0}));
    CHECK_FALSE(serves_with_sass(of("12.6"), {12, 0}));
    CHECK(serves_with_sass(of("10.2"), {3, 0}));
    CHECK_FALSE(serves_with_sass(of("11.0"), {3, 0}));
    CHECK(of("11.3.1").sass == of("11.3").sass);
    CHECK_FALSE(architectures_of_toolkit(DottedVersion::of("12.7")));
}

TEST_CASE("every toolkit's lists ascend, each capability once, and have a source") {
    for (const DottedVersion& cuda : cuda_releases()) {
        const auto known = architectures_of_toolkit(cuda);
        if (!known) {
            CHECK(cuda < DottedVersion::of("8.0"));
            continue;
        }
        CAPTURE(cuda.str());
        CHECK_FALSE(known->derived);
        CHECK_FALSE(known->source.empty());
        for (const auto* list : {&known->sass, &known->ptx}) {
            REQUIRE_FALSE(list->empty());
            CHECK(std::ranges::adjacent_find(*list, std::greater_equal<>()) == list->end());
        }
    }
}

TEST_CASE("a generation knows its first and last CUDA and the last driver branch that serves it") {
    const auto pascal = generation_of({6, 1});
    REQUIRE(pascal);
    CHECK(pascal->architecture == "Pascal");
    CHECK(pascal->first_cuda->str() == "8.0");
    CHECK(pascal->last_cuda == "12.x");
    CHECK(pascal->last_driver_branch->str() == "580");
    const auto kepler = generation_of({3, 0});
    REQUIRE(kepler);
    CHECK(kepler->architecture == "Kepler");
    CHECK(kepler->last_cuda == "10.2");
    CHECK(kepler->last_driver_branch->str() == "470");
    CHECK(generation_of({3, 5})->last_cuda == "11.x");
    CHECK(generation_of({2, 0})->last_driver_branch->str() == "390");
    const auto hopper = generation_of({9, 0});
    REQUIRE(hopper);
    CHECK(hopper->architecture == "Hopper");
    CHECK_FALSE(hopper->last_cuda);
    CHECK_FALSE(hopper->last_driver_branch);
    CHECK(generation_of({8, 9})->architecture == "Ada");
    CHECK(generation_of({12, 0})->first_cuda->str() == "12.8");
    CHECK_FALSE(generation_of({99, 0}));
}

TEST_CASE("a generation's first and last CUDA agree with what the toolkits can make code for") {
    for (const ComputeCapability gpu : {ComputeCapability{3, 0},
                                        {3, 5},
                                        {5, 0},
                                        {6, 1},
                                        {7, 0},
                                        {7, 5},
                                        {8, 0},
                                        {8, 6},
                                        {8, 9},
                                        {9, 0},
                                        {12, 0}}) {
        const auto generation = generation_of(gpu);
        REQUIRE(generation);
        for (const DottedVersion& cuda : cuda_releases()) {
            const auto made = architectures_of_toolkit(cuda);
            if (!made) {
                continue;
            }
            CAPTURE(gpu.str(), cuda.str());
            const bool named = std::ranges::count(made->sass, gpu) > 0;
            const auto last = generation->last_cuda;
            const bool ended =
                last &&
                (last->ends_with(".x")
                     ? cuda.major() > DottedVersion::of(last->substr(0, last->size() - 2)).major()
                     : cuda > DottedVersion::of(*last));
            CHECK(named == (cuda >= *generation->first_cuda && !ended));
        }
    }
}
