// What the tests of CUDA's rules have in common: distributions as the real indexes lay them down.
#pragma once

#include "tests/unit/rules/context_builder.hpp"

namespace cudaenv::rules::testing {

inline facts::Distribution& wheel(ContextBuilder& env, const std::string& name,
                                  const std::string& version,
                                  std::vector<std::string> requires_dist = {}) {
    auto& distribution = env.pip(name, version);
    distribution.requires_dist = std::move(requires_dist);
    distribution.tags = {"cp311-cp311-manylinux_2_28_x86_64"};
    return distribution;
}

// torch 2.8.0 of PyPI, as its METADATA of 2025-08 has it.
inline facts::Distribution& torch_of_pypi(ContextBuilder& env) {
    const std::string linux = "; platform_system == \"Linux\" and platform_machine == \"x86_64\"";
    return wheel(env, "torch", "2.8.0",
                 {"filelock", "setuptools; python_version >= \"3.12\"",
                  "nvidia-cuda-runtime-cu12==12.8.90" + linux,
                  "nvidia-cudnn-cu12==9.10.2.21" + linux, "nvidia-nccl-cu12==2.27.3" + linux,
                  "triton==3.4.0" + linux, "optree>=0.13.0; extra == \"optree\""});
}

inline facts::Distribution& torchvision_of_pypi(ContextBuilder& env) {
    auto& distribution = wheel(env, "torchvision", "0.23.0",
                               {"numpy", "torch (==2.8.0)", "gdown (>=4.7.3) ; extra == 'gdown'"});
    env.file(distribution, env.site() + "/torchvision.libs/libcudart.e8e8b82a.so.12", "runtime");
    return distribution;
}

// conda's package of a Python distribution, with its build string and dependencies.
inline facts::CondaPackage& conda_torch(ContextBuilder& env, const std::string& name,
                                        const std::string& version, const std::string& build,
                                        std::vector<std::string> depends = {}) {
    auto made = env.conda_python(name, version, name == "pytorch" ? "torch" : name);
    made.first.build = build;
    made.first.depends = std::move(depends);
    return made.first;
}

} // namespace cudaenv::rules::testing
