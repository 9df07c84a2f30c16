#include "check/extensions/numpy_modules.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace cudaenv::extensions {
namespace {

const std::string k_old =
    "module compiled against ABI version 0x%x but this version of numpy is 0x%x";

TEST_CASE("a module compiled with the headers of NumPy 1 is for NumPy 1") {
    const auto module = numpy_of_module("\x7f"
                                        "ELF" +
                                        k_old);
    CHECK(module.is_for_numpy_1);
    CHECK(module.least.empty());
}

TEST_CASE("a module compiled with the headers of NumPy 2 says the oldest that it accepts") {
    // Both texts are in such a module.
    const auto module = numpy_of_module(
        k_old + "module was compiled against NumPy C-API version 0x%x (NumPy 1.20) but the running "
                "NumPy has C-API version 0x%x.");
    CHECK_FALSE(module.is_for_numpy_1);
    CHECK(module.least == "1.20");
}

TEST_CASE("a file without either text says nothing") {
    const auto module = numpy_of_module("NumPy C-API version 0x%x (NumPy ");
    CHECK_FALSE(module.is_for_numpy_1);
    CHECK(module.least.empty());
    CHECK_FALSE(numpy_of_module("").is_for_numpy_1);
}

} // namespace
} // namespace cudaenv::extensions
