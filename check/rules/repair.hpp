// What `check --fix` can do for a finding, as values: one struct a case. Pure. Safe: nothing is
// lost that the user made, and nothing is fetched or replaced that was not asked for.
//
// Another repair is a struct here with its place in the list, and a file in check/repair/ that
// carries it out (repair_case.hpp). A struct says in words what it does; `details()`, where it has
// one, is what else distinguishes it from its like; `absorb()`, where it has one, makes it do what
// both do. All paths are relative to the prefix.
#pragma once

#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cudaenv::rules {

// A leftover, moved out of the environment before it is deleted.
struct Remove {
    std::string path;

    bool operator==(const Remove&) const = default;
    [[nodiscard]] std::string words(const facts::Inventory& inventory) const;
};

// A distribution by its RECORD, except files that another package claims.
struct UninstallPip {
    std::string metadata;
    std::string distribution; // PEP 503
    std::string version;

    bool operator==(const UninstallPip&) const = default;
    [[nodiscard]] std::string words(const facts::Inventory& inventory) const;
    [[nodiscard]] std::string details() const { return metadata; }
};

// What `cudaenv keep` holds of a distribution.
struct RestoreKept {
    std::string distribution; // PEP 503
    std::string version;

    bool operator==(const RestoreKept&) const = default;
    [[nodiscard]] std::string words(const facts::Inventory& inventory) const;
    [[nodiscard]] std::string details() const { return version; }
};

// Files of a conda package, from a package cache: these and no others, so that what the user
// changed stays.
struct RestoreConda {
    std::uint32_t package = 0; // of Inventory::conda
    std::vector<std::string> files;

    bool operator==(const RestoreConda&) const = default;
    [[nodiscard]] std::string words(const facts::Inventory& inventory) const;
    [[nodiscard]] std::string details() const;
    // Files of one package are restored together.
    bool absorb(const RestoreConda& other);
};

// DISTRIBUTION==VERSION without its dependencies: a command that the client runs.
struct ReinstallPip {
    std::string distribution; // PEP 503
    std::string version;

    bool operator==(const ReinstallPip&) const = default;
    [[nodiscard]] std::string words(const facts::Inventory& inventory) const;
};

// In the order in which they are done and shown: what goes, what comes back, what is a command. Any
// set of them is sound: what goes leaves every path that another package claims.
using Repair = std::variant<Remove, UninstallPip, RestoreKept, RestoreConda, ReinstallPip>;

// "uninstall numpy 2.0.0"
std::string words_of(const Repair& repair, const facts::Inventory& inventory);
// The same with all details: no other repair of the environment has this text.
std::string identity_of(const Repair& repair, const facts::Inventory& inventory);
// Makes `into` do what both do; false: they are two repairs.
bool merge(Repair& into, const Repair& other);

} // namespace cudaenv::rules
