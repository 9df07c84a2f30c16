#include "solver/resolve/choices.hpp"

#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/resolve/conflict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudaenv::resolve {

namespace {

const specs::PackageRecord* newest_of(const std::vector<const specs::PackageRecord*>& records) {
    const specs::PackageRecord* newest = nullptr;
    std::optional<specs::Version> newest_version;
    for (const specs::PackageRecord* const record : records) {
        auto version = specs::Version::parse(record->version);
        if (version && (!newest_version || *newest_version < *version)) {
            newest = record;
            newest_version = *std::move(version);
        }
    }
    return newest;
}

std::string obstacle(const Request& request, const Item& item, const std::string& version,
                     const std::function<Result<Outcome>(const Request&)>& resolve_again) {
    Request changed = request;
    changed.tell_choices = false;
    for (Wanted& wanted : changed.specs) {
        if (wanted.text == item.text) {
            wanted.text = item.name + "==" + version;
        }
    }
    const auto outcome = resolve_again(changed);
    if (!outcome) {
        return "it could not be tried";
    }
    if (outcome->conflict) {
        return outcome->conflict->reasons.empty() ? "it has no answer here"
                                                  : outcome->conflict->reasons.front().text;
    }
    if (!outcome->changes.empty()) {
        const Change& change = outcome->changes.front();
        return fmt::format("{} would change from {} to {}", change.name, change.from, change.to);
    }
    const auto warned = [&](std::string_view code) {
        return std::ranges::any_of(outcome->warnings,
                                   [&](const auto& finding) { return finding.code == code; });
    };
    if (warned("CE202") && outcome->cuda) {
        return fmt::format("it has CUDA {}, which the driver runs by minor version compatibility "
                           "only: no new PTX",
                           outcome->cuda->major_minor());
    }
    return warned("CE214") ? "whether it has code for this GPU is unknown"
                           : "what was asked for before it holds it back";
}

// Of several CUDA builds of one release: why this one.
std::string why_this_build(const specs::PackageRecord& torch, const facts::Host& host) {
    const auto* const release = knowledge::torch_release(torch.version);
    const auto* const variant = knowledge::torch_variant(torch.version, torch.build, host.machine);
    if (release == nullptr || variant == nullptr || !host.driver || release->variants.size() < 2) {
        return {};
    }
    const auto judged = knowledge::driver_fit(host, variant->cuda);
    const bool newest = std::ranges::none_of(
        release->variants, [&](const auto& other) { return variant->cuda < other.cuda; });
    return judged.fit == knowledge::DriverFit::Full
               ? fmt::format("; of its builds {} has the newest CUDA{}", torch.build,
                             newest ? "" : " that the driver runs in full and that serves the GPU")
           : judged.fit == knowledge::DriverFit::MachineCode
               ? fmt::format("; of its builds {} is the nearest to the driver's CUDA", torch.build)
               : std::string();
}

} // namespace

std::vector<Choice>
choices_of(const Request& request, const Attempt& answered,
           const std::vector<const specs::PackageRecord*>& records, const Attempt& unnarrowed,
           const std::function<Result<Outcome>(const Request&)>& resolve_again) {
    std::vector<Choice> choices;
    for (const Item& item : answered.question.items) {
        const auto chosen = std::find_if(records.begin(), records.end(), [&](const auto* record) {
            return record->name == item.name;
        });
        if (item.kind != Item::Kind::Spec || chosen == records.end() || item.name == "cuda") {
            continue;
        }
        if (item.kept) {
            choices.push_back({display(**chosen, answered), {}, "installed, and it can stay", {}});
            continue;
        }
        const auto* const newest = newest_of(unnarrowed.universe->matching(item.demand));
        if (newest == nullptr || newest->version == (*chosen)->version) {
            std::string why = "the newest that was asked for";
            if (item.name == "torch" && answered.catalogue &&
                !std::ranges::any_of(answered.question.items,
                                     [](const Item& other) { return other.name == "cuda"; })) {
                why += why_this_build(**chosen, answered.world->host());
            }
            choices.push_back({display(**chosen, answered), {}, std::move(why), {}});
            continue;
        }
        choices.push_back({display(**chosen, answered),
                           newest->version,
                           obstacle(request, item, newest->version, resolve_again),
                           {}});
    }
    return choices;
}

} // namespace cudaenv::resolve
