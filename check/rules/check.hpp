// The findings about an environment (CE1xx, docs/findings.md). Law: a rule is a function of the
// context and adds findings; it reports only what the context proves, and nothing where a fact it
// needs is unknown. Another rule is a function (rules.hpp) and its row in check.cpp.
#pragma once

#include "check/rules/context.hpp"
#include "check/rules/repair.hpp"
#include "solver/facts/finding.hpp"

#include <string>
#include <vector>

namespace cudaenv::rules {

struct CheckFinding {
    facts::Finding finding;
    std::string subject; // the distribution or package it is about: "torch"
    // Its title is said at the first prompt after the install that caused it.
    bool said_at_prompt = false;
    // All files concerned, relative to the prefix, sorted; the evidence quotes the first few.
    std::vector<std::string> files;
    std::vector<Repair> repairs; // empty: nothing that could be done safely
};

// Records: those alone, as a prompt can afford. Machine: also what activation knows of the
// environment and this machine, as for `status`. Everything: also what is on the disk.
enum class CheckDepth { Records, Machine, Everything };
// By severity, then by code, then by subject.
std::vector<rules::CheckFinding> check(const CheckContext& context, CheckDepth depth);

} // namespace cudaenv::rules
