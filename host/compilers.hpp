// Host compilers for C++: every g++ and clang++ of every version that this machine has.
#pragma once

#include "host/environment.hpp"
#include "host/file_system.hpp"
#include "host/version_cache.hpp"
#include "solver/facts/host.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::host {

struct CompilerName {
    facts::CompilerFamily family = facts::CompilerFamily::Gcc;
    std::string target;  // "x86_64-linux-gnu"; empty for a plain name
    std::string version; // "9", "4.8"; empty for the bare name
};
// "g++", "clang++-14", "x86_64-conda-linux-gnu-c++"; none for what is no C++ driver's name.
std::optional<CompilerName> parse_compiler_name(std::string_view file_name);

// `g++ -dumpfullversion -dumpversion`: gcc 7 and newer answer the first, older ones the second.
std::string parse_gcc_version(std::string_view text);
// `clang++ --version`.
std::string parse_clang_version(std::string_view text);

struct CompilerFindings {
    std::vector<facts::Compiler> compilers; // by family, version, path; one for each real program
    std::string absent;
    std::vector<std::string> notes;
};
// How much of a compiler's version has to be known. nvcc's own check is of the major alone, which
// most names tell: then no program is asked, and a version is "12" where nothing is kept of it.
enum class CompilerVersions { Full, Major };
// `machine` as uname has it: cross compilers, for other machines, are left out.
CompilerFindings find_compilers(FileSystem& files, const Environment& environment,
                                const std::string& machine, const VersionAsker& asker,
                                CompilerVersions versions = CompilerVersions::Full);

} // namespace cudaenv::host
