// For tests in Python: reads {"environment": {}, "directory": DIR, "names": []} a line and writes
// the prefix of each name, null where no environment has it, and conda's directories.
#include "host/names/environment_names.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <unistd.h>

int main() {
    using namespace cudaenv::host;
    using namespace cudaenv::names;
    using namespace cudaenv::trusted;
    for (std::string line; std::getline(std::cin, line);) {
        const auto request = nlohmann::json::parse(line);
        const auto environment = request["environment"].get<Environment>();
        DiskFileSystem files;
        const SearchTools tools =
            search_tools({&files,
                          {&environment, value_of(environment, "HOME"), request["directory"]},
                          [](const std::string& path) { return ::access(path.c_str(), W_OK) == 0; },
                          [](const std::string& path) { return read_trusted_file(path, {}); }});
        nlohmann::json found = nlohmann::json::object();
        for (const std::string name : request["names"]) {
            const auto prefix = prefix_named(name, tools, files);
            found[name] = prefix ? nlohmann::json(*prefix) : nlohmann::json();
        }
        std::cout << nlohmann::json{{"found", found},
                                    {"directories", tools.active.front().directories},
                                    {"notes", tools.notes}}
                  << std::endl;
    }
    return 0;
}
