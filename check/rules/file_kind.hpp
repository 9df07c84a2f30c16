// What a file of an environment is, by its path alone: code that is worth a word when it changes,
// or what several packages may write without harm. Pure.
#pragma once

#include "solver/facts/inventory.hpp"

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

} // namespace cudaenv::rules
