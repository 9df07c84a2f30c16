// The part of JSON Schema that our schemas use, checked. A keyword it does not know is an error: a
// schema that says more than is checked would be a promise without a test.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cudaenv::test {

// What is wrong with `value`, each with its JSON pointer; empty when it fits.
std::vector<std::string> violations(const nlohmann::json& schema, const nlohmann::json& value);

} // namespace cudaenv::test
