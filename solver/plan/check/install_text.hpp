// The commands that bring something into the environment that was checked, as a person pastes them.
// Pure text; every word is quoted where a shell would read it otherwise.
#pragma once

#include "solver/plan/check/scene.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

// `/env/bin/python -m pip install WORDS...`, or uv's own where uv installed what it is `like`.
std::string pip_install(const CheckScene& scene, const facts::Distribution* like,
                        const std::vector<std::string>& words);
// `conda install -p /env WORDS...`
std::string conda_install(const CheckScene& scene, const std::vector<std::string>& words);
// A path of the inventory as it is on the disk.
std::string absolute_path(const CheckScene& scene, std::string_view path);

} // namespace cudaenv::plan
