// What `check --fix` may do about records and files, as values. Pure.
#pragma once

#include "solver/plan/check/check.hpp"
#include "solver/plan/check/overwritten.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::plan {

// Of a Party that is one.
const facts::Distribution& distribution_of(const CheckScene& scene, const Party& party);
// Something that no index has: taking it away would lose it.
bool is_own_work(const CheckScene& scene, const Party& party);
// Without an extra. `name`: PEP 503.
bool requires_name(const facts::Distribution& distribution, std::string_view name);

// Puts the copy of that version back, without one of it the copy that was kept last; nothing where
// there is none.
std::optional<Repair> put_back(const CheckScene& scene, std::string_view name,
                               std::string_view version);
bool is_kept(const CheckScene& scene, std::string_view name);

Repair uninstall(const CheckScene& scene, const Party& party);
Repair reinstall(const CheckScene& scene, const Party& party);
// The files, and those of the dist-info that conda's package lays down, which pip wrote anew: the
// distribution is conda's again.
Repair restore(const CheckScene& scene, const Party& party, std::vector<std::string> files);

} // namespace cudaenv::plan
