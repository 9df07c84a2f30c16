// Words that the findings about records and files have in common. Pure text; what comes from
// records is printable in it.
#pragma once

#include "solver/plan/check/check.hpp"
#include "solver/plan/check/overwritten.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

// "2026-11-21 10:42 UTC"; empty for what is not known.
std::string utc(std::int64_t since_epoch_ns);
// "1 file", "2,114 files"
std::string counted(std::size_t number, std::string_view noun);
// "1.12.0a0+git" of "1.12.0a0+git664058f", for lines that have to be short.
std::string short_version(std::string_view version);

// "numpy 1.26.4"
std::string title_of(const facts::CondaPackage& package);
std::string title_of(const facts::Distribution& distribution);
// "conda's numpy 1.26.4", "pip's numpy 2.0.0"
std::string owned_title(const CheckScene& scene, const Party& party);
std::string title_of(const CheckScene& scene, const Party& party);
// "conda", "pip", "uv", "setup.py"
std::string manager_of(const CheckScene& scene, const Party& party);

// conda-meta/NAME.json or the dist-info, with what was installed by whom and when.
Evidence record_evidence(const CheckScene& scene, const Party& party);
// The first few of them, each with the text, and how many more there are.
void quote_files(const CheckScene& scene, Finding& finding, const std::vector<std::string>& files,
                 std::string_view text);

// "/env/bin/python -m pip uninstall -y NAME", or uv's.
std::string pip_uninstall(const CheckScene& scene, const facts::Distribution& distribution);
// That brings back exactly what is on record.
std::string pip_reinstall(const CheckScene& scene, const facts::Distribution& distribution);
std::string conda_reinstall(const CheckScene& scene, const facts::CondaPackage& package);

// It came from an index and can be had from it again: no local version, no URL of its own.
bool is_of_an_index(const facts::Distribution& distribution);

// " -p PREFIX" where the environment was named.
std::string selector(const CheckScene& scene);

// Fixed by `cudaenv check --fix CODE`, of the environment that was named.
Fix own_fix(const CheckScene& scene, const Finding& finding, std::string text);

} // namespace cudaenv::plan
