// What the rules make findings of: the case of data/findings.json, names and times of packages,
// evidence. Pure text; what comes from records is printable in it.
#pragma once

#include "check/rules/check.hpp"
#include "check/rules/context.hpp"
#include "check/rules/overwritten.hpp"
#include "solver/knowledge/recipes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

// That case of the code (data/findings.json) with these arguments, and beside them `selector`
// (" -p PREFIX" where the environment was named on the command line). `severity` where the rule
// knows better than the row.
CheckFinding report(const CheckContext& context, std::string_view code, std::string_view situation,
                    std::string subject, facts::Arguments arguments,
                    std::optional<facts::Severity> severity = std::nullopt);

// "2026-11-21 10:42 UTC"; empty for what is not known.
std::string utc(std::int64_t since_epoch_ns);
// "2,114"
std::string grouped(std::size_t number);
// The value of an argument that is only there or not: "yes", or empty.
std::string yes_if(bool condition);
// "1 file", "2,114 files"
std::string counted(std::size_t number, std::string_view noun);
// "1.12.0a0+git" of "1.12.0a0+git664058f", for lines that have to be short.
std::string short_version(std::string_view version);

// 13.0 of 13.0.88; empty where the text does not begin with two numbers.
std::optional<DottedVersion> release_of(std::string_view version);

// "numpy 1.26.4"
std::string title_of(const facts::CondaPackage& package);
std::string title_of(const facts::Distribution& distribution);
std::string title_of(const facts::Leftover& left);
// "conda's numpy 1.26.4", "pip's numpy 2.0.0"
std::string owned_title(const CheckContext& context, const Party& party);
std::string title_of(const CheckContext& context, const Party& party);
// "conda", "pip", "uv", "setup.py"
std::string manager_of(const CheckContext& context, const Party& party);

// conda-meta/NAME.json or the dist-info, with what was installed by whom and when.
facts::Evidence record_evidence(const CheckContext& context, const Party& party);
// The first few of them, each with the text, and how many more there are.
void quote_files(const CheckContext& context, facts::Finding& finding,
                 const std::vector<std::string>& files, std::string_view text);

// "/env/bin/python -m pip uninstall -y NAME", or uv's.
std::string pip_uninstall(const CheckContext& context, const facts::Distribution& distribution);
// That brings back exactly what is on record.
std::string pip_reinstall(const CheckContext& context, const facts::Distribution& distribution);
std::string conda_reinstall(const CheckContext& context, const facts::CondaPackage& package);

// It came from an index and can be had from it again: no local version, no URL of its own.
bool is_of_an_index(const facts::Distribution& distribution);

// The commands that install into the environment that was checked, as a person pastes them: words
// from records made safe, and solver/knowledge/recipes.hpp for the command lines. Pure text.

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

// What `check --fix` may do about records and files, as values. Pure.

// Of a Party that is one.
const facts::Distribution& distribution_of(const CheckContext& context, const Party& party);
// No index has it: removing it would lose it.
bool is_own_work(const CheckContext& context, const Party& party);
// Without an extra. `name`: PEP 503.
bool requires_name(const facts::Distribution& distribution, std::string_view name);

// Restores the kept copy of that version, else the copy that was kept last; empty without a copy.
std::optional<RestoreKept> put_back(const CheckContext& context, std::string_view name,
                                    std::string_view version);
bool is_kept(const CheckContext& context, std::string_view name);

Repair uninstall(const CheckContext& context, const Party& party);
Repair reinstall(const CheckContext& context, const Party& party);
// The files, and those of the dist-info in conda's package, which pip has rewritten: the
// distribution is conda's again.
Repair restore(const CheckContext& context, const Party& party, std::vector<std::string> files);

} // namespace cudaenv::rules
