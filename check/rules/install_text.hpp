// The commands that install into the environment that was checked, as a person pastes them: words
// from records made safe, and solver/knowledge/recipes.hpp for the command lines. Pure text.
#pragma once

#include "check/rules/context.hpp"
#include "solver/knowledge/recipes.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

// "numpy==2.0.0", "numpy=1.26.4=py311_0". Empty where the record's text is not a name, version or
// build: pip or conda could read it as an option or as a URL to fetch.
std::string pip_requirement(std::string_view name, std::string_view version);
std::string conda_requirement(std::string_view name, std::string_view version,
                              std::string_view build = {});
// A name alone, as pip has it; else empty.
std::string pip_name(std::string_view name);
// A directory or URL as it stands in a record; empty where pip would read an option.
std::string pip_source(std::string_view source);

// The environment as the recipes have it: uv's where uv installed what it is `like`.
knowledge::Target target_of(const CheckContext& context, const facts::Distribution* like);
// The commands below are empty where one of their words is.
// `/env/bin/python -m pip install WORDS...`, or uv's own where uv installed what it is `like`.
std::string pip_install(const CheckContext& context, const facts::Distribution* like,
                        const std::vector<std::string>& words);
// `conda install -p /env WORDS...`
std::string conda_install(const CheckContext& context, const std::vector<std::string>& words);
// `FIRST && THEN`; empty where either is.
std::string both_commands(const std::string& first, const std::string& then);
// A path of the inventory as it is on the disk.
std::string absolute_path(const CheckContext& context, std::string_view path);

} // namespace cudaenv::rules
