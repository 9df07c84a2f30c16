// The commands that bring something into the environment that was checked, as a person pastes them.
// Pure text; every word is quoted where a shell would read it otherwise.
#pragma once

#include "solver/plan/check/scene.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

// "numpy==2.0.0", "numpy=1.26.4=py311_0". Empty where what a record has is no name, version or
// build, which pip or conda would read as an option or as an URL to be fetched.
std::string pip_requirement(std::string_view name, std::string_view version);
std::string conda_requirement(std::string_view name, std::string_view version,
                              std::string_view build = {});
// A name alone, as pip has it; else empty.
std::string pip_name(std::string_view name);
// A directory or URL as it stands in a record; empty where pip would read an option.
std::string pip_source(std::string_view source);

// The commands below are empty where one of their words is.
// `/env/bin/python -m pip install WORDS...`, or uv's own where uv installed what it is `like`.
std::string pip_install(const CheckScene& scene, const facts::Distribution* like,
                        const std::vector<std::string>& words);
// `conda install -p /env WORDS...`
std::string conda_install(const CheckScene& scene, const std::vector<std::string>& words);
// `FIRST && THEN`; empty where either is.
std::string both_commands(const std::string& first, const std::string& then);
// A path of the inventory as it is on the disk.
std::string absolute_path(const CheckScene& scene, std::string_view path);

} // namespace cudaenv::plan
