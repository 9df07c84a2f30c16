// A directory that Python searches before the environment's site-packages. Pure data.
#pragma once

#include <string>
#include <vector>

namespace cudaenv::facts {

struct EarlierDistribution {
    std::string name;     // PEP 503
    std::string version;  // as the name of its metadata has it
    std::string metadata; // absolute
};

struct EarlierSite {
    enum class From { PythonPath, UserSite };

    From from = From::PythonPath;
    std::string path;                               // absolute
    std::vector<EarlierDistribution> distributions; // by name
    std::vector<std::string> modules;               // packages that it can import, by name
    std::vector<std::string> libraries;             // "nvidia/cublas/lib/libcublas.so.12", sorted
};

} // namespace cudaenv::facts
