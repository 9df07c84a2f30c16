// Proves an answer of the resolver, or says where it is wrong. Shares no code with the solver: it
// looks at each chosen record by itself and only asks `specs::MatchSpec` whether a spec matches a
// record.
#pragma once

#include "solver/resolve/channel.hpp"
#include "solver/specs/record.hpp"

#include <span>
#include <string>
#include <vector>

namespace cudaenv::test {

struct Claim {
    std::vector<specs::PackageRecord> chosen;
    std::vector<specs::PackageRecord> virtual_packages; // __cuda, __glibc, ...
    std::vector<std::string> specs;                     // what was asked for
    std::vector<std::string> constraints; // pins: must hold for what is chosen, need not be chosen
};

// Empty: every spec is matched, every depends met, every constrains kept, and no name is there
// twice. Otherwise a sentence for each thing that is not so.
std::vector<std::string> violations(const Claim& claim);

// Strict priority: the records chosen from a channel of which an earlier channel has the name.
std::vector<std::string> priority_violations(const std::vector<specs::PackageRecord>& chosen,
                                             std::span<const resolve::Channel* const> channels);

// The record of this name, version and build, from the first channel that has the name; false where
// there is none: an answer must not invent packages.
bool find_record(std::span<const resolve::Channel* const> channels, const std::string& name,
                 const std::string& version, const std::string& build, specs::PackageRecord& out);

// What conda would detect on a machine of this __cuda ("" = none), glibc 2.36, Linux 6.1, x86_64.
std::vector<specs::PackageRecord> virtual_packages_of(const std::string& cuda);

} // namespace cudaenv::test
