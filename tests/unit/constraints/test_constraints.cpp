#include "check/rules/constraints.hpp"
#include "tests/unit/rules/cuda_environments.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv;
using namespace cudaenv::pins;
using namespace cudaenv::rules;
using rules::testing::ContextBuilder;

namespace {

using Lines = std::vector<std::string>;
using Outdated = std::vector<OutdatedConstraint>;

const std::string k_marker = ",!=0+kept.by.cudaenv.until.cudaenv.detach";

Constraints constraints_in(const ContextBuilder& env, const std::vector<EffectivePin>& pins = {}) {
    const facts::Claims claims(env.inventory);
    return constraints_of(env.inventory, Ownership(env.inventory, claims), pins);
}

Outdated outdated_in(const ContextBuilder& env, const Constraints& written) {
    std::string file = "# torch==0.0 in a comment\n";
    for (const std::string& line : written.pip) {
        file += line + '\n';
    }
    const facts::Claims claims(env.inventory);
    return outdated_constraints(file, env.inventory, Ownership(env.inventory, claims));
}

EffectivePin pin(const char* name, const char* constraint,
                 PinSource source = PinSource::Environment) {
    return {{name, constraint, "cudaenv.toml"}, source};
}

} // namespace

TEST_CASE("a wheel is held at its version with its label, in conda at one that no channel has") {
    ContextBuilder env;
    env.pip("torch", "2.4.0+cu121");
    env.pip("torchvision", "0.19.0+cu121");
    env.pip("torchaudio", "2.4.0+cu121");
    const auto found = constraints_in(env);
    CHECK(found.pip == Lines{"torch==2.4.0+cu121" + k_marker,
                             "torchvision==0.19.0+cu121" + k_marker,
                             "torchaudio==2.4.0+cu121" + k_marker});
    CHECK(found.conda ==
          Lines{"pytorch ==2.4.0+cu121", "torchvision ==0.19.0+cu121", "torchaudio ==2.4.0+cu121"});
}

TEST_CASE("a source build is held at its exact version, and no partner of any torch gets in") {
    ContextBuilder env;
    env.pip("torch", "1.12.0a0+git664058f");
    CHECK(constraints_in(env).pip == Lines{"torch==1.12.0a0+git664058f" + k_marker,
                                           "torchvision==0.13.0" + k_marker,
                                           "torchaudio==0.12.0" + k_marker});
    env.inventory.distributions.front().version = "99.0.0.dev20991231";
    CHECK(constraints_in(env).pip == Lines{"torch==99.0.0.dev20991231" + k_marker,
                                           "torchvision>=0.4" + k_marker,
                                           "torchaudio>=0.4" + k_marker});
}

TEST_CASE("partners that are not here are held at the release made for the torch that is") {
    ContextBuilder env;
    env.pip("torch", "2.8.0");
    CHECK(constraints_in(env).pip == Lines{"torch==2.8.0" + k_marker,
                                           "torchvision==0.23.0" + k_marker,
                                           "torchaudio==2.8.0" + k_marker});
}

TEST_CASE("NVIDIA's wheels are held where torch's own record requires one version of them") {
    ContextBuilder env;
    rules::testing::torch_of_pypi(env);
    env.pip("nvidia-cudnn-cu12", "9.10.2.21");
    env.pip("nvidia-nccl-cu12", "2.28.0"); // not what torch requires: check reports it
    env.pip("nvidia-ml-py", "12.0.0");     // torch does not require it
    env.pip("triton", "3.4.0");
    const auto found = constraints_in(env).pip;
    CHECK(Lines(found.begin() + 3, found.end()) ==
          Lines{"nvidia-cudnn-cu12==9.10.2.21" + k_marker, "triton==3.4.0" + k_marker});
}

TEST_CASE("conda's torch is held in its build, and NVIDIA's wheels are not held") {
    ContextBuilder env;
    auto& package =
        rules::testing::conda_torch(env, "pytorch", "2.4.0", "py3.11_cuda12.1_cudnn9.1.0_0");
    env.pip("nvidia-cudnn-cu12", "9.1.0.70");
    const auto found = constraints_in(env);
    CHECK(found.conda == Lines{"pytorch ==2.4.0 py3.11_cuda12.1_cudnn9.1.0_0"});
    CHECK(found.pip.front() == "torch==2.4.0" + k_marker);
    CHECK(found.pip.size() == 3);
    package.build = "x\npytorch *"; // whatever a record says
    CHECK(constraints_in(env).conda.empty());
}

TEST_CASE("several versions of torch are not held, nor a text that is not a version") {
    ContextBuilder env;
    env.pip("torch", "2.4.0");
    env.pip("torch", "2.5.0");
    env.pip("torchvision", "0.19.0\n--index-url x");
    const auto found = constraints_in(env);
    CHECK(found.pip.empty());
    CHECK(found.conda.empty());
}

TEST_CASE("pins of the project and the environment name what is not installed") {
    ContextBuilder env;
    CHECK(constraints_in(env).pip.empty());
    const std::vector<EffectivePin> pins{pin("torch", "2.4"),
                                         pin("tensorflow", ">=2.15,<2.17", PinSource::Project),
                                         pin("cuda", "12.1"), pin("jax", "0.4", PinSource::Shell)};
    CHECK(constraints_in(env, pins).pip ==
          Lines{"torch==2.4.*" + k_marker, "tensorflow>=2.15,<2.17" + k_marker});
    env.pip("torch", "2.4.1+cu121");
    CHECK(constraints_in(env, pins).pip.front() == "torch==2.4.1+cu121" + k_marker);
}

TEST_CASE("constraints are out of date where they no longer allow what is here") {
    ContextBuilder env;
    auto& torch = env.pip("torch", "2.4.0+cu121");
    const auto written = constraints_in(env);
    CHECK(outdated_in(env, written).empty());
    SECTION("another torch") {
        torch.version = "2.5.0";
        CHECK(outdated_in(env, written) == Outdated{{"torch", "2.5.0", "2.4.0+cu121"}});
    }
    SECTION("the partner that was held for it, under a label") {
        env.pip("torchvision", "0.19.0+cu121");
        CHECK(outdated_in(env, written).empty());
    }
    SECTION("another partner") {
        env.pip("torchvision", "0.20.0");
        CHECK(outdated_in(env, written) == Outdated{{"torchvision", "0.20.0", "0.19.0"}});
    }
    SECTION("torch taken away, to be installed so again") {
        env.inventory.distributions.clear();
        CHECK(outdated_in(env, written).empty());
    }
}

TEST_CASE("CE160 reports constraints that are out of date and a pip that is too old") {
    ContextBuilder env;
    env.pip("torch", "2.5.0");
    auto& pip = env.pip("pip", "26.2");
    const facts::Claims claims(env.inventory);
    const Ownership ownership(env.inventory, claims);
    CheckContext context{env.inventory, claims, ownership};
    const auto situations = [&] {
        Lines result;
        for (const auto& found : check(context, CheckDepth::Everything)) {
            if (found.finding.code == "CE160") {
                result.push_back(found.finding.situation);
            }
        }
        return result;
    };
    CHECK(situations().empty()); // there is no such file
    context.constraints.named = "/env/etc/cudaenv/constraints.txt";
    context.constraints.text = "torch==2.5.0" + k_marker + '\n';
    CHECK(situations().empty());
    context.constraints.text = "torch==2.4.0+cu121" + k_marker + '\n';
    CHECK(situations() == Lines{"outdated"});
    context.constraints.text = "torch==2.5.0" + k_marker + '\n';
    pip.version = "24.0";
    CHECK(situations() == Lines{"old-pip"});
    context.constraints.is_own = false;
    CHECK(situations() == Lines{"other-environment"});
    context.constraints.is_there = false;
    CHECK(situations() == Lines{"missing"});
}

TEST_CASE("isolated builds can be kept apart from pip 25.3 on, by themselves from 26.2 on") {
    for (const char* old : {"19.0", "24.3.1", "25.2", "25.3.dev0", "25.3rc1", "", "pip", "9"}) {
        CAPTURE(old);
        CHECK(builds_apart(old) == BuildsApart::Never);
    }
    for (const char* between : {"25.3", "26.0", "26.0.1", "26.1", "26.2.dev0"}) {
        CAPTURE(between);
        CHECK(builds_apart(between) == BuildsApart::ByFeature);
    }
    for (const char* fresh : {"26.2", "26.2.1", "26.3", "27.0b1"}) {
        CAPTURE(fresh);
        CHECK(builds_apart(fresh) == BuildsApart::Always);
    }
}
