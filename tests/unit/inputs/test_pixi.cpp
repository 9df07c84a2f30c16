#include "tests/unit/inputs/files.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::test;

namespace {

constexpr const char* k_manifest = R"([workspace]
name = "t"
channels = ["conda-forge", { channel = "nvidia", priority = 1 }]
platforms = ["osx-arm64", { name = "gpu", platform = "linux-64", cuda = "12", glibc = "2.28" }]

[dependencies]
python = "3.11.*"
pytorch = { version = ">=2.4, <2.6", channel = "conda-forge" }
cuda-version = "12.4"
numpy = "*"
mkl = { path = "./mkl" }
cudnn = "9.* *_0"

[pypi-dependencies]
torchvision = ">=0.19"
jax = { version = "0.4.30", extras = ["cuda12"] }

[target.linux-64.dependencies]
gcc = "12.*"
[target.win-64.dependencies]
vs2022_win-64 = "*"

[feature.train.dependencies]
xformers = "*"
[feature.docs.dependencies]
sphinx = "*"

[environments]
default = ["train"]
docs = { features = ["docs"], no-default-feature = true }
)";

} // namespace

TEST_CASE("the default environment of a pixi workspace on Linux") {
    const auto input = read_file("pixi.toml", k_manifest);
    REQUIRE(input);
    CHECK(placed(input->wanted) ==
          Lines{"python=3.11.* (pixi.toml line 7)",
                "conda-forge::pytorch>=2.4,<2.6 (pixi.toml line 8)",
                "cuda-version==12.4 (pixi.toml line 9)", "numpy (pixi.toml line 10)",
                "cudnn 9.* *_0 (pixi.toml line 12)", "torchvision>=0.19 (pixi.toml line 15)",
                "jax[cuda12]==0.4.30 (pixi.toml line 16)", "gcc=12.* (pixi.toml line 19)",
                "xformers (pixi.toml line 24)"});
    CHECK(texts(input->channels) == Lines{"conda-forge", "nvidia"});
    REQUIRE(input->driver_cuda);
    CHECK(input->driver_cuda->text == "12");
    REQUIRE(input->glibc);
    CHECK(input->glibc->origin == "pixi.toml line 4");
    CHECK(input->notes ==
          Lines{"pixi.toml line 11: mkl comes from its own place and is not part of the answer",
                "pixi.toml: the environment \"default\" has no feature docs; others: -r "
                "'pixi.toml[NAME]' with default, docs"});
}

TEST_CASE("another environment of a pixi workspace is named in brackets") {
    const auto input = read_files({{"pixi.toml", k_manifest}}, "pixi.toml[docs]");
    REQUIRE(input);
    CHECK(texts(input->wanted) == Lines{"sphinx"});
}

TEST_CASE("[system-requirements] is read and said to be deprecated") {
    const auto input =
        read_file("pixi.toml", "[project]\nplatforms = [\"linux-64\"]\n"
                               "[system-requirements]\ncuda = \"12.1\"\n"
                               "libc = { family = \"glibc\", version = \"2.31\" }\n");
    REQUIRE(input);
    CHECK(input->driver_cuda->text == "12.1");
    CHECK(input->glibc->text == "2.31");
    CHECK(input->notes == Lines{"pixi.toml line 3: [system-requirements] is deprecated; write "
                                "platforms = [{ platform = \"linux-64\", cuda = \"12\" }]"});
}

TEST_CASE("the CUDA of a rich platform may have parts") {
    const auto input =
        read_file("pixi.toml", "[workspace]\nplatforms = [{ platform = \"linux-64\", cuda = "
                               "{ driver = \"12.8\", arch = \"8.6\" } }]\n");
    REQUIRE(input);
    CHECK(input->driver_cuda->text == "12.8");
    CHECK_FALSE(input->glibc);
}

TEST_CASE("tables and platforms of another processor are left out") {
    const std::string text =
        "[workspace]\nplatforms = [{ platform = \"linux-64\", cuda = \"12\" }, "
        "{ platform = \"linux-aarch64\", cuda = \"13\" }]\n"
        "[target.linux-64.dependencies]\nmkl = \"*\"\n"
        "[target.linux-aarch64.dependencies]\ncuda-nvrtc = \"*\"\n";
    const auto input = read_file("pixi.toml", text, inputs::Target("3.11", "aarch64"));
    REQUIRE(input);
    CHECK(texts(input->wanted) == Lines{"cuda-nvrtc"});
    CHECK(input->driver_cuda->text == "13");
    CHECK(input->notes.empty());
}

TEST_CASE("a workspace without Linux says so") {
    const auto input = read_file("pixi.toml", "[workspace]\nplatforms = [\"osx-arm64\"]\n");
    REQUIRE(input);
    CHECK(input->notes ==
          Lines{"pixi.toml line 2 names no Linux platform: pixi would not install it here"});
}
