// CE124: requirements of packages of the CUDA world that are not met.
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

namespace cudaenv::rules::testing {
namespace {

using Codes = std::vector<std::string>;

const std::string k_linux = "; platform_system == \"Linux\" and platform_machine == \"x86_64\"";

std::string command_of(const CheckFinding& found) {
    return found.finding.fix ? found.finding.fix->command : std::string();
}

CheckFinding only(ContextBuilder& env) {
    const auto found = env.found();
    REQUIRE(found.size() == 1);
    CHECK(found[0].finding.code == "CE124");
    return found[0];
}

TEST_CASE("another version than torch requires is one warning, with the command that fits") {
    ContextBuilder env;
    wheel(env, "torch", "2.6.0+cu124",
          {"nvidia-cuda-runtime-cu12==12.4.127" + k_linux, "triton==3.2.0" + k_linux});
    SECTION("of one package") {
        wheel(env, "nvidia-cuda-runtime-cu12", "12.8.90");
        wheel(env, "triton", "3.2.0");
        const auto found = only(env);
        CHECK(found.finding.severity == facts::Severity::Warning);
        CHECK(is_case(found, "required",
                      {{"requirer", "torch 2.6.0+cu124"},
                       {"required", "nvidia-cuda-runtime-cu12==12.4.127"},
                       {"version", "12.8.90"}}));
        CHECK(command_of(found) ==
              "/env/bin/python -m pip install nvidia-cuda-runtime-cu12==12.4.127");
    }
    SECTION("of several packages") {
        wheel(env, "nvidia-cuda-runtime-cu12", "12.8.90");
        wheel(env, "triton", "3.3.0");
        const auto found = only(env);
        CHECK(is_case(found, "required", {{"more", "1"}}));
        CHECK(found.finding.evidence.size() == 3);
        CHECK(command_of(found) ==
              "/env/bin/python -m pip install nvidia-cuda-runtime-cu12==12.4.127 triton==3.2.0");
    }
}

TEST_CASE("what a package that has nothing to do with CUDA requires is a note") {
    ContextBuilder env;
    wheel(env, "numpy", "2.2.0");
    wheel(env, "my-plots", "1.0", {"numpy<2"});
    CHECK(only(env).finding.severity == facts::Severity::Note);
}

TEST_CASE("a requirement that does not apply or is not installed is no finding") {
    ContextBuilder env;
    wheel(env, "numpy", "2.2.0");
    SECTION("of another platform") {
        wheel(env, "tensorflow", "2.18.0", {"numpy<2; sys_platform == 'win32'"});
    }
    SECTION("of another Python") {
        wheel(env, "tensorflow", "2.18.0", {"numpy<2; python_version < '3.11'"});
    }
    SECTION("of an extra that no package requires") {
        wheel(env, "tensorflow", "2.18.0", {"numpy<2; extra == 'old'"});
    }
    SECTION("not installed") {
        wheel(env, "tensorflow", "2.18.0", {"keras>=3"});
    }
    SECTION("by URL") {
        wheel(env, "tensorflow", "2.18.0", {"numpy @ https://example.org/numpy.whl"});
    }
    SECTION("unreadable") {
        wheel(env, "tensorflow", "2.18.0", {"numpy (of course"});
    }
    SECTION("of a Python that is not known") {
        env.inventory.sites = {"site-packages"};
        wheel(env, "tensorflow", "2.18.0", {"numpy<2"});
    }
    SECTION("met by a local version, a checkout or a vendor's build") {
        wheel(env, "torch", "2.6.0a0+ecf3bae40a.nv25.01");
        wheel(env, "transformer-engine", "1.13.0", {"torch>=2.6.0"});
    }
    SECTION("met by a pre-release") {
        wheel(env, "jax", "0.4.35", {"jaxlib<=0.4.35,>=0.4.34"});
        wheel(env, "jaxlib", "0.4.35rc1");
    }
    CHECK(env.codes().empty());
}

TEST_CASE("an extra counts where an installed package requires it") {
    ContextBuilder env;
    wheel(env, "torch", "2.12.1", {"cuda-toolkit[cudart]==13.0.2" + k_linux});
    wheel(env, "cuda-toolkit", "13.0.2",
          {"nvidia-cuda-runtime==13.0.96.*; extra == 'cudart'",
           "nvidia-cublas==13.1.0.3; extra == 'cublas'"});
    wheel(env, "nvidia-cublas", "13.2.0.1");
    CHECK(env.codes().empty());
    wheel(env, "nvidia-cuda-runtime", "13.1.80");
    const auto found = only(env);
    CHECK(found.subject == "cuda-toolkit");
    CHECK(command_of(found) == "/env/bin/python -m pip install 'nvidia-cuda-runtime==13.0.96.*'");
}

TEST_CASE("the CUDA libraries of JAX's plugin count although its extra is recorded nowhere") {
    ContextBuilder env;
    wheel(env, "jax-cuda12-plugin", "0.6.2",
          {"jax-cuda12-pjrt==0.6.2", "nvidia-cudnn-cu12<10.0,>=9.8; extra == \"with-cuda\""});
    wheel(env, "jax-cuda12-pjrt", "0.6.2");
    SECTION("cuDNN is older") {
        wheel(env, "nvidia-cudnn-cu12", "8.9.7.29");
        CHECK(command_of(only(env)) ==
              "/env/bin/python -m pip install 'nvidia-cudnn-cu12<10.0,>=9.8'");
    }
    SECTION("cuDNN fits") {
        wheel(env, "nvidia-cudnn-cu12", "9.10.2.21");
        CHECK(env.codes().empty());
    }
}

TEST_CASE("the command fits all that require the package") {
    ContextBuilder env;
    wheel(env, "numpy", "2.2.0");
    wheel(env, "tensorflow", "2.18.0", {"numpy<2.1.0,>=1.26.0"});
    wheel(env, "transformers", "4.46.0", {"numpy>=1.17"});
    CHECK(command_of(only(env)) == "/env/bin/python -m pip install 'numpy<2.1.0,>=1.26.0,>=1.17'");
    SECTION("where two exclude each other it resolves both") {
        wheel(env, "vllm", "0.8.0", {"numpy==1.26.4"});
        wheel(env, "xformers", "0.0.29", {"numpy==1.25.0"});
        CHECK(env.found().size() == 3);
        for (const auto& found : env.found()) {
            CHECK(command_of(found).starts_with("cudaenv resolve " + found.subject + ' '));
        }
    }
}

TEST_CASE("a package built for another torch is replaced, and torch is kept with its label") {
    ContextBuilder env;
    wheel(env, "torch", "2.5.1+cu124");
    wheel(env, "xformers", "0.0.29.post3", {"numpy", "torch==2.6.0"});
    const auto found = only(env);
    CHECK(found.subject == "xformers");
    CHECK(is_case(found, "torch", {{"required", "torch==2.6.0"}, {"version", "2.5.1+cu124"}}));
    const auto command = command_of(found);
    CHECK(command.find(" xformers==0.0.") != std::string::npos);
    CHECK(command.find(" torch==2.5.1+cu124") != std::string::npos);
    CHECK(command.find("0.0.29.post3") == std::string::npos);
    SECTION("torchvision's pair is CE120's") {
        env.inventory.distributions.pop_back();
        wheel(env, "torchvision", "0.21.0", {"torch==2.6.0"});
        CHECK(env.codes() == Codes{"CE120"});
    }
    SECTION("a source build on the way to that release fits") {
        env.inventory.distributions.front().version = "2.6.0a0+git1a2b3c4";
        CHECK(env.codes().empty());
    }
}

TEST_CASE("a torch that is compiled against NumPy 1 does not work with NumPy 2") {
    ContextBuilder env;
    SECTION("2.2.2") {
        wheel(env, "torch", "2.2.2+cu121");
        wheel(env, "numpy", "2.0.1");
        const auto found = only(env);
        CHECK(is_case(found, "unstated", {{"required", "numpy<2"}, {"version", "2.0.1"}}));
        CHECK(command_of(found) == "/env/bin/python -m pip install 'numpy<2'");
    }
    SECTION("2.3.0 is the first that supports it") {
        wheel(env, "torch", "2.3.0+cu121");
        wheel(env, "numpy", "2.0.1");
        CHECK(env.codes().empty());
    }
    SECTION("a build of one's own may be compiled against any") {
        wheel(env, "torch", "2.2.0a0+git1a2b3c4");
        wheel(env, "numpy", "2.0.1");
        CHECK(env.codes().empty());
    }
}

TEST_CASE("JAX's plugin and jaxlib have to be of one version") {
    ContextBuilder env;
    wheel(env, "jax", "0.4.35", {"jaxlib<=0.4.35,>=0.4.34"});
    auto& jaxlib = wheel(env, "jaxlib", "0.4.35");
    auto& plugin = wheel(env, "jax-cuda12-plugin", "0.4.34", {"jax-cuda12-pjrt==0.4.34"});
    wheel(env, "jax-cuda12-pjrt", "0.4.34");
    SECTION("another is not used") {
        const auto found = only(env);
        CHECK(found.finding.severity == facts::Severity::Warning);
        CHECK(is_case(found, "same-version",
                      {{"name", "jax-cuda12-plugin"}, {"other", "jaxlib"}, {"version", "0.4.35"}}));
        CHECK(command_of(found) == "/env/bin/python -m pip install jax-cuda12-plugin==0.4.35 "
                                   "jaxlib==0.4.35");
    }
    SECTION("the same is") {
        plugin.version = "0.4.35";
        plugin.requires_dist.clear();
        CHECK(env.codes().empty());
    }
    SECTION("a jaxlib that jax refuses is an error") {
        jaxlib.version = "0.4.30";
        plugin.version = "0.4.30";
        plugin.requires_dist.clear();
        const auto found = only(env);
        CHECK(found.finding.severity == facts::Severity::Error);
        CHECK(is_case(found, "import-fails"));
    }
}

TEST_CASE("conda's packages are judged by what conda's records depend on") {
    ContextBuilder env;
    auto& pytorch = conda_torch(env, "pytorch", "2.3.0", "py3.11_cuda12.1_cudnn8.9.2_0",
                                {"numpy >=1.19,<2", "python >=3.11,<3.12.0a0", "__glibc >=2.17"});
    // conda-forge changes what METADATA requires.
    env.inventory.distributions.back().requires_dist = {"sympy==1.13.1"};
    wheel(env, "sympy", "1.14.0");
    auto& numpy = env.conda("numpy", "1.26.4");
    CHECK(env.codes().empty());
    numpy.version = "2.0.1";
    const auto found = only(env);
    CHECK(is_case(found, "depends", {{"required", "numpy >=1.19,<2"}, {"version", "2.0.1"}}));
    CHECK(command_of(found) == "conda install -p /env 'numpy >=1.19,<2'");
    pytorch.depends = {"numpy 2.*|3.*"};
    CHECK(env.codes().empty());
}

TEST_CASE("unmet requirements are no matter of a prompt") {
    ContextBuilder env;
    wheel(env, "numpy", "2.2.0");
    wheel(env, "tensorflow", "2.18.0", {"numpy<2.1.0,>=1.26.0"});
    CHECK(env.codes(CheckDepth::Records).empty());
    CHECK(env.codes(CheckDepth::Machine) == Codes{"CE124"});
}

} // namespace
} // namespace cudaenv::rules::testing
