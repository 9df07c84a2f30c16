// What is known of the packages of the CUDA world by name: data/frameworks.json, one row a package.
// The next one is a row, no C++. Pure.
#pragma once

#include "base/dotted_version.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::knowledge {

struct Framework {
    std::string name; // PyPI's, normalised: "torch"
    std::vector<std::string>
        conda;          // conda's names of it, the usual one first: "pytorch", "pytorch-gpu"
    std::string module; // what Python imports: "torch"
    std::string family; // "torch", "tensorflow", "jax", "cupy", ...
    // "framework": decides the CUDA of an environment; "partner": built for one release of it;
    // "user": runs on it.
    std::string role;
    std::string table;      // of its releases: "torch", "tensorflow", "packages"; empty: none
    bool cpu_build = false; // conda's channels have CUDA and CPU builds under its one name
    std::string
        repository; // where it is, for what pip cannot install by name: "github.com/NVIDIA/apex"
    // The oldest g++ that its headers compile with, from a release on, ascending: {2.2.2, 9}.
    std::vector<std::pair<DottedVersion, int>> gcc_min;
    // The package whose version it must have exactly, whatever METADATA requires: "jaxlib".
    std::string same_version;
    // The package whose version its import compares, and refuses: "jaxlib".
    std::string compared_at_import;
    std::string note;
    std::string source;
};
std::span<const Framework> frameworks();
// By PyPI's or conda's name; nullptr where no row has it.
const Framework* find_framework(std::string_view name);
// The oldest g++ for extensions of that release; nothing where any will do.
std::optional<int> oldest_gcc(const Framework& framework, const DottedVersion& release);

// A distribution whose files name CUDA libraries in DT_NEEDED.
struct LibraryUser {
    enum class Without { ImportFails, RunsOnCpu, UseFails };

    std::vector<std::string> names; // PyPI's, normalised
    std::vector<std::string> files; // beginnings of their paths in site-packages
    Without without = Without::ImportFails; // what happens if a library is not found
    std::string source;
};
// Of one distribution the first row that fits decides of a file.
std::span<const LibraryUser> library_users();

} // namespace cudaenv::knowledge
