// Why nothing fits, in sentences: each reason names the facts and the wish that exclude each other,
// read off the answers of worlds in which one of them is otherwise. Internal to solver/plan.
#pragma once

#include "solver/resolve/conflict_search.hpp"

#include <set>
#include <string>

namespace cudaenv::resolve {

struct UnmetNeeds {
    std::vector<Reason> reasons;
    std::optional<DottedVersion> bound; // the highest driver or compiler version that was wanted
    bool at_least = false;              // that one or newer, for a compiler
    std::string code;             // the device code that the builds have, "code for sm_75, ..."
    std::set<std::string> owners; // the packages that need it
};

// What the records of an answer in a world without `fact` ask of this host and do not get.
UnmetNeeds unmet_needs(const ConflictSearch& search, const Records& records,
                       const Assumption& fact);

std::vector<Reason> reasons_of(const ConflictSearch& search, const Core& core);

// "11.3" of an nvcc record of version 11.3.109.
std::string nvcc_release(const specs::PackageRecord& record);

} // namespace cudaenv::resolve
