// Whether a partner of torch fits the installed torch. Pure. Law: what the partner's own record
// requires comes first, then the table of releases; a gap in the table proves nothing.
#pragma once

#include "check/rules/context.hpp"
#include "solver/knowledge/builds.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::rules {

// torch and its partners in an environment, as they would be imported, with what they were built
// with. Pure.

using knowledge::BuildKind;

// One of torch, torchvision, torchaudio.
struct FamilyMember {
    std::string name;
    std::string version;                               // 2.8.0+cu126
    std::string record;                                // relative to the prefix, or absolute
    const facts::Distribution* distribution = nullptr; // null: conda's record alone
    const facts::CondaPackage* conda = nullptr;        // null: it is not conda's
    knowledge::Build build;
    // A wheel or package of a release: not of source, a nightly or an editable install.
    bool released = false;
    bool of_base = false; // of the Python whose packages the environment sees
};

// Empty where it is not installed, or in several versions, which other rules report.
std::optional<FamilyMember> find_member(const CheckContext& context, std::string_view name);

// "torch 2.8.0+cu126"
std::string named(const FamilyMember& member);

enum class Pairing { Fits, Differs, Unknown };

// How it is known.
enum class PairedBy { Requirement, Release };

struct Paired {
    Pairing pairing = Pairing::Unknown;
    std::string wants; // "torch==2.8.0", "pytorch 2.3.0", "torch 2.8.0"
    PairedBy by = PairedBy::Requirement;
    bool other_minor = false; // the torch that it wants is of another major.minor
};

Paired pair_of(const FamilyMember& partner, const FamilyMember& torch);

// The names of torch's partners whose releases are in the table: torchvision, torchaudio.
std::vector<std::string_view> torch_partners();
// The partner of that name released for a torch: "0.23.0"; empty where the table has none.
std::string released_partner(const knowledge::TorchRelease& release, std::string_view name,
                             bool of_conda);

} // namespace cudaenv::rules
