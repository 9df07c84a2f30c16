// Tells of an environment as JSON, for tests in Python.
// usage: dump_extensions PREFIX            its compiled modules
//        dump_extensions --findings PREFIX what the rules about CUDA find in its records and
//        modules
#include "check/extensions/read_extensions.hpp"
#include "check/inventory/read_inventory.hpp"
#include "check/rules/rules.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <string_view>

namespace {

using namespace cudaenv;

nlohmann::json findings_of(const facts::Inventory& inventory,
                           std::vector<facts::ExtensionModule> modules) {
    const facts::Claims claims(inventory);
    const rules::Ownership ownership(inventory, claims);
    rules::CheckContext context{inventory, claims, ownership};
    context.extensions = std::move(modules);
    std::vector<rules::CheckFinding> found;
    rules::find_torch_family(context, found);
    rules::find_cuda_copies(context, found);
    rules::find_foreign_extensions(context, found);
    nlohmann::json result = nlohmann::json::array();
    for (const auto& one : found) {
        constexpr const char* k_severities[] = {"error", "warning", "note"};
        result.push_back({{"code", one.finding.code},
                          {"severity", k_severities[static_cast<int>(one.finding.severity)]},
                          {"title", one.finding.title},
                          {"files", one.files}});
    }
    return result;
}

} // namespace

int main(int argc, char** argv) {
    const bool findings = argc == 3 && std::string_view(argv[1]) == "--findings";
    if (argc != 2 && !findings) {
        std::fprintf(stderr, "usage: dump_extensions [--findings] PREFIX\n");
        return 2;
    }
    const auto inventory = inventory::read_inventory(argv[argc - 1]);
    if (!inventory) {
        std::fprintf(stderr, "%s\n", inventory.error().message.c_str());
        return 3;
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto modules = extensions::read_extensions(*inventory);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (findings) {
        std::printf("%s\n", findings_of(*inventory, modules).dump(1).c_str());
        return 0;
    }
    nlohmann::json result = nlohmann::json::array();
    for (const auto& module : modules) {
        result.push_back({{"path", module.path},
                          {"distribution", inventory->distributions[module.distribution].name},
                          {"needed", module.needed},
                          {"unresolved", module.unresolved},
                          {"asked_with_other_abi", module.asked_with_other_abi},
                          {"defined_with_other_abi", module.defined_with_other_abi},
                          {"missing_of_torch", module.missing_of_torch},
                          {"python_tag", module.python_tag},
                          {"problem", module.problem}});
    }
    std::printf("%s\n", nlohmann::json({{"modules", result}, {"milliseconds", took.count()}})
                            .dump(1, ' ', false, nlohmann::json::error_handler_t::replace)
                            .c_str());
    return 0;
}
