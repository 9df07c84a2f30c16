// What of an environment stays, and what changes, with the reason.
#include "hosts.hpp"
#include "solver/resolve/resolve.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace cudaenv;
using Catch::Matchers::ContainsSubstring;
using test::HostBuilder;
using test::words_of;

namespace {

facts::Host h100() {
    return HostBuilder().driver("550.54.15").gpu("NVIDIA H100", "9.0").host();
}

resolve::Installed installed(const std::string& name, const std::string& version,
                             const std::string& label = {}) {
    return {name, version, label, resolve::Manager::Pip, {}};
}

// A venv with Python 3.11 and these packages.
resolve::Request in_venv(std::vector<resolve::Installed> packages,
                         const std::vector<std::string>& specs, const std::string& cuda = {}) {
    resolve::Request request;
    for (const std::string& spec : specs) {
        request.specs.push_back({spec, "argument 1"});
    }
    if (!cuda.empty()) {
        request.pins.push_back({"cuda", cuda, "--cuda"});
    }
    request.environment.target =
        knowledge::target_of({}, knowledge::Target::Kind::Venv, "/venvs/v");
    request.environment.shown = "v";
    request.environment.python = DottedVersion::of("3.11.7");
    request.environment.installed = std::move(packages);
    return request;
}

resolve::Outcome answer(const resolve::Request& request, const facts::Host& host) {
    auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    return *std::move(outcome);
}

std::string change_of(const resolve::Outcome& outcome, const std::string& name) {
    const auto found = std::ranges::find(outcome.changes, name, &resolve::Change::name);
    return found == outcome.changes.end() ? "none"
                                          : found->from + " -> " + found->to + ": " + found->why;
}

bool warns(const resolve::Outcome& outcome, const std::string& code) {
    return std::ranges::find(outcome.warnings, code, &facts::Finding::code) !=
           outcome.warnings.end();
}

} // namespace

TEST_CASE("naming the installed version keeps its label") {
    const auto outcome =
        answer(in_venv({installed("torch", "2.3.1", "cu118")}, {"torch==2.3.1"}), h100());
    CHECK(outcome.kept == std::vector<std::string>{"torch 2.3.1+cu118"});
    CHECK(outcome.cuda->str() == "11.8");
    CHECK(outcome.commands.empty());
}

TEST_CASE("a label changes before a version does, and pip is given the label") {
    const auto outcome =
        answer(in_venv({installed("torch", "2.6.0", "cu124")}, {"torchvision"}, "11.8"), h100());
    CHECK(change_of(outcome, "torch") == "2.6.0+cu124 -> 2.6.0+cu118: you asked for CUDA 11.8");
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0],
               ContainsSubstring("torch==2.6.0+cu118 torchvision==0.21.0+cu118"));
}

TEST_CASE("the default index's build of the installed version is named with its label") {
    // pip takes 2.4.1+cu124 for ==2.4.1 and would do nothing.
    const auto outcome =
        answer(in_venv({installed("torch", "2.4.1", "cu124")}, {"torch==2.4.1"}, "12.1"), h100());
    CHECK(change_of(outcome, "torch") == "2.4.1+cu124 -> 2.4.1+cu121: you asked for CUDA 12.1");
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0],
               ContainsSubstring("torch==2.4.1+cu121") && ContainsSubstring("whl/cu121"));
}

TEST_CASE("a torch stays beside a module that was compiled with another minor of its CUDA") {
    const auto outcome =
        answer(in_venv({installed("torch", "2.5.1", "cu124")}, {"xformers"}), h100());
    CHECK(outcome.kept == std::vector<std::string>{"torch 2.5.1+cu124"});
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0], ContainsSubstring("xformers==0.0.29.post1"));
}

TEST_CASE("partners that cannot stay move with torch, each for its own reason") {
    const auto outcome = answer(
        in_venv({installed("torch", "2.3.1", "cu121"), installed("torchvision", "0.18.1", "cu121"),
                 installed("torchaudio", "2.3.1", "cu121")},
                {"torch==2.5.1"}),
        h100());
    CHECK_THAT(change_of(outcome, "torch"), ContainsSubstring("you asked for torch==2.5.1"));
    CHECK_THAT(change_of(outcome, "torchvision"),
               ContainsSubstring("torchvision 0.18.1+cu121 requires torch 2.3.1+cu121"));
    CHECK_THAT(change_of(outcome, "torchaudio"),
               ContainsSubstring("torchaudio 2.3.1+cu121 requires torch 2.3.1+cu121"));
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0],
               ContainsSubstring("torchvision==0.20.1") && ContainsSubstring("torchaudio==2.5.1"));
}

TEST_CASE("a CPU build stays, and that it uses no GPU is said") {
    const auto outcome =
        answer(in_venv({installed("torch", "2.5.1", "cpu")}, {"torchvision"}), h100());
    CHECK(outcome.kept == std::vector<std::string>{"torch 2.5.1+cpu"});
    CHECK(warns(outcome, "CE216"));
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0],
               ContainsSubstring("torchvision==0.20.1") && ContainsSubstring("whl/cpu"));
}

TEST_CASE("a CPU build gives way to a CUDA that is named") {
    const auto outcome =
        answer(in_venv({installed("torch", "2.6.0", "cpu")}, {"torch"}, "12.4"), h100());
    CHECK(change_of(outcome, "torch") == "2.6.0+cpu -> 2.6.0+cu124: you asked for CUDA 12.4");
    CHECK_FALSE(warns(outcome, "CE216"));
}

TEST_CASE("a torch for AMD GPUs stays, its partners are of its index, and who it is for is said") {
    const auto torch = installed("torch", "2.4.1", "rocm6.0");
    const auto alone = answer(in_venv({torch}, {"torch"}), h100());
    CHECK(alone.kept == std::vector<std::string>{"torch 2.4.1+rocm6.0"});
    REQUIRE(alone.runs.size() == 1);
    CHECK(alone.runs[0].answer == knowledge::Answer::No);
    const auto warning = std::ranges::find(alone.warnings, "CE216", &facts::Finding::code);
    REQUIRE(warning != alone.warnings.end());
    CHECK_THAT(warning->title, ContainsSubstring("a ROCm build, for AMD GPUs"));
    const auto partner = answer(in_venv({torch}, {"torchvision"}), HostBuilder().host());
    CHECK_FALSE(warns(partner, "CE217"));
    CHECK(partner.commands == std::vector<std::string>{"/venvs/v/bin/python -m pip install "
                                                       "torchvision==0.19.1+rocm6.0 --index-url "
                                                       "https://download.pytorch.org/whl/rocm6.0"});
    const auto replaced = answer(in_venv({torch}, {"torch"}, "12.4"), h100());
    CHECK(change_of(replaced, "torch") == "2.4.1+rocm6.0 -> 2.4.1+cu124: you asked for CUDA 12.4");
}

TEST_CASE("NumPy 2 gives way to a torch that is compiled against NumPy 1, and that is a change") {
    const auto old = answer(in_venv({installed("numpy", "2.1.0")}, {"torch==2.2.2"}), h100());
    CHECK(change_of(old, "numpy") == "2.1.0 -> <2: torch 2.2.2 requires numpy<2");
    const auto fits = answer(in_venv({installed("numpy", "1.26.4")}, {"torch==2.2.2"}), h100());
    CHECK(change_of(fits, "numpy") == "none");
    const auto newer = answer(in_venv({installed("numpy", "2.1.0")}, {"torch==2.4.1"}), h100());
    CHECK(change_of(newer, "numpy") == "none");
}

TEST_CASE("nvcc for conda's torch is a whole toolkit of its CUDA") {
    auto request = in_venv({installed("torch", "2.5.1", "cu124")}, {"cuda-nvcc"});
    request.environment.target =
        knowledge::target_of({}, knowledge::Target::Kind::Conda, "/envs/e");
    request.environment.installed[0].manager = resolve::Manager::Conda;
    const auto outcome = answer(request, h100());
    INFO(words_of(outcome));
    CHECK_THAT(words_of(outcome), ContainsSubstring("package nvcc 12.4"));
    REQUIRE(outcome.commands.size() == 1);
    CHECK(outcome.commands[0] ==
          knowledge::nvcc_recipe(DottedVersion::of("12.4"), request.environment.target).command);
}

TEST_CASE("a Python that the environment lacks is offered in a new one, which the command makes") {
    auto request = in_venv({}, {"torch==2.5.1"});
    request.environment.python = DottedVersion::of("3.8.18");
    request.environment.target.active = true;
    const auto outcome = answer(request, h100());
    REQUIRE(outcome.conflict);
    const std::string words = words_of(outcome);
    CHECK_THAT(words, ContainsSubstring("; the environment has Python 3.8\n"));
    CHECK_THAT(words,
               ContainsSubstring("in a new environment: torch 2.5.1 on CUDA 12.4 | deactivate "
                                 "&& cudaenv resolve torch==2.5.1 --python 3.13"));
}

TEST_CASE("a fix that another GPU is part of has no command for this one") {
    auto request = in_venv({installed("torch", "0.5.0a0", "6c31e02")}, {"torchvision"});
    request.environment.python = DottedVersion::of("3.6.9");
    request.environment.installed[0].cuda = DottedVersion::of("9.2");
    const auto outcome =
        answer(request, HostBuilder().driver("396.37").gpu("GeForce GTX 860M", "3.0").host());
    INFO(words_of(outcome));
    REQUIRE(outcome.conflict);
    for (const auto& fix : outcome.conflict->fixes) {
        CHECK((fix.cost < 4 || fix.command.empty()));
    }
}

TEST_CASE("what is for other machines than Linux with an NVIDIA GPU is refused in a line") {
    for (const char* const name : {"tensorflow-metal", "tensorflow-rocm", "jax-metal"}) {
        const auto outcome = resolve::resolve(in_venv({}, {name}), h100(), {});
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().code == "other-gpu");
    }
}

TEST_CASE("a torch from source stays, and its partner is compiled against it") {
    auto torch = installed("torch", "1.12.0a0", "git664058f");
    torch.cuda = DottedVersion::of("11.8");
    const auto outcome = answer(in_venv({torch}, {"torchvision"}),
                                HostBuilder().driver("550.54.15").gpu("NVIDIA A100", "8.0").host());
    INFO(words_of(outcome));
    CHECK(outcome.kept == std::vector<std::string>{"torch 1.12.0a0+git664058f"});
    CHECK(warns(outcome, "CE217"));
    CHECK(outcome.commands ==
          std::vector<std::string>{
              "/venvs/v/bin/python -m pip install --no-build-isolation --no-deps "
              "git+https://github.com/pytorch/vision@v0.13.0"});
}

TEST_CASE(
    "a nightly's partners are nightlies, and a torch from source is not replaced in silence") {
    const auto nightly = resolve::resolve(
        in_venv({installed("torch", "2.16.0.dev20261101", "cu130")}, {"torchvision"}), h100(), {});
    REQUIRE_FALSE(nightly);
    CHECK(nightly.error().code == "nightly");
    CHECK_THAT(nightly.error().hint, ContainsSubstring("--pre torchvision --index-url "
                                                       "https://download.pytorch.org/whl/nightly/"
                                                       "cu130"));
    auto old = installed("torch", "1.12.0a0", "git664058f");
    old.cuda = DottedVersion::of("11.6"); // it has no code for a Hopper
    CHECK(warns(answer(in_venv({old}, {"torchvision"}), h100()), "CE217"));
}

TEST_CASE("what fits no answer is said to be left behind") {
    const auto outcome = answer(
        in_venv({installed("torch", "1.12.1", "cu113"), installed("torchaudio", "0.12.1", "cu113")},
                {"torch==2.15.0"}),
        HostBuilder().driver("580.95.05").gpu("NVIDIA H100", "9.0").host());
    INFO(words_of(outcome));
    REQUIRE(outcome.solved());
    const bool moved = change_of(outcome, "torchaudio") != "none";
    CHECK((moved || warns(outcome, "CE215")));
}

TEST_CASE("another Python than the environment's is an error") {
    auto request = in_venv({}, {"torch"});
    request.pins.push_back({"python", "3.12", "--python"});
    const auto outcome = resolve::resolve(request, h100(), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == "other-python");
}

TEST_CASE("the versions next to one that does not fit are proposed first") {
    resolve::Request request;
    request.specs = {{"torch==2.6.0", "argument 1"}};
    const auto outcome =
        answer(request, HostBuilder().driver("570.133.20").gpu("NVIDIA B200", "10.0").host());
    REQUIRE_FALSE(outcome.solved());
    REQUIRE_FALSE(outcome.conflict->fixes.empty());
    // Of the next minor its newest patch.
    CHECK_THAT(outcome.conflict->fixes[0].command, ContainsSubstring("torch==2.7.1"));
}

TEST_CASE("the same package for an older CUDA is proposed where the driver is too old") {
    resolve::Request request;
    request.specs = {{"cupy-cuda13x", "argument 1"}};
    const auto outcome =
        answer(request, HostBuilder().driver("535.161.08").gpu("NVIDIA H100", "9.0").host());
    REQUIRE_FALSE(outcome.solved());
    REQUIRE_FALSE(outcome.conflict->fixes.empty());
    CHECK_THAT(outcome.conflict->fixes[0].command, ContainsSubstring("cupy-cuda12x"));
}

TEST_CASE("in a conda environment pip adds what conda's table lacks, beside conda's torch") {
    const resolve::Installed pytorch{"torch", "2.4.1", "cu124", resolve::Manager::Conda,
                                     DottedVersion::of("12.4")};
    const resolve::Installed forge{"torch", "2.5.1", "cu126", resolve::Manager::Conda,
                                   DottedVersion::of("12.6")};
    const resolve::Installed cpu{"torch", "2.7.1", "cpu", resolve::Manager::Conda, {}};
    struct Row {
        resolve::Installed torch;
        std::string spec;
        std::string command; // part of the last one
    };
    const std::vector<Row> rows = {
        {pytorch, "transformers", "-m pip install transformers=="},
        {pytorch, "apex", "--no-build-isolation"},
        {pytorch, "jax[cuda12]", "-m pip install 'jax[cuda12]=="},
        {pytorch, "torchaudio", "conda install -p /envs/ml -c pytorch -c nvidia torchaudio==2.4.1"},
        {pytorch, "cudnn=9", "pytorch-cuda=12.4 cudnn=9"},
        {pytorch, "scipy", "pytorch-cuda=12.4 scipy"},
        {forge, "torchvision", "-c conda-forge torchvision==0.20.1 cuda-version=12.6"},
        {forge, "pytorch==2.8.0", "-c conda-forge pytorch-gpu==2.8.0 cuda-version=12.9"},
        {cpu, "torchvision", "-c conda-forge 'pytorch=2.7.1=cpu*' torchvision==0.22.1"},
    };
    auto host = HostBuilder().driver("550.54.15").gpu("NVIDIA H100", "9.0").toolkit("12.4").host();
    host.conda.push_back({"conda", "/opt/miniforge3", "26.7", "the test"});
    for (const Row& row : rows) {
        INFO(row.spec);
        auto request = in_venv({row.torch}, {row.spec});
        request.environment.target =
            knowledge::target_of(host, knowledge::Target::Kind::Conda, "/envs/ml");
        const auto outcome = answer(request, host);
        INFO(words_of(outcome));
        REQUIRE(outcome.solved());
        REQUIRE_FALSE(outcome.commands.empty());
        CHECK_THAT(outcome.commands.back(), ContainsSubstring(row.command));
        for (const std::string& command : outcome.commands) {
            CHECK(command.find("pip install torch==") == std::string::npos);
        }
    }
}

TEST_CASE("what two managers install beside conda's torch is asked in two steps") {
    const resolve::Installed pytorch{"torch", "2.4.1", "cu124", resolve::Manager::Conda,
                                     DottedVersion::of("12.4")};
    auto request = in_venv({pytorch}, {"torchvision", "transformers"});
    request.environment.target =
        knowledge::target_of({}, knowledge::Target::Kind::Conda, "/envs/ml");
    const auto outcome = resolve::resolve(request, h100(), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == "two-managers");
}

TEST_CASE("pip never replaces conda's torch: what needs another one is a conflict") {
    const resolve::Installed pytorch{"torch", "2.4.1", "cu124", resolve::Manager::Conda,
                                     DottedVersion::of("12.4")};
    auto request = in_venv({pytorch}, {"vllm==0.11.0"});
    request.environment.target =
        knowledge::target_of({}, knowledge::Target::Kind::Conda, "/envs/ml");
    const auto outcome = answer(request, h100());
    REQUIRE(outcome.conflict);
    CHECK_THAT(
        words_of(outcome),
        ContainsSubstring("vllm 0.11.0 requires torch 2.8.0; torch 2.4.1+cu124 is installed"));
}

TEST_CASE("the CUDA libraries that an installed extra requires stay with it") {
    const std::vector<resolve::Installed> jax = {
        installed("jax", "0.6.2"), installed("jaxlib", "0.6.2"),
        installed("jax-cuda12-plugin", "0.6.2"), installed("jax-cuda12-pjrt", "0.6.2"),
        installed("nvidia-cudnn-cu12", "9.10.2.21")};
    // TensorFlow 2.17 pins cuDNN 8.9.7, which JAX 0.6.2 does not run on.
    const auto outcome = answer(in_venv(jax, {"tensorflow[and-cuda]"}), h100());
    CHECK(outcome.kept.size() == 4);
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0], ContainsSubstring("tensorflow[and-cuda]==2.2"));
}

TEST_CASE("a JAX plugin for another CUDA is uninstalled before its successor is installed") {
    const auto outcome = answer(
        in_venv({installed("jax", "0.6.2"), installed("jaxlib", "0.6.2"),
                 installed("jax-cuda12-plugin", "0.6.2"), installed("jax-cuda12-pjrt", "0.6.2")},
                {"jax[cuda13]"}),
        HostBuilder().driver("580.95.05").gpu("NVIDIA B200", "10.0").host());
    REQUIRE(outcome.commands.size() == 2);
    CHECK(outcome.commands[0] ==
          "/venvs/v/bin/python -m pip uninstall -y jax-cuda12-plugin jax-cuda12-pjrt");
    CHECK_THAT(outcome.commands[1], ContainsSubstring("jax[cuda13]=="));
    CHECK(warns(outcome, "CE215"));
}

TEST_CASE("transformers is a release that uses the torch that is here") {
    const auto outcome =
        answer(in_venv({installed("torch", "2.2.2", "cu121")}, {"transformers"}), h100());
    CHECK(outcome.kept == std::vector<std::string>{"torch 2.2.2+cu121"});
    REQUIRE(outcome.commands.size() == 1);
    CHECK_THAT(outcome.commands[0], ContainsSubstring("transformers==5.0.")); // 5.1 asks for 2.4
}
