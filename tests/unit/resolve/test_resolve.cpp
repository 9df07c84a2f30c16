#include "hosts.hpp"
#include "solver/resolve/resolve.hpp"
#include "toy_channel.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace cudaenv;
using Catch::Matchers::ContainsSubstring;
using test::HostBuilder;
using test::ToyChannel;
using test::words_of;

namespace {

resolve::Request request_for(std::vector<std::string> specs, const std::string& cuda = {}) {
    resolve::Request request;
    int number = 0;
    for (std::string& spec : specs) {
        request.specs.push_back({std::move(spec), "argument " + std::to_string(++number)});
    }
    if (!cuda.empty()) {
        request.pins.push_back({"cuda", cuda, "--cuda"});
    }
    return request;
}

Result<resolve::Outcome> outcome_of(const resolve::Request& request, const facts::Host& host,
                                    std::vector<const resolve::Channel*> channels) {
    return resolve::resolve(request, host, channels);
}

// pytorch for CUDA 11.3 and 11.8 and for the CPU, the CPU build being the newest.
ToyChannel pytorch_channel() {
    ToyChannel channel("toy");
    channel.add("cudatoolkit", "11.3.1");
    channel.add("cudatoolkit", "11.8.0");
    channel.add("pytorch", "1.12.1", "py39_cuda11.3_0", {"cudatoolkit 11.3.*"});
    channel.add("pytorch", "2.0.0", "py39_cuda11.8_0", {"cudatoolkit 11.8.*"});
    channel.add("pytorch", "2.5.0", "py39_cpu_0");
    return channel;
}

} // namespace

TEST_CASE("a request for CUDA gets CUDA: a newer CPU build is not an answer") {
    const ToyChannel channel = pytorch_channel();
    const auto host = HostBuilder().driver("470.199.02").host();
    const auto outcome = outcome_of(request_for({"torch"}, "11.3"), host, {&channel});
    REQUIRE(outcome);
    INFO(words_of(*outcome));
    REQUIRE(outcome->solved());
    CHECK(words_of(*outcome).find("package pytorch 1.12.1") != std::string::npos);
    CHECK(outcome->cuda->str() == "11.3");
}

TEST_CASE("if only CPU builds are left, a request for CUDA is a conflict that says so") {
    const ToyChannel channel = pytorch_channel();
    const auto outcome = outcome_of(request_for({"pytorch>=2.4"}, "11.8"),
                                    HostBuilder().driver("470.199.02").host(), {&channel});
    REQUIRE(outcome);
    const std::string words = words_of(*outcome);
    INFO(words);
    REQUIRE_FALSE(outcome->solved());
    CHECK_THAT(words, ContainsSubstring("--cpu"));
}

TEST_CASE(
    "a channel's own words about driver and glibc are the reason, and no name of the solver's") {
    ToyChannel channel("toy");
    channel.add("pytorch", "2.6.0", "cuda126_py311_0", {"__cuda >=12.6"});
    const auto driver =
        outcome_of(request_for({"pytorch"}),
                   HostBuilder().driver("550.54.15").gpu("NVIDIA H100", "9.0").host(), {&channel});
    REQUIRE(driver);
    REQUIRE(driver->conflict);
    REQUIRE(driver->conflict->reasons.size() == 1);
    CHECK(driver->conflict->reasons[0].text ==
          "pytorch 2.6.0 (cuda126_py311_0) needs __cuda >=12.6; driver 550.54.15 gives CUDA 12.4");

    ToyChannel newer("toy");
    newer.add("cuda-version", "11.8");
    newer.add("pytorch", "2.6.0", "cuda118_py311_0",
              {"__glibc >=2.28,<3.0.a0", "cuda-version 11.8"});
    auto host = HostBuilder().driver("550.54.15").gpu("NVIDIA H100", "9.0").host();
    host.glibc = DottedVersion::of("2.17");
    const auto glibc = outcome_of(request_for({"pytorch"}), host, {&newer});
    REQUIRE(glibc);
    REQUIRE(glibc->conflict);
    REQUIRE(glibc->conflict->reasons.size() == 1);
    CHECK_THAT(glibc->conflict->reasons[0].text,
               ContainsSubstring("__glibc >=2.28,<3.0.a0; this machine has glibc 2.17"));
}

TEST_CASE("a channel's CUDA runtime needs the family's driver, whatever its own record says") {
    const ToyChannel channel = pytorch_channel();
    const auto outcome = outcome_of(request_for({"pytorch"}, "11.8"),
                                    HostBuilder().driver("418.67").host(), {&channel});
    REQUIRE(outcome);
    const std::string words = words_of(*outcome);
    INFO(words);
    REQUIRE_FALSE(outcome->solved());
    CHECK_THAT(words, ContainsSubstring("450.80.02"));
}

TEST_CASE("a missing package is bad input with the nearest name and where it was asked for") {
    const ToyChannel channel = pytorch_channel();
    const auto outcome = outcome_of(request_for({"pytorhc"}), HostBuilder().host(), {&channel});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::BadInput);
    CHECK(outcome.error().path == "argument 1");
    CHECK_THAT(outcome.error().hint, ContainsSubstring("pytorch"));
}

TEST_CASE(
    "two wishes that exclude each other are both named, and each can be the one to give way") {
    ToyChannel channel("toy");
    channel.add("python", "3.9");
    channel.add("python", "3.12");
    channel.add("a", "1", "py39", {"python 3.9.*"});
    channel.add("a", "2", "py312", {"python 3.12.*"});
    const auto outcome =
        outcome_of(request_for({"a=1", "python=3.12"}), HostBuilder().host(), {&channel});
    REQUIRE(outcome);
    const std::string words = words_of(*outcome);
    INFO(words);
    REQUIRE_FALSE(outcome->solved());
    CHECK_THAT(words, ContainsSubstring("a 1"));
    CHECK_THAT(words, ContainsSubstring("python"));
    REQUIRE(outcome->conflict->fixes.size() >= 2);
    CHECK_THAT(words, ContainsSubstring("a==2"));
    CHECK_THAT(words, ContainsSubstring("python==3.9"));
}

TEST_CASE("every command that a conflict offers solves when it is asked") {
    ToyChannel channel("toy");
    channel.add("python", "3.9");
    channel.add("python", "3.12");
    channel.add("a", "1", "py39", {"python 3.9.*", "b <2"});
    channel.add("a", "2", "py312", {"python 3.12.*", "b"});
    channel.add("b", "1");
    channel.add("b", "2");
    const auto outcome =
        outcome_of(request_for({"a=1", "python=3.12", "b=2"}), HostBuilder().host(), {&channel});
    REQUIRE(outcome);
    INFO(words_of(*outcome));
    REQUIRE_FALSE(outcome->solved());
    REQUIRE_FALSE(outcome->conflict->fixes.empty());
    for (const auto& fix : outcome->conflict->fixes) {
        if (fix.command.empty()) {
            continue;
        }
        std::vector<std::string> specs;
        std::string word;
        for (const char c : fix.command.substr(std::string("cudaenv resolve ").size()) + ' ') {
            if (c == ' ') {
                specs.push_back(word);
                word.clear();
            } else if (c != '\'') {
                word += c;
            }
        }
        std::erase_if(specs, [](const std::string& text) { return text == "-c" || text == "toy"; });
        CAPTURE(fix.command);
        const auto again = outcome_of(request_for(specs), HostBuilder().host(), {&channel});
        REQUIRE(again);
        CHECK(again->solved());
    }
}

TEST_CASE("what is installed is favoured while it is allowed") {
    ToyChannel channel("toy");
    channel.add("a", "1");
    channel.add("a", "2");
    auto request = request_for({"a"});
    request.preferred = {"a==1"};
    const auto kept = outcome_of(request, HostBuilder().host(), {&channel});
    REQUIRE(kept);
    CHECK(words_of(*kept).find("package a 1") != std::string::npos);
    request.specs[0].text = "a>=2";
    const auto moved = outcome_of(request, HostBuilder().host(), {&channel});
    REQUIRE(moved);
    CHECK(words_of(*moved).find("package a 2") != std::string::npos);
}

TEST_CASE("nothing asked and broken specs are met at the door") {
    CHECK_FALSE(outcome_of({}, HostBuilder().host(), {}));
    const ToyChannel channel = pytorch_channel();
    const auto broken = outcome_of(request_for({"torch=="}), HostBuilder().host(), {&channel});
    REQUIRE_FALSE(broken);
    CHECK(broken.error().path == "argument 1");
    CHECK_FALSE(broken.error().message.empty());
}

TEST_CASE("explained, an older version names what keeps the newest away") {
    const ToyChannel channel = pytorch_channel();
    auto request = request_for({"pytorch"}, "11.3");
    request.tell_choices = true;
    const auto outcome = outcome_of(request, HostBuilder().driver("470.199.02").host(), {&channel});
    REQUIRE(outcome);
    REQUIRE(outcome->choices.size() == 1);
    CHECK(outcome->choices[0].newest == "2.5.0");
    CHECK_THAT(outcome->choices[0].why, ContainsSubstring("CPU"));

    const auto catalogue = [&] {
        resolve::Request torch = request_for({"torch"});
        torch.tell_choices = true;
        return outcome_of(torch, HostBuilder().driver("470.199.02").gpu("RTX 3090", "8.6").host(),
                          {});
    }();
    REQUIRE(catalogue);
    REQUIRE(catalogue->choices.size() == 1);
    INFO(catalogue->choices[0].why);
    CHECK_THAT(catalogue->choices[0].why, ContainsSubstring("driver 470.199.02 gives CUDA 11.4"));
}
