// What the embedded catalogue says can be installed exists: names of wheels, Pythons, processors,
// and what packages require of one another.
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

struct Ask {
    std::vector<std::string> specs;
    std::string cuda = {};
    std::string python = {};
    resolve::ManagerChoice manager = resolve::ManagerChoice::Pip;
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
    request.manager = ask.manager;
    auto outcome = resolve::resolve(request, host, {});
    REQUIRE(outcome);
    return *std::move(outcome);
}

facts::Host h100() {
    return HostBuilder().driver("550.54.15").gpu("NVIDIA H100 80GB HBM3", "9.0").host();
}

facts::Host grace_hopper() {
    auto host = HostBuilder().driver("560.35.03").gpu("NVIDIA GH200 480GB", "9.0").host();
    host.machine = "aarch64";
    return host;
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

TEST_CASE("TensorFlow with CUDA is a release whose [and-cuda] pip can install") {
    const auto newest = outcome_of({{"tensorflow"}}, h100());
    INFO(words_of(newest));
    REQUIRE(newest.solved());
    CHECK(version_of(newest, "tensorflow") == "2.17.1");
    CHECK(newest.cudnn == "8.9.7.29");
    for (const char* const version : {"2.15.1", "2.16.2", "2.17.0", "2.18.1", "2.19.1", "2.21.0"}) {
        const auto outcome =
            outcome_of({{"tensorflow[and-cuda]==" + std::string(version)}}, h100());
        INFO(version << '\n' << words_of(outcome));
        REQUIRE(outcome.solved());
        CHECK_THAT(words_of(outcome),
                   ContainsSubstring("'tensorflow[and-cuda]==" + std::string(version)));
    }
}

TEST_CASE("TensorFlow 2.14's [and-cuda] is for Python 3.10 and older, 2.15.0's for none") {
    const auto older = outcome_of({{"tensorflow==2.14.1"}}, h100());
    INFO(words_of(older));
    REQUIRE(older.solved());
    CHECK(older.python == "3.10");
    CHECK_FALSE(outcome_of({{"tensorflow==2.14.1"}, "11.8", "3.11"}, h100()).solved());
    const auto without = outcome_of({{"tensorflow==2.15.0"}}, h100());
    CHECK_THAT(words_of(without), !ContainsSubstring("and-cuda"));
}

TEST_CASE("a partner's wheel is named with the version that its file has") {
    const auto a100 = HostBuilder().driver("450.80.02").gpu("NVIDIA A100", "8.0").host();
    const std::string first =
        words_of(outcome_of({{"torch==1.7.0", "torchvision", "torchaudio"}, "11.0"}, a100));
    CHECK_THAT(first, ContainsSubstring("torchvision==0.8.1+cu110 torchaudio==0.7.0 "));
    CHECK_THAT(first, ContainsSubstring("package torchaudio 0.7.0\n"));
    const auto t4 = HostBuilder().driver("595.50").gpu("Tesla T4", "7.5").host();
    const std::string last = words_of(outcome_of({{"torch==2.12.1", "torchaudio"}, "13.2"}, t4));
    CHECK_THAT(last, ContainsSubstring("torch==2.12.1+cu132 torchaudio==2.11.0 "));
}

TEST_CASE("the Python is one that the partner has a wheel for") {
    const auto laptop = HostBuilder().driver("515.65.01").gpu("GeForce RTX 3060", "8.6").host();
    for (const char* const partner : {"torchvision", "torchaudio"}) {
        const auto outcome = outcome_of({{"torch==1.13.1", partner}, "11.6"}, laptop);
        INFO(words_of(outcome));
        REQUIRE(outcome.solved());
        CHECK(outcome.python == "3.10");
    }
    CHECK(outcome_of({{"torch==1.13.1"}, "11.6"}, laptop).python == "3.11");
}

TEST_CASE("the pytorch channel has nothing for Python 3.13: pip answers there") {
    const auto outcome =
        outcome_of({{"torch"}, "12.1", "3.13", resolve::ManagerChoice::Auto}, h100());
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("torch==2.5.1+cu121"));
    CHECK_THAT(words, !ContainsSubstring("python=3.13"));
}

TEST_CASE("on aarch64 a build that exists for x86-64 alone is no answer") {
    const auto outcome = outcome_of({{"torch==2.1.0"}, "12.1"}, grace_hopper());
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("this machine is aarch64"));
    CHECK_THAT(words, ContainsSubstring("x86_64"));
}

TEST_CASE("on aarch64 known CUDA builds come from the one index that has them") {
    const auto outcome = outcome_of({{"torch==2.6.0", "torchvision"}, "12.6"}, grace_hopper());
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("torch==2.6.0 torchvision==0.21.0 --index-url "
                                        "https://download.pytorch.org/whl/cu126"));
    CHECK_THAT(words, !ContainsSubstring("CE213"));
}

TEST_CASE("on aarch64 a build that nobody listed is unknown, and gets no tick") {
    const auto outcome = outcome_of({{"torch==2.6.0"}, "12.4"}, grace_hopper());
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("CE213"));
    for (const auto& verdict : outcome.runs) {
        CHECK((verdict.text.find("sm_90") == std::string::npos ||
               verdict.answer != knowledge::Answer::Yes));
    }
}

TEST_CASE("a processor without torch wheels is said in one line, with no command") {
    auto host = HostBuilder().driver("450.80.02").gpu("Tesla V100", "7.0").host();
    host.machine = "ppc64le";
    const auto outcome = outcome_of({{"torch"}}, host);
    const std::string words = words_of(outcome);
    INFO(words);
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(words, ContainsSubstring("this machine is ppc64le"));
    CHECK(outcome.commands.empty());
}

TEST_CASE("JAX and torch agree on cuDNN, whose version is said where one of them pins it") {
    const auto both = outcome_of({{"jax[cuda12]", "torch"}}, h100());
    const std::string words = words_of(both);
    INFO(words);
    REQUIRE(both.solved());
    REQUIRE(both.cudnn);
    const auto alone = outcome_of({{"jax[cuda12]"}}, h100());
    REQUIRE(alone.solved());
    CHECK_FALSE(alone.cudnn);
    // jax-cuda12-plugin[with-cuda] 0.12 requires cuDNN 9.8 or newer, torch 2.6.0 has 9.1.0.70.
    const auto clash = outcome_of({{"jax[cuda12]==0.12.0.1", "torch==2.6.0"}, "12.4"}, h100());
    CHECK_FALSE(clash.solved());
}

TEST_CASE("torchtext 0.18 is for torch 2.3") {
    const auto fits = outcome_of({{"torch==2.3.0", "torchtext"}}, h100());
    INFO(words_of(fits));
    REQUIRE(fits.solved());
    CHECK(version_of(fits, "torchtext") == "0.18.0");
    const auto clash = outcome_of({{"torch==2.6.0", "torchtext"}}, h100());
    INFO(words_of(clash));
    REQUIRE_FALSE(clash.solved());
    CHECK_THAT(words_of(clash), ContainsSubstring("2.3"));
}

TEST_CASE("JAX comes with the extra that brings CUDA, where a GPU is here") {
    const auto outcome = outcome_of({.specs = {"jax"}}, h100());
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("'jax[cuda12]=="));
    CHECK(outcome.cuda->major() == 12);
}

TEST_CASE("JAX without a GPU, or with --cpu, comes without an extra") {
    const auto outcome = outcome_of({.specs = {"jax"}}, HostBuilder().host());
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("jax=="));
    resolve::Request request;
    request.specs.push_back({"jax", "argument 1"});
    request.cpu = true;
    const auto cpu = resolve::resolve(request, h100(), {});
    REQUIRE(cpu);
    CHECK_THAT(cpu->commands.back(), ContainsSubstring("jax=="));
}

TEST_CASE("an extra that the request names is the only one") {
    const auto outcome = outcome_of({.specs = {"jax[cuda12-local]"}}, h100());
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("'jax[cuda12-local]=="));
    CHECK(std::ranges::count(outcome.warnings, "CE228", &facts::Finding::code) == 1);
}

TEST_CASE("a JAX whose CUDA extras are not on the index is no answer for a GPU") {
    const auto outcome = outcome_of({.specs = {"jax==0.4.20"}}, h100());
    CHECK_FALSE(outcome.solved());
}

TEST_CASE("onnxruntime-gpu comes with the libraries that its wheel lacks") {
    const auto outcome = outcome_of({.specs = {"onnxruntime-gpu"}}, h100());
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("'onnxruntime-gpu[cuda,cudnn]=="));
}

TEST_CASE("CuPy takes the toolkit that is here, else the extra ctk") {
    const auto without = outcome_of({.specs = {"cupy-cuda12x"}}, h100());
    CHECK_THAT(without.commands.back(), ContainsSubstring("'cupy-cuda12x[ctk]=="));
    const auto host =
        HostBuilder().driver("550.54.15").gpu("H100", "9.0").toolkit("12.4.131").host();
    const auto with = outcome_of({.specs = {"cupy-cuda12x"}}, host);
    CHECK_THAT(with.commands.back(), ContainsSubstring("cupy-cuda12x=="));
}

TEST_CASE("cupy is installed as the wheel of the CUDA") {
    const auto outcome = outcome_of({.specs = {"cupy"}, .cuda = "12.4"}, h100());
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("cupy-cuda12x"));
    CHECK(version_of(outcome, "cupy") == "absent");
    CHECK(std::ranges::count(outcome.warnings, "CE227", &facts::Finding::code) == 1);
}

TEST_CASE("what has no wheel of its own name is installed as the wheel of the CUDA") {
    for (const std::string name : {"tensorrt", "faiss-gpu", "cudf"}) {
        INFO(name);
        const auto outcome = outcome_of({.specs = {name}}, h100());
        REQUIRE(outcome.solved());
        CHECK_THAT(outcome.commands.back(), ContainsSubstring(name + "-cu12=="));
    }
}

TEST_CASE("cuDNN and NCCL alone are wheels of the CUDA or conda's packages, with torch they are "
          "torch's") {
    for (const std::string name : {"cudnn", "nccl"}) {
        INFO(name);
        const auto outcome = outcome_of({.specs = {name}}, h100());
        REQUIRE(outcome.solved());
        CHECK_THAT(outcome.commands.back(), ContainsSubstring("nvidia-" + name + "-cu12=="));
        const auto conda =
            outcome_of({.specs = {name}, .manager = resolve::ManagerChoice::Conda}, h100());
        REQUIRE(conda.solved());
        CHECK_THAT(conda.commands.back(), ContainsSubstring(" " + name));
        const auto with_torch = outcome_of({.specs = {name, "torch"}}, h100());
        REQUIRE(with_torch.solved());
        CHECK_THAT(with_torch.commands.back(), !ContainsSubstring("nvidia-" + name));
    }
}

TEST_CASE("nvcc by the names of its packages is a toolkit that compiles") {
    for (const std::string name : {"nvcc", "cuda-nvcc", "cuda-toolkit"}) {
        INFO(name);
        const auto outcome = outcome_of({.specs = {name}, .cuda = "12.4"}, h100());
        REQUIRE(outcome.solved());
        CHECK_THAT(outcome.commands.back(), ContainsSubstring("cuda_12.4.0"));
        const auto conda = outcome_of(
            {.specs = {name}, .cuda = "12.4", .manager = resolve::ManagerChoice::Conda}, h100());
        REQUIRE(conda.solved());
        CHECK_THAT(conda.commands.back(), ContainsSubstring("cuda-version=12.4 cuda-nvcc "));
        CHECK(outcome.missing.empty());
    }
}

TEST_CASE("what is compiled here takes the CUDA whose nvcc is here, listed on the index or not") {
    const auto host = HostBuilder()
                          .driver("550.54.15")
                          .gpu("H100", "9.0")
                          .toolkit("12.4.131")
                          .gcc("12.2.0")
                          .host();
    for (const std::string name : {"flash-attn", "detectron2", "pytorch3d"}) {
        INFO(name);
        const auto outcome = outcome_of({.specs = {name}}, host);
        REQUIRE(outcome.solved());
        CHECK(outcome.cuda == DottedVersion::of("12.4"));
    }
}

TEST_CASE("cuda-python is of the major that the driver gives") {
    const auto outcome = outcome_of({.specs = {"cuda-python"}}, h100());
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("cuda-python==12."));
}

TEST_CASE("a GPU that the newest cuDNN dropped keeps the last one that serves it") {
    const auto pascal =
        HostBuilder().driver("580.95.05").gpu("NVIDIA GeForce GTX 1080 Ti", "6.1").host();
    const auto outcome = outcome_of({.specs = {"jax[cuda12]"}}, pascal);
    REQUIRE(outcome.solved());
    CHECK_THAT(outcome.commands.back(), ContainsSubstring("nvidia-cudnn-cu12==9.10.2.21"));
    CHECK(std::ranges::count(outcome.warnings, "CE226", &facts::Finding::code) == 1);
    const auto newer = outcome_of({.specs = {"jax[cuda12]"}}, h100());
    CHECK_THAT(newer.commands.back(), !ContainsSubstring("nvidia-cudnn"));
}

TEST_CASE("a named wheel of NCCL or cuDNN is that library, for one CUDA major") {
    CHECK_FALSE(
        outcome_of({.specs = {"torch==2.4.1", "nvidia-nccl-cu12==2.25.1"}}, h100()).solved());
    CHECK_FALSE(
        outcome_of({.specs = {"torch==2.7.1", "nvidia-cudnn-cu12==9.1.0.70"}}, h100()).solved());
    CHECK(outcome_of({.specs = {"torch==2.4.1", "nvidia-nccl-cu12==2.20.5"}}, h100()).solved());
}

TEST_CASE("a conflict names the requirements that exclude each other") {
    const auto outcome =
        outcome_of({.specs = {"torch==2.5.1", "jax[cuda12]==0.6.2"}, .python = "3.11"}, h100());
    REQUIRE_FALSE(outcome.solved());
    CHECK_THAT(outcome.conflict->reasons.front().text,
               ContainsSubstring("requires cuDNN 9.1.0.70"));
}

TEST_CASE("TensorFlow holds NumPy to the versions that its wheels require") {
    CHECK_FALSE(outcome_of({.specs = {"tensorflow==2.15.1", "numpy>=2"}, .python = "3.11"}, h100())
                    .solved());
    CHECK(outcome_of({.specs = {"tensorflow==2.15.1", "numpy<2"}, .python = "3.11"}, h100())
              .solved());
}

TEST_CASE("JAX's plugin has the version of jaxlib") {
    CHECK_FALSE(
        outcome_of({.specs = {"jaxlib==0.4.30", "jax-cuda12-plugin==0.4.31"}}, h100()).solved());
    CHECK(outcome_of({.specs = {"jaxlib==0.4.31", "jax-cuda12-plugin==0.4.31"}}, h100()).solved());
}

TEST_CASE("torchcodec is the release for the torch beside it") {
    const auto outcome = outcome_of({.specs = {"torch==2.9.1", "torchcodec"}}, h100());
    REQUIRE(outcome.solved());
    CHECK(version_of(outcome, "torchcodec") == "0.9.1");
}

TEST_CASE("FlashAttention 2 is for Ampere and newer: an older release says why") {
    const auto t4 = HostBuilder().driver("550.54.15").gpu("Tesla T4", "7.5").host();
    const auto outcome = outcome_of({.specs = {"torch==2.4.1", "flash-attn"}}, t4);
    if (outcome.solved()) {
        CHECK(version_of(outcome, "flash-attn").starts_with("1."));
        CHECK(std::ranges::count(outcome.warnings, "CE229", &facts::Finding::code) == 1);
    }
}

TEST_CASE("an extra that begins with a later release is an error") {
    resolve::Request request;
    request.specs.push_back({"tensorflow[and-cuda]==2.13.1", "argument 1"});
    const auto outcome = resolve::resolve(request, h100(), {});
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == "no-such-extra");
    CHECK(outcome.error().hint == "the extra begins with 2.14.0");
}

TEST_CASE("CuPy for one minor of CUDA 11 is a wheel of its own") {
    const auto ampere = HostBuilder().driver("550.54.15").gpu("RTX 3090", "8.6").host();
    const auto outcome = outcome_of({.specs = {"cupy-cuda113"}, .python = "3.9"}, ampere);
    REQUIRE(outcome.solved());
    CHECK(version_of(outcome, "cupy-cuda113") == "10.6.0");
}

TEST_CASE("TensorFlow before 2.14 shares one conda environment with its CUDA libraries") {
    resolve::Request request;
    request.specs.push_back({"tensorflow==2.10.0", "argument 1"});
    request.pins.push_back({"python", "3.9", "--python"});
    request.environment.target.has_conda = true;
    const auto t4 = HostBuilder().driver("535.129.03").gpu("Tesla T4", "7.5").host();
    const auto outcome = resolve::resolve(request, t4, {});
    REQUIRE(outcome);
    REQUIRE(outcome->commands.size() == 3);
    CHECK(outcome->commands[0] == "conda create -n tensorflow -c conda-forge cudatoolkit=11.2 "
                                  "'cudnn>=8.1,<9' python=3.9 pip");
    CHECK(outcome->commands[1] == "conda activate tensorflow");
    CHECK(outcome->commands[2] == "python -m pip install tensorflow==2.10.0 'numpy<2'");
    CHECK(std::ranges::count(outcome->warnings, "CE230", &facts::Finding::code) == 1);
}

TEST_CASE("what people ask of a machine gets a command that holds") {
    const auto gpu = [](const char* driver, const char* capability) {
        return HostBuilder().driver(driver).gpu("the GPU", capability).host();
    };
    auto arm = HostBuilder().driver("560.35.03").gpu("NVIDIA GH200", "9.0").toolkit("12.4").host();
    arm.machine = "aarch64";
    struct Row {
        facts::Host host;
        std::vector<std::string> specs;
        std::vector<std::string> words; // parts of the outcome
    };
    const std::vector<Row> rows = {
        // What requires JAX, with JAX's CUDA build.
        {gpu("550.54.15", "9.0"), {"optax"}, {"'jax[cuda12]==", "optax=="}},
        {gpu("580.95.05", "10.0"), {"flax"}, {"'jax[cuda13]==", "flax=="}},
        // Exact requirements on packages of which only some releases are listed.
        {gpu("580.95.05", "10.0"), {"vllm==0.33.0"}, {"torch==2.14.0 torchvision==0.29.0"}},
        {gpu("580.95.05", "10.0"), {"sglang==0.5.23"}, {"sglang==0.5.23"}},
        {gpu("550.54.15", "9.0"),
         {"torch==2.4.1", "transformers==4.44.0", "trl"},
         {"transformers==4.44.0 trl "}},
        // CuPy by any of its names.
        {gpu("440.100", "6.1"), {"cupy"}, {"cupy-cuda102==12.3.0"}},
        {gpu("550.54.15", "9.0"), {"cupy-cuda112"}, {"cudaenv resolve cupy-cuda12x"}},
        // Beside torch it takes torch's libraries: cuda-toolkit would replace some of them.
        {gpu("550.54.15", "9.0"),
         {"torch==2.6.0", "cupy-cuda12x==14.2.0"},
         {" cupy-cuda12x==14.2.0"}},
        // No wheel for the processor, and sources that can be built.
        {arm, {"xformers"}, {"--no-build-isolation xformers=="}},
        // TensorFlow's own cuDNN is conda's, not a wheel's.
        {gpu("470.256.02", "3.7"), {"tensorflow"}, {"pip install tensorflow==2.11.1 'numpy<2'\n"}},
        {gpu("550.54.15", "9.0"), {"tensorflow-cpu"}, {"pip install tensorflow==2."}},
        {gpu("550.54.15", "9.0"), {"cuda==12.4.1"}, {"==12.4.*"}},
        // A wheel without CUDA's libraries, and nothing that installs them.
        {gpu("550.54.15", "9.0"), {"cupy-cuda11x"}, {"CE232", "cupy-cuda11x==13.6.0"}},
        {gpu("470.256.02", "7.5"), {"onnxruntime-gpu==1.18.1"}, {"CE232"}},
        // What is compiled over a torch goes with every build of it for that CUDA major.
        {gpu("550.54.15", "9.0"),
         {"torch==2.5.1+cu124", "xformers==0.0.29.post1"},
         {"pip install torch==2.5.1 xformers==0.0.29.post1\n"}}, // PyPI's torch 2.5.1 is cu124
        {gpu("550.54.15", "9.0"),
         {"torch-tensorrt==2.7.0"},
         {"torch==2.7.1 torch-tensorrt==2.7.0"}},
        {gpu("550.54.15", "9.0"),
         {"auto-gptq==0.7.1"},
         {"torch==2.2.2 'numpy<2' auto-gptq==0.7.1"}},
        {gpu("550.54.15", "9.0"), {"pycuda"}, {"CE221", "pip install pycuda=="}},
        // The first driver branch of a GPU.
        {gpu("550.54.15", "12.0"), {"torch"}, {"CE231", "570"}},
        {gpu("450.80.02", "8.9"), {"torch"}, {"CE231", "520"}},
        // The default index has no wheel for that Python, PyTorch's has.
        {gpu("580.95.05", "8.6"),
         {"torch==2.13.0", "python==3.15.*"},
         {"torch==2.13.0+cu130 --extra-index-url"}},
        // vLLM's wheel goes with any build of its torch for that CUDA major.
        {gpu("550.54.15", "9.0"), {"vllm==0.7.3"}, {"torch==2.5.1 ", " vllm==0.7.3"}},
        // The newest that the driver runs in full, and that a newer one runs without new PTX.
        {gpu("535.183.01", "8.9"), {"vllm"}, {"vllm==0.7.3", "CE233 newer: vllm 0.19.1"}},
        // What METADATA of old TensorFlow leaves open.
        {gpu("515.105.01", "8.6"),
         {"tensorflow==2.9.0"},
         {"tensorflow==2.9.0 'numpy<2' 'protobuf<3.21'"}},
        {gpu("440.100", "6.1"),
         {"tensorflow-gpu==1.15", "python==3.7.*"},
         {"tensorflow-gpu==1.15.0 'protobuf<3.21'"}},
        // Wheels on a page of the project's own.
        {gpu("550.54.15", "9.0"),
         {"torch==2.4.1+cu121", "pyg-lib", "torch-scatter"},
         {"pip install -f https://data.pyg.org/whl/torch-2.4.0+cu121.html pyg-lib\n",
          "pyg-lib from its project's page"}},
        {gpu("515.105.01", "8.6"),
         {"jax[cuda11_pip]"},
         {"jax_cuda_releases.html 'jax[cuda11_pip]==0.4.25'", "CUDA 11.8"}},
        // What serves the GPU of none is to blame, and not what is asked for beside it.
        {gpu("580.95.05", "10.0"),
         {"tensorflow", "torch", "jax[cuda12]", "python==3.11.*"},
         {"because the GPU is sm_100; tensorflow 2.21.0 has CUDA 12.5, whose libraries have no "
          "code "
          "for sm_100 (CUDA 12.8 is the first)\nfix 5"}},
        // Building torch would not help flash-attn.
        {gpu("580.65.06", "6.1"),
         {"torch==2.5.1", "flash-attn", "python==3.11.*"},
         {"flash-attn 2.8.3.post2 has code for sm_80 and newer\nfix 5"}},
        {gpu("440.100", "3.0"),
         {"torch==1.0.0", "cuda==9.2"},
         {"torch 1.0.0 built from source for sm_30, with nvcc 9.2: TORCH_CUDA_ARCH_LIST=3.0"}},
        // The nearest release of two that are named together.
        {gpu("550.54.15", "9.0"),
         {"torch==1.10.0", "torchvision==0.11.1", "numpy==1.21.6"},
         {"\nfix 2 numpy 1.21.6, torch 2.0.1+cu118, torchvision 0.15.2+cu118 on CUDA 11.8"}},
        // A range of CUDA releases: pip takes the newest.
        {gpu("550.54.15", "9.0"), {"jax[cuda12]"}, {"CE202", "CUDA 12.9"}},
    };
    for (const Row& row : rows) {
        resolve::Request request;
        for (const std::string& spec : row.specs) {
            request.specs.push_back({spec, "argument 1"});
        }
        request.environment.target =
            knowledge::target_of(row.host, knowledge::Target::Kind::None, {});
        const auto outcome = resolve::resolve(request, row.host, {});
        REQUIRE(outcome);
        const std::string words = test::words_of(*outcome);
        INFO(words);
        for (const std::string& part : row.words) {
            CHECK_THAT(words, ContainsSubstring(part));
        }
    }
}

TEST_CASE("a channel that is named answers, or says what of it is not known") {
    auto host = HostBuilder().driver("550.54.15").gpu("NVIDIA H100", "9.0").host();
    host.conda.push_back({"conda", "/opt/miniforge3", "26.7", "the test"});
    const auto asked = [&](const std::string& spec, knowledge::Target::Kind kind) {
        resolve::Request request;
        request.specs = {{spec, "argument 1"}};
        request.environment.target =
            knowledge::target_of(host, kind, kind == knowledge::Target::Kind::None ? "" : "/v");
        return resolve::resolve(request, host, {});
    };
    using Kind = knowledge::Target::Kind;
    const auto forge = asked("conda-forge::pytorch=2.6=*cuda126*", Kind::None);
    REQUIRE(forge);
    CHECK_THAT(
        test::words_of(*forge),
        ContainsSubstring("-c conda-forge python=3.12 pytorch-gpu==2.6.0 cuda-version=12.6"));
    const auto pytorch = asked("pytorch::pytorch=2.6", Kind::None);
    REQUIRE(pytorch);
    CHECK(pytorch->conflict); // its last is 2.5.1
    const auto other = asked("defaults::pytorch=2.6", Kind::None);
    REQUIRE_FALSE(other);
    CHECK(other.error().code == "other-channel");
    const auto venv = asked("conda-forge::pytorch", Kind::Venv);
    REQUIRE_FALSE(venv);
    CHECK(venv.error().code == "channel-and-venv");
}

TEST_CASE("explain says the next best") {
    resolve::Request request;
    request.specs = {{"torch", "argument 1"}};
    request.tell_choices = true;
    const auto outcome = resolve::resolve(
        request, HostBuilder().driver("550.54.15").gpu("NVIDIA H100", "9.0").host(), {});
    REQUIRE(outcome);
    REQUIRE(outcome->choices.size() == 1);
    CHECK(outcome->choices[0].chosen == "torch 2.7.1+cu118"); // CUDA 11.8 in full
    CHECK_THAT(outcome->choices[0].next, ContainsSubstring("torch 2.14.1+cu126"));
}
