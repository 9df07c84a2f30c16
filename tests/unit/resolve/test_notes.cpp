// The cases of the notes that cudaenv comes from, on machines as they were.
#include "hosts.hpp"
#include "solver/resolve/resolve.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace cudaenv;
using Catch::Matchers::ContainsSubstring;
using test::HostBuilder;
using test::words_of;

namespace {

struct Ask {
    Ask(std::vector<std::string> wanted, std::string cuda_pin = {}, std::string python_pin = {},
        bool to_build = false)
        : specs(std::move(wanted)), cuda(std::move(cuda_pin)), python(std::move(python_pin)),
          build(to_build) {}

    std::vector<std::string> specs;
    std::string cuda;
    std::string python;
    bool build = false;
    resolve::ManagerChoice manager = resolve::ManagerChoice::Auto;
};

resolve::Outcome outcome_of(const Ask& ask, const facts::Host& host) {
    resolve::Request request;
    for (const std::string& spec : ask.specs) {
        request.specs.push_back({spec, "argument 1"});
    }
    if (!ask.cuda.empty()) {
        request.pins.push_back({"cuda", ask.cuda, "--cuda"});
    }
    if (!ask.python.empty()) {
        request.pins.push_back({"python", ask.python, "--python"});
    }
    request.purpose = ask.build ? pins::Purpose::Build : pins::Purpose::Run;
    request.manager = ask.manager;
    auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    return *std::move(outcome);
}

std::string version_of(const resolve::Outcome& outcome, const std::string& name) {
    for (const auto& package : outcome.packages) {
        if (package.name == name) {
            return package.version;
        }
    }
    return "absent";
}

} // namespace

TEST_CASE("a fresh offline machine gets exact versions and both managers' commands for CUDA 11.3") {
    auto host = HostBuilder().host();
    host.conda.push_back({"conda", "/opt/miniforge3", "26.7", "the test"});
    resolve::Request request;
    request.specs = {{"torch", "argument 1"}, {"torchvision", "argument 2"}};
    request.pins = {{"cuda", "11.3", "--cuda"}, {"python", "3.9", "--python"}};
    request.environment.target = knowledge::target_of(host, knowledge::Target::Kind::None, {});
    const auto answered = resolve::resolve(request, host, {});
    REQUIRE(answered);
    const auto& outcome = *answered;
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK(outcome.driver_assumed);
    CHECK(version_of(outcome, "pytorch") == "1.12.1");
    CHECK(version_of(outcome, "torchvision") == "0.13.1");
    CHECK(outcome.python == "3.9");
    CHECK(outcome.cuda->str() == "11.3");
    CHECK(outcome.commands ==
          std::vector<std::string>{"conda create -n torch -c pytorch python=3.9 pytorch==1.12.1 "
                                   "torchvision==0.13.1 cudatoolkit=11.3 'numpy<2' 'mkl<2024.1'"});
    REQUIRE(outcome.alternatives.size() == 1);
    CHECK(outcome.alternatives[0].commands ==
          std::vector<std::string>{"python3.9 -m venv .venv",
                                   ".venv/bin/python -m pip install torch==1.12.1+cu113 "
                                   "torchvision==0.13.1+cu113 'numpy<2' "
                                   "--extra-index-url https://download.pytorch.org/whl/cu113"});
    CHECK_THAT(words, ContainsSubstring("CE201"));
    CHECK_THAT(words, ContainsSubstring("missing CE210"));
}

TEST_CASE("apex: a CUDA 10.0 env builds with the system's 10.0 and g++-7, not the newer g++-9") {
    const auto host = HostBuilder()
                          .driver("450.80.02")
                          .gpu("GeForce GTX 1080 Ti", "6.1")
                          .toolkit("9.0.176")
                          .toolkit("10.0.130")
                          .gcc("7.5.0")
                          .gcc("9.4.0")
                          .host();
    const auto outcome = outcome_of({{"torch"}, "10.0", "", true}, host);
    INFO(words_of(outcome));
    REQUIRE(outcome.solved());
    REQUIRE(outcome.toolkit);
    CHECK(outcome.toolkit->path == "/usr/local/cuda-10.0");
    REQUIRE(outcome.host_compiler);
    CHECK(outcome.host_compiler->version.str() == "7.5.0");
}

TEST_CASE("CUDA 9.0 wants gcc 5 or older, and the conflict says which are here") {
    const auto host = HostBuilder()
                          .driver("384.145")
                          .gpu("GeForce GTX 1080 Ti", "6.1")
                          .toolkit("9.0.176")
                          .gcc("7.5.0")
                          .gcc("9.4.0")
                          .host();
    const auto outcome = outcome_of({{"torch"}, "9.0", "", true}, host);
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("nvcc 9.0 accepts gcc up to 5"));
    CHECK_THAT(words, ContainsSubstring("gcc 7.5.0"));
    CHECK_FALSE(outcome.conflict->fixes.empty());
}

TEST_CASE("torch from source with CUDA 9.2 takes gcc 6 where it is") {
    const auto host = HostBuilder()
                          .driver("396.26")
                          .gpu("GeForce GTX 1080", "6.1")
                          .toolkit("9.2.148")
                          .gcc("6.5.0")
                          .gcc("8.4.0")
                          .host();
    const auto outcome = outcome_of({{"torch"}, "9.2", "", true}, host);
    INFO(words_of(outcome));
    REQUIRE(outcome.solved());
    CHECK(outcome.host_compiler->version.str() == "6.5.0");
}

TEST_CASE("torch 1.12.1+cu113 runs on driver 470 in full and on driver 450 as machine code") {
    const auto newer = outcome_of({{"torch==1.12.1"}, "11.3"},
                                  HostBuilder().driver("470.199.02").gpu("RTX 3090", "8.6").host());
    INFO(words_of(newer));
    REQUIRE(newer.solved());
    CHECK(newer.warnings.empty());
    const auto older = outcome_of({{"torch==1.12.1"}, "11.3"},
                                  HostBuilder().driver("450.80.02").gpu("RTX 2080", "7.5").host());
    INFO(words_of(older));
    REQUIRE(older.solved());
    CHECK_THAT(words_of(older), ContainsSubstring("CE202"));
}

TEST_CASE("driver 384.145 cannot run torch 1.12.1+cu113, and the way back is proved") {
    const auto outcome = outcome_of({{"torch==1.12.1"}, "11.3"},
                                    HostBuilder().driver("384.145").gpu("GTX 1080", "6.1").host());
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("driver 384.145 gives CUDA 9.0"));
    CHECK_THAT(words, ContainsSubstring("450.80.02 or newer"));
    CHECK_THAT(words, ContainsSubstring("torch 1.12.1+cu113"));
    REQUIRE_FALSE(outcome.conflict->fixes.empty());
    CHECK(outcome.conflict->fixes.front().cost <= 4);
}

TEST_CASE("a GTX 860M is two cards: sm_50 is served by torch 2.8 cu126, sm_30 by nothing so new") {
    const auto maxwell = HostBuilder().driver("570.86.15").gpu("GeForce GTX 860M", "5.0").host();
    const auto newest = outcome_of({{"torch==2.8.0"}}, maxwell);
    INFO(words_of(newest));
    REQUIRE(newest.solved());
    CHECK(newest.cuda->str() == "12.6");
    const auto kepler = HostBuilder().driver("470.199.02").gpu("GeForce GTX 860M", "3.0").host();
    const auto refused = outcome_of({{"torch==1.12.1"}}, kepler);
    const std::string words = words_of(refused);
    INFO(words);
    REQUIRE_FALSE(refused.solved());
    CHECK_THAT(words, ContainsSubstring("GeForce GTX 860M is sm_30"));
}

TEST_CASE("an MX150 is sm_61: torch 2.8 serves it from cu126, not from cu128") {
    const auto host = HostBuilder().driver("580.65.06").gpu("GeForce MX150", "6.1").host();
    const auto open = outcome_of({{"torch==2.8.0"}}, host);
    INFO(words_of(open));
    REQUIRE(open.solved());
    CHECK(open.cuda->str() == "12.6");
    const auto pinned = outcome_of({{"torch==2.8.0"}, "12.8"}, host);
    const std::string words = words_of(pinned);
    INFO(words);
    REQUIRE_FALSE(pinned.solved());
    CHECK_THAT(words, ContainsSubstring("GeForce MX150 is sm_61"));
    CHECK_THAT(words, ContainsSubstring("sm_70"));
    CHECK_THAT(words, ContainsSubstring("--cuda 12.6"));
}

TEST_CASE("a P100 and CUDA 13 wheels do not go together; an older CUDA does") {
    const auto host = HostBuilder().driver("580.65.06").gpu("Tesla P100-PCIE-16GB", "6.0").host();
    const auto outcome = outcome_of({{"torch"}, "13.0"}, host);
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("Tesla P100-PCIE-16GB is sm_60"));
    CHECK_THAT(words, ContainsSubstring("--cuda 12.6"));
}

TEST_CASE("an RTX 5090 is too new for torch 2.6") {
    const auto host = HostBuilder().driver("580.65.06").gpu("GeForce RTX 5090", "12.0").host();
    const auto outcome = outcome_of({{"torch==2.6.0"}}, host);
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("sm_120"));
    CHECK_FALSE(outcome.conflict->fixes.empty());
}

TEST_CASE(
    "CUDA 12.9 on a driver that gives 12.4: machine code yes, PTX no, and one warning says so") {
    const auto host = HostBuilder().driver("550.54.15").gpu("A100", "8.0").host();
    const auto outcome = outcome_of({{"torch==2.8.0"}, "12.9"}, host);
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("CE202"));
}

TEST_CASE("two GPUs of which one is too old: the answer says which one is left out") {
    const auto host = HostBuilder()
                          .driver("580.65.06")
                          .gpu("GeForce RTX 4090", "8.9")
                          .gpu("GeForce GTX 1080 Ti", "6.1")
                          .host();
    const auto outcome = outcome_of({{"torch==2.8.0"}, "12.8"}, host);
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("CE204 this build has no code for GeForce GTX 1080 Ti (sm_61)"));
}

TEST_CASE("a container build has no driver: a request for CUDA gets CUDA, with a warning") {
    const auto outcome = outcome_of({{"torch"}, "12.4"}, HostBuilder().host());
    INFO(words_of(outcome));
    REQUIRE(outcome.solved());
    CHECK(outcome.driver_assumed);
    CHECK(outcome.cuda->str() == "12.4");
}

TEST_CASE("no driver and no CUDA asked: what runs here is a CPU build, and it is said") {
    const auto outcome = outcome_of({{"torch"}}, HostBuilder().host());
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK_FALSE(outcome.cuda);
    CHECK_THAT(words, ContainsSubstring("CE208"));
}

TEST_CASE("strict: --strict-host turns a warning into a conflict that offers what runs in full") {
    resolve::Request request;
    request.specs.push_back({"torch==2.8.0", "argument 1"});
    request.pins.push_back({"cuda", "12.9", "--cuda"});
    const auto host = HostBuilder().driver("550.54.15").gpu("A100", "8.0").host();
    REQUIRE(resolve::resolve(request, host, {})->solved());
    request.strict_host = true;
    const auto strict = resolve::resolve(request, host, {});
    REQUIRE(strict);
    const std::string words = words_of(*strict);
    INFO(words);
    REQUIRE_FALSE(strict->solved());
    CHECK_THAT(words, ContainsSubstring("CUDA 12.9"));
    CHECK_FALSE(strict->conflict->fixes.empty());

    const auto no_driver = resolve::resolve(request, HostBuilder().host(), {});
    REQUIRE(no_driver);
    INFO(words_of(*no_driver));
    CHECK_FALSE(no_driver->solved());
    CHECK_FALSE(no_driver->driver_assumed);
}

TEST_CASE("of two GPUs strictly both must be served") {
    resolve::Request request;
    request.specs.push_back({"torch==2.8.0", "argument 1"});
    request.pins.push_back({"cuda", "12.8", "--cuda"});
    request.strict_host = true;
    const auto outcome = resolve::resolve(request,
                                          HostBuilder()
                                              .driver("580.65.06")
                                              .gpu("GeForce RTX 4090", "8.9")
                                              .gpu("GeForce GTX 1080 Ti", "6.1")
                                              .host(),
                                          {});
    REQUIRE(outcome);
    const std::string words = words_of(*outcome);
    INFO(words);
    REQUIRE_FALSE(outcome->solved());
    CHECK_THAT(words, ContainsSubstring("GeForce GTX 1080 Ti is sm_61"));
    CHECK_THAT(words, ContainsSubstring("--cuda 12.6"));
}

TEST_CASE("every torch release and variant that the catalogue has can be asked for by name") {
    // A driver newer than all of them, no GPU: whatever fails here is the catalogue's own fault.
    const auto host = HostBuilder().driver("615.71.09").host();
    std::size_t asked = 0;
    for (const auto& release : knowledge::torch_releases()) {
        for (const auto& variant : release.variants) {
            if (variant.confidence == "rfc" || (!variant.wheel && !variant.conda)) {
                continue;
            }
            const auto outcome =
                outcome_of({{"torch==" + release.torch.str() + "+" + variant.tag}}, host);
            INFO(release.torch.str() << ' ' << variant.tag << '\n' << words_of(outcome));
            REQUIRE(outcome.solved());
            CHECK(outcome.cuda->major_minor() == variant.cuda.major_minor());
            CHECK_FALSE(outcome.commands.empty());
            ++asked;
        }
    }
    CHECK(asked > 140);
}

TEST_CASE("three things that clash still get a change that was solved") {
    const auto host = HostBuilder()
                          .driver("384.145")
                          .gpu("GeForce GTX 860M", "3.0")
                          .toolkit("13.0.88")
                          .gcc("12.2.0")
                          .host();
    for (const Ask& ask : {Ask{{"torch==2.4"}, "12.1", "3.6", true},
                           Ask{{"torch==1.4"}, "", "3.10"}, Ask{{"torch<1.0"}}}) {
        const auto outcome = outcome_of(ask, host);
        INFO(words_of(outcome));
        REQUIRE_FALSE(outcome.solved());
        CHECK_FALSE(outcome.conflict->reasons.empty());
        CHECK_FALSE(outcome.conflict->fixes.empty());
    }
}

TEST_CASE("the options --cpu and --cuda exclude each other at the door") {
    resolve::Request request;
    request.specs.push_back({"torch", "argument 1"});
    request.pins.push_back({"cuda", "12.1", "--cuda"});
    request.cpu = true;
    const auto outcome = resolve::resolve(request, HostBuilder().host(), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == ErrorKind::BadInput);
}

TEST_CASE("what a fix says is what its command gives, whichever manager answers") {
    const auto host = HostBuilder().driver("470.199.02").gpu("GeForce GTX 860M", "3.0").host();
    const auto outcome = outcome_of({{"torch==1.12.1"}}, host);
    REQUIRE_FALSE(outcome.solved());
    for (const auto& fix : outcome.conflict->fixes) {
        const std::string prefix = "cudaenv resolve torch==";
        if (!fix.command.starts_with(prefix) || fix.text.find("CPU") != std::string::npos) {
            continue;
        }
        const std::string version =
            fix.command.substr(prefix.size(), fix.command.find(' ', prefix.size()) - prefix.size());
        const auto again = outcome_of({{"torch==" + version}}, host);
        INFO(fix.text << '\n' << words_of(again));
        REQUIRE(again.solved());
        CHECK(fix.text.find(again.cuda->major_minor()) != std::string::npos);
    }
}
