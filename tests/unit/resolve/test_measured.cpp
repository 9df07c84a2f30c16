// What the probe measured, in the answers of the resolver.
#include "hosts.hpp"
#include "solver/facts/measured.hpp"
#include "solver/resolve/resolve.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace cudaenv;
using Catch::Matchers::ContainsSubstring;
using test::HostBuilder;
using test::words_of;

namespace {

resolve::Outcome outcome_of(const std::string& spec, const std::string& cuda,
                            const facts::Host& host) {
    resolve::Request request;
    request.specs.push_back({spec, "argument 1"});
    request.pins.push_back({"cuda", cuda, "--cuda"});
    auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    return *std::move(outcome);
}

facts::Host measured(const HostBuilder& machine, const std::string& cuda) {
    facts::Measured measured;
    measured.verdict = "ok";
    measured.driver_cuda = DottedVersion::of(cuda);
    return facts::with_measured(machine.host(), measured);
}

std::string notes_of(const resolve::Outcome& outcome) {
    std::string text;
    for (const resolve::Verdict& verdict : outcome.runs) {
        text += verdict.text + '\n';
    }
    return text;
}

const HostBuilder k_machine = HostBuilder().driver("550.54.15").gpu("NVIDIA A100", "8.0");

} // namespace

TEST_CASE("a measured driver is reported as measured, a derived one is not") {
    CHECK_THAT(notes_of(outcome_of("torch==2.8.0", "12.9", measured(k_machine, "12.9"))),
               ContainsSubstring("driver 550.54.15 gives CUDA 12.9 (measured)"));
    const auto derived = notes_of(outcome_of("torch==2.8.0", "12.9", k_machine.host()));
    CHECK_THAT(derived, ContainsSubstring("driver 550.54.15 gives CUDA 12.4\n"));
}

TEST_CASE("a warning that only the table gave is gone where the driver itself says more") {
    CHECK_THAT(words_of(outcome_of("torch==2.8.0", "12.9", k_machine.host())),
               ContainsSubstring("CE202"));
    const auto words = words_of(outcome_of("torch==2.8.0", "12.9", measured(k_machine, "12.9")));
    CHECK_THAT(words, !ContainsSubstring("CE202"));
    CHECK_THAT(words, !ContainsSubstring("CE203"));
}

TEST_CASE("a compat library's CUDA counts, not the branch of the module below it") {
    const auto old = HostBuilder().driver("470.199.02").gpu("NVIDIA A100", "8.0");
    CHECK_FALSE(outcome_of("torch==2.8.0", "12.9", old.host()).solved());
    CHECK(outcome_of("torch==2.8.0", "12.9", measured(old, "12.9")).solved());
}

TEST_CASE("a driver that gives less than its branch should is believed") {
    const auto young = HostBuilder().driver("580.95.05").gpu("NVIDIA A100", "8.0");
    CHECK(outcome_of("torch==2.8.0", "12.9", young.host()).solved());
    const auto outcome = outcome_of("torch==2.8.0", "12.9", measured(young, "11.8"));
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(outcome.conflict->reasons.front().text,
               ContainsSubstring("gives CUDA 11.8 (measured)"));
}

TEST_CASE("a rung of the machine's own that failed is a warning with its code and a way on") {
    facts::Measured broken;
    broken.verdict = "driver-broken";
    broken.at = "2026-11-21T10:00:00Z";
    broken.failed = {{"driver", "CE312", "cuInit is refused (803)", "library and module differ"}};
    const auto outcome =
        outcome_of("torch==2.8.0", "12.9", facts::with_measured(k_machine.host(), broken));
    REQUIRE(outcome.solved());
    for (const facts::Finding& warning : outcome.warnings) {
        if (warning.code != "CE211") {
            continue;
        }
        CHECK(warning.title == "the probe failed at driver (CE312): cuInit is refused (803)");
        CHECK_THAT(warning.cause, ContainsSubstring("library and module differ"));
        CHECK_THAT(warning.cause, ContainsSubstring("2026-11-21"));
        CHECK(warning.fix->command == "cudaenv probe");
        CHECK(warning.evidence.size() == 1);
        return;
    }
    FAIL("no CE211: " << words_of(outcome));
}

TEST_CASE("what only the full probe tries is tried again by that") {
    facts::Measured broken;
    broken.verdict = "fails";
    broken.failed = {{"ptx", "CE332", "no compiler", "a library is missing"}};
    const auto outcome =
        outcome_of("torch==2.8.0", "12.9", facts::with_measured(k_machine.host(), broken));
    const auto warning = std::ranges::find(outcome.warnings, "CE211", &facts::Finding::code);
    REQUIRE(warning != outcome.warnings.end());
    CHECK(warning->fix->command == "cudaenv probe --full");
}

TEST_CASE("a probe that found nothing wrong warns of nothing") {
    CHECK_THAT(words_of(outcome_of("torch==2.8.0", "12.9", measured(k_machine, "12.9"))),
               !ContainsSubstring("CE211"));
}
