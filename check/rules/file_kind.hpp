// What a file of an environment is, by its path alone: code that is worth a word when it changes,
// or what several packages may write without harm. Pure.
#pragma once

#include "solver/facts/inventory.hpp"

#include <cstdint>
#include <string_view>

namespace cudaenv::rules {

// "core.py" of "numpy/core.py".
std::string_view file_name(std::string_view path);

// Code or a library, of which a change is worth knowing: not configuration, data, documents, tests.
bool is_code(const facts::Inventory& inventory, std::string_view path);

// Documents and tests at a place that many packages write to: site-packages' own LICENSE and
// tests/__init__.py, share/doc.
bool is_stray(const facts::Inventory& inventory, std::string_view path);

// The __init__.py of a package that is known to be of many distributions: backports, google.
bool is_known_namespace(const facts::Inventory& inventory, std::string_view path);

// An __init__.py that says no more than that its package is of several distributions. Python
// imports the directory without it as well.
bool is_namespace_declaration(std::string_view path, const facts::FileClaim& claim);

// Python imports its directory without it as well.
bool is_empty_init(std::string_view path, const facts::FileClaim& claim);

// A SHA-256 digest as it is written in source. Pure, at compile time.

consteval facts::Sha256Digest known_digest(std::string_view hex) {
    facts::Sha256Digest digest{};
    for (std::size_t i = 0; i < hex.size(); ++i) {
        const auto value = hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10;
        digest[i / 2] = static_cast<std::uint8_t>(digest[i / 2] * 16 + value);
    }
    return digest;
}

} // namespace cudaenv::rules
