#include "tests/unit/probe/cases.hpp"

#include "tests/unit/probe/cases/rows.hpp"

#include <iterator>

namespace cudaenv::testing {

std::function<void(Bench&)> answers(ProbeStep step, const char* call, int error, const char* name) {
    return [=](Bench& bench) {
        bench.climbs_all();
        bench.fails(step, call, error, name);
    };
}

namespace {

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (auto part : {library_cases(), driver_cases(), gpu_cases(), runtime_cases(), kernel_cases(),
                      cuda_libraries_cases(), build_cases(), ending_cases()}) {
        std::move(part.begin(), part.end(), std::back_inserter(all));
    }
    return all;
}

} // namespace

std::span<const Case> cases() {
    static const std::vector<Case> all = all_cases();
    return all;
}

} // namespace cudaenv::testing
