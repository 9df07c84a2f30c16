#include "base/text.hpp"
#include "solver/plan/check/finding_text.hpp"
#include "solver/plan/check/foreign_modules.hpp"
#include "solver/plan/check/install_text.hpp"
#include "solver/plan/check/rules.hpp"
#include "solver/plan/check/torch_pairing.hpp"
#include "solver/plan/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <utility>

namespace cudaenv::plan {

namespace {

constexpr std::size_t k_longest_symbol = 72;

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    auto told = printable(status == 0 && text ? std::string_view(text.get()) : symbol);
    if (told.size() > k_longest_symbol) {
        told.resize(k_longest_symbol);
        told += "...";
    }
    return told;
}

bool is_symbol(const std::string& wants) {
    return wants.starts_with("_Z");
}

bool has_new_abi(std::string_view symbol) {
    return symbol.find("__cxx11") != std::string_view::npos ||
           symbol.find("B5cxx11") != std::string_view::npos;
}

std::string what_it_was_made_for(const ForeignModule& foreign) {
    return foreign.made_for == MadeFor::OtherPython ? foreign.wants
           : is_symbol(foreign.wants)               ? "undefined: " + demangled(foreign.wants)
                                                    : "needs " + printable(foreign.wants);
}

struct Words {
    const char* code;
    Severity severity;
    std::string title;
    std::string cause;
};

Words of_other_torch(const std::string& name, const ForeignModule& foreign) {
    const auto& module = *foreign.module;
    if (!module.asked_with_other_abi.empty()) {
        const bool asks_new = has_new_abi(module.asked_with_other_abi);
        return {
            "CE110", Severity::Error,
            fmt::format("{} was compiled with another C++ ABI than torch {}", name, foreign.here),
            fmt::format("it was compiled with _GLIBCXX_USE_CXX11_ABI={} and torch with {}: "
                        "importing it fails with an undefined symbol",
                        asks_new ? 1 : 0, asks_new ? 0 : 1)};
    }
    return {"CE110", Severity::Error,
            fmt::format("{} was compiled for another torch than {}", name, foreign.here),
            is_symbol(foreign.wants)
                ? "importing it fails with an undefined symbol that this torch does not have"
                : "importing it fails: this torch has no such library"};
}

// "CUDA 11" of libcudart.so.11.0, "CUDA" of libc10_cuda.so.
std::string cuda_of(std::string_view library) {
    constexpr std::string_view k_runtime = "libcudart.so.";
    return library.starts_with(k_runtime)
               ? "CUDA " + std::string(split(library.substr(k_runtime.size()), '.').front())
               : "CUDA";
}

Words of_other_cuda(const CheckScene& scene, const std::string& name,
                    const ForeignModule& foreign) {
    const bool is_here = scene.environment != nullptr &&
                         std::ranges::find(scene.environment->sonames, foreign.wants) !=
                             scene.environment->sonames.end();
    return {"CE111", is_here ? Severity::Warning : Severity::Error,
            fmt::format("{} was compiled for {}; torch here is {}", name, cuda_of(foreign.wants),
                        foreign.here),
            is_here ? "two CUDA runtimes meet in one process when both are imported"
                    : fmt::format("importing it fails where {} is not found", foreign.wants)};
}

Words of_other_python(const std::string& name, const ForeignModule& foreign) {
    return {"CE112", Severity::Error,
            fmt::format("{} was compiled for {}; here is {}", name, foreign.wants, foreign.here),
            "a Python looks for modules under its own tag: importing it fails with "
            "ModuleNotFoundError"};
}

// Without CUDA's half of torch what needs it cannot be built.
std::optional<Fix> fix_of(const CheckScene& scene, const facts::Distribution& distribution,
                          const ForeignModule& foreign) {
    if (foreign.made_for == MadeFor::OtherCuda && foreign.torch_has_none) {
        return Fix{"a build of torch with CUDA, its partners with it; CE122 names one where it is "
                   "known",
                   {}};
    }
    return rebuild(scene, distribution, foreign.made_for);
}

void tell(const CheckScene& scene, const std::vector<const ForeignModule*>& modules,
          std::vector<CheckFinding>& found) {
    constexpr std::size_t k_most_evidence = 4;
    const auto& first = *modules.front();
    const auto& distribution = scene.inventory.distributions[first.module->distribution];
    const auto name = printable(distribution.name + ' ' + distribution.version);
    const Words words = first.made_for == MadeFor::OtherTorch  ? of_other_torch(name, first)
                        : first.made_for == MadeFor::OtherCuda ? of_other_cuda(scene, name, first)
                                                               : of_other_python(name, first);
    CheckFinding told;
    told.subject = distribution.name;
    told.finding = {words.code, words.severity, words.title,
                    {},         words.cause,    fix_of(scene, distribution, first)};
    for (const auto* foreign : modules) {
        told.files.push_back(foreign->module->path);
        if (told.finding.evidence.size() < k_most_evidence) {
            told.finding.evidence.push_back(
                {absolute_path(scene, foreign->module->path), 0, what_it_was_made_for(*foreign)});
        }
    }
    std::ranges::sort(told.files);
    found.push_back(std::move(told));
}

// torchvision and torchaudio of another release are told by CE120.
bool is_told_elsewhere(const CheckScene& scene, const facts::Distribution& distribution) {
    if (distribution.name != "torchvision" && distribution.name != "torchaudio") {
        return false;
    }
    const auto torch = find_member(scene, "torch");
    const auto partner = find_member(scene, distribution.name);
    return torch && partner && pair_of(*partner, *torch).pairing == Pairing::Differs;
}

} // namespace

void find_foreign_extensions(const CheckScene& scene, std::vector<CheckFinding>& found) {
    const auto first = found.size();
    const auto foreign = foreign_modules(scene);
    std::map<std::pair<std::uint32_t, MadeFor>, std::vector<const ForeignModule*>> grouped;
    for (const auto& one : foreign) {
        grouped[{one.module->distribution, one.made_for}].push_back(&one);
    }
    for (const auto& [key, modules] : grouped) {
        const auto& distribution = scene.inventory.distributions[key.first];
        if (key.second == MadeFor::OtherPython || !is_told_elsewhere(scene, distribution)) {
            tell(scene, modules, found);
        }
    }
    make_printable(found, first);
}

} // namespace cudaenv::plan
