// What `check --fix` may do about records and files, as values. Pure.
#pragma once

#include "check/rules/check.hpp"
#include "check/rules/overwritten.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

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
