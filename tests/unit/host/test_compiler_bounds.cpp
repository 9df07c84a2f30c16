#include "host/toolkit_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace cudaenv::host {
namespace {

// The checks as releases of CUDA word them; what surrounds them is left out.
constexpr const char* k_cuda_7_5 = R"(
#if defined(__GNUC__)
#if __GNUC__ > 4 || (__GNUC__ == 4 && __GNUC_MINOR__ > 9)
#error -- unsupported GNU version! gcc versions later than 4.9 are not supported!
#endif /* __GNUC__> 4 || (__GNUC__ == 4 && __GNUC_MINOR__ > 9) */
#endif /* __GNUC__ */
)";
constexpr const char* k_cuda_8_0 = R"(
#if defined(__GNUC__)
#if __GNUC__ > 5 || (__GNUC__ == 5 && __GNUC_MINOR__ > 3)
#error -- unsupported GNU version! gcc versions later than 5.3 are not supported!
#endif /* __GNUC__ > 5 || (__GNUC__ == 5 && __GNUC_MINOR__ > 1) */
#if defined(__APPLE__) && defined(__MACH__) && !defined(__clang__)
#error -- clang and clang++ are the only supported host compilers on Mac OS X!
#endif
#endif /* __GNUC__ */
)";
constexpr const char* k_cuda_9_1 = R"(
#if defined(__GNUC__)

#if __GNUC__ > 6

#error -- unsupported GNU version! gcc versions later than 6 are not supported!

#endif /* __GNUC__ > 6 */

#if defined(__APPLE__) && defined(__MACH__) && !defined(__clang__)
#error -- clang and clang++ are the only supported host compilers on Mac OS X!
#endif
#endif
)";
constexpr const char* k_cuda_11_7 = R"(
#if defined(__CUDACC__)
#if defined(__CUDACC_RTC__)
#define _CRTIMP
#else /* __CUDACC_RTC__ */
#if !defined(__GNUC__) && !defined(_WIN32)
#error --- !!! UNSUPPORTED COMPILER !!! ---
#endif /* !__GNUC__ && !_WIN32 */
#if !__NV_NO_HOST_COMPILER_CHECK
#if defined(__ICC)
#if (__ICC != 1500 && __ICC != 1600 && !(__ICC >= 1900 && __ICC <= 2021)) || !defined(__GNUC__) || !defined(__LP64__)
#error -- unsupported ICC configuration!
#endif
#endif
#if defined(__powerpc__)
#if defined(__ibmxl_vrm__) && !(__ibmxl_vrm__ >= 0x0d010000 && __ibmxl_vrm__ < 0x0d020000) && \
                              !(__ibmxl_vrm__ >= 0x10010000 && __ibmxl_vrm__ < 0x10020000)
#error -- unsupported xlC version! only xlC 13.1 and 16.1 are supported.
#endif
#endif
#if defined(__GNUC__)
#if __GNUC__ > 11
#error -- unsupported GNU version! gcc versions later than 11 are not supported! The nvcc flag '-allow-unsupported-compiler' can be used
#endif /* __GNUC__ > 11 */
#if defined(__clang__) && !defined(__ibmxl_vrm__) && !defined(__ICC) && !defined(__HORIZON__) && !defined(__APPLE__)
#if (__clang_major__ >= 14) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- unsupported clang version! clang version must be less than 14 and greater than 3.2 .
#endif
#endif
#endif /* __GNUC__ */
#endif /* !__NV_NO_HOST_COMPILER_CHECK */
#endif
#endif
)";
constexpr const char* k_cuda_13_0 = R"(
#if !__NV_NO_HOST_COMPILER_CHECK
#if defined(__GRCO_CLANG_COMPILER__)
#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 20))
#error -- unsupported Grace clang version! The version must be 16.x to 20.x.
#endif
#endif
#if defined(__GNUC__)
#if __GNUC__ > 15
#error -- unsupported GNU version! gcc versions later than 15 are not supported!
#endif /* __GNUC__ > 15 */
#if defined(__HORIZON__)
#if (__clang_major__ >= 21) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- unsupported HOS clang version! The version must be must be less than 21 and greater than 3.2 .
#endif
#endif
#if defined(__clang__) && !defined(__ibmxl_vrm__) && !defined(__ICC) && !defined(__HORIZON__) && !defined(__APPLE__) && !defined(__GRCO_CLANG_COMPILER__)
#if (__clang_major__ >= 21) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- unsupported clang version! clang version must be less than 21 and greater than 3.2 .
#endif
#endif
#endif /* __GNUC__ */
#endif
)";

std::string shown(const std::optional<int>& bound) {
    return bound ? std::to_string(*bound) : "-";
}
std::string shown(const char* header) {
    const auto bounds = parse_host_config(header);
    return bounds ? "gcc " + shown(bounds->gcc_min) + ".." + shown(bounds->gcc_max) + " clang " +
                        shown(bounds->clang_min) + ".." + shown(bounds->clang_max)
                  : "none";
}

TEST_CASE("every wording of the compiler check gives its bounds") {
    CHECK(shown(k_cuda_7_5) == "gcc -..4 clang -..-");
    CHECK(shown(k_cuda_8_0) == "gcc -..5 clang -..-"); // 5.3 is a gcc 5
    CHECK(shown(k_cuda_9_1) == "gcc -..6 clang -..-");
    CHECK(shown(k_cuda_11_7) == "gcc -..11 clang -..13");
    CHECK(shown(k_cuda_13_0) == "gcc -..15 clang -..20");
}

TEST_CASE("a lower bound that a header enforces is read too") {
    CHECK(shown("#if __GNUC__ < 6 || __GNUC__ > 9\n#error unsupported GNU version!\n#endif\n") ==
          "gcc 6..9 clang -..-");
}

TEST_CASE("a header that checks no compiler has no bounds") {
    CHECK(shown("#include \"crt/host_config.h\"\n") == "none");
    CHECK(shown("") == "none");
    CHECK(shown("#if\n#elif\n#else\n#endif\n#endif\n#error\n") == "none");
    // Somebody took the check out.
    CHECK(shown("#if __GNUC__ > 5\n//#error -- unsupported GNU version! gcc\n#endif\n") == "none");
}

TEST_CASE("a check that compares in another way sets no bound") {
    CHECK(shown("#if FOO\n#error unsupported GNU version!\n#endif\n") == "gcc -..- clang -..-");
    CHECK(shown("#if __GNUC__ > \n#error unsupported GNU version!\n") == "gcc -..- clang -..-");
    CHECK(shown("#if __GNUC__ > 99999999999\n#error unsupported GNU version!\n") ==
          "gcc -..- clang -..-");
    CHECK(shown("#error unsupported clang version!") == "gcc -..- clang -..-");
}

} // namespace
} // namespace cudaenv::host
