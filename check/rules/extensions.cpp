#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/foreign_modules.hpp"
#include "check/rules/rules.hpp"
#include "check/rules/torch_pairing.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <map>
#include <memory>
#include <utility>

namespace cudaenv::rules {

namespace {

constexpr std::size_t k_longest_symbol = 72;

std::string demangled(const std::string& symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    auto name = printable(status == 0 && text ? std::string_view(text.get()) : symbol);
    if (name.size() > k_longest_symbol) {
        name.resize(k_longest_symbol);
        name += "...";
    }
    return name;
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

// "CUDA 11" of libcudart.so.11.0, "CUDA" of libc10_cuda.so.
std::string cuda_of(std::string_view library) {
    constexpr std::string_view k_runtime = "libcudart.so.";
    return library.starts_with(k_runtime)
               ? "CUDA " + std::string(split(library.substr(k_runtime.size()), '.').front())
               : "CUDA";
}

// The code, its situation and what its sentences need beside rebuild()'s arguments.
struct Case {
    const char* code;
    const char* situation;
    facts::Arguments arguments;
};

Case case_of(const CheckContext& context, const std::string& module, const ForeignModule& foreign) {
    switch (foreign.made_for) {
    case MadeFor::OtherPython:
        return {"CE112",
                "",
                {{"module", module}, {"made_for", foreign.wants}, {"python", foreign.here}}};
    case MadeFor::OtherCuda: {
        const bool is_here = context.environment != nullptr &&
                             is_one_of(foreign.wants, context.environment->sonames);
        return {"CE111",
                is_here ? "two-runtimes" : "no-runtime",
                {{"module", module},
                 {"cuda", cuda_of(foreign.wants)},
                 {"torch", foreign.here},
                 {"library", foreign.wants}}};
    }
    case MadeFor::OtherTorch:
        break;
    }
    facts::Arguments arguments{{"module", module}, {"torch", foreign.here}};
    if (!foreign.module->asked_with_other_abi.empty()) {
        const bool asks_new = has_new_abi(foreign.module->asked_with_other_abi);
        arguments.emplace_back("module_abi", asks_new ? "1" : "0");
        arguments.emplace_back("torch_abi", asks_new ? "0" : "1");
        return {"CE110", "abi", std::move(arguments)};
    }
    arguments.emplace_back("library", foreign.wants);
    return {"CE110", is_symbol(foreign.wants) ? "symbol" : "library", std::move(arguments)};
}

void report_modules(const CheckContext& context, const std::vector<const ForeignModule*>& modules,
                    std::vector<CheckFinding>& findings) {
    constexpr std::size_t k_most_evidence = 4;
    const auto& first = *modules.front();
    const auto& distribution = context.inventory.distributions[first.module->distribution];
    auto [code, situation, arguments] =
        case_of(context, printable(distribution.name + ' ' + distribution.version), first);
    if (first.made_for == MadeFor::OtherCuda && first.torch_has_none) {
        // Without torch's CUDA libraries what needs them cannot be built.
        arguments.emplace_back("cpu_torch", "yes");
        arguments.emplace_back("command", "");
    } else {
        auto how = rebuild(context, distribution, first.made_for);
        arguments.insert(arguments.end(), how.begin(), how.end());
    }
    auto found = report(context, code, situation, distribution.name, std::move(arguments));
    for (const auto* foreign : modules) {
        found.files.push_back(foreign->module->path);
        if (found.finding.evidence.size() < k_most_evidence) {
            found.finding.evidence.push_back(
                {absolute_path(context, foreign->module->path), 0, what_it_was_made_for(*foreign)});
        }
    }
    std::ranges::sort(found.files);
    findings.push_back(std::move(found));
}

// torchvision and torchaudio of another release are told by CE120.
bool is_covered_by_CE120(const CheckContext& context, const facts::Distribution& distribution) {
    if (distribution.name != "torchvision" && distribution.name != "torchaudio") {
        return false;
    }
    const auto torch = find_member(context, "torch");
    const auto partner = find_member(context, distribution.name);
    return torch && partner && pair_of(*partner, *torch).pairing == Pairing::Differs;
}

} // namespace

void find_foreign_extensions(const CheckContext& context, std::vector<CheckFinding>& findings) {
    const auto foreign = foreign_modules(context);
    std::map<std::pair<std::uint32_t, MadeFor>, std::vector<const ForeignModule*>> grouped;
    for (const auto& one : foreign) {
        grouped[{one.module->distribution, one.made_for}].push_back(&one);
    }
    for (const auto& [key, modules] : grouped) {
        const auto& distribution = context.inventory.distributions[key.first];
        if (key.second == MadeFor::OtherPython || !is_covered_by_CE120(context, distribution)) {
            report_modules(context, modules, findings);
        }
    }
}

// CE114 of a build/: modules for another torch that setuptools would install again.

void find_stale_builds(const CheckContext& context, std::vector<CheckFinding>& findings) {
    constexpr std::size_t k_most_evidence = 4;
    const auto stale = stale_builds(context);
    std::map<std::uint32_t, std::vector<const ForeignModule*>> grouped;
    for (const auto& one : stale) {
        grouped[one.module->distribution].push_back(&one);
    }
    for (const auto& [number, modules] : grouped) {
        const auto& distribution = context.inventory.distributions[number];
        const auto& other = *modules.front();
        auto arguments = rebuild(context, distribution, other.made_for);
        arguments.emplace_back("module", distribution.name + ' ' + distribution.version);
        arguments.emplace_back("cuda", yes_if(other.made_for == MadeFor::OtherCuda));
        auto found = report(context, "CE114", "build", distribution.name, std::move(arguments));
        for (const auto* one : modules) {
            if (found.files.empty() || found.files.back() != one->module->path) {
                found.files.push_back(one->module->path);
            }
        }
        std::ranges::sort(found.files);
        for (const auto& file : found.files) {
            if (found.finding.evidence.size() < k_most_evidence) {
                found.finding.evidence.push_back(
                    {absolute_path(context, file), 0, "no source is newer"});
            }
        }
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
