#include "tests/unit/judge/cases.hpp"

#include "tests/unit/judge/cases/rows.hpp"

#include <iterator>
#include <utility>

namespace cudaenv::testing {

Change both(Change first, Change second) {
    return [first = std::move(first), second = std::move(second)](Bench& bench) {
        first(bench);
        second(bench);
    };
}

void in_conda(Bench& bench) {
    bench.environment.kind = facts::EnvironmentKind::Conda;
}

Change does_not_load(ProbeStep step, const char* words, const char* path) {
    return [=](Bench& bench) {
        if (step > ProbeStep::Kernel) {
            bench.climbs_all();
        }
        bench.refuses(step, "dlopen", words);
        bench.rung(step).path = path;
        bench.rung(step).version.reset();
    };
}

Change because(ProbeStep step, facts::RungReason reason, const char* broken) {
    return [=](Bench& bench) {
        bench.rung(step).reason = reason;
        bench.rung(step).broken = broken;
    };
}

Change cu_init(int error, const char* name) {
    return [=](Bench& bench) { bench.fails(ProbeStep::Driver, "cuInit", error, name); };
}

Change libcuda_answers(const char* path, int error, const char* name) {
    return both([=](Bench& bench) { bench.loads_libcuda(path); }, cu_init(error, name));
}

Change library_path(std::vector<std::string> entries) {
    return [entries = std::move(entries)](Bench& bench) { bench.context.library_path = entries; };
}

Change answers(ProbeStep step, const char* call, int error, const char* name, const char* message) {
    return [=](Bench& bench) {
        bench.climbs_all();
        bench.fails(step, call, error, name);
        bench.rung(step).message = message;
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

void for_each_judged(const std::function<void(const Case&, const judge::ProbeOutcome&)>& check) {
    for (const Case& row : cases()) {
        Bench bench;
        row.change(bench);
        check(row, bench.judged());
    }
}

} // namespace cudaenv::testing
