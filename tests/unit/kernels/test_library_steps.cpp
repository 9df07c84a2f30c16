#include "kernels/ladder.hpp"
#include "kernels/occupancy.hpp"
#include "solver/facts/probe.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;

// kernels/ may not see the solver, so the list is there twice.
TEST_CASE("every library that is probed has its rung, by the same words and in the same order") {
    std::vector<std::string_view> words;
    for (const facts::ProbedLibrary& library : facts::k_probed_libraries) {
        const auto step = facts::k_probe_steps.at(static_cast<std::size_t>(library.step));
        if (library.step == facts::ProbeStep::Runtime) {
            CHECK(library.word == "cudart"); // asked for by name, before the libraries
            continue;
        }
        CHECK(library.word == step);
        words.push_back(step);
    }
    CHECK(kernels::library_steps() == words);
}

TEST_CASE("a GPU on which somebody works is told with the word that the judge reads") {
    CHECK(kernels::k_busy == facts::k_busy);
}
