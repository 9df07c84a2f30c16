#include "base/driver_file.hpp"
#include "kernels/driver_api.hpp"
#include "kernels/ptx/ptx_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <climits>

using namespace cudaenv;
using namespace cudaenv::kernels;

TEST_CASE("a CUDA version is read from the number that libraries give") {
    CHECK(cuda_of_number(13000) == DottedVersion::of("13.0"));
    CHECK(cuda_of_number(11080) == DottedVersion::of("11.8"));
    CHECK(cuda_of_number(9020)->str() == "9.2");
    CHECK(cuda_of_number(13050)->str() == "13.5");
}

TEST_CASE("a number that no driver has ever said is no CUDA version") {
    for (const int number : {0, -1, 1, 4999, 13005, 99'999'999, INT_MAX, INT_MIN}) {
        CAPTURE(number);
        CHECK_FALSE(cuda_of_number(number));
    }
}

TEST_CASE("a driver's version is read from its library's name, and from no soname") {
    CHECK(driver_of_file("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06")->str() == "580.65.06");
    CHECK(driver_of_file("/usr/lib64/libcuda.so.384.183")->str() == "384.183");
    for (const auto* path :
         {"", "/usr/lib/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1.1", "/x/stubs/libcuda.so",
          "/x/libcuda.so.580", "/x/libcuda.so.580.x", "/x/libcuda.so."}) {
        CAPTURE(path);
        CHECK_FALSE(driver_of_file(path));
    }
}

TEST_CASE("each CUDA release has the PTX version of its release notes") {
    const auto isa = [](const char* cuda) {
        const auto found = ptx_isa_of_cuda(DottedVersion::of(cuda));
        return found ? found->str() : std::string("none");
    };
    CHECK(isa("9.0") == "6.0");
    CHECK(isa("10.2") == "6.5");
    CHECK(isa("11.0") == "7.0");
    CHECK(isa("11.8") == "7.8");
    CHECK(isa("12.0") == "8.0");
    CHECK(isa("12.4") == "8.4");
    // 12.6 has no new version.
    CHECK(isa("12.5") == "8.5");
    CHECK(isa("12.6") == "8.5");
    CHECK(isa("12.9") == "8.8");
    CHECK(isa("13.0") == "9.0");
    CHECK(isa("13.5") == "9.5");
}

TEST_CASE("a CUDA release that is not known yet has no PTX version to be guessed") {
    for (const auto* cuda : {"8.0", "9.3", "12.10", "14.0"}) {
        CAPTURE(cuda);
        CHECK_FALSE(ptx_isa_of_cuda(DottedVersion::of(cuda)));
    }
}
