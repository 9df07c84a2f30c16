#include "kernels/occupancy.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::kernels;

namespace {

constexpr std::uint64_t k_mebibyte = std::uint64_t{1} << 20U;
constexpr Occupancy k_idle{64 * 1024 * k_mebibyte, 600 * k_mebibyte, 0, {}, {}, {}};
constexpr Occupancy k_taken{64 * 1024 * k_mebibyte, 600 * k_mebibyte, 1, {}, {}, {}};

} // namespace

TEST_CASE("a GPU that is shared is used, whatever runs on it and whatever NVML reports") {
    CHECK_FALSE(left_alone(0, k_idle, false));
    CHECK_FALSE(left_alone(0, k_taken, false));
    CHECK_FALSE(left_alone(0, {}, false));
    CHECK_FALSE(left_alone(-1, {}, false)); // the driver does not tell the mode
}

TEST_CASE("a GPU that is prohibited is left alone, idle or not") {
    for (const bool is_mps : {false, true}) {
        const auto stop = left_alone(k_prohibited, k_idle, is_mps);
        REQUIRE(stop);
        CHECK(stop->call == "compute mode");
        CHECK(stop->error == 46);
    }
}

TEST_CASE("an exclusive GPU is used where it is known to be idle or MPS shares it") {
    for (const int mode : {k_exclusive_thread, k_exclusive_process}) {
        CHECK_FALSE(left_alone(mode, k_idle, false));
        CHECK_FALSE(left_alone(mode, k_taken, true));
        CHECK(left_alone(mode, k_taken, false));
        CHECK(left_alone(mode, {}, false));
    }
}

TEST_CASE("an exclusive GPU whose memory is in use is taken though no process is shown") {
    CHECK(left_alone(k_exclusive_process,
                     {60 * 1024 * k_mebibyte, 4096 * k_mebibyte, 0, {}, {}, {}}, false));
}

TEST_CASE("a GPU with less than 1 GiB free is left alone, and one with that much is not") {
    const auto stop = left_alone(0, {1023 * k_mebibyte, {}, {}, {}, {}, {}}, false);
    REQUIRE(stop);
    CHECK(stop->call == "memory");
    CHECK(stop->error == 2);
    CHECK(stop->message == "left alone: 1023 MiB of its memory are free");
    CHECK_FALSE(left_alone(0, {1024 * k_mebibyte, {}, {}, {}, {}, {}}, false));
}

TEST_CASE("a small GPU is full where less than a quarter of it is free, not always") {
    const auto with = [](std::uint64_t free, std::uint64_t used) {
        return Occupancy{free * k_mebibyte, used * k_mebibyte, 0, {}, 1024 * k_mebibyte, {}};
    };
    CHECK_FALSE(left_alone(0, with(900, 124), false));
    CHECK_FALSE(left_alone(0, with(256, 768), false));
    CHECK(left_alone(0, with(255, 769), false));
    CHECK(left_alone(k_exclusive_process, with(700, 300), false)); // somebody whom NVML hides
    CHECK_FALSE(left_alone(k_exclusive_process, with(800, 200), false));
}

TEST_CASE("a shared GPU is in use where somebody computes on it, it works, or holds memory") {
    CHECK(in_use(k_idle).empty());
    CHECK(in_use({}).empty());
    CHECK(in_use(k_taken) == "a process computes on it");
    Occupancy occupancy = k_idle;
    occupancy.computing = 2;
    CHECK(in_use(occupancy) == "2 processes compute on it");
    occupancy = k_idle;
    occupancy.percent = 20;
    CHECK(in_use(occupancy).empty());
    occupancy.percent = 97;
    CHECK(in_use(occupancy) == "it is 97 % busy");
    occupancy = k_idle;
    occupancy.memory_used = 4096 * k_mebibyte;
    CHECK(in_use(occupancy) == "4096 MiB of its memory are in use");
    occupancy.drawing = 3; // a desktop
    CHECK(in_use(occupancy).empty());
}
