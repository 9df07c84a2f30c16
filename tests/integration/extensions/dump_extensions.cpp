// Tells the compiled modules of an environment as JSON, for tests in Python.
// usage: dump_extensions PREFIX
#include "host/extensions/read_extensions.hpp"
#include "host/inventory/read_inventory.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
    using namespace cudaenv;
    if (argc != 2) {
        std::fprintf(stderr, "usage: dump_extensions PREFIX\n");
        return 2;
    }
    const auto inventory = host::read_inventory(argv[1]);
    if (!inventory) {
        std::fprintf(stderr, "%s\n", inventory.error().message.c_str());
        return 3;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto modules = host::read_extensions(*inventory);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    nlohmann::json told = nlohmann::json::array();
    for (const auto& module : modules) {
        told.push_back({{"path", module.path},
                        {"distribution", inventory->distributions[module.distribution].name},
                        {"needed", module.needed},
                        {"unresolved", module.unresolved},
                        {"asked_with_other_abi", module.asked_with_other_abi},
                        {"defined_with_other_abi", module.defined_with_other_abi},
                        {"missing_of_torch", module.missing_of_torch},
                        {"python_tag", module.python_tag},
                        {"problem", module.problem}});
    }
    std::printf("%s\n", nlohmann::json({{"modules", told}, {"milliseconds", took.count()}})
                            .dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
                            .c_str());
    return 0;
}
