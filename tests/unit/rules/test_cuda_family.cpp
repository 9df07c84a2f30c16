#include "check/rules/torch_pairing.hpp"
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

TEST_CASE("torch, torchvision and torchaudio of one release are no finding") {
    ContextBuilder env;
    SECTION("of PyPI") {
        torch_of_pypi(env);
        torchvision_of_pypi(env);
        wheel(env, "torchaudio", "2.8.0", {"torch==2.8.0"});
    }
    SECTION("of one CUDA's index") {
        wheel(env, "torch", "2.8.0+cu126", {});
        wheel(env, "torchvision", "0.23.0+cu126", {"torch (==2.8.0)"});
    }
    SECTION("torchaudio that names no torch, with one that came later") {
        wheel(env, "torch", "2.13.0+cu130", {});
        wheel(env, "torchaudio", "2.11.0+cu130", {});
    }
    SECTION("both from conda") {
        conda_torch(env, "pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0",
                    {"pytorch-cuda 12.1.*"});
        conda_torch(env, "torchvision", "0.18.0", "py311_cu121", {"pytorch 2.3.0"});
    }
    SECTION("conda-forge's, whose dist-info counts builds") {
        auto made = env.conda_python("pytorch", "2.0.0.post200", "torch");
        made.first.version = "2.0.0";
        made.first.build = "cuda112py311h13fee9e_200";
        conda_torch(env, "torchvision", "0.15.1", "cuda112py311h5e4c1a1_0",
                    {"pytorch >=2.0.0,<2.1.0a0", "pytorch * cuda*"});
        wheel(env, "torchaudio", "2.0.1+cu112", {"torch==2.0.0"});
    }
    SECTION("of a release that no table has") {
        wheel(env, "torch", "9.9.0+cu999", {});
        wheel(env, "torchvision", "0.99.0", {});
    }
    SECTION("a CPU torch where nothing asks for CUDA") {
        wheel(env, "torch", "2.8.0+cpu", {});
        wheel(env, "torchvision", "0.23.0+cpu", {"torch (==2.8.0)"});
    }
    CHECK(env.codes().empty());
}

TEST_CASE("a partner that requires another torch is reported with its requirement") {
    ContextBuilder env;
    wheel(env, "torch", "2.7.1+cu126", {});
    wheel(env, "torchvision", "0.23.0+cu126", {"numpy", "torch (==2.8.0)"});
    const auto found = env.found("CE120");
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(finding.severity == facts::Severity::Error);
    CHECK(is_case(finding, "",
                  {{"partner", "torchvision 0.23.0+cu126"},
                   {"required", "torch==2.8.0"},
                   {"torch", "2.7.1+cu126"}}));
    REQUIRE(finding.evidence.size() == 2);
    CHECK(finding.evidence[0].path ==
          "/env/lib/python3.11/site-packages/torchvision-0.23.0+cu126.dist-info");
    REQUIRE(finding.fix);
    CHECK(finding.fix->command.starts_with(
        "/env/bin/python -m pip install --force-reinstall --no-deps torchvision==0.22.1+cu126 "
        "--index-url "));
    CHECK(found[0].subject == "torchvision");
    CHECK(env.codes() == Codes{"CE120"});
}

TEST_CASE("a partner for another patch release is a warning") {
    ContextBuilder env;
    wheel(env, "torch", "2.7.1+cu126", {});
    wheel(env, "torchvision", "0.22.0+cu126", {"torch (==2.7.0)"});
    const auto found = env.found("CE120");
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.severity == facts::Severity::Warning);
}

TEST_CASE("a partner without a requirement is judged by the table of releases") {
    ContextBuilder env;
    wheel(env, "torch", "2.10.0+cu128", {});
    wheel(env, "torchaudio", "2.7.1+cu128", {});
    const auto found = env.found("CE120");
    REQUIRE(found.size() == 1);
    CHECK(is_case(found[0], "",
                  {{"partner", "torchaudio 2.7.1+cu128"},
                   {"released_for", "torch 2.7.1"},
                   {"torch", "2.10.0+cu128"}}));
}

TEST_CASE("a conda partner is held to its own dependency") {
    ContextBuilder env;
    wheel(env, "torch", "2.4.1+cu121", {});
    conda_torch(env, "torchvision", "0.18.0", "py311_cu121", {"pytorch 2.3.0"});
    const auto found = env.found("CE120");
    REQUIRE(found.size() == 1);
    CHECK(
        is_case(found[0], "", {{"partner", "torchvision 0.18.0"}, {"required", "pytorch 2.3.0"}}));
    CHECK(found[0].finding.fix->command == "conda install -p /env torchvision=0.19.1");
}

TEST_CASE("a torch from source with the partner of its release is no finding") {
    ContextBuilder env;
    wheel(env, "torch", "1.12.0a0+git664058f", {});
    wheel(env, "torchvision", "0.13.0+cu113", {"torch (==1.12.0)"});
    CHECK(env.codes().empty());
}

TEST_CASE("a torch from source with the partner of another release is a finding") {
    ContextBuilder env;
    wheel(env, "torch", "1.12.0a0+git664058f", {});
    wheel(env, "torchvision", "0.23.0+cu126", {"torch (==2.8.0)"});
    CHECK(env.codes() == Codes{"CE120"});
}

TEST_CASE("nightlies are silent but where one requires another") {
    ContextBuilder env;
    wheel(env, "torch", "2.9.0.dev20250801+cu128", {});
    SECTION("nothing required") {
        wheel(env, "torchaudio", "2.8.0.dev20250801+cu128", {});
        CHECK(env.codes().empty());
    }
    SECTION("the same day's") {
        wheel(env, "torchvision", "0.24.0.dev20250801+cu128", {"torch (==2.9.0.dev20250801)"});
        CHECK(env.codes().empty());
    }
    SECTION("another day's") {
        wheel(env, "torchvision", "0.24.0.dev20250715+cu128", {"torch (==2.9.0.dev20250715)"});
        CHECK(env.codes() == Codes{"CE120"});
    }
}

TEST_CASE(
    "a partner built for another CUDA major is an error that names both and how it is known") {
    ContextBuilder env;
    wheel(env, "torch", "2.8.0+cu126", {});
    wheel(env, "torchvision", "0.23.0+cu118", {"torch (==2.8.0)"});
    const auto found = env.found("CE121");
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(finding.severity == facts::Severity::Error);
    CHECK(is_case(finding, "refused",
                  {{"partner", "torchvision 0.23.0+cu118"},
                   {"partner_build", "CUDA 11.8"},
                   {"torch", "2.8.0+cu126"},
                   {"torch_build", "CUDA 12.6"}}));
    CHECK(finding.evidence[0].text == "by its version 0.23.0+cu118");

    CHECK(finding.fix->command.find("torchvision==0.23.0+cu126") != std::string::npos);
    CHECK(env.codes() == Codes{"CE121"});
}

TEST_CASE("another CUDA minor weighs what the partner itself checks") {
    ContextBuilder env;
    SECTION("torchvision 0.13 compares the minor") {
        wheel(env, "torch", "1.12.1+cu113", {});
        wheel(env, "torchvision", "0.13.1+cu116", {"torch (==1.12.1)"});
        CHECK(env.found("CE121").at(0).finding.severity == facts::Severity::Error);
    }
    SECTION("torchaudio 2.8 compares the minor") {
        wheel(env, "torch", "2.8.0+cu126", {});
        wheel(env, "torchaudio", "2.8.0+cu128", {"torch==2.8.0"});
        CHECK(env.found("CE121").at(0).finding.severity == facts::Severity::Error);
    }
    SECTION("torchvision 0.23 does not") {
        wheel(env, "torch", "2.8.0+cu126", {});
        torchvision_of_pypi(env); // cu128
        CHECK(env.found("CE121").at(0).finding.severity == facts::Severity::Note);
    }
}

TEST_CASE("a partner without CUDA beside a torch with it is a warning") {
    ContextBuilder env;
    torch_of_pypi(env);
    wheel(env, "torchvision", "0.23.0+cpu", {"torch (==2.8.0)"});
    const auto found = env.found("CE121");
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.severity == facts::Severity::Warning);
    CHECK(found[0].finding.evidence[1].text ==
          "by its requirement nvidia-cuda-runtime-cu12==12.8.90");
}

TEST_CASE("conda's builds tell their CUDA, and one of source, of a site's own index or of ROCm "
          "does not") {
    ContextBuilder env;
    SECTION("conda's differ") {
        conda_torch(env, "pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0");
        conda_torch(env, "torchvision", "0.18.0", "py311_cu118", {"pytorch 2.3.0"});
        CHECK(env.codes() == Codes{"CE121"});
    }
    SECTION("of source") {
        wheel(env, "torch", "2.8.0+cu126", {});
        wheel(env, "torchvision", "0.23.0a0+824e8c8", {"torch"});
        CHECK(env.codes().empty());
    }
    SECTION("a wheel built here, without a label") {
        wheel(env, "torch", "2.8.0+cu118", {});
        auto& partner = wheel(env, "torchvision", "0.23.0", {"torch (==2.8.0)"});
        partner.direct_url = facts::DirectUrl{};
        partner.direct_url->url = "file:///wheels/torchvision-0.23.0-cp311-cp311-linux_x86_64.whl";
        CHECK(env.codes().empty());
    }
    SECTION("aarch64, whose wheels of PyPI are others") {
        wheel(env, "torch", "2.8.0+cu126", {});
        wheel(env, "torchvision", "0.23.0", {}).tags = {"cp311-cp311-manylinux_2_28_aarch64"};
        CHECK(env.codes().empty());
    }
    SECTION("ROCm") {
        wheel(env, "torch", "2.8.0+rocm6.4", {});
        wheel(env, "torchvision", "0.23.0", {"torch (==2.8.0)"});
        CHECK(env.codes().empty());
    }
}

TEST_CASE("several torches in one environment are for other rules to tell") {
    ContextBuilder env;
    wheel(env, "torch", "2.8.0+cu126", {});
    wheel(env, "torch", "2.7.1+cpu", {});
    wheel(env, "torchvision", "0.23.0+cu118", {"torch (==2.8.0)"});
    CHECK(env.found("CE120").empty());
    CHECK(env.found("CE121").empty());
    CHECK(env.found("CE122").empty());
}

TEST_CASE("a CPU build where CUDA is pinned is reported with the pin") {
    ContextBuilder env;
    wheel(env, "torch", "2.8.0+cpu", {});
    env.cuda = "12.6";
    env.cuda_origin = "pinned in ~/code/apex";
    const auto found = env.found("CE122");
    REQUIRE(found.size() == 1);
    const auto& finding = found[0].finding;
    CHECK(is_case(finding, "pin", {{"torch", "2.8.0+cpu"}, {"pin", "12.6"}}));
    CHECK(finding.severity == facts::Severity::Warning);
    CHECK(finding.evidence[1].path == "pinned in ~/code/apex");
    CHECK(finding.fix->command.starts_with(
        "/env/bin/python -m pip install torch==2.8.0+cu126 --index-url "));
}

TEST_CASE("a CPU build beside packages that only a torch with CUDA needs is a finding") {
    ContextBuilder env;
    SECTION("a partner") {
        wheel(env, "torch", "2.8.0+cpu", {});
        wheel(env, "torchvision", "0.23.0+cu126", {"torch (==2.8.0)"});
    }
    SECTION("conda's pytorch-cuda") {
        conda_torch(env, "pytorch", "2.3.0", "py3.11_cpu_0");
        env.conda("pytorch-cuda", "12.1", "ha16c6d3_5");
    }
    SECTION("conda's cudatoolkit that nothing depends on") {
        conda_torch(env, "pytorch", "1.12.1", "py3.9_cpu_0");
        env.conda("cudatoolkit", "11.3.1", "h2bc3f7f_2");
    }
    SECTION("NVIDIA's wheels that nothing requires") {
        wheel(env, "torch", "2.8.0+cpu", {});
        for (const auto* name :
             {"nvidia-cublas-cu12", "nvidia-cudnn-cu12", "nvidia-cuda-runtime-cu12"}) {
            wheel(env, name, "12.8.90", {});
        }
    }
    CHECK(env.codes() == Codes{"CE122"});
}

TEST_CASE("a CPU build beside CUDA that others use is no finding") {
    ContextBuilder env;
    SECTION("jax brought NVIDIA's wheels") {
        wheel(env, "torch", "2.8.0+cpu", {});
        for (const auto* name :
             {"nvidia-cublas-cu12", "nvidia-cudnn-cu12", "nvidia-cuda-runtime-cu12"}) {
            wheel(env, name, "12.8.90", {});
        }
        wheel(env, "jax-cuda12-plugin", "0.5.0",
              {"nvidia-cublas-cu12>=12.1.3.1; extra == \"with-cuda\""});
    }
    SECTION("they were asked for by name") {
        wheel(env, "torch", "2.8.0+cpu", {});
        for (const auto* name :
             {"nvidia-cublas-cu12", "nvidia-cudnn-cu12", "nvidia-cuda-runtime-cu12"}) {
            wheel(env, name, "12.8.90", {}).requested = true;
        }
    }
    SECTION("conda's cupy depends on cudatoolkit") {
        conda_torch(env, "pytorch", "1.12.1", "py3.9_cpu_0");
        env.conda("cudatoolkit", "11.3.1", "h2bc3f7f_2");
        env.conda("cupy", "11.0.0").depends = {"cudatoolkit >=11.2,<12"};
    }
    SECTION("numba uses cudatoolkit without depending on it") {
        conda_torch(env, "pytorch", "1.12.1", "py3.9_cpu_0");
        env.conda("cudatoolkit", "11.3.1", "h2bc3f7f_2");
        env.conda("numba", "0.56.4");
    }
    SECTION("torch with CUDA, and a pin") {
        torch_of_pypi(env);
        env.cuda = "12.6";
    }
    CHECK(env.found("CE122").empty());
}

TEST_CASE("what torch's own version.py says is believed before its requirements") {
    ContextBuilder env;
    torch_of_pypi(env);
    facts::EnvironmentFacts facts;
    facts.frameworks = {{"torch", "2.8.0+cpu", {}, true, "/env/torch/version.py"}};
    env.environment = &facts;
    env.cuda = "12.8";
    const auto found = env.found("CE122");
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.evidence[0].text == "CPU, by /env/torch/version.py");
}

TEST_CASE("whatever bytes a record holds, findings are text, and a command that cannot be shown is "
          "left out") {
    ContextBuilder env;
    env.inventory.prefix = "/env-\xff";
    wheel(env, "torch", "2.7.1+cu126\x1b[31m\xfe", {});
    wheel(env, "torchvision", "0.23.0+cu126", {"torch (==2.8.0)"});
    const auto found = env.found("CE120");
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.title.ends_with(R"(2.7.1+cu126\x1b[31m\xfe)"));
    CHECK(found[0].finding.evidence[0].path.starts_with("/env-\xff/"));
    CHECK(found[0].finding.fix->command.empty());
}

TEST_CASE("a pin that is no CUDA release asks for CUDA where it has a number") {
    ContextBuilder env;
    wheel(env, "torch", "2.8.0+cpu", {});
    env.cuda = ">=12";
    CHECK(env.codes() == Codes{"CE122"});
    env.cuda = "cpu";
    CHECK(env.codes().empty());
}

} // namespace
} // namespace cudaenv::rules::testing
