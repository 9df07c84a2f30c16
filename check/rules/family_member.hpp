// torch and its partners in an environment, as they would be imported, with what they were built
// with. Pure.
#pragma once

#include "check/rules/context.hpp"
#include "solver/knowledge/builds.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::rules {

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

} // namespace cudaenv::rules
