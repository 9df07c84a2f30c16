#include "cli/commands/kernelspec.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <utility>

using namespace cudaenv::cli;

namespace {

const std::string k_kernel =
    R"({"argv": ["python", "-m", "ipykernel"], "display_name": "caf\u00e9"})";

} // namespace

TEST_CASE("a kernel is wrapped once, and unwrapped to the program that it started") {
    const auto wrapped = wrapped_kernel(k_kernel, "/c/cudaenv", "/e/caf\xc3\xa9");
    REQUIRE(wrapped);
    CHECK(is_wrapped_kernel(*wrapped));
    CHECK(wrapped_kernel(*wrapped, "/c/cudaenv", "/e/caf\xc3\xa9") == *wrapped);
    CHECK(kernel_program(*wrapped) == "python");
}

TEST_CASE("a path that is not UTF-8 is refused, because no kernel.json can name it") {
    for (const auto& [program, prefix] :
         {std::pair("/c/cudaenv", "/e/caf\xe9"), std::pair("/c\xff/cudaenv", "/e")}) {
        const auto wrapped = wrapped_kernel(k_kernel, program, prefix);
        REQUIRE_FALSE(wrapped);
        CHECK(wrapped.error().code == "unusable-prefix");
    }
}
